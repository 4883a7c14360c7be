// The format "stablehlo": text, and later bytecode.
#include "x2ir/formats/format.h"

#include "x2ir/formats/mlir/text.h"
#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

Match RecognizeStablehlo(const Candidate& file) {
  const std::string_view text = file.text();
  for (const std::string_view word : {"stablehlo.", "func.func", "vhlo.", "mhlo.", "chlo."}) {
    if (text.find(word) != text.npos) {
      return text.find("oneflow.job") == text.npos ? Match::kCertain : Match::kNo;
    }
  }
  return Match::kNo;
}

absl::StatusOr<Model> ReadStablehlo(const Source& source, const ReadRequest& request) {
  X2IR_ASSIGN_OR_RETURN(const BlobPtr blob, source.Open());
  X2IR_ASSIGN_OR_RETURN(const mlir::Module module, mlir::ParseText(blob->view()));
  stablehlo::GraphOptions options;
  options.entry = request.options.Text("entry");
  options.checks = request.options.Flag("checks");
  return stablehlo::GraphOf(module, options);
}

absl::Status WriteStablehlo(const Model& model, const Sink& sink, const FormatOptions& options) {
  X2IR_ASSIGN_OR_RETURN(mlir::Module module, stablehlo::ModuleOf(model));
  X2IR_RETURN_IF_ERROR(stablehlo::WithStructs(module));
  return mlir::WriteText(module, {.resources = options.Flag("resources")}, sink);
}

[[maybe_unused]] const bool kStablehloFormat = RegisterFormat(Format{
    .name = "stablehlo",
    .dialect = stablehlo::kDialect,
    .extensions = {".mlir"},
    .doc = "StableHLO: text of MLIR",
    .recognize = RecognizeStablehlo,
    .read_options = {OptionDef::Text("entry", "NAME",
                                     "Which function of a module is the model: main, or the only "
                                     "public one, unless given"),
                     OptionDef::Flag("checks",
                                     "What the checks of a program compare are outputs, too")},
    .read = ReadStablehlo,
    .write_options = {OptionDef::Flag("resources",
                                      "Weights are at the end of the file, as resources")},
    .write = WriteStablehlo,
});

}  // namespace
}  // namespace x2ir
