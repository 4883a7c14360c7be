// TensorFlow: colours of images, whose last axis is red, green and blue.
#include <array>

#include "x2ir/builder/arrays.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

using Pixel = std::array<Expr, 3>;

// TensorFlow computes float16 and bfloat16 in float32.
Expr Computed(TfArgs& a, size_t i) {
  Value* x = a.in(i);
  a.Require(IsFloating(x->dtype()), "colours that are integers");
  return Expr(a.b(), x).To(x->dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32);
}

// Each with a last axis of one.
Pixel Channels(TfArgs& a, const Expr& x) {
  const std::vector<Value*> parts = a.b().Ops("split", {x.value()}, {{"axis", -1}}, 3);
  return {Expr(a.b(), parts[0]), Expr(a.b(), parts[1]), Expr(a.b(), parts[2])};
}
Expr Joined(const Pixel& p) {
  return p[0].Op("concat", {p[1].value(), p[2].value()}, {{"axis", -1}});
}
Expr Clamp01(const Expr& x) { return Min(Max(x, 0.0), 1.0); }

Pixel RgbToHsv(const Pixel& rgb) {
  const auto& [r, g, b] = rgb;
  const Expr value = Max(Max(r, g), b);
  const Expr range = value - Min(Min(r, g), b);
  const Expr saturation = Where(value > 0.0, range / value, 0.0);
  const Expr sixth = 1.0 / range * (1.0 / 6);
  const Expr from_blue = sixth * (r - g) + 4.0 / 6;
  const Expr from_green = Where(g == value, sixth * (b - r) + 2.0 / 6, from_blue);
  Expr hue = Where(r == value, sixth * (g - b), from_green);
  hue = Where(range > 0.0, hue, 0.0);
  return {Where(hue < 0.0, hue + 1.0, hue), saturation, value};
}

// How far each channel is from the least one (0) to the greatest (1), by six times the hue.
Pixel Shares(const Expr& sixfold) {
  return {Clamp01(Abs(sixfold - 3.0) - 1.0), Clamp01(2.0 - Abs(sixfold - 2.0)),
          Clamp01(2.0 - Abs(sixfold - 4.0))};
}
Pixel HsvToRgb(const Expr& saturation, const Expr& value, Pixel shares) {
  for (Expr& share : shares) share = ((1.0 - saturation) + saturation * share) * value;
  return shares;
}

Value* FromRgbToHsv(TfArgs& a) {
  return Joined(RgbToHsv(Channels(a, Computed(a, 0)))).To(a.in(0)->dtype()).value();
}

Value* FromHsvToRgb(TfArgs& a) {
  const auto [hue, saturation, value] = Channels(a, Computed(a, 0));
  return Joined(HsvToRgb(saturation, value, Shares(hue * 6.0))).To(a.in(0)->dtype()).value();
}

Value* AdjustSaturation(TfArgs& a) {
  const auto [hue, saturation, value] = RgbToHsv(Channels(a, Computed(a, 0)));
  const Expr scale = Expr(a.b(), a.in(1)).To(value.dtype());
  const Expr sixfold = hue * 6.0;
  Pixel shares = Shares(sixfold);
  // A hue that was rounded up to a whole turn belongs to no sixth of it.
  for (Expr& share : shares) share = Where(sixfold >= 6.0, 0.0, share);
  const Expr scaled = Clamp01(saturation * scale);
  return Joined(HsvToRgb(scaled, value, shares)).To(a.in(0)->dtype()).value();
}

// Least and greatest channels stay as they are.
Value* AdjustHue(TfArgs& a) {
  const Pixel rgb = Channels(a, Computed(a, 0));
  const auto [hue, saturation, value] = RgbToHsv(rgb);
  const Expr delta = Expr(a.b(), a.in(1)).To(value.dtype());
  const Expr moved = hue * 6.0 + delta * 6.0;
  const Expr turned = moved - 6.0 * Floor(moved / 6.0);
  const Expr least = Min(Min(rgb[0], rgb[1]), rgb[2]);
  Pixel shares = Shares(turned);
  for (Expr& share : shares) share = least + (value - least) * share;
  return Joined(shares).To(a.in(0)->dtype()).value();
}

// Away from the mean of each channel of each image.
absl::StatusOr<Value*> AdjustContrast(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 3) return Invalid("expected images of rank 3 or more, got ", rank);
  const Expr x = Computed(a, 0);
  const Expr factor = Expr(a.b(), a.in(1)).To(x.dtype());
  // Sums of many pixels lose digits in float32.
  const Expr mean = Reduce(x.To(DType::kFloat64), "reduce_mean", {-3, -2}, true).To(x.dtype());
  return ((x - mean) * factor + mean).To(a.in(0)->dtype()).value();
}

}  // namespace

X2IR_TF(concat).From({{"RGBToHSV", FromRgbToHsv},
                      {"HSVToRGB", FromHsvToRgb},
                      {"AdjustSaturation", AdjustSaturation},
                      {"AdjustHue", AdjustHue}});
X2IR_TF(reduce_mean).From("AdjustContrastv2", AdjustContrast);

}  // namespace x2ir
