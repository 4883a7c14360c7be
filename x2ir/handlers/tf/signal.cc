// TensorFlow: Fourier transforms. Complex numbers are pairs of real ones along one more last axis,
// but only ops of this file know that: so the results of these ops may only be used by ops whose
// names are in the table.
#include <algorithm>
#include <string_view>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/binary.h"

namespace x2ir {
namespace {

constexpr std::string_view kOfPairs[] = {"FFT",  "IFFT",       "IRFFT", "Real",
                                         "Imag", "ComplexAbs", "Angle"};

absl::StatusOr<Value*> Pairs(TfArgs& a, Value* pairs) {
  const Value* output = a.node().output(0);
  if (!output) return pairs;
  if (output->is_graph_output()) return Unimplemented("a result of complex numbers");
  for (const Use& use : output->uses()) {
    const std::string_view op = use.node->op().view();
    const bool knows =
        use.node->dialect().view() == "tf" && use.index == 0 &&
        std::find(std::begin(kOfPairs), std::end(kOfPairs), op) != std::end(kOfPairs);
    if (!knows) return Unimplemented("complex numbers that go to ", op);
  }
  return pairs;
}

// Operand 0 as [..., 2]. Complex numbers from elsewhere are none.
Expr PairsIn(TfArgs& a) {
  a.Require(a.in(0)->dtype() == DType::kFloat32 || a.in(0)->dtype() == DType::kFloat64,
            "complex numbers that no Fourier transform gave");
  return {a.b(), a.in(0)};
}
Expr PartOf(TfArgs& a, const Expr& pairs, int64_t part) {
  return {a.b(), Gather(pairs, a.b().Int(part), -1)};
}

Value* Transformed(TfArgs& a, Value* x, Value* length, bool inverse, bool onesided) {
  return a.Op("dft", {x, length, a.b().Int(-2)}, {{"inverse", inverse}, {"onesided", onesided}});
}
// The number in operand 1.
Value* Length(TfArgs& a) { return ReshapeTo(a.AsInt64(a.in(1)), Ints(a, {})); }

absl::StatusOr<Value*> Rfft(TfArgs& a) {
  a.Ignore("Treal");
  a.Ignore("Tcomplex");
  Value* x = a.in(0);
  a.Require(x->dtype() == DType::kFloat32 || x->dtype() == DType::kFloat64, "narrow floats");
  return Pairs(a, Transformed(a, Unsqueeze({a, x}, {-1}), Length(a), false, true));
}
Value* Irfft(TfArgs& a) {
  a.Ignore("Treal");
  a.Ignore("Tcomplex");
  return Squeeze({a, Transformed(a, PairsIn(a).value(), Length(a), true, true)}, {-1});
}
template <bool kInverse>
absl::StatusOr<Value*> Fft(TfArgs& a) {
  a.Ignore("Tcomplex");
  return Pairs(a, Transformed(a, PairsIn(a).value(), nullptr, kInverse, false));
}

absl::StatusOr<Value*> Complex(TfArgs& a) {
  a.Ignore("Tout");
  Value* both = a.Op("shape", {a.Op("add", {a.in(0), a.in(1)})});
  std::vector<Value*> parts;
  for (size_t i = 0; i < 2; ++i) {
    parts.push_back(Unsqueeze(a.Op("expand", {a.in(i), both}), {-1}));
  }
  return Pairs(a, a.Op("concat", std::move(parts), {{"axis", -1}}));
}

template <int64_t kPart>
Value* Part(TfArgs& a) {
  a.Ignore("Tout");
  return PartOf(a, PairsIn(a), kPart).value();
}
// Squares of float32s overflow no float64; those of float64s are of what the larger part is to 1.
Value* ComplexAbs(TfArgs& a) {
  a.Ignore("Tout");
  const Expr pairs = PairsIn(a);
  const Expr x = Abs(PartOf(a, pairs, 0)), y = Abs(PartOf(a, pairs, 1));
  if (pairs.dtype() == DType::kFloat32) {
    const Expr u = x.To(DType::kFloat64), v = y.To(DType::kFloat64);
    return Sqrt(u * u + v * v).To(DType::kFloat32).value();
  }
  const Expr larger = Max(x, y), smaller = Min(x, y);
  const Expr ratio = Where(larger == 0.0, 0.0, smaller / larger);
  return Where(IsInf(larger), larger, larger * Sqrt(ratio * ratio + 1.0)).value();
}
Value* Angle(TfArgs& a) {
  a.Ignore("Tout");
  const Expr pairs = PairsIn(a);
  return AngleOf(a, PartOf(a, pairs, 1).value(), PartOf(a, pairs, 0).value());
}

}  // namespace

X2IR_TF(dft).From({{"RFFT", Rfft}, {"IRFFT", Irfft}, {"FFT", Fft<false>}, {"IFFT", Fft<true>}});
X2IR_TF(concat).From("Complex", Complex);
X2IR_TF(gather).From({{"Real", Part<0>}, {"Imag", Part<1>}});
X2IR_TF(sqrt).From("ComplexAbs", ComplexAbs);
X2IR_TF(atan).From("Angle", Angle);

}  // namespace x2ir
