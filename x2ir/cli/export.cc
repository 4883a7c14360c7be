// ir2onnx export: an IR model, or one of any other format, becomes an ONNX file.
#include "x2ir/cli/conversion.h"
#include "x2ir/cli/verbs.h"

namespace x2ir::cli {
namespace {

constexpr char kExportFooter[] =
    "Examples:\n"
    "  ir2onnx export model.json                     # model.onnx in this folder\n"
    "  ir2onnx export model.json -o old.onnx --opset 11\n"
    "  ir2onnx export model.json --extra-opset com.acme:2 --check\n"
    "  ir2onnx export model.json --passes simplify,dead_code\n"
    "  ir2onnx export model.json --inputs-as-nchw image  # inputs keep their names and order\n"
    "  ir2onnx export model.pt2 -o - | gzip > model.onnx.gz\n"
    "\n"
    "Without --opset the model's own opset is written, else 17; where that lacks what the model\n"
    "needs, the least one that has it, and the summary says so. If an op cannot be expressed at\n"
    "the opset, all such ops are named, nothing is written, and the exit code is 1.";

}  // namespace

void AddExport(CLI::App& app, Session& session) {
  AddConversion(app, session,
                {"export", "Write a model as ONNX: one of IR, or of any other format",
                 kExportFooter, "exporting", "onnx", /*by_name=*/false});
}

}  // namespace x2ir::cli
