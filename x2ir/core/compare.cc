#include "x2ir/core/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/core/cut.h"
#include "x2ir/core/match.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// What rounding makes of float32 in one node, as a part of the largest number, and how much more
// than its operands' error a node may have.
constexpr double kRounding = 1e-5;
constexpr double kGrowth = 20;

std::string ErrorText(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

// What `Comparison` does not have: the error as a part of the whole, and the angle.
struct Likeness {
  double error = 0, cosine = 1;
};

Likeness LikenessOf(const Datum& got, const Datum& expected, const Comparison& comparison) {
  const Tensor *x = got.tensor(), *y = expected.tensor();
  if (!x || !y || x->dtype() != y->dtype() || x->dims() != y->dims()) {
    return {comparison.agrees ? 0 : kInfinity, 1};
  }
  if (!IsFloating(x->dtype())) return {comparison.differing == 0 ? 0 : kInfinity, 1};
  const Numbers<double> p(*x), q(*y);
  double most = 0, pp = 0, qq = 0, pq = 0;
  for (int64_t i = 0; i < q.size(); ++i) {
    if (!std::isfinite(p[i]) || !std::isfinite(q[i])) continue;
    most = std::max(most, std::fabs(q[i]));
    pp += p[i] * p[i];
    qq += q[i] * q[i];
    pq += p[i] * q[i];
  }
  Likeness likeness;
  if (pp > 0 && qq > 0) likeness.cosine = std::min(1.0, pq / std::sqrt(pp) / std::sqrt(qq));
  if (comparison.max_abs > 0) {
    likeness.error = most > 0 ? comparison.max_abs / most : kInfinity;
  }
  return likeness;
}

struct Compared {
  const Value *value, *other;
  ValueVerdict verdict;
};

// What was found, with the values themselves.
struct Found {
  PortMatch ports;
  GraphMatch match;
  std::vector<Compared> values;
  absl::flat_hash_map<const Value*, size_t> at;
  std::vector<OutputVerdict> outputs;
  std::optional<size_t> first;
};

size_t ValuesOf(const Graph& graph) {
  size_t count = 0;
  for (const Node* node : graph.nodes()) {
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      count += node->output(i) && !node->output(i)->is_unused();
    }
  }
  return count;
}

void Keep(ValueVerdict& verdict, const Datum& got, const Datum& expected,
          const Tolerance& tolerance) {
  Comparison comparison = Compare(got, expected, tolerance);
  const Likeness likeness = LikenessOf(got, expected, comparison);
  verdict.cosine = std::min(verdict.cosine, likeness.cosine);
  if (verdict.type.empty()) {
    verdict.type = expected.tensor() ? expected.tensor()->type().ToString() : "no tensor";
    verdict.comparison = std::move(comparison);
    verdict.error = likeness.error;
  } else if (likeness.error > verdict.error || (verdict.comparison.agrees && !comparison.agrees)) {
    verdict.comparison = std::move(comparison);
    verdict.error = std::max(verdict.error, likeness.error);
  }
}

// The first value whose error is more than rounding, and more than its operands'.
std::optional<size_t> FirstOf(const Found& found) {
  for (size_t i = 0; i < found.values.size(); ++i) {
    const double error = found.values[i].verdict.error;
    if (!(error > kRounding)) continue;
    double before = 0;
    const Node* node = found.values[i].value->producer();
    for (size_t k = 0; node && k < node->num_inputs(); ++k) {
      const auto it = found.at.find(node->input(k));
      if (it != found.at.end()) before = std::max(before, found.values[it->second].verdict.error);
    }
    if (std::isinf(error) ? !std::isinf(before) : error > kGrowth * before) return i;
  }
  return std::nullopt;
}

absl::StatusOr<Found> Find(const Model& ir, const Model& other, absl::Span<const IoCase> cases,
                           const VerifyOptions& options) {
  Found found;
  X2IR_ASSIGN_OR_RETURN(found.ports, MatchPorts(*ir.graph, *other.graph));
  found.match = MatchGraphs(*ir.graph, *other.graph, found.ports);
  absl::flat_hash_map<const Value*, size_t> of_other;
  for (const Node* node : ir.graph->nodes()) {
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      const auto it = found.match.values.find(node->output(i));
      if (it == found.match.values.end() || it->first->is_unused()) continue;
      Compared c{it->first, it->second, {}};
      c.verdict.name = it->first->name();
      c.verdict.other_name = it->second->name();
      c.verdict.op = node->op().str();
      c.verdict.node = node->name();
      found.at[it->first] = of_other[it->second] = found.values.size();
      found.values.push_back(std::move(c));
    }
  }
  for (const IoCase& io : cases) {
    absl::flat_hash_map<const Value*, Datum> kept;
    RunOptions run = WithProgress(*ir.graph, options.progress);
    run.on_value = [&](const Value& value, const Datum& datum) {
      if (found.at.contains(&value)) kept[&value] = datum;
    };
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> expected, RunCaseWith(*ir.graph, io, run));
    run = WithProgress(*other.graph, options.progress);
    run.on_value = [&](const Value& value, const Datum& datum) {
      const auto it = of_other.find(&value);
      if (it == of_other.end()) return;
      Compared& c = found.values[it->second];
      if (const auto had = kept.find(c.value); had != kept.end()) {
        Keep(c.verdict, datum, had->second, options.tolerance);
        kept.erase(had);
      }
    };
    auto got = RunCaseWith(*other.graph, CaseOf(io, found.ports, *ir.graph, *other.graph), run);
    if (!got.ok()) return Annotate(got.status(), "the other model");
    for (size_t i = 0; i < got->size(); ++i) {
      const auto of = std::find(ir.graph->outputs().begin(), ir.graph->outputs().end(),
                                found.ports.outputs[i].first);
      ValueVerdict verdict;
      Keep(verdict, (*got)[i], expected[of - ir.graph->outputs().begin()], options.tolerance);
      found.outputs.push_back(
          {io.name, other.graph->outputs()[i]->name(), verdict.type, verdict.comparison});
    }
  }
  // A value that one of the runs did not reach is not compared.
  for (size_t i = found.values.size(); i-- > 0;) {
    if (found.values[i].verdict.type.empty()) found.values.erase(found.values.begin() + i);
  }
  found.at.clear();
  for (size_t i = 0; i < found.values.size(); ++i) found.at[found.values[i].value] = i;
  found.first = FirstOf(found);
  return found;
}

std::string Text(const Attribute* attr) { return attr ? attr->ToString() : "not there"; }

std::vector<std::string> ReasonsOf(const Found& found) {
  std::vector<std::string> reasons;
  const Compared& c = found.values[*found.first];
  const Node *x = c.value->producer(), *y = c.other->producer();
  if (!y) return reasons;
  if (x->op() != y->op()) {
    return {StrCat("it is ", x->op().str(), " here and ", y->op().str(), " there")};
  }
  if (x->num_inputs() != y->num_inputs()) {
    return {StrCat("it has ", x->num_inputs(), " operands here and ", y->num_inputs(), " there")};
  }
  for (size_t i = 0; i < x->num_inputs(); ++i) {
    const Value *p = x->input(i), *q = y->input(i);
    if (!p != !q) {
      reasons.push_back(StrCat("operand ", i, " is there on one side only"));
      continue;
    }
    if (!p) continue;
    const Tensor *u = p->fixed_constant(), *v = q->fixed_constant();
    if (u && v) {
      // Weights are the same to the last digit, or they are not.
      const Comparison comparison = Compare(*v, *u, Tolerance{0, 0});
      if (!comparison.agrees) {
        reasons.push_back(
            StrCat("operand ", i, " '", p->name(), "' is a constant: ", comparison.problem));
      }
    } else if (!u != !v) {
      reasons.push_back(StrCat("operand ", i, " is a constant on one side only"));
    } else if (const auto it = found.match.values.find(p);
               it != found.match.values.end() && it->second != q) {
      reasons.push_back(
          StrCat("operand ", i, " is '", p->name(), "' here and '", q->name(), "' there"));
    }
  }
  absl::flat_hash_set<std::string> names;
  for (const AttributeMap* attrs : {&x->attrs(), &y->attrs()}) {
    for (const auto& [symbol, attr] : *attrs) {
      const std::string name = std::string(symbol.str());
      if (!names.insert(name).second) continue;
      const Attribute *u = x->attrs().Find(symbol), *v = y->attrs().Find(symbol);
      if (u && std::holds_alternative<std::shared_ptr<Graph>>(u->variant())) continue;
      if (u && v ? *u == *v : !u == !v) continue;
      reasons.push_back(
          StrCat("attribute ", name, " is ", Text(u), " here and ", Text(v), " there"));
    }
  }
  return reasons;
}

void AppendColumn(std::string* line, std::string_view text, size_t width, bool right = false) {
  const size_t blanks = text.size() < width ? width - text.size() : 0;
  StrAppend(line, line->empty() ? "" : "  ", right ? std::string(blanks, ' ') : "", text,
            right ? "" : std::string(blanks, ' '));
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
              "; what it reads agrees\n");
    if (!v.comparison.problem.empty()) StrAppend(&text, "  ", v.comparison.problem, "\n");
    for (const std::string& reason : first->reasons) StrAppend(&text, "  ", reason, "\n");
  } else {
    text += "no difference but for rounding\n";
  }
  // From the first difference on, in the order of computing; else the largest ones.
  std::vector<size_t> rows;
  for (size_t i = first ? first->value : 0; i < values.size(); ++i) {
    if (values[i].error > (first ? kRounding : 0)) rows.push_back(i);
  }
  if (!first) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](size_t x, size_t y) { return values[x].error > values[y].error; });
  }
  const size_t shown = std::min(rows.size(), most);
  size_t width = 5, ops = 2;
  for (size_t i = 0; i < shown; ++i) {
    width = std::max(width, std::min<size_t>(values[rows[i]].name.size(), 48));
    ops = std::max(ops, values[rows[i]].op.size());
  }
  if (shown > 0) {
    std::string line;
    AppendColumn(&line, "value", width);
    AppendColumn(&line, "op", ops);
    for (const char* title : {"max abs", "max rel", "cosine"}) AppendColumn(&line, title, 9, true);
    StrAppend(&text, "\n", line, "  type\n");
  }
  for (size_t i = 0; i < shown; ++i) {
    const ValueVerdict& v = values[rows[i]];
    std::string line;
    AppendColumn(&line, v.name, width);
    AppendColumn(&line, v.op, ops);
    AppendColumn(&line, ErrorText(v.comparison.max_abs), 9, true);
    AppendColumn(&line, ErrorText(v.comparison.max_rel), 9, true);
    char cosine[24];
    std::snprintf(cosine, sizeof cosine, "%.6f", v.cosine);
    AppendColumn(&line, cosine, 9, true);
    StrAppend(&text, line, "  ", v.type, v.comparison.agrees ? "" : "  beyond the tolerance", "\n");
  }
  if (rows.size() > shown) StrAppend(&text, "... and ", rows.size() - shown, " more\n");
  Verification of_outputs;
  of_outputs.tolerance = tolerance;
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
                  ", \"cosine\": ", number(v.cosine), ", \"error\": ", number(v.error), "}");
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
  of_outputs.note = note;
  of_outputs.outputs = outputs;
  return StrCat(json, "\n  ],\n  \"verification\": ", of_outputs.ToJson(), "}\n");
}

absl::StatusOr<ModelComparison> CompareModels(const Model& ir, const Model& other,
                                              absl::Span<const IoCase> cases,
                                              const VerifyOptions& options) {
  X2IR_ASSIGN_OR_RETURN(Found found, Find(ir, other, cases, options));
  ModelComparison result;
  result.tolerance = options.tolerance;
  result.values_of_first = ValuesOf(*ir.graph);
  result.values_of_other = ValuesOf(*other.graph);
  if (found.first) {
    const Compared& c = found.values[*found.first];
    result.first = Divergence{*found.first, c.value, c.other, ReasonsOf(found)};
  }
  for (Compared& c : found.values) result.values.push_back(std::move(c.verdict));
  result.outputs = std::move(found.outputs);
  return result;
}

absl::StatusOr<DifferingPart> CutDifference(const Model& ir, const Model& other,
                                            const Divergence& first, absl::Span<const IoCase> cases,
                                            const VerifyOptions& options) {
  if (cases.empty()) return Invalid("there is no case to run");
  X2IR_ASSIGN_OR_RETURN(const PortMatch ports, MatchPorts(*ir.graph, *other.graph));
  const GraphMatch match = MatchGraphs(*ir.graph, *other.graph, ports);
  // Back from the value to what has a partner.
  absl::flat_hash_map<const Value*, const Value*> partner;  // of values of `other`
  for (const auto& [x, y] : match.values) partner[y] = x;
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
        return CannotExpress("'", input->name(), "' is no tensor that both models have");
      }
      names.push_back(input->name());
      part.io.inputs.push_back(*it->second.tensor());
    }
    const auto expected = kept.find(first.here);
    if (expected == kept.end() || !expected->second.tensor()) {
      return CannotExpress("'", first.here->name(), "' is no tensor");
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
