// The verbs of the programs, one file each. Each adds its subcommand to an app; parsing then sets
// session.verb to the function to run.
#ifndef X2IR_CLI_VERBS_H_
#define X2IR_CLI_VERBS_H_

#include "x2ir/cli/session.h"

namespace CLI {
class App;
}

namespace x2ir::cli {

void AddConvert(CLI::App& app, Session& session);
void AddFormats(CLI::App& app, Session& session);
void AddShow(CLI::App& app, Session& session);
void AddInfo(CLI::App& app, Session& session);
void AddDraw(CLI::App& app, Session& session);
void AddView(CLI::App& app, Session& session);
void AddOps(CLI::App& app, Session& session);
void AddRun(CLI::App& app, Session& session);
void AddVerify(CLI::App& app, Session& session);
void AddCompare(CLI::App& app, Session& session);
void AddDiff(CLI::App& app, Session& session);
void AddExport(CLI::App& app, Session& session);

// The program x2ir with its verbs: the exit code. It takes over the process (signals, limits,
// standard streams).
int RunX2ir(int argc, char** argv);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_VERBS_H_
