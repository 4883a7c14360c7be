// Operators of Relay. Attributes are texts as in symbols of NNVM, its predecessor, so rows see
// nodes through the same reader (handlers/nnvm/symbol.h), and what both mean alike is built by the
// same functions (handlers/nnvm/layers.h).
#ifndef X2IR_HANDLERS_RELAY_RELAY_H_
#define X2IR_HANDLERS_RELAY_RELAY_H_

#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/handlers/nnvm/symbol.h"

namespace X2IR_API x2ir {

class RelayWriter : public SymbolWriter {
 public:
  using SymbolWriter::SymbolWriter;

  // A node of Relay with one result, or several.
  Value* Call(std::string_view op, std::vector<Value*> operands, AttributeMap attrs = {}) {
    return CallAll(op, std::move(operands), std::move(attrs), 1)[0];
  }
  Values CallAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                 size_t num_outputs) {
    return Make("relay", op, std::move(operands), std::move(attrs),
                std::vector<bool>(num_outputs, true), {});
  }
  // The first result of a node that has several, of which the others are not used.
  Value* CallFirst(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                   size_t num_outputs) {
    std::vector<bool> wanted(num_outputs, false);
    wanted[0] = true;
    return Make("relay", op, std::move(operands), std::move(attrs), wanted, {})[0];
  }
};

struct RelayDialect : SymbolDialect {
  using Writer = RelayWriter;
  static constexpr std::string_view kName = "relay";
};

#define X2IR_RELAY(ir_op) X2IR_ROWS(::x2ir::RelayDialect, ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_RELAY_RELAY_H_
