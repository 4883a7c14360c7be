// What the target of a conversion can express. Lowerings and passes query it for facts about IR
// ops; which opset or version of a framework the facts come from is known to the implementation
// alone (core/dialect_target.h reads them from a dialect's forms and schemas).
//
//   if (!r.target.Has("range")) ...
//   const Fact zeros = Fact::Says("reshape", "allowzero", 1);
//   if (!r.target.Holds(zeros)) return CannotExpress("a size of 0", r.target.Later(zeros));
#ifndef X2IR_OPS_TARGET_H_
#define X2IR_OPS_TARGET_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/symbol.h"

namespace X2IR_API x2ir {

// A statement about a target; it holds there or it does not. In each the target has an op of its
// own for the IR op, so that no lowering and no cast is needed.
struct Fact {
  struct Operand {
    size_t index;
    DType dtype;
  };

  Symbol op;  // of IR
  std::optional<Operand> operand{};
  std::optional<std::pair<Symbol, Attribute>> attr{};

  // The target has the op, for some operands and attributes at least.
  static Fact Has(Symbol op) { return {op}; }
  // The IR op's operand of that index may be computed, and be of that element type (kUndefined: of
  // some element type).
  static Fact Takes(Symbol op, size_t operand, DType dtype) {
    return {op, Operand{operand, dtype}};
  }
  // The IR op's attribute may have that value, whatever the operands are.
  static Fact Says(Symbol op, Symbol attr, Attribute value) {
    return {op, std::nullopt, std::pair(attr, std::move(value))};
  }
};

class Target {
 public:
  virtual ~Target() = default;

  virtual bool Holds(const Fact& fact) const = 0;
  // For messages, about a fact that does not hold: the next later opset of the target in which it
  // does, where there is one.
  virtual FirstVersion Later(const Fact&) const { return {}; }
  // The layout of convolutions, pools and norms there, as the attribute `layout` names it; empty:
  // it has no preference.
  virtual std::string_view layout() const { return ""; }

  bool Has(Symbol op) const { return Holds(Fact::Has(op)); }
  bool Takes(Symbol op, size_t operand, DType dtype) const {
    return Holds(Fact::Takes(op, operand, dtype));
  }
  bool Says(Symbol op, Symbol attr, Attribute value) const {
    return Holds(Fact::Says(op, attr, std::move(value)));
  }

  // A target without ops, for the case that there is no target, as on import.
  static const Target& Nothing();
};

}  // namespace x2ir

#endif  // X2IR_OPS_TARGET_H_
