// The printer of graph text. The parser is in text_parser.cc.
#include "x2ir/graph_wrapper/text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/text_internal.h"

namespace x2ir {
namespace {

using text_internal::NameText;
using text_internal::NumberText;
using text_internal::Quote;
using text_internal::TensorText;

// A float must not read as an int.
std::string FloatAttributeText(float value) {
  std::string text = NumberText(value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

// "conv", "onnx.Relu", "onnx.com.acme::Foo"; what would not read back is quoted.
std::string OpText(Symbol dialect, Symbol op) {
  auto plain = [](char c) {
    return text_internal::IsAlpha(c) || text_internal::IsDigit(c) || c == '.' || c == ':';
  };
  const std::string_view name = op;
  if (dialect.empty()) return text_internal::QuoteUnlessIdentifier(name);
  const bool is_plain = !name.empty() && std::all_of(name.begin(), name.end(), plain);
  return StrCat(text_internal::QuoteUnlessIdentifier(dialect), ".",
                is_plain ? std::string(name) : Quote(name));
}

// Constants in the order of their first use, so that a weight is near its user; uses inside of
// nested graphs count at the place of their node. Unused ones come last.
std::vector<const Value*> ConstantsInOrder(const Graph& graph) {
  std::vector<const Value*> order;
  if (graph.num_constants() == 0) return order;
  absl::flat_hash_set<const Value*> seen;
  auto add = [&](const Value* value) {
    if (!value || value->graph() != &graph || value->producer() || value->is_input()) return;
    if (seen.insert(value).second) order.push_back(value);
  };
  std::vector<const Node*> todo;  // nodes to go on from, innermost last
  auto visit = [&](const Node* node) {
    for (; node; node = node->next()) {
      for (size_t i = 0; i < node->num_inputs(); ++i) add(node->input(i));
      if (!node->has_subgraphs()) continue;
      todo.push_back(node->next());
      const std::vector<const Graph*> inner = node->subgraphs();
      for (auto it = inner.rbegin(); it != inner.rend(); ++it) {
        for (const Value* output : (*it)->outputs()) add(output);
        todo.push_back((*it)->first());
      }
      return;
    }
  };
  todo.push_back(graph.first());
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    visit(node);
  }
  for (const Value* output : graph.outputs()) add(output);
  for (const Value* value : graph.constants()) add(value);
  return order;
}

class Printer {
 public:
  explicit Printer(const TextOptions& options) : options_(options) {}
  std::string Take() { return std::move(out_); }

  void PrintGraph(const Graph& graph, size_t indent) {
    const std::vector<const Value*> constants = ConstantsInOrder(graph);
    Number(graph, constants);
    out_ += "graph";
    if (!graph.name().empty()) StrAppend(&out_, " ", NameText(graph.name()));
    out_ += '(';
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      if (i != 0) out_ += ", ";
      PrintInput(*graph.inputs()[i]);
    }
    out_ += ") -> (";
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      if (i != 0) out_ += ", ";
      const Value* value = graph.outputs()[i];
      out_ += ValueText(value);
      if (value && value->graph() == &graph && options_.types) PrintType(value->type());
    }
    out_ += ") {\n";
    for (const Value* value : constants) {
      out_.append(indent + 2, ' ');
      PrintConstant(*value);
    }
    for (const Node* node = graph.first(); node; node = node->next()) {
      out_.append(indent + 2, ' ');
      PrintNode(*node, indent + 2);
      out_ += '\n';
    }
    out_.append(indent, ' ');
    out_ += '}';
  }

  void PrintNode(const Node& node, size_t indent) {
    bool any_type = false;
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      const Value* value = node.output(i);
      if (i != 0) out_ += ", ";
      out_ += ValueText(value);
      any_type = any_type || (value && value->type().is_known());
    }
    if (node.num_outputs() == 0) out_ += "()";
    if (any_type && options_.types) {
      for (size_t i = 0; i < node.num_outputs(); ++i) {
        const Value* value = node.output(i);
        StrAppend(&out_, i ? ", " : ": ", value ? value->type().ToString() : "?");
      }
    }
    StrAppend(&out_, " = ", OpText(node.dialect(), node.op()), "(");
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      if (i != 0) out_ += ", ";
      out_ += ValueText(node.input(i));
    }
    out_ += ')';
    PrintAttributes(node, indent);
    if (options_.node_names && !node.name().empty()) StrAppend(&out_, " ", Quote(node.name()));
  }

  void PrintAttribute(const Attribute& attr, size_t indent) {
    std::visit([&](const auto& value) { Print(value, indent); }, attr.variant());
  }

  // One line per node: nested graphs are only named.
  void set_one_line() { one_line_ = true; }

 private:
  // Numbers for the values without a name, in the order of their definitions.
  void Number(const Graph& graph, const std::vector<const Value*>& constants) {
    for (const Value* value : graph.inputs()) NumberValue(value);
    for (const Value* value : constants) NumberValue(value);
    for (const Node* node = graph.first(); node; node = node->next()) {
      for (const Value* value : node->outputs()) NumberValue(value);
    }
  }
  void NumberValue(const Value* value) {
    if (value && value->name().empty()) numbers_.emplace(value, numbers_.size());
  }

  std::string ValueText(const Value* value) {
    if (!value) return "_";
    if (!value->name().empty()) return NameText(value->name());
    NumberValue(value);
    return StrCat("%", numbers_.at(value));
  }

  void PrintType(const Type& type) {
    if (type.is_known()) StrAppend(&out_, ": ", type.ToString());
  }

  void PrintInput(const Value& input) {
    out_ += ValueText(&input);
    PrintType(input.type());
    if (!input.constant()) return;
    StrAppend(&out_, " = ", TensorText(*input.constant(), options_.max_constant_elements));
  }

  void PrintConstant(const Value& value) {
    const std::string text = TensorText(*value.constant(), options_.max_constant_elements);
    const bool elided = text.back() != '}';
    StrAppend(&out_, ValueText(&value), elided ? ": " : " = ", text, "\n");
  }

  void PrintAttributes(const Node& node, size_t indent) {
    if (node.attrs().empty()) return;
    // With nested graphs each attribute has a line of its own.
    const bool lines = node.has_subgraphs() && !one_line_;
    out_ += " {";
    bool first = true;
    for (const auto& [name, attr] : node.attrs()) {
      if (!first) out_ += ',';
      first = false;
      out_ += lines ? '\n' : ' ';
      if (lines) out_.append(indent + 2, ' ');
      StrAppend(&out_, NameText(name), " = ");
      PrintAttribute(attr, indent + 2);
    }
    out_ += lines ? '\n' : ' ';
    if (lines) out_.append(indent, ' ');
    out_ += '}';
  }

  void Print(int64_t value, size_t) { StrAppend(&out_, value); }
  void Print(float value, size_t) { out_ += FloatAttributeText(value); }
  void Print(double value, size_t) { StrAppend(&out_, NumberText(value), "d"); }
  void Print(const std::string& value, size_t) { out_ += Quote(value); }
  void Print(const Tensor& value, size_t) {
    StrAppend(&out_, "tensor(", TensorText(value, options_.max_constant_elements), ")");
  }
  void Print(const Type& value, size_t) { StrAppend(&out_, "type(", value.ToString(), ")"); }
  void Print(const AttrRef& value, size_t) {
    StrAppend(&out_, "ref(", NameText(value.name), ": ", Name(value.kind), ")");
  }
  void Print(const Attribute::GraphPtr& value, size_t indent) {
    if (!value) {
      out_ += "null";
    } else if (one_line_) {
      StrAppend(&out_, "graph ", NameText(value->name()), " { ... }");
    } else {
      PrintGraph(*value, indent);
    }
  }
  template <typename T>
  void Print(const std::vector<T>& list, size_t indent) {
    if (list.empty()) {
      StrAppend(&out_, "[]:", Name(Attribute(list).kind()));
      return;
    }
    out_ += '[';
    for (size_t i = 0; i < list.size(); ++i) {
      if (i != 0) out_ += ", ";
      Print(list[i], indent);
    }
    out_ += ']';
  }

  const TextOptions& options_;
  std::string out_;
  absl::flat_hash_map<const Value*, size_t> numbers_;
  bool one_line_ = false;
};

}  // namespace

std::string ToText(const Graph& graph, const TextOptions& options) {
  Printer printer(options);
  printer.PrintGraph(graph, 0);
  return printer.Take() + "\n";
}

std::string ToText(const Node& node, const TextOptions& options) {
  Printer printer(options);
  printer.set_one_line();
  printer.PrintNode(node, 0);
  return printer.Take();
}

std::string AttributeText(const Attribute& attr, const TextOptions& options) {
  Printer printer(options);
  printer.PrintAttribute(attr, 0);
  return printer.Take();
}

}  // namespace x2ir
