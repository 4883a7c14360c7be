#include "x2ir/handlers/stablehlo/prepare.h"

#include <algorithm>
#include <iterator>

#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// Entries of dictionaries that an operation reads.
bool IsEntry(std::string_view name) {
  static constexpr std::string_view kDictionaries[] = {"backend_config.", "mhlo.attributes.",
                                                       "composite_attributes."};
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

// Whether an accuracy other than the default one is asked for. True where that cannot be told.
bool AsksForAccuracy(std::string_view name, const Attribute& attr) {
  const std::string* mode = attr.get<std::string>();
  return mode && *mode != "DEFAULT" && (name == "result_accuracy" || name.ends_with("mode"));
}

void RemoveHints(Graph& graph, size_t& accuracies) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) RemoveHints(*inner, accuracies);
    if (node->dialect() != Symbol(stablehlo::kDialect)) continue;
    std::vector<Symbol> hints;
    for (const auto& [name, attr] : node->attrs()) {
      const bool is_accuracy = name.view().starts_with("result_accuracy");
      if (is_accuracy) accuracies += AsksForAccuracy(name.view(), attr);
      if (is_accuracy || IsHint(name.view())) hints.push_back(name);
    }
    for (const Symbol hint : hints) node->EraseAttr(hint);
  }
}

}  // namespace

absl::Status PrepareStablehlo(Model& model, std::vector<std::string>& warnings) {
  size_t accuracies = 0;
  RemoveHints(*model.graph, accuracies);
  if (accuracies > 0) {
    warnings.push_back(StrCat(accuracies,
                              " operations ask for an accuracy (result_accuracy), which is not "
                              "kept: results are as accurate as the target computes them"));
  }
  return MakeStablehloUnits(*model.graph);
}

}  // namespace x2ir
