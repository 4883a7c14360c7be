#include "x2ir/optimizer/match.h"

#include <cmath>

#include "x2ir/ops/eval_util.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

// No pattern has more factors, and looking at a node must stay cheap.
constexpr size_t kMaxFactors = 6;
constexpr int kMaxDepth = 6;

// The distance from 1 to the next number of the type.
double Epsilon(DType type) {
  switch (type) {
    case DType::kFloat64: return std::ldexp(1.0, -52);
    case DType::kFloat32: return std::ldexp(1.0, -23);
    case DType::kFloat16: return std::ldexp(1.0, -10);
    case DType::kBFloat16: return std::ldexp(1.0, -7);
    default: return 0;
  }
}

}  // namespace

const Tensor* DenseConstant(const Value* value) {
  const Tensor* tensor = value ? value->fixed_constant() : nullptr;
  return tensor && !tensor->is_sparse() ? tensor : nullptr;
}

bool IsFilledWith(const Value* value, double number) {
  const Tensor* tensor = DenseConstant(value);
  if (!tensor || !IsFloating(tensor->dtype())) return false;
  const Numbers<double> elements(*tensor);
  for (double element : elements.span()) {
    if (element != number) return false;
  }
  return true;
}

bool IsRounded(double got, double want, DType type) {
  return std::abs(got - want) <= 2 * Epsilon(type) * std::abs(want);
}

bool SameShape(const Value* a, const Value* b) {
  return a == b || SameShape(a->shape(), b->shape());
}

bool IsMatrix(const Value* value) { return value->shape() && value->shape()->rank() == 2; }

Node* Pattern::By(const Value* value, std::string_view op) const {
  Node* node = value ? value->producer() : nullptr;
  return node && node->is_ir() && node->graph() == graph_ && node->op().view() == op ? node
                                                                                     : nullptr;
}

Node* Pattern::By(const Value* value, OpTest which) const {
  Node* node = value ? value->producer() : nullptr;
  const OpDef* op = OpOf(node);
  return op && node->graph() == graph_ && which(*op) ? node : nullptr;
}

Node* Pattern::OnlyBy(const Value* value, std::string_view op) const {
  Node* node = By(value, op);
  return node && Rewriter::UsedOnce(value) ? node : nullptr;
}

std::optional<double> Pattern::Number(const Value* value, const Value* beside) {
  const Tensor* tensor = DenseConstant(value);
  if (!tensor || !IsFloating(tensor->dtype()) || tensor->num_elements() != 1) return std::nullopt;
  const Shape* shape = beside ? beside->shape() : nullptr;
  if (tensor->rank() > (shape ? shape->rank() : 0)) return std::nullopt;
  const double number = tensor->AsDouble(0);
  return std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
}

std::optional<Pattern::WithNumber> Pattern::NumberOperand(const Node& node) {
  if (node.num_inputs() != 2) return std::nullopt;
  for (size_t i : {1, 0}) {
    if (const auto number = Number(node.input(i), node.input(1 - i))) {
      return WithNumber{*number, node.input(1 - i), i == 0};
    }
  }
  return std::nullopt;
}

bool Pattern::CollectNode(const Node& node, int depth, Term& product) const {
  const std::string_view op = node.op().view();
  if (op == "neg") {
    product.number = -product.number;
    return Collect(node.input(0), depth + 1, product);
  }
  const auto with = NumberOperand(node);
  if (op == "mul" && with) {
    product.number *= with->number;
    return Collect(with->other, depth + 1, product);
  }
  if (op == "mul") {
    return Collect(node.input(0), depth + 1, product) && Collect(node.input(1), depth + 1, product);
  }
  if (!with || with->first) return false;
  if (op == "div") {
    product.number /= with->number;
    return Collect(with->other, depth + 1, product);
  }
  if (op != "pow" || (with->number != 2 && with->number != 3)) return false;
  product.factors.insert(product.factors.end(), static_cast<size_t>(with->number), with->other);
  return true;
}

bool Pattern::Collect(Value* value, int depth, Term& product) const {
  if (product.factors.size() > kMaxFactors) return false;
  const Node* node = nullptr;
  for (std::string_view op : {"mul", "div", "pow", "neg"}) {
    if (!node && depth < kMaxDepth) node = OnlyBy(value, op);
  }
  const size_t before = product.factors.size();
  if (node && CollectNode(*node, depth, product)) return true;
  if (product.factors.size() != before) return false;  // it was a product, but a large one
  product.factors.push_back(value);
  return true;
}

std::optional<Term> Pattern::TermOf(const Node& root) const {
  Term term;
  if (!CollectNode(root, 0, term) || term.factors.size() > kMaxFactors) return std::nullopt;
  return term;
}

std::optional<Term> Pattern::TermOf(Value* value) const {
  Term term;
  if (!Collect(value, 0, term)) return std::nullopt;
  return term;
}

std::optional<ShiftedTerm> Pattern::ShiftedTermOf(Value* value) const {
  ShiftedTerm result;
  Value* rest = value;
  if (const Node* add = OnlyBy(value, "add")) {
    if (const auto with = NumberOperand(*add)) {
      result.constant = with->number;
      rest = with->other;
    }
  } else if (const Node* sub = OnlyBy(value, "sub")) {
    if (const auto with = NumberOperand(*sub); with && !with->first) {
      result.constant = -with->number;
      rest = with->other;
    }
  }
  auto product = TermOf(rest);
  if (!product) return std::nullopt;
  result.term = *std::move(product);
  return result;
}

}  // namespace x2ir
