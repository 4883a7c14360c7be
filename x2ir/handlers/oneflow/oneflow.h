// How OneFlow's operators become IR, and IR becomes OneFlow's operators. The meaning is that of
// OneFlow's kernels. The table of operators (formats/oneflow/schema.h) serves as schemas: a row by
// data names operands and attributes as the IR's own, and the driver checks what is written.
// Operators that are PyTorch's under another name go through the rows of these (AsTorch).
#ifndef X2IR_HANDLERS_ONEFLOW_ONEFLOW_H_
#define X2IR_HANDLERS_ONEFLOW_ONEFLOW_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/core/dialect_spec.h"
#include "x2ir/formats/oneflow/schema.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/as_torch.h"

namespace X2IR_API x2ir {

// A node of dialect "oneflow", its attributes with the table's defaults.
class OneflowArgs : public NodeReader {
 public:
  explicit OneflowArgs(Rewrite& r) : NodeReader(r), spec_(oneflow::FindOp(op())) {}

  // What the table says where the node leaves it out; without a default 0, "" or nothing.
  int64_t Int(Symbol name);
  bool Bool(Symbol name) { return Int(name) != 0; }
  double Number(Symbol name);  // of floats and doubles
  std::string String(Symbol name);
  using NodeReader::Ints;
  std::vector<int64_t> Ints(Symbol name);
  std::vector<float> Floats(Symbol name);
  DType DataType(Symbol name, DType fallback);
  // The element type of operand 0, or of another.
  DType type(size_t i = 0) const { return dtype(i); }
  Expr opt(size_t i) { return has(i) ? in(i) : Expr(nullptr); }
  // The operands of the i-th name of the table.
  std::vector<Value*> Group(size_t i) const;
  // has_int_operand and int_operand, or the same of floats (or of bools), as a constant of that
  // type.
  Expr Scalar(DType type);

 private:
  const oneflow::AttrSpec* Spec(Symbol name) const;
  const oneflow::OpSpec* spec_;
};

// Where tensors are, how they are split, which kernel is taken.
bool IsMeaninglessOneflowAttr(std::string_view name);

// --- Lenses --------------------------------------------------------------------------------------

// The IR's float is a double on the other side.
Lens Real(std::string_view ir, std::string_view foreign = "");

// --- Writing -------------------------------------------------------------------------------------

class OneflowWriter : public NodeWriter {
 public:
  using NodeWriter::NodeWriter;

  float Float(Symbol attr) const { return static_cast<float>(attrs().Float(attr)); }
  // A node with one result. `result` may be unknown for what becomes a result of the IR's node.
  Value* Oneflow(std::string_view op, std::vector<Value*> operands, AttributeMap attrs = {},
                 x2ir::Type result = {});
  Values OneflowAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                    const std::vector<bool>& wanted, const std::vector<x2ir::Type>& results = {});
  // The sizes of a result, or of a value, that must be known; FailedPrecondition.
  absl::StatusOr<std::vector<int64_t>> Sizes(const x2ir::Type& type) const;
  // The number that a constant of one element is; nullopt.
  static std::optional<double> NumberOf(const Value* x);
};

// --- Registration --------------------------------------------------------------------------------

// Rows (core/dialect_spec.h).
struct OneflowDialect : DialectDefaults {
  static constexpr std::string_view kName = oneflow::kDialect;
  using Args = OneflowArgs;
  using Writer = OneflowWriter;
  static absl::Status Finish(OneflowArgs& args);
  static Lens OtherAttributes(std::string_view op);
};

#define X2IR_ONEFLOW(ir_op) X2IR_ROWS(::x2ir::OneflowDialect, ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONEFLOW_ONEFLOW_H_
