// OneFlow: shapes, order of axes, parts and wholes, tensors made of numbers.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/oneflow/oneflow.h"
#include "x2ir/handlers/oneflow/windows.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* FromReshape(OneflowArgs& a) { return Reshape(a.in(0), a.Ints("shape")); }
Value* ReshapeLike(OneflowArgs& a) { return ReshapeTo(a.in(0), ShapeOf(a.in(1))); }

// Axes from start to end as one.
Value* FromFlatten(OneflowArgs& a) {
  const int64_t rank = a.in(0).rank();
  const int64_t start = a.Int("start_dim"), end = a.Int("end_dim");
  return AsTorch(a, "aten::flatten.using_ints",
                 {{"self", a.in(0)},
                  {"start_dim", rank == 0 ? 0 : a.AxisOf(start, rank)},
                  {"end_dim", rank == 0 ? 0 : a.AxisOf(end, rank)}})[0];
}

Value* FromExpandDims(OneflowArgs& a) { return Unsqueeze(a.in(0), {a.Int("axis")}); }
Value* FromSqueeze(OneflowArgs& a) { return Squeeze(a.in(0), a.Ints("axes")); }

// Sizes of -1 do not change; new axes come before the others.
Value* FromExpand(OneflowArgs& a) {
  std::vector<int64_t> sizes = a.Ints("expand_shape");
  for (int64_t& size : sizes) size = size == -1 ? 1 : size;
  return Expand(a.in(0), a.b().Ints(sizes));
}

// To the shape of the other, with axes of size 1 at the places that are said.
Value* BroadcastLike(OneflowArgs& a) {
  const std::vector<int64_t> axes = a.Ints("broadcast_axes");
  Expr x = a.in(0);
  if (a.has(1) && x.rank() < a.in(1).rank() && !axes.empty()) x = Unsqueeze(x, axes);
  return Expand(x, ShapeOf(a.in(1)));
}

Value* FromCat(OneflowArgs& a) { return Concat(a, a.inputs(), a.Int("axis")); }
Value* FromStack(OneflowArgs& a) { return Stack(a, a.inputs(), a.Int("axis")); }

Value* FromNarrow(OneflowArgs& a) {
  const int64_t dim = a.AxisOf(a.Int("dim"), a.in(0).rank());
  const int64_t start = a.Int("start"), length = a.Int("length");
  a.Require(start >= 0 && length >= 0, "a part that begins before the start");
  return a.Op("slice", {a.in(0), a.b().Ints({start}), a.b().Ints({start + length}),
                        a.b().Ints({dim}), a.b().Ints({1})});
}

Value* FromSlice(OneflowArgs& a) {
  const std::vector<int64_t> start = a.Ints("start"), stop = a.Ints("stop"), step = a.Ints("step");
  a.Require(start.size() == stop.size() && start.size() == step.size(), "bounds of other axes");
  return a.Op("slice",
              {a.in(0), a.b().Ints(start), a.b().Ints(stop),
               a.b().Ints(CountedFrom(0, static_cast<int64_t>(start.size()))), a.b().Ints(step)});
}

Values SplitLike(OneflowArgs& a) {
  const std::vector<Value*> likes = a.Group(1);
  const int64_t axis = a.AxisOf(a.Int("axis"), a.in(0).rank());
  std::vector<int64_t> sizes;
  for (Value* like : likes) {
    const Dim dim = DimAt(like, axis);
    a.Require(dim.is_static(), "parts of unknown sizes");
    sizes.push_back(dim.value());
  }
  a.Require(sizes.size() == a.num_outputs(), "another number of parts");
  std::vector<bool> wanted;
  for (size_t i = 0; i < a.num_outputs(); ++i) wanted.push_back(a.wants(i));
  if (sizes.size() == 1) return {a.Op("identity", {a.in(0)})};
  return a.b().Ops("split", {a.in(0), a.b().Ints(sizes)}, {{"axis", axis}}, wanted);
}

Value* FromFlip(OneflowArgs& a) {
  return AsTorch(a, "aten::flip.default", {{"self", a.in(0)}, {"dims", a.Ints("dims")}})[0];
}

Value* FromRoll(OneflowArgs& a) {
  std::vector<int64_t> dims = a.Ints("dims");
  // -1 alone: of all elements as one axis.
  if (dims.size() == 1 && dims[0] == -1) dims.clear();
  return AsTorch(a, "aten::roll.default",
                 {{"self", a.in(0)}, {"shifts", a.Ints("shifts")}, {"dims", dims}})[0];
}

Value* Triangle(OneflowArgs& a, bool upper) {
  return a.Op("trilu", {a.in(0), a.b().Int(a.Int("diagonal"))}, {{"upper", upper}});
}

Value* Triu(OneflowArgs& a) { return Triangle(a, true); }

Value* Tril(OneflowArgs& a) {
  const bool real = a.Bool("is_floating_fill_value");
  const double fill = a.Number("floating_fill_value");
  const int64_t integer = a.Int("integer_fill_value");
  const double number = real ? fill : static_cast<double>(integer);
  if (number == 0) return Triangle(a, false);
  const Expr x = a.in(0);
  const Expr lower = a.Op("trilu", {Expand(x.Number(1), ShapeOf(x)), a.b().Int(a.Int("diagonal"))},
                          {{"upper", 0}});
  return Where(IsTrue(lower), x, number);
}

// Of the first two axes.
Value* FromDiagonal(OneflowArgs& a) {
  return AsTorch(a, "aten::diagonal.default",
                 {{"self", a.in(0)},
                  {"offset", a.Int("offset")},
                  {"dim1", int64_t{0}},
                  {"dim2", int64_t{1}}})[0];
}

Value* FromUnfoldTensor(OneflowArgs& a) {
  return AsTorch(a, "aten::unfold.default",
                 {{"self", a.in(0)},
                  {"dimension", a.Int("dimension")},
                  {"size", a.Int("size")},
                  {"step", a.Int("step")}})[0];
}

Value* Filled(OneflowArgs& a, DType type, const std::vector<int64_t>& dims, double number,
              int64_t integer, bool real) {
  a.Require(IsNumeric(type) || type == DType::kBool, "that element type");
  Value* value =
      type == DType::kBool ? a.b().Constant(Tensor::Scalar<bool>(real ? number != 0 : integer != 0))
      : !real && IsInteger(type) ? IntegerOf(a.b(), type, integer).value()
                                 : a.b().Scalar(type, real ? number : static_cast<double>(integer));
  return Expand({a, value}, a.b().Ints(dims));
}

Value* FromConstant(OneflowArgs& a) {
  a.Require(!a.Bool("is_complex_value"), "a complex number");
  a.Ignore("complex_value");
  const bool real = a.Bool("is_floating_value");
  const double number = a.Number("floating_value");
  const int64_t integer = a.Int("integer_value");
  return Filled(a, a.DataType("dtype", DType::kFloat32), a.Ints("shape"), number, integer, real);
}

Value* FromEmpty(OneflowArgs& a) {
  return Filled(a, a.DataType("dtype", DType::kFloat32), a.Ints("shape"), 0, 0, true);
}

Value* Like(OneflowArgs& a, double number) {
  const Expr x = a.in(0);
  Value* value = a.dtype() == DType::kBool ? a.b().Constant(Tensor::Scalar<bool>(number != 0))
                                           : x.Number(number).value();
  return Expand({a, value}, ShapeOf(x));
}

Value* ZeroLike(OneflowArgs& a) { return Like(a, 0); }
Value* OnesLike(OneflowArgs& a) { return Like(a, 1); }

Value* FromFill(OneflowArgs& a) {
  const bool real = a.Bool("is_floating_value");
  const double number = a.Number("floating_value");
  const int64_t integer = a.Int("integral_value");
  return Like(a, real ? number : static_cast<double>(integer));
}

Value* FillTensor(OneflowArgs& a) {
  return Expand(Reshape(a.in(1), {}).To(a.dtype()), ShapeOf(a.in(0)));
}

Value* FromArange(OneflowArgs& a) {
  const DType type = a.DataType("dtype", DType::kInt64);
  const int64_t ints[] = {a.Int("integer_start"), a.Int("integer_limit"), a.Int("integer_delta")};
  const double reals[] = {a.Number("float_start"), a.Number("float_limit"),
                          a.Number("float_delta")};
  const auto number = [&](size_t i) -> Value* {
    return IsInteger(type) ? IntegerOf(a.b(), type, ints[i]).value() : a.b().Scalar(type, reals[i]);
  };
  return a.Op("range", {number(0), number(1), number(2)});
}

// Of integers; the end, or how many there are.
Value* FromOldRange(OneflowArgs& a) {
  const DType type = a.DataType("dtype", DType::kInt64);
  const int64_t start = a.Int("start"), delta = a.Int("delta");
  int64_t limit = a.Int("limit");
  if (a.HasAttr("range_shape")) {
    int64_t length = 0;
    a.Require(!__builtin_mul_overflow(a.Int("range_shape"), delta, &length) &&
                  !__builtin_add_overflow(start, length, &limit),
              "numbers that are too large");
  }
  const auto number = [&](int64_t i) { return IntegerOf(a.b(), type, i).value(); };
  return a.Op("range", {number(start), number(limit), number(delta)});
}

Value* FromEye(OneflowArgs& a) {
  const DType type = a.DataType("dtype", DType::kFloat32);
  const int64_t rows = a.Int("rows"), columns = a.Int("cols");
  a.Require(rows >= 0 && columns >= 0, "sizes below 0");
  const Expr zeros = Expand({a, a.b().Scalar(type == DType::kBool ? DType::kFloat32 : type, 0)},
                            a.b().Ints({rows, columns}));
  const Expr eye = a.Op("eye_like", {zeros});
  return eye.To(type);
}

Value* FromOneHot(OneflowArgs& a) {
  const DType type = a.DataType("dtype", DType::kFloat32);
  const double on = a.Number("floating_on_value"), off = a.Number("floating_off_value");
  const int64_t int_on = a.Int("integer_on_value"), int_off = a.Int("integer_off_value");
  const bool real = IsFloating(type);
  // Integers are made as int64, of which every runtime has them.
  const DType made = real ? type : DType::kInt64;
  Value* values = NumbersAs(
      a.b(), made, {2},
      {real ? off : static_cast<double>(int_off), real ? on : static_cast<double>(int_on)});
  // ONNX counts negative indices from the end; here there are none.
  return a.Op("one_hot", {a.AsInt64(a.in(0)), a.b().Int(a.Int("depth")), values}).To(type);
}

absl::StatusOr<Value*> ToReshape(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, w.Sizes(w.out_type()));
  return w.Oneflow("reshape", {w.in(0)}, {{"shape", std::move(sizes)}});
}

absl::StatusOr<Value*> ToExpand(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, w.Sizes(w.out_type()));
  return w.Oneflow("expand", {w.in(0)}, {{"expand_shape", std::move(sizes)}});
}

absl::StatusOr<Value*> ToSqueeze(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  if (!axes) return ToReshape(w);
  if (axes->empty()) return w.Op("identity", {w.in(0)});
  return w.Oneflow("squeeze", {w.in(0)}, {{"axes", *axes}});
}

absl::StatusOr<Value*> ToUnsqueeze(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto rest, w.UnsqueezedButLast());
  if (!rest.axis) return w.Op("identity", {rest.x});
  return w.Oneflow("expand_dims", {rest.x}, {{"axis", *rest.axis}});
}

absl::StatusOr<Value*> ToTranspose(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> perm, PermOf(w));
  if (perm.empty()) return w.Op("identity", {w.in(0)});
  return w.Oneflow("transpose", {w.in(0)}, {{"perm", std::move(perm)}});
}

// Each axis gets a new axis of size 1 before it, which is expanded to the number of repeats.
absl::StatusOr<Value*> ToTile(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto repeats, w.KnownInts(1, "repeats"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.in(0)->type()));
  std::vector<int64_t> apart, wide, whole;
  for (size_t i = 0; i < dims.size(); ++i) {
    for (const int64_t size : {int64_t{1}, dims[i]}) apart.push_back(size);
    for (const int64_t size : {(*repeats)[i], dims[i]}) wide.push_back(size);
    whole.push_back((*repeats)[i] * dims[i]);
  }
  Value* x = w.Reshape(w.in(0), apart);
  return w.Reshape(w.Op("expand", {x, w.Ints(wide)}), whole);
}

// Blocks of pixels and channels change places: apart, in another order, together.
absl::StatusOr<Value*> ToBlocks(OneflowWriter& w, bool to_depth) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.in(0)->type()));
  const int64_t b = w.Int("blocksize");
  const bool last = w.String("layout") == "channels_last";
  if (dims.size() != 4 || b < 1) return CannotExpress("other than images");
  const int64_t n = dims[0], c = dims[last ? 3 : 1], h = dims[last ? 1 : 2], v = dims[last ? 2 : 3];
  if (to_depth) {
    if (last) {
      Value* x = w.Reshape(w.in(0), {n, h / b, b, v / b, b, c});
      x = w.Op("transpose", {x}, {{"perm", {0, 1, 3, 2, 4, 5}}});
      return w.Reshape(x, {n, h / b, v / b, b * b * c});
    }
    Value* x = w.Reshape(w.in(0), {n, c, h / b, b, v / b, b});
    x = w.Op("transpose", {x}, {{"perm", {0, 3, 5, 1, 2, 4}}});
    return w.Reshape(x, {n, b * b * c, h / b, v / b});
  }
  const bool crd = w.String("mode") == "CRD";
  const int64_t out = c / (b * b);
  if (last) {
    const std::vector<int64_t> apart =
        crd ? std::vector<int64_t>{n, h, v, out, b, b} : std::vector<int64_t>{n, h, v, b, b, out};
    const std::vector<int64_t> perm =
        crd ? std::vector<int64_t>{0, 1, 4, 2, 5, 3} : std::vector<int64_t>{0, 1, 3, 2, 4, 5};
    Value* x = w.Op("transpose", {w.Reshape(w.in(0), apart)}, {{"perm", perm}});
    return w.Reshape(x, {n, h * b, v * b, out});
  }
  const std::vector<int64_t> apart =
      crd ? std::vector<int64_t>{n, out, b, b, h, v} : std::vector<int64_t>{n, b, b, out, h, v};
  const std::vector<int64_t> perm =
      crd ? std::vector<int64_t>{0, 1, 4, 2, 5, 3} : std::vector<int64_t>{0, 3, 4, 1, 5, 2};
  Value* x = w.Op("transpose", {w.Reshape(w.in(0), apart)}, {{"perm", perm}});
  return w.Reshape(x, {n, out, h * b, v * b});
}

absl::StatusOr<Value*> ToSpaceToDepth(OneflowWriter& w) { return ToBlocks(w, true); }
absl::StatusOr<Value*> ToDepthToSpace(OneflowWriter& w) { return ToBlocks(w, false); }

absl::StatusOr<Value*> ToCat(OneflowWriter& w) {
  if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  return w.Oneflow("cat", w.node().inputs(), {{"axis", axis}});
}

// One after the other, of sizes that are known.
absl::StatusOr<Values> ToSplit(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "sizes"));
  const size_t count = w.num_outputs();
  std::vector<int64_t> sizes = given.value_or(std::vector<int64_t>());
  if (!given) {
    if (axis < 0 || axis >= rank) return CannotExpress("an axis that is none");
    const Dim whole = (*w.shape())[axis];
    if (!whole.is_static()) return CannotExpress("parts of unknown sizes");
    const auto n = static_cast<int64_t>(count), part = (whole.value() + n - 1) / n;
    for (int64_t i = 0; i < n; ++i) {
      sizes.push_back(std::clamp<int64_t>(whole.value() - i * part, 0, part));
    }
  }
  if (sizes.size() != count) return CannotExpress("another number of parts");
  Values parts;
  int64_t start = 0;
  for (size_t i = 0; i < count; ++i) {
    const AttributeMap attrs = {{"dim", axis}, {"start", start}, {"length", sizes[i]}};
    parts.push_back(w.wants(i) ? w.Oneflow("narrow", {w.in(0)}, attrs, w.out_type(i)) : nullptr);
    start += sizes[i];
  }
  return parts;
}

// Bounds for all axes. A negative step becomes a positive one of the reversed operand.
absl::StatusOr<Value*> ToSlice(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.in(0)->type()));
  X2IR_ASSIGN_OR_RETURN(const auto starts, w.KnownInts(1, "starts"));
  X2IR_ASSIGN_OR_RETURN(const auto ends, w.KnownInts(2, "ends"));
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(3, "axes"));
  X2IR_ASSIGN_OR_RETURN(const auto by, w.KnownInts(4, "steps"));
  const auto rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t> start(dims.size(), 0), stop = dims, step(dims.size(), 1), turned;
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = given ? (*given)[i] : static_cast<int64_t>(i);
    if (axis < 0) axis += rank;
    const auto at = static_cast<size_t>(axis);
    const int64_t n = dims[at], s = by ? (*by)[i] : 1;
    int64_t from = (*starts)[i], to = (*ends)[i];
    if (from < 0) from = std::max<int64_t>(from, -n) + n;
    if (to < 0) to = std::max(to + n, int64_t{-1});
    if (s > 0) {
      from = std::clamp<int64_t>(from, 0, n);
      to = std::clamp<int64_t>(to, from, n);
    } else {
      if ((*starts)[i] < -n) from = -1;
      from = std::min(from, n - 1);
      to = std::min(to, from);
      from = n - 1 - from;
      to = n - 1 - to;
      turned.push_back(axis);
    }
    if (to <= from) return CannotExpress("a part of no elements");
    start[at] = from;
    stop[at] = to;
    step[at] = s > 0 ? s : -s;
  }
  Value* x = w.in(0);
  // A part of one axis.
  int64_t cut = 0, at_axis = 0;
  bool steps = !turned.empty();
  for (size_t i = 0; i < dims.size(); ++i) {
    steps |= step[i] != 1;
    if (start[i] == 0 && stop[i] == dims[i]) continue;
    ++cut;
    at_axis = static_cast<int64_t>(i);
  }
  if (!steps && cut == 1) {
    const auto i = static_cast<size_t>(at_axis);
    return w.Oneflow("narrow", {x},
                     {{"dim", at_axis}, {"start", start[i]}, {"length", stop[i] - start[i]}});
  }
  if (!turned.empty()) x = w.Oneflow("flip", {x}, {{"dims", turned}}, x->type());
  return w.Oneflow("slice", {x}, {{"start", start}, {"stop", stop}, {"step", step}});
}

absl::StatusOr<Value*> ToTrilu(OneflowWriter& w) {
  const auto k = w.has(1) ? OneflowWriter::NumberOf(w.in(1)) : std::optional<double>(0);
  if (!k) return CannotExpress("a diagonal that is computed");
  return w.Oneflow(w.Int("upper") != 0 ? "triu" : "tril", {w.in(0)},
                   {{"diagonal", static_cast<int64_t>(*k)}});
}

Value* ConstantOf(OneflowWriter& w, DType type, const std::vector<int64_t>& dims, const Tensor& t) {
  const bool real = IsFloating(type);
  AttributeMap attrs = {{"dtype", Name(type)}, {"shape", dims}, {"is_floating_value", real}};
  if (real) {
    attrs.Set("floating_value", t.AsDouble(0));
  } else {
    attrs.Set("integer_value", t.AsInt(0));
  }
  return w.Oneflow("constant", {}, std::move(attrs));
}

absl::StatusOr<Value*> ToConstantOfShape(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.out_type()));
  const Tensor& value = *w.attrs().Find("value")->get<Tensor>();
  if (oneflow::DataTypeOf(value.dtype()) == 0 || IsComplex(value.dtype())) {
    return CannotExpress("constants of ", Name(value.dtype()));
  }
  return ConstantOf(w, value.dtype(), dims, value);
}

absl::StatusOr<Value*> ToArange(OneflowWriter& w) {
  const DType type = w.dtype();
  std::optional<Tensor> numbers[3];
  for (size_t i = 0; i < 3; ++i) {
    numbers[i] = KnownTensor(*w.in(i));
    if (!numbers[i]) return CannotExpress("a range of computed bounds");
  }
  AttributeMap attrs = {{"dtype", Name(type)}};
  static constexpr std::string_view kNames[] = {"start", "limit", "delta"};
  for (size_t i = 0; i < 3; ++i) {
    if (IsFloating(type)) {
      attrs.Set(StrCat("float_", kNames[i]), numbers[i]->AsDouble(0));
    } else {
      attrs.Set(StrCat("integer_", kNames[i]), numbers[i]->AsInt(0));
    }
  }
  return w.Oneflow("arange", {}, std::move(attrs));
}

absl::StatusOr<Value*> ToOneHot(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const auto depth = OneflowWriter::NumberOf(w.in(1));
  const std::optional<Tensor> values = KnownTensor(*w.in(2));
  if (!depth || !values || values->num_elements() != 2) return CannotExpress("computed values");
  if (w.Int("axis") != -1 && w.Int("axis") != rank)
    return CannotExpress("a new axis before others");
  if (!w.CountsFromTheFront(*w.in(0))) return CannotExpress("indices that may be negative");
  AttributeMap attrs = {{"depth", static_cast<int64_t>(*depth)}, {"dtype", Name(values->dtype())}};
  if (IsFloating(values->dtype())) {
    attrs.Set("floating_off_value", values->AsDouble(0));
    attrs.Set("floating_on_value", values->AsDouble(1));
  } else {
    attrs.Set("integer_off_value", values->AsInt(0));
    attrs.Set("integer_on_value", values->AsInt(1));
  }
  return w.Oneflow("one_hot", {w.Cast(w.in(0), DType::kInt64)}, std::move(attrs));
}

absl::StatusOr<Value*> ToEye(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.out_type()));
  const DType type = w.out_type().dtype();
  if (w.Int("k") != 0 || dims.size() != 2 || oneflow::DataTypeOf(type) == 0) {
    return CannotExpress("another diagonal");
  }
  return w.Oneflow("eye", {}, {{"rows", dims[0]}, {"cols", dims[1]}, {"dtype", Name(type)}});
}

// What is known when the file is written is a tensor in it.
absl::StatusOr<Value*> ToKnownShape(OneflowWriter& w) {
  const Shape* shape = w.shape();
  const auto dims = shape ? shape->Static() : std::nullopt;
  if (!dims) return CannotExpress("sizes that are not known");
  const int64_t rank = shape->rank();
  int64_t start = w.Int("start"), end = w.attrs().Int("end", rank);
  if (start < 0) start += rank;
  if (end < 0) end += rank;
  start = std::clamp<int64_t>(start, 0, rank);
  end = std::clamp(end, start, rank);
  return w.Ints(
      absl::MakeSpan(*dims).subspan(static_cast<size_t>(start), static_cast<size_t>(end - start)));
}

absl::StatusOr<Value*> ToKnownSize(OneflowWriter& w) {
  const Shape* shape = w.shape();
  const auto dims = shape ? shape->Static() : std::nullopt;
  if (!dims) return CannotExpress("sizes that are not known");
  return w.b().Int(*CheckedProduct(*dims));
}

Value* RandomMaskLike(OneflowArgs& a) {
  a.Ignore("rate");
  a.Ignore("seed");
  return Expand({a, a.b().Constant(Tensor::Scalar<bool>(true))}, ShapeOf(a.in(0)));
}

Value* FromUnfold(OneflowArgs& a) {
  a.Require(!TakeChannelsLast(a), "channels that are last");
  const std::vector<int64_t> kernel = PerAxis(a, "kernel_size", 2, 1);
  const std::vector<int64_t> dilation = PerAxis(a, "dilation_rate", 2, 1);
  const std::vector<int64_t> padding = PerAxis(a, "padding", 2, 0);
  const std::vector<int64_t> stride = PerAxis(a, "strides", 2, 1);
  return AsTorch(a, "aten::im2col.default",
                 {{"self", a.in(0)},
                  {"kernel_size", kernel},
                  {"dilation", dilation},
                  {"padding", padding},
                  {"stride", stride}})[0];
}

Value* FromFold(OneflowArgs& a) {
  a.Require(!TakeChannelsLast(a), "channels that are last");
  const std::vector<int64_t> size = PerAxis(a, "output_size", 2, 1);
  const std::vector<int64_t> kernel = PerAxis(a, "kernel_size", 2, 1);
  const std::vector<int64_t> dilation = PerAxis(a, "dilation_rate", 2, 1);
  const std::vector<int64_t> padding = PerAxis(a, "padding", 2, 0);
  const std::vector<int64_t> stride = PerAxis(a, "strides", 2, 1);
  return a.Op("col2im", {a.in(0), a.b().Ints(size), a.b().Ints(kernel)},
              {{"dilations", dilation}, {"pads", BothEnds(padding)}, {"strides", stride}});
}

absl::StatusOr<Value*> ToFold(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto size, w.KnownInts(1, "sizes"));
  X2IR_ASSIGN_OR_RETURN(const auto kernel, w.KnownInts(2, "sizes"));
  if (size->size() != 2 || kernel->size() != 2) return CannotExpress("other than two axes");
  const std::vector<int64_t> pads = w.attrs().Ints("pads", {0, 0, 0, 0});
  if (pads[0] != pads[2] || pads[1] != pads[3]) return CannotExpress("pads of different sizes");
  return w.Oneflow("fold", {w.in(0)},
                   {{"data_format", "channels_first"},
                    {"output_size", *size},
                    {"kernel_size", *kernel},
                    {"strides", w.attrs().Ints("strides", {1, 1})},
                    {"padding", {pads[0], pads[1]}},
                    {"dilation_rate", w.attrs().Ints("dilations", {1, 1})}});
}

// Begins and ends of all axes: said for each, or, as in Python, in pairs from the last axis on.
std::vector<int64_t> TakePads(OneflowArgs& a) {
  const auto rank = static_cast<size_t>(a.in(0).rank());
  const std::vector<int64_t> before = a.Ints("padding_before"), after = a.Ints("padding_after");
  const std::vector<int64_t> pairs = a.Ints("padding");
  if (!before.empty() || pairs.empty()) {
    a.Require(before.size() == rank && after.size() == rank, "pads of other axes");
    return JoinPads(before, after);
  }
  a.Require(pairs.size() % 2 == 0 && pairs.size() <= 2 * rank, "pads of other axes");
  std::vector<int64_t> pads(2 * rank, 0);
  for (size_t i = 0; i < pairs.size() / 2; ++i) {
    pads[rank - 1 - i] = pairs[2 * i];
    pads[2 * rank - 1 - i] = pairs[2 * i + 1];
  }
  return pads;
}

Value* PadWithNumber(OneflowArgs& a, Symbol floating, Symbol integral) {
  const std::vector<int64_t> pads = TakePads(a);
  const double number = a.Number(floating);
  const int64_t integer = a.Int(integral);
  const DType type = a.dtype();
  const Expr value = IsFloating(type) ? a.in(0).Number(number)
                     : type == DType::kBool
                         ? Expr(a.b(), a.b().Constant(Tensor::Scalar<bool>(integer != 0)))
                         : IntegerOf(a.b(), type, integer);
  return a.Op("pad", {a.in(0), a.b().Ints(pads), value});
}

Value* FromPad(OneflowArgs& a) {
  return PadWithNumber(a, "floating_constant_value", "integral_constant_value");
}

Value* ConstantPad(OneflowArgs& a) { return PadWithNumber(a, "floating_value", "integral_value"); }

template <int mode>
Value* PadWithEdges(OneflowArgs& a) {
  return a.Op("pad", {a.in(0), a.b().Ints(TakePads(a))},
              {{"mode", mode == 0 ? "reflect" : "edge"}});
}

// Zeros (or the least number, for maxima) so that a window's results are as many as the strides
// say.
Value* PadSame(OneflowArgs& a) {
  const std::string padding = a.String("padding");
  Window window;
  window.channels_last = TakeChannelsLast(a);
  const auto rank = static_cast<size_t>(a.in(0).rank());
  a.Require(rank > 2 && (padding == "same_upper" || padding == "same_lower"),
            StrCat("padding ", padding));
  window.kernel = PerAxis(a, "kernel_size", rank - 2, 1);
  window.strides = PerAxis(a, "strides", rank - 2, 1);
  window.dilations = PerAxis(a, "dilation_rate", rank - 2, 1);
  window.pads.resize(2 * window.rank());
  window.auto_pad = padding == "same_upper" ? AutoPad::kSameUpper : AutoPad::kSameLower;
  for (size_t i = 0; i < window.rank(); ++i) {
    a.Require(DimAt(a.in(0), window.axis(i)).is_static() && window.strides[i] > 0,
              "an operand of unknown sizes");
  }
  const Window padded = *WithPads(window, a.shape());
  return a.Op("pad", {a.in(0), a.b().Ints(TensorPads(padded)), a.in(0).Number(0)});
}

absl::StatusOr<Value*> ToPad(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "pads"));
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(3, "axes"));
  std::vector<int64_t> before(static_cast<size_t>(rank), 0), after = before;
  const size_t n = given->size() / 2;
  for (size_t i = 0; i < n; ++i) {
    int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    if (axis < 0) axis += rank;
    before[static_cast<size_t>(axis)] = (*given)[i];
    after[static_cast<size_t>(axis)] = (*given)[i + n];
  }
  std::vector<int64_t> pairs;  // as Python has them
  for (int64_t i = rank - 1; i >= 0; --i) {
    pairs.push_back(before[static_cast<size_t>(i)]);
    pairs.push_back(after[static_cast<size_t>(i)]);
  }
  const std::string& mode = w.String("mode");
  if (mode == "constant") {
    const auto number = w.has(2) ? OneflowWriter::NumberOf(w.in(2)) : std::optional<double>(0);
    if (!number) return CannotExpress("a number that is computed");
    AttributeMap attrs = {{"padding_before", before}, {"padding_after", after}, {"padding", pairs}};
    if (IsFloating(w.dtype())) {
      attrs.Set("floating_constant_value", *number);
    } else {
      attrs.Set("integral_constant_value", static_cast<int64_t>(*number));
    }
    return w.Oneflow("pad", {w.in(0)}, std::move(attrs));
  }
  if ((mode != "reflect" && mode != "edge") || !IsFloating(w.dtype())) {
    return CannotExpress("pads of mode ", mode);
  }
  // Of the last one or two axes of images.
  const int64_t spatial = rank == 3 ? 1 : rank == 4 ? 2 : 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const bool inside = i < static_cast<size_t>(2 * spatial);
    if (pairs[i] < 0 || (!inside && pairs[i] != 0)) return CannotExpress("pads of other axes");
  }
  if (spatial == 0) return CannotExpress("pads of tensors of rank ", rank);
  pairs.resize(static_cast<size_t>(2 * spatial));
  const std::string_view op = mode == "reflect"
                                  ? (spatial == 1 ? "reflection_pad1d" : "reflection_pad2d")
                                  : (spatial == 1 ? "replication_pad1d" : "replication_pad2d");
  return w.Oneflow(op, {w.in(0)}, {{"padding", pairs}});
}

}  // namespace

X2IR_ONEFLOW(reshape)
    .To("reshape", ToReshape)
    .From({{"reshape", FromReshape}, {"reshape_like", ReshapeLike}});
X2IR_ONEFLOW(flatten).To("reshape", ToReshape).From("flatten", FromFlatten);
X2IR_ONEFLOW(unsqueeze).To("expand_dims", ToUnsqueeze).From("expand_dims", FromExpandDims);
X2IR_ONEFLOW(squeeze).To("squeeze", ToSqueeze).From("squeeze", FromSqueeze);
X2IR_ONEFLOW(transpose).To("transpose", ToTranspose).From("transpose");
X2IR_ONEFLOW(expand)
    .To("expand", ToExpand)
    .From({{"expand", FromExpand},
           {"broadcast_like", BroadcastLike},
           {"constant", FromConstant},
           {"empty", FromEmpty},
           {"zero_like", ZeroLike},
           {"ones_like", OnesLike},
           {"fill_", FromFill},
           {"fill_tensor_", FillTensor},
           {"random_mask_like", RandomMaskLike}});
X2IR_ONEFLOW(tile).To("expand", ToTile);
X2IR_ONEFLOW(concat)
    .To("cat", ToCat)
    .From({{"cat", FromCat}, {"concat", FromCat}, {"stack", FromStack}});
X2IR_ONEFLOW(split).To("narrow", ToSplit).From("split_like", SplitLike);
X2IR_ONEFLOW(slice)
    .To("slice", ToSlice)
    .From({{"slice", FromSlice},
           {"logical_slice", FromSlice},
           {"narrow", FromNarrow},
           {"flip", FromFlip},
           {"roll", FromRoll},
           {"diagonal", FromDiagonal},
           {"unfold_tensor", FromUnfoldTensor},
           {"unfold", FromUnfold}});
X2IR_ONEFLOW(trilu).To("triu", ToTrilu).From({{"triu", Triu}, {"tril", Tril}});
X2IR_ONEFLOW(constant_of_shape).To("constant", ToConstantOfShape);
X2IR_ONEFLOW(range).To("arange", ToArange).From({{"arange", FromArange}, {"range", FromOldRange}});
X2IR_ONEFLOW(eye_like).To("eye", ToEye).From("eye", FromEye);
X2IR_ONEFLOW(one_hot).To("one_hot", ToOneHot).From("one_hot", FromOneHot);
X2IR_ONEFLOW(space_to_depth).To("transpose", ToSpaceToDepth);
X2IR_ONEFLOW(depth_to_space).To("transpose", ToDepthToSpace);
X2IR_ONEFLOW(shape).To("constant", ToKnownShape);
X2IR_ONEFLOW(size).To("constant", ToKnownSize);
X2IR_ONEFLOW(col2im).To("fold", ToFold).From("fold", FromFold);
X2IR_ONEFLOW(pad)
    .To("pad", ToPad)
    .From({{"pad", FromPad},
           {"constant_pad1d", ConstantPad},
           {"constant_pad2d", ConstantPad},
           {"constant_pad3d", ConstantPad},
           {"same_padding", PadSame},
           {"reflection_pad1d", PadWithEdges<0>},
           {"reflection_pad2d", PadWithEdges<0>},
           {"replication_pad1d", PadWithEdges<1>},
           {"replication_pad2d", PadWithEdges<1>}});

}  // namespace x2ir
