// The part of TensorFlow Lite's C interface that is used here: plain functions, in the library
// since TensorFlow 2.3.
#ifndef X2IR_RUNTIMES_LITERT_ABI_INTERNAL_H_
#define X2IR_RUNTIMES_LITERT_ABI_INTERNAL_H_

#include <cstdarg>
#include <cstddef>
#include <cstdint>

namespace x2ir::lite {

// Types of the library; their content is not accessed here.
struct Model;
struct Options;  // TfLiteInterpreterOptions
struct Interpreter;
struct Tensor;

using Reporter = void(void* user, const char* format, va_list arguments);

inline constexpr int kOk = 0;  // TfLiteStatus; all else is a failure

// TfLiteType, by number; a null name is an unknown type.
inline constexpr const char* kTypeNames[] = {
    nullptr, "float32",   "int32",  "uint8",   "int64",   "string",     "bool",
    "int16", "complex64", "int8",   "float16", "float64", "complex128", "uint64",
    nullptr, nullptr,     "uint32", "uint16",  "int4",    "bfloat16"};

#define X2IR_LITE_FUNCTIONS(X)                                                                 \
  X(const char*, Version, ())                                                                  \
  X(Model*, ModelCreateFromFile, (const char* path))                                           \
  X(void, ModelDelete, (Model*))                                                               \
  X(Options*, InterpreterOptionsCreate, ())                                                    \
  X(void, InterpreterOptionsDelete, (Options*))                                                \
  X(void, InterpreterOptionsSetErrorReporter, (Options*, Reporter*, void* user))               \
  X(Interpreter*, InterpreterCreate, (const Model*, const Options*))                           \
  X(void, InterpreterDelete, (Interpreter*))                                                   \
  X(int32_t, InterpreterGetInputTensorCount, (const Interpreter*))                             \
  X(Tensor*, InterpreterGetInputTensor, (const Interpreter*, int32_t))                         \
  X(int, InterpreterResizeInputTensor, (Interpreter*, int32_t, const int* dims, int32_t rank)) \
  X(int, InterpreterAllocateTensors, (Interpreter*))                                           \
  X(int, InterpreterInvoke, (Interpreter*))                                                    \
  X(int32_t, InterpreterGetOutputTensorCount, (const Interpreter*))                            \
  X(const Tensor*, InterpreterGetOutputTensor, (const Interpreter*, int32_t))                  \
  X(int, TensorType, (const Tensor*))                                                          \
  X(int32_t, TensorNumDims, (const Tensor*))                                                   \
  X(int32_t, TensorDim, (const Tensor*, int32_t))                                              \
  X(size_t, TensorByteSize, (const Tensor*))                                                   \
  X(const char*, TensorName, (const Tensor*))                                                  \
  X(int, TensorCopyFromBuffer, (Tensor*, const void* bytes, size_t))                           \
  X(int, TensorCopyToBuffer, (const Tensor*, void* bytes, size_t))

// Functions of the library are called TfLite and the name.
struct Functions {
#define X2IR_LITE_MEMBER(result, name, arguments) result(*name) arguments = nullptr;
  X2IR_LITE_FUNCTIONS(X2IR_LITE_MEMBER)
#undef X2IR_LITE_MEMBER
};

// `find(symbol, &function)` for each; the first error.
template <typename Find>
auto FindFunctions(Functions* functions, const Find& find) {
#define X2IR_LITE_FIND(result, name, arguments) \
  if (auto status = find("TfLite" #name, &functions->name); !status.ok()) return status;
  X2IR_LITE_FUNCTIONS(X2IR_LITE_FIND)
#undef X2IR_LITE_FIND
  return decltype(find("", &functions->Version))();
}
#undef X2IR_LITE_FUNCTIONS

}  // namespace x2ir::lite

#endif  // X2IR_RUNTIMES_LITERT_ABI_INTERNAL_H_
