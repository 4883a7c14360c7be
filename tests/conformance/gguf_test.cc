// GGUF files against transformers: the logits of the files' own tensors
// (tests/data/cases/README.md), also of what is written as ONNX and read again.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>

#include "tests/conformance/framework_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

constexpr Closeness kClose = {.rtol = 1e-4, .atol = 1e-4};

TEST(Gguf, ModelsComputeTheirLogits) {
  const fs::path folder = Unpacked("gguf-cases.tar.xz", "gguf-cases") / "models";
  const fs::path written = fs::path(X2IR_BUILD_DIR) / "conformance" / "gguf";
  fs::create_directories(written);
  for (const auto& [name, file, outputs] : {
           std::tuple{"split", "llama_small.Q8_0.split-00001-of-00003.gguf",
                      "llama_small.Q8_0.split.io.safetensors"},
           std::tuple{"big_endian", "llama_small.F32.big_endian.gguf",
                      "llama_small.F32.big_endian.gguf.io.safetensors"},
       }) {
    SCOPED_TRACE(name);
    const fs::path io = folder / outputs;
    const absl::StatusOr<Model> model = Import((folder / file).string());
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status same = AgreesWithIo(*model, io, kClose);
    EXPECT_TRUE(same.ok()) << same;
    for (const bool contrib : {false, true}) {
      const std::string path =
          (written / StrCat(name, contrib ? ".contrib" : "", ".onnx")).string();
      ExportOptions options{.opset = 21, .check = true};
      if (contrib) options.format_options.Set("contrib", true);
      const absl::Status exported = Export(model->Clone(), path, options);
      ASSERT_TRUE(exported.ok()) << exported;
      const absl::StatusOr<Model> again = Import(path);
      ASSERT_TRUE(again.ok()) << again.status();
      const absl::Status agrees = AgreesWithIo(*again, io, kClose);
      EXPECT_TRUE(agrees.ok()) << path << ": " << agrees;
    }
  }
}

}  // namespace
}  // namespace x2ir
