// TensorFlow: updates at indices, of tensors and of variables without other users.
#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/index_forms.h"
#include "x2ir/builder/node_marks.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// The index that counts from the end as well, if `index` is that one counted from the front. What
// is made of the node is then no longer marked as one of indices that are not negative.
Value* AsInIr(TfArgs& a, Value* index, absl::Span<const Dim> sizes) {
  const auto outputs = a.node().outputs();
  const auto output = std::find_if(outputs.begin(), outputs.end(), [](Value* v) { return v; });
  if (output == outputs.end()) return index;
  Value* before = BeforeFromTheFront(index, sizes);
  if (before != index) MarkNode(*(*output)->producer(), NodeMark::kFromTheFront, false);
  return before;
}

// TensorFlow takes no negative indices: those of an axis as the IR takes them.
Value* IndexOf(TfArgs& a, int64_t axis) {
  const Shape* shape = a.shape(0);
  if (!shape || axis < 0 || axis >= shape->rank()) return a.in(1);
  return AsInIr(a, a.in(1), {&(*shape)[axis], 1});
}
// The same of tuples (int64) that are operand `i`.
Value* TuplesOf(TfArgs& a, size_t i, const Value* data) {
  const Shape *sizes = data->shape(), *shape = a.shape(i);
  Value* tuples = a.AsInt64(a.in(i));
  if (!sizes || !shape || shape->rank() < 1) return tuples;
  const Dim& count = (*shape)[shape->rank() - 1];
  if (!count.is_static() || count.value() < 1 || count.value() > sizes->rank()) return tuples;
  const std::vector<Dim> first(sizes->begin(), sizes->begin() + count.value());
  return AsInIr(a, tuples, first);
}

void RefuseIgnoredIndices(TfArgs& a) {
  const std::string policy = a.String("bad_indices_policy", "");
  a.Require(policy.empty() || policy == "DEFAULT" || policy == "ERROR", "indices that are ignored");
}

// How updates are combined with what is there.
enum class How { kUpdate, kAdd, kSub, kMul, kDiv, kMax, kMin };

// Whether no row of indices occurs twice; [.., depth] of constants.
bool AreDistinct(const Value* indices, int64_t depth) {
  const std::optional<Tensor> known = KnownTensor(*indices);
  if (!known || depth <= 0) return false;
  const Numbers<int64_t> numbers(*known);
  absl::flat_hash_set<std::vector<int64_t>> seen;
  for (int64_t i = 0; i + depth <= numbers.size(); i += depth) {
    const int64_t* row = numbers.data() + i;
    if (!seen.emplace(row, row + depth).second) return false;
  }
  return true;
}

Value* Combine(TfArgs& a, How how, Value* data, Value* indices, Value* updates,
               bool distinct = false) {
  a.Ignore("bad_indices_policy");  // what is out of range is an error, or nothing we know of
  const DType t = data->dtype();
  switch (how) {
    case How::kUpdate: return ScatterNd({a, data}, {a, indices}, updates, "none");
    case How::kAdd: return ScatterNd({a, data}, {a, indices}, updates, "add");
    case How::kMul: return ScatterNd({a, data}, {a, indices}, updates, "mul");
    case How::kMax: return ScatterNd({a, data}, {a, indices}, updates, "max");
    case How::kMin: return ScatterNd({a, data}, {a, indices}, updates, "min");
    case How::kSub:  // 0 - 0 is 0, and not -0
      updates = IsFloating(t) ? a.Op("neg", {updates})
                              : a.Op("sub", {Expr(a, updates).Number(0), updates});
      return ScatterNd({a, data}, {a, indices}, updates, "add");
    case How::kDiv: break;
  }
  // One division each.
  const int64_t rank = Expr(a, indices).rank();
  const Dim depth = rank > 0 ? (*indices->shape())[rank - 1] : Dim::Unknown();
  if (distinct || (depth.is_static() && AreDistinct(indices, depth.value()))) {
    Value* there = a.Op("gather_nd", {data, a.AsInt64(indices)}, {{"batch_dims", 0}});
    return ScatterNd({a, data}, {a, indices}, a.Op("div", {there, updates}), "none");
  }
  // By the product of all divisors, which has digits to spare.
  a.Require(t == DType::kFloat32 || AtLeastFloat32(t) == DType::kFloat32,
            "several divisions of one element");
  if (!a.b().status().ok()) return data;
  Value* ones = a.Op("expand", {a.b().Scalar(DType::kFloat64, 1), a.Op("shape", {data})});
  Value* divisor = ScatterNd({a, ones}, {a, indices}, a.Cast(updates, DType::kFloat64), "mul");
  return a.Cast(a.Op("div", {a.Cast(data, DType::kFloat64), divisor}), t);
}

template <How kHow>
Value* TensorScatter(TfArgs& a) {
  RefuseIgnoredIndices(a);
  return Combine(a, kHow, a.in(0), TuplesOf(a, 1, a.in(0)), a.in(2));
}

// Updates put into zeros; those of one place add up.
Value* FromNothing(TfArgs& a) {
  RefuseIgnoredIndices(a);
  Value* updates = a.in(1);
  if (!IsFloating(updates->dtype()) && !IsInteger(updates->dtype())) {
    a.b().Fail(Unimplemented("updates of ", Name(updates->dtype())));
    return updates;
  }
  Value* zeros = a.Op("expand", {Expr(a, updates).Number(0), a.AsInt64(a.in(2))});
  return Combine(a, How::kAdd, zeros, TuplesOf(a, 0, zeros), updates);
}

// --- Variables ------------------------------------------------------------------------------

// A node that changes a variable gives its new value. That is correct only if the change is visible
// nowhere else: the variable has no other user, and the node runs once.
void ExpectOwnVariable(TfArgs& a) {
  const Value* variable = a.in(0);
  a.Require(variable->uses().size() == 1 && !variable->is_graph_output(),
            "the variable that is changed is used elsewhere too; the order is not certain");
  a.Require(a.node().graph()->parent() == nullptr, "a variable that a nested graph changes");
}

Value* Assign(TfArgs& a) {
  ExpectOwnVariable(a);
  a.Ignore("validate_shape");
  return a.Op("identity", {a.in(1)});
}

Value* AssignAdd(TfArgs& a) {
  ExpectOwnVariable(a);
  return a.Op("add", {a.in(0), a.in(1)});
}

Value* AssignSub(TfArgs& a) {
  ExpectOwnVariable(a);
  return a.Op("sub", {a.in(0), a.in(1)});
}

// What a temporary variable is at its end.
Value* Destroyed(TfArgs& a) {
  a.Ignore("var_name");
  return a.Op("identity", {a.in(0)});
}

// The value of a variable before its first assignment is not known, and not needed.
absl::StatusOr<Value*> Variable(TfArgs& a) {
  const Value* variable = a.node().output(0);
  const bool assigned = variable && variable->uses().size() == 1 && !variable->is_graph_output() &&
                        variable->uses()[0].node->op().view() == "Assign" &&
                        variable->uses()[0].index == 0;
  if (!assigned) {
    return Invalid(
        "the variable has no value in this file: freeze the graph, or give the SavedModel's folder "
        "with its variables");
  }
  for (const auto& entry : a.node().attrs()) a.Ignore(entry.first);
  return a.Op("identity", {a.b().Constant(Tensor::Zeros(a.Type("dtype", DType::kFloat32), {}))});
}

template <How kHow>
Value* ScatterNdOfVariable(TfArgs& a) {
  ExpectOwnVariable(a);
  return Combine(a, kHow, a.in(0), TuplesOf(a, 1, a.in(0)), a.in(2));
}

// Slices at indices of the first axis, which are of any shape; one number may be the update of all.
template <How kHow>
Value* ScatterOfVariable(TfArgs& a) {
  ExpectOwnVariable(a);
  Value* data = a.in(0);
  Value* updates = a.in(2);
  const int64_t rank = Expr(a, data).rank(), of_updates = Expr(a, updates).rank();
  if (rank < 1 || of_updates < 0 || !a.b().status().ok()) return data;
  const int64_t of_places = of_updates - (rank - 1);
  if (of_updates > 0 && of_places >= 0) {  // one for each index
    Value* places = nullptr;
    if (of_places == 0) {
      places = ReshapeTo(a.in(1), Ints(a, {1, 1}));
      updates = Unsqueeze({a, updates}, {0});
    } else if (a.in(1)->shape()) {
      places = Unsqueeze(a.in(1), {-1});
    } else {
      places =
          ReshapeTo(a.in(1), Concat(a, {ShapeOf({a, updates}, 0, of_places), Ints(a, {1})}, 0));
    }
    return Combine(a, kHow, data, places, updates, AreDistinct(a.in(1), 1));
  }
  Value* indices = ReshapeTo(a.in(1), Ints(a, {-1, 1}));
  Value* sizes = ShapeOf({a, indices}, 0, 1);
  if (rank > 1) sizes = Concat(a, {sizes, ShapeOf({a, data}, 1)}, 0);
  updates = of_updates == 0 ? a.Op("expand", {updates, sizes}) : ReshapeTo({a, updates}, sizes);
  return Combine(a, kHow, data, indices, updates, AreDistinct(a.in(1), 1));
}

// --- Sparse tensors -------------------------------------------------------------------------

Value* AddToDense(TfArgs& a) {
  a.in(2);  // the shape is that of operand 3
  return ScatterNd(a.in(3), a.in(0), a.in(1), "add");
}

absl::StatusOr<Value*> SparseToDense(TfArgs& a) {
  a.Ignore("validate_indices");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t of_values, a.Rank(2));
  if (rank > 2 || of_values > 1) return Invalid("expected indices of rank 0 to 2");
  Value* indices = a.AsInt64(a.in(0));
  if (rank < 2) indices = ReshapeTo({a, indices}, Ints(a, {-1, 1}));
  Value* values = a.in(2);
  if (of_values == 0) values = a.Op("expand", {values, ShapeOf({a, indices}, 0, 1)});
  Value* dense = a.Op("expand", {a.in(3), a.AsInt64(a.in(1))});
  return ScatterNd({a, dense}, {a, indices}, values, "none");
}

// The rows of the other matrix that the elements meet, each times its element; a product with the
// zeros would make something of infinities.
Value* SparseTimesDense(TfArgs& a) {
  const bool adjoint_x = a.Bool("adjoint_a", false), adjoint_y = a.Bool("adjoint_b", false);
  Value* y = a.in(3);
  a.Require(!IsComplex(y->dtype()), "complex matrices");
  if (adjoint_y) y = Transpose({a, y}, {1, 0});
  const int64_t row = adjoint_x ? 1 : 0;
  const auto column = [&](int64_t i) { return Gather(a.in(0), a.b().Int(i), 1); };
  Value* met = Gather({a, y}, column(1 - row), 0);
  Value* terms = a.Op("mul", {met, Unsqueeze(a.in(1), {1})});
  Value* rows = Gather(a.AsInt64(a.in(2)), a.b().Int(row), 0);
  const DType t = terms->dtype();
  if (!IsFloating(t) && !IsInteger(t)) {
    a.b().Fail(Unimplemented("matrices of ", Name(t)));
    return terms;
  }
  Value* sum = CombineRows(a.Cast(terms, AtLeastFloat32(t)), {a, column(row)}, {a, rows}, "add",
                           {a, a.b().Scalar(AtLeastFloat32(t), 0)});
  return a.Cast(sum, t);
}

Value* FromGather(TfArgs& a) {
  a.Ignore("validate_indices");
  return a.Op("gather", {a.in(0), IndexOf(a, 0)}, {{"axis", 0}});
}

// The axes of the operand between the batch and `axis` move after those of the indices, and
// back in the end.
absl::StatusOr<Value*> GatherWithBatch(TfArgs& a, int64_t axis, int64_t batch) {
  if (batch == 0 && axis >= 0) return a.Op("gather", {a.in(0), IndexOf(a, axis)}, {{"axis", axis}});
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t of_indices, a.Rank(1));
  if (batch < 0) batch += of_indices;
  if (axis < 0) axis += rank;
  if (batch < 0 || batch > of_indices || axis < batch || axis >= rank) {
    return Invalid("batch_dims = ", batch, " and axis = ", axis, " of operands of rank ", rank,
                   " and ", of_indices);
  }
  if (batch == 0) return a.Op("gather", {a.in(0), IndexOf(a, axis)}, {{"axis", axis}});
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + batch, perm.begin() + axis, perm.begin() + axis + 1);
  Value* data = axis == batch ? a.in(0) : Transpose(a.in(0), perm);
  Value* indices = a.Op("unsqueeze", {a.AsInt64(a.in(1)), a.b().Ints({-1})});
  Value* picked = a.Op("gather_nd", {data, indices}, {{"batch_dims", batch}});
  if (axis == batch) return picked;
  // Now: batch, indices, before the axis, after it.
  const int64_t before = axis - batch, of_picks = of_indices - batch;
  std::vector<int64_t> back;
  for (int64_t i = 0; i < batch; ++i) back.push_back(i);
  for (int64_t i = 0; i < before; ++i) back.push_back(of_indices + i);
  for (int64_t i = 0; i < of_picks; ++i) back.push_back(batch + i);
  for (int64_t i = of_indices + before; i < rank - 1 + of_picks; ++i) back.push_back(i);
  return Transpose({a, picked}, std::move(back));
}

absl::StatusOr<Value*> GatherV2(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, a.KnownInt(2, "axis"));
  return GatherWithBatch(a, axis, a.Int("batch_dims", 0));
}

absl::StatusOr<Value*> ResourceGather(TfArgs& a) {
  a.Ignore("validate_indices");
  a.Ignore("dtype");
  const int64_t batch = a.Int("batch_dims", 0);
  return GatherWithBatch(a, batch, batch);
}

Value* GatherNd(TfArgs& a) {
  a.Ignore("dtype");
  RefuseIgnoredIndices(a);
  return a.Op("gather_nd", {a.in(0), TuplesOf(a, 1, a.in(0))}, {{"batch_dims", 0}});
}

// TensorFlow takes no negative indices.
absl::StatusOr<Value*> ToTfGather(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  Value* index = w.in(1);
  if (!w.CountsFromTheFront(*index)) {
    index = w.FromTheFront(index, SizeOf({w.b(), w.in(0)}, axis));
  }
  return w.Tf("GatherV2", {w.in(0), index, w.Int32(axis)}, {{"batch_dims", 0}});
}

absl::StatusOr<Value*> ToTfGatherNd(TfWriter& w) {
  if (w.Int("batch_dims") != 0) return CannotExpress("batch axes");
  X2IR_RETURN_IF_ERROR(w.Rank().status());
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  return w.Tf("GatherNd", {w.in(0), tuples});
}

absl::StatusOr<Value*> ToTfScatterNd(TfWriter& w) {
  const std::string& how = w.String("reduction");
  if (how == "mul") return CannotExpress("products");
  X2IR_RETURN_IF_ERROR(w.Rank().status());
  X2IR_ASSIGN_OR_RETURN(const TfUpdates to_put, UpdatesFromTheFront(w));
  return w.Tf(how == "add"   ? "TensorScatterAdd"
              : how == "max" ? "TensorScatterMax"
              : how == "min" ? "TensorScatterMin"
                             : "TensorScatterUpdate",
              {w.in(0), to_put.tuples, to_put.updates});
}

absl::StatusOr<Value*> ToTfScatterElements(TfWriter& w) {
  if (w.String("reduction") == "mul") return CannotExpress("products");
  return ScatterElementsByTuples(w);
}

}  // namespace

X2IR_TF(scatter_nd)
    .To("TensorScatterUpdate", ToTfScatterNd)
    .From({{"ScatterNd", FromNothing},
           {"TensorScatterUpdate", TensorScatter<How::kUpdate>},
           {"TensorScatterAdd", TensorScatter<How::kAdd>},
           {"TensorScatterSub", TensorScatter<How::kSub>},
           {"TensorScatterMax", TensorScatter<How::kMax>},
           {"TensorScatterMin", TensorScatter<How::kMin>},
           {"ScatterNdNonAliasingAdd", TensorScatter<How::kAdd>},
           {"ScatterNdUpdate", ScatterNdOfVariable<How::kUpdate>},
           {"ScatterNdAdd", ScatterNdOfVariable<How::kAdd>},
           {"ScatterNdSub", ScatterNdOfVariable<How::kSub>},
           {"ScatterNdMax", ScatterNdOfVariable<How::kMax>},
           {"ScatterNdMin", ScatterNdOfVariable<How::kMin>},
           {"ScatterUpdate", ScatterOfVariable<How::kUpdate>},
           {"ScatterAdd", ScatterOfVariable<How::kAdd>},
           {"ScatterSub", ScatterOfVariable<How::kSub>},
           {"ScatterMul", ScatterOfVariable<How::kMul>},
           {"ScatterDiv", ScatterOfVariable<How::kDiv>},
           {"ScatterMax", ScatterOfVariable<How::kMax>},
           {"ScatterMin", ScatterOfVariable<How::kMin>},
           {"SparseTensorDenseAdd", AddToDense},
           {"SparseToDense", SparseToDense},
           {"SparseTensorDenseMatMul", SparseTimesDense}});
X2IR_TF(identity).From({{"Assign", Assign},
                        {"VariableV2", Variable},
                        {"Variable", Variable},
                        {"TemporaryVariable", Variable},
                        {"DestroyTemporaryVariable", Destroyed}});
X2IR_TF(add).From("AssignAdd", AssignAdd);
X2IR_TF(sub).From("AssignSub", AssignSub);
X2IR_TF(gather)
    .To("GatherV2", ToTfGather)
    .From({{"Gather", FromGather}, {"GatherV2", GatherV2}, {"ResourceGather", ResourceGather}});
X2IR_TF(gather_nd)
    .To("GatherNd", ToTfGatherNd)
    .From({{"GatherNd", GatherNd}, {"ResourceGatherNd", GatherNd}});
X2IR_TF(scatter_elements).To("TensorScatterUpdate", ToTfScatterElements);

}  // namespace x2ir
