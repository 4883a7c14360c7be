// How OneFlow's operators become IR, and IR becomes OneFlow's operators. The meaning is that of
// OneFlow's kernels. The table of operators (formats/oneflow/schema.h) serves as schemas: a row by
// data names operands and attributes as the IR's own, and the driver checks what is written.
// Operators that are PyTorch's under another name go through the rows of these (AsTorch).
#ifndef X2IR_HANDLERS_ONEFLOW_ONEFLOW_H_
#define X2IR_HANDLERS_ONEFLOW_ONEFLOW_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/core/spec.h"
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
  // The operands that the i-th name of the table stands for.
  std::vector<Value*> Group(size_t i) const;
  // has_int_operand and int_operand, or the same of floats (or of bools), as a constant of that
  // type.
  Expr Scalar(DType type);

 private:
  const oneflow::AttrSpec* Spec(Symbol name) const;
  const oneflow::OpSpec* spec_;
};

using OneflowFn = std::function<absl::StatusOr<Values>(OneflowArgs&)>;
// Every attribute must be asked for, but for those that mean nothing.
absl::StatusOr<Values> FromOneflow(const OneflowFn& fn, Rewrite& r);
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
  // The same elements with other sizes; a constant is one of these sizes.
  Value* Resized(Value* x, std::vector<int64_t> dims);
  // Whether indices are known, and none is negative, or come of an op of OneFlow, where none is.
  bool CountsFromTheFront(const Value& index) const;
  // The number that a constant of one element is; nullopt.
  static std::optional<double> NumberOf(const Value* x);
};

// --- Registration --------------------------------------------------------------------------------

// Rows of an IR op, as those of TensorFlow (handlers/tf/tf.h):
//
//   X2IR_ONEFLOW(relu).Is("relu");                    // both ways, by data
//   X2IR_ONEFLOW(round).From("rint");                 // only read, by data
//   X2IR_ONEFLOW(conv).From("conv2d", Conv);          // only read, by code
//   X2IR_ONEFLOW(conv).To("conv2d", ToConv);          // only written, by code
class OneflowSpec {
 public:
  explicit OneflowSpec(Symbol ir_op, SourcePlace place = SourcePlace::Here())
      : spec_(oneflow::kDialect, ir_op, place) {}
  template <typename... Lenses>
  OneflowSpec& Is(std::string_view op, Lenses&&... lenses) {
    spec_.Is(op, Since(1), std::forward<Lenses>(lenses)..., OtherAttributes());
    return *this;
  }
  template <typename... Lenses>
  requires(std::is_convertible_v<Lenses, Lens>&&...) OneflowSpec& From(std::string_view op,
                                                                       Lenses&&... lenses) {
    spec_.Is(op, Since(1), std::forward<Lenses>(lenses)..., OtherAttributes(), ImportOnly());
    return *this;
  }
  template <typename... Lenses>
  requires(std::is_convertible_v<Lenses, Lens>&&...) OneflowSpec& To(std::string_view op,
                                                                     Lenses&&... lenses) {
    spec_.Is(op, Since(1), std::forward<Lenses>(lenses)..., OtherAttributes(), ExportOnly());
    return *this;
  }
  // `fn` takes OneflowArgs& and gives Values, a Value*, or a StatusOr of them.
  template <typename Fn>
  requires std::is_invocable_v<Fn, OneflowArgs&> OneflowSpec& From(std::string_view op, Fn fn) {
    return Reads(op, [fn](OneflowArgs& a) { return ValuesOf(fn, a); });
  }
  template <typename Fn>
  requires std::is_invocable_v<Fn, OneflowWriter&> OneflowSpec& To(std::string_view op, Fn fn) {
    return Writes(op, [fn](OneflowWriter& w) { return ValuesOf(fn, w); });
  }

 private:
  OneflowSpec& Reads(std::string_view op, OneflowFn fn);
  OneflowSpec& Writes(std::string_view op,
                      std::function<absl::StatusOr<Values>(OneflowWriter&)> fn);
  static Lens OtherAttributes();
  Spec spec_;
};

#define X2IR_ONEFLOW(ir_op)                                                                   \
  [[maybe_unused]] static ::x2ir::OneflowSpec X2IR_CONCAT_(x2ir_oneflow_spec_, __COUNTER__) = \
      ::x2ir::OneflowSpec(#ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONEFLOW_ONEFLOW_H_
