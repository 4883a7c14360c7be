// MXNet: tensors under other shapes, parts of them, and parts put together.
#include <algorithm>
#include <cmath>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/torch/as_torch.h"

namespace x2ir {
namespace {

// --- Shapes --------------------------------------------------------------------------------------

absl::StatusOr<Value*> MxReshape(SymbolArgs& a) {
  std::vector<int64_t> codes = a.Tuple("shape");
  const bool reverse = a.Flag("reverse", false);
  // In files of the first versions 0 means the remaining size.
  const std::vector<int64_t> target = a.Tuple("target_shape");
  const bool keep = a.Flag("keep_highest", false);
  if (codes.empty() && !target.empty()) {
    codes = target;
    for (size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] == 0) codes[i] = keep && i == 0 ? 0 : -1;
    }
    if (keep && !codes.empty()) codes[0] = 0;
  }
  X2IR_ASSIGN_OR_RETURN(const Expr y, ReshapeByCodes(a, a.in(0), std::move(codes), reverse));
  return y.value();
}

Value* NpReshape(SymbolArgs& a) {
  const std::vector<int64_t> sizes = a.Tuple("newshape", a.Tuple("shape"));
  a.Require(a.Text("order", "C") == "C", "another order than C");
  return Reshape(a.in(0), sizes);
}

// -1: the remaining size; -2: keep; -3: an axis of size 1 is removed; -4: the rest; -5: two as one;
// -6: one as two.
absl::StatusOr<Value*> NpxReshape(SymbolArgs& a) {
  std::vector<int64_t> codes = a.Tuple("newshape");
  const bool reverse = a.Flag("reverse", false);
  a.Require(a.Text("order", "C") == "C", "another order than C");
  if (std::any_of(codes.begin(), codes.end(), [](int64_t c) { return c == -3; })) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
    a.Require(!reverse, "axes that go, counted from the end");
    // Without that axis the others are as Reshape says them.
    int64_t axis = 0;
    std::vector<int64_t> gone;
    std::vector<int64_t> rest;
    for (const int64_t code : codes) {
      if (code == -3) {
        gone.push_back(axis++);
        continue;
      }
      a.Require(code != -4 && code != -6, "a shape with -3 and also -4 or -6");
      axis += code == -5 ? 2 : 1;
      rest.push_back(code);
    }
    a.Require(axis <= rank, "more axes than there are");
    const Expr x = Squeeze(a.in(0), gone);
    for (int64_t& code : rest) code = code == -2 ? 0 : code == -5 ? -3 : code;
    X2IR_ASSIGN_OR_RETURN(const Expr y, ReshapeByCodes(a, x, std::move(rest), false));
    return y.value();
  }
  bool split = false;
  for (size_t i = 0; i < codes.size(); ++i) {
    int64_t& code = codes[i];
    a.Require(code != 0, "a size of 0");
    if (code == -2) {
      code = 0;
    } else if (code == -4) {
      code = -2;
    } else if (code == -5) {
      code = -3;
    } else if (code == -6) {
      code = -4;
      i += 2;
      split = true;
    }
  }
  (void)split;
  X2IR_ASSIGN_OR_RETURN(const Expr y, ReshapeByCodes(a, a.in(0), std::move(codes), reverse));
  return y.value();
}

// The shape of the second operand, or of some axes of each.
absl::StatusOr<Value*> ReshapeLike(SymbolArgs& a) {
  const bool parts =
      a.Given("lhs_begin") || a.Given("lhs_end") || a.Given("rhs_begin") || a.Given("rhs_end");
  if (!parts) {
    for (const char* name : {"lhs_begin", "lhs_end", "rhs_begin", "rhs_end"}) a.Ignore(name);
    return ReshapeTo(a.in(0), ShapeOf(a.in(1))).value();
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t left, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t right, a.Rank(1));
  const auto place = [&](Symbol name, int64_t fallback, int64_t rank) {
    const int64_t at = a.Integer(name, fallback);
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t from = place("lhs_begin", 0, left), to = place("lhs_end", left, left);
  const int64_t begin = place("rhs_begin", 0, right), end = place("rhs_end", right, right);
  std::vector<Size> sizes = SizesAt(a.in(0), 0, from);
  for (const Size& size : SizesAt(a.in(1), begin, end)) sizes.push_back(size);
  for (const Size& size : SizesAt(a.in(0), to, left)) sizes.push_back(size);
  return ReshapeTo(a.in(0), sizes).value();
}

Value* FlattenAll(SymbolArgs& a) { return FlattenedRows(a.in(0)); }

Value* MxTranspose(SymbolArgs& a) {
  const std::vector<int64_t> axes = a.Tuple("axes");
  if (axes.empty()) return a.Op("transpose", {a.in(0)});
  return Transpose(a.in(0), [&] {
    std::vector<int64_t> perm = axes;
    for (int64_t& axis : perm) axis += axis < 0 ? static_cast<int64_t>(axes.size()) : 0;
    return perm;
  }());
}

Value* ExpandDims(SymbolArgs& a) { return Unsqueeze(a.in(0), {a.Integer("axis", 0)}); }

Value* SqueezeAxes(SymbolArgs& a) {
  const auto axes = a.AxesAttr();
  const Expr x = a.in(0);
  if (!axes && a.rank(0) == 1 && !HasNumpyShapes(a)) return SameValue(a);
  const Expr y =
      axes ? (axes->empty() ? a.Op("identity", {x}) : Squeeze(x, *axes)) : a.Op("squeeze", {x});
  return AtLeastOneAxis(a, y);
}

absl::StatusOr<Value*> SwapAxes(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                        a.Axes({a.Integer("dim1", 0), a.Integer("dim2", 0)}));
  std::vector<int64_t> perm = AllAxes(a.in(0));
  std::swap(perm[static_cast<size_t>(axes[0])], perm[static_cast<size_t>(axes[1])]);
  return Transpose(a.in(0), perm).value();
}

absl::StatusOr<Value*> MoveAxes(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> from, a.Axes(a.Tuple("source")));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> to, a.Axes(a.Tuple("destination")));
  if (from.size() != to.size()) return Invalid("axes that go nowhere");
  const int64_t rank = a.rank(0);
  std::vector<int64_t> perm(static_cast<size_t>(rank), -1), rest;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::find(from.begin(), from.end(), i) == from.end()) rest.push_back(i);
  }
  for (size_t i = 0; i < from.size(); ++i) perm[static_cast<size_t>(to[i])] = from[i];
  size_t next = 0;
  for (int64_t& axis : perm) {
    if (axis < 0 && next < rest.size()) axis = rest[next++];
  }
  return Transpose(a.in(0), perm).value();
}

absl::StatusOr<Value*> RollAxis(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes({a.Integer("axis", 0)}));
  int64_t start = a.Integer("start", 0);
  if (start < 0) start += a.rank(0);
  if (start < 0 || start > a.rank(0)) return Invalid("there is no place ", start, " for an axis");
  return MoveAxis(a.in(0), axes[0], start > axes[0] ? start - 1 : start).value();
}

// --- Broadcast -----------------------------------------------------------------------------------

// Sizes of 0 are kept.
absl::StatusOr<Value*> BroadcastTo(SymbolArgs& a) {
  const std::vector<int64_t> sizes = a.Tuple("shape");
  const bool numpy = HasNumpyShapes(a);
  const auto rank = static_cast<int64_t>(sizes.size()), own = a.rank(0);
  std::vector<Size> to;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    const bool keep = numpy ? size == -2 : size == 0;
    if (keep && own < 0) return Unimplemented("an operand of unknown rank");
    const int64_t at = i - (rank - std::max<int64_t>(own, 0));
    if (keep && at < 0) return Invalid("a size of an axis that is not there");
    to.push_back(keep ? SizeAt(a.in(0), at) : Size(size));
  }
  return Expand(a.in(0), Vector(a, to)).value();
}

absl::StatusOr<Value*> BroadcastAxis(SymbolArgs& a) {
  const std::vector<int64_t> sizes = a.Tuple("size");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes(a.Tuple("axis")));
  if (sizes.size() != axes.size()) return Invalid("not a size for each axis");
  std::vector<Size> to = AllSizes(a.in(0));
  for (size_t i = 0; i < axes.size(); ++i) to[static_cast<size_t>(axes[i])] = Size(sizes[i]);
  return Expand(a.in(0), Vector(a, to)).value();
}

absl::StatusOr<Value*> BroadcastLike(SymbolArgs& a) {
  const auto left = a.AxesAttr("lhs_axes"), right = a.AxesAttr("rhs_axes");
  if (!left || !right) return Expand(a.in(0), ShapeOf(a.in(1))).value();
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> to, a.Axes(*left, 0));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> from, a.Axes(*right, 1));
  if (to.size() != from.size()) return Invalid("axes that do not go together");
  std::vector<Size> sizes = AllSizes(a.in(0));
  for (size_t i = 0; i < to.size(); ++i) {
    sizes[static_cast<size_t>(to[i])] = SizeAt(a.in(1), from[i]);
  }
  return Expand(a.in(0), Vector(a, sizes)).value();
}

Value* TileAll(SymbolArgs& a) {
  std::vector<int64_t> reps = a.Tuple("reps");
  Expr x = a.in(0);
  a.Require(x->shape() != nullptr, "repeats of an operand of unknown rank");
  const auto rank = static_cast<size_t>(x->shape()->rank());
  if (reps.size() > rank)
    x = Unsqueeze(x, CountedFrom(0, static_cast<int64_t>(reps.size() - rank)));
  if (reps.size() < rank) reps.insert(reps.begin(), rank - reps.size(), 1);
  return x.Op("tile", {a.b().Ints(reps)});
}

// Every element of an axis as many times.
absl::StatusOr<Value*> Repeat(SymbolArgs& a) {
  const int64_t count = a.Integer("repeats", 1);
  const bool given = a.Given("axis");
  Expr x = a.in(0);
  int64_t axis = 0;
  if (given) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes({a.Integer("axis", 0)}));
    axis = axes[0];
  } else {
    a.Ignore("axis");
    x = Reshape(x, {-1});
  }
  const int64_t rank = x->shape()->rank();
  std::vector<int64_t> reps(static_cast<size_t>(rank) + 1, 1);
  reps[static_cast<size_t>(axis) + 1] = count;
  const Expr y = Unsqueeze(x, {axis + 1}).Op("tile", {a.b().Ints(reps)});
  std::vector<Size> to = AllSizes(x);
  to[static_cast<size_t>(axis)] = Times(a, to[static_cast<size_t>(axis)], Size(count));
  return ReshapeTo(y, to).value();
}

// --- Parts ---------------------------------------------------------------------------------------

using MaybeInts = std::vector<std::optional<int64_t>>;

constexpr int64_t kFirst = std::numeric_limits<int64_t>::min(),
                  kLast = std::numeric_limits<int64_t>::max();

struct Slices {
  std::vector<int64_t> begins, ends, steps, axes;
};

Slices TakeSlices(SymbolArgs& a) {
  const MaybeInts begin = a.MaybeTuple("begin"), end = a.MaybeTuple("end"),
                  step = a.MaybeTuple("step");
  Slices s;
  for (size_t i = 0; i < begin.size(); ++i) {
    const int64_t by = i < step.size() && step[i] ? *step[i] : 1;
    if (by == 0) a.Fail(Invalid("a step of 0"));
    s.steps.push_back(by);
    s.begins.push_back(begin[i].value_or(by > 0 ? 0 : kLast));
    s.ends.push_back(i < end.size() && end[i] ? *end[i] : by > 0 ? kLast : kFirst);
    s.axes.push_back(static_cast<int64_t>(i));
  }
  return s;
}

Value* SliceAll(SymbolArgs& a) {
  const Slices s = TakeSlices(a);
  return a.Op("slice", {a.in(0), a.b().Ints(s.begins), a.b().Ints(s.ends), a.b().Ints(s.axes),
                        a.b().Ints(s.steps)});
}

Value* SliceAxis(SymbolArgs& a) {
  const int64_t axis = a.Integer("axis", 0), begin = a.Integer("begin", 0);
  const int64_t end = a.Integer("end", kLast);
  return a.Op("slice", {a.in(0), a.b().Ints({begin}), a.b().Ints({end}), a.b().Ints({axis})});
}

// x with another tensor, or a number, in the place of a part.
absl::StatusOr<Value*> SliceAssign(SymbolArgs& a, const Expr* number) {
  const Slices s = TakeSlices(a);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const Expr x = a.in(0);
  // Places by the numbers of all elements.
  const Expr count(a, a.Op("size", {x}));
  const Expr places = ReshapeTo(Iota(count), ShapeOf(x));
  const Expr part = places.Op(
      "slice", {a.b().Ints(s.begins), a.b().Ints(s.ends), a.b().Ints(s.axes), a.b().Ints(s.steps)});
  const Expr flat = Reshape(part, {-1});
  const Expr values = number ? Expand(*number, ShapeOf(flat)) : Reshape(a.in(1), {-1});
  (void)rank;
  return ReshapeTo(ScatterElements(Reshape(x, {-1}), 0, flat, values, "none"), ShapeOf(x)).value();
}

absl::StatusOr<Value*> SliceAssignTensor(SymbolArgs& a) { return SliceAssign(a, nullptr); }

absl::StatusOr<Value*> SliceAssignNumber(SymbolArgs& a) {
  const Expr number = a.in(0).Number(a.Number("scalar", 0));
  return SliceAssign(a, &number);
}

Value* Reverse(SymbolArgs& a) {
  return Flipped(a.in(0), a.AxesAttr().value_or(std::vector<int64_t>{0}));
}

Value* NpFlip(SymbolArgs& a) {
  const auto axes = a.AxesAttr();
  return Flipped(a.in(0), axes ? *axes : AllAxes(a.in(0)));
}

// --- Together and apart --------------------------------------------------------------------------

Value* ConcatAll(SymbolArgs& a, int64_t axis) {
  return a.num_inputs() == 1 ? SameValue(a) : Concat(a, a.inputs(), axis).value();
}

Value* MxConcat(SymbolArgs& a) {
  const int64_t axis = a.Integer("dim", 1);
  return ConcatAll(a, axis);
}

Value* NpConcat(SymbolArgs& a) {
  if (a.attrs().Has("axis") && !a.Given("axis")) {
    a.Ignore("axis");
    Values flat;
    for (size_t i = 0; i < a.num_inputs(); ++i) flat.push_back(Reshape(a.in(i), {-1}));
    return Concat(a, flat, 0);
  }
  return ConcatAll(a, a.Integer("axis", a.Integer("dim", 0)));
}

Value* StackAll(SymbolArgs& a) { return Stack(a, a.inputs(), a.Integer("axis", 0)); }

// NumPy's hstack and the like: along an axis of operands that have so many at least.
template <int kAxis>
Value* NpStack(SymbolArgs& a) {
  a.Ignore("axis");
  Values parts;
  for (size_t i = 0; i < a.num_inputs(); ++i) {
    Expr x = a.in(i);
    a.Require(x->shape() != nullptr, "an operand of unknown rank");
    int64_t rank = x->shape()->rank();
    if (rank == 0) x = Unsqueeze(x, {0}), rank = 1;
    if (rank == 1 && kAxis == 0) x = Unsqueeze(x, {0});     // vstack: rows
    if (rank == 1 && kAxis == 2) x = Unsqueeze(x, {0, 2});  // dstack
    if (rank == 2 && kAxis == 2) x = Unsqueeze(x, {2});
    if (rank == 1 && kAxis == 3) x = Unsqueeze(x, {1});  // column_stack
    parts.push_back(x);
  }
  const int64_t rank = parts[0]->shape()->rank();
  const int64_t axis = kAxis == 1 ? (rank == 1 ? 0 : 1) : kAxis == 3 ? 1 : kAxis;
  return Concat(a, parts, axis);
}

// Cut at these places along an axis.
Values CutAt(SymbolArgs& a, const Expr& x, int64_t axis, const std::vector<int64_t>& from,
             bool squeeze) {
  Values parts;
  for (size_t i = 0; i < a.num_outputs(); ++i) {
    if (i >= from.size()) {
      a.Fail(Invalid("there is no part ", i));
      break;
    }
    if (!a.wants(i)) {
      parts.push_back(nullptr);
      continue;
    }
    const Size end = i + 1 < from.size() ? Size(from[i + 1]) : Size(kToEnd);
    const Expr part = Slice(x, axis, Size(from[i]), end);
    parts.push_back(squeeze ? Squeeze(part, {axis}) : part);
  }
  return parts;
}

// As many parts of one size.
absl::StatusOr<Values> CutEvenly(SymbolArgs& a, int64_t axis, int64_t count, bool squeeze) {
  if (count < 1 || count > (int64_t{1} << 20)) return Invalid("a split into ", count, " parts");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes({axis}));
  const Dim dim = DimAt(a.in(0), axes[0]);
  if (dim.is_static() && dim.value() % count != 0) {
    return Invalid("a size of ", dim.value(), " in ", count, " parts");
  }
  Values parts = a.b().Ops("split", {a.in(0)}, {{"axis", axes[0]}, {"num_outputs", count}},
                           static_cast<size_t>(count));
  if (squeeze) {
    for (Value*& part : parts) part = Squeeze({a, part}, {axes[0]});
  }
  return parts;
}

absl::StatusOr<Values> SliceChannel(SymbolArgs& a) {
  return CutEvenly(a, a.Integer("axis", 1), a.Integer("num_outputs", 1),
                   a.Flag("squeeze_axis", false));
}

// At places ("indices", the first of which is 0), or in so many parts.
template <int kDefaultAxis>
absl::StatusOr<Values> SplitV2(SymbolArgs& a) {
  const std::vector<int64_t> places = a.Tuple("indices");
  const int64_t sections = a.Integer("sections", 0);
  const int64_t axis = a.Integer("axis", kDefaultAxis);
  const bool squeeze = a.Flag("squeeze_axis", false);
  if (sections > 0) return CutEvenly(a, axis, sections, squeeze);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes({axis}));
  return CutAt(a, a.in(0), axes[0], places, squeeze);
}

// The first parts may be larger by one than the last ones.
absl::StatusOr<Values> ArraySplit(SymbolArgs& a) {
  const int64_t sections = a.Integer("sections", 0);
  if (sections < 1) return SplitV2<0>(a);
  if (sections > (int64_t{1} << 20)) return Invalid("a split into ", sections, " parts");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes({a.Integer("axis", 0)}));
  const Dim dim = DimAt(a.in(0), axes[0]);
  a.Tuple("indices");
  const bool squeeze = a.Flag("squeeze_axis", false);
  a.Require(dim.is_static(), "parts of an axis of unknown size");
  std::vector<int64_t> from = {0};
  for (int64_t i = 0; i + 1 < sections; ++i) {
    from.push_back(from.back() + dim.value() / sections + (i < dim.value() % sections ? 1 : 0));
  }
  return CutAt(a, a.in(0), axes[0], from, squeeze);
}

// Of a vector its only axis, else axis 1.
absl::StatusOr<Values> HSplit(SymbolArgs& a) {
  return a.rank(0) == 1 ? SplitV2<0>(a) : SplitV2<1>(a);
}

// --- Borders -------------------------------------------------------------------------------------

// Widths are pairs, one for each axis, in a list or (NumPy's) in lists of their own.
Value* PadAll(SymbolArgs& a) {
  const std::string mode = a.Text("mode", "constant");
  const std::vector<int64_t> widths = a.FlatTuple("pad_width");
  a.Require(mode == "constant" || mode == "edge" || mode == "reflect" || mode == "symmetric",
            StrCat("mode ", mode));
  a.Require(widths.size() % 2 == 0, "pads without an end");
  const double value = a.Number("constant_value", a.Number("constant_values", 0));
  const std::string reflection = a.Text("reflect_type", "even");
  a.Require(reflection == "even", StrCat("reflect_type ", reflection));
  Expr x = a.in(0);
  if (mode == "symmetric") {
    // The outer elements are repeated in reversed order.
    for (size_t i = 0; i + 1 < widths.size(); i += 2) {
      const auto axis = static_cast<int64_t>(i / 2);
      const Dim dim = DimAt(x, axis);
      const int64_t before = widths[i], after = widths[i + 1];
      if (before == 0 && after == 0) continue;
      a.Require(
          before >= 0 && after >= 0 && dim.is_static() && std::max(before, after) <= dim.value(),
          "symmetric pads that are larger than the tensor");
      const Expr low = Flipped(Slice(x, axis, Size(0), Size(before)), {axis});
      const Expr high = Flipped(Slice(x, axis, Size(dim.value() - after), Size(kToEnd)), {axis});
      x = Concat(a, {low, x, high}, axis);
    }
    return x.value() == a.in(0).value() ? a.Op("identity", {x}) : x;
  }
  std::vector<int64_t> begins, ends;
  for (size_t i = 0; i + 1 < widths.size(); i += 2) {
    begins.push_back(widths[i]);
    ends.push_back(widths[i + 1]);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  std::vector<Value*> operands = {x, a.b().Ints(begins)};
  if (mode == "constant") operands.push_back(x.Number(value));
  return a.Op("pad", std::move(operands), {{"mode", mode}});
}

// As large as the second operand, or as h_w says, in the middle or at an offset.
absl::StatusOr<Value*> Crop(SymbolArgs& a) {
  const std::vector<int64_t> offset = a.TupleOf("offset", 2, 0), sizes = a.TupleOf("h_w", 2, 0);
  const bool middle = a.Flag("center_crop", false);
  Expr x = a.in(0);
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t axis = 2 + i;
    const auto at = static_cast<size_t>(i);
    const Size size = a.num_inputs() > 1 ? SizeAt(a.in(1), axis) : Size(sizes[at]);
    Size from(offset[at]);
    if (middle) from = Divided(a, Minus(a, SizeAt(x, axis), size), Size(2));
    x = Slice(x, axis, from, Plus(a, from, size));
  }
  return x.value();
}

Value* DepthToSpace(SymbolArgs& a) {
  return a.Op("depth_to_space", {a.in(0)},
              {{"blocksize", a.Integer("block_size", 1)}, {"mode", "DCR"}});
}

Value* SpaceToDepth(SymbolArgs& a) {
  return a.Op("space_to_depth", {a.in(0)}, {{"blocksize", a.Integer("block_size", 1)}});
}

Value* ShapeArray(SymbolArgs& a) { return ShapeOf(a.in(0)); }
Value* SizeArray(SymbolArgs& a) { return Reshape({a, a.Op("size", {a.in(0)})}, {1}); }
Expr ZerosLike(const Expr& x) { return Expand(x.Number(0), ShapeOf(x)); }
Expr OnesLike(const Expr& x) { return Expand(x.Number(1), ShapeOf(x)); }

// Operands: indices, depth as attribute; 1 and 0 by default. An index out of range has no 1.
Value* OneHot(SymbolArgs& a) {
  const int64_t depth = a.Integer("depth", 0);
  a.Require(depth > 0, "a depth of 0");
  const double on = a.Number("on_value", 1), off = a.Number("off_value", 0);
  const DType t = a.ElementType("dtype", DType::kFloat32);
  const Expr index = Unsqueeze(a.AsInt64(a.in(0)), {-1});
  const Expr hit = index == Iota(Int(a, depth));
  return Where(hit, Expr(a, a.b().Scalar(t, on)), Expr(a, a.b().Scalar(t, off)));
}

// [shape..., axes]: the indices of each element.
absl::StatusOr<Value*> IndexArray(SymbolArgs& a) {
  std::vector<int64_t> axes = a.Tuple("axes");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (axes.empty()) axes = CountedFrom(0, rank);
  X2IR_ASSIGN_OR_RETURN(axes, a.Axes(axes));
  Values parts;
  for (const int64_t axis : axes) {
    const Expr along = AlongAxis(Iota(SizeOf(a.in(0), axis)), axis, rank);
    parts.push_back(Expand(along, ShapeOf(a.in(0))));
  }
  return Stack(a, parts, -1).value();
}

Value* RavelIndex(SymbolArgs& a) {
  const std::vector<int64_t> sizes = a.Tuple("shape");
  const Expr index = a.AsInt64(a.in(0));
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i > 1; --i) {
    if (__builtin_mul_overflow(strides[i - 1], sizes[i - 1], &strides[i - 2])) {
      a.Fail(Invalid("a shape with too many elements"));
    }
  }
  Expr sum = Int(a, 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    sum = sum + Gather(index, Int(a, static_cast<int64_t>(i)), 0) * static_cast<double>(strides[i]);
  }
  return sum.To(a.dtype());
}

Value* UnravelIndex(SymbolArgs& a) {
  Values sizes;
  for (const int64_t size : a.Tuple("shape")) sizes.push_back(Int(a, size));
  Values parts = Unraveled(a.AsInt64(a.in(0)), sizes);
  for (Value*& part : parts) part = Expr(a, part).To(a.dtype());
  return Stack(a, parts, 0);
}

// Sizes of 0 are not known yet, unless shapes are NumPy's: 1 broadcasts.
std::vector<int64_t> TakeShape(SymbolArgs& a) {
  std::vector<int64_t> shape = a.Tuple("shape");
  if (!HasNumpyShapes(a)) {
    for (int64_t& size : shape) size = size == 0 ? 1 : size;
  }
  return shape;
}

Expr FilledWith(SymbolArgs& a, double value) {
  const DType t = a.ElementType("dtype", DType::kFloat32);
  std::vector<Size> sizes;
  for (const int64_t size : TakeShape(a)) sizes.emplace_back(size);
  return Filled(a, t, sizes, value);
}

Value* MakeZeros(SymbolArgs& a) { return FilledWith(a, 0); }
Value* MakeOnes(SymbolArgs& a) { return FilledWith(a, 1); }

Value* MakeFull(SymbolArgs& a) {
  return FilledWith(a, a.Number("value", a.Number("fill_value", 0)));
}

Value* FullLike(SymbolArgs& a) {
  const Expr x = a.in(0);
  const DType t = a.ElementType("dtype", x.dtype());
  const double value = a.Number("fill_value", 0);
  return Expand({a, a.b().Scalar(t, value)}, ShapeOf(x));
}

// start, start + step, ... before stop; each `repeat` times.
Value* Arange(SymbolArgs& a) {
  double start = a.Number("start", 0), step = a.Number("step", 1);
  const bool has_stop = a.Given("stop");
  double stop = a.Number("stop", 0);
  if (!has_stop && !a.attrs().Has("infer_range")) stop = start, start = 0;
  a.Require(!a.Flag("infer_range", false), "a range whose end follows from others");
  const int64_t repeat = a.Integer("repeat", 1);
  const DType t = a.ElementType("dtype", DType::kFloat32);
  if (step == 0 || repeat < 1) a.Fail(Invalid("a range without a step"));
  const double count = std::ceil((stop - start) / step);
  a.Require(count < 1e7 && count * static_cast<double>(repeat) < 1e8, "a range of this length");
  std::vector<double> numbers;
  for (double i = 0; i < count; ++i) {
    numbers.insert(numbers.end(), static_cast<size_t>(repeat), start + i * step);
  }
  const auto size = static_cast<int64_t>(numbers.size());
  return NumbersAs(a, t, {size}, numbers);
}

// As many numbers as the axis has, or all axes in their shape.
Value* ArangeLike(SymbolArgs& a) {
  const double start = a.Number("start", 0), step = a.Number("step", 1);
  const int64_t repeat = a.Integer("repeat", 1);
  const auto axis = a.MaybeInteger("axis");
  if (repeat < 1) a.Fail(Invalid("a range without repeats"));
  const Expr x = a.in(0);
  const Expr count = axis ? SizeOf(x, *axis) : Expr(a, a.Op("size", {x}));
  const Expr places = repeat == 1 ? Iota(count) : Iota(count) / Int(a, repeat);
  const Expr numbers = Shifted(Scaled(places.To(x.dtype()), step), start);
  return axis ? numbers : ReshapeTo(numbers, ShapeOf(x));
}

Value* Linspace(SymbolArgs& a) {
  return SpacedNumbers(a, [](double number) { return number; });
}

// Ones where the column is the row and k.
Expr EyeOf(SymbolArgs& a, int64_t rows, int64_t columns, int64_t k, DType t) {
  const Expr row = Unsqueeze(Iota(Int(a, rows)), {1}), column = Iota(Int(a, columns));
  return (column - row == static_cast<double>(k)).To(t);
}

Value* Eye(SymbolArgs& a) {
  const int64_t rows = a.Integer("N", 0), columns = a.Integer("M", 0), k = a.Integer("k", 0);
  const DType t = a.ElementType("dtype", DType::kFloat32);
  return EyeOf(a, rows, columns == 0 ? rows : columns, k, t);
}

Value* Identity(SymbolArgs& a) {
  const std::vector<int64_t> shape = a.Tuple("shape");
  a.Require(shape.size() == 2, "a matrix");
  return EyeOf(a, shape[0], shape[1], 0, a.ElementType("dtype", DType::kFloat32));
}

// Of a vector a matrix, of a matrix its diagonal (axis1, axis2).
absl::StatusOr<Value*> Diag(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const int64_t k = a.Integer("k", a.Integer("offset", 0));
  X2IR_RETURN_IF_ERROR(CheckDiagonal(k));
  const Expr x = a.in(0);
  if (rank == 1) {
    const Expr n = SizeOf(x, 0), all = n + static_cast<double>(std::abs(k));
    const Expr row = Unsqueeze(Iota(all), {1}), column = Iota(all);
    const Expr place = k >= 0 ? row : row + static_cast<double>(k);
    const Expr inside = (column - row == static_cast<double>(k));
    const Expr index =
        Clip(Expand(place, Concat(a, {AtLeast1d(all), AtLeast1d(all)}, 0)), Int(a, 0), n - 1);
    return Where(inside, Gather(x, index, 0), x.Number(0)).value();
  }
  X2IR_ASSIGN_OR_RETURN(const Expr y,
                        DiagonalAt(a, x, {a.Integer("axis1", 0), a.Integer("axis2", 1)}, k));
  return y.value();
}

template <bool kUpper>
Value* Triangle(SymbolArgs& a) {
  return a.Op("trilu", {a.in(0), Int(a, a.Integer("k", 0))}, {{"upper", kUpper ? 1 : 0}});
}

// Elements moved along axes, those at the end to the begin.
absl::StatusOr<Value*> Roll(SymbolArgs& a) {
  const std::vector<int64_t> shifts = a.Tuple("shift");
  const auto given = a.AxesAttr();
  Expr x = a.in(0);
  const Expr whole = x;
  if (!given) x = Reshape(x, {-1});
  std::vector<int64_t> axes = given.value_or(std::vector<int64_t>{0});
  if (shifts.empty() || axes.empty() ||
      (shifts.size() != axes.size() && shifts.size() != 1 && axes.size() != 1)) {
    return Invalid(shifts.size(), " shifts of ", axes.size(), " axes");
  }
  for (size_t i = 0; i < std::max(axes.size(), shifts.size()); ++i) {
    const int64_t axis = axes[axes.size() == 1 ? 0 : i], shift = shifts[shifts.size() == 1 ? 0 : i];
    const Expr size = SizeOf(x, axis);
    x = Gather(x, Mod(Iota(size) - static_cast<double>(shift), size), axis);
  }
  return given ? x.value() : ReshapeTo(x, ShapeOf(whole)).value();
}

Value* ImageToColumns(SymbolArgs& a) {
  const Window w = TakeMxnetWindow(a);
  const size_t n = w.rank();
  a.Require(n <= 2, "windows of three axes");
  const auto both = [&](std::vector<int64_t> numbers, int64_t other) {
    numbers.resize(n);
    if (n == 1) numbers.insert(numbers.begin(), other);
    return numbers;
  };
  const Expr x = n == 1 ? Unsqueeze(a.in(0), {2}) : a.in(0);
  return AsTorch(a, "aten::im2col.default",
                 {{"self", x},
                  {"kernel_size", both(w.kernel, 1)},
                  {"dilation", both(w.dilations, 1)},
                  {"padding", both(w.pads, 0)},
                  {"stride", both(w.strides, 1)}})[0];
}

// What meets at a pixel is summed.
Value* ColumnsToImage(SymbolArgs& a) {
  const std::vector<int64_t> size = a.Tuple("output_size");
  const Window w = TakeMxnetWindow(a);
  a.Require(size.size() == w.rank(), "a size of other axes");
  return a.Op("col2im", {a.in(0), a.b().Ints(size), a.b().Ints(w.kernel)},
              {{"dilations", w.dilations}, {"pads", w.pads}, {"strides", w.strides}});
}

// Bytes, channels last, as floats from 0 to 1, channels first.
absl::StatusOr<Value*> ImageToTensor(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  return (MoveAxis(a.in(0).To(DType::kFloat32), rank - 1, rank - 3) / 255).value();
}

absl::StatusOr<Value*> ImageCrop(SymbolArgs& a) {
  const int64_t x = a.Integer("x", 0), y = a.Integer("y", 0), width = a.Integer("width", 0),
                height = a.Integer("height", 0);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const Expr rows = Slice(a.in(0), rank - 3, Size(y), Plus(a, y, height));
  return Slice(rows, rank - 2, Size(x), Plus(a, x, width)).value();
}

}  // namespace

X2IR_MXNET(concat)
    .From({"Concat", "concat", "_rnn_param_concat"}, MxConcat)
    .From({"_npi_concatenate", "_np_concatenate"}, NpConcat)
    .From({"stack", "_npi_stack"}, StackAll)
    .From({"_npi_vstack"}, NpStack<0>)
    .From({"_npi_hstack"}, NpStack<1>)
    .From({"_npi_dstack"}, NpStack<2>)
    .From({"_npi_column_stack"}, NpStack<3>);
X2IR_MXNET(depth_to_space).From("depth_to_space", DepthToSpace);
X2IR_MXNET(expand)
    .From({"broadcast_to", "_npi_broadcast_to", "_np_broadcast_to"}, BroadcastTo)
    .From({"broadcast_axis", "broadcast_axes"}, BroadcastAxis)
    .From({"broadcast_like", "_npx_broadcast_like"}, BroadcastLike)
    .From("zeros_like", Unary(ZerosLike))
    .From("ones_like", Unary(OnesLike));
X2IR_MXNET(flatten).From({"Flatten", "flatten", "_npx_batch_flatten"}, FlattenAll);
X2IR_MXNET(pad).From({"Pad", "pad", "_npi_pad"}, PadAll);
X2IR_MXNET(reshape)
    .From({"Reshape", "reshape"}, MxReshape)
    .From({"_np_reshape", "_npi_reshape"}, NpReshape)
    .From("_npx_reshape", NpxReshape)
    .From({"reshape_like", "_npx_reshape_like"}, ReshapeLike);
X2IR_MXNET(shape).From("shape_array", ShapeArray);
X2IR_MXNET(size).From("size_array", SizeArray);
X2IR_MXNET(slice)
    .From({"slice", "crop", "_npx_slice", "_npi_slice"}, SliceAll)
    .From("slice_axis", SliceAxis)
    .From({"slice_like", "_npx_slice_like"}, SliceLike("axes"))
    .From("Crop", Crop)
    .From({"reverse", "flip"}, Reverse)
    .From("_npi_flip", NpFlip)
    .From({"_slice_assign", "_crop_assign", "_npi_slice_assign"}, SliceAssignTensor)
    .From({"_slice_assign_scalar", "_crop_assign_scalar", "_npi_slice_assign_scalar"},
          SliceAssignNumber)
    .From({"_np_roll", "_npi_roll"}, Roll)
    .From({"im2col", "_npx_im2col"}, ImageToColumns)
    .From({"_image_crop", "_npx__image_crop"}, ImageCrop);
X2IR_MXNET(space_to_depth).From("space_to_depth", SpaceToDepth);
X2IR_MXNET(split)
    .From({"SliceChannel", "split"}, SliceChannel)
    .From({"_split_v2", "_npi_split"}, SplitV2<0>)
    .From({{"_npi_array_split", ArraySplit},
           {"_npi_hsplit", HSplit},
           {"_npi_vsplit", SplitV2<0>},
           {"_npi_dsplit", SplitV2<2>}});
X2IR_MXNET(squeeze).From({"squeeze", "_npi_squeeze", "_np_squeeze"}, SqueezeAxes);
X2IR_MXNET(tile)
    .From({"tile", "_npi_tile"}, TileAll)
    .From({"repeat", "_np_repeat", "_npi_repeat"}, Repeat);
X2IR_MXNET(transpose)
    .From({"transpose", "_np_transpose", "_npi_transpose"}, MxTranspose)
    .From({"SwapAxis", "swapaxes", "_npi_swapaxes"}, SwapAxes)
    .From({"_np_moveaxis", "_npi_moveaxis"}, MoveAxes)
    .From("_npi_rollaxis", RollAxis)
    .From({"_image_to_tensor", "_npx__image_to_tensor"}, ImageToTensor);
X2IR_MXNET(unsqueeze).From({"expand_dims", "_npi_expand_dims"}, ExpandDims);
X2IR_MXNET(constant_of_shape)
    .From({"_zeros", "_npi_zeros", "_zeros_without_dtype"}, MakeZeros)
    .From({"_ones", "_npi_ones"}, MakeOnes)
    .From({"_full", "_npi_full"}, MakeFull)
    .From({"_npi_full_like", "full_like"}, FullLike);
X2IR_MXNET(eye_like).From({"_eye", "_npi_eye"}, Eye).From("_npi_identity", Identity);
X2IR_MXNET(one_hot).From({"one_hot", "_npx_one_hot"}, OneHot);
X2IR_MXNET(range)
    .From({"_arange", "_npi_arange"}, Arange)
    .From({"_contrib_arange_like", "_npx_arange_like"}, ArangeLike)
    .From({"_linspace", "_npi_linspace"}, Linspace)
    .From({"_contrib_index_array", "_npx_index_array"}, IndexArray)
    .From({"_ravel_multi_index", "ravel_multi_index"}, RavelIndex)
    .From({"_unravel_index", "unravel_index"}, UnravelIndex);
X2IR_MXNET(trilu)
    .From({{"_npi_tril", Triangle<false>}, {"_npi_triu", Triangle<true>}})
    .From({"diag", "_np_diag", "_npi_diag", "_np_diagonal", "_npi_diagonal"}, Diag);
X2IR_MXNET(col2im).From({"col2im", "_npx_col2im"}, ColumnsToImage);

}  // namespace x2ir
