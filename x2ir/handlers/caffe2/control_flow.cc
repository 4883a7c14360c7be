// Caffe2: branches and loops, whose nets are nested graphs that see the blobs around them.
#include <memory>

#include "x2ir/builder/nested.h"
#include "x2ir/handlers/caffe2/caffe2.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

// A condition has one element.
Value* ConditionOf(Builder& b, Value* value) {
  const Expr flat = Expr(b, value).Op("reshape", {b.Ints({})}, {{"allowzero", 1}});
  return flat.dtype() == DType::kBool ? flat : flat.To(DType::kBool);
}

absl::StatusOr<Values> Branches(Caffe2Args& a) {
  std::shared_ptr<Graph> branches[2];
  static constexpr const char* kNets[] = {"then_net", "else_net"};
  for (size_t i = 0; i < 2; ++i) {
    const std::shared_ptr<Graph> net = a.SubGraph(kNets[i]);
    branches[i] = std::make_shared<Graph>(net->name());
    Builder b(*branches[i], nullptr);
    AddResults(b, InlineGraph(b, *net, {}));
    X2IR_RETURN_IF_ERROR(b.status());
  }
  return a.b().Ops("if", {ConditionOf(a, a.in(0))},
                   {{"then_branch", branches[0]}, {"else_branch", branches[1]}}, a.num_outputs());
}

// The net gives the condition of the next round, and what is carried.
absl::StatusOr<Values> Loop(Caffe2Args& a) {
  const std::shared_ptr<Graph> net = a.SubGraph("loop_net");
  const std::vector<Value*> first = a.inputs(1);
  LoopBody body;
  Values state;
  for (size_t i = 0; i < first.size(); ++i)
    state.push_back(body.Carry(first[i], StrCat("blob_", i)));
  const Values next = InlineGraph(body.b(), *net, state);
  if (next.size() != first.size() + 1 || a.num_outputs() != first.size()) {
    return Invalid("a net that carries other blobs");
  }
  return body.Loop(a.b(), nullptr, ConditionOf(a, a.in(0)), ConditionOf(body.b(), next[0]),
                   Values(next.begin() + 1, next.end()));
}

}  // namespace

X2IR_CAFFE2(if).From("If", Branches);
X2IR_CAFFE2(loop).From("While", Loop);

}  // namespace x2ir
