// Python that x2ir writes, as text: golden files of small networks, names of all kinds, options.
//
//   X2IR_UPDATE_GOLDEN=1 build/tests/x2ir_python_test     writes the golden files anew

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/golden/golden_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/python/classes_internal.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// What is written for a graph of ONNX at opset 17: its inputs but those that begin with "in" are
// weights; all have the same numbers, or no two are alike.
struct Written {
  std::string status, code;
  Safetensors weights;
};

Written Write(Model model, const FormatOptions& options = {}, const std::string& format = "") {
  Written written;
  ExportOptions how;
  how.format = format;
  how.format_options = options;
  how.format_options.Set("force", true);
  const TempDir dir;
  const std::string path = dir.Path("net.py"), weights = dir.Path("net.safetensors");
  const absl::Status status = Export(std::move(model), path, how);
  written.status = status.ok() ? "" : std::string(status.message());
  written.code = ReadFile(path);
  if (fs::exists(weights)) written.weights = *ReadSafetensors(weights);
  return written;
}

// `edit` changes the graph of ONNX's nodes.
Written WriteText(const std::string& text, const FormatOptions& options = {},
                  const std::string& format = "", const std::function<void(Graph&)>& edit = nullptr,
                  bool alike = false) {
  auto model = ModelFromText(text, "onnx", 17);
  if (!model.ok()) return {std::string(model.status().message()), "", {}};
  const std::vector<Value*> inputs = model->graph->inputs();
  int number = 0;
  for (Value* input : inputs) {
    if (input->name().starts_with("in")) continue;
    Tensor weight = Tensor::Zeros(input->dtype(), *input->shape()->Static());
    weight.mutable_bytes()[2] = static_cast<std::byte>(alike ? 1 : ++number);
    model->graph->SetDefault(input, weight);
    model->graph->FreezeInput(input);
  }
  model->source_dialect = "onnx";
  if (edit) edit(*model->graph);
  const absl::Status status = ToIr(*model);
  if (!status.ok()) return {std::string(status.message()), "", {}};
  return Write(*std::move(model), options, format);
}

int CountOf(std::string_view text, std::string_view what) {
  int count = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

std::vector<std::string> KeysOf(const Written& written) {
  std::vector<std::string> keys;
  for (const NamedTensor& entry : written.weights.tensors) keys.push_back(entry.name);
  std::sort(keys.begin(), keys.end());
  return keys;
}

constexpr std::string_view kSmall[][2] = {
    {"blocks", R"(graph g(in_0: float32[1,3,8,8],
      features.0.conv.weight: float32[8,3,3,3], features.0.bn.weight: float32[8],
      features.0.bn.bias: float32[8], features.0.bn.running_mean: float32[8],
      features.0.bn.running_var: float32[8],
      features.1.conv.weight: float32[16,8,3,3], features.1.bn.weight: float32[16],
      features.1.bn.bias: float32[16], features.1.bn.running_mean: float32[16],
      features.1.bn.running_var: float32[16],
      classifier.weight: float32[10,16], classifier.bias: float32[10]) -> (out) {
      a = onnx.Conv(in_0, features.0.conv.weight) { pads = [1,1,1,1] } "/features/features.0/conv/Conv"
      b = onnx.BatchNormalization(a, features.0.bn.weight, features.0.bn.bias,
          features.0.bn.running_mean, features.0.bn.running_var) "/features/features.0/bn/Norm"
      c = onnx.Relu(b) "/features/features.0/Relu"
      d = onnx.Conv(c, features.1.conv.weight) { pads = [1,1,1,1], strides = [2,2] }
          "/features/features.1/conv/Conv"
      e = onnx.BatchNormalization(d, features.1.bn.weight, features.1.bn.bias,
          features.1.bn.running_mean, features.1.bn.running_var) "/features/features.1/bn/Norm"
      f = onnx.Relu(e) "/features/features.1/Relu"
      g = onnx.GlobalAveragePool(f) "/GlobalAveragePool"
      h = onnx.Flatten(g) "/Flatten"
      out = onnx.Gemm(h, classifier.weight, classifier.bias) { transB = 1 } "/classifier/Gemm" })"},
    {"loop", R"(graph g(in_0: float32[batch,4,16], in_1: float32[batch,1,16],
      layer.0.fc.bias: float32[16], layer.1.fc.bias: float32[16], layer.2.fc.bias: float32[16],
      w0: float32[16,16], w1: float32[16,16], w2: float32[16,16]) -> (out) {
      a = onnx.MatMul(in_0, w0) "/layer.0/fc/MatMul"
      b = onnx.Add(a, layer.0.fc.bias) "/layer.0/fc/Add"
      c = onnx.Mul(b, in_1) "/layer.0/Mul"
      d = onnx.MatMul(c, w1) "/layer.1/fc/MatMul"
      e = onnx.Add(d, layer.1.fc.bias) "/layer.1/fc/Add"
      f = onnx.Mul(e, in_1) "/layer.1/Mul"
      g = onnx.MatMul(f, w2) "/layer.2/fc/MatMul"
      h = onnx.Add(g, layer.2.fc.bias) "/layer.2/fc/Add"
      out = onnx.Mul(h, in_1) "/layer.2/Mul" })"},
    {"outputs", R"(graph g(in_0: float32[2,3]) -> (sum, class, sum.1) {
      sum = onnx.Add(in_0, in_0) "/Add" class = onnx.Relu(in_0) "/Relu" sum.1 = onnx.Exp(in_0) "/Exp" })"},
    {"sizes", R"(graph g(in_0: float32[batch,seq,8]) -> (out) {
      two = int64[1]{2} four = int64[1]{4} i0 = int64[1]{0} i1 = int64[1]{1}
      s = onnx.Shape(in_0) b = onnx.Gather(s, i0) n = onnx.Gather(s, i1) twice = onnx.Mul(n, two)
      to = onnx.Concat(b, twice, four) { axis = 0 }
      y = onnx.Reshape(in_0, to) "/Reshape" out = onnx.Exp(y) "/Exp" })"},
    {"affine", R"(graph g(in_0: float32[2,4], h.c_fc.weight: float32[4,8], h.c_fc.bias: float32[8])
      -> (out) { a = onnx.MatMul(in_0, h.c_fc.weight) "/h/c_fc/MatMul"
      out = onnx.Add(a, h.c_fc.bias) "/h/c_fc/Add" })"},
    {"embedding", R"(graph g(in_0: int64[1,7], wte.weight: float32[50,16], ln.weight: float32[16],
      ln.bias: float32[16]) -> (out) { a = onnx.Gather(wte.weight, in_0) "/wte/Gather"
      b = onnx.LayerNormalization(a, ln.weight, ln.bias) "/ln/LayerNormalization"
      out = onnx.Softmax(b) { axis = -1 } "/Softmax" })"},
    // Two stages of one shape: what they differ in are arguments, in forward too.
    {"stages", R"(graph g(in_0: float32[1,8,6,6], stage.0.conv.weight: float32[4,4,3,3],
      stage.0.conv.bias: float32[4], down.weight: float32[16,8,1,1], down.bias: float32[16],
      stage.1.conv.weight: float32[8,8,3,3], stage.1.conv.bias: float32[8]) -> (out) {
      i0 = int64[1]{0} i1 = int64[1]{1} i4 = int64[1]{4} i8 = int64[1]{8} i16 = int64[1]{16}
      apart = int64[5]{1,2,4,6,6} together = int64[4]{1,8,6,6}
      apart_1 = int64[5]{1,2,8,6,6} together_1 = int64[4]{1,16,6,6}
      a = onnx.Slice(in_0, i0, i4, i1) "/stage.0/Slice" b = onnx.Slice(in_0, i4, i8, i1) "/stage.0/Slice_1"
      c = onnx.Conv(b, stage.0.conv.weight, stage.0.conv.bias) { pads = [1,1,1,1] } "/stage.0/conv/Conv"
      cat_0 = onnx.Concat(a, c) { axis = 1 } "/stage.0/Concat" view_0 = onnx.Reshape(cat_0, apart) "/stage.0/Reshape"
      t_0 = onnx.Transpose(view_0) { perm = [0,2,1,3,4] } "/stage.0/Transpose"
      g = onnx.Reshape(t_0, together) "/stage.0/Reshape_1"
      h = onnx.Conv(g, down.weight, down.bias) "/down/Conv"
      k = onnx.Slice(h, i0, i8, i1) "/stage.1/Slice" l = onnx.Slice(h, i8, i16, i1) "/stage.1/Slice_1"
      m = onnx.Conv(l, stage.1.conv.weight, stage.1.conv.bias) { pads = [1,1,1,1] } "/stage.1/conv/Conv"
      cat_1 = onnx.Concat(k, m) { axis = 1 } "/stage.1/Concat" view_1 = onnx.Reshape(cat_1, apart_1) "/stage.1/Reshape"
      t_1 = onnx.Transpose(view_1) { perm = [0,2,1,3,4] } "/stage.1/Transpose"
      out = onnx.Reshape(t_1, together_1) "/stage.1/Reshape_1" })"},
};

void CheckGolden(const std::string& name, const Written& written) {
  ASSERT_EQ(written.status, "") << name;
  ExpectGolden(StrCat("tests/golden/python/", name, ".py"), written.code);
}

TEST(PythonTest, Golden) {
  for (const auto& [name, text] : kSmall)
    CheckGolden(std::string(name), WriteText(std::string(text)));
  for (const char* name : {"demo", "gru", "unet_tiny"}) {
    auto model = Import(StrCat(X2IR_SOURCE_DIR, "/tests/data/", name, "/model.onnx"));
    ASSERT_TRUE(model.ok()) << name;
    CheckGolden(name, Write(*std::move(model)));
  }
}

TEST(PythonTest, GoldenForOneFlow) {
  for (const auto& [name, text] : kSmall) {
    CheckGolden(StrCat("oneflow/", name), WriteText(std::string(text), {}, "oneflow"));
  }
  for (const char* name : {"demo", "gru", "unet_tiny"}) {
    auto model = Import(StrCat(X2IR_SOURCE_DIR, "/tests/data/", name, "/model.onnx"));
    ASSERT_TRUE(model.ok()) << name;
    CheckGolden(StrCat("oneflow/", name), Write(*std::move(model), {}, "oneflow"));
  }
}

// Tables that code says in a few words are no weights.
TEST(PythonTest, TablesAreCode) {
  const struct {
    const char *type, *numbers, *code;
  } kRows[] = {
      {"int64[3]", "0,0,0", "torch.zeros(3, dtype=torch.int64)"},
      {"int64[1,4]", "1,1,1,1", "torch.ones(1, 4, dtype=torch.int64)"},
      {"int64[5]", "7,7,7,7,7", "torch.full((5,), 7)"},
      {"int32[3]", "-2,-2,-2", "torch.full((3,), -2, dtype=torch.int32)"},
      {"bool[3]", "1,1,1", "torch.ones(3, dtype=torch.bool)"},
      {"int64[6]", "0,1,2,3,4,5", "torch.arange(6)"},
      {"int64[1,6]", "0,1,2,3,4,5", "torch.arange(6).reshape(1, 6)"},
      {"int32[5]", "2,3,4,5,6", "torch.arange(2, 7, dtype=torch.int32)"},
      {"int64[2,3]", "0,1,2,3,4,5", "torch.tensor([[0, 1, 2], [3, 4, 5]])"},
      {"int64[4]", "1,2,4,3", "torch.tensor([1, 2, 4, 3])"},
      {"bool[2]", "1,0", ""},
      {"float32[2,2]", "3.4028235e38,3.4028235e38,3.4028235e38,3.4028235e38",
       "torch.full((2, 2), 3.4028234663852886e38)"},
  };
  for (const auto& row : kRows) {
    const Written written =
        WriteText(StrCat("graph g(in_0: ", row.type, ") -> (y) { k_output_0 = ", row.type, "{",
                         row.numbers, "} y = onnx.Concat(in_0, k_output_0) { axis = 0 } }"));
    EXPECT_EQ(written.status, "") << row.type;
    EXPECT_THAT(written.code, HasSubstr(row.code)) << row.numbers;
    EXPECT_EQ(KeysOf(written).empty(), *row.code != '\0') << row.numbers;
  }
}

// What OneFlow has otherwise than PyTorch, and what it has not.
TEST(PythonTest, OneFlowsOwnWays) {
  const struct {
    const char *types, *node, *code;
  } kRows[] = {
      {"in_0: float32[4], in_1: float32[4]", "onnx.Mod(in_0, in_1) { fmod = 1 }",
       "flow.fmod(in_0, in_1)"},
      {"in_0: int64[4], in_1: int64[4]", "onnx.Mod(in_0, in_1)", "remainder(in_0, in_1)"},
      {"in_0: bool[4], in_1: bool[4]", "onnx.And(in_0, in_1)", "in_0 & in_1"},
      {"in_0: float32[2,3]", "onnx.LeakyRelu(in_0)", "F.leaky_relu(in_0, 0.01)"},
      {"in_0: bool[4]", "onnx.Not(in_0)", "flow.logical_not(in_0)"},
      {"in_0: float32[2,3]", "onnx.NonZero(in_0)", "flow.nonzero(in_0).to(flow.int64)"},
      {"in_0: uint8[4], in_1: uint8[4]", "onnx.BitShift(in_0, in_1) { direction = \"LEFT\" }",
       "!OneFlow has no aten::bitwise_left_shift"},
      {"in_0: int16[4]", "onnx.Abs(in_0)", "!OneFlow has no aten::abs.default of int16"},
      {"in_0: float32[2,2]", "onnx.Det(in_0)", "flow.det(in_0)"},
  };
  for (const auto& row : kRows) {
    const Written written =
        WriteText(StrCat("graph g(", row.types, ") -> (y) { y = ", row.node, " }"), {}, "oneflow");
    const std::string code = row.code;
    if (code.starts_with('!')) {
      EXPECT_THAT(written.status, HasSubstr(code.substr(1))) << row.node;
      EXPECT_EQ(written.code, "");
    } else {
      EXPECT_EQ(written.status, "") << row.node;
      EXPECT_THAT(written.code, HasSubstr(code)) << row.node;
    }
    EXPECT_THAT(written.code, Not(HasSubstr("torch"))) << row.node;
  }
}

// A name alone says PyTorch.
TEST(PythonTest, OneFlowIsAskedForByName) {
  EXPECT_EQ(FormatOfExtension("model.py")->name, "python");
  EXPECT_EQ((*FormatToWrite("oneflow", "model.py"))->name, "oneflow");
}

// No line is longer than black's, but where a name or a string is.
TEST(PythonTest, LinesAreShort) {
  for (const auto& entry :
       fs::recursive_directory_iterator(StrCat(X2IR_SOURCE_DIR, "/tests/golden/python"))) {
    if (entry.is_directory()) continue;
    const std::string code = ReadFile(entry.path());
    size_t start = 0;
    for (size_t end = code.find('\n'); end != code.npos; end = code.find('\n', start)) {
      EXPECT_LE(end - start, 88u) << entry.path() << ": " << code.substr(start, end - start);
      start = end + 1;
    }
  }
}

// Black leaves the files as they are.
TEST(PythonTest, BlackChangesNothing) {
  if (std::system("black --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no black (Debian: black)";
  const std::string command = StrCat("black --check -q ", X2IR_SOURCE_DIR, "/tests/golden/python");
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

// A comma behind an index, or behind what is only in parentheses, would make a tuple of it.
TEST(PythonTest, LongLinesMeanTheSame) {
  const std::string a(60, 'a'), b(60, 'b');
  const std::pair<std::string, std::string> rows[] = {
      {StrCat("self.", a, "[0].", b), StrCat("self.", a, "[\n    0\n].", b, "\n")},
      {StrCat(a, "[", b, "]"), StrCat(a, "[\n    ", b, "\n]\n")},
      {StrCat(a, " * (", b, ")"), StrCat(a, " * (\n    ", b, "\n)\n")},
      {StrCat(a, "(", b, ")"), StrCat(a, "(\n    ", b, "\n)\n")},
      {StrCat("self.", a, "(", b, ", ", b, ")"),
       StrCat("self.", a, "(\n    ", b, ",\n    ", b, ",\n)\n")},
  };
  for (const auto& [line, want] : rows) {
    std::string out;
    python::AppendLine(out, 0, line);
    EXPECT_EQ(out, want);
  }
}

TEST(PythonTest, KeysAreTheSourcesNames) {
  const Written loop = WriteText(std::string(kSmall[1][1]));
  EXPECT_EQ(loop.status, "");
  EXPECT_EQ(KeysOf(loop), (std::vector<std::string>{"layer.0.fc.bias", "layer.0.fc.weight.T",
                                                    "layer.1.fc.bias", "layer.1.fc.weight.T",
                                                    "layer.2.fc.bias", "layer.2.fc.weight.T"}));
  const auto& notes = loop.weights.metadata;
  EXPECT_NE(std::find(notes.begin(), notes.end(),
                      std::pair<std::string, std::string>("x2ir.name.layer.0.fc.weight.T", "w0")),
            notes.end());
  // A weight with a name stays as it is.
  EXPECT_EQ(KeysOf(WriteText(std::string(kSmall[4][1]))),
            (std::vector<std::string>{"h.c_fc.bias", "h.c_fc.weight"}));
}

// Fresh norms have ones and zeros: each keeps its own, to be trained or loaded. What two modules
// both compute stays in both.
TEST(PythonTest, ModulesShareNothing) {
  const Written written = WriteText(
      "graph g(in_0: float32[2,3], in_1: float32[2,3], a.norm.weight: float32[3],\n"
      "        b.norm.weight: float32[3]) -> (y, z) {\n"
      "n = onnx.Mul(in_0, a.norm.weight) \"/a/norm/Mul\"\n"
      "m = onnx.Mul(in_0, b.norm.weight) \"/b/norm/Mul\"\n"
      "c = onnx.Tanh(in_1) \"/a/Tanh\"\n"
      "d = onnx.Tanh(in_1) \"/b/Tanh\"\n"
      "y = onnx.Add(n, c) \"/a/Add\"\n"
      "z = onnx.Add(m, d) \"/b/Add\"\n}",
      {}, "", nullptr, /*alike=*/true);
  EXPECT_EQ(written.status, "");
  EXPECT_EQ(KeysOf(written), (std::vector<std::string>{"a.norm.weight", "b.norm.weight"}));
  EXPECT_THAT(written.code, HasSubstr("class A(")) << "one class for both";
  EXPECT_THAT(written.code, Not(HasSubstr("class B(")));
}

// Two blocks of a linear layer and a gelu that is spelled out, whose nodes have names that say
// nothing.
constexpr std::string_view kTwoBlocks = R"(graph g(in_0: float32[2,8],
      blocks.0.fc.weight: float32[8,8], blocks.0.fc.bias: float32[8],
      blocks.1.fc.weight: float32[8,8], blocks.1.fc.bias: float32[8]) -> (out) {
      one = float32[1]{1.0} half = float32[1]{0.5} root = float32[1]{1.4142135}
      a = onnx.Gemm(in_0, blocks.0.fc.weight, blocks.0.fc.bias) { transB = 1 } "0"
      b = onnx.Div(a, root) "1" c = onnx.Erf(b) "2" d = onnx.Add(c, one) "3" e = onnx.Mul(a, d) "4"
      f = onnx.Mul(e, half) "5" g = onnx.Add(f, in_0) "6"
      h = onnx.Gemm(g, blocks.1.fc.weight, blocks.1.fc.bias) { transB = 1 } "7"
      i = onnx.Div(h, root) "8" j = onnx.Erf(i) "9" k = onnx.Add(j, one) "10" l = onnx.Mul(h, k) "11"
      m = onnx.Mul(l, half) "12" out = onnx.Add(m, g) "13" })";

// Metadata as torch.onnx.export writes it.
void TellScopes(Graph& graph, const std::string& names, const std::string& classes) {
  for (Node* node : graph.nodes()) {
    const int number = std::stoi(node->name());
    const std::string block = StrCat("blocks.", number / 7);
    const bool linear = number % 7 == 0, outside = number % 7 == 6;
    const std::string inner = StrCat(", '", block, linear ? ".fc'" : ".act'");
    const std::string type =
        linear ? ", 'torch.nn.modules.linear.Linear'" : ", 'torch.nn.modules.activation.GELU'";
    auto& metadata = node->annotations().GetOrMake().metadata;
    metadata.emplace_back("pkg.torch.onnx.name_scopes",
                          StrCat("['', '", block, "'", outside ? "" : inner, ", 'node']", names));
    metadata.emplace_back(
        "pkg.torch.onnx.class_hierarchy",
        StrCat("['net.Model', \"", classes, "\"", outside ? "" : type, ", 'aten']"));
  }
}

TEST(PythonTest, ScopesAreThoseOfTheMetadata) {
  const Written written = WriteText(std::string(kTwoBlocks), {}, "", [](Graph& graph) {
    TellScopes(graph, "", "net.blocks.MyBlock");
  });
  EXPECT_EQ(written.status, "");
  EXPECT_THAT(written.code, HasSubstr("class MyBlock(nn.Module):\n"
                                      "    def __init__(self):\n"
                                      "        super().__init__()\n"
                                      "        self.fc = nn.Linear(8, 8)\n\n"
                                      "    def forward(self, x):\n"
                                      "        return F.gelu(self.fc(x)) + x\n"));
  EXPECT_THAT(written.code, HasSubstr("self.blocks = nn.Sequential(MyBlock(), MyBlock())"));
  // What is no list, and what is no name, says nothing.
  for (const auto& [names, type] :
       {std::pair("x", "net.MyBlock"), {"", "net.x'); import os  #"}, {"", "\\"}, {"[", ""}}) {
    const Written odd = WriteText(std::string(kTwoBlocks), {}, "",
                                  [&](Graph& graph) { TellScopes(graph, names, type); });
    EXPECT_EQ(odd.status, "") << type;
    EXPECT_THAT(odd.code, Not(HasSubstr("import os"))) << type;
    EXPECT_THAT(odd.code, HasSubstr("blocks")) << type;
  }
}

// A layer that is called twice is one module, where the calls' module has it.
TEST(PythonTest, LayersAreShared) {
  const std::string head =
      "graph g(in_0: float32[2,8], a.fc.weight: float32[8,8], a.fc.bias: float32[8]) -> (y) {\n";
  for (const char* scope : {"/a/fc/Gemm_1", "/a/fc_1/Gemm", "/a/Gemm"}) {
    const Written twice = WriteText(
        StrCat(head, "x = onnx.Gemm(in_0, a.fc.weight, a.fc.bias) { transB = 1 } \"/a/fc/Gemm\"\n",
               "r = onnx.Relu(x) \"/a/Relu\"\n",
               "y = onnx.Gemm(r, a.fc.weight, a.fc.bias) { transB = 1 } \"", scope, "\" }"));
    EXPECT_EQ(twice.status, "");
    EXPECT_THAT(twice.code, HasSubstr("return self.fc(F.relu(self.fc(x)))")) << scope;
    EXPECT_EQ(KeysOf(twice), (std::vector<std::string>{"a.fc.bias", "a.fc.weight"}));
  }
  // Elsewhere its weights are handed over.
  const Written elsewhere = WriteText(
      StrCat(head, "x = onnx.Gemm(in_0, a.fc.weight, a.fc.bias) { transB = 1 } \"/a/fc/Gemm\"\n",
             "r = onnx.Relu(x) \"/Relu\"\n",
             "y = onnx.Gemm(r, a.fc.weight, a.fc.bias) { transB = 1 } \"/b/fc/Gemm\" }"));
  EXPECT_EQ(elsewhere.status, "");
  EXPECT_THAT(elsewhere.code, HasSubstr("F.linear("));
}

// Scopes of TensorFlow and TFLite that hold one layer, one module or one weight are no classes;
// what PyTorch calls a module stays one. `code` is written, `keys` are the weights.
struct Scopes {
  const char* what;
  std::string graph;
  std::vector<std::string> code, keys;
  int classes = 1;
};

std::vector<Scopes> ScopeRows() {
  const std::string conv = "graph g(in_0: float32[1,8,6,6], ";
  return {
      {"layers in scopes of their own, with a call beside",
       StrCat(
           conv, "m/n/c/Conv2D/V: float32[8,8,3,3], m/n/c/BiasAdd/V/x: float32[8],\n",
           "m/n/d/Conv2D/V: float32[4,8,1,1]) -> (y) {\n",
           "a = onnx.Conv(in_0, m/n/c/Conv2D/V, m/n/c/BiasAdd/V/x) \"m/n/c/Conv2D\"\n",
           "b = onnx.Relu(a) \"m/n/c/Relu\" y = onnx.Conv(b, m/n/d/Conv2D/V) \"m/n/d/Conv2D\" }"),
       {"self.c = nn.Conv2d(8, 8, kernel_size=3)\n", "return self.d(F.relu(self.c(in_0)))"},
       {"c.bias", "c.weight", "d.weight"}},
      {"names joined, of which the last is the convolution's",
       StrCat(
           conv, "\"m/r/Relu;m/b/Fused;m/c/Conv2D\": float32[8,8,3,3],\n",
           "m/b/Fused: float32[8], m/d/Conv2D: float32[4,8,1,1]) -> (y) {\n",
           "a = onnx.Conv(in_0, \"m/r/Relu;m/b/Fused;m/c/Conv2D\", m/b/Fused) \"m/r/Relu;m/c\"\n",
           "y = onnx.Conv(a, m/d/Conv2D) \"m/d/Conv2D\" }"),
       {"return self.d(self.c(in_0))"},
       {"c.bias", "c.weight", "d.weight"}},
      {"a weight alone",
       StrCat(conv, "m/s/v: float32[6,6], m/c/Conv2D/V: float32[4,8,1,1]) -> (y) {\n",
              "a = onnx.Mul(in_0, m/s/v) \"m/s/Mul\"\n",
              "y = onnx.Conv(a, m/c/Conv2D/V) \"m/c/Conv2D\" }"),
       {"self.s = nn.Parameter(torch.empty(6, 6))\n", "self.c(in_0 * self.s)"},
       {"c.weight", "s"}},
      {"blocks of other sizes",
       StrCat(conv, "m/p/v: float32[6], m/p/w: float32[6], m/q/v: float32[4], m/q/w: float32[4],\n",
              "m/c/Conv2D: float32[8,8,3,3]) -> (y) {\n",
              "a = onnx.Mul(in_0, m/p/v) \"m/p/Mul\" b = onnx.Add(a, m/p/w) \"m/p/Add\"\n",
              "c = onnx.Conv(b, m/c/Conv2D) \"m/c/Conv2D\"\n",
              "d = onnx.Mul(c, m/q/v) \"m/q/Mul\" y = onnx.Add(d, m/q/w) \"m/q/Add\" }"),
       {"self.v = nn.Parameter(torch.empty(channels))\n", "self.q = P(4)\n"},
       {"c.weight", "p.v", "p.w", "q.v", "q.w"},
       2},
      {"one bias of many layers",
       StrCat(conv, "m/c/Conv2D: float32[8,8,3,3], m/d/Conv2D: float32[8,8,3,3],\n",
              "zeros: float32[8]) -> (y) {\n",
              "a = onnx.Conv(in_0, m/c/Conv2D, zeros) \"m/c/Conv2D\"\n",
              "y = onnx.Conv(a, m/d/Conv2D, zeros) \"m/d/Conv2D\" }"),
       {"self.d = nn.Conv2d(8, 8, kernel_size=3)\n"},
       {"c.bias", "c.weight", "d.bias", "d.weight"}},
      {"a sum that is a bias, and a clamp that is relu6",
       StrCat(conv, "m/c/Conv2D: float32[4,8,1,1], m/c/offset: float32[4,1,1]) -> (y) {\n",
              "lo = float32[]{0} hi = float32[]{6}\n",
              "a = onnx.Conv(in_0, m/c/Conv2D) \"m/c/Conv2D\" b = onnx.Add(a, m/c/offset) "
              "\"m/c/Add\"\n",
              "y = onnx.Clip(b, lo, hi) \"m/c/Relu6\" }"),
       {"nn.Conv2d(8, 4, kernel_size=1)\n", "return F.relu6(self."},
       {"m.bias", "m.weight"}},
      {"layers of one scope, which is called as a bias of one of them says",
       StrCat("graph g(in_0: float32[2,8], q: float32[8,8], k: float32[8,8], m/it/b: float32[8]) "
              "-> (y) {\n",
              "a = onnx.MatMul(in_0, q) \"m/it/MatMul\" b = onnx.Relu(a) \"m/it/Relu\"\n",
              "c = onnx.MatMul(b, k) \"m/it/MatMul_1\" y = onnx.Add(c, m/it/b) \"m/it/Add\" }"),
       {"return self.add(F.relu(self.matmul(in_0)))"},
       {"add.bias", "add.weight.T", "matmul.weight.T"}},
      {"modules of PyTorch",
       StrCat(conv, "m.n.c.weight: float32[8,8,3,3]) -> (y) {\n",
              "y = onnx.Conv(in_0, m.n.c.weight) \"/m/n/c/Conv\" }"),
       {"class N(", "class M("},
       {"m.n.c.weight"},
       3},
  };
}

TEST(PythonTest, WhatOnlyWrapsIsNoModule) {
  for (const Scopes& row : ScopeRows()) {
    SCOPED_TRACE(row.what);
    const Written written = WriteText(row.graph);
    EXPECT_EQ(written.status, "");
    for (const std::string& code : row.code) EXPECT_THAT(written.code, HasSubstr(code));
    EXPECT_EQ(KeysOf(written), row.keys);
    EXPECT_EQ(CountOf(written.code, "\nclass "), row.classes) << written.code;
  }
}

// Queries and keys that have the root of the scale each are attention, too.
TEST(PythonTest, AttentionIsFound) {
  const Written written = WriteText(
      "graph g(in_0: float32[1,4,5,8], in_1: float32[1,5,4,8], in_2: float32[1,4,5,8]) -> (y) {\n"
      "s = float32[1]{0.59460354}\n"
      "k = onnx.Transpose(in_1) { perm = [0,2,3,1] } q = onnx.Mul(in_0, s) r = onnx.Mul(k, s)\n"
      "p = onnx.MatMul(q, r) w = onnx.Softmax(p) { axis = -1 } y = onnx.MatMul(w, in_2) }");
  EXPECT_EQ(written.status, "");
  EXPECT_THAT(written.code, HasSubstr("scaled_dot_product_attention(in_0, "));
  EXPECT_THAT(written.code, Not(HasSubstr("0.59")));
}

// A class for the module `f` must not hide torch.nn.functional, which is F.
TEST(PythonTest, ClassesHideNoNames) {
  const Written f = WriteText(
      "graph g(in_0: float32[2,3], f.a.weight: float32[3,3], f.b.weight: float32[3,3]) -> (y) {\n"
      "a = onnx.Gemm(in_0, f.a.weight) { transB = 1 } \"/f/a/Gemm\"\n"
      "r = onnx.Relu(a) \"/f/Relu\"\n"
      "y = onnx.Gemm(r, f.b.weight) { transB = 1 } \"/f/b/Gemm\"\n}");
  EXPECT_EQ(f.status, "");
  EXPECT_THAT(f.code, HasSubstr("class F2(nn.Module)"));
  EXPECT_THAT(f.code, Not(HasSubstr("class F(")));
}

// `Model.load()` is there whether there are weights or not.
TEST(PythonTest, LoadIsAlwaysThere) {
  EXPECT_THAT(WriteText("graph g(in_0: float32[2]) -> (y) { y = onnx.Relu(in_0) }").code,
              HasSubstr("def load(cls):"));
}

TEST(PythonTest, FrozenWeightsAreNotTrained) {
  const std::string text =
      "graph g(in_0: float32[2,3], scale: float32[3]) -> (y) { y = onnx.Mul(in_0, scale) }";
  EXPECT_THAT(WriteText(text).code, HasSubstr("self.scale = nn.Parameter(torch.empty(3))"));
  const std::string frozen = WriteText(text, {{"frozen", true}}).code;
  EXPECT_THAT(frozen, HasSubstr("self.register_buffer(\"scale\", torch.empty(3))"));
  EXPECT_THAT(frozen, HasSubstr("requires_grad_(False)"));
}

// Names of values, nodes and weights, whatever they hold, make no code.
TEST(PythonTest, NamesAreNoCode) {
  const std::string names[] = {
      "\"\"\"; import os; os.system('false')  #",
      "a\nimport os\n",
      "x'); raise SystemExit(1)  # ",
      "\\",
      "\\\"\"\"",
      "lambda",
      "self",
      "None",
      "torch",
      "\xe4\xb8\xad\xe6\x96\x87",
      "\xff\xfe",
      std::string(10'000, 'n'),
      std::string("a\0b", 3),
      "{}",
      "%s%n",
      "a.forward.b",
      "__init__",
      "//..//",
      "\x01"
      "1:2\x02",
      "\x04"
      "0\x05",
  };
  std::vector<std::string> programs;
  int number = 0;
  const TempDir dir;
  const fs::path& folder = dir.path();
  std::string list;
  for (const std::string& name : names) {
    Model model;
    Graph& graph = *model.graph;
    const Type type = Type::Tensor(DType::kFloat32, Shape({Dim::Symbol(name), Dim(3)}));
    Value* x = graph.AddInput(StrCat(name, "in"), type);
    Value* w = graph.AddConstant(StrCat(name, ".weight"), Tensor::Zeros(DType::kFloat32, {3, 3}));
    Value* s = graph.AddConstant(StrCat("scope/", name), Tensor::Zeros(DType::kFloat32, {3}));
    const auto add = [&](std::string_view op, std::vector<Value*> operands,
                         const std::string& out) {
      Node* node = graph.AppendNode(kIrDialect, op, operands);
      node->set_name(StrCat("/", name, "/", out));
      return graph.AddNodeOutput(node, out, type);
    };
    Value* y = add("matmul", {x, w}, StrCat(name, "/y"));
    Value* z = add("mul", {y, s}, StrCat("/", name, "_output_0"));
    graph.AddOutput(z);
    graph.AddOutput(y);
    const fs::path path = folder / StrCat("net", number++, ".py");
    ExportOptions how;
    how.format_options = {{"force", true}};
    const absl::Status status = Export(std::move(model), path.string(), how);
    // Names that are no text cannot be written; all else can.
    if (!status.ok()) {
      EXPECT_FALSE(absl::IsInternal(status)) << status;
      continue;
    }
    const std::string code = ReadFile(path);
    EXPECT_THAT(code, Not(HasSubstr("import os"))) << name;
    EXPECT_THAT(code, Not(HasSubstr("SystemExit("))) << name;
    EXPECT_THAT(code, Not(HasSubstr(std::string(100, 'n')))) << name;
    for (const char c : code) {
      ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << "byte " << int{c} << " of " << name;
    }
    list += path.string() + "\n";
  }
  // Python itself has the last word: each is a program, and it has the functions that it should.
  WriteFile(folder / "list.txt", list);
  WriteFile(folder / "check.py",
            "import ast, sys\n"
            "for path in open(sys.argv[1]).read().split():\n"
            "    tree = ast.parse(open(path).read())\n"
            "    for node in ast.walk(tree):\n"
            "        if isinstance(node, (ast.Import, ast.ImportFrom)):\n"
            "            names = [getattr(node, 'module', None)] + [a.name for a in node.names]\n"
            "            assert not {'os', 'subprocess', 'sys'} & set(names), path\n"
            "        assert not isinstance(node, (ast.Lambda, ast.Global)), path\n");
  const std::string command =
      StrCat("python3 ", (folder / "check.py").string(), " ", (folder / "list.txt").string());
  if (std::system("python3 -c '' >/dev/null 2>&1") != 0) {
    std::printf("*** no python3: the syntax was NOT checked\n");
  } else {
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
}

TEST(PythonTest, WhatHasNoSpellingIsNamed) {
  const Written strings = WriteText(
      "graph g(in_0: string[2]) -> (y) { y = onnx.StringNormalizer(in_0) { case_change_action = "
      "\"LOWER\" } }");
  EXPECT_THAT(strings.status, HasSubstr("string_normalizer"));
  EXPECT_EQ(strings.code, "");
}

// Weights of others beside the file are not overwritten.
TEST(PythonTest, OthersWeightsStay) {
  const TempDir dir;
  const fs::path path = dir.path() / "own.py";
  const std::string weights = dir.Put("own.safetensors", "mine");
  auto model = Import(StrCat(X2IR_SOURCE_DIR, "/tests/data/gru/model.onnx"));
  ASSERT_TRUE(model.ok());
  const absl::Status status = Export(model->Clone(), path.string());
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_EQ(ReadFile(weights), "mine");
  EXPECT_TRUE(Export(model->Clone(), path.string(), {.format_options = {{"force", true}}}).ok());
  // Ours may be replaced.
  EXPECT_TRUE(Export(*std::move(model), path.string()).ok());
}

// The same model gives the same bytes.
TEST(PythonTest, IsDeterministic) {
  const auto write = [] {
    auto model = Import(StrCat(X2IR_SOURCE_DIR, "/tests/data/demo/model.onnx"));
    return Write(*std::move(model)).code;
  };
  const std::string first = write();
  EXPECT_NE(first, "");
  EXPECT_EQ(first, write());
}

}  // namespace
}  // namespace x2ir
