// x2ir ops: which ops are supported, at which opsets.
#include <limits>
#include <optional>
#include <string>

#include "x2ir/cli/flags.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/inspect/ops_table.h"

namespace x2ir::cli {
namespace {

constexpr char kOpsFooter[] =
    "With NAME all that is known of that op of the IR: what it computes, operands, attributes\n"
    "with their defaults and meanings, element types, and what it is in each dialect.\n"
    "\n"
    "Else a table, with a row for each op of the IR: the foreign ops that it maps to, and their\n"
    "opsets; whether they are imported and exported; what expresses it by other ops; whether it\n"
    "can be run. With --dialect onnx a row for each op of ONNX: what it is in IR, the opsets at\n"
    "which it exists, is imported and exported, what says it with other ops at older opsets;\n"
    "with --dialect tf or torch the ops that are read, and the main IR op of each.\n"
    "\n"
    "Examples:\n"
    "  x2ir ops conv\n"
    "  x2ir ops | grep -i conv\n"
    "  x2ir ops --reference --markdown               # docs/ir_ops.md\n"
    "  x2ir ops --dialect onnx --opset 11\n"
    "  x2ir ops --dialect onnx --markdown            # docs/supported_ops.md\n"
    "  x2ir ops --json | jq '.[] | select(.evaluates | not) | .op'";

struct OpsFlags {
  Strings names;
  std::string dialect, opset;
  bool reference = false;
  bool json = false;
  bool markdown = false;
};

int RunOps(const OpsFlags& flags, Session& session) {
  std::optional<int> opset;
  if (!flags.opset.empty()) {
    const auto n = ParseInt("--opset", flags.opset, 1, std::numeric_limits<int32_t>::max());
    if (!n.ok()) return session.Usage(n.status());
    opset = static_cast<int>(*n);
  }
  const absl::StatusOr<OpsTable> table = MakeOpsTable(flags.dialect, opset, flags.names);
  if (!table.ok()) return session.Usage(table.status());
  const bool reference = flags.reference || !flags.names.empty();
  session.Print(flags.json                    ? table->ToJson()
                : flags.markdown && reference ? table->ReferenceMarkdown()
                : flags.markdown              ? table->ToMarkdown()
                : reference                   ? table->ReferenceText()
                                              : table->ToText());
  return kDone;
}

}  // namespace

void AddOps(CLI::App& app, Session& session) {
  VerbOf verb(app, session, "ops", "Print the table of supported ops, or the description of one op",
              kOpsFooter, RunOps, Reads::kNothing);
  verb.Repeated("NAME", verb.flags.names, "", "An op of the IR");
  verb.Text("--dialect", verb.flags.dialect, "NAME", "The ops of this dialect: onnx, tf, torch");
  verb.Text("--opset", verb.flags.opset, "N", "Only what holds at this opset").Needs("--dialect");
  verb.Flag("--reference", verb.flags.reference,
            "The full description of each op instead of a table");
  verb.Flag("--json", verb.flags.json, "Print JSON");
  verb.Flag("--markdown", verb.flags.markdown, "In Markdown").Excludes("--json");
}

}  // namespace x2ir::cli
