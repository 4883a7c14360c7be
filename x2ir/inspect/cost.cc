#include "x2ir/inspect/cost.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/core/json_list.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/op_name.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/inspect/columns.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

void AddTo(int64_t& sum, int64_t n) {
  constexpr int64_t kLimit = std::numeric_limits<int64_t>::max();
  sum = n > kLimit - sum ? kLimit : sum + n;
}

Dim Elements(const Value* value) {
  return value && value->shape() ? value->shape()->NumElements() : Dim();
}

std::optional<int64_t> MultiplyAdds(const Node& node) {
  if (!node.is_ir()) return std::nullopt;
  const OpDef* op = FindOp(node.op());
  if (!op || !op->multiply_adds()) return 0;
  const Dim count = op->multiply_adds()(node);
  return count.is_static() ? std::optional(count.value()) : std::nullopt;
}

// Nullopt where the type does not say; sequences and the like are 0, as strings are.
std::optional<int64_t> BytesOf(const Value& value) {
  if (!value.type().is_known()) return std::nullopt;
  if (!value.type().is_tensor() || value.dtype() == DType::kString) return 0;
  const Dim elements = Elements(&value);
  if (!elements.is_static()) return std::nullopt;
  return ByteSize(value.dtype(), elements.value());
}

class Counter {
 public:
  explicit Counter(ModelCost& cost) : cost_(cost) {}

  void Count(const Graph& graph, bool outermost) {
    // The last node of this graph that needs a value; nested graphs count as the node they are of.
    absl::flat_hash_map<const Value*, const Node*> last;
    if (outermost) {
      for (const Node* node : graph.nodes()) Reads(graph, *node, *node, last);
    }
    absl::flat_hash_map<const Node*, std::vector<const Value*>> ends;
    for (const auto& [value, node] : last) {
      if (!value->is_graph_output()) ends[node].push_back(value);
    }
    int64_t live = 0;
    for (const Value* input : graph.inputs()) {
      const bool needed = last.contains(input) || input->is_graph_output();
      if (outermost && needed) AddTo(live, BytesOf(*input).value_or(0));
    }
    for (const Node* node : graph.nodes()) {
      NodeCost c;
      c.node = node;
      const std::optional<int64_t> work = MultiplyAdds(*node);
      c.known = c.work_known = work.has_value();
      c.multiply_adds = work.value_or(0);
      CountParameters(*node, c);
      int64_t unused = 0;
      for (const Value* output : node->outputs()) {
        if (!output) continue;
        const std::optional<int64_t> bytes = BytesOf(*output);
        c.known = c.known && bytes;
        AddTo(c.result_bytes, bytes.value_or(0));
        if (!last.contains(output) && !output->is_graph_output()) {
          AddTo(unused, bytes.value_or(0));
        }
      }
      if (outermost) {
        AddTo(live, c.result_bytes);
        c.live_bytes = live;
        live -= unused;
        if (const auto it = ends.find(node); it != ends.end()) {
          for (const Value* value : it->second) live -= BytesOf(*value).value_or(0);
        }
      }
      cost_.nodes.push_back(c);
      for (const Graph* inner : node->subgraphs()) Count(*inner, /*outermost=*/false);
    }
  }

 private:
  void Reads(const Graph& outer, const Node& node, const Node& as,
             absl::flat_hash_map<const Value*, const Node*>& last) {
    for (const Value* operand : node.inputs()) {
      if (operand && operand->graph() == &outer && !operand->fixed_constant()) {
        last[operand] = &as;
      }
    }
    for (const Graph* inner : node.subgraphs()) {
      for (const Node* each : inner->nodes()) Reads(outer, *each, as, last);
      for (const Value* output : inner->outputs()) {
        if (output->graph() == &outer && !output->fixed_constant()) last[output] = &as;
      }
    }
  }

  void CountParameters(const Node& node, NodeCost& c) {
    const auto count = [&](const Tensor& tensor) {
      AddTo(c.parameters, tensor.num_elements());
      AddTo(c.parameter_bytes,
            static_cast<int64_t>(tensor.is_sparse() ? tensor.sparse().values.nbytes() +
                                                          tensor.sparse().indices.nbytes()
                                                    : tensor.nbytes()));
    };
    for (const Value* operand : node.inputs()) {
      const Tensor* constant = operand ? operand->constant() : nullptr;
      if (constant && seen_.insert(operand).second) count(*constant);
    }
    for (const auto& [name, attr] : node.attrs()) {
      if (const Tensor* tensor = attr.get<Tensor>()) count(*tensor);
    }
  }

  ModelCost& cost_;
  absl::flat_hash_set<const Value*> seen_;
};

void AddCost(OpCost& sum, const NodeCost& c) {
  ++sum.count;
  sum.unknown += !c.known;
  sum.unknown_work += !c.work_known;
  AddTo(sum.multiply_adds, c.multiply_adds);
  AddTo(sum.parameters, c.parameters);
  AddTo(sum.parameter_bytes, c.parameter_bytes);
  AddTo(sum.result_bytes, c.result_bytes);
  sum.peak_bytes = std::max(sum.peak_bytes, c.live_bytes);
}

}  // namespace

ModelCost CostOf(const Graph& graph) {
  ModelCost cost;
  Counter(cost).Count(graph, /*outermost=*/true);
  std::map<std::string, OpCost> by_op;
  for (const NodeCost& c : cost.nodes) {
    OpCost& sum = by_op[QualifiedOp(*c.node)];
    AddCost(sum, c);
    if (!cost.peak || c.live_bytes > cost.total.peak_bytes) cost.peak = c.node;
    AddCost(cost.total, c);
  }
  for (auto& [op, sum] : by_op) {
    sum.op = op;
    cost.ops.push_back(sum);
  }
  std::stable_sort(cost.ops.begin(), cost.ops.end(), [](const OpCost& a, const OpCost& b) {
    return std::pair(a.multiply_adds, a.parameters) > std::pair(b.multiply_adds, b.parameters);
  });
  std::set<std::string> open;
  for (const Value* input : graph.inputs()) {
    if (input->constant()) continue;
    if (!input->shape()) {
      if (input->type().is_tensor()) open.insert(StrCat("the rank of ", input->name()));
      continue;
    }
    for (const Dim& dim : *input->shape()) {
      if (dim.is_unknown()) open.insert(StrCat("a size of ", input->name()));
      for (const std::string& name : dim.SymbolNames()) open.insert(name);
    }
  }
  cost.open_dims.assign(open.begin(), open.end());
  return cost;
}

std::string ModelCost::ToText(size_t most) const {
  const auto work = [](const OpCost& c) {
    return StrCat(c.unknown_work ? c.multiply_adds ? ">" : "?" : "",
                  c.unknown_work && !c.multiply_adds ? "" : Grouped(c.multiply_adds));
  };
  Columns table({{"op"},
                 {"count", Columns::kRight},
                 {"multiply-adds", Columns::kRight},
                 {"parameters", Columns::kRight},
                 {"weights", Columns::kRight},
                 {"results", Columns::kRight},
                 {"peak", Columns::kRight}});
  // At least so much, where not all sizes are known.
  const auto size = [](const OpCost& c, int64_t bytes) {
    if (c.unknown == 0) return SizeText(bytes);
    return bytes == 0 ? "?" : StrCat(">", SizeText(bytes));
  };
  const auto row = [&](const std::string& name, const OpCost& c) {
    table.Add({name, Grouped(c.count), work(c), Grouped(c.parameters), SizeText(c.parameter_bytes),
               size(c, c.result_bytes), size(c, c.peak_bytes)});
  };
  for (const OpCost& c : ops) row(c.op, c);
  row("all", total);
  std::string text = table.ToText();
  if (peak && (total.unknown == 0 || total.peak_bytes > 0)) {
    StrAppend(&text, "activations take ", SizeText(total.peak_bytes),
              total.unknown ? " or more, as far as sizes are known, at " : " at most, at ",
              peak->op().str(),
              peak->name().empty() ? "" : StrCat(" \"", ShortName(peak->name()), "\""), "\n");
  }
  if (total.unknown) {
    StrAppend(&text, "sizes are missing: those of ", Grouped(total.unknown),
              total.unknown == 1 ? " node" : " nodes", " are not known");
    for (size_t i = 0; i < open_dims.size(); ++i) {
      StrAppend(&text, i ? ", " : ": inputs leave open ", open_dims[i]);
    }
    StrAppend(&text,
              open_dims.empty() ? "; they depend on what the model computes"
                                : StrCat("; ", OptionText("shapes"), " NAME:1,3,... gives them"),
              "\n");
  }
  std::vector<const NodeCost*> biggest;
  for (const NodeCost& c : nodes) {
    if (c.multiply_adds > 0) biggest.push_back(&c);
  }
  std::stable_sort(biggest.begin(), biggest.end(), [](const NodeCost* a, const NodeCost* b) {
    return a->multiply_adds > b->multiply_adds;
  });
  if (biggest.size() > most) biggest.resize(most);
  if (biggest.empty()) return text;
  Columns top({{"node"},
               {"op"},
               {"multiply-adds", Columns::kRight},
               {"part", Columns::kRight},
               {"parameters", Columns::kRight},
               {"result"}});
  for (const NodeCost* c : biggest) {
    const Value* result = c->node->output(0);
    const std::string name = ShortName(!c->node->name().empty() ? c->node->name()
                                       : result                 ? result->name()
                                                                : "");
    const int64_t percent = c->multiply_adds / std::max<int64_t>(1, total.multiply_adds / 100);
    top.Add({name, QualifiedOp(*c->node), Grouped(c->multiply_adds), StrCat(percent, "%"),
             Grouped(c->parameters), result ? result->type().ToString() : ""});
  }
  return StrCat(text, "\n", top.ToText());
}

std::string ModelCost::ToJson() const {
  const auto numbers = [](const auto& c) {
    return StrCat("\"multiply_adds\": ", c.multiply_adds, ", \"parameters\": ", c.parameters,
                  ", \"parameter_bytes\": ", c.parameter_bytes,
                  ", \"result_bytes\": ", c.result_bytes);
  };
  const auto of_op = [&](const OpCost& c) {
    return StrCat("\"count\": ", c.count, ", \"unknown\": ", c.unknown, ", ", numbers(c),
                  ", \"peak_bytes\": ", c.peak_bytes, "}");
  };
  const std::string by_op = JsonList(ops, [&](const OpCost& c) {
    return StrCat("\n    {\"op\": ", JsonString(c.op), ", ", of_op(c));
  });
  const std::string by_node = JsonList(nodes, [&](const NodeCost& c) {
    return StrCat("\n    {\"node\": ", JsonString(c.node->name()),
                  ", \"result\": ", JsonString(c.node->output(0) ? c.node->output(0)->name() : ""),
                  ", \"op\": ", JsonString(QualifiedOp(*c.node)),
                  ", \"known\": ", c.known ? "true" : "false", ", ", numbers(c),
                  ", \"live_bytes\": ", c.live_bytes, "}");
  });
  return StrCat("{\"total\": {", of_op(total), ",\n  \"open\": ", JsonList(open_dims, JsonString),
                ",\n  \"ops\": ", by_op, ",\n  \"nodes\": ", by_node, "}");
}

}  // namespace x2ir
