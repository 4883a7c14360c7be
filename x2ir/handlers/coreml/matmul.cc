// MIL: products of matrices, attention, both ways.
#include <algorithm>
#include <cmath>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/coreml.h"

namespace x2ir {
namespace {

Expr MilLinearLayer(MilArgs& a) {
  const Expr y = MatMul(a.X(), SwapLast(a.X("weight")));
  return a.Has("bias") ? y + a.X("bias") : y;
}

Expr MilMatMul(MilArgs& a) {
  Expr x = a.X("x"), y = a.X("y");
  if (a.Bool("transpose_x") && x.rank() > 1) x = SwapLast(x);
  if (a.Bool("transpose_y") && y.rank() > 1) y = SwapLast(y);
  return MatMul(x, y);
}

Expr MilEinsum(MilArgs& a) {
  return a.Op("einsum", a.inputs(), {{"equation", a.Text("equation")}});
}

// softmax(q k^T / sqrt(E) + mask) v
absl::StatusOr<Value*> MilAttention(MilArgs& a) {
  const Expr q = a.X("query"), k = a.X("key"), v = a.X("value");
  const Dim width = DimAt(q, -1);
  if (!width.is_static()) return Unimplemented("queries of unknown width");
  const double scale = 1 / std::sqrt(static_cast<double>(width.value()));
  Expr scores = MatMul(q, SwapLast(k)) * scale;
  if (const Expr mask = a.Opt("attn_mask"); mask.value()) {
    scores = mask.dtype() == DType::kBool
                 ? Where(mask, scores, -std::numeric_limits<double>::infinity())
                 : scores + mask.To(scores.dtype());
  }
  return MatMul(scores.Op("softmax", {}, {{"axis", -1}}), v).value();
}

// --- Written ------------------------------------------------------------------------------------

absl::StatusOr<Value*> ToMatMul(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t of_x, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t of_y, w.Rank(1));
  // Of vectors MIL has less than it says: they become matrices.
  if (of_x == 1 || of_y == 1) {
    Expr x = w.X(0), y = w.X(1);
    if (of_x == 1) x = Unsqueeze(x, {0});
    if (of_y == 1) y = Unsqueeze(y, {-1});
    Expr product = MatMul(x, y);
    std::vector<int64_t> axes;
    if (of_x == 1) axes.push_back(of_y == 1 ? -2 : -2);
    if (of_y == 1) axes.push_back(-1);
    return w.Op("squeeze", {product, w.Ints(axes)});
  }
  return w.Mil("matmul", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToGemm(MilWriter& w) {
  const double alpha = w.attrs().Float("alpha"), beta = w.attrs().Float("beta");
  Expr y = {w.b(), w.Mil("matmul", {w.in(0), w.in(1)},
                         {{"transpose_x", w.Int("transA")}, {"transpose_y", w.Int("transB")}},
                         w.out_type())};
  y = Scaled(y, alpha);
  if (!w.has(2)) return alpha == 1 ? y.value() : y.value();
  return (y + Scaled(w.X(2), beta)).value();
}

// What MIL has: matrices along the last axis and the one two before it.
absl::StatusOr<Value*> ToEinsum(MilWriter& w) {
  std::string equation = w.String("equation");
  std::erase(equation, ' ');
  std::string letters, form;
  for (const char c : equation) {
    if (c == ',' || c == '-' || c == '>') {
      form += c;
      continue;
    }
    size_t at = letters.find(c);
    if (at == letters.npos) {
      at = letters.size();
      letters += c;
    }
    form += static_cast<char>('a' + at);
  }
  if (form != "abcd,adce->abce" && form != "abc,cbd->abd") {
    return CannotExpress("the equation ", equation);
  }
  const bool four = form.size() > 12;
  return w.Mil("einsum", w.node().inputs(),
               {{"equation", four ? "nchw,nwhu->nchu" : "chw,whr->chr"}});
}

}  // namespace

X2IR_MIL(matmul)
    .To("matmul", ToMatMul)
    .From({{"matmul", MilMatMul},
           {"linear", MilLinearLayer},
           {"scaled_dot_product_attention", MilAttention}});
X2IR_MIL(gemm).To("matmul", ToGemm);
X2IR_MIL(einsum).To("einsum", ToEinsum).From("einsum", MilEinsum);

}  // namespace x2ir
