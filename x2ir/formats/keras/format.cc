// Registers the format "keras".
#include "x2ir/formats/format.h"

#include "x2ir/formats/hdf5/file_internal.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/keras/keras.h"

namespace x2ir {
namespace {

Match RecognizeKeras(const Candidate& file) {
  if (file.is_folder) return Match::kNo;
  const std::string_view head = file.text();
  if (hdf5::LooksLikeHdf5(head)) return Match::kCertain;
  // An archive has its metadata first.
  if (LooksLikeZip(head)) {
    const std::string_view name = head.substr(0, 64);
    const bool is_one = name.find("metadata.json") != name.npos ||
                        name.find("config.json") != name.npos || file.path.ends_with(".keras");
    return is_one ? Match::kCertain : Match::kNo;
  }
  return LooksLikeKerasJson(head) ? Match::kPossible : Match::kNo;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "keras",
    .dialect = keras::kDialect,
    .extensions = {".keras", ".h5", ".hdf5"},
    .doc = "Models of Keras 1, 2 and 3",
    .recognize = RecognizeKeras,
    .read_options = {ParamsOption(),
                     {.name = "hdf5_library",
                      .help = "Without effect; x2ir once needed the HDF5 library for some files"}},
    .read =
        [](const Source& source, const ReadRequest& request) {
          return ReadKeras(source, {.params = request.options.Text("params")});
        },
    .write = [](const Model& model, const Sink& sink,
                const FormatOptions&) { return WriteKeras(model, sink); },
});

}  // namespace
}  // namespace x2ir
