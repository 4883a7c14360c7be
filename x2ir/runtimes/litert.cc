// LiteRT, formerly TensorFlow Lite, by its C interface.
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/runtimes/library_internal.h"
#include "x2ir/runtimes/litert_abi_internal.h"

namespace x2ir {
namespace {

constexpr const char* kLiteNames[] = {"libtensorflowlite_c.so", "libtensorflow-lite.so"};

DType LiteTypeOf(int type) {
  const bool known = type >= 0 && type < static_cast<int>(std::size(lite::kTypeNames));
  const char* name = known ? lite::kTypeNames[type] : nullptr;
  return name ? ParseDType(name).value_or(DType::kUndefined) : DType::kUndefined;
}

template <typename T>
using LiteOwned = std::unique_ptr<T, void (*)(T*)>;

// What the library reports, in one line.
void Listen(void* user, const char* format, va_list arguments) {
  char line[1024];
  if (std::vsnprintf(line, sizeof line, format, arguments) <= 0) return;
  std::string_view said = line;
  while (!said.empty() && said.back() == '\n') said.remove_suffix(1);
  auto* heard = static_cast<std::string*>(user);
  StrAppend(heard, heard->empty() ? "" : "; ", said);
}

class LiteModel : public RuntimeModel {
 public:
  LiteModel(const lite::Functions& f, std::string version, LiteOwned<lite::Model> model)
      : f_(f),
        version_(std::move(version)),
        model_(std::move(model)),
        options_(f.InterpreterOptionsCreate(), f.InterpreterOptionsDelete),
        interpreter_(nullptr, f.InterpreterDelete) {}

  absl::Status Prepare() {
    f_.InterpreterOptionsSetErrorReporter(options_.get(), Listen, &heard_);
    interpreter_.reset(f_.InterpreterCreate(model_.get(), options_.get()));
    if (!interpreter_) return Refused("does not take the model");
    for (int32_t i = 0; i < f_.InterpreterGetInputTensorCount(interpreter_.get()); ++i) {
      inputs_.push_back(PortOf(f_.InterpreterGetInputTensor(interpreter_.get(), i)));
    }
    for (int32_t i = 0; i < f_.InterpreterGetOutputTensorCount(interpreter_.get()); ++i) {
      outputs_.push_back(PortOf(f_.InterpreterGetOutputTensor(interpreter_.get(), i)));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Datum>> Run(absl::Span<const Tensor> inputs) override {
    X2IR_RETURN_IF_ERROR(CheckInputTypes(inputs));
    lite::Interpreter* interpreter = interpreter_.get();
    heard_.clear();
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::vector<int> dims;
      for (const int64_t dim : inputs[i].dims()) dims.push_back(static_cast<int>(dim));
      if (inputs[i].is_string()) {
        return Unimplemented("input '", inputs_[i].name, "' holds strings, which are not given to ",
                             Title());
      }
      const auto at = static_cast<int32_t>(i);
      if (DimsOf(f_.InterpreterGetInputTensor(interpreter, at)) != inputs[i].dims() &&
          f_.InterpreterResizeInputTensor(interpreter, at, dims.data(),
                                          static_cast<int32_t>(dims.size())) != lite::kOk) {
        return Refused(StrCat("does not take ", inputs[i].type().ToString(), " for input '",
                              inputs_[i].name, "'"));
      }
    }
    if (f_.InterpreterAllocateTensors(interpreter) != lite::kOk) {
      return Refused("does not take the model");
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      X2IR_ASSIGN_OR_RETURN(const Tensor dense, inputs[i].ToDense());
      lite::Tensor* tensor = f_.InterpreterGetInputTensor(interpreter, static_cast<int32_t>(i));
      if (f_.TensorByteSize(tensor) != dense.nbytes() ||
          (dense.nbytes() != 0 &&
           f_.TensorCopyFromBuffer(tensor, dense.bytes().data(), dense.nbytes()) != lite::kOk)) {
        return Refused(StrCat("does not take input '", inputs_[i].name, "'"));
      }
    }
    if (f_.InterpreterInvoke(interpreter) != lite::kOk) return Refused("fails to run the model");
    std::vector<Datum> outputs;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const lite::Tensor* tensor =
          f_.InterpreterGetOutputTensor(interpreter, static_cast<int32_t>(i));
      const DType dtype = LiteTypeOf(f_.TensorType(tensor));
      const std::vector<int64_t> dims = DimsOf(tensor);
      const std::optional<int64_t> count = CheckedProduct(dims);
      const auto bytes = count ? ByteSize(dtype, *count) : std::nullopt;
      if (!bytes || static_cast<size_t>(*bytes) != f_.TensorByteSize(tensor)) {
        return Unimplemented(Title(), " gives output '", outputs_[i].name,
                             "' of a type that is not known here");
      }
      Tensor result = Tensor::Zeros(dtype, dims);
      if (*bytes != 0 && f_.TensorCopyToBuffer(tensor, result.mutable_bytes().data(),
                                               result.nbytes()) != lite::kOk) {
        return Refused(StrCat("does not give output '", outputs_[i].name, "'"));
      }
      outputs.emplace_back(std::move(result));
    }
    return outputs;
  }

 private:
  std::string Title() const { return StrCat("LiteRT ", version_); }
  absl::Status Refused(std::string_view what) const {
    return CannotExpress(Title(), " ", what, heard_.empty() ? "" : ": ", heard_);
  }
  RuntimePort PortOf(const lite::Tensor* tensor) const {
    const char* name = f_.TensorName(tensor);
    return {name ? name : "", LiteTypeOf(f_.TensorType(tensor))};
  }
  std::vector<int64_t> DimsOf(const lite::Tensor* tensor) const {
    std::vector<int64_t> dims;
    for (int32_t d = 0; d < f_.TensorNumDims(tensor); ++d) dims.push_back(f_.TensorDim(tensor, d));
    return dims;
  }

  const lite::Functions& f_;
  const std::string version_;
  std::string heard_;
  LiteOwned<lite::Model> model_;
  LiteOwned<lite::Options> options_;
  LiteOwned<lite::Interpreter> interpreter_;
};

class LiteRuntime : public Runtime {
 public:
  explicit LiteRuntime(const lite::Functions& f) : f_(f) {}
  std::string_view name() const override { return "litert"; }
  std::string_view format() const override { return "tflite"; }
  std::string version() const override { return f_.Version(); }
  absl::StatusOr<std::unique_ptr<RuntimeModel>> Open(const std::string& path) const override {
    LiteOwned<lite::Model> file(f_.ModelCreateFromFile(path.c_str()), f_.ModelDelete);
    if (!file) return CannotExpress("LiteRT ", version(), " does not read '", path, "'");
    auto model = std::make_unique<LiteModel>(f_, version(), std::move(file));
    X2IR_RETURN_IF_ERROR(model->Prepare());
    return model;
  }

 private:
  const lite::Functions f_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Runtime>> LoadLiteRt(const std::string& path) {
  X2IR_ASSIGN_OR_RETURN(const SharedLibrary library,
                        SharedLibrary::Load(path, kLiteNames, "TensorFlow Lite",
                                            "install TensorFlow Lite's library for C"));
  lite::Functions functions;
  X2IR_RETURN_IF_ERROR(lite::FindFunctions(&functions, [&](const char* symbol, auto** function) {
    return library.Find(symbol, function);
  }));
  return std::make_shared<LiteRuntime>(functions);
}

}  // namespace x2ir
