#include "x2ir/formats/mxnet/names.h"

#include <algorithm>
#include <cctype>

#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/mxnet/ndarray_list.h"
#include "x2ir/formats/nnvm/symbol_json.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr std::string_view kParamsEnding = ".params";

// "net" of "net-0003.params"; all before the ending otherwise.
std::string_view StemOfParams(std::string_view name) {
  if (name.ends_with(kParamsEnding)) name.remove_suffix(kParamsEnding.size());
  size_t digits = name.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1])) != 0) --digits;
  if (digits < name.size() && digits > 1 && name[digits - 1] == '-')
    return name.substr(0, digits - 1);
  return name;
}

std::vector<std::string> ParamsOf(const std::string& stem, const std::vector<std::string>& folder) {
  std::vector<std::string> names;
  for (const std::string& name : folder) {
    if (name.ends_with(kParamsEnding) && StemOfParams(name) == stem && name != stem + ".params") {
      names.push_back(name);
    }
  }
  // The last epoch: of numbers of different lengths the longer one.
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a > b;
  });
  if (folder.empty()) names.push_back(StrCat(stem, "-0000.params"));
  names.push_back(StrCat(stem, ".params"));
  return names;
}

bool IsNdarrayFile(const Blob& file) {
  return LooksLikeZip(file.view()) || LooksLikeNdarrayList(absl::Span<const std::byte>(
                                          file.data(), std::min<size_t>(file.size(), 64)));
}

bool IsSymbolFile(const Blob& file) {
  const std::string_view head = file.view().substr(0, 4096);
  return nnvm::LooksLikeSymbolJson(head) && !HasNnvmMarks(head);
}

}  // namespace

const ModelFileNames& MxnetFileNames() {
  static const auto& names = *new ModelFileNames{
      .params = ParamsOf,
      .graphs =
          [](const std::string& params) {
            const std::string_view stem = StemOfParams(params);
            return std::vector<std::string>{StrCat(stem, "-symbol.json"), StrCat(stem, ".json")};
          },
      .graph_endings = {"-symbol.json", ".json"},
      .is_params = IsNdarrayFile,
      .is_graph = IsSymbolFile};
  return names;
}

bool HasNnvmMarks(std::string_view head) {
  // Operators that MXNet has under other names, and what compilers leave.
  for (const std::string_view mark :
       {"\"tvm_op\"", "\"conv2d\"", "\"dense\"", "\"batch_norm\"", "\"max_pool2d\"",
        "\"avg_pool2d\"", "\"global_avg_pool2d\"", "\"conv2d_transpose\"", "_scalar__\"",
        "\"leaky_relu\"", "\"list_shape\"", "\"list_str\"", "\"strided_slice\"", "\"concatenate\"",
        "\"__dialect__\""}) {
    if (head.find(mark) != head.npos) return true;
  }
  return false;
}

}  // namespace x2ir
