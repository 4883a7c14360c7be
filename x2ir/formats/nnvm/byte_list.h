// Lists of tensors as MXNet and TVM write them: numbers, little-endian, and names, one after the
// other. Every size is checked against what is left of the file.
#ifndef X2IR_FORMATS_NNVM_BYTE_LIST_H_
#define X2IR_FORMATS_NNVM_BYTE_LIST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/named_tensor.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {
namespace nnvm {

// Reads on from a place in a file. The first error stays; what is read after it is 0.
class ByteCursor {
 public:
  explicit ByteCursor(BlobPtr file) : file_(std::move(file)) {}

  uint64_t place() const { return place_; }
  uint64_t left() const { return file_->size() - place_; }
  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  void Fail(absl::Status status) {
    if (ok()) status_ = std::move(status);
  }

  template <typename T>
  T Read() {
    if (!Need(sizeof(T))) return T{};
    const T value = LoadNumber<T>(file_->data() + place_);
    place_ += sizeof(T);
    return value;
  }
  // How many things follow that are of `least` bytes each, or more.
  uint64_t Count(uint64_t least) {
    const auto count = Read<uint64_t>();
    if (ok() && count > left() / least) {
      Fail(DataLoss("byte ", place_ - 8, ": a list of ", count,
                    " elements does not fit into the file"));
    }
    return ok() ? count : 0;
  }
  std::string Text() {
    const uint64_t size = Count(1);
    if (!Need(size)) return "";
    std::string text(file_->view().substr(place_, size));
    place_ += size;
    return text;
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> all;
    for (uint64_t n = Count(8); n > 0 && ok(); --n) all.push_back(Text());
    return all;
  }
  // The bytes of a tensor, where they lie.
  absl::StatusOr<Tensor> Elements(DType dtype, std::vector<int64_t> dims) {
    X2IR_RETURN_IF_ERROR(status_);
    int64_t count = 1;
    for (const int64_t dim : dims) {
      if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) {
        Fail(DataLoss("byte ", place_, ": an impossible shape"));
        return status_;
      }
    }
    const auto nbytes = ByteSize(dtype, count);
    if (!nbytes || !Need(static_cast<uint64_t>(*nbytes))) {
      Fail(DataLoss("byte ", place_, ": a tensor does not fit into the file"));
      return status_;
    }
    const uint64_t from = place_;
    place_ += static_cast<uint64_t>(*nbytes);
    return TensorOf(dtype, std::move(dims), file_, from, static_cast<uint64_t>(*nbytes));
  }

 private:
  bool Need(uint64_t bytes) {
    if (ok() && bytes > left()) {
      Fail(DataLoss("the file ends at byte ", file_->size(),
                    ", inside of the data that starts at byte ", place_));
    }
    return ok();
  }

  BlobPtr file_;
  uint64_t place_ = 0;
  absl::Status status_;
};

}  // namespace nnvm
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNVM_BYTE_LIST_H_
