// Classical machine learning against ONNX Runtime: small models of ai.onnx.ml are evaluated here
// and there, as they stand and as they come back from IR. Needs the oracle that
// tests/oracle/setup.sh installs; without it nothing is compared, and the test says so.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/onnx/ml_cases_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// --- Running --------------------------------------------------------------------------------

// Writes the model as it stands, and as it comes back from IR, and gives our results.
absl::StatusOr<std::vector<Tensor>> Prepare(const MlCase& c, const fs::path& folder) {
  const std::string text = StrCat("graph g() -> (", c.outputs, ") {\n", c.lines, "}");
  const std::vector<OpsetImport> extra = {{"ai.onnx.ml", c.version}};
  X2IR_ASSIGN_OR_RETURN(Model source, ModelFromText(text, "onnx", 17, extra));
  X2IR_ASSIGN_OR_RETURN(Model model, ModelFromText(text, "onnx", 17, extra));
  X2IR_RETURN_IF_ERROR(ToIr(model));
  for (size_t i = 0; i < source.graph->outputs().size(); ++i) {
    source.graph->outputs()[i]->set_type(model.graph->outputs()[i]->type());
  }
  source.ir_version = 8;
  X2IR_RETURN_IF_ERROR(WriteOnnx(source, folder / "source.onnx"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> results, RunGraph(*model.graph, {}));
  std::vector<Tensor> tensors;
  for (const Datum& result : results) tensors.push_back(*result.tensor());
  ExportOptions options;
  options.optimize = false;
  options.check = true;
  X2IR_RETURN_IF_ERROR(FromIr(model, "onnx", options));
  X2IR_RETURN_IF_ERROR(WriteOnnx(model, folder / "back.onnx"));
  // The old regressor as version 5 has it, where that can be said.
  if (c.lines.find("TreeEnsembleRegressor") == std::string::npos) return tensors;
  X2IR_RETURN_IF_ERROR(ToIr(model));
  options.opset = 21;
  options.extra_opsets = {{"ai.onnx.ml", 5}};
  const absl::Status status = FromIr(model, "onnx", options);
  if (status.ok()) X2IR_RETURN_IF_ERROR(WriteOnnx(model, folder / "newer.onnx"));
  return tensors;
}

std::string TensorText(const Tensor& tensor) {
  TextOptions options;
  options.max_constant_elements = 64;
  return AttributeText(Attribute(tensor), options);
}

std::string Difference(const std::vector<Tensor>& ours, const fs::path& file) {
  auto theirs = ReadSafetensors(file);
  if (!theirs.ok()) return theirs.status().ToString();
  for (size_t i = 0; i < ours.size(); ++i) {
    const Tensor* got = nullptr;
    for (const NamedTensor& t : theirs->tensors) {
      if (t.name == StrCat("out_", i)) got = &t.tensor;
    }
    if (!got) return StrCat("no output ", i);
    bool same = got->dtype() == ours[i].dtype() && got->dims() == ours[i].dims();
    for (int64_t k = 0; same && k < ours[i].num_elements(); ++k) {
      const double a = ours[i].AsDouble(k), b = got->AsDouble(k);
      same = a == b || (std::isnan(a) && std::isnan(b)) ||
             std::abs(a - b) <= 1e-6 + 1e-5 * std::abs(b);
    }
    if (!same) {
      return StrCat("output ", i, ": ", TensorText(ours[i]), " here, ", TensorText(*got), " there");
    }
  }
  return "";
}

// The old regressor as what version 5 has in its place gives the same, or is refused.
TEST(MlLowering, RegressorAsEnsemble) {
  int lowered = 0;
  for (const MlCase& c : AllMlCases()) {
    if (c.lines.find("TreeEnsembleRegressor") == std::string::npos) continue;
    auto model = ModelFromText(StrCat("graph g() -> (", c.outputs, ") {\n", c.lines, "}"), "onnx",
                               21, {{"ai.onnx.ml", c.version}});
    ASSERT_TRUE(model.ok() && ToIr(*model).ok()) << c.lines;
    const auto before = RunGraph(*model->graph, {});
    ASSERT_TRUE(before.ok()) << before.status();
    ExportOptions options;
    options.optimize = false;
    options.check = true;
    options.extra_opsets = {{"ai.onnx.ml", 5}};
    const absl::Status status = FromIr(*model, "onnx", options);
    if (absl::IsFailedPrecondition(status)) continue;
    ASSERT_TRUE(status.ok() && ToIr(*model).ok()) << status << c.lines;
    const auto after = RunGraph(*model->graph, {});
    ASSERT_TRUE(after.ok()) << after.status();
    ++lowered;
    for (size_t i = 0; i < before->size(); ++i) {
      EXPECT_EQ(*(*before)[i].tensor(), *(*after)[i].tensor()) << c.lines;
    }
  }
  EXPECT_GE(lowered, 50);
}

TEST(MlOracle, AgreesWithOnnxRuntime) {
  const fs::path build = X2IR_BUILD_DIR;
  const char* given = std::getenv("X2IR_ORACLE");
  const fs::path oracle = given && *given ? fs::path(given) : build / "oracle";
  if (!fs::exists(oracle / "installed")) {
    GTEST_SKIP() << "*** ORACLE NOT RUN: nothing was compared with ONNX Runtime";
  }
  const fs::path work = build / "ml_oracle";
  fs::remove_all(work);
  const std::vector<MlCase> cases = AllMlCases();
  std::vector<absl::StatusOr<std::vector<Tensor>>> results;
  std::ofstream requests(work.string() + ".requests");
  for (size_t i = 0; i < cases.size(); ++i) {
    const fs::path folder = work / std::to_string(i);
    fs::create_directories(folder);
    results.push_back(Prepare(cases[i], folder));
    ASSERT_TRUE(WriteSafetensors(folder / "feeds", {}).ok());
    for (const char* name : {"source", "back", "newer"}) {
      if (!fs::exists(work / std::to_string(i) / StrCat(name, ".onnx"))) continue;
      std::string line = "{\"model\": ";
      AppendJsonString(&line, (folder / StrCat(name, ".onnx")).string());
      line += ", \"feeds\": ";
      AppendJsonString(&line, (folder / "feeds").string());
      line += ", \"fetch\": ";
      AppendJsonString(&line, (folder / name).string());
      requests << line << "}\n";
    }
  }
  requests.close();
  const std::string command =
      StrCat("node '", X2IR_SOURCE_DIR, "/tests/oracle/ort.mjs' --oracle '", oracle.string(),
             "' < '", work.string(), ".requests' > '", work.string(), ".answers'");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream answers(work.string() + ".answers");
  for (size_t i = 0; i < cases.size(); ++i) {
    for (const char* name : {"source", "back", "newer"}) {
      if (!fs::exists(work / std::to_string(i) / StrCat(name, ".onnx"))) continue;
      std::string answer;
      ASSERT_TRUE(std::getline(answers, answer)) << "the oracle ended early";
      const bool ran = answer.find("\"ok\":true") != std::string::npos;
      std::string difference = !results[i].ok() ? results[i].status().ToString()
                               : !ran           ? answer
                                      : Difference(*results[i], work / std::to_string(i) / name);
      EXPECT_EQ(difference, "") << name << " of\n" << cases[i].lines;
    }
  }
  std::printf("%zu models agree with ONNX Runtime\n", cases.size());
}

}  // namespace
}  // namespace x2ir
