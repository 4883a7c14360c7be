// Relay: products of matrices.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/relay/relay.h"

namespace x2ir {
namespace {

// Operands in the type of the result, where one is asked for.
Expr InResultType(SymbolArgs& a, const Expr& x) {
  const std::string out = a.Text("out_dtype", "");
  if (out.empty() || out == "void" || out == "same") return x;
  return x.To(a.ElementType("out_dtype", x.dtype()));
}

Value* DenseRow(SymbolArgs& a) {
  a.Ignore("units");
  const Expr x = InResultType(a, a.in(0)), w = InResultType(a, a.in(1));
  return IsInteger(x.dtype()) ? MatMul(x, SwapLast(w)) : Dense(x, w, nullptr);
}

Value* MatmulOp(SymbolArgs& a) {
  a.Ignore("units");
  const bool left = a.Flag("transpose_a", false);
  const bool right = a.Flag("transpose_b", a.op() == "nn.batch_matmul");
  const Expr x = InResultType(a, a.in(0)), y = InResultType(a, a.in(1));
  return MatMul(left ? SwapLast(x) : x, right ? SwapLast(y) : y);
}

Value* EinsumRow(SymbolArgs& a) {
  std::string equation = a.Text("equation", "");
  return a.Op("einsum", a.inputs(), {{"equation", equation}});
}

// --- Written -------------------------------------------------------------------------------------

Value* Product(RelayWriter& w, Value* a, Value* b, bool trans_a = false, bool trans_b = false) {
  return w.Call("nn.matmul", {a, b},
                {{"transpose_a", FlagText(trans_a)}, {"transpose_b", FlagText(trans_b)}});
}

absl::StatusOr<Value*> ToGemm(RelayWriter& w) {
  const double alpha = w.attrs().Float("alpha"), beta = w.attrs().Float("beta");
  if (!IsFloating(w.dtype(0)) && (alpha != 1 || beta != 1)) {
    return CannotExpress("factors of integers");
  }
  const bool dense = w.Int("transA") == 0 && w.Int("transB") != 0;
  Value* y = dense ? w.Call("nn.dense", {w.in(0), w.in(1)})
                   : Product(w, w.in(0), w.in(1), w.Int("transA") != 0, w.Int("transB") != 0);
  if (alpha != 1) y = w.Call("multiply", {y, w.Number(w.dtype(0), alpha)});
  Value* c = w.in(2);
  if (!c || beta == 0) return y;
  if (beta != 1) c = w.Call("multiply", {c, w.Number(w.dtype(0), beta)});
  return w.Call("add", {y, c});
}

// Sizes of the axes before the last two, broadcast; nullopt where they are not known.
std::optional<std::vector<int64_t>> BatchSizes(const Type& type) {
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i + 2 < type.shape()->rank(); ++i) {
    const Dim dim = (*type.shape())[i];
    if (!dim.is_static()) return std::nullopt;
    sizes.push_back(dim.value());
  }
  return sizes;
}

// The operand with these batches as one axis.
Value* InBatches(RelayWriter& w, Value* x, const std::vector<int64_t>& batches) {
  const Expr e(w, x);
  const int64_t rank = e.rank();
  std::vector<Size> sizes(batches.begin(), batches.end());
  sizes.push_back(SizeAt(e, rank - 2));
  sizes.push_back(SizeAt(e, rank - 1));
  const Expr full = Expand(e, Vector(w, sizes));
  int64_t count = 1;
  for (const int64_t size : batches) count *= size;
  return ReshapeTo(full, {Size(count), sizes[batches.size()], sizes[batches.size() + 1]});
}

absl::StatusOr<Value*> ToMatmulOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t other, w.Rank(1));
  if (Value* vectors = MatMulOfVectors(w, rank, other)) return vectors;
  if (w.dtype(0) != w.dtype(1)) return CannotExpress("operands of two types");
  if (rank == 2 && other == 2) return Product(w, w.in(0), w.in(1));
  const auto batches = w.out_type().shape() ? BatchSizes(w.out_type()) : std::nullopt;
  const auto multiply = [&](Value* a, Value* b) {
    return w.Call("nn.batch_matmul", {a, b}, {{"transpose_b", "False"}});
  };
  if (rank == 3 && other == 3 && DimAt(w.in(0), 0) == DimAt(w.in(1), 0) &&
      DimAt(w.in(0), 0).is_static()) {
    return multiply(w.in(0), w.in(1));
  }
  if (!batches) return CannotExpress("a product of matrices whose number is not known");
  Value *a = InBatches(w, w.in(0), *batches), *b = InBatches(w, w.in(1), *batches);
  std::vector<Size> sizes(batches->begin(), batches->end());
  sizes.push_back(SizeAt({w, w.in(0)}, rank - 2));
  sizes.push_back(SizeAt({w, w.in(1)}, other - 1));
  return ReshapeTo({w, multiply(a, b)}, sizes).value();
}

absl::StatusOr<Value*> ToEinsum(RelayWriter& w) {
  std::vector<Value*> operands;
  for (size_t i = 0; i < w.num_inputs(); ++i) operands.push_back(w.in(i));
  return w.Call("einsum", std::move(operands), {{"equation", w.String("equation")}});
}

}  // namespace

X2IR_RELAY(gemm).From("nn.dense", DenseRow).To("nn.dense", ToGemm);
X2IR_RELAY(matmul)
    .From({"nn.matmul", "nn.batch_matmul"}, MatmulOp)
    .To("nn.batch_matmul", ToMatmulOp);
X2IR_RELAY(einsum).From("einsum", EinsumRow).To("einsum", ToEinsum);

}  // namespace x2ir
