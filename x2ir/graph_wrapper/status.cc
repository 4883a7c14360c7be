#include "x2ir/graph_wrapper/status.h"

#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"

namespace x2ir {
namespace {

constexpr char kSince[] = "x2ir/since_opset";

}  // namespace

absl::Status WithFirstVersion(absl::Status status, int64_t opset) {
  if (opset) status.SetPayload(kSince, absl::Cord(StrCat(opset)));
  return status;
}

int64_t FirstVersionOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kSince);
  int64_t opset = 0;
  return payload && absl::SimpleAtoi(std::string(*payload), &opset) ? opset : 0;
}

absl::Status Annotate(const absl::Status& status, std::string_view where) {
  if (status.ok()) return status;
  return WithFirstVersion(absl::Status(status.code(), StrCat(where, ": ", status.message())),
                          FirstVersionOf(status));
}

}  // namespace x2ir
