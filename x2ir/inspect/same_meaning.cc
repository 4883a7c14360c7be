#include "x2ir/inspect/same_meaning.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "x2ir/inspect/verify.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

bool Commutes(const Node& node) {
  const OpDef* def = node.is_ir() ? FindOp(node.op()) : nullptr;
  return def && def->commutes();
}

// The number of axes that `axis` and `axes` of a node count from the end of: those of operand 0, or
// of the result where axes are added. -1 if it is not known.
int64_t RankOfAxes(const Node& node) {
  if (node.Is("concat_from_sequence")) return -1;
  const bool adds = node.Is("one_hot") || node.Is("unsqueeze");
  const Value* value = adds ? node.output(0) : node.num_inputs() > 0 ? node.input(0) : nullptr;
  const Shape* shape = value && value->type().is_tensor() ? value->shape() : nullptr;
  return shape ? shape->rank() : -1;
}

using AxisList = std::vector<int64_t>;

std::optional<AxisList> FromTheFirst(const Node& node, std::optional<AxisList> axes) {
  const int64_t rank = RankOfAxes(node);
  if (!axes || rank < 0) return axes;
  for (int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
  return axes;
}

std::optional<AxisList> IntsOf(const Attribute* attr) {
  if (!attr) return std::nullopt;
  if (const int64_t* one = attr->get<int64_t>()) return AxisList{*one};
  if (const Attribute::Ints* several = attr->get<Attribute::Ints>()) return *several;
  return std::nullopt;
}

std::optional<AxisList> IntsOf(const Value* value) {
  constexpr int64_t kLimit = 64;
  const Tensor* tensor = value ? value->fixed_constant() : nullptr;
  if (!tensor || tensor->is_sparse() || tensor->num_elements() > kLimit) return std::nullopt;
  if (tensor->dtype() != DType::kInt64) return std::nullopt;
  const Tensor aligned = tensor->AlignedCopyIfNeeded();
  return AxisList(aligned.span<int64_t>().begin(), aligned.span<int64_t>().end());
}

bool IsStatic(const Type& type) {
  if (!type.is_tensor() || !type.shape()) return false;
  return std::all_of(type.shape()->begin(), type.shape()->end(),
                     [](const Dim& dim) { return dim.is_static(); });
}

}  // namespace

std::vector<const Value*> OperandsLike(const Node& x, const Node& y, const GraphMatch& match) {
  std::vector<const Value*> left;
  for (const Value* operand : y.inputs()) left.push_back(operand);
  // Each is looked for among all.
  constexpr size_t kLimit = 64;
  if (!Commutes(x) || !Commutes(y) || left.size() > kLimit) return left;
  const auto same = [&](const Value* p, const Value* q) {
    if (!p || !q) return p == q;
    const Tensor *u = p->fixed_constant(), *v = q->fixed_constant();
    if (u && v) return Compare(*v, *u, Tolerance{0, 0}).agrees;
    const auto it = match.values.find(p);
    return it != match.values.end() && it->second == q;
  };
  std::vector<const Value*> ordered(x.num_inputs());
  std::vector<bool> found(x.num_inputs());
  for (size_t i = 0; i < ordered.size(); ++i) {
    const auto it =
        std::find_if(left.begin(), left.end(), [&](const Value* q) { return same(x.input(i), q); });
    if (it == left.end()) continue;
    ordered[i] = *it;
    found[i] = true;
    left.erase(it);
  }
  // Different values are paired by kind: a weight with a weight.
  for (size_t i = 0; i < ordered.size(); ++i) {
    if (found[i]) continue;
    const bool constant = x.input(i) && x.input(i)->fixed_constant();
    auto it = std::find_if(left.begin(), left.end(),
                           [&](const Value* q) { return (q && q->fixed_constant()) == constant; });
    if (it == left.end()) it = left.begin();
    ordered[i] = *it;
    left.erase(it);
  }
  return ordered;
}

bool SameReshape(const Node& x, const Node& y) {
  const auto reshapes = [](const Node& node) {
    const OpDef* op = OpOf(&node);
    return op && op->moves() == MoveUse::kInOrder && node.input(0) && node.output(0);
  };
  return reshapes(x) && reshapes(y) && IsStatic(x.output(0)->type()) &&
         x.output(0)->type() == y.output(0)->type();
}

bool SameAttribute(const Node& x, const Node& y, Symbol name) {
  const Attribute *u = x.attrs().Find(name), *v = y.attrs().Find(name);
  if (!u || !v) return u == v;
  if (*u == *v) return true;
  if (x.Is("gemm") && y.Is("gemm") && (name == "transA" || name == "transB")) {
    const size_t i = name == "transA" ? 0 : 1;
    return x.input(i) && y.input(i) && MovedConstant(*x.input(i)) && MovedConstant(*y.input(i));
  }
  if (!x.is_ir() || !y.is_ir() || (name != Symbol("axis") && name != Symbol("axes"))) return false;
  const std::optional<AxisList> p = FromTheFirst(x, IntsOf(u)), q = FromTheFirst(y, IntsOf(v));
  return p && p == q;
}

bool SameIntegers(const Node& x, const Node& y, size_t i) {
  const OpDef* op = x.is_ir() && y.is_ir() ? FindOp(x.op()) : nullptr;
  const OperandDef* def = op ? op->InputDef(i) : nullptr;
  if (!def) return false;
  std::optional<AxisList> p = IntsOf(x.input(i)), q = IntsOf(y.input(i));
  if (!p || !q) return false;
  if (def->name == "shape" && x.output(0) && y.output(0)) {
    return IsStatic(x.output(0)->type()) && x.output(0)->type() == y.output(0)->type();
  }
  if (def->name != "axis" && def->name != "axes") return false;
  p = FromTheFirst(x, std::move(p));
  q = FromTheFirst(y, std::move(q));
  if (!x.Is("slice") && !x.Is("pad")) {
    std::sort(p->begin(), p->end());
    std::sort(q->begin(), q->end());
  }
  return p == q;
}

std::optional<Tensor> ConstantRead(const Node& node, size_t i, const Value& operand) {
  std::optional<Tensor> tensor = MovedConstant(operand);
  const char* const flag = i == 0 ? "transA" : "transB";
  if (!tensor || !node.Is("gemm") || i > 1 || tensor->rank() != 2 || tensor->is_sparse()) {
    return tensor;
  }
  if (node.attrs().Int(flag, 0) == 0) return tensor;
  return TransposeTensor(tensor->AlignedCopyIfNeeded(), {1, 0});
}

std::optional<Tensor> MovedConstant(const Value& value) {
  constexpr size_t kLimit = 8;
  std::vector<const Node*> moves;
  const Value* at = &value;
  while (!at->fixed_constant()) {
    const Node* node = at->producer();
    const OpDef* op = OpOf(node);
    if (!op || op->moves() < MoveUse::kAll || node->num_outputs() != 1) return std::nullopt;
    if (moves.size() == kLimit || !node->input(0)) return std::nullopt;
    for (size_t i = 1; i < node->num_inputs(); ++i) {
      if (!node->input(i) || !node->input(i)->fixed_constant()) return std::nullopt;
    }
    moves.push_back(node);
    at = node->input(0);
  }
  Tensor tensor = *at->fixed_constant();
  if (tensor.is_sparse() && !moves.empty()) return std::nullopt;
  for (; !moves.empty(); moves.pop_back()) {
    std::vector<Datum> operands = {std::move(tensor)};
    for (size_t i = 1; i < moves.back()->num_inputs(); ++i) {
      operands.emplace_back(*moves.back()->input(i)->fixed_constant());
    }
    const auto results = EvalNode(*moves.back(), std::move(operands), nullptr);
    if (!results.ok() || results->empty() || !(*results)[0].tensor()) return std::nullopt;
    tensor = *(*results)[0].tensor();
  }
  return tensor;
}

}  // namespace x2ir
