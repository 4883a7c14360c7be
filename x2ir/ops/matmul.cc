// Linear algebra: matmul, gemm, det.
#include "x2ir/ops/matmul.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "Eigen/Core"
#include "Eigen/LU"
#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/product_in_order.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/work.h"

namespace x2ir {
namespace {

template <typename T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
void Multiply(const T* a, const T* b, T* c, int64_t m, int64_t k, int64_t n, bool transpose_a,
              bool transpose_b) {
  using In = Eigen::Map<const RowMajor<T>>;
  Eigen::Map<RowMajor<T>> out(c, m, n);
  const In left(a, transpose_a ? k : m, transpose_a ? m : k);
  const In right(b, transpose_b ? n : k, transpose_b ? k : n);
  if (m == 0 || n == 0) return;
  if constexpr (std::is_floating_point_v<T>) {
    // Such as are folded. Eigen has another order for each processor.
    constexpr double kFew = 1 << 22;
    if (static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n) <= kFew) {
      return ProductInOrder(a, b, c, m, k, n, transpose_a, transpose_b);
    }
  }
  if (k == 0) {
    out.setZero();
  } else if (transpose_a && transpose_b) {
    out.noalias() = left.transpose() * right.transpose();
  } else if (transpose_a) {
    out.noalias() = left.transpose() * right;
  } else if (transpose_b) {
    out.noalias() = left * right.transpose();
  } else {
    out.noalias() = left * right;
  }
}

}  // namespace

template <typename T>
void MatrixProduct(const T* a, const T* b, T* c, int64_t m, int64_t k, int64_t n, bool transpose_a,
                   bool transpose_b) {
  if constexpr (std::is_same_v<T, int64_t>) {
    // Unsigned, since signed numbers must not overflow; the bits are the same.
    Multiply(reinterpret_cast<const uint64_t*>(a), reinterpret_cast<const uint64_t*>(b),
             reinterpret_cast<uint64_t*>(c), m, k, n, transpose_a, transpose_b);
  } else {
    Multiply(a, b, c, m, k, n, transpose_a, transpose_b);
  }
}

template void MatrixProduct(const float*, const float*, float*, int64_t, int64_t, int64_t, bool,
                            bool);
template void MatrixProduct(const double*, const double*, double*, int64_t, int64_t, int64_t, bool,
                            bool);
template void MatrixProduct(const int64_t*, const int64_t*, int64_t*, int64_t, int64_t, int64_t,
                            bool, bool);
template void MatrixProduct(const uint64_t*, const uint64_t*, uint64_t*, int64_t, int64_t, int64_t,
                            bool, bool);

namespace {

// --- matmul ---------------------------------------------------------------------------------

absl::Status InferMatMul(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, 2));
  ctx.Set(0, dtype);
  const Shape *a = ctx.shape(0), *b = ctx.shape(1);
  if ((a && a->rank() == 0) || (b && b->rank() == 0)) {
    return Invalid("expected operands of rank 1 or more");
  }
  if (!a || !b) return absl::OkStatus();
  const bool row = a->rank() == 1, column = b->rank() == 1;
  const Dim& inner_a = (*a)[a->rank() - 1];
  const Dim& inner_b = (*b)[column ? 0 : b->rank() - 2];
  if (ProvablyDifferent(inner_a, inner_b)) {
    return Invalid("[", a->ToString(), "] and [", b->ToString(),
                   "] cannot be multiplied: ", inner_a.ToString(), " columns and ",
                   inner_b.ToString(), " rows");
  }
  Shape out;
  if (!row && !column) {
    X2IR_ASSIGN_OR_RETURN(out, BroadcastShapes(Shape(std::vector<Dim>(a->begin(), a->end() - 2)),
                                               Shape(std::vector<Dim>(b->begin(), b->end() - 2))));
  } else if (!row) {
    out = Shape(std::vector<Dim>(a->begin(), a->end() - 2));
  } else if (!column) {
    out = Shape(std::vector<Dim>(b->begin(), b->end() - 2));
  }
  if (!row) out.Append((*a)[a->rank() - 2]);
  if (!column) out.Append((*b)[b->rank() - 1]);
  return ctx.Return(dtype, std::move(out));
}

absl::Status EvalMatMul(EvalContext& ctx) {
  const Tensor &a = ctx.input(0), &b = ctx.input(1);
  if (a.rank() == 0 || b.rank() == 0 || a.dtype() != b.dtype()) {
    return Invalid("expected operands of rank 1 or more and one element type, got ",
                   a.type().ToString(), " and ", b.type().ToString());
  }
  std::vector<int64_t> a_dims = a.dims(), b_dims = b.dims();
  if (a.rank() == 1) a_dims.insert(a_dims.begin(), 1);
  if (b.rank() == 1) b_dims.push_back(1);
  const int64_t m = a_dims[a_dims.size() - 2], k = a_dims.back(), n = b_dims.back();
  if (b_dims[b_dims.size() - 2] != k) {
    return Invalid(DimsText(a.dims()), " and ", DimsText(b.dims()), " cannot be multiplied");
  }
  a_dims.resize(a_dims.size() - 2);
  b_dims.resize(b_dims.size() - 2);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> batch, BroadcastDims(a_dims, b_dims));
  std::vector<int64_t> dims = batch;
  if (a.rank() > 1) dims.push_back(m);
  if (b.rank() > 1) dims.push_back(n);
  X2IR_RETURN_IF_ERROR(CheckAllocation(a.dtype(), dims));
  return DispatchReal(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> out(Count(dims));
    if (!out.empty()) {
      const Numbers<T> as(a), bs(b);
      const int64_t batches = Count(batch);
      if (Count(b_dims) == 1 && Count(a_dims) == batches) {  // one matrix b: one product
        MatrixProduct(as.data(), bs.data(), out.data(), batches * m, k, n);
      } else {
        const auto a_strides = BroadcastStrides(a_dims, batch);
        const auto b_strides = BroadcastStrides(b_dims, batch);
        for (int64_t i = 0; i < batches; ++i) {
          int64_t rest = i, at_a = 0, at_b = 0;
          for (size_t d = batch.size(); d-- > 0; rest /= batch[d]) {
            at_a += rest % batch[d] * a_strides[d];
            at_b += rest % batch[d] * b_strides[d];
          }
          MatrixProduct(as.data() + at_a * m * k, bs.data() + at_b * k * n, out.data() + i * m * n,
                        m, k, n);
        }
      }
    }
    return ctx.Return(FromNumbers<T>(a.dtype(), std::move(dims), out));
  });
}

// Axes before the matrices are batches. With a single matrix on the right, the rows on the left are
// batches too.
std::optional<Flip> FlipMatMul(const Node& node, Slot slot, const Perm& p) {
  const int64_t a = RankOf(node.input(0)), b = RankOf(node.input(1));
  const int64_t rank = RankOf(node.output(0)), given = static_cast<int64_t>(p.size());
  if (a < 2 || b < 2 || rank != std::max(a, b)) return std::nullopt;
  if (!Fixes(p, given - (b == 2 ? 1 : 2), given)) return std::nullopt;
  if (b > 2) return FlipBroadcast(node, slot, p, 2);
  if (!slot.output && slot.index == 1) return std::nullopt;
  Flip flip(node);
  flip.in[0] = p;
  flip.out[0] = p;
  return flip;
}

X2IR_OP(matmul)
    .Signature("a, b -> y")
    .Functions(InferMatMul, EvalMatMul)
    .Axes({FlipMatMul})
    .Numbers(NumberUse::kWraps)
    .Rows(RowUse::kMatMul)
    .Heavy()
    .Doc(
        "Matrix product over the last two axes; the others broadcast. An operand of rank 1 is a "
        "row (left) or a column (right), and the axis it lacks is not in the result.")
    .AllowsFloat16()
    .MultiplyAdds(WorkOfMatMul)
    .Origins(OriginsOfMatMul)
    .Complex(ComplexUse::kProducts);

// --- gemm -----------------------------------------------------------------------------------

absl::Status InferGemm(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, 3));
  for (size_t i : {0, 1}) {
    if (ctx.rank(i) >= 0 && ctx.rank(i) != 2) {
      return Invalid(OperandName(ctx, i), ": expected rank 2, got ", ctx.rank(i));
    }
  }
  const Shape *a = ctx.shape(0), *b = ctx.shape(1);
  const bool ta = ctx.attrs().Int("transA") != 0, tb = ctx.attrs().Int("transB") != 0;
  Shape out = Shape::UnknownDims(2);
  if (a) out[0] = (*a)[ta ? 1 : 0];
  if (b) out[1] = (*b)[tb ? 0 : 1];
  if (a && b && ProvablyDifferent((*a)[ta ? 0 : 1], (*b)[tb ? 1 : 0])) {
    return Invalid("[", a->ToString(), "] and [", b->ToString(), "] cannot be multiplied");
  }
  if (const Shape* c = ctx.shape(2)) {
    if (c->rank() > 2) return Invalid("c: expected rank 2 or less, got ", c->rank());
    for (int64_t i = 0; i < c->rank(); ++i) {
      const Dim& own = (*c)[i];
      const Dim& dim = out[2 - c->rank() + i];
      if (own.is_static() && own.value() != 1 && ProvablyDifferent(own, dim)) {
        return Invalid("c: [", c->ToString(), "] does not broadcast to [", out.ToString(), "]");
      }
    }
  }
  return ctx.Return(dtype, std::move(out));
}

// factor * x; factors of integers are nearly always 1.
template <typename T>
T Scaled(double factor, T x) {
  if (factor == 1) return x;
  return std::is_floating_point_v<T>
             ? static_cast<T>(factor) * x
             : static_cast<T>(static_cast<int64_t>(factor * static_cast<double>(x)));
}

absl::Status EvalGemm(EvalContext& ctx) {
  const Tensor &a = ctx.input(0), &b = ctx.input(1);
  const bool ta = ctx.attrs().Int("transA") != 0, tb = ctx.attrs().Int("transB") != 0;
  if (a.rank() != 2 || b.rank() != 2 || a.dtype() != b.dtype() ||
      a.dim(ta ? 0 : 1) != b.dim(tb ? 1 : 0)) {
    return Invalid(a.type().ToString(), " and ", b.type().ToString(), " cannot be multiplied");
  }
  const int64_t m = a.dim(ta ? 1 : 0), k = a.dim(ta ? 0 : 1), n = b.dim(tb ? 0 : 1);
  std::vector<int64_t> c_strides = {0, 0};
  if (ctx.has(2)) {
    const std::vector<int64_t> dims = {m, n};
    X2IR_ASSIGN_OR_RETURN(const auto both, BroadcastDims(ctx.dims(2), dims));
    if (both != dims || ctx.dtype(2) != a.dtype()) {
      return Invalid("c: ", ctx.input(2).type().ToString(), " does not broadcast to ",
                     DimsText(dims));
    }
    c_strides = BroadcastStrides(ctx.dims(2), dims);
  }
  X2IR_RETURN_IF_ERROR(CheckAllocation(a.dtype(), {m, n}));
  const double alpha = ctx.attrs().Float("alpha"), beta = ctx.attrs().Float("beta");
  return DispatchReal(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using W = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
    std::vector<T> out(m * n);
    MatrixProduct(Numbers<T>(a).data(), Numbers<T>(b).data(), out.data(), m, k, n, ta, tb);
    if (alpha != 1) {
      for (T& v : out) v = Scaled(alpha, v);
    }
    if (ctx.has(2)) {
      const Numbers<T> c(ctx.input(2));
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          T& v = out[i * n + j];
          const T add = Scaled(beta, c[i * c_strides[0] + j * c_strides[1]]);
          v = static_cast<T>(static_cast<W>(v) + static_cast<W>(add));
        }
      }
    }
    return ctx.Return(FromNumbers<T>(a.dtype(), {m, n}, out));
  });
}

X2IR_OP(gemm)
    .Signature("a, b, c? -> y")
    .Attrs("alpha = 1.0, beta = 1.0, transA = 0, transB = 0")
    .Functions(InferGemm, EvalGemm)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kFloatOnly)
    .Heavy()
    .Doc(
        "alpha * a * b + beta * c for matrices, a and b transposed first if so said; c (left out: "
        "nothing) broadcasts to the product.")
    .AllowsFloat16()
    .MultiplyAdds(WorkOfGemm);

// --- det ------------------------------------------------------------------------------------

absl::Status InferDet(InferContext& ctx) {
  ctx.Set(0, ctx.dtype(0));
  const Shape* in = ctx.shape(0);
  if (!in) return absl::OkStatus();
  const int64_t rank = in->rank();
  if (rank < 2 || ProvablyDifferent((*in)[rank - 1], (*in)[rank - 2])) {
    return Invalid("expected square matrices, got [", in->ToString(), "]");
  }
  return ctx.Return(ctx.dtype(0), Shape(std::vector<Dim>(in->begin(), in->end() - 2)));
}

absl::Status EvalDet(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.rank() < 2 || in.dims().back() != in.dim(in.rank() - 2)) {
    return Invalid("expected square matrices, got ", DimsText(in.dims()));
  }
  const int64_t n = in.dims().back();
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end() - 2);
  X2IR_RETURN_IF_ERROR(CheckAllocation(in.dtype(), dims));
  return DispatchFloat(in.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> numbers(in);
    std::vector<T> out(Count(dims), T(1));  // of an empty matrix: 1
    for (size_t i = 0; i < out.size() && n > 0; ++i) {
      const Eigen::Map<const RowMajor<T>> matrix(numbers.data() + i * n * n, n, n);
      out[i] = static_cast<T>(matrix.template cast<double>().partialPivLu().determinant());
    }
    return ctx.Return(FromNumbers<T>(in.dtype(), std::move(dims), out));
  });
}

X2IR_OP(det)
    .Signature("x -> y")
    .Functions(InferDet, EvalDet)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kFloatOnly)
    .Heavy()
    .Doc("The determinants of the matrices in the last two axes.")
    .NeedsFloat32(float32_for::kSolves)
    .Zeros(ZeroUse::kTells);

}  // namespace
}  // namespace x2ir
