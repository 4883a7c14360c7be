// Operators of quantized tensors: what makes them and takes them apart, moves their integers, or
// computes with what these represent.
#include "x2ir/handlers/torch/script/quantized.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::torch_script {
namespace {

Value* Cast(Machine& m, Value* x, DType to) {
  if (x->dtype() == to) return x;
  Value* cast = nullptr;
  m.Build("cast", [&](Builder& b) { cast = CastNow({b, x}, to); });
  return cast;
}

Val RequireOneScale(const QuantizedCall& c, const Val& v) {
  const QuantizationPtr q = QuantizationOf(v);
  if (q && q->axis >= 0) c.m.Refuse(c.op, " of a tensor with a scale for each channel");
  return v;
}
const Val& SelfOf(const QuantizedCall& c) {
  const Val* self = c.Find(0, "self");
  if (!self) self = c.Find(0, "input");
  if (!self) c.m.Refuse(c.op, " of quantized tensors without arguments in order");
  return *self;
}
// --- Quantized, dequantized, and what a tensor says of that --------------------------------------

Val QuantizePerTensor(const QuantizedCall& c) {
  const Val& x = c.At(0, "input");
  if (x.kind != Val::kTensor) c.m.Refuse(c.op, " of a list of tensors");
  const DType t = QuantizedTypeOf(c.m, c.At(3, "dtype"));
  return QuantizedAs(c.m, x, MakeQuantization(c.m, c.At(1, "scale"), c.At(2, "zero_point"), t));
}
Val QuantizeDynamic(const QuantizedCall& c) {
  const Val& x = c.At(0, "input");
  const DType t = QuantizedTypeOf(c.m, c.At(1, "dtype"));
  return QuantizedAs(c.m, x, DynamicQuantization(c.m, x, t, c.Flag(2, "reduce_range")));
}
QuantizationPtr PerChannel(const QuantizedCall& c, size_t i, DType t) {
  Machine& m = c.m;
  m.quantizes = true;
  auto q = std::make_shared<Quantization>();
  q->dtype = t;
  q->scale = m.Read(c.At(i, "scale"));
  q->zero_point = m.Read(c.At(i + 1, "zero_point"));
  if (IsFloating(q->zero_point->dtype())) m.Refuse(c.op, " with zero points that are floats");
  q->scale = Cast(m, q->scale, DType::kFloat32);
  q->zero_point = Cast(m, q->zero_point, DType::kInt32);
  return q;
}
int64_t AxisIn(const QuantizedCall& c, const Val& x, const Val& axis) {
  const int64_t a = c.m.KnownInt(axis, "axis");
  const Shape* shape = c.m.Read(x)->shape();
  if (a < 0 && !shape) c.m.Refuse(c.op, " of a tensor of an unknown number of dims");
  return a < 0 ? a + shape->rank() : a;
}
Val QuantizePerChannel(const QuantizedCall& c) {
  const Val& x = c.At(0, "input");
  const QuantizationPtr one = PerChannel(c, 1, QuantizedTypeOf(c.m, c.At(4, "dtype")));
  auto q = std::make_shared<Quantization>(*one);
  q->axis = AxisIn(c, x, c.At(3, "axis"));
  return QuantizedAs(c.m, x, std::move(q));
}
Val Dequantize(const QuantizedCall& c) {
  const Val& x = SelfOf(c);
  if (x.kind == Val::kTensor && !x.tensor().quantized) {
    return c.m.Fresh(Cast(c.m, c.m.Read(x), DType::kFloat32));
  }
  return FloatsOf(c.m, x);
}
Val IntRepr(const QuantizedCall& c) {
  RequireQuantized(c, SelfOf(c));
  return IntegersOf(c.m, SelfOf(c));
}
Val ScaleOf(const QuantizedCall& c) {
  const QuantizationPtr q = RequireQuantized(c, RequireOneScale(c, SelfOf(c)));
  return c.m.NumberOf(Val::kFloat, Cast(c.m, q->scale, DType::kFloat64));
}
Val ZeroPointOf(const QuantizedCall& c) {
  const QuantizationPtr q = RequireQuantized(c, RequireOneScale(c, SelfOf(c)));
  return c.m.NumberOf(Val::kInt, Cast(c.m, q->zero_point, DType::kInt64));
}
Val ScalesOf(const QuantizedCall& c) {
  return c.m.Fresh(Cast(c.m, RequireQuantized(c, SelfOf(c))->scale, DType::kFloat64));
}
Val ZeroPointsOf(const QuantizedCall& c) {
  return c.m.Fresh(Cast(c.m, RequireQuantized(c, SelfOf(c))->zero_point, DType::kInt64));
}
Val AxisOf(const QuantizedCall& c) { return Val::Int(RequireQuantized(c, SelfOf(c))->axis); }
// c10's numbers of the schemes.
Val SchemeOf(const QuantizedCall& c) {
  const QuantizationPtr q = RequireQuantized(c, SelfOf(c));
  if (q->axis < 0) return Val::Int(0);
  return Val::Int(IsFloating(q->zero_point->dtype()) ? 4 : 1);
}
Val MakePerTensor(const QuantizedCall& c) {
  const Val& x = SelfOf(c);
  const DType t = c.m.Read(x)->dtype();
  return Marked(IntegersOf(c.m, x),
                MakeQuantization(c.m, c.At(1, "scale"), c.At(2, "zero_point"), t));
}
Val MakePerChannel(const QuantizedCall& c) {
  const Val& x = SelfOf(c);
  auto q = std::make_shared<Quantization>(*PerChannel(c, 1, c.m.Read(x)->dtype()));
  q->axis = AxisIn(c, x, c.At(3, "axis"));
  return Marked(IntegersOf(c.m, x), std::move(q));
}
Val EmptyQuantized(const QuantizedCall& c) {
  const Val *scale = c.args.Named("scale"), *zero_point = c.args.Named("zero_point");
  const DType t = QuantizedTypeOf(c.m, c.At(SIZE_MAX, "dtype"));
  const Val type = Val::Int(ScalarTypeNumber(t));
  return Marked(c.m.CallWith("aten::zeros", {{"size", c.At(0, "size")}, {"dtype", type}}),
                MakeQuantization(c.m, scale ? *scale : Val::Float(1),
                                 zero_point ? *zero_point : Val::Int(0), t));
}

// --- Integers that are moved ---------------------------------------------------------------------

// While it lives, a tensor is one of integers, so that calls make views of its memory.
struct Unmarked {
  explicit Unmarked(TensorHeap& t) : heap(t), q(std::exchange(t.quantized, nullptr)) {}
  ~Unmarked() { heap.quantized = q; }
  Unmarked(const Unmarked&) = delete;
  Unmarked& operator=(const Unmarked&) = delete;
  TensorHeap& heap;
  const QuantizationPtr q;
};

// The integers of what a call of `op` gives; of several tensors, not of a list, the first one has
// them, and the others say where they are.
Val MovedAs(const QuantizedCall& c, std::string_view op) {
  const Val self = SelfOf(c);
  Args args = c.args;
  for (size_t i = 1; i < args.positional.size(); ++i) {
    args.positional[i] = IntegersOf(c.m, args.positional[i]);
  }
  const QuantizationPtr q = QuantizationOf(self);
  if (!q) return c.m.Call(op, args);
  Val result;
  {
    const Unmarked unmarked(self.tensor());
    result = c.m.Call(op, args);
  }
  if (result.kind == Val::kTensor) return Marked(result, q);
  if (result.kind == Val::kList) {
    for (const Val& part : result.list().items) Marked(part, q);
  } else if (result.kind == Val::kTuple && !result.tuple().empty()) {
    Marked(result.tuple()[0], q);
  }
  return result;
}
Val Moved(const QuantizedCall& c) {
  const Val& self = SelfOf(c);
  if (self.kind != Val::kTensor) c.m.Refuse(c.op, " of a list of quantized tensors");
  RequireOneScale(c, self);
  return MovedAs(c, c.op);
}
// The axes stay where they are.
Val MovedInPlace(const QuantizedCall& c) { return MovedAs(c, c.op); }
// Of two tensors these compare what they represent.
Val MovedOfOne(const QuantizedCall& c) {
  const Val* other = c.Find(1, "other");
  if (other && other->kind == Val::kTensor) c.m.Refuse(c.op, " of two quantized tensors");
  return Moved(c);
}
Val MovedPool(const QuantizedCall& c) {
  RequireOneScale(c, SelfOf(c));
  return MovedAs(c, c.op.ends_with("1d") ? "aten::max_pool1d" : "aten::max_pool2d");
}

Val ToType(const QuantizedCall& c) {
  const Val& self = SelfOf(c);
  const QuantizationPtr q = RequireQuantized(c, self);
  const Val* named = c.args.Named("dtype");
  for (const Val* v : {c.Find(1, "dtype"), c.Find(2, "dtype"), named}) {
    if (!v || v->kind != Val::kInt || v == c.Find(3, "copy")) continue;
    if (ScalarTypeOf(c.m.KnownInt(*v, "dtype")) != q->dtype || !IsQuantizedScalarType(v->i)) {
      c.m.Refuse(c.op, " of a quantized tensor to another element type");
    }
  }
  return self;
}

Val CopyInto(const QuantizedCall& c) {
  const Val self = SelfOf(c), from = c.At(1, "src");
  const QuantizationPtr q = QuantizationOf(self), of_source = QuantizationOf(from);
  if (!q) c.m.Refuse(c.op, " of a quantized tensor to one that is not");
  TensorHeap& heap = self.tensor();
  // A copy of a quantized tensor is quantized as that one is.
  if (of_source && of_source != q && (heap.base || of_source->dtype != q->dtype)) {
    c.m.Refuse(c.op, " to a part of a tensor that is quantized otherwise");
  }
  const Val source = of_source ? from : QuantizedAs(c.m, from, q);
  {
    const Unmarked unmarked(heap);
    c.m.Call("aten::copy_", {{self, IntegersOf(c.m, source)}, {}});
  }
  if (of_source && of_source != q) {
    c.m.Change(heap);
    heap.quantized = of_source;
  }
  return self;
}

// --- Floats, quantized as an operand is ----------------------------------------------------------

// The operator by what its operands represent; in place where it is written so.
Val ByFloats(const QuantizedCall& c, std::string_view op, QuantizationPtr q) {
  if (c.args.Named("out")) c.m.Refuse(c.op, " of quantized tensors with `out`");
  const std::string_view stem = OperatorStem(op);
  const bool in_place = WritesInPlace(stem);
  const std::string name = in_place ? StrCat("aten::", NameWithoutWrite(stem)) : std::string(op);
  const Val result = QuantizedAs(c.m, c.m.Call(name, FloatsOf(c.m, c.args)), q);
  if (!in_place) return result;
  const Val self = SelfOf(c);
  if (QuantizationOf(self) != q) c.m.Refuse(c.op, " of a quantized tensor in place");
  c.m.Write(self.tensor(), c.m.Read(result));
  return self;
}
template <const char* aten>
Val SameStepsAs(const QuantizedCall& c) {
  return ByFloats(c, aten, RequireAnyQuantized(c));
}
constexpr char kClamp[] = "aten::clamp", kThreshold[] = "aten::threshold";
Val SameSteps(const QuantizedCall& c) { return ByFloats(c, c.op, RequireAnyQuantized(c)); }
Val Plainly(const QuantizedCall& c) { return c.m.Call(c.op, FloatsOf(c.m, c.args)); }

// The result has steps that fit what the function gives.
template <bool both_signs>
Val FixedSteps(const QuantizedCall& c) {
  const DType t = RequireAnyQuantized(c)->dtype;
  if (t == DType::kInt32) c.m.Refuse(c.op, " of qint32");
  const double scale = both_signs ? 1.0 / 128 : 1.0 / 256;
  const int64_t middle = t == DType::kInt8 ? 0 : 128;
  return ByFloats(
      c, c.op,
      MakeQuantization(c.m, Val::Float(scale), Val::Int(both_signs ? middle : middle - 128), t));
}

// All become as the first one is.
Val Joined(const QuantizedCall& c) {
  const auto& parts = c.m.Items(c.At(0, "tensors"), "tensors");
  for (const Val& part : parts) RequireOneScale(c, part);
  const QuantizationPtr q = RequireAnyQuantized(c);
  for (const Val& part : parts) {
    if (QuantizationOf(part) != q) return ByFloats(c, c.op, q);
  }
  Args args = c.args;
  std::vector<Val> integers;
  for (const Val& part : parts) integers.push_back(IntegersOf(c.m, part));
  (args.positional.empty() ? args.named[0].second : args.positional[0]) =
      Val::List(std::move(integers));
  return Marked(c.m.Call(c.op, args), q);
}

// --- Tables --------------------------------------------------------------------------------------

// Operators of any tensors, where one is quantized. By name, without the "_" of those in place.
const QuantizedTable& TensorTable() {
  static const auto* table = [] {
    auto* all = new QuantizedTable;
    const auto add = [&](QuantizedFunction f, std::initializer_list<std::string_view> names) {
      for (const std::string_view name : names) all->emplace(name, f);
    };
    add(Moved, {"channel_shuffle",
                "chunk",
                "diagonal",
                "expand",
                "expand_as",
                "flatten",
                "flip",
                "gather",
                "index",
                "index_select",
                "masked_select",
                "max_pool1d",
                "max_pool2d",
                "max_pool3d",
                "movedim",
                "narrow",
                "numpy_T",
                "permute",
                "pixel_shuffle",
                "pixel_unshuffle",
                "repeat",
                "repeat_interleave",
                "reshape",
                "reshape_as",
                "roll",
                "select",
                "slice",
                "split",
                "split_with_sizes",
                "squeeze",
                "swapaxes",
                "swapdims",
                "t",
                "tile",
                "transpose",
                "unbind",
                "unflatten",
                "unfold",
                "unsafe_chunk",
                "unsafe_split",
                "unsqueeze",
                "view",
                "view_as",
                "native_channel_shuffle",
                "sort",
                "topk"});
    add(MovedInPlace, {"alias", "clone", "contiguous", "detach", "dropout", "empty_like",
                       "feature_dropout", "alpha_dropout", "feature_alpha_dropout"});
    add(MovedOfOne, {"max", "min", "amax", "amin"});
    add(ToType, {"to", "cpu"});
    add(CopyInto, {"copy_"});
    add(Joined, {"cat", "concat", "stack"});
    add(SameSteps, {"relu",
                    "relu6",
                    "hardtanh",
                    "clamp",
                    "clamp_min",
                    "clamp_max",
                    "leaky_relu",
                    "gelu",
                    "threshold",
                    "mean",
                    "std",
                    "avg_pool1d",
                    "avg_pool2d",
                    "avg_pool3d",
                    "adaptive_avg_pool1d",
                    "adaptive_avg_pool2d",
                    "_adaptive_avg_pool2d",
                    "adaptive_avg_pool3d",
                    "_adaptive_avg_pool3d",
                    "upsample_nearest1d",
                    "upsample_nearest2d",
                    "upsample_nearest3d",
                    "_upsample_nearest_exact1d",
                    "_upsample_nearest_exact2d",
                    "_upsample_nearest_exact3d",
                    "upsample_bilinear2d",
                    "pad",
                    "constant_pad_nd",
                    "reflection_pad1d",
                    "reflection_pad2d",
                    "reflection_pad3d",
                    "replication_pad1d",
                    "replication_pad2d",
                    "replication_pad3d",
                    "masked_fill",
                    "fill",
                    "index_put"});
    add(FixedSteps<false>, {"sigmoid", "hardsigmoid"});
    add(FixedSteps<true>, {"tanh"});
    add(Plainly, {"eq", "ne", "lt", "le", "gt", "ge", "equal", "allclose", "argmax", "argmin"});
    return all;
  }();
  return *table;
}

// Operators that are called of quantized tensors only, or that make them.
const QuantizedTable& OwnTable() {
  static const auto* table = new QuantizedTable{
      {"aten::quantize_per_tensor", QuantizePerTensor},
      {"aten::quantize_per_tensor_dynamic", QuantizeDynamic},
      {"aten::quantize_per_channel", QuantizePerChannel},
      {"aten::dequantize", Dequantize},
      {"aten::int_repr", IntRepr},
      {"aten::q_scale", ScaleOf},
      {"aten::q_zero_point", ZeroPointOf},
      {"aten::q_per_channel_scales", ScalesOf},
      {"aten::q_per_channel_zero_points", ZeroPointsOf},
      {"aten::q_per_channel_axis", AxisOf},
      {"aten::qscheme", SchemeOf},
      {"aten::_make_per_tensor_quantized_tensor", MakePerTensor},
      {"aten::_make_per_channel_quantized_tensor", MakePerChannel},
      {"aten::_empty_affine_quantized", EmptyQuantized},
      {"quantized::clamp", SameStepsAs<kClamp>},
      {"quantized::threshold", SameStepsAs<kThreshold>},
      {"quantized::max_pool1d", MovedPool},
      {"quantized::max_pool2d", MovedPool},
  };
  return *table;
}

QuantizedFunction FindOwn(std::string_view op) {
  for (const QuantizedTable* table :
       {&OwnTable(), &QuantizedLayers(), &QuantizedRecurrences(), &QuantizedLibrary()}) {
    if (const auto it = table->find(op); it != table->end()) return it->second;
  }
  return nullptr;
}

// "quantized::add_relu" is "quantized::add", and relu.
std::optional<Val> CallLibrary(QuantizedCall c) {
  std::string op(c.op);
  for (int round = 0; round < 2; ++round) {
    if (const QuantizedFunction f = FindOwn(op)) return f(c);
    if (std::optional<Val> v = CallFloatRow(c, op)) return v;
    const size_t at = op.find("_relu");
    if (at == op.npos || !op.starts_with("quantized::")) break;
    op.erase(at, 5);
    c.relu = true;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Val> CallQuantized(Machine& m, std::string_view op, const Args& args) {
  const std::string_view space = op.substr(0, op.find("::"));
  // What old files call the library.
  const std::string renamed = space == "_quantized" ? std::string(op.substr(1)) : std::string();
  const QuantizedCall c{m, renamed.empty() ? op : std::string_view(renamed), args};
  if (space != "prim") {
    if (std::optional<Val> v = CallLibrary(c)) return v;
  }
  if (space == "quantized" || space == "_quantized" || space == "prepacked" || space == "packed") {
    m.Refuse("operator ", op, " is not read");
  }
  if (space != "aten" || !m.quantizes || !AnyQuantization(args)) return std::nullopt;
  const std::string_view stem = OperatorStem(op);
  const QuantizedTable& table = TensorTable();
  auto it = table.find(stem);
  if (it == table.end() && WritesInPlace(stem)) it = table.find(NameWithoutWrite(stem));
  if (it == table.end()) m.Refuse("operator ", op, " is not read of quantized tensors");
  return it->second(c);
}

}  // namespace x2ir::torch_script
