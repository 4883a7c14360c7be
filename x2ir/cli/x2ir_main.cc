// x2ir: reads models of any format into the IR, and looks at them.
#include "x2ir/cli/program.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/strings.h"

int main(int argc, char** argv) {
  using namespace x2ir::cli;  // NOLINT
  return RunProgram(
      argc, argv, "x2ir",
      x2ir::StrCat("x2ir carries neural networks between frameworks and ONNX.\n"
                   "MODEL is of any format that is read: ",
                   x2ir::FormatNames(),
                   ".\n"
                   "x2ir formats says more of each."),
      {AddConvert, AddShow, AddInfo, AddDraw, AddView, AddRun, AddVerify, AddCompare, AddOps, AddFormats});
}
