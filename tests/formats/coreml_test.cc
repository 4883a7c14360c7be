// Core ML's files: models that Apple's tools wrote (tests/data/coreml), with inputs and outputs,
// and bytes that are wrong.
#include "x2ir/formats/coreml/coreml.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/builder/nested.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kData = X2IR_SOURCE_DIR "/tests/data/coreml/";

std::string Verified(const std::string& path, const std::string& io, const Tolerance& tolerance) {
  const absl::StatusOr<Model> model = Import(path);
  if (!model.ok()) return "error: " + std::string(model.status().message());
  const absl::StatusOr<std::vector<IoCase>> cases = ReadIoFile(io, *model->graph);
  if (!cases.ok()) return "error: " + std::string(cases.status().message());
  VerifyOptions options;
  options.tolerance = tolerance;
  const absl::StatusOr<Verification> result = VerifyOutputs(*model, *cases, options);
  if (!result.ok()) return "error: " + std::string(result.status().message());
  return result->agrees() ? "agrees" : result->ToText();
}

TEST(Coreml, NetworksGiveWhatTheyGave) {
  for (const char* name : {"gen_avgpool", "gen_deconv", "gen_fn_matmul", "gen_fn_reduce",
                           "gen_fn_slice", "gen_fn_split", "gen_gru"}) {
    EXPECT_EQ(Verified(kData + name + ".mlmodel", kData + name + ".io.safetensors", {}), "agrees")
        << name;
  }
}

TEST(Coreml, ProgramsGiveWhatTheyGave) {
  for (const char* name : {"gen_mil_cnn", "gen_mil_lstm", "gen_mil_fn_topk"}) {
    EXPECT_EQ(Verified(kData + name + ".mlpackage", kData + name + ".io.safetensors", {}), "agrees")
        << name;
  }
}

using CoremlFiles = TempDirTest;

TEST_F(CoremlFiles, WhatIsWrittenIsReadAgain) {
  for (const char* name : {"gen_deconv.mlmodel", "gen_fn_reduce.mlmodel", "gen_mil_cnn.mlpackage",
                           "gen_mil_lstm.mlpackage", "gen_gru.mlmodel"}) {
    for (const bool half : {false, true}) {
      absl::StatusOr<Model> model = Import(kData + name);
      ASSERT_TRUE(model.ok()) << model.status();
      const std::string path = Path(StrCat(name, half ? "16" : "", ".mlpackage"));
      ExportOptions options;
      if (half) options.format_options = {{"float16", true}};
      const absl::Status written = Export(*std::move(model), path, options);
      ASSERT_TRUE(written.ok()) << name << ": " << written;
      const std::string io = kData + std::string(name).substr(0, std::string(name).find('.'));
      const Tolerance tolerance = half ? Tolerance{2e-2, 2e-2} : Tolerance{};
      EXPECT_EQ(Verified(path, io + ".io.safetensors", tolerance), "agrees") << name << half;
      const std::string weights = path + "/Data/com.apple.CoreML/weights/weight.bin";
      if (fs::exists(weights)) {
        EXPECT_EQ(fs::file_size(weights) % 64, 0u);
      }
    }
  }
}

TEST_F(CoremlFiles, WhatMlProgramsCannotSay) {
  const std::pair<std::vector<int64_t>, const char*> kCases[] = {{{1, 1, 1, 1, 1, 2}, "has 6 axes"},
                                                                 {{2, 0}, "has no elements"}};
  for (const auto& [dims, problem] : kCases) {
    Model model;
    const Type type = Type::Tensor(DType::kFloat32, Shape::FromInts(dims));
    model.graph->AddOutput(model.graph->AddInput("x", type));
    const std::string path = Path("refused.mlpackage");
    const absl::Status written = Export(std::move(model), path);
    EXPECT_THAT(std::string(written.message()), testing::HasSubstr(problem));
    EXPECT_FALSE(fs::exists(path));
  }
}

// Without a condition, what the rounds of a loop say of it is not heard.
TEST_F(CoremlFiles, LoopsOfRoundsOnly) {
  Model model;
  Builder b(*model.graph, nullptr);
  Value* x = model.graph->AddInput("x", Type::Tensor(DType::kFloat32, Shape::FromInts({1})));
  LoopBody body;
  Value* more = body.b().Op(
      "add", {body.Carry(x, "v", x->type()), body.b().Constant(Tensor::Scalar<float>(1))});
  const auto last =
      body.Loop(b, b.Int(3), nullptr, body.b().Constant(Tensor::Scalar<bool>(false)), {more});
  ASSERT_TRUE(last.ok()) << last.status();
  model.graph->AddOutput((*last)[0]);
  for (Node* node : b.made()) model.graph->NameValues(node, "v");
  const std::string path = Path("rounds.mlpackage");
  const absl::Status written = Export(std::move(model), path);
  ASSERT_TRUE(written.ok()) << written;
  const absl::StatusOr<Model> read = Import(path);
  ASSERT_TRUE(read.ok()) << read.status();
  const auto results =
      RunGraph(*read->graph, {Datum(Tensor::Of<float>({1}, std::vector<float>{5}))});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].tensor()->AsDouble(0), 8);
}

// Cut anywhere, a file is read as another or refused: nothing else happens.
TEST_F(CoremlFiles, CutFiles) {
  const std::string whole = ReadFile(kData + "gen_gru.mlmodel");
  for (size_t size = 0; size < whole.size(); size += whole.size() / 97 + 1) {
    const std::string path = Put("cut.mlmodel", std::string_view(whole).substr(0, size));
    const absl::StatusOr<Model> model = Import(path, {.format = "coreml"});
    EXPECT_TRUE(model.ok() || !model.status().message().empty());
  }
}

TEST_F(CoremlFiles, WeightsThatAreNotThere) {
  const std::string model =
      ReadFile(kData + "gen_mil_cnn.mlpackage/Data/com.apple.CoreML/model.mlmodel");
  const absl::StatusOr<Model> without = Import(Put("alone/model.mlmodel", model));
  ASSERT_FALSE(without.ok());
  EXPECT_THAT(std::string(without.status().message()), HasSubstr("weight.bin"));
  Put("short/weights/weight.bin", "short");
  const absl::StatusOr<Model> with = Import(Put("short/model.mlmodel", model));
  ASSERT_FALSE(with.ok());
}

}  // namespace
}  // namespace x2ir
