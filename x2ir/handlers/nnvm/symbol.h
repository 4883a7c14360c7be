// Operators of symbols: what the dialects "mxnet" and "nnvm" share. Attributes are texts ("(1, 1)",
// "True", "None", "float32"); a form asks for each with its type.
#ifndef X2IR_HANDLERS_NNVM_SYMBOL_H_
#define X2IR_HANDLERS_NNVM_SYMBOL_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/core/dialect_spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

class SymbolArgs : public NodeReader {
 public:
  using NodeReader::NodeReader;

  // Each with its default, used also for "None". Invalid for a text of another type.
  std::string Text(Symbol name, std::string_view fallback = "");
  bool Given(Symbol name) const;  // neither left out nor "None"
  int64_t Integer(Symbol name, int64_t fallback);
  std::optional<int64_t> MaybeInteger(Symbol name);
  bool Flag(Symbol name, bool fallback);
  double Number(Symbol name, double fallback);
  std::vector<int64_t> Tuple(Symbol name, std::vector<int64_t> fallback = {});
  // The numbers of lists in a list, concatenated: "((1, 2), (0, 0))".
  std::vector<int64_t> FlatTuple(Symbol name);
  // As many numbers as `count`: of fewer, or of one, the rest is the default's.
  std::vector<int64_t> TupleOf(Symbol name, size_t count, int64_t fallback);
  // Elements may be "None".
  std::vector<std::optional<int64_t>> MaybeTuple(Symbol name);
  std::vector<double> Numbers(Symbol name, std::vector<double> fallback = {});
  DType ElementType(Symbol name, DType fallback);

  // Axes counted from the front; Invalid for one that operand `i` has not. The rank must be known.
  absl::StatusOr<std::vector<int64_t>> Axes(const std::vector<int64_t>& axes, size_t i = 0);
  // The axes that a reduction with `axes` works on: with the flag "exclude" all others.
  absl::StatusOr<std::vector<int64_t>> ReducedAxes(std::vector<int64_t> axes);
  // The only axis, or several, or (none: left out) nullopt.
  std::optional<std::vector<int64_t>> AxesAttr(Symbol name = "axis");

 private:
  const std::string* Raw(Symbol name);
  [[noreturn]] void Wrong(Symbol name, const std::string& text, std::string_view kind);
};

// Attributes that are hints: "__shape__", "lr_mult", "cudnn_tune".
bool IsSymbolHint(std::string_view name);

// --- Writing -------------------------------------------------------------------------------------

class SymbolWriter : public NodeWriter {
 public:
  using NodeWriter::NodeWriter;

  // A node of NNVM with one result, or several.
  Value* Nnvm(std::string_view op, std::vector<Value*> operands, AttributeMap attrs = {});
  Values NnvmAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                 size_t num_outputs);
};

// Texts of attributes: "(1, 2)", "(1,)"; "True"; the shortest decimal.
std::string TupleText(absl::Span<const int64_t> numbers);
std::string FlagText(bool flag);
std::string NumberText(double number);
// The number that a constant of one element is, where a double holds it.
std::optional<double> OneNumber(const Value* v);

// An attribute that is a text there: its kind is that of the IR's default, or `kind`. Both ways.
Lens TextAttr(std::string_view ir, std::string_view foreign, AttrKind kind,
              std::optional<Attribute> foreign_default = std::nullopt);

// --- Registration --------------------------------------------------------------------------------

// Rows (core/dialect_spec.h) of MXNet and NNVM.
struct SymbolDialect : DialectDefaults {
  using Args = SymbolArgs;
  using Writer = SymbolWriter;
  static constexpr bool kFewerValues = true;
  static absl::Status Finish(SymbolArgs& args);
  static Lens OtherAttributes(std::string_view op);
};
struct MxnetDialect : SymbolDialect {
  static constexpr std::string_view kName = "mxnet";
};
struct NnvmDialect : SymbolDialect {
  static constexpr std::string_view kName = "nnvm";
};

#define X2IR_MXNET(ir_op) X2IR_ROWS(::x2ir::MxnetDialect, ir_op)
#define X2IR_NNVM(ir_op) X2IR_ROWS(::x2ir::NnvmDialect, ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_NNVM_SYMBOL_H_
