#include <utility>

#include "x2ir/formats/keras/hdf5_writer_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::keras {
namespace {

constexpr uint64_t kNoPlace = ~uint64_t{0};
constexpr uint64_t kDataAlignment = 64;
constexpr size_t kSuperblockSize = 96, kHeaderPrefix = 16;
constexpr size_t kMaxMessages = 0xffff;
// Types of messages in object headers.
constexpr uint16_t kWriteDataspace = 1, kWriteLinkInfo = 2, kWriteDatatype = 3, kWriteFillValue = 5,
                   kWriteLink = 6, kWriteDataLayout = 8, kWriteGroupInfo = 10;

class LittleEndian {
 public:
  template <typename T>
  LittleEndian& Put(T number) {
    for (size_t i = 0; i < sizeof(T); ++i) {
      bytes_ += static_cast<char>(static_cast<uint64_t>(number) >> (8 * i));
    }
    return *this;
  }
  LittleEndian& Bytes(std::initializer_list<int> bytes) {
    for (const int byte : bytes) bytes_ += static_cast<char>(byte);
    return *this;
  }
  LittleEndian& Text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  LittleEndian& AlignTo(size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment, '\0');
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// The messages of an object header of version 1.
class Messages {
 public:
  void Add(uint16_t type, LittleEndian message) {
    message.AlignTo(8);
    bytes_.Put(type).Put(static_cast<uint16_t>(message.bytes().size())).Bytes({0, 0, 0, 0});
    bytes_.Text(message.bytes());
    ++count_;
  }
  size_t size() const { return kHeaderPrefix + bytes_.bytes().size(); }
  std::string Header() const {
    LittleEndian header;
    header.Bytes({1, 0}).Put(static_cast<uint16_t>(count_)).Put(uint32_t{1});
    header.Put(static_cast<uint32_t>(bytes_.bytes().size())).Put(uint32_t{0}).Text(bytes_.bytes());
    return header.bytes();
  }

 private:
  LittleEndian bytes_;
  size_t count_ = 0;
};

// The message of an element type; empty where HDF5 has none.
LittleEndian DatatypeOf(DType type) {
  const auto bits = static_cast<uint16_t>(BitWidth(type));
  LittleEndian message;
  if (IsInteger(type) && bits >= 8) {
    message.Bytes({0x10, IsSignedInt(type) ? 8 : 0, 0, 0}).Put(uint32_t{bits} / 8);
    message.Put(uint16_t{0}).Put(bits);
    return message;
  }
  struct Float {
    DType type;
    int exponent_at, exponent_bits;
    uint32_t bias;
  };
  static constexpr Float kFloats[] = {
      {DType::kFloat16, 10, 5, 15}, {DType::kFloat32, 23, 8, 127}, {DType::kFloat64, 52, 11, 1023}};
  for (const Float& f : kFloats) {
    if (f.type != type) continue;
    message.Bytes({0x11, 0x20, bits - 1, 0}).Put(uint32_t{bits} / 8).Put(uint16_t{0}).Put(bits);
    message.Bytes({f.exponent_at, f.exponent_bits, 0, f.exponent_at}).Put(f.bias);
  }
  return message;
}

Messages DatasetMessages(const Tensor& tensor, uint64_t address) {
  Messages messages;
  LittleEndian space;
  space.Bytes({1, static_cast<int>(tensor.rank()), 0, 0, 0, 0, 0, 0});
  for (const int64_t dim : tensor.dims()) space.Put(dim);
  messages.Add(kWriteDataspace, space);
  messages.Add(kWriteDatatype, DatatypeOf(tensor.dtype()));
  messages.Add(kWriteFillValue, LittleEndian().Bytes({2, 2, 2, 1, 0, 0, 0, 0}));
  messages.Add(kWriteDataLayout, LittleEndian()
                                     .Bytes({3, 1})
                                     .Put(tensor.nbytes() == 0 ? kNoPlace : address)
                                     .Put(static_cast<uint64_t>(tensor.nbytes())));
  return messages;
}

void AddLink(Messages& messages, std::string_view name, uint64_t address) {
  messages.Add(kWriteLink, LittleEndian()
                               .Bytes({1, 1})  // names of up to 64 KB
                               .Put(static_cast<uint16_t>(name.size()))
                               .Text(name)
                               .Put(address));
}

}  // namespace

Hdf5Writer::Group& Hdf5Writer::Find(std::string_view path) {
  Group* group = &root_;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    std::unique_ptr<Group>& inner = group->groups[std::string(name)];
    if (!inner) inner = std::make_unique<Group>();
    group = inner.get();
  }
  return *group;
}

void Hdf5Writer::AddGroup(std::string_view path) { Find(path); }

absl::Status Hdf5Writer::AddDataset(std::string_view group, std::string_view name,
                                    const Tensor& tensor) {
  if (tensor.is_string() || tensor.is_sparse() || DatatypeOf(tensor.dtype()).bytes().empty()) {
    return CannotExpress("a weight of ", Name(tensor.dtype()), " in HDF5");
  }
  if (!Find(group).datasets.emplace(name, &tensor).second) {
    return CannotExpress("two weights at '", group, "/", name, "'");
  }
  return absl::OkStatus();
}

// Addresses first: headers one after the other, then the bytes of datasets.
struct Hdf5Writer::Layout {
  struct Object {
    const Tensor* tensor = nullptr;
    std::vector<std::pair<std::string_view, size_t>> links;  // to objects, in the order of names
    uint64_t header = 0, data = 0;
  };
  std::vector<Object> objects;

  size_t Add(const Group& group) {
    const size_t at = objects.size();
    objects.emplace_back();
    std::map<std::string_view, size_t> links;
    for (const auto& [name, inner] : group.groups) links[name] = Add(*inner);
    for (const auto& [name, tensor] : group.datasets) {
      links[name] = objects.size();
      objects.push_back({.tensor = tensor, .links = {}});
    }
    objects[at].links.assign(links.begin(), links.end());
    return at;
  }

  Messages Of(const Object& object) const {
    if (object.tensor) return DatasetMessages(*object.tensor, object.data);
    Messages messages;
    messages.Add(kWriteLinkInfo, LittleEndian().Bytes({0, 0}).Put(kNoPlace).Put(kNoPlace));
    messages.Add(kWriteGroupInfo, LittleEndian().Bytes({0, 0}));
    for (const auto& [name, to] : object.links) AddLink(messages, name, objects[to].header);
    return messages;
  }
};

absl::StatusOr<std::vector<ZipWriter::Part>> Hdf5Writer::Finish() const {
  Layout layout;
  layout.Add(root_);
  uint64_t end = kSuperblockSize;
  for (Layout::Object& object : layout.objects) {
    if (object.links.size() + 2 > kMaxMessages) {
      return CannotExpress("a group of ", object.links.size(), " members");
    }
    object.header = end;
    end += layout.Of(object).size();
  }
  for (Layout::Object& object : layout.objects) {
    if (!object.tensor || object.tensor->nbytes() == 0) continue;
    end = (end + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
    object.data = end;
    end += object.tensor->nbytes();
  }
  LittleEndian head;
  head.Text("\x89HDF\r\n\x1a\n").Bytes({0, 0, 0, 0, 0, 8, 8, 0});
  head.Put(uint16_t{4}).Put(uint16_t{16}).Put(uint32_t{0});  // sizes of nodes, which are not used
  head.Put(uint64_t{0}).Put(kNoPlace).Put(end).Put(kNoPlace);
  head.Put(uint64_t{0}).Put(layout.objects[0].header).Put(uint64_t{0}).Put(uint64_t{0});
  head.Put(uint64_t{0});
  std::vector<ZipWriter::Part> parts = {{head.bytes()}};
  for (const Layout::Object& object : layout.objects) {
    parts[0].text += layout.Of(object).Header();
  }
  uint64_t at = parts[0].text.size();
  for (const Layout::Object& object : layout.objects) {
    if (!object.tensor || object.tensor->nbytes() == 0) continue;
    parts.push_back({std::string(object.data - at, '\0')});
    parts.push_back({"", object.tensor});
    at = object.data + object.tensor->nbytes();
  }
  return parts;
}

}  // namespace x2ir::keras
