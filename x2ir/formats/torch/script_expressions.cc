#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "x2ir/formats/torch/script_expressions_internal.h"

namespace x2ir::torch_script {

// --- Nodes ----------------------------------------------------------------------------------

ScriptExpressions::Node ScriptExpressions::Make(Expr::Kind kind, uint32_t offset,
                                                std::string_view text,
                                                std::initializer_list<Node> args) {
  const size_t base = stack_.size();
  stack_.insert(stack_.end(), args);
  const Node node = MakeOfStack(kind, offset, base);
  node.expr->text = text;
  return node;
}

ScriptExpressions::Node ScriptExpressions::MakeOfStack(Expr::Kind kind, uint32_t offset,
                                                       size_t base) {
  Node node{&file_.exprs.emplace_back()};
  node.expr->kind = kind;
  node.expr->offset = offset;
  node.expr->args.reserve(stack_.size() - base);
  for (size_t i = base; i < stack_.size(); ++i) {
    node.expr->args.push_back(stack_[i].expr);
    node.height = std::max(node.height, stack_[i].height);
  }
  stack_.resize(base);
  if (++node.height > kMaxNesting) FailNesting(offset);
  return node;
}

ScriptExpressions::Node ScriptExpressions::Leaf(Expr::Kind kind) {
  Node node{&file_.exprs.emplace_back(), 1};
  node.expr->kind = kind;
  node.expr->offset = token_.offset;
  return node;
}

// --- Operators ------------------------------------------------------------------------------

ScriptExpressions::Precedence ScriptExpressions::PrecedenceHere() const {
  switch (token_.kind) {
    case kOr: return kOrPrecedence;
    case kAnd: return kAndPrecedence;
    case kCompare:
    case kIn:
    case kIs:
    case kNot: return kComparePrecedence;
    case kPipe: return kPipePrecedence;
    case kCaret: return kCaretPrecedence;
    case kAmpersand: return kAmpersandPrecedence;
    case kShift: return kShiftPrecedence;
    case kSign: return kSignPrecedence;
    case kStar:
    case kTimes:
    case kAt: return kTimesPrecedence;
    default: return kNoPrecedence;
  }
}

// The operator here, which is left behind.
std::string_view ScriptExpressions::Operator(Precedence precedence) {
  const std::string_view text = token_.text;
  const Kind kind = token_.kind;
  Next();
  if (precedence != kComparePrecedence) return text;
  if (kind == kIs && Take(kNot)) return "is not";
  if (kind == kNot) {
    Expect(kIn, "'in' after 'not'");
    return "not in";
  }
  return text;
}

// a if b else c, and all that binds more.
ScriptExpressions::Node ScriptExpressions::Expression() {
  const uint32_t offset = token_.offset;
  const Node value = Binary(kOrPrecedence);
  if (!Take(kIf)) return value;
  const Nesting nesting(this);
  const Node condition = Binary(kOrPrecedence);
  Expect(kElse, "'else' of a conditional expression");
  const Node otherwise = Expression();
  return Make(Expr::kConditional, offset, {}, {value, condition, otherwise});
}

// Operators that bind at least as `least`, a Precedence.
ScriptExpressions::Node ScriptExpressions::Binary(uint8_t least) {
  const uint32_t offset = token_.offset;
  Node left;
  if (Is(kNot)) {
    const Nesting nesting(this);
    Next();
    left = Make(Expr::kUnary, offset, "not", {Binary(kComparePrecedence)});
  } else {
    left = Unary();
  }
  while (true) {
    const Precedence precedence = PrecedenceHere();
    if (precedence == kNoPrecedence || precedence < least) return left;
    if (precedence == kComparePrecedence) {
      left = Comparisons(left);
      continue;
    }
    const std::string_view text = Operator(precedence);
    const Node right = Binary(precedence + 1);
    left = Make(Expr::kBinary, offset, text, {left, right});
  }
}

// a < b < c is (a < b) and (b < c).
ScriptExpressions::Node ScriptExpressions::Comparisons(Node left) {
  const uint32_t offset = left.expr ? left.expr->offset : 0;
  Node all;
  while (PrecedenceHere() == kComparePrecedence) {
    const std::string_view text = Operator(kComparePrecedence);
    const Node right = Binary(kComparePrecedence + 1);
    const Node one = Make(Expr::kBinary, offset, text, {left, right});
    all = all.expr ? Make(Expr::kBinary, offset, "and", {all, one}) : one;
    left = right;
  }
  return all;
}

ScriptExpressions::Node ScriptExpressions::Unary() {
  const uint32_t offset = token_.offset;
  if (Is(kSign) || Is(kTilde)) {
    const Nesting nesting(this);
    const std::string_view text = token_.text;
    Next();
    const bool minus = text == "-";
    if (minus) minus_operand_ = token_.offset;
    const Node operand = Unary();
    if (failed()) return operand;
    Expr& expr = *operand.expr;
    if (minus && expr.kind == Expr::kInt) {
      expr.number = static_cast<int64_t>(-static_cast<uint64_t>(expr.number));
    } else if (minus && (expr.kind == Expr::kFloat || expr.kind == Expr::kImaginary)) {
      expr.real = -expr.real;
    } else {
      return Make(Expr::kUnary, offset, text, {operand});
    }
    expr.offset = offset;
    return operand;
  }
  const Node base = Postfix();
  if (!Is(kPower)) return base;
  const Nesting nesting(this);
  const std::string_view text = token_.text;
  Next();
  return Make(Expr::kBinary, offset, text, {base, Unary()});
}

// --- What operators stand between -----------------------------------------------------------

ScriptExpressions::Node ScriptExpressions::Postfix() {
  // All that is in brackets is read from here.
  const Nesting nesting(this);
  const uint32_t offset = token_.offset;
  Node node = Primary();
  while (true) {
    if (Is(kOpen)) {
      node = Call(node, offset);
    } else if (Is(kOpenSquare)) {
      node = Subscript(node, offset);
    } else if (Take(kDot)) {
      // Any word may be an attribute.
      const std::string_view name = token_.text;
      if (!Is(kWord) && (name.empty() || Is(kText) || (name[0] | 0x20) < 'a')) {
        Expected("the name of an attribute after '.'");
      }
      Next();
      node = Make(Expr::kAttribute, offset, name, {node});
    } else {
      return node;
    }
  }
}

ScriptExpressions::Node ScriptExpressions::Primary() {
  Node node;
  switch (token_.kind) {
    case kWord:
      node = Leaf(Expr::kName);
      node.expr->text = token_.text;
      break;
    case kInteger: return Integer();
    case kReal:
    case kImaginary:
      node = Leaf(Is(kReal) ? Expr::kFloat : Expr::kImaginary);
      node.expr->real = token_.real;
      break;
    case kText: return Text();
    case kTrue: node = Leaf(Expr::kTrue); break;
    case kFalse: node = Leaf(Expr::kFalse); break;
    case kNone: node = Leaf(Expr::kNone); break;
    case kDots: node = Leaf(Expr::kEllipsis); break;
    case kOpen: return Parenthesized();
    case kOpenSquare: return ListOrComprehension();
    case kOpenBrace: return Dict();
    default: Expected("an expression"); return node;
  }
  Next();
  return node;
}

ScriptExpressions::Node ScriptExpressions::Integer() {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  const Node node = Leaf(Expr::kInt);
  // One more is a number only with its sign.
  if (token_.integer > kMax && (minus_operand_ == 0 || minus_operand_ != token_.offset)) {
    Fail(token_.offset, "an integer that 64 bits do not hold");
  }
  node.expr->number = static_cast<int64_t>(token_.integer);
  Next();
  return node;
}

// Texts side by side are one.
ScriptExpressions::Node ScriptExpressions::Text() {
  const Node node = Leaf(Expr::kString);
  node.expr->text = token_.text;
  Next();
  if (!Is(kText)) return node;
  std::string& all = file_.strings.emplace_back(node.expr->text);
  while (Is(kText)) {
    all += token_.text;
    Next();
  }
  node.expr->text = all;
  return node;
}

// (a), (a, b), (), and (a for b in c), which is a list here.
ScriptExpressions::Node ScriptExpressions::Parenthesized() {
  const uint32_t offset = token_.offset;
  Next();
  if (Take(kClose)) return MakeOfStack(Expr::kTuple, offset, stack_.size());
  Node node = Element();
  if (Is(kFor)) {
    node = Comprehension(Expr::kListOf, offset, {node});
  } else {
    node = ElementsFrom(node, offset);
  }
  Expect(kClose, "')'");
  return node;
}

ScriptExpressions::Node ScriptExpressions::ListOrComprehension() {
  const uint32_t offset = token_.offset;
  const size_t base = stack_.size();
  Next();
  while (!Is(kCloseSquare) && !failed()) {
    const Node node = Element();
    if (Is(kFor) && stack_.size() == base) {
      const Node list = Comprehension(Expr::kListOf, offset, {node});
      Expect(kCloseSquare, "']' after a comprehension");
      return list;
    }
    stack_.push_back(node);
    if (!Take(kComma)) break;
  }
  Expect(kCloseSquare, "',' or ']' in a list");
  return MakeOfStack(Expr::kList, offset, base);
}

ScriptExpressions::Node ScriptExpressions::Dict() {
  const uint32_t offset = token_.offset;
  const size_t base = stack_.size();
  Next();
  while (!Is(kCloseBrace) && !failed()) {
    const Node key = Expression();
    Expect(kColon, "':' after a key");
    const Node value = Expression();
    if (Is(kFor) && stack_.size() == base) {
      const Node dict = Comprehension(Expr::kDictOf, offset, {key, value});
      Expect(kCloseBrace, "'}' after a comprehension");
      return dict;
    }
    stack_.push_back(key);
    stack_.push_back(value);
    if (!Take(kComma)) break;
  }
  Expect(kCloseBrace, "',' or '}' in a dict");
  return MakeOfStack(Expr::kDict, offset, base);
}

// for a in b if c, after its element.
ScriptExpressions::Node ScriptExpressions::Comprehension(Expr::Kind kind, uint32_t offset,
                                                         std::initializer_list<Node> element) {
  const size_t base = stack_.size();
  stack_.insert(stack_.end(), element);
  Next();
  stack_.push_back(TargetElements());
  Expect(kIn, "'in' of a comprehension");
  stack_.push_back(Binary(kOrPrecedence));
  stack_.push_back(Take(kIf) ? Binary(kOrPrecedence) : Node());
  if (Is(kFor) || Is(kIf)) {
    Fail(token_.offset, "comprehensions with more than one 'for' and 'if' are not read");
  }
  return MakeOfStack(kind, offset, base);
}

ScriptExpressions::Node ScriptExpressions::Call(Node callee, uint32_t offset) {
  const size_t base = stack_.size();
  stack_.push_back(callee);
  // Those with names come last, in whatever order they are written.
  std::vector<std::pair<std::string_view, Node>> named;
  Next();
  while (!Is(kClose) && !failed()) {
    if (Is(kPower)) Fail(token_.offset, "arguments of a dict (**) are not read");
    const uint32_t start = token_.offset;
    const bool word = Is(kWord);
    Node node = Element();
    if (Is(kFor)) node = Comprehension(Expr::kListOf, start, {node});
    if (word && Is(kAssign) && node.expr->kind == Expr::kName) {
      Next();
      named.emplace_back(node.expr->text, Expression());
    } else {
      stack_.push_back(node);
    }
    if (!Take(kComma)) break;
  }
  Expect(kClose, "',' or ')' in a call");
  for (const auto& [name, node] : named) stack_.push_back(node);
  const Node node = MakeOfStack(Expr::kCall, offset, base);
  node.expr->keywords.reserve(named.size());
  for (const auto& [name, argument] : named) node.expr->keywords.push_back(name);
  return node;
}

// x[a], x[a, b], and x[], which is Tuple[()] of old files.
ScriptExpressions::Node ScriptExpressions::Subscript(Node value, uint32_t offset) {
  const size_t base = stack_.size();
  Next();
  const uint32_t start = token_.offset;
  while (!Is(kCloseSquare) && !failed()) {
    stack_.push_back(SubscriptElement());
    if (!Take(kComma)) break;
  }
  Expect(kCloseSquare, "',' or ']' in an index");
  Node index;
  if (stack_.size() == base + 1) {
    index = stack_.back();
    stack_.pop_back();
  } else {
    index = MakeOfStack(Expr::kTuple, start, base);
  }
  return Make(Expr::kIndex, offset, {}, {value, index});
}

ScriptExpressions::Node ScriptExpressions::SubscriptElement() {
  const uint32_t offset = token_.offset;
  Node parts[3];
  if (!Is(kColon)) {
    parts[0] = Element();
    if (!Is(kColon)) return parts[0];
  }
  for (size_t i = 1; i < 3 && Take(kColon); ++i) {
    if (!Is(kColon) && !Is(kComma) && !Is(kCloseSquare)) parts[i] = Expression();
  }
  return Make(Expr::kSlice, offset, {}, {parts[0], parts[1], parts[2]});
}

// An expression, or one with a star.
ScriptExpressions::Node ScriptExpressions::Element() {
  if (!Is(kStar)) return Expression();
  const uint32_t offset = token_.offset;
  Next();
  return Make(Expr::kStarred, offset, {}, {Binary(kPipePrecedence)});
}

// a, or a tuple where there are commas.
ScriptExpressions::Node ScriptExpressions::ElementsFrom(Node first, uint32_t offset) {
  if (!Is(kComma)) return first;
  const size_t base = stack_.size();
  stack_.push_back(first);
  while (Take(kComma)) {
    if (Is(kAssign) || Is(kAugmented) || Is(kNewline) || Is(kColon) || Is(kClose) || Is(kEnd)) {
      break;
    }
    stack_.push_back(Element());
  }
  return MakeOfStack(Expr::kTuple, offset, base);
}

ScriptExpressions::Node ScriptExpressions::Elements() {
  const uint32_t offset = token_.offset;
  return ElementsFrom(Element(), offset);
}

// What a `for` assigns, before its "in".
ScriptExpressions::Node ScriptExpressions::TargetElements() {
  const uint32_t offset = token_.offset;
  const size_t base = stack_.size();
  bool tuple = false;
  while (!Is(kIn) && !failed()) {
    const uint32_t start = token_.offset;
    const bool star = Take(kStar);
    Node node = Binary(kPipePrecedence);
    if (star) node = Make(Expr::kStarred, start, {}, {node});
    CheckTarget(node.expr);
    stack_.push_back(node);
    if (!Take(kComma)) break;
    tuple = true;
  }
  if (stack_.size() == base) Expected("a variable after 'for'");
  if (tuple || stack_.size() == base) return MakeOfStack(Expr::kTuple, offset, base);
  const Node node = stack_.back();
  stack_.pop_back();
  return node;
}

bool ScriptExpressions::CheckTarget(const Expr* target) {
  if (failed()) return false;
  switch (target->kind) {
    case Expr::kName:
    case Expr::kAttribute:
    case Expr::kIndex: return true;
    case Expr::kTuple:
    case Expr::kList:
    case Expr::kStarred:
      for (const Expr* element : target->args) {
        if (!CheckTarget(element)) return false;
      }
      return true;
    default:
      Fail(target->offset,
           "expected something to assign to: a variable, an attribute, an element, or a tuple of "
           "these");
      return false;
  }
}

std::string_view ScriptExpressions::Name(std::string_view what) {
  const std::string_view name = token_.text;
  Expect(kWord, what);
  return name;
}

}  // namespace x2ir::torch_script
