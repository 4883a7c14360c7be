// Small graphs that random ones were reduced to, each with what was wrong: written, read back and
// run as random graphs are (random_paths_util.h).
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "tests/ops/text_graph_util.h"
#include "tests/random/random_paths_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/verify.h"

namespace x2ir {
namespace {

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
    // SCATTER_ND and elements of it became each other.
    {"x: float64[3,3], u: float64[1,3]", "y",
     "i = int64[1,3]{1, 2, 0}\n y = scatter_elements(x, i, u)", "tflite", ".tflite", 0, true, true},
    {"x: float16[3], u: float16[2]", "y",
     "i = int64[2]{1, 2}\n y = scatter_elements(x, i, u) { reduction = \"mul\" }", "tflite",
     ".tflite"},
    // So did channels first and last, of what neither can say.
    {"x: float32[2,n,3,3,4]", "y", "y = max_pool(x) { kernel_shape = [1, 3, 3] }", "tflite",
     ".tflite", 0, false, true},
    {"x: float32[1,3,4,4,4]", "y",
     "y = average_pool(x) { kernel_shape = [2, 2, 1], strides = [2, 1, 2], dilations = [2, 2, 1] }",
     "tflite", ".tflite"},
    // Integers that stand for floats are integers in what follows.
    {"x: float32[2,3]", "y",
     "s = float32[]{0.1}\n z = uint8[]{2}\n q = quantize_linear(x, s, z)\n y = sub(q, q)", "tflite",
     ".tflite"},
    {"x: float32[2,3], v: float32[2,3]", "y",
     "s = float32[]{0.1}\n t = float32[]{0.2}\n z = uint8[]{2}\n p = quantize_linear(x, s, z)\n"
     "q = quantize_linear(v, t, z)\n y = equal(p, q)",
     "tflite", ".tflite"},
    {"x: float32[2,3]", "y",
     "s = float32[]{0.1}\n z = int8[]{2}\n q = quantize_linear(x, s, z)\n k = int64[1]{1}\n"
     "y, i = top_k(q, k)",
     "tflite", ".tflite"},
    // The product of a transposed tensor with itself.
    {"x: float32[1,5,5,4]", "y", "t = transpose(x) { perm = [0, 3, 1, 2] }\n y = matmul(t, t)",
     "tflite", ".tflite"},
    // A bound of rank 1 gives the result no axis.
    {"x: int64[], a: int64[1]", "y", "y = clip(x, a)", "tflite", ".tflite"},
    // DEQUANTIZE of int16 knows no zero points.
    {"x: int16[4]", "y", "s = float32[]{0.5}\n z = int16[]{9}\n y = dequantize_linear(x, s, z)",
     "tflite", ".tflite"},
    {"x: int64[3]", "y", "d = int64[]{2}\n v = int16[2]{0, 2}\n y = one_hot(x, d, v) { axis = 0 }",
     "tflite", ".tflite"},
    // Results of an IF whose condition is constant, and shapes, are not copied out.
    {"x: float32[2], v: float32[1]", "y",
     "c = bool[]{false}\n y = if(c) {\n then_branch = graph a() -> (r) { r = neg(x) },\n"
     "else_branch = graph b() -> (t) { t = relu(v) } }",
     "tflite", ".tflite", 0, false},
    {"x: float32[2,3]", "y", "y = shape(x)", "tflite", ".tflite", 0, false},
    {"x: float32[2,3]", "y", "y = size(x)", "tflite", ".tflite", 0, false},
    {"x: bool[]", "y", "e = int64[0]{}\n y = expand(x, e)", "tflite", ".tflite", 0, false},
    {"x: float32[1], v: float32[2]", "y",
     "p = int64[2]{1, 0}\n z = pad(x, p) { mode = \"reflect\" }\n y = sub(z, v)", "tflite",
     ".tflite", 0, true, true},
    {"x: bool[1,4]", "y", "y, a, b = split(x) { axis = 0, num_outputs = 3 }", "tflite", ".tflite"},
    // What it could not read again: a state whose size a round changes, channels that are not
    // known.
    {"x: float32[m], v: float32[3,5]", "y, z",
     "y, z = scan(x, v) {\n body = graph b(h: float32[?], e: float32[3]) -> (k, l) {\n"
     "k = concat(h, e) { axis = 0 }\n l = relu(e) },\n num_scan_inputs = 1, scan_input_axes = "
     "[1],\n"
     "scan_input_directions = [0], scan_output_axes = [0], scan_output_directions = [0] }",
     "tflite", ".tflite"},
    {"v: float32[m], x: float32[1,m,4,4,4]", "y",
     "w = float32[1,2,1,1,2]{1, 2, 3, 4}\n y = conv(x, w)", "tflite", ".tflite"},
    {"x: float32[1,2,n,m]", "y",
     "s = float32[4]{1, 1, 2, 3}\n y = resize(x, _, s) { mode = \"nearest\", nearest_mode = "
     "\"floor\",\ncoordinate_transformation_mode = \"asymmetric\" }",
     "tflite", ".tflite"},
    {"x: float32[1,2,n,m]", "y",
     "s = int64[4]{1, 2, 5, 4}\n y = resize(x, _, _, s) { mode = \"nearest\", nearest_mode = "
     "\"round_prefer_ceil\",\ncoordinate_transformation_mode = \"half_pixel\" }",
     "tflite", ".tflite", 0, true, true},
    {"x: float32[], s: int64[?]", "y", "y = expand(x, s)", "tflite", ".tflite", 0, false, true},
    // 0 / 0.
    {"x: float32[2,3]", "y", "y = celu(x) { alpha = 0.0 }", "tflite", ".tflite"},
    {"x: float32[2,3]", "y", "y = celu(x) { alpha = 0.0 }", "coreml", ".mlpackage"},
    // Unsigned integers have no -1, and small ones no ones to be filled with.
    {"x: uint8[2,3]", "y", "y = neg(x)", "coreml", ".mlpackage"},
    {"x: uint8[1,n]", "y", "s = int64[2]{2, 1}\n y = expand(x, s)", "coreml", ".mlpackage"},
    {"x: string[1,n]", "y", "s = int64[2]{2, 1}\n y = expand(x, s)", "coreml", ".mlpackage", 0,
     true, true},
    // Names that end in numbers are in no order.
    {"in_0: float32[4], in_1: float32[2,3]", "neg_2, in_0", "neg_2 = neg(in_1)", "oneflow_job",
     ".job"},
    // A weight whose name is of separators alone.
    {"x: float32[1,2,4]", "y", "\"/\" = float32[2,2,1]{1, 2, 3, 4}\n y = conv(x, \"/\")", "python",
     ".py"},
    // A scalar has no axes, at every opset.
    {"x: float32[]", "y", "n = int64[0]{}\n z = slice(x, n, n)\n y = neg(z)", "onnx", ".onnx", 7,
     false},
    {"x: float32[]", "y", "n = int64[0]{}\n z = pad(x, n)\n y = neg(z)", "onnx", ".onnx", 9, false},
    {"x: int32[1]", "y", "n = int64[0]{}\n z = squeeze(x, n)\n y = neg(z)", "onnx", ".onnx", 10,
     false},
    {"x: int32[]", "y", "n = int64[0]{}\n z = center_crop_pad(x, n)\n y = neg(z)", "onnx", ".onnx",
     18, false},
    {"x: bool[]", "y", "y = non_zero(x)", "onnx", ".onnx", 18, false},
    // One number, as a scalar or as a list.
    {"x: float32[3], s: int64[]", "y",
     "n = shape(x)\n m = reduce_max(n) { keepdims = 0 }\n y = reshape(x, m)", "onnx", ".onnx", 18,
     false},
    {"x: float32[1]", "y", "s = int64[]{4}\n y = expand(x, s)", "onnx", ".onnx", 21, false},
    {"x: uint8[4]", "y", "s = int64[]{2}\n y = tile(x, s)", "onnx", ".onnx", 22, false},
    {"x: float32[4,5]", "y", "a = int64[]{1}\n y = reduce_log_sum_exp(x, a)", "onnx", ".onnx", 22,
     false},
    {"x: int16[5]", "y",
     "b = int64[1]{2}\n e = int64[1]{4}\n s = int64[]{1}\n y = slice(x, b, e, _, s)", "onnx",
     ".onnx", 17, false},
    {"x: float32[4]", "y", "n = shape(x)\n b = int64[]{0}\n d = int64[]{2}\n y = range(b, n, d)",
     "onnx", ".onnx", 18, false},
    // Backwards the largest integer is the end all the same.
    {"x: int64[4]", "y",
     "b = int64[1]{-2}\n e = int64[1]{9223372036854775807}\n a = int64[1]{0}\n s = int64[1]{-1}\n "
     "y = slice(x, b, e, a, s)",
     "onnx", ".onnx", 17, false},
    // ONNX's function bodies are of some types only.
    {"x: uint64[4,3]", "y", "y = reduce_log_sum(x)", "onnx", ".onnx", 21, true, true},
    {"q: float64[2,2,1,1], k: float64[2,2,3,1]", "y", "y = attention(q, k, k) { is_causal = 1 }",
     "onnx", ".onnx", 23, false},
    // Nothing is left to round up, and exponentials are not rounded.
    {"x: float32[1,2,5,6]", "y",
     "y = lp_pool(x) { kernel_shape = [1, 3], auto_pad = \"VALID\", ceil_mode = 1,\nstrides = [2, "
     "2] }",
     "onnx", ".onnx", 22},
    {"x: int32[3,4]", "y", "a = int64[1]{1}\n y = reduce_log_sum_exp(x, a)", "onnx", ".onnx", 18},
    // Parts without elements, and reflections to and fro.
    {"x: float32[4,2]", "a, b, c", "a, b, c = split(x) { axis = 0, num_outputs = 3 }", "onnx",
     ".onnx", 23, false},
    {"x: float32[1,2,2]", "y",
     "p = int64[6]{0, 0, 2, 0, 0, 3}\n y = pad(x, p) { mode = \"reflect\" }", "onnx", ".onnx", 19},
    {"x: float32[1,2,2]", "y",
     "p = int64[6]{0, 0, 2, 0, 0, 3}\n y = pad(x, p) { mode = \"reflect\" }", "python", ".py"},
    {"x: int32[3]", "y", "y = einsum(x) { equation = \"...i->...\" }", "python", ".py"},
    {"x: float32[2,3]", "y", "y = celu(x) { alpha = 0.0 }", "torch", ".pt2", 0, true, true},
    {"x: float64[1,2,5,m]", "y",
     "s = int64[4]{1, 2, 9, 4}\n y = resize(x, _, _, s) { mode = \"linear\" }", "torch", ".pt2"},
    {"x: float32[1,2,4], g: float32[1,3,1]", "y", "y = grid_sample(x, g)", "onnx", ".onnx", 20},
    {"x: float32[1,3,1]", "y",
     "p = int64[6]{0, 1, -1, -1, 2, 1}\n y = pad(x, p) { mode = \"reflect\" }", "onnx", ".onnx",
     19},
    {"x: float32[1,1,1,2]", "y",
     "p = int64[8]{0, 0, 2, 0, 0, 0, 2, -1}\n y = pad(x, p) { mode = \"wrap\" }", "onnx", ".onnx",
     19},
    {"x: float32[1,3,2]", "y",
     "p = int64[6]{0, 1, -1, 0, 0, 0}\n y = pad(x, p) { mode = \"edge\" }", "onnx", ".onnx", 19},
    {"x: float32[1,1]", "y", "l = float32[]{0.75}\n d = float32[1,1]{1}\n y = range(x, l, d)",
     "onnx", ".onnx", 18, false},
    {"x: float32[2,1,2]", "y",
     "p = int64[6]{0, 0, 0, -1, -1, -1}\n y = pad(x, p) { mode = \"wrap\" }", "onnx", ".onnx", 20},
    // VALID does not round up.
    {"x: float32[2,2,7,6]", "y",
     "y = average_pool(x) { layout = \"channels_first\", kernel_shape = [3, 2], strides = [3, 2], "
     "auto_pad = \"VALID\", ceil_mode = 1 }",
     "oneflow_graph", ".mlir"},
    // Roots of squares of one element.
    {"x: uint64[4]", "y", "y = reduce_l2(x) { noop_with_empty_axes = 1 }", "onnxtxt", ".onnxtxt"},
    // PyTorch's are floats.
    {"x: int8[2,3]", "y", "y = erf(x)", "python", ".py"},
    {"x: uint8[2,3]", "y", "a = int64[1]{1}\n y = reduce_log_sum_exp(x, a)", "python", ".py"},
    {"x: int8[2,3]", "y", "y = erf(x)", "torch", ".pt2"},
    // Circular pads are of whole images, once.
    {"x: int16[1,3]", "y", "p = int64[4]{0, 2, 0, 1}\n y = pad(x, p) { mode = \"wrap\" }", "python",
     ".py"},
    {"x: float32[1,4,2]", "y", "p = int64[6]{0, 0, 0, 0, 2, 0}\n y = pad(x, p) { mode = \"wrap\" }",
     "python", ".py", 0, false},
    {"x: float32[1,2,3]", "y", "p = int64[6]{0, 0, 5, 0, 0, 4}\n y = pad(x, p) { mode = \"wrap\" }",
     "python", ".py"},
    {"x: float32[1,2,4]", "y",
     "p = int64[6]{0, 0, -2, 0, 0, 2}\n y = pad(x, p) { mode = \"wrap\" }", "python", ".py"},
    {"x: float32[1,2,4]", "y", "p = int64[6]{0, 0, 3, 0, 0, 1}\n y = pad(x, p) { mode = \"wrap\" }",
     "python", ".py"},
    // Nothing is left along an axis, another one grows.
    {"x: float64[1,2,4]", "y, x",
     "p = int64[6]{0, -1, 1, 0, -1, 2}\n y = pad(x, p) { mode = \"constant\" }", "python", ".py"},
    // One part is a tensor, not a list of one.
    {"x: float32[2,3]", "y, z", "y = split(x) { axis = 1 }\n z = neg(x)", "python", ".py", 0,
     false},
    {"x: float32[2,3,1]", "y",
     "s = float32[3]{3, 2, 2}\n b = float32[3]{1, 2, 3}\n y = instance_normalization(x, s, b)",
     "python", ".py"},
    // What NNVM has no type, no axis or no number for.
    {"x: float32[2,2]", "y", "y = cast(x) { to = \"string\" }", "nnvm", ".nnvm.json", 0, true,
     true},
    {"x: int16[4]", "y", "y = flatten(x) { axis = 0 }", "nnvm", ".nnvm.json"},
    {"x: float32[0,3]", "y", "y = flatten(x) { axis = 0 }", "nnvm", ".nnvm.json", 0, true, true},
    {"x: int32[3], e: float32[3]", "y", "y = pow(x, e)", "nnvm", ".nnvm.json"},
    {"x: int8[]", "y", "y = reduce_sum(x) { keepdims = 1 }", "nnvm", ".nnvm.json", 0, false, true},
    {"x: uint64[3]", "y", "y = bitwise_not(x)", "nnvm", ".nnvm.json"},
    {"x: uint64[3]", "y", "h = uint64[]{18446744073709551614}\n y = clip(x, _, h)", "nnvm",
     ".nnvm.json", 0, false, true},
    // Bools are not clipped, and their product is none of numbers.
    {"x: bool[3,1]", "y", "h = bool[]{false}\n y = clip(x, _, h)", "oneflow_graph", ".mlir", 0,
     true, true},
    {"x: bool[1,4]", "y", "a = int64[2]{-2, -1}\n y = reduce_prod(x, a) { keepdims = 0 }",
     "oneflow_job", ".job"},
    {"x: bool[1]", "y", "s = bool[]{true}\n y = prelu(x, s)", "torch", ".pt2", 0, true, true},
    {"x: bool[1,4]", "y", "a = int64[1]{0}\n y = reduce_sum_square(x, a)", "oneflow_graph", ".mlir",
     0, true, true},
    // PyTorch's steps do not go the other way.
    {"x: float32[1], l: float32[]", "y",
     "z = sub(l, l)\n s = abs(x)\n m = neg(s)\n y = range(z, m, s)", "python", ".py", 0, false},
    // Statistics of another type.
    {"x: float64[3]", "v", "y, m, v = layer_normalization(x, x, x)", "torch", ".pt2"},
    // A block that is computed.
    {"x: float32[1,5,15], b: int64[2]", "y",
     "z = shape(x) { start = 1 }\n i = int64[2]{5, 5}\n q = int64[2]{1, 5}\n y = col2im(x, i, q) { "
     "pads = [0, 1, 0, 1] }",
     "torch", ".pt2"},
    // What ONNX Runtime cannot load, and what it keeps: a cast to the same half, axes from the end.
    {"x: float16[3,4]", "y", "h = neg(x)\n y = cast(h) { to = \"float16\" }", "onnx", ".onnx", 20,
     false},
    {"x: float16[3,4], t: float16[]", "y", "h = neg(x)\n y = cast_like(h, t)", "onnx", ".onnx", 18,
     false},
    {"x: float32[3,0,2]", "y",
     "a = int64[2]{0, -2}\n y = reduce_sum(x, a) { noop_with_empty_axes = 1 }", "onnx", ".onnx",
     22},
    // Blocks without an axis.
    {"x: float32[1], s: float32[1]", "y", "y = quantize_linear(x, s) { block_size = 2 }", "onnx",
     ".onnx", 23, false},
    {"x: uint8[1], s: float32[1]", "y", "y = dequantize_linear(x, s) { block_size = 2 }", "onnx",
     ".onnx", 21, false},
    // Bounds of more axes, and sizes that are no vector.
    {"x: float32[4,1], l: float32[1,1,1,1]", "y", "y = clip(x, l)", "tflite", ".tflite"},
    {"x: uint64[]", "y", "y = expand(x, x)", "coreml", ".mlpackage", 0, true, true},
    // Which neighbor is the nearest.
    {"x: float32[1,1,3]", "y",
     "s = int64[3]{1, 1, 6}\n y = resize(x, _, _, s) { mode = \"nearest\", nearest_mode = "
     "\"floor\" "
     "}",
     "oneflow_graph", ".mlir"},
    {"x: float32[1,1,3]", "y",
     "s = int64[3]{1, 1, 6}\n y = resize(x, _, _, s) { mode = \"nearest\" }", "oneflow_graph",
     ".mlir"},
    {"x: float32[1,1,3]", "y",
     "s = int64[3]{1, 1, 5}\n y = resize(x, _, _, s) { mode = \"nearest\", nearest_mode = "
     "\"floor\", "
     "coordinate_transformation_mode = \"asymmetric\" }",
     "oneflow_job", ".job"},
    // PyTorch divides a number by a tensor in two roundings: 5 / 3 is above 1.6666666.
    {"x: float16[1,1,m]", "y",
     "s = int64[3]{1, 1, 5}\n y = resize(x, _, _, s) { mode = \"nearest\", nearest_mode = "
     "\"floor\", "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "python", ".py"},
    {"x: float32[2,4,0]", "y", "y = hardmax(x)", "torch", ".pt2", 0, true, true},
    // Branches compute with complex numbers, those of the graph around them among them.
    {"x: float32[2,3], i: float32[2,3]", "y",
     "c = bool[]{true}\n z = complex(x, i)\n y = if(c) {\n then_branch = graph t() -> (a: "
     "float32[2,3]) {\n w = mul(z, z)\n a: float32[2,3] = real(w)\n },\n else_branch = graph e() "
     "-> "
     "(b: float32[2,3]) {\n b: float32[2,3] = neg(x)\n }\n }",
     "ir", ".json", 0, false},
    {"x: float32[], h: float32[1,1,1]", "y", "l = float32[]{1}\n y = clip(x, l, h)",
     "oneflow_graph", ".mlir"},
    // Lengths that LiteRT has no kernel of, and places by factors that sizes do not give.
    {"x: uint8[1,1]", "y",
     "n = uint8[]{1}\n y = reverse_sequence(x, n) { batch_axis = 1, time_axis = 0 }", "tflite",
     ".tflite"},
    {"x: float64[2,2,5,7]", "y",
     "s = float32[4]{1, 1, 3, 0.5}\n y = resize(x, _, s) { mode = \"linear\", "
     "coordinate_transformation_mode = \"asymmetric\" }",
     "nnvm", ".nnvm.json", 0, true, true},
    // A constant by a scale, which is a result and is read as numbers, too.
    {"x: float32[2]", "q, d, y",
     "c = float32[2,1]{1, 3}\n s = float32[2]{0.5, 0.25}\n z = int8[2]{7, 9}\n q = "
     "quantize_linear(c, s, z) { axis = 0 }\n d = dequantize_linear(q, s, z) { axis = 0 }\n y = "
     "neg(x)",
     "tflite", ".tflite"},
    {"x: float32[2]", "q, d, y",
     "c = float32[2,1]{1, 3}\n s = float32[]{0.5}\n z = int8[]{7}\n q = quantize_linear(c, s, z)\n "
     "d = dequantize_linear(q, s, z)\n y = neg(x)",
     "tflite", ".tflite"},
    // pytorch_half_pixel is half_pixel, unless an axis of several elements becomes one.
    {"x: float32[1,2,3,4]", "y",
     "s = int64[2]{5, 2}\n y = resize(x, _, _, s) { mode = \"linear\", axes = [2, 3], "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "torch", ".pt2"},
    {"x: float32[1,2,3,4]", "y",
     "s = int64[2]{1, 6}\n y = resize(x, _, _, s) { mode = \"linear\", axes = [2, 3], "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "torch", ".pt2"},
    {"x: float32[1,2,3,4]", "y",
     "s = int64[2]{5, 2}\n y = resize(x, _, _, s) { mode = \"linear\", axes = [2, 3], "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "tflite", ".tflite"},
    {"x: float32[1,2,3,4]", "y",
     "s = int64[2]{1, 6}\n y = resize(x, _, _, s) { mode = \"linear\", axes = [2, 3], "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "tflite", ".tflite"},
    {"x: float32[1,2,3,4]", "y",
     "s = int64[2]{5, 2}\n y = resize(x, _, _, s) { mode = \"linear\", axes = [2, 3], "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "coreml", ".mlpackage"},
    {"x: float32[1,2,3,4]", "y",
     "s = int64[2]{1, 6}\n y = resize(x, _, _, s) { mode = \"linear\", axes = [2, 3], "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "coreml", ".mlpackage"},
    {"x: float32[1,2,3,4]", "y",
     "s = int64[2]{5, 2}\n y = resize(x, _, _, s) { mode = \"linear\", axes = [2, 3], "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "oneflow_graph", ".mlir"},
    {"x: float32[1,2,3,4]", "y",
     "s = int64[2]{1, 6}\n y = resize(x, _, _, s) { mode = \"linear\", axes = [2, 3], "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "oneflow_graph", ".mlir"},
    {"x: float32[1,2,1,4]", "y",
     "s = float32[4]{1, 1, 1, 2}\n y = resize(x, _, s) { mode = \"cubic\", "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "torch", ".pt2"},
    {"x: float32[1,2,3,3]", "y",
     "s = float32[4]{1, 1, 2, 2}\n y = resize(x, _, s) { mode = \"nearest\", "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "nnvm", ".nnvm.json"},
    {"x: float32[1,2,h,w]", "y",
     "s = float32[4]{1, 1, 2, 3}\n y = resize(x, _, s) { mode = \"linear\", "
     "coordinate_transformation_mode = \"pytorch_half_pixel\" }",
     "coreml", ".mlpackage", 0, true, true},
    // Logarithms of integers that no integer holds.
    {"x: uint64[2]", "y", "y = reduce_log_sum_exp(x)", "ir", ".json"},
    // Factors of axes in any order, and of one of them.
    {"x: float32[1,2,3,4]", "y",
     "s = float32[2]{2, 3}\n y = resize(x, _, s) { mode = \"linear\", axes = [3, 2] }", "coreml",
     ".mlpackage"},
    {"x: float32[1,2,4,5]", "y",
     "s = float32[1]{1.5}\n y = resize(x, _, s) { mode = \"linear\", axes = [2] }", "coreml",
     ".mlpackage"},
    {"x: float32[1,2,3,4]", "y",
     "s = float32[4]{2, 3, 1, 1}\n y = resize(x, _, s) { mode = \"nearest\", nearest_mode = "
     "\"floor\", coordinate_transformation_mode = \"asymmetric\", axes = [-1, 2, 0, 1] }",
     "coreml", ".mlpackage"},
    {"x: float32[1,2,h,w]", "y",
     "s = float32[2]{2, 3}\n y = resize(x, _, s) { mode = \"nearest\", nearest_mode = \"floor\", "
     "coordinate_transformation_mode = \"asymmetric\", axes = [-1, 2] }",
     "coreml", ".mlpackage"},
    {"x: float32[2,4,4,4]", "y",
     "s = float32[2]{2, 3}\n y = resize(x, _, s) { mode = \"linear\", axes = [1, 3] }", "coreml",
     ".mlpackage", 0, true, true},
    // Factors that nobody knows are not those of the sizes, which are rounded.
    {"x: float32[1,1,3]", "y: float32[1,1,7]",
     "c = float32[3]{1, 1, 2.5}\n s = abs(c)\n y = resize(x, _, s) { mode = \"linear\" }",
     "oneflow_graph", ".mlir", 0, false, true},
    {"x: float32[1,1,3,3]", "y: float32[1,1,7,7]",
     "c = float32[4]{1, 1, 2.5, 2.5}\n s = abs(c)\n y = resize(x, _, s) { mode = \"linear\", "
     "coordinate_transformation_mode = \"asymmetric\" }",
     "nnvm", ".nnvm.json", 0, false, true},
    // Nor are those of an axis that is counted from the end, or of channels, which are mixed.
    {"x: float32[1,1,3]", "y",
     "s = float32[1]{2.5}\n y = resize(x, _, s) { mode = \"linear\", axes = [-1] }",
     "oneflow_graph", ".mlir", 0, true, true},
    // All axes in reverse, and no elements of a size that is not known.
    {"x: float32[2,3]", "y", "y = transpose(x)", "stablehlo", ".mlir"},
    {"x: float32[n,3]", "y",
     "s = int64[2]{0, 0}\n e = int64[2]{9, 9}\n t = int64[2]{-2, -1}\n y = slice(x, s, e, _, t)",
     "stablehlo", ".mlir"},
    // What TensorFlow.js does otherwise than TensorFlow.
    {"x: int64[1,4,1,3]", "y", "y = depth_to_space(x) { blocksize = 2 }", "tfjs", ".tfjs.json"},
    {"x: int64[2,3]", "y", "d = int64[]{1}\n v = float32[2]{2, 5}\n y = one_hot(x, d, v)", "tfjs",
     ".tfjs.json"},
    {"x: int64[2,3]", "y",
     "d = int64[1]{1}\n v = float32[2]{2, 5}\n y = one_hot(x, d, v) { axis = 0 }", "tfjs",
     ".tfjs.json"},
    {"x: float32[3,3]", "y", "y = einsum(x) { equation = \"ii->i\" }", "tfjs", ".tfjs.json"},
    {"x: int64[2,3,3]", "y", "n = int64[1]{2}\n y = reduce_mean(x, n)", "tfjs", ".tfjs.json"},
    {"x: float32[1,n,3,3]", "y",
     "s = int64[4]{-2, 0, -1, -1}\n e = int64[4]{3, 4, 4, 0}\n a = int64[4]{-4, -3, 2, 3}\n"
     "z = slice(x, s, e, a)\n y = neg(z)",
     "tfjs", ".tfjs.json"},
    {"x: float32[]", "y", "n = int64[0]{}\n z = pad(x, n)\n y = neg(z)", "tfjs", ".tfjs.json", 0,
     false},
    {"x: float32[1,2,4,4,4], w: float32[3,2,2,2,1]", "y",
     "y = conv(x, w) { auto_pad = \"SAME_UPPER\", strides = [1, 2, 2] }", "tfjs", ".tfjs.json"},
    {"x: float32[1,2,4,4,4]", "y",
     "y = max_pool(x) { kernel_shape = [1, 1, 2], auto_pad = \"SAME_UPPER\", strides = [1, 3, 3] }",
     "tfjs", ".tfjs.json"},
    {"x: float32[1,2,4,4,4]", "y",
     "y = average_pool(x) { kernel_shape = [1, 1, 1], auto_pad = \"SAME_LOWER\",\n"
     "strides = [2, 2, 2] }",
     "tfjs", ".tfjs.json"},
    {"s: float32[1,1,3]", "y",
     "b = float32[1,3,4]{0, 0, 1, 1, 0, 2, 1, 3, 0, 4, 1, 5}\n k = int64[]{3}\n"
     "y = non_max_suppression(b, s, k)",
     "tfjs", ".tfjs.json"},
    {"s: float32[1,1,3], t: float32[1]", "y",
     "b = float32[1,3,4]{0, 0, 1, 1, 0, 2, 1, 3, 0, 4, 1, 5}\n k = int64[]{3}\n"
     "z = float32[]{0}\n o = mul(t, z)\n y = non_max_suppression(b, s, k, o)",
     "tfjs", ".tfjs.json", 0, false},
    // A bound of more axes than the result.
    {"x: float32[1], h: float32[1,1]", "y", "y = clip(x, _, h)", "tensorflow", ".pb"},
    {"x: int32[], l: int32[1]", "y", "y = clip(x, l)", "tensorflow", ".pb"},
    // Bounds of the sums that gates take, not of the cell.
    {"x: float32[3,1,2], w: float32[1,8,2], r: float32[1,8,2], c: float32[1,1,2]", "y, h",
     "z = float32[]{3}\n d = mul(c, z)\n y, h = lstm(x, w, r, _, _, _, d) { hidden_size = 2, clip "
     "= "
     "0.5, activations = [\"Sigmoid\", \"Tanh\", \"Tanh\"] }",
     "onnx", ".onnx", 17},
    // PyTorch's layer refuses one element a group, also where the size of channels is not stated.
    {"x: float32[1,m]", "y",
     "s = float32[2]{2, 3}\n y = group_normalization(x, s, s) { num_groups = 2 }", "python", ".py",
     0, false},
    // PyTorch has grids of two and three axes.
    {"x: float32[1,4,2], g: float32[1,4,1]", "y", "y = grid_sample(x, g)", "python", ".py", 0, true,
     true},
    // LiteRT takes an end of 0 for that of the axis.
    {"x: float32[1,4,3,2]", "y",
     "s = int64[1]{3}\n e = int64[1]{0}\n a = int64[1]{1}\n z = slice(x, s, e, a)\n"
     "y = reduce_sum(z)",
     "tflite", ".tflite", 0, false},
    // SCATTER_ND adds up what comes to one place.
    {"x: float32[4]", "y",
     "i = int64[3,1]{1, 1, 2}\n u = float32[3]{5, 5, 5}\n y = scatter_nd(x, i, u)", "tflite",
     ".tflite"},
    {"u: float32[1]", "y",
     "x = float32[4]{0, 0, 0, 0}\n i = int64[3,1]{1, 1, 2}\n n = int64[1]{3}\n"
     "v = expand(u, n)\n y = scatter_nd(x, i, v)",
     "tflite", ".tflite"},
    {"x: float32[1,2,3]", "y",
     "s = float32[3]{1, 1.25, 2}\n y = resize(x, _, s) { mode = \"linear\" }", "oneflow_job",
     ".job", 0, true, true},
    // Sizes of which files do not tell that they are equal.
    {"a: float32[2,2], x: float32[2,m]", "y", "y = solve(a, x)", "keras", ".keras"},
};

TEST(RandomGraphsFound, AreRight) {
  const auto judges = StartJudges();
  const TempDir dir;
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
    const RandomVerdict verdict = TryPath(made, path, dir.path(), judges.get());
    EXPECT_TRUE(verdict.result == RandomResult::kRight ||
                (found.refused && verdict.result == RandomResult::kRefused))
        << verdict.stage << ": " << verdict.text;
  }
}

}  // namespace
}  // namespace x2ir
