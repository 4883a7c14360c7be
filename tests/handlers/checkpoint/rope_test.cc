// Rotary positions and slopes of ALiBi: numbers that transformers 5.12 computes of the same
// configurations (ROPE_INIT_FUNCTIONS, LlamaRotaryEmbedding, build_alibi_tensor).
#include "x2ir/handlers/checkpoint/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/handlers/checkpoint/checkpoint_util.h"
#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval.h"

namespace x2ir::checkpoint {
namespace {

using Floats = std::vector<double>;

void ExpectNear(const Floats& is, const Floats& expected, const std::string& what) {
  ASSERT_EQ(is.size(), expected.size()) << what;
  for (size_t i = 0; i < is.size(); ++i) {
    EXPECT_NEAR(is[i], expected[i], std::abs(expected[i]) * 1e-6) << what << " [" << i << "]";
  }
}

constexpr char kLongParameters[] =
    R"({"max_position_embeddings": 64, "rope_parameters": {"rope_type": "longrope",
        "short_factor": [1, 1.25, 1.5, 2], "long_factor": [1, 2, 4, 8],
        "original_max_position_embeddings": 16}})";
constexpr char kDynamicParameters[] =
    R"({"max_position_embeddings": 64, "rope_parameters": {"rope_type": "dynamic", "factor": 2}})";

TEST(CheckpointRope, FrequenciesAreThoseOfTransformers) {
  struct Row {
    const char* config;
    int64_t head_size;
    Floats frequencies, long_frequencies;
    double factor;
  };
  const std::vector<Row> rows = {
      {"{}", 8, {1, 0.1, 0.01, 0.001}, {}, 1},
      {R"({"rope_theta": 1000000})", 4, {1, 0.001}, {}, 1},
      {R"({"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}})",
       8,
       {1, 0.01},
       {},
       1},
      {R"({"rope_parameters": {"rope_type": "linear", "factor": 4}})",
       8,
       {0.25, 0.0250000004, 0.00249999994, 0.000250000012},
       {},
       1},
      // The older style.
      {R"({"rope_scaling": {"type": "linear", "factor": 4}, "rope_theta": 10000})",
       8,
       {0.25, 0.0250000004, 0.00249999994, 0.000250000012},
       {},
       1},
      {R"({"rope_parameters": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
           "high_freq_factor": 4, "original_max_position_embeddings": 32}})",
       8,
       {1, 0.0125000002, 0.00124999997, 0.000125000006},
       {},
       1},
      {R"({"rope_parameters": {"rope_type": "llama3", "factor": 32, "low_freq_factor": 1,
           "high_freq_factor": 4, "original_max_position_embeddings": 8192}})",
       16,
       {1, 0.316227764, 0.100000001, 0.0316227786, 0.00999999978, 0.00316227786, 0.000129351247,
        9.88211832e-06},
       {},
       1},
      {R"({"rope_parameters": {"rope_type": "yarn", "factor": 4,
           "original_max_position_embeddings": 16}})",
       8,
       {1, 0.0250000004, 0.00249999994, 0.000250000012},
       {},
       1.13862943611},
      {R"({"rope_parameters": {"rope_type": "yarn", "factor": 4, "attention_factor": 1.5,
           "original_max_position_embeddings": 16}})",
       8,
       {1, 0.0250000004, 0.00249999994, 0.000250000012},
       {},
       1.5},
      {R"({"max_position_embeddings": 65536, "rope_parameters": {"rope_type": "yarn", "factor": 16,
           "original_max_position_embeddings": 4096}})",
       32,
       {1, 0.562341332, 0.316227764, 0.177827939, 0.100000001, 0.0562341288, 0.0273875836,
        0.0130195469, 0.00598214241, 0.0026108704, 0.00104468106, 0.000349304872, 6.2500003e-05,
        3.51463314e-05, 1.97642366e-05, 1.11142463e-05},
       {},
       1.27725887222},
      {R"({"max_position_embeddings": 65536, "rope_parameters": {"rope_type": "yarn", "factor": 16,
           "original_max_position_embeddings": 4096, "truncate": false}})",
       32,
       {1, 0.562341332, 0.316227764, 0.177827939, 0.100000001, 0.0562341288, 0.0278613176,
        0.012898514, 0.0056962138, 0.00232756464, 0.000816470478, 0.000182229633, 6.2500003e-05,
        3.51463314e-05, 1.97642366e-05, 1.11142463e-05},
       {},
       1.27725887222},
      {R"({"max_position_embeddings": 163840, "rope_parameters": {"rope_type": "yarn",
           "factor": 40, "original_max_position_embeddings": 4096, "mscale": 1,
           "mscale_all_dim": 0.5, "beta_fast": 32, "beta_slow": 1}})",
       16,
       {1, 0.316227764, 0.100000001, 0.0239147246, 0.00512499968, 0.000849862176, 2.49999994e-05,
        7.90569447e-06},
       {},
       1.1557219902},
      {kLongParameters,
       8,
       {1, 0.0799999982, 0.00666666683, 0.000500000024},
       {1, 0.0500000007, 0.00249999994, 0.000125000006},
       1.22474487139},
  };
  for (const Row& row : rows) {
    const absl::StatusOr<Json> config = Json::Parse(row.config);
    ASSERT_TRUE(config.ok()) << row.config;
    Settings settings(*config);
    const Rope rope = RopeOf(settings, row.head_size);
    ExpectNear(rope.frequencies, row.frequencies, row.config);
    ExpectNear(rope.long_frequencies, row.long_frequencies, row.config);
    EXPECT_NEAR(rope.factor, row.factor, 1e-9) << row.config;
    EXPECT_EQ(settings.Unknown(), std::vector<std::string>()) << row.config;
  }
}

// The cosines and sines of positions 0 to length - 1, by the last one.
TEST(CheckpointRope, ByTheLengthOfTheText) {
  struct Row {
    const char* config;
    int64_t length;
    Floats cos, sin;
  };
  const std::vector<Row> rows = {
      {kLongParameters,
       10,
       {-1.1159022, 0.92077023, 1.222541, 1.2247325},
       {0.50474006, 0.80757803, 0.073440611, 0.0055113337}},
      {kLongParameters,
       20,
       {1.2109109, 0.71241343, 1.2233635, 1.2247415},
       {0.18356134, 0.99622643, 0.05815351, 0.0029087665}},
      {kDynamicParameters,
       20,
       {0.98870462, -0.32328957, 0.98200428, 0.99981952},
       {0.14987721, 0.94630009, 0.1888589, 0.018998858}},
      {kDynamicParameters,
       100,
       {0.03982088, 0.15293911, 0.82592392, 0.99891496},
       {-0.99920678, 0.98823559, 0.56378162, 0.046571385}},
  };
  for (const Row& row : rows) {
    Program program;
    program.config = *Json::Parse(row.config);
    Graph graph;
    Net net(graph, program);
    const Rope rope = RopeOf(net.settings(), 8);
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < row.length; ++i) numbers.push_back(i);
    const Expr positions(
        net.b(), graph.AddConstant("positions", Tensor::Of<int64_t>({1, row.length}, numbers)));
    const Turn turn = TurnOf(net, rope, positions);
    graph.AddOutput(turn.cos);
    graph.AddOutput(turn.sin);
    const auto results = RunGraph(graph, {});
    ASSERT_TRUE(results.ok()) << results.status();
    for (size_t k = 0; k < 2; ++k) {
      const Tensor& all = *results->at(k).tensor();
      ASSERT_EQ(all.dims(), (std::vector<int64_t>{1, row.length, 4}));
      for (int64_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(all.AsDouble((row.length - 1) * 4 + i),
                    (k ? row.sin : row.cos)[static_cast<size_t>(i)], 2e-5)
            << row.length << (k ? " sin " : " cos ") << i;
      }
    }
  }
}

TEST(CheckpointRope, RefusedParameters) {
  const std::map<std::string, std::string> rows = {
      {R"({"rope_parameters": {"rope_type": "odd"}})", "rotary positions of type 'odd' are not"},
      {R"({"rope_parameters": {"rope_type": "linear"}})", "'rope_parameters.factor' is missing"},
      {R"({"rope_parameters": {"rope_type": "linear", "factor": 0}})", "without bounds"},
      {R"({"rope_parameters": {"rope_type": "llama3", "factor": 2}})", "_factor' is missing"},
      {R"({"rope_parameters": {"rope_type": "dynamic"}})", "'rope_parameters.factor' is missing"},
      {R"({"rope_parameters": {"rope_type": "longrope", "short_factor": [1], "long_factor": []}})",
       "have 1 and 0 numbers; expected 4"},
      {R"({"rope_parameters": {"rope_theta": 0}})", "rope_theta 0"},
      {R"({"rope_parameters": {"partial_rotary_factor": 2}})", "partial_rotary_factor 2"},
      {R"({"rope_parameters": {"partial_rotary_factor": 0.4}})", "turn 3 numbers of a head"},
  };
  for (const auto& [text, want] : rows) {
    const absl::StatusOr<Json> config = Json::Parse(text);
    ASSERT_TRUE(config.ok()) << text;
    Settings settings(*config);
    std::string error = "none";
    try {
      (void)RopeOf(settings, 8);
    } catch (const Refusal& refusal) {
      error = std::string(refusal.status.message());
    }
    EXPECT_NE(error.find(want), error.npos) << text << ": " << error;
  }
}

TEST(CheckpointAlibi, SlopesOfHeads) {
  const std::map<int64_t, Floats> rows = {
      {4, {0.25, 0.0625, 0.015625, 0.00390625}},
      {6, {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125}},
      {12,
       {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.707106769,
        0.353553385, 0.176776677, 0.0883883387}},
  };
  for (const auto& [heads, slopes] : rows) {
    // Three times as wide: 24 numbers for all heads.
    SmallCheckpoint bloom =
        CheckpointWith("bloom", StrCat(R"({"hidden_size": 24, "n_head": )", heads, "}"));
    for (auto& [name, dims] : bloom.weights) {
      for (int64_t& d : dims) d = d == 16 ? d : 3 * d;  // not the number of words
    }
    const absl::StatusOr<Model> model = ImportOf(bloom);
    ASSERT_TRUE(model.ok()) << model.status();
    int found = 0;
    for (const Value* value : model->graph->constants()) {
      const Tensor* constant = value->constant();
      if (!constant || constant->dims() != std::vector<int64_t>{1, heads, 1, 1}) continue;
      ++found;
      Floats is;
      for (int64_t i = 0; i < heads; ++i) is.push_back(constant->AsDouble(i));
      ExpectNear(is, slopes, StrCat(heads, " heads"));
    }
    EXPECT_EQ(found, 1) << heads;
  }
}

}  // namespace
}  // namespace x2ir::checkpoint
