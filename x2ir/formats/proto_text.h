// Protobuf messages as text, in both of protobuf's ways: its text format (.pbtxt) and its JSON
// mapping. Text is turned into the wire form of the message and back, by a table of the fields, so
// that a format has one reader and one writer whatever its files look like.
#ifndef X2IR_FORMATS_PROTO_TEXT_H_
#define X2IR_FORMATS_PROTO_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

enum class ProtoKind : uint8_t {
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kBool,
  kFloat,
  kDouble,
  kString,
  kBytes,
  kEnum,
  kMessage
};

struct ProtoEnum {
  std::optional<int64_t> (*number)(std::string_view name);
  std::string_view (*name)(int64_t number);  // empty where there is none; null: only read
};

// An enumeration of a table of names and numbers.
struct ProtoEnumValue {
  std::string_view name;
  int64_t number;
};
template <const auto& kValues>
constexpr ProtoEnum ProtoEnumOf() {
  return {[](std::string_view name) -> std::optional<int64_t> {
            for (const ProtoEnumValue& value : kValues) {
              if (value.name == name) return value.number;
            }
            return std::nullopt;
          },
          [](int64_t number) -> std::string_view {
            for (const ProtoEnumValue& value : kValues) {
              if (value.number == number) return value.name;
            }
            return {};
          }};
}

enum class ProtoRule : uint8_t {
  kOne,
  kMany,   // repeated
  kOneOf,  // at most one field of this rule may be set in a message
};

struct ProtoMessage;
struct ProtoField {
  std::string_view name;
  uint32_t number;
  ProtoKind kind;
  const ProtoMessage* message = nullptr;  // of kMessage
  const ProtoEnum* values = nullptr;      // of kEnum
  ProtoRule rule = ProtoRule::kOne;
};
// At most so many fields.
inline constexpr size_t kMaxProtoFields = 128;
struct ProtoMessage {
  std::string_view name;
  absl::Span<const ProtoField> fields;
};

// What the table does not know: read over, for tables of what a reader needs; or an error, together
// with a field that is set twice though it is not repeated, for tables that are complete.
enum class ProtoUnknown : uint8_t { kSkipped, kError };

// Text to the wire form of `message`. Errors are DataLoss or InvalidArgument, and say line and
// column. What is allocated is a small multiple of the text.
absl::StatusOr<std::string> ProtoTextToWire(std::string_view text, const ProtoMessage& message,
                                            ProtoUnknown unknown);
// Unknown fields are errors. Names may be as in the table or in lowerCamelCase.
absl::StatusOr<std::string> ProtoJsonToWire(std::string_view text, const ProtoMessage& message);

// The wire form to text, given to `put` piece by piece. FailedPrecondition for what the text cannot
// hold, so that nothing is left out: unknown fields, and in JSON strings that are not UTF-8. Of the
// bits of a NaN only its being one is kept.
using ProtoPut = std::function<absl::Status(std::string_view piece)>;
absl::Status WireToProtoText(std::string_view wire, const ProtoMessage& message,
                             const ProtoPut& put);
enum class ProtoJsonStyle : uint8_t {
  kIndented,  // for people: names as in the table, maps as lists of entries, a line for each field
  kCompact,   // protobuf's own mapping: names in lowerCamelCase, maps as objects, on one line
};
absl::Status WireToProtoJson(std::string_view wire, const ProtoMessage& message,
                             const ProtoPut& put, ProtoJsonStyle style = ProtoJsonStyle::kIndented);

// The first name in a text, if what follows it can follow the name of a field; else empty. Of JSON:
// the first key of the object that the text is.
std::string_view FirstProtoTextName(std::string_view head);
std::string_view FirstJsonKey(std::string_view head);

// The field called so, or of that number, or null; of JSON also by its lowerCamelCase name.
const ProtoField* FindProtoField(const ProtoMessage& message, std::string_view name);
const ProtoField* FindProtoField(const ProtoMessage& message, uint32_t number);
const ProtoField* FindProtoJsonField(const ProtoMessage& message, std::string_view name);

}  // namespace x2ir

#endif  // X2IR_FORMATS_PROTO_TEXT_H_
