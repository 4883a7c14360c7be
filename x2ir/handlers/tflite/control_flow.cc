// TFLite: IF, WHILE and calls of subgraphs, which see nothing but their own inputs.
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/builder/nested.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/identities.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

using GraphPtr = std::shared_ptr<Graph>;

absl::Status CheckPorts(const Graph& graph, size_t inputs, size_t outputs) {
  if (graph.inputs().size() == inputs && graph.outputs().size() == outputs) {
    return absl::OkStatus();
  }
  return Invalid("a subgraph has ", graph.inputs().size(), " inputs and ", graph.outputs().size(),
                 " outputs; expected ", inputs, " and ", outputs);
}

// A copy of the subgraph that uses the given values directly, without inputs.
absl::StatusOr<GraphPtr> Branch(TfliteArgs& a, const Graph& subgraph, const Values& given) {
  X2IR_RETURN_IF_ERROR(CheckPorts(subgraph, given.size(), a.num_outputs()));
  auto branch = std::make_shared<Graph>(subgraph.name());
  Builder b(*branch, nullptr);
  AddResults(b, InlineGraph(b, subgraph, given));
  X2IR_RETURN_IF_ERROR(b.status());
  return branch;
}

absl::StatusOr<Values> If(TfliteArgs& a) {
  const GraphPtr then_graph = a.SubGraph("then_subgraph"), else_graph = a.SubGraph("else_subgraph");
  Expr cond = a.in(0);
  // One element of any rank.
  if (a.rank(0) != 0) cond = a.Op("reshape", {cond, a.b().Ints({})}, {{"allowzero", 1}});
  const Values given = a.inputs(1);
  X2IR_ASSIGN_OR_RETURN(GraphPtr then_branch, Branch(a, *then_graph, given));
  X2IR_ASSIGN_OR_RETURN(GraphPtr else_branch, Branch(a, *else_graph, given));
  return a.b().Ops("if", {cond}, {{"then_branch", then_branch}, {"else_branch", else_branch}},
                   a.num_outputs());
}

absl::StatusOr<Values> Call(TfliteArgs& a, Symbol name) {
  const GraphPtr subgraph = a.SubGraph(name);
  const Values given = a.inputs();
  X2IR_RETURN_IF_ERROR(CheckPorts(*subgraph, given.size(), a.num_outputs()));
  Values results = InlineGraph(a.b(), *subgraph, given);
  for (Value*& value : results) value = a.Op("identity", {value});
  return results;
}

absl::StatusOr<Values> CallSubgraph(TfliteArgs& a) { return Call(a, "subgraph"); }

// The branch of that number; any other number is the last one's.
absl::StatusOr<Values> Case(TfliteArgs& a) {
  std::vector<GraphPtr> branches;
  for (const GraphPtr& subgraph : a.SubGraphs("branch_subgraphs")) {
    X2IR_ASSIGN_OR_RETURN(branches.emplace_back(), Branch(a, *subgraph, a.inputs(1)));
  }
  return AsTf(a, "Case", {a.in(0)}, {{"branches", std::move(branches)}});
}

// The result of a composite's decomposition; its name is a hint for delegates.
absl::StatusOr<Values> Composite(TfliteArgs& a) {
  for (const char* name :
       {"name", "composite_attributes", "composite_attributes_format", "version"}) {
    a.Ignore(name);
  }
  return Call(a, "decomposition_subgraph");
}

// The condition is asked before the first round, and after each for the next.
absl::StatusOr<Values> While(TfliteArgs& a) {
  const GraphPtr cond = a.SubGraph("cond_subgraph"), step = a.SubGraph("body_subgraph");
  const size_t count = a.num_inputs();
  if (a.num_outputs() != count) return Invalid("it has not as many results as operands");
  X2IR_RETURN_IF_ERROR(CheckPorts(*cond, count, 1));
  X2IR_RETURN_IF_ERROR(CheckPorts(*step, count, count));
  // What no round changes is used from outside: weights and sizes, which then are known there.
  const auto stays = [&](size_t i) { return step->outputs()[i] == step->inputs()[i]; };
  LoopBody body;
  Builder& b = body.b();
  Values state;
  for (size_t i = 0; i < count; ++i) {
    state.push_back(stays(i) ? a.in(i).value() : body.Carry(a.in(i), StrCat("variable_", i)));
  }
  const auto asks = [&](Builder& at, const Values& given) {
    return at.Op("reshape", {InlineGraph(at, *cond, given)[0], at.Ints({})}, {{"allowzero", 1}});
  };
  Values next = InlineGraph(b, *step, state);
  for (size_t i = 0; i < count; ++i) {
    if (stays(i)) next[i] = a.in(i);
  }
  Value* goes_on = asks(b, next);
  Values results;
  for (size_t i = 0; i < count; ++i) {
    if (!stays(i)) results.push_back(next[i]);
  }
  X2IR_ASSIGN_OR_RETURN(const Values last,
                        body.Loop(a.b(), nullptr, asks(a.b(), a.inputs()), goes_on, results));
  Values all;
  for (size_t i = 0, k = 0; i < count; ++i) {
    all.push_back(stays(i) ? a.Op("identity", {a.in(i)}).value() : last[k++]);
  }
  return all;
}

using GraphPtr = std::shared_ptr<Graph>;

bool IsInside(const Graph* graph, const Graph* outer) {
  for (; graph; graph = graph->parent()) {
    if (graph == outer) return true;
  }
  return false;
}

// The values from outside that nodes of `inner`, a graph in `root` or root itself, use.
void CollectOuter(const Graph& inner, const Graph& root, absl::flat_hash_map<Value*, size_t>* index,
                  Values* outer) {
  const auto take = [&](Value* v) {
    if (!v || IsInside(v->graph(), &root)) return;
    if (index->try_emplace(v, outer->size()).second) outer->push_back(v);
  };
  for (const Node* node : inner.nodes()) {
    for (Value* v : node->inputs()) take(v);
    for (const Graph* nested : node->subgraphs()) CollectOuter(*nested, root, index, outer);
  }
  for (const Value* v : inner.outputs()) take(const_cast<Value*>(v));
}

void ReplaceOuter(Graph& inner, const absl::flat_hash_map<const Value*, Value*>& by) {
  const auto of = [&](Value* v) {
    const auto found = by.find(v);
    return found == by.end() ? v : found->second;
  };
  for (Node* node : inner.nodes()) {
    for (size_t i = 0; i < node->num_inputs(); ++i) {
      if (node->input(i) && of(node->input(i)) != node->input(i)) {
        node->SetInput(i, of(node->input(i)));
      }
    }
    for (Graph* nested : node->subgraphs()) ReplaceOuter(*nested, by);
  }
  const std::vector<Value*> outputs = inner.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) inner.SetOutput(i, of(outputs[i]));
}

// Constants are copied into the graph; other values become inputs in this order.
void Close(Graph& graph, const Values& outer, Values* inputs) {
  absl::flat_hash_map<const Value*, Value*> by;
  for (Value* v : outer) {
    if (const Tensor* constant = v->fixed_constant()) {
      by[v] = graph.AddConstant(graph.UniqueName(v->name()), *constant);
    } else {
      by[v] = graph.AddInput(graph.UniqueName(v->name()), v->type());
      inputs->push_back(v);
    }
  }
  ReplaceOuter(graph, by);
}

absl::StatusOr<Values> ToIf(TfliteWriter& w) {
  // LiteRT does not copy out the results of an IF whose condition is a constant.
  if (KnownBranch(w.node())) return CannotExpress("the condition is known");
  Values outer;
  absl::flat_hash_map<Value*, size_t> index;
  std::vector<GraphPtr> branches;
  for (const char* name : {"then_branch", "else_branch"}) {
    const Graph& branch = w.attrs().SubGraph(name);
    if (!branch.inputs().empty()) return CannotExpress("branches with inputs");
    CollectOuter(branch, branch, &index, &outer);
  }
  Values given;
  for (const char* name : {"then_branch", "else_branch"}) {
    GraphPtr copy = w.attrs().SubGraph(name).Clone();
    copy->set_name(name);
    given.clear();
    Close(*copy, outer, &given);
    branches.push_back(std::move(copy));
  }
  std::vector<Value*> operands = {w.in(0)};
  operands.insert(operands.end(), given.begin(), given.end());
  std::vector<Type> types;
  for (size_t i = 0; i < w.node().num_outputs(); ++i) {
    const Value* out = w.node().output(i);
    const Type& own = branches[0]->outputs()[i]->type();
    types.push_back(out ? out->type() : own);
    if (!types.back().is_tensor()) return CannotExpress("results that are no tensors");
  }
  const std::vector<bool> all(types.size(), true);
  return w.TfliteAll("IF", std::move(operands),
                     {{"then_subgraph", branches[0]}, {"else_subgraph", branches[1]}}, all, types);
}

// Whether the condition is true at first, and every round hands it on.
bool IsAlwaysTrue(TfliteWriter& w, const Graph& body) {
  const auto first = KnownTensor(*w.in(1));
  const auto is_true = [](const Value* v) {
    const auto known = KnownTensor(*v);
    return known && known->num_elements() == 1 && known->AsInt(0) != 0;
  };
  const Value* next = WithoutIdentities(body.outputs()[0]);
  return first && first->AsInt(0) != 0 && (next == body.inputs()[1] || is_true(next));
}

// The stack with `value` as its slice `i` of the first axis.
Value* PutAt(Builder& b, Value* stack, Value* value, Value* i) {
  Value* slice = b.Op("unsqueeze", {value, b.Ints({0})});
  const int64_t rank = stack->shape()->rank();
  Value* place = b.Op("unsqueeze", {i, b.Ints({0})});
  if (rank > 1) {
    const std::vector<int64_t> rest(static_cast<size_t>(rank) - 1, 0);
    place = b.Op("concat", {place, b.Ints(rest)}, {{"axis", 0}});
  }
  place = b.Op("cast", {place}, {{"to", Name(DType::kInt32)}});
  Value* put =
      b.Node(tflite::kDialect, "DYNAMIC_UPDATE_SLICE", {stack, slice, place}, {}, {true})[0];
  put->set_type(stack->type());
  return put;
}

Value* StackOf(TfliteWriter& w, const Type& type) {
  // The file says the zeros of large ones by their sizes.
  constexpr int64_t kMaxElements = 1 << 12;
  if (const auto dims = type.shape()->Static()) {
    const auto count = CheckedProduct(*dims);
    if (count && *count <= kMaxElements) {
      return w.b().Constant(Tensor::Zeros(type.dtype(), *dims));
    }
    return w.Op("constant_of_shape", {w.Ints(*dims)},
                {{"value", Tensor::Zeros(type.dtype(), {1})}});
  }
  std::vector<int64_t> rest;
  for (int64_t i = 1; i < type.shape()->rank(); ++i) rest.push_back((*type.shape())[i].value());
  Value* sizes = w.Reshape(w.in(0), {1});
  if (!rest.empty()) sizes = w.Op("concat", {sizes, w.Ints(rest)}, {{"axis", 0}});
  return w.Op("constant_of_shape", {sizes}, {{"value", Tensor::Zeros(type.dtype(), {1})}});
}

// A loop carries its round's number, whether to go on, what IR's carries, and what its graphs use
// from outside.
absl::StatusOr<Values> ToWhile(TfliteWriter& w) {
  const Graph& body = w.attrs().SubGraph("body");
  const size_t carried = w.num_inputs() > 2 ? w.num_inputs() - 2 : 0;
  const size_t collected = body.outputs().size() - 1 - carried;
  const bool counted = w.has(0), asked = w.has(1) && !IsAlwaysTrue(w, body);
  if (collected != 0 && (!counted || asked)) {
    return CannotExpress("results of a number of rounds that is not known before");
  }
  const auto rounds = counted ? KnownInts(w.in(0)) : std::nullopt;
  // What rounds give is put into tensors that are as large from the start.
  std::vector<Type> stacks;
  for (size_t i = 0; i < collected; ++i) {
    const Type& each = body.outputs()[1 + carried + i]->type();
    if (!each.is_tensor() || !each.shape()) return CannotExpress("rounds that give unknown shapes");
    std::vector<Dim> dims = {rounds ? Dim((*rounds)[0]) : Dim()};
    for (int64_t k = 0; k < each.shape()->rank(); ++k) {
      dims.push_back((*each.shape())[k]);
      if (!dims.back().is_static()) return CannotExpress("rounds that give unknown sizes");
    }
    stacks.push_back(Type::Tensor(each.dtype(), Shape(std::move(dims))));
  }
  Values outer;
  absl::flat_hash_map<Value*, size_t> index;
  CollectOuter(body, body, &index, &outer);
  const Type number = Type::Tensor(DType::kInt64, Shape()),
             flag = Type::Tensor(DType::kBool, Shape());

  // The body: one more round, and what the IR's body gives.
  GraphPtr step = body.Clone();
  step->set_name("body");
  Values given;
  Close(*step, outer, &given);
  {
    Builder b(*step, nullptr);
    const std::vector<Value*> results = step->outputs();
    const std::vector<Value*> inputs = step->inputs();
    step->ClearOutputs();
    step->AddOutput(b.Op("add", {inputs[0], b.Int(1)}));
    for (size_t i = 0; i <= carried; ++i) step->AddOutput(results[i]);
    for (size_t i = 2 + carried; i < inputs.size(); ++i) step->AddOutput(inputs[i]);
    for (size_t i = 0; i < collected; ++i) {
      Value* stack = step->AddInput(step->UniqueName("stack"), stacks[i]);
      step->AddOutput(PutAt(b, stack, results[1 + carried + i], inputs[0]));
    }
    // The count is carried, too.
    if (counted) step->AddOutput(step->AddInput(step->UniqueName("trip_count"), number));
    X2IR_RETURN_IF_ERROR(NameMade(b, "iteration"));
    step->inputs()[0]->set_type(number);
    step->inputs()[1]->set_type(flag);
  }
  // The question has the same operands.
  auto question = std::make_shared<Graph>("cond");
  {
    Builder b(*question, nullptr);
    Values inputs;
    for (Value* v : step->inputs()) inputs.push_back(question->AddInput(v->name(), v->type()));
    Value* below = counted ? b.Op("less", {inputs[0], inputs.back()}) : nullptr;
    Value* more = below && asked ? b.Op("and", {inputs[1], below}) : below ? below : inputs[1];
    question->AddOutput(more);
    X2IR_RETURN_IF_ERROR(NameMade(b, "more"));
  }
  const auto scalar = [&](Value* v) {
    return v->shape() && v->shape()->rank() == 0 ? v : w.Reshape(v, {});
  };
  std::vector<Value*> operands = {
      w.b().Int(0), asked ? scalar(w.in(1)) : w.b().Constant(Tensor::Scalar<bool>(true))};
  std::vector<Type> types = {number, flag};
  for (size_t i = 0; i < carried; ++i) {
    operands.push_back(w.in(2 + i));
    const Value* out = w.node().output(i);
    types.push_back(out ? out->type() : step->inputs()[2 + i]->type());
  }
  for (Value* v : given) {
    operands.push_back(v);
    types.push_back(v->type());
  }
  for (const Type& stack : stacks) {
    operands.push_back(StackOf(w, stack));
    types.push_back(stack);
  }
  if (counted) {
    operands.push_back(w.Cast(scalar(w.in(0)), DType::kInt64));
    types.push_back(number);
  }
  for (const Type& type : types) {
    if (!type.is_tensor()) return CannotExpress("what it carries is no tensor");
  }
  const Values made = w.TfliteAll("WHILE", std::move(operands),
                                  {{"cond_subgraph", question}, {"body_subgraph", step}},
                                  std::vector<bool>(types.size(), true), types);
  const auto begin = made.begin() + 2, end = begin + static_cast<ptrdiff_t>(carried);
  Values values(begin, end);
  const auto of_stacks = end + static_cast<ptrdiff_t>(given.size());
  values.insert(values.end(), of_stacks, of_stacks + static_cast<ptrdiff_t>(collected));
  return values;
}

}  // namespace

X2IR_TFLITE(if).To("IF", ToIf).From({{"IF", If}, {"STABLEHLO_CASE", Case}});
X2IR_TFLITE(loop).To("WHILE", ToWhile).From({{"WHILE", While}, {"STABLEHLO_WHILE", While}});
X2IR_TFLITE(identity).From({{"CALL", CallSubgraph}, {"STABLEHLO_COMPOSITE", Composite}});

}  // namespace x2ir
