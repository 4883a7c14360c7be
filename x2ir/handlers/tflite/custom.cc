// TFLite: custom operators whose kernels are published.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/tflite/tflite.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tflite/layers_internal.h"
#include "x2ir/handlers/tflite/tflite.h"

namespace x2ir {
namespace {

Value* AudioSpectrogram(TfliteArgs& a) {
  return AsTf(a, "AudioSpectrogram", {a.in(0)},
              {{"window_size", a.Int("window_size", 0)},
               {"stride", a.Int("stride", 0)},
               {"magnitude_squared", a.Bool("magnitude_squared", false)}})[0];
}

// An option that is a number, of either kind.
float NumberOption(TfliteArgs& a, const char* name, double fallback) {
  const Attribute* attr = a.attrs().Find(name);
  a.Ignore(name);
  if (!attr) return static_cast<float>(fallback);
  if (const auto* n = attr->get<int64_t>()) return static_cast<float>(*n);
  return static_cast<float>(a.attrs().Float(name));
}

Value* Mfcc(TfliteArgs& a) {
  const auto number = [&](const char* name, double fallback) {
    return NumberOption(a, name, fallback);
  };
  return AsTf(a, "Mfcc", a.inputs(),
              {{"upper_frequency_limit", number("upper_frequency_limit", 4000)},
               {"lower_frequency_limit", number("lower_frequency_limit", 20)},
               {"filterbank_channel_count", a.Int("filterbank_channel_count", 40)},
               {"dct_coefficient_count", a.Int("dct_coefficient_count", 13)}})[0];
}

// --- MediaPipe's -----------------------------------------------------------------------------

// Options are a struct of the runtime, as it lies in memory: integers of 32 bits.
absl::StatusOr<std::vector<int64_t>> StructOf(TfliteArgs& a, size_t count) {
  const std::string bytes = a.String("custom_options", "");
  if (bytes.size() < 4 * count) return Invalid("its options are too short");
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < count; ++i) {
    int32_t number;
    std::memcpy(&number, bytes.data() + 4 * i, 4);
    numbers.push_back(number);
  }
  return numbers;
}

struct PoolOptions {
  bool same;
  int64_t stride_w, stride_h, filter_w, filter_h;
};
absl::StatusOr<PoolOptions> TakePoolOptions(TfliteArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> n, StructOf(a, 6));
  if (n[0] != 1 && n[0] != 2) return Invalid("padding ", n[0]);
  if (n[5] != 0) return Unimplemented("an activation");
  constexpr int64_t kLimit = 1 << 15;
  for (size_t i = 1; i < 5; ++i) {
    if (n[i] < 1 || n[i] > kLimit) return Invalid("a window or a step of ", n[i]);
  }
  return PoolOptions{n[0] == 1, n[1], n[2], n[3], n[4]};
}

// [batch, height, width, channels], known.
absl::StatusOr<std::vector<int64_t>> ImageDims(TfliteArgs& a) {
  const Shape* shape = a.shape(0);
  const auto dims = shape && shape->rank() == 4 ? shape->Static() : std::nullopt;
  if (!dims) return Unimplemented("an image of sizes that are not known");
  return *dims;
}

// 0, 1, ... along an axis of [batch, height, width, channels], times a step.
Expr Along(TfliteArgs& a, int64_t axis, int64_t count, int64_t step) {
  std::vector<int64_t> dims(4, 1);
  dims[static_cast<size_t>(axis)] = count;
  return Reshape(Ints(a, CountedFrom(0, count, step)), dims);
}

// The greatest of each window, and the place in it as a float, with 0.1 so that it is cut off to
// it.
absl::StatusOr<Values> MaxPoolWithPlaces(TfliteArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const PoolOptions p, TakePoolOptions(a));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, ImageDims(a));
  const std::vector<Value*> results = a.b().Ops("max_pool", {a.in(0)},
                                                {{"layout", "channels_last"},
                                                 {"auto_pad", p.same ? "SAME_UPPER" : "VALID"},
                                                 {"strides", {p.stride_h, p.stride_w}},
                                                 {"kernel_shape", {p.filter_h, p.filter_w}}},
                                                2);
  const Shape* out = results[0]->shape();
  if (!out || !out->is_static()) return Internal("no shape of a pool");
  const auto origin = [&](int64_t axis, int64_t stride, int64_t filter) {
    const int64_t count = (*out)[axis].value(), size = dims[static_cast<size_t>(axis)];
    const int64_t pad = std::max<int64_t>((count - 1) * stride + filter - size, 0) / 2;
    return Along(a, axis, count, stride) - Int(a, pad);
  };
  // Places count through the image, channels first.
  const Expr place(a, results[1]), height = Int(a, dims[1]), width = Int(a, dims[2]);
  const Expr y = Mod(place / width, height) - origin(1, p.stride_h, p.filter_h);
  const Expr x = Mod(place, width) - origin(2, p.stride_w, p.filter_w);
  return Values{results[0], (y * Int(a, p.filter_w) + x).To(DType::kFloat32) + 0.1};
}

// And back: every number at its place in its window, the rest zeros.
absl::StatusOr<Value*> MaxUnpool(TfliteArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const PoolOptions p, TakePoolOptions(a));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, ImageDims(a));
  if (p.stride_h != p.filter_h || p.stride_w != p.filter_w) {
    return Unimplemented("windows that overlap or leave places out");
  }
  const std::vector<int64_t> out = {dims[0], dims[1] * p.filter_h, dims[2] * p.filter_w, dims[3]};
  const auto count = CheckedProduct(out);
  if (!count) return Invalid("the result is too large");
  const Expr place = a.in(1).To(DType::kInt64), width = Int(a, p.filter_w);
  const Expr y = Along(a, 1, dims[1], p.stride_h) + place / width;
  const Expr x = Along(a, 2, dims[2], p.stride_w) + Mod(place, width);
  const Expr inside = (place >= Int(a, 0)) & (place < Int(a, p.filter_h * p.filter_w));
  const Expr at = ((Along(a, 0, dims[0], out[1]) + y) * Int(a, out[2]) + x) * Int(a, out[3]) +
                  Along(a, 3, dims[3], 1);
  // Numbers without a valid place go to one more element at the end, which is cut off.
  const Expr index = Flat(Where(inside, at, Int(a, *count)));
  const Expr zeros = a.Op("expand", {a.in(0).Number(0), Ints(a, {*count + 1})});
  const Expr all = ScatterElements(zeros, 0, index, Flat(a.in(0)), "none");
  return Reshape(Slice(all, 0, 0, *count), out);
}

// Operands: x, weights [out, height, width, in], bias.
absl::StatusOr<Value*> TransposeConvBias(TfliteArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> n, StructOf(a, 3));
  const std::vector<int64_t> strides = {n[2], n[1]};
  const Shape *x = a.shape(0), *w = a.shape(1);
  if (!x || !w || x->rank() != 4 || w->rank() != 4)
    return Unimplemented("operands of unknown rank");
  std::vector<int64_t> pads(4);
  for (size_t i = 0; i < 2; ++i) {
    const Dim &size = (*x)[static_cast<int64_t>(i + 1)],
              &kernel = (*w)[static_cast<int64_t>(i + 1)];
    if (strides[i] < 1) return Invalid("a step of ", strides[i]);
    if (n[0] != 1) continue;  // kTfLitePaddingSame
    if (!size.is_static() || !kernel.is_static()) return Unimplemented("sizes that are not known");
    const int64_t total =
        std::max<int64_t>(kernel.value() - (size.value() - 1) % strides[i] - 1, 0);
    pads[i] = total / 2;
    pads[i + 2] = total - total / 2;
  }
  return a.Op("conv_transpose", {a.in(0), Relaid(a, a.in(1), {3, 0, 1, 2}), a.in(2)},
              {{"layout", "channels_last"}, {"strides", strides}, {"pads", pads}});
}

// --- Landmarks and the transforms that they say ---

// Which of the two published kernels: by the operator's version, or by its name.
bool IsSecond(TfliteArgs& a) {
  return a.Int(tflite::kCustomVersion, 1) >= 2 || a.op().ends_with("V2");
}

// The numbers of a matrix of 4 rows and 4 columns, each of rank 0.
std::vector<Expr> NumbersOfMatrix(const Expr& matrix, int64_t count) {
  const Expr flat = Flat(matrix);
  std::vector<Expr> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(Gather(flat, flat.builder().Int(i), 0));
  }
  return numbers;
}

// The first two rows times (x, y, 0, 1).
std::pair<Expr, Expr> Transformed(const std::vector<Expr>& m, const Expr& x, const Expr& y) {
  return {x * m[0] + y * m[1] + m[3], x * m[4] + y * m[5] + m[7]};
}

// The places of the result, transformed, are read from the operand: between its elements, and as
// zeros outside of them. The second version puts the places in the middle of elements.
absl::StatusOr<Value*> TransformTensorBilinear(TfliteArgs& a) {
  const bool second = IsSecond(a);
  const std::vector<int64_t> size = a.IntList("output_size", {});
  if (a.String("mode", "bilinear") != "bilinear")
    return Unimplemented("another mode than bilinear");
  a.Ignore("align_corners");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, ImageDims(a));
  const auto count = size.size() == 2 ? CheckedProduct(size) : std::nullopt;
  if (!count || size[0] < 1 || size[1] < 1) return Invalid("output_size: expected two sizes");
  if (dims[0] != 1) return Unimplemented("more than one image");
  if (dims[1] < 1 || dims[2] < 1) return Invalid("an image without elements");
  std::vector<Expr> m = NumbersOfMatrix(a.in(1), 8);
  if (second) {
    m[3] = m[3] + (m[0] * 0.5 + m[1] * 0.5 - 0.5);
    m[7] = m[7] + (m[4] * 0.5 + m[5] * 0.5 - 0.5);
  }
  const auto numbers = [&](int64_t n, int64_t axis) {
    std::vector<int64_t> shape = {1, 1, 1};
    shape[static_cast<size_t>(axis)] = n;
    std::vector<float> all;
    for (int64_t i = 0; i < n; ++i) all.push_back(static_cast<float>(i));
    return Expr(a, a.b().Constant(Tensor::Of<float>(shape, all)));
  };
  const auto [x, y] = Transformed(m, numbers(size[1], 1), numbers(size[0], 0));
  const auto last_x = static_cast<double>(dims[2] - 1), last_y = static_cast<double>(dims[1] - 1);
  const Expr inside = (x >= 0) & (x <= last_x) & (y >= 0) & (y <= last_y);
  // Places that are not inside read something that does not count.
  const Expr left = Floor(Min(Max(x, 0), last_x)), top = Floor(Min(Max(y, 0), last_y));
  const Expr rows = Reshape(a.in(0), {dims[1] * dims[2], dims[3]});
  const auto at = [&](const Expr& row, const Expr& column) {
    const Expr place = row.To(DType::kInt64) * Int(a, dims[2]) + column.To(DType::kInt64);
    return Gather(rows, Squeeze(place, {2}), 0);
  };
  const Expr right = Min(left + 1, last_x), bottom = Min(top + 1, last_y);
  const Expr rightwards = x - left, downwards = y - top;
  const auto between = [&](const Expr& row) {
    return at(row, left) * (1 - rightwards) + at(row, right) * rightwards;
  };
  const Expr value = between(bottom) * downwards + between(top) * (1 - downwards);
  return Unsqueeze(Where(inside, value, 0.0), {0});
}

// Points in the plane, transformed; a third number stays.
absl::StatusOr<Value*> TransformLandmarks(TfliteArgs& a) {
  const bool second = IsSecond(a);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  int64_t numbers = a.Int("dimensions", 3);
  const float scale = NumberOption(a, "scale", 1);
  if (second) {
    const Dim last = rank > 0 ? (*a.shape(0))[rank - 1] : Dim();
    if (!last.is_static()) return Unimplemented("points of a number of axes that is not known");
    numbers = last.value();
  }
  if (numbers != 2 && numbers != 3) return Invalid("points of ", numbers, " numbers");
  std::vector<Expr> m = NumbersOfMatrix(a.in(1), 8);
  if (!second) {
    m[3] = Scaled(m[3], scale);
    m[7] = Scaled(m[7], scale);
  }
  const Expr points = Reshape(a.in(0), {-1, numbers});
  const auto [x, y] = Transformed(m, Slice(points, 1, 0, 1), Slice(points, 1, 1, 2));
  std::vector<Value*> all = {x, y};
  if (numbers == 3) all.push_back(Slice(points, 1, 2, 3));
  return ReshapeTo(Concat(a, std::move(all), 1), ShapeOf(a.in(0)));
}

// Of some points, turned by an angle: the least and the largest of both numbers.
struct Bounds {
  Expr low_x, low_y, high_x, high_y;
};
Bounds BoundsOf(const Expr& points, std::vector<int64_t> subset, const Expr& cosine,
                const Expr& sine) {
  const Expr some = Gather(points, points.builder().Ints(subset), 0);
  const Expr x = Slice(some, 1, 0, 1), y = Slice(some, 1, 1, 2);
  const Expr turned_x = x * cosine - y * sine, turned_y = x * sine + y * cosine;
  const auto least = [&](const Expr& v) { return Reduce(v, "reduce_min", {0, 1}); };
  const auto largest = [&](const Expr& v) { return Reduce(v, "reduce_max", {0, 1}); };
  return {least(turned_x), least(turned_y), largest(turned_x), largest(turned_y)};
}

// [1, 4, 4] of the first two rows, whose third column is 0, and the other two of the identity.
Value* MatrixOfRows(TfliteArgs& a, const std::vector<Expr>& numbers) {
  std::vector<Value*> all;
  const auto add = [&](const Expr& v) { all.push_back(Reshape(v, {1})); };
  const Expr zero = {a, a.b().Constant(Tensor::Of<float>({1}, {0}))};
  for (size_t row = 0; row < 2; ++row) {
    add(numbers[3 * row]);
    add(numbers[3 * row + 1]);
    add(zero);
    add(numbers[3 * row + 2]);
  }
  all.push_back(a.b().Constant(Tensor::Of<float>({8}, {0, 0, 1, 0, 0, 0, 0, 1})));
  return Reshape(Concat(a, std::move(all), 0), {1, 4, 4});
}

// Maps points of a crop to points of the image. The crop contains some landmarks, and is rotated so
// that two of the landmarks are level.
absl::StatusOr<Value*> LandmarksToTransformMatrix(TfliteArgs& a) {
  const int64_t left = a.Int("left_rotation_idx", -1), right = a.Int("right_rotation_idx", -1);
  const bool second = IsSecond(a) || a.HasAttr("subset_idxs");
  const std::vector<int64_t> subset = a.IntList(second ? "subset_idxs" : "subset", {});
  if (left < 0 || right < 0 || subset.empty() ||
      *std::min_element(subset.begin(), subset.end()) < 0) {
    return Invalid("its options name no landmarks");
  }
  const Expr points = Reshape(a.in(0), {-1, 3});
  const auto number = [&](int64_t point, int64_t axis) {
    return Gather(Flat(points), a.b().Int(3 * point + axis), 0);
  };
  const Expr dx = number(right, 0) - number(left, 0), dy = number(right, 1) - number(left, 1);
  if (second) {
    const float target = NumberOption(a, "target_rotation_radians", 0);
    const auto height = static_cast<double>(a.Int("output_height", 0)),
               width = static_cast<double>(a.Int("output_width", 0));
    const float scale_x = NumberOption(a, "scale_x", 0), scale_y = NumberOption(a, "scale_y", 0);
    if (height <= 0 || width <= 0 || scale_x <= 0 || scale_y <= 0) {
      return Invalid("its options say no size or scale");
    }
    const Expr angle = target - Expr(a, AsTf(a, "Atan2", {dy, dx})[0]);
    const Expr c = Cos(angle), s = Sin(angle);
    const Bounds b = BoundsOf(points, subset, c, s);
    const Expr x = (b.low_x + b.high_x) * 0.5, y = (b.low_y + b.high_y) * 0.5;
    const Expr wide = (b.high_x - b.low_x) * scale_x * (1 / width),
               high = (b.high_y - b.low_y) * scale_y * (1 / height);
    const Expr xx = c * wide, xy = s * high, yx = -s * wide, yy = c * high;
    return MatrixOfRows(a, {xx, xy, x * c + y * s - (xx * (width / 2) + xy * (height / 2)), yx, yy,
                            y * c - x * s - (yx * (width / 2) + yy * (height / 2))});
  }
  const std::vector<int64_t> in = a.IntList("input_hw", {}), out = a.IntList("output_hw", {});
  const auto range = static_cast<double>(a.Int("landmarks_range", 0));
  const float factor = NumberOption(a, "bbox_size_multiplier", 0);
  if (a.Int("dimensions", 0) != 3 || in.size() != 2 || out.size() != 2 || in[0] < 1 || in[1] < 1 ||
      out[0] < 1 || out[1] < 1 || range <= 0 || factor == 0) {
    return Invalid("its options say no sizes");
  }
  // The angle by which the crop is rotated back into the image.
  const Expr angle = (dy / dx).Op("atan");
  const Expr c = Cos(angle), s = Sin(angle);
  const Bounds b = BoundsOf(points, subset, c, -s);
  constexpr double kLimit = 100000;
  const Expr low_x = Min(b.low_x, kLimit), low_y = Min(b.low_y, kLimit),
             high_x = Max(b.high_x, -kLimit), high_y = Max(b.high_y, -kLimit);
  const Expr wide = (high_x - low_x) * (factor / range), high = (high_y - low_y) * (factor / range);
  const Expr x = (high_x + low_x) * 0.5, y = (high_y + low_y) * 0.5;
  const Expr shift_x = (x * c - y * s) * (2 / range) - 1,
             shift_y = (x * s + y * c) * (2 / range) - 1;
  const auto half = [](int64_t size) { return static_cast<double>(size - 1) / 2; };
  const double to_x = half(in[1]), to_y = half(in[0]);
  const Expr cx = c * wide, sx = s * wide, sy = s * high, cy = c * high;
  return MatrixOfRows(
      a, {cx * (to_x / half(out[1])), sy * (-to_x / half(out[0])), (sy - cx + shift_x + 1) * to_x,
          sx * (to_y / half(out[1])), cy * (to_y / half(out[0])), (shift_y - sx - cy + 1) * to_y});
}

}  // namespace

X2IR_TFLITE(max_pool).From("custom::MaxPoolingWithArgmax2D", MaxPoolWithPlaces);
X2IR_TFLITE(scatter_elements).From("custom::MaxUnpooling2D", MaxUnpool);
X2IR_TFLITE(conv_transpose).From("custom::Convolution2DTransposeBias", TransposeConvBias);
X2IR_TFLITE(gather).From({{"custom::TransformTensorBilinear", TransformTensorBilinear},
                          {"custom::TransformTensorBilinearV2", TransformTensorBilinear},
                          {"custom::TransformTensor", TransformTensorBilinear}});
X2IR_TFLITE(concat).From({{"custom::TransformLandmarks", TransformLandmarks},
                          {"custom::TransformLandmarksV2", TransformLandmarks},
                          {"custom::Landmarks2TransformMatrix", LandmarksToTransformMatrix},
                          {"custom::Landmarks2TransformMatrixV2", LandmarksToTransformMatrix}});
X2IR_TFLITE(matmul).From({{"custom::AudioSpectrogram", AudioSpectrogram}, {"custom::Mfcc", Mfcc}});

}  // namespace x2ir
