// layout: every op that has a layout gets that of the target, for the pass `transposes` to take the
// transposes away.
//  1. An op of the other layout becomes one of the wanted layout between transposes. Weights have
//     one order in both.
//  2. Without axes of places there is no layout: the attribute alone changes.
// Nothing is done if no layout is requested (PassContext::layout), and where the rank is not known.
#include "x2ir/optimizer/layout.h"

#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(layout, "Convolutions, pools and norms get the layout that is wanted.");

constexpr std::string_view kFirst = "channels_first", kLast = "channels_last";

std::vector<int64_t> Order(int64_t rank, bool to_last) {
  std::vector<int64_t> perm = {0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(to_last ? i : i - 1);
  perm.insert(to_last ? perm.end() : perm.begin() + 1, to_last ? 1 : rank - 1);
  return perm;
}

int64_t RankOfResult(const Node& node) {
  for (const Value* value : {node.input(0), node.output(0)}) {
    if (value && value->shape()) return value->shape()->rank();
  }
  return -1;
}

absl::StatusOr<bool> ChangeLayout(Rewriter& r) {
  const std::string_view layout = r.context().layout;
  if (layout.empty() || !HasOtherLayout(r.node(), layout)) return false;
  auto results = InLayout(r.b(), r.node(), layout);
  return results.ok() && r.b().status().ok() && r.Replace(*results);
}
bool HasLayout(const OpDef& op) { return op.FindAttr("layout") != nullptr; }
X2IR_RULE_OF_OPS(layout, HasLayout, ChangeLayout);

// As a lowering, where no pass has run: a target that has channels last too never needs it.
absl::StatusOr<Values> ChannelsLastAsFirst(Rewrite& r) {
  if (!HasOtherLayout(r.node, kFirst)) return NothingToDo();
  return InLayout(r.b, r.node, kFirst);
}
X2IR_LOWERING_OF_OPS(HasLayout, ChannelsLastAsFirst);

}  // namespace

bool HasOtherLayout(const Node& node, std::string_view layout) {
  if (!node.is_ir() || !node.attrs().Has("layout")) return false;
  const std::string own = node.attrs().String("layout");
  return own != layout && (own == kFirst || own == kLast);
}

absl::StatusOr<Values> InLayout(Builder& b, const Node& node, std::string_view layout) {
  const int64_t rank = RankOfResult(node);
  if (rank < 0) return CannotExpress(node.op().str(), " in another layout, of an unknown rank");
  const bool last = layout == kLast;
  const auto transpose = [&](Value* value, bool to_last) {
    return rank < 3 ? value : b.Op("transpose", {value}, {{"perm", Order(rank, to_last)}});
  };
  std::vector<Value*> operands = node.inputs();
  operands[0] = transpose(operands[0], last);
  AttributeMap attrs = node.attrs();
  attrs.Set("layout", std::string(layout));
  std::vector<bool> wanted;
  for (const Value* output : node.outputs()) wanted.push_back(output != nullptr);
  Values results = b.Ops(node.op(), operands, std::move(attrs), wanted);
  // The indices of a max_pool are at the positions of the maxima; their values do not change. Other
  // second results are statistics.
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] && (i == 0 || node.Is("max_pool"))) results[i] = transpose(results[i], !last);
  }
  return results;
}

}  // namespace x2ir
