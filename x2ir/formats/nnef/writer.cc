// Writes the files of a graph of nodes of NNEF: a folder, or an archive of it.
#include <filesystem>
#include <utility>

#include "x2ir/formats/io/atomic_folder.h"
#include "x2ir/formats/io/file_names.h"
#include "x2ir/formats/io/folders.h"
#include "x2ir/formats/io/tar.h"
#include "x2ir/formats/nnef/graph_text.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnef {
namespace {

namespace fs = std::filesystem;

constexpr size_t kOpenFiles = 64;

absl::Status PutFiles(const WrittenGraph& written, const Sink& sink, const fs::path& folder) {
  std::vector<AtomicFile> open;
  const auto commit = [&] {
    std::vector<AtomicFile*> files;
    for (AtomicFile& file : open) files.push_back(&file);
    const absl::Status status = AtomicFile::CommitAll(files);
    open.clear();
    return status;
  };
  for (const TensorToWrite& part : written.tensors) {
    X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create((folder / (part.label + ".dat")).string()));
    X2IR_RETURN_IF_ERROR(file.Append(part.header));
    X2IR_RETURN_IF_ERROR(file.Append(part.tensor));
    open.push_back(std::move(file));
    if (open.size() >= kOpenFiles) X2IR_RETURN_IF_ERROR(commit());
  }
  if (!written.quantizations.empty()) {
    X2IR_ASSIGN_OR_RETURN(AtomicFile quant, sink.Create((folder / kQuantFile).string()));
    X2IR_RETURN_IF_ERROR(quant.Append(written.quantizations));
    open.push_back(std::move(quant));
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile graph, sink.Create((folder / kGraphFile).string()));
  X2IR_RETURN_IF_ERROR(graph.Append(written.text));
  open.push_back(std::move(graph));
  return commit();
}

// Whether the folder has the files of a model of NNEF and no others.
absl::Status CheckReplaceable(const fs::path& root) {
  std::error_code error;
  if (fs::is_empty(root, error)) return absl::OkStatus();
  if (!fs::exists(root / kGraphFile, error)) {
    return absl::AlreadyExistsError(
        StrCat("'", root.string(), "' exists and is not a model of NNEF; write to another path"));
  }
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name != kGraphFile && name != kQuantFile && !name.ends_with(".dat")) {
      return absl::AlreadyExistsError(
          StrCat("'", root.string(), "' has another file, '", name, "'; write to another path"));
    }
  }
  return absl::OkStatus();
}

absl::Status PutFolder(const WrittenGraph& written, const Sink& sink) {
  if (!sink.is_path()) return PutFiles(written, sink, sink.name());
  std::error_code error;
  const bool exists = fs::exists(fs::symlink_status(sink.name(), error));
  if (exists) X2IR_RETURN_IF_ERROR(CheckReplaceable(sink.name()));
  // A folder that is there is replaced whole, so that no tensor of the old model stays; a link to
  // one stays a link.
  const std::string target = exists ? CanonicalPath(sink.name()) : sink.name();
  X2IR_ASSIGN_OR_RETURN(AtomicFolder folder, AtomicFolder::Create(target));
  for (const TensorToWrite& part : written.tensors) {
    folder.AddFile((fs::path(folder.path()) / (part.label + ".dat")).string());
  }
  for (const std::string_view name : {kGraphFile, kQuantFile}) {
    if (name == kQuantFile && written.quantizations.empty()) continue;
    folder.AddFile((fs::path(folder.path()) / name).string());
  }
  X2IR_RETURN_IF_ERROR(PutFiles(written, sink, folder.path()));
  return exists ? folder.Replace() : folder.Commit();
}

absl::Status PutArchive(const WrittenGraph& written, const Sink& sink, bool compressed) {
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
  GzipWriter gzip([&](std::string_view bytes) { return file.Append(bytes); });
  uint64_t size = 0;
  const auto put = [&](std::string_view bytes) {
    size += bytes.size();
    return compressed ? gzip.Append(bytes) : file.Append(bytes);
  };
  const auto pad = [&] {
    return put(std::string((kTarBlock - size % kTarBlock) % kTarBlock, '\0'));
  };
  const auto put_text = [&](const char* name, const std::string& text) {
    X2IR_RETURN_IF_ERROR(put(TarHeader(name, text.size())));
    X2IR_RETURN_IF_ERROR(put(text));
    return pad();
  };
  X2IR_RETURN_IF_ERROR(put_text(kGraphFile, written.text));
  if (!written.quantizations.empty()) {
    X2IR_RETURN_IF_ERROR(put_text(kQuantFile, written.quantizations));
  }
  for (const TensorToWrite& part : written.tensors) {
    X2IR_RETURN_IF_ERROR(
        put(TarHeader(part.label + ".dat", part.header.size() + part.tensor.nbytes())));
    X2IR_RETURN_IF_ERROR(put(part.header));
    if (compressed) {
      const absl::Span<const std::byte> bytes = part.tensor.bytes();
      X2IR_RETURN_IF_ERROR(
          put(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
    } else {
      size += part.tensor.nbytes();
      X2IR_RETURN_IF_ERROR(file.Append(part.tensor));
    }
    X2IR_RETURN_IF_ERROR(pad());
  }
  X2IR_RETURN_IF_ERROR(put(std::string(2 * kTarBlock, '\0')));
  if (compressed) X2IR_RETURN_IF_ERROR(gzip.Finish());
  return file.Commit();
}

}  // namespace
}  // namespace nnef

absl::Status WriteNnef(const Model& model, const Sink& sink, bool standard) {
  X2IR_ASSIGN_OR_RETURN(const nnef::WrittenGraph written, nnef::GraphText(*model.graph, standard));
  if (!nnef::IsArchiveName(sink.name())) return nnef::PutFolder(written, sink);
  return nnef::PutArchive(written, sink, /*compressed=*/!sink.name().ends_with(".tar"));
}

}  // namespace x2ir
