#include "x2ir/runtimes/runtime.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "x2ir/core/suggest.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/runtimes/library_internal.h"

namespace x2ir {
namespace {

struct Known {
  const char *name, *format;
  absl::StatusOr<std::shared_ptr<const Runtime>> (*load)(const std::string& library);
};
constexpr Known kKnown[] = {{"onnxruntime", "onnx", LoadOnnxRuntime},
                            {"litert", "tflite", LoadLiteRt}};

}  // namespace

std::vector<std::string> RuntimeNames() {
  std::vector<std::string> names;
  for (const Known& known : kKnown) names.emplace_back(known.name);
  return names;
}

std::string_view RuntimeFormat(std::string_view name) {
  for (const Known& known : kKnown) {
    if (name == known.name) return known.format;
  }
  return "";
}

absl::StatusOr<std::shared_ptr<const Runtime>> LoadRuntime(std::string_view name,
                                                           const std::string& library) {
  std::string names;
  for (const Known& known : kKnown) {
    if (name == known.name) return known.load(library);
    StrAppend(&names, names.empty() ? "" : ", ", known.name);
  }
  return OptionError("with", "there is no runtime '", name, "'; expected one of: ", names);
}

absl::Status RuntimeModel::CheckInputTypes(absl::Span<const Tensor> inputs) const {
  if (inputs.size() != inputs_.size()) {
    return Invalid("the model has ", inputs_.size(), " inputs, but ", inputs.size(), " are given");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() == inputs_[i].dtype) continue;
    return Invalid("input '", inputs_[i].name, "' takes ",
                   inputs_[i].dtype == DType::kUndefined ? "no tensor" : Name(inputs_[i].dtype),
                   ", got ", Name(inputs[i].dtype()));
  }
  return absl::OkStatus();
}

absl::StatusOr<SharedLibrary> SharedLibrary::Load(const std::string& path,
                                                  absl::Span<const char* const> names,
                                                  std::string_view title, std::string_view advice) {
  SharedLibrary library;
  library.title_ = title;
  const auto load = [&](const std::string& name) {
    library.name_ = name;
    library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    return library.handle_ != nullptr;
  };
  if (!path.empty()) {
    std::error_code error;
    // The loader takes a name without a slash for one to look for, and would wait for a pipe.
    const auto file = std::filesystem::absolute(path, error);
    if (!std::filesystem::exists(file, error)) {
      return OptionError("runtime_library", "there is no file '", path, "'");
    }
    if (!std::filesystem::is_regular_file(file, error)) {
      return OptionError("runtime_library", "'", path, "' is not a file");
    }
    if (load(file.string())) return library;
    const char* why = dlerror();
    return OptionError("runtime_library", "cannot load ", title, ": ", why ? why : path);
  }
  // Reports libraries that were found but do not load; else that none was found.
  std::string problem;
  for (const char* name : names) {
    if (load(name)) return library;
    const char* why = dlerror();
    const bool missing =
        why && std::string_view(why).find(StrCat(name, ": cannot open")) != std::string_view::npos;
    if (why && !missing && problem.empty()) problem = why;
  }
  if (!problem.empty()) return SystemError("cannot load ", title, ": ", problem);
  return SystemError("the system finds no library ", names[0], ": ", advice,
                     ", or give its path with ", OptionText("runtime_library"));
}

absl::Status SharedLibrary::IsNot(std::string_view why) const {
  return OptionError("runtime_library", "'", name_, "' is not ", title_, ": ", why);
}

absl::Status SharedLibrary::FindSymbol(const char* symbol, void** found) const {
  *found = dlsym(handle_, symbol);
  return *found ? absl::OkStatus() : IsNot(StrCat("it has no function ", symbol));
}

}  // namespace x2ir
