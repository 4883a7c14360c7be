#include "x2ir/inspect/diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/json_list.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/op_name.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/same_meaning.h"
#include "x2ir/inspect/size_names.h"

namespace x2ir {
namespace {

std::string Text(const Attribute* attr) { return attr ? attr->ToString() : "not there"; }

bool IsGraph(const Attribute* attr) {
  return attr &&
         (attr->get<Attribute::GraphPtr>() || attr->get<std::vector<Attribute::GraphPtr>>());
}

std::string Called(const Node& node) {
  return StrCat(QualifiedOp(node), node.name().empty() ? "" : StrCat(" \"", node.name(), "\""));
}

std::string TextOf(const Node& node) {
  std::string text;
  for (const Value* output : node.outputs()) {
    if (!output) continue;
    StrAppend(&text, text.empty() ? "" : ", ", output->name(), ": ", output->type().ToString());
  }
  StrAppend(&text, text.empty() ? "" : " = ", QualifiedOp(node), "(");
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const Value* operand = node.input(i);
    StrAppend(&text, i ? ", " : "", operand ? operand->name() : "_");
  }
  return text + ")";
}

// Those that both have by name; else by position.
void MatchInterfacesOf(absl::Span<const Value* const> first, absl::Span<const Value* const> other,
                       ValuePairs& pairs) {
  absl::flat_hash_set<const Value*> left(other.begin(), other.end());
  std::vector<const Value*> without;
  for (const Value* x : first) {
    const auto it = std::find_if(other.begin(), other.end(), [&](const Value* y) {
      return y->name() == x->name() && left.contains(y);
    });
    if (it == other.end()) {
      without.push_back(x);
    } else {
      pairs.emplace_back(x, *it);
      left.erase(*it);
    }
  }
  size_t i = 0;
  for (const Value* y : other) {
    if (left.contains(y) && i < without.size()) pairs.emplace_back(without[i++], y);
  }
}

class Differ {
 public:
  Differ(ModelDiff& diff, const Tolerance& weights) : diff_(diff), weights_(weights) {}

  void Graphs(const Graph& first, const Graph& other) {
    InterfaceMatch ports;
    MatchInterfacesOf(first.inputs(), other.inputs(), ports.inputs);
    MatchInterfacesOf(first.outputs(), other.outputs(), ports.outputs);
    for (const auto& [x, y] : ports.inputs) sizes_.Learn(x->type(), y->type());
    SayPorts(first.inputs(), other.inputs(), ports.inputs, "input");
    SayPorts(first.outputs(), other.outputs(), ports.outputs, "output");
    Graphs(first, other, "", ports, MatchGraphs(first, other, ports));
  }

 private:
  void Graphs(const Graph& first, const Graph& other, const std::string& where,
              const InterfaceMatch& ports, const GraphMatch& match) {
    absl::flat_hash_set<const Node*> matched;
    for (const auto& [x, y] : match.nodes) matched.insert(y);
    // Nodes that only the other graph has come after the node that they follow there.
    absl::flat_hash_map<const Node*, std::vector<const Node*>> after;  // null: at the start
    const Node* last = nullptr;
    for (const Node* y : other.nodes()) {
      if (matched.contains(y)) {
        last = y;
      } else {
        after[last].push_back(y);
      }
    }
    SayAlone(after[nullptr], NodeDiff::kOnlyInOther, where);
    for (const Node* x : first.nodes()) {
      const auto it = match.nodes.find(x);
      if (it == match.nodes.end()) {
        SayAlone({x}, NodeDiff::kOnlyInFirst, where);
        continue;
      }
      Nodes(*x, *it->second, where, match);
      SayAlone(after[it->second], NodeDiff::kOnlyInOther, where);
    }
    for (size_t i = 0; i < ports.outputs.size(); ++i) {
      const auto& [x, y] = ports.outputs[i];
      const auto it = match.values.find(x);
      if (it != match.values.end() && it->second != y) {
        diff_.of_models.push_back(StrCat(where.empty() ? "" : StrCat(where, ": "), "output '",
                                         x->name(), "' is another value in the other model"));
      }
    }
  }

  void SayPorts(absl::Span<const Value* const> first, absl::Span<const Value* const> other,
                const ValuePairs& pairs, std::string_view what) {
    absl::flat_hash_set<const Value*> found;
    const auto say = [&](const auto&... words) {
      diff_.of_models.push_back(StrCat(what, " ", words...));
    };
    for (const auto& [x, y] : pairs) {
      found.insert(x);
      found.insert(y);
      if (x->name() != y->name()) say("'", x->name(), "' is called '", y->name(), "' there");
      const bool same = what == "input" ? sizes_.SameButForNames(x->type(), y->type())
                                        : sizes_.Same(x->type(), y->type());
      if (!same) {
        say("'", x->name(), "' is ", x->type().ToString(), " here and ", y->type().ToString(),
            " there");
      }
    }
    for (const Value* x : first) {
      if (!found.contains(x)) say("'", x->name(), "' is only in the first model");
    }
    for (const Value* y : other) {
      if (!found.contains(y)) say("'", y->name(), "' is only in the other model");
    }
  }

  void SayAlone(const std::vector<const Node*>& nodes, NodeDiff::Kind kind,
                const std::string& where) {
    for (const Node* node : nodes) {
      // A weight in another order is looked at where it is used.
      if (node->num_outputs() == 1 && node->output(0) && MovedConstant(*node->output(0))) continue;
      diff_.nodes.push_back({kind,
                             where,
                             QualifiedOp(*node),
                             node->name(),
                             node->output(0) ? node->output(0)->name() : "",
                             TextOf(*node),
                             {}});
    }
  }

  void Nodes(const Node& x, const Node& y, const std::string& where, const GraphMatch& match) {
    std::vector<std::string> differences = DifferencesOf(&x, &y, match, weights_);
    for (size_t i = 0; i < std::max(x.num_outputs(), y.num_outputs()); ++i) {
      const Value *p = x.output(i), *q = y.output(i);
      if (!p != !q) {
        differences.push_back(StrCat("result ", i, " exists on one side only"));
      } else if (p && !sizes_.Same(p->type(), q->type())) {
        differences.push_back(StrCat("result ", i, " is ", p->type().ToString(), " here and ",
                                     q->type().ToString(), " there"));
      }
    }
    const size_t before = diff_.nodes.size();
    if (x.has_subgraphs() || y.has_subgraphs()) Nested(x, y, where, match, differences);
    if (!differences.empty()) {
      diff_.nodes.push_back({NodeDiff::kChanged, where, QualifiedOp(x), x.name(),
                             x.output(0) ? x.output(0)->name() : "", TextOf(x),
                             std::move(differences)});
    } else if (diff_.nodes.size() == before) {
      ++diff_.same;
    }
  }

  void Nested(const Node& x, const Node& y, const std::string& where, const GraphMatch& match,
              std::vector<std::string>& differences) {
    const std::vector<const Graph*> first = x.subgraphs(), other = y.subgraphs();
    if (first.size() != other.size()) {
      differences.push_back(
          StrCat("it has ", first.size(), " nested graphs here and ", other.size(), " there"));
      return;
    }
    for (size_t i = 0; i < first.size(); ++i) {
      Graphs(*first[i], *other[i],
             StrCat(where.empty() ? "" : StrCat(where, " / "), Called(x), " graph ", i),
             PortsByPosition(*first[i], *other[i]), MatchNested(*first[i], *other[i], match));
    }
  }

  ModelDiff& diff_;
  const Tolerance weights_;
  SizeNames sizes_;
};

void SayOpsets(const Model& first, const Model& other, ModelDiff& diff) {
  std::set<std::string> domains;
  for (const Model* model : {&first, &other}) {
    for (const OpsetImport& import : model->opset_imports) domains.insert(import.domain);
  }
  for (const std::string& domain : domains) {
    const int64_t x = first.Opset(domain), y = other.Opset(domain);
    if (x == y) continue;
    diff.of_models.push_back(StrCat("opset", domain.empty() ? "" : StrCat(" of ", domain), " is ",
                                    x, " here and ", y, " there"));
  }
}

}  // namespace

std::vector<std::string> DifferencesOf(const Node* x, const Node* y, const GraphMatch& match,
                                       const Tolerance& constants) {
  std::vector<std::string> reasons;
  if (!x || !y) return reasons;
  if (x->op() != y->op() && SameReshape(*x, *y)) {
    const auto it = match.values.find(x->input(0));
    if (it == match.values.end() || it->second == y->input(0)) return reasons;
    return {StrCat("operand 0 is '", x->input(0)->name(), "' here and '", y->input(0)->name(),
                   "' there")};
  }
  if (x->op() != y->op() || x->dialect() != y->dialect()) {
    return {StrCat("it is ", QualifiedOp(*x), " here and ", QualifiedOp(*y), " there")};
  }
  if (x->num_inputs() != y->num_inputs()) {
    return {StrCat("it has ", x->num_inputs(), " operands here and ", y->num_inputs(), " there")};
  }
  const std::vector<const Value*> operands = OperandsLike(*x, *y, match);
  for (size_t i = 0; i < x->num_inputs(); ++i) {
    const Value *p = x->input(i), *q = operands[i];
    if (!p != !q) {
      reasons.push_back(StrCat("operand ", i, " exists on one side only"));
      continue;
    }
    if (!p) continue;
    const auto it = match.values.find(p);
    if (it != match.values.end() && it->second == q) continue;
    const std::optional<Tensor> u = ConstantRead(*x, i, *p), v = ConstantRead(*y, i, *q);
    if (u && v) {
      const Comparison comparison = Compare(*v, *u, constants);
      if (!comparison.agrees && !SameIntegers(*x, *y, i)) {
        reasons.push_back(
            StrCat("operand ", i, " '", p->name(), "' is a constant: ", comparison.problem));
      }
    } else if (!u != !v) {
      reasons.push_back(StrCat("operand ", i, " is a constant on one side only"));
    } else if (it != match.values.end()) {
      reasons.push_back(
          StrCat("operand ", i, " is '", p->name(), "' here and '", q->name(), "' there"));
    }
  }
  std::set<std::string> names;
  for (const AttributeMap* attrs : {&x->attrs(), &y->attrs()}) {
    for (const auto& [symbol, attr] : *attrs) {
      const std::string name = std::string(symbol.str());
      if (!names.insert(name).second) continue;
      const Attribute *u = x->attrs().Find(symbol), *v = y->attrs().Find(symbol);
      if (IsGraph(u) || IsGraph(v)) continue;
      if (SameAttribute(*x, *y, symbol)) continue;
      reasons.push_back(
          StrCat("attribute ", name, " is ", Text(u), " here and ", Text(v), " there"));
    }
  }
  return reasons;
}

ModelDiff DiffModels(const Model& first, const Model& other, const Tolerance& weights) {
  ModelDiff diff;
  Differ(diff, weights).Graphs(*first.graph, *other.graph);
  if (first.graph->first() && !first.graph->first()->is_ir()) SayOpsets(first, other, diff);
  return diff;
}

std::string ModelDiff::ToText() const {
  std::string text;
  for (const std::string& line : of_models) StrAppend(&text, "~ ", line, "\n");
  size_t counts[3] = {0, 0, 0};
  for (const NodeDiff& node : nodes) {
    ++counts[node.kind];
    StrAppend(&text,
              node.kind == NodeDiff::kOnlyInFirst   ? "- "
              : node.kind == NodeDiff::kOnlyInOther ? "+ "
                                                    : "~ ",
              node.graph.empty() ? "" : StrCat("[", node.graph, "] "), node.text,
              node.node.empty() ? "" : StrCat("  \"", node.node, "\""), "\n");
    for (const std::string& each : node.differences) StrAppend(&text, "    ", each, "\n");
  }
  const auto nodes_of = [](size_t n) { return StrCat(n, n == 1 ? " node" : " nodes"); };
  StrAppend(&text, nodes_of(same), same == 1 ? " is" : " are", " the same");
  if (empty()) return StrCat(text, "; no difference\n");
  StrAppend(&text, "; ", counts[NodeDiff::kChanged], " changed, ", counts[NodeDiff::kOnlyInFirst],
            " only in the first model, ", counts[NodeDiff::kOnlyInOther], " only in the other");
  if (!of_models.empty()) {
    StrAppend(&text, "; ", of_models.size(), " of inputs, outputs and opsets");
  }
  return text + "\n";
}

std::string ModelDiff::ToJson() const {
  constexpr const char* kKinds[] = {"only_in_first", "only_in_other", "changed"};
  return StrCat(
      "{\n  \"differs\": ", empty() ? "false" : "true", ",\n  \"same\": ", same,
      ",\n  \"of_models\": ", JsonList(of_models, JsonString), ",\n  \"nodes\": ",
      JsonList(nodes,
               [&](const NodeDiff& node) {
                 return StrCat(
                     "\n    {\"kind\": \"", kKinds[node.kind],
                     "\", \"graph\": ", JsonString(node.graph), ", \"op\": ", JsonString(node.op),
                     ", \"node\": ", JsonString(node.node), ", \"value\": ", JsonString(node.value),
                     ", \"text\": ", JsonString(node.text),
                     ", \"differences\": ", JsonList(node.differences, JsonString), "}");
               }),
      "\n}\n");
}

namespace {

// As for a target that has every op: an op that is one node in one model and several in another
// becomes the same.
absl::Status OptimizeForAll(Model& model, const Dialect& dialect, const ProgressFn& progress) {
  ExportOptions options;
  options.opset = dialect.latest_opset;
  options.foreign.all = true;
  options.progress = progress;
  X2IR_RETURN_IF_ERROR(FromIr(model, dialect.name, options));
  return ToIr(model, {.foreign = {.all = true}});
}

}  // namespace

absl::StatusOr<ModelDiff> DiffOptimized(Model& first, Model& other, const std::string& dialect,
                                        const ProgressFn& progress) {
  const Dialect* known = FindDialect(dialect);
  if (!known) return Invalid("there is no dialect '", dialect, "'");
  X2IR_RETURN_IF_ERROR(OptimizeForAll(first, *known, progress));
  X2IR_RETURN_IF_ERROR(OptimizeForAll(other, *known, progress));
  return DiffModels(first, other, {1e-4, 1e-6});
}

}  // namespace x2ir
