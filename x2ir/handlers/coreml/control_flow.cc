// MIL: branches and loops, whose blocks see what is around them, both ways.
#include <memory>

#include "x2ir/builder/nested.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/ops/identities.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

using BlockPtr = std::shared_ptr<Graph>;

// A block has at least that many results; unused ones are no longer results of its node.
absl::StatusOr<BlockPtr> BlockOf(MilArgs& a, Symbol name, size_t inputs, size_t outputs) {
  const BlockPtr block = a.SubGraph(name);
  if (block->inputs().size() != inputs || block->outputs().size() < outputs) {
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
    Values results = InlineGraph(b, *block, {});
    results.resize(a.num_outputs());
    AddResults(b, results);
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
  if (a.num_outputs() > count) return Invalid("more results than variables");
  LoopBody body;
  Values state;
  for (size_t i = 0; i < count; ++i) {
    state.push_back(body.Carry(first[i], StrCat("variable_", i), step->inputs()[i]->type()));
  }
  const auto asks = [&](Builder& at, const Values& given) {
    return at.Op("reshape", {InlineGraph(at, *question, given)[0], at.Ints({})},
                 {{"allowzero", 1}});
  };
  const Values next = InlineGraph(body.b(), *step, state);
  X2IR_ASSIGN_OR_RETURN(Values last,
                        body.Loop(a.b(), nullptr, asks(a.b(), first), asks(body.b(), next), next));
  last.resize(a.num_outputs());
  return last;
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

// Zeros, as large as what all rounds give: the first size is their number.
absl::StatusOr<Value*> StackOf(MilWriter& w, const Type& each) {
  if (!each.is_tensor() || !each.shape()) return CannotExpress("rounds that give unknown shapes");
  const auto sizes = each.shape()->Static();
  if (!sizes) return CannotExpress("rounds that give unknown sizes");
  Value* shape = w.Reshape(w.Cast(w.in(0), DType::kInt64), {1});
  if (!sizes->empty()) shape = w.Op("concat", {shape, w.Ints(*sizes)}, {{"axis", 0}});
  if (each.dtype() == DType::kBool) return CannotExpress("rounds that give bools");
  return w.Op("constant_of_shape", {shape}, {{"value", Tensor::Zeros(each.dtype(), {1})}});
}

// Whether the condition is true at first, and every round hands it on.
bool GoesOn(MilWriter& w, const Graph& body) {
  const auto holds = [](const Value* v) {
    const auto known = v ? KnownTensor(*v) : std::nullopt;
    return known && known->num_elements() == 1 && known->AsInt(0) != 0;
  };
  const Value* next = WithoutIdentities(body.outputs()[0]);
  // Without a condition, what rounds say of it is not heard.
  return !w.has(1) || (holds(w.in(1)) && (next == body.inputs()[1] || holds(next)));
}

// A loop carries its round's number, whether to go on, what IR's carries, and what its rounds give.
absl::StatusOr<Values> ToWhile(MilWriter& w) {
  const Graph& body = w.attrs().SubGraph("body");
  const size_t carried = w.num_inputs() > 2 ? w.num_inputs() - 2 : 0;
  const size_t given = body.outputs().size() - 1 - carried;
  if (given != 0 && (!w.has(0) || !GoesOn(w, body))) {
    return CannotExpress("results of a number of rounds that is not known before");
  }
  std::vector<Value*> stacks;
  for (size_t i = 0; i < given; ++i) {
    X2IR_ASSIGN_OR_RETURN(stacks.emplace_back(),
                          StackOf(w, body.outputs()[1 + carried + i]->type()));
  }
  const Type number = Type::Tensor(DType::kInt64, Shape()),
             flag = Type::Tensor(DType::kBool, Shape());
  BlockPtr step = body.Clone();
  step->set_name("body");
  {
    Builder b(*step, nullptr);
    std::vector<Value*> results = step->outputs();
    if (!w.has(1)) results[0] = step->inputs()[1];
    step->ClearOutputs();
    step->AddOutput(b.Op("add", {step->inputs()[0], b.Int(1)}));
    for (size_t i = 0; i <= carried; ++i) step->AddOutput(b.Op("identity", {results[i]}));
    for (size_t i = 0; i < given; ++i) {
      Value* stack = step->AddInput(step->UniqueName("stack"), stacks[i]->type());
      Value* at = b.Op("reshape", {step->inputs()[0], b.Ints({1, 1})}, {{"allowzero", 1}});
      Value* slice = b.Op("unsqueeze", {results[1 + carried + i], b.Ints({0})});
      step->AddOutput(b.Op("scatter_nd", {stack, at, slice}));
    }
    X2IR_RETURN_IF_ERROR(NameMade(b, "next"));
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
    X2IR_RETURN_IF_ERROR(NameMade(b, "more"));
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
  for (Value* stack : stacks) {
    operands.push_back(stack);
    types.push_back(stack->type());
  }
  const Values made =
      w.MilAll("while_loop", std::move(operands), {{"block_0", question}, {"block_1", step}},
               std::vector<bool>(types.size(), true), types);
  return Values(made.begin() + 2, made.end());
}

}  // namespace

X2IR_MIL(if).To("cond", ToCond).From("cond", MilCond);
X2IR_MIL(loop).To("while_loop", ToWhile).From("while_loop", MilWhile);

}  // namespace x2ir
