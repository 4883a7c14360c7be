// Writes zip archives as PyTorch and Keras read them: every entry stored, its bytes at a multiple
// of 64 in the file, so that weights can be mapped; zip64 records where sizes need them. The same
// entries make the same bytes: there are no times. Bytes of mapped tensors go from file to file in
// pieces.
#ifndef X2IR_FORMATS_IO_ZIP_WRITER_H_
#define X2IR_FORMATS_IO_ZIP_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

class ZipWriter {
 public:
  // The caller commits the file, which must be empty.
  explicit ZipWriter(AtomicFile& file) : file_(file) {}
  // Names must be plain paths of less than 65536 bytes, each once.
  absl::Status Add(std::string_view name, std::string_view bytes);
  absl::Status Add(std::string_view name, const Tensor& tensor);  // of neither strings nor sparse
  // Several parts one after the other, each a text, or a tensor where there is one.
  struct Part {
    std::string text;
    const Tensor* tensor = nullptr;
  };
  absl::Status Add(std::string_view name, absl::Span<const Part> parts);
  // The end of the last entry.
  absl::Status Finish();

 private:
  struct Entry {
    std::string name;
    uint64_t header = 0, size = 0;
    uint32_t crc = 0;
  };
  absl::Status Begin(std::string_view name, uint64_t size, uint32_t crc);

  AtomicFile& file_;
  std::vector<Entry> entries_;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_ZIP_WRITER_H_
