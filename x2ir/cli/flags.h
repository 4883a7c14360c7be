// The values of flags, read strictly: a flag that is not understood is an error that says what
// is wrong with it, never a guess. Every error is InvalidArgument and names the flag.
#ifndef X2IR_CLI_FLAGS_H_
#define X2IR_CLI_FLAGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/core/ports.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/shape.h"

namespace x2ir::cli {

using Strings = std::vector<std::string>;

// "NAME:2,3,seq", "NAME:?,3", "NAME:[]" (rank 0). A name may have colons, a shape has none.
absl::StatusOr<std::vector<std::pair<std::string, Shape>>> ParseShapes(const Strings& flags);
// "NAME:0=batch,1=seq".
absl::StatusOr<std::vector<DynamicAxis>> ParseDynamic(const Strings& flags);
// "NAME:float16".
absl::StatusOr<std::vector<std::pair<std::string, DType>>> ParseDTypes(const Strings& flags);
// "NAME=FILE".
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseInputFiles(
    const Strings& flags);
// "A,B". Empty parts are errors; "" is no part at all.
absl::StatusOr<Strings> ParseList(std::string_view flag, std::string_view text);
// The same, of names of passes.
absl::StatusOr<Strings> ParsePasses(std::string_view flag, std::string_view text);
absl::StatusOr<int64_t> ParseInt(std::string_view flag, std::string_view text, int64_t min,
                                 int64_t max);
// A finite number, not negative.
absl::StatusOr<double> ParseTolerance(std::string_view flag, std::string_view text);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_FLAGS_H_
