// x2ir show: a model's graph as text to read.
#include <limits>
#include <string>

#include "x2ir/cli/flags.h"
#include "x2ir/cli/load.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/wrap.h"

namespace x2ir::cli {
namespace {

constexpr char kShowFooter[] =
    "Inputs, and each node with types and attributes; weights are named, small constants have\n"
    "their elements. Long lines are broken; with --width 0 each node has one line.\n"
    "\n"
    "Examples:\n"
    "  x2ir show model.onnx | less\n"
    "  x2ir show model.onnx --width 0 | grep conv\n"
    "  x2ir show model.onnx --raw                    # as the file has it, not converted\n"
    "  x2ir show model.json --names --max-constant 100";

constexpr int64_t kShowWidth = 100;

struct ShowFlags {
  std::string model, max_constant, width;
  bool raw = false;
  bool types = true;
  bool names = false;
};

int RunShow(const ShowFlags& flags, Session& session) {
  TextOptions options;
  options.types = flags.types;
  options.node_names = flags.names;
  if (!flags.max_constant.empty()) {
    const auto n =
        ParseInt("--max-constant", flags.max_constant, 0, std::numeric_limits<int64_t>::max());
    if (!n.ok()) return session.Usage(n.status());
    options.max_constant_elements = *n;
  }
  int64_t width = kShowWidth;
  if (!flags.width.empty()) {
    const auto n = ParseInt("--width", flags.width, 0, std::numeric_limits<int32_t>::max());
    if (!n.ok()) return session.Usage(n.status());
    width = *n;
  }
  int code = kDone;
  Progress progress(session, "reading");
  const std::optional<Model> model = LoadToLookAt(session, progress, flags.model, flags.raw, &code);
  if (!model) return code;
  std::string text = ToText(*model->graph, options);
  if (width != 0) text = WrapGraphText(text, static_cast<size_t>(width));
  progress.Stop();
  session.Print(text);
  if (!text.ends_with('\n')) session.Print("\n");
  return kDone;
}

}  // namespace

void AddShow(CLI::App& app, Session& session) {
  VerbOf verb(app, session, "show", "Print a model's graph as text", kShowFooter, RunShow);
  verb.Text("MODEL", verb.flags.model, "", "The model file").Required();
  verb.Flag("--raw", verb.flags.raw, "The graph as the file has it, not converted to IR");
  verb.Flag("--types,!--no-types", verb.flags.types, "Print types of results (default), or not");
  verb.Flag("--names", verb.flags.names, "Print names of nodes");
  verb.Text("--max-constant", verb.flags.max_constant, "N",
            "Print the elements of constants of up to N elements (8)");
  verb.Text("--width", verb.flags.width, "N",
            "Break lines of more than N characters (100); 0: never");
}

}  // namespace x2ir::cli
