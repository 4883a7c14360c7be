"""Rows of MXNet's layers, matrices, images, boxes, quantized operators and subgraphs."""
import math

from symbol_rows import *

# --- Convolutions and pools ----------------------------------------------------------------------

x, w, b = f(2, 4, 6, 5), f(6, 2, 3, 2), f(6)
for op in ("Convolution", "Convolution_v1", "_npx_convolution"):
    row(op, [x, w, b], F.conv2d(T(x), T(w), T(b), (2, 1), (1, 0), (1, 2), 2), kernel=(3, 2), num_filter=6,
        stride=(2, 1), pad=(1, 0), dilate=(1, 2), num_group=2)
    row(op, [x[:1, :2], w], F.conv2d(T(x[:1, :2]), T(w)), kernel=(3, 2), num_filter=6, no_bias=True)
    y, v = f(1, 2, 7), f(3, 2, 3)
    row(op, [y, v, b[:3]], F.conv1d(T(y), T(v), T(b[:3]), padding=2), kernel=(3,), num_filter=3, pad=(2,), layout="NCW")
y, v = f(1, 2, 3, 4, 3), f(2, 2, 2, 1, 3)
row("Convolution", [y, v, b[:2]], F.conv3d(T(y), T(v), T(b[:2]), (1, 2, 1)), kernel=(2, 1, 3), stride=(1, 2, 1), num_filter=2)
row("Convolution", [x.transpose(0, 2, 3, 1), w.transpose(0, 2, 3, 1)],
    F.conv2d(T(x), T(w), groups=2).permute(0, 2, 3, 1), kernel=(3, 2), num_filter=6, num_group=2, no_bias=True,
    layout="NHWC")
v = f(4, 3, 3, 2)
for op in ("Deconvolution", "_npx_deconvolution"):
    row(op, [x, v], F.conv_transpose2d(T(x), T(v), None, (2, 3), (1, 0), (1, 2), 2, (1, 1)), kernel=(3, 2), num_filter=6,
        stride=(2, 3), pad=(1, 0), adj=(1, 2), dilate=(1, 1), num_group=2)
    row(op, [x[:1], v, b[:3]], F.conv_transpose2d(T(x[:1]), T(v), T(b[:3])), kernel=(3, 2), num_filter=3, no_bias=False)
    whole = F.conv_transpose2d(T(x[:1]), T(v), None, (2, 2)).numpy()  # 13 x 10
    row(op, [x[:1], v], whole[:, :, 1:12, 1:9], kernel=(3, 2), num_filter=3, stride=(2, 2), target_shape=(11, 8))
    row(op, [x[:1], v], whole[:, :, 1:, :], kernel=(3, 2), num_filter=3, stride=(2, 2), target_shape=(12, 10))
for op in ("Pooling", "_npx_pooling", "Pooling_v1"):
    row(op, x, F.max_pool2d(T(x), (3, 2), (2, 1), (1, 0)), kernel=(3, 2), stride=(2, 1), pad=(1, 0), pool_type="max")
    row(op, x, F.avg_pool2d(T(x), (3, 2), (2, 1), (1, 0)), kernel=(3, 2), stride=(2, 1), pad=(1, 0), pool_type="avg")
    row(op, x, F.avg_pool2d(T(x), (3, 2), 1) * 6, kernel=(3, 2), pool_type="sum")
    row(op, x, x.mean((2, 3), keepdims=True), kernel=(2, 2), pool_type="avg", global_pool=True)
    row(op, x, x.max((2, 3), keepdims=True), kernel=(2, 2), pool_type="max", global_pool=True)
    row(op, x, x.sum((2, 3), keepdims=True), kernel=(2, 2), pool_type="sum", global_pool=True)
    row(op, x, F.max_pool2d(T(x), 2, 2, 0, ceil_mode=True), kernel=(2, 2), stride=(2, 2), pool_type="max",
        pooling_convention="full")
for op in ("Pooling", "_npx_pooling"):
    row(op, x, F.avg_pool2d(T(x), 3, 2, 1, count_include_pad=False), kernel=(3, 3), stride=(2, 2), pad=(1, 1),
        pool_type="avg", count_include_pad=False)
    row(op, x, F.avg_pool2d(T(x), 2, 2, 0, ceil_mode=True), kernel=(2, 2), stride=(2, 2), pool_type="avg",
        pooling_convention="full")
    row(op, x, np.sqrt(F.avg_pool2d(T(x * x), 2, 1) * 4), kernel=(2, 2), pool_type="lp", p_value=2)
    row(op, x, F.avg_pool2d(T(np.abs(x)), 2, 1) * 4, kernel=(2, 2), pool_type="lp", p_value=1)
    row(op, x, (np.abs(x) ** 3).sum((2, 3), keepdims=True) ** np.float32(1 / 3), pool_type="lp", p_value=3, global_pool=True)
    row(op, x.transpose(0, 2, 3, 1), F.max_pool2d(T(x), 2, 1).permute(0, 2, 3, 1), kernel=(2, 2), layout="NHWC")
    y = f(1, 2, 7)
    row(op, y, F.max_pool1d(T(y), 3, 2, 1), kernel=(3,), stride=(2,), pad=(1,))
row("_contrib_AdaptiveAvgPooling2D", x, F.adaptive_avg_pool2d(T(x), (4, 3)), output_size=(4, 3))
row("_contrib_AdaptiveAvgPooling2D", x, F.adaptive_avg_pool2d(T(x), 2), output_size=2)
row("_contrib_AdaptiveAvgPooling2D", x, F.adaptive_avg_pool2d(T(x), 1))

for op in ("im2col", "_npx_im2col"):
    row(op, x, F.unfold(T(x), (3, 2), (1, 2), (1, 0), (2, 1)), kernel=(3, 2), stride=(2, 1), pad=(1, 0), dilate=(1, 2))
    y = f(1, 2, 5)
    row(op, y, F.unfold(T(y[:, :, None]), (1, 3), 1, (0, 1)), kernel=(3,), pad=(1,))
for op in ("col2im", "_npx_col2im"):
    y = F.unfold(T(x[:1, :2]), (3, 2), (1, 2), (1, 0), (2, 1))
    row(op, y, F.fold(y, (6, 5), (3, 2), (1, 2), (1, 0), (2, 1)), output_size=(6, 5), kernel=(3, 2), stride=(2, 1), pad=(1, 0),
        dilate=(1, 2))
    y = f(1, 4, 2)
    row(op, y, F.fold(T(y), (2, 3), 2), output_size=(2, 3), kernel=(2, 2))

# --- Dense layers, activations -------------------------------------------------------------------

d, w, b = f(2, 3, 2), f(4, 6), f(4)
for op in ("FullyConnected", "_npx_fully_connected"):
    row(op, [d, w, b], d.reshape(2, 6) @ w.T + b, num_hidden=4)
    row(op, [d, w[:, :2]], d @ w[:, :2].T, num_hidden=4, no_bias=True, flatten=False)
table = f(5, 3)
for op in ("Embedding", "_contrib_SparseEmbedding", "_npx_embedding"):
    row(op, [f32(4, 0, 2), table], table[[4, 0, 2]], input_dim=5, output_dim=3)
    row(op, [i32(1, 3, 3, 0).reshape(2, 2), table], table[[[1, 3], [3, 0]]], input_dim=5, output_dim=3, dtype="float32")
row("Embedding _npx_embedding", [f32(-3, 9), table], table[[0, 4]], input_dim=5, output_dim=3)
for op in ("Activation", "_npx_activation"):
    for name, fn in [("relu", torch.relu), ("sigmoid", torch.sigmoid), ("tanh", torch.tanh), ("softrelu", F.softplus),
                     ("softsign", F.softsign), ("mish", F.mish), ("log_sigmoid", F.logsigmoid)]:
        row(op, d, fn(T(d)), act_type=name)
    row(op, f32(-100, 100), f32(0, 100), act_type="softrelu")
for op in ("LeakyReLU", "_npx_leaky_relu"):
    row(op, d, F.leaky_relu(T(d), 0.25))
    row(op, d, F.leaky_relu(T(d), 0.1), act_type="leaky", slope=0.1)
    row(op, d, F.elu(T(d), 0.7), act_type="elu", slope=0.7)
    row(op, d, F.selu(T(d)), act_type="selu")
    row(op, d, F.gelu(T(d)), act_type="gelu")
    row(op, [d, f32(0.1, 0.5, -1)], F.prelu(T(d), T(f32(0.1, 0.5, -1))), act_type="prelu")
    row(op, [d, f32(0.3)], F.prelu(T(d), T(f32(0.3))), act_type="prelu")
    row(op, [d[:, :, 0], f32(0.1, 0.5, -1)], F.prelu(T(d[:, :, 0]), T(f32(0.1, 0.5, -1))), act_type="prelu")
    row(op, d, F.leaky_relu(T(d), 0.5), act_type="rrelu", lower_bound=0.25, upper_bound=0.75)


def soft(x, axis=-1, log=False):
    return (F.log_softmax if log else F.softmax)(T(x), axis).numpy()


m = f(2, 3, 4)
for ops, log, sign in (("softmax _npx_softmax", False, 1), ("log_softmax _npx_log_softmax", True, 1), ("softmin", False, -1)):
    row(ops, m, soft(sign * m, -1, log))
    row(ops, m, soft(sign * m / 2, 1, log), axis=1, temperature=2.0)
    row(ops, f32(1000, 0, -1000), soft(sign * f32(1000, 0, -1000), -1, log))
for ops in ("softmax _npx_softmax",):
    y = np.zeros_like(m)
    for i in range(2):
        for j in range(4):
            n = [[1, 2, 3, 1], [3, 1, 2, 2]][i][j]
            y[i, :n, j] = soft(m[i, :n, j])
    row(ops, [m, i32(1, 2, 3, 1, 3, 1, 2, 2).reshape(2, 4)], y, axis=1, use_length=True)
mask = rng.rand(2, 3, 4) > 0.4
mask[:, :, 0] = True
low = np.where(mask, m, -np.inf).astype(np.float32)
row("masked_softmax _npx_masked_softmax", [m, mask], soft(low), axis=-1)
row("masked_softmax _npx_masked_softmax", [m, mask], soft(low / 2), axis=-1, temperature=2.0)
row("masked_softmax _npx_masked_softmax", [f32(1, 2), boolean(0, 0)], f32(0, 0))
row("masked_log_softmax _npx_masked_log_softmax", [m, mask], soft(low, -1, True), axis=-1)
row("masked_log_softmax _npx_masked_log_softmax", [m, mask], soft(low / 2, -1, True), axis=-1, temperature=2.0)
row("SoftmaxActivation", m, soft(m.reshape(2, 12)).reshape(2, 3, 4))
row("SoftmaxActivation", m, soft(m, 1), mode="channel")
for op in ("SoftmaxOutput", "Softmax"):
    row(op, [m[0], f32(0, 1, 2)], soft(m[0]), grad_scale=2.0, ignore_label=255.0, use_ignore=True, normalization="valid")
    row(op, [m, f32(0, 1)], soft(m.reshape(2, 12)).reshape(2, 3, 4))
    row(op, [m, f(2, 4)], soft(m, 1), multi_output=True)
    row(op, [m, f(2, 3)], soft(m), preserve_shape=True)
row("softmax_cross_entropy", [m[0], f32(1, 0, 3)], F.cross_entropy(T(m[0]), T(i64(1, 0, 3)), reduction="sum").reshape(1))
row("softmax_cross_entropy", [m[0, :1], f32(2)], F.cross_entropy(T(m[0, :1]), T(i64(2)), reduction="sum").reshape(1))
for op in ("Dropout", "_npx_dropout"):
    row(op, m, m, p=0.3)
    row(op, m, m, p=0.9, axes=(0,))
    row(op, m, m, p=0.0, mode="always")

act, labels = f(5, 2, 4), i32(1, 2, 0, 3, 3, 1).reshape(2, 3)
losses = lambda p, q, times, sizes, blank: F.ctc_loss(F.log_softmax(T(p), -1), T(np.maximum(q, 0).astype(np.int64)), tuple(times),
                                                      tuple(sizes), blank, "none")
for op in ("CTCLoss", "ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss", "_npx_ctc_loss"):
    row(op, [act, as32(labels)], losses(act, labels, (5, 5), (2, 3), 0))
    last = i32(1, -1, -1, 2, 0, 1).reshape(2, 3)
    row(op, [act, last], losses(act, last, (5, 5), (1, 3), 3), blank_label="last")
    row(op, [act, labels, f32(5, 4), f32(1, 2)], losses(act, labels, (5, 4), (1, 2), 0), use_data_lengths=True, use_label_lengths=True)

# --- Norms ---------------------------------------------------------------------------------------

gamma, beta, mean, var = f(3), f(3), f(3), pos(3)
along = lambda v: v[None, :, None]
norm = lambda eps, g: as32((m - along(mean)) / np.sqrt(along(var) + eps) * along(g) + along(beta))
for op in ("BatchNorm", "BatchNorm_v1", "CuDNNBatchNorm", "_contrib_SyncBatchNorm", "_npx_batch_norm",
           "_contrib_BatchNormWithReLU"):
    cut = (lambda y: np.maximum(y, 0)) if op.endswith("ReLU") else (lambda y: y)
    row(op, [m, gamma, beta, mean, var], cut(norm(1e-3, np.ones(3))))
    row(op, [m, gamma, beta, mean, var], cut(norm(0.1, gamma)), eps=0.1, fix_gamma=False, momentum=0.9,
        use_global_stats=True)
    if op in ("BatchNorm", "_npx_batch_norm"):
        row(op, [m.swapaxes(1, 2), gamma, beta, mean, var], norm(1e-3, gamma).swapaxes(1, 2), fix_gamma=False, axis=-1)
        row(op, [m.swapaxes(0, 1), gamma, beta, mean, var], norm(1e-3, gamma).swapaxes(0, 1), fix_gamma=False, axis=0)
g4, b4 = f(4), f(4)
for op in ("LayerNorm", "_npx_layer_norm"):
    row(op, [m, g4, b4], F.layer_norm(T(m), (4,), T(g4), T(b4)))
    row(op, [m, gamma, beta], F.layer_norm(T(m.swapaxes(1, 2)), (3,), T(gamma), T(beta), 0.1).transpose(1, 2), axis=1,
        eps=0.1)
for op in ("InstanceNorm", "_npx_instance_norm"):
    row(op, [m, gamma, beta], F.instance_norm(T(m), None, None, T(gamma), T(beta), eps=1e-3))
    row(op, [m[:, :, :, None], gamma, beta], F.instance_norm(T(m[:, :, :, None]), None, None, T(gamma), T(beta), eps=0.1),
        eps=0.1)
g = f(2, 4, 3)
for op in ("GroupNorm", "_npx_group_norm"):
    row(op, [g, g4, b4], F.group_norm(T(g), 2, T(g4), T(b4)), num_groups=2)
    row(op, [g, g4, b4], F.group_norm(T(g), 1, T(g4), T(b4), 0.1), eps=0.1)
    row(op, [g, g4[:2], b4[:2]], F.group_norm(T(g), 2, T(np.repeat(g4[:2], 2)), T(np.repeat(b4[:2], 2))), num_groups=2)
for op in ("L2Normalization", "_npx_l2_normalization"):
    for mode, axes in (("instance", (1, 2)), ("channel", (1,)), ("spatial", (2,))):
        row(op, m, as32(m / np.sqrt((m * m).sum(axes, keepdims=True) + 1e-10)), mode=mode)
    row(op, m, as32(m / np.sqrt((m * m).sum((1, 2), keepdims=True) + 1)), eps=1.0)
y = f(2, 5, 2, 2)
row("LRN", y, F.local_response_norm(T(y), 5, 1e-4, 0.75, 2.0), nsize=5)
row("LRN", y, F.local_response_norm(T(y), 3, 0.5, 0.6, 1.5), nsize=3, alpha=0.5, beta=0.6, knorm=1.5)

# --- Matrices ------------------------------------------------------------------------------------

a, b, c = f(2, 3), f(3, 4), f(2, 3, 4)
row("dot", [a, b], a @ b)
row("dot", [a.T, b], a @ b, transpose_a=True)
row("dot", [a, b.T], a @ b, transpose_b=True)
row("dot", [f32(1, 2, 3), b], f32(1, 2, 3) @ b)
row("dot", [f32(1, 2), f32(3, 4)], f32(11))
e = f(4, 2, 3)
row("dot", [c, e], np.tensordot(c, e, 1))
row("dot", [c, f32(1, 2, 3, 4)], c @ f32(1, 2, 3, 4))
e2 = f(2, 5)
row("dot", [c, e2], np.tensordot(c.transpose(1, 2, 0), e2, 1), transpose_a=True)
e3 = f(5, 3, 4)
row("dot", [a.T[:, :1].T @ np.ones((3, 4), np.float32), e3], np.tensordot(a.T[:, :1].T @ np.ones((3, 4), np.float32), e3.transpose(2, 0, 1), 1),
    transpose_b=True)
for op in ("_np_dot", "_npi_dot"):
    row(op, [a, b], a @ b)
    row(op, [c, f32(1, 2, 3, 4)], c @ f32(1, 2, 3, 4))
    e = f(2, 4, 3)
    row(op, [c, e], np.dot(c, e))
    row(op, [np.array(2, np.float32), a], 2 * a)
    row(op, [f32(1, 2), f32(3, 4)], np.array(11, np.float32))
for op in ("_npi_matmul", "_np_matmul"):
    row(op, [a, b], a @ b)
    row(op, [c, b.T], c @ b.T)
    row(op, [f32(1, 2, 3), c], f32(1, 2, 3) @ c)
    row(op, [c, f32(1, 2, 3, 4)], c @ f32(1, 2, 3, 4))
e = f(2, 4, 5)
for op in ("batch_dot", "_npx_batch_dot"):
    row(op, [c, e], c @ e)
    row(op, [c.swapaxes(1, 2), e.swapaxes(1, 2)], c @ e, transpose_a=True, transpose_b=True)
row("_npi_tensordot", [c, e], np.tensordot(c, e, ((0, 2), (0, 1))), a_axes_summed=(0, 2), b_axes_summed=(0, 1))
row("_npi_tensordot", [c, e], np.tensordot(c, e, ((-1, 0), (1, -3))), a_axes_summed=(-1, 0), b_axes_summed=(1, -3))
row("_npi_tensordot_int_axes", [a, b], a @ b, axes=1)
row("_npi_tensordot_int_axes", [a, f32(1, 2)], np.tensordot(a, f32(1, 2), 0), axes=0)
row("_npi_einsum", [a, b], a @ b, num_args=2, subscripts="ij,jk->ik", optimize=0)
row("_npi_einsum", [c, c], np.einsum("...i,...i", c, c), num_args=2, subscripts="...i,...i", optimize=1)
sq = f(3, 3)
row("_npi_einsum", [sq], np.array(np.trace(sq)), num_args=1, subscripts="ii")
row("khatri_rao", [a, f32(1, 2, 3, 4, 5, 6).reshape(2, 3)],
    np.stack([np.kron(a[:, i], f32(1, 2, 3, 4, 5, 6).reshape(2, 3)[:, i]) for i in range(3)], 1))
row("khatri_rao", [a, sq, f32(1, 2, 3).reshape(1, 3)],
    np.stack([np.kron(np.kron(a[:, i], sq[:, i]), i + 1) for i in range(3)], 1).astype(np.float32), num_args=3)
spd = (lambda q: (q @ q.swapaxes(-1, -2) + 2 * np.eye(3)).astype(np.float32))(f(2, 3, 3))
chol = np.linalg.cholesky(spd)
B = f(2, 3, 2)
swap = lambda v: np.ascontiguousarray(np.swapaxes(v, -1, -2))
for op in ("_linalg_gemm", "linalg_gemm"):
    row(op, [spd, B, f32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12).reshape(2, 3, 2)],
        2 * spd @ B + 0.5 * f32(*range(1, 13)).reshape(2, 3, 2), alpha=2.0, beta=0.5)
    row(op, [a, b.T, f32(*range(8)).reshape(2, 4)], a @ b + f32(*range(8)).reshape(2, 4), transpose_b=True)
for op in ("_linalg_gemm2", "linalg_gemm2"):
    row(op, [swap(spd), B], -spd @ B, transpose_a=True, alpha=-1.0)
    row(op, [a, b], a @ b)
for op in ("_linalg_syrk", "linalg_syrk"):
    row(op, [B], 2 * B @ swap(B), alpha=2.0)
    row(op, [B], swap(B) @ B, transpose=True)
full = f(2, 3, 3) + 4 * np.eye(3, dtype=np.float32)
lower, upper = np.tril(full), np.triu(full)
for op in ("_linalg_trmm", "linalg_trmm"):
    row(op, [full, B], lower @ B)
    row(op, [full, B], 2 * swap(upper) @ B, lower=False, transpose=True, alpha=2.0)
    row(op, [full, swap(B)], swap(B) @ lower, rightside=True)
    row(op, [full, swap(B)], swap(B) @ swap(upper), rightside=True, transpose=True, lower=False)
for op in ("_linalg_trsm", "linalg_trsm"):
    row(op, [full, B], as32(np.linalg.solve(lower, B)))
    row(op, [full, B], as32(np.linalg.solve(swap(lower), 2 * B)), transpose=True, alpha=2.0)
    row(op, [full, B], as32(np.linalg.solve(upper, B)), lower=False)
    row(op, [full, B], as32(np.linalg.solve(swap(upper), B)), lower=False, transpose=True)
    row(op, [full, swap(B)], swap(as32(np.linalg.solve(swap(lower), B))), rightside=True)
    row(op, [full, swap(B)], swap(as32(np.linalg.solve(lower, B))), rightside=True, transpose=True)
    row(op, [full, swap(B)], swap(as32(np.linalg.solve(swap(upper), B))), rightside=True, lower=False)
for op in ("_linalg_potrf", "linalg_potrf", "_npi_cholesky"):
    row(op, spd, chol)
    row(op, spd, swap(chol), lower=False)
for op in ("_linalg_potri", "linalg_potri"):
    row(op, chol, as32(np.linalg.inv(spd)))
    row(op, swap(chol), as32(np.linalg.inv(spd)), lower=False)
for op in ("_linalg_sumlogdiag", "linalg_sumlogdiag"):
    row(op, spd, np.log(np.diagonal(spd, 0, 1, 2)).sum(-1))
    row(op, spd[0], np.log(np.diag(spd[0])).sum().reshape(1))
for op in ("_linalg_det", "linalg_det", "_npi_det"):
    row(op, full, np.linalg.det(full))
    row(op, sq, np.linalg.det(sq).reshape(() if op.startswith("_npi") else (1,)))
for op in ("_linalg_slogdet", "linalg_slogdet", "_npi_slogdet"):
    row(op, full, list(np.linalg.slogdet(full)))
    row(op, f32(0, 1, 1, 0).reshape(2, 2), [np.array(v, np.float32).reshape(() if op.startswith("_npi") else (1,)) for v in (-1, 0)])
for op in ("_linalg_inverse", "linalg_inverse", "_npi_inv"):
    row(op, full, np.linalg.inv(full))
    row(op, f32(0, 2, 4, 0).reshape(2, 2), f32(0, 0.25, 0.5, 0).reshape(2, 2))
row("_npi_solve", [full, B], np.linalg.solve(full, B))
row("_npi_solve", [full[0], f32(1, 2, 3)], np.linalg.solve(full[0], f32(1, 2, 3)))
for op in ("_linalg_extractdiag", "linalg_extractdiag"):
    row(op, spd, np.diagonal(spd, 0, 1, 2))
    row(op, spd, np.diagonal(spd, 1, 1, 2), offset=1)
    row(op, sq, np.diag(sq, -2), offset=-2)
for op in ("_linalg_makediag", "linalg_makediag"):
    row(op, f32(1, 2), np.diag(f32(1, 2)))
    row(op, f32(1, 2, 3, 4).reshape(2, 2), np.stack([np.diag(f32(1, 2)), np.diag(f32(3, 4))]))
    row(op, f32(1, 2), np.diag(f32(1, 2), 1), offset=1)
    row(op, f32(1, 2), np.diag(f32(1, 2), -1), offset=-1)
row("_contrib_div_sqrt_dim", c, c / 2)
row("_contrib_div_sqrt_dim", a, as32(a / np.sqrt(3)))
heads, width, t, s, n = 2, 3, 4, 5, 2
qkv = f(t, n, heads * 3 * width)
q3, k3, v3 = [qkv.reshape(t, n * heads, 3, width)[:, :, i].transpose(1, 0, 2) for i in range(3)]
att = f(n * heads, t, t)
q, kv = f(t, n, heads * width), f(s, n, heads * 2 * width)
qh = q.reshape(t, n * heads, width).transpose(1, 0, 2)
kh, vh = [kv.reshape(s, n * heads, 2, width)[:, :, i].transpose(1, 0, 2) for i in range(2)]
back = lambda y: y.transpose(1, 0, 2).reshape(y.shape[1], n, heads * width)
for p in ("_contrib_", "_npx_"):
    row(p + "interleaved_matmul_selfatt_qk", qkv, as32(q3 @ k3.swapaxes(1, 2) / np.sqrt(width)), heads=heads)
    row(p + "interleaved_matmul_selfatt_valatt", [qkv, att], back(att @ v3), heads=heads)
    row(p + "interleaved_matmul_encdec_qk", [q, kv], as32(qh @ kh.swapaxes(1, 2) / np.sqrt(width)), heads=heads)
    att2 = f(n * heads, t, s)
    row(p + "interleaved_matmul_encdec_valatt", [kv, att2], back(att2 @ vh), heads=heads)
    # One head of width 1: queries 2 and 4, keys 3 and 5, values 7 and 11.
    one = f32(2, 3, 7, 4, 5, 11).reshape(2, 1, 3)
    row(p + "interleaved_matmul_selfatt_qk", one, f32(6, 10, 12, 20).reshape(1, 2, 2), heads=1)
    row(p + "interleaved_matmul_selfatt_valatt", [one, f32(1, 0, 1, 1).reshape(1, 2, 2)], f32(7, 18).reshape(2, 1, 1), heads=1)
    two = f32(3, 7, 5, 11).reshape(2, 1, 2)
    row(p + "interleaved_matmul_encdec_qk", [f32(2).reshape(1, 1, 1), two], f32(6, 10).reshape(1, 1, 2), heads=1)
    row(p + "interleaved_matmul_encdec_valatt", [two, f32(1, 1).reshape(1, 1, 2)], f32(18).reshape(1, 1, 1), heads=1)

# --- Images --------------------------------------------------------------------------------------

g = f(1, 2, 3, 4)
row("UpSampling", g, g.repeat(2, 2).repeat(2, 3), scale=2, sample_type="nearest", num_args=1)
row("UpSampling", [g, g[:, :1].repeat(2, 2).repeat(2, 3)],
    np.concatenate([g, g[:, :1]], 1).repeat(2, 2).repeat(2, 3), scale=2, sample_type="nearest", num_args=2)
row("UpSampling", [g, g], 2 * g.repeat(3, 2).repeat(3, 3), scale=3, sample_type="nearest", num_args=2, multi_input_mode="sum")
w = f(2, 1, 4, 4)
row("UpSampling", [g, w], F.conv_transpose2d(T(g), T(w), None, 2, 1, 0, 2), scale=2, sample_type="bilinear", num_filter=2,
    num_args=2)
w = f(2, 1, 5, 5)
row("UpSampling", [g, w], F.conv_transpose2d(T(g), T(w), None, 3, 1, 0, 2), scale=3, sample_type="bilinear", num_filter=2,
    num_args=2)
for op in ("_contrib_BilinearResize2D", "_npx_bilinear_resize_2d"):
    row(op, g, F.interpolate(T(g), (5, 7), mode="bilinear", align_corners=True), height=5, width=7)
    row(op, g, F.interpolate(T(g), (2, 6), mode="bilinear", align_corners=False), height=2, width=6, align_corners=False)
    row(op, g, F.interpolate(T(g), (6, 6), mode="bilinear", align_corners=True), scale_height=2.0, scale_width=1.5)
    row(op, [g, f(1, 1, 1, 9)], F.interpolate(T(g), (1, 9), mode="bilinear", align_corners=True), mode="like")
theta = f(2, 6)
torch_grid = F.affine_grid(T(theta.reshape(2, 2, 3)), (2, 1, 3, 4), align_corners=True)
row("GridGenerator", theta, torch_grid.permute(0, 3, 1, 2), transform_type="affine", target_shape=(3, 4))
row("GridGenerator", theta[:1] * 0, np.zeros((1, 2, 2, 2), np.float32), transform_type="affine", target_shape=(2, 2))
flow = f(1, 2, 3, 4)
ys, xs = np.meshgrid(range(3), range(4), indexing="ij")
row("GridGenerator", flow, as32(np.stack([(flow[:, 0] + xs) / 1.5 - 1, (flow[:, 1] + ys) / 1.0 - 1], 1)), transform_type="warp")
grid = f(1, 2, 2, 3)
row("BilinearSampler", [g, grid], F.grid_sample(T(g), T(grid.transpose(0, 2, 3, 1)), align_corners=True))
row("BilinearSampler", [g, f32(-1, 1, 0, 1, -1, 0.5).reshape(1, 2, 1, 3)],
    F.grid_sample(T(g), T(f32(-1, 1, 1, -1, 0, 0.5).reshape(1, 1, 3, 2)), align_corners=True), cudnn_off=True)
row("SpatialTransformer", [g, theta[:1]],
    F.grid_sample(T(g), F.affine_grid(T(theta[:1].reshape(1, 2, 3)), (1, 1, 5, 2), align_corners=True), align_corners=True),
    transform_type="affine", sampler_type="bilinear", target_shape=(5, 2))
row("SpatialTransformer", [g, f32(1, 0, 0, 0, 1, 0).reshape(1, 6)], g, transform_type="affine", sampler_type="bilinear",
    target_shape=(3, 4))


def roi_pool(x, rois, size, scale):
    away = lambda v: int(math.copysign(math.floor(abs(v) + 0.5), v))
    out = np.zeros((len(rois), x.shape[1]) + size, np.float32)
    for r, (n, *box) in enumerate(rois):
        x1, y1, x2, y2 = [away(v * scale) for v in box]
        high, wide = max(y2 - y1 + 1, 1) / size[0], max(x2 - x1 + 1, 1) / size[1]
        for i in range(size[0]):
            for j in range(size[1]):
                cut = lambda v, most: min(max(v, 0), most)
                top, bottom = [cut(v + y1, x.shape[2]) for v in (math.floor(i * high), math.ceil((i + 1) * high))]
                left, right = [cut(v + x1, x.shape[3]) for v in (math.floor(j * wide), math.ceil((j + 1) * wide))]
                if bottom > top and right > left:
                    out[r, :, i, j] = x[int(n), :, top:bottom, left:right].max((1, 2))
    return out


img = f(2, 2, 6, 7)
rois = f32(0, 0, 0, 5, 4, 1, 1, 2, 6, 5, 1, 3, 3, 3, 3, 0, 4.4, 4.6, 9, 9).reshape(4, 5)
for op in ("ROIPooling", "_npx_roi_pooling"):
    row(op, [img, rois], roi_pool(img, rois, (2, 3), 1.0), pooled_size=(2, 3), spatial_scale=1.0)
    row(op, [img, rois * f32(1, 2, 2, 2, 2)], roi_pool(img, rois * f32(1, 2, 2, 2, 2), (2, 2), 0.5), pooled_size=(2, 2),
        spatial_scale=0.5)


def roi_align(x, rois, size, scale, ratio, aligned, spread=False):
    def at(p, y, x_):
        if y < -1 or y > p.shape[1] or x_ < -1 or x_ > p.shape[2]:
            return np.zeros(p.shape[0])
        y, x_ = max(y, 0), max(x_, 0)
        y0, x0 = min(int(y), p.shape[1] - 1), min(int(x_), p.shape[2] - 1)
        y1, x1 = min(y0 + 1, p.shape[1] - 1), min(x0 + 1, p.shape[2] - 1)
        if y0 == p.shape[1] - 1:
            y = y0
        if x0 == p.shape[2] - 1:
            x_ = x0
        ly, lx = y - y0, x_ - x0
        return (p[:, y0, x0] * (1 - ly) * (1 - lx) + p[:, y0, x1] * (1 - ly) * lx + p[:, y1, x0] * ly * (1 - lx) +
                p[:, y1, x1] * ly * lx)

    channels = x.shape[1] // (size[0] * size[1] if spread else 1)
    out = np.zeros((len(rois), channels) + size, np.float32)
    for r, (n, *box) in enumerate(rois):
        if n < 0:
            continue
        x1, y1, x2, y2 = [v * scale - (0.5 if aligned else 0) for v in box]
        high, wide = y2 - y1, x2 - x1
        if not aligned:
            high, wide = max(high, 1.0), max(wide, 1.0)
        high, wide = high / size[0], wide / size[1]
        gy, gx = (ratio if ratio > 0 else math.ceil(high)), (ratio if ratio > 0 else math.ceil(wide))
        for i in range(size[0]):
            for j in range(size[1]):
                p = x[int(n)].astype(np.float64)
                if spread:
                    p = p.reshape(channels, size[0], size[1], *p.shape[1:])[:, i, j]
                out[r, :, i, j] = sum(at(p, y1 + i * high + (v + 0.5) * high / gy, x1 + j * wide + (u + 0.5) * wide / gx)
                                      for v in range(gy) for u in range(gx)) / max(gy * gx, 1)
    return out


for op in ("_contrib_ROIAlign", "_npx_roi_align"):
    row(op, [img, rois], roi_align(img, rois, (2, 3), 1.0, 2, False), pooled_size=(2, 3), spatial_scale=1.0, sample_ratio=2)
    row(op, [img, rois], roi_align(img, rois, (2, 2), 0.5, -1, False), pooled_size=(2, 2), spatial_scale=0.5, sample_ratio=-1)
    row(op, [img, rois[:2]], roi_align(img, rois[:2], (2, 2), 1.0, -1, True), pooled_size=(2, 2), spatial_scale=1.0, aligned=True)
    big = f(1, 8, 6, 7)
    row(op, [big, rois[:1]], roi_align(big, rois[:1], (2, 2), 1.0, 2, False, True), pooled_size=(2, 2), spatial_scale=1.0,
        sample_ratio=2, position_sensitive=True)


def psroi(x, rois, cells, scale):
    away = lambda v: math.copysign(math.floor(abs(v) + 0.5), v)
    out = np.zeros((len(rois), x.shape[1] // cells ** 2, cells, cells), np.float32)
    for r, (n, *box) in enumerate(rois):
        x1, y1 = [away(v) * scale for v in box[:2]]
        x2, y2 = [(away(v) + 1) * scale for v in box[2:]]
        high, wide = max(y2 - y1, 0.1) / cells, max(x2 - x1, 0.1) / cells
        for i in range(cells):
            for j in range(cells):
                cut = lambda v, most: min(max(int(v), 0), most)
                top, bottom = cut(math.floor(i * high + y1), x.shape[2]), cut(math.ceil((i + 1) * high + y1), x.shape[2])
                left, right = cut(math.floor(j * wide + x1), x.shape[3]), cut(math.ceil((j + 1) * wide + x1), x.shape[3])
                if bottom > top and right > left:
                    own = x[int(n)].reshape(-1, cells, cells, *x.shape[2:])[:, i, j]
                    out[r, :, i, j] = own[:, top:bottom, left:right].mean((1, 2))
    return out


maps = f(2, 8, 6, 7)
row("_contrib_PSROIPooling", [maps, rois], psroi(maps, rois, 2, 1.0), spatial_scale=1.0, output_dim=2, pooled_size=2)
row("_contrib_PSROIPooling", [maps, rois * f32(1, 2, 2, 2, 2)], psroi(maps, rois * f32(1, 2, 2, 2, 2), 2, 0.5), spatial_scale=0.5,
    output_dim=2, pooled_size=2, group_size=2)


def correlation(p, q, kernel, most, s1, s2, pad, multiply):
    p, q = [np.pad(v, ((0, 0), (0, 0), (pad, pad), (pad, pad))) for v in (p, q)]
    r, border = most // s2, most + kernel // 2
    high, wide = [math.ceil((n - 2 * border) / s1) for n in p.shape[2:]]
    out = np.zeros((len(p), (2 * r + 1) ** 2, high, wide), np.float32)
    for c_ in range(out.shape[1]):
        dy, dx_ = (c_ // (2 * r + 1) - r) * s2, (c_ % (2 * r + 1) - r) * s2
        for i in range(high):
            for j in range(wide):
                y_, x_ = i * s1 + most, j * s1 + most
                u, v = p[:, :, y_:y_ + kernel, x_:x_ + kernel], q[:, :, y_ + dy:y_ + dy + kernel, x_ + dx_:x_ + dx_ + kernel]
                out[:, c_, i, j] = (u * v if multiply else np.abs(u - v)).mean((1, 2, 3))
    return out


p, q = f(2, 2, 5, 6), f(2, 2, 5, 6)
row("Correlation", [p, q], correlation(p, q, 1, 1, 1, 1, 0, True))
row("Correlation", [p, q], correlation(p, q, 3, 2, 2, 2, 2, True), kernel_size=3, max_displacement=2, stride1=2, stride2=2, pad_size=2)
row("Correlation", [p, q], correlation(p, q, 1, 1, 1, 1, 1, False), pad_size=1, is_multiply=False)


def deform(x, off, w, stride, pad, dil, groups, dg, mask=None, bias=None):
    n, ch, H, W = x.shape
    o, cg, kh, kw = w.shape
    oh, ow = off.shape[2:]
    y = np.zeros((n, o, oh, ow))

    def at(p, v, u):
        r = 0.0
        if v <= -1 or v >= H or u <= -1 or u >= W:
            return 0.0
        v0, u0 = math.floor(v), math.floor(u)
        for yy, wy in ((v0, v0 + 1 - v), (v0 + 1, v - v0)):
            for xx, wx in ((u0, u0 + 1 - u), (u0 + 1, u - u0)):
                if 0 <= yy < H and 0 <= xx < W:
                    r += p[yy, xx] * wy * wx
        return r
    for b_ in range(n):
        for i in range(oh):
            for j in range(ow):
                cols = np.zeros((ch, kh, kw))
                for c_ in range(ch):
                    g_ = c_ // (ch // dg)
                    for r in range(kh):
                        for s_ in range(kw):
                            k = 2 * ((g_ * kh + r) * kw + s_)
                            v = i * stride - pad + r * dil + off[b_, k, i, j]
                            u = j * stride - pad + s_ * dil + off[b_, k + 1, i, j]
                            m_ = 1 if mask is None else mask[b_, (g_ * kh + r) * kw + s_, i, j]
                            cols[c_, r, s_] = at(x[b_, c_], v, u) * m_
                for o_ in range(o):
                    g_ = o_ // (o // groups)
                    y[b_, o_, i, j] = (w[o_] * cols[g_ * cg:(g_ + 1) * cg]).sum() + (bias[o_] if bias is not None else 0)
    return as32(y)


dx, dw, db = f(1, 2, 4, 4), f(2, 2, 2, 2), f(2)
off1, off2 = f(1, 8, 3, 3), f(1, 16, 5, 5)
for op in ("_contrib_DeformableConvolution", "_npx_deformable_convolution"):
    row(op, [dx, off1, dw, db], deform(dx, off1, dw, 1, 0, 1, 1, 1, None, db), kernel=(2, 2), num_filter=2)
    row(op, [dx, off2, dw[:, :1]], deform(dx, off2, dw[:, :1], 1, 1, 1, 2, 2), kernel=(2, 2), num_filter=2, pad=(1, 1), num_group=2,
        num_deformable_group=2, no_bias=True)
mk1, mk2 = pos(1, 4, 3, 3), pos(1, 8, 5, 5)
for op in ("_contrib_ModulatedDeformableConvolution", "_npx_modulated_deformable_convolution"):
    row(op, [dx, off1, mk1, dw, db], deform(dx, off1, dw, 1, 0, 1, 1, 1, mk1, db), kernel=(2, 2), num_filter=2)
    row(op, [dx, off2, mk2, dw[:, :1]], deform(dx, off2, dw[:, :1], 1, 1, 1, 2, 2, mk2), kernel=(2, 2), num_filter=2, pad=(1, 1),
        num_group=2, num_deformable_group=2, no_bias=True)
pic = rng.randint(0, 256, (3, 4, 2)).astype(np.uint8)
for p in ("_image_", "_npx__image_"):
    row(p + "to_tensor", pic, as32(pic.transpose(2, 0, 1) / 255))
    row(p + "to_tensor", pic[None], as32(pic.transpose(2, 0, 1)[None] / 255))
    row(p + "normalize", g[0], (g[0] - f32(1, 2)[:, None, None]) / f32(2, 4)[:, None, None], mean=(1.0, 2.0), std=(2.0, 4.0))
    row(p + "normalize", g, (g - 1) / np.float32(2), mean=(1.0,), std=(2.0,))
    row(p + "crop", pic, pic[1:3, 2:3], x=2, y=1, width=1, height=2)
    row(p + "crop", pic[None], pic[None, :2, 1:3], x=1, y=0, width=2, height=2)

# --- Boxes ---------------------------------------------------------------------------------------


def priors(height, width, sizes, ratios, steps=(-1, -1), offsets=(0.5, 0.5), clip=False):
    boxes = []
    for r in range(height):
        for c_ in range(width):
            cy = (r + offsets[0]) * (steps[0] if steps[0] > 0 else 1 / height)
            cx = (c_ + offsets[1]) * (steps[1] if steps[1] > 0 else 1 / width)
            for size, ratio in [(s_, 1) for s_ in sizes] + [(sizes[0], q_) for q_ in ratios[1:]]:
                w_, h_ = size * height / width * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2
                boxes.append([cx - w_, cy - h_, cx + w_, cy + h_])
    return np.clip(f32(*boxes), 0, 1)[None] if clip else f32(*boxes)[None]


for op in ("_contrib_MultiBoxPrior", "MultiBoxPrior", "_npx_multibox_prior"):
    row(op, f(1, 3, 2, 3), priors(2, 3, (0.5, 0.25), (1, 2, 0.5)), sizes=(0.5, 0.25), ratios=(1, 2, 0.5))
    row(op, f(2, 1, 3, 2), priors(3, 2, (0.9,), (1,), (0.3, 0.6), (0, 0.5), True), sizes=(0.9,), ratios=(1,), steps=(0.3, 0.6),
        offsets=(0.0, 0.5), clip=True)
    row(op, f(1, 1, 1, 1), priors(1, 1, (1,), (1,)))


def iou(p, q):
    w_ = max(0, min(p[2], q[2]) - max(p[0], q[0]))
    h_ = max(0, min(p[3], q[3]) - max(p[1], q[1]))
    area = lambda v: max(v[2] - v[0], 0) * max(v[3] - v[1], 0)
    u_ = area(p) + area(q) - w_ * h_
    return w_ * h_ / u_ if u_ > 0 else 0.0


def decode(off, anchors, var_, clip):
    out = []
    for o_, n_ in zip(off, anchors):
        aw, ah, ax, ay = n_[2] - n_[0], n_[3] - n_[1], (n_[0] + n_[2]) / 2, (n_[1] + n_[3]) / 2
        x_, y_ = o_[0] * var_[0] * aw + ax, o_[1] * var_[1] * ah + ay
        w_, h_ = math.exp(o_[2] * var_[2]) * aw / 2, math.exp(o_[3] * var_[3]) * ah / 2
        out.append([x_ - w_, y_ - h_, x_ + w_, y_ + h_])
    return np.clip(out, 0, 1) if clip else np.array(out)


def detections(prob, loc, anchors, threshold=0.01, nms=0.5, force=False, var_=(0.1, 0.1, 0.2, 0.2), clip=True):
    out = np.full((prob.shape[0], prob.shape[2], 6), -1.0)
    for n_ in range(prob.shape[0]):
        boxes = decode(loc[n_].reshape(-1, 4), anchors[0], var_, clip)
        found = []
        for i in range(prob.shape[2]):
            k = int(prob[n_, 1:, i].argmax())
            if prob[n_, 1 + k, i] >= threshold:
                found.append([k, prob[n_, 1 + k, i], *boxes[i]])
        if 0 < nms <= 1:
            found.sort(key=lambda v: -v[1])
            for i, p in enumerate(found):
                if p[0] < 0:
                    continue
                for q in found[i + 1:]:
                    if q[0] >= 0 and (force or q[0] == p[0]) and iou(p[2:], q[2:]) >= nms:
                        q[0] = -1
        for i, p in enumerate(found):
            out[n_, i] = p
    return as32(out)


prob = np.abs(f(2, 3, 6)) / 4
loc = f(2, 24)
anchors = np.concatenate([pos(1, 6, 2) / 6, 0.5 + pos(1, 6, 2) / 6], -1)
for op in ("_contrib_MultiBoxDetection", "MultiBoxDetection", "_npx_multibox_detection"):
    row(op, [prob, loc, anchors], detections(prob, loc, anchors))
    row(op, [prob, loc, anchors], detections(prob, loc, anchors, 0.3, 0.2, True, (1, 1, 1, 1), False), threshold=0.3,
        nms_threshold=0.2, force_suppress=True, variances=(1.0, 1.0, 1.0, 1.0), clip=False)
    row(op, [prob, loc, anchors], detections(prob, loc, anchors, 0.2, -1), threshold=0.2, nms_threshold=-1.0)


def box_nms(x_, overlap=0.5, valid=0.0, topk=-1, start=2, score=1, ids=-1, background=-1, force=False, fin="corner",
            fout="corner"):
    out = np.full_like(x_, -1)
    def corners(v):
        v = v[start:start + 4]
        return v if fin == "corner" else [v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2]
    for n_ in range(len(x_)):
        left = [i for i in range(x_.shape[1]) if x_[n_, i, score] > valid and
                not (ids >= 0 and background >= 0 and x_[n_, i, ids] == background)]
        left.sort(key=lambda i: -x_[n_, i, score])
        left = left[:topk] if topk > 0 else left
        kept = []
        for i in left:
            if all(iou(corners(x_[n_, k]), corners(x_[n_, i])) <= overlap or
                   (ids >= 0 and not force and x_[n_, k, ids] != x_[n_, i, ids]) for k in kept):
                kept.append(i)
        for r, i in enumerate(kept):
            out[n_, r] = x_[n_, i]
            if fin != fout:
                c_ = corners(x_[n_, i])
                out[n_, r, start:start + 4] = c_ if fout == "corner" else [(c_[0] + c_[2]) / 2, (c_[1] + c_[3]) / 2, c_[2] - c_[0],
                                                                           c_[3] - c_[1]]
    return out


cand = np.concatenate([rng.randint(0, 3, (2, 8, 1)), rng.rand(2, 8, 1), rng.rand(2, 8, 2), 1 + rng.rand(2, 8, 2)], -1).astype(np.float32)
for op in ("_contrib_box_nms", "_contrib_box_non_maximum_suppression", "_npx_box_nms"):
    row(op, cand, box_nms(cand))
    row(op, cand, box_nms(cand, 0.4, 0.2, 5, ids=0), overlap_thresh=0.4, valid_thresh=0.2, topk=5, id_index=0)
    row(op, cand, box_nms(cand, 0.3, 0.1, ids=0, background=1, force=True), overlap_thresh=0.3, valid_thresh=0.1, id_index=0,
        background_id=1, force_suppress=True)
    row(op, cand[0], box_nms(cand[:1], 0.3, fin="center", fout="center")[0], overlap_thresh=0.3, in_format="center",
        out_format="center")
    row(op, cand, box_nms(cand, 0.3, fin="center"), overlap_thresh=0.3, in_format="center", out_format="corner")
    row(op, cand, box_nms(cand, 0.3, fout="center"), overlap_thresh=0.3, in_format="corner", out_format="center")
left, right = cand[0, :3, 2:], cand[1, :4, 2:]
center = lambda v: [v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2]
for op in ("_contrib_box_iou", "_npx_box_iou"):
    row(op, [left, right], f32(*[[iou(p, q) for q in right] for p in left]))
    row(op, [left, right], f32(*[[iou(center(p), center(q)) for q in right] for p in left]), format="center")
    row(op, [left.reshape(1, 3, 4), right[0]], f32([iou(p, right[0]) for p in left]), format="corner")
off = f(2, 3, 4)
box = lambda v: [v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2]
for op in ("_contrib_box_decode", "_npx_box_decode"):
    row(op, [off, left[None]], as32([decode(o_, left, (1, 1, 1, 1), False) for o_ in off]), format="corner")
    row(op, [off, left[None]], as32([decode(o_, [box(v) for v in left], (0.1, 0.1, 0.2, 0.2), False) for o_ in off]), std0=0.1,
        std1=0.1, std2=0.2, std3=0.2)
    cut = off.copy()
    cut[..., 2:] = np.minimum(cut[..., 2:] * 0.5, 0.3) / 0.5
    row(op, [off, left[None]], as32([decode(o_, left, (1, 1, 0.5, 0.5), False) for o_ in cut]), std2=0.5, std3=0.5, clip=0.3,
        format="corner")


def proposals(scores, deltas, info, stride, scales, ratios, before, after, least, threshold):
    out, kept_scores = [], []
    n_, _, H, W = scores.shape
    A = len(scales) * len(ratios)
    for b_ in range(n_):
        rows_ = []
        for y_ in range(H):
            for x_ in range(W):
                for r, ratio in enumerate(ratios):
                    for s_, scale in enumerate(scales):
                        k = r * len(scales) + s_
                        w1 = math.floor(math.sqrt(math.floor(stride * stride / ratio)) + 0.5)
                        h1 = math.floor(w1 * ratio + 0.5)
                        mid = (stride - 1) / 2
                        hw, hh = (w1 * scale - 1) / 2, (h1 * scale - 1) / 2
                        x1, y1, x2, y2 = x_ * stride + mid - hw, y_ * stride + mid - hh, x_ * stride + mid + hw, y_ * stride + mid + hh
                        w_, h_ = x2 - x1 + 1, y2 - y1 + 1
                        cx, cy = x1 + 0.5 * (w_ - 1), y1 + 0.5 * (h_ - 1)
                        d_ = deltas[b_, 4 * k:4 * k + 4, y_, x_]
                        cx, cy, pw, ph = d_[0] * w_ + cx, d_[1] * h_ + cy, math.exp(d_[2]) * w_, math.exp(d_[3]) * h_
                        p = [cx - 0.5 * (pw - 1), cy - 0.5 * (ph - 1), cx + 0.5 * (pw - 1), cy + 0.5 * (ph - 1)]
                        high, wide = info[b_, 0], info[b_, 1]
                        p = [max(min(v, (wide, high)[i % 2] - 1), 0) for i, v in enumerate(p)]
                        score = scores[b_, A + k, y_, x_]
                        if y_ >= int(high / stride) or x_ >= int(wide / stride):
                            score = -1
                        size = least * info[b_, 2]
                        if p[2] - p[0] + 1 < size or p[3] - p[1] + 1 < size:
                            p = [p[0] - size / 2, p[1] - size / 2, p[2] + size / 2, p[3] + size / 2]
                            score = -1
                        rows_.append(p + [score])
        rows_.sort(key=lambda v: -v[4])
        rows_ = rows_[:before]
        area = lambda v: (v[2] - v[0] + 1) * (v[3] - v[1] + 1)
        kept = []
        for p in rows_:
            def over(q):
                w_ = max(0, min(p[2], q[2]) - max(p[0], q[0]) + 1)
                h_ = max(0, min(p[3], q[3]) - max(p[1], q[1]) + 1)
                return w_ * h_ / (area(p) + area(q) - w_ * h_)
            if all(over(q) <= threshold for q in kept) and len(kept) < after:
                kept.append(p)
        for i in range(after):
            p = kept[i % len(kept)]
            out.append([b_] + p[:4])
            kept_scores.append([p[4]])
    return [f32(*out), f32(*kept_scores)]


sc, dl, inf_ = np.abs(f(1, 8, 3, 4)), f(1, 16, 3, 4) / 4, f32(24, 30, 1).reshape(1, 3)
for op in ("_contrib_Proposal", "_contrib_MultiProposal", "Proposal"):
    attrs = dict(feature_stride=8, scales=(1, 2), ratios=(0.5, 1), rpn_pre_nms_top_n=20, rpn_post_nms_top_n=6, rpn_min_size=4)
    row(op, [sc, dl, inf_], proposals(sc, dl, inf_, 8, (1, 2), (0.5, 1), 20, 6, 4, 0.7), **attrs)
    attrs.update(threshold=0.3, output_score=True, rpn_min_size=8, rpn_post_nms_top_n=30)
    row(op, [sc, dl, inf_], proposals(sc, dl, inf_, 8, (1, 2), (0.5, 1), 20, 30, 8, 0.3), **attrs)

# --- Quantized -----------------------------------------------------------------------------------

i8 = lambda *v: np.array(v, np.int8)
u8 = lambda *v: np.array(v, np.uint8)


def to_int8(x_, low, high):
    r = max(abs(low), abs(high))
    q_ = np.sign(x_) * np.floor(np.minimum(np.abs(x_) * (127 / r) + 0.5, 127))
    return [q_.astype(np.int8), f32(-r), f32(r)]


def to_uint8(x_, low, high):
    return [np.clip(np.floor((x_ - low) * (255 / (high - low)) + 0.5), 0, 255).astype(np.uint8), f32(low), f32(high)]


qx = f32(1.03, -1.4, 5, 0, 0.3).reshape(5)
for op in ("_contrib_quantize_v2", "_npx_contrib_quantize_v2"):
    row(op, qx, to_int8(qx, -2, 1), min_calib_range=-2.0, max_calib_range=1.0)
    row(op, qx, to_int8(qx, -1.4, 5), out_type="int8")
    row(op, np.abs(qx), to_uint8(np.abs(qx), 0, 2.5), min_calib_range=0.0, max_calib_range=2.5, out_type="auto")
    row(op, np.abs(qx), to_uint8(np.abs(qx), 0, 2.5), min_calib_range=0.0, max_calib_range=2.5, out_type="uint8")
row("_contrib_quantize", [qx, f32(-2), f32(1)], to_int8(qx, -2, 1), out_type="int8")
row("_contrib_quantize", [qx, f32(-1.5), f32(2)], to_uint8(qx, -1.5, 2))
for op in ("_contrib_dequantize", "_npx_contrib_dequantize"):
    row(op, [i8(127, -127, 3), f32(-2), f32(1)], f32(2, -2, 6 / 127), out_type="float32")
    row(op, [u8(255, 0, 51), f32(0), f32(3)], f32(3, 0, 0.6))
    row(op, [i32(2147483647, -1000000), f32(-4), f32(4)], f32(4, -4e6 / 2147483647))
row("_contrib_requantize", [i32(2147483647, -1000000000), f32(-2), f32(2)], to_int8(f32(2, -2e9 / 2147483647), -1, 1),
    min_calib_range=-1.0, max_calib_range=1.0)
row("_contrib_requantize", [i32(1000000000, -300000000), f32(-2), f32(2)],
    to_int8(f32(2e9 / 2147483647, -6e8 / 2147483647), -6e8 / 2147483647, 2e9 / 2147483647))
# Steps are those of the ranges: 1 for int8 of -127 .. 127, so that a product's step is 1.
wide = [f32(-127), f32(127)]
both = wide + wide
top = [f32(-2147483647), f32(2147483647)]
ia, iw, ib = rng.randint(-9, 9, (2, 3)).astype(np.int8), rng.randint(-9, 9, (4, 3)).astype(np.int8), rng.randint(-9, 9, 4).astype(np.int8)
row("_contrib_quantized_fully_connected", [ia, iw] + both, [ia.astype(np.int32) @ iw.T.astype(np.int32)] + top, num_hidden=4,
    no_bias=True)
row("_contrib_quantized_fully_connected", [ia, iw, ib] + both + wide,
    [ia.astype(np.int32) @ iw.T.astype(np.int32) + ib.astype(np.int32)] + top, num_hidden=4)
ix, ik = rng.randint(-9, 9, (1, 2, 4, 4)).astype(np.int8), rng.randint(-9, 9, (3, 2, 3, 3)).astype(np.int8)
iy = F.conv2d(T(ix.astype(np.float32)), T(ik.astype(np.float32)), None, 2, 1).numpy().astype(np.int32)
row("_contrib_quantized_conv", [ix, ik] + both, [iy] + top, kernel=(3, 3), num_filter=3, stride=(2, 2), pad=(1, 1), no_bias=True)
row("_contrib_quantized_conv", [ix, ik, ib[:3]] + both + wide, [iy + ib[:3].astype(np.int32)[None, :, None, None]] + top,
    kernel=(3, 3), num_filter=3, stride=(2, 2), pad=(1, 1))
unit_range = [f32(-1), f32(1)]
row("_contrib_quantized_pooling", [ix] + unit_range, [ix.reshape(1, 2, 2, 2, 2, 2).max((3, 5))] + unit_range, kernel=(2, 2),
    stride=(2, 2), pool_type="max")
row("_contrib_quantized_pooling", [ix] + unit_range, [ix.max((2, 3), keepdims=True)] + unit_range, kernel=(1, 1), global_pool=True)
row("_contrib_quantized_act", [ix] + unit_range, [np.maximum(ix, 0)] + unit_range, act_type="relu")
row("_contrib_quantized_act", [u8(3, 0)] + unit_range, [u8(3, 0)] + unit_range, act_type="relu")
row("_contrib_quantized_flatten", [ix] + unit_range, [ix.reshape(1, 32)] + unit_range)
row("_contrib_quantized_flatten", [u8(1, 2).reshape(2, 1, 1)] + unit_range, [u8(1, 2).reshape(2, 1)] + unit_range)
for op in ("_contrib_quantized_reshape", "_npx_quantized_reshape"):
    key = "newshape" if "npx" in op else "shape"
    row(op, [ix] + unit_range, [ix.reshape(4, 8)] + unit_range, **{key: (4, -1)})
    row(op, [u8(1, 2, 3, 4)] + unit_range, [u8(1, 2, 3, 4).reshape(2, 2)] + unit_range, **{key: (2, 2)})
for op in ("_contrib_quantized_transpose", "_npx_quantized_transpose"):
    row(op, [ix] + unit_range, [ix.transpose(0, 2, 3, 1)] + unit_range, axes=(0, 2, 3, 1))
    row(op, [ia] + unit_range, [ia.T] + unit_range, axes=(1, 0))
    row(op, [ia] + unit_range, [ia.T] + unit_range, axes=())
row("_contrib_quantized_concat", [i8(127, 3), i8(127, -2), f32(-2), f32(2), f32(-1), f32(1)],
    [i8(127, 3, 64, -1), f32(-2), f32(2)], dim=0, num_args=2)
row("_contrib_quantized_concat", [u8(255, 3), u8(255, 100), f32(0), f32(2), f32(0), f32(1)],
    [u8(255, 3, 128, 50), f32(0), f32(2)], dim=0, num_args=2)
pa, pb = i8(100, -50, 3), i8(60, 20, -3)
ra, rb = [f32(-1), f32(1)], [f32(-2), f32(2)]
total = pa / 127 + pb * 2 / 127
row("_contrib_quantized_elemwise_add", [pa, pb] + ra + rb, to_int8(total, -2, 2), min_calib_range=-2.0, max_calib_range=2.0)
row("_contrib_quantized_elemwise_add", [pa, pb] + ra + rb, as32(total), enable_float_output=True)
product = pa / 127 * pb * 2 / 127
row("_contrib_quantized_elemwise_mul", [pa, pb] + ra + rb, to_int8(product, -1, 1), min_calib_range=-1.0, max_calib_range=1.0)
row("_contrib_quantized_elemwise_mul", [pa, pb] + ra + rb, as32(product), enable_float_output=True)
row("_contrib_quantized_elemwise_mul", [pa, pb] + both, [pa.astype(np.int32) * pb.astype(np.int32)] + top)
qb = [ix, f32(2, 0.5), f32(0.1, -0.2), f32(0.3, 0.1), f32(0.5, 2), f32(-0.5), f32(0.5)]
qf = ix * 0.5 / 127
for fixed in (True, False):
    g_ = np.ones(2) if fixed else qb[1]
    y_ = (qf - qb[3][:, None, None]) / np.sqrt(qb[4][:, None, None] + 1e-3) * g_[:, None, None] + qb[2][:, None, None]
    row("_contrib_quantized_batch_norm", qb, to_int8(y_, -1, 1), min_calib_range=-1.0, max_calib_range=1.0, fix_gamma=fixed)
qt = rng.randint(-99, 99, (4, 2)).astype(np.int8)
row("_contrib_quantized_embedding", [f32(3, 0), qt] + unit_range, [qt[[3, 0]]] + unit_range, input_dim=4, output_dim=2)
row("_contrib_quantized_embedding", [i32(1, 1, 2).reshape(3, 1), qt] + unit_range, [qt[[[1], [1], [2]]]] + unit_range,
    input_dim=4, output_dim=2)

# --- Recurrent networks: parameters as cuDNN has them, all weights, then all biases --------------

torch.manual_seed(5)
for mode, make, extra in [("lstm", torch.nn.LSTM, {}), ("gru", torch.nn.GRU, {}), ("rnn_tanh", torch.nn.RNN, {}),
                          ("rnn_relu", torch.nn.RNN, {"nonlinearity": "relu"})]:
    for layers, two in ((1, False), (2, True)):
        net = make(3, 2, layers, bidirectional=two, **extra)
        seq, states = T(f(4, 2, 3)), [T(f(layers * (1 + two), 2, 2)) for _ in range(2 if mode == "lstm" else 1)]
        out, last = net(seq, tuple(states) if mode == "lstm" else states[0])
        names = [n_ for n_, _ in net.named_parameters()]
        flat = torch.cat([p.flatten() for k in ("weight", "bias") for n_, p in net.named_parameters() if n_.startswith(k)])
        outs = [out] + (list(last) if mode == "lstm" else [last])
        for op in ("RNN", "_npx_rnn"):
            attrs = dict(mode=mode, state_size=2, num_layers=layers, bidirectional=two)
            row(op, [seq, flat] + states, outs, state_outputs=True, p=0.0, **attrs)
            row(op, [seq, flat] + states, out, **attrs)

# --- Subgraphs -----------------------------------------------------------------------------------

graph = Raw('[graph f(x: float32[2]) -> (r) {\\nn = mxnet._mul_scalar(x) { scalar = "2" }\\n'
            'r = mxnet.Activation(n) { act_type = "relu" } }]')


def graph_row(op, ins, outs, subgraphs, **attrs):
    rows.add(op, listed(ins), attributes({**{k: str(v) for k, v in attrs.items()}, "subgraphs": subgraphs}), listed(outs))


for op in ("_CachedOp", "_FusedOp", "_sg_mkldnn_conv", "_sg_onednn_conv", "_sg_mkldnn_fully_connected",
           "_sg_onednn_fully_connected", "_sg_mkldnn_batch_norm", "_sg_onednn_batch_norm", "_sg_mkldnn_batch_dot",
           "_sg_onednn_batch_dot", "_sg_mkldnn_selfatt_qk", "_sg_onednn_selfatt_qk", "_sg_mkldnn_selfatt_valatt",
           "_sg_onednn_selfatt_valatt"):
    graph_row(op, f32(1, -2), f32(2, 0), graph)
    graph_row(op, f32(-0.5, 3), f32(0, 6), graph, with_relu="true")
step = Raw('[graph f(x: float32[2], s: float32[2]) -> (o, n) {\\nn = mxnet.elemwise_add(x, s)\\n'
           'o = mxnet._mul_scalar(n) { scalar = "10" } }]')
loop = Raw('[graph c(i: float32[1]) -> (t) { t = mxnet._lesser_scalar(i) { scalar = "3" } }, '
           'graph b(i: float32[1]) -> (o, n) {\\no = mxnet._mul_scalar(i) { scalar = "10" }\\n'
           'n = mxnet._plus_scalar(i) { scalar = "1" } }]')
branch = Raw('[graph c(p: float32[1]) -> (t) { t = mxnet._greater_scalar(p) { scalar = "0" } }, '
             'graph y(v: float32[1]) -> (o) { o = mxnet._plus_scalar(v) { scalar = "1" } }, '
             'graph n(v: float32[1]) -> (o) { o = mxnet._minus_scalar(v) { scalar = "1" } }]')
for op in ("_foreach", "_npx_foreach"):
    places = dict(num_outputs=2, num_out_data=1, in_state_locs="(1,)", in_data_locs="(0,)")
    graph_row(op, [f32(1, 2, 3, 4).reshape(2, 2), f32(0, 0)], [f32(10, 20, 40, 60).reshape(2, 2), f32(4, 6)], step,
              remain_locs="()", **places)
    graph_row(op, [f32(1, 2).reshape(1, 2), f32(5, 5)], [f32(60, 70).reshape(1, 2), f32(6, 7)], step, **places)
for op in ("_while_loop", "_npx_while_loop"):
    places = dict(num_outputs=2, num_out_data=1, cond_input_locs="(0,)", func_input_locs="(0,)", func_var_locs="(0,)")
    graph_row(op, f32(1), [f32(10, 20, 0, 0).reshape(4, 1), f32(3)], loop, max_iterations=4, **places)
    graph_row(op, f32(0), [f32(0, 10).reshape(2, 1), f32(2)], loop, max_iterations=2, **places)
for op in ("_cond", "_npx_cond"):
    places = dict(num_outputs=1, cond_input_locs="(0,)", then_input_locs="(1,)", else_input_locs="(1,)")
    graph_row(op, [f32(2), f32(7)], f32(8), branch, **places)
    graph_row(op, [f32(-2), f32(7)], f32(6), branch, **places)
row("_sg_pow_mul_scalar", f32(1, 2, 3), f32(0.5, 2, 4.5), exponent=2, multiplier=0.5)
row("_sg_pow_mul_scalar", i32(1, 2, 3), i32(3, 24, 81), exponent=3, multiplier=3, exp_is_int=True, mul_is_int=True)


# Quantized layers: integers and their ranges in; weights that the layer quantizes itself, channel by channel.
def as_steps(v, most, count):
    return np.sign(v) * np.floor(np.minimum(np.abs(v) * count / most + 0.5, count))


def by_channel(w):
    most = np.abs(w).reshape(len(w), -1).max(1).reshape((-1,) + (1,) * (w.ndim - 1))
    return np.round(w * 127 / most) * most / 127


qr = np.random.RandomState(3)
sums = Raw('[graph c(d: int8[1,2,3,3], w: float32[2,2,2,2], b: float32[2], s: int8[1,2,2,2]) -> (r) {\\n'
           'n = mxnet.Convolution(d, w, b) { kernel = "(2, 2)", num_filter = "2" }\\n'
           'm = mxnet.elemwise_add(n, s)\\nr = mxnet.Activation(m) { act_type = "relu" } }]')
plain = Raw('[graph c(d: uint8[1,2,3,3], w: float32[2,2,2,2]) -> (r) {\\n'
            'r = mxnet.Convolution(d, w) { kernel = "(2, 2)", num_filter = "2", no_bias = "True" } }]')
dense = Raw('[graph d(d: int8[2,3], w: int8[2,3], b: int8[2]) -> (r) {\\n'
            'r = mxnet.FullyConnected(d, w, b) { num_hidden = "2" } }]')
channels = Raw('[graph d(d: uint8[2,3], w: float32[2,3]) -> (r) {\\n'
               'r = mxnet.FullyConnected(d, w) { num_hidden = "2", no_bias = "True" } }]')
for name in ("mkldnn", "onednn"):
    w, b = qr.uniform(-1, 1, (2, 2, 2, 2)).astype(np.float32), qr.uniform(-1, 1, 2).astype(np.float32)
    d, s = qr.randint(-127, 128, (1, 2, 3, 3)).astype(np.int8), qr.randint(-127, 128, (1, 2, 2, 2)).astype(np.int8)
    y = F.conv2d(T(d * np.float32(2 / 127)), T(by_channel(w)), T(b)).numpy() + s * np.float32(3 / 127)
    graph_row("_sg_%s_conv" % name, [d, w, b, s, f32(-2), f32(1.5), f32(-3), f32(3)],
              [as_steps(np.maximum(y, 0), 4.0, 255).astype(np.uint8), f32(0), f32(4)], sums, quantized="true", with_sum="true",
              with_postsum_act="true", min_calib_range="0.0", max_calib_range="4.0")
    d = qr.randint(0, 256, (1, 2, 3, 3)).astype(np.uint8)
    y = F.conv2d(T(d * np.float32(2 / 255)), T(by_channel(w))).numpy()
    graph_row("_sg_%s_conv" % name, [d, w, f32(0), f32(2)], [as_steps(y, 5.0, 127).astype(np.int8), f32(-5), f32(5)], plain,
              quantized="true", min_calib_range="-4.5", max_calib_range="5.0")
    d, w = qr.randint(-127, 128, (2, 3)).astype(np.int8), qr.randint(-127, 128, (2, 3)).astype(np.int8)
    b = qr.randint(-127, 128, 2).astype(np.int8)
    y = d * (2 / 127) @ (w * (1 / 127)).T + b * (3 / 127)
    graph_row("_sg_%s_fully_connected" % name, [d, w, b, f32(-2), f32(2), f32(-1), f32(1), f32(-3), f32(3)], as32(y), dense,
              quantized="True", enable_float_output="True")
    d, w = qr.randint(0, 256, (2, 3)).astype(np.uint8), qr.uniform(-1, 1, (2, 3)).astype(np.float32)
    y = d * (2 / 255) @ by_channel(w).T
    graph_row("_sg_%s_fully_connected" % name, [d, w, f32(0), f32(2)], [as_steps(y, 3.0, 127).astype(np.int8), f32(-3), f32(3)],
              channels, quantized="True", channel_wise_quantize="True", min_calib_range="-3", max_calib_range="2")
