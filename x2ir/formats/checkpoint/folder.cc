// Folders of Hugging Face: config.json, and model.safetensors or its shards.
#include <string>
#include <utility>

#include "x2ir/formats/checkpoint/checkpoint.h"
#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/safetensors/checkpoint.h"
#include "x2ir/graph_wrapper/files_read.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace checkpoint {
namespace {

constexpr char kConfig[] = "config.json";
constexpr uint64_t kMaxConfig = uint64_t{1} << 24;  // bytes; real ones have some thousands

absl::StatusOr<Json> ReadJson(const Blob& file, std::string_view name) {
  if (file.size() > kMaxConfig) {
    return DataLoss("'", name, "' has ", file.size(), " bytes; a configuration has at most ",
                    kMaxConfig);
  }
  absl::StatusOr<Json> json = Json::Parse(file.view());
  if (!json.ok()) return Annotate(json.status(), StrCat("'", name, "'"));
  if (!json->is_object()) return DataLoss("'", name, "' is not a JSON object");
  return json;
}

// A file of the folder that may be missing: null then.
absl::StatusOr<Json> ReadJsonBeside(const Source& source, std::string_view name) {
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, source.FindBeside(name));
  if (!file) return Json();
  return ReadJson(*file, name);
}

// What sentence-transformers does with the tokens' vectors: {"pooling": "mean", "normalize": true}.
absl::StatusOr<Json> SentenceModules(const Source& source) {
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, source.FindBeside("modules.json"));
  Json extras = Json::Object();
  if (!file) return extras;
  X2IR_ASSIGN_OR_RETURN(const Json modules, Json::Parse(file->view()));
  for (const Json& module : modules.items()) {
    const std::string& type = module["type"].text();
    const std::string path = module["path"].text();
    if (type.ends_with(".Transformer")) {
      if (!path.empty()) {
        return Unimplemented("the model of 'modules.json' is in folder '", path,
                             "'; give that folder");
      }
      continue;
    }
    if (type.ends_with(".Normalize")) {
      extras.Set("normalize", Json::Bool(true));
      continue;
    }
    if (!type.ends_with(".Pooling")) {
      return Unimplemented("module '", type,
                           "' of 'modules.json' is not known; those that are: "
                           "Transformer, Pooling, Normalize");
    }
    X2IR_ASSIGN_OR_RETURN(Json pooling, ReadJsonBeside(source, StrCat(path, "/", kConfig)));
    if (pooling.is_null()) return DataLoss("'", path, "/", kConfig, "' is missing");
    extras.Set("pooling", std::move(pooling));
  }
  return extras;
}

Request RequestOf(const ReadRequest& request) {
  const std::string& part = request.options.Text("part");
  return {.task = request.options.Text("task"),
          .cache = !request.options.Flag("no_cache"),
          .part = part == "encoder"   ? Request::kEncoder
                  : part == "decoder" ? Request::kDecoder
                                      : Request::kWhole,
          .sound_mask = request.options.Flag("attention_mask")};
}

}  // namespace

Model ModelOf(std::shared_ptr<Program> program, const ReadRequest& request) {
  program->request = RequestOf(request);
  Model model;
  model.source_dialect = kDialect;
  model.producer_name = "transformers";
  model.SetOpset("", 1);
  model.program = std::move(program);
  return model;
}

std::vector<OptionDef> ReadOptions() {
  return {OptionDef::Text("task", "TASK",
                          "What the model is made for, where a checkpoint says it not or serves "
                          "several: text-generation, feature-extraction, fill-mask, "
                          "text-classification, token-classification, question-answering, "
                          "image-classification"),
          OptionDef::Flag("no_cache",
                          "A decoder without keys and values of earlier steps: it reads the whole "
                          "text at once"),
          {.name = "part",
           .type = OptionDef::kChoice,
           .help = "Which part of a model of an encoder and a decoder: both as one graph, or one "
                   "of them; a decoder alone takes the encoder's result, and keys and values of "
                   "earlier steps",
           .placeholder = "PART",
           .choices = {"whole", "encoder", "decoder"}},
          OptionDef::Flag("attention_mask",
                          "A model of sounds takes attention_mask, too: which samples of a batch "
                          "are no padding. Models of texts always do")};
}

absl::StatusOr<std::shared_ptr<Program>> ReadFolder(const Source& source) {
  auto program = std::make_shared<Program>();
  program->origin = source.name();
  X2IR_ASSIGN_OR_RETURN(const BlobPtr config, source.OpenBeside(kConfig));
  X2IR_ASSIGN_OR_RETURN(program->config, ReadJson(*config, kConfig));
  X2IR_ASSIGN_OR_RETURN(program->extras, SentenceModules(source));
  absl::StatusOr<Checkpoint> weights = ReadCheckpoint(source.folder());
  if (!weights.ok()) {
    if (!absl::IsNotFound(weights.status())) return weights.status();
    X2IR_ASSIGN_OR_RETURN(const BlobPtr pickled, source.FindBeside("pytorch_model.bin"));
    return DataLoss("the folder has ", kConfig, " and no weights that can be read",
                    pickled
                        ? ": 'pytorch_model.bin' is a pickle; transformers' save_pretrained writes "
                          "model.safetensors of it"
                        : " (model.safetensors, or its shards with model.safetensors.index.json)");
  }
  program->weights = *std::move(weights);
  return program;
}

namespace {

Match RecognizeFolder(const Candidate& file) {
  if (!file.is_folder) return Match::kNo;
  const Source folder(file.path);
  const auto config = folder.FindBeside(kConfig);
  if (!config.ok() || !*config) return Match::kNo;
  const std::string_view text = (*config)->view();
  return text.find("\"model_type\"") != text.npos || text.find("\"architectures\"") != text.npos
             ? Match::kCertain
             : Match::kNo;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "checkpoint",
    .dialect = kDialect,
    .extensions = {},
    .doc = "Folders of Hugging Face: config.json and model.safetensors",
    .recognize = RecognizeFolder,
    .read_options = ReadOptions(),
    .read = [](const Source& source, const ReadRequest& request) -> absl::StatusOr<Model> {
      X2IR_ASSIGN_OR_RETURN(auto program, ReadFolder(source));
      return ModelOf(std::move(program), request);
    },
});

}  // namespace
}  // namespace checkpoint
}  // namespace x2ir
