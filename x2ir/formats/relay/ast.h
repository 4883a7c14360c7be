// A program of Relay as expressions, which the text and the JSON have in common. Expressions may be
// shared: they are a graph without cycles, except that a recursive function names itself by its
// variable. A program owns its expressions.
#ifndef X2IR_FORMATS_RELAY_AST_H_
#define X2IR_FORMATS_RELAY_AST_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {
namespace relay {

// A level of nesting that no program needs: recursion on expressions, types and patterns ends here.
inline constexpr int kMaxDepth = 200;

struct RelayType {
  enum class Kind : uint8_t { kUnknown, kTensor, kTuple };
  Kind kind = Kind::kUnknown;
  Type tensor{};
  std::vector<RelayType> fields{};
};

enum class ExprKind : uint8_t {
  kVar,          // name, type
  kGlobal,       // name: a function of the module
  kConstant,     // constant
  kOp,           // name
  kConstructor,  // name: of an algebraic data type
  kCall,         // args[0] is called with the others
  kTuple,        // args
  kGetItem,      // field `index` of args[0]
  kFunction,     // args: parameters; body
  kLet,          // args: variable, value; body
  kIf,           // args: condition, then, else
  kMatch,        // args[0] by its clauses
};

struct RelayExpr;

struct Pattern {
  enum class Kind : uint8_t { kAny, kVar, kConstructor, kTuple };
  Kind kind = Kind::kAny;
  const RelayExpr* var = nullptr;
  std::string constructor{};
  std::vector<Pattern> parts{};
};
struct Clause {
  Pattern pattern;
  const RelayExpr* value;
};

// Texts as in graphs of NNVM: "1", "0.5", "True", "[1, 1]", "NCHW" without quotes.
using RelayAttrs = std::vector<std::pair<std::string, std::string>>;

struct RelayExpr {
  ExprKind kind = ExprKind::kVar;
  int64_t index = 0;
  std::string name{};
  std::string span{};  // what a frontend called it, empty where nothing is known
  std::vector<const RelayExpr*> args{};
  const RelayExpr* body = nullptr;
  RelayAttrs attrs{};
  std::vector<Clause> clauses{};
  RelayType type{};    // of variables; where it is known of others
  RelayType result{};  // of functions, where they say it
  std::optional<Tensor> constant{};
};

struct Program {
  std::deque<RelayExpr> exprs;
  std::map<std::string, const RelayExpr*> functions;  // of the module, by their names
  const RelayExpr* main = nullptr;                    // a function, or any other expression
  std::vector<const RelayExpr*> free;                 // variables that nothing binds

  RelayExpr* Make(ExprKind kind) {
    exprs.emplace_back();
    exprs.back().kind = kind;
    return &exprs.back();
  }
};

}  // namespace relay
}  // namespace x2ir

#endif  // X2IR_FORMATS_RELAY_AST_H_
