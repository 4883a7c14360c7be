// Quantized networks: an integer n represents n * scale / (2^(bits - 1) - 1), where scale is the
// greatest number that occurs.
#include "x2ir/builder/quantized.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

double MostOf(PaddleArgs& a, Symbol bits) {
  const int64_t count = a.Int(bits, 8);
  a.Require(count >= 2 && count <= 16, "as many bits");
  return static_cast<double>((int64_t{1} << (count - 1)) - 1);
}

// Scales as a tensor that broadcasts with x along their axis.
Expr Beside(PaddleArgs& a, const Expr& x, const Expr& scale, int64_t axis) {
  const Dim count = scale->shape() && scale->shape()->rank() == 1 ? (*scale->shape())[0] : Dim(1);
  if (a.Rank(scale) == 0) return scale;
  if (count.is_static() && count.value() == 1) return Reshape(scale, {});
  const int64_t at = a.Axis(axis, x);
  return AlongAxis(Flat(scale), at, a.Rank(x));
}

Expr RoundedAway(const Expr& x) { return Sign(x) * RoundHalfUp(Abs(x)); }

// The integers, as floats. Rounding 0 goes to even and then bounds; 1 bounds and then goes away
// from zero.
Expr Steps(const Expr& x, const Expr& scale, double most, int64_t rounding) {
  if (rounding == 0) {
    const Expr n = Round(x * (most / scale));
    return Clip(n, n.Number(-most - 1), n.Number(most));
  }
  return RoundedAway(Max(Min(x, scale), -scale) * (most / scale));
}

bool IsSymmetric(PaddleArgs& a) {
  const Expr zero = a.Opt("ZeroPoint");
  if (!zero.value()) return true;
  const Tensor* known = SettledTensor(zero);
  if (!known) return false;
  for (int64_t i = 0; i < known->num_elements(); ++i) {
    if (known->AsDouble(i) != 0) return false;
  }
  return true;
}

// int8 of one scale, or one for each index of an axis, as runtimes know it.
QuantizationParams StepsOf(PaddleArgs& a, const Expr& x, const Expr& scale, double most,
                           int64_t axis) {
  const Expr step = scale / most;
  const bool one =
      a.Rank(scale) == 0 || (DimAt(scale, 0).is_static() && DimAt(scale, 0).value() == 1);
  if (one) return {Reshape(step, {}), nullptr};
  return {Flat(step), nullptr, a.Axis(axis, x)};
}

PaddleResults QuantizeLinear(PaddleArgs& a) {
  const Expr x = a.X(), scale = a.X("Scale");
  a.Drop({"InAccum", "InState"});
  a.Require(IsSymmetric(a), "zero points other than 0");
  const double most = MostOf(a, "bit_length");
  const int64_t axis = a.Int("quant_axis", 0), rounding = a.Int("round_type", 0);
  const double low = a.Number("qmin", -most - 1), high = a.Number("qmax", most);
  for (const char* name : {"moving_rate", "only_observer"}) a.Ignore(name);
  if (a.Bool("only_observer", false)) return {{"Y", {x.Op("identity")}}};
  if (most == 127 && low == -128 && high == 127 && rounding == 0 && x.dtype() == DType::kFloat32) {
    const QuantizationParams steps = StepsOf(a, x, scale, most, axis);
    // Programs have floats with integer values; the row that dequantizes reads the cast's operand.
    return {{"Y", {Quantized(x, steps, {DType::kInt8, -128, 127}).To(x.dtype())}}};
  }
  const Expr s = Beside(a, x, scale, axis).To(x.dtype());
  const Expr n = rounding == 0 ? Round(x * (most / s)) : Steps(x, s, most, rounding);
  return {{"Y", {Clip(n, n.Number(low), n.Number(high))}}};
}

PaddleResults DequantizeLinear(PaddleArgs& a) {
  Expr x = a.X();
  const Expr scale = a.X("Scale");
  a.Drop({"InAccum", "InState"});
  a.Require(IsSymmetric(a), "zero points other than 0");
  const double most = MostOf(a, "bit_length");
  const int64_t axis = a.Int("quant_axis", 0);
  for (const char* name : {"moving_rate", "only_observer", "qmin", "qmax", "round_type"}) {
    a.Ignore(name);
  }
  if (a.Bool("only_observer", false)) return {{"Y", {x.Op("identity")}}};
  const DType type = scale.dtype();
  const Node* cast = x->producer();
  if (cast && cast->Is("cast") && cast->input(0)->dtype() == DType::kInt8) {
    x = {a.b(), const_cast<Node*>(cast)->input(0)};
  }
  if (x.dtype() == DType::kInt8 && type == DType::kFloat32) {
    return {{"Y", {Dequantized(x, StepsOf(a, x, scale, most, axis), type)}}};
  }
  return {{"Y", {x.To(type) * (Beside(a, x, scale, axis) / most)}}};
}

// The greatest number of all, or of each index of an axis.
Expr GreatestOf(PaddleArgs& a, const Expr& x, std::optional<int64_t> axis) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < a.Rank(x); ++i) {
    if (!axis || i != *axis) axes.push_back(i);
  }
  if (axes.empty()) return Abs(x);
  const Expr most = Reduce(Abs(x), "reduce_max", axes);
  return axis ? most : Reshape(most, {1});
}

// The greatest number is computed or an operand; the result is integers or the dequantized floats.
auto FakeQuantize(bool by_channel, bool finds, bool dequantizes) {
  return [=](PaddleArgs& a) -> PaddleResults {
    const Expr x = a.X();
    const double most = MostOf(a, "bit_length");
    const int64_t rounding = a.Int("round_type", 1);
    const int64_t axis = by_channel ? a.Axis(a.Int("quant_axis", 0), x) : 0;
    for (const char* name : {"moving_rate", "window_size", "quant_axis"}) a.Ignore(name);
    a.Drop({"InAccum", "InState", "Iter"});
    const Expr scale =
        finds ? GreatestOf(a, x, by_channel ? std::optional(axis) : std::nullopt) : a.X("InScale");
    const Expr s = by_channel ? AlongAxis(scale, axis, a.Rank(x)) : Reshape(scale, {});
    const Expr n = Steps(x, s, most, rounding);
    PaddleResults results = {{"Out", {dequantizes ? n * (s / most) : n}}};
    results.push_back({"OutScale", {scale.Op("identity")}});
    return results;
  };
}

Expr DequantizeMaxAbs(PaddleArgs& a) {
  const Expr x = a.X(), scale = a.X("Scale");
  const double most = a.Number("max_range", 127);
  return x.To(scale.dtype()) * (Reshape(scale, {}) / most);
}
// With one scale for each channel; a second operand, if present, is one scale for all.
Expr DequantizeChannels(PaddleArgs& a) {
  const Expr x = a.X();
  const std::vector<Value*> scales = a.List("Scales");
  const std::vector<int64_t> bits = a.Ints("quant_bits", {8});
  const int64_t axis = a.Int("quant_axis", 0), lead = a.Int("x_num_col_dims", 1);
  a.Require(!scales.empty() && scales.size() <= 2 && bits.size() >= scales.size(), "scales");
  const auto most = [&](size_t i) {
    return static_cast<double>((int64_t{1} << (bits[i] - 1)) - 1);
  };
  const Expr first(a.b(), scales[0]);
  const int64_t at = scales.size() == 1 ? a.Axis(axis, x) : lead;
  Expr y = x.To(first.dtype()) * (AlongAxis(Flat(first), at, a.Rank(x)) / most(0));
  if (scales.size() == 2) y = y * (Reshape(Expr(a.b(), scales[1]), {}) / most(1));
  return y;
}

PaddleResults Observed(PaddleArgs& a) {
  a.Drop({"InAccum", "InState"});
  a.Ignore("moving_rate");
  return {{"Out", {a.X().Op("identity")}}};
}

// oneDNN's: x * scale + shift.
Expr QuantizeByScale(PaddleArgs& a) {
  const Expr x = a.X("Input");
  const double scale = a.Number("Scale", 1), shift = a.Number("Shift", 0);
  const bool negative = a.Bool("is_negative_input", false);
  a.Require(!a.Bool("bfloat16", false), "bfloat16");
  for (const char* name : {"output_format"}) a.Ignore(name);
  const bool is_signed = negative && shift == 0;
  const Expr n = Round(Shifted(Scaled(x, scale), shift));
  return Clip(n, n.Number(is_signed ? -128 : 0), n.Number(is_signed ? 127 : 255))
      .To(is_signed ? DType::kInt8 : DType::kUInt8);
}
Expr DequantizeByScale(PaddleArgs& a) {
  const Expr x = a.X("Input").To(DType::kFloat32);
  return Shifted(x, -a.Number("Shift", 0)) / a.Number("Scale", 1);
}

}  // namespace

X2IR_PADDLE(quantize_linear)
    .From({{"quantize_linear", QuantizeLinear}, {"quantize", QuantizeByScale}})
    .From({"fake_quantize_abs_max"}, FakeQuantize(false, true, false))
    .From("fake_channel_wise_quantize_abs_max", FakeQuantize(true, true, false))
    .From({"fake_quantize_moving_average_abs_max", "fake_quantize_range_abs_max"},
          FakeQuantize(false, false, false));
X2IR_PADDLE(dequantize_linear)
    .From({{"dequantize_linear", DequantizeLinear}, {"dequantize", DequantizeByScale}})
    .From({"fake_dequantize_max_abs", "dequantize_abs_max"}, DequantizeMaxAbs)
    .From("fake_channel_wise_dequantize_max_abs", DequantizeChannels)
    .From("fake_quantize_dequantize_abs_max", FakeQuantize(false, true, true))
    .From("fake_channel_wise_quantize_dequantize_abs_max", FakeQuantize(true, true, true))
    .From("fake_quantize_dequantize_moving_average_abs_max", FakeQuantize(false, false, true));
X2IR_PADDLE(identity).From("moving_average_abs_max_scale", Observed);

}  // namespace x2ir
