// Layers of networks that multiply matrices or look rows up, and their reductions.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/nn.h"

namespace x2ir {
namespace {

// The last axes of x as one, from `first` on, which rank 4 and 5 have three of.
Expr InnerProduct(NnArgs& a) {
  const int64_t in = a.Int("inputChannels"), out = a.Int("outputChannels");
  const bool biased = a.Flag("hasBias");
  a.Require(!a.Flag("int8DynamicQuantize"), "products of quantized operands");
  const Expr x = a.X();
  const int64_t rank = x.rank();
  const Expr weights = a.NeedWeights("weights", {out, in});
  const Expr bias = biased ? a.NeedWeights("bias", {out}) : Expr(nullptr);
  const auto product = [&](const Expr& rows) { return Dense(rows, weights, bias); };
  a.Require(rank >= 1 && rank <= 5, StrCat("rank ", rank));
  if (rank == 1) return Squeeze(product(Unsqueeze(x, {0})), {0});
  if (rank <= 3) return product(x);
  const Expr y = product(x.Op("flatten", {}, {{"axis", rank - 3}}));
  std::vector<Size> sizes = SizesAt(x, 0, rank - 3);
  for (const int64_t size : {out, int64_t{1}, int64_t{1}}) sizes.emplace_back(size);
  return ReshapeTo(y, sizes);
}

// Rows of a table whose columns the weights are.
Expr Looked(NnArgs& a, int64_t count, int64_t size, const Expr& places) {
  const bool biased = a.Flag("hasBias");
  const Expr table = SwapLast(a.NeedWeights("weights", {size, count}));
  const Expr y = Gather(table, places.To(DType::kInt64), 0);
  return biased ? y + a.NeedWeights("bias", {size}) : y;
}
Expr Embedding(NnArgs& a) {
  const int64_t count = a.Int("inputDim"), size = a.Int("outputChannels");
  const Expr x = a.X();
  const int64_t rank = x.rank();
  a.Require(rank == 4 || rank == 5, StrCat("rank ", rank));
  const Expr places = Squeeze(x, {rank - 3, rank - 2, rank - 1});
  return Unsqueeze(Looked(a, count, size, places), {-2, -1});
}
Expr EmbeddingNd(NnArgs& a) {
  const int64_t count = a.Int("vocabSize"), size = a.Int("embeddingSize");
  return Looked(a, count, size, Squeeze(a.X(), {-1}));
}

Expr BatchedMatmul(NnArgs& a) {
  const bool ta = a.Flag("transposeA"), tb = a.Flag("transposeB"), biased = a.Flag("hasBias");
  const int64_t rows = a.Int("weightMatrixFirstDimension"),
                columns = a.Int("weightMatrixSecondDimension");
  a.Require(!a.Flag("int8DynamicQuantize"), "products of quantized operands");
  if (a.count() > 1) {
    // A vector is a row on the left and a column on the right, and the result has both axes.
    const auto matrix = [&](size_t i, int64_t axis) {
      return a.X(i).rank() == 1 ? Unsqueeze(a.X(i), {axis}) : a.X(i);
    };
    const Expr x = matrix(0, 0), y = matrix(1, 1);
    return MatMul(ta ? SwapLast(x) : x, tb ? SwapLast(y) : y);
  }
  // The weights lie column by column; neither flag is of them.
  const Expr y = MatMul(a.X(), SwapLast(a.NeedWeights("weights", {columns, rows})));
  return biased ? y + a.NeedWeights("bias", {columns}) : y;
}

// Of channels, whose images are of one element.
Expr Dot(NnArgs& a) {
  const Expr x = a.X(0), y = a.X(1);
  for (const Expr& each : {x, y}) {
    const auto known = KnownSizes(each, each.rank() - 2, each.rank());
    a.Require(known && (*known)[0] == 1 && (*known)[1] == 1, "products of images");
  }
  const Expr product = Sum(x * y, -3, true);
  if (!a.Flag("cosineSimilarity")) return product;
  return product / Sqrt(Sum(Square(x), -3, true) * Sum(Square(y), -3, true));
}

// --- Reductions
// -----------------------------------------------------------------------------------

Expr ReducedImage(NnArgs& a) {
  const std::string mode = a.Enum("mode", "SUM"), axis = a.Enum("axis", "CHW");
  const double epsilon = a.Number("epsilon", 1e-6);
  const Expr x = a.X();
  std::vector<int64_t> axes = {-3, -2, -1};
  if (axis == "HW") axes = {-2, -1};
  if (axis == "C") axes = {-3};
  if (axis == "H") axes = {-2};
  if (axis == "W") axes = {-1};
  a.Require(axes.size() != 3 || axis == "CHW", StrCat("axis ", axis));
  if (mode == "LOGSUM") return Reduce(Log(x + epsilon), "reduce_sum", axes, true);
  if (mode == "ARGMAX") {
    a.Require(axes.size() == 1, "the place of the greatest of several axes");
    return AsNumber(x.Op("arg_max", {}, {{"axis", axes[0]}, {"keepdims", 1}}));
  }
  static constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"SUM", "reduce_sum"},
      {"AVG", "reduce_mean"},
      {"PROD", "reduce_prod"},
      {"L1", "reduce_l1"},
      {"SUMSQUARE", "reduce_sum_square"},
      {"L2", "reduce_l2"},
      {"MAX", "reduce_max"},
      {"MIN", "reduce_min"}};
  for (const auto& [core, ours] : kModes) {
    if (core == mode) return Reduce(x, ours, axes, true);
  }
  a.Require(false, StrCat("mode ", mode));
  return x;
}

auto Reduced(Symbol op) {
  return [op](NnArgs& a) {
    std::vector<int64_t> axes = a.List("axes");
    const bool keep = a.Flag("keepDims"), all = a.Flag("reduceAll");
    a.Require(all || !axes.empty(), "a reduction of no axes");
    const Expr x = a.X();
    if (all) axes = AllAxes(x);
    return AtLeastOneAxis(Reduce(x, op, axes, keep));
  };
}

auto PlaceOf(Symbol op) {
  return [op](NnArgs& a) {
    const Expr x = a.X();
    const int64_t axis = a.Int("axis"), keep = a.Flag("removeDim") && x.rank() > 1 ? 0 : 1;
    return AsNumber(x.Op(op, {}, {{"axis", axis}, {"keepdims", keep}}));
  };
}

absl::StatusOr<Values> TopK(NnArgs& a) {
  const int64_t axis = a.Int("axis");
  int64_t k = a.Int("K");
  const bool least = a.Flag("useBottomK");
  if (a.count() > 1) {
    X2IR_ASSIGN_OR_RETURN(const auto given, a.Known(1, "k"));
    a.Require(given.size() == 1, "several numbers");
    k = given[0];
  }
  a.Require(k > 0, StrCat("the first ", k));
  const Values both =
      a.b().Ops("top_k", {a.X(), a.b().Ints({k})},
                {{"axis", axis}, {"largest", least ? 0 : 1}, {"sorted", 1}}, {true, a.wants(1)});
  return Values{both[0], both[1] ? a.Cast(both[1], DType::kFloat32).value() : nullptr};
}

Expr ArgSort(NnArgs& a) {
  const int64_t axis = a.Int("axis");
  return AsNumber(Sort(a.X(), axis, a.Flag("descending")).indices);
}

absl::StatusOr<Value*> CumulativeSum(NnArgs& a) {
  int64_t axis = a.Int("axis");
  const bool exclusive = a.Flag("excludeFinalSum"), reverse = a.Flag("reverse");
  if (a.count() > 1) {
    X2IR_ASSIGN_OR_RETURN(const auto given, a.Known(1, "axis"));
    a.Require(given.size() == 1, "several axes");
    axis = given[0];
  }
  return a.X()
      .Op("cum_sum", {a.b().Int(axis)},
          {{"exclusive", exclusive ? 1 : 0}, {"reverse", reverse ? 1 : 0}})
      .value();
}

}  // namespace

X2IR_NN(matmul)
    .From("innerProduct", InnerProduct)
    .From("batchedMatmul", BatchedMatmul)
    .From("dot", Dot);
X2IR_NN(gather).From("embedding", Embedding).From("embeddingND", EmbeddingNd);
X2IR_NN(reduce_l1).From("reduceL1", Reduced("reduce_l1"));
X2IR_NN(reduce_l2).From("reduceL2", Reduced("reduce_l2"));
X2IR_NN(reduce_max).From("reduceMax", Reduced("reduce_max"));
X2IR_NN(reduce_min).From("reduceMin", Reduced("reduce_min"));
X2IR_NN(reduce_sum).From("reduceSum", Reduced("reduce_sum")).From("reduce", ReducedImage);
X2IR_NN(reduce_prod).From("reduceProd", Reduced("reduce_prod"));
X2IR_NN(reduce_mean).From("reduceMean", Reduced("reduce_mean"));
X2IR_NN(reduce_log_sum).From("reduceLogSum", Reduced("reduce_log_sum"));
X2IR_NN(reduce_log_sum_exp).From("reduceLogSumExp", Reduced("reduce_log_sum_exp"));
X2IR_NN(reduce_sum_square).From("reduceSumSquare", Reduced("reduce_sum_square"));
X2IR_NN(arg_max).From("argMax", PlaceOf("arg_max"));
X2IR_NN(arg_min).From("argMin", PlaceOf("arg_min"));
X2IR_NN(top_k).From("topK", TopK).From("argSort", ArgSort);
X2IR_NN(cum_sum).From("cumSum", CumulativeSum);

}  // namespace x2ir
