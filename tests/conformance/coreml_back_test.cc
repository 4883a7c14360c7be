// ONNX's node tests as ML Programs, through their files, and back: the same results. What is not
// written stands in coreml_one_way.txt with the reason.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes coreml_one_way.txt
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/value_util.h"
#include "tests/conformance/world_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Written to memory, and read from there.
absl::StatusOr<Model> ThroughPackage(const Model& written) {
  const std::string at = "x.mlpackage/Data/com.apple.CoreML/";
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  const auto put = [&](std::string_view file, std::string_view bytes) {
    (*files)[std::string(file)].append(bytes);
    return absl::OkStatus();
  };
  X2IR_RETURN_IF_ERROR(WriteMlPackage(written, Sink::Files("x.mlpackage", put)));
  const auto get = [files, at](const std::string& file) -> absl::StatusOr<HeldBytes> {
    const auto it = files->find(at + file);
    if (it == files->end()) return NotFound(file);
    return HeldBytes{{reinterpret_cast<const std::byte*>(it->second.data()), it->second.size()},
                     files};
  };
  return ReadCoreml(Source::Bytes((*files)[at + "model.mlmodel"], get, "model.mlmodel"));
}

bool DrawsNumbers(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    const std::string_view op = node->op().view();
    if (op.starts_with("random_") || op == "multinomial" || op == "bernoulli") return true;
  }
  return false;
}

// A copy whose inputs of rank 0 and 1 (axes, sizes, scales; else only integers) are constants, as
// they are in models; nothing where there are none, or no others.
std::optional<Model> Settled(const Model& ir, bool integers, std::vector<Tensor>* inputs) {
  auto graph = ir.graph->Clone();
  bool some = false;
  for (size_t i = graph->inputs().size(); i-- > 0;) {
    Value* input = graph->inputs()[i];
    if ((integers && !IsInteger(input->dtype())) || (*inputs)[i].rank() > 1) continue;
    Value* constant = graph->AddConstant(graph->UniqueName(input->name() + "_known"), (*inputs)[i]);
    graph->ReplaceAllUses(input, constant);
    graph->RemoveInput(input);
    inputs->erase(inputs->begin() + static_cast<ptrdiff_t>(i));
    some = true;
  }
  if (!some || graph->inputs().empty() || !InferGraph(*graph).ok()) return std::nullopt;
  Model model;
  model.graph = std::move(graph);
  return model;
}

TEST(CoremlBack, NodeTestsComeBack) {
  const std::vector<fs::path> cases = OnnxNodeTests();
  if (cases.size() < 1500) GTEST_SKIP() << "libonnx-testdata or the newer node tests are missing";
  std::map<std::string, std::string> one_way;
  int read = 0;
  for (const fs::path& folder : cases) {
    const std::string name = folder.filename().string();
    if (!IsWantedCase(name)) continue;
    const absl::StatusOr<Model> ir = Import((folder / "model.onnx").string());
    if (!ir.ok()) continue;  // told by conformance_test.cc
    const Graph& graph = *ir->graph;
    const auto data = ReadDatums((folder / "test_data_set_0").string(), "input", graph.inputs());
    std::vector<std::vector<Tensor>> inputs(1);
    for (const Datum& datum : data.ok() ? *data : std::vector<Datum>()) {
      if (const Tensor* tensor = datum.tensor()) inputs[0].push_back(*tensor);
    }
    if (inputs[0].size() != graph.inputs().size()) continue;  // sequences
    ++read;
    const bool random = DrawsNumbers(graph);
    Back back = ThereAndBack(*ir, "coreml", inputs, random, ThroughPackage);
    for (const bool integers : {true, false}) {
      if (back.problem.empty() || back.wrong) break;
      std::vector<std::vector<Tensor>> others = inputs;
      const std::optional<Model> settled = Settled(*ir, integers, others.data());
      if (settled) back = ThereAndBack(*settled, "coreml", others, random, ThroughPackage);
    }
    if (back.problem.empty()) continue;
    if (back.wrong) ADD_FAILURE() << name << ": " << back.problem;
    if (!Env("X2IR_CASES").empty()) std::printf("%s: %s\n", name.c_str(), back.problem.c_str());
    one_way[name] = back.problem.substr(0, back.problem.find("; "));
  }
  std::printf("coreml: %d of %d node tests are written and come back\n",
              read - static_cast<int>(one_way.size()), read);
  if (Env("X2IR_CASES").empty()) {
    CheckOneWay("tests/conformance/coreml_one_way.txt",
                "Node tests that are not written as ML Programs.", one_way);
  }
}

// The cases of Core ML (coreml_test.cc), written as ML Programs.
TEST(CoremlBack, CasesComeBack) {
  const fs::path root = Unpacked("coreml-cases.tar.xz", "coreml-cases") / "coreml-cases";
  std::map<std::string, std::string> one_way;
  int read = 0;
  for (const auto& entry : fs::directory_iterator(root)) {
    const fs::path& path = entry.path();
    const std::string name = path.stem().string();
    if (path.extension() != ".mlmodel" || !IsWantedCase(name)) continue;
    const absl::StatusOr<Model> ir = Import(path.string());
    if (!ir.ok()) continue;  // told by coreml_test.cc
    const auto sets = ReadIoFile(StrCat(path.string(), ".io.safetensors"), *ir->graph);
    std::vector<std::vector<Tensor>> inputs;
    for (const IoCase& set : sets.ok() ? *sets : std::vector<IoCase>()) {
      std::vector<Tensor>& own = inputs.emplace_back();
      for (const std::optional<Tensor>& tensor : set.inputs) {
        if (tensor) own.push_back(*tensor);
      }
      if (own.size() != set.inputs.size()) inputs.pop_back();
    }
    ++read;
    const Back back = ThereAndBack(*ir, "coreml", inputs, DrawsNumbers(*ir->graph), ThroughPackage);
    if (back.problem.empty()) continue;
    if (back.wrong) ADD_FAILURE() << name << ": " << back.problem;
    if (!Env("X2IR_CASES").empty()) std::printf("%s: %s\n", name.c_str(), back.problem.c_str());
    one_way[name] = back.problem.substr(0, back.problem.find("; "));
  }
  std::printf("coreml: %d of %d cases are written and come back\n",
              read - static_cast<int>(one_way.size()), read);
  if (Env("X2IR_CASES").empty()) {
    CheckOneWay("tests/conformance/coreml_cases_one_way.txt",
                "Cases of Core ML that are not written as ML Programs.", one_way);
  }
}

}  // namespace
}  // namespace x2ir
