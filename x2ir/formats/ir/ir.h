// IR model files: NAME.json, the graph, and NAME.safetensors, the weights beside it.
// docs/ir_format.md is the schema. The same model gives the same bytes, whatever the files
// are called; everything that a Model holds survives, for every dialect.
#ifndef X2IR_FORMATS_IR_IR_H_
#define X2IR_FORMATS_IR_IR_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Reads a model; its weights stay mapped. The graph is sorted and valid. Errors: DataLoss for
// what is no (whole) JSON, InvalidArgument for what breaks the schema, both with line, column
// and path; NotFound for a missing file; Unimplemented for a newer format version.
absl::StatusOr<Model> ReadIr(const Source& source);

struct IrWriteOptions {
  // Weights that lie in files are named by their byte ranges instead of being copied: by a
  // relative path where the file is inside the folder of the JSON, else by its absolute one,
  // which is read only where the Source allows that. What lies in memory is copied in any case.
  bool reference_weights = false;
  // Whether weights that no writer of IR wrote are replaced; else they are AlreadyExists.
  bool force = false;
};

// Writes both files; they appear complete and together, or not at all. `path` is that of the
// JSON; the weights get its name with the extension .safetensors. Files that the model's own
// tensors are mapped from may be written over.
absl::Status WriteIr(const Model& model, const Sink& sink, const IrWriteOptions& options = {});

// Whether a file that begins with these bytes is an IR model's JSON.
bool LooksLikeIr(absl::Span<const std::byte> head);

}  // namespace x2ir

#endif  // X2IR_FORMATS_IR_IR_H_
