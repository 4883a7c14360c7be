// Runs both models, says which values are the same, and where they part.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/compare_internal.h"
#include "x2ir/inspect/number_match.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// How far off, as a part of the whole.
double ErrorOf(const Datum& got, const Datum& expected, const Comparison& comparison) {
  const Tensor *x = got.tensor(), *y = expected.tensor();
  if (!x || !y || comparison.elements == 0) return comparison.agrees ? 0 : kInfinity;
  if (!IsFloating(y->dtype())) return comparison.differing == 0 ? 0 : kInfinity;
  return std::isinf(comparison.max_abs) ? kInfinity : ErrorOf(*x, *y);
}

// What a number of the coarser of two element types may be off by: some times what it is rounded
// by itself.
double RoundingOf(DType a, DType b) {
  double rounding = kRounding;
  for (const DType type : {a, b}) {
    constexpr double kRoundings = 8;
    if (type == DType::kFloat16) rounding = std::max(rounding, kRoundings * 0x1p-11);
    if (type == DType::kBFloat16) rounding = std::max(rounding, kRoundings * 0x1p-8);
  }
  return rounding;
}

void Keep(ValueVerdict& verdict, const Datum& got, const Datum& expected,
          const Tolerance& tolerance) {
  Comparison comparison = Compare(got, expected, tolerance, ElementTypes::kAnyNumbers);
  const double error = ErrorOf(got, expected, comparison);
  if (!(comparison.cosine >= verdict.cosine)) verdict.cosine = comparison.cosine;
  if (verdict.type.empty()) {
    const Tensor *x = got.tensor(), *y = expected.tensor();
    verdict.type = y ? y->type().ToString() : "no tensor";
    if (x && y && x->dtype() != y->dtype()) {
      StrAppend(&verdict.type, ", there ", Name(x->dtype()));
      verdict.rounding = RoundingOf(x->dtype(), y->dtype());
    }
    verdict.comparison = std::move(comparison);
    verdict.error = error;
  } else if (error > verdict.error || (verdict.comparison.agrees && !comparison.agrees)) {
    verdict.comparison = std::move(comparison);
    verdict.error = std::max(verdict.error, error);
  }
}

// What rounding and what went before do not explain.
bool Diverges(const ValueVerdict& verdict, double before) {
  if (!(verdict.error > verdict.rounding)) return false;
  return std::isinf(verdict.error) ? !std::isinf(before) : verdict.error > kGrowth * before;
}

// Values of which outputs are computed by values that differ, or are not compared, alone.
absl::flat_hash_set<const Value*> ReachingOutputs(const Graph& graph,
                                                  const FoundDifferences& found) {
  absl::flat_hash_set<const Value*> reaching;
  const auto agrees = [&](const Value* value) {
    const auto it = found.at.find(value);
    return it != found.at.end() && !found.values[it->second].verdict.differs();
  };
  const auto goes_on = [&](const Use& use) {
    // A nested graph is part of the node that has it.
    const Node* node = use.node;
    while (node->graph() != &graph && node->graph()->parent_node()) {
      node = node->graph()->parent_node();
    }
    return std::any_of(node->outputs().begin(), node->outputs().end(), [&](const Value* output) {
      return output && !agrees(output) && reaching.contains(output);
    });
  };
  std::vector<const Node*> nodes;
  for (const Node* node : graph.nodes()) nodes.push_back(node);
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    for (const Value* output : (*it)->outputs()) {
      if (output && (output->is_graph_output() ||
                     std::any_of(output->uses().begin(), output->uses().end(), goes_on))) {
        reaching.insert(output);
      }
    }
  }
  return reaching;
}

// The first value whose error is more than rounding, and more than that of what it is computed of:
// of the nearest values that are compared. Says of each value whether its difference matters.
std::optional<size_t> FirstOf(const Graph& graph, FoundDifferences& found) {
  const absl::flat_hash_set<const Value*> reaching = ReachingOutputs(graph, found);
  for (Compared& c : found.values) c.verdict.matters = reaching.contains(c.value);
  absl::flat_hash_map<const Value*, double> errors;  // of values that are not compared, too
  std::vector<size_t> candidates;
  for (const Node* node : graph.nodes()) {
    double before = 0;
    for (size_t k = 0; k < node->num_inputs(); ++k) {
      const auto it = errors.find(node->input(k));
      if (it != errors.end()) before = std::max(before, it->second);
    }
    for (const Value* output : node->outputs()) {
      if (!output) continue;
      const auto it = found.at.find(output);
      const double error = it == found.at.end() ? before : found.values[it->second].verdict.error;
      if (it != found.at.end() && Diverges(found.values[it->second].verdict, before))
        candidates.push_back(it->second);
      errors[output] = error;
    }
  }
  for (const size_t i : candidates) {
    if (found.values[i].verdict.matters) return i;
  }
  // One that comes to nothing is told where nothing else can explain it.
  bool all = true;
  for (const Node* node : graph.nodes()) {
    const Value* output = node->output(0);
    all = all && (!output || output->is_unused() || found.at.contains(output));
  }
  if (candidates.empty() || !all) return std::nullopt;
  for (Compared& c : found.values) c.verdict.matters = true;
  return candidates.front();
}

// The order of axes that brings channels from the second place to the last one, or back, where that
// makes `from` of shape `to`.
std::optional<std::vector<int64_t>> ChannelsMoved(const std::vector<int64_t>& from,
                                                  const std::vector<int64_t>& to) {
  const auto rank = static_cast<int64_t>(from.size());
  if (rank < 3 || from.size() != to.size()) return std::nullopt;
  std::vector<int64_t> last = {0}, first = {0, rank - 1};
  for (int64_t i = 1; i + 1 < rank; ++i) {
    last.push_back(i + 1);
    first.push_back(i);
  }
  last.push_back(1);
  for (const std::vector<int64_t>& perm : {last, first}) {
    bool fits = true;
    for (int64_t i = 0; i < rank; ++i) fits = fits && from[perm[i]] == to[i];
    if (fits) return perm;
  }
  return std::nullopt;
}

// `got` in the shape of `expected`, where it holds as many elements: the same numbers in another
// shape, or with channels in another place, are no difference.
Datum InShapeOf(const Datum& got, const Datum& expected) {
  const Tensor *x = got.tensor(), *y = expected.tensor();
  if (x && y && x->dims() != y->dims() && !x->is_sparse() && !y->is_sparse()) {
    if (const auto perm = ChannelsMoved(x->dims(), y->dims())) return TransposeTensor(*x, *perm);
  }
  const bool other = x && y && x->dims() != y->dims() && !x->is_sparse() && !y->is_sparse() &&
                     x->num_elements() == y->num_elements();
  return other ? Datum(x->Reshaped(y->dims())) : got;
}

void KeepInner(ValueVerdict& verdict, const Datum* got, const Datum* expected,
               const Tolerance& tolerance) {
  if (!got || !expected) return;
  const Datum flat = InShapeOf(*got, *expected);
  // Sizes are computed in several ways.
  const Tensor *x = flat.tensor(), *y = expected->tensor();
  if (x && y && !IsFloating(y->dtype()) && x->dims() != y->dims()) return;
  Keep(verdict, flat, *expected, tolerance);
}

using Kept = absl::flat_hash_map<const Value*, Datum>;

const Datum* In(const Kept& kept, const Value* value) {
  const auto it = kept.find(value);
  return it == kept.end() ? nullptr : &it->second;
}

// Both models on one case. `on_other` gets each result of the other one.
absl::Status RunBoth(const Model& ir, const Model& other, const IoCase& io,
                     const VerifyOptions& options, FoundDifferences& found,
                     const std::function<void(const Value&, const Datum&)>& on_first,
                     const std::function<void(const Value&, const Datum&)>& on_other) {
  RunOptions run = WithProgress(*ir.graph, options.progress);
  run.on_value = on_first;
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> expected, RunCaseWith(*ir.graph, io, run));
  run = WithProgress(*other.graph, options.progress);
  run.on_value = on_other;
  auto got = RunCaseWith(*other.graph, CaseOf(io, found.ports, *ir.graph, *other.graph), run);
  if (!got.ok()) return Annotate(got.status(), "the other model");
  for (size_t i = 0; i < got->size(); ++i) {
    const auto of = std::find(ir.graph->outputs().begin(), ir.graph->outputs().end(),
                              found.ports.outputs[i].first);
    found.outputs.push_back(Judge(*other.graph->outputs()[i], io.name, (*got)[i],
                                  expected[of - ir.graph->outputs().begin()], options,
                                  ElementTypes::kAnyNumbers));
  }
  return absl::OkStatus();
}

// The first case says which values are the same.
absl::Status MatchAndCompare(const Model& ir, const Model& other, const IoCase& io,
                             const VerifyOptions& options, FoundDifferences& found) {
  Kept of_first, of_other;
  NumberMatch numbers;
  ValuePairs known;
  absl::flat_hash_map<const Value*, ValueVerdict> verdicts;
  X2IR_RETURN_IF_ERROR(RunBoth(
      ir, other, io, options, found,
      [&](const Value& value, const Datum& datum) {
        of_first[&value] = datum;
        if (datum.tensor()) numbers.Add(&value, *datum.tensor());
      },
      [&](const Value& value, const Datum& datum) {
        const Value* same = datum.tensor() ? numbers.Take(&value, *datum.tensor()) : nullptr;
        if (!same) {
          of_other[&value] = datum;
          return;
        }
        known.emplace_back(same, &value);
        KeepInner(verdicts[same], &datum, &of_first[same], options.tolerance);
        of_first.erase(same);
      }));
  found.match = MatchGraphs(*ir.graph, *other.graph, found.ports, known);
  for (const Node* node : ir.graph->nodes()) {
    for (const Value* value : node->outputs()) {
      const auto it = found.match.values.find(value);
      if (it == found.match.values.end() || value->is_unused()) continue;
      Compared c{value, it->second, std::move(verdicts[value])};
      if (c.verdict.type.empty()) {
        KeepInner(c.verdict, In(of_other, c.other), In(of_first, value), options.tolerance);
      }
      // One that a run did not reach is not compared.
      if (c.verdict.type.empty()) continue;
      c.verdict.name = value->name();
      c.verdict.other_name = it->second->name();
      c.verdict.op = node->op().str();
      c.verdict.node = node->name();
      found.at[value] = found.values.size();
      found.values.push_back(std::move(c));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<FoundDifferences> FindAsTheyAre(const Model& ir, const Model& other,
                                               absl::Span<const IoCase> cases,
                                               const VerifyOptions& options) {
  FoundDifferences found;
  X2IR_ASSIGN_OR_RETURN(found.ports, MatchInterfaces(*ir.graph, *other.graph));
  if (cases.empty()) return found;
  X2IR_RETURN_IF_ERROR(MatchAndCompare(ir, other, cases[0], options, found));
  absl::flat_hash_map<const Value*, size_t> of_other;
  for (size_t i = 0; i < found.values.size(); ++i) of_other[found.values[i].other] = i;
  for (const IoCase& io : cases.subspan(1)) {
    Kept kept;
    X2IR_RETURN_IF_ERROR(RunBoth(
        ir, other, io, options, found,
        [&](const Value& value, const Datum& datum) {
          if (found.at.contains(&value)) kept[&value] = datum;
        },
        [&](const Value& value, const Datum& datum) {
          const auto it = of_other.find(&value);
          if (it == of_other.end()) return;
          Compared& c = found.values[it->second];
          KeepInner(c.verdict, &datum, In(kept, c.value), options.tolerance);
          kept.erase(c.value);
        }));
  }
  found.first = FirstOf(*ir.graph, found);
  return found;
}

// The passes that make one form of what exporters write in several. None changes the order of axes
// or the rank of a value that keeps its name, and none takes two linear ops together.
const std::vector<std::string> kPlain = {  // NOLINT
    "dead_code", "simplify",    "fold_constants", "fuse_activations", "fuse_normalizations",
    "fold_pad",  "fold_affine", "gemm",           "dead_code"};

// The same of the models that the copies were made of: values that keep their names.
FoundDifferences InOriginals(const Model& ir, const Model& other,
                             const FoundDifferences& of_copies) {
  FoundDifferences found;
  for (size_t i = 0; i < of_copies.values.size(); ++i) {
    const Compared& c = of_copies.values[i];
    const Value* value = ir.graph->Find(c.value->name());
    const Value* there = other.graph->Find(c.other->name());
    const bool same = value && there && value->producer() && there->producer() &&
                      value->type() == c.value->type() && there->type() == c.other->type();
    if (!same) continue;
    if (of_copies.first == i) found.first = found.values.size();
    found.at[value] = found.values.size();
    found.match.values[value] = there;
    found.match.nodes[value->producer()] = there->producer();
    Compared original{value, there, c.verdict};
    original.verdict.op = value->producer()->op().str();
    original.verdict.node = value->producer()->name();
    found.values.push_back(std::move(original));
  }
  return found;
}

// The nodes that compute `value` of values that are matched, in their order.
std::vector<const Node*> NodesUpTo(const Graph& graph, const Value* value,
                                   const absl::flat_hash_set<const Value*>& matched) {
  absl::flat_hash_set<const Node*> nodes;
  std::vector<const Value*> todo = {value};
  while (!todo.empty()) {
    const Value* next = todo.back();
    todo.pop_back();
    const Node* node = next->producer();
    if (!node || (next != value && matched.contains(next)) || !nodes.insert(node).second) continue;
    for (const Value* operand : node->inputs()) {
      // Sizes and masks are made in many ways; where they differ in value, they were compared.
      if (operand && IsFloating(operand->dtype())) todo.push_back(operand);
    }
  }
  std::vector<const Node*> in_order;
  for (const Node* node : graph.nodes()) {
    if (nodes.contains(node)) in_order.push_back(node);
  }
  return in_order;
}

}  // namespace

DifferingNodes DifferingNodesOf(const Model& ir, const Model& other,
                                const FoundDifferences& found) {
  if (!found.first) return {};
  absl::flat_hash_set<const Value*> here, there;
  for (const Compared& each : found.values) {
    here.insert(each.value);
    there.insert(each.other);
  }
  const Compared& c = found.values[*found.first];
  return {NodesUpTo(*ir.graph, c.value, here), NodesUpTo(*other.graph, c.other, there)};
}

absl::StatusOr<FoundDifferences> FindInValues(const Model& ir, const ValuesFn& theirs,
                                              absl::Span<const IoCase> cases,
                                              const VerifyOptions& options) {
  FoundDifferences found;
  for (const IoCase& io : cases) {
    Kept ours;
    RunOptions run = WithProgress(*ir.graph, options.progress);
    run.on_value = [&](const Value& value, const Datum& datum) { ours[&value] = datum; };
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> expected, RunCaseWith(*ir.graph, io, run));
    X2IR_ASSIGN_OR_RETURN(const Kept got, theirs(io));
    for (const Node* node : ir.graph->nodes()) {
      for (const Value* value : node->outputs()) {
        const Datum *x = In(got, value), *y = In(ours, value);
        if (!value || !x || !y) continue;
        const auto [it, fresh] = found.at.try_emplace(value, found.values.size());
        if (fresh) {
          found.values.push_back({value, value, {}});
          ValueVerdict& verdict = found.values.back().verdict;
          verdict.name = verdict.other_name = value->name();
          verdict.op = node->op().str();
          verdict.node = node->name();
          found.match.values[value] = value;
          found.match.nodes[node] = node;
        }
        Keep(found.values[it->second].verdict, *x, *y, options.tolerance);
      }
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      const Value* output = ir.graph->outputs()[i];
      const Datum* x = In(got, output);
      ValueVerdict verdict;
      Keep(verdict, x ? *x : Datum(), expected[i], options.tolerance);
      found.outputs.push_back({io.name, output->name(), verdict.type, verdict.comparison});
    }
  }
  for (const Value* input : ir.graph->inputs()) found.match.values[input] = input;
  found.first = FirstOf(*ir.graph, found);
  return found;
}

absl::StatusOr<FoundDifferences> FindDifferences(const Model& ir, const Model& other,
                                                 absl::Span<const IoCase> cases,
                                                 const VerifyOptions& options) {
  X2IR_ASSIGN_OR_RETURN(FoundDifferences found, FindAsTheyAre(ir, other, cases, options));
  const size_t size = DifferingNodesOf(ir, other, found).size();
  if (!found.first || size <= 2) return found;
  // If one model uses one node where the other uses several, the structures after this place
  // differ. Copies in which both use one node are more similar.
  Model plain = ir.Clone(), plain_other = other.Clone();
  for (Model* model : {&plain, &plain_other}) {
    X2IR_RETURN_IF_ERROR(RunPasses(*model->graph, kPlain).status());
    X2IR_RETURN_IF_ERROR(model->graph->Sort());
  }
  absl::StatusOr<FoundDifferences> better = FindAsTheyAre(plain, plain_other, cases, options);
  if (!better.ok() || !better->first) return found;
  FoundDifferences named = InOriginals(ir, other, *better);
  named.ports = found.ports;
  named.outputs = found.outputs;
  return named.first && DifferingNodesOf(ir, other, named).size() < size ? named : found;
}

}  // namespace x2ir
