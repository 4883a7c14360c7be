// int8 by calibration: which ops become units and which do not, the integers themselves beside the
// formulas, and how far off the whole is.
#include "x2ir/core/calibrate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/formats/npy/npy.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/verify.h"

namespace x2ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Model CalibratedIr(std::string_view text) {
  auto model = ModelFromText(text, "", 0);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : Model();
}

IoCase CaseOfOne(Tensor input) {
  IoCase io;
  io.inputs = {std::move(input)};
  io.outputs.resize(1);
  return io;
}

const Node* NodeOf(const Graph& graph, std::string_view op) {
  for (const Node* node : graph.nodes()) {
    if (node->op().view() == op) return node;
  }
  return nullptr;
}

// Scale and zero point of the dequantize_linear in front of an operand.
std::pair<double, int64_t> StepsBefore(const Node& node, size_t i) {
  const Node* scaled = node.input(i)->producer();
  if (!scaled || !scaled->Is("dequantize_linear")) return {0, 0};
  return {scaled->input(1)->fixed_constant()->AsDouble(0),
          scaled->input(2)->fixed_constant()->AsInt(0)};
}

constexpr char kProduct[] = R"(graph g(x: float32[2,2]) -> (y) {
  w = float32[2,2]{1, -0.5, 2, 0.25}
  b = float32[2]{0.5, -1}
  p: float32[2,2] = gemm(x, w, b) { alpha = 1.0, beta = 1.0, transA = 0, transB = 0 }
  y: float32[2,2] = relu(p) })";

TEST(Calibrate, IntegersAreThoseOfTheFormulas) {
  for (const bool per_channel : {false, true}) {
    SCOPED_TRACE(per_channel);
    Model model = CalibratedIr(kProduct);
    Int8Options options;
    options.floats.per_channel = per_channel;
    const IoCase io = CaseOfOne(Tensor::Of<float>({2, 2}, {-1, 0.5F, 1.55F, 0}));
    const auto result = QuantizeToInt8(model, {io}, options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->what.ops.at("gemm"), 1);
    EXPECT_EQ(result->what.ops.at("relu"), 1);
    EXPECT_EQ(result->what.weights, 1);
    const Node* gemm = NodeOf(*model.graph, "gemm");
    ASSERT_NE(gemm, nullptr);
    // -1 .. 1.55 in 255 steps.
    const auto [scale, zero] = StepsBefore(*gemm, 0);
    EXPECT_FLOAT_EQ(static_cast<float>(scale), 0.01F);
    EXPECT_EQ(zero, -28);
    // Weights reach 127 in each channel, or in all; channels are columns here.
    const Tensor weights = *gemm->input(1)->producer()->input(0)->fixed_constant();
    EXPECT_EQ(weights.dtype(), DType::kInt8);
    const auto q = weights.span<int8_t>();
    if (per_channel) {
      EXPECT_THAT(q, ElementsAre(64, -127, 127, 64));
    } else {
      EXPECT_THAT(q, ElementsAre(64, -32, 127, 16));
    }
    // The bias in steps of the product.
    const Tensor bias = *gemm->input(2)->producer()->input(0)->fixed_constant();
    ASSERT_EQ(bias.dtype(), DType::kInt32);
    EXPECT_EQ(bias.AsInt(0), std::lround(0.5 / (0.01 * 2 / 127)));
    EXPECT_EQ(bias.AsInt(1), std::lround(-1 / (0.01 * (per_channel ? 0.5 : 2) / 127)));
    // Nothing is rounded between the product and the activation.
    EXPECT_EQ(NodeOf(*model.graph, "relu")->input(0), gemm->output(0));
    EXPECT_EQ(model.graph->outputs()[0]->name(), "y");
    // Off by less than half a step of the result and what the operands' steps come to.
    ASSERT_EQ(result->errors.size(), 1u);
    EXPECT_EQ(result->errors[0].output, "y");
    EXPECT_GT(result->errors[0].max_abs, 0);
    EXPECT_LT(result->errors[0].max_abs, 0.03);
    EXPECT_GT(result->errors[0].cosine, 0.999);
    EXPECT_GT(result->errors[0].snr, 30);
  }
}

TEST(Calibrate, OneScaleForWhatShares) {
  Model model = CalibratedIr(R"(graph g(x: float32[1,2,4,4]) -> (y) {
    a: float32[1,2,4,4] = leaky_relu(x) { alpha = 0.5 }
    s: float32[1,2,4,4] = sigmoid(a)
    c: float32[1,4,4,4] = concat(a, s) { axis = 1 }
    y: float32[1,4,2,2] = max_pool(c) {
        layout = "channels_first", auto_pad = "NOTSET", ceil_mode = 0, storage_order = 0,
        kernel_shape = [2, 2], strides = [2, 2] } })");
  const auto io = RandomCase(*model.graph, 3, nullptr);
  ASSERT_TRUE(io.ok()) << io.status();
  const auto result = QuantizeToInt8(model, {*io});
  ASSERT_TRUE(result.ok()) << result.status();
  const Node* concat = NodeOf(*model.graph, "concat");
  ASSERT_NE(concat, nullptr);
  const auto steps = StepsBefore(*concat, 0);
  EXPECT_GT(steps.first, 0);
  EXPECT_EQ(StepsBefore(*concat, 1), steps);
  EXPECT_EQ(StepsBefore(*NodeOf(*model.graph, "max_pool"), 0), steps);
}

TEST(Calibrate, FixedScales) {
  const struct {
    const char* op;
    double scale;
    int64_t zero_point;
  } rows[] = {{"sigmoid(x)", 1.0 / 256, -128},
              {"tanh(x)", 1.0 / 128, 0},
              {"softmax(x) { axis = -1 }", 1.0 / 256, -128}};
  for (const auto& row : rows) {
    Model model =
        CalibratedIr(StrCat("graph g(x: float32[2,8]) -> (y) {\n a: float32[2,8] = ", row.op,
                            "\n y: float32[2,8] = leaky_relu(a) { alpha = 0.5 } }"));
    const auto io = RandomCase(*model.graph, 0, nullptr);
    const auto result = QuantizeToInt8(model, {*io});
    ASSERT_TRUE(result.ok()) << row.op << result.status();
    const auto steps = StepsBefore(*NodeOf(*model.graph, "leaky_relu"), 0);
    EXPECT_EQ(steps.first, row.scale) << row.op;
    EXPECT_EQ(steps.second, row.zero_point) << row.op;
  }
}

TEST(Calibrate, OpsThatStayInFloats) {
  Model model = CalibratedIr(R"(graph g(x: float32[1,4]) -> (y, i) {
    e: float32[1,4] = exp(x)
    w = float32[4,4]{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
    p: float32[1,4] = matmul(e, w)
    l: float32[1,4] = log(x)
    m: float32[1,4] = mul(p, l)
    y: float32[1,4] = sin(m)
    i: int64[1,1] = arg_max(x) { axis = 1, keepdims = 1, select_last_index = 0 } })");
  // The logarithm of a negative number is none.
  const IoCase io = CaseOfOne(Tensor::Of<float>({1, 4}, {-1, 1, 2, 3}));
  const auto result = QuantizeToInt8(model, {io});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->what.ops.size(), 1u);
  EXPECT_EQ(result->what.ops.at("matmul"), 1);
  const std::pair<std::string, std::string> exp("exp", "no kernel for int8"),
      mul("mul", "a number that it reads or gives is unknown or not finite");
  EXPECT_EQ(result->what.left.at(exp), 1);
  EXPECT_EQ(result->what.left.at(mul), 1);
  std::string notes;
  for (const std::string& note : result->Notes()) StrAppend(&notes, note, "\n");
  EXPECT_THAT(notes, HasSubstr("int8: 1 op (matmul), 1 weight, scales of 1 case\n"));
  EXPECT_THAT(notes, HasSubstr("stay float32: exp, log, sin: no kernel for int8\n"));

  Model nothing = CalibratedIr("graph g(x: float32[2]) -> (y) { y: float32[2] = exp(x) }");
  const auto none = QuantizeToInt8(nothing, {CaseOfOne(Tensor::Of<float>({2}, {1, 2}))});
  EXPECT_THAT(none.status().message(), HasSubstr("no op of the model can become an int8 op"));
}

// Weights, and what stands in their place, in fewer bits.
TEST(Calibrate, SevenBits) {
  for (const int bits : {8, 7}) {
    Model model = CalibratedIr(R"(graph g(x: float32[2,2], z: float32[2,2]) -> (y) {
      w = float32[2,2]{1, -1, 0.5, 0.25}
      p: float32[2,2] = matmul(x, w)
      y: float32[2,2] = matmul(p, z) })");
    Int8Options options;
    options.floats.weight_bits = bits;
    IoCase io = CaseOfOne(Tensor::Of<float>({2, 2}, {1, 2, 3, 4}));
    io.inputs.push_back(Tensor::Of<float>({2, 2}, {-1, 0, 1, 1.54F}));
    const auto result = QuantizeToInt8(model, {io}, options);
    ASSERT_TRUE(result.ok()) << result.status();
    const Node* first = NodeOf(*model.graph, "matmul");
    const Tensor weights = *first->input(1)->producer()->input(0)->fixed_constant();
    EXPECT_EQ(weights.AsInt(0), bits == 8 ? 127 : 63);
    EXPECT_FLOAT_EQ(static_cast<float>(StepsBefore(*first, 0).first), 4.0F / 255);
    const Node* second = first->next();
    while (second && !second->Is("matmul")) second = second->next();
    ASSERT_NE(second, nullptr);
    const auto [scale, zero] = StepsBefore(*second, 1);
    EXPECT_FLOAT_EQ(static_cast<float>(scale), bits == 8 ? 2.54F / 255 : 0.02F);
    EXPECT_EQ(zero, bits == 8 ? -28 : -14);
  }
}

// -1e9 in front of a softmax would leave one step for all other numbers.
TEST(Calibrate, MasksStayInFloats) {
  Model model = CalibratedIr(R"(graph g(x: float32[2,2]) -> (y) {
    m = float32[2,2]{0, -1e9, 0, 0}
    s: float32[2,2] = add(x, m)
    p: float32[2,2] = softmax(s) { axis = -1 }
    y: float32[2,2] = matmul(p, x) })");
  const auto result = QuantizeToInt8(model, {CaseOfOne(Tensor::Of<float>({2, 2}, {1, 2, 3, 4}))});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->what.ops.size(), 1u);
  EXPECT_EQ(result->what.ops.at("matmul"), 1);
  EXPECT_GT(result->errors[0].cosine, 0.999);
  const std::string reason = "a number of 10,000 or more, as masks have, is among the others";
  EXPECT_EQ(result->what.left.at({"add", reason}), 1);
  EXPECT_EQ(result->what.left.at({"softmax", reason}), 1);
}

// Of 20,000 numbers one is far off: the other methods leave it out.
TEST(Calibrate, Methods) {
  constexpr int64_t kCount = 20000;
  Tensor x = Tensor::Zeros(DType::kFloat32, {1, kCount});
  const auto numbers = x.mutable_span<float>();
  for (int64_t i = 0; i < kCount; ++i) {
    numbers[static_cast<size_t>(i)] = std::sin(static_cast<float>(i));
  }
  numbers[77] = 2;
  double scales[3] = {};
  for (const std::string& name : RangeMethodNames()) {
    Model model = CalibratedIr(StrCat("graph g(x: float32[1,", kCount, "]) -> (y) { y: float32[1,",
                                      kCount, "] = leaky_relu(x) { alpha = 0.5 } }"));
    Int8Options options;
    options.method = *RangeMethodOf(name);
    const auto result = QuantizeToInt8(model, {CaseOfOne(x)}, options);
    ASSERT_TRUE(result.ok()) << result.status();
    scales[static_cast<int>(options.method)] =
        StepsBefore(*NodeOf(*model.graph, "leaky_relu"), 0).first;
  }
  EXPECT_NEAR(scales[0], 3.0 / 255, 1e-5);
  EXPECT_NEAR(scales[1], 2.0 / 255, 3e-5);
  EXPECT_LT(scales[2], 0.999 * scales[0]);
  EXPECT_GT(scales[2], scales[1]);
  EXPECT_FALSE(RangeMethodOf("entropy"));
}

TEST(Calibrate, FilesOfInputs) {
  const Model model = CalibratedIr(kProduct);
  const TempDir dir;
  const auto read = [&](const std::string& name) {
    return ReadCalibration({dir.Path(name)}, *model.graph);
  };
  EXPECT_THAT(read("").status().message(), HasSubstr("has no .npy and no .safetensors file"));
  ASSERT_TRUE(WriteNpy(dir.Path("b.npy"), Tensor::Of<float>({2, 2}, {1, 2, 3, 4})).ok());
  std::vector<IoCase> two(2, CaseOfOne(Tensor::Of<float>({2, 2}, {5, 6, 7, 8})));
  two[0].name = "case0";
  two[1].name = "case1";
  ASSERT_TRUE(WriteIoFile(dir.Path("a.safetensors"), two, *model.graph).ok());
  const auto cases = read("");
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 3u);
  EXPECT_EQ((*cases)[0].inputs[0]->AsDouble(0), 5);
  EXPECT_EQ((*cases)[2].inputs[0]->AsDouble(0), 1);
  EXPECT_EQ(read("b.npy")->size(), 1u);
  // Several are read in the order that they are given in, a folder where it stands.
  const std::vector<std::string> several = {dir.Path("b.npy"), dir.path().string()};
  const auto all = ReadCalibration(several, *model.graph);
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 4u);
  EXPECT_EQ((*all)[0].inputs[0]->AsDouble(0), 1);
  EXPECT_EQ((*all)[1].inputs[0]->AsDouble(0), 5);
  EXPECT_EQ((*all)[1].name, "a.safetensors case0");
  ASSERT_TRUE(WriteNpy(dir.Path("c.npy"), Tensor::Of<float>({3}, {1, 2, 3})).ok());
  const auto wrong = read("");
  EXPECT_TRUE(OptionOf(wrong.status())) << wrong.status();
  EXPECT_THAT(wrong.status().message(), HasSubstr("c.npy"));
  const Model pair =
      CalibratedIr("graph p(a: float32[2], b: float32[2]) -> (y) { y: float32[2] = add(a, b) }");
  const auto one = ReadCalibration({dir.Path("b.npy")}, *pair.graph);
  EXPECT_THAT(one.status().message(), HasSubstr("the model has 2 inputs"));
  for (const char* nothing : {"nowhere.safetensors", "nowhere.npy"}) {
    EXPECT_TRUE(OptionOf(read(nothing).status())) << read(nothing).status();
  }
}

// What the programs, x2ir.h and Python ask for by names goes the same way.
TEST(Calibrate, AsAnOptionOfAnExport) {
  const TempDir dir;
  const std::string inputs = dir.Path("x.npy");
  ASSERT_TRUE(WriteNpy(inputs, Tensor::Of<float>({2, 2}, {-1, 0.5F, 1.55F, 0})).ok());
  const auto bits_of = [&](const std::string& name, const Int8Request& request) {
    Report report;
    ExportOptions options;
    options.int8 = request;
    const std::string path = dir.Path(name);
    const absl::Status status = Export(CalibratedIr(kProduct), path, options, &report);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_THAT(report.notes, testing::Contains(HasSubstr("int8: 2 ops (gemm, relu)")));
    EXPECT_THAT(report.notes, testing::Contains(HasSubstr("y beside float32: max abs ")));
    const auto again = Import(path);
    EXPECT_TRUE(again.ok()) << again.status();
    const Node* gemm = again.ok() ? NodeOf(*again->graph, "gemm") : nullptr;
    const Node* scaled = gemm ? gemm->input(1)->producer() : nullptr;
    if (!scaled || !scaled->Is("dequantize_linear")) return 0;
    const Tensor weights = *scaled->input(0)->fixed_constant();
    const auto q = weights.span<int8_t>();
    return *std::max_element(q.begin(), q.end()) == 127 ? 8 : 7;
  };
  EXPECT_EQ(bits_of("seven.onnx", {{inputs}}), 7);
  EXPECT_EQ(bits_of("eight.onnx", {.calibrate = {inputs}, .weight_bits = 8}), 8);
  EXPECT_EQ(bits_of("eight.json", {{inputs}}), 8);

  Model model = CalibratedIr(kProduct);
  ExportOptions options;
  options.int8.emplace();
  const auto error = [&] { return FromIr(model, "onnx", options); };
  EXPECT_EQ(OptionOf(error()), "int8");
  EXPECT_THAT(error().message(), HasSubstr("needs option 'calibrate'"));
  options.int8->calibrate = {inputs};
  options.int8->method = "entropy";
  EXPECT_EQ(OptionOf(error()), "method");
  options.int8->method = "mse";
  options.int8->weight_bits = 9;
  EXPECT_EQ(OptionOf(error()), "weight_bits");
  // What failed left the model as it was.
  EXPECT_EQ(NodeOf(*model.graph, "quantize_linear"), nullptr);
  options.int8->weight_bits.reset();
  EXPECT_TRUE(error().ok()) << error();
}

}  // namespace
}  // namespace x2ir
