// Drawings: what is said of nodes and what is left out, and that large graphs take no longer than
// their size asks for.
#include "x2ir/inspect/draw.h"

#include <chrono>
#include <string>

#include "gtest/gtest.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/draw_layout.h"
#include "x2ir/inspect/op_families.h"

namespace x2ir {
namespace {

std::shared_ptr<Graph> Parsed(std::string_view text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : std::make_shared<Graph>();
}

size_t Count(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++count;
  return count;
}

// Every element ends, in the right order; attributes are in quotes. As much XML as is written here.
bool IsWellFormed(const std::string& xml) {
  std::vector<std::string> open;
  for (size_t at = 0; (at = xml.find('<', at)) != xml.npos;) {
    const size_t end = xml.find('>', at);
    if (end == xml.npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != tag.npos || Count(tag, "\"") % 2 != 0) return false;
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != tag) return false;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end + 1;
  }
  return open.empty();
}

constexpr char kSmall[] = R"(graph small(x: float32[1,3,8,8]) -> (y) {
  w: float32[4,3,3,3]
  axes = int64[2]{2, 3}
  c: float32[1,4,8,8] = conv(x, w) { layout = "channels_first", auto_pad = "SAME_UPPER", group = 1 } "first <conv>"
  h: float32[1,4,8,8] = relu(c)
  y: float32[1,4] = onnx.com.acme::Foo(h, axes) { alpha = 0.5 }
})";

TEST(Draw, SaysWhatIsNotUsual) {
  const auto graph = Parsed(kSmall);
  for (const std::string& text : {ToDot(*graph), ToSvg(*graph)}) {
    for (const char* part : {"conv", "SAME_UPPER", "w: float32[4,3,3,3]", "axes = int64[2]{2, 3}",
                             "float32[1,4,8,8]", "onnx.com.acme::Foo", "alpha = 0.5"}) {
      EXPECT_NE(text.find(part), text.npos) << part << "\n" << text;
    }
    // Defaults go without saying.
    EXPECT_EQ(text.find("group"), text.npos) << text;
    EXPECT_EQ(text.find("layout"), text.npos) << text;
    EXPECT_NE(text.find(FamilyOf("conv")->color), text.npos);
    EXPECT_NE(text.find(FamilyOf("relu")->color), text.npos);
  }
  EXPECT_NE(FamilyOf("conv")->color, FamilyOf("relu")->color);
  EXPECT_TRUE(IsWellFormed(ToSvg(*graph))) << ToSvg(*graph);
  EXPECT_NE(ToSvg(*graph).find("first &lt;conv&gt;"), std::string::npos);
}

TEST(Draw, DefaultsOfADialect) {
  const auto graph = Parsed(R"(graph g(x: float32[2,3]) -> (y) {
      h: float32[2,3] = onnx.LeakyRelu(x) { alpha = 0.01 }
      y: float32[2,3] = onnx.Elu(h) { alpha = 0.25 } })");
  const std::string text = ToDot(*graph);
  EXPECT_EQ(text.find("0.01"), text.npos) << text;
  EXPECT_NE(text.find("alpha = 0.25"), text.npos) << text;
}

TEST(Draw, NestedGraphsAreFrames) {
  const auto graph = Parsed(R"(graph g(c: bool[], x: float32[2]) -> (y) {
      y: float32[2] = if(c) {
        then_branch = graph yes() -> (a) { a: float32[2] = relu(x) },
        else_branch = graph no() -> (b) { b: float32[2] = neg(x) } } })");
  const std::string svg = ToSvg(*graph);
  EXPECT_TRUE(IsWellFormed(svg)) << svg;
  EXPECT_EQ(Count(svg, "class=\"frame\""), 2u) << svg;
  EXPECT_NE(svg.find("then_branch yes"), svg.npos) << svg;
  // c and x lead to the node, it to the output; what is inside has its own edges.
  EXPECT_EQ(Count(svg, "marker-end"), 5u) << svg;
}

// Any bytes are a name; a picture is UTF-8 all the same. Cycles and forward references are drawn.
TEST(Draw, StrangeGraphs) {
  Graph graph("g\xff\x01");
  Value* x = graph.AddInput("x\xc3\xa9", Type::Tensor(DType::kFloat32, Shape{2}));
  Node* one = graph.AppendNode("onnx", "Add", {x, x});
  Node* two = graph.AppendNode("onnx", "\xfe<&\"]]>", {graph.AddNodeOutput(one, "a")});
  one->SetInput(1, graph.AddNodeOutput(two, "b"));
  graph.AddOutput(two->output(0));
  graph.AddOutput(x);
  const std::string svg = ToSvg(graph);
  EXPECT_TRUE(IsWellFormed(svg)) << svg;
  EXPECT_TRUE(IsValidUtf8(svg));
  EXPECT_EQ(Count(svg, "marker-end"), 5u) << svg;
  EXPECT_TRUE(IsWellFormed(ToSvg(Graph("empty"))));
}

// Transformer-like: long skips, and one value that every block uses. A second is a hundred times
// what it takes; Graphviz took minutes for a tenth of this.
TEST(Draw, LargeGraphsTakeTheirSize) {
  constexpr int kBlocks = 1000;
  std::string text = "graph large(x: float32[2,4], mask: float32[2,4]) -> (y) {\n";
  std::string last = "x";
  for (int i = 0; i < kBlocks; ++i) {
    StrAppend(&text, "a", i, ": float32[2,4] = add(", last, ", mask)\n", "b", i,
              ": float32[2,4] = relu(a", i, ")\n", "c", i, ": float32[2,4] = mul(b", i, ", ", last,
              ")\n", "d", i, ": float32[2,4] = sigmoid(c", i, ")\n");
    last = StrCat("d", i);
  }
  StrAppend(&text, "y: float32[2,4] = identity(", last, ") }");
  const auto graph = Parsed(text);
  const auto start = std::chrono::steady_clock::now();
  const std::string svg = ToSvg(*graph);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 20) << "4,000 nodes";
  EXPECT_TRUE(IsWellFormed(svg));
  EXPECT_EQ(Count(svg, "marker-end"), 6u * kBlocks + 2);
}

TEST(Layout, BoxesStandBelowWhatTheyDependOnAndApart) {
  Layout layout;
  for (int i = 0; i < 40; ++i) layout.boxes.push_back({20.0 + i, 10.0 + i % 3, 0, 0});
  for (size_t i = 1; i < 40; ++i) {
    layout.edges.push_back({i / 2, i, {}, false});
    if (i > 5) layout.edges.push_back({i - 5, i, {}, false});
  }
  PlaceInLayers(layout);
  for (const LayoutEdge& edge : layout.edges) {
    EXPECT_LT(layout.boxes[edge.from].y + layout.boxes[edge.from].height, layout.boxes[edge.to].y);
  }
  for (size_t i = 0; i < layout.boxes.size(); ++i) {
    const LayoutBox& a = layout.boxes[i];
    EXPECT_GE(a.x - a.width / 2, 0);
    EXPECT_LE(a.x + a.width / 2, layout.width);
    EXPECT_LE(a.y + a.height, layout.height);
    for (size_t k = 0; k < i; ++k) {
      const LayoutBox& b = layout.boxes[k];
      const bool apart = a.x + a.width / 2 <= b.x - b.width / 2 ||
                         b.x + b.width / 2 <= a.x - a.width / 2 || a.y + a.height <= b.y ||
                         b.y + b.height <= a.y;
      EXPECT_TRUE(apart) << i << " and " << k;
    }
  }
}

}  // namespace
}  // namespace x2ir
