// TensorFlow files, read naively: frozen graphs (GraphDef, binary or text), and SavedModel
// folders. Nodes are copied as the file has them, in dialect "tf", with nothing understood:
//
//   output k of node n        value "n" (k = 0), "n:k" (others)
//   Const                     a constant of the graph; weights stay mapped
//   Placeholder               an input of the graph
//   VarHandleOp, VariableV2   a constant: the variable's value in the SavedModel's checkpoint
//   HashTable, ...            a constant: what the table is filled with (tables_internal.h)
//   a call of a function      a node of the function's name; Model::functions has the bodies
//   If, While, Case           function attributes become nested graphs; what a branch or a loop
//                             is given is bound to its inputs (docs/adr/0009)
//   control inputs            dropped; nodes that change variables stay if they would run
//   attributes                types as Type without shape, shapes as Type without element type,
//                             bools as ints; those that begin with '_' are TensorFlow's own
//
// Only what the outputs need is read.
//
// Written: frozen graphs and SavedModels (graph_writer_internal.h says what of the graph becomes
// what).
#ifndef X2IR_FORMATS_TENSORFLOW_TENSORFLOW_H_
#define X2IR_FORMATS_TENSORFLOW_TENSORFLOW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

struct TensorFlowOptions {
  std::string signature{};  // of a SavedModel; empty: serving_default, or the only one
  // "node" or "node:k", or as the signature calls them; empty: those of the signature, or
  // placeholders and unused nodes.
  std::vector<std::string> inputs{}, outputs{};
  // Of a SavedModel: the tags of the graph that is meant ("serve,gpu"); empty: the one to serve.
  std::string tags{};
};

// A GraphDef or SavedModel file, or a SavedModel's folder. In memory, a SavedModel's other files
// are asked for by the names that they have in its folder ("variables/variables.index"). Errors:
// DataLoss if the bytes are not such a file, InvalidArgument if the model is invalid, NotFound for
// missing files.
absl::StatusOr<Model> ReadTensorFlow(const Source& source, const TensorFlowOptions& options = {});
// From memory; a SavedModel's variables have no values then.
inline absl::StatusOr<Model> ParseTensorFlow(std::string bytes,
                                             const TensorFlowOptions& options = {}) {
  return ReadTensorFlow(Source::Bytes(std::move(bytes)), options);
}

struct TensorFlowWriteOptions {
  // Of a SavedModel: what its signature is called. Empty: what the SavedModel that it was read from
  // calls it, and "serving_default".
  std::string signature{};
  bool freeze = false;  // of a SavedModel: no variables, only constants
  bool force = false;   // replace a folder that is no SavedModel
};

// Writes a graph of dialect "tf". A name that ends in .pb or .pbtxt is a frozen graph's, binary or
// text; any other is the folder of a SavedModel, whose weights are variables with a checkpoint
// (docs/adr/0037). Weights go from file to file. FailedPrecondition for what a file cannot hold,
// such as more than 2 GB of constants; AlreadyExists for a folder that is no SavedModel.
absl::Status WriteTensorFlow(const Model& model, const Sink& sink,
                             const TensorFlowWriteOptions& options = {});
// The files of the SavedModel that is written to this path; none of a frozen graph.
std::vector<std::string> SavedModelFiles(const std::string& path);

// Whether a file of that size that begins with `head` is one of these, binary or text.
bool LooksLikeTensorFlow(absl::Span<const std::byte> head, uint64_t file_size);
// Whether a folder is a SavedModel's.
bool IsSavedModelFolder(const std::string& path);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TENSORFLOW_TENSORFLOW_H_
