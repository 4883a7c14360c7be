#include "x2ir/cli/pages.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::cli {
namespace {

using Strings = std::vector<std::string>;

// An argument of a verb, or of the program.
struct PageArg {
  std::string group;
  Strings shorts, longs;  // without dashes; none of a positional one
  std::string positional, type, words;
  bool required = false;
  Strings choices;  // values that it may have, where these are known
};
struct PageVerb {
  std::string name, description, footer;
  std::vector<PageArg> args;
};

std::string JoinedWords(const Strings& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) StrAppend(&text, text.empty() ? "" : between, word);
  return text;
}

// "a|b|c" says its values, FORMAT means one of the formats.
Strings ChoicesOf(const std::string& type) {
  Strings choices;
  if (type == "FORMAT") {
    for (const Format* format : AllFormats()) choices.push_back(format->name);
  } else if (type.find('|') != type.npos) {
    for (size_t start = 0; start <= type.size();) {
      const size_t end = std::min(type.find('|', start), type.size());
      choices.push_back(type.substr(start, end - start));
      start = end + 1;
    }
  }
  return choices;
}

PageVerb PageVerbOf(const CLI::App& app) {
  PageVerb verb{app.get_name(), app.get_description(), app.get_footer(), {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    PageArg arg;
    arg.group = option->get_group();
    arg.shorts = option->get_snames();
    arg.longs = option->get_lnames();
    if (option->get_positional()) arg.positional = option->get_name(true);
    arg.type = option->get_expected_max() == 0 ? "" : option->get_type_name();
    arg.words = option->get_description();
    arg.required = option->get_required();
    arg.choices = ChoicesOf(arg.type);
    verb.args.push_back(std::move(arg));
  }
  return verb;
}

// ---- man ---------------------------------------------------------------------------------------

std::string Roff(std::string_view text) {
  std::string roff;
  bool line_starts = true;
  for (const char c : text) {
    if (line_starts && (c == '.' || c == '\'')) roff += "\\&";
    line_starts = c == '\n';
    switch (c) {
      case '\\': roff += "\\e"; break;
      case '-': roff += "\\-"; break;
      case '\'': roff += "\\(aq"; break;
      case '^': roff += "\\(ha"; break;
      case '~': roff += "\\(ti"; break;
      case '`': roff += "\\(ga"; break;
      default: roff += c;
    }
  }
  return roff;
}

// Lines as they are, in a fixed font: examples and tables.
std::string Verbatim(std::string_view text) {
  return text.empty() ? "" : StrCat(".PP\n.nf\n", Roff(text), "\n.fi\n");
}

std::string ManArg(const PageArg& arg) {
  Strings names;
  for (const std::string& s : arg.shorts) names.push_back(StrCat("-", s));
  for (const std::string& l : arg.longs) names.push_back(StrCat("--", l));
  if (names.empty()) names.push_back(arg.positional);
  std::string line;
  for (const std::string& name : names) {
    StrAppend(&line, line.empty() ? "" : ", ", "\\fB", Roff(name), "\\fR");
  }
  if (!arg.type.empty()) StrAppend(&line, " \\fI", Roff(arg.type), "\\fR");
  return StrCat(".TP\n", line, "\n", Roff(arg.words), "\n");
}

std::string ManArgs(const PageVerb& verb) {
  Strings groups;
  for (const PageArg& arg : verb.args) {
    if (std::find(groups.begin(), groups.end(), arg.group) == groups.end()) {
      groups.push_back(arg.group);
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    if (groups.size() > 1) StrAppend(&text, ".PP\n", Roff(group), ":\n");
    for (const PageArg& arg : verb.args) {
      if (arg.group == group) text += ManArg(arg);
    }
  }
  return text;
}

std::string ManPage(const PageVerb& program, const std::vector<PageVerb>& verbs,
                    std::string_view name, std::string_view version) {
  std::string title(name);
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string first = program.description.substr(0, program.description.find_first_of(".\n"));
  if (first.starts_with(StrCat(name, " "))) first.erase(0, name.size() + 1);
  std::string text =
      StrCat(".TH ", title, " 1 \"\" \"x2ir ", version, "\" \"User Commands\"\n.SH NAME\n", name,
             " \\- ", Roff(first), "\n.SH SYNOPSIS\n");
  for (const PageVerb& verb : verbs) {
    StrAppend(&text, ".B ", name, " ", verb.name, "\n");
    for (const PageArg& arg : verb.args) {
      if (arg.positional.empty()) continue;
      StrAppend(&text, arg.required ? "" : "[", "\\fI", Roff(arg.positional), "\\fR",
                arg.required ? "" : "]", "\n");
    }
    text += "[\\fIOPTIONS\\fR]\n.br\n";
  }
  StrAppend(&text, ".SH DESCRIPTION\n", Roff(program.description), "\n.SH OPTIONS\n",
            ManArgs(program), ".SH VERBS\n");
  for (const PageVerb& verb : verbs) {
    StrAppend(&text, ".SS ", Roff(verb.name), "\n", Roff(verb.description), ".\n", ManArgs(verb),
              Verbatim(verb.footer));
  }
  StrAppend(&text, ".SH EXIT STATUS\n", Verbatim(program.footer), ".SH SEE ALSO\n",
            name == "x2ir" ? "\\fBir2onnx\\fR(1)" : "\\fBx2ir\\fR(1)", "\n");
  return text;
}

// ---- completions -------------------------------------------------------------------------------

Strings FlagsOfArg(const PageArg& arg) {
  Strings flags;
  for (const std::string& s : arg.shorts) flags.push_back(StrCat("-", s));
  for (const std::string& l : arg.longs) flags.push_back(StrCat("--", l));
  return flags;
}

Strings FlagsOfVerb(const PageVerb& verb) {
  Strings flags;
  for (const PageArg& arg : verb.args) {
    for (std::string& flag : FlagsOfArg(arg)) flags.push_back(std::move(flag));
  }
  return flags;
}

Strings NamesOfVerbs(const std::vector<PageVerb>& verbs) {
  Strings names;
  for (const PageVerb& verb : verbs) names.push_back(verb.name);
  return names;
}

// The first sentence, or the part of a long one before the first colon or semicolon.
std::string Brief(std::string_view words) {
  const size_t end = words.find(words.size() > 60 ? ";" : "\n");
  return std::string(words.substr(0, std::min(end, words.find(". "))));
}

// Within single quotes of a shell.
std::string InQuotes(std::string_view text, std::string_view quote) {
  std::string quoted;
  for (const char c : text) c == '\'' ? void(quoted += quote) : void(quoted += c);
  return quoted;
}

std::string BashPage(const PageVerb& program, const std::vector<PageVerb>& verbs,
                     std::string_view name) {
  std::string values, flags;
  Strings seen;
  for (const PageVerb& verb : verbs) {
    StrAppend(&flags, "    ", verb.name, ") words='", JoinedWords(FlagsOfVerb(verb), " "),
              "' ;;\n");
    for (const PageArg& arg : verb.args) {
      const std::string key = JoinedWords(FlagsOfArg(arg), "|");
      if (arg.choices.empty() || std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
      seen.push_back(key);
      StrAppend(&values, "    ", key, ") COMPREPLY=($(compgen -W '", JoinedWords(arg.choices, " "),
                "' -- \"$cur\")); return ;;\n");
    }
  }
  const std::string names = JoinedWords(NamesOfVerbs(verbs), "|");
  return StrCat("# bash completion of ", name, "\n_", name,
                "() {\n  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                "  local verb= words word\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                "    case $word in ",
                names, ") verb=$word; break ;; esac\n  done\n  COMPREPLY=()\n  case $prev in\n",
                values, "  esac\n  case $verb in\n", flags, "    *) words='",
                JoinedWords(NamesOfVerbs(verbs), " "), " ", JoinedWords(FlagsOfVerb(program), " "),
                "' ;;\n  esac\n"
                "  if [ -z \"$verb\" ] || [ \"${cur#-}\" != \"$cur\" ]; then\n"
                "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n  else\n"
                "    COMPREPLY=($(compgen -f -- \"$cur\"))\n  fi\n}\ncomplete -o filenames -F _",
                name, " ", name, "\n");
}

// Words in the brackets of an argument of zsh's _arguments.
std::string ZshWords(std::string_view words) {
  std::string text;
  for (const char c : Brief(words)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') text += '\\';
    c == '\'' ? void(text += "'\\''") : void(text += c);
  }
  return text;
}

std::string ZshArgs(const PageVerb& verb) {
  std::string text;
  for (const PageArg& arg : verb.args) {
    for (const std::string& flag : FlagsOfArg(arg)) {
      StrAppend(&text, " \\\n        '*", flag, "[", ZshWords(arg.words), "]");
      if (!arg.choices.empty()) {
        StrAppend(&text, ":value:(", JoinedWords(arg.choices, " "), ")");
      } else if (!arg.type.empty()) {
        text += ":value:_files";
      }
      text += "'";
    }
  }
  return text;
}

std::string ZshPage(const PageVerb& program, const std::vector<PageVerb>& verbs,
                    std::string_view name) {
  std::string described, cases;
  for (const PageVerb& verb : verbs) {
    StrAppend(&described, "    '", verb.name, ":", ZshWords(verb.description), "'\n");
    StrAppend(&cases, "    ", verb.name, ")\n      _arguments", ZshArgs(verb),
              " \\\n        '*:file:_files'\n      ;;\n");
  }
  return StrCat("#compdef ", name, "\n_", name, "() {\n  local -a verbs\n  verbs=(\n", described,
                "  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    _arguments",
                ZshArgs(program),
                "\n    return\n  fi\n  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
                "  case $verb in\n",
                cases, "  esac\n}\n_", name, " \"$@\"\n");
}

std::string FishPage(const PageVerb& program, const std::vector<PageVerb>& verbs,
                     std::string_view name) {
  std::string text = StrCat("# fish completion of ", name, "\n");
  const auto args = [&](const PageVerb& verb, std::string_view when) {
    for (const PageArg& arg : verb.args) {
      if (FlagsOfArg(arg).empty()) continue;
      StrAppend(&text, "complete -c ", name, " -n '", when, "'");
      for (const std::string& s : arg.shorts) StrAppend(&text, " -s ", s);
      for (const std::string& l : arg.longs) StrAppend(&text, " -l ", l);
      if (!arg.choices.empty()) {
        StrAppend(&text, " -xa '", JoinedWords(arg.choices, " "), "'");
      } else if (!arg.type.empty()) {
        text += " -r";
      }
      StrAppend(&text, " -d '", InQuotes(Brief(arg.words), "\\'"), "'\n");
    }
  };
  for (const PageVerb& verb : verbs) {
    StrAppend(&text, "complete -c ", name, " -n __fish_use_subcommand -f -a ", verb.name, " -d '",
              InQuotes(Brief(verb.description), "\\'"), "'\n");
  }
  args(program, "__fish_use_subcommand");
  for (const PageVerb& verb : verbs) {
    args(verb, StrCat("__fish_seen_subcommand_from ", verb.name));
  }
  return text;
}

}  // namespace

std::optional<std::string> PageOf(const CLI::App& app, std::string_view program,
                                  std::string_view version, std::string_view kind) {
  const PageVerb before = PageVerbOf(app);
  std::vector<PageVerb> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    verbs.push_back(PageVerbOf(*verb));
  }
  if (kind == "man") return ManPage(before, verbs, program, version);
  if (kind == "bash") return BashPage(before, verbs, program);
  if (kind == "zsh") return ZshPage(before, verbs, program);
  if (kind == "fish") return FishPage(before, verbs, program);
  return std::nullopt;
}

}  // namespace x2ir::cli
