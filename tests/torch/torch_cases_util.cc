#include "tests/torch/torch_cases_util.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tests/core/host_util.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {

namespace fs = std::filesystem;

std::vector<TorchCase> TorchCasesUnder(const fs::path& root) {
  std::vector<TorchCase> cases;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
    const fs::path name = entry.path().filename();
    if (name != "model.pt2" && name != "model.pt" && name != "model.ptl") continue;
    const fs::path folder = entry.path().parent_path();
    if (!fs::exists(folder / "io.safetensors")) continue;
    cases.push_back({folder.filename().string(), entry.path(), folder / "io.safetensors"});
  }
  std::sort(cases.begin(), cases.end(),
            [](const TorchCase& a, const TorchCase& b) { return a.name < b.name; });
  return cases;
}

std::vector<TorchCase> ArchivedTorchCases() {
  std::vector<TorchCase> cases;
  for (const char* name : {"torch-op-cases", "torch-complex-cases"}) {
    const fs::path folder = Unpacked(StrCat(name, ".tar.xz"), name);
    if (folder.empty()) continue;
    for (TorchCase& test : TorchCasesUnder(folder)) cases.push_back(std::move(test));
  }
  return cases;
}

std::vector<TorchCase> ArchivedTorchPrograms() {
  const fs::path folder = Unpacked("torch-programs.tar.xz", "torch-programs");
  return folder.empty() ? std::vector<TorchCase>() : TorchCasesUnder(folder);
}

std::vector<TorchCase> ArchivedTorchScripts() {
  const fs::path folder = Unpacked("torchscript-cases.tar.xz", "torchscript-cases");
  return folder.empty() ? std::vector<TorchCase>() : TorchCasesUnder(folder);
}

absl::StatusOr<std::vector<TorchDataSet>> ReadTorchData(const fs::path& io) {
  X2IR_ASSIGN_OR_RETURN(const Safetensors file, ReadSafetensors(io.string()));
  std::map<std::string, std::map<std::string, Tensor>> sets;
  for (const NamedTensor& entry : file.tensors) {
    const size_t dot = entry.name.find('.');
    const std::string prefix = dot == std::string::npos ? "" : entry.name.substr(0, dot + 1);
    sets[prefix][entry.name.substr(prefix.size())] = entry.tensor;
  }
  std::vector<TorchDataSet> all;
  for (auto& [prefix, tensors] : sets) {
    TorchDataSet set;
    set.prefix = prefix;
    for (const auto& [stem, to] : {std::pair("in_", &set.inputs), {"out_", &set.outputs}}) {
      for (int i = 0;; ++i) {
        auto it = tensors.find(StrCat(stem, i));
        if (it == tensors.end()) break;
        to->push_back(AsPairs(it->second).AlignedCopyIfNeeded());
      }
    }
    all.push_back(std::move(set));
  }
  return all;
}

}  // namespace x2ir
