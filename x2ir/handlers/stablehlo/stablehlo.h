// How operations of StableHLO and CHLO become IR, and IR becomes operations of StableHLO. The
// meaning is that of the specification and, where it leaves a result open, of its interpreter. The
// form of the graph is in formats/stablehlo/stablehlo.h. Rows see float networks: before them
// quantize.cc makes units of dequantize_linear, the operation and quantize_linear of quantized
// ones.
//
// Operations of StableHLO do not broadcast, and every result has a type of its own in the file. So
// a row that writes makes one operation for the node's result, and ops of the IR, whose types are
// inferred, for all that comes before it.
#ifndef X2IR_HANDLERS_STABLEHLO_STABLEHLO_H_
#define X2IR_HANDLERS_STABLEHLO_STABLEHLO_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/core/dialect_spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

// A node of dialect "stablehlo".
class StablehloArgs : public NodeReader {
 public:
  using NodeReader::NodeReader;

  // What the file declares of a result.
  const x2ir::Type& out_type(size_t i = 0) const { return node().output(i)->type(); }
  DType out_dtype(size_t i = 0) const { return out_type(i).dtype(); }
  // The sizes of a result that the file declares; Unimplemented where one is not known.
  std::vector<int64_t> OutSizes(size_t i = 0);
  std::vector<int64_t> Ints(Symbol name) { return IntList(name, {}); }
  using NodeReader::Ints;
};

class StablehloWriter : public NodeWriter {
 public:
  using NodeWriter::NodeWriter;

  // A node of StableHLO with one result. `result` may be left out for what becomes a result of the
  // IR's node.
  Value* Hlo(std::string_view op, std::vector<Value*> operands, AttributeMap attrs = {},
             x2ir::Type result = {});
  Values HloAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                const std::vector<bool>& wanted, const std::vector<x2ir::Type>& results = {});
  // The sizes of a type, all of which must be known; else FailedPrecondition.
  absl::StatusOr<std::vector<int64_t>> Sizes(const x2ir::Type& type) const;
  // The operands, broadcast to the shape that they have together.
  absl::StatusOr<Values> Broadcast(const Values& operands);
};

// --- Operations that go by another name ----------------------------------------------------------

// Runs the row of another operation on these operands and attributes. Results are as many as those
// of a's node, and of the same types.
absl::StatusOr<Values> AsStablehlo(StablehloArgs& a, std::string_view op,
                                   std::vector<Value*> operands, AttributeMap attrs = {});

// "custom_call" with target T is the row of "@T", if there is one: X2IR_STABLEHLO(erf).From(
// "@mhlo.erf"). The attributes that it sees are the entries of the call's dictionaries
// "backend_config", "mhlo.backend_config" and "mhlo.attributes", under their own names
// (custom_call.cc).

// --- Registration --------------------------------------------------------------------------------

// Rows (core/dialect_spec.h).
struct StablehloDialect : DialectDefaults {
  static constexpr std::string_view kName = "stablehlo";
  using Args = StablehloArgs;
  using Writer = StablehloWriter;
};

#define X2IR_STABLEHLO(ir_op) X2IR_ROWS(::x2ir::StablehloDialect, ir_op)

inline Expr X(StablehloWriter& w, size_t i = 0) { return {w.b(), w.in(i)}; }

}  // namespace x2ir

#endif  // X2IR_HANDLERS_STABLEHLO_STABLEHLO_H_
