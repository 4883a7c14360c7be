// Keras, written: pools.
#include <algorithm>
#include <limits>
#include <utility>

#include "x2ir/handlers/keras/write_internal.h"
#include "x2ir/optimizer/layout.h"

namespace x2ir {
namespace {

template <bool kMax>
absl::StatusOr<Values> ToPool(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  if (kMax && w.wants(1)) return CannotExpress("places");
  for (const int64_t dilation : w.attrs().Ints("dilations", {})) {
    if (dilation != 1) return CannotExpress("dilated windows");
  }
  X2IR_ASSIGN_OR_RETURN(KerasWindow window, ReadKerasWindow(w, w.attrs().Ints("kernel_shape")));
  const auto axes = static_cast<size_t>(rank - 2);
  if (w.Int("ceil_mode") != 0) {
    const Shape *in = w.shape(), *out = w.out_type().shape();
    for (size_t i = 0; i < axes; ++i) {
      const int64_t axis = SpatialAxis(HasChannelsLast(w), static_cast<int64_t>(i));
      if (!out || !(*in)[axis].is_static() || !(*out)[axis].is_static()) {
        return CannotExpress("results rounded up of unknown sizes");
      }
      const int64_t reach = ((*out)[axis].value() - 1) * window.strides[i] + window.kernel[i];
      const int64_t beyond = reach - (*in)[axis].value() - window.pad_begin(i);
      if (!kMax && beyond > window.pad_end(i)) return CannotExpress("means of what is rounded up");
      window.pads[i + axes] = std::max<int64_t>(0, beyond);
    }
  }
  const bool include = !kMax && w.Int("count_include_pad") != 0;
  if (include) window.same = false;
  if (!kMax && !include && window.padded() && !window.same) {
    return CannotExpress("means that do not count the padding, which is none that Keras adds");
  }
  // Not before: what is refused is lowered as it is.
  if (!HasChannelsLast(w)) return InLayout(w.b(), w.node(), "channels_last");
  Value* x = PaddedInput(w, window, kMax ? -std::numeric_limits<double>::infinity() : 0);
  return Values{w.Layer(ClassOf(kMax ? "MaxPooling" : "AveragePooling", axes), {x},
                        window.Settings("pool_size"), {}, w.out_type())};
}

template <bool kMax>
absl::StatusOr<Values> ToGlobalPool(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  if (rank < 3 || rank > 5) {
    X2IR_ASSIGN_OR_RETURN(Value * y, ReduceSpatial(w, kMax ? "reduce_max" : "reduce_mean"));
    return Values{y};
  }
  return Values{w.Layer(
      ClassOf(kMax ? "GlobalMaxPooling" : "GlobalAveragePooling", static_cast<size_t>(rank - 2)),
      {w.in(0)}, {{"data_format", w.String("layout")}, {"keepdims", int64_t{1}}}, {},
      w.out_type())};
}

}  // namespace

X2IR_KERAS(average_pool).To("AveragePooling2D", ToPool<false>);
X2IR_KERAS(max_pool).To("MaxPooling2D", ToPool<true>);
X2IR_KERAS(global_average_pool).To("GlobalAveragePooling2D", ToGlobalPool<false>);
X2IR_KERAS(global_max_pool).To("GlobalMaxPooling2D", ToGlobalPool<true>);

}  // namespace x2ir
