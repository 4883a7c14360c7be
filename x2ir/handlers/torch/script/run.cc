// Runs the method of a program that is read, and makes its graph.
#include "x2ir/handlers/torch/script/run.h"

#include <algorithm>

#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/machine.h"
#include "x2ir/handlers/torch/strides.h"

namespace x2ir::torch_script {

Machine::Machine(Model& model, const Program& program, std::vector<std::string>& warnings,
                 int64_t& steps)
    : model_(model),
      program_(program),
      warnings_(warnings),
      step_(model, "torch"),
      node_names_(*model.graph),
      graph_(model.graph.get()),
      steps_(steps) {
  for (const auto& file : program.files) {
    // Without any of these no tensor is written, and nothing asks where its elements are.
    for (const char* sign : {"_(", "out=", "+=", "-=", "*=", "/=", "] =", "is_contiguous"}) {
      writes_ = writes_ || file->text.find(sign) != file->text.npos;
    }
  }
}

absl::Status Machine::Run() {
  Graph& graph = root();
  graph.ClearOutputs();
  while (graph.last()) graph.EraseUnused(graph.last());
  frames_.emplace_back();
  try {
    const Val object = Load(program_.data->root(), "");
    Args args{{object}, {}};
    for (const InputLayout& input : program_.inputs) args.positional.push_back(InputOf(input));
    const Val result = CallFunction(*program_.method, std::move(args), "");
    AddOutputs(result, "output");
    if (graph.outputs().empty()) Refuse("the method gives no tensors");
    SweepUnused(graph);
  } catch (const Stopped& stopped) {
    // What could not be converted before may be why.
    if (failures_.empty() || !absl::IsUnimplemented(stopped.status)) return stopped.status;
    std::string text = StrCat(stopped.status.message(), "; before that:");
    for (const std::string& failure : failures_) StrAppend(&text, "\n  ", failure);
    return Unimplemented(text);
  } catch (const Raised& raised) {
    return Invalid("the program raises an error for inputs of these shapes: ", raised.message);
  }
  return absl::OkStatus();
}

Val Machine::InputOf(const InputLayout& layout) {
  if (layout.literal) {
    if (layout.kind == InputLayout::kInt) return Val::Int(layout.integer);
    return layout.kind == InputLayout::kFloat ? Val::Float(layout.number)
                                              : Val::Bool(layout.number != 0);
  }
  switch (layout.kind) {
    case InputLayout::kTensor: {
      if (root().Find(layout.name)->type().kind() == Type::kOptional) {
        root().RemoveInput(root().Find(layout.name));
        return layout.default_value ? Evaluate(*layout.default_value) : Val::None();
      }
      Val v = Fresh(root().Find(layout.name));
      v.heap->id = ++loaded_ids_;
      v.tensor().is_input = true;
      Value* value = v.tensor().value;
      if (writes_ && value->shape()) SetStrides(value, ContiguousStrides(*value->shape()));
      return v;
    }
    case InputLayout::kInt: return Val::Computed(Val::kInt, root().Find(layout.name));
    case InputLayout::kFloat: return Val::Computed(Val::kFloat, root().Find(layout.name));
    case InputLayout::kBool: return Val::Computed(Val::kBool, root().Find(layout.name));
    case InputLayout::kNone: return Val::None();
    case InputLayout::kText: return Val::String(layout.text);
    case InputLayout::kDefault: return Evaluate(*layout.default_value);
    case InputLayout::kTuple:
    case InputLayout::kList: {
      std::vector<Val> items;
      for (const InputLayout& part : layout.parts) items.push_back(InputOf(part));
      if (layout.kind == InputLayout::kList) return Val::List(std::move(items));
      Val v = Val::Tuple(std::move(items));
      if (!layout.fields.empty()) v.text = std::make_shared<const std::string>(layout.fields);
      return v;
    }
  }
  return {};
}

void Machine::AddOutputs(const Val& v, const std::string& name, int depth) {
  Graph& graph = root();
  CountStep();
  if (depth > 16) Refuse("results are nested too deep");
  const auto add = [&](Value* value) {
    const bool own = value->producer() && value->graph() == &graph && !value->is_graph_output();
    if (!own) value = Op("identity", {value});
    graph.Rename(value, graph.UniqueName(name));
    graph.AddOutput(value);
  };
  switch (v.kind) {
    case Val::kNone: return;
    case Val::kTensor: {
      Val plain = v;
      if (v.tensor().packed && !v.tensor().batch_sizes) {
        Refuse("result '", name, "' is packed sequences, which no graph has");
      }
      if (v.tensor().quantized) {
        plain = Call("aten::dequantize", {{v}, {}});
        Warn(StrCat("result '", name, "' is quantized in PyTorch; here it is float32"));
      }
      add(Read(plain));
      return;
    }
    case Val::kBool:
    case Val::kInt:
    case Val::kFloat: add(ValueOf(v)); return;
    case Val::kTuple: {
      std::string_view fields = v.str();
      for (size_t i = 0; i < v.tuple().size(); ++i) {
        const size_t end = fields.find('\n');
        AddOutputs(v.tuple()[i],
                   fields.empty() ? StrCat(name, "_", i) : std::string(fields.substr(0, end)),
                   depth + 1);
        if (!fields.empty()) fields.remove_prefix(std::min(end + 1, fields.size()));
      }
      return;
    }
    case Val::kList:
      if (v.list().computed) return add(v.list().computed);
      for (size_t i = 0; i < v.list().items.size(); ++i) {
        AddOutputs(v.list().items[i], StrCat(name, "_", i), depth + 1);
      }
      return;
    case Val::kDict:
      for (const auto& [key, item] : v.dict().items) {
        std::string own = Format(key);
        if (key.kind != Val::kString || own.empty()) own = StrCat(name, "_", own);
        AddOutputs(item, own, depth + 1);
      }
      return;
    case Val::kObject:
      for (const auto& [key, item] : v.object().attributes) AddOutputs(item, key, depth + 1);
      return;
    default: Refuse("result '", name, "' is ", Describe(v));
  }
}

// What the code computes and does not use.
void Machine::SweepUnused(Graph& graph) {
  for (Node* node = graph.last(); node;) {
    Node* previous = node->prev();
    for (Graph* inner : node->subgraphs()) SweepUnused(*inner);
    const bool unused = std::all_of(node->outputs().begin(), node->outputs().end(),
                                    [](const Value* v) { return !v || v->is_unused(); });
    if (unused) EraseWithConstants(node);
    node = previous;
  }
  for (Value* constant : graph.constants()) {
    if (constant && constant->is_unused()) graph.RemoveConstant(constant);
  }
}

}  // namespace x2ir::torch_script

namespace x2ir {

absl::Status RunTorchScript(Model& model, std::vector<std::string>& warnings) {
  const auto* program = dynamic_cast<const torch_script::Program*>(model.program.get());
  if (!program) return Internal("a program that is no TorchScript");
  constexpr int kMaxGuesses = 256;
  int64_t steps = 0;
  for (int guesses = 0;; ++guesses) {
    Model trial = model.Clone();
    std::vector<std::string> said;
    try {
      X2IR_RETURN_IF_ERROR(torch_script::Machine(trial, *program, said, steps).Run());
      warnings.insert(warnings.end(), said.begin(), said.end());
      model = std::move(trial);
      return absl::OkStatus();
    } catch (const torch_script::Guess& guess) {
      if (guesses == kMaxGuesses) return Internal("guesses without end");
      model.graph->Find(guess.input)->set_type(guess.type);
      warnings.push_back(StrCat(guess.why, "; ", OptionText("shapes"), " and ",
                                OptionText("dtypes"), " set another type"));
    }
  }
}

}  // namespace x2ir
