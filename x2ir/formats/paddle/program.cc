// Blocks of a program as graphs. Variables are names that are written again and again; here each
// write makes a value, and reads see the last one.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/paddle/paddle_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::paddle {
namespace {

constexpr std::string_view kEmptyVariable = "@EMPTY@";
constexpr int kMaxBlockDepth = 64;

bool IsTensor(const VarDesc& var) { return var.kind == kLodTensor; }

class Program {
 public:
  Program(const ProgramDesc& desc, const ModelFiles& files)
      : desc_(desc),
        files_(files),
        entered_(desc.blocks.size()),
        op_versions_(desc.op_versions.begin(), desc.op_versions.end()) {}

  absl::StatusOr<Model> Read() {
    Model model;
    model.source_dialect = std::string(kDialect);
    model.SetOpset("", 1);
    graph_ = model.graph.get();
    X2IR_RETURN_IF_ERROR(ReadDeclared());
    Scope scope{graph_, nullptr, 0, {}};
    X2IR_RETURN_IF_ERROR(AddInputs(scope));
    X2IR_RETURN_IF_ERROR(ReadBlock(scope));
    X2IR_RETURN_IF_ERROR(AddOutputs(scope));
    DropUnusedResults(*graph_);
    Annotations& notes = model.annotations.GetOrMake();
    notes.extra["paddle.format"] = "program";
    notes.extra["paddle.version"] = StrCat(desc_.version);
    for (const auto& [op, version] : desc_.op_versions) {
      if (version > 0) notes.extra[StrCat("paddle.op_version.", op)] = StrCat(version);
    }
    return model;
  }

 private:
  // The values that variables have, in a block that becomes a graph.
  struct Scope {
    Graph* graph;
    Scope* outer;
    size_t block;
    absl::flat_hash_map<std::string_view, Value*> values;
  };

  Value* Find(Scope& scope, std::string_view name) {
    for (Scope* at = &scope; at; at = at->outer) {
      const auto found = at->values.find(name);
      if (found != at->values.end()) return found->second;
    }
    const auto parameter = parameters_.find(name);
    if (parameter == parameters_.end()) return nullptr;
    Scope* root = &scope;
    while (root->outer) root = root->outer;
    return root->values[parameter->first] =
               graph_->AddConstant(graph_->UniqueName(name), parameter->second);
  }

  // The declaration of a variable in the scope's block or around it.
  const VarDesc* Declared(const Scope& scope, std::string_view name) const {
    for (const Scope* at = &scope; at; at = at->outer) {
      const auto found = vars_[at->block].find(name);
      if (found != vars_[at->block].end()) return found->second;
    }
    return nullptr;
  }

  absl::Status ReadDeclared() {
    vars_.resize(desc_.blocks.size());
    std::vector<DeclaredParameter> declared;
    for (size_t i = 0; i < desc_.blocks.size(); ++i) {
      for (const VarDesc& var : desc_.blocks[i].vars) {
        vars_[i].emplace(var.name, &var);
        if (!var.persistable) continue;
        if (var.kind == kSelectedRows) {
          return Unimplemented("parameter '", var.name, "' has selected rows (sparse)");
        }
        if (IsTensor(var)) {
          declared.push_back(
              {std::string(var.name), ToDType(var.tensor.data_type), var.tensor.dims});
        }
      }
    }
    X2IR_ASSIGN_OR_RETURN(parameters_, ReadParameters(files_, std::move(declared)));
    return absl::OkStatus();
  }

  Type TypeOf(const VarDesc& var, std::string_view name) const {
    return Type::Tensor(ToDType(var.tensor.data_type), ShapeOf(var.tensor.dims, name));
  }

  // --- Inputs and outputs -----------------------------------------------------------------------

  static int64_t ColumnOf(const OpDesc& op) {
    for (const auto& [name, attr] : op.attrs) {
      if (name == "col") return attr.get<int64_t>() ? *attr.get<int64_t>() : 0;
    }
    return 0;
  }
  // The only variable of a slot.
  static absl::StatusOr<std::string_view> Only(const std::vector<Slot>& slots,
                                               std::string_view name) {
    for (const Slot& slot : slots) {
      if (slot.name == name && slot.arguments.size() == 1) return slot.arguments[0];
    }
    return Invalid("expected one variable as '", name, "'");
  }

  absl::Status AddInput(Scope& scope, std::string_view name) {
    const VarDesc* var = Declared(scope, name);
    if (!var || !IsTensor(*var)) return Invalid("input '", name, "' is not declared as a tensor");
    if (scope.values.contains(name)) return Invalid("'", name, "' is fed twice");
    scope.values[name] = graph_->AddInput(name, TypeOf(*var, name));
    return absl::OkStatus();
  }

  absl::Status AddInputs(Scope& scope) {
    std::vector<std::pair<int64_t, std::string_view>> fed;
    for (const OpDesc& op : desc_.blocks[0].ops) {
      if (op.type != "feed") continue;
      X2IR_ASSIGN_OR_RETURN(const std::string_view name, Only(op.outputs, "Out"));
      fed.emplace_back(ColumnOf(op), name);
    }
    std::stable_sort(fed.begin(), fed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (fed.empty()) {
      // What is read before anything writes it.
      absl::flat_hash_set<std::string_view> known;
      for (const OpDesc& op : desc_.blocks[0].ops) {
        for (const Slot& slot : op.inputs) {
          for (const std::string_view name : slot.arguments) {
            const VarDesc* var = Declared(scope, name);
            if (var && IsTensor(*var) && !var->persistable && known.insert(name).second) {
              fed.emplace_back(0, name);
            }
          }
        }
        for (const Slot& slot : op.outputs) {
          for (const std::string_view name : slot.arguments) known.insert(name);
        }
      }
    }
    for (const auto& [column, name] : fed) X2IR_RETURN_IF_ERROR(AddInput(scope, name));
    return absl::OkStatus();
  }

  absl::Status AddOutputs(Scope& scope) {
    std::stable_sort(fetched_.begin(), fetched_.end(),
                     [](const auto& a, const auto& b) { return a.column < b.column; });
    if (fetched_.empty()) {
      for (const OpDesc& op : desc_.blocks[0].ops) {
        for (const Slot& slot : op.outputs) {
          for (const std::string_view name : slot.arguments) {
            const auto found = scope.values.find(name);
            if (found != scope.values.end() && found->second->uses().empty() &&
                slot.name != "XShape") {
              fetched_.push_back({0, name, found->second});
            }
          }
        }
      }
    }
    if (fetched_.empty()) return Invalid("the program has no outputs");
    for (const Fetched& each : fetched_) {
      graph_->AddOutput(each.value);
      // The value that is fetched has the variable's name, not the first that was written.
      Value* named = graph_->Find(each.name);
      if (named && named != each.value && named->producer() && each.value->producer() &&
          !named->is_graph_output()) {
        graph_->SwapNames(named, each.value);
      }
    }
    return absl::OkStatus();
  }

  // --- Blocks -----------------------------------------------------------------------------------

  absl::Status ReadBlock(Scope& scope) {
    const BlockDesc& block = desc_.blocks[scope.block];
    for (size_t i = 0; i < block.ops.size(); ++i) {
      const OpDesc& op = block.ops[i];
      X2IR_RETURN_IF_ERROR(Annotate(
          ReadOp(scope, op), StrCat("block ", scope.block, ", operator ", i, " (", op.type, ")")));
    }
    return absl::OkStatus();
  }

  absl::Status ReadOp(Scope& scope, const OpDesc& op) {
    if (op.type == "feed") return absl::OkStatus();
    if (op.type == "fetch") {
      X2IR_ASSIGN_OR_RETURN(const std::string_view name, Only(op.inputs, "X"));
      Value* value = Find(scope, name);
      if (!value) return Invalid("no operator produces '", name, "'");
      fetched_.push_back({ColumnOf(op), name, value});
      return absl::OkStatus();
    }
    if (!op.blocks.empty()) return ReadControlFlow(scope, op);
    std::vector<Value*> operands;
    std::vector<std::string> slots;
    std::vector<int64_t> levels;
    bool leveled = false;
    for (const Slot& slot : op.inputs) {
      for (const std::string_view name : slot.arguments) {
        X2IR_ASSIGN_OR_RETURN(Value * value, Operand(scope, name));
        operands.push_back(value);
        slots.emplace_back(slot.name);
        const VarDesc* var = Declared(scope, name);
        levels.push_back(var ? var->lod_level : 0);
        leveled |= levels.back() != 0;
      }
    }
    if (op.type == "write_to_array") {
      X2IR_ASSIGN_OR_RETURN(const std::string_view array, Only(op.outputs, "Out"));
      X2IR_ASSIGN_OR_RETURN(Value * before, Operand(scope, array));
      operands.push_back(before);
      slots.emplace_back("Array");
    }
    Node* node = scope.graph->AppendNode(kDialect, op.type, operands);
    for (const auto& [name, attr] : op.attrs) node->SetAttr(name, attr);
    node->SetAttr(kOperandSlots, std::move(slots));
    if (leveled) node->SetAttr(kOperandLevels, std::move(levels));
    if (const std::optional<int64_t> version = VersionOf(op.type)) {
      node->SetAttr(kOpVersion, *version);
    }
    AddResults(scope, op, node);
    return absl::OkStatus();
  }

  // Programs that say versions leave out those of 0; before 2.0 they say none.
  std::optional<int64_t> VersionOf(std::string_view op) const {
    constexpr int64_t kFirstWithVersions = 2000000;
    const auto found = op_versions_.find(op);
    if (found != op_versions_.end()) return found->second;
    const bool older = desc_.version > 0 && desc_.version < kFirstWithVersions;
    return older || !op_versions_.empty() ? std::optional<int64_t>(0) : std::nullopt;
  }

  // Null for a variable that is left out. An array that nothing wrote is empty.
  absl::StatusOr<Value*> Operand(Scope& scope, std::string_view name) {
    if (name == kEmptyVariable) return nullptr;
    if (Value* value = Find(scope, name)) return value;
    const VarDesc* var = Declared(scope, name);
    if (var && var->kind == kLodTensorArray) {
      Node* node = scope.graph->AppendNode(kDialect, "create_array", {});
      node->SetAttr("dtype", var->tensor.data_type);
      node->SetAttr(kOperandSlots, std::vector<std::string>{});
      node->SetAttr(kResultSlots, std::vector<std::string>{"Out"});
      return scope.values[name] = scope.graph->AddNodeOutput(node, scope.graph->UniqueName(name));
    }
    return Invalid("no operator produces '", name, "'");
  }

  void AddResult(Scope& scope, Node* node, std::string_view name) {
    if (name == kEmptyVariable) {
      scope.graph->AddMissingOutput(node);
      return;
    }
    // What is declared of results is not what runs: converters leave it as it was. But it tells
    // programs that know no tensors of rank 0.
    const VarDesc* var = Declared(scope, name);
    const bool single = var && IsTensor(*var) && var->tensor.dims == std::vector<int64_t>{1};
    scope.values[name] = scope.graph->AddNodeOutput(
        node, scope.graph->UniqueName(name),
        single ? Type::Tensor(DType::kUndefined, Shape::FromInts(var->tensor.dims)) : Type());
  }

  void AddResults(Scope& scope, const OpDesc& op, Node* node) {
    std::vector<std::string> slots;
    for (const Slot& slot : op.outputs) {
      for (const std::string_view name : slot.arguments) {
        AddResult(scope, node, name);
        slots.emplace_back(slot.name);
      }
    }
    node->SetAttr(kResultSlots, std::move(slots));
  }

  // --- Control flow -----------------------------------------------------------------------------

  // The variables that a block writes, those of blocks in it too, in order.
  void CollectWritten(size_t block, int depth, std::vector<std::string_view>* names) const {
    if (block >= desc_.blocks.size() || depth > kMaxBlockDepth) return;
    for (const OpDesc& op : desc_.blocks[block].ops) {
      for (const Slot& slot : op.outputs) {
        if (slot.name == "StepScopes" || slot.name == "Scope") continue;
        for (const std::string_view name : slot.arguments) {
          if (name != kEmptyVariable && !vars_[block].contains(name)) names->push_back(name);
        }
      }
      for (const auto& [attr, inner] : op.blocks) {
        // Blocks come after the block that runs them, so this ends.
        if (inner > static_cast<int64_t>(block)) {
          std::vector<std::string_view> more;
          CollectWritten(static_cast<size_t>(inner), depth + 1, &more);
          for (const std::string_view name : more) {
            if (!vars_[block].contains(name)) names->push_back(name);
          }
        }
      }
    }
  }

  absl::StatusOr<size_t> Enter(const OpDesc& op) {
    const int64_t index = op.blocks[0].second;
    if (op.blocks.size() != 1 || index <= 0 || index >= static_cast<int64_t>(desc_.blocks.size())) {
      return Invalid("there is no block ", index);
    }
    if (entered_[static_cast<size_t>(index)]) {
      return Invalid("block ", index, " is run by two operators");
    }
    entered_[static_cast<size_t>(index)] = true;
    return static_cast<size_t>(index);
  }

  absl::Status ReadControlFlow(Scope& scope, const OpDesc& op) {
    if (depth_ >= kMaxBlockDepth) return Invalid("blocks are nested too deeply");
    X2IR_ASSIGN_OR_RETURN(const size_t block, Enter(op));
    std::vector<std::string_view> written, unique;
    CollectWritten(block, 0, &written);
    absl::flat_hash_set<std::string_view> seen;
    for (const std::string_view name : written) {
      if (seen.insert(name).second && Declared(scope, name)) unique.push_back(name);
    }
    ++depth_;
    const absl::Status status = op.type == "while" ? ReadWhile(scope, op, block, unique)
                                : op.type == "conditional_block"
                                    ? ReadConditional(scope, op, block, unique)
                                    : Unimplemented("an operator with a block of its own");
    --depth_;
    return status;
  }

  // Attributes that are not blocks, with the slots.
  static void SetAttrs(Node* node, const OpDesc& op, std::vector<std::string> operands,
                       std::vector<std::string> results) {
    for (const auto& [name, attr] : op.attrs) node->SetAttr(name, attr);
    node->SetAttr(kOperandSlots, std::move(operands));
    node->SetAttr(kResultSlots, std::move(results));
  }

  absl::Status ReadWhile(Scope& scope, const OpDesc& op, size_t block,
                         const std::vector<std::string_view>& written) {
    X2IR_ASSIGN_OR_RETURN(const std::string_view condition, Only(op.inputs, "Condition"));
    X2IR_ASSIGN_OR_RETURN(Value * first, Operand(scope, condition));
    std::vector<std::string_view> carried;
    std::vector<Value*> operands = {first};
    std::vector<std::string> slots = {"Condition"};
    for (const std::string_view name : written) {
      const absl::StatusOr<Value*> value = Operand(scope, name);
      if (!value.ok()) continue;  // it has no value before, so no operator outside can use one
      carried.push_back(name);
      operands.push_back(*value);
      slots.emplace_back("X");
    }
    auto body = std::make_shared<Graph>(StrCat("block_", block));
    Node* node = scope.graph->AppendNode(kDialect, op.type, operands);
    node->SetAttr("body", body);
    Scope inner{body.get(), &scope, block, {}};
    for (const std::string_view name : carried) {
      inner.values[name] = body->AddInput(body->UniqueName(name), Type());
    }
    X2IR_RETURN_IF_ERROR(ReadBlock(inner));
    X2IR_ASSIGN_OR_RETURN(Value * next, Operand(inner, condition));
    AddOwnOutput(*body, next);
    for (const std::string_view name : carried) AddOwnOutput(*body, inner.values[name]);
    SetAttrs(node, op, std::move(slots), std::vector<std::string>(carried.size(), "Out"));
    for (const std::string_view name : carried) AddResult(scope, node, name);
    return absl::OkStatus();
  }

  absl::Status ReadConditional(Scope& scope, const OpDesc& op, size_t block,
                               const std::vector<std::string_view>& written) {
    std::vector<Value*> operands;
    std::vector<std::string> slots;
    for (const Slot& slot : op.inputs) {
      if (slot.name != "Cond") continue;
      for (const std::string_view name : slot.arguments) {
        X2IR_ASSIGN_OR_RETURN(operands.emplace_back(), Operand(scope, name));
        slots.emplace_back(slot.name);
      }
    }
    for (const std::string_view name : written) {
      const absl::StatusOr<Value*> value = Operand(scope, name);
      operands.push_back(value.ok() ? *value : nullptr);
      slots.emplace_back("Old");
    }
    auto body = std::make_shared<Graph>(StrCat("block_", block));
    Node* node = scope.graph->AppendNode(kDialect, op.type, operands);
    node->SetAttr("body", body);
    Scope inner{body.get(), &scope, block, {}};
    X2IR_RETURN_IF_ERROR(ReadBlock(inner));
    for (const std::string_view name : written) {
      X2IR_ASSIGN_OR_RETURN(Value * value, Operand(inner, name));
      AddOwnOutput(*body, value);
    }
    SetAttrs(node, op, std::move(slots), std::vector<std::string>(written.size(), "Out"));
    for (const std::string_view name : written) AddResult(scope, node, name);
    return absl::OkStatus();
  }

  struct Fetched {
    int64_t column;
    std::string_view name;
    Value* value;
  };

  const ProgramDesc& desc_;
  const ModelFiles& files_;
  Graph* graph_ = nullptr;
  std::vector<absl::flat_hash_map<std::string_view, const VarDesc*>> vars_;  // of each block
  Parameters parameters_;
  std::vector<Fetched> fetched_;
  std::vector<bool> entered_;
  absl::flat_hash_map<std::string_view, int64_t> op_versions_;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<Model> ReadProgram(const ModelFiles& files) {
  absl::StatusOr<ProgramDesc> desc = ReadProgramDesc(files.model()->view());
  if (!desc.ok()) return desc.status();
  return Program(*desc, files).Read();
}

}  // namespace x2ir::paddle
