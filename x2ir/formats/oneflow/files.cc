// The files of a written model.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_join.h"
#include "x2ir/formats/io/folders.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/oneflow/oneflow.h"
#include "x2ir/formats/oneflow/writer_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace oneflow {
namespace {

namespace fs = std::filesystem;

// Open at a time; with more variables those before are complete, and the file that names them is
// last.
constexpr size_t kOpenVariables = 64;

std::string MetaOf(const Tensor& tensor) {
  std::string text = "shape {\n";
  for (const int64_t dim : tensor.dims()) StrAppend(&text, "  dim: ", dim, "\n");
  StrAppend(&text, "}\ndata_type: ", DataTypeName(DataTypeOf(tensor.dtype())), "\n");
  return text;
}

}  // namespace

absl::Status WriteFiles(const Written& plan, const Sink& sink, bool force,
                        const std::function<absl::Status(AtomicFile&)>& put) {
  const fs::path folder = fs::path(sink.name()).parent_path();
  std::error_code error;
  // Of a program that was killed there are folders, and no model yet.
  const bool replaces =
      sink.is_path() && (fs::exists(sink.name(), error) || AtomicFile::WasInterrupted(sink.name()));
  for (const auto& variable : plan.variables) {
    // The model says the name, and shall not choose a place elsewhere.
    const fs::path own = folder / variable.second;
    if (sink.is_path() && fs::is_symlink(own, error)) {
      return absl::AlreadyExistsError(StrCat(
          "'", own.string(),
          "' is a link, and weights of the model would be written where it leads; remove the link, "
          "or write to another folder"));
    }
  }
  if (sink.is_path() && !force) {
    for (const auto& variable : plan.variables) {
      X2IR_RETURN_IF_ERROR(CheckSideFile((folder / variable.second / "out").string(),
                                         [replaces] { return replaces; }));
    }
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile model, sink.Create(sink.name()));
  X2IR_RETURN_IF_ERROR(put(model));
  Folders folders;
  std::vector<AtomicFile> open;
  const auto commit = [&](bool last) {
    std::vector<AtomicFile*> files;
    for (AtomicFile& file : open) files.push_back(&file);
    if (last) files.push_back(&model);
    const absl::Status status = AtomicFile::CommitAll(files);
    open.clear();
    return status;
  };
  for (const auto& [value, name] : plan.variables) {
    if (open.size() >= 2 * kOpenVariables) X2IR_RETURN_IF_ERROR(commit(false));
    if (sink.is_path()) X2IR_RETURN_IF_ERROR(folders.Make(folder / name));
    if (sink.is_path()) {
      folders.AddFile(folder / name / "meta");
      folders.AddFile(folder / name / "out");
    }
    const Tensor& tensor = *value->constant();
    X2IR_ASSIGN_OR_RETURN(AtomicFile meta, sink.Create((folder / name / "meta").string()));
    X2IR_RETURN_IF_ERROR(meta.Append(MetaOf(tensor)));
    open.push_back(std::move(meta));
    X2IR_ASSIGN_OR_RETURN(AtomicFile out, sink.Create((folder / name / "out").string()));
    X2IR_RETURN_IF_ERROR(out.Append(tensor));
    open.push_back(std::move(out));
  }
  X2IR_RETURN_IF_ERROR(commit(true));
  folders.Keep();
  return absl::OkStatus();
}

}  // namespace oneflow

std::vector<std::string> OneflowVariableFiles(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code none;
    if (!fs::exists(it->path() / "meta", none) || !fs::exists(it->path() / "out", none)) continue;
    for (const char* file : {"meta", "out"}) {
      files.push_back((fs::path(path).parent_path() / it->path().filename() / file).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace x2ir
