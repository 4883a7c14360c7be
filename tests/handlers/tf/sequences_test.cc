// Sequences of the IR written as TensorLists, through a file, and read again.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/handlers/tf/written_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

// Two tensors of different sizes, a position that is not known when the graph is written, and a
// condition.
constexpr std::string_view kSequenceInputs = "a: float32[2], b: float32[n], p: int64[], c: bool[]";
// `s` is a list of a, b and a again, which is read at p.
constexpr std::string_view kThree = "s = sequence_construct(a, b, a)\n";

std::vector<std::vector<Tensor>> AtPositions(const std::vector<int64_t>& positions) {
  std::vector<std::vector<Tensor>> sets;
  for (const int64_t p : positions) {
    for (const bool c : {false, true}) {
      sets.push_back({Tensor::Of<float>({2}, {1, 2}), Tensor::Of<float>({3}, {3, 4, 5}),
                      Tensor::Scalar<int64_t>(p), Tensor::Scalar<bool>(c)});
    }
  }
  return sets;
}

struct ListRow {
  std::string lines;
  std::vector<int64_t> positions = {0, 1, 2, -1, -3};
};

void ExpectListComesBack(const ListRow& row) {
  ExpectComesBack({std::string(kSequenceInputs), row.lines, AtPositions(row.positions), "", "tf"});
}

TEST(TfSequences, ElementsOfDifferentSizes) {
  const std::string three(kThree);
  const std::string all = "y = concat_from_sequence(t) { axis = 0 }";
  const std::string read = "y = sequence_at(t, p)";
  const ListRow rows[] = {
      {three + "y = sequence_at(s, p)"},
      {three + "y = sequence_length(s)"},
      {three + "q = int64[]{-2}\nt = sequence_at(s, q)\nu = sequence_at(s, p)\n"
               "y = concat(t, u) { axis = 0 }"},
      // Before a position, which may be the length.
      {three + "t = sequence_insert(s, b, p)\n" + all, {0, 1, 2, 3, -1, -3}},
      {three + "q = int64[]{1}\nt = sequence_insert(s, b, q)\n" + read, {0, 1, 2, 3, -1, -4}},
      {three + "q = int64[]{0}\nt = sequence_insert(s, b, q)\n" + read},
      {three + "q = int64[]{-1}\nt = sequence_insert(s, b, q)\n" + read},
      {three + "t = sequence_insert(s, b)\n" + read},
      {three + "t = sequence_erase(s, p)\n" + all},
      {three + "q = int64[]{0}\nt = sequence_erase(s, q)\n" + read, {0, 1, -1, -2}},
      {three + "q = int64[]{-2}\nt = sequence_erase(s, q)\n" + read, {0, 1, -1, -2}},
      {three + "t = sequence_erase(s)\n" + read, {0, 1, -1, -2}},
      // The list that it was is still there.
      {three +
       "u = sequence_insert(s, b, p)\nt = sequence_erase(s, p)\n"
       "v = concat_from_sequence(u) { axis = 0 }\nw = concat_from_sequence(t) { axis = 0 }\n"
       "y = concat(v, w) { axis = 0 }"},
      // The element at a position is replaced.
      {three +
           "one = int64[]{1}\nq = add(p, one)\nu = sequence_insert(s, b, p)\n"
           "t = sequence_erase(u, q)\n" +
           all,
       {0, 1, 2, -1, -3}},
      {three +
       "n = shape(b)\nz = int64[]{0}\nm = gather(n, z)\none = int64[]{1}\n"
       "two = sub(m, one)\nq = add(two, one)\nu = sequence_insert(s, b, two)\n"
       "t = sequence_erase(u, q)\n" +
       read},
      // A position of one axis.
      {"s = sequence_construct(a, b)\nr = int64[1]{1}\nq = reshape(p, r)\nu = sequence_at(s, p)\n"
       "z = int64[0]{}\nv = reshape(q, z)\nw = sequence_at(s, v)\ny = concat(u, w) { axis = 0 }",
       {0, 1, -1}},
      {"s = sequence_empty()\nt = sequence_insert(s, a, p)\n" + all, {0}},
      {"s = sequence_empty()\nt = sequence_insert(s, b)\nu = sequence_insert(t, a, p)\n"
       "y = sequence_at(u, p)",
       {0, 1}},
      // Not read at all.
      {three + "y = add(a, a)"},
  };
  for (const ListRow& row : rows) ExpectListComesBack(row);
}

TEST(TfSequences, ListsAreOneTensor) {
  for (const int64_t axis : {0, 1, 2, -1, -2}) {
    for (const bool new_axis : {false, true}) {
      const std::string attrs = StrCat(" { axis = ", axis, ", new_axis = ", new_axis ? 1 : 0, " }");
      // Of one shape: known, and not.
      for (const char* x : {"x: float32[2,3,4]", "x: float32[2,h,4]", "x: float32[n,h,w]"}) {
        WrittenRow row{StrCat(x, ", p: int64[]"),
                       StrCat("z = neg(x)\ns = sequence_construct(x, z)\n"
                              "t = sequence_insert(s, x, p)\ny = concat_from_sequence(t)",
                              attrs),
                       {{Numbered({2, 3, 4}), Tensor::Scalar<int64_t>(1)},
                        {Numbered({2, 3, 4}), Tensor::Scalar<int64_t>(-2)}},
                       "",
                       "tf"};
        ExpectComesBack(row);
      }
    }
    // Sizes that differ along the axis.
    ExpectComesBack({"x: float32[n,h,w], p: int64[]",
                     StrCat("z = concat(x, x) { axis = ", axis,
                            " }\ns = sequence_construct(x, z)\nt = sequence_insert(s, z, p)\n"
                            "y = concat_from_sequence(t) { axis = ",
                            axis, " }"),
                     {{Numbered({2, 3, 4}), Tensor::Scalar<int64_t>(1)}},
                     "",
                     "tf"});
  }
}

TEST(TfSequences, Parts) {
  struct Row {
    std::string split;
    std::vector<int64_t> values;  // null: no operand
    std::string attrs;
  };
  const Row rows[] = {
      {"", {}, "{ axis = AXIS }"},
      {"", {}, "{ axis = AXIS, keepdims = 0 }"},
      {"q: int64[3]", {1, 0, 3}, "{ axis = AXIS }"},
      {"q: int32[m]", {2, 2}, "{ axis = AXIS }"},
      {"q: int64[]", {3}, "{ axis = AXIS }"},
      {"q: int64[]", {1}, "{ axis = AXIS }"},
      {"q: int32[]", {9}, "{ axis = AXIS }"},
  };
  for (const Row& row : rows) {
    for (const int64_t axis : {0, 1, -1}) {
      for (const char* x : {"x: float32[4,4,4]", "x: float32[n,h,w]"}) {
        std::string attrs = row.attrs;
        attrs.replace(attrs.find("AXIS"), 4, StrCat(axis));
        std::vector<Tensor> values = {Numbered({4, 4, 4}), Tensor::Scalar<int64_t>(0)};
        if (!row.split.empty()) {
          const auto count = static_cast<int64_t>(row.values.size());
          const bool scalar = row.split.ends_with("[]");
          Tensor sizes = Tensor::Of<int64_t>({count}, row.values);
          if (scalar) sizes = sizes.Reshaped({});
          if (row.split.find("int32") != std::string::npos) {
            std::vector<int32_t> narrow(row.values.begin(), row.values.end());
            sizes = Tensor::Of<int32_t>({count}, narrow);
            if (scalar) sizes = sizes.Reshaped({});
          }
          values.push_back(sizes);
        }
        std::vector<Tensor> last = values;
        last[1] = Tensor::Scalar<int64_t>(-1);
        ExpectComesBack({StrCat(x, ", p: int64[]", row.split.empty() ? "" : ", ", row.split),
                         StrCat("s = split_to_sequence(x", row.split.empty() ? "" : ", q", ") ",
                                attrs, "\ny = sequence_at(s, p)"),
                         {values, last},
                         "",
                         "tf"});
      }
    }
  }
}

TEST(TfSequences, BranchesAndLoops) {
  const std::string three(kThree);
  const std::string all = "y = concat_from_sequence(t) { axis = 0 }";
  const std::string loop_begin =
      "cond = bool[]{true}\nk = int64[]{4}\nt = loop(k, cond, s) {\n"
      "  body = graph body(i: int64[], go: bool[], l: sequence(float32[...])) -> (more, next) {\n"
      "    more = identity(go)\n";
  const ListRow rows[] = {
      {three +
       "t = if(c) {\n"
       "  then_branch = graph th() -> (u) {\n    u = sequence_insert(s, b, p)\n  },\n"
       "  else_branch = graph el() -> (v) {\n    v = sequence_erase(s, p)\n  }\n}\n" +
       all},
      // An outer list, and a new one.
      {three + "t = if(c) {\n"
               "  then_branch = graph th() -> (u) {\n    u = identity(s)\n  },\n"
               "  else_branch = graph el() -> (v) {\n    v = sequence_construct(b, a)\n  }\n}\n"
               "y = sequence_at(t, p)",
       {0, 1, -1, -2}},
      {"s = sequence_empty()\n" + loop_begin +
           "    next = sequence_insert(l, a)\n  }\n}\ny = sequence_at(t, p)",
       {0, 1, 3, -1, -4}},
      // Elements of other sizes in each round.
      {"s = sequence_construct(a)\n" + loop_begin +
       "    z = int64[]{0}\n    last = int64[]{-1}\n    e = sequence_at(l, last)\n"
       "    f = concat(e, b) { axis = 0 }\n    next = sequence_insert(l, f, i)\n  }\n}\n" +
       all},
      {"s = sequence_construct(b, a, b, a, b)\n" + loop_begin +
       "    e = sequence_at(l, i)\n    f = mul(e, e)\n    one = int64[]{1}\n"
       "    j = add(i, one)\n    g = sequence_insert(l, f, i)\n"
       "    next = sequence_erase(g, j)\n  }\n}\n" +
       all},
      // A list in a graph that is nested twice.
      {"s = sequence_construct(a, b)\n" + loop_begin +
           "    next = if(c) {\n"
           "      then_branch = graph th() -> (u) {\n        u = sequence_insert(l, b, p)\n      "
           "},\n"
           "      else_branch = graph el() -> (v) {\n        v = sequence_insert(l, a)\n      }\n"
           "    }\n  }\n}\n" +
           all,
       {0, 1, 2, -1, -2}},
      // It ends when a condition says so.
      {"s = sequence_empty()\nk = int64[]{9}\nt = loop(k, c, s) {\n"
       "  body = graph body(i: int64[], go: bool[], l: sequence(float32[...])) -> (more, next) {\n"
       "    lim = int64[]{3}\n    more = less(i, lim)\n    next = sequence_insert(l, b)\n  }\n}\n"
       "y = sequence_length(t)"},
      {three +
       "t = sequence_map(s) {\n  body = graph f(e: float32[k]) -> (g) {\n"
       "    g = concat(e, a) { axis = 0 }\n  }\n}\n" +
       all},
      {three + "r = sequence_construct(b, a, a)\nt, u = sequence_map(s, r, b) {\n"
               "  body = graph f(e: float32[k], g: float32[l], h: float32[n]) -> (v, w) {\n"
               "    v = concat(e, g, h) { axis = 0 }\n    w = shape(e) { start = 0 }\n  }\n}\n"
               "v = concat_from_sequence(t) { axis = 0 }\n"
               "w = sequence_at(u, p)\nx = cast(w) { to = \"float32\" }\n"
               "y = concat(v, x) { axis = 0 }"},
  };
  for (const ListRow& row : rows) ExpectListComesBack(row);
}

TEST(TfSequences, ElementTypes) {
  for (const char* type : {"float16", "float64", "int8", "uint16", "int64", "bool", "string"}) {
    const bool text = type == std::string_view("string");
    const std::string value = text                               ? "{\"a\", \"b\"}"
                              : type == std::string_view("bool") ? "{true, false}"
                                                                 : "{1, 2}";
    ExpectComesBack({"p: int64[]",
                     StrCat("a = ", type, "[2]", value, "\nb = concat(a, a) { axis = 0 }\n",
                            "s = sequence_construct(a, b)\nt = sequence_insert(s, b, p)\n"
                            "y = concat_from_sequence(t) { axis = 0 }"),
                     {{Tensor::Scalar<int64_t>(1)}},
                     "",
                     "tf"});
  }
}

// Sequences that resolve are no lists.
TEST(TfSequences, KnownElementsAreTensors) {
  struct Row {
    std::string lines;
    size_t lists;
  };
  const std::string three(kThree);
  const Row rows[] = {
      {three + "q = int64[]{1}\ny = sequence_at(s, q)", 0},
      {three + "t = sequence_erase(s)\nu = sequence_insert(t, b)\n"
               "y = concat_from_sequence(u) { axis = 0 }",
       0},
      {three + "one = int64[]{1}\ntwo = int64[]{2}\nu = sequence_insert(s, b, one)\n"
               "t = sequence_erase(u, two)\ny = sequence_at(t, one)",
       0},
      {three + "y = sequence_at(s, p)", 6},  // EmptyTensorList, three elements, length, element
  };
  for (const Row& row : rows) {
    Model model;
    const auto graph = ParseIr(kSequenceInputs, row.lines, "y");
    ASSERT_TRUE(graph.ok()) << graph.status() << row.lines;
    model.graph = *graph;
    ASSERT_TRUE(FromIr(model, "tf").ok()) << row.lines;
    size_t lists = 0;
    for (const Node* node : model.graph->nodes()) {
      lists += node->op().view().find("TensorList") != std::string_view::npos;
    }
    EXPECT_EQ(lists, row.lists) << row.lines;
  }
}

// The first variable of a loop is the number of the round only where the rounds are counted.
TEST(TfSequences, PlacesThatAreCarriedMayCountFromTheEnd) {
  const std::string lines =
      "s = sequence_construct(a, b, b)\nz = int64[]{0}\nask = less(p, z)\n"
      "r, y = loop(_, ask, p, a) {\nbody = graph body(i: int64[], go: bool[], q: int64[], "
      "e: float32[...]) -> (n, m, f) {\none = int64[]{1}\nf = sequence_at(s, q)\n"
      "m = add(q, one)\nn = less(m, z)\n}\n}";
  ExpectListComesBack({lines, {0, -1, -3}});
  Model model;
  model.graph = *ParseIr(kSequenceInputs, lines, "y");
  ExportOptions as_it_is;
  as_it_is.optimize = false;
  ASSERT_TRUE(FromIr(model, "tf", as_it_is).ok());
  bool sized = false;
  for (const Node* node : model.graph->nodes()) {
    if (node->op().view() != "StatelessWhile") continue;
    EXPECT_EQ(node->num_inputs(), 2u);
    for (const Graph* inner : node->subgraphs()) {
      for (const Node* made : inner->nodes()) sized |= made->op().view() == "TensorListLength";
    }
  }
  EXPECT_TRUE(sized) << ToText(*model.graph);
}

// An element is replaced by one node, where the position is known not to count from the end.
TEST(TfSequences, ElementsAreReplaced) {
  const std::string write =
      "one = int64[]{1}\nj = add(i, one)\ng = sequence_insert(l, a, i)\n"
      "next = sequence_erase(g, j)\n";
  const std::string grow =
      "n = sequence_length(l)\nin = less(i, n)\nnext = if(in) {\n"
      "then_branch = graph th() -> (u) {\none = int64[]{1}\nj = add(i, one)\n"
      "g = sequence_insert(l, a, i)\nu = sequence_erase(g, j)\n},\n"
      "else_branch = graph el() -> (v) {\nv = sequence_insert(l, a, i)\n}\n}\n";
  for (const std::string& step : {write, grow}) {
    const std::string lines = StrCat(
        "s = sequence_construct(a, b, b)\ncond = bool[]{true}\nk = int64[]{", step == grow ? 5 : 3,
        "}\nt = loop(k, cond, s) {\nbody = graph body(i: int64[], go: bool[], ",
        "l: sequence(float32[...])) -> (more, next) {\nmore = identity(go)\n", step,
        "}\n}\ny = sequence_at(t, p)");
    ExpectListComesBack({lines, {0, 1, 2, -1}});
    Model model;
    model.graph = *ParseIr(kSequenceInputs, lines, "y");
    ExportOptions as_it_is;
    as_it_is.optimize = false;  // or the rounds would be written out
    ASSERT_TRUE(FromIr(model, "tf", as_it_is).ok());
    bool set = false;
    for (const Node* node : model.graph->nodes()) {
      if (node->op().view() != "StatelessWhile") continue;
      for (const Node* inner : node->attrs().SubGraph("body").nodes()) {
        EXPECT_FALSE(inner->has_subgraphs());
        set = set || inner->op().view() == "TensorListSetItem";
      }
    }
    EXPECT_TRUE(set) << lines;
  }
}

// No target is asked for what nothing uses.
TEST(TfSequences, UnusedOnesAreNotWritten) {
  ExpectComesBack({"a: float32[2], p: int64[]",
                   "s = sequence_construct(a, a)\nt = sequence_insert(s, a, p)\n"
                   "u = sequence_erase(t, p)\ny = neg(a)",
                   {{Tensor::Of<float>({2}, {1, 2}), Tensor::Scalar<int64_t>(1)}}});
}

TEST(TfSequences, Refused) {
  const WrittenRow rows[] = {
      {"s: sequence(float32[2]), p: int64[]",
       "y = sequence_at(s, p)",
       {},
       "input 's' is sequence(float32[2]); inputs and outputs",
       "tf"},
      {"a: float32[2], p: int64[]",
       "y = sequence_construct(a, a)",
       {},
       "output 'y' is sequence(float32[2])",
       "tf"},
      {"a: float32[2], p: int64[]",
       "s = sequence_construct(a, a)\ny = sequence_at(s, p)",
       {},
       "sequence_construct: no mapping to tfjs",
       "tfjs"},
  };
  for (const WrittenRow& row : rows) ExpectComesBack(row);
}

}  // namespace
}  // namespace x2ir
