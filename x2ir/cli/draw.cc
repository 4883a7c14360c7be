// x2ir draw: a model's graph as a picture.
#include "x2ir/inspect/draw.h"

#include <string>

#include "x2ir/cli/files.h"
#include "x2ir/cli/load.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

constexpr char kDrawFooter[] =
    "The picture shows every node; for more than about 100, x2ir view is easier to read.\n"
    "\n"
    "Examples:\n"
    "  x2ir draw model.onnx -o model.svg             # for any browser\n"
    "  x2ir draw model.onnx -o model.dot             # for Graphviz\n"
    "  x2ir draw model.onnx | dot -Tpng > model.png";

constexpr size_t kMaxOnScreen = 100;  // nodes

struct DrawFlags {
  std::string model, out;
  bool raw = false;
};

int RunDraw(const DrawFlags& given, Session& session) {
  DrawFlags flags = given;
  if (flags.out == "-") flags.out.clear();  // standard output, as without -o
  const bool svg = HasExtension(flags.out, ".svg");
  if (!flags.out.empty()) {
    if (!svg && !HasExtension(flags.out, ".dot")) {
      return session.Usage(StrCat("-o '", flags.out, "': expected FILE.dot or FILE.svg"));
    }
    if (absl::Status s = CheckOutputs({flags.model}, {}, {flags.out}); !s.ok()) {
      return session.Usage(s);
    }
  }
  int code = kDone;
  Progress progress(session, "reading");
  const std::optional<Model> model = LoadToLookAt(session, progress, flags.model, flags.raw, &code);
  if (!model) return code;
  if (!flags.out.empty()) {
    if (absl::Status s = CheckOutputs({}, MappedFiles(*model), {flags.out}); !s.ok()) {
      progress.Stop();
      return session.Usage(s);
    }
  }
  progress.SetWhat("drawing");
  const std::string picture = svg ? ToSvg(*model->graph) : ToDot(*model->graph);
  const absl::Status status =
      flags.out.empty() ? absl::OkStatus() : WriteTextFile(flags.out, picture);
  progress.Stop();
  if (!status.ok()) return session.Fail(status, Phase::kWriting);
  if (flags.out.empty()) {
    session.Print(picture);
  } else if (!session.quiet) {
    session.Print(StrCat("wrote ", flags.out, "\n"));
    const size_t nodes = model->graph->TotalNodes();
    if (nodes > kMaxOnScreen) {
      session.Print(StrCat("  ", nodes, " nodes are more than a screen shows: x2ir view ",
                           flags.model, " shows them in groups that open, with a search\n"));
    }
  }
  return kDone;
}

}  // namespace

void AddDraw(CLI::App& app, Session& session) {
  VerbOf verb(app, session, "draw", "Draw a model's graph: SVG, or Graphviz's text", kDrawFooter,
              RunDraw);
  verb.Text("MODEL", verb.flags.model, "", "The model file").Required();
  verb.Text("-o,--output", verb.flags.out, "FILE.dot|.svg",
            "The picture; by default Graphviz text goes to standard output");
  verb.Flag("--raw", verb.flags.raw, "The graph as the file has it, not converted to IR");
}

}  // namespace x2ir::cli
