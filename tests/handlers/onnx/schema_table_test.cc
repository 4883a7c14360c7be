// The generated schema table against facts/onnx-schemas.json, row by row, with a parse of its
// own: whatever the generator lost or bent shows here.
#include "x2ir/handlers/onnx/schema_table.h"

#include <bit>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/dtype.h"

namespace x2ir {
namespace {

using Json = nlohmann::ordered_json;

Json ReadFacts() {
  std::ifstream in(X2IR_SOURCE_DIR "/facts/onnx-schemas.json");
  return Json::parse(in);
}

std::string Str(std::string_view s) { return std::string(s); }

// A type, from the table, in the words of the facts: from the masks and the maps, so that the
// masks are checked against the spelled types.
std::set<std::string> TypesOfMasks(const SchemaType& type) {
  // ONNX's names, indexed by TensorProto.DataType.
  static const char* const kNames[] = {
      "undefined",      "float",    "uint8",        "int8",           "uint16",
      "int16",          "int32",    "int64",        "string",         "bool",
      "float16",        "double",   "uint32",       "uint64",         "complex64",
      "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
      "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",     "float8e8m0",
      "uint2",          "int2"};
  static_assert(std::size(kNames) == kNumDTypes);
  std::set<std::string> all;
  for (int d = 0; d < kNumDTypes; ++d) {
    const std::string tensor = "tensor(" + std::string(kNames[d]) + ")";
    const uint32_t bit = uint32_t{1} << d;
    EXPECT_EQ(type.AllowsTensor(static_cast<DType>(d)), (type.tensors & bit) != 0);
    if (type.tensors & bit) all.insert(tensor);
    if (type.sequences & bit) all.insert("seq(" + tensor + ")");
    if (type.optionals & bit) all.insert("optional(" + tensor + ")");
    if (type.optional_sequences & bit) all.insert("optional(seq(" + tensor + "))");
  }
  int maps = 0;
  for (const SchemaText& allowed : type.allowed()) {
    if (Str(allowed).find("map(") == std::string::npos) continue;
    all.insert(Str(allowed));
    ++maps;
  }
  EXPECT_EQ(type.maps, maps > 0);
  return all;
}

Json ToJson(absl::Span<const SchemaText> list) {
  Json out = Json::array();
  for (const SchemaText& s : list) out.push_back(Str(s));
  return out;
}

Json ToJson(absl::Span<const SchemaOperand> operands) {
  Json out = Json::array();
  for (const SchemaOperand& operand : operands) {
    Json o = {{"name", Str(operand.name())}, {"type", Str(operand.type().name())}};
    switch (operand.arity) {
      case SchemaArity::kRequired: EXPECT_EQ(operand.min, 1); break;
      case SchemaArity::kOptional:
        EXPECT_EQ(operand.min, 0);
        o["option"] = "optional";
        break;
      case SchemaArity::kVariadic:
        o["option"] = "variadic";
        o["min"] = operand.min;
        break;
    }
    if (operand.heterogeneous) o["heterogeneous"] = true;
    out.push_back(std::move(o));
  }
  return out;
}

Json DefaultToJson(const SchemaAttr& attr) {
  Json list = Json::array();
  switch (attr.kind) {
    case SchemaAttrKind::kInt: return attr.i;
    case SchemaAttrKind::kFloat: return attr.f;
    case SchemaAttrKind::kString: return Str(attr.s());
    case SchemaAttrKind::kInts:
      for (int64_t i : attr.ints()) list.push_back(i);
      return list;
    case SchemaAttrKind::kFloats:
      for (float f : attr.floats()) list.push_back(f);
      return list;
    case SchemaAttrKind::kStrings: return ToJson(attr.strings());
    default: ADD_FAILURE() << Name(attr.kind) << " cannot have a default"; return nullptr;
  }
}

// The facts spell float defaults with nine digits: enough to name one float each.
bool SameDefault(const Json& want, const SchemaAttr& attr) {
  if (attr.kind != SchemaAttrKind::kFloat) return want == DefaultToJson(attr);
  const float value = std::stof(want.dump());
  return std::bit_cast<uint32_t>(value) == std::bit_cast<uint32_t>(attr.f);
}

// operator== of ordered_json minds the order of keys; facts and table need not agree on that.
nlohmann::json AnyOrder(const Json& j) { return nlohmann::json::parse(j.dump()); }

TEST(SchemaTable, HoldsEveryFact) {
  const Json facts = ReadFacts();
  const absl::Span<const OnnxSchema> schemas = AllOnnxSchemas();
  ASSERT_EQ(schemas.size(), facts.size());
  for (size_t row = 0; row < schemas.size(); ++row) {
    const OnnxSchema& schema = schemas[row];
    const Json& fact = facts[row];
    SCOPED_TRACE(fact["name"].get<std::string>() + " " + fact["since"].dump());

    Json got = {{"domain", Str(schema.domain())},
                {"name", Str(schema.name())},
                {"since", schema.since},
                {"inputs", ToJson(schema.inputs())},
                {"outputs", ToJson(schema.outputs())}};
    if (schema.deprecated) got["deprecated"] = true;
    if (schema.has_function) got["function"] = true;
    for (const SchemaType& type : schema.types()) {
      got["types"][Str(type.name())] = ToJson(type.allowed());
    }
    for (const SchemaAttr& attr : schema.attrs()) {
      Json& a = got["attributes"][Str(attr.name())] = {{"type", Str(Name(attr.kind))}};
      if (attr.required) a["required"] = true;
      if (!attr.has_default) continue;
      const Json& want = fact["attributes"][Str(attr.name())]["default"];
      EXPECT_TRUE(SameDefault(want, attr)) << attr.name() << ": " << want;
      a["default"] = want;  // compared just now, floats bit by bit
    }
    EXPECT_EQ(AnyOrder(got), AnyOrder(fact));
  }
}

TEST(SchemaTable, MasksSayWhatTheTypesSay) {
  for (const OnnxSchema& schema : AllOnnxSchemas()) {
    std::vector<const SchemaType*> types;
    for (const SchemaType& type : schema.types()) types.push_back(&type);
    for (const SchemaOperand& o : schema.inputs()) types.push_back(&o.type());
    for (const SchemaOperand& o : schema.outputs()) types.push_back(&o.type());
    for (const SchemaType* type : types) {
      std::set<std::string> want;
      for (const SchemaText& allowed : type->allowed()) want.insert(Str(allowed));
      EXPECT_FALSE(want.empty());
      EXPECT_EQ(TypesOfMasks(*type), want)
          << schema.name() << " " << schema.since << " " << type->name();
    }
  }
}

// A type that an operand names is the schema's own variable where it has one of that name.
TEST(SchemaTable, OperandsShareTheTypeVariables) {
  for (const OnnxSchema& schema : AllOnnxSchemas()) {
    for (const SchemaOperand& operand : schema.inputs()) {
      for (const SchemaType& type : schema.types()) {
        if (type.name() != operand.type().name()) continue;
        EXPECT_EQ(&type, &operand.type()) << schema.name() << " " << schema.since;
      }
    }
  }
}

TEST(SchemaTable, FindsTheNewestVersionThatIsNotNewer) {
  // The answer for every operator and opset, from a plain walk over the facts.
  std::map<std::pair<std::string, std::string>, std::vector<int>> versions;
  for (const Json& fact : ReadFacts()) {
    versions[{fact["domain"], fact["name"]}].push_back(fact["since"]);
  }
  for (const auto& [op, since] : versions) {
    EXPECT_EQ(OnnxSchemaVersions(op.first, op.second).size(), since.size()) << op.second;
    for (int opset = 0; opset <= LatestOnnxOpset() + 1; ++opset) {
      int want = 0;
      for (int s : since) {
        if (s <= opset) want = s;
      }
      const OnnxSchema* found = FindOnnxSchema(op.first, op.second, opset);
      ASSERT_EQ(found ? found->since : 0, want) << op.second << " at " << opset;
      if (found == nullptr) continue;
      EXPECT_EQ(found->domain(), op.first);
      EXPECT_EQ(found->name(), op.second);
    }
  }
}

TEST(SchemaTable, FindsNothingForUnknownNames) {
  EXPECT_EQ(FindOnnxSchema("", "Foo", 17), nullptr);
  EXPECT_EQ(FindOnnxSchema("", "", 17), nullptr);
  EXPECT_EQ(FindOnnxSchema("com.acme", "Relu", 17), nullptr);
  EXPECT_EQ(FindOnnxSchema("ai.onnx.ml", "Relu", 17), nullptr);
  EXPECT_EQ(FindOnnxSchema("", "ZipMap", 17), nullptr);
  EXPECT_EQ(FindOnnxSchema("", "Relu", -1), nullptr);
}

TEST(SchemaTable, TheDefaultDomainHasTwoNames) {
  EXPECT_NE(FindOnnxSchema("ai.onnx", "Relu", 17), nullptr);
  EXPECT_EQ(FindOnnxSchema("ai.onnx", "Relu", 17), FindOnnxSchema("", "Relu", 17));
}

TEST(SchemaTable, SamplesReadByHand) {
  const OnnxSchema* clip = FindOnnxSchema("", "Clip", 6);
  ASSERT_NE(clip, nullptr);
  EXPECT_EQ(clip->FindAttr("max")->f, 3.4028234663852886e38f);
  EXPECT_EQ(clip->FindAttr("alpha"), nullptr);
  const OnnxSchema* rnn = FindOnnxSchema("", "RNN", 14);
  ASSERT_NE(rnn, nullptr);
  ASSERT_EQ(rnn->FindAttr("activations")->strings().size(), 2u);
  EXPECT_EQ(rnn->FindAttr("activations")->strings()[1].view(), "Tanh");
  EXPECT_TRUE(rnn->FindAttr("activations")->ints().empty());
  const OnnxSchema* upsample = FindOnnxSchema("", "Upsample", 17);
  ASSERT_NE(upsample, nullptr);
  EXPECT_TRUE(upsample->deprecated);
  const OnnxSchema* loop = FindOnnxSchema("", "Loop", 17);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->inputs()[2].arity, SchemaArity::kVariadic);
  EXPECT_TRUE(loop->inputs()[2].heterogeneous);
  EXPECT_TRUE(loop->inputs()[2].type().allows_non_tensor());
  EXPECT_FALSE(loop->inputs()[0].type().allows_non_tensor());
}

TEST(OnnxVersions, FollowTheReleases) {
  EXPECT_EQ(LatestOnnxOpset(), 28);
  // {opset, IR version, opset of ai.onnx.ml}
  const int rows[][3] = {{1, 3, 1},  {7, 3, 1},  {9, 4, 1},   {11, 6, 2},  {14, 7, 2}, {15, 8, 2},
                         {16, 8, 3}, {20, 9, 4}, {21, 10, 5}, {24, 12, 5}, {28, 13, 5}};
  for (const auto& [opset, ir, ml] : rows) {
    EXPECT_EQ(OldestIrVersionForOpset(opset), ir) << opset;
    EXPECT_EQ(MlOpsetFor(opset), ml) << opset;
  }
}

// Each line of the facts: no release with this opset had an older IR version.
TEST(OnnxVersions, AreTheOldestOfTheFacts) {
  std::ifstream in(X2IR_SOURCE_DIR "/facts/onnx-versions.txt");
  std::string release, ir, opset, line;
  ASSERT_TRUE(std::getline(in, line));
  std::map<int, int> oldest;
  while (std::getline(in, release, '|') && std::getline(in, ir, '|') &&
         std::getline(in, opset, '|') && std::getline(in, line)) {
    oldest.emplace(std::stoi(opset), std::stoi(ir));  // the file goes from old to new
  }
  ASSERT_FALSE(oldest.empty());
  EXPECT_EQ(oldest.rbegin()->first, LatestOnnxOpset());
  for (const auto& [number, version] : oldest) {
    EXPECT_EQ(OldestIrVersionForOpset(number), version) << number;
  }
  // Outside of what we know: the nearest.
  EXPECT_EQ(OldestIrVersionForOpset(0), OldestIrVersionForOpset(1));
  EXPECT_EQ(OldestIrVersionForOpset(99), OldestIrVersionForOpset(LatestOnnxOpset()));
}

}  // namespace
}  // namespace x2ir
