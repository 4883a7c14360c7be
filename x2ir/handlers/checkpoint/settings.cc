#include "x2ir/handlers/checkpoint/settings.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace x2ir::checkpoint {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 24;
constexpr int64_t kMaxCount = 65536;

// Settings of training, of generation, of the library that wrote the file, and texts for people.
constexpr std::string_view kIgnored[] = {"_attn_implementation",
                                         "_attn_implementation_autoset",
                                         "_commit_hash",
                                         "_name_or_path",
                                         "activation_dropout",
                                         "apply_spec_augment",
                                         "architectures",
                                         "attention_dropout",
                                         "attention_probs_dropout_prob",
                                         "attn_dropout_prob",
                                         "attn_pdrop",
                                         "auto_map",
                                         "begin_suppress_tokens",
                                         "bos_token_id",
                                         "classifier_dropout",
                                         "classifier_dropout_prob",
                                         "cls_token_id",
                                         "decoder_layerdrop",
                                         "decoder_start_token_id",
                                         "drop_path_rate",
                                         "dropout",
                                         "dropout_rate",
                                         "dtype",
                                         "embd_pdrop",
                                         "embedding_dropout",
                                         "encoder_layerdrop",
                                         "eos_token_id",
                                         "feat_proj_dropout",
                                         "feat_quantizer_dropout",
                                         "final_dropout",
                                         "finetuning_task",
                                         "forced_bos_token_id",
                                         "forced_eos_token_id",
                                         "gradient_checkpointing",
                                         "hidden_dropout",
                                         "hidden_dropout_prob",
                                         "id2label",
                                         "initializer_cutoff_factor",
                                         "initializer_factor",
                                         "initializer_range",
                                         "init_std",
                                         "initializer_std",
                                         "is_decoder",
                                         "is_encoder_decoder",
                                         "keys_to_ignore_at_inference",
                                         "label2id",
                                         "label_smoothing",
                                         "layerdrop",
                                         "length_penalty",
                                         "max_length",
                                         "mlp_dropout",
                                         "model_type",
                                         "no_repeat_ngram_size",
                                         "num_beams",
                                         "output_attentions",
                                         "output_hidden_states",
                                         "output_router_logits",
                                         "pad_token_id",
                                         "prefix",
                                         "pretraining_tp",
                                         "problem_type",
                                         "resid_pdrop",
                                         "return_dict",
                                         "router_aux_loss_coef",
                                         "router_jitter_noise",
                                         "router_z_loss_coef",
                                         "sep_token_id",
                                         "suppress_tokens",
                                         "task_specific_params",
                                         "tokenizer_class",
                                         "torch_dtype",
                                         "torchscript",
                                         "transformers_version",
                                         "use_cache",
                                         "use_return_dict",
                                         "early_stopping",
                                         "num_return_sequences",
                                         "temperature",
                                         "top_k",
                                         "top_p",
                                         "repetition_penalty",
                                         "bad_words_ids",
                                         "do_sample",
                                         "chunk_size_feed_forward",
                                         "unk_token_id",
                                         "mask_token_id",
                                         "image_token_id",
                                         "torch_dtype_str",
                                         "seq_length",
                                         "quantizer_dropout",
                                         "cross_attention_hidden_size",
                                         "diversity_penalty",
                                         "encoder_no_repeat_ngram_size",
                                         "exponential_decay_length_penalty",
                                         "min_length",
                                         "num_beam_groups",
                                         "output_scores",
                                         "pruned_heads",
                                         "remove_invalid_values",
                                         "return_dict_in_generate",
                                         "tf_legacy_loss",
                                         "tie_encoder_decoder",
                                         "typical_p",
                                         "use_bfloat16"};

}  // namespace

const Json& Settings::Find(std::string_view names) {
  static const Json kNull;
  const Json* found = &kNull;
  for (size_t from = 0; from <= names.size();) {
    const size_t end = std::min(names.find('|', from), names.size());
    const std::string_view name = names.substr(from, end - from);
    taken_.emplace(name);
    const Json& value = json_[name];
    if (found->is_null() && !value.is_null()) found = &value;
    from = end + 1;
  }
  return *found;
}

bool Settings::Stands(std::string_view name) const {
  return std::any_of(json_.members().begin(), json_.members().end(),
                     [&](const auto& member) { return member.first == name; });
}

void Settings::Wrong(std::string_view names, std::string_view expected) {
  Broken("config.json: '", path_, names.substr(0, names.find('|')), "' is ",
         Find(names).ToString().substr(0, 100), "; expected ", expected);
}

void Settings::Missing(std::string_view names) {
  Broken("config.json: '", path_, names.substr(0, names.find('|')), "' is missing");
}

int64_t Settings::Int(std::string_view names) {
  const Json& value = Find(names);
  if (value.is_null()) Missing(names);
  if (!value.is_number() || value.Number() != std::floor(value.Number()) ||
      std::abs(value.Number()) > 1e18) {
    Wrong(names, "a whole number");
  }
  return value.Int();
}
int64_t Settings::Int(std::string_view names, int64_t fallback) {
  return Has(names) ? Int(names) : fallback;
}

double Settings::Number(std::string_view names) {
  const Json& value = Find(names);
  if (value.is_null()) Missing(names);
  if (!value.is_number() || !std::isfinite(value.Number())) Wrong(names, "a number");
  return value.Number();
}
double Settings::Number(std::string_view names, double fallback) {
  return Has(names) ? Number(names) : fallback;
}

bool Settings::Flag(std::string_view names, bool fallback) {
  const Json& value = Find(names);
  if (value.is_null()) return fallback;
  if (value.kind() != Json::Kind::kBool) Wrong(names, "true or false");
  return value.Flag();
}

std::string Settings::Text(std::string_view names) {
  const Json& value = Find(names);
  if (value.is_null()) Missing(names);
  if (!value.is_string()) Wrong(names, "a text");
  return value.text();
}
std::string Settings::Text(std::string_view names, std::string_view fallback) {
  return Has(names) ? Text(names) : std::string(fallback);
}

std::vector<int64_t> Settings::Ints(std::string_view names) {
  const Json& value = Find(names);
  if (value.is_number()) return {Int(names)};
  std::vector<int64_t> all;
  for (const Json& item : value.items()) {
    const bool whole = item.is_number() && item.Number() == std::floor(item.Number());
    if (!whole && item.kind() != Json::Kind::kBool) Wrong(names, "whole numbers");
    all.push_back(whole ? item.Int() : item.Flag());
  }
  if (!value.is_null() && !value.is_array()) Wrong(names, "a list of whole numbers");
  return all;
}

std::vector<double> Settings::Numbers(std::string_view names) {
  const Json& value = Find(names);
  if (value.is_number()) return {Number(names)};
  std::vector<double> all;
  for (const Json& item : value.items()) {
    if (!item.is_number() || !std::isfinite(item.Number())) Wrong(names, "numbers");
    all.push_back(item.Number());
  }
  if (!value.is_null() && !value.is_array()) Wrong(names, "a list of numbers");
  return all;
}

std::vector<std::string> Settings::Texts(std::string_view names) {
  const Json& value = Find(names);
  std::vector<std::string> all;
  for (const Json& item : value.items()) {
    if (!item.is_string()) Wrong(names, "texts");
    all.push_back(item.text());
  }
  if (!value.is_null() && !value.is_array()) Wrong(names, "a list of texts");
  return all;
}

int64_t Settings::Size(std::string_view names) {
  const int64_t size = Int(names);
  if (size < 1 || size > kMaxSize) Wrong(names, StrCat("a size from 1 to ", kMaxSize));
  return size;
}
int64_t Settings::Size(std::string_view names, int64_t fallback) {
  return Has(names) ? Size(names) : fallback;
}

int64_t Settings::Count(std::string_view names) {
  const int64_t count = Int(names);
  if (count < 1 || count > kMaxCount) Wrong(names, StrCat("a number from 1 to ", kMaxCount));
  return count;
}
int64_t Settings::Count(std::string_view names, int64_t fallback) {
  return Has(names) ? Count(names) : fallback;
}

Settings& Settings::Nested(std::string_view names) {
  const std::string key(names.substr(0, names.find('|')));
  auto& nested = nested_[key];
  if (!nested) {
    const Json& value = Find(names);
    if (!value.is_null() && !value.is_object()) Wrong(names, "an object");
    nested = std::make_unique<Settings>(value, StrCat(path_, key, "."));
  }
  return *nested;
}

void Settings::Only(std::string_view names, bool value) {
  if (Flag(names, value) != value) {
    Refuse("config.json: '", path_, names, "' is ", value ? "false" : "true",
           ", which is not supported for this architecture");
  }
}
void Settings::Only(std::string_view names, std::string_view value) {
  if (const std::string is = Text(names, value); is != value) {
    Refuse("config.json: '", path_, names, "' is '", is, "'; for this architecture only '", value,
           "' is supported");
  }
}

void Settings::Ignore(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) taken_.emplace(name);
}

std::vector<std::string> Settings::Unknown() const {
  std::vector<std::string> unknown;
  for (const auto& [key, value] : json_.members()) {
    const bool ignored =
        std::find(std::begin(kIgnored), std::end(kIgnored), key) != std::end(kIgnored);
    if (!value.is_null() && !ignored && !taken_.contains(key)) {
      unknown.push_back(StrCat("'", path_, key, "' (", value.ToString().substr(0, 40), ")"));
    }
  }
  for (const auto& [key, nested] : nested_) {
    for (std::string& name : nested->Unknown()) unknown.push_back(std::move(name));
  }
  return unknown;
}

}  // namespace x2ir::checkpoint
