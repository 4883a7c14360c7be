// Products of matrices, convolutions, pools and norms, written as calls.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "x2ir/builder/expr.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// --- Products -------------------------------------------------------------------------------

X2IR_TORCH(matmul).To("aten::matmul.default");

absl::StatusOr<Value*> WriteGemm(TorchWriter& w) {
  const double alpha = w.Float("alpha"), beta = w.Float("beta");
  const bool trans_a = w.Int("transA") != 0, trans_b = w.Int("transB") != 0;
  Value *a = w.in(0), *b = w.in(1), *c = w.in(2);
  if (!IsFloating(w.dtype())) return CannotExpress("integers");
  if (trans_a) a = w.Op("transpose", {a}, {{"perm", {1, 0}}});
  const bool row = c && c->shape() && c->shape()->rank() == 1;
  if (trans_b && alpha == 1 && (!c || (row && beta == 1))) {
    // A bias of one element would be broadcast, which `linear` does not do.
    const bool full =
        !c || ((*c->shape())[0].is_static() && b->shape() && (*b->shape())[0] == (*c->shape())[0]);
    if (full) {
      TorchArguments arguments = {{"input", a}, {"weight", b}};
      if (c) arguments.emplace_back("bias", c);
      return w.Call("aten::linear.default", std::move(arguments));
    }
  }
  if (trans_b) b = w.Op("transpose", {b}, {{"perm", {1, 0}}});
  if (c) {
    return w.Call("aten::addmm.default",
                  {{"self", c}, {"mat1", a}, {"mat2", b}, {"beta", beta}, {"alpha", alpha}});
  }
  Value* product = w.Op("matmul", {a, b});
  return alpha == 1 ? product : w.Op("mul", {product, w.Number(w.dtype(), alpha)});
}
X2IR_TORCH(gemm).To("aten::addmm.default", WriteGemm);

Value* WriteEinsum(TorchWriter& w) {
  std::vector<Value*> tensors;
  for (size_t i = 0; i < w.num_inputs(); ++i) tensors.push_back(w.in(i));
  const DType t = w.dtype();
  if (IsInteger(t) && t != DType::kInt64 && t != DType::kUInt64) {
    // PyTorch's sums of integers are int64.
    for (Value*& tensor : tensors) tensor = w.Cast(tensor, DType::kInt64);
    return w.Cast(w.Op("einsum", std::move(tensors), {{"equation", w.String("equation")}}), t);
  }
  return w.Call("aten::einsum.default",
                {{"equation", w.String("equation")}, {"tensors", std::move(tensors)}});
}
X2IR_TORCH(einsum).To("aten::einsum.default", WriteEinsum);

// --- Windows --------------------------------------------------------------------------------

// Padding in numbers. `kernel`: the spatial sizes of the window.
absl::StatusOr<Window> WrittenWindow(TorchWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), std::move(kernel)));
  if (window.channels_last) return CannotExpress("channels last");
  if (window.rank() < 1 || window.rank() > 3) return CannotExpress(window.rank(), " spatial axes");
  std::optional<Window> padded = WithPads(std::move(window), w.shape());
  if (!padded) return CannotExpress("SAME of an unknown size");
  // Automatic pads leave nothing to round up.
  padded->ceil_mode = padded->ceil_mode && padded->auto_pad == AutoPad::kNotSet;
  return *padded;
}

std::optional<std::vector<int64_t>> SpatialSizes(const Value* weights) {
  const auto dims = weights->shape() ? weights->shape()->Static() : std::nullopt;
  if (!dims || dims->size() < 3) return std::nullopt;
  return std::vector<int64_t>(dims->begin() + 2, dims->end());
}

std::string_view OfRank(size_t n, const std::array<std::string_view, 3>& names) {
  return names[n - 1];
}

absl::StatusOr<Value*> WriteConv(TorchWriter& w) {
  const auto kernel = SpatialSizes(w.in(1));
  if (!kernel) return CannotExpress("weights of unknown sizes");
  X2IR_ASSIGN_OR_RETURN(Window window, WrittenWindow(w, *kernel));
  Value* x = window.even() ? w.in(0) : PadApart(w, window, 0);
  return w.Call(OfRank(window.rank(),
                       {"aten::conv1d.default", "aten::conv2d.default", "aten::conv3d.default"}),
                {{"input", x},
                 {"weight", w.in(1)},
                 {"bias", w.in(2)},
                 {"stride", window.strides},
                 {"padding", window.begins()},
                 {"dilation", window.dilations},
                 {"groups", w.Int("group")}});
}
X2IR_TORCH(conv).To("aten::conv2d.default", WriteConv);

// The padding of a transposed convolution whose result's size is given.
absl::StatusOr<Window> FittedWindow(TorchWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), std::move(kernel)));
  if (window.channels_last) return CannotExpress("channels last");
  const size_t n = window.rank();
  if (n < 1 || n > 3) return CannotExpress(n, " spatial axes");
  const std::vector<int64_t> more = w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0));
  const std::vector<int64_t> wanted = w.attrs().Ints("output_shape", {});
  for (size_t i = 0; i < n; ++i) {
    const Dim size = w.shape() ? (*w.shape())[window.axis(i)] : Dim();
    if (!size.is_static()) return CannotExpress("a result of a given size, of an unknown one");
    const int64_t out =
        wanted.empty() ? size.value() * window.strides[i] : wanted[wanted.size() - n + i];
    const int64_t total = (size.value() - 1) * window.strides[i] + more[i] + window.extent(i) - out;
    window.SplitPads(i, std::max<int64_t>(total, 0), window.auto_pad == AutoPad::kSameUpper);
    // What is missing is added behind.
    window.pads[n + i] += std::min<int64_t>(total, 0);
  }
  return window;
}

// More padding before than behind is padding of the output; the rest is cut off.
absl::StatusOr<Value*> WriteConvTranspose(TorchWriter& w) {
  const auto kernel = SpatialSizes(w.in(1));
  if (!kernel) return CannotExpress("weights of unknown sizes");
  const std::string& automatic = w.String("auto_pad");
  const bool fitted = w.attrs().Has("output_shape") || automatic.starts_with("SAME");
  X2IR_ASSIGN_OR_RETURN(const Window window,
                        fitted ? FittedWindow(w, *kernel) : WrittenWindow(w, *kernel));
  const size_t n = window.rank();
  std::vector<int64_t> more = w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0));
  bool cut = false;
  for (size_t i = 0; i < n; ++i) {
    const int64_t own = more[i] + window.pad_begin(i) - window.pad_end(i);
    cut |= own < 0 || own >= std::max(window.strides[i], window.dilations[i]);
  }
  const Type type = w.out_type();
  std::vector<int64_t> starts, ends, axes;
  for (size_t i = 0; i < n; ++i) {
    const int64_t end = window.pad_end(i);
    if (!cut) more[i] += window.pad_begin(i) - end;
    if (!cut) continue;
    if (end < 0) return CannotExpress("negative padding");
    starts.push_back(window.pad_begin(i));
    ends.push_back(end > 0 ? -end : INT64_MAX);
    axes.push_back(window.axis(i));
  }
  Type result = type;
  if (cut) result = Type::Tensor(w.dtype(), Shape::UnknownDims(static_cast<int64_t>(n) + 2));
  Value* y = w.Call(OfRank(n, {"aten::conv_transpose1d.default", "aten::conv_transpose2d.input",
                               "aten::conv_transpose3d.input"}),
                    {{"input", w.in(0)},
                     {"weight", w.in(1)},
                     {"bias", w.in(2)},
                     {"stride", window.strides},
                     {"padding", cut ? std::vector<int64_t>(n, 0) : window.begins()},
                     {"output_padding", more},
                     {"groups", w.Int("group")},
                     {"dilation", window.dilations}},
                    result);
  if (!cut) return y;
  return w.Op("slice", {y, w.b().Ints(starts), w.b().Ints(ends), w.b().Ints(axes)});
}
X2IR_TORCH(conv_transpose).To("aten::conv_transpose2d.input", WriteConvTranspose);

// PyTorch pads a window by less than half of it.
bool TooMuchPadding(const Window& window) {
  for (size_t i = 0; i < window.rank(); ++i) {
    if (window.pad_begin(i) > window.kernel[i] / 2) return true;
  }
  return !window.even();
}

// Places are in the image, which may be padded apart (by `apart`); in the IR they are in the image
// alone, and count through batch and channels too.
absl::StatusOr<Values> WriteMaxPoolPlaces(TorchWriter& w, const Window& apart,
                                          TorchArguments arguments) {
  const Shape* out = w.out_type(1).shape();
  if (!w.in(0)->shape() || !out) return CannotExpress("places in an image of unknown rank");
  const size_t rank = apart.rank();
  const Values found = w.Calls(OfRank(rank, {"aten::max_pool1d_with_indices.default",
                                             "aten::max_pool2d_with_indices.default",
                                             "aten::max_pool3d_with_indices.default"}),
                               std::move(arguments), {w.wants(0), true},
                               {w.out_type(0), Type::Tensor(DType::kInt64, *out)});
  const Expr x(w.b(), w.in(0));
  const auto n = static_cast<int64_t>(rank);
  std::vector<Expr> sizes;
  for (int64_t i = 0; i < n; ++i) sizes.push_back(SizeOf(x, i + 2));
  Expr pixels = sizes[0];
  for (int64_t i = 1; i < n; ++i) pixels = pixels * sizes[static_cast<size_t>(i)];

  Expr place(w.b(), found[1]);
  const bool last_first = w.Int("storage_order") != 0;
  if (apart.padded() || last_first) {
    std::vector<Expr> at(rank, place);  // along each axis
    for (size_t i = rank; i-- > 0;) {
      const int64_t begin = apart.pad_begin(i);
      const Expr size = Shifted(sizes[i], static_cast<double>(begin + apart.pad_end(i)));
      at[i] = Shifted(i == 0 ? place : Mod(place, size), -static_cast<double>(begin));
      if (i > 0) place = place / size;
    }
    if (last_first) {
      std::reverse(at.begin(), at.end());
      std::reverse(sizes.begin(), sizes.end());
    }
    place = at[0];
    for (size_t i = 1; i < rank; ++i) place = place * sizes[i] + at[i];
  }
  // Where each plane begins.
  std::vector<int64_t> behind(rank);
  std::iota(behind.begin(), behind.end(), 2);
  const Expr channels = SizeOf(x, 1);
  const auto counting = [&](const Expr& size) {
    return w.Op("range", {w.b().Int(0), size, w.b().Int(1)});
  };
  const Expr images = Expr(w.b(), w.Op("unsqueeze", {counting(SizeOf(x, 0)), w.Ints({1})}));
  const Expr planes = images * channels + Expr(w.b(), counting(channels));
  const Expr starts = (planes * pixels).Op("unsqueeze", {w.Ints(behind)});
  return Values{found[0], place + starts};
}

absl::StatusOr<Values> WriteMaxPool(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(Window window, WrittenWindow(w, w.attrs().Ints("kernel_shape")));
  Value* x = w.in(0);
  Window apart = window;
  if (TooMuchPadding(window)) {
    if (window.ceil_mode || !IsFloating(w.dtype())) return CannotExpress("padding of that kind");
    x = PadApart(w, window, -std::numeric_limits<double>::infinity());
  } else {
    apart.pads.assign(apart.pads.size(), 0);
  }
  TorchArguments arguments = {{"self", x},
                              {"kernel_size", window.kernel},
                              {"stride", window.strides},
                              {"padding", window.begins()},
                              {"dilation", window.dilations},
                              {"ceil_mode", window.ceil_mode}};
  if (w.wants(1)) return WriteMaxPoolPlaces(w, apart, std::move(arguments));
  return Values{w.Call(
      OfRank(window.rank(),
             {"aten::max_pool1d.default", "aten::max_pool2d.default", "aten::max_pool3d.default"}),
      std::move(arguments))};
}
X2IR_TORCH(max_pool).To("aten::max_pool2d.default", WriteMaxPool);

absl::StatusOr<Value*> WriteAveragePool(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(Window window, WrittenWindow(w, w.attrs().Ints("kernel_shape")));
  const bool include_pad = w.Int("count_include_pad") != 0;
  if (window.dilated()) return CannotExpress("dilated means");
  Value* x = w.in(0);
  if (TooMuchPadding(window)) {
    if (window.ceil_mode || !include_pad) return CannotExpress("padding of that kind");
    x = PadApart(w, window, 0);
  }
  return w.Call(OfRank(window.rank(), {"aten::avg_pool1d.default", "aten::avg_pool2d.default",
                                       "aten::avg_pool3d.default"}),
                {{"self", x},
                 {"kernel_size", window.kernel},
                 {"stride", window.strides},
                 {"padding", window.begins()},
                 {"ceil_mode", window.ceil_mode},
                 {"count_include_pad", include_pad}});
}
X2IR_TORCH(average_pool).To("aten::avg_pool2d.default", WriteAveragePool);

auto WriteGlobalPool(std::string_view reduction) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    if (w.String("layout") != "channels_first") return CannotExpress("channels last");
    return ReduceSpatial(w, reduction);
  };
}
X2IR_TORCH(global_average_pool).To("aten::mean.dim", WriteGlobalPool("reduce_mean"));
X2IR_TORCH(global_max_pool).To("aten::amax.default", WriteGlobalPool("reduce_max"));

// --- Norms ----------------------------------------------------------------------------------

absl::StatusOr<Value*> WriteBatchNorm(TorchWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  if (w.Int("training_mode") != 0) return CannotExpress("statistics of the batch");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 2) return CannotExpress("rank ", rank);
  return w.Call("aten::batch_norm.default", {{"input", w.in(0)},
                                             {"weight", w.in(1)},
                                             {"bias", w.in(2)},
                                             {"running_mean", w.in(3)},
                                             {"running_var", w.in(4)},
                                             {"training", false},
                                             {"momentum", 0.1},
                                             {"eps", w.Float("epsilon")},
                                             {"cudnn_enabled", false}});
}
X2IR_TORCH(batch_normalization).To("aten::batch_norm.default", WriteBatchNorm);

absl::StatusOr<Value*> WriteInstanceNorm(TorchWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3) return CannotExpress("rank ", rank);
  const Shape& shape = *w.in(0)->shape();
  if (std::all_of(shape.begin() + 2, shape.end(), [](const Dim& d) { return d == Dim(1); })) {
    return CannotExpress("statistics of one element");
  }
  return w.Call("aten::instance_norm.default", {{"input", w.in(0)},
                                                {"weight", w.in(1)},
                                                {"bias", w.in(2)},
                                                {"running_mean", nullptr},
                                                {"running_var", nullptr},
                                                {"use_input_stats", true},
                                                {"momentum", 0.1},
                                                {"eps", w.Float("epsilon")},
                                                {"cudnn_enabled", false}});
}
X2IR_TORCH(instance_normalization).To("aten::instance_norm.default", WriteInstanceNorm);

absl::StatusOr<Value*> WriteGroupNorm(TorchWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  return w.Call("aten::group_norm.default", {{"input", w.in(0)},
                                             {"num_groups", w.Int("num_groups")},
                                             {"weight", w.in(1)},
                                             {"bias", w.in(2)},
                                             {"eps", w.Float("epsilon")},
                                             {"cudnn_enabled", false}});
}
X2IR_TORCH(group_normalization).To("aten::group_norm.default", WriteGroupNorm);

// The sizes of the normalized axes, which the scale must have too.
absl::StatusOr<std::vector<TorchScalar>> NormalizedShape(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  for (size_t i = 1; i < std::min<size_t>(w.num_inputs(), 3); ++i) {
    const Shape* shape = w.has(i) ? w.in(i)->shape() : nullptr;
    if (w.has(i) && (!shape || shape->rank() != rank - axis)) {
      return CannotExpress("a scale of another shape");
    }
    for (int64_t k = 0; shape && k < shape->rank(); ++k) {
      const Dim& dim = (*w.in(0)->shape())[axis + k];
      if (dim.is_unknown() || (*shape)[k] != dim) return CannotExpress("a scale of another shape");
    }
  }
  return w.Sizes(w.in(0), axis, rank);
}

absl::StatusOr<Values> WriteLayerNorm(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> shape, NormalizedShape(w));
  const DType stash = w.DTypeAttr("stash_type");
  if (stash != DType::kFloat32) return CannotExpress("statistics in ", Name(stash));
  TorchArguments arguments = {{"input", w.in(0)},
                              {"normalized_shape", std::move(shape)},
                              {"weight", w.in(1)},
                              {"bias", w.in(2)},
                              {"eps", w.Float("epsilon")}};
  if (w.wants(1) || w.wants(2)) {
    if (w.dtype() != stash) return CannotExpress("statistics of ", Name(w.dtype()));
    return w.Calls("aten::native_layer_norm.default", std::move(arguments));
  }
  Values values(w.node().num_outputs(), nullptr);
  values[0] = w.Call("aten::layer_norm.default", std::move(arguments));
  return values;
}
X2IR_TORCH(layer_normalization).To("aten::layer_norm.default", WriteLayerNorm);

absl::StatusOr<Value*> WriteRmsNorm(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> shape, NormalizedShape(w));
  return w.Call("aten::rms_norm.default", {{"input", w.in(0)},
                                           {"normalized_shape", std::move(shape)},
                                           {"weight", w.in(1)},
                                           {"eps", w.Float("epsilon")}});
}
X2IR_TORCH(rms_normalization).To("aten::rms_norm.default", WriteRmsNorm);

}  // namespace
}  // namespace x2ir
