// Rows that belong together: segments, the edges of graphs, medians; and frames of signals.
#include <algorithm>
#include <cctype>
#include <limits>

#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// --- Rows combined by their numbers --------------------------------------------------------------

// [count, row...]: rows combined by their numbers as `kind` says (sum, mean, min, max); zeros where
// there is none.
Expr CombinedRows(PaddleArgs& a, const Expr& rows, const Expr& numbers, const Expr& count,
                  std::string kind) {
  for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const Expr at = numbers.To(DType::kInt64);
  const bool mean = kind == "mean";
  if (kind == "sum" || mean) {
    const Expr sums = CombineRows(rows, at, count, "add", rows.Number(0));
    if (!mean) return sums;
    const Expr ones = Filled(a, rows.dtype(), {SizeAt(at, 0)}, 1);
    const Expr counts = CombineRows(ones, at, count, "add", rows.Number(0));
    return sums / AlongChannels(Max(counts, 1.0), a.Rank(rows) + 1);
  }
  a.Require(kind == "min" || kind == "max", StrCat("a reduction ", kind));
  const Expr ones = Filled(a, DType::kInt64, {SizeAt(at, 0)}, 1);
  Expr any = IsTrue(CombineRows(ones, at, count, "add", Int(a, 0)));
  if (a.Rank(rows) > 1) any = Unsqueeze(any, CountedFrom(1, a.Rank(rows) - 1));
  const Expr first = Extreme(a, rows.dtype(), kind == "min");
  return Where(any, CombineRows(rows, at, count, kind, first), 0.0);
}

// Segments by ids in rising order.
PaddleResults SegmentPool(PaddleArgs& a) {
  const Expr x = a.X(), ids = a.X("SegmentIds");
  const Expr count = Reduce(ids.To(DType::kInt64), "reduce_max", {}) + Int(a, 1);
  return {{"Out", {CombinedRows(a, x, ids, count, a.String("pooltype", "SUM"))}}};
}

// What edges bring to their ends.
Size OutSize(PaddleArgs& a, const Expr& x) {
  const int64_t count = a.KnownNumber("out_size", {"Out_size"}, 0);
  return count > 0 ? Size(count) : SizeAt(x, 0);
}
PaddleResults SendReceive(PaddleArgs& a) {
  const Expr x = a.X(), from = a.X("Src_index"), to = a.X("Dst_index");
  const Expr count = Scalar(a, OutSize(a, x));
  return {{"Out", {CombinedRows(a, Gather(x, from, 0), to, count, a.String("reduce_op", "SUM"))}}};
}
Expr Message(PaddleArgs& a, const Expr& x, const Expr& y) {
  const std::string op = a.String("message_op", "ADD");
  a.Require(op == "ADD" || op == "MUL", StrCat("messages by ", op));
  return op == "ADD" ? x + y : x * y;
}
PaddleResults SendEdgesReceive(PaddleArgs& a) {
  const Expr x = a.X(), from = a.X("Src_index"), to = a.X("Dst_index");
  const Expr count = Scalar(a, OutSize(a, x));
  Expr edges = a.X("Y");
  const int64_t rank = a.Rank(x);
  if (a.Rank(edges) == 1 && rank > 1) edges = Unsqueeze(edges, CountedFrom(1, rank - 1));
  const Expr messages = Message(a, Gather(x, from, 0), edges);
  return {{"Out", {CombinedRows(a, messages, to, count, a.String("reduce_op", "SUM"))}}};
}
Expr SendBoth(PaddleArgs& a) {
  const Expr x = Gather(a.X("x"), a.X("src_index"), 0), y = Gather(a.X("y"), a.X("dst_index"), 0);
  return Message(a, x, y);
}

// --- Medians -------------------------------------------------------------------------------------

// Of the axes as one: the middle number in order, or the mean of the two. NaN is one where any is,
// or does not count.
PaddleResults MedianOf(PaddleArgs& a, bool ignores_nan) {
  const Expr x = a.X();
  std::vector<int64_t> axes = a.KnownList("axis", {});
  const bool keep = a.Bool("keepdim", false);
  const std::string mode = a.String("mode", "avg");
  a.Require(IsFloating(x.dtype()), "medians of integers");
  a.Require(mode == "avg" || mode == "min", StrCat("a mode ", mode));
  const int64_t rank = a.Rank(x);
  if (axes.empty()) axes = AllAxes(x);
  for (int64_t& axis : axes) axis = rank == 0 ? 0 : a.Axis(axis, x);
  std::vector<int64_t> perm;
  std::vector<Size> outer, kept;
  for (int64_t i = 0; i < rank; ++i) {
    const bool goes = std::find(axes.begin(), axes.end(), i) != axes.end();
    kept.push_back(goes ? Size(1) : SizeAt(x, i));
    if (!goes) {
      perm.push_back(i);
      outer.push_back(SizeAt(x, i));
    }
  }
  for (const int64_t axis : axes) perm.push_back(axis);
  std::vector<Size> sizes = outer;
  std::vector<Size> joined;
  for (const int64_t axis : axes) joined.push_back(SizeAt(x, axis));
  sizes.push_back(Product(a, joined));
  const Expr rows = rank == 0 ? Flat(x) : ReshapeTo(Transpose(x, perm), sizes);
  // Runtimes do not define where NaN is in a sorted list: the greatest number replaces it.
  const Expr nan = IsNan(rows), holes = nan.To(DType::kInt64);
  const Expr sorted = Sort(Where(nan, Extreme(a, x.dtype(), true), rows), -1, false).values;
  const Expr count = SizeOf(rows, -1) - Sum(holes, -1, true);
  const auto at = [&](const Expr& place) {
    return GatherElements(sorted, Max(place, Int(a, 0)), -1);
  };
  const Expr low = at((count - Int(a, 1)) / Int(a, 2));
  Expr y = low;
  if (mode == "avg") y = (low + at(Min(count / Int(a, 2), SizeOf(rows, -1) - Int(a, 1)))) * 0.5;
  const Expr broken = ignores_nan ? count == Int(a, 0) : IsTrue(Sum(holes, -1, true));
  y = Where(broken, std::numeric_limits<double>::quiet_NaN(), y);
  return {{"Out", {ReshapeTo(y, keep ? kept : outer)}}};
}

// --- Frames --------------------------------------------------------------------------------------

// [..., samples] as [..., frame, frames], or [samples, ...] as [frames, frame, ...].
Expr Frame(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t length = a.Int("frame_length", 1), step = a.Int("hop_length", 1);
  const int64_t axis = a.Int("axis", -1);
  constexpr int64_t kLimit = 1 << 24;
  a.Require(
      length > 0 && length <= kLimit && step > 0 && step <= kLimit && (axis == 0 || axis == -1),
      "frames of that kind");
  const bool last = axis == -1;
  const int64_t along = last ? a.Rank(x) - 1 : 0;
  const Size count = Plus(a, Divided(a, Minus(a, SizeAt(x, along), length), step), 1);
  const Expr starts = Iota(Scalar(a, count)) * static_cast<double>(step);
  const Expr inside = Ints(a, CountedFrom(0, length));
  const Expr places = last ? Unsqueeze(inside, {1}) + Unsqueeze(starts, {0})
                           : Unsqueeze(starts, {1}) + Unsqueeze(inside, {0});
  return Gather(x, places, along);
}

// The sum of frames, each `hop_length` after the one before: the inverse of Frame.
Expr OverlapAdd(PaddleArgs& a) {
  Expr x = a.X();
  const int64_t step = a.Int("hop_length", 1), axis = a.Int("axis", -1);
  const int64_t rank = a.Rank(x);
  a.Require(step > 0 && step <= (1 << 24) && rank >= 2 && (axis == 0 || axis == -1),
            "frames of that kind");
  if (axis == 0) {
    // [frames, frame, ...] as [..., frame, frames]
    std::vector<int64_t> perm = CountedFrom(2, rank - 2);
    perm.insert(perm.end(), {1, 0});
    x = Transpose(x, perm);
  }
  const auto sizes = KnownSizes(x, rank - 2, rank);
  a.Require(sizes.has_value(), "frames of unknown size");
  const int64_t length = (*sizes)[0], count = (*sizes)[1];
  a.Require(count > 0, "no frames");
  const int64_t samples = (count - 1) * step + length;
  const Expr columns = ReshapeTo(x, {Size(-1), Size(length), Size(count)});
  const Expr y = columns.Op("col2im", {a.b().Ints({1, samples}), a.b().Ints({1, length})},
                            {{"strides", Attribute::Ints{1, step}}});
  std::vector<Size> result = SizesAt(x, 0, rank - 2);
  result.emplace_back(samples);
  const Expr signal = ReshapeTo(y, result);
  return axis == 0 ? MoveAxis(signal, rank - 2, 0) : signal;
}

}  // namespace

X2IR_PADDLE(scatter_elements)
    .From({{"segment_pool", SegmentPool},
           {"send_u_recv", SendReceive},
           {"send_ue_recv", SendEdgesReceive}});
X2IR_PADDLE(gather).From({{"send_uv", SendBoth}, {"frame", Frame}});
X2IR_PADDLE(top_k)
    .From("median", [](PaddleArgs& a) { return MedianOf(a, false); })
    .From("nanmedian", [](PaddleArgs& a) { return MedianOf(a, true); });
X2IR_PADDLE(col2im).From("overlap_add", OverlapAdd);

}  // namespace x2ir
