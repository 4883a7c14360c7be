// Registers the format "ir".
#include "x2ir/formats/format.h"

#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/ir/ir.h"
#include "x2ir/formats/ir/ir_internal.h"
#include "x2ir/graph_wrapper/option_error.h"

namespace x2ir {
namespace {

absl::Status WriteIrFile(const Model& model, const Sink& sink, const FormatOptions& options) {
  const bool reference = options.Text("weights") == "reference";
  if (reference && !sink.is_path()) {
    return OptionError("weights", "only a file can refer to other files");
  }
  return WriteIr(model, sink, {.reference_weights = reference, .force = options.Flag("force")});
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "ir",
    .dialect = std::string(kIrDialect),
    .extensions = {".json"},
    .doc = "x2ir's own: the graph as JSON, weights as safetensors beside it",
    .recognize =
        [](const Candidate& file) { return LooksLikeIr(file.head) ? Match::kCertain : Match::kNo; },
    .names_files = true,
    .read = [](const Source& source, const ReadRequest&) { return ReadIr(source); },
    .write_options =
        {{.name = "layout",
          .type = OptionDef::kChoice,
          .help = "Where passes run: the layout that convolutions, pools and norms get (keep: "
                  "each its own); inputs and outputs keep theirs",
          .choices = {"keep", "channels_first", "channels_last"}},
         {.name = "weights",
          .type = OptionDef::kChoice,
          .help = "Copy the weights beside the IR (default), or name byte ranges of the files that "
                  "they are in",
          .choices = {"copy", "reference"}},
         ForceOption()},
    .write = WriteIrFile,
    .companions = [](const std::string& path) -> std::vector<std::string> {
      return {ir::WeightsPath(path)};
    },
    .input_defaults = true,
    .metadata = true,
});

}  // namespace
}  // namespace x2ir
