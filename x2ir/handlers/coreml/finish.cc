#include "x2ir/handlers/coreml/finish.h"

#include <algorithm>

#include "x2ir/builder/narrow.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/formats/coreml/mil_ops.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/coreml/classifier.h"
#include "x2ir/handlers/coreml/images.h"

namespace x2ir {
namespace {

struct Retyping {
  DType from, to;
};

constexpr std::string_view kBoundSteps[] = {"add",     "concat",  "expand_dims", "identity",
                                            "maximum", "minimum", "select",      "sub"};
constexpr std::string_view kBoundQuestions[] = {"greater", "greater_equal", "less", "less_equal"};
constexpr BoundOps kBoundOps{"slice_by_index", kBoundSteps, kBoundQuestions, "gather"};

// Every value of a type, nested graphs included.
absl::Status Retype(Graph& graph, const Retyping& by) {
  const auto change = [&](Value* value) {
    if (!value || value->dtype() != by.from) return;
    Type type = value->type();
    type.set_dtype(by.to);
    value->set_type(std::move(type));
  };
  for (Value* constant : graph.constants()) {
    if (constant->dtype() != by.from) continue;
    X2IR_ASSIGN_OR_RETURN(Tensor tensor, Narrowed(*constant->constant(), constant->name(),
                                                  OnlyBounds(*constant, kBoundOps)));
    graph.ReplaceConstant(constant, std::move(tensor));
  }
  for (Value* input : graph.inputs()) change(input);
  const std::string_view name = coreml::MilTypeName(by.to), old = coreml::MilTypeName(by.from);
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(Retype(*inner, by));
    // Labels that are integers are int64.
    if (IsClassify(node)) continue;
    for (size_t i = 0; i < node->num_outputs(); ++i) change(node->output(i));
    for (const auto& [attr, value] : AttributeMap(node->attrs())) {
      if (const Tensor* tensor = value.get<Tensor>(); tensor && tensor->dtype() == by.from) {
        X2IR_ASSIGN_OR_RETURN(Tensor other, Narrowed(*tensor, attr.view()));
        node->SetAttr(attr, std::move(other));
      }
      const std::string* text = value.get<std::string>();
      if (text && *text == old && (attr == Symbol("dtype") || attr == Symbol("output_dtype"))) {
        node->SetAttr(attr, std::string(name));
      }
    }
  }
  return absl::OkStatus();
}

// --- Inputs and outputs
// ---------------------------------------------------------------------------

// The places where a value is an output of its graph or of those in it.
void CollectOutputs(Graph& graph, const Value* value,
                    std::vector<std::pair<Graph*, size_t>>* found) {
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (graph.outputs()[i] == value) found->emplace_back(&graph, i);
  }
  for (Graph* inner : graph.NestedGraphs()) CollectOutputs(*inner, value, found);
}
std::vector<std::pair<Graph*, size_t>> OutputsOf(Graph& graph, const Value* value) {
  std::vector<std::pair<Graph*, size_t>> found;
  if (value->is_graph_output()) CollectOutputs(graph, value, &found);
  return found;
}

// The type that Core ML has for an input or output of that type.
absl::StatusOr<DType> PortType(DType t, bool narrow) {
  switch (t) {
    case DType::kFloat64:
      if (narrow) return DType::kFloat32;
      return CannotExpress("an input or output of float64; ", OptionText("float64_as_float32"),
                           " makes it float32");
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kInt32: return t;
    case DType::kInt64:
    case DType::kBool: return DType::kInt32;
    case DType::kString:
      return CannotExpress(
          "an input or output of string; a program has one only as a classifier's label: of "
          "constant labels, each once, that of the greatest of as many scores (arg_max)");
    default:
      if (IsInteger(t) && BitWidth(t) >= 8 && BitWidth(t) <= 16) return DType::kInt32;
      return CannotExpress("an input or output of ", Name(t));
  }
}

struct Port {
  std::string text;  // as the metadata has it
  DType dtype = DType::kUndefined;
};

absl::StatusOr<Port> PortOf(const Value& value, bool narrow) {
  if (!value.type().is_tensor() || !value.shape()) {
    return CannotExpress("'", value.name(), "' is of unknown rank; ", OptionText("shapes"),
                         " NAME:1,3,... gives shapes of inputs");
  }
  absl::StatusOr<DType> dtype = PortType(value.dtype(), narrow);
  if (!dtype.ok()) return Annotate(dtype.status(), StrCat("'", value.name(), "'"));
  return Port{StrCat(value.name(), "|", value.type().ToString()), *dtype};
}

void Remember(Value* value, const Port& port) {
  value->annotations().GetOrMake().extra[coreml::kPort] = port.text;
}

// A constant of one element, or of one for each channel of an image.
Value* NumbersOf(Graph& graph, const Value& input, std::string_view what,
                 const std::vector<double>& numbers) {
  Tensor tensor = Tensor::Zeros(DType::kFloat32, {});
  if (numbers.size() > 1) {
    tensor = Tensor::Zeros(DType::kFloat32, {1, static_cast<int64_t>(numbers.size()), 1, 1});
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    tensor.mutable_span<float>()[i] = static_cast<float>(numbers[i]);
  }
  return graph.AddConstant(graph.UniqueName(StrCat(input.name(), what)), std::move(tensor));
}

// Gives an input the type that Core ML has. The scale and bias of an image follow it, and then a
// cast to the type inside the graph. `image` may be null.
void FinishInput(Graph& graph, Value* input, const Port& port, const ImageInput* image) {
  Remember(input, port);
  auto& notes = input->annotations().GetOrMake().extra;
  notes.erase(coreml::kImage);
  if (image) notes[coreml::kImage] = image->layout;
  Type type = input->type();
  const DType inner = type.dtype();
  const std::vector<Use> uses(input->uses().begin(), input->uses().end());
  const auto outputs = OutputsOf(graph, input);
  type.set_dtype(port.dtype);
  input->set_type(type);

  Node* const first = graph.first();
  Value* last = input;
  const auto step = [&](std::string_view op, std::vector<Value*> operands, std::string_view what) {
    Node* node = graph.InsertNode(first, coreml::kDialect, op, operands);
    last = graph.AddNodeOutput(node, graph.UniqueName(StrCat(input->name(), what)), type);
    return node;
  };
  const auto cast = [&](DType to) {
    if (type.dtype() == to) return;
    type.set_dtype(to);
    step("cast", {last}, "_cast")->SetAttr("dtype", std::string(coreml::MilTypeName(to)));
  };
  if (image) {
    const auto& bias = image->bias;
    const bool biased = std::any_of(bias.begin(), bias.end(), [](double b) { return b != 0; });
    // What pixels are scaled and shifted in is float32, whatever the network computes in.
    if (image->scale != 1 || biased) cast(DType::kFloat32);
    if (image->scale != 1) {
      step("mul", {last, NumbersOf(graph, *input, "_scale", {image->scale})}, "_scaled");
    }
    if (biased) step("add", {last, NumbersOf(graph, *input, "_bias", bias)}, "_biased");
  }
  cast(inner);
  if (last == input) return;
  for (const Use& use : uses) use.node->SetInput(use.index, last);
  for (const auto& [list, i] : outputs) list->SetOutput(i, last);
}

// What is an output is the result of an operation, once, and of a type that Core ML has.
void FinishOutput(Graph& graph, size_t i, const Port& port) {
  const std::vector<Value*> outputs = graph.outputs();
  Value* value = outputs[i];
  const auto before = outputs.begin() + static_cast<ptrdiff_t>(i);
  const bool again = std::find(outputs.begin(), before, value) != before;
  const bool same = value->dtype() == port.dtype;
  if (!same || !value->producer() || again) {
    Node* node =
        graph.AppendNode(coreml::kDialect, same ? "identity" : "cast", std::vector<Value*>{value});
    if (!same) node->SetAttr("dtype", std::string(coreml::MilTypeName(port.dtype)));
    Type type = value->type();
    type.set_dtype(port.dtype);
    Value* outer = graph.AddNodeOutput(node, graph.UniqueName(StrCat(value->name(), "_out")), type);
    graph.SetOutput(i, outer);
    if (!again && value->producer()) graph.SwapNames(value, outer);
    value = outer;
  }
  Remember(value, port);
}

}  // namespace

absl::Status FinishCoreml(Model& model, const FormatOptions& options) {
  Graph& graph = *model.graph;
  const bool narrow = options.Flag("float64_as_float32");
  X2IR_ASSIGN_OR_RETURN(const auto images, ImagesOf(graph, options));
  std::vector<Port> inputs, outputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    X2IR_ASSIGN_OR_RETURN(Port port, PortOf(*graph.inputs()[i], narrow || images[i]));
    if (images[i]) {
      port.dtype = images[i]->layout == "GRAYSCALE_FLOAT16" ? DType::kFloat16 : DType::kFloat32;
    }
    inputs.push_back(std::move(port));
  }
  for (const Value* output : graph.outputs()) {
    outputs.emplace_back();
    if (IsClassify(output->producer())) continue;  // they are as they must be
    X2IR_ASSIGN_OR_RETURN(outputs.back(), PortOf(*output, narrow));
  }
  X2IR_RETURN_IF_ERROR(Retype(graph, {DType::kInt64, DType::kInt32}));
  X2IR_RETURN_IF_ERROR(Retype(graph, {DType::kFloat64, DType::kFloat32}));
  if (options.Flag("float16")) {
    X2IR_RETURN_IF_ERROR(Retype(graph, {DType::kFloat32, DType::kFloat16}));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    FinishInput(graph, graph.inputs()[i], inputs[i], images[i] ? &*images[i] : nullptr);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!IsClassify(graph.outputs()[i]->producer())) FinishOutput(graph, i, outputs[i]);
  }
  return FinishClassifier(graph, options);
}

}  // namespace x2ir
