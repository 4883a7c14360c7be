// Core ML's models as apps want them: images, labels, deployment targets, metadata. What is written
// is decoded by the table of fields (coreml_proto_util.h) and compared with what coremltools writes
// for ImageType and ClassifierConfig.
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/core/convert_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/coreml_proto_util.h"
#include "tests/optimizer/transpose_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/formats/coreml/targets.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing_util::DecodeCoreml;
using testing_util::EncodeCoreml;

constexpr char kInPackage[] = "x.mlpackage/Data/com.apple.CoreML/";

struct Package {
  absl::Status status{};
  MemoryFiles files = std::make_shared<std::map<std::string, std::string>>();
  json model{};  // Model, decoded

  const json& description() const { return model["description"]; }
  json operations() const {
    const json& function = model["mlProgram"]["functions"][0]["value"];
    return function["block_specializations"][0]["value"]["operations"];
  }
  // "mul(x=x, y=x_scale) -> x_scaled" of each operation but constants, a line each.
  std::string Lines() const {
    std::string lines;
    for (const json& op : operations()) {
      if (op["type"] == "const") continue;
      std::string line = StrCat(op["type"].get<std::string>(), "(");
      for (const json& input : op["inputs"]) {
        const json& argument = input["value"]["arguments"][0];
        if (!line.ends_with('(')) line += ", ";
        StrAppend(&line, input["key"].get<std::string>(), "=",
                  argument.contains("name") ? argument["name"].get<std::string>() : "...");
      }
      line += ") ->";
      for (const json& output : op["outputs"]) {
        StrAppend(&line, " ", output["name"].get<std::string>());
      }
      StrAppend(&lines, line, "\n");
    }
    return lines;
  }
  json Operation(std::string_view type) const {
    for (const json& op : operations()) {
      if (op["type"] == type) return op;
    }
    return nullptr;
  }
  absl::StatusOr<Model> Again() const {
    return Import(FromMemory(kInPackage, "model.mlmodel", files), {.format = "coreml"});
  }
};

Package Written(Model model, const FormatOptions& options = {}, ExportOptions more = {}) {
  Package package;
  more.format = "coreml";
  more.format_options = options;
  package.status = Export(std::move(model), IntoMemory("x.mlpackage", package.files), more);
  if (package.status.ok()) {
    package.model = DecodeCoreml("Model", (*package.files)[StrCat(kInPackage, "model.mlmodel")]);
  }
  return package;
}

Package Written(std::string_view ir_text, const FormatOptions& options = {},
                ExportOptions more = {}) {
  absl::StatusOr<Model> model = ModelFromText(ir_text, "", 0);
  if (!model.ok()) return {.status = model.status()};
  SetDefaults(*model->graph);
  return Written(*std::move(model), options, std::move(more));
}

// An ONNX graph, through IR.
Package FromOnnx(std::string_view text, ExportOptions more = {}) {
  absl::StatusOr<Model> model = ModelFromText(text, "onnx", 17, {{"ai.onnx.ml", 3}});
  if (model.ok()) model = ToIr(*std::move(model));
  if (!model.ok()) return {.status = model.status()};
  return Written(*std::move(model), {}, std::move(more));
}

std::string NoteOf(const Value& value, const char* key) {
  const Annotations* notes = value.annotations().get();
  const auto it = notes ? notes->extra.find(key) : decltype(notes->extra.end()){};
  return notes && it != notes->extra.end() ? it->second : "";
}

// "y: float32[2], z: string[1]" of a model's outputs.
std::string OutputsOf(const Model& model) {
  std::string text;
  for (const Value* output : model.graph->outputs()) {
    StrAppend(&text, text.empty() ? "" : ", ", output->name(), ": ", output->type().ToString());
  }
  return text;
}

std::vector<double> Numbers(const Tensor& tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) numbers.push_back(tensor.AsDouble(i));
  return numbers;
}

absl::StatusOr<std::vector<Datum>> RunOn(const Model& model, const Tensor& input) {
  return RunGraph(*model.graph, {Datum(input)});
}

constexpr char kRelu[] = "graph g(x: float32[1,3,1,2]) -> (y: float32[1,3,1,2]) { y = relu(x) }";
using Texts = std::vector<std::string>;

// --- Images --------------------------------------------------------------------------------------

TEST(CoremlImages, LayoutsOfColours) {
  const struct {
    const char* type;
    const char* image;
    json want;
  } rows[] = {
      {"float32[1,3,4,5]", "x", {{"width", 5}, {"height", 4}, {"colorSpace", "RGB"}}},
      {"float32[1,3,4,5]", "x:BGR", {{"width", 5}, {"height", 4}, {"colorSpace", "BGR"}}},
      {"float32[1,1,4,5]", "x", {{"width", 5}, {"height", 4}, {"colorSpace", "GRAYSCALE"}}},
      {"float16[1,1,4,5]",
       "x:GRAYSCALE_FLOAT16",
       {{"width", 5}, {"height", 4}, {"colorSpace", "GRAYSCALE_FLOAT16"}}},
      {"float32[1,3,h,5]",
       "x:RGB",
       {{"width", 5},
        {"height", 1},
        {"colorSpace", "RGB"},
        {"imageSizeRange",
         {{"widthRange", {{"lowerBound", 5}, {"upperBound", 5}}},
          {"heightRange", {{"lowerBound", 1}, {"upperBound", -1}}}}}}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(StrCat(row.type, " ", row.image));
    const Package package =
        Written(StrCat("graph g(x: ", row.type, ") -> (y: ", row.type, ") { y = relu(x) }"),
                {{"image", Texts{row.image}}});
    ASSERT_TRUE(package.status.ok()) << package.status;
    EXPECT_EQ(package.description()["input"],
              json::array({{{"name", "x"}, {"type", {{"imageType", row.want}}}}}));
    // As coremltools has them, they are tensors in the program.
    const json& input = package.model["mlProgram"]["functions"][0]["value"]["inputs"][0];
    EXPECT_EQ(input["type"]["tensorType"]["dataType"],
              std::string_view(row.image).ends_with("16") ? "FLOAT16" : "FLOAT32");
    EXPECT_EQ(package.model["specificationVersion"], 7);
    const absl::StatusOr<Model> again = package.Again();
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(NoteOf(*again->graph->inputs()[0], coreml::kImage), row.want["colorSpace"]);
    // Without the option: an image stays one.
    const Package once_more = Written(again->Clone());
    ASSERT_TRUE(once_more.status.ok()) << once_more.status;
    EXPECT_EQ(once_more.description()["input"], package.description()["input"]);
  }
}

TEST(CoremlImages, ScaleAndBias) {
  const Tensor pixels = Tensor::Of<float>({1, 3, 1, 2}, std::vector<float>{0, 255, 1, 2, 100, 50});
  const struct {
    FormatOptions options;
    const char* lines;
    std::vector<double> want;
  } rows[] = {
      {{{"image", Texts{"x"}}}, "relu(x=x) -> y\n", {0, 255, 1, 2, 100, 50}},
      {{{"image", Texts{"x"}}, {"image_scale", Texts{"0.5"}}},
       "mul(x=x, y=x_scale) -> x_scaled\nrelu(x=x_scaled) -> y\n",
       {0, 127.5, 0.5, 1, 50, 25}},
      {{{"image", Texts{"x:BGR"}}, {"image_bias", Texts{"1", "-2", "0.25"}}},
       "add(x=x, y=x_bias) -> x_biased\nrelu(x=x_biased) -> y\n",
       {1, 256, 0, 0, 100.25, 50.25}},
      {{{"image", Texts{"x"}}, {"image_scale", Texts{"x:0.5"}}, {"image_bias", Texts{"x:-1"}}},
       "mul(x=x, y=x_scale) -> x_scaled\nadd(x=x_scaled, y=x_bias) -> x_biased\n"
       "relu(x=x_biased) -> y\n",
       {0, 126.5, 0, 0, 49, 24}},
      {{{"image", Texts{"x"}}, {"image_scale", Texts{"0.5"}}, {"float16", true}},
       "mul(x=x, y=x_scale) -> x_scaled\ncast(x=x_scaled, dtype=x_cast_dtype) -> x_cast\n"
       "relu(x=x_cast) -> y_out\ncast(x=y_out, dtype=y_dtype) -> y\n",
       {0, 127.5, 0.5, 1, 50, 25}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.lines);
    const Package package = Written(kRelu, row.options);
    ASSERT_TRUE(package.status.ok()) << package.status;
    EXPECT_EQ(package.Lines(), row.lines);
    const absl::StatusOr<Model> again = package.Again();
    ASSERT_TRUE(again.ok()) << again.status();
    const auto results = RunOn(*again, pixels);
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(Numbers(*(*results)[0].tensor()), row.want);
  }
}

// Of several inputs each has its own.
TEST(CoremlImages, SeveralInputs) {
  const Package package = Written(
      "graph g(a: float32[1,3,2,2], n: float32[1,3,2,2], \"b:0\": float32[1,1,2,2]) -> (y) {"
      " s = add(a, n) y = mul(s, \"b:0\") }",
      {{"image", Texts{"a:BGR", "b:0"}},
       {"image_scale", Texts{"0.5", "b:0:2"}},
       {"image_bias", Texts{"a:1", "2", "3"}}});
  EXPECT_THAT(std::string(package.status.message()), HasSubstr("has two scales"));
  const Package other = Written(
      "graph g(a: float32[1,3,2,2], n: float32[1,3,2,2], \"b:0\": float32[1,1,2,2]) -> (y) {"
      " s = add(a, n) y = mul(s, \"b:0\") }",
      {{"image", Texts{"a:BGR", "b:0"}},
       {"image_scale", Texts{"b:0:2"}},
       {"image_bias", Texts{"a:1", "2", "3", "b:0:4"}}});
  ASSERT_TRUE(other.status.ok()) << other.status;
  EXPECT_EQ(other.Lines(),
            "mul(x=b_0, y=b_0_scale) -> b_0_scaled\nadd(x=b_0_scaled, y=b_0_bias) -> b_0_biased\n"
            "add(x=a, y=a_bias) -> a_biased\nadd(x=a_biased, y=n) -> s\n"
            "mul(x=s, y=b_0_biased) -> y\n");
  EXPECT_TRUE(other.description()["input"][1]["type"].contains("multiArrayType"));
}

TEST(CoremlImages, InputsThatAreNoImages) {
  const struct {
    const char* type;
    FormatOptions options;
    const char* problem;
  } rows[] = {
      {"int64[1,3,2,2]", {{"image", Texts{"x"}}}, "is int64[1,3,2,2]; an image of RGB is float32"},
      {"float32[1,4,2,2]", {{"image", Texts{"x"}}}, "float32[1,3,height,width]"},
      {"float32[3,2,2]", {{"image", Texts{"x"}}}, "is float32[3,2,2]"},
      {"float32[1,3,2,2]",
       {{"image", Texts{"x:GRAYSCALE"}}},
       "an image of GRAYSCALE is float32[1,1,height,width]"},
      {"float32[n,3,2,2]", {{"image", Texts{"x"}}}, "option 'shapes' x:1,3,2,2 makes it one image"},
      {"float32[1,2,2,3]",
       {{"image", Texts{"x"}}},
       "option 'inputs_as_nchw' x makes it channels first"},
      {"float32[1,3,2,2]", {{"image", Texts{"image"}}}, "there is no input 'image'; inputs are: x"},
      {"float32[1,3,2,2]", {{"image", Texts{"x:YUV"}}}, "no layout of colours 'YUV'"},
      {"float32[1,3,2,2]", {{"image", Texts{"x", "x"}}}, "'x' is given twice"},
      {"float32[1,3,2,2]", {{"image_scale", Texts{"2"}}}, "needs option 'image'"},
      {"float32[1,3,2,2]", {{"image_bias", Texts{"x:2"}}}, "input 'x' is no image"},
      {"float32[1,3,2,2]",
       {{"image", Texts{"x"}}, {"image_scale", Texts{"half"}}},
       "'half': expected a number"},
      {"float32[1,3,2,2]",
       {{"image", Texts{"x"}}, {"image_scale", Texts{"0"}}},
       "0 leaves nothing of 'x'"},
      {"float32[1,3,2,2]",
       {{"image", Texts{"x"}}, {"image_bias", Texts{"1", "2"}}},
       "2 numbers for 'x', which has 3 channels"},
  };
  for (const auto& row : rows) {
    const Package package =
        Written(StrCat("graph g(x: ", row.type, ") -> (y) { y = neg(x) }"), row.options);
    EXPECT_THAT(std::string(package.status.message()), HasSubstr(row.problem)) << row.type;
    EXPECT_TRUE(package.files->empty());
  }
}

// --- Classifiers ---------------------------------------------------------------------------------

class CoremlLabels : public TempDirTest {
 protected:
  std::string Put(std::string_view lines, const std::string& name = "labels.txt") {
    return TempDirTest::Put(name, lines);
  }
};

json LabelFeatures(const std::string& label, const std::string& dictionary, bool ints = false) {
  const char* const type = ints ? "int64Type" : "stringType";
  const char* const key = ints ? "int64KeyType" : "stringKeyType";
  return json::array(
      {{{"name", label}, {"type", {{type, json::object()}}}},
       {{"name", dictionary}, {"type", {{"dictionaryType", {{key, json::object()}}}}}}});
}

json ScalarType(const std::string& type) { return {{"tensorType", {{"dataType", type}}}}; }

// A list of labels as coremltools writes it: a value in the argument's place.
json ListOf(const std::vector<json>& labels) {
  const bool ints = labels[0].is_number();
  const std::string type = ints ? "INT64" : "STRING";
  json values = json::array();
  for (const json& label : labels) {
    const json tensor = {{ints ? "longInts" : "strings", {{"values", json::array({label})}}}};
    values.push_back({{"type", ScalarType(type)}, {"immediateValue", {{"tensor", tensor}}}});
  }
  return {{"type",
           {{"listType",
             {{"type", ScalarType(type)}, {"length", {{"constant", {{"size", labels.size()}}}}}}}}},
          {"immediateValue", {{"list", {{"values", values}}}}}};
}

json ClassesOf(const Package& package) {
  const json classify = package.Operation("classify");
  for (const json& input : classify["inputs"]) {
    if (input["key"] == "classes") return input["value"]["arguments"][0]["value"];
  }
  return nullptr;
}

constexpr char kSoftmax[] = "graph g(x: float32[1,3]) -> (p: float32[1,3]) { p = softmax(x) }";

TEST_F(CoremlLabels, AsCoremltoolsWritesThem) {
  const Package package = Written(kSoftmax, {{"labels", Put("cat\ndog, or wolf\r\ncaf\xc3\xa9")}});
  ASSERT_TRUE(package.status.ok()) << package.status;
  EXPECT_EQ(package.Lines(),
            "softmax(x=x, axis=p_axis) -> p\n"
            "classify(probabilities=p, classes=...) -> classLabel classLabel_probs\n");
  const json& description = package.description();
  EXPECT_EQ(description["output"], LabelFeatures("classLabel", "classLabel_probs"));
  EXPECT_EQ(description["predictedFeatureName"], "classLabel");
  EXPECT_EQ(description["predictedProbabilitiesName"], "classLabel_probs");
  EXPECT_EQ(ClassesOf(package), ListOf({"cat", "dog, or wolf", "caf\xc3\xa9"}));
  const json dictionary = {
      {"dictionaryType",
       {{"keyType", ScalarType("STRING")}, {"valueType", ScalarType("FLOAT64")}}}};
  EXPECT_EQ(package.Operation("classify")["outputs"],
            json::array({{{"name", "classLabel"}, {"type", ScalarType("STRING")}},
                         {{"name", "classLabel_probs"}, {"type", dictionary}}}));

  const absl::StatusOr<Model> again = package.Again();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(OutputsOf(*again), "classLabel: string[1], classLabel_probs: float32[3]");
  const auto results = RunOn(*again, Tensor::Of<float>({1, 3}, std::vector<float>{0, 3, 1}));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].tensor()->strings()[0], "dog, or wolf");
  EXPECT_NEAR((*results)[1].tensor()->AsDouble(1), 0.8437947, 1e-6);
  // And again.
  const Package once_more = Written(again->Clone());
  ASSERT_TRUE(once_more.status.ok()) << once_more.status;
  EXPECT_EQ(once_more.description()["output"], description["output"]);
  EXPECT_EQ(ClassesOf(once_more), ClassesOf(package));
}

TEST_F(CoremlLabels, Integers) {
  const Package package =
      Written(kSoftmax, {{"labels", Put("7\n-1\n5000000000\n")}, {"label_name", "digit"}});
  ASSERT_TRUE(package.status.ok()) << package.status;
  EXPECT_EQ(package.description()["output"], LabelFeatures("digit", "digit_probs", true));
  EXPECT_EQ(ClassesOf(package), ListOf({7, -1, 5000000000}));
  const absl::StatusOr<Model> again = package.Again();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(OutputsOf(*again), "digit: int64[1], digit_probs: float32[3]");
  const auto results = RunOn(*again, Tensor::Of<float>({1, 3}, std::vector<float>{0, 1, 3}));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].tensor()->AsInt(0), 5000000000);
  const Package once_more = Written(again->Clone());
  ASSERT_TRUE(once_more.status.ok()) << once_more.status;
  EXPECT_EQ(once_more.description()["output"], package.description()["output"]);
  EXPECT_EQ(ClassesOf(once_more), ClassesOf(package));
}

TEST_F(CoremlLabels, WhichOutput) {
  const std::string labels = Put("a\nb\nc\n"), two = Put("a\nb\n", "two.txt");
  constexpr char kTwo[] =
      "graph g(x: float32[1,3]) -> (l: float32[1,3], n: float32[1,2], p: float32[1,3]) {"
      " l = neg(x) p = softmax(x) t = int64[1,2]{0, 1} i = int64[2]{0, 1} n = gather(x, i) "
      "{ axis = 1 } }";
  const Package named = Written(kTwo, {{"labels", labels}, {"probabilities", "p"}});
  ASSERT_TRUE(named.status.ok()) << named.status;
  json want = LabelFeatures("classLabel", "classLabel_probs");
  ASSERT_EQ(named.description()["output"].size(), 4u);
  EXPECT_EQ(named.description()["output"][0], want[0]);
  EXPECT_EQ(named.description()["output"][1], want[1]);
  EXPECT_EQ(named.description()["output"][2]["name"], "l");
  EXPECT_EQ(named.description()["output"][3]["name"], "n");
  // float16: classify takes float32.
  const Package half = Written(kSoftmax, {{"labels", labels}, {"float16", true}});
  ASSERT_TRUE(half.status.ok()) << half.status;
  EXPECT_THAT(half.Lines(), HasSubstr("classify(probabilities=p, classes=...)"));
  const json last = half.operations().back();
  EXPECT_EQ(last["type"], "classify");  // the last one, as coremltools has it
  for (const json& op : half.operations()) {
    if (op["outputs"][0]["name"] != "p") continue;
    EXPECT_EQ(op["type"], "cast");
    EXPECT_EQ(op["outputs"][0]["type"]["tensorType"]["dataType"], "FLOAT32");
  }

  const struct {
    const char* graph;
    FormatOptions options;
    const char* problem;
  } rows[] = {
      {kTwo, {{"labels", labels}}, "2 outputs of floats whose last size is that"},
      {kTwo, {{"labels", labels}, {"probabilities", "q"}}, "there is no output 'q'"},
      {kTwo, {{"labels", labels}, {"probabilities", "n"}}, "not one probability for each of 3"},
      {kSoftmax, {{"labels", two}}, "2 labels, and no output of floats"},
      {kSoftmax, {{"label_name", "x"}}, "needs option 'labels'"},
      {kSoftmax, {{"probabilities", "p"}}, "needs option 'labels'"},
      {"graph g(x: float32[n,2]) -> (p: float32[n,2]) { p = softmax(x) }",
       {{"labels", two}},
       "option 'shapes' says the sizes of inputs"},
      {"graph g(x: float32[1,2]) -> (x_probs: float32[1,2]) { x_probs = softmax(x) }",
       {{"labels", two}, {"label_name", "x"}},
       "the model has 'x' already, as an input"},
  };
  for (const auto& row : rows) {
    const Package package = Written(row.graph, row.options);
    EXPECT_THAT(std::string(package.status.message()), HasSubstr(row.problem));
  }
}

TEST_F(CoremlLabels, BrokenFiles) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "it has no labels"},
      {"a\n\nb\n", "line 2 has no label"},
      {"a\nb\na\n", "lines 1 and 3 have the same label 'a'"},
      {"a\n\xff\nb\n", "no text in UTF-8"},
  };
  for (const auto& [lines, problem] : rows) {
    const Package package = Written(kSoftmax, {{"labels", Put(lines)}});
    EXPECT_THAT(std::string(package.status.message()), HasSubstr(problem));
  }
  const Package package = Written(kSoftmax, {{"labels", Path("nowhere.txt")}});
  EXPECT_THAT(std::string(package.status.message()), HasSubstr("nowhere.txt"));
}

// Graphs of ONNX that say labels become classifiers, with the names that they have, and are the
// same graphs when they are read again.
TEST(CoremlClassifiers, OfOnnx) {
  const std::string table = "t = string[3]{\"a\", \"b\", \"c\"} ";
  const struct {
    std::string graph;
    std::string lines;    // of the program
    std::string outputs;  // when it is read again
  } rows[] = {
      {"graph g(x: float32[1,3]) -> (label: string[1], p: float32[1,3]) { " + table +
           "p = onnx.Softmax(x) i = onnx.ArgMax(p) { axis = 1, keepdims = 0 } "
           "label = onnx.Gather(t, i) }",
       "-> p_1\nclassify(probabilities=p_1, classes=...) -> label p\n",
       "label: string[1], p: float32[1,3]"},
      // The label of the greatest score is that of the greatest of their softmax.
      {"graph g(x: float32[1,3]) -> (p: float32[1,3], label: string[1,1]) { " + table +
           "s = onnx.Neg(x) p = onnx.Softmax(s) i = onnx.ArgMax(s) { axis = -1 } "
           "label = onnx.ai.onnx.ml::ArrayFeatureExtractor(t, i) }",
       "classify(", "p: float32[1,3], label: string[1,1]"},
      {"graph g(x: float32[3]) -> (label: string[]) { " + table +
           "n = onnx.Neg(x) i = onnx.ArgMax(n) { keepdims = 0 } label = onnx.Gather(t, i) }",
       "classify(", "label: string[]"},
      {"graph g(x: float32[1,3,1,1]) -> (label: string[1], p: float32[3]) { s = int64[1]{-1} "
       "n = onnx.Neg(x) p = onnx.Reshape(n, s) i = onnx.ArgMax(n) { axis = 1, keepdims = 1 } "
       "j = onnx.Reshape(i, s) label = onnx.ai.onnx.ml::LabelEncoder(j) "
       "{ keys_int64s = [2, 0, 1], values_strings = [\"c\", \"a\", \"b\"] } }",
       "classify(", "label: string[1], p: float32[3]"},
      {"graph g(x: float32[1,3]) -> (label: string[1], z) { " + table +
           "p = onnx.Softmax(x) i = onnx.ArgMax(p) { axis = 1, keepdims = 0 } "
           "label = onnx.Gather(t, i) z = onnx.ai.onnx.ml::ZipMap(p) "
           "{ classlabels_strings = [\"a\", \"b\", \"c\"] } }",
       "classify(", "label: string[1], z: float32[3]"},
  };
  for (const auto& row : rows) {
    for (const bool optimize : {true, false}) {
      SCOPED_TRACE(StrCat(row.graph, optimize ? "" : " without passes"));
      const Package package = FromOnnx(row.graph, {.optimize = optimize});
      ASSERT_TRUE(package.status.ok()) << package.status;
      EXPECT_THAT(package.Lines(),
                  HasSubstr(row.lines.ends_with("\n") && optimize ? row.lines : "classify("));
      EXPECT_EQ(ClassesOf(package), ListOf({"a", "b", "c"}));
      EXPECT_EQ(package.description()["predictedFeatureName"], "label");
      EXPECT_THAT(package.Lines(), testing::Not(HasSubstr("reduce_argmax")));
      const absl::StatusOr<Model> again = package.Again();
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_EQ(OutputsOf(*again), row.outputs);
      const Package once_more = Written(again->Clone());
      ASSERT_TRUE(once_more.status.ok()) << once_more.status;
      EXPECT_EQ(once_more.description()["output"], package.description()["output"]);
    }
  }
}

TEST(CoremlClassifiers, GraphsThatAreNoClassifiers) {
  const std::pair<const char*, const char*> rows[] = {
      // Two images, another table, a smallest one, labels that are computed.
      {"graph g(x: float32[2,3]) -> (label: string[2]) { t = string[3]{\"a\", \"b\", \"c\"} "
       "i = onnx.ArgMax(x) { axis = 1, keepdims = 0 } label = onnx.Gather(t, i) }",
       "output 'label' string[2]: strings are a program's output only as the one label"},
      {"graph g(x: float32[1,3]) -> (label: string[1]) { t = string[2]{\"a\", \"b\"} "
       "i = onnx.ArgMax(x) { axis = 1, keepdims = 0 } label = onnx.Gather(t, i) }",
       "by the arg_max of as many scores"},
      {"graph g(x: float32[1,3]) -> (label: string[1]) { t = string[3]{\"a\", \"b\", \"c\"} "
       "i = onnx.ArgMin(x) { axis = 1, keepdims = 0 } label = onnx.Gather(t, i) }",
       "by the arg_max of as many scores"},
      {"graph g(x: float32[1,3]) -> (label: string[1]) { t = string[3]{\"a\", \"b\", \"a\"} "
       "i = onnx.ArgMax(x) { axis = 1, keepdims = 0 } label = onnx.Gather(t, i) }",
       "has the label 'a' twice"},
  };
  for (const auto& [graph, problem] : rows) {
    const Package package = FromOnnx(graph);
    EXPECT_THAT(std::string(package.status.message()), HasSubstr(problem)) << graph;
  }
  // Integers are no labels, unless Core ML had them as such.
  const Package ints = FromOnnx(
      "graph g(x: float32[1,3]) -> (y: int64[1]) { t = int64[3]{5, 6, 7} "
      "i = onnx.ArgMax(x) { axis = 1, keepdims = 0 } y = onnx.Gather(t, i) }");
  ASSERT_TRUE(ints.status.ok()) << ints.status;
  EXPECT_FALSE(ints.description().contains("predictedFeatureName"));
}

// --- Models of others ----------------------------------------------------------------------------

json TensorType(const std::string& type, const std::vector<int64_t>& dims) {
  json all = json::array();
  for (const int64_t dim : dims) all.push_back({{"constant", {{"size", dim}}}});
  return {{"tensorType", {{"dataType", type}, {"rank", dims.size()}, {"dimensions", all}}}};
}
json Named(const std::string& name, const json& type) { return {{"name", name}, {"type", type}}; }
json Const(const std::string& name, const json& type, const json& tensor) {
  const json value = {{"type", type}, {"immediateValue", {{"tensor", tensor}}}};
  return {{"type", "const"},
          {"outputs", json::array({Named(name, type)})},
          {"attributes", json::array({{{"key", "val"}, {"value", value}}})}};
}
json Bound(const std::string& argument, const std::string& name) {
  return {{"key", argument}, {"value", {{"arguments", json::array({{{"name", name}}})}}}};
}

const json kMetadata = {{"shortDescription", "Cats"},
                        {"versionString", "2.1"},
                        {"author", "Ann"},
                        {"license", "MIT"},
                        {"userDefined", json::array({{{"key", "com.acme.k"}, {"value", "v"}}})}};

// As coremltools writes ct.ImageType(scale=0.5, bias=[1, 2, 3], color_layout=BGR) and
// ct.ClassifierConfig(["a", "b", "c"]).
json ProgramOfCoremltools() {
  const json image = TensorType("FLOAT32", {1, 3, 2, 2});
  const json probs = TensorType("FLOAT32", {1, 3});
  json operations = json::array(
      {Const("s", ScalarType("FLOAT32"), {{"floats", {{"values", {0.5}}}}}),
       {{"type", "mul"},
        {"inputs", json::array({Bound("x", "image"), Bound("y", "s")})},
        {"outputs", json::array({Named("image__scaled__", image)})}},
       Const("b", TensorType("FLOAT32", {1, 3, 1, 1}), {{"floats", {{"values", {1, 2, 3}}}}}),
       {{"type", "add"},
        {"inputs", json::array({Bound("x", "image__scaled__"), Bound("y", "b")})},
        {"outputs", json::array({Named("image__biased__", image)})}},
       Const("axes", TensorType("INT32", {2}), {{"ints", {{"values", {2, 3}}}}}),
       Const("keep", ScalarType("BOOL"), {{"bools", {{"values", {false}}}}}),
       {{"type", "reduce_mean"},
        {"inputs", json::array({Bound("x", "image__biased__"), Bound("axes", "axes"),
                                Bound("keep_dims", "keep")})},
        {"outputs", json::array({Named("mean", probs)})}},
       {{"type", "classify"},
        {"inputs",
         json::array(
             {Bound("probabilities", "mean"),
              {{"key", "classes"},
               {"value", {{"arguments", json::array({{{"value", ListOf({"a", "b", "c"})}}})}}}}})},
        {"outputs",
         json::array({Named("classLabel", ScalarType("STRING")),
                      Named("classLabel_probs", {{"dictionaryType",
                                                  {{"keyType", ScalarType("STRING")},
                                                   {"valueType", ScalarType("FLOAT64")}}}})})}}});
  const json block = {{"outputs", {"classLabel", "classLabel_probs"}}, {"operations", operations}};
  const json function = {
      {"inputs", json::array({Named("image", image)})},
      {"opset", "CoreML5"},
      {"block_specializations", json::array({{{"key", "CoreML5"}, {"value", block}}})}};
  const json description = {
      {"input",
       json::array({Named("image",
                          {{"imageType", {{"width", 2}, {"height", 2}, {"colorSpace", "BGR"}}}})})},
      {"output", LabelFeatures("classLabel", "classLabel_probs")},
      {"predictedFeatureName", "classLabel"},
      {"predictedProbabilitiesName", "classLabel_probs"},
      {"metadata", kMetadata}};
  return {{"specificationVersion", 6},
          {"description", description},
          {"mlProgram",
           {{"version", 1}, {"functions", json::array({{{"key", "main"}, {"value", function}}})}}}};
}

absl::StatusOr<Model> ReadEncoded(const json& model) {
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  (*files)["m.mlmodel"] = EncodeCoreml("Model", model);
  return Import(FromMemory("", "m.mlmodel", files), {.format = "coreml"});
}

TEST(CoremlApps, ProgramsOfCoremltoolsComeBack) {
  const json before = ProgramOfCoremltools();
  absl::StatusOr<Model> model = ReadEncoded(before);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(NoteOf(*model->graph->inputs()[0], coreml::kImage), "BGR");
  EXPECT_EQ(OutputsOf(*model), "classLabel: string[1], classLabel_probs: float32[3]");
  const Tensor pixels =
      Tensor::Of<float>({1, 3, 2, 2}, std::vector<float>{4, 4, 4, 4, 4, 4, 4, 4, 0, 0, 0, 0});
  const auto results = RunOn(*model, pixels);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].tensor()->strings()[0], "b");
  EXPECT_EQ(Numbers(*(*results)[1].tensor()), (std::vector<double>{3, 4, 3}));

  const Package package = Written(*std::move(model));
  ASSERT_TRUE(package.status.ok()) << package.status;
  for (const char* field :
       {"input", "output", "predictedFeatureName", "predictedProbabilitiesName"}) {
    EXPECT_EQ(package.description()[field], before["description"][field]) << field;
  }
  const json& metadata = package.description()["metadata"];
  for (const char* field : {"shortDescription", "versionString", "author", "license"}) {
    EXPECT_EQ(metadata[field], kMetadata[field]) << field;
  }
  EXPECT_EQ(metadata["userDefined"][0], kMetadata["userDefined"][0]);
  EXPECT_EQ(ClassesOf(package), ListOf({"a", "b", "c"}));
  const absl::StatusOr<Model> again = package.Again();
  ASSERT_TRUE(again.ok()) << again.status();
  const auto same = RunOn(*again, pixels);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ((*same)[0].tensor()->strings()[0], "b");
  EXPECT_EQ(Numbers(*(*same)[1].tensor()), (std::vector<double>{3, 4, 3}));
}

// A neural network with an image and labels becomes a program with both.
TEST(CoremlApps, NetworksComeBackAsPrograms) {
  for (const bool ints : {false, true}) {
    SCOPED_TRACE(ints);
    const json labels =
        ints ? json{{"vector", {3, 1, 4, 2}}} : json{{"vector", {"n", "e", "s", "w"}}};
    const json image = {{"width", 2}, {"height", 2}, {"colorSpace", "GRAYSCALE"}};
    const json network = {
        {"layers", json::array({{{"name", "f"},
                                 {"input", {"image"}},
                                 {"output", {"flat"}},
                                 {"flatten", json::object()}},
                                {{"name", "s"},
                                 {"input", {"flat"}},
                                 {"output", {"probs"}},
                                 {"softmax", json::object()}}})},
        {"preprocessing", json::array({{{"featureName", "image"},
                                        {"scaler", {{"channelScale", 0.5}, {"grayBias", -1.0}}}}})},
        {ints ? "int64ClassLabels" : "stringClassLabels", labels},
        {"labelProbabilityLayerName", "probs"}};
    const json before = {{"specificationVersion", 3},
                         {"description",
                          {{"input", json::array({Named("image", {{"imageType", image}})})},
                           {"output", LabelFeatures("label", "probs", ints)},
                           {"predictedFeatureName", "label"},
                           {"predictedProbabilitiesName", "probs"},
                           {"metadata", kMetadata}}},
                         {"neuralNetworkClassifier", network}};
    absl::StatusOr<Model> model = ReadEncoded(before);
    ASSERT_TRUE(model.ok()) << model.status();
    const Tensor pixels = Tensor::Of<float>({1, 1, 2, 2}, std::vector<float>{0, 2, 8, 4});
    const auto results = RunOn(*model, pixels);
    ASSERT_TRUE(results.ok()) << results.status();
    const Package package = Written(*std::move(model));
    ASSERT_TRUE(package.status.ok()) << package.status;
    for (const char* field :
         {"input", "output", "predictedFeatureName", "predictedProbabilitiesName"}) {
      EXPECT_EQ(package.description()[field], before["description"][field]) << field;
    }
    EXPECT_EQ(package.description()["metadata"]["author"], "Ann");
    EXPECT_EQ(ClassesOf(package), ints ? ListOf({3, 1, 4, 2}) : ListOf({"n", "e", "s", "w"}));
    const absl::StatusOr<Model> again = package.Again();
    ASSERT_TRUE(again.ok()) << again.status();
    const auto same = RunOn(*again, pixels);
    ASSERT_TRUE(same.ok()) << same.status();
    if (ints) {
      EXPECT_EQ((*same)[0].tensor()->AsInt(0), 4);
    } else {
      EXPECT_EQ((*same)[0].tensor()->strings()[0], "s");
    }
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_NEAR((*same)[1].tensor()->AsDouble(i), (*results)[1].tensor()->AsDouble(i), 1e-6);
    }
  }
}

// --- Targets and metadata ------------------------------------------------------------------------

TEST(CoremlTargets, SayTheOpset) {
  const std::tuple<const char*, int, const char*> rows[] = {
      {"any", 7, "CoreML6"},     {"iOS15", 6, "CoreML5"},     {"iOS16", 7, "CoreML6"},
      {"iOS17", 8, "CoreML7"},   {"iOS18", 9, "CoreML8"},     {"macOS12", 6, "CoreML5"},
      {"macOS15", 9, "CoreML8"}, {"watchOS10", 8, "CoreML7"}, {"tvOS16", 7, "CoreML6"},
  };
  for (const auto& [target, version, opset] : rows) {
    SCOPED_TRACE(target);
    const Package package = Written(kRelu, {{"minimum_deployment_target", target}});
    ASSERT_TRUE(package.status.ok()) << package.status;
    EXPECT_EQ(package.model["specificationVersion"], version);
    const json& function = package.model["mlProgram"]["functions"][0]["value"];
    EXPECT_EQ(function["opset"], opset);
    EXPECT_EQ(function["block_specializations"][0]["key"], opset);
  }
  EXPECT_EQ(coreml::DeploymentTargets().size(), 16u);
}

TEST(CoremlTargets, WhatIsTooNewIsNamed) {
  constexpr char kSteps[] =
      "graph g(x: float32[4]) -> (y: float32[4]) { s = float32[]{0.5} z = uint8[]{3} "
      "q = quantize_linear(x, s, z) y = dequantize_linear(q, s, z) }";
  const ExportOptions plain = {.optimize = false};
  const Package refused = Written(kSteps, {{"minimum_deployment_target", "macOS13"}}, plain);
  const std::string message(refused.status.message());
  EXPECT_THAT(message, HasSubstr("for the deployment target iOS16 (macOS13)"));
  EXPECT_THAT(message, HasSubstr("quantize 'q' (iOS17)"));
  EXPECT_THAT(message, HasSubstr("option 'minimum_deployment_target' iOS17 has all"));
  EXPECT_TRUE(refused.files->empty());
  // The hint does.
  const Package then = Written(kSteps, {{"minimum_deployment_target", "iOS17"}}, plain);
  EXPECT_TRUE(then.status.ok()) << then.status;
  const Package half = Written("graph g(x: float16[4]) -> (y: float16[4]) { y = relu(x) }",
                               {{"minimum_deployment_target", "iOS15"}});
  EXPECT_THAT(std::string(half.status.message()), HasSubstr("input 'x' of float16 (iOS16)"));
  const Package other = Written(kRelu, {{"minimum_deployment_target", "iOS99"}});
  EXPECT_THAT(std::string(other.status.message()), HasSubstr("iOS18"));
}

TEST(CoremlApps, MetadataByOption) {
  ExportOptions options;
  options.metadata = {{"author", "Ann"}, {"license", "MIT"},      {"short_description", "Cats"},
                      {"version", "2"},  {"com.acme.k", "a = b"}, {"versionString", "3"}};
  const Package package = Written(kRelu, {}, options);
  ASSERT_TRUE(package.status.ok()) << package.status;
  const json& metadata = package.description()["metadata"];
  EXPECT_EQ(metadata["author"], "Ann");
  EXPECT_EQ(metadata["license"], "MIT");
  EXPECT_EQ(metadata["shortDescription"], "Cats");
  EXPECT_EQ(metadata["versionString"], "2");
  EXPECT_THAT(metadata["userDefined"].dump(), HasSubstr(R"({"key":"com.acme.k","value":"a = b"})"));
  EXPECT_THAT(metadata["userDefined"].dump(), HasSubstr(R"({"key":"versionString","value":"3"})"));
}

}  // namespace
}  // namespace x2ir
