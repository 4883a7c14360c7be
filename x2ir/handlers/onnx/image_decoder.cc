// ONNX: ops that sample, cut and put together images.
#include <memory>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/axis_lenses.h"

namespace x2ir {
namespace {

// Opsets before 20 know two spatial axes only, and say so in the names of the modes. Files have
// three at these opsets all the same, which runtimes read as opset 20 does.
class TwoSpatialAxes : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override { return Check(draft); }
  absl::Status Export(Draft& draft) const override { return Check(draft); }

 private:
  static absl::Status Check(Draft& draft) {
    for (size_t i = 0; i < 2 && i < draft.node().num_inputs(); ++i) {
      const Value* v = draft.node().input(i);
      const Shape* shape = v ? v->shape() : nullptr;
      if (draft.importing()) {
        const bool cubic = draft.node().attrs().String("mode", "") == "bicubic";
        if (!shape || shape->rank() == 4 || (shape->rank() == 5 && !cubic)) continue;
        return Invalid(i == 0 ? "X" : "grid", ": expected rank 4",
                       cubic ? " with mode bicubic" : "", ", got ", shape->rank());
      }
      if (shape && shape->rank() != 4) {
        return CannotExpress("rank ", shape->rank(), " cannot be expressed at opset ",
                             draft.opset(), FirstVersion{20});
      }
    }
    return absl::OkStatus();
  }
};

// ONNX allows one spatial axis, ONNX Runtime does not.
class SeveralSpatialAxes : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* x = draft.node().input(0);
    const bool line = x && x->shape() && x->shape()->rank() == 3;
    return line ? CannotExpress("one spatial axis, which runtimes refuse") : absl::OkStatus();
  }
};

}  // namespace

X2IR_ONNX(grid_sample)
    .Is("GridSample", In(16, 19), Lens(std::make_shared<TwoSpatialAxes>()),
        EnumMap("mode", "mode",
                {{"linear", "bilinear"}, {"nearest", "nearest"}, {"cubic", "bicubic"}}))
    .Is("GridSample", Since(20), Lens(std::make_shared<SeveralSpatialAxes>()));
X2IR_ONNX(affine_grid).Is("AffineGrid", Since(20));
X2IR_ONNX(roi_align)
    .Is("RoiAlign", In(10, 15), Fixed("coordinate_transformation_mode", "output_half_pixel"))
    .Is("RoiAlign", Since(16));
X2IR_ONNX(center_crop_pad).Is("CenterCropPad", Since(18), NoScalar(), OfRank(1, {1}));
X2IR_ONNX(image_decoder).Is("ImageDecoder", Since(20));
X2IR_ONNX(col2im).Is("Col2Im", Since(18), OfRank(1, {1, 2}));

}  // namespace x2ir
