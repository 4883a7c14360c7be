// StableHLO, written: pools as reductions of windows.
#include <algorithm>
#include <utility>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/stablehlo/write_regions.h"

namespace x2ir {
namespace {

// The window, with pads in place of auto_pad. What rounds sizes up is a lowering's.
absl::StatusOr<Window> PoolWindow(StablehloWriter& w) {
  X2IR_RETURN_IF_ERROR(w.Rank(0).status());
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), w.attrs().Ints("kernel_shape")));
  if (window.ceil_mode) return CannotExpress("sizes that are rounded up");
  std::optional<Window> padded = WithPads(std::move(window), w.shape(0));
  if (!padded) return CannotExpress("padding that depends on a size that is not known");
  return *std::move(padded);
}

absl::StatusOr<Value*> WindowHlo(StablehloWriter& w, Value* x, std::string_view op,
                                 const Window& window) {
  const size_t rank = window.rank() + 2;
  std::vector<int64_t> sizes(rank, 1), strides(rank, 1), dilations(rank, 1), ones(rank, 1);
  for (size_t i = 0; i < window.rank(); ++i) {
    const auto axis = static_cast<size_t>(window.axis(i));
    sizes[axis] = window.kernel[i];
    strides[axis] = window.strides[i];
    dilations[axis] = window.dilations[i];
  }
  X2IR_ASSIGN_OR_RETURN(auto body, BodyOf(op, x->dtype()));
  std::vector<Dim> dims = x->shape()->dims();
  for (size_t i = 0; i < window.rank(); ++i) {
    const auto axis = static_cast<size_t>(window.axis(i));
    X2IR_ASSIGN_OR_RETURN(dims[axis], OutputDim(window, i, dims[axis]));
  }
  return w.Hlo("reduce_window", {x, InitOf(w.b(), op, x->dtype())},
               {{"window_dimensions", sizes},
                {"window_strides", strides},
                {"base_dilations", ones},
                {"window_dilations", dilations},
                {"padding", PairsOfPads(TensorPads(window))},
                {"body", body}},
               WithDims(x->type(), std::move(dims)));
}

absl::StatusOr<Value*> ToMaxPool(StablehloWriter& w) {
  if (w.wants(1)) return CannotExpress("the places of the largest elements");
  X2IR_ASSIGN_OR_RETURN(const Window window, PoolWindow(w));
  return WindowHlo(w, w.in(0), "maximum", window);
}

// How many elements each window has along each axis: [out, 1, ...], one after another multiplied.
absl::StatusOr<Value*> CountsOf(StablehloWriter& w, const Window& window, DType t) {
  const Shape& x = *w.in(0)->shape();
  std::vector<Dim> dims(static_cast<size_t>(x.rank()), Dim(1));
  for (size_t i = 0; i < window.rank(); ++i) {
    const auto axis = static_cast<size_t>(window.axis(i));
    dims[axis] = x[window.axis(i)];
  }
  const auto sizes = Shape(dims).Static();
  if (!sizes) return CannotExpress("means of windows over an unknown size");
  Value* ones = w.Op("expand", {w.Number(t, 1), w.Ints(*sizes)});
  return WindowHlo(w, ones, "add", window);
}

absl::StatusOr<Value*> ToAveragePool(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const Window window, PoolWindow(w));
  const DType t = w.dtype(), sum_type = BitWidth(t) < 32 ? DType::kFloat32 : t;
  X2IR_ASSIGN_OR_RETURN(Value * sum, WindowHlo(w, w.Cast(w.in(0), sum_type), "add", window));
  Value* count = w.Number(sum_type, static_cast<double>(Product(window.kernel)));
  if (window.padded() && w.Int("count_include_pad") == 0) {
    X2IR_ASSIGN_OR_RETURN(count, CountsOf(w, window, sum_type));
  }
  return w.Cast(w.Op("div", {sum, count}), t);
}

auto ToGlobalPool(const char* reduction) {
  return [reduction](StablehloWriter& w) { return ReduceSpatial(w, reduction); };
}

}  // namespace

X2IR_STABLEHLO(max_pool).To("reduce_window", ToMaxPool);
X2IR_STABLEHLO(average_pool).To("reduce_window", ToAveragePool);
X2IR_STABLEHLO(global_average_pool).To("reduce", ToGlobalPool("reduce_mean"));
X2IR_STABLEHLO(global_max_pool).To("reduce", ToGlobalPool("reduce_max"));

}  // namespace x2ir
