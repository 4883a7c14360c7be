// Resources of TFLite where they are the same in every run: a hash table is filled once, a variable
// is set before it is read. A graph of ours has no memory between runs.
#include <map>
#include <string>
#include <utility>

#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tflite/prepare.h"

namespace x2ir {
namespace {

bool IsTflite(const Node& node, std::string_view op) {
  return node.dialect() == Symbol(tflite::kDialect) && node.op().view() == op;
}

// The node that makes a handle.
const Node* HandleOf(const Value* handle, std::string_view op) {
  const Node* made_by = handle ? handle->producer() : nullptr;
  return made_by && IsTflite(*made_by, op) ? made_by : nullptr;
}

class Resources {
 public:
  explicit Resources(std::vector<std::string>& warnings) : warnings_(warnings) {}

  absl::Status Run(Graph& graph) {
    X2IR_RETURN_IF_ERROR(Fill(graph));
    X2IR_RETURN_IF_ERROR(Initialize(graph));
    X2IR_RETURN_IF_ERROR(Settle(graph, /*outermost=*/true));
    return absl::OkStatus();
  }

 private:
  // What tables are filled with, by their numbers: in any graph, since all that fill one do it
  // once.
  absl::Status Fill(Graph& graph) {
    for (Node* node : graph.nodes()) {
      for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(Fill(*inner));
      if (!IsTflite(*node, "HASHTABLE_IMPORT")) continue;
      const Node* table = HandleOf(node->input(0), "HASHTABLE");
      const Tensor* keys = node->input(1) ? node->input(1)->fixed_constant() : nullptr;
      const Tensor* values = node->input(2) ? node->input(2)->fixed_constant() : nullptr;
      if (!table || !keys || !values || keys->num_elements() != values->num_elements()) {
        return Unimplemented("HASHTABLE_IMPORT: what the table is filled with is computed");
      }
      X2IR_ASSIGN_OR_RETURN(std::vector<std::string> row, Row(*keys));
      X2IR_ASSIGN_OR_RETURN(const std::vector<std::string> second, Row(*values));
      const auto count = static_cast<int64_t>(row.size());
      row.insert(row.end(), second.begin(), second.end());
      tables_[table->attrs().Int("table_id", 0)] = Tensor::Strings({2, count}, std::move(row));
    }
    return absl::OkStatus();
  }

  // Numbers as their bytes.
  static absl::StatusOr<std::vector<std::string>> Row(const Tensor& tensor) {
    if (tensor.is_sparse()) return Unimplemented("a table of sparse tensors");
    if (tensor.is_string()) return tensor.strings();
    const size_t width = static_cast<size_t>(BitWidth(tensor.dtype())) / 8;
    if (width == 0) return Unimplemented("a table of ", Name(tensor.dtype()));
    std::vector<std::string> row;
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      row.emplace_back(reinterpret_cast<const char*>(tensor.bytes().data()) + i * width, width);
    }
    return row;
  }

  // Subgraphs that run before the first call: variables are set to constants there.
  absl::Status Initialize(Graph& graph) {
    for (Node* node : graph.nodes()) {
      if (!IsTflite(*node, "CALL_ONCE")) continue;
      for (Graph* inner : node->subgraphs()) {
        for (Node* inside : inner->nodes()) {
          if (!IsTflite(*inside, "ASSIGN_VARIABLE")) continue;
          X2IR_ASSIGN_OR_RETURN(const std::string name, VariableOf(*inside));
          const Tensor* value = inside->input(1) ? inside->input(1)->fixed_constant() : nullptr;
          if (!value) return Unimplemented("a variable's first value is computed");
          Value* constant = graph.AddConstant(graph.UniqueName(inside->input(1)->name()), *value);
          constant->annotations().CopyFrom(inside->input(1)->annotations());
          variables_[name] = constant;
        }
      }
      if (node->num_outputs() != 0) return Invalid("CALL_ONCE: it has results");
      graph.EraseUnused(node);
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<std::string> VariableOf(const Node& node) {
    const Node* handle = HandleOf(node.input(0), "VAR_HANDLE");
    if (!handle)
      return Unimplemented(node.op().view(), ": which variable it is depends on the run");
    return StrCat(handle->attrs().String("container", ""), "/",
                  handle->attrs().String("shared_name", ""));
  }

  absl::Status Settle(Graph& graph, bool outermost) {
    std::vector<Node*> gone;
    for (Node* node : graph.nodes()) {
      for (Graph* inner : node->subgraphs()) {
        X2IR_RETURN_IF_ERROR(Settle(*inner, /*outermost=*/false));
      }
      if (IsTflite(*node, "HASHTABLE")) {
        const auto table = tables_.find(node->attrs().Int("table_id", 0));
        Value* handle = node->output(0);
        if (table == tables_.end() || !handle) continue;  // who looks something up says so
        graph.ReplaceAllUses(
            handle, graph.AddConstant(graph.UniqueName(handle->name() + "_table"), table->second));
        gone.push_back(node);
      } else if (IsTflite(*node, "HASHTABLE_IMPORT") || IsTflite(*node, "VAR_HANDLE")) {
        gone.push_back(node);
      } else if (IsTflite(*node, "ASSIGN_VARIABLE")) {
        if (!outermost) return Unimplemented("a variable is set in a branch or a loop");
        X2IR_ASSIGN_OR_RETURN(const std::string name, VariableOf(*node));
        variables_[name] = node->input(1);
        gone.push_back(node);
        warnings_.push_back(StrCat("variable '", name.substr(1),
                                   "' is set in each run; no run sees what another one set"));
      } else if (IsTflite(*node, "READ_VARIABLE")) {
        X2IR_ASSIGN_OR_RETURN(const std::string name, VariableOf(*node));
        Value* value = variables_[name];
        if (!value)
          return Unimplemented("variable '", name.substr(1), "' is read before it is set");
        if (!outermost && value->graph() != &graph) {
          const Tensor* constant = value->fixed_constant();
          if (!constant) return Unimplemented("a variable is read in a branch or a loop");
          value = graph.AddConstant(graph.UniqueName(value->name()), *constant);
        }
        if (Value* read = node->output(0)) {
          if (read->is_graph_output()) {
            node->set_op(kIrDialect, "identity");
            node->SetInput(0, value);
            continue;
          }
          graph.ReplaceAllUses(read, value);
        }
        gone.push_back(node);
      }
    }
    // Handles go after those who use them.
    for (auto it = gone.rbegin(); it != gone.rend(); ++it) {
      X2IR_RETURN_IF_ERROR(graph.Erase(*it));
    }
    return absl::OkStatus();
  }

  std::vector<std::string>& warnings_;
  std::map<int64_t, Tensor> tables_;
  std::map<std::string, Value*> variables_;
};

}  // namespace

absl::Status ResolveResources(Graph& graph, std::vector<std::string>& warnings) {
  return Resources(warnings).Run(graph);
}

}  // namespace x2ir
