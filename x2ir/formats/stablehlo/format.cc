// The formats of StableHLO: "stablehlo", text of MLIR, and "stablehlo_bytecode", portable
// artifacts.
#include "x2ir/formats/format.h"

#include <algorithm>

#include "x2ir/formats/mlir/bytecode.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/formats/stablehlo/jax_export.h"
#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/formats/stablehlo/vhlo.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// What readers of all releases since September 2024 take.
constexpr char kUsualVersion[] = "1.7.0";

// Binary files of other formats may hold these words, in names.
Match RecognizeStablehlo(const Candidate& file) {
  const std::string_view text = file.text();
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < ' ' && (c < '\t' || c > '\r');
  };
  if (std::ranges::any_of(text, is_control)) return Match::kNo;
  for (const std::string_view word : {"stablehlo.", "func.func", "vhlo.", "mhlo.", "chlo."}) {
    if (text.find(word) != text.npos) return Match::kCertain;
  }
  return Match::kNo;
}

absl::StatusOr<Model> ReadStablehlo(const Source& source, const ReadRequest& request) {
  X2IR_ASSIGN_OR_RETURN(const BlobPtr blob, source.Open());
  mlir::Module module;
  if (mlir::IsBytecode(blob->view())) {
    X2IR_ASSIGN_OR_RETURN(module, mlir::ReadBytecode(blob));
    X2IR_RETURN_IF_ERROR(stablehlo::FromVhlo(module));
  } else {
    X2IR_ASSIGN_OR_RETURN(module, mlir::ParseText(blob->view()));
  }
  return stablehlo::GraphOf(
      module, {.entry = request.options.Text("entry"), .checks = request.options.Flag("checks")});
}

absl::Status WriteStablehloText(const Model& model, const Sink& sink,
                                const FormatOptions& options) {
  X2IR_ASSIGN_OR_RETURN(mlir::Module module, stablehlo::ModuleOf(model));
  X2IR_RETURN_IF_ERROR(stablehlo::WithStructs(module));
  return mlir::WriteText(module, {.resources = options.Flag("resources")}, sink);
}

absl::Status WriteStablehloBytecode(const Model& model, const Sink& sink,
                                    const FormatOptions& options) {
  const std::string& text = options.Text("target_version");
  const auto version = stablehlo::ParseVersion(text.empty() ? kUsualVersion : text);
  if (!version.ok()) {
    return OptionError("target_version", std::string(version.status().message()));
  }
  X2IR_ASSIGN_OR_RETURN(mlir::Module module, stablehlo::ModuleOf(model));
  X2IR_RETURN_IF_ERROR(stablehlo::ToVhlo(module, *version));
  const auto [major, minor, patch] = *version;
  return mlir::WriteBytecode(module,
                             {.version = stablehlo::BytecodeVersion(*version),
                              .producer = StrCat("StableHLO_v", major, ".", minor, ".", patch)},
                             sink);
}

const std::vector<OptionDef>& ReadOptions() {
  static const auto& options = *new std::vector<OptionDef>{
      OptionDef::Text("entry", "NAME",
                      "Which function of a module is the model: main, or the only public one, "
                      "unless given"),
      OptionDef::Flag("checks", "What the checks of a program compare are outputs, too")};
  return options;
}

[[maybe_unused]] const bool kStablehloFormats =
    RegisterFormat({
        .name = "stablehlo",
        .dialect = stablehlo::kDialect,
        .extensions = {".mlir"},
        .doc = "Programs of StableHLO and CHLO (JAX, XLA) as text of MLIR",
        .recognize =
            [](const Candidate& file) {
              return file.text().find("oneflow.job") == std::string_view::npos
                         ? RecognizeStablehlo(file)
                         : Match::kNo;
            },
        .read_options = ReadOptions(),
        .read = ReadStablehlo,
        .write_options = {OptionDef::Flag("resources",
                                          "Weights are at the end of the file, as resources")},
        .write = WriteStablehloText,
    }) &&
    RegisterFormat({
        .name = "stablehlo_bytecode",
        .dialect = stablehlo::kDialect,
        .extensions = {".mlirbc", ".mlir.bc"},
        .doc = "Portable artifacts of StableHLO (MLIR bytecode)",
        .recognize =
            [](const Candidate& file) {
              return !file.is_folder && mlir::IsBytecode(file.text()) ? Match::kCertain
                                                                      : Match::kNo;
            },
        .read_options = ReadOptions(),
        .read = ReadStablehlo,
        .write_options = {OptionDef::Text(
            "target_version", "V",
            StrCat("The release of StableHLO that shall read it, ", kUsualVersion, " by default"))},
        .write = WriteStablehloBytecode,
    }) &&
    RegisterFormat({
        .name = "jax_export",
        .dialect = stablehlo::kDialect,
        .extensions = {".jax_export"},
        .doc = "Functions of JAX as jax.export serializes them",
        // The file has no identifier, and the head of a large one does not reach the module.
        .recognize =
            [](const Candidate& file) {
              const bool whole = !file.is_folder && file.head.size() == file.size;
              return whole && stablehlo::IsJaxExport(file.text()) ? Match::kCertain : Match::kNo;
            },
        .read_options = ReadOptions(),
        .read = [](const Source& source, const ReadRequest& request) -> absl::StatusOr<Model> {
          X2IR_ASSIGN_OR_RETURN(const BlobPtr blob, source.Open());
          X2IR_ASSIGN_OR_RETURN(const mlir::Module module, stablehlo::ReadJaxModule(blob));
          return stablehlo::GraphOf(module, {.entry = request.options.Text("entry"),
                                             .checks = request.options.Flag("checks")});
        },
    });

}  // namespace
}  // namespace x2ir
