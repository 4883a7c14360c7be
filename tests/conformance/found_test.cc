// Small graphs that random testing found (tests/data/found): each evaluates to what ONNX Runtime
// gave, is written as ONNX at every opset that can say it, which ONNX Runtime loads and runs to the
// same numbers, and comes back from every other format that is read and written.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> FoundGraphs() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(fs::path(X2IR_SOURCE_DIR) / "tests/data/found")) {
    if (entry.path().extension() == ".onnx") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path IoOf(fs::path model) { return model.replace_extension(".safetensors"); }

// "graph@format" of what the format cannot say, and what the refusal says of it.
const std::map<std::string, std::string>& RefusedFormats() {
  static const auto& refused = *new std::map<std::string, std::string>{
      // A job of OneFlow needs inputs and outputs of known sizes, and nothing computed beside
      // tensors.
      {"40356_mlpackage@oneflow_graph", "needs inputs and outputs of known sizes"},
      {"40356_mlpackage@oneflow_job", "needs inputs and outputs of known sizes"},
      {"coreml_slice_starts_input@oneflow_graph", "computed starts"},
      {"coreml_slice_starts_input@oneflow_job", "computed starts"},
      {"nnvm_params@oneflow_graph", "needs inputs and outputs of known sizes"},
      {"nnvm_params@oneflow_job", "needs inputs and outputs of known sizes"},
      // NNVM has none of these.
      {"coreml_slice_starts_input@nnvm", "computed starts"},
      {"onnx_space_to_depth_int8@nnvm", "space_to_depth (1 node): no mapping to nnvm"},
      {"coreml_slice_starts_input@keras", "computed starts"},
      {"onnx_half_scatter_mul@keras", "the reduction 'mul'"},
      {"onnx_clip_double@tfjs", "an input or output of float64"},
      {"onnx_hardswish_double@tfjs", "an input or output of float64"},
      {"onnx_clip_double@tflite", "no kernel for float64"},
      {"onnx_hardswish_double@tflite", "no kernel for float64"},
      {"onnx_clip_double@coreml", "an input or output of float64"},
      {"onnx_hardswish_double@coreml", "an input or output of float64"},
  };
  return refused;
}

TEST(Found, Evaluate) {
  for (const fs::path& path : FoundGraphs()) {
    const auto model = Import(Source(path.string()));
    ASSERT_TRUE(model.ok()) << path << model.status();
    EXPECT_TRUE(AgreesWithIo(*model, IoOf(path)).ok()) << path << AgreesWithIo(*model, IoOf(path));
  }
}

TEST(Found, RunInOnnxRuntime) {
  const auto ort = OrtJudge::Start();
  if (!ort) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
  const fs::path dir = fs::path(X2IR_BUILD_DIR) / "conformance" / "found";
  fs::create_directories(dir);
  std::vector<std::string> asked;
  for (const fs::path& path : FoundGraphs()) {
    const auto model = Import(Source(path.string()));
    ASSERT_TRUE(model.ok()) << path << model.status();
    for (const int opset : {7, 9, 11, 12, 13, 16, 17, 18, 19, 21, 22, 23}) {
      const std::string name = StrCat(path.stem().string(), "@", opset);
      const fs::path out = dir / (name + ".onnx");
      ExportOptions options;
      options.opset = opset;
      options.check = true;
      const absl::Status written = Export(model->Clone(), out.string(), options);
      // What older opsets lack.
      const bool may_refuse = opset < 9 && absl::IsFailedPrecondition(written);
      EXPECT_TRUE(written.ok() || may_refuse) << name << ": " << written;
      // The oracle binds by name, and the input's name is that of a result in the file.
      if (path.stem() == "io_name_out_1") continue;
      // Before opset 8 there is no minimum of float64.
      if (!written.ok() || (opset == 7 && path.stem() == "onnx_clip_double")) continue;
      if (opset == 7 && path.stem() == "onnx_hardswish_double") continue;
      asked.push_back(name);
      ort->Ask({out.string(), IoOf(path).string(), 1e-3, 1e-4});
    }
  }
  ExpectAgreement(*ort, asked);
}

TEST(Found, ComeBackFromEveryFormat) {
  const fs::path dir = fs::path(X2IR_BUILD_DIR) / "conformance" / "found_back";
  fs::remove_all(dir);
  for (const Format* format : AllFormats()) {
    if (!format->read || !format->write || format->extensions.empty()) continue;
    for (const fs::path& path : FoundGraphs()) {
      const std::string name = StrCat(path.stem().string(), "@", format->name);
      const fs::path folder = dir / name;
      fs::create_directories(folder);
      const std::string out = (folder / StrCat("m", format->extensions[0])).string();
      auto model = Import(Source(path.string()));
      ASSERT_TRUE(model.ok()) << path << model.status();
      ExportOptions options;
      options.format = format->name;
      const absl::Status written = Export(*std::move(model), out, options);
      const auto refused = RefusedFormats().find(name);
      EXPECT_EQ(written.ok(), refused == RefusedFormats().end()) << name << ": " << written;
      if (!written.ok()) {
        if (refused == RefusedFormats().end()) continue;
        EXPECT_NE(written.message().find(refused->second), written.message().npos) << written;
        continue;
      }
      const auto back = Import(Source(out));
      EXPECT_TRUE(back.ok()) << name << ": " << back.status();
      if (!back.ok()) continue;
      const absl::Status agrees = AgreesWithIo(*back, IoOf(path));
      EXPECT_TRUE(agrees.ok()) << name << ": " << agrees;
    }
  }
}

// One with a flag.
TEST(Found, Float64ForCoreml) {
  const fs::path dir = fs::path(X2IR_BUILD_DIR) / "conformance" / "found_float64";
  fs::remove_all(dir);
  fs::create_directories(dir);
  for (const char* name : {"onnx_clip_double", "onnx_hardswish_double"}) {
    const fs::path path = fs::path(X2IR_SOURCE_DIR) / "tests/data/found" / StrCat(name, ".onnx");
    auto model = Import(Source(path.string()));
    ASSERT_TRUE(model.ok()) << model.status();
    ExportOptions options;
    options.format_options.Set("float64_as_float32", true);
    const std::string out = (dir / StrCat(name, ".mlpackage")).string();
    const absl::Status written = Export(*std::move(model), out, options);
    ASSERT_TRUE(written.ok()) << written;
    const auto back = Import(Source(out));
    ASSERT_TRUE(back.ok()) << back.status();
    const absl::Status agrees = AgreesWithIo(*back, IoOf(path));
    EXPECT_TRUE(agrees.ok()) << agrees;
  }
}

}  // namespace
}  // namespace x2ir
