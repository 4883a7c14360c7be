// Specs: how an IR op corresponds to the ops of a dialect. One row defines both directions. A row
// (form) names the foreign op, the opsets it holds for, and lenses, each of which relates one
// attribute or operand to another in both directions.
//
//   X2IR_ONNX(relu).Is("Relu", Since(1));
//   X2IR_ONNX(clip)
//       .Is("Clip", In(1, 10), OperandAsAttr("min"), OperandAsAttr("max"))
//       .Is("Clip", Since(11));
//   X2IR_ONNX(resize)
//       .Is("Upsample", In(7, 9), Code{FromUpsample, ToUpsample})
//       .Is("Resize", Since(10), Code{FromResize, ToResize});
//
// What a form does with everything that no lens touches:
//  * operands and outputs are matched by position (except operands of lenses);
//  * attributes are matched by name. On import an absent one gets the schema's default at that
//    opset, else the IR definition's. On export one that equals the schema's default is
//    left out. The attributes of an op without a schema are not known: on export only those are
//    copied that a lens names (Same, if the lens does nothing else).
//  * An attribute that the other side does not know is an error unless it equals its default.
#ifndef X2IR_CORE_SPEC_H_
#define X2IR_CORE_SPEC_H_

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/core/dialect.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// A closed interval of opsets.
struct Opsets {
  int first = 1;
  int last = std::numeric_limits<int>::max();
  bool contains(int opset) const { return first <= opset && opset <= last; }
};
inline Opsets Since(int first) { return {first, std::numeric_limits<int>::max()}; }
inline Opsets In(int first, int last) { return {first, last}; }

// A node during its conversion. Lenses move operands and attributes from one side to the other;
// `foreign` is the side of the dialect, `ir` that of the IR, in both directions.
struct Form;

class Draft {
 public:
  Draft(Rewrite& rewrite, bool importing, const OpDef& def, const OpSchema* schema);

  bool importing() const { return importing_; }
  int opset() const { return r_.opset; }
  Symbol dialect() const { return r_.dialect; }
  const Node& node() const { return r_.node; }
  Builder& builder() { return r_.b; }
  const OpDef& def() const { return def_; }
  const OpSchema* schema() const { return schema_; }  // null when the dialect has none

  // The source side. Taking an attribute or operand marks it as handled.
  bool SourceHasAttr(Symbol name) const;
  bool IsTaken(Symbol name) const;
  // The attribute, else the schema's default for it (importing), else nullopt.
  std::optional<Attribute> TakeAttr(Symbol name);
  // Operand by name on the source side (OpDef's or schema's); null when left out.
  Value* TakeOperand(std::string_view name);
  Value* TakeOperandAt(size_t i);
  // The target side.
  void SetAttr(Symbol name, Attribute value);
  absl::Status SetOperand(std::string_view name, Value* value);
  void SetOperandAt(size_t i, Value* value);
  // Exporting: the target's node has its first `count` outputs, also the unused ones.
  void NeedOutputs(size_t count) { needed_outputs_ = count; }

 private:
  friend absl::StatusOr<Values> RunImport(const Form& form, Rewrite& r);
  friend absl::StatusOr<Values> RunExport(const Form& form, Rewrite& r);
  // Operands that no lens took are copied by position.
  std::vector<Value*> FinishOperands();
  int SourceIndex(std::string_view name) const;
  int TargetIndex(std::string_view name) const;
  Rewrite& r_;
  bool importing_;
  const OpDef& def_;
  const OpSchema* schema_;
  std::vector<bool> attr_taken_;                 // by position in node().attrs()
  std::vector<bool> operand_taken_;              // by position in node().inputs()
  std::vector<std::optional<Value*>> operands_;  // of the target
  AttributeMap attrs_;                           // of the target
  size_t needed_outputs_ = 0;
};

class LensImpl {
 public:
  virtual ~LensImpl() = default;
  virtual absl::Status Import(Draft& draft) const = 0;  // foreign -> IR
  virtual absl::Status Export(Draft& draft) const = 0;  // IR -> foreign
  // Attributes and operands of each side that this lens handles (the laws check the rest).
  virtual std::vector<std::string> IrAttrs() const { return {}; }
  virtual std::vector<std::string> IrOperands() const { return {}; }
  virtual std::vector<std::string> ForeignAttrs() const { return {}; }
  // Whether it has nothing to do for this node, in that direction.
  virtual bool Leaves(const Node&, bool importing) const { return (void)importing, false; }
  // What a target of such forms can express (ops/target.h), whatever a node's operands are. Says is
  // asked of IrAttrs alone; `schema` is that of the foreign op, null when there is none.
  virtual bool TakesOperand(std::string_view) const { return true; }  // of IR, computed
  virtual bool Says(Symbol ir_attr, const Attribute& value, const OpSchema* schema) const {
    return (void)ir_attr, (void)value, (void)schema, true;
  }
};
using Lens = std::shared_ptr<const LensImpl>;

// --- Lenses ---------------------------------------------------------------------------------

// The IR operand `ir` is the foreign attribute `foreign` (same name by default). Importing
// makes a constant: ints become int64 rank 1, int an int64 rank 0, float a scalar of the
// element type of operand 0 (float32 if not known); an absent attribute without default
// leaves the operand out. Exporting needs a constant operand, else FailedPrecondition says
// from which opset it may be computed. `when_left_out`: what the attribute is for an operand
// that is left out, where the absent attribute would mean something else.
Lens OperandAsAttr(std::string_view ir, std::string_view foreign = "",
                   std::optional<Attribute> when_left_out = std::nullopt);
// The attribute is the same on both sides. For ops without a schema.
Lens Same(std::string_view name);
// The attribute has another name on the foreign side.
Lens Renamed(std::string_view ir, std::string_view foreign);
// The attribute has this default on the foreign side if the schema has none.
Lens Attr(std::string_view name, Attribute foreign_default);
// The IR attribute always has this value in this form; the foreign side has no attribute for it.
// Exporting another value is FailedPrecondition.
Lens Fixed(std::string_view ir, Attribute value);
// The foreign attribute always has this value (required ones and non-default ones are
// written); importing another value is Unimplemented.
Lens ForeignFixed(std::string_view foreign, Attribute value);
// The foreign attribute has no meaning for results: dropped on import.
Lens Dropped(std::string_view foreign);
// Strings by table: {ir, foreign} pairs.
Lens EnumMap(std::string_view ir, std::string_view foreign,
             std::vector<std::pair<Attribute, Attribute>> table);
// The attribute holds one integer per spatial axis and may be absent on the foreign side
// (each `fill`). The number of axes comes from kernel_shape or the rank of operand 0 or 1.
// per_axis: 1 for strides and dilations, 2 for pads.
Lens SpatialInts(std::string_view name, int64_t fill, int per_axis = 1);
// DType attributes: an int of TensorProto.DataType on the foreign side, a string in IR.
Lens DTypeAttr(std::string_view ir, std::string_view foreign = "");
// This form only imports, or only exports (another form serves the other way).
Lens ImportOnly();
Lens ExportOnly();
// Code instead of lenses, in one or both directions (null: not in that direction).
struct Code {
  Handler import;
  Handler export_;
  // Whether the form can express a value of an IR attribute for all operands, if the foreign schema
  // does not define it (ops/target.h).
  std::function<bool(Symbol ir_attr, const Attribute& value)> says{};
};

struct Form {
  Symbol dialect;
  Symbol op;  // with domain
  Symbol ir_op;
  Opsets opsets;
  std::vector<Lens> lenses;
  std::optional<Code> code;
  bool imports = true;
  bool exports = true;
  SourcePlace place{};  // of the row
};

class Spec {
 public:
  Spec(Symbol dialect, Symbol ir_op, SourcePlace place = SourcePlace::Here())
      : dialect_(dialect), ir_op_(ir_op), place_(place) {}
  template <typename... Parts>
  Spec& Is(std::string_view op, Opsets opsets, Parts&&... parts) {
    Form form{dialect_, op, ir_op_, opsets, {}, std::nullopt, true, true, place_};
    (AddPart(form, std::forward<Parts>(parts)), ...);
    Register(std::move(form));
    return *this;
  }
  // A form that was put together elsewhere.
  static void Register(Form form);

 private:
  static void AddPart(Form& form, Lens lens);
  static void AddPart(Form& form, const std::vector<Lens>& lenses);
  static void AddPart(Form& form, Code code);
  Symbol dialect_, ir_op_;
  SourcePlace place_;
};

#define X2IR_SPEC(dialect, ir_op)                                              \
  [[maybe_unused]] static ::x2ir::Spec X2IR_CONCAT_(x2ir_spec_, __COUNTER__) = \
      ::x2ir::Spec(dialect, #ir_op)
#define X2IR_ONNX(ir_op) X2IR_SPEC("onnx", ir_op)

// The form that imports (dialect, op) at this opset, or null: the newest that is not newer.
const Form* FindImportForm(Symbol dialect, Symbol op, int opset);
// The form that exports an IR op to a dialect at this opset, or null. The second one asks for
// the opset of each form's own domain.
const Form* FindExportForm(Symbol dialect, Symbol ir_op, int opset);
const Form* FindExportForm(Symbol dialect, Symbol ir_op,
                           const std::function<int(std::string_view domain)>& opset_of);
// All forms of a dialect ("" : of all), in a fixed order. For laws and docs.
std::vector<const Form*> AllForms(std::string_view dialect);

// Runs a form on r.node. The values replace the node's outputs.
absl::StatusOr<Values> RunImport(const Form& form, Rewrite& r);
absl::StatusOr<Values> RunExport(const Form& form, Rewrite& r);
// A form whose lenses, if any, leave the node renames it, and its attributes are these, defaults
// and all. nullopt for any other form, or if an attribute does not exist on both sides. Importing,
// these are all that the IR's op has; exporting, what is not the default of the schema.
std::optional<AttributeMap> PlainImport(const Form& form, const Node& node, const OpSchema& schema);
std::optional<AttributeMap> PlainExport(const Form& form, const Node& node, const OpSchema& schema);

}  // namespace x2ir

#endif  // X2IR_CORE_SPEC_H_
