// Elements and slices by index.
#include <algorithm>

#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// A column of indices counts as a vector.
Expr AsVector(PaddleArgs& a, const Expr& index) { return a.Rank(index) > 1 ? Flat(index) : index; }

Expr GatherRows(PaddleArgs& a) {
  const Expr x = a.X(), index = AsVector(a, a.X("Index"));
  const int64_t axis = a.KnownNumber("axis", {"Axis"}, 0);
  a.Ignore("overwrite");
  return Gather(x, index, a.Axis(axis, x));
}

Expr IndexSelect(PaddleArgs& a) {
  const Expr x = a.X();
  return Gather(x, AsVector(a, a.X("Index")), a.Axis(a.Int("dim", 0), x));
}

Expr GatherNd(PaddleArgs& a) { return a.X().Op("gather_nd", {a.X("Index").To(DType::kInt64)}); }
Expr IndexSample(PaddleArgs& a) { return GatherElements(a.X(), a.X("Index"), 1); }

Expr TakeAlongAxis(PaddleArgs& a) {
  const Expr x = a.X("Input"), index = a.X("Index");
  return GatherElements(x, index, a.Axis(a.Int("Axis", 0), x));
}

Expr PutAlongAxis(PaddleArgs& a) {
  const Expr x = a.X("Input"), index = a.X("Index");
  Expr values = a.X("Value");
  const int64_t axis = a.Axis(a.Int("Axis", 0), x);
  const std::string reduce = a.String("Reduce", "assign");
  const bool include_self = a.Bool("Include_self", true);
  values = values.To(x.dtype());
  if (a.Rank(values) != a.Rank(index) || !values->shape()->is_static() ||
      *values->shape() != *index->shape()) {
    values = Expand(values, ShapeOf(index));
  }
  if (reduce == "assign") return ScatterElements(x, axis, index, values, "none");
  const char* torch = reduce == "add"                           ? "sum"
                      : reduce == "mul" || reduce == "multiply" ? "prod"
                      : reduce == "mean"                        ? "mean"
                      : reduce == "amax"                        ? "amax"
                      : reduce == "amin"                        ? "amin"
                                                                : "";
  a.Require(*torch, StrCat("a reduction ", reduce));
  return AsTorch(a, "aten::scatter_reduce.two",
                 {{"self", x},
                  {"dim", axis},
                  {"index", index.To(DType::kInt64)},
                  {"src", values},
                  {"reduce", torch},
                  {"include_self", include_self}},
                 x.dtype());
}

// Rows of that number are replaced; or zeros first, to which all updates are added.
Expr ScatterRows(PaddleArgs& a) {
  const Expr x = a.X(), ids = AsVector(a, a.X("Ids")), updates = a.X("Updates");
  const Expr at = Unsqueeze(AtLeast1d(ids).To(DType::kInt64), {-1});
  const Expr rows =
      a.Rank(ids) == 0 && a.Rank(updates) < a.Rank(x) ? Unsqueeze(updates, {0}) : updates;
  if (a.Bool("overwrite", true)) return ScatterNd(x, at, rows, "none");
  const Expr zeroed = ScatterNd(x, at, rows - rows, "none");
  return ScatterNd(zeroed, at, rows, "add");
}

Expr ScatterNdAdd(PaddleArgs& a) {
  return ScatterNd(a.X(), a.X("Index").To(DType::kInt64), a.X("Updates"), "add");
}

Expr IndexAdd(PaddleArgs& a) {
  const Expr x = a.X(), index = a.X("Index");
  const int64_t axis = a.Axis(a.Int("axis", 0), x);
  return ScatterSlices(x, axis, index.To(DType::kInt64), a.X("AddValue"), "add");
}

Expr IndexPut(PaddleArgs& a) {
  const Expr x = a.X("x"), value = a.X("value");
  const std::vector<Value*> indices = a.List("indices");
  return AsTorch(a, "aten::index_put.default",
                 {{"self", x},
                  {"indices", indices},
                  {"values", value},
                  {"accumulate", a.Bool("accumulate", false)}},
                 x.dtype());
}

Expr MaskedSelect(PaddleArgs& a) {
  const Expr x = a.X(), mask = a.X("Mask");
  return AsTorch(a, "aten::masked_select.default", {{"self", x}, {"mask", mask}}, x.dtype());
}

Expr NonZero(PaddleArgs& a) { return Transpose(a.X("Condition").Op("non_zero"), {1, 0}); }

// Row i of the operand that Ids names.
Expr Multiplex(PaddleArgs& a) {
  const Expr stacked = Stack(a, a.List("X"), 0);
  const Expr ids = Flat(a.X("Ids")).To(DType::kInt64);
  const Expr rows = Iota(SizeOf(ids, 0));
  return stacked.Op("gather_nd", {Stack(a, {ids, rows}, 1)});
}

// Rows of W; those of padding_idx are zeros.
Expr Lookup(PaddleArgs& a, bool column) {
  const Expr w = a.X("W");
  Expr ids = a.X("Ids");
  const int64_t padding = a.Int("padding_idx", -1);
  if (column) ids = Squeeze(ids, {a.Rank(ids) - 1});
  const Expr rows = Gather(w, ids, 0);
  if (padding == -1) return rows;
  const int64_t index = padding;
  const Expr is_padding = Unsqueeze(ids == ids.Number(static_cast<double>(index)), {-1});
  return Where(is_padding, 0.0, rows);
}

Expr BinCount(PaddleArgs& a) {
  const Expr x = a.X();
  const Expr weights = a.Opt("Weights");
  const int64_t least = a.KnownNumber("minlength", {}, 0);
  std::vector<AsTorchArgument> arguments = {{"self", x}, {"minlength", least}};
  if (weights.value()) arguments.emplace_back("weights", weights);
  return AsTorch(a, "aten::bincount.default", arguments,
                 weights.value() ? weights.dtype() : DType::kInt64);
}

Expr Histogram(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t bins = a.Int("bins", 100);
  const double low = a.Number("min", 0), high = a.Number("max", 0);
  a.Require(!a.Bool("density", false) && !a.Has("Weight"), "weights or densities");
  return AsTorch(a, "aten::histc.default",
                 {{"self", x.To(DType::kFloat32)}, {"bins", bins}, {"min", low}, {"max", high}},
                 DType::kFloat32)
      .To(DType::kInt64);
}

PaddleResults Unique(PaddleArgs& a) {
  const Expr x = a.X();
  const std::vector<int64_t> axis = a.Ints("axis");
  const DType type = a.Dtype("dtype", DType::kInt64);
  const bool sorted = a.Bool("is_sorted", false);
  for (const char* flag : {"return_index", "return_inverse", "return_counts"}) a.Ignore(flag);
  AttributeMap attrs = {{"sorted", sorted || !axis.empty() ? 1 : 0}};
  if (!axis.empty()) attrs.Set("axis", a.Axis(axis[0], x));
  const Values all = a.b().Ops("unique", {x}, std::move(attrs), 4);
  // The first version, which is not sorted, has inverse numbers as its index.
  return {{"Out", {all[0]}},
          {"Indices", {a.Cast(all[1], type)}},
          {"Index", {a.Cast(all[2], type)}},
          {"Counts", {a.Cast(all[3], type)}}};
}

PaddleResults UniqueConsecutive(PaddleArgs& a) {
  const Expr x = a.X();
  const std::vector<int64_t> axis = a.Ints("axis");
  const DType type = a.Dtype("dtype", DType::kInt64);
  const bool inverse = a.Bool("return_inverse", false), counts = a.Bool("return_counts", false);
  std::vector<AsTorchArgument> arguments = {
      {"self", x}, {"return_inverse", inverse}, {"return_counts", counts}};
  if (!axis.empty()) arguments.emplace_back("dim", axis[0]);
  const Values all = AsTorch(
      a, axis.empty() ? "aten::unique_consecutive.default" : "aten::unique_dim_consecutive.default",
      arguments,
      std::vector<DType>{x.dtype(), a.Wants("Index") ? DType::kInt64 : DType::kUndefined,
                         a.Wants("Counts") ? DType::kInt64 : DType::kUndefined});
  PaddleResults results = {{"Out", {all[0]}}};
  if (a.Wants("Index")) results.push_back({"Index", {a.Cast(all[1], type)}});
  if (a.Wants("Counts")) results.push_back({"Counts", {a.Cast(all[2], type)}});
  return results;
}

// The positions of new axes in a part from which the axes `gone` were removed: each new axis is
// before the axis of the tensor that it names.
std::vector<int64_t> PlacesOfNewAxes(const std::vector<int64_t>& added,
                                     const std::vector<int64_t>& gone, int64_t rank) {
  std::vector<int64_t> places;
  int64_t count = 0;
  for (int64_t axis = 0; axis <= rank; ++axis) {
    while (places.size() < added.size() && (axis == rank || added[places.size()] <= axis)) {
      places.push_back(count++);
    }
    if (std::find(gone.begin(), gone.end(), axis) == gone.end()) ++count;
  }
  return places;
}

// A part of the operand, named by starts, ends and steps, has other values.
Expr SetValue(PaddleArgs& a) {
  const Expr x = a.X("Input");
  std::vector<int64_t> axes = a.Ints("axes");
  const std::vector<int64_t> starts = a.KnownList("starts", {"StartsTensorList"});
  std::vector<int64_t> ends = a.KnownList("ends", {"EndsTensorList"});
  const std::vector<int64_t> steps =
      a.KnownList("steps", {"StepsTensorList"}, std::vector<int64_t>(axes.size(), 1));
  std::vector<int64_t> decreased = a.Ints("decrease_axes");
  const std::vector<int64_t> added = a.Ints("none_axes");
  const std::vector<int64_t> shape = a.Ints("shape");
  const DType type = a.Dtype("dtype", x.dtype());
  if (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size()) {
    a.Fail(Invalid("not one start, end and step for each axis"));
  }
  Expr value = a.Opt("ValueTensor");
  for (const char* name : {"values", "bool_values", "int32_values", "int64_values", "fp32_values",
                           "fp64_values", "fp16_values"}) {
    const std::vector<double> numbers = a.Numbers(name);
    if (!numbers.empty() && !value.value()) value = NumbersAs(a, type, shape, numbers);
  }
  a.Require(value.value() != nullptr, "no values");
  value = value.To(x.dtype());
  const int64_t rank = a.Rank(x);
  // The numbers of all elements, of which the part's are those to be replaced.
  const std::vector<Size> sizes = AllSizes(x);
  const Size count = Product(a, sizes);
  Expr places = ReshapeTo(Iota(Scalar(a, count)), sizes);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = a.Axis(axes[i], x);
    axes[i] = axis;
    if (steps[i] == 0) a.Fail(Invalid("a step of 0"));
    places = places.Op("slice", {a.b().Ints({starts[i]}), a.b().Ints({ends[i]}), a.b().Ints({axis}),
                                 a.b().Ints({steps[i]})});
  }
  for (int64_t& axis : decreased) axis = a.Axis(axis, x);
  const Expr part = Unsqueeze(Squeeze(places, decreased), PlacesOfNewAxes(added, decreased, rank));
  // More axes than the part has are of size 1.
  value = Squeeze(value, CountedFrom(0, a.Rank(value) - a.Rank(part)));
  const Expr filled = Expand(value, ShapeOf(part));
  const Expr flat = ScatterElements(Flat(x), 0, Flat(part), Flat(filled), "none");
  return ReshapeTo(flat, sizes);
}

PaddleResults TopK(PaddleArgs& a) {
  const Expr x = a.X();
  const std::vector<Size> k = a.Sizes("k", {"K"}, {1});
  a.Require(k.size() == 1, "one number of elements");
  const Values both = a.b().Ops("top_k", {x, Vector(a, k)},
                                {{"axis", a.Int("axis", -1)},
                                 {"largest", a.Bool("largest", true)},
                                 {"sorted", a.Bool("sorted", true)}},
                                2);
  return {{"Out", {both[0]}}, {"Indices", {both[1]}}};
}

PaddleResults ArgSort(PaddleArgs& a) {
  const Expr x = a.X();
  a.Bool("stable", false);
  const bool descending = a.Bool("descending", false);
  const int64_t axis = a.Int("axis", -1);
  if (a.Rank(x) == 0) {
    return {{"Out", {x.Op("identity")}}, {"Indices", {Int(a, 0)}}};
  }
  const Sorted sorted = Sort(x, a.Axis(axis, x), descending);
  return {{"Out", {sorted.values}}, {"Indices", {sorted.indices}}};
}

// An element and its index along an axis, which may be kept.
PaddleResults Picked(const Values& both) { return {{"Out", {both[0]}}, {"Indices", {both[1]}}}; }

PaddleResults KthValue(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t k = a.Int("k", 1), axis = a.Int("axis", -1);
  const bool keep = a.Bool("keepdim", false);
  return Picked(AsTorch(a, "aten::kthvalue.default",
                        {{"self", x}, {"k", k}, {"dim", axis}, {"keepdim", keep}},
                        std::vector<DType>{x.dtype(), DType::kInt64}));
}

PaddleResults Mode(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t axis = a.Int("axis", -1);
  const bool keep = a.Bool("keepdim", false);
  return Picked(AsTorch(a, "aten::mode.default", {{"self", x}, {"dim", axis}, {"keepdim", keep}},
                        std::vector<DType>{x.dtype(), DType::kInt64}));
}

// The blocks of an image as columns. Paddings: top, left, bottom, right.
Expr Unfold(PaddleArgs& a) {
  Expr x = a.X();
  const std::vector<int64_t> kernel = a.Ints("kernel_sizes"), strides = a.Ints("strides", {1, 1}),
                             dilations = a.Ints("dilations", {1, 1});
  std::vector<int64_t> pads = a.Ints("paddings", {0, 0, 0, 0});
  if (pads.size() == 4) {
    const std::vector<int64_t> all = {pads[0], pads[1], pads[2], pads[3]};
    x = x.Op("pad", {a.b().Ints(all), x.Number(0), a.b().Ints({2, 3})}, {{"mode", "constant"}});
    pads = {0, 0};
  }
  return AsTorch(a, "aten::im2col.default",
                 {{"self", x},
                  {"kernel_size", Attribute(kernel)},
                  {"dilation", Attribute(dilations)},
                  {"padding", Attribute(pads)},
                  {"stride", Attribute(strides)}},
                 x.dtype());
}

Expr AsStrided(PaddleArgs& a) {
  const Expr x = a.X("input");
  return AsTorch(a, "aten::as_strided.default",
                 {{"self", x},
                  {"size", Attribute(a.Ints("dims"))},
                  {"stride", Attribute(a.Ints("stride"))},
                  {"storage_offset", a.Int("offset", 0)}},
                 x.dtype());
}

// Windows of an axis; the elements of each are in a new last axis.
Expr TensorUnfold(PaddleArgs& a) {
  const Expr x = a.X("input");
  return AsTorch(a, "aten::unfold.default",
                 {{"self", x},
                  {"dimension", a.Axis(a.Int("axis", 0), x)},
                  {"size", a.Int("size", 1)},
                  {"step", a.Int("step", 1)}},
                 x.dtype());
}

Expr RepeatInterleave(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t axis = a.Axis(a.Int("dim", 0), x), repeats = a.Int("Repeats", 1);
  const Expr counts = a.Opt("RepeatTensor");
  if (counts.value()) {
    const Expr ends = CumSum(counts.To(DType::kInt64), 0);
    const Expr total = Reduce(counts.To(DType::kInt64), "reduce_sum", {});
    const Expr behind = Unsqueeze(ends, {0}) <= Unsqueeze(Iota(total), {1});
    return Gather(x, Reduce(behind.To(DType::kInt64), "reduce_sum", {1}), axis);
  }
  a.Require(repeats > 0, "no repetition");
  const Expr total = SizeOf(x, axis) * static_cast<double>(repeats);
  return Gather(x, Iota(total) / Int(a, repeats), axis);
}

}  // namespace

X2IR_PADDLE(gather)
    .From({{"gather", GatherRows}, {"index_select", IndexSelect}})
    .From("lookup_table", [](PaddleArgs& a) { return Lookup(a, true); })
    .From({"lookup_table_v2", "c_embedding"}, [](PaddleArgs& a) { return Lookup(a, false); })
    .From({{"unfold", Unfold}, {"as_strided", AsStrided}, {"tensor_unfold", TensorUnfold}})
    .From({"repeat_interleave", "repeat_interleave_with_tensor_index"}, RepeatInterleave);
X2IR_PADDLE(gather_nd).From({{"gather_nd", GatherNd}, {"multiplex", Multiplex}});
X2IR_PADDLE(gather_elements)
    .From({{"index_sample", IndexSample}, {"take_along_axis", TakeAlongAxis}});
X2IR_PADDLE(scatter_elements)
    .From({{"put_along_axis", PutAlongAxis},
           {"index_add", IndexAdd},
           {"set_value", SetValue},
           {"bincount", BinCount},
           {"histogram", Histogram}});
X2IR_PADDLE(scatter_nd)
    .From({{"scatter", ScatterRows}, {"scatter_nd_add", ScatterNdAdd}, {"index_put", IndexPut}});
X2IR_PADDLE(compress).From("masked_select", MaskedSelect);
X2IR_PADDLE(non_zero).From("where_index", NonZero);
X2IR_PADDLE(unique).From({{"unique", Unique}, {"unique_consecutive", UniqueConsecutive}});
X2IR_PADDLE(top_k)
    .From({"top_k_v2", "top_k"}, TopK)
    .From({{"argsort", ArgSort}, {"kthvalue", KthValue}, {"mode", Mode}});

}  // namespace x2ir
