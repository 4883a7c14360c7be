// Files that are damaged, and no models: what every verb says of them names the file, what is
// wrong, and why it was taken for one of its format. Nothing is left behind.
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cli/shell_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

class DamagedFiles : public ShellTest {};

TEST_F(DamagedFiles, AreNamedByEveryVerb) {
  PutOnnx("whole.onnx", "graph w(x: float32[2]) -> (y) { y: float32[2] = onnx.Relu(x) }");
  const struct {
    std::string make, name, says;
  } files[] = {
      {"head -c 60 whole.onnx >half.onnx", "half.onnx", "not an ONNX model, or an incomplete one"},
      {"printf 'hello' >text.onnx", "text.onnx", "format 'onnx' because of its name"},
      {"printf 'hello' >text.h5", "text.h5", "format 'keras' because of its name"},
      {"printf 'hello' >text.tflite", "text.tflite",
       "not a TFLite file; the file is read as format 'tflite' because of its name"},
      {"printf '\\377\\377' >bytes.pb", "bytes.pb", "format 'tensorflow' because of its name"},
      {"printf '\\377\\377' >bytes.mlmodel", "bytes.mlmodel",
       "format 'coreml' because of its name"},
      {"printf 'hello' >text.pt2", "text.pt2", "format 'torch' because of its name"},
      {"printf '{}' >no.json", "no.json", "not an x2ir model"},
      {"printf 'hello' >text.txt", "text.txt", "is in no format that x2ir knows"},
      {"mkdir empty", "empty", "is a directory that is in no format that x2ir knows"},
      {":", "nowhere.onnx", "no such file"},
  };
  std::vector<Row> rows;
  for (const auto& file : files) {
    ASSERT_EQ(Run(file.make).code, 0) << file.make;
    for (const char* verb :
         {"info F", "info --weights F", "info --cost F", "show F", "show --raw F",
          "draw F -o out/o.svg", "view F -o out/o.html", "run F --random 1", "verify F whole.onnx",
          "verify whole.onnx F", "compare F whole.onnx", "diff whole.onnx F",
          "convert F -o out/o.json", "convert F -o out/o.tflite"}) {
      std::string line = StrCat("x2ir ", verb);
      line.replace(line.find('F'), 1, file.name);
      rows.push_back({line, 3, "", StrCat("^error: ([^\n]*')?", file.name, "[^\n]*", file.says)});
      // The missing file is named at the end.
      if (file.make == ":") rows.back().err = StrCat("^error: no such file: '", file.name, "'\n$");
    }
  }
  Check(rows);
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

// What goes wrong with a model that was read names it, too.
TEST_F(DamagedFiles, AreNamedWhereModelsFail) {
  PutOnnx("odd.onnx", "graph o(x: float32[2]) -> (y) { y: float32[2] = onnx.com.acme::Odd(x) }");
  PutOnnx("fine.onnx", "graph f(x: float32[2]) -> (y) { y: float32[2] = onnx.Relu(x) }");
  PutOnnx("gather.onnx",
          "graph g(x: float32[2]) -> (y) { i = int64[1]{7}\ny = onnx.Gather(x, i) }");
  const std::string odd = "^error: 'odd.onnx': cannot convert to IR: 1 op";
  const std::string kept = "^warning: 'odd.onnx': ops that cannot be converted are shown";
  Check({
      {"x2ir convert odd.onnx -o odd.json", 1, "", odd},
      {"x2ir run odd.onnx --random 1", 1, "", odd},
      {"x2ir verify fine.onnx odd.onnx", 1, "", odd},
      {"x2ir compare odd.onnx fine.onnx", 1, "", odd},
      {"x2ir show odd.onnx >/dev/null", 0, "", kept},
      {"x2ir diff fine.onnx odd.onnx >/dev/null; true", 0, "", kept},
      {"x2ir run gather.onnx --random 1", 3, "", "^error: 'gather.onnx': [^\n]*7"},
      {"x2ir convert fine.onnx -o f.json --weights-from nowhere.safetensors", 3, "",
       "^error: [^\n]*--weights-from: no such file: 'nowhere.safetensors'\n$"},
      {"x2ir run fine.onnx --input z=x.npy", 2, "", "^error: --input: the model has no input 'z'"},
  });
}

}  // namespace
}  // namespace x2ir
