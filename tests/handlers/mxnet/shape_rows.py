"""Rows of MXNet's reductions, orders, shapes, indices and of tensors made of nothing."""
from symbol_rows import *

# --- Reductions ----------------------------------------------------------------------------------

x = f(2, 3, 4)
keep1 = lambda y: np.asarray(y).reshape(1) if np.asarray(y).ndim == 0 else np.asarray(y)
with_nan = f(2, 3)
with_nan[0, 1] = with_nan[1, 2] = nan
for ops, fn in [("sum sum_axis", np.sum), ("mean", np.mean), ("prod", np.prod), ("max max_axis", np.max),
                ("min min_axis", np.min), ("nansum", np.nansum), ("nanprod", np.nanprod),
                ("_square_sum", lambda x, axis=None, keepdims=False: np.sum(x * x, axis=axis, keepdims=keepdims))]:
    data = with_nan if "nan" in ops else x
    row(ops, data, keep1(as32(fn(data))))
    row(ops, data, as32(fn(data, axis=-1)), axis=-1)
    row(ops, data, as32(fn(data, axis=(0, 1))) if data.ndim == 3 else keep1(as32(fn(data))), axis=(0, 1))
    row(ops, data, as32(fn(data, axis=1, keepdims=True)), axis=(1,), keepdims=True)
    others = tuple(i for i in range(data.ndim) if i != 1)
    row(ops, data, as32(fn(data, axis=others, keepdims=True)), axis=1, exclude=True, keepdims=True)
for op, v in (("sum", 4), ("max", 3), ("min", -1), ("prod", -6)):
    row(op, i32(3, -1, 2), i32(v))
row("max", f32(nan, 1, 2), f32(nan), axis=0)
n = f(2, 3)
for ops in ("norm", "_npx_norm"):
    whole = keep1 if ops == "norm" else np.asarray
    row(ops, n, whole(as32(np.sqrt((n * n).sum()))))
    row(ops, n, as32(np.abs(n).sum(1)), ord=1, axis=1)
    row(ops, n, as32(np.sqrt((n * n).sum((0, 1), keepdims=True))), ord=2, axis=(0, 1), keepdims=True)
    row(ops, n, as32(np.sqrt((n * n).sum(0))), axis=-2)
# NumPy's: sums of integers are of their type, of bools int64, means of floats.
for ops, fn in [("_np_sum _npi_sum", np.sum), ("_np_max _npi_max _np_amax", np.max),
                ("_np_min _npi_min _np_amin", np.min), ("_np_prod _npi_prod", np.prod),
                ("_npi_mean _np_mean", np.mean), ("_npi_std", np.std), ("_npi_var", np.var)]:
    row(ops, x, as32(fn(x)), axis=None)
    row(ops, x, as32(fn(x, axis=(0, -1))), axis=(0, -1))
    row(ops, x, as32(fn(x, axis=1, keepdims=True)), axis=1, keepdims=True)
    n = i32(3, -1, 4)
    moment = ops.startswith(("_npi_mean", "_npi_std", "_npi_var"))
    row(ops, n, as32(fn(n)) if moment else fn(n).astype(np.int32))
row("_npi_std", x, as32(np.std(x, axis=-1, ddof=1)), axis=-1, ddof=1)
row("_npi_var", x, as32(np.var(x, ddof=2)), ddof=2)
row("_np_sum _npi_sum", boolean(1, 0, 1), np.array(2))
row("_np_sum _npi_sum", i32(1, 2), np.array(3.0, np.float32), dtype="float32")
row("_np_any _npi_any", f32(0, nan), np.array(True))
row("_np_any _npi_any", f32(0, 0, 1, 0).reshape(2, 2), boolean(0, 1), axis=1)
row("_np_all _npi_all", f32(0, nan), np.array(False))
row("_np_all _npi_all", i32(3, 0, 1, 2).reshape(2, 2), boolean(0, 1).reshape(2, 1), axis=(1,), keepdims=True)
m = f(2, 5)
m[1, 3] = m[1].max()
for ops, fn in [("argmax", np.argmax), ("argmin", np.argmin)]:
    row(ops, m, f32(fn(m)))
    row(ops, m, fn(m, 1).astype(np.float32), axis=-1)
    row(ops, m, fn(m, 0).astype(np.float32)[None], axis=0, keepdims=True)
    row("_npi_" + ops, m, np.array(fn(m)), axis=None)
    row("_npi_" + ops, m, fn(m, 1)[:, None], axis=-1, keepdims=True)
    row("_npi_" + ops, i32(3, 9, -9), np.array(fn(i32(3, 9, -9))), axis=0)
    row(ops, f32(2, 5, 5, 2, 2), f32(fn(f32(2, 5, 5, 2, 2))), axis=0)
row("argmax_channel", m, m.argmax(1).astype(np.float32))
row("argmax_channel", f32(1, 7, 7, 2).reshape(2, 2), f32(1, 0))
mean, var = x.mean((0, 2)), x.var((0, 2))
row("moments", x, [mean, var], axes=(0, 2))
row("moments", x, [x.mean(1, keepdims=True), x.var(1, keepdims=True)], axes=(1,), keepdims=True)
row("moments", x, [keep1(x.mean()), keep1(x.var())])
for ops in ("_np_cumsum _npi_cumsum cumsum",):
    row(ops, m, np.cumsum(m, 1), axis=1)
    row(ops, m, np.cumsum(m, 0), axis=-2)
    row(ops, m, np.cumsum(m), axis=None)
    row(ops, i32(1, 2, -4), f32(1, 3, -1), axis=0, dtype="float32")
    row(ops, i32(1, 2, -4), i32(1, 3, -1), axis=0)

# --- Order ---------------------------------------------------------------------------------------

m = np.array([[0.3, 0.2, 0.4, -1], [0.1, 0.5, 0.25, 2]], np.float32)
down, up = np.argsort(-m, 1), np.argsort(m, 1)
for op in ("topk", "_npx_topk"):
    row(op, m, down[:, :1].astype(np.float32))
    row(op, m, [np.take_along_axis(m, up[:, :3], 1), up[:, :3].astype(np.int64)], k=3, ret_typ="both", is_ascend=True,
        dtype="int64")
    row(op, m, np.take_along_axis(m, np.argsort(-m, 0)[:1], 0), k=1, axis=0, ret_typ="value")
    row(op, m, f32(0, 0, 0, 0, 0, 0, 0, 1).reshape(2, 4), axis=None, k=1, ret_typ="mask")
    row(op, m, down.astype(np.int32), k=0, axis=-1, dtype="int32")
for op in ("sort", "_npi_sort"):
    row(op, m, np.sort(m, -1))
    row(op, m, -np.sort(-m, 0), axis=0, is_ascend=False)
    row(op, m, np.sort(m, axis=None), axis=None)
    row(op, i32(3, -1, 2), i32(-1, 2, 3))
for op, t in (("argsort", np.float32), ("_npi_argsort", np.int64)):
    row(op, m, up.astype(t))
    row(op, m, np.argsort(-m, 0).astype(t), axis=0, is_ascend=False)
    row(op, m, np.argsort(m, axis=None).astype(np.int32), axis=None, dtype="int32")

# --- Picks ---------------------------------------------------------------------------------------

m = f(3, 4)
at = f32(0, 3, 1)
for op in ("pick", "_npx_pick"):
    row(op, [m, at], m[[0, 1, 2], [0, 3, 1]])
    row(op, [m, f32(-1, 9, 1)], m[[0, 1, 2], [0, 3, 1]][:, None], axis=1, keepdims=True)
    row(op, [m, f32(-1, 5, 1)], m[[0, 1, 2], [3, 1, 1]], axis=1, mode="wrap")
    row(op, [m, f32(0, 2, 1, 9)], m[[0, 2, 1, 2], [0, 1, 2, 3]], axis=0)
for op in ("batch_take", "choose_element_0index"):
    row(op, [m, i32(0, 3, 1)], m[[0, 1, 2], [0, 3, 1]])
    row(op, [m, i32(-1, 9, 2)], m[[0, 1, 2], [0, 3, 2]])
y = m.copy()
y[[0, 1, 2], [0, 3, 1]] = f32(7, 8, 9)
row("fill_element_0index", [m, f32(7, 8, 9), at], y)
row("fill_element_0index", [f32(1, 2).reshape(1, 2), f32(5), f32(1)], f32(1, 5).reshape(1, 2))
for op in ("take", "_npi_take"):
    row(op, [m, f32(2, 0, 9, -1)], m[[2, 0, 2, 0]])
    row(op, [m, i32(1, -1, 5, 4).reshape(2, 2)], m[:, [[1, 3], [1, 0]]], axis=1, mode="wrap")
    row(op, [m, i64(3, -2)], m[:, [3, 0]], axis=-1, mode="clip")
for op in ("one_hot", "_npx_one_hot"):
    row(op, i32(1, 0, 2, -1), np.eye(3, dtype=np.float32)[[1, 0, 2, 0]] * f32(1, 1, 1, 0)[:, None], depth=3)
    row(op, f32(1, 5).reshape(2, 1), i32(-1, 8, -1, -1).reshape(2, 1, 2), depth=2, on_value=8.0, off_value=-1.0,
        dtype="int32")
d = f(2, 3, 2)
for op in ("gather_nd", "_npx_gather_nd"):
    row(op, [d, i64(1, 0, 2, 1).reshape(2, 2)], d[[1, 0], [2, 1]])
    row(op, [d, f32(1, 0, 2, 0, 1, 1).reshape(3, 2)], d[[1, 0], [2, 0], [1, 1]])
    row(op, [d, i32(-1, 0).reshape(1, 2)], d[[-1, 0]])
for op in ("scatter_nd", "_npx_scatter_nd"):
    y = np.zeros((2, 3), np.float32)
    y[[1, 0], [2, 0]] = f32(5, 6)
    row(op, [f32(5, 6), i64(1, 0, 2, 0).reshape(2, 2)], y, shape=(2, 3))
    y = np.zeros((3, 2), np.int32)
    y[2] = i32(4, 5)
    row(op, [i32(4, 5).reshape(1, 2), i32(2).reshape(1, 1)], y, shape=(3, 2))
row("_backward_gather_nd", [f32(2, 3, 4), i64(1, 1, 0, 0, 0, 2).reshape(2, 3)], f32(0, 0, 4, 5, 0, 0).reshape(2, 3),
    shape=(2, 3))
row("_backward_gather_nd", [f32(2, 3), i64(1, 1).reshape(1, 2)], f32(0, 5), shape=(2,))
for op in ("_scatter_set_nd", "_npi_scatter_set_nd"):
    y = m.copy()
    y[[1, 0], [2, 0]] = f32(5, 6)
    row(op, [m, f32(5, 6), i64(1, 0, 2, 0).reshape(2, 2)], y, shape=(3, 4))
    row(op, [f32(1, 2, 3), f32(9), i32(1).reshape(1, 1)], f32(1, 9, 3), shape=(3,))
for op in ("_contrib_index_copy", "_npx_index_copy"):
    y = m.copy()
    y[[2, 0]] = m[:2] * 2
    row(op, [m, i64(2, 0), m[:2] * 2], y)
    row(op, [f32(1, 2, 3), i32(1), f32(9)], f32(1, 9, 3))
for op in ("_contrib_boolean_mask", "_npi_boolean_mask"):
    row(op, [m, f32(1, 0, 2)], m[[0, 2]])
    row(op, [m, i32(0, 1, 1, 0)], m[:, [1, 2]], axis=1)
row("_npx_nonzero", f32(0, 5, -1, 0, nan, 0).reshape(2, 3), i64(0, 1, 0, 2, 1, 1).reshape(3, 2))
row("_npx_nonzero", i32(3, 0, 2), i64(0, 2).reshape(2, 1))
for op in ("_contrib_index_array", "_npx_index_array"):
    grid = np.stack(np.meshgrid(range(2), range(3), indexing="ij"), -1)
    row(op, f(2, 3), grid.astype(np.int64))
    row(op, f(2, 3), grid[..., ::-1].astype(np.int64), axes=(-1, 0))
for op in ("_ravel_multi_index", "ravel_multi_index"):
    row(op, f32(3, 6, 6, 4, 5, 1).reshape(2, 3), f32(22, 41, 37), shape=(7, 6))
    row(op, i64(1, 0, 2, 1, 3, 0).reshape(3, 2), i64(23, 4), shape=(2, 3, 4))
    row(op, f32(3, 4).reshape(2, 1), f32(22), shape=(-1, 6))
for op in ("_unravel_index", "unravel_index"):
    row(op, f32(22, 41, 37), f32(3, 6, 6, 4, 5, 1).reshape(2, 3), shape=(7, 6))
    row(op, i64(23, 4), np.stack(np.unravel_index([23, 4], (2, 3, 4))), shape=(2, 3, 4))
    row(op, f32(22, 41), f32(3, 6, 4, 5).reshape(2, 2), shape=(-1, 6))
    row(op, i32(5, 0, 3, 1).reshape(2, 2), np.stack(np.unravel_index([[5, 0], [3, 1]], (2, 3))).astype(np.int32), shape=(2, 3))

# --- Sequences -----------------------------------------------------------------------------------

s = f(4, 2, 3)
length = f32(1, 3)
y = s.copy()
y[1:, 0] = y[3:, 1] = -1
for op in ("SequenceMask", "_npx_sequence_mask"):
    row(op, [s, length], y, use_sequence_length=True, value=-1.0)
    row(op, [s], s, value=-1.0)
    row(op, [s.swapaxes(0, 1), i32(1, 3)], np.where(y == -1, 0, y).swapaxes(0, 1), use_sequence_length=True, axis=1)
row("SequenceLast", [s, length], np.stack([s[0, 0], s[2, 1]]), use_sequence_length=True)
row("SequenceLast", [s], s[-1])
row("SequenceLast", [s.swapaxes(0, 1), length], np.stack([s[0, 0], s[2, 1]]), use_sequence_length=True, axis=1)
row("SequenceLast", [s.swapaxes(0, 1)], s[-1], axis=1)
y = s.copy()
y[:3, 1] = s[2::-1, 1]
row("SequenceReverse", [s, length], y, use_sequence_length=True)
row("SequenceReverse", [s], s[::-1])

# --- Made of nothing -----------------------------------------------------------------------------

for op, v in (("_zeros", 0), ("_npi_zeros", 0), ("_zeros_without_dtype", 0), ("_ones", 1), ("_npi_ones", 1)):
    row(op, [], np.full((2, 3), v, np.float32), shape=(2, 3))
    row(op, [], np.full(2, v, np.int64), shape=(2,), dtype="int64")
row("_npi_zeros", [], np.zeros((0, 2), np.float32), shape=(0, 2))
row("_npi_ones", [], np.array(1, np.float32), shape=())
for op in ("_full", "_npi_full"):
    row(op, [], np.full((1, 3), 2.5, np.float32), shape=(1, 3), value=2.5)
    row(op, [], np.full(2, -7, np.int32), shape=(2,), value=-7, dtype="int32")
for op in ("full_like", "_npi_full_like"):
    row(op, i32(1, 2), i32(3, 3), fill_value=3.0)
    row(op, i32(1, 2), f32(2.5, 2.5), fill_value=2.5, dtype="float32")
for op in ("_arange", "_npi_arange"):
    row(op, [], f32(1, 1.5, 2), start=1.0, stop=2.5, step=0.5)
    row(op, [], i32(5, 3, 1), start=5, stop=0, step=-2, dtype="int32")
    row(op, [], f32(0, 1, 2), start=0, stop=3)
row("_arange", [], f32(2, 2, 2, 4, 4, 4), start=2, stop=6, step=2, repeat=3)
for op in ("_contrib_arange_like", "_npx_arange_like"):
    row(op, f(2, 3), f32(0, 1, 2, 3, 4, 5).reshape(2, 3))
    row(op, f(2, 3), f32(1, 1.5, 2), axis=-1, start=1.0, step=0.5)
    row(op, f(2, 3), f32(0, 0, 1, 1, 2, 2).reshape(2, 3), repeat=2)
for op in ("_linspace", "_npi_linspace"):
    row(op, [], np.linspace(1, 3, 5).astype(np.float32), start=1.0, stop=3.0, num=5)
    row(op, [], np.linspace(3, 1, 4, endpoint=False).astype(np.float32), start=3.0, stop=1.0, num=4, endpoint=False)
    row(op, [], f32(2), start=2.0, stop=9.0, num=1)
row("_npi_logspace", [], np.logspace(0, 2, 3).astype(np.float32), start=0.0, stop=2.0, num=3)
row("_npi_logspace", [], np.logspace(1, 4, 3, endpoint=False, base=2).astype(np.float32), start=1.0, stop=4.0, num=3,
    endpoint=False, base=2.0)
for op in ("_eye", "_npi_eye"):
    row(op, [], np.eye(3, dtype=np.float32), N=3)
    row(op, [], np.eye(2, 4, 1, dtype=np.int32), N=2, M=4, k=1, dtype="int32")
    row(op, [], np.eye(3, 2, -1, dtype=np.float32), N=3, M=2, k=-1)
row("_npi_identity", [], np.eye(2, dtype=np.float32), shape=(2, 2))
row("_npi_identity", [], np.eye(3, dtype=np.int64), shape=(3, 3), dtype="int64")
for name in ("hanning", "hamming", "blackman"):
    for n in (5, 1, 4):
        row("_npi_" + name, [], getattr(np, name)(n).astype(np.float32), M=n)
row("_npi_tri", [], np.tri(3, dtype=np.float32), N=3)
row("_npi_tri", [], np.tri(2, 4, -1, dtype=np.int32), N=2, M=4, k=-1, dtype="int32")
row("_npi_indices", [], np.indices((2, 3)).astype(np.int64), dimensions=(2, 3))
row("_npi_indices", [], np.indices((3,)).astype(np.float32), dimensions=(3,), dtype="float32")

# --- Diagonals and triangles ---------------------------------------------------------------------

m, d = f(3, 4), f(2, 3, 4)
for op in ("diag", "_np_diag", "_npi_diag"):
    row(op, m, np.diag(m))
    row(op, m, np.diag(m, 2), k=2)
    row(op, m, np.diag(m, -1), k=-1)
    row(op, f32(1, 2), np.diag(f32(1, 2), 1), k=1)
    row(op, f32(1, 2), np.diag(f32(1, 2), -2), k=-2)
row("diag", d, np.diagonal(d, 0, 0, 1))
row("diag", d, np.diagonal(d, 1, 2, 1), k=1, axis1=2, axis2=1)
for op in ("_np_diagonal", "_npi_diagonal"):
    row(op, d, np.diagonal(d, 0, 0, 1), offset=0)
    row(op, d, np.diagonal(d, -1, -2, -1), offset=-1, axis1=-2, axis2=-1)
row("_npi_tril", d, np.tril(d))
row("_npi_tril", m, np.tril(m, -1), k=-1)
row("_npi_triu", d, np.triu(d))
row("_npi_triu", m, np.triu(m, 2), k=2)
for op in ("_np_trace", "_npi_trace"):
    row(op, m, np.array(np.trace(m)))
    row(op, d, np.trace(d, 0, 2, 1), axis1=2, axis2=1)
    row(op, d, np.trace(d, 1, 1, 2), offset=1, axis1=1, axis2=2)
    row(op, m, np.array(np.trace(m, -1)), offset=-1)
for op in ("_np_roll", "_npi_roll"):
    row(op, m, np.roll(m, 5), shift=5)
    row(op, m, np.roll(m, -1, 1), shift=(-1,), axis=(1,))
    row(op, m, np.roll(m, (1, 2), (0, 1)), shift=(1, 2), axis=(0, 1))

# --- Shapes --------------------------------------------------------------------------------------

d = f(2, 3, 4)
for op in ("Reshape", "reshape"):
    for shape, to in [((4, 0, 2), (4, 3, 2)), ((2, -1), (2, 12)), ((-2,), (2, 3, 4)), ((2, -2), (2, 3, 4)),
                      ((-3, 4), (6, 4)), ((0, -3), (2, 12)), ((-4, 1, 2, -2), (1, 2, 3, 4)), ((2, -4, -1, 3, -2), (2, 1, 3, 4)),
                      ((6, 1, -1), (6, 1, 4)), ((-3, -2), (6, 4))]:
        row(op, d, d.reshape(to), shape=shape)
    row(op, d, d.reshape(6, 4), shape=(-1, 0), reverse=True)
    row(op, d, d.reshape(2, 12), target_shape=(2, 0))
for op in ("_np_reshape", "_npi_reshape"):
    row(op, d, d.reshape(4, 6), newshape=(4, -1))
    row(op, d, d.reshape(24), newshape=-1, order="C")
for shape, to in [((-2, -2, 2, 2), (2, 3, 2, 2)), ((-5, -4), (6, 4)), ((-4,), (2, 3, 4)), ((-6, 1, 2, -4), (1, 2, 3, 4)),
                  ((-1, -5), (2, 12)), ((4, 6), (4, 6)), ((-2, -6, -1, 3, -2), (2, 1, 3, 4))]:
    row("_npx_reshape", d, d.reshape(to), newshape=shape)
row("_npx_reshape", d[:, :1], d[:, :1].reshape(2, 4), newshape=(-2, -3, -2))
row("_npx_reshape", d, d.reshape(6, 4), newshape=(-5, -2), reverse=True)
for op in ("reshape_like", "_npx_reshape_like"):
    row(op, [d, f(4, 6)], d.reshape(4, 6))
    row(op, [d, f(6, 2)], d.reshape(6, 4), lhs_begin=0, lhs_end=2, rhs_begin=0, rhs_end=1)
    row(op, [d, f(2, 2)], d.reshape(2, 3, 2, 2), lhs_begin=-1, lhs_end=None, rhs_begin=None, rhs_end=None)
for op in ("Flatten", "flatten", "_npx_batch_flatten"):
    row(op, d, d.reshape(2, 12))
    row(op, i32(1, 2, 3), i32(1, 2, 3).reshape(3, 1))
for op in ("transpose", "_np_transpose", "_npi_transpose"):
    row(op, d, d.T)
    row(op, d, d.transpose(1, 2, 0), axes=(1, 2, 0))
    row(op, d, d.transpose(2, 0, 1), axes=(-1, 0, -2))
for op in ("SwapAxis", "swapaxes", "_npi_swapaxes"):
    row(op, d, d.swapaxes(0, 2), dim1=0, dim2=2)
    row(op, d, d.swapaxes(1, 2), dim1=-1, dim2=1)
for op in ("_np_moveaxis", "_npi_moveaxis"):
    row(op, d, np.moveaxis(d, 0, -1), source=(0,), destination=(-1,))
    row(op, d, np.moveaxis(d, (0, 1), (2, 0)), source=(0, 1), destination=(2, 0))
row("_npi_rollaxis", d, np.rollaxis(d, 2), axis=2)
row("_npi_rollaxis", d, np.rollaxis(d, 0, 2), axis=0, start=2)
row("_npi_rollaxis", d, np.rollaxis(d, -1, -2), axis=-1, start=-2)
for op in ("expand_dims", "_npi_expand_dims"):
    row(op, d, d[:, None], axis=1)
    row(op, d, d[..., None], axis=-1)
for op in ("squeeze", "_npi_squeeze", "_np_squeeze"):
    row(op, d[:1, :, :1], d[0, :, 0])
    row(op, f32(3), f32(3) if op == "squeeze" else np.array(3, np.float32))
    row(op, d[:1, :, :1], d[0, :, :1], axis=0)
    row(op, d[:1, :, :1], d[:1, :, 0], axis=(-1,))
    row(op, d[:1, :, :1], d[0, :, 0], axis=(0, 2))
for op in ("broadcast_to", "_npi_broadcast_to", "_np_broadcast_to"):
    row(op, d[:, :1], np.broadcast_to(d[:, :1], (2, 3, 4)), shape=(2, 3, 4))
    row(op, d[:1, :, :1], np.broadcast_to(d[:1, :, :1], (2, 3, 4)),
        shape=(2, 0, 4) if op == "broadcast_to" else (2, 3, 4))
    if op != "broadcast_to":
        row(op, f32(1, 2), np.broadcast_to(f32(1, 2), (3, 2)), shape=(3, 2))
for op in ("broadcast_axis", "broadcast_axes"):
    row(op, d[:, :1], np.broadcast_to(d[:, :1], (2, 3, 4)), axis=1, size=3)
    row(op, d[:1, :, :1], np.broadcast_to(d[:1, :, :1], (2, 3, 4)), axis=(0, 2), size=(2, 4))
for op in ("broadcast_like", "_npx_broadcast_like"):
    row(op, [d[:, :1], f(2, 3, 4)], np.broadcast_to(d[:, :1], (2, 3, 4)))
    row(op, [d[:, :1], f(3, 5)], np.broadcast_to(d[:, :1], (2, 3, 4)), lhs_axes=(1,), rhs_axes=(0,))
for op in ("tile", "_npi_tile"):
    row(op, f32(1, 2), np.tile(f32(1, 2), 3), reps=(3,))
    row(op, f32(1, 2), np.tile(f32(1, 2), (2, 2)), reps=(2, 2))
    row(op, d, np.tile(d, 2), reps=(2,))
for op in ("repeat", "_np_repeat", "_npi_repeat"):
    row(op, m, np.repeat(m, 2), repeats=2)
    row(op, m, np.repeat(m, 3, -1), repeats=3, axis=-1)
dts = f(1, 8, 1, 2)
b_ = dts.reshape(1, 2, 2, 2, 1, 2).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 2, 4)
row("depth_to_space", dts, b_, block_size=2)
row("depth_to_space", f32(*range(4)).reshape(1, 4, 1, 1), f32(0, 1, 2, 3).reshape(1, 1, 2, 2), block_size=2)
row("space_to_depth", b_, dts, block_size=2)
row("space_to_depth", f32(*range(6)).reshape(1, 1, 2, 3)[..., :2], f32(0, 1, 3, 4).reshape(1, 4, 1, 1), block_size=2)
row("shape_array", d, i64(2, 3, 4))
row("shape_array", f32(1, 2), i64(2))
row("size_array", d, i64(24))
row("size_array", f32(1, 2), i64(2))

# --- Parts ---------------------------------------------------------------------------------------

for op in ("slice", "crop", "_npx_slice", "_npi_slice"):
    row(op, d, d[:, 1:3], begin=(None, 1), end=(None, 3))
    row(op, d, d[-1:, ::-1, 3:0:-2], begin=(-1, None, 3), end=(None, None, 0), step=(1, -1, -2))
    row(op, d, d[0:1, 1:], begin=(0, 1), end=(1, 9))
    row(op, d, d[:, -2:-1], begin=(None, -2), end=(None, -1), step=())
row("slice_axis", d, d[:, 1:], axis=1, begin=1, end=None)
row("slice_axis", d, d[..., -3:-1], axis=-1, begin=-3, end=-1)
for op in ("slice_like", "_npx_slice_like"):
    row(op, [d, f(1, 2, 3)], d[:1, :2, :3])
    row(op, [d, f(1, 2, 3)], d[:, :2, :3], axes=(1, -1))
    row(op, [d, f(1, 2)], d[:, :2], axes=(1,))
for op in ("_slice_assign", "_crop_assign", "_npi_slice_assign"):
    y = m.copy()
    y[1:3, ::2] = 9
    row(op, [m, np.full((2, 2), 9, np.float32)], y, begin=(1, None), end=(3, None), step=(1, 2))
    y = m.copy()
    y[:, 3:1:-1] = f32(1, 2, 3, 4, 5, 6).reshape(3, 2)
    row(op, [m, f32(1, 2, 3, 4, 5, 6).reshape(3, 2)], y, begin=(None, 3), end=(None, 1), step=(1, -1))
for op in ("_slice_assign_scalar", "_crop_assign_scalar", "_npi_slice_assign_scalar"):
    y = m.copy()
    y[1:] = -2
    row(op, m, y, begin=(1,), end=(None,), scalar=-2.0)
    y = m.copy()
    y[:, 1:3] = 7
    row(op, m, y, begin=(None, 1), end=(None, 3), scalar=7.0)
for op in ("reverse", "flip"):
    row(op, d, d[:, ::-1], axis=1)
    row(op, d, d[::-1, :, ::-1], axis=(0, 2))
row("_npi_flip", d, d[::-1, ::-1, ::-1], axis=None)
row("_npi_flip", d, d[:, :, ::-1], axis=(-1,))
p = f(2, 2)
for op in ("Concat", "concat", "_rnn_param_concat"):
    row(op, [p, p[:, :1]], np.concatenate([p, p[:, :1]], 1), num_args=2)
    row(op, [p, p[:1], p], np.concatenate([p, p[:1], p]), dim=0, num_args=3)
    row(op, [p], p, num_args=1)
for op in ("_npi_concatenate", "_np_concatenate"):
    row(op, [p, p[:1]], np.concatenate([p, p[:1]]), num_args=2, axis=0)
    row(op, [p, p[:, :1]], np.concatenate([p, p[:, :1]], -1), num_args=2, axis=-1)
    row(op, [p, f32(1, 2, 3)], np.concatenate([p, f32(1, 2, 3)], None), num_args=2, axis=None)
for op in ("stack", "_npi_stack"):
    row(op, [p, p + 1], np.stack([p, p + 1]), num_args=2)
    row(op, [p, p + 1, p], np.stack([p, p + 1, p], -1), num_args=3, axis=-1)
for name in ("vstack", "hstack", "dstack", "column_stack"):
    for parts in ([p, p + 1], [f32(1, 2), f32(3, 4)]):
        row("_npi_" + name, parts, getattr(np, name)(parts), num_args=2)
for op in ("SliceChannel", "split"):
    row(op, d, list(np.split(d, 3, 1)), num_outputs=3)
    row(op, d, [d[0], d[1]], num_outputs=2, axis=0, squeeze_axis=True)
    row(op, d, [d[..., :2], d[..., 2:]], num_outputs=2, axis=-1)
s = f(5, 2)
row("_split_v2", s, list(np.split(s, [1, 3])), indices=(0, 1, 3))
row("_split_v2", d, [d[:, 0], d[:, 1], d[:, 2]], sections=3, axis=1, squeeze_axis=True, indices=())
row("_npi_split", s, list(np.split(s, [1, 3])), indices=(0, 1, 3), axis=0)
row("_npi_split", d, list(np.split(d, 2, -1)), sections=2, axis=-1, indices=())
row("_npi_array_split", s, list(np.array_split(s, 2)), sections=2, axis=0, indices=())
row("_npi_array_split", s, list(np.array_split(s, [2])), sections=0, axis=0, indices=(0, 2))
row("_npi_array_split", d, list(np.array_split(d, 3, 2)), sections=3, axis=2, indices=())
row("_npi_hsplit", d, list(np.hsplit(d, 3)), sections=3, indices=())
row("_npi_hsplit", f32(1, 2, 3, 4), list(np.hsplit(f32(1, 2, 3, 4), 2)), sections=2, indices=())
row("_npi_hsplit", f32(1, 2, 3, 4), list(np.hsplit(f32(1, 2, 3, 4), [1])), indices=(0, 1))
row("_npi_vsplit", d, list(np.vsplit(d, 2)), sections=2, axis=0, indices=())
row("_npi_vsplit", s, list(np.vsplit(s, [4])), indices=(0, 4), axis=0)
row("_npi_dsplit", d, list(np.dsplit(d, 2)), sections=2, axis=2, indices=())
row("_npi_dsplit", d, list(np.dsplit(d, [3])), indices=(0, 3), axis=2)
g = f(1, 1, 3, 4)
for op, width in (("Pad", "(0, 0, 0, 0, 1, 2, 2, 1)"), ("pad", "(0, 0, 0, 0, 1, 2, 2, 1)"),
                  ("_npi_pad", "((0, 0), (0, 0), (1, 2), (2, 1))")):
    pads = ((0, 0), (0, 0), (1, 2), (2, 1))
    value = "constant_values" if op == "_npi_pad" else "constant_value"
    row(op, g, np.pad(g, pads, constant_values=1.5), mode="constant", pad_width=width, **{value: 1.5})
    row(op, g, np.pad(g, pads, "edge"), mode="edge", pad_width=width)
    row(op, g, np.pad(g, pads, "reflect"), mode="reflect", pad_width=width)
row("_npi_pad", f32(1, 2), np.pad(f32(1, 2), (1, 0)), mode="constant", pad_width="((1, 0),)")
row("_npi_pad", f32(1, 2, 3), np.pad(f32(1, 2, 3), (2, 1), "symmetric"), mode="symmetric", pad_width="((2, 1),)",
    reflect_type="even")
g = f(1, 2, 4, 5)
row("Crop", [g], g[:, :, 1:3, 2:5], h_w=(2, 3), offset=(1, 2), num_args=1)
row("Crop", [g, f(1, 1, 2, 2)], g[:, :, 1:3, 1:3], center_crop=True, num_args=2)
row("Crop", [g, f(1, 1, 2, 3)], g[:, :, :2, :3], num_args=2)

# --- More of NumPy's -----------------------------------------------------------------------------

row("_npi_diff", m, np.diff(m))
row("_npi_diff", m, np.diff(m, 2, 0), n=2, axis=0)
row("_npi_kron", [p, f32(1, 2)], np.kron(p, f32(1, 2)))
row("_npi_kron", [f32(1, 2), p], np.kron(f32(1, 2), p))
row("_npi_kron", [p, m], np.kron(p, m))
row("_npi_polyval", [f32(1, 2, 3), p], as32(np.polyval([1, 2, 3], p)))
row("_npi_polyval", [f32(4), f32(1, 2)], f32(4, 4))
for op, fn in (("atleast_1d", np.atleast_1d), ("atleast_2d", np.atleast_2d), ("atleast_3d", np.atleast_3d)):
    for v in (np.array(3, np.float32), f32(1, 2), p, d):
        row("_np_%s _npi_%s" % (op, op), v, fn(v), num_args=1)
    row("_np_%s _npi_%s" % (op, op), [f32(1, 2), p], [fn(f32(1, 2)), fn(p)], num_args=2)
for k in (1, 2, 3, -1, 4):
    row("_npi_rot90", d, np.rot90(d, k, (0, 1)), k=k)
row("_npi_rot90", d, np.rot90(d, 1, (2, 0)), k=1, axes=(2, 0))
row("_npi_average", [m, f32(1, 2, 3, 4)], as32(np.average(m, 1, f32(1, 2, 3, 4))), axis=(1,), weighted=True)
row("_npi_average", [m, np.abs(m)], np.array(np.average(m, weights=np.abs(m)), np.float32), axis=None, weighted=True)
row("_npi_average", [m], as32(np.average(m, 0)), axis=(0,), weighted=False)
row("_npi_average", [m, f32(1, 2, 3, 4)], [as32(np.average(m, 1, f32(1, 2, 3, 4))), f32(10, 10, 10)], axis=(1,),
    weighted=True, returned=True)
u, v = f(2, 3), f(2, 3)
row("_npi_cross", [u, v], np.cross(u, v), axisa=-1, axisb=-1, axisc=-1)
row("_npi_cross", [u, v[0]], np.cross(u, v[0]), axisa=-1, axisb=-1, axisc=-1)
row("_npi_cross", [u.T, v], np.cross(u.T, v, axisa=0), axisa=0, axisb=-1, axisc=-1)
row("_npi_cross", [u[:, :2], v[:, :2]], np.cross(u[:, :2], v[:, :2]), axisa=-1, axisb=-1, axisc=-1)
row("_npi_cross", [u[:, :2], v], np.cross(u[:, :2], v), axisa=-1, axisb=-1, axisc=-1)
