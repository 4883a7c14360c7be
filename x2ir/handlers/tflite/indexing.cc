// TFLite: picking and putting elements.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tflite/kernels.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* GatherWithAxis(TfliteArgs& a) {
  Value* axis = a.b().Int(a.Int("axis", 0));
  return AsTf(a, "GatherV2", {a.in(0), a.in(1), axis}, {{"batch_dims", a.Int("batch_dims", 0)}})[0];
}

Values UniqueOf(TfliteArgs& a) {
  a.Ignore("idx_out_type");
  const DType index = a.wants(1) ? a.out_dtype(1) : DType::kInt32;
  return AsTf(a, "Unique", a.inputs(), {{"out_idx", Type::Tensor(index)}});
}

// Rows of `values` (operand 1) at indices (operand 0).
Value* EmbeddingLookup(TfliteArgs& a) { return Gather(a.in(1), a.AsInt64(a.in(0)), 0); }

// Rows of values (operand 2) whose keys (operand 1) are looked up (operand 0), zeros for others;
// and which were found.
Values HashtableLookup(TfliteArgs& a) {
  a.Require(a.dtype(2) != DType::kString, "values that are strings");
  const Expr same = Unsqueeze(a.in(0), {1}) == Unsqueeze(a.in(1), {0});
  const Expr found = Any(same, {1});
  const Expr place = a.Op("arg_max", {same.To(DType::kInt32)},
                          {{"axis", 1}, {"keepdims", 0}, {"select_last_index", 0}});
  const Expr rows = Gather(a.in(2), place, 0);
  const int64_t rank = rows.rank();
  const Expr test = rank > 1 ? Unsqueeze(found, CountedFrom(1, rank - 1)) : found;
  return {Where(test, rows, 0.0), found.To(DType::kUInt8)};
}

// Operand 1 replaces the slice of operand 0 at the indices of operand 2; a slice that reaches past
// the end is moved inside.
absl::StatusOr<Value*> DynamicUpdateSlice(TfliteArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank == 0) return a.Op("identity", {a.in(1)});
  const Expr last = ShapeOf(a.in(0)) - ShapeOf(a.in(1));
  const Expr start = Max(Min(a.AsInt64(a.in(2)), last), 0);
  // Every index inside of the slice, and where it begins.
  std::vector<Value*> sizes;
  for (int64_t i = 0; i < rank; ++i) sizes.push_back(SizeOf(a.in(1), i));
  const Expr count = a.Op("size", {a.in(1)});
  std::vector<Value*> columns;
  for (Value* column : Unraveled(Iota(count), sizes)) {
    columns.push_back(Unsqueeze({a, column}, {1}));
  }
  const Expr places = Concat(a, columns, 1) + Unsqueeze(start, {0});
  return ScatterNd(a.in(0), places, Flat(a.in(1)), "none");
}

// Updates of bools: whether any update of an index is true.
Value* ScatterAny(TfliteArgs& a) {
  const Expr updates = a.in(1);
  if (updates->dtype() != DType::kBool) return AsTf(a, "ScatterNd", a.inputs(), {})[0];
  const Values counts = AsTf(a, "ScatterNd", {a.in(0), updates.To(DType::kInt32), a.in(2)}, {});
  return Expr(a, counts[0]).To(DType::kBool);
}

bool IsAllZeros(const Value* v) {
  const auto known = KnownTensor(*v);
  if (!known || known->is_sparse() || known->is_string()) return false;
  const auto bytes = known->bytes();
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// The one number, of rank 0, that all updates are; null where they are not known to be the same.
Value* TheUpdate(TfliteWriter& w) {
  const Node* made = w.in(2)->producer();
  if (made && (made->Is("expand") || made->op() == "BROADCAST_TO")) {
    const Shape* shape = made->input(0)->shape();
    if (shape && shape->NumElements() == Dim(1)) return w.Reshape(made->input(0), {});
  }
  const Tensor* all = w.in(2)->fixed_constant();
  if (!all || all->is_sparse() || all->is_string() || all->num_elements() == 0) return nullptr;
  const absl::Span<const std::byte> bytes = all->bytes();
  const size_t size = bytes.size() / static_cast<size_t>(all->num_elements());
  if (BitWidth(all->dtype()) < 8 ||
      !std::equal(bytes.begin() + static_cast<ptrdiff_t>(size), bytes.end(), bytes.begin())) {
    return nullptr;
  }
  Tensor one = Tensor::Zeros(all->dtype(), {});
  std::copy(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size),
            one.mutable_bytes().begin());
  return w.b().Constant(std::move(one));
}

// Elements that are replaced are counted: a place where something comes has the sum, which is one
// update, since an index that comes twice has a meaning only where all updates are the same.
absl::StatusOr<Value*> ToScatterNd(TfliteWriter& w) {
  const std::string& how = w.String("reduction");
  if (how != "none" && how != "add") return CannotExpress("updates by ", how);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t of_indices, w.Rank(1));
  const Dim depth = of_indices > 0 ? (*w.shape(1))[of_indices - 1] : Dim();
  if (rank < 1 || !depth.is_static() || depth.value() < 1 || depth.value() > rank) {
    return CannotExpress("tuples of unknown length");
  }
  const int64_t k = depth.value();
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  tuples = w.Cast(tuples, DType::kInt32);
  const auto dims = w.shape()->Static();
  Value* shape = dims ? w.Int32s(*dims) : w.Cast(w.Op("shape", {w.in(0)}), DType::kInt32);
  Value* put =
      w.Tflite("SCATTER_ND", {tuples, w.in(2), shape}, {}, Type::Tensor(w.dtype(), *w.shape()));
  Value* update = how == "none" ? TheUpdate(w) : nullptr;
  if (IsAllZeros(w.in(0)) && !update) return put;
  if (how == "add") {
    if (w.dtype() == DType::kBool) return CannotExpress("sums of bools");
    return w.Op("add", {w.in(0), put});
  }
  // Which indices of the axes of the tuples have an update.
  Value* many = w.Op("shape", {w.in(1)}, {{"start", 0}, {"end", of_indices - 1}});
  const auto all = Shape(std::vector<Dim>(w.shape(1)->begin(), w.shape(1)->end() - 1)).Static();
  constexpr int64_t kMaxOnes = 4096;
  Value* ones = nullptr;
  if (all && CheckedProduct(*all).value_or(kMaxOnes) < kMaxOnes) {
    Tensor tensor = Tensor::Zeros(DType::kInt32, *all);
    for (int32_t& one : tensor.mutable_span<int32_t>()) one = 1;
    ones = w.b().Constant(std::move(tensor));
  } else {
    ones = w.Op("expand", {w.Int32(1), many});
  }
  Shape places(std::vector<Dim>(w.shape()->begin(), w.shape()->begin() + k));
  const auto known = places.Static();
  Value* size = known ? w.Int32s(*known)
                      : w.Cast(w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", k}}), DType::kInt32);
  Value* count =
      w.Tflite("SCATTER_ND", {tuples, ones, size}, {}, Type::Tensor(DType::kInt32, places));
  Value* comes = w.Op("greater", {count, w.Int32(0)});
  if (k < rank) {
    std::vector<int64_t> rest(static_cast<size_t>(rank - k));
    std::iota(rest.begin(), rest.end(), k);
    comes = w.Op("unsqueeze", {comes, w.Ints(rest)});
  }
  return w.Op("where", {comes, update ? update : put, w.in(0)});
}

// What SCATTER_ND has not either would come back here as elements.
absl::StatusOr<Value*> ToScatterElements(TfliteWriter& w) {
  const std::string& how = w.String("reduction");
  if (how != "none" && how != "add") return CannotExpress("updates by ", how);
  if (!HasTfliteKernel("SCATTER_ND", w.dtype())) {
    return CannotExpress("SCATTER_ND: no kernel for ", Name(w.dtype()));
  }
  return ScatterElementsByTuples(w);
}

// TFLite takes no negative indices.
absl::StatusOr<Value*> ToLiteGather(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  Value* index = w.in(1);
  if (!w.CountsFromTheFront(*index)) {
    Value* size = w.Op("shape", {w.in(0)}, {{"start", axis}, {"end", axis + 1}});
    index = w.FromTheFront(index, w.Op("squeeze", {size, w.Ints({0})}));
  }
  return w.Tflite("GATHER", {w.in(0), index}, {{"axis", axis}});
}

absl::StatusOr<Value*> ToLiteGatherNd(TfliteWriter& w) {
  if (w.Int("batch_dims") != 0) return CannotExpress("batch axes");
  X2IR_RETURN_IF_ERROR(w.Rank().status());
  if (w.CountsFromTheFront(*w.in(1))) return w.Tflite("GATHER_ND", {w.in(0), w.in(1)});
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(1));
  const Dim& count = (*w.shape(1))[rank - 1];
  constexpr int64_t kMaxCompared = 4;  // axes
  if (rank > kMaxCompared && count.is_static()) {
    // The same tuples in a row.
    Value* row = w.Op("reshape", {w.in(1), w.Ints({-1, count.value()})});
    Value* found = w.Op("gather_nd", {w.in(0), row}, w.attrs());
    Value* dims = w.Op("shape", {w.in(1)}, {{"start", 0}, {"end", rank - 1}});
    const Shape* of_data = w.shape();
    if (count.value() < of_data->rank()) {
      Value* rest = w.Op("shape", {w.in(0)}, {{"start", count.value()}, {"end", of_data->rank()}});
      dims = w.Op("concat", {dims, rest}, {{"axis", 0}});
    }
    return w.Op("reshape", {found, dims}, {{"allowzero", 1}});
  }
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  return w.Tflite("GATHER_ND", {w.in(0), tuples});
}

// TFLite has a row for each element, the IR a column.
absl::StatusOr<Value*> ToLiteNonZero(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  Value* rows =
      w.Tflite("WHERE", {w.in(0)}, {}, Type::Tensor(DType::kInt64, Shape({Dim(), Dim(rank)})));
  return w.Op("transpose", {rows}, {{"perm", {1, 0}}});
}

absl::StatusOr<Value*> ToLiteCompress(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const PlacesThatHold found, CompressByGather(w));
  return w.Tflite("GATHER", {found.x, found.places}, {{"axis", found.axis}});
}

// Along the last axis; places are int32.
absl::StatusOr<Values> ToLiteTopK(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (w.Int("largest") == 0) return CannotExpress("the least elements");
  if (tflite::IsQuantized(*w.in(0))) return CannotExpress("quantized integers");
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(rank - 1)]);
  const bool last = axis == rank - 1;
  const auto turned = [&](Value* x) { return last ? x : w.Op("transpose", {x}, {{"perm", perm}}); };
  Value* x = turned(w.in(0));
  const auto known = KnownInts(w.in(1));
  Value* k = known && known->size() == 1 ? w.Int32((*known)[0])
                                         : w.Cast(w.Reshape(w.in(1), {}), DType::kInt32);
  Shape shape = x->shape() ? *x->shape() : Shape::UnknownDims(rank);
  shape[rank - 1] = known && known->size() == 1 ? Dim((*known)[0]) : Dim();
  const Values found =
      w.TfliteAll("TOPK_V2", {x, k}, {}, {true, true},
                  {Type::Tensor(w.dtype(), shape), Type::Tensor(DType::kInt32, shape)});
  Values values(w.node().num_outputs(), nullptr);
  if (w.wants(0)) values[0] = turned(found[0]);
  if (w.wants(1)) values[1] = turned(w.Cast(found[1], DType::kInt64));
  return values;
}

}  // namespace

X2IR_TFLITE(gather)
    .To("GATHER", ToLiteGather)
    .From({{"GATHER", GatherWithAxis},
           {"EMBEDDING_LOOKUP", EmbeddingLookup},
           {"HASHTABLE_LOOKUP", HashtableLookup}});
X2IR_TFLITE(gather_nd).To("GATHER_ND", ToLiteGatherNd).From("GATHER_ND", SameAsTf("GatherNd"));
X2IR_TFLITE(scatter_nd)
    .To("SCATTER_ND", ToScatterNd)
    .From({{"SCATTER_ND", ScatterAny},
           {"SPARSE_TO_DENSE", SameAsTf("SparseToDense")},
           {"DYNAMIC_UPDATE_SLICE", DynamicUpdateSlice}});
X2IR_TFLITE(unique).From("UNIQUE", UniqueOf);
X2IR_TFLITE(non_zero).To("WHERE", ToLiteNonZero).From("WHERE", SameAsTf("Where"));
X2IR_TFLITE(top_k).To("TOPK_V2", ToLiteTopK).From("TOPK_V2", SameAsTf("TopKV2"));
X2IR_TFLITE(scatter_elements).To("SCATTER_ND", ToScatterElements);
X2IR_TFLITE(compress).To("GATHER", ToLiteCompress);

}  // namespace x2ir
