// .npy files: what NumPy writes (given as bytes), round trips, and hostile headers.
#include "x2ir/formats/npy/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <random>
#include <string>

#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using NpyTest = TempDirTest;

std::string FileOf(int version, std::string_view dict, std::string_view data) {
  std::string bytes = "\x93NUMPY";
  bytes.push_back(static_cast<char>(version));
  bytes.push_back('\0');
  const uint32_t size = static_cast<uint32_t>(dict.size());
  bytes.append(reinterpret_cast<const char*>(&size), version == 1 ? 2 : 4);
  return StrCat(bytes, dict, data);
}

std::string Dict(std::string_view descr, std::string_view shape, bool fortran = false) {
  return StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran ? "True" : "False",
                ", 'shape': ", shape, ", }\n");
}

using namespace std::string_literals;  // NOLINT: strings with NULs

TEST_F(NpyTest, ReadsWhatNumpyWrites) {
  const struct {
    std::string bytes;
    Tensor want;
  } kRows[] = {
      {FileOf(1, Dict("<i2", "(3,)"), "\1\0\2\0\xff\xff"s), Tensor::Of<int16_t>({3}, {1, 2, -1})},
      {FileOf(2, Dict(">i2", "(3,)"), "\0\1\0\2\xff\xff"s), Tensor::Of<int16_t>({3}, {1, 2, -1})},
      {FileOf(3, Dict("|u1", "(2, 3)", true), "\1\4\2\5\3\6"s),
       Tensor::Of<uint8_t>({2, 3}, {1, 2, 3, 4, 5, 6})},
      {FileOf(1, Dict("|i1", "(2, 1, 3)", true), "\1\4\2\5\3\6"s),
       Tensor::Of<int8_t>({2, 1, 3}, {1, 2, 3, 4, 5, 6})},
      {FileOf(1, Dict(">u2", "(2, 2)", true), "\0\1\0\3\0\2\0\4"s),
       Tensor::Of<uint16_t>({2, 2}, {1, 2, 3, 4})},
      {FileOf(1, Dict("|b1", "(2,)"), "\1\0"s), Tensor::Of<bool>({2}, {true, false})},
      {FileOf(1, Dict("<f4", "()"), "\0\0\x80\x3f"s), Tensor::Scalar(1.0f)},
      {FileOf(1, Dict(">f8", "()"), "\x3f\xf0\0\0\0\0\0\0"s), Tensor::Scalar(1.0)},
      {FileOf(1, Dict(">c8", "(1,)"), "\x3f\x80\0\0\x40\0\0\0"s),
       Tensor::Of<std::complex<float>>({1}, {{1, 2}})},
      {FileOf(1, Dict("<i8", "(0, 3)"), ""), Tensor::Zeros(DType::kInt64, {0, 3})},
      {FileOf(1, Dict("<i8", "(0, 9223372036854775807, 9)", true), ""),
       Tensor::Zeros(DType::kInt64, {0, 9223372036854775807, 9})},
      {FileOf(1, Dict("|S3", "(2,)"), "ab\0\xff\0c"s), Tensor::Strings({2}, {"ab", "\xff\0c"s})},
      {FileOf(1, Dict("<U2", "(2,)"), "a\0\0\0\0\0\0\0\xac\x20\0\0\0\xf6\1\0"s),
       Tensor::Strings({2}, {"a", "\xe2\x82\xac\xf0\x9f\x98\x80"})},
      {FileOf(1, Dict(">U1", "(1,)"), "\0\0\0\xe4"s), Tensor::Strings({1}, {"\xc3\xa4"})},
      {FileOf(1, Dict("|S1", "(2, 2)", true), "acbd"),
       Tensor::Strings({2, 2}, {"a", "b", "c", "d"})},
      {FileOf(1, Dict("<U0", "(2,)"), ""), Tensor::Strings({2}, {"", ""})},
      {FileOf(1, "{\"shape\":(2L,1L),\"fortran_order\":False,\"descr\":\"u1\"}", "\1\2"),
       Tensor::Of<uint8_t>({2, 1}, {1, 2})},
  };
  const std::string path = Path("read.npy");
  for (const auto& row : kRows) {
    WriteFile(path, row.bytes);
    const auto got = ReadNpy(path);
    ASSERT_TRUE(got.ok()) << got.status() << row.bytes;
    EXPECT_EQ(*got, row.want) << row.bytes;
  }
}

TEST_F(NpyTest, RoundTrips) {
  const std::string path = Path("round.npy");
  for (int number = 1; number < kNumDTypes; ++number) {
    const DType dtype = static_cast<DType>(number);
    if (dtype == DType::kString) continue;
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {3}, {2, 3, 4}, {0, 2}}) {
      Tensor tensor = Tensor::Zeros(dtype, dims);
      int i = 0;
      for (std::byte& b : tensor.mutable_bytes()) b = static_cast<std::byte>(++i);
      const absl::Status status = WriteNpy(path, tensor);
      if (status.code() == absl::StatusCode::kFailedPrecondition) {
        EXPECT_TRUE(BitWidth(dtype) < 8 || IsFloating(dtype)) << status;
        continue;
      }
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(ReadFile(path).find('\n') % 64, 63u);
      const auto got = ReadNpy(path);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(*got, tensor) << Name(dtype);
      EXPECT_TRUE(got->nbytes() == 0 || got->file_range().has_value());
    }
  }
  for (const Tensor& tensor :
       {Tensor::Strings({2, 2}, {"", "a\0b"s, "\xf0\x9f\x98\x80x", "\xc3\xa4"}),
        Tensor::Strings({2}, {"\xff\xfe", "x"}), Tensor::Strings({0}, {}),
        Tensor::Strings({}, {""})}) {
    ASSERT_TRUE(WriteNpy(path, tensor).ok());
    const auto got = ReadNpy(path);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*got, tensor);
  }
  EXPECT_EQ(WriteNpy(path, Tensor::Strings({1}, {"a\0"s})).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(NpyTest, BrokenFilesAreErrors) {
  using absl::StatusCode;
  const struct {
    std::string bytes;
    StatusCode code;
    std::string_view message;
  } kRows[] = {
      {"", StatusCode::kDataLoss, "not an .npy file"},
      {"\x93NUMPX\1\0\0\0"s, StatusCode::kDataLoss, "not an .npy file"},
      {"\x93NUMPY\1\0\0"s, StatusCode::kDataLoss, "not an .npy file"},
      {"\x93NUMPY\2\0\0\0"s, StatusCode::kDataLoss, "ends within its header"},
      {"\x93NUMPY\1\0\xff\xff{}"s, StatusCode::kDataLoss, "ends within its header"},
      {FileOf(4, Dict("<i2", "()"), "xx"), StatusCode::kUnimplemented, "version 4.0"},
      {FileOf(1, Dict("<i2", "(3,)"), "xx"), StatusCode::kDataLoss, "does not fit 2 bytes"},
      {FileOf(1, Dict("<i2", "(1,)"), "xxxx"), StatusCode::kDataLoss, "does not fit 4 bytes"},
      {FileOf(1, Dict("|O", "(1,)"), "xxxx"), StatusCode::kUnimplemented, "Python objects"},
      {FileOf(1, Dict("<V2", "(1,)"), "xx"), StatusCode::kUnimplemented, "'<V2' is not supported"},
      {FileOf(1, Dict("<M8[ns]", "(1,)"), "xxxxxxxx"), StatusCode::kUnimplemented, "<M8[ns]"},
      {FileOf(1, "{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (1,), }", "xx"),
       StatusCode::kUnimplemented, "records"},
      {FileOf(1, Dict("", "()"), ""), StatusCode::kDataLoss, "bad element type"},
      {FileOf(1, Dict("<", "()"), ""), StatusCode::kDataLoss, "bad element type"},
      {FileOf(1, Dict("<i2", "(-1,)"), ""), StatusCode::kDataLoss, "tuple"},
      {FileOf(1, Dict("<i2", "(99999999999999999999,)"), ""), StatusCode::kDataLoss, "tuple"},
      {FileOf(1, Dict("<i2", "(9223372036854775807, 9223372036854775807)"), ""),
       StatusCode::kDataLoss, "too large"},
      {FileOf(1, Dict("<i2", "(1 2)"), "xxxx"), StatusCode::kDataLoss, "tuple"},
      {FileOf(1, Dict("<i2", "3"), "xx"), StatusCode::kDataLoss, "tuple"},
      {FileOf(1, "{'descr': '<i2', 'shape': (1,)}", "xx"), StatusCode::kDataLoss, "expected descr"},
      {FileOf(1, "{'descr': '<i2', 'descr': '<i4'}", "xx"), StatusCode::kDataLoss,
       "key occurs twice"},
      {FileOf(1, "{'descr': '<i2', 'x': 1}", "xx"), StatusCode::kDataLoss, "unknown key 'x'"},
      {FileOf(1, "{'descr': '<i2", "xx"), StatusCode::kDataLoss, "expected a string"},
      {FileOf(1, "", "xx"), StatusCode::kDataLoss, "expected '{'"},
      {FileOf(1, "{", "xx"), StatusCode::kDataLoss, "expected a key"},
      {FileOf(1, Dict("<U0", "(9999999999,)"), ""), StatusCode::kDataLoss, "does not fit"},
      {FileOf(1, Dict("|S2", "(2,)"), "xxx"), StatusCode::kDataLoss, "does not fit"},
      {FileOf(1, Dict("|S99999999999999999999", "(0,)"), ""), StatusCode::kDataLoss,
       "element type"},
      {FileOf(1, Dict("<U4611686018427387905", "(1,)"), "xxxx"), StatusCode::kDataLoss,
       "element type"},
      {FileOf(1, Dict("<U1", "(1,)"), "\0\xd8\0\0"s), StatusCode::kDataLoss,
       "not a valid character"},
      {FileOf(1, Dict("<U1", "(1,)"), "\0\0\x11\0"s), StatusCode::kDataLoss,
       "not a valid character"},
  };
  const std::string path = Path("broken.npy");
  for (const auto& row : kRows) {
    WriteFile(path, row.bytes);
    const absl::Status status = ReadNpy(path).status();
    EXPECT_EQ(status.code(), row.code) << status << row.bytes;
    EXPECT_NE(std::string(status.message()).find(row.message), std::string::npos) << status;
  }
  const std::string good = FileOf(1, Dict("<U2", "(2,)"), std::string(16, 'a'));
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::string bad = good;
    bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
    WriteFile(path, bad.substr(0, random() % 4 == 0 ? random() % bad.size() : bad.size()));
    (void)ReadNpy(path);
  }
}

}  // namespace
}  // namespace x2ir
