#include "x2ir/formats/option_texts.h"

#include <algorithm>

#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

std::string OptionKey(std::string_view option) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"shapes", "shape"},
      {"dtypes", "dtype"},
      {"extra_opsets", "extra-opset"},
      {"foreign", "allow-foreign"},
      {"format", "from"}};
  for (const auto& [name, key] : kNames) {
    if (name == option) return std::string(key);
  }
  std::string key(option);
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

absl::StatusOr<FormatOptions> ParseOptions(const OptionTexts& texts,
                                           absl::Span<const OptionDef> defs) {
  FormatOptions options;
  for (const OptionDef& def : defs) {
    const std::string key = OptionKey(def.name);
    for (const auto& [name, text] : texts) {
      if (name != key) continue;
      X2IR_ASSIGN_OR_RETURN(OptionValue value, ParseOption(def, text));
      if (auto* items = std::get_if<std::vector<std::string>>(&value)) {
        std::vector<std::string> all = options.List(def.name);
        all.insert(all.end(), items->begin(), items->end());
        value = std::move(all);
      } else if (options.Has(def.name)) {
        return OptionError(def.name, "is given twice");
      }
      options.Set(def.name, std::move(value));
    }
  }
  return options;
}

}  // namespace x2ir
