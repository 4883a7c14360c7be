// CHLO: operations that StableHLO lacks, and those that broadcast. Products of ragged tensors are
// in einsum.cc.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/bessel.h"
#include "x2ir/builder/error_function.h"
#include "x2ir/builder/nested.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/special_functions.h"
#include "x2ir/handlers/stablehlo/elementwise.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

Expr SquareOfReal(const Expr& x) { return x * x; }
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// --- Functions -----------------------------------------------------------------------------------

template <Expr (*kFunction)(const Expr&)>
Value* OfOne(StablehloArgs& a) {
  return kFunction(a.in(0));
}
template <Expr (*kFunction)(const Expr&, const Expr&)>
Value* OfTwo(StablehloArgs& a) {
  return kFunction(a.in(0), a.in(1));
}
// Of a function that is one of float64.
template <Expr (*kFunction)(const Expr&)>
Expr InDouble(const Expr& x) {
  return kFunction(x.To(DType::kFloat64)).To(x.dtype());
}

Value* Conjugate(StablehloArgs& a) {
  const Expr x = a.in(0);
  return IsComplex(x.dtype()) ? NumberOfParts(Conj(PartsOfNumber(x))) : x.Op("identity");
}

Value* IsPositiveInfinity(StablehloArgs& a) { return a.in(0) == kInfinite; }
Value* IsNegativeInfinity(StablehloArgs& a) { return a.in(0) == -kInfinite; }

// The bits of numbers of one sign are in the order of the numbers.
Expr NextAfter(const Expr& x, const Expr& y) {
  Builder& b = x.builder();
  const DType t = x.dtype(), bits = SignedOf(BitWidth(t));
  const Expr one = IntegerOf(b, bits, 1), least = BitsAs(one, t);
  const Expr away = (y > x) ^ (x < 0);
  const Expr moved = BitsAs(BitsAs(x, bits) + Where(away, one, IntegerOf(b, bits, -1)), t);
  Expr next = Where(x == 0, Where(y > 0, least, -least), moved);
  next = Where(x == y, y, next);
  return Where(IsNan(x) | IsNan(y), x + y, next);
}

// --- Constants -----------------------------------------------------------------------------------

Value* ChloConstant(StablehloArgs& a) {
  const Attribute* value = a.attrs().Find("value");
  a.Ignore("value");
  const Tensor* tensor = value ? value->get<Tensor>() : nullptr;
  if (!tensor) return a.Fail(Invalid("attribute 'value' is no tensor"))[0];
  return Expand({a, a.b().Constant(*tensor)}, Ints(a, a.OutSizes()));
}

// A number of the result's type, as often as the operand has elements.
Value* ConstantLike(StablehloArgs& a) {
  const Attribute* value = a.attrs().Find("value");
  a.Ignore("value");
  const DType t = a.out_dtype();
  const Expr like = a.in(0);
  const auto* real = value ? value->get<double>() : nullptr;
  const auto* integer = value ? value->get<int64_t>() : nullptr;
  const auto* tensor = value ? value->get<Tensor>() : nullptr;
  Expr number = nullptr;
  if (tensor && tensor->num_elements() == 1) {
    number = {a, a.b().Constant(tensor->Reshaped({}))};
  } else if (integer && IsInteger(t) && BitWidth(t) >= 8) {
    number = IntegerOf(a, t, *integer);
  } else if ((real || integer) && !IsComplex(t)) {
    number = {a, a.b().Scalar(t, real ? *real : static_cast<double>(*integer))};
  } else {
    return a.Fail(Unimplemented("a value of this kind"))[0];
  }
  return Expand(number, ShapeOf(like));
}

// --- Broadcast -----------------------------------------------------------------------------------

// The row of the operation without "broadcast_". The operand of fewer axes has those that are
// named; without names, the last ones. Rows make ops that broadcast.
auto Broadcasting(std::string_view op) {
  return [op](StablehloArgs& a) -> absl::StatusOr<Values> {
    const bool named = a.HasAttr("broadcast_dimensions");
    const std::vector<int64_t> dimensions = a.Ints("broadcast_dimensions");
    std::vector<Value*> operands = a.inputs();
    if (named && operands.size() == 2 && a.RankOf(0) != a.RankOf(1)) {
      const size_t small = a.RankOf(0) < a.RankOf(1) ? 0 : 1;
      const int64_t rank = a.RankOf(1 - small);
      if (static_cast<int64_t>(dimensions.size()) != a.RankOf(small) ||
          !std::is_sorted(dimensions.begin(), dimensions.end())) {
        return Invalid("broadcast_dimensions do not fit an operand of rank ", a.RankOf(small));
      }
      std::vector<int64_t> others;
      for (int64_t axis = 0; axis < rank; ++axis) {
        if (std::find(dimensions.begin(), dimensions.end(), axis) == dimensions.end()) {
          others.push_back(axis);
        }
      }
      operands[small] = Unsqueeze({a, operands[small]}, others);
    }
    AttributeMap attrs;
    for (const Symbol name : {Symbol("comparison_direction"), Symbol("compare_type")}) {
      if (const Attribute* attr = a.attrs().Find(name)) attrs.Set(name, *attr);
      a.Ignore(name);
    }
    return AsStablehlo(a, op, std::move(operands), std::move(attrs));
  };
}

// --- Scans ---------------------------------------------------------------------------------------

// Operands are taken apart, if they have an axis more than the body's argument; the others are
// carried. Results are what each round gives, put together, and then the last of what is carried.
absl::StatusOr<Values> FromScan(StablehloArgs& a) {
  const std::shared_ptr<Graph> body = a.SubGraph("body");
  const int64_t axis = a.Int("dimension", 0), reverse = a.Int("is_reverse", 0);
  a.Ignore("is_associative");
  a.Ignore("scan_dim_size");
  const std::vector<Value*> operands = a.inputs();
  const size_t count = operands.size();
  if (body->inputs().size() != count) {
    return Invalid("its body has ", body->inputs().size(), " arguments for ", count, " operands");
  }
  size_t slices = 0;
  while (slices < count && body->inputs()[slices]->shape() &&
         body->inputs()[slices]->shape()->rank() < a.RankOf(slices)) {
    ++slices;
  }
  const size_t carried = count - slices;
  if (slices == 0) return Unimplemented("a scan of nothing");
  if (body->outputs().size() < carried) return Invalid("its body carries too few values on");
  const size_t made = body->outputs().size() - carried;
  for (const Value* operand : operands) {
    if (IsComplex(operand->dtype())) return Unimplemented("a scan of complex numbers");
  }
  auto graph = std::make_shared<Graph>("scan");
  Values first, arguments(count);
  const auto argument = [&](size_t i) {
    const Value* input = body->inputs()[i];
    first.push_back(operands[i]);
    arguments[i] = graph->AddInput(graph->UniqueName(input->name()), input->type());
  };
  for (size_t i = slices; i < count; ++i) argument(i);
  for (size_t i = 0; i < slices; ++i) argument(i);
  Builder b(*graph, nullptr);
  Values results = InlineGraph(b, *body, arguments);
  std::rotate(results.begin(), results.begin() + static_cast<ptrdiff_t>(made), results.end());
  AddResults(b, results);
  X2IR_RETURN_IF_ERROR(b.status());
  const auto each = [](size_t n, int64_t value) { return std::vector<int64_t>(n, value); };
  Values values = a.b().Ops("scan", first,
                            {{"body", graph},
                             {"num_scan_inputs", static_cast<int64_t>(slices)},
                             {"scan_input_axes", each(slices, axis)},
                             {"scan_input_directions", each(slices, reverse)},
                             {"scan_output_axes", each(made, axis)},
                             {"scan_output_directions", each(made, reverse)}},
                            made + carried);
  std::rotate(values.begin(), values.begin() + static_cast<ptrdiff_t>(carried), values.end());
  return values;
}

}  // namespace

X2IR_STABLEHLO(erf).From({{"chlo.erfc", OfOne<InDouble<Erfc>>},
                          {"chlo.erf_inv", OfOne<Erfinv>},
                          {"chlo.lgamma", OfOne<Lgamma>},
                          {"chlo.digamma", OfOne<Digamma>},
                          {"chlo.bessel_i1e", OfOne<InDouble<BesselI1e>>},
                          {"chlo.polygamma", OfTwo<Polygamma>},
                          {"chlo.zeta", OfTwo<Zeta>}});
X2IR_STABLEHLO(mul).From("chlo.square", OfNumber<SquareOfReal, SquareOf>);
X2IR_STABLEHLO(neg).From("chlo.conj", Conjugate);
X2IR_STABLEHLO(is_inf).From({{"chlo.is_pos_inf", IsPositiveInfinity},
                             {"chlo.is_neg_inf", IsNegativeInfinity}});
X2IR_STABLEHLO(bit_cast).From("chlo.next_after", OfTwo<NextAfter>);
X2IR_STABLEHLO(expand).From({{"chlo.constant", ChloConstant},
                             {"chlo.constant_like", ConstantLike}});
X2IR_STABLEHLO(scan).From("chlo.scan", FromScan);
X2IR_STABLEHLO(add).From("chlo.broadcast_add", Broadcasting("add"));
X2IR_STABLEHLO(and).From("chlo.broadcast_and", Broadcasting("and"));
X2IR_STABLEHLO(atan).From("chlo.broadcast_atan2", Broadcasting("atan2"));
X2IR_STABLEHLO(equal).From("chlo.broadcast_compare", Broadcasting("compare"));
X2IR_STABLEHLO(complex).From("chlo.broadcast_complex", Broadcasting("complex"));
X2IR_STABLEHLO(div).From("chlo.broadcast_divide", Broadcasting("divide"));
X2IR_STABLEHLO(max).From("chlo.broadcast_maximum", Broadcasting("maximum"));
X2IR_STABLEHLO(min).From("chlo.broadcast_minimum", Broadcasting("minimum"));
X2IR_STABLEHLO(mul).From("chlo.broadcast_multiply", Broadcasting("multiply"));
X2IR_STABLEHLO(bit_cast).From("chlo.broadcast_next_after", Broadcasting("chlo.next_after"));
X2IR_STABLEHLO(or).From("chlo.broadcast_or", Broadcasting("or"));
X2IR_STABLEHLO(erf).From({{"chlo.broadcast_polygamma", Broadcasting("chlo.polygamma")},
                          {"chlo.broadcast_zeta", Broadcasting("chlo.zeta")}});
X2IR_STABLEHLO(pow).From("chlo.broadcast_power", Broadcasting("power"));
X2IR_STABLEHLO(mod).From("chlo.broadcast_remainder", Broadcasting("remainder"));
X2IR_STABLEHLO(where).From("chlo.broadcast_select", Broadcasting("select"));
X2IR_STABLEHLO(bit_shift).From(
    {{"chlo.broadcast_shift_left", Broadcasting("shift_left")},
     {"chlo.broadcast_shift_right_arithmetic", Broadcasting("shift_right_arithmetic")},
     {"chlo.broadcast_shift_right_logical", Broadcasting("shift_right_logical")}});
X2IR_STABLEHLO(sub).From("chlo.broadcast_subtract", Broadcasting("subtract"));
X2IR_STABLEHLO(xor).From("chlo.broadcast_xor", Broadcasting("xor"));

}  // namespace x2ir
