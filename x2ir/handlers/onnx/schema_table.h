// The operator schemas of ONNX, every version of every operator of ai.onnx and ai.onnx.ml, as
// constant data. The build makes the data from facts/onnx-schemas.json and
// facts/onnx-versions.txt (tools/gen_onnx_schemas.cc).
//
// All tables refer to each other by index, never by pointer: they need no relocation, lie in
// read-only pages, and a program that asks for no schema never touches them. That is why names
// and lists are reached through functions here.
#ifndef X2IR_HANDLERS_ONNX_SCHEMA_TABLE_H_
#define X2IR_HANDLERS_ONNX_SCHEMA_TABLE_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/dtype.h"

namespace X2IR_API x2ir {

// How the tables refer to a string, and to consecutive rows of another table.
struct SchemaText {
  uint16_t begin, size;
  std::string_view view() const;
  operator std::string_view() const { return view(); }  // NOLINT: it is one
};
struct SchemaRows {
  uint16_t begin, size;
};

// What a type variable ("T"), or an operand of a fixed type ("tensor(int64)"), may be.
struct SchemaType {
  SchemaText name_;
  SchemaRows allowed_;
  // Bit d means DType d: tensor(d), seq(tensor(d)), optional(tensor(d)) and
  // optional(seq(tensor(d))).
  uint32_t tensors, sequences, optionals, optional_sequences;
  bool maps;  // something with a map in it; allowed() says what

  std::string_view name() const { return name_; }
  // Every allowed type as ONNX spells it: "tensor(float)", "seq(map(int64, float))".
  absl::Span<const SchemaText> allowed() const;
  bool AllowsTensor(DType t) const { return tensors >> static_cast<int>(t) & 1; }
  // Whether anything but tensors is allowed.
  bool allows_non_tensor() const { return (sequences | optionals | optional_sequences) || maps; }
};

enum class SchemaArity : uint8_t { kRequired, kOptional, kVariadic };

struct SchemaOperand {
  SchemaText name_;
  uint16_t type_;
  SchemaArity arity;
  bool heterogeneous;  // the values of a variadic operand may differ in type
  uint8_t min;         // values at least: 1 required, 0 optional, else of the variadic operand

  std::string_view name() const { return name_; }
  const SchemaType& type() const;
};

// The numbers are those of ONNX's AttributeProto.AttributeType, so a cast is the conversion.
enum class SchemaAttrKind : uint8_t {
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};
std::string_view Name(SchemaAttrKind kind);  // "int", "floats", "type_proto", ...

struct SchemaAttr {
  SchemaText name_;
  SchemaAttrKind kind;
  bool required;
  bool has_default;
  float f;           // the default of a kFloat
  int64_t i;         // the default of a kInt
  SchemaText text_;  // the default of a kString
  SchemaRows list_;  // the default of a kFloats, kInts or kStrings

  std::string_view name() const { return name_; }
  std::string_view s() const { return text_; }
  // Empty unless the attribute is of that kind.
  absl::Span<const float> floats() const;
  absl::Span<const int64_t> ints() const;
  absl::Span<const SchemaText> strings() const;
};

// One version of one operator.
struct OnnxSchema {
  SchemaText domain_, name_;
  uint16_t since;     // the opset of its domain that brought this version
  bool deprecated;    // from this version on the operator is not to be used
  bool has_function;  // ONNX defines it as a function of other operators
  SchemaRows inputs_, outputs_, attrs_, types_;

  std::string_view domain() const { return domain_; }  // "" is ai.onnx
  std::string_view name() const { return name_; }
  absl::Span<const SchemaOperand> inputs() const;
  absl::Span<const SchemaOperand> outputs() const;
  absl::Span<const SchemaAttr> attrs() const;  // by name
  absl::Span<const SchemaType> types() const;  // the type variables
  // Null when it has no attribute of that name.
  const SchemaAttr* FindAttr(std::string_view name) const;
};

// The newest version with since <= opset (the opset of that domain), or null. It may be a
// deprecated one. The domain "ai.onnx" is the same as "". Takes constant time.
const OnnxSchema* FindOnnxSchema(std::string_view domain, std::string_view op, int opset);

// All versions of one operator, oldest first; empty when there is no such operator.
absl::Span<const OnnxSchema> OnnxSchemaVersions(std::string_view domain, std::string_view op);

// All of them, by domain, name and version.
absl::Span<const OnnxSchema> AllOnnxSchemas();

// The newest opset of ai.onnx that we know.
int LatestOnnxOpset();
// The oldest IR version in which a model of this opset of ai.onnx may be written. For an opset
// that is newer than ours: the newest IR version that belongs to a release.
int OldestIrVersionForOpset(int opset);
// The opset of ai.onnx.ml that came with this opset of ai.onnx.
int MlOpsetFor(int opset);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_SCHEMA_TABLE_H_
