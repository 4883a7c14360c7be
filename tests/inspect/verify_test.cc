// Verification: when tensors agree, and what is said when they do not.
#include "x2ir/inspect/verify.h"

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/ops/text_graph_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor F(std::vector<float> values) {
  return Tensor::Of<float>({static_cast<int64_t>(values.size())}, values);
}
Tensor I(std::vector<int64_t> values) { return Tensor::Vector(values); }

TEST(Compare, Tensors) {
  using C = std::complex<float>;
  const struct {
    const char* what;
    Tensor got, expected;
    std::string problem;  // empty: they agree
  } rows[] = {
      {"same", F({1, 2}), F({1, 2}), ""},
      {"within atol", F({0.00009f}), F({0}), ""},
      {"beyond atol", F({0.00011f}), F({0}), "1 of 1 elements differ, the first at [0]"},
      {"within rtol", F({1000.9f}), F({1000}), ""},
      {"beyond rtol", F({1001.2f}), F({1000}), "expected 1000, got 1001.2"},
      {"NaN agrees with NaN", F({kNan}), F({kNan}), ""},
      {"another NaN too", F({kNan}), F({-kNan}), ""},
      {"NaN for a number", F({kNan}), F({1}), "expected 1, got nan"},
      {"a number for NaN", F({1}), F({kNan}), "expected nan, got 1"},
      {"infinity", F({kInf, -kInf}), F({kInf, -kInf}), ""},
      {"the other infinity", F({-kInf}), F({kInf}), "expected inf, got -inf"},
      {"infinity for a number", F({kInf}), F({1e30f}), "got inf"},
      // rtol times infinity must not let everything pass.
      {"a number for infinity", F({5}), F({kInf}), "expected inf, got 5"},
      {"both zeros", F({0.0f}), F({-0.0f}), ""},
      {"the first that differs", F({1, 2, 9, 9}), F({1, 2, 3, 4}),
       "2 of 4 elements differ, the first at [2]: expected 3, got 9"},
      {"index in two dims", Tensor::Of<float>({2, 3}, {0, 0, 0, 0, 7, 0}),
       Tensor::Zeros(DType::kFloat32, {2, 3}), "the first at [1,1]"},
      {"rank 0", Tensor::Scalar(1.0f), Tensor::Scalar(3.0f), "the first at []"},
      {"empty", F({}), F({}), ""},
      {"shape", F({1, 2}), F({1, 2, 3}), "expected float32[3], got float32[2]"},
      {"rank", Tensor::Zeros(DType::kFloat32, {1, 2}), Tensor::Zeros(DType::kFloat32, {2}),
       "expected float32[2], got float32[1,2]"},
      {"empty shapes differ too", Tensor::Zeros(DType::kFloat32, {0, 2}),
       Tensor::Zeros(DType::kFloat32, {2, 0}), "expected float32[2,0], got float32[0,2]"},
      {"element type", F({1}), I({1}), "expected int64[1], got float32[1]"},
      {"integers are exact", I({1000001}), I({1000000}), "expected 1000000, got 1000001"},
      {"beyond double", I({9007199254740993}), I({9007199254740992}),
       "expected 9007199254740992, got 9007199254740993"},
      {"large unsigned", Tensor::Of<uint64_t>({1}, {~uint64_t{0}}),
       Tensor::Of<uint64_t>({1}, {~uint64_t{0} - 1}),
       "expected 18446744073709551614, got 18446744073709551615"},
      {"bool", Tensor::Of<bool>({2}, {true, false}), Tensor::Of<bool>({2}, {true, true}),
       "1 of 2 elements differ, the first at [1]: expected 1, got 0"},
      {"float16", Tensor::Of<Half>({1}, {FloatToHalf(1.0f)}),
       Tensor::Of<Half>({1}, {FloatToHalf(1.0009765625f)}), ""},
      {"bfloat16", Tensor::Of<BFloat16>({1}, {FloatToBFloat16(1.0f)}),
       Tensor::Of<BFloat16>({1}, {FloatToBFloat16(1.0078125f)}), "expected 1.007812, got 1"},
      {"double", Tensor::Scalar(1.0), Tensor::Scalar(1.0 + 1e-9), ""},
      {"int4", Tensor::ScalarOf(DType::kInt4, -3), Tensor::ScalarOf(DType::kInt4, 5),
       "expected 5, got -3"},
      {"strings", Tensor::Strings({2}, {"a", "b"}), Tensor::Strings({2}, {"a", "c"}),
       "the first at [1]: expected \"c\", got \"b\""},
      {"same strings", Tensor::Strings({1}, {"a"}), Tensor::Strings({1}, {"a"}), ""},
      {"complex", Tensor::Of<C>({1}, {C(1, 2)}), Tensor::Of<C>({1}, {C(1, 2.0001f)}), ""},
      {"complex differs once", Tensor::Of<C>({1}, {C(1, 2)}), Tensor::Of<C>({1}, {C(3, 4)}),
       "1 of 1 elements differ, the first at [0]: expected (3, 4), got (1, 2)"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Comparison c = Compare(row.got, row.expected);
    EXPECT_EQ(c.agrees, row.problem.empty()) << c.problem;
    EXPECT_EQ(c.agrees, c.problem.empty());
    EXPECT_NE(c.problem.find(row.problem), std::string::npos) << c.problem;
  }
}

TEST(Compare, Numbers) {
  const Comparison c = Compare(F({1.5f, 2, 0.25f}), F({1, 2, 0}));
  EXPECT_EQ(c.elements, 3);
  EXPECT_EQ(c.differing, 2);
  EXPECT_EQ(c.first, std::vector<int64_t>{0});
  EXPECT_DOUBLE_EQ(c.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(c.max_rel, 0.5);
  EXPECT_TRUE(std::isinf(Compare(F({kNan}), F({1})).max_abs));
  EXPECT_TRUE(Compare(F({1.5f}), F({1}), {.rtol = 0.5, .atol = 0}).agrees);
  EXPECT_FALSE(Compare(F({1.5f}), F({1}), {.rtol = 0.49, .atol = 0}).agrees);
  EXPECT_FALSE(Compare(F({1e-9f}), F({0}), {.rtol = 1, .atol = 0}).agrees);
}

TEST(Compare, SequencesAndMaps) {
  const Datum one(DatumSequence{Datum(F({1})), Datum(F({2}))});
  const Datum two(DatumSequence{Datum(F({1})), Datum(F({3}))});
  const Datum shorter(DatumSequence{Datum(F({1}))});
  const auto map = [](float v) {
    return Datum(std::make_shared<const DatumMap>(
        DatumMap{{Datum(Tensor::Scalar<int64_t>(1)), Datum(F({v}))}}));
  };
  EXPECT_TRUE(Compare(one, one).agrees);
  EXPECT_NE(Compare(one, two).problem.find("element 1: 1 of 1"), std::string::npos);
  EXPECT_EQ(Compare(one, shorter).problem, "expected a sequence of 1, got one of 2");
  EXPECT_TRUE(Compare(map(1), map(1)).agrees);
  EXPECT_NE(Compare(map(1), map(2)).problem.find("value 0: "), std::string::npos);
  EXPECT_TRUE(Compare(Datum(), Datum()).agrees);
  EXPECT_EQ(Compare(Datum(), one).problem, "expected a sequence, got nothing");
  EXPECT_EQ(Compare(one, Datum(F({1}))).problem, "expected a tensor, got a sequence");
}

// Numbers of other types are the numbers that they are.
TEST(Compare, AnyNumbers) {
  using C = std::complex<float>;
  const Tensor half = Tensor::Of<Half>({2}, {FloatToHalf(1), FloatToHalf(2.5f)});
  const uint64_t large = ~uint64_t{0};
  const struct {
    const char* what;
    Tensor got, expected;
    std::string problem;  // empty: they agree
  } rows[] = {
      {"float16 and float32", half, F({1, 2.5f}), ""},
      {"float32 and float16", F({1, 3}), half, "the first at [1]: expected 2.5, got 3"},
      {"int8 and float", Tensor::Of<int8_t>({2}, {1, -2}), F({1, -2}), ""},
      {"int32 and int64", Tensor::Of<int32_t>({1}, {7}), I({8}), "expected 8, got 7"},
      {"beyond double", Tensor::Of<uint64_t>({1}, {uint64_t{1} << 53 | 1}), I({1LL << 53}),
       "expected 9007199254740992, got 9007199254740993"},
      {"a sign is no high bit", Tensor::Of<uint64_t>({1}, {large}), I({-1}), "expected -1"},
      {"bool", Tensor::Of<bool>({1}, {true}), I({1}), ""},
      {"complex and real", Tensor::Of<C>({1}, {C(1, 0)}), F({1}), "expected float32[1], got"},
      {"strings", Tensor::Strings({1}, {"1"}), F({1}), "expected float32[1], got string[1]"},
      {"shapes", Tensor::Zeros(DType::kFloat16, {2}), F({0}), "expected float32[1]"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Comparison c = Compare(row.got, row.expected, {}, ElementTypes::kAnyNumbers);
    EXPECT_EQ(c.agrees, row.problem.empty()) << c.problem;
    EXPECT_NE(c.problem.find(row.problem), std::string::npos) << c.problem;
    EXPECT_FALSE(Compare(row.got, row.expected).agrees);
  }
}

// Against the definitions, worked out by hand.
TEST(Compare, CosineAndSnr) {
  const Comparison same = Compare(F({1, 2}), F({1, 2}));
  EXPECT_EQ(same.cosine, 1);
  EXPECT_TRUE(std::isinf(same.snr));
  const Comparison right_angle = Compare(F({0, 2}), F({2, 0}));
  EXPECT_DOUBLE_EQ(right_angle.cosine, 0);
  EXPECT_NEAR(right_angle.snr, -3.0103, 1e-4);  // 4 : 8
  EXPECT_NEAR(Compare(F({3, 4}), F({4, 3})).cosine, 24.0 / 25, 1e-12);
  EXPECT_NEAR(Compare(F({10.1f}), F({10})).snr, 40, 1e-2);  // a hundredth
  EXPECT_EQ(Compare(F({-1}), F({1})).cosine, -1);
  EXPECT_EQ(Compare(F({0}), F({1})).cosine, 0);
  EXPECT_EQ(Compare(F({1}), F({0})).snr, -kInf);
  EXPECT_TRUE(std::isnan(Compare(F({kNan, 1}), F({1, 1})).cosine));
  EXPECT_EQ(Compare(F({kNan, 1}), F({kNan, 1})).cosine, 1);
  EXPECT_NEAR(Compare(I({3, 4}), I({4, 3})).cosine, 24.0 / 25, 1e-12);
  const auto pair = [](float v) { return Datum(DatumSequence{Datum(F({1})), Datum(F({v, 1}))}); };
  EXPECT_NEAR(Compare(pair(0), pair(1)).cosine, std::sqrt(0.5), 1e-6);  // of the worst element
}

Model Parse(std::string_view text) {
  Model model;
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (graph.ok()) model.graph = *graph;
  return model;
}

// A quantized network is off by steps of its quantization, which no rtol and atol speak of.
TEST(Verify, OfLossyTargetsOneNumberDecides) {
  Model model;
  model.graph = InferredGraph(R"(graph g(x: float32[4]) -> (y, q) {
    s = float32[]{0.5}
    z = int8[]{0}
    shape = int64[2]{2, 2}
    q: int8[4] = quantize_linear(x, s, z)
    d: float32[4] = dequantize_linear(q, s, z)
    y: float32[2,2] = reshape(d, shape)
  })");
  std::vector<IoCase> cases(1);
  cases[0].inputs = {F({1.2f, -3.1f, 7.9f, 0.1f})};
  cases[0].outputs = {F({1.2f, -3.1f, 7.9f, 0.1f}).Reshaped({2, 2}),
                      Tensor::Of<int8_t>({4}, {2, -6, 16, 1})};
  VerifyOptions options;
  const auto verdict = [&](const char* metric, double bound) {
    if (metric) options.criterion = Criterion{FindMetric(metric), bound};
    auto result = VerifyOutputs(model, cases, options);
    EXPECT_TRUE(result.ok()) << result.status();
    return *std::move(result);
  };
  const Verification strict = verdict(nullptr, 0);
  EXPECT_FALSE(strict.agrees());
  EXPECT_EQ(strict.outputs[0].step, 0.5);
  EXPECT_EQ(strict.outputs[1].step, 1);  // of integers
  for (const std::string_view part :
       {"cosine 0.99", "SNR 3", "quantization step 0.5 (max abs: 0.4", "(max abs: 1 step)"}) {
    EXPECT_NE(strict.ToText().find(part), std::string::npos) << part << "\n" << strict.ToText();
  }
  const struct {
    const char* metric;
    double passes, fails;
  } rows[] = {{"cosine", 0.99, 0.9999}, {"snr", 20, 60}, {"max-abs", 1, 0.1}, {"steps", 1, 0.5}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.metric);
    EXPECT_TRUE(verdict(row.metric, row.passes).agrees())
        << verdict(row.metric, row.passes).ToText();
    const Verification bad = verdict(row.metric, row.fails);
    EXPECT_FALSE(bad.agrees()) << bad.ToText();
    EXPECT_NE(bad.ToText().find(StrCat(row.metric, " is ")), std::string::npos) << bad.ToText();
    const auto json = nlohmann::json::parse(bad.ToJson());
    EXPECT_EQ(json["metric"], row.metric);
    EXPECT_EQ(json[FindMetric(row.metric)->more_is_better ? "at_least" : "at_most"], row.fails);
    EXPECT_EQ(json["outputs"][0]["step"], 0.5);
    EXPECT_GT(json["outputs"][0]["cosine"], 0.99);
    EXPECT_GT(json["outputs"][0]["snr"], 20);
  }
  EXPECT_EQ(Metrics().size(), std::size(rows));
  // What a metric does not forgive: NaN, another shape; what it does: the element type.
  cases[0].outputs[0] = F({kNan, -3.1f, 7.9f, 0.1f}).Reshaped({2, 2});
  EXPECT_FALSE(verdict("max-abs", 100).agrees());
  cases[0].outputs[0] = F({1.2f, -3.1f, 7.9f, 0.1f});
  EXPECT_FALSE(verdict("cosine", 0).agrees());
  cases[0].outputs = {Tensor::Of<double>({2, 2}, {1, -3, 8, 0}), F({2, -6, 16, 0})};
  EXPECT_TRUE(verdict("steps", 1).agrees()) << verdict("steps", 1).ToText();
  // A float output that is not quantized has no steps.
  const Model plain = Parse("graph g(x: float32[2]) -> (y) { y: float32[2] = neg(x) }");
  cases[0] = {"", {F({1, 2})}, {F({-1, -2})}};
  const auto none = VerifyOutputs(plain, cases, options);
  ASSERT_TRUE(none.ok());
  EXPECT_NE(none->ToText().find("it has no steps"), std::string::npos) << none->ToText();
}

TEST(Verify, Outputs) {
  const Model model =
      Parse("graph g(x: float32[2]) -> (y, z) { y: float32[2] = relu(x)  z: float32[2] = neg(x) }");
  std::vector<IoCase> cases(2);
  cases[0].name = "case0";
  cases[0].inputs = {F({-1, 2})};
  cases[0].outputs = {F({0, 2}), F({1, -2})};
  cases[1] = cases[0];
  cases[1].name = "case1";
  auto good = VerifyOutputs(model, cases);
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_TRUE(good->agrees());
  EXPECT_EQ(good->outputs.size(), 4u);
  EXPECT_NE(good->ToText().find("all outputs agree (4)"), std::string::npos) << good->ToText();

  cases[1].outputs[1] = F({1, 5});
  const auto bad = VerifyOutputs(model, cases);
  ASSERT_TRUE(bad.ok()) << bad.status();
  EXPECT_FALSE(bad->agrees());
  EXPECT_NE(bad->ToText().find("DIFFERS  case1 z"), std::string::npos) << bad->ToText();
  EXPECT_NE(bad->ToText().find("1 of 4 outputs differ"), std::string::npos) << bad->ToText();

  // An output that nothing is known of was not verified.
  cases.resize(1);
  cases[0].outputs[1].reset();
  const auto part = VerifyOutputs(model, cases);
  ASSERT_TRUE(part.ok());
  EXPECT_FALSE(part->agrees());
  EXPECT_FALSE(Verification().agrees());  // nothing was compared
}

TEST(Verify, JsonIsJson) {
  Verification v;
  v.outputs.push_back({"case0", "a\"b", "float32[1]", Compare(F({kInf}), F({1}))});
  const auto json = nlohmann::json::parse(v.ToJson(), nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << v.ToJson();
  EXPECT_EQ(json["agrees"], false);
  EXPECT_EQ(json["outputs"][0]["output"], "a\"b");
  EXPECT_EQ(json["outputs"][0]["max_abs"], "inf");
  EXPECT_EQ(json["outputs"][0]["first"][0], 0);
}

TEST(Verify, Models) {
  const std::string minus = "graph g(a: float32[n], b: float32[n]) -> (y) { y = sub(a, b) }";
  const struct {
    const char* what;
    std::string other;
    bool agrees;
    std::string error;
  } rows[] = {
      {"same", minus, true, ""},
      {"by position", "graph h(p: float32[n], q: float32[n]) -> (r) { r = sub(p, q) }", true, ""},
      {"by name", "graph h(b: float32[n], a: float32[n]) -> (y) { y = sub(a, b) }", true, ""},
      {"another result", "graph h(a: float32[n], b: float32[n]) -> (y) { y = add(a, b) }", false,
       ""},
      {"a default is no input",
       "graph h(k: float32[] = float32[]{1}, a: float32[n], b: float32[n]) -> (y) "
       "{ t = sub(a, b)  y = mul(t, k) }",
       true, ""},
      {"one input", "graph h(a: float32[n]) -> (y) { y = neg(a) }", false, "2 and 1 inputs"},
      {"two outputs",
       "graph h(a: float32[n], b: float32[n]) -> (y, z) { y = sub(a, b)  z = neg(a) }", false,
       "1 and 2 outputs"},
      {"other shapes", "graph h(a: float32[7], b: float32[7]) -> (y) { y = sub(a, b) }", false,
       "the other model: input 'a'"},
  };
  const Model model = Parse(minus);
  std::vector<IoCase> cases(1);
  cases[0].inputs = {F({3, 5}), F({1, 7})};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const auto result = VerifyModels(model, Parse(row.other), cases);
    if (!row.error.empty()) {
      EXPECT_NE(std::string(result.status().message()).find(row.error), std::string::npos)
          << result.status();
      continue;
    }
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->agrees(), row.agrees) << result->ToText();
  }
}

TEST(Verify, RandomCases) {
  const struct {
    const char* inputs;
    std::string types;  // of what was made; or "error: " and a part of the message
  } rows[] = {
      {"x: float32[2,3]", "float32[2,3]"},
      {"x: float32[batch,seq]", "float32[2,3]"},
      {"x: float32[2*n], y: int64[n]", "float32[4] int64[2]"},
      {"x: float32[?,3,?,?]", "float32[2,3,32,32]"},
      {"x: float32[b,3,h,h]", "float32[2,3,32,32]"},
      {"x: bool[3], y: string[2], z: float16[], w: complex64[2], v: uint4[3]",
       "bool[3] string[2] float16[] complex64[2] uint4[3]"},
      {"x: float32[2] = float32[2]{1, 2}", "_"},
      {"x: float32[...]", "error: 'x' (float32[...])"},
      {"x: ?", "error: expected a tensor of known rank"},
      {"x: sequence(float32[2])", "error: expected a tensor of known rank"},
      {"x: float32[1000000,1000000,1000000]", "error: input 'x'"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.inputs);
    const Model model = Parse(StrCat("graph g(", row.inputs, ") -> () { }"));
    std::string note;
    const auto io = RandomCase(*model.graph, 0, &note);
    if (row.types.rfind("error: ", 0) == 0) {
      EXPECT_NE(std::string(io.status().message()).find(row.types.substr(7)), std::string::npos)
          << io.status();
      continue;
    }
    ASSERT_TRUE(io.ok()) << io.status();
    std::string types;
    for (const auto& input : io->inputs) {
      StrAppend(&types, types.empty() ? "" : " ", input ? input->type().ToString() : "_");
    }
    EXPECT_EQ(types, row.types);
    EXPECT_TRUE(CheckInputs(*model.graph, io->inputs).ok());
    const auto again = RandomCase(*model.graph, 0, nullptr);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(io->inputs, again->inputs);
  }
  std::string note;
  const Model model = Parse("graph g(x: int64[batch,3]) -> () { }");
  const auto io = RandomCase(*model.graph, 0, &note);
  ASSERT_TRUE(io.ok());
  EXPECT_EQ(note, "random inputs: x: int64[2,3]; with batch = 2");
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_GE(io->inputs[0]->AsInt(i), 0);
    EXPECT_LT(io->inputs[0]->AsInt(i), 3);
  }
}

}  // namespace
}  // namespace x2ir
