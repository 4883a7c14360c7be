#include "x2ir/formats/relay/text_parser.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/relay/text_parts_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace relay {
namespace {

using ExprOr = absl::StatusOr<const RelayExpr*>;

// Of TVM's prelude, which texts of modules do not always repeat.
constexpr std::string_view kKnownConstructors[] = {"Cons", "Nil", "Some", "None", "Rose"};

// Of fields of fields behind a variable.
constexpr int kMaxFields = 16;

class TextParser : public MetaParser {
 public:
  explicit TextParser(std::string_view text) : MetaParser(text) {
    for (const std::string_view name : kKnownConstructors) constructors_.insert(std::string(name));
    scopes_.emplace_back();
  }

  absl::StatusOr<std::unique_ptr<Program>> Parse() {
    X2IR_RETURN_IF_ERROR(ReadMetadata());
    X2IR_RETURN_IF_ERROR(ParseVersion());
    while (!AtEnd()) X2IR_RETURN_IF_ERROR(ParseItem());
    const auto main = program_->functions.find("main");
    if (main != program_->functions.end()) {
      program_->main = main->second;
    } else if (!program_->main && program_->functions.size() == 1) {
      program_->main = program_->functions.begin()->second;
    }
    if (!program_->main) return Fail("a module without a function @main, or nothing");
    return std::move(program_);
  }

 private:
  // --- The file ---------------------------------------------------------------------------------

  absl::Status ParseVersion() {
    if (Take("#[version")) {
      X2IR_RETURN_IF_ERROR(Expect("="));
      X2IR_RETURN_IF_ERROR(Quoted().status());
      return Expect("]");
    }
    // "v0.0.4"
    if (Peek() == 'v' && pos_ + 1 < text_.size() && text_[pos_ + 1] >= '0' &&
        text_[pos_ + 1] <= '9') {
      while (pos_ < text_.size() && static_cast<unsigned char>(text_[pos_]) > ' ') ++pos_;
    }
    return absl::OkStatus();
  }

  absl::Status ParseItem() {
    if (TakeWord("type") || TakeWord("extern")) return ParseTypeDefinition();
    if (TakeWord("import")) return Quoted().status();
    if (TakeWord("free_var")) {
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* var, ParseVarDeclaration());
      program_->free.push_back(var);
      Take(";");
      return absl::OkStatus();
    }
    if (TakeWord("def")) {
      X2IR_RETURN_IF_ERROR(Expect("@"));
      const std::string name(Name(NameKind::kDots));
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* function, ParseFunction());
      if (name.empty()) return Fail("a function without a name");
      if (!program_->functions.emplace(name, function).second) {
        return Fail(StrCat("a second function @", name));
      }
      return absl::OkStatus();
    }
    if (program_->main) return Fail("something after the end of the program");
    X2IR_ASSIGN_OR_RETURN(program_->main, ParseBlockBody('\0'));
    return absl::OkStatus();
  }

  // type List[A] { Cons(A, List[A]), Nil }
  absl::Status ParseTypeDefinition() {
    TakeWord("type");
    if (Name(NameKind::kPlain).empty()) return Fail("a type without a name");
    X2IR_RETURN_IF_ERROR(SkipTypeArgs());
    if (!Take("{")) {
      Take(";");
      return absl::OkStatus();
    }
    while (!Take("}")) {
      Take("|");
      const std::string_view name = Name(NameKind::kPlain);
      if (name.empty()) return Fail("expected a constructor");
      constructors_.insert(std::string(name));
      if (Take("(")) {
        while (!Take(")")) {
          X2IR_RETURN_IF_ERROR(ParseType().status());
          if (!Looks(")")) X2IR_RETURN_IF_ERROR(Expect(","));
        }
      }
      Take(",");
    }
    return absl::OkStatus();
  }

  // --- Functions and blocks ---------------------------------------------------------------------

  // "%x: Tensor[(1), float32]"; makes the variable known.
  absl::StatusOr<RelayExpr*> ParseVarDeclaration() {
    X2IR_RETURN_IF_ERROR(Expect("%"));
    const std::string name(Name(NameKind::kAny));
    if (name.empty()) return Fail("expected a variable");
    RelayExpr* var = program_->Make(ExprKind::kVar);
    var->name = name;
    TakeSpan();
    if (Take(":")) {
      X2IR_ASSIGN_OR_RETURN(var->type, ParseType());
    }
    SkipSpace();
    var->span = TakeSpan();
    scopes_.back()[name] = var;
    return var;
  }

  // After "fn" or the name: [A](%x: ..., attr=1) -> T { ... }
  ExprOr ParseFunction() {
    const Deeper level(&depth_);
    if (!level.ok()) return Fail("functions that are nested too deep");
    RelayExpr* function = program_->Make(ExprKind::kFunction);
    X2IR_RETURN_IF_ERROR(SkipTypeArgs());
    X2IR_RETURN_IF_ERROR(Expect("("));
    scopes_.emplace_back();
    while (!Take(")")) {
      if (Looks("%")) {
        X2IR_ASSIGN_OR_RETURN(const RelayExpr* param, ParseVarDeclaration());
        function->args.push_back(param);
      } else {
        // Marks of passes ("Primitive=1").
        X2IR_RETURN_IF_ERROR(Peek() == '"' ? Quoted().status() : SkipName());
        X2IR_RETURN_IF_ERROR(Expect("="));
        X2IR_RETURN_IF_ERROR(ParseAttr().status());
      }
      if (!Looks(")")) X2IR_RETURN_IF_ERROR(Expect(","));
    }
    if (Take("->")) {
      X2IR_RETURN_IF_ERROR(ParseType().status());
    }
    X2IR_ASSIGN_OR_RETURN(function->body, ParseBlock());
    scopes_.pop_back();
    return function;
  }
  absl::Status SkipName() {
    return Name(NameKind::kAny).empty() ? Fail("expected a name") : absl::OkStatus();
  }

  // "{ ... }"
  ExprOr ParseBlock() {
    X2IR_RETURN_IF_ERROR(Expect("{"));
    scopes_.emplace_back();
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* body, ParseBlockBody('}'));
    scopes_.pop_back();
    X2IR_RETURN_IF_ERROR(Expect("}"));
    return body;
  }

  // Bindings, and the expression behind them.
  ExprOr ParseBlockBody(char end) {
    std::vector<RelayExpr*> lets;
    const RelayExpr* last = nullptr;
    while (Peek() != end && !(end == '\0' && AtEnd())) {
      last = nullptr;
      if (TakeWord("let")) {
        X2IR_ASSIGN_OR_RETURN(RelayExpr * let, ParseLet());
        lets.push_back(let);
        continue;
      }
      if (Looks("%") && LooksGraphBinding()) {
        X2IR_ASSIGN_OR_RETURN(const int64_t number, GraphNumber());
        X2IR_RETURN_IF_ERROR(Expect("="));
        X2IR_ASSIGN_OR_RETURN(last, ParseExpr());
        numbered_[number] = last;
        Take(";");
        continue;
      }
      X2IR_ASSIGN_OR_RETURN(last, ParseExpr());
      // What an expression before another one gives is dropped.
      if (!Take(";")) break;
    }
    if (!last) return Fail("a block without a result");
    for (size_t i = lets.size(); i-- > 0;) {
      lets[i]->args.push_back(last);
      last = lets[i];
    }
    return last;
  }

  absl::StatusOr<RelayExpr*> ParseLet() {
    RelayExpr* let = program_->Make(ExprKind::kLet);
    X2IR_RETURN_IF_ERROR(Expect("%"));
    const std::string name(Name(NameKind::kAny));
    if (name.empty()) return Fail("expected a variable");
    RelayExpr* var = program_->Make(ExprKind::kVar);
    var->name = name;
    if (Take(":")) {
      X2IR_ASSIGN_OR_RETURN(var->type, ParseType());
    }
    X2IR_RETURN_IF_ERROR(Expect("="));
    // A function may call itself by its variable.
    if (LooksWord("fn")) scopes_.back()[name] = var;
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* value, ParseExpr());
    scopes_.back()[name] = var;
    let->args = {var, value};
    Take(";");
    return let;
  }

  // "%3 = ..."
  bool LooksGraphBinding() {
    size_t at = pos_ + 1;
    while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9') ++at;
    if (at == pos_ + 1) return false;
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\n')) ++at;
    return at < text_.size() && text_[at] == '=' && text_.substr(at, 2) != "==";
  }
  absl::StatusOr<int64_t> GraphNumber() {
    X2IR_RETURN_IF_ERROR(Expect("%"));
    const size_t begin = pos_;
    while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') ++pos_;
    const auto number = ParseNumber<int64_t>(text_.substr(begin, pos_ - begin));
    if (!number) return Fail("a number of a variable that is none");
    return *number;
  }

  // --- Expressions ------------------------------------------------------------------------------

  ExprOr ParseExpr(int least = 0) {
    const Deeper level(&depth_);
    if (!level.ok()) return Fail("expressions that are nested too deep");
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* left, ParsePostfix());
    static constexpr struct {
      std::string_view sign, op;
      int rank;
    } kSigns[] = {{"==", "equal", 1},      {"!=", "not_equal", 1},
                  {"<=", "less_equal", 1}, {">=", "greater_equal", 1},
                  {"<", "less", 1},        {">", "greater", 1},
                  {"+", "add", 2},         {"-", "subtract", 2},
                  {"*", "multiply", 3},    {"/", "divide", 3}};
    for (bool more = true; more;) {
      more = false;
      for (const auto& [sign, op, rank] : kSigns) {
        if (rank <= least || !Looks(sign) || Looks("=>") || Looks("->")) continue;
        pos_ += sign.size();
        X2IR_ASSIGN_OR_RETURN(const RelayExpr* right, ParseExpr(rank));
        RelayExpr* name = program_->Make(ExprKind::kOp);
        name->name = std::string(op);
        RelayExpr* call = program_->Make(ExprKind::kCall);
        call->args = {name, left, right};
        left = call;
        more = true;
        break;
      }
    }
    return left;
  }

  // Calls and fields behind an expression.
  ExprOr ParsePostfix() {
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* e, ParseAtom());
    while (true) {
      if (Looks("(") && e->kind != ExprKind::kConstant) {
        X2IR_ASSIGN_OR_RETURN(e, ParseCall(e));
      } else if (Looks(".") && pos_ + 1 < text_.size() && text_[pos_ + 1] >= '0' &&
                 text_[pos_ + 1] <= '9') {
        ++pos_;
        X2IR_ASSIGN_OR_RETURN(e, ParseFields(e));
      } else {
        return e;
      }
    }
  }
  // "0.1" behind a dot.
  ExprOr ParseFields(const RelayExpr* e) {
    while (true) {
      const size_t begin = pos_;
      while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') ++pos_;
      const auto number = ParseNumber<int64_t>(text_.substr(begin, pos_ - begin));
      if (!number) return Fail("expected the number of a field");
      e = Field(e, *number);
      if (text_.substr(pos_).size() < 2 || text_[pos_] != '.' || text_[pos_ + 1] < '0' ||
          text_[pos_ + 1] > '9') {
        return e;
      }
      ++pos_;
    }
  }
  const RelayExpr* Field(const RelayExpr* of, int64_t index) {
    RelayExpr* field = program_->Make(ExprKind::kGetItem);
    field->args = {of};
    field->index = index;
    return field;
  }

  ExprOr ParseCall(const RelayExpr* callee) {
    RelayExpr* call = program_->Make(ExprKind::kCall);
    call->args = {callee};
    X2IR_RETURN_IF_ERROR(Expect("("));
    while (!Take(")")) {
      if (LooksAttr()) {
        const std::string name(Name(NameKind::kPlain));
        X2IR_RETURN_IF_ERROR(Expect("="));
        X2IR_ASSIGN_OR_RETURN(std::string value, ParseAttr());
        if (value != "None" && value != "null") call->attrs.emplace_back(name, std::move(value));
      } else if (Looks("meta[") && !Looks("meta[relay.Constant]")) {
        // A record of attributes that the text does not spell out.
        X2IR_ASSIGN_OR_RETURN(const int64_t node, ParseMeta());
        if (meta_exprs_[static_cast<size_t>(node)]) {
          call->args.push_back(meta_exprs_[static_cast<size_t>(node)]);
        } else {
          X2IR_ASSIGN_OR_RETURN(call->attrs, AttrsOf(*metadata_, node));
        }
      } else {
        X2IR_ASSIGN_OR_RETURN(const RelayExpr* arg, ParseExpr());
        call->args.push_back(arg);
      }
      if (!Looks(")")) X2IR_RETURN_IF_ERROR(Expect(","));
    }
    TakeSpan();
    SkipSpace();
    call->span = TakeSpan();
    return call;
  }

  ExprOr ParseAtom() {
    const char c = Peek();
    if (c == '%') return ParseVariable();
    if (c == '@') {
      ++pos_;
      RelayExpr* global = program_->Make(ExprKind::kGlobal);
      global->name = std::string(Name(NameKind::kDots));
      X2IR_RETURN_IF_ERROR(SkipTypeArgs());
      return global;
    }
    if (c == '(') return ParseParenthesized();
    if (c == '[') return ParseTupleIn("[", "]");
    if (c == '{') return ParseBlock();
    if (TakeWord("fn")) return ParseFunction();
    if (TakeWord("if")) return ParseIf();
    if (TakeWord("match")) return ParseMatch();
    if (LooksWord("let")) {
      scopes_.emplace_back();
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* body, ParseBlockBody('\0'));
      scopes_.pop_back();
      return body;
    }
    if (Looks("meta[")) {
      X2IR_ASSIGN_OR_RETURN(const int64_t node, ParseMeta());
      const RelayExpr* e = meta_exprs_[static_cast<size_t>(node)];
      return e ? ExprOr(e) : Fail("metadata that is no expression");
    }
    if (LooksWord("True") || LooksWord("False")) {
      return Constant({DType::kBool, std::string(Name(NameKind::kPlain))});
    }
    if (LooksNumber()) {
      X2IR_ASSIGN_OR_RETURN(Scalar scalar, Number());
      return Constant(scalar);
    }
    if (Take("-")) {
      const Deeper level(&depth_);
      if (!level.ok()) return Fail("expressions that are nested too deep");
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* of, ParsePostfix());
      RelayExpr* name = program_->Make(ExprKind::kOp);
      name->name = "negative";
      RelayExpr* call = program_->Make(ExprKind::kCall);
      call->args = {name, of};
      return call;
    }
    const std::string_view name = Name(NameKind::kDots);
    if (name.empty()) return Fail("expected an expression");
    const bool constructor = constructors_.contains(std::string(name));
    RelayExpr* op = program_->Make(constructor ? ExprKind::kConstructor : ExprKind::kOp);
    op->name = std::string(name);
    if (constructor) X2IR_RETURN_IF_ERROR(SkipTypeArgs());
    return op;
  }

  ExprOr Constant(const Scalar& scalar) {
    RelayExpr* constant = program_->Make(ExprKind::kConstant);
    absl::StatusOr<Tensor> tensor = TensorOfScalar(scalar);
    if (!tensor.ok()) return Fail(std::string(tensor.status().message()));
    constant->constant = *std::move(tensor);
    return constant;
  }

  // "%3", "%x", "%x.0"; a name may have dots itself.
  ExprOr ParseVariable() {
    const size_t begin = ++pos_;
    size_t digits = begin;
    while (digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9') ++digits;
    std::string_view name = Name(NameKind::kAny);
    if (name.empty()) return Fail("expected a variable");
    const size_t end = pos_;
    // The longest name that is known; what is behind it are fields.
    for (int parts = 0; !name.empty() && parts < kMaxFields; ++parts) {
      if (const RelayExpr* var = Lookup(name)) {
        pos_ = begin + name.size();
        if (pos_ == end) return var;
        ++pos_;
        return ParseFields(var);
      }
      const size_t dot = name.rfind('.');
      name = dot == name.npos ? std::string_view() : name.substr(0, dot);
    }
    if (digits > begin && (digits == end || text_[digits] == '.')) {
      const auto number = ParseNumber<int64_t>(text_.substr(begin, digits - begin));
      const auto found = number ? numbered_.find(*number) : numbered_.end();
      if (found != numbered_.end()) {
        pos_ = digits;
        return found->second;
      }
    }
    pos_ = begin;
    return Fail(StrCat("the variable %", text_.substr(begin, end - begin), " is not known,"));
  }
  const RelayExpr* Lookup(std::string_view name) const {
    for (size_t i = scopes_.size(); i-- > 0;) {
      const auto it = scopes_[i].find(name);
      if (it != scopes_[i].end()) return it->second;
    }
    return nullptr;
  }

  ExprOr ParseParenthesized() { return ParseTupleIn("(", ")"); }
  ExprOr ParseTupleIn(std::string_view open, std::string_view close) {
    X2IR_RETURN_IF_ERROR(Expect(open));
    std::vector<const RelayExpr*> fields;
    bool comma = open == "[";
    while (!Take(close)) {
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* field, ParseExpr());
      fields.push_back(field);
      if (Looks(close)) continue;
      X2IR_RETURN_IF_ERROR(Expect(","));
      comma = true;
    }
    if (fields.size() == 1 && !comma) return fields[0];
    RelayExpr* tuple = program_->Make(ExprKind::kTuple);
    tuple->args = std::move(fields);
    return tuple;
  }

  ExprOr ParseIf() {
    RelayExpr* e = program_->Make(ExprKind::kIf);
    X2IR_RETURN_IF_ERROR(Expect("("));
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* condition, ParseExpr());
    X2IR_RETURN_IF_ERROR(Expect(")"));
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* then, ParseBlock());
    if (!TakeWord("else")) return Fail("expected 'else'");
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* other, ParseBlock());
    e->args = {condition, then, other};
    return e;
  }

  ExprOr ParseMatch() {
    RelayExpr* e = program_->Make(ExprKind::kMatch);
    Take("?");
    X2IR_RETURN_IF_ERROR(Expect("("));
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* data, ParseExpr());
    e->args = {data};
    X2IR_RETURN_IF_ERROR(Expect(")"));
    X2IR_RETURN_IF_ERROR(Expect("{"));
    while (!Take("}")) {
      scopes_.emplace_back();
      X2IR_ASSIGN_OR_RETURN(Pattern pattern, ParsePattern());
      X2IR_RETURN_IF_ERROR(Expect("=>"));
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* value, Looks("{") ? ParseBlock() : ParseExpr());
      scopes_.pop_back();
      e->clauses.push_back({std::move(pattern), value});
      Take(",");
    }
    return e;
  }

  absl::StatusOr<Pattern> ParsePattern() {
    const Deeper level(&depth_);
    if (!level.ok()) return Fail("patterns that are nested too deep");
    Pattern pattern;
    if (TakeWord("_")) return pattern;
    if (Looks("%")) {
      pattern.kind = Pattern::Kind::kVar;
      X2IR_ASSIGN_OR_RETURN(pattern.var, ParseVarDeclaration());
      return pattern;
    }
    pattern.kind = Pattern::Kind::kTuple;
    if (!Looks("(")) {
      pattern.kind = Pattern::Kind::kConstructor;
      pattern.constructor = std::string(Name(NameKind::kPlain));
      if (pattern.constructor.empty()) return Fail("expected a pattern");
    }
    if (Take("(")) {
      while (!Take(")")) {
        X2IR_ASSIGN_OR_RETURN(Pattern part, ParsePattern());
        pattern.parts.push_back(std::move(part));
        if (!Looks(")")) X2IR_RETURN_IF_ERROR(Expect(","));
      }
    }
    return pattern;
  }

  std::vector<StringMap<const RelayExpr*>> scopes_;
  absl::flat_hash_map<int64_t, const RelayExpr*> numbered_;
  absl::flat_hash_set<std::string> constructors_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Program>> ParseText(std::string_view text) {
  return TextParser(text).Parse();
}

}  // namespace relay
}  // namespace x2ir
