// Rows of values of other frameworks' operators (tests/data/*/rows.txt) as ONNX models with
// operands as inputs, in ONNX Runtime. Needs the oracle that tests/oracle/setup.sh installs;
// without it nothing is compared, and the test says so.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/handlers/rows_file_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

constexpr int kRowsEach = 2;  // of an operator: a session of ONNX Runtime is no small thing

// Writes the model and what it takes and gives; FailedPrecondition, Unimplemented: it cannot be
// said with so little known, or in ONNX.
absl::Status WriteRow(const FileRow& row, const std::string& dialect, const fs::path& stem) {
  X2IR_ASSIGN_OR_RETURN(
      Model model,
      ModelOfRow(row, dialect, dialect == "paddle" ? SlotsOfRow(row) : "", RowOperands::kInputs));
  X2IR_RETURN_IF_ERROR(ToIr(model));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Tensor> given, InputsOfRow(row, *model.graph));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Tensor> want, ResultsOfRow(row));
  ExportOptions options;
  options.opset = 18;
  X2IR_RETURN_IF_ERROR(FromIr(model, "onnx", options));
  X2IR_RETURN_IF_ERROR(WriteOnnx(model, stem.string() + ".onnx"));
  std::vector<NamedTensor> io;
  for (size_t i = 0; i < given.size(); ++i) io.push_back({StrCat("in_", i), given[i]});
  for (size_t i = 0; i < want.size(); ++i) io.push_back({StrCat("out_", i), want[i]});
  return WriteSafetensors(stem.string() + ".io", io);
}

TEST(RowsOracle, AgreeWithOnnxRuntime) {
  const fs::path build = X2IR_BUILD_DIR;
  const char* given = std::getenv("X2IR_ORACLE");
  const fs::path oracle = given && *given ? fs::path(given) : build / "oracle";
  if (!fs::exists(oracle / "installed")) {
    GTEST_SKIP() << "*** ORACLE NOT RUN: nothing was compared with ONNX Runtime";
  }
  const fs::path work = build / "rows_oracle";
  fs::remove_all(work);
  fs::create_directories(work);
  std::vector<std::string> asked;
  size_t refused = 0;
  std::ofstream requests(work / "requests");
  for (const std::string dialect : {"mxnet", "nnvm", "oneflow", "paddle"}) {
    std::set<std::string> seen;
    std::map<std::string, int> counts;
    for (const FileRow& row : ReadFileRows(dialect)) {
      // Once for all names of an operator.
      std::string content = row.attrs;
      for (const Strings* all : {&row.operands.tensors, &row.results.tensors}) {
        for (const std::string& tensor : *all) StrAppend(&content, " ", tensor);
      }
      if (!seen.insert(content).second || ++counts[row.op] > kRowsEach) continue;
      const fs::path stem = work / std::to_string(asked.size());
      if (const absl::Status status = WriteRow(row, dialect, stem); !status.ok()) {
        ++refused;
        std::ofstream(work / "refused", std::ios::app) << row.ToString() << ": " << status << "\n";
        continue;
      }
      asked.push_back(StrCat(dialect, ".", row.ToString()));
      std::string line = "{\"model\": ";
      AppendJsonString(&line, stem.string() + ".onnx");
      line += ", \"io\": ";
      AppendJsonString(&line, stem.string() + ".io");
      requests << line << "}\n";
    }
  }
  requests.close();
  const std::string command =
      StrCat("node '", X2IR_SOURCE_DIR, "/tests/oracle/ort.mjs' --oracle '", oracle.string(),
             "' < '", (work / "requests").string(), "' > '", (work / "answers").string(), "'");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream answers(work / "answers");
  size_t agree = 0;
  for (const std::string& row : asked) {
    std::string answer;
    ASSERT_TRUE(std::getline(answers, answer)) << "the oracle ended early";
    const bool ok = answer.find("\"ok\":true") != std::string::npos;
    agree += ok;
    EXPECT_TRUE(ok) << row << ": " << answer;
  }
  printf("%zu rows agree with ONNX Runtime, %zu cannot be said there\n", agree, refused);
  EXPECT_LT(refused, 20u);
  fs::remove_all(work);
}

}  // namespace
}  // namespace x2ir
