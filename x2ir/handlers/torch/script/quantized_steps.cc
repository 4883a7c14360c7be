// Scales and zero points, and tensors that are quantized by them.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/quantized.h"

namespace x2ir::torch_script {
namespace {

// Of the first items, of which there may be many.
const Val* FirstQuantized(const Val& v, int64_t& items, int depth = 0) {
  if (--items < 0) return nullptr;
  if (v.kind == Val::kTensor) return v.tensor().quantized ? &v : nullptr;
  if (depth > 4 || (v.kind != Val::kList && v.kind != Val::kTuple)) return nullptr;
  for (const Val& item : v.kind == Val::kList ? v.list().items : v.tuple()) {
    if (const Val* found = FirstQuantized(item, items, depth + 1)) return found;
  }
  return nullptr;
}

}  // namespace

std::string_view OperatorStem(std::string_view op) {
  const size_t colons = op.find("::");
  return colons == op.npos ? op : op.substr(colons + 2);
}

const Val& QuantizedCall::At(size_t i, std::string_view name) const {
  const Val* v = Find(i, name);
  if (!v) m.Refuse(op, " without argument ", name.empty() ? StrCat(i) : StrCat("'", name, "'"));
  if (v->kind == Val::kLost) m.Refuse(v->str());
  return *v;
}
bool QuantizedCall::Flag(size_t i, std::string_view name) const {
  const Val* v = Find(i, name);
  return v && v->kind != Val::kNone && m.Truth(*v);
}

QuantizationPtr QuantizationOf(const Val& v) {
  return v.kind == Val::kTensor ? v.tensor().quantized : nullptr;
}

QuantizationPtr RequireQuantized(const QuantizedCall& c, const Val& v) {
  QuantizationPtr q = QuantizationOf(v);
  if (!q) c.m.Refuse(c.op, " of ", Describe(v), " that is not quantized");
  return q;
}
QuantizationPtr AnyQuantization(const Args& args) {
  int64_t items = 10'000;
  for (const Val& v : args.positional) {
    if (const Val* found = FirstQuantized(v, items)) return QuantizationOf(*found);
  }
  for (const auto& [name, v] : args.named) {
    if (const Val* found = FirstQuantized(v, items)) return QuantizationOf(*found);
  }
  return nullptr;
}

QuantizationPtr RequireAnyQuantized(const QuantizedCall& c) {
  QuantizationPtr q = AnyQuantization(c.args);
  if (!q) c.m.Refuse(c.op, " of tensors that are not quantized");
  return q;
}

DType QuantizedTypeOf(Machine& m, const Val& dtype) {
  const int64_t number = m.KnownInt(dtype, "dtype");
  if (!IsQuantizedScalarType(number)) m.Refuse("quantization to element type ", number);
  return ScalarTypeOf(number);
}

QuantizationPtr MakeQuantization(Machine& m, const Val& scale, const Val& zero_point, DType dtype) {
  const auto number = [&](const Val& v, const char* cast, DType to, std::string_view name) {
    const Val n = v.kind == Val::kTensor ? m.Call(cast, {{v}, {}}) : v;
    if (!n.is_number()) m.Refuse("a ", name, " that is ", Describe(v));
    if (n.value) return m.Op("cast", {n.value}, {{"to", std::string(Name(to))}});
    return m.root().AddConstant(m.root().UniqueName(name),
                                to == DType::kInt32
                                    ? Tensor::Scalar<int32_t>(static_cast<int32_t>(n.i))
                                    : Tensor::Scalar<float>(static_cast<float>(n.d)));
  };
  m.quantizes = true;
  auto q = std::make_shared<Quantization>();
  q->dtype = dtype;
  q->scale = number(scale, "aten::Float", DType::kFloat32, "scale");
  q->zero_point = number(zero_point, "aten::Int", DType::kInt32, "zero_point");
  return q;
}

QuantizationParams ParamsOf(Builder& b, const Quantization& q) {
  QuantizationParams params{Formula(b, q.scale), Formula(b, q.zero_point)};
  if (q.axis >= 0) params.axis = q.axis;
  return params;
}

Val Marked(const Val& integers, QuantizationPtr q) {
  integers.tensor().quantized = std::move(q);
  return integers;
}
Val IntegersOf(Machine& m, const Val& v) { return QuantizationOf(v) ? m.Fresh(m.Read(v)) : v; }

Val FloatsOf(Machine& m, const Val& v) {
  if (v.kind == Val::kList && !v.list().computed && v.list().element == Val::kNone) {
    std::vector<Val> items;
    for (const Val& item : v.list().items) items.push_back(FloatsOf(m, item));
    return Val::List(std::move(items));
  }
  if (v.kind == Val::kTuple) {
    std::vector<Val> items;
    for (const Val& item : v.tuple()) items.push_back(FloatsOf(m, item));
    return Val::Tuple(std::move(items));
  }
  const QuantizationPtr q = QuantizationOf(v);
  if (!q) return v;
  Value *x = m.Read(v), *y = nullptr;
  m.Build("dequantize_linear", [&](Builder& b) {
    y = Dequantized({b, x}, ParamsOf(b, *q), DType::kFloat32);
  });
  return m.Fresh(y);
}
Args FloatsOf(Machine& m, const Args& args) {
  Args floats;
  for (const Val& v : args.positional) floats.positional.push_back(FloatsOf(m, v));
  for (const auto& [name, v] : args.named) floats.named.emplace_back(name, FloatsOf(m, v));
  return floats;
}

Val QuantizedAs(Machine& m, const Val& floats, QuantizationPtr q) {
  Value *x = m.Read(floats), *y = nullptr;
  if (floats.tensor().quantized) m.Refuse("a quantized tensor is quantized again");
  const ValueBounds range = RangeOfInteger(q->dtype);
  const IntegerRange all{q->dtype, static_cast<int64_t>(range.low),
                         static_cast<int64_t>(range.high)};
  m.Build("quantize_linear", [&](Builder& b) {
    y = Quantized(Formula(b, x).To(DType::kFloat32), ParamsOf(b, *q), all);
  });
  return Marked(m.Fresh(y), std::move(q));
}

Val WithRelu(const QuantizedCall& c, Val floats) {
  return c.relu ? c.m.Call("aten::relu", {{floats}, {}}) : floats;
}
Val Finished(const QuantizedCall& c, Val floats, size_t i, DType dtype) {
  floats = WithRelu(c, std::move(floats));
  const Val* out = c.Find(i, "out");
  if (const QuantizationPtr q = out ? QuantizationOf(*out) : nullptr) {
    c.m.Write(out->tensor(), c.m.Read(QuantizedAs(c.m, floats, q)));
    return *out;
  }
  return QuantizedAs(
      c.m, floats,
      MakeQuantization(c.m, c.At(i, "output_scale"), c.At(i + 1, "output_zero_point"), dtype));
}

// --- Dynamic -------------------------------------------------------------------------------------

// In float64 until the scale is rounded. PyTorch computes the zero point from the end of the range
// that is rounded less; the other one gives the same but for rounding.
QuantizationParams DynamicSteps(const Formula& x, int64_t low, int64_t high, bool reduce_range) {
  constexpr double kFallback = 0.1, kLeastWithReciprocal = 2.938735877055719e-39;
  constexpr float kLeastScale = 6.1e-5f;
  if (reduce_range) {
    low /= 2;
    high /= 2;
  }
  const Formula least = Min(Reduce(x, "reduce_min", {}), 0.0).To(DType::kFloat64);
  const Formula most = Max(Reduce(x, "reduce_max", {}), 0.0).To(DType::kFloat64);
  const Formula width = (most - least) / static_cast<double>(high - low);
  const Formula scale = Where(width <= kLeastWithReciprocal, kFallback, width);
  const Formula zero_point = Round(static_cast<double>(low) - least / scale);
  const Formula bounded = Max(Min(zero_point, static_cast<double>(high)), static_cast<double>(low));
  return {Max(scale, static_cast<double>(kLeastScale)).To(DType::kFloat32),
          bounded.To(DType::kInt32)};
}

Formula DynamicallyRounded(const Formula& x, bool reduce_range) {
  const QuantizationParams steps = DynamicSteps(x, 0, 255, reduce_range);
  // The zero point is chosen for fewer bits; the integers have all.
  return Dequantized(Quantized(x, steps, {DType::kUInt8, 0, 255}), steps, DType::kFloat32);
}

QuantizationPtr DynamicQuantization(Machine& m, const Val& x, DType dtype, bool reduce_range) {
  Value* floats = m.Read(x);
  if (dtype == DType::kInt32) m.Refuse("dynamic quantization to qint32");
  const ValueBounds range = RangeOfInteger(dtype);
  m.quantizes = true;
  auto q = std::make_shared<Quantization>();
  q->dtype = dtype;
  m.Build("scale", [&](Builder& b) {
    const QuantizationParams steps = DynamicSteps({b, floats}, static_cast<int64_t>(range.low),
                                                  static_cast<int64_t>(range.high), reduce_range);
    q->scale = steps.scale;
    q->zero_point = steps.zero_point;
  });
  return q;
}

}  // namespace x2ir::torch_script
