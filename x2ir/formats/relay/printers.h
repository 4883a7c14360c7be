// Prints a program as text, or as JSON.
#ifndef X2IR_FORMATS_RELAY_PRINTERS_H_
#define X2IR_FORMATS_RELAY_PRINTERS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/relay/ast.h"

namespace X2IR_API x2ir {
namespace relay {

// The nodes of a JSON, and the arrays that it ends with.
struct JsonText {
  std::vector<std::string> nodes{};  // each an object; node 0 is nothing
  size_t root = 0;
  std::vector<const Tensor*> arrays{};
};
absl::Status AppendJson(const JsonText& json, AtomicFile& out);

// FailedPrecondition for attributes whose form in the JSON is not known.
absl::StatusOr<JsonText> JsonOf(const Program& program);
// The text, and the constants that are its metadata in the order of their numbers.
struct ProgramText {
  std::string text{};
  std::vector<const Tensor*> constants{};
};
absl::StatusOr<ProgramText> TextOf(const Program& program);
// That metadata.
JsonText MetadataOf(const std::vector<const Tensor*>& constants);

}  // namespace relay
}  // namespace x2ir

#endif  // X2IR_FORMATS_RELAY_PRINTERS_H_
