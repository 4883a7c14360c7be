// Assertions and wrappers; the writes are functionalize.cc's.
#include "x2ir/handlers/torch/prepare.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/strides.h"
#include "x2ir/handlers/torch/vmap.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

// Ops that only look: what they look for was found when the program was exported, or is the
// caller's promise.
constexpr std::string_view kAssertions[] = {
    "aten::_assert_scalar.default",
    "aten::_assert_async.default",
    "aten::_assert_async.msg",
    "aten::_assert_tensor_metadata.default",
    "aten::_functional_assert_scalar.default",
    "aten::_functional_assert_async.msg",
    "aten::sym_constrain_range.default",
    "aten::sym_constrain_range_for_size.default",
    "aten::_functional_sym_constrain_range.default",
    "aten::_functional_sym_constrain_range_for_size.default",
    "aten::_make_dep_token.default",
    "aten::_print.default",
    "torch::_check",
    "torch::_check_is_size",
};

bool IsAssertion(const Node& node) {
  for (const std::string_view op : kAssertions) {
    if (node.op() == op) return true;
  }
  return false;
}

bool IsUnused(const Node& node) {
  for (const Value* output : node.outputs()) {
    if (output && !output->is_unused()) return false;
  }
  return true;
}

// Operators that compute from sizes alone; they may be erased if their results have no uses.
bool IsOfSizes(std::string_view op) {
  return op.starts_with("_operator::") || op.starts_with("torch::sym_") ||
         op.starts_with("aten::sym_") || op.starts_with("math::");
}

// Erases assertions, and the nodes that only assertions use.
void DropAssertions(Graph& graph) {
  absl::flat_hash_set<const Node*> looked_at;
  const auto erase = [&](Node* node) {
    for (const Value* operand : node->inputs()) {
      if (operand && operand->producer()) looked_at.insert(operand->producer());
    }
    graph.EraseUnused(node);
  };
  // Backwards: the token that one gives may be an operand of the next.
  for (Node* node = graph.last(); node;) {
    Node* previous = node->prev();
    for (Graph* inner : node->subgraphs()) DropAssertions(*inner);
    const std::string_view op = node->op().view();
    const bool only_for_them =
        looked_at.contains(node) && !node->has_subgraphs() && !WritesToMemory(op);
    if (IsUnused(*node) && (IsAssertion(*node) || IsOfSizes(op) || only_for_them)) erase(node);
    node = previous;
  }
}

// The graphs of wrappers that change nothing of what is computed go to the wrappers' places.
absl::Status InlineWrappers(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(InlineWrappers(*inner));
    if (node->subgraphs().size() != 1) continue;
    const std::string_view op = node->op().view();
    if (op == "higher_order::wrap_with_autocast") {
      // (device, dtype, enabled, cache, graph, ...): where it is on it changes types.
      const Attribute* enabled = node->attrs().Find("arg2");
      const Tensor* on = enabled ? enabled->get<Tensor>() : nullptr;
      if (!on || on->num_elements() != 1 || on->AsInt(0) != 0) continue;
    } else if (op != "higher_order::wrap_with_set_grad_enabled" && op != "higher_order::wrap" &&
               op != "higher_order::invoke_subgraph" &&
               op != "higher_order::tag_activation_checkpoint") {
      continue;
    }
    const Graph& inner = *node->subgraphs()[0];
    if (inner.inputs().size() != node->num_inputs() ||
        inner.outputs().size() != node->num_outputs()) {
      return Invalid("'", node->name(), "' (", op, "): its graph takes ", inner.inputs().size(),
                     " values and gives ", inner.outputs().size(), "; it is called with ",
                     node->num_inputs(), " for ", node->num_outputs());
    }
    Builder builder(graph, node);
    const Values results = InlineGraph(builder, inner, node->inputs());
    for (Node* made : builder.made()) {
      for (Value* output : made->outputs()) {
        if (output && output->name().empty()) {
          graph.Rename(output, graph.UniqueName(StrCat(node->name(), "_inner")));
        }
      }
    }
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      if (node->output(i)) graph.ReplaceAllUsesKeepingOutputNames(node->output(i), results[i]);
    }
    graph.EraseUnused(node);
  }
  return absl::OkStatus();
}

// Operators, without overload, that draw random numbers.
constexpr std::string_view kRandom[] = {
    "bernoulli", "bernoulli_", "cauchy",     "cauchy_",     "exponential", "exponential_",
    "geometric", "geometric_", "log_normal", "log_normal_", "multinomial", "normal",
    "normal_",   "poisson",    "rand",       "rand_like",   "randint",     "randint_like",
    "randn",     "randn_like", "randperm",   "uniform",     "uniform_",    "normal_functional"};

}  // namespace

bool DrawsRandomNumbers(std::string_view name) {
  return std::find(std::begin(kRandom), std::end(kRandom), name) != std::end(kRandom);
}

namespace {

// Which of them the program has, each once.
void FindRandom(const Graph& graph, std::set<std::string>& found) {
  for (const Node* node : graph.nodes()) {
    for (const Graph* inner : node->subgraphs()) FindRandom(*inner, found);
    std::string_view name = node->op().view();
    if (!name.starts_with("aten::")) continue;
    name = name.substr(6, name.find('.') - 6);
    if (DrawsRandomNumbers(name)) {
      found.insert(StrCat("aten::", name));
    }
  }
}

// Strides that only said what is a view and what a copy.
void DropStrides(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) DropStrides(*inner);
    if (node->op().view().starts_with("aten::as_strided")) continue;
    node->TakeAttr(kSelfStrides);
    node->TakeAttr(kSelfOffset);
    node->TakeAttr(kSelfDevice);
  }
}

}  // namespace

absl::Status PrepareTorch(Model& model, std::vector<std::string>& warnings) {
  if (const Annotations* notes = model.annotations.get()) {
    if (auto it = notes->extra.find("torch.mutations"); it != notes->extra.end()) {
      warnings.push_back(it->second);
    }
  }
  X2IR_RETURN_IF_ERROR(InlineWrappers(*model.graph));
  DropAssertions(*model.graph);
  X2IR_RETURN_IF_ERROR(InlineVmap(*model.graph));
  X2IR_RETURN_IF_ERROR(Functionalize(*model.graph, warnings));
  DropStrides(*model.graph);
  std::set<std::string> random;
  FindRandom(*model.graph, random);
  if (!random.empty()) {
    warnings.push_back(StrCat("the program draws random numbers (", absl::StrJoin(random, ", "),
                              "): results differ from run to run, and from PyTorch's"));
  }
  return ComplexPortsAsPairs(model, warnings);
}

}  // namespace x2ir
