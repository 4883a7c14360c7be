// Keras, written: recurrent layers. Each direction is a layer; one that goes backwards gives its
// steps in the order in which it makes them.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "x2ir/formats/keras/keras.h"
#include "x2ir/handlers/keras/keras.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

struct WrittenCell {
  std::string_view layer;
  // The gates of Keras in its order, as places among those of the IR.
  std::vector<int64_t> gates;
  size_t states;
};

// Rows [gate * units, (gate + 1) * units) of matrix `direction` of a weight [directions, rows,
// columns], gates in another order.
Tensor GatesOf(const Tensor& weight, int64_t direction, int64_t first, int64_t units,
               const std::vector<int64_t>& gates) {
  const int64_t columns = weight.rank() == 3 ? weight.dim(2) : 1;
  std::vector<int64_t> dims = {static_cast<int64_t>(gates.size()) * units};
  if (weight.rank() == 3) dims.push_back(columns);
  Tensor picked = Tensor::Zeros(weight.dtype(), dims);
  const auto size = static_cast<size_t>(units * columns * BitWidth(weight.dtype()) / 8);
  const std::byte* from =
      weight.bytes().data() + static_cast<size_t>(direction * weight.dim(1) + first) *
                                  (size / static_cast<size_t>(std::max<int64_t>(units, 1)));
  std::byte* to = picked.mutable_bytes().data();
  for (size_t i = 0; i < gates.size(); ++i) {
    std::memcpy(to + i * size, from + static_cast<size_t>(gates[i]) * size, size);
  }
  return picked;
}

// ONNX's names of functions as Keras has them; "": it has no such function.
std::string_view NameOfActivation(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* same : {"sigmoid", "tanh", "relu", "softsign", "softplus"}) {
    if (lower == same) return same;
  }
  return "";
}

bool IsZero(const Value* v) {
  const Tensor* tensor = v->fixed_constant();
  if (!tensor || tensor->is_sparse()) return false;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    if (tensor->AsDouble(i) != 0) return false;
  }
  return true;
}

// x with the batch first. A transpose that puts it second is left out.
Value* BatchFirst(KerasWriter& w, Value* x) {
  const Node* made = x->producer();
  if (made && made->op() == "ops.Transpose" &&
      made->attrs().String(keras::kCallArguments, "").find("[1, 0, 2]") != std::string::npos) {
    return made->input(0);
  }
  return w.Op("transpose", {x}, {{"perm", {1, 0, 2}}});
}

class RecurrentWriter {
 public:
  RecurrentWriter(KerasWriter& w, WrittenCell cell) : w_(w), cell_(std::move(cell)) {}

  absl::StatusOr<Values> Write() {
    X2IR_RETURN_IF_ERROR(Check());
    x_ = BatchFirst(w_, w_.in(0));
    const std::string& direction = w_.String("direction");
    std::vector<Values> parts;  // steps, and states, of each direction
    for (int64_t d = 0; d < w_.Weight(1)->dim(0); ++d) {
      X2IR_ASSIGN_OR_RETURN(Values part, Direction(d, direction == "reverse" || d == 1));
      parts.push_back(std::move(part));
    }
    Values results(1 + cell_.states, nullptr);
    for (size_t i = 0; i < results.size(); ++i) {
      if (!w_.wants(i)) continue;
      const int64_t axis = i == 0 ? 1 : 0;
      std::vector<Value*> all;
      for (const Values& part : parts) {
        Value* y = i == 0 ? w_.Op("transpose", {part[0]}, {{"perm", {1, 0, 2}}}) : part[i];
        all.push_back(w_.Op("unsqueeze", {y, w_.Ints({axis})}));
      }
      results[i] = all.size() == 1 ? all[0] : w_.Op("concat", all, {{"axis", axis}});
    }
    return results;
  }

 private:
  absl::Status Check() {
    X2IR_RETURN_IF_ERROR(w_.WantFloats());
    const Tensor *kernel = w_.Weight(1), *recurrent = w_.Weight(2);
    if (!kernel || !recurrent || (w_.has(3) && !w_.Weight(3))) {
      return CannotExpress("weights that are computed");
    }
    if (w_.has(4)) return CannotExpress("lengths of sequences");
    if (w_.has(7)) return CannotExpress("peepholes");
    if (w_.attrs().Has("clip")) return CannotExpress("a bound of its sums");
    if (w_.attrs().Int("input_forget", 0) != 0) return CannotExpress("a coupled forget gate");
    if (w_.attrs().Int("batch_first", 0) != 0) return CannotExpress("a batch that is first");
    if (!w_.shape() || w_.shape()->rank() != 3) return CannotExpress("steps of unknown rank");
    units_ = recurrent->dim(2);
    activations_ = *w_.attrs().Find("activations")->get<Attribute::Strings>();
    for (const std::string& name : activations_) {
      if (NameOfActivation(name).empty()) {
        return CannotExpress("the activation ", name, " of a recurrent layer");
      }
    }
    for (size_t i = 5; i < 5 + cell_.states; ++i) {
      if (w_.has(i) && w_.in(i)->constant() && !IsZero(w_.in(i))) {
        return CannotExpress("an initial state that is a constant");
      }
    }
    return absl::OkStatus();
  }

  Value* Kernel(size_t operand, int64_t direction) {
    const Tensor gates = GatesOf(*w_.Weight(operand), direction, 0, units_, cell_.gates);
    return w_.b().Constant(TransposeWeight(gates, {{1, 0}}));
  }

  // The two biases: one after the other, or their sum.
  Value* Bias(int64_t direction, bool apart) {
    const auto count = static_cast<int64_t>(cell_.gates.size());
    const Tensor &all = *w_.Weight(3), of_x = GatesOf(all, direction, 0, units_, cell_.gates),
                 of_h = GatesOf(all, direction, count * units_, units_, cell_.gates);
    std::vector<float> numbers;
    for (int64_t i = 0; i < of_x.num_elements(); ++i) {
      const double x = of_x.AsDouble(i), h = of_h.AsDouble(i);
      numbers.push_back(static_cast<float>(apart ? x : x + h));
    }
    for (int64_t i = 0; apart && i < of_h.num_elements(); ++i) {
      numbers.push_back(static_cast<float>(of_h.AsDouble(i)));
    }
    const std::vector<int64_t> dims =
        apart ? std::vector<int64_t>{2, count * units_} : std::vector<int64_t>{count * units_};
    return w_.Cast(w_.b().Constant(Tensor::Of<float>(dims, numbers)), w_.dtype());
  }

  absl::StatusOr<Values> Direction(int64_t d, bool backwards) {
    if (w_.has(3) && w_.dtype() != DType::kFloat32) {
      return CannotExpress("biases of ", Name(w_.dtype()));
    }
    const size_t functions = activations_.size() / static_cast<size_t>(w_.Weight(1)->dim(0));
    const std::string* names = &activations_[functions * static_cast<size_t>(d)];
    const bool gru = cell_.layer == "GRU", lstm = cell_.layer == "LSTM";
    const std::string own(NameOfActivation(names[functions == 1 ? 0 : 1]));
    if (lstm && NameOfActivation(names[2]) != own) return CannotExpress("two activations");
    const bool states = w_.wants(1) || w_.wants(2), apart = gru && w_.Int("linear_before_reset");
    AttributeMap config = {{"units", units_},
                           {"activation", own},
                           {"use_bias", int64_t{w_.has(3)}},
                           {"return_sequences", int64_t{w_.wants(0)}},
                           {"return_state", int64_t{states}},
                           {"go_backwards", int64_t{backwards}}};
    if (functions > 1) config.Set("recurrent_activation", std::string(NameOfActivation(names[0])));
    if (gru) config.Set("reset_after", int64_t{apart});
    std::vector<Value*> weights = {Kernel(1, d), Kernel(2, d)};
    if (w_.has(3)) weights.push_back(Bias(d, apart));
    std::vector<Value*> given;
    for (size_t i = 5; i < 5 + cell_.states; ++i) {
      if (!w_.has(i) || IsZero(w_.in(i))) continue;
      given.push_back(w_.Op("gather", {w_.in(i), w_.b().Int(d)}, {{"axis", 0}}));
    }
    if (!given.empty() && given.size() != cell_.states) {
      return CannotExpress("one of two initial states");
    }
    const Dim length = (*w_.shape())[0], batch = (*w_.shape())[1];
    const Type state = Type::Tensor(w_.dtype(), Shape({batch, Dim(units_)})),
               steps = Type::Tensor(w_.dtype(), Shape({batch, length, Dim(units_)}));
    std::vector<Type> types = {w_.wants(0) ? steps : state};
    if (states) types.insert(types.end(), cell_.states, state);
    Values made =
        w_.LayerAll(cell_.layer, {x_}, "initial_state", given, std::move(config), weights, types);
    if (w_.wants(0) && backwards) {
      made[0] = w_.Function("Flip", {made[0]}, KerasArguments({{"axis", Json(int64_t{1})}}), steps);
    }
    made.resize(1 + cell_.states, made[0]);
    return made;
  }

  KerasWriter& w_;
  WrittenCell cell_;
  Value* x_ = nullptr;
  int64_t units_ = 0;
  Attribute::Strings activations_;
};

auto ToRecurrent(WrittenCell cell) {
  return [cell](KerasWriter& w) { return RecurrentWriter(w, cell).Write(); };
}

}  // namespace

X2IR_KERAS(lstm).To("LSTM", ToRecurrent({"LSTM", {0, 2, 3, 1}, 2}));
X2IR_KERAS(gru).To("GRU", ToRecurrent({"GRU", {0, 1, 2}, 1}));
X2IR_KERAS(rnn).To("SimpleRNN", ToRecurrent({"SimpleRNN", {0}, 1}));

}  // namespace x2ir
