#include "x2ir/handlers/tflite/recall.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/dialect.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/formats/tflite/tflite.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

// A note is the operator as text, an annotation of its first result: operands are inputs, or
// constants where they are small. What text has no words for are attributes of the node.
constexpr char kNote[] = "tflite.operator", kRecalled[] = "tflite.recalled";
const Symbol kQuantized("tflite.quantized");  // names of values, each with its quantization
const Symbol kStates("tflite.states");        // names of operands that are variable
constexpr int64_t kSmallOperand = 64;         // elements

// Of integers that are sizes or places, which passes compute, these alone are noted.
constexpr std::string_view kOfIntegers[] = {"ADD_N",
                                            "BATCH_TO_SPACE_ND",
                                            "BROADCAST_ARGS",
                                            "CUMSUM",
                                            "DEPTH_TO_SPACE",
                                            "DYNAMIC_UPDATE_SLICE",
                                            "EMBEDDING_LOOKUP",
                                            "EMBEDDING_LOOKUP_SPARSE",
                                            "FLOOR_DIV",
                                            "FLOOR_MOD",
                                            "HASHTABLE_LOOKUP",
                                            "MATRIX_DIAG",
                                            "MATRIX_SET_DIAG",
                                            "MULTINOMIAL",
                                            "NOT_EQUAL",
                                            "ONE_HOT",
                                            "POW",
                                            "QUANTIZE",
                                            "RANDOM_STANDARD_NORMAL",
                                            "RANDOM_UNIFORM",
                                            "REDUCE_WINDOW",
                                            "RIGHT_SHIFT",
                                            "SCATTER_ND",
                                            "SEGMENT_SUM",
                                            "CONV_3D_TRANSPOSE",
                                            "TRANSPOSE_CONV",
                                            "SELECT",
                                            "SPACE_TO_BATCH_ND",
                                            "SPACE_TO_DEPTH",
                                            "SPARSE_TO_DENSE",
                                            "UNIQUE",
                                            "UNSORTED_SEGMENT_MAX",
                                            "UNSORTED_SEGMENT_MIN",
                                            "UNSORTED_SEGMENT_PROD",
                                            "UNSORTED_SEGMENT_SUM",
                                            "ZEROS_LIKE"};
// Float operators of these kinds are not recalled: passes simplify them with their neighbours.
constexpr std::string_view kOptimized[] = {
    "ADD",     "AVERAGE_POOL_2D", "CONCATENATION",      "CONV_2D", "DEPTHWISE_CONV_2D",
    "DIV",     "FULLY_CONNECTED", "MAX_POOL_2D",        "MUL",     "PACK",
    "RESHAPE", "RSQRT",           "SQUARED_DIFFERENCE", "SUB",     "TRANSPOSE",
    "UNPACK"};

template <size_t n>
bool IsAmong(const std::string_view (&all)[n], std::string_view op) {
  return std::find(std::begin(all), std::end(all), op) != std::end(all);
}

bool IsNoted(const Node& node) {
  const std::string_view op = node.op().view();
  if (op.starts_with("custom::")) return true;
  bool quantized = false, integers = false, floats = false;
  std::vector<Value*> all = node.inputs();
  all.insert(all.end(), node.outputs().begin(), node.outputs().end());
  for (const Value* v : all) {
    if (!v) continue;
    const bool own = tflite::IsQuantized(*v);
    quantized |= own;
    if (v->constant()) continue;
    integers |= own;
    floats |= v->dtype() == DType::kFloat32;
  }
  // An operator that mixes them is of a file that no converter made.
  if (quantized) return !(integers && floats) || op == "QUANTIZE" || op == "DEQUANTIZE";
  const Value* x = all.empty() ? nullptr : all[0];
  if (!x) return false;
  if (op == "GATHER" && node.attrs().Int("batch_dims", 0) != 0) return true;
  const bool sizes = x->dtype() == DType::kInt32 || x->dtype() == DType::kInt64;
  return sizes ? IsAmong(kOfIntegers, op) : !IsAmong(kOptimized, op);
}

std::string AnnotationOf(const Value& v, const char* key) {
  const Annotations* all = v.annotations().get();
  if (!all) return "";
  const auto found = all->extra.find(key);
  return found == all->extra.end() ? "" : found->second;
}

bool IsReal(const Value& v) {
  return v.type().is_tensor() && v.dtype() != DType::kUndefined && !IsComplex(v.dtype());
}

// Nothing where the operator is more than its operands and results say.
void NoteOperator(Node* node) {
  Graph note("operator");
  std::vector<std::string> quantized, states;
  absl::flat_hash_map<const Value*, Value*> here;
  std::vector<Value*> operands;
  const auto describe = [&](const Value& v) {
    const std::string q = AnnotationOf(v, tflite::kQuantizationKey);
    if (!q.empty()) quantized.insert(quantized.end(), {v.name(), q});
  };
  for (const Value* v : node->inputs()) {
    Value*& own = operands.emplace_back(v ? here[v] : nullptr);
    if (!v || own) continue;
    if (!IsReal(*v) || v->graph() != node->graph()) return;
    const Tensor* constant = v->fixed_constant();
    const bool state = !AnnotationOf(*v, tflite::kVariable).empty();
    if (state && v->uses().size() != 1) return;
    if (state) states.push_back(v->name());
    if (constant && !state && !constant->is_string() && !constant->is_sparse() &&
        constant->num_elements() <= kSmallOperand) {
      own = note.AddConstant(v->name(), *constant);
    } else {
      own = note.AddInput(v->name(), Type::Tensor(v->dtype()));
    }
    here[v] = own;
    describe(*v);
  }
  if (node->has_subgraphs() || node->num_outputs() == 0 || !node->output(0)) return;
  Node* copy = note.AppendNode(node->dialect(), node->op(), operands);
  for (const auto& [name, attr] : node->attrs()) copy->SetAttr(name, attr);
  for (const Value* v : node->outputs()) {
    if (!v || !IsReal(*v)) return;
    note.AddOutput(note.AddNodeOutput(copy, v->name(), Type::Tensor(v->dtype())));
    describe(*v);
  }
  if (!quantized.empty()) copy->SetAttr(kQuantized, quantized);
  if (!states.empty()) copy->SetAttr(kStates, states);
  node->output(0)->annotations().GetOrMake().extra[kNote] =
      ToText(note, {.max_constant_elements = kSmallOperand});
}

// --- The way back -------------------------------------------------------------------------------

// Whether nodes are those of a pattern, from a value backwards. Nested graphs are the same node by
// node.
class Match {
 public:
  void Bind(const Value* pattern, const Value* value) { values_[pattern] = value; }
  void AddNodesTo(absl::flat_hash_set<const Node*>* all) const {
    for (const auto& [pattern, node] : nodes_) all->insert(node);
  }

  bool Same(const Value* pattern, const Value* value) {
    if (!pattern || !value) return pattern == value;
    if (const auto known = values_.find(pattern); known != values_.end()) {
      return known->second == value;
    }
    if (const Tensor* constant = pattern->fixed_constant()) {
      const Tensor* own = value->fixed_constant();
      if (!own || !(*own == *constant)) return false;
    } else {
      const Node *wanted = pattern->producer(), *node = value->producer();
      if (!wanted || !node || !SameNode(*wanted, *node)) return false;
      const auto outputs = wanted->outputs();
      const auto at = std::find(outputs.begin(), outputs.end(), pattern) - outputs.begin();
      if (node->output(static_cast<size_t>(at)) != value) return false;
    }
    values_[pattern] = value;
    return true;
  }

 private:
  bool SameNode(const Node& pattern, const Node& node) {
    if (const auto known = nodes_.find(&pattern); known != nodes_.end()) {
      return known->second == &node;
    }
    if (!node.is_ir() || pattern.op() != node.op() || pattern.num_inputs() != node.num_inputs() ||
        pattern.num_outputs() != node.num_outputs() ||
        pattern.attrs().size() != node.attrs().size()) {
      return false;
    }
    nodes_[&pattern] = &node;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      if (!Same(pattern.input(i), node.input(i))) return false;
    }
    for (const auto& [name, attr] : pattern.attrs()) {
      const Attribute* own = node.attrs().Find(name);
      if (!own || own->kind() != attr.kind()) return false;
      const auto* graph = attr.get<Attribute::GraphPtr>();
      if (graph ? !SameGraph(**graph, **own->get<Attribute::GraphPtr>()) : !(attr == *own)) {
        return false;
      }
    }
    return true;
  }

  bool SameGraph(const Graph& pattern, const Graph& graph) {
    if (pattern.inputs().size() != graph.inputs().size() ||
        pattern.outputs().size() != graph.outputs().size()) {
      return false;
    }
    for (size_t i = 0; i < graph.inputs().size(); ++i) Bind(pattern.inputs()[i], graph.inputs()[i]);
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      if (!Same(pattern.outputs()[i], graph.outputs()[i])) return false;
    }
    return true;
  }

  absl::flat_hash_map<const Value*, const Value*> values_;
  absl::flat_hash_map<const Node*, const Node*> nodes_;
};

class Recaller {
 public:
  explicit Recaller(Graph& graph) : graph_(graph) {}

  absl::Status Run() {
    std::vector<Value*> noted;
    for (Node* node : graph_.nodes()) {
      for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(Recaller(*inner).Run());
      for (Value* v : node->outputs()) {
        if (v && !AnnotationOf(*v, kNote).empty()) noted.push_back(v);
      }
    }
    for (Value* v : noted) {
      auto& notes = v->annotations().GetOrMake().extra;
      const std::string text = std::move(notes[kNote]);
      notes.erase(kNote);
      Recall(text);
    }
    if (replaced_.empty()) return absl::OkStatus();
    for (Node* node = graph_.last(); node;) {
      Node* before = node->prev();
      const auto outputs = node->outputs();
      const bool unused = std::all_of(outputs.begin(), outputs.end(),
                                      [](const Value* v) { return !v || v->is_unused(); });
      if (unused && replaced_.contains(node)) graph_.EraseUnused(node);
      node = before;
    }
    return graph_.Sort();
  }

 private:
  // An operand of the operator, which is an input or a constant of the note.
  struct Operand {
    std::string name;
    Value* value;  // in the graph; null: a small constant that is no longer there
    Tensor constant;
    bool is_state;
  };

  void Recall(std::string_view text) {
    // A note that was made here has all elements of its constants.
    const auto note = ParseGraph(text, /*max_zeros=*/0);
    if (!note.ok() || (*note)->num_nodes() != 1) return;
    Node* op = (*note)->first();
    const auto texts_of = [&](Symbol name) {
      const auto attr = op->TakeAttr(name);
      const auto* texts = attr ? attr->get<Attribute::Strings>() : nullptr;
      return texts ? *texts : std::vector<std::string>();
    };
    const std::vector<std::string> quantized = texts_of(kQuantized), states = texts_of(kStates);
    const auto operands = OperandsOf(**note, *op, states);
    if (!operands) return;
    // What the operator was, to be written again.
    const AttributeMap attrs = op->attrs();
    const Symbol name = op->op();
    for (size_t i = 0; i + 1 < quantized.size(); i += 2) {
      if (Value* v = (*note)->Find(quantized[i])) {
        v->annotations().GetOrMake().extra[tflite::kQuantizationKey] = quantized[i + 1];
      }
    }
    std::vector<std::string> results;
    for (const Value* v : (*note)->outputs()) results.push_back(v->name());
    Model model;
    model.source_dialect = std::string(tflite::kDialect);
    model.SetOpset("", 1);
    model.SetOpset("custom", 1);
    model.graph = *note;
    const absl::StatusOr<Model> read = ToIr(std::move(model));
    // What is one node of the IR is written as that one, but for POW of integers, which is not.
    if (!read.ok() || (read->graph->TotalNodes() < 2 && name.view() != "POW")) return;
    Graph& pattern = *read->graph;
    Match match;
    for (const Operand& operand : *operands) {
      if (!operand.value) continue;
      if (const Value* own = pattern.Find(operand.name)) match.Bind(own, operand.value);
    }
    std::vector<Value*> found;
    for (size_t i = 0; i < results.size(); ++i) {
      Value* v = graph_.Find(results[i]);
      if (v && (!v->producer() || !match.Same(pattern.outputs()[i], v))) return;
      found.push_back(v);
    }
    if (found.empty() || !found[0]) return;
    Put(name, attrs, *operands, found, pattern, quantized);
    match.AddNodesTo(&replaced_);
  }

  // The operands as the note has them, with the types that they have in the graph; nullopt: one of
  // them is gone.
  std::optional<std::vector<Operand>> OperandsOf(Graph& note, const Node& op,
                                                 const std::vector<std::string>& states) {
    std::vector<Operand> all;
    absl::flat_hash_set<std::string> seen;
    for (Value* own : op.inputs()) {
      if (!own) {
        all.push_back({});
        continue;
      }
      const std::string name = own->name();
      Operand operand{name, graph_.FindInScope(name), {}, false};
      operand.is_state = std::find(states.begin(), states.end(), name) != states.end();
      const Tensor* known = operand.value ? operand.value->fixed_constant() : nullptr;
      if (const Tensor* small = own->fixed_constant()) {
        // It may be a constant of another name by now.
        if (!known || !(*known == *small)) operand.value = nullptr;
        operand.constant = *small;
      } else {
        if (!operand.value || !operand.value->type().is_tensor() ||
            operand.value->dtype() != own->dtype()) {
          return std::nullopt;
        }
        if (seen.insert(name).second) {
          if (known) {
            Value* constant = note.AddConstant(note.UniqueName(name), *known);
            note.ReplaceAllUses(own, constant);
            note.RemoveInput(own);
            note.Rename(constant, name);
          } else {
            own->set_type(operand.value->type());
          }
        }
      }
      all.push_back(std::move(operand));
    }
    return all;
  }

  void Put(Symbol name, const AttributeMap& attrs, const std::vector<Operand>& operands,
           const std::vector<Value*>& results, const Graph& pattern,
           const std::vector<std::string>& quantized) {
    std::vector<Value*> inputs;
    const auto set_quantization = [&](Value* v, const std::string& of) {
      for (size_t i = 0; i + 1 < quantized.size(); i += 2) {
        if (quantized[i] != of) continue;
        v->annotations().GetOrMake().extra[tflite::kQuantizationKey] = quantized[i + 1];
      }
    };
    for (const Operand& operand : operands) {
      Value* v = operand.value;
      if (!operand.name.empty()) {
        if (!v) v = graph_.AddConstant(graph_.UniqueName(operand.name), operand.constant);
        if (operand.is_state) {
          const Tensor zeros = *v->fixed_constant();
          v = graph_.AddConstant(graph_.UniqueName(v->name()), zeros);
          // Its name: a state is of one operator, and no other constant is the same.
          v->annotations().GetOrMake().extra[tflite::kState] = v->name();
        }
        set_quantization(v, operand.name);
      }
      inputs.push_back(v);
    }
    Node* node = graph_.InsertNode(results[0]->producer(), tflite::kDialect, name.view(), inputs);
    for (const auto& [attr, value] : attrs) node->SetAttr(attr, value);
    auto& notes = node->annotations().GetOrMake().extra;
    notes[kMadeForTarget] = "";
    notes[kRecalled] = "";
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i]) {
        graph_.AddNodeOutput(node, graph_.UniqueName("unused"), pattern.outputs()[i]->type());
        continue;
      }
      const Type type = results[i]->type();
      Value* fresh = graph_.AddNodeOutput(node, "");
      graph_.AdoptOutput(fresh, results[i]);
      results[i]->set_type(type);
      set_quantization(results[i], pattern.outputs()[i]->name());
    }
  }

  Graph& graph_;
  absl::flat_hash_set<const Node*> replaced_;
};

}  // namespace

void RememberOperators(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) RememberOperators(*inner);
    if (node->dialect() == Symbol(tflite::kDialect) && IsNoted(*node)) NoteOperator(node);
  }
}

bool IsRecalled(const Node& node) {
  const Annotations* notes = node.annotations().get();
  return notes && notes->extra.contains(kRecalled);
}

absl::Status RestoreOperators(Graph& graph) { return Recaller(graph).Run(); }

}  // namespace x2ir
