// FlexAttention of ONNX's preview domain, which is experimental and has no schema here: attention
// whose scores and probabilities are modified by graphs of the model. It becomes several ops of
// the IR.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

absl::Status CheckFlexAttention(const Rewrite& r) {
  if (r.node.num_inputs() != 3 || r.node.num_outputs() != 1 || !r.node.output(0)) {
    return Invalid("expected three operands and one output");
  }
  for (const auto& [name, attr] : r.attrs()) {
    const bool graph = name == Symbol("score_mod") || name == Symbol("prob_mod");
    if (graph && attr.kind() == AttrKind::kGraph) {
      const Graph& mod = r.attrs().SubGraph(name);
      if (mod.inputs().size() == 1 && mod.outputs().size() == 1) continue;
      return Unimplemented(name.str(), " with ", mod.inputs().size(), " inputs");
    }
    if (name == Symbol("scale") && attr.kind() == AttrKind::kFloat) continue;
    return Unimplemented("attribute '", name.str(), "'");
  }
  for (size_t i = 0; i < 3; ++i) {
    if (!r.has(i)) return Invalid("operand ", i, " is left out");
    const DType dtype = r.dtype(i);
    // For what is smaller the precision of the softmax is a question.
    if (dtype != DType::kFloat32 && dtype != DType::kFloat64) {
      return Unimplemented("operands of ", Name(dtype));
    }
    if (dtype != r.dtype(0)) return Unimplemented("operands of different types");
    if (r.rank(i) >= 0 && r.rank(i) != 4) {
      return Invalid("operand ", i, ": expected rank 4, got ", r.rank(i));
    }
    if (r.rank(i) < 0 || !(*r.in(i)->shape())[1].is_static() ||
        !(*r.in(i)->shape())[3].is_static()) {
      return Unimplemented("operand ", i, " whose number or size of heads is not known");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Values> FromFlexAttention(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckFlexAttention(r));
  const auto dim = [&](size_t operand, int64_t axis) {
    return (*r.in(operand)->shape())[axis].value();
  };
  const int64_t heads = dim(0, 1), kv_heads = dim(1, 1), size = dim(0, 3);
  if (kv_heads != dim(2, 1) || kv_heads == 0 || heads % kv_heads != 0) {
    return Invalid("there are ", heads, " heads of queries, ", kv_heads, " of keys and ", dim(2, 1),
                   " of values");
  }
  Value *keys = r.in(1), *values = r.in(2);
  if (heads != kv_heads) {
    // Each head of keys and values serves a run of query heads.
    constexpr int64_t kMaxHeads = int64_t{1} << 20;
    if (heads > kMaxHeads) return Unimplemented(heads, " heads");
    std::vector<int64_t> of_head;
    for (int64_t h = 0; h < heads; ++h) of_head.push_back(h / (heads / kv_heads));
    Value* index = r.b.Ints(of_head, "kv_head");
    keys = r.b.Op("gather", {keys, index}, {{"axis", 1}});
    values = r.b.Op("gather", {values, index}, {{"axis", 1}});
  }
  const double scale = r.attrs().Float("scale", 1 / std::sqrt(static_cast<double>(size)));
  const auto through = [&](const char* mod, Value* value) {
    return r.attrs().Has(mod) ? InlineGraph(r.b, r.attrs().SubGraph(mod), {value})[0] : value;
  };
  Value* transposed = r.b.Op("transpose", {keys}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  Value* scores = r.b.Op("matmul", {r.in(0), transposed});
  scores = r.b.Op("mul", {scores, r.b.Scalar(r.dtype(0), scale, "scale")});
  Value* probs = r.b.Op("softmax", {through("score_mod", scores)}, {{"axis", -1}});
  return Values{r.b.Op("matmul", {through("prob_mod", probs), values})};
}

X2IR_ONNX(matmul).Is("ai.onnx.preview::FlexAttention", Since(1), Code{FromFlexAttention, nullptr});

}  // namespace
}  // namespace x2ir
