// Registers the format "relay"; reads and writes its files.
#include "x2ir/formats/format.h"

#include <algorithm>
#include <utility>

#include "x2ir/formats/nnvm/param_list.h"
#include "x2ir/formats/relay/graph_maker.h"
#include "x2ir/formats/relay/node_json.h"
#include "x2ir/formats/relay/printers.h"
#include "x2ir/formats/relay/program_of_graph.h"
#include "x2ir/formats/relay/relay.h"
#include "x2ir/formats/relay/text_parser.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace relay {

bool LooksLikeJson(std::string_view head) {
  const size_t start = head.find_first_not_of(" \t\r\n");
  return start != head.npos && head[start] == '{' && head.find("\"nodes\"") != head.npos &&
         head.find("\"type_key\"") != head.npos;
}

bool LooksLikeText(std::string_view head) {
  const size_t start = head.find_first_not_of(" \t\r\n");
  if (start == head.npos) return false;
  head.remove_prefix(start);
  if (head.starts_with("#[version")) return true;
  const bool version = head.size() > 6 && head[0] == 'v' && head.substr(1, 4) == "0.0.";
  return version && head[5] >= '0' && head[5] <= '9';
}

}  // namespace relay
namespace {

std::string ParamsBeside(const std::string& name) {
  const size_t slash = name.rfind('/');
  const std::string params = RelayParamsOf(name);
  return slash == name.npos ? params : params.substr(slash + 1);
}

absl::StatusOr<StringMap<Tensor>> ReadParams(const Source& source, const std::string& given) {
  StringMap<Tensor> params;
  BlobPtr file;
  if (!given.empty()) {
    X2IR_ASSIGN_OR_RETURN(file, source.OpenGiven(given));
  } else if (source.has_files()) {
    X2IR_ASSIGN_OR_RETURN(file, source.FindBeside(ParamsBeside(source.name())));
  }
  if (!file) return params;
  auto list = nnvm::ReadParamList(file);
  if (!list.ok()) return Annotate(list.status(), StrCat("'", file->path(), "'"));
  for (NamedTensor& entry : *list) params[entry.name] = std::move(entry.tensor);
  return params;
}

Match RecognizeRelay(const Candidate& file) {
  if (file.is_folder) return Match::kNo;
  if (relay::LooksLikeText(file.text())) return Match::kCertain;
  return relay::LooksLikeJson(file.text()) ? Match::kCertain : Match::kNo;
}

// Whether a list of parameters was written for the program that is replaced.
bool BelongsToProgram(const std::string& path, const std::string& params) {
  const auto list = Blob::Open(params);
  if (!list.ok() || !nnvm::ReadParamList(*list).ok()) return false;
  const auto program = Blob::Open(path);
  if (!program.ok()) return false;
  const std::string_view head = (*program)->view().substr(0, 4096);
  return relay::LooksLikeText(head) || relay::LooksLikeJson(head);
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "relay",
    .dialect = relay::kDialect,
    .extensions = {".relay", ".rly", ".relay.json"},
    .doc = "Programs of Relay (TVM), as text or JSON",
    .recognize = RecognizeRelay,
    .read_options = {ParamsOption()},
    .read = ReadWithParams(ReadRelay),
    .write_options = {OptionDef::Flag("separate_params",
                                      "Writes constants to a list of parameters beside the "
                                      "program (net.params)"),
                      ForceOption()},
    .write =
        [](const Model& model, const Sink& sink, const FormatOptions& options) {
          const bool params = options.Flag("separate_params");
          if (params && sink.is_path() && !options.Flag("force")) {
            const std::string list = RelayParamsOf(sink.name());
            const absl::Status free =
                CheckSideFile(list, [&] { return BelongsToProgram(sink.name(), list); });
            if (!free.ok()) return free;
          }
          return WriteRelay(model, sink,
                            {.json = sink.name().ends_with(".json"), .params = params});
        },
    .companions =
        [](const std::string& path) { return std::vector<std::string>{RelayParamsOf(path)}; },
});

}  // namespace

std::string RelayParamsOf(const std::string& path) {
  for (const std::string_view ending : {".relay.json", ".relay", ".rly", ".json"}) {
    if (path.size() > ending.size() && path.ends_with(ending)) {
      return path.substr(0, path.size() - ending.size()) + ".params";
    }
  }
  return path + ".params";
}

absl::StatusOr<Model> ReadRelay(const Source& source, const RelayReadOptions& options) {
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, source.Open());
  X2IR_ASSIGN_OR_RETURN(const StringMap<Tensor> params, ReadParams(source, options.params));
  Model model;
  model.source_dialect = relay::kDialect;
  model.producer_name = "tvm";
  model.SetOpset("", 1);
  std::unique_ptr<relay::Program> program;
  if (relay::LooksLikeJson(file->view().substr(0, 4096))) {
    X2IR_ASSIGN_OR_RETURN(const auto json, relay::NodeJson::Parse(file->view()));
    X2IR_ASSIGN_OR_RETURN(program, relay::ProgramOf(*json));
    model.producer_version = json->version();
  } else {
    X2IR_ASSIGN_OR_RETURN(program, relay::ParseText(file->view()));
  }
  X2IR_RETURN_IF_ERROR(relay::MakeGraph(*program, params, model.graph.get()));
  return model;
}

absl::Status WriteRelay(const Model& model, const Sink& sink, const RelayWriteOptions& options) {
  std::vector<NamedTensor> params;
  X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<relay::Program> program,
                        relay::ProgramOfGraph(*model.graph, options.params ? &params : nullptr));
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
  if (options.json) {
    X2IR_ASSIGN_OR_RETURN(const relay::JsonText json, relay::JsonOf(*program));
    X2IR_RETURN_IF_ERROR(relay::AppendJson(json, file));
  } else {
    X2IR_ASSIGN_OR_RETURN(const relay::ProgramText text, relay::TextOf(*program));
    X2IR_RETURN_IF_ERROR(file.Append(text.text));
    if (!text.constants.empty()) {
      X2IR_RETURN_IF_ERROR(file.Append("\n#[metadata]\n"));
      X2IR_RETURN_IF_ERROR(relay::AppendJson(relay::MetadataOf(text.constants), file));
    }
  }
  if (params.empty()) return file.Commit();
  X2IR_ASSIGN_OR_RETURN(AtomicFile list, sink.Create(RelayParamsOf(sink.name())));
  X2IR_RETURN_IF_ERROR(nnvm::WriteParamList(params, list));
  AtomicFile* const files[] = {&list, &file};
  return AtomicFile::CommitAll(files);
}

}  // namespace x2ir
