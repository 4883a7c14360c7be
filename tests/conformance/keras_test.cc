// Models of Keras and of TensorFlow.js with outputs of tf.js, or those that Keras stored
// (tests/data/cases/README.md): each is read, converted and evaluated, and exported to ONNX at
// opsets 13 and 18, where ONNX Runtime runs it to the same numbers.
//
//   X2IR_CASES=REGEX    only the cases whose names match
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

constexpr double kRtol = 1e-3, kAtol = 1e-4;

// Cases whose expected outputs are others, and why.
const std::map<std::string, std::string>& Differences() {
  static const auto* const known = new std::map<std::string, std::string>{
      {"dl4j-test-resources__embedding_conv1d_flatten_theano_2.h5",
       "tf.js takes Theano's kernels as they are; Keras turns them round"},
      {"dl4j-test-resources__embedding_conv1d_theano_2.h5",
       "tf.js takes Theano's kernels as they are; Keras turns them round"},
  };
  return *known;
}

// Models that nothing else runs, and why they are no IR: a part of the message.
const std::map<std::string, std::string>& Refused() {
  static const auto* const known = new std::map<std::string, std::string>{
      {"dl4j-test-resources__model_lambda.h5", "keras.Lambda (2 nodes)"},
      {"dl4j-test-resources__sequential_lambda.h5", "keras.Lambda (2 nodes)"},
      {"dl4j-test-resources__space_to_depth_graph_tensorflow_2.h5", "keras.Lambda (1 node)"},
      {"dl4j-test-resources__space_to_depth_simple_tensorflow_1.h5", "keras.Lambda (1 node)"},
      {"dl4j-test-resources__permute.h5", "keras.TensorFlowOpLayer (1 node)"},
      {"dl4j-test-resources__tfop_0.h5", "keras.TensorFlowOpLayer (1 node)"},
  };
  return *known;
}

struct KerasCase {
  std::string name;
  fs::path model;
  std::vector<fs::path> ios;
};

std::vector<KerasCase> KerasCases(const fs::path& root) {
  std::vector<KerasCase> cases;
  const std::string only = Env("X2IR_CASES");
  const auto add = [&](KerasCase c) {
    if (only.empty() || std::regex_search(c.name, std::regex(only))) cases.push_back(std::move(c));
  };
  for (const char* folder : {"keras_h5", "keras3"}) {
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".h5") && !name.ends_with(".keras")) continue;
      KerasCase c = {name, entry.path(), {}};
      for (const char* end : {".io.safetensors", ".stored_io.safetensors"}) {
        const fs::path io = entry.path().string() + end;
        if (fs::exists(io)) c.ios.push_back(io);
      }
      add(std::move(c));
    }
  }
  for (const auto& entry : fs::directory_iterator(root / "tfjs")) {
    const fs::path& path = entry.path();
    add({path.filename().string(), path, {path / "io.safetensors"}});
  }
  std::sort(cases.begin(), cases.end(),
            [](const KerasCase& a, const KerasCase& b) { return a.name < b.name; });
  return cases;
}

absl::Status AgreesWith(const Model& ir, const fs::path& io) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<IoCase> cases, ReadIoFile(io.string(), *ir.graph));
  for (const IoCase& each : cases) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, RunCase(*ir.graph, each, nullptr));
    for (size_t i = 0; i < got.size(); ++i) {
      if (!each.outputs[i] || !got[i].tensor()) return Internal("output ", i, " is missing");
      const Tensor &x = *got[i].tensor(), &y = *each.outputs[i];
      if (x.dtype() != y.dtype() || x.dims() != y.dims()) {
        return Internal("output ", i, ": ", x.type().ToString(), ", expected ",
                        y.type().ToString());
      }
      for (int64_t k = 0; k < x.num_elements(); ++k) {
        const double a = x.AsDouble(k), b = y.AsDouble(k);
        if (!(std::fabs(a - b) <= kAtol + kRtol * std::fabs(b))) {
          return Internal("output ", i, ", element ", k, ": ", a, ", expected ", b);
        }
      }
    }
  }
  return absl::OkStatus();
}

fs::path KerasRoot() {
  const fs::path archive = Unpacked("keras-cases.tar.xz", "keras-cases");
  return archive.empty() ? archive : archive / "keras-cases";
}

TEST(KerasModels, ConvertAndAgree) {
  const fs::path root = KerasRoot();
  ASSERT_FALSE(root.empty());
  const fs::path dir = fs::path(X2IR_BUILD_DIR) / "conformance" / "keras";
  fs::create_directories(dir);
  const std::unique_ptr<OrtJudge> ort = OrtJudge::Start();
  std::vector<std::string> asked;
  int total = 0, evaluated = 0;
  for (const KerasCase& c : KerasCases(root)) {
    SCOPED_TRACE(c.name);
    const bool known = Differences().contains(c.name);
    const absl::StatusOr<Model> model = Import(c.model.string());
    ASSERT_TRUE(model.ok()) << model.status();
    for (const fs::path& io : c.ios) {
      ++total;
      const absl::Status same = AgreesWith(*model, io);
      EXPECT_EQ(same.ok(), !known) << same;
      evaluated += same.ok();
      for (const int opset : {13, 18}) {
        const fs::path out = dir / StrCat(c.name, ".", asked.size(), ".onnx");
        const absl::Status exported =
            Export(model->Clone(), out.string(), {.opset = opset, .check = true});
        EXPECT_TRUE(exported.ok()) << opset << exported;
        if (!exported.ok() || !ort || known) continue;
        asked.push_back(StrCat(c.name, "@", opset));
        ort->Ask({out.string(), io.string(), kRtol, kAtol});
      }
    }
  }
  int ran = 0;
  if (ort) {
    const std::vector<OrtJudge::Answer>& answers = ort->Answers();
    ASSERT_EQ(answers.size(), asked.size());
    for (size_t i = 0; i < answers.size(); ++i) {
      ran += answers[i].agrees;
      EXPECT_TRUE(answers[i].agrees)
          << asked[i] << ": ONNX Runtime (" << answers[i].stage << "): " << answers[i].error;
    }
  }
  std::printf("%d sets of outputs, %d agree; %d of %d files agree in ONNX Runtime\n", total,
              evaluated, ran, static_cast<int>(asked.size()));
}

TEST(KerasModels, OthersAreReadOrRefused) {
  const fs::path root = KerasRoot();
  ASSERT_FALSE(root.empty());
  for (const auto& entry : fs::directory_iterator(root / "keras_h5" / "reader_only")) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    const absl::StatusOr<Model> model = Import(entry.path().string());
    const auto refused = Refused().find(name);
    if (refused == Refused().end()) {
      EXPECT_TRUE(model.ok()) << model.status();
    } else {
      ASSERT_FALSE(model.ok());
      EXPECT_NE(model.status().message().find(refused->second), std::string::npos)
          << model.status();
    }
  }
}

}  // namespace
}  // namespace x2ir
