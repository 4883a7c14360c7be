// Pieces of Python: literals, names, and expressions that know how tightly they bind.
#ifndef X2IR_FORMATS_PYTHON_TEXT_INTERNAL_H_
#define X2IR_FORMATS_PYTHON_TEXT_INTERNAL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::python {

// Python's own order, loosest first.
enum Precedence : int {
  kComparison = 1,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kPower,
  kAtom,
};

struct Expr {
  std::string text;
  int precedence = kAtom;
  // The text, in parentheses where it binds less tightly than that.
  std::string In(int at_least) const {
    return precedence < at_least ? StrCat("(", text, ")") : text;
  }
};

// A string literal: printable ASCII is unchanged, every other byte or code point as an escape. No
// text can end the literal or its line.
std::string StringLiteral(std::string_view text);
// The shortest digits that give the number again; `as_float32`: again when rounded to float32.
std::string FloatLiteral(double number, bool as_float32);
// A number of a tensor; its numbers as nested lists.
std::string ElementLiteral(const Tensor& tensor, int64_t at);
std::string TensorLiteral(const Tensor& tensor);
std::string_view DTypeName(DType t);  // "float32"; empty where PyTorch has no such type
// A size as Python computes it, its names replaced by `name`.
Expr SizeExpr(const Dim& dim, const StringMap<std::string>& names);
// "(1, 2)", "(1,)"
std::string Tuple(const std::vector<std::string>& items);

// An identifier made of any text: ASCII letters, digits and '_', no keyword, at most one '_' in
// front; `fallback` where nothing is left. At most 64 characters.
std::string Identifier(std::string_view text, std::string_view fallback);
bool IsIdentifier(std::string_view text);
// "conv_proj" -> "ConvProj"
std::string ClassName(std::string_view text);

// Names that are taken.
class Names {
 public:
  void Take(std::string_view name) { taken_.emplace(name); }
  bool Has(std::string_view name) const { return taken_.contains(name); }
  // The text, text_2, ...: the first that is free, which is taken then.
  std::string Unique(std::string_view text);

 private:
  StringSet taken_;
  StringMap<int> next_;
};

}  // namespace x2ir::python

#endif  // X2IR_FORMATS_PYTHON_TEXT_INTERNAL_H_
