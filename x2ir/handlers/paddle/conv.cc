// Convolutions.
#include <algorithm>

#include "x2ir/handlers/paddle/activation.h"
#include "x2ir/handlers/paddle/elementwise.h"
#include "x2ir/handlers/paddle/nn.h"

namespace x2ir {

bool ChannelsLast(PaddleArgs& a, Symbol name) {
  const std::string format = a.String(name, "NCHW");
  a.Require(format == "AnyLayout" || format == "" || format.starts_with("NC") ||
                (format.starts_with('N') && format.ends_with('C')) || format == "NLC" ||
                format == "UNDEFINED" || format == "Undefined(AnyLayout)",
            StrCat("a layout ", format));
  return format.size() > 2 && format.starts_with('N') && format.ends_with('C');
}

Expr PerChannel(PaddleArgs&, const Expr& numbers, int64_t rank, bool last) {
  return last || rank < 3 ? numbers : Unsqueeze(numbers, CountedFrom(1, rank - 2));
}

void RequireSteps(PaddleArgs& a, const std::vector<int64_t>& numbers, size_t spatial) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  const bool fit = std::all_of(numbers.begin(), numbers.end(),
                               [](int64_t number) { return number > 0 && number < kLimit; });
  if (numbers.size() != spatial || !fit) {
    a.Fail(Invalid("steps or windows that are not those of ", spatial, " axes"));
  }
}

void TakePaddings(PaddleArgs& a, size_t spatial, Window* window) {
  const std::string algorithm = a.String("padding_algorithm", "EXPLICIT");
  std::vector<int64_t> given = a.Ints("paddings", std::vector<int64_t>(spatial, 0));
  if (algorithm == "SAME") {
    window->auto_pad = AutoPad::kSameUpper;
    return;
  }
  window->pads.assign(2 * spatial, 0);
  if (algorithm != "EXPLICIT")
    return a.Require(algorithm == "VALID", StrCat("padding ", algorithm));
  // The first four numbers pad the batch and the channels, if all axes have a pair.
  if (given.size() == 2 * (spatial + 2)) {
    a.Require(std::all_of(given.begin(), given.begin() + 4, [](int64_t p) { return p == 0; }),
              "padding of channels");
    given.erase(given.begin(), given.begin() + 4);
  }
  if (given.size() == 1) given.resize(spatial, given[0]);
  if (given.size() != spatial && given.size() != 2 * spatial) {
    a.Fail(Invalid(given.size(), " paddings of ", spatial, " axes"));
  }
  for (const int64_t pad : given) {
    a.Require(pad > -(int64_t{1} << 31) && pad < (int64_t{1} << 31), StrCat("a padding of ", pad));
  }
  window->pads = given.size() == spatial ? BothEnds(given) : PadsOfPairs(given);
}

namespace {

std::vector<int64_t> ForEach(PaddleArgs& a, std::vector<int64_t> numbers, size_t spatial) {
  if (numbers.size() == 1) numbers.resize(spatial, numbers[0]);
  if (numbers.size() != spatial) a.Fail(Invalid("not one number for each of ", spatial, " axes"));
  return numbers;
}

size_t SpatialOf(PaddleArgs& a, const Expr& x) {
  const int64_t rank = a.Rank(x);
  a.Require(rank >= 3, "an input with axes of space");
  return static_cast<size_t>(rank - 2);
}

// What is added, and an activation, as far as they are fused into it.
Expr WithFused(PaddleArgs& a, Expr y, bool last) {
  const Expr bias = a.Opt("Bias"), residual = a.Opt("ResidualData");
  if (bias.value()) y = y + PerChannel(a, Flat(bias), a.Rank(y), last);
  if (residual.value()) y = y + residual;
  if (a.Has("ResidualData")) a.Ignore("fuse_residual_connection");
  return y;
}

Expr Conv(PaddleArgs& a) {
  Expr y = Convolution(a);
  const bool last = ChannelsLast(a);
  y = WithFused(a, y, last);
  return FusedActivation(a, y);
}

Values ConvFusion(PaddleArgs& a) {
  const Expr y = WithFused(a, Convolution(a), ChannelsLast(a));
  a.Require(a.Ints("split_channels").empty(), "results that are split");
  return {Activated(a, y, a.String("activation", "relu"))};
}

// What all convolutions have.
Window TakeSteps(PaddleArgs& a, size_t spatial, bool channels_last) {
  Window window;
  window.channels_last = channels_last;
  TakePaddings(a, spatial, &window);
  window.strides = ForEach(a, a.Ints("strides", {1}), spatial);
  window.dilations = ForEach(a, a.Ints("dilations", {1}), spatial);
  return window;
}

Expr ConvTranspose(PaddleArgs& a, bool depthwise) {
  const Expr x = a.X("Input"), w = a.X("Filter");
  const size_t spatial = SpatialOf(a, x);
  const bool last = ChannelsLast(a);
  Window window = TakeSteps(a, spatial, last);
  RequireSteps(a, window.strides, spatial);
  RequireSteps(a, window.dilations, spatial);
  std::vector<int64_t> more = a.Ints("output_padding");
  std::vector<int64_t> size = a.KnownList("output_size", {});
  int64_t groups = a.Int("groups", 1);
  if (depthwise) {
    const Dim channels = (*x->shape())[ChannelAxis(last, a.Rank(x))];
    if (groups <= 1 && channels.is_static()) groups = channels.value();
  }
  const auto kernel = KnownSizes(w, 2, 2 + static_cast<int64_t>(spatial));
  a.Require(kernel.has_value(), "a kernel of unknown size");
  window.kernel = *kernel;
  const int64_t from = window.axis(0);
  const auto in = KnownSizes(x, from, from + static_cast<int64_t>(spatial));
  if (IsSame(window.auto_pad)) {
    // What the forward convolution would add to an input of that size.
    a.Require(in.has_value(), "SAME of an input of unknown size");
    window.dilations.assign(spatial, 1);
    window.pads.assign(2 * spatial, 0);
    window = *WithPads(std::move(window), x->shape());
    window.auto_pad = AutoPad::kNotSet;
  }
  if (more.empty()) more.assign(spatial, 0);
  more = ForEach(a, more, spatial);
  if (!size.empty()) {
    size = ForEach(a, size, spatial);
    a.Require(in.has_value(), "output_size of an input of unknown size");
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t least = ((*in)[i] - 1) * window.strides[i] - window.pad_begin(i) -
                            window.pad_end(i) + window.extent(i);
      more[i] = size[i] - least;
      if (more[i] < 0 || more[i] >= window.strides[i] + window.dilations[i]) {
        a.Fail(Invalid("output_size ", size[i], " of what is at least ", least));
      }
    }
  }
  const Expr y = WithFused(a, MakeConvTranspose(x, w, nullptr, window, groups, more), last);
  return FusedActivation(a, y);
}

Expr DeformableConv(PaddleArgs& a) {
  const Expr x = a.X("Input"), w = a.X("Filter"), offset = a.X("Offset");
  Window window{.pads = {0, 0, 0, 0}};
  TakePaddings(a, 2, &window);
  const std::vector<int64_t> strides = ForEach(a, a.Ints("strides", {1}), 2);
  const std::vector<int64_t> dilations = ForEach(a, a.Ints("dilations", {1}), 2);
  a.Int("im2col_step", 1);
  AttributeMap attrs = {{"strides", strides},
                        {"dilations", dilations},
                        {"pads", window.pads},
                        {"group", a.Int("groups", 1)},
                        {"offset_group", a.Int("deformable_groups", 1)}};
  const Expr mask = a.Opt("Mask");
  return a.Op("deform_conv", {x, w, offset, nullptr, mask.value()}, std::move(attrs));
}

// Filter [future + 1, features]: every step is a weighted sum of itself and those to come.
Expr RowConv(PaddleArgs& a) {
  const Expr x = a.X(), filter = a.X("Filter");
  const int64_t rank = a.Rank(x);
  a.Require(rank == 3, "sequences that are not padded");
  const auto sizes = KnownSizes(filter, 0, 2);
  a.Require(sizes.has_value(), "a filter of unknown size");
  const Expr w = Unsqueeze(Transpose(filter, {1, 0}), {1});
  const Expr y =
      Transpose(x, {0, 2, 1})
          .Op("conv", {w}, {{"group", (*sizes)[1]}, {"pads", Attribute::Ints{0, (*sizes)[0] - 1}}});
  return Transpose(y, {0, 2, 1});
}

}  // namespace

Expr Convolution(PaddleArgs& a) {
  const Expr x = a.X("Input"), w = a.X("Filter");
  const size_t spatial = SpatialOf(a, x);
  const bool last = ChannelsLast(a);
  Window window = TakeSteps(a, spatial, last);
  if (IsSame(window.auto_pad)) window.dilations.assign(spatial, 1);  // as the kernels have it
  return MakeConv(x, w, nullptr, window, std::max<int64_t>(a.Int("groups", 1), 1));
}

X2IR_PADDLE(conv)
    .From({"conv2d", "depthwise_conv2d", "conv3d", "fused_conv2d", "fused_conv3d"}, Conv)
    .From({"conv2d_fusion", "fused_conv2d_add_act"}, ConvFusion)
    .From("row_conv", RowConv);
X2IR_PADDLE(conv_transpose)
    .From({"conv2d_transpose", "conv3d_transpose", "conv2d_transpose_bias"},
          [](PaddleArgs& a) { return ConvTranspose(a, false); })
    .From("depthwise_conv2d_transpose", [](PaddleArgs& a) { return ConvTranspose(a, true); });
X2IR_PADDLE(deform_conv).From({"deformable_conv", "deformable_conv_v1"}, DeformableConv);

}  // namespace x2ir
