// Small models against ONNX Runtime, which runs them as they are, while we run them as IR: its own
// ops (com.microsoft), and local functions. Skipped where the oracle is not installed
// (tests/oracle/setup.sh).
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/conformance/contrib_rows_util.h"
#include "tests/core/convert_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/verify.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Oracle : public TempDirTest {
 protected:
  void SetUp() override {
    oracle_ = fs::path(X2IR_BUILD_DIR) / "oracle";
    if (std::system("node --version > /dev/null 2>&1") != 0 || !fs::exists(oracle_ / "installed")) {
      GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
    }
  }

  // 8-bit integers over their whole range, so that quantized ops see all of it; signed ones over
  // half of it, since ONNX Runtime adds pairs of products in 16 bits, saturating, on processors
  // without VNNI.
  static void Spread(Tensor& t, double scale, uint64_t seed) {
    uint64_t state = seed * 2654435761u + 12345;
    const auto next = [&] {
      return (state = state * 6364136223846793005u + 1442695040888963407u) >> 40;
    };
    if (t.dtype() == DType::kUInt8 || t.dtype() == DType::kInt8) {
      for (std::byte& b : t.mutable_bytes()) {
        const auto drawn = static_cast<int8_t>(next());
        b = static_cast<std::byte>(t.dtype() == DType::kInt8 ? drawn / 2 : drawn);
      }
    } else if (t.dtype() == DType::kFloat32 && scale != 1) {
      for (float& f : t.mutable_span<float>()) f = static_cast<float>(f * scale);
    }
  }

  // Answers of the oracle's server, one a request.
  std::vector<Json> Ask(const std::vector<Json>& requests) {
    std::ofstream in(folder_ / "requests");
    for (const Json& request : requests) in << request.dump() << "\n";
    in.close();
    const std::string command = StrCat(
        "node '", X2IR_SOURCE_DIR, "/tests/oracle/ort.mjs' --oracle '", oracle_.string(), "' < '",
        (folder_ / "requests").string(), "' > '", (folder_ / "answers").string(), "'");
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream out(folder_ / "answers");
    std::vector<Json> answers;
    for (std::string line; std::getline(out, line);) answers.push_back(Json::parse(line));
    return answers;
  }

  // Adds a model to those that Judge asks about. `make` gives it anew each time.
  template <typename Make>
  void Add(const std::string& text, const Make& make, double rtol, double scale) {
    SCOPED_TRACE(text);
    const uint64_t seed = ++number_;
    Model model = make(), ir = make();
    if (const absl::Status s = ToIr(ir); !s.ok()) {
      ADD_FAILURE() << s;
      return;
    }
    // The oracle wants types of outputs, which conversion finds.
    for (size_t i = 0; i < model.graph->outputs().size(); ++i) {
      model.graph->outputs()[i]->set_type(ir.graph->outputs()[i]->type());
    }
    const std::string base = (folder_ / std::to_string(seed)).string();
    ASSERT_TRUE(WriteOnnx(model, base + ".onnx").ok());
    auto io = RandomCase(*ir.graph, seed, nullptr);
    ASSERT_TRUE(io.ok()) << io.status();
    for (size_t i = 0; i < io->inputs.size(); ++i) {
      if (io->inputs[i]) Spread(*io->inputs[i], scale, seed * 100 + i);
    }
    auto got = RunCase(*ir.graph, *io);
    if (!got.ok()) {
      ADD_FAILURE() << got.status() << "\n" << ToText(*ir.graph);
      return;
    }
    for (size_t i = 0; i < got->size(); ++i) io->outputs[i] = *(*got)[i].tensor();
    io->name = "case0";
    ASSERT_TRUE(WriteIoFile(base + ".safetensors", {*io}, *ir.graph).ok());
    requests_.push_back({{"model", base + ".onnx"},
                         {"io", base + ".safetensors"},
                         {"case", "all"},
                         {"rtol", rtol},
                         {"atol", rtol / 10 * std::max(scale, 1.0)}});
    texts_.push_back(text + "\n" + ToText(*ir.graph));
    // What is written of it, at an opset that lacks attention and most norms, says the same.
    if (const absl::Status s = Export(std::move(ir), base + ".out.onnx"); !s.ok()) {
      EXPECT_TRUE(absl::IsFailedPrecondition(s)) << s;
      ++refused_;
      return;
    }
    requests_.push_back(requests_.back());
    requests_.back()["model"] = base + ".out.onnx";
    texts_.push_back("written again: " + texts_.back());
  }

  // A graph of the IR, as it is written at an opset.
  void AddIr(std::string_view inputs, std::string_view lines, int opset, bool contrib = false) {
    const std::string text = StrCat("at opset ", opset, ": ", inputs, " -> ", lines);
    SCOPED_TRACE(text);
    const uint64_t seed = ++number_;
    const std::string base = (folder_ / std::to_string(seed)).string();
    auto graph = ParseIr(inputs, lines, "y");
    ASSERT_TRUE(graph.ok()) << graph.status();
    Model model;
    model.graph = *std::move(graph);
    model.source_dialect = kIrDialect;
    auto io = RandomCase(*model.graph, seed, nullptr);
    ASSERT_TRUE(io.ok()) << io.status();
    auto got = RunCase(*model.graph, *io);
    ASSERT_TRUE(got.ok()) << got.status();
    for (size_t i = 0; i < got->size(); ++i) io->outputs[i] = *(*got)[i].tensor();
    io->name = "case0";
    ASSERT_TRUE(WriteIoFile(base + ".safetensors", {*io}, *model.graph).ok());
    ExportOptions options;
    options.opset = opset;
    if (contrib) options.format_options.Set("contrib", true);
    const absl::Status s = Export(std::move(model), base + ".onnx", options);
    ASSERT_TRUE(s.ok()) << s;
    requests_.push_back({{"model", base + ".onnx"},
                         {"io", base + ".safetensors"},
                         {"case", "all"},
                         {"rtol", 1e-5},
                         {"atol", 1e-6}});
    texts_.push_back(text);
    // What it makes of the graph before it runs it.
    requests_.push_back(requests_.back());
    requests_.back()["optimize"] = true;
    texts_.push_back(StrCat("optimized, ", text));
  }

  void Judge() {
    const std::vector<Json> answers = Ask(requests_);
    ASSERT_EQ(answers.size(), requests_.size());
    for (size_t i = 0; i < answers.size(); ++i) {
      EXPECT_TRUE(answers[i].value("ok", false)) << texts_[i] << answers[i].dump();
    }
    std::printf("%zu models, and %d that cannot be written at opset 17\n", answers.size(),
                refused_);
  }

  std::vector<Json> requests_;
  std::vector<std::string> texts_;
  int number_ = 0, refused_ = 0;
  fs::path oracle_;
};

Model Parse(const std::string& text, const std::string& domain) {
  auto model = ModelFromText(text, "onnx", 17, {{domain, 1}});
  EXPECT_TRUE(model.ok()) << model.status() << "\n" << text;
  if (!model.ok()) return Model();
  model->ir_version = 10;
  return *std::move(model);
}

TEST_F(Oracle, OpsOfComMicrosoft) {
  const char* only = std::getenv("X2IR_CASES");
  std::vector<ContribRow> rows = ContribRows();
  for (ContribRow& row : ContribLlmRows()) rows.push_back(std::move(row));
  for (const ContribRow& row : rows) {
    const std::string text =
        StrCat("graph g(", row.inputs, ") -> (", row.outputs, ") { ", row.body, " }");
    if (only && text.find(only) == text.npos) continue;
    Add(
        text, [&] { return Parse(text, "com.microsoft"); }, row.rtol, row.scale);
  }
  Judge();
}

// docs/runtimes.md: what x2ir writes instead is read as it is meant.
TEST_F(Oracle, FormsThatRuntimesReadDifferently) {
  const struct {
    const char *inputs, *lines;
    std::vector<int> opsets;
  } rows[] = {
      {"x: float32[1,2,6,6]",
       "y = average_pool(x) { kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1, "
       "count_include_pad = 1 }",
       {10, 11, 13, 18, 19, 22}},
      {"x: float32[1,2,6,7]",
       "y = average_pool(x) { kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], "
       "ceil_mode = 1, count_include_pad = 1 }",
       {10, 11, 13, 18, 19, 22}},
      {"x: float32[n,2,5,8]",
       "y = average_pool(x) { kernel_shape = [2, 3], strides = [4, 2], pads = [1, 0, 1, 0], "
       "ceil_mode = 1, count_include_pad = 1 }",
       {10, 13, 18, 19, 22}},
      {"x: float32[1,2,h,w]",
       "y = average_pool(x) { kernel_shape = [3, 2], strides = [2, 3], ceil_mode = 1, "
       "count_include_pad = 1 }",
       {10, 13, 18, 19, 22}},
      {"x: float32[1,2,8,7]",
       "y = average_pool(x) { kernel_shape = [2, 1], strides = [4, 2], pads = [1, 0, 1, 0], "
       "count_include_pad = 1 }",
       {11, 18, 19, 22}},
      {"x: float32[1,2,h,w], w: float32[3,2,3,2]",
       "y = conv(x, w) { auto_pad = \"SAME_UPPER\", dilations = [2, 3] }",
       {11, 18, 22}},
      {"x: float32[1,2,7,8], w: float32[3,2,3,2]",
       "y = conv(x, w) { auto_pad = \"SAME_LOWER\", dilations = [2, 3], strides = [2, 3] }",
       {11, 18, 22}},
      {"x: float32[1,2,7,8]",
       "y = max_pool(x) { kernel_shape = [3, 2], auto_pad = \"SAME_LOWER\", dilations = [2, 3], "
       "strides = [2, 1] }",
       {10, 12, 18, 22}},
      {"x: float32[1,2,h,w]",
       "y = max_pool(x) { kernel_shape = [3, 3], pads = [4, 4, 4, 4], dilations = [4, 4] }",
       {11, 12, 18, 22}},
      {"x: float32[1,2,h,w]",
       "p = int64[8]{0, 0, 1, 1, 0, 0, 1, 1} a = pad(x, p) b = neg(a) c = abs(b) d = neg(c) "
       "e = pad(d, p) y = max_pool(e) { kernel_shape = [3, 3], strides = [2, 2] }",
       {10, 11, 13, 17, 18}},
      {"x: float32[1,1,3,3]",
       "s = float32[]{0.05} z = uint8[]{128} q = quantize_linear(x, s, z) d = dequantize_linear(q, "
       "s, "
       "z) w = int8[2,1,2,2]{1, -2, 3, 4, 5, 6, -7, 8} t = float32[2]{0.1, 0.2} p = int8[2]{1, -3} "
       "v = dequantize_linear(w, t, p) { axis = 0 } c = conv(d, v) r = quantize_linear(c, s, z) "
       "y = dequantize_linear(r, s, z)",
       {13, 17, 19, 21}},
      {"x: int64[5]", "k = int64[]{31} y = pow(x, k)", {7, 12, 13, 15}},
      {"x: int32[5]", "k = int32[]{5} y = pow(x, k)", {7, 12, 13, 15}},
      // Remainders of numbers that float64 does not hold, and of the least one by -1.
      {"x: int64[50], z: int64[2,50]",
       "k = int64[]{-7046029254386353131} a = mul(x, k) d = mul(z, k) e = mod(a, d) { fmod = 1 } "
       "f = mod(a, z) { fmod = 1 } y = concat(e, f) { axis = 0 }",
       {9, 10, 13, 17, 22}},
      {"x: uint64[50], z: uint64[2,50]",
       "k = uint64[]{11400714819323198485} a = mul(x, k) d = mul(z, k) "
       "e = mod(a, d) { fmod = 1 } f = mod(a, z) { fmod = 1 } y = concat(e, f) { axis = 0 }",
       {10, 13, 17, 22}},
      {"x: int64[50,1]",
       "k = int64[]{-7046029254386353131} z = int64[]{0} l = int64[]{-9223372036854775808} "
       "m = int64[6]{-1, 1000, -1000, 9223372036854775807, -9223372036854775808, 3} "
       "a = mul(x, k) b = mul(x, z) c = add(b, l) e = mod(a, m) { fmod = 1 } "
       "f = mod(c, m) { fmod = 1 } y = concat(e, f) { axis = 0 }",
       {10, 13, 17, 22}},
      // Products with large odd numbers have bits at all places, that of the sign too.
      {"x: int64[2,1,5], z: int64[3,5]",
       "k = int64[]{-7046029254386353131} a = mul(x, k) b = mul(z, k) y = bitwise_and(a, b)",
       {10, 13, 17, 18}},
      {"x: int64[5], z: int64[3,5]",
       "k = int64[]{-7046029254386353131} a = mul(x, k) b = mul(z, k) y = bitwise_or(a, b)",
       {10, 13, 17, 18}},
      {"x: int64[5], z: int64[3,5]",
       "k = int64[]{-7046029254386353131} a = mul(x, k) b = mul(z, k) y = bitwise_xor(a, b)",
       {10, 13, 17, 18}},
      {"x: int64[n], z: int64[]",
       "k = int64[]{-7046029254386353131} a = mul(x, k) c = bitwise_not(a) y = bitwise_or(c, z)",
       {10, 13, 17, 18}},
      {"x: uint64[5], z: uint64[3,5]",
       "k = uint64[]{11400714819323198485} a = mul(x, k) b = mul(z, k) y = bitwise_xor(a, b)",
       {10, 13, 17, 18}},
      {"x: int32[5], z: int32[3,5]",
       "k = int32[]{-1640531535} a = mul(x, k) b = mul(z, k) y = bitwise_xor(a, b)",
       {10, 13, 17, 18}},
      {"x: uint32[5], z: uint32[3,5]",
       "k = uint32[]{2654435769} a = mul(x, k) b = mul(z, k) y = bitwise_and(a, b)",
       {10, 13, 17, 18}},
      {"x: int16[5], z: int16[3,5]", "y = bitwise_xor(x, z)", {10, 13, 17, 18}},
      {"x: int64[2,0], z: int64[0]", "y = bitwise_xor(x, z)", {10, 13, 17, 18}},
      {"x: int32[0,3,1], z: int32[]", "y = bitwise_or(x, z)", {10, 13, 17, 18}},
      {"x: uint8[], z: uint8[]", "y = bitwise_and(x, z)", {10, 13, 17, 18}},
      {"x: uint8[5], z: uint8[3,5]", "y = bitwise_or(x, z)", {10, 13, 17, 18}},
      // Not that the runtime computes an Atan of float64: it is none.
      {"x: float64[200]", "k = float64[]{40} a = mul(x, k) y = atan(a)", {7, 9, 13, 17, 18, 22}},
      {"x: float64[200]",
       "k = float64[]{40} a = mul(x, k) b = asinh(a) c = erf(x) e = abs(a) f = acosh(e) "
       "y = concat(b, c, f) { axis = 0 }",
       {9, 13, 18, 21}},
      // Zeros of both signs.
      {"x: float64[20]",
       "k = float64[]{0} a = mul(x, k) b = asinh(a) c = erf(a) d = atanh(a) e = asin(a) "
       "f = concat(b, c, d, e) { axis = 0 } y = reciprocal(f)",
       {9, 13, 18, 21}},
      {"x: float64[200]",
       "k = float64[]{0.25} a = mul(x, k) b = asin(a) c = acos(a) d = atanh(a) "
       "y = concat(b, c, d) { axis = 0 }",
       {9, 13, 18, 21}},
      {"x: float32[1,1,3,5]",
       "s = float32[4]{1, 1, 1.5, 2.6} y = resize(x, _, s) { mode = \"linear\" }",
       {10, 11, 13, 18, 19}},
      {"x: float32[2,2,6,8]",
       "y = average_pool(x) { kernel_shape = [1, 2], auto_pad = \"SAME_LOWER\", strides = [3, 1], "
       "count_include_pad = 1 }",
       {7, 11, 18, 19, 22}},
      {"x: float32[2,2,6,8]",
       "y = lp_pool(x) { kernel_shape = [1, 3], auto_pad = \"SAME_UPPER\", strides = [3, 1], p = 1 "
       "}",
       {7, 11, 18, 22}},
  };
  for (const auto& row : rows) {
    for (const int opset : row.opsets) {
      AddIr(row.inputs, row.lines, opset);
    }
  }
  Judge();
}

// Functions of recurrent ops, in each place: with numbers of their own, with some of them, and with
// the defaults, which ONNX Runtime has as 0 for some.
TEST_F(Oracle, FunctionsOfRecurrentOps) {
  const struct {
    const char *op, *operands;
    std::vector<std::string> usual;
  } cells[] = {{"rnn", "w: float32[1,2,2], r: float32[1,2,2]", {"Tanh"}},
               {"gru", "w: float32[1,6,2], r: float32[1,6,2]", {"Sigmoid", "Tanh"}},
               {"lstm", "w: float32[1,8,2], r: float32[1,8,2]", {"Sigmoid", "Tanh", "Tanh"}}};
  const std::pair<const char*, std::vector<const char*>> functions[] = {
      {"Relu", {""}},
      {"Softsign", {""}},
      {"Softplus", {""}},
      {"LeakyRelu", {"", ", activation_alpha = [0.7]"}},
      {"ThresholdedRelu", {"", ", activation_alpha = [0.3]"}},
      {"Elu", {"", ", activation_alpha = [0.7]"}},
      {"Affine",
       {"", ", activation_alpha = [0.7]", ", activation_alpha = [0.7], activation_beta = [0.4]"}},
      {"ScaledTanh",
       {"", ", activation_beta = [0.4]", ", activation_alpha = [0.7], activation_beta = [0.4]"}},
      {"hardsigmoid",
       {"", ", activation_alpha = [0.7]", ", activation_alpha = [0.7], activation_beta = [0.4]"}}};
  for (const auto& cell : cells) {
    for (const auto& [function, numbers] : functions) {
      for (size_t place = 0; place < cell.usual.size(); ++place) {
        for (const char* given : numbers) {
          std::vector<std::string> names = cell.usual;
          names[place] = function;
          AddIr(StrCat("x: float32[3,1,2], ", cell.operands),
                StrCat("y = ", cell.op, "(x, w, r) { activations = [\"",
                       absl::StrJoin(names, "\", \""), "\"]", given, " }"),
                14);
        }
      }
    }
  }
  Judge();
}

TEST_F(Oracle, LocalFunctions) {
  struct Fn {
    std::string_view body;
    std::vector<std::string> attributes{};
    std::vector<std::pair<std::string, Attribute>> defaults{};
  };
  const std::vector<Fn> functions = {
      {"graph Leaky(x: ?) -> (y) { t = onnx.LeakyRelu(x) { alpha = ref(k: float) } "
       "y = onnx.Elu(t) { alpha = ref(m: float) } }",
       {"k"},
       {{"m", 2.5f}}},
      {"graph Outer(x: ?, w: ?) -> (y, z) { t = onnx.f::Leaky(x) { k = ref(n: float) } "
       "y = onnx.MatMul(t, w) z = onnx.ReduceMean(y) { axes = ref(axes: ints), keepdims = 0 } }",
       {"n"},
       {{"axes", Attribute::Ints{1}}}},
      {"graph Bounded(x: ?, lo: ?, hi: ?) -> (y) { y = onnx.Clip(x, lo, hi) }"},
      {"graph Relu(x: ?) -> (y) { y = onnx.Neg(x) }"},
      {"graph Two(x: ?) -> (a, b, c) { a = onnx.Neg(x) b = onnx.Exp(a) c = onnx.Sin(b) }"},
  };
  for (const char* body :
       {"y = onnx.f::Leaky(x) { k = 0.25 }", "y = onnx.f::Leaky(x)",
        "y = onnx.f::Leaky(x) { k = 0.25, m = 0.5 }", "y, _ = onnx.f::Outer(x, w) { n = 0.125 }",
        "_, y = onnx.f::Outer(x, w)",
        "_, t = onnx.f::Outer(x, w) { axes = [0] } "
        "y, _ = onnx.f::Outer(x, w) { n = 0.7 } z = onnx.Add(t, y)",
        "t = onnx.Constant() { value_float = 0.5 } y = onnx.f::Bounded(x, _, t)",
        "y = onnx.f::Bounded(x)", "y = onnx.f::Relu(x)", "y, t, _ = onnx.f::Two(x)"}) {
    const std::string text =
        StrCat("graph g(x: float32[3,4], w: float32[4,5]) -> (y) { ", body, " }");
    Add(
        text,
        [&] {
          Model model = Parse(text, "f");
          for (const Fn& fn : functions) {
            auto function = std::make_shared<Function>();
            function->body = *ParseGraph(fn.body);
            function->domain = "f";
            function->name = function->body->name();
            function->attributes = fn.attributes;
            function->attribute_defaults = fn.defaults;
            function->opset_imports = {{"", 17}, {"f", 1}};
            model.functions.push_back(std::move(function));
          }
          return model;
        },
        1e-5, 1);
  }
  Judge();
}

// With `contrib`: attention as ONNX Runtime's own ops have it.
TEST_F(Oracle, ContribAttentionIsWritten) {
  const char* const kQkv = "q: float32[2,3,16], k: float32[2,3,16], v: float32[2,3,16]";
  const char* const kShared = "q: float32[2,3,32], k: float32[2,3,16], v: float32[2,3,16]";
  const char* const kHeads = "q_num_heads = 2, kv_num_heads = 2";
  const struct {
    std::string inputs, lines;
  } rows[] = {
      {kQkv, StrCat("y = attention(q, k, v) { ", kHeads, " }")},
      {kQkv, StrCat("y = attention(q, k, v) { is_causal = 1, scale = 0.5, ", kHeads, " }")},
      // The second query of the first sequence may look at nothing.
      {StrCat(kQkv, ", x: float32[2,1,3,1]"),
       StrCat("a = bool[2,1,3,3]{true,false,true, false,false,false, true,true,true, "
              "false,false,true, true,true,false, false,true,true} "
              "t = float32[]{-9} n = greater(x, t) m = and(a, n) y = attention(q, k, v, m) { ",
              kHeads, " }")},
      {kQkv, StrCat("m = bool[1,1,3,3]{true,false,true, false,false,false, true,true,true} "
                    "y = attention(q, k, v, m) { ",
                    kHeads, " }")},
      {StrCat(kQkv, ", m: float32[2,1,3,3]"), StrCat("y = attention(q, k, v, m) { ", kHeads, " }")},
      {kShared, "y = attention(q, k, v) { is_causal = 1, q_num_heads = 4, kv_num_heads = 2 }"},
      {"x: float32[2,4,3,8]",
       "i = int64[2,3]{0, 1, 2, 2, 1, 0} c = float32[3,4]{1, 0.5, 0.25, 0.5, 0, 1, 0.125, 0.5, 1, "
       "0.25, 0, 0.5} s = float32[3,4]{0, 0.5, 0.75, 0.25, 1, 0, 0.5, 1, 0.25, 0, 0.5, 0.125} "
       "y = rotary_embedding(x, c, s, i)"},
  };
  for (const auto& row : rows) AddIr(row.inputs, row.lines, 23, /*contrib=*/true);
  Judge();
}

}  // namespace
}  // namespace x2ir
