// Gathering, scattering, linear algebra and the rest, written as TensorFlow's.
#include <algorithm>

#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// TensorFlow takes no negative indices.
absl::StatusOr<Value*> ToTfGather(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  Value* index = w.in(1);
  if (!TfWriter::CountsFromTheFront(*index)) {
    Value* size = w.Op("shape", {w.in(0)}, {{"start", axis}, {"end", axis + 1}});
    index = w.FromTheFront(index, w.Op("squeeze", {size, w.Ints({0})}));
  }
  return w.Tf("GatherV2", {w.in(0), index, w.Int32(axis)}, {{"batch_dims", 0}});
}
X2IR_TF(gather).To("GatherV2", ToTfGather);

absl::StatusOr<Value*> ToTfGatherNd(TfWriter& w) {
  if (w.Int("batch_dims") != 0) return CannotExpress("batch axes");
  X2IR_RETURN_IF_ERROR(w.Rank().status());
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  return w.Tf("GatherNd", {w.in(0), tuples});
}
X2IR_TF(gather_nd).To("GatherNd", ToTfGatherNd);

absl::StatusOr<Value*> ToTfScatterNd(TfWriter& w) {
  const std::string& how = w.String("reduction");
  if (how == "mul") return CannotExpress("products");
  X2IR_RETURN_IF_ERROR(w.Rank().status());
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  return w.Tf(how == "add"   ? "TensorScatterAdd"
              : how == "max" ? "TensorScatterMax"
              : how == "min" ? "TensorScatterMin"
                             : "TensorScatterUpdate",
              {w.in(0), tuples, w.in(2)});
}
X2IR_TF(scatter_nd).To("TensorScatterUpdate", ToTfScatterNd);

absl::StatusOr<Value*> ToTfScatterElements(TfWriter& w) {
  if (w.String("reduction") == "mul") return CannotExpress("products");
  return ScatterElementsByTuples(w);
}
X2IR_TF(scatter_elements).To("TensorScatterUpdate", ToTfScatterElements);

// TensorFlow has a row for each element, the IR a column.
absl::StatusOr<Value*> ToTfNonZero(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  Value* rows =
      w.Tf("Where", {w.in(0)}, {}, Type::Tensor(DType::kInt64, Shape({Dim(), Dim(rank)})));
  return w.Op("transpose", {rows}, {{"perm", {1, 0}}});
}
X2IR_TF(non_zero).To("Where", ToTfNonZero);

absl::StatusOr<Value*> ToTfCompress(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const PlacesThatHold found, CompressByGather(w));
  return w.Tf("GatherV2", {found.x, found.places, w.Int32(found.axis)}, {{"batch_dims", 0}});
}
X2IR_TF(compress).To("GatherV2", ToTfCompress);

absl::StatusOr<Value*> ToTfOneHot(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const OneHotParts parts, OneHotPartsOf(w));
  return w.Tf("OneHot", {parts.index, parts.depth, parts.on, parts.off}, {{"axis", parts.axis}});
}
X2IR_TF(one_hot).To("OneHot", ToTfOneHot);

Value* ToTfReverseSequence(TfWriter& w) {
  return w.Tf("ReverseSequence", {w.in(0), w.in(1)},
              {{"seq_dim", w.Int("time_axis")}, {"batch_dim", w.Int("batch_axis")}});
}
X2IR_TF(reverse_sequence).To("ReverseSequence", ToTfReverseSequence);

// --- Linear algebra -------------------------------------------------------------------------

X2IR_TF(cholesky).To("Cholesky");
X2IR_TF(det).To("MatrixDeterminant");
X2IR_TF(solve).To("MatrixSolve");

absl::StatusOr<Value*> ToTfTriangularSolve(TfWriter& w) {
  if (w.Int("unit") != 0) return CannotExpress("a diagonal of ones that is not there");
  return w.Tf("MatrixTriangularSolve", {w.in(0), w.in(1)}, {{"lower", w.Int("upper") == 0}});
}
X2IR_TF(triangular_solve).To("MatrixTriangularSolve", ToTfTriangularSolve);

Values ToTfQr(TfWriter& w) {
  return w.TfAll("Qr", {w.in(0)}, {{"full_matrices", w.Int("full")}}, {w.wants(0), w.wants(1)});
}
X2IR_TF(qr).To("Qr", ToTfQr);

Values ToTfSvd(TfWriter& w) {
  const bool vectors = w.wants(1) || w.wants(2);
  Values found =
      w.TfAll("Svd", {w.in(0)}, {{"compute_uv", vectors}, {"full_matrices", w.Int("full")}},
              {w.wants(0), w.wants(1), w.wants(2)});
  found.resize(w.node().num_outputs());
  return found;
}
X2IR_TF(svd).To("Svd", ToTfSvd);

Values ToTfEigh(TfWriter& w) {
  Values found =
      w.TfAll("SelfAdjointEigV2", {w.in(0)}, {{"compute_v", w.wants(1)}}, {w.wants(0), w.wants(1)});
  found.resize(w.node().num_outputs());
  return found;
}
X2IR_TF(eigh).To("SelfAdjointEigV2", ToTfEigh);

// --- Random numbers, strings ----------------------------------------------------------------

// A seed of the IR is none of TensorFlow's; without one, 0 and 0.
auto ToTfDrawn(std::string_view op, Symbol offset, Symbol scale) {
  return [=](TfWriter& w) -> absl::StatusOr<Value*> {
    if (w.attrs().Has("seed")) return CannotExpress("a seed");
    const DType t = w.DTypeAttr("dtype");
    const double from = w.Float(offset), factor = w.Float(scale) - (scale == "high" ? from : 0);
    Value* x = w.Tf(op, {w.Known(w.in(0))}, {{"dtype", Type::Tensor(t)}, {"seed", 0}, {"seed2", 0}},
                    w.out_type());
    if (factor != 1) x = w.Op("mul", {x, w.Number(t, factor)});
    return from == 0 ? x : w.Op("add", {x, w.Number(t, from)});
  };
}
X2IR_TF(random_uniform).To("RandomUniform", ToTfDrawn("RandomUniform", "low", "high"));
X2IR_TF(random_normal)
    .To("RandomStandardNormal", ToTfDrawn("RandomStandardNormal", "mean", "scale"));

Value* ToTfStringConcat(TfWriter& w) {
  return w.Tf("StringJoin", {w.in(0), w.in(1)}, {{"separator", ""}});
}
X2IR_TF(string_concat).To("StringJoin", ToTfStringConcat);

}  // namespace
}  // namespace x2ir
