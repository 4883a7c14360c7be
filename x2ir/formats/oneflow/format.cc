// Registers the formats "oneflow_graph" and "oneflow_job". ("oneflow" is OneFlow's Python, which is
// written alone: formats/python.)
#include "x2ir/formats/format.h"

#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/module_passes.h"
#include "x2ir/formats/oneflow/oneflow.h"
#include "x2ir/formats/oneflow/schema.h"

namespace x2ir {
namespace {

OptionDef SnapshotOption() {
  return OptionDef::Text("snapshot", "FOLDER",
                         "The folder that has the variables' folders; by default that of the file");
}

Match RecognizeGraph(const Candidate& file) {
  const bool is_one = file.is_folder ? IsOneflowFolder(file.path) : LooksLikeOneflowMlir(file.head);
  return is_one ? Match::kCertain : Match::kNo;
}

[[maybe_unused]] const bool kRegistered =
    RegisterFormat({
        .name = "oneflow_graph",
        .dialect = std::string(oneflow::kDialect),
        .extensions = {".mlir"},
        .only_by_name = true,  // StableHLO has the same
        .doc = "Graphs of OneFlow as oneflow.save leaves them, a folder for each variable",
        .recognize = RecognizeGraph,
        .read_options = {SnapshotOption(),
                         OptionDef::Text("job", "NAME",
                                         "Which job of a module that holds several")},
        .names_files = true,
        .read =
            [](const Source& source, const ReadRequest& request) {
              return ReadOneflowMlir(source, {.job = request.options.Text("job"),
                                              .snapshot = request.options.Text("snapshot")});
            },
        .write_options = {ForceOption()},
        .write =
            [](const Model& model, const Sink& sink, const FormatOptions& options) {
              return WriteOneflowMlir(model, sink, options.Flag("force"));
            },
        .companions = OneflowVariableFiles,
        .passes = PassesThatKeepLayers,
    }) &&
    RegisterFormat({
        .name = "oneflow_job",
        .dialect = std::string(oneflow::kDialect),
        .extensions = {".job"},
        .doc = "Jobs of OneFlow (protobuf or its text), a folder for each variable",
        .recognize =
            [](const Candidate& file) {
              return !file.is_folder && LooksLikeOneflowJob(file.head, file.size) ? Match::kCertain
                                                                                  : Match::kNo;
            },
        .read_options = {SnapshotOption()},
        .names_files = true,
        .read =
            [](const Source& source, const ReadRequest& request) {
              return ReadOneflowJob(source,
                                    {.job = "", .snapshot = request.options.Text("snapshot")});
            },
        .write_options = {ForceOption()},
        .write =
            [](const Model& model, const Sink& sink, const FormatOptions& options) {
              return WriteOneflowJob(model, sink, options.Flag("force"));
            },
        .companions = OneflowVariableFiles,
        .passes = PassesThatKeepLayers,
    });

}  // namespace
}  // namespace x2ir
