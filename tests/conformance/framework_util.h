// Models of a framework with outputs of somebody else (tests/data/cases/README.md): each model is
// read, converted and evaluated, and exported to ONNX at opsets 13 and 18, where ONNX Runtime runs
// it to the same numbers.
//
//   X2IR_CASES=REGEX    only the cases whose names match
#ifndef X2IR_TESTS_CONFORMANCE_FRAMEWORK_UTIL_H_
#define X2IR_TESTS_CONFORMANCE_FRAMEWORK_UTIL_H_

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/core/convert.h"

namespace x2ir {

struct FrameworkCase {
  std::string name;
  std::filesystem::path model;             // a file or a folder
  std::vector<std::filesystem::path> ios;  // files of inputs and outputs
};

bool IsWantedCase(const std::string& name);
// Each folder of `root` that has an io.safetensors, by name.
std::vector<FrameworkCase> CasesOfFolders(const std::filesystem::path& root);

struct Closeness {
  double rtol = 1e-3, atol = 1e-4;
  bool scalars_as_vectors = false;  // the file has vectors of one in place of scalars
};
// Runs a model in IR on all cases of an io file. OK: all outputs that the file has agree.
absl::Status AgreesWithIo(const Model& ir, const std::filesystem::path& io,
                          const Closeness& closeness = {});

struct Framework {
  std::string name;                                  // of the folder for what is exported
  std::map<std::string, std::string> differences{};  // cases that give other numbers, and why
  std::map<std::string, std::string> refused{};      // "case@13": what an opset cannot say
  ImportOptions import{};
  // ONNX Runtime's, of a case.
  std::function<Closeness(const std::string& name)> closeness = [](const std::string&) {
    return Closeness();
  };
};
// Checks them all, and prints how many agree.
void CheckFramework(const Framework& framework, const std::vector<FrameworkCase>& cases);

}  // namespace x2ir

#endif  // X2IR_TESTS_CONFORMANCE_FRAMEWORK_UTIL_H_
