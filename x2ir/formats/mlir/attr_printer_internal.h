// Words, types, tensors and attributes of MLIR's text, printed.
#ifndef X2IR_FORMATS_MLIR_ATTR_PRINTER_INTERNAL_H_
#define X2IR_FORMATS_MLIR_ATTR_PRINTER_INTERNAL_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/mlir/module.h"
#include "x2ir/formats/mlir/text.h"

namespace x2ir::mlir {

// Collects text in `out_`, which Flush gives to the file.
class AttrPrinter {
 public:
  AttrPrinter(const TextOptions& options, AtomicFile& file) : options_(options), file_(file) {}

 protected:
  absl::Status Flush();

  // --- Words ------------------------------------------------------------------------------------
  void Indent(int depth);
  void PutString(std::string_view text);
  void PutSymbol(std::string_view name);

  // --- Types ------------------------------------------------------------------------------------
  void PutElement(const MlirType& type);
  void PutQuantization(const Quantization& q);
  void PutType(const MlirType& type);
  void PutTypes(absl::Span<const TypeRef> types);
  void PutResultTypes(absl::Span<const TypeRef> types);

  // --- Numbers and tensors ----------------------------------------------------------------------
  // The shortest text that gives the number again; MLIR wants a point or an exponent with one.
  template <typename T>
  void PutShortest(T value);
  void PutDouble(double value);
  void PutFloat(DType dtype, const std::byte* at, int64_t i);
  void PutTensorElement(const Tensor& tensor, int64_t i);
  void PutNested(const Tensor& tensor, size_t axis, int64_t* at);
  // The bytes as MLIR has them: bits of bools, a byte for each small integer.
  absl::Status PutHex(const Tensor& tensor);
  absl::Status PutDense(const Attr& attr);

  // --- Attributes -------------------------------------------------------------------------------
  void PutInts(const std::vector<int64_t>& ints, bool bools);
  // `typed`: with the type of a number, and the names of enums.
  absl::Status PutAttr(const Attr& attr, bool typed = true);
  // "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]".
  void PutConv(const Attr& attr);
  absl::Status PutDict(const AttrList& list);

  std::string out_;
  std::vector<std::pair<std::string, const Tensor*>> resources_;  // by their names in the file

 private:
  const TextOptions& options_;
  AtomicFile& file_;
};

}  // namespace x2ir::mlir

#endif  // X2IR_FORMATS_MLIR_ATTR_PRINTER_INTERNAL_H_
