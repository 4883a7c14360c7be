// The definition of each IR op: operands, attributes, shape inference, reference evaluation, and
// traits for rewrites. One row per op, in the file of its family:
//
//   X2IR_OP(leaky_relu)
//       .Signature("x -> y")
//       .Attrs("alpha = 0.01")
//       .Functions(SameTypeAsFirst, EvalLeakyRelu)
//       .Elementwise(NumberUse::kFloatOnly)
//       .Doc("x, or alpha * x where x is negative.");
//
// Ops register themselves (static objects), so the library is linked whole.
#ifndef X2IR_OPS_OP_H_
#define X2IR_OPS_OP_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/registry.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/traits.h"

namespace X2IR_API x2ir {

class InferContext;
class EvalContext;
using InferFn = std::function<absl::Status(InferContext&)>;
using EvalFn = std::function<absl::Status(EvalContext&)>;

enum class Arity : uint8_t { kRequired, kOptional, kVariadic };

struct OperandDef {
  std::string name{};
  Arity arity = Arity::kRequired;
  int min = 1;  // of a variadic operand: how many at least
};

struct AttrDef {
  Symbol name;
  AttrKind kind;
  std::optional<Attribute> default_value;  // always written out, with this default
  bool optional = false;                   // may be absent, and absence means something
};

class OpDef {
 public:
  explicit OpDef(std::string_view name, SourcePlace place = SourcePlace::Here())
      : name_(name), place_(place) {}

  // --- Definition ---
  // Adds operands and results: "x, scale, bias? -> y, mean?". `bias?` is optional. The last one may
  // be repeated: `inputs*` any number of times, `inputs+` at least once, `inputs+3` at least three
  // times.
  OpDef& Signature(std::string_view operands_and_results);
  OpDef& In(std::string_view operands);  // one side of a signature
  OpDef& Out(std::string_view results);
  OpDef& OptIn(std::string_view name);
  OpDef& OptOut(std::string_view name);
  // Adds attributes: "axis: int, pads: ints?, group = 1, alpha = 0.5, mode = 'linear'". One with a
  // value is always written out, with that default: an int, float or string. `pads?` may be absent.
  // Anything else in the text is a problem of the registration (registry.h).
  OpDef& Attrs(std::string_view list);
  OpDef& Attr(std::string_view name, Attribute default_value);
  OpDef& ReqAttr(std::string_view name, AttrKind kind);
  OpDef& Infer(InferFn fn);
  OpDef& Eval(EvalFn fn);
  OpDef& Functions(InferFn infer, EvalFn eval);
  // Not a function of its operands (random ops): never folded or merged, and dropped only if
  // unused.
  OpDef& Impure();
  // Operands may also be sequences and optionals, which other ops refuse.
  OpDef& AnyKind();
  OpDef& Doc(std::string_view sentence);  // the meaning, in one or two sentences
  // A part of the definition that several ops share: f(*this, args...).
  template <typename F, typename... Args>
  OpDef& With(const F& f, const Args&... args) {
    f(*this, args...);
    return *this;
  }

  // --- Traits (traits.h) ---
  // A law says that every op states the first two, or that it is opaque; and, if it computes, one
  // of the next two.
  OpDef& Axes(AxisRule rule);
  OpDef& Numbers(NumberUse use, uint32_t operands = kAllOfType, uint32_t results = kAllOfType,
                 bool (*except)(const Node& node) = nullptr);
  // Float16 is sufficient, or not for these operands, or not at all (FloatRule).
  OpDef& AllowsFloat16();
  OpDef& NeedsFloat32(std::string_view reason, uint32_t operands = kAllOfType, bool back = false);
  OpDef& Rows(RowUse use);  // default: kNone
  // The results are elements of operand 0, which it does not look at: Axes() and Numbers() in one.
  OpDef& Moves(AxisRule axes, MoveUse use = MoveUse::kNone);
  // One element of each operand, broadcast, makes one of each result; all are of the element type.
  OpDef& Elementwise(NumberUse use, RowUse rows = RowUse::kNone);
  // Its two operands, or all of them, may change places.
  OpDef& Commutes();
  OpDef& Complex(ComplexUse use);    // default: kNone
  OpDef& Zeros(ZeroUse use);         // default: kPasses
  OpDef& Gives(ResultUse use);       // default: kAny
  OpDef& Obeys(uint32_t equations);  // default: none
  // If all elements of an operand are that number, the result is the other operand, broadcast:
  // either operand of an op that commutes, the second one of others.
  OpDef& Neutral(int number);
  OpDef& Origins(AxisOriginsFn fn);      // default: see AxisOrigins
  OpDef& MultiplyAdds(WorkFn how_many);  // default: none
  // Evaluation is expensive for each element.
  OpDef& Heavy();
  // Where the shape of the results depends on what the operands hold, it has no more elements than
  // the operands.
  OpDef& BoundedResults();
  // Runtimes run it and the op after it as one quantized op: it is neither folded nor shared.
  OpDef& QuantizedUnit();
  // Rewrites do not change it: no transpose passes it, and it keeps its element type.
  OpDef& Opaque();

  // --- Queries ---
  Symbol name() const { return name_; }
  const std::vector<OperandDef>& inputs() const { return inputs_; }
  const std::vector<OperandDef>& outputs() const { return outputs_; }
  const std::vector<AttrDef>& attrs() const { return attrs_; }
  const AttrDef* FindAttr(Symbol name) const;
  int InputIndex(std::string_view name) const;  // -1 if there is no operand of that name
  // The definition that operand i falls under (the variadic one for all past it), or null.
  const OperandDef* InputDef(size_t i) const;
  const OperandDef* OutputDef(size_t i) const;
  bool impure() const { return impure_; }
  bool any_kind() const { return any_kind_; }
  const InferFn& infer() const { return infer_; }
  const EvalFn& eval() const { return eval_; }
  const std::string& doc() const { return doc_; }
  const SourcePlace& place() const { return place_; }
  const AxisRule& axes() const { return axes_; }
  const NumberRule& numbers() const { return numbers_; }
  // Whether results depend on the shapes of operands alone.
  bool only_shapes() const {
    return numbers_.use == NumberUse::kMoves && numbers_.results == kNoneOfType;
  }
  RowUse rows() const { return rows_; }
  MoveUse moves() const { return moves_; }
  bool heavy() const { return heavy_; }
  bool bounded_results() const { return bounded_results_; }
  bool quantized_unit() const { return quantized_unit_; }
  const FloatRule& floats() const { return floats_; }
  bool commutes() const { return commutes_; }
  ComplexUse complex() const { return complex_; }
  ZeroUse zeros() const { return zeros_; }
  ResultUse gives() const { return gives_; }
  bool obeys(OpEquation equation) const { return (equations_ & equation) != 0; }
  std::optional<int> neutral() const { return neutral_; }
  AxisOriginsFn origins() const { return origins_; }  // may be null, as may be:
  WorkFn multiply_adds() const { return multiply_adds_; }
  bool states_traits() const { return states_axes_ && states_numbers_; }
  // Whether it has a rule for float16, or does not compute.
  bool states_floats() const {
    return states_floats_ || numbers_.use == NumberUse::kMoves ||
           numbers_.use == NumberUse::kCompares;
  }

  // Arity and attributes of `node` against this definition. InvalidArgument says what.
  absl::Status Check(const Node& node) const;

 private:
  Symbol name_;
  SourcePlace place_;
  std::vector<OperandDef> inputs_, outputs_;
  std::vector<AttrDef> attrs_;
  InferFn infer_;
  EvalFn eval_;
  bool impure_ = false;
  bool any_kind_ = false;
  bool heavy_ = false, bounded_results_ = false, quantized_unit_ = false;
  bool states_axes_ = false, states_numbers_ = false, states_floats_ = false, commutes_ = false;
  ComplexUse complex_ = ComplexUse::kNone;
  ZeroUse zeros_ = ZeroUse::kPasses;
  ResultUse gives_ = ResultUse::kAny;
  uint32_t equations_ = 0;
  std::optional<int> neutral_;
  FloatRule floats_;
  AxisOriginsFn origins_ = nullptr;
  WorkFn multiply_adds_ = nullptr;
  AxisRule axes_;
  NumberRule numbers_;
  RowUse rows_ = RowUse::kNone;
  MoveUse moves_ = MoveUse::kNone;
  std::string doc_;
};

// Null when there is no such op.
const OpDef* FindOp(Symbol name);
// Of an IR node; null for null and for nodes of other dialects.
const OpDef* OpOf(const Node* node);
// All ops, by name.
std::vector<const OpDef*> AllOps();
// The error for an op that does not exist.
absl::Status NoSuchOp(Symbol name);
// OK if the library's ops are registered; else the error that it is not linked whole.
absl::Status CheckOpsAreLinked();

// Registers a definition when it is complete. Used through X2IR_OP.
class OpRegistration {
 public:
  OpRegistration(OpDef& def);   // NOLINT: implicit by design
  OpRegistration(OpDef&& def);  // NOLINT
};

#define X2IR_OP(name)                                                                        \
  [[maybe_unused]] static const ::x2ir::OpRegistration X2IR_CONCAT_(x2ir_op_, __COUNTER__) = \
      ::x2ir::OpDef(#name)

}  // namespace x2ir

#endif  // X2IR_OPS_OP_H_
