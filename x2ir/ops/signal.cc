// Signal processing: dft, stft, the window functions and mel_weight_matrix.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/constants.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

using Complex = std::complex<double>;

// --- Fourier transform ----------------------------------------------------------------------

// e^(2 pi i k / n)
Complex Root(int64_t k, int64_t n) {
  const double angle = 2 * kPi * static_cast<double>(k) / static_cast<double>(n);
  return {portable::cos(angle), portable::sin(angle)};
}

// In place, for sizes that are powers of two; sign: of the exponent.
void TransformPowerOfTwo(std::vector<Complex>& x, int sign) {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j |= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  std::vector<Complex> roots(n / 2);
  for (size_t k = 0; k < roots.size(); ++k) {
    roots[k] = Root(sign * static_cast<int64_t>(k), static_cast<int64_t>(n));
  }
  for (size_t half = 1; half < n; half *= 2) {
    const size_t step = n / (2 * half);
    for (size_t at = 0; at < n; at += 2 * half) {
      for (size_t k = 0; k < half; ++k) {
        const Complex a = x[at + k], b = x[at + k + half] * roots[k * step];
        x[at + k] = a + b;
        x[at + k + half] = a - b;
      }
    }
  }
}

// In place, for any size; not scaled. Other sizes than powers of two become a convolution with a
// chirp (Bluestein).
void Transform(std::vector<Complex>& x, int sign) {
  const int64_t n = static_cast<int64_t>(x.size());
  if ((n & (n - 1)) == 0) return TransformPowerOfTwo(x, sign);
  size_t m = 1;
  while (m < static_cast<size_t>(2 * n - 1)) m *= 2;
  std::vector<Complex> chirp(n), a(m), b(m);
  for (int64_t k = 0; k < n; ++k) {
    chirp[k] = Root(sign * (k * k % (2 * n)), 2 * n);
    a[k] = x[k] * chirp[k];
    b[k] = std::conj(chirp[k]);
    if (k > 0) b[m - k] = b[k];
  }
  TransformPowerOfTwo(a, 1);
  TransformPowerOfTwo(b, 1);
  for (size_t k = 0; k < m; ++k) a[k] *= b[k];
  TransformPowerOfTwo(a, -1);
  for (int64_t k = 0; k < n; ++k) x[k] = a[k] / static_cast<double>(m) * chirp[k];
}

// A guard against lengths that take too long to compute.
constexpr int64_t kMaxLength = int64_t{1} << 26;

absl::Status CheckLength(int64_t n) {
  if (n < 1) return Invalid("length of a Fourier transform: expected from 1, got ", n);
  if (n > kMaxLength) return Unimplemented("a Fourier transform of length ", n);
  return absl::OkStatus();
}

// --- dft ------------------------------------------------------------------------------------

struct DftKind {
  bool inverse, onesided;
};

DftKind ReadDft(const AttributeMap& attrs) {
  return {attrs.Int("inverse") != 0, attrs.Int("onesided") != 0};
}

// What the last axis must be: one-sided spectra are those of real signals.
absl::Status CheckParts(DftKind kind, const Dim& parts) {
  if (!parts.is_static()) return absl::OkStatus();
  if (parts.value() != 1 && parts.value() != 2) {
    return Invalid("last axis: expected 1 or 2 (real and imaginary part), got ", parts.value());
  }
  if (kind.onesided && (parts.value() == 2) != kind.inverse) {
    return Invalid(kind.inverse ? "an inverse one-sided transform takes complex numbers"
                                : "a one-sided transform takes real numbers");
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> DftAxis(int64_t axis, int64_t rank) {
  X2IR_ASSIGN_OR_RETURN(axis, NormalizeAxis(axis, rank));
  if (axis == rank - 1) return Invalid("axis: the last one holds the parts of complex numbers");
  return axis;
}

absl::Status InferDft(InferContext& ctx) {
  const DftKind kind = ReadDft(ctx.attrs());
  const bool has_length = ctx.num_inputs() > 1 && ctx.has(1);
  const bool has_axis = ctx.num_inputs() > 2 && ctx.has(2);
  if (has_length) X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "dft_length"));
  if (has_axis) X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 2, "axis"));
  ctx.Set(0, ctx.dtype(0));
  const Shape* x = ctx.shape(0);
  if (!x) return absl::OkStatus();
  if (x->rank() < 2) return Invalid("input: expected rank 2 or more, got ", x->rank());
  X2IR_RETURN_IF_ERROR(CheckParts(kind, (*x)[x->rank() - 1]));
  const Dim given = has_axis ? ElementOf(ctx, 2) : Dim(-2);
  Shape out = Shape::UnknownDims(x->rank());
  if (given.is_static()) {
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, DftAxis(given.value(), x->rank()));
    out = *x;
    const bool spectrum_in = kind.onesided && kind.inverse;
    Dim n = has_length    ? ElementOf(ctx, 1)
            : spectrum_in ? ((*x)[axis] - Dim(1)) * Dim(2)
                          : (*x)[axis];
    if (n.is_static()) X2IR_RETURN_IF_ERROR(CheckLength(n.value()));
    out[axis] = kind.onesided && !kind.inverse ? FloorDiv(n, Dim(2)) + Dim(1) : n;
  }
  out[x->rank() - 1] = Dim(kind.onesided && kind.inverse ? 1 : 2);
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalDft(EvalContext& ctx) {
  const DftKind kind = ReadDft(ctx.attrs());
  const Tensor& x = ctx.input(0);
  if (!IsFloating(x.dtype())) return Unimplemented("evaluation of ", Name(x.dtype()));
  if (x.rank() < 2) return Invalid("input: expected rank 2 or more, got ", x.rank());
  X2IR_RETURN_IF_ERROR(CheckParts(kind, Dim(x.dims().back())));
  int64_t axis = -2;
  if (ctx.num_inputs() > 2 && ctx.has(2)) {
    X2IR_ASSIGN_OR_RETURN(axis, IntOperand(ctx, 2, "axis"));
  }
  X2IR_ASSIGN_OR_RETURN(axis, DftAxis(axis, x.rank()));
  const bool spectrum_in = kind.onesided && kind.inverse;
  int64_t n = spectrum_in ? 2 * (x.dim(axis) - 1) : x.dim(axis);
  if (ctx.num_inputs() > 1 && ctx.has(1)) {
    X2IR_ASSIGN_OR_RETURN(n, IntOperand(ctx, 1, "dft_length"));
  }
  X2IR_RETURN_IF_ERROR(CheckLength(n));
  const int64_t parts_in = x.dims().back(), parts_out = spectrum_in ? 1 : 2;
  const int64_t taken = std::min(x.dim(axis), spectrum_in ? n / 2 + 1 : n);
  std::vector<int64_t> dims = x.dims();
  dims[axis] = kind.onesided && !kind.inverse ? n / 2 + 1 : n;
  dims.back() = parts_out;
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, dims));
  // [outer, axis, inner, parts]
  const int64_t outer = Count(absl::MakeConstSpan(dims).subspan(0, axis));
  const int64_t inner = Count(absl::MakeConstSpan(dims).subspan(axis + 1, dims.size() - axis - 2));
  const Numbers<double> in(x);
  std::vector<double> out(Count(dims));
  std::vector<Complex> line;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      line.assign(n, Complex());
      for (int64_t k = 0; k < taken; ++k) {
        const int64_t at = ((o * x.dim(axis) + k) * inner + i) * parts_in;
        line[k] = Complex(in[at], parts_in == 2 ? in[at + 1] : 0);
        if (spectrum_in && k > 0 && 2 * k != n) line[n - k] = std::conj(line[k]);
      }
      Transform(line, kind.inverse ? 1 : -1);
      const double scale = kind.inverse ? 1.0 / static_cast<double>(n) : 1.0;
      for (int64_t k = 0; k < dims[axis]; ++k) {
        const int64_t at = ((o * dims[axis] + k) * inner + i) * parts_out;
        out[at] = line[k].real() * scale;
        if (parts_out == 2) out[at + 1] = line[k].imag() * scale;
      }
    }
  }
  return ctx.Return(FromNumbers<double>(x.dtype(), std::move(dims), out));
}

X2IR_OP(dft)
    .Signature("input, dft_length?, axis? -> output")
    .Attrs("inverse = 0, onesided = 0")
    .Functions(InferDft, EvalDft)
    .Opaque()
    .Heavy()
    .Doc(
        "The discrete Fourier transform along an axis (the last but one unless said); the last "
        "axis holds real and imaginary parts. One-sided: half the spectrum of a real signal.")
    .NeedsFloat32(float32_for::kSums);

// --- stft -----------------------------------------------------------------------------------

constexpr size_t kStep = 1, kWindow = 2, kFrame = 3;

absl::Status InferStft(InferContext& ctx) {
  const DftKind kind{false, ctx.attrs().Int("onesided") != 0};
  const bool has_window = ctx.num_inputs() > kWindow && ctx.has(kWindow);
  const bool has_frame = ctx.num_inputs() > kFrame && ctx.has(kFrame);
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, kStep, "frame_step"));
  if (has_frame) X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, kFrame, "frame_length"));
  DType dtype = ctx.dtype(0);
  const Shape* window = has_window ? ctx.shape(kWindow) : nullptr;
  if (window && window->rank() != 1) return Invalid("window: expected rank 1");
  if (has_window && dtype == DType::kUndefined) dtype = ctx.dtype(kWindow);
  const Shape* x = ctx.shape(0);
  if (x && x->rank() != 3) return Invalid("signal: expected rank 3, got ", x->rank());
  if (x) X2IR_RETURN_IF_ERROR(CheckParts(kind, (*x)[2]));
  Dim frame = has_frame ? ElementOf(ctx, kFrame) : Dim::Unknown();
  if (window) {
    X2IR_ASSIGN_OR_RETURN(frame, SameDim(frame, (*window)[0]));
  } else if (!has_window && !has_frame && x) {
    frame = (*x)[1];
  }
  const Dim step = ElementOf(ctx, kStep);
  if (step.is_static() && step.value() < 1) {
    return Invalid("frame_step: expected from 1, got ", step.value());
  }
  if (frame.is_static()) X2IR_RETURN_IF_ERROR(CheckLength(frame.value()));
  Shape out = Shape::UnknownDims(4);
  if (x) {
    out[0] = (*x)[0];
    if (step.is_static()) out[1] = Max(FloorDiv((*x)[1] - frame, step) + Dim(1), Dim(0));
  }
  out[2] = kind.onesided ? FloorDiv(frame, Dim(2)) + Dim(1) : frame;
  out[3] = Dim(2);
  return ctx.Return(dtype, std::move(out));
}

absl::Status EvalStft(EvalContext& ctx) {
  const DftKind kind{false, ctx.attrs().Int("onesided") != 0};
  const bool has_window = ctx.num_inputs() > kWindow && ctx.has(kWindow);
  const bool has_frame = ctx.num_inputs() > kFrame && ctx.has(kFrame);
  const Tensor& x = ctx.input(0);
  if (!IsFloating(x.dtype())) return Unimplemented("evaluation of ", Name(x.dtype()));
  if (x.rank() != 3) return Invalid("signal: expected rank 3, got ", x.rank());
  X2IR_RETURN_IF_ERROR(CheckParts(kind, Dim(x.dim(2))));
  X2IR_ASSIGN_OR_RETURN(const int64_t step, IntOperand(ctx, kStep, "frame_step"));
  if (step < 1) return Invalid("frame_step: expected from 1, got ", step);
  int64_t n = x.dim(1);
  std::optional<Numbers<double>> window;
  if (has_window) {
    const Tensor& w = ctx.input(kWindow);
    if (w.rank() != 1 || !IsFloating(w.dtype())) {
      return Invalid("window: expected floats of rank 1, got ", w.type().ToString());
    }
    n = w.dim(0);
    window.emplace(w);
  }
  if (has_frame) {
    X2IR_ASSIGN_OR_RETURN(n, IntOperand(ctx, kFrame, "frame_length"));
    if (window && window->size() != n) {
      return Invalid("window has ", window->size(), " numbers, a frame ", n);
    }
  }
  X2IR_RETURN_IF_ERROR(CheckLength(n));
  const int64_t frames = x.dim(1) < n ? 0 : (x.dim(1) - n) / step + 1;
  const int64_t bins = kind.onesided ? n / 2 + 1 : n, parts = x.dim(2);
  std::vector<int64_t> dims = {x.dim(0), frames, bins, 2};
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, dims));
  const Numbers<double> in(x);
  std::vector<double> out;
  out.reserve(Count(dims));
  std::vector<Complex> line;
  for (int64_t b = 0; b < (frames > 0 ? x.dim(0) : 0); ++b) {
    for (int64_t f = 0; f < frames; ++f) {
      line.assign(n, Complex());
      for (int64_t k = 0; k < n; ++k) {
        const int64_t at = (b * x.dim(1) + f * step + k) * parts;
        line[k] = Complex(in[at], parts == 2 ? in[at + 1] : 0) * (window ? (*window)[k] : 1.0);
      }
      Transform(line, -1);
      for (int64_t k = 0; k < bins; ++k) {
        out.push_back(line[k].real());
        out.push_back(line[k].imag());
      }
    }
  }
  return ctx.Return(FromNumbers<double>(x.dtype(), std::move(dims), out));
}

X2IR_OP(stft)
    .Signature("signal, frame_step, window?, frame_length? -> output")
    .Attrs("onesided = 1")
    .Functions(InferStft, EvalStft)
    .Opaque()
    .Heavy()
    .Doc(
        "The Fourier transform of each frame of a signal [batch, length, parts], times the window; "
        "a frame starts frame_step after the one before it.")
    .NeedsFloat32(float32_for::kSums);

// --- Window functions and mel_weight_matrix -------------------------------------------------

// The numeric type that attribute dtype names.
absl::StatusOr<DType> OutputType(const AttributeMap& attrs) {
  const std::optional<DType> dtype = ParseDType(attrs.String("dtype"));
  if (!dtype || !(IsFloating(*dtype) || IsInteger(*dtype))) {
    return Invalid("dtype: expected a real numeric type, got '", attrs.String("dtype"), "'");
  }
  return *dtype;
}

// Integers are cut off towards zero.
absl::Status SetNumbers(EvalContext& ctx, DType dtype, std::vector<int64_t> dims,
                        const std::vector<double>& values) {
  X2IR_ASSIGN_OR_RETURN(Tensor out, CastTensor(Tensor::Of<double>(std::move(dims), values), dtype));
  return ctx.Return(std::move(out));
}

absl::Status InferWindow(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, OutputType(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 0, "size"));
  const Dim size = ElementOf(ctx, 0);
  if (size.is_static() && size.value() < 0) return Invalid("size ", size.value(), " is negative");
  return ctx.Return(dtype, Shape{size});
}

// a0 - a1 cos(t) + a2 cos(2t) over one turn. Periodic: the turn ends where the next would start.
EvalFn CosineWindow(double a0, double a1, double a2) {
  return [=](EvalContext& ctx) -> absl::Status {
    X2IR_ASSIGN_OR_RETURN(const DType dtype, OutputType(ctx.attrs()));
    X2IR_ASSIGN_OR_RETURN(const int64_t size, IntOperand(ctx, 0, "size"));
    if (size < 0) return Invalid("size ", size, " is negative");
    X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, {size}));
    const double turn = static_cast<double>(ctx.attrs().Int("periodic") != 0 ? size : size - 1);
    std::vector<double> out(size);
    for (int64_t i = 0; i < size; ++i) {
      // A symmetric window of one element is 0/0, as the specification's formula has it.
      const double t = 2 * kPi * static_cast<double>(i) / turn;
      out[i] = a0 - a1 * portable::cos(t) + a2 * portable::cos(2 * t);
    }
    return SetNumbers(ctx, dtype, {size}, out);
  };
}

X2IR_OP(hann_window)
    .Signature("size -> output")
    .Attrs("dtype = 'float32', periodic = 1")
    .Functions(InferWindow, CosineWindow(0.5, 0.5, 0))
    .Opaque()
    .Doc("The Hann window of that size, 1/2 - 1/2 cos(t).")
    .AllowsFloat16();

X2IR_OP(hamming_window)
    .Signature("size -> output")
    .Attrs("dtype = 'float32', periodic = 1")
    .Functions(InferWindow, CosineWindow(25.0 / 46, 21.0 / 46, 0))
    .Opaque()
    .Doc("The Hamming window of that size, 25/46 - 21/46 cos(t).")
    .AllowsFloat16();

X2IR_OP(blackman_window)
    .Signature("size -> output")
    .Attrs("dtype = 'float32', periodic = 1")
    .Functions(InferWindow, CosineWindow(0.42, 0.5, 0.08))
    .Opaque()
    .Doc("The Blackman window of that size, 0.42 - 0.5 cos(t) + 0.08 cos(2t).")
    .AllowsFloat16();

absl::Status InferMel(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, OutputType(ctx.attrs()));
  constexpr std::string_view kNames[] = {"num_mel_bins", "dft_length", "sample_rate"};
  Dim sizes[3];
  for (size_t i = 0; i < 3; ++i) {
    X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, i, kNames[i]));
    sizes[i] = ElementOf(ctx, i);
    if (sizes[i].is_static() && sizes[i].value() < 0) {
      return Invalid(kNames[i], " ", sizes[i].value(), " is negative");
    }
  }
  return ctx.Return(dtype, Shape{FloorDiv(sizes[1], Dim(2)) + Dim(1), sizes[0]});
}

absl::StatusOr<double> NumberOperand(const EvalContext& ctx, size_t i, std::string_view name) {
  const Tensor& t = ctx.input(i);
  if (t.num_elements() != 1 || !IsFloating(t.dtype())) {
    return Invalid("operand '", name, "': expected one float, got ", t.type().ToString());
  }
  return t.AsDouble(0);
}

absl::Status EvalMel(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, OutputType(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const int64_t mels, IntOperand(ctx, 0, "num_mel_bins"));
  X2IR_ASSIGN_OR_RETURN(const int64_t length, IntOperand(ctx, 1, "dft_length"));
  X2IR_ASSIGN_OR_RETURN(const int64_t rate, IntOperand(ctx, 2, "sample_rate"));
  X2IR_ASSIGN_OR_RETURN(const double lowest, NumberOperand(ctx, 3, "lower_edge_hertz"));
  X2IR_ASSIGN_OR_RETURN(const double highest, NumberOperand(ctx, 4, "upper_edge_hertz"));
  if (mels < 0 || length < 0 || rate < 1) {
    return Invalid("expected num_mel_bins and dft_length from 0, sample_rate from 1; got ", mels,
                   ", ", length, " and ", rate);
  }
  const int64_t bins = length / 2 + 1;
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, {bins, mels}));
  // The edges of the triangles: mels + 2 places, even on the mel scale, as bins of the spectrum.
  const double low_mel = 2595 * portable::log10(1 + lowest / 700);
  const double high_mel = 2595 * portable::log10(1 + highest / 700);
  const double step = (high_mel - low_mel) / static_cast<double>(mels + 2);
  std::vector<int64_t> edges(mels + 2);
  for (size_t i = 0; i < edges.size(); ++i) {
    const double mel = static_cast<double>(i) * step + low_mel;
    const double hertz = 700 * (portable::pow(10, mel / 2595) - 1);
    const double bin =
        std::floor((static_cast<double>(length) + 1) * hertz / static_cast<double>(rate));
    // The last edge may be one past the spectrum: its bin is not part of the triangle.
    if (!(bin >= 0 && bin <= static_cast<double>(bins - (i + 1 < edges.size() ? 1 : 0)))) {
      return Invalid("frequency ", hertz, " is outside the spectrum");
    }
    edges[i] = static_cast<int64_t>(bin);
    if (i > 0 && edges[i] < edges[i - 1]) return Invalid("upper edge below the lower one");
  }
  std::vector<double> out(bins * mels, 0.0);
  for (int64_t i = 0; i < mels; ++i) {
    const int64_t low = edges[i], center = edges[i + 1], high = edges[i + 2];
    if (low == center) out[center * mels + i] = 1;
    for (int64_t j = low; low < center && j <= center; ++j) {
      out[j * mels + i] = static_cast<double>(j - low) / static_cast<double>(center - low);
    }
    for (int64_t j = center; j < high; ++j) {
      out[j * mels + i] = static_cast<double>(high - j) / static_cast<double>(high - center);
    }
  }
  return SetNumbers(ctx, dtype, {bins, mels}, out);
}

X2IR_OP(mel_weight_matrix)
    .Signature(
        "num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz -> output")
    .Attrs("dtype = 'float32'")
    .Functions(InferMel, EvalMel)
    .Opaque()
    .Doc(
        "The matrix that takes the one-sided spectrum of a signal to mel bins: triangles, one a "
        "column, between edges that are even on the mel scale.")
    .NeedsFloat32(float32_for::kSums);

}  // namespace
}  // namespace x2ir
