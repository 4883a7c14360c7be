// x2ir convert: a model of any format becomes one of any that is written.
#include "x2ir/cli/conversion.h"
#include "x2ir/cli/verbs.h"

namespace x2ir::cli {
namespace {

constexpr char kConvertFooter[] =
    "The name of -o decides the format: OUT.onnx is ONNX; OUT.json is IR (the graph), with\n"
    "OUT.safetensors (its weights) beside it. x2ir formats lists all formats.\n"
    "\n"
    "Examples:\n"
    "  x2ir convert model.pt2 -o model.onnx --opset 17\n"
    "  x2ir convert model.onnx -o old.onnx --opset 11\n"
    "  x2ir convert model.onnx                       # model.json in this folder\n"
    "  x2ir convert model.onnx -o out/net.json --shape x:1,3,224,224\n"
    "  x2ir convert model.onnx --shape 'tokens:batch,seq' --optimize\n"
    "  x2ir convert model.onnx --optimize --layout channels_last\n"
    "  x2ir convert model.onnx --allow-foreign com.acme --report report.json\n"
    "  x2ir convert model.onnx -o int8.onnx --int8 --calibrate images/ --per-channel\n"
    "  x2ir convert model.onnx -o int8.onnx --int8 --calibrate images/ --with onnxruntime\n"
    "  x2ir convert --batch list.txt -j 4 -o out     # out/batch.jsonl says how each went\n"
    "  x2ir convert --batch list.txt --to onnx -o out\n"
    "\n"
    "If an op cannot be converted, all such ops are named, nothing is written, and the exit\n"
    "code is 1. --continue-on-error keeps them as they are; export writes them back.";

}  // namespace

void AddConvert(CLI::App& app, Session& session) {
  AddConversion(app, session,
                {"convert", "Convert a model to IR, ONNX, or another format that is written",
                 kConvertFooter, "converting", "ir", /*by_name=*/true});
}

}  // namespace x2ir::cli
