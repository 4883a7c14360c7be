// Makes a graph of ops.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/oneflow/reader_internal.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::oneflow {
namespace {

class Maker {
 public:
  Maker(Graph* graph, Variables& variables) : graph_(graph), variables_(variables) {}

  absl::Status Make(const std::vector<RawOp>& ops,
                    const std::optional<std::vector<std::string>>& outputs) {
    std::vector<Node*> nodes(ops.size(), nullptr);
    for (size_t i = 0; i < ops.size(); ++i) {
      X2IR_RETURN_IF_ERROR(Annotate(Add(ops[i], &nodes[i]), WhereIs(ops[i])));
    }
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!nodes[i]) continue;
      for (const std::string& key : ops[i].operands) {
        Value* value = nullptr;
        if (!key.empty()) {
          X2IR_ASSIGN_OR_RETURN(value, Find(key));
        }
        nodes[i]->AddInput(value);
      }
    }
    absl::flat_hash_map<std::string_view, const RawOp*> output_ops;
    for (const RawOp& op : ops) {
      if (op.type != "output") continue;
      if (op.operands.size() != 1 || op.results.size() != 1) {
        return Invalid(WhereIs(op), ": an output must have one operand and one result");
      }
      if (!outputs) X2IR_RETURN_IF_ERROR(AddOutput(op));
      output_ops.emplace(op.results[0].key, &op);
    }
    if (!outputs) return absl::OkStatus();
    for (const std::string& key : *outputs) {
      if (const auto it = output_ops.find(key); it != output_ops.end()) {
        X2IR_RETURN_IF_ERROR(AddOutput(*it->second));
      } else {
        X2IR_ASSIGN_OR_RETURN(Value * value, Find(key));
        graph_->AddOutput(value);
      }
    }
    return absl::OkStatus();
  }

 private:
  static std::string WhereIs(const RawOp& op) { return StrCat(op.type, " '", op.name, "'"); }

  absl::Status Note(const RawResult& result, Value* value) {
    if (values_.emplace(result.key, value).second) return absl::OkStatus();
    return Invalid("'", result.key, "' is produced twice");
  }

  absl::StatusOr<Value*> Find(const std::string& key) const {
    const auto it = values_.find(key);
    if (it == values_.end()) return Invalid("no operator produces '", key, "'");
    return it->second;
  }

  absl::Status Add(const RawOp& op, Node** node) {
    const bool input = op.type == "input", variable = op.type == "variable";
    if (op.type == "output") return absl::OkStatus();
    if (input || variable) {
      if (op.results.size() != 1) return Invalid("expected one result");
      const bool sizes =
          std::all_of(op.dims.begin(), op.dims.end(), [](int64_t d) { return d >= 0; });
      if (!sizes || !CheckedProduct(op.dims)) return Invalid("its shape is invalid");
      if (input && op.dtype == DType::kUndefined) return Unimplemented("its element type");
      const std::string name = graph_->UniqueName(op.name);
      return Note(op.results[0],
                  input ? graph_->AddInput(name, Type::Tensor(op.dtype, Shape::FromInts(op.dims)))
                        : graph_->AddConstant(name, variables_.Read(op.name, op.dtype, op.dims)));
    }
    *node = graph_->AppendNode(kDialect, op.type, {});
    (*node)->set_name(op.name);
    for (const auto& [name, attr] : op.attrs) (*node)->SetAttr(name, attr);
    for (const RawResult& result : op.results) {
      if (result.key.empty()) {
        graph_->AddMissingOutput(*node);
        continue;
      }
      Value* value = graph_->AddNodeOutput(*node, graph_->UniqueName(result.name), result.type);
      X2IR_RETURN_IF_ERROR(Note(result, value));
    }
    return absl::OkStatus();
  }

  // The value that an output gets has its name; one that has another name already is copied.
  absl::Status AddOutput(const RawOp& op) {
    X2IR_ASSIGN_OR_RETURN(Value * value, Find(op.operands[0]));
    const std::string name = graph_->UniqueName(op.name);
    if (value->producer() && !value->is_graph_output()) {
      graph_->Rename(value, name);
    } else {
      Node* copy = graph_->AppendNode(kDialect, "identity", {value});
      value = graph_->AddNodeOutput(copy, name, value->type());
    }
    graph_->AddOutput(value);
    return absl::OkStatus();
  }

  Graph* graph_;
  Variables& variables_;
  absl::flat_hash_map<std::string, Value*> values_;
};

}  // namespace

absl::StatusOr<Model> MakeModel(const std::vector<RawOp>& ops,
                                const std::optional<std::vector<std::string>>& outputs,
                                std::string_view job_name, Variables& variables) {
  Model model;
  model.source_dialect = std::string(kDialect);
  model.SetOpset("", 1);
  model.graph->set_name(std::string(job_name));
  X2IR_RETURN_IF_ERROR(Maker(model.graph.get(), variables).Make(ops, outputs));
  X2IR_RETURN_IF_ERROR(variables.status());
  return model;
}

absl::StatusOr<std::vector<std::string>> PlaceOperands(const OpSpec& spec,
                                                       const std::vector<std::string>& keys,
                                                       std::vector<int64_t> counts,
                                                       AttributeMap* attrs) {
  // Older files do not know the last ones.
  if (counts.size() > spec.inputs.size()) return Invalid("it has too many kinds of operands");
  counts.resize(spec.inputs.size(), 0);
  std::vector<std::string> placed;
  size_t next = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const OperandSpec& operand = spec.inputs[i];
    const bool fits = operand.count == Count::kMany       ? counts[i] >= 0
                      : operand.count == Count::kOptional ? counts[i] == 0 || counts[i] == 1
                                                          : counts[i] == 1;
    if (!fits || counts[i] > static_cast<int64_t>(keys.size() - next)) {
      return Invalid("it has ", counts[i], " operands '", operand.name, "'");
    }
    for (int64_t k = 0; k < counts[i]; ++k) placed.push_back(keys[next++]);
    if (operand.count == Count::kOptional && counts[i] == 0) placed.emplace_back();
  }
  if (next != keys.size()) return Invalid("it has ", keys.size(), " operands, expected ", next);
  while (!placed.empty() && placed.back().empty()) placed.pop_back();
  if (spec.has_segments()) attrs->Set(kSegments, Attribute(std::move(counts)));
  return placed;
}

absl::StatusOr<std::vector<int64_t>> GuessCounts(const std::vector<OperandSpec>& operands,
                                                 size_t given, std::string_view what) {
  size_t required = 0, many = 0;
  for (const OperandSpec& operand : operands) {
    required += operand.count == Count::kOne;
    many += operand.count == Count::kMany;
  }
  const size_t optional = operands.size() - required - many;
  const bool all = given == required + optional && many == 0;
  const bool rest = many == 1 && optional == 0 && given >= required;
  if (!all && !rest && given != required) {
    return Invalid("it has ", given, " ", what, ", and does not say which they are");
  }
  std::vector<int64_t> counts;
  for (const OperandSpec& operand : operands) {
    int64_t count = 1;
    if (operand.count == Count::kOptional) count = all ? 1 : 0;
    if (operand.count == Count::kMany) count = rest ? static_cast<int64_t>(given - required) : 0;
    counts.push_back(count);
  }
  return counts;
}

bool IsSystemAttr(std::string_view name) {
  static const auto* const names = new absl::flat_hash_set<std::string_view>{
      "ctrl_in_op_names",      "device_name",     "device_tag",       "hierarchy",   "is_dynamic",
      "operand_segment_sizes", "op_name",         "op_type_name",     "output_lbns", "parallel",
      "result_segment_sizes",  "scope_symbol_id", "stream_name_hint", "trainable"};
  return names->contains(name);
}

}  // namespace x2ir::oneflow
