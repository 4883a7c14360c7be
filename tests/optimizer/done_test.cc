// A law: in what passes leave, the same passes find nothing to do. Over the models of the
// repository and those beside it, and over the passes of each format that is written.
//
//   X2IR_DONE=swin   only models whose path has that in it
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/optimizer/kept_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/dialect_target.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// What runs before a file is written.
struct Pipeline {
  const Format* format;
  int opset;
  std::string Name() const { return StrCat(format->name, " at opset ", opset); }
};

// Formats that run the same passes for the same dialect count once.
std::vector<Pipeline> Pipelines() {
  std::vector<Pipeline> pipelines;
  std::set<std::tuple<std::string, bool, bool>> seen;
  for (const Format* format : AllFormats()) {
    const bool own = format->passes != nullptr;
    if (!format->write || !seen.emplace(format->dialect, own, format->keeps_modules).second) {
      continue;
    }
    const Dialect* dialect = FindDialect(format->dialect);
    std::vector<int> opsets = {dialect ? dialect->latest_opset : 1};
    if (format->dialect == "onnx") opsets.insert(opsets.end(), {9, 11, 13, 17, 20, 23});
    for (const int opset : opsets) pipelines.push_back({format, opset});
  }
  return pipelines;
}

std::string WhatRemains(const Graph& graph, const Pipeline& pipeline) {
  const Format& format = *pipeline.format;
  const std::vector<std::string> passes = format.passes ? format.passes(graph) : DefaultPasses();
  if (format.dialect.empty()) return WhatASecondRunChanges(graph, {}, passes);
  const DialectTarget target(format.dialect, {{"", pipeline.opset}});
  return WhatASecondRunChanges(graph,
                               {.target = &target,
                                .layout = std::string(target.layout()),
                                .keeps_modules = format.keeps_modules},
                               passes);
}

// All files of the folder that are read; returns how many.
int64_t ExpectDone(const fs::path& folder) {
  const char* only = getenv("X2IR_DONE");
  const std::vector<Pipeline> pipelines = Pipelines();
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (only && path.string().find(only) == std::string::npos) continue;
    if (entry.is_regular_file() && FormatOfExtension(path.string())) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  int64_t read = 0;
  for (const fs::path& path : files) {
    const auto model = Import(path.string());
    if (!model.ok()) continue;  // weights alone, or a file that is wrong on purpose
    ++read;
    for (const Pipeline& pipeline : pipelines) {
      const std::string problem = WhatRemains(*model->graph, pipeline);
      EXPECT_EQ(problem.substr(0, 4000), "") << path << " for " << pipeline.Name();
    }
  }
  return read;
}

TEST(Done, ModelsOfTheRepository) {
  EXPECT_GT(ExpectDone(fs::path(X2IR_SOURCE_DIR) / "tests" / "data"),
            getenv("X2IR_DONE") ? -1 : 15);
}

class DoneShared : public testing::TestWithParam<const char*> {};
TEST_P(DoneShared, Models) {
  const fs::path folder = fs::path(X2IR_SHARED_DIR) / GetParam();
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  ExpectDone(folder);
}
INSTANTIATE_TEST_SUITE_P(, DoneShared, testing::Values("models", "zoo"));

}  // namespace
}  // namespace x2ir
