// The table of MIL's operations: their arguments, results and types, as Apple's documentation of
// coremltools lists them for iOS15 to iOS18. A node of an operation has the arguments that are
// tensors as operands, and those that must be constants and are not weights as attributes:
//
//   int      an int            ints    ints
//   bool     an int            bools   ints
//   float    a float, of the element type of operand 0 in files ("float32": always that type)
//   string   a string          strings strings
//
// Types that attributes of kOperandType have in files: that of the operation's first operand.
#ifndef X2IR_FORMATS_COREML_MIL_OPS_H_
#define X2IR_FORMATS_COREML_MIL_OPS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/dtype.h"

namespace X2IR_API x2ir {
namespace coreml {

enum class MilKind : uint8_t {
  kOperand,  // a tensor
  kInt,
  kInts,
  kUInt,  // uint32 in files
  kBool,
  kBools,
  kFloat,    // of the type of the first operand
  kFloat32,  // of that type
  kString,
  kStrings,
  kScalar,  // a number or bool of any type: a tensor of rank 0
};

struct MilArgument {
  std::string_view name;
  MilKind kind = MilKind::kOperand;
  bool optional = false;
  bool many = false;      // a tuple of tensors; the last operand
  bool constant = false;  // an operand that must be a constant
  int since = 5;
  std::optional<Attribute> default_value{};
};

struct MilOp {
  std::string_view name;
  int since = 5;  // the first opset (CoreML5: iOS15) that has it
  std::vector<MilArgument> arguments;
  int results = 1;      // -1: as many as it says itself
  uint32_t dtypes = 0;  // bit d: its first operand may be of DType d; 0: not said
  // Place among the operands; nullopt: it is none.
  std::optional<size_t> OperandIndex(std::string_view argument) const;
  const MilArgument* Find(std::string_view argument) const;
};

// Null: there is none in the table.
const MilOp* FindMilOp(std::string_view name);
const std::vector<MilOp>& AllMilOps();  // by name

// Whether an attribute of that kind may be used for such an argument.
AttrKind KindOf(MilKind kind);

// MIL's numbers of element types, and its names of those that `cast` takes ("fp32").
DType MilToDType(int64_t data_type);
int64_t MilDataType(DType dtype);
std::string_view MilTypeName(DType dtype);
DType ParseMilTypeName(std::string_view name);

}  // namespace coreml
}  // namespace x2ir

#endif  // X2IR_FORMATS_COREML_MIL_OPS_H_
