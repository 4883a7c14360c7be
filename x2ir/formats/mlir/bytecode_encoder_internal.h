// Attributes and types as MLIR bytecode has them: each once, in the order in which they are needed.
#ifndef X2IR_FORMATS_MLIR_BYTECODE_ENCODER_INTERNAL_H_
#define X2IR_FORMATS_MLIR_BYTECODE_ENCODER_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "x2ir/formats/mlir/byte_writer_internal.h"
#include "x2ir/formats/mlir/dialects_internal.h"
#include "x2ir/formats/mlir/module.h"

namespace x2ir::mlir {

// Numbers of texts, in the order of their first use.
class TextTable {
 public:
  uint64_t IndexOf(std::string_view text) {
    const auto [at, added] = index_.emplace(text, texts_.size());
    if (added) texts_.emplace_back(text);
    return at->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  absl::flat_hash_map<std::string, uint64_t> index_;
  std::vector<std::string> texts_;
};

class BytecodeEncoder {
 public:
  // Which dialect attributes and types are of: those of VHLO's operations are its own.
  enum Flavor : uint8_t { kBuiltin, kVhlo };

  struct Entry {
    uint64_t dialect;
    std::string bytes;
    std::optional<Tensor> tensor;  // behind the bytes: elements that are not copied
    uint64_t size() const { return bytes.size() + (tensor ? tensor->nbytes() : 0); }
  };

  uint64_t AttrIndex(const Attr& attr, Flavor flavor);
  uint64_t TypeIndex(const MlirType& type, Flavor flavor);
  uint64_t UnknownLocation();
  uint64_t Dictionary(const AttrList& fields, Flavor flavor);  // of the builtin dialect

  TextTable& strings() { return strings_; }
  TextTable& dialects() { return dialects_; }
  const std::vector<Entry>& attrs() const { return attrs_; }
  const std::vector<Entry>& types() const { return types_; }
  // FailedPrecondition: the first thing that bytecode cannot say.
  const absl::Status& status() const { return status_; }

 private:
  // The number of the entry, which is added unless there is an equal one.
  uint64_t Add(std::vector<Entry>& entries, std::string_view dialect, ByteWriter head,
               std::optional<Tensor> tensor = std::nullopt);
  void Fail(std::string what);

  void VhloAttr(const Attr& attr, ByteWriter& out, std::optional<Tensor>* tensor);
  void BuiltinAttr(const Attr& attr, ByteWriter& out, std::optional<Tensor>* tensor);
  void CodedFields(const Attr& attr, const Coded& coded, Flavor flavor, ByteWriter& out);
  void Field(const Attr& value, const CodedField& field, const Coded& coded, Flavor flavor,
             ByteWriter& out);
  void Fields(const AttrList& fields, Flavor flavor, ByteWriter& out);
  void Items(const std::vector<Attr>& items, Flavor flavor, ByteWriter& out);
  void Number(const Attr& attr, Flavor flavor, ByteWriter& out);
  // A type and the elements: as a blob, of which a large one stays a tensor.
  void Elements(const Attr& attr, Flavor flavor, ByteWriter& out, std::optional<Tensor>* tensor);
  void Blob(const Tensor& values, bool splat, ByteWriter& out, std::optional<Tensor>* tensor);
  uint64_t StringAttr(std::string_view text);

  void Types(const std::vector<TypeRef>& types, size_t from, size_t to, Flavor flavor,
             ByteWriter& out);
  void Shape(const MlirType& type, ByteWriter& out);
  void VhloType(const MlirType& type, ByteWriter& out);
  void BuiltinType(const MlirType& type, ByteWriter& out);
  void Element(const MlirType& type, Flavor flavor, ByteWriter& out);
  void Quantized(const Quantization& q, ByteWriter& out);

  TextTable strings_, dialects_;
  std::vector<Entry> attrs_, types_;
  absl::flat_hash_map<std::string, uint64_t> known_;
  int depth_ = 0;
  absl::Status status_;
};

}  // namespace x2ir::mlir

#endif  // X2IR_FORMATS_MLIR_BYTECODE_ENCODER_INTERNAL_H_
