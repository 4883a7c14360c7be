// Graphs written as GraphDefs and SavedModels: names, outputs, functions, variables, folders.
#include <filesystem>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/core/convert_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/io/checksums.h"
#include "x2ir/formats/tensorflow/checkpoint_writer_internal.h"
#include "x2ir/formats/tensorflow/graph_writer_internal.h"
#include "x2ir/formats/tensorflow/sorted_table_internal.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/handlers/tf/signatures.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Strings = std::vector<std::string>;

Model TfModel(std::string_view text) {
  absl::StatusOr<Model> model = ModelFromText(text, "tf", 1);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : Model();
}

std::string Written(const Model& model, const std::string& name = "m.pb") {
  std::string bytes;
  const absl::Status status = WriteTensorFlow(model, Sink::To(&bytes, name));
  return status.ok() ? bytes : StrCat("error: ", std::string(status.message()));
}

// "x, y -> a, b" of the inputs and outputs.
std::string Ports(const absl::StatusOr<Model>& model) {
  if (!model.ok()) return std::string(model.status().message());
  std::string text;
  for (const Value* input : model->graph->inputs()) StrAppend(&text, input->name(), " ");
  text += "->";
  for (const Value* output : model->graph->outputs()) StrAppend(&text, " ", output->name());
  return text;
}

TEST(TensorFlowWriterTest, KeepsInputsAndOutputs) {
  const struct {
    const char* graph;
    const char* ports;
  } rows[] = {
      {"graph g(x: float32[2], y: float32[2]) -> (b, a) { a = tf.Relu(x) { T = type(float32[...]) "
       "}\n"
       "b = tf.Relu(y) { T = type(float32[...]) } }",
       "x y -> b a"},
      // An output that is used, and one of a node with several.
      {"graph g(x: float32[2]) -> (b: float32[2], a) { a: float32[2] = tf.Relu(x) { T = "
       "type(float32[...]) }\n"
       "b = tf.Relu(a) { T = type(float32[...]) } }",
       "x -> b a"},
      {"graph g(x: float32[4]) -> (i: int32[2]) { k = int32[]{2}\nv, i = "
       "tf.TopKV2(x, k) { sorted = 1, T = type(float32[...]) } }",
       "x -> i"},
      // An input that nothing uses; a constant; a node that nothing uses.
      {"graph g(x: float32[2]) -> (c: float32[2]) { c = float32[2]{1, 2}\nd = tf.Relu(x) { T = "
       "type(float32[...]) } "
       "}",
       "x -> c"},
      // Names that TensorFlow does not allow.
      {"graph g(\"/in:0\": float32[2]) -> (\"a b\") { \"a b\" = tf.Relu(\"/in:0\") { T = "
       "type(float32[...]) } }",
       "in_0 -> a_b"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Ports(ParseTensorFlow(Written(TfModel(row.graph)))), row.ports) << row.graph;
  }
}

TEST(TensorFlowWriterTest, SavedModelsKeepAnyNameAndTheOrder) {
  const Model model = TfModel(
      "graph g(\"z:0\": float32[n,2], \"/a\": float32[n,2]) -> (\"y z\", b) {\n"
      "w = float32[2]{1, 2}\n"
      "b: float32[n,2] = tf.AddV2(\"z:0\", w) { T = type(float32[...]) }\n"
      "\"y z\": float32[n,2] = tf.Mul(\"/a\", b) { T = type(float32[...]) } }");
  for (const bool freeze : {false, true}) {
    const MemoryFiles files = std::make_shared<std::map<std::string, std::string>>();
    ASSERT_TRUE(WriteTensorFlow(model, IntoMemory("s", files), {.freeze = freeze}).ok());
    EXPECT_EQ(files->size(), freeze ? 1u : 3u);
    const absl::StatusOr<Model> read = ReadTensorFlow(FromMemory("s/", "saved_model.pb", files));
    EXPECT_EQ(Ports(read), "z:0 /a -> y z b");
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->graph->inputs()[0]->type().ToString(), "float32[?,2]");
  }
  const MemoryFiles files = std::make_shared<std::map<std::string, std::string>>();
  ASSERT_TRUE(WriteTensorFlow(model, IntoMemory("s", files), {.signature = "mine"}).ok());
  const auto named = [&](const char* name) {
    return Ports(ReadTensorFlow(FromMemory("s/", "saved_model.pb", files), {.signature = name}));
  };
  EXPECT_EQ(named("mine"), "z:0 /a -> y z b");
  EXPECT_THAT(named("serving_default"), HasSubstr("it has mine"));
}

TEST(TensorFlowWriterTest, TextIsTheSameGraph) {
  const Model model = TfModel(
      "graph g(x: float32[?,4]) -> (y) { w = float32[4,2]{1, 2, 3, 4, 5, 6, 7, 0.1}\n"
      "y = tf.MatMul(x, w) { transpose_a = 0, transpose_b = 0, T = type(float32[...]) } }");
  const std::string text = Written(model, "m.pbtxt");
  EXPECT_THAT(text, HasSubstr("op: \"MatMul\""));
  EXPECT_THAT(text, HasSubstr("b: false"));
  const auto again = ParseTensorFlow(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Written(*again), Written(model));
}

// What a row's graph of the IR computes is what the graph that was written computes.
TEST(TensorFlowWriterTest, BranchesAndLoopsAreFunctions) {
  std::string weights;
  for (int i = 0; i < 400; ++i) StrAppend(&weights, i ? ", " : "", i % 5);
  const struct {
    std::string graph;
    std::vector<Tensor> inputs;
    const char* op;
  } rows[] = {
      {"graph g(c: bool[], x: float32[2]) -> (y) { y = if(c) {\n"
       "then_branch = graph t() -> (a) { a = relu(x) },\n"
       "else_branch = graph e() -> (b) { k = float32[]{3}\nb = add(x, k) } } }",
       {Tensor::Scalar<bool>(false), Tensor::Of<float>({2}, {-1, 2})},
       "StatelessIf"},
      // Draws numbers: it may not be left out or run twice.
      {"graph g(c: bool[], x: float32[2]) -> (y) { y = if(c) {\n"
       "then_branch = graph t() -> (a) { s = int64[1]{2}\na = random_uniform(s) { low = 0., high = "
       "1., dtype = \"float32\" } },\n"
       "else_branch = graph e() -> (b) { b = relu(x) } } }",
       {Tensor::Scalar<bool>(false), Tensor::Of<float>({2}, {-1, 2})},
       "\"If\""},
      // A number of rounds, with a stack; a large weight from outside of two graphs.
      {StrCat("graph g(n: int64[], x: float32[400]) -> (v, s) { w = float32[400]{", weights,
              "}\nv, s = loop(n, _, x) { body = graph b(i: int64[], c: bool[], p: float32[400]) -> "
              "(d, q, r) {\nd = identity(c)\nq = add(p, w)\nr = if(d) {\nthen_branch = graph t() "
              "-> (a) { a = mul(q, w) },\nelse_branch = graph e() -> (z) { z = relu(p) } } } } }"),
       {Tensor::Scalar<int64_t>(3), Tensor::Zeros(DType::kFloat32, {400})},
       "StatelessWhile"},
      // A condition, which ends the loop before the number does; a stack that grows.
      {"graph g(x: float32[1]) -> (v, s) { n = int64[]{9}\nt = bool[]{true}\nm = float32[1]{4}\n"
       "v, s = loop(n, t, x) { body = graph b(i: int64[], c: bool[], p: float32[1]) -> (d, q, r) "
       "{\nq = add(p, p)\nl = less(q, m)\ne = int64[0]{}\nd = reshape(l, e) { allowzero = 0 }\nr = "
       "identity(p) } } }",
       {Tensor::Of<float>({1}, {1})},
       "TensorListPushBack"},
      // Sizes that change from round to round.
      {"graph g(n: int64[], x: float32[?]) -> (v) {\n"
       "v = loop(n, _, x) { body = graph b(i: int64[], c: bool[], p: float32[?]) -> (d, q) {\nd = "
       "identity(c)\nq = concat(p, x) { axis = 0 } } } }",
       {Tensor::Scalar<int64_t>(2), Tensor::Of<float>({2}, {1, 2})},
       "size: -1"},
  };
  for (const auto& row : rows) {
    absl::StatusOr<Model> ir = ModelFromText(row.graph, "", 0);
    ASSERT_TRUE(ir.ok()) << ir.status() << row.graph;
    std::string text;
    const ThroughFile file = [&](const Model& written) -> absl::StatusOr<Model> {
      text = Written(written, "m.pbtxt");
      return ParseTensorFlow(Written(written));
    };
    const Back back = ThereAndBack(*ir, "tf", {row.inputs}, false, file);
    EXPECT_EQ(back.problem, "") << row.graph;
    EXPECT_THAT(text, HasSubstr(row.op)) << row.graph;
  }
}

TEST(TensorFlowWriterTest, SeedsComeBack) {
  const std::string graph =
      "graph g(x: int64[1]) -> (y) { y = random_uniform(x) { low = 0., high = 1., dtype = "
      "\"float32\", seed = 7.5 } }";
  absl::StatusOr<Model> ir = ModelFromText(graph, "", 0);
  ASSERT_TRUE(ir.ok()) << ir.status();
  const Back back = ThereAndBack(*ir, "tf", {{Tensor::Vector({5})}}, false,
                                 [](const Model& m) { return ParseTensorFlow(Written(m)); });
  EXPECT_EQ(back.problem, "");
}

TEST(TensorFlowWriterTest, SaysWhatAFileCannotHold) {
  const struct {
    const char* graph;
    const char* message;
  } rows[] = {
      {"graph g(x: float32[2]) -> (y) { y = tf.Relu(x) { surprise = 1 } }",
       "whether attribute 'surprise' is an integer or a truth value"},
      {"graph g(x: int4[2]) -> (y) { y = tf.Identity(x) { T = type(int4[...]) } }",
       "TensorFlow has no values of type int4"},
      {"graph g(x: ?) -> (y) { y = tf.Identity(x) }", "input 'x'"},
      {"graph g(x: float32[2]) -> (y) { y = relu(x) }", "an op of the IR cannot be written"},
      {"graph g(x: float32[2] = float32[2]{1, 2}) -> (y) { y = tf.Relu(x) { T = type(float32[...]) "
       "} }",
       "input 'x' has a default"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Written(TfModel(row.graph)), HasSubstr(row.message)) << row.graph;
  }
  // The size is known before a weight is made.
  Model large = TfModel(
      "graph g(x: float32[1]) -> (y: float32[?]) { y = tf.AddV2(x, x) { T = type(float32[...]) } "
      "}");
  const auto fail = [](int64_t, int64_t, std::byte*) { ADD_FAILURE() << "it is made"; };
  constexpr int64_t kCount = int64_t{3} << 28;
  Value* w =
      large.graph->AddConstant("w", Tensor::Made(DType::kFloat32, {kCount}, {kCount, 4, fail}));
  large.graph->first()->SetInput(1, w);
  EXPECT_THAT(Written(large), HasSubstr("a SavedModel, which has its weights in a file"));
  std::string none;
  const auto discard = [](std::string_view, std::string_view) { return absl::OkStatus(); };
  EXPECT_THAT(
      std::string(WriteTensorFlow(large, Sink::Files("s", discard), {.freeze = true}).message()),
      HasSubstr("without freeze"));
}

// --- What is known of the ops that are written --------------------------------------------------

TEST(TensorFlowWriterTest, KnowsTheAttributesAndResultsOfAllOps) {
  // Neither integers nor truth values.
  const std::set<std::string_view> others = {"DstT",
                                             "Targmax",
                                             "alpha",
                                             "beta",
                                             "bias",
                                             "body",
                                             "cond",
                                             "data_format",
                                             "dilations",
                                             "dtype",
                                             "else_branch",
                                             "element_dtype",
                                             "epsilon",
                                             "equation",
                                             "explicit_paddings",
                                             "exponential_avg_factor",
                                             "ksize",
                                             "mode",
                                             "out_type",
                                             "output_dtype",
                                             "output_type",
                                             "padding",
                                             "separator",
                                             "squeeze_dims",
                                             "strides",
                                             "then_branch",
                                             "type"};
  ASSERT_FALSE(AllTfSignatures().empty());
  for (const TfSignature& signature : AllTfSignatures()) {
    EXPECT_TRUE(tf_format::OutputInFunction("n", signature.op, 0).ok())
        << signature.op << ": x2ir/formats/tensorflow/ops.cc lacks what its output is called";
    for (size_t at = 0; at < signature.attrs.size();) {
      const size_t end = std::min(signature.attrs.find(' ', at), signature.attrs.size());
      const std::string_view attr = signature.attrs.substr(at, end - at);
      at = end + 1;
      WireWriter out;
      EXPECT_NE(tf_format::WriteNodeAttr(out, attr, int64_t{1}).ok(), others.contains(attr))
          << attr << ": x2ir/formats/tensorflow/graph_parts.cc says whether it is an integer or a "
          << "truth value, this test that it is neither";
    }
  }
}

// --- Checkpoints --------------------------------------------------------------------------------

TEST(TensorFlowWriterTest, ChecksumsAreCrc32c) {
  // RFC 3720, B.4, and the check value of the polynomial.
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending.push_back(static_cast<char>(i));
  const struct {
    std::string bytes;
    uint32_t crc;
  } rows[] = {{"", 0},
              {"123456789", 0xe3069283},
              {std::string(32, '\0'), 0x8a9136aa},
              {std::string(32, '\xff'), 0x62a8ab43},
              {ascending, 0x46dd794e}};
  for (const auto& row : rows) {
    EXPECT_EQ(Crc32c(row.bytes), row.crc);
    EXPECT_EQ(Crc32cPlain(row.bytes), row.crc);
    for (size_t cut = 0; cut <= row.bytes.size(); ++cut) {  // in two parts, at any place
      const std::string_view bytes = row.bytes;
      EXPECT_EQ(Crc32c(bytes.substr(cut), Crc32c(bytes.substr(0, cut))), row.crc);
    }
  }
}

TEST(TensorFlowWriterTest, TablesOfManyBlocksAreRead) {
  for (const int count : {0, 1, 16, 17, 1000, 20000}) {
    std::map<std::string, std::string> entries;
    for (int i = 0; i < count; ++i) {
      entries.emplace(StrCat("layer_", i % 97, "/weight_", i), std::string(i % 130, 'v'));
    }
    auto expected = entries.begin();
    const absl::Status status = tf_format::ForEachEntry(
        tf_format::SortedTable(entries), [&](std::string_view key, std::string_view value) {
          EXPECT_TRUE(expected != entries.end() && key == expected->first &&
                      value == expected->second);
          ++expected;
          return absl::OkStatus();
        });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(expected == entries.end());
  }
}

// --- Folders ------------------------------------------------------------------------------------

class SavedModelFolderTest : public TempDirTest {
 protected:
  const Model model_ = TfModel(
      "graph g(x: float32[2]) -> (y) { w = float32[2]{1, 2}\n"
      "y: float32[2] = tf.AddV2(x, w) { T = type(float32[...]) } }");
  Strings FilesOf(const std::string& folder) const {
    Strings files;
    for (const auto& entry : fs::recursive_directory_iterator(Path(folder))) {
      if (!entry.is_directory()) files.push_back(fs::relative(entry.path(), Path(folder)).string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
};

TEST_F(SavedModelFolderTest, AppearsWholeAndReplacesOnlySavedModels) {
  const Strings all = {"saved_model.pb", "variables/variables.data-00000-of-00001",
                       "variables/variables.index"};
  ASSERT_TRUE(WriteTensorFlow(model_, Path("new")).ok());
  EXPECT_EQ(FilesOf("new"), all);
  EXPECT_EQ(Ports(ReadTensorFlow(Source(Path("new")))), "x -> y");
  // Another one: what told of the old one goes, what it had of variables too.
  Put("new/fingerprint.pb", "old");
  Put("new/assets/notes", "mine");
  ASSERT_TRUE(WriteTensorFlow(model_, Path("new"), {.freeze = true}).ok());
  EXPECT_EQ(FilesOf("new"), (Strings{"assets/notes", "saved_model.pb"}));
  EXPECT_EQ(Ports(ReadTensorFlow(Source(Path("new")))), "x -> y");
  // A folder of somebody else.
  Put("other/notes", "mine");
  const absl::Status refused = WriteTensorFlow(model_, Path("other"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kAlreadyExists) << refused;
  EXPECT_EQ(FilesOf("other"), Strings{"notes"});
  ASSERT_TRUE(WriteTensorFlow(model_, Path("other"), {.force = true}).ok());
  EXPECT_EQ(FilesOf("other").size(), 4u);
  // What cannot be written leaves nothing.
  const Model bad = TfModel("graph g(x: float32[2]) -> (y) { y = relu(x) }");
  EXPECT_FALSE(WriteTensorFlow(bad, Path("bad")).ok());
  EXPECT_FALSE(fs::exists(Path("bad")));
}

}  // namespace
}  // namespace x2ir
