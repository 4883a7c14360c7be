#include "x2ir/optimizer/knowledge.h"

#include <algorithm>

#include "x2ir/graph_wrapper/lookahead.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

int64_t KnownOf(const Dim& dim) { return dim.is_static() ? 2 : dim.is_symbolic() ? 1 : 0; }

// How much is known: a number that becomes larger when one thing more is.
int64_t KnownOf(const Value& value) {
  int64_t known = value.type().is_known() ? 1 : 0;
  known += value.dtype() != DType::kUndefined ? 1 : 0;
  if (const Shape* shape = value.shape()) {
    ++known;
    for (const Dim& dim : *shape) known += KnownOf(dim);
  }
  if (const std::vector<Dim>* elements = value.elements()) {
    ++known;
    for (const Dim& dim : *elements) known += KnownOf(dim);
  }
  return known;
}

int64_t KnownOf(const Graph& graph) {
  int64_t known = 0;
  for (const Node* node : graph.nodes()) {
    for (const Value* output : node->outputs()) known += output ? KnownOf(*output) : 0;
    for (const Graph* inner : node->subgraphs()) known += KnownOf(*inner);
  }
  return known;
}

bool AreNumbers(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& dim) { return dim.is_static(); });
}

bool MayKnowMore(const Value& value) {
  const Type& type = value.type();
  if (!type.is_tensor() || type.dtype() == DType::kUndefined || !type.has_shape()) return true;
  const Shape& shape = *type.shape();
  if (!AreNumbers(shape)) return true;
  if (shape.rank() > 1 || !(IsInteger(type.dtype()) || type.dtype() == DType::kBool)) return false;
  constexpr auto kLimit = static_cast<int64_t>(InferContext::kMaxElements);
  if (shape.rank() == 1 && shape[0].value() > kLimit) return false;
  const std::vector<Dim>* elements = value.elements();
  return !elements || !std::all_of(elements->begin(), elements->end(),
                                   [](const Dim& dim) { return dim.is_static(); });
}

}  // namespace

Knowledge KnowledgeOf(const Value* value) {
  if (!value) return {};
  return {value->type(), value->elements() ? std::optional(*value->elements()) : std::nullopt};
}

bool MayKnowMore(const Node& node) {
  if (!node.is_ir()) return false;
  if (node.has_subgraphs()) return true;
  const auto outputs = node.outputs();
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const Value* value) { return value && MayKnowMore(*value); });
}

bool InferAgain(Node& node, std::vector<const Value*>* changed) {
  const auto within = [&] {
    int64_t known = 0;
    for (const Graph* inner : node.subgraphs()) known += KnownOf(*inner);
    return known;
  };
  std::vector<Knowledge> before;
  std::vector<int64_t> known;
  for (const Value* output : node.outputs()) {
    if (changed) before.push_back(KnowledgeOf(output));
    known.push_back(output ? KnownOf(*output) : 0);
  }
  const int64_t inside = node.has_subgraphs() ? within() : 0;
  if (!InferNode(node).ok()) return false;
  bool more = node.has_subgraphs() && within() > inside;
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    const Value* output = node.output(i);
    if (!output) continue;
    more |= KnownOf(*output) > known[i];
    if (changed && !(KnowledgeOf(output) == before[i])) changed->push_back(output);
  }
  return more;
}

bool InferWhatIsUnknown(Graph& graph) {
  bool more = false;
  Lookahead ahead(graph);
  for (Node* node : graph.nodes()) {
    ahead.Step();
    if (MayKnowMore(*node)) more |= InferAgain(*node);
  }
  return more;
}

}  // namespace x2ir
