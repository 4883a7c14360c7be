// TFLite: convolutions, pools and matrix products, channels last.
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/pool.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// SAME: more at the end where it does not come out even.
Window TakePadding(TfliteArgs& a) {
  const std::string padding = a.String("padding", "SAME");
  a.Require(padding == "SAME" || padding == "VALID", StrCat("padding ", padding));
  return {.auto_pad = padding == "SAME" ? AutoPad::kSameUpper : AutoPad::kValid,
          .channels_last = true};
}

std::vector<int64_t> TakeHw(TfliteArgs& a, std::string_view before, std::string_view behind,
                            int64_t fallback, bool three = false) {
  std::vector<int64_t> all;
  for (const char* axis : {"d", "h", "w"}) {
    if (*axis == 'd' && !three) continue;
    all.push_back(a.Int(Symbol(StrCat(before, axis, behind)), fallback));
    a.Require(all.back() > 0, "a window without a size or a step");
  }
  return all;
}

Window TakeConv(TfliteArgs& a, bool three = false) {
  Window window = TakePadding(a);
  window.strides = TakeHw(a, "stride_", "", 0, three);
  window.dilations = TakeHw(a, "dilation_", "_factor", 1, three);
  return window;
}

Value* BiasOf(TfliteArgs& a, size_t i) { return a.has(i) ? a.in(i).value() : nullptr; }

// Weights [out, height, width, in of a group].
absl::StatusOr<Value*> Conv2d(TfliteArgs& a) {
  const Window window = TakeConv(a);
  const Shape *x = a.shape(0), *w = a.shape(1);
  if (!w || w->rank() != 4 || !(*w)[3].is_static())
    return Unimplemented("weights of unknown shape");
  const int64_t of_group = (*w)[3].value();
  int64_t group = 1;
  if (x && x->rank() == 4 && (*x)[3].is_static() && (*x)[3].value() != of_group) {
    const int64_t channels = (*x)[3].value();
    if (of_group < 1 || channels % of_group != 0) {
      return Invalid("weights for ", of_group, " channels of ", channels);
    }
    group = channels / of_group;
  }
  Value* weights = Relaid(a, a.in(1), {0, 3, 1, 2});
  return MakeConv(a.in(0), weights, BiasOf(a, 2), window, group);
}

// Weights [1, height, width, channels times multiplier].
absl::StatusOr<Value*> DepthwiseConv2d(TfliteArgs& a) {
  const Window window = TakeConv(a);
  const int64_t multiplier = a.Int("depth_multiplier", 0);
  const Shape *x = a.shape(0), *w = a.shape(1);
  if (!w || w->rank() != 4 || !(*w)[3].is_static())
    return Unimplemented("weights of unknown shape");
  const int64_t out = (*w)[3].value();
  int64_t channels = multiplier > 0 ? out / multiplier : 0;
  // The operand says it better: kernels do not look at the multiplier.
  if (x && x->rank() == 4 && (*x)[3].is_static()) channels = (*x)[3].value();
  if (channels < 1 || out % channels != 0 || (*w)[0] != Dim(1)) {
    return Invalid("depthwise weights for ", out, " results of ", channels, " channels");
  }
  Value* weights = Relaid(a, a.in(1), {3, 0, 1, 2});
  return MakeConv(a.in(0), weights, BiasOf(a, 2), window, channels);
}

std::vector<int64_t> Strides(TfliteArgs& a, bool three) {
  std::vector<int64_t> all = {1};
  if (three) all.push_back(a.Int("stride_d", 0));
  all.push_back(a.Int("stride_h", 0));
  all.push_back(a.Int("stride_w", 0));
  all.push_back(1);
  return all;
}
std::vector<int64_t> Dilations3d(TfliteArgs& a) {
  return {1, a.Int("dilation_d_factor", 1), a.Int("dilation_h_factor", 1),
          a.Int("dilation_w_factor", 1), 1};
}

Value* PlusBias(TfliteArgs& a, Value* y, size_t bias) {
  return a.has(bias) ? Expr(a, y) + a.in(bias) : Expr(a, y);
}

// A result whose sizes are found in the run is cut out of the whole one. What SAME adds, a
// convolution back from the result would add.
Value* OfComputedSizes(TfliteArgs& a, const std::string& padding) {
  const std::vector<int64_t> strides = TakeHw(a, "stride_", "", 0);
  Value* kernel = Relaid(a, a.in(1), {3, 0, 1, 2});
  const Expr whole{a, a.Op("conv_transpose", {a.in(2), kernel},
                           {{"layout", "channels_last"}, {"strides", strides}})};
  const Expr sizes =
      Expr(a, a.in(0)).To(DType::kInt64).Op("slice", {Ints(a, {1}), Ints(a, {3}), Ints(a, {0})});
  Expr begin = Ints(a, {0, 0});
  if (padding == "SAME") {
    const Expr all{a, a.Op("shape", {whole}, {{"start", 1}, {"end", 3}})};
    // LiteRT divides no int64.
    begin = (Max(all - sizes, 0).To(DType::kInt32) / 2).To(DType::kInt64);
  }
  // Behind the whole result there may be places that nothing comes to.
  const Expr more =
      whole.Op("pad", {Ints(a, {0, 0, strides[0], strides[1]}), whole.Number(0), Ints(a, {1, 2})});
  return more.Op("slice", {begin, begin + sizes, Ints(a, {1, 2})});
}

// Operands: sizes of the result, weights [out, height, width, in], x, bias.
Value* TransposeConv(TfliteArgs& a) {
  if (!KnownInts(a.in(0))) {
    const std::string padding = a.String("padding", "SAME");
    a.Require(padding == "SAME" || padding == "VALID", StrCat("padding ", padding));
    return PlusBias(a, OfComputedSizes(a, padding), 3);
  }
  Value* kernel = Relaid(a, a.in(1), {1, 2, 0, 3});
  Value* y = AsTf(a, "Conv2DBackpropInput", {a.in(0), kernel, a.in(2)},
                  {{"strides", Strides(a, false)}, {"padding", a.String("padding", "SAME")}})[0];
  return PlusBias(a, y, 3);
}

// Weights [depth, height, width, in, out]; there are no groups.
Value* Conv3d(TfliteArgs& a) {
  const Window window = TakeConv(a, /*three=*/true);
  Value* weights = Relaid(a, a.in(1), {4, 3, 0, 1, 2});
  return MakeConv(a.in(0), weights, BiasOf(a, 2), window, 1);
}

Value* Conv3dTranspose(TfliteArgs& a) {
  Value* y = AsTf(a, "Conv3DBackpropInputV2", {a.in(0), a.in(1), a.in(2)},
                  {{"strides", Strides(a, true)},
                   {"dilations", Dilations3d(a)},
                   {"padding", a.String("padding", "SAME")}})[0];
  return PlusBias(a, y, 3);
}

Expr Pooled(TfliteArgs& a, const Expr& x, PoolKind kind) {
  Window window = TakePadding(a);
  window.strides = TakeHw(a, "stride_", "", 0);
  window.kernel = {a.Int("filter_height", 0), a.Int("filter_width", 0)};
  a.Require(window.kernel[0] > 0 && window.kernel[1] > 0, "a window without a size");
  return MakePool(x, {window, kind});
}
Value* AveragePool(TfliteArgs& a) { return Pooled(a, a.in(0), PoolKind::kAverage); }
Value* MaxPool(TfliteArgs& a) { return Pooled(a, a.in(0), PoolKind::kMax); }
// The root of the mean of squares.
Value* L2Pool(TfliteArgs& a) { return Sqrt(Pooled(a, Square(a.in(0)), PoolKind::kAverage)); }

// Operands: x, weights [out, in], bias. Without keep_num_dims x is a matrix with rows of `in`.
absl::StatusOr<Value*> FullyConnected(TfliteArgs& a) {
  const bool keep = a.Bool("keep_num_dims", false);
  const std::string format = a.String("weights_format", "DEFAULT");
  if (format != "DEFAULT") return Unimplemented("weights of format ", format);
  const Shape *x = a.shape(0), *w = a.shape(1);
  if (!w || w->rank() != 2) return Unimplemented("weights that are no matrix");
  Expr rows = a.in(0);
  const bool matrix = x && x->rank() == 2;
  if (!keep && (!matrix || !ProvablyEqual((*x)[1], (*w)[1]))) {
    rows = ReshapeTo(rows, Concat(a, {a.b().Ints({-1}), ShapeOf(a.in(1), 1, 2)}, 0));
  } else if (keep && !x) {
    return Unimplemented("an operand of unknown rank");
  }
  if (!keep || matrix) {
    return a.Op("gemm", {rows, a.in(1), BiasOf(a, 2)}, {{"transB", 1}});
  }
  Value* y = a.Op("matmul", {rows, Relaid(a, a.in(1), {1, 0})});
  return PlusBias(a, y, 2);
}

Value* BatchMatMul(TfliteArgs& a) {
  const bool left = a.Bool("adj_x", false), right = a.Bool("adj_y", false);
  Expr x = a.in(0), y = a.in(1);
  if (left) x = SwapLast(x);
  if (right) y = SwapLast(y);
  // Integers are summed up in the type of the result.
  if (IsInteger(a.out_dtype())) {
    x = x.To(a.out_dtype());
    y = y.To(a.out_dtype());
  }
  return MatMul(x, y);
}

}  // namespace

X2IR_TFLITE(average_pool).From("AVERAGE_POOL_2D", AveragePool);
X2IR_TFLITE(conv)
    .From("CONV_2D", Conv2d)
    .From("CONV_3D", Conv3d)
    .From("DEPTHWISE_CONV_2D", DepthwiseConv2d);
X2IR_TFLITE(conv_transpose)
    .From("TRANSPOSE_CONV", TransposeConv)
    .From("CONV_3D_TRANSPOSE", Conv3dTranspose);
X2IR_TFLITE(gemm).From("FULLY_CONNECTED", FullyConnected);
X2IR_TFLITE(lp_pool).From("L2_POOL_2D", L2Pool);
X2IR_TFLITE(matmul).From("BATCH_MATMUL", BatchMatMul);
X2IR_TFLITE(max_pool).From("MAX_POOL_2D", MaxPool);

}  // namespace x2ir
