// Runtimes that are loaded: ONNX Runtime itself, where tests/oracle/setup.sh has installed it, and
// a double of TensorFlow Lite's library (lite_double.cc). What comes back, and what is said where a
// library, a model or an input is refused.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/runtimes/runtime_util.h"
#include "x2ir/core/calibrate.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/compare.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/runtimes/check.h"
#include "x2ir/runtimes/converted.h"
#include "x2ir/runtimes/runtime.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kDouble[] = X2IR_BUILD_DIR "/tests/x2ir_lite_double.so";

class Runtimes : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string library = GetParam() == "litert" ? kDouble : OnnxRuntimeLibrary();
    if (library.empty() || !fs::exists(library)) {
      GTEST_SKIP() << "*** ORACLE NOT RUN: "
                   << (library.empty() ? "tests/oracle/setup.sh installs it"
                                       : "builds with sanitizers have no double");
    }
    auto loaded = LoadRuntime(GetParam(), library);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    runtime_ = *std::move(loaded);
  }
  static Model Ir(std::string_view text) {
    auto model = ModelFromText(text, "", 0);
    EXPECT_TRUE(model.ok()) << model.status();
    return model.ok() ? *std::move(model) : Model();
  }
  // On random inputs.
  std::string Verified(const Model& ir) {
    auto model = ModelInRuntime::Convert(ir, runtime_);
    if (!model.ok()) return StrCat("error: ", std::string(model.status().message()));
    const auto result = VerifyOnRandomInputs(
        ir, [&](absl::Span<const IoCase> cases) { return VerifyInRuntime(ir, *model, cases); });
    if (!result.ok()) return StrCat("error: ", std::string(result.status().message()));
    return result->agrees() ? result->note : result->ToText();
  }
  std::shared_ptr<const Runtime> runtime_;
};
INSTANTIATE_TEST_SUITE_P(, Runtimes, testing::ValuesIn(RuntimeNames()),
                         [](const auto& info) { return info.param; });

constexpr char kNet[] = R"(graph net(x: float32[n,4], i: int64[2]) -> (y, rows, z) {
  w = float32[4,3]{1, 0, 2, 0.5, -1, 3, 2, 2, 2, -1, 0, 1}
  h: float32[n,3] = matmul(x, w) "first"
  y: float32[n,3] = tanh(h)
  z: bool[n,3] = less(h, y)
  rows: int64[2] = add(i, i) })";

TEST_P(Runtimes, RunsWhatWeWrite) {
  const std::string note = Verified(Ir(kNet));
  EXPECT_THAT(note, HasSubstr(StrCat("run by ", GetParam(), " ")));
  // Sizes that are open are tried twice.
  EXPECT_THAT(note, HasSubstr("n = 2"));
  EXPECT_THAT(note, HasSubstr("n = 3"));
}

TEST_P(Runtimes, TypesAndShapes) {
  const bool lite = GetParam() == "litert";
  for (const char* type : {"float32", "int32", "int64", "uint8", "int8", "bool", "float64",
                           "float16", "uint16", "uint64", "string"}) {
    // The double has the types of ordinary networks.
    const std::string_view rare = "float64 float16 uint16 uint64 string";
    if (lite && rare.find(type) != rare.npos) continue;
    for (const char* dims : {"[]", "[3]", "[2,0]", "[1,2,3]"}) {
      const std::string graph =
          StrCat("graph g(x: ", type, dims, ") -> (y) { y: ", type, dims, " = identity(x) }");
      EXPECT_THAT(Verified(Ir(graph)), HasSubstr("run by")) << graph;
    }
  }
}

TEST_P(Runtimes, ExpectedOutputsGoFirst) {
  const Model ir = Ir("graph g(x: float32[2]) -> (y) { y: float32[2] = neg(x) }");
  auto model = ModelInRuntime::Convert(ir, runtime_);
  ASSERT_TRUE(model.ok()) << model.status();
  IoCase io;
  io.inputs = {Tensor::Of<float>({2}, {1, 2})};
  io.outputs = {Tensor::Of<float>({2}, {-1, -2})};
  auto verdict = VerifyInRuntime(ir, *model, {io});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_TRUE(verdict->agrees()) << verdict->ToText();
  io.outputs = {Tensor::Of<float>({2}, {-1, -2.5})};
  verdict = VerifyInRuntime(ir, *model, {io});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_FALSE(verdict->agrees());
  EXPECT_EQ(verdict->outputs[0].comparison.max_abs, 0.5);
  // One number decides here as it does without a runtime, and the verdict says which.
  VerifyOptions by_cosine;
  by_cosine.criterion = Criterion{FindMetric("cosine"), 0.9};
  verdict = VerifyInRuntime(ir, *model, {io}, by_cosine);
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_TRUE(verdict->agrees()) << verdict->ToText();
  EXPECT_NE(verdict->ToText().find("the output agrees, by cosine at least 0.9"), std::string::npos)
      << verdict->ToText();
}

TEST_P(Runtimes, EveryValueIsCompared) {
  const Model ir = Ir(R"(graph g(x: float32[2,3]) -> (y) {
    a: float32[2,3] = abs(x) "one"
    b: float32[2,3] = exp(a) "two"
    y: float32[2,3] = neg(b) "three" })");
  auto io = RandomCase(*ir.graph, 0, nullptr);
  ASSERT_TRUE(io.ok()) << io.status();
  const auto result = CompareInRuntime(ir, runtime_, {*io});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->agrees()) << result->ToText();
  ASSERT_EQ(result->values.size(), 3u) << result->ToText();
  EXPECT_EQ(result->values[1].node, "two");
  EXPECT_FALSE(result->first) << result->ToText();
}

// An int8 file with other inputs and outputs than the model that it was made of.
TEST_P(Runtimes, MeasuresInt8Files) {
  const bool lite = GetParam() == "litert";
  constexpr char kImage[] = R"(graph g(x: float32[1,3,4,4], z: float32[1,3,4,4]) -> (y, other) {
    w = float32[2,3,1,1]{1, -0.5, 2, 0.25, 1, -1}
    s: float32[1,3,4,4] = add(x, z)
    y: float32[1,2,4,4] = conv(s, w) {
      layout = "channels_first", auto_pad = "NOTSET", dilations = [1, 1], group = 1,
      pads = [0, 0, 0, 0], strides = [1, 1] }
    other: float32[1,3,4,4] = relu(s) })";
  const TempDir dir;
  struct Row {
    ExportOptions options;
    const char* about;
  };
  std::vector<Row> rows(3);
  rows[0].about = "as it is";
  rows[1].about = "other orders of axes";
  rows[1].options.inputs_as_nhwc = {"z"};
  rows[1].options.outputs_as_nhwc = {"y"};
  rows[2].about = "integers";
  rows[2].options.inputs_as_nhwc = {"x"};
  if (lite) rows[2].options.format_options = {{"io_type", "uint8"}};
  for (const auto& [options, about] : rows) {
    SCOPED_TRACE(about);
    Model model = Ir(kImage);
    std::vector<IoCase> cases;
    for (const uint64_t seed : {1, 2}) {
      auto io = RandomCase(*model.graph, seed, nullptr);
      ASSERT_TRUE(io.ok()) << io.status();
      cases.push_back(*std::move(io));
    }
    Int8Options int8;
    int8.dialect = runtime_->format();
    int8.floats.weight_bits = 7;
    auto result = QuantizeToInt8(model, cases, int8);
    ASSERT_TRUE(result.ok()) << result.status();
    const Int8InRuntime measured(*model.graph, {}, cases, result->floats);
    const std::string path = dir.Path(StrCat("a.", std::string(runtime_->format())));
    Report report;
    const absl::Status written = Export(std::move(model), path, options, &report);
    ASSERT_TRUE(written.ok()) << written;
    const auto errors = measured.Measure(path, report.interface, runtime_);
    ASSERT_TRUE(errors.ok()) << errors.status();
    ASSERT_EQ(errors->size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const OutputError &ours = result->errors[i], &theirs = (*errors)[i];
      EXPECT_EQ(theirs.output, i == 0 ? "y" : "other");
      EXPECT_GT(ours.max_abs, 0);
      EXPECT_LT(theirs.max_abs, 2 * ours.max_abs);
      EXPECT_GT(theirs.cosine, 0.999);
      EXPECT_THAT(theirs.Note("it"), HasSubstr(" beside float32, by it: max abs "));
    }
    EXPECT_FALSE(measured.Measure(dir.Path("nowhere"), report.interface, runtime_).ok());
  }
}

TEST_P(Runtimes, FilesOfOtherModels) {
  const Model ir = Ir("graph g(x: float32[2]) -> (y) { y: float32[2] = neg(x) }");
  const TempDir dir;
  const std::string extension = GetParam() == "litert" ? ".tflite" : ".onnx";
  const auto open = [&](const std::string& name, const std::string& text) {
    const std::string path = dir.Path(StrCat(name, extension));
    const absl::Status written = Export(Ir(text), path);
    EXPECT_TRUE(written.ok()) << written;
    return ModelInRuntime::Open(path, *ir.graph, runtime_);
  };
  auto model = open("abs", "graph g(a: float32[2]) -> (b) { b: float32[2] = abs(a) }");
  ASSERT_TRUE(model.ok()) << model.status();
  IoCase io;
  io.inputs = {Tensor::Of<float>({2}, {1, -2})};
  const auto verdict = VerifyInRuntime(ir, *model, {io});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_THAT(verdict->outputs[0].comparison.problem, HasSubstr("1 of 2 elements differ"));

  model = open("two", "graph g(a: float32[2], b: float32[2]) -> (c) { c: float32[2] = add(a, b) }");
  EXPECT_THAT(model.status().message(), HasSubstr("the model has 1 input"));
  model = open("types", "graph g(a: int32[2]) -> (b) { b: int32[2] = abs(a) }");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(model->Run(io).status().message(), HasSubstr("takes int32, got float32"));
  model = open("rank", "graph g(a: float32[1,2]) -> (b) { b: float32[1,2] = abs(a) }");
  ASSERT_TRUE(model.ok()) << model.status();
  const auto refused = model->Run(io);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition) << refused.status();
  EXPECT_THAT(refused.status().message(), HasSubstr("rank"));  // the runtime's own words

  const auto bad = ModelInRuntime::Open(dir.Put("bad", "no model at all"), *ir.graph, runtime_);
  EXPECT_EQ(bad.status().code(), absl::StatusCode::kFailedPrecondition) << bad.status();
}

// What only one of them has.
TEST_P(Runtimes, SequencesMapsAndDefaults) {
  if (GetParam() != "onnxruntime") return;
  for (const char* graph : {R"(graph s(x: float32[2,3]) -> (y) {
          y = sequence_construct(x, x) })",
                            R"(graph d(x: float32[3], w: float32[3] = float32[3]{1, 2, 3}) -> (y) {
          y: float32[3] = add(x, w) })"}) {
    EXPECT_THAT(Verified(Ir(graph)), HasSubstr("run by")) << graph;
  }
  auto maps = ModelFromText(R"(graph m(x: float32[2,3]) -> (y) {
      y = onnx.ai.onnx.ml::ZipMap(x) { classlabels_strings = ["a", "c", "b"] } })",
                            "onnx", 17, {{"ai.onnx.ml", 3}});
  ASSERT_TRUE(maps.ok()) << maps.status();
  const absl::Status to_ir = ToIr(*maps);
  ASSERT_TRUE(to_ir.ok()) << to_ir;
  EXPECT_THAT(Verified(*maps), HasSubstr("run by"));
}

TEST_P(Runtimes, ItsOwnMessageIsPassedOn) {
  if (GetParam() == "litert") {
    EXPECT_THAT(Verified(Ir(R"(graph c(x: float32[2]) -> (y) {
        a = int64[]{0}
        y: float32[2] = cum_sum(x, a) { exclusive = 0, reverse = 0 } })")),
                HasSubstr("no kernel of cum_sum in a double"));
    return;
  }
  // Known to us, and to nobody else.
  auto model = ModelFromText("graph f(x: float32[2]) -> (y) { y = onnx.com.acme::F(x) }", "onnx",
                             17, {{"com.acme", 1}});
  ASSERT_TRUE(model.ok()) << model.status();
  ImportOptions foreign;
  foreign.foreign.all = true;
  const absl::Status to_ir = ToIr(*model, foreign);
  ASSERT_TRUE(to_ir.ok()) << to_ir;
  EXPECT_THAT(Verified(*model), HasSubstr("com.acme"));
}

// The first value that differs is told, whoever computed it.
TEST(CompareValues, NamesTheNode) {
  auto ir = ModelFromText(R"(graph g(x: float32[3]) -> (y) {
    a: float32[3] = abs(x) "one"
    b: float32[3] = exp(a) "two"
    y: float32[3] = neg(b) "three" })",
                          "", 0);
  ASSERT_TRUE(ir.ok()) << ir.status();
  auto io = RandomCase(*ir->graph, 0, nullptr);
  ASSERT_TRUE(io.ok()) << io.status();
  const auto theirs =
      [&](const IoCase& one) -> absl::StatusOr<absl::flat_hash_map<const Value*, Datum>> {
    absl::flat_hash_map<const Value*, Datum> values;
    RunOptions run;
    run.on_value = [&](const Value& value, const Datum& datum) {
      Tensor changed = *datum.tensor();
      if (value.name() != "a") changed.mutable_span<float>()[1] *= 1.5F;
      values[&value] = changed;
    };
    X2IR_RETURN_IF_ERROR(RunCaseWith(*ir->graph, one, run).status());
    return values;
  };
  const auto result = CompareValues(*ir, theirs, {*io});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->first);
  EXPECT_EQ(result->values[result->first->value].node, "two");
  EXPECT_FALSE(result->agrees());
  // The node alone, with what it should give.
  const auto part = CutDifference(*ir, *ir, *result->first, {*io});
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ(part->model.graph->num_nodes(), 1u);
  EXPECT_EQ(part->model.graph->first()->op(), "exp");
}

TEST(LoadRuntime, WhatIsNoLibrary) {
  const TempDir dir;
  const std::string text = dir.Put("no_library.so", "#!/bin/sh\n");
  const struct {
    const char *name, *library, *message;
  } rows[] = {
      {"nope", "",
       "option 'with': there is no runtime 'nope'; expected one of: onnxruntime, litert"},
      {"onnxruntime", "/nowhere/lib.so", "option 'runtime_library': there is no file"},
      {"onnxruntime", "/usr", "option 'runtime_library': '/usr' is not a file"},
      {"onnxruntime", text.c_str(), "option 'runtime_library': cannot load ONNX Runtime: "},
      {"onnxruntime", "/lib/x86_64-linux-gnu/libm.so.6",
       "is not ONNX Runtime: it has no function OrtGetApiBase"},
      {"litert", "/lib/x86_64-linux-gnu/libm.so.6",
       "is not TensorFlow Lite: it has no function TfLiteVersion"},
  };
  for (const auto& row : rows) {
    if (std::string_view(row.library).ends_with("libm.so.6") && !fs::exists(row.library)) continue;
    const auto loaded = LoadRuntime(row.name, row.library);
    EXPECT_THAT(loaded.status().message(), HasSubstr(row.message)) << row.name << row.library;
    EXPECT_TRUE(OptionOf(loaded.status())) << loaded.status();
  }
  fs::remove(text);
}

TEST(LoadRuntime, WhatIsNotInstalled) {
  for (const std::string& name : RuntimeNames()) {
    const auto loaded = LoadRuntime(name);
    if (loaded.ok()) continue;  // the machine has it
    EXPECT_EQ(loaded.status().code(), absl::StatusCode::kUnavailable) << loaded.status();
    EXPECT_THAT(loaded.status().message(), HasSubstr("install ")) << name;
    EXPECT_THAT(loaded.status().message(), HasSubstr(OptionText("runtime_library"))) << name;
  }
}

}  // namespace
}  // namespace x2ir
