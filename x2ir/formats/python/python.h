// Python: a graph of PyTorch's calls (dialect "torch", formats/torch/torch.h) as a module's source,
// with the weights as safetensors beside it.
//
//   model = Model.load()      # model.safetensors beside model.py
//   y = model(x)              # inputs in the source's order, by place or by name
//
// Scopes in the names of nodes and weights become classes, layers on constant weights become nn's,
// sizes become Python's integers. Weights have the source's names where these are paths of
// attributes, and move from file to file as they are; a weight that the module has transposed is
// stored under its name followed by ".T". An operator without a spelling is FailedPrecondition or
// Unimplemented, with the operator's name. The same is written for OneFlow, where that has the
// names (facts/oneflow-names.txt). No text of a model becomes code: names are reduced to
// identifiers, other text to escaped literals.
#ifndef X2IR_FORMATS_PYTHON_PYTHON_H_
#define X2IR_FORMATS_PYTHON_PYTHON_H_

#include <string>

#include "absl/status/status.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

struct PythonWriteOptions {
  bool frozen = false;   // weights are not trained
  bool force = false;    // replaces weights beside the file that x2ir did not write
  bool oneflow = false;  // for OneFlow, whose Python mirrors PyTorch's
};

absl::Status WritePython(const Model& model, const Sink& sink,
                         const PythonWriteOptions& options = {});

// Where the weights of a file are: "model.safetensors" beside "model.py".
std::string PythonWeightsPath(const std::string& path);

}  // namespace x2ir

#endif  // X2IR_FORMATS_PYTHON_PYTHON_H_
