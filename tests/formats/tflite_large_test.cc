// A TFLite file of more than 2 GB: buffers that say offset and size behind the FlatBuffer. The
// weights are a file with a hole; what is written of it takes room, and the test is skipped where
// there is none.

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/formats/tflite/tflite.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRows = 2050, kColumns = 1 << 20;
constexpr uint64_t kBytes = static_cast<uint64_t>(kRows) * kColumns;

using TfliteLarge = TempDirTest;

Value* AddGather(Graph& graph, const char* name, Tensor table, Value* rows) {
  Shape shape = Shape::FromInts(table.dims());
  const DType type = table.dtype();
  Value* weights = graph.AddConstant(std::string(name) + "_table", std::move(table));
  Node* node = graph.AppendNode(tflite::kDialect, "GATHER", {weights, rows});
  node->SetAttr("axis", 0);
  node->SetAttr("batch_dims", 0);
  shape[0] = Dim(1);
  Value* y = graph.AddNodeOutput(node, name, Type::Tensor(type, std::move(shape)));
  graph.AddOutput(y);
  return weights;
}

std::string TextAt(const Value* v, uint64_t from, size_t size) {
  const auto bytes = v->constant()->bytes();
  return {reinterpret_cast<const char*>(bytes.data()) + from, size};
}

TEST_F(TfliteLarge, BuffersBehindTheFlatBuffer) {
  const uint64_t room = fs::space(folder_).available;
  if (room < 3 * kBytes) GTEST_SKIP() << "only " << room << " bytes of room";
  const std::string_view head = "the first bytes", end = "the last bytes of the weights";
  {
    std::ofstream file(Path("weights"), std::ios::binary);
    file << head;
    file.seekp(static_cast<std::streamoff>(kBytes - end.size()));
    file << end;
  }
  auto mapped = MappedFile::Open(Path("weights"));
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  auto weights = Tensor::FromFile(DType::kInt8, {kRows, kColumns}, *mapped, 0, kBytes);
  ASSERT_TRUE(weights.ok()) << weights.status();

  Model model;
  model.source_dialect = std::string(tflite::kDialect);
  Graph& graph = *model.graph;
  Value* rows = graph.AddInput("rows", Type::Tensor(DType::kInt32, Shape{1}));
  AddGather(graph, "large", *std::move(weights), rows);
  AddGather(graph, "small", Tensor::Of<int32_t>({4}, {7, 8, 9, 10}), rows);
  const absl::Status written = WriteTflite(model, Sink(Path("model.tflite")));
  ASSERT_TRUE(written.ok()) << written;

  const uint64_t size = fs::file_size(Path("model.tflite"));
  EXPECT_GT(size, kBytes);
  EXPECT_LT(size, kBytes + 4096);
  const absl::StatusOr<Model> read = ReadTflite(Path("model.tflite"));
  ASSERT_TRUE(read.ok()) << read.status();
  const Value* large = read->graph->Find("large_table");
  const Value* small = read->graph->Find("small_table");
  ASSERT_TRUE(large && large->constant() && small && small->constant());
  EXPECT_EQ(large->constant()->dims(), (std::vector<int64_t>{kRows, kColumns}));
  EXPECT_EQ(TextAt(large, 0, head.size()), head);
  EXPECT_EQ(TextAt(large, kBytes / 2, 4), std::string(4, '\0'));
  EXPECT_EQ(TextAt(large, kBytes - end.size(), end.size()), end);
  EXPECT_TRUE(*small->constant() == Tensor::Of<int32_t>({4}, {7, 8, 9, 10}));

  // A file that was cut off is refused before anything is looked at.
  fs::resize_file(Path("model.tflite"), size - 64);
  EXPECT_FALSE(ReadTflite(Path("model.tflite")).ok());
}

}  // namespace
}  // namespace x2ir
