// StableHLO: convolutions.
//
// The specification's convolution is a sum of products over windows of a padded, dilated tensor:
// IR's conv, where nothing is put between the elements of the tensor, and its transposed one, where
// something is. What neither can say is made first: padding, elements in between, reversed kernels.
#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/stablehlo/dot.h"
#include "x2ir/handlers/stablehlo/windows.h"

namespace x2ir {
namespace {

// Which axis is what: one for batches (of a kernel: results), one for features, the others.
struct ConvAxes {
  int64_t batch, feature;
  std::vector<int64_t> spatial;

  std::vector<int64_t> ChannelsFirst() const {
    std::vector<int64_t> perm = {batch, feature};
    perm.insert(perm.end(), spatial.begin(), spatial.end());
    return perm;
  }
  std::vector<int64_t> ChannelsLast() const {
    std::vector<int64_t> perm = {batch};
    perm.insert(perm.end(), spatial.begin(), spatial.end());
    perm.push_back(feature);
    return perm;
  }
};

bool IsIdentity(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}
Expr Permuted(const Expr& x, const std::vector<int64_t>& perm) {
  return IsIdentity(perm) ? x : Transpose(x, perm);
}
std::vector<int64_t> InverseOf(const std::vector<int64_t>& perm) {
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

ConvAxes TakeAxes(StablehloArgs& a, Symbol batch, Symbol feature, Symbol spatial, int64_t rank) {
  ConvAxes axes = {a.Int(batch, 0), a.Int(feature, 0), a.Ints(spatial)};
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  const std::vector<int64_t> all = axes.ChannelsFirst();
  bool right = static_cast<int64_t>(all.size()) == rank;
  for (size_t i = 0; right && i < all.size(); ++i) {
    right = all[i] >= 0 && all[i] < rank && !seen[static_cast<size_t>(all[i])];
    if (right) seen[static_cast<size_t>(all[i])] = true;
  }
  if (!right) {
    a.Fail(Invalid("its dimension numbers ", batch.view(), ", ", feature.view(), " and ",
                   spatial.view(), " are not those of a tensor of rank ", rank));
  }
  return axes;
}

struct Convolution {
  ConvAxes x, kernel, y;
  Sliding window;
  std::vector<bool> reversed;
  int64_t feature_groups, batch_groups;
};

// The spatial part of a pad on all axes of x, of which spatial axes are `axes`.
Expr PadSpatial(StablehloArgs& a, const Expr& x, const std::vector<int64_t>& axes, Sliding& s) {
  const auto rank = static_cast<size_t>(x.rank());
  std::vector<int64_t> low(rank, 0), high(rank, 0), between(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    low[axis] = std::exchange(s.low[i], 0);
    high[axis] = std::exchange(s.high[i], 0);
    between[axis] = std::exchange(s.base_dilations[i], 1) - 1;
  }
  const Expr zero = ZeroOf(a, x.dtype());
  return PadHlo(a, x, zero, std::move(low), std::move(high), std::move(between));
}

// Groups of batches are groups of features: axis 0 of [group batch, ...] goes into the features.
Expr BatchGroupsAsFeatures(const Expr& x, int64_t groups) {
  Builder& b = x.builder();
  const int64_t rank = x.rank();
  std::vector<Size> sizes = AllSizes(x);
  const Size batch = DividedBy(b, sizes[0], groups), features = sizes[1];
  std::vector<Size> apart = {groups, batch};
  apart.insert(apart.end(), sizes.begin() + 1, sizes.end());
  std::vector<int64_t> perm = {1, 0};
  for (int64_t i = 2; i <= rank; ++i) perm.push_back(i);
  const Expr swapped = Transpose(ReshapeTo(x, apart), perm);
  sizes[0] = batch;
  sizes[1] = Times(b, features, groups);
  return ReshapeTo(swapped, sizes);
}

Window WindowOf(const Sliding& s, bool channels_last) {
  Window window;
  window.kernel = s.size;
  window.strides = s.strides;
  window.dilations = s.dilations;
  window.pads = JoinPads(s.low, s.high);
  window.channels_last = channels_last;
  return window;
}

// A convolution of a tensor with elements in between is the transposed one with steps: its kernel
// is reversed, and its padding is what remains of the kernel's extent. nullopt where that is not
// a transposed convolution of the IR.
std::optional<Expr> AsTransposed(const Expr& x, const Expr& kernel, const Convolution& c,
                                 int64_t groups, bool channels_last) {
  const Sliding& s = c.window;
  Window window = WindowOf(s, channels_last);
  std::vector<int64_t> begins, ends, more;
  for (size_t i = 0; i < s.rank(); ++i) {
    const int64_t begin = s.extent(i) - 1 - s.low[i], end = s.extent(i) - 1 - s.high[i];
    const int64_t output_padding = std::max<int64_t>(-end, 0);
    const bool says = s.strides[i] == 1 && begin >= 0 &&
                      output_padding < std::max(s.base_dilations[i], s.dilations[i]);
    if (!says) return std::nullopt;
    begins.push_back(begin);
    ends.push_back(std::max<int64_t>(end, 0));
    more.push_back(output_padding);
  }
  window.strides = s.base_dilations;
  window.pads = JoinPads(std::move(begins), ends);
  Expr w = kernel;  // [out, in / groups, ...]
  for (size_t i = 0; i < s.rank(); ++i) {
    if (!c.reversed[i] && s.size[i] > 1) w = BackToFront(w, static_cast<int64_t>(i) + 2);
  }
  // As [in, out / groups, ...].
  std::vector<int64_t> swap = AllAxes(w);
  std::swap(swap[0], swap[1]);
  if (groups == 1) {
    w = Transpose(w, swap);
  } else {
    Builder& b = x.builder();
    std::vector<Size> sizes = AllSizes(w);
    std::vector<Size> apart = {groups, DividedBy(b, sizes[0], groups), sizes[1]};
    std::vector<int64_t> perm = {0, 2, 1};
    for (size_t i = 2; i < sizes.size(); ++i) {
      apart.push_back(sizes[i]);
      perm.push_back(static_cast<int64_t>(i) + 1);
    }
    const std::vector<Size> given = sizes;
    sizes[0] = Times(b, given[1], groups);
    sizes[1] = DividedBy(b, given[0], groups);
    w = ReshapeTo(Transpose(ReshapeTo(w, apart), perm), sizes);
  }
  if (std::all_of(more.begin(), more.end(), [](int64_t n) { return n == 0; })) more.clear();
  return MakeConvTranspose(x, w, nullptr, window, groups, more);
}

// Elements that are no floats: every window is laid out as a row, and the rows are multiplied. x
// [batch, features, spatial...] without padding, kernel [out, in / groups, spatial...].
Expr AsProductOfRows(StablehloArgs& a, const Expr& x, const Expr& kernel, const Sliding& s,
                     int64_t groups, DType result) {
  Builder& b = a.b();
  const auto n = static_cast<int64_t>(s.rank());
  const Size batch = SizeAt(x, 0), features = SizeAt(x, 1);
  const Size in = DividedBy(b, features, groups), out = SizeAt(kernel, 0);
  std::vector<Size> counts;
  Expr windows = x;  // spatial axis i becomes two: which window, and where in it
  for (int64_t i = n - 1; i >= 0; --i) {
    const auto k = static_cast<size_t>(i);
    const Size size = SizeAt(x, 2 + i);
    const Size count = WindowCount(b, size, s.extent(k), s.strides[k]);
    counts.insert(counts.begin(), count);
    if (count.number.value_or(0) > (int64_t{1} << 24) || s.size[k] > (int64_t{1} << 24)) {
      a.Fail(Unimplemented("windows as many as these"));
    }
    std::vector<int64_t> inside;
    for (int64_t j = 0; j < s.size[k]; ++j) inside.push_back(j * s.dilations[k]);
    const Expr begins = Unsqueeze(Iota(Scalar(b, count)) * s.strides[k], {1});
    windows = Gather(windows, begins + Ints(b, inside), 2 + i);
  }
  // [batch, groups, in, count, size, count, size, ...] as [batch, groups, counts..., in, sizes...].
  std::vector<Size> apart = {batch, groups, in};
  std::vector<int64_t> perm = {0, 1};
  for (int64_t i = 0; i < n; ++i) {
    apart.push_back(counts[static_cast<size_t>(i)]);
    apart.push_back(s.size[static_cast<size_t>(i)]);
    perm.push_back(3 + 2 * i);
  }
  perm.push_back(2);
  for (int64_t i = 0; i < n; ++i) perm.push_back(4 + 2 * i);
  const Size positions = Product(b, counts);
  std::vector<Size> row = {in};
  for (const int64_t size : s.size) row.push_back(size);
  const Size width = Product(b, row);
  const Expr rows =
      ReshapeTo(Transpose(ReshapeTo(windows, apart), perm), {batch, groups, positions, width});
  const Size group_out = DividedBy(b, out, groups);
  const Expr columns = ReshapeTo(kernel, {groups, group_out, width});
  // [groups, batch, positions, out of a group].
  const Expr product = DotGeneral(a, rows, columns, {{1}, {0}, {3}, {2}}, result);
  std::vector<Size> sizes = {batch, out};
  sizes.insert(sizes.end(), counts.begin(), counts.end());
  return ReshapeTo(Transpose(product, {1, 0, 3, 2}), sizes);
}

Value* Convolve(StablehloArgs& a, Convolution c) {
  const DType result = a.out_dtype();
  const DType t = ComputedType(a.dtype(0), a.dtype(1), result);
  const Expr lhs = a.in(0).To(t), rhs = a.in(1).To(t);
  if (const auto empty = EmptyResult(a)) return *empty;
  const bool native = IsFloating(t);
  // Without a spatial axis it gets one of size 1.
  const bool flat = c.window.rank() == 0;
  const bool plain = c.batch_groups == 1 && !flat && native;
  const bool channels_last = plain && IsIdentity(c.x.ChannelsLast());
  Expr x = channels_last ? lhs : Permuted(lhs, c.x.ChannelsFirst());
  Expr kernel = Permuted(rhs, c.kernel.ChannelsFirst());
  if (flat) {
    x = Unsqueeze(x, {2});
    kernel = Unsqueeze(kernel, {2});
    c.window = {{1}, {1}, {1}, {1}, {0}, {0}};
    c.reversed = {false};
  }
  int64_t groups = c.feature_groups;
  if (c.batch_groups > 1) {
    x = BatchGroupsAsFeatures(x, c.batch_groups);
    groups = c.batch_groups;
  }
  Sliding& s = c.window;
  const std::vector<int64_t> axes =
      CountedFrom(channels_last ? 1 : 2, static_cast<int64_t>(s.rank()));
  std::optional<Expr> y;
  if (native && s.IsDilated()) y = AsTransposed(x, kernel, c, groups, channels_last);
  if (!y) {
    for (size_t i = 0; i < s.rank(); ++i) {
      if (c.reversed[i] && s.size[i] > 1) kernel = BackToFront(kernel, static_cast<int64_t>(i) + 2);
    }
    if (!native || s.IsDilated() || s.HasNegativePadding()) x = PadSpatial(a, x, axes, s);
    y = native ? MakeConv(x, kernel, nullptr, WindowOf(s, channels_last), groups)
               : AsProductOfRows(a, x, kernel, s, groups, result);
  }
  Expr out = y->To(result);
  if (flat) out = Squeeze(out, {2});
  return Permuted(out, InverseOf(channels_last ? c.y.ChannelsLast() : c.y.ChannelsFirst()));
}

Convolution TakeConvolution(StablehloArgs& a) {
  a.Ignore("precision_config");
  const int64_t rank = a.RankOf(0);
  if (a.RankOf(1) != rank || rank < 2) a.Fail(Invalid("operands of ranks that do not fit"));
  Convolution c = {TakeAxes(a, "input_batch_dimension", "input_feature_dimension",
                            "input_spatial_dimensions", rank),
                   TakeAxes(a, "kernel_output_feature_dimension", "kernel_input_feature_dimension",
                            "kernel_spatial_dimensions", rank),
                   TakeAxes(a, "output_batch_dimension", "output_feature_dimension",
                            "output_spatial_dimensions", rank),
                   {},
                   {},
                   a.Int("feature_group_count", 1),
                   a.Int("batch_group_count", 1)};
  const auto n = static_cast<size_t>(rank - 2);
  for (const int64_t reversed : IntsOr(a, "window_reversal", n, 0)) {
    c.reversed.push_back(reversed != 0);
  }
  if (c.feature_groups < 1 || c.batch_groups < 1 || (c.feature_groups > 1 && c.batch_groups > 1)) {
    a.Fail(Invalid("it has ", c.feature_groups, " groups of features and ", c.batch_groups,
                   " of batches"));
  }
  std::vector<int64_t> size;
  for (const int64_t axis : c.kernel.spatial) {
    const Dim dim = DimAt(a.in(1), axis);
    a.Require(dim.is_static(), "a kernel of a size that is not known");
    size.push_back(dim.value());
  }
  c.window.size = std::move(size);
  return c;
}

Value* FromConvolution(StablehloArgs& a) {
  Convolution c = TakeConvolution(a);
  c.window = TakeSliding(a, c.window.size, "lhs_dilation", "rhs_dilation");
  return Convolve(a, std::move(c));
}

Value* FromDynamicConv(StablehloArgs& a) {
  Convolution c = TakeConvolution(a);
  auto pairs = a.KnownInts(2, "padding");
  if (!pairs.ok()) a.Fail(pairs.status());
  c.window = TakeSliding(a, c.window.size, "lhs_dilation", "rhs_dilation");
  SetPadding(a, c.window, *pairs);
  CheckSliding(a, c.window);
  return Convolve(a, std::move(c));
}

}  // namespace

X2IR_STABLEHLO(conv).From({{"convolution", FromConvolution}, {"dynamic_conv", FromDynamicConv}});

}  // namespace x2ir
