// Writes a FlatBuffer in few bytes. Equal objects are written once, vtables come first, and small
// objects fill the gaps between aligned data. The bytes of tensors are moved to where they belong
// without being touched. (FlatBuffers' own builder holds all bytes in memory, and shares vtables
// and strings alone.)
#ifndef X2IR_FORMATS_FLAT_FLAT_FILE_INTERNAL_H_
#define X2IR_FORMATS_FLAT_FLAT_FILE_INTERNAL_H_

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::flat {

// An object of a FlatFile; 0: none.
struct FlatRef {
  uint32_t number = 0;
  explicit operator bool() const { return number != 0; }
  friend bool operator==(FlatRef, FlatRef) = default;
};

// The fields of a table, by their places in the vtable (fb::Tensor::VT_SHAPE).
class FlatTable {
 public:
  using At = flatbuffers::voffset_t;

  // Nothing where the value is the default.
  template <typename T>
  void Add(At at, T value, T fallback = T()) {
    static_assert(sizeof(T) <= sizeof(uint64_t));
    if (std::memcmp(&value, &fallback, sizeof value) == 0) return;
    Field field{at, sizeof value, Kind::kNumber, 0};
    std::memcpy(&field.bits, &value, sizeof value);
    fields_.push_back(field);
  }
  void Add(At at, FlatRef object) {
    if (object) fields_.push_back({at, 4, Kind::kOffset, object.number});
  }
  // Where in the file the bytes of data lie: a ulong.
  void AddPlaceOf(At at, FlatRef data) { fields_.push_back({at, 8, Kind::kPlace, data.number}); }

 private:
  friend class FlatFile;
  enum class Kind : uint8_t { kNumber, kOffset, kPlace };
  struct Field {
    At at;
    uint8_t width;
    Kind kind;
    uint64_t bits;  // the number, or that of the object
  };
  std::vector<Field> fields_;
};

class FlatFile {
 public:
  // Vectors of numbers, and a string. `own`: it is not shared.
  template <typename T>
  FlatRef Vector(const std::vector<T>& numbers, bool own = false) {
    std::string bytes(sizeof(uint32_t) + numbers.size() * sizeof(T), '\0');
    flatbuffers::WriteScalar(bytes.data(), static_cast<uint32_t>(numbers.size()));
    if (!numbers.empty()) {
      std::memcpy(bytes.data() + sizeof(uint32_t), numbers.data(), numbers.size() * sizeof(T));
    }
    return Leaf(std::move(bytes), sizeof(T) == 8 ? 8 : 4, own);
  }
  FlatRef String(std::string_view text);
  FlatRef Bytes(std::string_view bytes) {
    return Vector(std::vector<char>{bytes.begin(), bytes.end()});
  }
  FlatRef Vector(const std::vector<FlatRef>& objects);
  FlatRef Table(FlatTable table);
  // A vector of the tensor's bytes, which lie at a multiple of `alignment`. `at_end`: after
  // everything else and without the length that vectors have; only AddPlaceOf refers to it.
  FlatRef Data(const Tensor& tensor, uint32_t alignment, bool at_end = false);

  // Bytes of all that is not data, about.
  uint64_t size() const { return size_; }
  absl::Status Write(FlatRef root, std::string_view identifier, AtomicFile& file);

 private:
  enum class Kind : uint8_t { kLeaf, kVector, kTable, kData };
  struct Object {
    Kind kind;
    uint32_t alignment = 4;  // of the data after the length
    std::string bytes{};     // of a leaf, with its length
    std::vector<FlatRef> objects{};
    std::vector<FlatTable::Field> fields{};
    uint32_t vtable = 0;  // of a table: the number of its vtable
    Tensor data{};
    bool at_end = false;
    uint64_t place = 0;  // where it begins; for data, after its length
  };

  FlatRef Leaf(std::string bytes, uint32_t alignment, bool own);
  FlatRef Shared(std::string key, Object object);
  Object& at(uint32_t number) { return objects_[number - 1]; }

  // Objects that lead to others, each before those; leaves and data.
  void Visit(FlatRef object, std::vector<uint32_t>* inner);
  void PlaceInner(const std::vector<uint32_t>& inner);
  void PlaceOthers();
  std::string HeadBytes(FlatRef root, std::string_view identifier,
                        const std::vector<uint32_t>& inner);

  std::vector<Object> objects_;
  absl::flat_hash_map<std::string, FlatRef> known_;
  std::vector<std::string> vtables_;
  std::vector<uint64_t> vtable_places_;
  absl::flat_hash_map<std::string, uint32_t> known_vtables_;
  std::vector<bool> seen_;
  std::vector<uint32_t> leaves_, data_, pieces_;  // pieces: of both, in the order of the file
  uint64_t size_ = 0, end_ = 0;
};

}  // namespace x2ir::flat

#endif  // X2IR_FORMATS_FLAT_FLAT_FILE_INTERNAL_H_
