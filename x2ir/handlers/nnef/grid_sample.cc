// NNEF: tract's samples at the places of a grid.
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

Value* GridSampleRow(NnefArgs& a) {
  const std::string mode = a.Text("mode"), padding = a.Text("padding_mode");
  const bool corners = a.Flag("align_corners");
  a.Require(mode == "bilinear" || mode == "nearest" || mode == "bicubic",
            StrCat("mode '", mode, "'"));
  a.Require(padding == "zeros" || padding == "border" || padding == "reflection",
            StrCat("padding_mode '", padding, "'"));
  return a.Tensor("input").Op("grid_sample", {a.Tensor("grid")},
                              {{"align_corners", corners ? 1 : 0},
                               {"mode", mode == "bilinear"  ? "linear"
                                        : mode == "bicubic" ? "cubic"
                                                            : "nearest"},
                               {"padding_mode", padding}});
}

}  // namespace

X2IR_NNEF(grid_sample).From({"tract_core_grid_sample", "tract_onnx_grid_sample"}, GridSampleRow);

}  // namespace x2ir
