// The attributes of Relay's operators: which record an operator has, and how the JSON stores each
// field of it. The text needs no table.
#ifndef X2IR_FORMATS_RELAY_ATTR_TABLE_H_
#define X2IR_FORMATS_RELAY_ATTR_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/relay/ast.h"

namespace X2IR_API x2ir {
namespace relay {

struct AttrField {
  std::string_view name;
  // Plain texts: 'i' integer, 'b' flag, 'f' number, 's' text, 't' element type. Nodes of their own:
  // 'e' integer, 'E' number, 'a' list of integers (or of such lists), 'A' list of numbers, 'S'
  // text.
  char kind;
  std::string_view fallback;  // in place of an attribute that is left out; "None": nothing

  // Whether a text is what it is when it is left out.
  bool IsFallback(std::string_view text) const;
  bool is_object() const {
    return kind == 'e' || kind == 'E' || kind == 'a' || kind == 'A' || kind == 'S';
  }
};
struct AttrRecord {
  std::string_view type_key;  // "relay.attrs.Conv2DAttrs"
  std::vector<AttrField> fields;
  const AttrField* Find(std::string_view name) const;
};

// Null where it is not known.
const AttrRecord* FindAttrRecord(std::string_view type_key);
// The record of an operator's attributes; null: it has none, or the operator is not known.
const AttrRecord* AttrRecordOf(std::string_view op);
// What tuners note beside the attributes that mean something.
bool IsAttrOfSchedules(std::string_view name);

// The operators whose first operand is a tuple: of all operands, or (a quantized concatenation) of
// three lists and two operands more.
bool TakesTuple(std::string_view op);
// How many fields the tuple that it gives has; 0: it gives a tensor. -1: attributes do not tell.
int64_t TupleSizeOf(std::string_view op, const RelayAttrs& attrs, size_t operands);

}  // namespace relay
}  // namespace x2ir

#endif  // X2IR_FORMATS_RELAY_ATTR_TABLE_H_
