// NNVM: shapes, parts and movement of elements, both ways.
#include <algorithm>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/nnvm/layouts.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> ReshapeRow(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Expr y, ReshapeByCodes(a, a.in(0), a.Tuple("shape"), false));
  return y.value();
}

Value* ReshapeLikeRow(SymbolArgs& a) { return ReshapeTo(a.in(0), ShapeOf(a.in(1))); }
Value* FlattenRow(SymbolArgs& a) { return a.Op("flatten", {a.in(0)}, {{"axis", 1}}); }

absl::StatusOr<Value*> ExpandDimsRow(SymbolArgs& a) {
  const int64_t axis = a.Integer("axis", 0), count = a.Integer("num_newaxis", 1);
  if (count < 0 || count > 64) return Invalid("new axes: ", count);
  if (count > 1 && axis < 0) return Unimplemented("new axes counted from the end");
  return Unsqueeze(a.in(0), CountedFrom(axis, count)).value();
}

Value* SqueezeRow(SymbolArgs& a) {
  const std::vector<int64_t> axes = a.Tuple("axis");
  if (axes.empty() && a.rank(0) == 1) return SameValue(a);
  return AtLeastOneAxis(axes.empty() ? a.Op("squeeze", {a.in(0)}) : Squeeze(a.in(0), axes));
}

Value* BroadcastToRow(SymbolArgs& a) {
  const std::vector<int64_t> sizes = a.Tuple("shape");
  std::vector<Size> to;
  const int64_t lead = static_cast<int64_t>(sizes.size()) - std::max<int64_t>(a.rank(0), 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto at = static_cast<int64_t>(i) - lead;
    to.push_back(sizes[i] == 0 && at >= 0 ? SizeAt(a.in(0), at) : Size(sizes[i]));
  }
  return Expand(a.in(0), Vector(a, to));
}

absl::StatusOr<Values> SplitRow(SymbolArgs& a) {
  const std::string text = a.Text("indices_or_sections", "1");
  const std::vector<int64_t> places = a.Tuple("indices_or_sections", {1});
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes({a.Integer("axis", 1)}));
  const Expr x = a.in(0);
  std::vector<Value*> parts;
  // A number of parts, or the places where one ends and the next begins.
  const bool sections = text.find('(') == text.npos && text.find('[') == text.npos;
  if (sections) {
    if (places.size() != 1) return Invalid("parts of no number");
    return a.b().Ops("split", {x}, {{"axis", axes[0]}, {"num_outputs", places[0]}},
                     static_cast<size_t>(std::clamp<int64_t>(places[0], 1, 1 << 20)));
  }
  for (size_t i = 0; i <= places.size(); ++i) {
    parts.push_back(Slice(x, axes[0], Size(i == 0 ? 0 : places[i - 1]),
                          i < places.size() ? Size(places[i]) : Size(kToEnd)));
  }
  return parts;
}

Value* StridedSliceRow(SymbolArgs& a) {
  const auto begin = a.MaybeTuple("begin"), end = a.MaybeTuple("end"),
             step = a.MaybeTuple("stride");
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> begins, ends, steps;
  const size_t count = std::max(begin.size(), end.size());
  for (size_t i = 0; i < count; ++i) {
    const int64_t by = i < step.size() && step[i] ? *step[i] : 1;
    if (by == 0) a.Fail(Invalid("a step of 0"));
    steps.push_back(by);
    begins.push_back(i < begin.size() && begin[i] ? *begin[i] : by > 0 ? 0 : kFar);
    ends.push_back(i < end.size() && end[i] ? *end[i] : by > 0 ? kFar : -kFar);
  }
  return a.Op("slice",
              {a.in(0), a.b().Ints(begins), a.b().Ints(ends),
               a.b().Ints(CountedFrom(0, static_cast<int64_t>(count))), a.b().Ints(steps)});
}

Value* FlipRow(SymbolArgs& a) { return Flipped(a.in(0), {a.Integer("axis", 0)}); }

Value* PadRow(SymbolArgs& a) {
  const std::vector<int64_t> widths = a.FlatTuple("pad_width");
  if (widths.size() % 2 != 0) a.Fail(Invalid("pads without an end"));
  std::vector<int64_t> begins, ends;
  for (size_t i = 0; i + 1 < widths.size(); i += 2) {
    if (widths[i] < 0 || widths[i + 1] < 0 || widths[i] > 1'000'000'000 ||
        widths[i + 1] > 1'000'000'000) {
      a.Fail(Invalid("pads of ", widths[i], " and ", widths[i + 1]));
    }
    begins.push_back(widths[i]);
    ends.push_back(widths[i + 1]);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  return a.Op("pad", {a.in(0), a.b().Ints(begins), a.in(0).Number(a.Number("pad_value", 0))},
              {{"mode", "constant"}});
}

Value* FullRow(SymbolArgs& a, double value) {
  std::vector<Size> sizes;
  for (const int64_t size : a.Tuple("shape")) sizes.emplace_back(size);
  return Filled(a, a.ElementType("dtype", DType::kFloat32), sizes, value);
}

absl::StatusOr<Value*> ToReshape(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto sizes, w.KnownInts(1, "shape"));
  std::vector<int64_t> to;
  if (sizes) {
    to = *sizes;
  }
  const bool zero = std::find(to.begin(), to.end(), 0) != to.end();
  if (zero && w.Int("allowzero") != 0) return CannotExpress("sizes of 0");
  if (to.empty()) return CannotExpress("a result without axes");
  return w.Nnvm("reshape", {w.in(0)}, {{"shape", TupleText(to)}});
}

absl::StatusOr<Value*> ToFlatten(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const int64_t axis = w.Int("axis") + (w.Int("axis") < 0 ? rank : 0);
  if (axis == 1) return w.Nnvm("flatten", {w.in(0)});
  const Shape* out = w.out_type().shape();
  if (!out || !out->is_static()) return CannotExpress("rows of unknown number");
  // 0 is the size of the operand there.
  if ((*out)[0].value() == 0 || (*out)[1].value() == 0) return CannotExpress("sizes of 0");
  return w.Nnvm("reshape", {w.in(0)},
                {{"shape", TupleText({(*out)[0].value(), (*out)[1].value()})}});
}

absl::StatusOr<Value*> ToExpandDims(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto less, w.UnsqueezedButLast());
  if (!less.axis) return w.Nnvm("copy", {w.in(0)});
  return w.Nnvm("expand_dims", {less.x}, {{"axis", StrCat(*less.axis)}});
}

absl::StatusOr<Value*> ToSqueeze(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  if (w.out_type().shape() && w.out_type().shape()->rank() == 0)
    return CannotExpress("a result without axes");
  AttributeMap attrs;
  if (axes) attrs.Set("axis", TupleText(*axes));
  return w.Nnvm("squeeze", {w.in(0)}, std::move(attrs));
}

absl::StatusOr<Value*> ToBroadcast(SymbolWriter& w) {
  const Shape* out = w.out_type().shape();
  if (!out || !out->is_static()) return CannotExpress("sizes that are not known");
  std::vector<int64_t> sizes;
  for (const Dim& dim : *out) sizes.push_back(dim.value());
  return w.Nnvm("broadcast_to", {w.in(0)}, {{"shape", TupleText(sizes)}});
}

absl::StatusOr<Values> ToSplit(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const auto sizes, w.KnownInts(1, "sizes"));
  const size_t count = w.num_outputs();
  const Dim dim = DimAt(w.in(0), axis);
  std::string places;
  if (sizes) {
    std::vector<int64_t> ends;
    int64_t at = 0;
    for (size_t i = 0; i + 1 < sizes->size(); ++i) ends.push_back(at += (*sizes)[i]);
    places = TupleText(ends);
  } else {
    // The last part may be smaller there.
    if (!dim.is_static() || dim.value() % static_cast<int64_t>(count) != 0) {
      return CannotExpress("parts of different sizes");
    }
    places = StrCat(count);
  }
  return w.NnvmAll("split", {w.in(0)}, {{"indices_or_sections", places}, {"axis", StrCat(axis)}},
                   count);
}

absl::StatusOr<Value*> ToStridedSlice(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const auto starts, w.KnownInts(1, "starts"));
  X2IR_ASSIGN_OR_RETURN(const auto ends, w.KnownInts(2, "ends"));
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(3, "axes"));
  X2IR_ASSIGN_OR_RETURN(const auto steps, w.KnownInts(4, "steps"));
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max();
  std::vector<int64_t> begin(static_cast<size_t>(rank), 0), end(static_cast<size_t>(rank), kFar),
      stride(static_cast<size_t>(rank), 1);
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    axis += axis < 0 ? rank : 0;
    const auto at = static_cast<size_t>(axis);
    stride[at] = steps ? (*steps)[i] : 1;
    begin[at] = std::clamp((*starts)[i], -kFar, kFar);
    end[at] = std::clamp((*ends)[i], -kFar, kFar);
    const Dim dim = DimAt(w.in(0), axis);
    if (!dim.is_static()) continue;
    // As plain numbers, which every reader takes alike.
    const int64_t size = dim.value();
    if (stride[at] > 0) {
      for (int64_t* number : {&begin[at], &end[at]}) {
        *number = std::clamp<int64_t>(*number < 0 ? *number + size : *number, 0, size);
      }
    }
  }
  for (size_t i = 0; i < end.size(); ++i) {
    const Dim dim = DimAt(w.in(0), static_cast<int64_t>(i));
    if (end[i] == kFar && dim.is_static() && stride[i] > 0) end[i] = dim.value();
  }
  return w.Nnvm(
      "strided_slice", {w.in(0)},
      {{"begin", TupleText(begin)}, {"end", TupleText(end)}, {"stride", TupleText(stride)}});
}

absl::StatusOr<Value*> ToPad(SymbolWriter& w) {
  if (w.String("mode") != "constant") return CannotExpress("mode ", w.String("mode"));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const auto pads, w.KnownInts(1, "pads"));
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(3, "axes"));
  const auto value = w.in(2) ? OneNumber(w.in(2)) : 0;
  if (!value) return CannotExpress("a number that is computed, or that no double holds");
  if (AnyNegative(*pads)) return CannotExpress("pads below 0");
  const std::vector<int64_t> pairs = PadPairs(*pads, axes, rank);
  std::string widths = "(";
  for (size_t i = 0; i < pairs.size(); i += 2) {
    StrAppend(&widths, i == 0 ? "" : ", ", TupleText({pairs[i], pairs[i + 1]}));
  }
  return w.Nnvm("pad", {w.in(0)}, {{"pad_width", widths + ")"}, {"pad_value", NumberText(*value)}});
}

Value* LayoutTransform(SymbolArgs& a) {
  const std::string from = a.Text("src_layout", ""), to = a.Text("dst_layout", "");
  return InLayout(a, a.in(0), from, to);
}

}  // namespace

X2IR_NNVM(reshape)
    .To("reshape", ToReshape)
    .From({{"reshape", ReshapeRow}, {"reshape_like", ReshapeLikeRow}});
X2IR_NNVM(flatten).To("flatten", ToFlatten).From("flatten", FlattenRow);
X2IR_NNVM(transpose)
    .Is("transpose", TextAttr("perm", "axes", AttrKind::kInts))
    .From({{"__layout_transform__", LayoutTransform}, {"layout_transform", LayoutTransform}});
X2IR_NNVM(concat).Is("concatenate", TextAttr("axis", "axis", AttrKind::kInt, Attribute(1)));
X2IR_NNVM(unsqueeze).To("expand_dims", ToExpandDims).From("expand_dims", ExpandDimsRow);
X2IR_NNVM(squeeze).To("squeeze", ToSqueeze).From("squeeze", SqueezeRow);
X2IR_NNVM(expand)
    .To("broadcast_to", ToBroadcast)
    .From("broadcast_to", BroadcastToRow)
    .From("zeros_like",
          [](SymbolArgs& a) -> Value* { return Expand(a.in(0).Number(0), ShapeOf(a.in(0))); })
    .From("ones_like",
          [](SymbolArgs& a) -> Value* { return Expand(a.in(0).Number(1), ShapeOf(a.in(0))); })
    .From("full_like", [](SymbolArgs& a) -> Value* {
      return Expand(a.in(0).Number(a.Number("fill_value", 0)), ShapeOf(a.in(0)));
    });
X2IR_NNVM(split).To("split", ToSplit).From("split", SplitRow);
X2IR_NNVM(slice)
    .To("strided_slice", ToStridedSlice)
    .From({{"strided_slice", StridedSliceRow},
           {"slice_like", SliceLike("axis")},
           {"flip", FlipRow}});
X2IR_NNVM(pad).To("pad", ToPad).From("pad", PadRow);
X2IR_NNVM(constant_of_shape)
    .From("full", [](SymbolArgs& a) { return FullRow(a, a.Number("fill_value", 0)); })
    .From("zeros", [](SymbolArgs& a) { return FullRow(a, 0); })
    .From("ones", [](SymbolArgs& a) { return FullRow(a, 1); });

}  // namespace x2ir
