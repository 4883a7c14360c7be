// Caffe2: operators that work on each number, and those that move them.
#include <algorithm>

#include "x2ir/builder/layers/images.h"
#include "x2ir/builder/layers/resize.h"
#include "x2ir/handlers/caffe2/caffe2.h"

namespace x2ir {
namespace {

// --- Of each number ------------------------------------------------------------------------------

template <typename Fn>
auto Each(Fn fn) {
  return [fn](Caffe2Args& a) { return fn(a.in(0)).value(); };
}
auto PlainOp(const char* op) {
  return [op](Caffe2Args& a) { return a.Op(op, {a.in(0)}); };
}
// The second operand stands at an axis of the first where the old argument says so.
Expr SecondOf(Caffe2Args& a) {
  const Expr y = a.in(1);
  const bool broadcast = a.Bool("broadcast", false);
  const bool placed = a.HasAttr("axis");
  int64_t axis = a.Int("axis", -1);
  const std::string name = a.String("axis_str", "");
  a.Require(name.empty(), "an axis by its name");
  if (!broadcast || !placed || axis == -1) return y;
  const int64_t rank = a.RankOf(0), own = a.RankOf(1);
  if (axis < 0 || axis + own > rank) a.Fail(Invalid("axes ", axis, " to ", axis + own));
  std::vector<int64_t> behind;
  for (int64_t i = own; i < rank - axis; ++i) behind.push_back(i);
  return Unsqueeze(y, behind);
}
template <typename Fn>
auto OfTwo(Fn fn) {
  return [fn](Caffe2Args& a) {
    const Expr y = SecondOf(a);
    return fn(a.in(0), y).value();
  };
}
Value* Folded(Caffe2Args& a, Expr (*fn)(const Expr&, const Expr&)) {
  Expr y = a.in(0);
  for (size_t i = 1; i < a.num_inputs(); ++i) y = fn(y, a.in(i));
  return a.num_inputs() == 1 ? a.Op("identity", {y}).value() : y.value();
}
Expr Plus2(const Expr& x, const Expr& y) { return x + y; }
Value* ClipOp(Caffe2Args& a) {
  const double most = 3.4028234663852886e38;
  const Expr x = a.in(0);
  return Clip(x, x.Number(a.Number("min", -most)), x.Number(a.Number("max", most)));
}
// Tensors, each before its factor of one element.
absl::StatusOr<Value*> WeightedSum(Caffe2Args& a) {
  if (a.num_inputs() % 2 != 0) return Invalid("a tensor without its factor");
  const auto factor = [&](size_t i) {
    return a.in(i).Op("reshape", {a.b().Ints({})}, {{"allowzero", 1}});
  };
  Expr y = a.in(0) * factor(1);
  for (size_t i = 2; i < a.num_inputs(); i += 2) y = y + a.in(i)*factor(i + 1);
  return y.value();
}
// One half of an axis behind the gate of the other.
Expr Glu(Caffe2Args& a) {
  const Expr x = a.in(0);
  const int64_t axis = a.AxisOf(a.Int("dim", -1));
  const Dim size = DimAt(x, axis);
  a.Require(size.is_static(), "an axis of unknown size");
  const int64_t half = size.value() / 2;
  return Slice(x, axis, 0, Size(half)) * Slice(x, axis, Size(half), kToEnd).Op("sigmoid");
}
Expr LogitOp(Caffe2Args& a) {
  const double least = a.Number("eps", 1e-6);
  const Expr x = a.in(0);
  const Expr inside = Clip(x, x.Number(least), x.Number(1 - least));
  return Log(inside / (1 - inside));
}
absl::StatusOr<Value*> PowOp(Caffe2Args& a) {
  if (a.num_inputs() == 2) return Pow(a.in(0), SecondOf(a)).value();
  if (!a.HasAttr("exponent")) return Invalid("a power without an exponent");
  return Pow(a.in(0), a.Number("exponent", 1)).value();
}
absl::StatusOr<Value*> Prelu(Caffe2Args& a) {
  const bool last = a.ChannelsLast();
  Expr slope = a.in(1);
  if (!last && DimAt(slope, 0) != Dim(1)) slope = AlongChannels(slope, a.RankOf());
  return a.in(0).Op("prelu", {slope}).value();
}
absl::StatusOr<Value*> CastOp(Caffe2Args& a) {
  const Attribute* to = a.attrs().Find("to");
  a.Ignore("to");
  if (to && to->get<std::string>()) {
    std::string name = *to->get<std::string>();
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    if (name == "float") return a.in(0).To(DType::kFloat32).value();
    if (name == "int32" || name == "int64" || name == "bool") {
      return a.in(0).To(*ParseDType(name)).value();
    }
    return Unimplemented("a cast to ", name);
  }
  const auto* number = to ? to->get<int64_t>() : nullptr;
  switch (number ? *number : 0) {
    case 1: return a.in(0).To(DType::kFloat32).value();
    case 2: return a.in(0).To(DType::kInt32).value();
    case 5: return a.in(0).To(DType::kBool).value();
    case 10: return a.in(0).To(DType::kInt64).value();
    default: return Unimplemented("a cast to type ", number ? *number : 0);
  }
}
Values SameAll(Caffe2Args& a) {
  a.Drop({"ratio"});
  return {a.Op("identity", {a.in(0)})};
}

// --- Moved ---------------------------------------------------------------------------------------

// A second result has the sizes of the parts.
Expr SizesAlong(Caffe2Args& a, const std::vector<Value*>& parts, int64_t axis) {
  std::vector<Size> sizes;
  for (Value* part : parts) sizes.push_back(SizeAt({a, part}, axis));
  return Vector(a, sizes).To(DType::kInt32);
}
absl::StatusOr<Values> ConcatOp(Caffe2Args& a) {
  const bool last = a.ChannelsLast(), added = a.Bool("add_axis", false);
  const int64_t rank = a.RankOf();
  int64_t axis = a.Int("axis", last ? rank - 1 : 1);
  if (added) return Values{Stack(a, a.inputs(), a.AxisOf(axis, rank + 1))};
  axis = a.AxisOf(axis);
  Values all = {Concat(a, a.inputs(), axis)};
  if (a.wants(1)) all.push_back(SizesAlong(a, a.inputs(), axis));
  return all;
}
absl::StatusOr<Values> PartsOp(Caffe2Args& a) {
  const bool last = a.ChannelsLast();
  const int64_t axis = a.AxisOf(a.Int("axis", last ? a.RankOf() - 1 : 1));
  std::vector<int64_t> sizes = a.Ints("split");
  const size_t count = a.num_outputs();
  if (a.num_inputs() > 1) {
    X2IR_ASSIGN_OR_RETURN(sizes, a.KnownInts(1, "sizes"));
  }
  if (sizes.empty()) {
    const Dim whole = DimAt(a.in(0), axis);
    a.Require(whole.is_static(), "equal parts of an unknown size");
    const auto parts = static_cast<int64_t>(count);
    if (whole.value() % parts != 0) return Invalid(parts, " equal parts of ", whole.value());
    sizes.assign(count, whole.value() / parts);
  }
  if (sizes.size() != count) return Invalid(sizes.size(), " sizes of ", count, " parts");
  Values all;
  int64_t from = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > int64_t{1} << 40) return Invalid("a part of ", size);
    all.push_back(Slice(a.in(0), axis, Size(from), Size(from + size)));
    from += size;
  }
  return all;
}
absl::StatusOr<Values> ReshapeOp(Caffe2Args& a) {
  const std::vector<int64_t> dims = a.Ints("shape");
  Value* shape = nullptr;
  if (a.num_inputs() > 1) {
    shape = a.AsInt64(a.in(1));
  } else {
    shape = a.b().Ints(dims);
  }
  Values all = {a.Op("reshape", {a.in(0), shape}, {{"allowzero", 0}})};
  all.push_back(a.wants(1) ? ShapeOf(a.in(0)).value() : nullptr);
  return all;
}
Value* TransposeOp(Caffe2Args& a) {
  std::vector<int64_t> axes = a.Ints("axes");
  if (axes.empty()) {
    axes = CountedFrom(0, a.RankOf());
    std::reverse(axes.begin(), axes.end());
  }
  return Transpose(a.in(0), axes);
}
Value* Moved(Caffe2Args& a, bool to_last) {
  const int64_t rank = a.RankOf();
  return MoveAxis(a.in(0), to_last ? 1 : rank - 1, to_last ? rank - 1 : 1);
}
Value* FlattenOp(Caffe2Args& a) { return a.in(0).Op("flatten", {}, {{"axis", a.Int("axis", 1)}}); }
absl::StatusOr<Value*> SliceOp(Caffe2Args& a) {
  std::vector<int64_t> starts = a.Ints("starts"), ends = a.Ints("ends");
  if (a.num_inputs() == 3) {
    X2IR_ASSIGN_OR_RETURN(starts, a.KnownInts(1, "starts"));
    X2IR_ASSIGN_OR_RETURN(ends, a.KnownInts(2, "ends"));
  }
  if (starts.size() != ends.size())
    return Invalid(starts.size(), " starts, ", ends.size(), " ends");
  Expr x = a.in(0);
  for (size_t i = 0; i < starts.size(); ++i) {
    // An end of -1 is the end itself; one before it counts from there.
    const Size to = ends[i] == -1 ? Size(kToEnd) : ends[i] < -1 ? Size(ends[i] + 1) : Size(ends[i]);
    if (starts[i] == 0 && ends[i] == -1) continue;
    x = Slice(x, a.AxisOf(static_cast<int64_t>(i)), Size(starts[i]), to);
  }
  return x.value() == a.in(0).value() ? a.Op("identity", {x}).value() : x.value();
}
absl::StatusOr<Value*> TileOp(Caffe2Args& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", 0)), times = a.Int("tiles", 1);
  a.Require(a.num_inputs() == 1, "computed repeats");
  if (times < 1) return Invalid("repeated ", times, " times");
  std::vector<int64_t> repeats(static_cast<size_t>(a.RankOf()), 1);
  repeats[static_cast<size_t>(axis)] = times;
  return a.Op("tile", {a.in(0), a.b().Ints(repeats)}).value();
}
absl::StatusOr<Value*> PadImage(Caffe2Args& a) {
  const int64_t all = a.Int("pad", 0);
  const bool last = a.ChannelsLast();
  const int64_t t = a.Int("pad_t", all), l = a.Int("pad_l", all), b = a.Int("pad_b", all),
                r = a.Int("pad_r", all);
  std::vector<int64_t> given = a.Ints("pads", {t, l, b, r});
  const std::string mode = a.String("mode", "constant");
  const double number = a.Number("value", 0);
  if (given.size() != 4 || a.RankOf() != 4) return Unimplemented("padding of what is no image");
  a.Require(mode == "constant" || mode == "reflect" || mode == "edge", StrCat("mode ", mode));
  const size_t first = last ? 1 : 2;
  std::vector<int64_t> pads(8, 0);
  pads[first] = given[0];
  pads[first + 1] = given[1];
  pads[4 + first] = given[2];
  pads[4 + first + 1] = given[3];
  std::vector<Value*> operands = {a.in(0), a.b().Ints(pads)};
  if (mode == "constant") operands.push_back(a.in(0).Number(number));
  return a.Op("pad", std::move(operands), {{"mode", mode}}).value();
}
absl::StatusOr<Value*> Enlarged(Caffe2Args& a, double height, double width, bool last) {
  if (!(height > 0 && width > 0 && height < 4096 && width < 4096))
    return Invalid("a scale of this size");
  std::vector<float> each(4, 1.0f);
  each[last ? 1 : 2] = static_cast<float>(height);
  each[last ? 2 : 3] = static_cast<float>(width);
  return ResizedBy(a.in(0), each, kNearestFloor).value();
}
absl::StatusOr<Value*> ResizeNearest(Caffe2Args& a) {
  a.Require(a.num_inputs() == 1, "computed scales");
  const double height = a.Number("height_scale", 1), width = a.Number("width_scale", 1);
  return Enlarged(a, height, width, a.ChannelsLast());
}
absl::StatusOr<Value*> UpsampleNearest(Caffe2Args& a) {
  const auto scale = static_cast<double>(a.Int("scale", 2));
  return Enlarged(a, scale, scale, false);
}
// Corners stay corners.
absl::StatusOr<Value*> UpsampleBilinear(Caffe2Args& a) {
  const double height = a.Number("height_scale", 1), width = a.Number("width_scale", 1);
  const auto sizes = KnownSizes(a.in(0), 2, 4);
  a.Require(a.num_inputs() == 1 && sizes, "computed scales, or an image of unknown size");
  if (!(height > 0 && width > 0 && height < 4096 && width < 4096))
    return Invalid("a scale of this size");
  std::vector<Size> to = SizesAt(a.in(0), 0, 2);
  to.emplace_back(static_cast<int64_t>(static_cast<double>((*sizes)[0]) * height));
  to.emplace_back(static_cast<int64_t>(static_cast<double>((*sizes)[1]) * width));
  return ResizedTo(a.in(0), to, Interpolated("linear", true)).value();
}
absl::StatusOr<Value*> ChannelShuffle(Caffe2Args& a) {
  a.Drop({"kernel"});
  const int64_t groups = a.Int("group", 1);
  if (!a.ChannelsLast()) return ShuffledChannels(a, a.in(0), groups);
  const int64_t last = a.RankOf() - 1;
  X2IR_ASSIGN_OR_RETURN(Value * shuffled, ShuffledChannels(a, MoveAxis(a.in(0), last, 1), groups));
  return MoveAxis({a, shuffled}, 1, last).value();
}
template <typename Prepare>
auto Reduced(const char* op, Prepare prepare) {
  return [op, prepare](Caffe2Args& a) -> Value* {
    std::vector<int64_t> axes = a.Ints("axes");
    const bool keep = a.Bool("keepdims", true);
    if (axes.empty()) axes = CountedFrom(0, a.RankOf());
    return prepare(a.in(0)).Op(op, {a.b().Ints(axes)}, {{"keepdims", keep ? 1 : 0}});
  };
}
Expr AsItIs(const Expr& x) { return x; }
// So many axes, the first or the last ones.
auto ReducedEnd(const char* op, bool front) {
  return [op, front](Caffe2Args& a) -> absl::StatusOr<Value*> {
    const int64_t count = a.Int("num_reduce_dim", 1), rank = a.RankOf();
    a.Require(a.num_inputs() == 1, "lengths");
    if (count < 1 || count > rank) return Invalid(count, " axes of ", rank);
    return Reduce(a.in(0), op, CountedFrom(front ? 0 : rank - count, count)).value();
  };
}
Value* HardSigmoid(Caffe2Args& a) {
  const Expr x = a.in(0);
  const Expr y = Shifted(Scaled(x, a.Number("alpha", 0.2)), a.Number("beta", 0.5));
  return Clip(y, x.Number(0), x.Number(1));
}
Value* ThresholdedRelu(Caffe2Args& a) {
  return a.Op("thresholded_relu", {a.in(0)}, {{"alpha", static_cast<float>(a.Number("alpha", 1))}});
}
Value* GeluOp(Caffe2Args& a) {
  return a.Op("gelu", {a.in(0)}, {{"approximate", a.Bool("fast_gelu", false) ? "tanh" : "none"}});
}
// What an ONNX expand is: broadcast both ways.
absl::StatusOr<Value*> ExpandOp(Caffe2Args& a) {
  const std::vector<int64_t> shape = a.Ints("shape");
  return Expand(a.in(0), a.num_inputs() > 1 ? a.AsInt64(a.in(1)).value() : a.b().Ints(shape))
      .value();
}
// Pairs of rows: a number for each.
template <typename Fn>
auto OfRows(Fn fn) {
  return [fn](Caffe2Args& a) -> absl::StatusOr<Value*> {
    const auto rows = [&](size_t i) {
      return a.RankOf(i) < 2 ? Unsqueeze(a.in(i), {1}) : a.in(i).Op("flatten", {}, {{"axis", 1}});
    };
    return fn(rows(0), rows(1)).value();
  };
}
Expr RowSum(const Expr& x) { return Sum(x, 1); }
Expr CosineSimilarity(const Expr& x, const Expr& y) {
  const auto length = [](const Expr& v) { return Sqrt(Max(RowSum(Square(v)), 1e-12)); };
  return RowSum(x * y) / (length(x) * length(y));
}
Value* RowMul(Caffe2Args& a) { return a.in(0) * AlongChannels(a.in(1), a.RankOf() + 1); }
absl::StatusOr<Value*> MergeDim(Caffe2Args& a) {
  if (a.RankOf() < 2) return Invalid("two axes of a list");
  return FlattenFront(a.in(0), 2).value();
}
absl::StatusOr<Values> TopK(Caffe2Args& a) {
  const int64_t count = a.Int("k", 1), axis = a.AxisOf(a.Int("axis", -1));
  a.Require(a.num_inputs() == 1 && !a.wants(2), "computed or flat places");
  if (count < 1) return Invalid("the ", count, " largest numbers");
  const Sorted top = TopOf(a.in(0), a.b().Ints({count}), axis);
  return Values{top.values, top.indices};
}
Value* ArgOf(Caffe2Args& a, bool largest) {
  const int64_t axis = a.AxisOf(a.Int("axis", -1));
  return a.Op(largest ? "arg_max" : "arg_min", {a.in(0)},
              {{"axis", axis}, {"keepdims", a.Bool("keepdims", true) ? 1 : 0}});
}
Value* NormalizeOp(Caffe2Args& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", -1));
  const Expr x = a.in(0);
  return x / Max(Sqrt(Reduce(Square(x), "reduce_sum", {axis}, true)), 1e-12);
}
// Numbers, as many as the operand has, or as the operand says.
absl::StatusOr<Value*> ConstantLike(Caffe2Args& a) {
  a.Require(a.Int("dtype", 1) == 1 && a.Ints("extra_shape").empty(), "constants of another type");
  const bool as_shape = a.Bool("input_as_shape", false);
  const Expr sizes = as_shape ? a.AsInt64(a.in(0)) : ShapeOf(a.in(0));
  const Expr number(a, a.b().Scalar(DType::kFloat32, a.Number("value", 0)));
  return Expand(number, sizes).value();
}

}  // namespace

X2IR_CAFFE2(identity).From({"Dropout", "Copy", "Alias", "StopGradient", "EnsureCPUOutput",
                            "CopyFromCPUInput", "CopyCPUToGPU", "CopyGPUToCPU", "EnsureDense"},
                           SameAll);
X2IR_CAFFE2(relu).From("Relu", PlainOp("relu"));
X2IR_CAFFE2(leaky_relu).From("LeakyRelu", [](Caffe2Args& a) {
  return a.Op("leaky_relu", {a.in(0)}, {{"alpha", static_cast<float>(a.Number("alpha", 0.01))}});
});
X2IR_CAFFE2(elu).From("Elu", [](Caffe2Args& a) {
  return a.Op("elu", {a.in(0)}, {{"alpha", static_cast<float>(a.Number("alpha", 1))}});
});
X2IR_CAFFE2(selu).From("Selu", [](Caffe2Args& a) {
  return a.Op("selu", {a.in(0)},
              {{"alpha", static_cast<float>(a.Number("alpha", 1.6732632423543772))},
               {"gamma", static_cast<float>(a.Number("scale", 1.0507009873554804))}});
});
X2IR_CAFFE2(prelu).From("PRelu", Prelu);
X2IR_CAFFE2(sigmoid).From("Sigmoid", PlainOp("sigmoid"));
X2IR_CAFFE2(tanh).From("Tanh", PlainOp("tanh"));
X2IR_CAFFE2(softplus).From("Softplus", PlainOp("softplus"));
X2IR_CAFFE2(softsign).From("Softsign", PlainOp("softsign"));
X2IR_CAFFE2(swish).From("Swish",
                        [](Caffe2Args& a) { return a.in(0) * a.Op("sigmoid", {a.in(0)}); });
X2IR_CAFFE2(clip).From("Clip", ClipOp).From("HardSigmoid", HardSigmoid);
X2IR_CAFFE2(thresholded_relu).From("ThresholdedRelu", ThresholdedRelu);
X2IR_CAFFE2(gelu).From("Gelu", GeluOp);
X2IR_CAFFE2(tan).From("Tan", PlainOp("tan"));
X2IR_CAFFE2(asin).From("Asin", PlainOp("asin"));
X2IR_CAFFE2(acos).From("Acos", PlainOp("acos"));
X2IR_CAFFE2(atan).From("Atan", PlainOp("atan"));
X2IR_CAFFE2(sinh).From("Sinh", PlainOp("sinh"));
X2IR_CAFFE2(cosh).From("Cosh", PlainOp("cosh"));
X2IR_CAFFE2(erf).From("Erf", PlainOp("erf"));
X2IR_CAFFE2(is_nan).From("IsNanOp", PlainOp("is_nan"));
X2IR_CAFFE2(abs).From("Abs", PlainOp("abs"));
X2IR_CAFFE2(neg).From("Negative", PlainOp("neg"));
X2IR_CAFFE2(exp).From("Exp", PlainOp("exp"));
X2IR_CAFFE2(log).From("Log", PlainOp("log"));
X2IR_CAFFE2(sqrt).From("Sqrt", PlainOp("sqrt"));
X2IR_CAFFE2(sin).From("Sin", PlainOp("sin"));
X2IR_CAFFE2(cos).From("Cos", PlainOp("cos"));
X2IR_CAFFE2(floor).From("Floor", PlainOp("floor"));
X2IR_CAFFE2(ceil).From("Ceil", PlainOp("ceil"));
X2IR_CAFFE2(sign).From("Sign", PlainOp("sign"));
X2IR_CAFFE2(not ).From("Not", PlainOp("not"));
X2IR_CAFFE2(reciprocal)
    .From("Reciprocal", PlainOp("reciprocal"))
    .From("Rsqrt", Each([](const Expr& x) { return Reciprocal(Sqrt(x)); }));
X2IR_CAFFE2(pow).From("Pow", PowOp);
X2IR_CAFFE2(cast).From("Cast", CastOp);
X2IR_CAFFE2(add)
    .From("Add", OfTwo([](const Expr& x, const Expr& y) { return x + y; }))
    .From("Sum", [](Caffe2Args& a) { return Folded(a, Plus2); })
    .From("WeightedSum", WeightedSum);
X2IR_CAFFE2(sub).From("Sub", OfTwo([](const Expr& x, const Expr& y) { return x - y; }));
X2IR_CAFFE2(mul)
    .From("Mul", OfTwo([](const Expr& x, const Expr& y) { return x * y; }))
    .From("Sqr", Each([](const Expr& x) { return Square(x); }))
    .From("Cube", Each([](const Expr& x) { return x * x * x; }))
    .From("Cbrt", Each([](const Expr& x) { return Sign(x) * Pow(Abs(x), 1.0 / 3); }))
    .From("RowMul", RowMul)
    .From("Scale", [](Caffe2Args& a) { return a.in(0) * a.Number("scale", 1); });
X2IR_CAFFE2(div)
    .From("Div", OfTwo([](const Expr& x, const Expr& y) { return x / y; }))
    .From("Normalize", NormalizeOp)
    .From("Mean", [](Caffe2Args& a) {
      return Expr(a, Folded(a, Plus2)) / static_cast<double>(a.num_inputs());
    });
X2IR_CAFFE2(max).From("Max", [](Caffe2Args& a) {
  return Folded(a, [](const Expr& x, const Expr& y) { return Max(x, y); });
});
X2IR_CAFFE2(min).From("Min", [](Caffe2Args& a) {
  return Folded(a, [](const Expr& x, const Expr& y) { return Min(x, y); });
});
X2IR_CAFFE2(equal)
    .From("EQ", OfTwo([](const Expr& x, const Expr& y) { return x == y; }))
    .From("NE", OfTwo([](const Expr& x, const Expr& y) { return Not(x == y); }));
X2IR_CAFFE2(xor).From("Xor", OfTwo([](const Expr& x, const Expr& y) { return x ^ y; }));
X2IR_CAFFE2(less)
    .From("LT", OfTwo([](const Expr& x, const Expr& y) { return x < y; }))
    .From("LE", OfTwo([](const Expr& x, const Expr& y) { return x <= y; }));
X2IR_CAFFE2(greater)
    .From("GT", OfTwo([](const Expr& x, const Expr& y) { return x > y; }))
    .From("GE", OfTwo([](const Expr& x, const Expr& y) { return x >= y; }));
X2IR_CAFFE2(and).From("And", OfTwo([](const Expr& x, const Expr& y) { return x & y; }));
X2IR_CAFFE2(or).From("Or", OfTwo([](const Expr& x, const Expr& y) { return x | y; }));
X2IR_CAFFE2(where).From("Where", [](Caffe2Args& a) { return Select(a.in(0), a.in(1), a.in(2)); });
X2IR_CAFFE2(concat).From({"Concat", "DepthConcat"}, ConcatOp);
X2IR_CAFFE2(split).From({"Split", "DepthSplit"}, PartsOp);
X2IR_CAFFE2(reshape)
    .From("Reshape", ReshapeOp)
    .From("MergeDim", MergeDim)
    .From("FlattenToVec", [](Caffe2Args& a) { return Flat(a.in(0)); });
X2IR_CAFFE2(flatten).From("Flatten", FlattenOp);
X2IR_CAFFE2(squeeze).From("Squeeze",
                          [](Caffe2Args& a) { return Squeeze(a.in(0), a.Ints("dims")); });
X2IR_CAFFE2(unsqueeze).From("ExpandDims",
                            [](Caffe2Args& a) { return Unsqueeze(a.in(0), a.Ints("dims")); });
X2IR_CAFFE2(transpose)
    .From("Transpose", TransposeOp)
    .From("NCHW2NHWC", [](Caffe2Args& a) { return Moved(a, true); })
    .From("NHWC2NCHW", [](Caffe2Args& a) { return Moved(a, false); })
    .From("ChannelShuffle", ChannelShuffle);
X2IR_CAFFE2(slice).From("Slice", SliceOp);
X2IR_CAFFE2(sigmoid).From("Glu", Glu);
X2IR_CAFFE2(log).From("Logit", LogitOp);
X2IR_CAFFE2(size).From("Size", PlainOp("size"));
X2IR_CAFFE2(tile).From("Tile", TileOp);
X2IR_CAFFE2(pad).From("PadImage", PadImage);
X2IR_CAFFE2(resize)
    .From("ResizeNearest", ResizeNearest)
    .From("UpsampleNearest", UpsampleNearest)
    .From("UpsampleBilinear", UpsampleBilinear);
X2IR_CAFFE2(gather)
    .From("Gather",
          [](Caffe2Args& a) { return Gather(a.in(0), a.AsInt64(a.in(1)), a.Int("axis", 0)); })
    .From("BatchGather", [](Caffe2Args& a) { return Gather(a.in(0), a.AsInt64(a.in(1)), 1); });
X2IR_CAFFE2(shape).From("Shape", [](Caffe2Args& a) -> Value* {
  const std::vector<int64_t> axes = a.Ints("axes");
  const Expr sizes = ShapeOf(a.in(0));
  return axes.empty() ? sizes.value() : Gather(sizes, a.b().Ints(axes), 0).value();
});
X2IR_CAFFE2(expand).From("ConstantFill", ConstantLike).From("Expand", ExpandOp);
X2IR_CAFFE2(reduce_sum)
    .From("ReduceSum", Reduced("reduce_sum", AsItIs))
    .From("ReduceFrontSum", ReducedEnd("reduce_sum", true))
    .From("ReduceBackSum", ReducedEnd("reduce_sum", false))
    .From("SumElements",
          [](Caffe2Args& a) {
            const bool average = a.Bool("average", false);
            return Reduce(a.in(0), average ? "reduce_mean" : "reduce_sum", {}).value();
          })
    .From("DotProduct", OfRows([](const Expr& x, const Expr& y) { return RowSum(x * y); }))
    .From("CosineSimilarity", OfRows(CosineSimilarity))
    .From("L1Distance", OfRows([](const Expr& x, const Expr& y) { return RowSum(Abs(x - y)); }))
    .From("SquaredL2Distance",
          OfRows([](const Expr& x, const Expr& y) { return RowSum(Square(x - y)) / 2; }));
X2IR_CAFFE2(reduce_mean)
    .From("ReduceMean", Reduced("reduce_mean", AsItIs))
    .From("ReduceFrontMean", ReducedEnd("reduce_mean", true))
    .From("ReduceBackMean", ReducedEnd("reduce_mean", false));
X2IR_CAFFE2(reduce_max)
    .From("ReduceMax", Reduced("reduce_max", AsItIs))
    .From("ReduceFrontMax", ReducedEnd("reduce_max", true))
    .From("ReduceBackMax", ReducedEnd("reduce_max", false));
X2IR_CAFFE2(reduce_min).From("ReduceMin", Reduced("reduce_min", AsItIs));
X2IR_CAFFE2(reduce_l1).From("ReduceL1", Reduced("reduce_l1", AsItIs));
X2IR_CAFFE2(reduce_l2).From("ReduceL2", Reduced("reduce_l2", AsItIs));
X2IR_CAFFE2(top_k).From("TopK", TopK);
X2IR_CAFFE2(arg_max).From("ArgMax", [](Caffe2Args& a) { return ArgOf(a, true); });
X2IR_CAFFE2(arg_min).From("ArgMin", [](Caffe2Args& a) { return ArgOf(a, false); });

}  // namespace x2ir
