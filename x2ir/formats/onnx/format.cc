// Registers the format "onnx".
#include "x2ir/formats/format.h"

#include <unistd.h>

#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/onnx/files_internal.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using External = OnnxWriteOptions::External;
const struct {
  const char* name;
  External external;
} kExternals[] = {{"auto", External::kAuto},
                  {"always", External::kAlways},
                  {"never", External::kNever},
                  {"reference", External::kReference}};

}  // namespace

namespace onnx_format {

absl::StatusOr<OnnxWriteOptions> WriteOptionsOf(const FormatOptions& options, const Sink& sink) {
  OnnxWriteOptions write;
  for (const auto& row : kExternals) {
    if (options.Text("external_data") == row.name) write.external = row.external;
  }
  if (write.external == External::kReference && !sink.is_path()) {
    return OptionError("external_data", "only a file can refer to other files");
  }
  write.max_external = static_cast<uint64_t>(options.Int("external_data_limit").value_or(0));
  write.force = options.Flag("force");
  return write;
}

// External data; those files that are there already would be overwritten.
std::vector<std::string> Companions(const std::string& path) {
  std::vector<std::string> files = {StrCat(path, ".data")};
  for (int i = 2;; ++i) {
    const std::string next = StrCat(path, ".data.", i);
    if (::access(next.c_str(), F_OK) != 0) return files;
    files.push_back(next);
  }
}

std::vector<OptionDef> ModelOptionDefs() {
  return {{.name = "opset",
           .type = OptionDef::kInt,
           .help = "The opset to write",
           .placeholder = "N",
           .min = 1},
          OptionDef::List("extra_opsets", "DOMAIN:V,...", "The opsets of other domains"),
          {.name = "ir_version",
           .type = OptionDef::kInt,
           .help = "The file version to write; by default the oldest one that can hold the model",
           .placeholder = "N",
           .min = 1},
          OptionDef::Flag(
              "contrib",
              "Write ONNX Runtime's own fused ops (domain com.microsoft) where one replaces "
              "several nodes; other runtimes do not have these ops"),
          OptionDef::Flag(
              "cpu_kernels",
              "Write for ONNX Runtime on CPUs: ops that have no kernel of bfloat16 or of 8-bit "
              "floats there compute in float32, between casts, also in models of bfloat16")};
}

std::vector<OptionDef> WriteOptionDefs() {
  std::vector<OptionDef> options = ModelOptionDefs();
  options.push_back(
      {.name = "external_data",
       .type = OptionDef::kChoice,
       .help = "Put weights into OUT.onnx.data: only where the file would be too large for "
               "protobuf (default), always, or never; or name the files that they are in "
               "already, which must be in OUT's folder or below",
       .choices = {"auto", "always", "never", "reference"}});
  options.push_back(OptionDef::Size("external_data_limit", "SIZE",
                                    "The most that OUT.onnx.data may hold, as in 2GB; more goes to "
                                    "OUT.onnx.data.2 and so on"));
  options.push_back(ForceOption());
  return options;
}

}  // namespace onnx_format

namespace {

absl::Status WriteOnnxFile(const Model& model, const Sink& sink, const FormatOptions& options) {
  X2IR_ASSIGN_OR_RETURN(const OnnxWriteOptions write, onnx_format::WriteOptionsOf(options, sink));
  return WriteOnnx(model, sink, write);
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "onnx",
    .dialect = "onnx",
    .extensions = {".onnx"},
    .doc = "Models of ONNX, with their external data",
    // There is no magic number.
    .recognize =
        [](const Candidate& file) {
          return !file.is_folder && LooksLikeOnnx(file.head, file.size) ? Match::kPossible
                                                                        : Match::kNo;
        },
    .names_files = true,
    .read = [](const Source& source, const ReadRequest&) { return ReadOnnx(source); },
    .write_options = onnx_format::WriteOptionDefs(),
    .write = WriteOnnxFile,
    .companions = onnx_format::Companions,
    .input_defaults = true,
    .metadata = true,
});

}  // namespace
}  // namespace x2ir
