#include "x2ir/handlers/keras/scan.h"

#include <limits>
#include <memory>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/handlers/keras/activation.h"

namespace x2ir {
namespace {

// A step's part of a value that is taken apart along its second axis.
Type StepType(const Expr& x) {
  if (!x->shape()) return Type::Tensor(x.dtype());
  std::vector<Dim> dims;
  for (int64_t i = 0; i < x->shape()->rank(); ++i) {
    if (i != 1) dims.push_back((*x->shape())[i]);
  }
  return Type::Tensor(x.dtype(), Shape(std::move(dims)));
}

}  // namespace

RecurrentSettings TakeRecurrentSettings(KerasArgs& a) {
  RecurrentSettings s;
  s.sequences = a.Flag("return_sequences", false);
  s.states = a.Flag("return_state", false);
  s.backwards = a.Flag("go_backwards", false);
  s.reversed = a.Flag(keras::kReverseOutput, false);
  s.zero_masked = a.Flag("zero_output_for_mask", false);
  for (const char* name : {"num_constants", "cell", "supports_masking"}) a.Ignore(name);
  return s;
}

std::vector<Expr> GivenStates(KerasArgs& a) {
  std::vector<Expr> states = a.tensors();
  states.erase(states.begin());
  for (const Expr& x : a.named("initial_state")) states.push_back(x);
  return states;
}

Expr Reversed(const Expr& x, int64_t axis) {
  Builder& b = x.builder();
  return x.Op("slice", {b.Ints({-1}), b.Ints({std::numeric_limits<int64_t>::min()}), b.Ints({axis}),
                        b.Ints({-1})});
}

std::vector<Expr> KerasLstmStep(KerasArgs& a, const GateSlices& z, const Json& gate_activation,
                                const Json& activation, const Expr& c) {
  const auto open = [&](char gate) { return Activated(a, gate_activation, z[gate]); };
  const Expr i = open('i'), f = open('f'), o = open('o');
  const Expr next = f * c + i * Activated(a, activation, z['g']);
  return {o * Activated(a, activation, next), next};
}

std::vector<Expr> ScanSteps(KerasArgs& a, const Expr& x, const std::vector<Expr>& states,
                            const Expr& mask, const RecurrentSettings& settings,
                            const RecurrentStep& step) {
  Builder& b = a.b();
  const bool masked = mask.value() != nullptr;
  std::vector<Value*> operands;
  for (const Expr& state : states) operands.push_back(state);
  // The last result, which steps that do not count repeat.
  if (masked) operands.push_back(states[0] * 0.0);
  const size_t carried = operands.size();
  operands.push_back(x);
  if (masked) operands.push_back(mask);
  auto body = std::make_shared<Graph>("step");
  {
    std::vector<Value*> inputs;
    for (size_t i = 0; i < operands.size(); ++i) {
      const Type type = i < carried ? operands[i]->type() : StepType({b, operands[i]});
      inputs.push_back(body->AddInput("", type));
    }
    const Builder::Nested nested(b, *body);
    std::vector<Expr> before;
    for (size_t i = 0; i < states.size(); ++i) before.emplace_back(b, inputs[i]);
    std::vector<Expr> after = step({b, inputs[carried]}, before);
    Expr result = after[0];
    if (masked) {
      const Expr counts = {b, inputs.back()};
      const auto chosen = [&](const Expr& now, const Expr& otherwise) {
        const int64_t rank = a.RankOf(now);
        const Expr test = rank > 1 ? Unsqueeze(counts, CountedFrom(1, rank - 1)) : counts;
        return Where(test, now, otherwise);
      };
      const Expr held = {b, inputs[states.size()]};
      result = chosen(result, settings.zero_masked ? held * 0.0 : held);
      for (size_t i = 0; i < after.size(); ++i) after[i] = chosen(after[i], before[i]);
    }
    for (const Expr& state : after) body->AddOutput(state);
    if (masked) body->AddOutput(result);
    body->AddOutput(result.Op("identity"));
  }
  const int64_t from_end = settings.backwards ? 1 : 0;
  const int64_t to_front = settings.reversed ? 1 : 0;
  const size_t inputs = masked ? 2 : 1;
  const std::vector<Value*> results =
      b.Ops("scan", operands,
            {{"body", body},
             {"num_scan_inputs", static_cast<int64_t>(inputs)},
             {"scan_input_axes", Attribute::Ints(inputs, 1)},
             {"scan_input_directions", Attribute::Ints(inputs, from_end)},
             {"scan_output_axes", {1}},
             {"scan_output_directions", Attribute::Ints{to_front}}},
            carried + 1);
  std::vector<Expr> values = {{b, results.back()}};
  if (!settings.sequences) values[0] = {b, results[masked ? states.size() : 0]};
  for (size_t i = 0; i < states.size(); ++i) values.emplace_back(b, results[i]);
  return values;
}

}  // namespace x2ir
