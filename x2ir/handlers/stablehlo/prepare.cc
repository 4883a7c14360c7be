#include "x2ir/handlers/stablehlo/prepare.h"

#include <algorithm>
#include <iterator>

#include "x2ir/builder/complex_ports.h"
#include "x2ir/formats/checks.h"
#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// Entries of dictionaries that an operation reads.
bool IsEntry(std::string_view name) {
  static constexpr std::string_view kDictionaries[] = {"backend_config.", "mhlo.backend_config.",
                                                       "mhlo.attributes.", "composite_attributes."};
  return std::any_of(std::begin(kDictionaries), std::end(kDictionaries),
                     [&](std::string_view dictionary) { return name.starts_with(dictionary); });
}

// How precise a product is, how arrays lie in memory, and what tools note for themselves
// ("mhlo.sharding", "sdy.sharding").
bool IsHint(std::string_view name) {
  if (name == "precision_config" || name == "result_layouts" || name == "operand_layouts") {
    return true;
  }
  return name.find('.') != std::string_view::npos && !IsEntry(name);
}

// The struct result_accuracy, or a field of it.
bool IsAccuracy(std::string_view name) {
  return name.starts_with("result_accuracy") || name == "mode" || name == "atol" ||
         name == "rtol" || name == "ulps";
}

void RemoveHints(Graph& graph, size_t& accuracies) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) RemoveHints(*inner, accuracies);
    if (node->dialect() != Symbol(stablehlo::kDialect)) continue;
    std::vector<Symbol> hints;
    for (const auto& [name, attr] : node->attrs()) {
      const bool is_accuracy = IsAccuracy(name.view());
      const auto* mode = is_accuracy ? attr.get<std::string>() : nullptr;
      if (mode && (*mode == "HIGHEST" || *mode == "TOLERANCE")) ++accuracies;
      if (is_accuracy || IsHint(name.view())) hints.push_back(name);
    }
    for (const Symbol hint : hints) node->EraseAttr(hint);
  }
}

// Operations of a program that runs on several devices, or that talks to its host.
constexpr std::string_view kOfSeveralDevices[] = {"all_gather",
                                                  "all_reduce",
                                                  "all_to_all",
                                                  "async_done",
                                                  "async_start",
                                                  "collective_broadcast",
                                                  "collective_permute",
                                                  "collective_reduce",
                                                  "cross-replica-sum",
                                                  "infeed",
                                                  "interpreter.run_parallel",
                                                  "outfeed",
                                                  "partition_id",
                                                  "recv",
                                                  "reduce_scatter",
                                                  "replica_id",
                                                  "send"};

absl::Status CheckIsOfOneDevice(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    for (const Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(CheckIsOfOneDevice(*inner));
    if (node->dialect() != Symbol(stablehlo::kDialect)) continue;
    if (std::find(std::begin(kOfSeveralDevices), std::end(kOfSeveralDevices), node->op().view()) ==
        std::end(kOfSeveralDevices)) {
      continue;
    }
    return Unimplemented(
        "the program has the operation ", node->op().view(),
        ", so it is a part of one that runs on several devices or talks to its host; give the "
        "program as it is before it is partitioned");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareStablehlo(Model& model, std::vector<std::string>& warnings) {
  X2IR_RETURN_IF_ERROR(InlineCallsInRegions(model));
  std::vector<Graph*> graphs = {model.graph.get()};
  for (const auto& function : model.functions) graphs.push_back(function->body.get());
  size_t accuracies = 0;
  for (Graph* graph : graphs) {
    X2IR_RETURN_IF_ERROR(CheckIsOfOneDevice(*graph));
    RemoveHints(*graph, accuracies);
    X2IR_RETURN_IF_ERROR(MakeStablehloUnits(*graph));
  }
  if (accuracies > 0) {
    warnings.push_back(StrCat(accuracies,
                              " operations ask for an accuracy (result_accuracy), which is not "
                              "kept: results are as accurate as the target computes them"));
  }
  if (const int64_t checks = ChecksLeftOut(model); checks > 0) {
    warnings.push_back(StrCat(checks, checks == 1 ? " check" : " checks",
                              " that the program makes of its own results are left out; x2ir "
                              "verify runs them"));
  }
  return ComplexPortsAsPairs(*model.graph, warnings);
}

}  // namespace x2ir
