// MXNet: convolutions.
#include <algorithm>

#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/nnvm/symbol.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

Value* Convolution(SymbolArgs& a) {
  a.Ignore("num_filter");
  const Window w = TakeMxnetWindow(a);
  return Convolve(a, a.in(0), a.in(1), BiasOf(a, 2, false), w, a.Integer("num_group", 1));
}

// Weights [in, out of a group, kernel...]. target_shape says the sizes of the result, of which one
// too many is taken away at the begin.
Value* Deconvolution(SymbolArgs& a) {
  a.Ignore("num_filter");
  Window w = TakeMxnetWindow(a);
  const size_t n = w.rank();
  a.Require(!w.channels_last, "a transposed convolution with channels last");
  std::vector<int64_t> adj = a.TupleOf("adj", n, 0);
  const std::vector<int64_t> target = a.Tuple("target_shape");
  bool has_target = false;
  for (const int64_t size : target) has_target = has_target || size != 0;
  if (has_target && target.size() == n) {
    adj.assign(n, 0);
    for (size_t i = 0; i < n; ++i) {
      const Dim dim = DimAt(a.in(0), static_cast<int64_t>(i) + 2);
      a.Require(dim.is_static() && dim.value() < (int64_t{1} << 32),
                "a target shape with an operand of unknown size");
      const int64_t whole = w.strides[i] * (dim.value() - 1) + w.extent(i),
                    excess = whole - std::max<int64_t>(target[i], 0);
      if (target[i] < 1 || excess < 0) a.Fail(Invalid("a target shape that is too large"));
      w.SplitPads(i, excess, /*odd_at_end=*/false);
    }
  }
  const int64_t groups = a.Integer("num_group", 1);
  return MakeConvTranspose(a.in(0), a.in(1), BiasOf(a, 2, true), w, groups, adj);
}

// Operands: x, offset, weights, bias; with a mask after the offset.
template <bool kMask>
Value* DeformableConvolution(SymbolArgs& a) {
  const std::vector<int64_t> kernel = a.Tuple("kernel");
  a.Require(kernel.size() == 2, "a window of two axes");
  const std::vector<int64_t> pad = a.TupleOf("pad", 2, 0);
  IsChannelsLast(a, a.Text("layout"));
  a.Ignore("num_filter"), a.Ignore("im2col_step");
  const size_t weights = kMask ? 3 : 2;
  const bool no_bias = a.Flag("no_bias", false);
  std::vector<Value*> operands = {a.in(0), a.in(weights), a.in(1),
                                  no_bias ? nullptr : a.in(weights + 1).value()};
  if (kMask) operands.push_back(a.in(2));
  return a.Op("deform_conv", std::move(operands),
              {{"strides", a.TupleOf("stride", 2, 1)},
               {"dilations", a.TupleOf("dilate", 2, 1)},
               {"pads", std::vector<int64_t>{pad[0], pad[1], pad[0], pad[1]}},
               {"group", a.Integer("num_group", 1)},
               {"offset_group", a.Integer("num_deformable_group", 1)}});
}

}  // namespace

X2IR_MXNET(conv).From({"Convolution", "Convolution_v1", "_npx_convolution"}, Convolution);
X2IR_MXNET(conv_transpose).From({"Deconvolution", "_npx_deconvolution"}, Deconvolution);
X2IR_MXNET(deform_conv)
    .From({"_contrib_DeformableConvolution", "_npx_deformable_convolution"},
          DeformableConvolution<false>)
    .From({"_contrib_ModulatedDeformableConvolution", "_npx_modulated_deformable_convolution"},
          DeformableConvolution<true>);

}  // namespace x2ir
