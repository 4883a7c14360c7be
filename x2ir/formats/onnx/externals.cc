#include <memory>
#include <utility>

#include "x2ir/formats/io/file_names.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/onnx/externals_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::onnx_format {
namespace {

// Files of external data are mapped by those who read them: a tensor of a page or more starts on
// one, smaller ones start on a cache line.
constexpr uint64_t kPage = 4096;
constexpr uint64_t kCacheLine = 64;

uint64_t AlignmentOf(const Tensor& tensor) { return tensor.nbytes() >= kPage ? kPage : kCacheLine; }

std::string FolderWithSlash(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Whether the model that is there now, and will be replaced, has that external data.
bool IsNamedByOldModel(const std::string& model_path, const std::string& location) {
  const auto model = MappedFile::Open(model_path);
  // The value of an entry ("location", NAME) of its TensorProtos.
  std::string value = "\x12";
  size_t size = location.size();
  for (; size >= 0x80; size >>= 7) value += static_cast<char>(0x80 | (size & 0x7f));
  value += static_cast<char>(size);
  if (!model.ok()) return false;
  // Of a file that is text, the same in quotes.
  return (*model)->view().find(value + location) != std::string_view::npos ||
         (*model)->view().find(StrCat("\"", location, "\"")) != std::string_view::npos;
}

}  // namespace

Externals::Externals(const Sink& sink, uint64_t max_size, bool reference)
    : sink_(sink), path_(sink.name()), max_size_(max_size), reference_(reference) {}

absl::StatusOr<Externals::Place> Externals::Put(const Tensor& tensor) {
  if (const auto range = tensor.file_range(); reference_ && range) {
    X2IR_ASSIGN_OR_RETURN(const std::string* name, NameOf(*range->file));
    if (!name->empty()) return Place{name, range->offset};
  }
  const auto [it, is_new] =
      places_.try_emplace(std::make_pair(tensor.data_id(), tensor.nbytes()), Place{});
  if (!is_new) return it->second;
  const auto start = [&](const File& file) {
    const uint64_t align = AlignmentOf(tensor);
    return (file.size + align - 1) / align * align;
  };
  const bool full = !files_.empty() && max_size_ != 0 &&
                    (files_.back().size >= max_size_ || start(files_.back()) >= max_size_ ||
                     tensor.nbytes() > max_size_ - start(files_.back()));
  if (files_.empty() || full) {
    File& file = files_.emplace_back();
    file.path = StrCat(path_, ".data");
    if (files_.size() > 1) StrAppend(&file.path, ".", files_.size());
    file.location = file.path.substr(file.path.rfind('/') + 1);
  }
  File& file = files_.back();
  it->second = {&file.location, start(file)};
  file.size = it->second.offset + tensor.nbytes();
  file.tensors.emplace_back(tensor, it->second.offset);
  return it->second;
}

// What a mapped file is called in the model; empty where it has no name that it will be found by.
absl::StatusOr<const std::string*> Externals::NameOf(const MappedFile& file) {
  const auto [it, is_new] = names_.try_emplace(&file, nullptr);
  if (!is_new) return it->second;
  const std::string real = CanonicalPathOf(file);
  std::string name;
  if (!real.empty()) {
    const std::string data = CanonicalPath(StrCat(path_, ".data"));
    if (real == CanonicalPath(path_) || real == data || real.starts_with(StrCat(data, "."))) {
      return CannotExpress("weights are in '", file.path(), "', which '", path_,
                           "' would overwrite; it cannot refer to them");
    }
    name = RelativeTo(CanonicalPath(FolderWithSlash(path_)), real);
    if (name.empty()) {
      return CannotExpress("weights are in '", real, "', outside of the folder of '", path_,
                           "'; an ONNX file can refer only to files beside it or in folders there");
    }
  }
  it->second = &kept_.emplace_back(std::move(name));
  return it->second;
}

absl::StatusOr<std::vector<AtomicFile>> Externals::Write(bool force) const {
  std::vector<AtomicFile> written;
  for (const File& file : files_) {
    if (sink_.is_path() && !force) {
      X2IR_RETURN_IF_ERROR(CheckSideFile(file.path, [&] {
        return IsNamedByOldModel(path_, file.location) || AtomicFile::WasInterrupted(path_);
      }));
    }
    X2IR_ASSIGN_OR_RETURN(AtomicFile out, sink_.Create(file.path));
    for (const auto& [tensor, offset] : file.tensors) {
      X2IR_RETURN_IF_ERROR(out.AlignTo(AlignmentOf(tensor)));
      if (out.size() != offset) return Internal("external data is not where it was planned");
      X2IR_RETURN_IF_ERROR(out.Append(tensor));
    }
    written.push_back(std::move(out));
  }
  return written;
}

}  // namespace x2ir::onnx_format
