// Facts of the dialects vhlo, stablehlo and chlo as tables, which the build makes of
// facts/stablehlo-ops.json: the attributes of operations, and the codes that attributes and types
// have in bytecode.
#ifndef X2IR_FORMATS_MLIR_DIALECTS_INTERNAL_H_
#define X2IR_FORMATS_MLIR_DIALECTS_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/types/span.h"

namespace x2ir::mlir {

// What an attribute is outside of VHLO.
enum class Form : uint8_t {
  kOther,
  kInt64,
  kInt32,
  kFloat32,
  kBool,
  kUnit,
  kInts,    // array<i64>
  kBools,   // array<i1>
  kTensor,  // dense<>
  kString,
  kSymbol,
  kSymbols,
  kEnum,
  kEnums,
  kApiVersion,  // an enum that is a number outside of VHLO
  kType,
  kArray,
  kDict,
};

struct AttrFact {
  std::string_view name;
  Form form;
  bool optional;
};

inline constexpr int kCurrent = 1 << 30;  // still in the newest release

struct OpFact {
  std::string_view name;                  // "vhlo.scatter_v2", "stablehlo.add", "chlo.erf"
  absl::Span<const AttrFact> attributes;  // sorted by name
  int since = 0, until = 0;               // releases: 1.4.0 is 10400
  int operands = 0;                       // how many; -1: any number
};
const OpFact* FindOp(std::string_view name);  // null: not known

std::string_view KnownReleases();  // of VHLO: "0.9.0 to 1.20.0"
// The version of bytecode that a release of VHLO is written in.
int BytecodeVersionOf(int release);

// How a field of an attribute or type is encoded.
enum class FieldKind : uint8_t {
  kVarint,
  kEnum,
  kInt,
  kInts,
  kAttr,
  kOptionalAttr,
  kAttrs,
  kPairs,
  kType,
  kTypes,
  kFloat,
  kFloats,
  kApInt,
  kString,
  kBlob
};

struct CodedField {
  std::string_view name;
  FieldKind kind;
};

struct EnumCase {
  std::string_view name;
  int64_t number;
};

struct Coded {
  std::string_view dialect;  // "vhlo"
  int64_t code;
  std::string_view name;  // without dialect and version: "comparison_direction", "f32"
  absl::Span<const CodedField> fields;
  int since;                         // of vhlo: the first release
  absl::Span<const EnumCase> cases;  // of an enum
};
std::optional<Coded> AttrByCode(std::string_view dialect, uint64_t code);
std::optional<Coded> AttrByName(std::string_view dialect, std::string_view name);
std::optional<Coded> TypeByCode(std::string_view dialect, uint64_t code);
std::optional<Coded> TypeByName(std::string_view dialect, std::string_view name);

}  // namespace x2ir::mlir

#endif  // X2IR_FORMATS_MLIR_DIALECTS_INTERNAL_H_
