// Modules of MLIR as data: operations with operands, attributes and regions, whatever form they
// were read from (text, bytecode) and are written in. No dialect's meaning is known here.
//
// Values are numbers: Module::values tells the name and type of each. Types are shared and never
// change. Attributes keep what a reader of a dialect asks for: numbers, texts, tensors, lists, and
// structs with named fields.
#ifndef X2IR_FORMATS_MLIR_MODULE_H_
#define X2IR_FORMATS_MLIR_MODULE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/symbol.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {
namespace mlir {

// How a quantized tensor stores numbers: expressed = (stored - zero_point) * scale.
struct Quantization {
  DType storage = DType::kUndefined;    // int4, int8, uint8, ...
  DType expressed = DType::kUndefined;  // float32, ...
  int64_t storage_min = 0, storage_max = 0;
  std::vector<double> scales;        // one, or one for each element of the axes
  std::vector<int64_t> zero_points;  // as many
  std::vector<int64_t> axes;         // none: one scale; more than one only with block_sizes
  std::vector<int64_t> block_sizes;  // of the axes; empty: 1
};

struct MlirType;
using TypeRef = std::shared_ptr<const MlirType>;  // never null in a finished module

struct MlirType {
  enum Kind : uint8_t { kTensor, kScalar, kIndex, kTuple, kToken, kFunction, kNone, kOther };
  Kind kind = kOther;
  // Of kTensor and kScalar (rank 0): element type and shape. A quantized tensor has the type of its
  // storage. The element type is kUndefined where it is none of ours; `text` is its name then.
  Type type{};
  std::shared_ptr<const Quantization> quantization{};  // null: it is not quantized
  std::vector<int64_t> bounds{};  // of dynamic sizes, -1: none; empty: there are none
  std::vector<TypeRef> items{};   // of a tuple; of a function: arguments, then results
  size_t num_arguments = 0;       // of a function
  std::string text{};             // of kOther: as MLIR prints it ("!memref<...>")
};

struct Attr;
using AttrList = std::vector<std::pair<Symbol, Attr>>;  // in the order of the file

struct Attr {
  enum Kind : uint8_t {
    kUnit,
    kBool,    // i
    kInt,     // i, type where it is given ("3 : i64")
    kFloat,   // f, type
    kString,  // s
    kSymbol,  // s: "main" of @main; "a::b" of nested ones
    kType,    // type
    kTensor,  // tensor, type: dense<...> : tensor<..>; one element where `splat`
    kArray,   // items: [1, "a"]
    kInts,    // ints, s: array<i64: 1, 2>, and its element type ("i64", "i1", "i8", "i32")
    kFloats,  // floats, s: array<f32: 1.0>
    kDict,    // fields
    kEnum,    // s: the case ("LT"); the struct's name in `name` ("stablehlo.comparison_direction")
    kStruct,  // fields; name: "stablehlo.conv"
    kOther,   // s: the text
  };
  Kind kind = kUnit;
  bool splat = false;  // of kTensor
  int64_t i = 0;
  double f = 0;
  std::string s{};
  std::string name{};
  TypeRef type{};  // null: none
  Tensor tensor{};
  std::vector<int64_t> ints{};
  std::vector<double> floats{};
  std::vector<Attr> items{};
  AttrList fields{};

  const Attr* Find(Symbol field) const;
};

using ValueId = int32_t;

struct Op;

struct Block {
  std::vector<ValueId> arguments;
  std::vector<Op> ops;
};

struct Region {
  std::vector<Block> blocks;
};

struct Op {
  Symbol name;  // "stablehlo.add", "func.func"
  absl::InlinedVector<ValueId, 2> operands, results;
  AttrList attrs;
  std::vector<Region> regions;
  uint32_t line = 0;  // of the text; 0: not known

  const Attr* Find(Symbol attr) const;
};

struct ModuleValue {
  std::string name;  // "0", "arg1", "x#1"; without %; may be empty
  TypeRef type;
};

struct Module {
  std::vector<ModuleValue> values;
  Op top;                // "builtin.module"
  std::string producer;  // of bytecode: "StableHLO_v1.2.3"

  const TypeRef& type(ValueId value) const { return values[static_cast<size_t>(value)].type; }
};

// --- Making
// ---------------------------------------------------------------------------------------

TypeRef TensorType(Type type);
TypeRef FunctionType(std::vector<TypeRef> arguments, std::vector<TypeRef> results);
TypeRef PlainType(MlirType::Kind kind);  // kToken, kNone, kIndex

// "f32", "i1", "ui8", "f8E4M3FN", "complex<f32>" of an element type; empty if MLIR has none.
std::string_view ElementName(DType dtype);
DType ElementOf(std::string_view name);  // the reverse; kUndefined

// --- Asking
// ---------------------------------------------------------------------------------------

// The integers that an attribute says: of kInts, of a tensor of integers (all elements, in order),
// of kArray of kInt, of one kInt. nullopt for anything else.
std::optional<std::vector<int64_t>> IntsOf(const Attr& attr);

// A tensor of these sizes whose elements are all that of `element`. InvalidArgument if it is too
// large.
absl::StatusOr<Tensor> ExpandSplat(const Tensor& element, const std::vector<int64_t>& dims);

}  // namespace mlir
}  // namespace x2ir

#endif  // X2IR_FORMATS_MLIR_MODULE_H_
