// The operations of MLIR's text.
#ifndef X2IR_FORMATS_MLIR_PARSER_INTERNAL_H_
#define X2IR_FORMATS_MLIR_PARSER_INTERNAL_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/formats/mlir/scanner_internal.h"
#include "x2ir/formats/mlir/syntax_internal.h"

namespace x2ir::mlir {

class OpParser : public AttrParser {
 public:
  explicit OpParser(std::string_view text) : AttrParser(text), whole_(text) {}
  absl::StatusOr<Module> ParseModule();

 private:
  // An operation as far as it is read: what its results are called, and their types.
  struct Draft {
    Op op;
    std::vector<std::string> names;  // of results, each once
    std::vector<TypeRef> types;      // of results
  };

  // --- Values ---------------------------------------------------------------------------------
  absl::StatusOr<std::string_view> ValueName();  // "%x", "%x#1": without %
  absl::StatusOr<ValueId> Use();
  absl::Status UseList(Op* op);  // "%a, %b", none too
  absl::StatusOr<ValueId> Define(std::string name, TypeRef type);
  void Forget(size_t mark);  // the names that were defined since

  // --- Operations, by form --------------------------------------------------------------------
  absl::Status ParseOps(std::vector<Op>* ops, char end);
  absl::Status ParseOp(std::vector<Op>* ops);
  absl::Status ParseResultNames(std::vector<std::string>* names);
  absl::Status ParseGeneric(Draft& draft);
  absl::Status ParsePrinted(Draft& draft, std::string_view name);
  absl::Status ParseElements(Draft& draft, const OpSyntax& syntax,
                             const std::vector<SyntaxElement>& elements);
  bool Begins(const SyntaxElement& element);
  absl::Status ParseDirective(Draft& draft, const SyntaxElement& element);
  absl::Status ParseFunctionalType(Draft& draft);
  absl::Status ParseSameTypes(Draft& draft);
  absl::Status ParseFunction(Draft& draft);
  absl::Status ParseNestedModule(Draft& draft);
  absl::Status ParseCall(Draft& draft);
  absl::Status ParseReturn(Draft& draft);
  absl::Status ParseConstant(Draft& draft);
  absl::Status ParseCast(Draft& draft);
  absl::Status ParseReduce(Draft& draft);
  absl::Status ParseAppliedBody(Draft& draft, std::string_view inner);
  absl::Status ParseWhile(Draft& draft);
  absl::Status ParseScan(Draft& draft);

  // "{ ^bb0(%a: T): ... }" with its arguments, or those that the operation's form has before it.
  using Arguments = std::vector<std::pair<std::string, TypeRef>>;
  absl::Status ParseRegion(Op& op, const Arguments& arguments);
  absl::Status ParseArguments(Arguments* arguments);  // "(%a: T, %b: T)"

  // --- Directives of the printed forms ---------------------------------------------------------
  absl::Status ParseWindow(Op& op);
  absl::Status ParseDotNumbers(Op& op);
  absl::Status ParsePrecision(Op& op, bool with_algorithm);
  absl::Status ParseSliceRanges(Op& op);
  static Attr IntAttr(int64_t value);
  static Attr IntsAttr(std::vector<int64_t> values);

  uint32_t Line();

  std::string_view whole_;
  size_t line_pos_ = 0;  // up to here lines are counted
  uint32_t line_ = 1;
  Module module_;
  StringMap<ValueId> names_;
  std::vector<std::pair<std::string, ValueId>>
      defined_;  // and what the name was before; -1: nothing
  int nesting_ = 0;
};

}  // namespace x2ir::mlir

#endif  // X2IR_FORMATS_MLIR_PARSER_INTERNAL_H_
