// Files of jax.export, made with FlatBuffers' own builder.
#include "x2ir/formats/stablehlo/jax_export.h"

#include <flatbuffers/flatbuffers.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "jax_export_generated.h"
#include "tests/formats/mlir/module_text_util.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/formats/stablehlo/vhlo.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fb = ::x2ir::jax_fb;

BlobPtr InMemory(const std::string& bytes) {
  return Blob::InMemory({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, nullptr,
                        "f.jax_export");
}

constexpr char kProgram[] = R"(
func.func public @main(%p: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.case"(%p) ({
    %1 = stablehlo.add %a, %b : tensor<2xf32>
    "stablehlo.return"(%1) : (tensor<2xf32>) -> ()
  }, {
    %1 = stablehlo.subtract %a, %b : tensor<2xf32>
    "stablehlo.return"(%1) : (tensor<2xf32>) -> ()
  }) : (tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
})";

// f(x, *, params={"b", "w"}), of which "w" is not kept.
std::string Export(std::string module, uint32_t devices = 1) {
  flatbuffers::FlatBufferBuilder out;
  const auto leaf = fb::CreateTree(out, fb::TreeKind::leaf);
  const std::vector<flatbuffers::Offset<fb::Tree>> only = {leaf};
  const auto positional = fb::CreateTreeDirect(out, fb::TreeKind::tuple, &only);
  const std::vector<flatbuffers::Offset<flatbuffers::String>> parameters = {out.CreateString("b"),
                                                                            out.CreateString("w")};
  const std::vector<flatbuffers::Offset<fb::Tree>> leaves = {leaf, leaf};
  const auto dict = fb::CreateTreeDirect(out, fb::TreeKind::dict, &leaves, &parameters);
  const std::vector<flatbuffers::Offset<flatbuffers::String>> keywords = {
      out.CreateString("params")};
  const std::vector<flatbuffers::Offset<fb::Tree>> one = {dict};
  const auto named = fb::CreateTreeDirect(out, fb::TreeKind::dict, &one, &keywords);
  const std::vector<flatbuffers::Offset<fb::Tree>> both = {positional, named};
  const auto in_tree = fb::CreateTreeDirect(out, fb::TreeKind::tuple, &both);
  const std::vector<flatbuffers::Offset<flatbuffers::String>> platforms = {out.CreateString("cuda"),
                                                                           out.CreateString("cpu")};
  const std::vector<uint16_t> kept = {0, 1};
  const std::vector<int8_t> bytes(module.begin(), module.end());
  out.Finish(fb::CreateExportedDirect(out, 2, "f", in_tree, leaf, 1, &platforms, nullptr, &bytes, 9,
                                      &kept, true, devices));
  return std::string(reinterpret_cast<const char*>(out.GetBufferPointer()), out.GetSize());
}

std::string Artifact() {
  std::string bytes;
  EXPECT_TRUE(
      stablehlo::WriteArtifact(*mlir::ParseText(kProgram), {1, 0, 0}, Sink::To(&bytes)).ok());
  return bytes;
}

TEST(JaxExport, IsAProgramWithNames) {
  const std::string bytes = Export(Artifact());
  EXPECT_TRUE(stablehlo::IsJaxExport(bytes));
  const auto file = stablehlo::ReadJaxExport(InMemory(bytes));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->function_name, "f");
  EXPECT_EQ(file->platforms, (std::vector<std::string>{"cuda", "cpu"}));
  EXPECT_EQ(file->inputs, (std::vector<std::string>{"0", "params.b"}));
  EXPECT_EQ(file->calling_convention_version, 9);
  EXPECT_TRUE(file->uses_global_constants);

  const auto module = stablehlo::ReadJaxModule(InMemory(bytes));
  ASSERT_TRUE(module.ok()) << module.status();
  const mlir::Block& main = module->top.regions[0].blocks[0].ops[0].regions[0].blocks[0];
  ASSERT_EQ(main.arguments.size(), 2u);
  EXPECT_EQ(module->values[static_cast<size_t>(main.arguments[1])].name, "params.b");
  // The number of "cpu".
  EXPECT_EQ(main.ops[0].name, "stablehlo.constant");
  EXPECT_EQ(main.ops[0].Find("value")->tensor.AsInt(0), 1);
  EXPECT_EQ(main.ops[1].operands[0], main.ops[0].results[0]);
}

TEST(JaxExport, ForManyDevicesIsRefused) {
  const std::string bytes = Export(Artifact(), 8);
  EXPECT_EQ(stablehlo::ReadJaxExport(InMemory(bytes)).status().message(),
            "'f.jax_export' is a program for 8 devices; those for one device are read");
}

TEST(JaxExport, DamagedIsAnError) {
  const std::string bytes = Export(Artifact());
  EXPECT_FALSE(stablehlo::IsJaxExport(Export("no module")));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(stablehlo::ReadJaxModule(InMemory(bytes.substr(0, size))).ok()) << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {1, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[at] ^= static_cast<char>(change);
      (void)stablehlo::ReadJaxModule(InMemory(damaged)).ok();
    }
  }
}

}  // namespace
}  // namespace x2ir
