// Statuses as exceptions (x2ir/_errors.py), and long work that lets other threads go on.
#ifndef X2IR_PYTHON_ERRORS_H_
#define X2IR_PYTHON_ERRORS_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/report.h"

namespace x2ir::python {

namespace py = pybind11;

// Whose fault it is, where the status does not say that.
enum class Fault { kUnknown, kOption, kInput };

// Raises what the status says; `report` may be null.
[[noreturn]] void Raise(const absl::Status& status, const std::shared_ptr<Report>& report = nullptr,
                        Fault fault = Fault::kUnknown);
inline void Check(const absl::Status& status, const std::shared_ptr<Report>& report = nullptr) {
  if (!status.ok()) Raise(status, report);
}
template <typename T>
T Get(absl::StatusOr<T> result, const std::shared_ptr<Report>& report = nullptr) {
  if (!result.ok()) Raise(result.status(), report);
  return *std::move(result);
}
template <typename T>
T GetOptions(absl::StatusOr<T> result) {
  if (!result.ok()) Raise(result.status(), nullptr, Fault::kOption);
  return *std::move(result);
}
inline void CheckInput(const absl::Status& status) {
  if (!status.ok()) Raise(status, nullptr, Fault::kInput);
}

// The keyword argument of an option: "shape" for "shapes".
std::string WordOf(std::string_view option);
// What the library says, with options called as the keyword arguments are.
std::string WithWords(std::string_view text);

// Looks for Ctrl-C, and calls the caller's progress function, while work goes on without the GIL.
class Watch {
 public:
  // `callback(done, total)`, or none.
  explicit Watch(py::object callback) : callback_(std::move(callback)) {}
  ProgressFn fn() {
    return [this](int64_t done, int64_t total) { return GoOn(done, total); };
  }
  // What the work gave, unless it ended by an exception of Python.
  template <typename Work>
  auto Run(const Work& work) {
    auto result = [&] {
      const py::gil_scoped_release release;
      return work();
    }();
    if (error_) throw std::move(*error_);
    return result;
  }

 private:
  bool GoOn(int64_t done, int64_t total);
  using Clock = std::chrono::steady_clock;
  py::object callback_;
  Clock::time_point last_;  // of the last call; the first one is at once
  std::optional<py::error_already_set> error_;
};

void BindReport(py::module_& m);

}  // namespace x2ir::python

#endif  // X2IR_PYTHON_ERRORS_H_
