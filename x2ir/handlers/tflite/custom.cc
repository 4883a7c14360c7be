// TFLite: custom operators whose kernels are published.
#include "x2ir/handlers/tflite/tflite.h"

namespace x2ir {
namespace {

Value* AudioSpectrogram(TfliteArgs& a) {
  return AsTf(a, "AudioSpectrogram", {a.in(0)},
              {{"window_size", a.Int("window_size", 0)},
               {"stride", a.Int("stride", 0)},
               {"magnitude_squared", a.Bool("magnitude_squared", false)}})[0];
}

Value* Mfcc(TfliteArgs& a) {
  const auto number = [&](const char* name, double or_else) {
    const Attribute* attr = a.attrs().Find(name);
    a.Ignore(name);
    if (!attr) return static_cast<float>(or_else);
    if (const auto* n = attr->get<int64_t>()) return static_cast<float>(*n);
    return static_cast<float>(a.attrs().Float(name));
  };
  return AsTf(a, "Mfcc", a.inputs(),
              {{"upper_frequency_limit", number("upper_frequency_limit", 4000)},
               {"lower_frequency_limit", number("lower_frequency_limit", 20)},
               {"filterbank_channel_count", a.Int("filterbank_channel_count", 40)},
               {"dct_coefficient_count", a.Int("dct_coefficient_count", 13)}})[0];
}

}  // namespace

X2IR_TFLITE(matmul).From("custom::AudioSpectrogram", AudioSpectrogram).From("custom::Mfcc", Mfcc);

}  // namespace x2ir
