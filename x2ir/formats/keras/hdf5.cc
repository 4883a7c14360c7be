// HDF5 files as h5py writes them, read where they lie. Every address, size and count is checked
// against the file before it is used.
//
// By the HDF5 File Format Specification, version 3.0: superblocks 0, 2 and 3; object headers 1 and
// 2; groups as symbol tables or lists of links; attributes in object headers; compact and
// contiguous datasets, and chunks with a B-tree of version 1; the filters deflate, shuffle and
// fletcher32.
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "x2ir/formats/io/unpack_budget.h"
#include "x2ir/formats/keras/hdf5_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::keras {
namespace {

constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";
constexpr uint64_t kNowhere = ~uint64_t{0};
constexpr int kMaxTreeDepth = 64;
constexpr int kMaxTensorRank = 32;
// Deflate packs no more than 1032 bytes into one.
constexpr uint64_t kMaxOfAByte = 1032;
constexpr uint64_t kSmallChunk = uint64_t{16} << 20, kMaxOfADataset = 4;

absl::Status Newer(std::string_view what) {
  return Unimplemented(
      what, " in a form that only newer HDF5 files have; the option hdf5_library reads it");
}

// Reads on through bytes; after the first that are not there everything is 0.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  size_t left() const { return bytes_.size() - at_; }
  uint64_t UInt(size_t width) {
    uint64_t value = 0;
    const std::string_view bytes = Bytes(width);
    for (size_t i = bytes.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return value;
  }
  std::string_view Bytes(uint64_t count) {
    if (!ok_ || count > left()) {
      ok_ = false;
      return {};
    }
    const std::string_view bytes = bytes_.substr(at_, count);
    at_ += count;
    return bytes;
  }
  void Skip(uint64_t count) { Bytes(count); }
  void Align8(size_t since) {
    const size_t over = (at_ - since) % 8;
    if (over != 0) Skip(std::min<size_t>(8 - over, left()));
  }
  size_t at() const { return at_; }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

enum MessageType : uint64_t {
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kLink = 0x06,
  kExternal = 0x07,
  kLayout = 0x08,
  kFilters = 0x0b,
  kAttribute = 0x0c,
  kContinuation = 0x10,
  kSymbolTable = 0x11,
  kAttributeInfo = 0x15,
};
struct Message {
  uint64_t type = 0;
  bool shared = false;
  std::string_view data;
};

struct ElementType {
  enum Kind { kNumber, kText, kLongText, kOther } kind = kOther;
  DType dtype = DType::kUndefined;
  size_t size = 0;
  bool big_endian = false, padded_with_spaces = false;
};

struct Extent {
  std::vector<int64_t> dims;
  int64_t count = 1;
  bool none = false;  // no elements at all
};

struct Filter {
  uint64_t id = 0;
  uint64_t parameter = 0;
};

class Hdf5Own : public Hdf5File {
 public:
  Hdf5Own(BlobPtr blob, uint64_t offset, uint64_t size, uint64_t packed)
      : blob_(std::move(blob)),
        offset_(offset),
        file_(blob_->view().substr(offset, size)),
        budget_(packed ? packed : size) {}

  absl::Status ReadSuperblock() {
    Cursor in(file_);
    in.Skip(8);
    const uint64_t version = in.UInt(1);
    uint64_t offsets = 0, lengths = 0, base = 0, end = 0;
    if (version <= 1) {
      in.Skip(4);
      offsets = in.UInt(1);
      lengths = in.UInt(1);
      in.Skip(version == 0 ? 9 : 13);
      base = in.UInt(8);
      in.Skip(8);
      end = in.UInt(8);
      in.Skip(8 + 8);
      root_ = in.UInt(8);
    } else if (version <= 3) {
      offsets = in.UInt(1);
      lengths = in.UInt(1);
      in.Skip(1);
      base = in.UInt(8);
      in.Skip(8);
      end = in.UInt(8);
      root_ = in.UInt(8);
    } else {
      return Newer("it is");
    }
    if (!in.ok()) return DataLoss("it is a broken HDF5 file");
    if (offsets != 8 || lengths != 8 || base != 0) return Newer("its addresses are");
    if (end > file_.size()) {
      return DataLoss("the file is cut off: ", file_.size(), " of ", end, " bytes are there");
    }
    return absl::OkStatus();
  }

  bool IsGroup(const std::string& path) override {
    const auto header = Find(path);
    return header.ok() && Has(*header, kSymbolTable, kLink, kLinkInfo);
  }
  bool IsDataset(const std::string& path) override {
    const auto header = Find(path);
    return header.ok() && Has(*header, kLayout, kLayout, kLayout);
  }

  std::vector<std::string> Names(const std::string& group) override {
    std::vector<std::string> names;
    const auto address = Address(group);
    if (!address.ok()) return names;
    const auto links = Links(*address);
    if (!links.ok()) return names;
    for (const auto& [name, to] : (*links)->all) names.push_back(name);
    return names;
  }

  absl::StatusOr<std::optional<std::vector<std::string>>> Texts(
      const std::string& path, const std::string& attribute) override {
    using Result = std::optional<std::vector<std::string>>;
    const auto header = Find(path);
    if (absl::IsNotFound(header.status())) return Result();
    if (!header.ok()) return header.status();
    for (const Message& message : *header) {
      if (message.type == kAttributeInfo) X2IR_RETURN_IF_ERROR(CheckAttributeInfo(message.data));
      if (message.type != kAttribute) continue;
      if (message.shared) return Newer("an attribute is");
      absl::StatusOr<Result> texts = AttributeTexts(message.data, attribute);
      if (!texts.ok()) {
        return Annotate(texts.status(), StrCat("attribute '", attribute, "' of '", path, "'"));
      }
      if (*texts) return texts;
    }
    return Result();
  }

  absl::StatusOr<Tensor> Dataset(const std::string& path) override {
    absl::StatusOr<Tensor> tensor = ReadDataset(path);
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("dataset '", path, "'"));
    return tensor;
  }

 private:
  using Header = std::vector<Message>;
  // In the file's order; of several of one name the first counts.
  struct LinkList {
    std::vector<std::pair<std::string, uint64_t>> all;
    StringMap<uint64_t> by_name;
    void Add(std::string_view name, uint64_t address) {
      if (by_name.emplace(name, address).second) all.emplace_back(name, address);
    }
  };

  static absl::Status Broken(std::string_view what) { return DataLoss(what, " is broken"); }
  std::string_view At(uint64_t address, uint64_t size) const {
    if (address > file_.size() || size > file_.size() - address) return {};
    return file_.substr(address, size);
  }
  std::string_view From(uint64_t address) const {
    return address > file_.size() ? std::string_view() : file_.substr(address);
  }

  // --- Object headers ----------------------------------------------------------------------------

  absl::StatusOr<Header> ReadHeader(uint64_t address) const {
    const std::string_view bytes = From(address);
    const bool second = bytes.starts_with("OHDR");
    Header header;
    std::vector<std::string_view> blocks;
    uint64_t flags = 0;
    Cursor in(bytes);
    if (second) {
      in.Skip(4);
      if (in.UInt(1) != 2) return Newer("an object header is");
      flags = in.UInt(1);
      if ((flags & 0x20) != 0) in.Skip(16);
      if ((flags & 0x10) != 0) in.Skip(4);
      blocks.push_back(in.Bytes(in.UInt(size_t{1} << (flags & 3))));
    } else {
      if (in.UInt(1) != 1) return Broken("an object header");
      in.Skip(7);
      const uint64_t size = in.UInt(4);
      in.Skip(4);
      blocks.push_back(in.Bytes(size));
    }
    if (!in.ok()) return Broken("an object header");
    std::set<uint64_t> seen;
    for (size_t i = 0; i < blocks.size(); ++i) {
      Cursor block(blocks[i]);
      while (block.left() >= (second ? 4 : 8)) {
        Message message;
        message.type = block.UInt(second ? 1 : 2);
        const uint64_t size = block.UInt(2), how = block.UInt(1);
        message.shared = (how & 2) != 0;
        if (!second) block.Skip(3);
        if (second && (flags & 4) != 0) block.Skip(2);
        message.data = block.Bytes(size);
        if (!block.ok()) return Broken("an object header");
        if (message.type != kContinuation) {
          header.push_back(message);
          continue;
        }
        Cursor where(message.data);
        const uint64_t next = where.UInt(8), length = where.UInt(8);
        std::string_view more = At(next, length);
        if (!where.ok() || more.size() != length || !seen.insert(next).second) {
          return Broken("an object header");
        }
        if (second) {
          if (!more.starts_with("OCHK") || more.size() < 8) return Broken("an object header");
          more = more.substr(4, more.size() - 8);
        }
        blocks.push_back(more);
      }
    }
    return header;
  }

  static bool Has(const Header& header, uint64_t a, uint64_t b, uint64_t c) {
    return std::any_of(header.begin(), header.end(),
                       [&](const Message& m) { return m.type == a || m.type == b || m.type == c; });
  }
  static const Message* Only(const Header& header, uint64_t type) {
    for (const Message& message : header) {
      if (message.type == type) return &message;
    }
    return nullptr;
  }

  // --- Groups ------------------------------------------------------------------------------------

  // NotFound if a part of the path does not exist, or is a link to another file.
  absl::StatusOr<uint64_t> Address(const std::string& path) {
    uint64_t address = root_;
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      const std::string part = path.substr(begin, end - begin);
      begin = end + 1;
      if (part.empty()) continue;
      X2IR_ASSIGN_OR_RETURN(const LinkList* links, Links(address));
      const auto found = links->by_name.find(part);
      if (found == links->by_name.end()) return NotFound("there is no '", path, "'");
      address = found->second;
    }
    return address;
  }
  absl::StatusOr<Header> Find(const std::string& path) {
    X2IR_ASSIGN_OR_RETURN(const uint64_t address, Address(path));
    return ReadHeader(address);
  }

  absl::StatusOr<const LinkList*> Links(uint64_t group) {
    if (const auto known = links_.find(group); known != links_.end()) return &known->second;
    X2IR_ASSIGN_OR_RETURN(const Header header, ReadHeader(group));
    LinkList links;
    for (const Message& message : header) {
      if (message.type == kSymbolTable) {
        Cursor in(message.data);
        const uint64_t tree = in.UInt(8), heap = in.UInt(8);
        if (!in.ok()) return Broken("a group");
        X2IR_RETURN_IF_ERROR(ReadSymbolTable(tree, heap, &links));
      } else if (message.type == kLink) {
        X2IR_RETURN_IF_ERROR(ReadLink(message.data, &links));
      } else if (message.type == kLinkInfo) {
        Cursor in(message.data);
        in.Skip(1);
        if ((in.UInt(1) & 1) != 0) in.Skip(8);
        if (in.UInt(8) != kNowhere || !in.ok()) return Newer("a group is");
      }
    }
    return &links_.emplace(group, std::move(links)).first->second;
  }

  static absl::Status ReadLink(std::string_view data, LinkList* links) {
    Cursor in(data);
    if (in.UInt(1) != 1) return Newer("a link is");
    const uint64_t flags = in.UInt(1);
    const uint64_t type = (flags & 8) != 0 ? in.UInt(1) : 0;
    if ((flags & 4) != 0) in.Skip(8);
    if ((flags & 16) != 0) in.Skip(1);
    const std::string_view name = in.Bytes(in.UInt(size_t{1} << (flags & 3)));
    const uint64_t address = in.UInt(8);
    // Links to names are not supported.
    if (type == 0 && !in.ok()) return Broken("a link");
    if (type == 0) links->Add(name, address);
    return absl::OkStatus();
  }

  absl::Status ReadSymbolTable(uint64_t tree, uint64_t heap_address, LinkList* links) {
    Cursor heap(From(heap_address));
    if (heap.Bytes(4) != "HEAP") return Broken("a group");
    heap.Skip(4);
    const uint64_t heap_size = heap.UInt(8);
    heap.Skip(8);
    const uint64_t names_at = heap.UInt(8);
    const std::string_view names = At(names_at, heap_size);
    if (!heap.ok() || names.size() != heap_size) return Broken("a group");
    return WalkTree(tree, 0, 8, [&](std::string_view, uint64_t child) -> absl::Status {
      Cursor in(From(child));
      if (in.Bytes(4) != "SNOD") return Broken("a group");
      in.Skip(2);
      const uint64_t count = in.UInt(2);
      for (uint64_t i = 0; i < count; ++i) {
        const uint64_t at = in.UInt(8), address = in.UInt(8), kind = in.UInt(4);
        in.Skip(20);
        if (!in.ok() || at >= names.size()) return Broken("a group");
        const std::string_view rest = names.substr(at);
        const size_t end = rest.find('\0');
        if (end == rest.npos) return Broken("a group");
        if (kind != 2) links->Add(rest.substr(0, end), address);
      }
      return absl::OkStatus();
    });
  }

  // Every leaf of a B-tree of version 1: its key and its address. The file has room for as many
  // nodes as it says.
  template <typename Leaf>
  absl::Status WalkTree(uint64_t root, uint64_t type, size_t key_size, const Leaf& leaf) {
    struct Visit {
      uint64_t address;
      int level;
    };
    std::vector<Visit> todo = {{root, -1}};
    uint64_t left = file_.size() / 24 + 1;
    while (!todo.empty()) {
      const Visit visit = todo.back();
      todo.pop_back();
      if (left-- == 0) return Broken("a tree");
      Cursor in(From(visit.address));
      if (in.Bytes(4) != "TREE" || in.UInt(1) != type) return Broken("a tree");
      const int level = static_cast<int>(in.UInt(1));
      if (level > kMaxTreeDepth || (visit.level >= 0 && level != visit.level)) {
        return Broken("a tree");
      }
      const uint64_t count = in.UInt(2);
      in.Skip(16);
      std::vector<Visit> children;
      for (uint64_t i = 0; i < count; ++i) {
        const std::string_view key = in.Bytes(key_size);
        const uint64_t child = in.UInt(8);
        if (!in.ok()) return Broken("a tree");
        if (level > 0) {
          children.push_back({child, level - 1});
        } else {
          if (left-- == 0) return Broken("a tree");
          X2IR_RETURN_IF_ERROR(leaf(key, child));
        }
      }
      todo.insert(todo.end(), children.rbegin(), children.rend());
    }
    return absl::OkStatus();
  }

  // --- Types and shapes --------------------------------------------------------------------------

  static absl::StatusOr<ElementType> TypeOf(std::string_view data) {
    Cursor in(data);
    const uint64_t head = in.UInt(1), bits = in.UInt(3);
    ElementType type;
    type.size = in.UInt(4);
    if (!in.ok()) return Broken("a type");
    const uint64_t kind = head & 15;
    type.big_endian = (bits & 1) != 0;
    const auto number = [&](std::optional<DType> dtype) {
      if (dtype) type.kind = ElementType::kNumber;
      type.dtype = dtype.value_or(DType::kUndefined);
    };
    if (kind == 0) {
      static constexpr DType kSigned[] = {DType::kInt8, DType::kInt16, DType::kInt32,
                                          DType::kInt64};
      static constexpr DType kUnsigned[] = {DType::kUInt8, DType::kUInt16, DType::kUInt32,
                                            DType::kUInt64};
      const uint64_t offset = in.UInt(2), precision = in.UInt(2);
      for (size_t i = 0; i < 4; ++i) {
        if (type.size == size_t{1} << i && offset == 0 && precision == 8 * type.size) {
          number((bits & 8) != 0 ? kSigned[i] : kUnsigned[i]);
        }
      }
    } else if (kind == 1) {
      in.Skip(4);
      in.Skip(1);
      const uint64_t exponent = in.UInt(1);
      in.Skip(1);
      const uint64_t mantissa = in.UInt(1);
      if ((bits & 64) == 0) {
        if (type.size == 2 && exponent == 5 && mantissa == 10) number(DType::kFloat16);
        if (type.size == 2 && exponent == 8 && mantissa == 7) number(DType::kBFloat16);
        if (type.size == 4 && exponent == 8 && mantissa == 23) number(DType::kFloat32);
        if (type.size == 8 && exponent == 11 && mantissa == 52) number(DType::kFloat64);
      }
    } else if (kind == 3) {
      type.kind = ElementType::kText;
      type.padded_with_spaces = (bits & 15) == 2;
    } else if (kind == 5 && type.size == 2) {
      number(DType::kBFloat16);
      type.big_endian = false;
    } else if (kind == 8 && type.size == 1) {
      number(DType::kBool);
      type.big_endian = false;
    } else if (kind == 9 && (bits & 15) == 1) {
      type.kind = ElementType::kLongText;
    }
    return type;
  }

  static absl::StatusOr<Extent> ExtentOf(std::string_view data) {
    Cursor in(data);
    const uint64_t version = in.UInt(1), rank = in.UInt(1);
    in.Skip(1);
    Extent extent;
    if (version == 1) {
      in.Skip(5);
    } else if (version == 2) {
      extent.none = in.UInt(1) == 2;
    } else {
      return Newer("a shape is");
    }
    if (rank > kMaxTensorRank) return Broken("a shape");
    for (uint64_t i = 0; i < rank; ++i) {
      extent.dims.push_back(static_cast<int64_t>(in.UInt(8)));
      if (extent.dims.back() < 0 ||
          __builtin_mul_overflow(extent.count, extent.dims.back(), &extent.count)) {
        return Broken("a shape");
      }
    }
    if (!in.ok()) return Broken("a shape");
    if (extent.none) extent.count = 0;
    return extent;
  }

  // --- Attributes --------------------------------------------------------------------------------

  // Attributes outside of the header: many, or a large one.
  static absl::Status CheckAttributeInfo(std::string_view data) {
    Cursor in(data);
    in.Skip(1);
    if ((in.UInt(1) & 1) != 0) in.Skip(2);
    if (in.UInt(8) != kNowhere || !in.ok()) return Newer("attributes are");
    return absl::OkStatus();
  }

  // nullopt: it is another one.
  absl::StatusOr<std::optional<std::vector<std::string>>> AttributeTexts(
      std::string_view data, const std::string& wanted) const {
    using Result = std::optional<std::vector<std::string>>;
    Cursor in(data);
    const uint64_t version = in.UInt(1), flags = in.UInt(1);
    const uint64_t name_size = in.UInt(2), type_size = in.UInt(2), space_size = in.UInt(2);
    if (version < 1 || version > 3) return Newer("an attribute is");
    if (version == 3) in.Skip(1);
    const size_t since = in.at();
    const auto part = [&](uint64_t size) {
      const std::string_view bytes = in.Bytes(size);
      if (version == 1) in.Align8(since);
      return bytes;
    };
    std::string_view name = part(name_size);
    const std::string_view type_bytes = part(type_size), space_bytes = part(space_size);
    if (!in.ok()) return Broken("it");
    name = name.substr(0, name.find('\0'));
    if (name != wanted) return Result();
    if (version > 1 && (flags & 3) != 0) return Newer("its type is");
    X2IR_ASSIGN_OR_RETURN(const ElementType type, TypeOf(type_bytes));
    X2IR_ASSIGN_OR_RETURN(const Extent extent, ExtentOf(space_bytes));
    std::vector<std::string> texts;
    if (extent.count == 0) return {texts};
    const bool is_long = type.kind == ElementType::kLongText;
    if (!is_long && type.kind != ElementType::kText) return DataLoss("it is not a list of strings");
    const size_t width = is_long ? 16 : type.size;
    if (width == 0 || static_cast<uint64_t>(extent.count) > in.left() / width) return Broken("it");
    uint64_t total = 0;
    for (int64_t i = 0; i < extent.count; ++i) {
      std::string_view text = in.Bytes(width);
      if (is_long) {
        X2IR_ASSIGN_OR_RETURN(text, LongText(text));
      }
      text = text.substr(0, text.find('\0'));
      while (type.padded_with_spaces && text.ends_with(' ')) text.remove_suffix(1);
      // Elements may share what they refer to.
      total += text.size();
      if (total > file_.size()) return Broken("it");
      texts.emplace_back(text);
    }
    return {std::move(texts)};
  }

  // An object of a global heap.
  absl::StatusOr<std::string_view> LongText(std::string_view reference) const {
    Cursor where(reference);
    const uint64_t length = where.UInt(4), address = where.UInt(8), index = where.UInt(4);
    if (length == 0) return std::string_view();
    Cursor head(From(address));
    if (head.Bytes(4) != "GCOL") return Broken("a heap");
    head.Skip(4);
    const uint64_t size = head.UInt(8);
    const std::string_view heap = At(address, size);
    if (!head.ok() || heap.size() != size) return Broken("a heap");
    Cursor in(heap);
    in.Skip(16);
    while (in.left() >= 16) {
      const uint64_t number = in.UInt(2);
      in.Skip(6);
      const uint64_t bytes = in.UInt(8);
      if (number == 0) break;  // what is free
      const std::string_view object = in.Bytes(bytes);
      if (!in.ok()) return Broken("a heap");
      if (number == index) {
        if (length > object.size()) return Broken("a heap");
        return object.substr(0, length);
      }
      in.Align8(0);
    }
    return Broken("a heap");
  }

  // --- Datasets ----------------------------------------------------------------------------------

  absl::StatusOr<Tensor> ReadDataset(const std::string& path) {
    const auto header = Find(path);
    if (!header.ok()) return header.status();
    const Message *type_at = Only(*header, kDatatype), *space_at = Only(*header, kDataspace),
                  *layout_at = Only(*header, kLayout);
    if (!type_at || !space_at || !layout_at) return DataLoss("it is none");
    if (type_at->shared || space_at->shared) return Newer("its type is");
    if (Only(*header, kExternal)) return Unimplemented("its elements are stored in another file");
    X2IR_ASSIGN_OR_RETURN(const ElementType type, TypeOf(type_at->data));
    X2IR_ASSIGN_OR_RETURN(Extent extent, ExtentOf(space_at->data));
    if (type.kind != ElementType::kNumber) {
      return Unimplemented("elements of a type that tensors do not have");
    }
    if (extent.none) return DataLoss("it has no shape");
    const auto nbytes = ByteSize(type.dtype, extent.count);
    if (!nbytes) return Broken("its shape");
    if (*nbytes == 0) return Tensor::Zeros(type.dtype, extent.dims);
    const auto size = static_cast<uint64_t>(*nbytes);
    Cursor in(layout_at->data);
    const uint64_t version = in.UInt(1), layout = in.UInt(1);
    if (version != 3 && (version != 4 || layout > 1)) return Newer("its layout is");
    if (layout == 0) {
      const std::string_view bytes = in.Bytes(in.UInt(2));
      if (bytes.size() != size) return Broken("its layout");
      return InOrder(type, extent.dims, static_cast<uint64_t>(bytes.data() - file_.data()), size);
    }
    if (layout == 1) {
      const uint64_t address = in.UInt(8);
      if (!in.ok()) return Broken("its layout");
      if (address == kNowhere) return Unimplemented("it was never written");
      if (At(address, size).size() != size) return DataLoss("it ends past the file");
      return InOrder(type, extent.dims, address, size);
    }
    if (layout != 2) return Newer("its layout is");
    const uint64_t rank = in.UInt(1), tree = in.UInt(8);
    std::vector<uint64_t> chunk;
    for (uint64_t i = 0; i < rank; ++i) chunk.push_back(in.UInt(4));
    if (!in.ok() || rank != extent.dims.size() + 1 || chunk.back() != type.size) {
      return Broken("its layout");
    }
    chunk.pop_back();
    std::vector<Filter> filters;
    if (const Message* message = Only(*header, kFilters)) {
      X2IR_ASSIGN_OR_RETURN(filters, FiltersOf(message->data));
    }
    return ReadChunks(type, extent, chunk, tree, filters);
  }

  // Elements in the order of tensors are a view.
  absl::StatusOr<Tensor> InOrder(const ElementType& type, const std::vector<int64_t>& dims,
                                 uint64_t address, uint64_t size) {
    X2IR_ASSIGN_OR_RETURN(Tensor tensor,
                          TensorOf(type.dtype, dims, blob_, offset_ + address, size));
    if (!type.big_endian || type.size == 1) return tensor;
    X2IR_RETURN_IF_ERROR(budget_.Take(size));
    return Swapped(tensor, type.size);
  }

  static Tensor Swapped(const Tensor& tensor, size_t width) {
    Tensor result = Tensor::Zeros(tensor.dtype(), tensor.dims());
    std::byte* to = result.mutable_bytes().data();
    std::memcpy(to, tensor.bytes().data(), tensor.nbytes());
    for (size_t i = 0; i + width <= tensor.nbytes(); i += width)
      std::reverse(to + i, to + i + width);
    return result;
  }

  static absl::StatusOr<std::vector<Filter>> FiltersOf(std::string_view data) {
    Cursor in(data);
    const uint64_t version = in.UInt(1), count = in.UInt(1);
    if (version != 1 && version != 2) return Newer("its filters are");
    if (version == 1) in.Skip(6);
    std::vector<Filter> filters;
    for (uint64_t i = 0; i < count; ++i) {
      Filter filter;
      filter.id = in.UInt(2);
      const uint64_t name = version == 1 || filter.id >= 256 ? in.UInt(2) : 0;
      in.Skip(2);
      const uint64_t values = in.UInt(2);
      in.Skip(version == 1 ? (name + 7) / 8 * 8 : name);
      for (uint64_t k = 0; k < values; ++k) {
        const uint64_t value = in.UInt(4);
        if (k == 0) filter.parameter = value;
      }
      if (version == 1 && values % 2 != 0) in.Skip(4);
      if (!in.ok()) return Broken("its filters");
      if (filter.id < 1 || filter.id > 3) return Unimplemented("the filter ", filter.id);
      filters.push_back(filter);
    }
    return filters;
  }

  absl::StatusOr<Tensor> ReadChunks(const ElementType& type, const Extent& extent,
                                    const std::vector<uint64_t>& chunk, uint64_t tree,
                                    const std::vector<Filter>& filters) {
    const size_t rank = chunk.size();
    if (rank == 0) return Broken("its layout");
    uint64_t chunk_size = type.size;
    for (const uint64_t n : chunk) {
      if (n == 0 || __builtin_mul_overflow(chunk_size, n, &chunk_size)) return Broken("its layout");
    }
    const auto nbytes = static_cast<uint64_t>(*ByteSize(type.dtype, extent.count));
    const uint64_t most = file_.size() * kMaxOfAByte;
    if (nbytes > most || chunk_size > most) {
      return DataLoss("its stated size is larger than the file can hold");
    }
    // A chunk may be larger than the present data if the data set can grow; writers do not use such
    // large chunks for small data.
    if (chunk_size > kSmallChunk && chunk_size / kMaxOfADataset > nbytes) {
      return DataLoss("its chunks have ", chunk_size, " bytes, too many for the ", nbytes,
                      " bytes stored in them");
    }
    X2IR_RETURN_IF_ERROR(budget_.Take(nbytes));
    Tensor tensor = Tensor::Zeros(type.dtype, extent.dims);
    std::byte* to = tensor.mutable_bytes().data();
    if (tree == kNowhere) return tensor;
    uint64_t unpacked = 0, first = file_.size(), end = 0;
    X2IR_RETURN_IF_ERROR(WalkTree(
        tree, 1, 8 + 8 * (rank + 1), [&](std::string_view key, uint64_t child) -> absl::Status {
          Cursor in(key);
          const uint64_t stored = in.UInt(4), skipped = in.UInt(4);
          std::vector<uint64_t> at;
          for (size_t i = 0; i < rank; ++i) at.push_back(in.UInt(8));
          const std::string_view packed = At(child, stored);
          if (packed.size() != stored) return DataLoss("a chunk ends past the file");
          // Chunks cover the tensor, each once.
          unpacked += chunk_size;
          if (unpacked > most + chunk_size) return Broken("its list of chunks");
          std::string unpacked_bytes;
          std::string_view bytes = packed;
          if (!filters.empty()) {
            X2IR_ASSIGN_OR_RETURN(unpacked_bytes, Unpacked(packed, skipped, filters, chunk_size));
            bytes = unpacked_bytes;
          }
          if (bytes.size() != chunk_size) return Broken("a chunk");
          first = std::min(first, child);
          end = std::max(end, child + stored);
          return Put(type, extent, chunk, at, bytes, to);
        }));
    if (first < end) Forget(first, end - first);
    return Spilled(type.big_endian && type.size > 1 ? Swapped(tensor, type.size) : tensor);
  }

  // A part of the file that is not needed again.
  void Forget(uint64_t address, uint64_t size) const {
    const auto part =
        TensorOf(DType::kUInt8, {static_cast<int64_t>(size)}, blob_, offset_ + address, size);
    if (part.ok()) DropPages(*part);
  }

  static absl::StatusOr<std::string> Unpacked(std::string_view packed, uint64_t skipped,
                                              const std::vector<Filter>& filters, uint64_t size) {
    std::string bytes(packed);
    for (size_t i = filters.size(); i-- > 0;) {
      if ((skipped >> i & 1) != 0) continue;
      const Filter& filter = filters[i];
      if (filter.id == 3) {
        if (bytes.size() < 4) return Broken("a chunk");
        bytes.resize(bytes.size() - 4);
      } else if (filter.id == 1) {
        // Followed by a checksum, if the checksum filter came before.
        std::string raw(size + 4, '\0');
        uLongf length = raw.size();
        if (uncompress(reinterpret_cast<Bytef*>(raw.data()), &length,
                       reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) != Z_OK) {
          return Broken("a chunk");
        }
        raw.resize(length);
        bytes = std::move(raw);
      } else {
        const uint64_t width = filter.parameter;
        if (width == 0 || width > bytes.size()) return Broken("a chunk");
        // The first bytes of all elements, then the second ones.
        std::string raw = bytes;
        const size_t count = bytes.size() / width;
        for (size_t b = 0; b < width; ++b) {
          for (size_t n = 0; n < count; ++n) raw[n * width + b] = bytes[b * count + n];
        }
        bytes = std::move(raw);
      }
    }
    return bytes;
  }

  // A chunk's rows, as far as they are inside of the tensor.
  static absl::Status Put(const ElementType& type, const Extent& extent,
                          const std::vector<uint64_t>& chunk, const std::vector<uint64_t>& at,
                          std::string_view bytes, std::byte* to) {
    const size_t rank = chunk.size();
    std::vector<uint64_t> sizes(rank), place(rank, 0);
    for (size_t i = 0; i < rank; ++i) {
      const auto dim = static_cast<uint64_t>(extent.dims[i]);
      if (at[i] >= dim) return Broken("a chunk's place");
      sizes[i] = std::min(chunk[i], dim - at[i]);
    }
    const uint64_t row = sizes[rank - 1] * type.size;
    while (true) {
      uint64_t from = 0, into = 0;
      for (size_t i = 0; i < rank; ++i) {
        from = from * chunk[i] + place[i];
        into = into * static_cast<uint64_t>(extent.dims[i]) + at[i] + place[i];
      }
      std::memcpy(to + into * type.size, bytes.data() + from * type.size, row);
      size_t axis = rank - 1;
      while (axis > 0 && ++place[axis - 1] == sizes[axis - 1]) place[--axis] = 0;
      if (axis == 0) return absl::OkStatus();
    }
  }

  BlobPtr blob_;
  uint64_t offset_;
  std::string_view file_;
  UnpackBudget budget_;  // of what is not a view of the file
  uint64_t root_ = 0;
  std::map<uint64_t, LinkList> links_;
};

}  // namespace

bool LooksLikeHdf5(absl::Span<const std::byte> head) {
  return head.size() >= kHdf5Signature.size() &&
         std::memcmp(head.data(), kHdf5Signature.data(), kHdf5Signature.size()) == 0;
}

absl::StatusOr<std::optional<std::string>> Hdf5File::Text(const std::string& path,
                                                          const std::string& attribute) {
  X2IR_ASSIGN_OR_RETURN(auto texts, Texts(path, attribute));
  if (!texts) return std::optional<std::string>();
  if (texts->size() != 1) {
    return DataLoss("attribute '", attribute, "' of '", path, "' is not a string");
  }
  return std::optional<std::string>(std::move((*texts)[0]));
}

absl::StatusOr<std::unique_ptr<Hdf5File>> Hdf5File::Open(BlobPtr blob, uint64_t offset,
                                                         uint64_t size, bool by_library,
                                                         uint64_t packed) {
  if (offset > blob->size() || size > blob->size() - offset) return DataLoss("the file is cut off");
  if (!LooksLikeHdf5({blob->data() + offset, static_cast<size_t>(std::min<uint64_t>(size, 8))})) {
    return DataLoss("it is not an HDF5 file");
  }
  if (by_library) return OpenByLibrary(std::move(blob), offset, size);
  auto file = std::make_unique<Hdf5Own>(std::move(blob), offset, size, packed);
  X2IR_RETURN_IF_ERROR(file->ReadSuperblock());
  return file;
}

}  // namespace x2ir::keras
