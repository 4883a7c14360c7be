// VHLO: the versioned form of StableHLO that portable artifacts hold. An operation's version is
// part of its name ("vhlo.scatter_v2"); facts/stablehlo-ops.json tells from which release to which
// each exists.
#ifndef X2IR_FORMATS_STABLEHLO_VHLO_H_
#define X2IR_FORMATS_STABLEHLO_VHLO_H_

#include <array>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/mlir/module.h"

namespace X2IR_API x2ir {
namespace stablehlo {

using Version = std::array<int, 3>;  // 1.20.0
inline constexpr Version kOldestVersion = {0, 9, 0}, kNewestVersion = {1, 20, 0};
absl::StatusOr<Version> ParseVersion(std::string_view text);  // "1.9.0"

// The version of MLIR bytecode that artifacts of a release have, and what they call their producer.
int BytecodeVersion(const Version& version);
std::string ProducerName(const Version& version);  // "StableHLO_v1.9.0"

// From operations of any version to the flat form (stablehlo.h). Attributes that older versions do
// not have get their defaults.
absl::Status FromVhlo(mlir::Module& module);
// From the flat form to the operations of that version. FailedPrecondition lists all that it cannot
// say.
absl::Status ToVhlo(mlir::Module& module, Version version);

// Artifacts: bytecode that is read to the flat form, and written from it.
absl::StatusOr<mlir::Module> ReadArtifact(const BlobPtr& blob);
absl::Status WriteArtifact(mlir::Module module, const Version& version, const Sink& sink);

}  // namespace stablehlo
}  // namespace x2ir

#endif  // X2IR_FORMATS_STABLEHLO_VHLO_H_
