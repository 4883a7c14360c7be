// If, Loop, Scan and SequenceMap. What their graphs hold is converted by the driver.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using Ints = std::vector<int64_t>;

// Whether a branch may give the one type where the other branch gives the other.
using Together = bool (*)(const Type& a, const Type& b);

// What the branches give must go together; `hint` says which opset asks for less.
class BranchesLens : public LensImpl {
 public:
  BranchesLens(Together together, std::string_view hint) : together_(together), hint_(hint) {}
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const AttributeMap& attrs = draft.node().attrs();
    const auto a = attrs.SubGraph("then_branch").outputs();
    const auto b = attrs.SubGraph("else_branch").outputs();
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
      if (together_(a[i]->type(), b[i]->type())) continue;
      return CannotExpress("the branches give ", a[i]->type().ToString(), " and ",
                           b[i]->type().ToString(), hint_);
    }
    return absl::OkStatus();
  }

 private:
  const Together together_;
  const std::string_view hint_;
};

// Until opset 10 both branches give results of one shape.
bool BranchesMerge(const Type& a, const Type& b) { return MergeTypes(a, b).ok(); }

// The IR does not distinguish a tensor from an optional one.
bool AreOfOneKind(const Type& a, const Type& b) {
  return a.kind() == b.kind() || a.kind() == Type::kUnknown || b.kind() == Type::kUnknown;
}

X2IR_ONNX(if)
    .Is("If", In(1, 10),
        std::make_shared<const BranchesLens>(BranchesMerge, ", which opset 11 allows"))
    .Is("If", Since(11), std::make_shared<const BranchesLens>(AreOfOneKind, ""));
// Whether only the number of rounds ends the loop: the body returns its condition, or true.
bool GoesOn(const Graph& body) {
  if (body.outputs().empty() || body.inputs().size() < 2) return true;
  const Value* cond = body.outputs()[0];
  for (const Node* node = cond->producer();
       node && node->op() == "Identity" && node->num_inputs() == 1 && node->input(0);
       node = cond->producer()) {
    cond = node->input(0);
  }
  if (cond == body.inputs()[1]) return true;
  const Tensor* known = cond->fixed_constant();
  if (!known && cond->producer() && cond->producer()->op() == "Constant") {
    const Attribute* value = cond->producer()->attrs().Find("value");
    known = value ? value->get<Tensor>() : nullptr;
  }
  return known && !known->is_sparse() && known->dtype() == DType::kBool &&
         known->num_elements() == 1 && known->AsInt(0) != 0;
}

// A loop without a condition is one whose first round always comes. ONNX's text says that what the
// body says of the next rounds does not count then, but runtimes heed it.
class FirstRoundComes : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    const Attribute* body = draft.node().attrs().Find("body");
    const auto* graph = body ? body->get<std::shared_ptr<Graph>>() : nullptr;
    Value* cond = draft.TakeOperand("cond");
    if (!cond && graph && *graph && !GoesOn(**graph)) {
      const Value* told = (*graph)->inputs()[1];  // some say that it is of rank 1
      const bool vector = told->shape() && told->shape()->rank() == 1;
      const Tensor yes = Tensor::Scalar<bool>(true);
      cond = draft.builder().Constant(vector ? yes.Reshaped({1}) : yes, "cond");
    }
    return draft.SetOperand("cond", cond);
  }
  absl::Status Export(Draft& draft) const override {
    return draft.SetOperand("cond", draft.TakeOperand("cond"));
  }
};

X2IR_ONNX(loop).Is("Loop", Since(1), Lens(std::make_shared<FirstRoundComes>()));
X2IR_ONNX(sequence_map).Is("SequenceMap", Since(17));

// What the operands and the outputs of an ONNX Scan are.
struct Counts {
  int64_t states, scans, outputs;
};

absl::StatusOr<Counts> CountsOf(const Node& node, int64_t operands_before) {
  const int64_t operands = static_cast<int64_t>(node.num_inputs()) - operands_before;
  const int64_t scans = node.attrs().Int("num_scan_inputs");
  const int64_t outputs = static_cast<int64_t>(node.num_outputs());
  if (scans < 1 || scans > operands || operands - scans > outputs) {
    return Invalid("num_scan_inputs is ", scans, "; there are ", operands, " operands and ",
                   outputs, " outputs");
  }
  return Counts{operands - scans, scans, outputs - (operands - scans)};
}

// --- Scan of opset 9 and later --------------------------------------------------------------

// Axes or directions of a Scan, which are all 0 where the file does not say. Axes may count from
// the end since opset 11.
class ScanNumbersLens : public LensImpl {
 public:
  ScanNumbersLens(std::string name, bool of_outputs, bool axes)
      : name_(std::move(name)), of_outputs_(of_outputs), axes_(axes) {}

  absl::Status Import(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(name_);
    if (!attr) {
      X2IR_ASSIGN_OR_RETURN(const Counts counts, CountsOf(draft.node(), 0));
      attr = Ints(of_outputs_ ? counts.outputs : counts.scans, 0);
    }
    draft.SetAttr(name_, *std::move(attr));
    return absl::OkStatus();
  }

  absl::Status Export(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(name_);
    if (!attr) return Internal("attribute '", name_, "' is missing");
    Ints numbers = *attr->get<Ints>();
    if (axes_ && draft.opset() < 11) {
      const Node& node = draft.node();
      const size_t states = node.num_inputs() - node.attrs().Int("num_scan_inputs");
      for (size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] >= 0) continue;
        const Value* value = of_outputs_ ? node.output(states + i) : node.input(states + i);
        if (!value || !value->shape()) {
          return CannotExpress(
              name_, ": ", numbers[i],
              " counts from the end, which opset 11 allows; the rank is not known");
        }
        numbers[i] += value->shape()->rank();
      }
    }
    if (std::any_of(numbers.begin(), numbers.end(), [](int64_t n) { return n != 0; })) {
      draft.SetAttr(name_, std::move(numbers));
    }
    return absl::OkStatus();
  }

  std::vector<std::string> IrAttrs() const override { return {name_}; }
  std::vector<std::string> ForeignAttrs() const override { return {name_}; }

 private:
  std::string name_;
  bool of_outputs_, axes_;
};

Lens ScanNumbers(std::string name, bool of_outputs, bool axes) {
  return std::make_shared<ScanNumbersLens>(std::move(name), of_outputs, axes);
}

// --- Scan of opset 8 ------------------------------------------------------------------------

// Its operands have a batch axis before all others, and the body sees one batch item at a time:
// a scan over the batch whose body is a scan over the sequence.
absl::StatusOr<Values> FromScan8(Rewrite& r) {
  const Node& node = r.node;
  if (r.has(0)) {
    return Unimplemented("sequence_lens: values after the end of a sequence are not specified");
  }
  X2IR_ASSIGN_OR_RETURN(const Counts counts, CountsOf(node, 1));
  const auto [states, scans, outputs] = counts;
  Ints directions = r.attrs().Ints("directions", Ints(scans, 0));
  auto item = std::make_shared<Graph>("batch_item");
  std::vector<Value*> operands, inputs;
  for (int64_t i = 0; i < states + scans; ++i) {
    if (!r.in(1 + i)) return Invalid("operand ", 1 + i, " is left out");
    operands.push_back(r.in(1 + i));
    Type type = r.in(1 + i)->type();
    if (type.is_tensor() && type.shape()) {
      std::vector<Dim> dims = type.shape()->dims();
      if (dims.empty()) return Invalid("operand ", 1 + i, " has no batch axis");
      dims.erase(dims.begin());
      type.set_shape(Shape(std::move(dims)));
    }
    inputs.push_back(item->AddInput("", std::move(type)));
  }
  Builder b(*item, nullptr);
  const std::vector<Value*> results = b.Ops("scan", inputs,
                                            {{"body", *r.attrs().Find("body")},
                                             {"num_scan_inputs", scans},
                                             {"scan_input_axes", Ints(scans, 0)},
                                             {"scan_input_directions", std::move(directions)},
                                             {"scan_output_axes", Ints(outputs, 0)},
                                             {"scan_output_directions", Ints(outputs, 0)}},
                                            node.num_outputs());
  X2IR_RETURN_IF_ERROR(b.status());
  for (Value* result : results) item->AddOutput(result);
  std::vector<bool> wanted;
  for (const Value* output : node.outputs()) wanted.push_back(output != nullptr);
  return r.b.Ops("scan", operands,
                 {{"body", std::move(item)},
                  {"num_scan_inputs", states + scans},
                  {"scan_input_axes", Ints(states + scans, 0)},
                  {"scan_input_directions", Ints(states + scans, 0)},
                  {"scan_output_axes", Ints(node.num_outputs(), 0)},
                  {"scan_output_directions", Ints(node.num_outputs(), 0)}},
                 wanted);
}

// Moves one axis of a tensor; the identity where it does not move.
absl::StatusOr<Value*> MoveAxis(Builder& b, Value* value, const Value& like, int64_t from,
                                int64_t to) {
  if (from == to) return value;
  if (!like.shape()) return CannotExpress("an axis that is not the first one, of unknown rank");
  const int64_t rank = like.shape()->rank();
  if (from < 0) from += rank;
  if (to < 0) to += rank;
  if (from < 0 || from >= rank || to < 0 || to >= rank) {
    return Invalid("axis ", from, " or ", to, " is out of range for rank ", rank);
  }
  if (from == to) return value;
  Ints perm;
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i);
  perm.erase(perm.begin() + from);
  perm.insert(perm.begin() + to, from);
  return b.Node("onnx", "Transpose", {value}, {{"perm", std::move(perm)}}, {true})[0];
}

// With a batch of one.
absl::StatusOr<Values> ToScan8(Rewrite& r) {
  const Node& node = r.node;
  const int64_t scans = r.attrs().Int("num_scan_inputs");
  const size_t states = node.num_inputs() - static_cast<size_t>(scans);
  const Ints& directions = r.attrs().Ints("scan_output_directions");
  if (std::any_of(directions.begin(), directions.end(), [](int64_t d) { return d != 0; })) {
    return CannotExpress("scan_output_directions cannot be expressed at opset 8", FirstVersion{9});
  }
  const auto batched = [&](std::string_view op, Value* value) {
    return r.b.Node("onnx", op, {value}, {{"axes", Ints{0}}}, {true})[0];
  };
  std::vector<Value*> operands = {nullptr};
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    Value* value = r.in(i);
    if (i >= states) {
      X2IR_ASSIGN_OR_RETURN(
          value, MoveAxis(r.b, value, *value, r.attrs().Ints("scan_input_axes")[i - states], 0));
    }
    operands.push_back(batched("Unsqueeze", value));
  }
  AttributeMap attrs = {{"body", *r.attrs().Find("body")}, {"num_scan_inputs", scans}};
  const Ints& reversed = r.attrs().Ints("scan_input_directions");
  if (std::any_of(reversed.begin(), reversed.end(), [](int64_t d) { return d != 0; })) {
    attrs.Set("directions", reversed);
  }
  std::vector<bool> wanted;
  for (const Value* output : node.outputs()) wanted.push_back(output != nullptr);
  std::vector<Value*> results = r.b.Node("onnx", "Scan", operands, std::move(attrs), wanted);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) continue;
    results[i] = batched("Squeeze", results[i]);
    if (i < states) continue;
    X2IR_ASSIGN_OR_RETURN(results[i], MoveAxis(r.b, results[i], *node.output(i), 0,
                                               r.attrs().Ints("scan_output_axes")[i - states]));
  }
  return results;
}

X2IR_ONNX(scan)
    .Is("Scan", In(8, 8), Code{FromScan8, ToScan8})
    .Is("Scan", Since(9), ScanNumbers("scan_input_axes", false, true),
        ScanNumbers("scan_input_directions", false, false),
        ScanNumbers("scan_output_axes", true, true),
        ScanNumbers("scan_output_directions", true, false));

}  // namespace
}  // namespace x2ir
