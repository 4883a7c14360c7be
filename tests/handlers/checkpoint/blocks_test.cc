// Blocks of GGUF's types against ggml: the archive has files of each type with what ggml's
// dequantisation makes of them. Equal to the last bit, as floats and in the graph.
#include "x2ir/handlers/checkpoint/blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/host_util.h"
#include "x2ir/formats/checkpoint/gguf_file.h"
#include "x2ir/formats/checkpoint/gguf_weights.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/checkpoint/block_types.h"
#include "x2ir/ops/eval.h"

namespace x2ir::checkpoint {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string name;  // "Q4_K t0"
  gguf::Weight weight;
  Tensor expected;  // float32

  BlockWeight block() const {
    return {static_cast<int>(weight.type->number), weight.dims, weight.bytes};
  }
};

const std::vector<Case>& Cases() {
  static const std::vector<Case>* all = [] {
    auto* cases = new std::vector<Case>;
    std::error_code error;
    const fs::path folder = Unpacked("gguf-cases.tar.xz", "gguf-cases") / "tensors";
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() != ".gguf") continue;
      const absl::StatusOr<BlobPtr> blob = Blob::Open(entry.path().string());
      const absl::StatusOr<Safetensors> io =
          ReadSafetensors(StrCat(entry.path().string(), ".io.safetensors"));
      if (!blob.ok() || !io.ok()) continue;
      const absl::StatusOr<gguf::File> file = gguf::ReadFile(*blob);
      EXPECT_TRUE(file.ok()) << entry.path() << file.status();
      for (size_t i = 0; file.ok() && i < file->tensors.size(); ++i) {
        const gguf::TensorInfo& tensor = file->tensors[i];
        const std::string name = StrCat(entry.path().stem().string(), " ", tensor.name);
        const absl::StatusOr<gguf::Weight> weight = gguf::WeightOf(*file, tensor);
        EXPECT_TRUE(weight.ok()) << name << weight.status();
        for (const NamedTensor& numbers : io->tensors) {
          if (weight.ok() && numbers.name == tensor.name) {
            cases->push_back({name, *weight, numbers.tensor});
          }
        }
      }
    }
    return cases;
  }();
  return *all;
}

Tensor ResultOf(Graph& graph, const Expr& y) {
  graph.AddOutput(y);
  const auto results = RunGraph(graph, {});
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() && results->size() == 1 ? *results->at(0).tensor() : Tensor();
}

TEST(Blocks, FloatsAreThoseOfGgml) {
  size_t blocks = 0;
  for (const Case& c : Cases()) {
    if (c.weight.type->plain()) {
      const Tensor numbers = c.weight.bytes.AlignedCopyIfNeeded();
      const Tensor expected = c.expected.AlignedCopyIfNeeded();
      ASSERT_EQ(numbers.dims(), expected.dims()) << c.name;
      for (int64_t i = 0; i < numbers.num_elements(); ++i) {
        const double number = IsInteger(numbers.dtype()) ? static_cast<double>(numbers.AsInt(i))
                                                         : numbers.AsDouble(i);
        const double want = IsInteger(expected.dtype()) ? static_cast<double>(expected.AsInt(i))
                                                        : expected.AsDouble(i);
        ASSERT_EQ(number, want) << c.name << " " << i;
      }
      continue;
    }
    ++blocks;
    const absl::StatusOr<Tensor> numbers = DequantizedBlock(c.block(), DType::kFloat32);
    ASSERT_TRUE(numbers.ok()) << c.name << numbers.status();
    EXPECT_EQ(*numbers, c.expected) << c.name;
  }
  EXPECT_EQ(blocks, 3u * 15);
}

TEST(Blocks, TheGraphComputesTheSame) {
  for (const Case& c : Cases()) {
    if (c.weight.type->plain()) continue;
    Graph graph;
    Builder b(graph, nullptr);
    const Expr y = BlockWeightAsIr(b, c.block(), "w");
    ASSERT_TRUE(b.status().ok()) << c.name << b.status();
    EXPECT_EQ(ResultOf(graph, y), c.expected) << c.name;
  }
}

TEST(Blocks, RowsAreDequantizedAlone) {
  for (const Case& c : Cases()) {
    if (c.weight.type->plain() || c.weight.dims.size() != 2) continue;
    Graph graph;
    Builder b(graph, nullptr);
    const int64_t last = c.weight.dims[0] - 1, width = c.weight.dims[1];
    const Expr ids(b, b.Constant(Tensor::Of<int64_t>({2, 2}, {last, 0, last, last})));
    const Expr y = BlockRowsAsIr(b, c.block(), ids, "w");
    ASSERT_TRUE(b.status().ok()) << c.name << b.status();
    const Tensor rows = ResultOf(graph, y).AlignedCopyIfNeeded();
    ASSERT_EQ(rows.dims(), (std::vector<int64_t>{2, 2, width})) << c.name;
    const Tensor expected = c.expected.AlignedCopyIfNeeded();
    for (int64_t i = 0; i < rows.num_elements(); ++i) {
      const int64_t row = i / width == 1 ? 0 : last;
      ASSERT_EQ(rows.AsDouble(i), expected.AsDouble(row * width + i % width)) << c.name << " " << i;
    }
  }
}

TEST(Blocks, HalvesAreRounded) {
  for (const Case& c : Cases()) {
    if (c.weight.type->plain()) continue;
    const absl::StatusOr<Tensor> halves = DequantizedBlock(c.block(), DType::kFloat16);
    ASSERT_TRUE(halves.ok()) << c.name << halves.status();
    const Tensor expected = c.expected.AlignedCopyIfNeeded();
    const absl::Span<const float> wide = expected.span<float>();
    const absl::Span<const Half> got = halves->span<Half>();
    for (size_t i = 0; i < wide.size(); ++i) {
      ASSERT_EQ(got[i].bits, FloatToHalf(wide[i]).bits) << c.name << " " << i;
    }
  }
}

// A large weight is not unpacked before it is written; its rows are those of a small one.
TEST(Blocks, LargeWeightsAreMadeWhenTheyAreNeeded) {
  constexpr int64_t kRows = 512, kWidth = 8192, kFew = 8;
  for (const auto& [number, bytes] :
       {std::pair(ggml::kQ4_0, 18 * kWidth / 32), std::pair(ggml::kQ4_K, 144 * kWidth / 256),
        std::pair(ggml::kQ6_K, 210 * kWidth / 256)}) {
    Tensor all = Tensor::Zeros(DType::kUInt8, {kRows * bytes});
    uint32_t state = 1;
    for (std::byte& byte : all.mutable_bytes()) {
      byte = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 26);  // no NaNs
    }
    const auto numbers =
        DequantizedBlock({static_cast<int>(number), {kRows, kWidth}, all}, DType::kFloat16);
    ASSERT_TRUE(numbers.ok()) << numbers.status();
    EXPECT_TRUE(numbers->maker());
    Graph graph;
    Builder b(graph, nullptr);
    const Expr y = BlockWeightAsIr(b, {static_cast<int>(number), {kRows, kWidth}, all}, "w");
    ASSERT_TRUE(graph.Find("w.codes"));
    EXPECT_TRUE(graph.Find("w.codes")->constant()->maker());
    const Tensor result = ResultOf(graph, y);
    for (const int64_t row : {int64_t{0}, kRows - kFew}) {
      const auto part = Tensor::View(
          DType::kUInt8, {kFew * bytes},
          all.bytes().subspan(static_cast<size_t>(row * bytes), static_cast<size_t>(kFew * bytes)),
          nullptr);
      const BlockWeight few{static_cast<int>(number), {kFew, kWidth}, *part};
      const Tensor floats = *DequantizedBlock(few, DType::kFloat32);
      const Tensor halves = *DequantizedBlock(few, DType::kFloat16);
      EXPECT_FALSE(floats.maker());
      std::vector<std::byte> read(floats.nbytes());
      result.Read(static_cast<size_t>(row * kWidth) * 4, absl::MakeSpan(read));
      EXPECT_TRUE(std::ranges::equal(read, floats.bytes())) << row;
      read.resize(halves.nbytes());
      numbers->Read(static_cast<size_t>(row * kWidth) * 2, absl::MakeSpan(read));
      EXPECT_TRUE(std::ranges::equal(read, halves.bytes())) << row;
    }
    EXPECT_TRUE(numbers->maker());
  }
}

// Types whose blocks fit into 4 bits are stored so.
TEST(Blocks, CodesAreSmall) {
  for (const uint32_t type : {ggml::kQ4_0, ggml::kQ4_1, ggml::kQ4_K, ggml::kQ3_K, ggml::kQ2_K}) {
    EXPECT_EQ(BitWidth(FindBlockType(static_cast<int>(type))->codes), 4);
  }
}

TEST(Blocks, WhatIsNotRead) {
  const Tensor bytes = Tensor::Zeros(DType::kUInt8, {34});
  struct Row {
    BlockWeight weight;
    std::string_view want;
  };
  const Row rows[] = {
      {{16, {256}, bytes}, "blocks of type IQ2_XXS are not read"},
      {{77, {256}, bytes}, "blocks of type 77 are not read"},
      {{8, {2, 32}, bytes}, "34 bytes of Q8_0 are not [2,32]"},
      {{8, {33}, bytes}, "are not [33]"},
      {{8, {}, bytes}, "are not []"},
  };
  for (const Row& row : rows) {
    const absl::StatusOr<Tensor> numbers = DequantizedBlock(row.weight, DType::kFloat32);
    ASSERT_FALSE(numbers.ok()) << row.want;
    EXPECT_NE(std::string(numbers.status().message()).find(row.want), std::string::npos)
        << numbers.status();
    Graph graph;
    Builder b(graph, nullptr);
    BlockWeightAsIr(b, row.weight, "w");
    EXPECT_EQ(b.status().code(), numbers.status().code());
  }
}

}  // namespace
}  // namespace x2ir::checkpoint
