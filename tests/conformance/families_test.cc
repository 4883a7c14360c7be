// The families of networks that OneFlow-ONNX lists, as programs of PyTorch (families.py in
// tests/oracle made them), and networks as files of other frameworks: families.txt names them. Each
// is evaluated, exported at opset 10, which is OneFlow-ONNX's, and at 13 and 18, and run by ONNX
// Runtime; programs go to OneFlow's text and back as well. What becomes of each is a table of
// tests/oracle/families.md, a part of docs/results/models.md.
//
//   X2IR_CASES=REGEX       only the networks whose names match
//   X2IR_UPDATE_GOLDEN=1   writes the tables
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/host_util.h"
#include "tests/golden/golden_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

constexpr int kFamilyOpsets[] = {10, 13, 18};

struct FamilyRow {
  std::string family, whose, network;
  bool is_program() const { return network.find('/') == network.npos; }
};

std::vector<FamilyRow> FamilyRows(bool programs) {
  std::vector<FamilyRow> rows;
  std::ifstream lines(X2IR_SOURCE_DIR "/tests/conformance/families.txt");
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t first = line.find(" | "), second = line.find(" | ", first + 1);
    FamilyRow row{line.substr(0, first), line.substr(first + 3, second - first - 3),
                  line.substr(second + 3)};
    if (row.is_program() == programs && IsWantedCase(row.network)) rows.push_back(std::move(row));
  }
  return rows;
}

// The model and its inputs and outputs.
std::pair<fs::path, fs::path> FilesOf(const FamilyRow& row) {
  if (row.is_program()) {
    const fs::path folder = Unpacked("families.tar.xz", "families") / "families" / row.network;
    return {folder / "model.pt2", folder / "io.safetensors"};
  }
  const size_t slash = row.network.find('/');
  const std::string archive = row.network.substr(0, slash), rest = row.network.substr(slash + 1);
  if (archive == "coreml") {
    const fs::path model = fs::path(X2IR_SOURCE_DIR) / "tests/data/coreml" / rest;
    return {model, model.parent_path() / (model.stem().string() + ".io.safetensors")};
  }
  fs::path model = Unpacked(archive + ".tar.xz", archive);
  if (fs::exists(model / archive)) model /= archive;
  model /= rest;
  return {model, fs::is_directory(model) ? model / "io.safetensors"
                                         : fs::path(model.string() + ".io.safetensors")};
}

// One network, and what is to be said of it: "ok", or why not.
class Family {
 public:
  Family(FamilyRow row, OrtJudge* ort) : row_(std::move(row)), ort_(ort) {
    dir_ = fs::path(X2IR_BUILD_DIR) / "conformance/families" / row_.network;
    fs::remove_all(dir_);
    fs::create_directories(dir_);
    std::tie(model_, io_) = FilesOf(row_);
  }

  void Run() {
    SCOPED_TRACE(row_.network);
    ImportOptions options;
    if (row_.whose == "Darknet") options.format_options.Set("decode_heads", true);
    const absl::StatusOr<Model> ir = Import(model_.string(), options);
    if (Note("verify", ir.ok() ? AgreesWithIo(*ir, io_, closeness_) : ir.status())) {
      for (const int opset : kFamilyOpsets) Export(*ir, opset, StrCat("opset ", opset));
    }
    if (!ir.ok() || !row_.is_program()) return;
    const std::string text = (dir_ / "oneflow/model.mlir").string();
    fs::create_directories(dir_ / "oneflow");
    const absl::Status written = x2ir::Export(ir->Clone(), text);
    const absl::StatusOr<Model> back = written.ok() ? Import(text) : absl::StatusOr<Model>(written);
    if (Note("OneFlow", back.ok() ? AgreesWithIo(*back, io_, closeness_) : back.status())) {
      Export(*back, 18, "OneFlow to ONNX");
    }
  }

  // The row of the table, once the judge was heard.
  std::string Line() {
    SCOPED_TRACE(row_.network);
    for (const auto& [check, question] : asked_) {
      const OrtJudge::Answer& answer = ort_->Answers()[question];
      EXPECT_TRUE(answer.agrees) << check << ": ONNX Runtime (" << answer.stage
                                 << "): " << answer.error;
      cells_.emplace_back(check, answer.agrees ? "ok" : "**differs**");
    }
    const auto cell = [&](const std::string& check) {
      for (const auto& [name, text] : cells_) {
        if (name == check) return text;
      }
      return std::string("-");
    };
    std::string line =
        StrCat("| ", row_.family, " | ", row_.whose, " | ", row_.network, " | ", cell("verify"));
    for (const int opset : kFamilyOpsets) StrAppend(&line, " | ", cell(StrCat("opset ", opset)));
    if (row_.is_program()) StrAppend(&line, " | ", cell("OneFlow"), " | ", cell("OneFlow to ONNX"));
    return line + " |\n";
  }

 private:
  bool Note(const std::string& check, const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << check << ": " << status;
    cells_.emplace_back(check, status.ok() ? "ok" : "**fails**");
    return status.ok();
  }

  void Export(const Model& ir, int opset, const std::string& check) {
    const std::string out = (dir_ / StrCat(asked_.size(), ".onnx")).string();
    const absl::Status exported = x2ir::Export(ir.Clone(), out, {.opset = opset, .check = true});
    if (absl::IsFailedPrecondition(exported)) {
      cells_.emplace_back(check, "refused");
    } else if (!exported.ok()) {
      Note(check, exported);
    } else if (ort_) {
      asked_.emplace_back(check, ort_->Ask({out, io_.string(), closeness_.rtol, closeness_.atol}));
    }
  }

  const FamilyRow row_;
  OrtJudge* const ort_;
  const Closeness closeness_{2e-3, 2e-4};
  fs::path dir_, model_, io_;
  std::vector<std::pair<std::string, std::string>> cells_;
  std::vector<std::pair<std::string, size_t>> asked_;
};

std::string TableOfFamilies(bool programs, OrtJudge* ort) {
  std::vector<Family> families;
  for (FamilyRow& row : FamilyRows(programs)) families.emplace_back(std::move(row), ort);
  for (Family& family : families) family.Run();
  std::string head = programs ? "| family | in the tables of | network | verify"
                              : "| family | framework | file | verify";
  for (const int opset : kFamilyOpsets) StrAppend(&head, " | opset ", opset);
  if (programs) StrAppend(&head, " | OneFlow | OneFlow to ONNX");
  std::string text = head + " |\n|";
  for (size_t i = 0; i < (programs ? 9u : 7u); ++i) text += " --- |";
  text += "\n";
  for (Family& family : families) text += family.Line();
  std::printf("%zu networks\n", families.size());
  return text;
}

TEST(Families, AreRight) {
  const auto ort = OrtJudge::Start();
  const std::string programs = TableOfFamilies(true, ort.get()),
                    files = TableOfFamilies(false, ort.get());
  const std::string text = StrCat(
      "## Families of networks\n\n"
      "OneFlow-ONNX lists families of networks that it was tried with, from PyTorch, TensorFlow, "
      "Paddle and OneFlow. Each is\n"
      "here one network of its kind as a program of PyTorch (torchvision's with fewer channels and "
      "layers, or of the family's\n"
      "blocks put together), with random weights and PyTorch's outputs; `tests/oracle/families.py` "
      "makes them\n"
      "(`tests/data/cases/families.tar.xz`). `x2ir_conformance_test --gtest_filter='Families.*'` "
      "evaluates each, exports it at\n"
      "opset 10, at which OneFlow-ONNX writes, and at 13 and 18, and runs the files in ONNX "
      "Runtime. OneFlow: what\n"
      "`x2ir convert model.pt2 -o of/model.mlir` writes computes the same, and so does what "
      "becomes of it at opset 18.\n\n",
      programs,
      "\nThe same of networks as files of other frameworks, with the outputs of these or of others "
      "that run them\n"
      "(`tests/data/cases`). Refused: what the opset cannot say.\n\n",
      files);
  if (!ort) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
  if (!Env("X2IR_CASES").empty()) return;
  ExpectGolden("tests/oracle/families.md", text);
}

}  // namespace
}  // namespace x2ir
