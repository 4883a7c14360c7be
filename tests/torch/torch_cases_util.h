// Programs of torch.export, and TorchScript, with what PyTorch made of their inputs: NAME/model.pt2
// (model.pt, model.ptl) beside NAME/io.safetensors, whose tensors are in_0, in_1, ... and out_0,
// ..., perhaps of several cases
// ("case0.in_0").
#ifndef X2IR_TESTS_TORCH_TORCH_CASES_UTIL_H_
#define X2IR_TESTS_TORCH_TORCH_CASES_UTIL_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir {

struct TorchCase {
  std::string name;
  std::filesystem::path model, io;
};
// By name; a program that could not be exported has none.
std::vector<TorchCase> TorchCasesUnder(const std::filesystem::path& root);
// Those of torch-op-cases.tar.xz and torch-complex-cases.tar.xz, unpacked once a build folder.
// Complex tensors are given as pairs, as models take and give them.
std::vector<TorchCase> ArchivedTorchCases();
// Those of torch-programs.tar.xz, which tests/torch/programs.py makes.
std::vector<TorchCase> ArchivedTorchPrograms();

// Those of torchscript-cases.tar.xz; tests/torch/script_programs.py makes some of them.
std::vector<TorchCase> ArchivedTorchScripts();

// One set of inputs and outputs.
struct TorchDataSet {
  std::string prefix;  // "case0." where the file holds several
  std::vector<Tensor> inputs, outputs;
};
absl::StatusOr<std::vector<TorchDataSet>> ReadTorchData(const std::filesystem::path& io);

}  // namespace x2ir

#endif  // X2IR_TESTS_TORCH_TORCH_CASES_UTIL_H_
