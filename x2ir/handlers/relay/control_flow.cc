// Relay: branches and loops, as the reader makes them of functions (formats/relay/graph_maker.h).
#include <memory>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/relay/relay.h"
#include "x2ir/ops/identities.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"

namespace x2ir {
namespace {

// Whether nothing but the number of rounds ends the loop.
bool OnlyCounts(const RelayWriter& w, const Graph& body) {
  const auto is_true = [](const Value* v) {
    const Tensor* tensor = v ? v->fixed_constant() : nullptr;
    return tensor && tensor->num_elements() == 1 && tensor->AsInt(0) != 0;
  };
  if (w.in(1) && !is_true(w.in(1))) return false;
  const Value* goes_on = WithoutIdentities(body.outputs()[0]);
  return goes_on == body.inputs()[1] || is_true(goes_on);
}

// What rounds give is put into tensors that are as large from the start, which the loop carries:
// a tensor that grows has no type in Relay.
absl::StatusOr<Values> WithStacks(RelayWriter& w, size_t carried) {
  const Graph& body = w.attrs().SubGraph("body");
  if (!w.in(0) || !OnlyCounts(w, body)) {
    return CannotExpress("results of a number of rounds that is not known before");
  }
  auto round = std::shared_ptr<Graph>(body.Clone());
  Builder b(*round, nullptr);
  std::vector<Value*> operands;
  for (size_t i = 0; i < w.num_inputs(); ++i) operands.push_back(w.in(i));
  const std::vector<Value*> results = round->outputs();
  round->ClearOutputs();
  for (size_t i = 0; i <= carried; ++i) round->AddOutput(results[i]);
  const Expr count = Reshape(Expr(w, w.in(0)).To(DType::kInt64), {1});
  const auto rounds = KnownTensor(*w.in(0));
  for (size_t i = carried + 1; i < results.size(); ++i) {
    const Type& each = results[i]->type();
    const auto dims = each.shape() ? each.shape()->Static() : std::nullopt;
    if (!dims) return CannotExpress("rounds that give unknown sizes");
    std::vector<Dim> sizes = {rounds ? Dim(rounds->AsInt(0)) : Dim()};
    sizes.insert(sizes.end(), dims->begin(), dims->end());
    Value* shape = dims->empty() ? count.value() : Concat(w, {count, w.Ints(*dims)}, 0).value();
    operands.push_back(
        w.Op("constant_of_shape", {shape}, {{"value", Tensor::Zeros(each.dtype(), {1})}}));
    const Expr stack(b, round->AddInput(round->UniqueName("stack"),
                                        Type::Tensor(each.dtype(), Shape(std::move(sizes)))));
    const Expr number(b, round->inputs()[0]);
    const Expr row = Unsqueeze(Expr(b, results[i]), {0});
    round->AddOutput(ScatterNd(stack, Reshape(number, {1, 1}), row, "none"));
  }
  X2IR_RETURN_IF_ERROR(NameMade(b, "stacked", round->outputs()));
  return w.b().Ops("loop", std::move(operands), {{"body", std::move(round)}}, w.num_outputs());
}

absl::StatusOr<Values> ToLoopNode(RelayWriter& w) {
  const size_t carried = w.num_inputs() < 2 ? 0 : w.num_inputs() - 2;
  if (w.num_outputs() > carried) return WithStacks(w, carried);
  if (carried == 0) return CannotExpress("a loop that carries nothing");
  const Attribute* body = w.attrs().Find("body");
  std::vector<Value*> operands;
  for (size_t i = 0; i < w.num_inputs(); ++i) operands.push_back(w.in(i));
  return w.CallAll("loop", std::move(operands), {{"body", *body}}, w.num_outputs());
}

}  // namespace

X2IR_RELAY(if).Is("if", Same("then_branch"), Same("else_branch"));
X2IR_RELAY(loop).From("loop", Same("body")).To("loop", ToLoopNode);

}  // namespace x2ir
