// Strict readers of flag values.
#include "x2ir/cli/flags.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "x2ir/core/suggest.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/type.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir::cli {
namespace {

// Splits NAME<mark>VALUE; neither may be empty.
struct Parts {
  std::string name, value;
};
absl::StatusOr<Parts> Split(std::string_view flag, const std::string& text, size_t at,
                            std::string_view form) {
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    return Invalid(flag, " '", text, "': expected ", form);
  }
  return Parts{text.substr(0, at), text.substr(at + 1)};
}

template <typename Pairs>
absl::Status RefuseTwice(std::string_view flag, const Pairs& pairs, const std::string& name) {
  for (const auto& entry : pairs) {
    if (entry.first == name) return Invalid(flag, " '", name, "' is given twice");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseInputFiles(
    const Strings& flags) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& text : flags) {
    X2IR_ASSIGN_OR_RETURN(Parts parts, Split("--input", text, text.find('='), "NAME=FILE.npy"));
    X2IR_RETURN_IF_ERROR(RefuseTwice("--input", files, parts.name));
    files.emplace_back(std::move(parts.name), std::move(parts.value));
  }
  return files;
}

absl::StatusOr<int64_t> ParseInt(std::string_view flag, std::string_view text, int64_t min,
                                 int64_t max) {
  const std::optional<int64_t> value = ParseNumber<int64_t>(text);
  if (!value || *value < min || *value > max) {
    return Invalid(flag, " '", text, "': expected a number from ", min, " to ", max);
  }
  return *value;
}

absl::StatusOr<double> ParseTolerance(std::string_view flag, std::string_view text) {
  const std::optional<double> value = ParseNumber<double>(text);
  if (!value || !std::isfinite(*value) || *value < 0) {
    return Invalid(flag, " '", text, "': expected a number that is not negative, as in 1e-3");
  }
  return *value;
}

}  // namespace x2ir::cli
