// Quantized matrices: the numbers that each library's storage means, and what is refused.
#include "x2ir/handlers/checkpoint/quantized.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/graph_wrapper/small_floats.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/checkpoint/net.h"
#include "x2ir/ops/eval.h"

namespace x2ir::checkpoint {
namespace {

using Tensors = std::vector<std::pair<std::string, Tensor>>;
// Of row (output) and column (input).
using NumberAt = std::function<double(int64_t, int64_t)>;

Program Of(const std::string& quantization, const Tensors& tensors) {
  Program program;
  const absl::StatusOr<Json> config =
      Json::Parse(StrCat("{\"quantization_config\": {", quantization, "}}"));
  EXPECT_TRUE(config.ok()) << config.status();
  program.config = *config;
  for (const auto& [name, tensor] : tensors) {
    program.weights.tensors.emplace(StrCat("a.", name), tensor);
  }
  return program;
}

Tensor ResultOf(Graph& graph, const Expr& y) {
  graph.AddOutput(y);
  const auto results = RunGraph(graph, {});
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() && results->size() == 1 ? *results->at(0).tensor() : Tensor();
}

void ExpectNumbers(const Tensor& tensor, int64_t rows, int64_t width, const NumberAt& expected) {
  ASSERT_EQ(tensor.dtype(), DType::kFloat32);
  ASSERT_EQ(tensor.dims(), (std::vector<int64_t>{rows, width}));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < width; ++k) {
      ASSERT_EQ(tensor.AsDouble(i * width + k), expected(i, k)) << i << " " << k;
    }
  }
}

// The weight "a.weight" by itself, and by a product of the identity with it.
void ExpectNumbersOf(const Program& program, int64_t rows, int64_t width,
                     const NumberAt& expected) {
  std::vector<std::string> warnings;
  try {
    {
      Graph graph;
      Net net(graph, program);
      net.ReadQuantized(warnings);
      const Expr weight = net.Weight("a.weight", {rows, width});
      ExpectNumbers(ResultOf(graph, weight), rows, width, expected);
      net.CheckAllTaken();
    }
    Graph graph;
    Net net(graph, program);
    net.ReadQuantized(warnings);
    Tensor identity = Tensor::Zeros(DType::kFloat32, {width, width});
    for (int64_t i = 0; i < width; ++i) identity.mutable_span<float>()[i * width + i] = 1;
    const Expr y = net.Linear({net.b(), net.b().Constant(identity)}, "a", width, rows, false);
    ExpectNumbers(ResultOf(graph, y), width, rows,
                  [&](int64_t i, int64_t k) { return expected(k, i); });
  } catch (const Refusal& refusal) {
    FAIL() << refusal.status;
  }
}

// As it is stored, and unpacked.
void ExpectWeight(Program program, int64_t rows, int64_t width, const NumberAt& expected) {
  ExpectNumbersOf(program, rows, width, expected);
  program.request.unpack = DType::kFloat16;
  ExpectNumbersOf(program, rows, width, [&](int64_t i, int64_t k) {
    return HalfToFloat(FloatToHalf(static_cast<float>(expected(i, k))));
  });
  Graph graph;
  Net net(graph, program);
  std::vector<std::string> warnings;
  net.ReadQuantized(warnings);
  net.Linear({net.b(), net.b().Constant(Tensor::Zeros(DType::kFloat32, {1, width}))}, "a", width,
             rows, false);
  EXPECT_EQ(net.unpacked(), 1u);
  const Value* weight = graph.Find("a.weight");
  ASSERT_TRUE(weight && weight->constant());
  EXPECT_EQ(weight->constant()->dtype(), DType::kFloat16);
}

void ExpectRefused(const std::string& quantization, const Tensors& tensors,
                   std::string_view message) {
  const Program program = Of(quantization, tensors);
  Graph graph;
  Net net(graph, program);
  std::vector<std::string> warnings;
  try {
    net.ReadQuantized(warnings);
    net.Weight("a.weight", {-1, -1});
    net.CheckAllTaken();
    ADD_FAILURE() << "nothing is refused; expected: " << message;
  } catch (const Refusal& refusal) {
    EXPECT_NE(std::string(refusal.status.message()).find(message), std::string::npos)
        << refusal.status << "\nexpected: " << message;
  }
}

// --- Made here -----------------------------------------------------------------------------------

Tensor Made(DType type, const std::vector<int64_t>& dims,
            const std::function<double(int64_t)>& number) {
  Tensor tensor = Tensor::Zeros(type, dims);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const Tensor one = Tensor::ScalarOf(type, number(i));
    std::memcpy(tensor.mutable_bytes().data() + static_cast<size_t>(i) * one.nbytes(),
                one.bytes().data(), one.nbytes());
  }
  return tensor;
}

// Each column of `count` numbers as a stream of bits in words, one below the other.
Tensor Streams(int64_t count, int64_t columns, int bits, const NumberAt& number) {
  const int64_t words = count * bits / 32;
  std::vector<int32_t> all(static_cast<size_t>(words * columns));
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t bit = 0; bit < count * bits; ++bit) {
      const auto n = static_cast<uint32_t>(number(bit / bits, c));
      auto& word = all[static_cast<size_t>(bit / 32 * columns + c)];
      word |= static_cast<int32_t>((n >> (bit % bits) & 1u) << (bit % 32));
    }
  }
  return Tensor::Of<int32_t>({words, columns}, absl::Span<const int32_t>(all));
}

// The same with streams in rows.
Tensor RowStreams(int64_t rows, int64_t count, int bits, const NumberAt& number) {
  const Tensor down =
      Streams(count, rows, bits, [&](int64_t i, int64_t c) { return number(c, i); });
  const int64_t words = down.dim(0);
  return Made(DType::kInt32, {rows, words}, [&](int64_t i) {
    return static_cast<double>(down.AsInt(i % words * rows + i / words));
  });
}

double Scale(int64_t row, int64_t group) {
  return (row % 2 == 0 ? 0.25 : 0.375) * static_cast<double>(1 + group);
}

// (code - zero) * scale, with all of them.
struct Integers {
  int64_t rows, width, group;
  int bits;
  double greatest_zero;

  int64_t groups() const { return width / group; }
  double Code(int64_t row, int64_t i) const {
    return static_cast<double>((row * 3 + i * 5 + i / 7) & ((1 << bits) - 1));
  }
  double Zero(int64_t row, int64_t g) const {
    return greatest_zero - static_cast<double>((row + g) % 3);
  }
  double At(int64_t row, int64_t i, int64_t g) const {
    return (Code(row, i) - Zero(row, g)) * Scale(row, g);
  }
};

Tensors GptqOf(const Integers& n, int less, const std::vector<int64_t>& group_of = {}) {
  Tensors tensors = {
      {"qweight",
       Streams(n.width, n.rows, n.bits, [&](int64_t i, int64_t row) { return n.Code(row, i); })},
      {"qzeros", RowStreams(n.groups(), n.rows, n.bits,
                            [&](int64_t g, int64_t row) { return n.Zero(row, g) - less; })},
      {"scales", Made(DType::kFloat16, {n.groups(), n.rows},
                      [&](int64_t i) { return Scale(i % n.rows, i / n.rows); })}};
  if (!group_of.empty()) {
    tensors.emplace_back("g_idx", Made(DType::kInt32, {n.width}, [&](int64_t i) {
                           return static_cast<double>(group_of[static_cast<size_t>(i)]);
                         }));
  }
  return tensors;
}

constexpr char kGptq[] = R"("quant_method": "gptq", "bits": 4, "group_size": 8, "desc_act": false)";

// --- Numbers -------------------------------------------------------------------------------------

TEST(Quantized, GptqOfAllWidths) {
  for (const Integers& n :
       {Integers{8, 16, 8, 4, 15}, Integers{8, 16, 8, 4, 16}, Integers{16, 32, 16, 2, 3},
        Integers{32, 32, 8, 3, 7}, Integers{4, 16, 16, 8, 129}}) {
    const std::string config = StrCat("\"quant_method\": \"gptq\", \"bits\": ", n.bits,
                                      ", \"group_size\": ", n.group == n.width ? -1 : n.group);
    const auto at = [&](int64_t row, int64_t i) { return n.At(row, i, i / n.group); };
    ExpectWeight(Of(config, GptqOf(n, 1)), n.rows, n.width, at);
    if (n.greatest_zero == 16) continue;
    ExpectWeight(Of(config + ", \"checkpoint_format\": \"gptq_v2\"", GptqOf(n, 0)), n.rows, n.width,
                 at);
  }
}

TEST(Quantized, GptqWithInputsInAnotherOrder) {
  const Integers n = {8, 32, 8, 4, 15};
  std::vector<int64_t> group_of;
  for (int64_t i = 0; i < n.width; ++i) group_of.push_back((i * 5 + 1) % 4);
  ExpectWeight(Of(kGptq, GptqOf(n, 1, group_of)), n.rows, n.width, [&](int64_t row, int64_t i) {
    return n.At(row, i, group_of[static_cast<size_t>(i)]);
  });
}

TEST(Quantized, BiasesOfZeroBesideGptqAreIgnored) {
  const Integers n = {8, 16, 8, 4, 8};
  Tensors tensors = GptqOf(n, 1);
  tensors.emplace_back("bias", Tensor::Zeros(DType::kFloat16, {8}));
  ExpectWeight(Of(kGptq, tensors), 8, 16,
               [&](int64_t row, int64_t i) { return n.At(row, i, i / 8); });
  tensors.back().second = Made(DType::kFloat16, {8}, [](int64_t) { return 1.0; });
  ExpectRefused(kGptq, tensors, "weights that its architecture does not use: 'a.bias'");
}

TEST(Quantized, AwqHasItsOwnOrderOfOutputs) {
  const Integers n = {16, 32, 16, 4, 9};
  constexpr int64_t kOrder[] = {0, 2, 4, 6, 1, 3, 5, 7};
  const auto ordered = [&](int64_t k) { return k / 8 * 8 + kOrder[k % 8]; };
  ExpectWeight(
      Of(R"("quant_method": "awq", "bits": 4, "group_size": 16, "version": "GEMM")",
         {{"qweight", RowStreams(n.width, n.rows, 4,
                                 [&](int64_t i, int64_t k) { return n.Code(ordered(k), i); })},
          {"qzeros", RowStreams(n.groups(), n.rows, 4,
                                [&](int64_t g, int64_t k) { return n.Zero(ordered(k), g); })},
          {"scales", Made(DType::kFloat16, {n.groups(), n.rows},
                          [&](int64_t i) { return Scale(i % n.rows, i / n.rows); })}}),
      n.rows, n.width, [&](int64_t row, int64_t i) { return n.At(row, i, i / n.group); });
}

std::string SchemeText(std::string_view format, int bits, std::string_view type,
                       std::string_view more) {
  return StrCat("\"quant_method\": \"compressed-tensors\", \"format\": \"", format,
                "\", \"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], \"weights\": ",
                "{\"num_bits\": ", bits, ", \"type\": \"", type, "\", ", more, "}}}");
}

Tensors PackedOf(const Integers& n) {
  return {{"weight_packed", RowStreams(n.rows, n.width, n.bits,
                                       [&](int64_t row, int64_t i) { return n.Code(row, i); })},
          {"weight_shape", Tensor::Of<int64_t>({2}, {n.rows, n.width})},
          {"weight_scale", Made(DType::kBFloat16, {n.rows, n.groups()},
                                [&](int64_t i) { return Scale(i / n.groups(), i % n.groups()); })}};
}

TEST(Quantized, CompressedIntegersInWords) {
  const Integers n = {8, 16, 8, 4, 12};
  const std::string config =
      SchemeText("pack-quantized", 4, "int", R"("strategy": "group", "group_size": 8)");
  Tensors tensors = PackedOf(n);
  ExpectWeight(Of(config, tensors), n.rows, n.width,
               [&](int64_t row, int64_t i) { return (n.Code(row, i) - 8) * Scale(row, i / 8); });
  tensors.emplace_back(
      "weight_zero_point",
      Streams(n.rows, n.groups(), 4, [&](int64_t row, int64_t g) { return n.Zero(row, g); }));
  ExpectWeight(Of(config, tensors), n.rows, n.width,
               [&](int64_t row, int64_t i) { return n.At(row, i, i / 8); });
  tensors.emplace_back("weight_g_idx", Made(DType::kInt32, {16},
                                            [](int64_t i) { return static_cast<double>(i % 2); }));
  ExpectWeight(Of(config, tensors), n.rows, n.width,
               [&](int64_t row, int64_t i) { return n.At(row, i, i % 2); });
  tensors.back().second = Made(DType::kInt32, {16}, [](int64_t) { return -1.0; });
  ExpectWeight(Of(config, tensors), n.rows, n.width,
               [&](int64_t row, int64_t i) { return n.At(row, i, i / 8); });
}

TEST(Quantized, CompressedBytes) {
  const auto code = [](int64_t row, int64_t i) {
    return static_cast<double>((row * 37 + i * 11) % 256 - 128);
  };
  const std::string config = SchemeText("int-quantized", 8, "int", R"("strategy": "channel")");
  Tensors tensors = {
      {"weight", Made(DType::kInt8, {3, 5}, [&](int64_t i) { return code(i / 5, i % 5); })},
      {"weight_scale", Made(DType::kFloat32, {3, 1}, [](int64_t i) { return Scale(i, 0); })}};
  ExpectWeight(Of(config, tensors), 3, 5,
               [&](int64_t row, int64_t i) { return code(row, i) * Scale(row, 0); });
  tensors.emplace_back("weight_zero_point",
                       Made(DType::kInt8, {3, 1}, [](int64_t i) { return 7.0 - 4.0 * i; }));
  ExpectWeight(Of(config, tensors), 3, 5, [&](int64_t row, int64_t i) {
    return (code(row, i) - 7 + 4.0 * static_cast<double>(row)) * Scale(row, 0);
  });
}

// Numbers that float8 has.
double Eighth(int64_t row, int64_t i) { return static_cast<double>((row * 5 + i * 3) % 31 - 15); }

TEST(Quantized, Float8ByScales) {
  const Tensor numbers =
      Made(DType::kFloat8E4M3FN, {5, 6}, [](int64_t i) { return Eighth(i / 6, i % 6); });
  // Blocks of 3 by 4, the last ones of which are smaller.
  ExpectWeight(
      Of(R"("quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [3, 4])",
         {{"weight", numbers},
          {"weight_scale_inv",
           Made(DType::kFloat32, {2, 2}, [](int64_t i) { return Scale(i / 2, i % 2); })}}),
      5, 6, [](int64_t row, int64_t i) { return Eighth(row, i) * Scale(row / 3, i / 4); });
  ExpectWeight(Of(R"("quant_method": "fp8", "activation_scheme": "static")",
                  {{"weight", numbers},
                   {"weight_scale", Tensor::Scalar(0.75F)},
                   {"input_scale", Tensor::Scalar(0.5F)}}),
               5, 6, [](int64_t row, int64_t i) { return Eighth(row, i) * 0.75; });
  ExpectWeight(
      Of(SchemeText("float-quantized", 8, "float", R"("strategy": "channel")"),
         {{"weight", numbers},
          {"weight_scale", Made(DType::kBFloat16, {5, 1}, [](int64_t i) { return Scale(i, 0); })}}),
      5, 6, [](int64_t row, int64_t i) { return Eighth(row, i) * Scale(row, 0); });
}

Tensor Text(const std::string& text) {
  return Made(DType::kUInt8, {static_cast<int64_t>(text.size())},
              [&](int64_t i) { return static_cast<double>(text[static_cast<size_t>(i)]); });
}

Tensors TableOf(const std::string& state, bool nested) {
  Tensors tensors = {
      {"weight", Made(DType::kUInt8, {12, 1},
                      [](int64_t i) {
                        return static_cast<double>((2 * i * 7 % 16) << 4 | (2 * i + 1) * 7 % 16);
                      })},
      {"weight.quant_map",
       Made(DType::kFloat32, {16}, [](int64_t i) { return static_cast<double>(i) / 8 - 1; })},
      {"weight.quant_state.bitsandbytes__nf4", Text(state)}};
  if (!nested) {
    tensors.emplace_back("weight.absmax", Made(DType::kFloat32, {3}, [](int64_t i) {
                           return static_cast<double>(i) + 2;
                         }));
    return tensors;
  }
  tensors.emplace_back("weight.absmax",
                       Made(DType::kUInt8, {3}, [](int64_t i) { return 200.0 + i; }));
  tensors.emplace_back("weight.nested_absmax",
                       Made(DType::kFloat32, {2}, [](int64_t i) { return i == 0 ? 2 : 4; }));
  tensors.emplace_back("weight.nested_quant_map", Made(DType::kFloat32, {256}, [](int64_t i) {
                         return static_cast<double>(i) / 256;
                       }));
  return tensors;
}

constexpr char kBnb[] = R"("quant_method": "bitsandbytes", "load_in_4bit": true)";
constexpr char kState[] = R"({"quant_type": "nf4", "blocksize": 8, "shape": [4, 6]})";

TEST(Quantized, NumbersOfATable) {
  const auto code = [](int64_t row, int64_t i) {
    return static_cast<double>((row * 6 + i) * 7 % 16) / 8 - 1;
  };
  const auto block = [](int64_t row, int64_t i) { return (row * 6 + i) / 8; };
  ExpectWeight(Of(kBnb, TableOf(kState, false)), 4, 6, [&](int64_t row, int64_t i) {
    return code(row, i) * static_cast<double>(block(row, i) + 2);
  });
  // Blocks of 16, the last of which is shorter.
  Tensors longer = TableOf(R"({"blocksize": 16, "shape": [4, 6]})", false);
  longer.back().second = Tensor::Of<float>({2}, {3, 5});
  ExpectWeight(Of(kBnb, longer), 4, 6,
               [&](int64_t row, int64_t i) { return code(row, i) * (row * 6 + i < 16 ? 3 : 5); });
  const std::string state =
      R"({"blocksize": 8, "shape": [4, 6], "nested_blocksize": 2, "nested_offset": 0.5})";
  ExpectWeight(Of(kBnb, TableOf(state, true)), 4, 6, [&](int64_t row, int64_t i) {
    const auto b = static_cast<double>(block(row, i));
    return code(row, i) * ((200 + b) / 256 * (b < 2 ? 2 : 4) + 0.5);
  });
}

Tensors RowwiseInt8() {
  return {{"weight", Made(DType::kInt8, {2, 3}, [](int64_t i) { return 50.0 * i - 123; })},
          {"SCB", Tensor::Of<float>({2}, {0.3F, 1.7F})},
          {"weight_format", Tensor::Scalar<uint8_t>(0)}};
}

TEST(Quantized, RowsOfInt8) {
  ExpectWeight(Of(R"("quant_method": "bitsandbytes", "load_in_8bit": true)", RowwiseInt8()), 2, 3,
               [](int64_t row, int64_t i) {
                 const auto number = static_cast<float>(50 * (row * 3 + i) - 123);
                 return number * (row == 0 ? 0.3F : 1.7F) * 7.874015718698502e-3F;
               });
}

TEST(Quantized, Mxfp4OfStackedExperts) {
  constexpr double kNumbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const auto code = [](int64_t i) { return static_cast<int>(i * 7 % 16); };
  const Tensor blocks = Made(DType::kUInt8, {2, 3, 2, 16}, [&](int64_t i) {
    return static_cast<double>(code(2 * i) | code(2 * i + 1) << 4);
  });
  const Tensor scales =
      Made(DType::kUInt8, {2, 3, 2}, [](int64_t i) { return static_cast<double>(120 + i); });
  Program program = Of(R"("quant_method": "mxfp4")", {});
  program.weights.tensors = {{"e.up_blocks", blocks}, {"e.up_scales", scales}};
  Graph graph;
  Net net(graph, program);
  std::vector<std::string> warnings;
  net.ReadQuantized(warnings);
  ExpectNumbers(ResultOf(graph, net.Weight("e.1.up.weight", {3, 64})), 3, 64,
                [&](int64_t row, int64_t i) {
                  const int64_t at = (3 + row) * 64 + i;
                  const int c = code(at);
                  return std::ldexp(c & 8 ? -kNumbers[c & 7] : kNumbers[c & 7],
                                    static_cast<int>(at / 32 - 7));
                });
  EXPECT_FALSE(net.HasWeight("e.2.up.weight"));
  net.CheckAllTaken();
  program.weights.tensors.insert_or_assign("e.up_scales", scales.Reshaped({2, 2, 3}));
  Graph other;
  Net broken(other, program);
  EXPECT_THROW(broken.ReadQuantized(warnings), Refusal);
}

TEST(Quantized, QuantizedActivationsAreAWarning) {
  const Program program =
      Of(R"("quant_method": "bitsandbytes", "load_in_8bit": true)", RowwiseInt8());
  Graph graph;
  Net net(graph, program);
  std::vector<std::string> warnings;
  net.ReadQuantized(warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("quantizes activations"), std::string::npos) << warnings[0];
}

// --- What is refused -----------------------------------------------------------------------------

// With one tensor replaced.
Tensors With(Tensors tensors, std::string_view name, const Tensor& tensor) {
  for (auto& [key, value] : tensors) {
    if (key == name) value = tensor;
  }
  return tensors;
}

TEST(Quantized, SettingsThatAreNotKnown) {
  const Tensors gptq = GptqOf({8, 16, 8, 4, 8}, 1);
  const std::string config = kGptq;
  ExpectRefused(R"("quant_method": "torchao")", gptq, "'torchao'; those that are supported: awq,");
  ExpectRefused(config + ", \"zeal\": 1", gptq, "'quantization_config.zeal'");
  ExpectRefused(config + ", \"checkpoint_format\": \"marlin\"", gptq, "is 'marlin'; gptq and");
  ExpectRefused(config + ", \"pack_dtype\": \"int64\"", gptq, "only 'int32' is supported");
  ExpectRefused(R"("quant_method": "gptq", "bits": 5)", gptq, "is 5; 2, 3, 4 and 8");
  ExpectRefused(R"("quant_method": "gptq", "bits": 4, "group_size": 0)", gptq, "group_size' is 0");
  ExpectRefused(R"("quant_method": "gptq", "bits": 4, "group_size": 16)", gptq,
                "groups of 8 inputs; by the configuration they are of 16");
  ExpectRefused(R"("quant_method": "awq", "version": "gemv")", gptq,
                "is 'gemv'; gemm is supported");
  ExpectRefused(R"("quant_method": "fp8", "weight_block_size": [128, 0])", {},
                "weight_block_size' is");
  const Tensors packed = PackedOf({8, 16, 8, 4, 8});
  const char* group = R"("strategy": "group", "group_size": 8)";
  ExpectRefused(SchemeText("marlin-24", 4, "int", group), packed, "'marlin-24'");
  ExpectRefused(SchemeText("pack-quantized", 4, "float", group), packed, "4 bits of 'float'");
  ExpectRefused(SchemeText("pack-quantized", 8, "int", group), packed, "no group of the");
  ExpectRefused(SchemeText("pack-quantized", 4, "int", R"("strategy": "tensor_group")"), packed,
                "quantized by 'tensor_group'");
  ExpectRefused(SchemeText("pack-quantized", 4, "int", R"("strategy": "group", "group_size": 0)"),
                packed, "a group of 0 weights");
  ExpectRefused(SchemeText("pack-quantized", 4, "int", StrCat(group, ", \"warp\": 1")), packed,
                "weights.warp'");
}

TEST(Quantized, PartsThatDoNotFit) {
  const Tensors gptq = GptqOf({8, 16, 8, 4, 8}, 1, std::vector<int64_t>(16));
  const auto index = [](const std::function<double(int64_t)>& at) {
    return Made(DType::kInt32, {16}, at);
  };
  const auto words = [](std::vector<int64_t> dims) {
    return Tensor::Zeros(DType::kInt32, std::move(dims));
  };
  ExpectRefused(kGptq, gptq, "groups of several sizes, 8 and 16");
  ExpectRefused(kGptq, With(gptq, "g_idx", index([](int64_t) { return 2.0; })),
                "input 0 is in group 2 of 2");
  ExpectRefused(kGptq, With(gptq, "g_idx", index([](int64_t) { return -1.0; })),
                "input 0 is in group -1 of 2");
  ExpectRefused(kGptq, With(gptq, "g_idx", words({0})), "64 bits of 0 inputs");
  ExpectRefused(kGptq, With(gptq, "qweight", words({3, 8})), "6 bits for each input");
  ExpectRefused(kGptq, With(gptq, "qweight", words({16})), "is [16]; expected [?,?]");
  ExpectRefused(kGptq, With(gptq, "qweight", Tensor::Zeros(DType::kInt64, {2, 8})),
                "words of int64; int32 is supported");
  ExpectRefused(kGptq, With(gptq, "qzeros", words({2, 2})), "is [2,2]; expected [2,1]");
  ExpectRefused(kGptq, With(gptq, "scales", Tensor::Zeros(DType::kFloat16, {3, 8})),
                "3 groups of 16 inputs");
  ExpectRefused(kGptq, With(gptq, "scales", Tensor::Zeros(DType::kFloat16, {2, 4})),
                "expected [?,8]");
  ExpectRefused(kGptq, {gptq.begin(), gptq.begin() + 1}, "'a.scales' is missing");
  ExpectRefused(R"("quant_method": "awq")",
                {{"qweight", words({0, 2})},
                 {"qzeros", words({1, 2})},
                 {"scales", Tensor::Zeros(DType::kFloat16, {1, 16})}},
                "1 groups of 0 inputs");
  const std::string config =
      SchemeText("pack-quantized", 4, "int", R"("strategy": "group", "group_size": 8)");
  const Tensors packed = PackedOf({8, 16, 8, 4, 8});
  ExpectRefused(config,
                With(packed, "weight_shape", Tensor::Of<int64_t>({2}, {8, int64_t{1} << 60})),
                "of 8 rows of 2 words");
  ExpectRefused(config, With(packed, "weight_shape", Tensor::Of<int64_t>({2}, {8, 24})),
                "no group of the configuration");
  Tensors points = packed;
  points.emplace_back("weight_zero_point", Tensor::Zeros(DType::kInt8, {8, 3}));
  ExpectRefused(config, points, "24 zero points for 8 rows of 2 groups");
  points.back().second = Made(DType::kInt8, {8, 2}, [](int64_t) { return 8.0; });
  ExpectRefused(config, points, "8 is not of 4 bits");
  const Tensors table = TableOf(kState, false);
  const char* state = "weight.quant_state.bitsandbytes__nf4";
  const auto stated = [&](const std::string& text) { return With(table, state, Text(text)); };
  ExpectRefused(kBnb, stated("{"), "nf4'");
  ExpectRefused(kBnb, stated(R"({"blocksize": 0, "shape": [4, 6]})"), "'blocksize' is 0");
  ExpectRefused(kBnb, stated(R"({"blocksize": 8, "shape": [4, 7]})"), "12 bytes of [4,7]");
  ExpectRefused(kBnb, stated(R"({"blocksize": 8, "shape": [3, 5]})"), "an odd number of numbers");
  ExpectRefused(kBnb, stated(R"({"blocksize": 8, "shape": [4000000000, 4000000000]})"),
                "'shape' is");
  ExpectRefused(kBnb, stated(R"({"blocksize": 4, "shape": [4, 6]})"), "is [3]; expected [6]");
  ExpectRefused(kBnb, With(RowwiseInt8(), "SCB", Tensor::Zeros(DType::kFloat32, {3})),
                "3 scales of 2 rows");
  ExpectRefused(kBnb, With(RowwiseInt8(), "weight_format", Tensor::Scalar<uint8_t>(1)),
                "only rows one after another");
  ExpectRefused(R"("quant_method": "fp8", "weight_block_size": [4, 4])",
                {{"weight", Tensor::Zeros(DType::kFloat8E4M3FN, {5, 6})},
                 {"weight_scale_inv", Tensor::Zeros(DType::kFloat32, {1, 2})}},
                "is [1,2]; expected [2,2]");
}

}  // namespace
}  // namespace x2ir::checkpoint
