// MXNet: integers that represent floats. Each quantized tensor comes with the least and the
// greatest float of its range: int8 and int32 represent -r .. r, uint8 low .. high. Operators
// compute with the floats and give integers again, which may differ from MXNet's kernels by one
// step.
#include "x2ir/builder/quantized.h"

#include <cstdlib>
#include <memory>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

// A range that is a tensor of one element, as one of rank 0.
Expr Bound(const Expr& x) { return Reshape(x.To(DType::kFloat32), {}); }
Expr Float32(SymbolArgs& a, double number) { return {a, a.b().Scalar(DType::kFloat32, number)}; }
Expr MaxAbs(const Expr& low, const Expr& high) { return Max(Abs(low), Abs(high)); }

double StepsOf(SymbolArgs& a, DType t) {
  if (t == DType::kInt8) return 127;
  if (t == DType::kUInt8) return 255;
  a.Require(t == DType::kInt32, StrCat("quantized numbers of type ", Name(t)));
  return 2147483647.0;
}

Expr FromSteps(SymbolArgs& a, const Expr& q, const Expr& low, const Expr& high) {
  const Expr x = q.To(DType::kFloat32);
  const double steps = StepsOf(a, q.dtype());
  if (q.dtype() == DType::kUInt8) return x * ((high - low) / steps) + low;
  return x * (MaxAbs(low, high) / steps);
}

struct QuantizedTensor {
  Expr q, low, high;
  Values All() const { return {q, Reshape(low, {1}), Reshape(high, {1})}; }
};
QuantizedTensor ToSteps(SymbolArgs& a, const Expr& x, DType t, const Expr& low, const Expr& high) {
  const double steps = StepsOf(a, t);
  if (t == DType::kUInt8) {
    const Expr y = Floor((x - low) * (steps / (high - low)) + 0.5);
    return {Clip(y, y.Number(0), y.Number(steps)).To(t), low, high};
  }
  const Expr range = MaxAbs(low, high);
  const Expr size = Floor(Min(Abs(x) * (steps / range) + 0.5, steps));
  return {(Sign(x) * size).To(t), -range, range};
}
// A result of a product as int32: a step is the product of the operands' steps.
QuantizedTensor ToProduct(SymbolArgs& a, const Expr& x, const Expr& step) {
  constexpr double kLimit = 2147483647.0;
  const Expr q = x.To(DType::kFloat64) / step.To(DType::kFloat64);
  const Expr whole = Clip(Round(q), q.Number(-kLimit), q.Number(kLimit));
  (void)a;
  return {whole.To(DType::kInt32), step * -kLimit, step * kLimit};
}
Expr StepOf(SymbolArgs& a, DType t, const Expr& low, const Expr& high) {
  const Expr range = t == DType::kUInt8 ? high - low : MaxAbs(low, high);
  return range / StepsOf(a, t);
}

DType TakeOutType(SymbolArgs& a, DType fallback, double least) {
  const std::string name = a.Text("out_type", "");
  if (name == "auto") return least >= 0 ? DType::kUInt8 : DType::kInt8;
  return name.empty() ? fallback : a.ElementType("out_type", fallback);
}

// Without a range that was counted, that of the operand.
Values QuantizeV2(SymbolArgs& a) {
  const bool counted = a.Given("min_calib_range") && a.Given("max_calib_range");
  const double least = a.Number("min_calib_range", -1), most = a.Number("max_calib_range", 0);
  const DType t = TakeOutType(a, DType::kInt8, counted ? least : -1);
  const Expr x = a.in(0).To(DType::kFloat32);
  const Expr low = counted ? Float32(a, least) : Reduce(x, "reduce_min", {});
  const Expr high = counted ? Float32(a, most) : Reduce(x, "reduce_max", {});
  return ToSteps(a, x, t, low, high).All();
}
Values Quantize(SymbolArgs& a) {
  const DType t = TakeOutType(a, DType::kUInt8, 0);
  return ToSteps(a, a.in(0), t, Bound(a.in(1)), Bound(a.in(2))).All();
}
Value* Dequantize(SymbolArgs& a) {
  a.ElementType("out_type", DType::kFloat32);
  a.Ignore("min_calib_range"), a.Ignore("max_calib_range");
  return FromSteps(a, a.in(0), Bound(a.in(1)), Bound(a.in(2)));
}
Values Requantize(SymbolArgs& a) {
  const bool counted = a.Given("min_calib_range") && a.Given("max_calib_range");
  const double least = a.Number("min_calib_range", -1), most = a.Number("max_calib_range", 0);
  const DType t = TakeOutType(a, DType::kInt8, counted ? least : -1);
  const Expr x = FromSteps(a, a.in(0), Bound(a.in(1)), Bound(a.in(2)));
  const Expr low = counted ? Float32(a, least) : Reduce(x, "reduce_min", {});
  const Expr high = counted ? Float32(a, most) : Reduce(x, "reduce_max", {});
  return ToSteps(a, x, t, low, high).All();
}

// --- Layers: x, weights, bias, then the ranges of each -------------------------------------------

struct QuantizedOperands {
  Expr x, weights, step;
  Value* bias;
};
QuantizedOperands TakeOperands(SymbolArgs& a, bool no_bias) {
  const size_t at = no_bias ? 2 : 3;
  const auto low = [&](size_t i) { return Bound(a.in(at + 2 * i)); };
  const auto high = [&](size_t i) { return Bound(a.in(at + 2 * i + 1)); };
  const auto floats = [&](size_t i) {
    const Expr v = a.in(i);
    return IsFloating(v.dtype()) ? v : FromSteps(a, v, low(i), high(i));
  };
  const Expr step = StepOf(a, a.dtype(0), low(0), high(0)) * StepOf(a, a.dtype(1), low(1), high(1));
  return {floats(0), floats(1), step, no_bias ? nullptr : floats(2).value()};
}
Values QuantizedConv(SymbolArgs& a) {
  const Window w = TakeMxnetWindow(a);
  a.Ignore("num_filter");
  const QuantizedOperands o = TakeOperands(a, a.Flag("no_bias", false));
  const Expr y = Convolve(a, o.x, o.weights, o.bias, w, a.Integer("num_group", 1));
  return ToProduct(a, y, o.step).All();
}
Values QuantizedDense(SymbolArgs& a) {
  a.Ignore("num_hidden");
  const bool flatten = a.Flag("flatten", true);
  const QuantizedOperands o = TakeOperands(a, a.Flag("no_bias", false));
  return ToProduct(a, Dense(flatten ? FlattenedRows(o.x) : o.x, o.weights, o.bias), o.step).All();
}

// --- What moves numbers: ranges stay -------------------------------------------------------------

Values WithRange(SymbolArgs& a, const Expr& q) { return {q, a.in(1), a.in(2)}; }
Values QuantizedPooling(SymbolArgs& a) {
  const std::string type = a.Text("pool_type", "max");
  a.Require(type == "max" || type == "avg", StrCat("pool_type ", type));
  const PoolKind kind = type == "max" ? PoolKind::kMax : PoolKind::kAverage;
  const Expr y = MxnetPool(a, a.in(0).To(DType::kFloat32), kind);
  return WithRange(a, (kind == PoolKind::kMax ? y : Round(y)).To(a.dtype()));
}
Values QuantizedFlatten(SymbolArgs& a) { return WithRange(a, FlattenedRows(a.in(0))); }
Values QuantizedReshape(SymbolArgs& a) {
  return WithRange(a, Reshape(a.in(0), a.Tuple("shape", a.Tuple("newshape"))));
}
Values QuantizedTranspose(SymbolArgs& a) {
  const std::vector<int64_t> axes = a.Tuple("axes");
  return WithRange(a, axes.empty() ? a.Op("transpose", {a.in(0)}) : Transpose(a.in(0), axes));
}
Values QuantizedAct(SymbolArgs& a) {
  a.Require(a.Text("act_type", "relu") == "relu", "another activation than relu");
  return WithRange(a, Max(a.in(0).To(DType::kInt32), 0.0).To(a.dtype()));
}
// Operands: all tensors, then their least and greatest numbers in turn. The widest range counts.
Values QuantizedConcat(SymbolArgs& a) {
  const int64_t axis = a.Integer("dim", 1);
  a.Ignore("num_args");
  const size_t n = a.num_inputs() / 3;
  if (n == 0 || a.num_inputs() % 3 != 0) return a.Fail(Invalid("tensors without a range"));
  Expr low = Bound(a.in(n)), high = Bound(a.in(n + 1));
  bool all_unsigned = true;
  for (size_t i = 0; i < n; ++i) {
    low = Min(low, Bound(a.in(n + 2 * i)));
    high = Max(high, Bound(a.in(n + 2 * i + 1)));
    all_unsigned = all_unsigned && a.dtype(i) == DType::kUInt8;
  }
  Values parts;
  for (size_t i = 0; i < n; ++i) {
    parts.push_back(FromSteps(a, a.in(i), Bound(a.in(n + 2 * i)), Bound(a.in(n + 2 * i + 1))));
  }
  const DType t = all_unsigned ? DType::kUInt8 : DType::kInt8;
  return ToSteps(a, Concat(a, parts, axis), t, low, high).All();
}
// Operands: two tensors, then the range of each.
template <bool kSum>
Values QuantizedOfTwo(SymbolArgs& a) {
  const bool counted = a.Given("min_calib_range") && a.Given("max_calib_range");
  const double least = a.Number("min_calib_range", 0), most = a.Number("max_calib_range", 0);
  const bool floats = a.Flag("enable_float_output", false);
  const Expr low0 = Bound(a.in(2)), high0 = Bound(a.in(3)), low1 = Bound(a.in(4)),
             high1 = Bound(a.in(5));
  const Expr x = FromSteps(a, a.in(0), low0, high0), y = FromSteps(a, a.in(1), low1, high1);
  const Expr r = kSum ? x + y : x * y;
  if (floats) return {r};
  if (counted) return ToSteps(a, r, DType::kInt8, Float32(a, least), Float32(a, most)).All();
  if (!kSum) {
    return ToProduct(a, r, StepOf(a, a.dtype(0), low0, high0) * StepOf(a, a.dtype(1), low1, high1))
        .All();
  }
  const Expr range = MaxAbs(low0, high0) + MaxAbs(low1, high1);
  return ToProduct(a, r, range / 2147483647.0).All();
}
// Operands: x, gamma, beta, mean, variance, the range of x.
absl::StatusOr<Values> QuantizedBatchNorm(SymbolArgs& a) {
  for (const char* name : {"momentum", "use_global_stats", "output_mean_var"}) a.Ignore(name);
  const bool fixed = a.Flag("fix_gamma", true);
  const double epsilon = a.Number("eps", 1e-3);
  a.Require(a.Given("min_calib_range") && a.Given("max_calib_range"), "a range that is not known");
  const Expr low = Float32(a, a.Number("min_calib_range", 0)),
             high = Float32(a, a.Number("max_calib_range", 0));
  const Expr x = FromSteps(a, a.in(0), Bound(a.in(5)), Bound(a.in(6)));
  const Expr y = BatchNormalize(a, x, fixed ? nullptr : a.in(1).value(), a.in(2), a.in(3), a.in(4),
                                a.Integer("axis", 1), epsilon);
  return ToSteps(a, y, DType::kInt8, low, high).All();
}
// Operands: indices, weights, the range of the weights.
Values QuantizedEmbedding(SymbolArgs& a) {
  for (const char* name : {"input_dim", "output_dim", "dtype"}) a.Ignore(name);
  return {Gather(a.in(1), a.AsInt64(a.in(0)), 0), a.in(2), a.in(3)};
}

// Whether what an operator gives is never negative: then a fused layer gives uint8.
bool IsNeverNegative(const Node* node) {
  if (!node) return false;
  const std::string_view op = node->op().view();
  for (const char* name : {"relu", "sigmoid", "abs", "square", "sqrt", "exp"}) {
    if (op == name) return true;
  }
  const auto text = [&](const char* name) {
    const Attribute* attr = node->attrs().Find(name);
    const auto* value = attr ? attr->get<std::string>() : nullptr;
    return value ? *value : std::string();
  };
  if (op == "Activation" || op == "_npx_activation") {
    const std::string type = text("act_type");
    return type == "relu" || type == "sigmoid" || type == "softrelu";
  }
  return op == "clip" && !text("a_min").empty() && std::strtod(text("a_min").c_str(), nullptr) == 0;
}
// Weights as int8 numbers leave them, with a range for each of the first axis.
Expr AsSteps(const Expr& weights) {
  std::vector<int64_t> others = AllAxes(weights);
  others.erase(others.begin());
  const Expr most = Reduce(Abs(weights), "reduce_max", others);
  const Expr scale = Where(most == 0.0, 1.0, most / 127.0);
  return FakeQuantized(weights, {scale, nullptr, 0}, -127, 127);
}

}  // namespace

// Operands: those of the subgraph, then the range of each of them that is of integers. A weight of
// floats is quantized by the layer itself, channel by channel.
absl::StatusOr<Values> QuantizedSubgraph(SymbolArgs& a) {
  const std::vector<std::shared_ptr<Graph>> graphs = a.SubGraphs("subgraphs");
  const bool counted = a.Given("min_calib_range") && a.Given("max_calib_range");
  const double least = a.Number("min_calib_range", 0), most = a.Number("max_calib_range", 0);
  const bool floats = a.Flag("enable_float_output", false) || a.Given("enabled_float_output");
  for (const auto& [name, attr] : a.attrs()) a.Ignore(name);
  if (graphs.size() != 1 || graphs[0]->inputs().size() > a.num_inputs() ||
      graphs[0]->outputs().size() != 1) {
    return Invalid("a subgraph that does not fit");
  }
  a.Require(floats || counted, "a fused layer of quantized numbers whose range was not counted");
  Values operands = a.inputs();
  operands.resize(graphs[0]->inputs().size());
  size_t next = operands.size();
  bool by_channel = true;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!IsInteger(a.dtype(i))) continue;
    if (next + 1 >= a.num_inputs()) return Invalid("operand ", i, " has no range");
    operands[i] = FromSteps(a, a.in(i), Bound(a.in(next)), Bound(a.in(next + 1)));
    next += 2;
    if (i == 1) by_channel = false;
  }
  if (next != a.num_inputs()) return Invalid("more ranges than operands of integers");
  if (by_channel && operands.size() > 1) {
    a.Require(a.rank(1) >= 2, "weights of unknown rank");
    operands[1] = AsSteps({a, operands[1]});
  }
  const Value* last = graphs[0]->outputs()[0];
  const DType t = IsNeverNegative(last->producer()) ? DType::kUInt8 : DType::kInt8;
  const Expr y = a.Op("cast", {InlineGraph(a.b(), *graphs[0], operands)[0]},
                      {{"to", "float32"}, {"saturate", 1}, {"round_mode", "up"}});
  if (floats) return Values{y};
  return ToSteps(a, y, t, Float32(a, least), Float32(a, most)).All();
}

X2IR_MXNET(dequantize_linear).From({"_contrib_dequantize", "_npx_contrib_dequantize"}, Dequantize);
X2IR_MXNET(quantize_linear)
    .From({"_contrib_quantize_v2", "_npx_contrib_quantize_v2"}, QuantizeV2)
    .From({{"_contrib_quantize", Quantize}, {"_contrib_requantize", Requantize}});
X2IR_MXNET(conv).From("_contrib_quantized_conv", QuantizedConv);
X2IR_MXNET(gemm).From("_contrib_quantized_fully_connected", QuantizedDense);
X2IR_MXNET(max_pool).From("_contrib_quantized_pooling", QuantizedPooling);
X2IR_MXNET(flatten).From("_contrib_quantized_flatten", QuantizedFlatten);
X2IR_MXNET(reshape).From({"_contrib_quantized_reshape", "_npx_quantized_reshape"},
                         QuantizedReshape);
X2IR_MXNET(transpose).From({"_contrib_quantized_transpose", "_npx_quantized_transpose"},
                           QuantizedTranspose);
X2IR_MXNET(relu).From("_contrib_quantized_act", QuantizedAct);
X2IR_MXNET(concat).From("_contrib_quantized_concat", QuantizedConcat);
X2IR_MXNET(add).From("_contrib_quantized_elemwise_add", QuantizedOfTwo<true>);
X2IR_MXNET(mul).From("_contrib_quantized_elemwise_mul", QuantizedOfTwo<false>);
X2IR_MXNET(batch_normalization).From("_contrib_quantized_batch_norm", QuantizedBatchNorm);
X2IR_MXNET(gather).From("_contrib_quantized_embedding", QuantizedEmbedding);

}  // namespace x2ir
