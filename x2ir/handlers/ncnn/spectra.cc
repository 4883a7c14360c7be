// ncnn: spectra of lists in windows, and back. A window's transform is a convolution with waves.
#include <cmath>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

constexpr int64_t kLargest = 2048;  // windows; the waves have twice the square of it
constexpr double kPi = 3.14159265358979323846;

struct Waves {
  int64_t size = 0, step = 0;  // of windows: their numbers, and from one to the next
  std::vector<double> window;  // a factor for each number
  double norm = 1;             // of forward transforms
  bool centred = false;        // the first window's middle is the first number
};
absl::StatusOr<Waves> WavesOf(NcnnArgs& a) {
  Waves w;
  w.size = a.Int(0, 0);
  w.step = a.Int(2, w.size / 4);
  const int64_t length = a.Int(3, w.size), kind = a.Int(4, 0), normalized = a.Int(7, 0);
  w.centred = a.Flag(5, true);
  if (w.size < 2 || w.step < 1 || length < 1 || length > w.size) {
    return Invalid("windows of ", length, " in ", w.size, " numbers, steps of ", w.step);
  }
  a.Require(w.size <= kLargest, StrCat("windows of more than ", kLargest, " numbers"));
  if (kind < 0 || kind > 2 || normalized < 0 || normalized > 2) {
    return Unimplemented("window_type ", kind, ", normalized ", normalized);
  }
  w.window.assign(static_cast<size_t>(w.size), 0);
  double squares = 0;
  for (int64_t i = 0; i < length; ++i) {
    const double wave =
        portable::cos(2 * kPi * static_cast<double>(i) / static_cast<double>(length));
    const double factor = kind == 0 ? 1 : kind == 1 ? 0.5 * (1 - wave) : 0.54 - 0.46 * wave;
    w.window[static_cast<size_t>((w.size - length) / 2 + i)] = factor;
    squares += factor * factor;
  }
  if (normalized == 1) w.norm = 1 / std::sqrt(static_cast<double>(w.size));
  if (normalized == 2) w.norm = 1 / std::sqrt(squares);
  return w;
}
// cos or sin of frequency f at number i: of whole turns, so that large numbers lose nothing.
double Wave(double (*fn)(double), int64_t f, int64_t i, int64_t size) {
  return fn(2 * kPi * static_cast<double>(f * i % size) / static_cast<double>(size));
}

absl::StatusOr<Value*> Spectrogram(NcnnArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Waves w, WavesOf(a));
  static constexpr const char* kModes[] = {"constant", "edge", "reflect"};
  const int64_t power = a.Int(1, 0), padding = a.Int(6, 2);
  const int64_t count = a.Flag(8, true) ? w.size / 2 + 1 : w.size;
  if (power < 0 || power > 2 || padding < 0 || padding > 2) {
    return Unimplemented("power ", power, ", pad_type ", padding);
  }
  if (a.RankOf() != 2) return Invalid("a spectrum of what is no list");
  Expr x = a.in(0);
  if (w.centred) {
    std::vector<Value*> operands = {x, a.b().Ints({0, w.size / 2, 0, w.size / 2})};
    if (padding == 0) operands.push_back(x.Number(0));
    x = a.Op("pad", std::move(operands), {{"mode", kModes[padding]}});
  }
  std::vector<double> kernel;
  for (double (*fn)(double) : {static_cast<double (*)(double)>(portable::cos),
                               static_cast<double (*)(double)>(portable::sin)}) {
    const double sign = kernel.empty() ? w.norm : -w.norm;
    for (int64_t f = 0; f < count; ++f) {
      for (int64_t i = 0; i < w.size; ++i) {
        kernel.push_back(sign * w.window[static_cast<size_t>(i)] * Wave(fn, f, i, w.size));
      }
    }
  }
  const Window window = {{w.size}, {w.step}, {1}, {0, 0}};
  const Expr both = Convolve(a, Unsqueeze(x, {1}),
                             NumbersAs(a, x.dtype(), {2 * count, 1, w.size}, kernel, "waves"),
                             nullptr, window, 1);
  const Expr re = Slice(both, 1, Size(0), Size(count)),
             im = Slice(both, 1, Size(count), Size(2 * count));
  if (power == 0) return Stack(a, {re, im}, 3).value();
  const Expr squares = Square(re) + Square(im);
  return (power == 1 ? Sqrt(squares) : squares).value();
}

// Operand [1, frequencies, windows, 2]; of half the frequencies the others are their mirror. What
// windows overlap is divided by the sum of their squares.
absl::StatusOr<Value*> InverseSpectrogram(NcnnArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Waves w, WavesOf(a));
  const int64_t returns = a.Int(1, 0);
  if (returns < 0 || returns > 2) return Unimplemented("returns ", returns);
  const auto sizes = KnownSizes(a.in(0), 1, 2);
  a.Require(sizes && a.RankOf() == 4, "a spectrum of unknown size");
  const int64_t count = (*sizes)[0], half = w.size / 2 + 1;
  if (count != half && count != w.size) {
    return Invalid("a spectrum of ", count, " for windows of ", w.size);
  }
  // How much each part of each frequency gives each number of the window.
  std::vector<double> real(static_cast<size_t>(2 * count * w.size), 0), imaginary = real;
  for (int64_t f = 0; f < w.size; ++f) {
    const bool mirrored = f >= count;
    const int64_t from = mirrored ? w.size - f : f;
    const double sign = mirrored ? -1 : 1;
    for (int64_t i = 0; i < w.size; ++i) {
      const double factor = w.window[static_cast<size_t>(i)] / w.norm / static_cast<double>(w.size);
      const double c = factor * Wave(portable::cos, f, i, w.size),
                   s = factor * Wave(portable::sin, f, i, w.size);
      const auto re = static_cast<size_t>(from * w.size + i),
                 im = static_cast<size_t>((count + from) * w.size + i);
      real[re] += c;
      real[im] -= sign * s;
      imaginary[re] += s;
      imaginary[im] += sign * c;
    }
  }
  const Expr parts = Transpose(a.in(0), {0, 3, 1, 2});  // [1, 2, frequencies, windows]
  const Expr x = ReshapeTo(parts, {Size(1), Size(2 * count), SizeAt(a.in(0), 2)});
  const AttributeMap attrs = {{"strides", {w.step}}};
  const auto spread = [&](const Expr& of, std::vector<int64_t> dims,
                          const std::vector<double>& by) {
    const Expr whole =
        a.Op("conv_transpose", {of, NumbersAs(a, x.dtype(), std::move(dims), by, "waves")}, attrs);
    if (!w.centred) return whole;
    return Slice(whole, 2, Size(w.size / 2), Size(-(w.size / 2)));
  };
  std::vector<double> squares;
  for (const double factor : w.window) squares.push_back(factor * factor);
  const Expr ones = Filled(a, x.dtype(), {Size(1), Size(1), SizeAt(x, 2)}, 1);
  const Expr weight = spread(ones, {1, 1, w.size}, squares);
  const auto part = [&](const std::vector<double>& by) {
    return Squeeze(spread(x, {2 * count, 1, w.size}, by) / weight, {1});
  };
  if (returns == 0) return Stack(a, {part(real), part(imaginary)}, 2).value();
  return part(returns == 1 ? real : imaginary).value();
}

}  // namespace

X2IR_NCNN(conv).From("Spectrogram", Spectrogram);
X2IR_NCNN(conv_transpose).From("InverseSpectrogram", InverseSpectrogram);

}  // namespace x2ir
