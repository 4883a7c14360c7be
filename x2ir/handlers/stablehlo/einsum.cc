// StableHLO: Einstein sums, and products of tensors in groups of rows.
#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/core/read_through.h"
#include "x2ir/handlers/stablehlo/elementwise.h"

namespace x2ir {
namespace {

Value* EinsteinSum(StablehloArgs& a) {
  const std::string config = a.String("einsum_config", "");
  const DType t = a.out_dtype();
  std::vector<Value*> operands;
  for (Value* operand : a.inputs()) operands.push_back(Converted({a, operand}, t));
  return a.Op("einsum", operands, {{"equation", config}});
}

using Dims = std::vector<int64_t>;

// dot_general of operands that this step made.
Expr DotGeneral(StablehloArgs& a, const Expr& x, const Expr& y, const Dims& x_batch,
                const Dims& y_batch, const Dims& x_sum, const Dims& y_sum) {
  const Values result = ReadThrough(a, StablehloDialect::kName, 1, "dot_general", {x, y},
                                    {{"lhs_batching_dimensions", x_batch},
                                     {"rhs_batching_dimensions", y_batch},
                                     {"lhs_contracting_dimensions", x_sum},
                                     {"rhs_contracting_dimensions", y_sum}},
                                    {{true, Type::Tensor(a.out_dtype())}});
  return {a, result.empty() ? nullptr : result[0]};
}

// [groups, size]: whether position i of an axis is in a group. Groups follow each other; what is
// behind the last one is in none.
Expr InGroup(const Expr& group_sizes, const Expr& size) {
  const Expr sizes = group_sizes.To(DType::kInt64);
  const Expr ends = CumSum(sizes, 0), starts = ends - sizes;
  const Expr positions = Iota(size);
  return (positions >= Unsqueeze(starts, {1})) & (positions < Unsqueeze(ends, {1}));
}

bool Contains(const Dims& dims, int64_t axis) {
  return std::find(dims.begin(), dims.end(), axis) != dims.end();
}
Dims After(Dims dims) {
  for (int64_t& axis : dims) ++axis;
  dims.insert(dims.begin(), 0);
  return dims;
}

// Every group has rows of its own along the ragged axis of lhs. Where that axis is in the result,
// each row is multiplied with its group's part of rhs; where it is summed up, there is one result
// for each group; where it is a batch axis, groups make no difference.
Value* RaggedDot(StablehloArgs& a) {
  const Expr x = a.in(0), y = a.in(1), group_sizes = a.in(2);
  const Dims x_batch = a.Ints("lhs_batching_dimensions"),
             y_batch = a.Ints("rhs_batching_dimensions"),
             x_sum = a.Ints("lhs_contracting_dimensions"),
             y_sum = a.Ints("rhs_contracting_dimensions"), ragged = a.Ints("lhs_ragged_dimensions"),
             group = a.Ints("rhs_group_dimensions");
  a.Require(ragged.size() == 1, "other than one ragged dimension");
  a.Require(group_sizes.rank() == 1, "groups that differ in the batch");
  const int64_t axis = a.AxisOf(ragged[0]);
  if (Contains(x_batch, axis)) return DotGeneral(a, x, y, x_batch, y_batch, x_sum, y_sum);
  const Expr inside = InGroup(group_sizes, SizeOf(x, axis));
  if (Contains(x_sum, axis)) {
    const auto at =
        static_cast<size_t>(std::find(x_sum.begin(), x_sum.end(), axis) - x_sum.begin());
    a.Require(at < y_sum.size(), "contracting dimensions that differ in number");
    const auto masked = [&](const Expr& whole, int64_t along) {
      const int64_t rank = whole.rank();
      Dims others;
      for (int64_t i = 0; i < rank; ++i) {
        if (i != along) others.push_back(i + 1);
      }
      return Where(Unsqueeze(inside, others), Unsqueeze(whole, {0}), 0);
    };
    return DotGeneral(
        a, masked(x, axis), masked(y, y_sum[at]), After(x_batch), After(y_batch),
        [&] {
          Dims d = After(x_sum);
          d.erase(d.begin());
          return d;
        }(),
        [&] {
          Dims d = After(y_sum);
          d.erase(d.begin());
          return d;
        }());
  }
  a.Require(group.size() == 1, "other than one group dimension");
  // The product with every group's part, of which those of other groups are 0 in the sum.
  const Expr all = DotGeneral(a, x, y, x_batch, y_batch, x_sum, y_sum);
  auto place = static_cast<int64_t>(x_batch.size());
  for (int64_t i = 0; i < axis; ++i) place += !Contains(x_batch, i) && !Contains(x_sum, i);
  auto group_place = x.rank() - static_cast<int64_t>(x_sum.size());
  for (int64_t i = 0; i < group[0]; ++i)
    group_place += !Contains(y_batch, i) && !Contains(y_sum, i);
  Dims others;
  for (int64_t i = 0; i < all.rank(); ++i) {
    if (i != place && i != group_place) others.push_back(i);
  }
  const Expr mask = Unsqueeze(Transpose(inside, {1, 0}), others);
  return Sum(Where(mask, all, 0), group_place);
}

}  // namespace

X2IR_STABLEHLO(einsum).From({{"einsum", EinsteinSum}, {"unary_einsum", EinsteinSum}});
X2IR_STABLEHLO(matmul).From("chlo.ragged_dot", RaggedDot);

}  // namespace x2ir
