// StableHLO: branches and loops. A loop that counts has a known number of rounds.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "x2ir/builder/complex.h"
#include "x2ir/builder/nested.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/stablehlo/regions.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

using Region = std::shared_ptr<Graph>;

// Nested graphs neither take nor give complex numbers.
Values AsParts(Builder& b, const Values& values) {
  Values parts;
  for (Value* value : values) {
    if (!IsComplex(value->dtype())) {
      parts.push_back(value);
      continue;
    }
    parts.push_back(b.Op("real", {value}));
    parts.push_back(b.Op("imag", {value}));
  }
  return parts;
}
Values AsComplex(Builder& b, const Values& parts, const std::vector<DType>& types) {
  Values values;
  size_t at = 0;
  for (const DType type : types) {
    if (IsComplex(type)) {
      values.push_back(b.Op("complex", {parts[at], parts[at + 1]}));
      at += 2;
    } else {
      values.push_back(parts[at++]);
    }
  }
  return values;
}

// --- Branches
// -------------------------------------------------------------------------------------

// The branch as a graph that gives values of its own.
absl::StatusOr<Region> BranchGraph(const Graph& branch) {
  auto graph = std::make_shared<Graph>("branch");
  Builder b(*graph, nullptr);
  AddResults(b, AsParts(b, InlineGraph(b, branch, {})));
  X2IR_RETURN_IF_ERROR(b.status());
  return graph;
}

absl::StatusOr<std::vector<Region>> BranchGraphs(StablehloArgs& a,
                                                 const std::vector<Region>& branches) {
  std::vector<Region> graphs;
  for (const Region& branch : branches) {
    if (!branch || !branch->inputs().empty() || branch->outputs().size() != a.num_outputs()) {
      return Invalid("a branch takes arguments, or does not give ", a.num_outputs(), " results");
    }
    X2IR_ASSIGN_OR_RETURN(Region graph, BranchGraph(*branch));
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

std::vector<DType> ResultTypes(StablehloArgs& a) {
  std::vector<DType> types;
  for (size_t i = 0; i < a.num_outputs(); ++i) {
    types.push_back(a.node().output(i) ? a.out_dtype(i) : DType::kUndefined);
  }
  return types;
}

absl::StatusOr<Values> FromIf(StablehloArgs& a) {
  const std::vector<Region> regions = {a.SubGraph("true_branch"), a.SubGraph("false_branch")};
  Value* test = a.in(0);
  X2IR_ASSIGN_OR_RETURN(const std::vector<Region> branches, BranchGraphs(a, regions));
  if (a.num_outputs() == 0) return Values();
  const Values parts =
      a.b().Ops("if", {test}, {{"then_branch", branches[0]}, {"else_branch", branches[1]}},
                branches[0]->outputs().size());
  return AsComplex(a.b(), parts, ResultTypes(a));
}

absl::StatusOr<Values> FromCase(StablehloArgs& a) {
  const std::vector<Region> regions = a.SubGraphs("branches");
  const Expr index = a.AsInt64(a.in(0));
  if (regions.empty()) return Invalid("it has no branches");
  X2IR_ASSIGN_OR_RETURN(const std::vector<Region> branches, BranchGraphs(a, regions));
  if (a.num_outputs() == 0) return Values();
  if (regions.size() == 1) return InlineGraph(a.b(), *regions[0], {});
  return AsComplex(a.b(), BranchOf(a.b(), index, branches), ResultTypes(a));
}

// --- Loops
// ----------------------------------------------------------------------------------------

// A number of the graph, of a constant in it, or outside of it.
std::optional<int64_t> KnownNumber(const Graph& region, const Value* value) {
  std::optional<std::vector<int64_t>> known;
  if (OpOf(region, value) == "constant") {
    const Attribute* attr = value->producer()->attrs().Find("value");
    const Tensor* tensor = attr ? attr->get<Tensor>() : nullptr;
    if (!tensor || tensor->num_elements() != 1 || !IsInteger(tensor->dtype())) return std::nullopt;
    return tensor->AsInt(0);
  }
  known = KnownInts(value);
  if (!known || known->size() != 1) return std::nullopt;
  return (*known)[0];
}

struct Loop {
  const Graph &cond, &step;
  Values first;

  size_t size() const { return first.size(); }
  bool Stays(size_t i) const { return step.outputs()[i] == step.inputs()[i]; }
  std::optional<size_t> VariableOf(const Graph& g, const Value* value) const {
    const auto inputs = g.inputs();
    const auto at = std::find(inputs.begin(), inputs.end(), value);
    if (at == inputs.end()) return std::nullopt;
    return static_cast<size_t>(at - inputs.begin());
  }
};

// A variable that is counted up by one from a number, while it is below another one.
struct Counter {
  size_t variable;
  int64_t start, rounds;
};
std::optional<Counter> CounterOf(const Loop& loop) {
  const Value* test = loop.cond.outputs()[0];
  if (OpOf(loop.cond, test) != "compare") return std::nullopt;
  const Node& compare = *test->producer();
  const std::string direction = compare.attrs().String("comparison_direction", "");
  if (direction != "LT" && direction != "LE") return std::nullopt;
  const auto variable = loop.VariableOf(loop.cond, compare.input(0));
  if (!variable) return std::nullopt;
  std::optional<int64_t> end = KnownNumber(loop.cond, compare.input(1));
  if (const auto limit = loop.VariableOf(loop.cond, compare.input(1))) {
    if (!loop.Stays(*limit)) return std::nullopt;
    end = KnownNumber(loop.cond, loop.first[*limit]);
  }
  const std::optional<int64_t> start = KnownNumber(loop.cond, loop.first[*variable]);
  const Value* next = loop.step.outputs()[*variable];
  if (!end || !start || OpOf(loop.step, next) != "add") return std::nullopt;
  const Node& add = *next->producer();
  const Value* own = loop.step.inputs()[*variable];
  const Value* by = add.input(0) == own   ? add.input(1)
                    : add.input(1) == own ? add.input(0)
                                          : nullptr;
  if (!by || by == own || KnownNumber(loop.step, by) != 1) return std::nullopt;
  // Numbers of that type must not overflow before the end.
  const DType t = own->dtype();
  if (!IsInteger(t) || BitWidth(t) < 32 || *end > INT32_MAX || *start < INT32_MIN ||
      (IsUnsignedInt(t) && *start < 0)) {
    return std::nullopt;
  }
  const int64_t rounds = *end - *start + (direction == "LE" ? 1 : 0);
  return Counter{*variable, *start, std::max<int64_t>(rounds, 0)};
}

// Copies of a condition that holds loops would be copied again in each of them.
bool HoldsLoops(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    const std::string_view op = node->op().view();
    if (op == "while" || op == "case" || op == "if") return true;
  }
  return false;
}

// A loop of the IR while it is written: what is carried, and what stays as it is outside.
class LoopWriter {
 public:
  LoopWriter(StablehloArgs& a, const Loop& loop, const std::optional<Counter>& counter)
      : a_(a), loop_(loop), counter_(counter) {
    Builder& b = body_.b();
    for (size_t i = 0; i < loop.size(); ++i) {
      Value* first = loop.first[i];
      if (IsCounter(i)) {
        const Expr round(b, body_.iteration());
        state_.push_back((counter->start == 0 ? round : round + static_cast<double>(counter->start))
                             .To(first->dtype()));
      } else if (loop.Stays(i)) {
        state_.push_back(first);
      } else {
        state_.push_back(Carry(i, first));
        changes_.push_back(i);
      }
    }
  }

  absl::StatusOr<Values> Write() {
    Builder& b = body_.b();
    const bool once = !counter_ && HoldsLoops(loop_.cond);
    Value* next = body_.condition();
    Values results;
    if (once) {
      // The first round may do nothing, and so the condition is asked in one place.
      next = InlineGraph(b, loop_.cond, state_)[0];
      X2IR_ASSIGN_OR_RETURN(results, IfHolds(next));
    } else {
      Values now = Changed(InlineGraph(b, loop_.step, state_));
      Values after = state_;
      for (size_t k = 0; k < changes_.size(); ++k) after[changes_[k]] = now[k];
      if (!counter_) next = InlineGraph(b, loop_.cond, after)[0];
      results = AsParts(b, now);
    }
    X2IR_RETURN_IF_ERROR(b.status());
    Builder& outside = a_.b();
    Value* rounds = counter_ ? outside.Int(counter_->rounds) : nullptr;
    Value* starts = counter_ ? nullptr
                    : once   ? outside.Constant(Tensor::Scalar<bool>(true))
                             : InlineGraph(outside, loop_.cond, loop_.first)[0];
    X2IR_ASSIGN_OR_RETURN(const Values parts, body_.Loop(outside, rounds, starts, next, results));
    std::vector<DType> types;
    for (const size_t i : changes_) types.push_back(loop_.first[i]->dtype());
    const Values last = AsComplex(outside, parts, types);
    Values all;
    for (size_t i = 0, k = 0; i < loop_.size(); ++i) {
      if (IsCounter(i)) {
        const Expr end = Int(outside, counter_->start + counter_->rounds);
        all.push_back(end.To(loop_.first[i]->dtype()));
      } else if (k < changes_.size() && changes_[k] == i) {
        all.push_back(last[k++]);
      } else {
        all.push_back(outside.Op("identity", {loop_.first[i]}));
      }
    }
    return all;
  }

 private:
  bool IsCounter(size_t i) const { return counter_ && counter_->variable == i; }

  Value* Carry(size_t i, Value* first) {
    const std::string name = StrCat("variable_", i);
    if (!IsComplex(first->dtype())) return body_.Carry(first, name, first->type());
    Builder& outside = a_.b();
    Type part = first->type();
    part.set_dtype(PartType(first->dtype()));
    Value* re = body_.Carry(outside.Op("real", {first}), StrCat(name, "_re"), part);
    Value* im = body_.Carry(outside.Op("imag", {first}), StrCat(name, "_im"), part);
    return body_.b().Op("complex", {re, im});
  }

  Values Changed(const Values& all) const {
    Values some;
    for (const size_t i : changes_) some.push_back(all[i]);
    return some;
  }

  // The parts of the next values where the condition holds, else those of the present ones.
  absl::StatusOr<Values> IfHolds(Value* cond) {
    if (changes_.empty()) return Values();
    auto idle = std::make_shared<Graph>("idle"), run = std::make_shared<Graph>("run");
    Builder idle_b(*idle, nullptr), run_b(*run, nullptr);
    AddResults(idle_b, AsParts(idle_b, Changed(state_)));
    AddResults(run_b, AsParts(run_b, Changed(InlineGraph(run_b, loop_.step, state_))));
    for (const absl::Status& s : {idle_b.status(), run_b.status()}) X2IR_RETURN_IF_ERROR(s);
    const size_t count = idle->outputs().size();
    return body_.b().Ops("if", {cond}, {{"then_branch", run}, {"else_branch", idle}}, count);
  }

  StablehloArgs& a_;
  const Loop& loop_;
  const std::optional<Counter> counter_;
  LoopBody body_;
  Values state_;                 // inside
  std::vector<size_t> changes_;  // variables that are carried
};

absl::StatusOr<Values> FromWhile(StablehloArgs& a) {
  const Region cond = a.SubGraph("cond"), step = a.SubGraph("body");
  const size_t count = a.num_inputs();
  if (cond->inputs().size() != count || step->inputs().size() != count ||
      step->outputs().size() != count || cond->outputs().size() != 1) {
    return Invalid("its condition or its body does not fit ", count, " variables");
  }
  Loop loop = {*cond, *step, {}};
  for (size_t i = 0; i < count; ++i) loop.first.push_back(a.in(i));
  const std::optional<Counter> counter = CounterOf(loop);
  return LoopWriter(a, loop, counter).Write();
}

}  // namespace

X2IR_STABLEHLO(if).From({{"if", FromIf}, {"case", FromCase}});
X2IR_STABLEHLO(loop).From("while", FromWhile);

}  // namespace x2ir
