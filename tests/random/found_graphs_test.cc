// Small graphs that random ones were reduced to, each with what was wrong: written, read back and
// run as random graphs are (random_paths_util.h).
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/ops/text_graph_util.h"
#include "tests/random/random_paths_util.h"
#include "x2ir/core/verify.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

struct FoundGraph {
  const char* inputs;
  const char* outputs;
  const char* nodes;
  const char* target;
  const char* extension;
  int opset = 0;
  bool optimize = true;
  bool refused = false;  // it may be, in words
};

const FoundGraph kFound[] = {
    // ONNX's inference wants indices of some rank.
    {"i: int64[]", "y", "d = int64[]{3}\n v = float32[2]{1, 2}\n y = one_hot(i, d, v)", "onnx",
     ".onnx", 18},
    {"i: int64[]", "y", "d = int64[]{3}\n v = int64[2]{1, 2}\n y = one_hot(i, d, v) { axis = 0 }",
     "onnx", ".onnx", 11, false},
    // No axes at all.
    {"x: float32[]", "y", "n = int64[0]{}\n z = slice(x, n, n)\n y = neg(z)", "onnx", ".onnx", 22,
     false},
    {"x: float32[]", "y", "n = int64[0]{}\n z = pad(x, n)\n y = neg(z)", "onnx", ".onnx", 18,
     false},
    {"x: int32[1,3]", "y", "n = int64[0]{}\n z = squeeze(x, n)\n y = neg(z)", "onnx", ".onnx", 20,
     false},
    // Only floats of 8 bits saturate.
    {"x: float32[2,3]", "y", "y = cast(x) { to = \"bool\", saturate = 0 }", "onnx", ".onnx", 21,
     false},
    // Bounds are scalars.
    {"x: float32[2,3]", "y", "h = float32[1,1]{0.5}\n y = clip(x, _, h)", "onnx", ".onnx", 18,
     false},
    // x and x / alpha are on different sides of 0.
    {"x: float32[2,3]", "y", "y = celu(x) { alpha = -1.0 }", "onnx", ".onnx", 8, false},
    {"x: float32[2,3]", "y", "y = celu(x) { alpha = -0.5 }", "coreml", ".mlpackage"},
    // Corners of 7 * 1.5 elements: 10 of them, 9.5 steps.
    {"x: float32[1,1,7]", "y",
     "s = float32[3]{1, 1, 1.5}\n y = resize(x, _, s) { mode = \"linear\",\n"
     "coordinate_transformation_mode = \"align_corners\" }",
     "torch", ".pt2", 0, true, true},
    // With VALID nothing is rounded up.
    {"x: float32[1,1,4,4]", "y",
     "y = max_pool(x) { kernel_shape = [3, 2], auto_pad = \"VALID\", ceil_mode = 1,\nstrides = [3, "
     "3] }",
     "torch", ".pt2"},
    // In float16 epsilon is 0.
    {"x: float16[2,3]", "y", "z = sub(x, x)\n y = mean_variance_normalization(z) { axes = [0] }",
     "torch", ".pt2"},
    // Logarithms and roots are those of floats.
    {"x: int8[2,3]", "y", "n = int64[1]{1}\n y = reduce_l2(x, n)", "oneflow_job", ".job", 0, true,
     true},
    // Without passes, channels last.
    {"x: float32[1,6,4,1]", "y",
     "y = lp_pool(x) { layout = \"channels_last\", kernel_shape = [1, 2], strides = [2, 1] }",
     "coreml", ".mlpackage", 0, false},
    {"x: float32[1,4,5,6]", "y",
     "w = float32[2,3,1,1]{1, 2, 3, 4, 5, 6}\n y = conv(x, w) { layout = \"channels_last\", group "
     "= 2 }",
     "coreml", ".mlpackage", 0, false},
    // Names that end in numbers are in no order.
    {"in_0: float32[4], in_1: float32[2,3]", "neg_2, in_0", "neg_2 = neg(in_1)", "oneflow_job",
     ".job"},
    // A weight whose name is of separators alone.
    {"x: float32[1,2,4]", "y", "\"/\" = float32[2,2,1]{1, 2, 3, 4}\n y = conv(x, \"/\")", "python",
     ".py"},
};

TEST(RandomGraphsFound, AreRight) {
  const auto judges = StartJudges();
  std::string pattern = (fs::temp_directory_path() / "x2ir_found_XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  for (const FoundGraph& found : kFound) {
    const std::string text =
        StrCat("graph g(", found.inputs, ") -> (", found.outputs, ") {\n", found.nodes, "\n}");
    SCOPED_TRACE(StrCat(found.target, "\n", text));
    RandomGraph random;
    random.graph = InferredGraph(text);
    const auto io = RandomCase(*random.graph, 7, nullptr);
    ASSERT_TRUE(io.ok()) << io.status();
    for (size_t i = 0; i < io->inputs.size(); ++i) {
      random.values[random.graph->inputs()[i]->name()] = *io->inputs[i];
    }
    RandomCaseOfGraph made;
    ASSERT_TRUE(Settle(std::move(random), 1, &made));
    const RandomPath path = {found.target, found.extension, found.opset, found.optimize};
    const RandomVerdict verdict = TryPath(made, path, pattern, judges.get());
    EXPECT_TRUE(verdict.result == RandomResult::kRight ||
                (found.refused && verdict.result == RandomResult::kRefused))
        << verdict.stage << ": " << verdict.text;
  }
  fs::remove_all(pattern);
}

}  // namespace
}  // namespace x2ir
