#include "x2ir/handlers/paddle/prepare.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "x2ir/formats/paddle/paddle.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/paddle/names.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

Strings Words(std::string_view text) {
  Strings words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Strings SlotNames(const Node& node, const char* name) {
  const Attribute* attr = node.attrs().Find(name);
  const auto* slots = attr ? attr->get<Strings>() : nullptr;
  return slots ? *slots : Strings();
}

// --- PIR -----------------------------------------------------------------------------------------

// Numbers of parameters as their names; one more than there are keeps its number.
void NameSlots(Node* node, const char* attr, const Strings& names) {
  Strings slots = SlotNames(*node, attr);
  for (std::string& slot : slots) {
    size_t number = 0;
    for (const char c : slot) number = number * 10 + static_cast<size_t>(c - '0');
    if (number < names.size()) slot = names[number];
  }
  // What a loop carries are its further operands.
  node->SetAttr(attr, std::move(slots));
}

void NameOperation(Node* node) {
  constexpr std::string_view kDomain = "pd_op::";
  std::string_view op = node->op().view();
  if (!op.starts_with(kDomain)) return;
  op.remove_prefix(kDomain.size());
  const PirName* name = FindPirName(op);
  if (!name) return;
  Strings operands = Words(name->operands), results = Words(name->results);
  if (op == "while") operands.resize(std::max<size_t>(node->num_inputs(), 1), "X");
  if (op == "while" || op == "if") results.assign(node->num_outputs(), "Out");
  NameSlots(node, paddle::kOperandSlots, operands);
  NameSlots(node, paddle::kResultSlots, results);
  for (const std::string& renamed : Words(name->attrs)) {
    const size_t equals = renamed.find('=');
    const std::string from = renamed.substr(0, equals), to = renamed.substr(equals + 1);
    const Attribute* attr = node->attrs().Find(from);
    if (!attr) continue;
    Attribute value = *attr;
    node->EraseAttr(from);
    node->SetAttr(to, std::move(value));
  }
  node->set_op(paddle::kDialect, name->program.empty() ? name->pir : name->program);
}

// --- Branches ------------------------------------------------------------------------------------

struct Choice {
  Node* select;
  Value* mask;
  Node *no, *yes;            // the blocks
  size_t of_false, of_true;  // results of the blocks
};

// The block that gives a value, and which of its results it is; null where none does.
Node* BlockOf(const Value* value, size_t* result) {
  Node* node = value ? const_cast<Node*>(value->producer()) : nullptr;
  if (!node || node->op() != "conditional_block") return nullptr;
  for (size_t i = 0; i < node->num_outputs(); ++i) {
    if (node->output(i) == value) *result = i;
  }
  return node;
}

// select_input takes what the block of the false condition gives, or that of the true one: a number
// that is 0 or 1. All choices between the same two blocks are one node.
absl::Status JoinBranches(Graph& graph) {
  std::vector<std::vector<Choice>> groups;
  for (Node* node : graph.nodes()) {
    if (node->op() != "select_input" || node->num_outputs() != 1) continue;
    const Strings slots = SlotNames(*node, paddle::kOperandSlots);
    Choice choice{node, nullptr, nullptr, nullptr, 0, 0};
    std::vector<Value*> given;
    for (size_t i = 0; i < node->num_inputs() && i < slots.size(); ++i) {
      if (slots[i] == "X") given.push_back(node->input(i));
      if (slots[i] == "Mask") choice.mask = node->input(i);
    }
    if (given.size() != 2 || !choice.mask) continue;
    choice.no = BlockOf(given[0], &choice.of_false);
    choice.yes = BlockOf(given[1], &choice.of_true);
    if (!choice.no || !choice.yes || choice.no == choice.yes || choice.no->graph() != &graph ||
        choice.yes->graph() != &graph) {
      continue;
    }
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const Choice& other = group[0];
      return other.no == choice.no && other.yes == choice.yes && other.mask == choice.mask;
    });
    (found == groups.end() ? groups.emplace_back() : *found).push_back(choice);
  }
  for (const std::vector<Choice>& choices : groups) {
    const auto body_of = [](Node* node) {
      const Attribute* attr = node->attrs().Find("body");
      const auto* graph = attr ? attr->get<Attribute::GraphPtr>() : nullptr;
      return graph ? *graph : nullptr;
    };
    const auto no = body_of(choices[0].no), yes = body_of(choices[0].yes);
    if (!no || !yes) return Invalid("a conditional block without a body");
    const auto branch = [](const Graph& body, const std::vector<size_t>& results) {
      std::shared_ptr<Graph> copy = body.Clone();
      const std::vector<Value*> all = copy->outputs();
      copy->ClearOutputs();
      for (const size_t i : results) {
        Value* value = all[i];
        if (value->is_graph_output()) {  // chosen twice
          Node* again = copy->AppendNode(paddle::kDialect, "assign", {&value, 1});
          again->SetAttr(paddle::kOperandSlots, Strings{"X"});
          again->SetAttr(paddle::kResultSlots, Strings{"Out"});
          value = copy->AddNodeOutput(again, copy->UniqueName(value->name()));
        }
        copy->AddOutput(value);
      }
      return copy;
    };
    std::vector<size_t> of_false, of_true;
    for (const Choice& choice : choices) {
      of_false.push_back(choice.of_false);
      of_true.push_back(choice.of_true);
    }
    Value* mask = choices[0].mask;
    Node* node = graph.InsertNode(choices[0].select, paddle::kDialect, "if", {&mask, 1});
    node->SetAttr("then_branch", branch(*yes, of_true));
    node->SetAttr("else_branch", branch(*no, of_false));
    node->SetAttr(paddle::kOperandSlots, Strings{"Cond"});
    node->SetAttr(paddle::kResultSlots, Strings(choices.size(), "Out"));
    for (const Choice& choice : choices) {
      Value* fresh = graph.AddNodeOutput(node, "");
      graph.AdoptOutput(fresh, choice.select->output(0));
      graph.EraseUnused(choice.select);
    }
  }
  return absl::OkStatus();
}

// --- Nodes that nothing needs --------------------------------------------------------------------

void DropDeadNodes(Graph& graph) {
  for (Node* node = graph.last(); node;) {
    Node* before = node->prev();
    bool used = false;
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      Value* value = node->output(i);
      if (!value) continue;
      if (!value->uses().empty() || value->is_graph_output()) {
        used = true;
      } else {
        graph.RemoveUnusedOutput(node, i);
      }
    }
    if (!used) {
      graph.EraseUnused(node);
    } else {
      for (Graph* inner : node->subgraphs()) DropDeadNodes(*inner);
    }
    node = before;
  }
}

absl::Status PrepareGraph(Graph& graph) {
  for (Node* node : graph.nodes()) {
    if (node->dialect() != paddle::kDialect) continue;
    NameOperation(node);
    for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(PrepareGraph(*inner));
  }
  return JoinBranches(graph);
}

}  // namespace

absl::Status PreparePaddle(Model& model, std::vector<std::string>& warnings) {
  (void)warnings;
  X2IR_RETURN_IF_ERROR(PrepareGraph(*model.graph));
  // Twice: branches use what is around them.
  DropDeadNodes(*model.graph);
  DropDeadNodes(*model.graph);
  return absl::OkStatus();
}

}  // namespace x2ir
