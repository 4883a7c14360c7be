#include "x2ir/cli/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "x2ir/core/convert.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/inspect/wrap.h"

namespace x2ir::cli {
namespace {

using Strings = std::vector<std::string>;
using Options = std::vector<const CLI::Option*>;

constexpr size_t kColumn = 28;
constexpr size_t kHelpWidth = 100;

// "-o, --output FILE".
std::string NamesOf(const CLI::Option& option) {
  std::string text;
  const auto add = [&](std::string_view dashes, const Strings& names) {
    for (const std::string& name : names) {
      StrAppend(&text, text.empty() ? "" : ", ", dashes, name);
    }
  };
  add("-", option.get_snames());
  add("--", option.get_lnames());
  if (!option.get_type_name().empty()) StrAppend(&text, " ", option.get_type_name());
  return text;
}

// A name, then words beside it in a column of their own.
std::string Entry(const std::string& name, std::string_view words) {
  std::string text;
  std::string line = StrCat("  ", name);
  if (line.size() + 2 > kColumn) {
    text = line + "\n";
    line.clear();
  }
  for (const std::string& part : Wrapped(words, kHelpWidth - kColumn)) {
    line.resize(kColumn, ' ');
    StrAppend(&text, line, part, "\n");
    line.clear();
  }
  return text;
}

std::string Joined(const Strings& names) {
  std::string text;
  for (const std::string& name : names) StrAppend(&text, text.empty() ? "" : ", ", name);
  return text;
}

// The formats that the command line names, as far as it was parsed: by --from or --to, else as
// those of files. What is read says it by its content, what is written by its name.
Strings NamedFormats(const CLI::App& app, bool reading) {
  const auto given = [&](const char* flag) {
    const CLI::Option* option = app.get_option_no_throw(flag);
    return option ? option->results() : Strings();
  };
  Strings names = given(reading ? "--from" : "--to");
  if (names.empty()) {
    for (const std::string& path : given(reading ? "MODEL" : "--output")) {
      std::error_code ignored;
      const bool there = std::filesystem::is_regular_file(path, ignored) ||
                         std::filesystem::is_directory(path, ignored);
      const Format* by_name = FormatOfExtension(path);
      const auto detected = reading && there ? DetectFormat(path) : absl::StatusOr<std::string>("");
      names.push_back(detected.ok() && !detected->empty() ? *detected
                      : by_name                           ? by_name->name
                                                          : "");
    }
  }
  std::erase_if(names, [](const std::string& name) { return !FindFormat(name); });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

class Help : public CLI::Formatter {
 public:
  explicit Help(const Session& session) : session_(session) {}

  std::string make_description(const CLI::App* app) const override {
    std::string text;
    const std::string words = app->get_description();
    for (size_t start = 0; start < words.size();) {
      const size_t end = std::min(words.find('\n', start), words.size());
      for (const std::string& line : Wrapped(words.substr(start, end - start), kHelpWidth)) {
        StrAppend(&text, line, "\n");
      }
      start = end + 1;
    }
    return text;
  }

  std::string make_usage(const CLI::App* app, std::string) const override {
    std::string text = StrCat("\nUsage: ", session_.program());
    if (app->get_parent()) StrAppend(&text, " ", app->get_name());
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_positional()) continue;
      const std::string name = option->get_name(true);
      StrAppend(&text, " ", option->get_required() ? name : StrCat("[", name, "]"));
    }
    return text + (app->get_parent() ? " [OPTIONS]\n" : " VERB [OPTIONS]\n");
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return StrCat(make_description(app), make_usage(app, std::move(name)), make_positionals(app),
                  Groups(app), make_subcommands(app, mode), "\n", make_footer(app));
  }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    return Entry(positional ? option->get_name(true) : NamesOf(*option), option->get_description());
  }

  std::string make_subcommand(const CLI::App* verb) const override {
    return Entry(verb->get_name(), verb->get_description());
  }

 private:
  std::string Groups(const CLI::App* app) const {
    std::string text;
    std::vector<std::pair<const CLI::Option*, const Session::FormatTitle*>> of_formats;
    for (const std::string& group : app->get_groups()) {
      const Options options = app->get_options([&](const CLI::Option* option) {
        return !group.empty() && option->get_group() == group && option->nonpositional();
      });
      const auto title = session_.format_titles.find(group);
      if (title != session_.format_titles.end()) {
        for (const CLI::Option* option : options) of_formats.emplace_back(option, &title->second);
      } else if (!options.empty()) {
        text += make_group(group, false, options);
      }
    }
    const bool converts = app->get_option_no_throw("--to") != nullptr;
    for (const bool reading : {true, false}) {
      Strings named = NamedFormats(*app, reading);
      const auto usual = session_.usual_targets.find(app->get_name());
      if (!reading && named.empty() && usual != session_.usual_targets.end()) {
        named = {usual->second};
      }
      std::string entries;
      for (const auto& [option, title] : of_formats) {
        if (title->reading != reading) continue;
        if (named.empty()) {
          entries += Entry(NamesOf(*option), Joined(title->formats));
        } else if (std::find_first_of(named.begin(), named.end(), title->formats.begin(),
                                      title->formats.end()) != named.end()) {
          entries += make_option(option, false);
        }
      }
      if (entries.empty()) continue;
      const char* const side = reading ? "Reading " : "Writing ";
      const std::string hint =
          StrCat("formats; --help with ",
                 reading ? converts ? "MODEL or --from FORMAT" : "MODEL" : "-o FILE or --to FORMAT",
                 " shows them");
      StrAppend(&text, "\n", side, named.empty() ? hint : Joined(named), ":\n", entries);
    }
    return text;
  }

  const Session& session_;
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> MakeHelp(const Session& session) {
  return std::make_shared<Help>(session);
}

}  // namespace x2ir::cli
