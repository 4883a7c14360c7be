#include "tests/optimizer/kept_util.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "tests/conformance/value_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// What is found where, or drawn or chosen by a number, tells of any rounding at all, and so does
// where a function ends or jumps.
constexpr std::string_view kTelling[] = {"acos",
                                         "acosh",
                                         "arg_max",
                                         "arg_min",
                                         "asin",
                                         "atanh",
                                         "bernoulli",
                                         "binarizer",
                                         "eigh",
                                         "equal",
                                         "greater",
                                         "greater_or_equal",
                                         "hardmax",
                                         "less",
                                         "less_or_equal",
                                         "linear_classifier",
                                         "lu",
                                         "mod",
                                         "multinomial",
                                         "non_max_suppression",
                                         "non_zero",
                                         "shrink",
                                         "sign",
                                         "svd",
                                         "svm_classifier",
                                         "thresholded_relu",
                                         "top_k",
                                         "tree_ensemble",
                                         "tree_ensemble_classifier",
                                         "tree_ensemble_regressor",
                                         "unique"};

bool ChangedBy(const std::vector<PassResult>& results, const std::set<std::string>& passes) {
  return std::any_of(results.begin(), results.end(), [&](const PassResult& result) {
    return result.changes != 0 && passes.contains(result.name);
  });
}

// "" when both are the same within rounding.
std::string Difference(const Tensor& got, const Tensor& want, bool rounded) {
  if (got.type() != want.type()) {
    return StrCat("is ", got.type().ToString(), ", was ", want.type().ToString());
  }
  if (!IsFloating(want.dtype())) {
    if (got == want) return "";
    if (!rounded || !IsInteger(want.dtype())) return "other elements";
  }
  const double tolerance = BitWidth(want.dtype()) < 32 ? 2e-2 : rounded ? 1e-4 : 1e-5;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double a = got.AsDouble(i), b = want.AsDouble(i);
    if (rounded && IsInteger(want.dtype()) && std::abs(a - b) == 1) continue;
    // 0 and -0 are one number; what tells them apart makes other numbers of them.
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b))) continue;
    return StrCat("element ", i, " is ", a, ", was ", b);
  }
  return "";
}

std::string SignatureOf(const Graph& graph) {
  std::string text;
  for (const Value* v : graph.inputs())
    StrAppend(&text, v->name(), ": ", v->type().ToString(), "; ");
  for (const Value* v : graph.outputs()) StrAppend(&text, v->name(), ", ");
  return text;
}

}  // namespace

std::string WhatPassesChange(const Graph& original, const std::vector<Datum>& inputs,
                             const PassContext& target) {
  const std::shared_ptr<Graph> graph = original.Clone();
  const auto results = RunPasses(*graph, DefaultPasses(), target);
  if (!results.ok()) return results.status().ToString();
  if (const auto problems = graph->Validate(); !problems.empty()) return problems[0];
  if (SignatureOf(*graph) != SignatureOf(original)) return "inputs or outputs";
  const auto before = RunGraph(original, inputs);
  if (!before.ok()) return "";  // reduced to nothing that can be said
  const auto after = RunGraph(*graph, inputs);
  if (!after.ok()) return after.status().ToString();
  bool tells = false;
  for (const Node* node : original.nodes()) {
    tells = tells || std::count(std::begin(kTelling), std::end(kTelling), node->op().view()) != 0;
    tells = tells || (node->Is("max_pool") && node->num_outputs() > 1);
  }
  const bool rounds = ChangedBy(*results, {"fold_affine", "fuse_activations", "fuse_normalizations",
                                           "gemm", "hoist_scale", "merge_linear"});
  // Mostly of small numbers, which it adds exactly.
  const bool may_round = ChangedBy(*results, {"merge_constants"});
  if (tells && rounds) return "";
  for (size_t i = 0; i < before->size(); ++i) {
    const std::string& name = graph->outputs()[i]->name();
    const auto difference_if = [&](bool rounded) {
      return DatumDifference((*after)[i], (*before)[i], [&](const Tensor& got, const Tensor& want) {
        return Difference(got, want, rounded);
      });
    };
    std::string difference = difference_if(rounds);
    if (!difference.empty() && may_round) {
      if (tells) return "";
      difference = difference_if(true);
    }
    if (!difference.empty()) return StrCat(name, ": ", difference);
    const std::string other = NotOfType((*after)[i], graph->outputs()[i]->type());
    if (!other.empty()) return StrCat(name, " is ", other);
    const auto merged = MergeTypes(original.outputs()[i]->type(), graph->outputs()[i]->type());
    if (!merged.ok()) return StrCat(name, ": ", merged.status().ToString());
  }
  return "";
}

std::string WhatASecondRunChanges(const Graph& original, const PassContext& target,
                                  const std::vector<std::string>& passes) {
  const std::shared_ptr<Graph> graph = original.Clone();
  if (absl::Status s = InferGraph(*graph); !s.ok()) return s.ToString();
  if (const auto first = RunPasses(*graph, passes, target); !first.ok()) {
    return first.status().ToString();
  }
  if (absl::Status s = graph->Sort(); !s.ok()) return s.ToString();
  if (absl::Status s = InferGraph(*graph); !s.ok()) return s.ToString();
  TextOptions options;
  options.max_constant_elements = 200;
  const std::string before = ToText(*graph, options);
  const auto second = RunPasses(*graph, passes, target);
  if (!second.ok()) return second.status().ToString();
  std::string text;
  for (const PassResult& pass : *second) {
    if (pass.changes != 0) StrAppend(&text, pass.name, ": ", pass.changes, " changes; ");
  }
  return text.empty() ? "" : StrCat(text, "of\n", before, "\nthey make\n", ToText(*graph, options));
}

}  // namespace x2ir
