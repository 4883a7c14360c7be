#include "x2ir/formats/coreml/fields.h"

#include <algorithm>
#include <map>

#include "x2ir/graph_wrapper/numbers.h"

namespace x2ir::coreml {
namespace {

constexpr std::string_view kFieldLines[] = {
#include "x2ir_coreml_schema_data.inc"
};

// The text up to a separator, which goes too.
std::string_view CutOff(std::string_view* text, char separator) {
  const std::string_view part = text->substr(0, text->find(separator));
  text->remove_prefix(std::min(part.size() + 1, text->size()));
  return part;
}

struct FieldTable {
  std::map<std::string_view, MessageSpec> messages;
  std::map<std::string_view, EnumSpec> enums;
};

constexpr std::pair<std::string_view, FieldKind> kScalarKinds[] = {
    {"int32", FieldKind::kInt},    {"int64", FieldKind::kInt},     {"uint32", FieldKind::kInt},
    {"uint64", FieldKind::kInt},   {"bool", FieldKind::kInt},      {"float", FieldKind::kFloat},
    {"double", FieldKind::kDouble}, {"string", FieldKind::kString}, {"bytes", FieldKind::kString},
};

// The build made the lines: what they hold is as it says.
FieldSpec FieldOf(std::string_view text, const FieldTable& table) {
  FieldSpec field;
  field.number = static_cast<uint32_t>(*ParseNumber<int64_t>(CutOff(&text, ' ')));
  field.name = CutOff(&text, ' ');
  field.repeated = text.ends_with('*');
  if (field.repeated) text.remove_suffix(1);
  for (const auto& [name, kind] : kScalarKinds) {
    if (name == text) {
      field.kind = kind;
      return field;
    }
  }
  if (const auto it = table.enums.find(text); it != table.enums.end()) {
    field.kind = FieldKind::kEnum;
    field.values = &it->second;
  } else {
    field.kind = FieldKind::kMessage;
    field.message = &table.messages.at(text);
  }
  return field;
}

const FieldTable& Fields() {
  static const auto* const fields = [] {
    auto* table = new FieldTable;
    for (std::string_view line : kFieldLines) {
      const std::string_view what = CutOff(&line, ' '), name = CutOff(&line, '|');
      if (what == "message") {
        table->messages[name].name = name;
        continue;
      }
      EnumSpec& values = table->enums[name];
      values.name = name;
      while (!line.empty()) {
        std::string_view value = CutOff(&line, '|');
        const int64_t number = *ParseNumber<int64_t>(CutOff(&value, ' '));
        values.values.emplace_back(number, value);
      }
    }
    for (std::string_view line : kFieldLines) {
      if (CutOff(&line, ' ') != "message") continue;
      MessageSpec& message = table->messages[CutOff(&line, '|')];
      while (!line.empty()) message.fields.push_back(FieldOf(CutOff(&line, '|'), *table));
    }
    return table;
  }();
  return *fields;
}

}  // namespace

const FieldSpec* MessageSpec::Find(uint32_t number) const {
  for (const FieldSpec& field : fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

const FieldSpec* MessageSpec::Find(std::string_view field) const {
  for (const FieldSpec& spec : fields) {
    if (spec.name == field) return &spec;
  }
  return nullptr;
}

const MessageSpec* FindMessage(std::string_view name) {
  const auto it = Fields().messages.find(name);
  return it == Fields().messages.end() ? nullptr : &it->second;
}

}  // namespace x2ir::coreml
