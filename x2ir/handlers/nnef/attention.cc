// tract's operators of transformers.
#include <cmath>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

// Scores with those that a mask leaves out at -inf; masks of numbers are added.
Expr Masked(const Expr& scores, const Expr& mask) {
  if (mask.dtype() != DType::kBool) return scores + mask.To(scores.dtype());
  return Where(mask, scores, -std::numeric_limits<double>::infinity());
}

Value* ScaledMaskedSoftmaxRow(NnefArgs& a) {
  const Expr x = a.Tensor("input"), mask = a.Tensor("mask");
  const bool after = a.Flag("post_softmax_mask");
  const Expr y =
      Masked(Scaled(x, a.Number("scale")), mask).Op("softmax", {}, {{"axis", int64_t{-1}}});
  if (!after) return y;
  a.Require(mask.dtype() == DType::kBool, "a mask of numbers after the softmax");
  return Where(mask, y, 0.0);
}

Value* SdpaRow(NnefArgs& a) {
  const Expr q = a.Tensor("q"), k = a.Tensor("k"), v = a.Tensor("v");
  for (const char* name : {"datum_type", "acc_datum_type"}) {
    const std::string type = a.Text(name);
    a.Require(type == "f32" && q.dtype() == DType::kFloat32, StrCat("attention in '", type, "'"));
  }
  const int64_t rank = q.rank();
  a.Require(rank >= 3 && k.rank() == rank && v.rank() == rank, "operands of other ranks");
  a.Require(rank == 3 || DimAt(q, 1) == DimAt(k, 1), "keys that several heads share");
  const Dim depth = DimAt(q, rank - 1);
  double scale = a.Number("scale");
  if (scale == 0) {
    a.Require(depth.is_static() && depth.value() > 0, "heads of unknown size");
    scale = 1 / std::sqrt(static_cast<double>(depth.value()));
  }
  Expr scores = Scaled(q.Op("matmul", {SwapLast(k)}), scale);
  if (a.Flag("is_causal")) {
    const Expr row = AlongAxis(Iota(SizeOf(q, rank - 2)), 0, 2);
    const Expr column = AlongAxis(Iota(SizeOf(k, rank - 2)), 1, 2);
    scores = Masked(scores, column <= row);
  }
  if (a.Has("mask")) scores = Masked(scores, a.Tensor("mask"));
  return scores.Op("softmax", {}, {{"axis", int64_t{-1}}}).Op("matmul", {v});
}

}  // namespace

X2IR_NNEF(attention)
    .From("tract_transformers_sdpa", SdpaRow)
    .From("tract_transformers_scaled_masked_softmax", ScaledMaskedSoftmaxRow);

}  // namespace x2ir
