#include "x2ir/formats/checkpoint/gguf_config.h"

#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::gguf {
namespace {

constexpr int64_t kMaxLayers = 65536;
constexpr double kUsualTheta = 10000;
constexpr double kMaxNumber = 1e15;  // a double holds all whole ones to there

Json TextJson(std::string_view text) { return Json(std::string(text)); }

Json NumbersJson(const std::vector<double>& numbers) {
  std::vector<Json> all;
  for (const double x : numbers) all.emplace_back(x);
  return Json::Array(std::move(all));
}

void SetAll(Json& json, std::string_view text) {
  const absl::StatusOr<Json> more = Json::Parse(text);
  if (!more.ok()) return;
  for (const auto& [key, value] : more->members()) json.Set(key, value);
}

class ConfigBuilder {
 public:
  ConfigBuilder(const File& file, const Family& family, const Stored& stored)
      : file_(file), family_(family), stored_(stored), prefix_(StrCat(family.architecture, ".")) {}

  absl::StatusOr<Config> Run() {
    Json& config = out_.config;
    config.Set("model_type", TextJson(family_.model_type));
    config.Set("architectures", Json::Array({TextJson(family_.model_class)}));
    SetAll(config, family_.settings);
    out_.extras = Json::Object();
    SetAll(out_.extras, family_.extras);
    for (const auto& [key, value] : file_.metadata) {
      if (!key.starts_with(prefix_)) continue;
      const absl::Status status = Take(key.substr(prefix_.size()), value);
      if (!status.ok()) return Annotate(status, StrCat("key '", key, "'"));
    }
    if (facts_.layers > kMaxLayers) {
      return DataLoss("key '", prefix_, "block_count' is ", facts_.layers, "; ", kMaxLayers,
                      " is the most");
    }
    for (const PresenceRow& row : family_.presence) {
      config.Set(row.setting, Json::Bool(stored_.dims.contains(row.tensor)));
    }
    const auto embedding = stored_.dims.find("token_embd.weight");
    if (embedding == stored_.dims.end() || embedding->second.size() != 2) {
      return DataLoss("the file has no matrix 'token_embd.weight'");
    }
    config.Set("vocab_size", Json(embedding->second[0]));
    if (family_.architecture == "bert") {
      SetTokenTypes();
    } else {
      config.Set("tie_word_embeddings", Json::Bool(!stored_.dims.contains("output.weight")));
    }
    SetHeads();
    if (family_.rotary) X2IR_RETURN_IF_ERROR(SetRope());
    if (family_.finish) family_.finish(facts_, config);
    if (!layer_types_.empty()) {
      config.Set("layer_types", Json::Array(std::move(layer_types_)));
    }
    return std::move(out_);
  }

 private:
  // A number that all layers share; lists have one for each layer.
  static absl::StatusOr<Value> OneOf(const Value& value) {
    if (value.type != Value::kList) return value;
    if (!value.is_list_of_numbers() || value.count == 0) return DataLoss("a list without numbers");
    const Value first = value.At(0);
    for (uint64_t i = 1; i < value.count; ++i) {
      if (value.At(i).real != first.real) {
        return Unimplemented("it is not the same in all layers: ", first.ToString(),
                             " in layer 0, ", value.At(i).ToString(), " in layer ", i);
      }
    }
    return first;
  }

  static absl::StatusOr<double> NumberOf(const Value& value) {
    if (!value.is_number() || !(std::abs(value.real) <= kMaxNumber)) {
      return DataLoss("expected a number, it is ", value.ToString());
    }
    return value.real;
  }
  static absl::StatusOr<int64_t> WholeOf(const Value& value) {
    if (!value.is_integer() || value.whole < 0) {
      return DataLoss("expected a whole number, it is ", value.ToString());
    }
    return value.whole;
  }

  absl::Status Take(std::string_view key, const Value& value) {
    if (key == "attention.sliding_window_pattern") return TakePattern(value);
    if (key == "rope.scaling.type") {
      if (value.type != Value::kText) return DataLoss("expected a text");
      rope_type_ = value.text;
      return absl::OkStatus();
    }
    if (key == "tensor_data_layout") {
      const bool known =
          value.text == (family_.architecture == "falcon" ? "jploski" : "Meta AI original pth");
      return known ? absl::OkStatus() : Unimplemented("layout ", value.ToString());
    }
    if (key == "rope.scaling.finetuned") return absl::OkStatus();  // how it was trained
    if (key == "attention.causal") {
      const bool causal = family_.architecture != "bert";
      if (value.type != Value::kBool || (value.whole != 0) != causal) {
        return Unimplemented("it is ", value.ToString());
      }
      return absl::OkStatus();
    }
    X2IR_ASSIGN_OR_RETURN(const Value one, OneOf(value));
    if (key == "pooling_type") return TakePooling(one);
    if (TakeNumber(key, one)) return status_;
    const KeyRow* row = FindKey(family_, key);
    if (!row) {
      return Unimplemented("is not known for architecture '", family_.architecture,
                           "', and may change results");
    }
    return TakeRow(*row, key, one);
  }

  absl::Status TakeRow(const KeyRow& row, std::string_view key, const Value& value) {
    if (value.type == Value::kBool) {
      if (!row.setting.empty()) out_.config.Set(row.setting, Json::Bool(value.whole != 0));
      return absl::OkStatus();
    }
    X2IR_ASSIGN_OR_RETURN(const double number, NumberOf(value));
    static constexpr std::pair<std::string_view, int64_t Facts::*> kFacts[] = {
        {"block_count", &Facts::layers},
        {"attention.head_count", &Facts::heads},
        {"attention.head_count_kv", &Facts::kv_heads},
        {"embedding_length", &Facts::width}};
    for (const auto& [name, member] : kFacts) {
      if (key != name) continue;
      X2IR_ASSIGN_OR_RETURN(facts_.*member, WholeOf(value));
    }
    // A window of zero is none.
    const bool none = row.setting.empty() || (row.setting == "sliding_window" && number == 0);
    if (!none) {
      out_.config.Set(row.setting, value.is_integer() ? Json(value.whole) : Json(number));
    }
    return absl::OkStatus();
  }

  // The keys whose meaning is in this file.
  bool TakeNumber(std::string_view key, const Value& value) {
    struct Member {
      std::string_view key;
      std::optional<double> ConfigBuilder::*member;
      bool rotary;
    };
    static constexpr Member kMembers[] = {
        {"attention.key_length", &ConfigBuilder::key_length_, false},
        {"attention.value_length", &ConfigBuilder::value_length_, false},
        {"rope.dimension_count", &ConfigBuilder::rope_dims_, true},
        {"rope.freq_base", &ConfigBuilder::theta_, true},
        {"rope.freq_base_swa", &ConfigBuilder::local_theta_, true},
        {"rope.scale_linear", &ConfigBuilder::factor_, true},
        {"rope.scaling.factor", &ConfigBuilder::factor_, true},
        {"rope.scaling.original_context_length", &ConfigBuilder::original_length_, true},
        {"rope.scaling.attn_factor", &ConfigBuilder::attention_factor_, true},
        {"rope.scaling.yarn_ext_factor", &ConfigBuilder::yarn_ext_factor_, true},
        {"rope.scaling.yarn_attn_factor", &ConfigBuilder::yarn_attention_factor_, true},
        {"rope.scaling.yarn_beta_fast", &ConfigBuilder::beta_fast_, true},
        {"rope.scaling.yarn_beta_slow", &ConfigBuilder::beta_slow_, true},
    };
    for (const Member& m : kMembers) {
      if (m.key != key || (m.rotary && !family_.rotary)) continue;
      const absl::StatusOr<double> number = NumberOf(value);
      status_ = number.status();
      if (number.ok()) this->*m.member = *number;
      return true;
    }
    return false;
  }

  absl::Status TakePattern(const Value& value) {
    if (value.is_list_of_numbers()) {
      if (value.count > kMaxLayers) return DataLoss("a list of ", value.count, " layers");
      for (uint64_t i = 0; i < value.count; ++i) AddLayerType(value.At(i).whole != 0);
      return absl::OkStatus();
    }
    X2IR_ASSIGN_OR_RETURN(const int64_t every, WholeOf(value));
    const Value* layers = file_.Find(StrCat(prefix_, "block_count"));
    if (every == 0 || !layers || layers->whole > kMaxLayers) return DataLoss(value.ToString());
    for (int64_t i = 1; i <= layers->whole; ++i) AddLayerType(i % every != 0);
    return absl::OkStatus();
  }
  void AddLayerType(bool sliding) {
    layer_types_.push_back(TextJson(sliding ? "sliding_attention" : "full_attention"));
  }

  absl::Status TakePooling(const Value& value) {
    static constexpr std::string_view kModes[] = {
        "", "pooling_mode_mean_tokens", "pooling_mode_cls_token", "pooling_mode_lasttoken"};
    X2IR_ASSIGN_OR_RETURN(const int64_t type, WholeOf(value));
    if (type >= static_cast<int64_t>(std::size(kModes))) {
      return Unimplemented("pooling of type ", type);
    }
    if (type == 0) return absl::OkStatus();
    Json pooling = Json::Object();
    pooling.Set(kModes[type], Json::Bool(true));
    out_.extras.Set("pooling", std::move(pooling));
    return absl::OkStatus();
  }

  // A model without types of tokens (DistilBERT) is one with a single type, of zeros.
  void SetTokenTypes() {
    const auto types = stored_.dims.find("token_types.weight");
    const bool any = types != stored_.dims.end() && !types->second.empty();
    out_.config.Set("type_vocab_size",
                    Json(any && types->second.size() == 2 ? types->second[0] : int64_t{1}));
  }

  void SetHeads() {
    facts_.variant = family_.variant;
    if (facts_.kv_heads == 0) facts_.kv_heads = facts_.heads;
    if (facts_.heads > 0) facts_.head_size = facts_.width / facts_.heads;
    if (!key_length_) return;
    facts_.head_size = static_cast<int64_t>(*key_length_);
    out_.config.Set("head_dim", Json(facts_.head_size));
  }

  absl::Status SetRope() {
    if (value_length_ && key_length_ && *value_length_ != *key_length_) {
      return Unimplemented("heads of ", *key_length_, " numbers whose values have ",
                           *value_length_);
    }
    Json rope = Json::Object();
    rope.Set("rope_theta", Json(theta_.value_or(kUsualTheta)));
    if (rope_dims_) {
      if (*rope_dims_ < 1 || *rope_dims_ != std::floor(*rope_dims_) ||
          *rope_dims_ > static_cast<double>(facts_.head_size)) {
        return DataLoss("key '", prefix_, "rope.dimension_count' is ", *rope_dims_, "; a head has ",
                        facts_.head_size, " numbers");
      }
      // Its product with the size is the number again, not a little less.
      const auto size = static_cast<double>(facts_.head_size);
      double part = *rope_dims_ / size;
      while (std::floor(size * part) < *rope_dims_) part = std::nextafter(part, 2.0);
      rope.Set("partial_rotary_factor", Json(part));
    }
    if (local_theta_) {
      if (family_.architecture != "gemma3") {
        return Unimplemented("key '", prefix_,
                             "rope.freq_base_swa' is not known for architecture '",
                             family_.architecture, "'");
      }
      rope.Set("local_theta", Json(*local_theta_));
    }
    X2IR_RETURN_IF_ERROR(SetScaling(rope));
    out_.config.Set("rope_parameters", std::move(rope));
    return absl::OkStatus();
  }

  absl::Status SetScaling(Json& rope) {
    const bool by_tensor = !stored_.rope_factors.empty();
    const double factor = factor_.value_or(1);
    if (factor <= 0) return DataLoss("a factor of positions of ", factor);
    if (by_tensor) {
      if (rope_type_ == "yarn" || (factor != 1 && rope_type_ != "longrope")) {
        return Unimplemented("positions with factors in a tensor and scaling '", rope_type_, "'");
      }
      rope.Set("rope_type", TextJson("longrope"));
      rope.Set("short_factor", NumbersJson(stored_.rope_factors));
      rope.Set("long_factor",
               NumbersJson(stored_.long_rope_factors.empty() ? stored_.rope_factors
                                                             : stored_.long_rope_factors));
      rope.Set("attention_factor", Json(attention_factor_.value_or(1)));
    } else if (rope_type_ == "yarn") {
      X2IR_RETURN_IF_ERROR(SetYarn(rope, factor));
    } else if (rope_type_ == "linear" || rope_type_.empty()) {
      rope.Set("rope_type", TextJson(factor == 1 ? "default" : "linear"));
      if (factor != 1) rope.Set("factor", Json(factor));
    } else if (rope_type_ == "none" || rope_type_ == "longrope") {
      rope.Set("rope_type", TextJson("default"));
    } else {
      return Unimplemented("key '", prefix_, "rope.scaling.type' is '", rope_type_,
                           "'; none, linear, yarn and longrope are known");
    }
    if (!by_tensor && rope_type_ != "yarn" && attention_factor_.value_or(1) != 1) {
      return Unimplemented("key '", prefix_, "rope.scaling.attn_factor' is ", *attention_factor_,
                           " without a scaling that has one");
    }
    if ((by_tensor || rope_type_ == "yarn") && original_length_) {
      rope.Set("original_max_position_embeddings", Json(static_cast<int64_t>(*original_length_)));
    }
    return absl::OkStatus();
  }

  // llama.cpp multiplies the usual factor of attention by the one of the file.
  absl::Status SetYarn(Json& rope, double factor) {
    if (yarn_ext_factor_.value_or(1) != 1 || yarn_attention_factor_.value_or(1) != 1) {
      return Unimplemented("'yarn' with own factors of extrapolation or attention");
    }
    rope.Set("rope_type", TextJson("yarn"));
    rope.Set("factor", Json(factor));
    if (attention_factor_) {
      const double usual = factor <= 1 ? 1 : 0.1 * portable::log(factor) + 1;
      rope.Set("attention_factor", Json(*attention_factor_ * usual));
    }
    if (beta_fast_) rope.Set("beta_fast", Json(*beta_fast_));
    if (beta_slow_) rope.Set("beta_slow", Json(*beta_slow_));
    return absl::OkStatus();
  }

  const File& file_;
  const Family& family_;
  const Stored& stored_;
  const std::string prefix_;
  Config out_;
  Facts facts_;
  absl::Status status_;
  std::vector<Json> layer_types_;
  std::string rope_type_;
  std::optional<double> key_length_, value_length_, rope_dims_, theta_, local_theta_, factor_,
      original_length_, attention_factor_, yarn_ext_factor_, yarn_attention_factor_, beta_fast_,
      beta_slow_;
};

}  // namespace

absl::StatusOr<const Family*> FamilyOf(const File& file, const Stored& stored) {
  const Value* kind = file.Find("general.type");
  if (kind && kind->text != "model") {
    return Unimplemented("the file is of type ", kind->ToString(), ", not a model");
  }
  const Value* architecture = file.Find("general.architecture");
  if (!architecture || architecture->type != Value::kText) {
    return DataLoss("the file has no text 'general.architecture'");
  }
  const Value* experts = file.Find(StrCat(architecture->text, ".expert_count"));
  const bool variant =
      (experts && experts->whole > 0) || stored.dims.contains("blk.0.attn_norm_2.weight");
  const Family* family = FindFamily(architecture->text, variant);
  if (!family) {
    return Unimplemented("architecture '", architecture->text.substr(0, 100),
                         "' is not known; these are: ", FamilyNames());
  }
  return family;
}

absl::StatusOr<Config> ConfigOf(const File& file, const Family& family, const Stored& stored) {
  return ConfigBuilder(file, family, stored).Run();
}

}  // namespace x2ir::gguf
