// The boxes of drawings, and Graphviz text.
#include "x2ir/inspect/draw.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/core/dialect.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/draw_internal.h"
#include "x2ir/inspect/op_families.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace draw {
namespace {

constexpr size_t kMaxText = 60;  // of an attribute or a constant
constexpr size_t kMaxTypes = 6;  // of results that are named
constexpr std::string_view kInputColor = "#bfe3bf", kOutputColor = "#f6cfa8";
constexpr std::string_view kForeignColor = "#f2b8b8", kOtherColor = "#eeeeee";

std::string Short(std::string text) {
  if (text.size() <= kMaxText) return text;
  size_t end = kMaxText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole letters
  return text.substr(0, end) + "...";
}

// The default of an attribute; null if it is required.
const Attribute* DefaultOf(const Node& node, Symbol name) {
  if (node.is_ir()) {
    const OpDef* op = FindOp(node.op());
    const AttrDef* attr = op ? op->FindAttr(name) : nullptr;
    return attr && attr->default_value ? &*attr->default_value : nullptr;
  }
  const Dialect* dialect = FindDialect(node.dialect());
  if (!dialect || !dialect->schema) return nullptr;
  const int opset = DomainVersion(dialect, SplitOp(node.op().view()).first, dialect->latest_opset);
  const OpSchema* schema = opset > 0 ? dialect->schema(node.op(), opset) : nullptr;
  const AttrSchema* attr = schema ? schema->FindAttr(name) : nullptr;
  return attr && attr->default_value ? &*attr->default_value : nullptr;
}

// "axes = int64[2]{0, 1}" of a small constant, "w: float32[64,3,7,7]" of a weight.
std::string ConstantText(const Value& value) {
  constexpr std::string_view kBegin = "tensor(";
  std::string text = AttributeText(Attribute(*value.fixed_constant()));
  text = text.substr(kBegin.size(), text.size() - kBegin.size() - 1);
  const bool has_elements = text.ends_with('}');
  return StrCat(Short(value.name()), has_elements ? " = " : ": ", Short(std::move(text)));
}

bool IsGraph(const Attribute& attr) {
  return attr.kind() == AttrKind::kGraph || attr.kind() == AttrKind::kGraphs;
}

}  // namespace

Box BoxOf(const Node& node) {
  Box box;
  const std::string op = node.op().str();
  box.lines.push_back(node.is_ir() ? op : StrCat(node.dialect().str(), ".", op));
  for (const auto& [name, attr] : node.attrs()) {
    if (IsGraph(attr)) continue;
    if (const Attribute* usual = DefaultOf(node, name); usual && *usual == attr) continue;
    box.lines.push_back(StrCat(name.str(), " = ", Short(AttributeText(attr))));
  }
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const Value* operand = node.input(i);
    if (operand && operand->fixed_constant()) box.lines.push_back(ConstantText(*operand));
  }
  for (const Value* output : node.outputs()) {
    if (!output || !output->type().is_known()) continue;
    if (box.types.size() == kMaxTypes) {
      box.types.push_back("...");
      break;
    }
    box.types.push_back(Short(output->type().ToString()));
  }
  const OpFamily* family = node.is_ir() ? FamilyOf(node.op()) : nullptr;
  box.color = !node.is_ir() ? kForeignColor : family ? family->color : kOtherColor;
  box.tooltip = node.name();
  return box;
}

Box BoxOf(const Value& port, Port which) {
  Box box;
  box.lines.push_back(port.fixed_constant() ? ConstantText(port) : Short(port.name()));
  if (!port.fixed_constant()) box.types.push_back(Short(port.type().ToString()));
  box.color = which == Port::kInput ? kInputColor : kOutputColor;
  box.tooltip = port.name();
  box.is_port = true;
  return box;
}

std::vector<Frame> FramesOf(const Node& node) {
  std::vector<Frame> frames;
  for (const auto& [name, attr] : node.attrs()) {
    std::vector<Attribute::GraphPtr> graphs;
    if (const auto* graph = attr.get<Attribute::GraphPtr>()) graphs = {*graph};
    if (const auto* list = attr.get<std::vector<Attribute::GraphPtr>>()) graphs = *list;
    for (const auto& graph : graphs) {
      if (graph) frames.push_back({Short(StrCat(name.str(), " ", graph->name())), graph.get()});
    }
  }
  return frames;
}

namespace {

// In quotes; a newline starts a new line of the label.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += '?';
    } else {
      out += c;
    }
  }
  return out + '"';
}

class Dot {
 public:
  std::string Draw(const Graph& graph) {
    StrAppend(&out_, "digraph ", Quoted(graph.name()), " {\n",
              // dot has no time limit of its own; these keep it from polishing large graphs.
              "  rankdir = TB; nslimit = 4; nslimit1 = 4; mclimit = 0.5; splines = polyline;\n",
              "  node [shape = box, style = \"rounded,filled\", fontname = \"Helvetica\", "
              "fontsize = 11];\n",
              "  edge [color = \"#555555\"];\n");
    Body(graph, "  ");
    out_ += edges_;
    return out_ + "}\n";
  }

 private:
  void Body(const Graph& graph, const std::string& indent) {
    for (const Value* input : graph.inputs()) {
      source_[input] = Put(BoxOf(*input, Port::kInput), indent);
    }
    for (const Node* node : graph.nodes()) Op(*node, indent);
    for (const Value* output : graph.outputs()) {
      Edge(*output, Put(BoxOf(*output, Port::kOutput), indent));
    }
  }

  // The name of the box in the text.
  std::string Put(const Box& box, const std::string& indent) {
    const std::string id = StrCat("n", next_++);
    std::string label;
    for (const auto* lines : {&box.lines, &box.types}) {
      for (const std::string& line : *lines) StrAppend(&label, label.empty() ? "" : "\n", line);
    }
    StrAppend(&out_, indent, id, " [", box.is_port ? "shape = ellipse, " : "", "fillcolor = \"",
              box.color, "\", label = ", Quoted(label));
    if (!box.tooltip.empty()) StrAppend(&out_, ", tooltip = ", Quoted(box.tooltip));
    out_ += "];\n";
    return id;
  }

  void Op(const Node& node, const std::string& indent) {
    const std::string id = Put(BoxOf(node), indent);
    for (const Value* output : node.outputs()) {
      if (output) source_[output] = id;
    }
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      if (const Value* operand = node.input(i)) Edge(*operand, id);
    }
    for (const Frame& frame : FramesOf(node)) Nested(frame, id, indent);
  }

  void Nested(const Frame& frame, const std::string& owner, const std::string& indent) {
    StrAppend(&out_, indent, "subgraph cluster_", next_, " {\n", indent,
              "  label = ", Quoted(frame.title), ";\n", indent,
              "  style = dashed; fontname = \"Helvetica\"; fontsize = 10;\n");
    const int first = next_;
    Body(*frame.graph, indent + "  ");
    StrAppend(&out_, indent, "}\n");
    if (next_ > first) {
      StrAppend(&edges_, "  ", owner, " -> n", first, " [style = dashed, arrowhead = none];\n");
    }
  }

  // Edges come last: one inside of a frame would draw its ends into the frame.
  void Edge(const Value& value, const std::string& to) {
    const auto it = source_.find(&value);
    if (it == source_.end()) return;  // a constant
    StrAppend(&edges_, "  ", it->second, " -> ", to, " [tooltip = ", Quoted(value.name()), "];\n");
  }

  std::string out_;
  std::string edges_;
  int next_ = 0;
  absl::flat_hash_map<const Value*, std::string> source_;
};

}  // namespace
}  // namespace draw

std::string ToDot(const Graph& graph) { return draw::Dot().Draw(graph); }

}  // namespace x2ir
