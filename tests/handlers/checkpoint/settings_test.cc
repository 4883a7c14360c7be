// What configurations and weights a checkpoint may have, and what is said of others.
#include "x2ir/handlers/checkpoint/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/core/temp_dir_util.h"
#include "tests/handlers/checkpoint/checkpoint_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

struct ChangedRow {
  const char *family, *changes;  // of config.json
  std::string want;              // in the error; "converted": there is none
};

TEST(CheckpointSettings, AreReadKeyByKey) {
  const std::vector<ChangedRow> rows = {
      {"llama", "{}", "converted"},
      // Unknown keys; null is absent.
      {"llama", R"({"new_key": 5})", "not known for this architecture: 'new_key' (5); what they"},
      {"llama", R"({"b": "x", "a": [1, 2]})", "architecture: 'b' (\"x\"), 'a' ([1, 2]);"},
      {"llama", R"({"new_key": null})", "converted"},
      {"llama", R"({"rope_parameters.new_key": 5})", "'rope_parameters.new_key' (5)"},
      {"llama", R"({"rope_parameters.new_key": null})", "converted"},
      {"llama", R"({"head_dim": null})", "converted"},
      {"llama", R"({"hidden_size": null})", "config.json: 'hidden_size' is missing"},
      // Missing ones.
      {"llama", R"({"hidden_size": "-"})", "config.json: 'hidden_size' is missing"},
      {"llama", R"({"rope_parameters.factor": "-"})", "'rope_parameters.factor' is missing"},
      {"llama", R"({"head_dim": "-", "rms_norm_eps": "-"})", "converted"},
      {"gpt2", R"({"n_embd": "-"})", "config.json: 'hidden_size' is missing"},
      {"t5", R"({"d_kv": "-"})", "config.json: 'd_kv' is missing"},
      // Synonyms: the first one counts.
      {"gpt2", R"({"n_embd": "-", "hidden_size": 8})", "converted"},
      {"gpt2", R"({"n_embd": 9, "hidden_size": 8})", "converted"},
      // Kinds.
      {"llama", R"({"hidden_size": "8"})", "'hidden_size' is \"8\"; expected a whole number"},
      {"llama", R"({"hidden_size": true})", "'hidden_size' is true; expected a whole number"},
      {"llama", R"({"hidden_size": [8]})", "'hidden_size' is [8]; expected a whole number"},
      {"llama", R"({"hidden_size": 8.5})", "'hidden_size' is 8.5; expected a whole number"},
      {"llama", R"({"hidden_size": 8.0})", "converted"},
      {"llama", R"({"rms_norm_eps": "x"})", "'rms_norm_eps' is \"x\"; expected a number"},
      {"llama", R"({"hidden_act": 3})", "'hidden_act' is 3; expected a text"},
      {"llama", R"({"hidden_act": "odd"})", "activation 'odd' is not known"},
      {"llama", R"({"mlp_bias": 1})", "'mlp_bias' is 1; expected true or false"},
      {"llama", R"({"rope_parameters": 3})", "'rope_parameters' is 3; expected an object"},
      {"llama", R"({"rope_parameters.factor": []})", "'rope_parameters.factor' is []; expected"},
      {"gemma2", R"({"layer_types": "full_attention"})", "expected a list of texts"},
      {"gemma2", R"({"layer_types": [1, 2]})", "expected texts"},
      {"gemma2", R"({"layer_types": ["full_attention"]})", "names 1 layers; there are 2"},
      {"swin", R"({"depths": {"a": 1}})", "expected a list of whole numbers"},
      {"swin", R"({"depths": [1.5]})", "expected whole numbers"},
      // Sizes and numbers.
      {"llama", R"({"hidden_size": 0})", "'hidden_size' is 0; expected a size from 1 to 16777216"},
      {"llama", R"({"hidden_size": -8})", "is -8; expected a size from 1 to 16777216"},
      {"llama", R"({"hidden_size": 1099511627776})", "is 1099511627776; expected a size from 1"},
      {"llama", R"({"hidden_size": 9223372036854775807})", "expected a whole number"},
      {"llama", R"({"hidden_size": 1e300})", "'hidden_size' is 1e+300; expected a whole number"},
      {"llama", R"({"hidden_size": NaN})", "'hidden_size' is NaN; expected a whole number"},
      {"llama", R"({"hidden_size": Infinity})", "expected a whole number"},
      {"llama", R"({"num_attention_heads": 0})", "'num_attention_heads' is 0; expected a size"},
      {"llama", R"({"rms_norm_eps": NaN})", "'rms_norm_eps' is NaN; expected a number"},
      {"llama", R"({"rope_parameters.rope_theta": -1})", "rope_theta -1"},
      {"llama", R"({"num_hidden_layers": 0})", "expected a number from 1 to 65536"},
      {"llama", R"({"num_hidden_layers": 65537})", "expected a number from 1 to 65536"},
      {"llama", R"({"num_hidden_layers": 65536})", "65536 layers; only 12 weights are stored"},
      {"bert", R"({"num_hidden_layers": 65536})", "65536 layers; only 25 weights are stored"},
      {"t5", R"({"num_layers": 65536})", "65536 layers; only 26 weights are stored"},
      {"t5", R"({"num_decoder_layers": 65536})", "65536 layers; only 26 weights are stored"},
      {"whisper", R"({"encoder_layers": 65536})", "65536 layers; only 50 weights are stored"},
      {"mixtral", R"({"num_local_experts": 65537})", "'num_local_experts' is 65537; expected"},
      {"gpt2", R"({"n_head": 3})", "a width of 8 is not divided by 3 heads"},
      // What only one value is known of.
      {"bert", R"({"is_decoder": true})", "'is_decoder' is true, which is not supported"},
      // Architectures and classes.
      {"llama", R"({"model_type": "odd"})",
       "architecture 'LlamaForCausalLM' (model_type 'odd') is"},
      {"llama", R"({"model_type": "odd"})", ", bert, "},
      {"llama", R"({"model_type": 3, "architectures": 4})", "config.json has no 'model_type'"},
      {"llama", R"({"architectures": ["LlamaForOdd"]})",
       "class 'LlamaForOdd' of llama is not supported; those that are: LlamaForCausalLM, "
       "LlamaModel"},
      {"llama", R"({"architectures": ["BertModel"]})", "class 'BertModel' of llama is not"},
      {"llama", R"({"architectures": "-"})", "converted"},
  };
  for (const ChangedRow& row : rows) {
    const std::string error = ErrorOf(CheckpointWith(row.family, row.changes));
    EXPECT_NE(error.find(row.want), error.npos)
        << row.family << " " << row.changes << "\n  wanted: " << row.want << "\n  got: " << error;
  }
}

TEST(CheckpointSettings, TasksAndParts) {
  struct Row {
    const char* family;
    CheckpointOptions options{};
    std::string want;
  };
  const std::vector<Row> rows = {
      {"llama", {.task = "text-generation"}, "converted"},
      {"llama", {.task = "feature-extraction"}, "converted"},
      {"llama",
       {.task = "odd"},
       "'odd' is not known; expected text-generation, feature-extraction"},
      {"llama", {.task = "fill-mask"}, "models of llama are not made for fill-mask"},
      {"bert", {.task = "text-generation"}, "models of bert are not made for text-generation"},
      {"bert", {.task = "fill-mask"}, "weight 'cls.predictions"},
      {"vit", {.task = "feature-extraction"}, "converted"},
      {"llama", {.part = "encoder"}, "models of llama are not of an encoder and a decoder"},
      {"t5", {.part = "encoder"}, "converted"},
      {"t5", {.part = "decoder"}, "converted"},
  };
  for (const Row& row : rows) {
    const std::string error = ErrorOf(SmallCheckpointOf(row.family), row.options);
    EXPECT_NE(error.find(row.want), error.npos)
        << row.family << " " << row.options.task << row.options.part << ": " << error;
  }
}

TEST(CheckpointWeights, MissingOnesOthersAndUnusedOnes) {
  using Weights = std::map<std::string, std::vector<int64_t>>;
  static constexpr char kQ[] = "model.layers.0.self_attn.q_proj.weight";
  struct Row {
    void (*change)(Weights& weights);
    std::string type, want;
  };
  const std::vector<Row> rows = {
      {[](Weights&) {}, "F32", "converted"},
      {[](Weights&) {}, "F16", "converted"},
      {[](Weights&) {}, "BF16", "converted"},
      {[](Weights&) {}, "F64", "converted"},
      {[](Weights&) {}, "I32",
       "' is of int32; float32, float16, bfloat16 and float64 are supported"},
      {[](Weights&) {}, "I64", "' is of int64; float32"},
      {[](Weights& w) { w.erase(kQ); }, "F32", StrCat("weight '", kQ, "' is missing")},
      {[](Weights& w) { w.clear(); }, "F32", "only 0 weights are stored|is missing"},
      {[](Weights& w) {
         w[kQ] = {8, 9};
       },
       "F32", StrCat("weight '", kQ, "' is [8,9]; by the configuration it is [8,8]")},
      {[](Weights& w) { w[kQ] = {64}; }, "F32", "' is [64]; by the configuration it is [8,8]"},
      {[](Weights& w) {
         w[kQ] = {8, 8, 1};
       },
       "F32", "' is [8,8,1]; by the configuration"},
      {[](Weights& w) { w[kQ] = {}; }, "F32", "' is []; by the configuration it is [8,8]"},
      {[](Weights& w) {
         w[kQ] = {0, 8};
       },
       "F32", "' is [0,8]; by the configuration it is [8,8]"},
      {[](Weights& w) { w.erase("lm_head.weight"); }, "F32",
       "weight 'lm_head.weight' is missing, and config.json does not tie it"},
      {[](Weights& w) { w["odd.weight"] = {2}; }, "F32",
       "has weights that its architecture does not use: 'odd.weight'"},
      {[](Weights& w) {
         for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) w[name] = {1};
       },
       "F32", "does not use: 'a', 'b', 'c', 'd', 'e' and 2 others"},
      {[](Weights& w) {
         w["model.layers.1.mlp.up_proj.weight"] = {12, 8};
       },
       "F32", "does not use: 'model.layers.1.mlp.up_proj.weight'"},
      // A buffer that older versions stored.
      {[](Weights& w) { w["model.layers.0.self_attn.rotary_emb.inv_freq"] = {2}; }, "F32",
       "converted"},
  };
  for (const Row& row : rows) {
    SmallCheckpoint checkpoint = SmallCheckpointOf("llama");
    checkpoint.type = row.type;
    row.change(checkpoint.weights);
    const std::string error = ErrorOf(checkpoint);
    const size_t bar = row.want.find('|');
    const bool is_found =
        error.find(row.want.substr(0, bar)) != error.npos ||
        (bar != row.want.npos && error.find(row.want.substr(bar + 1)) != error.npos);
    EXPECT_TRUE(is_found) << row.type << ", wanted: " << row.want << "\n  got: " << error;
  }
}

TEST(CheckpointInterface, KeysAndValuesOfEarlierSteps) {
  constexpr char kAll[] = "past_sequence_length + sequence_length";
  const std::string past = StrCat("[batch_size,1,past_sequence_length,4]\n"),
                    present = StrCat("[batch_size,1,", kAll, ",4]\n");
  const std::string ids = "in input_ids: int64[batch_size,sequence_length]\n",
                    positions = "in position_ids: int64[batch_size,sequence_length]\n",
                    mask = "in attention_mask: int64[batch_size,sequence_length]\n",
                    all_mask = StrCat("in attention_mask: int64[batch_size,", kAll, "]\n"),
                    logits = "out logits: float32[batch_size,sequence_length,16]\n";
  EXPECT_EQ(InterfaceOf(ImportOf(SmallCheckpointOf("llama"))),
            ids + all_mask + positions + "in past_key_values.0.key: float32" + past +
                "in past_key_values.0.value: float32" + past + logits +
                "out present.0.key: float32" + present + "out present.0.value: float32" + present);
  EXPECT_EQ(InterfaceOf(ImportOf(SmallCheckpointOf("llama"), {.no_cache = true})),
            ids + mask + positions + logits);
  EXPECT_EQ(
      InterfaceOf(ImportOf(SmallCheckpointOf("llama"), {.task = "feature-extraction"})),
      ids + mask + positions + "out last_hidden_state: float32[batch_size,sequence_length,8]\n");
  // Two layers, and heads of which keys have fewer.
  const std::string gemma = InterfaceOf(ImportOf(SmallCheckpointOf("gemma2")));
  for (const char* name : {"in past_key_values.1.key", "in past_key_values.1.value"}) {
    EXPECT_NE(gemma.find(StrCat(name, ": float32", past)), gemma.npos) << gemma;
  }
  EXPECT_NE(gemma.find(StrCat("out present.1.value: float32", present)), gemma.npos) << gemma;
  // Keys and values of different sizes.
  const std::string deepseek = InterfaceOf(ImportOf(SmallCheckpointOf("deepseek_v3")));
  EXPECT_NE(deepseek.find("in past_key_values.0.key: float32[batch_size,2,past_sequence_length,4]"),
            deepseek.npos)
      << deepseek;
  // Positions that nobody asks for are no input.
  EXPECT_EQ(InterfaceOf(ImportOf(SmallCheckpointOf("bloom"))).find("position_ids"),
            std::string::npos);
  // States instead of keys.
  const std::string mamba = InterfaceOf(ImportOf(SmallCheckpointOf("mamba")));
  for (const char* line :
       {"in past_conv.0: float32[batch_size,16,4]\n", "in past_ssm.0: float32[batch_size,16,4]\n",
        "out present_conv.0: float32[batch_size,16,4]\n",
        "out present_ssm.0: float32[batch_size,16,4]\n"}) {
    EXPECT_NE(mamba.find(line), mamba.npos) << line << mamba;
  }
  EXPECT_EQ(InterfaceOf(ImportOf(SmallCheckpointOf("mamba"), {.no_cache = true})).find("past"),
            std::string::npos);
}

// Every setting of every family with values that are wrong for most: errors or valid graphs.
TEST(CheckpointSettings, AnyValueIsAnErrorOrAGraph) {
  constexpr const char* kValues[] = {"0", "3", "1e300", "[0, 1]"};
  int converted = 0, refused = 0;
  for (const std::string& name : SmallCheckpointNames()) {
    const SmallCheckpoint whole = SmallCheckpointOf(name);
    const TempDir folder;
    folder.Put("model.safetensors", whole.Safetensors());
    for (const auto& [key, of_family] : whole.config.members()) {
      for (const char* value : kValues) {
        Json config = whole.config;
        config.Set(key, *Json::Parse(value));
        folder.Put("config.json", config.ToString());
        const absl::StatusOr<Model> model =
            Import(folder.path().string(), {.format = "checkpoint"});
        if (model.ok()) {
          ++converted;
          const auto problems = model->graph->Validate();
          EXPECT_TRUE(problems.empty()) << name << " " << key << "=" << value << problems[0];
        } else {
          ++refused;
          EXPECT_FALSE(absl::IsInternal(model.status()))
              << name << " " << key << "=" << value << model.status();
        }
      }
    }
  }
  EXPECT_GT(converted, 300);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace x2ir
