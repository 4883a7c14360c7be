// TensorFlow: spectrograms of sound, and what hearing makes of them. Sums are in float64, as
// TensorFlow's are.
#include <cmath>
#include <numbers>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

using std::numbers::pi;
constexpr int64_t kMaxElements = int64_t{1} << 24;

Expr Matrix(TfArgs& a, int64_t rows, const std::vector<double>& elements) {
  const int64_t columns = static_cast<int64_t>(elements.size()) / rows;
  return {a.b(), a.b().Constant(Tensor::Of<double>({rows, columns}, elements))};
}
Expr Times(const Expr& x, const Expr& matrix) { return x.Op("matmul", {matrix}); }

// [samples, channels] to [channels, frames, frequencies]: frames as long as the window, padded with
// zeros to a power of two.
absl::StatusOr<Value*> AudioSpectrogram(TfArgs& a) {
  const int64_t size = a.Int("window_size", 0), stride = a.Int("stride", 0);
  const bool squared = a.Bool("magnitude_squared", false);
  if (size < 2 || stride < 1) return Invalid("windows of ", size, ", ", stride, " apart");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank != 2) return Invalid("expected samples of rank 2, got ", rank);
  const Dim& length = (*a.shape(0))[0];
  if (!length.is_static()) return Unimplemented("the number of samples is not known");
  int64_t transformed = 1;
  while (transformed < size && transformed < kMaxElements) transformed *= 2;
  const int64_t frequencies = transformed / 2 + 1;
  const int64_t frames = length.value() < size ? 0 : (length.value() - size) / stride + 1;
  if (size > kMaxElements / frequencies || (frames > 0 && size > kMaxElements / frames)) {
    return Unimplemented("windows that large");
  }
  std::vector<int64_t> picks;
  for (int64_t i = 0; i < frames * size; ++i) picks.push_back(i / size * stride + i % size);
  // Hann's window is in the matrix of the transform.
  std::vector<double> cosines, sines;
  for (int64_t i = 0; i < size; ++i) {
    const double window =
        0.5 - 0.5 * portable::cos(2 * pi * static_cast<double>(i) / static_cast<double>(size));
    for (int64_t k = 0; k < frequencies; ++k) {
      const double angle =
          2 * pi * static_cast<double>(i * k % transformed) / static_cast<double>(transformed);
      cosines.push_back(window * portable::cos(angle));
      sines.push_back(window * portable::sin(angle));
    }
  }
  Value* places = a.b().Constant(Tensor::Of<int64_t>({frames, size}, picks));
  const Expr x(a.b(), Gather(Transpose(a.in(0), {1, 0}), places, 1));
  const Expr wide = x.To(DType::kFloat64);
  const Expr real = Times(wide, Matrix(a, size, cosines));
  const Expr imaginary = Times(wide, Matrix(a, size, sines));
  const Expr power = (real * real + imaginary * imaginary).To(DType::kFloat32);
  return (squared ? power : Sqrt(power)).value();
}

double Mel(double frequency) { return 1127 * portable::log1p(frequency / 700); }

// Triangles over the frequencies, one a channel, that reach from the center of the one before to
// that of the next on the mel scale. Frequencies are `hertz` apart.
std::vector<double> MelTriangles(int64_t frequencies, int64_t channels, double hertz, double lower,
                                 double upper) {
  const double low = Mel(lower), step = (Mel(upper) - low) / static_cast<double>(channels + 1);
  const auto first = static_cast<int64_t>(1.5 + lower / hertz);
  const auto last = static_cast<int64_t>(upper / hertz);
  const auto center = [&](int64_t channel) {
    return low + step * static_cast<double>(channel + 1);
  };
  std::vector<double> weights(static_cast<size_t>(frequencies * channels));
  int64_t above = 0;  // the channel whose center is the next one
  for (int64_t i = first; i <= last; ++i) {
    const double mel = Mel(static_cast<double>(i) * hertz);
    while (above < channels && center(above) < mel) ++above;
    const double falling = (center(above) - mel) / (center(above) - center(above - 1));
    if (above > 0) weights[static_cast<size_t>(i * channels + above - 1)] = falling;
    if (above < channels) weights[static_cast<size_t>(i * channels + above)] = 1 - falling;
  }
  return weights;
}

// Operands: squared magnitudes [channels, frames, frequencies] and the sample rate.
absl::StatusOr<Value*> Mfcc(TfArgs& a) {
  const double upper = a.Float("upper_frequency_limit", 4000);
  const double lower = a.Float("lower_frequency_limit", 20);
  const int64_t channels = a.Int("filterbank_channel_count", 40);
  const int64_t count = a.Int("dct_coefficient_count", 13);
  X2IR_ASSIGN_OR_RETURN(const int64_t rate, a.KnownInt(1, "sample_rate"));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank != 3) return Invalid("expected a spectrogram of rank 3, got ", rank);
  const Dim& frequencies = (*a.shape(0))[2];
  if (!frequencies.is_static()) return Unimplemented("the number of frequencies is not known");
  if (!(lower >= 0) || !(upper > lower) || rate < 1 || frequencies.value() < 2) {
    return Invalid("frequencies from ", lower, " to ", upper, " at a rate of ", rate);
  }
  const double hertz =
      0.5 * static_cast<double>(rate) / static_cast<double>(frequencies.value() - 1);
  if (!(upper / hertz < static_cast<double>(frequencies.value()))) {
    return Invalid("frequencies up to ", upper, " at a rate of ", rate);
  }
  if (channels < 1 || count < 1 || count > channels) {
    return Invalid(count, " coefficients of ", channels, " channels");
  }
  if (channels > kMaxElements / frequencies.value() || channels > 4096) {
    return Unimplemented("so many channels");
  }
  std::vector<double> cosines;
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t i = 0; i < count; ++i) {
      cosines.push_back(std::sqrt(2.0 / static_cast<double>(channels)) *
                        portable::cos(static_cast<double>(i) * pi / static_cast<double>(channels) *
                                      (static_cast<double>(channel) + 0.5)));
    }
  }
  const Expr magnitudes = Sqrt(Expr(a.b(), a.in(0)).To(DType::kFloat64));
  const std::vector<double> triangles =
      MelTriangles(frequencies.value(), channels, hertz, lower, upper);
  const Expr energies = Times(magnitudes, Matrix(a, frequencies.value(), triangles));
  const Expr logarithms = Log(Max(energies, 1e-12));
  return Times(logarithms, Matrix(a, channels, cosines)).To(DType::kFloat32).value();
}

}  // namespace

X2IR_TF(matmul).From({{"AudioSpectrogram", AudioSpectrogram}, {"Mfcc", Mfcc}});

}  // namespace x2ir
