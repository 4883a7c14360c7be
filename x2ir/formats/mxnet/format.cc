// Registers the format "mxnet".
#include "x2ir/formats/format.h"

#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/mxnet/mxnet.h"
#include "x2ir/formats/mxnet/names.h"
#include "x2ir/formats/mxnet/ndarray_list.h"
#include "x2ir/formats/nnvm/symbol_json.h"

namespace x2ir {
namespace {

Match RecognizeMxnet(const Candidate& file) {
  if (file.is_folder) {
    const auto files = OpenModelFiles(Source(file.path), "", MxnetFileNames());
    return files.ok() || absl::IsInvalidArgument(files.status()) ? Match::kCertain : Match::kNo;
  }
  if (LooksLikeNdarrayList(file.head)) return Match::kCertain;
  const std::string_view head(reinterpret_cast<const char*>(file.head.data()), file.head.size());
  return nnvm::LooksLikeSymbolJson(head) && !HasNnvmMarks(head) ? Match::kCertain : Match::kNo;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "mxnet",
    .dialect = mxnet::kDialect,
    .extensions = {".params"},
    .doc = "Symbols of MXNet, with their parameters",
    .recognize = RecognizeMxnet,
    .read_options = {ParamsOption()},
    .read =
        [](const Source& source, const ReadRequest& request) {
          return ReadMxnet(source, {.params = request.options.Text("params")});
        },
});

}  // namespace
}  // namespace x2ir
