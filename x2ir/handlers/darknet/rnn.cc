// Darknet: recurrent layers.
#include <cstdlib>

#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/formats/darknet/darknet.h"
#include "x2ir/handlers/darknet/darknet.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// The convolutions or connected layers that a recurrent layer is made of.
class Parts {
 public:
  Parts(DarknetArgs& a, bool images)
      : a_(a), images_(images), norm_(a.Flag("batch_normalize", false)) {
    a.Drop({"output", "hidden"});
    if (!images) return;
    a.RefuseAll({"xnor"});
    groups_ = a.Integer("groups", 1);
    const int64_t size = a.Integer("size", 3), stride = a.Integer("stride", 1),
                  dilation = a.Integer("dilation", 1);
    // Without a word about it, images keep their size.
    const bool said = a.HasAttr("pad") || a.HasAttr("padding");
    const int64_t given = a.Integer("padding", 0);
    const int64_t padding = (a.Flag("pad", false) || !said ? size / 2 : given) * dilation;
    window_ = SquareWindow(size, {stride, stride}, dilation, padding);
    a.Require(stride == 1 && 2 * padding == (size - 1) * dilation, "images that change their size");
  }
  Expr Of(size_t part, const Expr& x) {
    Value* const bias = norm_ ? nullptr : Weight(part, 0).value();
    const Expr weights = Weight(part, images_ && norm_ ? 4 : 1);
    if (images_) return Normed(part, Convolve(a_, x, weights, bias, window_, groups_));
    const bool transposed = a_.NodeReader::Bool("x2ir.transposed", false);
    return Normed(part, Dense(FlattenedRows(x), weights, bias, transposed));
  }
  // With zeros a layer is its bias: [1, channels], or [1, channels, 1, 1].
  Expr OfZeros(size_t part) {
    std::vector<int64_t> dims = {1, -1};
    if (images_) dims.insert(dims.end(), {1, 1});
    const Expr bias = Reshape(Weight(part, 0), dims);
    return Normed(part, norm_ ? bias * 0.0 : bias);
  }

 private:
  // Biases, weights and the norm; a convolution's weights are the last.
  Expr Weight(size_t part, size_t i) { return a_.weights(part * (norm_ ? 5 : 2) + i); }
  Expr Normed(size_t part, const Expr& x) {
    if (!norm_) return x;
    const size_t first = images_ ? 1 : 2;
    return x2ir::Normed(a_, x, Weight(part, 0), Weight(part, first), Weight(part, first + 1),
                        Weight(part, first + 2));
  }

  DarknetArgs& a_;
  const bool images_, norm_;
  Window window_;
  int64_t groups_ = 1;
};

// Three layers: of what comes in, of the state, and of their sum.
absl::StatusOr<Value*> Recurrent(DarknetArgs& a, bool images) {
  Parts parts(a, images);
  const int64_t logistic = images ? 0 : a.Integer("logistic", 0);
  const std::string activation = a.Text("activation", "logistic");
  const std::string of_state = logistic == 2 ? "loggy" : logistic == 1 ? "logistic" : activation;
  a.Drop({"shortcut"});
  const Expr in = parts.Of(0, images ? a.image() : a.in(0));
  X2IR_ASSIGN_OR_RETURN(const Expr fresh, ActivatedBy(activation, in));
  X2IR_ASSIGN_OR_RETURN(const Expr kept, ActivatedBy(of_state, parts.OfZeros(1)));
  const Expr out = parts.Of(2, fresh + kept);
  X2IR_ASSIGN_OR_RETURN(const Expr y, ActivatedBy(activation, out));
  return y.value();
}

// [gru], [lstm] and [conv_lstm]: each gate is the sum of a layer of what comes in ("u..."), one of
// the state ("w...") and, with peepholes, one of the cell ("v...").
class Gates {
 public:
  Gates(DarknetArgs& a, bool images)
      : parts_(a, images),
        names_(a.StringList(darknet::kParts)),
        x_(images ? a.image() : a.in(0)),
        activation_(images ? a.Text("activation", "linear") : "linear") {}
  bool starts_with_state() const { return !names_.empty() && names_[0][0] == 'w'; }
  // The sum before its function. The state is zeros, and so is the cell, unless it is given.
  absl::StatusOr<Expr> Sum(char gate, const Expr& cell = nullptr) {
    Expr sum = nullptr;
    for (const char kind : {'u', 'w', 'v'}) {
      const std::string name = {kind, gate};
      const auto at = std::ranges::find(names_, name);
      if (at == names_.end() && kind == 'v') break;
      if (at == names_.end()) return Invalid("there is no part ", name);
      const auto part = static_cast<size_t>(at - names_.begin());
      const Expr of = kind == 'u' ? x_ : kind == 'v' ? cell : nullptr;
      const Expr y = of.value() ? parts_.Of(part, of) : parts_.OfZeros(part);
      X2IR_ASSIGN_OR_RETURN(const Expr term, ActivatedBy(activation_, y));
      sum = sum.value() ? sum + term : term;
    }
    return sum;
  }

 private:
  Parts parts_;
  std::vector<std::string> names_;
  Expr x_ = nullptr;
  std::string activation_;
};

absl::StatusOr<Value*> Gru(DarknetArgs& a) {
  Gates gates(a, false);
  // An option of pjreddie's.
  const bool tanh = a.Flag("tanh", false) && gates.starts_with_state();
  X2IR_ASSIGN_OR_RETURN(const Expr z, gates.Sum('z'));
  X2IR_ASSIGN_OR_RETURN(const Expr h, gates.Sum('h'));
  return ((1.0 - Sigmoid(z)) * (tanh ? h.Op("tanh") : Sigmoid(h))).value();
}

absl::StatusOr<Value*> Lstm(DarknetArgs& a, bool images) {
  Gates gates(a, images);
  if (images) {
    a.Drop({"peephole", "bottleneck", "state_constrain", "time_normalizer"});
    a.RefuseAll({"shortcut"});
    a.Require(a.Text("lstm_activation", "tanh") == "tanh",
              "lstm_activation, which Darknet looks at on GPUs only");
  }
  X2IR_ASSIGN_OR_RETURN(const Expr i, gates.Sum('i'));
  X2IR_ASSIGN_OR_RETURN(const Expr g, gates.Sum('g'));
  const Expr cell = Sigmoid(i) * g.Op("tanh");
  X2IR_ASSIGN_OR_RETURN(const Expr o, gates.Sum('o', cell));
  return (Sigmoid(o) * cell.Op("tanh")).value();
}

}  // namespace

X2IR_DARKNET(rnn)
    .From("rnn", [](DarknetArgs& a) { return Recurrent(a, false); })
    .From("crnn", [](DarknetArgs& a) { return Recurrent(a, true); });
X2IR_DARKNET(gru).From("gru", Gru);
X2IR_DARKNET(lstm)
    .From("lstm", [](DarknetArgs& a) { return Lstm(a, false); })
    .From("conv_lstm", [](DarknetArgs& a) { return Lstm(a, true); });

}  // namespace x2ir
