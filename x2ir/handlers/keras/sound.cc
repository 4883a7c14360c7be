// Keras: spectrograms of sound.
#include <cmath>
#include <numbers>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/keras/conv.h"
#include "x2ir/handlers/keras/keras.h"
#include "x2ir/handlers/tf/binary.h"

namespace x2ir {
namespace {

using std::numbers::pi;
constexpr int64_t kMaxSamples = int64_t{1} << 24;

// --- By kernels that were trained ----------------------------------------------------------------

// [batch, samples, channels] by kernels [frame, 1, frequencies].
Value* StftSpectrogram(KerasArgs& a) {
  for (const char* name : {"window", "periodic", "scaling"}) a.Ignore(name);  // are in the kernels
  const std::string mode = a.Text("mode", "log");
  const int64_t frame = a.Integer("frame_length", 256), step = a.Integer("frame_step", frame / 2);
  a.Ignore("fft_length");
  const bool expand = a.Flag("expand_dims", false), last = a.ChannelsLast();
  std::vector<std::string> names;
  if (mode != "imag") names.emplace_back("real kernel");
  if (mode != "real") names.emplace_back("imaginary kernel");
  const std::vector<Expr> w = a.Weights(names);
  Expr x = a.tensor();
  if (a.RankOf(x) != 3) a.Fail(Invalid("a signal of ", a.RankOf(x), " axes"));
  if (frame < 1 || step < 1 || frame > kMaxSamples) a.Fail(Invalid("frames of ", frame));
  if (last) x = Transpose(x, {0, 2, 1});
  const Size batch = SizeAt(x, 0), channels = SizeAt(x, 1);
  Window window{.kernel = {frame}, .strides = {step}, .dilations = {1}};
  SetPadding(a, a.Text("padding", "valid"), &window);
  const Expr rows = ReshapeTo(x, {Times(a, batch, channels), Size(1), SizeAt(x, 2)});
  // [batch, channels, frequencies, frames].
  const auto by = [&](const Expr& kernel) {
    const Expr y = ConvolveKeras(a, rows, kernel, window);
    return ReshapeTo(y, {batch, channels, SizeAt(y, 1), Size(-1)});
  };
  const auto placed = [&](const Expr& y) {
    if (expand)
      return Transpose(y,
                       last ? std::vector<int64_t>{0, 3, 2, 1} : std::vector<int64_t>{0, 1, 3, 2});
    const Expr flat = ReshapeTo(y, {batch, Times(a, channels, SizeAt(y, 2)), SizeAt(y, 3)});
    return last ? Transpose(flat, {0, 2, 1}) : flat;
  };
  const Expr one = by(w[0]);
  if (mode == "real" || mode == "imag") return placed(one);
  const Expr other = by(w[1]);
  if (mode == "stft") return placed(Concat(a, {one, other}, 2));
  if (mode == "angle") return placed({a, AngleOf(a, other, one)});
  const Expr power = Square(one) + Square(other);
  if (mode == "psd") {
    const Expr inner = Slice(power, 2, Size(1), Size(-1));
    const Expr twice = inner.Op("pad", {a.b().Ints({0, 0, 1, 0, 0, 0, 1, 0}), inner.Number(0)});
    return placed(power + twice);
  }
  const Expr magnitude = placed(Sqrt(Max(power, 1e-7)));
  if (mode == "magnitude") return magnitude;
  a.Require(mode == "log", StrCat("mode '", mode, "'"));
  return Log(Max(magnitude, 1e-7));
}

// --- On the scale of what is heard ---------------------------------------------------------------

struct MelSettings {
  int64_t transformed, step, length, rate, bins;
  double low, high;
};

// A window as long as the transform, in its middle.
std::vector<double> WindowOfMel(KerasArgs& a, const MelSettings& m) {
  const std::string name = a.Given("window") ? a.Text("window") : "";
  a.Require(name.empty() || name == "hann" || name == "hamming", StrCat("window '", name, "'"));
  std::vector<double> window(static_cast<size_t>(m.transformed), name.empty() ? 1 : 0);
  if (name.empty()) return window;
  // Of odd lengths backends of Keras have different ones.
  a.Require(m.length % 2 == 0, "a window of odd length");
  const double first = name == "hann" ? 0.5 : 0.54;
  const auto before = static_cast<size_t>((m.transformed - m.length) / 2);
  for (int64_t i = 0; i < m.length; ++i) {
    window[before + static_cast<size_t>(i)] =
        first - (1 - first) *
                    portable::cos(2 * pi * static_cast<double>(i) / static_cast<double>(m.length));
  }
  return window;
}

// Triangles that are straight on the scale of mel: [frequencies, bins].
std::vector<double> MelWeights(const MelSettings& m) {
  const auto mel = [](double hertz) { return 1127.0 * portable::log(1 + hertz / 700.0); };
  const int64_t frequencies = m.transformed / 2 + 1;
  const double from = mel(m.low), step = (mel(m.high) - from) / static_cast<double>(m.bins + 1);
  std::vector<double> weights(static_cast<size_t>(frequencies * m.bins), 0.0);
  for (int64_t f = 1; f < frequencies; ++f) {
    const double at = mel(static_cast<double>(m.rate) / 2 * static_cast<double>(f) /
                          static_cast<double>(frequencies - 1));
    for (int64_t b = 0; b < m.bins; ++b) {
      const double left = from + step * static_cast<double>(b);
      const double rises = (at - left) / step, falls = (left + 2 * step - at) / step;
      weights[static_cast<size_t>(f * m.bins + b)] = std::max(0.0, std::min(rises, falls));
    }
  }
  return weights;
}

// [batch, samples] to [batch, bins, frames].
Value* MelSpectrogram(KerasArgs& a) {
  MelSettings m;
  m.transformed = a.Integer("fft_length", 2048);
  m.step = a.Integer("sequence_stride", 512);
  m.length = a.Integer("sequence_length", m.transformed);
  m.rate = a.Integer("sampling_rate", 16000);
  m.bins = a.Integer("num_mel_bins", 128);
  m.low = a.Number("min_freq", 20);
  m.high = a.Number("max_freq", static_cast<double>(m.rate / 2));
  const double exponent = a.Number("mag_exp", 2), top = a.Number("top_db", 80),
               least = a.Number("min_power", 1e-10), reference = a.Number("ref_power", 1);
  const bool decibels = a.Flag("power_to_db", true);
  Expr x = a.tensor();
  const int64_t rank = a.RankOf(x);
  const Dim samples = DimAt(x, rank - 1);
  if (rank != 1 && rank != 2) a.Fail(Invalid("a signal of ", rank, " axes"));
  a.Require(samples.is_static(), "a signal whose length is not known");
  const int64_t half = m.transformed / 2, count = samples.value() + 2 * half;
  if (m.transformed < 2 || m.transformed > 65536 || m.step < 1 || m.length < 1 || m.bins < 1 ||
      m.length > m.transformed || m.bins > 4096 || samples.value() <= half || least <= 0) {
    a.Fail(Invalid("its settings make no sense for ", samples.value(), " samples"));
  }
  const int64_t frames = (count - m.transformed) / m.step + 1, frequencies = half + 1;
  if (count > kMaxSamples || frames > kMaxSamples / m.transformed ||
      frequencies > kMaxSamples / m.transformed) {
    a.Fail(Unimplemented("a signal that long"));
  }
  // Samples before the first and after the last are mirrored.
  std::vector<int64_t> places;
  for (int64_t i = 0; i < frames * m.transformed; ++i) {
    int64_t at = i / m.transformed * m.step + i % m.transformed - half;
    if (at < 0) at = -at;
    if (at >= samples.value()) at = 2 * (samples.value() - 1) - at;
    places.push_back(at);
  }
  const std::vector<double> window = WindowOfMel(a, m);
  std::vector<double> cosines, sines;
  for (int64_t i = 0; i < m.transformed; ++i) {
    for (int64_t k = 0; k < frequencies; ++k) {
      const double angle =
          2 * pi * static_cast<double>(i * k % m.transformed) / static_cast<double>(m.transformed);
      cosines.push_back(window[static_cast<size_t>(i)] * portable::cos(angle));
      sines.push_back(window[static_cast<size_t>(i)] * portable::sin(angle));
    }
  }
  const DType type = AtLeastFloat32(x.dtype());
  Value* index = a.b().Constant(Tensor::Of<int64_t>({frames, m.transformed}, places), "frames");
  const Expr parts = Gather(x.To(type), index, -1);
  const std::vector<int64_t> dims = {m.transformed, frequencies};
  const Expr real = MatMul(parts, NumbersAs(a, type, dims, cosines, "cosines")),
             imaginary = MatMul(parts, NumbersAs(a, type, dims, sines, "sines"));
  Expr power = Square(real) + Square(imaginary);
  if (exponent != 2) power = Pow(Sqrt(power), exponent);
  Expr y = MatMul(power, NumbersAs(a, type, {frequencies, m.bins}, MelWeights(m), "mel"));
  if (decibels) {
    const double scale = 10 / portable::log(10.0);
    y = Log(Max(y, least)) * scale - scale * portable::log(std::max(std::fabs(reference), least));
    y = Max(y, Reduce(y, "reduce_max", {}) - top);
  }
  return SwapLast(y).To(x.dtype());
}

}  // namespace

X2IR_KERAS(conv).From("STFTSpectrogram", StftSpectrogram);
X2IR_KERAS(matmul).From("MelSpectrogram", MelSpectrogram);

}  // namespace x2ir
