#include "x2ir/formats/nnvm/symbol_json.h"

#include <algorithm>
#include <charconv>

#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnvm {
namespace {

constexpr int kMaxSubgraphDepth = 64;
// Outputs of all nodes together: an entry of a few bytes may name any.
constexpr int64_t kMaxOutputs = int64_t{1} << 20;

class SymbolParser {
 public:
  explicit SymbolParser(std::string_view text) : json_(text) {}

  absl::StatusOr<SymbolGraph> Parse() {
    SymbolGraph graph = Graph();
    json_.Finish();
    if (!json_.ok()) return json_.status();
    return graph;
  }

 private:
  SymbolGraph Graph() {
    SymbolGraph graph;
    bool has_nodes = false, has_heads = false;
    json_.Object([&](std::string_view key) {
      if (key == "nodes") {
        has_nodes = true;
        json_.Array([&](size_t) { graph.nodes.push_back(Node()); });
      } else if (key == "arg_nodes") {
        json_.Array([&](size_t) { graph.arg_nodes.push_back(json_.Int()); });
      } else if (key == "heads") {
        has_heads = true;
        json_.Array([&](size_t) { graph.heads.push_back(Entry()); });
      } else if (key == "node_row_ptr") {
        json_.Array([&](size_t) { graph.row_ptr.push_back(json_.Int()); });
      } else if (key == "attrs") {
        json_.Object([&](std::string_view name) { GraphAttr(name, &graph); });
      } else {
        json_.Skip();
      }
    });
    if (!json_.ok()) return graph;
    if (!has_nodes || !has_heads) json_.Fail("a graph needs \"nodes\" and \"heads\"");
    Check(graph);
    return graph;
  }

  void Check(const SymbolGraph& graph) {
    const auto count = static_cast<int64_t>(graph.nodes.size());
    const auto check = [&](const SymbolEntry& e, int64_t before) {
      if (e.node < 0 || e.node >= before) {
        json_.Fail(StrCat("there is no node ", e.node, before == count ? "" : " so far"));
      } else if (e.index < 0 || e.index >= kMaxOutputs) {
        json_.Fail(StrCat("a node cannot have an output ", e.index));
      }
    };
    for (int64_t i = 0; i < count; ++i) {
      for (const SymbolEntry& e : graph.nodes[static_cast<size_t>(i)].inputs) check(e, i);
    }
    for (const SymbolEntry& e : graph.heads) check(e, count);
    for (const int64_t i : graph.arg_nodes) check({i, 0}, count);
  }

  // ["list_shape", [...]], ["int", 10700].
  void GraphAttr(std::string_view name, SymbolGraph* graph) {
    if (json_.Peek() != JsonReader::Kind::kArray) return json_.Skip();
    std::string_view kind;
    json_.Array([&](size_t i) {
      if (i == 0 && json_.Peek() == JsonReader::Kind::kString) {
        kind = json_.String();
      } else if (i == 1 && kind == "int" && json_.Peek() == JsonReader::Kind::kNumber) {
        graph->numbers[std::string(name)] = json_.Int();
      } else if (i == 1 && kind == "list_shape" && name == "shape") {
        json_.Array([&](size_t) {
          auto& shape = graph->shapes.emplace_back();
          json_.Array([&](size_t) { shape.push_back(json_.Int()); });
        });
      } else if (i == 1 && kind == "list_str" && name == "dltype") {
        json_.Array([&](size_t) { graph->dtypes.emplace_back(json_.String()); });
      } else {
        json_.Skip();
      }
    });
  }

  SymbolEntry Entry() {
    SymbolEntry entry;
    if (json_.Peek() == JsonReader::Kind::kNumber) {
      entry.node = json_.Int();
      return entry;
    }
    json_.Array([&](size_t i) {
      const int64_t number = json_.Int();
      if (i == 0) entry.node = number;
      if (i == 1) entry.index = number;
    });
    return entry;
  }

  SymbolNode Node() {
    SymbolNode node;
    bool has_op = false;
    json_.Object([&](std::string_view key) {
      if (key == "op") {
        has_op = true;
        node.op = json_.String();
      } else if (key == "name") {
        node.name = json_.String();
      } else if (key == "inputs") {
        json_.Array([&](size_t) { node.inputs.push_back(Entry()); });
      } else if (key == "attrs" || key == "attr" || key == "param") {
        Attrs(&node);
      } else if (key == "subgraphs") {
        if (++depth_ > kMaxSubgraphDepth) return json_.Fail("subgraphs are nested too deeply");
        json_.Array(
            [&](size_t) { node.subgraphs.push_back(std::make_shared<SymbolGraph>(Graph())); });
        --depth_;
      } else {
        json_.Skip();
      }
    });
    if (json_.ok() && !has_op) json_.Fail("a node needs an \"op\"");
    return node;
  }

  // Existing attributes stay: "attr" takes precedence over "param".
  void Attrs(SymbolNode* node) {
    if (json_.Peek() != JsonReader::Kind::kObject) return json_.Skip();
    StringSet there;
    for (const auto& attr : node->attrs) there.insert(attr.first);
    json_.Object([&](std::string_view name) {
      std::string text;
      switch (json_.Peek()) {
        case JsonReader::Kind::kString: text = json_.String(); break;
        case JsonReader::Kind::kNumber: text = json_.Number().text; break;
        case JsonReader::Kind::kBool: text = json_.Bool() ? "True" : "False"; break;
        default: return json_.Skip();
      }
      if (there.emplace(name).second) node->attrs.emplace_back(name, std::move(text));
    });
  }

  JsonReader json_;
  int depth_ = 0;
};

}  // namespace

const std::string* SymbolNode::Find(std::string_view attr) const {
  for (const auto& [name, text] : attrs) {
    if (name == attr) return &text;
  }
  return nullptr;
}

absl::StatusOr<SymbolGraph> ParseSymbolJson(std::string_view text) {
  return SymbolParser(text).Parse();
}

bool LooksLikeSymbolJson(std::string_view head) {
  const size_t start = head.find_first_not_of(" \t\r\n");
  if (start == head.npos || head[start] != '{') return false;
  const size_t nodes = head.find("\"nodes\""), op = head.find("\"op\"");
  // The first key, but for attributes of the graph.
  return nodes != head.npos && op != head.npos && nodes < op &&
         (head.find("\"inputs\"") != head.npos || head.find("\"name\"") != head.npos);
}

std::optional<std::vector<int64_t>> ParseTuple(std::string_view text) {
  std::vector<int64_t> numbers;
  const auto skip = [&] {
    const size_t n = text.find_first_not_of(" \t\n");
    text.remove_prefix(n == text.npos ? text.size() : n);
  };
  skip();
  char close = 0;
  if (!text.empty() && (text[0] == '(' || text[0] == '[')) {
    close = text[0] == '(' ? ')' : ']';
    text.remove_prefix(1);
  }
  for (skip(); !text.empty() && text[0] != close; skip()) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    numbers.push_back(number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (!text.empty() && text[0] == 'L') text.remove_prefix(1);
    skip();
    if (!text.empty() && text[0] == ',' && close != 0) {
      text.remove_prefix(1);
    } else if (text.empty() ? close != 0 : text[0] != close) {
      return std::nullopt;
    }
  }
  if (close != 0) {
    if (text.empty()) return std::nullopt;
    text.remove_prefix(1);
    skip();
  } else if (numbers.empty()) {
    return std::nullopt;
  }
  return text.empty() ? std::optional(std::move(numbers)) : std::nullopt;
}

absl::Status SymbolBuilder::Build(const SymbolGraph& from, Graph* graph) const {
  const size_t count = from.nodes.size();
  std::vector<std::vector<bool>> used(count);
  int64_t total = 0;
  const auto use = [&](const SymbolEntry& e) {
    auto& of = used[static_cast<size_t>(e.node)];
    if (static_cast<int64_t>(of.size()) <= e.index) {
      total += e.index + 1 - static_cast<int64_t>(of.size());
      if (total <= kMaxOutputs) of.resize(static_cast<size_t>(e.index) + 1);
    }
    if (total <= kMaxOutputs) of[static_cast<size_t>(e.index)] = true;
  };
  for (const SymbolNode& node : from.nodes)
    std::for_each(node.inputs.begin(), node.inputs.end(), use);
  std::for_each(from.heads.begin(), from.heads.end(), use);
  if (total > kMaxOutputs) return Invalid("nodes have more than ", kMaxOutputs, " outputs");

  std::vector<std::vector<Value*>> values(count);
  for (size_t i = 0; i < count; ++i) {
    const SymbolNode& node = from.nodes[i];
    if (node.is_variable()) {
      X2IR_ASSIGN_OR_RETURN(Value * value, variable(*graph, node, static_cast<int64_t>(i)));
      values[i] = {value};
      continue;
    }
    std::vector<Value*> operands;
    for (const SymbolEntry& e : node.inputs) {
      const auto& of = values[static_cast<size_t>(e.node)];
      if (static_cast<size_t>(e.index) >= of.size()) {
        return Invalid("a variable has one output, not ", e.index + 1);
      }
      operands.push_back(of[static_cast<size_t>(e.index)]);
    }
    Node* made = graph->AppendNode(dialect, node.op, operands);
    made->set_name(node.name);
    for (const auto& [name, text] : node.attrs) made->SetAttr(name, text);
    if (!node.subgraphs.empty()) {
      std::vector<std::shared_ptr<Graph>> graphs;
      for (const auto& subgraph : node.subgraphs) {
        graphs.push_back(std::make_shared<Graph>());
        SymbolBuilder nested{dialect,
                             [](Graph& g, const SymbolNode& v, int64_t) -> absl::StatusOr<Value*> {
                               return g.AddInput(g.UniqueName(v.name), Type());
                             },
                             output_suffix};
        X2IR_RETURN_IF_ERROR(nested.Build(*subgraph, graphs.back().get()));
      }
      made->SetAttr("subgraphs", std::move(graphs));
    }
    if (used[i].empty()) used[i] = {true};
    for (size_t k = 0; k < used[i].size(); ++k) {
      if (!used[i][k]) {
        graph->AddMissingOutput(made);
        values[i].push_back(nullptr);
        continue;
      }
      const bool several = used[i].size() > 1;
      std::string name = output_suffix ? StrCat(node.name, "_output", several ? StrCat(k) : "")
                                       : StrCat(node.name, k == 0 ? "" : StrCat("_", k));
      values[i].push_back(graph->AddNodeOutput(made, graph->UniqueName(name)));
    }
  }
  for (const SymbolEntry& e : from.heads) {
    const auto& of = values[static_cast<size_t>(e.node)];
    if (static_cast<size_t>(e.index) >= of.size()) return Invalid("a variable has one output");
    graph->AddOutput(of[static_cast<size_t>(e.index)]);
  }
  return absl::OkStatus();
}

}  // namespace nnvm
}  // namespace x2ir
