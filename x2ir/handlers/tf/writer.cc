#include "x2ir/handlers/tf/writer.h"

#include <algorithm>

#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/handlers/tf/signatures.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

DType TfWriter::DTypeAttr(Symbol attr) const {
  const Attribute* name = attrs().Find(attr);
  const std::string* text = name ? name->get<std::string>() : nullptr;
  return text ? ParseDType(*text).value_or(DType::kUndefined) : DType::kUndefined;
}

absl::StatusOr<int64_t> TfWriter::Rank(size_t i) const {
  if (shape(i)) return shape(i)->rank();
  return CannotExpress("an operand of unknown rank");
}

absl::StatusOr<int64_t> TfWriter::Axis(Symbol attr) const {
  const int64_t axis = Int(attr);
  if (axis >= 0) return axis;
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, Rank());
  return axis + rank;
}

absl::StatusOr<std::optional<std::vector<int64_t>>> TfWriter::KnownInts(
    size_t i, std::string_view what) const {
  if (!has(i)) return std::nullopt;
  std::optional<std::vector<int64_t>> ints = x2ir::KnownInts(in(i));
  if (!ints) return CannotExpress("computed ", what);
  return ints;
}

Values TfWriter::TfAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                       const std::vector<bool>& wanted, const std::vector<Type>& results) {
  if (const TfSignature* signature = FindTfSignature(op)) {
    for (auto& [name, attr] : TfTypeAttrs(*signature, operands)) attrs.Set(name, attr);
  }
  Values values = r_.b.Node("tf", op, std::move(operands), std::move(attrs), wanted);
  for (size_t i = 0; i < values.size() && i < results.size(); ++i) {
    if (values[i] && results[i].is_known()) values[i]->set_type(results[i]);
  }
  return values;
}

Value* TfWriter::Tf(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                    Type result) {
  return TfAll(op, std::move(operands), std::move(attrs), {true}, {std::move(result)})[0];
}

Value* TfWriter::Cast(Value* x, DType to) {
  return x->dtype() == to ? x : Op("cast", {x}, {{"to", Name(to)}});
}

Value* TfWriter::Int32s(const std::vector<int64_t>& numbers) {
  std::vector<int32_t> narrow;
  for (const int64_t number : numbers) narrow.push_back(static_cast<int32_t>(number));
  return r_.b.Constant(Tensor::Of<int32_t>({static_cast<int64_t>(narrow.size())}, narrow));
}

Value* TfWriter::Reshape(Value* x, absl::Span<const int64_t> dims) {
  const bool zero = std::find(dims.begin(), dims.end(), 0) != dims.end();
  return Op("reshape", {x, Ints(dims)}, {{"allowzero", zero}});
}

Value* TfWriter::Transpose(Value* x, const std::vector<int64_t>& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  const Tensor* constant = x->fixed_constant();
  if (!constant || constant->is_sparse()) return Op("transpose", {x}, {{"perm", perm}});
  Tensor relaid = Spilled(TransposeTensor(*constant, perm));
  DropPages(*constant);
  return r_.b.Constant(std::move(relaid), x->name());
}

Value* TfWriter::Known(Value* x) {
  if (x->fixed_constant()) return x;
  const std::optional<Tensor> known = KnownTensor(*x);
  return known ? r_.b.Constant(*known) : x;
}

}  // namespace x2ir
