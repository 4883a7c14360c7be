// Weights in several files, in files that are referred to, and further than 4 GB into them (files
// with holes, which take no room).
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/formats/ir/ir.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/index.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using External = OnnxWriteOptions::External;

class LargeFiles : public TempDirTest {
 protected:
  // A file of that size with `text` at its end.
  void WriteWithHole(const std::string& name, uint64_t size, std::string_view text) {
    std::ofstream(Path(name), std::ios::binary).flush();
    ASSERT_EQ(::truncate(Path(name).c_str(), static_cast<off_t>(size)), 0);
    std::fstream file(Path(name), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(size - text.size()));
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
  }

  Tensor FromFile(const std::string& name, uint64_t offset, int64_t size) {
    auto file = MappedFile::Open(Path(name));
    EXPECT_TRUE(file.ok()) << file.status();
    auto tensor = Tensor::FromFile(DType::kUInt8, {size}, *file, offset, size);
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    return *tensor;
  }
};

std::string TextOf(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.nbytes()};
}

Model WithConstants(const std::vector<std::pair<std::string, Tensor>>& constants) {
  Model model;
  model.source_dialect = "onnx";
  model.ir_version = 8;
  model.SetOpset("", 17);
  Graph& graph = *model.graph;
  for (const auto& [name, tensor] : constants) graph.AddConstant(name, tensor);
  graph.AddOutput(graph.AddInput("x", Type::Tensor(DType::kFloat32, Shape{1})));
  return model;
}

Tensor Bytes(size_t size, char value) {
  Tensor tensor = Tensor::Zeros(DType::kUInt8, {static_cast<int64_t>(size)});
  std::memset(tensor.mutable_bytes().data(), value, size);
  return tensor;
}

void ExpectSame(const Model& model, const std::string& path) {
  auto read = ReadOnnx(path);
  ASSERT_TRUE(read.ok()) << read.status();
  for (const Value* constant : model.graph->constants()) {
    const Value* other = read->graph->Find(constant->name());
    ASSERT_TRUE(other && other->constant()) << constant->name();
    EXPECT_TRUE(*other->constant() == *constant->constant()) << constant->name();
  }
}

TEST_F(LargeFiles, ExternalDataInSeveralFiles) {
  const Model model = WithConstants({{"a", Bytes(6000, 'a')},
                                     {"b", Bytes(3000, 'b')},
                                     {"c", Bytes(20000, 'c')},
                                     {"d", Bytes(2000, 'd')},
                                     {"e", Bytes(6000, 'a')}});
  ASSERT_TRUE(WriteOnnx(model, Path("one.onnx"), {.external = External::kAlways}).ok());
  ExpectSame(model, Path("one.onnx"));
  EXPECT_FALSE(fs::exists(Path("one.onnx.data.2")));
  // A tensor larger than the limit has a file of its own; nothing else is larger.
  for (const uint64_t limit : {1, 6000, 9100, 30000}) {
    const std::string name = StrCat("limit", limit, ".onnx");
    ASSERT_TRUE(
        WriteOnnx(model, Path(name), {.external = External::kAlways, .max_external = limit}).ok());
    ExpectSame(model, Path(name));
    int files = 0;
    for (int i = 1; i < 9; ++i) {
      const std::string file = Path(name + ".data" + (i == 1 ? "" : StrCat(".", i)));
      if (!fs::exists(file)) continue;
      ++files;
      const uint64_t size = fs::file_size(file);
      EXPECT_TRUE(size <= limit || size == 20000 || size == 6000 || size == 3000 || size == 2000)
          << file << " " << size;
    }
    EXPECT_EQ(files, limit < 9000 ? 5 : limit == 9100 ? 4 : 3) << limit;
  }
}

TEST_F(LargeFiles, ReferencesStayWhereTheyAre) {
  Put("sub/w.bin", std::string(100, '-') + std::string(5000, 'w'));
  Put("elsewhere/v.bin", std::string(5000, 'v'));
  fs::create_directories(Path("models"));
  const Model model = WithConstants(
      {{"w", FromFile("sub/w.bin", 100, 5000)}, {"m", Bytes(4000, 'm')}, {"s", Bytes(10, 's')}});
  ASSERT_TRUE(WriteOnnx(model, Path("net.onnx"), {.external = External::kReference}).ok());
  ExpectSame(model, Path("net.onnx"));
  EXPECT_EQ(fs::file_size(Path("net.onnx.data")), 4000u);
  auto read = ReadOnnx(Path("net.onnx"));
  EXPECT_EQ(read->graph->Find("w")->constant()->file_range()->offset, 100u);
  // Again to a model beside it, from one that refers itself.
  ASSERT_TRUE(WriteOnnx(*read, Path("two.onnx"), {.external = External::kReference}).ok());
  ExpectSame(model, Path("two.onnx"));
  EXPECT_FALSE(fs::exists(Path("two.onnx.data")));

  const absl::Status outside =
      WriteOnnx(model, Path("models/net.onnx"), {.external = External::kReference});
  EXPECT_EQ(outside.code(), absl::StatusCode::kFailedPrecondition) << outside;
  EXPECT_NE(outside.message().find("outside of the folder"), std::string::npos) << outside;
  const absl::Status itself =
      WriteOnnx(*read, Path("net.onnx"), {.external = External::kReference});
  EXPECT_EQ(itself.code(), absl::StatusCode::kFailedPrecondition) << itself;
  EXPECT_NE(itself.message().find("would overwrite"), std::string::npos) << itself;
  // A file that is no longer what was mapped has no name, so its bytes are copied.
  const Model gone = WithConstants({{"v", FromFile("elsewhere/v.bin", 0, 5000)}});
  fs::remove(Path("elsewhere/v.bin"));
  Put("elsewhere/v.bin", std::string(5000, '?'));
  ASSERT_TRUE(WriteOnnx(gone, Path("gone.onnx"), {.external = External::kReference}).ok());
  ExpectSame(gone, Path("gone.onnx"));
}

TEST_F(LargeFiles, BeyondFourGigabytes) {
  const std::string text(2000, 'z');
  const uint64_t size = (uint64_t{5} << 30) + 2000;
  WriteWithHole("far.bin", size, text);
  const Tensor far = FromFile("far.bin", size - 2000, 2000);
  const Model model = WithConstants({{"w", far}});
  ASSERT_TRUE(WriteOnnx(model, Path("ref.onnx"), {.external = External::kReference}).ok());
  ExpectSame(model, Path("ref.onnx"));
  ASSERT_TRUE(
      WriteIr(*ReadOnnx(Path("ref.onnx")), Path("ref.json"), {.reference_weights = true}).ok());
  auto ir = ReadIr(Path("ref.json"));
  ASSERT_TRUE(ir.ok()) << ir.status();
  EXPECT_EQ(TextOf(*ir->graph->Find("w")->constant()), text);
  EXPECT_EQ(ir->graph->Find("w")->constant()->file_range()->offset, size - 2000);
  // Copied from there, and a file of weights that is as large itself.
  ASSERT_TRUE(WriteIr(*ir, Path("copy.json")).ok());
  EXPECT_EQ(TextOf(*ReadIr(Path("copy.json"))->graph->Find("w")->constant()), text);
  const std::string header =
      StrCat("{\"a\":{\"dtype\":\"U8\",\"shape\":[", size - 2000, "],\"data_offsets\":[0,",
             size - 2000, "]},\"b\":{\"dtype\":\"U8\",\"shape\":[2000],\"data_offsets\":[",
             size - 2000, ",", size, "]}}");
  WriteWithHole("large.safetensors", 8 + header.size() + size, text);
  std::fstream file(Path("large.safetensors"), std::ios::binary | std::ios::in | std::ios::out);
  const uint64_t header_size = header.size();
  file.write(reinterpret_cast<const char*>(&header_size), 8) << header << std::flush;
  auto large = ReadSafetensors(Path("large.safetensors"));
  ASSERT_TRUE(large.ok()) << large.status();
  EXPECT_EQ(TextOf(large->tensors[1].tensor), text);
}

TEST_F(LargeFiles, WeightsWithAnIndex) {
  const auto write = [&](const std::string& name, const std::vector<NamedTensor>& tensors) {
    fs::create_directories(fs::path(Path(name)).parent_path());
    ASSERT_TRUE(WriteSafetensors(Path(name), tensors).ok());
  };
  write("w/1.safetensors", {{"a", Bytes(100, 'a')}, {"unlisted", Bytes(100, 'u')}});
  write("w/2.safetensors", {{"b", Bytes(100, 'b')}, {"unlisted", Bytes(100, 'v')}});
  constexpr char kGraph[] = R"({"format": "x2ir", "version": 1,
    "weights": ["w/model.safetensors.index.json"],
    "graph": {"name": "g", "inputs": [], "outputs": [["a", "uint8[100]"], ["b", "uint8[100]"]],
      "constants": [{"name": "a", "type": "uint8[100]"}, {"name": "b", "type": "uint8[100]"}],
      "nodes": []}})";
  Put("net.json", kGraph);
  const struct {
    const char* index;
    const char* error;  // empty: it is read
  } rows[] = {
      {R"({"metadata": {"total_size": 200},
           "weight_map": {"a": "1.safetensors", "b": "2.safetensors"}})",
       ""},
      {R"({"weight_map": {"a": "1.safetensors"}})", "no tensor 'b'"},
      {R"({"weight_map": {"a": "1.safetensors", "b": "1.safetensors"}})", "tensor 'b' is in"},
      {R"({"weight_map": {"a": "1.safetensors", "b": "3.safetensors"}})", "there is no file"},
      {R"({"weight_map": {"a": "1.safetensors", "a": "2.safetensors"}})", "occurs twice"},
      {R"({"weight_map": {"unlisted": "1.safetensors"}, "weight_map": {}})", "occurs twice"},
      {R"({"weight_map": {"a": "../../1.safetensors"}})", "leads out of the model's folder"},
      {R"({"weight_map": {"a": "/etc/passwd"}})", "absolute path"},
      {R"({"weight_map": ["a"]})", "not an index"},
      {R"({"metadata": {}})", "is missing"},
      {"", "not an index"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.index);
    Put("w/model.safetensors.index.json", row.index);
    const auto model = ReadIr(Path("net.json"));
    EXPECT_EQ(model.ok(), *row.error == '\0') << model.status();
    if (model.ok()) {
      EXPECT_EQ(TextOf(*model->graph->Find("b")->constant()), std::string(100, 'b'));
    } else {
      EXPECT_NE(model.status().message().find(row.error), std::string::npos) << model.status();
    }
  }
}

TEST_F(LargeFiles, WhatIsSpilledIsTheSame) {
  constexpr size_t kLarge = (size_t{33} << 20) + 5;  // more than stays in memory
  Tensor tensor = Bytes(kLarge, 'q');
  tensor.mutable_bytes()[kLarge - 1] = std::byte{7};
  const Tensor spilled = Spilled(tensor);
  EXPECT_TRUE(spilled == tensor);
  EXPECT_TRUE(spilled.file_range().has_value());
  DropPages(spilled);
  EXPECT_TRUE(spilled == tensor);
  EXPECT_FALSE(Spilled(Bytes(100, 'q')).file_range().has_value());
  EXPECT_TRUE(Spilled(Tensor()) == Tensor());
  // It is in no file that could be referred to.
  const Model model = WithConstants({{"w", spilled}});
  ASSERT_TRUE(WriteOnnx(model, Path("w.onnx"), {.external = External::kReference}).ok());
  ExpectSame(model, Path("w.onnx"));
  EXPECT_EQ(fs::file_size(Path("w.onnx.data")), kLarge);
  // Where no file can be, it stays in memory.
  const char* old = std::getenv("TMPDIR");
  const std::string kept = old ? old : "";
  ::setenv("TMPDIR", "/nonexistent", 1);
  EXPECT_TRUE(Spilled(tensor) == tensor);
  old ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
}

TEST_F(LargeFiles, FewBytesAreNotSpilled) {
  const auto in_file = [](const Tensor& tensor) { return tensor.file_range().has_value(); };
  const Tensor made = Bytes(size_t{20} << 20, 'a');
  {
    const Tensor first = Spilled(made), second = Spilled(made);
    EXPECT_FALSE(in_file(first));
    EXPECT_TRUE(in_file(second));
    EXPECT_TRUE(first == made && second == made);
  }
  EXPECT_FALSE(in_file(Spilled(made)));  // there is room again
}

}  // namespace
}  // namespace x2ir
