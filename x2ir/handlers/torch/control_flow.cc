// Higher-order operators: cond, while_loop, map and scan. Their graphs take everything as inputs,
// the IR's may use outer values; what the graphs hold is converted by the driver afterwards.
#include <algorithm>
#include <memory>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/identities.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/inline_graph.h"
#include "x2ir/optimizer/rounds.h"

namespace x2ir {
namespace {

// A nested graph under construction.
class Body {
 public:
  explicit Body(std::string_view name) : graph_(std::make_shared<Graph>(std::string(name))) {}

  Value* Input(Type type) { return graph_->AddInput(graph_->UniqueName("item"), std::move(type)); }
  Builder& b() { return builder_; }
  // Every output a value of this graph, and of this alone.
  void Output(Value* value) { graph_->AddOutput(builder_.Op("identity", {value})); }
  std::shared_ptr<Graph> Finish(TorchCall& c) {
    if (!builder_.status().ok()) c.Fail(builder_.status());
    for (Node* node : graph_->nodes()) graph_->NameValues(node, "inner");
    return graph_;
  }

 private:
  std::shared_ptr<Graph> graph_;
  Builder builder_{*graph_, nullptr};
};

// The graph's outputs for these inputs, in the place where `b` builds.
Values Call(TorchCall& c, Builder& b, const Graph& graph, const Values& inputs) {
  if (graph.inputs().size() != inputs.size()) {
    c.Fail(
        Invalid("a graph takes ", graph.inputs().size(), " values; it is given ", inputs.size()));
    return Values(graph.outputs().size(), inputs.empty() ? b.Int(0) : inputs[0]);
  }
  return InlineGraph(b, graph, inputs);
}

void Append(Values& values, const Values& more) {
  values.insert(values.end(), more.begin(), more.end());
}

std::vector<bool> Wanted(const TorchCall& c) {
  std::vector<bool> wanted;
  for (const Value* output : c.node().outputs()) wanted.push_back(output != nullptr);
  return wanted;
}

Values Cond(TorchCall& c) {
  Value* condition = c.Operand("arg0", DType::kBool);
  const Values operands = c.Tensors("arg3");
  const auto branch = [&](std::string_view name, std::string_view title) {
    const std::shared_ptr<Graph> graph = c.Subgraph(name);
    Body body(title);
    const Values results = Call(c, body.b(), *graph, operands);
    if (results.size() != c.num_outputs()) {
      c.Fail(Invalid("a branch gives ", results.size(), " values, not ", c.num_outputs()));
    }
    for (size_t i = 0; i < results.size() && i < c.num_outputs(); ++i) body.Output(results[i]);
    return body.Finish(c);
  };
  std::shared_ptr<Graph> then_branch = branch("arg1", "then_branch");
  std::shared_ptr<Graph> else_branch = branch("arg2", "else_branch");
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  if (c.Rank(condition) > 0) condition = Reshape({c, condition}, std::vector<int64_t>{});
  return c.b().Ops(
      "if", {condition},
      {{"then_branch", std::move(then_branch)}, {"else_branch", std::move(else_branch)}},
      Wanted(c));
}

// cond(carried, more) and body(carried, more) -> carried.
Values WhileLoop(TorchCall& c) {
  const std::shared_ptr<Graph> test = c.Subgraph("arg0"), step = c.Subgraph("arg1");
  Values carried = c.Tensors("arg2");
  const Values more = c.Tensors("arg3");
  const size_t count = carried.size();
  if (count != c.num_outputs() || step->outputs().size() != count || test->outputs().size() != 1) {
    return c.Fail(Invalid("a loop of ", count, " values for ", c.num_outputs(), " results"));
  }
  Values operands = carried;
  Append(operands, more);
  Value* start = Call(c, c.b(), *test, operands)[0];
  Body body("loop_body");
  body.Input(Type::Tensor(DType::kInt64, Shape()));
  body.Input(Type::Tensor(DType::kBool, Shape()));
  Values inner;
  for (const Value* value : carried) inner.push_back(body.Input(Type::Tensor(value->dtype())));
  Append(inner, more);
  Values next = Call(c, body.b(), *step, inner);
  Values again = next;
  Append(again, more);
  body.Output(Call(c, body.b(), *test, again)[0]);
  for (Value* value : next) body.Output(value);
  std::shared_ptr<Graph> graph = body.Finish(c);
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  Values inputs = {nullptr, start};
  Append(inputs, carried);
  return c.b().Ops("loop", inputs, {{"body", std::move(graph)}}, Wanted(c));
}

// states and slices of xs along their first axis: f(states, slices, more) -> (states, outputs).
Values Scan(TorchCall& c, std::string_view states_name, bool reverse) {
  const std::shared_ptr<Graph> step = c.Subgraph("arg0");
  const bool map = states_name.empty();
  const Values states = map ? Values() : c.Tensors(states_name);
  const Values xs = c.Tensors(map ? "arg1" : "arg2");
  const Values more = c.Tensors(map ? "arg2" : "arg3");
  const size_t given = step->outputs().size();
  if (xs.empty() || given != c.num_outputs() || given < states.size()) {
    return c.Fail(Invalid("a scan of ", xs.size(), " tensors for ", c.num_outputs(), " results"));
  }
  Body body("scan_body");
  Values inner;
  for (const Value* state : states) inner.push_back(body.Input(state->type()));
  for (const Value* x : xs) {
    Type slice = Type::Tensor(x->dtype());
    if (x->shape() && x->shape()->rank() > 0) {
      const std::vector<Dim>& dims = x->shape()->dims();
      slice = Type::Tensor(x->dtype(), Shape(std::vector<Dim>(dims.begin() + 1, dims.end())));
    }
    inner.push_back(body.Input(slice));
  }
  Append(inner, more);
  for (Value* value : Call(c, body.b(), *step, inner)) body.Output(value);
  std::shared_ptr<Graph> graph = body.Finish(c);
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  Values operands = states;
  Append(operands, xs);
  const size_t outputs = given - states.size();
  return c.b().Ops("scan", operands,
                   {{"body", std::move(graph)},
                    {"num_scan_inputs", static_cast<int64_t>(xs.size())},
                    {"scan_input_axes", std::vector<int64_t>(xs.size(), 0)},
                    {"scan_input_directions", std::vector<int64_t>(xs.size(), reverse)},
                    {"scan_output_axes", std::vector<int64_t>(outputs, 0)},
                    {"scan_output_directions", std::vector<int64_t>(outputs, reverse)}},
                   Wanted(c));
}

X2IR_TORCH(if).From("higher_order::cond", Cond);
X2IR_TORCH(loop).From("higher_order::while_loop", WhileLoop);
X2IR_TORCH(scan)
    .From({"higher_order::map_impl", "higher_order::map"},
          [](TorchCall& c) { return Scan(c, "", false); })
    .From("higher_order::scan", [](TorchCall& c) { return Scan(c, "arg1", false); });

// A graph that is an argument of an operator: nodes are copied into it.
class WrittenGraph {
 public:
  explicit WrittenGraph(std::string_view name)
      : graph_(std::make_shared<Graph>(std::string(name))) {}

  Value* Input(const Type& type) { return graph_->AddInput(graph_->UniqueName("arg"), type); }
  Builder& b() { return builder_; }
  Graph& graph() { return *graph_; }
  // What is no result of the graph's own, or one already, becomes one: PyTorch's graphs give away
  // neither inputs nor values of others.
  void Output(Value* value) {
    const bool own = value->producer() && value->graph() == graph_.get();
    if (!own || value->is_graph_output()) {
      const Type type = value->type();
      value = builder_.Op("identity", {value});
      if (!value->type().is_known()) value->set_type(type);
    }
    graph_->AddOutput(value);
  }
  absl::StatusOr<Attribute> Finish() {
    X2IR_RETURN_IF_ERROR(builder_.status());
    for (Node* node : graph_->nodes()) graph_->NameValues(node, "inner");
    return Attribute(graph_);
  }

 private:
  std::shared_ptr<Graph> graph_;
  Builder builder_{*graph_, nullptr};
};

absl::StatusOr<Values> WriteIf(TorchWriter& w) {
  if (KnownBranch(w.node())) return CannotExpress("the condition is known");
  const auto branch = [&](Symbol name) {
    WrittenGraph graph(name.view());
    for (Value* result : InlineGraph(graph.b(), w.attrs().SubGraph(name), {})) {
      graph.Output(result);
    }
    return graph.Finish();
  };
  X2IR_ASSIGN_OR_RETURN(Attribute yes, branch("then_branch"));
  X2IR_ASSIGN_OR_RETURN(Attribute no, branch("else_branch"));
  return w.Calls("higher_order::cond", {{"arg0", OneElement(w, w.in(0))},
                                        {"arg1", std::move(yes)},
                                        {"arg2", std::move(no)},
                                        {"arg3", std::vector<Value*>()}});
}

// How often a loop runs, where that is known: nothing in it ends it early.
std::optional<int64_t> KnownRounds(TorchWriter& w, const Graph& body) {
  if (!w.has(0)) return std::nullopt;
  const auto count = w.KnownInt(w.in(0));
  if (!count) return std::nullopt;
  const auto is_true = [](const Value* value) {
    const Tensor* tensor = value->fixed_constant();
    return tensor && tensor->num_elements() == 1 && tensor->AsInt(0) != 0;
  };
  if (w.has(1) && !is_true(w.in(1))) return std::nullopt;
  const Value* again = WithoutIdentities(body.outputs()[0]);
  if (again != body.inputs()[1] && !is_true(again)) return std::nullopt;
  return std::max<int64_t>(*count, 0);
}

// A tensor of no rounds' results yet.
absl::StatusOr<Value*> NoResults(TorchWriter& w, const Type& type) {
  if (!type.is_tensor() || !type.shape()) return CannotExpress("results of unknown rank");
  std::vector<TorchScalar> sizes = {{int64_t{0}}};
  std::vector<Dim> dims = {Dim(0)};
  for (const Dim& dim : *type.shape()) {
    const auto size = w.NumberOf(dim);
    if (!size) return CannotExpress("results of a size that is not known before");
    sizes.push_back(*size);
    dims.push_back(dim);
  }
  return w.Call("aten::full.default",
                {{"size", std::move(sizes)}, {"fill_value", 0}, {"dtype", type.dtype()}},
                Type::Tensor(type.dtype(), Shape(std::move(dims))));
}

Type WithRounds(const Type& type, Dim rounds) {
  if (!type.shape()) return Type::Tensor(type.dtype());
  std::vector<Dim> dims = type.shape()->dims();
  dims.insert(dims.begin(), std::move(rounds));
  return Type::Tensor(type.dtype(), Shape(std::move(dims)));
}

// PyTorch keeps all that a loop carries for its gradient, and for that one size of each. Rounds
// that collect results carry more and more: no gradient goes through them.
class Detached {
 public:
  explicit Detached(TorchWriter& w) : w_(w) {}
  Value* operator()(Value* x) {
    if (!IsFloating(x->dtype())) return x;
    Value*& detached = known_[x];
    if (!detached) detached = w_.Call("aten::detach.default", {{"self", x}}, x->type());
    return detached;
  }
  // What the graph uses of those around it; its own constants are no parameters.
  void In(Graph& graph) {
    for (Node* node : graph.nodes()) {
      for (size_t i = 0; i < node->num_inputs(); ++i) {
        Value* x = node->input(i);
        if (x && x->graph() == &w_.b().graph()) node->SetInput(i, (*this)(x));
      }
      for (Graph* nested : node->subgraphs()) In(*nested);
    }
  }

 private:
  TorchWriter& w_;
  absl::flat_hash_map<Value*, Value*> known_;
};

absl::StatusOr<Values> WrittenOut(TorchWriter& w, const Graph& loop_body, int64_t rounds) {
  const std::shared_ptr<Graph> copy = loop_body.Clone();
  ShareConstants(w.b(), *copy);
  const Graph& body = *copy;
  const size_t carries = body.inputs().size() - 2, collects = body.outputs().size() - 1 - carries;
  Values state;
  for (size_t i = 0; i < carries; ++i) state.push_back(w.in(2 + i));
  std::vector<Values> collected(collects);
  Value* yes = w.b().Scalar(DType::kBool, 1);
  for (int64_t round = 0; round < rounds; ++round) {
    Values inputs = {w.b().Int(round), yes};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const Values results = InlineGraph(w.b(), body, inputs);
    state.assign(results.begin() + 1, results.begin() + 1 + static_cast<ptrdiff_t>(carries));
    for (size_t i = 0; i < collects; ++i) {
      collected[i].push_back(w.Op("unsqueeze", {results[1 + carries + i], w.b().Ints({0})}));
    }
  }
  Values values;
  for (Value* value : state) values.push_back(w.Op("identity", {value}));
  for (size_t i = 0; i < collects; ++i) {
    if (rounds == 0) {
      X2IR_ASSIGN_OR_RETURN(Value * none, NoResults(w, body.outputs()[1 + carries + i]->type()));
      values.push_back(none);
    } else {
      values.push_back(w.Op("concat", collected[i], {{"axis", 0}}));
    }
  }
  return values;
}

// What is carried: the number of the round, whether there is another one, the loop's own values,
// and what rounds have collected.
absl::StatusOr<Values> WriteLoop(TorchWriter& w) {
  constexpr int64_t kMaxWrittenOut = 512;  // nodes
  const Graph& body = w.attrs().SubGraph("body");
  const size_t carries = body.inputs().size() - 2, collects = body.outputs().size() - 1 - carries;
  const auto rounds = KnownRounds(w, body);
  if (rounds && NodesOfRounds(body, *rounds) <= kMaxWrittenOut) {
    return WrittenOut(w, body, *rounds);
  }

  Value* limit = w.has(0) ? OneElement(w, w.in(0)) : nullptr;
  Value* start = w.has(1) ? OneElement(w, w.in(1)) : w.b().Scalar(DType::kBool, 1);
  const Type number = Type::Tensor(DType::kInt64, Shape());
  const Type flag = Type::Tensor(DType::kBool, Shape());
  Values operands = {w.b().Int(0), start};
  std::vector<Type> types = {number, flag};
  for (size_t i = 0; i < carries; ++i) {
    operands.push_back(w.in(2 + i));
    types.push_back(body.inputs()[2 + i]->type());
  }
  for (size_t i = 0; i < collects; ++i) {
    const Type& one = body.outputs()[1 + carries + i]->type();
    X2IR_ASSIGN_OR_RETURN(Value * none, NoResults(w, one));
    operands.push_back(none);
    types.push_back(WithRounds(one, Dim()));
  }

  WrittenGraph test("loop_test");
  Values seen;
  for (const Type& type : types) seen.push_back(test.Input(type));
  test.Output(limit ? test.b().Op("and", {seen[1], test.b().Op("less", {seen[0], limit})})
                    : seen[1]);
  WrittenGraph step("loop_body");
  Values given;
  for (const Type& type : types) given.push_back(step.Input(type));
  const Values inputs(given.begin(), given.begin() + 2 + static_cast<ptrdiff_t>(carries));
  const Values results = InlineGraph(step.b(), body, inputs);
  step.Output(step.b().Op("add", {given[0], step.b().Int(1)}));
  const bool one = results[0]->shape() && results[0]->shape()->rank() == 0;
  step.Output(one ? results[0] : step.b().Op("reshape", {results[0], step.b().Ints({})}));
  for (size_t i = 0; i < carries; ++i) step.Output(results[1 + i]);
  for (size_t i = 0; i < collects; ++i) {
    Value* one = step.b().Op("unsqueeze", {results[1 + carries + i], step.b().Ints({0})});
    step.Output(step.b().Op("concat", {given[2 + carries + i], one}, {{"axis", 0}}));
  }
  if (collects != 0) {
    Detached detached(w);
    for (Value*& operand : operands) operand = detached(operand);
    detached.In(test.graph());
    detached.In(step.graph());
  }
  X2IR_ASSIGN_OR_RETURN(Attribute test_graph, test.Finish());
  X2IR_ASSIGN_OR_RETURN(Attribute step_graph, step.Finish());
  std::vector<bool> wanted(types.size(), false);
  for (size_t i = 0; i < w.num_outputs(); ++i) {
    wanted[2 + i] = w.wants(i);
    if (w.wants(i)) types[2 + i] = w.out_type(i);
  }
  Values values = w.Calls("higher_order::while_loop",
                          {{"arg0", std::move(test_graph)},
                           {"arg1", std::move(step_graph)},
                           {"arg2", std::move(operands)},
                           {"arg3", std::vector<Value*>()}},
                          wanted, types);
  values.erase(values.begin(), values.begin() + 2);
  return values;
}

}  // namespace

X2IR_TORCH(if).To("higher_order::cond", WriteIf);
X2IR_TORCH(loop).To("higher_order::while_loop", WriteLoop);

}  // namespace x2ir
