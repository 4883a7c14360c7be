// Symbols of MXNet and their parameters, of all ages, and what is wrong with broken ones.
#include "x2ir/formats/mxnet/mxnet.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/symbol_files_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/mxnet/ndarray_list.h"
#include "x2ir/formats/nnvm/symbol_json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/info.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using namespace symbol_files;
using ::testing::HasSubstr;

using Mxnet = TempDirTest;

absl::StatusOr<std::vector<NamedTensor>> ReadList(const std::string& bytes) {
  return ReadNdarrayList(Blob::InMemory(
      absl::Span<const std::byte>(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()),
      nullptr, "list"));
}

std::string ListText(const std::string& bytes) {
  const auto list = ReadList(bytes);
  if (!list.ok()) return std::string(list.status().message());
  std::string text;
  for (const auto& entry : *list) {
    StrAppend(&text, text.empty() ? "" : "; ", entry.name, " ", TensorText(entry.tensor));
  }
  return text;
}

TEST_F(Mxnet, ListsOfAllVersions) {
  for (const Version version : {Version::kLegacy, Version::k1, Version::k2, Version::k3}) {
    const std::string list =
        MxnetList({{"arg:a", ArrayBytes(Floats({1, 2}, {1, 2}), version)},
                   {"b", ArrayBytes({{2}, std::string("\1\377", 2), 5}, version)}});
    EXPECT_EQ(ListText(list), "arg:a float32[1,2]{1, 2}; b int8[2]{1, -1}");
  }
  // Since version 3 an array may have no axes; before it is none.
  EXPECT_EQ(ListText(MxnetList({{"a", ArrayBytes(Floats({}, {7}), Version::k3)}})),
            "a float32[]{7}");
  const std::string none = ArrayBytes(Floats({}, {}), Version::k2).substr(0, 12);
  EXPECT_EQ(ListText(MxnetList({{"a", none}})), "");
}

// numpy.savez(file, **{"arg:a": [[1, 2]] as float32, "b": [1, -1] as int8}), stored and deflated.
TEST_F(Mxnet, ArchivesOfNumpy) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    EXPECT_EQ(ListText(ReadFile(StrCat(X2IR_SOURCE_DIR, "/tests/data/mxnet/", name))),
              "arg:a float32[1,2]{1, 2}; b int8[2]{1, -1}")
        << name;
  }
}

TEST_F(Mxnet, SparseArrays) {
  EXPECT_EQ(ListText(MxnetList({{"a", RowSparse({3, 2}, {2, 0}, {1, 2, 3, 4})}})),
            "a float32[3,2]{3, 4, 0, 0, 1, 2}");
  EXPECT_EQ(ListText(MxnetList({{"a", Csr({2, 3}, {0, 1, 3}, {2, 0, 1}, {5, 6, 7})}})),
            "a float32[2,3]{0, 0, 5, 6, 7, 0}");
  EXPECT_THAT(ListText(MxnetList({{"a", RowSparse({3, 2}, {3}, {1, 2})}})), HasSubstr("no row 3"));
  EXPECT_THAT(ListText(MxnetList({{"a", Csr({2, 3}, {0, 4, 3}, {2, 0, 1}, {5, 6, 7})}})),
              HasSubstr("row 0 has no elements"));
  EXPECT_THAT(ListText(MxnetList({{"a", RowSparse({int64_t{1} << 40, 2}, {3}, {1, 2})}})),
              HasSubstr("too large"));
}

// Every prefix of a list is an error that says where it ends.
TEST_F(Mxnet, ListsThatAreCutOff) {
  const std::string list = NetworkParams(Version::k2);
  for (size_t size = 0; size < list.size(); ++size) {
    EXPECT_EQ(ReadList(list.substr(0, size)).status().code(), absl::StatusCode::kDataLoss) << size;
  }
  std::string huge = list;
  huge[23] = '\x7f';  // of the number of arrays
  EXPECT_THAT(ListText(huge), HasSubstr("does not fit into the file"));
  EXPECT_THAT(ListText(MxnetList({{"a", ArrayBytes({{1}, "x", 77}, Version::k2)}})),
              HasSubstr("elements of type 77"));
  EXPECT_THAT(ListText(MxnetList({{"a", ArrayBytes(Floats({-1, 2}, {}), Version::k2)}})),
              HasSubstr("an impossible shape"));
}

// One network as the JSON of several ages; what it computes is the same.
TEST_F(Mxnet, SymbolsOfAllAges) {
  for (const int version : {800, 905, 10700}) {
    SCOPED_TRACE(version);
    Put("net-0002.params", NetworkParams(Version::k1));
    Put("net-0012.params", NetworkParams(Version::k2));
    Put("net-0003.params", "broken");
    const std::string symbol = Put("net-symbol.json", NetworkJson(version));
    const absl::StatusOr<Model> model = Import(symbol);
    ASSERT_TRUE(model.ok()) << model.status();
    // The label is gone, and the convolution says what its operand is.
    ASSERT_EQ(model->graph->inputs().size(), 1u);
    EXPECT_EQ(model->graph->inputs()[0]->type().ToString(), "float32[data_0,1,data_2,data_3]");
    EXPECT_EQ(model->graph->outputs()[0]->name(), "softmax_output");
    // All of the image's 4 pixels are in each sum: 4, and the fixed gamma counts as 1.
    const Tensor x = Tensor::Of<float>({1, 1, 2, 2}, {1, 1, 1, 1});
    const auto results = RunGraph(*model->graph, {Datum(x)});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(TensorText(*(*results)[0].tensor()), "float32[1,2]{0.26894143, 0.7310586}");
  }
}

TEST_F(Mxnet, FilesByAnyName) {
  Put("net-0000.params", NetworkParams(Version::k2));
  const std::string symbol = Put("net-symbol.json", NetworkJson(10700));
  for (const std::string& name :
       {symbol, (folder_ / "net-0000.params").string(), folder_.string()}) {
    EXPECT_EQ(*DetectFormat(name), "mxnet") << name;
    EXPECT_TRUE(Import(name).ok()) << Import(name).status();
  }
  const auto info = Inspect(symbol);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->producer, "MXNet 1.7.0");
  // Another file of parameters, if it is asked for.
  const std::string other = Put("other.params", NetworkParams(Version::kLegacy));
  EXPECT_TRUE(Import(symbol, {.format_options = {{"params", other}}}).ok());
  EXPECT_THAT(
      Import(symbol, {.format_options = {{"params", std::string("none")}}}).status().message(),
      HasSubstr("none"));
  EXPECT_THAT(Import(other).status().message(), HasSubstr("other-symbol.json"));
  // In memory the parameters are asked for by their names.
  const std::string params = NetworkParams(Version::k2);
  std::string asked;
  const Source memory = Source::Bytes(
      NetworkJson(10700),
      [&](const std::string& name) -> absl::StatusOr<HeldBytes> {
        asked = name;
        return HeldBytes{{reinterpret_cast<const std::byte*>(params.data()), params.size()},
                         nullptr};
      },
      "net-symbol.json");
  EXPECT_TRUE(Import(memory).ok());
  EXPECT_EQ(asked, "net-0000.params");
}

// Weights of halves say that the operand is of halves, where nothing else does.
TEST_F(Mxnet, HalvesFromTheWeights) {
  const std::string halves("\0\x3c\0\x40", 4);  // 1, 2
  const std::string net = SymbolJson({{"null", "data"},
                                      {"_mul_scalar", "twice", {{0, 0, 0}}, R"({"scalar": "2"})"},
                                      {"null", "fc_weight"},
                                      {"FullyConnected",
                                       "fc",
                                       {{1, 0, 0}, {2, 0, 0}},
                                       R"({"num_hidden": "1", "no_bias": "True"})"}},
                                     "[[3, 0, 0]]");
  Put("net-0000.params",
      MxnetList({{"arg:fc_weight", ArrayBytes({{1, 2}, halves, 2}, Version::k2)}}));
  const auto model = Import(Put("net-symbol.json", net));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->graph->inputs()[0]->type().ToString(), "float16[...]");
  EXPECT_EQ(model->graph->outputs()[0]->dtype(), DType::kFloat16);
}

// What is missing is said all at once.
TEST_F(Mxnet, MissingParameters) {
  const std::string symbol = Put("net-symbol.json", NetworkJson(10700));
  const absl::Status none = Import(symbol).status();
  EXPECT_THAT(none.message(), HasSubstr("5 weights"));
  EXPECT_THAT(none.message(), HasSubstr("'bn_moving_var'"));
  EXPECT_TRUE(Load(symbol).ok());
  Put("net-0000.params",
      MxnetList({{"arg:conv_weight",
                  ArrayBytes(Floats({2, 1, 3, 3}, std::vector<float>(18, 1)), Version::k2)}}));
  EXPECT_THAT(Import(symbol).status().message(), HasSubstr("4 weights"));
  Put("net-0000.params", NetworkParams(Version::k2).substr(0, 200));
  EXPECT_THAT(Import(symbol).status().message(), HasSubstr("net-0000.params"));
}

TEST_F(Mxnet, BrokenSymbols) {
  struct Row {
    std::string text, message;
  };
  const Row rows[] = {
      {SymbolJson({{"null", "x"}, {"abs", "y", {{2, 0, 0}}}}, "[[1, 0, 0]]"), "no node 2 so far"},
      {SymbolJson({{"null", "x"}, {"abs", "y", {{0, 0, 0}}}}, "[[7, 0, 0]]"), "no node 7"},
      {SymbolJson({{"null", "x"}, {"abs", "y", {{0, 3, 0}}}}, "[[1, 0, 0]]"), "one output"},
      {SymbolJson({{"null", "x"}, {"abs", "y", {{-1, 0, 0}}}}, "[[1, 0, 0]]"), "no node -1"},
      {SymbolJson({{"null", "x"}, {"abs", "y", {{0, 0, 0}}}}, "[[1, 2000000000, 0]]"),
       "a node cannot have an output"},
      {R"({"nodes": [{"op": "null", "name": "x", "inputs": []}]})", "\"heads\""},
      {SymbolJson(
           {{"null", "x"}, {"Foo", "y", {{0, 0}}}, {"Bar", "z", {{1, 0}}}, {"Foo", "w", {{2, 0}}}},
           "[[3, 0]]"),
       "2 ops (3 nodes)"},
      {SymbolJson({{"null", "x"}, {"Reshape", "y", {{0, 0}}, R"j({"shape": "(2, x)"})j"}},
                  "[[1, 0]]"),
       "'(2, x)', which is no list of integers"},
  };
  for (const Row& row : rows) {
    const std::string path = Put("net-symbol.json", row.text);
    EXPECT_THAT(Import(path).status().message(), HasSubstr(row.message)) << row.text;
  }
}

TEST_F(Mxnet, ShapesAndTypesOfVariables) {
  const auto types = [&](const std::string& attrs, const std::string& of_graph) {
    const std::string path = Put(
        "net-symbol.json",
        SymbolJson({{"null", "x", {}, attrs}, {"abs", "y", {{0, 0, 0}}}}, "[[1, 0, 0]]", of_graph));
    const auto model = Load(path);
    return model.ok() ? model->graph->inputs()[0]->type().ToString()
                      : std::string(model.status().message());
  };
  const std::string legacy = R"({"mxnet_version": ["int", 10700]})";
  const std::string numpy = R"({"mxnet_version": ["int", 20000], "is_np_shape": ["int", 1]})";
  EXPECT_EQ(types("", legacy), "float32[...]");
  EXPECT_EQ(types(R"j({"__shape__": "(0, 3, 224)", "__dtype__": "2"})j", legacy),
            "float16[x_0,3,224]");
  EXPECT_EQ(types(R"({"__shape__": "[1L, 2L]", "__dtype__": "-1"})", legacy), "float32[1,2]");
  EXPECT_EQ(types(R"j({"__shape__": "()"})j", legacy), "float32[...]");
  EXPECT_EQ(types(R"j({"__shape__": "()"})j", numpy), "float32[]");
  EXPECT_EQ(types(R"j({"__shape__": "(-1, 0)"})j", numpy), "float32[x_0,0]");
  EXPECT_EQ(types(R"({"__dtype__": "99"})", legacy),
            StrCat("'", (folder_ / "net-symbol.json").string(), "': variable 'x' of type 99"));
}

TEST(Tuples, AsPythonWritesThem) {
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(nnvm::ParseTuple("(1, 2)"), (Ints{1, 2}));
  EXPECT_EQ(nnvm::ParseTuple("[1L, -2L]"), (Ints{1, -2}));
  EXPECT_EQ(nnvm::ParseTuple("(3,)"), Ints{3});
  EXPECT_EQ(nnvm::ParseTuple("7"), Ints{7});
  EXPECT_EQ(nnvm::ParseTuple("()"), Ints{});
  for (const char* text : {"", "(1", "1, 2", "(1 2)", "(a)", "(1]", "(1))"}) {
    EXPECT_FALSE(nnvm::ParseTuple(text)) << text;
  }
}

}  // namespace
}  // namespace x2ir
