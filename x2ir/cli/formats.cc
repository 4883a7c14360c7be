// x2ir formats: the formats that are read and written, and their options.
#include <memory>
#include <string>

#include "x2ir/cli/option_flags.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/verbs.h"
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

std::string JsonOf(const Format& format) {
  const auto list = [](const auto& items, const auto& text) {
    std::string json;
    for (const auto& item : items) StrAppend(&json, json.empty() ? "" : ", ", text(item));
    return StrCat("[", json, "]");
  };
  const auto option = [](const OptionDef& def) {
    return StrCat("{\"name\": ", JsonString(def.name), ", \"flag\": ", JsonString(FlagOf(def.name)),
                  ", \"help\": ", JsonString(def.help), "}");
  };
  return StrCat("{\"name\": ", JsonString(format.name), ", \"doc\": ", JsonString(format.doc),
                ", \"dialect\": ", JsonString(format.dialect),
                ", \"extensions\": ", list(format.extensions, JsonString),
                ", \"reads\": ", format.read ? "true" : "false",
                ", \"writes\": ", format.write ? "true" : "false",
                ", \"read_options\": ", list(format.read_options, option),
                ", \"write_options\": ", list(format.write_options, option), "}");
}

int RunFormats(bool json, Session& session) {
  std::string text;
  for (const Format* format : AllFormats()) {
    if (json) {
      StrAppend(&text, text.empty() ? "[\n  " : ",\n  ", JsonOf(*format));
    } else {
      StrAppend(&text, text.empty() ? "" : "\n", TextOf(*format));
    }
  }
  session.Print(json ? text + "\n]\n" : text);
  return kDone;
}

}  // namespace

void AddFormats(CLI::App& app, Session& session) {
  Verb verb(app, session, "formats", "Print the formats that can be read and written",
            kFormatsFooter, Reads::kNothing);
  auto json = std::make_shared<bool>(false);
  verb.Flag("--json", *json, "Print JSON");
  verb.Do([json, &session] { return RunFormats(*json, session); });
}

}  // namespace x2ir::cli
