#include "x2ir/handlers/tf/writer.h"

#include <algorithm>

#include "x2ir/builder/relaid.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/signatures.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

Values TfWriter::TfAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                       const std::vector<bool>& wanted, const std::vector<Type>& results) {
  attrs = WithTfTypeAttrs(op, operands, std::move(attrs));
  return Make("tf", op, std::move(operands), std::move(attrs), wanted, results);
}

Value* TfWriter::Tf(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                    Type result) {
  return TfAll(op, std::move(operands), std::move(attrs), {true}, {std::move(result)})[0];
}

Value* TfWriter::Transpose(Value* x, const std::vector<int64_t>& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  const Tensor* constant = x->fixed_constant();
  if (!constant || constant->is_sparse()) return Op("transpose", {x}, {{"perm", perm}});
  return RelaidConstant(b(), x, TransposeWeight(*constant, perm));
}

Value* TfWriter::Known(Value* x) {
  if (x->fixed_constant()) return x;
  const std::optional<Tensor> known = KnownTensor(*x);
  return known ? b().Constant(*known) : x;
}

absl::StatusOr<TfUpdates> UpdatesFromTheFront(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(1));
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  if (rank > 1) return TfUpdates{tuples, w.in(2)};
  const auto in_list = [&](Value* v) { return w.Op("unsqueeze", {v, w.Ints({0})}); };
  return TfUpdates{in_list(tuples), in_list(w.in(2))};
}

}  // namespace x2ir
