// Registers the format "darknet".
#include "x2ir/formats/format.h"

#include <algorithm>

#include "x2ir/formats/darknet/darknet.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace darknet {
namespace {

constexpr std::string_view kWeightsFile = ".weights";

std::vector<std::string> EndingIn(const std::vector<std::string>& folder, std::string_view ending) {
  std::vector<std::string> all;
  for (const std::string& name : folder) {
    if (name.ends_with(ending)) all.push_back(name);
  }
  return all;
}
std::string Before(const std::string& name, std::string_view ending) {
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name;
}
// A version of 0.x, or of files whose connected layers are transposed, begins a file of weights.
bool HasVersion(std::string_view head) {
  if (head.size() < 16) return false;
  const auto major = LoadNumber<int32_t>(head.data()), minor = LoadNumber<int32_t>(head.data() + 4);
  return major >= 0 && major < 10000 && minor >= 0 && minor < 10000;
}

}  // namespace

const ModelFileNames& DarknetFileNames() {
  static const auto& names = *new ModelFileNames{
      .params =
          [](const std::string& stem, const std::vector<std::string>& folder) {
            std::vector<std::string> names = {StrCat(stem, kWeightsFile)};
            const std::vector<std::string> all = EndingIn(folder, kWeightsFile);
            if (all.size() == 1) names.push_back(all[0]);
            return names;
          },
      .graphs =
          [](const std::string& params) {
            return std::vector<std::string>{StrCat(Before(params, kWeightsFile), ".cfg")};
          },
      .graph_endings = {".cfg"},
      .is_params =
          [](const Blob& file) {
            return !LooksLikeConfig(file.view().substr(0, 4096)) &&
                   HasVersion(file.view().substr(0, 16));
          },
      .is_graph = [](const Blob& file) { return LooksLikeConfig(file.view().substr(0, 4096)); }};
  return names;
}

}  // namespace darknet

namespace {

Match RecognizeDarknet(const Candidate& file) {
  if (file.is_folder)
    return HasModelFiles(file.path, darknet::DarknetFileNames()) ? Match::kCertain : Match::kNo;
  const std::string_view head = file.text();
  if (darknet::LooksLikeConfig(head)) return Match::kCertain;
  return file.path.ends_with(darknet::kWeightsFile) && darknet::HasVersion(head) ? Match::kCertain
                                                                                 : Match::kNo;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "darknet",
    .dialect = darknet::kDialect,
    .extensions = {".weights", ".cfg"},
    .doc = "Networks of Darknet: a configuration and its weights",
    .recognize = RecognizeDarknet,
    .read_options = {ParamsOption(),
                     OptionDef::Flag(
                         "decode_heads",
                         "Heads ([yolo], [region], [detection]) compute boxes with class "
                         "probabilities; without it the outputs are the inputs of the heads"),
                     {.name = "fork",
                      .type = OptionDef::kChoice,
                      .help = "Which fork of Darknet wrote the weights of [gru] and [lstm]; auto: "
                              "the version in the weights file decides",
                      .choices = {"auto", "pjreddie", "alexeyab"}}},
    .read =
        [](const Source& source, const ReadRequest& request) {
          return ReadDarknet(source, {.params = request.options.Text("params"),
                                      .decode_heads = request.options.Flag("decode_heads"),
                                      .fork = request.options.Text("fork")});
        },
});

}  // namespace
}  // namespace x2ir
