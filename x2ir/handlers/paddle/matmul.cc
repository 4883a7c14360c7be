// Products of matrices, and ops that contain them.

#include "x2ir/handlers/paddle/elementwise.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// Vectors are not transposed.
Expr Product(PaddleArgs& a, Expr x, Expr y, bool transpose_x, bool transpose_y) {
  const DType type = PaddlePromote(x.dtype(), y.dtype());
  if (transpose_x && a.Rank(x) > 1) x = SwapLast(x);
  if (transpose_y && a.Rank(y) > 1) y = SwapLast(y);
  return MatMul(x.To(type), y.To(type));
}

Expr MatMulV2(PaddleArgs& a) {
  const bool tx = a.Bool("trans_x", false), ty = a.Bool("trans_y", false);
  return Product(a, a.X(), a.X("Y"), tx, ty);
}

Expr MatMulV1(PaddleArgs& a) {
  const bool tx = a.Bool("transpose_X", false), ty = a.Bool("transpose_Y", false);
  const double alpha = a.Number("alpha", 1);
  Expr x = a.X(), y = a.X("Y");
  for (const char* none : {"fused_reshape_X", "fused_transpose_X", "fused_reshape_Y",
                           "fused_transpose_Y", "fused_reshape_Out", "fused_transpose_Out"}) {
    a.Require(a.Ints(none).empty(), "moves that are fused into it");
  }
  a.Int("head_number", 1);
  return Scaled(Product(a, x, y, tx, ty), alpha);
}

// Leading axes as one, the others as one, on both sides; the result has all of them again.
Expr Mul(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  const int64_t of_x = a.Int("x_num_col_dims", 1), of_y = a.Int("y_num_col_dims", 1);
  const int64_t rx = a.Rank(x), ry = a.Rank(y);
  if (of_x < 1 || of_x >= rx || of_y < 1 || of_y >= ry) a.Fail(Invalid("matrices of other axes"));
  if (of_y == 1 && ry == 2 && of_x == rx - 1) return MatMul(x, y);
  const auto matrix = [&](const Expr& v, int64_t rank, int64_t lead) {
    return rank == 2 ? v : v.Op("flatten", {}, {{"axis", lead}});
  };
  const Expr z = MatMul(matrix(x, rx, of_x), matrix(y, ry, of_y));
  std::vector<Size> sizes = SizesAt(x, 0, of_x);
  const std::vector<Size> behind = SizesAt(y, of_y, ry);
  sizes.insert(sizes.end(), behind.begin(), behind.end());
  return sizes.size() == 2 ? z : ReshapeTo(z, sizes);
}

Expr AddMm(PaddleArgs& a) {
  const double alpha = a.Number("Alpha", a.Number("alpha", 1));
  const double beta = a.Number("Beta", a.Number("beta", 1));
  const Expr product = Scaled(MatMul(a.X(), a.X("Y")), alpha);
  return Scaled(a.X("Input"), beta) + product;
}

Expr Einsum(PaddleArgs& a) {
  return a.Op("einsum", a.List("Operands"), {{"equation", a.String("equation", "")}});
}

// x_i W_k y_j, for each k, and a bias.
Expr Bilinear(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  const Expr bias = a.Opt("Bias");
  const Expr z = a.Op("einsum", {x, a.X("Weight"), y}, {{"equation", "bi,kij,bj->bk"}});
  return bias.value() ? z + bias : z;
}

Expr MultiDot(PaddleArgs& a) {
  std::vector<Value*> parts = a.List("X");
  a.Require(parts.size() >= 2, "fewer than two matrices");
  Expr product(a.b(), parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) product = MatMul(product, Expr(a.b(), parts[i]));
  return product;
}

auto Torch1(const char* op, const char* slot, const char* name) {
  return [=](PaddleArgs& a) {
    const Expr x = a.X(slot);
    return AsTorch(a, op, {{name, x}}, x.dtype());
  };
}

Expr MatrixPower(PaddleArgs& a) {
  const Expr x = a.X();
  return AsTorch(a, "aten::linalg_matrix_power.default", {{"self", x}, {"n", a.Int("n", 1)}},
                 x.dtype());
}

PaddleResults SlogDet(PaddleArgs& a) {
  const Expr x = a.X("Input");
  const Values both =
      AsTorch(a, "aten::slogdet.default", {{"self", x}}, std::vector<DType>{x.dtype(), x.dtype()});
  return {{"Out", {Stack(a, {both[0], both[1]}, 0)}}};
}

Expr Cholesky(PaddleArgs& a) {
  const Expr x = a.X();
  const bool upper = a.Bool("upper", false);
  return AsTorch(a, "aten::linalg_cholesky.default", {{"self", x}, {"upper", upper}}, x.dtype());
}

Expr Solve(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  return AsTorch(a, "aten::linalg_solve.default", {{"A", x}, {"B", y}}, x.dtype());
}

// Of a matrix that is given by its Cholesky factor.
Expr CholeskySolve(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  return AsTorch(a, "aten::cholesky_solve.default",
                 {{"self", x}, {"input2", y}, {"upper", a.Bool("upper", false)}}, x.dtype());
}

Expr TriangularSolve(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  const bool upper = a.Bool("upper", true), transpose = a.Bool("transpose", false),
             unit = a.Bool("unitriangular", false);
  const Expr matrix = transpose ? SwapLast(x) : x;
  return AsTorch(
      a, "aten::linalg_solve_triangular.default",
      {{"self", matrix}, {"B", y}, {"upper", upper != transpose}, {"unitriangular", unit}},
      x.dtype());
}

PaddleResults QrLike(PaddleArgs& a) {
  const Expr x = a.X();
  const Values both = AsTorch(a, "aten::linalg_qr.default",
                              {{"A", x}, {"mode", a.String("mode", "reduced").c_str()}},
                              std::vector<DType>{a.Wants("Q") ? x.dtype() : DType::kUndefined,
                                                 a.Wants("R") ? x.dtype() : DType::kUndefined});
  return {{"Q", {both[0]}}, {"R", {both[1]}}};
}

PaddleResults EigH(PaddleArgs& a) {
  const Expr x = a.X();
  const std::string triangle = a.String(a.HasAttr("UPLO") ? "UPLO" : "uplo", "L");
  const Values both = AsTorch(
      a, "aten::linalg_eigh.default", {{"self", x}, {"UPLO", triangle.c_str()}},
      std::vector<DType>{x.dtype(), a.Wants("Eigenvectors") ? x.dtype() : DType::kUndefined});
  return {{"Eigenvalues", {both[0]}}, {"Eigenvectors", {both[1]}}};
}

PaddleResults Svd(PaddleArgs& a) {
  const Expr x = a.X();
  const bool full = a.Bool("full_matrices", false);
  const Values all =
      AsTorch(a, "aten::linalg_svd.default", {{"A", x}, {"full_matrices", full}},
              std::vector<DType>{a.Wants("U") ? x.dtype() : DType::kUndefined, x.dtype(),
                                 a.Wants("VH") ? x.dtype() : DType::kUndefined});
  return {{"U", {all[0]}}, {"S", {all[1]}}, {"VH", {all[2]}}};
}

}  // namespace

X2IR_PADDLE(matmul)
    .From({{"matmul_v2", MatMulV2}, {"matmul", MatMulV1}, {"mul", Mul}})
    .From("bmm", [](PaddleArgs& a) { return MatMul(a.X(), a.X("Y")); })
    .From("mv", [](PaddleArgs& a) { return MatMul(a.X(), a.X("Vec")); })
    .From({"addmm", "baddbmm"}, AddMm)
    .From({{"multi_dot", MultiDot}, {"matrix_power", MatrixPower}});
X2IR_PADDLE(einsum).From({{"einsum", Einsum}, {"bilinear_tensor_product", Bilinear}});
X2IR_PADDLE(det).From({{"determinant", Torch1("aten::linalg_det.default", "Input", "A")},
                       {"slogdeterminant", SlogDet}});
X2IR_PADDLE(solve).From({{"inverse", Torch1("aten::inverse.default", "Input", "self")},
                         {"solve", Solve},
                         {"cholesky_solve", CholeskySolve}});
X2IR_PADDLE(cholesky).From("cholesky", Cholesky);
X2IR_PADDLE(triangular_solve).From("triangular_solve", TriangularSolve);
X2IR_PADDLE(qr).From("qr", QrLike);
X2IR_PADDLE(eigh).From({"eigh", "eigvalsh"}, EigH);
X2IR_PADDLE(svd).From("svd", Svd);

}  // namespace x2ir
