// Networks made int8 by calibration (core/calibrate.h), as ONNX and as TFLite: ONNX Runtime and
// LiteRT run the files, and give what our own evaluation of them gives, but for steps by which
// kernels may round in another way. How far off float32 they are is printed.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/shared_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/runtimes/runtime_util.h"
#include "x2ir/core/calibrate.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/optimizer/pass.h"
#include "x2ir/runtimes/check.h"
#include "x2ir/runtimes/runtime.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

struct Int8Network {
  std::string model, io;
  double cosine;  // at least, of every output beside float32
  bool deep;      // one scale for all weights of a layer would not do
  // Of an output's range in 255 steps, by which a runtime may be off at the end: what it rounds in
  // another way in one place grows in a deep network.
  double steps;
};

std::vector<Int8Network> Int8Networks() {
  std::vector<Int8Network> networks;
  const fs::path shared = Shared("models"), products = X2IR_BUILD_DIR "/networks/nets";
  for (const char* name : {"mobilenet_v2", "unet_tiny", "shufflenet_v2_x0_5"}) {
    const fs::path folder = shared / name;
    if (shared.empty() || !fs::exists(folder)) continue;
    networks.push_back({folder / "model.17.onnx", folder / "io.safetensors", 0.99, false, 2});
  }
  const fs::path palm = products / "palm_detection_lite.tflite";
  if (fs::exists(palm)) {
    networks.push_back({palm, products / "palm_detection_lite.io.safetensors", 0.98, true, 20});
  }
  return networks;
}

// 1/255 of the range of an output.
double StepOf(const Tensor& output) {
  double low = 0, high = 0;
  for (int64_t i = 0; i < output.num_elements(); ++i) {
    low = std::min(low, output.AsDouble(i));
    high = std::max(high, output.AsDouble(i));
  }
  return (high - low) / 255;
}

TEST(Int8, RuntimesGiveWhatWeDo) {
  const std::vector<Int8Network> networks = Int8Networks();
  if (networks.empty()) GTEST_SKIP() << "*** no networks: " << kNotShared;
  const auto lite = OrtJudge::Start("litert.mjs");
  std::shared_ptr<const Runtime> ort;
  if (const std::string library = OnnxRuntimeLibrary(); !library.empty()) {
    auto loaded = LoadRuntime("onnxruntime", library);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    ort = *std::move(loaded);
  }
  const TempDir dir;
  std::vector<std::string> asked;
  for (const Int8Network& network : networks) {
    for (const char* target : {"onnx", "tflite"}) {
      for (const bool per_channel : {false, true}) {
        if (network.deep && !per_channel) continue;
        const fs::path path = network.model;
        const std::string name =
            StrCat(path.parent_path().filename().string(), "_", path.stem().string(),
                   per_channel ? "_channels" : "", ".", target);
        SCOPED_TRACE(name);
        auto model = Import(network.model);
        ASSERT_TRUE(model.ok()) << model.status();
        auto cases = ReadCalibration({network.io}, *model->graph);
        ASSERT_TRUE(cases.ok()) << cases.status();
        Int8Options options;
        options.dialect = target;
        options.floats.per_channel = per_channel;
        // ONNX Runtime is right with 8 bits on processors with VNNI alone (docs/runtimes.md).
        options.floats.weight_bits = std::string_view(target) == "onnx" ? 7 : 8;
        options.passes = DefaultPasses();
        const auto result = QuantizeToInt8(*model, *cases, options);
        ASSERT_TRUE(result.ok()) << result.status();
        for (const OutputError& error : result->errors) {
          EXPECT_GE(error.cosine, network.cosine) << error.output;
          std::printf("%-44s %-10s max abs %.3g, cosine %.5f, SNR %.1f dB\n", name.c_str(),
                      error.output.c_str(), error.max_abs, error.cosine, error.snr);
        }
        const std::string file = dir.Path(name);
        const absl::Status written = Export(*std::move(model), file);
        ASSERT_TRUE(written.ok()) << written;
        // What we make of the file that runtimes get.
        auto again = Import(file);
        ASSERT_TRUE(again.ok()) << again.status();
        IoCase io = (*cases)[0];
        io.name.clear();
        const auto ours = RunCase(*again->graph, io);
        ASSERT_TRUE(ours.ok()) << ours.status();
        io.outputs.clear();
        double most = 0;
        for (const Datum& output : *ours) {
          io.outputs.emplace_back(*output.tensor());
          most = std::max(most, StepOf(*output.tensor()));
        }
        if (std::string_view(target) == "tflite") {
          const std::string io_file = file + ".io.safetensors";
          ASSERT_TRUE(WriteIoFile(io_file, {io}, *again->graph).ok());
          if (lite) lite->Ask({file, io_file, 0, network.steps * most});
          asked.push_back(name);
          continue;
        }
        if (!ort) continue;
        const auto there = ModelInRuntime::Open(file, *again->graph, ort);
        ASSERT_TRUE(there.ok()) << there.status();
        const auto theirs = there->Run(io);
        ASSERT_TRUE(theirs.ok()) << theirs.status();
        for (size_t i = 0; i < ours->size(); ++i) {
          const double apart = Compare((*theirs)[i], (*ours)[i]).max_abs;
          EXPECT_LE(apart, network.steps * StepOf(*io.outputs[i]));
          std::printf("%-44s ONNX Runtime is %.3g steps off ours\n", name.c_str(),
                      apart / StepOf(*io.outputs[i]));
        }
      }
    }
  }
  if (!ort || !lite) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
  ExpectAgreement(*lite, asked);
}

}  // namespace
}  // namespace x2ir
