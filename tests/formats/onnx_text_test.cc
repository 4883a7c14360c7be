// ONNX as text: what protobuf's text format and its JSON say is what the binary says, there and
// back; files of onnx.save; external data; hostile input.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/onnx_proto_util.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/onnx_text/onnx_text_internal.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using testing_util::DecodeProto;
using testing_util::Differences;
using testing_util::EncodeProto;

constexpr const char* kTextFormats[] = {"textproto", "onnxjson"};
constexpr const char* kModelFormats[] = {"textproto", "onnxjson", "onnxtxt"};

std::string DataFile(const std::string& name) {
  return StrCat(X2IR_SOURCE_DIR, "/tests/data/onnx_text/", name);
}

absl::StatusOr<std::string> ToText(const std::string& format, std::string_view wire) {
  std::string text;
  const auto put = [&](std::string_view piece) {
    text += piece;
    return absl::OkStatus();
  };
  const ProtoMessage& model = onnx_text::ModelMessage();
  const absl::Status status =
      format == "textproto" ? WireToProtoText(wire, model, put) : WireToProtoJson(wire, model, put);
  if (!status.ok()) return status;
  return text;
}

absl::StatusOr<std::string> ToWire(const std::string& format, std::string_view text) {
  const ProtoMessage& model = onnx_text::ModelMessage();
  return format == "textproto" ? ProtoTextToWire(text, model, ProtoUnknown::kError)
                               : ProtoJsonToWire(text, model);
}

absl::StatusOr<Model> ReadAs(const std::string& format, const Source& source) {
  return FindFormat(format)->read(source, ReadRequest());
}

// The message of the error that the text is, read as a model; empty where it is none.
std::string ErrorOf(const std::string& format, const std::string& text) {
  const auto model = ReadAs(format, Source::Bytes(text));
  if (model.ok()) return "";
  EXPECT_TRUE(absl::IsDataLoss(model.status()) || absl::IsInvalidArgument(model.status()))
      << model.status();
  return std::string(model.status().message());
}

using OnnxTextFileTest = TempDirTest;

// --- The table ------------------------------------------------------------------------------

struct FactField {
  std::string name, type;
  bool repeated = false, oneof = false;
};

// A value of the message with every field, to a depth; of a oneof the one whose turn it is.
json EveryField(const json& facts, const std::string& message, int depth, size_t turn) {
  json value = json::object();
  std::vector<FactField> oneofs, fields;
  for (const json& row : facts.at(message)) {
    FactField field{row[1], row[2]};
    if (field.type.starts_with("repeated ")) {
      field.repeated = true;
      field.type = field.type.substr(9);
    }
    field.oneof = row.size() > 3;
    (field.oneof ? oneofs : fields).push_back(field);
  }
  if (!oneofs.empty()) fields.push_back(oneofs[turn % oneofs.size()]);
  for (const FactField& field : fields) {
    const std::map<std::string, json> scalars = {{"int32", -7},
                                                 {"int64", INT64_MIN},
                                                 {"uint64", UINT64_MAX},
                                                 {"float", 0.1f},
                                                 {"double", 0.1},
                                                 {"string", "t\"\n\\ \xc3\xa9"},
                                                 {"bytes",
                                                  "\xff'\n?\x01"
                                                  "7"},
                                                 {"AttributeType", 3},
                                                 {"DataLocation", 1}};
    json one;
    if (const auto it = scalars.find(field.type); it != scalars.end()) {
      one = it->second;
    } else {
      if (depth == 0) continue;
      std::string type = StrCat(message, ".", field.type);
      if (!facts.contains(type))
        type = StrCat(message.substr(0, message.find('.')), ".", field.type);
      if (!facts.contains(type)) type = field.type;
      one = EveryField(facts, type, depth - 1, turn);
    }
    value[field.name] = field.repeated ? json::array({one, one}) : one;
  }
  return value;
}

// The tests' own table of fields is another one than the library's.
TEST(OnnxText, EveryFieldSurvives) {
  const json facts =
      json::parse(ReadFile(StrCat(X2IR_SOURCE_DIR, "/facts/onnx-proto-fields.json")));
  for (size_t turn = 0; turn < 6; ++turn) {
    const json value = EveryField(facts, "ModelProto", 5, turn);
    for (const auto packing : {testing_util::Packing::kAlways, testing_util::Packing::kNever}) {
      const std::string wire = EncodeProto("ModelProto", value, packing);
      for (const char* format : kTextFormats) {
        SCOPED_TRACE(format);
        const auto text = ToText(format, wire);
        ASSERT_TRUE(text.ok()) << text.status();
        const auto back = ToWire(format, *text);
        ASSERT_TRUE(back.ok()) << back.status();
        EXPECT_EQ(Differences(value, DecodeProto("ModelProto", *back)), "");
      }
    }
  }
}

// --- Models ---------------------------------------------------------------------------------

TEST(OnnxText, NodeTestsSurvive) {
  const fs::path folder = Unpacked("onnx-node-tests-opset18plus.tar.xz", "onnx-node-tests");
  if (folder.empty()) GTEST_SKIP() << "*** the archive cannot be unpacked";
  int models = 0, beyond_syntax = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != "model.onnx") continue;
    SCOPED_TRACE(entry.path().string());
    const auto model = ReadOnnx(entry.path().string());
    if (!model.ok()) continue;  // the binary reader's own matter
    ++models;
    const auto bytes = SerializeOnnx(*model);
    ASSERT_TRUE(bytes.ok());
    for (const char* name : kModelFormats) {
      SCOPED_TRACE(name);
      std::string text;
      const Format* format = FindFormat(name);
      const auto written = format->write(*model, Sink::To(&text), FormatOptions());
      if (name == std::string("onnxtxt") && !written.ok()) {
        EXPECT_EQ(written.code(), absl::StatusCode::kFailedPrecondition) << written;
        ++beyond_syntax;
        continue;
      }
      ASSERT_TRUE(written.ok()) << written;
      const Source source = Source::Bytes(text);
      EXPECT_EQ((*RecognizeFormat(source))->name, name);
      const auto again = ReadAs(name, source);
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_TRUE(SerializeOnnx(*again).value() == *bytes);
    }
  }
  EXPECT_GT(models, 590);
  EXPECT_LT(beyond_syntax, 10);
}

// saved.* are one model, written by onnx.save of ONNX 1.20; camel.onnxjson is the same in
// protobuf's usual spelling of JSON names.
TEST(OnnxText, FilesOfOnnxSaveAreTheBinary) {
  const auto binary = ReadOnnx(DataFile("saved.onnx"));
  ASSERT_TRUE(binary.ok()) << binary.status();
  for (const char* name : {"saved.textproto", "saved.onnxjson", "camel.onnxjson"}) {
    SCOPED_TRACE(name);
    const Source source(DataFile(name));
    const auto format = RecognizeFormat(source);
    ASSERT_TRUE(format.ok()) << format.status();
    const auto model = ReadAs((*format)->name, source);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_TRUE(SerializeOnnx(*model).value() == SerializeOnnx(*binary).value());
  }
}

// syntax.onnx is what onnx.parser of ONNX 1.20 makes of syntax.onnxtxt.
TEST(OnnxText, SyntaxIsWhatOnnxParserReads) {
  const auto binary = ReadOnnx(DataFile("syntax.onnx"));
  ASSERT_TRUE(binary.ok()) << binary.status();
  const Source source(DataFile("syntax.onnxtxt"));
  EXPECT_EQ(RecognizeFormat(source).value()->name, "onnxtxt");
  const auto model = ReadAs("onnxtxt", source);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(SerializeOnnx(*model).value() == SerializeOnnx(*binary).value());
}

std::string SyntaxOf(std::string_view wire) {
  std::string text;
  const auto status = onnx_text::WireToSyntax(wire, [&](std::string_view piece) {
    text += piece;
    return absl::OkStatus();
  });
  return status.ok() ? text : std::string(status.message());
}

// written.onnxtxt is what is written of syntax.onnx; onnx.parser of ONNX 1.20 makes the same of it.
TEST(OnnxText, SyntaxIsWritten) {
  EXPECT_EQ(SyntaxOf(ReadFile(DataFile("syntax.onnx"))), ReadFile(DataFile("written.onnxtxt")));
  const auto model = ReadAs("onnxtxt", Source(DataFile("written.onnxtxt")));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(SerializeOnnx(*model).value() ==
              SerializeOnnx(*ReadOnnx(DataFile("syntax.onnx"))).value());
}

// A node of each kind of attribute, names of all kinds, numbers that are none.
TEST(OnnxText, SyntaxOfEachThing) {
  const json node = {{"op_type", "F"}, {"input", {"x", "", "a b", "float"}}, {"output", {"y"}}};
  const auto with = [&](const json& attr) {
    json one = node;
    one["attribute"] = json::array({attr});
    return EncodeProto("ModelProto", json{{"graph", {{"name", "g"}, {"node", {one}}}}});
  };
  const json tensor = {{"dims", {2}}, {"data_type", 1}, {"float_data", {1.0, -INFINITY}}};
  json named = tensor, packed = {{"dims", {3}}, {"data_type", 22}, {"int32_data", {0x21, 3}}};
  named["name"] = "w";
  const struct {
    json attr;
    const char* text;
  } rows[] = {
      {{{"name", "a"}, {"type", 1}, {"f", 2.0}}, "<a: float = 2.0>"},
      {{{"name", "a"}, {"type", 1}, {"f", NAN}}, "<a: float = nan>"},
      {{{"name", "a"}, {"type", 2}, {"i", INT64_MIN}}, "<a: int = -9223372036854775808>"},
      {{{"name", "a"}, {"type", 3}, {"s", "q\"\\#\n"}}, "<a: string = \"q\\\"\\\\#\n\">"},
      {{{"name", "a"}, {"type", 3}}, "<a: string = \"\">"},
      {{{"name", "a"}, {"type", 4}, {"t", tensor}}, "<a: tensor = float[2] {1.0, -inf}>"},
      {{{"name", "a"}, {"type", 4}, {"t", named}}, "<a: tensor = float[2] w {1.0, -inf}>"},
      {{{"name", "a"}, {"type", 4}, {"t", packed}}, "<a: tensor = int4[3] {33, 3}>"},
      {{{"name", "a"}, {"type", 6}, {"floats", {1.0}}}, "<a: floats = [1.0]>"},
      {{{"name", "a"}, {"type", 7}}, "<a: ints = []>"},
      {{{"name", "a"}, {"type", 8}, {"strings", {"b", ""}}}, "<a: strings = [\"b\", \"\"]>"},
      {{{"name", "a"}, {"type", 7}, {"ref_attr_name", "b"}}, "<a: ints = @b>"},
      {{{"name", "a"},
        {"type", 13},
        {"tp", {{"sequence_type", {{"elem_type", {{"tensor_type", {{"elem_type", 7}}}}}}}}}},
       "<a: type_proto = seq(int64[])>"},
  };
  for (const auto& row : rows) {
    const std::string text = SyntaxOf(with(row.attr));
    EXPECT_THAT(text, HasSubstr(StrCat("   y = F ", row.text, " (x, \"\", \"a b\", \"float\")\n")));
    const auto wire = onnx_text::SyntaxToWire(text);
    ASSERT_TRUE(wire.ok()) << wire.status() << "\n" << text;
    EXPECT_EQ(SyntaxOf(*wire), text);
  }
  EXPECT_THAT(
      SyntaxOf(with({{"name", "b"}, {"type", 5}, {"g", {{"name", "h"}}}})),
      HasSubstr("   y = F (x, \"\", \"a b\", \"float\") <b: graph = h () => () {\n   }>\n"));
}

TEST(OnnxText, WhatSyntaxCannotHold) {
  const struct {
    json graph;
    const char* message;
  } rows[] = {
      {{{"doc_string", "d"}}, "cannot express field 'doc_string' of a GraphProto"},
      {{{"node", {{{"op_type", "F"}, {"name", "n"}, {"doc_string", "d"}}}}},
       "cannot express field 'doc_string' of a NodeProto"},
      {{{"node", {{{"op_type", "a::F"}, {"name", "n"}}}}},
       "a::F 'n': ONNX's text syntax allows only letters, digits and '_' for the name of an op, "
       "not 'a::F'"},
      {{{"node", {{{"op_type", "F"}, {"domain", "a-b.c"}}}}}, "for a part of a domain, not 'a-b'"},
      {{{"node", {{{"op_type", "F"}, {"attribute", {{{"name", "k-1"}, {"type", 2}, {"i", 1}}}}}}}},
       "F '': attribute 'k-1': ONNX's text syntax allows only"},
      {{{"node",
         {{{"op_type", "F"},
           {"attribute", {{{"name", "k"}, {"type", 10}, {"graphs", {{{"name", "g"}}}}}}}}}}},
       "onnx.parser drops lists"},
      {{{"node",
         {{{"op_type", "F"},
           {"attribute", {{{"name", "k"}, {"type", 5}, {"g", {{"name", "a/b"}}}}}}}}}},
       "for the name of a graph in an attribute, not 'a/b'"},
      {{{"node",
         {{{"op_type", "F"},
           {"attribute", {{{"name", "k"}, {"type", 5}, {"g", {{"name", "inf_1"}}}}}}}}}},
       "reads the graph name 'inf_1' as something else"},
      {{{"node",
         {{{"op_type", "F"}, {"attribute", {{{"name", "k"}, {"type", 3}, {"s", "\xff"}}}}}}}},
       "attribute 'k': a string is not UTF-8"},
      {{{"input", {{{"name", "x"}, {"type", {{"denotation", "IMAGE"}}}}}}},
       "value 'x': ONNX's text syntax cannot express field 'denotation'"},
      {{{"initializer", {{{"name", "w"}, {"data_type", 77}}}}}, "no name for element type 77"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(SyntaxOf(EncodeProto("ModelProto", json{{"graph", row.graph}})),
                HasSubstr(row.message));
  }
}

// What onnx.parser drops or does not know, by ONNX's grammar.
TEST(OnnxText, SyntaxBeyondOnnxParser) {
  const auto wire = onnx_text::SyntaxToWire(
      "g (opaque(a.b, c) x, sparse_tensor(float[2]) s, float[1] float) => (y) {\n"
      "  y = F <ts = [float[1] {1}, int64 n = {2}], tps: type_protos = [float, seq(int64[])],\n"
      "         gs = [a () => (b) { b = C() }], r: tensor = @v, e = float[2] [\"location\": "
      "\"w\"]> "
      "(\"x\", float)\n}");
  ASSERT_TRUE(wire.ok()) << wire.status();
  const json graph = DecodeProto("ModelProto", *wire)["graph"];
  EXPECT_EQ(graph["input"][0]["type"]["opaque_type"], (json{{"domain", "a.b"}, {"name", "c"}}));
  EXPECT_EQ(graph["input"][1]["type"]["sparse_tensor_type"]["elem_type"], 1);
  EXPECT_EQ(graph["input"][2]["name"], "float");
  const json attrs = graph["node"][0]["attribute"];
  EXPECT_EQ(attrs[0]["type"], 9);
  EXPECT_EQ(attrs[0]["tensors"][1]["name"], "n");
  EXPECT_EQ(attrs[1]["type_protos"].size(), 2u);
  EXPECT_EQ(attrs[2]["graphs"][0]["node"][0]["op_type"], "C");
  EXPECT_EQ(attrs[3]["ref_attr_name"], "v");
  EXPECT_EQ(attrs[3]["type"], 4);
  EXPECT_EQ(attrs[4]["t"]["external_data"][0]["value"], "w");
}

TEST(OnnxText, Spellings) {
  const std::string expected =
      EncodeProto("ModelProto",
                  json{{"ir_version", 16},
                       {"graph",
                        {{"name", "ab\n"},
                         {"initializer",
                          {{{"dims", {1, 2}}, {"float_data", {1.0, 0.5}}, {"raw_data", "\xff\xfe"}},
                           {{"data_location", 1}}}}}}});
  const struct {
    const char *format, *text;
  } rows[] = {
      {"textproto",
       "# a comment\nir_version: 0x10, graph < name: 'a' \"b\\n\" initializer: [{dims: [1, 2]; "
       "float_data: [1, 5e-1] raw_data: '\\377\\xFe'}, <data_location: EXTERNAL>] >"},
      {"textproto",
       "ir_version: 020 graph: { name: \"\\x61\\142\\n\" initializer { dims: 1 dims: 2 "
       "float_data: 1f float_data: .5 raw_data: \"\\377\\376\" } initializer { data_location: 1 } "
       "}"},
      {"onnxjson",
       R"({"irVersion": "16", "docString": null, "graph": {"name": "a\u0062\n", "initializer": [
           {"dims": [1, "2"], "floatData": ["1.0", 5e-1], "rawData": "//4="},
           {"dataLocation": "EXTERNAL", "dims": []}]}})"},
      {"onnxjson",
       R"({"ir_version": 1.6e1, "graph": {"name": "ab\n", "initializer": [
           {"dims": [1, 2], "float_data": [1, 0.5], "raw_data": "__4"},
           {"data_location": 1}]}})"},
  };
  for (const auto& row : rows) {
    const auto wire = ToWire(row.format, row.text);
    ASSERT_TRUE(wire.ok()) << wire.status() << "\n" << row.text;
    EXPECT_EQ(Differences(DecodeProto("ModelProto", expected), DecodeProto("ModelProto", *wire)),
              "")
        << row.text;
  }
}

TEST(OnnxText, SpecialNumbers) {
  const json value = {{"graph",
                       {{"initializer",
                         {{{"float_data", {1e-45f, -0.0f, 3.4028235e38f, 16777216.0f}},
                           {"double_data", {5e-324, -0.0, 1.7976931348623157e308}}}}}}}};
  const std::string wire = EncodeProto("ModelProto", value);
  const std::string infinite("\x3a\x0c\x2a\x0a\x22\x08\0\0\x80\x7f\0\0\x80\xff", 14);
  for (const char* format : kTextFormats) {
    for (const std::string& bytes : {EncodeProto("ModelProto", DecodeProto("ModelProto", wire),
                                                 testing_util::Packing::kNever)}) {
      EXPECT_EQ(ToWire(format, ToText(format, bytes).value()).value(), bytes) << format;
    }
    const auto back = ToWire(format, ToText(format, infinite).value());
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(ToText(format, *back).value(), ToText(format, infinite).value());
    EXPECT_THAT(*back, HasSubstr(std::string("\0\0\x80\xff", 4)));
  }
  EXPECT_THAT(ToText("textproto", infinite).value(), HasSubstr("float_data: -inf"));
  EXPECT_THAT(ToText("onnxjson", infinite).value(), HasSubstr("\"-Infinity\""));
}

// --- What text cannot hold -------------------------------------------------------------------

TEST(OnnxText, NothingIsLeftOut) {
  for (const char* format : kTextFormats) {
    const auto unknown = ToText(format, EncodeProto("ModelProto", json{{"#99", "x"}}));
    EXPECT_EQ(unknown.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("field 99 of ModelProto"));
  }
  const std::string latin = EncodeProto("ModelProto", json{{"doc_string", "\xe9"}});
  EXPECT_THAT(ToText("textproto", latin).value(), HasSubstr("doc_string: \"\\351\""));
  EXPECT_THAT(std::string(ToText("onnxjson", latin).status().message()), HasSubstr("not UTF-8"));
}

// --- External data ----------------------------------------------------------------------------

TEST_F(OnnxTextFileTest, ExternalData) {
  const auto model = ReadOnnx(StrCat(X2IR_SOURCE_DIR, "/tests/data/gru/model.onnx"));
  ASSERT_TRUE(model.ok()) << model.status();
  for (const char* name : kModelFormats) {
    SCOPED_TRACE(name);
    const Format* format = FindFormat(name);
    const std::string path = Path(StrCat("m", format->extensions.front()));
    FormatOptions options;
    options.Set("external_data", std::string("always"));
    for (int i = 0; i < 2; ++i) {  // the second takes the place of the first
      const auto written = format->write(*model, path, options);
      ASSERT_TRUE(written.ok()) << written;
    }
    EXPECT_TRUE(fs::exists(path + ".data"));
    EXPECT_THAT(format->companions(path), ::testing::Contains(path + ".data"));
    const auto again = ReadAs(name, path);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(SerializeOnnx(*again).value() == SerializeOnnx(*model).value());
    // The folder's rules are those of the binary.
    std::string text = ReadFile(path);
    const std::string data = fs::path(path).filename().string() + ".data";
    WriteFile(path, text.replace(text.find(data), data.size(), "../" + data));
    EXPECT_THAT(std::string(ReadAs(name, path).status().message()),
                HasSubstr("leads out of the model's folder"));
  }
}

// --- Hostile input -----------------------------------------------------------------------------

TEST(OnnxText, BadText) {
  const struct {
    const char *format, *text, *error;
  } rows[] = {
      {"textproto", "ir_version: 8\n  colour: 1",
       "ModelProto has no field 'colour' in line 2, column 3"},
      {"textproto", "ir_version: 8 ir_version: 8",
       "'ir_version' is set twice in line 1, column 15"},
      {"textproto", "ir_version: [8]", "'ir_version' is not a list in line 1, column 13"},
      {"textproto", "ir_version: 8\ngraph {\n  name: \"g", "a string is not terminated in line 3"},
      {"textproto", "graph { name: 5 }", "'name' cannot be 5 in line 1"},
      {"textproto", "graph {", "the text ends inside of a message in line 1, column 8"},
      {"textproto", "ir_version: 9223372036854775808", "cannot be 9223372036854775808"},
      {"textproto", "ir_version { }", "'ir_version' is not a message"},
      {"textproto", "graph { initializer { data_location: FAR } }",
       "'data_location' cannot be FAR"},
      {"textproto", "graph { input { type { sequence_type {} tensor_type {} } } }",
       "'tensor_type' is set, but 'sequence_type' is already set in line 1, column 41"},
      {"textproto", "[a.b]: 3", "has no field '[a.b]'"},
      {"textproto", "ir_version: 8", "it has no graph"},
      {"onnxjson", "{\"irVersion\": \"8\",\n  \"colour\": 1}",
       "line 2, column 3: colour: ModelProto has no field 'colour'"},
      {"onnxjson", "{\"irVersion\": 8, \"ir_version\": 8}", "'ir_version' is set twice"},
      {"onnxjson", "{\"irVersion\": 1.5}", "line 1, column 15: irVersion: '1.5' is not an integer"},
      {"onnxjson", "{\"irVersion\": \"\"}", "'' is not an integer"},
      {"onnxjson", "{\"irVersion\": 9223372036854775808}", "is not an integer of 64 bits"},
      {"onnxjson", "{\"irVersion\": 1e300}", "is not an integer"},
      {"onnxjson", "{\"graph\": {\"initializer\": [{\"dataType\": 2147483648}]}}",
       "is not an integer of 32 bits"},
      {"onnxjson", "{\"graph\": {\"initializer\": [{\"uint64Data\": [-1]}]}}",
       "'-1' is not an integer of 64 bits without a sign"},
      {"onnxjson", "{\"graph\": {\"initializer\": [{\"floatData\": [1e39]}]}}",
       "'1e39' is not a number"},
      {"onnxjson", "{\"graph\": {\"initializer\": [{\"rawData\": \"?\"}]}}",
       "graph.initializer[0].rawData: invalid base64"},
      {"onnxjson", "{\"graph\": {\"initializer\": [{\"dataLocation\": \"FAR\"}]}}",
       "'FAR' is not a value of this field"},
      {"onnxjson", "{\"graph\": []}", "expected an object, got a list"},
      {"onnxjson", "{\"graph\": {\"node\": [null]}}", "expected an object, got null"},
      {"onnxjson", "{\"graph\": {}", "the text ends too early"},
      {"onnxjson", "{} {}", "text after the end"},
      {"onnxjson", "{\"irVersion\": 8}", "it has no graph"},
      {"onnxtxt", "", "expected a name in line 1, column 1"},
      {"onnxtxt", "<ir_version: 8,\n colour: 1>",
       "'colour' is not allowed here in line 2, column 2"},
      {"onnxtxt", "<ir_version: 8, ir_version: 8>", "'ir_version' is set twice"},
      {"onnxtxt", "<ir_version: 1.5>",
       "'1.5' is not an integer that is allowed here in line 1, column 14"},
      {"onnxtxt", "# a comment\ng () -> () {}", "expected '=' in line 2, column 6"},
      {"onnxtxt", "g () => () {", "the text ends inside of a graph"},
      {"onnxtxt", "g () => () { y = F <a = [1, 2.5]> () }", "expected a value of type 'int'"},
      {"onnxtxt", "g () => () { y = F <a = []> () }", "an empty list needs a type"},
      {"onnxtxt", "g () => () { y = F <a: ints = 1> () }", "expected a list"},
      {"onnxtxt", "g () => () { y = F <a: int = [1]> () }", "a list where one value is expected"},
      {"onnxtxt", "g () => () { y = F <a: sparse_tensor = @b> () }",
       "'sparse_tensor' is not a type"},
      {"onnxtxt", "g () => () { y = F <a = 9223372036854775808> () }", "is not an integer"},
      {"onnxtxt", "g () => () { y = F <a = 1e39> () }", "'1e39' is not a number"},
      {"onnxtxt", "g () => () { y = F <a = --1.0> () }", "expected a value"},
      {"onnxtxt", "g () => () <float[n] w = {1}> {}", "sizes that are numbers"},
      {"onnxtxt", "g () => () <int4[2] w = ...> {}", "values that were left out"},
      {"onnxtxt", "g () => () <int8[2] w = {1, 2147483648}> {}", "is not an integer"},
      {"onnxtxt", "g () => () <uint8[1] w = {256}> {}", "does not fit uint8"},
      {"onnxtxt", "g (float[2 x) => () {}", "expected ']' in line 1, column 12"},
      {"onnxtxt", "g (float x) => () {} \"", "a string is not terminated"},
  };
  for (const auto& row : rows) EXPECT_THAT(ErrorOf(row.format, row.text), HasSubstr(row.error));
}

TEST(OnnxText, DeepNesting) {
  constexpr int kDeep = 100000;
  std::string text = "graph { input { type { ", json_text = "{\"graph\": {\"input\": [{\"type\": ";
  for (int i = 0; i < kDeep; ++i) {
    text += "optional_type { elem_type { ";
    json_text += "{\"optionalType\": {\"elemType\": ";
  }
  std::string graphs, types = "g (";
  for (int i = 0; i < kDeep; ++i) {
    graphs += "g () => () { = F <a = ";
    types += "seq(";
  }
  EXPECT_THAT(ErrorOf("onnxtxt", graphs), HasSubstr("nested too deeply in line 1"));
  EXPECT_THAT(ErrorOf("onnxtxt", types), HasSubstr("nested too deeply in line 1"));
  EXPECT_THAT(ErrorOf("textproto", text), HasSubstr("nested too deeply in line 1"));
  EXPECT_THAT(ErrorOf("onnxjson", json_text), HasSubstr("nested too deeply"));
}

TEST(OnnxText, CutFilesAreErrors) {
  for (const char* name : {"saved.textproto", "saved.onnxjson", "syntax.onnxtxt"}) {
    const std::string text = ReadFile(DataFile(name));
    const std::string format = fs::path(name).extension().string().substr(1);
    for (size_t size = 0; size + 2 < text.size(); size += 7) {
      if (format == "onnxjson" || (format == "onnxtxt" && size < text.find("fun <"))) {
        EXPECT_NE(ErrorOf(format, text.substr(0, size)), "") << size;
      } else {
        (void)ErrorOf(format, text.substr(0, size));  // a text may end after any field
      }
    }
  }
}

TEST(OnnxText, IsRecognizedByItsHead) {
  const struct {
    const char *text, *format;
  } rows[] = {
      {"# made by hand\n\nir_version: 8", "textproto"},
      {"graph {", "textproto"},
      {"opset_import <", "textproto"},
      {"{\n \"ir_version\": \"8\"", "onnxjson"},
      {"{\"opsetImport\": []", "onnxjson"},
      {" <\n  ir_version: 8,", "onnxtxt"},
      {"<html:", ""},
      {"node { name: \"x\"", "tensorflow"},
      {"{\"format\": \"x2ir\"", "ir"},
      {"{\"weights\": 1", ""},
      {"graph of it", ""},
  };
  for (const auto& row : rows) {
    const auto format = RecognizeFormat(Source::Bytes(std::string(row.text)));
    EXPECT_EQ(format.ok() ? (*format)->name : "", row.format) << row.text;
  }
  for (const char* name : {"m.textproto", "m.prototxt", "m.TXTPB"}) {
    EXPECT_EQ(FormatOfExtension(name)->name, "textproto");
  }
  EXPECT_EQ(FormatOfExtension("m.onnxjson")->name, "onnxjson");
}

}  // namespace
}  // namespace x2ir
