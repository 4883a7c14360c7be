// StableHLO, written: convolutions.
#include <algorithm>
#include <utility>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

struct WrittenConv {
  Window window;
  int64_t group;
  std::vector<int64_t> padding;       // pairs
  std::vector<int64_t> lhs_dilation;  // of the input
  std::vector<int64_t> strides;
  int64_t kernel_in, kernel_out;  // which axis of the kernel is which
  bool reversed;
};

// The window, with pads in place of auto_pad.
absl::StatusOr<Window> ConvWindow(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t kernel_rank, w.Rank(1));
  if (rank < 2 || kernel_rank != rank) return CannotExpress("a kernel of another rank");
  const auto kernel = KnownSizes(w.in(1), 2, rank);
  if (!kernel) return CannotExpress("a kernel of unknown size");
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), *kernel));
  std::optional<Window> padded = WithPads(std::move(window), w.shape(0));
  if (!padded) return CannotExpress("padding that depends on a size that is not known");
  return *std::move(padded);
}

absl::StatusOr<Value*> MakeConvolution(StablehloWriter& w, Value* kernel, const WrittenConv& c) {
  const auto spatial = static_cast<int64_t>(c.window.rank()), rank = spatial + 2;
  const int64_t feature = ChannelAxis(c.window.channels_last, rank);
  const std::vector<int64_t> axes = CountedFrom(SpatialAxis(c.window.channels_last, 0), spatial);
  const std::vector<int64_t> reversed(static_cast<size_t>(spatial), c.reversed ? 1 : 0);
  Value* y = w.Hlo("convolution", {w.in(0), kernel},
                   {{"window_strides", c.strides},
                    {"padding", c.padding},
                    {"lhs_dilation", c.lhs_dilation},
                    {"rhs_dilation", c.window.dilations},
                    {"window_reversal", reversed},
                    {"input_batch_dimension", 0},
                    {"input_feature_dimension", feature},
                    {"input_spatial_dimensions", axes},
                    {"kernel_input_feature_dimension", c.kernel_in},
                    {"kernel_output_feature_dimension", c.kernel_out},
                    {"kernel_spatial_dimensions", CountedFrom(2, spatial)},
                    {"output_batch_dimension", 0},
                    {"output_feature_dimension", feature},
                    {"output_spatial_dimensions", axes},
                    {"feature_group_count", c.group},
                    {"batch_group_count", 1}},
                   w.out_type());
  if (!w.has(2)) return y;
  return w.Op("add", {y, c.window.channels_last ? w.in(2) : AlongAxis(X(w, 2), 1, rank).value()});
}

absl::StatusOr<Value*> ToConv(StablehloWriter& w) {
  WrittenConv c;
  X2IR_ASSIGN_OR_RETURN(c.window, ConvWindow(w));
  c.group = w.Int("group");
  c.padding = PairsOfPads(c.window.pads);
  c.lhs_dilation.assign(c.window.rank(), 1);
  c.strides = c.window.strides;
  c.kernel_out = 0;
  c.kernel_in = 1;
  c.reversed = false;
  return MakeConvolution(w, w.in(1), c);
}

// A convolution of the input with steps - 1 zeros between its elements, by the reversed kernel.
absl::StatusOr<Value*> ToConvTranspose(StablehloWriter& w) {
  if (w.attrs().Has("output_shape") || w.String("auto_pad") != "NOTSET") {
    return CannotExpress("padding that follows from the result's size");
  }
  WrittenConv c;
  X2IR_ASSIGN_OR_RETURN(c.window, ConvWindow(w));
  c.group = w.Int("group");
  const std::vector<int64_t> more =
      w.attrs().Ints("output_padding", std::vector<int64_t>(c.window.rank(), 0));
  for (size_t i = 0; i < c.window.rank(); ++i) {
    const int64_t all = c.window.extent(i) - 1;
    c.padding.push_back(all - c.window.pad_begin(i));
    c.padding.push_back(all - c.window.pad_end(i) + (i < more.size() ? more[i] : 0));
  }
  c.lhs_dilation = c.window.strides;
  c.strides.assign(c.window.rank(), 1);
  c.reversed = true;
  Expr kernel = X(w, 1);  // [in, out of a group, ...]
  c.kernel_in = 0;
  c.kernel_out = 1;
  if (c.group > 1) {
    // As [in of a group, out, ...].
    Builder& b = w.b();
    std::vector<Size> sizes = AllSizes(kernel);
    std::vector<Size> apart = {c.group, DividedBy(b, sizes[0], c.group)};
    apart.insert(apart.end(), sizes.begin() + 1, sizes.end());
    std::vector<int64_t> perm = {1, 0};
    for (size_t i = 2; i < apart.size(); ++i) perm.push_back(static_cast<int64_t>(i));
    kernel = Transpose(ReshapeTo(kernel, apart), perm);
    sizes[0] = apart[1];
    sizes[1] = Times(b, sizes[1], c.group);
    kernel = ReshapeTo(kernel, sizes);
  }
  return MakeConvolution(w, kernel, c);
}

}  // namespace

X2IR_STABLEHLO(conv).To("convolution", ToConv);
X2IR_STABLEHLO(conv_transpose).To("convolution", ToConvTranspose);

}  // namespace x2ir
