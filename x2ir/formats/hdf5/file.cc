#include <utility>

#include "x2ir/formats/hdf5/file_internal.h"

namespace x2ir::hdf5 {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
constexpr uint64_t kFirstUserBlock = 512;
constexpr int kMaxSoftLinks = 16;  // on one path

// Where the signature is; nullopt if nowhere.
std::optional<uint64_t> FindSignature(std::string_view bytes) {
  for (uint64_t at = 0; at < bytes.size(); at = at == 0 ? kFirstUserBlock : 2 * at) {
    if (bytes.substr(at).starts_with(kSignature)) return at;
  }
  return std::nullopt;
}

absl::Status NoSuch(std::string_view path) { return NotFound("there is no '", path, "'"); }

// The value, or `none` where there is no such object.
template <typename T>
absl::StatusOr<T> OrNone(const absl::Status& status, T none) {
  if (absl::IsNotFound(status)) return none;
  return status;
}

}  // namespace

bool LooksLikeHdf5(std::string_view head) { return FindSignature(head).has_value(); }

File::File(Origin origin, std::string_view bytes, const OpenOptions& options)
    : origin_(std::move(origin)),
      image_(bytes, options.verify),
      budget_(options.packed ? options.packed : bytes.size()) {}

absl::StatusOr<std::unique_ptr<File>> File::Open(BlobPtr blob, uint64_t offset, uint64_t size,
                                                 const OpenOptions& options) {
  if (offset > blob->size() || size > blob->size() - offset) return DataLoss("the file is cut off");
  const std::string_view bytes = blob->view().substr(offset, size);
  const std::optional<uint64_t> begin = FindSignature(bytes);
  if (!begin) return DataLoss("it is not an HDF5 file");
  std::unique_ptr<File> file(
      new File({std::move(blob), offset + *begin}, bytes.substr(*begin), options));
  X2IR_RETURN_IF_ERROR(file->ReadSuperblock());
  return file;
}

absl::Status File::ReadSuperblock() {
  Cursor in = image_.From(0);
  in.Skip(kSignature.size());
  const uint64_t version = in.UInt(1);
  if (version > 3) return NotRead("its superblock is of version ", version);
  if (version < 2) in.Skip(4);
  Widths widths;
  widths.address = static_cast<uint8_t>(in.UInt(1));
  widths.length = static_cast<uint8_t>(in.UInt(1));
  if (!in.ok()) return DataLoss("the file is cut off");
  for (const uint8_t width : {widths.address, widths.length}) {
    if (width != 2 && width != 4 && width != 8)
      return NotRead("addresses have ", static_cast<int>(width), " bytes");
  }
  image_.set_widths(widths);
  in = image_.From(0);
  uint64_t base = 0, end = 0;
  if (version < 2) {
    in.Skip(kSignature.size() + (version == 0 ? 16 : 20));
    base = in.Address();
    in.SkipAddress();
    end = in.Address();
    if (in.Address() != kNowhere && in.ok()) {
      return NotRead("it is one of several files that belong together");
    }
    in.SkipLength();  // where the root's name would be
    root_ = in.Address();
    if (!in.ok()) return DataLoss("the file is cut off");
  } else {
    const uint64_t size = kSignature.size() + 4 + 4u * widths.address + kSumSize;
    if (size > image_.bytes().size()) return DataLoss("the file is cut off");
    X2IR_ASSIGN_OR_RETURN(in,
                          image_.Checked(0, size, kSignature, "superblock", image_.structures()));
    in.Skip(4);
    base = in.Address();
    in.SkipAddress();
    end = in.Address();
    root_ = in.Address();
  }
  // The superblock may have moved since; all addresses count from it.
  const uint64_t size = end - base;
  if (end < base) return Broken("its end is before its beginning");
  if (size > image_.bytes().size()) {
    return DataLoss("the file is cut off: ", image_.bytes().size(), " of ", size,
                    " bytes are there");
  }
  return absl::OkStatus();
}

absl::StatusOr<File::Object*> File::ObjectAt(uint64_t address) {
  if (const auto known = objects_.find(address); known != objects_.end()) return &known->second;
  X2IR_ASSIGN_OR_RETURN(Messages messages, ReadHeader(&image_, address));
  return &objects_.emplace(address, Object{std::move(messages)}).first->second;
}

absl::StatusOr<const Links*> File::LinksAt(uint64_t address) {
  X2IR_ASSIGN_OR_RETURN(Object * object, ObjectAt(address));
  if (!object->links) {
    X2IR_ASSIGN_OR_RETURN(object->links, ReadLinks(&image_, object->messages));
  }
  return &*object->links;
}

absl::StatusOr<const Attributes*> File::AttributesOf(Object* object) {
  if (!object->attributes) {
    X2IR_ASSIGN_OR_RETURN(object->attributes, ReadAttributes(&image_, object->messages));
  }
  return &*object->attributes;
}

absl::StatusOr<uint64_t> File::Id(std::string_view path) {
  uint64_t address = root_;
  std::string rest(path);
  int soft = 0;
  for (size_t begin = 0; begin < rest.size();) {
    const size_t end = std::min(rest.find('/', begin), rest.size());
    const std::string part = rest.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    X2IR_ASSIGN_OR_RETURN(const Links* links, LinksAt(address));
    const auto found = links->find(part);
    if (found == links->end()) return NoSuch(path);
    const Link& link = found->second;
    switch (link.kind) {
      case Link::kHard: address = link.address; break;
      case Link::kSoft:
        if (++soft > kMaxSoftLinks) {
          return Broken(
              StrCat("'", path, "' goes through more than ", kMaxSoftLinks, " soft links"));
        }
        if (link.target.starts_with('/')) address = root_;
        rest = StrCat(link.target, "/",
                      begin < rest.size() ? std::string_view(rest).substr(begin) : "");
        begin = 0;
        break;
      case Link::kExternal:
        return Unimplemented("'", part, "' is in another file, '", link.target,
                             "'; links to other files are not followed");
      case Link::kUserDefined: return Unimplemented("'", part, "' is a link of an unknown kind");
    }
  }
  return address;
}

absl::StatusOr<File::Object*> File::ObjectOf(std::string_view path) {
  X2IR_ASSIGN_OR_RETURN(const uint64_t address, Id(path));
  absl::StatusOr<Object*> object = ObjectAt(address);
  if (!object.ok()) return Annotate(object.status(), StrCat("'", path, "'"));
  return object;
}

absl::StatusOr<bool> File::IsGroup(std::string_view path) {
  const absl::StatusOr<Object*> object = ObjectOf(path);
  if (!object.ok()) return OrNone(object.status(), false);
  return hdf5::IsGroup((*object)->messages);
}

absl::StatusOr<bool> File::IsDataset(std::string_view path) {
  const absl::StatusOr<Object*> object = ObjectOf(path);
  if (!object.ok()) return OrNone(object.status(), false);
  return Find((*object)->messages, MessageType::kLayout) != nullptr;
}

absl::StatusOr<std::vector<std::string>> File::Names(std::string_view group) {
  std::vector<std::string> names;
  const absl::StatusOr<uint64_t> address = Id(group);
  if (!address.ok()) return OrNone(address.status(), names);
  const absl::StatusOr<const Links*> links = LinksAt(*address);
  if (!links.ok()) return Annotate(links.status(), StrCat("group '", group, "'"));
  for (const auto& [name, link] : **links) names.push_back(name);
  return names;
}

absl::StatusOr<std::vector<std::string>> File::AttributeNames(std::string_view path) {
  std::vector<std::string> names;
  const absl::StatusOr<Object*> object = ObjectOf(path);
  if (!object.ok()) return OrNone(object.status(), names);
  X2IR_ASSIGN_OR_RETURN(const Attributes* attributes, AttributesOf(*object));
  for (const auto& [name, attribute] : *attributes) names.push_back(name);
  return names;
}

absl::StatusOr<std::string_view> File::DataOf(std::string_view data, bool shared,
                                              MessageType type) {
  if (!shared) return data;
  X2IR_ASSIGN_OR_RETURN(const uint64_t address, AddressOfShared(image_, data));
  X2IR_ASSIGN_OR_RETURN(const Object* object, ObjectAt(address));
  const Message* message = Find(object->messages, type);
  if (!message || message->shared) return Broken("a shared message is not in its object");
  return message->data;
}

absl::StatusOr<std::optional<std::vector<std::string>>> File::ReadTexts(
    Object* object, std::string_view attribute) {
  using Result = std::optional<std::vector<std::string>>;
  X2IR_ASSIGN_OR_RETURN(const Attributes* attributes, AttributesOf(object));
  const auto found = attributes->find(attribute);
  if (found == attributes->end()) return Result();
  const Attribute& one = found->second;
  X2IR_ASSIGN_OR_RETURN(const std::string_view type_data,
                        DataOf(one.type, one.shared_type, MessageType::kDatatype));
  X2IR_ASSIGN_OR_RETURN(const std::string_view extent_data,
                        DataOf(one.extent, one.shared_extent, MessageType::kDataspace));
  X2IR_ASSIGN_OR_RETURN(const ElementType type, TypeOf(image_, type_data));
  X2IR_ASSIGN_OR_RETURN(const Extent extent, ExtentOf(image_, extent_data));
  if (extent.count == 0) return Result(std::in_place);
  if (type.kind != ElementType::kText && type.kind != ElementType::kLongText) {
    return DataLoss("it is not a list of strings");
  }
  X2IR_ASSIGN_OR_RETURN(std::vector<std::string> texts,
                        TextsOf(&image_, &texts_, type, extent.count, one.value));
  return Result(std::move(texts));
}

absl::StatusOr<std::optional<std::vector<std::string>>> File::Texts(std::string_view path,
                                                                    std::string_view attribute) {
  using Result = std::optional<std::vector<std::string>>;
  const absl::StatusOr<Object*> object = ObjectOf(path);
  if (!object.ok()) return OrNone(object.status(), Result());
  absl::StatusOr<Result> texts = ReadTexts(*object, attribute);
  if (!texts.ok()) {
    return Annotate(texts.status(), StrCat("attribute '", attribute, "' of '", path, "'"));
  }
  return texts;
}

absl::StatusOr<std::optional<std::string>> File::Text(std::string_view path,
                                                      std::string_view attribute) {
  X2IR_ASSIGN_OR_RETURN(auto texts, Texts(path, attribute));
  if (!texts) return std::optional<std::string>();
  if (texts->size() != 1) {
    return DataLoss("attribute '", attribute, "' of '", path, "' is not a string");
  }
  return std::optional<std::string>(std::move((*texts)[0]));
}

absl::StatusOr<Tensor> File::ReadDataset(std::string_view path) {
  X2IR_ASSIGN_OR_RETURN(const Object* object, ObjectOf(path));
  const Messages& messages = object->messages;
  const Message *type_at = Find(messages, MessageType::kDatatype),
                *extent_at = Find(messages, MessageType::kDataspace);
  if (!type_at || !extent_at || !Find(messages, MessageType::kLayout)) {
    return DataLoss("it is not a dataset");
  }
  X2IR_ASSIGN_OR_RETURN(const std::string_view type_data,
                        DataOf(type_at->data, type_at->shared, MessageType::kDatatype));
  X2IR_ASSIGN_OR_RETURN(const std::string_view extent_data,
                        DataOf(extent_at->data, extent_at->shared, MessageType::kDataspace));
  X2IR_ASSIGN_OR_RETURN(const ElementType type, TypeOf(image_, type_data));
  X2IR_ASSIGN_OR_RETURN(const Extent extent, ExtentOf(image_, extent_data));
  if (type.kind == ElementType::kOther) {
    return Unimplemented("its elements are ", type.name, " (", type.size,
                         " bytes each), which tensors do not have");
  }
  if (extent.none) return DataLoss("it has no shape");
  X2IR_ASSIGN_OR_RETURN(Tensor tensor,
                        ReadElements(&image_, origin_, &budget_, messages, type, extent));
  if (type.kind == ElementType::kNumber) return tensor;
  X2IR_RETURN_IF_ERROR(
      budget_.Take(static_cast<uint64_t>(extent.count) * sizeof(std::string) + tensor.nbytes()));
  const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes().data()),
                               tensor.nbytes());
  X2IR_ASSIGN_OR_RETURN(std::vector<std::string> texts,
                        TextsOf(&image_, &texts_, type, extent.count, bytes));
  return Tensor::Strings(extent.dims, std::move(texts));
}

absl::StatusOr<Tensor> File::Dataset(std::string_view path) {
  absl::StatusOr<Tensor> tensor = ReadDataset(path);
  if (!tensor.ok()) return Annotate(tensor.status(), StrCat("dataset '", path, "'"));
  return tensor;
}

}  // namespace x2ir::hdf5
