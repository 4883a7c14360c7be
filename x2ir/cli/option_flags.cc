#include "x2ir/cli/option_flags.h"

#include <algorithm>
#include <utility>

#include "x2ir/cli/flags.h"
#include "x2ir/cli/program.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

using Type = OptionDef::Type;

// Options of one name, and who has them.
struct Shared {
  const OptionDef* def;  // the first one's, for all
  std::vector<std::string> formats;
};

std::string TypeOf(const OptionDef& def) {
  if (def.type == Type::kChoice) {
    std::string choices;
    for (const std::string& choice : def.choices) {
      StrAppend(&choices, choices.empty() ? "" : "|", choice);
    }
    return choices;
  }
  if (!def.placeholder.empty()) return def.placeholder;
  return def.type == Type::kInt ? "N" : def.type == Type::kSize ? "SIZE" : "TEXT";
}

// "Reading ir, tensorflow", in the order of the formats.
std::string Title(std::string_view what, const std::vector<std::string>& formats) {
  std::string title(what);
  for (size_t i = 0; i < formats.size(); ++i) StrAppend(&title, i ? ", " : " ", formats[i]);
  return title;
}

}  // namespace

std::string FlagOf(std::string_view option) {
  // Lists of the library whose flag is for one item, and two that are called otherwise.
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"shapes", "shape"},
      {"dtypes", "dtype"},
      {"extra_opsets", "extra-opset"},
      {"foreign", "allow-foreign"},
      {"format", "from"}};
  for (const auto& [name, flag] : kNames) {
    if (name == option) return StrCat("--", flag);
  }
  std::string flag = StrCat("--", option);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

void OptionFlags::AddTo(Verb& verb, Defs defs, bool hidden) {
  std::vector<Shared> all;
  for (const Format* format : AllFormats()) {
    for (const OptionDef& def : format->*defs) {
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
    verb.Group(Title(reading ? "Reading" : "Writing", shared.formats));
    const std::string flag = FlagOf(def->name);
    const auto add = [&]() -> Arg {
      if (def->type == Type::kFlag) return verb.Flag(flag, flags_[def->name], def->help);
      if (def->type == Type::kList) {
        return verb.Repeated(flag, lists_[def->name], TypeOf(*def), def->help);
      }
      return verb.Text(flag, texts_[def->name], TypeOf(*def), def->help);
    };
    Arg arg = add();
    if (hidden) arg.Hidden();
  }
  verb.Group("");
}

absl::StatusOr<FormatOptions> OptionFlags::For(absl::Span<const OptionDef> defs) const {
  FormatOptions options;
  for (const OptionDef& def : defs) {
    if (!Has(def.name)) continue;
    if (def.type == Type::kFlag) {
      options.Set(def.name, true);
    } else if (def.type == Type::kList) {
      Strings items;
      for (const std::string& text : lists_.find(def.name)->second) {
        X2IR_ASSIGN_OR_RETURN(const Strings more, ParseList(FlagOf(def.name), text));
        items.insert(items.end(), more.begin(), more.end());
      }
      options.Set(def.name, std::move(items));
    } else {
      X2IR_ASSIGN_OR_RETURN(OptionValue value, ParseOption(def, Text(def.name)));
      options.Set(def.name, std::move(value));
    }
  }
  return options;
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
  return !Text(option).empty() || (list != lists_.end() && !list->second.empty()) ||
         (flag != flags_.end() && flag->second);
}

std::string OptionFlags::Text(std::string_view option) const {
  const auto it = texts_.find(option);
  return it == texts_.end() ? "" : it->second;
}

}  // namespace x2ir::cli
