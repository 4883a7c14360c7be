// Files of Caffe, Caffe2, Darknet and ncnn: of all versions, by any of their names, and what is
// said of those that are broken or lack their weights.
#include <algorithm>
#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/caffe_files_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/caffe/caffe_internal.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/ncnn/ncnn.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using namespace caffe_files;
using ::testing::HasSubstr;

class CaffeFiles : public TempDirTest {
 protected:
  // The results on an image, "; " between; or the error.
  std::string Results(const std::string& path, const Tensor& x, FormatOptions options = {}) {
    const absl::StatusOr<Model> model = Import(path, {.format_options = std::move(options)});
    if (!model.ok()) return std::string(model.status().message());
    const auto results = RunGraph(*model->graph, {Datum(x)});
    if (!results.ok()) return std::string(results.status().message());
    std::string text;
    for (const Datum& result : *results) {
      StrAppend(&text, text.empty() ? "" : "; ", TensorText(*result.tensor()));
    }
    return text;
  }
};

// Windows of 2 x 2: the sums of their diagonals, and 0.5; less than nothing is nothing.
const Tensor& Image() {
  static const Tensor* const image =
      new Tensor(Tensor::Of<float>({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  return *image;
}

// The reader's tables have every field of caffe.proto under its number and name.
void CheckFields(JsonReader& json, std::string_view message) {
  const ProtoMessage* found = nullptr;
  std::vector<const ProtoMessage*> open = {&caffe::NetMessage()};
  for (size_t i = 0; i < open.size() && !found; ++i) {
    if (message == StrCat("caffe.", open[i]->name)) found = open[i];
    for (const ProtoField& field : open[i]->fields) {
      const bool known = std::find(open.begin(), open.end(), field.message) != open.end();
      if (field.message && !known) open.push_back(field.message);
    }
  }
  if (!found) return json.Skip();  // of solvers
  json.Array([&](size_t) {
    std::string_view name;
    uint32_t number = 0;
    json.Object([&](std::string_view key) {
      if (key == "name") {
        name = json.String();
      } else if (key == "number") {
        number = static_cast<uint32_t>(json.Int());
      } else {
        json.Skip();
      }
    });
    const ProtoField* field = FindProtoField(*found, name);
    EXPECT_TRUE(field && field->number == number) << message << "." << name;
  });
}
TEST_F(CaffeFiles, AllFieldsAreKnown) {
  const std::string facts = ReadFile(X2IR_SOURCE_DIR "/facts/caffe-proto-fields.json");
  JsonReader json(facts);
  int messages = 0;
  json.Object([&](std::string_view key) {
    if (key != "messages") return json.Skip();
    json.Object([&](std::string_view message) {
      ++messages;
      CheckFields(json, message);
    });
  });
  EXPECT_TRUE(json.ok()) << json.status();
  EXPECT_GT(messages, 60);
}

TEST_F(CaffeFiles, NetworksOfAllVersions) {
  for (const int version : {0, 1, 2}) {
    SCOPED_TRACE(version);
    const Pair pair = CaffeNetwork(version);
    const std::string net = Put(StrCat("v", version, ".prototxt"), pair.network);
    Put(StrCat("v", version, ".caffemodel"), pair.weights);
    // 5 + 9 + 0.5 of the first filter, 0 of the second: 14.5 + 3.
    EXPECT_EQ(Results(net, Image()), "float32[1,1]{17.5}");
    const absl::StatusOr<Model> model = Import(net);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->graph->inputs()[0]->type().ToString(), "float32[1,1,3,3]");
    EXPECT_EQ(model->graph->outputs()[0]->name(), "ip");
  }
}

TEST_F(CaffeFiles, ByAnyName) {
  const Pair caffe = CaffeNetwork(2), darknet = DarknetNetwork(), ncnn = NcnnNetwork();
  const struct {
    const char *format, *network, *weights;
    Pair pair;
  } rows[] = {{"caffe", "a/deploy.prototxt", "a/net.caffemodel", caffe},
              {"darknet", "b/net.cfg", "b/other.weights", darknet},
              {"ncnn", "c/net.param", "c/net.bin", ncnn},
              {"caffe2", "d/predict_net.pb", "d/init_net.pb", Caffe2Network(false)},
              {"caffe2", "e/my_predict_net.pbtxt", "e/my_init_net.pbtxt", Caffe2Network(true)}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.network);
    std::filesystem::create_directories(folder_ / std::string(row.network).substr(0, 1));
    const std::string network = Put(row.network, row.pair.network);
    EXPECT_EQ(*DetectFormat(network), row.format);
    // Alone it asks for its weights.
    const absl::Status alone = Import(network).status();
    EXPECT_EQ(OptionOf(alone).value_or("none"), "params") << alone;
    const std::string weights = Put(row.weights, row.pair.weights);
    std::vector<std::string> names = {network};
    // A folder is known by the plain name.
    if (row.network[0] != 'e') {
      names.push_back((folder_ / std::string(row.network).substr(0, 1)).string());
    }
    for (const std::string& name : names) {
      EXPECT_EQ(*DetectFormat(name), row.format) << name;
      EXPECT_TRUE(Import(name).ok()) << Import(name).status();
    }
    const std::string apart = Put("apart.bin", row.pair.weights);
    EXPECT_TRUE(Import(network, {.format_options = {{"params", apart}}}).ok());
    std::string asked;
    const Source memory = Source::Bytes(
        row.pair.network,
        [&](const std::string& name) -> absl::StatusOr<HeldBytes> {
          asked = name;
          return HeldBytes{{reinterpret_cast<const std::byte*>(row.pair.weights.data()),
                            row.pair.weights.size()},
                           nullptr};
        },
        std::filesystem::path(row.network).filename().string());
    EXPECT_TRUE(Import(memory).ok()) << Import(memory).status();
    EXPECT_FALSE(asked.empty());
  }
  EXPECT_TRUE(Import(Put("a/deploy.caffemodel", caffe.weights)).ok());
  EXPECT_TRUE(Import(Put("b/net.weights", darknet.weights)).ok());
}

TEST_F(CaffeFiles, LayersWithoutWeights) {
  const absl::StatusOr<Model> model = Import(Put("net.prototxt", CaffeLayers()));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->graph->outputs().size(), 8u);
}

TEST_F(CaffeFiles, NamesOfBlobs) {
  const Pair pair = CaffeNetwork(2);
  Put("net.caffemodel", pair.weights);
  // What is computed in place: the last has the name.
  const auto model =
      Import(Put("net.prototxt", pair.network + "layer { name: \"top\" type: \"TanH\" "
                                                "bottom: \"conv\" top: \"side\" }\n"));
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->graph->outputs().size(), 2u);
  EXPECT_EQ(model->graph->outputs()[1]->name(), "side");
  EXPECT_NE(model->graph->Find("conv"), nullptr);
  EXPECT_NE(model->graph->Find("conv_conv"), nullptr);
  EXPECT_NE(model->graph->Find("conv.0"), nullptr);
}

TEST_F(CaffeFiles, MatricesInFilesOfTheirOwn) {
  const std::string text =
      "input: \"a\" input_shape { dim: 1 dim: 2 }\ninput: \"b\" input_shape { dim: 1 }\n"
      "layer { name: \"l\" type: \"InfogainLoss\" bottom: \"a\" bottom: \"b\" top: \"l\" "
      "infogain_loss_param { source: \"somewhere/h.binaryproto\" } }\n"
      // What it writes are results.
      "layer { name: \"m\" type: \"TanH\" bottom: \"a\" top: \"m\" }\n"
      "layer { name: \"n\" type: \"HDF5Output\" bottom: \"m\" "
      "hdf5_output_param { file_name: \"x.h5\" } }\n";
  const std::string matrix = BlobFile({1, 1, 2, 2}, {2, 0, 0, 2});
  const std::string net = Put("net.prototxt", text);
  Put("h.binaryproto", matrix);
  const Source memory =
      Source::Bytes(text, [&](const std::string& name) -> absl::StatusOr<HeldBytes> {
        if (name != "h.binaryproto") return absl::NotFoundError(name);
        return HeldBytes{{reinterpret_cast<const std::byte*>(matrix.data()), matrix.size()},
                         nullptr};
      });
  for (const auto& model : {Import(net), Import(memory)}) {
    ASSERT_TRUE(model.ok()) << model.status();
    ASSERT_EQ(model->graph->outputs().size(), 2u);
    const auto results = RunGraph(*model->graph, {Datum(Tensor::Of<float>({1, 2}, {0, 0})),
                                                  Datum(Tensor::Of<float>({1}, {1}))});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(TensorText(*(*results)[0].tensor()), "float32[]{1.3862944}");  // 2 ln 2
  }
  Put("h.binaryproto", matrix.substr(0, 9));
  EXPECT_THAT(std::string(Import(net).status().message()), HasSubstr("its matrix"));
}

TEST_F(CaffeFiles, PhasesAndStages) {
  const std::string head = "input: \"data\" input_shape { dim: 1 dim: 2 }\n";
  const struct {
    const char* rule;
    bool there;
  } rows[] = {{"", true},
              {"include { phase: TEST }", true},
              {"include { phase: TRAIN }", false},
              {"exclude { phase: TRAIN }", true},
              {"exclude { phase: TEST }", false},
              {"include { phase: TRAIN } include { phase: TEST }", true},
              {"include { stage: \"deploy\" }", false},
              {"include { not_stage: \"deploy\" }", true},
              {"include { min_level: 1 }", false},
              {"include { max_level: 1 }", true},
              {"phase: TRAIN", false}};
  for (const auto& row : rows) {
    const auto model = Import(Put(
        "net.prototxt",
        StrCat(head, "layer { name: \"l\" type: \"TanH\" bottom: \"data\" top: \"l\" ", row.rule,
               " }\nlayer { name: \"m\" type: \"AbsVal\" bottom: \"data\" "
               "top: \"m\" }\n")));
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->graph->outputs().size(), row.there ? 2u : 1u) << row.rule;
  }
}

std::string PythonLayer(const std::string& module, const std::string& layer,
                        const std::string& settings) {
  return StrCat(
      "layer { name: \"l\" type: \"Python\" bottom: \"data\" bottom: \"data\" bottom: "
      "\"data\" top: \"l\" python_param { module: \"",
      module, "\" layer: \"", layer, "\" param_str: \"", settings, "\" } }");
}

TEST_F(CaffeFiles, WhatIsWrongWithCaffes) {
  const std::string input = "input: \"data\" input_shape { dim: 1 dim: 2 dim: 4 dim: 4 }\n";
  const struct {
    std::string text, message;
  } rows[] = {
      {input + "layer { name: \"l\" type: \"TanH\" bottom: \"nobody\" top: \"l\" }",
       "produces blob 'nobody'"},
      {input + "layer { name: \"l\" type: \"TanH\" bottom: \"data\" top: \"l\" what: 1 }",
       "has no field 'what'"},
      {input + "layer { name: \"l\" type: \"Flow\" bottom: \"data\" top: \"l\" }\n"
               "layer { name: \"m\" type: \"Python\" bottom: \"l\" top: \"m\" }\n"
               "layer { name: \"n\" type: \"Flow\" bottom: \"m\" top: \"n\" }",
       "caffe.Flow (2 nodes)"},
      {input + PythonLayer("mine", "Flow", "'feat_stride': 16"), "the layer mine.Flow of Python"},
      {input + PythonLayer("rpn.proposal_layer", "ProposalLayer", "'feat_stride'"),
       "the settings ''feat_stride'' of"},
      {input + PythonLayer("rpn.proposal_layer", "ProposalLayer", "feat_stride: 16, ratios: [1"),
       "the settings"},
      {input + PythonLayer("rpn.proposal_layer", "ProposalLayer", "{feat_stride: 16, ratios: [1]}"),
       "the setting 'ratios' of"},
      {input + PythonLayer("rpn.proposal_layer", "ProposalLayer", "feat_stride: 0"),
       "a stride of 0"},
      {input + "layer { name: \"l\" type: \"InfogainLoss\" bottom: \"data\" bottom: \"data\" top: "
               "\"l\" infogain_loss_param { source: \"h.binaryproto\" } }",
       "layer 'l': its matrix 'h.binaryproto'"},
      {input + "layer { name: \"l\" type: \"BN\" bottom: \"data\" top: \"l\" }",
       "name the file of the weights"},
      {input + "layer { name: \"l\" type: \"Pooling\" bottom: \"data\" top: \"l\" pooling_param "
               "{ kernel_size: 9 } }",
       "a window of 9 on an axis of 4"},
      {input +
           "layer { name: \"l\" type: \"Slice\" bottom: \"data\" top: \"l\" top: \"m\" slice_param "
           "{ slice_point: 3 slice_point: 1 } }",
       "2 places to cut for 2 parts"},
      {"input: \"a\" input_dim: 1 input_dim: 2\nlayer { name: \"l\" type: \"TanH\" bottom: \"a\" "
       "top: \"l\" }",
       "1 inputs with 2 sizes"},
      {input + "layer { name: \"l\" type: \"Silence\" bottom: \"data\" }",
       "no layer produces a result"},
      {"net: \"a\" base_lr: 1\nlayer {", ""},
  };
  for (const auto& row : rows) {
    const absl::Status status = Import(Put("net.prototxt", row.text)).status();
    EXPECT_FALSE(status.ok()) << row.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.message));
  }
  // Weights of another network, and those that are cut off.
  const Pair pair = CaffeNetwork(2);
  const std::string net = Put("good.prototxt", pair.network);
  Put("good.caffemodel", Caffemodel({{"conv", {{{2, 1, 2, 2}, std::vector<float>(8, 1)}}}}));
  EXPECT_THAT(std::string(Import(net).status().message()), HasSubstr("'ip'"));
  Put("good.caffemodel", Caffemodel({{"conv", {{{2, 1, 2, 2}, std::vector<float>(7, 1)}}}}));
  EXPECT_THAT(std::string(Import(net).status().message()),
              HasSubstr("8 elements, but the file has 7"));
  for (size_t size = 1; size + 1 < pair.weights.size(); size += 3) {
    Put("good.caffemodel", pair.weights.substr(0, size));
    EXPECT_FALSE(Import(net).ok()) << size;
  }
}

TEST_F(CaffeFiles, DarknetsVersions) {
  const std::string text =
      "[net]\nwidth=1\nheight=1\nchannels=2\n[connected]\noutput=2\nactivation=linear\n";
  const std::string net = Put("net.cfg", text);
  const Tensor x = Tensor::Of<float>({1, 2, 1, 1}, {1, 10});
  const struct {
    int major, minor;
    const char* result;
  } rows[] = {{0, 1, "float32[1,2]{21, 43}"},
              {0, 2, "float32[1,2]{21, 43}"},
              {1001, 0, "float32[1,2]{31, 42}"}};
  for (const auto& row : rows) {
    Put("net.weights", DarknetWeights({0, 0, 1, 2, 3, 4}, row.major, row.minor));
    const std::string expected = row.major > 1000 ? "float32[1,2]{31, 42}" : "float32[1,2]{21, 43}";
    EXPECT_EQ(Results(net, x), expected) << row.minor;
  }
  Put("net.weights", DarknetWeights({0, 0, 1, 2, 3}));
  EXPECT_THAT(Results(net, x), HasSubstr("3 numbers are left"));
  Put("net.weights", DarknetWeights({0, 0, 1, 2, 3, 4, 5}));
  EXPECT_THAT(Results(net, x), HasSubstr("has 1 numbers more than the network"));
}

TEST_F(CaffeFiles, DarknetsForks) {
  // Whether norms have biases, the count of the numbers tells.
  const std::string net = Put("net.cfg",
                              "[net]\nwidth=1\nheight=1\nchannels=1\n[batchnorm]\n"
                              "[convolutional]\nfilters=1\nsize=1\nactivation=linear\n");
  const Tensor x = Tensor::Of<float>({1, 1, 1, 1}, {3});
  Put("net.weights", DarknetWeights({4, 1, 1, 10, 2}));  // scale, mean, variance; bias, weights
  EXPECT_EQ(Results(net, x), "float32[1,1,1,1]{25.999985}");
  Put("net.weights", DarknetWeights({5, 4, 1, 1, 10, 2}));
  EXPECT_EQ(Results(net, x), "float32[1,1,1,1]{35.999985}");
  Put("net.weights", DarknetWeights({4, 1, 1, 10}));
  EXPECT_THAT(Results(net, x), HasSubstr("0 numbers are left"));
  // Gates come in an order of each fork's own: of the state last, or first. A version of 0.2 tells
  // whose they are.
  const std::vector<float> gates = {0, 0.5f, 0, 0, 0, 2, 0.25f, 0, 0, 0, 0, 0};
  Put("net.cfg", "[net]\nwidth=1\nheight=1\nchannels=1\n[gru]\noutput=1\n");
  Put("net.weights", DarknetWeights(gates, 0, 2));
  const std::string pjreddie = Results(net, x);
  EXPECT_EQ(Results(net, x, {{"fork", "pjreddie"}}), pjreddie);
  const std::string alexeyab = Results(net, x, {{"fork", "alexeyab"}});
  EXPECT_NE(alexeyab, pjreddie);
  EXPECT_THAT(alexeyab, HasSubstr("float32[1,1]"));
  for (const char* layer : {"gru", "lstm"}) {
    Put("net.cfg", StrCat("[net]\nwidth=1\nheight=1\nchannels=1\n[", layer, "]\noutput=1\n"));
    Put("net.weights", DarknetWeights(gates, 0, 1));
    const absl::Status status = Import(net).status();
    EXPECT_EQ(OptionOf(status).value_or("none"), "fork") << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("in different orders"));
  }
}

TEST_F(CaffeFiles, DarknetsHeads) {
  const Pair pair = DarknetNetwork();
  const std::string net = Put("net.cfg", pair.network);
  Put("net.weights", pair.weights);
  const auto raw = Import(net), decoded = Import(net, {.format_options = {{"decode_heads", true}}});
  ASSERT_TRUE(raw.ok()) << raw.status();
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(raw->graph->outputs()[0]->type().ToString(), "float32[1,7,4,4]");
  EXPECT_EQ(decoded->graph->outputs()[0]->type().ToString(), "float32[16,7]");
}

TEST_F(CaffeFiles, WhatIsWrongWithConfigurations) {
  const std::string net = "[net]\nwidth=4\nheight=4\nchannels=1\n";
  const struct {
    std::string text, message;
  } rows[] = {{net + "[route]\nlayers=-2\n", "no layer -2 before it"},
              {net + "[route]\n", "no 'layers'"},
              {net + "[maxpool]\nsize=9\nstride=1\npadding=0\n", "planes of 0 x 0"},
              {net + "[tree]\n[wild]\n[tree]\n", "darknet.tree (2 nodes)"},
              {net + "[lstm]\noutput=3\n", "name the file of the weights"},
              {"[net]\nchannels=3\n[dropout]\n", "neither height and width nor inputs"},
              {net + "[dropout]\n=1\n", "line 6: '=1' is not KEY=VALUE"},
              {net + "[dropout]\nfade=1\n", "fade"},
              {net + "[activation]\nactivation=wild\n", "activation=wild"},
              {net + "[dropout]\n[shortcut]\nfrom=-1\nweights_type=per_channel\n",
               "name the file of the weights"},
              {net + "[upsample]\nstride=0\n", "a stride of 0"},
              {net + "[upsample]\nstride=-3\n", "rectangles that do not fill"},
              {net + "[maxpool]\nmaxpool_depth=1\nout_channels=3\n", "groups of different sizes"},
              {"[net]\nwidth=x\nheight=4\n[dropout]\n", "the value of 'width' is 'x'"}};
  for (const auto& row : rows) {
    const absl::Status status = Import(Put("net.cfg", row.text)).status();
    EXPECT_FALSE(status.ok()) << row.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.message));
  }
}

TEST_F(CaffeFiles, NcnnAsTextAndNumbers) {
  const Pair pair = NcnnNetwork();
  Put("net.bin", pair.weights);
  // Of both filters: 6.5, 8.5, 12.5, 14.5, and half of -5, -7, -11, -13.
  const std::string turned = "float32[1,2,2,2]{6.5, -2.5, 8.5, -3.5, 12.5, -5.5, 14.5, -6.5}";
  const std::string expected = turned + "; float32[1,1]{12.5}";
  EXPECT_EQ(Results(Put("net.param", pair.network), Image()), expected);
  EXPECT_EQ(Results(Put("net.param.bin", NcnnBinaryParam()), Image()), expected);
}

TEST_F(CaffeFiles, WhatIsWrongWithNcnnsHeads) {
  const std::string head = "7767517\n2 2\nInput x 0 1 x 0=4 1=4 2=12\n";
  const struct {
    const char *layer, *message;
  } rows[] = {{"YoloDetectionOutput y 1 1 x y 0=1 1=3 -23304=2,1.0,2.0", "a head of 12 channels"},
              {"YoloDetectionOutput y 1 1 x y 0=1 1=2 -23304=2,1.0,2.0", "no anchor 1 among 1"},
              {"Yolov3DetectionOutput y 1 1 x y 0=1 1=2 -23304=4,1.0,2.0,3.0,4.0 -23305=1,0.0",
               "no anchor"},
              {"PriorBox y 1 1 x y -23300=1,4.0 9=-233 10=-233", "as MXNet has them"},
              {"PriorBox y 1 1 x y -23300=1,4.0 -23302=1,-2.0 9=8 10=8", "a ratio of -2"},
              {"GridSample y 1 1 x y 0=4", "sample_type 4"},
              {"Einsum y 1 1 x y -23300=2,36,36", "letter 36"},
              {"Diag y 1 1 x y", "no matrix or list"},
              {"Fold y 1 1 x y 1=2", "an image of 0 x 0"},
              {"Flip y 1 1 x y", "no axis to turn"}};
  for (const auto& row : rows) {
    const absl::Status status = Import(Put("net.param", StrCat(head, row.layer, "\n"))).status();
    EXPECT_FALSE(status.ok()) << row.layer;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.message)) << row.layer;
  }
}

TEST_F(CaffeFiles, Caffe2sNetsInArguments) {
  const std::string head =
      "name: \"net\" external_input: \"x\" external_output: \"y\"\n"
      "op { output: \"yes\" type: \"GivenTensorBoolFill\" arg { name: \"shape\" } arg { name: "
      "\"values\" ints: 1 } }\n";
  const auto op = [](const std::string& nets) {
    return "op { input: \"yes\" input: \"x\" output: \"y\" type: \"If\" " + nets + " }\n";
  };
  const std::string twice = "op { input: \"x\" input: \"x\" output: \"y\" type: \"Add\" }";
  const Tensor x = Tensor::Of<float>({2}, {1, -3});
  const struct {
    std::string text, result;
  } rows[] = {
      // A blob that only one net writes is a result where it was there before.
      {op("arg { name: \"then_net\" n { " + twice +
          " } } arg { name: \"else_net\" n { op { input: \"x\" "
          "output: \"y\" type: \"Relu\" } } }"),
       "float32[2]{2, -6}"},
      {"op { input: \"x\" output: \"y\" type: \"Copy\" }\n" +
           op("arg { name: \"then_net\" n { " + twice + " } }"),
       "float32[2]{2, -6}"},
      {op("arg { name: \"then_net\" n { " + twice + " } }"), "no operator produces the output 'y'"},
      {op(""), "a branch without its net or condition"},
      {"op { input: \"x\" output: \"y\" type: \"Other\" arg { name: \"step\" n { " + twice +
           " } } }",
       "argument 'step' is a net"},
      {"op { input: \"yes\" output: \"y\" type: \"While\" }", "a loop without its net"}};
  for (const auto& row : rows) {
    EXPECT_THAT(Results(Put("predict_net.pbtxt", head + row.text), x), HasSubstr(row.result));
  }
  // Steps: sums of a sequence's rows. The net is a message, or text as older nets have it.
  const std::string sums = "op { input: 'before' input: 'row' output: 'after' type: 'Add' }";
  const auto steps = [](const std::string& net, const std::string& offsets,
                        const std::string& alias) {
    const auto names = [](const std::string& arg, std::initializer_list<const char*> values) {
      std::string text = "arg { name: \"" + arg + "\"";
      for (const char* value : values) text += std::string(" strings: \"") + value + "\"";
      return text + " }";
    };
    return "op { input: \"x\" output: \"sequence\" type: \"Reshape\" arg { name: \"shape\" ints: 2 "
           "ints: 1 ints: 1 } }\n"
           "op { output: \"none\" type: \"ConstantFill\" arg { name: \"shape\" ints: 1 } }\n"
           "op { input: \"sequence\" input: \"none\" output: \"y\" type: \"RecurrentNetwork\" " +
           names("recurrent_states", {"state"}) +
           "arg { name: \"initial_recurrent_state_ids\" ints: 1 }" +
           names("link_internal", {"before", "after", "row"}) +
           names("link_external", {"state", "state", "sequence"}) + "arg { name: \"link_offset\" " +
           offsets + " }" + names("alias_src", {alias.c_str()}) + names("alias_dst", {"y"}) +
           "arg { name: \"alias_offset\" ints: 1 }" + "arg { name: \"step_net\" " + net + " } }";
  };
  const std::string message = "n { " + sums + " }";
  const std::string all = "ints: 0 ints: 1 ints: 0";
  const struct {
    std::string text, result;
  } recurrent[] = {
      {steps(message, all, "state"), "float32[2,1,1]{1, -2}"},
      {steps("s: \"" + sums + "\"", all, "state"), "float32[2,1,1]{1, -2}"},
      // Training's net, whose blobs nothing makes here.
      {steps(message +
                 " } arg { name: \"backward_step_net\" n { op { input: \"grad\" output: \"g\" "
                 "type: \"Copy\" } }",
             all, "state"),
       "float32[2,1,1]{1, -2}"},
      {steps(message, "ints: 0 ints: 1 ints: 1", "state"), "a link to 'sequence' from row 1"},
      {steps(message, "ints: 0 ints: 0 ints: 0", "state"),
       "the step net does not produce state 'state'"},
      {steps(message, "ints: 0 ints: 1", "state"), "links with different numbers of operands"},
      {steps(message, all, "none"), "blob 'y' is a range of rows of 'none', which is not a state"},
      {steps("s: \"\"", all, "state"), "a recurrent network without a step net"},
      {steps("n { op { input: \"before\" output: \"x\" type: \"Copy\" } }", all, "state"),
       "a step that changes 'x' outside"}};
  for (const auto& row : recurrent) {
    EXPECT_THAT(Results(Put("predict_net.pbtxt", head + row.text), x), HasSubstr(row.result));
  }
  // Nets in nets in nets.
  std::string deep = twice;
  for (int i = 0; i < 300; ++i) {
    deep = "op { input: \"yes\" output: \"y\" type: \"If\" arg { name: \"then_net\" n { " + deep +
           " } } }";
  }
  EXPECT_THAT(Results(Put("predict_net.pbtxt", head + deep), x), HasSubstr("nested too deeply"));
}

TEST_F(CaffeFiles, NcnnsTags) {
  const std::string net =
      Put("net.param", "7767517\n2 2\nInput x 0 1 x 0=2\nInnerProduct y 1 1 x y 0=1 2=2\n");
  const Tensor x = Tensor::Of<float>({1, 2}, {1, 10});
  const std::string half = std::string("\x47\x6b\x30\x01", 4) + std::string("\x00\x3c\x00\x40", 4);
  std::string table = std::string("\x01\x00\x00\x00", 4);
  std::vector<float> numbers(256, 0);
  numbers[7] = 1;
  numbers[9] = 2;
  table += NcnnBytes(numbers, false) + std::string("\x07\x09\0\0", 4);
  for (const std::string& bytes : {half, table, NcnnBytes({1, 2}, true)}) {
    Put("net.bin", bytes);
    EXPECT_EQ(Results(net, x), "float32[1,1]{21}");
  }
  Put("net.bin", NcnnBytes({1}, true));
  EXPECT_THAT(Results(net, x), HasSubstr("the weights file is too short: 4 bytes are left"));
  Put("net.bin", NcnnBytes({1, 2, 3}, true));
  EXPECT_THAT(Results(net, x), HasSubstr("has 4 bytes more"));
}

TEST_F(CaffeFiles, WhatIsWrongWithNcnns) {
  const struct {
    std::string text, message;
  } rows[] = {
      {"7767517\n2 2\nInput x 0 1 x\n", "2 layers, but the file has 1"},
      {"7767517\n1 1\nReLU y 1 1 x y\n", "produces blob 'x'"},
      {"7767517\n2 2\nInput x 0 1 x\nReLU y 1 9 x y\n", "line 4: a layer is incomplete"},
      {"7767517\n2 2\nInput x 0 1 x\nReLU y 1 1 x y 0:1\n", "'0:1' is not a parameter"},
      {"7767517\n3 3\nInput x 0 1 x\nFlow y 1 1 x y\nFlow z 1 1 y z\n", "ncnn.Flow (2 nodes)"},
      {"7767517\n2 2\nInput x 0 1 x 0=9\nSPP y 1 1 x y\n", "ncnn.SPP"},
      {"7767517\n2 2\nInput x 0 1 x 0=9\nSpectrogram y 1 1 x y 0=5000\n", "more than 2048"},
      {"7767517\n2 2\nInput x 0 1 x 0=9\nSpectrogram y 1 1 x y 0=4 3=5\n", "windows of 5 in 4"},
      {"7767517\n2 3\nInput x 0 1 x 0=9\nSlice y 1 2 x y z -23302=1,12\n", "from 0 to 12"},
      {"7767517\n2 2\nInput x 0 1 x 0=4 1=3 2=2\nSDPA y 1 1 x y\n", "attention of 1 operands"},
      {"7767517\n2 2\nInput x 0 1 x\nConvolution y 1 1 x y 0=-1 1=3 6=-9\n", "impossible size"}};
  for (const auto& row : rows) {
    Put("net.bin", "\0\0\0\0");
    const absl::Status status = Import(Put("net.param", row.text)).status();
    EXPECT_FALSE(status.ok()) << row.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.message));
  }
  const std::string binary = NcnnBinaryParam();
  for (size_t size = 12; size < binary.size(); size += 4) {
    EXPECT_FALSE(ncnn::ParseBinaryParam(std::string_view(binary).substr(0, size)).ok()) << size;
  }
}

TEST_F(CaffeFiles, Caffe2sNets) {
  const Pair text = Caffe2Network(true), binary = Caffe2Network(false);
  Put("init_net.pbtxt", text.weights);
  // As Caffe's: 14.5 of the first filter's pool; nothing of the second.
  EXPECT_EQ(Results(Put("predict_net.pbtxt", text.network), Image()), "float32[1,2,1,1]{14.5, 0}");
  Put("init_net.pb", binary.weights);
  EXPECT_EQ(Results(Put("predict_net.pb", binary.network), Image()),
            "float32[1,8]{6.5, 8.5, 12.5, 14.5, -5, -7, -11, -13}");
  for (size_t size = 0; size < binary.network.size(); ++size) {
    EXPECT_FALSE(Import(Put("predict_net.pb", binary.network.substr(0, size))).ok()) << size;
  }
}

// Long lists are taken as they are read, of both types of floats.
TEST_F(CaffeFiles, Caffe2sLargeFills) {
  constexpr int kRows = 1 << 15;
  const std::string net =
      "name: \"net\" external_input: \"x\" external_input: \"w\" external_output: \"y\"\n"
      "op { input: \"w\" input: \"x\" output: \"y\" type: \"Add\" }";
  const std::string path = Put("predict_net.pbtxt", net);
  std::string values;
  for (int i = 0; i < 2 * kRows; ++i) StrAppend(&values, "floats: ", i, " ");
  const auto put = [&](const std::string& type, int rows) {
    Put("init_net.pbtxt",
        StrCat("op { output: \"w\" type: \"", type, "\" arg { name: \"shape\" ints: ", rows,
               " ints: 2 } arg { name: \"values\" ", values, "} }"));
  };
  put("GivenTensorFill", kRows);
  const auto model = Import(path);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto results = RunGraph(*model->graph, {Datum(Tensor::Zeros(DType::kFloat32, {kRows, 2}))});
  ASSERT_TRUE(results.ok()) << results.status();
  const auto sums = (*results)[0].tensor()->span<float>();
  ASSERT_EQ(sums.size(), 2 * kRows);
  for (int i = 0; i < 2 * kRows; ++i) ASSERT_EQ(sums[i], i);
  put("GivenTensorDoubleFill", kRows);
  EXPECT_THAT(std::string(Import(path).status().message()), HasSubstr("expected float64"));
  put("GivenTensorFill", kRows + 1);
  EXPECT_THAT(std::string(Import(path).status().message()), HasSubstr("65536 numbers of 65538"));
}

}  // namespace
}  // namespace x2ir
