// The checkpoint of a SavedModel. Weights stay mapped, and their checksums are not verified, which
// would read all of them; checksums of the index and of strings are verified.
#include <algorithm>
#include <cstring>

#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/checksums.h"
#include "x2ir/formats/tensorflow/checkpoint_internal.h"
#include "x2ir/formats/tensorflow/sorted_table_internal.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

constexpr std::string_view kIndex = "variables/variables.index";
constexpr std::string_view kHeaderKey = "";
constexpr std::string_view kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";
constexpr uint64_t kMaxShards = 1 << 16;
// How often every byte of the data may be copied to put slices together: each variable's once, and
// once more where a graph wants other slices than there are.
constexpr int64_t kCopies = 4;

Source SourceOf(std::string_view bytes) {
  Source source;
  source.bytes = bytes;
  return source;
}

absl::StatusOr<Slice> ReadSlice(const Source& source, std::string_view bytes) {
  Slice slice;
  WireReader in = source.Fields(bytes);
  while (in.Next()) {
    if (in.field() != tensor_slice_proto_field::kExtent) continue;
    Extent extent;
    WireReader fields = source.Fields(in.Bytes());
    while (fields.Next()) {
      if (fields.field() == tensor_slice_proto_extent_field::kStart) extent.start = fields.Int();
      if (fields.field() == tensor_slice_proto_extent_field::kLength) extent.length = fields.Int();
    }
    X2IR_RETURN_IF_ERROR(fields.status());
    slice.push_back(extent);
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return slice;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Checkpoint>> Checkpoint::Open(const SavedFiles& files) {
  auto checkpoint = std::make_unique<Checkpoint>();
  const auto index = files.Open(kIndex);
  if (absl::IsNotFound(index.status())) {
    return Invalid("the SavedModel has no ", kIndex, " with its value");
  }
  X2IR_RETURN_IF_ERROR(index.status());
  uint64_t shards = 0;
  absl::Status s = checkpoint->ReadIndex((*index)->view(), &shards);
  for (uint64_t i = 0; i < shards && s.ok(); ++i) {
    const auto digits = [](uint64_t n) {
      const std::string text = StrCat(n);
      return std::string(text.size() < 5 ? 5 - text.size() : 0, '0') + text;
    };
    auto file = files.Open(StrCat("variables/variables.data-", digits(i), "-of-", digits(shards)));
    if (!file.ok()) {
      s = file.status();
      break;
    }
    checkpoint->budget_ += kCopies * static_cast<int64_t>((*file)->size());
    checkpoint->shards_.push_back(*std::move(file));
  }
  if (s.ok()) s = checkpoint->ReadObjectGraph();
  if (!s.ok()) return Annotate(s, StrCat("'", files.PathOf(kIndex), "'"));
  return checkpoint;
}

absl::Status Checkpoint::ReadIndex(std::string_view file, uint64_t* shards) {
  bool big_endian = false;
  const auto visit = [&](std::string_view key, std::string_view value) -> absl::Status {
    const Source source = SourceOf(value);
    WireReader in = source.Fields(value);
    if (key == kHeaderKey) {
      while (in.Next()) {
        if (in.field() == bundle_header_proto_field::kNumShards) *shards = in.Varint();
        if (in.field() == bundle_header_proto_field::kEndianness) big_endian = in.Int() != 0;
      }
      return in.status();
    }
    Stored entry;
    while (in.Next()) {
      switch (in.field()) {
        case bundle_entry_proto_field::kDtype: entry.type = in.Int(); break;
        case bundle_entry_proto_field::kShape: {
          X2IR_ASSIGN_OR_RETURN(std::optional<Shape> shape, ReadShape(source, in.Bytes()));
          if (shape) entry.shape = *std::move(shape);
          break;
        }
        case bundle_entry_proto_field::kShardId: entry.shard = in.Int(); break;
        case bundle_entry_proto_field::kOffset: entry.offset = in.Int(); break;
        case bundle_entry_proto_field::kSize: entry.size = in.Int(); break;
        case bundle_entry_proto_field::kCrc32c:
          if (in.type() == WireType::kFixed32) {
            std::memcpy(&entry.crc, in.raw().data() + in.raw().size() - 4, 4);
          }
          break;
        case bundle_entry_proto_field::kSlices: {
          X2IR_ASSIGN_OR_RETURN(Slice slice, ReadSlice(source, in.Bytes()));
          entry.slices.push_back(std::move(slice));
          break;
        }
        default: break;
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    entries_.emplace(std::string(key), std::move(entry));
    return absl::OkStatus();
  };
  X2IR_RETURN_IF_ERROR(ForEachEntry(file, visit));
  if (big_endian) return Unimplemented("the checkpoint is big-endian");
  if (*shards == 0 || *shards > kMaxShards) return DataLoss("it has ", *shards, " files");
  return absl::OkStatus();
}

// Names of variables, which graphs know them by, to keys of the index.
absl::Status Checkpoint::ReadObjectGraph() {
  const auto it = entries_.find(kObjectGraphKey);
  if (it == entries_.end()) return absl::OkStatus();  // before TensorFlow 2 a key is the name
  absl::StatusOr<Tensor> tensor = Read(it->second);
  if (!tensor.ok()) return Annotate(tensor.status(), "the object graph");
  if (!tensor->is_string() || tensor->strings().size() != 1) {
    return DataLoss("the object graph is not a string");
  }
  const Source source = SourceOf(tensor->strings()[0]);
  WireReader graph = source.Fields(source.bytes);
  while (graph.Next()) {
    if (graph.field() != trackable_object_graph_field::kNodes) continue;
    WireReader node = source.Fields(graph.Bytes());
    while (node.Next()) {
      if (node.field() != trackable_object_graph_trackable_object_field::kAttributes) continue;
      std::string_view name, key;
      WireReader attr = source.Fields(node.Bytes());
      while (attr.Next()) {
        if (attr.field() ==
            trackable_object_graph_trackable_object_serialized_tensor_field::kFullName)
          name = attr.Bytes();
        if (attr.field() ==
            trackable_object_graph_trackable_object_serialized_tensor_field::kCheckpointKey)
          key = attr.Bytes();
      }
      X2IR_RETURN_IF_ERROR(attr.status());
      if (name.empty()) continue;
      const auto [known, fresh] = keys_.emplace(std::string(name), std::string(key));
      if (!fresh && known->second != key) known->second.clear();  // which one, nothing says
    }
    X2IR_RETURN_IF_ERROR(node.status());
  }
  return graph.status();
}

absl::StatusOr<Tensor> Checkpoint::Variable(std::string_view name) const {
  std::string_view key = name;
  if (const auto it = keys_.find(name); it != keys_.end()) {
    if (it->second.empty()) return Invalid("the checkpoint has two variables '", name, "'");
    key = it->second;
  }
  const auto it = entries_.find(key);
  if (it == entries_.end()) return Invalid("the checkpoint has no variable '", name, "'");
  absl::StatusOr<Tensor> tensor = Whole(key, it->second);
  if (!tensor.ok()) return Annotate(tensor.status(), StrCat("variable '", name, "'"));
  return tensor;
}

absl::StatusOr<Tensor> Checkpoint::At(const Place& place) const {
  const auto it = entries_.find(place.key);
  if (it == entries_.end()) return Invalid("the checkpoint has no '", place.key, "'");
  const Stored& entry = it->second;
  const auto part = [&]() -> absl::StatusOr<Tensor> {
    if (place.slice.empty()) return Whole(place.key, entry);
    const auto dims = entry.shape.Static();
    if (!dims) return Invalid("its shape is not known");
    X2IR_ASSIGN_OR_RETURN(const Slice wanted, ParseSlice(place.slice, *dims));
    if (DimsOf(wanted) == *dims) return Whole(place.key, entry);
    // Mostly as it was stored.
    if (const Slice* slice = FindSlice(entry, *dims, wanted)) {
      X2IR_ASSIGN_OR_RETURN(const Stored* found, SliceEntry(place.key, entry, *slice));
      return Read(*found);
    }
    X2IR_ASSIGN_OR_RETURN(const Tensor whole, Whole(place.key, entry));
    if (whole.is_string()) return Unimplemented("it is a part of a tensor of strings");
    X2IR_RETURN_IF_ERROR(Spend(entry, static_cast<int64_t>(whole.nbytes())));
    Tensor cut = Spilled(CutOut(whole, wanted));
    DropPages(whole);
    return cut;
  };
  absl::StatusOr<Tensor> tensor = part();
  if (!tensor.ok()) return Annotate(tensor.status(), StrCat("'", place.key, "'"));
  return tensor;
}

absl::Status Checkpoint::Spend(const Stored& entry, int64_t bytes) const {
  constexpr int64_t kOfSlice = 64;
  const int64_t slices = kOfSlice * static_cast<int64_t>(entry.slices.size());
  if (bytes > budget_ || slices > budget_ - bytes) {
    return DataLoss("its slices are larger than the files");
  }
  budget_ -= bytes + slices;
  return absl::OkStatus();
}

const Slice* Checkpoint::FindSlice(const Stored& entry, const std::vector<int64_t>& dims,
                                   const Slice& wanted) const {
  const auto [it, fresh] = slices_.try_emplace(&entry);
  for (size_t i = 0; fresh && i < entry.slices.size(); ++i) {
    const auto stored = Within(entry.slices[i], dims);
    if (stored.ok()) it->second.emplace(SliceKey("", *stored), &entry.slices[i]);
  }
  const auto found = it->second.find(SliceKey("", wanted));
  return found == it->second.end() ? nullptr : found->second;
}

absl::StatusOr<Tensor> Checkpoint::Whole(std::string_view key, const Stored& entry) const {
  return entry.slices.empty() ? Read(entry) : Assemble(key, entry);
}

absl::StatusOr<const Checkpoint::Stored*> Checkpoint::SliceEntry(std::string_view key,
                                                                 const Stored& whole,
                                                                 const Slice& slice) const {
  const auto it = entries_.find(SliceKey(key, slice));
  if (it == entries_.end()) return DataLoss("one of its slices is missing");
  const auto dims = whole.shape.Static();
  if (!dims) return Invalid("its shape is not known");
  X2IR_ASSIGN_OR_RETURN(const Slice within, Within(slice, *dims));
  if (!it->second.slices.empty() || it->second.type != whole.type ||
      it->second.shape.Static() != DimsOf(within)) {
    return DataLoss("one of its slices is of another type or shape");
  }
  return &it->second;
}

absl::StatusOr<Tensor> Checkpoint::Assemble(std::string_view key, const Stored& entry) const {
  const DType dtype = ToDType(entry.type);
  if (dtype == DType::kUndefined) return Unimplemented("it is of ", TypeName(entry.type));
  if (dtype == DType::kString) return Unimplemented("it is a tensor of strings in slices");
  const auto dims = entry.shape.Static();
  const auto count = dims ? CheckedProduct(*dims) : std::nullopt;
  const auto nbytes = count ? ByteSize(dtype, *count) : std::nullopt;
  if (!nbytes) return Invalid("its shape is not known, or too large");
  X2IR_RETURN_IF_ERROR(Spend(entry, *nbytes));
  Tensor whole = Tensor::Zeros(dtype, *dims);
  std::vector<bool> seen(*count);
  int64_t left = *count;
  for (const Slice& slice : entry.slices) {
    X2IR_ASSIGN_OR_RETURN(const Stored* found, SliceEntry(key, entry, slice));
    X2IR_ASSIGN_OR_RETURN(const Tensor part, Read(*found));
    X2IR_ASSIGN_OR_RETURN(const Slice within, Within(slice, *dims));
    left -= part.num_elements();
    if (left < 0 || !CopyIn(part, within, &whole, &seen)) {
      return DataLoss("two of its slices overlap");
    }
    DropPages(part);
  }
  if (left != 0) return DataLoss("its slices do not cover all of it");
  return Spilled(std::move(whole));
}

absl::StatusOr<Tensor> Checkpoint::Read(const Stored& entry) const {
  const DType dtype = ToDType(entry.type);
  if (dtype == DType::kUndefined) return Unimplemented("it is of ", TypeName(entry.type));
  auto dims = entry.shape.Static();
  if (!dims) return Invalid("its shape is not known");
  if (entry.shard < 0 || entry.shard >= static_cast<int64_t>(shards_.size())) {
    return DataLoss("it lies in file ", entry.shard);
  }
  const BlobPtr& file = shards_[entry.shard];
  const auto offset = static_cast<uint64_t>(entry.offset);
  const auto size = static_cast<uint64_t>(entry.size);
  if (offset > file->size() || size > file->size() - offset) {
    return DataLoss("it lies outside of '", file->path(), "'");
  }
  if (dtype == DType::kString) {
    return ReadStrings(entry, *std::move(dims), file->view().substr(offset, size));
  }
  return TensorOf(dtype, *std::move(dims), file, offset, size);
}

// The lengths of the strings, a checksum of them, and the strings.
absl::StatusOr<Tensor> Checkpoint::ReadStrings(const Stored& entry, std::vector<int64_t> dims,
                                               std::string_view bytes) const {
  const std::optional<int64_t> count = CheckedProduct(dims);
  if (!count || static_cast<uint64_t>(*count) > bytes.size()) return DataLoss("it is too short");
  uint32_t crc = 0;
  std::vector<uint64_t> lengths(*count);
  for (uint64_t& length : lengths) {
    if (!TakeVarint(&bytes, &length)) return DataLoss("it has a broken length");
    // Of four bytes each, if that is enough.
    const size_t width = length <= UINT32_MAX ? 4 : 8;
    crc = Crc32c({reinterpret_cast<const char*>(&length), width}, crc);
  }
  if (bytes.size() < 4) return DataLoss("it is too short");
  uint32_t stored;
  std::memcpy(&stored, bytes.data(), sizeof(stored));
  if (stored != MaskedCrc32c(crc)) return DataLoss("its lengths have a wrong checksum");
  crc = Crc32c(bytes.substr(0, 4), crc);
  bytes.remove_prefix(4);
  if (MaskedCrc32c(Crc32c(bytes, crc)) != entry.crc) return DataLoss("it has a wrong checksum");
  std::vector<std::string> strings;
  for (const uint64_t length : lengths) {
    if (length > bytes.size()) return DataLoss("it is too short");
    strings.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (!bytes.empty()) return DataLoss("it is too long");
  return Tensor::Strings(std::move(dims), std::move(strings));
}

}  // namespace x2ir::tf_format
