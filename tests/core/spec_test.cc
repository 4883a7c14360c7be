// Specs: every lens both ways, which form is taken at which opset, and what becomes of what no
// lens touches. Against a dialect and IR ops made for this test.
#include "x2ir/core/spec.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// --- A dialect ------------------------------------------------------------------------------

struct SchemaRow {
  int since;
  std::vector<OperandSchema> inputs;
  std::vector<AttrSchema> attrs;
};

const std::map<std::string, std::vector<SchemaRow>>& SchemaRows() {
  const OperandSchema x{"x"};
  const OperandSchema bound{"bound", Arity::kOptional};
  static const auto& rows = *new std::map<std::string, std::vector<SchemaRow>>{
      {"Renamed", {{1, {x}, {{"slope", AttrKind::kFloat, false, 0.5f}}}}},
      {"Attr", {{1, {x}, {{"alpha", AttrKind::kFloat}}}}},
      {"Fixed", {{1, {x}, {}}}},
      {"ForeignFixed", {{1, {x}, {{"kind", AttrKind::kString}}}}},
      {"Dropped", {{1, {x}, {{"hint", AttrKind::kInt}}}}},
      {"EnumMap", {{1, {x}, {{"MODE", AttrKind::kString, false, "UP"}}}}},
      {"Spatial", {{1, {x}, {{"pads", AttrKind::kInts}, {"strides", AttrKind::kInts}}}}},
      {"DTypes", {{1, {x}, {{"to", AttrKind::kInt, true}}}}},
      {"Ints", {{1, {x}, {{"bound", AttrKind::kInts}}}, {3, {x, bound}, {}}}},
      {"Int", {{1, {x}, {{"b", AttrKind::kInt}}}}},
      {"Float", {{1, {x}, {{"bound", AttrKind::kFloat, false, -1.0f}}}}},
      {"Floats", {{1, {x}, {{"bound", AttrKind::kFloats}}}}},
      {"Tensor", {{1, {x}, {{"bound", AttrKind::kTensor}}}}},
      {"Plain",
       {{1, {x}, {{"own", AttrKind::kInt, false, 7}}},
        {2, {x}, {{"own", AttrKind::kInt, false, 7}, {"alpha", AttrKind::kFloat, false, 0.5f}}}}},
      {"Old", {{1, {x}, {}}}},
      {"New", {{1, {x}, {}}}},
      {"In", {{1, {x}, {}}}},
      {"Out", {{1, {x}, {}}}},
      {"Coded", {{1, {x}, {}}}},
      {"CodedIn", {{1, {x}, {}}}},
      {"Two", {{1, {x, bound}, {}}}},
  };
  return rows;
}

std::vector<const OpSchema*> Versions(Symbol op) {
  static auto& made = *new std::map<std::string, std::vector<const OpSchema*>>;
  auto [it, fresh] = made.try_emplace(op.str());
  auto rows = SchemaRows().find(op.str());
  if (fresh && rows != SchemaRows().end()) {
    for (const SchemaRow& row : rows->second) {
      it->second.push_back(
          new OpSchema{op.str(), row.since, false, row.inputs, {OperandSchema{"y"}}, row.attrs});
    }
  }
  return it->second;
}

const OpSchema* SchemaAt(Symbol op, int opset) {
  const OpSchema* best = nullptr;
  for (const OpSchema* schema : Versions(op)) {
    if (schema->since <= opset) best = schema;
  }
  return best;
}

[[maybe_unused]] const bool kRegistered = RegisterDialect(
    {.name = "spectest", .latest_opset = 3, .schema = SchemaAt, .versions = Versions});

// --- IR ops and their forms -----------------------------------------------------------------

#define TEST_OP(name) X2IR_OP(name).In("x").Out("y").Infer(SameAsFirst)
#define TEST_FORMS(name) X2IR_SPEC("spectest", name)

TEST_OP(st_renamed).Attr("alpha", 0.5f);
TEST_FORMS(st_renamed).Is("Renamed", Since(1), Renamed("alpha", "slope"));
TEST_OP(st_attr).Attr("alpha", 0.1f);
TEST_FORMS(st_attr).Is("Attr", Since(1), Attr("alpha", 0.1f));
TEST_OP(st_fixed).Attr("layout", "first");
TEST_FORMS(st_fixed).Is("Fixed", Since(1), Fixed("layout", "first"));
TEST_OP(st_foreign_fixed);
TEST_FORMS(st_foreign_fixed).Is("ForeignFixed", Since(1), ForeignFixed("kind", "k"));
TEST_OP(st_dropped);
TEST_FORMS(st_dropped).Is("Dropped", Since(1), Dropped("hint"));
TEST_OP(st_enum).Attr("mode", "up");
TEST_FORMS(st_enum).Is("EnumMap", Since(1),
                       EnumMap("mode", "MODE", {{"up", "UP"}, {"down", "DOWN"}}));
TEST_OP(st_spatial).Attr("pads", Attribute::Ints{}).Attr("strides", Attribute::Ints{});
TEST_FORMS(st_spatial)
    .Is("Spatial", Since(1), SpatialInts("strides", 1), SpatialInts("pads", 0, 2));
TEST_OP(st_dtype).ReqAttr("to", AttrKind::kString);
TEST_FORMS(st_dtype).Is("DTypes", Since(1), DTypeAttr("to"));
TEST_OP(st_ints).OptIn("bound");
TEST_FORMS(st_ints).Is("Ints", In(1, 2), OperandAsAttr("bound")).Is("Ints", Since(3));
TEST_OP(st_int).OptIn("bound");
TEST_FORMS(st_int).Is("Int", Since(1), OperandAsAttr("bound", "b"));
TEST_OP(st_float).OptIn("bound");
TEST_FORMS(st_float).Is("Float", Since(1), OperandAsAttr("bound", "", -1.0f));
TEST_OP(st_floats).OptIn("bound");
TEST_FORMS(st_floats).Is("Floats", Since(1), OperandAsAttr("bound"));
TEST_OP(st_tensor).OptIn("bound");
TEST_FORMS(st_tensor).Is("Tensor", Since(1), OperandAsAttr("bound"));
TEST_OP(st_plain).Attr("alpha", 0.5f);
TEST_FORMS(st_plain).Is("Plain", Since(1));
TEST_OP(st_versions);
TEST_FORMS(st_versions).Is("Old", In(1, 1)).Is("New", In(2, 2));
TEST_OP(st_directions);
TEST_FORMS(st_directions).Is("In", Since(1), ImportOnly()).Is("Out", Since(1), ExportOnly());
TEST_OP(st_two).OptIn("bound");
TEST_FORMS(st_two).Is("Two", Since(1));

absl::StatusOr<Values> FromCoded(Rewrite& r) {
  return Values{r.b.Op("st_dropped", {r.b.Op("st_fixed", {r.in(0)})})};
}
absl::StatusOr<Values> ToCoded(Rewrite& r) {
  return r.b.Node(r.dialect, "Coded", {r.in(0)}, {}, {true});
}
TEST_OP(st_coded);
TEST_FORMS(st_coded).Is("Coded", Since(1), Code{FromCoded, ToCoded});
TEST_OP(st_coded_in);
TEST_FORMS(st_coded_in).Is("CodedIn", Since(1), Code{FromCoded, nullptr});

// --- The table ------------------------------------------------------------------------------

enum Way { kBoth, kImport, kExport };

struct Row {
  std::string_view what;
  Way way;
  int opset;
  std::string_view foreign, ir;  // the lines between the braces; or "error: ..." of the result
};

const Row kRows[] = {
    {"renamed", kBoth, 1, "y = spectest.Renamed(x) { slope = 0.25 }",
     "y = st_renamed(x) { alpha = 0.25 }"},
    {"renamed, the default", kBoth, 1, "y = spectest.Renamed(x)",
     "y = st_renamed(x) { alpha = 0.5 }"},
    {"renamed, the default written out", kImport, 1, "y = spectest.Renamed(x) { slope = 0.5 }",
     "y = st_renamed(x) { alpha = 0.5 }"},
    {"attr", kBoth, 1, "y = spectest.Attr(x) { alpha = 2.0 }", "y = st_attr(x) { alpha = 2.0 }"},
    {"attr, the default", kBoth, 1, "y = spectest.Attr(x)", "y = st_attr(x) { alpha = 0.1 }"},
    {"fixed", kBoth, 1, "y = spectest.Fixed(x)", "y = st_fixed(x) { layout = \"first\" }"},
    {"fixed, another", kExport, 1,
     "error: FAILED_PRECONDITION|attribute 'layout' = \"last\"|expected \"first\"",
     "y = st_fixed(x) { layout = \"last\" }"},
    {"foreign fixed", kBoth, 1, "y = spectest.ForeignFixed(x) { kind = \"k\" }",
     "y = st_foreign_fixed(x)"},
    {"foreign fixed, absent", kImport, 1, "y = spectest.ForeignFixed(x)",
     "y = st_foreign_fixed(x)"},
    {"foreign fixed, another", kImport, 1, "y = spectest.ForeignFixed(x) { kind = \"l\" }",
     "error: UNIMPLEMENTED|attribute 'kind' = \"l\"|expected \"k\""},
    {"dropped", kImport, 1, "y = spectest.Dropped(x) { hint = 3 }", "y = st_dropped(x)"},
    {"dropped, absent", kBoth, 1, "y = spectest.Dropped(x)", "y = st_dropped(x)"},
    {"enum", kBoth, 1, "y = spectest.EnumMap(x) { MODE = \"DOWN\" }",
     "y = st_enum(x) { mode = \"down\" }"},
    {"enum, the default", kBoth, 1, "y = spectest.EnumMap(x)", "y = st_enum(x) { mode = \"up\" }"},
    {"enum, unknown word", kImport, 1, "y = spectest.EnumMap(x) { MODE = \"down\" }",
     "error: INVALID_ARGUMENT|attribute 'MODE' = \"down\"; expected \"UP\", \"DOWN\""},
    {"enum, unknown IR word", kExport, 1, "error: FAILED_PRECONDITION|attribute 'mode' = \"left\"",
     "y = st_enum(x) { mode = \"left\" }"},
    {"spatial, filled", kBoth, 1, "y = spectest.Spatial(x)",
     "y = st_spatial(x) { pads = [0, 0, 0, 0], strides = [1, 1] }"},
    {"spatial", kBoth, 1, "y = spectest.Spatial(x) { pads = [0, 1, 0, 0], strides = [2, 1] }",
     "y = st_spatial(x) { pads = [0, 1, 0, 0], strides = [2, 1] }"},
    {"dtype", kBoth, 1, "y = spectest.DTypes(x) { to = 16 }",
     "y = st_dtype(x) { to = \"bfloat16\" }"},
    {"dtype, unknown number", kImport, 1, "y = spectest.DTypes(x) { to = 99 }",
     "error: INVALID_ARGUMENT|attribute 'to' = 99 is no element type"},
    {"dtype, unknown name", kExport, 1, "error: INVALID_ARGUMENT|attribute 'to' = \"float99\"",
     "y = st_dtype(x) { to = \"float99\" }"},
    {"ints operand", kBoth, 1, "y = spectest.Ints(x) { bound = [3, 4] }",
     "y_bound = int64[2]{3, 4}\ny = st_ints(x, y_bound)"},
    {"ints operand, left out", kBoth, 1, "y = spectest.Ints(x)", "y = st_ints(x)"},
    {"ints operand, empty", kBoth, 1, "y = spectest.Ints(x) { bound = []:ints }",
     "y_bound = int64[0]{}\ny = st_ints(x, y_bound)"},
    {"ints operand, computed", kExport, 1,
     "error: FAILED_PRECONDITION|operand 'bound' must be a constant at opset 1|from opset 3 on",
     "y = st_ints(x, x)"},
    {"an operand on both sides", kBoth, 3, "y = spectest.Ints(x, x)", "y = st_ints(x, x)"},
    {"int operand", kBoth, 1, "y = spectest.Int(x) { b = -2 }",
     "y_bound = int64[]{-2}\ny = st_int(x, y_bound)"},
    {"int operand of many", kExport, 1,
     "error: INVALID_ARGUMENT|operand 'bound' must hold one element",
     "b = int64[2]{1, 2}\ny = st_int(x, b)"},
    {"float operand", kBoth, 1, "y = spectest.Float(x) { bound = 2.5 }",
     "y_bound = float32[]{2.5}\ny = st_float(x, y_bound)"},
    {"float operand that means left out", kBoth, 1, "y = spectest.Float(x)", "y = st_float(x)"},
    {"float operand that is not exact", kExport, 1,
     "error: FAILED_PRECONDITION|is not exact as a float32 attribute",
     "b = float64[]{0.1}\ny = st_float(x, b)"},
    {"float operand of strings", kExport, 1,
     "error: FAILED_PRECONDITION|operand 'bound' of string cannot be attribute",
     "b = string[]{\"a\"}\ny = st_float(x, b)"},
    {"floats operand", kBoth, 1, "y = spectest.Floats(x) { bound = [0.5, nan] }",
     "y_bound = float32[2]{0.5, nan}\ny = st_floats(x, y_bound)"},
    {"tensor operand", kBoth, 1, "y = spectest.Tensor(x) { bound = tensor(int8[1,2]{1, 2}) }",
     "y_bound = int8[1,2]{1, 2}\ny = st_tensor(x, y_bound)"},
    {"operands by position", kBoth, 1, "y = spectest.Two(x, x)", "y = st_two(x, x)"},
    {"an optional operand left out", kBoth, 1, "y = spectest.Two(x)", "y = st_two(x)"},
    {"by name", kBoth, 2, "y = spectest.Plain(x) { alpha = 1.5 }",
     "y = st_plain(x) { alpha = 1.5 }"},
    {"by name, the default", kBoth, 2, "y = spectest.Plain(x)", "y = st_plain(x) { alpha = 0.5 }"},
    {"by name, not there yet", kBoth, 1, "y = spectest.Plain(x)",
     "y = st_plain(x) { alpha = 0.5 }"},
    {"by name, inexpressible", kExport, 1,
     "error: FAILED_PRECONDITION|attribute 'alpha' = 1.5 cannot be expressed by Plain at opset 1; "
     "opset 2 has it",
     "y = st_plain(x) { alpha = 1.5 }"},
    {"unknown attribute", kImport, 1, "y = spectest.Plain(x) { alpha = 1.5 }",
     "error: INVALID_ARGUMENT|unknown attribute 'alpha'"},
    {"leftover that is the default", kImport, 1, "y = spectest.Plain(x) { own = 7 }",
     "y = st_plain(x) { alpha = 0.5 }"},
    {"leftover", kImport, 1, "y = spectest.Plain(x) { own = 8 }",
     "error: UNIMPLEMENTED|attribute 'own' = 8 has no counterpart"},
    {"wrong kind", kImport, 1, "y = spectest.Plain(x) { own = 8.0 }",
     "error: INVALID_ARGUMENT|attribute 'own': expected int, got float"},
    {"a function's attribute", kImport, 2, "y = spectest.Plain(x) { alpha = ref(a: float) }",
     "error: UNIMPLEMENTED|attribute 'alpha' refers to an attribute of an enclosing function"},
    {"old form", kBoth, 1, "y = spectest.Old(x)", "y = st_versions(x)"},
    {"new form", kBoth, 2, "y = spectest.New(x)", "y = st_versions(x)"},
    {"old form, too new", kImport, 2, "y = spectest.Old(x)",
     "error: UNIMPLEMENTED|no mapping to IR at opset 2"},
    {"new form, too old", kImport, 1, "y = spectest.New(x)",
     "error: UNIMPLEMENTED|no mapping to IR at opset 1"},
    {"no form any more", kExport, 3, "error: FAILED_PRECONDITION|no mapping to spectest",
     "y = st_versions(x)"},
    {"import only", kImport, 1, "y = spectest.In(x)", "y = st_directions(x)"},
    {"export only", kExport, 1, "y = spectest.Out(x)", "y = st_directions(x)"},
    {"not imported", kImport, 1, "y = spectest.Out(x)", "error: UNIMPLEMENTED|no mapping to IR"},
    {"code in", kImport, 1, "y = spectest.Coded(x)",
     "y_st_fixed = st_fixed(x) { layout = \"first\" }\ny = st_dropped(y_st_fixed)"},
    {"code out", kExport, 1, "y = spectest.Coded(x)", "y = st_coded(x)"},
    {"code in one direction", kExport, 1, "error: FAILED_PRECONDITION|no mapping",
     "y = st_coded_in(x)"},
    {"unknown op", kImport, 1, "y = spectest.Nothing(x)",
     "error: UNIMPLEMENTED|there is no such op"},
};

std::string GraphText(std::string_view body) {
  return StrCat("graph g(x: float32[1,3,8,8]) -> (y) {\n", body, "\n}");
}

void Expect(const std::string& got, std::string_view want) {
  if (want.substr(0, 6) != "error:") {
    EXPECT_EQ(Body(got), Body(Canonical(GraphText(want))));
    return;
  }
  EXPECT_THAT(got, StartsWith("error:"));
  while (!want.empty()) {
    const size_t bar = std::min(want.find('|'), want.size());
    EXPECT_THAT(got, HasSubstr(std::string(want.substr(0, bar))));
    want.remove_prefix(std::min(bar + 1, want.size()));
  }
}

TEST(Spec, Table) {
  ConvertTextOptions options;
  options.dialect = "spectest";
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    if (row.way != kExport) Expect(ToIrText(GraphText(row.foreign), row.opset, options), row.ir);
    if (row.way != kImport) Expect(FromIrText(GraphText(row.ir), row.opset, options), row.foreign);
  }
}

// A float attribute becomes an operand of the element type that it goes with.
TEST(Spec, OperandOfTheElementType) {
  ConvertTextOptions options;
  options.dialect = "spectest";
  struct {
    std::string_view type, constant;
  } rows[] = {
      {"float16[2]", "float16[]{2.5}"}, {"float64[2]", "float64[]{2.5}"}, {"?", "float32[]{2.5}"}};
  for (const auto& row : rows) {
    const std::string text =
        StrCat("graph g(x: ", row.type, ") -> (y) { y = spectest.Float(x) { bound = 2.5 } }");
    EXPECT_THAT(ToIrText(text, 1, options), HasSubstr(StrCat("y_bound = ", row.constant)));
  }
}

TEST(Spec, FormsAreFound) {
  EXPECT_EQ(FindImportForm("spectest", "Old", 1)->ir_op, "st_versions");
  EXPECT_EQ(FindImportForm("spectest", "Old", 2), nullptr);
  EXPECT_EQ(FindImportForm("other", "Old", 1), nullptr);
  EXPECT_EQ(FindExportForm("spectest", "st_versions", 1)->op, "Old");
  EXPECT_EQ(FindExportForm("spectest", "st_versions", 2)->op, "New");
  EXPECT_EQ(FindExportForm("spectest", "st_directions", 9)->op, "Out");
  EXPECT_EQ(FindExportForm("spectest", "st_coded_in", 1), nullptr);
  EXPECT_EQ(AllForms("spectest").size(), 22);
  EXPECT_GT(AllForms("").size(), AllForms("spectest").size());
}

// What a lens says it speaks for is what the laws rely on.
TEST(Spec, LensesSayWhatTheySpeakFor) {
  struct {
    Lens lens;
    std::vector<std::string> ir, foreign;
  } rows[] = {
      {OperandAsAttr("a", "b"), {}, {"b"}},
      {OperandAsAttr("a"), {}, {"a"}},
      {Renamed("a", "b"), {"a"}, {"b"}},
      {Attr("a", 1), {"a"}, {"a"}},
      {Fixed("a", 1), {"a"}, {}},
      {ForeignFixed("b", 1), {}, {"b"}},
      {Dropped("b"), {}, {"b"}},
      {EnumMap("a", "b", {}), {"a"}, {"b"}},
      {SpatialInts("a", 0), {"a"}, {"a"}},
      {DTypeAttr("a", "b"), {"a"}, {"b"}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(row.lens->IrAttrs(), row.ir);
    EXPECT_EQ(row.lens->ForeignAttrs(), row.foreign);
  }
}

}  // namespace
}  // namespace x2ir
