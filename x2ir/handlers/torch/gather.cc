// Indexing by tensors: x[i, :, mask] and assignments to it.
#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/torch/indexing_internal.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// The indices of the axes that have one, broadcast together, and their position in the result: in
// place of the indexed axes where these are adjacent, else first.
struct Index {
  std::vector<int64_t> axes;    // that are indexed
  std::vector<Value*> tensors;  // one each, of one rank
  int64_t rank = 0;             // of all of them broadcast
  int64_t at = 0;               // the first of the result's axes that is theirs
  std::vector<int64_t> perm;    // of x: the indexed axes first
};

// Every mask becomes one index for each of its axes.
std::vector<Value*> WithoutMasks(TorchCall& c, const std::vector<Value*>& indices) {
  std::vector<Value*> result;
  for (Value* index : indices) {
    if (!index || (index->dtype() != DType::kBool && index->dtype() != DType::kUInt8)) {
      result.push_back(index ? c.Cast(index, DType::kInt64) : nullptr);
      continue;
    }
    const int64_t rank = c.Rank(index);
    if (rank == 0) c.Fail(Unimplemented("a mask of rank 0 as an index"));
    Value* places = c.Op("non_zero", {index});
    for (int64_t i = 0; i < rank; ++i)
      result.push_back(Gather({c, places}, Unsqueeze(Int(c, i), {0}), 0));
    for (size_t i = result.size() - static_cast<size_t>(rank); i < result.size(); ++i) {
      result[i] = Squeeze({c, result[i]}, {0});
    }
  }
  return result;
}

Index ReadIndex(TorchCall& c, const Value* x, const std::vector<Value*>& indices) {
  Index index;
  const int64_t rank = c.Rank(x);
  if (static_cast<int64_t>(indices.size()) > rank) {
    c.Fail(Invalid("indices: ", indices.size(), " of a tensor of rank ", rank));
    return index;
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i]) continue;
    index.axes.push_back(static_cast<int64_t>(i));
    index.tensors.push_back(indices[i]);
    index.rank = std::max(index.rank, c.Rank(indices[i]));
  }
  if (index.axes.empty()) return index;
  const int64_t count = static_cast<int64_t>(index.axes.size());
  if (index.axes.back() - index.axes.front() == count - 1) index.at = index.axes.front();
  index.perm = index.axes;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::find(index.axes.begin(), index.axes.end(), i) == index.axes.end()) {
      index.perm.push_back(i);
    }
  }
  return index;
}

// All indices as tuples along a new last axis, for gather_nd and scatter_nd.
Value* Tuples(TorchCall& c, const Index& index) {
  Value* shape = nullptr;
  // Adding zeros broadcasts, whatever the sizes turn out to be.
  for (Value* t : index.tensors) {
    Value* zeros = c.Op("sub", {t, t});
    shape = shape ? c.Op("add", {shape, zeros}) : zeros;
  }
  std::vector<Value*> columns;
  for (Value* t : index.tensors) {
    Value* full = index.tensors.size() == 1 ? t : c.Op("add", {t, shape});
    columns.push_back(Unsqueeze({c, full}, {index.rank}));
  }
  return Concat(c, std::move(columns), index.rank);
}

std::vector<int64_t> Inverse(const std::vector<int64_t>& perm) {
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  }
  return inverse;
}

Value* TransposeBy(TorchCall& c, Value* x, const std::vector<int64_t>& perm) {
  return std::is_sorted(perm.begin(), perm.end()) ? x : Transpose({c, x}, perm);
}

// How the axes of a result with the indices' axes in front go to where PyTorch has them.
std::vector<int64_t> PlaceOf(const Index& index, int64_t rank) {
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < index.at; ++i) perm.push_back(index.rank + i);
  for (int64_t i = 0; i < index.rank; ++i) perm.push_back(i);
  const int64_t rest = rank - static_cast<int64_t>(index.axes.size());
  for (int64_t i = index.at; i < rest; ++i) perm.push_back(index.rank + i);
  return perm;
}

Value* Get(TorchCall& c, Value* x, const std::vector<Value*>& indices) {
  const Index index = ReadIndex(c, x, indices);
  if (index.axes.empty()) return x;
  if (index.axes.size() == 1) {
    return c.Op("gather", {x, index.tensors[0]}, {{"axis", index.axes[0]}});
  }
  Value* found = c.Op("gather_nd", {TransposeBy(c, x, index.perm), Tuples(c, index)});
  return TransposeBy(c, found, PlaceOf(index, c.Rank(x)));
}

Value* Put(TorchCall& c, Value* x, const std::vector<Value*>& indices, Value* values,
           bool accumulate) {
  const DType t = x->dtype();
  if (accumulate && t == DType::kBool) {
    return IsTrue(
        {c, Put(c, c.Cast(x, DType::kInt32), indices, c.Cast(values, DType::kInt32), true)});
  }
  const Index index = ReadIndex(c, x, indices);
  if (index.axes.empty()) {
    values = Expand({c, values}, ShapeOf({c, x}));
    return accumulate ? c.Op("add", {x, values}) : values;
  }
  Value* data = TransposeBy(c, x, index.perm);
  Value* tuples = Tuples(c, index);
  // The values in the shape of what they replace, indexed axes where PyTorch has them.
  std::vector<Value*> sizes;
  const int64_t rank = c.Rank(x), count = static_cast<int64_t>(index.axes.size());
  const auto part = [&](Value* of, int64_t from, int64_t to) {
    if (from < to) sizes.push_back(c.Op("shape", {of}, {{"start", from}, {"end", to}}));
  };
  part(data, count, count + index.at);
  part(tuples, 0, index.rank);
  part(data, count + index.at, rank);
  values = sizes.empty() ? Reshape({c, values}, {}) : Expand({c, values}, Concat(c, sizes, 0));
  values = TransposeBy(c, values, Inverse(PlaceOf(index, rank)));
  Value* result =
      c.Op("scatter_nd", {data, tuples, values}, {{"reduction", accumulate ? "add" : "none"}});
  return TransposeBy(c, result, Inverse(index.perm));
}

Values IndexTensor(TorchCall& c) {
  Value* x = c.Tensor("self");
  return {Get(c, x, WithoutMasks(c, c.OptTensors("indices")))};
}

Values IndexPut(TorchCall& c) {
  Value* x = c.Tensor("self");
  const std::vector<Value*> indices = c.OptTensors("indices");
  Value* values = c.Cast(c.Tensor("values"), x->dtype());
  const bool accumulate = c.Bool("accumulate", false);
  c.Ignore({"unsafe"});
  // One value at a mask needs no positions.
  if (!accumulate && c.Rank(values) == 0 && indices.size() == 1 && indices[0] &&
      indices[0]->dtype() == DType::kBool && c.Rank(indices[0]) > 0) {
    std::vector<int64_t> behind;
    for (int64_t i = c.Rank(indices[0]); i < c.Rank(x); ++i) behind.push_back(i);
    return {Select(Unsqueeze({c, indices[0]}, behind), {c, values}, {c, x})};
  }
  return {Put(c, x, WithoutMasks(c, indices), values, accumulate)};
}

// Indices made fit, for elements that a mask takes out later.
std::vector<Value*> Clamped(TorchCall& c, Value* x, std::vector<Value*> indices) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i]) continue;
    Value* size = SizeOf({c, x}, static_cast<int64_t>(i));
    Value* index = c.Cast(indices[i], DType::kInt64);
    index = c.Op("max", {index, c.Op("neg", {size})});
    indices[i] = c.Op("min", {index, c.Op("sub", {size, Int(c, 1)})});
  }
  return indices;
}

Values MaskedIndex(TorchCall& c) {
  Value* x = c.Tensor("self");
  Value* mask = IsTrue(c.Tensor("mask"));
  const std::vector<Value*> indices = Clamped(c, x, c.OptTensors("indices"));
  Value* fill = c.Operand("fill", x->dtype());
  return {Select({c, mask}, {c, Get(c, x, indices)}, {c, fill})};
}

Values MaskedIndexPut(TorchCall& c) {
  Value* x = c.Tensor("self");
  Value* mask = IsTrue(c.Tensor("mask"));
  const std::vector<Value*> indices = Clamped(c, x, c.OptTensors("indices"));
  Value* values = c.Tensor("values");
  return {Put(c, x, indices, Select({c, mask}, {c, values}, c.Constant(values->dtype(), 0)), true)};
}

X2IR_TORCH(gather_nd)
    .From({"aten::index.Tensor", "aten::_unsafe_index.Tensor"}, IndexTensor)
    .From("aten::_unsafe_masked_index.default", MaskedIndex);
X2IR_TORCH(scatter_nd)
    .From({"aten::index_put.default", "aten::_unsafe_index_put.default",
           "aten::_index_put_impl.default"},
          IndexPut)
    .From("aten::_unsafe_masked_index_put_accumulate.default", MaskedIndexPut);

// x[:, :, index]: negative indices count from the end, as in the IR.
absl::StatusOr<Value*> WriteGather(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  std::vector<Value*> indices(static_cast<size_t>(axis) + 1, nullptr);
  if (w.in(1)->shape() && w.in(1)->shape()->rank() == 0) {
    if (const auto known = KnownInts(w.in(1))) {
      return w.Call("aten::select.int", {{"self", w.in(0)}, {"dim", axis}, {"index", (*known)[0]}});
    }
  }
  indices.back() = w.Cast(w.in(1), DType::kInt64);
  return w.Call("aten::index.Tensor", {{"self", w.in(0)}, {"indices", std::move(indices)}});
}

absl::StatusOr<Value*> WriteGatherElements(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(w.Rank().status());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  Value* index = FromTheFront(w, w.in(1), w.in(0), axis);
  return w.Call("aten::gather.default", {{"self", w.in(0)}, {"dim", axis}, {"index", index}});
}

absl::StatusOr<Value*> WriteGatherNd(TorchWriter& w) {
  if (w.Int("batch_dims") != 0) return CannotExpress("batch axes");
  X2IR_ASSIGN_OR_RETURN(std::vector<Value*> columns, ColumnsOf(w, w.in(1)));
  if (columns.empty()) return CannotExpress("tuples of nothing");
  return w.Call("aten::index.Tensor", {{"self", w.in(0)}, {"indices", std::move(columns)}});
}

// PyTorch has a row for each element, the IR a column.
absl::StatusOr<Value*> WriteNonZero(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  Value* rows = w.Call("aten::nonzero.default", {{"self", w.in(0)}},
                       Type::Tensor(DType::kInt64, Shape({Dim(), Dim(rank)})));
  return w.Op("transpose", {rows}, {{"perm", {1, 0}}});
}

absl::StatusOr<Value*> WriteCompress(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const PlacesThatHold found, CompressByGather(w));
  return w.Op("gather", {found.x, found.places}, {{"axis", found.axis}});
}

// PyTorch does not give the index of an element's first occurrence.
absl::StatusOr<Values> WriteUnique(TorchWriter& w) {
  if (w.wants(1)) return CannotExpress("the first places of elements");
  if (w.Int("sorted") == 0) return CannotExpress("elements in the order of the operand");
  const std::vector<bool> wanted = {true, w.wants(2), w.wants(3)};
  const Type places = Type::Tensor(DType::kInt64, std::nullopt);
  const bool of_axis = w.attrs().Has("axis");
  TorchArguments arguments = {{"self", w.in(0)}};
  if (of_axis) {
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    arguments.emplace_back("dim", axis);
  }
  arguments.emplace_back("sorted", true);
  arguments.emplace_back("return_inverse", w.wants(2));
  arguments.emplace_back("return_counts", w.wants(3));
  const Values made = w.Calls(of_axis ? "aten::unique_dim.default" : "aten::_unique2.default",
                              std::move(arguments), wanted, {w.out_type(), places, places});
  Values values = {w.wants(0) ? made[0] : nullptr, nullptr, made[1], made[2]};
  if (made[1] && !of_axis) values[2] = w.Reshape(made[1], {-1});
  values.resize(w.node().num_outputs());
  return values;
}

// Of equal elements, that with the lowest index goes first; PyTorch's topk does not say which.
absl::StatusOr<Values> WriteTopK(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const TorchScalar k = w.Scalar(w.in(1));
  const bool largest = w.Int("largest") != 0;
  if (!w.wants(1)) {
    return Values{w.Calls("aten::topk.default",
                          {{"self", w.in(0)},
                           {"k", k},
                           {"dim", axis},
                           {"largest", largest},
                           {"sorted", w.Int("sorted") != 0}},
                          {true, false}, {w.out_type()})[0],
                  nullptr};
  }
  const Shape* shape = w.in(0)->shape();
  const Type places = shape ? Type::Tensor(DType::kInt64, *shape) : Type::Tensor(DType::kInt64);
  Values sorted =
      w.Calls("aten::sort.stable",
              {{"self", w.in(0)}, {"stable", true}, {"dim", axis}, {"descending", largest}},
              {w.wants(0), true}, {w.in(0)->type(), places});
  for (size_t i = 0; i < 2; ++i) {
    if (!sorted[i]) continue;
    sorted[i] = w.Call("aten::slice.Tensor",
                       {{"self", sorted[i]}, {"dim", axis}, {"start", 0}, {"end", k}, {"step", 1}},
                       w.out_type(i));
  }
  return sorted;
}

}  // namespace

X2IR_TORCH(gather).To("aten::index.Tensor", WriteGather);
X2IR_TORCH(gather_elements).To("aten::gather.default", WriteGatherElements);
X2IR_TORCH(gather_nd).To("aten::index.Tensor", WriteGatherNd);
X2IR_TORCH(non_zero).To("aten::nonzero.default", WriteNonZero);
X2IR_TORCH(compress).To("aten::index.Tensor", WriteCompress);
X2IR_TORCH(unique).To("aten::_unique2.default", WriteUnique);
X2IR_TORCH(top_k).To("aten::topk.default", WriteTopK);

}  // namespace x2ir
