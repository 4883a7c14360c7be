// Registers the format "mxnet".
#include "x2ir/formats/format.h"

#include "x2ir/formats/mxnet/mxnet.h"
#include "x2ir/formats/mxnet/names.h"
#include "x2ir/formats/mxnet/ndarray_list.h"
#include "x2ir/formats/nnvm/symbol_json.h"

namespace x2ir {
namespace {

Match RecognizeMxnet(const Candidate& file) {
  if (file.is_folder)
    return HasModelFiles(file.path, MxnetFileNames()) ? Match::kCertain : Match::kNo;
  if (LooksLikeNdarrayList(file.head)) return Match::kCertain;
  const std::string_view head = file.text();
  return nnvm::LooksLikeSymbolJson(head) && !HasNnvmMarks(head) ? Match::kCertain : Match::kNo;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat(FormatWithParams(
    "mxnet", {".params"}, "Symbols of MXNet, with their parameters", RecognizeMxnet, ReadMxnet));

}  // namespace
}  // namespace x2ir
