// TensorFlow: branches and loops as functions (If, Case, While). Those of TensorFlow 1 are made
// into these when a graph is read.
#include <memory>
#include <numeric>
#include <utility>

#include "x2ir/builder/nested.h"
#include "x2ir/builder/node_marks.h"
#include "x2ir/core/loop_as_while.h"
#include "x2ir/formats/tensorflow/attributes.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tf/written_lists.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

using GraphPtr = std::shared_ptr<Graph>;

const Symbol kScalar(kTfScalarCondition);

// A scalar is true as it is in C, a string unless it is empty; any other tensor unless it has no
// elements.
Value* ToBool(TfArgs& a) {
  Value* v = a.in(0);
  const bool scalar = a.Bool(kScalar, false);
  const bool rank_is_known = scalar || v->shape();
  const auto has_elements = [&] { return a.Op("greater", {a.Op("size", {v}), a.b().Int(0)}); };
  if (v->shape() && v->shape()->rank() > 0) return has_elements();
  a.Require(v->dtype() != DType::kString, "a string as condition");
  Value* truth = a.Cast(v, DType::kBool);
  if (rank_is_known || !a.b().status().ok()) return truth;
  Value* is_scalar = a.Op("equal", {a.Op("size", {a.Op("shape", {v})}), a.b().Int(0)});
  return a.Op("where", {is_scalar, a.Op("reduce_max", {truth}, {{"keepdims", 0}}), has_elements()});
}

void IgnoreTypes(TfArgs& a) {
  for (const char* name : {"Tin", "Tout", "output_shapes", "maximum_iterations"}) a.Ignore(name);
}

absl::StatusOr<Values> If(TfArgs& a) {
  Value* cond = ToBool(a);
  IgnoreTypes(a);
  const GraphPtr then_branch = a.SubGraph("then_branch"), else_branch = a.SubGraph("else_branch");
  const size_t outputs = then_branch->outputs().size();
  if (else_branch->outputs().size() != outputs) {
    return Invalid("the branches have ", outputs, " and ", else_branch->outputs().size(),
                   " results");
  }
  X2IR_RETURN_IF_ERROR(a.b().status());
  return a.b().Ops("if", {cond}, {{"then_branch", then_branch}, {"else_branch", else_branch}},
                   outputs);
}

absl::StatusOr<Values> Case(TfArgs& a) {
  IgnoreTypes(a);
  const std::vector<GraphPtr> branches = a.SubGraphs("branches");
  if (branches.empty()) return Invalid("it has no branches");
  for (const GraphPtr& branch : branches) {
    if (branch && branch->outputs().size() == branches[0]->outputs().size()) continue;
    return Invalid("the branches have different numbers of results");
  }
  if (branches.size() == 1) {
    a.in(0);
    return InlineGraph(a.b(), *branches[0], {});
  }
  return BranchOf(a.b(), a.AsInt64(a.in(0)), branches);
}

// What a condition gives, as a bool; known when the condition itself is converted.
Value* CondOf(Builder& b, const Graph& cond, const Values& state, bool scalar) {
  const Values results = InlineGraph(b, cond, state);
  AttributeMap attrs;
  if (scalar) attrs.Set(kScalar, int64_t{1});
  return b.Node("tf", "ToBool", {results[0]}, std::move(attrs), {true})[0];
}

// The next value of a loop's variable, which is of the rank of the first one (TensorFlow's loops
// keep it). This says so before the body is converted, for which it is needed.
Value* OfSameRank(Builder& b, Value* next, const Value& first) {
  if (!first.type().is_tensor() || !first.shape()) return next;
  std::vector<int64_t> perm(static_cast<size_t>(first.shape()->rank()));
  if (perm.empty()) return b.Op("reshape", {next, b.Ints({})});
  std::iota(perm.begin(), perm.end(), 0);
  return b.Op("transpose", {next}, {{"perm", std::move(perm)}});
}

// Whether a round leaves the variable as it is. Functions are given all that they use as variables,
// weights and axes too; such a one is the value itself, so that it is known inside if it is
// outside.
bool Stays(const Graph& step, size_t i) {
  const Value* value = step.outputs()[i];
  for (int hops = 0; hops < 100; ++hops) {  // in a cycle, which is refused later, there is no end
    const Node* node = value->producer();
    if (!node || node->graph() != &step || node->op().view() != "Identity") break;
    if (node->num_inputs() != 1 || !node->input(0)) break;
    value = node->input(0);
  }
  return value == step.inputs()[i];
}

absl::StatusOr<Values> While(TfArgs& a) {
  IgnoreTypes(a);
  const bool scalar = a.Bool(kScalar, false);
  const GraphPtr cond = a.SubGraph("cond"), step = a.SubGraph("body");
  X2IR_RETURN_IF_ERROR(a.b().status());
  const size_t count = a.num_inputs();
  if (cond->inputs().size() != count || step->inputs().size() != count ||
      step->outputs().size() != count || cond->outputs().size() != 1) {
    return Invalid("its condition or its body does not fit ", count, " variables");
  }
  LoopBody body;
  Builder& b = body.b();
  Values state;
  std::vector<size_t> changes;
  for (size_t i = 0; i < count; ++i) {
    const bool stays = Stays(*step, i);
    state.push_back(stays ? a.in(i) : body.Carry(a.in(i), StrCat("variable_", i)));
    if (!stays) changes.push_back(i);
  }
  const auto picked = [&](const Values& all) {
    Values some;
    for (const size_t i : changes) some.push_back(all[i]);
    return some;
  };
  // The condition is copied before the loop. One that contains graphs is not copied, since they
  // may be nested to any depth. Then the first round may do nothing.
  const bool once = cond->TotalNodes() != cond->num_nodes();
  Value* next = nullptr;
  if (once) {
    next = CondOf(b, *cond, state, scalar);
    auto idle = std::make_shared<Graph>("idle");
    Builder idle_b(*idle, nullptr);
    AddResults(idle_b, picked(state));
    auto run = std::make_shared<Graph>("run");
    Builder run_b(*run, nullptr);
    const Values results = InlineGraph(run_b, *step, state);
    AddResults(run_b, picked(results));
    for (const absl::Status& s : {idle_b.status(), run_b.status()}) X2IR_RETURN_IF_ERROR(s);
    if (!changes.empty()) {
      const Values now =
          b.Ops("if", {next}, {{"then_branch", run}, {"else_branch", idle}}, changes.size());
      for (size_t k = 0; k < changes.size(); ++k) {
        state[changes[k]] = OfSameRank(b, now[k], *a.in(changes[k]));
      }
    }
  } else {
    const Values now = InlineGraph(b, *step, state);
    for (const size_t i : changes) state[i] = OfSameRank(b, now[i], *a.in(i));
    next = CondOf(b, *cond, state, scalar);
  }
  Values results;
  for (const size_t i : changes) results.push_back(state[i]);
  X2IR_RETURN_IF_ERROR(b.status());
  Value* starts =
      once ? a.b().Constant(Tensor::Scalar<bool>(true)) : CondOf(a.b(), *cond, a.inputs(), scalar);
  X2IR_ASSIGN_OR_RETURN(const Values last, body.Loop(a.b(), nullptr, starts, next, results));
  Values all;
  for (size_t i = 0, k = 0; i < count; ++i) {
    const bool changed = k < changes.size() && changes[k] == i;
    all.push_back(changed ? last[k++] : a.Op("identity", {a.in(i)}));
  }
  return all;
}

// --- Written ------------------------------------------------------------------------------------

bool DrawsTfNumbers(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    const OpDef* op = !node->is_ir() ? nullptr : FindOp(node->op());
    if (op && op->impure()) return true;
    for (const Graph* inner : node->subgraphs()) {
      if (DrawsTfNumbers(*inner)) return true;
    }
  }
  return false;
}

absl::StatusOr<Values> ToTfIf(TfWriter& w) {
  AttributeMap attrs;
  bool draws = false;
  for (const char* name : {"then_branch", "else_branch"}) {
    const Graph& branch = w.attrs().SubGraph(name);
    if (!branch.inputs().empty()) return CannotExpress("branches with inputs");
    for (const Value* output : branch.outputs()) {
      if (!output->type().is_tensor() && output->type().kind() != Type::kSequence) {
        return CannotExpress("branches that give no tensors or sequences");
      }
    }
    draws |= DrawsTfNumbers(branch);
    attrs.Set(name, branch.Clone());
  }
  bool is_scalar = IsMarked(w.node(), NodeMark::kScalarCondition);
  if (!is_scalar) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    is_scalar = rank == 0;
  }
  Value* cond = is_scalar ? w.in(0) : w.Reshape(w.in(0), {});
  const size_t count = w.node().num_outputs();
  std::vector<Type> types;
  for (size_t i = 0; i < count; ++i) types.push_back(w.out_type(i));
  return w.TfAll(draws ? "If" : "StatelessIf", {cond}, std::move(attrs),
                 std::vector<bool>(count, true), types);
}

// What a loop stacks is a list: of as many elements as there are rounds, or else one that grows.
struct TfStacks {
  TfWriter& w;
  const LoopAsWhile& loop;
  bool fixed = !loop.asks();

  static Type ListType() { return Type::Opaque("tf", "DT_VARIANT"); }
  AttributeMap Element(size_t i) const { return TfElementType(loop.added(i).type()); }
  Value* Sizes(size_t i) const { return TfElementSizes(w, loop.added(i).type()); }
  Value* Start(size_t i) const {
    if (!fixed) {
      return w.Tf("EmptyTensorList", {Sizes(i), w.Int32(-1)}, Element(i), ListType());
    }
    Value* count = loop.rounds() ? w.Int32(*loop.rounds())
                                 : w.Cast(w.Op("max", {loop.limit(), w.b().Int(0)}), DType::kInt32);
    return w.Tf("TensorListReserve", {Sizes(i), count}, Element(i), ListType());
  }
  Value* Put(Builder& b, size_t i, Value* stack, Value* added, Value* round) const {
    Values operands = {stack, added};
    AttributeMap attrs = Element(i);
    if (fixed) {
      operands.insert(operands.begin() + 1, b.Op("cast", {round}, {{"to", Name(DType::kInt32)}}));
    }
    Value* list = b.Node("tf", fixed ? "TensorListSetItem" : "TensorListPushBack",
                         std::move(operands), std::move(attrs), {true})[0];
    list->set_type(ListType());
    return list;
  }
  Value* Stacked(size_t i, Value* list) const {
    AttributeMap attrs = Element(i);
    attrs.Set("num_elements", fixed ? loop.rounds().value_or(-1) : -1);
    return w.Tf("TensorListStack", {list, Sizes(i)}, std::move(attrs),
                w.out_type(loop.carried() + i));
  }
};

absl::StatusOr<Values> ToTfWhile(TfWriter& w) {
  const bool is_scalar = IsMarked(w.node(), NodeMark::kScalarCondition);
  X2IR_ASSIGN_OR_RETURN(LoopAsWhile loop,
                        LoopAsWhile::Of(w, {.sequences = true, .scalar_condition = is_scalar}));
  const TfStacks stacks{w, loop};
  for (size_t i = 0; i < loop.stacked(); ++i) {
    if (!loop.added(i).type().is_tensor()) return CannotExpress("rounds that give no tensors");
    loop.AddStack(stacks.Start(i), TfStacks::ListType());
  }
  X2IR_ASSIGN_OR_RETURN(const GraphPtr cond, loop.Condition());
  X2IR_ASSIGN_OR_RETURN(const GraphPtr step, loop.Body([&](Builder& b, size_t i, Value* stack,
                                                           Value* added, Value* round) {
    return stacks.Put(b, i, stack, added, round);
  }));
  std::vector<Type> types = loop.types();
  for (size_t i = 0; i < loop.carried(); ++i) types[loop.own() + i] = w.out_type(i);
  const bool draws = DrawsTfNumbers(w.attrs().SubGraph("body"));
  const Values all =
      w.TfAll(draws ? "While" : "StatelessWhile", loop.first(), {{"cond", cond}, {"body", step}},
              std::vector<bool>(types.size(), true), types);
  Values results(all.begin() + static_cast<ptrdiff_t>(loop.own()), all.end());
  for (size_t i = 0; i < loop.stacked(); ++i) {
    Value*& result = results[loop.carried() + i];
    result = stacks.Stacked(i, result);
  }
  return results;
}

}  // namespace

X2IR_TF(cast).From("ToBool", ToBool);
X2IR_TF(if)
    .To("StatelessIf", ToTfIf)
    .From({{"If", If}, {"StatelessIf", If}, {"Case", Case}, {"StatelessCase", Case}});
X2IR_TF(loop).To("StatelessWhile", ToTfWhile).From({{"While", While}, {"StatelessWhile", While}});

}  // namespace x2ir
