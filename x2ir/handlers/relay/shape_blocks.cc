// Relay: blocks of images as channels or as batches.
#include <algorithm>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/relay/windows_internal.h"

namespace x2ir {
namespace {

// Blocks of pixels as channels, and back.
Value* DepthToSpaceOp(SymbolArgs& a) {
  const std::string mode = a.Text("mode", "DCR"), layout = a.Text("layout", "NCHW");
  const bool last = IsChannelsLast(a, layout);
  return a.Op(
      "depth_to_space", {a.in(0)},
      {{"layout", LayoutName(last)}, {"blocksize", a.Integer("block_size", 1)}, {"mode", mode}});
}
Value* SpaceToDepthOp(SymbolArgs& a) {
  a.Ignore("mode");
  const bool last = IsChannelsLast(a, a.Text("layout", "NCHW"));
  return a.Op("space_to_depth", {a.in(0)},
              {{"layout", LayoutName(last)}, {"blocksize", a.Integer("block_size", 1)}});
}

// [batch, spatial..., rest...]: blocks go to the batch, and back.
Value* SpaceToBatchRow(SymbolArgs& a) {
  const std::vector<int64_t> block = a.Tuple("block_shape"), pads = TakePadWidths(a, "paddings");
  const auto n = static_cast<int64_t>(block.size());
  const int64_t rank = a.RankOf(0);
  a.Require(static_cast<int64_t>(pads.size()) == 2 * n &&
                n<rank&& * std::min_element(block.begin(), block.end())> 0,
            "blocks of other axes");
  std::vector<int64_t> all(static_cast<size_t>(2 * rank), 0);
  for (int64_t i = 0; i < n; ++i) {
    all[static_cast<size_t>(i + 1)] = pads[static_cast<size_t>(i)];
    all[static_cast<size_t>(rank + i + 1)] = pads[static_cast<size_t>(n + i)];
  }
  const Expr x = a.Op("pad", {a.in(0), a.b().Ints(all), a.in(0).Number(a.Number("pad_value", 0))},
                      {{"mode", "constant"}});
  std::vector<Size> split = {SizeAt(x, 0)}, joined = {SizeAt(x, 0)};
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t size = block[static_cast<size_t>(i)];
    const Size outer = DividedBy(a, SizeAt(x, i + 1), size);
    split.push_back(outer);
    split.emplace_back(size);
    joined[0] = Times(a, joined[0], Size(size));
    joined.push_back(outer);
    perm.push_back(2 * i + 2);
  }
  perm.push_back(0);
  for (int64_t i = 0; i < n; ++i) perm.push_back(2 * i + 1);
  for (int64_t i = n + 1; i < rank; ++i) {
    perm.push_back(static_cast<int64_t>(split.size()));
    split.push_back(SizeAt(x, i));
    joined.push_back(SizeAt(x, i));
  }
  return ReshapeTo(Transpose(ReshapeTo(x, split), perm), joined);
}
Value* BatchToSpaceRow(SymbolArgs& a) {
  const std::vector<int64_t> block = a.Tuple("block_shape"), crops = TakePadWidths(a, "crops");
  const auto n = static_cast<int64_t>(block.size());
  const int64_t rank = a.RankOf(0);
  a.Require(static_cast<int64_t>(crops.size()) == 2 * n &&
                n<rank&& * std::min_element(block.begin(), block.end())> 0,
            "blocks of other axes");
  const Expr x = a.in(0);
  std::vector<Size> split;
  Size batch = SizeAt(x, 0);
  for (const int64_t size : block) {
    split.emplace_back(size);
    batch = DividedBy(a, batch, size);
  }
  split.push_back(batch);
  std::vector<Size> joined = {batch};
  std::vector<int64_t> perm = {n};
  for (int64_t i = 0; i < n; ++i) {
    perm.push_back(n + 1 + i);
    perm.push_back(i);
    split.push_back(SizeAt(x, i + 1));
    joined.push_back(Times(a, SizeAt(x, i + 1), Size(block[static_cast<size_t>(i)])));
  }
  for (int64_t i = n + 1; i < rank; ++i) {
    perm.push_back(static_cast<int64_t>(split.size()));
    split.push_back(SizeAt(x, i));
    joined.push_back(SizeAt(x, i));
  }
  Expr y = ReshapeTo(Transpose(ReshapeTo(x, split), perm), joined);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = crops[static_cast<size_t>(i)], end = crops[static_cast<size_t>(n + i)];
    a.Require(begin >= 0 && end >= 0, "crops below 0");
    if (begin > 0 || end > 0) {
      y = Slice(y, i + 1, Size(begin), end > 0 ? Size(-end) : Size(kToEnd));
    }
  }
  return y;
}

}  // namespace

X2IR_RELAY(depth_to_space)
    .From({{"nn.depth_to_space", DepthToSpaceOp}, {"nn.batch_to_space_nd", BatchToSpaceRow}});
X2IR_RELAY(space_to_depth)
    .From({{"nn.space_to_depth", SpaceToDepthOp}, {"nn.space_to_batch_nd", SpaceToBatchRow}});

}  // namespace x2ir
