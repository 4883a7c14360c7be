"""Writes tests/data/nnvm/rows.txt: operators of NNVM on small constants, and what they give by NNVM's
documentation and TOPI's kernels, computed with NumPy and PyTorch.

    PYTHONPATH=tests/handlers python3 tests/handlers/nnvm/rows.py tests/data/nnvm/rows.txt
"""
import sys

from symbol_rows import *

# --- By element ----------------------------------------------------------------------------------

for op, fn, xs in [
        ("abs", np.abs, [f(3), f32(-inf, nan)]), ("atan", np.arctan, [f(3), f32(inf, -inf)]),
        ("ceil", np.ceil, [f32(-2.1, 1.5, 2), f32(-0.5, inf)]), ("cos", np.cos, [f(3), 30 * f(2)]),
        ("copy", lambda x: x, [f(3), f32(nan, inf)]), ("block_grad", lambda x: x, [f(3), f(2, 2)]),
        ("exp", np.exp, [f(3), f32(-inf, 0)]), ("floor", np.floor, [f32(-2.1, 1.5, 2), f32(-0.5, inf)]),
        ("log", np.log, [pos(3), f32(0, inf)]), ("log2", np.log2, [pos(3), f32(8, 0.25)]),
        ("negative", np.negative, [f(3), f32(inf, 0)]), ("relu", lambda x: np.maximum(x, 0), [f(3), f32(-inf, inf)]),
        ("round", lambda x: np.trunc(x + np.copysign(np.float32(0.5), x)), [f32(0.5, -2.5, 1.2), f32(3.5, -0.4)]),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), [f(3), f32(-30, 30)]), ("sign", np.sign, [f(3), f32(-inf, 0)]),
        ("sin", np.sin, [f(3), 30 * f(2)]), ("sqrt", np.sqrt, [pos(3), f32(0, inf)]), ("tan", np.tan, [unit(3), f(2)]),
        ("tanh", np.tanh, [f(3), f32(-20, 20)]), ("trunc", np.trunc, [f32(-2.5, 2.5, 0.9), f32(-0.5, inf)]),
        ("zeros_like", np.zeros_like, [f(2, 2), f32(nan)]), ("ones_like", np.ones_like, [f(2, 2), f32(nan)]),
        ("logical_not", lambda x: (x == 0), [f32(0, 1, -2), f32(0.5, 0)])]:
    for x in xs:
        with np.errstate(all="ignore"):
            row(op, x, as32(fn(x)))
row("zeros_like", i32(3, 4), i32(0, 0))
row("ones_like", i32(3, 4), i32(1, 1))
row("full_like", i32(3, 4), i32(7, 7), fill_value=7)
row("full_like", f(2, 2), np.full((2, 2), 2.5, np.float32), fill_value=2.5)
for op, v in (("zeros", 0), ("ones", 1)):
    row(op, [], np.full((2, 3), v, np.float32), shape=(2, 3))
    row(op, [], np.full(2, v, np.int32), shape=(2,), dtype="int32")
row("full", [], np.full((2, 3), 1.5, np.float32), shape=(2, 3), fill_value=1.5)
row("full", [], np.full(2, -7, np.int64), shape=(2,), fill_value=-7, dtype="int64")
x = f(2, 4)
row("dropout", x, x)
row("dropout", x, x, rate=0.9)
row("leaky_relu", x, F.leaky_relu(T(x), 0.25))
row("leaky_relu", x, F.leaky_relu(T(x), 0.1), alpha=0.1)
slopes = f32(0.1, 0.5, -1)
y = f(2, 3, 2)
row("prelu", [y, slopes], F.prelu(T(y), T(slopes)))
row("prelu", [y.swapaxes(1, 2), slopes], F.prelu(T(y), T(slopes)).transpose(1, 2), axis=2)
row("clip", 3 * x, np.clip(3 * x, -1, 2), a_min=-1.0, a_max=2.0)
row("clip", f32(-inf, inf, 0.5), f32(0, 1, 0.5), a_min=0.0, a_max=1.0)
row("cast", f32(0.9, -1.9), i32(0, -1), dtype="int32")
row("cast", i32(3, -1), f32(3, -1), dtype="float32")
row("softmax", x, F.softmax(T(x), -1))
row("softmax", y, F.softmax(T(y), 1), axis=1)
row("log_softmax", x, F.log_softmax(T(x), -1))
row("log_softmax", y, F.log_softmax(T(y), 1), axis=1)
a, b, c = f(2, 3), f(2, 3), f(1, 3)
fmod = lambda p, q: np.fmod(p, q)
number = lambda fn: (lambda p, q: fn(p, q).astype(p.dtype))
for names, broadcast, fn in [
        ("elemwise_add __add_symbol__", "broadcast_add", np.add), ("elemwise_sub __sub_symbol__", "broadcast_sub", np.subtract),
        ("elemwise_mul __mul_symbol__", "broadcast_mul", np.multiply), ("elemwise_div __div_symbol__", "broadcast_div", np.divide),
        ("elemwise_mod", "broadcast_mod", fmod), ("elemwise_pow", "broadcast_pow", lambda p, q: np.power(np.abs(p), q)),
        ("", "broadcast_max", np.maximum), ("", "broadcast_min", np.minimum), ("", "broadcast_equal", number(np.equal)),
        ("", "broadcast_not_equal", number(np.not_equal)), ("greater", "broadcast_greater", number(np.greater)),
        ("", "broadcast_greater_equal", number(np.greater_equal)), ("less", "broadcast_less", number(np.less)),
        ("", "broadcast_less_equal", number(np.less_equal)), ("logical_and", "", number(np.logical_and)),
        ("logical_or", "", number(np.logical_or))]:
    p = np.abs(a) if "pow" in broadcast else a
    z = b.copy()
    if "equal" in broadcast or "logical" in names:
        z[0] = p[0] if "equal" in broadcast else 0
        p = p * f32(1, 0, 1) if "logical" in names else p
    row(names + " " + broadcast, [p, z], fn(p, z))
    row(broadcast, [p[:, :1], c], fn(p[:, :1], c))
    row(names, [p[0], z[1]], fn(p[0], z[1]))
row("broadcast_mod elemwise_mod", [f32(5, -5, 5), f32(3, 3, -3)], f32(2, -2, 2))
row("broadcast_mod", [i32(5, -5, 5), i32(3, 3, -3)], i32(2, -2, 2))
row("elemwise_div broadcast_div", [i32(7, -7), i32(2, 2)], i32(3, -3))
row("elemwise_sum", [a, b, a], a + b + a, num_args=3)
row("elemwise_sum", [a], a, num_args=1)
for op, fn in [("__add_scalar__", lambda p, s: p + s), ("__sub_scalar__", lambda p, s: p - s),
               ("__rsub_scalar__", lambda p, s: s - p), ("__mul_scalar__", lambda p, s: p * s),
               ("__div_scalar__", lambda p, s: p / s), ("__rdiv_scalar__", lambda p, s: s / p),
               ("__max_scalar__", np.maximum), ("__min_scalar__", np.minimum),
               ("__pow_scalar__", lambda p, s: np.power(np.abs(p), s)), ("__rpow_scalar__", lambda p, s: np.power(np.abs(s), p))]:
    for s in (0.75, 2):
        p = np.abs(a) if op == "__pow_scalar__" else a
        row(op, p, as32(fn(p, s)), scalar=s)
test = f32(0, 1, 2, 0, 0, 1).reshape(2, 3)
row("where", [test, a, b], np.where(test, a, b))
row("where", [f32(1, 0), a, b], np.stack([a[0], b[1]]))

# --- Layers --------------------------------------------------------------------------------------

x, w, bias = f(2, 4, 6, 5), f(6, 2, 3, 2), f(6)
row("conv2d", [x, w, bias], F.conv2d(T(x), T(w), T(bias), (2, 1), (1, 0), (1, 2), 2), channels=6, kernel_size="[3L, 2L]",
    strides="[2L, 1L]", padding="[1L, 0L]", dilation="(1, 2)", groups=2)
row("conv2d", [x[:, :2].transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0)], F.conv2d(T(x[:, :2]), T(w)).permute(0, 2, 3, 1),
    channels=6, kernel_size=(3, 2), layout="NHWC", kernel_layout="HWIO", use_bias=False)
row("conv2d", [x[:, :2], w], F.conv2d(F.pad(T(x[:, :2]), (1, 2, 0, 1)), T(w)), channels=6, kernel_size=(3, 2), padding=(0, 1, 1, 2),
    use_bias=False)
v = f(4, 3, 3, 2)
row("conv2d_transpose", [x, v, bias[:3]], F.conv_transpose2d(T(x), T(v), T(bias[:3]), (2, 3), (1, 0), (1, 2)), channels=3,
    kernel_size=(3, 2), strides=(2, 3), padding=(1, 0), output_padding=(1, 2))
row("conv2d_transpose", [x, v[:, :1]], F.conv_transpose2d(T(x), T(v[:, :1]), None, 1, 0, 0, 4), channels=4, kernel_size=(3, 2),
    groups=4, use_bias=False)
row("max_pool2d", x, F.max_pool2d(T(x), (3, 2), (2, 1), (1, 0)), pool_size=(3, 2), strides=(2, 1), padding=(1, 0))
row("max_pool2d", x.transpose(0, 2, 3, 1), F.max_pool2d(T(x), 2, 2, ceil_mode=True).permute(0, 2, 3, 1), pool_size=(2, 2),
    strides=(2, 2), ceil_mode=True, layout="NHWC")
row("avg_pool2d", x, F.avg_pool2d(T(x), 3, 2, 1, count_include_pad=False), pool_size=(3, 3), strides=(2, 2), padding=(1, 1))
row("avg_pool2d", x, F.avg_pool2d(T(x), 3, 2, 1), pool_size=(3, 3), strides=(2, 2), padding=(1, 1), count_include_pad=True)
row("avg_pool2d", x, F.avg_pool2d(T(x), 2, 2, ceil_mode=True, count_include_pad=False), pool_size=(2, 2), strides=(2, 2),
    ceil_mode=True)
# With the padding counted a window is as large as it is, wherever it stands.
row("avg_pool2d", x, F.avg_pool2d(F.pad(T(x), (0, 1, 0, 0)), 2, 2), pool_size=(2, 2), strides=(2, 2), ceil_mode=True,
    count_include_pad=True)
for op, fn in (("global_avg_pool2d", np.mean), ("global_max_pool2d", np.max)):
    row(op, x, fn(x, (2, 3), keepdims=True))
    row(op, x.transpose(0, 2, 3, 1), fn(x, (2, 3), keepdims=True).transpose(0, 2, 3, 1), layout="NHWC")
d, dw, db = f(2, 3), f(4, 3), f(4)
row("dense", [d, dw, db], d @ dw.T + db, units=4)
row("dense", [d, dw], d @ dw.T, units=4, use_bias=False)
m = f(3, 4)
row("matmul", [d, m], d @ m)
row("matmul", [d.T, m.T], d @ m, transpose_a=True, transpose_b=True)
gamma, beta, mean, var = f(3), f(3), f(3), pos(3)
y = f(2, 3, 4)
along = lambda q: q[None, :, None]
norm = lambda eps, g, h: as32((y - along(mean)) / np.sqrt(along(var) + eps) * along(g) + along(h))
row("batch_norm", [y, gamma, beta, mean, var], norm(1e-5, gamma, beta))
row("batch_norm", [y, gamma, beta, mean, var], norm(0.1, 1 + 0 * gamma, beta), epsilon=0.1, scale=False)
row("batch_norm", [y.swapaxes(1, 2), gamma, beta, mean, var], norm(1e-5, gamma, 0 * beta).swapaxes(1, 2), center=False, axis=2)
y = f(2, 5, 2, 2)
row("lrn", y, F.local_response_norm(T(y), 5, 1e-4, 0.75, 2.0))
row("lrn", y, F.local_response_norm(T(y), 3, 0.5, 0.6, 1.5), size=3, axis=1, alpha=0.5, beta=0.6, bias=1.5)
for eps, axis in ((1e-10, (1,)), (50.0, (1, 2))):
    row("l2_normalize", y, as32(y / np.sqrt(np.maximum((y * y).sum(axis, keepdims=True), eps))), eps=eps, axis=axis)


def resize(x, height, width, near=False, corners=False):
    out = np.zeros(x.shape[:2] + (height, width), np.float32)
    ratio = lambda n, to: (n - 1) / (to - 1) if corners and to > 1 else n / to
    for i in range(height):
        for j in range(width):
            v_, u_ = i * ratio(x.shape[2], height), j * ratio(x.shape[3], width)
            v0, u0 = int(v_ + 1e-6), int(u_ + 1e-6)
            if near:
                out[:, :, i, j] = x[:, :, v0, u0]
                continue
            v1, u1, dv, du = min(v0 + 1, x.shape[2] - 1), min(u0 + 1, x.shape[3] - 1), v_ - v0, u_ - u0
            out[:, :, i, j] = ((x[:, :, v0, u0] * (1 - du) + x[:, :, v0, u1] * du) * (1 - dv) +
                               (x[:, :, v1, u0] * (1 - du) + x[:, :, v1, u1] * du) * dv)
    return out


g = f(1, 2, 3, 4)
row("upsampling", g, resize(g, 6, 8, True), scale=2)
row("upsampling", g, resize(g, 9, 12), scale=3, method="BILINEAR")
row("resize", g, resize(g, 5, 6), size=(5, 6))
row("resize", g, resize(g, 5, 2, False, True), size=(5, 2), method="BILINEAR", align_corners=True)
row("resize", g, resize(g, 2, 7, True), size=(2, 7), method="NEAREST_NEIGHBOR")

# --- Shapes --------------------------------------------------------------------------------------

d = f(2, 3, 4)
for shape, to in [((4, 0, 2), (4, 3, 2)), ((2, -1), (2, 12)), ((-2,), (2, 3, 4)), ((-3, 4), (6, 4)),
                  ((-4, 1, 2, -2), (1, 2, 3, 4)), ((0, -3), (2, 12))]:
    row("reshape", d, d.reshape(to), shape=shape)
row("reshape_like", [d, f(6, 4)], d.reshape(6, 4))
row("reshape_like", [f32(1, 2), f(1, 2)], f32(1, 2).reshape(1, 2))
row("flatten", d, d.reshape(2, 12))
row("flatten", f32(1, 2), f32(1, 2).reshape(2, 1))
row("transpose", d, d.T)
row("transpose", d, d.transpose(1, 2, 0), axes="[1L, 2L, 0L]")
row("expand_dims", d, d[:, None], axis=1)
row("expand_dims", d, d[..., None], axis=-1)
row("expand_dims", d, d[:, None, None], axis=1, num_newaxis=2)
row("squeeze", d[:1, :, :1], d[0, :, 0])
row("squeeze", d[:1, :, :1], d[0, :, :1], axis=(0,))
row("squeeze", d[:1, :, :1], d[:1, :, 0], axis=(-1,))
row("squeeze", f32(3), f32(3))
row("broadcast_to", d[:, :1], np.broadcast_to(d[:, :1], (2, 3, 4)), shape=(0, 3, 4))
row("broadcast_to", f32(1, 2), np.broadcast_to(f32(1, 2), (3, 2)), shape=(3, 2))
row("concatenate", [d, d[:, :1]], np.concatenate([d, d[:, :1]], 1))
row("concatenate", [d, d, d], np.concatenate([d, d, d], -1), axis=-1)
row("split", d, list(np.split(d, 3, 1)), indices_or_sections=3)
row("split", d, list(np.split(d, [1, 3], 2)), indices_or_sections=(1, 3), axis=-1)
row("strided_slice", d, d[:, 1:3], begin="[0L, 1L]", end="[2L, 3L]")
row("strided_slice", d, d[-1:, ::-1, 3:0:-2], begin=(-1, 2, 3), end=(2, -4, 0), stride=(1, -1, -2))
row("slice_like", [d, f(1, 2, 3)], d[:1, :2, :3])
row("slice_like", [d, f(1, 2, 3)], d[:, :2, :3], axis=(1, -1))
row("flip", d, d[::-1])
row("flip", d, d[:, :, ::-1], axis=-1)
row("take", [d, i32(2, 0, 9, -1)], d.flatten()[[2, 0, 9, 0]])
row("take", [d, i32(1, 0, 5, -1).reshape(2, 2)], d[:, [[1, 0], [2, 0]]], axis=1)
row("take", [d, i32(1, -1)], d[..., [1, 3]], axis=-1, mode="wrap")
row("gather_nd", [d, i32(1, 0, 2, 1).reshape(2, 2)], d[[1, 0], [2, 1]])
row("gather_nd", [d, i32(1, 0).reshape(1, 2)], d[[1, 0]])
row("pad", d[0], np.pad(d[0], ((1, 2), (0, 1))), pad_width="((1, 2), (0, 1))")
row("pad", d[0], np.pad(d[0], ((0, 0), (2, 0)), constant_values=-1.5), pad_width="[[0L, 0L], [2L, 0L]]", pad_value=-1.5)
for op, fn in (("sum", np.sum), ("mean", np.mean), ("max", np.max), ("min", np.min), ("prod", np.prod)):
    row(op, d, as32(fn(d)).reshape(1))
    row(op, d, as32(fn(d, axis=(0, 2))), axis=(0, -1))
    row(op, d, as32(fn(d, axis=1, keepdims=True)), axis=(1,), keepdims=True)
    row(op, d, as32(fn(d, axis=(0, 2))), axis=1, exclude=True)
    row(op, d, as32(fn(d, keepdims=True)), keepdims=True)
    if op != "mean":
        row(op, i32(3, -1, 4), fn(i32(3, -1, 4)).astype(np.int32).reshape(1))
for op, fn in (("argmax", np.argmax), ("argmin", np.argmin)):
    row(op, d, fn(d, 1).astype(np.int32), axis=1)
    row(op, d, fn(d, -1).astype(np.int32)[..., None], axis=(-1,), keepdims=True)
    row(op, d, i32(fn(d)))
    row(op, d, fn(d, 0).astype(np.float32), axis=0, dtype="float32")
    row(op, d, fn(d, 2).astype(np.int32), axis=(0, 1), exclude=True)

# --- Channels in blocks ("NCHW4c") --------------------------------------------------------------------------

def blocked(x, axis, size):  # the inner part comes last
    parts = x.reshape(x.shape[:axis] + (x.shape[axis] // size, size) + x.shape[axis + 1:])
    return np.ascontiguousarray(np.moveaxis(parts, axis + 1, -1))


x = f(1, 4, 2, 3)
for op in ("__layout_transform__", "layout_transform"):
    row(op, x, blocked(x, 1, 2), src_layout="NCHW", dst_layout="NCHW2c")
    row(op, blocked(x, 1, 2), x.transpose(0, 2, 3, 1), src_layout="NCHW2c", dst_layout="NHWC")
    row(op, blocked(x, 1, 4), blocked(x, 1, 2), src_layout="NCHW4c", dst_layout="NCHW2c")
w, bias = f(6, 4, 1, 2), f(6)
packed = blocked(blocked(w, 1, 2), 0, 3)  # OIHW2i3o
row("__layout_transform__", w, packed, src_layout="OIHW", dst_layout="OIHW2i3o")
y = np.asarray(F.conv2d(T(x), T(w), T(bias), padding=(1, 0)))
row("_contrib_conv2d_NCHWc", [blocked(x, 1, 2), packed, bias.reshape(2, 3)], blocked(y, 1, 3), channels=6,
    kernel_size=(1, 2), padding=(1, 0), layout="NCHW2c", out_layout="NCHW3c", kernel_layout="OIHW2i3o")
row("_contrib_conv2d_NCHWc", [blocked(x, 1, 4), packed], blocked(y - bias[:, None, None], 1, 2), channels=6,
    kernel_size=(1, 2), padding=(1, 0), layout="NCHW4c", out_layout="NCHW2c", kernel_layout="OIHW2i3o", use_bias=False)
row("conv2d", [blocked(x, 1, 2), w, bias], blocked(y, 1, 2), channels=6, kernel_size=(1, 2), padding=(1, 0),
    layout="NCHW2c")
row("max_pool2d", blocked(x, 1, 2), blocked(np.asarray(F.max_pool2d(T(x), (2, 2), 1)), 1, 2), pool_size=(2, 2),
    layout="NCHW2c")
row("global_avg_pool2d", blocked(x, 1, 2), blocked(x.mean((2, 3), keepdims=True), 1, 2), layout="NCHW2c")

rows.write(sys.argv[1])
