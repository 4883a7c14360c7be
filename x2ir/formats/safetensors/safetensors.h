// Safetensors files: named tensors after a JSON header. Reading maps the file and copies nothing;
// writing moves ranges from file to file.
//
// Element types that the format lacks (int4, float8e4m3fnuz, complex128, ...) travel as U8
// of one dimension; the metadata entry "x2ir.dtype.NAME" says what they are ("int4[3,5]").
// Strings and sparse tensors do not fit into it.
#ifndef X2IR_FORMATS_SAFETENSORS_SAFETENSORS_H_
#define X2IR_FORMATS_SAFETENSORS_SAFETENSORS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/named_tensor.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

struct Safetensors {
  std::vector<NamedTensor> tensors;  // in the header's order
  SafetensorsMetadata metadata;      // without "x2ir.dtype.*"
};

// Strict: no hole, no overlap, nothing past the end, no name twice. NotFound: no such file.
// DataLoss: not a safetensors file, or a broken one. Unimplemented: an element type that no
// Tensor has (6-bit floats).
absl::StatusOr<Safetensors> ReadSafetensors(const std::string& path);
absl::StatusOr<Safetensors> ReadSafetensors(BlobPtr file);

// The order in the file is such that every tensor is aligned to its element size, and to 64
// bytes where its own size is a multiple of that: by falling alignment, then by name. The
// order of `tensors` does not matter. InvalidArgument: a name twice or not UTF-8, a string or
// sparse tensor, or a header over 100 MB.
absl::Status WriteSafetensors(const std::string& path, absl::Span<const NamedTensor> tensors,
                              const SafetensorsMetadata& metadata = {});
// The same into a file that the caller commits.
absl::Status AppendSafetensors(AtomicFile& file, absl::Span<const NamedTensor> tensors,
                               const SafetensorsMetadata& metadata = {});

}  // namespace x2ir

#endif  // X2IR_FORMATS_SAFETENSORS_SAFETENSORS_H_
