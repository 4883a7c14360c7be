// The printed forms of operations: facts/stablehlo-ops.json describes each by elements, which the
// parser follows.
#ifndef X2IR_FORMATS_MLIR_SYNTAX_INTERNAL_H_
#define X2IR_FORMATS_MLIR_SYNTAX_INTERNAL_H_

#include <string>
#include <string_view>
#include <vector>

namespace x2ir::mlir {

struct SyntaxElement {
  enum Kind : uint8_t {
    kLiteral,         // text
    kOperand,         // one, of that name
    kOperandList,     // any number, with commas
    kAttr,            // text: its name
    kOperands,        // all, with commas
    kAttrDict,        //
    kFunctionalType,  // of all operands and results
    kType,            // of what `arguments` name: operands, results
    kCustom,          // text: the directive; arguments
    kOptional,        // inside, if its first element is there; otherwise `otherwise`
    kRegions,
  } kind;
  std::string text{};
  std::vector<std::string> arguments{};
  std::vector<SyntaxElement> inside{}, otherwise{};
};

struct OpSyntax {
  std::string name;
  std::vector<std::string> operands, results, regions;  // "inputs*": any number
  bool custom = false;                                  // it has code of its own
  std::vector<SyntaxElement> elements;
};

// Null: the operation has only the generic form, or is not known.
const OpSyntax* FindSyntax(std::string_view op);

}  // namespace x2ir::mlir

#endif  // X2IR_FORMATS_MLIR_SYNTAX_INTERNAL_H_
