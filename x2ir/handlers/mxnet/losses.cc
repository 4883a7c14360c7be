// MXNet: losses.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/torch/as_torch.h"

namespace x2ir {
namespace {

// Operands: x [time, batch, labels] before softmax, labels [batch, most], and how many there are of
// each where that is said. Else labels end before the first blank (or, with the blank last, -1).
absl::StatusOr<Value*> CtcLoss(SymbolArgs& a) {
  const bool times = a.Flag("use_data_lengths", false), counts = a.Flag("use_label_lengths", false);
  const std::string blank = a.Text("blank_label", "first");
  if (blank != "first" && blank != "last") return Invalid("blank_label ", blank);
  const Expr x = a.in(0), labels = a.AsInt64(a.in(1));
  const Dim kinds = DimAt(x, 2);
  if (!kinds.is_static() || kinds.value() < 1) return Unimplemented("an unknown number of labels");
  const Expr most = SizeOf(labels, 1), batch = SizeOf(x, 1);
  const Expr steps =
      times ? a.AsInt64(a.in(2)) : Expand(SizeOf(x, 0), ReshapeTo(batch, a.b().Ints({1})));
  Expr lengths = most;
  if (counts) {
    lengths = a.AsInt64(a.in(times ? 3 : 2));
  } else {
    const Expr ends = labels == (blank == "first" ? 0.0 : -1.0);
    lengths = Reduce(Where(ends, Iota(most), most), "reduce_min", {1});
  }
  return AsTorch(a, "aten::ctc_loss.Tensor",
                 {{"log_probs", SoftmaxOf(x, "log_softmax", 2)},
                  {"targets", Max(labels, 0.0)},
                  {"input_lengths", steps},
                  {"target_lengths", lengths},
                  {"blank", blank == "first" ? int64_t{0} : kinds.value() - 1},
                  {"reduction", int64_t{0}},
                  {"zero_infinity", false}},
                 {x.dtype()})[0];
}

}  // namespace

X2IR_MXNET(loop).From({"CTCLoss", "ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss",
                       "_npx_ctc_loss"},
                      CtcLoss);

}  // namespace x2ir
