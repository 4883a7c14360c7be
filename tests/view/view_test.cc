// The page as text: one file that asks for nothing, data that cannot become markup.
#include "x2ir/view/view.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using testing::HasSubstr;
using testing::Not;

Model ModelOf(const std::string& text) {
  Model model;
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  model.graph = *std::move(graph);
  return model;
}

nlohmann::json DataOf(absl::Span<const ViewedModel> models, const ViewOptions& options = {}) {
  const auto data = ViewData(models, options);
  EXPECT_TRUE(data.ok()) << data.status();
  return nlohmann::json::parse(*data, nullptr, /*allow_exceptions=*/false);
}

constexpr char kSmall[] =
    "graph g(x: float32[1,20]) -> (y: float32[1,3]) {\n"
    "  b = float32[3]{0, 1, -0.5}\n"
    "  h: float32[1,3] = matmul(x, w)\n"
    "  y: float32[1,3] = add(h, b) \"m/add\"\n"
    "}\n";

// With a weight of 60 elements: 0, 1, 0, 1, ...
Model Small(float last = 1) {
  Model model = ModelOf(StrCat("graph g(x: float32[1,20], w: float32[20,3]) -> (y)",
                               std::string(kSmall).substr(std::string(kSmall).find(" {"))));
  std::vector<float> elements(60);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i % 2);
  elements.back() = last;
  Value* w = model.graph->inputs()[1];
  model.graph->SetDefault(w, Tensor::Of<float>({20, 3}, elements));
  model.graph->FreezeInputs();
  return model;
}

TEST(ViewData, WeightsAreStatistics) {
  const Model model = Small(std::numeric_limits<float>::quiet_NaN());
  const nlohmann::json data = DataOf({{"g", "ir", &model}});
  const nlohmann::json& weights = data["models"][0]["weights"];
  ASSERT_EQ(weights.size(), 2u);
  // value, elements, bytes, [min, max, mean, deviation, zeros, NaNs, infinities], histogram.
  EXPECT_EQ(weights[0].size(), 5u);
  EXPECT_EQ(weights[0][1], 60);
  EXPECT_EQ(weights[0][2], 240);
  EXPECT_EQ(weights[0][3][0], 0);
  EXPECT_EQ(weights[0][3][1], 1);
  EXPECT_NEAR(weights[0][3][2], 29.0 / 59, 1e-5);
  EXPECT_EQ(weights[0][3][4], 30);
  EXPECT_EQ(weights[0][3][5], 1);
  EXPECT_EQ(weights[0][4].size(), 32u);
  EXPECT_EQ(weights[0][4][0], 30);
  EXPECT_EQ(weights[0][4][31], 29);
  EXPECT_EQ(weights[1][3], "float32[3]{0, 1, -0.5}");
  const std::string text = data.dump();
  EXPECT_THAT(text, Not(HasSubstr("AACAPw")));  // 1.0f in base64
  EXPECT_THAT(DataOf({{"g", "ir", &model}}, {.weights = true}).dump(), HasSubstr("AACAPw"));
}

TEST(ViewData, WeightsThatAreTooLarge) {
  Model model = ModelOf("graph g(x: float32[1]) -> (y) { y = add(x, x) }");
  Value* w = model.graph->AddConstant("w", Tensor::Zeros(DType::kInt8, {kMaxWeightBytes + 1}));
  model.graph->AppendNode("", "relu", {w});
  model.graph->AddNodeOutput(model.graph->last(), "z");
  EXPECT_TRUE(ViewData({{"g", "", &model}}).ok());
  EXPECT_EQ(ViewData({{"g", "", &model}}, {.weights = true}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(ViewData({}).ok());
}

TEST(ViewData, CostsAndDocumentation) {
  const Model model = Small();
  const nlohmann::json data = DataOf({{"g", "ir", &model}});
  const nlohmann::json& m = data["models"][0];
  // The items are x, matmul, add, y; 1 x 20 x 3 multiply-adds.
  EXPECT_EQ(m["costs"][0], nlohmann::json({1, 60, 60, 240, 12}));
  EXPECT_EQ(m["costs"][1], nlohmann::json({2, 0, 3, 12, 12}));
  EXPECT_EQ(data["ops"][0][0], "matmul");
  EXPECT_FALSE(data["ops"][0][2].get<std::string>().empty());
  EXPECT_EQ(data["ops"][0][3].size(), 2u);
}

TEST(ViewData, Matches) {
  const Model a = Small(), b = Small(5),
              c = ModelOf("graph g(x: float32[1,20]) -> (y) { y = relu(x) }");
  // Items: 0 x, 1 matmul, 2 add, 3 y. Of each match: the two items, and what differs.
  const auto rows = [](const nlohmann::json& data) {
    std::vector<std::array<int, 3>> rows;
    for (const auto& row : data["matches"]) rows.push_back({row[0], row[1], row.size() > 2});
    return rows;
  };
  using Rows = std::vector<std::array<int, 3>>;
  const nlohmann::json weight = DataOf({{"a", "", &a}, {"b", "", &b}});
  EXPECT_EQ(rows(weight), (Rows{{0, 0, 0}, {1, 1, 1}, {2, 2, 0}, {3, 3, 0}}));
  EXPECT_THAT(weight["strings"][weight["matches"][1][2].get<size_t>()].get<std::string>(),
              HasSubstr("'w' is a constant"));
  // The output's producers are no match, but give what both have.
  EXPECT_EQ(rows(DataOf({{"a", "", &a}, {"c", "", &c}})), (Rows{{0, 0, 0}, {2, 1, 1}, {3, 2, 1}}));
}

// Graphs within nodes that are the same are compared too, with what they use from outside.
TEST(ViewData, MatchesOfNestedGraphs) {
  const auto model = [](const std::string& inner) {
    return ModelOf(
        StrCat("graph g(x: float32[2], c: bool[]) -> (y) {\n  h: float32[2] = neg(x)\n",
               "  y: float32[2] = if(c) {\n",
               "    then_branch = graph t() -> (p) { p: float32[2] = ", inner, "(h) },\n",
               "    else_branch = graph e() -> (q) { q: float32[2] = softmax(h) { axis = ",
               inner == "abs" ? "0" : "-1", " } } } }"));
  };
  const auto ops = [](const nlohmann::json& data, size_t side) {
    std::string text;
    for (const auto& row : data["matches"]) {
      const int op = data["models"][side]["items"][row[side].get<size_t>()][0];
      StrAppend(&text, op < 0 ? "-" : data["ops"][static_cast<size_t>(op)][0].get<std::string>(),
                row.size() > 2 ? "! " : " ");
    }
    return text;
  };
  const Model a = model("abs"), b = model("abs"), c = model("relu");
  EXPECT_EQ(ops(DataOf({{"a", "", &a}, {"b", "", &b}}), 0), "- - neg if - abs - softmax - ");
  // The axis is the same in another spelling; abs and relu give what both have, the output.
  EXPECT_EQ(ops(DataOf({{"a", "", &a}, {"c", "", &c}}), 0), "- - neg if - abs! - softmax - ");
}

TEST(ViewData, ErrorsOfValues) {
  const Model a = Small(), b = Small(5);
  IoCase io;
  io.inputs = {Tensor::Of<float>({1, 20}, std::vector<float>(20, 1.f))};
  const auto comparison = CompareModels(a, b, {io});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  const nlohmann::json data =
      DataOf({{"a", "", &a}, {"b", "", &b}}, {.weights = false, .comparison = &*comparison});
  // The first that differs is the result of matmul: value 2 of both (x, w, h).
  const auto& strings = data["strings"];
  const int first = data["first"]["value"];
  EXPECT_EQ(strings[data["models"][0]["values"][first][0].get<size_t>()], "h");
  ASSERT_EQ(data["errors"].size(), 2u);
  EXPECT_NEAR(data["errors"][0][3], 4, 1e-5);
}

TEST(ViewPage, NamesCannotBecomeMarkup) {
  if (!HasViewPage()) GTEST_SKIP() << "the build has no page: npm was missing";
  const std::string name = "</script><script>alert(1)</script><!--\x7f\x01\xff";
  Model model;
  model.graph->set_name(name);
  Value* x = model.graph->AddInput(name, Type::Tensor(DType::kFloat32, Shape::FromInts({1})));
  Node* node = model.graph->AppendNode("", "relu", {x});
  node->set_name(name);
  node->SetAttr(name, name);
  node->annotations().GetOrMake().metadata.emplace_back(name, name);
  model.graph->AddOutput(model.graph->AddNodeOutput(node, "y"));
  const auto plain = ViewPage({{"t", "", &model}});
  ASSERT_TRUE(plain.ok());
  const auto page = ViewPage({{name, name, &model}});
  ASSERT_TRUE(page.ok());
  const auto count = [](const std::string& text, std::string_view part) {
    size_t n = 0;
    for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  for (const char* part : {"<script", "</script", "<!--", "alert(1)<"}) {
    EXPECT_EQ(count(*page, part),
              part == std::string("<script") || part == std::string("</script") ? 2u : 0u)
        << part;
  }
  for (const char c : *page)
    EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 32 && c != 127));
  // The policy comes before all that it is about, and no address of anything is in the page.
  EXPECT_LT(page->find("default-src 'none'"), page->find("<style"));
  EXPECT_THAT(*page, Not(HasSubstr("src=\"")));
  EXPECT_THAT(*page, Not(HasSubstr("href=\"")));
}

}  // namespace
}  // namespace x2ir
