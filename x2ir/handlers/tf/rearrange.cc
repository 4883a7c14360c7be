// TensorFlow: elements in other places: backwards, rolled, between batch, channels and pixels.
#include <algorithm>
#include <limits>
#include <numeric>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* Reversed(TfArgs& a, const std::vector<int64_t>& axes) {
  if (axes.empty()) return a.Op("identity", {a.in(0)});
  const std::vector<int64_t> last(axes.size(), -1);
  const std::vector<int64_t> beyond(axes.size(), std::numeric_limits<int64_t>::min());
  return a.Op("slice", {a.in(0), a.b.Ints(last), a.b.Ints(beyond), a.b.Ints(axes), a.b.Ints(last)});
}

absl::StatusOr<Value*> ReverseV2(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, KnownAxes(a, 1, rank));
  return Reversed(a, axes);
}

// A bool an axis.
absl::StatusOr<Value*> Reverse(TfArgs& a) {
  const Tensor* which = a.in(1)->fixed_constant();
  if (!which) return Unimplemented("operand 1 (dims) is computed; expected a constant");
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < which->num_elements(); ++i) {
    if (which->AsInt(i) != 0) axes.push_back(i);
  }
  return Reversed(a, axes);
}

absl::StatusOr<Value*> ReverseSequence(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t time, NormalizeAxis(a.Int("seq_dim", 0), rank));
  X2IR_ASSIGN_OR_RETURN(const int64_t batch, NormalizeAxis(a.Int("batch_dim", 0), rank));
  if (time == batch) return Invalid("seq_dim and batch_dim are both ", time);
  Value* lengths = a.AsInt64(a.in(1));
  if (time < 2 && batch < 2) {
    return a.Op("reverse_sequence", {a.in(0), lengths},
                {{"time_axis", time}, {"batch_axis", batch}});
  }
  std::vector<int64_t> perm = {batch, time};
  for (int64_t i = 0; i < rank; ++i) {
    if (i != batch && i != time) perm.push_back(i);
  }
  std::vector<int64_t> back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[perm[i]] = static_cast<int64_t>(i);
  Value* y = a.Op("reverse_sequence", {Transpose(a.in(0), perm), lengths},
                  {{"time_axis", 1}, {"batch_axis", 0}});
  return Transpose({a, y}, back);
}

// What leaves an axis at its end comes in at its begin. Shifts of an axis add up.
absl::StatusOr<Value*> Roll(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.KnownInts(2, "axis"));
  const auto shifts = a.Ints(1);
  if (shifts && shifts->size() != axes.size()) {
    return Invalid(shifts->size(), " shifts of ", axes.size(), " axes");
  }
  Value* computed = shifts ? nullptr : a.AsInt64(a.in(1));
  if (computed && a.rank(1) != 1) computed = ReshapeTo({a, computed}, Ints(a, {-1}));
  Value* x = a.in(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(axes[i], rank));
    const std::vector<Size> sizes = AllSizes({a, x});
    const Size size = sizes[axis];
    const Size shift =
        shifts
            ? Size((*shifts)[i])
            : Size(a.Op("gather", {computed, a.b.Ints({static_cast<int64_t>(i)})}, {{"axis", 0}}));
    if (size.number == 0) continue;
    // An axis of no elements has no remainder.
    const Size divisor = size.number ? size : Larger(a, size, 1);
    const Size moved = size.number == 1 ? Size(int64_t{0}) : Modulo(a, shift, divisor);
    if (moved.number == 0) continue;
    const Size start = Minus(a, size, moved);
    const Size end = std::numeric_limits<int64_t>::max();
    x = a.Op("concat", {Slice({a, x}, axis, start, end), Slice({a, x}, axis, 0, start)},
             {{"axis", axis}});
  }
  return x == a.in(0) ? a.Op("identity", {x}) : x;
}

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
    a.b.Fail(Invalid(what, " of ", *size.number, " in blocks of ", by));
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
    x = a.Op("pad", {x, a.b.Ints(pads), nullptr, a.b.Ints(axes)}, {{"mode", "constant"}});
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
  return a.Op("slice", {y, a.b.Ints(starts), a.b.Ints(ends), a.b.Ints(axes)});
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

}  // namespace

X2IR_TF(slice).From("ReverseV2", ReverseV2).From("Reverse", Reverse);
X2IR_TF(reverse_sequence).From("ReverseSequence", ReverseSequence);
X2IR_TF(concat).From("Roll", Roll);
X2IR_TF(transpose)
    .From("SpaceToBatchND", WithBlocks<TakeBlocksNd, SpaceToBatch>)
    .From("SpaceToBatch", WithBlocks<TakeBlocks2d, SpaceToBatch>)
    .From("BatchToSpaceND", WithBlocks<TakeBlocksNd, BatchToSpace>)
    .From("BatchToSpace", WithBlocks<TakeBlocks2d, BatchToSpace>);
X2IR_TF(depth_to_space).From("DepthToSpace", Depth<kDepthToSpace>);
X2IR_TF(space_to_depth).From("SpaceToDepth", Depth<kSpaceToDepth>);

}  // namespace x2ir
