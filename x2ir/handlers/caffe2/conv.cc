// Caffe2: convolutions.
#include <algorithm>

#include "x2ir/builder/layers/detection.h"
#include "x2ir/handlers/caffe2/caffe2.h"
#include "x2ir/handlers/caffe2/windows_internal.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> Conv(Caffe2Args& a) {
  Windows w = WindowsOf(a);
  const int64_t group = a.Int("group", 1);
  Value* bias = a.num_inputs() > 2 ? a.in(2).value() : nullptr;
  if (w.legacy == kValid) std::fill(w.window.pads.begin(), w.window.pads.end(), 0);
  if (w.legacy > kValid) return Unimplemented("legacy_pad ", w.legacy, " of a convolution");
  return Convolve(a, a.in(0), a.in(1), bias, w.window, group).value();
}

absl::StatusOr<Value*> ConvTranspose(Caffe2Args& a) {
  Windows w = WindowsOf(a);
  CheckWindow(a, w.window);
  const std::vector<int64_t> more = PerAxis(a, "adj", "adjs", w.window.rank(), 0);
  const bool last = w.window.channels_last;
  w.window.channels_last = false;
  const int64_t group = a.Int("group", 1);
  // With channels last weights are [in, kernel..., out].
  const auto first = [&](size_t i) {
    return last ? MoveAxis(a.in(i), a.RankOf(i) - 1, 1) : a.in(i);
  };
  const Expr x = first(0), weights = first(1);
  const Expr y =
      MakeConvTranspose(x, weights, a.has(2) ? a.in(2).value() : nullptr, w.window, group, more);
  return (last ? MoveAxis(y, 1, a.RankOf() - 1) : y).value();
}

}  // namespace

X2IR_CAFFE2(conv).From("Conv", Conv);
X2IR_CAFFE2(conv_transpose).From("ConvTranspose", ConvTranspose);

}  // namespace x2ir
