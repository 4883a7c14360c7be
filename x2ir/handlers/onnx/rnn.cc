// ONNX RNN, GRU and LSTM. The IR writes out what ONNX may leave to defaults: activations for
// each direction, and hidden_size.
#include <memory>
#include <string>
#include <vector>

#include "x2ir/builder/expr.h"
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/recurrent.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

class RecurrentLens : public LensImpl {
 public:
  explicit RecurrentLens(Strings activations) : activations_(std::move(activations)) {}

  absl::Status Import(Draft& draft) const override {
    const Strings usual = Usual(draft);
    std::optional<Attribute> attr = draft.TakeAttr("activations");
    const auto* names = attr ? attr->get<Strings>() : nullptr;
    if (attr && names == nullptr) return Invalid("attribute 'activations': expected strings");
    // The schema's default of RNN holds two names, whatever the direction.
    const bool given = names != nullptr && !names->empty() && draft.SourceHasAttr("activations") &&
                       !(activations_.size() == 1 && *names == Strings{"Tanh", "Tanh"});
    SetActivations(draft, given ? *names : usual);
    if (auto size = HiddenSize(draft)) draft.SetAttr("hidden_size", *size);
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    if (const auto attr = draft.TakeAttr("activations"); attr && *attr != Attribute(Usual(draft))) {
      SetActivations(draft, *attr);
    }
    if (auto size = HiddenSize(draft)) draft.SetAttr("hidden_size", *size);
    return absl::OkStatus();
  }
  Strings IrAttrs() const override {
    return {"activations", "activation_alpha", "activation_beta", "hidden_size"};
  }
  Strings ForeignAttrs() const override { return IrAttrs(); }

 private:
  Strings Usual(const Draft& draft) const {
    Strings names = activations_;
    const Attribute* direction = draft.node().attrs().Find("direction");
    if (direction != nullptr && *direction == Attribute("bidirectional")) {
      names.insert(names.end(), activations_.begin(), activations_.end());
    }
    return names;
  }
  // With all names and numbers written out.
  static void SetActivations(Draft& draft, Attribute activations) {
    AttributeMap attrs = {{"activations", std::move(activations)}};
    for (const char* name : {"activation_alpha", "activation_beta"}) {
      if (auto numbers = draft.TakeAttr(name)) attrs.Set(name, *std::move(numbers));
    }
    WriteOutFunctions(attrs);
    for (const auto& [name, attr] : attrs) draft.SetAttr(name, attr);
  }
  // As said, or else as r's shape says.
  static std::optional<Attribute> HiddenSize(Draft& draft) {
    if (auto attr = draft.TakeAttr("hidden_size")) return attr;
    const Value* r = draft.node().input(2);
    if (r == nullptr || r->shape() == nullptr || r->shape()->rank() != 3) return std::nullopt;
    const Dim& last = (*r->shape())[2];
    if (!last.is_static()) return std::nullopt;
    return Attribute(last.value());
  }
  Strings activations_;  // of one direction
};

Lens Recurrent(Strings activations) {
  return std::make_shared<RecurrentLens>(std::move(activations));
}
Lens RnnDefaults() { return Recurrent({"Tanh"}); }
Lens GruDefaults() { return Recurrent({"Sigmoid", "Tanh"}); }
Lens LstmDefaults() { return Recurrent({"Sigmoid", "Tanh", "Tanh"}); }
Lens LengthFirst() { return Fixed("batch_first", 0); }
Lens Layout() { return Renamed("batch_first", "layout"); }

// Before opset 7 output_sequence said whether Y is an output, which the outputs say themselves.
Lens SequenceHint() { return Dropped("output_sequence"); }
// The default direction of the first GRU is misspelled.
Lens MisspelledDirection() {
  return EnumMap("direction", "direction",
                 {{"forward", "forward"},
                  {"reverse", "reverse"},
                  {"bidirectional", "bidirectional"},
                  {"forward", "foward"}});
}

// One scale and zero point for each direction, or for each direction and column.
absl::StatusOr<Value*> DequantizedWeights(Rewrite& r, size_t weights, size_t scale, size_t zero) {
  for (const size_t i : {scale, zero}) {
    if (r.rank(i) != 1 && r.rank(i) != 2) {
      return Unimplemented("operand ", i, ": expected rank 1 or 2, got ", r.rank(i));
    }
  }
  const Expr q{r.b, r.in(weights)};
  const auto placed = [&](size_t i) {
    return Unsqueeze({r.b, r.in(i)},
                     r.rank(i) == 1 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1});
  };
  const Expr steps = q.To(DType::kFloat32) - placed(zero).To(DType::kFloat32);
  return Transpose(steps * placed(scale), {0, 2, 1}).value();
}

// An LSTM whose weights are integers, [directions, input, 4 * hidden]. ONNX Runtime's kernel also
// rounds the operands to 8 bits, for speed; that is not what the network means (ADR 24).
absl::StatusOr<Values> FromDynamicQuantizeLstm(Rewrite& r) {
  enum { kX, kW, kR, kB, kLengths, kHidden, kCell, kP, kScaleW, kZeroW, kScaleR, kZeroR };
  X2IR_ASSIGN_OR_RETURN(Value * w, DequantizedWeights(r, kW, kScaleW, kZeroW));
  X2IR_ASSIGN_OR_RETURN(Value * recurrent, DequantizedWeights(r, kR, kScaleR, kZeroR));
  const Dim hidden = DimAt(recurrent, 2);
  if (!hidden.is_static()) return Unimplemented("R: an unknown size");
  const std::string direction = r.attrs().String("direction", "forward");
  AttributeMap attrs = RecurrentAttributes({.cell = UsualLstm("iofg"), .direction = direction});
  attrs.Set("hidden_size", hidden.value());
  attrs.Set("input_forget", r.attrs().Int("input_forget", 0));
  for (const char* name : {"activations", "activation_alpha", "activation_beta", "clip"}) {
    if (const Attribute* given = r.node.attrs().Find(name)) attrs.Set(name, *given);
  }
  return r.b.Ops(
      "lstm",
      {r.in(kX), w, recurrent, r.in(kB), r.in(kLengths), r.in(kHidden), r.in(kCell), r.in(kP)},
      std::move(attrs),
      std::vector<bool>{r.node.output(0) != nullptr, r.node.output(1) != nullptr,
                        r.node.output(2) != nullptr});
}

X2IR_ONNX(rnn)
    .Is("RNN", In(1, 13), RnnDefaults(), LengthFirst(), SequenceHint())
    .Is("RNN", Since(14), RnnDefaults(), Layout());
X2IR_ONNX(gru)
    .Is("GRU", In(1, 2), GruDefaults(), LengthFirst(), SequenceHint(), MisspelledDirection(),
        ImportOnly())
    .Is("GRU", In(3, 13), GruDefaults(), LengthFirst(), SequenceHint())
    .Is("GRU", Since(14), GruDefaults(), Layout());
X2IR_ONNX(lstm)
    .Is("LSTM", In(1, 13), LstmDefaults(), LengthFirst(), SequenceHint())
    .Is("LSTM", Since(14), LstmDefaults(), Layout())
    .Is("com.microsoft::DynamicQuantizeLSTM", Since(1), Code{FromDynamicQuantizeLstm, nullptr});

}  // namespace
}  // namespace x2ir
