// See random_units_util.h.
#include "tests/random/random_units_util.h"

namespace x2ir {
namespace {

constexpr RandomUnit kUnits[] = {
    // Convolutions, and what stands around them.
    {"x: float32[1,4,5,5], w: float32[4,4,3,3]", "a = conv(x, w) { pads = [1, 1, 1, 1] }"},
    {"x: float32[1,4,5,5], w: float32[4,2,1,1], w1: float32[4]",
     "a = conv(x, w, w1) { group = 2 }"},
    {"x: float32[1,4,5,5], w: float32[4,1,2,2], w1: float32[4]",
     "a = conv(x, w, w1) { group = 4, strides = [2, 2], auto_pad = \"SAME_UPPER\" }"},
    {"x: float32[1,4,5], w: float32[3,4,2]", "a = conv(x, w) { dilations = [2] }"},
    {"x: float32[1,5,5,4], w: float32[4,4,3,3]",
     "t = transpose(x) { perm = [0, 3, 1, 2] }\n c = conv(t, w) { pads = [1, 1, 1, 1] }\n"
     "r = relu(c)\n a = transpose(r) { perm = [0, 2, 3, 1] }"},
    {"x: float32[1,5,5,4], w: float32[4,4,1,1]", "a = conv(x, w) { layout = \"channels_last\" }"},
    {"x: float32[1,4,5,5], w: float32[4,2,2,2]",
     "a = conv_transpose(x, w) { group = 2, strides = [2, 2] }"},
    {"x: float32[1,4,5,5], w: float32[4,4,1,1], w1: float32[4], w2: float32[4], w3: float32[4]",
     "v = float32[4]{1, 0.5, 2, 4}\n c = conv(x, w)\n"
     "a = batch_normalization(c, w1, w2, w3, v)"},
    {"x: float32[1,4,5,5], w: float32[4,4,1,1], w1: float32[4,1,1]",
     "c = conv(x, w)\n m = mul(c, w1)\n a = add(m, w1)"},
    {"x: float32[1,4,5,5], w: float32[4,4,3,3]",
     "p = int64[8]{0, 0, 1, 1, 0, 0, 1, 1}\n c = pad(x, p)\n a = conv(c, w)"},
    {"x: float32[1,4,5,5], w: float32[4,4,2,2], w1: float32[1,8,4,4]", "a = deform_conv(x, w, w1)"},
    {"x: float32[1,4,5,5]", "a = max_pool(x) { kernel_shape = [2, 2], strides = [2, 2] }"},
    {"x: float32[1,4,5,5]", "a, i = max_pool(x) { kernel_shape = [2, 3], ceil_mode = 1 }"},
    {"x: float32[1,4,5,5]", "a = max_pool(x) { kernel_shape = [1, 1] }"},
    {"x: float32[1,4,5,5]",
     "a = average_pool(x) { kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1 }"},
    {"x: float32[1,5,5,4]",
     "a = average_pool(x) { kernel_shape = [2, 2], layout = \"channels_last\" }"},
    {"x: float32[1,4,5,5]", "a = lp_pool(x) { kernel_shape = [2, 2] }"},
    {"x: float32[1,4,5,5]", "a = global_average_pool(x)"},
    {"x: float32[1,4,5,5]", "a = global_max_pool(x)\n f = flatten(a)"},
    {"x: float32[1,4,5,5]", "a = global_lp_pool(x)"},
    {"x: float32[1,4,4,4]",
     "p, i = max_pool(x) { kernel_shape = [2, 2], strides = [2, 2] }\n"
     "a = max_unpool(p, i) { kernel_shape = [2, 2], strides = [2, 2] }"},
    {"x: float32[1,4,5,5]", "s = float32[4]{1, 1, 2, 2}\n a = resize(x, _, s)"},
    {"x: float32[1,4,5,5]",
     "s = int64[2]{3, 5}\n a = resize(x, _, _, s) { axes = [2, 3], mode = \"linear\" }"},
    {"x: float32[1,4,5,5]",
     "s = float32[4]{1, 1, 1, 1}\n a = resize(x, _, s) { mode = \"cubic\" }"},
    {"x: float32[1,4,2,2]", "a = depth_to_space(x) { blocksize = 2 }"},
    {"x: float32[1,4,4,4]", "a = space_to_depth(x) { blocksize = 2, layout = \"channels_last\" }"},
    {"x: float32[1,4,4,4]",
     "s = int64[5]{1, 2, 2, 4, 4}\n r = reshape(x, s)\n t = transpose(r) { perm = [0, 2, 1, 3, 4] "
     "}\n"
     "u = int64[4]{1, -1, 4, 4}\n a = reshape(t, u)"},
    {"x: float32[1,4,5,5]",
     "r = float32[1,5]{0, 0, 0, 3, 3}\n"
     "a = max_roi_pool(x, r) { pooled_shape = [2, 2] }"},
    {"x: float32[1,4,5,5]",
     "r = float32[1,4]{0, 0, 3, 3}\n i = int64[1]{0}\n"
     "a = roi_align(x, r, i) { output_height = 2, output_width = 2 }"},
    {"x: float32[1,4,5,5], w: float32[1,3,3,2]", "a = grid_sample(x, w)"},
    {"x: float32[1,2,3]", "s = int64[4]{1, 2, 3, 3}\n a = affine_grid(x, s)"},
    {"x: float32[1,4,4]", "i = int64[2]{3, 3}\n b = int64[2]{2, 2}\n a = col2im(x, i, b)"},
    {"x: float32[1,4,5,5]", "s = int64[2]{3, 7}\n a = center_crop_pad(x, s) { axes = [2, 3] }"},
    // Normalizations.
    {"x: float32[2,3,4], w: float32[4], w1: float32[4]", "a, m, d = layer_normalization(x, w, w1)"},
    {"x: float32[2,3,4], w: float32[4]", "a = rms_normalization(x, w)"},
    {"x: float32[2,3,4], w: float32[3], w1: float32[3]", "a = instance_normalization(x, w, w1)"},
    {"x: float32[2,4,3], w: float32[4], w1: float32[4]",
     "a = group_normalization(x, w, w1) { num_groups = 2 }"},
    {"x: float32[2,3,4], w: float32[4], w1: float32[4]",
     "o = int64[1]{-1}\n e = float32[]{0.001}\n p = float32[]{2}\n m = reduce_mean(x, o)\n"
     "c = sub(x, m)\n q = pow(c, p)\n v = reduce_mean(q, o)\n s = add(v, e)\n r = sqrt(s)\n"
     "d = div(c, r)\n f = mul(d, w)\n a = add(f, w1)"},
    {"x: float32[1,4,5,5]", "a = lrn(x) { size = 3 }"},
    {"x: float32[2,3,4]", "a = lp_normalization(x) { axis = 1 }"},
    {"x: float32[2,3,4]", "a = mean_variance_normalization(x) { axes = [0, 2] }"},
    // Activations that were spelled out.
    {"x: float32[2,3,4]",
     "r = float32[]{1.4142135}\n o = float32[]{1}\n h = float32[]{0.5}\n d = div(x, r)\n"
     "e = erf(d)\n s = add(e, o)\n p = mul(x, s)\n a = mul(p, h)"},
    {"x: float32[2,3,4]",
     "o = float32[]{3}\n l = float32[]{0}\n h = float32[]{6}\n s = add(x, o)\n c = clip(s, l, h)\n"
     "p = mul(x, c)\n a = div(p, h)"},
    {"x: float32[2,3,4]", "s = sigmoid(x)\n a = mul(x, s)"},
    {"x: float32[2,3,4]", "h = float32[]{6}\n r = relu(x)\n a = clip(r, _, h)"},
    // Matrices.
    {"x: float32[3,4], w: float32[4,2], w1: float32[2]", "m = matmul(x, w)\n a = add(m, w1)"},
    {"x: float32[3,4], w: float32[2,4], w1: float32[2]",
     "a = gemm(x, w, w1) { transB = 1, alpha = 0.5 }"},
    {"x: float32[2,3,4], x1: float32[2,3,4]",
     "t = transpose(x1) { perm = [0, 2, 1] }\n m = matmul(x, t)\n s = softmax(m) { axis = -1 }\n"
     "a = matmul(s, x)"},
    {"x: float32[2,3,4], x1: float32[2,3,4]", "a = einsum(x, x1) { equation = \"bij,bkj->bik\" }"},
    {"x: float32[1,2,3,4]", "a = attention(x, x, x)"},
    {"x: float32[2,3,4], w: float32[4,4], w1: float32[4,4], w2: float32[4,4], w3: float32[4]",
     "l = matmul(x, w)\n q = add(l, w3)\n m = matmul(x, w1)\n k = add(m, w3)\n o = matmul(x, w2)\n"
     "v = add(o, w3)\n h = int64[4]{0, 0, 2, 2}\n d = float32[]{2}\n"
     "qr = reshape(q, h)\n qt = transpose(qr) { perm = [0, 2, 1, 3] }\n"
     "kr = reshape(k, h)\n kt = transpose(kr) { perm = [0, 2, 3, 1] }\n"
     "vr = reshape(v, h)\n vt = transpose(vr) { perm = [0, 2, 1, 3] }\n"
     "p = matmul(qt, kt)\n s = div(p, d)\n f = softmax(s) { axis = -1 }\n y = matmul(f, vt)\n"
     "t = transpose(y) { perm = [0, 2, 1, 3] }\n e = int64[3]{0, 0, 4}\n a = reshape(t, e)"},
    {"x: float32[2,3,4], w: float32[4,5], w1: float32[5], w2: float32[5,4], w3: float32[4]",
     "l = matmul(x, w)\n m = add(l, w1)\n r = relu(m)\n n = matmul(r, w2)\n a = add(n, w3)"},
    {"x: float32[3,4], x1: float32[5,4], x2: float32[5]",
     "t = transpose(x1) { perm = [1, 0] }\n m = matmul(x, t)\n a = add(m, x2)"},
    {"x: float32[2,2], x1: float32[2,3]",
     "e = float32[2,2]{7, 0, 0, 9}\n s = add(x, e)\n a = solve(s, x1)"},
    {"x: float32[2,2]",
     "t = transpose(x) { perm = [1, 0] }\n m = matmul(x, t)\n e = float32[2,2]{1, 0, 0, 1}\n"
     "s = add(m, e)\n a = cholesky(s)"},
    {"x: float32[3,3], x1: float32[3,2]", "a = triangular_solve(x, x1) { unit = 1 }"},
    {"x: float32[3,3]", "a = det(x)"},
    {"x: uint8[3,4], w: uint8[4,2]", "a = matmul_integer(x, w)"},
    {"x: uint8[1,4,5,5], w: uint8[2,4,2,2]", "a = conv_integer(x, w)"},
    // Quantized units.
    {"x: float32[1,4,5,5]",
     "s = float32[]{0.25}\n z = int8[]{3}\n q = quantize_linear(x, s, z)\n"
     "a = dequantize_linear(q, s, z)"},
    {"x: float32[2,3,4]",
     "s = float32[]{0.25}\n z = int8[]{3}\n q = quantize_linear(x, s, z)\n"
     "d = dequantize_linear(q, s, z)\n t = transpose(d) { perm = [0, 2, 1] }\n"
     "p = quantize_linear(t, s, z)\n a = dequantize_linear(p, s, z)"},
    {"x: float32[2,3,4]",
     "s = float32[3]{0.25, 1, 2}\n z = uint8[3]{3, 0, 200}\n"
     "q = quantize_linear(x, s, z) { axis = 1 }\n d = dequantize_linear(q, s, z) { axis = 1 }\n"
     "t = transpose(d) { perm = [1, 2, 0] }\n n = int64[2]{3, 8}\n a = reshape(t, n)"},
    {"x: float32[1,4,5,5], w: int8[4,4,1,1]",
     "s = float32[4]{0.25, 1, 2, 0.5}\n d = dequantize_linear(w, s) { axis = 0 }\n a = conv(x, d)"},
    {"x: float32[2,3,4]", "a, s, z = dynamic_quantize_linear(x)\n d = dequantize_linear(a, s, z)"},
    {"x: uint8[3,4], w: uint8[4,2]",
     "s = float32[]{0.5}\n z = uint8[]{3}\n a = qlinear_matmul(x, s, z, w, s, z, s, z)"},
    {"x: uint8[1,4,5,5], w: uint8[2,4,2,2]",
     "s = float32[]{0.5}\n z = uint8[]{3}\n a = qlinear_conv(x, s, z, w, s, z, s, z)"},
    // Recurrent networks.
    {"x: float32[3,2,4], w: float32[1,12,4], w1: float32[1,12,3]",
     "a, h, c = lstm(x, w, w1) { hidden_size = 3,\nactivations = [\"Sigmoid\", \"Tanh\", \"Tanh\"] "
     "}"},
    {"x: float32[3,2,4], w: float32[1,9,4], w1: float32[1,9,3]",
     "a, h = gru(x, w, w1) { hidden_size = 3,\nactivations = [\"Sigmoid\", \"Tanh\"] }"},
    {"x: float32[3,2,4], w: float32[2,3,4], w1: float32[2,3,3]",
     "a = rnn(x, w, w1) { hidden_size = 3, direction = \"bidirectional\",\n"
     "activations = [\"Tanh\", \"Tanh\"] }"},
    // Indices.
    {"x: float32[2,3,4]", "i = int64[2,2]{0, 1, 1, 2}\n a = gather_nd(x, i)"},
    {"x: float32[3,4]",
     "i = int64[3,2]{0, 1, 1, 3, -1, 0}\n a = gather_elements(x, i) { axis = 1 }"},
    {"x: float32[3,4], w: float32[2,4]", "i = int64[2,1]{0, 2}\n a = scatter_nd(x, i, w)"},
    {"x: float32[3,4], w: float32[1,4]",
     "i = int64[1,4]{0, 2, 1, 0}\n a = scatter_elements(x, i, w) { axis = 0 }"},
    {"x: float32[3,4]", "k = int64[1]{2}\n v, i = top_k(x, k)"},
    {"x: int64[2,3]", "d = int64[]{3}\n v = float32[2]{0, 1}\n a = one_hot(x, d, v)"},
    {"x: float32[3,4]", "a, i, j, c = unique(x)"},
    {"x: float32[3,4]", "a = non_zero(x)"},
    {"x: float32[3,4]", "c = bool[3]{true, false, true}\n a = compress(x, c) { axis = 0 }"},
    {"x: float32[3,4]", "l = int64[4]{1, 2, 3, 2}\n a = reverse_sequence(x, l)"},
    {"x: float32[3,4]", "i = int64[4]{0, 1, 2, 3}\n a = gather(x, i) { axis = 1 }"},
    {"x: float32[1,5,4], w: float32[1,1,5]", "k = int64[]{3}\n a = non_max_suppression(x, w, k)"},
    {"x: float32[2,3,4], w: float32[2,2,4]",
     "i = int64[2]{0, 1}\n a = tensor_scatter(x, w, i) { axis = 1 }"},
    // Shape arithmetic.
    {"x: float32[2,3,4]",
     "s = shape(x)\n i = int64[]{1}\n j = int64[]{2}\n h = gather(s, i)\n w = gather(s, j)\n"
     "p = mul(h, w)\n z = int64[1]{0}\n u = unsqueeze(p, z)\n n = shape(x) { end = 1 }\n"
     "c = concat(n, u) { axis = 0 }\n a = reshape(x, c)"},
    {"x: float32[3,4]",
     "s = shape(x)\n r = constant_of_shape(s)\n o = int64[]{0}\n n = size(x)\n k = int64[]{3}\n"
     "q = div(n, k)\n e = int64[]{1}\n b = range(o, q, e)\n a = add(r, x)"},
    {"x: float32[3,4]",
     "s = shape(x)\n n = int64[1]{2}\n c = concat(n, s) { axis = 0 }\n"
     "a = expand(x, c)"},
    // Nested graphs.
    {"x: float32[3], x1: float32[2,3]",
     "v, a = scan(x, x1) { body = graph b(s: float32[3], e: float32[3]) -> (t, u) {\n"
     "t = add(s, e)\n u = neg(t) }, num_scan_inputs = 1, scan_input_axes = [0],\n"
     "scan_input_directions = [1], scan_output_axes = [1], scan_output_directions = [1] }"},
    {"x: float32[3], x1: float32[3,9]",
     "v, a = scan(x, x1) { body = graph b(s: float32[3], e: float32[3]) -> (t, u) {\n"
     "t = max(s, e)\n u = relu(t) }, num_scan_inputs = 1, scan_input_axes = [1],\n"
     "scan_input_directions = [0], scan_output_axes = [0], scan_output_directions = [0] }"},
    {"x: float32[2,3]",
     "n = int64[]{3}\n v, a = loop(n, _, x) { body = graph b(i: int64[], c: bool[], s: "
     "float32[2,3]) -> (c, t, u) { f = cast(i) { to = \"float32\" }\n t = add(s, f)\n"
     "u = transpose(t) { perm = [1, 0] } } }"},
    // Sequences and optionals.
    {"x: float32[2,3], x1: float32[2,3]",
     "s = sequence_construct(x, x1)\n"
     "m = sequence_map(s, x) { body = graph b(e: float32[2,3], k: float32[2,3]) -> (r) {\n"
     "r = add(e, k) } }\n"
     "a = concat_from_sequence(m) { axis = 0 }"},
    {"x: float32[2,3], x1: float32[2,3]",
     "s = sequence_construct(x, x1)\n i = int64[]{1}\n a = sequence_at(s, i)"},
    {"x: float32[4,3]",
     "s = split_to_sequence(x) { axis = 0, keepdims = 1 }\n"
     "a = concat_from_sequence(s) { axis = 1 }\n l = sequence_length(s)"},
    {"x: float32[2,3], x1: float32[2,3]",
     "s = sequence_construct(x)\n t = sequence_insert(s, x1)\n u = sequence_erase(t)\n"
     "a = concat_from_sequence(u) { axis = 0 }"},
    {"x: float32[2,3], x1: float32[4,3]",
     "s = sequence_construct(x, x1)\n n = int64[]{3}\n"
     "t = loop(n, _, s) { body = graph b(i: int64[], c: bool[], l: sequence(float32[?,3])) -> (c, "
     "r) { last = int64[]{-1}\n e = sequence_at(l, last)\n r = sequence_insert(l, e, i) } }\n"
     "a = concat_from_sequence(t) { axis = 0 }\n l = sequence_length(t)"},
    {"x: float32[2,3], x1: float32[4,3]",
     "s = sequence_construct(x, x1)\n z = float32[]{0}\n m = reduce_sum(x) { keepdims = 0 }\n"
     "c = less(m, z)\n t = if(c) { then_branch = graph p() -> (u) { u = sequence_insert(s, x) },\n"
     "else_branch = graph q() -> (v) { v = sequence_erase(s) } }\n"
     "a = concat_from_sequence(t) { axis = 0 }\n i = int64[]{-1}\n e = sequence_at(t, i)"},
    {"x: float32[2,3]",
     "o = optional(x)\n h = optional_has_element(o)\n a = optional_get_element(o)"},
    // Losses, signals, and the rest.
    {"x: float32[3,4]",
     "l = int64[3]{0, 3, 1}\n p = log_softmax(x)\n"
     "a = negative_log_likelihood_loss(p, l)"},
    {"x: float32[3,4]", "l = int64[3]{0, 3, 1}\n a, p = softmax_cross_entropy_loss(x, l)"},
    {"x: float32[2,8,1]", "n = int64[]{1}\n a = dft(x, _, n)"},
    {"x: float32[1,8,1]", "t = int64[]{2}\n w = float32[4]{1, 1, 0.5, 1}\n a = stft(x, t, w)"},
    {"x: float32[2,8,1]",
     "n = int64[]{8}\n u = blackman_window(n)\n v = hamming_window(n) { periodic = 0 }\n"
     "w = hann_window(n)\n p = mul(u, v)\n q = add(p, w)\n i = int64[1]{1}\n r = unsqueeze(q, i)\n"
     "a = mul(x, r)"},
    {"x: float32[2,3,4]", "n = int64[]{-1}\n a = cum_sum(x, n)"},
    {"x: float32[2,3,4]", "a = trilu(x) { upper = 0 }"},
    {"x: float32[2,3,4]", "a = hardmax(x)"},
    {"x: float32[2,3,4]",
     "a, b = split(x) { axis = 2, num_outputs = 2 }\n c = concat(b, a) { axis = 2 }"},
    {"x: uint8[3,4], w: uint8[3,4]",
     "a = bit_shift(x, w) { direction = \"LEFT\" }\n b = bitwise_xor(a, w)\n c = bitwise_or(b, x)"},
    {"x: bool[3,4], w: bool[3,4]", "a = and(x, w)\n b = xor(a, x)\n c = or(b, w)"},
    {"x: int64[3], x1: int64[3]",
     "s = cast(x) { to = \"string\" }\n t = cast(x1) { to = \"string\" }\n"
     "a = string_concat(s, t)"},
    {"x: int64[3]", "s = cast(x) { to = \"string\" }\n a = cast(s) { to = \"int64\" }"},
    // Random numbers: the same seed gives the same ones.
    {"x: float32[2,3]", "s = sigmoid(x)\n a = bernoulli(s) { seed = 3.0 }"},
    {"x: float32[2,3]", "a = multinomial(x) { sample_size = 4, seed = 1.0 }"},
    {"x: float32[2,3]",
     "s = shape(x)\n r = random_normal(s) { seed = 2.0 }\n a = add(x, r)\n"
     "b = random_uniform(s) { seed = 2.0, low = -1.0 }"},
    {"x: float32[2,3]",
     "a = random_normal_like(x) { seed = 5.0 }\n b = random_uniform_like(x) { seed = 5.0, dtype = "
     "\"float64\" }"},
    // Steps of training.
    {"x: float32[2,3], x1: float32[2,3], w: float32[2,3], w1: float32[2,3]",
     "r = float32[]{0.5}\n t = int64[]{3}\n a, h = adagrad(r, t, x, x1, w) { decay_factor = 0.1 }\n"
     "b, v, g = adam(r, t, x, x1, w1, w)\n"
     "c, m = momentum(r, t, x, x1, w) { alpha = 0.9, beta = 1.0, mode = \"nesterov\",\n"
     "norm_coefficient = 0.01 }"},
    // Positions and states.
    {"x: float32[1,2,3,4], w: float32[5,2], w1: float32[5,2]",
     "i = int64[1,3]{0, 4, 2}\n a = rotary_embedding(x, w, w1, i)"},
    {"x: float32[1,3,4], w: float32[1,3,2], w1: float32[1,3,2]",
     "a = rotary_embedding(x, w, w1) { num_heads = 1, interleaved = 1 }"},
    {"x: float32[1,3,4], x1: float32[1,3,4]",
     "a, s = linear_attention(x, x1, x) { kv_num_heads = 2, q_num_heads = 2,\n"
     "update_rule = \"linear\" }"},
    {"x: float32[1,2,5], w: float32[2,1,3], w1: float32[2]",
     "a, s = causal_conv_with_state(x, w, w1) { activation = \"silu\" }"},
    {"x: float32[1,5,2]",
     "m = int64[]{2}\n d = int64[]{8}\n r = int64[]{16}\n l = float32[]{0}\n u = float32[]{8}\n"
     "w = mel_weight_matrix(m, d, r, l, u)\n t = transpose(x) { perm = [0, 2, 1] }\n"
     "a = matmul(t, w)"},
    // Strings.
    {"x: int64[3]",
     "s = cast(x) { to = \"string\" }\n a = regex_full_match(s) { pattern = \"-?[0-9]\" }\n"
     "d = string[1]{\" a \"}\n t = string_concat(s, d)\n b = string_concat(t, s)\n"
     "p, n = string_split(b)"},
    {"x: int64[3]",
     "s = format_number(x) { width = 3 }\n"
     "r = regex_replace(s) { pattern = \"1\", rewrite = \"one\" }\n"
     "h = string_hash(r) { buckets = 7 }\n b = int64[]{1}\n e = int64[]{2}\n"
     "t = substring(r, b, e)\n m = string_map(t) { function = \"upper\" }\n"
     "l = string_length(m)\n j = string_join(m) { axis = 0, separator = \",\" }"},
    {"x: int64[3]",
     "s = cast(x) { to = \"string\" }\n"
     "n = string_normalizer(s) { stopwords = [\"0\"], case_change_action = \"UPPER\" }\n"
     "a = cast(n) { to = \"string\" }"},
    {"x: int64[2,3]",
     "a = tf_idf_vectorizer(x) { max_gram_length = 2, min_gram_length = 1, max_skip_count = 1,\n"
     "mode = \"TFIDF\", ngram_counts = [0, 2], ngram_indexes = [0, 1, 2], pool_int64s = [1, 2, 1, "
     "0],\n"
     "weights = [1.0, 2.0, 0.5] }"},
    // Classical models.
    {"x: int64[2,3]",
     "m = category_mapper(x) { cats_int64s = [0, 1], cats_strings = [\"no\", \"yes\"] }\n"
     "a = label_encoder(x) { keys = tensor(int64[2]{1, 2}), values = tensor(float32[2]{0.5, 3}),\n"
     "default = tensor(float32[1]{-1}) }"},
    {"x: float32[2,3]", "a = ml_scaler(x) { offset = [0.5, 1.0, 2.0], scale = [2.0, 1.0, 0.5] }"},
    {"x: float32[2,3]",
     "a, s = linear_classifier(x) { classlabels_ints = [4, 7], post_transform = \"SOFTMAX\",\n"
     "coefficients = [1.0, 2.0, 3.0, -1.0, 0.5, 1.0], intercepts = [0.5, 0.25] }"},
    {"x: float32[2,3]",
     "i = imputer(x) { imputed_value_floats = [1.5] }\n"
     "a = linear_regressor(i) { coefficients = [1.0, -2.0, 0.5], intercepts = [0.25] }"},
    {"x: float32[2,2]",
     "a = svm_regressor(x) { coefficients = [1.0, 2.0], rho = [0.5],\nkernel_params = [0.5, 0.0, "
     "3.0] }\n"
     "b, s = svm_classifier(x) { classlabels_ints = [4, 5], coefficients = [1.0, -1.0],\n"
     "kernel_params = [0.5, 0.0, 3.0], support_vectors = [1.0, 2.0, 0.0, 1.0], vectors_per_class = "
     "[1, 1], rho = [0.5] }"},
    {"x: float32[2,1]",
     "a = tree_ensemble_regressor(x) { n_targets = 1, nodes_treeids = [0, 0, 0],\n"
     "nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0],\n"
     "nodes_values = tensor(float32[3]{1, 0, 0}),\n"
     "nodes_modes = [\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"], nodes_truenodeids = [1, 0, 0],\n"
     "nodes_falsenodeids = [2, 0, 0], target_nodeids = [1, 2], target_treeids = [0, 0],\n"
     "target_ids = [0, 0], target_weights = tensor(float32[2]{5, 6}) }"},
    {"x: float32[2,1]",
     "a, s = tree_ensemble_classifier(x) { nodes_treeids = [0, 0, 0],\n"
     "nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0],\n"
     "nodes_values = tensor(float32[3]{1, 0, 0}),\n"
     "nodes_modes = [\"BRANCH_GT\", \"LEAF\", \"LEAF\"], nodes_truenodeids = [1, 0, 0],\n"
     "nodes_falsenodeids = [2, 0, 0], class_nodeids = [1, 2], class_treeids = [0, 0],\n"
     "class_ids = [0, 1], class_weights = tensor(float32[2]{1, 2}),\n"
     "classlabels_int64s = [3, 8] }"},
    {"x: float32[2,1]",
     "a = tree_ensemble(x) { n_targets = 1, tree_roots = [0], nodes_featureids = [0],\n"
     "nodes_modes = [\"BRANCH_LT\"], nodes_splits = tensor(float32[1]{1}),\n"
     "nodes_truenodeids = [0], nodes_trueleafs = [1], nodes_falsenodeids = [1],\n"
     "nodes_falseleafs = [1], leaf_targetids = [0, 0],\n"
     "leaf_weights = tensor(float32[2]{2, 4}) }"},
    {"x: float32[1,2]",
     "m = zip_map(x) { classlabels_int64s = [1, 3] }\n z = int64[]{0}\n e = sequence_at(m, z)\n"
     "a = cast_map(e) { map_form = \"SPARSE\", max_map = 4 }\n"
     "b = dict_vectorizer(e) { int64_vocabulary = [3, 2] }"},
    {"x: float32[2,3]", "z = complex(x, x)\n a = real(z)\n b = imag(z)"},
    // A portable pixmap of two pixels.
    {"x: float32[2]",
     "b = uint8[17]{80, 54, 10, 50, 32, 49, 10, 50, 53, 53, 10, 1, 2, 3, 250, 251, 252}\n"
     "p = image_decoder(b)\n a = cast(p) { to = \"float32\" }"},
};

}  // namespace

absl::Span<const RandomUnit> RandomUnits() { return kUnits; }

}  // namespace x2ir
