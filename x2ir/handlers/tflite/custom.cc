// TFLite: custom operators whose kernels are published.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tf/tf.h"
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
  constexpr int64_t kMost = 1 << 15;
  for (size_t i = 1; i < 5; ++i) {
    if (n[i] < 1 || n[i] > kMost) return Invalid("a window or a step of ", n[i]);
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
  // What is at no place goes behind all, and is cut off.
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

}  // namespace

X2IR_TFLITE(max_pool).From("custom::MaxPoolingWithArgmax2D", MaxPoolWithPlaces);
X2IR_TFLITE(scatter_elements).From("custom::MaxUnpooling2D", MaxUnpool);
X2IR_TFLITE(conv_transpose).From("custom::Convolution2DTransposeBias", TransposeConvBias);
X2IR_TFLITE(matmul).From("custom::AudioSpectrogram", AudioSpectrogram).From("custom::Mfcc", Mfcc);

}  // namespace x2ir
