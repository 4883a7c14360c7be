// The dialect "relay".
#include "x2ir/core/dialect.h"

#include <string>
#include <vector>

#include "x2ir/formats/nnvm/symbol_json.h"
#include "x2ir/formats/relay/attr_table.h"
#include "x2ir/formats/relay/graph_maker.h"
#include "x2ir/formats/relay/relay.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

bool IsOfKind(const std::string& text, char kind) {
  if (text == "None") return kind == 'e' || kind == 'a';
  switch (kind) {
    case 'i':
    case 'e': return ParseNumber<int64_t>(text).has_value();
    case 'b': return text == "True" || text == "False" || text == "1" || text == "0";
    case 'f':
    case 'E': return ParseNumber<double>(text).has_value();
    case 't': return text == "bool" || ParseDType(text);
    default: return true;
  }
}

// What does not fit the records of attributes. They do not say what operands an operator has.
std::vector<std::string> RelayProblems(const Node& node) {
  std::vector<std::string> problems;
  if (node.op() == Symbol(relay::kIf) || node.op() == Symbol(relay::kLoop)) return problems;
  const relay::AttrRecord* record = relay::AttrRecordOf(node.op().view());
  for (const auto& [name, attr] : node.attrs()) {
    const relay::AttrField* field = record ? record->Find(name.view()) : nullptr;
    const auto* text = attr.get<std::string>();
    if (!field || !text) {
      problems.push_back(StrCat("there is no attribute '", name.view(), "'"));
    } else if (!IsOfKind(*text, field->kind)) {
      problems.push_back(StrCat("attribute '", name.view(), "' is '", *text, "'"));
    }
  }
  return problems;
}

[[maybe_unused]] const bool kRegistered = RegisterDialect({.name = relay::kDialect,
                                                           .layout = "channels_first",
                                                           .holds_any_ops = false,
                                                           .check = RelayProblems});

}  // namespace
}  // namespace x2ir
