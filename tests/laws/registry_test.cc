// Laws over the whole registry, with no code per op: what every IR op and every form of a
// dialect must be, checked against the dialect's schemas. Each law is a function from data to
// problems, so that the last tests can show that it does find them.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/golden/golden_util.h"
#include "x2ir/core/spec.h"
#include "x2ir/core/validate.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/handlers/onnx/schema_table.h"
#include "x2ir/inspect/attribute_meanings.h"
#include "x2ir/inspect/op_families.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kFirstOpset = 1;     // the oldest that we promise to read
constexpr int kFirstToExport = 7;  // and to write

using Problems = std::vector<std::string>;
using Forms = std::vector<const Form*>;

std::string Text(const Problems& problems) {
  std::string text;
  for (const std::string& problem : problems) StrAppend(&text, "\n  ", problem);
  return text;
}

std::string Describe(const Form& form) {
  const std::string last = form.opsets.last > 1000 ? "" : std::to_string(form.opsets.last);
  return StrCat(form.dialect.str(), ".", form.op.str(), " [", form.opsets.first, ",", last, "] of ",
                form.ir_op.str());
}

int LatestOpset(Symbol op) {
  const std::string_view domain = SplitOp(op.view()).first;
  return domain.empty() ? LatestOnnxOpset() : MlOpsetFor(LatestOnnxOpset());
}

const OpSchema* SchemaOf(const Form& form, int opset) {
  return FindDialect("onnx")->schema(form.op, opset);
}

// The opsets at which the form's op has a version, each with that version: one entry a version.
std::vector<std::pair<int, const OpSchema*>> VersionsOf(const Form& form) {
  std::vector<std::pair<int, const OpSchema*>> versions;
  const int last = std::min(form.opsets.last, LatestOpset(form.op));
  for (int opset = form.opsets.first; opset <= last; ++opset) {
    const OpSchema* schema = SchemaOf(form, opset);
    if (schema && (versions.empty() || versions.back().second != schema)) {
      versions.emplace_back(opset, schema);
    }
  }
  return versions;
}

// The attributes that the form's lenses speak for.
std::set<std::string> LensAttrs(const Form& form, bool ir) {
  std::set<std::string> names;
  for (const Lens& lens : form.lenses) {
    for (const std::string& name : ir ? lens->IrAttrs() : lens->ForeignAttrs()) names.insert(name);
  }
  return names;
}

// --- The laws -------------------------------------------------------------------------------

// Where nothing but the name relates two attributes, they are of one kind and one default.
Problems OtherDefaults(const Form& form, const OpDef& def) {
  Problems problems;
  const auto versions = VersionsOf(form);
  if (form.code || versions.empty()) return problems;
  const std::set<std::string> spoken_for = LensAttrs(form, /*ir=*/true);
  const OpSchema& newest = *versions.back().second;
  for (const AttrDef& attr : def.attrs()) {
    const AttrSchema* known = newest.FindAttr(attr.name);
    if (!known || spoken_for.contains(attr.name.str())) continue;
    if (known->kind != attr.kind) {
      problems.push_back(StrCat(Describe(form), ": attribute '", attr.name.str(), "' is ",
                                Name(attr.kind), " in IR, ", Name(known->kind), " in the schema"));
    } else if (known->default_value && attr.default_value &&
               *known->default_value != *attr.default_value) {
      problems.push_back(StrCat(Describe(form), ": attribute '", attr.name.str(), "' is ",
                                attr.default_value->ToString(), " by default in IR, ",
                                known->default_value->ToString(), " in the schema"));
    }
  }
  return problems;
}

// Every attribute and operand that the schema has goes somewhere.
Problems NotCovered(const Form& form, const OpDef& def) {
  Problems problems;
  if (form.code || VersionsOf(form).empty()) return problems;
  const std::set<std::string> spoken_for = LensAttrs(form, /*ir=*/false);
  std::set<std::string> said;
  for (const auto& [opset, schema] : VersionsOf(form)) {
    for (const AttrSchema& attr : schema->attrs) {
      if (spoken_for.contains(attr.name.str()) || def.FindAttr(attr.name)) continue;
      if (!said.insert(attr.name.str()).second) continue;
      problems.push_back(StrCat(Describe(form), ": attribute '", attr.name.str(), "' of opset ",
                                opset, " goes nowhere"));
    }
  }
  // An older version's operands that the newest one lacks are the form's own affair.
  const auto [opset, schema] = VersionsOf(form).back();
  if (schema != FindDialect("onnx")->schema(form.op, LatestOpset(form.op))) return problems;
  if (schema->inputs.size() > def.inputs().size()) {
    problems.push_back(StrCat(Describe(form), ": ", schema->inputs.size(), " operands at opset ",
                              opset, ", ", def.inputs().size(), " in IR"));
  }
  if (schema->outputs.size() > def.outputs().size()) {
    problems.push_back(StrCat(Describe(form), ": ", schema->outputs.size(), " outputs at opset ",
                              opset, ", ", def.outputs().size(), " in IR"));
  }
  return problems;
}

// Every IR op says what it means.
Problems Unfinished(const OpDef& def) {
  Problems problems;
  auto need = [&](bool there, std::string_view what) {
    if (!there) problems.push_back(StrCat("IR op '", def.name().str(), "' has no ", what));
  };
  need(static_cast<bool>(def.infer()), "inference");
  need(static_cast<bool>(def.eval()), "evaluation");
  need(!def.doc().empty(), "Doc");
  need(def.states_traits(), "Axes and Numbers (or Opaque): what rewrites may do with it");
  need(def.states_floats(), "AllowsFloat16 or NeedsFloat32: what fewer digits do to it");
  need(!def.outputs().empty(), "outputs");
  need(FamilyOf(def.name()) != nullptr, "family (x2ir/inspect/op_families.cc)");
  std::set<std::string> names;
  for (const OperandDef& operand : def.inputs()) {
    need(names.insert(operand.name).second, StrCat("unique operand '", operand.name, "'"));
  }
  for (const AttrDef& attr : def.attrs()) {
    need(names.insert(attr.name.str()).second, StrCat("unique name '", attr.name.str(), "'"));
    need(!attr.default_value || attr.default_value->kind() == attr.kind,
         StrCat("default of its kind for '", attr.name.str(), "'"));
    need(!AttributeMeaning(def.name().view(), attr.name.view()).empty(),
         StrCat("meaning of '", attr.name.str(), "' (x2ir/inspect/attribute_meanings.cc)"));
  }
  return problems;
}

// op -> reason.
constexpr char kUnmappedOps[] = "docs/unmapped_ops.txt";

// Every op at every opset has a form or a reason, and not both.
Problems Unmapped(const std::set<std::string>& ops, const Reasons& reasons) {
  Problems problems;
  for (const std::string& op : ops) {
    std::string without;
    bool any = false;
    for (int opset = kFirstOpset; opset <= LatestOnnxOpset(); ++opset) {
      const OpSchema* schema = FindDialect("onnx")->schema(op, opset);
      if (!schema || schema->deprecated) continue;
      if (FindImportForm("onnx", op, opset)) {
        any = true;
      } else {
        StrAppend(&without, without.empty() ? "" : ", ", opset);
      }
    }
    const bool excused = reasons.contains(op);
    if (!without.empty() && !excused) {
      problems.push_back(StrCat(op, " has neither form nor reason at opset ", without));
    } else if (excused && any) {
      problems.push_back(StrCat(op, " has a form, and a reason for having none"));
    }
  }
  for (const auto& [op, reason] : reasons) {
    if (!ops.contains(op))
      problems.push_back(StrCat("a reason for ", op, ", which does not exist"));
    if (reason.empty()) problems.push_back(StrCat("an empty reason for ", op));
  }
  return problems;
}

// Ops of ONNX's default domain that are not deprecated at some opset that we promise.
std::set<std::string> OnnxOps() {
  std::set<std::string> ops;
  for (const OnnxSchema& schema : AllOnnxSchemas()) {
    if (!schema.domain().empty()) continue;
    for (int opset = kFirstOpset; opset <= LatestOnnxOpset(); ++opset) {
      const OnnxSchema* at = FindOnnxSchema("", schema.name(), opset);
      if (at && !at->deprecated) ops.insert(std::string(schema.name()));
    }
  }
  return ops;
}

// --- There and back on generated nodes ------------------------------------------------------

// How operands look. An op that makes no sense of one look must do with another.
struct Look {
  bool integers;  // rather than floats, where both are allowed
  bool rank_known;
};
constexpr Look kLooks[] = {{false, false}, {false, true}, {true, false}};

DType PlausibleDType(uint32_t dtypes, const Look& look) {
  std::vector<DType> order = {DType::kFloat32, DType::kInt64, DType::kBool, DType::kInt32};
  if (look.integers) std::swap(order[0], order[1]);
  for (int t = 1; t < kNumDTypes; ++t) order.push_back(static_cast<DType>(t));
  for (DType t : order) {
    if (dtypes >> static_cast<int>(t) & 1) return t;
  }
  return DType::kUndefined;
}

// A plausible type of an operand; not known when there is none.
Type PlausibleType(const OperandSchema& operand, const Look& look) {
  const auto of = [&](uint32_t dtypes) {
    const DType dtype = PlausibleDType(dtypes, look);
    if (dtype == DType::kUndefined) return Type();
    return look.rank_known ? Type::Tensor(dtype, Shape(std::vector<Dim>(4))) : Type::Tensor(dtype);
  };
  if (Type type = of(operand.dtypes); type.is_known()) return type;
  if (!operand.non_tensor) return Type();
  if (Type type = of(operand.sequences); type.is_known()) return Type::Sequence(type);
  if (Type type = of(operand.optionals); type.is_known()) return Type::Optional(type);
  // Nothing but maps: of ai.onnx.ml's ops.
  return Type::Map(DType::kInt64, Type::Tensor(DType::kFloat32));
}

// Values of that kind, from the most plausible on. What does not make sense is refused on import.
std::vector<Attribute> PlausibleValues(AttrKind kind) {
  using Ints = Attribute::Ints;
  switch (kind) {
    case AttrKind::kInt: return {1, 0, 2, -1};
    case AttrKind::kFloat: return {0.25f, 1.0f};
    case AttrKind::kInts: return {Ints{2, 2}, Ints{1, 0}, Ints{2, 2}, Ints{1, 0, 0, 1}, Ints{3}};
    case AttrKind::kFloats: return {Attribute::Floats{1, 2}, Attribute::Floats{0.25f}};
    case AttrKind::kString: {
      std::vector<Attribute> words;
      for (const char* word :
           {"SAME_UPPER", "SAME_LOWER", "VALID",   "NOTSET", "reverse", "bidirectional",
            "tanh",       "none",       "linear",  "cubic",  "nearest", "asymmetric",
            "floor",      "edge",       "reflect", "wrap",   "add",     "mul",
            "max",        "DCR",        "CRD",     "ij->ji", "FLOAT"}) {
        words.emplace_back(word);
      }
      return words;
    }
    case AttrKind::kTensor: return {Tensor::Of<float>({1}, {2})};
    default: return {};
  }
}

using Extra = std::pair<Symbol, Attribute>;

// Which optional operands and outputs a node has: none, all, or only the operand of that number.
constexpr int kNone = -1, kAll = -2;

// A node of that op with what is required, some of the optional operands, and one more attribute.
// Required attributes have their plausible value of number `choice`. Null when there is none.
std::unique_ptr<Graph> PlausibleGraph(const OpSchema& schema, const Look& look, size_t choice,
                                      int optional, const Extra* extra) {
  auto graph = std::make_unique<Graph>("g");
  std::vector<Value*> operands;
  for (size_t i = 0; i < schema.inputs.size(); ++i) {
    const OperandSchema& operand = schema.inputs[i];
    if (operand.arity == Arity::kOptional && optional != kAll) {
      if (optional == static_cast<int>(i)) operands.resize(i);  // those before it are left out
      if (optional != static_cast<int>(i)) continue;
    }
    // Twelve: some ops take them in groups of two, three or four.
    const int count = operand.arity == Arity::kVariadic ? std::max(operand.min, 12) : 1;
    const Type type = PlausibleType(operand, look);
    if (!type.is_known()) return nullptr;
    for (int k = 0; k < count; ++k) {
      operands.push_back(graph->AddInput(StrCat("x", i, "_", k), type));
    }
  }
  Node* node = graph->AppendNode("onnx", schema.name, operands);
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    if (schema.outputs[i].arity == Arity::kOptional && optional != kAll) break;
    graph->AddOutput(graph->AddNodeOutput(node, StrCat("y", i)));
  }
  size_t choices = 1;
  for (const AttrSchema& attr : schema.attrs) {
    if (extra && extra->first == attr.name) {
      node->SetAttr(attr.name, extra->second);
    } else if (attr.required) {
      const std::vector<Attribute> values = PlausibleValues(attr.kind);
      if (values.empty()) return nullptr;
      choices = std::max(choices, values.size());
      node->SetAttr(attr.name, values[choice % values.size()]);
    }
  }
  return choice < choices ? std::move(graph) : nullptr;
}

struct RoundTrip {
  std::string ir;       // or "error: ..."
  std::string problem;  // why it did not come back as it was
  std::string meaning;  // the IR of what came back
  bool refused() const { return ir.substr(0, 6) == "error:"; }
};

RoundTrip GoThereAndBack(const Graph& graph, Symbol op, int opset) {
  const std::string_view domain = SplitOp(op.view()).first;
  ConvertTextOptions options;
  if (!domain.empty()) options.extra_opsets = {{std::string(domain), opset}};
  const int default_opset = domain.empty() ? opset : LatestOnnxOpset();
  TextOptions plain;
  plain.types = false;
  const std::string text = ToText(graph, plain);
  const std::string ir = ToIrText(text, default_opset, options);
  if (ir.substr(0, 6) == "error:") return {ir, ir, ""};
  const std::string back = ThereAndBackText(text, default_opset, 0, options);
  const bool same = Body(back) == Body(text);
  return {ir, same ? "" : StrCat("expected ", Body(text), "got ", Body(back)),
          ToIrText(back, default_opset, options)};
}

// The first plausible node that is not refused, there and back.
RoundTrip TryNode(const Form& form, int opset, const Look& look, int optional, const Extra* extra) {
  RoundTrip last;
  for (size_t choice = 0;; ++choice) {
    const auto graph = PlausibleGraph(*SchemaOf(form, opset), look, choice, optional, extra);
    if (!graph) return last;
    last = GoThereAndBack(*graph, form.op, opset);
    if (!last.refused()) return last;
  }
}

// Whether a node came back with the same meaning: as it was, or with more results, which nobody
// uses ("y = f(x)" as "y, y_1 = f(x)").
bool MeansTheSame(std::string_view before, std::string_view after) {
  if (after == before) return true;
  const size_t at = before.find(" = "), then = after.find(" = ");
  return at != before.npos && then != after.npos && before.substr(at) == after.substr(then) &&
         after.substr(0, at) == before.substr(0, at) && after.substr(at, 2) == ", ";
}

// Nodes of a form at an opset that do not come back as they were; of an op that may come back
// otherwise, those that come back with another meaning.
Problems NotIdentical(const Form& form, int opset, bool may_differ, int* checked) {
  Problems problems;
  // Whether some look of the operands is accepted. A problem is one only if all of those have it.
  auto go = [&](int optional, const Extra* extra) {
    std::string problem;
    for (const Look& look : kLooks) {
      const RoundTrip trip = TryNode(form, opset, look, optional, extra);
      if (trip.refused() || trip.ir.empty()) continue;
      // An attribute that says what its absence means need not come back.
      const bool says_nothing = extra && trip.ir == TryNode(form, opset, look, kNone, nullptr).ir;
      const bool same_meaning = may_differ && MeansTheSame(trip.ir, trip.meaning);
      if (trip.problem.empty() || says_nothing || same_meaning) {
        ++*checked;
        return true;
      }
      problem = trip.problem;
    }
    if (!problem.empty()) {
      problems.push_back(StrCat(Describe(form), " at opset ", opset, ": ", problem));
    }
    return !problem.empty();
  };
  bool any = go(kNone, nullptr);
  any = go(kAll, nullptr) || any;
  const OpSchema& schema = *SchemaOf(form, opset);
  for (size_t i = 0; i < schema.inputs.size(); ++i) {
    if (schema.inputs[i].arity == Arity::kOptional) any = go(static_cast<int>(i), nullptr) || any;
  }
  for (const AttrSchema& attr : schema.attrs) {
    for (const Attribute& value : PlausibleValues(attr.kind)) {
      if (attr.default_value && *attr.default_value == value) continue;  // need not be written
      const Extra extra = {attr.name, value};
      if (!go(kNone, &extra)) continue;
      any = true;
      break;
    }
  }
  if (!any) problems.push_back(StrCat(Describe(form), " at opset ", opset, " refuses every node"));
  return problems;
}

// Versions that are only read, of which no plausible node is.
Problems NeverRead(const Form& form, int* read) {
  Problems problems;
  for (const auto& [opset, schema] : VersionsOf(form)) {
    if (opset >= kFirstToExport) break;
    std::vector<Extra> extras;
    for (const AttrSchema& attr : schema->attrs) {
      for (const Attribute& value : PlausibleValues(attr.kind))
        extras.push_back({attr.name, value});
    }
    auto reads = [&, at = opset](const Extra* extra) {
      for (const Look& look : kLooks) {
        for (int optional : {kNone, kAll}) {
          if (!TryNode(form, at, look, optional, extra).refused()) return true;
        }
      }
      return false;
    };
    if (reads(nullptr) || std::any_of(extras.begin(), extras.end(),
                                      [&](const Extra& extra) { return reads(&extra); })) {
      ++*read;
    } else {
      problems.push_back(StrCat(Describe(form), " at opset ", opset, " refuses every node"));
    }
  }
  return problems;
}

// --- The registry ---------------------------------------------------------------------------

TEST(Registry, IsLinkedWhole) {
  // A static library that was not linked whole would have an empty registry.
  EXPECT_THAT(AllOps(), Not(IsEmpty()));
  EXPECT_THAT(AllForms("onnx"), Not(IsEmpty()));
  ASSERT_NE(FindDialect("onnx"), nullptr);
  EXPECT_EQ(FindDialect("onnx")->latest_opset, 28);
}

TEST(Registry, EveryOpWithALayoutCanChangeIt) {
  size_t count = 0;
  for (const OpDef* op : AllOps()) {
    const bool has = std::any_of(op->attrs().begin(), op->attrs().end(),
                                 [](const auto& attr) { return attr.name == "layout"; });
    EXPECT_EQ(HasRules("layout", op->name()), has) << op->name().str();
    const auto lowerings = LoweringsOf(op->name());
    EXPECT_EQ(!lowerings.empty() && lowerings[0]->name == "ChannelsLastAsFirst", has)
        << op->name().str();
    count += has ? 1 : 0;
  }
  EXPECT_GT(count, 10u);
}

TEST(Registry, DialectsAreValid) {
  for (std::string_view dialect : {"onnx", "tf", "torch"}) {
    const Problems problems = ValidateDialect(dialect);
    EXPECT_THAT(problems, IsEmpty()) << Text(problems);
  }
}

TEST(Registry, FormsAgreeWithTheSchemas) {
  Problems all;
  for (const Form* form : AllForms("onnx")) {
    const OpDef* def = FindOp(form->ir_op);
    if (!def) continue;  // told by DialectsAreValid
    for (const Problems& problems : {OtherDefaults(*form, *def), NotCovered(*form, *def)}) {
      all.insert(all.end(), problems.begin(), problems.end());
    }
  }
  EXPECT_THAT(all, IsEmpty()) << Text(all);
}

TEST(Registry, EveryIrOpIsFinished) {
  Problems all;
  for (const OpDef* def : AllOps()) {
    const Problems problems = Unfinished(*def);
    all.insert(all.end(), problems.begin(), problems.end());
  }
  EXPECT_THAT(all, IsEmpty()) << Text(all);
}

TEST(Registry, FamiliesHaveEachOpOnce) {
  std::map<std::string_view, int> count;
  for (const OpFamily& family : OpFamilies()) {
    for (const std::string_view file : family.files) {
      EXPECT_EQ(++count[file], 1) << file;
      const std::string path = StrCat("x2ir/ops/", file, ".cc");
      const std::vector<const OpDef*> ops = AllOps();
      EXPECT_TRUE(std::any_of(
          ops.begin(), ops.end(),
          [&](const OpDef* def) { return std::string_view(def->place().file).ends_with(path); }))
          << "there are no ops in " << path;
    }
  }
  count.clear();
  for (const OpFamily& family : OpFamilies()) {
    for (const std::string_view op : family.ops) {
      EXPECT_EQ(++count[op], 1) << op;
      EXPECT_NE(FindOp(op), nullptr) << op;
      EXPECT_EQ(FamilyOf(op), &family) << op;
    }
  }
}

TEST(Registry, EveryOpHasAFormOrAReason) {
  const Problems problems = Unmapped(OnnxOps(), ReadReasons(kUnmappedOps));
  EXPECT_THAT(problems, IsEmpty()) << Text(problems);
}

TEST(Registry, ThereAndBackIsTheIdentity) {
  const Reasons exceptions = ReadReasons("tests/golden/round_trip_exceptions.txt");
  Problems all;
  int checked = 0;
  // No plausible graph stands for a body: tests/handlers/onnx/control_flow_test.cc has those ops.
  const auto needs_graph = [](const Form& form) {
    const OpSchema* schema = SchemaOf(form, std::min(form.opsets.last, LatestOpset(form.op)));
    return schema && std::any_of(schema->attrs.begin(), schema->attrs.end(), [](const auto& attr) {
             return attr.required && attr.kind == AttrKind::kGraph;
           });
  };
  for (const Form* form : AllForms("onnx")) {
    if (needs_graph(*form)) continue;
    if (form->code || !form->imports || !form->exports || !FindOp(form->ir_op)) continue;
    for (const auto& version : VersionsOf(*form)) {
      const int opset = version.first;
      if (opset < kFirstToExport && SplitOp(form->op.view()).first.empty()) continue;
      const bool may_differ = exceptions.contains(form->op.str());
      const Problems problems = NotIdentical(*form, opset, may_differ, &checked);
      all.insert(all.end(), problems.begin(), problems.end());
    }
  }
  std::printf("%d generated nodes went there and back\n", checked);
  EXPECT_THAT(all, IsEmpty()) << Text(all);
}

TEST(Registry, OldFormsAreRead) {
  Problems all;
  int read = 0;
  for (const Form* form : AllForms("onnx")) {
    if (!SplitOp(form->op.view()).first.empty()) continue;
    if (!form->imports || form->op == "Tile") continue;  // the first Tile wants constants
    const Problems problems = NeverRead(*form, &read);
    all.insert(all.end(), problems.begin(), problems.end());
  }
  std::printf("%d versions of opsets before %d are read\n", read, kFirstToExport);
  EXPECT_THAT(all, IsEmpty()) << Text(all);
}

// --- The laws can fail ----------------------------------------------------------------------

// A form that is not in the registry.
Form Made(std::string_view op, std::string_view ir_op, Opsets opsets,
          std::vector<Lens> lenses = {}) {
  return {"onnx", op, ir_op, opsets, std::move(lenses), std::nullopt, true, true};
}

TEST(LawsCanFail, Schemas) {
  OpDef def("made_up");
  def.In("x").Out("y").Attr("alpha", 0.5f);
  struct Row {
    std::string_view what;
    Form form;
    std::function<Problems(const Form&)> law;
    size_t problems;
  };
  auto valid = [](const Form& form) { return ValidateForm(form); };
  auto defaults = [&](const Form& form) { return OtherDefaults(form, def); };
  auto covered = [&](const Form& form) { return NotCovered(form, def); };
  const Row rows[] = {
      {"exists", Made("LeakyRelu", "leaky_relu", Since(1)), valid, 0},
      {"does not exist", Made("LeakyReluu", "leaky_relu", Since(1)), valid, 1},
      {"does not exist yet", Made("Gelu", "gelu", Since(19)), valid, 1},
      {"does not exist in its domain", Made("ai.onnx.ml::Scalerr", "relu", Since(1)), valid, 1},
      {"of a domain without schemas", Made("ai.onnx.preview::Any", "relu", Since(1)), valid, 0},
      {"no such IR op", Made("Relu", "reluu", Since(1)), valid, 1},
      {"deprecated since", Made("Upsample", "resize", Since(7)), valid, 1},
      {"not deprecated yet", Made("Upsample", "resize", In(7, 9)), valid, 0},
      {"an empty interval", Made("Relu", "relu", In(5, 4)), valid, 1},
      {"lenses' attributes", Made("LeakyRelu", "leaky_relu", Since(1), {Same("alpha")}), valid, 0},
      {"no such attribute", Made("LeakyRelu", "leaky_relu", Since(1), {Renamed("alpha", "slope")}),
       valid, 1},
      {"no such IR attribute", Made("LeakyRelu", "leaky_relu", Since(1), {Renamed("a", "alpha")}),
       valid, 1},
      {"no such IR operand",
       Made("Unsqueeze", "unsqueeze", In(1, 12), {OperandAsAttr("axxes", "axes")}), valid, 1},
      {"an IR operand", Made("Unsqueeze", "unsqueeze", In(1, 12), {OperandAsAttr("axes")}), valid,
       0},
      {"another default", Made("LeakyRelu", "x", Since(1)), defaults, 1},
      {"a lens says so", Made("LeakyRelu", "x", Since(1), {Attr("alpha", 0.01f)}), defaults, 0},
      {"another kind", Made("Cast", "x", Since(6), {Renamed("to", "alpha")}), defaults, 0},
      {"all covered", Made("LeakyRelu", "x", Since(6)), covered, 0},
      {"attributes go nowhere", Made("Selu", "x", Since(6)), covered, 1},
      {"operands go nowhere", Made("Clip", "x", Since(11)), covered, 1},
      {"outputs go nowhere", Made("LSTM", "x", Since(7), {Same("hidden_size")}), covered, 9},
  };
  for (const Row& row : rows) {
    const Problems problems = row.law(row.form);
    EXPECT_THAT(problems, SizeIs(row.problems)) << row.what << Text(problems);
  }
}

TEST(LawsCanFail, OldForms) {
  int read = 0;
  EXPECT_THAT(NeverRead(Made("Relu", "relu", In(1, 6)), &read), IsEmpty());
  EXPECT_EQ(read, 2);
  EXPECT_THAT(NeverRead(Made("Tile", "tile", In(1, 5)), &read), SizeIs(1));
}

TEST(LawsCanFail, IrOps) {
  OpDef bare("bare");
  EXPECT_THAT(Unfinished(bare), SizeIs(7));
  bare.In("x").In("x").Out("y").Doc("Nothing.");
  EXPECT_THAT(Unfinished(bare), SizeIs(6));
  bare.Attr("without_meaning", 1);
  EXPECT_THAT(Unfinished(bare), SizeIs(7));
  bare.Axes(kAxesStay);
  EXPECT_THAT(Unfinished(bare), SizeIs(7));
  bare.Opaque();
  EXPECT_THAT(Unfinished(bare), SizeIs(6));
  bare.AllowsFloat16();
  EXPECT_THAT(Unfinished(bare), SizeIs(5));
}

TEST(LawsCanFail, Reasons) {
  EXPECT_THAT(Unmapped({"Relu"}, {}), IsEmpty());
  EXPECT_THAT(Unmapped({"Relu"}, {{"Relu", "too hard"}}), SizeIs(1));
  EXPECT_THAT(Unmapped({}, {{"Reluu", "unknown"}}), SizeIs(1));
  const Reasons reasons = ReadReasons(kUnmappedOps);
  if (!reasons.empty()) {
    EXPECT_THAT(Unmapped({reasons.begin()->first}, {}), SizeIs(1));
  }
}

}  // namespace
}  // namespace x2ir
