// The program x2ir, for its main function and for the command of the Python package.
#include "x2ir/cli/program.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::cli {

int RunX2ir(int argc, char** argv) {
  return RunProgram(argc, argv, "x2ir",
                    StrCat("x2ir converts neural networks between frameworks and ONNX.\n"
                           "MODEL is of any format that is read: ",
                           FormatNames(),
                           ".\n"
                           "x2ir formats describes each of them."),
                    {AddConvert, AddShow, AddInfo, AddDraw, AddView, AddRun, AddVerify, AddCompare,
                     AddDiff, AddOps, AddFormats});
}

}  // namespace x2ir::cli
