// Registers the format "nnef".
#include "x2ir/formats/format.h"

#include <filesystem>

#include "x2ir/formats/io/tar.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/formats/nnef/syntax.h"

namespace x2ir {
namespace {

bool HasNnefArchiveName(std::string_view path) {
  for (const std::string_view ending : {".nnef.tgz", ".nnef.tar", ".nnef.tar.gz", ".tgz"}) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

Match RecognizeNnef(const Candidate& file) {
  if (file.is_folder) {
    std::error_code error;
    const bool has = std::filesystem::is_regular_file(
        std::filesystem::path(file.path) / nnef::kGraphFile, error);
    return has ? Match::kCertain : Match::kNo;
  }
  if (nnef::LooksLikeGraph(file.text())) return Match::kCertain;
  const bool archive = LooksLikeGzip(file.text()) || LooksLikeTar(file.text());
  if (!archive) return Match::kNo;
  return HasNnefArchiveName(file.path) ? Match::kCertain : Match::kPossible;
}

// What writing to the folder replaces.
std::vector<std::string> FilesOfNnefFolder(const std::string& path) {
  std::vector<std::string> files;
  if (nnef::IsArchiveName(path)) return files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    files.push_back(it->path().string());
  }
  files.push_back((std::filesystem::path(path) / nnef::kGraphFile).string());
  return files;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "nnef",
    .dialect = nnef::kDialect,
    .extensions = {".nnef", ".nnef.tgz", ".nnef.tar", ".nnef.tar.gz", ".tgz"},
    .doc = "Models of NNEF: a folder of graph.nnef and tensors, or an archive of it",
    .recognize = RecognizeNnef,
    .read = [](const Source& source, const ReadRequest&) { return ReadNnef(source); },
    .write_options = {OptionDef::Flag(
        "nnef_standard", "Write what the standard has alone, and nothing that only tract reads")},
    .write =
        [](const Model& model, const Sink& sink, const FormatOptions& options) {
          return WriteNnef(model, sink, options.Flag("nnef_standard"));
        },
    .companions = FilesOfNnefFolder,
});

}  // namespace
}  // namespace x2ir
