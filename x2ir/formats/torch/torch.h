// Archives of torch.jit.save (.pt, .ptl) hold code, not a graph: script.h has how they are read.
//
// Archives of torch.export (.pt2), read naively: nodes are copied as the file has them, in
// dialect "torch", with nothing understood; and written from such graphs. Both layouts: the current
// one (archive_format, models/, data/weights/, data/constants/) and the older
// (serialized_exported_program.json and pickled weights). Weights stay where they are, mapped;
// those that share bytes are one constant.
//
// An op is "aten::conv2d.default": namespace, name, overload; "_operator::ge",
// "higher_order::cond" and "torch::sym_max" likewise. A node's operands are the arguments that
// are values, in the call's order. What the call says travels in attributes:
//
//   operands   strings: for each operand the argument that it is: "self", "tensors[0]",
//              "size[1]", followed by ":int", ":float" or ":bool" if it is not a tensor but a
//              Python number
//   <name>     any other argument: int; double; string; ints; strings; graph; a bool as a tensor
//              of rank 0 (numbers and bools are not the same to PyTorch); floats, bools and
//              complex numbers as float64, bool and complex128 tensors; a dtype as the type of
//              such tensors; device, layout and memory format as strings; None as the unknown
//              type; what has no place here as an opaque type that tells its kind
//              Of ints some of which are values: 0 in their places. Of tensors some of which are
//              None, or of none at all: ints, 1 where one is and 0 where None is.
//
// Where strides matter (as_strided, reshape, contiguous, ...) the node has two more:
// `self_strides`, the strides of operand 0 as the dims of a tensor type, and `self_offset`, its
// place in its storage. Where the program's tensors are on more than one device, casts have
// `self_device`.
//
// Parameters, buffers and constants are constants under their names in the module; those that the
// archive names but does not hold are inputs after the program's own, and Model::weights has the
// names of all: names that share bytes, and those of parameters that the program does not use while
// their module computes with another one (tied weights, of a program without any). Symbolic sizes
// are named as in the program. Ints, floats and bools that are computed are values of type int64,
// float64 and bool, and rank 0. A node's name is the path of its module, followed by a slash and
// its name in the program unless it is the first node of the module.
//
// Nested graphs of programs that were read use only their inputs. When a program is written they
// may also use values of the outer graphs; in the archive these are further operands of the node,
// after the last of its arguments.
//
// Model annotations: extra "torch.mutations": lines about what the program changes beside its
// outputs, which the model does not say.
#ifndef X2IR_FORMATS_TORCH_TORCH_H_
#define X2IR_FORMATS_TORCH_TORCH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

struct TorchReadOptions {
  std::string model{};  // which one of an archive; empty: the only one
  // Of an archive of torch.jit.save: see ReadScript in script.h.
  std::string method{};
  std::vector<std::string> arguments{};
};

// Errors: DataLoss where the archive is broken, InvalidArgument where the program makes no sense,
// Unimplemented for what it holds that we do not read (custom objects, ...).
absl::StatusOr<Model> ReadTorch(const Source& source, const TorchReadOptions& options = {});

// Writes an archive that torch.export.load opens, of PyTorch 2.9 and later: the current layout, the
// program as schema 8 has it. Weights are entries of their own, aligned to 64 bytes. Floats are
// parameters, running statistics and integers buffers, single numbers constants; their paths in the
// module are their names, where Python allows these. Example inputs are zeros. The same graph makes
// the same bytes. FailedPrecondition: what no program of PyTorch can hold (strings, tensors of
// unknown rank, ...).
absl::Status WriteTorch(const Model& model, const Sink& sink);

// Whether a file that begins so is such an archive (or another one of PyTorch's).
bool LooksLikeTorch(absl::Span<const std::byte> head, uint64_t file_size);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TORCH_TORCH_H_
