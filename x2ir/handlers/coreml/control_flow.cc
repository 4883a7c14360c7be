// MIL: branches and loops, whose blocks see what is around them, both ways.
#include <memory>

#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

using BlockPtr = std::shared_ptr<Graph>;

// The results of a nested graph must be values of their own, made in it.
void AddBlockResults(Builder& b, const Values& values) {
  for (Value* value : values) b.graph().AddOutput(b.Op("identity", {value}));
}

absl::StatusOr<BlockPtr> BlockOf(MilArgs& a, Symbol name, size_t inputs, size_t outputs) {
  const BlockPtr block = a.SubGraph(name);
  if (block->inputs().size() != inputs || block->outputs().size() != outputs) {
    return Invalid("a block of ", block->inputs().size(), " inputs and ", block->outputs().size(),
                   " outputs; expected ", inputs, " and ", outputs);
  }
  return block;
}

absl::StatusOr<Values> MilCond(MilArgs& a) {
  const auto branch = [&](Symbol name) -> absl::StatusOr<BlockPtr> {
    X2IR_ASSIGN_OR_RETURN(const BlockPtr block, BlockOf(a, name, 0, a.num_outputs()));
    auto graph = std::make_shared<Graph>(block->name());
    Builder b(*graph, nullptr);
    AddBlockResults(b, InlineGraph(b, *block, {}));
    X2IR_RETURN_IF_ERROR(b.status());
    return graph;
  };
  X2IR_ASSIGN_OR_RETURN(const BlockPtr yes, branch("block_0"));
  X2IR_ASSIGN_OR_RETURN(const BlockPtr no, branch("block_1"));
  const Expr test = a.X("pred");
  return a.b().Ops("if", {test.rank() == 0 ? test : Reshape(test, {})},
                   {{"then_branch", yes}, {"else_branch", no}}, a.num_outputs());
}

// The condition is asked before the first round, and after each for the next.
absl::StatusOr<Values> MilWhile(MilArgs& a) {
  const Values first = a.inputs();
  const size_t count = first.size();
  X2IR_ASSIGN_OR_RETURN(const BlockPtr question, BlockOf(a, "block_0", count, 1));
  X2IR_ASSIGN_OR_RETURN(const BlockPtr step, BlockOf(a, "block_1", count, count));
  if (a.num_outputs() != count) return Invalid("not as many results as variables");
  auto body = std::make_shared<Graph>("body");
  Builder b(*body, nullptr);
  body->AddInput("iteration", Type::Tensor(DType::kInt64, Shape()));
  body->AddInput("condition", Type::Tensor(DType::kBool, Shape()));
  Values state;
  for (size_t i = 0; i < count; ++i) {
    state.push_back(body->AddInput(StrCat("variable_", i), step->inputs()[i]->type()));
  }
  const auto asks = [&](Builder& at, const Values& given) {
    return at.Op("reshape", {InlineGraph(at, *question, given)[0], at.Ints({})}, {{"allowzero", 1}});
  };
  const Values next = InlineGraph(b, *step, state);
  Values results = {asks(b, next)};
  results.insert(results.end(), next.begin(), next.end());
  AddBlockResults(b, results);
  X2IR_RETURN_IF_ERROR(b.status());
  std::vector<Value*> operands = {nullptr, asks(a.b(), first)};
  operands.insert(operands.end(), first.begin(), first.end());
  return a.b().Ops("loop", std::move(operands), {{"body", body}}, count);
}

// --- Written ------------------------------------------------------------------------------------

absl::StatusOr<Values> ToCond(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  std::vector<BlockPtr> blocks;
  for (const char* name : {"then_branch", "else_branch"}) {
    blocks.push_back(w.attrs().SubGraph(name).Clone());
  }
  std::vector<Type> types;
  for (size_t i = 0; i < w.node().num_outputs(); ++i) {
    const Value* out = w.node().output(i);
    types.push_back(out ? out->type() : blocks[0]->outputs()[i]->type());
    if (!types.back().is_tensor()) return CannotExpress("results that are no tensors");
  }
  Value* test = rank == 0 ? w.in(0) : w.Reshape(w.in(0), {});
  return w.MilAll("cond", {test}, {{"block_0", blocks[0]}, {"block_1", blocks[1]}},
                  std::vector<bool>(types.size(), true), types);
}

// A loop carries its round's number, whether to go on, and what IR's carries.
absl::StatusOr<Values> ToWhile(MilWriter& w) {
  const Graph& body = w.attrs().SubGraph("body");
  const size_t carried = w.num_inputs() > 2 ? w.num_inputs() - 2 : 0;
  if (body.outputs().size() != 1 + carried) return CannotExpress("what rounds give besides");
  const Type number = Type::Tensor(DType::kInt64, Shape()),
             flag = Type::Tensor(DType::kBool, Shape());
  BlockPtr step = body.Clone();
  step->set_name("body");
  {
    Builder b(*step, nullptr);
    const std::vector<Value*> results = step->outputs();
    step->ClearOutputs();
    step->AddOutput(b.Op("add", {step->inputs()[0], b.Int(1)}));
    for (Value* result : results) step->AddOutput(b.Op("identity", {result}));
    X2IR_RETURN_IF_ERROR(b.status());
    for (Node* node : b.made()) step->NameValues(node, "next");
    step->inputs()[0]->set_type(number);
    step->inputs()[1]->set_type(flag);
  }
  auto question = std::make_shared<Graph>("cond");
  {
    Builder b(*question, nullptr);
    Values inputs;
    for (Value* v : step->inputs()) {
      inputs.push_back(question->AddInput(question->UniqueName(v->name() + "_asked"), v->type()));
    }
    Value* more = inputs[1];
    if (w.has(0)) {
      Value* count = w.in(0);
      Value* scalar = count->shape() && count->shape()->rank() == 0
                          ? count
                          : b.Op("reshape", {count, b.Ints({})}, {{"allowzero", 1}});
      more = b.Op("and", {more, b.Op("less", {inputs[0], scalar})});
    } else {
      more = b.Op("identity", {more});
    }
    question->AddOutput(more);
    X2IR_RETURN_IF_ERROR(b.status());
    for (Node* node : b.made()) question->NameValues(node, "more");
  }
  const auto scalar = [&](Value* v) {
    return v->shape() && v->shape()->rank() == 0 ? v : w.Reshape(v, {});
  };
  std::vector<Value*> operands = {
      w.b().Int(0), w.has(1) ? scalar(w.in(1)) : w.b().Constant(Tensor::Scalar<bool>(true))};
  std::vector<Type> types = {number, flag};
  for (size_t i = 0; i < carried; ++i) {
    operands.push_back(w.in(2 + i));
    const Value* out = w.node().output(i);
    types.push_back(out ? out->type() : step->inputs()[2 + i]->type());
    if (!types.back().is_tensor()) return CannotExpress("what it carries is no tensor");
  }
  const Values made = w.MilAll("while_loop", std::move(operands),
                               {{"block_0", question}, {"block_1", step}},
                               std::vector<bool>(types.size(), true), types);
  return Values(made.begin() + 2, made.end());
}

}  // namespace

X2IR_MIL(if).To("cond", ToCond).From("cond", MilCond);
X2IR_MIL(loop).To("while_loop", ToWhile).From("while_loop", MilWhile);

}  // namespace x2ir
