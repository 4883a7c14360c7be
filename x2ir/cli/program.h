// Shared code of both programs: parse the command line, run a verb, return the exit code.
#ifndef X2IR_CLI_PROGRAM_H_
#define X2IR_CLI_PROGRAM_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "x2ir/cli/session.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace x2ir {
class Graph;
}

namespace x2ir::cli {

using AddVerb = void (*)(CLI::App&, Session&);

int RunProgram(int argc, char** argv, const std::string& name, const std::string& description,
               const std::vector<AddVerb>& verbs);

// Keeps a graph for as long as the program runs: a program that ends need not destroy a large
// graph, which takes a good part of its time.
void KeepUntilTheEnd(std::shared_ptr<Graph> graph);

// The values of a verb's flags, to compare them with those of another run. Every flag of a verb is
// included, except those with Arg::ChangesNothing.
class Settings {
 public:
  // The verb, and each flag that does not have its default value: `convert --layout "x"`.
  std::string Text() const;

 private:
  friend class Arg;
  friend class Verb;
  struct Flag {
    std::string name;
    std::function<std::string()> value;  // what its variable holds now
    std::string by_default;
    bool counts = true;
  };
  std::string verb_;
  std::vector<Flag> flags_;
};

// One argument of a verb. All its names, types and sentences show in --help.
class Arg {
 public:
  Arg& Required();
  Arg& Hidden();          // taken, but not shown in --help
  Arg& ChangesNothing();  // in the output: where it is written, verbosity, ...
  Arg& OneOf(const std::vector<std::string>& values);
  Arg& Excludes(const std::string& flag);  // an earlier one of the same verb
  Arg& Needs(const std::string& flag);     // the same
  Arg& SetsWhenGiven(bool& given);         // set if the flag was given, with any value

 private:
  friend class Verb;
  Arg(CLI::App* app, CLI::Option* option, Settings* settings)
      : app_(app), option_(option), settings_(settings), flag_(settings->flags_.size()) {}
  CLI::App* app_;
  CLI::Option* option_;
  Settings* settings_;
  size_t flag_;  // its first one among the settings, which may be the next
};

// Which of the flags about reading a model --help shows. All verbs take them.
enum class Reads { kModel, kNothing };

// A subcommand, with -q and -v. This class hides the library of the parser, which takes long to
// compile. Variables that receive values must live as long as the app.
class Verb {
 public:
  Verb(CLI::App& app, Session& session, const std::string& name, const std::string& description,
       const std::string& footer, Reads reads = Reads::kModel);
  // The flags before the verb: those that all verbs have.
  Verb(CLI::App& app, Session& session);
  // "MODEL" is a positional argument, "-o,--output" a flag with one value.
  Arg Text(const std::string& flag, std::string& value, const std::string& type,
           const std::string& description);
  // A flag with one value each time, that may be given any number of times; or a positional
  // argument of any number of values.
  Arg Repeated(const std::string& flag, std::vector<std::string>& values, const std::string& type,
               const std::string& description);
  // "--raw" sets, "--types,!--no-types" sets or clears.
  Arg Flag(const std::string& flag, bool& value, const std::string& description);
  // The following flags are listed under this line in --help.
  void Group(const std::string& title) { group_ = title; }
  // The same for flags of formats (help.h), of readers or of writers.
  void Group(const std::string& title, bool reading, const std::vector<std::string>& formats);
  // The function to run for this verb.
  void Do(std::function<int()> action);
  // Of all flags, also later ones; read it after the command line was parsed.
  std::shared_ptr<const Settings> settings() const { return settings_; }

 private:
  void AddCommonFlags(Reads reads);
  Arg Added(CLI::Option* option, const std::string& flag, std::function<std::string()> value);

  CLI::App* app_;
  Session& session_;
  std::string group_;
  std::shared_ptr<Settings> settings_ = std::make_shared<Settings>();
};

// A verb that runs a function of its flags.
template <typename Flags>
class VerbOf : public Verb {
 public:
  VerbOf(CLI::App& app, Session& session, const std::string& name, const std::string& description,
         const std::string& footer, int (*run)(const Flags& flags, Session& session),
         Reads reads = Reads::kModel)
      : VerbOf(app, session, name, description, footer, run, reads, std::make_shared<Flags>()) {}

  Flags& flags;

 private:
  VerbOf(CLI::App& app, Session& session, const std::string& name, const std::string& description,
         const std::string& footer, int (*run)(const Flags& flags, Session& session), Reads reads,
         const std::shared_ptr<Flags>& own)
      : Verb(app, session, name, description, footer, reads), flags(*own) {
    Do([own, run, &session] { return run(*own, session); });
  }
};

}  // namespace x2ir::cli

#endif  // X2IR_CLI_PROGRAM_H_
