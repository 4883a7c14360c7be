#include "x2ir/builder/layers/images.h"

#include <algorithm>

#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

Expr RepeatedPixels(NodeReader& a, const Expr& x, int64_t rows, int64_t columns) {
  if (rows == 1 && columns == 1) return a.Op("identity", {x});
  return ResizedBy(x, {1, 1, static_cast<float>(rows), static_cast<float>(columns)}, kNearestFloor);
}

absl::StatusOr<Value*> ShuffledChannels(NodeReader& a, const Expr& x, int64_t groups) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const Dim channels = DimAt(x, 1);
  a.Require(channels.is_static(), "an unknown number of channels");
  if (groups < 1 || rank < 2 || channels.value() % groups != 0) {
    return Invalid(channels.value(), " channels in ", groups, " groups");
  }
  const std::vector<Size> sizes = AllSizes(x);
  std::vector<Size> apart = {sizes[0], Size(groups), Size(channels.value() / groups)};
  apart.insert(apart.end(), sizes.begin() + 2, sizes.end());
  std::vector<int64_t> order = CountedFrom(0, rank + 1);
  std::swap(order[1], order[2]);
  return ReshapeTo(Transpose(ReshapeTo(x, apart), order), sizes).value();
}

absl::StatusOr<Value*> Reorganized(NodeReader& a, const Expr& x, int64_t stride, bool reverse) {
  const auto known = KnownSizes(x, 1, 4);
  a.Require(known.has_value(), "an image of unknown size");
  const int64_t channels = (*known)[0], height = (*known)[1], width = (*known)[2];
  const auto most = std::max({channels, height, width});
  if (most > INT32_MAX || stride < 1 || stride > 4096 || channels % (stride * stride) != 0) {
    return Invalid("a reorg of ", channels, " channels by ", stride);
  }
  const int64_t few = channels / (stride * stride);
  const Size batch = SizeAt(x, 0);
  if (reverse) return a.Op("depth_to_space", {x}, {{"blocksize", stride}, {"mode", "DCR"}}).value();
  if (height % stride != 0 || width % stride != 0) {
    return Invalid("a reorg of ", height, " x ", width, " pixels by ", stride);
  }
  const Expr large = ReshapeTo(x, {batch, Size(few), Size(height * stride), Size(width * stride)});
  return ReshapeTo(
             a.Op("space_to_depth", {large}, {{"blocksize", stride}}),
             {batch, Size(channels * stride * stride), Size(height / stride), Size(width / stride)})
      .value();
}

}  // namespace x2ir
