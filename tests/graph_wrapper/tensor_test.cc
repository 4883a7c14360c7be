// Tensor and MappedFile.
#include "x2ir/graph_wrapper/tensor.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/temp_dir_util.h"
#include "x2ir/graph_wrapper/small_floats.h"

namespace x2ir {
namespace {

using MappedFileTest = TempDirTest;

TEST_F(MappedFileTest, MapsContent) {
  const std::string path = Put("content", "hello");
  auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->view(), "hello");
  EXPECT_EQ((*file)->path(), path);
  EXPECT_GE((*file)->fd(), 0);
  std::filesystem::remove(path);
  EXPECT_EQ((*file)->view(), "hello");  // stays mapped
}

TEST_F(MappedFileTest, EmptyFile) {
  const std::string path = Put("empty", "");
  auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->size(), 0u);
  std::filesystem::remove(path);
}

TEST_F(MappedFileTest, ClearErrors) {
  EXPECT_EQ(MappedFile::Open(Path("missing")).status().code(), absl::StatusCode::kNotFound);
  const auto directory = MappedFile::Open(folder_.string());
  EXPECT_EQ(directory.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(std::string(directory.status().message()).find("directory"), std::string::npos);
  const std::string fifo = Path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::Open(fifo).status().code(), absl::StatusCode::kDataLoss);
  std::filesystem::remove(fifo);
  EXPECT_EQ(MappedFile::Open("/dev/null").status().code(), absl::StatusCode::kDataLoss);
  if (geteuid() != 0) {
    const std::string path = Put("secret", "x");
    chmod(path.c_str(), 0);
    EXPECT_EQ(MappedFile::Open(path).status().code(), absl::StatusCode::kUnavailable);
    std::filesystem::remove(path);
  }
}

TEST(TensorTest, ViewsAreChecked) {
  auto bytes = std::make_shared<std::vector<std::byte>>(8);
  const auto view = [&](DType t, std::vector<int64_t> dims) {
    return Tensor::View(t, std::move(dims), *bytes, bytes).status().code();
  };
  const auto kOk = absl::StatusCode::kOk;
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(view(DType::kFloat32, {2}), kOk);
  EXPECT_EQ(view(DType::kFloat64, {}), kOk);
  EXPECT_EQ(view(DType::kInt4, {3, 5}), kOk);  // 15 elements in 8 bytes
  EXPECT_EQ(view(DType::kFloat32, {3}), kInvalid);
  EXPECT_EQ(view(DType::kFloat32, {0}), kInvalid);
  EXPECT_EQ(view(DType::kFloat32, {-2, -1}), kInvalid);
  EXPECT_EQ(view(DType::kFloat32, {int64_t{1} << 62, 8}), kInvalid);
  EXPECT_EQ(view(DType::kString, {8}), kInvalid);
  EXPECT_EQ(view(DType::kUndefined, {8}), kInvalid);
}

TEST(TensorTest, FileRangesSurviveViews) {
  const TempDir dir;
  const std::string path = dir.Put("range", std::string(16, '\1') + std::string(8, '\2'));
  auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok());
  auto t = Tensor::FromFile(DType::kInt8, {2, 4}, *file, 16, 8);
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->AsInt(7), 2);
  const Tensor reshaped = t->Reshaped({8});
  ASSERT_TRUE(reshaped.file_range().has_value());
  EXPECT_EQ(reshaped.file_range()->offset, 16u);
  EXPECT_EQ(reshaped.file_range()->size, 8u);
  EXPECT_EQ(reshaped.data_id(), t->data_id());
  EXPECT_EQ(t->Reinterpreted(DType::kUInt8).dtype(), DType::kUInt8);

  Tensor changed = *t;
  changed.mutable_span<int8_t>()[0] = 5;  // copy on write
  EXPECT_FALSE(changed.file_range().has_value());
  EXPECT_EQ(t->AsInt(0), 2);
  EXPECT_EQ(changed.AsInt(0), 5);
  EXPECT_NE(changed, *t);

  using Code = absl::StatusCode;
  EXPECT_EQ(Tensor::FromFile(DType::kInt8, {9}, *file, 16, 9).status().code(), Code::kDataLoss);
  EXPECT_EQ(Tensor::FromFile(DType::kInt8, {8}, *file, ~uint64_t{0}, 8).status().code(),
            Code::kDataLoss);
  EXPECT_EQ(Tensor::FromFile(DType::kInt8, {8}, *file, 8, ~uint64_t{0}).status().code(),
            Code::kDataLoss);
  EXPECT_EQ(Tensor::FromFile(DType::kInt8, {8}, *file, 16, 7).status().code(),
            Code::kInvalidArgument);
  EXPECT_TRUE(Tensor::FromFile(DType::kInt8, {0}, *file, 24, 0).ok());
  std::filesystem::remove(path);
}

TEST(TensorTest, UnalignedViews) {
  auto bytes = std::make_shared<std::vector<std::byte>>(17);
  (*bytes)[1] = std::byte{7};
  const auto t = Tensor::View(DType::kInt32, {4}, absl::MakeConstSpan(*bytes).subspan(1), bytes);
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->AsInt(0), 7);
  const Tensor aligned = t->AlignedCopyIfNeeded();
  EXPECT_EQ(aligned, *t);
  EXPECT_EQ(aligned.span<int32_t>()[0], 7);
  EXPECT_EQ(aligned.AlignedCopyIfNeeded().data_id(), aligned.data_id());
}

TEST(TensorTest, CopyOnWriteIsInPlaceForTheOnlyOwner) {
  Tensor a = Tensor::Of<float>({2}, {1, 2});
  const void* id = a.data_id();
  a.mutable_span<float>()[0] = 3;
  EXPECT_EQ(a.data_id(), id);
  const Tensor b = a;
  a.mutable_span<float>()[0] = 4;
  EXPECT_EQ(b.AsDouble(0), 3);
  EXPECT_EQ(a.AsDouble(0), 4);
  Tensor s = Tensor::Strings({2}, {"x", "y"});
  const Tensor s2 = s;
  s.mutable_strings()[0] = "z";
  EXPECT_EQ(s2.strings()[0], "x");
  EXPECT_NE(s, s2);
}

TEST(TensorTest, EmptyAndScalar) {
  const Tensor empty = Tensor::Zeros(DType::kFloat32, {2, 0, 3});
  EXPECT_EQ(empty.num_elements(), 0);
  EXPECT_EQ(empty.nbytes(), 0u);
  EXPECT_TRUE(empty.span<float>().empty());
  EXPECT_EQ(empty, Tensor::Zeros(DType::kFloat32, {2, 0, 3}));
  EXPECT_NE(empty, Tensor::Zeros(DType::kFloat32, {0, 3}));
  EXPECT_EQ(Tensor::Scalar<int64_t>(5).AsInt(0), 5);
  EXPECT_EQ(Tensor::Scalar(true).dtype(), DType::kBool);
  EXPECT_EQ(Tensor(), Tensor());
  EXPECT_EQ(Tensor::Strings({0}, {}).num_elements(), 0);
}

TEST(TensorTest, ScalarOfEveryNumber) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto t = static_cast<DType>(i);
    if (t == DType::kString || IsComplex(t)) continue;
    EXPECT_EQ(Tensor::ScalarOf(t, 1).AsDouble(0), 1) << Name(t);
    EXPECT_EQ(Tensor::ScalarOf(t, 1).AsInt(0), 1) << Name(t);
  }
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const struct {
    DType t;
    double in;
    double want;
  } kRows[] = {
      {DType::kInt8, -kInf, -128},
      {DType::kInt8, 1e30, 127},
      {DType::kUInt8, -3, 0},
      {DType::kUInt4, 99, 15},
      {DType::kInt4, -99, -8},
      {DType::kInt2, -1, -1},
      {DType::kInt32, 2.6, 3},
      {DType::kInt64, kInf, 0x1p63},
      {DType::kInt64, -kInf, -0x1p63},
      {DType::kUInt64, 1e30, 0x1p64},
      {DType::kFloat16, 1e9, kInf},
      {DType::kFloat32, 0.1, 0.1f},
      {DType::kBFloat16, -kInf, -kInf},
      {DType::kInt32, std::nan(""), 0},
      // Rounds once: through a float it would be the midpoint 1 + 2^-11, hence 1.
      {DType::kFloat16, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(Tensor::ScalarOf(row.t, row.in).AsDouble(0), row.want) << Name(row.t) << row.in;
  }
}

TEST(TensorTest, ToInts) {
  Tensor packed = Tensor::Zeros(DType::kInt4, {3});
  SetPacked(packed.mutable_bytes().data(), 0, 4, 0x7);
  SetPacked(packed.mutable_bytes().data(), 1, 4, 0x8);
  SetPacked(packed.mutable_bytes().data(), 2, 4, 0xf);
  EXPECT_EQ(*packed.ToInts(), (std::vector<int64_t>{7, -8, -1}));
  EXPECT_EQ(*packed.Reinterpreted(DType::kUInt4).ToInts(), (std::vector<int64_t>{7, 8, 15}));
  EXPECT_EQ(*Tensor::Of<bool>({2}, {true, false}).ToInts(), (std::vector<int64_t>{1, 0}));
  EXPECT_FALSE(Tensor::Of<float>({1}, {1}).ToInts().ok());
  EXPECT_FALSE(Tensor::Strings({1}, {"1"}).ToInts().ok());
  EXPECT_FALSE(Tensor::Scalar<uint64_t>(~uint64_t{0}).ToInts().ok());
}

TEST(TensorTest, Sparse) {
  const auto dense = [](std::vector<int64_t> dims, Tensor values, Tensor indices) {
    return Tensor::Sparse(std::move(dims), std::move(values), std::move(indices)).ToDense();
  };
  const Tensor values = Tensor::Of<float>({2}, {5, 7});
  const Tensor want = Tensor::Of<float>({2, 3}, {0, 5, 0, 0, 0, 7});
  EXPECT_EQ(*dense({2, 3}, values, Tensor::Of<int64_t>({2}, {1, 5})), want);
  EXPECT_EQ(*dense({2, 3}, values, Tensor::Of<int64_t>({2, 2}, {0, 1, 1, 2})), want);
  EXPECT_EQ(*dense({2}, Tensor::Strings({1}, {"a"}), Tensor::Of<int64_t>({1}, {1})),
            Tensor::Strings({2}, {"", "a"}));
  // Hostile ones.
  EXPECT_FALSE(dense({2, 3}, values, Tensor::Of<int64_t>({2}, {1, 6})).ok());
  EXPECT_FALSE(dense({2, 3}, values, Tensor::Of<int64_t>({2}, {-1, 5})).ok());
  EXPECT_FALSE(dense({2, 3}, values, Tensor::Of<int64_t>({2, 2}, {0, 3, 1, 2})).ok());
  EXPECT_FALSE(dense({2, 3}, values, Tensor::Of<int64_t>({3}, {1, 2, 3})).ok());
  EXPECT_FALSE(dense({2, 3}, values, Tensor::Of<int32_t>({2}, {1, 2})).ok());
  EXPECT_FALSE(dense({0}, values, Tensor::Of<int64_t>({2}, {0, 0})).ok());
  EXPECT_FALSE(dense({int64_t{1} << 40}, values, Tensor::Of<int64_t>({2}, {1, 2})).ok());
}

// Bytes i % 251, in rows of `size`; *calls counts how often rows are made.
Tensor MadeTensor(int64_t count, size_t size, int* calls, DType dtype = DType::kUInt8) {
  const auto make = [size, calls](int64_t begin, int64_t end, std::byte* to) {
    ++*calls;
    for (auto i = static_cast<size_t>(begin) * size; i < static_cast<size_t>(end) * size; ++i) {
      *to++ = static_cast<std::byte>(i % 251);
    }
  };
  const auto width = static_cast<int64_t>(size) * 8 / BitWidth(dtype);
  return Tensor::Made(dtype, {count, width}, {count, size, make});
}

TEST(TensorTest, BytesAreMadeWhenTheyAreNeeded) {
  int calls = 0;
  const Tensor made = MadeTensor(7, 10, &calls);
  ASSERT_TRUE(made.maker());
  EXPECT_EQ(made.nbytes(), 70u);
  EXPECT_FALSE(made.file_range());
  EXPECT_EQ(made.dims(), (std::vector<int64_t>{7, 10}));
  // Copies and other shapes are the same bytes.
  const Tensor flat = made.Reshaped({70}), other = MadeTensor(7, 10, &calls);
  EXPECT_EQ(flat.data_id(), made.data_id());
  EXPECT_NE(other.data_id(), made.data_id());
  EXPECT_TRUE(flat.Reshaped({7, 10}) == made);
  // Whole rows, and parts of them.
  for (const auto& [offset, size] : {std::pair(0, 70), std::pair(20, 30), std::pair(13, 1),
                                     std::pair(9, 2), std::pair(15, 50), std::pair(70, 0)}) {
    std::vector<std::byte> bytes(static_cast<size_t>(size));
    made.Read(static_cast<size_t>(offset), absl::MakeSpan(bytes));
    for (int i = 0; i < size; ++i) EXPECT_EQ(static_cast<int>(bytes[i]), offset + i);
  }
  EXPECT_TRUE(made.maker());
  calls = 0;
  EXPECT_EQ(made.AsInt(69), 69);
  EXPECT_FALSE(made.maker());  // now they are there
  EXPECT_FALSE(flat.maker());
  EXPECT_EQ(flat.span<uint8_t>()[42], 42);
  EXPECT_EQ(made.data_id(), flat.data_id());
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(other == made);
  Tensor changed = made;
  changed.mutable_span<uint8_t>()[0] = 9;
  EXPECT_EQ(made.AsInt(0), 0);
  std::byte byte;
  made.Read(5, {&byte, 1});
  EXPECT_EQ(static_cast<int>(byte), 5);
  EXPECT_EQ(MadeTensor(2, 4, &calls, DType::kInt4).AsInt(9), 0);
  EXPECT_EQ(MadeTensor(2, 4, &calls, DType::kFloat32).Reinterpreted(DType::kInt32).AsInt(0),
            0x03020100);
}

TEST(TensorTest, NaNsCompareByBits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Tensor::Scalar(nan), Tensor::Scalar(nan));
  EXPECT_NE(Tensor::Scalar(0.0f), Tensor::Scalar(-0.0f));
}

}  // namespace
}  // namespace x2ir
