// A graph of PyTorch's calls as a program of torch.export: the JSON of schema 8, as loaders from
// PyTorch 2.9 on read it. They ask for the major version alone and leave out what they do not know.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <utility>

#include "x2ir/formats/json.h"
#include "x2ir/formats/torch/enums.h"
#include "x2ir/formats/torch/schemas.h"
#include "x2ir/formats/torch/writer_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::torch_format {

void AppendTensorMeta(std::string* json, DType dtype, bool requires_grad,
                      const std::function<void()>& sizes, const std::function<void()>& strides) {
  StrAppend(json, "{\"dtype\": ", TorchNumberOf(dtype), ", \"sizes\": [");
  sizes();
  StrAppend(json, "], \"requires_grad\": ", requires_grad ? "true" : "false",
            ", \"device\": {\"type\": \"cpu\", \"index\": null}, \"strides\": [");
  strides();
  json->append("], \"storage_offset\": {\"as_int\": 0}, \"layout\": 7}");
}

namespace {

constexpr int kWritten = 1, kByName = 2;  // ArgumentKind: positional, keyword

// What a value is in PyTorch's code.
enum class Sort : uint8_t { kTensor, kInt, kFloat, kBool };

Sort SortOfNumber(const Value& value) {
  return value.dtype() == DType::kBool ? Sort::kBool
         : IsFloating(value.dtype())   ? Sort::kFloat
                                       : Sort::kInt;
}

// Names of calls that PyTorch's registry does not have and that give Python numbers.
bool IsPythonFunction(std::string_view op) {
  return op.starts_with("_operator::") || op.starts_with("math::") || op.starts_with("torch::");
}
bool IsHigherOrder(std::string_view op) { return op.starts_with("higher_order::"); }

Sort SortOf(const Value& value) {
  const Node* producer = value.producer();
  if (!producer || producer->dialect() != "torch") return Sort::kTensor;
  const std::string_view op = producer->op().view();
  if (IsPythonFunction(op)) return SortOfNumber(value);
  const TorchSchema* schema = FindTorchSchema(op);
  if (!schema || schema->results.empty() || schema->results[0].starts_with("Tensor")) {
    return Sort::kTensor;
  }
  return SortOfNumber(value);
}

// The argument of a higher-order operator whose list of tensors is followed by those that its
// graphs use besides their own inputs.
std::string_view MoreOf(std::string_view op) {
  return op == "higher_order::map_impl" || op == "higher_order::map" ? "arg2" : "arg3";
}

// "{"name": "x"}"
void AppendName(std::string* json, std::string_view key, std::string_view name) {
  StrAppend(json, "{\"", key, "\": \"", name, "\"}");
}

void AppendFloat(std::string* json, double number) {
  if (std::isfinite(number)) return AppendJsonDouble(json, number);
  json->append(std::isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity");
}

class ProgramWriter {
 public:
  explicit ProgramWriter(const Model& model) : model_(model), symbols_(*model.graph) {}

  absl::StatusOr<WrittenProgram> Run() {
    WriteModel();
    if (!status_.ok()) return status_;
    return std::move(program_);
  }

 private:
  // What a graph's names mean. Each graph sees its own alone.
  struct Scope {
    Scope* outer = nullptr;
    absl::flat_hash_map<const Value*, std::string> names;
    PythonNames taken;
    // Members of JSON objects.
    std::string tensors, ints, floats, bools;
  };

  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  // --- The program ---------------------------------------------------------------------------

  void WriteModel() {
    const Graph& graph = *model_.graph;
    Scope scope;
    // The user's names have priority.
    for (const Value* input : graph.inputs()) Name(scope, *input, input->name());
    for (const Value* output : graph.outputs()) {
      if (!output->is_input() && output->producer()) Name(scope, *output, output->name());
    }
    CollectWeights(scope);
    std::string specs;
    for (size_t i = 0; i < weights_.size(); ++i) {
      const WrittenWeight& weight = program_.weights[i];
      static constexpr std::array<std::array<std::string_view, 3>, 3> kSpecs = {
          {{"parameter", "parameter_name", ""},
           {"buffer", "buffer_name", ", \"persistent\": true"},
           {"tensor_constant", "tensor_constant_name", ""}}};
      const auto& [kind, field, more] = kSpecs[weight.kind];
      StrAppend(&specs, specs.empty() ? "" : ", ", "{\"", kind, "\": {\"arg\": ");
      AppendName(&specs, "name", NameOf(scope, *weights_[i]));
      StrAppend(&specs, ", \"", field, "\": \"", weight.name, "\"", more, "}}");
      Describe(scope, *weights_[i], weight.kind == WrittenWeight::kParameter);
    }
    const Arguments arguments = ArgumentsOf(scope, graph);
    const Signature results = ResultsOf(graph);
    std::vector<const Value*> inputs = weights_;
    for (const Value* input : arguments.is.leaves) {
      inputs.push_back(input);
      specs += specs.empty() ? "" : ", ";
      if (!input) {
        StrAppend(&specs, "{\"constant_input\": {\"name\": \"", scope.taken.Unique("none"),
                  "\", \"value\": {\"as_none\": true}}}");
        program_.inputs.emplace_back();
        continue;
      }
      specs += "{\"user_input\": {\"arg\": {\"as_tensor\": ";
      AppendName(&specs, "name", NameOf(scope, *input));
      specs += "}}}";
      DescribeInput(scope, *input);
    }
    std::string& json = program_.json;
    json = "{\"graph_module\": {\"graph\": ";
    WriteGraph(scope, graph, inputs, results.leaves, /*single=*/false);
    StrAppend(&json, ", \"signature\": {\"input_specs\": [", specs, "], \"output_specs\": [");
    for (size_t i = 0; i < results.leaves.size(); ++i) {
      json += i ? ", {\"user_output\": {\"arg\": " : "{\"user_output\": {\"arg\": ";
      AppendValueOrNone(scope, results.leaves[i]);
      json += "}}";
    }
    json +=
        "]}, \"module_call_graph\": [{\"fqn\": \"\", \"signature\": {\"inputs\": [], "
        "\"outputs\": [], \"in_spec\": ";
    AppendJsonString(&json, TreeText(arguments.is.tree));
    json += ", \"out_spec\": ";
    AppendJsonString(&json, TreeText(results.tree));
    json += ", \"forward_arg_names\": ";
    for (size_t i = 0; i < arguments.names.size(); ++i) {
      StrAppend(&json, i ? ", \"" : "[\"", arguments.names[i], "\"");
    }
    StrAppend(&json, arguments.names.empty() ? "[" : "",
              "]}}], \"metadata\": {}, \"treespec_namedtuple_fields\": {", NamedTuplesOf(graph),
              "}}, \"opset_version\": {\"aten\": 10}, \"range_constraints\": ");
    program_.arguments = arguments.is.tree;
    symbols_.AppendRanges(&json);
    json +=
        ", \"schema_version\": {\"major\": 8, \"minor\": 20}, \"verifiers\": [\"TRAINING\"], "
        "\"torch_version\": \"2.14\", \"guards_code\": []}";
  }

  // --- The trees that arguments and results are ------------------------------------------------

  struct Arguments {
    Signature is;
    std::vector<std::string> names;  // of forward's arguments
  };
  Arguments ArgumentsOf(Scope& scope, const Graph& graph) {
    if (auto known = SignatureOf(graph, "in", graph.inputs())) {
      const std::vector<Tree>& parts = known->tree.children;
      const auto names = LinesOf(graph, "torch.arguments");
      const absl::flat_hash_set<std::string_view> all(names.begin(), names.end());
      if (parts.size() == 2 && all.size() == names.size() &&
          names.size() == parts[0].children.size() + parts[1].children.size() &&
          std::all_of(names.begin(), names.end(), PythonNames::IsName)) {
        return {*std::move(known), {names.begin(), names.end()}};
      }
    }
    Arguments plain{
        {PlainArguments(graph.inputs().size()), {graph.inputs().begin(), graph.inputs().end()}},
        {}};
    for (const Value* input : graph.inputs()) plain.names.push_back(NameOf(scope, *input));
    return plain;
  }
  static Signature ResultsOf(const Graph& graph) {
    if (auto known = SignatureOf(graph, "out", graph.outputs())) return *std::move(known);
    return {PlainResults(graph.outputs().size()), {graph.outputs().begin(), graph.outputs().end()}};
  }

  // {"Point": {"field_names": ["x", "y"]}}
  static std::string NamedTuplesOf(const Graph& graph) {
    std::string json;
    for (std::string_view line : LinesOf(graph, "torch.namedtuples")) {
      std::string_view separator = json.empty() ? "" : ", ";
      for (bool is_class = true;; is_class = false) {
        const size_t end = std::min(line.find('\t'), line.size());
        StrAppend(&json, separator, JsonString(line.substr(0, end)));
        if (is_class) json += ": {\"field_names\": [";
        separator = is_class ? "" : ", ";
        if (end == line.size()) break;
        line.remove_prefix(end + 1);
      }
      json += "]}";
    }
    return json;
  }

  // --- Weights -------------------------------------------------------------------------------

  // The constants that the program needs, those of nested graphs too, in the order of their use:
  // parameters, then buffers, then others.
  void CollectWeights(Scope& scope) {
    std::vector<std::pair<const Value*, WrittenWeight::Kind>> found;
    absl::flat_hash_map<const Value*, size_t> places;
    const auto add = [&](const Value* value, WrittenWeight::Kind kind) {
      if (!value->fixed_constant()) return;
      const auto [it, fresh] = places.emplace(value, found.size());
      if (fresh) {
        found.emplace_back(value, kind);
      } else {
        found[it->second].second = std::min(found[it->second].second, kind);
      }
    };
    // Weights of nested graphs belong to no layer.
    const std::function<void(const Graph&)> walk = [&](const Graph& graph) {
      const bool top = &graph == model_.graph.get();
      for (const Node* node : graph.nodes()) {
        const Attribute* attr = node->attrs().Find("operands");
        const auto* names = attr ? attr->get<Attribute::Strings>() : nullptr;
        for (size_t i = 0; i < node->num_inputs(); ++i) {
          const Value* value = node->input(i);
          if (!value || !value->fixed_constant()) continue;
          const bool named = names && i < names->size();
          const WrittenWeight::Kind kind =
              KindOf(*value, named ? std::string_view((*names)[i]) : std::string_view());
          add(value,
              top || value->graph() != &graph ? kind : std::max(kind, WrittenWeight::kBuffer));
        }
        for (const Graph* nested : node->subgraphs()) walk(*nested);
      }
      for (const Value* output : graph.outputs()) add(output, WrittenWeight::kBuffer);
    };
    walk(*model_.graph);
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.second < b.second; });
    WeightNames names;
    for (const auto& [value, kind] : found) {
      const Tensor* tensor = value->fixed_constant();
      if (tensor->is_string() || tensor->is_sparse() || TorchNumberOf(tensor->dtype()) == 0) {
        return Fail(CannotExpress("constant '", value->name(), "': PyTorch has no tensors of ",
                                  value->type().ToString()));
      }
      WrittenWeight weight{kind, names.Unique(value->name()), tensor};
      static constexpr std::string_view kPrefixes[] = {"p_", "b_", "c_"};
      Name(scope, *value, StrCat(kPrefixes[kind], weight.name));
      weights_.push_back(value);
      program_.weights.push_back(std::move(weight));
    }
  }

  // Trainable weights are parameters: floats, except single numbers that belong to no layer.
  // Running statistics and integers are buffers.
  static WrittenWeight::Kind KindOf(const Value& value, std::string_view argument) {
    const Tensor& tensor = *value.fixed_constant();
    const std::string_view name = argument.substr(0, argument.find('['));
    if (!IsFloating(tensor.dtype()) || BitWidth(tensor.dtype()) < 16) {
      return tensor.rank() == 0 ? WrittenWeight::kConstant : WrittenWeight::kBuffer;
    }
    if (name.starts_with("running_")) return WrittenWeight::kBuffer;
    const bool of_layer = name == "weight" || name == "bias" || name == "params";
    if (tensor.num_elements() == 1 && !of_layer) return WrittenWeight::kConstant;
    return WrittenWeight::kParameter;
  }

  // --- Names and types -----------------------------------------------------------------------

  const std::string& Name(Scope& scope, const Value& value, std::string_view base) {
    auto [it, fresh] = scope.names.try_emplace(&value);
    if (fresh) it->second = scope.taken.Unique(base);
    return it->second;
  }
  const std::string& NameOf(Scope& scope, const Value& value) {
    const auto it = scope.names.find(&value);
    if (it != scope.names.end()) return it->second;
    static const auto& none = *new std::string;
    Fail(Internal("value '", value.name(), "' is used before it is computed"));
    return none;
  }

  void AppendMeta(std::string* json, DType dtype, bool requires_grad,
                  const std::vector<Dim>& dims) {
    std::vector<Dim> strides(dims.size(), 1);
    for (size_t i = dims.size(); i-- > 1;) {
      const bool empty = dims[i].is_static() && dims[i].value() == 0;
      strides[i - 1] = empty ? strides[i] : strides[i] * dims[i];
    }
    const auto list = [&](const std::vector<Dim>& all) {
      for (size_t i = 0; i < all.size(); ++i) {
        if (i) *json += ", ";
        // A product that overflows.
        symbols_.AppendSize(json, all[i].is_unknown() ? Dim(1) : all[i]);
      }
    };
    AppendTensorMeta(
        json, dtype, requires_grad, [&] { list(dims); }, [&] { list(strides); });
  }

  // What the program says of a tensor's type. Sizes that come up with this value get their symbols.
  void Describe(Scope& scope, const Value& value, bool requires_grad = false) {
    if (!CheckType(value)) return;
    if (!shapes_.contains(&value)) {
      std::vector<Dim> dims;
      for (const Dim& dim : *value.shape()) dims.push_back(symbols_.Of(dim));
      shapes_.emplace(&value, std::move(dims));
    }
    AppendType(scope, value, requires_grad);
  }
  void DescribeInput(Scope& scope, const Value& value) {
    if (!CheckType(value)) return;
    std::vector<Dim> dims;
    WrittenInput input{value.dtype(), {}};
    for (const Dim& dim : *value.shape()) {
      dims.push_back(symbols_.OfInput(dim));
      input.sizes.push_back(symbols_.Hint(dims.back()).value_or(1));
    }
    shapes_.emplace(&value, std::move(dims));
    program_.inputs.push_back(std::move(input));
    AppendType(scope, value, false);
  }
  bool CheckType(const Value& value) {
    if (value.type().is_tensor() && value.shape() && TorchNumberOf(value.dtype()) != 0) {
      return true;
    }
    const std::string type = value.type().ToString();
    Fail(value.type().is_known() && !value.type().is_tensor()
             ? CannotExpress("value '", value.name(),
                             "': PyTorch's programs have only tensors, not ", type)
         : value.dtype() != DType::kUndefined && TorchNumberOf(value.dtype()) == 0
             ? CannotExpress("value '", value.name(), "': PyTorch has no tensors of ",
                             x2ir::Name(value.dtype()))
             : CannotExpress("value '", value.name(),
                             "': PyTorch's programs need the element type and rank ",
                             "of every tensor; here they are ", type));
    return false;
  }
  void AppendType(Scope& scope, const Value& value, bool requires_grad) {
    StrAppend(&scope.tensors, scope.tensors.empty() ? "\"" : ", \"", NameOf(scope, value), "\": ");
    AppendMeta(&scope.tensors, value.dtype(), requires_grad, shapes_.find(&value)->second);
  }

  // The same of a Python number.
  void DescribeNumber(Scope& scope, const Value& value, Sort sort) {
    std::string& json = sort == Sort::kInt     ? scope.ints
                        : sort == Sort::kFloat ? scope.floats
                                               : scope.bools;
    StrAppend(&json, json.empty() ? "\"" : ", \"", NameOf(scope, value), "\": ");
    if (sort == Sort::kFloat) {
      StrAppend(&json, "{\"as_expr\": {\"expr_str\": \"Symbol('", symbols_.FreshFloat(),
                "')\", \"hint\": null}}");
    } else if (sort == Sort::kBool) {
      StrAppend(&json, "{\"as_expr\": {\"expr_str\": \"Eq(", symbols_.Expression(symbols_.Fresh()),
                ", 1)\", \"hint\": null}}");
    } else {
      symbols_.AppendSize(&json, NumberOf(value));
    }
  }
  Dim NumberOf(const Value& value) {
    const Node& call = *value.producer();
    const auto shape = call.num_inputs() == 1 ? shapes_.find(call.input(0)) : shapes_.end();
    const std::string_view op = call.op().view();
    if (op == "aten::sym_size.int" && shape != shapes_.end()) {
      const Attribute* dim = call.attrs().Find("dim");
      const int64_t* axis = dim ? dim->get<int64_t>() : nullptr;
      const int64_t rank = static_cast<int64_t>(shape->second.size());
      if (axis && *axis >= -rank && *axis < rank) {
        return shape->second[static_cast<size_t>(*axis < 0 ? *axis + rank : *axis)];
      }
    }
    if (op == "aten::sym_numel.default" && shape != shapes_.end()) {
      Dim count = 1;
      for (const Dim& dim : shape->second) count = count * dim;
      if (!count.is_unknown()) return count;
    }
    const auto* elements = value.elements();
    return symbols_.Of(elements && elements->size() == 1 ? (*elements)[0] : Dim());
  }

  // --- Graphs --------------------------------------------------------------------------------

  // `inputs` have names and types in the scope; null: None. `single`: the result is not a tuple.
  void WriteGraph(Scope& scope, const Graph& graph, const std::vector<const Value*>& inputs,
                  absl::Span<const Value* const> outputs, bool single) {
    std::string& json = program_.json;
    json += "{\"inputs\": [";
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i) json += ", ";
      AppendValueOrNone(scope, inputs[i]);
    }
    json += "], \"nodes\": [";
    bool first = true;
    for (const Node* node : graph.nodes()) {
      if (!status_.ok()) return;
      if (!std::exchange(first, false)) json += ", ";
      WriteNode(scope, *node);
    }
    json += "], \"outputs\": [";
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (i) json += ", ";
      AppendValueOrNone(scope, outputs[i]);
    }
    StrAppend(&json, "], \"tensor_values\": {", scope.tensors, "}, \"sym_int_values\": {",
              scope.ints, "}, \"sym_bool_values\": {", scope.bools,
              "}, \"is_single_tensor_return\": ", single ? "true" : "false",
              ", \"custom_obj_values\": {}, \"sym_float_values\": {", scope.floats, "}}");
  }

  void WriteNode(Scope& scope, const Node& node) {
    const std::string_view op = node.op().view();
    const size_t colon = op.find("::");
    if (op.starts_with("python::")) {
      return Fail(CannotExpress("PyTorch's programs have no lists and no optional values (",
                                op.substr(8), ")"));
    }
    if (node.dialect() != "torch" || colon == op.npos) {
      return Fail(
          CannotExpress("node '", node.name(), "': ", op, " is not an operator of PyTorch"));
    }
    // What a graph inside is given has to be known before its name is needed.
    std::string& json = program_.json;
    const std::string_view space = op.substr(0, colon), name = op.substr(colon + 2);
    const TorchSchema* schema = FindTorchSchema(op);
    const bool registered = !IsPythonFunction(op);
    StrAppend(&json, "{\"target\": \"", registered ? "torch.ops." : "", space, ".", name,
              "\", \"inputs\": [");
    WriteArguments(scope, node, schema);
    json += "], \"outputs\": [";
    WriteResults(scope, node, schema);
    StrAppend(&json, "], \"metadata\": {}, \"is_hop_single_tensor_return\": ",
              IsHigherOrder(op) ? "false" : "null");
    std::string own;
    if (node.num_outputs() == 1 && node.output(0) && !IsHigherOrder(op) && !GivesList(schema)) {
      own = NameOf(scope, *node.output(0));
    } else {
      std::string_view base = name.substr(0, name.find('.'));
      own = scope.taken.Unique(base);
    }
    StrAppend(&json, ", \"name\": \"", own, "\"}");
  }

  static bool GivesList(const TorchSchema* schema) {
    return schema && schema->results.size() == 1 && schema->results[0].ends_with("[]");
  }

  // --- Results -------------------------------------------------------------------------------

  void WriteResults(Scope& scope, const Node& node, const TorchSchema* schema) {
    std::string& json = program_.json;
    const std::string_view op = node.op().view();
    const bool list = GivesList(schema);
    size_t count = node.num_outputs();
    // A lone result of several would be taken for all of them.
    if (schema && !list) count = std::max(count, schema->results.size());
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      if (const Value* output = node.output(i)) {
        Name(scope, *output, output->name());
        const Sort sort = SortOf(*output);
        if (sort == Sort::kTensor) {
          Describe(scope, *output);
        } else {
          DescribeNumber(scope, *output, sort);
        }
        if (!status_.ok()) return;
      }
    }
    if (list && count == 1) {
      json += "{\"as_tensors\": [";
      AppendName(&json, "name", NameOf(scope, *node.output(0)));
      json += "]}";
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      if (i) json += ", ";
      if (const Value* output = node.output(i)) {
        AppendValue(scope, *output);
      } else {
        json += "{\"as_none\": true}";
      }
    }
    (void)op;
  }

  // {"as_tensor": {"name": "x"}}, {"as_sym_int": {"as_name": "n"}}
  void AppendValue(Scope& scope, const Value& value) {
    static constexpr std::string_view kKinds[] = {"as_tensor", "as_sym_int", "as_sym_float",
                                                  "as_sym_bool"};
    const Sort sort = SortOf(value);
    std::string& json = program_.json;
    StrAppend(&json, "{\"", kKinds[static_cast<size_t>(sort)], "\": ");
    AppendName(&json, sort == Sort::kTensor ? "name" : "as_name", NameOf(scope, value));
    json += "}";
  }

  void AppendValueOrNone(Scope& scope, const Value* value) {
    if (value) return AppendValue(scope, *value);
    program_.json += "{\"as_none\": true}";
  }

  // --- Arguments of calls --------------------------------------------------------------------

  // One argument of a call: values, an attribute, or both (ints some of which are values).
  struct Argument {
    const Attribute* attr = nullptr;
    std::vector<std::pair<TorchOperandName, const Value*>> values;
  };

  void WriteArguments(Scope& scope, const Node& node, const TorchSchema* schema) {
    const std::string_view op = node.op().view();
    std::vector<std::pair<std::string_view, Argument>> given;
    const auto find = [&](std::string_view name) -> Argument& {
      for (auto& [known, argument] : given) {
        if (known == name) return argument;
      }
      return given.emplace_back(name, Argument()).second;
    };
    const Attribute* names = node.attrs().Find("operands");
    const auto* operands = names ? names->get<Attribute::Strings>() : nullptr;
    if ((operands ? operands->size() : 0) != node.num_inputs()) {
      return Fail(Invalid("node '", node.name(), "': some of its operands have no names"));
    }
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const TorchOperandName name = ParseTorchOperandName((*operands)[i]);
      find(name.name).values.emplace_back(name, node.input(i));
    }
    for (const auto& [name, attr] : node.attrs()) {
      if (name != "operands" && name != "self_strides" && name != "self_offset") {
        find(name.view()).attr = &attr;
      }
    }
    const std::vector<const Value*> captured = CapturesOf(node);
    if (!captured.empty()) {
      Argument& more = find(MoreOf(op));
      for (const Value* value : captured) {
        TorchOperandName name;
        name.index = static_cast<int64_t>(more.values.size());
        more.values.emplace_back(name, value);
      }
      if (more.values.size() == captured.size()) more.attr = nullptr;
    }
    if (!schema) {
      // By name is by place here: arg0, arg1; a, b.
      std::stable_sort(given.begin(), given.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first.size(), a.first) < std::pair(b.first.size(), b.first);
      });
      bool first = true;
      for (const auto& [name, argument] : given) {
        const bool place = name.starts_with("arg");
        WriteArgument(scope, node, place ? std::string_view() : name, argument, nullptr, kWritten,
                      captured, &first);
      }
      return;
    }
    bool first = true;
    int kind = kWritten;
    for (const TorchParameter& parameter : schema->parameters) {
      if (parameter.keyword_only) kind = kByName;
      const auto it = std::find_if(given.begin(), given.end(), [&](const auto& argument) {
        return argument.first == parameter.name;
      });
      if (it == given.end()) {
        kind = kByName;
        continue;
      }
      WriteArgument(scope, node, parameter.name, it->second, &parameter, kind, captured, &first);
    }
  }

  void WriteArgument(Scope& scope, const Node& node, std::string_view name,
                     const Argument& argument, const TorchParameter* parameter, int kind,
                     const std::vector<const Value*>& captured, bool* first) {
    std::string& json = program_.json;
    StrAppend(&json, std::exchange(*first, false) ? "" : ", ", "{\"name\": \"", name,
              "\", \"arg\": ");
    if (!argument.values.empty()) {
      AppendValues(scope, argument);
    } else {
      AppendAttribute(scope, node, name, *argument.attr, parameter, captured);
    }
    StrAppend(&json, ", \"kind\": ", kind, "}");
  }

  void AppendValues(Scope& scope, const Argument& argument) {
    std::string& json = program_.json;
    const auto& [place, value] = argument.values[0];
    if (place.index < 0) return AppendValue(scope, *value);
    const auto* rest = argument.attr ? argument.attr->get<Attribute::Ints>() : nullptr;
    const size_t count = rest ? rest->size() : argument.values.size();
    const bool numbers = place.number != 0;
    json += numbers ? "{\"as_sym_ints\": ["
            : rest  ? "{\"as_optional_tensors\": ["
                    : "{\"as_tensors\": [";
    size_t at = 0;
    for (size_t i = 0; i < count; ++i) {
      if (i) json += ", ";
      const bool is_value = at < argument.values.size() &&
                            (!rest || argument.values[at].first.index == static_cast<int64_t>(i));
      if (is_value) {
        const Value& one = *argument.values[at++].second;
        if (rest && !numbers) {
          AppendValue(scope, one);
        } else {
          AppendName(&json, numbers ? "as_name" : "name", NameOf(scope, one));
        }
      } else if (numbers) {
        StrAppend(&json, "{\"as_int\": ", (*rest)[i], "}");
      } else {
        json += "{\"as_none\": true}";
      }
    }
    json += "]}";
  }

  template <typename List, typename F>
  void AppendList(std::string_view kind, const List& list, F&& item) {
    std::string& json = program_.json;
    StrAppend(&json, "{\"", kind, "\": [");
    bool first = true;
    for (const auto& element : list) {
      if (!std::exchange(first, false)) json += ", ";
      item(element);
    }
    json += "]}";
  }

  void AppendAttribute(Scope& scope, const Node& node, std::string_view name, const Attribute& attr,
                       const TorchParameter* parameter, const std::vector<const Value*>& captured) {
    std::string& json = program_.json;
    const std::string_view element = parameter ? parameter->element() : std::string_view();
    if (const int64_t* i = attr.get<int64_t>()) {
      StrAppend(&json, "{\"as_int\": ", *i, "}");
    } else if (const double* d = attr.get<double>()) {
      json += "{\"as_float\": ";
      AppendFloat(&json, *d);
      json += "}";
    } else if (const auto* text = attr.get<std::string>()) {
      AppendText(element, *text);
    } else if (const auto* ints = attr.get<Attribute::Ints>()) {
      AppendList("as_ints", *ints, [&](int64_t i) { StrAppend(&json, i); });
    } else if (const auto* strings = attr.get<Attribute::Strings>()) {
      AppendList("as_strings", *strings, [&](const std::string& s) { AppendJsonString(&json, s); });
    } else if (const Type* type = attr.get<Type>();
               type && (type->is_tensor() || !type->is_known())) {
      if (type->is_tensor()) {
        StrAppend(&json, "{\"as_scalar_type\": ", TorchNumberOf(type->dtype()), "}");
      } else {
        json += "{\"as_none\": true}";
      }
    } else if (const Tensor* tensor = attr.get<Tensor>()) {
      AppendNumbers(*tensor);
    } else if (const auto* graph = attr.get<Attribute::GraphPtr>()) {
      AppendGraph(scope, node, name, **graph, captured);
    } else {
      Fail(CannotExpress("node '", node.name(), "': argument '", name, "' is ", attr.ToString()));
    }
  }

  void AppendText(std::string_view element, const std::string& text) {
    std::string& json = program_.json;
    if (element == "Device") {
      json += "{\"as_device\": {\"type\": ";
      AppendJsonString(&json, text);
      json += ", \"index\": null}}";
    } else if (element == "Layout") {
      StrAppend(&json, "{\"as_layout\": ", NumberInEnum(text, ExportEnums().layouts), "}");
    } else if (element == "MemoryFormat") {
      StrAppend(&json, "{\"as_memory_format\": ", NumberInEnum(text, ExportEnums().memory_formats),
                "}");
    } else {
      json += "{\"as_string\": ";
      AppendJsonString(&json, text);
      json += "}";
    }
  }

  // Numbers that are no ints.
  void AppendNumbers(const Tensor& tensor) {
    std::string& json = program_.json;
    const auto word = [](bool value) { return value ? "true" : "false"; };
    std::vector<int64_t> places;
    for (int64_t i = 0; i < tensor.num_elements(); ++i) places.push_back(i);
    if (tensor.dtype() == DType::kBool && tensor.rank() == 0) {
      StrAppend(&json, "{\"as_bool\": ", word(tensor.AsInt(0) != 0), "}");
    } else if (tensor.dtype() == DType::kBool) {
      AppendList("as_bools", places, [&](int64_t i) { json += word(tensor.AsInt(i) != 0); });
    } else if (tensor.dtype() == DType::kComplex128 && tensor.num_elements() == 1) {
      const Tensor aligned = tensor.AlignedCopyIfNeeded();
      const std::complex<double> number = aligned.span<std::complex<double>>()[0];
      json += "{\"as_complex\": {\"real\": ";
      AppendFloat(&json, number.real());
      json += ", \"imag\": ";
      AppendFloat(&json, number.imag());
      json += "}}";
    } else if (tensor.rank() == 0) {
      json += "{\"as_float\": ";
      AppendFloat(&json, tensor.AsDouble(0));
      json += "}";
    } else {
      AppendList("as_floats", places, [&](int64_t i) { AppendFloat(&json, tensor.AsDouble(i)); });
    }
  }

  // --- Nested graphs -------------------------------------------------------------------------

  // The values that the graphs of a node use and that are not theirs, constants among them: a
  // program's graphs have but their inputs.
  const std::vector<const Value*>& CapturesOf(const Node& node) {
    auto [it, fresh] = captures_.try_emplace(&node);
    if (!fresh || !node.has_subgraphs()) return it->second;
    std::vector<const Value*> found;
    absl::flat_hash_map<const Value*, bool> seen;
    absl::flat_hash_map<const Graph*, bool> inside;
    const std::function<void(const Graph&)> walk = [&](const Graph& graph) {
      inside[&graph] = true;
      const auto use = [&](const Value* value) {
        if (!value || (inside.contains(value->graph()) && !value->fixed_constant())) return;
        if (seen.emplace(value, true).second) found.push_back(value);
      };
      for (const Node* inner : graph.nodes()) {
        for (const Value* input : inner->inputs()) use(input);
        for (const Graph* nested : inner->subgraphs()) walk(*nested);
      }
      for (const Value* output : graph.outputs()) use(output);
    };
    for (const Graph* graph : node.subgraphs()) walk(*graph);
    return captures_[&node] = std::move(found);
  }

  void AppendGraph(Scope& outer, const Node& node, std::string_view name, const Graph& graph,
                   const std::vector<const Value*>& captured) {
    const std::string_view op = node.op().view();
    Scope scope;
    std::vector<const Value*> inputs(graph.inputs().begin(), graph.inputs().end());
    for (const Value* input : inputs) {
      Name(scope, *input, input->name());
      Describe(scope, *input);
    }
    for (const Value* value : captured) {
      Name(scope, *value, NameOf(outer, *value));
      if (SortOf(*value) != Sort::kTensor) {
        return Fail(CannotExpress("node '", node.name(),
                                  "': its nested graph uses a number of the outer graph"));
      }
      Describe(scope, *value);
      inputs.push_back(value);
    }
    if (!status_.ok()) return;
    const bool is_test = op == "higher_order::while_loop" && node.attrs().Find("arg0") &&
                         node.attrs().Find("arg0")->get<Attribute::GraphPtr>() &&
                         node.attrs().Find("arg0")->get<Attribute::GraphPtr>()->get() == &graph;
    std::string& json = program_.json;
    json += "{\"as_graph\": {\"name\": ";
    const std::string_view base = graph.name().empty() ? std::string_view("graph") : graph.name();
    AppendJsonString(&json, outer.taken.Unique(base));
    json += ", \"graph\": ";
    WriteGraph(scope, graph, inputs, graph.outputs(), is_test);
    json += "}}";
    (void)name;
  }

  const Model& model_;
  TorchSymbols symbols_;
  WrittenProgram program_;
  std::vector<const Value*> weights_;                           // as program_.weights
  absl::flat_hash_map<const Value*, std::vector<Dim>> shapes_;  // in PyTorch's symbols
  absl::flat_hash_map<const Node*, std::vector<const Value*>> captures_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<WrittenProgram> WriteProgram(const Model& model) {
  return ProgramWriter(model).Run();
}

}  // namespace x2ir::torch_format
