#include "x2ir/inspect/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/core/edit/cut.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/columns.h"
#include "x2ir/inspect/compare_internal.h"
#include "x2ir/inspect/diff.h"

namespace x2ir {
namespace {

std::string ErrorText(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

size_t ValuesOf(const Graph& graph) {
  size_t count = 0;
  for (const Node* node : graph.nodes()) {
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      count += node->output(i) && !node->output(i)->is_unused();
    }
  }
  return count;
}

ModelComparison ComparisonOf(const Model& ir, const Model& other, FoundDifferences found,
                             const VerifyOptions& options) {
  ModelComparison result;
  result.tolerance = options.tolerance;
  result.criterion = options.criterion;
  result.values_of_first = ValuesOf(*ir.graph);
  result.values_of_other = ValuesOf(*other.graph);
  if (found.first) {
    const Compared& c = found.values[*found.first];
    Divergence first{*found.first,
                     c.value,
                     c.other,
                     DifferencesOf(c.value->producer(), c.other->producer(), found.match),
                     {},
                     {},
                     {}};
    DifferingNodes region = DifferingNodesOf(ir, other, found);
    first.nodes_here = std::move(region.here);
    first.nodes_there = std::move(region.there);
    first.match = std::move(found.match);
    result.first = std::move(first);
  }
  for (Compared& c : found.values) result.values.push_back(std::move(c.verdict));
  result.outputs = std::move(found.outputs);
  return result;
}

}  // namespace

bool ModelComparison::agrees() const {
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [](const auto& output) {
    return output.comparison.agrees;
  });
}

std::string ModelComparison::ToText(size_t most) const {
  std::string text = note.empty() ? "" : StrCat(note, "\n");
  StrAppend(&text, "compared ", values.size(), " values, of ", values_of_first,
            " of the first model and ", values_of_other, " of the other\n");
  const auto node = [](const ValueVerdict& v) {
    return v.node.empty() ? v.op : StrCat(v.op, " \"", v.node, "\"");
  };
  if (first) {
    const ValueVerdict& v = values[first->value];
    StrAppend(&text, "first difference: ", node(v), ", which computes '", v.name, "' (", v.type,
              ")", v.name == v.other_name ? "" : StrCat(", there '", v.other_name, "'"),
              "; its operands agree\n");
    if (!v.comparison.problem.empty()) StrAppend(&text, "  ", v.comparison.problem, "\n");
    for (const std::string& reason : first->reasons) StrAppend(&text, "  ", reason, "\n");
    for (const auto& [nodes, where] :
         {std::pair(&first->nodes_here, "here"), std::pair(&first->nodes_there, "there")}) {
      if (first->nodes_here.size() + first->nodes_there.size() <= 2 || nodes->empty()) continue;
      StrAppend(&text, "  ", where, " that is");
      constexpr size_t kFew = 8;
      for (size_t i = 0; i < nodes->size() && i < kFew; ++i) {
        const Node& part = *(*nodes)[i];
        StrAppend(&text, i ? ", " : " ", part.op().str(),
                  part.name().empty() ? "" : StrCat(" \"", part.name(), "\""));
      }
      StrAppend(&text, nodes->size() > kFew ? StrCat(", and ", nodes->size() - kFew, " more") : "",
                "\n");
    }
  } else {
    text += "no difference except rounding\n";
  }
  // From the first difference on, in the order of computing; else the largest ones.
  std::vector<size_t> rows;
  for (size_t i = first ? first->value : 0; i < values.size(); ++i) {
    if (first ? values[i].differs() : values[i].error > 0) rows.push_back(i);
  }
  if (!first) {
    std::stable_sort(rows.begin(), rows.end(), [&](size_t x, size_t y) {
      return std::pair(values[x].matters, values[x].error) >
             std::pair(values[y].matters, values[y].error);
    });
  }
  const size_t shown = std::min(rows.size(), most);
  Columns table({{"value"},
                 {"op"},
                 {"max abs", Columns::kRight},
                 {"max rel", Columns::kRight},
                 {"cosine", Columns::kRight},
                 {"type"}});
  for (size_t i = 0; i < shown; ++i) {
    const ValueVerdict& v = values[rows[i]];
    char cosine[24];
    std::snprintf(cosine, sizeof cosine, "%.6f", v.cosine);
    table.Add({ShortName(v.name), v.op, ErrorText(v.comparison.max_abs),
               ErrorText(v.comparison.max_rel), cosine,
               StrCat(v.type, v.comparison.agrees ? "" : "  beyond the tolerance",
                      v.differs() && !v.matters ? ", but later results agree" : "")});
  }
  StrAppend(&text, shown > 0 ? "\n" : "", table.ToText());
  if (rows.size() > shown) StrAppend(&text, "... and ", rows.size() - shown, " more\n");
  Verification of_outputs;
  of_outputs.tolerance = tolerance;
  of_outputs.criterion = criterion;
  of_outputs.outputs = outputs;
  return StrCat(text, "\n", of_outputs.ToText());
}

std::string ModelComparison::ToJson() const {
  const auto string = [](std::string_view text) {
    std::string quoted;
    AppendJsonString(&quoted, text);
    return quoted;
  };
  const auto number = [&](double v) {
    return std::isfinite(v) ? ErrorText(v) : string(std::isnan(v) ? "nan" : "inf");
  };
  const auto verdict = [&](const ValueVerdict& v) {
    return StrCat("{\"value\": ", string(v.name), ", \"other\": ", string(v.other_name),
                  ", \"op\": ", string(v.op), ", \"node\": ", string(v.node),
                  ", \"type\": ", string(v.type),
                  ", \"agrees\": ", v.comparison.agrees ? "true" : "false",
                  ", \"max_abs\": ", number(v.comparison.max_abs),
                  ", \"max_rel\": ", number(v.comparison.max_rel),
                  ", \"cosine\": ", number(v.cosine), ", \"error\": ", number(v.error),
                  ", \"matters\": ", !v.differs() || v.matters ? "true" : "false", "}");
  };
  std::string json = "{\n  \"first\": ";
  if (first) {
    StrAppend(&json, "{\"index\": ", first->value,
              ", \"value\": ", string(values[first->value].name),
              ", \"node\": ", string(values[first->value].node),
              ", \"op\": ", string(values[first->value].op), ", \"reasons\": [");
    for (size_t i = 0; i < first->reasons.size(); ++i) {
      StrAppend(&json, i ? ", " : "", string(first->reasons[i]));
    }
    json += "]}";
  } else {
    json += "null";
  }
  StrAppend(&json, ",\n  \"compared\": ", values.size(),
            ",\n  \"values_of_first\": ", values_of_first,
            ",\n  \"values_of_other\": ", values_of_other, ",\n  \"values\": [");
  for (size_t i = 0; i < values.size(); ++i) {
    StrAppend(&json, i ? ",\n    " : "\n    ", verdict(values[i]));
  }
  Verification of_outputs;
  of_outputs.tolerance = tolerance;
  of_outputs.criterion = criterion;
  of_outputs.note = note;
  of_outputs.outputs = outputs;
  return StrCat(json, "\n  ],\n  \"verification\": ", of_outputs.ToJson(), "}\n");
}

absl::StatusOr<ModelComparison> CompareModels(const Model& ir, const Model& other,
                                              absl::Span<const IoCase> cases,
                                              const VerifyOptions& options) {
  X2IR_ASSIGN_OR_RETURN(FoundDifferences found, FindDifferences(ir, other, cases, options));
  return ComparisonOf(ir, other, std::move(found), options);
}

absl::StatusOr<ModelComparison> CompareValues(const Model& ir, const ValuesFn& theirs,
                                              absl::Span<const IoCase> cases,
                                              const VerifyOptions& options) {
  X2IR_ASSIGN_OR_RETURN(FoundDifferences found, FindInValues(ir, theirs, cases, options));
  return ComparisonOf(ir, ir, std::move(found), options);
}

absl::StatusOr<DifferingPart> CutDifference(const Model& ir, const Model& other,
                                            const Divergence& first, absl::Span<const IoCase> cases,
                                            const VerifyOptions& options) {
  if (cases.empty()) return Invalid("there is no case to run");
  // Back from the value to what has a partner.
  absl::flat_hash_map<const Value*, const Value*> partner;  // of values of `other`
  for (const auto& [x, y] : first.match.values) partner[y] = x;
  std::vector<const Value*> inputs, todo = {first.there};
  absl::flat_hash_set<const Value*> seen = {first.there};
  while (!todo.empty()) {
    const Value* value = todo.back();
    todo.pop_back();
    if (value != first.there && (partner.contains(value) || !value->producer())) {
      inputs.push_back(value);
      continue;
    }
    const Node* node = value->producer();
    for (size_t i = 0; node && i < node->num_inputs(); ++i) {
      const Value* operand = node->input(i);
      if (operand && !operand->fixed_constant() && seen.insert(operand).second) {
        todo.push_back(operand);
      }
    }
  }
  absl::flat_hash_set<const Value*> wanted = {first.here};
  for (const Value* input : inputs) {
    if (const auto it = partner.find(input); it != partner.end()) wanted.insert(it->second);
  }
  for (const IoCase& io : cases) {
    absl::flat_hash_map<const Value*, Datum> kept;
    for (size_t i = 0; i < ir.graph->inputs().size(); ++i) {
      if (io.inputs[i]) kept[ir.graph->inputs()[i]] = *io.inputs[i];
    }
    RunOptions run = WithProgress(*ir.graph, options.progress);
    run.on_value = [&](const Value& value, const Datum& datum) {
      if (wanted.contains(&value)) kept[&value] = datum;
    };
    X2IR_RETURN_IF_ERROR(RunCaseWith(*ir.graph, io, run).status());
    DifferingPart part;
    part.model = other.Clone();
    std::vector<std::string> names;
    for (const Value* input : inputs) {
      const auto of = partner.find(input);
      const auto it = of == partner.end() ? kept.end() : kept.find(of->second);
      if (it == kept.end() || !it->second.tensor()) {
        return CannotExpress("'", input->name(), "' is not a tensor that both models have");
      }
      names.push_back(input->name());
      // As rows, where the other model has images of them.
      const auto dims = input->shape() ? input->shape()->Static() : std::nullopt;
      const Tensor& tensor = *it->second.tensor();
      const bool fits = dims && CheckedProduct(*dims) == tensor.num_elements();
      part.io.inputs.push_back(fits ? tensor.Reshaped(*dims) : tensor);
    }
    const auto expected = kept.find(first.here);
    if (expected == kept.end() || !expected->second.tensor()) {
      return CannotExpress("'", first.here->name(), "' is not a tensor");
    }
    part.io.outputs = {*expected->second.tensor()};
    X2IR_RETURN_IF_ERROR(Cut(*part.model.graph, names, {first.there->name()}));
    X2IR_ASSIGN_OR_RETURN(const Verification verdict,
                          VerifyOutputs(part.model, {part.io}, options));
    if (!verdict.agrees() || &io == &cases.back()) return part;
  }
  return absl::InternalError("unreachable: the last case gives a part");
}

}  // namespace x2ir
