// Recurrent layers written as calls.
#include <string>
#include <vector>

#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

struct WrittenRnn {
  std::string_view op;         // without its overload's name
  std::vector<int64_t> gates;  // the IR's gates in PyTorch's order
};

// Rows of gates in PyTorch's order, of direction d.
Value* GatesOf(TorchWriter& w, Value* weights, int64_t d, const WrittenRnn& kind) {
  Value* own = w.Op("gather", {weights, w.b().Int(d)}, {{"axis", 0}});
  const int64_t n = static_cast<int64_t>(kind.gates.size());
  if (n == 1) return own;
  const Values parts =
      w.b().Ops("split", {own, nullptr}, {{"axis", 0}, {"num_outputs", n}}, static_cast<size_t>(n));
  std::vector<Value*> ordered;
  for (const int64_t gate : kind.gates) ordered.push_back(parts[static_cast<size_t>(gate)]);
  return w.Op("concat", ordered, {{"axis", 0}});
}

bool HasDefaults(TorchWriter& w, const std::vector<std::string>& activations, size_t directions) {
  const Attribute* attr = w.attrs().Find("activations");
  const auto* given = attr ? attr->get<Attribute::Strings>() : nullptr;
  std::vector<std::string> all;
  for (size_t i = 0; i < directions; ++i) {
    all.insert(all.end(), activations.begin(), activations.end());
  }
  return given && *given == all && !w.attrs().Has("clip") && w.attrs().Int("input_forget", 0) == 0;
}

absl::StatusOr<Values> WriteRecurrent(TorchWriter& w, const WrittenRnn& kind,
                                      const std::vector<std::string>& activations) {
  const std::string& direction = w.String("direction");
  if (direction == "reverse") return CannotExpress("one direction, backwards");
  const bool both = direction == "bidirectional", lstm = kind.gates.size() == 4;
  const int64_t directions = both ? 2 : 1;
  if (!HasDefaults(w, activations, static_cast<size_t>(directions))) {
    return CannotExpress("other activations, or a clip");
  }
  if (w.has(4) || w.has(7)) return CannotExpress("lengths of sequences, or peepholes");
  if (w.Int("batch_first") != 0) return CannotExpress("the batch first");
  Value* x = w.in(0);
  const Shape *in = x->shape(), *of_r = w.in(2)->shape();
  if (!in || in->rank() != 3 || !of_r || !(*of_r)[2].is_static()) {
    return CannotExpress("operands of unknown sizes");
  }
  const int64_t hidden = (*of_r)[2].value();
  const Type state = Type::Tensor(w.dtype(), Shape({Dim(directions), (*in)[1], Dim(hidden)}));
  const auto initial = [&](size_t i) -> Value* {
    if (w.has(i)) return w.in(i);
    Value* shape = w.Op("concat",
                        {w.b().Ints({directions}), w.Op("shape", {x}, {{"start", 1}, {"end", 2}}),
                         w.b().Ints({hidden})},
                        {{"axis", 0}});
    return w.Op("expand", {w.Number(w.dtype(), 0), shape});
  };
  std::vector<Value*> params;
  for (int64_t d = 0; d < directions; ++d) {
    params.push_back(GatesOf(w, w.in(1), d, kind));
    params.push_back(GatesOf(w, w.in(2), d, kind));
    if (!w.has(3)) continue;
    const Values halves =
        w.b().Ops("split", {w.in(3), nullptr}, {{"axis", 1}, {"num_outputs", 2}}, 2);
    for (Value* half : halves) params.push_back(GatesOf(w, half, d, kind));
  }
  Value* h = initial(5);
  TorchArguments arguments = {{"input", x}};
  if (lstm) {
    arguments.emplace_back("hx", std::vector<Value*>{h, initial(6)});
  } else {
    arguments.emplace_back("hx", h);
  }
  arguments.emplace_back("params", std::move(params));
  arguments.emplace_back("has_biases", w.has(3));
  arguments.emplace_back("num_layers", 1);
  arguments.emplace_back("dropout", 0.0);
  arguments.emplace_back("train", false);
  arguments.emplace_back("bidirectional", both);
  arguments.emplace_back("batch_first", false);
  const Type y = Type::Tensor(w.dtype(), Shape({(*in)[0], (*in)[1], Dim(directions * hidden)}));
  std::vector<bool> wanted = {true, w.wants(1)};
  if (lstm) wanted.push_back(w.wants(2));
  Values values =
      w.Calls(StrCat(kind.op, ".input"), std::move(arguments), wanted, {y, state, state});
  if (!w.wants(0)) {
    values[0] = nullptr;
  } else if (directions == 1) {
    values[0] = w.Op("unsqueeze", {values[0], w.b().Ints({1})});
  } else {
    Value* apart =
        w.Op("reshape", {values[0], w.b().Ints({0, 0, directions, hidden})}, {{"allowzero", 0}});
    values[0] = w.Op("transpose", {apart}, {{"perm", {0, 2, 1, 3}}});
  }
  values.resize(w.node().num_outputs());
  return values;
}

absl::StatusOr<Values> WriteLstm(TorchWriter& w) {
  return WriteRecurrent(w, {"aten::lstm", {0, 2, 3, 1}}, {"Sigmoid", "Tanh", "Tanh"});
}
X2IR_TORCH(lstm).To("aten::lstm.input", WriteLstm);

absl::StatusOr<Values> WriteGru(TorchWriter& w) {
  if (w.Int("linear_before_reset") == 0) return CannotExpress("a reset before the product");
  return WriteRecurrent(w, {"aten::gru", {1, 0, 2}}, {"Sigmoid", "Tanh"});
}
X2IR_TORCH(gru).To("aten::gru.input", WriteGru);

absl::StatusOr<Values> WriteRnn(TorchWriter& w) {
  const Attribute* attr = w.attrs().Find("activations");
  const auto* given = attr ? attr->get<Attribute::Strings>() : nullptr;
  if (!given || given->empty()) return CannotExpress("no activation");
  if ((*given)[0] != "Tanh" && (*given)[0] != "Relu") return CannotExpress("that activation");
  const bool tanh = (*given)[0] == "Tanh";
  return WriteRecurrent(w, {tanh ? "aten::rnn_tanh" : "aten::rnn_relu", {0}}, {(*given)[0]});
}
X2IR_TORCH(rnn).To("aten::rnn_tanh.input", WriteRnn);

}  // namespace
}  // namespace x2ir
