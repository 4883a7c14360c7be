// ir2onnx: writes IR models as ONNX.
#include "x2ir/cli/program.h"
#include "x2ir/cli/verbs.h"

int main(int argc, char** argv) {
  using namespace x2ir::cli;  // NOLINT
  return RunProgram(argc, argv, "ir2onnx",
                    "ir2onnx writes models as ONNX files: those of x2ir's IR, and of "
                    "any other format.",
                    {AddExport});
}
