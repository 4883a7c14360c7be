// Models of NNEF, Khronos's exchange format (1.0.x): a folder with a text, graph.nnef, and a file
// for each tensor (LABEL.dat), or an archive of such a folder (.tar, .tgz). Calls of operators are
// nodes of dialect "nnef". Fragments that a file defines are written out where they are called.
// tract's extensions are read where they have an operation here, and written where the standard has
// none. Sources: sonos/tract's crate nnef, and KhronosGroup/NNEF-Tools.
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
// An attribute of a node that is written: the standard does not have it for its types of elements,
// and tract has. Its text says what it is of ("int32").
inline constexpr char kOfTract[] = "x2ir.of_tract";
// An attribute of `split` that is written: the sizes of the parts along its axis. tract does not
// have the operator, and reads slices instead.
inline constexpr char kPartSizes[] = "x2ir.part_sizes";
// An annotation of inputs: a variable that runs change. An output NAME_out has its next value.
inline constexpr char kState[] = "nnef.state";
// Files of a folder.
inline constexpr char kGraphFile[] = "graph.nnef";
inline constexpr char kQuantFile[] = "graph.quant";
// Whether a model of this name is written as an archive, and not as a folder.
inline bool IsArchiveName(std::string_view name) {
  return name.ends_with(".tar") || name.ends_with(".tgz") || name.ends_with(".tar.gz");
}
}  // namespace nnef

// DataLoss or InvalidArgument for files that are broken; NotFound where a tensor is missing;
// Unimplemented for parts of the language that no graph can hold.
absl::StatusOr<Model> ReadNnef(const Source& source);

// The folder, or an archive where the sink's name is one's (nnef::IsArchiveName). A folder that
// exists is replaced whole. `standard`: nothing that tract alone reads. FailedPrecondition for what
// NNEF cannot hold; AlreadyExists for a folder that has other files.
absl::Status WriteNnef(const Model& model, const Sink& sink, bool standard = false);

}  // namespace x2ir

#endif  // X2IR_FORMATS_NNEF_NNEF_H_
