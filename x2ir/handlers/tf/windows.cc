// TensorFlow: patches of images, and what is made of them.
#include "x2ir/handlers/tf/windows.h"

#include <algorithm>
#include <limits>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"

namespace x2ir {

absl::StatusOr<Value*> Patches(TfArgs& a, Value* x, const Window& w, Value* outside) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  // Numbers of elements to pick that a graph may have.
  constexpr int64_t kMaxPicks = int64_t{1} << 24;
  const size_t spatial = w.kernel.size();
  if (!x->shape()) return Unimplemented("an operand's rank is not known");
  if (x->shape()->rank() != static_cast<int64_t>(spatial + 2)) {
    return Invalid("expected an operand of rank ", spatial + 2);
  }
  if (!w.pads.empty()) return Invalid("padding 'EXPLICIT'");
  std::vector<int64_t> begins, ends, axes;
  std::vector<Tensor> picks;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t axis = static_cast<int64_t>(i + 1);
    const Dim& dim = (*x->shape())[axis];
    if (!dim.is_static()) return Unimplemented("the spatial sizes are not known");
    const int64_t size = dim.value(), k = w.kernel[i], s = w.strides[i], d = w.dilations[i];
    for (const int64_t n : {k, s, d}) {
      if (n < 1 || n >= kLimit) return Invalid("a kernel, stride or dilation of ", n);
    }
    const int64_t extent = w.extent(i);
    const bool same = IsSame(w.auto_pad);
    const int64_t count = same ? (size + s - 1) / s : size < extent ? 0 : (size - extent) / s + 1;
    const int64_t total = same ? SamePadding(size, extent, s) : 0;
    if (count > 0 && k > kMaxPicks / count) return Unimplemented("windows that are too large");
    axes.push_back(axis);
    begins.push_back(total / 2);
    ends.push_back(total - total / 2);
    std::vector<int64_t> positions;
    for (int64_t o = 0; o < count; ++o) {
      for (int64_t j = 0; j < k; ++j) positions.push_back(o * s + j * d);
    }
    picks.push_back(Tensor::Of<int64_t>({count, k}, positions));
  }
  const std::vector<int64_t> pads = JoinPads(begins, ends);
  if (std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; })) {
    x = a.Op("pad", {x, a.b().Ints(pads), outside, a.b().Ints(axes)}, {{"mode", "constant"}});
  }
  // Each axis becomes two.
  std::vector<int64_t> perm = {0};
  for (size_t i = 0; i < spatial; ++i) {
    x = a.Op("gather", {x, a.b().Constant(std::move(picks[i]))},
             {{"axis", static_cast<int64_t>(2 * i + 1)}});
  }
  for (size_t i = 0; i < spatial; ++i) perm.push_back(static_cast<int64_t>(2 * i + 1));
  for (size_t i = 0; i < spatial; ++i) perm.push_back(static_cast<int64_t>(2 * i + 2));
  perm.push_back(static_cast<int64_t>(2 * spatial + 1));
  return Transpose({a, x}, std::move(perm));
}

namespace {

template <size_t kSpatial>
absl::StatusOr<Value*> ExtractPatches(TfArgs& a) {
  const TfLayout layout;
  Window w{.kernel = TakeSpatial(a, "ksizes", layout, kSpatial),
           .strides = TakeSpatial(a, "strides", layout, kSpatial),
           .dilations = std::vector<int64_t>(kSpatial, 1),
           .channels_last = true};
  if (kSpatial == 2) w.dilations = TakeSpatial(a, "rates", layout, kSpatial);
  TakePadding(a, kSpatial, &w);
  X2IR_ASSIGN_OR_RETURN(Value * patches, Patches(a, a.in(0), w, nullptr));
  std::vector<Size> sizes = AllSizes({a, patches});
  if (sizes.size() != 2 * kSpatial + 2) return patches;
  // A window's elements and channels are the channels.
  std::vector<Size> result(sizes.begin(), sizes.begin() + kSpatial + 1);
  result.emplace_back(1);
  for (size_t i = kSpatial + 1; i < sizes.size(); ++i) {
    result.back() = Times(a, sizes[i], result.back());
  }
  return ReshapeTo({a, patches}, Vector(a, result));
}

// The largest sum of an element and the filter's. Padding never wins.
absl::StatusOr<Value*> Dilation2D(TfArgs& a) {
  const TfLayout layout;
  Value* x = a.in(0);
  Value* filter = a.in(1);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(1));
  if (rank != 3) return Invalid("expected a filter of rank 3, got ", rank);
  const Shape& shape = *filter->shape();
  if (!shape[0].is_static() || !shape[1].is_static()) {
    return Unimplemented("the filter's size is not known");
  }
  Window w{.kernel = {shape[0].value(), shape[1].value()},
           .strides = TakeSpatial(a, "strides", layout, 2),
           .dilations = TakeSpatial(a, "rates", layout, 2),
           .channels_last = true};
  TakePadding(a, 2, &w);
  a.Require(IsFloating(x->dtype()), "dilation of integers");
  Value* outside = Expr(a, x).Number(-std::numeric_limits<double>::infinity());
  X2IR_ASSIGN_OR_RETURN(Value * patches, Patches(a, x, w, outside));
  Value* sums = a.Op("add", {patches, filter});
  return a.Op("reduce_max", {sums, a.b().Ints({3, 4})}, {{"keepdims", 0}});
}

}  // namespace

X2IR_TF(gather).From({{"ExtractImagePatches", ExtractPatches<2>},
                      {"ExtractVolumePatches", ExtractPatches<3>}});
X2IR_TF(reduce_max).From("Dilation2D", Dilation2D);

}  // namespace x2ir
