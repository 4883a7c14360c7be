// Looks up, checks and parses options of formats.
#include "x2ir/formats/options.h"

#include <algorithm>

#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

template <typename T>
const T* ValueOf(const FormatOptions::Map& values, std::string_view name) {
  const auto it = values.find(name);
  return it == values.end() ? nullptr : std::get_if<T>(&it->second);
}

std::string Listed(absl::Span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) StrAppend(&text, text.empty() ? "" : ", ", name);
  return text;
}

absl::Status CheckValue(const OptionDef& def, const OptionValue& value) {
  switch (def.type) {
    case OptionDef::kFlag:
      if (std::holds_alternative<bool>(value)) return absl::OkStatus();
      return OptionError(def.name, "expected true or false");
    case OptionDef::kInt:
    case OptionDef::kSize: {
      const int64_t least = def.type == OptionDef::kSize ? 1 : def.min;
      const int64_t* number = std::get_if<int64_t>(&value);
      if (number && *number >= least && *number <= def.max) return absl::OkStatus();
      return OptionError(def.name, "expected a number from ", least, " to ", def.max);
    }
    case OptionDef::kText: {
      const std::string* text = std::get_if<std::string>(&value);
      if (text && !text->empty()) return absl::OkStatus();
      return OptionError(def.name, "expected a text that is not empty");
    }
    case OptionDef::kChoice: {
      const std::string* text = std::get_if<std::string>(&value);
      if (text && std::count(def.choices.begin(), def.choices.end(), *text) != 0) {
        return absl::OkStatus();
      }
      return OptionError(def.name, "expected one of ", Listed(def.choices), "; got ",
                         text ? StrCat("'", *text, "'") : "a value of another type");
    }
    case OptionDef::kList:
      if (std::holds_alternative<Strings>(value)) return absl::OkStatus();
      return OptionError(def.name, "expected a list of texts");
  }
  return absl::OkStatus();
}

absl::StatusOr<OptionValue> ParseSize(const OptionDef& def, std::string_view text) {
  struct Unit {
    std::string_view name;
    int64_t bytes;
  };
  static constexpr Unit kUnits[] = {{"KiB", 1 << 10},     {"MiB", 1 << 20}, {"GiB", 1 << 30},
                                    {"kB", 1000},         {"KB", 1000},     {"MB", 1000'000},
                                    {"GB", 1000'000'000}, {"B", 1}};
  std::string_view digits = text;
  int64_t unit = 1;
  for (const Unit& each : kUnits) {
    if (!text.ends_with(each.name)) continue;
    digits.remove_suffix(each.name.size());
    unit = each.bytes;
    break;
  }
  const std::optional<int64_t> value = ParseNumber<int64_t>(digits);
  if (!value || *value < 1 || *value > std::numeric_limits<int64_t>::max() / unit) {
    return OptionError(def.name, "'", text, "': expected a number of bytes, as in 500MB or 2GB");
  }
  return *value * unit;
}

}  // namespace

bool FormatOptions::Flag(std::string_view name) const {
  const bool* value = ValueOf<bool>(values_, name);
  return value && *value;
}
std::optional<int64_t> FormatOptions::Int(std::string_view name) const {
  const int64_t* value = ValueOf<int64_t>(values_, name);
  return value ? std::optional(*value) : std::nullopt;
}
const std::string& FormatOptions::Text(std::string_view name) const {
  static const auto& none = *new std::string;
  const std::string* value = ValueOf<std::string>(values_, name);
  return value ? *value : none;
}
const Strings& FormatOptions::List(std::string_view name) const {
  static const auto& none = *new Strings;
  const Strings* value = ValueOf<Strings>(values_, name);
  return value ? *value : none;
}

FormatOptions FormatOptions::Only(absl::Span<const OptionDef> defs) const {
  FormatOptions some;
  for (const auto& [name, value] : values_) {
    if (FindOption(defs, name)) some.Set(name, value);
  }
  return some;
}

const OptionDef* FindOption(absl::Span<const OptionDef> defs, std::string_view name) {
  const auto it = std::find_if(defs.begin(), defs.end(),
                               [&](const OptionDef& def) { return def.name == name; });
  return it == defs.end() ? nullptr : &*it;
}

absl::StatusOr<FormatOptions> CheckOptions(const FormatOptions& options,
                                           absl::Span<const OptionDef> defs,
                                           std::string_view whose) {
  for (const auto& [name, value] : options.values()) {
    const OptionDef* def = FindOption(defs, name);
    if (!def) {
      Strings names;
      for (const OptionDef& each : defs) names.push_back(each.name);
      return OptionError(name, whose, " has no such option; ",
                         names.empty() ? "it has none" : StrCat("it has ", Listed(names)));
    }
    X2IR_RETURN_IF_ERROR(CheckValue(*def, value));
  }
  FormatOptions checked = options;
  for (const OptionDef& def : defs) {
    if (def.type == OptionDef::kChoice && !def.choices.empty() && !checked.Has(def.name)) {
      checked.Set(def.name, def.choices.front());
    }
  }
  return checked;
}

absl::StatusOr<OptionValue> ParseOption(const OptionDef& def, std::string_view text) {
  OptionValue value;
  switch (def.type) {
    case OptionDef::kFlag:
      if (text != "true" && text != "false") {
        return OptionError(def.name, "'", text, "': expected true or false");
      }
      value = text == "true";
      break;
    case OptionDef::kInt: {
      const std::optional<int64_t> number = ParseNumber<int64_t>(text);
      if (!number || *number < def.min || *number > def.max) {
        return OptionError(def.name, "'", text, "': expected a number from ", def.min, " to ",
                           def.max);
      }
      value = *number;
      break;
    }
    case OptionDef::kSize: return ParseSize(def, text);
    case OptionDef::kText:
    case OptionDef::kChoice: value = std::string(text); break;
    case OptionDef::kList: {
      Strings parts;
      for (size_t start = 0; start <= text.size() && !text.empty();) {
        const size_t comma = std::min(text.find(',', start), text.size());
        parts.emplace_back(text.substr(start, comma - start));
        if (parts.back().empty()) {
          return OptionError(def.name, "'", text, "': a name is missing; expected A,B,...");
        }
        start = comma + 1;
      }
      value = std::move(parts);
      break;
    }
  }
  X2IR_RETURN_IF_ERROR(CheckValue(def, value));
  return value;
}

std::string OptionValueText(const OptionValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const int64_t* number = std::get_if<int64_t>(&value)) return StrCat(*number);
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  std::string text;
  for (const std::string& part : std::get<Strings>(value)) {
    StrAppend(&text, text.empty() ? "" : ",", part);
  }
  return text;
}

}  // namespace x2ir
