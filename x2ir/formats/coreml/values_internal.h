// MIL's types and values, as messages of a program have them.
#ifndef X2IR_FORMATS_COREML_VALUES_INTERNAL_H_
#define X2IR_FORMATS_COREML_VALUES_INTERNAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/coreml/reader_internal.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {
namespace coreml {

struct MilType {
  enum Kind : uint8_t { kTensor, kList, kState, kOther } kind = kOther;
  int64_t data_type = 0;
  std::vector<Dim> dims;  // those that are open are unknown
  bool variadic = false;  // the rank is open
  Type type;              // of tensors, and of what a state or list holds
};
absl::StatusOr<MilType> ReadMilType(std::string_view bytes, const char* origin, int depth = 0);

struct NamedType {
  std::string name;
  MilType type;
};
absl::StatusOr<NamedType> ReadNamedType(std::string_view bytes, const char* origin);

// A constant. Types of 1, 3 and 6 bits are uint8.
struct MilValue {
  Tensor tensor;
  bool is_tensor = false;
  std::vector<MilValue> list;  // of lists and tuples
};
absl::StatusOr<MilValue> ReadMilValue(std::string_view bytes, ModelFiles& files, int depth = 0);

}  // namespace coreml
}  // namespace x2ir

#endif  // X2IR_FORMATS_COREML_VALUES_INTERNAL_H_
