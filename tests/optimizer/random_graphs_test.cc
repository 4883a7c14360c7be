// The default passes over random graphs: what a graph computes stays.
//
//   X2IR_RANDOM_GRAPHS=10000   how many graphs, instead of 500
//   X2IR_RANDOM_SEED=17        the first seed; with X2IR_RANDOM_GRAPHS=1, that graph alone
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "tests/optimizer/kept_util.h"
#include "tests/optimizer/target_util.h"
#include "tests/random/random_graphs_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

std::string Check(const RandomGraph& random, const PassContext& target) {
  return WhatPassesChange(*random.graph, random.Inputs(), target);
}

std::string Text(const Graph& graph) {
  TextOptions options;
  options.max_constant_elements = 200;
  return ToText(graph, options);
}

TEST(RandomGraphs, PassesKeepTheResults) {
  const int64_t first = EnvNumber("X2IR_RANDOM_SEED", 1);
  const int64_t count = EnvNumber("X2IR_RANDOM_GRAPHS", 500);
  int64_t nodes = 0, left = 0, failures = 0;
  std::set<std::string> ops;
  std::map<std::string, int64_t> changes;
  for (int64_t seed = first; seed < first + count && failures < 5; ++seed) {
    const RandomGraph random = MakeRandomGraph(static_cast<uint64_t>(seed));
    ASSERT_TRUE(random.graph->Validate().empty())
        << seed << ": " << random.graph->Validate()[0] << "\n"
        << Text(*random.graph);
    const auto run = RunGraph(*random.graph, random.Inputs());
    ASSERT_TRUE(run.ok()) << seed << ": " << run.status() << "\n" << Text(*random.graph);
    // Every other time for a target that has all ops, for which more is fused.
    PassContext target;
    if (seed % 2 == 0) target.target = &AllOpsTarget();
    if (seed % 5 == 0) target.layout = seed % 2 == 0 ? "channels_first" : "channels_last";
    const std::string problem = Check(random, target);
    nodes += static_cast<int64_t>(random.graph->TotalNodes());
    for (const Node* node : random.graph->nodes()) ops.insert(node->op().str());
    if (!problem.empty()) {
      ++failures;
      const RandomGraph small =
          Reduce(random, [&](const RandomGraph& graph) { return !Check(graph, target).empty(); });
      const std::shared_ptr<Graph> after = small.graph->Clone();
      (void)RunPasses(*after, DefaultPasses(), target);
      ADD_FAILURE() << "seed " << seed << ": " << Check(small, target) << "\n"
                    << Text(*small.graph) << "\nbecomes\n"
                    << Text(*after);
      continue;
    }
    const std::shared_ptr<Graph> graph = random.graph->Clone();
    const auto results = RunPasses(*graph, DefaultPasses(), target);
    for (const PassResult& result : *results) changes[result.name] += result.changes;
    left += static_cast<int64_t>(graph->TotalNodes());
  }
  std::printf("%lld graphs of %zu ops, %lld nodes, %lld left\n", static_cast<long long>(count),
              ops.size(), static_cast<long long>(nodes), static_cast<long long>(left));
  for (const auto& [name, n] : changes) {
    std::printf("  %s: %lld changes\n", name.c_str(), static_cast<long long>(n));
  }
}

// Rules say behind what they stand, and are not tried elsewhere: nothing is missed by that.
TEST(RandomGraphs, RulesMissNoPlace) {
  const int64_t first = EnvNumber("X2IR_RANDOM_SEED", 1);
  const int64_t count = EnvNumber("X2IR_RANDOM_GRAPHS", 500);
  for (int64_t seed = first; seed < first + count; ++seed) {
    const RandomGraph random = MakeRandomGraph(static_cast<uint64_t>(seed));
    PassContext target{.target = &AllOpsTarget()};
    target.file_bytes = FileBytes(*random.graph);
    ASSERT_TRUE(RunPasses(*random.graph, DefaultPasses(), target).ok()) << seed;
    for (const std::string& pass : DefaultPasses()) {
      const std::string before = Text(*random.graph);
      const auto changes = RunRules(pass, *random.graph, target);
      ASSERT_TRUE(changes.ok()) << seed << ": " << changes.status();
      ASSERT_EQ(*changes, 0) << seed << ", " << pass << ":\n"
                             << before << "\nbecomes\n"
                             << Text(*random.graph);
    }
  }
}

// What passes leave is done: run on it again, they change nothing.
TEST(RandomGraphs, AreDoneAfterOneRun) {
  const int64_t first = EnvNumber("X2IR_RANDOM_SEED", 1);
  const int64_t count = EnvNumber("X2IR_RANDOM_GRAPHS", 500);
  for (int64_t seed = first, failures = 0; seed < first + count && failures < 5; ++seed) {
    PassContext target;
    if (seed % 2 == 0) target.target = &AllOpsTarget();
    if (seed % 5 == 0) target.layout = seed % 2 == 0 ? "channels_first" : "channels_last";
    const RandomGraph random = MakeRandomGraph(static_cast<uint64_t>(seed));
    const std::string problem = WhatASecondRunChanges(*random.graph, target);
    if (problem.empty()) continue;
    ++failures;
    const RandomGraph small = Reduce(random, [&](const RandomGraph& graph) {
      return !WhatASecondRunChanges(*graph.graph, target).empty();
    });
    ADD_FAILURE() << "seed " << seed << ": " << WhatASecondRunChanges(*small.graph, target) << "\n"
                  << Text(*small.graph);
  }
}

// By chance, or else in a unit: a new op that is hardly made by chance needs one
// (random_units_util.cc).
TEST(RandomGraphs, HaveAllOps) {
  std::set<std::string> missing;
  for (const OpDef* def : AllOps()) missing.insert(def->name().str());
  for (uint64_t seed = 1; seed <= 5000 && !missing.empty(); ++seed) {
    const RandomGraph random = MakeRandomGraph(seed);
    for (const Node* node : random.graph->nodes()) missing.erase(node->op().str());
  }
  EXPECT_TRUE(missing.empty()) << missing.size() << " ops, " << *missing.begin() << " first";
}

}  // namespace
}  // namespace x2ir
