// x2ir formats: the formats that are read and written, and their options.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/cli/option_flags.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/core/conversion_options.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/wrap.h"

namespace x2ir::cli {
namespace {

constexpr char kFormatsFooter[] =
    "The names are those that --from and --to take.\n"
    "\n"
    "Examples:\n"
    "  x2ir formats\n"
    "  x2ir formats --json | jq '.[] | select(.writes) | .name'";

std::string Joined(const std::vector<std::string>& items, std::string_view between) {
  std::string text;
  for (const std::string& item : items) StrAppend(&text, text.empty() ? "" : between, item);
  return text;
}

std::string TextOf(const Format& format) {
  constexpr size_t kColumn = 14, kWidth = 100;
  std::string text = StrCat(format.name, "\n");
  const auto entry = [&](std::string name, std::string_view words) {
    for (const std::string& part : Wrapped(words, kWidth - kColumn)) {
      name.resize(std::max(kColumn, name.size() + 2), ' ');
      StrAppend(&text, name, part, "\n");
      name.clear();
    }
  };
  entry("", format.doc);
  if (!format.extensions.empty()) entry("  files", Joined(format.extensions, ", "));
  entry("  dialect", format.dialect.empty() ? "IR" : format.dialect);
  entry("", !format.write ? "is read" : !format.read ? "is written" : "is read and written");
  const auto options = [&](std::string_view what, const std::vector<OptionDef>& defs) {
    std::vector<std::string> flags;
    for (const OptionDef& def : defs) flags.push_back(FlagOf(def.name));
    if (!flags.empty()) entry(StrCat("  ", what), Joined(flags, ", "));
  };
  options("reading", format.read_options);
  options("writing", format.write_options);
  return text;
}

std::string JsonList(const auto& items, const auto& text) {
  std::string json;
  for (const auto& item : items) StrAppend(&json, json.empty() ? "" : ", ", text(item));
  return StrCat("[", json, "]");
}

// The members of an option's object.
std::string OptionFacts(const OptionDef& def) {
  constexpr const char* kTypes[] = {"flag", "int", "size", "text", "choice", "list"};
  return StrCat(
      "\"name\": ", JsonString(def.name), ", \"flag\": ", JsonString(FlagOf(def.name)),
      ", \"type\": ", JsonString(kTypes[def.type]), ", \"value\": ", JsonString(def.placeholder),
      ", \"choices\": ", JsonList(def.choices, JsonString), ", \"help\": ", JsonString(def.help));
}

std::string JsonOf(const ConversionOption& option) {
  const std::string_view part = option.reading                             ? "reading"
                                : option.side == ConversionOption::kExport ? "writing"
                                                                           : "converting";
  return StrCat("{", OptionFacts(option.def), ", \"part\": ", JsonString(part),
                ", \"switches\": ", option.switches ? "true" : "false", "}");
}

std::string JsonOf(const Format& format) {
  const auto option = [](const OptionDef& def) { return StrCat("{", OptionFacts(def), "}"); };
  return StrCat("{\"name\": ", JsonString(format.name), ", \"doc\": ", JsonString(format.doc),
                ", \"dialect\": ", JsonString(format.dialect),
                ", \"extensions\": ", JsonList(format.extensions, JsonString),
                ", \"reads\": ", format.read ? "true" : "false",
                ", \"writes\": ", format.write ? "true" : "false",
                ", \"read_options\": ", JsonList(format.read_options, option),
                ", \"write_options\": ", JsonList(format.write_options, option), "}");
}

// One object a line.
std::string JsonLines(const auto& items) {
  std::string text;
  for (const auto& item : items) StrAppend(&text, text.empty() ? "[\n  " : ",\n  ", item);
  return text + "\n]\n";
}

struct FormatsFlags {
  bool json = false, options = false;
};

int RunFormats(const FormatsFlags& flags, Session& session) {
  std::vector<std::string> items;
  if (flags.options) {
    for (const ConversionOption& option : ConversionOptions()) items.push_back(JsonOf(option));
    session.Print(JsonLines(items));
    return kDone;
  }
  for (const Format* format : AllFormats()) {
    items.push_back(flags.json ? JsonOf(*format) : TextOf(*format));
  }
  session.Print(flags.json ? JsonLines(items) : Joined(items, "\n"));
  return kDone;
}

}  // namespace

void AddFormats(CLI::App& app, Session& session) {
  VerbOf verb(app, session, "formats", "Print the formats that can be read and written",
              kFormatsFooter, RunFormats, Reads::kNothing);
  verb.Flag("--json", verb.flags.json, "Print JSON");
  verb.Flag("--options", verb.flags.options,
            "Print the options of conversions that belong to no format, as JSON")
      .Excludes("--json");
}

}  // namespace x2ir::cli
