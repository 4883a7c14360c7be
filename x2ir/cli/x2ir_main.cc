// x2ir: reads models of any format into the IR, and looks at them.
#include "x2ir/cli/program.h"
#include "x2ir/cli/verbs.h"

int main(int argc, char** argv) {
  using namespace x2ir::cli;  // NOLINT
  return RunProgram(
      argc, argv, "x2ir",
      "x2ir carries neural networks between frameworks and ONNX.\n"
      "MODEL is of any format that is read: ONNX, an archive of torch.export (.pt2),\n"
      "TensorFlow's frozen graph (.pb, .pbtxt) or SavedModel (its folder), or x2ir's\n"
      "own IR (NAME.json).",
      {AddConvert, AddShow, AddInfo, AddDraw, AddRun, AddVerify, AddOps});
}
