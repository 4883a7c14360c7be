// NNEF: tract's selection of boxes.
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/handlers/nnef/nnef.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// No limit of boxes is 0 there, and none at all in the IR.
Value* NmsRow(NnefArgs& a) {
  const Expr most = a.OptTensor("max_output_boxes_per_class");
  int64_t count = 0;
  if (most.value()) {
    const auto known = KnownInts(most.value());
    a.Require(known && known->size() == 1, "a number of boxes that is computed");
    count = (*known)[0];
  }
  if (count == 0) count = std::numeric_limits<int64_t>::max();
  return a.Op("non_max_suppression",
              {a.Tensor("boxes"), a.Tensor("scores"), a.b().Int(count),
               a.OptTensor("iou_threshold").value(), a.OptTensor("score_threshold").value()},
              {{"center_point_box", a.Integer("center_point_box")}});
}

absl::StatusOr<Value*> ToNms(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto most, w.KnownInts(2, "number of boxes"));
  if (!most || most->size() != 1 || (*most)[0] < 1) return CannotExpress("a selection of no boxes");
  NnefWriter::Given operands = {{"boxes", w.in(0)},
                                {"scores", w.in(1)},
                                {"max_output_boxes_per_class", w.b().Int((*most)[0])}};
  const auto threshold = [&](size_t i) -> absl::StatusOr<Value*> {
    const Tensor* number = w.in(i)->fixed_constant();
    if (!number || number->num_elements() != 1) return CannotExpress("a computed threshold");
    return w.Number(DType::kFloat32, number->AsDouble(0));
  };
  Value* overlap = w.Number(DType::kFloat32, 0);
  if (w.num_inputs() > 3 && w.in(3)) {
    X2IR_ASSIGN_OR_RETURN(overlap, threshold(3));
  }
  operands.emplace_back("iou_threshold", overlap);
  if (w.num_inputs() > 4 && w.in(4)) {
    X2IR_ASSIGN_OR_RETURN(Value * score, threshold(4));
    operands.emplace_back("score_threshold", score);
  }
  return w.Call("tract_onnx_non_max_suppression", operands,
                {{"center_point_box", w.Int("center_point_box")}});
}

}  // namespace

X2IR_NNEF(non_max_suppression)
    .From("tract_onnx_non_max_suppression", NmsRow)
    .To("tract_onnx_non_max_suppression", ToNms);

}  // namespace x2ir
