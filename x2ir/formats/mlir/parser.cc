#include <algorithm>

#include "x2ir/formats/mlir/parser_internal.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {
namespace {

constexpr int kDeepestRegion = 200;
constexpr int64_t kMostResults = 65536;

}  // namespace

// --- Values
// -----------------------------------------------------------------------------------------

absl::StatusOr<std::string_view> OpParser::ValueName() {
  X2IR_RETURN_IF_ERROR(ExpectChar('%'));
  const size_t from = pos_;
  while (pos_ < text_.size() && (IsWordChar(text_[pos_]) || text_[pos_] == '-')) ++pos_;
  if (pos_ == from) return Fail("expected the name of a value");
  if (pos_ < text_.size() && text_[pos_] == '#') {
    const size_t hash = pos_++;
    while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') ++pos_;
    // The first of several has no number in our names.
    if (text_.substr(hash, pos_ - hash) == "#0") return text_.substr(from, hash - from);
  }
  return text_.substr(from, pos_ - from);
}

absl::StatusOr<ValueId> OpParser::Use() {
  X2IR_ASSIGN_OR_RETURN(const std::string_view name, ValueName());
  const auto found = names_.find(name);
  if (found == names_.end()) return Fail(StrCat("'%", name, "' is not defined before its use"));
  return found->second;
}

absl::Status OpParser::UseList(Op* op) {
  if (Next() != '%') return absl::OkStatus();
  do {
    X2IR_ASSIGN_OR_RETURN(const ValueId value, Use());
    op->operands.push_back(value);
  } while (TakeChar(','));
  return absl::OkStatus();
}

absl::StatusOr<ValueId> OpParser::Define(std::string name, TypeRef type) {
  const auto id = static_cast<ValueId>(module_.values.size());
  const auto [entry, added] = names_.try_emplace(name, id);
  defined_.emplace_back(name, added ? -1 : entry->second);
  entry->second = id;
  module_.values.push_back({std::move(name), std::move(type)});
  return id;
}

void OpParser::Forget(size_t mark) {
  for (; defined_.size() > mark; defined_.pop_back()) {
    const auto& [name, before] = defined_.back();
    if (before == -1) {
      names_.erase(name);
    } else {
      names_[name] = before;
    }
  }
}

uint32_t OpParser::Line() {
  line_ += static_cast<uint32_t>(std::count(whole_.begin() + static_cast<ptrdiff_t>(line_pos_),
                                            whole_.begin() + static_cast<ptrdiff_t>(pos_), '\n'));
  line_pos_ = pos_;
  return line_;
}

// --- Operations
// -------------------------------------------------------------------------------------

absl::StatusOr<Module> OpParser::ParseModule() {
  X2IR_RETURN_IF_ERROR(ParseResources());
  module_.top.name = "builtin.module";
  Block& block = module_.top.regions.emplace_back().blocks.emplace_back();
  X2IR_RETURN_IF_ERROR(ParseOps(&block.ops, '\0'));
  // The one module of the file is the top.
  if (block.ops.size() == 1 && block.ops[0].name == "builtin.module") {
    Op top = std::move(block.ops[0]);
    module_.top = std::move(top);
  }
  return std::move(module_);
}

absl::Status OpParser::ParseOps(std::vector<Op>* ops, char end) {
  for (;;) {
    const char c = Next();
    if (c == end) return absl::OkStatus();
    if (c == '\0') return Fail("a region does not end");
    if (c == '#' || c == '!') {
      X2IR_RETURN_IF_ERROR(ParseAlias());
      continue;
    }
    X2IR_RETURN_IF_ERROR(ParseOp(ops));
  }
}

absl::Status OpParser::ParseResultNames(std::vector<std::string>* names) {
  if (Next() != '%') return absl::OkStatus();
  do {
    X2IR_ASSIGN_OR_RETURN(const std::string_view name, ValueName());
    names->emplace_back(name);
    if (!TakeChar(':')) continue;
    X2IR_ASSIGN_OR_RETURN(const int64_t count, Integer());
    if (count < 1 || count > kMostResults) return Fail("not a number of results");
    for (int64_t i = 1; i < count; ++i) names->push_back(StrCat(name, "#", i));
  } while (TakeChar(','));
  return ExpectChar('=');
}

absl::Status OpParser::ParseOp(std::vector<Op>* ops) {
  Draft draft;
  X2IR_RETURN_IF_ERROR(ParseResultNames(&draft.names));
  draft.op.line = Line();
  if (Next() == '"') {
    X2IR_RETURN_IF_ERROR(ParseGeneric(draft));
  } else {
    const size_t at = pos_;
    X2IR_ASSIGN_OR_RETURN(const std::string_view name, Word());
    std::string_view rest = text_.substr(pos_);
    if (name == "stablehlo.cross" && rest.starts_with("-replica-sum")) pos_ += 12;
    const absl::Status parsed = ParsePrinted(draft, text_.substr(at, pos_ - at));
    if (!parsed.ok()) return parsed;
  }
  if (draft.op.name.empty()) return absl::OkStatus();  // nothing that a module keeps
  if (draft.names.size() != draft.types.size()) {
    if (!draft.names.empty()) {
      return Fail(StrCat("'", draft.op.name.view(), "' has ", draft.types.size(), " results, not ",
                         draft.names.size()));
    }
    draft.names.resize(draft.types.size());
  }
  for (size_t i = 0; i < draft.types.size(); ++i) {
    X2IR_ASSIGN_OR_RETURN(const ValueId id,
                          Define(std::move(draft.names[i]), std::move(draft.types[i])));
    draft.op.results.push_back(id);
  }
  X2IR_RETURN_IF_ERROR(SkipLocation());
  ops->push_back(std::move(draft.op));
  return absl::OkStatus();
}

absl::Status OpParser::ParseGeneric(Draft& draft) {
  X2IR_ASSIGN_OR_RETURN(const std::string name, String());
  draft.op.name =
      name.starts_with("mhlo.") ? StrCat("stablehlo.", std::string_view(name).substr(5)) : name;
  X2IR_RETURN_IF_ERROR(ExpectChar('('));
  X2IR_RETURN_IF_ERROR(UseList(&draft.op));
  X2IR_RETURN_IF_ERROR(ExpectChar(')'));
  if (Next() == '[') return Fail(StrCat("'", name, "' has successors, which are not supported,"));
  if (TakeChar('<')) {  // properties
    X2IR_RETURN_IF_ERROR(ParseDict(&draft.op.attrs));
    X2IR_RETURN_IF_ERROR(ExpectChar('>'));
  }
  if (TakeChar('(')) {
    do {
      X2IR_RETURN_IF_ERROR(ParseRegion(draft.op, {}));
    } while (TakeChar(','));
    X2IR_RETURN_IF_ERROR(ExpectChar(')'));
  }
  if (Next() == '{') X2IR_RETURN_IF_ERROR(ParseDict(&draft.op.attrs));
  X2IR_RETURN_IF_ERROR(ExpectChar(':'));
  return ParseFunctionalType(draft);
}

absl::Status OpParser::ParseFunctionalType(Draft& draft) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<TypeRef> operands, ParseTypes());
  X2IR_RETURN_IF_ERROR(ExpectText("->"));
  X2IR_ASSIGN_OR_RETURN(draft.types, ParseTypes());
  if (operands.size() != draft.op.operands.size()) {
    return Fail("operands and their types differ in number");
  }
  return absl::OkStatus();
}

absl::Status OpParser::ParseArguments(Arguments* arguments) {
  X2IR_RETURN_IF_ERROR(ExpectChar('('));
  if (TakeChar(')')) return absl::OkStatus();
  do {
    auto& [name, type] = arguments->emplace_back();
    X2IR_ASSIGN_OR_RETURN(const std::string_view text, ValueName());
    name = text;
    X2IR_RETURN_IF_ERROR(ExpectChar(':'));
    X2IR_ASSIGN_OR_RETURN(type, ParseType());
    X2IR_RETURN_IF_ERROR(SkipLocation());
  } while (TakeChar(','));
  return ExpectChar(')');
}

absl::Status OpParser::ParseRegion(Op& op, const Arguments& arguments) {
  if (++nesting_ > kDeepestRegion) return Fail("regions are nested too deeply");
  const size_t mark = defined_.size();
  X2IR_RETURN_IF_ERROR(ExpectChar('{'));
  Region region;
  Arguments block_arguments = arguments;
  if (Next() == '^') {
    ++pos_;
    X2IR_RETURN_IF_ERROR(Word().status());
    if (Next() == '(') X2IR_RETURN_IF_ERROR(ParseArguments(&block_arguments));
    X2IR_RETURN_IF_ERROR(ExpectChar(':'));
  }
  if (Next() == '}' && block_arguments.empty()) {
    ++pos_;
  } else {
    Block& block = region.blocks.emplace_back();
    for (auto& [name, type] : block_arguments) {
      X2IR_ASSIGN_OR_RETURN(const ValueId id, Define(std::move(name), std::move(type)));
      block.arguments.push_back(id);
    }
    while (Next() != '}') {
      if (Peek() == '^') return Fail("a region has several blocks, which are not supported,");
      if (Peek() == '\0') return Fail("a region does not end");
      X2IR_RETURN_IF_ERROR(ParseOp(&block.ops));
    }
    ++pos_;
  }
  Forget(mark);
  --nesting_;
  op.regions.push_back(std::move(region));
  return absl::OkStatus();
}

absl::StatusOr<Module> ParseText(std::string_view text) { return OpParser(text).ParseModule(); }

}  // namespace x2ir::mlir
