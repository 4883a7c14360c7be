// Networks of products that packages of npm ship (tests/oracle/networks), to every target: what is
// written gives what the network's own runtime gave, in ONNX Runtime, LiteRT and PyTorch; files of
// other targets are read again, and run as ONNX.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/random/random_torch_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

struct Product {
  std::string name, model, io;
};

std::vector<Product> Products(const fs::path& folder) {
  std::vector<Product> all;
  if (!fs::exists(folder)) return all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path& path = entry.path();
    const std::string name = path.stem().string();
    const std::string io = (folder / (name + ".io.safetensors")).string();
    if (entry.is_directory()) {
      all.push_back({name, (path / "model.json").string(), io});
    } else if (path.extension() == ".onnx" || path.extension() == ".tflite") {
      all.push_back({name, path.string(), io});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Product& a, const Product& b) { return a.name < b.name; });
  return all;
}

absl::Status ConvertFile(const std::string& from, const std::string& to) {
  X2IR_ASSIGN_OR_RETURN(Model ir, Import(from));
  return Export(std::move(ir), to);
}

TEST(Products, ToEveryTarget) {
  const std::vector<Product> products = Products(X2IR_BUILD_DIR "/networks/nets");
  if (products.empty()) GTEST_SKIP() << "*** not fetched: tests/oracle/networks/setup.sh does";
  const auto ort = OrtJudge::Start("ort.mjs"), lite = OrtJudge::Start("litert.mjs");
  if (!ort || !lite) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
  const auto torch = TorchJudge::Start();  // null where there is no PyTorch
  const TempDir dir;
  std::vector<std::string> of_ort, of_lite;
  // Half weights and other orders of sums.
  constexpr double kRelative = 5e-3, kAbsolute = 1e-3;
  for (const Product& product : products) {
    SCOPED_TRACE(product.name);
    const std::string base = dir.Path(product.name);
    const bool known = fs::exists(product.io);
    EXPECT_TRUE(known) << "its own runtime did not run it";
    const auto judged_as_onnx = [&](const std::string& file, const std::string& what) {
      if (!known) return;
      ort->Ask({file, product.io, kRelative, kAbsolute});
      of_ort.push_back(product.name + what);
    };
    absl::Status status = ConvertFile(product.model, base + ".onnx");
    EXPECT_TRUE(status.ok()) << status;
    if (status.ok()) judged_as_onnx(base + ".onnx", " as ONNX");
    status = ConvertFile(product.model, base + ".tflite");
    EXPECT_TRUE(status.ok()) << status;
    if (status.ok() && known) {
      lite->Ask({base + ".tflite", product.io, kRelative, kAbsolute});
      of_lite.push_back(product.name + " as TFLite");
    }
    status = ConvertFile(product.model, base + ".py");
    EXPECT_TRUE(status.ok()) << status;
    if (status.ok() && known && torch) {
      const std::string problem = torch->Ask(base + ".py", product.io);
      EXPECT_EQ(problem, "") << "as PyTorch's code";
    }
    for (const char* target : {".pt2", ".mlpackage", "_ir.json"}) {
      const std::string again = base + "_of" + (target + 1) + ".onnx";
      status = ConvertFile(product.model, base + target);
      EXPECT_TRUE(status.ok()) << target << ": " << status;
      if (!status.ok()) continue;
      status = ConvertFile(base + target, again);
      EXPECT_TRUE(status.ok()) << target << ", read again: " << status;
      if (status.ok()) judged_as_onnx(again, target);
      fs::remove_all(base + target);
    }
  }
  ExpectAgreement(*ort, of_ort);
  ExpectAgreement(*lite, of_lite);
  std::printf("products: %zu networks, %zu files in ONNX Runtime, %zu in LiteRT\n", products.size(),
              of_ort.size(), of_lite.size());
}

// Code that a person would write: how long the file is, and how many classes it has.
TEST(Products, PythonIsShort) {
  const struct {
    const char* model;
    size_t lines, classes;  // at most
  } kRows[] = {
      {"hand_landmark_full.tflite", 300, 5},    {"hand_landmark_lite.tflite", 300, 5},
      {"palm_detection_full.tflite", 350, 5},   {"palm_detection_lite.tflite", 350, 5},
      {"mobilenet_v2_mid/model.json", 250, 10},
  };
  const fs::path nets = X2IR_BUILD_DIR "/networks/nets";
  if (!fs::exists(nets)) GTEST_SKIP() << "*** not fetched: tests/oracle/networks/setup.sh does";
  const TempDir dir;
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.model);
    const std::string path = dir.Path("model.py");
    const absl::Status status = ConvertFile((nets / row.model).string(), path);
    ASSERT_TRUE(status.ok()) << status;
    std::ifstream file(path);
    size_t lines = 0, classes = 0;
    for (std::string line; std::getline(file, line); ++lines) classes += line.starts_with("class ");
    EXPECT_LE(lines, row.lines);
    EXPECT_LE(classes, row.classes);
  }
}

}  // namespace
}  // namespace x2ir
