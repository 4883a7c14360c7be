// Products of vectors and matrices, and what is made of them: addmm and its like, einsum,
// distances, covariances.
#include <algorithm>
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/special.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/handlers/torch/views.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Vectors are rows on the left and columns on the right, as in ONNX.
TorchHandler Product(std::string_view a, std::string_view b) {
  return [a = std::string(a), b = std::string(b)](TorchCall& c) -> Values {
    const DType t = c.out_dtype();
    return {MatMul(c.Operand(a, t), c.Operand(b, t)).value()};
  };
}

// a b^T of vectors, which are flattened.
Expr OuterOf(const Expr& a, const Expr& b) {
  const Expr x = Unsqueeze(a, {-1});
  const Expr y = Unsqueeze(b, {0});
  return a.dtype() == DType::kBool ? x & y : x * y;
}

Values Outer(TorchCall& c) {
  const DType t = c.out_dtype();
  return {OuterOf(c.Operand("self", t), c.Operand("vec2", t)).value()};
}

// beta self + alpha product; self is not looked at where beta is 0.
Values WithSelf(TorchCall& c, const Expr& product) {
  Builder& b = product.builder();
  const DType t = c.out_dtype();
  const TorchNumber beta = c.Number("beta", 1), alpha = c.Number("alpha", 1);
  Expr y = product;
  if (t == DType::kBool) {
    if (alpha.real() == 0) y = y & Not(y);
    if (beta.real() == 0) {
      c.Ignore({"self"});
      return {y.value()};
    }
    return {(c.Operand("self", t) | y).value()};
  }
  if (alpha.c != 1.0) y = y * Expr(b, c.Constant(t, alpha));
  if (beta.c == 0.0) {
    c.Ignore({"self"});
    return {y.value()};
  }
  Expr self = c.Operand("self", t);
  if (beta.c != 1.0) self = self * Expr(b, c.Constant(t, beta));
  return {(y + self).value()};
}

TorchHandler AddProduct(std::string_view a, std::string_view b) {
  return [a = std::string(a), b = std::string(b)](TorchCall& c) -> Values {
    const DType t = c.out_dtype();
    return WithSelf(c, MatMul(c.Operand(a, t), c.Operand(b, t)));
  };
}

Values AddBmm(TorchCall& c) {
  const DType t = c.out_dtype();
  const Expr all = MatMul(c.Operand("batch1", t), c.Operand("batch2", t));
  return WithSelf(c, Sum(all.To(WideType(t)), 0).To(t));
}

// A scale of all elements, or of each row of the first or column of the second matrix. Others are
// of blocks, which the operands' sizes alone tell from these.
bool IsPlainScale(const Value* scale, int64_t along) {
  const auto dims = scale->shape() ? scale->shape()->Static() : std::nullopt;
  if (!dims) return scale->shape() && scale->shape()->rank() == 0;
  const auto count = CheckedProduct(*dims);
  return (count && *count == 1) ||
         (dims->size() == 2 && (*dims)[static_cast<size_t>(1 - along)] == 1);
}

// Of float8, as PyTorch's own CPU computes it: in float32.
Values ScaledMm(TorchCall& c) {
  const DType t = c.out_dtype();
  const Expr scale_a = c.Tensor("scale_a"), scale_b = c.Tensor("scale_b");
  c.Ignore({"out_dtype", "use_fast_accum"});
  if (!IsPlainScale(scale_a, 0) || !IsPlainScale(scale_b, 1)) {
    return c.Fail(Unimplemented("scales of blocks"));
  }
  const Expr a = c.Tensor("self").To(DType::kFloat32), b = c.Tensor("mat2").To(DType::kFloat32);
  Expr y = MatMul(a * scale_a, b * scale_b);
  if (Value* bias = c.OptTensor("bias")) y = y + Expr(c, bias).To(DType::kFloat32);
  if (c.Has("scale_result")) {
    return c.Fail(
        Unimplemented("scale_result, by which one device multiplies and another divides"));
  }
  return {y.To(t)};
}

Values Addr(TorchCall& c) {
  const DType t = c.out_dtype();
  return WithSelf(c, OuterOf(c.Operand("vec1", t), c.Operand("vec2", t)));
}

Expr Einsum(const std::string& equation, std::vector<Expr> operands) {
  const Expr first = operands[0];
  const DType t = first.dtype(), wide = WideType(t);
  for (Expr& x : operands) x = x.To(wide);
  const Expr head = operands[0];
  operands.erase(operands.begin());
  return head
      .Op("einsum", std::vector<Value*>(operands.begin(), operands.end()), {{"equation", equation}})
      .To(t);
}

Values EinsumOf(TorchCall& c) {
  const DType t = c.out_dtype();
  const std::string equation = c.String("equation");
  c.Ignore({"path"});
  std::vector<Expr> operands;
  for (Value* x : c.Tensors("tensors")) operands.push_back(c.Cast(x, t));
  if (operands.empty()) return c.Fail(Invalid("einsum of nothing"));
  return {Einsum(equation, operands).value()};
}

// The sum over pairs of axes.
Values Contracted(TorchCall& c, Expr a, Expr b, const std::vector<int64_t>& axes_a,
                  const std::vector<int64_t>& axes_b) {
  const int64_t rank_a = a.rank(), rank_b = b.rank();
  if (axes_a.size() != axes_b.size()) return c.Fail(Invalid("axes that are no pairs"));
  if (rank_a + rank_b > 52) return c.Fail(Unimplemented("of more than 52 axes"));
  const auto letter = [](int64_t i) {
    return static_cast<char>(i < 26 ? 'a' + i : 'A' + (i - 26));
  };
  std::string left, right;
  for (int64_t i = 0; i < rank_a; ++i) left += letter(i);
  for (int64_t i = 0; i < rank_b; ++i) right += letter(rank_a + i);
  std::string result = left + right;
  for (size_t i = 0; i < axes_a.size(); ++i) {
    const size_t p = static_cast<size_t>(c.NormalAxis(axes_a[i], rank_a));
    const size_t q = static_cast<size_t>(c.NormalAxis(axes_b[i], rank_b));
    if (p >= left.size() || q >= right.size()) return c.Fail(Invalid("axes of numbers"));
    for (const char gone : {left[p], right[q]}) result.erase(result.find(gone), 1);
    right[q] = left[p];
    // An axis of size 1 is broadcast to the size of the other.
    const auto one = [](const Expr& x, size_t axis) {
      return DimAt(x, static_cast<int64_t>(axis)) == Dim(1);
    };
    const bool one_a = one(a, p), one_b = one(b, q);
    if (one_a && !one_b) b = Sum(b, static_cast<int64_t>(q), true);
    if (one_b && !one_a) a = Sum(a, static_cast<int64_t>(p), true);
  }
  return {Einsum(left + "," + right + "->" + result, {a, b}).value()};
}

Values Tensordot(TorchCall& c) {
  const DType t = c.out_dtype();
  return Contracted(c, c.Operand("self", t), c.Operand("other", t), c.Ints("dims_self"),
                    c.Ints("dims_other"));
}

Values Inner(TorchCall& c) {
  const DType t = c.out_dtype();
  const Expr a = c.Operand("self", t), b = c.Operand("other", t);
  if (a.rank() == 0 || b.rank() == 0) return {(a * b).value()};
  if (b.rank() <= 2) return {MatMul(a, b.rank() == 2 ? SwapLast(b) : b).value()};
  return Contracted(c, a, b, {-1}, {-1});
}

Values Kron(TorchCall& c) {
  const DType t = c.out_dtype();
  Expr a = c.Operand("self", t), b = c.Operand("other", t);
  // Counted beforehand: after an error no rank grows.
  const int64_t rank_a = a.rank(), rank_b = b.rank(), rank = std::max(rank_a, rank_b);
  for (int64_t i = rank_a; i < rank; ++i) a = Unsqueeze(a, {0});
  for (int64_t i = rank_b; i < rank; ++i) b = Unsqueeze(b, {0});
  if (rank == 0) return {(t == DType::kBool ? a & b : a * b).value()};
  const Expr sizes = ShapeOf(a) * ShapeOf(b);
  for (int64_t i = 0; i < rank; ++i) {
    a = Unsqueeze(a, {2 * i + 1});
    b = Unsqueeze(b, {2 * i});
  }
  const Expr product = t == DType::kBool ? a & b : a * b;
  return {product.Op("reshape", {sizes}, {{"allowzero", 1}}).value()};
}

TorchHandler Chain(std::string_view list) {
  return [list = std::string(list)](TorchCall& c) -> Values {
    const DType t = c.out_dtype();
    const std::vector<Value*> factors = c.Tensors(list);
    if (factors.empty()) return c.Fail(Invalid("a product of nothing"));
    Expr y = c.Cast(factors[0], t);
    for (size_t i = 1; i < factors.size(); ++i) y = MatMul(y, c.Cast(factors[i], t));
    return {y.Op("identity").value()};
  };
}

Values VecDot(TorchCall& c) {
  const DType t = c.out_dtype();
  const Expr product = ConjOf(c.Operand("x", t)) * c.Operand("y", t);
  const int64_t axis = c.Axis("dim", product.value(), -1);
  return {Sum(product.To(WideType(t)), axis).To(t).value()};
}

Values Cross(TorchCall& c) {
  const DType t = c.out_dtype();
  const Expr a = c.Operand("self", t), b = c.Operand("other", t);
  const int64_t rank = a.rank();
  if (rank == 0 || b.rank() != rank) return c.Fail(Invalid("cross of ranks that differ"));
  const std::optional<int64_t> given = c.OptInt("dim");
  int64_t axis = given.value_or(-1);
  if (!given && c.node().op() == Symbol("aten::cross.default")) {
    axis = 0;  // the first axis of three elements
    while (axis < rank - 1 && DimAt(a, axis) != Dim(3)) ++axis;
  }
  axis = c.NormalAxis(axis, rank);
  const Expr next = Ints(c, {1, 2, 0}), last = Ints(c, {2, 0, 1});
  return {Gather(a, next, axis) * Gather(b, last, axis) -
          Gather(a, last, axis) * Gather(b, next, axis)};
}

// Rows are variables, columns are observations, which may be weighted.
Expr Covariance(TorchCall& c, const Expr& rows, DType t, int64_t correction, Value* fweights,
                Value* aweights) {
  Builder& b = rows.builder();
  Expr x = rows.To(t);
  const DType real = IsComplex(t) ? PartType(t) : t;
  const Expr count = SizeOf(x, 1).To(real);
  std::optional<Expr> w;
  if (fweights) w = Expr(b, c.Cast(fweights, real));
  if (aweights) w = w ? *w * Expr(b, c.Cast(aweights, real)) : Expr(b, c.Cast(aweights, real));
  const Expr total = w ? SumAll(*w) : count;
  const Expr mean = Sum(w ? x * w->To(t) : x, 1, true) / total.To(t);
  const double ddof = static_cast<double>(correction);
  Expr degrees = total - ddof;
  if (aweights && correction != 0) {
    degrees = total - ddof * SumAll(*w * Expr(b, c.Cast(aweights, real))) / total;
  }
  degrees = Where(degrees < 0, 0, degrees);
  x = x - mean;
  return MatMul(w ? x * w->To(t) : x, SwapLast(ConjOf(x))) / degrees.To(t);
}

Expr Rows(const Expr& x) {
  Expr rows = x;
  for (int64_t i = x.rank(); i < 2; ++i) rows = Unsqueeze(rows, {0});
  return rows;
}

bool OneVariable(const Expr& x) { return x.rank() < 2 || DimAt(x, 0) == Dim(1); }
Expr WithoutMatrix(const Expr& y) { return Squeeze(Squeeze(y, {0}), {0}); }

Values Cov(TorchCall& c) {
  const DType t = c.out_dtype();
  const Expr x = c.Tensor("self");
  if (x.rank() > 2) return c.Fail(Unimplemented("cov of such a tensor"));
  const int64_t correction = c.Int("correction", 1);
  Value* fweights = c.OptTensor("fweights");
  const Expr y = Covariance(c, Rows(x), t, correction, fweights, c.OptTensor("aweights"));
  return {OneVariable(x) ? WithoutMatrix(y).value() : y.value()};
}

Values Corrcoef(TorchCall& c) {
  const DType t = c.out_dtype();
  const Expr x = c.Tensor("self");
  if (x.rank() > 2) return c.Fail(Unimplemented("of such a tensor"));
  const Expr y = Covariance(c, Rows(x), t, 1, nullptr, nullptr);
  if (OneVariable(x)) return {WithoutMatrix(y / y).value()};
  const Expr places = Iota(SizeOf(y, 0));
  const Expr diagonal = Squeeze(GatherElements(y, Unsqueeze(places, {-1}), 1), {1});
  const auto clipped = [](const Expr& r) { return Where(r > 1, 1, Where(r < -1, -1, r)); };
  if (IsComplex(t)) {
    const Expr deviation = Sqrt(PartsOf(diagonal).re);
    const Complex r = PartsOf(y);
    const auto scaled = [&](const Expr& part) {
      return clipped(part / Unsqueeze(deviation, {-1}) / Unsqueeze(deviation, {0}));
    };
    return {ComplexOf({scaled(r.re), scaled(r.im)})};
  }
  const Expr deviation = Sqrt(diagonal);
  const Expr r = y / Unsqueeze(deviation, {-1}) / Unsqueeze(deviation, {0});
  return {clipped(r)};
}

// input @ weight^T + bias. A weight that is a constant is transposed when constants are folded.
Values Linear(TorchCall& c) {
  const DType t = c.out_dtype();
  Value* x = c.Operand("input", t);
  Value* weight = c.Operand("weight", t);
  if (c.Rank(weight) == 2) weight = Transpose({c, weight}, {1, 0});
  Value* y = c.Op("matmul", {x, weight});
  if (Value* bias = c.OptTensor("bias")) y = c.Op("add", {y, c.Cast(bias, t)});
  return {y};
}

// sum(i1 * i2 * i3) over axes, after each got the axes of size 1 that are listed for it: what
// bilinear layers become. As einsum, which needs no product of all three at once.
Values Trilinear(TorchCall& c) {
  const DType t = c.out_dtype();
  c.Ignore({"unroll_dim"});
  struct Factor {
    std::string_view tensor, added;
  };
  constexpr Factor kFactors[] = {{"i1", "expand1"}, {"i2", "expand2"}, {"i3", "expand3"}};
  std::vector<Expr> operands;
  std::string equation, result;
  int64_t rank = -1;
  std::vector<bool> found;
  for (const auto& [tensor, added] : kFactors) {
    const Expr x = c.Operand(tensor, t);
    const std::vector<int64_t> axes = c.Ints(added);
    const int64_t total = x.rank() + static_cast<int64_t>(axes.size());
    if ((rank >= 0 && total != rank) || total > 26) return c.Fail(Invalid("ranks that differ"));
    rank = total;
    found.resize(static_cast<size_t>(rank));
    std::vector<bool> is_added(static_cast<size_t>(rank));
    for (const int64_t axis : axes) {
      is_added[static_cast<size_t>(c.NormalAxis(axis, rank))] = true;
    }
    if (!operands.empty()) equation += ',';
    std::vector<int64_t> gone;  // its own axes of size 1, which are as those that were added
    int64_t own = 0;
    for (size_t i = 0; i < is_added.size(); ++i) {
      if (is_added[i]) continue;
      const int64_t axis = own++;
      if (KnownSizes(x, axis, axis + 1) == std::vector<int64_t>{1}) {
        gone.push_back(axis);
        continue;
      }
      equation += static_cast<char>('a' + i);
      found[i] = true;
    }
    operands.push_back(Squeeze(x, gone));
  }
  std::vector<bool> summed(static_cast<size_t>(rank));
  for (const int64_t axis : c.Ints("sumdim")) {
    summed[static_cast<size_t>(c.NormalAxis(axis, rank))] = true;
  }
  std::vector<int64_t> ones;  // axes that no factor has
  for (size_t i = 0; i < summed.size(); ++i) {
    if (summed[i]) continue;
    if (found[i]) {
      result += static_cast<char>('a' + i);
    } else {
      ones.push_back(static_cast<int64_t>(result.size() + ones.size()));
    }
  }
  return {Unsqueeze(Einsum(StrCat(equation, "->", result), std::move(operands)), ones)};
}

X2IR_TORCH(einsum)
    .From("aten::_trilinear.default", Trilinear)
    .From("aten::einsum.default", EinsumOf)
    .From("aten::tensordot.default", Tensordot)
    .From("aten::inner.default", Inner);
X2IR_TORCH(matmul)
    .From("aten::linear.default", Linear)
    .From({"aten::matmul.default", "aten::linalg_matmul.default"}, Product("self", "other"))
    .From({"aten::mm.default", "aten::bmm.default"}, Product("self", "mat2"))
    .From("aten::mv.default", Product("self", "vec"))
    .From("aten::dot.default", Product("self", "tensor"))
    .From("aten::vdot.default",
          [](TorchCall& c) -> Values {
            const DType t = c.out_dtype();
            return {MatMul(ConjOf(c.Operand("self", t)), c.Operand("other", t))};
          })
    .From("aten::addmm.default", AddProduct("mat1", "mat2"))
    .From("aten::addmv.default", AddProduct("mat", "vec"))
    .From("aten::baddbmm.default", AddProduct("batch1", "batch2"))
    .From("aten::addbmm.default", AddBmm)
    .From("aten::_scaled_mm.default", ScaledMm)
    .From("aten::linalg_multi_dot.default", Chain("tensors"))
    .From("aten::chain_matmul.default", Chain("matrices"))
    .From({"aten::cov.default"}, Cov)
    .From({"aten::corrcoef.default"}, Corrcoef);
X2IR_TORCH(mul)
    .From({"aten::outer.default", "aten::ger.default"}, Outer)
    .From("aten::addr.default", Addr)
    .From("aten::kron.default", Kron)
    .From("aten::linalg_vecdot.default", VecDot)
    .From({"aten::cross.default", "aten::linalg_cross.default"}, Cross);

constexpr int64_t kMaxGroups = 4096;

// How many matrices there are.
int64_t GroupsOf(TorchCall& c, const Expr& matrices) {
  const auto sizes = KnownSizes(matrices, 0, 1);
  if (!sizes) c.Fail(Unimplemented("a number of groups that is not known"));
  if ((*sizes)[0] > kMaxGroups) c.Fail(Unimplemented("of more than ", kMaxGroups, " groups"));
  return (*sizes)[0];
}

// The ends of the groups as the size of each group along the axis, followed by the rest.
Expr PartSizes(TorchCall& c, const Expr& ends, const Size& whole) {
  const Expr e = ends.To(DType::kInt64);
  const Expr bounds = Concat(c, {Ints(c, {0}), e, Vector(c, whole)}, 0);
  return Slice(bounds, 0, 1, kToEnd) - Slice(bounds, 0, 0, -1);
}

// Parts of `x` along the axis, each multiplied with its matrix; where no group is, zeros. A runtime
// does no work for a group without rows.
Expr InGroups(TorchCall& c, const Expr& x, int64_t axis, const Expr& matrices, const Expr& ends) {
  const int64_t groups = GroupsOf(c, matrices);
  if (ends.rank() != 1) c.Fail(Invalid("offs of rank ", ends.rank()));
  const DType t = x.dtype();
  const Size whole = SizeAt(x, axis);
  const Expr sizes = PartSizes(c, ends, whole);
  const std::vector<Value*> parts =
      c.b().Ops("split", {x, sizes}, {{"axis", axis}},
                std::vector<bool>(static_cast<size_t>(groups) + 1, true));
  std::vector<Value*> products;
  for (int64_t i = 0; i < groups; ++i) {
    const Expr part{c, parts[static_cast<size_t>(i)]}, matrix = Gather(matrices, Int(c, i), 0);
    products.push_back(axis == 0 ? MatMul(part, matrix) : MatMul(matrix, part));
  }
  const Size left = SizeOf({c, parts.back()}, axis);
  const Size other = SizeAt(matrices, axis == 0 ? 2 : 1);
  products.push_back(axis == 0 ? Filled(c, t, {left, other}, 0) : Filled(c, t, {other, left}, 0));
  const Expr y = Concat(c, std::move(products), axis);
  // Whatever the parts are, together they are the whole.
  return axis == 0 ? ReshapeTo(y, {whole, other}) : ReshapeTo(y, {other, whole});
}

Values FallbackGroups(TorchCall& c) {
  const Expr x = c.Tensor("input"), weight = c.Tensor("weight"), ends = c.Tensor("offs");
  if (x.rank() != 2 || weight.rank() != 3) return c.Fail(Invalid("expected rows and matrices"));
  return {InGroups(c, x, 0, weight, ends)};
}

// Rows with the matrices of their groups, matrices with their groups of columns, or matrices one by
// one.
Values Groups(TorchCall& c) {
  const Expr x = c.Tensor("self"), y = c.Tensor("mat2");
  const DType t = OutType(c);
  if (c.Has("bias")) return c.Fail(Unimplemented("a bias"));
  c.Ignore({"bias", "out_dtype"});
  if (t != x.dtype() || t != y.dtype()) return c.Fail(Unimplemented("of several element types"));
  if (!c.Has("offs")) {
    c.Ignore({"offs"});
    if (x.rank() != 3 || y.rank() != 3) return c.Fail(Invalid("groups without offs"));
    return {MatMul(x, y)};
  }
  const Expr ends = c.Tensor("offs");
  if (x.rank() == 2 && y.rank() == 3) return {InGroups(c, x, 0, y, ends)};
  if (x.rank() == 3 && y.rank() == 2) return {InGroups(c, y, 1, x, ends)};
  return c.Fail(Unimplemented("groups of what is summed"));
}

absl::StatusOr<Value*> WriteGemm(TorchWriter& w) {
  const double alpha = w.Float("alpha"), beta = w.Float("beta");
  const bool trans_a = w.Int("transA") != 0, trans_b = w.Int("transB") != 0;
  Value *a = w.in(0), *b = w.in(1), *c = w.in(2);
  if (!IsFloating(w.dtype())) return CannotExpress("integers");
  if (trans_a) a = w.Op("transpose", {a}, {{"perm", {1, 0}}});
  const bool row = c && c->shape() && c->shape()->rank() == 1;
  if (trans_b && alpha == 1 && (!c || (row && beta == 1))) {
    // A bias of one element would be broadcast, which `linear` does not do.
    const bool full =
        !c || ((*c->shape())[0].is_static() && b->shape() && (*b->shape())[0] == (*c->shape())[0]);
    if (full) {
      TorchArguments arguments = {{"input", a}, {"weight", b}};
      if (c) arguments.emplace_back("bias", c);
      return w.Call("aten::linear.default", std::move(arguments));
    }
  }
  if (trans_b) b = w.Op("transpose", {b}, {{"perm", {1, 0}}});
  if (c) {
    return w.Call("aten::addmm.default",
                  {{"self", c}, {"mat1", a}, {"mat2", b}, {"beta", beta}, {"alpha", alpha}});
  }
  Value* product = w.Op("matmul", {a, b});
  return alpha == 1 ? product : w.Op("mul", {product, w.Number(w.dtype(), alpha)});
}

Value* WriteEinsum(TorchWriter& w) {
  std::vector<Value*> tensors;
  for (size_t i = 0; i < w.num_inputs(); ++i) tensors.push_back(w.in(i));
  const DType t = w.dtype();
  if (IsInteger(t) && t != DType::kInt64 && t != DType::kUInt64) {
    // PyTorch's sums of integers are int64.
    for (Value*& tensor : tensors) tensor = w.Cast(tensor, DType::kInt64);
    return w.Cast(w.Op("einsum", std::move(tensors), {{"equation", w.String("equation")}}), t);
  }
  return w.Call("aten::einsum.default",
                {{"equation", w.String("equation")}, {"tensors", std::move(tensors)}});
}

}  // namespace

X2IR_TORCH(matmul)
    .To("aten::matmul.default")
    .From("transformers::grouped_mm_fallback.default", FallbackGroups)
    .From("aten::_grouped_mm.default", Groups);
X2IR_TORCH(det).To("aten::linalg_det.default");
X2IR_TORCH(gemm).To("aten::addmm.default", WriteGemm);
X2IR_TORCH(einsum).To("aten::einsum.default", WriteEinsum);

}  // namespace x2ir
