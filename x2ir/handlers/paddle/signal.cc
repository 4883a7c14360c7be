// Fourier transforms, statistics and parts of tensors.

#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// 0: as it is; 1: divided by the length; 2: by its root.
int64_t NormalizationOf(PaddleArgs& a, bool forward) {
  const std::string name = a.String("normalization", "backward");
  if (name == "ortho") return 1;
  a.Require(name == "backward" || name == "forward", StrCat("a normalization ", name));
  return (name == "forward") == forward ? 2 : 0;
}

DType RealOf(DType t) {
  return t == DType::kComplex64 ? DType::kFloat32 : t == DType::kComplex128 ? DType::kFloat64 : t;
}

DType ComplexOf(DType t) {
  return t == DType::kFloat64 ? DType::kComplex128 : IsComplex(t) ? t : DType::kComplex64;
}

Expr FourierComplex(PaddleArgs& a) {
  const Expr x = a.X();
  const bool forward = a.Bool("forward", true);
  const int64_t normalization = NormalizationOf(a, forward);
  return AsTorch(a, "aten::_fft_c2c.default",
                 {{"self", x},
                  {"dim", Attribute(a.Ints("axes"))},
                  {"normalization", normalization},
                  {"forward", forward}},
                 x.dtype());
}

Expr FourierReal(PaddleArgs& a) {
  const Expr x = a.X();
  const bool forward = a.Bool("forward", true), one = a.Bool("onesided", false);
  a.Require(forward, "a backward transform of reals");
  const int64_t normalization = NormalizationOf(a, forward);
  return AsTorch(a, "aten::_fft_r2c.default",
                 {{"self", x},
                  {"dim", Attribute(a.Ints("axes"))},
                  {"normalization", normalization},
                  {"onesided", one}},
                 ComplexOf(x.dtype()));
}

// Of frames times a window.
Expr ShortTimeFourier(PaddleArgs& a) {
  const Expr x = a.X(), window = a.X("Window");
  const int64_t size = a.Int("n_fft", 1);
  return AsTorch(a, "aten::stft.default",
                 {{"self", x},
                  {"n_fft", size},
                  {"hop_length", a.Int("hop_length", 1)},
                  {"win_length", size},
                  {"window", window},
                  {"normalized", a.Bool("normalized", false)},
                  {"onesided", a.Bool("onesided", true)},
                  {"return_complex", true}},
                 ComplexOf(x.dtype()));
}

Expr FourierBack(PaddleArgs& a) {
  const Expr x = a.X();
  const bool forward = a.Bool("forward", false);
  a.Require(!forward, "a forward transform to reals");
  const std::vector<int64_t> axes = a.Ints("axes");
  int64_t last = a.Int("last_dim_size", 0);
  if (last == 0) {
    a.Require(!axes.empty(), "no axes");
    const Dim half = DimAt(x, a.Axis(axes.back(), x));
    a.Require(half.is_static(), "an axis of unknown size");
    last = 2 * (half.value() - 1);
  }
  const int64_t normalization = NormalizationOf(a, forward);
  return AsTorch(a, "aten::_fft_c2r.default",
                 {{"self", x},
                  {"dim", Attribute(axes)},
                  {"normalization", normalization},
                  {"last_dim_size", last}},
                 RealOf(x.dtype()));
}

}  // namespace

X2IR_PADDLE(stft).From("stft", ShortTimeFourier);
X2IR_PADDLE(dft).From({{"fft_c2c", FourierComplex},
                       {"fft_r2c", FourierReal},
                       {"fft_c2r", FourierBack}});

}  // namespace x2ir
