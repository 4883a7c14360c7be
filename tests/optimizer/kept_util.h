// Whether the passes keep what a graph computes.
#ifndef X2IR_TESTS_OPTIMIZER_KEPT_UTIL_H_
#define X2IR_TESTS_OPTIMIZER_KEPT_UTIL_H_

#include <string>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/eval.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {

// Runs a copy of the graph through the default passes for that target, and both on the inputs.
// "" when inputs, outputs and results are the same, within rounding where a pass rounds, or when
// the graph cannot be run on them; else what differs first.
std::string WhatPassesChange(const Graph& graph, const std::vector<Datum>& inputs,
                             const PassContext& target);

// Runs a copy of the graph through the passes for that target, infers what is left as a reader of
// its file would, and runs them again. "" when the second run changes nothing.
std::string WhatASecondRunChanges(const Graph& graph, const PassContext& target,
                                  const std::vector<std::string>& passes = DefaultPasses());

}  // namespace x2ir

#endif  // X2IR_TESTS_OPTIMIZER_KEPT_UTIL_H_
