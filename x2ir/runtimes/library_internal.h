// A shared library that is loaded on demand, and stays.
#ifndef X2IR_RUNTIMES_LIBRARY_INTERNAL_H_
#define X2IR_RUNTIMES_LIBRARY_INTERNAL_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/runtimes/runtime.h"

namespace x2ir {

class SharedLibrary {
 public:
  // `path`, or where that is empty the first of `names` that the loader finds. `title` is what the
  // library is to be ("ONNX Runtime"), `advice` what to install. Errors as of LoadRuntime.
  static absl::StatusOr<SharedLibrary> Load(const std::string& path,
                                            absl::Span<const char* const> names,
                                            std::string_view title, std::string_view advice);
  // An error where the library has no such function: then it is not what it is to be.
  template <typename Function>
  absl::Status Find(const char* symbol, Function** function) const {
    void* found = nullptr;
    const absl::Status status = FindSymbol(symbol, &found);
    *function = reinterpret_cast<Function*>(found);
    return status;
  }
  // That the library is not what it is to be, and why.
  absl::Status IsNot(std::string_view why) const;

 private:
  absl::Status FindSymbol(const char* symbol, void** found) const;
  void* handle_ = nullptr;
  std::string name_, title_;
};

// The runtimes, a file each.
absl::StatusOr<std::shared_ptr<const Runtime>> LoadOnnxRuntime(const std::string& library);
absl::StatusOr<std::shared_ptr<const Runtime>> LoadLiteRt(const std::string& library);

}  // namespace x2ir

#endif  // X2IR_RUNTIMES_LIBRARY_INTERNAL_H_
