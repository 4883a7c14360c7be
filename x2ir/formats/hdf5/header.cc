#include <algorithm>
#include <utility>

#include "x2ir/formats/hdf5/header_internal.h"

namespace x2ir::hdf5 {
namespace {

bool IsKnown(uint64_t type) {
  switch (static_cast<MessageType>(type)) {
    case MessageType::kDataspace:
    case MessageType::kLinkInfo:
    case MessageType::kDatatype:
    case MessageType::kOldFill:
    case MessageType::kFill:
    case MessageType::kLink:
    case MessageType::kExternal:
    case MessageType::kLayout:
    case MessageType::kFilters:
    case MessageType::kAttribute:
    case MessageType::kContinuation:
    case MessageType::kSymbolTable:
    case MessageType::kAttributeInfo: return type <= 0xff;
  }
  return false;
}

constexpr uint64_t kTimes = 0x20, kAttributeLimits = 0x10, kCreationOrder = 4;  // of version 2
constexpr uint64_t kShared = 2;                                                 // of messages

// The blocks of one header, and the messages in them.
class HeaderReader {
 public:
  explicit HeaderReader(Image* image) : image_(*image), meter_(image->structures()) {}

  absl::StatusOr<Messages> Read(uint64_t address) {
    X2IR_RETURN_IF_ERROR(Begin(address));
    for (size_t i = 0; i < blocks_.size(); ++i) X2IR_RETURN_IF_ERROR(ReadBlock(blocks_[i]));
    return std::move(messages_);
  }

 private:
  absl::Status Begin(uint64_t address) {
    Cursor in = image_.From(address);
    second_ = in.rest().starts_with("OHDR");
    if (!second_) {
      if (in.UInt(1) != 1) return Broken(StrCat("there is no object header at ", address));
      in.Skip(7);
      const uint64_t size = in.UInt(4);
      in.Skip(4);
      blocks_.push_back(in.Bytes(size));
      if (!in.ok()) return Broken("an object header ends past the file");
      return meter_->Take(in.at());
    }
    in.Skip(4);
    if (const uint64_t version = in.UInt(1); version != 2) {
      return NotRead("an object header is of version ", version);
    }
    flags_ = in.UInt(1);
    if ((flags_ & kTimes) != 0) in.Skip(16);
    if ((flags_ & kAttributeLimits) != 0) in.Skip(4);
    const uint64_t size = in.UInt(size_t{1} << (flags_ & 3));
    const size_t begin = in.at();
    in.Skip(size);
    in.Skip(4);
    if (!in.ok()) return Broken("an object header ends past the file");
    X2IR_ASSIGN_OR_RETURN(Cursor all,
                          image_.Checked(address, in.at(), "OHDR", "object header", meter_));
    all.Skip(begin - 4);
    blocks_.push_back(all.rest());
    return absl::OkStatus();
  }

  absl::Status ReadBlock(std::string_view bytes) {
    Cursor in = image_.Over(bytes);
    const bool ordered = second_ && (flags_ & kCreationOrder) != 0;
    // What is shorter than the head of a message is a gap.
    const size_t head = !second_ ? 8 : ordered ? 6 : 4;
    while (in.left() >= head) {
      const uint64_t type = in.UInt(second_ ? 1 : 2);
      const uint64_t size = in.UInt(2), how = in.UInt(1);
      if (!second_) in.Skip(3);
      if (ordered) in.Skip(2);
      const std::string_view data = in.Bytes(size);
      if (!in.ok()) return Broken("a message of an object header is longer than the header");
      if (!IsKnown(type)) continue;
      const auto known = static_cast<MessageType>(type);
      if (known == MessageType::kContinuation) {
        X2IR_RETURN_IF_ERROR(Continue(image_.Over(data)));
      } else {
        messages_.push_back({known, (how & kShared) != 0, data});
      }
    }
    return absl::OkStatus();
  }

  absl::Status Continue(Cursor where) {
    const uint64_t address = where.Address(), size = where.Length();
    if (!where.ok()) return Broken("a continuation of an object header is cut off");
    if (second_) {
      X2IR_ASSIGN_OR_RETURN(const Cursor more,
                            image_.Checked(address, size, "OCHK", "object header", meter_));
      blocks_.push_back(more.rest());
      return absl::OkStatus();
    }
    const std::string_view more = image_.At(address, size);
    if (more.size() != size) return Broken("an object header ends past the file");
    blocks_.push_back(more);
    return meter_->Take(std::max<uint64_t>(size, 1));
  }

  Image& image_;
  Meter* meter_;
  bool second_ = false;
  uint64_t flags_ = 0;
  std::vector<std::string_view> blocks_;
  Messages messages_;
};

}  // namespace

const Message* Find(const Messages& messages, MessageType type) {
  for (const Message& message : messages) {
    if (message.type == type) return &message;
  }
  return nullptr;
}

absl::StatusOr<Messages> ReadHeader(Image* image, uint64_t address) {
  return HeaderReader(image).Read(address);
}

absl::StatusOr<uint64_t> AddressOfShared(const Image& image, std::string_view data) {
  constexpr uint64_t kInHeap = 1;
  Cursor in = image.Over(data);
  const uint64_t version = in.UInt(1), type = in.UInt(1);
  if (version < 1 || version > 3) return NotRead("a shared message is of version ", version);
  if (version == 3 && type == kInHeap) return NotRead("a message is shared by many objects");
  if (version == 1) {
    in.Skip(6);
    in.SkipLength();
  }
  const uint64_t address = in.Address();
  if (!in.ok()) return Broken("a shared message is cut off");
  return address;
}

}  // namespace x2ir::hdf5
