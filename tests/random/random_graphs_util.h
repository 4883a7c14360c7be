// Random graphs over all ops of the registry, for tests of what must hold of any graph.
#ifndef X2IR_TESTS_RANDOM_RANDOM_GRAPHS_UTIL_H_
#define X2IR_TESTS_RANDOM_RANDOM_GRAPHS_UTIL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/eval.h"

namespace x2ir {

struct RandomGraph {
  std::shared_ptr<Graph> graph;
  std::map<std::string, Datum> values;  // what each value of the graph holds in a run

  // In the order of the graph's inputs.
  std::vector<Datum> Inputs() const;
};

// For what a graph is made: passes must keep everything; runtimes are asked for numbers that all of
// them give: finite ones of moderate size, nothing drawn, nothing that is not defined (a cast of
// what the type does not hold, a shift by more than the width). For runtimes graphs are also of all
// element types and ranks, and of odd names.
enum class RandomKind : uint8_t { kForPasses, kForRuntimes };

// The same graph for the same seed: valid, inferred, and it can be evaluated. Some dims of its
// inputs are names.
RandomGraph MakeRandomGraph(uint64_t seed, RandomKind kind = RandomKind::kForPasses);

// Takes nodes and outputs away (what used them gets their values as inputs) while `fails` does.
RandomGraph Reduce(const RandomGraph& graph, const std::function<bool(const RandomGraph&)>& fails);

}  // namespace x2ir

#endif  // X2IR_TESTS_RANDOM_RANDOM_GRAPHS_UTIL_H_
