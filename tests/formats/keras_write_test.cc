// Archives of Keras 3 that are written: what Keras's deserializer reads in them, where weights are,
// and what the HDF5 library says of them, where its programs are installed.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/formats/keras/network_order_internal.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Orders as keras.src.ops.function.map_graph gives them, made out by hand.
TEST(KerasOrder, IsThatOfFunctionalModels) {
  using Inputs = std::vector<std::vector<int>>;
  struct Row {
    const char* what;
    Inputs inputs;
    std::vector<int> outputs, ports, order;
  };
  const Row rows[] = {
      {"a chain", {{}, {0}, {1}}, {2}, {0}, {0, 1, 2}},
      {"two of one distance, in the order of the walk",
       {{}, {0}, {0}, {2, 1}},
       {3},
       {0},
       {0, 2, 1, 3}},
      {"the longer way decides", {{}, {0}, {1}, {0, 2}}, {3}, {0}, {0, 1, 2, 3}},
      {"a port that is not used comes last", {{}, {}, {0}}, {2}, {0, 1}, {0, 1, 2}},
      {"what no output needs is left out", {{}, {0}, {0}}, {2}, {0}, {0, 2}},
      {"two outputs", {{}, {0}, {1}, {0}}, {2, 3}, {0}, {0, 1, 2, 3}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(keras::OrderOfLayers(row.inputs, row.outputs, row.ports), row.order) << row.what;
  }
}

class KerasWrite : public TempDirTest {
 protected:
  // The archive of a graph of IR.
  static absl::StatusOr<std::string> Archive(std::string_view text) {
    Model model;
    X2IR_ASSIGN_OR_RETURN(model.graph, ParseGraph(text));
    std::string bytes;
    X2IR_RETURN_IF_ERROR(
        Export(std::move(model), Sink::To(&bytes, "m.keras"), {.format = "keras"}));
    return bytes;
  }
  static std::string Entry(const std::string& archive, std::string_view name) {
    const auto held = std::make_shared<const std::string>(archive);
    const auto blob = Blob::InMemory(
        {reinterpret_cast<const std::byte*>(held->data()), held->size()}, held, "m.keras");
    auto zip = ZipArchive::Open(blob);
    if (!zip.ok() || !zip->Find(name)) return "";
    const auto bytes = zip->Read(*zip->Find(name));
    return bytes.ok() ? std::string(bytes->view) : "";
  }
  static Json Config(const std::string& archive) {
    const auto json = Json::Parse(Entry(archive, "config.json"));
    return json.ok() ? *json : Json();
  }
};

constexpr char kNetwork[] = R"(graph net(x: float32[batch,4], y: float32[batch,3]) -> (z) {
  w = float32[4,3]{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
  b = float32[3]{1, 2, 3}
  k = float32[1,3]{0.5, 0.25, -1}
  d = gemm(x, w, b) { alpha = 1.0, beta = 1.0, transA = 0, transB = 0 }
  r = relu(d)
  s = add(r, y)
  z = mul(s, k)
})";

TEST_F(KerasWrite, HasWhatTheDeserializerReads) {
  const auto archive = Archive(kNetwork);
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_THAT(Entry(*archive, "metadata.json"), HasSubstr("\"keras_version\": \"3."));
  const Json root = Config(*archive);
  EXPECT_EQ(root["module"].text(), "keras.src.models.functional");
  EXPECT_EQ(root["class_name"].text(), "Functional");
  EXPECT_EQ(root["registered_name"].text(), "Functional");
  const Json& config = root["config"];
  EXPECT_EQ(config["input_layers"].ToString(), R"([["x", 0, 0], ["y", 0, 0]])");
  EXPECT_EQ(config["output_layers"].ToString(), R"([["z", 0, 0]])");
  ASSERT_EQ(config["layers"].size(), 5u);
  const Json &x = config["layers"].at(0), &dense = config["layers"].at(1),
             &y = config["layers"].at(2), &add = config["layers"].at(3),
             &mul = config["layers"].at(4);
  EXPECT_EQ(x["class_name"].text(), "InputLayer");
  EXPECT_EQ(x["config"]["batch_shape"].ToString(), "[null, 4]");
  EXPECT_EQ(x["inbound_nodes"].ToString(), "[]");
  EXPECT_EQ(y["class_name"].text(), "InputLayer");
  EXPECT_EQ(dense["module"].text(), "keras.layers");
  EXPECT_EQ(dense["class_name"].text(), "Dense");
  EXPECT_TRUE(dense["registered_name"].is_null());
  EXPECT_EQ(dense["build_config"].ToString(), R"({"input_shape": [null, 4]})");
  EXPECT_EQ(dense["config"]["units"].Int(), 3);
  EXPECT_EQ(dense["config"]["activation"].text(), "relu");
  EXPECT_TRUE(dense["config"]["use_bias"].Flag());
  EXPECT_EQ(dense["name"].text(), dense["config"]["name"].text());
  EXPECT_EQ(dense["inbound_nodes"].ToString(),
            R"([{"args": [{"class_name": "__keras_tensor__", "config": {"shape": [null, 4], )"
            R"("dtype": "float32", "keras_history": ["x", 0, 0]}}], "kwargs": {}}])");
  // Layers of several tensors take a list of them.
  EXPECT_EQ(add["class_name"].text(), "Add");
  const Json& args = add["inbound_nodes"].at(0)["args"];
  ASSERT_EQ(args.size(), 1u);
  ASSERT_EQ(args.at(0).size(), 2u);
  EXPECT_EQ(args.at(0).at(1)["config"]["keras_history"].ToString(), R"(["y", 0, 0])");
  // Operations are not registered, and have constants as arrays.
  EXPECT_EQ(mul["module"].text(), "keras.src.ops.numpy");
  EXPECT_EQ(mul["class_name"].text(), "Multiply");
  EXPECT_EQ(mul["registered_name"].text(), "Multiply");
  EXPECT_EQ(mul["config"].ToString(), "{}");
  EXPECT_EQ(mul["inbound_nodes"].at(0)["args"].at(1).ToString(),
            R"({"class_name": "__numpy__", "config": {"value": [[0.5, 0.25, -1.0]], )"
            R"("dtype": "float32"}})");
}

TEST_F(KerasWrite, ComesBackWithTheSameBytes) {
  const auto archive = Archive(kNetwork);
  ASSERT_TRUE(archive.ok()) << archive.status();
  absl::StatusOr<Model> back = Import(Source::Bytes(*archive, {}, "m.keras"));
  ASSERT_TRUE(back.ok()) << back.status();
  std::string again;
  const absl::Status written =
      Export(*std::move(back), Sink::To(&again, "m.keras"), {.format = "keras"});
  ASSERT_TRUE(written.ok()) << written;
  EXPECT_TRUE(*archive == again);
}

// The programs of the HDF5 library see the groups and datasets that Keras looks for, and their
// numbers.
TEST_F(KerasWrite, IsReadByTheHdf5Library) {
  if (std::system("command -v h5dump >/dev/null && command -v h5ls >/dev/null") != 0) {
    GTEST_SKIP() << "h5dump and h5ls (package hdf5-tools) are missing";
  }
  const auto archive = Archive(kNetwork);
  ASSERT_TRUE(archive.ok()) << archive.status();
  const std::string file = Put("w.h5", Entry(*archive, "model.weights.h5"));
  const auto run = [&](const std::string& command) {
    std::string output;
    FILE* pipe = popen(command.c_str(), "r");
    char buffer[256];
    while (std::fgets(buffer, sizeof(buffer), pipe)) output += buffer;
    EXPECT_EQ(pclose(pipe), 0) << command;
    return output;
  };
  const std::string list = run("h5ls -r " + file);
  for (const char* path : {"/layers/add/vars ", "/layers/dense/vars/0 ", "/layers/dense/vars/1 ",
                           "/layers/input_layer/vars ", "/layers/input_layer_1/vars "}) {
    EXPECT_THAT(list, HasSubstr(path));
  }
  EXPECT_THAT(list, Not(HasSubstr("multiply")));
  EXPECT_THAT(run("h5dump -d /layers/dense/vars/0 " + file), HasSubstr("(3,0): 10, 11, 12"));
}

TEST_F(KerasWrite, RefusesWhatAnArchiveCannotHold) {
  const auto archive = Archive(
      "graph g(x: float32[n,4], y: float32[n,4,4]) -> (z, u) {\n z = non_zero(x)\n u = det(y)\n }");
  ASSERT_FALSE(archive.ok());
  // All at once.
  EXPECT_THAT(std::string(archive.status().message()), HasSubstr("non_zero"));
  EXPECT_THAT(std::string(archive.status().message()), HasSubstr("det"));
}

TEST_F(KerasWrite, RefusesConstantsThatAreNoWeights) {
  const auto archive =
      Archive("graph g(x: float32[300,300]) -> (z) {\n k: float32[300,300]\n z = add(x, k)\n }");
  ASSERT_FALSE(archive.ok());
  EXPECT_THAT(std::string(archive.status().message()), HasSubstr("the constant 'k' of 90000"));
  const auto output =
      Archive("graph g(x: float32[2]) -> (z, k) {\n k = float32[1]{1}\n z = add(x, k)\n }");
  ASSERT_FALSE(output.ok());
  EXPECT_THAT(std::string(output.status().message()), HasSubstr("output 'k' is a constant"));
}

}  // namespace
}  // namespace x2ir
