#include "x2ir/formats/hdf5/heaps_internal.h"
#include "x2ir/formats/hdf5/links_internal.h"
#include "x2ir/formats/hdf5/trees_internal.h"

namespace x2ir::hdf5 {
namespace {

constexpr uint64_t kSoftLink = 1, kExternalLink = 64;  // types in messages
constexpr uint64_t kSoftEntry = 2;                     // cache type in symbol tables

class LinkReader {
 public:
  explicit LinkReader(Image* image) : image_(image), meter_(image->structures()) {}

  absl::Status Read(const Message& message) {
    Cursor in = image_->Over(message.data);
    switch (message.type) {
      case MessageType::kSymbolTable: return ReadSymbolTable(in);
      case MessageType::kLink: return ReadLink(in);
      case MessageType::kLinkInfo: return ReadOutside(in);
      default: return absl::OkStatus();
    }
  }
  Links TakeLinks() { return std::move(links_); }

 private:
  absl::Status ReadLink(Cursor in) {
    if (const uint64_t version = in.UInt(1); version != 1) {
      return NotRead("a link is of version ", version);
    }
    const uint64_t flags = in.UInt(1);
    const uint64_t type = (flags & 8) != 0 ? in.UInt(1) : 0;
    if ((flags & 4) != 0) in.Skip(8);
    if ((flags & 16) != 0) in.Skip(1);
    const std::string_view name = in.Bytes(in.UInt(size_t{1} << (flags & 3)));
    Link link;
    if (type == 0) {
      link.address = in.Address();
    } else {
      std::string_view target = in.Bytes(in.UInt(2));
      // A byte of flags, then the file and the path in it.
      if (type == kExternalLink && !target.empty()) target.remove_prefix(1);
      link.target = target.substr(0, target.find('\0'));
      link.kind = type == kSoftLink       ? Link::kSoft
                  : type == kExternalLink ? Link::kExternal
                                          : Link::kUserDefined;
    }
    if (!in.ok()) return Broken("a link is cut off");
    links_.emplace(name, std::move(link));
    return absl::OkStatus();
  }

  absl::Status ReadSymbolTable(Cursor in) {
    const uint64_t tree = in.Address(), heap = in.Address();
    if (!in.ok()) return Broken("a group is cut off");
    X2IR_ASSIGN_OR_RETURN(const std::string_view names, LocalHeap(*image_, heap));
    return WalkTree1(*image_, tree, NodeType::kGroup, image_->widths().length, meter_,
                     [&](std::string_view, uint64_t child) { return ReadTableNode(names, child); });
  }

  absl::Status ReadTableNode(std::string_view names, uint64_t address) {
    Cursor in = image_->From(address);
    if (in.Bytes(4) != "SNOD") return Broken(StrCat("there are no links of a group at ", address));
    in.Skip(2);
    const uint64_t count = in.UInt(2);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t name_at = in.Length();
      Link link;
      link.address = in.Address();
      const uint64_t kind = in.UInt(4);
      in.Skip(4);
      Cursor more = image_->Over(in.Bytes(16));
      if (!in.ok()) return Broken("the links of a group end past the file");
      X2IR_ASSIGN_OR_RETURN(const std::string_view name, TextAt(names, name_at));
      X2IR_RETURN_IF_ERROR(meter_->Take(name.size()));
      if (kind == kSoftEntry) {
        X2IR_ASSIGN_OR_RETURN(const std::string_view target, TextAt(names, more.UInt(4)));
        X2IR_RETURN_IF_ERROR(meter_->Take(target.size()));
        link.kind = Link::kSoft;
        link.target = target;
      }
      links_.emplace(name, std::move(link));
    }
    return meter_->Take(in.at());
  }

  absl::Status ReadOutside(Cursor in) {
    X2IR_ASSIGN_OR_RETURN(std::optional<Outside> outside,
                          OpenOutside(image_, in, 8, "links of a group"));
    if (!outside) return absl::OkStatus();
    FractalHeap& heap = outside->heap;
    return WalkTree2(*image_, outside->tree, RecordType::kLinkName, 4 + heap.id_size(), meter_,
                     [&](std::string_view record) -> absl::Status {
                       X2IR_ASSIGN_OR_RETURN(const std::string_view object,
                                             heap.Object(record.substr(4, heap.id_size())));
                       return ReadLink(image_->Over(object));
                     });
  }

  Image* image_;
  Meter* meter_;
  Links links_;
};

}  // namespace

bool IsGroup(const Messages& messages) {
  return Find(messages, MessageType::kSymbolTable) || Find(messages, MessageType::kLink) ||
         Find(messages, MessageType::kLinkInfo);
}

absl::StatusOr<Links> ReadLinks(Image* image, const Messages& messages) {
  LinkReader reader(image);
  for (const Message& message : messages) X2IR_RETURN_IF_ERROR(reader.Read(message));
  return reader.TakeLinks();
}

}  // namespace x2ir::hdf5
