// Attributes and types of an MLIR bytecode file. They refer to each other by index, and are decoded
// when something needs them: locations never are.
#ifndef X2IR_FORMATS_MLIR_BYTECODE_VALUES_INTERNAL_H_
#define X2IR_FORMATS_MLIR_BYTECODE_VALUES_INTERNAL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/mlir/bytecode_file_internal.h"
#include "x2ir/formats/mlir/dialects_internal.h"
#include "x2ir/formats/mlir/module.h"

namespace x2ir::mlir {

// An element type by its name: "f32", "tf32".
TypeRef ScalarType(std::string_view name);
TypeRef OtherType(std::string text);
TypeRef TensorTypeOf(const MlirType& element, const std::vector<int64_t>* dims,
                     std::vector<int64_t> bounds = {});
// A buffer that is laid out like the tensor, "memref<2x3xf32>", and the reverse, or null.
TypeRef BufferType(const MlirType& tensor);
TypeRef TensorOfBuffer(const MlirType& type);
// "f32", "index": of the elements of a tensor, or of a scalar.
std::string ElementText(const MlirType& type);
// Bytes of one element in bytecode, where types of less than a byte have one; 0: not known.
int StoredSize(const MlirType& type);

class BytecodeValues {
 public:
  explicit BytecodeValues(const BytecodeFile& file);

  // What the next varint says the index of. The reader fails if it cannot be read.
  const Attr& NextAttr(ByteReader& in) { return AttrAt(in.Varint(), in); }
  Attr NextOptionalAttr(ByteReader& in, bool* present);
  TypeRef NextType(ByteReader& in) { return TypeAt(in.Varint(), in); }
  TypeRef TypeAt(uint64_t index, ByteReader& in);

 private:
  template <typename T>
  struct Slot {
    bool busy = false;
    std::unique_ptr<T> value;
    int64_t cost = 0;  // of a copy
  };

  const Attr& AttrAt(uint64_t index, ByteReader& in);
  template <typename T, typename Decode>
  T* Resolve(std::vector<Slot<T>>& slots, const std::vector<BytecodeFile::Entry>& entries,
             uint64_t index, ByteReader& in, const Decode& decode);

  Attr DecodeAttr(const BytecodeFile::Entry& entry, ByteReader& in);
  Attr BuiltinAttr(ByteReader& in);
  Attr CodedAttr(std::string_view dialect, ByteReader& in);
  Attr Field(const CodedField& field, const Coded& coded, ByteReader& in);
  TypeRef DecodeType(const BytecodeFile::Entry& entry, ByteReader& in);
  TypeRef BuiltinType(ByteReader& in);
  TypeRef CodedType(std::string_view dialect, ByteReader& in);
  TypeRef Quantized(bool per_axis, ByteReader& in);

  Attr Array(ByteReader& in);
  Attr Dictionary(ByteReader& in);
  Attr Integer(ByteReader& in);
  Attr Float(ByteReader& in);
  Attr DenseArray(ByteReader& in);
  Attr DenseStrings(ByteReader& in);
  Attr DenseResource(ByteReader& in);
  // The elements of a tensor, or one of them for all, `position` of the bytecode.
  Attr Elements(const TypeRef& type, std::string_view bytes, uint64_t position, ByteReader& in);
  Attr Blob(const TypeRef& type, ByteReader& in);
  std::vector<TypeRef> Types(ByteReader& in);
  std::vector<int64_t> Ints(ByteReader& in);

  const BytecodeFile& file_;
  std::vector<Slot<Attr>> attrs_;
  std::vector<Slot<TypeRef>> types_;
  int depth_ = 0;
  int64_t budget_;  // of what may still be copied: an attribute can contain another many times
};

}  // namespace x2ir::mlir

#endif  // X2IR_FORMATS_MLIR_BYTECODE_VALUES_INTERNAL_H_
