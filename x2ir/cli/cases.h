// Inputs for the verbs that run models: those of an io file, or random ones.
#ifndef X2IR_CLI_CASES_H_
#define X2IR_CLI_CASES_H_

#include <optional>
#include <string>
#include <vector>

#include "x2ir/cli/option_flags.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/session.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/inspect/verify.h"

namespace x2ir::cli {

struct CaseFlags {
  std::string io, random, seed;
  std::vector<std::string> cases;
  OptionFlags shapes;
  bool is_random() const { return io.empty(); }
  std::vector<std::string> CaseNames() const;  // of --cases
};
// --io and --cases, --random and --seed, --shape (shape_flags.h).
void AddCaseFlags(Verb& verb, CaseFlags& flags, const std::string& about_io);

// The model as IR, for these cases: LoadAsIr (load.h), with the shapes that --shape gives inputs and
// the types that the io file has.
std::optional<Model> LoadToRun(Session& session, Progress& progress, const std::string& path,
                               const CaseFlags& flags, int* code);

// nullopt on failure: the error was printed, and *code is the exit code. Without an io file there
// are as many random cases as --random says, else one; *note describes them. `hint`: a hint for the
// case that the io file does not match the graph.
std::optional<std::vector<IoCase>> CasesFor(const CaseFlags& flags, const Graph& graph,
                                            Session& session, Progress& progress, std::string* note,
                                            int* code, const std::string& hint = "");

struct ToleranceFlags {
  std::string rtol, atol, metric, at_least, at_most;
};
// --rtol and --atol; --metric with --at-least or --at-most.
void AddToleranceFlags(Verb& verb, ToleranceFlags& flags);
absl::Status ParseTolerances(const ToleranceFlags& flags, VerifyOptions* options);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_CASES_H_
