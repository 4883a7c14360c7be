// Lowering of resize: `axes`, which ONNX has since opset 18, with operands that are computed.
// (Constant ones are written out by the handler.)
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

// `values` of some axes become values of all: they replace those of `all` at `places`.
Value* SpreadOver(Builder& b, Value* all, const std::vector<int64_t>& places, Value* values) {
  return b.Op("scatter_elements", {all, b.Ints(places, "axes"), values});
}

absl::StatusOr<Values> ResizeAllAxes(Rewrite& r) {
  const Attribute* attr = r.attrs().Find("axes");
  const int64_t rank = r.rank(0);
  if (attr == nullptr) return CannotExpress("no lowering without axes");
  if (rank < 0) return CannotExpress("axes of an input of unknown rank; opset 18 has them");
  if (r.attrs().String("keep_aspect_ratio_policy") != "stretch") {
    return CannotExpress("a policy that looks at some axes only; opset 18 has it");
  }
  std::vector<int64_t> axes = r.attrs().Ints("axes");
  for (int64_t& a : axes) a += a < 0 ? rank : 0;
  Builder& b = r.b;
  std::vector<Value*> operands = {r.in(0), nullptr, nullptr, nullptr};
  if (r.has(1)) {  // roi: all starts, then all ends; the whole axis is from 0 to 1
    std::vector<int64_t> places = axes;
    for (int64_t a : axes) places.push_back(a + rank);
    std::vector<float> whole(rank, 0.0f);
    whole.resize(2 * rank, 1.0f);
    X2IR_ASSIGN_OR_RETURN(
        Tensor all,
        CastTensor(Tensor::Of<float>({2 * rank}, absl::MakeConstSpan(whole)), r.dtype(1)));
    operands[1] = SpreadOver(b, b.Constant(std::move(all), "whole_roi"), places, r.in(1));
  }
  if (r.has(2)) {
    const std::vector<float> ones(rank, 1.0f);
    Value* all = b.Constant(Tensor::Of<float>({rank}, absl::MakeConstSpan(ones)), "ones");
    operands[2] = SpreadOver(b, all, axes, r.in(2));
  }
  if (r.has(3)) operands[3] = SpreadOver(b, b.Op("shape", {r.in(0)}), axes, r.in(3));
  AttributeMap attrs = r.attrs();
  attrs.Erase("axes");
  return Values{b.Op("resize", operands, std::move(attrs))};
}
X2IR_LOWERING(resize, ResizeAllAxes);

}  // namespace
}  // namespace x2ir
