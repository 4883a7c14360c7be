// Options of readers that the formats of the models do not have: they are accepted, with a warning
// that names the formats that have them.
#include "gtest/gtest.h"
#include "tests/cli/shell_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

class ReadingOptions : public ShellTest {};

TEST_F(ReadingOptions, WithoutEffect) {
  PutOnnx("a.onnx", "graph a(x: float32[2]) -> (y) { y: float32[2] = onnx.Relu(x) }");
  const std::string tflite = X2IR_SOURCE_DIR "/tests/data/tflite/while_5.tflite";
  ASSERT_EQ(Run(StrCat("cp ", tflite, " b.tflite")).code, 0);
  ASSERT_EQ(Run("x2ir convert -q a.onnx -o a.json && printf 'a.onnx\\n' >one && "
                "printf 'a.onnx\\nb.tflite\\n' >two")
                .code,
            0);
  const std::string params =
      "^warning: --params has no effect on a model of format 'onnx'; formats that have this "
      "option: [a-z0-9_, ]*caffe[a-z0-9_, ]*\n$";
  const std::string any = "(.|\n)*";
  Check({
      {"x2ir info a.onnx --params b.bin >/dev/null", 0, "", params},
      {"x2ir show a.onnx --raw --params b.bin >/dev/null", 0, "", params},
      {"x2ir run a.onnx --random 1 --params b.bin >/dev/null", 0, "", params},
      {"x2ir convert a.onnx -o c.json --params b.bin >/dev/null", 0, "", params},
      {"x2ir convert --batch one -o out --params b.bin >/dev/null", 0, "", any + params.substr(1)},
      // Of several models one has it.
      {"x2ir convert --batch two -o out2 --signature serving_default >/dev/null; true", 0, "",
       "^(?!" + any + "has no effect)" + any},
      {"x2ir info a.onnx b.tflite --signature nope >/dev/null; true", 0, "", "no signature 'nope'"},
      {"x2ir info a.onnx a.json --signature s --job j >/dev/null", 0, "",
       "^warning: --job has no effect on models of formats '[a-z]+', '[a-z]+'; formats that have "
       "this option: oneflow_graph\nwarning: --signature has no effect on models of formats '[a-z]+', "
       "'[a-z]+'; formats that have this option: [a-z_, ]*tflite[a-z_, ]*\n$"},
      // Nothing was read, or nothing is to be said.
      {"x2ir info nowhere.onnx --params b.bin", 3, "", "^error: [^\n]*nowhere.onnx[^\n]*\n$"},
      {"x2ir info a.onnx -q --params b.bin >/dev/null", 0, "", ""},
      // A value that no reader would take is wrong for a model whose format has the option alone.
      {"x2ir convert a.onnx -o d.json --unpack float16 >/dev/null", 0, "",
       "--unpack has no effect on a model of format 'onnx'"},
      // Those of writers are wrong usage.
      {"x2ir convert a.onnx -o e.tflite --external-data always", 2, "",
       "--external-data: format 'tflite', which is written, has no such option"},
  });
}

}  // namespace
}  // namespace x2ir
