// Reads models of MXNet: a symbol ("net-symbol.json") and its parameters ("net-0000.params"). Nodes
// are copied as dialect "mxnet", attributes as the texts that they are.
//
// What the file's age changes is settled here: auxiliary states that MXNet 0.8 left out of the
// graph are variables, and an axis of -1 of argmax and argmin was none before 0.9.5.
#ifndef X2IR_FORMATS_MXNET_MXNET_H_
#define X2IR_FORMATS_MXNET_MXNET_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace mxnet {
inline constexpr char kDialect[] = "mxnet";
// An annotation of graphs: shapes are NumPy's, with tensors of rank 0 and sizes of 0.
inline constexpr char kNumpyShapes[] = "mxnet.np_shape";
}  // namespace mxnet

struct MxnetOptions {
  std::string params{};  // the file of parameters; empty: of those beside the graph the last one
};

// Parameters that no file has are inputs, and in Model::weights. InvalidArgument or DataLoss for
// files that are broken or of another format; NotFound as of OpenModelFiles.
absl::StatusOr<Model> ReadMxnet(const Source& source, const MxnetOptions& options = {});

}  // namespace x2ir

#endif  // X2IR_FORMATS_MXNET_MXNET_H_
