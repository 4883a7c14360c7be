#include "x2ir/cli/option_flags.h"

#include <algorithm>
#include <utility>

#include "x2ir/cli/program.h"
#include "x2ir/core/conversion_options.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

using OptionType = OptionDef::Type;

// Options of one name, and who has them.
struct Shared {
  const OptionDef* def;  // the first one's, for all
  std::vector<std::string> formats;
};

std::string TypeOf(const OptionDef& def) {
  if (!def.placeholder.empty()) return def.placeholder;
  if (def.type == OptionType::kChoice) {
    std::string choices;
    for (const std::string& choice : def.choices) {
      StrAppend(&choices, choices.empty() ? "" : "|", choice);
    }
    return choices;
  }
  return def.type == OptionType::kInt ? "N" : def.type == OptionType::kSize ? "SIZE" : "TEXT";
}

// "Reading ir, tensorflow", in the order of the formats.
std::string Title(std::string_view what, const std::vector<std::string>& formats) {
  std::string title(what);
  for (size_t i = 0; i < formats.size(); ++i) StrAppend(&title, i ? ", " : " ", formats[i]);
  return title;
}

bool IsConversionOption(std::string_view name) {
  const auto options = ConversionOptions();
  return std::any_of(options.begin(), options.end(),
                     [&](const ConversionOption& option) { return option.def.name == name; });
}

}  // namespace

std::string FlagOf(std::string_view option) { return StrCat("--", OptionKey(option)); }

bool IsOption(std::string_view name) {
  if (name.starts_with("no_")) name.remove_prefix(3);
  // Arguments of functions, which are no options of a conversion.
  for (const std::string_view known :
       {"cases", "format", "from", "input", "map", "runtime_library", "with"}) {
    if (name == known) return true;
  }
  if (IsConversionOption(name)) return true;
  const auto has = [&](const std::vector<OptionDef>& defs) {
    return std::any_of(defs.begin(), defs.end(),
                       [&](const OptionDef& def) { return def.name == name; });
  };
  const auto formats = AllFormats();
  return std::any_of(formats.begin(), formats.end(), [&](const Format* format) {
    return has(format->read_options) || has(format->write_options);
  });
}

Arg OptionFlags::Add(Verb& verb, const OptionDef& def, bool switches) {
  const std::string flag = FlagOf(def.name);
  if (switches) {
    const std::string both = StrCat(flag, ",!--no-", OptionKey(def.name));
    return verb.Flag(both, flags_[def.name], def.help).SetsWhenGiven(given_[def.name]);
  }
  switch (def.type) {
    case OptionType::kFlag: return verb.Flag(flag, flags_[def.name], def.help);
    case OptionType::kList: return verb.Repeated(flag, lists_[def.name], TypeOf(def), def.help);
    default: return verb.Text(flag, texts_[def.name], TypeOf(def), def.help);
  }
}

void OptionFlags::AddTo(Verb& verb, Defs defs, bool hidden) {
  std::vector<Shared> all;
  for (const Format* format : AllFormats()) {
    for (const OptionDef& def : format->*defs) {
      if (IsConversionOption(def.name)) continue;  // its flag is in that table
      const auto it = std::find_if(
          all.begin(), all.end(), [&](const Shared& other) { return other.def->name == def.name; });
      if (it == all.end()) {
        all.push_back({&def, {format->name}});
      } else {
        it->formats.push_back(format->name);
      }
    }
  }
  const bool reading = defs == &Format::read_options;
  for (const Shared& shared : all) {
    const OptionDef* const def = shared.def;
    verb.Group(Title(reading ? "Reading" : "Writing", shared.formats), reading, shared.formats);
    Arg arg = Add(verb, *def);
    if (hidden) arg.Hidden();
  }
  verb.Group("");
}

OptionTexts OptionFlags::Texts() const {
  OptionTexts texts;
  for (const auto& [option, on] : flags_) {
    if (Has(option)) texts.emplace_back(OptionKey(option), on ? "true" : "false");
  }
  for (const auto& [option, items] : lists_) {
    for (const std::string& item : items) texts.emplace_back(OptionKey(option), item);
  }
  for (const auto& [option, text] : texts_) {
    if (Has(option)) texts.emplace_back(OptionKey(option), text);
  }
  return texts;
}

absl::StatusOr<FormatOptions> OptionFlags::For(absl::Span<const OptionDef> defs) const {
  return ParseOptions(Texts(), defs);
}

std::vector<std::string> OptionFlags::Others(absl::Span<const OptionDef> defs) const {
  std::vector<std::string> others;
  const auto add = [&](const auto& values) {
    for (const auto& [option, value] : values) {
      if (Has(option) && !FindOption(defs, option)) others.push_back(option);
    }
  };
  add(texts_);
  add(lists_);
  add(flags_);
  return others;
}

bool OptionFlags::Has(std::string_view option) const {
  const auto flag = flags_.find(option);
  const auto list = lists_.find(option);
  const auto given = given_.find(option);
  if (given != given_.end()) return given->second;
  return !Text(option).empty() || (list != lists_.end() && !list->second.empty()) ||
         (flag != flags_.end() && flag->second);
}

std::string OptionFlags::Text(std::string_view option) const {
  const auto it = texts_.find(option);
  return it == texts_.end() ? "" : it->second;
}

}  // namespace x2ir::cli
