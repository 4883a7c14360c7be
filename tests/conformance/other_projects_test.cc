// ONNX files of other projects' test suites, files of forms that were taken away from ONNX, and
// language models, with what ONNX Runtime gives for them (tests/data/cases/README.md). Each is
// converted and evaluated, and exported at its own opset, without passes and with them, at 21 and
// at 13; what was exported passes the schema check, and ONNX Runtime runs it to the same numbers.
//
//   X2IR_CASES=REGEX    only the cases whose names match
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/verify.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Where ONNX Runtime differs from the text of ONNX, or from itself: docs/runtimes.md has the
// reasons. "CASE" for every way, "CASE@WAY" for one.
const std::map<std::string, std::string>& KnownDifferences() {
  static const auto* const known = new std::map<std::string, std::string>{
      {"onnxruntime__onnxruntime.test.python.transformers.test_data.models.attention_opt",
       "a norm around a mean that is large: ONNX Runtime to 1.24 loses digits"},
      {"onnxruntime__onnxruntime.test.python.transformers.test_data.models.pruned_attention_opt",
       "a norm around a mean that is large: ONNX Runtime to 1.24 loses digits"},
      {"onnxruntime__transform.fusion.skip_layer_norm_no_beta_with_cast",
       "ONNX Runtime does not round the float16 between two of its float32 kernels"},
      {"onnxruntime-genai__test.models.hf-internal-testing.tiny-random-gpt2-fp16-cuda.past",
       "float16: ONNX Runtime rounds between other nodes"},
      {"onnxruntime__transform.fusion.gpt2_past_mask_one_layer@verify",
       "an input is not as long as the file says"},
  };
  return *known;
}

struct OtherCase {
  std::string name;
  fs::path model, io;
};

std::vector<OtherCase> Cases() {
  std::vector<OtherCase> cases;
  const char* only = std::getenv("X2IR_CASES");
  for (const std::string archive : {"onnx-other-projects", "language-models"}) {
    const fs::path root = Unpacked(archive + ".tar.xz", archive);
    if (root.empty()) return {};
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().filename() != "model.onnx") continue;
      const fs::path folder = entry.path().parent_path();
      OtherCase c{folder.filename().string(), entry.path(), folder / "io.safetensors"};
      if (!only || std::regex_search(c.name, std::regex(only))) cases.push_back(std::move(c));
    }
  }
  return cases;
}

// Some are of float16.
constexpr Tolerance kTolerance{2e-3, 5e-4};

class OtherProjects : public ::testing::Test {
 protected:
  static bool Known(const std::string& name, const std::string& way) {
    return KnownDifferences().contains(name) || KnownDifferences().contains(StrCat(name, "@", way));
  }

  absl::Status Verify(const OtherCase& c, const Model& ir) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<IoCase> io, ReadIoFile(c.io.string(), *ir.graph));
    X2IR_ASSIGN_OR_RETURN(const Verification v, VerifyOutputs(ir, io, {kTolerance, nullptr}));
    return v.agrees() ? absl::OkStatus() : Internal(v.ToText());
  }

  // Exports it, evaluates what was exported, and has ONNX Runtime run it.
  absl::Status Export(const OtherCase& c, const std::string& way, std::optional<int> opset,
                      bool optimize) {
    X2IR_ASSIGN_OR_RETURN(Model model, ReadOnnx(Source(c.model.string())));
    X2IR_RETURN_IF_ERROR(ToIr(model));
    ExportOptions options;
    options.opset = opset;
    options.optimize = optimize;
    options.check = true;
    const fs::path out = dir_ / StrCat(c.name, "@", way, ".onnx");
    X2IR_RETURN_IF_ERROR(x2ir::Export(std::move(model), out.string(), options));
    X2IR_ASSIGN_OR_RETURN(Model again, ReadOnnx(Source(out.string())));
    X2IR_RETURN_IF_ERROR(ToIr(again));
    if (!Known(c.name, "verify")) X2IR_RETURN_IF_ERROR(Verify(c, again));
    if (ort_) {
      asked_.emplace_back(c.name, way);
      ort_->Ask({out.string(), c.io.string(), kTolerance.rtol, kTolerance.atol});
    }
    return absl::OkStatus();
  }

  fs::path dir_ = fs::path(X2IR_BUILD_DIR) / "conformance" / "other_projects";
  std::unique_ptr<OrtJudge> ort_ = OrtJudge::Start();
  std::vector<std::pair<std::string, std::string>> asked_;
};

TEST_F(OtherProjects, ConvertAndAgree) {
  const std::vector<OtherCase> cases = Cases();
  if (cases.empty()) GTEST_SKIP() << "the archives are not there";
  fs::create_directories(dir_);
  int agreed = 0;
  for (const OtherCase& c : cases) {
    SCOPED_TRACE(c.name);
    auto model = ReadOnnx(Source(c.model.string()));
    ASSERT_TRUE(model.ok()) << model.status();
    const int own = static_cast<int>(model->Opset(""));
    const absl::Status read = ToIr(*model);
    EXPECT_TRUE(read.ok()) << read;
    if (!read.ok()) continue;
    if (!Known(c.name, "verify")) {
      const absl::Status verified = Verify(c, *model);
      EXPECT_TRUE(verified.ok()) << verified;
    }
    // An opset before 9 lacks much; what is read at it is written for 13 in any case.
    const struct {
      const char* way;
      std::optional<int> opset;
      bool optimize;
    } ways[] = {{"own", std::max(own, 9), false},
                {"passes", std::max(own, 9), true},
                {"21", 21, true},
                {"13", 13, true}};
    for (const auto& way : ways) {
      const absl::Status status = Export(c, way.way, way.opset, way.optimize);
      EXPECT_TRUE(status.ok() || Known(c.name, way.way)) << way.way << ": " << status;
      agreed += status.ok();
    }
  }
  int ran = 0;
  if (ort_) {
    const std::vector<OrtJudge::Answer>& answers = ort_->Answers();
    ASSERT_EQ(answers.size(), asked_.size());
    for (size_t i = 0; i < answers.size(); ++i) {
      const auto& [name, way] = asked_[i];
      if (answers[i].agrees) ++ran;
      if (answers[i].agrees || answers[i].cannot_run() || Known(name, way)) continue;
      ADD_FAILURE() << name << "@" << way << ": ONNX Runtime (" << answers[i].stage
                    << "): " << answers[i].error;
    }
  }
  std::printf("%zu files, %d exports agree, %d of them in ONNX Runtime\n", cases.size(), agreed,
              ran);
}

}  // namespace
}  // namespace x2ir
