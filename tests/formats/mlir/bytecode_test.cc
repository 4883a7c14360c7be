// MLIR bytecode of all versions, and StableHLO's portable artifacts in it: files of its own project
// (tests/data/cases/README.md), each beside the text that it was made of, and bytes that are no
// file.
#include "x2ir/formats/mlir/bytecode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/mlir/module_text_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/mlir/byte_reader_internal.h"
#include "x2ir/formats/mlir/byte_writer_internal.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/formats/stablehlo/vhlo.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

BlobPtr Bytes(const std::string& bytes) {
  return Blob::InMemory({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, nullptr,
                        "m.mlirbc");
}

std::string Written(const mlir::Module& module, int version) {
  std::string bytes;
  const absl::Status status =
      mlir::WriteBytecode(module, {.version = version, .producer = "test"}, Sink::To(&bytes));
  EXPECT_TRUE(status.ok()) << status;
  return bytes;
}

std::vector<fs::path> Artifacts() {
  std::vector<fs::path> files;
  const fs::path folder = Unpacked("stablehlo-cases.tar.xz", "stablehlo-cases");
  for (const auto& entry : fs::directory_iterator(folder / "stablehlo-cases" / "vhlo")) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".bc") && !name.starts_with("invalid")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

stablehlo::Version VersionIn(const mlir::Module& module) {
  return stablehlo::ParseVersion(module.producer.substr(std::string("StableHLO_v").size()))
      .value_or(stablehlo::kOldestVersion);
}

TEST(Varints, AreReadAsTheyAreWritten) {
  std::vector<uint64_t> numbers = {0, 1, ~uint64_t{0}};
  for (int bit = 1; bit < 64; ++bit) {
    for (int64_t near : {-1, 0, 1}) numbers.push_back((uint64_t{1} << bit) + near);
  }
  mlir::ByteWriter out;
  for (const uint64_t number : numbers) {
    out.Varint(number);
    out.Signed(static_cast<int64_t>(number));
  }
  mlir::ByteReader in(out.bytes(), 0);
  for (const uint64_t number : numbers) {
    EXPECT_EQ(in.Varint(), number);
    EXPECT_EQ(in.Signed(), static_cast<int64_t>(number));
  }
  EXPECT_TRUE(in.ok() && in.empty());
}

TEST(Varints, TakeAsFewBytesAsTheyCan) {
  for (const auto& [number, size] : std::vector<std::pair<uint64_t, size_t>>{
           {0, 1}, {127, 1}, {128, 2}, {16383, 2}, {16384, 3}, {uint64_t{1} << 56, 9}}) {
    mlir::ByteWriter out;
    out.Varint(number);
    EXPECT_EQ(out.size(), size) << number;
  }
}

TEST(Artifacts, OfEveryReleaseAreWrittenAgainAsTheyWere) {
  const std::vector<fs::path> files = Artifacts();
  ASSERT_EQ(files.size(), 11u);
  for (const fs::path& path : files) {
    SCOPED_TRACE(path.filename());
    const BlobPtr blob = *Blob::Open(path);
    absl::StatusOr<mlir::Module> module = mlir::ReadBytecode(blob);
    ASSERT_TRUE(module.ok()) << module.status();
    const std::string vhlo = ModuleText(*module);
    const stablehlo::Version version = VersionIn(*module);
    ASSERT_TRUE(stablehlo::FromVhlo(*module).ok());
    const std::string flat = ModuleText(*module);
    std::string bytes;
    const absl::Status status = stablehlo::WriteArtifact(*module, version, Sink::To(&bytes));
    ASSERT_TRUE(status.ok()) << status;
    absl::StatusOr<mlir::Module> again = mlir::ReadBytecode(Bytes(bytes));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(ModuleText(*again), vhlo);
    ASSERT_TRUE(stablehlo::FromVhlo(*again).ok());
    EXPECT_EQ(ModuleText(*again), flat);
  }
}

TEST(Artifacts, MeanWhatTheirTextSays) {
  for (const fs::path& path : Artifacts()) {
    SCOPED_TRACE(path.filename());
    const auto artifact = stablehlo::ReadArtifact(*Blob::Open(path));
    fs::path beside = path;
    const auto text = mlir::ParseText(ReadFile(beside.replace_extension()));
    ASSERT_TRUE(artifact.ok()) << artifact.status();
    ASSERT_TRUE(text.ok()) << text.status();
    // As graphs, then as VHLO, which says what was left out.
    const auto vhlo = [](const mlir::Module& module, const std::string& function) -> std::string {
      const auto graph = stablehlo::GraphOf(module, {.entry = function});
      if (!graph.ok()) return StrCat("refused: ", graph.status().message());
      auto made = stablehlo::ModuleOf(*graph);
      if (!made.ok()) return StrCat("refused: ", made.status().message());
      for (mlir::Op& op : made->top.regions[0].blocks[0].ops) {
        std::erase_if(op.attrs, [](const auto& attr) {  // names
          return attr.first == "arg_attrs" || attr.first == "res_attrs";
        });
      }
      const absl::Status status = stablehlo::ToVhlo(*made, stablehlo::kNewestVersion);
      return status.ok() ? ModuleText(*made) : StrCat("refused: ", status.message());
    };
    size_t compared = 0;
    for (const mlir::Op& function : text->top.regions[0].blocks[0].ops) {
      const std::string name = function.Find("sym_name")->s;
      const std::string want = vhlo(*text, name), got = vhlo(*artifact, name);
      if (want.starts_with("refused") && got.starts_with("refused")) continue;
      EXPECT_EQ(got, want) << name;
      ++compared;
    }
    EXPECT_GT(compared, 120u);
  }
}

TEST(Artifacts, OfNewerReleasesAreRefused) {
  const fs::path folder = Unpacked("stablehlo-cases.tar.xz", "stablehlo-cases");
  const auto read = mlir::ReadBytecode(
      *Blob::Open(folder / "stablehlo-cases" / "vhlo" / "invalid_vhlo_future.mlir.bc"));
  ASSERT_EQ(read.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(read.status().message(),
            "operation 'vhlo.constant_v99' is not known (producer 'StableHLO_v2.0.0'); artifacts "
            "of StableHLO 0.9.0 to 1.20.0 are read");
}

TEST(Artifacts, SayAllThatAnOlderReleaseCannot) {
  absl::StatusOr<mlir::Module> module = mlir::ParseText(R"(
func.func @main(%a: tensor<2xf8E4M3>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tan %b : tensor<2xf32>
  return %0 : tensor<2xf32>
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::Status status = stablehlo::ToVhlo(*module, {0, 9, 0});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "StableHLO 0.9.0 cannot say: 'stablehlo.tan' (1.4.0 has it); type f8E4M3 (1.7.0 has "
            "it)");
}

// As XLA writes them.
TEST(Artifacts, HoldOperationsOfMhloAsCalls) {
  const auto artifact = [](const std::string& erf, const std::string& top_k) {
    absl::StatusOr<mlir::Module> module = mlir::ParseText(StrCat(R"(
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2xi32>) {
  %0 = )",
                                                                 erf, "\n %1, %2 = ", top_k, R"(
  return %0, %1, %2 : tensor<4xf32>, tensor<2xf32>, tensor<2xi32>
})"));
    EXPECT_TRUE(module.ok()) << module.status();
    std::string bytes;
    const absl::Status status = stablehlo::WriteArtifact(*module, {1, 7, 0}, Sink::To(&bytes));
    EXPECT_TRUE(status.ok()) << status;
    return bytes;
  };
  const std::string types = "(tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)";
  const std::string calls = artifact(
      "stablehlo.custom_call @mhlo.erf(%a) {mhlo.attributes = {}, mhlo.version = 1 : "
      "i64} : (tensor<4xf32>) -> tensor<4xf32>",
      StrCat("\"stablehlo.custom_call\"(%0) {call_target_name = \"mhlo.topk\", "
             "mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : ",
             types));
  EXPECT_EQ(artifact("chlo.erf %a : tensor<4xf32> -> tensor<4xf32>",
                     StrCat("\"chlo.top_k\"(%0) {k = 2 : i64} : ", types)),
            calls);
  // And back.
  const auto module = stablehlo::ReadArtifact(Bytes(calls));
  ASSERT_TRUE(module.ok()) << module.status();
  absl::StatusOr<Model> model = stablehlo::GraphOf(*module, {});
  ASSERT_TRUE(model.ok()) << model.status();
  model = ToIr(*std::move(model));
  ASSERT_TRUE(model.ok()) << model.status();
  const std::string text = ToText(*model->graph);
  for (const char* op : {"= erf(", "= top_k("}) EXPECT_NE(text.find(op), text.npos) << text;
}

TEST(Artifacts, DoNotHoldOtherOperationsOfChlo) {
  absl::StatusOr<mlir::Module> module = mlir::ParseText(R"(
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2xi32>) {
  %0 = chlo.lgamma %a : tensor<4xf32> -> tensor<4xf32>
  %1, %2 = "chlo.top_k"(%0) {k = 2 : i64, other = 1 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0, %1, %2 : tensor<4xf32>, tensor<2xf32>, tensor<2xi32>
})");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(stablehlo::ToVhlo(*module, {1, 7, 0}).message(),
            "StableHLO 1.7.0 cannot say: 'chlo.top_k' with attribute 'other'; operation "
            "'chlo.lgamma'");
}

// Elements of all sizes, packed and not, all the same and not.
constexpr char kConstants[] = R"(
func.func @main() {
  %0 = stablehlo.constant dense<[true, false, true, true, false, true, true, true, false]> : tensor<9xi1>
  %1 = stablehlo.constant dense<true> : tensor<9xi1>
  %2 = stablehlo.constant dense<false> : tensor<i1>
  %3 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %4 = stablehlo.constant dense<[1, -8, 7]> : tensor<3xi4>
  %5 = stablehlo.constant dense<15> : tensor<3x2xui4>
  %6 = stablehlo.constant dense<[1, -2, 0, 1, -1]> : tensor<5xi2>
  %7 = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xbf16>
  %8 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %9 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %10 = stablehlo.constant dense<0.5> : tensor<1024x1024xf32>
  %11 = stablehlo.constant dense<> : tensor<0x3xi64>
  return
})";

TEST(Bytecode, HoldsElementsOfAllTypes) {
  absl::StatusOr<mlir::Module> module = mlir::ParseText(kConstants);
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string builtin = ModuleText(*module);
  EXPECT_EQ(stablehlo::ToVhlo(*module, stablehlo::kNewestVersion), absl::OkStatus());
  const std::string vhlo = ModuleText(*module);
  for (int version = 0; version <= 6; ++version) {
    const std::string bytes = Written(*module, version);
    const absl::StatusOr<mlir::Module> again = mlir::ReadBytecode(Bytes(bytes));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(ModuleText(*again), vhlo) << "version " << version;
    EXPECT_LT(bytes.size(), 3000u);
    EXPECT_EQ(Written(*module, version), bytes);
  }
  EXPECT_NE(builtin, vhlo);
}

using BytecodeFiles = TempDirTest;

TEST_F(BytecodeFiles, WeightsAreRangesOfTheFile) {
  mlir::Module module = *mlir::ParseText(R"(
func.func @main() {
  %0 = stablehlo.constant dense<1.0> : tensor<100x100xf32>
  return
})");
  mlir::Attr& value =
      module.top.regions[0].blocks[0].ops[0].regions[0].blocks[0].ops[0].attrs[0].second;
  value.splat = false;
  value.tensor = Tensor::Zeros(DType::kFloat32, {100, 100});
  value.tensor.mutable_span<float>()[77] = 3;
  ASSERT_TRUE(stablehlo::WriteArtifact(module, {1, 0, 0}, Sink(Path("a.mlirbc"))).ok());
  const auto read = stablehlo::ReadArtifact(*Blob::Open(Path("a.mlirbc")));
  ASSERT_TRUE(read.ok()) << read.status();
  const mlir::Attr& got =
      *read->top.regions[0].blocks[0].ops[0].regions[0].blocks[0].ops[0].Find("value");
  EXPECT_TRUE(got.tensor == value.tensor);
  EXPECT_TRUE(got.tensor.file_range().has_value());
  ASSERT_TRUE(stablehlo::WriteArtifact(*read, {1, 0, 0}, Sink(Path("b.mlirbc"))).ok());
  EXPECT_EQ(ReadFile(Path("a.mlirbc")), ReadFile(Path("b.mlirbc")));
}

// What is damaged is an error or a module that can be written and read again.
void ExpectNoCrash(const std::string& bytes) {
  const auto read = stablehlo::ReadArtifact(Bytes(bytes));
  if (!read.ok()) return;
  std::string written;
  if (!stablehlo::WriteArtifact(*read, stablehlo::kNewestVersion, Sink::To(&written)).ok()) return;
  const auto again = stablehlo::ReadArtifact(Bytes(written));
  EXPECT_TRUE(again.ok()) << again.status();
}

TEST(Bytecode, CutAnywhereIsAnError) {
  absl::StatusOr<mlir::Module> module = mlir::ParseText(kConstants);
  ASSERT_TRUE(stablehlo::ToVhlo(*module, stablehlo::kNewestVersion).ok());
  const std::string bytes = Written(*module, 6);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(mlir::ReadBytecode(Bytes(bytes.substr(0, size))).ok()) << size;
  }
}

TEST(Bytecode, DamagedIsAnErrorOrAModule) {
  std::mt19937_64 random(1);
  for (const fs::path& path : Artifacts()) {
    const std::string whole = ReadFile(path);
    for (int i = 0; i < 200; ++i) {
      std::string bytes = whole;
      for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
        bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
      }
      ExpectNoCrash(bytes);
    }
  }
}

}  // namespace
}  // namespace x2ir
