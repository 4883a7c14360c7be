// ncnn: convolutions.
#include <algorithm>

#include "x2ir/builder/layers/dense.h"
#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/ncnn/windows_internal.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// The numbers of parameters: of width, height, depth; each is the one before's where left out.
struct WindowIds {
  std::vector<int64_t> kernel, dilation, stride, begin, end;
};

const WindowIds& IdsOf(size_t spatial) {
  static const auto& ids = *new std::vector<WindowIds>{
      {{1}, {2}, {3}, {4}, {15}},
      {{1, 11}, {2, 12}, {3, 13}, {4, 14}, {15, 16}},
      {{1, 11, 21}, {2, 12, 22}, {3, 13, 23}, {4, 14, 24}, {15, 16, 17}}};
  return ids[spatial - 1];
}

Window WindowOf(NcnnArgs& a, size_t spatial) {
  const WindowIds& ids = IdsOf(spatial);
  Window w;
  w.kernel = Turned(Each(a, ids.kernel, 0));
  w.dilations = Turned(Each(a, ids.dilation, 1));
  w.strides = Turned(Each(a, ids.stride, 1));
  w.pads = PadsOf(a, ids.begin, ids.end);
  if (w.begins() == std::vector<int64_t>(spatial, kSameUpper)) w.auto_pad = AutoPad::kSameUpper;
  if (w.begins() == std::vector<int64_t>(spatial, kSameLower)) w.auto_pad = AutoPad::kSameLower;
  if (IsSame(w.auto_pad)) w.pads.assign(2 * spatial, 0);
  CheckWindow(a, w);
  return w;
}

// Weights [out, channels, kernel...]; the number of channels is inferred.
Expr Kernel(NcnnArgs& a, const Expr& flat, const Window& window, int64_t out) {
  std::vector<int64_t> dims = {out, -1};
  dims.insert(dims.end(), window.kernel.begin(), window.kernel.end());
  if (out < 1) a.Fail(Invalid(out, " filters"));
  return Reshape(flat, dims);
}

template <bool kGroups>
absl::StatusOr<Value*> Convolution(NcnnArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const int64_t scales = a.Int(8, 0), group = kGroups ? a.Int(7, 1) : 1;
  const bool bias = a.Flag(5, false), dynamic = a.Flag(19, false);
  int64_t out = a.Int(0, 0);
  a.Drop({6, 17});
  if (a.RankOf() == 2 && spatial == 2 && !kGroups) {
    // Of a list: a product.
    const Expr weights = Reshape(a.weights(0), {out, -1});
    a.Drop({1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 18});
    a.Require(scales == 0, "weights of 8 bits on a list");
    X2IR_ASSIGN_OR_RETURN(
        const Expr y,
        NcnnActivated(a, Dense(a.in(0), weights, bias ? a.weights(1).value() : nullptr)));
    return y.value();
  }
  if (a.RankOf() != static_cast<int64_t>(spatial) + 2) {
    return Invalid("an operand of ", a.RankOf() - 1, " axes");
  }
  Window w = WindowOf(a, spatial);
  Expr x = a.in(0);
  const double padded = a.Float(18, 0);
  Expr kernel = nullptr, shift = nullptr;
  if (dynamic) {
    // [1, out, in, kernel...] and [1, out], which say the sizes themselves.
    const auto sizes = KnownSizes(a.in(1));
    a.Require(sizes && sizes->size() == spatial + 3 && scales == 0, "weights of unknown size");
    out = (*sizes)[1];
    w.kernel.assign(sizes->begin() + 3, sizes->end());
    kernel = Squeeze(a.in(1), {0});
    if (bias) shift = Reshape(a.in(2), {-1});
  } else {
    kernel = Kernel(a, a.weights(0), w, out);
    if (bias) shift = a.weights(1);
  }
  if (padded != 0) {
    a.Require(!IsSame(w.auto_pad) && scales == 0, "this padding with another number than 0");
    x = a.Op("pad", {x, a.b().Ints(TensorPads(w)), x.Number(padded)});
    w.pads.assign(2 * spatial, 0);
  }
  Expr y = nullptr;
  if (scales == 0) {
    y = MakeConv(x, kernel, shift, w, group);
  } else {
    // Integers, whose sums are exact as floats, and then back by both scales.
    const int64_t kind = scales > 100 ? scales - 100 : scales;
    a.Require(kind == 1 || kind == 2, StrCat("int8_scale_term ", scales));
    const size_t at = bias ? 2 : 1;
    const Expr of_weights = a.weights(at), of_x = a.weights(at + 1);
    y = MakeConv(Integers(x, of_x), kernel, nullptr, w, group);
    Expr each = of_weights;
    if (kGroups && kind == 1 && group > 0 && out % group == 0 && out != group) {
      each = Reshape(Expand(Reshape(each, {-1, 1}), a.b().Ints({group, out / group})), {-1});
    }
    y = y / AlongChannels(each * of_x, a.RankOf());
    if (bias) y = y + AlongChannels(shift, a.RankOf());
  }
  X2IR_ASSIGN_OR_RETURN(y, NcnnActivated(a, y));
  // Integers for the next layer.
  if (scales > 100) y = NcnnQuantized(y, a.weights(bias ? 4 : 3)).To(DType::kInt8);
  return y.value();
}

template <bool kGroups>
absl::StatusOr<Value*> Deconvolution(NcnnArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const int64_t out = a.Int(0, 0), group = kGroups ? a.Int(7, 1) : 1;
  const bool bias = a.Flag(5, false);
  a.Drop({6});
  a.Require(!a.Flag(28, false), "weights that are computed");
  const Window w = WindowOf(a, spatial);
  const std::vector<int64_t> more_ids = {18, 19, 20},
                             size_ids = spatial == 3 ? std::vector<int64_t>{25, 26, 27}
                                                     : std::vector<int64_t>{20, 21};
  std::vector<int64_t> more, sizes;
  for (size_t i = 0; i < spatial; ++i) {
    more.push_back(a.Int(more_ids[i], more.empty() ? 0 : more[0]));
    sizes.push_back(a.Int(size_ids[i], sizes.empty() ? 0 : sizes[0]));
  }
  const bool cut = IsSame(w.auto_pad);
  const bool sized = std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n > 0; });
  a.Require(!cut || sized, "padding to a size that is not said");
  if (group < 1 || out < 1 || out % group != 0)
    return Invalid(out, " filters in ", group, " groups");
  // [group, out of a group, in of a group, kernel] becomes [in, out of a group, kernel].
  std::vector<int64_t> apart = {group, out / group, -1}, together = {-1, out / group};
  apart.insert(apart.end(), w.kernel.begin(), w.kernel.end());
  together.insert(together.end(), w.kernel.begin(), w.kernel.end());
  std::vector<int64_t> order = CountedFrom(0, static_cast<int64_t>(apart.size()));
  std::swap(order[1], order[2]);
  const Expr kernel = Reshape(Transpose(Reshape(a.weights(0), apart), order), together);
  Window uncut = w;
  uncut.auto_pad = AutoPad::kNotSet;
  Value* const shift = bias ? a.weights(1).value() : nullptr;
  Expr y = MakeConvTranspose(a.in(0), kernel, shift, uncut, group, Turned(more));
  if (cut) {
    // To the size that is said; of an odd number the end loses more, or the begin.
    const auto whole = KnownSizes(y, 2, y.rank());
    const std::vector<int64_t> wanted = Turned(sizes);
    a.Require(whole.has_value(), "a result of a given size from an image of an unknown one");
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t rest = (*whole)[i] - wanted[i];
      if (rest < 0) return Invalid("a result of ", (*whole)[i], " cut to ", wanted[i]);
      const int64_t from = w.auto_pad == AutoPad::kSameUpper ? rest / 2 : rest - rest / 2;
      y = Slice(y, static_cast<int64_t>(i) + 2, Size(from), Size(from + wanted[i]));
    }
  }
  X2IR_ASSIGN_OR_RETURN(y, NcnnActivated(a, y));
  return y.value();
}

// Operands: x, offsets (row and column of each place of the window), and their weights.
absl::StatusOr<Value*> DeformableConvolution(NcnnArgs& a) {
  const int64_t out = a.Int(0, 0);
  const bool bias = a.Flag(5, false);
  const PlaneWindow w = PlaneWindowOf(a);
  a.Drop({6});
  if (out < 1 || w.kernel[0] < 1 || w.kernel[1] < 1) return Invalid(out, " filters");
  const Expr kernel = Reshape(a.weights(0), {out, -1, w.kernel[0], w.kernel[1]});
  std::vector<Value*> operands = {a.in(0), kernel, a.in(1), bias ? a.weights(1).value() : nullptr};
  if (a.num_bottoms() > 2) operands.push_back(a.in(2));
  const Expr y = a.Op("deform_conv", std::move(operands),
                      {{"strides", w.strides}, {"dilations", w.dilations}, {"pads", w.pads}});
  X2IR_ASSIGN_OR_RETURN(const Expr activated, NcnnActivated(a, y));
  return activated.value();
}

}  // namespace

X2IR_NCNN(conv)
    .From({"Convolution", "Convolution1D", "Convolution3D"}, Convolution<false>)
    .From({"ConvolutionDepthWise", "ConvolutionDepthWise1D", "ConvolutionDepthWise3D"},
          Convolution<true>);
X2IR_NCNN(conv_transpose)
    .From({"Deconvolution", "Deconvolution1D", "Deconvolution3D"}, Deconvolution<false>)
    .From({"DeconvolutionDepthWise", "DeconvolutionDepthWise1D", "DeconvolutionDepthWise3D"},
          Deconvolution<true>);
X2IR_NCNN(deform_conv).From("DeformableConv2D", DeformableConvolution);

}  // namespace x2ir
