// NNEF: tensors under other shapes, parts of them, and several put together.
#include <algorithm>
#include <numeric>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/handlers/nnef/windows.h"

namespace x2ir {
namespace {

// 0 is the size of that axis, -1 what is left of the axes that change.
Value* ReshapeRow(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  const int64_t rank = x.rank(), start = a.Integer("axis_start");
  const int64_t count = a.Integer("axis_count"), end = count < 0 ? rank : start + count;
  if (start < 0 || end < start || end > rank) a.Fail(Invalid("axes that the tensor has not"));
  std::vector<Size> shape = a.Sizes("shape");
  const std::vector<Size> sizes = AllSizes(x);
  std::optional<size_t> left;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].number == 0) {
      const size_t axis = i + static_cast<size_t>(start);
      if (static_cast<int64_t>(axis) >= end) a.Fail(Invalid("a size of an axis that is not there"));
      shape[i] = sizes[axis];
    } else if (shape[i].number == -1) {
      if (left) a.Fail(Invalid("two sizes that are left"));
      left = i;
    }
  }
  std::vector<Size> all(sizes.begin(), sizes.begin() + start);
  const size_t at = all.size();
  all.insert(all.end(), shape.begin(), shape.end());
  all.insert(all.end(), sizes.begin() + end, sizes.end());
  if (left && at + sizes.size() - static_cast<size_t>(end) > 0) {
    std::vector<Size> of(sizes.begin() + start, sizes.begin() + end), others = shape;
    others.erase(others.begin() + static_cast<ptrdiff_t>(*left));
    const Size total = Product(a, of), rest = Product(a, others);
    a.Require(!rest.number || *rest.number != 0, "a size that is left beside a size of 0");
    all[at + *left] = Divided(a, total, rest);
  }
  return ReshapeTo(x, all);
}

// Axes after those that are named stay.
Value* TransposeRow(NnefArgs& a) {
  std::vector<int64_t> axes = a.Integers("axes");
  const int64_t rank = a.RankOf();
  for (auto i = static_cast<int64_t>(axes.size()); i < rank; ++i) axes.push_back(i);
  return Transpose(a.in(0), axes);
}
Value* SqueezeRow(NnefArgs& a) {
  const std::vector<int64_t> axes = a.Axes();
  return axes.empty() ? a.in(0).Op("identity") : Squeeze(a.in(0), axes);
}
Value* UnsqueezeRow(NnefArgs& a) {
  const std::vector<int64_t> axes = a.Integers("axes");
  return axes.empty() ? a.in(0).Op("identity") : Unsqueeze(a.in(0), axes);
}

std::vector<Value*> NnefParts(NnefArgs& a) {
  std::vector<Expr> parts;
  for (Value* value : a.Tensors("values")) parts.emplace_back(a, value);
  if (parts.empty()) a.Fail(Invalid("a list of no tensors"));
  // One type, which literals take from the others.
  parts = a.Alike(parts);
  return {parts.begin(), parts.end()};
}
Value* ConcatRow(NnefArgs& a) {
  const std::vector<Value*> parts = NnefParts(a);
  return Concat(a, parts, a.AxisOf(a.Integer("axis")));
}
Value* StackRow(NnefArgs& a) {
  const std::vector<Value*> parts = NnefParts(a);
  return Stack(a, parts, a.AxisOf(a.Integer("axis"), a.RankOf() + 1));
}
absl::StatusOr<Values> SplitRow(NnefArgs& a) {
  const Expr x = a.Tensor("value");
  const int64_t axis = a.AxisOf(a.Integer("axis"));
  const std::vector<int64_t> ratios = a.Integers("ratios");
  if (ratios.size() != a.num_outputs()) return Invalid("as many results as ratios are expected");
  int64_t sum = 0;
  for (const int64_t ratio : ratios) {
    if (ratio < 1 || ratio > (int64_t{1} << 40)) return Invalid("a ratio of ", ratio);
    sum += ratio;
  }
  const Dim size = DimAt(x, axis);
  a.Require(size.is_static(), "parts of an axis whose size is not known");
  if (size.value() % sum != 0) return Invalid(size.value(), " elements in ", sum, " parts");
  std::vector<int64_t> sizes;
  for (const int64_t ratio : ratios) sizes.push_back(size.value() / sum * ratio);
  return a.b().Ops("split", {x, Ints(a, sizes)}, {{"axis", axis}}, a.num_outputs());
}
absl::StatusOr<Values> UnstackRow(NnefArgs& a) {
  const Expr x = a.Tensor("value");
  const int64_t axis = a.AxisOf(a.Integer("axis"));
  const Dim size = DimAt(x, axis);
  a.Require(size.is_static() && size.value() == static_cast<int64_t>(a.num_outputs()),
            "as many results as elements of the axis are expected; others");
  Values parts;
  for (int64_t i = 0; i < size.value(); ++i) parts.push_back(ElementAt(x, axis, i));
  return parts;
}

// An end of 0 is the end of the axis.
Value* SliceRow(NnefArgs& a) {
  Expr x = a.Tensor("input");
  const std::vector<int64_t> axes = a.Integers("axes");
  const std::vector<Size> begin = a.Sizes("begin"), end = a.Sizes("end");
  std::vector<int64_t> stride = a.Integers("stride");
  if (stride.empty()) stride.assign(axes.size(), 1);
  if (begin.size() != axes.size() || end.size() != axes.size() || stride.size() != axes.size()) {
    a.Fail(Invalid("as many begins, ends and strides as axes are expected"));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    a.Require(stride[i] > 0, "a stride that is not positive");
    const Size last = end[i].number == 0 ? Size(kToEnd) : end[i];
    x = Slice(x, a.AxisOf(axes[i]), begin[i], last, Size(stride[i]));
  }
  return axes.empty() ? x.Op("identity") : x;
}

Value* DownsampleRow(NnefArgs& a) {
  const int64_t axis = a.AxisOf(a.Integer("axis")), stride = a.Integer("stride");
  const int64_t first = a.Integer("modulo");
  a.Require(stride > 0 && first >= 0, "a stride or an offset that is not positive");
  return Slice(a.in(0), axis, Size(first), Size(kToEnd), Size(stride));
}
// Bounds that the graph computes; `len` is the size that they give.
Value* DynSliceRow(NnefArgs& a) {
  a.Ignore("len");
  const std::vector<Size> start = a.Sizes("start"), end = a.Sizes("end");
  if (start.size() != 1 || end.size() != 1) a.Fail(Invalid("one start and one end are expected"));
  return Slice(a.Tensor("input"), a.AxisOf(a.Integer("axis")), start[0], end[0], Size(1));
}

Value* TileRow(NnefArgs& a) {
  const std::vector<Size> repeats = a.Sizes("repeats");
  if (static_cast<int64_t>(repeats.size()) != a.RankOf()) {
    a.Fail(Invalid("as many repeats as axes are expected"));
  }
  return a.in(0).Op("tile", {Vector(a, repeats)});
}
Value* PadRow(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  const std::vector<int64_t> pairs = a.Integers("padding");
  if (static_cast<int64_t>(pairs.size()) != 2 * x.rank()) {
    a.Fail(Invalid("a pair of numbers for each axis is expected"));
  }
  return PaddedBy(a, x, PadsOfPairs(pairs), 0, a.Number("value"));
}
Value* BroadcastRow(NnefArgs& a) {
  const std::vector<Size> shape = a.Sizes("shape");
  return Expand(a.Tensor("input"), Vector(a, shape));
}
Value* RangeRow(NnefArgs& a) {
  const std::vector<Expr> all = a.Alike({a.Tensor("start"), a.Tensor("end"), a.Tensor("step")});
  const auto number = [](const Expr& x) { return Reshape(x, {}); };
  return a.Op("range", {number(all[0]), number(all[1]), number(all[2])});
}
Value* TriluRow(NnefArgs& a) {
  const bool upper = a.Flag("upper");
  return a.in(0).Op("trilu", {Reshape(a.AsInt64(a.Tensor("k")), {})}, {{"upper", upper ? 1 : 0}});
}
Value* OneHotRow(NnefArgs& a) {
  const Expr index = a.AsInt64(a.Tensor("input"));
  const int64_t axis = a.AxisOf(a.Integer("axis"), index.rank() + 1), depth = a.Integer("dim");
  const Expr values =
      NumbersAs(a, DType::kFloat32, {2}, {a.Number("value_off"), a.Number("value_on")});
  return index.Op("one_hot", {a.b().Int(depth), values}, {{"axis", axis}});
}
Value* ShapeOfRow(NnefArgs& a) { return ShapeOf(a.in(0)); }

// --- Written -------------------------------------------------------------------------------------

absl::StatusOr<std::vector<int64_t>> AxesOperand(NnefWriter& w, int64_t rank) {
  X2IR_ASSIGN_OR_RETURN(auto axes, w.KnownInts(1, "axes"));
  if (!axes) return CannotExpress("axes that are left out");
  for (int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
  std::sort(axes->begin(), axes->end());
  return *std::move(axes);
}

// A shape of numbers; 0 is the size of the same axis, and one size may be left.
absl::StatusOr<Attribute::Ints> WrittenShape(const Shape* in, const Shape* out) {
  if (!out) return CannotExpress("a result of unknown rank");
  Attribute::Ints shape;
  int unknown = 0;
  for (int64_t i = 0; i < out->rank(); ++i) {
    const Dim& dim = (*out)[i];
    if (dim.is_static()) {
      if (dim.value() == 0) return CannotExpress("a size of 0");
      shape.push_back(dim.value());
    } else if (in && i < in->rank() && ProvablyEqual(dim, (*in)[i])) {
      shape.push_back(0);
    } else {
      shape.push_back(-1);
      ++unknown;
    }
  }
  if (unknown > 1) return CannotExpress("a shape of more than one size that is not known");
  return shape;
}
absl::StatusOr<Value*> ToReshape(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const Attribute::Ints shape,
                        WrittenShape(w.shape(0), w.out_type().shape()));
  return w.Call("reshape", {{"input", w.in(0)}},
                {{"shape", shape}, {"axis_start", 0}, {"axis_count", -1}});
}
absl::StatusOr<Value*> ToTranspose(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, PermOf(w));
  return w.Call("transpose", {{"input", w.in(0)}}, {{"axes", perm}});
}
absl::StatusOr<Value*> ToSqueeze(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  std::vector<int64_t> axes;
  if (w.in(1)) {
    X2IR_ASSIGN_OR_RETURN(axes, AxesOperand(w, rank));
  } else {
    for (int64_t i = 0; i < rank; ++i) {
      const Dim& dim = (*w.shape(0))[i];
      if (!dim.is_static()) return CannotExpress("axes that follow from the size");
      if (dim.value() == 1) axes.push_back(i);
    }
  }
  return w.Call("squeeze", {{"input", w.in(0)}}, {{"axes", axes}});
}
absl::StatusOr<Value*> ToUnsqueeze(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "axes"));
  const int64_t added = given ? static_cast<int64_t>(given->size()) : 0;
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, AxesOperand(w, rank + added));
  return w.Call("unsqueeze", {{"input", w.in(0)}}, {{"axes", axes}});
}
absl::StatusOr<Value*> ToConcat(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  NnefWriter::Given values;
  for (size_t i = 0; i < w.num_inputs(); ++i) values.emplace_back("values", w.in(i));
  return w.Call("concat", values, {{"axis", axis}});
}
absl::StatusOr<Values> ToSplit(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (!w.shape(0) || !(*w.shape(0))[axis].is_static()) {
    return CannotExpress("parts of an axis whose size is not known");
  }
  Attribute::Ints sizes;
  for (size_t i = 0; i < w.node().num_outputs(); ++i) {
    const Value* part = w.node().output(i);
    const Dim size = part && part->shape() ? (*part->shape())[axis] : Dim();
    if (!size.is_static()) return CannotExpress("parts whose sizes are not known, or not used");
    sizes.push_back(size.value());
  }
  int64_t divisor = 0;
  for (const int64_t size : sizes) divisor = std::gcd(divisor, size);
  if (divisor == 0 || std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return CannotExpress("a part of size 0");
  }
  Attribute::Ints ratios = sizes;
  for (int64_t& ratio : ratios) ratio /= divisor;
  const size_t count = sizes.size();
  return w.CallAll(
      "split", {{"value", w.in(0)}},
      {{"axis", axis}, {"ratios", std::move(ratios)}, {nnef::kPartSizes, std::move(sizes)}}, count);
}
absl::StatusOr<Value*> ToSlice(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto starts, w.KnownInts(1, "starts"));
  X2IR_ASSIGN_OR_RETURN(const auto ends, w.KnownInts(2, "ends"));
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(3, "axes"));
  X2IR_ASSIGN_OR_RETURN(const auto given_steps, w.KnownInts(4, "steps"));
  if (!starts || !ends) return CannotExpress("bounds that are left out");
  const size_t n = starts->size();
  std::vector<int64_t> axes = given.value_or(CountedFrom(0, static_cast<int64_t>(n)));
  std::vector<int64_t> steps = given_steps.value_or(std::vector<int64_t>(n, 1));
  Attribute::Ints begin, end;
  for (size_t i = 0; i < n; ++i) {
    axes[i] += axes[i] < 0 ? rank : 0;
    if (steps[i] < 1) return CannotExpress("a step backwards");
    const Dim size = w.shape(0) ? (*w.shape(0))[axes[i]] : Dim();
    int64_t from = (*starts)[i], to = (*ends)[i];
    if (size.is_static()) {
      const int64_t all = size.value();
      from = std::clamp<int64_t>(from < 0 ? from + all : from, 0, all);
      to = std::clamp<int64_t>(to < 0 ? to + all : to, 0, all);
      if (from >= to) return CannotExpress("a part of no elements");
      if (to == all) to = 0;
    } else {
      // What is beyond the end of an axis is an error there.
      const bool whole = to > (int64_t{1} << 30);
      if (from < 0 || (!whole && to >= 0)) {
        return CannotExpress("bounds of an axis whose size is not known");
      }
      if (whole) to = 0;
    }
    begin.push_back(from);
    end.push_back(to);
  }
  if (n == 0) return w.Call("copy", {{"x", w.in(0)}});
  return w.Call("slice", {{"input", w.in(0)}},
                {{"axes", axes}, {"begin", begin}, {"end", end}, {"stride", steps}});
}
absl::StatusOr<Value*> ToTile(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto repeats, w.KnownInts(1, "repeats"));
  if (!repeats || std::any_of(repeats->begin(), repeats->end(), [](int64_t n) { return n < 1; })) {
    return CannotExpress("a repeat of 0");
  }
  return w.Call("tile", {{"input", w.in(0)}}, {{"repeats", *repeats}});
}
// NNEF has no op that broadcasts alone.
absl::StatusOr<Value*> ToExpand(NnefWriter& w) {
  const Shape* out = w.out_type().shape();
  if (!out || !w.shape(0)) return CannotExpress("a shape that is not known");
  const int64_t rank = out->rank(), own = w.shape(0)->rank();
  Attribute::Ints repeats(static_cast<size_t>(rank), 1);
  bool any = false;
  for (int64_t i = 0; i < rank; ++i) {
    const Dim from = i < rank - own ? Dim(1) : (*w.shape(0))[i - (rank - own)];
    if (ProvablyEqual(from, (*out)[i])) continue;
    if (from != Dim(1) || !(*out)[i].is_static() || (*out)[i].value() < 1) {
      return CannotExpress("a shape that is not known");
    }
    repeats[static_cast<size_t>(i)] = (*out)[i].value();
    any = true;
  }
  Value* x = w.in(0);
  if (own < rank) x = w.Op("unsqueeze", {x, w.Ints(CountedFrom(0, rank - own))});
  if (!any) return w.Call("copy", {{"x", x}});
  return w.Call("tile", {{"input", x}}, {{"repeats", repeats}});
}
absl::StatusOr<Value*> ToPad(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> pairs,
                        PadPairsOf(w, {"constant", "edge", "reflect"}));
  const std::string& mode = w.String("mode");
  float value = 0;
  if (mode == "constant" && w.in(2)) {
    const Tensor* number = w.in(2)->fixed_constant();
    if (!number || number->num_elements() != 1) return CannotExpress("a computed number to pad");
    value = static_cast<float>(number->AsDouble(0));
  }
  if (w.dtype(0) != DType::kFloat32) {
    return CannotExpress("a pad of elements of type ", Name(w.dtype(0)));
  }
  return w.Call(
      "pad", {{"input", w.in(0)}},
      {{"padding", pairs}, {"border", mode == "edge" ? "replicate" : mode}, {"value", value}});
}

// Of integers: tract adds the step again and again, which is not exact for real numbers.
absl::StatusOr<Value*> ToRange(NnefWriter& w) {
  if (!IsInteger(w.dtype(0))) return CannotExpress("a range of real numbers that is computed");
  return w.Call("tract_core_range", {{"start", w.in(0)}, {"end", w.in(1)}, {"step", w.in(2)}});
}
// What inference knows never comes here (NnefDialect::Write).
absl::StatusOr<Value*> ToKnown(NnefWriter&) { return CannotExpress("a result that is not known"); }
// A shape that is known is a constant.
absl::StatusOr<Value*> ToShape(NnefWriter& w) {
  const Shape* result = w.out_type().shape();
  const std::vector<Dim>* sizes = w.node().output(0)->elements();
  Attribute::Ints numbers;
  if (sizes) {
    for (const Dim& size : *sizes) {
      if (!size.is_static()) return CannotExpress("a size that is not known");
      numbers.push_back(size.value());
    }
  } else {
    const auto known = w.shape(0) ? w.shape(0)->Static() : std::nullopt;
    if (!known || !result || (*result)[0] != Dim(static_cast<int64_t>(known->size()))) {
      return CannotExpress("a size that is not known");
    }
    numbers = *known;
  }
  return w.Call("copy", {{"x", w.Ints(numbers)}});
}

// An index, or one from the end, is compared with the number of each place.
absl::StatusOr<Value*> ToOneHot(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto known, w.KnownInts(1, "depth"));
  constexpr int64_t kMaxDepth = int64_t{1} << 20;
  if (!known || known->size() != 1 || (*known)[0] < 0 || (*known)[0] > kMaxDepth) {
    return CannotExpress("a depth that is not known or is too large");
  }
  if (w.dtype(0) != DType::kInt64) return CannotExpress("indices that are not int64");
  const int64_t named = w.Int("axis"), axis = named < 0 ? named + rank + 1 : named;
  const int64_t depth = (*known)[0];
  const auto places = [&](int64_t first) {
    std::vector<double> numbers;
    for (int64_t i = 0; i < depth; ++i) numbers.push_back(static_cast<double>(first + i));
    return AlongAxis(NumbersAs(w, DType::kFloat32, {depth}, numbers), axis, rank + 1);
  };
  const Expr index = Unsqueeze(w.AsReal(w.in(0)), {axis});
  const Expr hot = index == places(0), from_end = index == places(-depth);
  const auto value = [&](int64_t i) { return ElementAt({w, w.in(2)}, 0, i); };
  return Select(hot | from_end, value(1), value(0)).value();
}

}  // namespace

X2IR_NNEF(reshape).From("reshape", ReshapeRow).To("reshape", ToReshape);
X2IR_NNEF(flatten).To("reshape", ToReshape);
X2IR_NNEF(transpose).From("transpose", TransposeRow).To("transpose", ToTranspose);
X2IR_NNEF(squeeze).From("squeeze", SqueezeRow).To("squeeze", ToSqueeze);
X2IR_NNEF(unsqueeze).From("unsqueeze", UnsqueezeRow).To("unsqueeze", ToUnsqueeze);
X2IR_NNEF(concat).From("concat", ConcatRow).From("stack", StackRow).To("concat", ToConcat);
X2IR_NNEF(split).From("split", SplitRow).From("unstack", UnstackRow).To("split", ToSplit);
X2IR_NNEF(slice)
    .From({{"slice", SliceRow},
           {"tract_core_downsample", DownsampleRow},
           {"tract_core_dyn_slice", DynSliceRow}})
    .To("slice", ToSlice);
X2IR_NNEF(tile).From("tile", TileRow).To("tile", ToTile);
X2IR_NNEF(pad).From("pad", PadRow).To("pad", ToPad);
X2IR_NNEF(expand).From("tract_core_broadcast", BroadcastRow).To("tile", ToExpand);
X2IR_NNEF(range).From("tract_core_range", RangeRow).To("tract_core_range", ToRange);
X2IR_NNEF(size).To("copy", ToKnown);
X2IR_NNEF(trilu).From("tract_core_trilu", TriluRow);
X2IR_NNEF(shape).From("tract_core_shape_of", ShapeOfRow).To("copy", ToShape);

X2IR_NNEF(one_hot).From("tract_core_one_hot", OneHotRow).To("select", ToOneHot);

}  // namespace x2ir
