// Core ML's messages as a table (facts/coreml-proto-fields.json): what each field is called and of
// what type. Names are without the package "CoreML.Specification".
#ifndef X2IR_FORMATS_COREML_FIELDS_H_
#define X2IR_FORMATS_COREML_FIELDS_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {
namespace coreml {

enum class FieldKind : uint8_t { kInt, kFloat, kDouble, kString, kEnum, kMessage };

struct MessageSpec;
struct EnumSpec {
  std::string_view name;
  std::vector<std::pair<int64_t, std::string_view>> values;
};
struct FieldSpec {
  uint32_t number = 0;
  std::string_view name;
  FieldKind kind = FieldKind::kInt;
  bool repeated = false;
  const MessageSpec* message = nullptr;  // of kMessage
  const EnumSpec* values = nullptr;      // of kEnum
};
struct MessageSpec {
  std::string_view name;
  std::vector<FieldSpec> fields;
  const FieldSpec* Find(uint32_t number) const;
  const FieldSpec* Find(std::string_view field) const;
};

// Null: there is none of that name.
const MessageSpec* FindMessage(std::string_view name);

}  // namespace coreml
}  // namespace x2ir

#endif  // X2IR_FORMATS_COREML_FIELDS_H_
