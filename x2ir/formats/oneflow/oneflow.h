// OneFlow's graphs, read naively and written, in dialect "oneflow" (schema.h):
//
//   FOLDER/model.mlir   what oneflow.save leaves of a graph: text of MLIR, and beside it a folder
//                       for each variable. The folder or the file may be named.
//   a job               the protobuf message Job, binary or text, and beside it such folders: those
//                       of a snapshot, with or without the file snapshot_done
//   VARIABLE/out        a variable's bytes, little-endian, in C order; they stay mapped
//   VARIABLE/meta       its shape and element type as text of VariableMetaInfo; older files have
//   none
//
// Inputs and outputs are those that the job names; variables are constants. A node's name is that
// of the op, the values that it makes are called by it ("model-conv_1/out_0"). Devices, placements,
// scopes and how tensors are split among devices are read over: a graph is of one device.
#ifndef X2IR_FORMATS_ONEFLOW_ONEFLOW_H_
#define X2IR_FORMATS_ONEFLOW_ONEFLOW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

struct OneflowReadOptions {
  std::string job;       // which one of a module; empty: the only one
  std::string snapshot;  // the folder of the variables; empty: that of the file
};

// Errors: DataLoss where the bytes are no such file, InvalidArgument where the graph makes no
// sense, or a variable's files are not what the graph says; NotFound, of all variables at once,
// where they are not there.
absl::StatusOr<Model> ReadOneflowMlir(const Source& source, const OneflowReadOptions& options = {});
absl::StatusOr<Model> ReadOneflowJob(const Source& source, const OneflowReadOptions& options = {});

// Writes the file, and the variables' folders beside it. All sizes of inputs must be known, and the
// types of all values. AlreadyExists where such a folder is there that is none of a variable, or,
// unless `force`, of a model that is not replaced. FailedPrecondition for what no job can hold.
absl::Status WriteOneflowMlir(const Model& model, const Sink& sink, bool force);
absl::Status WriteOneflowJob(const Model& model, const Sink& sink, bool force);

bool LooksLikeOneflowMlir(absl::Span<const std::byte> head);
bool LooksLikeOneflowJob(absl::Span<const std::byte> head, uint64_t file_size);
// Whether a folder holds model.mlir.
bool IsOneflowFolder(const std::string& path);
// The files of variables that lie beside a model of that path.
std::vector<std::string> OneflowVariableFiles(const std::string& path);

}  // namespace x2ir

#endif  // X2IR_FORMATS_ONEFLOW_ONEFLOW_H_
