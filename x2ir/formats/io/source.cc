#include "x2ir/formats/io/source.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/file_names.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Whether the name leads out of the folder whatever links there are.
bool LeadsOut(std::string_view name) {
  const fs::path path = fs::path(name).lexically_normal();
  return !path.empty() && *path.begin() == "..";
}

}  // namespace

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
  return !in_memory() && fs::is_directory(name_, error);
}

absl::StatusOr<BlobPtr> Source::Open() const {
  if (in_memory()) return memory_;
  return Blob::Open(name_);
}

std::string Source::folder() const {
  if (is_folder()) return name_;
  const std::string folder = fs::path(name_).parent_path().string();
  return folder.empty() ? "." : folder;
}

bool Source::IsInside(const std::string& folder, const std::string& real) const {
  if (!RelativeTo(CanonicalPath(folder), real).empty()) return true;
  const std::string model = fs::path(CanonicalPath(name_)).parent_path().string();
  return !is_folder() && !RelativeTo(model, real).empty();
}

absl::StatusOr<BlobPtr> Source::OpenBeside(std::string_view name, const std::string& folder) const {
  if (name.empty() || name.find('\0') != name.npos) {
    return Invalid("the model names the file '", name, "', which is not a valid file name");
  }
  if (in_memory()) return OpenNamed(std::string(name));
  const std::string own = folder.empty() ? this->folder() : folder;
  const std::string path = (fs::path(own) / name).string();
  const auto outside = [&](std::string_view why) {
    return Invalid("the file '", name, "', which the model names, ", why,
                   "; files outside of the model's folder must be allowed (",
                   OptionText(kAllowOutside), ")");
  };
  if (!allow_outside_ && name.starts_with('/')) return outside("is an absolute path");
  if (!allow_outside_ && LeadsOut(name)) return outside("leads out of the model's folder");
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
      error == std::errc::filename_too_long) {
    return NotFound("there is no file '", path, "', which the model names");
  }
  if (error) return SystemError("cannot open '", path, "': ", error.message());
  if (!allow_outside_ && !IsInside(own, real.string())) {
    return outside("is a link out of the model's folder");
  }
  return Blob::Open(path);
}

absl::StatusOr<BlobPtr> Source::FindBeside(std::string_view name, const std::string& folder) const {
  if (in_memory()) {
    if (!resolver_) return BlobPtr();
    absl::StatusOr<BlobPtr> file = OpenNamed(std::string(name));
    if (absl::IsNotFound(file.status())) return BlobPtr();
    return file;
  }
  const std::string own = folder.empty() ? this->folder() : folder;
  const std::string path = (fs::path(own) / name).string();
  std::error_code error;
  if (name.empty() || name.find('\0') != name.npos || name.starts_with('/') || LeadsOut(name) ||
      !fs::is_regular_file(path, error) || !IsInside(own, CanonicalPath(path))) {
    return BlobPtr();
  }
  return Blob::Open(path);
}

std::vector<std::string> Source::FilesBeside() const {
  std::vector<std::string> names;
  if (in_memory()) return names;
  const std::string own = folder();
  std::error_code error;
  for (fs::directory_iterator it(own, error), end; !error && it != end; it.increment(error)) {
    std::error_code of_file;
    if (!it->is_regular_file(of_file)) continue;
    if (it->is_symlink(of_file) && !IsInside(own, CanonicalPath(it->path().string()))) continue;
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<BlobPtr> Source::OpenGiven(const std::string& path) const {
  return in_memory() ? OpenNamed(path) : Blob::Open(path);
}

absl::StatusOr<BlobPtr> Source::OpenNamed(const std::string& name) const {
  if (!resolver_) {
    return NotFound("file '", name, "', which the model names, cannot be found: the model is read ",
                    "from memory, and the caller does not provide its files");
  }
  X2IR_ASSIGN_OR_RETURN(HeldBytes bytes, resolver_(name));
  return Blob::InMemory(bytes.bytes, std::move(bytes.owner), name);
}

}  // namespace x2ir
