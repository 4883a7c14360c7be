// The programs as their users see them: command lines, exit codes, what is printed where, and
// which files there are afterwards. Every command runs in a fresh folder with the same inputs;
// it may make just the files that its row names, and may not touch the inputs.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/cli/libonnx_check.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/npy/npy.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Path below the folder -> content, of everything in it.
std::map<std::string, std::string> Snapshot(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files[fs::relative(entry.path(), folder).string()] = ReadFile(entry.path());
    }
  }
  return files;
}

Model OnnxModel(std::string_view text, int64_t opset = 17) {
  Model model;
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (graph.ok()) model.graph = *graph;
  model.source_dialect = "onnx";
  model.ir_version = 8;
  model.opset_imports = {{"", opset}, {"com.acme", 1}};
  return model;
}

// `count` occurrences of `from` in a file, the last ones, become `to` (as long).
void Patch(const fs::path& path, const std::string& from, const std::string& to) {
  std::string bytes = ReadFile(path);
  const size_t at = bytes.rfind(from);
  ASSERT_NE(at, std::string::npos) << path;
  WriteFile(path, bytes.replace(at, from.size(), to));
}

constexpr char kSmall[] = R"(graph small(x: float32[2,3]) -> (y) {
  w = float32[3]{0.5, -1, 2}
  h: float32[2,3] = onnx.Add(x, w) "first"
  y: float32[2,3] = onnx.Relu(h) "second"
})";

class Cli : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new TempDir;
    MakeInputs(dir_->path() / "inputs");
    inputs_ = new std::map<std::string, std::string>(Snapshot(dir_->path() / "inputs"));
  }
  static void TearDownTestSuite() {
    delete dir_;
    delete inputs_;
  }

  static void MakeInputs(const fs::path& in) {
    fs::create_directories(in);
    auto onnx = [&](const std::string& name, const Model& model,
                    const OnnxWriteOptions& options = {}) {
      const absl::Status status = WriteOnnx(model, in / name, options);
      ASSERT_TRUE(status.ok()) << name << ": " << status;
    };
    onnx("small.onnx", OnnxModel(kSmall));
    onnx("other.onnx", OnnxModel(R"(graph small(x: float32[2,3]) -> (y) {
        w = float32[3]{0.5, -1, 3}
        h: float32[2,3] = onnx.Add(x, w)
        y: float32[2,3] = onnx.Relu(h) })"));
    // Of a domain that it does not import.
    onnx("odd.onnx", OnnxModel(R"(graph odd(x: float32[2]) -> (y: float32[2]) {
      y: float32[2] = onnx.com.microsoft::Gelu(x) })"));
    WriteFile(in / "jpeg.pbtxt", R"(
      node { name: "file" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } }
             attr { key: "shape" value { shape { } } } }
      node { name: "jpeg" op: "DecodeJpeg" input: "file" attr { key: "channels" value { i: 3 } } }
      node { name: "y" op: "Cast" input: "jpeg" attr { key: "SrcT" value { type: DT_UINT8 } }
             attr { key: "DstT" value { type: DT_FLOAT } } }
    )");
    onnx("pair.onnx", OnnxModel(R"(graph pair(x: float32[2], i: int64[2], z: float32[2])
        -> (y, j) { y = onnx.Add(x, z) j = onnx.Neg(i) })"));
    onnx("dyn.onnx", OnnxModel(R"(graph dyn(x: float32[?,n]) -> (y) {
        y: float32[?,n] = onnx.Relu(x) })"));
    onnx("param.onnx", OnnxModel(R"(graph p(x: float32[3], w: float32[3] = float32[3]{1, 2, 3})
        -> (y) { y: float32[3] = onnx.Add(x, w) })"));
    onnx("unsupported.onnx", OnnxModel(R"(graph u(x: float32[2]) -> (y) {
        a: float32[2] = onnx.com.acme::Foo(x) { alpha = 0.5 } "foo one"
        b: float32[2] = onnx.com.acme::Foo(a) "foo two"
        c: float32[2] = onnx.com.other::Bar(b) "bar one"
        d: float32[2] = onnx.NoSuchOp(c) "none such"
        y: float32[2] = onnx.Relu(d) })"));
    Model calls = OnnxModel(R"(graph f(x: float32[2]) -> (y) {
        h: float32[2] = onnx.com.acme::F(x) "one"
        y: float32[2] = onnx.com.acme::F(h) "two" })");
    calls.functions.push_back(std::make_shared<Function>());
    calls.functions[0]->domain = "com.acme";
    calls.functions[0]->name = "F";
    calls.functions[0]->opset_imports = {{"", 17}};
    calls.functions[0]->body = *ParseGraph("graph F(a: ?) -> (b) { b = onnx.Neg(a) }");
    onnx("calls.onnx", calls);
    onnx("words.onnx", OnnxModel(R"(graph w(x: float32[2,3]) -> (y) {
        y: string[2,3] = onnx.Cast(x) { to = 8 } })"));
    onnx("bits.onnx", OnnxModel("graph n(x: int32[2,3]) -> (y) { y = onnx.BitwiseNot(x) }", 18));
    onnx("new_op.onnx", OnnxModel(R"(graph n(x: float32[2,3]) -> (y) {
        s = float32[3]{1, 1, 1}
        y: float32[2,3] = onnx.LayerNormalization(x, s) "norm" })"));
    std::string elements;
    for (int i = 0; i < 1024; ++i) StrAppend(&elements, i ? ", " : "", i);
    onnx("big.onnx", OnnxModel(StrCat("graph big(x: float32[1024]) -> (y) { w = float32[1024]{",
                                      elements, "}\ny: float32[1024] = onnx.Add(x, w) }")));
    onnx("nested.onnx", OnnxModel(R"(graph n(c: bool[], x: float32[3]) -> (y) {
        late = float32[3]{7, 8, 9}
        w = float32[3]{0.5, -1, 2}
        h: float32[3] = onnx.Mul(x, w)
        y: float32[3] = onnx.If(c) {
          then_branch = graph yes() -> (a) {
            w = float32[3]{1, 2, 3}
            a: float32[3] = onnx.Add(h, w)
          },
          else_branch = graph no() -> (b) {
            b: float32[3] = onnx.Sub(h, late)
          } } })"));
    std::string inputs, operands;
    for (int i = 0; i < 30; ++i) {
      StrAppend(&inputs, i ? ", " : "", "an_operand_of_a_long_name_", i, ": float32[1,64,batch]");
      StrAppend(&operands, i ? ", " : "", "an_operand_of_a_long_name_", i);
    }
    onnx("wide.onnx", OnnxModel(StrCat("graph wide(", inputs, ") -> (y) { y = onnx.Concat(",
                                       operands, ") { axis = 0 } }")));
    onnx("cyclic.onnx", OnnxModel(R"(graph c(x: float32[2]) -> (y) {
        a: float32[2] = onnx.Add(x, b) "one"
        b: float32[2] = onnx.Relu(a) "two"
        y: float32[2] = onnx.Relu(b) })"));
    onnx("wrong_type.onnx", OnnxModel(R"(graph t(x: float32[2], i: int64[2]) -> (y) {
        y: float32[2] = onnx.Add(x, i) "mix" })"));
    // Inputs are listed after nodes, so it is the declaration that is renamed.
    onnx("missing_input.onnx", OnnxModel(R"(graph m(qqqq: float32[2]) -> (y) {
        y: float32[2] = onnx.Relu(qqqq) "lost" })"));
    Patch(in / "missing_input.onnx", "qqqq", "pppp");
    OnnxWriteOptions external;
    external.external = OnnxWriteOptions::External::kAlways;
    external.min_external = 0;
    onnx("no_data.onnx", OnnxModel(kSmall), external);
    fs::remove(in / "no_data.onnx.data");

    const std::string whole = ReadFile(in / "small.onnx");
    WriteFile(in / "truncated.onnx", whole.substr(0, whole.size() / 2));
    WriteFile(in / "corrupt.onnx", std::string(4000, '\xa7'));
    WriteFile(in / "empty.onnx", "");
    WriteFile(in / "broken.json", "{\"x2ir\": ");

    const Tensor x = Tensor::Of<float>({2, 3}, {1, 2, 3, -1, -2, -3});
    const Tensor y = Tensor::Of<float>({2, 3}, {1.5f, 1, 5, 0, 0, 0});
    const Tensor bad = Tensor::Of<float>({2, 3}, {1.5f, 1, 6, 0, 0, 0});
    auto io = [&](const std::string& name, const std::vector<NamedTensor>& tensors) {
      const absl::Status status = WriteSafetensors(in / name, tensors);
      ASSERT_TRUE(status.ok()) << name << ": " << status;
    };
    io("io.safetensors", {{"in_0", x}, {"out_0", y}});
    io("named.safetensors", {{"x", x}, {"y", y}});
    io("bad.safetensors", {{"in_0", x}, {"out_0", bad}});
    io("cases.safetensors",
       {{"case0.in_0", x}, {"case0.out_0", y}, {"case1.in_0", x}, {"case1.out_0", bad}});
    io("inputs.safetensors", {{"in_0", x}});
    io("strange.safetensors", {{"in_0", x}, {"what", y}});
    io("shape.safetensors", {{"in_0", Tensor::Zeros(DType::kFloat32, {3, 3})}, {"out_0", y}});
    const absl::Status npy = WriteNpy(in / "x.npy", x);
    ASSERT_TRUE(npy.ok()) << npy;
  }

  struct Result {
    int code = -1;
    std::string out, err;
    std::map<std::string, std::string> files;  // afterwards
    std::string made;                          // names of files that were not there before
  };

  // Runs a line of shell in a fresh folder.
  static Result Run(const std::string& command) {
    const fs::path folder = dir_->path() / "work";
    fs::remove_all(folder);
    fs::copy(dir_->path() / "inputs", folder, fs::copy_options::recursive);
    const std::string line = StrCat("cd '", folder.string(), "' && PATH='", X2IR_BIN_DIR,
                                    "':\"$PATH\" && export PATH", " && { ", command, "\n} >'",
                                    dir_->Path("out"), "' 2>'", dir_->Path("err"), "' </dev/null");
    const int status = std::system(line.c_str());
    Result result;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.out = ReadFile(dir_->path() / "out");
    result.err = ReadFile(dir_->path() / "err");
    result.files = Snapshot(folder);
    for (const auto& [name, content] : result.files) {
      if (!inputs_->count(name)) StrAppend(&result.made, result.made.empty() ? "" : " ", name);
    }
    for (const auto& [name, content] : *inputs_) {
      const auto it = result.files.find(name);
      EXPECT_TRUE(it != result.files.end() && it->second == content)
          << "an input changed: " << name;
    }
    return result;
  }

  static bool Matches(const std::string& text, const std::string& pattern) {
    if (pattern.empty()) return text.empty();
    return std::regex_search(text, std::regex(pattern));
  }

  struct Row {
    std::string command;
    int code;
    std::string out;   // a regular expression; empty: nothing may be printed
    std::string err;   // the same
    std::string made;  // the new files, sorted
  };
  static void Check(const std::vector<Row>& rows) {
    // Some containers have no terminals to give; rows that want one are left out there.
    static const bool has_terminals =
        std::system("script -qec true /dev/null >/dev/null 2>&1") == 0;
    for (const Row& row : rows) {
      SCOPED_TRACE(row.command);
      if (!has_terminals && row.command.find("script -q") != std::string::npos) {
        std::cerr << "no terminal here, left out: " << row.command << "\n";
        continue;
      }
      const Result got = Run(row.command);
      EXPECT_EQ(got.code, row.code);
      EXPECT_TRUE(Matches(got.out, row.out)) << "stdout: " << got.out << "expected: " << row.out;
      EXPECT_TRUE(Matches(got.err, row.err)) << "stderr: " << got.err << "expected: " << row.err;
      EXPECT_EQ(got.made, row.made);
    }
  }

  static TempDir* dir_;
  static std::map<std::string, std::string>* inputs_;
};
TempDir* Cli::dir_ = nullptr;
std::map<std::string, std::string>* Cli::inputs_ = nullptr;

// Regular expressions came with opset 20.
TEST_F(Cli, TheLeastOpsetThatHasWhatIsNeeded) {
  const std::string make =
      "printf '%s' 'node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: "
      "DT_STRING } } attr { key: \"shape\" value { shape { dim { size: 2 } } } } } node { name: "
      "\"y\" op: \"StaticRegexFullMatch\" input: \"x\" attr { key: "
      "\"pattern\" value { s: \"a.*\" } } }' > r.pbtxt; ";
  Check({
      {make + "x2ir convert r.pbtxt -o r.onnx && x2ir info r.onnx | grep opsets", 0,
       "opset 20, the oldest that has what the model needs: regex_full_match\n(.|\n)*20", "",
       "r.onnx r.pbtxt"},
      {make + "ir2onnx export r.pbtxt -o r.onnx -q && x2ir info r.onnx | grep opsets", 0, "20", "",
       "r.onnx r.pbtxt"},
      {make + "x2ir convert r.pbtxt -o r.onnx --opset 17", 1, "",
       "at opset 17(.|\n)*opset 20 has it", "r.pbtxt"},
  });
}

TEST_F(Cli, Convert) {
  Check({
      {"x2ir convert small.onnx", 0,
       "^wrote small.json and small.safetensors: 2 nodes read, 2 mapped, 0 foreign, 2 written\n"
       "  nodes   transposes  size\n  2 -> 2  0           [0-9]+ bytes\n$",
       "", "small.json small.safetensors"},
      {"x2ir convert small.onnx -o net.json -v", 0, "onnx.Add +1 mapped\n +onnx.Relu +1 mapped", "",
       "net.json net.safetensors"},
      {"x2ir -v convert small.onnx", 0, "onnx.Add +1 mapped", "", "small.json small.safetensors"},
      {"x2ir convert -q small.onnx", 0, "", "", "small.json small.safetensors"},
      {"x2ir -q convert small.onnx", 0, "", "", "small.json small.safetensors"},
      {"mkdir d && cd d && x2ir convert ../small.onnx", 0, "wrote small.json", "",
       "d/small.json d/small.safetensors"},
      {"x2ir convert small.onnx -o a.json && x2ir convert a.json -o b.json && cmp a.json b.json", 0,
       "wrote b.json", "", "a.json a.safetensors b.json b.safetensors"},
      {"x2ir convert small.onnx --weights reference --from onnx --optimize", 0, "wrote", "",
       "small.json small.safetensors"},
      {"x2ir convert small.onnx -v --passes simplify,dead_code", 0,
       "pass simplify: 0 changes, [^\n]*\n  pass dead_code: 0 changes", "",
       "small.json small.safetensors"},
      {"x2ir convert dyn.onnx", 0, "wrote",
       "^warning: [^\n]*x: float32\\[\\?,n\\][^\n]*--shape[^\n]*\n$", "dyn.json dyn.safetensors"},
      {"x2ir convert dyn.onnx -q", 0, "", "", "dyn.json dyn.safetensors"},
      // Once, whether it is read or written, or both.
      {"x2ir convert dyn.onnx -o a.onnx", 0, "wrote",
       "^warning: [^\n]*x: float32\\[\\?,n\\][^\n]*--shape[^\n]*\n$", "a.onnx"},
      {"x2ir convert dyn.onnx -q && x2ir convert dyn.json -o a.onnx", 0, "wrote",
       "^warning: [^\n]*x: float32\\[\\?,n\\][^\n]*--shape[^\n]*\n$",
       "a.onnx dyn.json dyn.safetensors"},
      {"x2ir convert dyn.onnx -q --dtype float16 && x2ir show dyn.json", 0,
       "x: float16[\\s\\S]*y: float16", "", "dyn.json dyn.safetensors"},
      {"x2ir convert pair.onnx -q --dtype float64 --dtype i:int32 && x2ir show pair.json", 0,
       "x: float64\\[2\\], i: int32\\[2\\], z: float64\\[2\\]", "", "pair.json pair.safetensors"},
      {"x2ir convert small.onnx -v --passes +fold_scale,-gemm -o a.onnx | grep -o 'pass [a-z_]*'",
       0, "pass layout[\\s\\S]*pass spell_out\npass fold_scale\npass dead_code\n$", "", "a.onnx"},
      {"x2ir convert small.onnx -v --passes=-gemm -o a.onnx | grep -c 'pass gemm'", 1, "^0\n", "",
       "a.onnx"},
      {"x2ir convert small.onnx -v --passes -gemm,-layout -o a.onnx | grep -c 'pass layout'", 1,
       "^0\n", "", "a.onnx"},
      {"x2ir convert dyn.onnx --shape x:4,5 && x2ir show dyn.json", 0, "y: float32\\[4,5\\]", "",
       "dyn.json dyn.safetensors"},
      {"x2ir convert dyn.onnx --shape 'x:2*b,seq' && x2ir show dyn.json", 0,
       "y: float32\\[2\\*b,seq\\]", "", "dyn.json dyn.safetensors"},
      {"x2ir convert small.onnx --dtype x:float32 --outputs h && x2ir show small.json", 0,
       "-> \\(h: ", "", "small.json small.safetensors"},
      {"x2ir convert small.onnx --inputs h && x2ir show small.json", 0, "\\(h: float32", "",
       "small.json small.safetensors"},
      {"x2ir convert param.onnx && x2ir show param.json", 0, "\\(x: float32\\[3\\]\\)", "",
       "param.json param.safetensors"},
      {"x2ir convert param.onnx --no-freeze-params && x2ir show param.json", 0,
       "w: float32\\[3\\] = ", "", "param.json param.safetensors"},
      {"x2ir convert small.onnx -o ./-x.json", 0, "wrote ./-x.json", "", "-x.json -x.safetensors"},
      {"x2ir info calls.onnx", 0, "functions +1\n[\\s\\S]*converts +yes", "", ""},
      {"x2ir convert calls.onnx && x2ir show calls.json", 0, "h: [^\n]* = neg\\(x\\)", "",
       "calls.json calls.safetensors"},
      {"x2ir convert calls.onnx --keep-functions && ir2onnx export calls.json -o b.onnx && "
       "x2ir info b.onnx && x2ir show b.onnx --raw",
       0, "functions +1\n[\\s\\S]*onnx.com.acme::F\\(x\\)", "",
       "b.onnx calls.json calls.safetensors"},
  });
}

TEST_F(Cli, UnsupportedOps) {
  const std::string mean =
      "printf '<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[] x) => (float[] y) { y = "
      "ReduceMean (x) }' >u.onnxtxt; ";
  const std::string all_named =
      "3 ops[\\s\\S]*onnx.com.acme::Foo \\(2 nodes\\)[\\s\\S]*'foo one', 'foo two'[\\s\\S]*"
      "onnx.com.other::Bar \\(1 node\\)[\\s\\S]*'bar one'[\\s\\S]*onnx.NoSuchOp \\(1 "
      "node\\)[\\s\\S]*'none such'";
  Check({
      {"x2ir convert unsupported.onnx", 1, "", "^error: [\\s\\S]*" + all_named, ""},
      {"x2ir convert unsupported.onnx -q", 1, "", all_named, ""},
      {"x2ir convert unsupported.onnx --report r.json", 1, "", all_named, "r.json"},
      {"x2ir convert unsupported.onnx --allow-foreign com.acme,com.other", 1, "", "onnx.NoSuchOp",
       ""},
      {"x2ir convert unsupported.onnx --continue-on-error", 0, "5 nodes read, 1 mapped, 4 foreign",
       "", "unsupported.json unsupported.safetensors"},
      {"x2ir convert unsupported.onnx --continue-on-error && ir2onnx export unsupported.json "
       "-o back.onnx && x2ir show back.onnx --raw --names",
       0,
       "onnx.com.acme::Foo\\(x\\) \\{ alpha = 0.5 \\} \"foo one\"\n[\\s\\S]*\"foo two\"[\\s\\S]*"
       "onnx.com.other::Bar[\\s\\S]*onnx.NoSuchOp[\\s\\S]*onnx.Relu",
       "kept unchanged[^\n]*com.acme::Foo", "back.onnx unsupported.json unsupported.safetensors"},
      // Why, where, and the flag that helps; what else was tried is for -v.
      {mean + "x2ir convert u.onnxtxt -o u.pt2", 1, "",
       "reduce_mean \\(1 node\\): an operand of unknown rank; 'x' is float32\\[...\\]: the input "
       "states no shape; --shape x:1,3,... sets the sizes\n    at '[^\n]*'\n$",
       "u.onnxtxt"},
      {mean + "x2ir convert u.onnxtxt -v -o u.pt2", 1, "",
       "sets the sizes\n    at '[^\n]*'\n    tried [A-Za-z]+: ", "u.onnxtxt"},
      {mean + "x2ir convert u.onnxtxt -q -o u.pt2 --shape x:1,3,4", 0, "^$", "", "u.onnxtxt u.pt2"},
      {"x2ir info unsupported.onnx", 0, "converts +no, 3 ops[\\s\\S]*" + all_named.substr(5), "",
       ""},
      {"x2ir show unsupported.onnx", 0, "onnx.com.acme::Foo[\\s\\S]*relu",
       "^warning: [\\s\\S]*onnx.NoSuchOp", ""},
      {"x2ir run unsupported.onnx --io io.safetensors", 1, "", all_named, ""},
      {"x2ir verify unsupported.onnx --io io.safetensors", 1, "", all_named, ""},
      {"x2ir draw unsupported.onnx", 0, "^digraph", "^warning: ", ""},
      {"x2ir convert bits.onnx --opset 11", 3, "", "opset 18", ""},
      {"x2ir run words.onnx --io io.safetensors -o out.safetensors", 1, "", "holds strings", ""},
  });
}

TEST_F(Cli, BadInput) {
  std::vector<Row> rows;
  const struct {
    const char* file;
    const char* err;
  } inputs[] = {
      {"corrupt.onnx", "corrupt.onnx"},
      {"truncated.onnx", "truncated.onnx"},
      {"empty.onnx", "empty"},
      {"broken.json", "broken.json"},
      {"nowhere.onnx", "no such file: 'nowhere.onnx'"},
      {"no_data.onnx", "no_data.onnx.data"},
      {"cyclic.onnx", "'one'[\\s\\S]*'two'"},
      {"missing_input.onnx", "qqqq"},
      {"wrong_type.onnx", "'mix'"},
      {".", "'.' is a directory"},
  };
  for (const auto& input : inputs) {
    rows.push_back({StrCat("x2ir convert ", input.file, " -o out.json"), 3, "", input.err, ""});
    rows.push_back({StrCat("ir2onnx export ", input.file, " -o out.onnx"), 3, "", input.err, ""});
    rows.push_back(
        {StrCat("x2ir verify ", input.file, " --io io.safetensors"), 3, "", input.err, ""});
    // What only inference finds is shown, with a warning.
    if (std::string(input.file) == "wrong_type.onnx") {
      rows.push_back({"x2ir show wrong_type.onnx", 0, "onnx.Add", "^warning: [\\s\\S]*'mix'", ""});
    } else {
      rows.push_back({StrCat("x2ir show ", input.file), 3, "", input.err, ""});
    }
  }
  rows.push_back({"x2ir info corrupt.onnx", 3, "", "corrupt.onnx", ""});
  rows.push_back({"x2ir info nowhere.onnx", 3, "", "no such file", ""});
  rows.push_back({"x2ir draw truncated.onnx -o a.dot", 3, "", "truncated", ""});
  rows.push_back({"x2ir show --raw empty.onnx", 3, "", "empty", ""});
  rows.push_back({"x2ir verify small.onnx --io nowhere.safetensors", 3, "", "no such file", ""});
  rows.push_back({"x2ir verify small.onnx --io small.onnx", 3, "", "small.onnx", ""});
  rows.push_back({"x2ir verify small.onnx --io strange.safetensors", 3, "",
                  "'what' is neither an input nor an output", ""});
  rows.push_back({"x2ir verify small.onnx --io shape.safetensors", 3, "",
                  "expected float32\\[2,3\\], got float32\\[3,3\\]", ""});
  rows.push_back({"x2ir verify small.onnx corrupt.onnx", 3, "", "corrupt.onnx", ""});
  rows.push_back({"x2ir run small.onnx --input x=small.onnx", 3, "", "input 'x'", ""});
  rows.push_back({"x2ir run small.onnx --input x=nowhere.npy", 3, "", "no such file", ""});
  rows.push_back(
      {"x2ir convert corrupt.onnx -o out.json --report r.json", 3, "", "corrupt", "r.json"});
  Check(rows);
}

TEST_F(Cli, WrongUsage) {
  std::vector<Row> rows;
  const struct {
    const char* command;
    const char* err;
  } usages[] = {
      {"x2ir", "a verb is missing"},
      {"x2ir nonsense", "there is no verb 'nonsense'; expected one of: convert, "},
      {"x2ir cnovert small.onnx", "there is no verb 'cnovert'; did you mean 'convert'\\?"},
      {"x2ir -q shwo", "did you mean 'show'"},
      {"x2ir conver small.onnx -o other.onnx", "no verb 'conver'; did you mean 'convert'"},
      {"x2ir convert small.onnx --optimise", "no flag '--optimise'; did you mean '--optimize'"},
      {"x2ir convert small.onnx --shpae=x:1", "no flag '--shpae'; did you mean '--shape'"},
      {"x2ir convert small.onnx --no-freeze", "did you mean '--no-freeze-params'"},
      {"x2ir ops Conv", "no op 'Conv' of the IR; did you mean 'conv'\\?"},
      {"x2ir convert small.onnx --passes +simplfy", "no pass 'simplfy'; did you mean 'simplify'"},
      {"x2ir convert small.onnx --passes=-fold_scale", "'-fold_scale': the pass is not among"},
      {"x2ir convert small.onnx --passes +gemm",
       "'\\+gemm': the pass is already one of the passes"},
      {"x2ir convert small.onnx --passes gemm,+fold_scale",
       "as in \\+fold_scale,-gemm, but not both"},
      {"x2ir convert small.onnx --dtype x", "no element type 'x'; expected [^\n]*or NAME:TYPE"},
      {"x2ir convert small.onnx --dtype float16 --dtype float32", "for all inputs is given twice"},
      {"x2ir convert small.onnx --passes simplfy", "no pass 'simplfy'; did you mean 'simplify'"},
      {"x2ir show small.onnx --width -1", "--width"},
      {"x2ir convert small.onnx --fold-inputs x=one,two",
       "'one,two' is neither a number nor a file"},
      {"x2ir convert", "MODEL"},
      {"x2ir convert small.onnx other.onnx", "'other.onnx' is one argument too many"},
      {"x2ir convert small.onnx -o", "--output: a value is missing"},
      {"x2ir convert small.onnx --frobnicate", "frobnicate[\\s\\S]*try: x2ir convert --help"},
      {"x2ir convert small.onnx --shape", "--shape"},
      {"x2ir convert small.onnx --shape x", "--shape: 'x': expected NAME:DIMS"},
      {"x2ir convert small.onnx --shape x:", "expected NAME:DIMS"},
      {"x2ir convert small.onnx --shape :2", "expected NAME:DIMS"},
      {"x2ir convert small.onnx --shape x:2,,3", "expected NAME:DIMS"},
      {"x2ir convert small.onnx --shape x:2,", "expected NAME:DIMS"},
      {"x2ir convert small.onnx --shape x:2,-1", "one that is not known is \\?|not known is \\?"},
      {"x2ir convert small.onnx --shape x:...", "expected NAME:DIMS"},
      {"x2ir convert small.onnx --shape x:2.5,3", "expected NAME:DIMS"},
      {"x2ir convert small.onnx --shape x:99999999999999999999,3", "expected NAME:DIMS"},
      {"x2ir convert small.onnx --shape x:2,3 --shape x:2,3", "'x' is given twice"},
      {"x2ir convert small.onnx --shape z:2,3", "no input 'z'; its inputs are: x"},
      {"x2ir convert small.onnx --shape x:2", "expected rank 2, got 1"},
      {"x2ir convert small.onnx --dtype x:float99", "no element type 'float99'"},
      {"x2ir convert small.onnx --dtype x", "NAME:TYPE"},
      {"x2ir convert small.onnx --opset 0", "expected a number from 1"},
      {"x2ir convert small.onnx --opset seventeen", "expected a number"},
      {"x2ir convert small.onnx --opset 017x", "expected a number"},
      {"x2ir convert small.onnx --inputs nothing", "--inputs: [^\n]*'nothing'"},
      {"x2ir convert small.onnx --outputs y,,h", "a name is missing"},
      {"x2ir convert small.onnx --outputs nothing:3", "'nothing"},
      {"x2ir convert small.onnx -o a.onnx --float16 --keep ad",
       "--keep: there is no op and no node 'ad'[^\n]*; did you mean 'add'"},
      {"x2ir convert small.onnx --outputs frist", "value or node 'frist'; did you mean 'first'"},
      {"x2ir convert small.onnx --weights perhaps", "perhaps|weights"},
      {"x2ir convert small.onnx --from nonsense", "nonsense"},
      {"x2ir convert small.onnx --allow-foreign a --continue-on-error", "excludes"},
      {"x2ir convert small.onnx -o net.caffemodel",
       "-o 'net.caffemodel': format 'caffe' can only be read"},
      {"x2ir convert small.onnx -o net.txt", "does not say in which format to write[^\n]*--to"},
      {"x2ir convert small.onnx --to onxn", "--to: there is no format 'onxn'; did you mean 'onnx'"},
      {"x2ir convert small.onnx --to caffe", "--to: format 'caffe' can only be read"},
      {"x2ir convert small.onnx --from onxn", "--from: there is no format 'onxn'; did you mean"},
      {"x2ir convert small.onnx --to onnx", "would be overwritten; choose another output with -o"},
      {"x2ir convert small.onnx --external-data always",
       "--external-data: format 'ir', which is written, has no such option"},
      {"x2ir convert small.onnx -o a.onnx --weights copy", "--weights: format 'onnx'"},
      {"x2ir convert small.onnx -o a.onnx --opset 999", "^error: --opset: [^\n]*no opset 999"},
      {"x2ir convert small.onnx --opset 17 --from-opset 17", "--opset: format 'ir'"},
      {"x2ir convert small.onnx --from-opset 0", "--from-opset: '0': expected a number from 1"},
      {"echo small.onnx | x2ir convert --batch - -o -", "-o is a folder with --batch"},
      {"script -qec 'x2ir convert small.onnx --to onnx -o -' log >/dev/null; code=$?; cat log >&2; "
       "rm log; exit $code",
       "standard output is a terminal"},
      {"TERM=xterm script -qec 'x2ir info nowhere.onnx' log >/dev/null; code=$?; cat log >&2; rm "
       "log; "
       "exit $((code - 1))",
       "\n\x1b\\[1;31merror:\x1b\\[0m no such file"},
      {"NO_COLOR=1 TERM=xterm script -qec 'x2ir info nowhere.onnx' log >/dev/null; code=$?; cat "
       "log >&2; "
       "rm log; exit $((code - 1))",
       "\nerror: no such file"},
      {"x2ir convert small.onnx --shape xx:1,4", "its inputs are: x; did you mean 'x'"},
      {"x2ir run small.onnx --io io.safetensors -o -", "'-'[^\n]*\\./-"},
      {"x2ir convert small.onnx -o ''", "-o|empty|.json"},
      {"x2ir convert small.onnx -q -v", "contradict"},
      {"x2ir convert small.onnx -o a.json -o b.json", "-o|--output"},
      {"x2ir convert small.onnx -o a.json --report ./a.json", "written twice"},
      {"x2ir convert small.onnx --report small.onnx", "would be overwritten"},
      {"mkdir a.json; x2ir convert small.onnx -o a.json", "not a regular file"},
      {"ir2onnx", "a verb is missing"},
      {"ir2onnx export", "MODEL"},
      {"ir2onnx export small.onnx", "'small.onnx' is an input of this command"},
      {"ln -s small.onnx link.onnx; ir2onnx export link.onnx -o small.onnx", "overwritten"},
      {"ir2onnx export small.onnx -o a.json", "OUT.onnx"},
      {"ir2onnx export small.onnx -o a.onnx --opset 999", "--opset: there is no opset 999"},
      {"ir2onnx export small.onnx -o a.onnx --opset 6", "--opset: [^\n]*the oldest is 7"},
      {"ir2onnx export small.onnx -o a.onnx --opset x", "--opset: 'x': expected a number"},
      {"ir2onnx export small.onnx -o a.onnx --passes nothing", "no pass 'nothing'"},
      {"ir2onnx export small.onnx -o a.onnx --passes a --no-optimize", "excludes"},
      {"x2ir convert small.onnx --passes nothing", "no pass 'nothing'"},
      {"x2ir convert small.onnx --layout channels_last", "--layout: needs --optimize"},
      {"x2ir convert small.onnx --optimize --layout nhwc", "channels_first, channels_last"},
      {"ir2onnx export small.onnx -o a.onnx --external-data maybe", "maybe|external"},
      {"ir2onnx export small.onnx -o a.onnx --extra-opset com.acme", "expected DOMAIN:V"},
      {"ir2onnx export small.onnx -o a.onnx --extra-opset com.acme:x", "expected DOMAIN:V"},
      {"ir2onnx export small.onnx -o a.onnx --shape z:1", "no input 'z'"},
      {"x2ir verify small.onnx", "nothing to compare with"},
      {"x2ir verify small.onnx --io inputs.safetensors", "holds no outputs"},
      {"x2ir verify small.onnx --io io.safetensors --rtol -1", "--rtol '-1'"},
      {"x2ir verify small.onnx --io io.safetensors --metric cosine", "expected --at-least X"},
      {"x2ir verify small.onnx --io io.safetensors --metric steps --at-least 1",
       "Excludes|--at-most X"},
      {"x2ir verify small.onnx --io io.safetensors --metric cosin --at-least 1",
       "did you mean 'cosine'\\?"},
      {"x2ir verify small.onnx --io io.safetensors --at-least 1", "--metric"},
      {"x2ir verify small.onnx --io io.safetensors --atol nan", "--atol 'nan'"},
      {"x2ir run small.onnx", "--input x=FILE.npy[^\n]*float32\\[2,3\\]"},
      {"x2ir run small.onnx --input x", "NAME=FILE.npy"},
      {"x2ir run small.onnx --input z=x.npy", "no input 'z'"},
      {"x2ir run small.onnx --input x=x.npy -o x.npy", "would be overwritten"},
      {"x2ir draw small.onnx -o a.png", "FILE.dot or FILE.svg"},
      {"x2ir show small.onnx --max-constant lots", "--max-constant"},
      {"x2ir ops --dialect klingon", "no dialect 'klingon'"},
      {"x2ir ops --dialect onnx --opset 999", "no opset 999"},
      {"x2ir ops --opset 11", "--dialect"},
      {"x2ir ops --json --markdown", "excludes"},
  };
  for (const auto& usage : usages) rows.push_back({usage.command, 2, "", usage.err, ""});
  // An IR file in the current folder would be written over itself.
  rows.push_back({"x2ir convert small.onnx -q && x2ir convert small.json", 2, "",
                  "would be overwritten", "small.json small.safetensors"});
  Check(rows);
}

TEST_F(Cli, SystemFailures) {
  std::vector<Row> rows = {
      // Below a regular file nobody can write, not even root.
      {"x2ir convert small.onnx -o io.safetensors/net.json", 4, "", "cannot write", ""},
      {"x2ir convert small.onnx --report io.safetensors/r.json", 4, "", "cannot write", ""},
      {"ir2onnx export small.onnx -o io.safetensors/net.onnx", 4, "", "cannot write", ""},
      {"x2ir draw small.onnx -o io.safetensors/net.dot", 4, "", "cannot write", ""},
      {"x2ir run small.onnx --io io.safetensors -o small.onnx/out.safetensors", 4, "",
       "cannot write", ""},
      // A disk that is full, as far as this process can see: files may not grow.
      {"ulimit -f 0; x2ir convert small.onnx -q", 4, "", "", ""},
      {"x2ir info small.onnx >&-", 4, "", "standard output", ""},
      {"x2ir convert small.onnx -q >&-", 0, "", "", "small.json small.safetensors"},
      {"x2ir convert small.onnx -q <&- 2>&-", 0, "", "", "small.json small.safetensors"},
  };
  if (fs::exists("/dev/full")) {
    rows.push_back({"x2ir info small.onnx >/dev/full", 4, "", "standard output: No space", ""});
    rows.push_back({"x2ir convert small.onnx -o /dev/full/x.json", 4, "", "cannot write", ""});
    rows.push_back({"ir2onnx export small.onnx -o /dev/full", 2, "", "not a regular file", ""});
  }
  Check(rows);
}

TEST_F(Cli, PipesThatClose) {
  Check({
      {"(x2ir show small.onnx; echo $? >code) | true; read code <code; rm code; exit $code", 0, "",
       "", ""},
      {"x2ir --help | head -n 1", 0, "^[^\n]+\n$", "", ""},
      {"(x2ir convert small.onnx; echo $? >code) | true; read code <code; rm code; exit $code", 0,
       "", "", "small.json small.safetensors"},
  });
}

TEST_F(Cli, Export) {
  const std::string ir = "x2ir convert small.onnx -q -o net.json && ";
  const std::string files = "net.json net.onnx net.safetensors";
  Check({
      {ir + "ir2onnx export net.json", 0, "^wrote net.onnx: 2 nodes read", "", files},
      {ir + "ir2onnx export net.json -q && x2ir info net.onnx", 0, "opsets +17", "", files},
      {ir + "ir2onnx export net.json --opset 13 --check && x2ir info net.onnx", 0, "opsets +13", "",
       files},
      {ir + "ir2onnx export net.json --opset 28 --check", 0, "checked: ONNX's schemas; not by", "",
       files},
      // The model that is read is looked at, too, and is enough where the target has no schemas.
      {"x2ir convert small.onnx -o a.onnx --check", 0,
       "checked: ONNX's schemas; .*the model that was read: schemas of onnx", "", "a.onnx"},
      {"x2ir convert small.onnx --check", 0, "checked: .*the model that was read: schemas of onnx",
       "", "small.json small.safetensors"},
      {"x2ir convert odd.onnx -q -o a.onnx", 0, "", "", "a.onnx"},
      {"x2ir convert odd.onnx -o a.onnx --check", 3, "",
       "does not pass the check:\n  onnx.com.microsoft::Gelu 'y': no opset of domain", ""},
      // What the message says does it.
      {"x2ir convert jpeg.pbtxt -o a.onnx", 1, "", "decode pictures before they are given", ""},
      {"x2ir convert jpeg.pbtxt -o a.onnx 2>&1 | grep -o -- '--inputs .*' >flags; "
       "x2ir convert -q jpeg.pbtxt -o a.onnx $(cat flags) && x2ir show a.onnx",
       0, "\\(jpeg: uint8\\[h,w,3\\]\\) -> \\(y: float32\\[h,w,3\\]\\)", "", "a.onnx flags"},
      {ir + "x2ir convert net.json -o b.json --check", 2, "",
       "--check: formats 'ir' and 'ir' have no schemas", "net.json net.safetensors"},
      {ir + "ir2onnx export net.json --extra-opset com.acme:3 && x2ir info net.onnx", 0,
       "com.acme 3", "", files},
      {ir + "ir2onnx export net.json --external-data always", 0, "wrote", "",
       // A weight of twelve bytes is too small to be worth a file.
       files},
      {ir + "ir2onnx export net.json --no-optimize -v", 0, "add +1 mapped", "", files},
      {ir + "ir2onnx export net.json --passes dead_code", 0, "wrote", "", files},
      {ir + "ir2onnx export net.json --inputs-as-nchw x", 2, "",
       "--inputs-as-nchw: input 'x' is .*expected a tensor of rank 3, 4 or 5",
       "net.json net.safetensors"},
      {ir + "ir2onnx export net.json --outputs-as-nchw q", 2, "",
       "--outputs-as-nchw: the model has no output 'q'; its outputs are: ",
       "net.json net.safetensors"},
      {"ir2onnx export small.onnx -o net.onnx && x2ir verify small.onnx net.onnx", 0,
       "the output agrees", "", "net.onnx"},
      // A second size where the first one is a choice.
      {"x2ir verify dyn.onnx dyn.onnx", 0, "agrees   case1", "", ""},
      {"x2ir convert new_op.onnx -q && ir2onnx export new_op.json --report r.json -q", 0, "", "",
       "new_op.json new_op.safetensors r.json"},
  });
}

// One command from anything to ONNX: the bytes that two give, with nothing between.
TEST_F(Cli, ConvertsToWhatTheNameSays) {
  const auto two = [](const std::string& model, const std::string& from, const std::string& to) {
    return StrCat("x2ir convert -q ", model, ".onnx ", from, " -o two.json && ir2onnx export -q ",
                  "two.json -o two.onnx ", to, "; x2ir convert -q ", model, ".onnx ", from,
                  " -o one.onnx ", to, " && cmp one.onnx two.onnx && ir2onnx export -q ", model,
                  ".onnx ", from, " -o three.onnx ", to,
                  " && cmp three.onnx two.onnx; code=$?; rm -f two.* three.onnx; exit $code");
  };
  const std::string unsupported = "--allow-foreign com.acme,com.other --continue-on-error";
  Check({
      {two("small", "", ""), 0, "", "", "one.onnx"},
      {two("small", "", "--opset 13 --no-optimize"), 0, "", "", "one.onnx"},
      {two("small", "--inputs h", "--passes dead_code --check"), 0, "", "", "one.onnx"},
      {two("dyn", "--shape x:4,5", ""), 0, "", "", "one.onnx"},
      {two("param", "--no-freeze-params", ""), 0, "", "", "one.onnx"},
      {two("calls", "--keep-functions", ""), 0, "", "", "one.onnx"},
      {two("new_op", "", "--opset 11"), 0, "", "", "one.onnx"},
      {two("nested", "", ""), 0, "", "", "one.onnx"},
      {"x2ir convert small.onnx --to onnx -o net.bin", 0,
       "^wrote net.bin: 2 nodes read, 2 mapped, 0 foreign, 2 written\n"
       "  opset  nodes   transposes  size\n",
       "", "net.bin"},
      {"x2ir convert small.onnx -o net.onnx -v", 0, "add +1 mapped", "", "net.onnx"},
      {"x2ir convert big.onnx -o net.onnx --external-data always", 0,
       "^wrote net.onnx and net.onnx.data: ", "", "net.onnx net.onnx.data"},
      {"ir2onnx export small.onnx --to ir -o net.json", 0, "wrote net.json and net.safetensors", "",
       "net.json net.safetensors"},
      // The advice that is given can be taken.
      {"ir2onnx export unsupported.onnx -o a.onnx", 1, "", "--allow-foreign", ""},
      {"ir2onnx export unsupported.onnx -o a.onnx --allow-foreign com.acme,com.other", 1, "",
       "1 op [^\n]*\n[^\n]*onnx.NoSuchOp", ""},
      {"ir2onnx export unsupported.onnx -o a.onnx --continue-on-error && x2ir show --raw a.onnx", 0,
       "onnx.com.acme::Foo[\\s\\S]*onnx.NoSuchOp", "kept unchanged[^\n]*com.acme::Foo", "a.onnx"},
      // To standard output goes what is one file, and nothing else.
      {"x2ir convert small.onnx --to onnx -o - >a.onnx && x2ir convert -q small.onnx -o b.onnx && "
       "cmp a.onnx b.onnx",
       0, "", "", "a.onnx b.onnx"},
      {"ir2onnx export small.onnx -o - --report r.json | x2ir info /dev/stdin | head -n 2", 0,
       "onnx", "", "r.json"},
      {"ir2onnx export small.onnx -o - | true", 0, "", "", ""},
      {"x2ir convert small.onnx -o -", 1, "", "second file, [^\n]*only one file can be written",
       ""},
      {"ir2onnx export big.onnx -o - --external-data always | wc -c", 0, "^0\n$",
       "second file, [^\n]*only one file can be written", ""},
      {"ir2onnx export small.onnx -o - >/dev/full", 4, "", "standard output: No space", ""},
      {"ir2onnx export corrupt.onnx -o -", 3, "", "corrupt", ""},
      {"x2ir draw small.onnx -o -", 0, "^digraph", "", ""},
      // Which opset --opset is depends on what is written.
      {"x2ir convert small.onnx -o a.onnx --opset 13 && x2ir info a.onnx", 0, "opsets +13", "",
       "a.onnx"},
      {"x2ir convert new_op.onnx --from-opset 17 -q", 0, "", "", "new_op.json new_op.safetensors"},
      {"x2ir convert bits.onnx --from-opset 11 -o a.onnx --opset 18", 3, "", "opset 18", ""},
      {"x2ir convert new_op.onnx --opset 17", 0, "wrote",
       "^warning: --opset is used as the opset of MODEL[^\n]*--from-opset",
       "new_op.json new_op.safetensors"},
      {"x2ir formats", 0,
       "\nir\n[\\s\\S]*is read and "
       "written\n[\\s\\S]*--weights[\\s\\S]*onnx\n[\\s\\S]*\\.pt2",
       "", ""},
  });
}

// What was written for the same model before is replaced, with all its files.
TEST_F(Cli, WritesAgain) {
  std::vector<Row> rows;
  for (const std::string output :
       {"out.onnx", "out.onnx --external-data always", "out.json", "out.pb", "out.savedmodel",
        "out --to tensorflow", "out.tfjs.json", "out --to tfjs", "out.keras", "out.tflite",
        "out.mlpackage", "out.pt2", "out.py", "out.mlirbc", "out.ort", "out.nnef", "out.nnef.tgz",
        "out.relay", "out.nnvm.json"}) {
    const std::string convert = StrCat("x2ir convert -q small.onnx -o ", output);
    rows.push_back({StrCat(convert, " && ", convert, "; code=$?; rm -rf out out.*; exit $code"), 0,
                    "", "", ""});
  }
  Check(rows);
}

// Files that nobody named are replaced only if they were written for the same model.
TEST_F(Cli, KeepsWhatOthersWrote) {
  const std::string names = "small.json small.safetensors";
  const std::string theirs = "cp io.safetensors small.safetensors && ";
  const std::string intact =
      "; code=$?; cmp io.safetensors small.safetensors || exit 99; exit $code";
  const std::string always = " --external-data always";
  Check({
      {theirs + "x2ir convert small.onnx" + intact, 2, "",
       "'small.safetensors' exists and[^\n]*replace the file with --force", "small.safetensors"},
      {theirs + "ir2onnx export small.onnx --to ir -o small.json" + intact, 2, "", "--force",
       "small.safetensors"},
      {theirs + "echo small.onnx | x2ir convert --batch -" + intact, 1, "0 of 1 files done",
       "'small.safetensors' exists and[^\n]*--force", "batch.jsonl small.safetensors"},
      {theirs + "echo small.onnx | x2ir convert --batch - --force && x2ir show small.json", 0,
       "1 of 1 files done", "", "batch.jsonl " + names},
      {theirs + "x2ir convert small.onnx --force && x2ir show small.json", 0, "relu", "", names},
      // An io file of ours is no weight file of ours.
      {"x2ir run small.onnx --input x=x.npy -o small.safetensors && x2ir convert small.onnx", 2,
       "wrote small.safetensors", "--force", "small.safetensors"},
      // What we wrote may be written again, with the graph beside it or without it.
      {"x2ir convert small.onnx -q && x2ir convert small.onnx", 0, "wrote small.json", "", names},
      {"x2ir convert small.onnx -q && rm small.json && x2ir convert other.onnx -o small.json", 0,
       "wrote small.json", "", names},
      // A file that is not IR is no old output.
      {"echo '{\"my\": \"config\"}' >small.json; x2ir convert small.onnx; code=$?; "
       "grep -q config small.json || exit 99; exit $code",
       2, "", "'small.json' exists and is not of format 'ir'", "small.json"},
      {"echo mine >small.json; x2ir convert small.onnx --force", 0, "wrote", "", names},
      {"echo mine >small.json; x2ir convert small.onnx -o small.json", 0, "wrote", "", names},
      {"echo mine >net.onnx; x2ir convert -q small.onnx -o net.json && ir2onnx export net.json", 2,
       "", "is not of format 'onnx'", "net.json net.onnx net.safetensors"},
      // External data belongs to the file that names it.
      {"echo mine >net.onnx.data; x2ir convert big.onnx -o net.onnx" + always +
           "; code=$?; grep -q mine net.onnx.data || exit 99; exit $code",
       2, "", "'net.onnx.data' exists and[^\n]*--force", "net.onnx.data"},
      {"echo mine >net.onnx.data; x2ir convert big.onnx -o net.onnx --force" + always, 0, "wrote",
       "", "net.onnx net.onnx.data"},
      {"echo mine >net.onnx.data; x2ir convert big.onnx -o net.onnx", 0, "wrote net.onnx: ", "",
       "net.onnx net.onnx.data"},
      {"x2ir convert big.onnx -q -o net.onnx" + always + " && x2ir convert big.onnx -o net.onnx" +
           always,
       0, "wrote net.onnx and net.onnx.data", "", "net.onnx net.onnx.data"},
  });
  // A package is a folder: another package is replaced, any other folder is not.
  const std::string to_package = "x2ir convert big.onnx -o net.mlpackage";
  const std::string code = "; code=$?; rm -r net.mlpackage; exit $code";
  Check({
      {to_package +
           " && x2ir convert small.onnx -q -o net.mlpackage && "
           "x2ir info net.mlpackage | grep -c 'float32\\[2,3\\]'" +
           code,
       0, "wrote net.mlpackage[\\s\\S]*[1-9]\n$", "", ""},
      {"x2ir convert small.onnx -q -o net.mlpackage && ir2onnx export small.onnx --to coreml -q "
       "-o net.mlpackage/" +
           code,
       0, "", "", ""},
      {to_package + " -q && x2ir convert net.mlpackage --to coreml" + code, 2, "",
       "'net.mlpackage' is an input of this command", ""},
      {to_package +
           " -q && x2ir convert net.mlpackage/Data/com.apple.CoreML/model.mlmodel "
           "-o net.mlpackage" +
           code,
       2, "", "model.mlmodel' is an input of this command", ""},
      {"mkdir net.mlpackage; echo mine >net.mlpackage/a; x2ir convert small.onnx -o net.mlpackage; "
       "code=$?; ls net.mlpackage; rm -r net.mlpackage; exit $code",
       2, "^a\n$", "is not a package of a model", ""},
      {"mkdir small.mlpackage; x2ir convert small.onnx --to coreml; code=$?; "
       "rmdir small.mlpackage; exit $code",
       2, "", "is not of format 'coreml'[^\n]*--force", ""},
      {"x2ir convert big.onnx -q --to coreml && x2ir convert big.onnx --to coreml; code=$?; "
       "rm -r big.mlpackage; exit $code",
       0, "wrote big.mlpackage", "", ""},
  });
}

TEST_F(Cli, LooksAtModels) {
  Check({
      {"x2ir show small.onnx", 0,
       "graph small\\(x: float32\\[2,3\\]\\) -> \\(y: float32\\[2,3\\]\\) \\{\n[\\s\\S]*add\\(x, "
       "w\\)",
       "", ""},
      {"x2ir show small.onnx --raw --names", 0, "onnx.Relu\\(h\\) \"second\"", "", ""},
      {"x2ir show small.onnx --no-types --max-constant 2", 0, "y = relu\\(h\\)", "", ""},
      {"x2ir info small.onnx", 0,
       "opsets +17[\\s\\S]*x: float32\\[2,3\\][\\s\\S]*3 in 1 tensor[\\s\\S]*converts +yes", "",
       ""},
      {"x2ir info dyn.onnx", 0, "dims of x; --shape", "", ""},
      // Files state no type of a result, or a rank alone: inference knows it.
      {StrCat("x2ir info ", X2IR_SOURCE_DIR, "/tests/data/tflite/while_5.tflite"), 0,
       "outputs +[^\n]*\\[[0-9,]*\\]\n", "", ""},
      {StrCat("x2ir info ", X2IR_SOURCE_DIR, "/tests/data/coreml/gen_mil_cnn.mlpackage"), 0,
       "outputs +[^\n]*\\[[0-9,]+\\]\n", "", ""},
      {"x2ir info small.onnx --json", 0,
       "\"type\": \"float32\\[2,3\\]\", \"dtype\": \"float32\", \"shape\": \\[2, 3\\]", "", ""},
      {"x2ir info dyn.onnx --json", 0, "\"shape\": \\[null, 5\\]|\"shape\": \\[.*null", "", ""},
      {"x2ir info dyn.onnx --cost", 0, "sizes are missing: [^\n]*; --shape NAME:1,3,... gives them",
       "", ""},
      {"awk 'BEGIN { print \"<ir_version: 8, opset_import: [\\\"\\\" : 17]>\"; "
       "print \"g (float[2] v0) => (float[2] v120) {\"; "
       "for (i = 1; i <= 120; ++i) printf \"v%d = Neg (v%d)\\n\", i, i - 1; print \"}\" }' "
       ">l.onnxtxt; "
       "x2ir draw l.onnxtxt -o l.svg && x2ir draw l.onnxtxt -q -o m.svg",
       0, "^wrote l.svg\n  120 nodes are more than a screen shows: x2ir view l.onnxtxt [^\n]*\n$",
       "", "l.onnxtxt l.svg m.svg"},
      {"x2ir info param.onnx", 0, "inputs +x: float32\\[3\\]\n +and 1 with a default", "", ""},
      {"x2ir draw small.onnx", 0,
       "^digraph \"small\" \\{[\\s\\S]*add[\\s\\S]*w = float32\\[3\\]\\{0.5, -1, 2\\}[\\s\\S]*relu",
       "", ""},
      {"x2ir draw small.onnx -o a.dot", 0, "wrote a.dot", "", "a.dot"},
      {"x2ir draw small.onnx -q --raw -o a.dot", 0, "", "", "a.dot"},
      {"PATH=$(dirname $(command -v x2ir)) TMPDIR=/nowhere x2ir draw small.onnx -o a.svg && "
       "grep -c '</svg>' a.svg",
       0, "wrote a.svg\n1\n$", "", "a.svg"},
      // The lines of a wide node are broken, unless somebody wants them whole.
      {"x2ir show wide.onnx | awk 'length > 100'", 0, "", "", ""},
      {"x2ir show wide.onnx | tail -n 3", 0, "\n        an_operand_of_a_long_name_[0-9]", "", ""},
      {"x2ir show wide.onnx --width 0 | grep -c '= concat(.*) { axis = 0 }$'", 0, "^1\n$", "", ""},
      {"x2ir show wide.onnx --width 60 | awk 'length > 60'", 0, "", "", ""},
      {"x2ir ops | awk 'length > 150'", 0, "", "", ""},
      {"x2ir ops --dialect onnx | awk 'length > 220'", 0, "", "", ""},
      {"x2ir ops conv", 0,
       "^conv +\\(Convolution and pooling\\)\n  Convolution over [\\s\\S]*operands\n +x "
       "+[^\n]*float16"
       "[\\s\\S]*b +optional; [\\s\\S]*group +int, 1: groups [\\s\\S]*strides +ints, may be "
       "absent: steps of the window[\\s\\S]*onnx +Conv 1\\+; [\\s\\S]*torch +aten::"
       "[\\s\\S]*evaluation +yes",
       "", ""},
      {"x2ir ops relu add | grep -c '^operands'", 0, "^2\n$", "", ""},
      {"x2ir ops conv --markdown", 0, "### conv[\\s\\S]*\\| `group` \\| int \\| `1` \\|", "", ""},
      {"x2ir ops", 0, "relu +yes +yes +yes +- +onnx.Relu [16]\\+, [0-9]+ of [a-z0-9]+, ", "", ""},
      {"x2ir ops --dialect tf", 0, "Conv2D +yes +yes +yes +conv", "", ""},
      {"x2ir ops | tail -n 1", 0, "ops of the IR", "", ""},
      {"x2ir ops --dialect onnx --opset 11 --markdown", 0, "\\| Relu \\| relu \\| 1\\+", "", ""},
      {"x2ir --help", 0, "convert[\\s\\S]*verify[\\s\\S]*Exit codes", "", ""},
      {"x2ir convert --help", 0, "--shape[\\s\\S]*Examples", "", ""},
      {"x2ir --version", 0, "^x2ir [0-9.]+\n$", "", ""},
      {"ir2onnx --version", 0, "^ir2onnx [0-9.]+\n$", "", ""},
      {"ir2onnx export --help", 0, "--external-data", "", ""},
  });
}

// What a format alone has is said where the format is named; and no line is too long to read.
TEST_F(Cli, HelpIsAboutWhatIsAskedFor) {
  Check({
      {"for p in x2ir ir2onnx; do $p --help; for v in convert show info draw view run verify "
       "compare "
       "diff ops formats export; do $p $v --help; for f in onnx tflite coreml ir python; do "
       "$p $v --help --to $f --from $f; done; done; done 2>/dev/null | awk 'length > 100'",
       0, "", "", ""},
      {"x2ir convert --help", 0,
       "\nReading formats; --help with MODEL or --from FORMAT shows them:\n  --params FILE +caffe, "
       "[\\s\\S]*\n  --raw-images +coreml\n[\\s\\S]*\nWriting formats; --help with -o FILE or --to "
       "FORMAT shows them:\n[\\s\\S]*  --force +coreml, ir[\\s\\S]*\n  --dynamic-range +tflite\n",
       "", ""},
      {"x2ir convert --help --to tflite", 0,
       "\nReading formats; [\\s\\S]*\nWriting tflite:\n  --dynamic-range +Write large weights of ",
       "", ""},
      {"x2ir convert --help --to tflite | grep -cE 'ir-version N|weights copy|Writing formats'", 1,
       "^0\n", "", ""},
      {"x2ir convert small.onnx -o a.py --help", 0,
       "\nWriting python:\n  --force [\\s\\S]*\n  --frozen +Weights are not "
       "trained",
       "", ""},
      {"x2ir convert small.onnx -o a.py --help | grep -cE 'ing formats|--signature'", 1, "^0\n", "",
       ""},
      {"x2ir info model.pt2 --help", 0,
       "\nReading torch:\n[\\s\\S]*\n  --model TAG,... +Which graph", "", ""},
      {"x2ir info --help", 0, "\nReading formats; --help with MODEL shows them:\n", "", ""},
      // What is there says what it is; a pipe is not read.
      {"cp small.onnx a.tflite; x2ir info --help a.tflite | grep -c '^  --signature'; rm a.tflite",
       0, "^0\n", "", ""},
      {"x2ir convert --help a.tflite --from torch | grep '^Reading [a-z]'", 0, "^Reading torch:\n$",
       "", ""},
      {"mkfifo p; timeout 5 x2ir info --help p | grep -c '^Usage'; code=$?; rm p; exit $code", 0,
       "^1\n", "", ""},
      {"ir2onnx export --help", 0,
       "\nWriting onnx:\n  --force [\\s\\S]*  --opset N +The opset to write\n", "", ""},
      {"ir2onnx export --help | grep -c 'dynamic-range'", 1, "^0\n", "", ""},
  });
}

TEST_F(Cli, RunsAndVerifies) {
  const std::string ir = "x2ir convert small.onnx -q && ";
  const std::string files = "small.json small.safetensors";
  Check({
      {"x2ir verify small.onnx --io io.safetensors", 0,
       "agrees +y: float32\\[2,3\\][\\s\\S]*the output agrees", "", ""},
      {"x2ir verify small.onnx --io named.safetensors -q", 0, "", "", ""},
      {ir + "x2ir verify small.json --io io.safetensors", 0, "the output agrees", "", files},
      {"x2ir verify small.onnx --io bad.safetensors", 1,
       "DIFFERS +y[\\s\\S]*1 of 6 elements differ, the first at \\[0,2\\]: expected 6, got 5", "",
       ""},
      {"x2ir verify small.onnx --io bad.safetensors --atol 1", 0, "agrees", "", ""},
      {"x2ir verify small.onnx --io bad.safetensors -q", 1, "", "", ""},
      {"x2ir verify small.onnx --io cases.safetensors", 1,
       "agrees +case0 y[\\s\\S]*DIFFERS +case1 y[\\s\\S]*1 of 2 outputs differ", "", ""},
      {ir + "x2ir verify small.onnx small.json", 0, "random inputs: x: float32\\[2,3\\]", "",
       files},
      {"x2ir verify small.onnx other.onnx", 1, "DIFFERS", "", ""},
      {"x2ir verify small.onnx other.onnx --io inputs.safetensors", 1, "DIFFERS", "", ""},
      {"x2ir verify dyn.onnx dyn.onnx", 0, "n = 2", "", ""},
      {"x2ir verify small.onnx dyn.onnx", 1, "DIFFERS", "", ""},
      {"x2ir run small.onnx --io io.safetensors", 0,
       "^y: float32\\[2,3\\] +\\{1.5, 1, 5, 0, 0, 0\\}\n$", "", ""},
      {"x2ir run small.onnx --input x=x.npy", 0, "\\{1.5, 1, 5", "", ""},
      {"x2ir run small.onnx --io inputs.safetensors --input x=x.npy -q", 0, "\\{1.5, 1, 5", "", ""},
      {"x2ir run small.onnx --input x=x.npy -o r.safetensors && "
       "x2ir verify small.onnx --io r.safetensors",
       0, "wrote r.safetensors\n[\\s\\S]*the output agrees", "", "r.safetensors"},
      {"x2ir run small.onnx --io cases.safetensors -o r.safetensors -q && "
       "x2ir verify small.onnx --io r.safetensors",
       0, "all outputs agree \\(2\\)", "", "r.safetensors"},
  });
}

TEST_F(Cli, JsonIsForPrograms) {
  auto parse = [](const std::string& command, int code) {
    SCOPED_TRACE(command);
    const Result got = Run(command);
    EXPECT_EQ(got.code, code) << got.err;
    EXPECT_EQ(got.err, "");
    Json json = Json::parse(got.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << got.out;
    return json;
  };
  const Json info = parse("x2ir info unsupported.onnx --json", 0);
  EXPECT_EQ(info["ops"]["onnx.com.acme::Foo"], 2);
  EXPECT_EQ(info["converts"], false);
  EXPECT_EQ(info["failures"].size(), 3u);
  EXPECT_EQ(info["inputs"][0]["type"], "float32[2]");
  const Json ops = parse("x2ir ops --json", 0);
  EXPECT_GT(ops.size(), 50u);
  const Json conv = parse("x2ir ops conv --json", 0);
  ASSERT_EQ(conv.size(), 1u);
  EXPECT_EQ(conv[0]["op"], "conv");
  EXPECT_EQ(conv[0]["operands"][2]["arity"], "optional");
  EXPECT_EQ(conv[0]["attributes"][2]["name"], "group");
  EXPECT_EQ(conv[0]["attributes"][2]["default"], "1");
  EXPECT_EQ(conv[0]["attributes"][3]["default"], Json());
  EXPECT_NE(conv[0]["attributes"][3]["meaning"], "");
  const Json good = parse("x2ir verify small.onnx --io io.safetensors --json", 0);
  EXPECT_EQ(good["agrees"], true);
  const Json bad = parse("x2ir verify small.onnx --io bad.safetensors --json", 1);
  EXPECT_EQ(bad["outputs"][0]["first"], Json({0, 2}));
  const Json run = parse("x2ir run small.onnx --io io.safetensors --json", 0);
  EXPECT_EQ(run["outputs"][0]["values"], Json({1.5, 1, 5, 0, 0, 0}));
  EXPECT_EQ(run["outputs"][0]["shape"], Json({2, 3}));

  const Result failed = Run("x2ir convert unsupported.onnx --report r.json");
  const Json report = Json::parse(failed.files.at("r.json"), nullptr, false);
  ASSERT_FALSE(report.is_discarded()) << failed.files.at("r.json");
  EXPECT_EQ(report["exit_code"], 1);
  EXPECT_EQ(report["failures"].size(), 3u);
  EXPECT_EQ(report["nodes_read"], 5);
  const Result unread = Run("x2ir convert corrupt.onnx --report r.json");
  const Json early = Json::parse(unread.files.at("r.json"), nullptr, false);
  ASSERT_FALSE(early.is_discarded());
  EXPECT_EQ(early["exit_code"], 3);
  EXPECT_NE(early["error"], "");
}

// Weights of older versions have no mark: they are known by the IR file beside them.
TEST_F(Cli, KnowsWeightsOfOlderVersions) {
  const Result made = Run("x2ir convert -q big.onnx");
  const fs::path folder = dir_->path() / "old";
  fs::create_directories(folder);
  const auto weights = ReadSafetensors(dir_->path() / "work/big.safetensors");
  ASSERT_TRUE(weights.ok()) << weights.status();
  ASSERT_EQ(weights->metadata.size(), 1u);
  EXPECT_EQ(weights->metadata[0].first, "x2ir");
  ASSERT_TRUE(WriteSafetensors(folder / "w.safetensors", weights->tensors).ok());
  const std::string old = StrCat("cp '", (folder / "w.safetensors").string(), "' ");
  Check({
      {"x2ir convert -q big.onnx && " + old + "big.safetensors && x2ir convert big.onnx", 0,
       "wrote", "", "big.json big.safetensors"},
      {old + "big.safetensors && x2ir convert big.onnx", 2, "", "--force", "big.safetensors"},
  });
}

// What libonnx's checker says of a model counts.
TEST(LibonnxChecker, FindsFault) {
  const auto good =
      cli::CheckWithLibonnx(OnnxModel("graph g(x: float32[2]) -> (y: float32[2]) { "
                                      "y: float32[2] = onnx.Relu(x) }"));
  ASSERT_TRUE(good.ok()) << good.status();
  if (*good == "it is not installed") GTEST_SKIP() << "*** libonnx's checker is NOT there";
  EXPECT_EQ(*good, "");
  const auto bad =
      cli::CheckWithLibonnx(OnnxModel("graph g(x: float32[2]) -> (y: float32[2]) { "
                                      "y: float32[2] = onnx.Foo(x) }"));
  EXPECT_TRUE(absl::IsFailedPrecondition(bad.status())) << bad.status();
  EXPECT_NE(bad.status().message().find("Foo"), absl::string_view::npos) << bad.status();
}

// Names in a model are anybody's text: a terminal must not obey them.
TEST_F(Cli, NamesCannotControlTheTerminal) {
  const fs::path folder = dir_->path() / "evil";
  fs::create_directories(folder);
  const fs::path path = folder / "evil.onnx";
  Model model = OnnxModel(R"(graph e(x: float32[2]) -> (y) {
      y: float32[2] = onnx.com.acme::Foo(x) "a\u001b[31mb" })");
  ASSERT_TRUE(WriteOnnx(model, path).ok());
  for (const char* verb : {"convert", "info", "show --names", "draw"}) {
    SCOPED_TRACE(verb);
    const Result got = Run(StrCat("x2ir ", verb, " ", path.string()));
    EXPECT_EQ((got.out + got.err).find('\x1b'), std::string::npos) << got.out << got.err;
  }
}

}  // namespace
}  // namespace x2ir
