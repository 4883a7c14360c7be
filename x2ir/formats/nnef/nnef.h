// Models of NNEF, Khronos's exchange format (1.0.x): a folder with a text, graph.nnef, and a file
// for each tensor (LABEL.dat), or an archive of such a folder (.tar, .tgz). Calls of operators are
// nodes of dialect "nnef". Fragments that a file defines are written out where they are called.
// tract's extensions are read where they have an operation here. Sources: NNEF 1.0.5,
// KhronosGroup/NNEF-Tools, and sonos/tract's crate nnef.
#ifndef X2IR_FORMATS_NNEF_NNEF_H_
#define X2IR_FORMATS_NNEF_NNEF_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace nnef {
inline constexpr char kDialect[] = "nnef";
// An attribute of every node, a list of texts: the parameter that each operand is given to. A
// parameter that is a list of numbers may be one operand (rank 1) or one for each number.
inline constexpr char kOperands[] = "x2ir.operands";
// Scalars of a literal in the text, whose element type follows from the other operands.
inline constexpr char kGraphFile[] = "graph.nnef";
inline constexpr char kQuantFile[] = "graph.quant";
}  // namespace nnef

// DataLoss or InvalidArgument for files that are broken; NotFound where a tensor is missing;
// Unimplemented for parts of the language that no graph can hold.
absl::StatusOr<Model> ReadNnef(const Source& source);

// The folder, or an archive where the sink's name ends in ".tar", ".tgz" or ".tar.gz".
// FailedPrecondition for what NNEF cannot hold.
absl::Status WriteNnef(const Model& model, const Sink& sink);

}  // namespace x2ir

#endif  // X2IR_FORMATS_NNEF_NNEF_H_
