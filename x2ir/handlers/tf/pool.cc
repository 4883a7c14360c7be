// TensorFlow: pools in either layout. Windows may be operands, and the places of maxima may be
// asked for.
#include "x2ir/builder/layers/pool.h"

#include <limits>
#include <tuple>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tf/writer.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Window and strides as operands, one number an axis of the tensor.
absl::StatusOr<Value*> MaxPoolV2(TfArgs& a) {
  const TfLayout layout = TakeLayout(a);
  Window window{.channels_last = layout.channels_last};
  TakePadding(a, 2, &window);
  const auto first = static_cast<size_t>(window.axis(0));
  for (const auto& [i, name, list] :
       {std::tuple(1, "kernel_shape", &window.kernel), std::tuple(2, "strides", &window.strides)}) {
    X2IR_ASSIGN_OR_RETURN(const auto all, a.KnownInts(static_cast<size_t>(i), name));
    if (all.size() != 4) return Invalid("expected 4 numbers of ", name);
    if (all[0] != 1 || all[layout.channels_last ? 3 : 1] != 1) {
      return Unimplemented(name, " of the batch or the channels");
    }
    *list = {all[first], all[first + 1]};
  }
  return MakePool(a.in(0), {window}).value();
}

// A place counts through rows, columns and channels, and through the batch if it is included.
absl::StatusOr<Values> MaxPoolWithArgmax(TfArgs& a) {
  const Window window = TakePoolWindow(a, TfLayout(), 2);
  const bool with_batch = a.Bool("include_batch_in_index", false);
  const DType type = a.Type("Targmax", DType::kInt64);
  Value* x = a.in(0);
  const std::vector<Size> sizes = AllSizes({a, x});
  if (sizes.size() != 4) return Invalid("expected an operand of rank 4");
  const std::vector<Value*> pooled =
      a.b().Ops("max_pool", {x}, PoolAttrs(window), {true, a.wants(1)});
  if (!a.wants(1)) return Values{pooled[0], nullptr};
  // IR counts through batch, channels, rows and columns.
  const Size pixels = Times(a, sizes[1], sizes[2]);
  const auto one = [&](const Size& size) { return Vector(a, {size}); };
  const auto positions = [&](const Size& count) {
    Value* scalar = count.number ? a.b().Int(*count.number) : a.Op("squeeze", {count.value});
    return a.Op("range", {a.b().Int(0), scalar, a.b().Int(1)});
  };
  Value* place = a.Op("mod", {pooled[1], one(Larger(a, pixels, 1))});
  place = a.Op("add", {a.Op("mul", {place, one(sizes[3])}), positions(sizes[3])});
  if (with_batch) {
    Value* start = a.Op("mul", {positions(sizes[0]), one(Times(a, pixels, sizes[3]))});
    place = a.Op("add", {place, a.Op("unsqueeze", {start, a.b().Ints({1, 2, 3})})});
  }
  return Values{pooled[0], a.Cast(place, type)};
}

template <PoolKind kKind>
Value* PoolBy(TfArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const TfLayout layout = TakeLayout(a, spatial == 2 ? "NHWC" : "NDHWC");
  return MakePool(a.in(0), {TakePoolWindow(a, layout, spatial), kKind});
}

// Maxima and their places. TensorFlow counts those of channels last, the IR those of channels
// first: batch, channels, and places.
absl::StatusOr<Values> ToTfMaxPoolWithPlaces(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank != 4) return CannotExpress("places of rank ", rank);
  if (w.Int("ceil_mode") != 0) return CannotExpress("ceil_mode");
  if (w.Int("storage_order") != 0) return CannotExpress("places by columns");
  X2IR_ASSIGN_OR_RETURN(Window window, ReadTfWindow(w, w.attrs().Ints("kernel_shape")));
  if (window.dilated()) return CannotExpress("dilated windows");
  if (window.padded()) return CannotExpress("places of padded windows");
  const auto dims = w.shape()->Static();
  if (!dims) return CannotExpress("places of unknown sizes");
  const bool last = IsChannelsLast(w);
  const int64_t pixels = last ? (*dims)[1] * (*dims)[2] : (*dims)[2] * (*dims)[3];
  const int64_t channels = (*dims)[last ? 3 : 1];
  if (pixels == 0 || channels == 0) return CannotExpress("places of no elements");
  const std::vector<int64_t> to = {0, 2, 3, 1}, back = {0, 3, 1, 2};
  Value* x = last ? w.in(0) : w.Op("transpose", {w.in(0)}, {{"perm", to}});
  AttributeMap attrs = {{"ksize", OfTensor(window.kernel)},
                        {"strides", OfTensor(window.strides)},
                        {"padding", IsSame(window.auto_pad) ? "SAME" : "VALID"},
                        {"Targmax", Type::Tensor(DType::kInt64)},
                        {"include_batch_in_index", true}};
  Shape shape = Shape::UnknownDims(4);
  const Values both = w.TfAll("MaxPoolWithArgmax", {x}, std::move(attrs), {true, true},
                              {Type::Tensor(w.dtype(), shape), Type::Tensor(DType::kInt64, shape)});
  // ((batch * pixels) + pixel) * channels + channel as (batch * channels + channel) * pixels +
  // pixel.
  const Expr place(w.b(), both[1]);
  const auto over = [&](int64_t n) { return place.Op("div", {w.b().Int(n)}); };
  const Expr channel = place - over(channels) * static_cast<double>(channels);
  const Expr pixel = over(channels) - over(channels * pixels) * static_cast<double>(pixels);
  const Expr batch = over(channels * pixels);
  Value* places =
      ((batch * static_cast<double>(channels) + channel) * static_cast<double>(pixels) + pixel)
          .value();
  const auto laid = [&](Value* v) {
    return last ? w.Op("identity", {v}) : w.Op("transpose", {v}, {{"perm", back}});
  };
  return Values{laid(both[0]), laid(places)};
}

absl::StatusOr<Value*> ToTfPool(TfWriter& w, bool max) {
  if (w.Int("ceil_mode") != 0) return CannotExpress("ceil_mode");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  const size_t n = static_cast<size_t>(rank) - 2;
  X2IR_ASSIGN_OR_RETURN(Window window, ReadTfWindow(w, w.attrs().Ints("kernel_shape")));
  if (window.dilated()) return CannotExpress("dilated windows");
  if (max && !IsFloating(w.dtype()) && window.padded()) return CannotExpress("padding of integers");
  const bool include_pad = !max && w.Int("count_include_pad") != 0, same = IsSame(window.auto_pad);
  if (!max && window.padded() && !include_pad) return CannotExpress("that padding");
  if (!max && same && include_pad) return CannotExpress("means over padding");
  if (!IsChannelsLast(w)) return WithChannelsLast(w);
  if (rank == 3) return WithTwoSpatialAxes(w, false);
  Value* x = PadTfApart(w, window, max ? -std::numeric_limits<double>::infinity() : 0);
  AttributeMap attrs = {{"ksize", OfTensor(window.kernel)}};
  SetWindow(&attrs, window, false);
  const std::string_view op = max ? "MaxPool" : "AvgPool";
  return w.Tf(n == 2 ? std::string(op) : StrCat(op, "3D"), {x}, std::move(attrs));
}

auto ToTfGlobalPool(std::string_view reduction) {
  return [=](TfWriter& w) { return ReduceSpatial(w, reduction); };
}

}  // namespace

X2IR_TF(max_pool)
    .To("MaxPool",
        [](TfWriter& w) -> absl::StatusOr<Values> {
          if (w.wants(1)) return ToTfMaxPoolWithPlaces(w);
          X2IR_ASSIGN_OR_RETURN(Value * y, ToTfPool(w, true));
          return Values{y};
        })
    .From({{"MaxPoolV2", MaxPoolV2}, {"MaxPoolWithArgmax", MaxPoolWithArgmax}})
    .From({"MaxPool", "MaxPool3D"}, PoolBy<PoolKind::kMax>);
X2IR_TF(average_pool)
    .To("AvgPool", [](TfWriter& w) { return ToTfPool(w, false); })
    .From({"AvgPool", "AvgPool3D"}, PoolBy<PoolKind::kAverage>);
X2IR_TF(global_average_pool).To("Mean", ToTfGlobalPool("reduce_mean"));
X2IR_TF(global_max_pool).To("Max", ToTfGlobalPool("reduce_max"));

}  // namespace x2ir
