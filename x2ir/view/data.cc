// What the page shows, as JSON. Everything that occurs often is a number: of a string, a group, an
// item, a value. page/model.js describes the format.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "x2ir/core/json_list.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/attribute_meanings.h"
#include "x2ir/inspect/cost.h"
#include "x2ir/inspect/diff.h"
#include "x2ir/inspect/match.h"
#include "x2ir/inspect/op_families.h"
#include "x2ir/inspect/weight_stats.h"
#include "x2ir/ops/op.h"
#include "x2ir/view/outline.h"
#include "x2ir/view/view.h"

namespace x2ir {
namespace {

constexpr size_t kMaxText = 2000;    // bytes of a name, an attribute, a doc string
constexpr int64_t kMaxElements = 8;  // of a constant that is shown with its elements
constexpr int kBins = 32;            // of a histogram
constexpr int kInputOp = -1, kOutputOp = -2;

std::string Clipped(std::string_view text) {
  if (text.size() <= kMaxText) return std::string(text);
  size_t end = kMaxText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole letters
  return StrCat(text.substr(0, end), "…");
}

// JSON's grammar has no infinity, but what is too large for a double is read as one.
std::string NumberText(double v) {
  if (std::isnan(v)) return "null";
  if (std::isinf(v)) return v > 0 ? "1e999" : "-1e999";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

std::string IntList(absl::Span<const int> numbers) {
  std::string text = "[";
  for (const int n : numbers) StrAppend(&text, text.size() > 1 ? "," : "", n);
  return text + "]";
}

// Strings by number, in the order in which they come up.
class StringTable {
 public:
  int NumberOf(std::string_view text) {
    const auto [it, fresh] = numbers_.try_emplace(Clipped(text), static_cast<int>(numbers_.size()));
    if (fresh) StrAppend(&json_, json_.empty() ? "" : ",\n", JsonString(it->first));
    return it->second;
  }
  std::string Json() const { return StrCat("[", json_, "]"); }

 private:
  StringMap<int> numbers_;
  std::string json_;
};

// Ops by number: what they are called, their family, their documentation.
class OpTable {
 public:
  int NumberOf(const Node& node) {
    const auto [it, fresh] =
        numbers_.try_emplace({node.dialect(), node.op()}, static_cast<int>(numbers_.size()));
    if (fresh) StrAppend(&json_, json_.empty() ? "" : ",\n", Row(node));
    return it->second;
  }
  std::string Json() const { return StrCat("[", json_, "]"); }

 private:
  static std::string Row(const Node& node) {
    if (!node.is_ir()) {
      return StrCat("[", JsonString(StrCat(node.dialect().str(), ".", node.op().str())),
                    ",-1,\"\",[],[],[]]");
    }
    const OpDef* def = FindOp(node.op());
    int family = -1;
    if (const OpFamily* found = FamilyOf(node.op())) {
      family = static_cast<int>(found - OpFamilies().data());
    }
    const auto name = [](const OperandDef& operand) { return JsonString(operand.name); };
    return StrCat("[", JsonString(node.op().view()), ",", family, ",",
                  JsonString(def ? def->doc() : ""), ",",
                  def ? JsonList(def->inputs(), name) : "[]", ",",
                  def ? JsonList(def->outputs(), name) : "[]", ",", Meanings(node), "]");
  }

  // [[attribute, what it means], ...]
  static std::string Meanings(const Node& node) {
    const OpDef* def = FindOp(node.op());
    if (!def) return "[]";
    return JsonList(def->attrs(), [&](const AttrDef& attr) {
      return StrCat("[", JsonString(attr.name.view()), ",",
                    JsonString(AttributeMeaning(node.op().view(), attr.name.view())), "]");
    });
  }

  absl::flat_hash_map<std::pair<Symbol, Symbol>, int> numbers_;
  std::string json_;
};

// A graph in columns, by the numbers of groups, items and values.
class GraphData {
 public:
  GraphData(const Graph& graph, StringTable& strings, OpTable& ops, int64_t* weight_bytes)
      : graph_(graph),
        strings_(strings),
        ops_(ops),
        weight_bytes_(weight_bytes),
        outline_(OutlineOf(graph)) {
    for (size_t i = 0; i < outline_.items.size(); ++i) Add(static_cast<int>(i));
    AddCosts();
  }

  // The number of a value that is some item's operand or result; -1 of others.
  int FindValue(const Value* value) const {
    const auto it = values_.find(value);
    return it == values_.end() ? -1 : it->second;
  }
  int FindItem(const Node* node) const {
    const auto it = outline_.item_of.find(node);
    return it == outline_.item_of.end() ? -1 : it->second;
  }
  int FindPort(const Value* value, Outline::ItemKind kind) const {
    const auto it = ports_.find({value, kind});
    return it == ports_.end() ? -1 : it->second;
  }
  void AppendJson(std::string* json) const {
    StrAppend(json, "\"groups\":",
              JsonList(outline_.groups,
                       [&](const Outline::Group& group) {
                         return StrCat("[", static_cast<int>(group.kind), ",",
                                       strings_.NumberOf(group.name), ",", group.parent, ",",
                                       group.count, ",", group.item, ",",
                                       strings_.NumberOf(group.type), "]");
                       }),
              ",\n\"items\":[", items_, "],\n\"values\":[", value_rows_, "],\n\"weights\":[",
              weights_, "],\n\"costs\":[", costs_, "],\n\"unknownCosts\":", unknown_costs_);
  }

 private:
  int NumberOf(const Value* value) {
    if (!value) return -1;
    const auto [it, fresh] = values_.try_emplace(value, static_cast<int>(values_.size()));
    if (fresh) {
      StrAppend(&value_rows_, value_rows_.empty() ? "" : ",", "[", strings_.NumberOf(value->name()),
                ",", strings_.NumberOf(value->type().ToString()), "]");
      if (const Tensor* constant = value->constant()) AddWeight(it->second, *constant);
    }
    return it->second;
  }

  // [op, name, group, [operands], [results], [attribute, text, ...], [key, text, ...]]
  void Add(int number) {
    const Outline::Item& item = outline_.items[number];
    std::vector<int> operands, results, attributes, notes;
    int op, name;
    const Annotations* annotations;
    if (item.node) {
      const Node& node = *item.node;
      op = ops_.NumberOf(node);
      name = strings_.NumberOf(node.name());
      annotations = node.annotations().get();
      for (const Value* operand : node.inputs()) operands.push_back(NumberOf(operand));
      for (const Value* result : node.outputs()) results.push_back(NumberOf(result));
      for (const auto& [key, attr] : node.attrs()) {
        if (attr.kind() == AttrKind::kGraph || attr.kind() == AttrKind::kGraphs) continue;
        attributes.push_back(strings_.NumberOf(key.view()));
        attributes.push_back(strings_.NumberOf(AttributeText(attr)));
      }
    } else {
      const bool is_input = item.kind == Outline::ItemKind::kInput;
      op = is_input ? kInputOp : kOutputOp;
      name = strings_.NumberOf(item.value->name());
      annotations = item.value->annotations().get();
      (is_input ? results : operands).push_back(NumberOf(item.value));
      ports_[{item.value, item.kind}] = number;
    }
    if (annotations) {
      if (!annotations->doc_string.empty()) {
        notes.push_back(strings_.NumberOf("documentation"));
        notes.push_back(strings_.NumberOf(annotations->doc_string));
      }
      for (const auto& [key, text] : annotations->metadata) {
        notes.push_back(strings_.NumberOf(key));
        notes.push_back(strings_.NumberOf(text));
      }
    }
    StrAppend(&items_, items_.empty() ? "" : ",\n", "[", op, ",", name, ",", item.group, ",",
              IntList(operands), ",", IntList(results));
    if (!attributes.empty() || !notes.empty()) StrAppend(&items_, ",", IntList(attributes));
    if (!notes.empty()) StrAppend(&items_, ",", IntList(notes));
    items_ += "]";
  }

  // [value, elements, bytes, "text"]: a small constant;
  // [value, elements, bytes, [min, max, mean, deviation, zeros, NaNs, infinities], [counts],
  // "base64"].
  void AddWeight(int value, const Tensor& tensor) {
    StrAppend(&weights_, weights_.empty() ? "" : ",\n", "[", value, ",", tensor.num_elements(),
              ",");
    if (tensor.num_elements() <= kMaxElements) {
      TextOptions options;
      options.max_constant_elements = kMaxElements;
      constexpr std::string_view kBegin = "tensor(";
      const std::string text = AttributeText(Attribute(tensor), options);
      StrAppend(&weights_, tensor.nbytes(), ",",
                JsonString(Clipped(
                    std::string_view(text).substr(kBegin.size(), text.size() - kBegin.size() - 1))),
                "]");
      return;
    }
    const WeightStats stats = StatsOf(tensor, "", kBins);
    StrAppend(&weights_, stats.bytes, ",");
    if (stats.has_numbers) {
      StrAppend(&weights_, "[", NumberText(stats.min), ",", NumberText(stats.max), ",",
                NumberText(stats.mean), ",", NumberText(stats.deviation), ",", stats.zeros, ",",
                stats.nans, ",", stats.infinities, "],",
                JsonList(stats.histogram, [](int64_t count) { return StrCat(count); }));
    } else {
      weights_ += "[],[]";
    }
    if (weight_bytes_ && !tensor.bytes().empty()) {
      *weight_bytes_ += static_cast<int64_t>(tensor.nbytes());
      if (*weight_bytes_ <= kMaxWeightBytes) {
        const absl::Span<const std::byte> bytes = tensor.bytes();
        StrAppend(&weights_, ",\"",
                  absl::Base64Escape(
                      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())),
                  "\"");
        DropPages(tensor);
      }
    }
    weights_ += "]";
  }

  // [item, multiply-adds, parameters, bytes of these, bytes of results] of each node that has any.
  void AddCosts() {
    std::vector<int> unknown;
    for (const NodeCost& cost : CostOf(graph_).nodes) {
      const int item = FindItem(cost.node);
      if (item < 0) continue;
      if (!cost.known) unknown.push_back(item);
      if (!cost.multiply_adds && !cost.parameters && !cost.result_bytes) continue;
      StrAppend(&costs_, costs_.empty() ? "" : ",", "[", item, ",", cost.multiply_adds, ",",
                cost.parameters, ",", cost.parameter_bytes, ",", cost.result_bytes, "]");
    }
    unknown_costs_ = IntList(unknown);
  }

  const Graph& graph_;
  StringTable& strings_;
  OpTable& ops_;
  int64_t* weight_bytes_;  // so far; null: no weights are wanted
  const Outline outline_;
  absl::flat_hash_map<const Value*, int> values_;
  absl::flat_hash_map<std::pair<const Value*, Outline::ItemKind>, int> ports_;
  std::string items_, value_rows_, weights_, costs_, unknown_costs_;
};

std::string FactsOf(const ViewedModel& viewed) {
  const Model& model = *viewed.model;
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](std::string_view name, std::string text) {
    if (!text.empty()) facts.emplace_back(name, Clipped(text));
  };
  add("Format", viewed.format);
  add("Graph", model.graph->name());
  add("Producer", StrCat(model.producer_name, model.producer_version.empty() ? "" : " ",
                         model.producer_version));
  std::string opsets;
  for (const OpsetImport& opset : model.opset_imports) {
    StrAppend(&opsets, opsets.empty() ? "" : ", ", opset.domain, opset.domain.empty() ? "" : " ",
              opset.version);
  }
  add("Opsets", opsets);
  if (const Annotations* notes = model.graph->annotations().get()) {
    add("Documentation", notes->doc_string);
  }
  return JsonList(facts, [](const auto& fact) {
    return StrCat("[", JsonString(fact.first), ",", JsonString(fact.second), "]");
  });
}

// "matches":[[item, item, what they do not have in common...], ...]: of the two models, with the
// graphs within nodes that are the same.
class Matches {
 public:
  Matches(const GraphData& data_a, const GraphData& data_b, StringTable& strings)
      : data_a_(data_a), data_b_(data_b), strings_(strings) {}

  std::string Json(const Graph& a, const Graph& b) {
    absl::StatusOr<InterfaceMatch> ports = MatchInterfaces(a, b);
    if (!ports.ok()) ports = InterfaceMatch();  // then by names alone
    AddGraphs(a, *ports, MatchGraphs(a, b, *ports));
    return StrCat("\"matches\":", JsonList(rows_, [](const auto& row) {
                    return StrCat("[", row.first.first, ",", row.first.second, row.second, "]");
                  }));
  }

 private:
  void AddGraphs(const Graph& a, const InterfaceMatch& ports, const GraphMatch& match) {
    for (const auto& [x, y] : ports.inputs) AddPort(x, y, Outline::ItemKind::kInput);
    for (const auto& [x, y] : ports.outputs) AddPort(x, y, Outline::ItemKind::kOutput);
    absl::flat_hash_set<const Node*> matched;
    const auto add_nodes = [&](const Node* x, const Node* y) {
      matched.insert(x);
      matched.insert(y);
      Add(data_a_.FindItem(x), data_b_.FindItem(y), DifferencesOf(x, y, match));
    };
    for (const auto& [x, y] : match.nodes) add_nodes(x, y);
    // Of nodes that are no match as such: what makes a value that both have. In the order of the
    // first graph, since there may be several.
    for (const Node* node : a.nodes()) {
      for (const Value* result : node->outputs()) {
        const auto it = result ? match.values.find(result) : match.values.end();
        const Node* other = it == match.values.end() ? nullptr : it->second->producer();
        if (other && !matched.contains(node) && !matched.contains(other)) add_nodes(node, other);
      }
    }
    for (const auto& [x, y] : match.nodes) {
      const std::vector<const Graph*> here = x->subgraphs(), there = y->subgraphs();
      for (size_t i = 0; i < std::min(here.size(), there.size()); ++i) {
        AddGraphs(*here[i], PortsByPosition(*here[i], *there[i]),
                  MatchNested(*here[i], *there[i], match));
      }
    }
  }

  void AddPort(const Value* x, const Value* y, Outline::ItemKind kind) {
    std::vector<std::string> differences;
    if (x->type() != y->type()) {
      differences.push_back(
          StrCat("it is ", x->type().ToString(), " here and ", y->type().ToString(), " there"));
    }
    Add(data_a_.FindPort(x, kind), data_b_.FindPort(y, kind), differences);
  }

  void Add(int x, int y, const std::vector<std::string>& differences) {
    if (x < 0 || y < 0) return;
    std::string& row = rows_[{x, y}];
    for (const std::string& text : differences) StrAppend(&row, ",", strings_.NumberOf(text));
  }

  const GraphData& data_a_;
  const GraphData& data_b_;
  StringTable& strings_;
  std::map<std::pair<int, int>, std::string> rows_;
};

// "errors":[[value, value, error, max abs, max rel, cosine], ...]: by the numbers of the two
// models.
std::string ErrorsOf(const ModelComparison& comparison, const Graph& a, const Graph& b,
                     const GraphData& data_a, const GraphData& data_b) {
  std::string rows;
  for (const ValueVerdict& v : comparison.values) {
    // Where the models agree, what has another shape there is another value.
    if (!comparison.first && std::isinf(v.error)) continue;
    const int x = data_a.FindValue(a.Find(v.name)), y = data_b.FindValue(b.Find(v.other_name));
    if (x < 0 && y < 0) continue;
    StrAppend(&rows, rows.empty() ? "" : ",", "[", x, ",", y, ",", NumberText(v.error), ",",
              NumberText(v.comparison.max_abs), ",", NumberText(v.comparison.max_rel), ",",
              NumberText(v.cosine), "]");
  }
  std::string json = StrCat("\"errors\":[", rows, "]");
  if (comparison.first) {
    StrAppend(&json, ",\n\"first\":{\"value\":", data_a.FindValue(comparison.first->here),
              ",\"reasons\":",
              JsonList(comparison.first->reasons,
                       [](const std::string& reason) { return JsonString(Clipped(reason)); }),
              "}");
  }
  return json;
}

}  // namespace

absl::StatusOr<std::string> ViewData(absl::Span<const ViewedModel> models,
                                     const ViewOptions& options) {
  if (models.empty() || models.size() > 2) return Invalid("a page shows one model or two");
  StringTable strings;
  OpTable ops;
  int64_t weight_bytes = 0;
  std::deque<GraphData> graphs;  // they do not move
  for (const ViewedModel& viewed : models) {
    graphs.emplace_back(*viewed.model->graph, strings, ops,
                        options.weights ? &weight_bytes : nullptr);
  }
  if (weight_bytes > kMaxWeightBytes) {
    return Invalid("the weights have ", weight_bytes >> 20, " MiB, and a page takes at most ",
                   kMaxWeightBytes >> 20, " MiB");
  }
  std::string json = "{\"models\":[";
  for (size_t i = 0; i < models.size(); ++i) {
    StrAppend(&json, i ? ",\n" : "", "{\"title\":", JsonString(Clipped(models[i].title)),
              ",\"facts\":", FactsOf(models[i]), ",\n");
    graphs[i].AppendJson(&json);
    json += "}";
  }
  json += "]";
  if (models.size() == 2) {
    const Graph &a = *models[0].model->graph, &b = *models[1].model->graph;
    StrAppend(&json, ",\n", Matches(graphs[0], graphs[1], strings).Json(a, b));
    if (options.comparison) {
      StrAppend(&json, ",\n", ErrorsOf(*options.comparison, a, b, graphs[0], graphs[1]));
    }
  }
  const auto family = [](const OpFamily& f) {
    return StrCat("[", JsonString(f.title), ",", JsonString(f.color), "]");
  };
  return StrCat(json, ",\n\"families\":", JsonList(OpFamilies(), family), ",\n\"ops\":", ops.Json(),
                ",\n\"strings\":", strings.Json(), "}");
}

}  // namespace x2ir
