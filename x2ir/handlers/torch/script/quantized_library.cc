// Operators of the library "quantized" that are one of ATen's, with the scale and the zero point of
// the result as arguments, or that change those of an operand.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/quantized.h"

namespace x2ir::torch_script {
namespace {

// A tensor of one element as a number.
Val FloatIn(const QuantizedCall& c, const Val& v) {
  if (v.kind == Val::kTensor) return c.m.Call("aten::Float", {{v}, {}});
  if (!v.is_number()) c.m.Refuse(c.op, " with ", Describe(v));
  return v;
}

// The first `count` arguments are those of an ATen operator; a scale and a zero point are at `at`,
// and after them come more of the operator's, where it has more.
struct FloatRow {
  std::string_view op, aten;
  size_t count, at;
};
constexpr FloatRow kFloatRows[] = {
    {"add", "aten::add", 2, 2},
    {"add_out", "aten::add", 2, 2},
    {"mul", "aten::mul", 2, 2},
    {"mul_out", "aten::mul", 2, 2},
    {"matmul", "aten::matmul", 2, 2},
    {"sigmoid", "aten::sigmoid", 1, 1},
    {"hardswish", "aten::hardswish", 1, 1},
    {"softmax", "aten::softmax", 2, 2},
    {"prelu", "aten::prelu", 2, 2},
    {"leaky_relu", "aten::leaky_relu", 2, 3},
    {"elu", "aten::elu", 1, 1},
    {"celu", "aten::celu", 1, 1},
    {"layer_norm", "aten::layer_norm", 5, 5},
    {"group_norm", "aten::group_norm", 5, 5},
};
const FloatRow* FindFloatRow(std::string_view stem) {
  for (const FloatRow& row : kFloatRows) {
    if (row.op == stem) return &row;
  }
  return nullptr;
}
Val CallWithRow(const QuantizedCall& c, const FloatRow& row) {
  Args args;
  for (size_t i = 0; i < row.count; ++i) args.positional.push_back(FloatsOf(c.m, c.At(i, "")));
  for (size_t i = row.at + 2; i < c.args.positional.size(); ++i) {
    args.positional.push_back(c.args.positional[i]);
  }
  return Finished(c, c.m.Call(row.aten, args), row.at, RequireAnyQuantized(c)->dtype);
}

// x + number and x * number keep the integers where they can, and change the scale and zero point.
struct KnownSteps {
  double scale;
  int64_t zero_point;
};
KnownSteps KnownStepsOf(const QuantizedCall& c, const Quantization& q) {
  const Tensor *scale = SettledTensor(q.scale), *zero_point = SettledTensor(q.zero_point);
  if (!scale || !zero_point || q.axis >= 0) {
    c.m.Refuse(c.op, " with a number, of a tensor whose scale is not known before the model runs");
  }
  return {scale->AsDouble(0), zero_point->AsInt(0)};
}
Val AddNumber(const QuantizedCall& c, const Val& x, double number) {
  const QuantizationPtr q = RequireQuantized(c, x);
  const KnownSteps s = KnownStepsOf(c, *q);
  const ValueBounds range = RangeOfInteger(q->dtype);
  const double shift = std::nearbyint(number / s.scale);
  const double zero_point = static_cast<double>(s.zero_point) - shift;
  if (range.low <= zero_point && zero_point <= range.high) {
    return Marked(IntegersOf(c.m, x),
                  MakeQuantization(c.m, Val::Float(s.scale),
                                   Val::Int(static_cast<int64_t>(zero_point)), q->dtype));
  }
  const bool below = zero_point < range.low;
  const double steps = below ? range.high - zero_point : zero_point - range.low;
  const Val sum = c.m.Call("aten::add", {{FloatsOf(c.m, x), Val::Float(shift * s.scale)}, {}});
  return QuantizedAs(
      c.m, sum,
      MakeQuantization(c.m, Val::Float(steps / (range.high - range.low) * s.scale),
                       Val::Int(static_cast<int64_t>(below ? range.low : range.high)), q->dtype));
}
Val MultiplyByNumber(const QuantizedCall& c, const Val& x, double number) {
  const QuantizationPtr q = RequireQuantized(c, x);
  const KnownSteps s = KnownStepsOf(c, *q);
  const ValueBounds range = RangeOfInteger(q->dtype);
  const Val integers = IntegersOf(c.m, x);
  if (number > 0) {
    return Marked(integers, MakeQuantization(c.m, Val::Float(number * s.scale),
                                             Val::Int(s.zero_point), q->dtype));
  }
  if (number == 0) {
    return Marked(c.m.Call("aten::zeros_like", {{integers}, {}}),
                  MakeQuantization(c.m, Val::Float(1), Val::Int(0), q->dtype));
  }
  const auto both = static_cast<int64_t>(range.low + range.high);
  const Val product = c.m.Call("aten::mul", {{FloatsOf(c.m, x), Val::Float(number)}, {}});
  return QuantizedAs(c.m, product,
                     MakeQuantization(c.m, Val::Float(-number * s.scale),
                                      Val::Int(both - s.zero_point), q->dtype));
}

// Of a tensor and a number, in either order; a traced number is a tensor.
bool IsWithNumber(const QuantizedCall& c) {
  return c.args.size() == 2 && c.args.positional.size() == 2 &&
         !(QuantizationOf(c.args.positional[0]) && QuantizationOf(c.args.positional[1]));
}
Val WithNumber(const QuantizedCall& c) {
  if (!IsWithNumber(c)) c.m.Refuse(c.op, " with ", c.args.size(), " arguments");
  const bool first = QuantizationOf(c.args.positional[0]) != nullptr;
  const Val& x = c.args.positional[first ? 0 : 1];
  const Val number = FloatIn(c, c.args.positional[first ? 1 : 0]);
  if (number.value) c.m.Refuse(c.op, " with a number that is computed");
  const Val y = OperatorStem(c.op).starts_with("add") ? AddNumber(c, x, number.d)
                                                      : MultiplyByNumber(c, x, number.d);
  return c.relu ? c.m.Call("aten::relu", {{y}, {}}) : y;
}

Val Concatenated(const QuantizedCall& c) {
  const Val list = FloatsOf(c.m, c.At(0, "qx"));
  const Val *scale = c.Find(2, "scale"), *zero_point = c.Find(3, "zero_point");
  const QuantizationPtr first = RequireAnyQuantized(c);
  const Val y = c.m.Call("aten::cat", {{list, c.At(1, "dim")}, {}});
  const bool given = scale && scale->kind != Val::kNone;
  const bool point = zero_point && zero_point->kind != Val::kNone;
  if (given != point) c.m.Refuse(c.op, " with a scale or a zero point alone");
  if (given || OperatorStem(c.op).ends_with("_out")) return Finished(c, y, 2, first->dtype);
  return QuantizedAs(c.m, WithRelu(c, y), first);
}
Val BatchNorm(const QuantizedCall& c) {
  const auto at = [&](size_t i) { return FloatsOf(c.m, c.At(i, "")); };
  const Val y = c.m.Call("aten::batch_norm", {{at(0), at(1), at(2), at(3), at(4), Val::Bool(false),
                                               Val::Float(0), at(5), Val::Bool(false)},
                                              {}});
  return Finished(c, y, 6, RequireAnyQuantized(c)->dtype);
}
Val InstanceNorm(const QuantizedCall& c) {
  const auto at = [&](size_t i) { return FloatsOf(c.m, c.At(i, "")); };
  const Val y =
      c.m.Call("aten::instance_norm", {{at(0), at(1), at(2), Val::None(), Val::None(),
                                        Val::Bool(true), Val::Float(0), at(3), Val::Bool(false)},
                                       {}});
  return Finished(c, y, 4, RequireAnyQuantized(c)->dtype);
}
Val Relu6(const QuantizedCall& c) {
  const Val y = c.m.Call("aten::relu6", {{FloatsOf(c.m, c.At(0, "qx"))}, {}});
  const Val result = QuantizedAs(c.m, y, RequireAnyQuantized(c));
  if (!c.Flag(1, "inplace")) return result;
  c.m.Write(c.At(0, "qx").tensor(), c.m.Read(result));
  return c.At(0, "qx");
}
Val First(const QuantizedCall& c) { return c.At(0, "self"); }

}  // namespace

std::optional<Val> CallFloatRow(const QuantizedCall& c, std::string_view op) {
  if (!op.starts_with("quantized::")) return std::nullopt;
  const std::string_view stem = OperatorStem(op);
  const FloatRow* row = FindFloatRow(stem);
  if (!row) return std::nullopt;
  RequireAnyQuantized(c);
  const bool number = (stem == "add" || stem == "mul") && IsWithNumber(c);
  return number ? WithNumber(c) : CallWithRow(c, *row);
}

const QuantizedTable& QuantizedLibrary() {
  static const auto* table = new QuantizedTable{
      {"quantized::add_scalar", WithNumber},
      {"quantized::mul_scalar", WithNumber},
      {"quantized::cat", Concatenated},
      {"quantized::cat_out", Concatenated},
      {"quantized::batch_norm", BatchNorm},
      {"quantized::batch_norm1d", BatchNorm},
      {"quantized::batch_norm2d", BatchNorm},
      {"quantized::batch_norm3d", BatchNorm},
      {"quantized::instance_norm", InstanceNorm},
      {"quantized::relu6", Relu6},
      {"quantized::dropout", First},
  };
  return *table;
}

}  // namespace x2ir::torch_script
