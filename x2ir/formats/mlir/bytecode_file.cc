// The sections of an MLIR bytecode file and the tables in them.
#include <array>
#include <optional>
#include <utility>

#include "x2ir/formats/mlir/bytecode_file_internal.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::mlir {
namespace {

using Sections = std::array<std::optional<ByteReader>, kNumSections>;

constexpr std::string_view kSectionNames[] = {
    "strings",   "dialects",  "attributes",       "offsets",   "IR",
    "resources", "resources", "dialect versions", "properties"};

// The sizes of the strings come first, the last string's first; then the strings, each with a null
// byte.
absl::Status ReadStrings(ByteReader in, BytecodeFile& file) {
  ByteReader whole = in;
  const std::string_view bytes = whole.Bytes(whole.remaining());
  file.strings.resize(in.Count());
  size_t end = bytes.size();
  for (size_t i = file.strings.size(); i-- > 0;) {
    const uint64_t size = in.Varint();
    if (in.ok() && (size == 0 || size > end)) in.Fail("a string is larger than its section");
    if (!in.ok()) return in.status();
    end -= static_cast<size_t>(size);
    file.strings[i] = bytes.substr(end, static_cast<size_t>(size) - 1);
  }
  if (in.ok() && bytes.size() - in.remaining() != end) in.Fail("strings do not fill their section");
  return in.status();
}

// Groups of entries of one dialect: its index, their number, and each.
template <typename Read>
absl::Status ReadGroup(ByteReader& in, const BytecodeFile& file, const Read& read) {
  const uint64_t dialect = in.Varint();
  const size_t count = in.Count();
  if (in.ok() && dialect >= file.dialects.size()) in.Fail("no such dialect");
  for (size_t i = 0; i < count && in.ok(); ++i) read(static_cast<uint32_t>(dialect));
  return in.status();
}

absl::Status ReadDialects(ByteReader in, BytecodeFile& file) {
  file.dialects.resize(in.Count());
  for (std::string& dialect : file.dialects) {
    if (file.version < kDialectVersioning) {
      dialect = file.String(in);
      continue;
    }
    bool versioned = false;
    const uint64_t name = in.Flagged(&versioned);
    if (in.ok() && name >= file.strings.size()) in.Fail("no such string");
    if (!in.ok()) return in.status();
    dialect = file.strings[name];
    uint8_t id = kDialectVersionSection;
    if (versioned) in.Section(&id);
    if (in.ok() && id != kDialectVersionSection) in.Fail("no version of a dialect");
  }
  if (file.version >= kElidedLocations) in.Count();  // of the names
  while (in.ok() && !in.empty()) {
    X2IR_RETURN_IF_ERROR(ReadGroup(in, file, [&](uint32_t dialect) {
      BytecodeFile::OpName op;
      uint64_t name = 0;
      if (file.version < kNativeProperties) {
        name = in.Varint();
      } else {
        name = in.Flagged(&op.registered);
      }
      if (in.ok() && name >= file.strings.size()) in.Fail("no such string");
      if (!in.ok()) return;
      op.name =
          StrCat(file.dialects[dialect], file.strings[name].empty() ? "" : ".", file.strings[name]);
      file.op_names.push_back(op);
    }));
  }
  return in.status();
}

absl::Status ReadEntries(ByteReader offsets, ByteReader data, BytecodeFile& file) {
  const uint64_t num_attrs = offsets.Count(), num_types = offsets.Count();
  for (auto [entries, count] : {std::pair(&file.attrs, num_attrs), {&file.types, num_types}}) {
    while (offsets.ok() && entries->size() < count) {
      X2IR_RETURN_IF_ERROR(ReadGroup(offsets, file, [&, entries = entries](uint32_t dialect) {
        BytecodeFile::Entry entry{dialect, false, {}, 0};
        const uint64_t size = offsets.Flagged(&entry.custom);
        entry.begin = data.position();
        entry.bytes = data.Bytes(size);
        if (!data.ok()) offsets.Fail("an attribute or type outside of its section");
        entries->push_back(entry);
      }));
    }
    if (offsets.ok() && entries->size() != count) offsets.Fail("too many attributes or types");
  }
  if (offsets.ok() && !offsets.empty()) offsets.Fail("bytes behind the offsets of attributes");
  return offsets.status();
}

absl::Status ReadResourceGroup(ByteReader& offsets, ByteReader& data, BytecodeFile& file,
                               bool keep) {
  const size_t count = offsets.Count();
  for (size_t i = 0; i < count && offsets.ok(); ++i) {
    BytecodeFile::Resource resource;
    resource.key = file.String(offsets);
    const uint64_t size = offsets.Varint();
    resource.is_blob = offsets.Byte() == 0;
    resource.begin = data.position();
    resource.bytes = data.Bytes(size);
    if (!data.ok()) offsets.Fail("a resource outside of its section");
    if (keep && offsets.ok()) file.resources.push_back(resource);
  }
  return offsets.status();
}

absl::Status ReadResources(ByteReader offsets, ByteReader data, BytecodeFile& file) {
  const size_t external = offsets.Count();
  for (size_t i = 0; i < external && offsets.ok(); ++i) {
    file.String(offsets);  // of what they are
    X2IR_RETURN_IF_ERROR(ReadResourceGroup(offsets, data, file, /*keep=*/false));
  }
  while (offsets.ok() && !offsets.empty()) {
    if (offsets.Varint() >= file.dialects.size()) offsets.Fail("no such dialect");
    X2IR_RETURN_IF_ERROR(ReadResourceGroup(offsets, data, file, /*keep=*/true));
  }
  return offsets.status();
}

absl::Status ReadProperties(ByteReader in, BytecodeFile& file) {
  if (in.empty()) return absl::OkStatus();
  const size_t count = in.Count();
  for (size_t i = 0; i < count && in.ok(); ++i) {
    const uint64_t size = in.Varint(), begin = in.position();
    file.properties.emplace_back(in.Bytes(size), begin);
  }
  if (in.ok() && !in.empty()) in.Fail("bytes behind the properties");
  return in.status();
}

}  // namespace

std::string_view BytecodeFile::String(ByteReader& in) const {
  const uint64_t index = in.Varint();
  if (in.ok() && index >= strings.size()) in.Fail("no such string");
  return in.ok() ? strings[index] : std::string_view();
}

absl::StatusOr<BytecodeFile> ReadBytecodeTables(const BlobPtr& blob, uint64_t begin,
                                                uint64_t size) {
  BytecodeFile file;
  file.blob = blob;
  file.begin = begin;
  file.size = size;
  ByteReader in(blob->view().substr(begin, size), 0);
  if (in.Bytes(4) != "ML\xefR") return DataLoss("this is not MLIR bytecode");
  const uint64_t version = in.Varint();
  file.producer = in.Text();
  X2IR_RETURN_IF_ERROR(in.status());
  if (version > kNewestBytecode) {
    return Unimplemented("MLIR bytecode of version ", version, " (producer '", file.producer,
                         "'); versions 0 to ", kNewestBytecode, " are read");
  }
  file.version = static_cast<int>(version);

  Sections sections;
  while (in.ok() && !in.empty()) {
    uint8_t id = 0;
    const ByteReader section = in.Section(&id);
    if (in.ok() && sections[id]) in.Fail(StrCat("a second section of ", kSectionNames[id]));
    if (in.ok()) sections[id] = section;
  }
  X2IR_RETURN_IF_ERROR(in.status());
  for (const uint8_t id :
       {kStringSection, kDialectSection, kAttrTypeSection, kAttrTypeOffsetSection, kIrSection}) {
    if (!sections[id]) return DataLoss("MLIR bytecode without a section of ", kSectionNames[id]);
  }
  X2IR_RETURN_IF_ERROR(ReadStrings(*sections[kStringSection], file));
  X2IR_RETURN_IF_ERROR(ReadDialects(*sections[kDialectSection], file));
  if (sections[kResourceSection].has_value() != sections[kResourceOffsetSection].has_value()) {
    return DataLoss("MLIR bytecode has only one of the two sections of resources");
  }
  if (sections[kResourceSection]) {
    X2IR_RETURN_IF_ERROR(
        ReadResources(*sections[kResourceOffsetSection], *sections[kResourceSection], file));
  }
  if (sections[kPropertiesSection]) {
    X2IR_RETURN_IF_ERROR(ReadProperties(*sections[kPropertiesSection], file));
  }
  X2IR_RETURN_IF_ERROR(
      ReadEntries(*sections[kAttrTypeOffsetSection], *sections[kAttrTypeSection], file));
  file.ir = *sections[kIrSection];
  return file;
}

}  // namespace x2ir::mlir
