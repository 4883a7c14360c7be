// What PyTorch's operators do with the memory of their operands: which results are views of an
// operand, which operators write, and what a write to a view writes in its base.
#ifndef X2IR_HANDLERS_TORCH_MEMORY_OPS_H_
#define X2IR_HANDLERS_TORCH_MEMORY_OPS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Ops whose result is the memory of operand `self`, always or sometimes.
enum class ViewKind : uint8_t {
  kNone,
  kSame,      // the same tensor
  kView,      // written through by WriteBackOf, or never written
  kSometimes  // a copy or not, as strides and types have it
};

// "aten::add_.Tensor" -> {"add_", "Tensor"}; other domains have no names here.
std::pair<std::string_view, std::string_view> AtenParts(std::string_view op);
// Of an operator by its name without overload.
ViewKind ViewKindOf(std::string_view name);
// What an operator that is kSometimes gives here, by its arguments, types, and the strides of its
// operand (null: not known).
ViewKind DecidedViewKind(std::string_view name, const AttributeMap& attrs, const Value* self,
                         const Value* result, const Shape* strides);

// "add_", "__ior__": writes to operand `self`.
bool WritesInPlace(std::string_view name);
// "add_" -> "add", "__ior__" -> "__or__".
std::string NameWithoutWrite(std::string_view name);
// The operator that gives what the one in place writes: mostly of the same overload
// ("floor_divide_.Tensor" is "floor_divide.default").
Symbol OpWithoutWrite(std::string_view stem, std::string_view overload);
// In place these change what the tensor is, not what it holds.
bool ChangesShapeInPlace(std::string_view name);
// Ops that write to operands in addition to their results: an observer's numbers. As a rule only
// the next run reads those.
bool KeepsRecords(std::string_view name);
// An overload that writes to an operand `out`.
bool WritesToOut(std::string_view overload);

// The names of a call's operands (formats/torch/torch.h); null when it has none.
const Attribute::Strings* OperandNames(const Node& node);

// A call of an operator, apart from any graph.
struct TorchCallRecord {
  Symbol op;
  std::vector<Value*> operands;
  Attribute::Strings names;  // of the operands
  AttributeMap attrs;        // the other arguments
};
TorchCallRecord RecordOf(const Node& node);

// The call that gives the value of `base` once result `output` of `view`, a view of it, holds
// `part`. Unimplemented where no operator does that.
absl::StatusOr<TorchCallRecord> WriteBackOf(const TorchCallRecord& view, size_t output, Value* base,
                                            Value* part);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_MEMORY_OPS_H_
