// What a conversion makes of inputs and outputs, and whether the two models can be compared
// afterwards; types of weights; folders of outputs. Each row is what somebody missed.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cli/shell_util.h"
#include "tests/core/convert_util.h"
#include "x2ir/formats/npy/npy.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

class ChangedInterface : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    PutOnnx("last.onnx", R"(graph net(x: float32[1,2,3,4], m: float32[4]) -> (y, z) {
        a = onnx.Mul(x, m)
        y: float32[1,2,3,4] = onnx.Exp(a)
        z: float32[1,2,3,4] = onnx.Neg(x) })");
    PutOnnx("other.onnx", R"(graph net(x: float32[1,2,3,4], m: float32[4]) -> (y, z) {
        a = onnx.Mul(x, m)
        y: float32[1,2,3,4] = onnx.Exp(a)
        z: float32[1,2,3,4] = onnx.Abs(x) })");
    PutOnnx("first.onnx", R"(graph net(x: float32[1,4,2,3], m: float32[4,1,1]) -> (y, z) {
        a = onnx.Mul(x, m)
        y: float32[1,4,2,3] = onnx.Exp(a)
        z: float32[1,4,2,3] = onnx.Neg(x) })");
    // Weights of float16 where the graph computes in float32.
    std::string elements;
    for (int i = 0; i < 3600; ++i) StrAppend(&elements, i ? ", " : "", (i % 7 - 3) * 0.25);
    const std::string weights =
                          StrCat("x: float32[2,60]) -> (y) { w = float16[60,60]{", elements, "}\n"),
                      product =
                          "f = onnx.Cast(h) { to = 1 }\ny: float32[2,60] = onnx.MatMul(x, f) }";
    PutOnnx("half.onnx", StrCat("graph half(", weights,
                                "f = onnx.Cast(w) { to = 1 }\n"
                                "y: float32[2,60] = onnx.MatMul(x, f) }"));
    PutOnnx("moved.onnx",
            StrCat("graph moved(", weights, "h = onnx.Transpose(w) { perm = [1, 0] }\n", product));
    PutOnnx("small.onnx", "graph s(x: float32[2,3]) -> (y) { y: float32[2,3] = onnx.Relu(x) }");
    std::vector<float> numbers(24);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) / 16;
    const Tensor x = Tensor::Of<float>({1, 2, 3, 4}, absl::MakeConstSpan(numbers));
    const Tensor m = Tensor::Of<float>({4}, {0.5f, 0.25f, 0.125f, 0});
    ASSERT_TRUE(WriteNpy(Path("m.npy"), m).ok());
    ASSERT_TRUE(WriteSafetensors(Path("in.safetensors"), {{"in_0", x}, {"in_1", m}}).ok());
    ASSERT_EQ(Run("x2ir run last.onnx --io in.safetensors -o io.safetensors -q").code, 0);
  }
};

// Whatever flag changed the interface: the report says how, and --map takes it.
TEST_F(ChangedInterface, VerifyAndCompareKnowItFromTheReport) {
  const char* const flags[] = {
      "--inputs-as-nchw x",
      "--outputs-as-nchw y",
      "--inputs-as-nchw x --outputs-as-nchw y,z",
      "--rename x=image --rename y=scores",
      "--rename x=y --rename y=x",
      "--inputs-as-nchw image --rename x=image",
      "--fold-inputs m=m.npy",
      "--fold-inputs m=m.npy --inputs-as-nchw image --rename x=image --rename z=negative",
      "--float16",
      "--bfloat16 --outputs-as-nchw z",
      "--float16 --keep-io",
      "--dtype x:float16 --dtype m:float16",
      "--strip-names",
      "--params-as-inputs",
      "--outputs z,y",
      "--outputs y",
      "--inputs a --outputs y",
      "--extract a..y --rename a=middle",
  };
  for (const char* const flag : flags) {
    const bool constant = std::string(flag).find("fold") != std::string::npos;
    const bool cut = std::string(flag).find(" a") != std::string::npos ||
                     std::string(flag).find("--outputs ") != std::string::npos;
    for (const char* const file : {"new.onnx", "new.json", "new.tflite", "new.mlpackage"}) {
      const std::string to = file;
      const bool plain = to == "new.onnx" || to == "new.json";
      if (!plain && std::string(flag).find("float16") != std::string::npos) continue;
      if (!plain && std::string(flag).find("params") != std::string::npos) continue;
      SCOPED_TRACE(StrCat(flag, " ", file));
      const std::string convert = StrCat("rm -rf new.* && x2ir convert -q last.onnx -o ", to, " ",
                                         flag, " --report r.json && ");
      const std::string loose = " --rtol 2e-2 --atol 2e-2 -q";
      Check({
          {StrCat(convert, "x2ir verify last.onnx ", to, " --map r.json --random 2", loose), 0, "",
           ""},
          {StrCat(convert, "x2ir compare last.onnx ", to, " --map r.json", loose), 0, "", ""},
      });
      // An io file of the source says what the result should give, too.
      // (--dtype says how the source is to be read, and what it gives is of another type then,
      // too.)
      if (cut || constant || std::string(flag).find("--dtype") != std::string::npos) continue;
      Check({{StrCat(convert, "x2ir verify ", to, " --io io.safetensors --map r.json", loose), 0,
              "", ""}});
    }
  }
}

TEST_F(ChangedInterface, TheOtherWayRound) {
  for (const char* const flags :
       {"--inputs-as-nhwc x", "--outputs-as-nhwc y,z", "--inputs-as-nhwc x --outputs-as-nhwc y"}) {
    SCOPED_TRACE(flags);
    Check({{StrCat("x2ir convert -q first.onnx -o new.onnx ", flags,
                   " --report r.json && x2ir "
                   "verify -q first.onnx new.onnx --map r.json"),
            0, "", ""}});
  }
  Check({
      {"x2ir convert -q first.onnx -o new.onnx --inputs-as-nhwc x --outputs-as-nhwc y && "
       "x2ir info new.onnx",
       0, "x: float32\\[1,2,3,4\\][\\s\\S]*y: float32\\[1,2,3,4\\][\\s\\S]*z: float32\\[1,4,2,3\\]",
       ""},
      {"x2ir convert -q first.onnx -o new.onnx --inputs-as-nhwc x --inputs-as-nchw x", 2, "",
       "--inputs-as-nhwc: 'x' is named by --inputs-as-nchw too"},
  });
}

TEST_F(ChangedInterface, ByHand) {
  const std::string convert = "x2ir convert -q last.onnx -o new.onnx ";
  Check({
      {convert +
           "--inputs-as-nchw image --rename x=image && x2ir verify -q last.onnx new.onnx --map "
           "x=image:nchw",
       0, "", ""},
      {convert + "--float16 && x2ir verify -q last.onnx new.onnx --rtol 0.02 --atol 0.02 --map "
                 "x=x:float16 --map m=m:float16 --map y=y:float16 --map z=z:float16",
       0, "", ""},
      {convert + "--fold-inputs m=m.npy && x2ir compare -q last.onnx new.onnx --map m==m.npy", 0,
       "", ""},
      {convert + "--inputs-as-nchw x && x2ir verify -q new.onnx --io io.safetensors --map x=x:nchw",
       0, "", ""},
      // Mistakes.
      {convert + "&& x2ir verify last.onnx new.onnx --map x", 2, "", "--map: 'x': expected FILE"},
      {convert + "&& x2ir verify last.onnx new.onnx --map q=x", 2, "",
       "--map: the source has no input or output 'q'; it has: x, m, y, z"},
      {convert + "&& x2ir verify last.onnx new.onnx --map x=q", 2, "",
       "--map: the converted model has no 'q'; it has: x, m"},
      {convert + "&& x2ir verify last.onnx new.onnx --map m=m:nchw", 2, "",
       "--map: 'm' is float32\\[4\\]; expected a tensor of rank 3, 4 or 5"},
      {convert + "&& x2ir verify new.onnx --io io.safetensors --map x=x:float16", 2, "",
       "its original element type is not known"},
      {convert + "&& echo '{}' >e.json && x2ir verify last.onnx new.onnx --map e.json", 2, "",
       "--map: 'e.json' does not describe inputs and outputs"},
      {convert + "&& echo '{' >e.json && x2ir verify last.onnx new.onnx --map e.json", 2, "",
       "--map: 'e.json': "},
  });
}

// Without --map they say exactly what to give; what they say is tried.
TEST_F(ChangedInterface, WhatToGiveIsSaid) {
  for (const char* const flags :
       {"--inputs-as-nchw x", "--outputs-as-nchw y", "--inputs-as-nchw x --outputs-as-nchw z",
        "--float16", "--fold-inputs m=m.npy"}) {
    for (const std::string verb : {"verify", "compare"}) {
      // Numbers of other types are compared as they are.
      if (verb == "compare" && std::string(flags) == "--float16") continue;
      SCOPED_TRACE(StrCat(verb, " ", flags));
      const std::string run = StrCat("x2ir ", verb, " last.onnx new.onnx --rtol 0.02 --atol 0.02 ");
      const Result plain =
          this->Run(StrCat("x2ir convert -q last.onnx -o new.onnx ", flags, " && ", run));
      EXPECT_NE(plain.code, 0);
      const std::string said = plain.out + plain.err;
      const size_t at = said.find("--map "), end = said.find("; or --map FILE.json", at);
      ASSERT_NE(end, said.npos) << said;
      std::string given = said.substr(at, end - at);
      if (const size_t file = given.find("FILE.npy"); file != given.npos) {
        given.replace(file, 8, "m.npy");
      }
      const Result followed = this->Run(run + given);
      EXPECT_EQ(followed.code, 0) << given << "\n" << followed.out << followed.err;
    }
  }
  Check(
      {{"x2ir convert -q last.onnx -o new.onnx --rename x=image --inputs-as-nchw x; "
        "x2ir convert -q last.onnx -o new.onnx --inputs-as-nchw x && "
        "x2ir verify new.onnx --io io.safetensors",
        3, "", "--map FILE.json gives the changes of inputs and outputs"}});
}

// "MediaPipe's .tflite stays float16 behind dozens of Casts."
TEST_F(ChangedInterface, WeightsOfFloat16BecomeFloat32) {
  const std::string casts = " && x2ir info ";
  Check({
      {"x2ir convert half.onnx -o a.onnx && x2ir info a.onnx | grep -c 'Cast\\|float16'", 1,
       "1 weight of float16 or bfloat16 became float32, without rounding; --keep-weight-types "
       "[\\s\\S]*\n0\n",
       ""},
      {"x2ir verify -q half.onnx a.onnx --rtol 0 --atol 1e-5", 0, "", ""},
      {"x2ir convert -q half.onnx -o a.onnx --keep-weight-types && x2ir info a.onnx", 0,
       "onnx.Cast", ""},
      // It is a rewriting of the graph like others, so --no-optimize does not do it, and IR has
      // what was read.
      {"x2ir convert -q half.onnx -o a.onnx --no-optimize && x2ir info a.onnx", 0, "onnx.Cast", ""},
      {"x2ir convert -q half.onnx -o a.json && x2ir info a.json", 0, " cast", ""},
      {"x2ir convert -q half.onnx -o a.json --optimize && x2ir info a.json | grep -c "
       "'cast\\|float16'",
       1, "^0\n", ""},
      {"x2ir convert -q half.onnx -o a.pt2 && x2ir info a.pt2 | grep -c 'float16'", 1, "^0\n", ""},
      {"x2ir convert -q half.onnx -o a.mlpackage && x2ir info a.mlpackage | grep -c 'float16'", 1,
       "^0\n", ""},
      {"x2ir convert -q half.onnx -o c.py && grep -c float16 c.py", 1, "^0\n", ""},
      {"x2ir convert -q half.onnx -o b.py --keep-weight-types && grep -c float16 b.py", 0, "^[1-9]",
       ""},
      // --float16 is not undone: not a byte of the weight is float32.
      {"x2ir convert -q half.onnx -o a.onnx --float16 && x2ir info a.onnx | grep -c 'Cast'", 1,
       "^0\n", ""},
      {"x2ir convert -q half.onnx -o a.onnx --float16 && test $(wc -c <a.onnx) -lt 9000", 0, "",
       ""},
      // TFLite has them as they were.
      {"x2ir convert -q half.onnx -o a.tflite && test $(wc -c <a.tflite) -lt 9000", 0, "", ""},
  });
}

// A file that refers to its weights does not get a copy of them.
TEST_F(ChangedInterface, WeightsThatAreReferredToStay) {
  Tensor w = Tensor::Zeros(DType::kFloat16, {1024, 1024});
  Model model;
  model.graph = std::make_shared<Graph>();
  Graph& graph = *model.graph;
  Value* x = graph.AddInput("x", Type::Tensor(DType::kFloat32, Shape::FromInts({1, 1024})));
  Node* cast = graph.AppendNode("onnx", "Cast", {graph.AddConstant("w", std::move(w))});
  cast->SetAttr("to", int64_t{1});
  Value* f = graph.AddNodeOutput(cast, "f");
  graph.AddOutput(graph.AddNodeOutput(graph.AppendNode("onnx", "MatMul", {x, f}), "y"));
  model.source_dialect = "onnx";
  model.SetOpset("", 17);
  ASSERT_TRUE(WriteOnnx(model, Path("m.onnx")).ok());
  Check({
      {"x2ir convert m.onnx -o big.onnx --external-data always -q --keep-weight-types && "
       "x2ir convert big.onnx -o a.onnx --external-data reference && test $(wc -c <a.onnx) -lt "
       "1000 && x2ir verify -q m.onnx a.onnx",
       0, "1 weight of float16 or bfloat16 stays so, with a cast: the file refers to where it lies",
       ""},
      {"x2ir convert big.onnx -o a.json --optimize --weights reference -q && ls a.json && "
       "test $(wc -c <a.json) -lt 2000",
       0, "a.json", ""},
  });
}

// TFLite names an operator after all that it was made of.
TEST_F(ChangedInterface, LongNamesMakeNoModules) {
  std::string text = "graph net(x: float32[1,4,8,8]) -> (y) {\n", before = "x";
  for (int i = 0; i < 6; ++i) {
    const std::string n = StrCat(i);
    std::string weights;
    for (int k = 0; k < 16; ++k) StrAppend(&weights, k ? ", " : "", (k + i) % 5 - 2);
    const std::string conv = StrCat("\"net/relu_", n, "/Relu6;net/norm_", n,
                                    "/FusedBatchNormV3;net/conv_", n, "/Conv2D\"");
    StrAppend(&text, "w", n, " = float32[4,4,1,1]{", weights, "}\n", conv, " = onnx.Conv(", before,
              ", w", n, ") { kernel_shape = [1, 1] }\nr", n, " = onnx.Relu(", conv, ")\n");
    before = StrCat("r", n);
  }
  StrAppend(&text, "y: float32[1,4,8,8] = onnx.Neg(", before, ") }");
  auto model = ModelFromText(text, "onnx", 17);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(WriteOnnx(*model, Path("long.onnx")).ok());
  Check({
      {"x2ir convert -q long.onnx -o a.py && grep -c '^class' a.py", 0, "^1\n", ""},
      {"grep conv_ a.py", 0, "self.conv_3 = nn.Conv2d\\(4, 4, kernel_size=1, bias=False\\)", ""},
  });
}

// The folder of an output is made, for every format and verb, and not left where nothing is
// written.
TEST_F(ChangedInterface, FoldersOfOutputsAreMade) {
  for (const char* const file :
       {"a.json", "a.onnx", "a.onnxjson", "a.onnxtxt", "a.textproto", "a.ort", "a.mlpackage",
        "a.nnvm.json", "a.relay", "a.relay.json", "a.mlir", "a.job", "a.tflite", "a.pt2", "a.py"}) {
    SCOPED_TRACE(file);
    Check({
        {StrCat("rm -rf new; x2ir convert -q small.onnx -o new/deep/", file,
                " && test -e new/deep/", file),
         0, "", ""},
        {StrCat("rm -rf new; x2ir convert -q io.safetensors -o new/deep/", file,
                " 2>/dev/null; test -e new"),
         1, "", ""},
    });
  }
  const std::string fresh = "rm -rf new; ";
  Check({
      {fresh + "ir2onnx export -q small.onnx -o new/deep/a.onnx && ls new/deep", 0, "^a.onnx\n",
       ""},
      {fresh + "x2ir run -q small.onnx --random 1 -o new/deep/a.safetensors && ls new/deep", 0,
       "^a.safetensors\n", ""},
      {fresh + "x2ir draw -q small.onnx -o new/deep/a.svg && ls new/deep", 0, "^a.svg\n", ""},
      {fresh + "x2ir convert -q small.onnx -o a.onnx --report new/deep/r.json && ls new/deep", 0,
       "^r.json\n", ""},
      {fresh + "echo small.onnx >l; x2ir convert -q --batch l --to onnx -o new/deep && ls new/deep",
       0, "small.onnx\n", ""},
      {fresh + "x2ir compare -q last.onnx other.onnx --bisect new/deep/p.onnx; ls new/deep", 0,
       "^p.onnx\np.safetensors\n", ""},
  });
}

}  // namespace
}  // namespace x2ir
