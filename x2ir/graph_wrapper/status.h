// Status helpers: the macros that hand an absl::Status up, and shorthands for the
// error kinds that x2ir uses (see docs/design.md, "Errors"). A function that finds a problem says
// *what* is wrong; the caller that knows the node adds *where* (Annotate).
#ifndef X2IR_GRAPH_WRAPPER_STATUS_H_
#define X2IR_GRAPH_WRAPPER_STATUS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/strings.h"

#define X2IR_CONCAT_INNER_(a, b) a##b
#define X2IR_CONCAT_(a, b) X2IR_CONCAT_INNER_(a, b)

#define X2IR_RETURN_IF_ERROR(expr)                                                   \
  do {                                                                               \
    if (absl::Status x2ir_status_ = (expr); !x2ir_status_.ok()) return x2ir_status_; \
  } while (false)

// X2IR_ASSIGN_OR_RETURN(auto x, F()): x is F()'s value, or its error is returned.
#define X2IR_ASSIGN_OR_RETURN(lhs, expr) \
  X2IR_ASSIGN_OR_RETURN_IMPL_(X2IR_CONCAT_(x2ir_or_, __LINE__), lhs, expr)
#define X2IR_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = (expr);                                \
  if (!tmp.ok()) return tmp.status();               \
  lhs = *std::move(tmp)

namespace X2IR_API x2ir {

// A malformed model.
template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(StrCat(args...));
}
// No mapping exists for an op.
template <typename... Args>
absl::Status NotFound(const Args&... args) {
  return absl::NotFoundError(StrCat(args...));
}
// A known op, but not this form of it.
template <typename... Args>
absl::Status Unimplemented(const Args&... args) {
  return absl::UnimplementedError(StrCat(args...));
}

// The first version (opset) of a target that can express what a message refuses; 0: none is known.
struct FirstVersion {
  int64_t opset = 0;
  std::string_view verb = "has it";

  bool known() const { return opset != 0; }
  // "; opset 18 has it", the end of the message; "" where no opset is known.
  std::string ToString() const {
    return known() ? StrCat("; opset ", opset, " ", verb) : std::string();
  }
};
// The opset of a refusal as a field of its status, which Annotate keeps; 0: none is known.
absl::Status WithFirstVersion(absl::Status status, int64_t opset);
int64_t FirstVersionOf(const absl::Status& status);
// The lesser of two such opsets, of which either may be unknown (0).
inline int64_t EarlierVersion(int64_t a, int64_t b) { return a && (!b || a < b) ? a : b; }

// The target cannot express it. A FirstVersion among the arguments is part of the message, and the
// field that FirstVersionOf reads.
template <typename... Args>
absl::Status CannotExpress(const Args&... args) {
  int64_t since = 0;
  const auto text = [&](const auto& arg) -> decltype(auto) {
    if constexpr (std::is_same_v<std::decay_t<decltype(arg)>, FirstVersion>) {
      since = EarlierVersion(since, arg.opset);
      return arg.ToString();
    } else {
      return (arg);
    }
  };
  absl::Status status = absl::FailedPreconditionError(StrCat(text(args)...));
  return since ? WithFirstVersion(std::move(status), since) : status;
}
// An unreadable or malformed file.
template <typename... Args>
absl::Status DataLoss(const Args&... args) {
  return absl::DataLossError(StrCat(args...));
}
// The system failed: disk full, no permission, I/O error.
template <typename... Args>
absl::Status SystemError(const Args&... args) {
  return absl::UnavailableError(StrCat(args...));
}
// A broken invariant of x2ir.
template <typename... Args>
absl::Status Internal(const Args&... args) {
  return absl::InternalError(StrCat(args...));
}

// The same status with `where` before its message; OK stays OK.
absl::Status Annotate(const absl::Status& status, std::string_view where);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_STATUS_H_
