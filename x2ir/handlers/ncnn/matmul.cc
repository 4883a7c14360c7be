// ncnn: products and decompositions of matrices.

#include "x2ir/builder/layers/dense.h"
#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/ncnn/windows_internal.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// Rows of a blob of two axes, or all of a blob.
absl::StatusOr<Value*> InnerProduct(NcnnArgs& a) {
  const int64_t out = a.Int(0, 0);
  const bool bias = a.Flag(1, false), quantized = a.Flag(8, false);
  a.Drop({2});
  if (out < 1) return Invalid(out, " results");
  const Expr weights = Reshape(a.weights(0), {out, -1});
  Expr x = a.in(0);
  const Dim inner = DimAt(weights, 1), last = DimAt(x, a.RankOf() - 1);
  const bool rows = a.RankOf() == 3 && inner == last;
  if (!rows) x = FlattenedRows(x);
  Expr y = nullptr;
  Value* const shift = bias ? a.weights(1).value() : nullptr;
  if (quantized) {
    const size_t at = bias ? 2 : 1;
    y = Dense(Integers(x, a.weights(at + 1)), weights, nullptr) /
        (a.weights(at) * a.weights(at + 1));
    if (shift) y = y + Expr(a, shift);
  } else {
    y = Dense(x, weights, shift);
  }
  X2IR_ASSIGN_OR_RETURN(y, NcnnActivated(a, y));
  return y.value();
}

// The equation is a list of letters' numbers; IR's has the batch of 1 in front.
absl::StatusOr<Value*> Einsum(NcnnArgs& a) {
  std::string equation;
  for (const int64_t letter : a.Ints(0)) {
    const bool known =
        (letter >= 'i' && letter <= 'l') || letter == ',' || letter == '-' || letter == '>';
    if (!known) return Invalid("letter ", letter, " of an equation");
    equation.push_back(static_cast<char>(letter));
  }
  std::string with_batch = "b";
  for (const char c : equation) {
    with_batch.push_back(c);
    if (c == ',' || c == '>') with_batch.push_back('b');
  }
  return a.Op("einsum", a.inputs(), {{"equation", with_batch}}).value();
}

absl::StatusOr<Value*> MatMulLayer(NcnnArgs& a) {
  const bool transposed = a.Flag(0, false);
  const Expr x = a.in(0), y = a.in(1);
  const int64_t of_x = a.RankOf(0), of_y = a.RankOf(1);
  if (of_x < 3 || of_y < 3) return Unimplemented("a product of lists");
  Expr left = x, right = transposed ? SwapLast(y) : y;
  while (left->shape()->rank() < right->shape()->rank()) left = Unsqueeze(left, {1});
  while (right->shape()->rank() < left->shape()->rank()) right = Unsqueeze(right, {1});
  return MatMul(left, right).value();
}

absl::StatusOr<Value*> GemmLayer(NcnnArgs& a) {
  const double alpha = a.Float(0, 1), beta = a.Float(1, 1);
  const bool turn_a = a.Flag(2, false), turn_b = a.Flag(3, false);
  const bool has_a = a.Flag(4, false), has_b = a.Flag(5, false), has_c = a.Flag(6, false);
  const int64_t m = a.Int(7, 0), n = a.Int(8, 0), k = a.Int(9, 0), kind = a.Int(10, 0);
  a.Drop({12, 13, 20, 21, 22});
  const bool whole = a.Flag(11, false), turned = a.Flag(14, false);
  const int64_t bits = a.Int(18, 0);
  const bool quantized = bits != 0;
  a.Require(bits < 400, "weights in blocks of few bits");
  size_t bottom = 0, weight = 0;
  // A matrix [1, rows, columns]; of three axes the middle one is 1.
  const auto next = [&](bool constant, std::vector<int64_t> dims) {
    if (constant) return Reshape(a.weights(weight++), dims);
    const Expr x = a.in(bottom++);
    if (x.rank() == 2) return Unsqueeze(x, {1});
    return x.rank() == 4 ? ReshapeTo(x, {SizeAt(x, 0), SizeAt(x, 1), SizeAt(x, 3)}) : x;
  };
  Expr x = next(has_a, turn_a ? std::vector<int64_t>{1, k, m} : std::vector<int64_t>{1, m, k});
  Expr y = next(has_b, turn_b ? std::vector<int64_t>{1, n, k} : std::vector<int64_t>{1, k, n});
  if (turn_a) x = SwapLast(x);
  if (turn_b) y = SwapLast(y);
  const bool has_list = has_c && kind != -1;
  Expr scale = nullptr;
  if (quantized) {
    // Weights are integers with their scales: of each row of the first, of all of the second.
    size_t at = weight + (has_list ? 1 : 0);
    const NcnnSteps rows =
        has_a ? NcnnSteps{x, Reshape(a.weights(at++), {1, -1, 1})} : NcnnQuantizedOver(x, {2});
    const NcnnSteps other = has_b ? NcnnSteps{y, a.weights(at++)} : NcnnQuantizedOver(y, {1, 2});
    scale = rows.scale * other.scale;
    x = rows.steps;
    y = other.steps;
  }
  Expr z = MatMul(x, y);
  if (quantized) z = z / scale;
  if (has_list) {
    static constexpr int64_t kRows[] = {1, 0, 0, 0, 1};
    const Expr c = a.weights(weight++);
    if (kind < 0 || kind > 4) return Unimplemented("a sum of kind ", kind);
    const int64_t rows = kRows[kind] == 1 ? 1 : m, columns = kind >= 3 ? n : 1;
    z = z + Scaled(Reshape(c, {1, rows, columns}), beta);
  } else if (!has_c && bottom < a.num_bottoms()) {
    Expr c = a.in(bottom++);
    if (c.rank() == 2) {
      // A list is of the columns, where it has as many numbers, else of the rows.
      const Dim count = DimAt(c, 1), columns = DimAt(z, 2);
      a.Require(count.is_static() && columns.is_static(), "a sum with a list of unknown size");
      c = Unsqueeze(c, {count == columns || count == Dim(1) ? 1 : 2});
    }
    a.Require(c.rank() == 3, "a sum with what is no matrix");
    z = z + Scaled(c, beta);
  }
  z = Scaled(z, alpha);
  if (turned) z = SwapLast(z);
  return (whole ? Unsqueeze(z, {2}) : z).value();
}

}  // namespace

X2IR_NCNN(gemm).From("InnerProduct", InnerProduct);
X2IR_NCNN(einsum).From("Einsum", Einsum);
X2IR_NCNN(matmul).From({{"MatMul", MatMulLayer}, {"Gemm", GemmLayer}});

}  // namespace x2ir
