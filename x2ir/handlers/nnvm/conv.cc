// NNVM: convolutions.

#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/nnvm/layouts.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/window.h"

namespace x2ir {
namespace {

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

}  // namespace

X2IR_NNVM(conv)
    .From({{"conv2d", Conv2d}, {"_contrib_conv2d_NCHWc", Conv2d}})
    .To("conv2d", ToConv2d);
X2IR_NNVM(conv_transpose)
    .From("conv2d_transpose", Conv2dTranspose)
    .To("conv2d_transpose", ToConv2dTranspose);

}  // namespace x2ir
