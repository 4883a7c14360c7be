// TensorFlow: images scaled and moved, with a kernel that may be as wide as what becomes one pixel.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/tf/taps.h"

namespace x2ir {
namespace {

// A kernel over distances from 0 on, in float32; nothing is left of it beyond the radius.
struct Kernel {
  std::string_view name;
  float radius;
  float (*at)(float);
};

template <int kRadius>
float Lanczos(float x) {
  constexpr float kPi = 3.14159265359f, kWidth = kRadius;
  if (x > kWidth) return 0;
  if (x <= 1e-3) return 1;
  return kWidth * portable::sin(kPi * x) * portable::sin(kPi * x / kWidth) / (kPi * kPi * x * x);
}
float Gaussian(float x) {
  constexpr float kSigma = 0.5f;
  return x >= 3 * kSigma ? 0 : static_cast<float>(portable::exp(-x * x / (2.0 * kSigma * kSigma)));
}
float Box(float x) { return x < 0.5f ? 1 : x == 0.5f ? 0.5f : 0; }
float Triangle(float x) { return x < 1 ? 1 - x : 0; }
float KeysCubic(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : ((1.5f * x - 2.5f) * x) * x + 1;
}
float MitchellCubic(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? (((-7.0f / 18) * x + 2) * x - 10.0f / 3) * x + 16.0f / 9
                : (((7.0f / 6) * x - 2) * x) * x + 8.0f / 9;
}

constexpr Kernel kKernels[] = {
    {"lanczos1", 1, Lanczos<1>},
    {"lanczos3", 3, Lanczos<3>},
    {"lanczos5", 5, Lanczos<5>},
    {"gaussian", 1.5f, Gaussian},
    {"box", 1, Box},
    {"triangle", 1, Triangle},
    {"keyscubic", 2, KeysCubic},
    {"mitchellcubic", 2, MitchellCubic},
};

struct ScaledAxis {
  int64_t in, out;
  float scale, translation;
};
constexpr int64_t kMaxTaps = int64_t{1} << 22;

// Weights add up to 1; a result from outside of the image is 0.
absl::StatusOr<Taps> TapsOf(const Kernel& kernel, const ScaledAxis& axis, bool antialias) {
  const auto inverse = static_cast<float>(1.0 / axis.scale);
  const float shift = -inverse * axis.translation;
  const float width = antialias ? std::max(inverse, 1.0f) : 1.0f;
  const float reach = kernel.radius * width, narrow = 1 / width;
  if (!(reach < static_cast<float>(kMaxTaps))) return Unimplemented("a scale of ", axis.scale);
  Taps taps;
  taps.each = std::min(2 * static_cast<int64_t>(std::ceil(reach)) + 1, axis.in);
  if (axis.out > kMaxTaps / taps.each) return Unimplemented("sizes that large");
  const auto inside = [&](float position) {
    return static_cast<int64_t>(std::clamp(position, 0.0f, static_cast<float>(axis.in - 1)));
  };
  for (int64_t o = 0; o < axis.out; ++o) {
    const float center = (static_cast<float>(o) + 0.5f) * inverse + shift;
    const bool outside = !(center >= 0 && center <= static_cast<float>(axis.in));
    const int64_t first = outside ? 0 : inside(std::ceil(center - reach - 0.5f));
    const int64_t last = outside ? -1 : inside(std::floor(center + reach - 0.5f));
    std::vector<float> weights;
    float sum = 0;
    for (int64_t i = first; i <= last && i - first < taps.each; ++i) {
      weights.push_back(kernel.at(std::abs((static_cast<float>(i) + 0.5f - center) * narrow)));
      sum += weights.back();
    }
    const bool counts = std::abs(sum) >= 1000 * std::numeric_limits<float>::min();
    const float share = counts ? 1 / sum : 0;
    weights.resize(static_cast<size_t>(taps.each), 0);
    for (size_t k = 0; k < weights.size(); ++k) {
      taps.picks.push_back(std::min(first + static_cast<int64_t>(k), axis.in - 1));
      taps.weights.push_back(counts ? weights[k] * share : 0);
    }
  }
  return taps;
}

absl::StatusOr<std::vector<float>> TwoFloats(TfArgs& a, size_t i) {
  const Tensor* constant = ConstantBehind(a.in(i));
  if (!constant) return Unimplemented("operand ", i, " is computed; expected a constant");
  if (constant->num_elements() != 2 || constant->dtype() != DType::kFloat32) {
    return Invalid("operand ", i, ": expected two numbers of float32");
  }
  return std::vector<float>{static_cast<float>(constant->AsDouble(0)),
                            static_cast<float>(constant->AsDouble(1))};
}

// Operands: images [batch, rows, columns, channels], the new size, scales and translations of both
// axes.
absl::StatusOr<Value*> ScaleAndTranslate(TfArgs& a) {
  const std::string name = a.String("kernel_type", "lanczos3");
  const bool antialias = a.Bool("antialias", true);
  const auto* kernel = std::find_if(std::begin(kKernels), std::end(kKernels),
                                    [&](const Kernel& k) { return k.name == name; });
  if (kernel == std::end(kKernels)) return Invalid("kernel_type '", name, "'");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank != 4) return Invalid("expected images of rank 4, got ", rank);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, a.KnownInts(1, "size"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<float> scales, TwoFloats(a, 2));
  X2IR_ASSIGN_OR_RETURN(const std::vector<float> translations, TwoFloats(a, 3));
  if (sizes.size() != 2) return Invalid("expected two sizes, got ", sizes.size());
  Value* x = a.Cast(a.in(0), DType::kFloat32);
  for (size_t i = 0; i < 2; ++i) {
    const auto axis = static_cast<int64_t>(i + 1);
    const Dim& in = (*a.shape(0))[axis];
    if (!in.is_static()) return Unimplemented("sizes that are not known");
    if (sizes[i] < 1 || in.value() < 1)
      return Invalid("images of ", in.value(), " made ", sizes[i]);
    if (!(scales[i] > 0)) return Invalid("a scale of ", scales[i]);
    X2IR_ASSIGN_OR_RETURN(
        const Taps taps,
        TapsOf(*kernel, {in.value(), sizes[i], scales[i], translations[i]}, antialias));
    x = ApplyTaps(a, x, axis, taps);
  }
  return x;
}

}  // namespace

X2IR_TF(gather).From("ScaleAndTranslate", ScaleAndTranslate);

}  // namespace x2ir
