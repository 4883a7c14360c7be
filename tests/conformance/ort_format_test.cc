// Files of ONNX Runtime's own format. Those that ONNX Runtime saved without passes are read to the
// graph that the ONNX file beside them is read to; all give the results that stand beside them.
// ONNX's node tests and networks are written as such files, and ONNX Runtime loads them and gives
// the same results.
//
//   X2IR_CASES=REGEX       only the cases whose names match, with the reason of each refusal
//   X2IR_UPDATE_GOLDEN=1   writes tests/golden/ort_cases.txt and ort_refused.txt
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/conformance/ort_util.h"
#include "tests/conformance/value_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/golden/golden_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/diff.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// --- Reading -------------------------------------------------------------------------------------

std::string OneLineOf(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  const size_t last = text.rfind('\n');
  return last == text.npos ? text : text.substr(last + 1);
}

// Of the archive's files, each with its folder.
std::vector<fs::path> OrtFiles(const fs::path& root) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".ort" && IsWantedCase(path.parent_path().filename())) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void CheckFiles(const fs::path& root) {
  Reasons known;
  int read = 0, same = 0, twins = 0, agree = 0, with_io = 0;
  for (const fs::path& path : OrtFiles(root)) {
    const std::string name = path.lexically_relative(root).string();
    SCOPED_TRACE(name);
    absl::StatusOr<Model> model = Import(path.string());
    if (!model.ok()) {
      known[name] = OneLineOf(std::string(model.status().message()));
      continue;
    }
    ++read;
    const fs::path twin = path.parent_path() / "model.onnx",
                   io = path.parent_path() / "io.safetensors";
    if (path.filename() == "model.none.ort" && fs::exists(twin)) {
      ++twins;
      const absl::StatusOr<Model> other = Import(twin.string());
      ASSERT_TRUE(other.ok()) << other.status();
      const ModelDiff diff = DiffModels(*other, *model);
      same += diff.empty();
      if (!diff.empty()) known[name] = OneLineOf(diff.ToText());
    }
    if (!fs::exists(io)) continue;
    ++with_io;
    const absl::Status agrees = AgreesWithIo(*model, io, {.scalars_as_vectors = true});
    agree += agrees.ok();
    EXPECT_TRUE(agrees.ok()) << agrees;
  }
  std::printf(
      "ort: %d files are read; %d of %d are the graph of the ONNX file beside them; %d of %d "
      "agree\n",
      read, same, twins, agree, with_io);
  if (Env("X2IR_CASES").empty()) {
    ExpectReasons("tests/golden/ort_cases.txt",
                  "Files that are not read, or not to the graph of the ONNX file beside them: ONNX "
                  "Runtime had put bodies of functions in, or casts.",
                  known);
  }
}

TEST(OrtFormat, FilesAreRead) {
  const fs::path root = Unpacked("ort-cases.tar.xz", "ort-cases");
  if (root.empty()) GTEST_SKIP() << "ort-cases.tar.xz is not there";
  CheckFiles(root);
}

// --- Writing -------------------------------------------------------------------------------------

// Writes models as .ort and as .onnx, and asks ONNX Runtime about both. Where it cannot run the
// .onnx file, it says nothing about the other.
class WrittenOrt {
 public:
  WrittenOrt() : judge_(OrtJudge::Start()) {}
  bool has_judge() const { return judge_ != nullptr; }
  std::string Base() { return dir_.Path(StrCat("case_", int64_t{++written_})); }

  // `io`: empty where it cannot be handed over.
  void Add(const std::string& name, const Model& ir, const std::string& base,
           const std::string& io) {
    ExportOptions options;
    const absl::Status onnx = Export(ir.Clone(), base + ".onnx", options);
    if (!onnx.ok()) return;  // told by conformance_test.cc
    const absl::Status status = Export(ir.Clone(), base + ".ort", options);
    if (!status.ok()) {
      refused[name] = OneLineOf(std::string(status.message()));
      return;
    }
    if (io.empty()) {
      ++not_handed_over;
      return;
    }
    names_.push_back(name);
    judge_->Ask({base + ".onnx", io, 1e-3, 1e-5});
    judge_->Ask({base + ".ort", io, 1e-3, 1e-5});
  }

  void Hear() {
    const auto& answers = judge_->Answers();
    ASSERT_EQ(answers.size(), 2 * names_.size());
    for (size_t i = 0; i < names_.size(); ++i) {
      const OrtJudge::Answer &onnx = answers[2 * i], &ort = answers[2 * i + 1];
      runs += onnx.agrees;
      if (!onnx.agrees) {
        // Where it runs neither, that is so of both.
        EXPECT_FALSE(ort.agrees && onnx.stage == "compare") << names_[i];
        continue;
      }
      right += ort.agrees;
      if (ort.stage == "compare") {
        ADD_FAILURE() << names_[i] << ": " << ort.error;
      } else if (!ort.agrees) {
        refused[names_[i]] = StrCat("ONNX Runtime (", ort.stage, "): ", OneLineOf(ort.error));
      }
    }
  }

  Reasons refused;
  int not_handed_over = 0, runs = 0, right = 0;

 private:
  TempDir dir_;
  std::unique_ptr<OrtJudge> judge_;
  std::vector<std::string> names_;
  int64_t written_ = 0;
};

// The first set of a case as a file; "" where it cannot be one.
std::string WriteCaseIo(const fs::path& folder, const Graph& graph, const std::string& path) {
  IoCase io;
  const auto take = [&](const char* stem, absl::Span<const Value* const> values,
                        std::vector<std::optional<Tensor>>* into) {
    const auto data = ReadDatums((folder / "test_data_set_0").string(), stem, values);
    if (!data.ok() || data->size() != values.size()) return false;
    for (const Datum& datum : *data) {
      const Tensor* tensor = datum.tensor();
      if (!tensor || tensor->is_string() || tensor->is_sparse()) return false;
      into->push_back(*tensor);
    }
    return true;
  };
  const bool complete =
      take("input", graph.inputs(), &io.inputs) && take("output", graph.outputs(), &io.outputs);
  return complete && WriteIoFile(path, {io}, graph).ok() ? path : "";
}

TEST(OrtFormat, NodeTestsRun) {
  const std::vector<fs::path> cases = OnnxNodeTests();
  if (cases.size() < 1500) GTEST_SKIP() << "libonnx-testdata or the newer node tests are missing";
  WrittenOrt written;
  if (!written.has_judge()) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
  int read = 0;
  for (const fs::path& folder : cases) {
    const std::string name = folder.filename().string();
    if (!IsWantedCase(name)) continue;
    const absl::StatusOr<Model> ir = Import((folder / "model.onnx").string());
    if (!ir.ok()) continue;  // told by conformance_test.cc
    ++read;
    const std::string base = written.Base();
    written.Add(name, *ir, base, WriteCaseIo(folder, *ir->graph, base + ".safetensors"));
  }
  written.Hear();
  std::printf(
      "ort: of %d node tests ONNX Runtime runs %d as .onnx, and %d of these as .ort (%.1f %%); "
      "%zu are refused, %d cannot be handed over\n",
      read, written.runs, written.right, 100.0 * written.right / std::max(written.runs, 1),
      written.refused.size(), written.not_handed_over);
  if (!Env("X2IR_CASES").empty()) {
    for (const auto& [name, reason] : written.refused) {
      std::printf("%s: %s\n", name.c_str(), reason.c_str());
    }
    return;
  }
  EXPECT_GE(written.right, 0.97 * written.runs);
  ExpectReasons("tests/golden/ort_refused.txt",
                "Node tests that are not written, or that ONNX Runtime runs as .onnx alone.",
                written.refused);
}

TEST(OrtFormat, NetworksRun) {
  const fs::path root = Shared("models");
  if (root.empty()) GTEST_SKIP() << kNotShared;
  const std::unique_ptr<OrtJudge> judge = OrtJudge::Start();
  if (!judge) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
  const TempDir dir;
  std::vector<std::string> asked;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".onnx" || !IsWantedCase(path.string())) continue;
    const std::string out = dir.Path(StrCat("net_", uint64_t{asked.size()}, ".ort"));
    const absl::Status status = Convert(path.string(), out);
    EXPECT_TRUE(status.ok()) << path << ": " << status;
    if (!status.ok()) continue;
    judge->Ask({out, (path.parent_path() / "io.safetensors").string(), 1e-3, 1e-4});
    asked.push_back(path.lexically_relative(root).string());
  }
  const int agree = ExpectAgreement(*judge, asked);
  std::printf("ort: %d of %zu networks agree in ONNX Runtime\n", agree, asked.size());
}

}  // namespace
}  // namespace x2ir
