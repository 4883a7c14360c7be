// Where the external tensors of an ONNX file go: to places in new files beside it, or nowhere,
// where the file names those that they are in already.
#ifndef X2IR_FORMATS_ONNX_EXTERNALS_INTERNAL_H_
#define X2IR_FORMATS_ONNX_EXTERNALS_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::onnx_format {

class Externals {
 public:
  // Of the ONNX file that is written to `sink`: into NAME.data, NAME.data.2, ... of at most
  // `max_size` bytes each (0: all into one). `reference`: what is mapped from a file stays there.
  Externals(const Sink& sink, uint64_t max_size, bool reference);

  struct Place {
    const std::string* location;  // relative to the ONNX file's folder
    uint64_t offset;
  };
  // Tensors of the same bytes share their place. FailedPrecondition where the tensor is to stay in
  // a file that ONNX has no name for: one outside of the folder.
  absl::StatusOr<Place> Put(const Tensor& tensor);

  // Writes the new files; the caller commits them. `force`: as OnnxWriteOptions has it.
  absl::StatusOr<std::vector<AtomicFile>> Write(bool force) const;

 private:
  struct File {
    std::string path;
    std::string location;
    uint64_t size = 0;
    std::vector<std::pair<Tensor, uint64_t>> tensors;  // with their offsets
  };
  absl::StatusOr<const std::string*> NameOf(const MappedFile& file);

  const Sink& sink_;
  const std::string& path_;
  const uint64_t max_size_;
  const bool reference_;
  std::deque<File> files_;  // which do not move
  absl::flat_hash_map<std::pair<const void*, size_t>, Place> places_;
  absl::flat_hash_map<const MappedFile*, const std::string*> names_;
  std::deque<std::string> kept_;  // those names, which do not move
};

}  // namespace x2ir::onnx_format

#endif  // X2IR_FORMATS_ONNX_EXTERNALS_INTERNAL_H_
