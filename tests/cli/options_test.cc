// Every flag of every verb does something: a row runs a command without the flag and with it, and
// what is printed shows the difference. Flags without a row are found by the completions, which are
// made of the flags.
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cli/shell_util.h"
#include "tests/core/convert_util.h"
#include "x2ir/formats/npy/npy.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/view/view.h"

namespace x2ir {
namespace {

class Options : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    PutOnnx("small.onnx", R"(graph small(x: float32[2,3]) -> (y) {
        w = float32[3]{0.5, -1, 2}
        h: float32[2,3] = onnx.Add(x, w) "first"
        y: float32[2,3] = onnx.Relu(h) "second" })");
    PutOnnx("other.onnx", R"(graph small(x: float32[2,3]) -> (y) {
        w = float32[3]{0.5, -1, 2.1}
        h: float32[2,3] = onnx.Add(x, w) "first"
        y: float32[2,3] = onnx.Relu(h) "second" })");
    PutOnnx("one.onnx", "graph o(x: float32[1]) -> (y) { y: float32[1] = onnx.Relu(x) }");
    PutOnnx("dyn.onnx", "graph d(x: float32[n,m]) -> (y) { y: float32[n,m] = onnx.Relu(x) }");
    PutOnnx("dyn1.onnx", "graph d(x: float32[n]) -> (y) { y: float32[n] = onnx.Relu(x) }");
    PutOnnx("param.onnx", R"(graph p(x: float32[3], w: float32[3] = float32[3]{1, 2, 3}) -> (y) {
        y: float32[3] = onnx.Add(x, w) })");
    PutOnnx("foreign.onnx", R"(graph f(x: float32[2]) -> (y) {
        y: float32[2] = onnx.com.acme::Foo(x) })");
    PutOnnx("bits.onnx", "graph b(x: int32[2]) -> (y) { y: int32[2] = onnx.BitwiseNot(x) }", 18);
    PutOnnx("double.onnx", "graph d(x: float64[2]) -> (y) { y: float64[2] = onnx.Relu(x) }");
    PutOnnx("nhwc.onnx", "graph n(x: float32[1,4,4,3]) -> (y) { y = onnx.Relu(x) }");
    PutOnnx("image.onnx", "graph i(x: float32[1,3,2,2]) -> (y) { y = onnx.Relu(x) }");
    PutOnnx("nchw.onnx", "graph n(x: float32[1,3,4,4]) -> (y) { y = onnx.Relu(x) }");
    PutOnnx("conv.onnx", R"(graph c(x: float32[1,1,2,2]) -> (y) {
        w = float32[1,1,1,1]{2}
        y = onnx.Conv(x, w) { kernel_shape = [1, 1] } })");
    PutOnnx("gelu.onnx", R"(graph g(x: float32[2,3]) -> (y) {
        two = float32[]{2}
        one = float32[]{1}
        half = float32[]{0.5}
        root = onnx.Sqrt(two)
        d = onnx.Div(x, root)
        e = onnx.Erf(d)
        a = onnx.Add(e, one)
        m = onnx.Mul(x, a)
        y = onnx.Mul(m, half) })");
    PutOnnx("bfloat16.onnx", "graph b(x: bfloat16[2]) -> (y) { y = onnx.Neg(x) }");
    PutOnnx("gelu20.onnx", "graph g(x: float32[2,3]) -> (y) { y = onnx.Gelu(x) }", 20);
    std::string elements;
    for (int i = 0; i < 4096; ++i) StrAppend(&elements, i ? ", " : "", i % 7);
    PutOnnx("big.onnx", StrCat("graph big(x: float32[1,64]) -> (y) { w = float32[64,64]{", elements,
                               "}\ny: float32[1,64] = onnx.MatMul(x, w) }"));
    PutOnnx("half.onnx",
            StrCat("graph half(x: float32[1,64]) -> (y) { w = float16[64,64]{", elements,
                   "}\nf = onnx.Cast(w) { to = 1 }\ny = onnx.MatMul(x, f) }"));
    auto model = ModelFromText("graph f(x: float32[2]) -> (y) { y = onnx.com.acme::F(x) }", "onnx",
                               17, {{"com.acme", 1}});
    ASSERT_TRUE(model.ok()) << model.status();
    model->functions.push_back(std::make_shared<Function>());
    model->functions[0]->domain = "com.acme";
    model->functions[0]->name = "F";
    model->functions[0]->opset_imports = {{"", 17}};
    auto body = ModelFromText("graph F(a: ?) -> (b) { b = onnx.Neg(a) }", "onnx", 17);
    ASSERT_TRUE(body.ok()) << body.status();
    model->functions[0]->body = body->graph;
    ASSERT_TRUE(WriteOnnx(*model, Path("calls.onnx")).ok());

    const Tensor x = Tensor::Of<float>({2, 3}, {1, 2, 3, -1, -2, -3});
    const Tensor y = Tensor::Of<float>({2, 3}, {1.5f, 1, 5, 0, 0, 0});
    const Tensor off = Tensor::Of<float>({2, 3}, {1.5f, 1, 5.01f, 0, 0, 0});
    const Tensor w = Tensor::Of<float>({3}, {7, 8, 9});
    const auto file = [&](const std::string& name, const std::vector<NamedTensor>& tensors) {
      ASSERT_TRUE(WriteSafetensors(Path(name), tensors).ok()) << name;
    };
    file("io.safetensors", {{"in_0", x}, {"out_0", y}});
    file("off.safetensors", {{"in_0", x}, {"out_0", off}});
    file("cases.safetensors",
         {{"case0.in_0", x}, {"case0.out_0", y}, {"case1.in_0", x}, {"case1.out_0", off}});
    file("w.safetensors", {{"w", w}});
    file("three.safetensors", {{"in_0", w}});
    ASSERT_TRUE(WriteNpy(Path("x.npy"), x).ok());
    ASSERT_TRUE(WriteNpy(Path("w.npy"), w).ok());
  }

  struct Flag {
    const char* flag;
    const char* command;  // @: the flag and its value, or nothing
    const char* given;
    const char* shows;  // a regular expression, for what is printed on either stream with the flag
  };

  void CheckFlags(const std::string& program, const std::vector<Flag>& rows) {
    for (const Flag& row : rows) {
      SCOPED_TRACE(StrCat(program, ": ", row.command, "  @ = ", row.given));
      const auto run = [&](const std::string& given) {
        std::string line = row.command;
        for (size_t at; (at = line.find('@')) != line.npos;) line.replace(at, 1, given);
        for (size_t at; (at = line.find("VERB")) != line.npos;) line.replace(at, 4, program);
        // In a folder of its own, since files are left.
        const Result result =
            Run(StrCat("rm -rf work && mkdir work && cp *.* work/ && cd work && D='",
                       X2IR_SOURCE_DIR, "/tests/data'; ", line));
        return result.out + result.err;
      };
      const std::regex shows(row.shows);
      const std::string with = run(row.given), without = run("");
      EXPECT_TRUE(std::regex_search(with, shows)) << with.substr(0, 2000);
      EXPECT_FALSE(std::regex_search(without, shows)) << without.substr(0, 2000);
    }
  }

  // The long flags of a verb.
  std::set<std::string> FlagsOf(const std::string& program, const std::string& verb) {
    const std::string page = Run(StrCat(program, " --page fish")).out;
    std::set<std::string> flags;
    const std::regex long_flag(" -l ([a-z0-9-]+)");
    for (size_t at = 0, end; at < page.size(); at = end + 1) {
      end = std::min(page.find('\n', at), page.size());
      std::string line = page.substr(at, end - at);
      if (line.find(StrCat("_from ", verb, "'")) == line.npos) continue;
      line = line.substr(0, line.find(" -d '"));
      for (std::sregex_iterator it(line.begin(), line.end(), long_flag), last; it != last; ++it) {
        flags.insert(StrCat("--", (*it)[1].str()));
      }
    }
    return flags;
  }
};

// What a flag of reading does not depend on the verb: `x2ir info` stands for all.
TEST_F(Options, OfEveryVerb) {
  const std::vector<Flag> rows = {
      {"--help", "x2ir info @", "--help", "Usage: x2ir info MODEL"},
      {"--quiet", "x2ir convert small.onnx @ | wc -c", "--quiet", "^0\n"},
      {"--verbose", "x2ir convert small.onnx @", "--verbose", "onnx.Add +1 mapped"},
      {"--params",
       "printf '7767517\n2 2\nInput in 0 1 in 0=4\nReLU r 1 1 in out\n' >n.param; "
       "x2ir info n.param @",
       "--params nowhere.bin", "no such file: 'nowhere.bin'"},
      // A network of one layer, a relu, whose input is an image that is halved before.
      {"--raw-images",
       "printf "
       "'\\x08\\x04\\x12\\x21\\x0a\\x0d\\x0a\\x01\\x78\\x1a\\x08\\x22\\x06\\x08\\x02\\x10\\x02"
       "\\x18\\x0a\\x52\\x10\\x0a\\x01\\x79\\x1a\\x0b\\x2a\\x09\\x0a\\x03\\x01\\x02\\x02\\x10\\xa0"
       "\\x80\\x04\\xa2\\x1f\\x1c\\x0a\\x0e\\x0a\\x01\\x72\\x12\\x01\\x78\\x1a\\x01\\x79\\x92\\x08"
       "\\x02\\x52\\x00\\x12\\x0a\\x0a\\x01\\x78\\x52\\x05\\x55\\x00\\x00\\x00\\x3f' >m.mlmodel; "
       "x2ir show m.mlmodel @ | grep -c 'mul(x'",
       "--raw-images", "^0\n"},
      {"--function", "x2ir info $D/coreml/gen_mil_cnn.mlpackage @", "--function nope",
       "no function 'nope'"},
      {"--decode-heads",
       "printf '[net]\nwidth=4\nheight=4\nchannels=18\n[yolo]\nmask=0,1,2\nanchors=1,1,2,2,3,3\n"
       "classes=1\nnum=3\n' >y.cfg; x2ir show y.cfg @",
       "--decode-heads", "float32\\[1,48,6\\]|exp\\("},
      {"--fork",
       "printf '[net]\ninputs=1\n[gru]\noutput=1\n' >g.cfg; "
       "(printf '\\0\\0\\0\\0\\1'; head -c 59 /dev/zero) >g.weights; x2ir show g.cfg @ || true",
       "--fork pjreddie", "^graph\\("},
      {"--allow-outside",
       "x2ir convert -q big.onnx --weights reference -o in/big.json; x2ir info in/big.json @",
       "--allow-outside", "converts +yes"},
      // Accepted, and without effect.
      {"--hdf5-library", "x2ir info small.onnx @ >/dev/null && echo done @", "--hdf5-library",
       "done --hdf5-library"},
      {"--entry", "x2ir info $D/stablehlo/forms.mlir @", "--entry twice", "arg0: float32"},
      {"--checks", "x2ir info $D/stablehlo/windows.mlir @", "--checks", "outputs +p: float32"},
      {"--snapshot", "x2ir convert -q big.onnx --to oneflow_graph -o a.mlir; x2ir info a.mlir @",
       "--snapshot /nowhere", "'/nowhere'"},
      {"--job", "x2ir convert -q big.onnx --to oneflow_graph -o a.mlir; x2ir info a.mlir @",
       "--job nope", "no job 'nope'"},
      {"--model", "x2ir convert -q big.onnx -o a.pt2; x2ir info a.pt2 @", "--model nope",
       "no model 'nope'"},
      {"--signature", "x2ir info $D/tflite/while_5.tflite @", "--signature nope",
       "no signature 'nope'"},
      {"--arguments", "x2ir info $D/torchscript/scale.pt @", "--arguments k=two",
       "'k=two': expected a whole number"},
      {"--task", "x2ir info $D/checkpoint/tiny @", "--task feature-extraction",
       "last_hidden_state: float32"},
      {"--no-cache", "x2ir info $D/checkpoint/tiny @ | grep -c past_key_values", "--no-cache",
       "^0\n"},
      {"--part", "x2ir info $D/checkpoint/tiny @", "--part decoder", "are not of an encoder"},
      {"--attention-mask", "x2ir info $D/checkpoint/sound @", "--attention-mask",
       "attention_mask: int64"},
      {"--int4", "x2ir info $D/checkpoint/tiny @", "--int4", "int4 [0-9,]+ in 14"},
      {"--int8-weights", "x2ir info $D/checkpoint/tiny @", "--int8-weights", "int8 [0-9,]+ in 14"},
      {"--unpack", "x2ir convert $D/checkpoint/tiny -o a.onnx @", "--unpack float16",
       "0 quantized weights are unpacked to float16, as --unpack asks"},
      {"--dequantize", "x2ir show $D/tflite/conv_i8pc_same_s1d1.tflite @", "--dequantize",
       "main\\(t0: float32"},
  };
  CheckFlags("x2ir", rows);
  std::set<std::string> common = FlagsOf("x2ir", "diff");
  for (const Flag& row : rows) EXPECT_EQ(common.erase(row.flag), 1u) << row.flag;
  EXPECT_EQ(common, (std::set<std::string>{"--json", "--optimize", "--raw"}));
}

// Without inputs to measure with, int8 of a checkpoint is of its weights alone.
TEST_F(Options, Int8OfACheckpoint) {
  const std::string folder = X2IR_SOURCE_DIR "/tests/data/checkpoint/tiny";
  const std::string convert = StrCat("x2ir convert ", folder, " --opset 21 -o ");
  const Result result = Run(
      StrCat(convert, "a.onnx --int8 && ", convert, "b.onnx --int8-weights && cmp a.onnx b.onnx"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("14 weights of layers are rounded to 8 bits in blocks of 32, as "
                            "--int8-weights, or --int8 without --calibrate, asks"),
            std::string::npos)
      << result.err;
  Run(StrCat("printf '", folder, "\\n' >list"));
  EXPECT_EQ(Run("x2ir convert --batch list -o out --to onnx --opset 21 --int8").code, 0);
  for (const char* more :
       {"--per-channel", "--method mse", "--weight-bits 8", "--with onnxruntime"}) {
    const Result refused = Run(StrCat(convert, "a.onnx --int8 ", more));
    EXPECT_EQ(refused.code, 2) << more;
    EXPECT_NE(refused.err.find("--int8: needs --calibrate"), std::string::npos) << refused.err;
  }
}

// Both verbs that convert have the same.
TEST_F(Options, OfConversions) {
  const std::string show = "; x2ir show *.json";
  const std::vector<Flag> rows = {
      {"--batch", "echo small.onnx >l; VERB @ -o out", "--batch l", "1 of 1 files done"},
      {"--jobs", "echo small.onnx >l; VERB --batch l -o out @", "--jobs many", "-j 'many'"},
      {"--shard", "ls small.onnx other.onnx >l; VERB --batch l -o out @", "--shard 2/2",
       "1 of 1 files done"},
      // A child says what it did in a temporary file.
      {"--isolate", "echo small.onnx >l; TMPDIR=/none VERB --batch l -o out @", "--isolate",
       "cannot make a temporary file"},
      {"--timeout", "echo small.onnx >l; VERB --batch l -o out @", "--timeout 0", "--timeout '0'"},
      {"--memory", "echo small.onnx >l; VERB --batch l -o out @", "--memory no", "--memory 'no'"},
      {"--retry-failed",
       "echo no >bad.onnx; echo bad.onnx >l; VERB --batch l -o out -q; VERB --batch l -o out @",
       "--retry-failed", "0 of 1 files done, 1 failed\\n"},
      {"--output", "VERB small.onnx @ --to onnxtxt", "--output net.onnxtxt",
       "^wrote net.onnxtxt: "},
      {"--to", "VERB small.onnx -q @ -o net.txt; cat net.txt", "--to onnxtxt", "ir_version: 8"},
      {"--report", "VERB foreign.onnx -o a.json --to ir @; cat r.json", "--report r.json",
       "\"exit_code\": 1"},
      {"--from", "VERB small.onnx --to ir @", "--from tflite", "TFLite|tflite"},
      {"--int8", "VERB small.onnx -q -o a.onnx @; x2ir show a.onnx",
       "--int8 --calibrate io.safetensors", "quantize_linear"},
      {"--calibrate", "VERB small.onnx -o a.onnx --int8 @", "--calibrate io.safetensors",
       "int8: 2 ops \\(add, relu\\)"},
      {"--per-channel",
       "x2ir run conv.onnx --random 1 -q -o c.safetensors; "
       "VERB conv.onnx -q --to ir --int8 --calibrate c.safetensors @; x2ir show conv.json",
       "--per-channel", "axis = 0"},
      {"--weight-bits",
       "x2ir run conv.onnx --random 1 -q -o c.safetensors; "
       "VERB conv.onnx -q -o a.onnx --int8 --calibrate c.safetensors @; x2ir show a.onnx",
       "--weight-bits 8", "int8\\[1,1,1,1\\]\\{127\\}"},
      {"--method", "VERB small.onnx -o a.onnx --int8 --calibrate io.safetensors @",
       "--method entropy", "expected one of minmax, percentile, mse; got 'entropy'"},
      {"--with", "VERB small.onnx --to onnx -o a.onnx --int8 --calibrate io.safetensors @",
       "--with litert", "--with: litert reads format 'tflite', and 'onnx' is written"},
      {"--runtime-library",
       "VERB small.onnx -o a.onnx --int8 --calibrate io.safetensors --with onnxruntime @",
       "--runtime-library small.onnx", "--runtime-library: cannot load ONNX"},
      {"--from-opset", "VERB bits.onnx --to ir @", "--from-opset 11", "opset 18"},
      {"--shape", "VERB dyn.onnx --to ir -q @; x2ir show dyn.json", "--shape x:4,5",
       "y: float32\\[4,5\\]"},
      {"--dynamic", "VERB small.onnx --to ir -q @; x2ir show small.json", "--dynamic x:0=batch",
       "x: float32\\[batch,3\\]"},
      {"--dtype", "VERB dyn.onnx --to ir -q @; x2ir show dyn.json", "--dtype x:float16",
       "y: float16"},
      {"--weights-from", "VERB small.onnx --to ir -q @; x2ir show small.json",
       "--weights-from w.safetensors", "w = float32\\[3\\]\\{7, 8, 9\\}"},
      {"--inputs", "VERB small.onnx --to ir -q @; x2ir show small.json", "--inputs h",
       "small\\(h: float32"},
      {"--outputs", "VERB small.onnx --to ir -q @; x2ir show small.json", "--outputs h",
       "-> \\(h: "},
      {"--extract", "VERB small.onnx --to ir -q @; x2ir show small.json", "--extract h..y",
       "small\\(h: float32"},
      {"--fold-inputs",
       "x2ir convert -q one.onnx --to ir -o one.json --fold-inputs x=2.5; x2ir show one.json; "
       "VERB small.onnx --to ir -q @; x2ir show small.json",
       "--fold-inputs x=x.npy", "\\{2\\.5\\}[\\s\\S]*small\\(\\) -> "},
      {"--freeze", "VERB big.onnx --to tensorflow -q -o s @; ls s", "--freeze",
       "^saved_model\\.pb\n$"},
      {"--signature-name", "VERB big.onnx --to tensorflow -q -o s @; x2ir info s --signature mine",
       "--signature-name mine", "MatMul"},
      {"--freeze-params",
       "x2ir convert -q param.onnx --no-freeze-params -o p.json; VERB p.json -o q.json --to ir @; "
       "x2ir info q.json | grep -c default",
       "--freeze-params", "\n0\n"},
      {"--no-freeze-params", "VERB param.onnx -o p.json --to ir @; x2ir info p.json",
       "--no-freeze-params", "1 with a default value"},
      {"--keep-functions", "VERB calls.onnx -q --to ir @; x2ir show --raw calls.json",
       "--keep-functions", "com.acme::F\\(x\\)"},
      {"--rename", "VERB small.onnx --to ir -q @; x2ir show small.json", "--rename x=image",
       "small\\(image: "},
      {"--allow-foreign", "VERB foreign.onnx --to ir @", "--allow-foreign com.acme", "1 foreign"},
      {"--continue-on-error", "VERB foreign.onnx --to ir @", "--continue-on-error", "1 foreign"},
      {"--optimize", "VERB small.onnx --to ir -v @", "--optimize", "pass simplify: "},
      {"--no-optimize", "VERB small.onnx -o a.onnx -v @ | grep -c 'pass simplify'", "--no-optimize",
       "^0\n"},
      {"--passes", "VERB small.onnx --to ir -v @", "--passes dead_code", "pass dead_code: "},
      {"--inputs-as-nchw", "VERB nhwc.onnx --to ir -q @; x2ir show nhwc.json", "--inputs-as-nchw x",
       "x: float32\\[1,3,4,4\\]"},
      {"--outputs-as-nchw", "VERB nhwc.onnx --to ir -q @; x2ir show nhwc.json",
       "--outputs-as-nchw y", "\\(y: float32\\[1,3,4,4\\]"},
      {"--inputs-as-nhwc", "VERB nchw.onnx --to ir -q @; x2ir show nchw.json", "--inputs-as-nhwc x",
       "x: float32\\[1,4,4,3\\]"},
      {"--outputs-as-nhwc", "VERB nchw.onnx --to ir -q @; x2ir show nchw.json",
       "--outputs-as-nhwc y", "\\(y: float32\\[1,4,4,3\\]"},
      {"--keep-weight-types", "VERB half.onnx -o a.onnx -q @; x2ir info a.onnx",
       "--keep-weight-types", "onnx.Cast"},
      {"--float16", "VERB small.onnx -o a.onnx @", "--float16", "float16: 1 weight, 0 casts"},
      {"--bfloat16", "VERB small.onnx -o a.onnx @", "--bfloat16", "bfloat16: 1 weight, 0 casts"},
      {"--keep-io", "VERB small.onnx -o a.onnx --float16 @", "--keep-io", "2 casts"},
      {"--keep", "VERB small.onnx -o a.onnx --float16 @", "--keep add", "stay float32: add"},
      {"--metadata", "VERB small.onnx -o a.onnxtxt --to onnxtxt -q @; cat a.onnxtxt",
       "--metadata 'author=Ann = Bo' --metadata k=v", "\"author\": *\"Ann = Bo\""},
      {"--summary", "VERB small.onnx -o a.onnx @", "--summary ops",
       "onnx +original +converted\n +Add +1 +1\n +Relu +1 +1\n +total +2 +2\n +size "},
      {"--strip-names", "VERB small.onnx --to ir -q @; x2ir show --names small.json",
       "--strip-names", "v1: float32\\[2,3\\] = add\\(x, v0\\)\n"},
      {"--params-as-inputs", "VERB small.onnx --to ir -q @; x2ir info small.json",
       "--params-as-inputs", "1 with a default value"},
      {"--check", "VERB small.onnx -o a.onnx @", "--check", "checked: ONNX's schemas"},
      {"--genai",
       "cp -r $D/checkpoint/tiny m; VERB m -o a.onnx --to onnx -q @; cat genai_config.json",
       "--genai", "past_key_values.%d.key"},
      {"--force", "echo mine >small.json; VERB small.onnx --to ir @", "--force",
       "^wrote small.json"},
      {"--layout", "VERB conv.onnx --to ir -q --optimize @; x2ir show conv.json",
       "--layout channels_last", "layout = \"channels_last\""},
      {"--weights", "VERB big.onnx --to ir -q @; wc -c <big.safetensors", "--weights reference",
       "^[0-9]{2,3}\n"},
      {"--resources", "VERB big.onnx --to stablehlo -o a.mlir -q @; cat a.mlir", "--resources",
       "dialect_resources"},
      {"--target-version",
       "VERB big.onnx --to stablehlo_bytecode -o a.mlirbc -q @; grep -a -o 'StableHLO_v[0-9.]*' "
       "a.mlirbc",
       "--target-version 1.2.0", "StableHLO_v1.2.0"},
      {"--separate-params", "VERB big.onnx --to relay -o a.relay -q @; ls", "--separate-params",
       "a.params"},
      {"--frozen", "VERB big.onnx --to python -o a.py -q @; cat a.py", "--frozen",
       "requires_grad_\\(False\\)"},
      {"--float64-as-float32",
       "VERB double.onnx --to coreml -o a.mlpackage -q @; x2ir info a.mlpackage",
       "--float64-as-float32", "coreml.relu"},
      {"--nnef-standard", "VERB double.onnx --to nnef -o a.nnef @", "--nnef-standard",
       "tract has: .*inputs of float64"},
      {"--quantize", "VERB big.onnx --to tfjs -o web -q @; cat web/model.json", "--quantize uint8",
       "\"quantization\": *\\{\"dtype\": *\"uint8\""},
      {"--decompose",
       "printf \"node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
       "attr { key: 'shape' value { shape { dim { size: 4 } } } } } node { name: 'y' op: 'L2Loss' "
       "input: 'x' attr { key: 'T' value { type: DT_FLOAT } } } versions { producer: 1000 }\" > "
       "loss.pbtxt; VERB loss.pbtxt --to tensorflow -o a.pbtxt -q @; cat a.pbtxt",
       "--decompose", "\"Sum\""},
      {"--keep-nchw", "VERB conv.onnx --to tensorflow -o a.pbtxt -q @; cat a.pbtxt", "--keep-nchw",
       "NCHW"},
      {"--image",
       "VERB image.onnx --to coreml -o a.mlpackage -q @; x2ir convert -q a.mlpackage -o b.json; "
       "cat b.json",
       "--image x:BGR", "coreml.image\": *\"BGR"},
      {"--image-scale",
       "VERB image.onnx --to coreml -o a.mlpackage --image x -q @; x2ir show a.mlpackage",
       "--image-scale 0.5", "mul\\(x, 0.5\\)|float32\\[\\]\\{0.5\\}"},
      {"--image-bias",
       "VERB image.onnx --to coreml -o a.mlpackage --image x -q @; x2ir show a.mlpackage",
       "--image-bias -1,-2,-3", "float32\\[1,3,1,1\\]\\{-1, -2, -3\\}"},
      {"--labels",
       "printf 'a\nb\nc\n' >l.txt; VERB small.onnx --to coreml --shape x:1,3 -o a.mlpackage -q @; "
       "x2ir info a.mlpackage",
       "--labels l.txt", "classLabel: string\\[1\\]"},
      {"--label-name",
       "printf 'a\nb\nc\n' >l.txt; VERB small.onnx --to coreml --shape x:1,3 -o a.mlpackage -q "
       "--labels l.txt "
       "@; x2ir info a.mlpackage",
       "--label-name what", "what_probs: float32\\[3\\]"},
      {"--probabilities",
       "printf 'a\nb\nc\n' >l.txt; VERB small.onnx --to coreml --shape x:1,3 -o a.mlpackage -q "
       "--labels l.txt "
       "@; x2ir info a.mlpackage",
       "--probabilities nope", "--probabilities: there is no output 'nope'"},
      {"--minimum-deployment-target",
       "VERB small.onnx --to coreml -o a.mlpackage -q @; x2ir convert -q a.mlpackage -o b.json; "
       "cat b.json",
       "--minimum-deployment-target macOS15", "coreml.specification\": *\"9"},
      {"--example", "VERB $D/torchscript/scale.pt -o a.onnx -q @; x2ir info a.onnx",
       "--example $D/torchscript/scale.safetensors", "inputs +x: float32\\[2,3\\]"},
      {"--opset", "VERB small.onnx -o a.onnx -q @; x2ir info a.onnx", "--opset 13", "opsets +13"},
      {"--extra-opset", "VERB small.onnx -o a.onnx -q @; x2ir info a.onnx",
       "--extra-opset com.acme:3", "com.acme 3"},
      {"--ir-version", "VERB small.onnx -o a.onnx -q @; x2ir info a.onnx", "--ir-version 10",
       "file version 10"},
      {"--contrib", "VERB gelu.onnx -o a.onnx -q @; x2ir info a.onnx", "--contrib",
       "com.microsoft::"},
      {"--cpu-kernels", "VERB bfloat16.onnx -o a.onnx -q @; x2ir info a.onnx", "--cpu-kernels",
       "2 +onnx.Cast"},
      {"--external-data", "VERB big.onnx -o a.onnx @", "--external-data always",
       "^wrote a.onnx and a.onnx.data: "},
      {"--external-data-limit", "VERB big.onnx -o a.onnx --external-data always @",
       "--external-data-limit lots", "--external-data-limit: 'lots'"},
      {"--dynamic-range", "VERB big.onnx -o a.tflite --to tflite -q @; x2ir info a.tflite",
       "--dynamic-range", "4,096 in 1 tensor, 4.0 KiB"},
      {"--io-type",
       "VERB $D/tflite/conv_i8pc_same_s1d1.tflite --to tflite -o a.tflite -q @; x2ir info a.tflite",
       "--io-type float32", "inputs +t0: float32"},
  };
  CheckFlags("x2ir convert", rows);
  CheckFlags("ir2onnx export", rows);
  std::set<std::string> own = FlagsOf("x2ir", "convert");
  EXPECT_EQ(own, FlagsOf("ir2onnx", "export"));
  for (const std::string& common : FlagsOf("x2ir", "diff")) own.erase(common);
  own.insert("--optimize");
  for (const Flag& row : rows) EXPECT_EQ(own.erase(row.flag), 1u) << row.flag;
  EXPECT_EQ(own, std::set<std::string>()) << "these have no row";
}

TEST_F(Options, OfVerbs) {
  const std::string cases = "--io cases.safetensors", io = "--io io.safetensors";
  const std::map<std::string, std::vector<Flag>> verbs = {
      {"show",
       {{"--raw", "x2ir show small.onnx @", "--raw", "onnx.Add"},
        {"--types", "x2ir show small.onnx --no-types @", "--types", "h: float32\\[2,3\\] = "},
        {"--no-types", "x2ir show small.onnx @", "--no-types", "\n  h = add"},
        {"--names", "x2ir show small.onnx @", "--names", "\"first\""},
        {"--max-constant", "x2ir show small.onnx @", "--max-constant 2", "w: float32\\[3\\]\n"},
        {"--width", "x2ir show small.onnx @ | awk 'length > 40' | wc -l", "--width 30", "^0\n"}}},
      {"info",
       {{"--cost", "x2ir info big.onnx @", "--cost", "multiply-adds"},
        {"--weights", "x2ir info small.onnx @", "--weights", "-1"},
        {"--dynamic", "x2ir info small.onnx --cost @", "--dynamic x:0=n", "--shape NAME:1,3"},
        {"--shape", "x2ir info dyn.onnx --cost --json @", "--shape x:4,5", "\"elements\": 20|80"},
        {"--json", "x2ir info small.onnx @", "--json", "\"opsets\": "}}},
      {"draw",
       {{"--output", "x2ir draw small.onnx @", "--output a.svg", "^wrote a.svg"},
        {"--raw", "x2ir draw small.onnx @", "--raw", "Relu"}}},
      {"view",
       {{"--output", "x2ir view small.onnx @", "--output a.html", "^wrote a.html"},
        {"--open",
         "mkdir bin; printf '#!/bin/sh\necho opened $1\n' >bin/xdg-open; chmod +x bin/xdg-open; "
         "PATH=$PWD/bin:$PATH x2ir view small.onnx @",
         "--open", "opened small.html"},
        {"--serve", "timeout 1 x2ir view small.onnx @", "--serve", "^http://127.0.0.1:"},
        {"--port", "timeout 1 x2ir view small.onnx --serve @", "--port many", "--port 'many'"},
        {"--weights", "x2ir view big.onnx -o - @ | wc -c", "--weights", "^1[0-9]{5}\n"},
        {"--raw", "x2ir view small.onnx -o - @", "--raw", "\"op\":\"onnx.Add\"|\"onnx.Add\""},
        {"--io", "x2ir view small.onnx other.onnx -o - @", io.c_str(), "\"errors\": ?[\\[{]"},
        {"--random", "x2ir view small.onnx other.onnx -o - @", "--random 1", "\"errors\": ?[\\[{]"},
        {"--seed", "x2ir view small.onnx other.onnx -o - @", "--seed 1", "\"errors\": ?[\\[{]"},
        {"--cases", "x2ir view small.onnx other.onnx -o - --io cases.safetensors @", "--cases nope",
         "no case 'nope'"},
        {"--dynamic", "x2ir view small.onnx -o - @", "--dynamic x:0=n", "float32\\[n,3\\]"},
        {"--shape", "x2ir view dyn.onnx -o - @", "--shape x:4,5", "float32\\[4,5\\]"},
        {"--map",
         "x2ir convert -q nhwc.onnx -o a.onnx --inputs-as-nchw x --report r.json; "
         "x2ir view nhwc.onnx a.onnx --random 1 -o - @",
         "--map r.json", "\"errors\": ?[\\[{]"}}},
      {"run",
       {{"--io", "x2ir run small.onnx @", io.c_str(), "\\{1.5, 1, 5, 0, 0, 0\\}"},
        {"--random", "x2ir run small.onnx @", "--random 2", "case1 y: "},
        {"--seed",
         "x2ir run small.onnx --random 1 @ | md5sum >a; x2ir run small.onnx --random 1 | "
         "md5sum | cmp - a",
         "--seed 5", "differ"},
        {"--cases", "x2ir run small.onnx --io cases.safetensors @ | grep -c case0", "--cases case1",
         "^0\n"},
        {"--dynamic", "x2ir run one.onnx --input x=w.npy @", "--dynamic x:0=n",
         "y: float32\\[3\\]"},
        {"--shape", "x2ir run dyn.onnx --random 1 @", "--shape x:4,5", "y: float32\\[4,5\\]"},
        {"--input", "x2ir run small.onnx @", "--input x=x.npy", "\\{1.5, 1, 5, 0, 0, 0\\}"},
        {"--output", "x2ir run small.onnx --random 1 @", "--output o.safetensors",
         "wrote o.safetensors"},
        {"--with", "x2ir run small.onnx --random 1 @",
         "--with onnxruntime --runtime-library small.onnx", "--runtime-library: cannot load ONNX"},
        {"--runtime-library", "x2ir run small.onnx --random 1 --with onnxruntime @",
         "--runtime-library small.onnx", "--runtime-library: cannot load ONNX"},
        {"--json", "x2ir run small.onnx --random 1 @", "--json", "\"outputs\": "}}},
      {"verify",
       {{"--io", "x2ir verify small.onnx @", io.c_str(), "the output agrees"},
        {"--random", "x2ir verify small.onnx small.onnx @", "--random 2", "agrees +case1 y"},
        {"--seed", "x2ir verify small.onnx small.onnx @", "--seed many", "--seed 'many'"},
        {"--cases", "x2ir verify small.onnx --io cases.safetensors @", "--cases case0",
         "the output agrees"},
        {"--dynamic", "x2ir verify one.onnx dyn1.onnx @", "--dynamic x:0=n", "n = 3"},
        {"--shape", "x2ir verify dyn.onnx dyn.onnx @", "--shape x:4,5", "y: float32\\[4,5\\]"},
        {"--map",
         "x2ir convert -q small.onnx -o a.onnx --float16 --report r.json; "
         "x2ir verify small.onnx a.onnx --atol 0.1 @",
         "--map r.json", "the output agrees"},
        {"--rtol", "x2ir verify small.onnx --io off.safetensors @", "--rtol 0.1", "agrees"},
        {"--atol", "x2ir verify small.onnx --io off.safetensors @", "--atol 0.1", "agrees"},
        {"--with", "x2ir verify small.onnx @", "--with onnxruntime --runtime-library small.onnx",
         "--runtime-library: cannot load ONNX"},
        {"--runtime-library", "x2ir verify small.onnx --with onnxruntime @",
         "--runtime-library small.onnx", "--runtime-library: cannot load ONNX"},
        {"--metric", "x2ir verify small.onnx --io off.safetensors @",
         "--metric cosine --at-least 0.999",
         "agrees  .*cosine 0.9999.* by cosine at least 0.999|by "
         "cosine at least 0.999"},
        {"--at-least", "x2ir verify small.onnx --io off.safetensors --metric snr @",
         "--at-least 90", "DIFFERS [\\s\\S]*snr is 5.*, expected snr at least 90"},
        {"--at-most", "x2ir verify small.onnx --io off.safetensors --metric max-abs @",
         "--at-most 0.1", "the output agrees, by max-abs at most 0.1"},
        {"--layers", "x2ir verify small.onnx other.onnx @", "--layers", "compared 2 values"},
        {"--json", "x2ir verify small.onnx --io io.safetensors @", "--json", "\"agrees\": true"}}},
      {"compare",
       {{"--io", "x2ir compare small.onnx other.onnx @", "--io nowhere.safetensors",
         "no such file: 'nowhere.safetensors'"},
        {"--random", "x2ir compare small.onnx small.onnx @", "--random 2", "case1"},
        {"--seed", "x2ir compare small.onnx small.onnx @", "--seed many", "--seed 'many'"},
        {"--cases", "x2ir compare small.onnx small.onnx --io cases.safetensors @ | grep -c case0",
         "--cases case1", "^0\n"},
        {"--dynamic", "x2ir compare one.onnx dyn1.onnx --io three.safetensors @", "--dynamic x:0=n",
         "the output agrees"},
        {"--shape", "x2ir compare dyn.onnx dyn.onnx @", "--shape x:4,5", "float32\\[4,5\\]"},
        {"--map",
         "x2ir convert -q nhwc.onnx -o a.onnx --inputs-as-nchw x; x2ir compare nhwc.onnx a.onnx @",
         "--map x=x:nchw", "the output agrees"},
        {"--rtol", "x2ir compare small.onnx other.onnx --io io.safetensors --atol 0 @",
         "--rtol 0.2", "agrees   y"},
        {"--atol", "x2ir compare small.onnx other.onnx --io io.safetensors --rtol 0 @",
         "--atol 0.2", "agrees   y"},
        {"--with", "x2ir compare small.onnx @", "--with onnxruntime --runtime-library small.onnx",
         "--runtime-library: cannot load ONNX"},
        {"--runtime-library", "x2ir compare small.onnx --with onnxruntime @",
         "--runtime-library small.onnx", "--runtime-library: cannot load ONNX"},
        {"--metric", "x2ir compare small.onnx other.onnx --io io.safetensors @",
         "--metric cosine --at-least 0.9", "the output agrees, by cosine"},
        {"--at-least", "x2ir compare small.onnx small.onnx --metric snr @", "--at-least 90",
         "the output agrees, by snr"},
        {"--at-most", "x2ir compare small.onnx small.onnx --metric max-abs @", "--at-most 0",
         "the output agrees, by max-abs"},
        {"--most", "x2ir compare small.onnx other.onnx @", "--most 1", "and 1 more"},
        {"--bisect", "x2ir compare small.onnx other.onnx --io io.safetensors @",
         "--bisect part.onnx", "wrote part.onnx and part.safetensors"},
        {"--json", "x2ir compare small.onnx small.onnx @", "--json", "\"compared\": "}}},
      {"diff",
       {{"--raw", "x2ir diff small.onnx other.onnx @", "--raw", "onnx.Add"},
        {"--optimize", "x2ir diff gelu.onnx gelu20.onnx @", "--optimize", "no difference"},
        {"--json", "x2ir diff small.onnx other.onnx @", "--json", "\"differs\": true"}}},
      {"ops",
       {{"--dialect", "x2ir ops @", "--dialect tf", "Conv2D"},
        {"--opset", "x2ir ops --dialect onnx @ | grep -c '^HannWindow'", "--opset 11", "^0\n"},
        {"--reference", "x2ir ops @ | head -n 3", "--reference", "Absolute value"},
        {"--json", "x2ir ops conv @", "--json", "\"op\": \"conv\""},
        {"--markdown", "x2ir ops conv @", "--markdown", "### conv"}}},
      {"formats",
       {{"--json", "x2ir formats @", "--json", "\"name\": \"onnx\""},
        {"--options", "x2ir formats @", "--options",
         "\"name\": \"float16\", \"flag\": \"--float16\", \"type\": \"flag\""}}},
  };
  const std::set<std::string> convert = FlagsOf("x2ir", "convert");
  for (const auto& [verb, rows] : verbs) {
    SCOPED_TRACE(verb);
    if (verb == "view" && !HasViewPage()) continue;
    CheckFlags("", rows);
    std::set<std::string> own = FlagsOf("x2ir", verb);
    EXPECT_FALSE(own.empty());
    for (const Flag& row : rows) EXPECT_EQ(own.erase(row.flag), 1u) << row.flag;
    // What is left is what every verb has.
    for (const std::string& flag : own) EXPECT_TRUE(convert.contains(flag)) << flag;
  }
}

// One list of ops where both models are in one dialect, else one of each; the most frequent first.
TEST_F(Options, SummaryOfOps) {
  const std::string op = "x2ir convert gelu.onnx --summary ops -o ";
  Check({
      {op + "a.onnx --no-optimize", 0,
       "\n  onnx +original +converted\n  Mul +2 +2\n  Add +1 +1\n  Div +1 +1\n  Erf +1 +1\n"
       "  Sqrt +1 +1\n  total +6 +6\n  size +[0-9]+ bytes +[0-9]+ bytes\n$",
       ""},
      // What is no more there, and what came.
      {op + "a.onnx --opset 20", 0, "Mul +2 +0\n(.|\n)*\n  Gelu +0 +1\n(.|\n)*\n  total +6 +1\n",
       ""},
      {op + "a.tflite", 0,
       "\n  onnx +original  tflite +converted\n  Mul +2  GELU +1\n  Add +1\n(.|\n)*\n"
       "  total +6 +1\n",
       ""},
      {op + "a.json", 0, "\n  onnx +original  IR +converted\n  Mul +2  mul +2\n", ""},
      {op + "a.json -q && ir2onnx export a.json -o a.onnx --summary ops --opset 20", 0,
       "\n  IR +original  onnx +converted\n  mul +2  Gelu +1\n(.|\n)*\n  total +6 +1\n", ""},
      {op + "- | cat", 0, "", "--summary: with -o - the model is on standard output"},
      {"x2ir convert small.onnx -o a.onnx --summary nodes", 2, "", "--summary"},
      {op + "a.onnx --report r.json -q && tr -d '\n' <r.json", 0,
       "^.*\"ops_read\": .\"onnx.Add\": 1, .*\"ops_written\": ", ""},
  });
  // Many ops, and one with a long name.
  std::string nodes;
  const char* const ops[] = {"Abs",  "Acos",  "Asin",  "Atan", "Ceil", "Cos",      "Cosh",    "Erf",
                             "Exp",  "Floor", "Log",   "Neg",  "Relu", "Sign",     "Sigmoid", "Sin",
                             "Sinh", "Sqrt",  "Round", "Tan",  "Tanh", "Softplus", "Softsign"};
  size_t at = 0;
  for (const char* name : ops) {
    StrAppend(&nodes, "v", at + 1, " = onnx.", name, "(v", at, ")\n");
    ++at;
  }
  auto model =
      ModelFromText(StrCat("graph g(v0: float32[2]) -> (v", at, ") {\n", nodes, "}"), "onnx", 17);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(WriteOnnx(*model, Path("many.onnx")).ok());
  const std::string out =
      Run("x2ir convert many.onnx -o many2.onnx --no-optimize --summary ops | tail -n 26").out;
  std::set<size_t> ends;
  size_t lines = 0;
  for (size_t begin = 0, end; begin < out.size(); begin = end + 1, ++lines) {
    end = std::min(out.find('\n', begin), out.size());
    ends.insert(end - begin);
  }
  EXPECT_EQ(lines, std::size(ops) + 3) << out;  // with the titles, the total and the sizes
  EXPECT_EQ(ends.size(), 1u) << out;            // all columns end in one place
}

// A change of the model goes before the format that is written: all formats have it, or refuse it
// by name. Those that are not read back are looked into.
TEST_F(Options, ChangesForEveryTarget) {
  const struct {
    const char* file;
    const char* format;
    bool defaults;  // whether inputs may have default values
    bool half;      // whether it has float16
    bool metadata = false;
  } targets[] = {
      {"a.json", "ir", true, true, true},
      {"a.onnx", "onnx", true, true, true},
      {"a.onnxjson", "onnxjson", true, true, true},
      {"a.onnxtxt", "onnxtxt", true, true, true},
      {"a.textproto", "textproto", true, true, true},
      {"a.ort", "ort", true, true, true},
      {"a.mlpackage", "coreml", false, true, true},
      {"a.nnvm.json", "nnvm", false, true},
      {"a.keras", "keras", false, true},
      {"a.relay", "relay", false, true},
      {"a.mlir", "stablehlo", false, true},
      {"a.mlirbc", "stablehlo_bytecode", false, true},
      {"a.job", "oneflow_job", false, true},
      {"a.tflite", "tflite", false, true, true},
      {"a.pt2", "torch", false, true},
  };
  const std::string fresh = "rm -rf work && mkdir work && cp *.* work/ && cd work && ";
  for (const auto& target : targets) {
    SCOPED_TRACE(target.file);
    const auto convert = [&](const std::string& options) {
      return StrCat(fresh, "x2ir convert small.onnx -q -o ", target.file, " ", options);
    };
    const std::string read = StrCat(" && x2ir verify ", target.file, " --io ");
    Check({
        {convert("--rename x=image --rename y=scores") + read + "io.safetensors && x2ir info " +
             target.file + " | grep -E '^(in|out)puts' | tr -d '\n'",
         0, "output agrees(.|\n)*inputs +image: float32(.|\n)*outputs +scores: ", ""},
        {convert("--strip-names") + read + "io.safetensors", 0, "output agrees", ""},
        {convert("--extract x..h") + " && x2ir run " + target.file + " --input x=x.npy", 0,
         "^h: float32\\[2,3\\] +\\{1.5, 1, 5, -0.5, -3, -1\\}", ""},
        {convert("--float16 --keep-io") + read + "io.safetensors", 0, "output agrees", ""},
        {convert("--weights-from w.safetensors") + " && x2ir run " + target.file +
             " --input x=x.npy",
         0, "y: float32\\[2,3\\] +\\{8, 10, 12, 6, 6, 6\\}", ""},
    });
    const std::string noted = convert("--metadata author=Ann --metadata 'k=a = b'");
    if (target.metadata) {
      Check({{noted + " && x2ir convert -q " + target.file +
                  " --to ir -o noted.json && tr -d '\n' <noted.json",
              0, "author(.|\n)*Ann(.|\n)*k(.|\n)*a = b", ""}});
    } else {
      Check({{noted, 2, "",
              StrCat("--metadata: format '", target.format,
                     "', which is written, has no metadata")}});
    }
    const std::string params = convert("--params-as-inputs");
    const std::string kept =
        StrCat(fresh, "x2ir convert param.onnx -q --no-freeze-params -o ", target.file);
    if (target.defaults) {
      Check({
          {params + read + "io.safetensors && x2ir info " + target.file, 0,
           "output agrees(.|\n)*and 1 with a default value", ""},
          {kept + " && x2ir info " + target.file, 0, "and 1 with a default value", ""},
      });
    } else {
      Check({
          {params + "; code=$?; ls -d a.*; exit $code", 2, "",
           StrCat("--params-as-inputs: inputs have no default values in format '", target.format,
                  "', which is written(.|\n)*cannot access")},
          {kept, 1, "",
           StrCat(
               "input 'w' has a default value, but inputs cannot have default values in format '",
               target.format, "'; --freeze-params makes it a constant")},
      });
    }
  }
  for (const char* format : {"python", "oneflow"}) {
    SCOPED_TRACE(format);
    const std::string convert =
        StrCat(fresh, "x2ir convert small.onnx -q -o a.py --to ", format, " ");
    Check({
        {convert + "--rename x=image && cat a.py", 0, "image", ""},
        {convert + "--extract x..h && ! grep -i relu a.py", 0, "", ""},
        {convert + "--params-as-inputs; code=$?; ls a.*; exit $code", 2, "",
         StrCat("--params-as-inputs: inputs have no default values in format '", format, "'")},
    });
  }
}

// Files that are parts of one thing are not listed one by one.
TEST_F(Options, WhatWasWritten) {
  Check({
      {"x2ir convert big.onnx -o a.json", 0, "^wrote a.json and a.safetensors: 1 node read", ""},
      {"x2ir convert big.onnx -o a.mlpackage", 0, "^wrote a.mlpackage: 1 node read", ""},
      {"x2ir convert " X2IR_SOURCE_DIR
       "/tests/data/unet_tiny/model.onnx --to oneflow_graph -o a.mlir",
       0, "^wrote a.mlir and [0-9]+ files beside it: ", ""},
  });
}

}  // namespace
}  // namespace x2ir
