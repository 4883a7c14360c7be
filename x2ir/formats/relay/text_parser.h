// Parses a text of Relay, as TVM prints it, of all versions of the text.
#ifndef X2IR_FORMATS_RELAY_TEXT_PARSER_H_
#define X2IR_FORMATS_RELAY_TEXT_PARSER_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/formats/relay/ast.h"

namespace X2IR_API x2ir {
namespace relay {

// DataLoss with line and column for a text that is broken; Invalid for constants that the text
// names and does not have, since it was printed without its metadata.
absl::StatusOr<std::unique_ptr<Program>> ParseText(std::string_view text);

}  // namespace relay
}  // namespace x2ir

#endif  // X2IR_FORMATS_RELAY_TEXT_PARSER_H_
