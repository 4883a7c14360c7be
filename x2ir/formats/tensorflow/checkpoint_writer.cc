#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "x2ir/formats/io/checksums.h"
#include "x2ir/formats/tensorflow/checkpoint_writer_internal.h"
#include "x2ir/formats/tensorflow/graph_writer_internal.h"
#include "x2ir/formats/tensorflow/sorted_table_internal.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

constexpr size_t kBlockSize = 1 << 18;  // a block ends once it is that large
constexpr int kRestartInterval = 16;    // a key is whole that often
constexpr size_t kHandlesSize = 40;     // of the file's end, before the magic number
constexpr uint64_t kAlignment = 64;     // of variables in the data: they are mapped
constexpr int64_t kBundleProducer = 1;

void PutVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

template <typename T>
void PutNumber(std::string* out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

class BlockWriter {
 public:
  explicit BlockWriter(int interval) : interval_(interval) {}

  void Add(const std::string& key, std::string_view value) {
    size_t shared = 0;
    if (count_ % interval_ == 0) {
      restarts_.push_back(static_cast<uint32_t>(bytes_.size()));
    } else {
      const size_t most = std::min(key.size(), last_.size());
      while (shared < most && key[shared] == last_[shared]) ++shared;
    }
    for (const size_t n : {shared, key.size() - shared, value.size()}) PutVarint(&bytes_, n);
    bytes_.append(key, shared).append(value);
    last_ = key;
    ++count_;
  }
  bool empty() const { return count_ == 0; }
  size_t size() const { return bytes_.size(); }
  const std::string& last() const { return last_; }

  // Appends the block to a file, and gives its place there.
  std::string Finish(std::string* file) {
    if (restarts_.empty()) restarts_.push_back(0);
    for (const uint32_t restart : restarts_) PutNumber<uint32_t>(&bytes_, restart);
    PutNumber<uint32_t>(&bytes_, static_cast<uint32_t>(restarts_.size()));
    std::string handle;
    PutVarint(&handle, file->size());
    PutVarint(&handle, bytes_.size());
    bytes_.push_back(0);  // not compressed
    const uint32_t crc = MaskedCrc32c(Crc32c(bytes_));
    file->append(bytes_);
    PutNumber<uint32_t>(file, crc);
    *this = BlockWriter(interval_);
    return handle;
  }

 private:
  int interval_;
  int count_ = 0;
  std::string bytes_, last_;
  std::vector<uint32_t> restarts_;
};

}  // namespace

std::string SortedTable(const std::map<std::string, std::string>& entries) {
  std::string file;
  BlockWriter block(kRestartInterval), index(1);
  const auto flush = [&] {
    if (block.empty()) return;
    const std::string last = block.last();
    index.Add(last, block.Finish(&file));
  };
  for (const auto& [key, value] : entries) {
    block.Add(key, value);
    if (block.size() >= kBlockSize) flush();
  }
  flush();
  std::string handles = BlockWriter(1).Finish(&file);  // of facts about the table: none
  handles += index.Finish(&file);
  handles.resize(kHandlesSize);
  file += handles;
  PutNumber<uint64_t>(&file, kTableMagic);
  return file;
}

absl::Status CheckpointWriter::Add(const std::string& name, const Tensor& tensor,
                                   AtomicFile& data) {
  X2IR_RETURN_IF_ERROR(data.AlignTo(kAlignment));
  const uint64_t offset = data.size();
  uint32_t crc = 0;
  X2IR_RETURN_IF_ERROR(
      data.Append(tensor, [&](std::string_view bytes) { crc = Crc32c(bytes, crc); }));
  WireWriter entry;
  entry.Int(bundle_entry_proto_field::kDtype, NumberOfDType(tensor.dtype()));
  const Shape shape(std::vector<Dim>(tensor.dims().begin(), tensor.dims().end()));
  WriteShapeProto(entry, bundle_entry_proto_field::kShape, &shape);
  entry.IntUnlessZero(bundle_entry_proto_field::kOffset, static_cast<int64_t>(offset));
  entry.IntUnlessZero(bundle_entry_proto_field::kSize, static_cast<int64_t>(tensor.nbytes()));
  // A field of four bytes, as a float's are.
  entry.Float(bundle_entry_proto_field::kCrc32c, std::bit_cast<float>(MaskedCrc32c(crc)));
  if (!entries_.emplace(name, entry.ToString()).second) {
    return Internal("two variables are called '", name, "'");
  }
  return absl::OkStatus();
}

std::string CheckpointWriter::Index() const {
  WireWriter header;
  header.Int(bundle_header_proto_field::kNumShards, 1);
  header.Begin(bundle_header_proto_field::kVersion);
  header.Int(version_def_field::kProducer, kBundleProducer);
  header.End();
  std::map<std::string, std::string> entries = entries_;
  entries.emplace("", header.ToString());
  return SortedTable(entries);
}

}  // namespace x2ir::tf_format
