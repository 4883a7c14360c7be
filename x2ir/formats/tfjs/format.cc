// Registers the format "tfjs".
#include "x2ir/formats/format.h"

#include <filesystem>
#include <system_error>

#include "x2ir/formats/keras/keras.h"
#include "x2ir/formats/tfjs/tfjs.h"

namespace x2ir {
namespace {

bool LooksLikeTfjsFile(const std::string& path) {
  const auto file = Blob::Open(path);
  return file.ok() && LooksLikeTfjs((*file)->view().substr(0, 4096));
}

Match RecognizeTfjs(const Candidate& file) {
  namespace fs = std::filesystem;
  if (file.is_folder) {
    const fs::path model = fs::path(file.path) / "model.json";
    std::error_code error;
    const bool is_one = fs::is_regular_file(model, error) && LooksLikeTfjsFile(model.string());
    return is_one ? Match::kCertain : Match::kNo;
  }
  const std::string_view head = file.text();
  return LooksLikeTfjs(head) ? Match::kCertain : Match::kNo;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "tfjs",
    .dialect = keras::kDialect,
    .extensions = {".tfjs.json"},
    .doc = "Layers models and graph models of TensorFlow.js",
    .recognize = RecognizeTfjs,
    .names_files = true,
    .read =
        [](const Source& source, const ReadRequest& request) {
          return ReadTfjs(source, {.outputs = request.outputs});
        },
});

}  // namespace
}  // namespace x2ir
