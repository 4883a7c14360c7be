// Registers the format "nnvm".
#include "x2ir/formats/format.h"

#include <algorithm>
#include <set>

#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/nnvm/nnvm.h"
#include "x2ir/formats/nnvm/param_list.h"
#include "x2ir/formats/nnvm/symbol_json.h"

namespace x2ir {
namespace {

Match RecognizeNnvm(const Candidate& file) {
  if (file.is_folder) {
    const auto files = OpenModelFiles(Source(file.path), "", nnvm::NnvmFileNames());
    return files.ok() ? Match::kPossible : Match::kNo;
  }
  if (nnvm::LooksLikeParamList(file.head)) return Match::kCertain;
  const std::string_view head = file.text();
  return nnvm::LooksLikeSymbolJson(head) ? Match::kPossible : Match::kNo;
}

// Whether every parameter is a variable of the graph.
bool BelongTogether(const std::string& graph, const std::string& params) {
  const auto file = Blob::Open(graph), list = Blob::Open(params);
  if (!file.ok() || !list.ok()) return false;
  const auto symbol = nnvm::ParseSymbolJson((*file)->view());
  const auto tensors = nnvm::ReadParamList(*list);
  if (!symbol.ok() || !tensors.ok()) return false;
  std::set<std::string_view> variables;
  for (const nnvm::SymbolNode& node : symbol->nodes) {
    if (node.is_variable()) variables.insert(node.name);
  }
  return std::all_of(tensors->begin(), tensors->end(),
                     [&](const NamedTensor& entry) { return variables.contains(entry.name); });
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "nnvm",
    .dialect = nnvm::kDialect,
    .extensions = {".nnvm.json"},
    .doc = "Graphs of NNVM (TVM), with their parameters",
    .recognize = RecognizeNnvm,
    .read_options = {ParamsOption()},
    .read = ReadWithParams(ReadNnvm),
    .write_options = {ForceOption()},
    .write =
        [](const Model& model, const Sink& sink, const FormatOptions& options) {
          if (sink.is_path() && !options.Flag("force")) {
            const std::string params = NnvmParamsOf(sink.name());
            const absl::Status free =
                CheckSideFile(params, [&] { return BelongTogether(sink.name(), params); });
            if (!free.ok()) return free;
          }
          return WriteNnvm(model, sink);
        },
    .companions =
        [](const std::string& path) { return std::vector<std::string>{NnvmParamsOf(path)}; },
});

}  // namespace
}  // namespace x2ir
