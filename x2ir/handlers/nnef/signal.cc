// NNEF: tract's Fourier transforms. The last axis holds real and imaginary parts; an inverse one is
// not divided by the number of elements.
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

Expr Fourier(NnefArgs& a, const Expr& x, int64_t axis, bool inverse) {
  return x.Op("dft", {nullptr, a.b().Int(axis)}, {{"inverse", inverse ? 1 : 0}, {"onesided", 0}});
}
int64_t TakeFourierAxis(NnefArgs& a) {
  const int64_t rank = a.RankOf();
  const int64_t axis = a.AxisOf(a.Integer("axis"));
  a.Require(rank >= 2 && axis < rank - 1 && DimAt(a.in(0), rank - 1) == Dim(2),
            "a transform of what has no real and imaginary parts");
  return axis;
}
Value* FftRow(NnefArgs& a) {
  const int64_t axis = TakeFourierAxis(a);
  const bool inverse = a.Flag("inverse");
  const Expr y = Fourier(a, a.in(0), axis, inverse);
  if (!inverse) return y;
  const Dim size = DimAt(a.in(0), axis);
  a.Require(size.is_static(), "an inverse transform along an axis of unknown size");
  return y * static_cast<double>(size.value());
}
// Frames of the axis are an axis of their own, in front of that of their elements.
Value* StftRow(NnefArgs& a) {
  const int64_t axis = TakeFourierAxis(a), frame = a.Integer("frame"), stride = a.Integer("stride");
  const Dim size = DimAt(a.in(0), axis);
  a.Require(size.is_static(), "frames of an axis of unknown size");
  if (frame < 1 || stride < 1 || size.value() < frame) a.Fail(Invalid("frames that do not fit"));
  const int64_t frames = (size.value() - frame) / stride + 1;
  constexpr int64_t kMost = int64_t{1} << 22;
  a.Require(frames <= kMost / frame, "so many frames");
  std::vector<int64_t> places;
  for (int64_t i = 0; i < frames; ++i) {
    for (int64_t k = 0; k < frame; ++k) places.push_back(i * stride + k);
  }
  Expr x = Gather(a.in(0), a.b().Constant(Tensor::Of<int64_t>({frames, frame}, places)), axis);
  if (a.Has("window")) {
    const Expr window = a.Tensor("window").To(x.dtype());
    a.Require(window.rank() == 1, "a window of another rank");
    x = x * AlongAxis(window, axis + 1, x.rank());
  }
  return Fourier(a, x, axis + 1, false);
}

absl::StatusOr<Value*> ToDft(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto length,
                        w.num_inputs() > 1 ? w.KnownInts(1, "dft_length") : std::nullopt);
  X2IR_ASSIGN_OR_RETURN(const auto given,
                        w.num_inputs() > 2 ? w.KnownInts(2, "axis") : std::nullopt);
  int64_t axis = given && given->size() == 1 ? (*given)[0] : rank - 2;
  axis += axis < 0 ? rank : 0;
  const auto sizes = KnownSizes(w.in(0));
  if (!sizes || rank < 2 || axis < 0 || axis > rank - 2) {
    return CannotExpress("a transform of operands of unknown size");
  }
  const int64_t size = (*sizes)[static_cast<size_t>(axis)];
  const bool inverse = w.Int("inverse") != 0, half = w.Int("onesided") != 0;
  if (size < 1 || (length && (length->size() != 1 || (*length)[0] != size))) {
    return CannotExpress("a transform of another length");
  }
  if (inverse && half) return CannotExpress("an inverse transform of half a spectrum");
  Expr x(w, w.in(0));
  if (sizes->back() == 1) {
    x = Concat(w, {x, Zeros(w, x.dtype(), *sizes)}, rank - 1);
  } else if (sizes->back() != 2) {
    return CannotExpress("a transform of what has no real and imaginary parts");
  }
  X2IR_ASSIGN_OR_RETURN(Value * y, w.Call("tract_core_fft", {{"input", x}},
                                          {{"axis", axis}, {"inverse", inverse ? 1 : 0}}));
  if (half) {
    return w.Call("slice", {{"input", y}},
                  {{"axes", Attribute::Ints{axis}},
                   {"begin", Attribute::Ints{0}},
                   {"end", Attribute::Ints{size / 2 + 1}}});
  }
  if (!inverse) return y;
  return w.Call("mul", {{"x", y}, {"y", w.Number(w.dtype(0), 1.0 / static_cast<double>(size))}});
}

}  // namespace

X2IR_NNEF(dft).From("tract_core_fft", FftRow).To("tract_core_fft", ToDft);
X2IR_NNEF(stft).From("tract_core_stft", StftRow);

}  // namespace x2ir
