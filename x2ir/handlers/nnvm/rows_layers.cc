// NNVM: layers, both ways.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/nnvm/layouts.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/resize.h"
#include "x2ir/ops/window.h"

namespace x2ir {
namespace {

// --- Reading -------------------------------------------------------------------------------------

// Begins and ends from two numbers (both ends alike) or four.
std::vector<int64_t> TakePads(SymbolArgs& a) {
  std::vector<int64_t> pads = a.Tuple("padding", {0, 0});
  if (pads.size() == 1) pads.resize(2, pads[0]);
  if (pads.size() == 2) pads = BothEnds(pads);
  a.Require(pads.size() == 4, "pads of another number of axes");
  return pads;
}
Window TakeNnvmWindow(SymbolArgs& a, Symbol kernel) {
  Window w;
  w.kernel = a.Tuple(kernel);
  a.Require(w.kernel.size() == 2, "a window of another number of axes than two");
  w.strides = a.TupleOf("strides", 2, 1);
  w.dilations = a.TupleOf("dilation", 2, 1);
  w.pads = TakePads(a);
  const std::string layout = a.Text("layout", "NCHW");
  w.channels_last = !IsBlockedLayout(layout) && IsChannelsLast(a, layout);
  CheckWindow(a, w);
  return w;
}
// The layout of the result; that of the operand unless it is said.
std::string OutLayout(SymbolArgs& a) {
  const std::string out = a.Text("out_layout", "__undef__");
  return out == "__undef__" || out.empty() ? a.Text("layout", "NCHW") : out;
}
// Of what is computed in layout NCHW on an operand in blocks of channels ("NCHW8c").
Expr InChannelsFirst(SymbolArgs& a) {
  const std::string layout = a.Text("layout", "NCHW");
  return IsBlockedLayout(layout) ? InLayout(a, a.in(0), layout, "NCHW") : a.in(0);
}
Expr InItsLayout(SymbolArgs& a, const Expr& y, bool channels_last) {
  return InLayout(a, y, channels_last ? "NHWC" : "NCHW", OutLayout(a));
}
void IgnoreTypes(SymbolArgs& a) {
  a.Ignore("channels"), a.Ignore("units");
  const std::string dtype = a.Text("out_dtype", "-1");
  a.Require(dtype == "-1" || dtype == "same" || dtype.empty() || dtype == "float32",
            StrCat("out_dtype ", dtype));
}

Value* Conv2d(SymbolArgs& a) {
  IgnoreTypes(a);
  const Window w = TakeNnvmWindow(a, "kernel_size");
  const std::string layout = a.Text("kernel_layout", "OIHW");
  const int64_t groups = a.Integer("groups", 1);
  Value* bias = a.Flag("use_bias", true) ? a.in(2).value() : nullptr;
  Value* weights = a.in(1);
  if (layout == "HWIO") {
    weights = Relaid(a, weights, {3, 2, 0, 1});
  } else if (layout == "OHWI") {
    weights = Relaid(a, weights, {0, 3, 1, 2});
  } else if (layout == "HWOI") {
    weights = Relaid(a, weights, {2, 3, 0, 1});
  } else {
    weights = InLayout(a, a.in(1), layout, "OIHW");
  }
  const Expr x = InChannelsFirst(a);
  // In blocks as the channels are.
  if (bias && bias->shape() && a.in(2).rank() > 1) bias = Reshape(a.in(2), {-1});
  return InItsLayout(a, MakeConv(x, weights, bias, w, groups), w.channels_last);
}
// Weights [in, out of a group, height, width].
Value* Conv2dTranspose(SymbolArgs& a) {
  IgnoreTypes(a);
  const Window w = TakeNnvmWindow(a, "kernel_size");
  a.Require(!w.channels_last && OutLayout(a) == "NCHW",
            "a transposed convolution with channels last, or in blocks");
  const std::string layout = a.Text("kernel_layout", "OIHW");
  a.Require(layout == "OIHW" || layout == "IOHW", StrCat("kernel_layout ", layout));
  const int64_t groups = a.Integer("groups", 1);
  const std::vector<int64_t> more = a.TupleOf("output_padding", 2, 0);
  Value* bias = a.Flag("use_bias", true) ? a.in(2).value() : nullptr;
  return MakeConvTranspose(a.in(0), a.in(1), bias, w, groups, more);
}
template <PoolKind kKind>
Value* Pool2d(SymbolArgs& a) {
  WindowPool pool{TakeNnvmWindow(a, "pool_size"), kKind};
  pool.window.ceil_mode = a.Flag("ceil_mode", false);
  pool.count_include_pad = a.Flag("count_include_pad", false);
  if (kKind == PoolKind::kAverage && pool.window.ceil_mode && pool.count_include_pad) {
    // Rounded up by more padding, all of which counts.
    for (size_t i = 0; i < 2; ++i) pool.window.pads[2 + i] += pool.window.strides[i] - 1;
    pool.window.ceil_mode = false;
  }
  return InItsLayout(a, PoolWindows(a, InChannelsFirst(a), pool), pool.window.channels_last);
}
template <PoolKind kKind>
Value* GlobalPool2d(SymbolArgs& a) {
  const std::string layout = a.Text("layout", "NCHW");
  const bool last = !IsBlockedLayout(layout) && IsChannelsLast(a, layout);
  return InItsLayout(a, GlobalPool(a, InChannelsFirst(a), kKind, last), last);
}
Value* LayoutTransform(SymbolArgs& a) {
  const std::string from = a.Text("src_layout", ""), to = a.Text("dst_layout", "");
  return InLayout(a, a.in(0), from, to);
}
Value* DenseUnits(SymbolArgs& a) {
  IgnoreTypes(a);
  const bool bias = a.Flag("use_bias", true);
  const Expr x = a.in(0);
  a.Require(x->shape() == nullptr || x->shape()->rank() == 2,
            "a dense layer of another rank than 2");
  std::vector<Value*> operands = {x, a.in(1)};
  if (bias) operands.push_back(a.in(2));
  return a.Op("gemm", std::move(operands), {{"transB", 1}});
}
Value* BatchNormRow(SymbolArgs& a) {
  a.Ignore("momentum");
  const bool center = a.Flag("center", true), scale = a.Flag("scale", true);
  return BatchNormalize(a, a.in(0), scale ? a.in(1).value() : nullptr,
                        center ? a.in(2).value() : nullptr, a.in(3), a.in(4), a.Integer("axis", 1),
                        a.Number("epsilon", 1e-5));
}
Value* PreluRow(SymbolArgs& a) { return PreluAlong(a.in(0), a.in(1), a.Integer("axis", 1)); }
Value* LrnRow(SymbolArgs& a) {
  a.Require(a.Integer("axis", 1) == 1, "another axis than 1");
  return LocalResponseNorm(a.in(0), a.Integer("size", 5), a.Number("alpha", 1e-4),
                           a.Number("beta", 0.75), a.Number("bias", 2));
}
absl::StatusOr<Value*> L2NormalizeRow(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes(a.Tuple("axis")));
  // No less than epsilon.
  const Expr sum = Reduce(Square(a.in(0)), "reduce_sum", axes, true);
  return (a.in(0) / Sqrt(Max(sum, a.Number("eps", 1e-10)))).value();
}
Value* UpsamplingRow(SymbolArgs& a) {
  const int64_t scale = a.Integer("scale", 1);
  const std::string method = a.Text("method", "NEAREST_NEIGHBOR");
  a.Require(!IsChannelsLast(a, a.Text("layout", "NCHW")), "channels last");
  a.Require(scale > 0 && scale < 4096, StrCat("a scale of ", scale));
  const bool nearest = method == "NEAREST_NEIGHBOR";
  a.Require(nearest || method == "BILINEAR", StrCat("method ", method));
  const auto by = static_cast<float>(scale);
  return ResizedBy(a.in(0), {1, 1, by, by},
                   nearest ? kNearestFloor : Interpolated("linear", false, false));
}
absl::StatusOr<Value*> ResizeRow(SymbolArgs& a) {
  const std::vector<int64_t> size = a.Tuple("size");
  const std::string method = a.Text("method", "BILINEAR");
  const bool corners = a.Flag("align_corners", false);
  a.Require(!IsChannelsLast(a, a.Text("layout", "NCHW")), "channels last");
  if (size.size() != 2) return Invalid("a size of another number of axes than two");
  const bool nearest = method == "NEAREST_NEIGHBOR";
  a.Require(nearest || method == "BILINEAR", StrCat("method ", method));
  std::vector<Size> sizes = SizesAt(a.in(0), 0, 2);
  sizes.emplace_back(size[0]);
  sizes.emplace_back(size[1]);
  Sampling sampling = Interpolated(nearest ? "nearest" : "linear", corners, false);
  if (nearest) sampling.rounding = "floor";
  return ResizedTo(a.in(0), sizes, sampling).value();
}
Value* MatmulRow(SymbolArgs& a) {
  const Expr x = a.Flag("transpose_a", false) ? SwapLast(a.in(0)) : a.in(0);
  const Expr y = a.Flag("transpose_b", false) ? SwapLast(a.in(1)) : a.in(1);
  a.Require(a.rank(0) >= 0 && a.rank(0) <= 2 && a.rank(1) <= 2, "products of more than matrices");
  return MatMul(x, y);
}

// --- Writing -------------------------------------------------------------------------------------

absl::Status CheckPlanar(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  if (rank != 4) return CannotExpress("NNVM has it for images alone, of two spatial axes");
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  return absl::OkStatus();
}
// SAME follows from the sizes.
absl::StatusOr<Window> WindowOf(SymbolWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), std::move(kernel)));
  if (IsSame(window.auto_pad) && !KnownSizes(w.in(0), 2, 4)) {
    return CannotExpress("pads that depend on the size");
  }
  return *WithPads(std::move(window), w.shape(0));
}
std::vector<int64_t> TwoOf(SymbolWriter& w, Symbol attr) { return w.attrs().Ints(attr, {1, 1}); }

absl::StatusOr<Value*> ToConv2d(SymbolWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlanar(w));
  const Shape* shape = w.shape(1);
  if (!shape || shape->rank() != 4 || !shape->is_static())
    return CannotExpress("weights of unknown size");
  X2IR_ASSIGN_OR_RETURN(Window window, WindowOf(w, {(*shape)[2].value(), (*shape)[3].value()}));
  Value* x = w.in(0);
  if (!window.even()) {
    x = w.Op("pad", {x, w.Ints(TensorPads(window))}, {{"mode", "constant"}});
    window.pads.assign(4, 0);
  }
  std::vector<Value*> operands = {x, w.in(1)};
  if (w.in(2)) operands.push_back(w.in(2));
  return w.Nnvm("conv2d", std::move(operands),
                {{"channels", StrCat((*shape)[0].value())},
                 {"kernel_size", TupleText(window.kernel)},
                 {"strides", TupleText(window.strides)},
                 {"padding", TupleText(window.begins())},
                 {"dilation", TupleText(window.dilations)},
                 {"groups", StrCat(w.Int("group"))},
                 {"use_bias", FlagText(w.in(2) != nullptr)}});
}
absl::StatusOr<Value*> ToConv2dTranspose(SymbolWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlanar(w));
  const Shape* shape = w.shape(1);
  if (!shape || shape->rank() != 4 || !shape->is_static())
    return CannotExpress("weights of unknown size");
  if (w.String("auto_pad") != "NOTSET" || w.attrs().Has("output_shape")) {
    return CannotExpress("pads that follow from the result");
  }
  const std::vector<int64_t> pads = w.attrs().Ints("pads", {0, 0, 0, 0});
  if (pads[0] != pads[2] || pads[1] != pads[3]) return CannotExpress("pads whose ends differ");
  std::vector<Value*> operands = {w.in(0), w.in(1)};
  if (w.in(2)) operands.push_back(w.in(2));
  return w.Nnvm("conv2d_transpose", std::move(operands),
                {{"channels", StrCat((*shape)[1].value() * w.Int("group"))},
                 {"kernel_size", TupleText({(*shape)[2].value(), (*shape)[3].value()})},
                 {"strides", TupleText(TwoOf(w, "strides"))},
                 {"padding", TupleText({pads[0], pads[1]})},
                 {"output_padding", TupleText(w.attrs().Ints("output_padding", {0, 0}))},
                 {"dilation", TupleText(TwoOf(w, "dilations"))},
                 {"groups", StrCat(w.Int("group"))},
                 {"use_bias", FlagText(w.in(2) != nullptr)}});
}
template <bool kMax>
absl::StatusOr<Value*> ToPool2d(SymbolWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlanar(w));
  if (w.wants(1)) return CannotExpress("places of the largest");
  // NNVM's readers have the last window also where it would begin in the padding.
  X2IR_ASSIGN_OR_RETURN(const Window window, ReadWindow(w.attrs(), w.attrs().Ints("kernel_shape")));
  if (window.dilated()) return CannotExpress("a dilated pool");
  X2IR_ASSIGN_OR_RETURN(const Window padded, WindowOf(w, window.kernel));
  for (size_t i = 0; window.ceil_mode && i < window.rank(); ++i) {
    const Dim size = (*w.shape(0))[static_cast<int64_t>(i) + 2];
    X2IR_ASSIGN_OR_RETURN(const Dim out, OutputDim(window, i, size));
    const Dim slack(window.pad_begin(i) + window.pad_end(i) - window.extent(i));
    if (out != CeilDiv(size + slack, window.strides[i]) + 1) {
      return CannotExpress("a last window that would begin in the padding");
    }
    // Nor do they agree on whether what lies beyond the padding counts.
    if (!kMax && w.Int("count_include_pad") != 0 &&
        out != FloorDiv(size + slack, window.strides[i]) + 1) {
      return CannotExpress("a mean that counts padding, of a window that reaches beyond it");
    }
  }
  AttributeMap attrs = {{"pool_size", TupleText(window.kernel)},
                        {"strides", TupleText(window.strides)},
                        {"padding", TupleText(padded.even() ? padded.begins() : padded.pads)},
                        {"ceil_mode", FlagText(w.Int("ceil_mode") != 0)}};
  if (!kMax) attrs.Set("count_include_pad", FlagText(w.Int("count_include_pad") != 0));
  return w.Nnvm(kMax ? "max_pool2d" : "avg_pool2d", {w.in(0)}, std::move(attrs));
}
template <bool kMax>
absl::StatusOr<Value*> ToGlobalPool2d(SymbolWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlanar(w));
  return w.Nnvm(kMax ? "global_max_pool2d" : "global_avg_pool2d", {w.in(0)});
}
// alpha a b + beta c by its parts where it is no dense layer.
absl::StatusOr<Value*> ToDense(SymbolWriter& w) {
  Value *a = w.in(0), *b = w.in(1), *c = w.in(2);
  const double alpha = w.attrs().Float("alpha"), beta = w.attrs().Float("beta");
  if (w.Int("transA") != 0) a = w.Op("transpose", {a}, {{"perm", {1, 0}}});
  if (w.Int("transB") == 0) b = w.Op("transpose", {b}, {{"perm", {1, 0}}});
  const Shape* weights = b->shape();
  const bool known = weights && weights->rank() == 2 && (*weights)[0].is_static();
  if (!known) return CannotExpress("weights of unknown size");
  const Shape* bias = c ? c->shape() : nullptr;
  const bool is_bias = bias && bias->rank() == 1 && ProvablyEqual((*bias)[0], (*weights)[0]) &&
                       alpha == 1 && beta == 1;
  std::vector<Value*> operands = {a, b};
  if (is_bias) operands.push_back(c);
  Value* y = w.Nnvm("dense", std::move(operands),
                    {{"units", StrCat((*weights)[0].value())}, {"use_bias", FlagText(is_bias)}});
  if (alpha != 1) y = w.Nnvm("__mul_scalar__", {y}, {{"scalar", NumberText(alpha)}});
  if (!c || is_bias) return y;
  if (beta != 1) c = w.Nnvm("__mul_scalar__", {c}, {{"scalar", NumberText(beta)}});
  return w.Nnvm("broadcast_add", {y, c});
}
absl::StatusOr<Value*> ToMatmul(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t other, w.Rank(1));
  if (rank != 2 || other != 2) return CannotExpress("a product of other tensors than two matrices");
  return w.Nnvm("matmul", {w.in(0), w.in(1)});
}
absl::StatusOr<Value*> ToBatchNorm(SymbolWriter& w) {
  if (w.wants(1) || w.Int("training_mode") != 0)
    return CannotExpress("a normalization of a training");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const bool last = w.String("layout") == "channels_last";
  AttributeMap attrs = {{"epsilon", NumberText(w.attrs().Float("epsilon"))}};
  if (last && rank > 2) attrs.Set("axis", StrCat(rank - 1));
  return w.Nnvm("batch_norm", {w.in(0), w.in(1), w.in(2), w.in(3), w.in(4)}, std::move(attrs));
}
absl::StatusOr<Value*> ToLrn(SymbolWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  return w.Nnvm("lrn", {w.in(0)},
                {{"size", StrCat(w.Int("size"))},
                 {"axis", "1"},
                 {"alpha", NumberText(w.attrs().Float("alpha"))},
                 {"beta", NumberText(w.attrs().Float("beta"))},
                 {"bias", NumberText(w.attrs().Float("bias"))}});
}
// A slope for each channel of axis 1.
absl::StatusOr<Value*> ToPrelu(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const Shape *x = w.shape(0), *slope = w.shape(1);
  if (rank < 2 || !slope || !slope->is_static() || !(*x)[1].is_static()) {
    return CannotExpress("slopes of unknown size");
  }
  const int64_t channels = (*x)[1].value(), place = 1 - (rank - slope->rank());
  for (int64_t i = 0; i < slope->rank(); ++i) {
    if ((*slope)[i] != Dim(i == place ? channels : 1)) {
      return CannotExpress("slopes that are not of channels");
    }
  }
  if (place < 0) return CannotExpress("slopes that are not of channels");
  Value* flat = slope->rank() == 1 ? w.in(1) : w.Reshape(w.in(1), {channels});
  return w.Nnvm("prelu", {w.in(0), flat}, {{"axis", "1"}});
}
// Nearest, each pixel as often: upsampling.
absl::StatusOr<Value*> ToUpsampling(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const Sampling sampling = SamplingOf(w.node());
  const auto& [kind, mode, nearest] = sampling;
  const Shape *x = w.shape(0), *y = w.out_type().shape();
  if (rank != 4 || w.attrs().Has("axes") || w.Int("antialias") != 0)
    return CannotExpress("this resize");
  if (!CornersFollowSizes(w.node())) return CannotExpress("corners by sizes that are rounded");
  const Tensor* scales = w.in(2) ? w.in(2)->fixed_constant() : nullptr;
  double by_height = 0, by_width = 0;
  if (scales && scales->num_elements() == 4) {
    by_height = scales->AsDouble(2), by_width = scales->AsDouble(3);
    if (scales->AsDouble(0) != 1 || scales->AsDouble(1) != 1) return CannotExpress("this resize");
  } else if (x && y && x->is_static() && y->is_static() && (*x)[2].value() > 0 &&
             (*x)[3].value() > 0) {
    by_height = static_cast<double>((*y)[2].value()) / static_cast<double>((*x)[2].value());
    by_width = static_cast<double>((*y)[3].value()) / static_cast<double>((*x)[3].value());
  }
  const auto scale = static_cast<int64_t>(by_height);
  const bool whole =
      by_height >= 1 && by_height == by_width && by_height == static_cast<double>(scale);
  // Of whole scales other forms mean the same places.
  const bool same =
      sampling == kNearestFloor || (mode == "half_pixel" && nearest.starts_with("round_prefer"));
  if (whole && kind == "nearest" && same) {
    return w.Nnvm("upsampling", {w.in(0)}, {{"scale", StrCat(scale)}});
  }
  // NNVM's places follow from the sizes alone.
  const auto follows = [&](size_t axis, double by) {
    return !scales || (x && (*x)[axis].is_static() && (*y)[axis].is_static() &&
                       static_cast<double>((*x)[axis].value()) * by ==
                           static_cast<double>((*y)[axis].value()));
  };
  if (kind == "linear" && y && !(follows(2, by_height) && follows(3, by_width))) {
    return CannotExpress("places by factors that are not those of the sizes");
  }
  if (kind == "linear" && (mode == "asymmetric" || mode == "align_corners") && y &&
      (*y)[2].is_static() && (*y)[3].is_static() && (*y)[0] == (*x)[0] && (*y)[1] == (*x)[1]) {
    return w.Nnvm("resize", {w.in(0)},
                  {{"size", TupleText({(*y)[2].value(), (*y)[3].value()})},
                   {"method", "BILINEAR"},
                   {"align_corners", FlagText(mode == "align_corners")}});
  }
  return CannotExpress("this resize");
}

}  // namespace

X2IR_NNVM(conv).From("conv2d", Conv2d).From("_contrib_conv2d_NCHWc", Conv2d).To("conv2d", ToConv2d);
X2IR_NNVM(transpose)
    .From("__layout_transform__", LayoutTransform)
    .From("layout_transform", LayoutTransform);
X2IR_NNVM(conv_transpose)
    .From("conv2d_transpose", Conv2dTranspose)
    .To("conv2d_transpose", ToConv2dTranspose);
X2IR_NNVM(max_pool).From("max_pool2d", Pool2d<PoolKind::kMax>).To("max_pool2d", ToPool2d<true>);
X2IR_NNVM(average_pool)
    .From("avg_pool2d", Pool2d<PoolKind::kAverage>)
    .To("avg_pool2d", ToPool2d<false>);
X2IR_NNVM(global_max_pool)
    .From("global_max_pool2d", GlobalPool2d<PoolKind::kMax>)
    .To("global_max_pool2d", ToGlobalPool2d<true>);
X2IR_NNVM(global_average_pool)
    .From("global_avg_pool2d", GlobalPool2d<PoolKind::kAverage>)
    .To("global_avg_pool2d", ToGlobalPool2d<false>);
X2IR_NNVM(gemm).From("dense", DenseUnits).To("dense", ToDense);
X2IR_NNVM(matmul).From("matmul", MatmulRow).To("matmul", ToMatmul);
X2IR_NNVM(batch_normalization).From("batch_norm", BatchNormRow).To("batch_norm", ToBatchNorm);
X2IR_NNVM(lrn).From("lrn", LrnRow).To("lrn", ToLrn);
X2IR_NNVM(prelu).From("prelu", PreluRow).To("prelu", ToPrelu);
X2IR_NNVM(resize)
    .From("upsampling", UpsamplingRow)
    .From("resize", ResizeRow)
    .To("upsampling", ToUpsampling);
X2IR_NNVM(reduce_l2).From("l2_normalize", L2NormalizeRow);

}  // namespace x2ir
