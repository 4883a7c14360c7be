#include "x2ir/core/written_ops.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

bool WrittenOps::Is(const Node* node, std::string_view op) const {
  return node && node->dialect().view() == dialect_ && node->op().view() == op;
}

Node* WrittenOps::MakerFor(const Graph& graph, const Value* v, std::string_view op,
                           size_t uses) const {
  const bool own = v && Is(v->producer(), op) && v->uses().size() == uses &&
                   !v->is_graph_output() && v->graph() == &graph;
  return own ? v->producer() : nullptr;
}

bool WrittenOps::MayBeErased(const Node& node) const {
  return node.dialect().view() == dialect_ && (!only_computes_ || only_computes_(node));
}

Node* WrittenOps::Make(Graph& graph, Node* node, std::string_view op, std::vector<Value*> operands,
                       const AttributeMap& attrs) const {
  Node* made = graph.InsertNode(node, dialect_, op, std::move(operands));
  for (const auto& [name, attr] : attrs) made->SetAttr(name, attr);
  return made;
}

void WrittenOps::TakeResult(Graph& graph, Node* made, Value* result) {
  const Type type = result->type();
  graph.AdoptOutput(graph.AddNodeOutput(made, ""), result);
  result->set_type(type);
}

Node* WrittenOps::Replace(Graph& graph, Node* node, std::string_view op,
                          std::vector<Value*> operands, const AttributeMap& attrs) const {
  Node* made = Make(graph, node, op, std::move(operands), attrs);
  TakeResult(graph, made, node->output(0));
  return made;
}

void WrittenOps::EraseWithOperands(Graph& graph, Node* node) const {
  std::vector<Node*> unused = {node};
  while (!unused.empty()) {
    Node* gone = unused.back();
    unused.pop_back();
    std::vector<Value*> operands = gone->inputs();
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    graph.EraseUnused(gone);
    for (const Value* v : operands) {
      Node* before = v && v->is_unused() ? v->producer() : nullptr;
      if (!before || before->graph() != &graph || !MayBeErased(*before)) continue;
      const auto outputs = before->outputs();
      if (std::all_of(outputs.begin(), outputs.end(),
                      [](const Value* o) { return !o || o->is_unused(); }) &&
          std::find(unused.begin(), unused.end(), before) == unused.end()) {
        unused.push_back(before);
      }
    }
  }
}

bool WrittenOps::PassOn(Graph& graph, Node* node, Value* x) const {
  Value* result = node->output(0);
  if (result->is_graph_output()) {
    if (!x->producer() || x->graph() != &graph || x->is_graph_output()) return false;
    graph.ReplaceAllUsesKeepingOutputNames(result, x);
  } else {
    graph.ReplaceAllUses(result, x);
  }
  EraseWithOperands(graph, node);
  return true;
}

namespace {

using SmallConstants = absl::flat_hash_map<std::string, Value*>;

// `known`: of the graphs around it.
void MergeSmall(Graph& graph, SmallConstants& known) {
  constexpr size_t kSmall = 1024;  // bytes
  std::vector<std::string> own;
  for (Value* value : graph.constants()) {
    const Tensor& tensor = *value->constant();
    if (!value->fixed_constant() || tensor.is_string() || tensor.is_sparse() ||
        tensor.nbytes() > kSmall || value->is_graph_output()) {
      continue;
    }
    const auto bytes = tensor.bytes();
    std::string key = StrCat(tensor.type().ToString(), " ");
    key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto [it, fresh] = known.try_emplace(key, value);
    if (fresh) {
      own.push_back(std::move(key));
      continue;
    }
    graph.ReplaceAllUses(value, it->second);
    graph.RemoveConstant(value);
  }
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) MergeSmall(*inner, known);
  }
  for (const std::string& key : own) known.erase(key);
}

}  // namespace

void WrittenOps::MergeConstants(Graph& graph) {
  SmallConstants known;
  MergeSmall(graph, known);
}

std::optional<Perm> PermOperand(const Node& node) {
  const Tensor* t = node.input(1) ? node.input(1)->fixed_constant() : nullptr;
  if (!t) return std::nullopt;
  const auto axes = t->ToInts();
  if (!axes.ok()) return std::nullopt;
  std::vector<int64_t> sorted = *axes;
  std::sort(sorted.begin(), sorted.end());
  if (!IsIdentity(AsPerm(sorted))) return std::nullopt;
  return AsPerm(*axes);
}

Value* AddPermOperand(Graph& graph, std::string_view base, const Perm& p) {
  const std::vector<int32_t> axes(p.begin(), p.end());
  return graph.AddConstant(graph.UniqueName(StrCat(base, "_perm")),
                           Tensor::Of<int32_t>({static_cast<int64_t>(axes.size())}, axes));
}

}  // namespace x2ir
