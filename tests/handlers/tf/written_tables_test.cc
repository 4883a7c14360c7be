// Lookup tables that are written: in SavedModels with vocabularies in files, in frozen graphs with
// nodes that fill them; and what is read again.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

struct LookupCase {
  const char* name;
  const char *keys, *values, *otherwise;
  const char* x;  // the input's type
  Tensor input;
  const char* result;
  const char* asset;  // the content of assets/table.txt; null: there is none
};

std::vector<LookupCase> LookupCases() {
  const Tensor words = Tensor::Strings({3}, {"b", "z", "a"});
  const Tensor numbers = Tensor::Of<int64_t>({3}, {1, 9, 0});
  return {
      {"words", R"(string[2]{"a", "b"})", "int64[2]{0, 1}", "int64[]{-1}", "string[3]", words,
       "int64[3]{1, -1, 0}", "a\nb\n"},
      {"spaces", R"(string[2]{" a", "b\t"})", "int64[2]{0, 1}", "int64[]{-1}", "string[2]",
       Tensor::Strings({2}, {"b\t", " a"}), "int64[2]{1, 0}", " a\nb\t\n"},
      {"to words", "int64[2]{0, 1}", R"(string[2]{"a", "b"})", R"(string[]{"?"})", "int64[3]",
       numbers, R"(string[3]{"b", "?", "a"})", "a\nb\n"},
      // The first of equal keys counts.
      {"repeated", R"(string[3]{"a", "b", "a"})", "int64[3]{0, 1, 2}", "int64[]{-1}", "string[3]",
       words, "int64[3]{1, -1, 0}", "a\nb\n"},
      // No lines of a file.
      {"others", R"(string[2]{"a", "b"})", "int64[2]{7, 8}", "int64[]{-1}", "string[3]", words,
       "int64[3]{8, -1, 7}", nullptr},
      {"an empty word", R"(string[2]{"a", ""})", "int64[2]{0, 1}", "int64[]{-1}", "string[2]",
       Tensor::Strings({2}, {"", "a"}), "int64[2]{1, 0}", nullptr},
      {"two lines", R"(string[2]{"a", "b\nc"})", "int64[2]{0, 1}", "int64[]{-1}", "string[2]",
       Tensor::Strings({2}, {"b\nc", "b"}), "int64[2]{1, -1}", nullptr},
      {"a return", R"(string[2]{"a", "b\r"})", "int64[2]{0, 1}", "int64[]{-1}", "string[2]",
       Tensor::Strings({2}, {"b\r", "b"}), "int64[2]{1, -1}", nullptr},
      {"words to words", R"(string[2]{"a", "b"})", R"(string[2]{"p", "q"})", R"(string[]{"?"})",
       "string[3]", words, R"(string[3]{"q", "?", "p"})", nullptr},
      {"floats", "int64[2]{0, 1}", "float32[2]{0.5, 2}", "float32[]{-1}", "int64[3]", numbers,
       "float32[3]{2, -1, 0.5}", nullptr},
      {"none", "string[0]{}", "int64[0]{}", "int64[]{5}", "string[3]", words, "int64[3]{5, 5, 5}",
       nullptr},
  };
}

class WrittenTables : public TempDirTest {
 protected:
  static Model ModelOf(const LookupCase& row) {
    const std::string text =
        StrCat("graph g(x: ", row.x, ") -> (y) { y = label_encoder(x) { keys = tensor(", row.keys,
               "), values = tensor(", row.values, "), default = tensor(", row.otherwise, ") } }");
    absl::StatusOr<Model> model = ModelFromText(text, "", 0);
    EXPECT_TRUE(model.ok()) << model.status();
    return model.ok() ? *std::move(model) : Model();
  }
  // The result for the case's input of what is at a path, or the error.
  std::string Result(const std::string& path, const LookupCase& row) {
    absl::StatusOr<Model> model = Import(path);
    if (!model.ok()) return model.status().ToString();
    const auto got = RunGraph(*model->graph, {row.input});
    if (!got.ok()) return got.status().ToString();
    const std::string text = AttributeText(Attribute(*(*got)[0].tensor()));
    return text.substr(7, text.size() - 8);
  }
  std::string Bytes(const std::string& file) {
    std::ifstream in(Path(file), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(WrittenTables, ComeBack) {
  for (const LookupCase& row : LookupCases()) {
    SCOPED_TRACE(row.name);
    const Model model = ModelOf(row);
    for (const std::string name : {"saved", "frozen.pb", "frozen.pbtxt"}) {
      SCOPED_TRACE(name);
      const absl::Status written = Export(model.Clone(), Path(name), {.format = "tensorflow"});
      ASSERT_TRUE(written.ok()) << written;
      EXPECT_EQ(Result(Path(name), row), row.result);
    }
    std::string asset;
    for (const auto& file : fs::recursive_directory_iterator(Path("saved"))) {
      if (file.path().parent_path().filename() == "assets") asset = file.path().filename().string();
    }
    EXPECT_EQ(asset.empty(), row.asset == nullptr) << asset;
    if (row.asset) {
      EXPECT_EQ(Bytes("saved/assets/" + asset), row.asset);
    }
    // Written again as it was read: the same bytes, the file's too.
    const absl::StatusOr<Model> read = ReadTensorFlow(Path("saved"));
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_TRUE(WriteTensorFlow(*read, Path("again")).ok());
    EXPECT_EQ(Bytes("again/saved_model.pb"), Bytes("saved/saved_model.pb"));
    if (row.asset) {
      EXPECT_EQ(Bytes("again/assets/" + asset), row.asset);
    }
    for (const char* folder : {"saved", "again"}) fs::remove_all(Path(folder));
  }
}

// What TensorFlow's loaders look for: the op to run first, and the constant that gets the path.
TEST_F(WrittenTables, AreFilledFirst) {
  ASSERT_TRUE(Export(ModelOf(LookupCases()[0]), Path("saved"), {.format = "tensorflow"}).ok());
  const std::string bytes = Bytes("saved/saved_model.pb");
  for (const char* part :
       {"saved_model_main_op", "init_all_tables", "InitializeTableFromTextFileV2", "HashTableV2",
        "/asset:0", "LookupTableFindV2"}) {
    EXPECT_THAT(bytes, HasSubstr(part));
  }
}

TEST_F(WrittenTables, OfTwoNodesOfOneNameHaveTwoFiles) {
  const std::string text = R"(graph g(x: string[2]) -> (a, b) {
      a = label_encoder(x) {
          keys = tensor(string[1]{"a"}), values = tensor(int64[1]{0}),
          default = tensor(int64[]{-1}) }
      b = label_encoder(x) {
          keys = tensor(string[1]{"b"}), values = tensor(int64[1]{0}),
          default = tensor(int64[]{-1}) } })";
  absl::StatusOr<Model> model = ModelFromText(text, "", 0);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(Export(*std::move(model), Path("saved"), {.format = "tensorflow"}).ok());
  size_t files = 0;
  for (const auto& file : fs::directory_iterator(Path("saved/assets"))) files += file.exists();
  EXPECT_EQ(files, 2u);
  absl::StatusOr<Model> back = Import(Path("saved"));
  ASSERT_TRUE(back.ok()) << back.status();
  const auto got = RunGraph(*back->graph, {Tensor::Strings({2}, {"a", "b"})});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*(*got)[0].tensor(), Tensor::Of<int64_t>({2}, {0, -1}));
  EXPECT_EQ(*(*got)[1].tensor(), Tensor::Of<int64_t>({2}, {-1, 0}));
}

TEST_F(WrittenTables, CategoryMapper) {
  const std::string text = R"(graph g(x: string[3], i: int64[3]) -> (y, s) {
      y = category_mapper(x) { cats_int64s = [7, 8, 9], cats_strings = ["a", "b", "a"],
          default_int64 = -1, default_string = "?" }
      s = category_mapper(i) { cats_int64s = [7, 8, 7], cats_strings = ["a", "b", "c"],
          default_int64 = -1, default_string = "?" } })";
  absl::StatusOr<Model> model = ModelFromText(text, "", 0);
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<Tensor> inputs = {Tensor::Strings({3}, {"a", "b", "c"}),
                                      Tensor::Of<int64_t>({3}, {7, 8, 9})};
  const auto want = RunGraph(*model->graph, {inputs[0], inputs[1]});
  ASSERT_TRUE(want.ok()) << want.status();
  ASSERT_TRUE(Export(*std::move(model), Path("saved"), {.format = "tensorflow"}).ok());
  absl::StatusOr<Model> back = Import(Path("saved"));
  ASSERT_TRUE(back.ok()) << back.status();
  const auto got = RunGraph(*back->graph, {inputs[0], inputs[1]});
  ASSERT_TRUE(got.ok()) << got.status();
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(*(*got)[i].tensor(), *(*want)[i].tensor());
}

TEST_F(WrittenTables, Refused) {
  const struct {
    const char* graph;
    const char* format;
    const char* message;
  } rows[] = {
      {R"(graph g(x: float32[2]) -> (y) { y = label_encoder(x) {
           keys = tensor(float32[1]{1}), values = tensor(int64[1]{0}),
          default = tensor(int64[]{-1}) } })",
       "tensorflow", "a table of float32 and int64"},
      {R"(graph g(x: string[2]) -> (y) { y = label_encoder(x) {
           keys = tensor(string[1]{"a"}), values = tensor(int64[1]{0}),
          default = tensor(int64[]{-1}) } })",
       "tfjs", "label_encoder"},
  };
  for (const auto& row : rows) {
    absl::StatusOr<Model> model = ModelFromText(row.graph, "", 0);
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status status = Export(*std::move(model), Path("out"), {.format = row.format});
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.message));
    EXPECT_FALSE(fs::exists(Path("out")));
  }
}

}  // namespace
}  // namespace x2ir
