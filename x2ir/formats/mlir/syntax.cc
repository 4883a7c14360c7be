#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"
#include "x2ir/formats/mlir/syntax_internal.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::mlir {
namespace {

constexpr std::string_view kLines[] = {
#include "x2ir_mlir_syntax.inc"
};

std::vector<std::string> NamesIn(std::string_view text) {
  return absl::StrSplit(ForAbsl(text), ' ', absl::SkipEmpty());
}

bool IsIn(const std::vector<std::string>& names, std::string_view name, bool* any_number) {
  for (const std::string& known : names) {
    *any_number = known.ends_with('*');
    if (std::string_view(known).substr(0, known.size() - *any_number) == name) return true;
  }
  return false;
}

// Follows the words of a line.
class SyntaxBuilder {
 public:
  SyntaxBuilder(const OpSyntax& op, std::vector<std::string> words)
      : op_(op), words_(std::move(words)) {}

  std::vector<SyntaxElement> Elements() {
    std::vector<SyntaxElement> elements;
    while (at_ < words_.size() && words_[at_] != ")") {
      if (words_[at_] == "^") {  // what an optional group depends on
        ++at_;
      } else {
        elements.push_back(Element());
      }
    }
    return elements;
  }

 private:
  // "( a , b )" as names; "type ( $a )" is "a".
  std::vector<std::string> Arguments() {
    std::vector<std::string> names;
    int depth = 0;
    do {
      const std::string& word = words_[at_++];
      if (word == "(") {
        ++depth;
      } else if (word == ")") {
        --depth;
      } else if (word != "," && word != "type" && word != "ref") {
        names.push_back(word.starts_with("$") ? word.substr(1) : word);
      }
    } while (depth > 0 && at_ < words_.size());
    return names;
  }

  SyntaxElement Element() {
    std::string word = words_[at_++];
    if (word.starts_with("`")) {
      while (!word.ends_with("`") || word.size() == 1) word += " " + words_[at_++];
      return {SyntaxElement::kLiteral, word.substr(1, word.size() - 2)};
    }
    if (word == "attr-dict") return {SyntaxElement::kAttrDict};
    if (word == "operands") return {SyntaxElement::kOperands};
    if (word == "functional-type") {
      Arguments();
      return {SyntaxElement::kFunctionalType};
    }
    if (word == "type") return {SyntaxElement::kType, "", Arguments()};
    if (word.starts_with("custom<")) {
      return {SyntaxElement::kCustom, word.substr(7, word.size() - 8), Arguments()};
    }
    if (word == "(") {
      SyntaxElement optional{SyntaxElement::kOptional};
      optional.inside = Elements();
      ++at_;  // ")"
      if (at_ < words_.size() && words_[at_] == ":") {
        at_ += 2;  // ": ("
        optional.otherwise = Elements();
        ++at_;
      }
      if (at_ < words_.size() && words_[at_] == "?") ++at_;
      return optional;
    }
    std::string name = word.substr(1);
    bool any_number = false;
    if (IsIn(op_.operands, name, &any_number)) {
      return {any_number ? SyntaxElement::kOperandList : SyntaxElement::kOperand, name};
    }
    if (IsIn(op_.regions, name, &any_number)) return {SyntaxElement::kRegions, name};
    return {SyntaxElement::kAttr, name};
  }

  const OpSyntax& op_;
  std::vector<std::string> words_;
  size_t at_ = 0;
};

StringMap<OpSyntax> MakeTable() {
  StringMap<OpSyntax> table;
  for (const std::string_view line : kLines) {
    // The syntax may have a "|", so only the first four are looked at.
    const std::vector<std::string> parts = absl::StrSplit(ForAbsl(line), absl::MaxSplits('|', 4));
    OpSyntax op;
    op.name = parts[0];
    op.operands = NamesIn(parts[1]);
    op.results = NamesIn(parts[2]);
    op.regions = NamesIn(parts[3]);
    op.custom = parts[4] == "custom";
    if (!op.custom) op.elements = SyntaxBuilder(op, NamesIn(parts[4])).Elements();
    table.emplace(parts[0], std::move(op));
  }
  return table;
}

}  // namespace

const OpSyntax* FindSyntax(std::string_view op) {
  static const auto& table = *new StringMap<OpSyntax>(MakeTable());
  const auto found = table.find(op);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace x2ir::mlir
