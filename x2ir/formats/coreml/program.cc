// ML Programs: functions of blocks of operations, as graphs.
#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/coreml/reader_internal.h"
#include "x2ir/formats/coreml/values_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::coreml {
namespace {

constexpr int kMaxBlockDepth = 32;

// An entry of a map: its key, and its value's bytes.
struct MapEntry {
  std::string_view key, value;
};
absl::StatusOr<MapEntry> ReadMapEntry(std::string_view bytes, const char* origin) {
  MapEntry entry;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == program_functions_entry_field::kKey) entry.key = in.Bytes();
    if (in.field() == program_functions_entry_field::kValue) entry.value = in.Bytes();
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return entry;
}

struct Binding {
  std::string_view name, value;
  bool is_value = false;
};

struct Operation {
  std::string_view type;
  std::vector<std::pair<std::string_view, std::vector<Binding>>> inputs;
  std::vector<NamedType> outputs;
  std::vector<std::string_view> blocks;
  std::vector<MapEntry> attributes;
  const std::vector<Binding>* Find(std::string_view name) const {
    for (const auto& [input, bindings] : inputs) {
      if (input == name) return &bindings;
    }
    return nullptr;
  }
};

class ProgramReader {
 public:
  ProgramReader(ModelFiles& files, const Description& description, Graph& graph)
      : files_(files),
        origin_(files.model()->view().data()),
        description_(description),
        root_(graph) {}

  absl::Status ReadFunction(std::string_view bytes, Scope* scope) {
    std::vector<NamedType> inputs;
    std::string_view opset;
    std::vector<MapEntry> blocks;
    WireReader in(bytes, origin_);
    while (in.Next()) {
      switch (in.field()) {
        case function_field::kInputs: {
          X2IR_ASSIGN_OR_RETURN(inputs.emplace_back(), ReadNamedType(in.Bytes(), origin_));
          break;
        }
        case function_field::kOpset: opset = in.Bytes(); break;
        case function_field::kBlockSpecializations: {
          X2IR_ASSIGN_OR_RETURN(blocks.emplace_back(), ReadMapEntry(in.Bytes(), origin_));
          break;
        }
        default: break;
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    const MapEntry* chosen = blocks.size() == 1 ? &blocks[0] : nullptr;
    for (const MapEntry& block : blocks) {
      if (block.key == opset) chosen = &block;
    }
    if (!chosen) return Invalid("the function has no block for its opset '", opset, "'");
    X2IR_RETURN_IF_ERROR(AddInputs(inputs));
    std::vector<std::string_view> outputs;
    Level level{&root_, nullptr, {}, {}};
    for (const auto& [name, value] : inputs_) level.values[name] = value;
    X2IR_RETURN_IF_ERROR(ReadBlock(chosen->value, level, {}, 0, &outputs));
    for (const std::string_view name : outputs) {
      X2IR_ASSIGN_OR_RETURN((*scope)[std::string(name)], Operand(level, name));
    }
    // What a state is in the end is a result of its own.
    for (const auto& [name, value] : states_) {
      (*scope)[StrCat(name, "_out")] = value;
    }
    return absl::OkStatus();
  }

 private:
  // The names of a block: values, and constants that are none yet.
  struct Level {
    Graph* graph;
    Level* outer;
    StringMap<Value*> values;
    StringMap<MilValue> constants;
  };

  // A list is a tensor: its elements along the first axis.
  static Type TypeInGraph(const MilType& type) {
    if (type.kind == MilType::kTensor) return type.type;
    if (type.kind != MilType::kList || type.variadic) return Type();
    std::vector<Dim> dims = type.dims;
    dims.insert(dims.begin(), Dim());
    return Type::Tensor(type.type.dtype(), Shape(std::move(dims)));
  }

  static Type InputType(const NamedType& input) {
    Type type = input.type.type;
    if (input.type.variadic) return type;
    std::vector<Dim> dims = input.type.dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (!dims[i].is_static()) dims[i] = Dim::Symbol(StrCat(input.name, "_", i));
    }
    return Type::Tensor(type.dtype(), Shape(std::move(dims)));
  }

  absl::Status AddInputs(const std::vector<NamedType>& inputs) {
    std::vector<const NamedType*> order;
    const auto add = [&](std::string_view name) {
      for (const NamedType& input : inputs) {
        if (input.name == name && std::find(order.begin(), order.end(), &input) == order.end()) {
          order.push_back(&input);
        }
      }
    };
    for (const Feature& feature : description_.inputs) add(feature.name);
    for (const Feature& feature : description_.states) add(feature.name);
    for (const NamedType& input : inputs) add(input.name);
    if (order.size() != inputs.size()) return Invalid("two inputs of a function have one name");
    for (const NamedType* input : order) {
      if (input->type.kind != MilType::kTensor && input->type.kind != MilType::kState) {
        return Unimplemented("input '", input->name, "' is no tensor");
      }
      X2IR_ASSIGN_OR_RETURN(Value * value, AddPort(*input));
      for (const Feature& feature : description_.inputs) {
        if (feature.name == input->name) NoteImage(root_.inputs().back(), feature);
      }
      if (input->type.kind == MilType::kState) states_.emplace_back(input->name, value);
      inputs_.emplace_back(input->name, value);
    }
    return absl::OkStatus();
  }

  // The input as it was before it was written for Core ML, and what the program takes.
  absl::StatusOr<Value*> AddPort(const NamedType& input) {
    const Type type = InputType(input);
    const auto port = description_.ports.find(input.name);
    if (port == description_.ports.end()) return root_.AddInput(input.name, type);
    const size_t bar = port->second.rfind('|');
    const auto before = bar == std::string::npos
                            ? Type()
                            : Type::Parse(port->second.substr(bar + 1)).value_or(Type());
    const bool suits = before.is_tensor() && before.shape() && type.shape() &&
                       before.shape()->rank() == type.shape()->rank();
    if (!suits) return root_.AddInput(input.name, type);
    Value* value = root_.AddInput(port->second.substr(0, bar), before);
    return CastTo(root_, value, type.dtype(), root_.UniqueName(StrCat(value->name(), "_cast")));
  }

  // --- Blocks
  // -------------------------------------------------------------------------------------

  // `carried`: what inputs of a loop's block are at first.
  absl::Status ReadBlock(std::string_view bytes, Level& level, const std::vector<Value*>& carried,
                         int depth, std::vector<std::string_view>* outputs) {
    if (depth > kMaxBlockDepth) return DataLoss("blocks are nested too deeply");
    WireReader in(bytes, origin_);
    std::vector<std::string_view> operations;
    size_t count = 0;
    while (in.Next()) {
      if (in.field() == block_field::kInputs) {
        X2IR_ASSIGN_OR_RETURN(const NamedType input, ReadNamedType(in.Bytes(), origin_));
        Value* value =
            level.graph->AddInput(level.graph->UniqueName(input.name), TypeInGraph(input.type));
        if (count < carried.size() && fixed_lists_.contains(carried[count])) {
          fixed_lists_.insert(value);
        }
        ++count;
        level.values[input.name] = value;
      } else if (in.field() == block_field::kOutputs) {
        outputs->push_back(in.Bytes());
      } else if (in.field() == block_field::kOperations) {
        operations.push_back(in.Bytes());
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    for (const std::string_view operation : operations) {
      X2IR_ASSIGN_OR_RETURN(const Operation op, ReadOperation(operation));
      const absl::Status status = AddOperation(op, level, depth);
      if (!status.ok()) {
        const std::string name = op.outputs.empty() ? "" : op.outputs[0].name;
        return Annotate(status, StrCat(op.type, " '", name, "'"));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Operation> ReadOperation(std::string_view bytes) {
    Operation op;
    WireReader in(bytes, origin_);
    while (in.Next()) {
      switch (in.field()) {
        case operation_field::kType: op.type = in.Bytes(); break;
        case operation_field::kInputs: {
          X2IR_ASSIGN_OR_RETURN(const MapEntry entry, ReadMapEntry(in.Bytes(), origin_));
          X2IR_ASSIGN_OR_RETURN(std::vector<Binding> bindings, ReadArgument(entry.value));
          op.inputs.emplace_back(entry.key, std::move(bindings));
          break;
        }
        case operation_field::kOutputs: {
          X2IR_ASSIGN_OR_RETURN(op.outputs.emplace_back(), ReadNamedType(in.Bytes(), origin_));
          break;
        }
        case operation_field::kBlocks: op.blocks.push_back(in.Bytes()); break;
        case operation_field::kAttributes: {
          X2IR_ASSIGN_OR_RETURN(op.attributes.emplace_back(), ReadMapEntry(in.Bytes(), origin_));
          break;
        }
        default: break;
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    if (op.type.empty()) return Invalid("an operation has no type");
    return op;
  }

  absl::StatusOr<std::vector<Binding>> ReadArgument(std::string_view bytes) {
    std::vector<Binding> bindings;
    WireReader in(bytes, origin_);
    while (in.Next()) {
      if (in.field() != argument_field::kArguments) continue;
      Binding binding;
      WireReader inner(in.Bytes(), origin_);
      while (inner.Next()) {
        if (inner.field() == argument_binding_field::kName) binding.name = inner.Bytes();
        if (inner.field() == argument_binding_field::kValue) {
          binding.value = inner.Bytes();
          binding.is_value = true;
        }
      }
      X2IR_RETURN_IF_ERROR(inner.status());
      bindings.push_back(binding);
    }
    X2IR_RETURN_IF_ERROR(in.status());
    return bindings;
  }

  // --- Names
  // --------------------------------------------------------------------------------------

  const MilValue* FindConstant(Level& level, std::string_view name) {
    for (Level* at = &level; at; at = at->outer) {
      if (const auto it = at->constants.find(name); it != at->constants.end()) return &it->second;
      if (at->values.contains(name)) return nullptr;
    }
    return nullptr;
  }

  absl::StatusOr<Value*> Operand(Level& level, std::string_view name) {
    for (Level* at = &level; at; at = at->outer) {
      if (const auto it = at->values.find(name); it != at->values.end()) return it->second;
      const auto constant = at->constants.find(name);
      if (constant == at->constants.end()) continue;
      if (!constant->second.is_tensor) return Unimplemented("'", name, "' is a list");
      Value* value = at->graph->AddConstant(at->graph->UniqueName(name), constant->second.tensor);
      at->values[std::string(name)] = value;
      return value;
    }
    return Invalid("no operation computes '", name, "'");
  }

  absl::StatusOr<Value*> Operand(Level& level, const Binding& binding) {
    if (!binding.is_value) return Operand(level, binding.name);
    X2IR_ASSIGN_OR_RETURN(MilValue value, ReadMilValue(binding.value, files_));
    if (!value.is_tensor) return Unimplemented("a list as an operand");
    return level.graph->AddConstant(level.graph->UniqueName("value"), std::move(value.tensor));
  }

  // The constant that a binding is; Unimplemented where it is computed.
  absl::StatusOr<MilValue> ConstantOf(Level& level, const Binding& binding) {
    if (binding.is_value) return ReadMilValue(binding.value, files_);
    const MilValue* constant = FindConstant(level, binding.name);
    if (!constant) return Unimplemented("'", binding.name, "' is computed; expected a constant");
    return *constant;
  }

  // --- Operations
  // ---------------------------------------------------------------------------------

  absl::Status AddOperation(const Operation& op, Level& level, int depth) {
    if (op.type == "const") return AddConst(op, level);
    if (op.type.starts_with("constexpr_")) {
      X2IR_ASSIGN_OR_RETURN(const bool done, AddConstexpr(op, level));
      if (done) return absl::OkStatus();
    }
    if (op.type == "read_state" || op.type == "coreml_update_state") return AddState(op, level);
    const MilOp* known = FindMilOp(op.type);
    std::vector<Value*> operands;
    AttributeMap attrs;
    if (known) {
      X2IR_RETURN_IF_ERROR(ReadKnown(op, *known, level, &operands, &attrs));
    } else {
      std::vector<std::string> names;
      for (const auto& [name, bindings] : op.inputs) {
        for (const Binding& binding : bindings) {
          X2IR_ASSIGN_OR_RETURN(const MilValue* constant, MaybeConstant(level, binding));
          if (constant && !constant->is_tensor) continue;
          X2IR_ASSIGN_OR_RETURN(operands.emplace_back(), Operand(level, binding));
          names.emplace_back(name);
        }
      }
      attrs.Set(kOperandNames, std::move(names));
    }
    Node* node = level.graph->AppendNode(kDialect, op.type, operands);
    node->set_name(NameOf(op));
    const Attribute* grows = attrs.Find("dynamic_length");
    bool fixed =
        op.type == "make_list" && grows && grows->get<int64_t>() && *grows->get<int64_t>() == 0;
    if (op.type == "list_write" || op.type == "list_scatter") {
      fixed = !operands.empty() && fixed_lists_.contains(operands[0]);
      if (fixed) attrs.Set(kFixedList, 1);
    }
    for (auto& [name, attr] : attrs) node->SetAttr(name, std::move(attr));
    const bool loop = op.type == "while_loop";
    // A label is one of a vector here, and a dictionary the vector of its values (classify).
    const bool gives_label = op.type == "classify";
    for (size_t i = 0; i < op.blocks.size(); ++i) {
      auto inner = std::make_shared<Graph>(StrCat("block_", i));
      node->SetAttr(StrCat("block_", i), inner);
      Level nested{inner.get(), &level, {}, {}};
      std::vector<std::string_view> outputs;
      X2IR_RETURN_IF_ERROR(ReadBlock(op.blocks[i], nested, loop ? operands : std::vector<Value*>(),
                                     depth + 1, &outputs));
      for (const std::string_view name : outputs) {
        X2IR_ASSIGN_OR_RETURN(Value * value, Operand(nested, name));
        // Results of a nested graph are made in it.
        if (value->graph() != inner.get() || !value->producer() || value->is_graph_output()) {
          value = AddNode(*inner, "identity", {value}, {}, inner->UniqueName(name));
        }
        inner->AddOutput(value);
      }
    }
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      // In loops inference goes round, and needs to know where it begins.
      const NamedType& output = op.outputs[i];
      Value* value = level.graph->AddNodeOutput(node, level.graph->UniqueName(output.name),
                                                gives_label ? Type() : TypeInGraph(output.type));
      if (fixed || (loop && i < operands.size() && fixed_lists_.contains(operands[i]))) {
        fixed_lists_.insert(value);
      }
      level.values[output.name] = value;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<const MilValue*> MaybeConstant(Level& level, const Binding& binding) {
    return binding.is_value ? nullptr : FindConstant(level, binding.name);
  }

  std::string NameOf(const Operation& op) {
    for (const MapEntry& entry : op.attributes) {
      if (entry.key != "name") continue;
      const auto value = ReadMilValue(entry.value, files_);
      if (value.ok() && value->is_tensor && value->tensor.is_string() &&
          value->tensor.num_elements() == 1) {
        return value->tensor.strings()[0];
      }
    }
    return "";
  }

  absl::Status AddConst(const Operation& op, Level& level) {
    if (op.outputs.size() != 1) return Invalid("a constant with ", op.outputs.size(), " results");
    for (const MapEntry& entry : op.attributes) {
      if (entry.key != "val") continue;
      X2IR_ASSIGN_OR_RETURN(level.constants[op.outputs[0].name], ReadMilValue(entry.value, files_));
      return absl::OkStatus();
    }
    if (const auto* bindings = op.Find("val"); bindings && bindings->size() == 1) {
      X2IR_ASSIGN_OR_RETURN(level.constants[op.outputs[0].name], ConstantOf(level, (*bindings)[0]));
      return absl::OkStatus();
    }
    return Invalid("a constant without a value");
  }

  // Whether it became constants. Arguments are inputs, or in older files attributes.
  absl::StatusOr<bool> AddConstexpr(const Operation& op, Level& level) {
    std::map<std::string, Tensor, std::less<>> arguments;
    for (const auto& [name, bindings] : op.inputs) {
      if (bindings.size() != 1) return Invalid("argument '", name, "' is a tuple");
      X2IR_ASSIGN_OR_RETURN(MilValue value, ConstantOf(level, bindings[0]));
      if (value.is_tensor) arguments[std::string(name)] = std::move(value.tensor);
    }
    for (const MapEntry& entry : op.attributes) {
      if (entry.key == "name") continue;
      X2IR_ASSIGN_OR_RETURN(MilValue value, ReadMilValue(entry.value, files_));
      if (value.is_tensor) arguments[std::string(entry.key)] = std::move(value.tensor);
    }
    const auto find = [&](std::string_view name) -> const Tensor* {
      const auto it = arguments.find(name);
      return it == arguments.end() ? nullptr : &it->second;
    };
    X2IR_ASSIGN_OR_RETURN(const auto results, Decompress({op.type, find}));
    if (!results) {
      // Linear steps stay an operation.
      if (op.type != "constexpr_affine_dequantize") return false;
      const Tensor *data = find("quantized_data"), *zero = find("zero_point"),
                   *scale = find("scale"), *axis = find("axis");
      if (!data || !zero || !scale || !axis || axis->num_elements() != 1 ||
          op.outputs.size() != 1) {
        return Invalid("arguments are missing");
      }
      const std::string& name = op.outputs[0].name;
      const auto constant = [&](const Tensor& tensor, std::string_view hint) {
        return level.graph->AddConstant(level.graph->UniqueName(StrCat(name, "_", hint)), tensor);
      };
      std::vector<Value*> operands = {constant(*data, "quantized"), constant(*scale, "scale"),
                                      constant(*zero, "zero_point")};
      level.values[name] = AddNode(*level.graph, op.type, operands, {{"axis", axis->AsInt(0)}},
                                   level.graph->UniqueName(name));
      return true;
    }
    if (results->size() != op.outputs.size()) {
      return Invalid(op.outputs.size(), " results; expected ", results->size());
    }
    for (size_t i = 0; i < results->size(); ++i) {
      MilValue& value = level.constants[op.outputs[i].name];
      value.is_tensor = true;
      value.tensor = (*results)[i];
    }
    return true;
  }

  absl::Status AddState(const Operation& op, Level& level) {
    const bool reads = op.type == "read_state";
    const auto* state = op.Find(reads ? "input" : "state");
    if (!state || state->size() != 1 || (*state)[0].is_value || op.outputs.size() > 1) {
      return Invalid("a state is missing");
    }
    if (&root_ != level.graph && !reads)
      return Unimplemented("a state that a branch or loop changes");
    for (auto& [name, value] : states_) {
      if (name != (*state)[0].name) continue;
      if (!reads) {
        const auto* update = op.Find("value");
        if (!update || update->size() != 1) return Invalid("a value is missing");
        X2IR_ASSIGN_OR_RETURN(value, Operand(level, (*update)[0]));
      }
      if (!op.outputs.empty()) level.values[op.outputs[0].name] = value;
      return absl::OkStatus();
    }
    return Invalid("there is no state '", (*state)[0].name, "'");
  }

  absl::Status ReadKnown(const Operation& op, const MilOp& known, Level& level,
                         std::vector<Value*>* operands, AttributeMap* attrs) {
    for (const auto& [name, bindings] : op.inputs) {
      if (!known.Find(name)) return Unimplemented("argument '", name, "' is not known");
    }
    for (const MilArgument& argument : known.arguments) {
      const std::vector<Binding>* bindings = op.Find(argument.name);
      if (!bindings || bindings->empty()) {
        if (argument.kind == MilKind::kOperand && !argument.many) operands->push_back(nullptr);
        continue;
      }
      if (argument.kind == MilKind::kOperand) {
        if (!argument.many && bindings->size() != 1) {
          return Invalid("argument '", argument.name, "' is a tuple");
        }
        for (const Binding& binding : *bindings) {
          X2IR_ASSIGN_OR_RETURN(operands->emplace_back(), Operand(level, binding));
        }
        continue;
      }
      const absl::StatusOr<Attribute> attr = Parameter(level, argument, *bindings);
      if (!attr.ok()) return Annotate(attr.status(), StrCat("argument '", argument.name, "'"));
      const bool numbers = argument.kind == MilKind::kStrings && attr->kind() == AttrKind::kInts;
      attrs->Set(numbers ? Symbol(kIntClasses) : Symbol(argument.name), *attr);
    }
    while (!operands->empty() && !operands->back()) operands->pop_back();
    return absl::OkStatus();
  }

  // The attribute that a constant is. Tuples of numbers are lists.
  absl::StatusOr<Attribute> Parameter(Level& level, const MilArgument& argument,
                                      const std::vector<Binding>& bindings) {
    std::vector<Tensor> parts;
    for (const Binding& binding : bindings) {
      X2IR_ASSIGN_OR_RETURN(const MilValue value, ConstantOf(level, binding));
      if (value.is_tensor) parts.push_back(value.tensor);
      for (const MilValue& element : value.list) {
        if (!element.is_tensor) return Unimplemented("a list of lists");
        parts.push_back(element.tensor);
      }
    }
    std::vector<int64_t> ints;
    std::vector<std::string> strings;
    for (const Tensor& part : parts) {
      for (int64_t i = 0; i < part.num_elements(); ++i) {
        if (part.is_string()) {
          strings.push_back(part.strings()[static_cast<size_t>(i)]);
        } else if (!IsFloating(part.dtype())) {
          ints.push_back(part.AsInt(i));
        }
      }
    }
    const bool one = parts.size() == 1 && parts[0].num_elements() == 1;
    const bool real = one && !parts[0].is_string();
    switch (argument.kind) {
      case MilKind::kInts:
      case MilKind::kBools:
        if (!strings.empty() || (ints.empty() && !parts.empty() && parts[0].num_elements() != 0)) {
          return Invalid("expected numbers");
        }
        return Attribute(std::move(ints));
      case MilKind::kStrings:
        // Classes may be numbers.
        return ints.empty() ? Attribute(std::move(strings)) : Attribute(std::move(ints));
      case MilKind::kString:
        if (!one || strings.size() != 1) return Invalid("expected a text");
        return Attribute(std::move(strings[0]));
      case MilKind::kFloat:
      case MilKind::kFloat32:
        if (!real) return Invalid("expected a number");
        return Attribute(static_cast<float>(parts[0].AsDouble(0)));
      case MilKind::kScalar:
        if (!real) return Invalid("expected a number");
        return Attribute(parts[0].Reshaped({}));
      default:
        if (!one || ints.size() != 1) return Invalid("expected an integer");
        return Attribute(ints[0]);
    }
  }

  ModelFiles& files_;
  const char* const origin_;
  const Description& description_;
  Graph& root_;
  std::vector<std::pair<std::string, Value*>> inputs_, states_;
  absl::flat_hash_set<const Value*> fixed_lists_;  // whose lengths stay
};

}  // namespace

absl::Status ReadProgram(std::string_view bytes, ModelFiles& files, const std::string& function,
                         const Description& description, Graph& graph, Scope* scope) {
  const char* const origin = files.model()->view().data();
  std::vector<MapEntry> functions;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() != program_field::kFunctions) continue;
    X2IR_ASSIGN_OR_RETURN(functions.emplace_back(), ReadMapEntry(in.Bytes(), origin));
  }
  X2IR_RETURN_IF_ERROR(in.status());
  std::string names;
  for (const MapEntry& entry : functions) {
    StrAppend(&names, names.empty() ? "" : ", ", entry.key);
    if (entry.key != function) continue;
    return ProgramReader(files, description, graph).ReadFunction(entry.value, scope);
  }
  return Invalid("the program has no function '", function, "'; it has: ", names);
}

}  // namespace x2ir::coreml
