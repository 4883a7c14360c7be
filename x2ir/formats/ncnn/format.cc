// Registers the format "ncnn".
#include "x2ir/formats/format.h"

#include <algorithm>

#include "x2ir/formats/ncnn/ncnn.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace ncnn {
namespace {

std::string StemOfGraph(std::string name) {
  for (const std::string_view ending : {".bin", ".param"}) {
    if (name.ends_with(ending)) name = name.substr(0, name.size() - ending.size());
  }
  return name;
}
bool IsGraph(const Blob& file) {
  const std::string_view head = file.view().substr(0, 4096);
  return LooksLikeParam(head) || LooksLikeBinaryParam(head);
}

}  // namespace

const ModelFileNames& NcnnFileNames() {
  static const auto& names = *new ModelFileNames{
      .params =
          [](const std::string& stem, const std::vector<std::string>&) {
            return std::vector<std::string>{StemOfGraph(stem) + ".bin"};
          },
      .graphs =
          [](const std::string& params) {
            const std::string stem = StemOfGraph(params);
            return std::vector<std::string>{stem + ".param", stem + ".param.bin"};
          },
      .graph_endings = {".param", ".param.bin"},
      .is_params = [](const Blob& file) { return file.path().ends_with(".bin") && !IsGraph(file); },
      .is_graph = IsGraph};
  return names;
}

}  // namespace ncnn

namespace {

Match RecognizeNcnn(const Candidate& file) {
  if (file.is_folder)
    return HasModelFiles(file.path, ncnn::NcnnFileNames()) ? Match::kCertain : Match::kNo;
  const std::string_view head = file.text();
  return ncnn::LooksLikeParam(head) || ncnn::LooksLikeBinaryParam(head) ? Match::kCertain
                                                                        : Match::kNo;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat(FormatWithParams(
    "ncnn", {".param"}, "Networks of ncnn: a graph and its weights", RecognizeNcnn, ReadNcnn));

}  // namespace
}  // namespace x2ir
