// The program of an archive (torch._export.serde's schema, major versions up to 8) as a graph.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "x2ir/formats/torch/archive_internal.h"
#include "x2ir/formats/torch/enums.h"
#include "x2ir/formats/torch/script.h"
#include "x2ir/formats/torch/symbols.h"
#include "x2ir/formats/torch/torch.h"
#include "x2ir/formats/torch/trees_internal.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace torch_format {
namespace {

using Kind = JsonReader::Kind;

constexpr int64_t kNewestSchema = 8;
constexpr int kMaxNesting = 64;  // of graphs

// JSON numbers, and the strings for numbers that JSON does not have.
double ReadFloat(JsonReader& json) {
  std::string_view text = json.Peek() == Kind::kString ? json.String() : json.Number().text;
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (json.ok() && (error != std::errc() || end != text.data() + text.size())) {
    json.Fail("expected a number");
  }
  return value;
}

template <typename T>
Tensor VectorOf(const std::vector<T>& values) {
  return Tensor::Of<T>({static_cast<int64_t>(values.size())}, values);
}
Tensor BoolVector(const std::vector<char>& values) {
  Tensor tensor = Tensor::Zeros(DType::kBool, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.mutable_bytes()[i] = static_cast<std::byte>(values[i]);
  }
  return tensor;
}

Attribute OpaqueAttr(std::string_view what) { return Type::Opaque("torch", std::string(what)); }
Attribute DTypeAttr(int64_t number) {
  const DType dtype = TorchDType(number);
  if (dtype == DType::kUndefined) return OpaqueAttr(StrCat("dtype ", number));
  return Type::Tensor(dtype);
}

// "torch.ops.aten.add.Tensor" -> "aten::add.Tensor", "_operator.ge" -> "_operator::ge".
std::string OpOf(std::string_view target) {
  constexpr std::string_view kOps = "torch.ops.";
  if (target.starts_with(kOps)) {
    target.remove_prefix(kOps.size());
    const size_t dot = target.find('.');
    if (dot == target.npos) return StrCat("torch.ops::", target);
    return StrCat(target.substr(0, dot), "::", target.substr(dot + 1));
  }
  const size_t dot = target.rfind('.');
  if (dot == target.npos) return StrCat("python::", target);
  return StrCat(target.substr(0, dot), "::", target.substr(dot + 1));
}

// "key,layer1.0.conv1,torch.nn...;..." : the innermost module's path.
std::string_view ModuleOf(std::string_view stack) {
  if (const size_t last = stack.rfind(';'); last != stack.npos) stack.remove_prefix(last + 1);
  const size_t first = stack.find(','), end = stack.rfind(',');
  if (first == stack.npos || end <= first) return {};
  const std::string_view path = stack.substr(first + 1, end - first - 1);
  return path.starts_with("_empty_nn_module_stack") ? std::string_view() : path;
}

class Reader {
 public:
  Reader(Archive& archive, Model& model)
      : archive_(archive), json_(archive.program.view, /*python=*/true), model_(model) {}

  absl::Status Run() {
    ReadProgram();
    return json_.status();
  }

 private:
  struct WeightSpec {
    std::string_view name;  // in the module
    bool is_parameter = true;
  };

  // What names mean inside one graph: nested ones see nothing of the outer.
  struct Scope {
    Graph* graph = nullptr;
    absl::flat_hash_map<std::string_view, Value*> values;
    absl::flat_hash_map<std::string_view, Type> types;
    absl::flat_hash_map<std::string_view, JsonReader::Mark> tensors;  // their metadata
    // At the top: inputs that are weights, and inputs that are None.
    absl::flat_hash_map<std::string_view, WeightSpec> weights;
    absl::flat_hash_map<std::string_view, bool> no_values;
  };

  // A value of the call at hand.
  struct Call {
    std::vector<Value*> operands;
    Attribute::Strings names;
    AttributeMap attrs;
    std::string_view first;                 // the name of operand 0
    std::vector<std::string_view> weights;  // names of those operands that are weights
    int unnamed = 0;
  };

  void Fail(const absl::Status& status) { json_.Fail(status); }

  // --- The program ---------------------------------------------------------------------------

  void ReadProgram() {
    Fields program(json_);
    json_.Finish();
    if (program.GoTo("schema_version")) {
      int64_t major = 0;
      if (json_.Peek() == Kind::kNumber) {
        major = json_.Int();
      } else if (Fields version(json_); version.GoTo("major")) {
        major = json_.Int();
      }
      if (major > kNewestSchema) {
        return Fail(Unimplemented("the program is of schema version ", major,
                                  "; the newest that is known is ", kNewestSchema));
      }
    }
    model_.producer_name = "pytorch";
    if (program.GoTo("torch_version")) model_.producer_version = json_.String();
    if (program.GoTo("opset_version")) {
      json_.Object([&](std::string_view domain) { model_.SetOpset(domain, json_.Int()); });
    }
    if (!program.GoTo("graph_module")) return json_.Fail("the program has no graph_module");
    Fields module(json_);
    Scope scope;
    scope.graph = model_.graph.get();
    if (!module.GoTo("signature")) return json_.Fail("the program has no signature");
    Fields signature(json_);
    if (!signature.GoTo("input_specs") || !signature.Has("output_specs")) {
      return Fail(Unimplemented("the program is of PyTorch before 2.2: it has no input_specs"));
    }
    json_.Array([&](size_t) { ReadInputSpec(scope); });
    if (!module.GoTo("graph")) return json_.Fail("the program has no graph");
    Fields graph(json_);
    ReadTypes(scope, graph);
    if (graph.GoTo("inputs")) json_.Array([&](size_t) { ReadGraphInput(scope); });
    Classes();
    ReadNodes(scope, graph);
    if (signature.GoTo("output_specs")) json_.Array([&](size_t) { ReadOutputSpec(scope); });
    ReadTrees(scope, module);
    if (!json_.ok()) return;
    DropUnusedOutputs(*scope.graph);
    NameSharedWeights(scope);
  }

  // What the program is called with and gives, where it is not as any program's (trees_internal.h).
  void ReadTrees(const Scope& scope, Fields& module) {
    std::string in, out, arguments, tuples;
    if (module.GoTo("module_call_graph")) {
      json_.Array([&](size_t) {
        Fields entry(json_);
        if (entry.GoTo("fqn") && json_.String().empty() && entry.GoTo("signature")) {
          Fields call(json_);
          if (call.GoTo("in_spec")) in = json_.String();
          if (call.GoTo("out_spec")) out = json_.String();
          if (call.GoTo("forward_arg_names")) {
            json_.Array([&](size_t) { StrAppend(&arguments, json_.String(), "\n"); });
          }
        }
        entry.GoToEnd();
      });
    }
    if (module.GoTo("treespec_namedtuple_fields")) {
      json_.Object([&](std::string_view name) {
        Fields tuple(json_);
        tuples += name;
        if (tuple.GoTo("field_names")) {
          json_.Array([&](size_t) { StrAppend(&tuples, "\t", json_.String()); });
        }
        tuple.GoToEnd();
        tuples += '\n';
      });
    }
    if (!json_.ok()) return;
    const Graph& graph = *model_.graph;
    std::string inputs, outputs;
    for (const Value* input : graph.inputs()) StrAppend(&inputs, input->name(), "\n");
    for (const Value* output : graph.outputs()) StrAppend(&outputs, output->name(), "\n");
    const auto note = [&](std::string_view key, const std::string& text) {
      model_.graph->annotations().GetOrMake().extra[StrCat("torch.", key)] = text;
    };
    std::string leaves;
    for (const std::string_view name : in_leaves_) {
      const auto it = scope.values.find(name);
      StrAppend(&leaves, it == scope.values.end() ? name : it->second->name(), "\n");
    }
    const bool plain = in == TreeText(PlainArguments(graph.inputs().size()));
    if (!has_constants_ && (!plain || arguments != inputs || leaves != inputs)) {
      note("in_tree", in);
      note("in_leaves", leaves);
      note("arguments", arguments);
    }
    if (out != TreeText(PlainResults(graph.outputs().size())) || outputs != out_leaves_) {
      note("out_tree", out);
      note("out_leaves", out_leaves_);
    }
    if (!tuples.empty()) note("namedtuples", tuples);
  }

  // {"parameter": {"arg": {"name": ...}, "parameter_name": ...}}
  void ReadInputSpec(Scope& scope) {
    Fields spec(json_);
    struct Row {
      std::string_view kind, name;
    };
    static constexpr Row kRows[] = {{"parameter", "parameter_name"},
                                    {"buffer", "buffer_name"},
                                    {"tensor_constant", "tensor_constant_name"}};
    for (const Row& row : kRows) {
      if (!spec.GoTo(row.kind)) continue;
      Fields weight(json_);
      const std::string_view arg = weight.GoTo("arg") ? NameHere() : std::string_view();
      // What is not persistent is not part of a module's state, and so of no checkpoint.
      const bool persistent = !weight.GoTo("persistent") || json_.Bool();
      const bool is_parameter = persistent && row.kind != "tensor_constant";
      if (weight.GoTo(row.name)) scope.weights[arg] = {json_.String(), is_parameter};
    }
    for (const std::string_view kind : {"custom_obj", "token", "constant_input"}) {
      if (!spec.GoTo(kind)) continue;
      Fields other(json_);
      if (other.GoTo("arg")) {
        scope.no_values[NameHere()] = true;
      } else if (other.GoTo("name")) {
        scope.no_values[json_.String()] = true;
      }
      bool none = false;
      if (kind == "constant_input" && other.GoTo("value")) {
        Fields value(json_);
        none = value.Has("as_none");
      }
      if (none) in_leaves_.emplace_back();
      has_constants_ = has_constants_ || (!none && kind != "token");
    }
    if (spec.GoTo("user_input")) {
      Fields input(json_);
      if (input.GoTo("arg")) {
        Fields arg(json_);
        for (const auto& [kind, mark] : arg.all()) {
          if (arg.GoTo(kind)) in_leaves_.push_back(NameHere());
        }
      }
    }
    spec.GoToEnd();
  }

  // {"name": ...}
  std::string_view NameHere() {
    Fields fields(json_);
    std::string_view name;
    if (fields.GoTo("name") || fields.GoTo("as_name")) name = json_.String();
    fields.GoToEnd();
    return name;
  }

  void ReadOutputSpec(Scope& scope) {
    Fields spec(json_);
    struct Row {
      std::string_view kind, name, what;
    };
    static constexpr Row kMutations[] = {
        {"buffer_mutation", "buffer_name", "buffer"},
        {"parameter_mutation", "parameter_name", "parameter"},
        {"user_input_mutation", "user_input_name", "input"},
    };
    for (const Row& row : kMutations) {
      if (!spec.GoTo(row.kind)) continue;
      Fields mutation(json_);
      const std::string_view name = mutation.GoTo(row.name) ? json_.String() : "";
      std::string& notes = model_.annotations.GetOrMake().extra["torch.mutations"];
      StrAppend(&notes, notes.empty() ? "" : "\n", row.what, " '", name,
                "' is updated by the program; the update is not part of the model");
    }
    for (const std::string_view kind : {"user_output", "loss_output"}) {
      if (!spec.GoTo(kind)) continue;
      Fields output(json_);
      const size_t count = scope.graph->outputs().size();
      if (output.GoTo("arg")) ReadGraphOutput(scope, kind == "loss_output");
      if (!json_.ok()) return;
      // None is not an output.
      if (scope.graph->outputs().size() > count)
        out_leaves_ += scope.graph->outputs()[count]->name();
      out_leaves_ += '\n';
    }
    spec.GoToEnd();
  }

  // --- Graphs --------------------------------------------------------------------------------

  void ReadTypes(Scope& scope, Fields& graph) {
    if (graph.GoTo("tensor_values")) {
      json_.Object([&](std::string_view name) {
        scope.tensors[name] = json_.Here();
        scope.types[name] = ReadTensorType();
      });
    }
    struct Row {
      std::string_view field;
      DType dtype;
    };
    static constexpr Row kRows[] = {{"sym_int_values", DType::kInt64},
                                    {"sym_float_values", DType::kFloat64},
                                    {"sym_bool_values", DType::kBool}};
    for (const Row& row : kRows) {
      if (!graph.GoTo(row.field)) continue;
      json_.Object([&](std::string_view name) {
        json_.Skip();
        scope.types[name] = Type::Tensor(row.dtype, Shape());
      });
    }
  }

  Type ReadTensorType() {
    Fields meta(json_);
    DType dtype = DType::kUndefined;
    std::optional<Shape> shape;
    if (meta.GoTo("dtype")) dtype = TorchDType(json_.Int());
    if (meta.GoTo("device") && json_.Peek() == Kind::kObject) {
      Fields place(json_);
      const std::string_view type = place.GoTo("type") ? json_.String() : std::string_view();
      if (device_.empty()) device_ = type;
      several_devices_ = several_devices_ || type != device_;
    }
    if (meta.GoTo("sizes")) {
      shape.emplace();
      json_.Array([&](size_t) { shape->Append(ReadDim()); });
    }
    meta.GoToEnd();
    return Type::Tensor(dtype, std::move(shape));
  }

  // {"as_int": 3}, {"as_expr": {"expr_str": ...}}; in older files the expression's text alone.
  Dim ReadDim() {
    if (json_.Peek() == Kind::kNumber) return Dim(json_.Int());
    Fields size(json_);
    Dim dim;
    if (size.GoTo("as_int")) {
      dim = Dim(json_.Int());
    } else if (size.GoTo("as_expr")) {
      if (json_.Peek() == Kind::kString) {
        dim = ParseTorchSize(json_.String());
      } else if (Fields expr(json_); expr.GoTo("expr_str")) {
        dim = ParseTorchSize(json_.String());
      }
    }
    if (dim.is_static() && dim.value() < 0) json_.Fail("a negative size");
    size.GoToEnd();
    return dim;
  }

  void Define(Scope& scope, std::string_view name, Value* value) {
    if (!scope.values.emplace(name, value).second) {
      json_.Fail(StrCat("'", name, "' is defined twice"));
    }
  }
  static Type TypeOf(const Scope& scope, std::string_view name, Type fallback) {
    auto it = scope.types.find(name);
    return it == scope.types.end() ? std::move(fallback) : it->second;
  }

  // Inputs that are weights or no values are not the graph's.
  void ReadGraphInput(Scope& scope) {
    Fields arg(json_);
    std::string_view name;
    Type type = Type::Tensor(DType::kInt64, Shape());
    if (arg.GoTo("as_tensor")) {
      name = NameHere();
      type = TypeOf(scope, name, Type());
    } else if (arg.GoTo("as_sym_int")) {
      name = NameHere();
    } else if (arg.GoTo("as_sym_float")) {
      name = NameHere();
      type.set_dtype(DType::kFloat64);
    } else if (arg.GoTo("as_sym_bool")) {
      name = NameHere();
      type.set_dtype(DType::kBool);
    }
    arg.GoToEnd();
    if (name.empty() || scope.weights.contains(name) || scope.no_values.contains(name)) return;
    if (json_.ok()) Define(scope, name, scope.graph->AddInput(UniqueIn(scope, name), type));
  }

  static std::string UniqueIn(Scope& scope, std::string_view name) {
    return scope.graph->UniqueName(name.empty() ? std::string_view("value") : name);
  }

  // The value of that name; weights become constants when they are asked for first.
  Value* Find(Scope& scope, std::string_view name) {
    if (auto it = scope.values.find(name); it != scope.values.end()) return it->second;
    auto weight = scope.weights.find(name);
    if (weight == scope.weights.end()) {
      json_.Fail(StrCat("there is no value '", name, "'"));
      return nullptr;
    }
    Value* value = WeightOf(scope, name, weight->second);
    if (value) scope.values[name] = value;
    return value;
  }

  Value* WeightOf(Scope& scope, std::string_view arg, const WeightSpec& spec) {
    const auto found = archive_.weights.find(spec.name);
    const bool absent = IsAbsent(spec);
    const auto [it, fresh] = weights_.try_emplace(
        absent ? StrCat("absent ", spec.name) : found->second.Identity(), model_.weights.size());
    if (!fresh) {
      Weight& known = model_.weights[it->second];
      known.names.emplace_back(spec.name);
      known.is_parameter = known.is_parameter || spec.is_parameter;
      return scope.graph->Find(known.value);
    }
    const std::string name = UniqueIn(scope, spec.name);
    model_.weights.push_back({name, {std::string(spec.name)}, spec.is_parameter});
    if (absent) {
      const Type type = TypeOf(scope, arg, Type());
      if (type.dtype() == DType::kUndefined || !type.shape() || !type.shape()->Static()) {
        Fail(DataLoss("the archive has no weight '", spec.name, "' and does not give its type"));
        return nullptr;
      }
      return scope.graph->AddInput(name, type);
    }
    absl::StatusOr<Tensor> tensor = found->second.Make();
    if (!tensor.ok()) {
      Fail(Annotate(tensor.status(), StrCat("weight '", spec.name, "'")));
      return nullptr;
    }
    return scope.graph->AddConstant(name, *std::move(tensor));
  }

  // Names of weights that the program itself does not use, for another one is the same tensor.
  void NameSharedWeights(const Scope& scope) {
    std::vector<std::pair<size_t, std::string>> names;
    for (const auto& [name, tensor] : archive_.weights) {
      const auto it = tensor.is_absent() ? weights_.end() : weights_.find(tensor.Identity());
      if (it != weights_.end()) names.emplace_back(it->second, name);
    }
    for (const auto& [arg, spec] : scope.weights) {
      if (!spec.is_parameter || scope.values.contains(arg) || !IsAbsent(spec)) continue;
      if (const Value* tied = TiedTo(scope, arg, spec)) {
        const auto is_it = [&](const Weight& weight) { return weight.value == tied->name(); };
        const auto it = std::find_if(model_.weights.begin(), model_.weights.end(), is_it);
        names.emplace_back(static_cast<size_t>(it - model_.weights.begin()), spec.name);
      }
    }
    std::sort(names.begin(), names.end());
    for (auto& [place, name] : names) {
      std::vector<std::string>& known = model_.weights[place].names;
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
    }
  }

  bool IsAbsent(const WeightSpec& spec) const {
    const auto found = archive_.weights.find(spec.name);
    return found == archive_.weights.end() || found->second.is_absent();
  }

  // A program names a tied parameter once, by the last of its modules. Where a module computes with
  // the parameter of another one instead of its own, which nothing uses, these are the same.
  const Value* TiedTo(const Scope& scope, std::string_view arg, const WeightSpec& spec) const {
    const auto split = [](std::string_view name) {
      const size_t dot = name.rfind('.');
      return dot == name.npos ? std::pair(std::string_view(), name)
                              : std::pair(name.substr(0, dot), name.substr(dot + 1));
    };
    const auto [module, leaf] = split(spec.name);
    const auto uses = used_by_.find(module);
    if (module.empty() || uses == used_by_.end()) return nullptr;
    absl::flat_hash_set<const Value*> found;
    for (const std::string_view other : uses->second) {
      const auto [other_module, other_leaf] = split(scope.weights.at(other).name);
      const bool same = other_module != module && other_leaf == leaf &&
                        TypeOf(scope, other, Type()) == TypeOf(scope, arg, Type());
      if (same) found.insert(scope.values.at(other));
    }
    return found.size() == 1 ? *found.begin() : nullptr;
  }

  // One output of a graph. An output that is not a value becomes a constant; None is not an output.
  void ReadGraphOutput(Scope& scope, bool bare_name = false) {
    const JsonReader::Mark here = json_.Here();
    Fields arg(json_);
    Value* value = nullptr;
    if (bare_name) {
      json_.GoTo(here);
      value = Find(scope, NameHere());
    } else if (arg.GoTo("as_tensor")) {
      value = Find(scope, NameHere());
    } else if (arg.GoTo("as_sym_int") || arg.GoTo("as_sym_float") || arg.GoTo("as_sym_bool")) {
      Fields sym(json_);
      if (sym.GoTo("as_name")) {
        value = Find(scope, json_.String());
      } else {
        value = ConstantHere(scope, sym);
      }
    } else if (!arg.Has("as_none")) {
      value = ConstantHere(scope, arg);
    } else if (scope.graph != model_.graph.get()) {
      Fail(Unimplemented("None among the outputs of a nested graph"));
    }
    arg.GoToEnd();
    if (!json_.ok() || !value) return;
    // Files need an output of its own name for each.
    if (value->is_graph_output()) {
      Node* alias = scope.graph->AppendNode("torch", "aten::alias.default", {value});
      alias->SetAttr("operands", Attribute::Strings{"self"});
      value = scope.graph->AddNodeOutput(alias, UniqueIn(scope, value->name()), value->type());
    }
    scope.graph->AddOutput(value);
  }

  Value* ConstantHere(Scope& scope, Fields& arg) {
    std::optional<Tensor> tensor;
    if (arg.GoTo("as_int")) {
      tensor = Tensor::Scalar<int64_t>(json_.Int());
    } else if (arg.GoTo("as_float")) {
      tensor = Tensor::Scalar<double>(ReadFloat(json_));
    } else if (arg.GoTo("as_bool")) {
      tensor = Tensor::Scalar<bool>(json_.Bool());
    }
    if (tensor) return scope.graph->AddConstant(UniqueIn(scope, "output"), *std::move(tensor));
    const std::string_view kind = arg.all().empty() ? "nothing" : arg.all()[0].first;
    Fail(Unimplemented("an output of the program is ", kind));
    return nullptr;
  }

  std::shared_ptr<Graph> ReadNestedGraph() {
    auto graph = std::make_shared<Graph>();
    if (++nesting_ > kMaxNesting) {
      json_.Fail("graphs are nested too deep");
      return graph;
    }
    Fields argument(json_);
    if (argument.GoTo("name")) graph->set_name(std::string(json_.String()));
    if (argument.GoTo("graph")) {
      Scope scope;
      scope.graph = graph.get();
      Fields fields(json_);
      ReadTypes(scope, fields);
      if (fields.GoTo("inputs")) json_.Array([&](size_t) { ReadGraphInput(scope); });
      ReadNodes(scope, fields);
      if (fields.GoTo("outputs")) json_.Array([&](size_t) { ReadGraphOutput(scope); });
      if (json_.ok()) DropUnusedOutputs(*graph);
    }
    argument.GoToEnd();
    --nesting_;
    return graph;
  }

  // Unused outputs of a node with several outputs need not be created. Their places stay, because
  // their number may define the call (the number of parts, for example).
  static void DropUnusedOutputs(Graph& graph) {
    for (Node* node : graph.nodes()) {
      const size_t count = node->num_outputs();
      if (count < 2) continue;
      for (size_t i = 0; i < node->num_outputs(); ++i) {
        if (node->output(i) && node->output(i)->is_unused()) graph.RemoveUnusedOutput(node, i);
      }
      while (node->num_outputs() < count) graph.AddMissingOutput(node);
    }
  }

  // --- Nodes ---------------------------------------------------------------------------------

  void ReadNodes(Scope& scope, Fields& graph) {
    if (graph.GoTo("nodes")) json_.Array([&](size_t) { ReadNode(scope); });
  }

  void ReadNode(Scope& scope) {
    Fields fields(json_);
    std::string_view target, stack, name;
    if (fields.GoTo("target")) target = json_.String();
    if (fields.GoTo("metadata")) {
      json_.Object([&](std::string_view key) {
        if (key == "nn_module_stack" && json_.Peek() == Kind::kString) {
          stack = json_.String();
        } else {
          json_.Skip();
        }
      });
    }
    const std::string_view module = ModuleOf(stack);
    if (fields.GoTo("name")) name = json_.String();
    Call call;
    if (fields.GoTo("inputs")) json_.Array([&](size_t) { ReadNamedArgument(scope, call); });
    if (target.empty()) json_.Fail("a node without target");
    if (!json_.ok()) return;
    if (!module.empty() && !node_names_.contains(module)) ReadClasses(stack);
    if (!module.empty() && !call.weights.empty()) {
      auto& used = used_by_[module];
      used.insert(used.end(), call.weights.begin(), call.weights.end());
    }
    const Symbol op = OpOf(target);
    Node* node = scope.graph->AppendNode("torch", op, call.operands);
    const std::string_view domain = op.view().substr(0, op.view().find("::"));
    if (model_.Opset(domain) == 0) model_.SetOpset(domain, 1);
    if (!call.names.empty()) node->SetAttr("operands", std::move(call.names));
    for (auto& [key, attr] : call.attrs) node->SetAttr(key, std::move(attr));
    if (!call.operands.empty() && LooksAtStrides(op.view())) ReadStrides(scope, call.first, node);
    // Then a cast to the same type may still be a copy.
    if (several_devices_ && !call.operands.empty() &&
        (op.view().starts_with("aten::to.") || op.view().starts_with("aten::type_as."))) {
      node->SetAttr("self_device", "unknown");
    }
    if (!module.empty() || !name.empty()) node->set_name(NodeName(module, name));
    if (fields.GoTo("outputs")) json_.Array([&](size_t) { ReadNodeOutput(scope, node); });
    fields.GoToEnd();
  }

  // Lines of a module's path, a tab, and its class. That it is there says what nodes' names are.
  std::string& Classes() { return model_.graph->annotations().GetOrMake().extra["torch.classes"]; }

  // The classes of modules, but of PyTorch's own.
  void ReadClasses(std::string_view stack) {
    while (!stack.empty()) {
      const size_t end = std::min(stack.find(';'), stack.size());
      const std::string_view entry = stack.substr(0, end);
      stack.remove_prefix(std::min(end + 1, stack.size()));
      const std::string_view path = ModuleOf(entry);
      const std::string_view type = entry.substr(entry.rfind(',') + 1);
      if (path.empty() || type.starts_with("torch.nn.")) continue;
      if (type.find('\n') != type.npos || path.find('\n') != path.npos) continue;
      if (classes_.insert(std::string(path)).second) StrAppend(&Classes(), path, "\t", type, "\n");
    }
  }

  // The module's path as the user knows it; of the module's other nodes with what the program calls
  // them: "encoder.layers.0", "encoder.layers.0/add_3".
  std::string NodeName(std::string_view module, std::string_view name) {
    if (module.empty()) return UniqueNodeName(name);
    if (++node_names_[std::string(module)] == 1) return std::string(module);
    return UniqueNodeName(name.empty() ? std::string(module) : StrCat(module, "/", name));
  }
  std::string UniqueNodeName(std::string_view base) {
    const int n = ++node_names_[std::string(base)];
    if (n == 1) return std::string(base);
    return UniqueNodeName(StrCat(base, "_", n));
  }

  // {"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}
  void ReadNamedArgument(Scope& scope, Call& call) {
    Fields fields(json_);
    std::string_view name;
    if (fields.GoTo("name")) name = json_.String();
    // Higher-order ops have no schema: arguments are known by their places.
    std::string place;
    if (name.empty()) name = place = StrCat("arg", call.unnamed++);
    if (fields.GoTo("arg")) ReadArgument(scope, call, name);
    fields.GoToEnd();
  }

  // Operators that give a view or a copy, or other elements, as the strides of `self` have it.
  static bool LooksAtStrides(std::string_view op) {
    constexpr std::string_view kNames[] = {
        "aten::as_strided.", "aten::as_strided_copy.", "aten::as_strided_scatter.",
        "aten::contiguous.", "aten::flatten.",         "aten::ravel.",
        "aten::reshape.",    "aten::reshape_as."};
    return std::any_of(std::begin(kNames), std::end(kNames),
                       [&](std::string_view name) { return op.starts_with(name); });
  }
  void ReadStrides(Scope& scope, std::string_view self, Node* node) {
    auto it = scope.tensors.find(self);
    if (it == scope.tensors.end() || !json_.ok()) return;
    const JsonReader::Mark here = json_.Here();
    json_.GoTo(it->second);
    Fields meta(json_);
    if (meta.GoTo("strides")) {
      Shape strides;
      json_.Array([&](size_t) { strides.Append(ReadDim()); });
      node->SetAttr("self_strides", Type::Tensor(DType::kInt64, std::move(strides)));
    }
    if (meta.GoTo("storage_offset")) {
      if (const Dim offset = ReadDim(); offset.is_static()) {
        node->SetAttr("self_offset", offset.value());
      } else {
        node->TakeAttr("self_strides");
      }
    }
    json_.GoTo(here);
  }

  void AddOperand(Scope& scope, Call& call, std::string_view value, std::string name) {
    Value* operand = Find(scope, value);
    if (!operand) return;
    if (call.operands.empty()) call.first = value;
    if (scope.weights.contains(value)) call.weights.push_back(value);
    call.operands.push_back(operand);
    call.names.push_back(std::move(name));
  }

  // A union: an object with one member.
  void ReadArgument(Scope& scope, Call& call, std::string_view name) {
    Fields arg(json_);
    if (arg.all().size() != 1) {
      json_.Fail(StrCat("argument '", name, "': expected one value"));
    } else {
      json_.GoTo(arg.all()[0].second);
      if (std::optional<Attribute> attr = ReadValue(scope, call, name, arg.all()[0].first)) {
        if (json_.ok()) call.attrs.Set(name, *std::move(attr));
      }
    }
    arg.GoToEnd();
  }

  // At the value of a union's member. Everything that is not an operand is an attribute.
  std::optional<Attribute> ReadValue(Scope& scope, Call& call, std::string_view name,
                                     std::string_view kind) {
    if (kind == "as_tensor") {
      AddOperand(scope, call, NameHere(), std::string(name));
      return std::nullopt;
    }
    if (kind == "as_int") return json_.Int();
    if (kind == "as_ints") {
      Attribute::Ints ints;
      json_.Array([&](size_t) { ints.push_back(json_.Int()); });
      return ints;
    }
    if (kind == "as_float") return ReadFloat(json_);
    if (kind == "as_bool") return Tensor::Scalar<bool>(json_.Bool());
    if (kind == "as_none") return Type();
    if (kind == "as_string" || kind == "as_operator") return json_.String();
    if (kind == "as_tensors" || kind == "as_optional_tensors") {
      return ReadTensorList(scope, call, name);
    }
    if (kind == "as_optional_tensor") {
      Fields inner(json_);
      if (inner.GoTo("as_tensor")) {
        AddOperand(scope, call, NameHere(), std::string(name));
        return std::nullopt;
      }
      return Type();
    }
    if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
      Fields sym(json_);
      if (sym.GoTo("as_name")) {
        AddOperand(scope, call, json_.String(), StrCat(name, ":", kind.substr(7)));
        return std::nullopt;
      }
      for (const std::string_view plain : {"as_int", "as_float", "as_bool"}) {
        if (sym.GoTo(plain)) return ReadValue(scope, call, name, plain);
      }
      return OpaqueAttr(kind);
    }
    if (kind == "as_sym_ints") return ReadSymInts(scope, call, name);
    if (kind == "as_floats") {
      std::vector<double> floats;
      json_.Array([&](size_t) { floats.push_back(ReadFloat(json_)); });
      return VectorOf(floats);
    }
    if (kind == "as_bools") {
      std::vector<char> bools;
      json_.Array([&](size_t) { bools.push_back(json_.Bool()); });
      return BoolVector(bools);
    }
    if (kind == "as_strings") {
      Attribute::Strings strings;
      json_.Array([&](size_t) { strings.emplace_back(json_.String()); });
      return strings;
    }
    if (kind == "as_scalar_type") return DTypeAttr(json_.Int());
    if (kind == "as_layout") return NameInEnum(json_.Int(), ExportEnums().layouts);
    if (kind == "as_memory_format") return NameInEnum(json_.Int(), ExportEnums().memory_formats);
    if (kind == "as_device") {
      Fields device(json_);
      return device.GoTo("type") ? json_.String() : std::string_view("cpu");
    }
    if (kind == "as_complex") {
      Fields parts(json_);
      const double real = parts.GoTo("real") ? ReadFloat(json_) : 0;
      const double imag = parts.GoTo("imag") ? ReadFloat(json_) : 0;
      return Tensor::Scalar(std::complex<double>(real, imag));
    }
    if (kind == "as_graph") return ReadNestedGraph();
    return OpaqueAttr(kind);
  }

  // [{"name": "a"}, ...], [{"as_tensor": {"name": "a"}}, {"as_none": true}]
  std::optional<Attribute> ReadTensorList(Scope& scope, Call& call, std::string_view name) {
    Attribute::Ints present;
    json_.Array([&](size_t i) {
      Fields item(json_);
      std::string_view value;
      if (item.GoTo("name")) {
        value = json_.String();
      } else if (item.GoTo("as_tensor")) {
        value = NameHere();
      }
      present.push_back(!value.empty());
      if (!value.empty()) AddOperand(scope, call, value, StrCat(name, "[", i, "]"));
      item.GoToEnd();
    });
    const bool all = std::find(present.begin(), present.end(), 0) == present.end();
    if (all && !present.empty()) return std::nullopt;
    return present;
  }

  std::optional<Attribute> ReadSymInts(Scope& scope, Call& call, std::string_view name) {
    Attribute::Ints ints;
    json_.Array([&](size_t i) {
      Fields item(json_);
      ints.push_back(item.GoTo("as_int") ? json_.Int() : 0);
      if (item.GoTo("as_name")) {
        AddOperand(scope, call, json_.String(), StrCat(name, "[", i, "]:int"));
      }
      item.GoToEnd();
    });
    return ints;
  }

  void ReadNodeOutput(Scope& scope, Node* node) {
    Fields arg(json_);
    const auto add = [&](std::string_view name, Type type) {
      if (!json_.ok()) return;
      Define(scope, name, scope.graph->AddNodeOutput(node, UniqueIn(scope, name), std::move(type)));
    };
    const auto list = [&] {
      json_.Array([&](size_t) {
        Fields item(json_);
        if (item.GoTo("name")) {
          const std::string_view name = json_.String();
          add(name, TypeOf(scope, name, Type()));
        } else if (item.GoTo("as_tensor")) {
          const std::string_view name = NameHere();
          add(name, TypeOf(scope, name, Type()));
        } else if (item.GoTo("as_name")) {
          add(json_.String(), Type::Tensor(DType::kInt64, Shape()));
        } else {
          scope.graph->AddMissingOutput(node);
        }
        item.GoToEnd();
      });
    };
    struct Row {
      std::string_view kind;
      DType dtype;
    };
    static constexpr Row kNumbers[] = {{"as_sym_int", DType::kInt64},
                                       {"as_sym_float", DType::kFloat64},
                                       {"as_sym_bool", DType::kBool}};
    bool done = false;
    if (arg.GoTo("as_tensor")) {
      const std::string_view name = NameHere();
      add(name, TypeOf(scope, name, Type()));
      done = true;
    } else if (arg.GoTo("as_tensors") || arg.GoTo("as_optional_tensors") ||
               arg.GoTo("as_sym_ints")) {
      list();
      done = true;
    } else if (arg.GoTo("as_optional_tensor")) {
      Fields inner(json_);
      if (inner.GoTo("as_tensor")) {
        const std::string_view name = NameHere();
        add(name, TypeOf(scope, name, Type()));
        done = true;
      }
    }
    for (const Row& row : kNumbers) {
      if (!arg.GoTo(row.kind)) continue;
      if (Fields sym(json_); sym.GoTo("as_name")) {
        add(json_.String(), Type::Tensor(row.dtype, Shape()));
        done = true;
      }
    }
    if (!done && json_.ok()) scope.graph->AddMissingOutput(node);
    arg.GoToEnd();
  }

  Archive& archive_;
  JsonReader json_;
  Model& model_;
  int nesting_ = 0;
  std::string_view device_;  // of the program's tensors, or of one where there are several
  bool several_devices_ = false;
  StringMap<size_t> weights_;  // places in the model's, by TorchTensor::Identity
  // What weights the nodes of a module use.
  absl::flat_hash_map<std::string_view, std::vector<std::string_view>> used_by_;
  StringMap<int> node_names_;
  StringSet classes_;  // paths of modules whose class is known
  // Of the program's trees: names of arguments, "" for None; lines of names of outputs.
  std::vector<std::string_view> in_leaves_;
  std::string out_leaves_;
  bool has_constants_ = false;  // among the arguments
};

}  // namespace
}  // namespace torch_format

absl::StatusOr<Model> ReadTorch(const Source& source, const TorchReadOptions& options) {
  const std::string& path = source.name();
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, source.Open());
  if (LooksLikeZip(file->view())) {
    absl::StatusOr<ZipArchive> zip = ZipArchive::Open(file);
    if (zip.ok() && torch_script::HoldsScript(*zip)) {
      auto script = torch_script::ReadScript(*std::move(zip), options.method, options.arguments);
      return script.ok() ? std::move(script) : AnnotateOption(script.status(), path);
    }
  }
  auto archive = torch_format::OpenArchive(source, options.model);
  if (!archive.ok()) return AnnotateOption(archive.status(), path);
  Model model;
  model.source_dialect = "torch";
  const absl::Status status = torch_format::Reader(*archive, model).Run();
  if (!status.ok()) return Annotate(status, StrCat(path, ": the program"));
  return model;
}

}  // namespace x2ir
