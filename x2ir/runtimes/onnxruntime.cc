// ONNX Runtime, by its C interface.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/runtimes/library_internal.h"
#include "x2ir/runtimes/onnxruntime_abi_internal.h"

namespace x2ir {
namespace {

constexpr const char* kOrtNames[] = {"libonnxruntime.so.1", "libonnxruntime.so"};

// The runtime counts element types as ONNX does, but has no float8e8m0 between float4e2m1 and
// uint2.
constexpr int kLastAsOnnx = static_cast<int>(DType::kFloat4E2M1);
constexpr int kOrtUInt2 = kLastAsOnnx + 1, kOrtInt2 = kLastAsOnnx + 2;

int OrtNumberOf(DType dtype) {
  if (dtype == DType::kUInt2) return kOrtUInt2;
  return dtype == DType::kInt2 ? kOrtInt2 : static_cast<int>(dtype);
}
// kUndefined: not known here.
DType OrtTypeOf(int number) {
  if (number == kOrtUInt2) return DType::kUInt2;
  if (number == kOrtInt2) return DType::kInt2;
  return number > 0 && number <= kLastAsOnnx ? static_cast<DType>(number) : DType::kUndefined;
}

// What has to be released, with what releases it.
template <typename T>
using OrtOwned = std::unique_ptr<T, void (*)(T*)>;

struct Ort {
  ort::Functions f;
  ort::Env* env = nullptr;
  ort::Allocator* allocator = nullptr;  // of the library
  std::string version;

  // The error that a status is.
  absl::Status Check(ort::Status* status) const {
    if (!status) return absl::OkStatus();
    const std::string message = f.GetErrorMessage(status);
    f.ReleaseStatus(status);
    return CannotExpress("ONNX Runtime ", version, ": ", message);
  }
  OrtOwned<ort::Value> Own(ort::Value* value) const { return {value, f.ReleaseValue}; }

  absl::StatusOr<std::string> NameOf(ort::Status* status, char* name) const {
    X2IR_RETURN_IF_ERROR(Check(status));
    std::string text = name;
    X2IR_RETURN_IF_ERROR(Check(f.AllocatorFree(allocator, name)));
    return text;
  }
  absl::StatusOr<DType> TypeOf(ort::Status* status, ort::TypeInfo* made) const {
    X2IR_RETURN_IF_ERROR(Check(status));
    const OrtOwned<ort::TypeInfo> info(made, f.ReleaseTypeInfo);
    const ort::TensorInfo* tensor = nullptr;
    X2IR_RETURN_IF_ERROR(Check(f.CastTypeInfoToTensorInfo(info.get(), &tensor)));
    if (!tensor) return DType::kUndefined;  // a sequence, a map
    int type = 0;
    X2IR_RETURN_IF_ERROR(Check(f.GetTensorElementType(tensor, &type)));
    return OrtTypeOf(type);
  }

  absl::StatusOr<OrtOwned<ort::Value>> ToValue(const Tensor& tensor) const {
    ort::Value* made = nullptr;
    X2IR_RETURN_IF_ERROR(
        Check(f.CreateTensorAsOrtValue(allocator, tensor.dims().data(), tensor.dims().size(),
                                       OrtNumberOf(tensor.dtype()), &made)));
    OrtOwned<ort::Value> value = Own(made);
    if (tensor.num_elements() == 0) return value;
    if (tensor.is_string()) {
      std::vector<const char*> strings;
      for (const std::string& text : tensor.strings()) strings.push_back(text.c_str());
      X2IR_RETURN_IF_ERROR(Check(f.FillStringTensor(made, strings.data(), strings.size())));
      return value;
    }
    void* data = nullptr;
    X2IR_RETURN_IF_ERROR(Check(f.GetTensorMutableData(made, &data)));
    std::memcpy(data, tensor.bytes().data(), tensor.nbytes());
    return value;
  }

  absl::StatusOr<Tensor> StringsOf(const ort::Value* value, std::vector<int64_t> dims,
                                   size_t count) const {
    size_t size = 0;
    X2IR_RETURN_IF_ERROR(Check(f.GetStringTensorDataLength(value, &size)));
    std::string bytes(size, '\0');
    std::vector<size_t> offsets(count);
    X2IR_RETURN_IF_ERROR(
        Check(f.GetStringTensorContent(value, bytes.data(), size, offsets.data(), count)));
    offsets.push_back(size);
    std::vector<std::string> strings;
    for (size_t i = 0; i < count; ++i) {
      strings.push_back(bytes.substr(offsets[i], offsets[i + 1] - offsets[i]));
    }
    return Tensor::Strings(std::move(dims), std::move(strings));
  }

  absl::StatusOr<Tensor> ToTensor(ort::Value* value) const {
    ort::TensorInfo* made = nullptr;
    X2IR_RETURN_IF_ERROR(Check(f.GetTensorTypeAndShape(value, &made)));
    const OrtOwned<ort::TensorInfo> info(made, f.ReleaseTensorTypeAndShapeInfo);
    int type = 0;
    size_t rank = 0;
    X2IR_RETURN_IF_ERROR(Check(f.GetTensorElementType(made, &type)));
    X2IR_RETURN_IF_ERROR(Check(f.GetDimensionsCount(made, &rank)));
    std::vector<int64_t> dims(rank);
    X2IR_RETURN_IF_ERROR(Check(f.GetDimensions(made, dims.data(), rank)));
    const DType dtype = OrtTypeOf(type);
    const std::optional<int64_t> count = CheckedProduct(dims);
    if (dtype == DType::kUndefined || !count || *count < 0) {
      return CannotExpress("ONNX Runtime ", version, " gives a tensor of type ", type,
                           ", which is not known here");
    }
    if (dtype == DType::kString) {
      return StringsOf(value, std::move(dims), static_cast<size_t>(*count));
    }
    Tensor tensor = Tensor::Zeros(dtype, std::move(dims));
    if (*count == 0) return tensor;
    void* data = nullptr;
    X2IR_RETURN_IF_ERROR(Check(f.GetTensorMutableData(value, &data)));
    std::memcpy(tensor.mutable_bytes().data(), data, tensor.nbytes());
    return tensor;
  }

  // Element i of a tensor, of rank 0.
  static Datum ElementOf(const Tensor& tensor, int64_t i) {
    if (tensor.is_string()) return Tensor::Strings({}, {tensor.strings()[i]});
    Tensor element = Tensor::Zeros(tensor.dtype(), {});
    const size_t size = element.nbytes();
    std::memcpy(element.mutable_bytes().data(), tensor.bytes().data() + i * size, size);
    return element;
  }

  absl::StatusOr<Datum> ToDatum(ort::Value* value) const {
    if (!value) return Datum();  // an optional that holds nothing
    int kind = 0;
    X2IR_RETURN_IF_ERROR(Check(f.GetValueType(value, &kind)));
    if (kind == ort::kTensor) {
      X2IR_ASSIGN_OR_RETURN(Tensor tensor, ToTensor(value));
      return Datum(std::move(tensor));
    }
    if (kind != ort::kSequence && kind != ort::kMap) {
      return Unimplemented("ONNX Runtime ", version,
                           " returns a value that is not a tensor, sequence or map");
    }
    size_t count = 0;
    X2IR_RETURN_IF_ERROR(Check(f.GetValueCount(value, &count)));
    DatumSequence parts;
    for (size_t i = 0; i < count; ++i) {
      ort::Value* made = nullptr;
      X2IR_RETURN_IF_ERROR(Check(f.GetValue(value, static_cast<int>(i), allocator, &made)));
      const OrtOwned<ort::Value> part = Own(made);
      X2IR_ASSIGN_OR_RETURN(Datum datum, ToDatum(part.get()));
      parts.push_back(std::move(datum));
    }
    if (kind == ort::kSequence) return Datum(std::move(parts));
    // A map is two tensors: its keys, in order, and its values.
    const Tensor *keys = parts.empty() ? nullptr : parts[0].tensor(),
                 *values = parts.size() < 2 ? nullptr : parts[1].tensor();
    if (!keys || !values || keys->num_elements() != values->num_elements()) {
      return Unimplemented("ONNX Runtime ", version,
                           " returns a map whose keys or values are not tensors");
    }
    auto map = std::make_shared<DatumMap>();
    for (int64_t i = 0; i < keys->num_elements(); ++i) {
      map->emplace_back(ElementOf(*keys, i), ElementOf(*values, i));
    }
    return Datum(std::shared_ptr<const DatumMap>(std::move(map)));
  }
};

class OrtModel : public RuntimeModel {
 public:
  OrtModel(const Ort& ort, ort::Session* session)
      : ort_(ort), session_(session, ort.f.ReleaseSession) {}

  absl::Status ReadPorts() {
    const ort::Functions& f = ort_.f;
    for (const bool input : {true, false}) {
      size_t count = 0;
      X2IR_RETURN_IF_ERROR(ort_.Check(
          (input ? f.SessionGetInputCount : f.SessionGetOutputCount)(session_.get(), &count)));
      for (size_t i = 0; i < count; ++i) {
        char* name = nullptr;
        ort::TypeInfo* type = nullptr;
        ort::Status* status = (input ? f.SessionGetInputName : f.SessionGetOutputName)(
            session_.get(), i, ort_.allocator, &name);
        X2IR_ASSIGN_OR_RETURN(std::string text, ort_.NameOf(status, name));
        status = (input ? f.SessionGetInputTypeInfo : f.SessionGetOutputTypeInfo)(session_.get(), i,
                                                                                  &type);
        X2IR_ASSIGN_OR_RETURN(const DType dtype, ort_.TypeOf(status, type));
        (input ? inputs_ : outputs_).push_back({std::move(text), dtype});
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Datum>> Run(absl::Span<const Tensor> inputs) override {
    X2IR_RETURN_IF_ERROR(CheckInputTypes(inputs));
    std::vector<OrtOwned<ort::Value>> owned;
    std::vector<const ort::Value*> values;
    std::vector<const char*> names, wanted;
    for (size_t i = 0; i < inputs.size(); ++i) {
      X2IR_ASSIGN_OR_RETURN(const Tensor dense, inputs[i].ToDense());
      X2IR_ASSIGN_OR_RETURN(OrtOwned<ort::Value> value, ort_.ToValue(dense));
      values.push_back(value.get());
      owned.push_back(std::move(value));
      names.push_back(inputs_[i].name.c_str());
    }
    for (const RuntimePort& output : outputs_) wanted.push_back(output.name.c_str());
    std::vector<ort::Value*> made(outputs_.size(), nullptr);
    const absl::Status ran =
        ort_.Check(ort_.f.Run(session_.get(), nullptr, names.data(), values.data(), values.size(),
                              wanted.data(), wanted.size(), made.data()));
    std::vector<OrtOwned<ort::Value>> results;
    for (ort::Value* value : made) results.push_back(ort_.Own(value));
    X2IR_RETURN_IF_ERROR(ran);
    std::vector<Datum> outputs;
    for (const auto& result : results) {
      X2IR_ASSIGN_OR_RETURN(Datum datum, ort_.ToDatum(result.get()));
      outputs.push_back(std::move(datum));
    }
    return outputs;
  }

 private:
  const Ort& ort_;
  OrtOwned<ort::Session> session_;
};

class OrtRuntime : public Runtime {
 public:
  explicit OrtRuntime(Ort ort) : ort_(std::move(ort)) {}
  ~OrtRuntime() override { ort_.f.ReleaseEnv(ort_.env); }
  std::string_view name() const override { return "onnxruntime"; }
  std::string_view format() const override { return "onnx"; }
  std::string version() const override { return ort_.version; }
  absl::StatusOr<std::unique_ptr<RuntimeModel>> Open(const std::string& path) const override {
    ort::SessionOptions* made = nullptr;
    X2IR_RETURN_IF_ERROR(ort_.Check(ort_.f.CreateSessionOptions(&made)));
    const OrtOwned<ort::SessionOptions> options(made, ort_.f.ReleaseSessionOptions);
    ort::Session* session = nullptr;
    X2IR_RETURN_IF_ERROR(
        ort_.Check(ort_.f.CreateSession(ort_.env, path.c_str(), options.get(), &session)));
    auto model = std::make_unique<OrtModel>(ort_, session);
    X2IR_RETURN_IF_ERROR(model->ReadPorts());
    return model;
  }

 private:
  Ort ort_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Runtime>> LoadOnnxRuntime(const std::string& path) {
  X2IR_ASSIGN_OR_RETURN(
      const SharedLibrary library,
      SharedLibrary::Load(path, kOrtNames, "ONNX Runtime", "install ONNX Runtime's library for C"));
  const ort::ApiBase* (*get)() = nullptr;
  X2IR_RETURN_IF_ERROR(library.Find("OrtGetApiBase", &get));
  const ort::ApiBase* base = get();
  const void* const* api = base ? base->GetApi(ort::kApiVersion) : nullptr;
  if (!api) return library.IsNot("it has no interface of version 1");
  Ort ort{ort::FunctionsOf(api), nullptr, nullptr, base->GetVersionString()};
  // What it has to say comes as an error; nothing is printed.
  X2IR_RETURN_IF_ERROR(ort.Check(ort.f.CreateEnv(ort::kLogFatal, "x2ir", &ort.env)));
  X2IR_RETURN_IF_ERROR(ort.Check(ort.f.GetAllocatorWithDefaultOptions(&ort.allocator)));
  return std::make_shared<OrtRuntime>(std::move(ort));
}

}  // namespace x2ir
