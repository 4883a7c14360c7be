// FlatBuffers of FlatFile: FlatBuffers' verifier takes them, data is aligned, and gaps hold what is
// small.
#include <tflite_generated.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "x2ir/formats/flat/flat_file_internal.h"
#include "x2ir/formats/io/sink.h"

namespace x2ir::flat {
namespace {

namespace fb = ::x2ir::tflite_fb;

Tensor Counting(int64_t bytes) {
  Tensor tensor = Tensor::Zeros(DType::kUInt8, {bytes});
  const auto all = tensor.mutable_span<uint8_t>();
  std::iota(all.begin(), all.end(), static_cast<uint8_t>(bytes));
  return tensor;
}

// A model of buffers of these sizes and alignments, and a tensor for each.
std::string ModelOf(const std::vector<std::pair<int64_t, uint32_t>>& buffers, bool behind = false) {
  FlatFile file;
  std::vector<FlatRef> tables, tensors;
  for (const auto& [size, alignment] : buffers) {
    const FlatRef data = file.Data(Counting(size), alignment, behind);
    FlatTable buffer;
    if (behind) {
      buffer.AddPlaceOf(fb::Buffer::VT_OFFSET, data);
      buffer.Add(fb::Buffer::VT_SIZE, static_cast<uint64_t>(size));
    } else {
      buffer.Add(fb::Buffer::VT_DATA, data);
    }
    tables.push_back(file.Table(buffer));
    FlatTable tensor, quantization;
    quantization.Add(fb::QuantizationParameters::VT_ZERO_POINT, file.Vector(std::vector{size}));
    tensor.Add(fb::Tensor::VT_NAME, file.String("tensor_" + std::to_string(size)));
    tensor.Add(fb::Tensor::VT_SHAPE, file.Vector(std::vector{static_cast<int32_t>(size)}));
    tensor.Add(fb::Tensor::VT_TYPE, static_cast<int8_t>(fb::TensorType::UINT8));
    tensor.Add(fb::Tensor::VT_QUANTIZATION, file.Table(quantization));
    tensors.push_back(file.Table(tensor));
  }
  FlatTable graph, model;
  graph.Add(fb::SubGraph::VT_TENSORS, file.Vector(tensors));
  model.Add(fb::Model::VT_VERSION, uint32_t{3});
  model.Add(fb::Model::VT_SUBGRAPHS, file.Vector(std::vector{file.Table(graph)}));
  model.Add(fb::Model::VT_BUFFERS, file.Vector(tables));
  std::string bytes;
  const Sink sink = Sink::To(&bytes);
  absl::StatusOr<AtomicFile> out = sink.Create(sink.name());
  EXPECT_TRUE(out.ok()) << out.status();
  EXPECT_TRUE(file.Write(file.Table(model), fb::ModelIdentifier(), *out).ok());
  EXPECT_TRUE(out->Commit().ok());
  return bytes;
}

const std::vector<std::pair<int64_t, uint32_t>> kBuffers = {
    {4, 16}, {70001, 64}, {16, 16}, {2000, 64}, {5, 16}, {100000, 64}, {1500, 64}, {31, 16}};

TEST(FlatFileTest, DataIsAligned) {
  std::vector<uint64_t> memory(200000 / 8);
  for (const bool behind : {false, true}) {
    const std::string bytes = ModelOf(kBuffers, behind);
    ASSERT_LE(bytes.size(), memory.size() * 8);
    std::memcpy(memory.data(), bytes.data(), bytes.size());
    const auto* begin = reinterpret_cast<const uint8_t*>(memory.data());
    flatbuffers::Verifier verifier(begin, bytes.size());
    ASSERT_TRUE(fb::VerifyModelBuffer(verifier));
    const fb::Model* model = fb::GetModel(begin);
    EXPECT_EQ(model->version(), 3u);
    for (uint32_t i = 0; i < kBuffers.size(); ++i) {
      const auto& [size, alignment] = kBuffers[i];
      const fb::Buffer* buffer = model->buffers()->Get(i);
      const uint64_t place =
          behind ? buffer->offset() : static_cast<uint64_t>(buffer->data()->data() - begin);
      EXPECT_EQ(behind ? static_cast<int64_t>(buffer->size()) : buffer->data()->size(), size);
      EXPECT_EQ(place % alignment, 0u) << size;
      const Tensor wanted = Counting(size);
      EXPECT_EQ(std::memcmp(begin + place, wanted.bytes().data(), wanted.nbytes()), 0) << size;
      const fb::Tensor* tensor = model->subgraphs()->Get(0)->tensors()->Get(i);
      EXPECT_EQ(tensor->name()->str(), "tensor_" + std::to_string(size));
      EXPECT_EQ(tensor->shape()->Get(0), size);
      const auto* zeros = tensor->quantization()->zero_point();
      EXPECT_EQ(zeros->Get(0), size);
      EXPECT_EQ((reinterpret_cast<const uint8_t*>(zeros->data()) - begin) % 8, 0);
    }
  }
}

// Names and shapes go where alignment would leave gaps: it costs but a few bytes.
TEST(FlatFileTest, GapsAreFilled) {
  const std::vector<std::pair<int64_t, uint32_t>> buffers = {{4, 16}, {20, 16}, {8, 16}, {40, 16}};
  std::vector<std::pair<int64_t, uint32_t>> anywhere = buffers;
  for (auto& [size, alignment] : anywhere) alignment = 4;
  EXPECT_LE(ModelOf(buffers).size(), ModelOf(anywhere).size() + 12);
}

TEST(FlatFileTest, EqualObjectsOnce) {
  FlatFile file;
  const auto table = [&](int32_t number) {
    FlatTable table;
    table.Add(4, number);
    table.Add(6, file.Vector(std::vector<int32_t>{1, 2}));
    return file.Table(table);
  };
  EXPECT_EQ(table(1), table(1));
  EXPECT_FALSE(table(1) == table(2));
  EXPECT_EQ(file.String("a"), file.String("a"));
  // Fields of other widths at the same places.
  FlatTable bytes, words;
  bytes.Add(4, true);
  words.Add(4, int32_t{1});
  EXPECT_FALSE(file.Table(bytes) == file.Table(words));
  EXPECT_FALSE(file.Vector(std::vector<int32_t>{1}) ==
               file.Vector(std::vector<int32_t>{1}, /*own=*/true));
}

}  // namespace
}  // namespace x2ir::flat
