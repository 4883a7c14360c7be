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

struct WindowParts {
  AttributeMap attrs;
  std::vector<Dim> dims;  // of the result
};
absl::StatusOr<WindowParts> PartsOf(const Value* x, const Window& window) {
  const size_t rank = window.rank() + 2;
  std::vector<int64_t> sizes(rank, 1), strides(rank, 1), dilations(rank, 1), ones(rank, 1);
  WindowParts parts = {{}, x->shape()->dims()};
  for (size_t i = 0; i < window.rank(); ++i) {
    const auto axis = static_cast<size_t>(window.axis(i));
    sizes[axis] = window.kernel[i];
    strides[axis] = window.strides[i];
    dilations[axis] = window.dilations[i];
    X2IR_ASSIGN_OR_RETURN(parts.dims[axis], OutputDim(window, i, parts.dims[axis]));
  }
  parts.attrs = {{"window_dimensions", sizes},
                 {"window_strides", strides},
                 {"base_dilations", ones},
                 {"window_dilations", dilations},
                 {"padding", PairsOfPads(TensorPads(window))}};
  return parts;
}

absl::StatusOr<Value*> WindowHlo(StablehloWriter& w, Value* x, std::string_view op,
                                 const Window& window) {
  X2IR_ASSIGN_OR_RETURN(WindowParts parts, PartsOf(x, window));
  X2IR_ASSIGN_OR_RETURN(auto body, BodyOf(op, x->dtype()));
  parts.attrs.Set("body", std::move(body));
  return w.Hlo("reduce_window", {x, InitOf(w.b(), op, x->dtype())}, std::move(parts.attrs),
               WithDims(x->type(), std::move(parts.dims)));
}

// The numbers of elements, as they are with channels first.
absl::StatusOr<Value*> PlacesOf(StablehloWriter& w, const Value* x, const Window& window) {
  const auto sizes = x->shape()->Static();
  if (!sizes) return CannotExpress("places in a tensor of unknown size");
  if (w.Int("storage_order") != 0) return CannotExpress("places that count by columns");
  std::vector<int64_t> first = *sizes;
  const auto rank = static_cast<int64_t>(first.size());
  if (window.channels_last) {
    first.pop_back();
    first.insert(first.begin() + 1, sizes->back());
  }
  const int64_t count = Product(*sizes);
  const Expr numbers(w.b(), w.Hlo("iota", {}, {{"iota_dimension", 0}},
                                  Type::Tensor(DType::kInt64, Shape({Dim(count)}))));
  const Expr placed = Reshape(numbers, first);
  return window.channels_last ? MoveAxis(placed, 1, rank - 1).value() : placed.value();
}

// The largest element of each window and its place, the first of equal ones.
absl::StatusOr<Values> MaxWithPlaces(StablehloWriter& w, const Window& window) {
  Value* x = w.in(0);
  X2IR_ASSIGN_OR_RETURN(WindowParts parts, PartsOf(x, window));
  X2IR_ASSIGN_OR_RETURN(Value * places, PlacesOf(w, x, window));
  const DType t = x->dtype();
  const Type number = Type::Tensor(t, Shape()), place = Type::Tensor(DType::kInt64, Shape());
  X2IR_ASSIGN_OR_RETURN(auto body, RegionOf({number, place, number, place}, [&](const auto& a) {
                          const Expr &u = a[0], &i = a[1], &v = a[2], &j = a[3];
                          Expr first = u > v;
                          if (IsFloating(t)) first = first | IsNan(u);
                          const Expr equal = u == v, earlier = i < j;
                          const Expr wanted = first | (equal & earlier);
                          return std::vector<Expr>{Where(first, u, v), Where(wanted, i, j)};
                        }));
  parts.attrs.Set("body", std::move(body));
  const Type largest = WithDims(x->type(), parts.dims);
  return w.HloAll("reduce_window", {x, places, InitOf(w.b(), "maximum", t), w.b().Int(INT64_MAX)},
                  std::move(parts.attrs), {true, true},
                  {largest, Type::Tensor(DType::kInt64, *largest.shape())});
}

absl::StatusOr<Values> ToMaxPool(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const Window window, PoolWindow(w));
  if (w.wants(1)) return MaxWithPlaces(w, window);
  X2IR_ASSIGN_OR_RETURN(Value * largest, WindowHlo(w, w.in(0), "maximum", window));
  return Values{largest};
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
