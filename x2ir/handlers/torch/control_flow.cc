// Higher-order operators: cond, while_loop, map and scan. Their graphs take everything as inputs,
// the IR's may use outer values; what the graphs hold is converted by the driver afterwards.
#include <memory>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/optimizer/inline_graph.h"

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

}  // namespace
}  // namespace x2ir
