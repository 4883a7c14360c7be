// OneFlow's operators as a table (facts/oneflow-ops.json), and its element types. In a graph of
// dialect "oneflow" a node's op is the type of a user op ("conv2d"), its operands are those of the
// table in its order (null: left out), and its attributes are the op's:
//
//   int32, int64, bool         an int
//   float, double              a float, a double
//   string, memory format      a string ("kPreserve")
//   data type                  our name of the element type: "float32"
//   shape, int32s, int64s      ints; floats: floats; strings: strings; data types: strings
//   shapes                     strings: "2,3"
//   complex                    a complex128 tensor of rank 0
//
// If more than one operand is optional or variadic, and one is variadic, the attribute
// `operand_segment_sizes` has the number of values of each. Ops that are not user ops have the name
// of their message: "distribute_clone".
#ifndef X2IR_FORMATS_ONEFLOW_SCHEMA_H_
#define X2IR_FORMATS_ONEFLOW_SCHEMA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/dtype.h"

namespace X2IR_API x2ir {
namespace oneflow {

inline constexpr std::string_view kDialect = "oneflow";
inline constexpr char kSegments[] = "operand_segment_sizes";

enum class AttrType : uint8_t {
  kInt32,
  kInt64,
  kBool,
  kFloat,
  kDouble,
  kString,
  kBytes,
  kShape,
  kDataType,
  kMemoryFormat,
  kComplex,
  kInt32s,
  kInt64s,
  kFloats,
  kStrings,
  kDataTypes,
  kShapes,
};
AttrKind KindOf(AttrType type);

struct AttrSpec {
  std::string_view name;
  AttrType type;
  std::optional<Attribute> default_value;
};

enum class Count : uint8_t { kOne, kOptional, kMany };
struct OperandSpec {
  std::string_view name;
  Count count;
};

struct OpSpec {
  std::string_view name;
  std::vector<OperandSpec> inputs, outputs;
  std::vector<AttrSpec> attrs;
  const AttrSpec* FindAttr(std::string_view attr) const;
  // Whether kSegments of a node has the number of operands of each name.
  bool has_segments() const;
};

// The parts of a text, but for empty ones.
std::vector<std::string_view> Parts(std::string_view text, char separator);

// Null: there is none in the table.
const OpSpec* FindOp(std::string_view op);
// Whether older releases had that operand or result of an op, which now has none of the name, and
// which may be left out.
bool IsFormerOperand(std::string_view op, std::string_view operand);
// All of them, by name.
const std::vector<OpSpec>& AllOps();

// The enum DataType: its numbers to DType and back, and its names ("kFloat"). kUndefined, 0 and "":
// what has no counterpart.
DType ToDType(int64_t data_type);
int64_t DataTypeOf(DType dtype);
std::string_view DataTypeName(int64_t data_type);
std::optional<int64_t> DataTypeNumber(std::string_view name);
// The enum MemoryFormat.
std::string_view MemoryFormatName(int64_t number);
std::optional<int64_t> MemoryFormatNumber(std::string_view name);

}  // namespace oneflow
}  // namespace x2ir

#endif  // X2IR_FORMATS_ONEFLOW_SCHEMA_H_
