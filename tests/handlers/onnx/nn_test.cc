// The neural-network family between ONNX and IR, as text, in both directions and at several
// opsets; and what cannot be expressed.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"

namespace x2ir {
namespace {

// One node on each side that say the same. The graph around them has the inputs.
struct PairRow {
  int opset;
  const char* inputs;
  const char* onnx;  // "Relu(x) { ... }"
  const char* ir;    // as the IR writes it, attributes in the order of the definition
};

const PairRow kPairs[] = {
    {7, "x: float32[1,3,8,8], w: float32[4,3,3,3]", "Conv(x, w) { kernel_shape = [3, 3] }",
     "conv(x, w) { layout = \"channels_first\", auto_pad = \"NOTSET\", group = 1, "
     "strides = [1, 1], dilations = [1, 1], pads = [0, 0, 0, 0] }"},
    {22, "x: float32[1,4,8], w: float32[4,2,3], b: float32[4]",
     "Conv(x, w, b) { dilations = [2], group = 2, kernel_shape = [3], pads = [1, 0], "
     "strides = [2] }",
     "conv(x, w, b) { layout = \"channels_first\", auto_pad = \"NOTSET\", group = 2, "
     "strides = [2], dilations = [2], pads = [1, 0] }"},
    {11, "x: float32[1,3,8,8], w: float32[4,3,3,3]",
     "Conv(x, w) { auto_pad = \"SAME_UPPER\", kernel_shape = [3, 3] }",
     "conv(x, w) { layout = \"channels_first\", auto_pad = \"SAME_UPPER\", group = 1, "
     "strides = [1, 1], dilations = [1, 1], pads = [0, 0, 0, 0] }"},
    {11, "x: float32[1,3,8,8], w: float32[3,4,3,3]",
     "ConvTranspose(x, w) { kernel_shape = [3, 3], output_padding = [1, 0], "
     "output_shape = [16, 9], strides = [2, 1] }",
     "conv_transpose(x, w) { layout = \"channels_first\", auto_pad = \"NOTSET\", group = 1, "
     "strides = [2, 1], dilations = [1, 1], pads = [0, 0, 0, 0], output_padding = [1, 0], "
     "output_shape = [16, 9] }"},
    {7, "x: float32[1,3,8,8]", "MaxPool(x) { kernel_shape = [2, 2], strides = [2, 2] }",
     "max_pool(x) { layout = \"channels_first\", kernel_shape = [2, 2], auto_pad = \"NOTSET\", "
     "ceil_mode = 0, strides = [2, 2], dilations = [1, 1], pads = [0, 0, 0, 0], "
     "storage_order = 0 }"},
    {12, "x: uint8[1,3,8,8]",
     "MaxPool(x) { ceil_mode = 1, dilations = [2, 2], kernel_shape = [2, 2], storage_order = 1 }",
     "max_pool(x) { layout = \"channels_first\", kernel_shape = [2, 2], auto_pad = \"NOTSET\", "
     "ceil_mode = 1, strides = [1, 1], dilations = [2, 2], pads = [0, 0, 0, 0], "
     "storage_order = 1 }"},
    {19, "x: float32[1,3,8,8]",
     "AveragePool(x) { count_include_pad = 1, dilations = [2, 2], kernel_shape = [2, 2] }",
     "average_pool(x) { layout = \"channels_first\", kernel_shape = [2, 2], "
     "auto_pad = \"NOTSET\", ceil_mode = 0, strides = [1, 1], dilations = [2, 2], "
     "pads = [0, 0, 0, 0], count_include_pad = 1 }"},
    {7, "x: float32[1,3,8,8]", "LpPool(x) { kernel_shape = [2, 2], p = 3 }",
     "lp_pool(x) { layout = \"channels_first\", kernel_shape = [2, 2], auto_pad = \"NOTSET\", "
     "ceil_mode = 0, strides = [1, 1], dilations = [1, 1], pads = [0, 0, 0, 0], p = 3 }"},
    {7, "x: float32[1,3,8,8]", "GlobalAveragePool(x)",
     "global_average_pool(x) { layout = \"channels_first\" }"},
    {22, "x: float32[1,3,8,8]", "GlobalLpPool(x)",
     "global_lp_pool(x) { layout = \"channels_first\", p = 2 }"},
    {9, "x: float32[1,1,2,2], i: int64[1,1,2,2]",
     "MaxUnpool(x, i) { kernel_shape = [2, 2], strides = [2, 2] }",
     "max_unpool(x, i) { kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0] }"},
    {7, "x: float32[1,3,8,8], s: float32[3]", "BatchNormalization(x, s, s, s, s)",
     "batch_normalization(x, s, s, s, s) { layout = \"channels_first\", epsilon = 1e-05, "
     "momentum = 0.9, training_mode = 0 }"},
    {17, "x: float16[2,8], s: float16[8]", "LayerNormalization(x, s) { axis = 1 }",
     "layer_normalization(x, s) { axis = 1, epsilon = 1e-05, stash_type = \"float32\" }"},
    {21, "x: float32[2,8,4], s: float32[8]", "GroupNormalization(x, s, s) { num_groups = 2 }",
     "group_normalization(x, s, s) { layout = \"channels_first\", num_groups = 2, "
     "epsilon = 1e-05, stash_type = \"float32\" }"},
    {23, "x: float32[2,8], s: float32[8]", "RMSNormalization(x, s) { stash_type = 16 }",
     "rms_normalization(x, s) { axis = -1, epsilon = 1e-05, stash_type = \"bfloat16\" }"},
    {7, "x: float32[2,8,3,3]", "LRN(x) { size = 5 }",
     "lrn(x) { layout = \"channels_first\", size = 5, alpha = 0.0001, beta = 0.75, bias = 1.0 }"},
    {7, "x: float32[2,8]", "LpNormalization(x) { p = 1 }",
     "lp_normalization(x) { axis = -1, p = 1 }"},
    {9, "x: float32[2,8,3,3]", "MeanVarianceNormalization(x) { axes = [0, 2, 3] }",
     "mean_variance_normalization(x) { axes = [0, 2, 3] }"},
    {7, "x: float32[5,2,4], w: float32[1,12,4], r: float32[1,12,3]",
     "LSTM(x, w, r) { hidden_size = 3 }",
     "lstm(x, w, r) { activations = [\"Sigmoid\", \"Tanh\", \"Tanh\"], batch_first = 0, "
     "direction = \"forward\", hidden_size = 3, input_forget = 0 }"},
    {14, "x: float32[2,5,4], w: float32[2,9,4], r: float32[2,9,3]",
     "GRU(x, w, r) { clip = 2.5, direction = \"bidirectional\", hidden_size = 3, layout = 1, "
     "linear_before_reset = 1 }",
     "gru(x, w, r) { activations = [\"Sigmoid\", \"Tanh\", \"Sigmoid\", \"Tanh\"], "
     "batch_first = 1, clip = 2.5, direction = \"bidirectional\", hidden_size = 3, "
     "linear_before_reset = 1 }"},
    {7, "x: float32[5,2,4], w: float32[1,3,4], r: float32[1,3,3]",
     "RNN(x, w, r) { activation_alpha = [0.5], activations = [\"LeakyRelu\"], hidden_size = 3 }",
     "rnn(x, w, r) { activations = [\"LeakyRelu\"], activation_alpha = [0.5], batch_first = 0, "
     "direction = \"forward\", hidden_size = 3 }"},
    {13, "x: float32[1,3,8,8], s: float32[4]",
     "Resize(x, _, s) { coordinate_transformation_mode = \"asymmetric\", mode = \"linear\", "
     "nearest_mode = \"floor\" }",
     "resize(x, _, s) { antialias = 0, coordinate_transformation_mode = \"asymmetric\", "
     "cubic_coeff_a = -0.75, exclude_outside = 0, extrapolation_value = 0.0, "
     "keep_aspect_ratio_policy = \"stretch\", mode = \"linear\", nearest_mode = \"floor\" }"},
    {19, "x: float32[1,3,8,8], s: int64[2]",
     "Resize(x, _, _, s) { antialias = 1, axes = [2, 3], "
     "coordinate_transformation_mode = \"half_pixel_symmetric\", "
     "keep_aspect_ratio_policy = \"not_larger\", mode = \"cubic\" }",
     "resize(x, _, _, s) { antialias = 1, axes = [2, 3], "
     "coordinate_transformation_mode = \"half_pixel_symmetric\", cubic_coeff_a = -0.75, "
     "exclude_outside = 0, extrapolation_value = 0.0, keep_aspect_ratio_policy = \"not_larger\", "
     "mode = \"cubic\", nearest_mode = \"round_prefer_floor\" }"},
    {11, "x: float32[1,8,2,2]", "DepthToSpace(x) { blocksize = 2, mode = \"CRD\" }",
     "depth_to_space(x) { layout = \"channels_first\", blocksize = 2, mode = \"CRD\" }"},
    {7, "x: float32[1,8,2,2]", "SpaceToDepth(x) { blocksize = 2 }",
     "space_to_depth(x) { layout = \"channels_first\", blocksize = 2 }"},
};

std::string GraphOf(const std::string& inputs, const std::string& body,
                    const std::string& results = "y") {
  return absl::StrCat("graph g(", inputs, ") -> (", results, ") {\n", body, "\n}");
}

TEST(NnHandlers, Pairs) {
  for (const PairRow& row : kPairs) {
    SCOPED_TRACE(absl::StrCat(row.onnx, " at opset ", row.opset));
    const std::string onnx = GraphOf(row.inputs, absl::StrCat("y = onnx.", row.onnx));
    const std::string ir = GraphOf(row.inputs, absl::StrCat("y = ", row.ir));
    EXPECT_EQ(Body(ToIrText(onnx, row.opset)), Body(Canonical(ir)));
    EXPECT_EQ(Body(FromIrText(ir, row.opset)), Body(Canonical(onnx)));
    // The newest opset says it just as well.
    EXPECT_EQ(Body(ToIrText(FromIrText(ir, 28), 28)), Body(Canonical(ir)));
  }
}

// Runtimes ask for all of its outputs then, also for those that nobody uses.
TEST(NnHandlers, BatchNormalizationInTrainingHasItsStatistics) {
  constexpr const char kInputs[] = "x: float32[1,3,8,8], s: float32[3]";
  const std::string ir = GraphOf(
      kInputs,
      "y = batch_normalization(x, s, s, s, s) { layout = \"channels_first\", epsilon = 1e-05, "
      "momentum = 0.9, training_mode = 1 }");
  const std::string onnx =
      GraphOf(kInputs, "y = onnx.BatchNormalization(x, s, s, s, s) { training_mode = 1 }");
  EXPECT_EQ(Body(ToIrText(onnx, 15)), Body(Canonical(ir)));
  EXPECT_EQ(Body(FromIrText(ir, 15)),
            "y, y_BatchNormalization, y_BatchNormalization_1 = "
            "onnx.BatchNormalization(x, s, s, s, s) { training_mode = 1 }\n");
}

constexpr const char kAsymmetric[] =
    "{ antialias = 0, coordinate_transformation_mode = \"asymmetric\", cubic_coeff_a = -0.75, "
    "exclude_outside = 0, extrapolation_value = 0.0, keep_aspect_ratio_policy = \"stretch\", "
    "mode = \"nearest\", nearest_mode = \"NEAREST\" }";

std::string Asymmetric(const std::string& nearest) {
  std::string text = kAsymmetric;
  return text.replace(text.find("NEAREST"), 7, nearest);
}

// Old forms of ONNX that become something of today.
TEST(NnHandlers, OldForms) {
  const struct {
    int opset;
    const char* inputs;
    const char* onnx;
    std::string ir;
  } rows[] = {
      {7, "x: float32[1,1,2,2]", "y = onnx.Upsample(x) { scales = [1.0, 1.0, 2.0, 2.0] }",
       "y_scales = float32[4]{1, 1, 2, 2}\ny = resize(x, _, y_scales) " + Asymmetric("floor")},
      {9, "x: float32[1,1,2,2], s: float32[4]", "y = onnx.Upsample(x, s)",
       "y = resize(x, _, s) " + Asymmetric("floor")},
      {10, "x: float32[1,1,2,2]", "s = float32[4]{1, 1, 2, 2}\ny = onnx.Resize(x, s)",
       "s = float32[4]{1, 1, 2, 2}\ny = resize(x, _, s) " + Asymmetric("floor")},
      // ONNX's tests of opset 10 round up where an axis shrinks.
      {10, "x: float32[1,1,2,4]", "s = float32[4]{1, 1, 0.6, 0.6}\ny = onnx.Resize(x, s)",
       "s = float32[4]{1, 1, 0.6, 0.6}\ny = resize(x, _, s) " + Asymmetric("ceil")},
      // Empty tensors stand for operands left out; roi means nothing here.
      {11, "x: float32[1,1,2,2], s: int64[4]",
       "e = float32[0]{}\nr = float32[8]{0, 0, 0, 0, 1, 1, 1, 1}\ny = onnx.Resize(x, r, e, s) "
       "{ coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\" }",
       "y = resize(x, _, _, s) " + Asymmetric("floor")},
      // A rule for coordinates that opset 13 dropped.
      {12, "x: float32[1,1,2,2], s: float32[4]",
       "e = float32[0]{}\ny = onnx.Resize(x, e, s) "
       "{ coordinate_transformation_mode = \"tf_half_pixel_for_nn\", nearest_mode = \"floor\" }",
       "y = resize(x, _, s) { antialias = 0, coordinate_transformation_mode = \"half_pixel\", "
       "cubic_coeff_a = -0.75, exclude_outside = 0, extrapolation_value = 0.0, "
       "keep_aspect_ratio_policy = \"stretch\", mode = \"nearest\", "
       "nearest_mode = \"round_prefer_ceil\" }"},
      {7, "x: float32[5,2,4], w: float32[1,3,4], r: float32[1,3,3]",
       "y = onnx.RNN(x, w, r) { activations = [\"Tanh\", \"Tanh\"] }",
       "y = rnn(x, w, r) { activations = [\"Tanh\"], batch_first = 0, direction = \"forward\", "
       "hidden_size = 3 }"},
      // Numbers of functions that are left out are those of the operators of these names.
      {7, "x: float32[5,2,4], w: float32[1,3,4], r: float32[1,3,3]",
       "y = onnx.RNN(x, w, r) { activations = [\"ThresholdedRelu\"] }",
       "y = rnn(x, w, r) { activations = [\"ThresholdedRelu\"], activation_alpha = [1.0], "
       "batch_first = 0, direction = \"forward\", hidden_size = 3 }"},
      {7, "x: float32[5,2,4], w: float32[1,9,4], r: float32[1,9,3]",
       "y = onnx.GRU(x, w, r) { activation_alpha = [0.25], "
       "activations = [\"HardSigmoid\", \"Affine\"] }",
       "y = gru(x, w, r) { activations = [\"HardSigmoid\", \"Affine\"], "
       "activation_alpha = [0.25, 1.0], activation_beta = [0.5, 0.0], batch_first = 0, "
       "direction = \"forward\", hidden_size = 3, linear_before_reset = 0 }"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.onnx);
    EXPECT_EQ(Body(ToIrText(GraphOf(row.inputs, row.onnx), row.opset)),
              Body(Canonical(GraphOf(row.inputs, row.ir))));
  }
}

// And the other way round.
TEST(NnHandlers, OldResizeOut) {
  const struct {
    int opset;
    const char* inputs;
    std::string ir;
    const char* onnx;
  } rows[] = {
      {7, "x: float32[1,1,2,2]",
       "s = float32[4]{1, 1, 2, 2}\ny = resize(x, _, s) " + Asymmetric("floor"),
       "y = onnx.Upsample(x) { scales = [1.0, 1.0, 2.0, 2.0] }"},
      {9, "x: float32[1,1,2,2]",
       "s = float32[4]{1, 1, 2, 2}\ny = resize(x, _, s) " + Asymmetric("floor"),
       "s = float32[4]{1, 1, 2, 2}\ny = onnx.Upsample(x, s)"},
      {10, "x: float32[1,1,2,2]",
       "s = float32[4]{1, 1, 2, 2}\ny = resize(x, _, s) " + Asymmetric("floor"),
       "s = float32[4]{1, 1, 2, 2}\ny = onnx.Resize(x, s)"},
      {10, "x: float32[1,1,2,2]",
       "s = int64[4]{1, 1, 4, 6}\ny = resize(x, _, _, s) " + Asymmetric("floor"),
       "y_scales = float32[4]{1, 1, 2, 3}\ny = onnx.Resize(x, y_scales)"},
      {11, "x: float32[1,1,2,2], s: int64[4]", "y = resize(x, _, _, s) " + Asymmetric("floor"),
       "y_roi = float32[0]{}\ny_scales = float32[0]{}\ny = onnx.Resize(x, y_roi, y_scales, s) "
       "{ coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\" }"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(absl::StrCat(row.ir, " at opset ", row.opset));
    const std::string got = FromIrText(GraphOf(row.inputs, row.ir), row.opset);
    EXPECT_EQ(Body(got), Body(Canonical(GraphOf(row.inputs, row.onnx))));
  }
}

// What an opset cannot say is an error that says so; none of these has a lowering that serves.
TEST(NnHandlers, Refused) {
  const struct {
    int opset;
    const char* inputs;
    const char* ir;
    const char* part;
  } rows[] = {
      {18, "x: float32[1,3,n,8]",
       "y = average_pool(x) { layout = \"channels_first\", kernel_shape = [2, 2], "
       "auto_pad = \"NOTSET\", ceil_mode = 0, strides = [1, 1], dilations = [2, 2], "
       "pads = [0, 0, 0, 0], count_include_pad = 0 }",
       "dilations"},
      {28, "x: float32[...], w: float32[...]",
       "y = conv(x, w) { layout = \"channels_last\", auto_pad = \"NOTSET\", group = 1, "
       "strides = [1, 1], dilations = [1, 1], pads = [0, 0, 0, 0] }",
       "layout"},
      {18, "x: float32[1,3,8,8], s: float32[4]",
       "y = resize(x, _, s) { antialias = 1, "
       "coordinate_transformation_mode = \"half_pixel_symmetric\", cubic_coeff_a = -0.75, "
       "exclude_outside = 0, extrapolation_value = 0.0, keep_aspect_ratio_policy = \"stretch\", "
       "mode = \"linear\", nearest_mode = \"floor\" }",
       "opset 19 has it"},
      {8, "x: float32[1,1,2,2], i: int64[1,1,2,2]",
       "y = max_unpool(x, i) { kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0] }",
       "opset 9 has it"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.ir);
    const std::string got = FromIrText(GraphOf(row.inputs, row.ir), row.opset);
    EXPECT_TRUE(absl::StartsWith(got, "error: FAILED_PRECONDITION")) << got;
    EXPECT_NE(got.find(row.part), std::string::npos) << got;
  }
}

TEST(NnHandlers, ImportErrors) {
  const struct {
    int opset;
    const char* inputs;
    const char* onnx;
    const char* part;
  } rows[] = {
      {11, "x: float32[1,3,8,8], w: float32[4,3,3,3]",
       "y = onnx.Conv(x, w) { kernel_shape = [3, 1] }", "kernel_shape"},
      {10, "x: float32[1,3], s: float32[2]", "y = onnx.Resize(x, s)", "nearest"},
      {9, "x: float32[1,3], s: float32[2]", "y = onnx.Upsample(x, s) { mode = 3 }", "mode"},
      {7, "x: float32[5,2,4], w: float32[1,3,4], r: float32[1,3,3]",
       "y = onnx.RNN(x, w, r) { direction = 1 }", "direction"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.onnx);
    const std::string got = ToIrText(GraphOf(row.inputs, row.onnx), row.opset);
    EXPECT_TRUE(absl::StartsWith(got, "error: ")) << got;
    EXPECT_NE(got.find(row.part), std::string::npos) << got;
  }
}

// Lowerings: what older opsets say instead. Here only which ops they use; that the results are
// the same is for the conformance tests to show.
TEST(NnHandlers, Lowered) {
  const struct {
    int opset;
    const char* inputs;
    const char* ir;
    const char* has;
    const char* has_not;
  } rows[] = {
      {16, "x: float16[2,8], s: float16[8]",
       "y = layer_normalization(x, s) { axis = 1, epsilon = 1e-05, stash_type = \"float32\" }",
       "onnx.ReduceMean", "LayerNormalization"},
      {22, "x: float32[2,8], s: float32[8]",
       "y = rms_normalization(x, s) { axis = -1, epsilon = 1e-05, stash_type = \"float32\" }",
       "onnx.Sqrt", "onnx.Cast"},
      {20, "x: float32[2,8,4], s: float32[8]",
       "y = group_normalization(x, s, s) { layout = \"channels_first\", num_groups = 2, "
       "epsilon = 1e-05, stash_type = \"float32\" }",
       "onnx.InstanceNormalization", "GroupNormalization"},
      {8, "x: float32[2,8,3,3]", "y = mean_variance_normalization(x) { axes = [0, 2, 3] }",
       "onnx.ReduceMean", "MeanVariance"},
      {10, "x: float32[1,8,2,2]",
       "y = depth_to_space(x) { layout = \"channels_first\", blocksize = 2, mode = \"CRD\" }",
       "onnx.Gather", "CRD"},
      {13, "x: float32[2,5,4], w: float32[1,3,4], r: float32[1,3,3]",
       "y = rnn(x, w, r) { activations = [\"Tanh\"], batch_first = 1, direction = \"forward\", "
       "hidden_size = 3 }",
       "onnx.Transpose", "layout"},
      {9, "x: float32[1,3,5,5]",
       "y = max_pool(x) { layout = \"channels_first\", kernel_shape = [2, 2], "
       "auto_pad = \"NOTSET\", ceil_mode = 1, strides = [2, 2], dilations = [1, 1], "
       "pads = [0, 0, 0, 0], storage_order = 0 }",
       "pads = [0, 0, 1, 1]", "ceil_mode"},
      {17, "x: float32[1,3,5,5], s: float32[2]",
       "y = resize(x, _, s) { antialias = 0, axes = [3, -2], "
       "coordinate_transformation_mode = \"half_pixel\", cubic_coeff_a = -0.75, "
       "exclude_outside = 0, extrapolation_value = 0.0, keep_aspect_ratio_policy = \"stretch\", "
       "mode = \"linear\", nearest_mode = \"floor\" }",
       "onnx.ScatterElements", "axes = ["},
      {13, "x: float32[4,3,5,5], s: float32[3]",
       "y = batch_normalization(x, s, s, s, s) { layout = \"channels_first\", epsilon = 1e-05, "
       "momentum = 0.9, training_mode = 1 }",
       "onnx.ReduceMean", "BatchNormalization"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.ir);
    const std::string got = FromIrText(GraphOf(row.inputs, row.ir), row.opset);
    EXPECT_NE(got.find(row.has), std::string::npos) << got;
    EXPECT_EQ(got.find(row.has_not), std::string::npos) << got;
  }
}

// At opset 18 scale and bias have one number a group; how many channels share it may be known
// only when the model runs.
TEST(NnHandlers, GroupNormalization18OfUnknownChannels) {
  const std::string body =
      Body(ToIrText("graph g(x: float32[n,c,3], s: float32[2]) -> (y) "
                    "{ y = onnx.GroupNormalization(x, s, s) { num_groups = 2 } }",
                    18));
  EXPECT_NE(body.find("y = group_normalization(x, "), body.npos) << body;
  EXPECT_NE(body.find("= shape(x)"), body.npos) << body;
}

}  // namespace
}  // namespace x2ir
