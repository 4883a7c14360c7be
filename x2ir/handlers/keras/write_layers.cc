// Keras, written: layers with weights, and pools. Channels are last.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/keras/keras.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/layout.h"

namespace x2ir {
namespace {

bool HasChannelsLast(KerasWriter& w) { return w.String("layout") == "channels_last"; }

// A weight with its axes in another order, and perhaps another shape before that.
Value* RelaidWeight(KerasWriter& w, size_t i, const std::vector<int64_t>& perm,
                    const std::vector<int64_t>& dims = {}) {
  const Tensor& weight = *w.Weight(i);
  if (dims.empty() && std::is_sorted(perm.begin(), perm.end())) return w.in(i);
  Value* made = w.b().Constant(TransposeWeight(dims.empty() ? weight : weight.Reshaped(dims), perm),
                               w.in(i)->name());
  if (w.in(i)->graph() == &w.b().graph()) w.b().graph().SwapNames(w.in(i), made);
  return made;
}

std::string ClassOf(std::string_view kind, size_t axes, std::string_view end = "") {
  return StrCat(kind, axes, "D", end);
}

// What a convolution and a pool say of their window; SAME where Keras adds the same padding.
struct KerasWindow : Window {
  bool same = false;
  AttributeMap Settings(const char* kernel_name) const {
    return {{kernel_name, kernel},
            {"strides", strides},
            {"padding", same ? "same" : "valid"},
            {"data_format", "channels_last"}};
  }
};

absl::StatusOr<KerasWindow> ReadKerasWindow(KerasWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(const Window given, ReadWindow(w.attrs(), std::move(kernel)));
  const std::optional<Window> padded = WithPads(given, w.shape());
  if (!padded) return CannotExpress("automatic pads of unknown sizes");
  KerasWindow window{*padded};
  Window automatic = given;
  automatic.auto_pad = AutoPad::kSameUpper;
  const auto same = WithPads(std::move(automatic), w.shape());
  window.same = window.padded() && same && same->pads == window.pads;
  return window;
}

// Operand 0, with the padding that is not the layer's own.
Value* PaddedInput(KerasWriter& w, KerasWindow& window, double number) {
  return window.same || !window.padded() ? w.in(0) : PadApart(w, window, number);
}

absl::StatusOr<std::vector<int64_t>> KernelDims(KerasWriter& w) {
  const Tensor* kernel = w.Weight(1);
  if (!kernel) return CannotExpress("a kernel that is computed");
  if (kernel->rank() < 3 || kernel->rank() > 5) {
    return CannotExpress(kernel->rank() - 2, " spatial axes");
  }
  return kernel->dims();
}

// The weights with a bias, if it is a constant; else the bias is added to the result.
Value* WithBiasOf(KerasWriter& w, std::string_view layer, Value* x, AttributeMap config,
                  Value* kernel) {
  std::vector<Value*> weights = {kernel};
  const bool own = w.has(2) && w.Weight(2);
  if (own) weights.push_back(w.in(2));
  config.Set("activation", "linear");
  config.Set("use_bias", int64_t{own});
  Value* y = w.Layer(layer, {x}, std::move(config), weights, w.out_type());
  return w.has(2) && !own ? w.Op("add", {y, w.in(2)}) : y;
}

absl::StatusOr<Values> ToConv(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, KernelDims(w));
  if (!HasChannelsLast(w)) return InLayout(w.b(), w.node(), "channels_last");
  const size_t axes = dims.size() - 2;
  X2IR_ASSIGN_OR_RETURN(KerasWindow window, ReadKerasWindow(w, {dims.begin() + 2, dims.end()}));
  const bool steps = std::ranges::any_of(window.strides, [](int64_t s) { return s != 1; });
  if (steps && window.dilated()) return CannotExpress("steps and dilations at once");
  const int64_t groups = w.Int("group");
  const bool even =
      std::ranges::all_of(window.strides, [&](int64_t s) { return s == window.strides[0]; });
  Value* x = PaddedInput(w, window, 0);
  AttributeMap config = window.Settings("kernel_size");
  config.Set("dilation_rate", window.dilations);
  std::vector<int64_t> perm;
  for (size_t i = 0; i < axes; ++i) perm.push_back(static_cast<int64_t>(i) + 2);
  if (groups > 1 && dims[1] == 1 && axes < 3 && even) {
    // [channels, results of each, kernel...] becomes [kernel..., channels, results of each].
    const int64_t each = dims[0] / groups;
    std::vector<int64_t> apart = {groups, each};
    apart.insert(apart.end(), dims.begin() + 2, dims.end());
    perm.insert(perm.end(), {0, 1});
    config.Set("depth_multiplier", each);
    return Values{WithBiasOf(w, ClassOf("DepthwiseConv", axes), x, std::move(config),
                             RelaidWeight(w, 1, perm, apart))};
  }
  perm.insert(perm.end(), {1, 0});
  config.Set("filters", dims[0]);
  config.Set("groups", groups);
  return Values{
      WithBiasOf(w, ClassOf("Conv", axes), x, std::move(config), RelaidWeight(w, 1, perm))};
}

// A VALID one gives all results; what pads cut off is cut off by a slice.
absl::StatusOr<Values> ToConvTranspose(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, KernelDims(w));
  if (w.Int("group") != 1) return CannotExpress("groups of a transposed convolution");
  if (!HasChannelsLast(w)) return InLayout(w.b(), w.node(), "channels_last");
  if (w.attrs().Has("output_shape") || w.String("auto_pad") != "NOTSET") {
    return CannotExpress("pads that follow from the result");
  }
  const size_t axes = dims.size() - 2;
  const std::vector<int64_t> ones(axes, 1), zeros(axes, 0);
  const std::vector<int64_t> kernel(dims.begin() + 2, dims.end());
  const std::vector<int64_t> strides = w.attrs().Ints("strides", ones),
                             dilations = w.attrs().Ints("dilations", ones),
                             more = w.attrs().Ints("output_padding", zeros),
                             pads = w.attrs().Ints("pads", std::vector<int64_t>(2 * axes, 0));
  const Shape* in = w.shape();
  if (!in) return CannotExpress("an operand of unknown rank");
  AttributeMap config = {
      {"filters", dims[1]}, {"kernel_size", kernel},          {"strides", strides},
      {"padding", "valid"}, {"data_format", "channels_last"}, {"dilation_rate", dilations}};
  std::vector<int64_t> begins, ends, cut;
  Shape whole = *in;
  whole[in->rank() - 1] = Dim(dims[1]);
  for (size_t i = 0; i < axes; ++i) {
    if (dilations[i] != 1) return CannotExpress("a dilated transposed convolution");
    // VALID: as many as the last window reaches, or the step where that is more.
    const int64_t rest = std::max<int64_t>(kernel[i] - strides[i], 0);
    const int64_t end = kernel[i] - strides[i] - rest + more[i] - pads[i + axes];
    if (pads[i] < 0 || end > 0) return CannotExpress("a result that is larger than all windows");
    const auto axis = static_cast<int64_t>(i) + 1;
    whole[axis] = (*in)[axis] * Dim(strides[i]) + Dim(rest);
    begins.push_back(pads[i]);
    ends.push_back(end == 0 ? std::numeric_limits<int64_t>::max() : end);
    cut.push_back(axis);
  }
  std::vector<int64_t> perm;
  for (size_t i = 0; i < axes; ++i) perm.push_back(static_cast<int64_t>(i) + 2);
  perm.insert(perm.end(), {1, 0});
  std::vector<Value*> weights = {RelaidWeight(w, 1, perm)};
  const bool own = w.has(2) && w.Weight(2);
  if (own) weights.push_back(w.in(2));
  config.Set("activation", "linear");
  config.Set("use_bias", int64_t{own});
  const bool cuts = std::ranges::any_of(begins, [](int64_t b) { return b != 0; }) ||
                    std::ranges::any_of(ends, [](int64_t e) { return e <= 0; });
  Value* y = w.Layer(ClassOf("Conv", axes, "Transpose"), {w.in(0)}, std::move(config), weights,
                     Type::Tensor(w.dtype(), std::move(whole)));
  if (w.has(2) && !own) y = w.Op("add", {y, w.in(2)});
  if (cuts) y = w.Op("slice", {y, w.Ints(begins), w.Ints(ends), w.Ints(cut)});
  return Values{y};
}

// --- Pools ---------------------------------------------------------------------------------------

template <bool kMax>
absl::StatusOr<Values> ToPool(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  if (kMax && w.wants(1)) return CannotExpress("places");
  for (const int64_t dilation : w.attrs().Ints("dilations", {})) {
    if (dilation != 1) return CannotExpress("dilated windows");
  }
  if (!HasChannelsLast(w)) return InLayout(w.b(), w.node(), "channels_last");
  X2IR_ASSIGN_OR_RETURN(KerasWindow window, ReadKerasWindow(w, w.attrs().Ints("kernel_shape")));
  const auto axes = static_cast<size_t>(rank - 2);
  if (w.Int("ceil_mode") != 0) {
    const Shape *in = w.shape(), *out = w.out_type().shape();
    for (size_t i = 0; i < axes; ++i) {
      const auto axis = static_cast<int64_t>(i) + 1;
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

// --- Dense ---------------------------------------------------------------------------------------

absl::StatusOr<Value*> ToDense(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  const Tensor *kernel = w.Weight(1), *bias = w.Weight(2);
  if (!kernel) return CannotExpress("a factor that is computed");
  if (w.Int("transA") != 0 || w.attrs().Float("alpha") != 1) {
    return CannotExpress("a product with a factor, or of a transposed operand");
  }
  const bool turned = w.Int("transB") != 0;
  const int64_t units = kernel->dim(turned ? 0 : 1);
  const bool own =
      bias && bias->rank() == 1 && bias->dim(0) == units && w.attrs().Float("beta") == 1;
  if (w.has(2) && !own) return CannotExpress("a term that is no bias");
  std::vector<Value*> weights = {
      RelaidWeight(w, 1, turned ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{0, 1})};
  if (own) weights.push_back(w.in(2));
  return w.Layer("Dense", {w.in(0)},
                 {{"units", units}, {"activation", "linear"}, {"use_bias", int64_t{own}}}, weights,
                 w.out_type());
}

absl::StatusOr<Value*> ToMatMul(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const DType type = w.dtype();
  if (!IsFloating(type) && type != DType::kInt32 && type != DType::kInt64) {
    return CannotExpress("elements of ", Name(type));
  }
  const Tensor* kernel = w.Weight(1);
  if (kernel && kernel->rank() == 2 && rank >= 2 && IsFloating(type) && !w.in(0)->constant()) {
    return w.Layer("Dense", {w.in(0)},
                   {{"units", kernel->dim(1)}, {"activation", "linear"}, {"use_bias", int64_t{0}}},
                   {w.in(1)}, w.out_type());
  }
  return w.Function("Matmul", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToEinsum(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  return w.Function("Einsum", w.node().inputs(),
                    KerasArguments({{"subscripts", Json(w.String("equation"))}}));
}

// --- Normalizations ------------------------------------------------------------------------------

bool AreVectors(KerasWriter& w, size_t from, size_t to) {
  for (size_t i = from; i <= to; ++i) {
    if (!w.Weight(i) || w.Weight(i)->rank() != 1) return false;
  }
  return true;
}

absl::StatusOr<Value*> ToBatchNorm(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  if (w.Int("training_mode") != 0) return CannotExpress("the mode of training");
  if (!AreVectors(w, 1, 4) || rank < 2) return CannotExpress("weights that are computed");
  const double epsilon = w.attrs().Float("epsilon");
  return w.Layer("BatchNormalization", {w.in(0)},
                 {{"axis", HasChannelsLast(w) && rank > 2 ? int64_t{-1} : int64_t{1}},
                  {"epsilon", epsilon},
                  {"center", int64_t{1}},
                  {"scale", int64_t{1}}},
                 {w.in(1), w.in(2), w.in(3), w.in(4)}, w.out_type());
}

absl::StatusOr<Value*> ToLayerNorm(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t from, w.Axis());
  if (w.wants(1) || w.wants(2)) return CannotExpress("the mean and the deviation");
  std::vector<int64_t> axes;
  for (int64_t axis = from; axis < rank; ++axis) axes.push_back(axis);
  const bool shifted = w.has(2);
  for (size_t i = 1; i <= (shifted ? 2u : 1u); ++i) {
    const Tensor* weight = w.Weight(i);
    if (!weight) return CannotExpress("weights that are computed");
    bool fits = weight->rank() == static_cast<int64_t>(axes.size());
    for (int64_t k = 0; fits && k < weight->rank(); ++k) {
      fits = (*w.shape())[from + k] == Dim(weight->dim(k));
    }
    if (!fits) return CannotExpress("weights of another shape than the axes");
  }
  const double epsilon = w.attrs().Float("epsilon");
  AttributeMap config = {{"epsilon", epsilon}, {"center", int64_t{shifted}}, {"scale", int64_t{1}}};
  if (axes.size() == 1) {
    config.Set("axis", int64_t{-1});
  } else {
    config.Set("axis", axes);
  }
  std::vector<Value*> weights = {w.in(1)};
  if (shifted) weights.push_back(w.in(2));
  return w.Layer("LayerNormalization", {w.in(0)}, std::move(config), weights, w.out_type());
}

absl::StatusOr<Value*> ToGroupNorm(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (!AreVectors(w, 1, 2) || rank < 3) return CannotExpress("weights that are computed");
  const double epsilon = w.attrs().Float("epsilon");
  return w.Layer("GroupNormalization", {w.in(0)},
                 {{"groups", w.Int("num_groups")},
                  {"axis", HasChannelsLast(w) ? int64_t{-1} : int64_t{1}},
                  {"epsilon", epsilon},
                  {"center", int64_t{1}},
                  {"scale", int64_t{1}}},
                 {w.in(1), w.in(2)}, w.out_type());
}

// A group for each channel.
absl::StatusOr<Value*> ToInstanceNorm(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (!AreVectors(w, 1, 2) || rank < 3) return CannotExpress("weights that are computed");
  const double epsilon = w.attrs().Float("epsilon");
  return w.Layer("GroupNormalization", {w.in(0)},
                 {{"groups", w.Weight(1)->dim(0)},
                  {"axis", HasChannelsLast(w) ? int64_t{-1} : int64_t{1}},
                  {"epsilon", epsilon},
                  {"center", int64_t{1}},
                  {"scale", int64_t{1}}},
                 {w.in(1), w.in(2)}, w.out_type());
}

absl::StatusOr<Value*> ToPrelu(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Tensor* slope = w.Weight(1);
  // As a maximum and a minimum where the slopes are no weight of one image.
  if (!slope || slope->rank() + 1 != rank || rank < 2) {
    Value* zero = w.Number(w.dtype(), 0);
    return w.Op("add",
                {w.Op("relu", {w.in(0)}), w.Op("mul", {w.in(1), w.Op("min", {w.in(0), zero})})});
  }
  std::vector<int64_t> shared;
  for (int64_t axis = 1; axis < rank; ++axis) {
    const int64_t size = slope->dim(axis - 1);
    if (size == 1) {
      shared.push_back(axis);
    } else if ((*w.shape())[axis] != Dim(size)) {
      return CannotExpress("slopes of another size than the tensor");
    }
  }
  AttributeMap config;
  if (!shared.empty()) config.Set("shared_axes", shared);
  return w.Layer("PReLU", {w.in(0)}, std::move(config), {w.in(1)}, w.out_type());
}

}  // namespace

X2IR_KERAS(conv).To("Conv2D", ToConv);
X2IR_KERAS(conv_transpose).To("Conv2DTranspose", ToConvTranspose);
X2IR_KERAS(average_pool).To("AveragePooling2D", ToPool<false>);
X2IR_KERAS(max_pool).To("MaxPooling2D", ToPool<true>);
X2IR_KERAS(global_average_pool).To("GlobalAveragePooling2D", ToGlobalPool<false>);
X2IR_KERAS(global_max_pool).To("GlobalMaxPooling2D", ToGlobalPool<true>);
X2IR_KERAS(gemm).To("Dense", ToDense);
X2IR_KERAS(matmul).To("ops.Matmul", ToMatMul);
X2IR_KERAS(einsum).To("ops.Einsum", ToEinsum);
X2IR_KERAS(batch_normalization).To("BatchNormalization", ToBatchNorm);
X2IR_KERAS(layer_normalization).To("LayerNormalization", ToLayerNorm);
X2IR_KERAS(group_normalization).To("GroupNormalization", ToGroupNorm);
X2IR_KERAS(instance_normalization).To("GroupNormalization", ToInstanceNorm);
X2IR_KERAS(prelu).To("PReLU", ToPrelu);

}  // namespace x2ir
