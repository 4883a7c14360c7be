// Types and tensors as tables of a file that is written.
#ifndef X2IR_FORMATS_ORT_TABLES_INTERNAL_H_
#define X2IR_FORMATS_ORT_TABLES_INTERNAL_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/flat/flat_file_internal.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/type.h"

namespace x2ir::ort_format {

class Tables {
 public:
  explicit Tables(flat::FlatFile* file) : file_(*file) {}

  // A TypeInfo. FailedPrecondition for types that the format does not have.
  absl::StatusOr<flat::FlatRef> Type(const x2ir::Type& type, std::string_view denotation = "");
  // A ValueInfo of the value; null: that of operands that are left out.
  absl::StatusOr<flat::FlatRef> Info(const Value* value);
  // FailedPrecondition for constants that ONNX Runtime does not load.
  static absl::Status CheckConstant(const x2ir::Tensor& tensor);
  // A dense Tensor; a SparseTensor.
  flat::FlatRef Dense(const x2ir::Tensor& tensor, std::string_view name,
                      std::string_view doc_string = "");
  flat::FlatRef Sparse(const x2ir::Tensor& tensor, std::string_view name);
  flat::FlatRef Strings(absl::Span<const std::string> texts);

  bool needs_version_6() const { return needs_version_6_; }
  uint64_t bytes_of_tensors() const { return bytes_of_tensors_; }

 private:
  int32_t Number(DType dtype);
  flat::FlatRef Shape(const x2ir::Shape& shape);

  flat::FlatFile& file_;
  bool needs_version_6_ = false;
  uint64_t bytes_of_tensors_ = 0;  // with what they are aligned by
};

}  // namespace x2ir::ort_format

#endif  // X2IR_FORMATS_ORT_TABLES_INTERNAL_H_
