// TFLite's files, made with FlatBuffers' own builder.
#include "x2ir/formats/tflite/tflite.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/tflite_file_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using namespace tflite_files;

std::string Loaded(const std::string& bytes, const TfliteOptions& options = {}) {
  const absl::StatusOr<Model> model = ReadTflite(Source::Bytes(bytes), options);
  if (!model.ok()) return std::string(model.status().message());
  if (const auto problems = model->graph->Validate(); !problems.empty()) return problems[0];
  return ToText(*model->graph);
}

File AbsOf(File::Tensor x, File::Tensor y = {"y"}) {
  File file;
  file.tensors = {std::move(x), std::move(y)};
  return file;
}

TEST(TfliteFile, NodesAndValues) {
  EXPECT_EQ(
      Loaded(AbsOf({"x", fb::TensorType::FLOAT32, {2, 3}}).Make()),
      "graph(x: float32[2,3]) -> (y: float32[...]) {\n  y: float32[...] = tflite.ABS(x)\n}\n");
  // Sizes that vary are symbols; names may be missing or come twice.
  EXPECT_EQ(Loaded(AbsOf({"", fb::TensorType::INT8, {1, 3}, "", {-1, 3}}, {""}).Make()),
            "graph(tensor_0: int8[tensor_0_0,3]) -> (tensor_1: float32[...]) {\n"
            "  tensor_1: float32[...] = tflite.ABS(tensor_0)\n}\n");
}

// Sizes that vary are written as the file stated them, and what follows from them.
TEST(TfliteFile, StatedSizes) {
  const File file = AbsOf({"x", fb::TensorType::FLOAT32, {5, 3}, "", {-1, 3}},
                          {"y", fb::TensorType::FLOAT32, {5, 3}, "", {-1, 3}});
  absl::StatusOr<Model> model = Import(Source::Bytes(file.Make()));
  ASSERT_TRUE(model.ok()) << model.status();
  std::string bytes;
  const absl::Status written = Export(*std::move(model), Sink::To(&bytes), {.format = "tflite"});
  ASSERT_TRUE(written.ok()) << written;
  for (const fb::Tensor* tensor : *fb::GetModel(bytes.data())->subgraphs()->Get(0)->tensors()) {
    EXPECT_EQ(tensor->shape()->Get(0), 5);
    EXPECT_EQ(tensor->shape_signature()->Get(0), -1);
  }
}

TEST(TfliteFile, OptionsAreAttributes) {
  File file = AbsOf({"x"});
  file.op = fb::BuiltinOperator::CONCATENATION;
  file.options = [](FlatBuilder& b) {
    return std::pair(
        fb::BuiltinOptions::ConcatenationOptions,
        fb::CreateConcatenationOptions(b, -1, fb::ActivationFunctionType::RELU6).Union());
  };
  EXPECT_THAT(Loaded(file.Make()),
              HasSubstr("tflite.CONCATENATION(x) { axis = -1, fused_activation_function = "
                        "\"RELU6\" }"));
}

TEST(TfliteFile, CustomOptions) {
  File file = AbsOf({"x"}, {"y", fb::TensorType::FLOAT32, {4}});
  file.op = fb::BuiltinOperator::CUSTOM;
  file.custom = "Mine";
  file.custom_options = {1, 2, 3};
  EXPECT_THAT(Loaded(file.Make()), HasSubstr("y: float32[4] = tflite.custom::Mine(x) { "
                                             "custom_options = "));
  // {"k": 3} of FlexBuffers.
  file.custom_options = {'k', 0, 1, 3, 1, 1, 1, 3, 4, 2, 36, 1};
  EXPECT_THAT(Loaded(file.Make()), HasSubstr("tflite.custom::Mine(x) {"));
}

// Constants: in the FlatBuffer, behind it, in a file beside it.
TEST(TfliteFile, Buffers) {
  File file = AbsOf({"x"}, {"y"});
  file.tensors.push_back({"w", fb::TensorType::FLOAT32, {2}, BytesOf<float>({1, 2})});
  file.op_inputs = {2};
  EXPECT_THAT(Loaded(file.Make()), HasSubstr("w = float32[2]{1, 2}"));
  file.behind = true;
  EXPECT_THAT(Loaded(file.Make()), HasSubstr("w = float32[2]{1, 2}"));
  std::string cut = file.Make();
  cut.resize(cut.size() - 1);
  EXPECT_THAT(Loaded(cut), HasSubstr("lie outside of the file"));
  file.behind = false;
  file.tensors[2].shape = {3};
  EXPECT_THAT(Loaded(file.Make()), HasSubstr("tensor 'w': it has 8 bytes"));
  file.tensors[2].bytes.clear();
  EXPECT_THAT(Loaded(file.Make()), HasSubstr("no operator produces tensor 'w'"));
  file.tensors[2].shape = {0, 3};
  EXPECT_THAT(Loaded(file.Make()), HasSubstr("w = float32[0,3]{}"));
  file.tensors[2].shape = {2};
  file.tensors[2].variable = true;
  EXPECT_THAT(Loaded(file.Make()), HasSubstr("w = float32[2]{0, 0}"));
}

TEST(TfliteFile, ExternalBuffers) {
  namespace fs = std::filesystem;
  const TempDir dir;
  File file = AbsOf({"x"});
  file.tensors.push_back({"w", fb::TensorType::FLOAT32, {2}, "", {}, {}, {}, false, 7});
  file.op_inputs = {2};
  const auto read = [&](const std::string& name) {
    file.external_name = name;
    const auto model = ReadTflite(dir.Put("model/m.tflite", file.Make()));
    return model.ok() ? ToText(*model->graph) : std::string(model.status().message());
  };
  dir.Put("model/w.bin", BytesOf<float>({9, 1, 2}));
  dir.Put("w.bin", BytesOf<float>({9, 1, 2}));
  EXPECT_THAT(read("w.bin"), HasSubstr("w = float32[2]{1, 2}"));
  EXPECT_THAT(read("../w.bin"), HasSubstr("outside of the model's folder"));
  EXPECT_THAT(read(dir.Path("w.bin")), HasSubstr("outside of the model's folder"));
  fs::create_symlink(dir.Path("w.bin"), dir.Path("model/link.bin"));
  EXPECT_THAT(read("link.bin"), HasSubstr("outside of the model's folder"));
  dir.Put("model/short.bin", BytesOf<float>({9, 1}));
  EXPECT_THAT(read("short.bin"), HasSubstr("lies outside of 'short.bin'"));
}

TEST(TfliteFile, Strings) {
  File file = AbsOf({"x"});
  std::string bytes = BytesOf<int32_t>({2, 16, 18, 21}) + "abcde";
  file.tensors.push_back({"w", fb::TensorType::STRING, {2}, bytes});
  file.op_inputs = {2};
  EXPECT_THAT(Loaded(file.Make()), HasSubstr("{\"ab\", \"cde\"}"));
  for (const std::vector<int32_t>& bad : {std::vector<int32_t>{2, 16, 18, 22},
                                          {2, 18, 16, 21},
                                          {1 << 30, 16, 18, 21},
                                          {-1, 16, 18, 21}}) {
    file.tensors[2].bytes = BytesOf(bad) + "abcde";
    EXPECT_THAT(Loaded(file.Make()), HasSubstr("its string data is damaged"));
  }
}

// Rows of which two of three positions are there.
TEST(TfliteFile, SparseTensors) {
  const auto sparsity = [](std::vector<int32_t> segments, std::vector<int32_t> indices) {
    return [=](FlatBuilder& b) {
      const auto dense = fb::CreateDimensionMetadata(b, fb::DimensionType::DENSE, 2);
      const auto s = fb::CreateInt32Vector(b, b.CreateVector(segments));
      const auto i = fb::CreateInt32Vector(b, b.CreateVector(indices));
      const auto sparse = fb::CreateDimensionMetadata(
          b, fb::DimensionType::SPARSE_CSR, 0, fb::SparseIndexVector::Int32Vector, s.Union(),
          fb::SparseIndexVector::Int32Vector, i.Union());
      const std::vector<Offset<fb::DimensionMetadata>> both = {dense, sparse};
      const std::vector<int32_t> order = {0, 1};
      return fb::CreateSparsityParameters(b, b.CreateVector(order), 0, b.CreateVector(both));
    };
  };
  File file = AbsOf({"x"});
  file.tensors.push_back({"w", fb::TensorType::FLOAT32, {2, 3}, BytesOf<float>({1, 2, 3})});
  file.op_inputs = {2};
  const auto read = [&](std::vector<int32_t> segments, std::vector<int32_t> indices) {
    file.tensors[2].sparsity = sparsity(std::move(segments), std::move(indices));
    return Loaded(file.Make());
  };
  EXPECT_THAT(read({0, 1, 3}, {2, 0, 1}), HasSubstr("w = float32[2,3]{0, 0, 1, 2, 3, 0}"));
  EXPECT_THAT(read({0, 1, 4}, {2, 0, 1}), HasSubstr("a segment of its sparsity"));
  EXPECT_THAT(read({0, 1}, {2, 0, 1}), HasSubstr("too few segments"));
  EXPECT_THAT(read({0, 1, 3}, {2, 0, 3}), HasSubstr("is outside of its shape"));
  EXPECT_THAT(read({0, 2, 4}, {2, 0, 1, 2}), HasSubstr("fewer numbers than it says"));
}

TEST(TfliteFile, Quantization) {
  const auto of = [](std::vector<float> scales, std::vector<int64_t> zeros, int axis) {
    return [=](FlatBuilder& b) {
      return fb::CreateQuantizationParameters(b, 0, 0, b.CreateVector(scales),
                                              b.CreateVector(zeros), fb::QuantizationDetails::NONE,
                                              0, axis);
    };
  };
  const auto read = [&](auto quantization) -> absl::StatusOr<tflite::Quantization> {
    const std::string bytes =
        AbsOf({"x", fb::TensorType::INT8, {2, 3}, "", {}, quantization}).Make();
    X2IR_ASSIGN_OR_RETURN(Model model, ReadTflite(Source::Bytes(bytes)));
    X2IR_ASSIGN_OR_RETURN(auto q, tflite::QuantizationOf(*model.graph->inputs()[0]));
    return q ? *q : tflite::Quantization();
  };
  EXPECT_EQ(*read(of({0.1f}, {3}, 0)), (tflite::Quantization{{0.1f}, {3}, 0}));
  EXPECT_EQ(*read(of({0.1f, 0.2f}, {3}, 0)), (tflite::Quantization{{0.1f, 0.2f}, {3, 3}, 0}));
  EXPECT_EQ(*read(of({0}, {0}, 0)), tflite::Quantization());
  EXPECT_THAT(read(of({0.1f, 0.2f}, {3}, 1)).status().message(), HasSubstr("does not fit"));
  EXPECT_THAT(read(of({0.1f, 0.2f}, {3}, -1)).status().message(), HasSubstr("does not fit"));
  // Of what has no integers it says nothing.
  for (const fb::TensorType type : {fb::TensorType::RESOURCE, fb::TensorType::FLOAT32}) {
    const auto model = ReadTflite(
        Source::Bytes(AbsOf({"x", type, {2}, "", {}, of({0.1f}, {3}, 0)}, {"y", type}).Make()));
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_FALSE(tflite::IsQuantized(*model->graph->inputs()[0]));
  }
  EXPECT_THAT(read(of({INFINITY}, {3}, 0)).status().message(), HasSubstr("has no scale"));
}

TEST(TfliteFile, Signatures) {
  File file = AbsOf({"x"});
  file.copies = 2;
  file.signatures = {{"first", 0}, {"second", 1}};
  const auto model = ReadTflite(Source::Bytes(file.Make()), {.signature = "second"});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->graph->name(), "second");
  EXPECT_EQ(model->graph->inputs()[0]->annotations().get()->extra.at("tflite.signature_name"),
            "in");
  const auto none = ReadTflite(Source::Bytes(file.Make()), {.signature = "third"});
  EXPECT_EQ(OptionOf(none.status()), "signature");
  EXPECT_THAT(none.status().message(), HasSubstr("it has first, second"));
}

TEST(TfliteFile, WrongFiles) {
  const std::string good = AbsOf({"x"}).Make();
  EXPECT_EQ(ReadTflite(Source::Bytes(good.substr(0, 7))).status().code(),
            absl::StatusCode::kDataLoss);
  for (size_t size = 8; size < good.size(); size += 3) {
    EXPECT_FALSE(ReadTflite(Source::Bytes(good.substr(0, size))).ok()) << size;
  }
  const auto refused = [](const std::function<void(File&)>& change) {
    File file = AbsOf({"x"});
    change(file);
    return Loaded(file.Make());
  };
  EXPECT_THAT(refused([](File& f) { f.op_inputs = {9}; }), HasSubstr("there is no tensor 9"));
  EXPECT_THAT(refused([](File& f) { f.op_inputs = {-2}; }), HasSubstr("there is no tensor -2"));
  EXPECT_THAT(refused([](File& f) { f.op_outputs = {0}; }), HasSubstr("is produced twice"));
  EXPECT_THAT(refused([](File& f) { f.inputs = {0, 0}; }), HasSubstr("is an input twice"));
  EXPECT_THAT(refused([](File& f) { f.outputs = {5}; }), HasSubstr("there is no tensor 5"));
  EXPECT_THAT(refused([](File& f) {
                f.signatures = {{"s", 4}};
              }),
              HasSubstr("tflite.ABS"));  // of no interest unless asked for
  // A subgraph that runs itself.
  EXPECT_THAT(refused([](File& f) {
                f.op = fb::BuiltinOperator::CALL;
                f.options = [](FlatBuilder& b) {
                  return std::pair(fb::BuiltinOptions::CallOptions,
                                   fb::CreateCallOptions(b, 0).Union());
                };
              }),
              HasSubstr("calls of subgraphs"));
  EXPECT_THAT(refused([](File& f) {
                f.op = fb::BuiltinOperator::CALL;
                f.options = [](FlatBuilder& b) {
                  return std::pair(fb::BuiltinOptions::CallOptions,
                                   fb::CreateCallOptions(b, 3).Union());
                };
              }),
              HasSubstr("there is no subgraph 3"));
}

// Every operator's options are found by its name, and the defaults have the kinds that readers
// give.
TEST(TfliteSchema, Options) {
  int with_options = 0;
  for (const std::string_view op : tflite::OperatorNames()) {
    EXPECT_EQ(tflite::OperatorName(*tflite::OperatorNumber(op)), op);
    with_options += tflite::OptionsOf(op) != nullptr;
  }
  EXPECT_EQ(tflite::OptionsOf("AVERAGE_POOL_2D")->name, "Pool2DOptions");
  EXPECT_EQ(tflite::OptionsOf("CONV_2D")->name, "Conv2DOptions");
  EXPECT_EQ(tflite::OptionsOf("ATAN2")->name, "ATan2Options");
  EXPECT_EQ(tflite::OptionsOf("RELU"), nullptr);
  EXPECT_GT(with_options, 140);
  EXPECT_EQ(tflite::TensorTypeOf(DType::kInt4), 17);
  EXPECT_EQ(tflite::ToDType("BFLOAT16"), DType::kBFloat16);
}

}  // namespace
}  // namespace x2ir
