// NNEF: convolutions, transposed ones, and boxes spread out.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnef/windows.h"

namespace x2ir {
namespace {

std::vector<int64_t> NnefKernel(NnefArgs& a, const Expr& filter) {
  const auto sizes = KnownSizes(filter, 2, filter.rank());
  a.Require(sizes && !sizes->empty(), "a filter of unknown size, or without spatial axes");
  return *sizes;
}

// A number for each channel, from [1, channels], [channels], or one for all; null: 0.
Value* NnefBias(NnefArgs& a, const Expr& x, const Dim& channels) {
  const Expr bias = a.OptTensor("bias");
  if (!bias.value()) return nullptr;
  const x2ir::Tensor* number = bias->fixed_constant();
  const bool one = number && number->num_elements() == 1;
  if (one && number->AsDouble(0) == 0) return nullptr;
  const Expr flat = Flat(bias.To(x.dtype()));
  if (!one || channels == Dim(1)) return flat;
  a.Require(channels.is_static(), "a filter of unknown size");
  return Expand(flat, Ints(a, {channels.value()}));
}

int64_t NnefGroups(NnefArgs& a, const Dim& channels) {
  const int64_t groups = a.Integer("groups");
  if (groups != 0) return groups;
  a.Require(channels.is_static(), "groups of an unknown number of channels");
  return channels.value();
}

Expr Convolve(NnefArgs& a, const Expr& x, const Expr& filter, Value* bias, int64_t groups) {
  a.Require(x.rank() == filter.rank() && x.rank() >= 3, "a filter of another rank");
  Window window = TakeNnefWindow(a, NnefKernel(a, filter));
  const std::string border = a.Text("border");
  if (border == "constant" || border == "ignore") {
    return MakeConv(x, filter, bias, window, groups);
  }
  const BorderedInput input = WithBorder(a, x, window, 2);
  return MakeConv(input.x, filter, bias, input.window, groups);
}

Value* ConvRow(NnefArgs& a) {
  const Expr x = a.Tensor("input"), filter = a.Tensor("filter").To(x.dtype());
  return Convolve(a, x, filter, NnefBias(a, x, DimAt(filter, 0)), NnefGroups(a, DimAt(x, 1)));
}

Expr PointConv(NnefArgs& a, const Expr& x, const Expr& filter, Value* bias, int64_t groups) {
  Window window;
  window.kernel = NnefKernel(a, filter);
  return MakeConv(x, filter, bias, window, groups);
}

Value* SeparableConvRow(NnefArgs& a) {
  const Expr x = a.Tensor("input"), plane = a.Tensor("plane_filter").To(x.dtype());
  const Expr point = a.Tensor("point_filter").To(x.dtype());
  const Dim channels = DimAt(x, 1);
  a.Require(channels.is_static(), "groups of an unknown number of channels");
  const Expr y = Convolve(a, x, plane, nullptr, channels.value());
  return PointConv(a, y, point, NnefBias(a, x, DimAt(point, 0)), a.Integer("groups"));
}

// Elements behind the result of a transposed convolution, whose padding and size may follow from
// each other. `shape`: of the spatial axes, or empty.
std::vector<int64_t> SettleSpread(NnefArgs& a, const Expr& x, const std::vector<int64_t>& shape,
                                  Window* window) {
  const size_t n = window->rank();
  a.Require(shape.empty() || shape.size() == n, "an output_shape of another rank");
  const bool automatic = window->auto_pad != AutoPad::kNotSet;
  window->auto_pad = AutoPad::kNotSet;
  std::vector<int64_t> more(n, 0);
  for (size_t i = 0; i < n; ++i) {
    const Dim in = DimAt(x, static_cast<int64_t>(i) + 2);
    // Of a result for each element: stride times the size.
    int64_t total = window->extent(i) - window->strides[i];
    if (!shape.empty()) {
      a.Require(in.is_static() && in.value() > 0, "an output_shape of an input of unknown size");
      const int64_t full = (in.value() - 1) * window->strides[i] + window->extent(i);
      if (automatic) {
        total = full - shape[i];
      } else {
        more[i] = shape[i] - (full - window->pad_begin(i) - window->pad_end(i));
        a.Require(more[i] >= 0, "an output_shape that is less than the windows cover");
      }
    }
    if (!automatic) continue;
    if (total < 0) more[i] = -total;
    window->SplitPads(i, std::max<int64_t>(total, 0), true);
  }
  return more;
}
std::vector<int64_t> SpatialShape(NnefArgs& a, size_t n) {
  std::vector<int64_t> shape = a.Integers("output_shape");
  if (shape.size() == n + 2) shape.erase(shape.begin(), shape.begin() + 2);
  return shape;
}

Expr Deconvolve(NnefArgs& a, const Expr& x, const Expr& filter, Value* bias, int64_t groups) {
  a.Require(x.rank() == filter.rank() && x.rank() >= 3, "a filter of another rank");
  const std::string border = a.Text("border");
  a.Require(border == "constant" || border == "ignore", StrCat("border '", border, "'"));
  Window window = TakeNnefWindow(a, NnefKernel(a, filter));
  const std::vector<int64_t> more = SettleSpread(a, x, SpatialShape(a, window.rank()), &window);
  return MakeConvTranspose(x, filter, bias, window, groups, more);
}

Value* DeconvRow(NnefArgs& a) {
  const Expr x = a.Tensor("input"), filter = a.Tensor("filter").To(x.dtype());
  const int64_t groups = NnefGroups(a, DimAt(x, 1));
  const Dim each = DimAt(filter, 1);
  return Deconvolve(a, x, filter, NnefBias(a, x, each * Dim(groups)), groups);
}
Value* SeparableDeconvRow(NnefArgs& a) {
  const Expr x = a.Tensor("input"), plane = a.Tensor("plane_filter").To(x.dtype());
  const Expr point = a.Tensor("point_filter").To(x.dtype());
  Window window;
  window.kernel = NnefKernel(a, point);
  const Expr y = MakeConvTranspose(x, point, nullptr, window, a.Integer("groups"));
  const Dim channels = DimAt(y, 1);
  a.Require(channels.is_static(), "groups of an unknown number of channels");
  return Deconvolve(a, y, plane, NnefBias(a, x, channels), channels.value());
}

// Every element as a window of it; where windows overlap, sums.
Value* DeboxRow(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  std::vector<int64_t> size = a.Integers("size");
  const bool mean = a.Flag("normalize");
  a.Require(static_cast<int64_t>(size.size()) == x.rank() && x.rank() >= 3,
            "a window of another rank, or without spatial axes");
  a.Require(size[0] == 1 && size[1] == 1, "a window over the batch or the channels");
  Window window = TakeNnefWindow(a, size);
  const size_t n = size.size() - 2;
  for (size_t i = 0; i < 2; ++i) {
    a.Require(window.strides[i] == 1 && window.pads[i] == 0 && window.pads[i + n + 2] == 0,
              "steps or padding of the batch or the channels");
  }
  const std::string border = a.Text("border");
  a.Require(border == "constant" || border == "ignore", StrCat("border '", border, "'"));
  a.Require(!mean || border == "constant" || !window.padded(), "means without the border");
  Window spatial = WithoutFirstTwo(window);
  const std::vector<int64_t> more = SettleSpread(a, x, SpatialShape(a, n), &spatial);
  std::vector<int64_t> ones = {1, 1};
  ones.insert(ones.end(), spatial.kernel.begin(), spatial.kernel.end());
  const auto volume = CheckedProduct(ones);
  a.Require(volume && *volume <= (int64_t{1} << 24), "a window so large");
  x2ir::Tensor weights = x2ir::Tensor::Zeros(DType::kFloat32, ones);
  const float weight = mean ? 1.0f / static_cast<float>(*volume) : 1.0f;
  std::fill_n(weights.mutable_span<float>().begin(), *volume, weight);
  const Expr w = Expr(a, a.b().Constant(std::move(weights))).To(x.dtype());
  // Channels are images of one channel.
  std::vector<Size> sizes = AllSizes(x), flat = sizes;
  flat[0] = Times(a, sizes[0], sizes[1]);
  flat[1] = Size(1);
  const Expr y = MakeConvTranspose(ReshapeTo(x, flat), w, nullptr, spatial, 1, more);
  std::vector<Size> back = AllSizes(y);
  back[0] = sizes[0];
  back[1] = sizes[1];
  return ReshapeTo(y, back);
}

// --- Written -------------------------------------------------------------------------------------

absl::StatusOr<std::vector<int64_t>> FilterDims(NnefWriter& w) {
  const auto dims = w.shape(1) ? w.shape(1)->Static() : std::nullopt;
  if (!dims || dims->size() < 3) {
    return CannotExpress("a filter of unknown size, or without spatial axes");
  }
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  return *dims;
}
NnefWriter::Given ConvOperands(NnefWriter& w) {
  NnefWriter::Given operands = {{"input", w.in(0)}, {"filter", w.in(1)}};
  if (w.in(2)) operands.emplace_back("bias", w.Op("unsqueeze", {w.in(2), w.Ints({0})}));
  return operands;
}

absl::StatusOr<Value*> ToConv(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, FilterDims(w));
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), {dims.begin() + 2, dims.end()}));
  const auto padded = WithPads(std::move(window), w.shape(0));
  if (!padded) return CannotExpress("pads that depend on the size");
  return w.Call("conv", ConvOperands(w),
                {{"border", "constant"},
                 {"padding", PairsOfPads(padded->pads)},
                 {"stride", padded->strides},
                 {"dilation", padded->dilations},
                 {"groups", w.Int("group")}});
}
absl::StatusOr<Value*> ToDeconv(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, FilterDims(w));
  const size_t n = dims.size() - 2;
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), {dims.begin() + 2, dims.end()}));
  const std::vector<int64_t> more = w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0));
  const bool follows = IsSame(window.auto_pad) || w.attrs().Has("output_shape");
  Attribute::Ints shape;
  if (follows || std::any_of(more.begin(), more.end(), [](int64_t m) { return m != 0; })) {
    const Shape* out = w.out_type().shape();
    const auto known = out ? out->Static() : std::nullopt;
    if (!known || !w.shape(0) || !w.shape(0)->Static()) {
      return CannotExpress("output_padding, or pads that follow from the result, of unknown sizes");
    }
    shape = *known;
  }
  for (size_t i = 0; follows && i < n; ++i) {
    const int64_t in = (*w.shape(0))[static_cast<int64_t>(i) + 2].value();
    const int64_t full = window.strides[i] * (in - 1) + more[i] + window.extent(i);
    window.SplitPads(i, std::max<int64_t>(full - shape[i + 2], 0),
                     window.auto_pad == AutoPad::kSameUpper);
  }
  return w.Call("deconv", ConvOperands(w),
                {{"border", "constant"},
                 {"padding", PairsOfPads(window.pads)},
                 {"stride", window.strides},
                 {"dilation", window.dilations},
                 {"output_shape", shape},
                 {"groups", w.Int("group")}});
}

}  // namespace

X2IR_NNEF(conv).From("conv", ConvRow).From("separable_conv", SeparableConvRow).To("conv", ToConv);
X2IR_NNEF(conv_transpose)
    .From("deconv", DeconvRow)
    .From("separable_deconv", SeparableDeconvRow)
    .From("debox", DeboxRow)
    .To("deconv", ToDeconv);

}  // namespace x2ir
