// What both programs do: parse the command line, run a verb, end with the right exit code.
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

// Keeps a graph for as long as the program runs: one that is about to end need not take a large
// graph apart before it, which is a good part of what it does.
void KeepUntilTheEnd(std::shared_ptr<Graph> graph);

// One argument of a verb. All its names, types and sentences show in --help.
class Arg {
 public:
  Arg& Required();
  Arg& OneOf(const std::vector<std::string>& values);
  Arg& Excludes(const std::string& flag);  // an earlier one of the same verb
  Arg& Needs(const std::string& flag);     // the same
  Arg& SetsWhenGiven(bool& given);         // said, whatever was said

 private:
  friend class Verb;
  Arg(CLI::App* app, CLI::Option* option) : app_(app), option_(option) {}
  CLI::App* app_;
  CLI::Option* option_;
};

// A subcommand, with -q and -v. The parser's library stays behind this: it takes long to
// compile. Variables that values go to must live as long as the app.
class Verb {
 public:
  Verb(CLI::App& app, Session& session, const std::string& name, const std::string& description,
       const std::string& footer);
  // "MODEL" is a positional argument, "-o,--output" a flag with one value.
  Arg Text(const std::string& flag, std::string& value, const std::string& type,
           const std::string& description);
  // A flag with one value each time, that may be given any number of times.
  Arg Repeated(const std::string& flag, std::vector<std::string>& values, const std::string& type,
               const std::string& description);
  // "--raw" sets, "--types,!--no-types" sets or clears.
  Arg Flag(const std::string& flag, bool& value, const std::string& description);
  // What to do when this verb was asked for.
  void Do(std::function<int()> action);

 private:
  CLI::App* app_;
  Session& session_;
};

}  // namespace x2ir::cli

#endif  // X2IR_CLI_PROGRAM_H_
