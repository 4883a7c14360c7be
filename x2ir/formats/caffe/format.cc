// Registers the format "caffe".
#include "x2ir/formats/format.h"

#include <algorithm>

#include "x2ir/formats/caffe/caffe_internal.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace caffe {
namespace {

constexpr std::string_view kWeightsEnding = ".caffemodel";

// Text has none of the bytes that lengths and tags of a binary message are.
bool IsBinary(std::string_view head) {
  return std::any_of(head.begin(), head.end(),
                     [](char c) { return (c >= 0 && c < '\t') || (c > '\r' && c < ' '); });
}

std::string WithoutEnding(std::string_view name, std::string_view ending) {
  return std::string(name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name);
}

// "layer {" or "layers {" begins a word of the text.
bool HasLayer(std::string_view head) {
  for (size_t at = head.find("layer"); at != head.npos; at = head.find("layer", at + 1)) {
    const bool begins =
        at == 0 || std::string_view(" \t\r\n}>;").find(head[at - 1]) != std::string_view::npos;
    size_t end = at + 5;
    if (end < head.size() && head[end] == 's') ++end;
    while (end < head.size() && std::string_view(" \t\r\n:").find(head[end]) != head.npos) ++end;
    if (begins && end < head.size() && (head[end] == '{' || head[end] == '<')) return true;
  }
  return false;
}

}  // namespace

bool LooksLikeNet(std::string_view head) {
  const std::string_view first = FirstProtoTextName(head);
  for (const std::string_view name : {"name", "input", "input_dim", "input_shape", "layer",
                                      "layers", "state", "force_backward", "debug_info"}) {
    if (first == name) return HasLayer(head);
  }
  return false;
}

const ModelFileNames& CaffeFileNames() {
  static const auto& names = *new ModelFileNames{
      .params =
          [](const std::string& stem, const std::vector<std::string>& folder) {
            std::vector<std::string> names = {StrCat(stem, kWeightsEnding)};
            const std::string plain = WithoutEnding(stem, "_deploy");
            if (plain != stem) names.push_back(StrCat(plain, kWeightsEnding));
            // The only weights that there are.
            std::vector<std::string> all;
            for (const std::string& name : folder) {
              if (name.ends_with(kWeightsEnding)) all.push_back(name);
            }
            if (all.size() == 1) names.push_back(all[0]);
            return names;
          },
      .graphs =
          [](const std::string& params) {
            const std::string stem = WithoutEnding(params, kWeightsEnding);
            return std::vector<std::string>{stem + ".prototxt", stem + "_deploy.prototxt",
                                            "deploy.prototxt"};
          },
      .graph_endings = {".prototxt"},
      .is_params = [](const Blob& file) { return IsBinary(file.view().substr(0, 4096)); },
      .is_graph = [](const Blob& file) { return LooksLikeNet(file.view().substr(0, 4096)); }};
  return names;
}

}  // namespace caffe

namespace {

Match RecognizeCaffe(const Candidate& file) {
  if (file.is_folder)
    return HasModelFiles(file.path, caffe::CaffeFileNames()) ? Match::kCertain : Match::kNo;
  const std::string_view head = file.text();
  if (caffe::IsBinary(head)) {
    return file.path.ends_with(caffe::kWeightsEnding) ? Match::kCertain : Match::kNo;
  }
  if (caffe::LooksLikeNet(head)) return Match::kCertain;
  return file.path.ends_with(".prototxt") ? Match::kPossible : Match::kNo;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "caffe",
    .dialect = caffe::kDialect,
    .extensions = {".caffemodel"},
    .doc = "Networks of Caffe: a definition and its weights",
    .recognize = RecognizeCaffe,
    .read_options = {ParamsOption()},
    .names_files = true,
    .read = ReadWithParams(ReadCaffe),
});

}  // namespace
}  // namespace x2ir
