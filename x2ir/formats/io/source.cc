#include "x2ir/formats/io/source.h"

#include <filesystem>
#include <iterator>
#include <system_error>

#include "x2ir/formats/io/blob.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

Source Source::Bytes(HeldBytes bytes, Resolver resolver, std::string name) {
  Source source(std::move(name));
  source.memory_ = Blob::InMemory(bytes.bytes, std::move(bytes.owner), source.name_);
  source.resolver_ = std::move(resolver);
  return source;
}

Source Source::Bytes(std::string bytes, Resolver resolver, std::string name) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const absl::Span<const std::byte> span(reinterpret_cast<const std::byte*>(owner->data()),
                                         owner->size());
  return Bytes(HeldBytes{span, std::move(owner)}, std::move(resolver), std::move(name));
}

absl::StatusOr<Source> Source::Stream(std::istream& stream, Resolver resolver, std::string name) {
  std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) return SystemError("cannot read '", name, "': the stream failed");
  return Bytes(std::move(bytes), std::move(resolver), std::move(name));
}

bool Source::is_folder() const {
  std::error_code error;
  return !in_memory() && std::filesystem::is_directory(name_, error);
}

absl::StatusOr<BlobPtr> Source::Open() const {
  if (in_memory()) return memory_;
  return Blob::Open(name_);
}

absl::StatusOr<BlobPtr> Source::OpenNamed(const std::string& name) const {
  if (!resolver_) {
    return NotFound("file '", name, "', which the model names, cannot be found: the model is read ",
                    "from memory, and nobody says what is in that file");
  }
  X2IR_ASSIGN_OR_RETURN(HeldBytes bytes, resolver_(name));
  return Blob::InMemory(bytes.bytes, std::move(bytes.owner), name);
}

}  // namespace x2ir
