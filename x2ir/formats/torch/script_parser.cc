// The statements, functions and classes of TorchScript.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/torch/script.h"
#include "x2ir/formats/torch/script_expressions_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::torch_script {

class ScriptParser : private ScriptExpressions {
 public:
  explicit ScriptParser(ParsedFile* file) : ScriptExpressions(file) {}
  absl::Status Parse();

 private:
  using Body = std::vector<const Statement*>;
  Statement* NewStatement(Statement::Kind kind);
  Body Block();
  const Statement* ParseStatement();
  const Statement* If();
  const Statement* For();
  const Statement* With();
  const Statement* Simple();
  void AssignmentFrom(Node first, Statement* statement);
  void EndLine();
  void Decorators();

  const FunctionDef* Function(const ClassDef* of);
  void Parameters(FunctionDef* function);
  void Class();
  void ClassStatement(ClassDef* of);
  void AddField(ClassDef* of, const ClassDef::Field& field, uint32_t offset);
  void Import();
  void OpVersionSet();
  void FailTwice(std::string_view what, std::string_view name, size_t at) {
    Fail(at, StrCat(what, " '", name, "' is defined twice"));
  }

  Body statements_;
  absl::flat_hash_set<std::string_view> parameters_;  // of the function that is read
  absl::flat_hash_set<std::string_view> members_;     // of the class
};

// --- Statements -----------------------------------------------------------------------------

Statement* ScriptParser::NewStatement(Statement::Kind kind) {
  Statement* statement = &file_.statements.emplace_back();
  statement->kind = kind;
  statement->offset = token_.offset;
  return statement;
}

void ScriptParser::EndLine() { Expect(kNewline, "the end of the line"); }

// ": a statement", or lines of them that are indented.
ScriptParser::Body ScriptParser::Block() {
  Expect(kColon, "':' before a block");
  const size_t base = statements_.size();
  if (Take(kNewline)) {
    Expect(kIndent, "a block, which is indented more");
    while (!Is(kDedent) && !failed()) statements_.push_back(ParseStatement());
    Next();
  } else {
    statements_.push_back(Simple());
  }
  Body body(statements_.begin() + static_cast<ptrdiff_t>(base), statements_.end());
  statements_.resize(base);
  return body;
}

const Statement* ScriptParser::ParseStatement() {
  const Nesting nesting(this);
  Decorators();
  switch (token_.kind) {
    case kIf: return If();
    case kFor: return For();
    case kWith: return With();
    case kWhile: {
      Statement* statement = NewStatement(Statement::kWhile);
      Next();
      statement->value = Expression().expr;
      statement->body = Block();
      return statement;
    }
    case kDef: {
      Statement* statement = NewStatement(Statement::kDef);
      statement->function = Function(nullptr);
      return statement;
    }
    default: return Simple();
  }
}

// "if" or "elif".
const Statement* ScriptParser::If() {
  Statement* statement = NewStatement(Statement::kIf);
  Next();
  statement->value = Expression().expr;
  statement->body = Block();
  if (Is(kElif)) {
    const Nesting nesting(this);
    statement->otherwise = {If()};
  } else if (Take(kElse)) {
    statement->otherwise = Block();
  }
  return statement;
}

const Statement* ScriptParser::For() {
  Statement* statement = NewStatement(Statement::kFor);
  Next();
  statement->targets = {TargetElements().expr};
  Expect(kIn, "'in' of a loop");
  statement->value = Elements().expr;
  statement->body = Block();
  return statement;
}

// "with a as b, c as d" is one in the other.
const Statement* ScriptParser::With() {
  Statement* statement = NewStatement(Statement::kWith);
  Next();  // "with", or the comma
  statement->value = Expression().expr;
  if (Take(kAs)) {
    const Node target = Postfix();
    CheckTarget(target.expr);
    statement->targets = {target.expr};
  }
  if (Is(kComma)) {
    const Nesting nesting(this);
    statement->body = {With()};
  } else {
    statement->body = Block();
  }
  return statement;
}

// A statement of one line.
const Statement* ScriptParser::Simple() {
  Statement* statement = NewStatement(Statement::kPass);
  const Kind kind = token_.kind;
  const auto is = [&](Statement::Kind meant) {
    statement->kind = meant;
    Next();
  };
  switch (kind) {
    case kPass: is(Statement::kPass); break;
    case kBreak: is(Statement::kBreak); break;
    case kContinue: is(Statement::kContinue); break;
    case kReturn:
      is(Statement::kReturn);
      if (!Is(kNewline)) statement->value = Elements().expr;
      break;
    case kRaise:
      is(Statement::kRaise);
      if (!Is(kNewline)) statement->value = Expression().expr;
      break;
    case kAssert:
      is(Statement::kAssert);
      statement->value = Expression().expr;
      if (Take(kComma)) statement->type = Expression().expr;
      break;
    case kDelete:
      is(Statement::kDelete);
      do {
        const Node target = Expression();
        CheckTarget(target.expr);
        statement->targets.push_back(target.expr);
      } while (Take(kComma) && !Is(kNewline));
      break;
    case kIndent: Fail(token_.offset, "the line is indented more, but begins no block"); break;
    case kReserved:
      Fail(token_.offset, StrCat("'", token_.text, "' is not part of the language"));
      break;
    case kWord:
    case kOpen:
    case kOpenSquare:
    case kOpenBrace:
    case kInteger:
    case kReal:
    case kImaginary:
    case kText:
    case kStar:
    case kSign:
    case kTilde:
    case kNot:
    case kTrue:
    case kFalse:
    case kNone:
    case kDots: AssignmentFrom(Elements(), statement); break;
    default: Expected("a statement"); break;
  }
  EndLine();
  return statement;
}

// An expression, or an assignment to it.
void ScriptParser::AssignmentFrom(Node first, Statement* statement) {
  statement->kind = Statement::kExpression;
  statement->value = first.expr;
  if (failed()) return;
  if (Is(kAugmented)) {
    statement->kind = Statement::kAugmented;
    statement->text = token_.text.substr(0, token_.text.size() - 1);
    if (first.expr->kind == Expr::kTuple || first.expr->kind == Expr::kList) {
      Fail(token_.offset, "only one thing may be on the left of an operator with '='");
    }
    CheckTarget(first.expr);
    statement->targets = {first.expr};
    Next();
    statement->value = Elements().expr;
    return;
  }
  if (Take(kColon)) {
    statement->kind = Statement::kAssign;
    if (first.expr->kind == Expr::kTuple || first.expr->kind == Expr::kList) {
      Fail(first.expr->offset, "only one thing may have a type");
    }
    CheckTarget(first.expr);
    statement->targets = {first.expr};
    statement->type = Expression().expr;
    statement->value = Take(kAssign) ? Elements().expr : nullptr;
    return;
  }
  while (Is(kAssign) && !failed()) {
    statement->kind = Statement::kAssign;
    CheckTarget(statement->value);
    statement->targets.push_back(statement->value);
    Next();
    statement->value = Elements().expr;
  }
}

// They say nothing about what the code does.
void ScriptParser::Decorators() {
  if (!Is(kAt)) return;
  while (Take(kAt)) {
    Expression();
    EndLine();
  }
  if (!Is(kDef) && !Is(kClass)) Expected("a function or class after a decorator");
}

// --- Functions and classes ------------------------------------------------------------------

const FunctionDef* ScriptParser::Function(const ClassDef* of) {
  FunctionDef* function = &file_.function_defs.emplace_back();
  Next();
  function->offset = token_.offset;
  function->file = &file_;
  function->of = of;
  function->name = Name("the name of a function");
  Parameters(function);
  if (Take(kArrow)) function->returns = Expression().expr;
  function->body = Block();
  return function;
}

void ScriptParser::Parameters(FunctionDef* function) {
  Expect(kOpen, "'(' after the name of a function");
  parameters_.clear();
  bool star = false;
  while (!Is(kClose) && !failed()) {
    if (!star && Take(kStar)) {
      // What follows must be named in calls.
      star = true;
    } else {
      const size_t offset = token_.offset;
      Parameter parameter;
      parameter.name = Name("the name of a parameter");
      if (!parameters_.insert(parameter.name).second) {
        FailTwice("parameter", parameter.name, offset);
      }
      if (Take(kColon)) parameter.type = Expression().expr;
      if (Take(kAssign)) parameter.default_value = Expression().expr;
      function->parameters.push_back(parameter);
    }
    if (!Take(kComma)) break;
  }
  Expect(kClose, "',' or ')' after a parameter");
}

void ScriptParser::Class() {
  Next();
  const size_t offset = token_.offset;
  ClassDef* made = &file_.class_defs.emplace_back();
  made->file = &file_;
  made->name = Name("the name of a class");
  if (file_.functions.contains(made->name) || !file_.classes.try_emplace(made->name, made).second) {
    FailTwice("class", made->name, offset);
  }
  if (Take(kOpen)) {
    if (!Is(kClose)) {
      const Node base = Expression();
      if (failed()) return;
      if (base.expr->kind != Expr::kName && base.expr->kind != Expr::kAttribute) {
        Fail(base.expr->offset, "expected the name of a class to derive from");
      }
      made->base = base.expr->text;
    }
    Expect(kClose, "')' after the class to derive from");
  }
  Expect(kColon, "':' before the body of a class");
  members_.clear();
  if (!Take(kNewline)) return ClassStatement(made);
  Expect(kIndent, "the body of a class, which is indented more");
  while (!Is(kDedent) && !failed()) ClassStatement(made);
  Next();
}

void ScriptParser::AddField(ClassDef* of, const ClassDef::Field& field, uint32_t offset) {
  if (!members_.insert(field.name).second) FailTwice("field", field.name, offset);
  of->fields.push_back(field);
}

void ScriptParser::ClassStatement(ClassDef* of) {
  Decorators();
  if (Is(kDef)) {
    const FunctionDef* method = Function(of);
    if (!failed() && !members_.insert(method->name).second) {
      FailTwice("method", method->name, method->offset);
    }
    of->methods.push_back(method);
    return;
  }
  if (Is(kClass)) return Fail(token_.offset, "classes in classes are not read");
  const Statement* statement = Simple();
  if (failed() || statement->kind == Statement::kPass) return;
  if (statement->kind == Statement::kExpression) {
    // A text or "..." that says what the class is for.
    const Expr::Kind kind = statement->value->kind;
    if (kind == Expr::kString || kind == Expr::kEllipsis) return;
  }
  if (statement->kind == Statement::kAssign && statement->targets.size() == 1) {
    const Expr& target = *statement->targets[0];
    if (target.kind == Expr::kName) {
      // The dict of the lines below.
      if (target.text == "__annotations__") return;
      return AddField(of, {target.text, statement->type, statement->value}, target.offset);
    }
    // __annotations__["0"] = T
    if (target.kind == Expr::kIndex && target.args[0]->kind == Expr::kName &&
        target.args[0]->text == "__annotations__" && target.args[1]->kind == Expr::kString &&
        statement->value && !statement->type) {
      return AddField(of, {target.args[1]->text, statement->value}, target.offset);
    }
  }
  Fail(statement->offset, "expected a field, a method or 'pass' in a class");
}

const FunctionDef* ClassDef::Method(std::string_view method) const {
  const auto it = std::find_if(methods.begin(), methods.end(),
                               [&](const FunctionDef* f) { return f->name == method; });
  return it == methods.end() ? nullptr : *it;
}

const ClassDef::Field* ClassDef::FindField(std::string_view field) const {
  const auto it =
      std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == field; });
  return it == fields.end() ? nullptr : &*it;
}

// --- Files ----------------------------------------------------------------------------------

// Old files say which others they need; names say it, too.
void ScriptParser::Import() {
  while (!Is(kNewline) && !failed()) Next();
  EndLine();
}

// op_version_set = 1
void ScriptParser::OpVersionSet() {
  Next();
  Expect(kAssign, "'=' after op_version_set");
  const Node value = Expression();
  if (failed()) return;
  if (value.expr->kind != Expr::kInt) {
    return Fail(value.expr->offset, "expected a number after 'op_version_set ='");
  }
  file_.op_version_set = value.expr->number;
  EndLine();
}

absl::Status ScriptParser::Parse() {
  while (!Is(kEnd)) {
    Decorators();
    if (Is(kDef)) {
      const FunctionDef* function = Function(nullptr);
      if (failed()) break;
      if (file_.classes.contains(function->name) ||
          !file_.functions.try_emplace(function->name, function).second) {
        FailTwice("function", function->name, function->offset);
      }
    } else if (Is(kClass)) {
      Class();
    } else if (Is(kImport)) {
      Import();
    } else if (Is(kWord) && token_.text == "op_version_set") {
      OpVersionSet();
    } else if (Take(kText) || Take(kPass)) {
      EndLine();
    } else if (Is(kIndent)) {
      Fail(token_.offset, "the line is indented more, but begins no block");
    } else {
      Expected("a class or a function");
    }
  }
  return error_;
}

absl::StatusOr<std::unique_ptr<ParsedFile>> ParseScript(std::string path, std::string_view text) {
  auto file = std::make_unique<ParsedFile>();
  file->path = std::move(path);
  file->text = text;
  if (const absl::Status status = ScriptParser(file.get()).Parse(); !status.ok()) {
    return DataLoss(file->path, ", ", status.message());
  }
  return file;
}

}  // namespace x2ir::torch_script
