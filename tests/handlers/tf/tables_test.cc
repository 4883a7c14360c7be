// Lookup tables of TensorFlow: files in text form that are read, converted and evaluated.
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/tf_proto_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string Attr(const std::string& name, const std::string& value) {
  return " attr { key: '" + name + "' value { " + value + " } }";
}
std::string Node(const std::string& name, const std::string& op,
                 const std::vector<std::string>& inputs, const std::string& attrs = "",
                 const std::string& field = "node") {
  std::string text = field + " { name: '" + name + "' op: '" + op + "'";
  for (const std::string& input : inputs) text += " input: '" + input + "'";
  return text + attrs + " }\n";
}
std::string Const(const std::string& name, const std::string& dtype, int size,
                  const std::string& values) {
  const std::string dims = size < 0 ? "" : StrCat("dim { size: ", size, " }");
  return Node(name, "Const", {},
              Attr("value",
                   "tensor { dtype: " + dtype + " tensor_shape { " + dims + " } " + values + " }"));
}
std::string Table(const std::string& key, const std::string& value,
                  const std::string& name = "table", const std::string& more = "") {
  return Node(name, "HashTableV2", {},
              Attr("key_dtype", "type: " + key) + Attr("value_dtype", "type: " + value) + more);
}

// The first result, or the error.
std::string Text(absl::StatusOr<Model> model) {
  if (!model.ok()) return model.status().ToString();
  if (const absl::Status s = ToIr(*model); !s.ok()) return s.ToString();
  if (const auto problems = model->graph->Validate(); !problems.empty()) return problems[0];
  for (const Value* constant : model->graph->constants()) {
    if (constant->is_unused()) return StrCat("'", constant->name(), "' is left");
  }
  const auto got = RunGraph(*model->graph, {});
  if (!got.ok()) return got.status().ToString();
  const std::string text = AttributeText(Attribute(*(*got)[0].tensor()));
  return text.substr(7, text.size() - 8);
}
std::string Parsed(const std::string& nodes) {
  return Text(ParseTensorFlow(nodes + "versions { producer: 1000 }", {.outputs = {"y"}}));
}

const std::string kQuery =
    Const("x", "DT_STRING", 3, "string_val: 'b' string_val: 'z' string_val: 'a'");
const std::string kWords = Const("k", "DT_STRING", 2, "string_val: 'a' string_val: 'b'");

TEST(TfTables, InAGraph) {
  const std::string strings = kQuery + kWords + Const("d", "DT_INT64", -1, "int64_val: -1") +
                              Node("y", "LookupTableFindV2", {"table", "x", "d"},
                                   Attr("Tin", "type: DT_STRING") + Attr("Tout", "type: DT_INT64"));
  const std::string numbers = Const("v", "DT_INT64", 2, "int64_val: 7 int64_val: 8");
  const std::string fill = Node("fill", "LookupTableImportV2", {"table", "k", "v"});
  EXPECT_EQ(Parsed(strings + numbers + Table("DT_STRING", "DT_INT64") + fill),
            "int64[3]{8, -1, 7}");
  // Under TensorFlow 1; keys and handle behind identities.
  std::string old = strings + numbers + Table("DT_STRING", "DT_INT64") +
                    Node("i", "Identity", {"table"}) + Node("j", "Identity", {"k"}) +
                    Node("fill", "InitializeTable", {"i", "j", "v"});
  EXPECT_EQ(Parsed(old), "int64[3]{8, -1, 7}");
  // The same twice is once; something else is not.
  EXPECT_EQ(Parsed(strings + numbers + Table("DT_STRING", "DT_INT64") + fill +
                   Node("again", "InitializeTableV2", {"table", "k", "v"})),
            "int64[3]{8, -1, 7}");
  EXPECT_THAT(Parsed(strings + numbers + Table("DT_STRING", "DT_INT64") + fill +
                     Const("w", "DT_INT64", 2, "int64_val: 7 int64_val: 9") +
                     Node("again", "InitializeTableV2", {"table", "k", "w"})),
              HasSubstr("two ops fill it"));
  EXPECT_THAT(Parsed(strings + numbers + Table("DT_STRING", "DT_INT64")),
              HasSubstr("tf.HashTableV2 (1 node): what the table holds is not known: no op"));
  EXPECT_THAT(Parsed(strings + numbers + Table("DT_STRING", "DT_INT64") + fill +
                     Node("set", "LookupTableInsertV2", {"table", "k", "v"})),
              HasSubstr("entries change"));
  EXPECT_THAT(
      Parsed(strings + numbers + Table("DT_STRING", "DT_INT64") + Node("s", "Add", {"v", "v"}) +
             Node("fill", "LookupTableImportV2", {"table", "k", "s"})),
      HasSubstr("computed"));
  EXPECT_THAT(Parsed(strings + numbers + Table("DT_STRING", "DT_FLOAT") + fill),
              HasSubstr("for a table of string and float32"));
  EXPECT_THAT(Parsed(strings + Const("v", "DT_INT64", 3, "int64_val: 7") +
                     Table("DT_STRING", "DT_INT64") + fill),
              HasSubstr("2 keys for 3 values"));
  EXPECT_THAT(Parsed(kQuery + Const("k", "DT_STRING", 2, "string_val: 'a'") + numbers +
                     Const("d", "DT_INT64", -1, "int64_val: -1") +
                     Node("y", "LookupTableFindV2", {"table", "x", "d"}) +
                     Table("DT_STRING", "DT_INT64") + fill),
              HasSubstr("another value"));
}

TEST(TfTables, Types) {
  // Keys 1, 2; lookups of 1, 2, 3.
  const std::string ints = "int_val: 1 int_val: 2 int_val: 3";
  const auto with = [&](const std::string& value, const std::string& values,
                        const std::string& otherwise) {
    return Const("x", "DT_INT32", 3, ints) + Const("k", "DT_INT32", 2, "int_val: 1 int_val: 2") +
           Const("v", value, 2, values) + Const("d", value, -1, otherwise) +
           Table("DT_INT32", value) + Node("fill", "LookupTableImportV2", {"table", "k", "v"}) +
           Node("y", "LookupTableFindV2", {"table", "x", "d"});
  };
  EXPECT_EQ(Parsed(with("DT_STRING", "string_val: 'p' string_val: ''", "string_val: 'q'")),
            "string[3]{\"p\", \"\", \"q\"}");
  EXPECT_EQ(Parsed(with("DT_FLOAT", "float_val: 0.5 float_val: inf", "float_val: -1")),
            "float32[3]{0.5, inf, -1}");
  EXPECT_EQ(Parsed(with("DT_DOUBLE", "double_val: 0.1 double_val: 2", "double_val: -1")),
            "float64[3]{0.1, 2, -1}");
  EXPECT_EQ(Parsed(with("DT_INT32", "int_val: -5 int_val: 6", "int_val: 0")), "int32[3]{-5, 6, 0}");
  EXPECT_EQ(Parsed(with("DT_BOOL", "bool_val: true bool_val: false", "bool_val: true")),
            "bool[3]{true, false, true}");
  EXPECT_THAT(
      Parsed(Const("x", "DT_FLOAT", 3, "float_val: 1") + Const("k", "DT_FLOAT", 1, "float_val: 1") +
             Const("v", "DT_FLOAT", 1, "float_val: 1") + Table("DT_FLOAT", "DT_FLOAT") +
             Node("fill", "LookupTableImportV2", {"table", "k", "v"}) +
             Node("y", "LookupTableFindV2", {"table", "x", "v"})),
      HasSubstr("keys of float32"));
}

TEST(TfTables, SizesAndDefaults) {
  const std::string table =
      kQuery + kWords + Const("v", "DT_INT64", 2, "int64_val: 7 int64_val: 8") +
      Table("DT_STRING", "DT_INT64") + Node("fill", "LookupTableImportV2", {"table", "k", "v"});
  EXPECT_EQ(Parsed(table + Node("y", "LookupTableSizeV2", {"table"})), "int64[]{2}");
  // A default that is computed.
  EXPECT_EQ(
      Parsed(table + Const("d", "DT_INT64", -1, "int64_val: 5") + Node("e", "Add", {"d", "d"}) +
             Node("y", "LookupTableFindV2", {"table", "x", "e"})),
      "int64[3]{8, 10, 7}");
  const std::string none = kQuery + Const("k", "DT_STRING", 0, "") + Const("v", "DT_INT64", 0, "") +
                           Table("DT_STRING", "DT_INT64") +
                           Node("fill", "LookupTableImportV2", {"table", "k", "v"}) +
                           Const("d", "DT_INT64", -1, "int64_val: 5");
  EXPECT_EQ(Parsed(none + Node("y", "LookupTableFindV2", {"table", "x", "d"})),
            "int64[3]{5, 5, 5}");
}

class TfTableFiles : public TempDirTest {
 protected:
  // y = the table's value for x, the table filled from a file by a function that is called before,
  // and looked into by another.
  std::string Load(const std::string& file, const std::string& attrs, const std::string& key,
                   const std::string& value, const std::string& query,
                   const std::string& otherwise) {
    const auto arg = [](const std::string& name, const std::string& type) {
      return " input_arg { name: '" + name + "' type: " + type + " }";
    };
    const std::string shared = Attr("shared_name", "s: 'words'");
    const std::string graph =
        Table(key, value, "hash_table", shared) + query + otherwise +
        Const("file", "DT_STRING", -1, "string_val: '/where/it/was'") +
        Node("init", "StatefulPartitionedCall", {"hash_table", "file"},
             Attr("f", "func { name: 'fill' }")) +
        Node("call", "StatefulPartitionedCall", {"x", "hash_table", "d"},
             Attr("f", "func { name: 'find' }")) +
        "library { function { signature { name: 'fill'" + arg("t", "DT_RESOURCE") +
        arg("f", "DT_STRING") + " output_arg { name: 'o' type: DT_STRING } } " +
        Node("go", "InitializeTableFromTextFileV2", {"t", "f"}, attrs, "node_def") +
        Node("same", "Identity", {"f", "^go"}, "", "node_def") +
        "ret { key: 'o' value: 'same:output:0' } } function { signature { name: 'find'" +
        arg("x", key) + arg("t", "DT_RESOURCE") + arg("d", value) +
        " output_arg { name: 'o' type: " + value + " } } " +
        Node("get", "LookupTableFindV2", {"t", "x", "d"}, "", "node_def") +
        "ret { key: 'o' value: 'get:values:0' } } } versions { producer: 1000 }";
    Put("saved_model.pbtxt",
        "saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: 'serve' } graph_def { " +
            graph + " } asset_file_def { tensor_info { name: 'file:0' } filename: '" + file +
            "' } signature_def { key: 'serving_default' value { outputs { key: 'y' value { name: "
            "'call:0' dtype: " +
            value + " } } } } }");
    return Text(ReadTensorFlow(folder_.string()));
  }
  // Words to the numbers of their lines.
  std::string Words(const std::string& file, const std::string& more = "") {
    return Load(file, Attr("key_index", "i: -2") + Attr("value_index", "i: -1") + more, "DT_STRING",
                "DT_INT64", kQuery, Const("d", "DT_INT64", -1, "int64_val: -1"));
  }
};

TEST_F(TfTableFiles, AreRead) {
  Put("assets/words", "a\nc\r\nb\n");
  EXPECT_EQ(Words("words"), "int64[3]{2, -1, 0}");
  Put("assets/words", "a\nc\nb");
  EXPECT_EQ(Words("words", Attr("vocab_size", "i: 3")), "int64[3]{2, -1, 0}");
  EXPECT_EQ(Words("words", Attr("vocab_size", "i: 2")), "int64[3]{-1, -1, 0}");
  EXPECT_THAT(Words("words", Attr("vocab_size", "i: 4")), HasSubstr("has 3 lines"));
  Put("assets/words", "");
  EXPECT_EQ(Words("words"), "int64[3]{-1, -1, -1}");
  Put("assets/words", "a\na");
  EXPECT_THAT(Words("words"), HasSubstr("another value"));
  // Columns.
  Put("assets/columns", "7,one,x\n-8,two,y\n");
  const std::string query = Const("x", "DT_INT64", 2, "int64_val: -8 int64_val: 1");
  const std::string otherwise = Const("d", "DT_STRING", -1, "string_val: '?'");
  const auto columns = [&](int key, int value) {
    return Load("columns",
                Attr("key_index", StrCat("i: ", key)) + Attr("value_index", StrCat("i: ", value)) +
                    Attr("delimiter", "s: ','"),
                "DT_INT64", "DT_STRING", query, otherwise);
  };
  EXPECT_EQ(columns(0, 1), "string[2]{\"two\", \"?\"}");
  EXPECT_EQ(columns(0, 2), "string[2]{\"y\", \"?\"}");
  EXPECT_EQ(columns(-1, -2), "string[2]{\"?\", \"-8,two,y\"}");
  EXPECT_THAT(columns(1, 2), HasSubstr("'one' is no int64"));
  EXPECT_THAT(columns(0, 3), HasSubstr("has 3 columns"));
  EXPECT_THAT(columns(-3, 0), HasSubstr("key_index"));
}

TEST_F(TfTableFiles, NamesStayInTheFolder) {
  Put("outside", "a\n");
  Put("assets/words", "a\n");
  fs::create_symlink(folder_ / "outside", folder_ / "assets/link");
  fs::create_directories(folder_ / "assets/deep");
  for (const char* name : {"../outside", "/etc/passwd", "", ".", "..", "deep/../words"}) {
    EXPECT_THAT(Words(name), HasSubstr("not in its folder of assets")) << name;
  }
  EXPECT_THAT(Words("link"), HasSubstr("is a link out of the model's folder"));
  EXPECT_THAT(Words("missing"), HasSubstr("NOT_FOUND"));
  EXPECT_THAT(Words("deep"), HasSubstr("is a directory"));
  // A graph by itself has no files.
  EXPECT_THAT(Parsed(kQuery + Table("DT_STRING", "DT_INT64") +
                     Const("file", "DT_STRING", -1, "string_val: '/etc/passwd'") +
                     Const("d", "DT_INT64", -1, "int64_val: -1") +
                     Node("fill", "InitializeTableFromTextFileV2", {"table", "file"}) +
                     Node("y", "LookupTableFindV2", {"table", "x", "d"})),
              HasSubstr("not one of the model's"));
}

// A table that is saved as variables are.
TEST_F(TfTableFiles, OfACheckpoint) {
  using namespace tf_proto;  // NOLINT
  fs::create_directories(folder_ / "variables");
  const auto numbers = [](int64_t a, int64_t b) {
    std::string bytes(16, '\0');
    std::memcpy(bytes.data(), &a, 8);
    std::memcpy(bytes.data() + 8, &b, 8);
    return bytes;
  };
  const auto [index, data] = Checkpoint({StringVariable("t/table-keys", {2}, {"b", "a"}),
                                         {"t/table-values", kInt64, {2}, numbers(5, 6)}});
  Put("variables/variables.index", index);
  Put("variables/variables.data-00000-of-00001", data.at(0));
  const auto saved = [](const std::string& second) {
    return "saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: 'serve' } graph_def "
           "{ " +
           Node("words", "MutableHashTableV2", {},
                Attr("key_dtype", "type: DT_STRING") + Attr("value_dtype", "type: DT_INT64")) +
           kQuery + Const("d", "DT_INT64", -1, "int64_val: -1") +
           Const("prefix", "DT_STRING", -1, "string_val: ''") +
           Node("get", "LookupTableFindV2", {"words", "x", "d"}) +
           Node("restore", "StatefulPartitionedCall", {"prefix", "words"},
                Attr("f", "func { name: 'restore' }")) +
           "library { function { signature { name: 'restore' input_arg { name: 'p' type: DT_STRING "
           "} input_arg { name: 't' type: DT_RESOURCE } output_arg { name: 'o' type: DT_STRING } "
           "} " +
           Node("names", "Const", {},
                Attr("value",
                     "tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } } "
                     "string_val: 't/table-keys' string_val: '" +
                         second + "' }"),
                "node_def") +
           Node("r", "RestoreV2", {"p", "names:output:0", "names:output:0"}, "", "node_def") +
           Node("v", "Identity", {"r:tensors:1"}, "", "node_def") +
           Node("set", "LookupTableImportV2", {"t", "r:tensors:0", "v:output:0"}, "", "node_def") +
           "ret { key: 'o' value: 'p' } } } versions { producer: 1000 } } signature_def { key: "
           "'serving_default' value { outputs { key: 'y' value { name: 'get:0' dtype: DT_INT64 } } "
           "} } }";
  };
  Put("saved_model.pbtxt", saved("t/table-values"));
  EXPECT_EQ(Text(ReadTensorFlow(folder_.string())), "int64[3]{5, -1, 6}");
  Put("saved_model.pbtxt", saved("t/others"));
  EXPECT_THAT(Text(ReadTensorFlow(folder_.string())), HasSubstr("no variable 't/others'"));
  fs::remove_all(folder_ / "variables");
  EXPECT_THAT(Text(ReadTensorFlow(folder_.string())), HasSubstr("no variables/variables.index"));
}

// Calls that call each other without end, and the like.
TEST(TfTables, Hostile) {
  const std::string fill =
      "library { function { signature { name: 'f' input_arg { name: 't' type: "
      "DT_RESOURCE } } " +
      Node("a", "f", {"t"}, "", "node_def") +
      Node("b", "LookupTableImportV2", {"t", "t", "t"}, "", "node_def") + "} }";
  EXPECT_THAT(Parsed(Table("DT_STRING", "DT_INT64") + Node("y", "f", {"table"}) + fill),
              HasSubstr("nested"));
  std::string many = "library { ";
  for (int i = 0; i < 60; ++i) {
    many += StrCat("function { signature { name: 'f", i,
                   "' input_arg { name: 't' type: DT_RESOURCE } } ");
    const std::string callee = i == 59 ? "InitializeTableV2" : StrCat("f", i + 1);
    for (const char* name : {"a", "b"}) many += Node(name, callee, {"t"}, "", "node_def");
    many += "} ";
  }
  EXPECT_THAT(Parsed(Table("DT_STRING", "DT_INT64") + Node("y", "f0", {"table"}) + many + "}"),
              HasSubstr("too many nodes"));
}

// A graph cut off anywhere, or with any byte changed, is an error or some graph.
TEST(TfTables, BrokenText) {
  const std::string graph =
      kQuery + kWords + Const("v", "DT_INT64", 2, "int64_val: 7 int64_val: 8") +
      Const("d", "DT_INT64", -1, "int64_val: 5") + Table("DT_STRING", "DT_INT64") +
      Node("p", "StatefulPartitionedCall", {"table", "k", "v"}, Attr("f", "func { name: 'f' }")) +
      Node("y", "LookupTableFindV2", {"table", "x", "d"}) +
      "library { function { signature { name: 'f' input_arg { name: 't' type: DT_RESOURCE } "
      "input_arg { name: 'k' type: DT_STRING } input_arg { name: 'v' type: DT_INT64 } } " +
      Node("fill", "LookupTableImportV2", {"t", "k", "v"}, "", "node_def") + "} }";
  EXPECT_EQ(Parsed(graph), "int64[3]{8, 5, 7}");
  for (size_t i = 0; i < graph.size(); ++i) {
    Parsed(graph.substr(0, i));
    for (const int flip : {1, 2, 4, 8, 16}) {
      std::string changed = graph;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      Parsed(changed);
    }
  }
}

}  // namespace
}  // namespace x2ir
