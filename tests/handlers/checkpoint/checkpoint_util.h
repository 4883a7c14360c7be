// Small checkpoints, changed by rows of tests and converted.
#ifndef X2IR_TESTS_HANDLERS_CHECKPOINT_CHECKPOINT_UTIL_H_
#define X2IR_TESTS_HANDLERS_CHECKPOINT_CHECKPOINT_UTIL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tests/formats/checkpoint_files_util.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir {

struct CheckpointOptions {
  std::string task{}, part{};
  bool no_cache = false;
};

// The configuration with keys of this JSON object: `{"hidden_size": 0, "head_dim": null}`. A key
// whose value is the text "-" is taken away; "a.b" is b of the object a.
SmallCheckpoint CheckpointWith(std::string_view family, std::string_view changes);

// Read as a folder, as the program does.
absl::StatusOr<Model> ImportOf(const SmallCheckpoint& checkpoint,
                               const CheckpointOptions& options = {});
// Its error, or "converted".
std::string ErrorOf(const SmallCheckpoint& checkpoint, const CheckpointOptions& options = {});
// Of what became of it, a line for each input and output: "in ids: int64[batch_size,4]"; or the
// error.
std::string InterfaceOf(const absl::StatusOr<Model>& model);

}  // namespace x2ir

#endif  // X2IR_TESTS_HANDLERS_CHECKPOINT_CHECKPOINT_UTIL_H_
