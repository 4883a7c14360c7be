// Operators of NNEF. Their meaning is that of the standard's fragments as sonos/tract has them
// (nnef/stdlib.nnef) and of the C++ runtime in KhronosGroup/NNEF-Tools (runtime/execution.h: halves
// are rounded away from zero, a pool's border `constant` counts zeros); of names that begin with
// "tract_" that of tract.
// Tensors of fewer axes broadcast with axes of size 1 at their end, not at their begin.
#ifndef X2IR_HANDLERS_NNEF_NNEF_H_
#define X2IR_HANDLERS_NNEF_NNEF_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/dialect_spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

class NnefArgs : public NodeReader {
 public:
  explicit NnefArgs(Rewrite& r);

  // Operands by the names of parameters.
  bool Has(std::string_view name) const { return IndexOf(name) >= 0; }
  Expr Tensor(std::string_view name);     // Invalid where it is missing
  Expr OptTensor(std::string_view name);  // null where it is left out
  std::vector<Value*> Tensors(std::string_view name) const;
  // Parameters that are numbers: attributes, or operands where they are computed.
  std::vector<int64_t> Integers(std::string_view name);  // which must be known
  std::vector<Size> Sizes(std::string_view name);
  int64_t Integer(std::string_view name);
  double Number(std::string_view name);
  bool Flag(std::string_view name) { return Integer(name) != 0; }
  std::string Text(std::string_view name) { return String(name, ""); }
  // Axes of operand 0 in order.
  std::vector<int64_t> Axes(std::string_view name = "axes");

  // Two or more operands of one element type, and with the axes of the one that has most. Numbers
  // of the text take the type of the others.
  std::vector<Expr> Alike(std::vector<Expr> operands);

 private:
  int IndexOf(std::string_view name) const;
  std::vector<std::string> names_;
};

// Whether tract computes the operator in this element type, which the standard does not have it for
// (kernels.cc).
bool TractHasKernel(std::string_view op, DType t);

class NnefWriter : public NodeWriter {
 public:
  using NodeWriter::NodeWriter;

  using Given = std::vector<std::pair<std::string_view, Value*>>;
  // A node of NNEF, with operands by the names of their parameters. The declaration's real numbers
  // are float32, its integers int64. An operand of another type makes it an operator of tract's
  // (nnef::kOfTract); FailedPrecondition where tract has none of that type either.
  absl::StatusOr<Value*> Call(std::string_view op, const Given& operands, AttributeMap attrs = {});
  absl::StatusOr<Values> CallAll(std::string_view op, const Given& operands, AttributeMap attrs,
                                 size_t results);
  // An operand with axes of size 1 in front, as many as `rank` needs; a number stays.
  absl::StatusOr<Value*> OfRank(Value* x, int64_t rank);
  // All operands of the node, of the rank of its result.
  absl::StatusOr<std::vector<Value*>> Broadcast();
  // Integers as real numbers, whose arithmetic NNEF has. Exact up to kExact.
  static constexpr int64_t kExact = int64_t{1} << 24;
  Expr AsReal(Value* x);
  // A formula of several operators for a function of float16, whose steps lose digits or overflow
  // where the function does not: it is written in float32, between casts.
  bool MadeFormulaOfHalves();
  // Integers and flags of the result, where inference knows them: NNEF has no arithmetic of these.
  std::optional<Values> Known();
};

// Pairs of quantize_linear and dequantize_linear become arithmetic (quantized_pairs.cc).
absl::Status SpellOutQuantizedPairs(Graph& graph);

// Rows (core/dialect_spec.h).
struct NnefDialect : DialectDefaults {
  static constexpr std::string_view kName = "nnef";
  using Args = NnefArgs;
  using Writer = NnefWriter;
  static constexpr bool kFewerValues = true;
  template <typename Fn>
  static absl::StatusOr<Values> Write(NnefWriter& w, const Fn& row) {
    if (std::optional<Values> known = w.Known()) return *std::move(known);
    X2IR_ASSIGN_OR_RETURN(Values values, row(w));
    if (w.MadeFormulaOfHalves()) return CannotExpress("a formula in float16");
    return values;
  }
};

#define X2IR_NNEF(ir_op) X2IR_ROWS(::x2ir::NnefDialect, ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_NNEF_NNEF_H_
