// The syntax of NNEF's graph files: a document as its text has it. It is the
// flat and the compositional syntax of NNEF 1.0 as sonos/tract's crate nnef parses it, with its
// identifiers in quotes (i"...").
#ifndef X2IR_FORMATS_NNEF_SYNTAX_H_
#define X2IR_FORMATS_NNEF_SYNTAX_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {
namespace nnef {

enum class ExprKind {
  kNumber,  // text
  kText,    // text
  kName,    // text
  kArray,   // args
  kTuple,   // args
  kCall,    // text(args), with names of arguments ("": by position); type: of op<type>(...)
  kUnary,   // text args[0]
  kBinary,  // args[0] text args[1]
  kIf,      // args[0] if args[1] else args[2]
  kFor,     // [for names in args (all but the last one, or two) if args yield last]
  kIndex,   // args[0][args[1]]
  kRange,   // args[0][args[1]:args[2]]; null: from the first, to the last
};

struct SyntaxExpr {
  ExprKind kind;
  size_t place = 0;  // in the text
  std::string text{};
  std::string type{};
  std::vector<std::unique_ptr<SyntaxExpr>> args{};
  std::vector<std::string> names{};  // of a call's arguments, or of a loop's variables
  bool has_condition = false;        // of a loop: the argument before the last one
};
using SyntaxPtr = std::unique_ptr<SyntaxExpr>;

struct Parameter {
  std::string name;
  bool is_tensor = false;  // else an attribute
  bool is_array = false;
  std::string type{};         // "scalar", "integer", "logical", "string", "?", or "" of tuples
  SyntaxPtr default_value{};  // null: it must be given
  bool has_default() const { return default_value != nullptr; }
};

struct Assignment {
  std::vector<std::string> results;
  bool is_array = false;  // [a, b] = ...: the elements of an array
  SyntaxPtr value;
};

struct Fragment {
  std::string name;
  std::string default_type{};  // of <? = scalar>
  std::vector<Parameter> params{}, results{};
  bool has_body = false;  // else an operator
  std::vector<Assignment> body{};
};

struct Document {
  std::string version{};
  std::vector<std::string> extensions{};  // "tract_symbol S"
  std::vector<Fragment> fragments{};
  Fragment graph{};
};

// DataLoss with the line for text that is none, or nested more than 200 deep.
absl::StatusOr<Document> ParseDocument(std::string_view text);
// The same for fragments alone.
absl::StatusOr<std::vector<Fragment>> ParseFragments(std::string_view text);
// "name": op(...); of a file of quantizations.
absl::StatusOr<std::vector<std::pair<std::string, SyntaxPtr>>> ParseQuantizations(
    std::string_view text);
// Whether a file begins with "version", as all graphs do.
bool LooksLikeGraph(std::string_view head);
bool IsKeyword(std::string_view name);

}  // namespace nnef
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNEF_SYNTAX_H_
