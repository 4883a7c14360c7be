// ONNX: reductions and what else walks along axes.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/axis_lenses.h"
#include "x2ir/handlers/onnx/legacy_lenses.h"

namespace x2ir {
namespace {

// An empty list of axes in an attribute is the same as none: reduce all.
Lens AxesAttr(int computed_from) {
  return AxesAsAttr(EmptyAxes::kAll, /*inserted=*/false, computed_from);
}

// ONNX Runtime rounds the exponentials of integers, too.
class OfFloatsLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* x = draft.node().input(0);
    return x && IsInteger(x->dtype()) ? CannotExpress("exponentials of integers")
                                      : absl::OkStatus();
  }
};
Lens OfFloats() { return std::make_shared<OfFloatsLens>(); }

// Of an operand without elements ONNX Runtime 1.30 keeps axes that are counted from the end.
class EmptyFromFrontLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value *x = draft.node().input(0), *operand = draft.node().input(1);
    const Shape* shape = x ? x->shape() : nullptr;
    std::optional<std::vector<int64_t>> axes = operand ? KnownInts(operand) : std::nullopt;
    if (!shape || !axes || std::find(shape->begin(), shape->end(), Dim(0)) == shape->end()) {
      return absl::OkStatus();
    }
    bool moved = false;
    for (int64_t& axis : *axes) {
      if (axis >= 0) continue;
      axis += shape->rank();
      moved = true;
    }
    if (!moved) return absl::OkStatus();
    draft.TakeOperandAt(1);
    draft.SetOperandAt(1, draft.builder().Ints(*axes, "axes"));
    return absl::OkStatus();
  }
};
Lens EmptyFromFront() { return std::make_shared<EmptyFromFrontLens>(); }

}  // namespace

X2IR_ONNX(reduce_sum)
    .Is("ReduceSum", In(1, 12), AxesAttr(13))
    .Is("ReduceSum", Since(13), OfRank(1, {1}), EmptyFromFront());
X2IR_ONNX(reduce_mean)
    .Is("ReduceMean", In(1, 17), AxesAttr(18))
    .Is("ReduceMean", Since(18), OfRank(1, {1}), EmptyFromFront());
X2IR_ONNX(reduce_max)
    .Is("ReduceMax", In(1, 17), AxesAttr(18))
    .Is("ReduceMax", Since(18), OfRank(1, {1}), EmptyFromFront());
X2IR_ONNX(reduce_min)
    .Is("ReduceMin", In(1, 17), AxesAttr(18))
    .Is("ReduceMin", Since(18), OfRank(1, {1}), EmptyFromFront());
X2IR_ONNX(reduce_prod)
    .Is("ReduceProd", In(1, 17), AxesAttr(18))
    .Is("ReduceProd", Since(18), OfRank(1, {1}), EmptyFromFront());
X2IR_ONNX(reduce_l1)
    .Is("ReduceL1", In(1, 17), AxesAttr(18))
    .Is("ReduceL1", Since(18), OfRank(1, {1}), EmptyFromFront());
X2IR_ONNX(reduce_l2)
    .Is("ReduceL2", In(1, 17), AxesAttr(18))
    .Is("ReduceL2", Since(18), OfRank(1, {1}), EmptyFromFront());
X2IR_ONNX(reduce_log_sum)
    .Is("ReduceLogSum", In(1, 17), AxesAttr(18), NotOf(DType::kUInt32), NotOf(DType::kUInt64))
    .Is("ReduceLogSum", Since(18), OfRank(1, {1}), EmptyFromFront(), NotOf(DType::kUInt32),
        NotOf(DType::kUInt64));
X2IR_ONNX(reduce_log_sum_exp)
    .Is("ReduceLogSumExp", In(1, 17), AxesAttr(18), OfFloats())
    .Is("ReduceLogSumExp", Since(18), OfRank(1, {1}), EmptyFromFront(), OfFloats());
X2IR_ONNX(reduce_sum_square)
    .Is("ReduceSumSquare", In(1, 17), AxesAttr(18))
    .Is("ReduceSumSquare", Since(18), OfRank(1, {1}), EmptyFromFront());
X2IR_ONNX(arg_max).Is("ArgMax", Since(1), AxisFromFront("axis"));
X2IR_ONNX(arg_min).Is("ArgMin", Since(1), AxisFromFront("axis"));
X2IR_ONNX(cum_sum).Is("CumSum", Since(11));
X2IR_ONNX(cum_prod).Is("CumProd", Since(26));

}  // namespace x2ir
