// Layers of networks that multiply matrices.
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
  // The weights are stored column by column; the flags do not apply to them.
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

}  // namespace

X2IR_NN(matmul).From({{"innerProduct", InnerProduct},
                      {"batchedMatmul", BatchedMatmul},
                      {"dot", Dot}});

}  // namespace x2ir
