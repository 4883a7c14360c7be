// What lowerings and passes are told of a target: facts about ONNX from the opset on that has them,
// and about a dialect without schemas, of which nothing is taken for granted that is true of ONNX.
#include "x2ir/core/dialect_target.h"

#include <limits>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/ops/text_graph_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/verify.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kNever = std::numeric_limits<int>::max();
constexpr int kFirst = 7, kLast = 28;  // what is written

TEST(DialectTarget, FactsAboutOnnx) {
  const struct {
    Fact fact;
    int since;
  } rows[] = {
      {Fact::Has("relu"), kFirst},
      {Fact::Has("range"), 11},
      {Fact::Has("gelu"), 20},
      {Fact::Has("no_such_op"), kNever},
      {Fact::Takes("max", 0, DType::kFloat32), kFirst},
      {Fact::Takes("max", 1, DType::kInt64), 12},
      {Fact::Takes("min", 0, DType::kBFloat16), 13},
      {Fact::Takes("max", 0, DType::kString), kNever},
      {Fact::Takes("max", 0, DType::kUndefined), kFirst},
      // Operands that were attributes: by name, and by place.
      {Fact::Takes("squeeze", 1, DType::kInt64), 13},
      {Fact::Takes("top_k", 1, DType::kInt64), 10},
      {Fact::Takes("clip", 1, DType::kFloat32), 11},
      {Fact::Takes("pad", 3, DType::kInt64), 18},
      {Fact::Takes("resize", 2, DType::kFloat32), 9},
      {Fact::Takes("resize", 3, DType::kInt64), 11},
      {Fact::Takes("relu", 1, DType::kFloat32), kNever},
      // Attributes: in the schema or not, and as lenses and code say.
      {Fact::Says("reshape", "allowzero", 1), 14},
      {Fact::Says("reshape", "allowzero", 0), kFirst},
      {Fact::Says("depth_to_space", "mode", "CRD"), 11},
      {Fact::Says("depth_to_space", "mode", "DCR"), kFirst},
      {Fact::Says("max_pool", "ceil_mode", 1), 10},
      {Fact::Says("lp_pool", "ceil_mode", 1), 18},
      {Fact::Says("average_pool", "dilations", {2, 1}), 19},
      {Fact::Says("average_pool", "dilations", {1, 1}), kFirst},
      {Fact::Says("conv", "layout", "channels_first"), kFirst},
      {Fact::Says("conv", "layout", "channels_last"), kNever},
      {Fact::Says("resize", "axes", {2, 3}), 18},
      {Fact::Says("resize", "keep_aspect_ratio_policy", "not_larger"), 18},
      {Fact::Says("softmax", "axis", -1), kFirst},
      {Fact::Says("hardmax", "axis", 1), 13},
  };
  for (const auto& row : rows) {
    for (int opset = kFirst; opset <= kLast; ++opset) {
      SCOPED_TRACE(StrCat(row.fact.op.str(), " at opset ", opset));
      const DialectTarget onnx("onnx", {{"", opset}});
      EXPECT_EQ(onnx.Holds(row.fact), opset >= row.since);
      const bool later = opset < row.since && row.since != kNever;
      if (opset < row.since) {
        EXPECT_EQ(onnx.Later(row.fact).ToString(),
                  later ? StrCat("; opset ", row.since, " has it") : "");
      }
    }
  }
  EXPECT_EQ(DialectTarget("onnx", {{"", 7}}).layout(), "channels_first");
}

TEST(DialectTarget, TheEmptyTargetHasNoFacts) {
  EXPECT_FALSE(Target::Nothing().Has("relu"));
  EXPECT_EQ(Target::Nothing().layout(), "");
  EXPECT_EQ(Target::Nothing().Later(Fact::Has("relu")).ToString(), "");
}

// Two dialects without schemas at opset 1: one says all that IR does, one has older forms.
Lens Kept(std::string_view attr) { return Renamed(attr, attr); }
#define TGT_SAME(ir_op, ...)               \
  X2IR_SPEC("tgt", ir_op).Is(__VA_ARGS__); \
  X2IR_SPEC("tgt_old", ir_op).Is(__VA_ARGS__)
TGT_SAME(shape, "Shape", Since(1));
TGT_SAME(cast, "Cast", Since(1), Kept("to"));
TGT_SAME(not, "Not", Since(1));
TGT_SAME(less, "Less", Since(1));
TGT_SAME(add, "Add", Since(1));
TGT_SAME(equal, "Equal", Since(1));
TGT_SAME(where, "Where", Since(1));
TGT_SAME(unsqueeze, "Unsqueeze", Since(1));
TGT_SAME(reduce_sum, "ReduceSum", Since(1), Kept("keepdims"));
TGT_SAME(compress, "Compress", Since(1), Kept("axis"));
X2IR_SPEC("tgt", reshape).Is("Reshape", Since(1), Kept("allowzero"));
X2IR_SPEC("tgt_old", reshape).Is("Reshape", Since(1), Fixed("allowzero", 0));
X2IR_SPEC("tgt", max).Is("Max", Since(1));
X2IR_SPEC("tgt_old", top_k).Is("TopK", Since(1), OperandAsAttr("k"));

TEST(DialectTarget, FactsWithoutSchemas) {
  const DialectTarget now("tgt", {{"", 1}}), old("tgt_old", {{"", 1}});
  EXPECT_TRUE(now.Has("max"));
  EXPECT_FALSE(old.Has("max"));
  EXPECT_TRUE(now.Takes("max", 0, DType::kInt64));
  EXPECT_TRUE(now.Says("reshape", "allowzero", 1));
  EXPECT_FALSE(old.Says("reshape", "allowzero", 1));
  EXPECT_TRUE(old.Says("reshape", "allowzero", 0));
  EXPECT_TRUE(old.Takes("top_k", 0, DType::kFloat32));
  EXPECT_FALSE(old.Takes("top_k", 1, DType::kInt64));
  EXPECT_EQ(old.Later(Fact::Has("max")).ToString(), "");
  EXPECT_EQ(now.layout(), "");
}

// Opset 1 of a dialect is not opset 1 of ONNX, where no reshape leaves sizes of 0.
TEST(DialectTarget, OpsetOneIsNotOnnxOne) {
  constexpr std::string_view kIr =
      "graph g(x: float32[n,m,1], a: int64[1]) -> (y) { y = squeeze(x, a) }";
  ConvertTextOptions options;
  options.dialect = "tgt";
  EXPECT_THAT(FromIrText(kIr, 1, options), HasSubstr("tgt.Reshape(x, y_compress)"
                                                     " { allowzero = 1 }"));
  options.dialect = "tgt_old";
  const std::string refused = FromIrText(kIr, 1, options);
  EXPECT_THAT(refused, HasSubstr("2 sizes are not known, any of which may be 0"));
  EXPECT_THAT(refused, Not(HasSubstr("opset 14")));
  options.dialect = "onnx";
  EXPECT_THAT(FromIrText(kIr, 12, options), HasSubstr("any of which may be 0; opset 14 has it"));
}

// A host whose dense layers have weights [out, in], and whose windows have pads alone.
X2IR_SPEC("tgt_host", gemm)
    .Is("Dense", Since(1), Kept("alpha"), Kept("beta"), Fixed("transA", 0), Fixed("transB", 1));
X2IR_SPEC("tgt_host", transpose).Is("Transpose", Since(1), Kept("perm"));
X2IR_SPEC("tgt_host", conv)
    .Is("Conv", Since(1), Fixed("auto_pad", "NOTSET"), Fixed("layout", "channels_first"),
        Kept("group"), Kept("pads"), Kept("strides"), Kept("dilations"));
X2IR_SPEC("tgt_host", conv_transpose)
    .Is("Deconv", Since(1), Fixed("auto_pad", "NOTSET"), Fixed("layout", "channels_first"),
        Kept("group"), Kept("pads"), Kept("strides"), Kept("dilations"), Kept("output_padding"));
X2IR_SPEC("tgt_host", max_pool)
    .Is("MaxPool", Since(1), Fixed("auto_pad", "NOTSET"), Fixed("layout", "channels_first"),
        Fixed("ceil_mode", 0), Fixed("storage_order", 0), Kept("kernel_shape"), Kept("pads"),
        Kept("strides"), Kept("dilations"));

TEST(DialectTarget, ValuesThatAHostHasFixed) {
  const struct {
    const char *what, *inputs, *body;
    std::vector<const char*> says;
  } rows[] = {
      {"a weight is transposed",
       "x: float32[2,3]",
       "w = float32[3,2]{1, 2, 3, 4, 5, 6} y = gemm(x, w) { transB = 0 }",
       {"float32[2,3]{1, 3, 5, 2, 4, 6}", "tgt_host.Dense(x, "}},
      {"one that is transposed stays",
       "x: float32[2,3]",
       "w = float32[2,3]{1, 2, 3, 4, 5, 6} y = gemm(x, w) { transB = 1 }",
       {"float32[2,3]{1, 2, 3, 4, 5, 6}", "tgt_host.Dense(x, w)"}},
      {"what is computed, before it",
       "x: float32[3,2], w: float32[3,4]",
       "y = gemm(x, w) { transA = 1, alpha = 2.0 }",
       {"tgt_host.Transpose(x) { perm = [1, 0] }", "tgt_host.Transpose(w) { perm = [1, 0] }",
        "alpha = 2.0"}},
      {"SAME of a known size",
       "x: float32[1,1,7,8]",
       "w = float32[1,1,3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9} y = conv(x, w, _) { auto_pad = "
       "\"SAME_UPPER\", layout = \"channels_first\", strides = [2, 2] }",
       {"tgt_host.Conv", "pads = [1, 0, 1, 1]"}},
      {"SAME of any size, where each position is one of the result",
       "x: float32[n,1,h,w]",
       "w = float32[1,1,3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9} y = conv(x, w, _) { auto_pad = "
       "\"SAME_LOWER\", layout = \"channels_first\" }",
       {"tgt_host.Conv", "pads = [1, 1, 1, 1]"}},
      {"VALID",
       "x: float32[n,1,h,w]",
       "w = float32[1,1,2,2]{1, 2, 3, 4} y = conv(x, w, _) { auto_pad = \"VALID\", layout = "
       "\"channels_first\", strides = [2, 2] }",
       {"tgt_host.Conv", "pads = [0, 0, 0, 0]"}},
      {"transposed, SAME of any size",
       "x: float32[n,1,h,w]",
       "w = float32[1,1,3,4]{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} y = conv_transpose(x, w, _) { "
       "auto_pad = \"SAME_UPPER\", layout = \"channels_first\", strides = [2, 1] }",
       {"tgt_host.Deconv", "pads = [0, 1, 1, 2]"}},
      {"transposed, the other way",
       "x: float32[1,1,2,2]",
       "w = float32[1,1,3,4]{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} y = conv_transpose(x, w, _) { "
       "auto_pad = \"SAME_LOWER\", layout = \"channels_first\", strides = [2, 1], "
       "output_padding = [1, 0] }",
       {"tgt_host.Deconv", "pads = [1, 2, 1, 1]", "output_padding = [1, 0]"}},
      {"transposed, steps longer than the window",
       "x: float32[1,1,h,2], b: float32[1]",
       "w = float32[1,1,2,2]{1, 2, 3, 4} y = conv_transpose(x, w, b) { auto_pad = \"SAME_UPPER\", "
       "layout = \"channels_first\", strides = [4, 3] }",
       {"tgt_host.Deconv", "pads = [0, 0, 0, 0]", "output_padding = [2, 1]"}},
      {"transposed, VALID",
       "x: float32[n,1,h,w]",
       "w = float32[1,1,2,2]{1, 2, 3, 4} y = conv_transpose(x, w, _) { auto_pad = \"VALID\", "
       "layout "
       "= \"channels_first\", strides = [2, 2] }",
       {"tgt_host.Deconv", "pads = [0, 0, 0, 0]"}},
      {"transposed, a size that is given",
       "x: float32[1,1,3,3]",
       "w = float32[1,1,3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9} y = conv_transpose(x, w, _) { auto_pad = "
       "\"SAME_UPPER\", layout = \"channels_first\", strides = [2, 2], output_shape = [4, 8] }",
       {"tgt_host.Deconv", "pads = [1, 0, 2, 0]", "output_padding = [0, 1]"}},
      {"transposed, a size that is given, of one that is not known",
       "x: float32[1,1,h,3]",
       "w = float32[1,1,3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9} y = conv_transpose(x, w, _) { auto_pad = "
       "\"SAME_UPPER\", layout = \"channels_first\", strides = [2, 2], output_shape = [4, 8] }",
       {"error: FAILED_PRECONDITION", "output_shape", "option 'shapes' x:1,1,N,3 sets the sizes"}},
      {"a pool",
       "x: float32[1,2,5,6]",
       "y = max_pool(x) { auto_pad = \"SAME_LOWER\", kernel_shape = [3, 2], strides = [2, 2], "
       "layout = \"channels_first\" }",
       {"tgt_host.MaxPool", "pads = [1, 0, 1, 0]"}},
      {"a size that is not known",
       "x: float32[1,1,h,8]",
       "w = float32[1,1,3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9} y = conv(x, w, _) { auto_pad = "
       "\"SAME_UPPER\", layout = \"channels_first\", strides = [2, 2] }",
       {"error: FAILED_PRECONDITION", "auto_pad", "option 'shapes' x:1,1,N,8 sets the sizes"}},
  };
  ConvertTextOptions options;
  options.dialect = "tgt_host";
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const std::string ir =
        ToText(*InferredGraph(StrCat("graph g(", row.inputs, ") -> (y) { ", row.body, " }")),
               {.max_constant_elements = 64});
    const std::string text = FromIrText(ir, 1, options);
    for (const char* part : row.says) EXPECT_THAT(text, HasSubstr(part));
    if (text.starts_with("error")) continue;
    // It computes the same.
    auto before = ModelFromText(ir, "", 0), after = ModelFromText(ir, "", 0);
    ASSERT_TRUE(before.ok() && after.ok()) << before.status();
    ASSERT_TRUE(before->graph->Sort().ok());
    ExportOptions exporting;
    exporting.opset = 1;
    ASSERT_TRUE(FromIr(*after, "tgt_host", exporting).ok());
    ASSERT_TRUE(ToIr(*after).ok());
    const auto same = VerifyOnRandomInputs(*before, *after);
    ASSERT_TRUE(same.ok()) << same.status();
    EXPECT_TRUE(same->agrees()) << same->ToText();
  }
}

}  // namespace
}  // namespace x2ir
