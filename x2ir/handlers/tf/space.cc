// TensorFlow: elements that move between batch, channels and pixels.
#include <algorithm>
#include <limits>
#include <numeric>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tf/writer.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// --- Batch and space ----------------------------------------------------------------------------

struct Blocks {
  std::vector<int64_t> sizes;         // of a block, per axis from 1 on
  std::vector<int64_t> begins, ends;  // paddings or crops
};

absl::StatusOr<Blocks> CheckedBlocks(const std::vector<int64_t>& sizes,
                                     const std::vector<int64_t>& edges, int64_t rank) {
  Blocks blocks;
  const size_t n = sizes.size();
  if (edges.size() != 2 * n || static_cast<int64_t>(n) >= rank) {
    return Invalid(n, " block sizes and ", edges.size(), " edges of an operand of rank ", rank);
  }
  for (size_t i = 0; i < n; ++i) {
    if (sizes[i] < 1 || sizes[i] > (1 << 30)) return Invalid("a block of size ", sizes[i]);
    for (const int64_t edge : {edges[2 * i], edges[2 * i + 1]}) {
      if (edge < 0 || edge > (int64_t{1} << 40)) return Invalid("an edge of ", edge);
    }
    blocks.begins.push_back(edges[2 * i]);
    blocks.ends.push_back(edges[2 * i + 1]);
  }
  blocks.sizes = sizes;
  return blocks;
}

absl::StatusOr<Blocks> TakeBlocksNd(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const auto sizes, a.KnownInts(1, "block_shape"));
  X2IR_ASSIGN_OR_RETURN(const auto edges, a.KnownInts(2, "paddings or crops"));
  return CheckedBlocks(sizes, edges, rank);
}

// The old form: two axes of an image.
absl::StatusOr<Blocks> TakeBlocks2d(TfArgs& a) {
  const int64_t size = a.Int("block_size", 0);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const auto edges, a.KnownInts(1, "paddings or crops"));
  return CheckedBlocks({size, size}, edges, rank);
}

Size Divided(TfArgs& a, const Size& size, int64_t by, std::string_view what) {
  if (size.number && *size.number % by != 0) {
    a.b().Fail(Invalid(what, " of ", *size.number, " in blocks of ", by));
  }
  return Divided(a, size, by);
}

absl::StatusOr<Value*> SpaceToBatch(TfArgs& a, const Blocks& blocks) {
  const size_t n = blocks.sizes.size();
  Value* x = a.in(0);
  std::vector<int64_t> pads = blocks.begins, axes(n);
  pads.insert(pads.end(), blocks.ends.begin(), blocks.ends.end());
  std::iota(axes.begin(), axes.end(), 1);
  if (std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; })) {
    x = a.Op("pad", {x, a.b().Ints(pads), nullptr, a.b().Ints(axes)}, {{"mode", "constant"}});
  }
  const std::vector<Size> in = AllSizes({a, x});
  if (in.empty()) return x;
  // [batch, rows, row of block, ...] to [row of block, ..., batch, rows, ...]
  std::vector<Size> apart = {in[0]}, result = {in[0]};
  std::vector<int64_t> blocks_first, rows = {0};
  for (size_t i = 0; i < n; ++i) {
    const Size count = Divided(a, in[i + 1], blocks.sizes[i], "a padded size");
    apart.push_back(count);
    apart.emplace_back(blocks.sizes[i]);
    result[0] = Times(a, result[0], blocks.sizes[i]);
    result.push_back(count);
    rows.push_back(static_cast<int64_t>(2 * i + 1));
    blocks_first.push_back(static_cast<int64_t>(2 * i + 2));
  }
  for (size_t i = n + 1; i < in.size(); ++i) {
    rows.push_back(static_cast<int64_t>(apart.size()));
    apart.push_back(in[i]);
    result.push_back(in[i]);
  }
  std::vector<int64_t> perm = blocks_first;
  perm.insert(perm.end(), rows.begin(), rows.end());
  const Expr moved = Transpose(ReshapeTo({a, x}, Vector(a, apart)), perm);
  return ReshapeTo(moved, Vector(a, result));
}

absl::StatusOr<Value*> BatchToSpace(TfArgs& a, const Blocks& blocks) {
  const size_t n = blocks.sizes.size();
  Value* x = a.in(0);
  const std::vector<Size> in = AllSizes({a, x});
  if (in.empty()) return x;
  // [row of block, ..., batch, rows, ...] to [batch, rows, row of block, ...]
  std::vector<Size> apart, result = {in[0]};
  std::vector<int64_t> perm = {static_cast<int64_t>(n)};
  for (size_t i = 0; i < n; ++i) {
    apart.emplace_back(blocks.sizes[i]);
    result[0] = Divided(a, result[0], blocks.sizes[i], "a batch");
    result.push_back(Times(a, in[i + 1], blocks.sizes[i]));
    perm.push_back(static_cast<int64_t>(n + 1 + i));
    perm.push_back(static_cast<int64_t>(i));
  }
  apart.push_back(result[0]);
  for (size_t i = 1; i < in.size(); ++i) apart.push_back(in[i]);
  for (size_t i = n + 1; i < in.size(); ++i) {
    perm.push_back(static_cast<int64_t>(i + n));
    result.push_back(in[i]);
  }
  const Expr moved = Transpose(ReshapeTo({a, x}, Vector(a, apart)), perm);
  Value* y = ReshapeTo(moved, Vector(a, result));
  std::vector<int64_t> starts, ends, axes;
  for (size_t i = 0; i < n; ++i) {
    if (blocks.begins[i] == 0 && blocks.ends[i] == 0) continue;
    if (const Size& size = result[i + 1];
        size.number && *size.number < blocks.begins[i] + blocks.ends[i]) {
      return Invalid("crops of more than there is");
    }
    starts.push_back(blocks.begins[i]);
    ends.push_back(blocks.ends[i] == 0 ? std::numeric_limits<int64_t>::max() : -blocks.ends[i]);
    axes.push_back(static_cast<int64_t>(i + 1));
  }
  if (axes.empty()) return y;
  return a.Op("slice", {y, a.b().Ints(starts), a.b().Ints(ends), a.b().Ints(axes)});
}

template <auto kTake, auto kMove>
absl::StatusOr<Value*> WithBlocks(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Blocks blocks, kTake(a));
  return kMove(a, blocks);
}

// --- Depth and space ----------------------------------------------------------------------------

template <const char* kOp>
Value* Depth(TfArgs& a) {
  const TfLayout layout = TakeLayout(a);
  return a.Op(kOp, {a.in(0)}, {{"layout", layout.name()}, {"blocksize", a.Int("block_size", 0)}});
}

constexpr char kDepthToSpace[] = "depth_to_space", kSpaceToDepth[] = "space_to_depth";

auto ToTfBlocks(std::string_view op) {
  return [=](TfWriter& w) -> absl::StatusOr<Value*> {
    const Attribute* mode = w.attrs().Find("mode");
    if (mode && *mode != Attribute("DCR")) return CannotExpress("mode CRD");
    if (!IsChannelsLast(w)) return WithChannelsLast(w);
    return w.Tf(op, {w.in(0)}, {{"block_size", w.Int("blocksize")}, {"data_format", "NHWC"}});
  };
}

}  // namespace

X2IR_TF(transpose).From({{"SpaceToBatchND", WithBlocks<TakeBlocksNd, SpaceToBatch>},
                         {"SpaceToBatch", WithBlocks<TakeBlocks2d, SpaceToBatch>},
                         {"BatchToSpaceND", WithBlocks<TakeBlocksNd, BatchToSpace>},
                         {"BatchToSpace", WithBlocks<TakeBlocks2d, BatchToSpace>}});
X2IR_TF(depth_to_space)
    .To("DepthToSpace", ToTfBlocks("DepthToSpace"))
    .From("DepthToSpace", Depth<kDepthToSpace>);
X2IR_TF(space_to_depth)
    .To("SpaceToDepth", ToTfBlocks("SpaceToDepth"))
    .From("SpaceToDepth", Depth<kSpaceToDepth>);

}  // namespace x2ir
