#include "x2ir/ops/splice.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

std::string NodeNames::Unique(const std::string& base) {
  if (!names_) {
    names_.emplace();
    Collect(root_);
  }
  if (names_->insert(base).second) return base;
  // Numbers that were tried before are not tried again.
  int& number = next_.try_emplace(base, 2).first->second;
  std::string name;
  do name = StrCat(base, "_", number++);
  while (!names_->insert(name).second);
  return name;
}

void NodeNames::NameMade(Node& made, const Node& node) {
  if (!node.name().empty()) made.set_name(Unique(StrCat(node.name(), "/", made.op().str())));
}

void NodeNames::Collect(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    if (!node->name().empty()) names_->insert(node->name());
    for (const Graph* inner : node->subgraphs()) Collect(*inner);
  }
}

std::string HintOf(const Node& node) {
  for (const Value* output : node.outputs()) {
    if (output) return output->name();
  }
  return "";
}

std::string MadeName(std::string_view hint, std::string_view op) {
  std::string_view whole = hint;
  if (const size_t end = hint.find_last_not_of("0123456789");
      end != hint.npos && end + 1 < hint.size() && hint[end] == '_') {
    hint.remove_suffix(hint.size() - end);
  }
  const bool says_op =
      hint.size() > op.size() + 1 && hint.ends_with(op) && hint[hint.size() - op.size() - 1] == '_';
  return says_op ? std::string(hint) : StrCat(whole, "_", op);
}

void EraseWithConstants(Node* node) {
  const std::vector<Value*> operands = node->inputs();
  node->graph()->EraseUnused(node);
  constexpr size_t kFew = 16;
  absl::flat_hash_set<Value*> seen;  // of many
  for (size_t i = 0; i < operands.size(); ++i) {
    Value* value = operands[i];
    if (!value) continue;
    const auto here = operands.begin() + static_cast<ptrdiff_t>(i);
    const bool again = operands.size() > kFew ? !seen.insert(value).second
                                              : std::find(operands.begin(), here, value) != here;
    if (again) continue;
    if (value->fixed_constant() && value->is_unused()) value->graph()->RemoveConstant(value);
  }
}

void EraseUnusedMakers(std::vector<Node*> nodes, absl::FunctionRef<bool(const Node&)> may_erase) {
  absl::flat_hash_set<const Node*> seen = {nullptr};  // or gone
  while (!nodes.empty()) {
    Node* node = nodes.back();
    nodes.pop_back();
    if (seen.contains(node)) continue;
    const auto outputs = node->outputs();
    const bool used = std::any_of(outputs.begin(), outputs.end(),
                                  [](const Value* v) { return v && !v->is_unused(); });
    if (used || !may_erase(*node)) continue;
    seen.insert(node);
    for (const Value* operand : node->inputs()) {
      if (operand) nodes.push_back(operand->producer());
    }
    EraseWithConstants(node);
  }
}

void ReplaceUsesByOlder(Graph& graph, Value* from, Value* to) {
  const bool was_output = to->is_graph_output();
  const Type declared = from->type();
  graph.ReplaceAllUsesKeepingOutputNames(from, to);
  TakeShorterName(*from, *to);
  if (was_output || to->is_input() || to->constant()) return;
  if (to->is_graph_output()) {
    Type own = to->type();
    to->set_type(declared);
    SetInferredType(*to, std::move(own));
  } else if (auto both = MergeTypes(to->type(), declared); both.ok()) {
    to->set_type(*std::move(both));
  }
}

void TakeShorterName(Value& from, Value& to) {
  const std::string_view name = from.name();
  const bool made = !name.empty() && to.name().size() > name.size() + 1 &&
                    to.name().starts_with(name) && to.name()[name.size()] == '_';
  const bool own = to.producer() && to.graph() == from.graph() && from.producer();
  if (made && own && !to.is_graph_output() && !from.is_graph_output()) {
    to.graph()->SwapNames(&from, &to);
  }
}

void CopyMetadata(const Node& from, Node& to) {
  const Annotations* notes = from.annotations().get();
  if (notes && !notes->metadata.empty()) to.annotations().GetOrMake().metadata = notes->metadata;
}

Values Splice(Node* node, const Values& results, Builder& b, NodeNames& names) {
  Graph& graph = *node->graph();
  b.PutInOrderOfUse(results);
  Node* main = nullptr;  // the new node that replaces the old one
  const std::vector<Value*> old(node->outputs().begin(), node->outputs().end());
  // Most often a node takes the place of a node, and nothing is left to be named.
  const bool one_for_one = b.made().size() == 1 && results.size() == old.size() &&
                           std::find(old.begin(), old.end(), nullptr) == old.end() &&
                           std::equal(results.begin(), results.end(),
                                      b.made()[0]->outputs().begin(), b.made()[0]->outputs().end());
  const std::string hint = one_for_one ? "" : HintOf(*node);
  absl::flat_hash_map<Value*, Value*> adopted;  // fresh -> the value that it became
  Values replaced(old.size(), nullptr);
  for (size_t i = 0; i < old.size(); ++i) {
    Value* from = old[i];
    if (!from) continue;
    Value* to = results[i];
    if (auto it = adopted.find(to); it != adopted.end()) {
      ReplaceUsesByOlder(graph, from, it->second);
      replaced[i] = it->second;
      continue;
    }
    replaced[i] = to;
    if (to->producer() && to->name().empty() && to->graph() == &graph) {
      if (!main) main = to->producer();
      Type inferred = to->type();
      graph.AdoptOutput(to, from);
      SetInferredType(*from, std::move(inferred));
      replaced[i] = adopted[to] = from;
    } else if (b.MadeConstant(to) && !adopted.contains(to)) {
      graph.SwapNames(from, to);
      to->annotations().MergeFrom(from->annotations());
      graph.ReplaceAllUses(from, to);
      adopted[to] = to;
    } else {
      ReplaceUsesByOlder(graph, from, to);
    }
  }
  for (Node* made : b.made()) {
    if (made == main) {
      made->set_name(one_for_one ? node->TakeName() : node->name());
      made->annotations().CopyFrom(node->annotations());
    } else {
      names.NameMade(*made, *node);
      CopyMetadata(*node, *made);
    }
    if (!one_for_one) graph.NameValues(made, MadeName(hint, made->op().view()));
  }
  EraseWithConstants(node);
  return replaced;
}

}  // namespace x2ir
