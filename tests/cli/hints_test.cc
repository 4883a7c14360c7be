// Hints are tried before they are given: a row runs into a message that says what to do, does that,
// and gets further. An option that a message mentions and that has no row is found in the sources.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/cli/shell_util.h"
#include "tests/core/convert_util.h"
#include "x2ir/formats/npy/npy.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

class Hints : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    PutOnnx("small.onnx", "graph s(x: float32[2]) -> (y) { y: float32[2] = onnx.Relu(x) }");
    PutOnnx("one.onnx", "graph o(x: float32[1]) -> (y) { y = onnx.Relu(x) }");
    PutOnnx("open.onnx", "graph d(x: float32[?,3]) -> (y) { y = onnx.Relu(x) }");
    PutOnnx("norank.onnx", "graph d(x: float32[...]) -> (y) { y = onnx.Relu(x) }");
    PutOnnx("param.onnx", R"(graph p(x: float32[3], w: float32[3] = float32[3]{1, 2, 3}) -> (y) {
        y: float32[3] = onnx.Add(x, w) })");
    PutOnnx("foreign.onnx", R"(graph f(x: float32[2]) -> (y) {
        h: float32[2] = onnx.com.acme::Foo(x) y: float32[2] = onnx.Relu(h) })");
    PutOnnx("image.onnx", "graph i(x: float32[1,3,4,4]) -> (y) { y = onnx.Relu(x) }");
    PutOnnx("last.onnx", "graph i(x: float32[1,4,5,3]) -> (y) { y = onnx.Relu(x) }");
    PutOnnx("two.onnx",
            "graph t(x: float32[2]) -> (y, z) { y: float32[2] = onnx.Relu(x) z: float32[2] = "
            "onnx.Exp(x) }");
    PutOnnx("double.onnx", "graph d(x: float64[2]) -> (y) { y: float64[2] = onnx.Relu(x) }");
    std::string elements;
    for (int i = 0; i < 4096; ++i) StrAppend(&elements, i ? ", " : "", i % 7);
    PutOnnx("big.onnx", StrCat("graph big(x: float32[1,64]) -> (y) { w = float32[64,64]{", elements,
                               "}\ny: float32[1,64] = onnx.MatMul(x, w) }"));
    PutOnnx("half.onnx",
            StrCat("graph half(x: float32[1,64]) -> (y) { w = float16[64,64]{", elements,
                   "}\nf = onnx.Cast(w) { to = 1 }\ny = onnx.MatMul(x, f) }"));
    ASSERT_TRUE(WriteNpy(Path("x.npy"), Tensor::Of<float>({2}, {1, -1})).ok());
  }
};

TEST_F(Hints, FollowingThemHelps) {
  const struct {
    const char* option;  // that the message mentions
    const char* command;
    const char* hint;      // a regular expression of what it prints
    const char* followed;  // what it says, done; succeeds
    const char* shows;     // a regular expression of what that prints
  } rows[] = {
      {"keep_functions",
       R"(printf '<ir_version: 8, opset_import: ["" : 11, "f" : 1]>
                  g (float[2] x) => (float[2] y) { y = f.F (x) }
                  <domain: "f", opset_import: ["" : 11]> F (x) => (y) { y = LeakyRelu (x) }' > f.onnxtxt
          x2ir convert f.onnxtxt -o a.onnx --opset 17 --keep-functions)",
       "another meaning; without --keep-functions calls are inlined",
       "x2ir convert f.onnxtxt -o a.onnx --opset 17", "wrote a.onnx"},
      {"foreign", "x2ir convert foreign.onnx", "--allow-foreign com.acme keeps it unchanged",
       "x2ir convert foreign.onnx --allow-foreign com.acme", "1 foreign"},
      {"foreign", "x2ir convert foreign.onnx -o a.onnx",
       "--allow-foreign com.acme keeps it unchanged",
       "x2ir convert foreign.onnx -o a.onnx --allow-foreign com.acme", "wrote a.onnx"},
      {"continue_on_error",
       "x2ir convert -q foreign.onnx -o f.json "
       "--allow-foreign com.acme; x2ir convert f.json -o a.nnvm.json",
       "--continue-on-error writes it unchanged, as an op that no runtime supports",
       "x2ir convert f.json -o a.nnvm.json --continue-on-error", "wrote a.nnvm.json"},
      {"continue_on_error", "x2ir convert foreign.onnx -o a.nnvm.json",
       "--continue-on-error writes it unchanged, as an op that no runtime of nnvm supports",
       "x2ir convert foreign.onnx -o a.nnvm.json --continue-on-error", "wrote a.nnvm.json"},
      {"shapes", "x2ir convert open.onnx -o a.onnx", "--shape fixes them \\(NAME:1,3,...\\)",
       "x2ir convert open.onnx -o a.onnx --shape x:1,3 && x2ir info a.onnx", "x: float32\\[1,3\\]"},
      {"shapes", "x2ir info open.onnx", "--shape NAME:1,3,... at conversion fixes them",
       "x2ir convert -q open.onnx -o a.onnx --shape x:1,3 && x2ir info a.onnx",
       "x: float32\\[1,3\\]"},
      {"shapes", "x2ir info open.onnx --cost", "--shape NAME:1,3,... gives them",
       "x2ir info open.onnx --cost --shape x:1,3", "multiply-adds"},
      {"freeze_params",
       "x2ir convert -q param.onnx --no-freeze-params -o p.json; x2ir convert p.json -o a.tflite",
       "--freeze-params makes it a constant", "x2ir convert p.json -o a.tflite --freeze-params",
       "wrote a.tflite"},
      {"allow_outside",
       "x2ir convert -q big.onnx --weights reference -o in/big.json; x2ir info in/big.json",
       "must be allowed \\(--allow-outside\\)", "x2ir info in/big.json --allow-outside",
       "converts +yes"},
      {"allow_outside",
       "x2ir convert -q big.onnx -o far.onnx --external-data always; mkdir -p in2; mv far.onnx "
       "in2; "
       "ln -s ../far.onnx.data in2/far.onnx.data; x2ir info in2/far.onnx",
       "is a link out .* must be allowed \\(--allow-outside\\)",
       "x2ir info in2/far.onnx --allow-outside", "converts +yes"},
      {"force", "echo mine >small.json; x2ir convert small.onnx", "replace this file with --force",
       "x2ir convert small.onnx --force", "^wrote small.json"},
      {"force", "rm -f small.json; echo mine >small.json; x2ir convert small.onnx",
       "choose another output with -o", "x2ir convert small.onnx -o another.json",
       "^wrote another.json"},
      {"float64_as_float32", "x2ir convert double.onnx -o a.mlpackage",
       "--float64-as-float32 makes it float32",
       "x2ir convert double.onnx -o a.mlpackage --float64-as-float32", "wrote a.mlpackage"},
      {"image", "x2ir convert image.onnx -o a.mlpackage --image-scale 0.5", "needs --image",
       "x2ir convert image.onnx -o a.mlpackage --image-scale 0.5 --image x", "wrote a.mlpackage"},
      {"inputs_as_nchw", "x2ir convert last.onnx -o b.mlpackage --image x", "--inputs-as-nchw x",
       "x2ir convert last.onnx -o b.mlpackage --image x --inputs-as-nchw x", "wrote b.mlpackage"},
      {"labels",
       "echo cat >l.txt; echo dog >>l.txt; x2ir convert two.onnx -o c.mlpackage --label-name c",
       "needs --labels", "x2ir convert small.onnx -o c.mlpackage --label-name c --labels l.txt",
       "wrote c.mlpackage"},
      {"probabilities", "x2ir convert two.onnx -o d.mlpackage --labels l.txt",
       "--probabilities says which",
       "x2ir convert two.onnx -o d.mlpackage --labels l.txt --probabilities z",
       "wrote d.mlpackage"},
      {"keep_weight_types", "x2ir convert half.onnx -o a.onnx",
       "--keep-weight-types keeps the type",
       "x2ir convert -q half.onnx -o a.onnx --keep-weight-types && x2ir info a.onnx", "onnx.Cast"},
      {"from_opset", "x2ir convert small.onnx --opset 17 -o a.json", "use --from-opset instead",
       "x2ir convert small.onnx --from-opset 17 -o a.json", "wrote a.json"},
      {"io", "x2ir verify norank.onnx norank.onnx", "give inputs by --io",
       "x2ir run -q norank.onnx --input x=x.npy -o n.safetensors && "
       "x2ir verify norank.onnx norank.onnx --io n.safetensors",
       "agrees"},
      {"io", "x2ir run small.onnx", "by --io, or by[\\s\\S]*--input x=FILE.npy",
       "x2ir run -q small.onnx --random 1 -o io.safetensors && x2ir run small.onnx --io "
       "io.safetensors",
       "y: "},
      {"optimize", "x2ir convert small.onnx --layout channels_last", "--layout: needs --optimize",
       "x2ir convert small.onnx --force --layout channels_last --optimize", "wrote small.json"},
      {"float16", "x2ir convert small.onnx -o a.onnx --keep-io", "--keep-io: needs --float16",
       "x2ir convert small.onnx -o a.onnx --keep-io --float16", "wrote a.onnx"},
      {"dynamic", "x2ir run one.onnx --input x=x.npy", "to accept any size there: --dynamic x:0=d0",
       "x2ir run one.onnx --input x=x.npy --dynamic x:0=d0", "y: float32\\[2\\]"},
      {"shapes", "x2ir run norank.onnx --random 1", "--shape x:1,3,... gives it a shape",
       "x2ir run norank.onnx --random 1 --shape x:1,3", "y: float32\\[1,3\\]"},
      {"shapes", "x2ir convert norank.onnx -o a.mlpackage", "--shape NAME:1,3,... gives shapes",
       "x2ir convert norank.onnx -o a.mlpackage --shape x:1,3", "wrote a.mlpackage"},
      {"shapes", "x2ir convert open.onnx -o a.job", "--shape NAME:1,3,... sets the sizes of inputs",
       "x2ir convert open.onnx -o a.job --shape x:1,3", "wrote a.job"},
      {"int8", "x2ir convert small.onnx -o a.onnx --per-channel", "--per-channel: needs --int8",
       "x2ir convert small.onnx -o a.onnx --per-channel --int8 --calibrate x.npy", "int8: 1 op"},
      {"calibrate", "x2ir convert small.onnx -o a.onnx --int8", "--int8: needs --calibrate",
       "x2ir convert small.onnx -o a.onnx --int8 --calibrate x.npy", "int8: 1 op"},
      {"to", "x2ir convert small.onnx -o a.bin", "or --to",
       "x2ir convert small.onnx -o a.bin --to onnx", "wrote a.bin"},
  };
  std::set<std::string> tried;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.command);
    const Result first = Run(row.command);
    EXPECT_TRUE(std::regex_search(first.out + first.err, std::regex(row.hint)))
        << first.out << first.err;
    const Result second = Run(row.followed);
    EXPECT_EQ(second.code, 0) << row.followed << "\n" << second.out << second.err;
    EXPECT_TRUE(std::regex_search(second.out, std::regex(row.shows))) << row.followed << "\n"
                                                                      << second.out << second.err;
    tried.insert(row.option);
  }
  // Those whose examples other tests have.
  for (const char* const elsewhere : {
           "inputs",
           "weights_from",               // files that PyTorch makes of others: docs/torchscript.md
           "dtypes",                     // decoders of pictures: TensorFlow's graphs
           "outputs",                    // graphs of TensorFlow without a result
           "io_type",                    // ChangedInterface
           "fold_inputs",                // Unknown
           "minimum_deployment_target",  // CoremlTargets
           "runtime_library",            // tests/runtimes
           "task",                       // tests/handlers/checkpoint
           "part",
           "attention_mask",
           // What was done: Options.
           "int4",
           "int8_weights",
           "unpack",
           "format",  // no hint: a name that the library for C takes off
           // What excludes what: Options.
           "no_optimize",
           "passes",
           "foreign",
           "bfloat16",
           "dynamic_range",
       }) {
    tried.insert(elsewhere);
  }
  const std::regex mentioned("OptionText\\(\"([a-z0-9_]+)\"\\)");
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(X2IR_SOURCE_DIR) / "x2ir")) {
    if (entry.path().extension() != ".cc") continue;
    ++files;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator it(source.begin(), source.end(), mentioned), last; it != last; ++it) {
      EXPECT_TRUE(tried.contains((*it)[1].str()))
          << entry.path() << " has a hint that nobody tries: " << (*it)[1].str();
    }
  }
  EXPECT_GT(files, 300u);
}

// Where following a hint would not help, there is none: a file of these formats holds no ops but
// the format's own.
TEST_F(Hints, AreLeftOutWhereTheyWouldNotHelp) {
  for (const char* const file : {"a.tflite", "a.pt2", "a.py", "a.mlpackage", "a.mlir"}) {
    SCOPED_TRACE(file);
    const Result result = Run(StrCat("x2ir convert foreign.onnx -o ", file));
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.err.find("--"), std::string::npos) << result.err;
    const Result kept = Run(StrCat("x2ir convert foreign.onnx --continue-on-error -o ", file));
    EXPECT_EQ(kept.code, 1);
    EXPECT_NE(kept.err.find("a foreign op of onnx cannot be written to"), std::string::npos)
        << kept.err;
  }
}

// "1 foreign ... kept unchanged: tflite.DYNAMIC_UPDATE_SLICE": it is an operator of the target.
TEST_F(Hints, OperatorsOfTheTargetAreNotForeign) {
  auto model = ModelFromText(R"(graph l(x: float32[5,1,2]) -> (y) {
      w = float32[1,12,2]{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6,
                          0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}
      r = float32[1,12,3]{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6,
                          0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6,
                          0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}
      y = onnx.LSTM(x, w, r) { hidden_size = 3 } })",
                             "onnx", 17);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(WriteOnnx(*model, Path("lstm.onnx")).ok());
  const Result result = Run("x2ir convert lstm.onnx -o a.tflite");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find(" 0 foreign, "), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("kept unchanged"), std::string::npos) << result.out;
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace x2ir
