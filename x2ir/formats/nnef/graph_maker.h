// The graph that a document of NNEF describes: fragments are written out, expressions of numbers
// are computed, and calls of operators become nodes.
#ifndef X2IR_FORMATS_NNEF_GRAPH_MAKER_H_
#define X2IR_FORMATS_NNEF_GRAPH_MAKER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "x2ir/formats/nnef/syntax.h"
#include "x2ir/formats/nnef/tensor_file.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {
namespace nnef {

// The files of a model besides its text.
struct ModelParts {
  // Of "NAME.dat"; NotFound where there is none.
  std::function<absl::StatusOr<StoredTensor>(const std::string& label)> tensor;
  // The document of a model inside of this one, and its parts; NotFound where there is none.
  struct Submodel;
  std::function<absl::StatusOr<Submodel>(const std::string& label)> submodel;
  // Of graph.quant, by the names of tensors.
  StringMap<SyntaxPtr> quantizations{};
};
struct ModelParts::Submodel {
  Document document;
  ModelParts parts;
};

// Adds to an empty graph, and to the names of weights. InvalidArgument for what is wrong, with its
// line; more than a million steps or calls nested more than 200 deep are an error.
absl::Status MakeNnefGraph(const std::string& text, const Document& document,
                           const ModelParts& parts, Model* model);

}  // namespace nnef
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNEF_GRAPH_MAKER_H_
