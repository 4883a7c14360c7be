// Keras, written: recurrent layers. Each direction is a layer; one that goes backwards gives its
// steps in the order in which it makes them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/handlers/keras/write_recurrent.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/recurrent.h"
#include "x2ir/optimizer/match.h"

namespace x2ir {
namespace {

// Rows [gate * units, (gate + 1) * units) of matrix `direction` of a weight [directions, rows,
// columns], gates in another order.
Tensor GatesOf(const Tensor& weight, int64_t direction, int64_t first, int64_t units,
               const std::vector<int64_t>& gates) {
  const int64_t columns = weight.rank() == 3 ? weight.dim(2) : 1;
  std::vector<int64_t> dims = {static_cast<int64_t>(gates.size()) * units};
  if (weight.rank() == 3) dims.push_back(columns);
  Tensor picked = Tensor::Zeros(weight.dtype(), dims);
  const auto row = static_cast<size_t>(columns * BitWidth(weight.dtype()) / 8);
  const size_t size = static_cast<size_t>(units) * row;
  const std::byte* from =
      weight.bytes().data() + static_cast<size_t>(direction * weight.dim(1) + first) * row;
  std::byte* to = picked.mutable_bytes().data();
  for (size_t i = 0; i < gates.size(); ++i) {
    std::memcpy(to + i * size, from + static_cast<size_t>(gates[i]) * size, size);
  }
  return picked;
}

// hard_sigmoid is clip(x / 6 + 0.5) since Keras 3. clip(alpha x + beta) is hard_sigmoid of
// 6 alpha x + 6 (beta - 0.5).
WrittenActivation HardSigmoidOf(double alpha, double beta) {
  constexpr double kSlopes = 6, kRounding = 1e-6;
  WrittenActivation f = {"hard_sigmoid", kSlopes * alpha, kSlopes * (beta - 0.5)};
  if (std::abs(f.scale - 1) < kRounding) f.scale = 1;
  return f;
}

// The activations of the IR's node in their order, as Keras has them.
absl::StatusOr<std::vector<WrittenActivation>> ActivationsOf(const AttributeMap& attrs) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<RecurrentFunction> functions, RecurrentFunctions(attrs));
  std::vector<WrittenActivation> all;
  for (const auto& [name, parameters, alpha, beta] : functions) {
    if (name == "HardSigmoid") {
      all.push_back(HardSigmoidOf(alpha, beta));
    } else if (name == "Affine") {
      if (alpha != 1 || beta != 0) {
        return CannotExpress("the activation ", name, " of ", alpha, " and ", beta,
                             " of a recurrent layer");
      }
      all.push_back({"linear"});
    } else if (name == "Elu") {
      if (alpha != 1) {
        return CannotExpress("the activation ", name, " of another slope of a recurrent layer");
      }
      all.push_back({"elu"});
    } else if (name == "Sigmoid" || name == "Tanh" || name == "Relu" || name == "Softsign" ||
               name == "Softplus") {
      all.push_back({absl::AsciiStrToLower(name)});
    } else {
      return CannotExpress("the activation ", name, " of a recurrent layer");
    }
  }
  return all;
}

}  // namespace

const WrittenCell* WrittenCellOf(Symbol op) {
  static const WrittenCell kCells[] = {{"lstm", "LSTM", {0, 2, 3, 1}, 2},
                                       {"gru", "GRU", {0, 1, 2}, 1},
                                       {"rnn", "SimpleRNN", {0}, 1}};
  for (const WrittenCell& cell : kCells) {
    if (cell.op == op.view()) return &cell;
  }
  return nullptr;
}

Value* BatchFirst(Builder& b, Value* x) {
  const Node* made = x->producer();
  if (made && made->Is("transpose") &&
      made->attrs().Ints("perm", {}) == std::vector<int64_t>{1, 0, 2}) {
    return made->input(0);
  }
  if (made && made->op() == "ops.Transpose" &&
      made->attrs().String(keras::kCallArguments, "").find("[1, 0, 2]") != std::string::npos) {
    return made->input(0);
  }
  return b.Op("transpose", {x}, {{"perm", {1, 0, 2}}});
}

absl::Status RecurrentWriter::Check() {
  X2IR_RETURN_IF_ERROR(w_.WantFloats());
  const Tensor *kernel = w_.Weight(1), *recurrent = w_.Weight(2);
  if (!kernel || !recurrent || (w_.has(3) && !w_.Weight(3))) {
    return CannotExpress("weights that are computed");
  }
  if (w_.has(4)) return CannotExpress("lengths of sequences");
  if (w_.has(7)) return CannotExpress("peepholes");
  if (w_.attrs().Has("clip")) return CannotExpress("a clip of the gates' sums");
  if (w_.attrs().Int("input_forget", 0) != 0) return CannotExpress("a coupled forget gate");
  if (w_.attrs().Int("batch_first", 0) != 0) return CannotExpress("a batch that is first");
  if (!w_.shape() || w_.shape()->rank() != 3) return CannotExpress("steps of unknown rank");
  if (w_.has(3) && w_.dtype() != DType::kFloat32) {
    return CannotExpress("biases of ", Name(w_.dtype()));
  }
  units_ = recurrent->dim(2);
  X2IR_ASSIGN_OR_RETURN(activations_, ActivationsOf(w_.attrs()));
  const bool changes = std::ranges::any_of(activations_, &WrittenActivation::changes);
  if (changes && w_.dtype() != DType::kFloat32) {
    return CannotExpress("a hard_sigmoid of another slope than Keras 3's, of ", Name(w_.dtype()));
  }
  for (size_t i = 5; i < 5 + cell_.states; ++i) {
    if (w_.has(i) && w_.in(i)->constant() && !IsFilledWith(w_.in(i), 0)) {
      return CannotExpress("an initial state that is a constant");
    }
  }
  return absl::OkStatus();
}

// The rows of gates, each scaled as its activation wants it.
Value* RecurrentWriter::Kernel(size_t operand, int64_t direction,
                               const std::vector<WrittenActivation>& of_gates) {
  Tensor gates = GatesOf(*w_.Weight(operand), direction, 0, units_, cell_.gates);
  const int64_t row = gates.dim(1);
  for (size_t i = 0; i < of_gates.size(); ++i) {
    if (of_gates[i].scale == 1) continue;
    float* numbers = reinterpret_cast<float*>(gates.mutable_bytes().data()) +
                     static_cast<int64_t>(i) * units_ * row;
    for (int64_t k = 0; k < units_ * row; ++k) {
      numbers[k] = static_cast<float>(numbers[k] * of_gates[i].scale);
    }
  }
  return w_.b().Constant(TransposeWeight(gates, {{1, 0}}));
}

// The two biases: one after the other, or their sum.
Value* RecurrentWriter::Bias(int64_t direction, bool apart,
                             const std::vector<WrittenActivation>& of_gates) {
  const auto count = static_cast<int64_t>(cell_.gates.size());
  std::vector<float> numbers(static_cast<size_t>((apart ? 2 : 1) * count * units_));
  std::optional<Tensor> of_x, of_h;
  if (const Tensor* all = w_.has(3) ? w_.Weight(3) : nullptr) {
    of_x = GatesOf(*all, direction, 0, units_, cell_.gates);
    of_h = GatesOf(*all, direction, count * units_, units_, cell_.gates);
  }
  for (int64_t i = 0; i < count * units_; ++i) {
    const WrittenActivation& f = of_gates[static_cast<size_t>(i / units_)];
    const double x = of_x ? of_x->AsDouble(i) * f.scale : 0;
    const double h = of_h ? of_h->AsDouble(i) * f.scale : 0;
    numbers[static_cast<size_t>(i)] = static_cast<float>((apart ? x : x + h) + f.shift);
    if (apart) numbers[static_cast<size_t>(count * units_ + i)] = static_cast<float>(h);
  }
  const std::vector<int64_t> dims =
      apart ? std::vector<int64_t>{2, count * units_} : std::vector<int64_t>{count * units_};
  return w_.b().Constant(Tensor::Of<float>(dims, numbers));  // Check: no others have biases
}

std::vector<Type> RecurrentWriter::ResultTypes(bool sequences, bool states) const {
  const Dim length = (*w_.shape())[0], batch = (*w_.shape())[1];
  const Type state = Type::Tensor(w_.dtype(), Shape({batch, Dim(units_)})),
             steps = Type::Tensor(w_.dtype(), Shape({batch, length, Dim(units_)}));
  std::vector<Type> types = {sequences ? steps : state};
  if (states) types.insert(types.end(), cell_.states, state);
  return types;
}

absl::StatusOr<RecurrentWriter::Layer> RecurrentWriter::Direction(int64_t d, bool backwards,
                                                                  bool sequences, bool states) {
  const size_t functions = activations_.size() / static_cast<size_t>(w_.Weight(1)->dim(0));
  const WrittenActivation* f = &activations_[functions * static_cast<size_t>(d)];
  const bool gru = cell_.layer == "GRU", lstm = cell_.layer == "LSTM";
  const bool apart = gru && w_.Int("linear_before_reset");
  const WrittenActivation& own = f[functions == 1 ? 0 : 1];
  // The function of the cell is the layer's, too, and its operand has no weights.
  if (lstm && (f[2] != own || own.changes())) return CannotExpress("two activations");
  std::vector<WrittenActivation> of_gates(cell_.gates.size(), f[0]);
  if (functions > 1) of_gates[2] = own;  // the candidate
  const bool shifts = std::ranges::any_of(of_gates, [](const auto& g) { return g.shift != 0; });
  const bool biased = w_.has(3) || shifts;
  Layer layer;
  layer.config = {{"units", units_},
                  {"activation", own.name},
                  {"use_bias", int64_t{biased}},
                  {"return_sequences", int64_t{sequences}},
                  {"return_state", int64_t{states}},
                  {"go_backwards", int64_t{backwards}}};
  if (functions > 1) layer.config.Set("recurrent_activation", f[0].name);
  if (gru) layer.config.Set("reset_after", int64_t{apart});
  layer.weights = {Kernel(1, d, of_gates), Kernel(2, d, of_gates)};
  if (biased) layer.weights.push_back(Bias(d, apart, of_gates));
  for (size_t i = 5; i < 5 + cell_.states; ++i) {
    if (!w_.has(i) || IsFilledWith(w_.in(i), 0)) continue;
    layer.states.push_back(w_.Op("gather", {w_.in(i), w_.b().Int(d)}, {{"axis", 0}}));
  }
  if (!layer.states.empty() && layer.states.size() != cell_.states) {
    return CannotExpress("one of two initial states");
  }
  return layer;
}

namespace {

// A node of which fuse (write_recurrent.cc) made no layers.
absl::StatusOr<Values> ToRecurrent(KerasWriter& w) {
  const WrittenCell& cell = *WrittenCellOf(w.node().op());
  RecurrentWriter writer(w, cell);
  X2IR_RETURN_IF_ERROR(writer.Check());
  Value* x = BatchFirst(w.b(), w.in(0));
  const bool states = w.wants(1) || w.wants(2);
  std::vector<Values> parts;  // steps, and states, of each direction
  for (int64_t d = 0; d < w.Weight(1)->dim(0); ++d) {
    const bool backwards = w.String("direction") == "reverse" || d == 1;
    X2IR_ASSIGN_OR_RETURN(RecurrentWriter::Layer layer,
                          writer.Direction(d, backwards, w.wants(0), states));
    const std::vector<Type> types = writer.ResultTypes(w.wants(0), states);
    Values made = w.LayerAll(cell.layer, {x}, "initial_state", layer.states,
                             std::move(layer.config), layer.weights, types);
    if (w.wants(0) && backwards) {
      made[0] =
          w.Function("Flip", {made[0]}, KerasArguments({{"axis", Json(int64_t{1})}}), types[0]);
    }
    made.resize(1 + cell.states, made[0]);
    parts.push_back(std::move(made));
  }
  Values results(1 + cell.states, nullptr);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!w.wants(i)) continue;
    const int64_t axis = i == 0 ? 1 : 0;
    std::vector<Value*> all;
    for (const Values& part : parts) {
      Value* y = i == 0 ? w.Op("transpose", {part[0]}, {{"perm", {1, 0, 2}}}) : part[i];
      all.push_back(w.Op("unsqueeze", {y, w.Ints({axis})}));
    }
    results[i] = all.size() == 1 ? all[0] : w.Op("concat", all, {{"axis", axis}});
  }
  return results;
}

}  // namespace

X2IR_KERAS(lstm).To("LSTM", ToRecurrent);
X2IR_KERAS(gru).To("GRU", ToRecurrent);
X2IR_KERAS(rnn).To("SimpleRNN", ToRecurrent);

}  // namespace x2ir
