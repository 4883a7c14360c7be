// How operations of MIL become IR, and IR becomes operations of MIL. The meaning is that of Apple's
// documentation of coremltools. The table of operations (formats/coreml/mil_ops.h) serves as
// schemas: a row by data names operands by their place and attributes as the IR's own, and the
// driver checks what is written. Layers of neural networks are read in nn.h.
//
// There are no 64-bit numbers in a program: what is int64 or float64 in the IR is int32 or float32
// in the file, which finish.h settles, so forms that write take the two for the same.
#ifndef X2IR_HANDLERS_COREML_COREML_H_
#define X2IR_HANDLERS_COREML_COREML_H_

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

using MilFn = std::function<absl::StatusOr<Values>(MilArgs&)>;
// Every attribute must be asked for.
absl::StatusOr<Values> FromMil(const MilFn& fn, Rewrite& r);

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

// Rows of an IR op, as those of TensorFlow (handlers/tf/tf.h):
//
//   X2IR_MIL(relu).Is("relu");             // both ways, by data
//   X2IR_MIL(identity).From("identity");   // only read, by data
//   X2IR_MIL(conv).From("conv", Conv);     // only read, by code
//   X2IR_MIL(conv).To("conv", ToConv);     // only written, by code
class MilSpec {
 public:
  explicit MilSpec(Symbol ir_op, SourcePlace place = SourcePlace::Here())
      : spec_("coreml", ir_op, place) {}
  template <typename... Lenses>
  requires(std::is_convertible_v<Lenses, Lens>&&...) MilSpec& Is(std::string_view op,
                                                                 Lenses&&... lenses) {
    spec_.Is(op, Since(1), std::forward<Lenses>(lenses)...);
    return *this;
  }
  template <typename... Lenses>
  requires(std::is_convertible_v<Lenses, Lens>&&...) MilSpec& From(std::string_view op,
                                                                   Lenses&&... lenses) {
    spec_.Is(op, Since(1), std::forward<Lenses>(lenses)..., ImportOnly());
    return *this;
  }
  template <typename... Lenses>
  requires(std::is_convertible_v<Lenses, Lens>&&...) MilSpec& To(std::string_view op,
                                                                 Lenses&&... lenses) {
    spec_.Is(op, Since(1), std::forward<Lenses>(lenses)..., ExportOnly());
    return *this;
  }
  // `fn` takes MilArgs& and gives Values, an Expr or Value*, or a StatusOr of them.
  template <typename Fn>
  requires std::is_invocable_v<Fn, MilArgs&> MilSpec& From(std::string_view op, Fn fn) {
    spec_.Is(
        op, Since(1),
        Code{[fn](Rewrite& r) { return FromMil([&](MilArgs& a) { return ValuesOf(fn, a); }, r); },
             nullptr});
    return *this;
  }
  // `fn` takes MilWriter& and gives the same.
  template <typename Fn>
  requires std::is_invocable_v<Fn, MilWriter&> MilSpec& To(std::string_view op, Fn fn) {
    spec_.Is(op, Since(1), Code{nullptr, [fn](Rewrite& r) {
                                  MilWriter w(r);
                                  return WriteNode(r, [&] { return ValuesOf(fn, w); });
                                }});
    return *this;
  }

 private:
  Spec spec_;
};

#define X2IR_MIL(ir_op)                                                               \
  [[maybe_unused]] static ::x2ir::MilSpec X2IR_CONCAT_(x2ir_mil_spec_, __COUNTER__) = \
      ::x2ir::MilSpec(#ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_COREML_H_
