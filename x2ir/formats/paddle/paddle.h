// Inference models of PaddlePaddle, read naively in dialect "paddle". Both forms: programs
// (`inference.pdmodel` or `__model__`, a ProgramDesc of protobuf) and PIR (`inference.json`), with
// their parameters in one file (`.pdiparams`, `__params__`) or, of programs, one file each.
//
// An operator is a node. Its operands have names, and some are lists:
//
//   operand_slots   strings: for each operand the parameter that it is one of ("X", "X", "Y")
//   result_slots    strings: the same of results
//   operand_levels  ints: the declared level of the LoD of each operand; left out where all are 0
//   op_version      int: the operator's version, where the program says versions; 0 in programs
//                   before 2.0, which have none
//
// A value that is written twice under one name is two values here; the last one has the name. An
// operator of PIR is "pd_op::NAME", and its slots are numbers ("0", "1"): what they are called in
// programs is for the handlers. Attributes are copied unchanged: flags as integers, lists of
// doubles and complex numbers as tensors; element types as a number of VarType in programs, as
// types in PIR. An attribute that is a variable is an operand whose slot is the attribute's name.
//
//   feed, data          inputs of the graph; sizes of -1 are symbols "<input>_<axis>"
//   fetch               outputs of the graph
//   results             have no types in programs, but for the shape [1] where it is declared
//   sub-blocks          nested graphs that use values around them: `body` of conditional_block,
//   whose
//                       results are what it writes, with the values before as operands "Old";
//                       `body` of while, of what it carries ("X"): its inputs are these, its
//                       outputs the condition and these
//   regions (PIR)       then_branch and else_branch of pd_op::if, body of pd_op::while
//   write_to_array      has one more operand, "Array": the array as it was before
//
// Parameters are constants that stay mapped.
#ifndef X2IR_FORMATS_PADDLE_PADDLE_H_
#define X2IR_FORMATS_PADDLE_PADDLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace paddle {
inline constexpr std::string_view kDialect = "paddle";
// Attributes of nodes that name their operands and results.
inline constexpr char kOperandSlots[] = "operand_slots";
inline constexpr char kResultSlots[] = "result_slots";
inline constexpr char kOperandLevels[] = "operand_levels";
inline constexpr char kOpVersion[] = "op_version";
// The element type of a number of VarType; kUndefined for what is none.
DType ToDType(int64_t var_type);
}  // namespace paddle

struct PaddleReadOptions {
  std::string params{};  // the parameters' file; empty: the one beside the model
};

// A folder, the model or the file of its parameters. Errors: DataLoss where bytes are no such file,
// InvalidArgument where the program makes no sense or the parameters are not its own, NotFound for
// missing files, with the names of all parameters that are missing.
absl::StatusOr<Model> ReadPaddle(const Source& source, const PaddleReadOptions& options = {});

bool LooksLikePaddleProgram(absl::Span<const std::byte> head, uint64_t file_size);
bool LooksLikePaddlePir(absl::Span<const std::byte> head);
bool IsPaddleFolder(const std::string& path);

}  // namespace x2ir

#endif  // X2IR_FORMATS_PADDLE_PADDLE_H_
