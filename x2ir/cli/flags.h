// The values of flags, read strictly: an invalid value is an error with the reason, never a guess.
// Every error is InvalidArgument and names the flag.
#ifndef X2IR_CLI_FLAGS_H_
#define X2IR_CLI_FLAGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/core/edit/inputs_outputs.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/shape.h"

namespace x2ir::cli {

using Strings = std::vector<std::string>;

// "NAME=FILE".
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseInputFiles(
    const Strings& flags);
absl::StatusOr<int64_t> ParseInt(std::string_view flag, std::string_view text, int64_t min,
                                 int64_t max);
// A finite number, not negative.
absl::StatusOr<double> ParseTolerance(std::string_view flag, std::string_view text);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_FLAGS_H_
