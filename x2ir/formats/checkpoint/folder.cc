// Folders of Hugging Face: config.json, and model.safetensors or its shards.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/formats/checkpoint/checkpoint.h"
#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/safetensors/checkpoint.h"
#include "x2ir/graph_wrapper/files_read.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace checkpoint {
namespace {

constexpr char kConfig[] = "config.json", kModules[] = "modules.json";
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

// Folders that modules.json names lie in its own, side by side.
bool IsPlainName(std::string_view name) {
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!is_plain) return false;
  }
  return true;
}

// A dense layer of sentence-transformers: its settings with "name", and its weights under that.
absl::StatusOr<Json> ReadDense(const Source& source, const std::string& path, Program& program) {
  X2IR_ASSIGN_OR_RETURN(Json settings, ReadJsonBeside(source, StrCat(path, "/", kConfig)));
  if (settings.is_null()) return DataLoss("'", path, "/", kConfig, "' is missing");
  absl::StatusOr<Checkpoint> weights = ReadCheckpoint(StrCat(source.folder(), "/", path));
  if (!weights.ok()) return Annotate(weights.status(), StrCat("module '", path, "'"));
  for (auto& [name, tensor] : weights->tensors) {
    program.weights.tensors.insert_or_assign(StrCat(path, ".", name), std::move(tensor));
  }
  settings.Set("name", Json(path + ".linear"));
  return settings;
}

// What sentence-transformers does with the tokens' vectors: "pooling", "dense" and "normalize" of
// the program, and the folder where the model is.
absl::StatusOr<std::string> ReadSentenceModules(const Source& source, Program& program) {
  program.extras = Json::Object();
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, source.FindBeside(kModules));
  if (!file) return "";
  if (file->size() > kMaxConfig) return DataLoss("'", kModules, "' has ", file->size(), " bytes");
  X2IR_ASSIGN_OR_RETURN(const Json modules, Json::Parse(file->view()));
  std::string folder;
  std::vector<Json> dense;
  for (const Json& module : modules.items()) {
    const std::string& type = module["type"].text();
    const std::string path = module["path"].text();
    const bool has_pooling = program.extras.Has("pooling"),
               is_normalized = program.extras.Has("normalize");
    if (!IsPlainName(path)) return DataLoss("'", kModules, "' names the folder '", path, "'");
    if (type.ends_with(".Transformer")) {
      folder = path;
    } else if (type.ends_with(".Pooling") && !has_pooling) {
      X2IR_ASSIGN_OR_RETURN(Json pooling, ReadJsonBeside(source, StrCat(path, "/", kConfig)));
      if (pooling.is_null()) return DataLoss("'", path, "/", kConfig, "' is missing");
      program.extras.Set("pooling", std::move(pooling));
    } else if (type.ends_with(".Dense") && has_pooling && !is_normalized) {
      X2IR_ASSIGN_OR_RETURN(Json layer, ReadDense(source, path, program));
      dense.push_back(std::move(layer));
    } else if (type.ends_with(".Normalize") && has_pooling && !is_normalized) {
      program.extras.Set("normalize", Json::Bool(true));
    } else {
      return Unimplemented("module '", type, "' of '", kModules,
                           "' is not supported; those that are, in this order: Transformer, "
                           "Pooling, Dense, Normalize");
    }
  }
  if (!dense.empty()) program.extras.Set("dense", Json::Array(std::move(dense)));
  return folder;
}

// Files that were made of TensorFlow's have its names of norms.
void RenameNorms(Checkpoint& weights) {
  std::vector<std::string> old;
  for (const auto& [name, tensor] : weights.tensors) {
    if (name.ends_with("LayerNorm.gamma") || name.ends_with("LayerNorm.beta")) old.push_back(name);
  }
  for (const std::string& name : old) {
    auto node = weights.tensors.extract(name);
    node.key() =
        StrCat(name.substr(0, name.rfind('.') + 1), name.ends_with("gamma") ? "weight" : "bias");
    weights.tensors.insert(std::move(node));
  }
}

Request RequestOf(const ReadRequest& request) {
  const std::string& part = request.options.Text("part");
  return {.task = request.options.Text("task"),
          .cache = !request.options.Flag("no_cache"),
          .part = part == "encoder"   ? Request::kEncoder
                  : part == "decoder" ? Request::kDecoder
                                      : Request::kWhole,
          .weight_bits = request.options.Flag("int4")           ? 4
                         : request.options.Flag("int8_weights") ? 8
                                                                : 0,
          .unpack = ParseDType(request.options.Text("unpack")).value_or(DType::kUndefined),
          .sound_mask = request.options.Flag("attention_mask")};
}

}  // namespace

Model ModelOf(std::shared_ptr<Program> program, const ReadRequest& request) {
  program->request = RequestOf(request);
  Model model;
  model.source_dialect = kDialect;
  model.producer_name = "transformers";
  model.graph->set_name(program->config["architectures"].at(0).text());
  model.program = std::move(program);
  return model;
}

std::vector<OptionDef> ReadOptions() {
  return {OptionDef::Text("task", "TASK",
                          "What the model is made for, where a checkpoint says it not or serves "
                          "several: text-generation, feature-extraction, fill-mask, "
                          "text-classification, token-classification, question-answering, "
                          "multiple-choice, image-classification"),
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
          OptionDef::Flag("int4",
                          "Round the weights of a float checkpoint's layers to four bits, with a "
                          "scale for each 32 of a row; embeddings and the head stay"),
          OptionDef::Flag("int8_weights", "The same to eight bits"),
          {.name = "unpack",
           .type = OptionDef::kChoice,
           .help = "Quantized weights (of AWQ, GPTQ, GGUF, ...) become plain numbers of this type; "
                   "by default they stay codes with scales",
           .placeholder = "TYPE",
           .choices = {"none", "float16", "bfloat16", "float32"}},
          OptionDef::Flag("attention_mask",
                          "A model of sounds takes attention_mask, too: which samples of a batch "
                          "are no padding. Models of texts always do")};
}

absl::StatusOr<std::shared_ptr<Program>> ReadFolder(const Source& source) {
  auto program = std::make_shared<Program>();
  program->origin = source.folder();
  X2IR_ASSIGN_OR_RETURN(const std::string folder, ReadSentenceModules(source, *program));
  const std::string prefix = folder.empty() ? "" : folder + "/";
  X2IR_ASSIGN_OR_RETURN(const BlobPtr config, source.OpenBeside(prefix + kConfig));
  X2IR_ASSIGN_OR_RETURN(program->config, ReadJson(*config, kConfig));
  absl::StatusOr<Checkpoint> weights = ReadCheckpoint(StrCat(source.folder(), "/", prefix));
  if (!weights.ok()) {
    if (!absl::IsNotFound(weights.status())) return weights.status();
    X2IR_ASSIGN_OR_RETURN(const BlobPtr pickled, source.FindBeside(prefix + "pytorch_model.bin"));
    return DataLoss("the folder has ", kConfig, " and no weights that can be read",
                    pickled
                        ? ": 'pytorch_model.bin' is a pickle; transformers' save_pretrained writes "
                          "model.safetensors of it"
                        : " (model.safetensors, or its shards with model.safetensors.index.json)");
  }
  RenameNorms(*weights);
  // Those of dense layers are there already.
  for (auto& [name, tensor] : program->weights.tensors) {
    weights->tensors.insert_or_assign(name, std::move(tensor));
  }
  program->weights = *std::move(weights);
  return program;
}

absl::StatusOr<std::vector<ModelPart>> PartsOf(const Source& source) {
  std::vector<ModelPart> parts;
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, source.FindBeside(kConfig));
  if (!file) return parts;
  X2IR_ASSIGN_OR_RETURN(const Json config, ReadJson(*file, kConfig));
  if (!config.Has("model_type")) return parts;
  if (config["is_encoder_decoder"].Flag()) {
    parts = {{"encoder_model", "encoder"}, {"decoder_model", "decoder"}};
  } else {
    parts = {{"model", ""}};
  }
  return parts;
}

namespace {

// A folder, or the weights in it.
Match RecognizeFolder(const Candidate& file) {
  if (!file.is_folder && !file.path.ends_with(".safetensors")) return Match::kNo;
  const Source source(file.path);
  const auto says = [&](const char* name, std::initializer_list<std::string_view> any) {
    const auto beside = source.FindBeside(name);
    if (!beside.ok() || !*beside) return false;
    return std::any_of(any.begin(), any.end(), [&](std::string_view text) {
      return (*beside)->view().find(text) != std::string_view::npos;
    });
  };
  const auto has = [&](const char* name) {
    const auto beside = source.FindBeside(name);
    return beside.ok() && *beside != nullptr;
  };
  // A configuration that says nothing, or is broken, is read to say so where weights are beside it.
  const bool one =
      says(kConfig, {"\"model_type\"", "\"architectures\""}) ||
      says(kModules, {".Transformer\""}) ||
      (has(kConfig) && (has("model.safetensors") || has("model.safetensors.index.json") ||
                        has("pytorch_model.bin")));
  return one ? Match::kCertain : Match::kNo;
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
