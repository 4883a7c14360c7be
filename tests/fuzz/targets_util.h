// What fuzzers feed with bytes, and what they begin with. Errors are as good as results; what must
// not be ends the program with a line that says why.
#ifndef X2IR_TESTS_FUZZ_TARGETS_UTIL_H_
#define X2IR_TESTS_FUZZ_TARGETS_UTIL_H_

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace x2ir {

struct FuzzTarget {
  std::string name;
  // Small whole inputs, for mutations to begin with.
  std::vector<std::string> (*seeds)();
  void (*run)(std::string_view bytes);
  friend void PrintTo(const FuzzTarget& target, std::ostream* out) { *out << target.name; }
};

// Readers: onnx, textproto, onnxjson, onnxtxt, ir, safetensors, tensorflow, saved_model, tflite,
// ort, paddle, paddle_pir, keras (HDF5 files and archives), keras_config, tfjs, mxnet, nnvm, relay,
// relay_json, caffe, caffe2, coreml, mlpackage, darknet, ncnn, nnef,
// nnef_tar (archives), oneflow_graph, oneflow_job, torch
// (the archive), torch_program (the program in it), torchscript (the archive), torchscript_code,
// torchscript_pickle and torchscript_bytecode (these files in it), stablehlo (text), mlir_bytecode,
// gguf, checkpoint (config.json and the weights), checkpoint_config (config.json; the weights are
// the family's). Graphs as text: driver (printed, converted there and back), evaluate (optimized,
// then evaluated beside what it was).
const std::vector<FuzzTarget>& FuzzTargets();
const FuzzTarget* FindFuzzTarget(std::string_view name);

// Inputs that are several files stand one after another in the bytes, with this between.
inline constexpr std::string_view kFileBoundary = "\n==x2ir==\n";

// read_targets_util.cc and graph_targets_util.cc, which FuzzTargets() puts together.
std::vector<FuzzTarget> ReadTargets();
std::vector<FuzzTarget> GraphTargets();

[[noreturn]] void FuzzFailure(std::string_view why);

}  // namespace x2ir

#endif  // X2IR_TESTS_FUZZ_TARGETS_UTIL_H_
