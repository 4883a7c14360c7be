// GGUF: containers of both byte orders and in several files, settings and names of architectures,
// and files that are broken.
#include "x2ir/formats/checkpoint/gguf.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/gguf_util.h"
#include "x2ir/formats/checkpoint/gguf_file.h"
#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using GgufTest = TempDirTest;
using ProgramPtr = std::shared_ptr<checkpoint::Program>;

absl::StatusOr<ProgramPtr> Read(const GgufMaker& file) {
  return checkpoint::ReadGguf(Source::Bytes(file.Make(), {}, "m.gguf"));
}

// `want`: a part of the message.
void ExpectError(const absl::StatusOr<ProgramPtr>& program, absl::StatusCode code,
                 std::string_view want) {
  ASSERT_FALSE(program.ok()) << want;
  EXPECT_EQ(program.status().code(), code) << program.status();
  EXPECT_NE(std::string(program.status().message()).find(want), std::string::npos)
      << program.status() << "\nexpected: " << want;
}

TEST_F(GgufTest, SettingsAndNamesAreThoseOfTransformers) {
  const absl::StatusOr<ProgramPtr> read = Read(SmallLlama());
  ASSERT_TRUE(read.ok()) << read.status();
  const checkpoint::Program& program = **read;
  const Json& config = program.config;
  EXPECT_EQ(config["model_type"].text(), "llama");
  EXPECT_EQ(config["architectures"].at(0).text(), "LlamaForCausalLM");
  EXPECT_EQ(config["hidden_size"].Int(), 4);
  EXPECT_EQ(config["intermediate_size"].Int(), 8);
  EXPECT_EQ(config["num_attention_heads"].Int(), 2);
  EXPECT_EQ(config["num_key_value_heads"].Int(), 1);
  EXPECT_EQ(config["num_hidden_layers"].Int(), 1);
  EXPECT_EQ(config["vocab_size"].Int(), 8);
  EXPECT_EQ(static_cast<float>(config["rms_norm_eps"].Number()), 1e-5F);
  EXPECT_EQ(config["rope_parameters"]["rope_theta"].Number(), 10000);
  EXPECT_EQ(config["rope_parameters"]["rope_type"].text(), "default");
  EXPECT_TRUE(config["tie_word_embeddings"].Flag());
  EXPECT_FALSE(config["attention_bias"].Flag(true));
  EXPECT_TRUE(program.extras["rope_interleaved"].Flag());
  const Tensor* down = program.weights.Find("model.layers.0.mlp.down_proj.weight");
  ASSERT_NE(down, nullptr);
  EXPECT_EQ(down->dims(), (std::vector<int64_t>{4, 8}));
  EXPECT_EQ(program.weights.tensors.size(), 11u);
  EXPECT_TRUE(program.blocks.empty());
}

TEST_F(GgufTest, BigEndianNumbersAreTurned) {
  const absl::StatusOr<ProgramPtr> little = Read(SmallLlama());
  const absl::StatusOr<ProgramPtr> big = Read(SmallLlama(true));
  ASSERT_TRUE(big.ok()) << big.status();
  EXPECT_EQ((*big)->config.ToString(), (*little)->config.ToString());
  for (const auto& [name, tensor] : (*little)->weights.tensors) {
    const Tensor* other = (*big)->weights.Find(name);
    ASSERT_NE(other, nullptr) << name;
    EXPECT_EQ(*other, tensor) << name;
  }
}

TEST_F(GgufTest, TensorsStayInTheFile) {
  const std::string path = Path("m.gguf");
  WriteFile(path, SmallLlama().Make());
  const absl::StatusOr<ProgramPtr> read = checkpoint::ReadGguf(path);
  ASSERT_TRUE(read.ok()) << read.status();
  for (const auto& [name, tensor] : (*read)->weights.tensors) {
    EXPECT_TRUE(tensor.file_range().has_value()) << name;
  }
}

TEST_F(GgufTest, StacksOfExpertsAreApart) {
  GgufMaker file;
  file.Text("general.architecture", "llama")
      .U32("llama.expert_count", 2)
      .U32("llama.expert_used_count", 1)
      .U32("llama.attention.head_count", 1)
      .U32("llama.embedding_length", 32)
      .Floats("token_embd.weight", {32, 3})
      .Floats("blk.0.ffn_gate_exps.weight", {32, 2, 2})
      .Tensor("blk.0.ffn_up_exps.weight", {32, 2, 2}, 8, std::string(4 * 34, '\1'));
  const absl::StatusOr<ProgramPtr> read = Read(file);
  ASSERT_TRUE(read.ok()) << read.status();
  const checkpoint::Program& program = **read;
  EXPECT_EQ(program.config["model_type"].text(), "mixtral");
  EXPECT_EQ(program.config["num_local_experts"].Int(), 2);
  const std::string prefix = "model.layers.0.block_sparse_moe.experts.";
  const Tensor* second = program.weights.Find(prefix + "1.w1.weight");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->dims(), (std::vector<int64_t>{2, 32}));
  EXPECT_EQ(second->AsDouble(0), 64 % 7 / 8.0 - 0.25);
  const auto block = program.blocks.find(prefix + "1.w3.weight");
  ASSERT_NE(block, program.blocks.end());
  EXPECT_EQ(block->second.dims, (std::vector<int64_t>{2, 32}));
  EXPECT_EQ(block->second.bytes.nbytes(), 2u * 34);
}

TEST_F(GgufTest, FactorsOfPositionsBecomeSettings) {
  const absl::StatusOr<ProgramPtr> read = Read(SmallLlama().Floats("rope_freqs.weight", {0}));
  ExpectError(read, absl::StatusCode::kDataLoss, "an axis of 0 elements");
  GgufMaker file = SmallLlama();
  file.Tensor("rope_freqs.weight", {2}, 0, file.Number(1.0F) + file.Number(8.0F));
  const absl::StatusOr<ProgramPtr> scaled = Read(file);
  ASSERT_TRUE(scaled.ok()) << scaled.status();
  const Json& rope = (*scaled)->config["rope_parameters"];
  EXPECT_EQ(rope["rope_type"].text(), "longrope");
  EXPECT_EQ(rope["short_factor"].ToString(), rope["long_factor"].ToString());
  EXPECT_EQ(rope["short_factor"].at(1).Number(), 8);
  EXPECT_EQ(rope["attention_factor"].Number(), 1);
}

TEST_F(GgufTest, ModelsInSeveralFiles) {
  const auto part = [](int number, GgufMaker file) {
    const auto small = [&](uint16_t n) { return StrCat(file.Number(uint32_t{2}), file.Number(n)); };
    return file.Raw("split.no", small(static_cast<uint16_t>(number)))
        .Raw("split.count", small(2))
        .Make();
  };
  const std::string first = Path("m-00001-of-00002.gguf"), second = Path("m-00002-of-00002.gguf");
  WriteFile(first, part(0, SmallLlama()));
  const auto alone = checkpoint::ReadGguf(first);
  ExpectError(alone, absl::StatusCode::kNotFound, "'m-00002-of-00002.gguf' is not beside it");
  WriteFile(second, part(1, GgufMaker().Floats("output.weight", {4, 8})));
  for (const std::string& path : {first, second}) {
    const auto read = checkpoint::ReadGguf(path);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_NE((*read)->weights.Find("lm_head.weight"), nullptr);
    EXPECT_FALSE((*read)->config["tie_word_embeddings"].Flag(true));
  }
  WriteFile(second, part(1, GgufMaker().Floats("output_norm.weight", {4})));
  ExpectError(checkpoint::ReadGguf(first), absl::StatusCode::kDataLoss,
              "two files have a tensor 'output_norm.weight'");
  WriteFile(second, part(0, GgufMaker()));
  ExpectError(checkpoint::ReadGguf(first), absl::StatusCode::kDataLoss, "does not say that it is");
  WriteFile(Path("other.gguf"), part(0, SmallLlama()));
  ExpectError(checkpoint::ReadGguf(Path("other.gguf")), absl::StatusCode::kDataLoss, "its name");
}

// What is not known may change results.
TEST_F(GgufTest, NothingIsIgnored) {
  constexpr auto kUnknown = absl::StatusCode::kUnimplemented;
  const auto llama = [] { return SmallLlama(); };
  ExpectError(Read(llama().F32("llama.attention.novelty", 1)), kUnknown,
              "key 'llama.attention.novelty'");
  ExpectError(Read(llama().Floats("blk.0.attn_novel.weight", {4})), kUnknown,
              "tensor 'blk.0.attn_novel.weight': it is not known for architecture 'llama'");
  ExpectError(Read(llama().Floats("blk.x.attn_q.weight", {4})), kUnknown, "'blk.x.attn_q.weight'");
  ExpectError(Read(llama().Tensor("output.weight", {256}, 16, std::string(66, '\0'))), kUnknown,
              "IQ2_XXS is not read");
  ExpectError(Read(llama().Text("general.type", "adapter")), kUnknown, "of type 'adapter'");
  ExpectError(Read(llama().Text("llama.rope.scaling.type", "new")), kUnknown, "'new'");
  ExpectError(Read(llama().U32("llama.pooling_type", 4)), kUnknown, "pooling of type 4");
  ExpectError(Read(GgufMaker().Text("general.architecture", "novel")), kUnknown,
              "architecture 'novel' is not known; these are: bert, ");
  GgufMaker uneven;
  uneven.Text("general.architecture", "llama")
      .U32s("llama.feed_forward_length", {8, 16})
      .Floats("token_embd.weight", {4, 8});
  ExpectError(Read(uneven), kUnknown, "not the same in all layers: 8 in layer 0, 16 in layer 1");
  // Texts for people, tokenizers and notes of other programs say nothing of the network.
  EXPECT_TRUE(Read(llama()
                       .Text("general.name", "n")
                       .U32("tokenizer.ggml.bos_token_id", 1)
                       .U32("quantize.imatrix.entries_count", 1))
                  .ok());
}

TEST_F(GgufTest, BrokenFiles) {
  const GgufMaker m;
  const auto list = [&](uint32_t type, uint64_t count) {
    return StrCat(m.Number(uint32_t{9}), m.Number(type), m.Number(count));
  };
  std::string nested = m.Number(uint32_t{9});
  for (int i = 0; i < 12; ++i) nested += m.Number(uint32_t{9}) + m.Number(uint64_t{1});
  nested += m.Number(uint32_t{4}) + m.Number(uint64_t{0});
  constexpr uint64_t kHuge = uint64_t{1} << 62;
  const std::string whole = SmallLlama().Make();
  struct Row {
    std::string bytes, want;
  };
  const std::vector<Row> rows = {
      {"", "does not start with 'GGUF'"},
      {"GGUX", "does not start with 'GGUF'"},
      {"GGUF", "the header: the file ends"},
      {GgufMaker(false, 4).Make(), "version 4"},
      {GgufMaker(false, 0).Make(), "version 0"},
      {GgufMaker(true, 9).Make(), "version 9"},
      {whole.substr(0, 30), "do not fit into"},
      {whole.substr(0, 400), "key"},
      {whole.substr(0, whole.size() - 100), "'token_embd.weight': its 128 bytes"},
      {GgufMaker().Counts(0, kHuge).Make(), "4611686018427387904 keys do not fit"},
      {GgufMaker().Counts(kHuge, 0).Make(), "4611686018427387904 tensors do not fit"},
      {GgufMaker().Counts(0, ~uint64_t{0}).Make(), "keys do not fit"},
      {GgufMaker().Counts(1, 0).Floats("x", {4}).Counts(2, 0).Make(), "axes; 4 is the most"},
      {GgufMaker().Raw("k", m.Number(uint32_t{13})).Make(), "key 'k': unknown type 13"},
      {GgufMaker().Raw("k", list(4, kHuge)).Make(), "key 'k': 4611686018427387904 items"},
      {GgufMaker().Raw("k", list(8, kHuge)).Make(), "key 'k': 4611686018427387904 items"},
      {GgufMaker().Raw("k", list(77, 0)).Make(), "key 'k': unknown type 77"},
      {GgufMaker().Raw("k", nested).Make(), "key 'k': lists are nested"},
      {GgufMaker().Raw("k", m.Number(uint32_t{8}) + m.Number(kHuge)).Make(), "key 'k': the file"},
      {GgufMaker().Raw("k", m.Number(uint32_t{7}) + "\7").Make(), "a bool of 7"},
      {GgufMaker().U32("k", 1).U32("k", 2).Make(), "key 'k': it occurs twice"},
      {GgufMaker().Floats("x", {4}).Floats("x", {4}).Make(), "tensor 'x': it occurs twice"},
      {GgufMaker().Tensor("x", {1, 1, 1, 1, 1}, 0, "").Make(), "it has 5 axes"},
      {GgufMaker().Tensor("x", {0}, 0, "").Make(), "an axis of 0 elements"},
      {GgufMaker().Tensor("x", {kHuge, 4}, 0, "").Make(), "too many elements"},
      {GgufMaker().Tensor("x", {1 << 20, kHuge >> 20, 8}, 2, "").Make(), "too many elements"},
      {GgufMaker().Tensor("x", {kHuge}, 0, "").Make(), "too many elements"},
      {GgufMaker().Tensor("x", {~uint64_t{0}}, 0, "").Make(), "an axis of"},
      {GgufMaker().Tensor("x", {4}, 4, "").Make(), "tensor 'x': unknown type 4"},
      {GgufMaker().Tensor("x", {4}, 999, "").Make(), "tensor 'x': unknown type 999"},
      {GgufMaker().Tensor("x", {33}, 8, "").Make(), "rows of 33 elements are not blocks of 32"},
      {GgufMaker().Tensor("x", {}, 8, "").Make(), "rows of 1 elements are not blocks"},
      {GgufMaker().At(4).Floats("x", {4}).Make(), "offset 4 is not a multiple of 32"},
      {GgufMaker().At(64).Floats("x", {4}).Make(), "offset 64 are not within"},
      {GgufMaker().At(~uint64_t{31}).Floats("x", {4}).Make(), "are not within"},
      {GgufMaker().Floats("x", {4}).At(0).Floats("y", {4}).Make(), "inside of the tensor before"},
      {GgufMaker().U32("general.alignment", 0).Floats("x", {4}).Make(), "it is 0, not a power"},
      {GgufMaker().U32("general.alignment", 48).Floats("x", {4}).Make(), "it is 48, not a power"},
      {GgufMaker().Text("general.alignment", "a").Floats("x", {4}).Make(), "it is 'a', not"},
      {GgufMaker().Make(), "no text 'general.architecture'"},
      {GgufMaker().U32("general.architecture", 1).Make(), "no text 'general.architecture'"},
      {GgufMaker().Text("general.architecture", "llama").Make(), "no matrix 'token_embd.weight'"},
      {SmallLlama().Text("llama.vocab_size", "a").Make(), "'llama.vocab_size': expected a number"},
      {SmallLlama().U32("llama.rope.dimension_count", 3).Make(), "a head has 2 numbers"},
      {SmallLlama().F32("llama.rope.dimension_count", 1.5F).Make(), "a head has 2 numbers"},
      {SmallLlama().F32("llama.rope.scaling.factor", 0).Make(), "a factor of positions of 0"},
      {SmallLlama().F32("llama.rope.scaling.factor", 1e30F).Make(), "expected a number"},
      {SmallLlama().Tensor("rope_freqs.weight", {2}, 1, "abcd").Make(), "no list of float32"},
      {GgufMaker()
           .Text("general.architecture", "llama")
           .U32("llama.expert_count", 2)
           .Floats("blk.0.ffn_up_exps.weight", {1, 1, 4})
           .Make(),
       "it is no stack of weights"},
      {GgufMaker()
           .Text("general.architecture", "gemma2")
           .U32("gemma2.block_count", 4000000000)
           .Floats("token_embd.weight", {4, 8})
           .Make(),
       "65536 is the most"},
  };
  for (const Row& row : rows) {
    const auto read = checkpoint::ReadGguf(Source::Bytes(row.bytes, {}, "m.gguf"));
    ExpectError(read, absl::StatusCode::kDataLoss, row.want);
  }
  ExpectError(checkpoint::ReadGguf(Source::Bytes(GgufMaker(false, 1).Make(), {}, "m.gguf")),
              absl::StatusCode::kUnimplemented, "version 1");
}

// No beginning of a file is taken for a whole one, and no byte that is changed ends the program.
TEST_F(GgufTest, DamagedFiles) {
  const std::string whole = SmallLlama().Make();
  for (size_t size = 0; size < whole.size() - 32; ++size) {
    EXPECT_FALSE(checkpoint::ReadGguf(Source::Bytes(whole.substr(0, size))).ok()) << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char with : {'\0', '\xff', '\x80'}) {
      std::string changed = whole;
      changed[at] = with;
      (void)checkpoint::ReadGguf(Source::Bytes(std::move(changed)));
    }
  }
}

}  // namespace
}  // namespace x2ir
