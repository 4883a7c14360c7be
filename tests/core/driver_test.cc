// The driver: how a handler's answer takes a node's place, what it does with failures and with
// foreign ops, and chains of lowerings. Against a dialect without schemas, made for this test.
#include "x2ir/core/driver.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

#define TEST_FORMS(name) X2IR_SPEC("drv", name)
#define TEST_OP(name) X2IR_OP(name).In("x").Out("y").Infer(SameAsFirst)

TEST_OP(dt_one);
TEST_FORMS(dt_one).Is("One", Since(1));

// Import: two nodes for one.
absl::StatusOr<Values> FromPair(Rewrite& r) {
  return Values{r.b.Op("dt_one", {r.b.Op("dt_one", {r.in(0)})})};
}
TEST_OP(dt_pair);
TEST_FORMS(dt_pair).Is("Pair", Since(1), Code{FromPair, nullptr});

// No node at all: the operand itself.
absl::StatusOr<Values> FromPass(Rewrite& r) { return Values{r.in(0)}; }
TEST_OP(dt_pass);
TEST_FORMS(dt_pass).Is("Pass", Since(1), Code{FromPass, nullptr});

// A constant.
absl::StatusOr<Values> FromConst(Rewrite& r) {
  return Values{r.b.Constant(Tensor::Scalar(1.5f), "value")};
}
TEST_OP(dt_const);
TEST_FORMS(dt_const).Is("Const", Since(1), Code{FromConst, nullptr});

// Two outputs that are one value.
absl::StatusOr<Values> FromTwice(Rewrite& r) {
  Value* value = r.b.Op("dt_one", {r.in(0)});
  return Values{value, value};
}
TEST_OP(dt_twice);
TEST_FORMS(dt_twice).Is("Twice", Since(1), Code{FromTwice, nullptr});

// An operand that becomes an attribute: the constant is needed no more.
absl::StatusOr<Values> FromEats(Rewrite& r) {
  const auto ints = r.ConstInts(1);
  if (!ints) return CannotExpress("operand 1 must be a constant");
  return Values{r.b.Op("dt_one", {r.in(0)})};
}
TEST_OP(dt_eats);
TEST_FORMS(dt_eats).Is("Eats", Since(1), Code{FromEats, nullptr});

// Handlers that do wrong, after having made something.
absl::StatusOr<Values> FromBroken(Rewrite& r) {
  r.b.Constant(Tensor::Scalar(1.0f));
  r.b.Op("dt_one", {r.b.Op("dt_one", {r.in(0)})});
  return Unimplemented("this form of it");
}
TEST_OP(dt_broken);
TEST_FORMS(dt_broken).Is("Broken", Since(1), Code{FromBroken, nullptr});
absl::StatusOr<Values> FromShort(Rewrite&) { return Values{}; }
TEST_OP(dt_short);
TEST_FORMS(dt_short).Is("Short", Since(1), Code{FromShort, nullptr});
absl::StatusOr<Values> FromNull(Rewrite&) { return Values{nullptr}; }
TEST_OP(dt_null);
TEST_FORMS(dt_null).Is("Null", Since(1), Code{FromNull, nullptr});
absl::StatusOr<Values> FromUnknown(Rewrite& r) { return Values{r.b.Op("no_such_op", {r.in(0)})}; }
TEST_OP(dt_unknown);
TEST_FORMS(dt_unknown).Is("Unknown", Since(1), Code{FromUnknown, nullptr});

// Several outputs, some left out.
TEST_OP(dt_outs).OptOut("z").OptOut("w");
TEST_FORMS(dt_outs).Is("Outs", Since(1));

// A nested graph.
absl::Status InferBody(InferContext&) { return absl::OkStatus(); }
X2IR_OP(dt_body).In("x").Out("y").ReqAttr("body", AttrKind::kGraph).Infer(InferBody);
TEST_FORMS(dt_body).Is("Body", Since(1), Same("body"));

// dt_high -> dt_middle twice -> dt_one; dt_middle has a form from opset 5 on.
absl::StatusOr<Values> HighAsMiddle(Rewrite& r) {
  return Values{r.b.Op("dt_middle", {r.b.Op("dt_middle", {r.in(0)})})};
}
absl::StatusOr<Values> MiddleAsOne(Rewrite& r) { return Values{r.b.Op("dt_one", {r.in(0)})}; }
TEST_OP(dt_high);
X2IR_LOWERING(dt_high, HighAsMiddle);
TEST_OP(dt_middle);
X2IR_LOWERING(dt_middle, MiddleAsOne);
TEST_FORMS(dt_middle).Is("Middle", Since(5));

// The first lowering refuses, the second one serves.
absl::StatusOr<Values> ChoosyRefuses(Rewrite&) { return CannotExpress("not exact here"); }
TEST_OP(dt_choosy);
X2IR_LOWERING(dt_choosy, ChoosyRefuses);
X2IR_LOWERING(dt_choosy, MiddleAsOne);
TEST_OP(dt_refused);
X2IR_LOWERING(dt_refused, ChoosyRefuses);

// Lowered to itself for ever.
absl::StatusOr<Values> Again(Rewrite& r) { return Values{r.b.Op("dt_endless", {r.in(0)})}; }
TEST_OP(dt_endless);
X2IR_LOWERING(dt_endless, Again);

// Eight of itself, each of which is lowered to eight more: 8^16 nodes if all of them were tried.
absl::StatusOr<Values> ManyAgain(Rewrite& r) {
  Value* x = r.in(0);
  for (int i = 0; i < 8; ++i) x = r.b.Op("dt_many", {x});
  return Values{x};
}
TEST_OP(dt_many);
X2IR_LOWERING(dt_many, ManyAgain);
TEST_OP(dt_stuck);

// Forms that make IR ops: one that has a form, one that has none, itself for ever.
absl::StatusOr<Values> MakeOne(Rewrite& r) { return Values{r.b.Op("dt_one", {r.in(0)})}; }
TEST_OP(dt_makes_one);
TEST_FORMS(dt_makes_one).Is("MakesOne", Since(1), Code{nullptr, MakeOne});
absl::StatusOr<Values> MakeStuck(Rewrite& r) { return Values{r.b.Op("dt_stuck", {r.in(0)})}; }
TEST_OP(dt_makes_stuck);
TEST_FORMS(dt_makes_stuck).Is("MakesStuck", Since(1), Code{nullptr, MakeStuck});
absl::StatusOr<Values> MakeItself(Rewrite& r) {
  return Values{r.b.Op("dt_makes_itself", {r.in(0)})};
}
TEST_OP(dt_makes_itself);
TEST_FORMS(dt_makes_itself).Is("MakesItself", Since(1), Code{nullptr, MakeItself});

// A form that refuses, and a lowering whose ops cannot be written either.
absl::StatusOr<Values> AsThree(Rewrite& r) {
  Value* stuck = r.b.Op("dt_stuck", {r.b.Op("dt_stuck", {r.in(0)})});
  return Values{r.b.Op("dt_endless", {stuck})};
}
TEST_OP(dt_mode).Attr("mode", 0);
TEST_FORMS(dt_mode).Is("Mode", Since(1), Fixed("mode", 0));
X2IR_LOWERING(dt_mode, AsThree);

// Attributes that a row names, and does not name.
TEST_OP(dt_attrs).Attr("a", 1).Attr("b", 1);
TEST_FORMS(dt_attrs).Is("Attrs", Since(1), Same("a"));
absl::StatusOr<Values> FromNeedy(Rewrite& r) {
  if (r.attrs().Float("factor") > 1 && r.attrs().Ints("list").empty()) return Values{r.in(0)};
  return Values{r.b.Op("dt_one", {r.in(0)})};
}
TEST_OP(dt_needy);
TEST_FORMS(dt_needy).Is("Needy", Since(1), Code{FromNeedy, nullptr});

// --- Helpers --------------------------------------------------------------------------------

ConvertTextOptions Options() {
  ConvertTextOptions options;
  options.dialect = "drv";
  options.node_names = true;
  return options;
}

Model Parse(std::string_view text, std::string_view dialect = "drv", int opset = 1) {
  auto model = ModelFromText(text, dialect, opset);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : Model();
}

// --- Splicing -------------------------------------------------------------------------------

TEST(Splice, KeepsNames) {
  struct Row {
    std::string_view what, foreign, ir;
  };
  const Row rows[] = {
      {"one for one", "graph g(x: float32[2]) -> (y) { y = drv.One(x) \"n\" }",
       "graph g(x: float32[2]) -> (y: float32[2]) { y = dt_one(x) \"n\" }"},
      {"two for one: the last is the node, the other one is named after it",
       "graph g(x: float32[2]) -> (y) { y = drv.Pair(x) \"n\" }",
       "graph g(x: float32[2]) -> (y: float32[2]) { y_dt_one = dt_one(x) \"n/dt_one\" y = "
       "dt_one(y_dt_one) \"n\" }"},
      {"a node without a name", "graph g(x: float32[2]) -> (y) { y = drv.Pair(x) }",
       "graph g(x: float32[2]) -> (y: float32[2]) { y_dt_one = dt_one(x) y = dt_one(y_dt_one) }"},
      {"a name that is taken",
       "graph g(x: float32[2], y_dt_one: float32[2]) -> (y) { y = drv.Pair(x) }",
       "graph g(x: float32[2], y_dt_one: float32[2]) -> (y: float32[2]) { y_dt_one_1 = dt_one(x) y "
       "= dt_one(y_dt_one_1) }"},
      {"nothing for one, in the middle",
       "graph g(x: float32[2]) -> (y) { a = drv.Pass(x) y = drv.One(a) }",
       "graph g(x: float32[2]) -> (y: float32[2]) { y = dt_one(x) }"},
      {"nothing for one, as output", "graph g(x: float32[2]) -> (y) { y = drv.Pass(x) }",
       "graph g(x: float32[2]) -> (y: float32[2]) { y = identity(x) }"},
      {"nothing for one, as output of a node that stays",
       "graph g(x: float32[2]) -> (y) { a = drv.One(x) y = drv.Pass(a) }",
       "graph g(x: float32[2]) -> (y: float32[2]) { y = dt_one(x) }"},
      {"two outputs that are one value",
       "graph g(x: float32[2]) -> (y, z) { y = drv.One(x) z = drv.Pass(y) }",
       "graph g(x: float32[2]) -> (y: float32[2], z: float32[2]) { y = dt_one(x) z = identity(y) "
       "}"},
      {"a constant has the value's name",
       "graph g(x: float32[2]) -> (y) { c = drv.Const() y = drv.Outs(x, c) }",
       "error: INVALID_ARGUMENT"},
      {"a constant", "graph g() -> (y) { c = drv.Const() y = drv.One(c) }",
       "graph g() -> (y: float32[]) { c = float32[]{1.5} y = dt_one(c) }"},
      {"a constant as output", "graph g() -> (c) { c = drv.Const() }",
       "graph g() -> (c: float32[]) { c = float32[]{1.5} }"},
      {"one result for two outputs",
       "graph g(x: float32[2]) -> (b) { a, b = drv.Twice(x) c = drv.One(a) }",
       "graph g(x: float32[2]) -> (b: float32[2]) { b = dt_one(x) c = dt_one(b) }"},
      {"both are outputs of the graph", "graph g(x: float32[2]) -> (a, b) { a, b = drv.Twice(x) }",
       "graph g(x: float32[2]) -> (a: float32[2], b: float32[2]) { a = dt_one(x) b = identity(a) "
       "}"},
      {"outputs left out", "graph g(x: float32[2]) -> (y, w) { y, _, w = drv.Outs(x) }",
       "graph g(x: float32[2]) -> (y: float32[2], w) { y, _, w = dt_outs(x) }"},
      {"in nested graphs",
       "graph g(x: float32[2]) -> (y) { y = drv.Body(x) { body = graph b(i: float32[2]) -> (o) { a "
       "= drv.Pair(x) o = drv.Pass(a) } } }",
       "graph g(x: float32[2]) -> (y) { y = dt_body(x) { body = graph b(i: float32[2]) -> (o: "
       "float32[2]) { a_dt_one = dt_one(x) o = dt_one(a_dt_one) } } }"},
      {"unsorted", "graph g(x: float32[2]) -> (y) { y = drv.One(a) a = drv.One(x) }",
       "graph g(x: float32[2]) -> (y: float32[2]) { a = dt_one(x) y = dt_one(a) }"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const std::string got = ToIrText(row.foreign, 1, Options());
    if (row.ir.substr(0, 6) == "error:") {
      EXPECT_THAT(got, HasSubstr(std::string(row.ir)));
    } else {
      EXPECT_EQ(got, Canonical(row.ir, Options()));
    }
  }
}

TEST(Splice, KeepsAnnotations) {
  Model model = Parse("graph g(x: float32[2]) -> (y, c) { y = drv.Pair(x) \"n\" c = drv.Const() }");
  Graph& graph = *model.graph;
  graph.first()->annotations().GetOrMake().doc_string = "node";
  graph.Find("y")->annotations().GetOrMake().doc_string = "value";
  graph.Find("c")->annotations().GetOrMake().doc_string = "constant";
  graph.annotations().GetOrMake().doc_string = "graph";
  Value* y = graph.Find("y");
  ASSERT_TRUE(ToIr(model).ok());
  EXPECT_EQ(graph.Find("y"), y);  // the very same value
  EXPECT_EQ(y->producer()->annotations().get()->doc_string, "node");
  EXPECT_EQ(y->annotations().get()->doc_string, "value");
  EXPECT_EQ(graph.Find("c")->annotations().get()->doc_string, "constant");
  EXPECT_EQ(graph.annotations().get()->doc_string, "graph");
}

TEST(Splice, ConstantsGoWithTheirLastUse) {
  struct Row {
    std::string_view what, foreign, ir;
  };
  const Row rows[] = {
      {"used only there", "graph g(x: float32[2]) -> (y) { c = int64[1]{3} y = drv.Eats(x, c) }",
       "graph g(x: float32[2]) -> (y: float32[2]) { y = dt_one(x) }"},
      {"used twice there",
       "graph g(x: float32[2]) -> (y) { c = int64[1]{3} y = drv.Eats(x, c, c) }",
       "graph g(x: float32[2]) -> (y: float32[2]) { y = dt_one(x) }"},
      {"used elsewhere",
       "graph g(x: float32[2]) -> (y) { c = int64[1]{3} y = drv.Eats(x, c) z = drv.One(c) }",
       "graph g(x: float32[2]) -> (y: float32[2]) { c = int64[1]{3} y = dt_one(x) z = dt_one(c) }"},
      {"an output too", "graph g(x: float32[2]) -> (y, c) { c = int64[1]{3} y = drv.Eats(x, c) }",
       "graph g(x: float32[2]) -> (y: float32[2], c: int64[1]) { c = int64[1]{3} y = dt_one(x) }"},
      {"of an outer graph",
       "graph g(x: float32[2]) -> (y) { c = int64[1]{3} y = drv.Body(x) { body = graph b() -> (o) "
       "{ o = drv.Eats(x, c) } } }",
       "graph g(x: float32[2]) -> (y) { y = dt_body(x) { body = graph b() -> (o: float32[2]) { o = "
       "dt_one(x) } } }"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(ToIrText(row.foreign, 1, Options()), Canonical(row.ir, Options()));
  }
}

// --- Failures -------------------------------------------------------------------------------

TEST(Failures, AreAllReported) {
  constexpr std::string_view kText = R"(
    graph g(x: float32[2]) -> (y) {
      a = drv.Nope(x) "n1"
      b = drv.Nope(a) "n2"
      c = drv.acme::Nope(b)
      d = drv.Broken(c) "n4"
      e = drv.Short(d) "n5"
      f = drv.Null(e) "n6"
      h = drv.Unknown(f) "n7"
      y = drv.One(h) "n8"
    })";
  Model model = Parse(kText);
  model.SetOpset("acme", 1);
  Report report;
  const absl::Status status = ToIr(model, {}, &report);
  EXPECT_FALSE(status.ok());
  struct Row {
    std::string op;
    absl::StatusCode code;
    std::string reason;
    std::vector<std::string> nodes;
  };
  const Row rows[] = {
      {"drv.Nope", absl::StatusCode::kUnimplemented, "no mapping to IR", {"n1", "n2"}},
      {"drv.acme::Nope", absl::StatusCode::kUnimplemented, "no mapping to IR", {"c"}},
      {"drv.Broken", absl::StatusCode::kUnimplemented, "this form of it", {"n4"}},
      {"drv.Short", absl::StatusCode::kInternal, "gives 0 results; expected 1", {"n5"}},
      {"drv.Null", absl::StatusCode::kInternal, "does not return output 0", {"n6"}},
      {"drv.Unknown", absl::StatusCode::kInvalidArgument, "no_such_op", {"n7"}},
  };
  ASSERT_THAT(report.failures, SizeIs(std::size(rows)));
  for (size_t i = 0; i < std::size(rows); ++i) {
    const Failure& failure = report.failures[i];
    SCOPED_TRACE(rows[i].op);
    EXPECT_EQ(failure.op, rows[i].op);
    if (rows[i].op != "drv.Unknown") {
      EXPECT_EQ(failure.code, rows[i].code);
    }
    EXPECT_THAT(failure.reason, HasSubstr(rows[i].reason));
    EXPECT_EQ(failure.nodes, rows[i].nodes);
    EXPECT_THAT(std::string(status.message()), HasSubstr(rows[i].op));
  }
  EXPECT_THAT(report.failures[1].hint, HasSubstr("option 'foreign' acme"));
  EXPECT_EQ(report.nodes_read, 8);
  EXPECT_EQ(report.mapped(), 1);
  // What failed is as it was, and what handlers made of it is gone.
  EXPECT_THAT(model.graph->Validate(), IsEmpty());
  EXPECT_EQ(model.graph->num_nodes(), 8);
  EXPECT_EQ(model.graph->num_constants(), 0);
}

TEST(Failures, NestedGraphsCountToo) {
  Model model = Parse(
      "graph g(x: float32[2]) -> (y) { y = drv.Body(x) { body = graph b() -> (o) { o = drv.Nope(x) "
      "\"in\" } } \"out\" }");
  Report report;
  EXPECT_FALSE(ToIr(model, {}, &report).ok());
  ASSERT_THAT(report.failures, SizeIs(1));
  EXPECT_THAT(report.failures[0].nodes, ElementsAre("in"));
  EXPECT_THAT(model.graph->Validate(), IsEmpty());
}

TEST(Failures, AttributesThatAHandlerAsksForInVain) {
  const auto got = [](std::string_view attrs) {
    return ToIrText(StrCat("graph g(x: float32[2]) -> (y) { y = drv.Needy(x) ", attrs, " \"n\" }"),
                    1, Options());
  };
  EXPECT_THAT(got(""), HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(got(""), HasSubstr("drv.Needy (1 node): attribute 'factor' is missing\n    at 'n'"));
  EXPECT_THAT(got("{ factor = 3 }"),
              HasSubstr("attribute 'factor': expected float, got int\n    at 'n'"));
  EXPECT_THAT(got("{ factor = 3.0 }"), HasSubstr("attribute 'list' is missing"));
  EXPECT_THAT(got("{ factor = 1.0 }"), HasSubstr("y = dt_one(x)"));
}

TEST(Failures, TwoValuesOfOneName) {
  const Type type = Type::Tensor(DType::kFloat32, Shape::FromInts({2}));
  for (const bool from_ir : {false, true}) {
    Model model;
    model.source_dialect = from_ir ? "" : "drv";
    model.SetOpset("", 1);
    Value* x = model.graph->AddInput("x", type);
    Node* node = model.graph->AppendNode(from_ir ? "" : "drv", from_ir ? "dt_one" : "One", {x});
    model.graph->AddOutput(model.graph->AddNodeOutput(node, "x", type));
    const absl::Status status = from_ir ? FromIr(model, "drv") : ToIr(model);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("two values of graph '' are named 'x'"));
    model.graph->Rename(model.graph->outputs()[0], "y");
    EXPECT_TRUE((from_ir ? FromIr(model, "drv") : ToIr(model)).ok());
  }
}

TEST(Failures, OfADialectThatNobodyKnows) {
  Model model = Parse("graph g(x: float32[2]) -> (y) { y = nobody.Conv(x) }", "nobody");
  EXPECT_THAT(std::string(ToIr(model).message()),
              HasSubstr("no handlers of 'nobody' are linked in"));
  Model ir = Parse("graph g(x: float32[2]) -> (y) { y = dt_one(x) }", "", 0);
  EXPECT_THAT(std::string(FromIr(ir, "nobody").message()),
              HasSubstr("no handlers of 'nobody' are linked in"));
}

TEST(Failures, OfADomainThatIsNotImported) {
  Model model = Parse("graph g(x: float32[2]) -> (y) { y = drv.acme::Op(x) }");
  Report report;
  EXPECT_FALSE(ToIr(model, {}, &report).ok());
  EXPECT_THAT(report.failures[0].reason, HasSubstr("imports no opset of domain 'acme'"));
}

TEST(Failures, OfAnOpsetThatIsNotKnownYet) {
  constexpr std::string_view kText = "graph g(x: float32[2]) -> (y) { y = onnx.Relu(x) }";
  EXPECT_THAT(ToIrText(kText, 28), ::testing::Not(HasSubstr("error")));
  EXPECT_THAT(ToIrText(kText, 29), HasSubstr("the newest that is known is 28"));
}

// --- Foreign ops ----------------------------------------------------------------------------

TEST(Foreign, PolicySaysWhatMayStay) {
  constexpr std::string_view kText =
      "graph g(x: float32[2]) -> (y) { a = drv.Nope(x) b = drv.acme::Op(a) c = drv.Broken(b) y = "
      "drv.One(c) }";
  struct Row {
    std::string_view what;
    ForeignPolicy policy;
    int failures, foreign;
  };
  const Row rows[] = {
      {"none", {}, 3, 0},
      {"a domain", {false, {"acme"}}, 2, 1},
      {"another domain", {false, {"other"}}, 3, 0},
      {"all, also what fails", {true, {}}, 0, 3},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Model model = Parse(kText);
    model.SetOpset("acme", 2);
    ImportOptions options;
    options.foreign = row.policy;
    Report report;
    EXPECT_EQ(ToIr(model, options, &report).ok(), row.failures == 0);
    EXPECT_THAT(report.failures, SizeIs(row.failures));
    EXPECT_EQ(report.foreign(), row.foreign);
    EXPECT_EQ(report.mapped(), 1);
    EXPECT_THAT(model.graph->Validate(), IsEmpty());
  }
}

TEST(Foreign, GoesBackAsItWas) {
  constexpr std::string_view kText =
      "graph g(x: float32[2]) -> (y) { a = drv.Nope(x, _) { k = 1 } \"n\" y = drv.One(a) }";
  ConvertTextOptions options = Options();
  options.foreign.all = true;
  EXPECT_EQ(ThereAndBackText(kText, 1, 1, options), Canonical(kText, options));
  // To somebody else it cannot go.
  Model model = Parse(kText);
  ImportOptions import;
  import.foreign.all = true;
  ASSERT_TRUE(ToIr(model, import).ok());
  const absl::Status status = FromIr(model, "onnx");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("a foreign op of drv cannot be written to onnx"));
}

TEST(Foreign, WhatCannotBeExpressedMayBeKept) {
  // string_concat came with opset 20; at 10 it goes as an op of our own domain, and comes back.
  constexpr std::string_view kIr =
      "graph g(x: string[n,4], a: string[]) -> (y: string[n,4]) {"
      "  y = string_concat(x, a) }";
  ConvertTextOptions options;
  EXPECT_THAT(FromIrText(kIr, 10, options), HasSubstr("opset 20 has it"));
  options.foreign.all = true;
  const std::string kept = FromIrText(kIr, 10, options);
  EXPECT_EQ(Body(kept), "y = onnx.x2ir::string_concat(x, a)\n");
  ConvertTextOptions back;
  back.extra_opsets = {{"x2ir", 1}};
  EXPECT_EQ(ToIrText(kept, 10, back), Canonical(kIr, back));
  EXPECT_THAT(ToIrText("graph g(x: float32[2]) -> (y) { y = onnx.x2ir::cum_sum(x) }", 10, back),
              HasSubstr("too few operands"));
}

// --- From IR --------------------------------------------------------------------------------

TEST(Lowerings, AreTriedInOrderAndChained) {
  struct Row {
    std::string_view what;
    int opset;
    std::string_view ir, want;
  };
  const Row rows[] = {
      {"its own form", 5, "y = dt_middle(x) \"n\"", "y = drv.Middle(x) \"n\""},
      {"lowered", 4, "y = dt_middle(x) \"n\"", "y = drv.One(x) \"n\""},
      {"lowered once", 5, "y = dt_high(x) \"n\"",
       "y_dt_middle = drv.Middle(x) \"n/dt_middle\" y = drv.Middle(y_dt_middle) \"n\""},
      {"lowered twice", 4, "y = dt_high(x) \"n\"",
       "y_dt_middle = drv.One(x) \"n/dt_middle\" y = drv.One(y_dt_middle) \"n\""},
      {"the second lowering", 1, "y = dt_choosy(x)", "y = drv.One(x)"},
      {"refused", 1, "y = dt_refused(x)", "error: |not exact here"},
      {"no form, no lowering", 1, "y = dt_stuck(x) \"n\"",
       "error: FAILED_PRECONDITION|dt_stuck (1 node): no mapping to drv|'n'"},
      {"endless", 1, "y = dt_endless(x)", "error: |dt_endless (1 node): no mapping to drv"},
      {"endless and many", 1, "y = dt_many(x)", "error: |dt_many (1 node): no mapping to drv"},
      {"in a nested graph", 4, "y = dt_body(x) { body = graph b() -> (o) { o = dt_middle(x) } }",
       "y = drv.Body(x) { body = graph b() -> (o) { o = drv.One(x) } }"},
      {"a form that makes IR ops", 1, "y = dt_makes_one(x) \"n\"", "y = drv.One(x) \"n\""},
      {"an IR op without a form", 1, "y = dt_makes_stuck(x) \"n\"",
       "error: FAILED_PRECONDITION|dt_makes_stuck (1 node): as dt_stuck: no mapping to drv|'n'"},
      {"the same in a nested graph", 1,
       "y = dt_body(x) { body = graph b() -> (o) { o = dt_makes_stuck(x) \"n\" } }",
       "error: FAILED_PRECONDITION|dt_makes_stuck (1 node): as dt_stuck: no mapping to drv|'n'"},
      {"a form that does not end", 1, "y = dt_makes_itself(x)",
       "error: |forms of dt_makes_itself recurse without end"},
      {"a form that refuses, lowered in vain", 1, "y = dt_mode(x) { mode = 1 } \"n\"",
       "error: FAILED_PRECONDITION|dt_mode (1 node): attribute 'mode' = 1 cannot be expressed at "
       "opset 1; expected 0; as dt_stuck: no mapping to drv\n    at 'n'\n"},
      {"an attribute that a lens names", 1, "y = dt_attrs(x) { a = 2, b = 1 }",
       "y = drv.Attrs(x) { a = 2 }"},
      {"an attribute that none names", 1, "y = dt_attrs(x) { a = 1, b = 2 }",
       "error: FAILED_PRECONDITION|attribute 'b' = 2 has no counterpart in Attrs"},
      {"two failures", 1, "a = dt_stuck(x) b = dt_refused(a) y = dt_one(b)",
       "error: |2 ops (2 nodes)|dt_stuck|dt_refused"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const std::string got = FromIrText(
        StrCat("graph g(x: float32[2]) -> (y: float32[2]) { ", row.ir, " }"), row.opset, Options());
    if (row.want.substr(0, 6) != "error:") {
      EXPECT_EQ(Body(got), Body(Canonical(StrCat("graph g(x: float32[2]) -> (y) {", row.want, "}"),
                                          Options())));
      continue;
    }
    for (std::string_view rest = row.want; !rest.empty();) {
      const size_t bar = std::min(rest.find('|'), rest.size());
      EXPECT_THAT(got, HasSubstr(std::string(rest.substr(0, bar))));
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
  }
}

TEST(Lowerings, AreCounted) {
  Model model = Parse("graph g(x: float32[2]) -> (y) { y = dt_high(x) }", "", 0);
  ExportOptions options;
  options.opset = 4;
  Report report;
  ASSERT_TRUE(FromIr(model, "drv", options, &report).ok());
  EXPECT_EQ(report.ops.at("dt_high").lowered, 3);  // itself, and what it became, twice
  EXPECT_EQ(report.nodes_read, 1);
  EXPECT_EQ(report.nodes_written, 2);
  EXPECT_EQ(model.source_dialect, "drv");
  EXPECT_EQ(model.Opset(""), 4);
}

TEST(FromIr, KeepsDeclaredOutputsAndOrder) {
  constexpr std::string_view kIr =
      "graph g(x: float32[n], c: float32[n]) -> (b: float32[n], a: float32[n], x) { a = dt_one(c) "
      "b "
      "= dt_one(x) }";
  const std::string got = FromIrText(kIr, 1, Options());
  EXPECT_EQ(got, Canonical("graph g(x: float32[n], c: float32[n]) -> (b: float32[n], a: "
                           "float32[n], x: float32[n]) { a = drv.One(c) b = drv.One(x) }",
                           Options()));
}

TEST(Progress, IsReported) {
  std::string text = "graph g(x: float32[2]) -> (y) {";
  for (int i = 0; i < 5000; ++i) StrAppend(&text, " v", i, " = drv.One(x)\n");
  Model model = Parse(text + " y = drv.One(x) }");
  int64_t calls = 0, last = 0;
  ImportOptions options;
  options.progress = [&](int64_t done, int64_t total) {
    ++calls;
    EXPECT_GT(done, last);
    EXPECT_LE(done, total);
    last = done;
    return true;
  };
  ASSERT_TRUE(ToIr(model, options).ok());
  EXPECT_GE(calls, 1);
}

}  // namespace
}  // namespace x2ir
