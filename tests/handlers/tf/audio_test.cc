// TensorFlow's spectrograms against sums written out.
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/constant_rows_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

Tensor RunOn(const Tensor& x, std::string_view type, std::string_view lines) {
  auto model = ModelFromText(StrCat("graph g(x: ", type, ") -> (y) {\n", lines, "\n}"), "tf", 1);
  EXPECT_TRUE(model.ok()) << model.status();
  if (!model.ok()) return {};
  const absl::Status converted = ToIr(*model);
  EXPECT_TRUE(converted.ok()) << converted;
  if (!converted.ok()) return {};
  auto results = RunGraph(*model->graph, {Datum(x)});
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *(*results)[0].tensor() : Tensor();
}

TEST(TfAudio, Spectrogram) {
  constexpr int kSamples = 50, kChannels = 2, kSize = 12, kStride = 7, kFft = 16;
  std::vector<float> samples;
  for (int i = 0; i < kSamples * kChannels; ++i) {
    samples.push_back(static_cast<float>(std::sin(0.7 * i) + 0.3 * std::cos(2.1 * i)));
  }
  const Tensor x = Tensor::Of<float>({kSamples, kChannels}, samples);
  for (const bool squared : {false, true}) {
    const Tensor y = RunOn(
        x, "float32[50,2]",
        StrCat("y = tf.AudioSpectrogram(x) { window_size = 12, stride = 7, magnitude_squared = ",
               squared ? 1 : 0, " }"));
    ASSERT_EQ(y.dims(), (std::vector<int64_t>{2, 6, 9}));
    int64_t at = 0;
    for (int c = 0; c < kChannels; ++c) {
      for (int frame = 0; frame < 6; ++frame) {
        for (int k = 0; k <= kFft / 2; ++k, ++at) {
          std::complex<double> sum = 0;
          for (int i = 0; i < kSize; ++i) {
            const double window = std::pow(std::sin(M_PI * i / kSize), 2);
            sum += window * samples[(frame * kStride + i) * kChannels + c] *
                   std::polar(1.0, -2 * M_PI * i * k / kFft);
          }
          EXPECT_NEAR(y.AsDouble(at), squared ? std::norm(sum) : std::abs(sum), 2e-6);
        }
      }
    }
  }
}

TEST(TfAudio, Mfcc) {
  constexpr int kFrequencies = 65, kBands = 12, kCount = 5;
  constexpr double kHertz = 8000.0 / (kFrequencies - 1);
  std::vector<float> powers;
  for (int i = 0; i < kFrequencies; ++i) {
    powers.push_back(static_cast<float>(4 + i % 7 + 3 * std::sin(0.2 * i)));
  }
  const Tensor x = Tensor::Of<float>({1, 1, kFrequencies}, powers);
  const Tensor y = RunOn(x, "float32[1,1,65]",
                         "r = int32[]{16000}\n y = tf.Mfcc(x, r) { filterbank_channel_count = 12, "
                         "dct_coefficient_count = 5, lower_frequency_limit = 300.0, "
                         "upper_frequency_limit = 7000.0 }");
  ASSERT_EQ(y.dims(), (std::vector<int64_t>{1, 1, kCount}));
  const auto mel = [](double f) { return 1127 * std::log(1 + f / 700); };
  const double step = (mel(7000) - mel(300)) / (kBands + 1);
  std::vector<double> bands(kBands, 0);
  // From the first frequency that is nearer to the limit than half a step below it.
  for (int i = static_cast<int>(1.5 + 300 / kHertz); i <= static_cast<int>(7000 / kHertz); ++i) {
    for (int band = 0; band < kBands; ++band) {
      const double distance = (mel(i * kHertz) - mel(300)) / step - (band + 1);
      if (std::abs(distance) < 1) bands[band] += (1 - std::abs(distance)) * std::sqrt(powers[i]);
    }
  }
  for (int i = 0; i < kCount; ++i) {
    double sum = 0;
    for (int band = 0; band < kBands; ++band) {
      sum += std::log(std::max(bands[band], 1e-12)) * std::cos(M_PI * i * (band + 0.5) / kBands);
    }
    EXPECT_NEAR(y.AsDouble(i), sum * std::sqrt(2.0 / kBands), 1e-5) << i;
  }
}

TEST(TfAudio, Fourier) {
  ExpectConstantRows(std::vector<ConstantRow>{
      {"x = float64[2,4]{1,2,3,-1,1,2,1,2}\n n = int32[1]{4}\n c = tf.RFFT(x, n)\n "
       "r = tf.Real(c)\n i = tf.Imag(c)\n z = tf.IRFFT(c, n)\n y = tf.Round(r)\n w = tf.Round(i)\n "
       "v = tf.Round(z)",
       "y, w, v",
       "float64[2,3]{5, -2, 3, 6, 0, -2}; float64[2,3]{0, -3, 0, 0, 0, 0}; "
       "float64[2,4]{1, 2, 3, -1, 1, 2, 1, 2}"},
      // Cut, and with zeros behind.
      {"x = float32[3]{1,2,9}\n n = int32[1]{2}\n m = int32[1]{4}\n c = tf.RFFT(x, n)\n "
       "y = tf.Real(c)\n d = tf.RFFT(x, m)\n w = tf.ComplexAbs(d)\n u = tf.Round(w)",
       "y, u", "float32[2]{3, -1}; float32[3]{12, 8, 8}"},
      {"a = float32[2]{3e30,0}\n b = float32[]{4e30}\n c = tf.Complex(a, b)\n "
       "y = tf.ComplexAbs(c)\n w = tf.Imag(c)",
       "y, w", "float32[2]{5e+30, 4e+30}; float32[2]{4e+30, 4e+30}"},
      {"a = float64[4]{4e200,0,inf,-1}\n b = float64[4]{0,0,1,0}\n c = tf.Complex(a, b)\n "
       "y = tf.ComplexAbs(c)\n w = tf.Angle(c)\n z = tf.Round(w)",
       "y, z", "float64[4]{4e+200, 0, inf, 1}; float64[4]{0, 0, 0, 3}"},
      {"a = float32[2]{1,2}\n b = float32[2]{0,1}\n c = tf.Complex(a, b)\n d = tf.FFT(c)\n "
       "e = tf.IFFT(d)\n y = tf.Real(d)\n z = tf.Imag(d)\n v = tf.Imag(e)",
       "y, z, v", "float32[2]{3, -1}; float32[2]{1, -1}; float32[2]{0, 1}"},
      {"x = float32[3]{1,2,9}\n n = int32[1]{2}\n y = tf.RFFT(x, n)", "y",
       "error a result of complex numbers"},
      {"x = float32[3]{1,2,9}\n n = int32[1]{2}\n c = tf.RFFT(x, n)\n y = tf.Neg(c)", "y",
       "error complex numbers that go to Neg"},
  });
}

TEST(TfAudio, Refused) {
  ExpectConstantRows(std::vector<ConstantRow>{
      {"x = float32[3,1]{1,2,3}\n y = tf.AudioSpectrogram(x) { window_size = 8, stride = 2 }", "y",
       "float32[1,0,5]{}"},
      {"x = float32[3,1]{1,2,3}\n y = tf.AudioSpectrogram(x) { window_size = 1, stride = 2 }", "y",
       "error windows of 1"},
      {"x = float32[1,1,3]{1,2,3}\n r = int32[]{8000}\n y = tf.Mfcc(x, r) { "
       "upper_frequency_limit = 9000.0 }",
       "y", "error frequencies up to 9000"},
      {"x = float32[1,1,3]{1,2,3}\n r = int32[]{8000}\n y = tf.Mfcc(x, r) { "
       "dct_coefficient_count = 41 }",
       "y", "error 41 coefficients"},
  });
}

}  // namespace
}  // namespace x2ir
