// The part of ONNX Runtime's C interface that is used here. Its OrtApi is a struct of function
// pointers that only grows from version to version: the functions below are of version 1 (ONNX
// Runtime 1.0), so any release since has it. Numbers are the places of the functions in that
// struct.
#ifndef X2IR_RUNTIMES_ONNXRUNTIME_ABI_INTERNAL_H_
#define X2IR_RUNTIMES_ONNXRUNTIME_ABI_INTERNAL_H_

#include <cstddef>
#include <cstdint>

namespace x2ir::ort {

inline constexpr uint32_t kApiVersion = 1;

// Types of the library; their content is not accessed here.
struct Status;
struct Env;
struct SessionOptions;
struct Session;
struct TypeInfo;
struct TensorInfo;  // OrtTensorTypeAndShapeInfo
struct Value;
struct Allocator;

enum LogLevel : int { kLogFatal = 4 };
// ONNXType.
enum ValueKind : int { kTensor = 1, kSequence = 2, kMap = 3 };

struct ApiBase {
  const void* const* (*GetApi)(uint32_t version);  // null: the library is older
  const char* (*GetVersionString)();
};

// A null Status is success; any other is released.
#define X2IR_ORT_FUNCTIONS(X)                                                                    \
  X(2, const char*, GetErrorMessage, (const Status*))                                            \
  X(3, Status*, CreateEnv, (LogLevel, const char* id, Env**))                                    \
  X(7, Status*, CreateSession, (const Env*, const char* path, const SessionOptions*, Session**)) \
  X(9, Status*, Run,                                                                             \
    (Session*, const void* options, const char* const* input_names, const Value* const* inputs,  \
     size_t num_inputs, const char* const* output_names, size_t num_outputs, Value** outputs))   \
  X(10, Status*, CreateSessionOptions, (SessionOptions**))                                       \
  X(30, Status*, SessionGetInputCount, (const Session*, size_t*))                                \
  X(31, Status*, SessionGetOutputCount, (const Session*, size_t*))                               \
  X(33, Status*, SessionGetInputTypeInfo, (const Session*, size_t, TypeInfo**))                  \
  X(34, Status*, SessionGetOutputTypeInfo, (const Session*, size_t, TypeInfo**))                 \
  X(36, Status*, SessionGetInputName, (const Session*, size_t, Allocator*, char**))              \
  X(37, Status*, SessionGetOutputName, (const Session*, size_t, Allocator*, char**))             \
  X(48, Status*, CreateTensorAsOrtValue,                                                         \
    (Allocator*, const int64_t* dims, size_t rank, int element_type, Value**))                   \
  X(51, Status*, GetTensorMutableData, (Value*, void**))                                         \
  X(52, Status*, FillStringTensor, (Value*, const char* const* strings, size_t))                 \
  X(53, Status*, GetStringTensorDataLength, (const Value*, size_t*))                             \
  X(54, Status*, GetStringTensorContent,                                                         \
    (const Value*, void* bytes, size_t num_bytes, size_t* offsets, size_t num_offsets))          \
  X(55, Status*, CastTypeInfoToTensorInfo, (const TypeInfo*, const TensorInfo**))                \
  X(60, Status*, GetTensorElementType, (const TensorInfo*, int*))                                \
  X(61, Status*, GetDimensionsCount, (const TensorInfo*, size_t*))                               \
  X(62, Status*, GetDimensions, (const TensorInfo*, int64_t*, size_t))                           \
  X(65, Status*, GetTensorTypeAndShape, (const Value*, TensorInfo**))                            \
  X(67, Status*, GetValueType, (const Value*, int*))                                             \
  X(76, Status*, AllocatorFree, (Allocator*, void*))                                             \
  X(78, Status*, GetAllocatorWithDefaultOptions, (Allocator**))                                  \
  X(80, Status*, GetValue, (const Value*, int index, Allocator*, Value**))                       \
  X(81, Status*, GetValueCount, (const Value*, size_t*))                                         \
  X(92, void, ReleaseEnv, (Env*))                                                                \
  X(93, void, ReleaseStatus, (Status*))                                                          \
  X(95, void, ReleaseSession, (Session*))                                                        \
  X(96, void, ReleaseValue, (Value*))                                                            \
  X(98, void, ReleaseTypeInfo, (TypeInfo*))                                                      \
  X(99, void, ReleaseTensorTypeAndShapeInfo, (TensorInfo*))                                      \
  X(100, void, ReleaseSessionOptions, (SessionOptions*))

struct Functions {
#define X2IR_ORT_MEMBER(place, result, name, arguments) result(*name) arguments = nullptr;
  X2IR_ORT_FUNCTIONS(X2IR_ORT_MEMBER)
#undef X2IR_ORT_MEMBER
};

inline Functions FunctionsOf(const void* const* api) {
  Functions functions;
#define X2IR_ORT_TAKE(place, result, name, arguments) \
  functions.name = reinterpret_cast<decltype(functions.name)>(const_cast<void*>(api[place]));
  X2IR_ORT_FUNCTIONS(X2IR_ORT_TAKE)
#undef X2IR_ORT_TAKE
  return functions;
}
#undef X2IR_ORT_FUNCTIONS

}  // namespace x2ir::ort

#endif  // X2IR_RUNTIMES_ONNXRUNTIME_ABI_INTERNAL_H_
