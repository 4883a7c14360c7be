// Option errors: the option's name travels with the status as a payload.
#include "x2ir/graph_wrapper/option_error.h"

#include "absl/strings/cord.h"

namespace x2ir {
namespace {

constexpr std::string_view kPayload = "x2ir/option";
constexpr std::string_view kBefore = "option '";

}  // namespace

std::string OptionText(std::string_view option) { return StrCat(kBefore, option, "'"); }

absl::Status OptionErrorOf(std::string_view option, std::string_view problem) {
  absl::Status status = absl::InvalidArgumentError(StrCat(OptionText(option), ": ", problem));
  status.SetPayload(ForAbsl(kPayload), absl::Cord(ForAbsl(option)));
  return status;
}

absl::Status AnnotateOption(const absl::Status& status, std::string_view where) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), StrCat(where, ": ", status.message()));
  if (const auto option = status.GetPayload(ForAbsl(kPayload))) {
    annotated.SetPayload(ForAbsl(kPayload), *option);
  }
  return annotated;
}

std::optional<std::string> OptionOf(const absl::Status& status) {
  const auto option = status.GetPayload(ForAbsl(kPayload));
  if (!option) return std::nullopt;
  return std::string(*option);
}

std::string WithOptionNames(std::string_view text,
                            const std::function<std::string(std::string_view)>& name_of) {
  std::string result;
  for (;;) {
    const size_t at = text.find(kBefore);
    const size_t name = at + kBefore.size();
    const size_t end = at == text.npos ? text.npos : text.find('\'', name);
    if (end == text.npos) return StrCat(result, text);
    StrAppend(&result, text.substr(0, at), name_of(text.substr(name, end - name)));
    text.remove_prefix(end + 1);
  }
}

}  // namespace x2ir
