#include "x2ir/formats/checkpoint/genai.h"

#include <filesystem>
#include <utility>

#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace checkpoint {
namespace {

namespace fs = std::filesystem;

// Those that transformers writes for tokenizers, and what generation is like by default.
constexpr const char* kTokenizerFiles[] = {"added_tokens.json",
                                           "chat_template.jinja",
                                           "chat_template.json",
                                           "generation_config.json",
                                           "merges.txt",
                                           "special_tokens_map.json",
                                           "tokenizer.json",
                                           "tokenizer.model",
                                           "tokenizer_config.json",
                                           "vocab.json",
                                           "vocab.txt"};
// A tokenizer is smaller than this.
constexpr uint64_t kMaxTokenizer = uint64_t{1} << 30;

// By the first of these names that is there.
const Json& Of(const Json& json, std::initializer_list<const char*> names) {
  static const Json kNull;
  for (const char* name : names) {
    if (json.Has(name)) return json[name];
  }
  return kNull;
}

absl::StatusOr<Json> GenerationConfig(const std::string& folder) {
  const fs::path path = fs::path(folder) / "generation_config.json";
  std::error_code error;
  if (!fs::exists(path, error)) return Json();
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, Blob::Open(path.string()));
  return Json::Parse(file->view());
}

Json Names(std::initializer_list<std::pair<const char*, const char*>> names) {
  Json json = Json::Object();
  for (const auto& [key, name] : names) json.Set(key, Json(std::string(name)));
  return json;
}

// Writes the bytes, unless the file has them already.
absl::Status Put(const std::string& path, std::string_view bytes, bool force,
                 std::vector<std::string>& written) {
  std::error_code error;
  if (fs::exists(path, error)) {
    const auto there = Blob::Open(path);
    if (there.ok() && (*there)->view() == bytes) return absl::OkStatus();
    if (!force) {
      return absl::FailedPreconditionError(
          StrCat("'", path,
                 "' exists and differs; choose another folder for the output, or "
                 "replace the file with ",
                 OptionText("force")));
    }
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  X2IR_RETURN_IF_ERROR(file.Append(bytes));
  X2IR_RETURN_IF_ERROR(file.Commit());
  written.push_back(path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> GenaiConfig(const Program& program, const std::string& file_name) {
  const Json& config = program.config;
  const int64_t width = Of(config, {"hidden_size", "n_embd", "d_model"}).Int();
  const int64_t heads = Of(config, {"num_attention_heads", "n_head", "n_heads"}).Int();
  const int64_t layers = Of(config, {"num_hidden_layers", "n_layer", "n_layers"}).Int();
  const std::string& class_name = config["architectures"].at(0).text();
  const bool decoder = class_name.ends_with("ForCausalLM") || class_name.ends_with("LMHeadModel");
  if (!decoder || width < 1 || heads < 1 || layers < 1) {
    return OptionError("genai", "the checkpoint is of class ", class_name,
                       "; GenAI runs decoders (ForCausalLM)");
  }
  X2IR_ASSIGN_OR_RETURN(const Json generation, GenerationConfig(program.origin));
  const auto either = [&](const char* name) {
    return generation.Has(name) ? generation[name] : config[name];
  };
  const int64_t context =
      Of(config, {"max_position_embeddings", "n_positions", "max_seq_len", "seq_length"}).Int(2048);

  Json decoder_json = Json::Object();
  Json session = Json::Object();
  session.Set("log_id", Json(std::string("onnxruntime-genai")));
  session.Set("provider_options", Json::Array({}));
  decoder_json.Set("session_options", std::move(session));
  decoder_json.Set("filename", Json(file_name));
  decoder_json.Set("head_size", Json(Of(config, {"head_dim"}).Int(width / heads)));
  decoder_json.Set("hidden_size", Json(width));
  decoder_json.Set("inputs", Names({{"input_ids", "input_ids"},
                                    {"attention_mask", "attention_mask"},
                                    {"position_ids", "position_ids"},
                                    {"past_key_names", "past_key_values.%d.key"},
                                    {"past_value_names", "past_key_values.%d.value"}}));
  decoder_json.Set("outputs", Names({{"logits", "logits"},
                                     {"present_key_names", "present.%d.key"},
                                     {"present_value_names", "present.%d.value"}}));
  decoder_json.Set("num_attention_heads", Json(heads));
  decoder_json.Set("num_hidden_layers", Json(layers));
  decoder_json.Set("num_key_value_heads",
                   Json(Of(config, {"num_key_value_heads", "num_kv_heads"}).Int(heads)));

  Json model = Json::Object();
  for (const char* name : {"bos_token_id", "eos_token_id", "pad_token_id"}) {
    const Json id = either(name);
    if (!id.is_null()) model.Set(name, id);
  }
  if (!model.Has("pad_token_id") && model.Has("eos_token_id")) {
    const Json& end = model["eos_token_id"];
    model.Set("pad_token_id", end.is_array() ? end.at(0) : end);
  }
  model.Set("context_length", Json(context));
  model.Set("decoder", std::move(decoder_json));
  model.Set("type", config["model_type"]);
  model.Set("vocab_size", config["vocab_size"]);

  Json search = Json::Object();
  search.Set("do_sample", Json::Bool(either("do_sample").Flag(false)));
  search.Set("max_length", Json(context));
  search.Set("min_length", Json(int64_t{0}));
  search.Set("num_beams", Json(int64_t{1}));
  search.Set("past_present_share_buffer", Json::Bool(false));
  for (const auto& [name, usual] :
       {std::pair("temperature", 1.0), {"top_p", 1.0}, {"repetition_penalty", 1.0}}) {
    search.Set(name, Json(either(name).Number(usual)));
  }
  search.Set("top_k", Json(either("top_k").Int(50)));

  Json all = Json::Object();
  all.Set("model", std::move(model));
  all.Set("search", std::move(search));
  return StrCat(all.ToString(), "\n");
}

absl::StatusOr<std::vector<std::string>> WriteGenaiFiles(const Program& program,
                                                         const std::string& out, bool force) {
  const fs::path path(out), folder = path.parent_path();
  X2IR_ASSIGN_OR_RETURN(const std::string config, GenaiConfig(program, path.filename().string()));
  std::vector<std::string> written;
  X2IR_RETURN_IF_ERROR(Put((folder / "genai_config.json").string(), config, force, written));
  for (const char* name : kTokenizerFiles) {
    const fs::path from = fs::path(program.origin) / name;
    std::error_code error;
    if (!fs::is_regular_file(from, error)) continue;
    X2IR_ASSIGN_OR_RETURN(const BlobPtr file, Blob::Open(from.string()));
    if (file->size() > kMaxTokenizer) return DataLoss("'", from.string(), "' is too large");
    X2IR_RETURN_IF_ERROR(Put((folder / name).string(), file->view(), force, written));
  }
  return written;
}

}  // namespace checkpoint
}  // namespace x2ir
