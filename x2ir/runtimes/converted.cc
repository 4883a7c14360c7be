#include "x2ir/runtimes/converted.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/runtimes/check.h"

namespace x2ir {
namespace {

// The value of the file that a port is: by its name, else by position. Null: not known.
const Value* ValueOf(absl::Span<const Value* const> values,
                     const std::vector<InterfaceChange>& ports, size_t at) {
  for (const Value* value : values) {
    if (value->name() == ports[at].name) return value;
  }
  return values.size() == ports.size() ? values[at] : nullptr;
}

bool MovesElements(const Node& node) {
  const OpDef* op = node.is_ir() ? FindOp(node.op()) : nullptr;
  return op && op->moves() != MoveUse::kNone && node.num_outputs() == 1;
}

// The node whose scale and zero point define the real numbers of an integer input or output; nodes
// that only move elements may be between.
const Node* StepsOf(const Value& port) {
  const auto known = [&](const Node* node, bool at_the_port) {
    const Tensor* scale = node->input(1)->fixed_constant();
    const bool fits = scale && (at_the_port || scale->num_elements() == 1);
    return fits && node->input(2) && node->input(2)->fixed_constant();
  };
  std::vector<const Value*> todo = {&port};
  absl::flat_hash_set<const Value*> seen = {&port};
  const auto add = [&](const Value* value) {
    if (value && seen.insert(value).second) todo.push_back(value);
  };
  while (!todo.empty()) {
    const Value* value = todo.back();
    todo.pop_back();
    if (!port.is_input()) {
      const Node* node = value->producer();
      if (node && node->Is("quantize_linear") && known(node, value == &port)) return node;
      if (node && MovesElements(*node)) add(node->input(0));
      continue;
    }
    for (const Use& use : value->uses()) {
      if (use.index != 0) continue;
      const Node* node = use.node;
      if (node->Is("dequantize_linear") && known(node, value == &port)) return node;
      if (MovesElements(*node)) add(node->output(0));
    }
  }
  return nullptr;
}

// Inputs or outputs of a file, and on the other side those of the model that it was made of: a
// graph that computes the one of the other.
class Border {
 public:
  // `to_file`: it gives what the file takes; else what the model gave, of what the file gives.
  static absl::StatusOr<Border> Make(absl::Span<const Value* const> values,
                                     std::vector<InterfaceChange> ports, bool to_file) {
    auto graph = std::make_shared<Graph>("border");
    Builder b(*graph, nullptr);
    for (size_t k = 0; k < ports.size(); ++k) {
      const Value* value = ValueOf(values, ports, k);
      if (!value) continue;  // AsSource says what is wrong
      ports[k].type = value->type();
      const DType before =
          ports[k].source_type.is_tensor() ? ports[k].source_type.dtype() : DType::kUndefined;
      if (IsFloating(before) && IsInteger(value->dtype())) ports[k].type.set_dtype(before);
    }
    for (const Value* value : values) {
      const auto port = [&] {
        size_t k = 0;
        while (k < ports.size() && ValueOf(values, ports, k) != value) ++k;
        return k;
      }();
      Type type = value->type();
      const bool scaled = port < ports.size() && IsInteger(value->dtype()) &&
                          ports[port].type.dtype() != value->dtype();
      if (!scaled) {
        Value* x = graph->AddInput(value->name(), type);
        graph->AddOutput(b.Op("identity", {x}));
        continue;
      }
      const Node* steps = StepsOf(*value);
      if (!steps) {
        return Unimplemented("'", value->name(), "' is ", Name(value->dtype()),
                             " in the file, and ",
                             "it is not known which real numbers its integers represent; ",
                             OptionText("io_type"), " float32 keeps them");
      }
      if (to_file) type.set_dtype(ports[port].type.dtype());
      Value* x = graph->AddInput(value->name(), type);
      AttributeMap attrs;
      if (steps->attrs().Has("axis")) attrs.Set("axis", steps->attrs().Int("axis"));
      graph->AddOutput(b.Op(to_file ? "quantize_linear" : "dequantize_linear",
                            {x, b.Constant(*steps->input(1)->fixed_constant(), "scale"),
                             b.Constant(*steps->input(2)->fixed_constant(), "zero_point")},
                            std::move(attrs)));
    }
    X2IR_RETURN_IF_ERROR(b.status());
    Interface interface;
    (to_file ? interface.inputs : interface.outputs) = std::move(ports);
    if (!to_file) {
      // The ports are the outputs here, and have the names.
      for (size_t k = 0; k < values.size(); ++k) {
        graph->Rename(graph->inputs()[k], graph->UniqueName(StrCat(values[k]->name(), "_given")));
      }
      for (size_t k = 0; k < values.size(); ++k) {
        const bool taken = graph->Find(values[k]->name()) != nullptr;  // two outputs are one value
        graph->Rename(graph->outputs()[k],
                      taken ? graph->UniqueName(values[k]->name()) : values[k]->name());
      }
    }
    X2IR_RETURN_IF_ERROR(AsSource(*graph, interface));
    X2IR_RETURN_IF_ERROR(graph->Sort());
    X2IR_RETURN_IF_ERROR(InferGraph(*graph));
    return Border(std::move(graph));
  }

  absl::StatusOr<std::vector<Datum>> Run(std::vector<Datum> inputs) const {
    return RunGraph(*graph_, std::move(inputs), {});
  }

 private:
  explicit Border(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {}
  std::shared_ptr<Graph> graph_;
};

std::vector<const Value*> RequiredInputs(const Graph& graph) {
  std::vector<const Value*> values;
  for (const Value* input : graph.inputs()) {
    if (!input->constant()) values.push_back(input);
  }
  return values;
}

}  // namespace

struct ConvertedInRuntime::State {
  Model file;
  ModelInRuntime model;  // of `file`
  Border in, out;
};

ConvertedInRuntime::ConvertedInRuntime(std::unique_ptr<State> state) : state_(std::move(state)) {}
ConvertedInRuntime::ConvertedInRuntime(ConvertedInRuntime&&) noexcept = default;
ConvertedInRuntime::~ConvertedInRuntime() = default;

absl::StatusOr<ConvertedInRuntime> ConvertedInRuntime::Open(
    const std::string& path, Interface interface, std::shared_ptr<const Runtime> runtime) {
  X2IR_ASSIGN_OR_RETURN(Model file, Import(path));
  X2IR_ASSIGN_OR_RETURN(ModelInRuntime model,
                        ModelInRuntime::Open(path, *file.graph, std::move(runtime)));
  const std::vector<const Value*> inputs = RequiredInputs(*file.graph);
  const std::vector<const Value*> outputs(file.graph->outputs().begin(),
                                          file.graph->outputs().end());
  X2IR_ASSIGN_OR_RETURN(Border in,
                        Border::Make(inputs, std::move(interface.inputs), /*to_file=*/true));
  X2IR_ASSIGN_OR_RETURN(Border out,
                        Border::Make(outputs, std::move(interface.outputs), /*to_file=*/false));
  return ConvertedInRuntime(std::make_unique<State>(
      State{std::move(file), std::move(model), std::move(in), std::move(out)}));
}

std::string ConvertedInRuntime::Title() const { return state_->model.Title(); }

absl::StatusOr<std::vector<Datum>> ConvertedInRuntime::Run(absl::Span<const Datum> inputs) const {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> given,
                        state_->in.Run({inputs.begin(), inputs.end()}));
  const Graph& graph = *state_->file.graph;
  IoCase io;
  io.inputs.resize(graph.inputs().size());
  size_t next = 0;
  for (size_t i = 0; i < io.inputs.size(); ++i) {
    if (!graph.inputs()[i]->constant()) io.inputs[i] = *given[next++].tensor();
  }
  X2IR_ASSIGN_OR_RETURN(std::vector<Datum> results, state_->model.Run(io));
  return state_->out.Run(std::move(results));
}

Int8InRuntime::Int8InRuntime(const Graph& ir, Interface interface, std::vector<IoCase> cases,
                             std::vector<std::vector<Datum>> floats)
    : before_(std::move(interface)), cases_(std::move(cases)), floats_(std::move(floats)) {
  if (!before_.known) before_ = InterfaceOf(ir);
  for (size_t i = 0; i < ir.inputs().size(); ++i) {
    if (ir.inputs()[i]->constant()) continue;
    required_.push_back(i);
    inputs_.push_back(ir.inputs()[i]->name());
  }
  for (const Value* output : ir.outputs()) outputs_.push_back(output->name());
}

absl::StatusOr<std::vector<OutputError>> Int8InRuntime::Measure(
    const std::string& path, const Interface& after, std::shared_ptr<const Runtime> runtime) const {
  // Both list the source's ports, in its order; inputs that became constants are not among them.
  const auto between = [&](const std::vector<InterfaceChange>& before,
                           const std::vector<InterfaceChange>& then,
                           const std::vector<std::string>& names) {
    std::vector<InterfaceChange> ports;
    for (size_t k = 0; after.known && before.size() == then.size() && k < before.size(); ++k) {
      if (before[k].name.empty()) continue;
      InterfaceChange port = then[k];
      port.source = before[k].name;
      port.source_type = before[k].type;
      ports.push_back(std::move(port));
    }
    if (ports.size() == names.size()) return ports;
    ports.clear();
    for (const std::string& name : names) ports.push_back({name, name, {}, {}, {}, {}});
    return ports;
  };
  Interface interface;
  interface.inputs = between(before_.inputs, after.inputs, inputs_);
  interface.outputs = between(before_.outputs, after.outputs, outputs_);
  X2IR_ASSIGN_OR_RETURN(const ConvertedInRuntime file,
                        ConvertedInRuntime::Open(path, std::move(interface), std::move(runtime)));
  std::vector<std::vector<Datum>> got;
  for (const IoCase& io : cases_) {
    std::vector<Datum> inputs;
    for (const size_t i : required_) inputs.emplace_back(*io.inputs[i]);
    auto results = file.Run(inputs);
    if (!results.ok()) {
      return io.name.empty() ? results.status() : Annotate(results.status(), io.name);
    }
    got.push_back(*std::move(results));
  }
  return OutputErrors(outputs_, got, floats_);
}

}  // namespace x2ir
