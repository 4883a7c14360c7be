// Safetensors: round trips of every element type, alignment, and hostile headers.
#include "x2ir/formats/safetensors/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using SafetensorsTest = TempDirTest;

std::string FileOf(std::string_view header, std::string_view data) {
  uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return StrCat(bytes, header, data);
}

Tensor Counting(DType dtype, std::vector<int64_t> dims) {
  Tensor t = Tensor::Zeros(dtype, std::move(dims));
  int i = 0;
  for (std::byte& b : t.mutable_bytes()) b = static_cast<std::byte>(++i * 7);
  return t;
}

TEST_F(SafetensorsTest, EveryElementTypeComesBack) {
  std::vector<NamedTensor> tensors;
  for (int number = 1; number < kNumDTypes; ++number) {
    const DType dtype = static_cast<DType>(number);
    if (dtype == DType::kString) continue;
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{}, {3}, {2, 3}, {3, 2}, {0, 5}, {64, 2}, {1, 1, 7}}) {
      tensors.push_back(
          {StrCat(Name(dtype), " ", Shape::FromInts(dims).ToString()), Counting(dtype, dims)});
    }
  }
  const SafetensorsMetadata metadata = {{"a", "1"}, {"note", "\xc3\xa4\n\"x\""}};
  const std::string path = Path("all");
  ASSERT_TRUE(WriteSafetensors(path, tensors, metadata).ok());
  const absl::StatusOr<Safetensors> file = ReadSafetensors(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->metadata, metadata);
  ASSERT_EQ(file->tensors.size(), tensors.size());
  for (const NamedTensor& want : tensors) {
    const auto got = std::find_if(file->tensors.begin(), file->tensors.end(),
                                  [&](const NamedTensor& t) { return t.name == want.name; });
    ASSERT_NE(got, file->tensors.end()) << want.name;
    EXPECT_EQ(got->tensor, want.tensor) << want.name;
    if (want.tensor.nbytes() == 0) continue;
    const auto range = got->tensor.file_range();
    ASSERT_TRUE(range.has_value());
    const uint64_t bytes = static_cast<uint64_t>(std::max(8, BitWidth(want.tensor.dtype()))) / 8;
    EXPECT_EQ(range->offset % bytes, 0u) << want.name;
    EXPECT_TRUE(want.tensor.nbytes() % 64 != 0 || range->offset % 64 == 0) << want.name;
  }
  // The order in which they are given does not matter.
  const std::string bytes = ReadFile(path);
  std::shuffle(tensors.begin(), tensors.end(), std::mt19937(1));
  ASSERT_TRUE(WriteSafetensors(path, tensors, metadata).ok());
  EXPECT_EQ(ReadFile(path), bytes);
  // What other programs look at: offsets rise without holes, unknown types are U8.
  uint64_t size;
  std::memcpy(&size, bytes.data(), 8);
  EXPECT_EQ((8 + size) % 64, 0u);
  const auto header = nlohmann::ordered_json::parse(bytes.substr(8, size));
  uint64_t at = 0;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    EXPECT_EQ(entry["data_offsets"][0], at) << name;
    at = entry["data_offsets"][1];
  }
  EXPECT_EQ(8 + size + at, bytes.size());
  EXPECT_EQ(header["int4 2,3"]["dtype"], "U8");
  EXPECT_EQ(header["int4 2,3"]["shape"], nlohmann::ordered_json({3}));
  EXPECT_EQ(header["__metadata__"]["x2ir.dtype.int4 2,3"], "int4[2,3]");
  EXPECT_EQ(header["float4e2m1 3,2"]["dtype"], "F4");
  EXPECT_EQ(header["float4e2m1 2,3"]["dtype"], "U8");
  EXPECT_EQ(header["float8e4m3fn 3"]["dtype"], "F8_E4M3");
  EXPECT_EQ(header["complex64 3"]["dtype"], "C64");
}

TEST_F(SafetensorsTest, NoTensorsIsAFile) {
  const std::string path = Path("none");
  ASSERT_TRUE(WriteSafetensors(path, {}).ok());
  const auto file = ReadSafetensors(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->tensors.empty());
}

TEST_F(SafetensorsTest, RefusesToWriteWhatTheFormatCannotHold) {
  const Tensor x = Tensor::Scalar(1.0f);
  const struct {
    std::vector<NamedTensor> tensors;
    SafetensorsMetadata metadata;
    std::string_view message;
  } kRows[] = {
      {{{"a", x}, {"a", x}}, {}, "occurs twice"},
      {{{"\xff", x}}, {}, "not UTF-8"},
      {{{"__metadata__", x}}, {}, "reserves this name"},
      {{{"s", Tensor::Strings({1}, {"a"})}}, {}, "no string tensors"},
      {{{"s", Tensor::Sparse({2}, x, x)}}, {}, "no sparse float32 tensors"},
      {{{"s", Tensor()}}, {}, "no undefined tensors"},
      {{{"a", x}}, {{"k", "1"}, {"k", "2"}}, "metadata 'k' occurs twice"},
      {{{"a", x}}, {{"k", "\xff"}}, "is not UTF-8"},
  };
  const std::string path = Path("refused");
  for (const auto& row : kRows) {
    const absl::Status status = WriteSafetensors(path, row.tensors, row.metadata);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(status.message()).find(row.message), std::string::npos) << status;
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST_F(SafetensorsTest, BrokenFilesAreErrors) {
  const auto entry = [](std::string_view name, std::string_view dtype, std::string_view shape,
                        std::string_view offsets) {
    return StrCat("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":[", shape,
                  "],\"data_offsets\":[", offsets, "]}");
  };
  const std::string data(16, 'x');
  const struct {
    std::string bytes;
    std::string_view message;  // empty: good
  } kRows[] = {
      {"", "only 0 bytes"},
      {"1234567", "only 7 bytes"},
      {FileOf("", ""), "does not start with '{'"},
      {FileOf(" {}", ""), "does not start with '{'"},
      {FileOf("{}", ""), ""},
      {FileOf("{}   ", ""), ""},
      {FileOf("{}x", ""), "text after the end"},
      {FileOf("{}", "x"), "belong to no tensor"},
      {std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10), "a header of 18446744073709551615"},
      {std::string("\x10\0\0\0\0\0\0\0{}", 10), "a header of 16 bytes"},
      {FileOf(StrCat("{", entry("a", "F32", "4", "0,16"), "}"), data), ""},
      {FileOf(StrCat("{", entry("a", "F32", "4", "0,16"), "}"), data.substr(1)), "is not within"},
      {FileOf(StrCat("{", entry("a", "F32", "3", "0,16"), "}"), data), "takes 12 bytes"},
      {FileOf(StrCat("{", entry("a", "F32", "3", "0,12"), "}"), data), "belong to no tensor"},
      {FileOf(StrCat("{", entry("a", "F32", "3", "4,16"), "}"), data), "after a gap"},
      {FileOf(StrCat("{", entry("a", "F32", "4", "16,0"), "}"), data), "is not within"},
      {FileOf(StrCat("{", entry("a", "F32", "2", "0,8"), ",", entry("b", "F32", "3", "4,16"), "}"),
              data),
       "inside another tensor"},
      {FileOf(StrCat("{", entry("a", "F32", "2", "0,8"), ",", entry("b", "F32", "1", "12,16"), "}"),
              data),
       "after a gap"},
      {FileOf(StrCat("{", entry("b", "F32", "2", "8,16"), ",", entry("a", "F32", "2", "0,8"), "}"),
              data),
       ""},
      {FileOf(StrCat("{", entry("a", "F32", "2", "0,8"), ",", entry("a", "F32", "2", "8,16"), "}"),
              data),
       "occurs twice"},
      {FileOf(
           StrCat("{", entry("a", "F32", "0", "16,16"), ",", entry("b", "F32", "4", "0,16"), "}"),
           data),
       ""},
      {FileOf(StrCat("{", entry("a", "F6_E2M3", "4", "0,3"), "}"), "xxx"), "F6_E2M3 is not known"},
      {FileOf(StrCat("{", entry("a", "F32", "-4", "0,16"), "}"), data), "negative"},
      {FileOf(StrCat("{", entry("a", "F32", "4.0", "0,16"), "}"), data), "expected an integer"},
      {FileOf(StrCat("{", entry("a", "F32", "4", "0,16,16"), "}"), data), "two offsets"},
      {FileOf(StrCat("{", entry("a", "F32", "4", "0"), "}"), data), "two offsets"},
      {FileOf(StrCat("{", entry("a", "F32", "4", "-16,0"), "}"), data), "not negative"},
      {FileOf(StrCat("{", entry("a", "F32", "4611686018427387904,4", "0,16"), "}"), data),
       "too many bytes"},
      {FileOf(StrCat("{", entry("a", "F64", "2305843009213693952", "0,16"), "}"), data), "takes"},
      {FileOf("{\"a\":{\"dtype\":\"F32\",\"shape\":[4]}}", data), "expected dtype, shape"},
      {FileOf("{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16],\"x\":1}}", data),
       "unknown key \"x\""},
      {FileOf("{\"a\":[]}", data), "expected an object"},
      {FileOf("{\"__metadata__\":{\"k\":1}}", ""), "expected a string"},
      {FileOf("{\"__metadata__\":{\"k\":\"v\"}}", ""), ""},
      {FileOf("{\"__metadata__\":{\"k\":\"v\",\"k\":\"w\"}}", ""), "occurs twice"},
      {FileOf(StrCat("{\"__metadata__\":{\"x2ir.dtype.a\":\"int4[5]\"},",
                     entry("a", "U8", "16", "0,16"), "}"),
              data),
       "are not int4[5]"},
      {FileOf(StrCat("{\"__metadata__\":{\"x2ir.dtype.a\":\"int4[\"},",
                     entry("a", "U8", "16", "0,16"), "}"),
              data),
       "tensor 'a'"},
      {FileOf(StrCat("{\"__metadata__\":{\"x2ir.dtype.a\":\"int4[31]\"},",
                     entry("a", "U8", "16", "0,16"), "}"),
              data),
       ""},
  };
  const std::string path = Path("broken");
  for (const auto& row : kRows) {
    WriteFile(path, row.bytes);
    const absl::Status status = ReadSafetensors(path).status();
    EXPECT_EQ(status.ok(), row.message.empty()) << status << "\n" << row.bytes;
    EXPECT_NE(std::string(status.message()).find(row.message), std::string::npos) << status;
    if (!status.ok()) {
      EXPECT_NE(std::string(status.message()).find(path), std::string::npos) << status;
    }
  }
  EXPECT_EQ(ReadSafetensors(Path("missing")).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SafetensorsTest, TruncatedAndFlippedFilesDoNotCrash) {
  const std::string path = Path("flipped");
  ASSERT_TRUE(WriteSafetensors(path, {{{"a", Counting(DType::kFloat32, {3})},
                                       {"b", Counting(DType::kInt4, {5})}}})
                  .ok());
  const std::string bytes = ReadFile(path);
  for (size_t n = 0; n < bytes.size(); ++n) {
    WriteFile(path, bytes.substr(0, n));
    EXPECT_FALSE(ReadSafetensors(path).ok()) << n;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::string bad = bytes;
    bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
    WriteFile(path, bad);
    if (const auto file = ReadSafetensors(path); file.ok()) {
      for (const NamedTensor& t : file->tensors) (void)(t.tensor == t.tensor);
    }
  }
}

// Files that another program wrote.
TEST_F(SafetensorsTest, ReadsTheSamplesAndWritesThemBack) {
  const std::filesystem::path models = Shared("models");
  if (models.empty()) GTEST_SKIP() << kNotShared;
  int files = 0;
  for (const auto& folder : std::filesystem::directory_iterator(models)) {
    const std::string sample = folder.path() / "io.safetensors";
    if (!std::filesystem::exists(sample)) continue;
    ++files;
    const auto file = ReadSafetensors(sample);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_GE(file->tensors.size(), 2u);
    const std::string path = Path("copy");
    ASSERT_TRUE(WriteSafetensors(path, file->tensors, file->metadata).ok());
    const auto copy = ReadSafetensors(path);
    ASSERT_TRUE(copy.ok()) << copy.status();
    EXPECT_EQ(copy->tensors.size(), file->tensors.size());
    for (const NamedTensor& want : file->tensors) {
      for (const NamedTensor& got : copy->tensors) {
        EXPECT_TRUE(got.name != want.name || got.tensor == want.tensor) << got.name;
      }
    }
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace x2ir
