// Graphs to modules.
#include <algorithm>
#include <cctype>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/stablehlo/attr_forms.h"
#include "x2ir/formats/stablehlo/composites.h"
#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace stablehlo {
namespace {

using mlir::Attr;
using mlir::Block;
using mlir::Op;
using mlir::ValueId;

Attr TextAttr(std::string text) {
  Attr attr;
  attr.kind = Attr::kString;
  attr.s = std::move(text);
  return attr;
}

Attr ListAttr() {
  Attr attr;
  attr.kind = Attr::kArray;
  return attr;
}

// A name as MLIR has it: letters, digits, _ $ . -; all digits, or none at the beginning.
std::string MlirName(std::string_view name) {
  std::string made;
  bool digits = true;
  for (const char c : name) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' || c == '-';
    made += plain ? c : '_';
    digits = digits && std::isdigit(static_cast<unsigned char>(c));
  }
  if (!made.empty() && !digits &&
      (std::isdigit(static_cast<unsigned char>(made[0])) || made[0] == '-')) {
    made.insert(0, "_");
  }
  return made;
}

class GraphWriter {
 public:
  explicit GraphWriter(const Model& model) : model_(model) {}

  absl::StatusOr<mlir::Module> Write() {
    module_.top.name = "builtin.module";
    Block& block = module_.top.regions.emplace_back().blocks.emplace_back();
    for (const auto& function : model_.functions) functions_[function->name] = &*function;
    X2IR_RETURN_IF_ERROR(Function("main", "public", *model_.graph, &block));
    for (const auto& function : model_.functions) {
      X2IR_RETURN_IF_ERROR(Function(function->name, "private", *function->body, &block));
    }
    return std::move(module_);
  }

 private:
  static absl::StatusOr<mlir::TypeRef> TypeOf(const Value& value) {
    const Type& type = value.type();
    if (type.kind() != Type::kTensor || mlir::ElementName(type.dtype()).empty()) {
      return CannotExpress("StableHLO has no values of type ", type.ToString(), " ('", value.name(),
                           "')");
    }
    if (type.shape() == nullptr) {
      return CannotExpress("the rank of '", value.name(), "' is not known");
    }
    return mlir::TensorType(type);
  }

  absl::StatusOr<ValueId> Define(const Value& value) {
    X2IR_ASSIGN_OR_RETURN(mlir::TypeRef type, TypeOf(value));
    const ValueId id = Define(value.name(), std::move(type));
    ids_[&value] = id;
    return id;
  }

  ValueId Define(const std::string& called, mlir::TypeRef type) {
    std::string name = MlirName(called);
    if (name.empty()) name = "v";
    if (!names_.insert(name).second) {
      const std::string base = name;
      int& suffix = suffixes_[base];
      do {
        name = StrCat(base, "_", ++suffix);
      } while (!names_.insert(name).second);
    }
    const auto id = static_cast<ValueId>(module_.values.size());
    module_.values.push_back({std::move(name), std::move(type)});
    return id;
  }

  absl::StatusOr<ValueId> IdOf(const Value* value) const {
    const auto found = value == nullptr ? ids_.end() : ids_.find(value);
    if (found == ids_.end()) return Internal("an operand is not defined before its use");
    return found->second;
  }

  absl::Status Function(const std::string& name, const char* visibility, const Graph& graph,
                        Block* block) {
    names_.clear();
    suffixes_.clear();
    Op op;
    op.name = "func.func";
    Attr argument_attrs = ListAttr(), result_attrs = ListAttr();
    const auto named = [](Attr& list, const char* key, const std::string& text) {
      Attr& dict = list.items.emplace_back();
      dict.kind = Attr::kDict;
      dict.fields.emplace_back(key, TextAttr(text));
    };
    std::vector<mlir::TypeRef> arguments, results;
    for (const Value* input : graph.inputs()) {
      X2IR_ASSIGN_OR_RETURN(arguments.emplace_back(), TypeOf(*input));
      named(argument_attrs, kArgumentName, input->name());
    }
    for (const Value* output : graph.outputs()) {
      X2IR_ASSIGN_OR_RETURN(results.emplace_back(), TypeOf(*output));
      named(result_attrs, kResultName, output->name());
    }
    Attr type;
    type.kind = Attr::kType;
    type.type = mlir::FunctionType(std::move(arguments), std::move(results));
    op.attrs.emplace_back("sym_name", TextAttr(name));
    op.attrs.emplace_back("sym_visibility", TextAttr(visibility));
    op.attrs.emplace_back("function_type", std::move(type));
    op.attrs.emplace_back("arg_attrs", std::move(argument_attrs));
    op.attrs.emplace_back("res_attrs", std::move(result_attrs));
    X2IR_RETURN_IF_ERROR(
        Body(graph, "func.return", &op.regions.emplace_back().blocks.emplace_back()));
    block->ops.push_back(std::move(op));
    return absl::OkStatus();
  }

  absl::Status Body(const Graph& graph, const char* end, Block* block) {
    for (const Value* input : graph.inputs()) {
      X2IR_ASSIGN_OR_RETURN(const ValueId id, Define(*input));
      block->arguments.push_back(id);
    }
    for (const Value* constant : graph.constants()) {
      if (constant->is_unused()) continue;
      Attr value;
      value.kind = Attr::kTensor;
      value.tensor = *constant->fixed_constant();
      X2IR_ASSIGN_OR_RETURN(const ValueId id, Define(*constant));
      value.type = module_.type(id);
      Op& op = block->ops.emplace_back();
      op.name = "stablehlo.constant";
      op.results.push_back(id);
      op.attrs.emplace_back("value", std::move(value));
    }
    for (const Node* node : graph.nodes()) X2IR_RETURN_IF_ERROR(WriteNode(*node, block));
    Op last;
    last.name = end;
    for (const Value* output : graph.outputs()) {
      X2IR_ASSIGN_OR_RETURN(const ValueId id, IdOf(output));
      last.operands.push_back(id);
    }
    block->ops.push_back(std::move(last));
    return absl::OkStatus();
  }

  absl::Status WriteNode(const Node& node, Block* block) {
    const std::string_view name = node.op().view();
    const std::string call = StrCat(kFunctionDomain, "::");
    if (name.starts_with(call))
      return WriteCall(node, std::string(name.substr(call.size())), block);
    Op op;
    op.name = name.find('.') == name.npos ? StrCat("stablehlo.", name) : std::string(name);
    for (const Value* input : node.inputs()) {
      X2IR_ASSIGN_OR_RETURN(const ValueId id, IdOf(input));
      op.operands.push_back(id);
    }
    for (const auto& [key, value] : node.attrs()) {
      const bool is_graph = value.kind() == AttrKind::kGraph || value.kind() == AttrKind::kGraphs;
      if (is_graph) continue;
      X2IR_ASSIGN_OR_RETURN(Attr attr, FlatAttr(key, value));
      if (key == "value" && op.name == "stablehlo.constant") {
        X2IR_ASSIGN_OR_RETURN(attr.type, TypeOf(*node.output(0)));
        attr.splat = attr.tensor.rank() == 0 && attr.type->type.shape()->rank() != 0;
      }
      op.attrs.emplace_back(key, std::move(attr));
    }
    for (const std::string_view region : RegionNames(op.name)) {
      if (region.ends_with('*')) {
        for (const Graph* graph : node.subgraphs()) X2IR_RETURN_IF_ERROR(AddRegion(*graph, &op));
      } else {
        X2IR_RETURN_IF_ERROR(AddRegion(node.attrs().SubGraph(region), &op));
      }
    }
    for (const Value* output : node.outputs()) {
      if (output == nullptr) return Internal("a result is left out");
      X2IR_ASSIGN_OR_RETURN(const ValueId id, Define(*output));
      op.results.push_back(id);
    }
    block->ops.push_back(std::move(op));
    return absl::OkStatus();
  }

  // The types of a call are those of its function. Where more is known of a size at the call, or
  // less, the value is converted to the type that it has on the other side.
  absl::Status WriteCall(const Node& call, const std::string& name, Block* block) {
    const auto found = functions_.find(name);
    if (found == functions_.end()) return Invalid("there is no function '", name, "'");
    const Graph& body = *found->second->body;
    const auto &inputs = body.inputs(), &outputs = body.outputs();
    if (call.num_inputs() != inputs.size() || call.num_outputs() != outputs.size()) {
      return Invalid("a call of function '", name, "' has ", call.num_inputs(), " operands and ",
                     call.num_outputs(), " results; expected ", inputs.size(), " and ",
                     outputs.size());
    }
    Op op;
    op.attrs = CompositeOf(*found->second);
    const bool is_composite = !op.attrs.empty();
    op.name = is_composite ? "stablehlo.composite" : "func.call";
    Attr& callee = op.attrs.emplace_back(is_composite ? "decomposition" : "callee", Attr()).second;
    callee.kind = Attr::kSymbol;
    callee.s = name;
    for (size_t i = 0; i < inputs.size(); ++i) {
      X2IR_ASSIGN_OR_RETURN(ValueId id, IdOf(call.input(i)));
      if (!IsWrittenAs(call.input(i)->type(), inputs[i]->type())) {
        X2IR_RETURN_IF_ERROR(CheckMayBe(*call.input(i), *inputs[i], name));
        X2IR_ASSIGN_OR_RETURN(mlir::TypeRef type, TypeOf(*inputs[i]));
        const ValueId converted = Define(inputs[i]->name(), std::move(type));
        AddConversion(id, converted, block);
        id = converted;
      }
      op.operands.push_back(id);
    }
    std::vector<std::pair<ValueId, ValueId>> conversions;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Value* output = call.output(i);
      if (output == nullptr) return Internal("a result is left out");
      if (IsWrittenAs(output->type(), outputs[i]->type())) {
        X2IR_ASSIGN_OR_RETURN(op.results.emplace_back(), Define(*output));
        continue;
      }
      X2IR_RETURN_IF_ERROR(CheckMayBe(*output, *outputs[i], name));
      X2IR_ASSIGN_OR_RETURN(mlir::TypeRef type, TypeOf(*outputs[i]));
      op.results.push_back(Define(outputs[i]->name(), std::move(type)));
      X2IR_ASSIGN_OR_RETURN(const ValueId converted, Define(*output));
      conversions.emplace_back(op.results.back(), converted);
    }
    block->ops.push_back(std::move(op));
    for (const auto& [from, to] : conversions) AddConversion(from, to, block);
    return absl::OkStatus();
  }

  static void AddConversion(ValueId from, ValueId to, Block* block) {
    Op& op = block->ops.emplace_back();
    op.name = "stablehlo.convert";
    op.operands.push_back(from);
    op.results.push_back(to);
  }

  static absl::Status CheckMayBe(const Value& at_call, const Value& in_function,
                                 const std::string& name) {
    const Type &a = at_call.type(), &b = in_function.type();
    const bool may = a.dtype() == b.dtype() && a.shape() && b.shape() &&
                     std::equal(a.shape()->begin(), a.shape()->end(), b.shape()->begin(),
                                b.shape()->end(), [](const Dim& x, const Dim& y) {
                                  return !x.is_static() || !y.is_static() || x == y;
                                });
    if (may) return absl::OkStatus();
    return Invalid("a call of function '", name, "' has '", at_call.name(), "' of type ",
                   a.ToString(), " where the function has ", b.ToString());
  }

  static bool IsWrittenAs(const Type& a, const Type& b) {
    if (a.dtype() != b.dtype() || !a.shape() || !b.shape()) return false;
    return std::equal(
        a.shape()->begin(), a.shape()->end(), b.shape()->begin(), b.shape()->end(),
        [](const Dim& x, const Dim& y) { return x.is_static() ? x == y : !y.is_static(); });
  }

  absl::Status AddRegion(const Graph& graph, Op* op) {
    return Body(graph, "stablehlo.return", &op->regions.emplace_back().blocks.emplace_back());
  }

  const Model& model_;
  mlir::Module module_;
  absl::flat_hash_map<const Value*, ValueId> ids_;
  absl::flat_hash_set<std::string> names_;  // in this function
  absl::flat_hash_map<std::string, int> suffixes_;
  absl::flat_hash_map<std::string, const x2ir::Function*> functions_;
};

}  // namespace

absl::StatusOr<mlir::Module> ModuleOf(const Model& model) { return GraphWriter(model).Write(); }

}  // namespace stablehlo
}  // namespace x2ir
