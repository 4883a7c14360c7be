// Caffe2: rows that lie one segment after the other, whose lengths an operand has.
#include "x2ir/handlers/caffe2/caffe2.h"

namespace x2ir {
namespace {

// Segments of rows; `weights`: of each row, null for 1. An empty segment is 0.
Expr Combined(const Expr& rows, const Expr* weights, const Expr& lengths, bool mean) {
  const int64_t rank = rows.rank();
  const auto like_rows = [&](const Expr& vector) {
    return rank > 1 ? Unsqueeze(vector, CountedFrom(1, rank - 1)) : vector;
  };
  const Expr counts = Flat(lengths).To(DType::kInt64);
  const Expr ends = CumSum(counts, 0), places = Iota(SizeOf(rows, 0));
  const Expr ended = Unsqueeze(places, {1}) >= Unsqueeze(ends, {0});
  const Expr segment = Sum(ended.To(DType::kInt64), 1);
  Expr x = rows.To(DType::kFloat32);
  if (weights) x = x * like_rows(Flat(*weights));
  const Expr y = CombineRows(x, segment, SizeOf(counts, 0), "add", x.Number(0));
  return mean ? y / like_rows(Max(counts, 1).To(DType::kFloat32)) : y;
}

enum class Reads { kRows, kTable };
auto OfSegments(Reads reads, bool weighted, bool mean) {
  return [=](Caffe2Args& a) {
    const size_t first = weighted ? 2 : 1, table = reads == Reads::kTable ? 1 : 0;
    a.Drop({"grad_on_weights"});
    const Expr rows = table ? Gather(a.in(0), a.AsInt64(a.in(first)), 0) : a.in(0);
    const Expr lengths = a.in(first + table);
    if (!weighted) return Combined(rows, nullptr, lengths, mean);
    const Expr weights = a.in(1);
    return Combined(rows, &weights, lengths, mean);
  };
}

}  // namespace

X2IR_CAFFE2(scatter_elements)
    .From("SparseLengthsSum", OfSegments(Reads::kTable, false, false))
    .From("SparseLengthsMean", OfSegments(Reads::kTable, false, true))
    .From("SparseLengthsWeightedSum", OfSegments(Reads::kTable, true, false))
    .From("LengthsSum", OfSegments(Reads::kRows, false, false))
    .From("LengthsMean", OfSegments(Reads::kRows, false, true))
    .From("LengthsWeightedSum", OfSegments(Reads::kRows, true, false));
// Rows after the length do not move.
X2IR_CAFFE2(reverse_sequence).From("ReversePackedSegs", [](Caffe2Args& a) {
  return a.in(0).Op("reverse_sequence", {a.AsInt64(a.in(1))},
                    {{"time_axis", 0}, {"batch_axis", 1}});
});

}  // namespace x2ir
