// Options of formats, defined once, as data. Help texts, checks and the values of flags come from
// the definitions; readers and writers get checked values.
#ifndef X2IR_FORMATS_OPTIONS_H_
#define X2IR_FORMATS_OPTIONS_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// bool: kFlag. int64_t: kInt, kSize. std::string: kText, kChoice. Strings: kList.
using OptionValue = std::variant<bool, int64_t, std::string, std::vector<std::string>>;

struct OptionDef {
  enum Type {
    kFlag,    // on or off; off unless given
    kInt,     // a number from `min` to `max`
    kSize,    // a number of bytes; as text also "500MB", "2GiB"
    kText,    // any text but the empty one
    kChoice,  // one of `choices`; the first unless given
    kList,    // texts; as text "A,B"
  };
  std::string name;  // "external_data": lower case, words joined by '_'
  Type type = kFlag;
  std::string help{};                  // a sentence, without a period at its end
  std::string placeholder{};           // of the value in help texts: "NAME", "N"
  std::vector<std::string> choices{};  // of kChoice
  int64_t min = 0;                     // of kInt
  int64_t max = std::numeric_limits<int64_t>::max();

  // Those that need no more than this.
  static OptionDef Flag(std::string_view name, std::string_view help) {
    return {.name = std::string(name), .help = std::string(help)};
  }
  static OptionDef Text(std::string_view name, std::string_view placeholder,
                        std::string_view help) {
    return Of(kText, name, placeholder, help);
  }
  static OptionDef List(std::string_view name, std::string_view placeholder,
                        std::string_view help) {
    return Of(kList, name, placeholder, help);
  }
  static OptionDef Size(std::string_view name, std::string_view placeholder,
                        std::string_view help) {
    return Of(kSize, name, placeholder, help);
  }
  static OptionDef Of(Type type, std::string_view name, std::string_view placeholder,
                      std::string_view help) {
    return {.name = std::string(name),
            .type = type,
            .help = std::string(help),
            .placeholder = std::string(placeholder)};
  }
};

// Values of options by their names.
//
//   FormatOptions options = {{"external_data", "always"}, {"external_data_limit", 1 << 30}};
class FormatOptions {
 public:
  using Map = std::map<std::string, OptionValue, std::less<>>;

  FormatOptions() = default;
  FormatOptions(std::initializer_list<Map::value_type> values) : values_(values) {}

  void Set(std::string_view name, OptionValue value) {
    values_.insert_or_assign(std::string(name), std::move(value));
  }
  bool Has(std::string_view name) const { return values_.find(name) != values_.end(); }
  const Map& values() const { return values_; }
  bool empty() const { return values_.empty(); }

  // The value of an option; where it is not set, or of another type: false, nothing, "", {}.
  bool Flag(std::string_view name) const;
  std::optional<int64_t> Int(std::string_view name) const;
  const std::string& Text(std::string_view name) const;
  const std::vector<std::string>& List(std::string_view name) const;

  // Those that `defs` define: for a caller whose options are meant for several formats.
  FormatOptions Only(absl::Span<const OptionDef> defs) const;

  friend bool operator==(const FormatOptions&, const FormatOptions&) = default;

 private:
  Map values_;
};

// Null when there is none of that name.
const OptionDef* FindOption(absl::Span<const OptionDef> defs, std::string_view name);

// The values, where each is of an option that `defs` define and is valid for it; missing choices
// are set to the default. Otherwise an option error; `whose` names in it the owner of the options
// ("format 'onnx'").
absl::StatusOr<FormatOptions> CheckOptions(const FormatOptions& options,
                                           absl::Span<const OptionDef> defs,
                                           std::string_view whose);

// The value of a text on a command line ("500MB", "A,B"; for a flag "true" or "false"). An option
// error for an invalid text.
absl::StatusOr<OptionValue> ParseOption(const OptionDef& def, std::string_view text);
// A value as such a text.
std::string OptionValueText(const OptionValue& value);

}  // namespace x2ir

#endif  // X2IR_FORMATS_OPTIONS_H_
