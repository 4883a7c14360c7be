#include <algorithm>
#include <array>
#include <cctype>

#include "x2ir/formats/nnef/syntax.h"
#include "x2ir/formats/text_cursor_internal.h"

namespace x2ir {
namespace nnef {
namespace {

constexpr int kMaxDepth = 200;
constexpr std::string_view kKeywords[] = {
    "version", "extension", "graph",    "fragment",  "tensor",   "integer", "scalar",
    "logical", "string",    "true",     "false",     "for",      "in",      "if",
    "else",    "yield",     "shape_of", "length_of", "range_of", "inf",     "nan"};
// Binary operators by how tightly they bind.
using Operators = std::vector<std::string_view>;
const std::array<Operators, 6>& Levels() {
  static const auto& levels = *new std::array<Operators, 6>{
      Operators{"&&", "||"}, Operators{"<=", ">=", "==", "!=", "<", ">"},
      Operators{"in"},       Operators{"+", "-"},
      Operators{"*", "/"},   Operators{"^"}};
  return levels;
}

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || (c >= '0' && c <= '9'); }

class NnefParser : TextCursor {
 public:
  explicit NnefParser(std::string_view text) : TextCursor(text, '#') {}

  absl::StatusOr<Document> ReadDocument() {
    Document document;
    X2IR_RETURN_IF_ERROR(ExpectWord("version"));
    SkipSpace();
    const size_t end = std::min(text_.find(';', pos_), text_.size());
    document.version = std::string(text_.substr(pos_, end - pos_));
    pos_ = end;
    X2IR_RETURN_IF_ERROR(Expect(';'));
    while (TakeWord("extension")) {
      SkipSpace();
      const size_t stop = std::min(text_.find(';', pos_), text_.size());
      document.extensions.emplace_back(text_.substr(pos_, stop - pos_));
      pos_ = stop;
      X2IR_RETURN_IF_ERROR(Expect(';'));
    }
    X2IR_RETURN_IF_ERROR(ReadFragments(&document.fragments));
    X2IR_RETURN_IF_ERROR(ExpectWord("graph"));
    X2IR_RETURN_IF_ERROR(ReadGraph(&document.graph));
    if (Peek() != '\0') return Fail("text after the graph");
    return document;
  }

  absl::Status ReadFragments(std::vector<Fragment>* fragments) {
    while (TakeWord("fragment")) {
      Fragment fragment;
      X2IR_ASSIGN_OR_RETURN(fragment.name, Name());
      if (Take('<')) {
        X2IR_RETURN_IF_ERROR(Expect('?'));
        if (Take('=')) {
          X2IR_ASSIGN_OR_RETURN(fragment.default_type, Name());
        }
        X2IR_RETURN_IF_ERROR(Expect('>'));
      }
      X2IR_RETURN_IF_ERROR(ReadParameters(&fragment.params));
      X2IR_RETURN_IF_ERROR(Expect('-'));
      X2IR_RETURN_IF_ERROR(Expect('>'));
      X2IR_RETURN_IF_ERROR(ReadParameters(&fragment.results));
      fragment.has_body = Peek() == '{';
      if (fragment.has_body) {
        X2IR_RETURN_IF_ERROR(ReadBody(&fragment.body));
      } else {
        X2IR_RETURN_IF_ERROR(Expect(';'));
      }
      fragments->push_back(std::move(fragment));
    }
    return absl::OkStatus();
  }
  bool AtEnd() { return Peek() == '\0' && pos_ >= text_.size(); }
  absl::Status NoMore() { return Fail("expected a fragment"); }

  absl::StatusOr<std::vector<std::pair<std::string, SyntaxPtr>>> ReadQuantizations() {
    std::vector<std::pair<std::string, SyntaxPtr>> entries;
    while (!AtEnd()) {
      const char quote = Peek();
      if (quote != '"' && quote != '\'') return Fail("expected the name of a tensor in quotes");
      X2IR_ASSIGN_OR_RETURN(std::string name, Quoted());
      X2IR_RETURN_IF_ERROR(Expect(':'));
      X2IR_ASSIGN_OR_RETURN(SyntaxPtr value, Expression());
      if (value->kind != ExprKind::kCall) return Fail("expected a quantization");
      X2IR_RETURN_IF_ERROR(Expect(';'));
      entries.emplace_back(std::move(name), std::move(value));
    }
    return entries;
  }

 private:
  using ExprOr = absl::StatusOr<SyntaxPtr>;

  // --- Words -------------------------------------------------------------------------------------

  bool Looks(std::string_view word) {
    SkipSpace();
    return text_.substr(pos_).starts_with(word);
  }
  bool TakeWord(std::string_view word) {
    if (!Looks(word)) return false;
    const size_t end = pos_ + word.size();
    if (end < text_.size() && IsNamePart(text_[end])) return false;
    pos_ = end;
    return true;
  }
  absl::Status ExpectWord(std::string_view word) {
    return TakeWord(word) ? absl::OkStatus() : Fail(StrCat("expected '", word, "'"));
  }
  bool LooksName() {
    SkipSpace();
    if (pos_ >= text_.size()) return false;
    return IsNameStart(text_[pos_]);
  }
  absl::StatusOr<std::string> Name() {
    if (!LooksName()) return Fail("expected a name");
    if (text_[pos_] == 'i' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '"') {
      ++pos_;
      return Quoted();
    }
    const size_t begin = pos_;
    while (pos_ < text_.size() && IsNamePart(text_[pos_])) ++pos_;
    return std::string(text_.substr(begin, pos_ - begin));
  }
  absl::StatusOr<std::string> Quoted() {
    const char quote = text_[pos_++];
    std::string value;
    for (; pos_ < text_.size() && text_[pos_] != quote; ++pos_) {
      const bool escaped = text_[pos_] == '\\' && pos_ + 1 < text_.size() &&
                           (text_[pos_ + 1] == quote || text_[pos_ + 1] == '\\');
      if (escaped) ++pos_;
      value += text_[pos_];
    }
    if (pos_ >= text_.size()) return Fail("a text that does not end");
    ++pos_;
    return value;
  }
  SyntaxPtr Make(ExprKind kind, std::string text = "") const {
    auto expr = std::make_unique<SyntaxExpr>();
    expr->kind = kind;
    expr->place = pos_;
    expr->text = std::move(text);
    return expr;
  }

  // --- Declarations ------------------------------------------------------------------------------

  absl::Status ReadType(Parameter* param) {
    if (Take('(')) {
      // Of tuples, tensors in them count as tensors only for the operators that look.
      for (Parameter part{}; true;) {
        if (++depth_ > kMaxDepth) return Fail("types nested too deep");
        X2IR_RETURN_IF_ERROR(ReadType(&part));
        --depth_;
        if (!Take(',')) break;
      }
      X2IR_RETURN_IF_ERROR(Expect(')'));
    } else if (TakeWord("tensor")) {
      param->is_tensor = true;
      X2IR_RETURN_IF_ERROR(Expect('<'));
      if (!Take('?') && Peek() != '>') {
        X2IR_ASSIGN_OR_RETURN(param->type, Name());
      }
      X2IR_RETURN_IF_ERROR(Expect('>'));
    } else if (Take('?')) {
      param->type = "?";
    } else {
      X2IR_ASSIGN_OR_RETURN(param->type, Name());
    }
    while (Take('[')) {
      param->is_array = true;
      X2IR_RETURN_IF_ERROR(Expect(']'));
    }
    return absl::OkStatus();
  }
  absl::Status ReadParameters(std::vector<Parameter>* params) {
    X2IR_RETURN_IF_ERROR(Expect('('));
    while (!Take(')')) {
      if (!params->empty()) X2IR_RETURN_IF_ERROR(Expect(','));
      Parameter param;
      X2IR_ASSIGN_OR_RETURN(param.name, Name());
      X2IR_RETURN_IF_ERROR(Expect(':'));
      X2IR_RETURN_IF_ERROR(ReadType(&param));
      if (Take('=')) {
        X2IR_ASSIGN_OR_RETURN(param.default_value, Expression());
      }
      params->push_back(std::move(param));
    }
    return absl::OkStatus();
  }
  absl::Status ReadGraph(Fragment* graph) {
    X2IR_ASSIGN_OR_RETURN(graph->name, Name());
    X2IR_RETURN_IF_ERROR(ReadNames(&graph->params));
    X2IR_RETURN_IF_ERROR(Expect('-'));
    X2IR_RETURN_IF_ERROR(Expect('>'));
    X2IR_RETURN_IF_ERROR(ReadNames(&graph->results));
    graph->has_body = true;
    return ReadBody(&graph->body);
  }
  absl::Status ReadNames(std::vector<Parameter>* names) {
    X2IR_RETURN_IF_ERROR(Expect('('));
    while (!Take(')')) {
      if (!names->empty()) X2IR_RETURN_IF_ERROR(Expect(','));
      Parameter name;
      X2IR_ASSIGN_OR_RETURN(name.name, Name());
      name.is_tensor = true;
      names->push_back(std::move(name));
    }
    return absl::OkStatus();
  }
  absl::Status ReadBody(std::vector<Assignment>* body) {
    X2IR_RETURN_IF_ERROR(Expect('{'));
    while (!Take('}')) {
      Assignment line;
      const char first = Peek();
      const bool list = first == '[' || first == '(';
      line.is_array = first == '[';
      if (list) ++pos_;
      do {
        X2IR_ASSIGN_OR_RETURN(std::string name, Name());
        line.results.push_back(std::move(name));
      } while (Take(','));
      if (list) X2IR_RETURN_IF_ERROR(Expect(line.is_array ? ']' : ')'));
      X2IR_RETURN_IF_ERROR(Expect('='));
      X2IR_ASSIGN_OR_RETURN(line.value, Expression());
      X2IR_RETURN_IF_ERROR(Expect(';'));
      body->push_back(std::move(line));
    }
    return absl::OkStatus();
  }

  // --- Expressions -------------------------------------------------------------------------------

  ExprOr Expression() {
    if (++depth_ > kMaxDepth) return Fail("expressions nested too deep");
    X2IR_ASSIGN_OR_RETURN(SyntaxPtr expr, Operation(0));
    if (TakeWord("if")) {
      SyntaxPtr choice = Make(ExprKind::kIf);
      choice->args.push_back(std::move(expr));
      X2IR_ASSIGN_OR_RETURN(SyntaxPtr condition, Operation(0));
      choice->args.push_back(std::move(condition));
      X2IR_RETURN_IF_ERROR(ExpectWord("else"));
      X2IR_ASSIGN_OR_RETURN(SyntaxPtr other, Expression());
      choice->args.push_back(std::move(other));
      expr = std::move(choice);
    }
    --depth_;
    return expr;
  }
  std::string_view TakeOperator(size_t level) {
    for (const std::string_view op : Levels()[level]) {
      if (op == "in" ? TakeWord(op) : Looks(op)) {
        if (op != "in") pos_ += op.size();
        return op;
      }
    }
    return {};
  }
  ExprOr Operation(size_t level) {
    if (level == Levels().size()) return Unary();
    X2IR_ASSIGN_OR_RETURN(SyntaxPtr expr, Operation(level + 1));
    int chain = 0;
    for (std::string_view op = TakeOperator(level); !op.empty(); op = TakeOperator(level)) {
      // A chain becomes a tree as deep as it is long.
      if (++chain > kMaxDepth) return Fail("more operators in a row than supported");
      SyntaxPtr both = Make(ExprKind::kBinary, std::string(op));
      X2IR_ASSIGN_OR_RETURN(SyntaxPtr other, Operation(level + 1));
      both->args.push_back(std::move(expr));
      both->args.push_back(std::move(other));
      expr = std::move(both);
    }
    return expr;
  }
  ExprOr Unary() {
    const char c = Peek();
    if (c != '-' && c != '+' && c != '!') return Postfix();
    if (++depth_ > kMaxDepth) return Fail("expressions nested too deep");
    ++pos_;
    SyntaxPtr expr = Make(ExprKind::kUnary, std::string(1, c));
    X2IR_ASSIGN_OR_RETURN(SyntaxPtr operand, Unary());
    expr->args.push_back(std::move(operand));
    --depth_;
    return expr;
  }
  ExprOr Postfix() {
    X2IR_ASSIGN_OR_RETURN(SyntaxPtr expr, Primary());
    int chain = 0;
    while (Take('[')) {
      if (++chain > kMaxDepth) return Fail("more subscripts in a row than supported");
      SyntaxPtr from, to;
      if (Peek() != ':') {
        X2IR_ASSIGN_OR_RETURN(from, Expression());
      }
      const bool range = Take(':');
      if (range && Peek() != ']') {
        X2IR_ASSIGN_OR_RETURN(to, Expression());
      }
      X2IR_RETURN_IF_ERROR(Expect(']'));
      SyntaxPtr part = Make(range ? ExprKind::kRange : ExprKind::kIndex);
      part->args.push_back(std::move(expr));
      part->args.push_back(std::move(from));
      part->args.push_back(std::move(to));
      expr = std::move(part);
    }
    return expr;
  }
  absl::Status ReadList(char end, std::vector<SyntaxPtr>* list) {
    while (!Take(end)) {
      if (!list->empty()) X2IR_RETURN_IF_ERROR(Expect(','));
      X2IR_ASSIGN_OR_RETURN(SyntaxPtr item, Expression());
      list->push_back(std::move(item));
    }
    return absl::OkStatus();
  }
  ExprOr Primary() {
    const char c = Peek();
    if (c == '(') {
      ++pos_;
      SyntaxPtr tuple = Make(ExprKind::kTuple);
      X2IR_RETURN_IF_ERROR(ReadList(')', &tuple->args));
      if (tuple->args.size() == 1) return std::move(tuple->args[0]);
      return tuple;
    }
    if (c == '[') {
      ++pos_;
      if (TakeWord("for")) return Loop();
      SyntaxPtr array = Make(ExprKind::kArray);
      X2IR_RETURN_IF_ERROR(ReadList(']', &array->args));
      return array;
    }
    if (c == '"' || c == '\'') {
      SyntaxPtr text = Make(ExprKind::kText);
      X2IR_ASSIGN_OR_RETURN(text->text, Quoted());
      return text;
    }
    if (std::isdigit(static_cast<unsigned char>(c))) return Number();
    SyntaxPtr name = Make(ExprKind::kName);
    X2IR_ASSIGN_OR_RETURN(name->text, Name());
    return Call(std::move(name));
  }
  ExprOr Number() {
    const size_t begin = pos_;
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      const bool exponent = c == 'e' || c == 'E';
      if (!exponent && c != '.' && !std::isdigit(static_cast<unsigned char>(c))) break;
      ++pos_;
      const bool sign = pos_ < text_.size() && (text_[pos_] == '-' || text_[pos_] == '+');
      if (exponent && sign) ++pos_;
    }
    return Make(ExprKind::kNumber, std::string(text_.substr(begin, pos_ - begin)));
  }
  ExprOr Call(SyntaxPtr name) {
    const size_t before = pos_;
    std::string type;
    if (Take('<')) {
      // "op<scalar>(x)"; else a comparison.
      const bool any = Take('?');
      if (!any && LooksName()) {
        X2IR_ASSIGN_OR_RETURN(type, Name());
      }
      if ((!any && type.empty()) || !Take('>') || Peek() != '(') {
        pos_ = before;
        return name;
      }
    }
    if (!Take('(')) return name;
    name->kind = ExprKind::kCall;
    name->type = type;
    while (!Take(')')) {
      if (!name->args.empty()) X2IR_RETURN_IF_ERROR(Expect(','));
      std::string label;
      const size_t start = pos_;
      if (LooksName()) {
        X2IR_ASSIGN_OR_RETURN(label, Name());
        if (Peek() != '=' || text_.substr(pos_).starts_with("==")) {
          label.clear();
          pos_ = start;
        } else {
          ++pos_;
        }
      }
      X2IR_ASSIGN_OR_RETURN(SyntaxPtr value, Expression());
      name->names.push_back(std::move(label));
      name->args.push_back(std::move(value));
    }
    return name;
  }
  ExprOr Loop() {
    SyntaxPtr loop = Make(ExprKind::kFor);
    do {
      X2IR_ASSIGN_OR_RETURN(std::string name, Name());
      loop->names.push_back(std::move(name));
      X2IR_RETURN_IF_ERROR(ExpectWord("in"));
      X2IR_ASSIGN_OR_RETURN(SyntaxPtr list, Operation(3));
      loop->args.push_back(std::move(list));
    } while (Take(','));
    if (TakeWord("if")) {
      loop->has_condition = true;
      X2IR_ASSIGN_OR_RETURN(SyntaxPtr condition, Operation(0));
      loop->args.push_back(std::move(condition));
    }
    X2IR_RETURN_IF_ERROR(ExpectWord("yield"));
    X2IR_ASSIGN_OR_RETURN(SyntaxPtr item, Expression());
    loop->args.push_back(std::move(item));
    X2IR_RETURN_IF_ERROR(Expect(']'));
    return loop;
  }

  int depth_ = 0;
};

}  // namespace

absl::StatusOr<Document> ParseDocument(std::string_view text) {
  return NnefParser(text).ReadDocument();
}

absl::StatusOr<std::vector<Fragment>> ParseFragments(std::string_view text) {
  std::vector<Fragment> fragments;
  NnefParser parser(text);
  X2IR_RETURN_IF_ERROR(parser.ReadFragments(&fragments));
  if (!parser.AtEnd()) return parser.NoMore();
  return fragments;
}

absl::StatusOr<std::vector<std::pair<std::string, SyntaxPtr>>> ParseQuantizations(
    std::string_view text) {
  return NnefParser(text).ReadQuantizations();
}

bool LooksLikeGraph(std::string_view head) {
  while (!head.empty()) {
    const size_t start = head.find_first_not_of(" \t\r\n");
    if (start == head.npos) return false;
    head.remove_prefix(start);
    if (head[0] != '#') break;
    head.remove_prefix(std::min(head.find('\n'), head.size()));
  }
  if (!head.starts_with("version")) return false;
  head.remove_prefix(7);
  const size_t start = head.find_first_not_of(" \t\r\n");
  if (start == 0 || start == head.npos || !std::isdigit(static_cast<unsigned char>(head[start]))) {
    return false;
  }
  const size_t end = head.find_first_not_of("0123456789. \t", start);
  return end != head.npos && head[end] == ';';
}

bool IsKeyword(std::string_view name) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords);
}

}  // namespace nnef
}  // namespace x2ir
