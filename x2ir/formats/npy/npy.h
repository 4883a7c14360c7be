// NumPy's .npy files: one array each, and .npz archives of these. Numbers in either byte order, in
// C or Fortran order, and fixed-width strings. Arrays of Python objects and of records are refused.
#ifndef X2IR_FORMATS_NPY_NPY_H_
#define X2IR_FORMATS_NPY_NPY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/named_tensor.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// Versions 1 to 3. Maps the file; little-endian numbers in C order are not copied, all else
// is converted. '<U' strings become UTF-8, '|S' strings stay bytes; both lose trailing NULs,
// as in NumPy. NotFound: no such file. DataLoss: not an .npy file, or a broken one.
// Unimplemented: an element type without a counterpart here.
absl::StatusOr<Tensor> ReadNpy(const std::string& path);

// The arrays of an archive by their names, in its order; stored ones are views of the file. The
// errors are those of ReadNpy and ZipArchive::Open.
absl::StatusOr<std::vector<NamedTensor>> ReadNpz(BlobPtr file);

// FailedPrecondition for what the format cannot hold: bfloat16, float8 and packed types, sparse
// tensors, strings that end in NUL. Strings become '<U' if all are UTF-8, else '|S'.
absl::Status WriteNpy(const std::string& path, const Tensor& tensor);

}  // namespace x2ir

#endif  // X2IR_FORMATS_NPY_NPY_H_
