// See written_util.h.
#include "tests/handlers/tf/written_util.h"

#include <map>
#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/formats/tfjs/tfjs.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
absl::StatusOr<Model> ThroughTf(const Model& model) {
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  X2IR_RETURN_IF_ERROR(WriteTensorFlow(model, IntoMemory("model.pb", files)));
  return ReadTensorFlow(FromMemory("", "model.pb", files));
}
absl::StatusOr<Model> ThroughTfjs(const Model& model) {
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  X2IR_RETURN_IF_ERROR(WriteTfjs(model, IntoMemory("model.json", files)));
  return ReadTfjs(FromMemory("", "model.json", files));
}

Tensor Numbered(std::vector<int64_t> dims, int64_t seed) {
  Tensor t = Tensor::Zeros(DType::kFloat32, std::move(dims));
  for (float& x : t.mutable_span<float>()) x = static_cast<float>((seed += 7) % 11 - 5);
  return t;
}

void ExpectComesBack(const WrittenRow& row) {
  Model model;
  const auto graph = ParseIr(row.inputs, row.lines, "y");
  ASSERT_TRUE(graph.ok()) << graph.status() << row.lines;
  model.graph = *graph;
  for (const std::vector<Tensor>& set : row.values) {
    const auto want = RunGraph(*model.graph, {set.begin(), set.end()});
    ASSERT_TRUE(want.ok()) << want.status() << row.lines;
  }
  for (const char* dialect : {"tf", "tfjs"}) {
    if (!row.only.empty() && row.only != dialect) continue;
    const bool tfjs = std::string_view(dialect) == "tfjs";
    const Back back =
        ThereAndBack(model, dialect, row.values, false, tfjs ? ThroughTfjs : ThroughTf);
    if (row.refused.empty()) {
      EXPECT_EQ(back.problem, "") << dialect << ": " << row.inputs << "\n" << row.lines;
    } else {
      EXPECT_FALSE(back.wrong) << dialect << ": " << row.lines << back.problem;
      EXPECT_THAT(back.problem, ::testing::HasSubstr(std::string(row.refused))) << dialect;
    }
  }
}

}  // namespace x2ir
