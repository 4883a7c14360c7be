// Objects: the messages of their headers (versions 1 and 2, with continuations).
#ifndef X2IR_FORMATS_HDF5_HEADER_INTERNAL_H_
#define X2IR_FORMATS_HDF5_HEADER_INTERNAL_H_

#include <string_view>
#include <vector>

#include "x2ir/formats/hdf5/image_internal.h"

namespace x2ir::hdf5 {

enum class MessageType : uint8_t {
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kOldFill = 0x04,
  kFill = 0x05,
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
  MessageType type;
  bool shared = false;  // the data says where the message itself is
  std::string_view data;
};
// In the order of the file; those of other types are left out.
using Messages = std::vector<Message>;

// Null where there is none; the first of several.
const Message* Find(const Messages& messages, MessageType type);

absl::StatusOr<Messages> ReadHeader(Image* image, uint64_t address);

// Where the object is whose header has the message that a shared one stands for. Unimplemented for
// messages in the heap of the file, which only files have that were asked to share them.
absl::StatusOr<uint64_t> AddressOfShared(const Image& image, std::string_view data);

}  // namespace x2ir::hdf5

#endif  // X2IR_FORMATS_HDF5_HEADER_INTERNAL_H_
