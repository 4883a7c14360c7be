// SavedModels and their checkpoints, made byte by byte.
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/tf_proto_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/io/checksums.h"
#include "x2ir/formats/tensorflow/checkpoint_internal.h"
#include "x2ir/formats/tensorflow/sorted_table_internal.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using namespace tf_proto;  // NOLINT

std::string StringsOf(std::string_view name, const std::vector<std::string>& strings) {
  std::string tensor =
      Int(1, kString) + Bytes(2, ShapeProto({static_cast<int64_t>(strings.size())}));
  for (const std::string& text : strings) tensor += Bytes(8, text);
  return NodeDef(name, "Const", {}, {{"dtype", TypeAttr(kString)}, {"value", TensorAttr(tensor)}});
}

class SavedModelTest : public TempDirTest {
 protected:
  void WriteFiles(const CheckpointFiles& files) {
    Put("variables/variables.index", files.index);
    for (size_t i = 0; i < files.data.size(); ++i) {
      Put(StrCat("variables/variables.data-0000", i, "-of-0000", files.data.size()), files.data[i]);
    }
  }
  void WriteVariables(std::vector<Variable> variables) {
    WriteFiles(Checkpoint(std::move(variables)));
  }
  absl::StatusOr<Model> LoadModel(const TensorFlowOptions& options = {}) {
    return ReadTensorFlow(Source(folder_.string()).AllowOutside(allow_outside_), options);
  }
  std::string Load(const TensorFlowOptions& options = {}) {
    absl::StatusOr<Model> model = LoadModel(options);
    if (!model.ok()) return model.status().ToString();
    if (const auto problems = model->graph->Validate(); !problems.empty()) return problems[0];
    return ToText(*model->graph);
  }
  // What the checkpoint has for variable "v", or the error.
  std::string ValueOfV(const CheckpointFiles& files, int64_t type = kFloat,
                       const std::vector<int64_t>& dims = {2}, const Attrs& more = {}) {
    Attrs attrs = {{"dtype", TypeAttr(type)}, {"shape", ShapeAttr(dims)}};
    attrs.insert(attrs.end(), more.begin(), more.end());
    Put("saved_model.pb", SavedModel(GraphDef({NodeDef("v", "VarHandleOp", {}, attrs),
                                               NodeDef("read", "ReadVariableOp", {"v"})}),
                                     "s", {}, {{"y", "read:0", type, dims}}));
    WriteFiles(files);
    return Load();
  }

  bool allow_outside_ = false;
};

TEST_F(SavedModelTest, SignatureAndVariables) {
  Put("saved_model.pb", SavedSum());
  const std::string key = "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE";
  const Variable kernel{key, kFloat, {2}, Float(3) + Float(4)};
  WriteVariables(
      {kernel, {key + "2", kFloat, {1}, Float(9)}, ObjectGraph({{"dense/kernel", key}})});
  EXPECT_EQ(Load(),
            "graph serving_default(x: float32[?,2]) -> (y: float32[?,2]) {\n"
            "  dense/kernel = float32[2]{3, 4}\n"
            "  y: float32[?,2] = tf.__inference(x, dense/kernel)\n"
            "}\n")
      << Load();
  EXPECT_THAT(Load({.signature = "other"}),
              HasSubstr("no signature 'other'; it has serving_default"));
  // Before TensorFlow 2 the key is the variable's name.
  WriteVariables({{"dense/kernel", kFloat, {2}, Float(5) + Float(6)}});
  EXPECT_THAT(Load(), HasSubstr("float32[2]{5, 6}"));
  WriteVariables({{"other", kFloat, {2}, Float(5) + Float(6)}});
  EXPECT_THAT(Load(), HasSubstr("no variable 'dense/kernel'"));
  WriteVariables({kernel, ObjectGraph({{"dense/kernel", key}, {"dense/kernel", key + "2"}})});
  EXPECT_THAT(Load(), HasSubstr("two variables 'dense/kernel'"));
  WriteVariables({{"dense/kernel", kFloat, {3}, Float(5) + Float(6)}});
  EXPECT_THAT(Load(), HasSubstr("variable 'dense/kernel'"));
}

TEST_F(SavedModelTest, BrokenCheckpointsAreErrors) {
  Put("saved_model.pb", SavedSum());
  const CheckpointFiles files = Checkpoint({{"dense/kernel", kFloat, {2}, Float(5) + Float(6)}});
  const std::string index = files.index;
  WriteFiles(files);
  const std::string right = Load();
  EXPECT_THAT(right, HasSubstr("{5, 6}"));
  for (size_t i = 0; i <= index.size(); ++i) {
    Put("variables/variables.index", index.substr(0, i));
    if (i < index.size()) {
      EXPECT_THAT(Load(), HasSubstr("DATA_LOSS"));
    }
    for (const int flip : {1, 8, 128}) {
      if (i == index.size()) continue;
      std::string changed = index;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      Put("variables/variables.index", changed);
      // An error, unless it is nobody's byte.
      EXPECT_THAT(Load(), testing::AnyOf(right, HasSubstr("DATA_LOSS"))) << i;
    }
  }
}

// Several graphs: the one to serve, or the one that --model names by its tags.
TEST_F(SavedModelTest, TagsAndSignatures) {
  const auto meta = [](const std::string& op, const std::string& signature,
                       const std::vector<std::string>& tags) {
    return MetaGraph({GraphDef({PlaceholderOf("x", {2}), NodeDef("n", op, {"x"})}),
                      signature,
                      {{"x", "x:0", kFloat, {2}}},
                      {{"y", "n:0", kFloat, {2}}},
                      tags});
  };
  const std::string train = meta("Neg", "a", {"train"}), serve = meta("Abs", "b", {"serve"}),
                    gpu = meta("Exp", "c", {"serve", "gpu"});
  Put("saved_model.pb", SavedModel({train, gpu, serve}));
  EXPECT_THAT(Load(), HasSubstr("tf.Abs"));
  EXPECT_THAT(Load({.tags = "gpu,serve"}), HasSubstr("tf.Exp"));
  EXPECT_THAT(Load({.tags = "train"}), HasSubstr("tf.Neg"));
  EXPECT_THAT(Load({.tags = "tpu"}),
              HasSubstr("which have the tags 'train', 'gpu,serve', 'serve'"));
  EXPECT_THAT(Load({.signature = "a"}), HasSubstr("has no signature 'a'; it has b"));
  Put("saved_model.pb", SavedModel({train, gpu}));
  EXPECT_THAT(Load(), HasSubstr("tf.Exp"));
  Put("saved_model.pb", SavedModel({train, train}));
  EXPECT_THAT(Load(), HasSubstr("option 'model'"));
  EXPECT_THAT(Load({.tags = "train"}), HasSubstr("option 'model'"));
  Put("saved_model.pb", SavedModel(std::vector<std::string>{train}));
  EXPECT_THAT(Load(), HasSubstr("tf.Neg"));
  Put("saved_model.pb", Int(1, 1));
  EXPECT_THAT(Load(), HasSubstr("has no graph"));
  // By the path of the file, and as text.
  Put("saved_model.pb", SavedModel({serve}));
  absl::StatusOr<Model> model = ReadTensorFlow((folder_ / "saved_model.pb").string());
  EXPECT_TRUE(model.ok()) << model.status();
  fs::remove(folder_ / "saved_model.pb");
  EXPECT_THAT(Load(), HasSubstr("NOT_FOUND"));
  Put("saved_model.pbtxt", R"(saved_model_schema_version: 1
meta_graphs { meta_info_def { tags: "serve" stripped_op_list { op { name: "Neg" } } }
  graph_def { node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
              node { name: "n" op: "Neg" input: "x" } }
  saver_def { filename_tensor_name: "none:0" version: V2 }
  signature_def { key: "one" value {
    inputs { key: "a" value { name: "x:0" dtype: DT_FLOAT tensor_shape { dim { size: 3 } } } }
    outputs { key: "b" value { name: "n:0" dtype: DT_FLOAT } }
    method_name: "tensorflow/serving/predict" } } })");
  EXPECT_THAT(Load(), HasSubstr("graph one(a: float32[3]) -> (b: float32[...])"));
}

// Several signatures over the same nodes; inputs and outputs that are the same.
TEST_F(SavedModelTest, PortsOfSignatures) {
  const auto load = [&](const std::vector<Port>& inputs, const std::vector<Port>& outputs) {
    Put("saved_model.pb",
        SavedModel(GraphDef({PlaceholderOf("p", {-1}), PlaceholderOf("q", {-1}),
                             NodeDef("n", "Neg", {"p"}), NodeDef("m", "Add", {"n", "q"})}),
                   "s", inputs, outputs));
    return Load();
  };
  // In the order of their names.
  EXPECT_THAT(load({{"b", "p:0", kFloat, {-1}}, {"a", "q:0", kFloat, {-1}}},
                   {{"z", "m:0", kFloat, {-1}}, {"y", "n:0", kFloat, {-1}}}),
              HasSubstr("graph s(a: float32[?], b: float32[?]) -> (y: float32[?], z: float32[?])"));
  // An output that is an input; and one that has an input's name.
  EXPECT_THAT(load({{"x", "p:0", kFloat, {-1}}}, {{"x", "p:0", kFloat, {-1}}}),
              HasSubstr("x: float32[?] = tf.Identity("));
  // Something on the way as input.
  EXPECT_THAT(
      load({{"x", "n:0", kFloat, {3}}, {"y", "q:0", kFloat, {3}}}, {{"z", "m:0", kFloat, {3}}}),
      HasSubstr("tf.Add(x, y)"));
  EXPECT_THAT(
      load({{"x", "p:0", kFloat, {}}, {"y", "p:0", kFloat, {}}}, {{"z", "n:0", kFloat, {}}}),
      HasSubstr("two inputs of the signature"));
  EXPECT_THAT(load({{"", "p:0", kFloat, {}}}, {{"z", "n:0", kFloat, {}}}),
              HasSubstr("has a tensor of the name ''"));
  EXPECT_THAT(load({}, {{"z", "n:0", kFloat, {}}, {"z", "m:0", kFloat, {}}}),
              HasSubstr("has two tensors of the name 'z'"));
  EXPECT_THAT(load({}, {{"z", "", kFloat, {}}}), HasSubstr("output 'z' is not a plain tensor"));
  EXPECT_THAT(load({}, {{"z", "no:0", kFloat, {}}}),
              HasSubstr("output 'z': there is no node 'no'"));
  EXPECT_THAT(load({}, {{"z", "n:7", kFloat, {}}}), Not(HasSubstr("INTERNAL")));
}

// What a SavedModel calls its function, and its inputs and outputs, once more when it is written.
TEST_F(SavedModelTest, NamesAreWrittenAgain) {
  // Names of signatures, each with its inputs and outputs.
  const auto names = [](const MemoryFiles& files) {
    tf_format::Source source;
    source.bytes = files->at("s/saved_model.pb");
    std::string text;
    const auto read = tf_format::ReadSavedModelProto(source, "");
    if (!read.ok()) return read.status().ToString();
    for (const tf_format::SignatureProto& signature : read->signatures) {
      StrAppend(&text, text.empty() ? "" : "; ", signature.name, ":");
      for (const tf_format::PortProto& port : signature.inputs) StrAppend(&text, " ", port.name);
      text += " ->";
      for (const tf_format::PortProto& port : signature.outputs) StrAppend(&text, " ", port.name);
    }
    return text;
  };
  const std::string nodes = GraphDef({PlaceholderOf("p", {3}), NodeDef("n", "Neg", {"p"})});
  struct Row {
    std::string saved;
    TensorFlowOptions read;
    std::string asked, names, rename = "";
  };
  const std::vector<Port> x = {{"x", "p:0", kFloat, {3}}}, y = {{"y", "n:0", kFloat, {3}}};
  const std::vector<Port> other = {{"z", "p:0", kFloat, {3}}};
  const std::vector<Port> out_x = {{"x", "n:0", kFloat, {3}}};
  const Row rows[] = {
      {SavedModel(nodes, "serving_default", x, y), {}, "", "serving_default: x -> y"},
      {SavedModel(nodes, "predict", x, y), {}, "", "predict: x -> y; serving_default: x -> y"},
      {SavedModel(nodes, "predict", x, y),
       {.signature = "predict"},
       "",
       "predict: x -> y; serving_default: x -> y"},
      {SavedModel(nodes, "predict", x, y), {}, "mine", "mine: x -> y"},
      // An input and an output of one name.
      {SavedModel(nodes, "serving_default", x, out_x), {}, "", "serving_default: x -> x"},
      {SavedModel(nodes, "serving_default", x, out_x),
       {},
       "",
       "serving_default: image -> x",
       "image"},
      // A part of the function is not what the source calls so.
      {SavedModel(nodes, "predict", other, y), {.outputs = {"y"}}, "", "serving_default: z -> y"},
  };
  for (const Row& row : rows) {
    for (const bool converted : {false, true}) {
      Put("saved_model.pb", row.saved);
      absl::StatusOr<Model> model = LoadModel(row.read);
      ASSERT_TRUE(model.ok()) << model.status();
      if (!row.rename.empty()) model->graph->Rename(model->graph->inputs()[0], row.rename);
      if (converted) {
        ASSERT_TRUE(ToIr(*model).ok());
        ASSERT_TRUE(FromIr(*model, "tf").ok());
      }
      const auto files = std::make_shared<std::map<std::string, std::string>>();
      ASSERT_TRUE(WriteTensorFlow(*model, IntoMemory("s", files), {.signature = row.asked}).ok());
      EXPECT_EQ(names(files), row.names) << converted;
      if (converted || !row.asked.empty()) continue;
      // And with the same bytes the next time.
      const auto again = std::make_shared<std::map<std::string, std::string>>();
      const auto read = ReadTensorFlow(FromMemory("s/", "saved_model.pb", files));
      ASSERT_TRUE(read.ok()) << read.status();
      ASSERT_TRUE(WriteTensorFlow(*read, IntoMemory("s", again)).ok());
      EXPECT_EQ(*again, *files) << row.names;
    }
  }
}

// --inputs and --outputs name what the signature does, or the graph.
TEST_F(SavedModelTest, SomePorts) {
  Put("saved_model.pb",
      SavedModel(GraphDef({PlaceholderOf("p", {-1}), PlaceholderOf("q", {-1}),
                           NodeDef("n", "Neg", {"p"}), NodeDef("m", "Add", {"n", "q"}),
                           NodeDef("c", "Placeholder", {}, {{"dtype", TypeAttr(kBool)}}),
                           NodeDef("s", "Switch", {"m", "c"}), NodeDef("t", "Neg", {"s:1"}),
                           NodeDef("u", "Merge", {"s", "t"})}),
                 "s", {{"a", "p:0", kFloat, {3}}, {"b", "q:0", kFloat, {3}}},
                 {{"y", "n:0", kFloat, {3}}, {"z", "m:0", kFloat, {3}}}));
  EXPECT_THAT(Load(),
              HasSubstr("graph s(a: float32[?], b: float32[?]) -> (y: float32[3], z: float32[3])"));
  EXPECT_THAT(Load({.outputs = {"y"}}), HasSubstr("-> (y: float32[3])"));
  EXPECT_THAT(Load({.outputs = {"z", "n"}}), HasSubstr("-> (z: float32[3], n)"));
  EXPECT_THAT(Load({.inputs = {"b"}, .outputs = {"z"}}), HasSubstr("graph s(b: float32[?], p: "));
  EXPECT_THAT(Load({.inputs = {"n", "b"}, .outputs = {"z"}}), HasSubstr("tf.Add(n, b)"));
  EXPECT_THAT(Load({.outputs = {"x"}}), HasSubstr("option 'outputs': there is no node 'x'"));
  // In a branch there is nothing to give.
  Put("saved_model.pb",
      SavedModel(GraphDef({PlaceholderOf("p", {-1}),
                           NodeDef("c", "Placeholder", {}, {{"dtype", TypeAttr(kBool)}}),
                           NodeDef("s", "Switch", {"p", "c"}), NodeDef("t", "Neg", {"s:1"}),
                           NodeDef("u", "Merge", {"s", "t"})}),
                 "s", {{"a", "t:0", kFloat, {3}}}, {{"z", "u:0", kFloat, {3}}}));
  EXPECT_THAT(Load(), Not(HasSubstr("graph s(")));
}

TEST_F(SavedModelTest, ElementTypesOfVariables) {
  constexpr int64_t kBFloat16 = 14, kHalf = 19, kQInt8 = 11;
  EXPECT_THAT(
      ValueOfV(Checkpoint({{"v", kBFloat16, {2}, std::string("\200?\000\300", 4)}}), kBFloat16),
      HasSubstr("bfloat16[2]{1, -2}"));
  EXPECT_THAT(ValueOfV(Checkpoint({{"v", kHalf, {2}, std::string("\000<\000\300", 4)}}), kHalf),
              HasSubstr("float16[2]{1, -2}"));
  EXPECT_THAT(ValueOfV(Checkpoint({{"v", kBool, {2}, std::string("\001\000", 2)}}), kBool),
              HasSubstr("bool[2]{true, false}"));
  EXPECT_THAT(
      ValueOfV(Checkpoint({StringVariable("v", {2}, {"ab", std::string(300, 'c')})}), kString),
      HasSubstr("string[2]{\"ab\", \"ccc"));
  EXPECT_THAT(ValueOfV(Checkpoint({{"v", kQInt8, {2}, "ab"}}), kQInt8),
              HasSubstr("int8[2]{97, 98}"));
  // No elements, and one.
  EXPECT_THAT(ValueOfV(Checkpoint({{"v", kFloat, {0, 3}, ""}}), kFloat, {0, 3}),
              HasSubstr("float32[0,3]{}"));
  EXPECT_THAT(ValueOfV(Checkpoint({{"v", kFloat, {}, Float(7)}}), kFloat, {}),
              HasSubstr("float32[]{7}"));
}

TEST_F(SavedModelTest, VariablesThatAreNotWhatTheGraphSays) {
  const std::string two = Float(1) + Float(2);
  EXPECT_THAT(ValueOfV(Checkpoint({{"v", kInt32, {2}, two}})),
              HasSubstr("VarHandleOp 'v': its type is float32[2], but its value in the checkpoint "
                        "has type int32[2]"));
  EXPECT_THAT(ValueOfV(Checkpoint({{"v", kFloat, {1, 2}, two}})),
              HasSubstr("its type is float32[2]"));
  EXPECT_THAT(ValueOfV(Checkpoint({{"v", kFloat, {2}, two}}), kFloat, {-1}),
              HasSubstr("float32[2]{1, 2}"));
  for (const auto& [attr, why] :
       {std::pair(Attrs{{"dtype", ShapeAttr({2})}}, "'dtype' is not a type"),
        std::pair(Attrs{{"dtype", TypeAttr(kFloat)}, {"shape", TypeAttr(kFloat)}}, "")}) {
    Put("saved_model.pb", SavedModel(GraphDef({NodeDef("v", "VarHandleOp", {}, attr)}), "s", {},
                                     {{"y", "v:0", kFloat, {}}}));
    EXPECT_THAT(Load(), HasSubstr(why));
  }
  // Nowhere at all.
  fs::remove_all(folder_ / "variables");
  Put("saved_model.pb", SavedSum());
  EXPECT_THAT(Load(), HasSubstr("VarHandleOp 'dense/kernel': the SavedModel has no variables/"));
}

// The index says where; the data is in several files. Weights stay there.
TEST_F(SavedModelTest, DataFiles) {
  const std::string two = Float(1) + Float(2);
  const std::vector<Variable> variables = {
      {"a", kFloat, {2}, two, 0}, {"u", kFloat, {2}, two, 1}, {"v", kFloat, {2}, "   " + two, 2}};
  CheckpointFiles files = Checkpoint(variables, 3);
  EXPECT_THAT(ValueOfV(files), HasSubstr("variable 'v'"));  // 11 bytes
  std::vector<Variable> right = variables;
  right[2].bytes = Float(5) + Float(6);
  EXPECT_THAT(ValueOfV(Checkpoint(right, 3)), HasSubstr("float32[2]{5, 6}"));
  absl::StatusOr<Model> model = LoadModel();
  ASSERT_TRUE(model.ok());
  const auto range = model->graph->Find("v")->constant()->file_range();
  ASSERT_TRUE(range.has_value());
  EXPECT_THAT(range->file->path(), HasSubstr("variables.data-00002-of-00003"));
  EXPECT_THAT(ValueOfV(Checkpoint(right, 3, /*snappy=*/true)), HasSubstr("float32[2]{5, 6}"));
  // A file is missing, too short, or elsewhere.
  const fs::path third = folder_ / "variables/variables.data-00002-of-00003";
  Put("variables/variables.data-00002-of-00003", Float(5));
  EXPECT_THAT(Load(), HasSubstr("it lies outside of"));
  fs::remove(third);
  EXPECT_THAT(Load(), HasSubstr("NOT_FOUND"));
  fs::create_directory(third);
  EXPECT_THAT(Load(), HasSubstr("variables.data-00002"));
  fs::remove(third);
  const fs::path elsewhere = folder_.string() + "_elsewhere";
  std::ofstream(elsewhere, std::ios::binary) << Float(8) + Float(9);
  fs::create_symlink(elsewhere, third);
  EXPECT_THAT(Load(), HasSubstr("(option 'allow_outside')"));
  allow_outside_ = true;
  EXPECT_THAT(Load(), HasSubstr("float32[2]{8, 9}"));
  allow_outside_ = false;
  fs::remove(third);
  fs::create_symlink("variables.data-00001-of-00003", third);
  EXPECT_THAT(Load(), HasSubstr("float32[2]{1, 2}"));
  fs::remove(elsewhere);
}

// --- Slices -------------------------------------------------------------------------------------

// TensorSliceProto: a start and a length an axis; of a length of -1 nothing is said.
std::string SliceOf(const std::vector<std::pair<int64_t, int64_t>>& extents) {
  std::string slice;
  for (const auto& [start, length] : extents) {
    slice += Bytes(1, length < 0 ? "" : Int(1, start) + Int(2, length));
  }
  return Bytes(7, slice);
}

TEST(TensorFlowSlices, Keys) {
  using tf_format::SliceKey;
  EXPECT_EQ(SliceKey("w", {{0, 10}, {0, -1}}),
            std::string("\000w\000\001\001\002\200\212\200\177", 10));
  EXPECT_EQ(SliceKey(std::string("a\000b\377", 4), {}), std::string("\000a\000\377"
                                                                    "b\377\000\000\001\000",
                                                                    10));
  // Seven bits a byte, of which one is the sign.
  EXPECT_EQ(SliceKey("", {{63, 64}, {100, 8191}, {8192, 20000}}),
            std::string("\000\000\001\001\003\277\300@\300d\337\377\340 \000\340N ", 18));
  EXPECT_EQ(SliceKey("", {{INT64_MAX, INT64_MIN}}),
            std::string("\000\000\001\001\001\377\300\177\377\377\377\377\377\377\377"
                        "\000?\200\000\000\000\000\000\000\000",
                        25));
}

TEST_F(SavedModelTest, VariablesInSlices) {
  const std::string slices = SliceOf({{0, 1}, {0, -1}}) + SliceOf({{1, 2}, {0, -1}});
  const Variable whole{"v", kFloat, {3, 2}, "", 0, slices};
  const std::string k0 = tf_format::SliceKey("v", {{0, 1}, {0, -1}});
  const std::string k1 = tf_format::SliceKey("v", {{1, 2}, {0, -1}});
  const Variable first{k0, kFloat, {1, 2}, Float(1) + Float(2), 1};
  const Variable second{k1, kFloat, {2, 2}, Float(3) + Float(4) + Float(5) + Float(6)};
  const auto value = [&](std::vector<Variable> variables) {
    return ValueOfV(Checkpoint(std::move(variables), 2), kFloat, {3, 2});
  };
  EXPECT_THAT(value({whole, first, second}), HasSubstr("float32[3,2]{1, 2, 3, 4, 5, 6}"));
  // Columns.
  const std::string columns = SliceOf({{0, -1}, {1, 1}}) + SliceOf({{0, -1}, {0, 1}});
  EXPECT_THAT(value({{"v", kFloat, {3, 2}, "", 0, columns},
                     {tf_format::SliceKey("v", {{0, -1}, {1, 1}}),
                      kFloat,
                      {3, 1},
                      Float(1) + Float(2) + Float(3)},
                     {tf_format::SliceKey("v", {{0, -1}, {0, 1}}),
                      kFloat,
                      {3, 1},
                      Float(4) + Float(5) + Float(6)}}),
              HasSubstr("float32[3,2]{4, 1, 5, 2, 6, 3}"));
  struct Row {
    std::vector<Variable> variables;
    const char* error;
  };
  Variable other_type = first, other_shape = first;
  other_type.type = kInt32;
  other_shape.dims = {2};
  const Variable twice{"v", kFloat, {3, 2}, "", 0, slices + SliceOf({{0, 1}, {0, -1}})};
  const Variable beyond{"v", kFloat, {2, 2}, "", 0, slices};
  const Variable negative{"v", kFloat, {3, 2}, "", 0, SliceOf({{-1, 2}, {0, -1}})};
  const Variable flat{"v", kFloat, {3, 2}, "", 0, SliceOf({{0, 6}})};
  const Variable less{"v", kFloat, {3, 2}, "", 0, SliceOf({{0, 1}, {0, -1}})};
  const Variable huge{"v", kFloat, {int64_t{1} << 40, 2}, "", 0, slices};
  const Variable overflow{"v", kFloat, {int64_t{1} << 62, int64_t{1} << 62}, "", 0, slices};
  for (const Row& row : std::vector<Row>{
           {{whole, first}, "one of its slices is missing"},
           {{whole, second, other_type}, "another type or shape"},
           {{whole, second, other_shape}, "another type or shape"},
           {{twice, first, second}, "overlap"},
           {{beyond, first, second}, "lies outside of it"},
           {{negative, {tf_format::SliceKey("v", {{-1, 2}, {0, -1}}), kFloat, {2, 2}, "        "}},
            "lies outside of it"},
           {{flat, {tf_format::SliceKey("v", {{0, 6}}), kFloat, {6}, std::string(24, ' ')}},
            "lies outside of it"},
           {{less, first, second}, "do not cover all of it"},
           {{huge, first, second}, "larger than the files"},
           {{overflow, first, second}, "too large"}}) {
    EXPECT_THAT(value(row.variables), HasSubstr(row.error));
  }
}

// The saver of TensorFlow 1 restores the parts of a large variable into variables of their own.
TEST_F(SavedModelTest, RestoredAsTheGraphSays) {
  const auto graph = [](const std::string& prefix, const std::vector<std::string>& keys,
                        const std::vector<std::string>& slices) {
    return GraphDef(
        {StringsOf("save/Const", {"model"}), StringsOf("other", {"model"}),
         StringsOf("save/names", keys), StringsOf("save/slices", slices),
         NodeDef("save/RestoreV2", "RestoreV2", {prefix, "save/names", "save/slices"}),
         NodeDef("v/part_0", "VariableV2", {}), NodeDef("v/part_1", "VarHandleOp", {}),
         NodeDef("save/Assign", "Assign", {"v/part_0", "save/RestoreV2"}),
         NodeDef("save/Identity", "Identity", {"save/RestoreV2:1"}),
         NodeDef("save/Assign_1", "AssignVariableOp", {"v/part_1", "save/Identity"}),
         NodeDef("save/restore_all", "NoOp", {}, {}), NodeDef("a", "Identity", {"v/part_0"}),
         NodeDef("b", "ReadVariableOp", {"v/part_1"}), NodeDef("c", "ConcatV2", {"a", "b"})});
  };
  const auto load = [&](const std::string& prefix, const std::vector<std::string>& keys,
                        const std::vector<std::string>& slices) {
    Put("saved_model.pb", SavedModel({MetaGraph({graph(prefix, keys, slices),
                                                 "s",
                                                 {},
                                                 {{"y", "c:0", kFloat, {}}},
                                                 {"serve"},
                                                 "save/Const:0",
                                                 "save/restore_all"})}));
    return Load();
  };
  const std::string six = Float(1) + Float(2) + Float(3) + Float(4) + Float(5) + Float(6);
  WriteVariables({{"v", kFloat, {3, 2}, six}, {"u", kFloat, {1}, Float(7)}});
  std::string text = load("save/Const", {"v", "v"}, {"3 2 0,1:0,2", "3 2 1,2:-"});
  EXPECT_THAT(text, HasSubstr("v/part_0 = float32[1,2]{1, 2}"));
  EXPECT_THAT(text, HasSubstr("v/part_1 = float32[2,2]{3, 4, 5, 6}"));
  // Other names than the checkpoint's.
  text = load("save/Const", {"u", "v"}, {"", ""});
  EXPECT_THAT(text, HasSubstr("v/part_0 = float32[1]{7}"));
  EXPECT_THAT(text, HasSubstr("v/part_1 = float32[3,2]{1, 2"));
  // Stored as they are wanted, they stay mapped.
  WriteVariables(
      {{"v", kFloat, {3, 2}, "", 0, SliceOf({{0, 1}, {0, -1}}) + SliceOf({{1, 2}, {0, -1}})},
       {tf_format::SliceKey("v", {{0, 1}, {0, -1}}), kFloat, {1, 2}, six.substr(0, 8)},
       {tf_format::SliceKey("v", {{1, 2}, {0, -1}}), kFloat, {2, 2}, six.substr(8)}});
  text = load("save/Const", {"v", "v"}, {"3 2 0,1:0,2", "3 2 1,2:0,2"});
  EXPECT_THAT(text, HasSubstr("v/part_1 = float32[2,2]{3, 4, 5, 6}"));
  EXPECT_TRUE(LoadModel()->graph->Find("v/part_1")->constant()->file_range().has_value());
  EXPECT_THAT(load("save/Const", {"v", "v"}, {"3 2 0,2:0,2", "3 2 1,2:0,1"}),
              HasSubstr("v/part_1 = float32[2,1]{3, 5}"));
  // What is read from another file says nothing of this one.
  EXPECT_THAT(load("other", {"v", "v"}, {"", ""}), HasSubstr("has no variable 'v/part_0'"));
  EXPECT_THAT(load("save/Const", {"v"}, {"", ""}), HasSubstr("has no variable 'v/part_0'"));
  EXPECT_THAT(load("save/Const", {"w", "v"}, {"", ""}), HasSubstr("the checkpoint has no 'w'"));
  for (const char* bad : {"3", "3 2 0,1", "3 2 0,1:0,2:0,1", "3 3 0,1:0,2", "3 2 0,4:0,2",
                          "3 2 -1,1:0,2", "3 2 0,-1:0,2", "3 2 0:0", "x"}) {
    EXPECT_THAT(load("save/Const", {"v", "v"}, {bad, ""}),
                testing::AnyOf(HasSubstr("is invalid"), HasSubstr("lies outside")))
        << bad;
  }
}

// As many parts as there are rows, each in a variable of its own: no list is gone through for each.
TEST_F(SavedModelTest, ManyParts) {
  constexpr int64_t kParts = 3000;
  std::vector<std::string> keys(kParts, "v"), slices, nodes = {StringsOf("save/Const", {"model"})};
  std::vector<Variable> variables = {{"v", kFloat, {kParts}, "", 0, ""}};
  std::vector<std::string> parts;
  for (int64_t i = 0; i < kParts; ++i) {
    slices.push_back(StrCat(kParts, " ", i, ",1"));
    parts.push_back(StrCat("v/part_", i));
    nodes.push_back(NodeDef(parts.back(), "VarHandleOp", {}));
    nodes.push_back(NodeDef(StrCat("assign", i), "AssignVariableOp",
                            {parts.back(), StrCat("save/RestoreV2:", i)}));
    variables[0].slices += SliceOf({{i, 1}});
    variables.push_back(
        {tf_format::SliceKey("v", {{i, 1}}), kFloat, {1}, Float(static_cast<float>(i))});
  }
  nodes.push_back(StringsOf("names", keys));
  nodes.push_back(StringsOf("slices", slices));
  nodes.push_back(NodeDef("save/RestoreV2", "RestoreV2", {"save/Const", "names", "slices"}));
  nodes.push_back(NodeDef("y", "ConcatV2", parts));
  Put("saved_model.pb", SavedModel({MetaGraph({GraphDef(nodes),
                                               "s",
                                               {},
                                               {{"y", "y:0", kFloat, {kParts}}},
                                               {"serve"},
                                               "save/Const:0",
                                               "none"})}));
  WriteVariables(variables);
  EXPECT_THAT(Load(), HasSubstr("v/part_2999 = float32[1]{2999}"));
}

// Since TensorFlow 2 a function restores; so variables of one name are told from each other.
TEST_F(SavedModelTest, RestoredByAFunction) {
  const std::string restore = FunctionDef(
      "restore", {{"file_prefix", kString}, {"a", kResource}, {"b", kResource}}, {{"r", kString}},
      {StringsOf("names", {"l1/w", "l2/w"}), StringsOf("slices", {"", ""}),
       NodeDef("RestoreV2", "RestoreV2", {"file_prefix", "names:output:0", "slices:output:0"}),
       NodeDef("i0", "Identity", {"RestoreV2:tensors:0"}),
       NodeDef("i1", "Identity", {"RestoreV2:tensors:1"}),
       NodeDef("s0", "AssignVariableOp", {"a", "i0:output:0"}),
       NodeDef("s1", "AssignVariableOp", {"b", "i1:output:0"}),
       NodeDef("r", "Identity", {"file_prefix", "^s0", "^s1"})},
      {{"r", "r:output:0"}});
  const auto save = [&](const std::string& a, const std::string& b) {
    const std::string graph =
        GraphDef({NodeDef("saver_filename", "Placeholder", {}, {{"dtype", TypeAttr(kString)}}),
                  NodeDef("w", "VarHandleOp", {}, {{"shared_name", StringAttr("w")}}),
                  NodeDef("w_1", "VarHandleOp", {}, {{"shared_name", StringAttr("w")}}),
                  NodeDef("restored", "StatefulPartitionedCall", {"saver_filename", a, b},
                          {{"f", FuncAttr("restore")}}),
                  NodeDef("r0", "ReadVariableOp", {"w"}), NodeDef("r1", "ReadVariableOp", {"w_1"}),
                  NodeDef("y", "Sub", {"r0", "r1"})},
                 {restore});
    Put("saved_model.pb", SavedModel({MetaGraph({graph,
                                                 "s",
                                                 {},
                                                 {{"y", "y:0", kFloat, {1}}},
                                                 {"serve"},
                                                 "saver_filename:0",
                                                 "restored"})}));
    return Load();
  };
  WriteVariables({{"l1/w", kFloat, {1}, Float(1)},
                  {"l2/w", kFloat, {1}, Float(2)},
                  ObjectGraph({{"w", "l1/w"}, {"w", "l2/w"}})});
  std::string text = save("w", "w_1");
  EXPECT_THAT(text, HasSubstr("w = float32[1]{1}"));
  EXPECT_THAT(text, HasSubstr("w_1 = float32[1]{2}"));
  EXPECT_THAT(save("w_1", "w"), HasSubstr("w_1 = float32[1]{1}"));
  EXPECT_THAT(save("w", "w"),
              HasSubstr("VarHandleOp 'w': two tensors of the checkpoint are restored into it"));
}

// --- The index ----------------------------------------------------------------------------------

std::string Entry(size_t shard) {
  return Int(1, kFloat) + Bytes(2, ShapeProto({2})) + Int(3, static_cast<int64_t>(shard)) +
         Int(5, 8);
}

TEST_F(SavedModelTest, BrokenIndexes) {
  const std::pair<std::string, std::string> header = {"", Int(1, 1)};
  const std::string data = Float(1) + Float(2);
  const auto load = [&](const std::vector<Entries>& blocks) {
    return ValueOfV({SortedTable(blocks), {data}});
  };
  EXPECT_THAT(load({{header, {"v", Entry(0)}}}), HasSubstr("{1, 2}"));
  EXPECT_THAT(load({{header}, {{"v", Entry(0)}}}), HasSubstr("{1, 2}"));
  EXPECT_THAT(load({{header, {"v", Entry(1)}}}), HasSubstr("it lies in file 1"));
  EXPECT_THAT(load({{header, {"v", Entry(0) + Int(3, -1)}}}), HasSubstr("it lies in file -1"));
  EXPECT_THAT(load({{header, {"v", Entry(0) + Int(4, -4)}}}), HasSubstr("lies outside of"));
  EXPECT_THAT(load({{header, {"v", Entry(0) + Int(4, 4)}}}), HasSubstr("lies outside of"));
  EXPECT_THAT(load({{header, {"v", Entry(0) + Int(4, 8) + Int(5, 0)}}}), HasSubstr("variable 'v'"));
  EXPECT_THAT(load({{header, {"v", Entry(0) + Int(5, INT64_MAX)}}}), HasSubstr("lies outside of"));
  EXPECT_THAT(load({{header, {"v", Entry(0) + Bytes(2, ShapeProto({-1}))}}}),
              HasSubstr("shape is not known"));
  EXPECT_THAT(load({{header, {"v", Entry(0) + Bytes(2, ShapeProto({-2}))}}}),
              HasSubstr("has the dim -2"));
  EXPECT_THAT(load({{header, {"v", Entry(0) + Bytes(2, ShapeProto({INT64_MAX, INT64_MAX}))}}}),
              HasSubstr("variable 'v'"));
  EXPECT_THAT(load({{header, {"v", Entry(0)}, {"v", Entry(0)}}}), HasSubstr("are not sorted"));
  EXPECT_THAT(load({{header, {"w", Entry(0)}}, {{"v", Entry(0)}}}), HasSubstr("are not sorted"));
  EXPECT_THAT(load({{{"v", Entry(0)}}}), HasSubstr("it has 0 files"));
  EXPECT_THAT(load({{{"", Int(1, 1 << 20)}}}), HasSubstr("files"));
  EXPECT_THAT(load({{{"", Int(1, 1) + Int(2, 1)}}}), HasSubstr("big-endian"));
  EXPECT_THAT(load({{header, {"v", "\377"}}}), HasSubstr("DATA_LOSS"));
  EXPECT_THAT(ValueOfV({"", {data}}), HasSubstr("DATA_LOSS"));
  EXPECT_THAT(ValueOfV({std::string(100, 'x'), {data}}), HasSubstr("is not a table"));
}

// An index whose blocks are all the same one would take forever.
TEST(TensorFlowIndex, BlocksThatOverlap) {
  const auto table = [](const std::vector<std::pair<uint64_t, uint64_t>>& handles) {
    Entries index;
    for (const auto& [offset, size] : handles) {
      index.emplace_back("k", Varint(offset) + Varint(size));
    }
    return TableOf(TableBlock({}), index);
  };
  const auto read = [](const std::string& file) {
    return tf_format::ForEachEntry(file, [](auto, auto) { return absl::OkStatus(); }).ToString();
  };
  EXPECT_EQ(read(table({{0, 8}})), "OK");
  EXPECT_THAT(read(table({{5000, 4}})), HasSubstr("outside of the file"));
  EXPECT_THAT(read(table({{0, UINT64_MAX}})), HasSubstr("outside of the file"));
  EXPECT_THAT(read(table({{1, 8}})), HasSubstr("wrong checksum"));
  EXPECT_THAT(read(table(std::vector<std::pair<uint64_t, uint64_t>>(10000, {0, 8}))),
              HasSubstr("overlap"));
}

// What a checksum does not keep away: every byte of the blocks and of the entries, changed.
TEST_F(SavedModelTest, ChangedBytesWithRightChecksums) {
  const std::string slices = SliceOf({{0, 1}, {0, -1}}) + SliceOf({{1, 2}, {0, -1}});
  const Entries entries = {
      {"", Int(1, 1)},
      {tf_format::SliceKey("v", {{0, 1}, {0, -1}}),
       Int(1, kFloat) + Bytes(2, ShapeProto({1, 2})) + Int(3, 0) + Int(4, 0) + Int(5, 8)},
      {tf_format::SliceKey("v", {{1, 2}, {0, -1}}),
       Int(1, kFloat) + Bytes(2, ShapeProto({2, 2})) + Int(3, 0) + Int(4, 8) + Int(5, 16)},
      {"v", Int(1, kFloat) + Bytes(2, ShapeProto({3, 2})) + slices}};
  std::string data;
  for (int i = 0; i < 6; ++i) data += Float(static_cast<float>(i));
  for (const bool snappy : {false, true}) {
    const std::string block = TableBlock(entries, snappy);
    const Entries index = {{"~", Varint(0) + Varint(block.size() - 5)}};
    EXPECT_THAT(ValueOfV({TableOf(block, index), {data}}, kFloat, {3, 2}),
                HasSubstr("{0, 1, 2, 3, 4, 5}"));
    for (size_t i = 0; i + 4 < block.size(); ++i) {
      for (const int flip : {1, 2, 64, 128, 255}) {
        std::string changed = block.substr(0, block.size() - 4);
        changed[i] = static_cast<char>(changed[i] ^ flip);
        Put("variables/variables.index", TableOf(changed + Masked(Crc(changed)), index));
        const std::string got = Load();
        EXPECT_THAT(got, Not(HasSubstr("INTERNAL"))) << i;
      }
    }
  }
}

TEST(TensorFlowIndex, Checksums) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);  // as RFC 3720 has it
  EXPECT_EQ(Crc32c(std::string(32, '\000')), 0x8a9136aau);
  EXPECT_EQ(Crc32c("6789", Crc32c("12345")), 0xe3069283u);
  EXPECT_EQ(Crc("123456789"), 0xe3069283u);
}

TEST(TensorFlowIndex, Snappy) {
  const auto read = [](const std::string& bytes) {
    const auto got = tf_format::Unsnapped(bytes);
    return got.ok() ? *got : got.status().ToString();
  };
  const std::string abc = "\010abc";  // as it is
  EXPECT_EQ(read(std::string(1, '\0')), "");
  EXPECT_EQ(read(Varint(3) + abc), "abc");
  // Seven bytes of three back, said in three ways.
  EXPECT_EQ(read(Varint(10) + abc + "\015\003"), "abcabcabca");
  EXPECT_EQ(read(Varint(10) + abc + std::string("\032\003\0", 3)), "abcabcabca");
  EXPECT_EQ(read(Varint(10) + abc + std::string("\033\003\0\0\0", 5)), "abcabcabca");
  // Long ones, whose lengths take a byte, and two.
  EXPECT_EQ(read(Varint(100) + "\360\143" + std::string(100, 'q')), std::string(100, 'q'));
  EXPECT_EQ(read(Varint(300) + "\364\053\001" + std::string(300, 'q')), std::string(300, 'q'));
  for (const std::string& bad :
       {std::string(), std::string("\200"), Varint(4) + abc, Varint(3) + "\010ab", Varint(2) + abc,
        Varint(9) + abc + "\015", Varint(7) + abc + "\001\004",
        Varint(7) + abc + std::string("\001\0", 2), Varint(6) + abc + "\001\003",
        Varint(9) + "\360", Varint(9) + "\374\377\377\377\377", Varint(UINT64_MAX) + abc}) {
    EXPECT_THAT(read(bad), HasSubstr("DATA_LOSS"));
  }
}

}  // namespace
}  // namespace x2ir
