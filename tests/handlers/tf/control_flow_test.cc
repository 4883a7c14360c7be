// Branches and loops of TensorFlow: graphs in text form that are converted and evaluated.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/handlers/tf/text_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using namespace tf_text;  // NOLINT

// A loop of TensorFlow 1 over variables "i" (from `from` up to `to`) and others.
struct Variable {
  std::string name, first, next;
};
std::string Loop(const std::string& name, const std::string& limit,
                 const std::vector<Variable>& variables) {
  const std::pair<std::string, std::string> frame = {"frame_name", "s: '" + name + "'"};
  std::string text;
  for (const Variable& v : variables) {
    text += N(v.name + "/enter", "Enter", {v.first}, {frame});
    text += N(v.name + "/merge", "Merge", {v.name + "/enter", v.name + "/next"});
    text += N(v.name + "/switch", "Switch", {v.name + "/merge", name + "/cond"});
    text += N(v.name + "/in", "Identity", {v.name + "/switch:1"});
    text += N(v.name + "/next", "NextIteration", {v.next});
    text += N(v.name + "/exit", "Exit", {v.name + "/switch"});
  }
  text += N(name + "/limit", "Enter", {limit}, {frame, {"is_constant", "b: true"}});
  text += N(name + "/less", "Less", {variables[0].name + "/merge", name + "/limit"});
  return text + N(name + "/cond", "LoopCond", {name + "/less"});
}

// y = p ? a : b.
const std::string kPivots = In("p", "DT_BOOL") + N("s", "Switch", {"p", "p"}) +
                            N("t", "Identity", {"s:1"}) + N("f", "Identity", {"s"}) +
                            N("id", "Identity", {"p"});

TEST(TfControlFlow, BranchesOfTensorFlow1) {
  // What decides is only waited for.
  const std::string consts =
      kPivots + Const("a", 7, {"^t"}) + Const("b", 9, {"^f"}) + N("y", "Merge", {"b", "a"});
  EXPECT_EQ(Results(consts, {"y", "y:1"}, {B(true)}), "7 1");
  EXPECT_EQ(Results(consts, {"y", "y:1"}, {B(false)}), "9 0");
  // A branch that is not taken does not run: it would divide by zero.
  const std::string division = kPivots + In("x", "DT_INT32") + N("xs", "Switch", {"x", "id"}) +
                               Const("one", 1, {"^t"}) + N("a", "FloorDiv", {"one", "xs:1"}) +
                               N("b", "Neg", {"xs"}) + N("y", "Merge", {"b", "a"});
  EXPECT_EQ(Results(division, {"y"}, {B(false), I(0)}), "0");
  EXPECT_EQ(Results(division, {"y"}, {B(true), I(1)}), "1");
  // Two after each other, of one condition.
  const std::string twice = division + N("ys", "Switch", {"y", "id"}) + Const("ten", 10, {"^f"}) +
                            N("c", "Mul", {"ys", "ten"}) + N("z", "Merge", {"c", "ys:1"});
  EXPECT_EQ(Results(twice, {"z"}, {B(false), I(3)}), "-30");
  EXPECT_EQ(Results(twice, {"z"}, {B(true), I(1)}), "1");
  // One in the other.
  const std::string nested = kPivots + In("q", "DT_BOOL") + N("qs", "Switch", {"q", "id"}) +
                             N("s2", "Switch", {"qs:1", "qs:1"}) + N("t2", "Identity", {"s2:1"}) +
                             N("f2", "Identity", {"s2"}) + Const("a", 1, {"^t2"}) +
                             Const("b", 2, {"^f2"}) + N("m", "Merge", {"b", "a"}) +
                             Const("c", 3, {"^f"}) + N("y", "Merge", {"c", "m"});
  EXPECT_EQ(Results(nested, {"y"}, {B(true), B(true)}), "1");
  EXPECT_EQ(Results(nested, {"y"}, {B(true), B(false)}), "2");
  EXPECT_EQ(Results(nested, {"y"}, {B(false), B(true)}), "3");
}

TEST(TfControlFlow, LoopsOfTensorFlow1) {
  const std::string zero = Const("zero", 0) + Const("one", 1, {});
  const std::string sum = In("n", "DT_INT32") + zero + Const("step", 1, {"^i/in"}) +
                          N("i1", "Add", {"i/in", "step"}) + N("sum1", "Add", {"sum/in", "i/in"}) +
                          Loop("w", "n", {{"i", "zero", "i1"}, {"sum", "one", "sum1"}});
  EXPECT_EQ(Results(sum, {"i/exit", "sum/exit"}, {I(5)}), "5 11");
  EXPECT_EQ(Results(sum, {"sum/exit"}, {I(0)}), "1");
  // A loop in a loop: how often j < i < n.
  const std::string inner = In("n", "DT_INT32") + zero + Const("step", 1, {"^i/in"}) +
                            Const("start", 0, {"^i/in"}) + N("i1", "Add", {"i/in", "step"}) +
                            Const("step2", 1, {"^j/in"}) + N("j1", "Add", {"j/in", "step2"}) +
                            N("c1", "Add", {"c/in", "step2"}) +
                            Loop("v", "i/in", {{"j", "start", "j1"}, {"c", "sum/in", "c1"}}) +
                            Loop("w", "n", {{"i", "zero", "i1"}, {"sum", "zero", "c/exit"}});
  EXPECT_EQ(Results(inner, {"sum/exit"}, {I(5)}), "10");
  // A branch in a loop: odd numbers only.
  const std::string odd =
      In("n", "DT_INT32") + zero + Const("step", 1, {"^i/in"}) + N("i1", "Add", {"i/in", "step"}) +
      Const("two", 2, {"^i/in"}) + N("rest", "FloorMod", {"i/in", "two"}) +
      N("is_odd", "Equal", {"rest", "step"}) + N("is", "Switch", {"i/in", "is_odd"}) +
      N("ss", "Switch", {"sum/in", "is_odd"}) + N("more", "Add", {"ss:1", "is:1"}) +
      N("m", "Merge", {"ss", "more"}) + Loop("w", "n", {{"i", "zero", "i1"}, {"sum", "zero", "m"}});
  EXPECT_EQ(Results(odd, {"sum/exit"}, {I(6)}), "9");
  // A loop in a branch.
  const std::string maybe = kPivots + Const("zero", 0, {"^t"}) + Const("n", 4, {"^t"}) +
                            Const("step", 1, {"^i/in"}) + N("i1", "Add", {"i/in", "step"}) +
                            Loop("w", "n", {{"i", "zero", "i1"}}) + Const("other", -1, {"^f"}) +
                            N("y", "Merge", {"other", "i/exit"});
  EXPECT_EQ(Results(maybe, {"y"}, {B(true)}), "4");
  EXPECT_EQ(Results(maybe, {"y"}, {B(false)}), "-1");
}

// Loops and branches in each other, and what of them is of no use.
TEST(TfControlFlow, NestedInTensorFlow1) {
  const std::string numbers = Const("zero", 0) + Const("one", 1);
  // while i < n: if i is odd: while j < i: sum += x.
  const std::string deep =
      In("n", "DT_INT32") + In("x", "DT_INT32") + numbers + Const("step", 1, {"^i/in"}) +
      Const("two", 2, {"^i/in"}) + N("i1", "Add", {"i/in", "step"}) +
      N("rest", "FloorMod", {"i/in", "two"}) + N("is_odd", "Equal", {"rest", "step"}) +
      N("is", "Switch", {"i/in", "is_odd"}) + N("ss", "Switch", {"sum/in", "is_odd"}) +
      N("pivot", "Identity", {"is:1"}) + Const("start", 0, {"^pivot"}) +
      Const("more", 1, {"^j/in"}) + N("j1", "Add", {"j/in", "more"}) +
      N("c1", "Add", {"c/in", "x2"}) +
      N("x1", "Enter", {"x"}, {{"frame_name", "s: 'w'"}, {"is_constant", "b: true"}}) +
      N("xs", "Switch", {"x1", "is_odd"}) +
      N("x2", "Enter", {"xs:1"}, {{"frame_name", "s: 'v'"}, {"is_constant", "b: true"}}) +
      Loop("v", "is:1", {{"j", "start", "j1"}, {"c", "ss:1", "c1"}}) +
      N("m", "Merge", {"ss", "c/exit"}) +
      Loop("w", "n", {{"i", "zero", "i1"}, {"sum", "zero", "m"}});
  EXPECT_EQ(Results(deep, {"sum/exit"}, {I(6), I(2)}), "18");
  EXPECT_EQ(Results(deep, {"sum/exit", "i/exit"}, {I(0), I(2)}), "0 0");
  // A variable that only goes round, one that nobody wants, and what every round reads.
  const std::string idle =
      In("n", "DT_INT32") + In("x", "DT_INT32") + numbers + Const("step", 1, {"^i/in"}) +
      N("i1", "Add", {"i/in", "step"}) + N("k1", "Identity", {"k/in"}) +
      N("big", "Enter", {"x"}, {{"frame_name", "s: 'w'"}, {"is_constant", "b: true"}}) +
      N("u1", "Add", {"u/in", "big"}) + N("s1", "Add", {"s/in", "big"}) +
      Loop("w", "n",
           {{"i", "zero", "i1"}, {"k", "one", "k1"}, {"u", "one", "u1"}, {"s", "zero", "s1"}});
  EXPECT_EQ(Results(idle, {"k/exit", "s/exit"}, {I(3), I(5)}), "1 15");
  EXPECT_EQ(Results(idle, {"k/exit"}, {I(3)}), "1");
  // Branches of constants that only wait for the condition, in a loop.
  const std::string constants =
      In("n", "DT_INT32") + numbers + Const("step", 1, {"^i/in"}) +
      N("i1", "Add", {"i/in", "step"}) + N("small", "Less", {"i/in", "step"}) +
      N("p", "Switch", {"small", "small"}) + N("pt", "Identity", {"p:1"}) +
      N("pf", "Identity", {"p"}) + Const("a", 10, {"^pt"}) + Const("b", 3, {"^pf"}) +
      N("m", "Merge", {"b", "a"}) + N("s1", "Add", {"s/in", "m"}) +
      Loop("w", "n", {{"i", "zero", "i1"}, {"s", "zero", "s1"}});
  EXPECT_EQ(Results(constants, {"s/exit"}, {I(3)}), "16");
  // A loop after a loop, of its result.
  const std::string after =
      In("n", "DT_INT32") + numbers + Const("step", 1, {"^i/in"}) +
      N("i1", "Add", {"i/in", "step"}) + Loop("w", "n", {{"i", "zero", "i1"}}) +
      Const("two", 2, {"^j/in"}) + N("j1", "Mul", {"j/in", "two"}) +
      N("limit", "Mul", {"i/exit", "i/exit"}) + Loop("v", "limit", {{"j", "one", "j1"}});
  EXPECT_EQ(Results(after, {"j/exit"}, {I(5)}), "32");
  // The condition is a condition's result.
  const std::string chosen =
      kPivots + In("x", "DT_BOOL") + In("y", "DT_BOOL") + N("xs", "Switch", {"x", "id"}) +
      N("ys", "Switch", {"y", "id"}) + N("q", "Merge", {"xs", "ys:1"}) +
      N("qs", "Switch", {"q", "q"}) + N("qt", "Identity", {"qs:1"}) + N("qf", "Identity", {"qs"}) +
      Const("a", 1, {"^qt"}) + Const("b", 2, {"^qf"}) + N("r", "Merge", {"b", "a"});
  EXPECT_EQ(Results(chosen, {"r"}, {B(true), B(false), B(true)}), "1");
  EXPECT_EQ(Results(chosen, {"r"}, {B(false), B(false), B(true)}), "2");
}

TEST(TfControlFlow, WhatIsRefused) {
  const std::string x = In("x", "DT_INT32");
  const std::string switched = kPivots + x + N("xs", "Switch", {"x", "p"});
  const std::string loop = In("n", "DT_INT32") + Const("zero", 0) + N("i1", "Neg", {"i/in"}) +
                           Loop("w", "n", {{"i", "zero", "i1"}});
  std::string deep = kPivots + In("x0", "DT_INT32");
  for (int i = 0; i < 200; ++i) {
    deep += In(StrCat("p", i), "DT_BOOL") +
            N(StrCat("x", i + 1), "Switch", {StrCat("x", i), StrCat("p", i)});
  }
  struct Row {
    std::string graph;
    std::vector<std::string> outputs;
    std::string error;
  };
  const Row rows[] = {
      {switched, {"xs"}, "some runs do not compute it"},
      {switched + N("y", "Add", {"xs", "xs:1"}), {"y"}, "never taken together"},
      {switched + N("y", "Merge", {"xs", "x"}),
       {"y"},
       "do not come from the two branches of one condition"},
      {switched + N("y", "Merge", {"xs", "xs:1", "xs"}), {"y"}, "more than two"},
      {switched + N("y", "Merge", {"xs"}), {"y"}, "1 operands; expected 2"},
      {switched + N("y", "Merge", {"xs", "xs:1"}), {"y:2"}, "INVALID_ARGUMENT"},
      {x + N("a", "Merge", {"b", "x"}) + N("b", "Neg", {"a"}), {"a"}, "cycle"},
      {x + N("y", "Exit", {"x"}), {"y"}, "not the end of a loop"},
      {x + N("y", "LoopCond", {"x"}), {"y"}, "not in a loop"},
      {x + N("y", "NextIteration", {"x"}), {"y"}, "not in a loop"},
      {x + N("y", "Enter", {"x"}), {"y"}, "frame_name"},
      {x + N("y", "Enter", {"x"}, {{"frame_name", "s: 'a'"}}),
       {"y"},
       "some runs do not compute it"},
      {loop, {"i/merge:1"}, "some runs do not compute it"},
      {loop + N("y", "Exit", {"i/in"}), {"y"}, "not the end of a loop"},
      {loop + N("e", "Identity", {"i/switch"}) + N("y", "Exit", {"e"}), {"y"}, "UNIMPLEMENTED"},
      {deep, {"x200"}, "branches in more than 100"},
  };
  for (const Row& row : rows) {
    const absl::StatusOr<Model> model = Load(row.graph, row.outputs);
    EXPECT_THAT(model.status().ToString(), HasSubstr(row.error)) << row.graph.substr(0, 2000);
  }
}

// --- Functions ----------------------------------------------------------------------------------

std::string Function(const std::string& name, const std::vector<std::string>& args,
                     const std::string& nodes, const std::vector<std::string>& results,
                     const std::string& result_type = "DT_INT32") {
  std::string text = "library { function { signature { name: '" + name + "'";
  for (const std::string& arg : args) {
    StrAppend(&text, " input_arg { name: '", arg, "' type: DT_INT32 }");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    StrAppend(&text, " output_arg { name: 'r", i, "' type: ", result_type, " }");
  }
  text += " }\n" + nodes;
  for (size_t i = 0; i < results.size(); ++i) {
    StrAppend(&text, " ret { key: 'r", i, "' value: '", results[i], "' }");
  }
  return text + " } }\n";
}
std::string F(const std::string& name) { return "func { name: '" + name + "' }"; }

TEST(TfControlFlow, BranchesAndLoopsAsFunctions) {
  const std::string x = In("x", "DT_INT32");
  const std::string neg = Function("neg", {"a"}, N("y", "Neg", {"a"}, {}, "node_def"), {"y:y:0"});
  const std::string same = Function("same", {"a"}, "", {"a"});
  const std::string square =
      Function("square", {"a"}, N("y", "Mul", {"a", "a"}, {}, "node_def"), {"y:z:0"});
  const std::string branch = x + neg + same +
                             N("y", "StatelessIf", {"x", "x"},
                               {{"then_branch", F("neg")},
                                {"else_branch", F("same")},
                                {"Tout", "list { type: [DT_INT32] }"}});
  EXPECT_EQ(Results(branch, {"y"}, {I(3)}), "-3");
  EXPECT_EQ(Results(branch, {"y"}, {I(0)}), "0");
  // Out of range is the last one.
  const std::string choice =
      In("k", "DT_INT32") + x + neg + same + square +
      N("y", "Case", {"k", "x"},
        {{"branches",
          "list { func { name: 'neg' } func { name: 'same' } func { name: 'square' } }"},
         {"Tout", "list { type: [DT_INT32] }"}});
  const std::pair<int, std::string> choices[] = {{0, "-5"}, {1, "5"},   {2, "25"},
                                                 {3, "25"}, {-1, "25"}, {1 << 30, "25"}};
  for (const auto& [k, expected] : choices) {
    EXPECT_EQ(Results(choice, {"y"}, {I(k), I(5)}), expected) << k;
  }
  const std::string step = Function("step", {"i", "s"},
                                    Const("one", 1, {}, "node_def") +
                                        N("i1", "Add", {"i", "one:output:0"}, {}, "node_def") +
                                        N("s1", "Add", {"s", "i1:z:0"}, {}, "node_def"),
                                    {"i1:z:0", "s1:z:0"});
  const std::string less =
      Function("less", {"i", "s"},
               Const("n", 4, {}, "node_def") + N("l", "Less", {"i", "n:output:0"}, {}, "node_def"),
               {"l:z:0"}, "DT_BOOL");
  const auto loop = [](const std::string& cond, const std::string& body) {
    return N("w", "While", {"x", "x"}, {{"cond", F(cond)}, {"body", F(body)}});
  };
  EXPECT_EQ(Results(x + step + less + loop("less", "step"), {"w", "w:1"}, {I(1)}), "4 10");
  EXPECT_EQ(Results(x + step + less + loop("less", "step"), {"w:1"}, {I(7)}), "7");
  // A loop in a condition.
  const std::string again =
      Function("again", {"i", "s"},
               N("w", "While", {"i", "s"}, {{"cond", F("less")}, {"body", F("step")}}, "node_def") +
                   Const("most", 40, {}, "node_def") +
                   N("l", "Less", {"w:output:1", "most:output:0"}, {}, "node_def"),
               {"l:z:0"}, "DT_BOOL");
  EXPECT_EQ(Results(x + step + less + again + loop("again", "step"), {"w", "w:1"}, {I(0)}), "9 45");
  EXPECT_THAT(Results(x + step + less + neg + loop("less", "neg"), {"w"}),
              HasSubstr("does not fit"));
  EXPECT_THAT(Results(x + loop("none", "none"), {"w"}), HasSubstr("there is no function"));
  const std::string self =
      Function("self", {"i", "s"},
               N("w", "While", {"i", "s"}, {{"cond", F("less")}, {"body", F("self")}}, "node_def"),
               {"w:output:0", "w:output:1"});
  EXPECT_THAT(Results(x + self + less + loop("less", "self"), {"w"}),
              HasSubstr("INVALID_ARGUMENT"));
}

TEST(TfControlFlow, ShapesAndCallsOfFunctions) {
  const std::string x = In("x", "DT_INT32");
  const auto vector = [](const std::string& name, const std::string& values, int size) {
    return Function(name, {"a"},
                    N("v", "Const", {},
                      {{"value", StrCat("tensor { dtype: DT_INT32 tensor_shape { dim { size: ",
                                        size, " } } ", values, " }")}},
                      "node_def") +
                        N("y", "Mul", {"v:output:0", "a"}, {}, "node_def"),
                    {"y:z:0"});
  };
  // Branches whose results have different shapes.
  const std::string shapes =
      x + vector("one", "int_val: 3", 1) + vector("two", "int_val: 4 int_val: 5", 2) +
      N("y", "If", {"x", "x"}, {{"then_branch", F("two")}, {"else_branch", F("one")}}) +
      N("n", "Size", {"y"});
  EXPECT_EQ(Results(shapes, {"y", "n"}, {I(2)}), "8 10 2");
  EXPECT_EQ(Results(shapes, {"y", "n"}, {I(0)}), "0 1");
  // A single branch is taken whatever the index; what it gives may be what it is given.
  const std::string neg = Function("neg", {"a"}, N("y", "Neg", {"a"}, {}, "node_def"), {"y:y:0"});
  const std::string same = Function("same", {"a"}, "", {"a"});
  const auto single = [&](const std::string& name) {
    return x + In("k", "DT_INT32") + neg + same +
           N("y", "StatelessCase", {"k", "x"}, {{"branches", "list { " + F(name) + " }"}});
  };
  EXPECT_EQ(Results(single("neg"), {"y"}, {I(5), I(-7)}), "-5");
  EXPECT_EQ(Results(single("same"), {"y"}, {I(5), I(3)}), "5");
  // Functions that call each other without end.
  const auto call = [](const std::string& name, const std::string& callee) {
    return Function(name, {"a"},
                    N("y", "PartitionedCall", {"a"},
                      {{"f", F(callee)}, {"Tout", "list { type: [DT_INT32] }"}}, "node_def"),
                    {"y:output:0"});
  };
  const std::string start = N("y", "PartitionedCall", {"x"}, {{"f", F("f")}});
  EXPECT_EQ(Results(x + call("f", "g") + call("g", "neg") + neg + start, {"y"}, {I(4)}), "-4");
  EXPECT_THAT(Results(x + call("f", "f") + start, {"y"}), HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(Results(x + call("f", "g") + call("g", "f") + start, {"y"}),
              HasSubstr("INVALID_ARGUMENT"));
  // What a loop's body is given and leaves as it is, it may want to know: an axis, a table.
  const std::string known =
      Vector("v", {1, 2, 3}) + Const("axis", 0) + In("n", "DT_INT32") +
      Function("total", {"i", "n", "s", "v", "axis"},
               Const("one", 1, {}, "node_def") +
                   N("i1", "Add", {"i", "one:output:0"}, {}, "node_def") +
                   N("sum", "Sum", {"v", "axis"}, {}, "node_def") +
                   N("s1", "Add", {"s", "sum:output:0"}, {}, "node_def") +
                   N("same", "Identity", {"axis"}, {}, "node_def"),
               {"i1:z:0", "n", "s1:z:0", "v", "same:output:0"}) +
      Function("more", {"i", "n", "s", "v", "axis"}, N("l", "Less", {"i", "n"}, {}, "node_def"),
               {"l:z:0"}, "DT_BOOL") +
      N("w", "While", {"axis", "n", "axis", "v", "axis"},
        {{"cond", F("more")}, {"body", F("total")}});
  EXPECT_EQ(Results(known, {"w:2", "w:3", "w:4"}, {I(4)}), "24 1 2 3 0");
  // Only variables that stay: it goes round never, or for ever.
  const std::string still =
      x + Function("stay", {"a", "b"}, "", {"a", "b"}) +
      Function("never", {"a", "b"}, N("l", "Less", {"a", "a"}, {}, "node_def"), {"l:z:0"},
               "DT_BOOL") +
      N("w", "While", {"x", "x"}, {{"cond", F("never")}, {"body", F("stay")}});
  EXPECT_EQ(Results(still, {"w", "w:1"}, {I(4)}), "4 4");
  const std::string round =
      x +
      Function("round", {"a"},
               N("p", "Identity", {"q:output:0"}, {}, "node_def") +
                   N("q", "Identity", {"p:output:0"}, {}, "node_def"),
               {"p:output:0"}) +
      Function("never", {"a"}, N("l", "Less", {"a", "a"}, {}, "node_def"), {"l:z:0"}, "DT_BOOL") +
      N("w", "While", {"x"}, {{"cond", F("never")}, {"body", F("round")}});
  EXPECT_THAT(Results(round, {"w"}, {I(4)}), HasSubstr("cycle"));
  // Two variables that change places do not stay.
  const std::string swapped =
      x + Const("zero", 0) +
      Function(
          "turn", {"i", "a", "b"},
          Const("one", 1, {}, "node_def") + N("i1", "Add", {"i", "one:output:0"}, {}, "node_def"),
          {"i1:z:0", "b", "a"}) +
      Function("thrice", {"i", "a", "b"},
               Const("n", 3, {}, "node_def") + N("l", "Less", {"i", "n:output:0"}, {}, "node_def"),
               {"l:z:0"}, "DT_BOOL") +
      N("w", "While", {"zero", "x", "zero"}, {{"cond", F("thrice")}, {"body", F("turn")}});
  EXPECT_EQ(Results(swapped, {"w:1", "w:2"}, {I(4)}), "0 4");
  // A loop whose body is a condition, and one that goes round at most so often.
  const std::string step =
      Function("step", {"i"},
               Const("five", 5, {}, "node_def") +
                   N("p", "Less", {"i", "five:output:0"}, {}, "node_def") +
                   N("y", "If", {"p:z:0", "i"},
                     {{"then_branch", F("up")}, {"else_branch", F("double")}}, "node_def"),
               {"y:output:0"}) +
      Function(
          "up", {"i"},
          Const("one", 1, {}, "node_def") + N("y", "Add", {"i", "one:output:0"}, {}, "node_def"),
          {"y:z:0"}) +
      Function("double", {"i"}, N("y", "Add", {"i", "i"}, {}, "node_def"), {"y:z:0"}) +
      Function("less", {"i"},
               Const("n", 30, {}, "node_def") + N("l", "Less", {"i", "n:output:0"}, {}, "node_def"),
               {"l:z:0"}, "DT_BOOL");
  EXPECT_EQ(Results(x + step +
                        N("w", "StatelessWhile", {"x"}, {{"cond", F("less")}, {"body", F("step")}}),
                    {"w"}, {I(3)}),
            "40");
}

}  // namespace
}  // namespace x2ir
