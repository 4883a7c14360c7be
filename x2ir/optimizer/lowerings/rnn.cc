// Lowerings of recurrent networks: batch_first as transposes around the length-first form, and that
// as a scan over the steps.
#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/name_made.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

// Before opset 14 ONNX has only the length-first layout.
absl::StatusOr<Values> LengthFirst(Rewrite& r) {
  if (r.attrs().Int("batch_first") == 0) return NothingToDo();
  Builder& b = r.b;
  // x and the initial states; weights have no batch axis.
  std::vector<Value*> operands = r.node.inputs();
  for (size_t i : {0, 5, 6}) {
    if (i < operands.size() && operands[i] != nullptr) {
      operands[i] = Transpose({b, operands[i]}, {1, 0, 2});
    }
  }
  AttributeMap attrs = r.attrs();
  attrs.Set("batch_first", 0);
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  Values results = b.Ops(r.node.op(), operands, std::move(attrs), wanted);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) continue;
    const Expr result(b, results[i]);
    results[i] = i == 0 ? Transpose(result, {2, 0, 1, 3}) : Transpose(result, {1, 0, 2});
  }
  return results;
}
X2IR_LOWERING(rnn, LengthFirst);
X2IR_LOWERING(gru, LengthFirst);
X2IR_LOWERING(lstm, LengthFirst);

// --- As a scan ------------------------------------------------------------------------------

// One direction of a network: what its steps need of weights, each of them outside of the loop.
class Cell {
 public:
  Cell(Rewrite& r, int64_t direction) : r_(r), direction_(direction), op_(r.node.op().view()) {}

  absl::Status Read() {
    const Attribute* names = r_.attrs().Find("activations");
    const auto* all = names ? names->get<Attribute::Strings>() : nullptr;
    const size_t count = op_ == "lstm" ? 3 : op_ == "gru" ? 2 : 1;
    if (!all || all->size() % count != 0) return CannotExpress("activations that are not known");
    for (size_t i = 0; i < count; ++i) {
      std::string name = (*all)[(static_cast<size_t>(direction_) * count + i) % all->size()];
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (name != "sigmoid" && name != "tanh" && name != "relu") {
        return CannotExpress("the activation ", name);
      }
      activations_.push_back(std::move(name));
    }
    if (r_.attrs().Has("clip")) clip_ = r_.attrs().Float("clip");
    const Shape* of_r = r_.in(2)->shape();
    if (!of_r || of_r->rank() != 3 || !(*of_r)[2].is_static()) {
      return CannotExpress("weights of unknown sizes");
    }
    hidden_ = (*of_r)[2].value();
    return absl::OkStatus();
  }

  int64_t hidden() const { return hidden_; }

  // The products of all steps with the weights of the operand, and their biases.
  Expr OfInputs() {
    const Expr product = MatMul(Expr(r_.b, r_.in(0)), Transpose(Own(1), {1, 0}));
    if (!r_.has(3)) return product;
    const auto gates = Gates();
    Expr sum = product + Part(3, 0, gates * hidden_);
    if (op_ == "gru") {
      recurrent_bias_ = Part(3, gates * hidden_, 2 * gates * hidden_);
    } else {
      sum = sum + Part(3, gates * hidden_, 2 * gates * hidden_);
    }
    return sum;
  }
  // What a step uses from outside is made here.
  void Prepare() {
    weights_ = Transpose(Own(2), {1, 0});
    if (op_ == "gru") {
      of_gates_ = Slice(weights_, 1, 0, 2 * hidden_);
      of_hidden_ = Slice(weights_, 1, 2 * hidden_, 3 * hidden_);
      if (recurrent_bias_.value()) {
        bias_of_gates_ = Slice(recurrent_bias_, 0, 0, 2 * hidden_);
        bias_of_hidden_ = Slice(recurrent_bias_, 0, 2 * hidden_, 3 * hidden_);
      }
    }
    if (op_ == "lstm" && r_.has(7)) {
      for (int64_t i = 0; i < 3; ++i) peepholes_.push_back(Part(7, i * hidden_, (i + 1) * hidden_));
    }
  }

  // The states after a step, the hidden one first. `x` are this step's products.
  std::vector<Expr> Step(Builder& b, const Expr& x, const std::vector<Expr>& states) const {
    const Expr h = states[0];
    if (op_ == "rnn") return {Act(0, x + MatMul(h, At(b, weights_)))};
    if (op_ == "gru") return {Gru(b, x, h)};
    return Lstm(b, x, h, states[1]);
  }

 private:
  int64_t Gates() const { return op_ == "lstm" ? 4 : op_ == "gru" ? 3 : 1; }
  Expr Own(size_t operand) {
    return {r_.b, r_.b.Op("gather", {r_.in(operand), r_.b.Int(direction_)}, {{"axis", 0}})};
  }
  Expr Part(size_t operand, int64_t from, int64_t to) { return Slice(Own(operand), 0, from, to); }
  static Expr At(Builder& b, const Expr& outside) { return {b, outside.value()}; }
  Expr Act(size_t i, Expr x) const {
    if (clip_) x = Min(Max(x, -*clip_), *clip_);
    return x.Op(activations_[i]);
  }

  Expr Gru(Builder& b, const Expr& x, const Expr& h) const {
    Expr gates = Slice(x, -1, 0, 2 * hidden_) + MatMul(h, At(b, of_gates_));
    if (bias_of_gates_.value()) gates = gates + At(b, bias_of_gates_);
    gates = Act(0, gates);
    const Expr update = Slice(gates, -1, 0, hidden_);
    const Expr reset = Slice(gates, -1, hidden_, 2 * hidden_);
    const bool before = r_.attrs().Int("linear_before_reset", 0) != 0;
    Expr own = MatMul(before ? h : reset * h, At(b, of_hidden_));
    if (bias_of_hidden_.value()) own = own + At(b, bias_of_hidden_);
    const Expr next = Act(1, Slice(x, -1, 2 * hidden_, 3 * hidden_) + (before ? reset * own : own));
    return (1 - update) * next + update * h;
  }

  std::vector<Expr> Lstm(Builder& b, const Expr& x, const Expr& h, const Expr& c) const {
    const Expr all = x + MatMul(h, At(b, weights_));
    const auto gate = [&](int64_t i) { return Slice(all, -1, i * hidden_, (i + 1) * hidden_); };
    const auto seen = [&](const Expr& sum, size_t i, const Expr& cell) {
      return peepholes_.empty() ? sum : sum + At(b, peepholes_[i]) * cell;
    };
    const Expr input = Act(0, seen(gate(0), 0, c));
    const Expr forget =
        r_.attrs().Int("input_forget", 0) != 0 ? 1 - input : Act(0, seen(gate(2), 2, c));
    const Expr cell = forget * c + input * Act(1, gate(3));
    const Expr output = Act(0, seen(gate(1), 1, cell));
    return {output * cell.Op(activations_[2]), cell};
  }

  Rewrite& r_;
  const int64_t direction_;
  const std::string_view op_;
  std::vector<std::string> activations_;
  std::optional<double> clip_;
  int64_t hidden_ = 0;
  Expr weights_ = nullptr, recurrent_bias_ = nullptr;
  Expr of_gates_ = nullptr, of_hidden_ = nullptr, bias_of_gates_ = nullptr,
       bias_of_hidden_ = nullptr;
  std::vector<Expr> peepholes_;
};

// [batch, hidden] of zeros, or of an operand.
Expr FirstState(Rewrite& r, size_t operand, int64_t direction, int64_t hidden) {
  Builder& b = r.b;
  if (r.has(operand)) {
    return {b, b.Op("gather", {r.in(operand), b.Int(direction)}, {{"axis", 0}})};
  }
  const Dim& batch = (*r.in(0)->shape())[1];
  // Large ones are said by their sizes.
  constexpr int64_t kMaxElements = 1 << 16;
  if (batch.is_static() &&
      CheckedProduct({batch.value(), hidden}).value_or(INT64_MAX) <= kMaxElements) {
    return {b, b.Constant(Tensor::Zeros(r.dtype(0), {batch.value(), hidden}))};
  }
  Value* sizes =
      b.Op("concat", {b.Op("shape", {r.in(0)}, {{"start", 1}, {"end", 2}}), b.Ints({hidden})},
           {{"axis", 0}});
  return {b, b.Op("constant_of_shape", {sizes}, {{"value", Tensor::Zeros(r.dtype(0), {1})}})};
}

absl::StatusOr<Values> RecurrentAsScan(Rewrite& r) {
  if (r.attrs().Int("batch_first") != 0) return NothingToDo();
  if (r.rank(0) != 3) return CannotExpress("an operand of unknown rank");
  const std::string direction = r.attrs().String("direction", "forward");
  const bool lstm = r.node.Is("lstm"), both = direction == "bidirectional";
  Builder& b = r.b;
  std::vector<Value*> every, last, cells;
  for (int64_t d = 0; d < (both ? 2 : 1); ++d) {
    Cell cell(r, d);
    X2IR_RETURN_IF_ERROR(cell.Read());
    const Expr x = cell.OfInputs();
    cell.Prepare();
    std::vector<Value*> operands = {FirstState(r, 5, d, cell.hidden())};
    if (lstm) operands.push_back(FirstState(r, 6, d, cell.hidden()));
    const size_t states = operands.size();
    operands.push_back(x);
    // The number of each step, where sequences end before the last one: what a step gives counts
    // for those that are not over. Backwards these come first, and leave the states as they were.
    if (r.has(4)) operands.push_back(Iota(SizeOf(x, 0)).To(r.dtype(4)));
    // The types are those that a scan finds.
    auto body = std::make_shared<Graph>("step");
    {
      Builder inner(*body, nullptr);
      std::vector<Expr> carried;
      for (size_t i = 0; i < states; ++i) {
        carried.push_back({inner, body->AddInput(i == 0 ? "hidden" : "cell", operands[i]->type())});
      }
      std::vector<Dim> dims;
      for (int64_t i = 1; x->shape() && i < x->shape()->rank(); ++i) {
        dims.push_back((*x->shape())[i]);
      }
      const Expr now = {inner, body->AddInput("x", x->shape() ? Type::Tensor(x.dtype(), Shape(dims))
                                                              : Type::Tensor(x.dtype()))};
      std::vector<Expr> next = cell.Step(inner, now, carried);
      Expr y = next[0];
      if (r.has(4)) {
        const Expr step = {inner, body->AddInput("step", Type::Tensor(r.dtype(4), Shape()))};
        const Expr inside = Unsqueeze(step < Expr(inner, r.in(4)), {1});
        y = Where(inside, y, 0.0);
        for (size_t i = 0; i < states; ++i) next[i] = Where(inside, next[i], carried[i]);
      } else {
        y = y.Op("identity");
      }
      for (const Expr& state : next) body->AddOutput(state);
      body->AddOutput(y);
      X2IR_RETURN_IF_ERROR(NameMade(inner, "step", body->outputs()));
    }
    const auto scanned = static_cast<int64_t>(operands.size() - states);
    const int64_t backwards = direction == "reverse" || d == 1;
    const Values results = b.Ops("scan", operands,
                                 {{"body", body},
                                  {"num_scan_inputs", scanned},
                                  {"scan_input_axes", Attribute::Ints(scanned, 0)},
                                  {"scan_input_directions", Attribute::Ints(scanned, backwards)},
                                  {"scan_output_axes", {0}},
                                  {"scan_output_directions", {backwards}}},
                                 states + 1);
    last.push_back(Unsqueeze({b, results[0]}, {0}));
    if (lstm) cells.push_back(Unsqueeze({b, results[1]}, {0}));
    every.push_back(Unsqueeze({b, results.back()}, {1}));
  }
  Values values(r.num_outputs(), nullptr);
  const auto wants = [&](size_t i) { return i < r.num_outputs() && r.node.output(i); };
  if (wants(0)) values[0] = Concat(b, every, 1);
  if (wants(1)) values[1] = Concat(b, last, 0);
  if (wants(2)) values[2] = Concat(b, cells, 0);
  return values;
}
X2IR_LOWERING(rnn, RecurrentAsScan);
X2IR_LOWERING(gru, RecurrentAsScan);
X2IR_LOWERING(lstm, RecurrentAsScan);

}  // namespace
}  // namespace x2ir
