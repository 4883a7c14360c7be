// How operations of MIL become IR, and IR becomes operations of MIL. The meaning is that of Apple's
// documentation of coremltools. The table of operations (formats/coreml/mil_ops.h) serves as
// schemas: a row by data names operands by their place and attributes as the IR's own, and the
// driver checks what is written. Layers of neural networks are read in nn.h.
//
// There are no 64-bit numbers in a program: what is int64 or float64 in the IR is int32 or float32
// in the file, which finish.h settles, so forms that write take the two for the same.
#ifndef X2IR_HANDLERS_COREML_COREML_H_
#define X2IR_HANDLERS_COREML_COREML_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/core/dialect_spec.h"
#include "x2ir/formats/coreml/mil_ops.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

// A node of MIL, its attributes with the table's defaults.
class MilArgs : public NodeReader {
 public:
  explicit MilArgs(Rewrite& r) : NodeReader(r), spec_(coreml::FindMilOp(op())) {}

  // Operands by the names of their arguments: Invalid where one is missing, and null.
  Expr X(std::string_view name = "x");
  Expr Opt(std::string_view name);
  bool Has(std::string_view name) const;
  // Constants: Unimplemented where it is computed.
  absl::StatusOr<std::vector<int64_t>> KnownList(std::string_view name);

  // Attributes, with the table's default where the node leaves them out, else 0, "" or nothing.
  int64_t Int(Symbol name);
  bool Bool(Symbol name) { return Int(name) != 0; }
  double Number(Symbol name);
  std::string Text(Symbol name);
  std::vector<int64_t> List(Symbol name, std::vector<int64_t> fallback = {});
  // A number of any type, as one of `type`.
  Expr Scalar(Symbol name, DType type, double fallback);

 private:
  const coreml::MilOp* spec_;
};

// --- Writing -------------------------------------------------------------------------------------

class MilWriter : public NodeWriter {
 public:
  using NodeWriter::NodeWriter;

  float Float(Symbol attr) const { return static_cast<float>(attrs().Float(attr)); }
  Expr X(size_t i = 0) { return {b(), in(i)}; }
  // A node with one result. `result` may be unknown for what becomes a result of the IR's node.
  Value* Mil(std::string_view op, std::vector<Value*> operands, AttributeMap attrs = {},
             x2ir::Type result = {});
  Values MilAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                const std::vector<bool>& wanted, const std::vector<x2ir::Type>& results = {});
  // The sizes of a tensor, all known; else FailedPrecondition.
  absl::StatusOr<std::vector<int64_t>> Sizes(const Value* x) const;
  // The number that a constant of one element is.
  static std::optional<double> NumberOf(const Value* x);
  // A constant tensor; else FailedPrecondition ("computed " and `what`).
  absl::StatusOr<const Tensor*> Constant(size_t i, std::string_view what) const;
};

// --- Registration --------------------------------------------------------------------------------

// Rows (core/dialect_spec.h) of MIL.
struct MilDialect : DialectDefaults {
  static constexpr std::string_view kName = "coreml";
  using Args = MilArgs;
  using Writer = MilWriter;
};

#define X2IR_MIL(ir_op) X2IR_ROWS(::x2ir::MilDialect, ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_COREML_H_
