// A library that has TensorFlow Lite's C interface and computes by our own evaluation:
// distributions and registries do not have the real one, and what is tested with it is how a
// library is loaded and called (x2ir/runtimes/litert.cc). Results of the real runtime are
// tests/oracle/litert.mjs's matter.
#include <cstdarg>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"

#define LITE_API extern "C" __attribute__((visibility("default")))

namespace {

using Reporter = void (*)(void*, const char*, va_list);

// TfLiteType, as the real one counts.
constexpr std::pair<x2ir::DType, int> kTypes[] = {
    {x2ir::DType::kFloat32, 1}, {x2ir::DType::kInt32, 2}, {x2ir::DType::kUInt8, 3},
    {x2ir::DType::kInt64, 4},   {x2ir::DType::kBool, 6},  {x2ir::DType::kInt8, 9}};

int TypeOf(x2ir::DType dtype) {
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == dtype) return theirs;
  }
  return 0;
}

}  // namespace

struct TfLiteModel {
  x2ir::Model ir;
};
struct TfLiteInterpreterOptions {
  Reporter report = nullptr;
  void* user = nullptr;
  void Say(const char* format, ...) const {
    if (!report) return;
    va_list arguments;
    va_start(arguments, format);
    report(user, format, arguments);
    va_end(arguments);
  }
};
struct TfLiteTensor {
  std::string name;
  x2ir::Tensor tensor;
};
struct TfLiteInterpreter {
  const TfLiteModel* model;
  TfLiteInterpreterOptions options;
  bool allocated = false;
  std::vector<TfLiteTensor> inputs, outputs;
};

LITE_API const char* TfLiteVersion() { return "double"; }
LITE_API TfLiteModel* TfLiteModelCreateFromFile(const char* path) {
  auto ir = x2ir::Import(std::string(path), {.format = "tflite"});
  return ir.ok() ? new TfLiteModel{*std::move(ir)} : nullptr;
}
LITE_API void TfLiteModelDelete(TfLiteModel* model) { delete model; }
LITE_API TfLiteInterpreterOptions* TfLiteInterpreterOptionsCreate() {
  return new TfLiteInterpreterOptions;
}
LITE_API void TfLiteInterpreterOptionsDelete(TfLiteInterpreterOptions* options) { delete options; }
LITE_API void TfLiteInterpreterOptionsSetErrorReporter(TfLiteInterpreterOptions* options,
                                                       Reporter report, void* user) {
  options->report = report;
  options->user = user;
}
LITE_API TfLiteInterpreter* TfLiteInterpreterCreate(const TfLiteModel* model,
                                                    const TfLiteInterpreterOptions* options) {
  const x2ir::Graph& graph = *model->ir.graph;
  for (const x2ir::Node* node : graph.nodes()) {
    if (node->op() != "cum_sum") continue;
    options->Say("no kernel of %s in a double\n", node->op().str().c_str());
    return nullptr;
  }
  auto made =
      std::make_unique<TfLiteInterpreter>(TfLiteInterpreter{model, *options, false, {}, {}});
  for (const x2ir::Value* input : graph.inputs()) {
    std::vector<int64_t> dims;
    for (const x2ir::Dim& dim : *input->shape()) dims.push_back(dim.is_static() ? dim.value() : 1);
    made->inputs.push_back({input->name(), x2ir::Tensor::Zeros(input->dtype(), dims)});
  }
  for (const x2ir::Value* output : graph.outputs()) {
    made->outputs.push_back({output->name(), x2ir::Tensor::Zeros(output->dtype(), {0})});
  }
  return made.release();
}
LITE_API void TfLiteInterpreterDelete(TfLiteInterpreter* interpreter) { delete interpreter; }
LITE_API int32_t TfLiteInterpreterGetInputTensorCount(const TfLiteInterpreter* interpreter) {
  return static_cast<int32_t>(interpreter->inputs.size());
}
LITE_API TfLiteTensor* TfLiteInterpreterGetInputTensor(TfLiteInterpreter* interpreter, int32_t i) {
  return &interpreter->inputs[i];
}
LITE_API int TfLiteInterpreterResizeInputTensor(TfLiteInterpreter* interpreter, int32_t i,
                                                const int* dims, int32_t rank) {
  x2ir::Tensor& tensor = interpreter->inputs[i].tensor;
  if (rank != tensor.rank()) {
    interpreter->options.Say("rank %d", rank);
    return 1;
  }
  tensor = x2ir::Tensor::Zeros(tensor.dtype(), std::vector<int64_t>(dims, dims + rank));
  interpreter->allocated = false;
  return 0;
}
LITE_API int TfLiteInterpreterAllocateTensors(TfLiteInterpreter* interpreter) {
  interpreter->allocated = true;
  return 0;
}
LITE_API int TfLiteInterpreterInvoke(TfLiteInterpreter* interpreter) {
  if (!interpreter->allocated) return 1;
  x2ir::IoCase io;
  for (const TfLiteTensor& input : interpreter->inputs) io.inputs.emplace_back(input.tensor);
  const auto results = x2ir::RunCase(*interpreter->model->ir.graph, io);
  if (!results.ok()) {
    interpreter->options.Say("%s", std::string(results.status().message()).c_str());
    return 1;
  }
  for (size_t i = 0; i < results->size(); ++i) {
    interpreter->outputs[i].tensor = *(*results)[i].tensor();
  }
  return 0;
}
LITE_API int32_t TfLiteInterpreterGetOutputTensorCount(const TfLiteInterpreter* interpreter) {
  return static_cast<int32_t>(interpreter->outputs.size());
}
LITE_API const TfLiteTensor* TfLiteInterpreterGetOutputTensor(const TfLiteInterpreter* interpreter,
                                                              int32_t i) {
  return &interpreter->outputs[i];
}
LITE_API int TfLiteTensorType(const TfLiteTensor* tensor) { return TypeOf(tensor->tensor.dtype()); }
LITE_API int32_t TfLiteTensorNumDims(const TfLiteTensor* tensor) {
  return static_cast<int32_t>(tensor->tensor.rank());
}
LITE_API int32_t TfLiteTensorDim(const TfLiteTensor* tensor, int32_t d) {
  return static_cast<int32_t>(tensor->tensor.dim(d));
}
LITE_API size_t TfLiteTensorByteSize(const TfLiteTensor* tensor) { return tensor->tensor.nbytes(); }
LITE_API const char* TfLiteTensorName(const TfLiteTensor* tensor) { return tensor->name.c_str(); }
LITE_API int TfLiteTensorCopyFromBuffer(TfLiteTensor* tensor, const void* bytes, size_t size) {
  if (size != tensor->tensor.nbytes()) return 1;
  std::memcpy(tensor->tensor.mutable_bytes().data(), bytes, size);
  return 0;
}
LITE_API int TfLiteTensorCopyToBuffer(const TfLiteTensor* tensor, void* bytes, size_t size) {
  if (size != tensor->tensor.nbytes()) return 1;
  std::memcpy(bytes, tensor->tensor.bytes().data(), size);
  return 0;
}
