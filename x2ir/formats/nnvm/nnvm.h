// Graphs of NNVM, the compiler that TVM grew from: "net.json" with "net.params". Nodes are copied
// as dialect "nnvm", attributes as the texts that they are.
#ifndef X2IR_FORMATS_NNVM_NNVM_H_
#define X2IR_FORMATS_NNVM_NNVM_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/model_files.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace nnvm {
inline constexpr char kDialect[] = "nnvm";
// "net.json" with "net.params"; TVM's "deploy_graph.json" with "deploy_param.params".
const ModelFileNames& NnvmFileNames();
}  // namespace nnvm

struct NnvmOptions {
  std::string params{};  // the file of parameters; empty: the one beside the graph
};

// Variables without parameters are inputs, of the types that the graph says. Unimplemented for a
// compiled graph ("tvm_op"), which has no operators; InvalidArgument or DataLoss for files that are
// none or broken; NotFound as of OpenModelFiles.
absl::StatusOr<Model> ReadNnvm(const Source& source, const NnvmOptions& options = {});

// A graph of dialect "nnvm", with the shape and type of each result where all are known, and its
// constants in a file beside it ("net.json": "net.params"), if there are any. FailedPrecondition
// for what the files cannot hold.
absl::Status WriteNnvm(const Model& model, const Sink& sink);
// The file beside it.
std::string NnvmParamsOf(const std::string& path);

}  // namespace x2ir

#endif  // X2IR_FORMATS_NNVM_NNVM_H_
