// MXNet: more of NumPy's functions.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/matrices.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

// Differences of neighbors along an axis, n times.
Value* Diff(SymbolArgs& a) {
  const int64_t n = a.Integer("n", 1), axis = a.Integer("axis", -1);
  a.Require(n >= 0 && n <= 64, "this many differences");
  Expr x = a.in(0);
  for (int64_t i = 0; i < n; ++i) {
    x = Slice(x, axis, Size(1), Size(kToEnd)) - Slice(x, axis, Size(0), Size(-1));
  }
  return n == 0 ? SameValue(a) : x;
}
// Each block an element of the first operand times the second.
absl::StatusOr<Value*> Kron(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t m, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t n, a.Rank(1));
  const int64_t rank = std::max(m, n);
  Expr x = a.in(0), y = a.in(1);
  if (m < rank) x = Unsqueeze(x, CountedFrom(0, rank - m));
  if (n < rank) y = Unsqueeze(y, CountedFrom(0, rank - n));
  std::vector<Size> sizes;
  for (int64_t i = 0; i < rank; ++i) sizes.push_back(Times(a, SizeAt(x, i), SizeAt(y, i)));
  // Axes in turn: one of x, one of y.
  const Expr product =
      Unsqueeze(x, CountedFrom(1, rank, 2)) * Unsqueeze(y, CountedFrom(0, rank, 2));
  return ReshapeTo(product, sizes).value();
}
// The sum of a diagonal.
absl::StatusOr<Value*> Trace(SymbolArgs& a) {
  const std::vector<int64_t> axes = {a.Integer("axis1", 0), a.Integer("axis2", 1)};
  X2IR_ASSIGN_OR_RETURN(const Expr diagonal, DiagonalAt(a, a.in(0), axes, a.Integer("offset", 0)));
  return Sum(diagonal, -1).value();
}
// Ones at and below a diagonal.
Value* Tri(SymbolArgs& a) {
  const int64_t rows = a.Integer("N", 0), columns = a.Given("M") ? a.Integer("M", 0) : rows;
  a.Ignore("M");
  const int64_t k = a.Integer("k", 0);
  const DType t = a.ElementType("dtype", DType::kFloat32);
  const Expr row = Unsqueeze(Iota(Int(a, rows)), {1}), column = Iota(Int(a, columns));
  return (column - row <= static_cast<double>(k)).To(t);
}
// The index of each element along each axis.
Value* NpIndices(SymbolArgs& a) {
  const std::vector<int64_t> sizes = a.Tuple("dimensions");
  const DType t = a.ElementType("dtype", DType::kInt64);
  const auto rank = static_cast<int64_t>(sizes.size());
  a.Require(rank > 0, "no axes");
  Values parts;
  for (int64_t i = 0; i < rank; ++i) {
    const Expr along = AlongAxis(Iota(Int(a, sizes[static_cast<size_t>(i)])).To(t), i, rank);
    parts.push_back(Expand(along, Ints(a, sizes)));
  }
  return Stack(a, parts, 0);
}
Value* Logspace(SymbolArgs& a) {
  const double base = a.Number("base", 10);
  return SpacedNumbers(a, [&](double number) { return portable::pow(base, number); });
}
// Coefficients from the highest power to the lowest.
absl::StatusOr<Value*> Polyval(SymbolArgs& a) {
  const Dim count = DimAt(a.in(0), 0);
  if (!count.is_static() || count.value() < 1 || count.value() > 1024) {
    return Unimplemented("a polynomial of unknown degree");
  }
  Expr y = Expand(Gather(a.in(0), Int(a, 0), 0), ShapeOf(a.in(1)));
  for (int64_t i = 1; i < count.value(); ++i) y = y * a.in(1) + Gather(a.in(0), Int(a, i), 0);
  return y.value();
}
// At least so many axes: NumPy's places for new ones.
template <int kRank>
Values AtLeastNd(SymbolArgs& a) {
  a.Ignore("num_args");
  Values all;
  for (size_t i = 0; i < a.num_inputs(); ++i) {
    Expr x = a.in(i);
    a.Require(x->shape() != nullptr, "an operand of unknown rank");
    const int64_t rank = x->shape()->rank();
    if (rank == 0) {
      x = Unsqueeze(x, CountedFrom(0, kRank));
    } else if (rank < kRank) {
      x = rank == 1 ? (kRank == 2 ? Unsqueeze(x, {0}) : Unsqueeze(x, {0, 2})) : Unsqueeze(x, {2});
    }
    all.push_back(rank >= kRank ? a.Op("identity", {x}) : x);
  }
  return all;
}
// A quarter turn, k times, of two axes.
absl::StatusOr<Value*> Rot90(SymbolArgs& a) {
  const std::vector<int64_t> given = a.Tuple("axes", {0, 1});
  const int64_t k = ((a.Integer("k", 1) % 4) + 4) % 4;
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes(given));
  if (axes.size() != 2 || axes[0] == axes[1]) return Invalid("two axes to turn");
  const Expr x = a.in(0);
  if (k == 0) return SameValue(a);
  if (k == 2) return Flipped(x, axes).value();
  std::vector<int64_t> perm = AllAxes(x);
  std::swap(perm[static_cast<size_t>(axes[0])], perm[static_cast<size_t>(axes[1])]);
  return k == 1 ? Transpose(Flipped(x, {axes[1]}), perm).value()
                : Flipped(Transpose(x, perm), {axes[1]}).value();
}
// Mean by weights.
absl::StatusOr<Values> Average(SymbolArgs& a) {
  const auto axes = a.AxesAttr();
  const bool weighted = a.Flag("weighted", a.num_inputs() > 1);
  a.Flag("returned", false);
  const std::vector<int64_t> along = axes.value_or(std::vector<int64_t>());
  const Expr x = a.in(0);
  if (!weighted) {
    a.Require(!a.wants(1), "the number of elements of a mean without weights");
    return Values{Reduce(x, "reduce_mean", along)};
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  Expr w = a.in(1);
  if (a.rank(1) == 1 && rank > 1) {
    a.Require(along.size() == 1, "weights of several axes");
    w = AlongAxis(w, along[0], rank);
  }
  w = Expand(w, ShapeOf(x));
  const Expr sum = Reduce(w, "reduce_sum", along);
  return Values{Reduce(x * w, "reduce_sum", along) / sum, sum};
}
// Products of vectors of three numbers; of two, the third is 0, and of two such only the third of
// the product counts.
absl::StatusOr<Value*> Cross(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> left, a.Axes({a.Integer("axisa", -1)}, 0));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> right, a.Axes({a.Integer("axisb", -1)}, 1));
  const int64_t to = a.Integer("axisc", -1);
  const Expr x = MoveAxis(a.in(0), left[0], a.rank(0) - 1);
  const Expr y = MoveAxis(a.in(1), right[0], a.rank(1) - 1);
  const Dim m = DimAt(x, -1), n = DimAt(y, -1);
  if ((m != Dim(2) && m != Dim(3)) || (n != Dim(2) && n != Dim(3))) {
    return Unimplemented("vectors that are neither of two nor of three");
  }
  const auto part = [&](const Expr& v, const Dim& size, int64_t i) {
    return Dim(i) == size ? v.Number(0) : Gather(v, Int(a, i), -1);
  };
  const auto product = [&](int64_t i, int64_t j) {
    return part(x, m, i) * part(y, n, j) - part(x, m, j) * part(y, n, i);
  };
  if (m == Dim(2) && n == Dim(2)) return product(0, 1).value();
  const Expr z = Stack(a, {product(1, 2), product(2, 0), product(0, 1)}, -1);
  const int64_t rank = z->shape() ? z->shape()->rank() : 0;
  return MoveAxis(z, rank - 1, a.AxisOf(to, rank)).value();
}

// A power times a number.
Value* PowTimes(SymbolArgs& a) {
  const double exponent = a.Number("exponent", 1), factor = a.Number("multiplier", 1);
  const bool whole = a.Flag("exp_is_int", true) && a.Flag("mul_is_int", true);
  const Expr x = a.in(0);
  a.Require(IsFloating(x.dtype()) || whole, "integers to the power of a float");
  return Scaled(Pow(x, exponent), factor);
}

// --- Subgraphs that a backend made ---------------------------------------------------------------

// The subgraph has the operators that were fused, unchanged.
absl::StatusOr<Values> Fused(SymbolArgs& a) {
  const std::vector<std::shared_ptr<Graph>> graphs = a.SubGraphs("subgraphs");
  if (a.Flag("quantized", false)) return QuantizedSubgraph(a);
  for (const auto& [name, attr] : a.attrs()) a.Ignore(name);
  if (graphs.size() != 1 || graphs[0]->inputs().size() != a.num_inputs()) {
    return Invalid("a subgraph that does not fit");
  }
  Values results = InlineGraph(a.b(), *graphs[0], a.inputs());
  for (Value*& value : results) value = a.Op("identity", {value});
  return results;
}

}  // namespace

X2IR_MXNET(sub).From({"_npi_diff"}, Diff).From({"_npi_cross"}, Cross);
X2IR_MXNET(mul).From({"_npi_kron"}, Kron);
X2IR_MXNET(add).From({"_npi_polyval"}, Polyval);
X2IR_MXNET(reduce_sum).From({"_np_trace", "_npi_trace"}, Trace);
X2IR_MXNET(reduce_mean).From("_npi_average", Average);
X2IR_MXNET(trilu).From("_npi_tri", Tri);
X2IR_MXNET(range).From({{"_npi_indices", NpIndices}, {"_npi_logspace", Logspace}});
X2IR_MXNET(reshape)
    .From({"_np_atleast_1d", "_npi_atleast_1d"}, AtLeastNd<1>)
    .From({"_np_atleast_2d", "_npi_atleast_2d"}, AtLeastNd<2>)
    .From({"_np_atleast_3d", "_npi_atleast_3d"}, AtLeastNd<3>);
X2IR_MXNET(slice).From("_npi_rot90", Rot90);
X2IR_MXNET(identity).From({"_CachedOp", "_FusedOp", "_sg_mkldnn_conv", "_sg_onednn_conv",
                           "_sg_mkldnn_fully_connected", "_sg_onednn_fully_connected",
                           "_sg_mkldnn_batch_norm", "_sg_onednn_batch_norm", "_sg_mkldnn_batch_dot",
                           "_sg_onednn_batch_dot", "_sg_mkldnn_selfatt_qk", "_sg_onednn_selfatt_qk",
                           "_sg_mkldnn_selfatt_valatt", "_sg_onednn_selfatt_valatt"},
                          Fused);
X2IR_MXNET(pow).From("_sg_pow_mul_scalar", PowTimes);

}  // namespace x2ir
