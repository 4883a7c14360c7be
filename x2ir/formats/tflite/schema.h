// TFLite's schema as tables (facts/tflite-schema.json): enums, and the tables of options that its
// operators have. In a graph of dialect "tflite" a node's op is the operator's name in the enum
// BuiltinOperator ("CONV_2D"), and its attributes are the fields of its options:
//
//   bool, byte, int, long, uint    an int
//   float                          a float; [float] floats
//   enum                           its name ("SAME"); a number that has none an int
//   string, [ubyte]                a string of any bytes
//   [int], [long], [bool]          ints; of an enum strings
//   the index of a subgraph        a nested graph: "then_subgraph_index" is `then_subgraph`,
//                                  "branch_subgraph_indices" graphs, `branch_subgraphs`
#ifndef X2IR_FORMATS_TFLITE_SCHEMA_H_
#define X2IR_FORMATS_TFLITE_SCHEMA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/dtype.h"

namespace X2IR_API x2ir {
namespace tflite {

inline constexpr std::string_view kDialect = "tflite";

enum class FieldKind : uint8_t {
  kBool,
  kByte,
  kInt,
  kUInt,
  kLong,
  kFloat,
  kString,
  kBytes,
  kBools,
  kInts,
  kLongs,
  kFloats
};

struct Field {
  std::string_view name;
  FieldKind kind;
  uint16_t slot;        // of the FlatBuffers table
  int16_t enumeration;  // of the schema's enums; -1: none
  double default_value;
};

// A table of options: which member of the union builtin_options (1) or builtin_options_2 (2) it is.
struct Options {
  std::string_view name;  // "Conv2DOptions"
  int which;
  int number;
  absl::Span<const Field> fields;
};

// Null: none.
const Options* FindOptions(int which, int number);
// The options that an operator has ("CONV_2D"); null where it has none in any file.
const Options* OptionsOf(std::string_view op);
// What a field is called as an attribute, and whether it is one or several nested graphs.
struct AttrName {
  std::string name;
  bool is_graph = false;
};
AttrName AttrNameOf(const Field& field);
// What an attribute is that a file leaves out; nullopt for graphs.
std::optional<Attribute> DefaultOf(const Field& field);

// "CONV_2D" and its number; "" and nullopt for what the schema does not have.
std::string_view OperatorName(int64_t number);
std::optional<int64_t> OperatorNumber(std::string_view name);
// All operators, in the order of their numbers.
absl::Span<const std::string_view> OperatorNames();

// Names of an enum's values, and their numbers: of the enum of that field (enumeration >= 0).
std::string_view EnumName(const Field& field, int64_t number);
std::optional<int64_t> EnumNumber(const Field& field, std::string_view name);

// TensorType to DType, and back. kUndefined: RESOURCE, VARIANT, and what is not known; nullopt:
// TFLite has no such type.
DType ToDType(int64_t tensor_type);
std::optional<int64_t> TensorTypeOf(DType dtype);
// "INT8" to DType, for attributes that are a TensorType.
DType ToDType(std::string_view tensor_type);
std::string_view TensorTypeName(int64_t tensor_type);

}  // namespace tflite
}  // namespace x2ir

#endif  // X2IR_FORMATS_TFLITE_SCHEMA_H_
