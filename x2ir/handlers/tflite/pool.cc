// TFLite: pools.
#include "x2ir/builder/layers/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tflite/layers_internal.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Expr Pooled(TfliteArgs& a, const Expr& x, PoolKind kind) {
  Window window = TakePadding(a);
  window.strides = TakeHw(a, "stride_", "", 0);
  window.kernel = {a.Int("filter_height", 0), a.Int("filter_width", 0)};
  a.Require(window.kernel[0] > 0 && window.kernel[1] > 0, "a window without a size");
  return MakePool(x, {window, kind});
}

Value* AveragePool(TfliteArgs& a) { return Pooled(a, a.in(0), PoolKind::kAverage); }
Value* MaxPool(TfliteArgs& a) { return Pooled(a, a.in(0), PoolKind::kMax); }

// The root of the mean of squares.
Value* L2Pool(TfliteArgs& a) { return Sqrt(Pooled(a, Square(a.in(0)), PoolKind::kAverage)); }

absl::StatusOr<std::pair<Pads, Pads>> PlacesOf(TfliteWriter& w) {
  const Shape *in = w.shape(), *out = w.out_type().shape();
  std::pair<Pads, Pads> sizes;
  for (int64_t i = 1; in && out && i + 1 < in->rank(); ++i) {
    if (!(*in)[i].is_static() || !(*out)[i].is_static()) break;
    sizes.first.push_back((*in)[i].value());
    sizes.second.push_back((*out)[i].value());
  }
  if (!in || sizes.first.size() + 2 != static_cast<size_t>(in->rank())) {
    return CannotExpress("sizes that are not known");
  }
  return sizes;
}

// The last window of a result that is rounded up may begin before the end and reach beyond it.
absl::Status ReachLastWindow(TfliteWriter& w, LiteWindow& window) {
  X2IR_ASSIGN_OR_RETURN(const auto sizes, PlacesOf(w));
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t reach = (sizes.second[i] - 1) * window.strides[i] + window.kernel[i];
    window.pads[i + window.rank()] =
        std::max<int64_t>(0, reach - sizes.first[i] - window.pad_begin(i));
  }
  return absl::OkStatus();
}

// In each window, how many elements a mean counts; of one axis.
std::vector<double> CountsOf(const LiteWindow& window, size_t axis, int64_t in, int64_t out,
                             int64_t pad_begin, int64_t pad_end) {
  std::vector<double> counts;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t from = i * window.strides[axis] - window.pad_begin(axis);
    const int64_t to = std::min(from + window.kernel[axis], in + pad_end);
    counts.push_back(static_cast<double>(to - std::max(from, -pad_begin)));
  }
  return counts;
}

// What no maximum is less than.
double LeastOf(DType t) {
  if (!IsInteger(t)) return -std::numeric_limits<double>::infinity();
  return IsSignedInt(t) ? -std::ldexp(1.0, BitWidth(t) - 1) : 0;
}

// Windows of three axes, of the last two first: maxima are maxima of maxima, and as many elements
// are in a window as the product of those along each axis.
absl::StatusOr<Values> AxesApart(TfliteWriter& w) {
  const Shape* out_shape = w.out_type().shape();
  const auto in = w.shape()->Static(), out = out_shape ? out_shape->Static() : std::nullopt;
  if (!in || !out) return CannotExpress("windows of three axes of unknown sizes");
  const auto part = [&](size_t from, size_t to) {
    AttributeMap attrs = w.attrs();
    for (auto& [name, attr] : attrs) {
      auto* ints = std::get_if<Attribute::Ints>(&attr.variant());
      if (!ints || ints->size() % 3 != 0) continue;
      const int64_t none = name == "pads" ? 0 : 1;
      Attribute::Ints some;
      for (size_t group = 0; group < ints->size(); group += 3) {
        for (size_t i = from; i < to; ++i) some.push_back((*ints)[group + i]);
        if (to - from == 1) some.push_back(none);
      }
      *ints = std::move(some);
    }
    return attrs;
  };
  const auto& op = w.node().op();
  Value* x =
      w.Op("reshape", {w.in(0), w.Ints({(*in)[0] * (*in)[1], (*in)[2], (*in)[3], (*in)[4]})});
  Value* y = w.Op(op, {x}, part(1, 3));
  y = w.Op("reshape", {y, w.Ints({(*in)[0], (*in)[1], (*out)[2] * (*out)[3], (*in)[4]})});
  return Values{w.Op("reshape", {w.Op(op, {y}, part(0, 1)), w.Ints(*out)})};
}

template <bool max>
absl::StatusOr<Values> ToPool(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  if (max && w.wants(1)) return CannotExpress("places");
  if (w.dtype() != DType::kFloat32 && !(max && IsInteger(w.dtype()) && BitWidth(w.dtype()) <= 16)) {
    return CannotExpress("elements of ", Name(w.dtype()));
  }
  if (rank == 5) return IsChannelsLast(w) ? AxesApart(w) : WithChannelsLast(w, ToPool<max>);
  for (const int64_t dilation : w.attrs().Ints("dilations", {})) {
    if (dilation != 1) return CannotExpress("dilated windows");
  }
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToPool<max>);
  if (rank == 3) return Values{WithTwoSpatialAxes(w, false)};
  X2IR_ASSIGN_OR_RETURN(LiteWindow window, ReadLiteWindow(w, w.attrs().Ints("kernel_shape")));
  const bool include = !max && w.Int("count_include_pad") != 0;
  // Means count what was padded by the attribute, and nothing of what rounding up adds.
  const Pads begins = include ? window.begins() : Pads{0, 0},
             ends = include ? window.ends() : Pads{0, 0};
  if (w.Int("ceil_mode") != 0) X2IR_RETURN_IF_ERROR(ReachLastWindow(w, window));
  Value* counts = nullptr;
  const bool plain = window.is_valid() || (window.is_same() && !include);
  if (!max && !plain) {
    X2IR_ASSIGN_OR_RETURN(const auto sizes, PlacesOf(w));
    const std::vector<double> rows = CountsOf(window, 0, sizes.first[0], sizes.second[0], begins[0],
                                              ends[0]),
                              columns = CountsOf(window, 1, sizes.first[1], sizes.second[1],
                                                 begins[1], ends[1]);
    const auto all = static_cast<double>(window.kernel[0] * window.kernel[1]);
    std::vector<float> factors;
    bool ones = true;
    for (const double r : rows) {
      for (const double c : columns) {
        if (r <= 0 || c <= 0) return CannotExpress("windows of nothing");
        factors.push_back(static_cast<float>(all / (r * c)));
        ones &= factors.back() == 1;
      }
    }
    if (!ones) {
      counts = w.b().Constant(Tensor::Of<float>({1, sizes.second[0], sizes.second[1], 1}, factors));
    }
  }
  if (!max && !plain && window.is_same()) window.same.reset();  // padding counts: zeros
  Value* x = PadLiteApart(w, window, max ? LeastOf(w.dtype()) : 0);
  AttributeMap attrs = {{"padding", PaddingName(window)}};
  SetHw(&attrs, window.strides, "stride_");
  attrs.Set("filter_height", window.kernel[0]);
  attrs.Set("filter_width", window.kernel[1]);
  Value* y = w.Tflite(max ? "MAX_POOL_2D" : "AVERAGE_POOL_2D", {x}, std::move(attrs),
                      counts ? w.out_type() : Type());
  return Values{counts ? w.Op("mul", {y, counts}) : y};
}

auto ToGlobalPool(std::string_view reduction) {
  return [=](TfliteWriter& w) { return ReduceSpatial(w, reduction); };
}

}  // namespace

X2IR_TFLITE(average_pool).To("AVERAGE_POOL_2D", ToPool<false>).From("AVERAGE_POOL_2D", AveragePool);
X2IR_TFLITE(lp_pool).From("L2_POOL_2D", L2Pool);
X2IR_TFLITE(max_pool).To("MAX_POOL_2D", ToPool<true>).From("MAX_POOL_2D", MaxPool);
X2IR_TFLITE(global_average_pool).To("MEAN", ToGlobalPool("reduce_mean"));
X2IR_TFLITE(global_max_pool).To("REDUCE_MAX", ToGlobalPool("reduce_max"));

}  // namespace x2ir
