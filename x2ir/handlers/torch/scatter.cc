// Elements and slices taken from, or put at, positions along an axis.
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/torch/indexing_internal.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// --- Slices ---------------------------------------------------------------------------------

Values IndexSelect(TorchCall& c) {
  Value* self = c.Tensor("self");
  const int64_t axis = c.Axis("dim", self);
  Value* index = AtLeast1d(c.Tensor("index"));
  return {LikeRank(c.Op("gather", {AtLeast1d({c, self}), index}, {{"axis", axis}}), self)};
}

// What index_add, index_copy, index_fill and index_reduce have in common: slices put at indices.
struct Slices {
  Value *self, *data, *index;
  int64_t axis;
};

Slices ReadSlices(TorchCall& c) {
  Value* self = c.Tensor("self");
  return {self, AtLeast1d({c, self}), AtLeast1d(c.Tensor("index")), c.Axis("dim", self)};
}

// A source of rank 0 is one element.
Value* Source(TorchCall& c, DType t) { return AtLeast1d(c.Cast(c.Tensor("source"), t)); }

Values IndexAdd(TorchCall& c) {
  const Slices s = ReadSlices(c);
  const DType t = s.self->dtype();
  Value* source = Source(c, t);
  const TorchNumber alpha = c.Number("alpha", 1);
  if (t != DType::kBool && !(alpha.is_integral() && alpha.i == 1)) {
    source = c.Op("mul", {source, c.Constant(t, alpha)});
  }
  return {LikeRank(ScatterSlices({c, s.data}, s.axis, {c, s.index}, {c, source}, "add"), s.self)};
}

Values IndexCopy(TorchCall& c) {
  const Slices s = ReadSlices(c);
  Value* source = Source(c, s.self->dtype());
  return {LikeRank(ScatterSlices({c, s.data}, s.axis, {c, s.index}, {c, source}, "none"), s.self)};
}

Values IndexFill(TorchCall& c) {
  const Slices s = ReadSlices(c);
  Value* value = c.Operand("value", s.self->dtype());
  value = Expand({c, value}, ShapeWith({c, s.data}, s.axis, SizeOf({c, s.index}, 0)));
  return {LikeRank(ScatterSlices({c, s.data}, s.axis, {c, s.index}, {c, value}, "none"), s.self)};
}

// --- Reductions into a tensor ---------------------------------------------------------------

const char* ReductionName(TorchCall& c, const std::string& reduce) {
  constexpr struct {
    std::string_view torch;
    const char* ir;
  } kNames[] = {{"sum", "add"},  {"add", "add"},  {"prod", "mul"}, {"multiply", "mul"},
                {"amax", "max"}, {"amin", "min"}, {"mean", "add"}};
  for (const auto& name : kNames) {
    if (name.torch == reduce) return name.ir;
  }
  c.Fail(Invalid("reduce: '", reduce, "'"));
  return "none";
}

// What a reduction starts from where self does not take part.
Value* Identity(TorchCall& c, std::string_view reduction, DType t) {
  if (reduction == "max") return Extreme(c, t, false);
  if (reduction == "min") return Extreme(c, t, true);
  return c.Constant(t, reduction == "mul" ? 1 : 0);
}

// data with src put in by index, which has the shape of src.
Value* ScatterReduce(TorchCall& c, Value* data, int64_t axis, Value* index, Value* src,
                     const std::string& reduce, bool include_self) {
  const DType t = data->dtype();
  if (t == DType::kBool) {
    Value* numbers = ScatterReduce(c, c.Cast(data, DType::kInt32), axis, index,
                                   c.Cast(src, DType::kInt32), reduce, include_self);
    return IsTrue({c, numbers});
  }
  const char* reduction = ReductionName(c, reduce);
  Value* shape = ShapeOf({c, index});
  const auto full = [&](Value* v) { return Expand({c, v}, shape); };
  const auto scatter = [&](Value* to, Value* updates, const char* how) {
    return ScatterElements({c, to}, axis, {c, index}, {c, updates}, how);
  };
  Value* start = data;
  if (!include_self) start = scatter(data, full(Identity(c, reduction, t)), "none");
  Value* result = scatter(start, src, reduction);
  if (reduce != "mean") return result;
  // Where nothing came the count is 1, and self stays.
  const DType computed = IsFloating(t) ? AtLeastFloat32(t) : DType::kInt64;
  Value* zeros = Expand(Int(c, include_self ? 1 : 0), ShapeOf({c, data}));
  Value* count = c.Op("max", {scatter(zeros, full(Int(c, 1)), "add"), Int(c, 1)});
  if (IsFloating(t)) {
    return c.Cast(c.Op("div", {c.Cast(result, computed), c.Cast(count, computed)}), t);
  }
  // Integers are rounded down.
  Value* sum = c.Cast(result, computed);
  Value* rest = c.Op("mod", {sum, count});  // of the divisor's sign
  return c.Cast(c.Op("div", {c.Op("sub", {sum, rest}), count}), t);
}

Values IndexReduce(TorchCall& c) {
  const Slices s = ReadSlices(c);
  Value* source = Source(c, s.self->dtype());
  const std::string reduce = c.String("reduce");
  const bool include_self = c.Bool("include_self", true);
  Value* index = AlongAxis(c.Cast(s.index, DType::kInt64), s.axis, c.Rank(s.data));
  index = Expand({c, index}, ShapeOf({c, source}));
  return {
      LikeRank({c, ScatterReduce(c, s.data, s.axis, index, source, reduce, include_self)}, s.self)};
}

// --- Elements -------------------------------------------------------------------------------

Values GatherCall(TorchCall& c) {
  Value* self = c.Tensor("self");
  const int64_t axis = c.Axis("dim", self);
  Value* index = c.Tensor("index");
  c.Ignore({"sparse_grad"});
  Value* found =
      c.Op("gather_elements", {AtLeast1d({c, self}), AtLeast1d(c.Cast(index, DType::kInt64))},
           {{"axis", axis}});
  return {LikeRank({c, found}, index)};
}

// src may be larger than the index: what is beyond it is not used.
Value* CutTo(TorchCall& c, Value* src, Value* index) {
  const Shape *have = src->shape(), *want = index->shape();
  if (have && want && have->rank() == want->rank()) {
    bool same = true;
    for (int64_t i = 0; i < have->rank(); ++i) same = same && (*have)[i] == (*want)[i];
    if (same) return src;
  }
  std::vector<int64_t> starts(static_cast<size_t>(c.Rank(src)), 0);
  return c.Op("slice", {src, Ints(c, starts), ShapeOf({c, index}), Ints(c, AllAxes({c, src}))});
}

// The overloads: a tensor or a number to put, with or without a reduction.
Values ScatterAlong(TorchCall& c, bool number, std::string_view fixed_reduce) {
  Value* self = c.Tensor("self");
  const int64_t axis = c.Axis("dim", self);
  Value* index = AtLeast1d(c.Tensor("index"));
  const std::string reduce(fixed_reduce.empty() ? c.String("reduce", "") : fixed_reduce);
  const bool include_self = c.Bool("include_self", true);
  Value* src = number ? Expand(c.Operand("value", self->dtype()), ShapeOf({c, index}))
                      : CutTo(c, AtLeast1d(c.Tensor("src")), index);
  Value* data = AtLeast1d({c, self});
  Value* result = reduce.empty() ? ScatterElements({c, data}, axis, {c, index}, {c, src}, "none")
                                 : ScatterReduce(c, data, axis, index, src, reduce, include_self);
  return {LikeRank({c, result}, self)};
}

Values Take(TorchCall& c) {
  Value* self = c.Tensor("self");
  Value* index = c.Cast(c.Tensor("index"), DType::kInt64);
  return {c.Op("gather", {Reshape({c, self}, {-1}), index}, {{"axis", 0}})};
}

Values PutAt(TorchCall& c) {
  Value* self = c.Tensor("self");
  Value* index = Flat(c.Tensor("index"));
  Value* source = Flat(c.Cast(c.Tensor("source"), self->dtype()));
  const bool accumulate = c.Bool("accumulate", false);
  Value* result =
      ScatterElements(Flat({c, self}), 0, {c, index}, {c, source}, accumulate ? "add" : "none");
  return {ReshapeTo({c, result}, ShapeOf({c, self}))};
}

Values TakeAlongDim(TorchCall& c) {
  Value* self = c.Tensor("self");
  Value* indices = c.Cast(c.Tensor("indices"), DType::kInt64);
  if (!c.Has("dim")) {
    c.Ignore({"dim"});
    return {c.Op("gather_elements", {Flat({c, self}), Flat({c, indices})}, {{"axis", 0}})};
  }
  const int64_t axis = c.Axis("dim", self);
  // Broadcast to each other, but for the axis.
  Value* one = Int(c, 1);
  Value* x = Expand({c, self}, ShapeWith({c, indices}, axis, one));
  Value* at = Expand({c, indices}, ShapeWith({c, self}, axis, one));
  return {c.Op("gather_elements", {x, at}, {{"axis", axis}})};
}

X2IR_TORCH(gather).From("aten::index_select.default", IndexSelect).From("aten::take.default", Take);
X2IR_TORCH(gather_elements)
    .From("aten::gather.default", GatherCall)
    .From("aten::take_along_dim.default", TakeAlongDim);
X2IR_TORCH(scatter_elements)
    .From("aten::index_add.default", IndexAdd)
    .From("aten::index_copy.default", IndexCopy)
    .From({"aten::index_fill.int_Scalar", "aten::index_fill.int_Tensor"}, IndexFill)
    .From("aten::index_reduce.default", IndexReduce)
    .From({"aten::scatter.src", "aten::scatter.reduce", "aten::scatter_reduce.two"},
          [](TorchCall& c) { return ScatterAlong(c, false, ""); })
    .From({"aten::scatter.value", "aten::scatter.value_reduce"},
          [](TorchCall& c) { return ScatterAlong(c, true, ""); })
    .From("aten::scatter_add.default", [](TorchCall& c) { return ScatterAlong(c, false, "sum"); })
    .From("aten::put.default", PutAt);

absl::StatusOr<Value*> WriteScatterElements(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(w.Rank().status());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const std::string& how = w.String("reduction");
  TorchArguments arguments = {{"self", w.in(0)},
                              {"dim", axis},
                              {"index", FromTheFront(w, w.in(1), w.in(0), axis)},
                              {"src", w.in(2)}};
  if (how == "none") return w.Call("aten::scatter.src", std::move(arguments));
  if (how == "add") return w.Call("aten::scatter_add.default", std::move(arguments));
  arguments.emplace_back("reduce", how == "mul" ? "prod" : how == "max" ? "amax" : "amin");
  return w.Call("aten::scatter_reduce.two", std::move(arguments));
}

absl::StatusOr<Value*> WriteScatterNd(TorchWriter& w) {
  const std::string& how = w.String("reduction");
  if (how != "none" && how != "add") return CannotExpress("reduction ", how);
  X2IR_ASSIGN_OR_RETURN(std::vector<Value*> columns, ColumnsOf(w, w.in(1)));
  if (columns.empty()) return CannotExpress("tuples of nothing");
  return w.Call("aten::index_put.default", {{"self", w.in(0)},
                                            {"indices", std::move(columns)},
                                            {"values", w.in(2)},
                                            {"accumulate", how == "add"}});
}

}  // namespace

X2IR_TORCH(scatter_elements).To("aten::scatter.src", WriteScatterElements);
X2IR_TORCH(scatter_nd).To("aten::index_put.default", WriteScatterNd);

}  // namespace x2ir
