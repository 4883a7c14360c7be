// Files of Keras and TensorFlow.js: where weights are found, what stays mapped, and what is wrong
// with broken files.
#include "x2ir/formats/keras/keras.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tfjs/tfjs.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

class Keras : public TempDirTest {
 protected:
  std::string Put(const std::string& name, const std::string& bytes) const {
    return TempDirTest::Put("net/" + name, bytes);
  }
};

std::string DataFile(const std::string& name) {
  return StrCat(X2IR_SOURCE_DIR, "/tests/data/keras/", name);
}

std::string MessageOf(const absl::StatusOr<Model>& model) {
  return model.ok() ? "" : std::string(model.status().message());
}

// A Sequential model of these layers.
std::string SequentialJson(const std::string& layers) {
  return StrCat(R"({"class_name": "Sequential", "config": {"name": "s", "layers": [)", layers,
                "]}}");
}
constexpr char kInput[] = R"({"class_name": "InputLayer", "config": {"name": "x",
    "batch_input_shape": [null, 4, 3], "dtype": "float32"}})";

TEST_F(Keras, ErrorsSayWhatIsWrong) {
  struct Row {
    std::string json, message;
  };
  const auto chain = [](const std::string& layers) {
    return SequentialJson(StrCat(kInput, ", ", layers));
  };
  // Layers behind an input "x", the last of which is the output "y".
  const auto graph = [](const std::string& layers, const char* input = R"("dtype": "float32")",
                        const char* version = "2.11.0") {
    return StrCat(R"({"class_name": "Functional", "keras_version": ")", version,
                  R"(", "config": {"name": "m", "layers": [{"class_name": "InputLayer", "name": "x",
                  "config": {"batch_input_shape": [null, 4, 3], )",
                  input, R"(}, "inbound_nodes": []}, )", layers,
                  R"(], "input_layers": [["x", 0, 0]], "output_layers": [["y", 0, 0]]}})");
  };
  const auto function = [&](const std::string& name, const std::string& arguments,
                            const char* input = R"("dtype": "float32")") {
    return graph(StrCat(R"({"class_name": "TFOpLambda", "name": "y", "config": {"function": ")",
                        name, R"("}, "inbound_nodes": [["x", 0, 0, )", arguments, "]]}"),
                 input);
  };
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "[";
  const Row rows[] = {
      {chain(R"({"class_name": "Lambda", "config": {"name": "l"}},
                {"class_name": "Mine", "registered_name": "pkg>Mine", "config": {"name": "m"}})"),
       "keras.Lambda (1 node)"},
      {chain(R"({"class_name": "Lambda", "config": {"name": "l"}},
                {"class_name": "Mine", "registered_name": "pkg>Mine", "config": {"name": "m"}})"),
       "keras.pkg>Mine (1 node)"},
      {chain(R"({"class_name": "Dense", "config": {"name": "d", "units": 2}})"),
       "its weights (kernel, bias) are not in the file; the option params says"},
      {chain(R"({"class_name": "Activation", "config": {"name": "a", "activation": "wavy"}})"),
       "activation 'wavy'"},
      {chain(R"({"class_name": "MaxPooling1D", "config": {"name": "p", "pool_size": [2, 2]}})"),
       "list of 1 integers"},
      {chain(R"({"class_name": "Reshape", "config": {"name": "r", "target_shape": [5, 3]}})"), ""},
      {chain(R"({"class_name": "ReLU", "config": {"name": "r", "unheard_of": 1}})"),
       "'unheard_of'"},
      {R"({"class_name": "MyModel", "config": {"name": "m"}})", "a model of class 'MyModel'"},
      {R"({"class_name": "Functional", "config": {"name": "m", "layers": [],
           "input_layers": [["zz", 0, 0]], "output_layers": []}})",
       "there is no layer 'zz'"},
      {R"({"class_name": "Functional", "config": {"name": "m", "layers": [
           {"class_name": "ReLU", "name": "r", "config": {},
            "inbound_nodes": [[["r", 0, 0, {}]]]}],
           "input_layers": [], "output_layers": [["r", 0, 0]]}})",
       "layer 'r' depends on its own result"},
      {R"({"class_name": "Functional", "config": {"name": "m", "layers": [
           {"class_name": "InputLayer", "name": "x", "config": {}, "inbound_nodes": []},
           {"class_name": "Dropout", "name": "d", "config": {"rate": 0.5},
            "inbound_nodes": [[["x", 0, 0, {"training": true}]]]}],
           "input_layers": [["x", 0, 0]], "output_layers": [["d", 0, 0]]}})",
       "layer 'd' is called with training=True"},
      {function("math.betainc", "{}"), "keras.tf.math.betainc (1 node)"},
      {function("math.add", R"({"y": 1, "z": 2})"), "its argument 'z'"},
      {function("math.add", "{}"), "argument 'y' is null"},
      {function("math.add", R"({"y": [[1, 2], [3]]})"), "the argument [[1, 2], [3]]"},
      {function("math.add", R"({"y": 0.5})", R"("dtype": "int32")"),
       "the number 0.5 beside a tensor of int32"},
      {function("reshape", R"({"shape": ["z"]})"), "the argument"},
      {function("__operators__.getitem", R"({"slice_spec": [[0, 1]]})"), "the subscript [0, 1]"},
      {function("cumsum", "{}", R"("ragged": true)"), "'x', which is ragged"},
      {graph(R"({"class_name": "ReLU", "name": "y", "config": {},
                 "inbound_nodes": [[["x", 0, 0, {}], ["x", 0, 0, {}]]]})"),
       "it is called with 2 tensors"},
      {graph(R"({"class_name": "ReLU", "name": "y", "config": {},
                 "inbound_nodes": [[["x", 0, 0, {"other": ["x", 0, 0]}]]]})"),
       "it is called with 'other'"},
      {graph(R"({"class_name": "ReLU", "name": "y", "module": "mine.layers", "config": {},
                 "registered_name": "ReLU", "inbound_nodes": [[["x", 0, 0, {}]]]})"),
       "keras.mine.layers>ReLU (1 node)"},
      {graph(R"({"class_name": "Activation", "name": "y", "inbound_nodes": [[["x", 0, 0, {}]]],
                 "config": {"activation": {"class_name": "function", "config": "relu",
                                           "registered_name": "mine>relu"}}})"),
       "activation 'mine>relu'"},
      {graph(R"({"class_name": "Masking", "name": "m", "config": {},
                 "inbound_nodes": [[["x", 0, 0, {}]]]},
                {"class_name": "Add", "name": "a", "config": {},
                 "inbound_nodes": [[["m", 0, 0, {}], ["x", 0, 0, {}]]]},
                {"class_name": "GlobalAveragePooling1D", "name": "y", "config": {},
                 "inbound_nodes": [[["a", 0, 0, {}]]]})",
             R"("dtype": "float32")", "3.8.0"),
       "releases of Keras 3 differ"},
      {graph(
           R"({"class_name": "TensorFlowOpLayer", "name": "y", "inbound_nodes": [[["x", 0, 0, {}]]],
                 "config": {"node_def": {"op": "Add", "input": ["x", "c"]}, "constants": {}}})"),
       "Add has 1 operands; expected 2"},
      {StrCat(R"({"class_name": "Sequential", "config": )", deep), "nested too deeply"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.json.substr(0, 300));
    const absl::StatusOr<Model> model =
        Import(Source::Bytes(row.json, {}, "m.json"), {.format = "keras"});
    ASSERT_FALSE(model.ok());
    EXPECT_THAT(MessageOf(model), HasSubstr(row.message));
  }
}

TEST_F(Keras, NothingOutsideOfTheFileIsRead) {
  EXPECT_THAT(MessageOf(Import(DataFile("external_data.h5"))),
              HasSubstr("its elements are stored in another file"));
  EXPECT_THAT(MessageOf(Import(DataFile("external_link.h5"))),
              HasSubstr("links to other files are not followed"));
}

// Bilinear images of TensorFlow 2 and of what came before.
TEST_F(Keras, ReleasesDiffer) {
  const struct {
    const char *version, *mode;
    size_t warnings;
  } rows[] = {
      {"2.2.4", "asymmetric", 0},
      {"2.3.1", "asymmetric", 0},
      {"2.2.4-tf", "half_pixel", 1},
      {"2.3.0-tf", "half_pixel", 0},
      {"2.11.0", "half_pixel", 0},
      {"3.5.0", "half_pixel", 0},
      {"tfjs-layers 4.22.0", "asymmetric", 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.version);
    const std::string json =
        StrCat(R"({"keras_version": ")", row.version,
               R"(", "class_name": "Sequential", "config": {"name": "m", "layers": [
                   {"class_name": "InputLayer", "config": {"name": "x", "batch_input_shape": [1, 2, 3, 1]}},
                   {"class_name": "UpSampling2D", "config": {"name": "u", "size": [2, 2],
                    "interpolation": "bilinear", "data_format": "channels_last"}}]}})");
    Report report;
    const absl::StatusOr<Model> model =
        Import(Source::Bytes(json, {}, "m.json"), {.format = "keras"}, &report);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(report.warnings.size(), row.warnings);
    std::string mode;
    for (const Node* node : model->graph->nodes()) {
      if (node->op() == "resize") mode = node->attrs().String("coordinate_transformation_mode");
    }
    EXPECT_EQ(mode, row.mode);
  }
}

TEST_F(Keras, FilesThatAreCutOff) {
  const std::string whole = ReadFile(DataFile("masked_lstm.h5"));
  const std::string path = Put("cut.h5", whole.substr(0, whole.size() - 1));
  EXPECT_THAT(MessageOf(Import(path)), HasSubstr(StrCat("the file is cut off: ", whole.size() - 1,
                                                        " of ", whole.size(), " bytes are there")));
}

// The file's bytes are the tensor's: nothing is copied.
TEST_F(Keras, ContiguousWeightsStayMapped) {
  for (const char* name : {"masked_lstm.h5", "attention.keras"}) {
    SCOPED_TRACE(name);
    const absl::StatusOr<Model> model = ReadKeras(DataFile(name));
    ASSERT_TRUE(model.ok()) << model.status();
    size_t mapped = 0;
    for (const Weight& weight : model->weights) {
      const Tensor* tensor = model->graph->Find(weight.value)->constant();
      ASSERT_NE(tensor, nullptr) << weight.value;
      mapped += tensor->file_range().has_value();
    }
    EXPECT_EQ(mapped, model->weights.size());
    EXPECT_GT(mapped, 2u);
  }
}

// Texts as TensorFlow takes them apart: the results of a layer on two of them.
TEST_F(Keras, WordsOfTexts) {
  const std::string words = R"("vocabulary": ["", "[UNK]", "the", "cat", "sat"])";
  const std::string plain = R"("vocabulary": ["the", "cat", "sat"])";
  const struct {
    std::string config, result;
  } rows[] = {
      {R"("standardize": "lower_and_strip_punctuation", "split": "whitespace", "output_mode": "int", )" +
           words,
       "int64[2,4]{2, 3, 4, 3, 1, 4, 0, 0}"},
      {R"("standardize": "lower", "split": "whitespace", "output_mode": "int", )" + plain,
       "int64[2,4]{2, 3, 1, 1, 1, 4, 0, 0}"},
      {R"("standardize": "strip_punctuation", "split": "whitespace", "output_mode": "int", )" +
           plain,
       "int64[2,4]{1, 3, 4, 1, 1, 4, 0, 0}"},
      {R"("standardize": null, "split": "whitespace", "output_mode": "int", "output_sequence_length": 3, )" +
           plain,
       "int64[2,3]{1, 3, 1, 1, 4, 0}"},
      {R"("standardize": "lower", "split": "whitespace", "output_mode": "int", "output_sequence_length": 6, )" +
           plain,
       "int64[2,6]{2, 3, 1, 1, 0, 0, 1, 4, 0, 0, 0, 0}"},
      {R"("standardize": "lower_and_strip_punctuation", "split": "whitespace", "output_mode": "multi_hot", )" +
           plain,
       "float32[2,4]{0, 1, 1, 1, 1, 0, 0, 1}"},
      {R"("standardize": "lower_and_strip_punctuation", "split": "whitespace", "output_mode": "count", )" +
           plain,
       "float32[2,4]{0, 1, 2, 1, 1, 0, 0, 1}"},
      {R"("standardize": "lower_and_strip_punctuation", "split": "whitespace", "output_mode": "tf_idf",
          "idf_weights": [0.5, 1.0, 3.0], )" +
           plain,
       "float32[2,4]{0, 0.5, 2, 3, 1.5, 0, 0, 3}"},
      {R"("standardize": "lower", "split": null, "output_mode": "int", )" + plain,
       "int64[2,1]{1, 1}"},
      {R"("standardize": "lower", "split": "character", "output_mode": "int", )" + plain,
       "split 'character'"},
      {R"("standardize": "lower", "split": "whitespace", "ngrams": 2, "output_mode": "int", )" +
           plain,
       "words that go together as indices"},
      {R"("standardize": "lower_and_strip_punctuation", "split": "whitespace", "ngrams": 2,
          "output_mode": "count", "vocabulary": ["the", "cat", "the cat", "cat sat", "sat cat"])",
       "float32[2,6]{1, 1, 2, 1, 1, 1, 3, 0, 0, 0, 0, 0}"},
      {R"("standardize": "lower_and_strip_punctuation", "split": "whitespace", "ngrams": [3, 2],
          "output_mode": "multi_hot", "vocabulary": ["sat cat", "cat sat cat", "the"])",
       "float32[2,4]{1, 1, 1, 0, 1, 0, 0, 0}"},
      {R"("standardize": "lower", "split": "whitespace", "output_mode": "tf_idf", )" + plain,
       "no idf_weights of all words"},
      {R"("standardize": "lower", "split": "whitespace", "output_mode": "int")",
       "a vocabulary that is not in the file"}};
  const Tensor texts = Tensor::Strings({2, 1}, {"The cat (sat), CAT!", "  mice\tsat "});
  for (const auto& row : rows) {
    const std::string path =
        Put("net.json", SequentialJson(R"({"class_name": "TextVectorization", "config":
        {"name": "t", "batch_input_shape": [null, 1], "dtype": "string", )" +
                                       row.config + "}}"));
    const absl::StatusOr<Model> model = Import(path, {.format = "keras"});
    if (!model.ok()) {
      EXPECT_THAT(std::string(model.status().message()), HasSubstr(row.result)) << row.config;
      continue;
    }
    const auto results = RunGraph(*model->graph, {Datum(texts)});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(TensorText(*(*results)[0].tensor()), row.result) << row.config;
  }
}

// The examples of Keras's documentation.
TEST_F(Keras, WordsByTheirHash) {
  const struct {
    std::string config;
    std::vector<std::string> words;
    std::string result;
  } rows[] = {
      {R"("class_name": "Hashing", "config": {"num_bins": 3, )",
       {"A", "B", "C", "D", "E"},
       "int64[5,1]{1, 0, 1, 1, 2}"},
      {R"("class_name": "Hashing", "config": {"num_bins": 3, "mask_value": "", )",
       {"A", "B", "", "C", "D"},
       "int64[5,1]{1, 1, 0, 2, 2}"},
      {R"("class_name": "Hashing", "config": {"num_bins": 3, "salt": [133, 137], )",
       {"A", "B", "C", "D", "E"},
       "int64[5,1]{1, 2, 1, 0, 2}"},
      {R"("class_name": "Hashing", "config": {"num_bins": 3, "salt": 133, )",
       {"A", "B", "C", "D", "E"},
       "int64[5,1]{0, 0, 2, 1, 0}"},
      {R"("class_name": "StringLookup", "config": {"num_oov_indices": 2, "mask_token": null,
          "vocabulary": ["a", "b", "c", "d"], )",
       {"a", "c", "d", "m", "z"},
       "int64[5,1]{2, 4, 5, 0, 1}"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.config);
    const std::string path = Put(
        "net.json", SequentialJson(StrCat(
                        "{", row.config,
                        R"("name": "h", "batch_input_shape": [null, 1], "dtype": "string"}})")));
    const absl::StatusOr<Model> model = Import(path, {.format = "keras"});
    ASSERT_TRUE(model.ok()) << model.status();
    const auto results = RunGraph(*model->graph, {Datum(Tensor::Strings({5, 1}, row.words))});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(TensorText(*(*results)[0].tensor()), row.result);
  }
}

TEST_F(Keras, TheArchitectureFindsItsWeights) {
  const std::string json = SequentialJson(R"({"class_name": "Masking", "config": {"name": "l0",
      "mask_value": 0.0, "batch_input_shape": [null, 5, 3], "dtype": "float32"}},
      {"class_name": "LSTM", "config": {"name": "l1", "units": 4, "activation": "tanh",
       "recurrent_activation": "sigmoid", "use_bias": true, "stateful": true}})");
  const std::string weights = ReadFile(DataFile("masked_lstm.h5"));
  const std::string path = Put("net.json", json);
  EXPECT_THAT(MessageOf(Import(path, {.format = "keras"})), HasSubstr("are not in the file"));
  // Named, then beside it.
  const std::string other = Put("elsewhere.h5", weights);
  Report report;
  EXPECT_EQ(
      MessageOf(Import(path, {.format = "keras", .format_options = {{"params", other}}}, &report)),
      "");
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_THAT(report.warnings[0], HasSubstr("each run begins with zeros"));
  Put("net.weights.h5", weights);
  EXPECT_EQ(MessageOf(Import(path, {.format = "keras"})), "");
  EXPECT_THAT(
      MessageOf(Import(DataFile("attention.keras"), {.format_options = {{"params", other}}})),
      HasSubstr("the archive already has weights"));
}

std::string TfjsJson(const std::string& paths, const std::string& bias) {
  return StrCat(R"({"format": "layers-model", "modelTopology": {"class_name": "Sequential",
      "config": {"name": "s", "layers": [{"class_name": "Dense", "config": {"name": "d",
      "units": 2, "activation": "relu", "use_bias": true, "batch_input_shape": [null, 2]}}]}},
      "weightsManifest": [{"paths": )",
                paths, R"(, "weights": [{"name": "d/kernel", "shape": [2, 2], "dtype": "float32"},
      {"name": "d/bias", "shape": [2], "dtype": "float32")",
                bias, "}]}]}");
}

TEST_F(Keras, TfjsWeightsAreUnpacked) {
  const std::string kernel("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16);  // 1, 2, 3, 4
  struct Row {
    const char* quantization;
    std::string bytes;
    const char* bias;
  };
  const Row rows[] = {
      {"", std::string("\0\0\x80\x3f\0\0\0\x40", 8), "float32[2]{1, 2}"},
      {R"(, "quantization": {"dtype": "uint8", "scale": 0.5, "min": -1})", "\x04\x10",
       "float32[2]{1, 7}"},
      {R"(, "quantization": {"dtype": "uint16", "scale": 0.25, "min": 1})",
       std::string("\x04\0\0\1", 4), "float32[2]{2, 65}"},
      {R"(, "quantization": {"dtype": "float16"})", std::string("\0\x3c\0\xc0", 4),
       "float32[2]{1, -2}"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.quantization);
    // Cut within the kernel.
    const std::string all = kernel + row.bytes;
    Put("a.bin", all.substr(0, 7));
    Put("b.bin", all.substr(7));
    const std::string path = Put("model.json", TfjsJson(R"(["a.bin", "b.bin"])", row.quantization));
    const absl::StatusOr<Model> model = ReadTfjs(path);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(TensorText(*model->graph->Find("d/kernel")->constant()), "float32[2,2]{1, 2, 3, 4}");
    EXPECT_EQ(TensorText(*model->graph->Find("d/bias")->constant()), row.bias);
  }
}

TEST_F(Keras, TfjsFilesStayInTheirFolder) {
  WriteFile(folder_ / "outside.bin", std::string(24, '\0'));
  Put("short.bin", std::string(20, '\0'));
  struct Row {
    const char *paths, *message;
  };
  const Row rows[] = {
      {R"(["../outside.bin"])", "leads out of the model's folder"},
      {R"(["/dev/zero"])", "is an absolute path"},
      {R"([""])", "not a valid file name"},
      {R"(["none.bin"])", "none.bin"},
      {R"(["short.bin"])", "weight 'd/bias': the weight files end inside of it"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.paths);
    EXPECT_THAT(MessageOf(ReadTfjs(Put("model.json", TfjsJson(row.paths, "")))),
                HasSubstr(row.message));
  }
}

// y = x + w, with `more` beside the graph.
std::string TfjsGraph(const std::string& type, const std::string& more) {
  return StrCat(R"({"format": "graph-model", "modelTopology": {"node": [
      {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_)",
                type, R"("}}}, {"name": "w", "op": "Const", "attr": {"dtype": {"type": "DT_)", type,
                R"("}}}, {"name": "y", "op": "AddV2", "input": ["x", "w"], "attr": {"T": {"type":
      "DT_)",
                type, R"("}}}]}, "weightsManifest": [{"paths": ["w.bin"], "weights": [
      {"name": "w", "shape": [2], "dtype": "int32"}]}])",
                more, "}");
}

TEST_F(Keras, TfjsGraphsSayTypesThatFilesLack) {
  Put("w.bin", std::string("\1\0\0\0\xff\xff\xff\xff", 8));
  struct Row {
    const char *type, *more, *result;  // the weight, or a part of the message
  };
  const Row rows[] = {
      {"INT32", "", "int32[2]{1, -1}"},
      {"INT64", "", "int64[2]{1, -1}"},
      {"FLOAT", "", "weight 'w': elements are int32, and float32 in the graph"},
      {"INT32", R"(, "modelInitializer": {"node": [{"name": "x", "op": "HashTableV2"}]})",
       "node 'x' is Placeholder in the graph and HashTableV2 in its initializer"},
      {"INT32", R"(, "signature": {"inputs": {"x": {"name": "x:0", "resourceId": 3}},
                  "outputs": {"y": {"name": "y:0"}}})",
       "no node produces the resource of input 'x'"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(StrCat(row.type, row.more));
    const absl::StatusOr<Model> model = ReadTfjs(Put("model.json", TfjsGraph(row.type, row.more)));
    if (model.ok()) {
      EXPECT_EQ(TensorText(*model->graph->Find("w")->constant()), row.result);
    } else {
      EXPECT_THAT(MessageOf(model), HasSubstr(row.result));
    }
  }
}

// Bytes are base64, or numbers as converters wrote them before: of one text as of each of a list.
TEST_F(Keras, TfjsBytesAreBase64OrNumbers) {
  struct Row {
    const char *padding, *labels, *texts, *message;  // the message: "" where it is read
  };
  const Row rows[] = {
      {R"("VkFMSUQ=")", R"(["YQ==", "YmM="])", R"(["YQ==", "YmM="])", ""},
      {"[86, 65, 76, 73, 68]", "[[97], [98, 99]]", "[[97], [98, 99]]", ""},
      {"[86.0, 65, 76, 73, 68]", R"(["YQ==", [98, 99]])", R"([[97], "YmM="])", ""},
      {"[86, 321, 76, 73, 68]", "[[97], [98, 99]]", "[]", "'321' is not a byte"},
      {R"(["VkFMSUQ="])", "[[97], [98, 99]]", "[]", "is not a byte"},
      {"86", "[[97], [98, 99]]", "[]", "'86' is not base64"},
      {"[86, 65, 76, 73, 68]", "[97, 98]", "[]", "'97' is not base64"},
      {"[86, 65, 76, 73, 68]", "[]", R"(["a"])", "is not base64"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(StrCat(row.padding, row.labels, row.texts));
    const std::string node = R"({"name": "y", "op": "MaxPool", "input": ["x"], "attr": {
        "T": {"type": "DT_FLOAT"}, "ksize": {"list": {"i": ["1", "2", "2", "1"]}},
        "strides": {"list": {"i": ["1", 2, 2, 1]}}, "padding": {"s": )";
    const std::string path =
        Put("model.json",
            StrCat(R"({"format": "graph-model", "modelTopology": {"node": [
            {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}}, )",
                   node, row.padding, R"(}}}, {"name": "z", "op": "Own", "attr": {"labels": {"list":
            {"s": )",
                   row.labels, R"(}}}}, {"name": "t", "op": "Const", "attr": {"dtype": {"type":
            "DT_STRING"}, "value": {"tensor": {"dtype": "DT_STRING", "tensorShape": {"dim":
            [{"size": "2"}]}, "stringVal": )",
                   row.texts, "}}}}]}}"));
    const absl::StatusOr<Model> model = ReadTfjs(path, {.outputs = {"y", "z", "t"}});
    if (*row.message) {
      EXPECT_THAT(MessageOf(model), HasSubstr(row.message));
      continue;
    }
    ASSERT_TRUE(model.ok()) << model.status();
    const auto attr = [&](const char* value, const char* name) {
      return AttributeText(*model->graph->Find(value)->producer()->attrs().Find(name));
    };
    EXPECT_EQ(attr("y", "padding"), R"("VALID")");
    EXPECT_EQ(attr("z", "labels"), R"(["a", "bc"])");
    EXPECT_EQ(TensorText(*model->graph->Find("t")->constant()), R"(string[2]{"a", "bc"})");
    EXPECT_EQ(MessageOf(Import(path, {.outputs = {"y"}})), "");
  }
}

}  // namespace
}  // namespace x2ir
