"""Writes tests/data/oneflow/rows.txt: operators of OneFlow on small constants, and what they give by
OneFlow's documentation and kernels, computed with NumPy and PyTorch.

    PYTHONPATH=tests/handlers python3 tests/handlers/oneflow/rows.py tests/data/oneflow/rows.txt
"""
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F
from rows_numbers import *
from rows_text import Raw, Rows, array, attributes, listed

rows = Rows()
rng = np.random.RandomState(13)
f, pos, unit = drawn(rng)


def row(ops, ins, outs, **attrs):
    for op in ops.split():
        rows.add(op, listed(ins), attributes(attrs), listed(outs))


D = lambda v: Raw(repr(float(v)) + "d")  # a double
X = None
NOTHING = None  # a result that is not looked at

# --- By element ----------------------------------------------------------------------------------

for op, fn, xs in [
        ("abs", torch.abs, [f(3), f32(-inf, nan)]), ("acos", torch.acos, [unit(3), f32(-1, 1, 2)]),
        ("acosh", torch.acosh, [1 + pos(3), f32(1, 0.5)]), ("asin", torch.asin, [unit(3), f32(-1, 1, 2)]),
        ("asinh", torch.asinh, [f(3), f32(-50, 0)]), ("atan", torch.atan, [f(3), f32(inf, -inf)]),
        ("atanh", torch.atanh, [unit(3), f32(1, -1)]), ("ceil", torch.ceil, [f32(-2.1, 1.5, 2), f32(-0.5, inf)]),
        ("cos", torch.cos, [f(3), 30 * f(2)]), ("cosh", torch.cosh, [f(3), f32(10, -10)]),
        ("digamma", torch.digamma, [pos(3), f32(-0.5, 20)]), ("erf", torch.erf, [f(3), f32(-9, 9)]),
        ("erfc", torch.erfc, [f(3), f32(-9, 5)]), ("erfinv", torch.erfinv, [unit(3), f32(-1, 1)]),
        ("exp", torch.exp, [f(3), f32(-inf, 0)]), ("exp2", torch.exp2, [f(3), f32(-1, 10)]),
        ("expm1", torch.expm1, [f(3), f32(1e-7, -1e-7)]), ("floor", torch.floor, [f32(-2.1, 1.5, 2), f32(-0.5, inf)]),
        ("frac", torch.frac, [f(3), f32(-2.5, 3)]), ("gelu", F.gelu, [f(3), f32(-9, 9)]),
        ("fast_gelu", lambda x: F.gelu(x, approximate="tanh"), [f(3), f32(-9, 9)]),
        ("quick_gelu", lambda x: x * torch.sigmoid(1.702 * x), [f(3), f32(-30, 30)]),
        ("hardsigmoid", F.hardsigmoid, [3 * f(3), f32(-3, 3, 0)]), ("hardswish", F.hardswish, [3 * f(3), f32(-3, 3, 0)]),
        ("lgamma", torch.lgamma, [pos(3), f32(-0.5, 20)]), ("log", torch.log, [pos(3), f32(0, inf)]),
        ("log10", torch.log10, [pos(3), f32(1000, 0.01)]), ("log1p", torch.log1p, [pos(3), f32(1e-7, -1)]),
        ("log2", torch.log2, [pos(3), f32(8, 0)]), ("log_sigmoid", F.logsigmoid, [f(3), f32(-100, 50)]),
        ("mish", F.mish, [f(3), f32(-30, 30)]), ("negative", torch.neg, [f(3), f32(inf, 0)]),
        ("reciprocal", torch.reciprocal, [f(3), f32(0.5, inf)]), ("relu", torch.relu, [f(3), f32(-inf, inf)]),
        ("rint", torch.round, [f32(0.5, 1.5, -2.5), f(3)]), ("round", torch.round, [f32(0.5, 1.5, -2.5), f(3)]),
        ("rsqrt", torch.rsqrt, [pos(3), f32(0, inf)]), ("selu", F.selu, [f(3), f32(-30, 3)]),
        ("sigmoid", torch.sigmoid, [f(3), f32(-100, 100)]), ("sign", torch.sign, [f(3), f32(-inf, 0)]),
        ("silu", F.silu, [f(3), f32(-30, 30)]), ("sin", torch.sin, [f(3), 30 * f(2)]),
        ("sinh", torch.sinh, [f(3), f32(10, -10)]), ("softsign", F.softsign, [f(3), f32(-9, 0)]),
        ("sqrt", torch.sqrt, [pos(3), f32(0, inf)]), ("square", torch.square, [f(3), f32(-3, inf)]),
        ("square_relu", lambda x: torch.relu(x) ** 2, [f(3), f32(-3, 3)]), ("tan", torch.tan, [unit(3), f(2)]),
        ("tanh", torch.tanh, [f(3), f32(-20, 20)]), ("trigamma", lambda x: torch.polygamma(1, x), [pos(3), f32(1, 5)]),
        ("trunc", torch.trunc, [f32(-2.7, 2.7), f32(-0.5, inf)]),
        ("not_equal_zero", lambda x: x != 0, [f32(0, 4), f32(nan, -1)]), ("logical_not", lambda x: x == 0, [f32(0, 4), f32(nan, -1)]),
        ("isfinite", torch.isfinite, [f32(nan, inf, 1), i32(1, 2)]), ("isinf", torch.isinf, [f32(nan, -inf, 1), i32(1, 2)]),
        ("isnan", torch.isnan, [f32(nan, inf, 1), i32(1, 2)]),
        ("bitwise_not", torch.bitwise_not, [i32(0, 5, -3), i64(7, -8), boolean(0, 1), np.array([13], np.uint8)]),
        ("softmax", lambda x: F.softmax(x, -1), [f(2, 3), f32(1000, 0, -1000)]),
        ("log_softmax", lambda x: F.log_softmax(x, -1), [f(2, 3), f32(1000, 0, -1000)]),
        ("square_sum", lambda x: (x * x).sum().reshape(1), [f(2, 3), f32(3, 4)]),
        ("sqrt_square_sum", lambda x: (x * x).sum().sqrt(), [f(2, 3), f32(3, 4)])]:
    for x in xs:
        row(op, x, fn(T(x)))
for op, fn in (("abs", np.abs), ("square", np.square), ("sign", np.sign), ("negative", np.negative), ("trunc", lambda x: x)):
    row(op, i32(-3, 0, 4), fn(i32(-3, 0, 4)))
row("reciprocal_no_nan", f32(0, 4, -0.5), f32(0, 0.25, -2))
p = pos(3)
row("reciprocal_no_nan", p, 1 / p)
x = f(2, 4)
row("celu", x, F.celu(T(x), 0.5), alpha=D(0.5))
row("celu", x, F.celu(T(x), 2.0), alpha=D(2))
row("elu", x, F.elu(T(x), 0.5), alpha=D(0.5))
row("elu", x, F.elu(T(x), 2.0), alpha=D(2))
row("leaky_relu", x, F.leaky_relu(T(x), 0.1), alpha=0.1)
row("leaky_relu", x, F.leaky_relu(T(x), -0.5), alpha=-0.5)
row("hardtanh", x, F.hardtanh(T(x), -0.5, 1.0), min_val=D(-0.5), max_val=D(1))
row("hardtanh", f32(nan, -9, 9), F.hardtanh(T(f32(nan, -9, 9)), -1, 1), min_val=D(-1), max_val=D(1))
for lam in (0.5, 1.0):
    row("softshrink", x, F.softshrink(T(x), lam), alpha=D(lam))
    row("hardshrink", x, F.hardshrink(T(x), lam), lambd=D(lam))
row("threshold", x, F.threshold(T(x), 0.5, -3), threshold_val=D(0.5), value=D(-3))
row("threshold", f32(nan, 1, 0), F.threshold(T(f32(nan, 1, 0)), 0.0, 7), threshold_val=D(0), value=D(7))
row("softplus", 10 * x, F.softplus(T(10 * x)), beta=D(1), threshold=D(20))
row("softplus", x, F.softplus(T(x), 2.0, 1.0), beta=D(2), threshold=D(1))
row("clip_by_scalar", x, np.clip(x, -1, 0.5), floating_min=D(-1), floating_max=D(0.5))
row("clip_by_scalar", i32(-7, 0, 7), i32(-2, 0, 3), integral_min=-2, integral_max=3)
row("clip_by_scalar_min", x, np.maximum(x, 0.5), floating_min=D(0.5))
row("clip_by_scalar_min", i64(-7, 7), i64(-2, 7), integral_min=-2)
row("clip_by_scalar_max", x, np.minimum(x, 0.5), floating_max=D(0.5))
row("clip_by_scalar_max", i64(-7, 7), i64(-7, 2), integral_max=2)
y = f(2, 3, 2)
row("prelu", [y, f32(0.1, 0.5, -1)], F.prelu(T(y), T(f32(0.1, 0.5, -1))))
row("prelu", [x, f32(0.3)], F.prelu(T(x), T(f32(0.3))))
row("prelu", [x, f32(0.1, 0.5, -1, 2)], F.prelu(T(x), T(f32(0.1, 0.5, -1, 2))))
al = f(4)
row("tf_prelu", [x, al], np.where(x > 0, x, x * al))
row("tf_prelu", [y, al.reshape(1, 4)[:, :1].repeat(3, 0)], np.where(y > 0, y, y * al[0]))

# Arithmetic of two.
a, b, c = f(2, 3), f(2, 3), f(1, 3)
i, j = i32(7, -7, 7, -7), i32(2, 2, -2, -2)
k, l = i32(12, 7, -1), i32(10, 3, 6)
for op, fn, more in [
        ("broadcast_add", np.add, [(i, j)]), ("broadcast_sub", np.subtract, [(i, j)]), ("broadcast_mul", np.multiply, [(i, j)]),
        ("broadcast_div", np.divide, [(f32(1, -1, 0), f32(0, 0, 0))]), ("broadcast_maximum", np.maximum, [(i, j), (f32(nan, 1), f32(1, nan))]),
        ("broadcast_minimum", np.minimum, [(i, j), (f32(nan, 1), f32(1, nan))]),
        ("broadcast_fmod", np.fmod, [(i, j), (f32(5, -5), f32(3, 3))]),
        ("broadcast_floor_mod", np.mod, [(i, j), (f32(5, -5, 5), f32(3, 3, -3))]),
        ("broadcast_pow", lambda p, q: np.power(np.abs(p), q), [(i32(2, 3), i32(3, 2))]),
        ("pow", lambda p, q: np.power(np.abs(p), q), [(f32(0, 2), f32(0, -1))]),
        ("atan2", np.arctan2, [(f32(0, 0, -1, 1, -1), f32(1, -1, -1, 0, 0))]), ("floordiv", np.floor_divide, [(i, j)]),
        ("truncdiv", lambda p, q: np.trunc(p / q).astype(p.dtype), [(i, j)]),
        ("elementwise_maximum", np.maximum, [(f32(nan, 1), f32(1, nan))]), ("elementwise_minimum", np.minimum, [(f32(nan, 1), f32(1, nan))]),
        ("add_n2", np.add, [(i, j)]),
        ("broadcast_equal", np.equal, [(i, -j), (f32(nan, inf), f32(nan, inf))]), ("broadcast_not_equal", np.not_equal, [(i, -j), (f32(nan, 1), f32(nan, 1))]),
        ("broadcast_less", np.less, [(i, j)]), ("broadcast_less_equal", np.less_equal, [(i, i)]),
        ("broadcast_greater", np.greater, [(i, j)]), ("broadcast_greater_equal", np.greater_equal, [(i, i)]),
        ("broadcast_logical_and", np.logical_and, [(f32(0, 2, nan), f32(1, 3, 1)), (boolean(0, 1, 1), boolean(1, 1, 0))]),
        ("broadcast_logical_or", np.logical_or, [(i32(0, 2, 0), i32(1, 0, 0)), (boolean(0, 1), boolean(0, 0))]),
        ("broadcast_logical_xor", np.logical_xor, [(i32(0, 2, 0), i32(1, 3, 0)), (boolean(0, 1), boolean(1, 1))])]:
    with np.errstate(all="ignore"):
        p = np.abs(a) if "pow" in op else a
        row(op, [p, b], fn(p, b))
        if op.startswith("broadcast"):
            row(op, [p[:, :1], c], fn(p[:, :1], c))
        for q, r in more:
            row(op, [q, r], fn(q, r).astype(q.dtype) if fn(q, r).dtype == np.float64 else fn(q, r))
row("broadcast_div truncdiv", [i, j], i32(3, -3, -3, 3))
row("truncdiv", [f32(7, -7), f32(2, 2)], f32(3, -3))
row("floordiv", [f32(7, -7), f32(2, 2)], f32(3, -4))
for op, fn in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
    row("broadcast_bitwise_" + op, [k, l], fn(k, l))
    row("broadcast_bitwise_" + op, [k[:, None], l[None]], fn(k[:, None], l[None]))
    row("broadcast_bitwise_" + op, [boolean(0, 1, 1), boolean(1, 1, 0)], fn(boolean(0, 1, 1), boolean(1, 1, 0)))
    row("scalar_bitwise_" + op, k, fn(k, 5), operand=5)
    row("scalar_bitwise_" + op, i64(6, -9), fn(i64(6, -9), 3), operand=3)
    row("scalar_bitwise_" + op, boolean(0, 1), fn(boolean(0, 1), True), operand=1)
row("xdivy", [f32(0, 3, -1), f32(0, 2, 4)], f32(0, 1.5, -0.25))
q = f(3)
row("xdivy", [q, f32(1, 2, 4)], q / f32(1, 2, 4))
row("xlogy", [f32(0, 3, 0), f32(0, 2, nan)], torch.xlogy(T(f32(0, 3, 0)), T(f32(0, 2, nan))))
r = pos(3)
row("xlogy", [q, r], torch.xlogy(T(q), T(r)))
s, t = 1 + pos(3), pos(3)
row("broadcast_zeta", [s, t], torch.special.zeta(T(s), T(t)))
row("broadcast_zeta", [f32(2), f32(1, 3)], torch.special.zeta(T(f32(2)), T(f32(1, 3))))
row("broadcast_inplace_greater", [a, b], (a > b).astype(np.float32))
row("broadcast_inplace_greater", [i, j[:1]], (i > j[:1]).astype(np.int32))
u, v = f32(1, nan, inf, 1e-9), f32(1.000001, nan, inf, 0)
row("broadcast_isclose_eq_nan", [u, v], np.isclose(u, v, 1e-5, 1e-8, True), rtol=1e-5, atol=1e-8)
row("broadcast_isclose_eq_nan", [u, f32(1.1)], np.isclose(u, 1.1, 0.2, 0, True), rtol=0.2, atol=0.0)
row("broadcast_isclose_neq_nan", [u, v], np.isclose(u, v, 1e-5, 1e-8), rtol=1e-5, atol=1e-8)
row("broadcast_isclose_neq_nan", [i, i + 1], np.isclose(i, i + 1, 0.5, 0), rtol=0.5, atol=0.0)
row("bias_add", [a, f32(1, 2, 3)], a + f32(1, 2, 3), axis=1)
row("bias_add", [y, f32(1, 2, 3)], y + f32(1, 2, 3)[:, None], axis=1)
row("bias_add", [a, f32(1, 2)], a + f32(1, 2)[:, None], axis=0)
row("add_n", [a, b, a], a + b + a)
row("add_n", [a], a)
row("distribute_add", [a, b], a + b)
row("distribute_add", [a], a)
for op, fn in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide)):
    row("scalar_%s_by_tensor" % op, [a, f32(2)], fn(a, f32(2)))
    row("scalar_%s_by_tensor" % op, [b, f32(-0.5)], fn(b, f32(-0.5)))
row("host_scalar_add_by_tensor", [a, f32(2)], a + 2)
row("host_scalar_add_by_tensor", [i, i32(3)], i + 3)
real = lambda v: dict(has_float_operand=1, float_operand=D(v))
whole = lambda v: dict(has_int_operand=1, int_operand=v)
for op, fn, number in [
        ("scalar_add", lambda x, n: x + n, 1.5), ("scalar_mul", lambda x, n: x * n, -2.5), ("scalar_div", lambda x, n: x / n, 0.3),
        ("scalar_floordiv", lambda x, n: np.floor(x / n), 0.75), ("scalar_truncdiv", lambda x, n: np.trunc(x / n), 0.75),
        ("scalar_fmod", np.fmod, 0.75), ("scalar_pow", lambda x, n: np.power(x, n), 3.0),
        ("scalar_reverse_pow", lambda x, n: np.power(n, x), 3.0), ("scalar_logical_equal", lambda x, n: x == n, 0.5),
        ("scalar_logical_not_equal", lambda x, n: x != n, 0.5), ("scalar_logical_greater", lambda x, n: x > n, 0.5),
        ("scalar_logical_greater_equal", lambda x, n: x >= n, 0.5), ("scalar_logical_less", lambda x, n: x < n, 0.5),
        ("scalar_logical_less_equal", lambda x, n: x <= n, 0.5), ("scalar_logical_and", np.logical_and, 2.0),
        ("scalar_logical_or", np.logical_or, 0.0), ("scalar_logical_xor", np.logical_xor, 1.0),
        ("scalar_logical_inplace_greater", lambda x, n: (x > n).astype(np.float32), 0.5)]:
    for x_ in (f(4), f32(0.5, 1, -2)):
        out = fn(x_, np.float32(number))
        row(op, x_, out if out.dtype == bool else as32(out), **real(number))
for op, fn, number in [("scalar_add", lambda x: x + 3, 3), ("scalar_mul", lambda x: x * -2, -2), ("scalar_div", lambda x: np.trunc(x / 2), 2),
                       ("scalar_floordiv", lambda x: x // 2, 2), ("scalar_truncdiv", lambda x: np.trunc(x / 2), 2),
                       ("scalar_fmod", lambda x: np.fmod(x, 3), 3), ("scalar_pow", lambda x: x * x, 2)]:
    row(op, i32(-7, -1, 2, 7), fn(i32(-7, -1, 2, 7)).astype(np.int32), **whole(number))
row("lerp", [a, b, np.abs(c)], torch.lerp(T(a), T(b), T(np.abs(c))))
row("lerp", [f32(0, 2), f32(4, 4), f32(0.5, 0.25)], f32(2, 2.5))
row("scalar_lerp", [a, b], torch.lerp(T(a), T(b), 0.3), **real(0.3))
row("scalar_lerp", [f32(0, 2), f32(4, 4)], f32(8, 6), **whole(2))
row("fused_weighted_sum", [a, b], as32(0.5 * (2 * a - b)), weights=[2.0, -1.0], alpha=0.5)
row("fused_weighted_sum", [a, b, a], as32(3 * a + b), weights=[1.0, 1.0, 2.0], alpha=1.0)
row("fused_cast_scale", [i8(2, -3), f32(0.5)], f32(2, -3), scale=D(2))
row("fused_cast_scale", [i64(4, 5), f32(0.1)], as32(f32(4, 5) * 0.1), scale=D(1))
row("where", [boolean(1, 0, 1), a, b], np.where(boolean(1, 0, 1), a, b))
row("where", [f32(0, 2), f32(1, 2), f32(9)], f32(9, 2))
row("masked_fill", [a, a > 0], np.where(a > 0, np.float32(7), a), **real(7))
row("masked_fill", [i, i8(1, 0, 0, 1)], i32(9, -7, 7, 9), **whole(9))

# --- Identities and casts ------------------------------------------------------------------------

row("amp_black_identity amp_white_identity copy copy_d2h copy_h2d identity identity_buffer feed_input feed_variable fetch_output "
    "cast_from_local cast_to_local cast_to_static_shape hierarchical_parallel_cast parallel_cast pinned_identity to_contiguous "
    "nvtx_start nvtx_end convert_memory_format", a, a)
row("amp_black_identity amp_white_identity copy copy_d2h copy_h2d identity identity_buffer feed_input feed_variable fetch_output "
    "cast_from_local cast_to_local cast_to_static_shape hierarchical_parallel_cast parallel_cast pinned_identity to_contiguous "
    "nvtx_start nvtx_end convert_memory_format", i, i)
row("hierarchical_parallel_cast_like depend", [a, b], a)
row("hierarchical_parallel_cast_like depend", [i, f32(1)], i)
row("tuple_identity", [a, b], [a, b])
row("tuple_identity", [i], i)
row("distribute_clone", a, [a, a])
row("distribute_clone", i, i)
row("distribute_concat", [a, b], np.concatenate([a, b]), axis=0)
row("distribute_concat", [a, b, a], np.concatenate([a, b, a], 1), axis=1)
row("distribute_split", a, [a[:1], a[1:]], axis=0)
row("distribute_split", y, [y[:, :1], y[:, 1:2], y[:, 2:]], axis=1)
row("cast mutable_cast_once", f32(0.9, -1.9), i32(0, -1), dtype="int32")
row("cast mutable_cast_once", i64(300, -1), f32(300, -1), dtype="float32")
row("cast", f32(0, nan, 0.5), boolean(0, 1, 1), dtype="bool")
row("cast_like", [f32(0.9, -1.9), i64(0)], i64(0, -1))
row("cast_like", [i32(3), f32(0, 0)], f32(3))
row("dropout", a, [a, np.ones((2, 3), bool)], rate=0.5)
row("dropout", [a, b], a + b, rate=0.3)
row("random_mask_like", a, np.ones((2, 3), bool), rate=0.5)
row("random_mask_like", i, np.ones(4, bool), rate=0.0)

# --- Products ------------------------------------------------------------------------------------

m, n, o = f(2, 3), f(3, 4), f(2, 4)
row("matmul", [m, n], m @ n)
row("matmul", [m.T, n.T, o], as32(0.5 * (m @ n) + o), transpose_a=1, transpose_b=1, alpha=D(0.5))
e, g = f(2, 3, 4), f(2, 4, 2)
row("batch_matmul", [e, g], e @ g)
row("batch_matmul", [e.swapaxes(1, 2), g.swapaxes(1, 2)], as32(2 * e @ g), transpose_a=1, transpose_b=1, alpha=D(2))
row("broadcast_matmul", [e, n.T], e @ n.T)
row("broadcast_matmul", [e, g[0].T], e @ g[0], transpose_b=1)
row("broadcast_matmul", [e, g[:1]], e @ g[:1])
row("dot", [f32(1, 2), f32(3, 4)], np.array(11, np.float32))
row("dot", [m[0], m[1]], np.array(m[0] @ m[1]))
row("matrix_vector_product", [m, f32(1, 2, 3)], m @ f32(1, 2, 3))
row("matrix_vector_product", [n, o[0]], n @ o[0])
row("vector_matrix_product", [f32(1, 2), m], f32(1, 2) @ m)
row("vector_matrix_product", [m[0], n], m[0] @ n)
bias = f(4)
row("fused_matmul_bias", [m, n.T, bias], m @ n + bias)
add = f(2, 4)
row("fused_matmul_bias", [m, n.T, bias, add], as32(2 * (m @ n) - bias + add), alpha=D(2), beta=D(-1))
w1, w2, b2 = f(4, 3), f(2, 4), f(2)
for op in ("cublas_fused_mlp", "fused_matmul_bias_add_relu_dropout"):
    extra = {} if op == "cublas_fused_mlp" else {"dropout_rate_list": [0.0, 0.0]}
    hidden = np.maximum(m @ w1.T + bias, 0)
    row(op, [m, w1, w2, bias, b2], np.maximum(hidden @ w2.T + b2, 0), operand_segment_sizes=[1, 2, 2], **extra)
    row(op, [m, w1, w2, bias, b2], hidden @ w2.T + b2, operand_segment_sizes=[1, 2, 2], skip_final_activation=1, **extra)
row("grouped_matmul_bias", [m, f32(1, 2).reshape(1, 2), w1, f32(3, 4).reshape(1, 2), bias, f32(5)], [m @ w1.T + bias, f32(16).reshape(1, 1)],
    operand_segment_sizes=[2, 2, 2])
row("grouped_matmul_bias", [m, w1], m @ w1.T, operand_segment_sizes=[1, 1, 0])
sq = f(2, 3, 3) + 3 * np.eye(3, dtype=np.float32)
row("inv", sq, np.linalg.inv(sq))
row("inv", f32(0, 2, 4, 0).reshape(2, 2), f32(0, 0.25, 0.5, 0).reshape(2, 2))
row("det", sq, np.linalg.det(sq))
row("det", f32(0, 2, 4, 0).reshape(2, 2), np.array(-8, np.float32))
row("linalg_cross", [m, f32(1, 2, 3, 4, 5, 6).reshape(2, 3)], np.cross(m, f32(1, 2, 3, 4, 5, 6).reshape(2, 3)), dim=1)
row("linalg_cross", [n, n[::-1]], np.cross(n, n[::-1], axis=0), dim=0)
for v_ in (sq, f32(0, 2, 1, 4, 0, 5, 3, 3, 3).reshape(3, 3)):
    lu, piv = torch.linalg.lu_factor(T(v_))
    row("lu_decomposition", v_, [lu, piv])
gm = f(2, 4)
row("fused_fast_gelu_mul", [gm, add], F.gelu(T(gm), approximate="tanh") * T(add))
row("fused_fast_gelu_mul", [gm[:, :1], gm[:, 1:2]], F.gelu(T(gm[:, :1]), approximate="tanh") * T(gm[:, 1:2]))
row("fused_bias_add_gelu", [gm, bias], F.gelu(T(gm + bias)), axis=1)
row("fused_bias_add_gelu", [e, f32(1, -1, 0)], F.gelu(T(e + f32(1, -1, 0)[:, None])), axis=1)
mask = boolean(1, 0, 1, 1, 0, 1, 1, 1).reshape(2, 4)
row("fused_bias_add_mask_scale", [gm, bias, mask], (gm + bias) * mask * 2, axis=1, scale=2.0)
row("fused_bias_add_mask_scale", [gm, bias, mask, add], (gm + bias) * mask * np.float32(1.25) + add, axis=1, scale=1.25)
soft = lambda v_: F.softmax(T(as32(v_)), -1).numpy()
row("fused_scale_mask_softmax", [gm, mask], soft(np.where(mask, 2 * gm, -10000)), scale_value=2.0, mask_fill_value=-10000.0)
row("fused_scale_mask_softmax", [e, boolean(1, 0, 1, 1)], soft(np.where(boolean(1, 0, 1, 1), 0.5 * e, -np.inf)), scale_value=0.5,
    mask_fill_value=Raw("-inf"))
dm = ~mask | boolean(1, 0, 0, 1)
sm = soft(np.where(mask, 2 * gm, -10000))
row("fused_scale_mask_softmax_dropout", [gm, mask, dm], [sm * dm * 2, sm], scale_value=2.0, mask_fill_value=-10000.0, dropout_scale_value=2.0)
row("fused_scale_mask_softmax_dropout", [gm, mask, mask], [sm * mask, sm], scale_value=2.0, mask_fill_value=-10000.0, dropout_scale_value=1.0)
sm = soft(np.where(mask, 0.5 * (gm + bias), -10000))
row("fused_bias_add_scale_mask_softmax_dropout", [gm, bias, mask, dm], [sm * dm * 2, sm], scale_value=0.5, mask_fill_value=-10000.0,
    dropout_scale_value=2.0)
row("fused_bias_add_scale_mask_softmax_dropout", [gm, bias, mask, mask], [sm * mask, sm], scale_value=0.5, mask_fill_value=-10000.0,
    dropout_scale_value=1.0)
row("fused_scale_mask_bias_softmax", [gm, add], soft(0.5 * gm + add), scale=0.5)
row("fused_scale_mask_bias_softmax", [gm, add, bias], soft(2 * gm + add + bias), scale=2.0)
tri = f(2, 3, 3)
row("fused_scale_tril", tri, np.tril(2 * tri), floating_scale_value=D(2), is_floating_scale_value=1)
row("fused_scale_tril", tri, as32(np.where(np.tri(3, 3, 1), 3 * tri, -5)), diagonal=1, integer_scale_value=3, floating_fill_value=D(-5),
    is_floating_fill_value=1)
tm = rng.rand(2, 3, 3) > 0.3
sm = soft(np.where(np.tri(3), 0.5 * tri, -np.inf))
row("fused_tril_scale_softmax_mask_scale", [tri, tm], [sm * tm * 2, sm], diagonal=0, tril_scale_value=0.5, tril_fill_value=Raw("-inf"),
    mask_scale_value=2.0)
sm = soft(np.where(np.tri(3, 3, 1), tri, -1000))
row("fused_tril_scale_softmax_mask_scale", [tri, tm], [sm * tm, sm], diagonal=1, tril_scale_value=1.0, tril_fill_value=-1000.0,
    mask_scale_value=1.0)
gw, gb, gv, gc = f(4, 3), f(4), f(4, 3), f(4)
hid = m @ gw.T + gb
row("fused_glu", [m, gw, gb], hid[:, :2] * F.gelu(T(hid[:, 2:])).numpy(), activation="gelu", has_bias=1)
row("fused_glu", [m, gw, gb, gv, gc], hid * F.silu(T(m @ gv.T + gc)).numpy(), activation="silu", has_bias=1, is_split=1)
row("fused_glu", [m, gw], (m @ gw.T)[:, :2] * np.maximum((m @ gw.T)[:, 2:], 0), activation="relu")

# --- Shapes --------------------------------------------------------------------------------------

d = f(2, 3, 4)
row("reshape", d, d.reshape(4, 6), shape=[4, -1])
row("reshape", i, i.reshape(2, 2), shape=[2, 2])
row("reshape_like", [d, f(6, 4)], d.reshape(6, 4))
row("reshape_like", [i, f(2, 1, 2)], i.reshape(2, 1, 2))
row("flatten", d, d.reshape(24), start_dim=0, end_dim=-1)
row("flatten", d, d.reshape(2, 12), start_dim=1, end_dim=2)
row("expand_dims", d, d[:, None], axis=1)
row("expand_dims", d, d[..., None], axis=-1)
row("squeeze", d[:1, :, :1], d[0, :, 0], axes=[0, 2])
row("squeeze", d[:, :1], d[:, 0], axes=[1])
row("expand", d[:, :1], np.broadcast_to(d[:, :1], (2, 3, 4)), expand_shape=[2, 3, 4])
row("expand", f32(1, 2), np.broadcast_to(f32(1, 2), (3, 2)), expand_shape=[3, -1])
row("broadcast_like", [f32(1, 2), f(2, 3)], np.broadcast_to(f32(1, 2)[:, None], (2, 3)), broadcast_axes=[1])
row("broadcast_like", [d[:, :1], f(2, 3, 4)], np.broadcast_to(d[:, :1], (2, 3, 4)), broadcast_axes=[1])
row("broadcast_like", [f32(1, 2, 3, 4), d], np.broadcast_to(f32(1, 2, 3, 4), (2, 3, 4)), broadcast_axes=[0, 1])
row("cat", [d, d[:, :1]], np.concatenate([d, d[:, :1]], 1), axis=1)
row("cat", [i, j, i], np.concatenate([i, j, i]), axis=0)
row("stack", [a, b], np.stack([a, b]), axis=0)
row("stack", [a, b, a], np.stack([a, b, a], 2), axis=2)
row("narrow", d, d[:, 1:3], dim=1, start=1, length=2)
row("narrow", d, d[..., 2:4], dim=-1, start=2, length=2)
row("slice", d, d[:, 1:3, ::2], start=[0, 1, 0], stop=[2, 3, 4], step=[1, 1, 2])
row("slice", d, d[:1, :, 1:], start=[0, 0, 1], stop=[1, 3, 9], step=[1, 1, 1])
up = d.copy()
up[:, 1:3, ::2] = 9
row("slice_update", [d, np.full((2, 2, 2), 9, np.float32)], up, start=[0, 1, 0], stop=[2, 3, 4], step=[1, 1, 2])
row("slice_update", [f32(1, 2, 3), f32(7)], f32(1, 7, 3), start=[1], stop=[2], step=[1])
row("split_like", [d, f(2, 1, 4), f(2, 2, 4)], [d[:, :1], d[:, 1:]], axis=1)
row("split_like", [i, i32(0), i32(0, 0, 0)], [i[:1], i[1:]], axis=0)
row("transpose", d, d.transpose(1, 2, 0), perm=[1, 2, 0])
row("transpose", a, a.T, perm=[1, 0])
row("flip", d, d[:, ::-1], dims=[1])
row("flip", d, d[::-1, :, ::-1], dims=[0, 2])
row("roll", d, np.roll(d, (1, -1), (0, 2)), shifts=[1, -1], dims=[0, 2])
row("roll", a, np.roll(a, 2), shifts=[2], dims=[-1])
row("roll", a, np.roll(a, 1, 1), shifts=[1], dims=[1])
row("triu", d, np.triu(d), diagonal=0)
row("triu", d, np.triu(d, 2), diagonal=2)
row("tril", d, np.tril(d, -1), diagonal=-1)
row("tril", d, as32(np.where(np.tri(3, 4), d, 7)), integer_fill_value=7)
row("diag", f32(1, 2), np.diag(f32(1, 2), -1), diagonal=-1)
row("diag", n, np.diag(n, 1), diagonal=1)
row("diagonal", n, np.diagonal(n, -1), offset=-1)
row("diagonal", d, np.diagonal(d, 1, 0, 1), offset=1)
row("unfold_tensor", d, T(d).unfold(2, 2, 1), dimension=2, size=2, step=1)
row("unfold_tensor", d, T(d).unfold(1, 2, 1), dimension=1, size=2, step=1)
row("as_strided", d, torch.as_strided(T(d), (2, 3), (1, 4), 2), size=[2, 3], stride=[1, 4], storage_offset=2)
row("as_strided", i, torch.as_strided(T(i), (3, 2), (1, 1), 0), size=[3, 2], stride=[1, 1], storage_offset=0)
row("constant", [], np.full((2, 3), 2.5, np.float32), is_floating_value=1, floating_value=D(2.5), dtype="float32", shape=[2, 3])
row("constant", [], i64(7, 7), integer_value=7, dtype="int64", shape=[2])
row("constant", [], np.array(-1, np.int32), integer_value=-1, dtype="int32", shape=[])
row("constant_like", a, np.full((2, 3), 2.5, np.float32), float_operand=D(2.5))
row("constant_like", a, np.full((2, 3), 3, np.int32), int_operand=3, dtype="int32")
row("zero_like", a, 0 * a)
row("zero_like", boolean(1, 0), boolean(0, 0))
row("ones_like", f32(nan, 2), f32(1, 1))
row("ones_like", boolean(1, 0), boolean(1, 1))
row("fill_", a, np.full((2, 3), 2.5, np.float32), is_floating_value=1, floating_value=D(2.5))
row("fill_", i, np.full(4, -3, np.int32), integral_value=-3)
row("fill_tensor_", [a, np.array(4, np.float32)], np.full((2, 3), 4, np.float32))
row("fill_tensor_", [i, i32(5)], np.full(4, 5, np.int32))
row("arange", [], i64(1, 3, 5), dtype="int64", integer_start=1, integer_delta=2, integer_limit=6)
row("arange", [], f32(1, 0.5, 0), dtype="float32", float_start=D(1), float_delta=D(-0.5), float_limit=D(-0.2))
row("eye", [], np.eye(2, 3, dtype=np.float32), rows=2, cols=3, dtype="float32")
row("eye", [], np.eye(3, dtype=bool), rows=3, cols=3, dtype="bool")
row("one_hot", i32(0, 2, 1), as32(np.eye(3)[[0, 2, 1]] * 3 - 1), depth=3, floating_on_value=D(2), floating_off_value=D(-1), dtype="float32")
row("one_hot", i64(1, 0).reshape(2, 1), i32(7, 5, 5, 7).reshape(2, 1, 2), depth=2, integer_on_value=5, integer_off_value=7, dtype="int32")

# --- Indexing ------------------------------------------------------------------------------------

row("gather", [d, i32(2, 0)], d[:, [2, 0]], axis=1)
row("gather", [d, i64(1, 0, 1, 1).reshape(2, 2)], d[[[1, 0], [1, 1]]], axis=0)
row("batch_gather", [n, i64(2, 0, 1).reshape(3, 1)], np.take_along_axis(n, i64(2, 0, 1).reshape(3, 1), 1))
row("batch_gather", [d, i32(2, 0, 1, 1).reshape(2, 2)], np.stack([d[0][[2, 0]], d[1][[1, 1]]]))
row("gather_nd", [d, i64(1, 2, 0, 1).reshape(2, 2)], d[[1, 0], [2, 1]])
row("gather_nd", [d, i32(1, 2, 3).reshape(1, 3)], d[[1], [2], [3]])
at = i64(1, 0, 1, 1, 0, 0, 1, 0).reshape(2, 4)
row("dim_gather", [n, at[:1]], np.take_along_axis(n, at[:1], 0), dim=0)
row("dim_gather", [n, at.T[:3]], np.take_along_axis(n, at.T[:3], 1), dim=1)
src = f(2, 4)
base = f(3, 4)
row("dim_scatter_add", [base, at, src], T(base).scatter_add(0, T(at), T(src)), dim=0)
row("dim_scatter_add", [base, i64(3, 3).reshape(1, 2), src[:1, :2]], T(base).scatter_add(1, T(i64(3, 3).reshape(1, 2)), T(src[:1, :2])), dim=1)
row("dim_scatter_add_like", [base, at, src], torch.zeros(3, 4).scatter_add(0, T(at), T(src)), dim=0)
row("dim_scatter_add_like", [base, i64(3, 3).reshape(1, 2), src[:1, :2]], torch.zeros(3, 4).scatter_add(1, T(i64(3, 3).reshape(1, 2)), T(src[:1, :2])), dim=1)
row("dim_scatter_mul", [base, at, src], T(base).scatter(0, T(at), T(src), reduce="multiply"), dim=0)
row("dim_scatter_mul", [base, i64(3, 0).reshape(1, 2), src[:1, :2]], T(base).scatter(1, T(i64(3, 0).reshape(1, 2)), T(src[:1, :2]), reduce="multiply"), dim=1)
once = i64(1, 0, 1, 2).reshape(1, 4)
row("dim_scatter_update", [base, once, src[:1]], T(base).scatter(0, T(once), T(src[:1])), dim=0)
row("dim_scatter_update", [base, i64(3, 0).reshape(1, 2), src[:1]], T(base).scatter(1, T(i64(3, 0).reshape(1, 2)), T(src[:1])), dim=1)
for dim_, ix in ((0, once), (1, i64(3, 0).reshape(1, 2))):
    row("dim_scatter_add_scalar", [base, ix], T(base).scatter_add(dim_, T(ix), torch.full(ix.shape, 1.5)), dim=dim_, src_scalar=1.5)
    row("dim_scatter_mul_scalar", [base, ix], T(base).scatter(dim_, T(ix), 1.5, reduce="multiply"), dim=dim_, src_scalar=1.5)
    row("dim_scatter_update_scalar", [base, ix], T(base).scatter(dim_, T(ix), 1.5), dim=dim_, src_scalar=1.5)
row("scatter_nd", [i64(1, 1, 0).reshape(3, 1), f32(3, 4, 5)], f32(5, 7, 0), shape=[3])
upd = f(1, 3)
sc = np.zeros((2, 2, 3), np.float32)
sc[1, 0] = upd[0]
row("scatter_nd", [i32(1, 0).reshape(1, 2), upd], sc, shape=[2, 2, 3])
row("scatter_nd_like", [sc, i32(1, 0).reshape(1, 2), upd], sc)
row("scatter_nd_like", [f32(9, 9, 9), i64(1, 1, 0).reshape(3, 1), f32(3, 4, 5)], f32(5, 7, 0))
row("tensor_scatter_nd_update", [f32(1, 2, 3), f32(8, 9), i64(2, 0).reshape(2, 1)], f32(9, 2, 8))
row("tensor_scatter_nd_update", [sc, upd + 1, i32(0, 1).reshape(1, 2)], np.where(np.arange(4).reshape(2, 2, 1) == 1, upd + 1, sc))
row("tensor_scatter_nd_add", [f32(1, 2, 3), f32(8, 9), i64(2, 2).reshape(2, 1)], f32(1, 2, 20))
row("tensor_scatter_nd_add", [sc, upd, i32(1, 0).reshape(1, 2)], 2 * sc)
row("index_add", [base, i64(1, 1), src], T(base).index_add(0, T(i64(1, 1)), T(src), alpha=0.5), dim=0, alpha=0.5)
row("index_add", [base, i32(3), base[:, :1]], T(base).index_add(1, T(i64(3)), T(base[:, :1])), dim=1, alpha=1.0)
row("unsorted_segment_sum", [base, i32(1, 1, 0)], np.stack([base[2], base[0] + base[1], 0 * base[0]]), axis=0, num_segments=3)
row("unsorted_segment_sum", [f32(1, 2, 3, 4), i64(1, 0, 1, 1)], f32(2, 8), axis=0, num_segments=2)
row("unsorted_segment_sum_like", [base, i32(1, 1, 0), f(2, 4)], np.stack([base[2], base[0] + base[1]]), axis=0)
row("unsorted_segment_sum_like", [f32(1, 2, 3), i64(2, 2, 0), f32(0, 0, 0)], f32(3, 0, 3), axis=0)
row("repeat_interleave", [base, i64(2, 2, 3)], base[[0, 0, 2]], repeat_num=3)
row("repeat_interleave", [f32(5, 6), i64(1, 3)], f32(5, 6, 6), repeat_num=3)
ss = f32(1, 3, 5, 7)
row("searchsorted", [ss, f32(0, 3, 9)], np.searchsorted(ss, f32(0, 3, 9)))
row("searchsorted", [ss, f32(3, 7)], np.searchsorted(ss, f32(3, 7), "right").astype(np.int32), right=1, out_int32=1)
row("searchsorted_scalar", ss, np.array(1, np.int64), values=3.0)
row("searchsorted_scalar", ss, np.array(2, np.int32), values=3.0, right=1, out_int32=1)

# --- Reductions and orders -----------------------------------------------------------------------

with_nan = d.copy()
with_nan[0, 1, 2] = nan
for op, fn in (("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min), ("nansum", np.nansum)):
    data = with_nan if op == "nansum" else d
    row("reduce_" + op, data, as32(fn(data, (0, 2))), axis=[0, 2])
    row("reduce_" + op, data, as32(fn(data, 1, keepdims=True)), axis=[1], keepdims=1)
    row("reduce_" + op, data, as32(fn(data)), axis=[0, 1, 2])
    if op != "nansum":
        row("reduce_" + op, i, np.array(fn(i), np.int32), axis=[0])
row("reduce_sum", boolean(1, 0, 1), np.array(2, np.int64), axis=[0])
truths = boolean(1, 0, 1, 1).reshape(2, 2)
row("reduce_any", truths, truths.any(0), axis=[0])
row("reduce_any", f32(0, nan), boolean(1), axis=[0], keepdims=1)
row("reduce_all", truths, truths.all(1), axis=[1])
row("reduce_all", f32(0, nan), boolean(0), axis=[0], keepdims=1)
row("reduce_sum_like", [d, f(3, 4)], d.sum(0), axis=[0])
row("reduce_sum_like", [d, f(2, 1, 4)], d.sum(1, keepdims=True), axis=[1])
row("var", d, as32(d.var((0, 2), ddof=1)), dim=[0, 2], unbiased=1)
row("var", d, as32(d.var(1, keepdims=True)), dim=[1], unbiased=0, keepdim=1)
row("multi_square_sum", [a, b], f32((a * a).sum() + (b * b).sum()))
row("multi_square_sum", [a], f32((a * a).sum()))
z = np.array([[0.3, 0.2, 0.4, -1], [0.1, 0.5, 0.25, 2]], np.float32)
row("sort", z, np.sort(z), direction="ASCENDING")
row("sort", z, -np.sort(-z), direction="DESCENDING")
row("arg_sort", z, np.argsort(z).astype(np.int32), direction="ASCENDING")
row("arg_sort", z, np.argsort(-z).astype(np.int32), direction="DESCENDING")
row("argmax", z, z.argmax(-1))
row("argmax", f32(2, 5, 5, 1), np.array(1))
row("top_k", z, np.argsort(-z)[:, :2], k=2, sorted=1)
row("top_k", i32(3, 9, -2), i64(1, 0, 2), k=3, sorted=1)
row("in_top_k", [i32(0, 3, 2), z[[0, 1, 0]]], boolean(0, 1, 1), k=1)
row("in_top_k", [i64(0, 1, 2), z[[0, 1, 1]]], boolean(1, 1, 0), k=2)
row("cumsum", d, np.cumsum(d, 1), dim=1)
row("cumsum", a, np.cumsum(a, 0), dim=0)
row("cumprod", d, np.cumprod(d, 2), dim=2)
row("cumprod", a, np.cumprod(a, 0), dim=0)
row("median", f32(3, 1, 2, 5), np.array(2, np.float32))
row("median", z, torch.median(T(z)))
row("median_with_indices", z, list(torch.median(T(z), -1)))
row("median_with_indices", f32(3, 1, 2), [np.array(2, np.float32), np.array(2)])
row("mode", f32(3, 1, 3), torch.mode(T(f32(3, 1, 3)))[0])
row("mode", f32(2, 2, 1, 1, 5, 5, 5, 0).reshape(2, 4), f32(1, 5))

# --- Windows -------------------------------------------------------------------------------------

ones = lambda n_: dict(strides=[1] * n_, padding_before=[0] * n_, dilation_rate=[1] * n_)
to_last = lambda v_: np.ascontiguousarray(np.moveaxis(array(v_), 1, -1))
for n_ in (1, 2, 3):
    conv = (F.conv1d, F.conv2d, F.conv3d)[n_ - 1]
    deconv = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[n_ - 1]
    size = (5, 4, 3)[:n_]
    x_, w_, b_ = f(1, 2, *size), f(4, 1, *([2] * n_)), f(4)
    row("conv%dd" % n_, [x_, w_, b_], conv(T(x_), T(w_), T(b_), 2, 1, 1, 2), filters=4, kernel_size=[2] * n_, strides=[2] * n_,
        padding_before=[1] * n_, dilation_rate=[1] * n_, groups=2, data_format="channels_first")
    w_ = f(3, 2, *([2] * n_))
    row("conv%dd" % n_, [to_last(x_), to_last(w_)], to_last(conv(T(x_), T(w_))), kernel_size=[2] * n_, data_format="channels_last", **ones(n_))
    w_ = f(2, 2, *([2] * n_))
    row("deconv%dd" % n_, [x_, w_], deconv(T(x_), T(w_), None, 2, 1, 1, 2), filters=4, kernel_size=[2] * n_, strides=[2] * n_,
        padding_before=[1] * n_, dilation_rate=[1] * n_, output_padding=[1] * n_, groups=2, data_format="channels_first")
    row("deconv%dd" % n_, [x_, w_], deconv(T(x_), T(w_)), kernel_size=[2] * n_, output_padding=[0] * n_, groups=1, **ones(n_))
    mp = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[n_ - 1]
    ap = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[n_ - 1]
    y_ = f(1, 1, *((7, 5, 4)[:n_]))
    for op in ("max_pool_%dd", "maxpool_%dd"):
        row(op % n_, y_, list(mp(T(y_), 3, 2, 1, return_indices=True)), kernel_size=[3] * n_, stride=[2] * n_, padding=[1] * n_,
            dilation=[1] * n_)
        row(op % n_, to_last(x_), to_last(mp(T(x_), 2, 2, 0, 1, True)), kernel_size=[2] * n_, stride=[2] * n_, padding=[0] * n_,
            dilation=[1] * n_, ceil_mode=1, data_format="channels_last")
    for op in ("avg_pool_%dd", "avgpool_%dd"):
        row(op % n_, y_, ap(T(y_), 3, 2, 1), kernel_size=[3] * n_, stride=[2] * n_, padding=[1] * n_, count_include_pad=1)
        row(op % n_, y_, ap(T(y_), 2, 2, 1, True, False), kernel_size=[2] * n_, stride=[2] * n_, padding=[1] * n_, ceil_mode=1,
            count_include_pad=0)
        if n_ > 1:
            row(op % n_, y_, ap(T(y_), 2, 1, 0, divisor_override=3), kernel_size=[2] * n_, stride=[1] * n_, padding=[0] * n_,
                divisor_override=3)
    for op, pool in (("tf_max_pool_%dd", mp), ("tf_avg_pool_%dd", ap)):
        row(op % n_, x_, pool(T(x_), 2, 1), pool_size=[2] * n_, strides=[1] * n_, padding="valid", data_format="channels_first")
        padded = np.pad(y_, ((0, 0), (0, 0)) + ((0, 1),) * n_, constant_values=-99 if "max" in op else 0)
        if "max" in op:
            row(op % n_, y_, pool(T(padded), 2, 1), pool_size=[2] * n_, strides=[1] * n_, padding="same_upper")
        else:  # what is padded does not count
            count_ = pool(T(np.pad(np.ones_like(y_), ((0, 0), (0, 0)) + ((0, 1),) * n_)), 2, 1)
            row(op % n_, y_, pool(T(padded), 2, 1) / count_, pool_size=[2] * n_, strides=[1] * n_, padding="same_upper")
    aa = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[n_ - 1]
    am = (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)[n_ - 1]
    row("adaptive_avg_pool%dd" % n_, y_, aa(T(y_), 3), output_size=[3] * n_)
    row("adaptive_avg_pool%dd" % n_, to_last(x_), to_last(aa(T(x_), 1)), output_size=[1] * n_, data_format="channels_last")
    row("adaptive_max_pool%dd" % n_, y_, list(am(T(y_), 2, True)), output_size=[2] * n_)
    row("adaptive_max_pool%dd" % n_, x_, am(T(x_), 1), output_size=[1] * n_)
    un = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[n_ - 1]
    even = f(2, 2, *([4] * n_))
    top, places = mp(T(even), 2, 2, return_indices=True)
    row("max_unpool_%dd" % n_, [top, places], un(top, places, 2, 2), kernel_size=[2] * n_, stride=[2] * n_, padding=[0] * n_)
    top, places = mp(T(y_), 2, 2, return_indices=True)
    row("max_unpool_%dd" % n_, [top, places], un(top, places, 2, 2, 0, y_.shape), kernel_size=[2] * n_, stride=[2] * n_, padding=[0] * n_,
        has_output_size=1, output_size=list(y_.shape))
img = f(1, 2, 4, 5)
un_ = F.unfold(T(img), (2, 3), 1, (1, 0), (1, 2))
row("unfold", img, un_, kernel_size=[2, 3], strides=[1, 2], padding=[1, 0], dilation_rate=[1, 1], data_format="channels_first")
row("unfold", img, F.unfold(T(img), 2, 2), kernel_size=[2, 2], strides=[1, 1], padding=[0, 0], dilation_rate=[2, 2])
row("fold", un_, F.fold(un_, (4, 5), (2, 3), 1, (1, 0), (1, 2)), output_size=[4, 5], kernel_size=[2, 3], strides=[1, 2], padding=[1, 0],
    dilation_rate=[1, 1])
cols = f(1, 4, 2)
row("fold", cols, F.fold(T(cols), (2, 3), 2), output_size=[2, 3], kernel_size=[2, 2], strides=[1, 1], padding=[0, 0], dilation_rate=[1, 1])
row("pad", a, np.pad(a, ((1, 0), (0, 2)), constant_values=1.5), padding_before=[1, 0], padding_after=[0, 2], floating_constant_value=D(1.5))
row("pad", i, np.pad(i, (1, 2), constant_values=7), padding=[1, 2], integral_constant_value=7)
one = f(1, 2, 4)
row("reflection_pad1d", one, F.pad(T(one), (1, 2), "reflect"), padding=[1, 2])
row("reflection_pad1d", one, F.pad(T(one), (3, 0), "reflect"), padding=[3, 0])
row("reflection_pad2d", img, F.pad(T(img), (1, 2, 3, 0), "reflect"), padding=[1, 2, 3, 0])
row("reflection_pad2d", img, F.pad(T(img), (0, 1, 1, 1), "reflect"), padding=[0, 1, 1, 1])
row("replication_pad1d", one, F.pad(T(one), (1, 2), "replicate"), padding=[1, 2])
row("replication_pad1d", one, F.pad(T(one), (5, 0), "replicate"), padding=[5, 0])
row("replication_pad2d", img, F.pad(T(img), (1, 2, 3, 0), "replicate"), padding=[1, 2, 3, 0])
row("replication_pad2d", img, F.pad(T(img), (0, 1, 1, 6), "replicate"), padding=[0, 1, 1, 6])
row("same_padding", img, np.pad(img, ((0, 0), (0, 0), (0, 1), (1, 1))), kernel_size=[2, 3], strides=[1, 1], dilation_rate=[1, 1],
    padding="same_upper")
row("same_padding", to_last(img), to_last(np.pad(img, ((0, 0), (0, 0), (1, 0), (1, 0)))), kernel_size=[2, 2], strides=[1, 1], dilation_rate=[1, 1],
    padding="same_lower", data_format="channels_last")
vol = f(1, 1, 2, 3, 2)
names = {1: ["scale_factor"], 2: ["height_scale", "width_scale"], 3: ["depth_scale", "height_scale", "width_scale"]}
for op, mode, x_ in [("upsample_nearest_1d", "nearest", one), ("upsample_nearest_2d", "nearest", img), ("upsample_nearest_3d", "nearest", vol),
                     ("upsample_linear_1d", "linear", one), ("upsample_bilinear_2d", "bilinear", img), ("upsample_bicubic_2d", "bicubic", img),
                     ("upsample_trilinear_3d", "trilinear", vol)]:
    n_ = x_.ndim - 2
    for factor, corners in ((2.0, False), (1.5, True)):
        extra = {} if mode == "nearest" else dict(align_corners=corners)
        row(op, x_, F.interpolate(T(x_), scale_factor=factor, mode=mode, **extra), **{k_: D(factor) for k_ in names[n_]},
            **({} if mode == "nearest" else dict(align_corners=int(corners))))
    size = [5, 3, 4][:n_]
    row(op, x_, F.interpolate(T(x_), size, mode=mode, **extra), output_size=size, **({} if mode == "nearest" else dict(align_corners=1)))
row("upsample", img, F.interpolate(T(img), scale_factor=2, mode="nearest"), interpolation="nearest", height_scale=2.0, width_scale=2.0)
row("upsample", img, F.interpolate(T(img), scale_factor=2, mode="bilinear", align_corners=True), interpolation="bilinear", height_scale=2.0,
    width_scale=2.0, align_corners=1)
grid = f(1, 2, 3, 2)
for mode, pad_, corners in (("bilinear", "zeros", 1), ("nearest", "border", 0), ("bilinear", "reflection", 0)):
    row("grid_sample", [img, grid], F.grid_sample(T(img), T(grid), mode, pad_, bool(corners)), interpolation_mode=mode, padding_mode=pad_,
        align_corners=corners)
theta = f(1, 2, 3)
row("affine_grid", theta, F.affine_grid(T(theta), (1, 1, 2, 3), align_corners=True), size=[1, 1, 2, 3], align_corners=1)
row("affine_grid", theta, F.affine_grid(T(theta), (1, 1, 3, 2), align_corners=False), size=[1, 1, 3, 2], align_corners=0)


def roi_align(x, rois, size, scale, ratio, aligned):
    def at_(p, v_, u_):
        if v_ < -1 or v_ > p.shape[1] or u_ < -1 or u_ > p.shape[2]:
            return np.zeros(p.shape[0])
        v_, u_ = min(max(v_, 0), p.shape[1] - 1), min(max(u_, 0), p.shape[2] - 1)
        v0, u0 = int(v_), int(u_)
        v1, u1, dv, du = min(v0 + 1, p.shape[1] - 1), min(u0 + 1, p.shape[2] - 1), v_ - v0, u_ - u0
        return (p[:, v0, u0] * (1 - du) + p[:, v0, u1] * du) * (1 - dv) + (p[:, v1, u0] * (1 - du) + p[:, v1, u1] * du) * dv
    out = np.zeros((len(rois), x.shape[1]) + size, np.float32)
    for r_, (n_, *box) in enumerate(rois):
        x1, y1, x2, y2 = [v_ * scale - (0.5 if aligned else 0) for v_ in box]
        high, wide = (y2 - y1, x2 - x1) if aligned else (max(y2 - y1, 1), max(x2 - x1, 1))
        high, wide = high / size[0], wide / size[1]
        gy, gx = (ratio, ratio) if ratio > 0 else (math.ceil(high), math.ceil(wide))
        for p_ in range(size[0]):
            for q_ in range(size[1]):
                out[r_, :, p_, q_] = sum(at_(x[int(n_)], y1 + (p_ + (v_ + 0.5) / gy) * high, x1 + (q_ + (u_ + 0.5) / gx) * wide)
                                         for v_ in range(gy) for u_ in range(gx)) / max(gy * gx, 1)
    return out


rois = f32(0, 0, 0, 3, 3, 0, 1, 1, 4.5, 2, 0, 2, 2, 2.2, 2.1).reshape(3, 5)
row("roi_align", [img, rois], roi_align(img, rois, (2, 2), 1.0, 2, True), pooled_h=2, pooled_w=2, spatial_scale=1.0, sampling_ratio=2, aligned=1)
row("roi_align", [img, rois], roi_align(img, rois, (1, 3), 0.5, -1, False), pooled_h=1, pooled_w=3, spatial_scale=0.5, sampling_ratio=-1, aligned=0)
row("nms", f32(0, 0, 2, 2, 0, 0, 2, 1.9, 5, 5, 6, 6, 0, 0, 2, 0.5).reshape(4, 4), i8(1, 0, 1, 1), iou_threshold=0.5)
row("nms", f32(0, 0, 2, 2, 0, 0, 2, 1.9, 5, 5, 6, 6, 0, 0, 2, 0.5).reshape(4, 4), i8(1, 1, 1, 0), iou_threshold=0.96, keep_n=3)


def deform(x, off, w, mask, bias, stride, pad_):
    n_, ch, H, W = x.shape
    o_, cg, kh, kw = w.shape
    y_ = np.zeros((n_, o_) + off.shape[2:])

    def at_(p, v_, u_):
        s_ = 0.0
        if v_ <= -1 or v_ >= H or u_ <= -1 or u_ >= W:
            return s_
        v0, u0 = math.floor(v_), math.floor(u_)
        for yy, wy in ((v0, v0 + 1 - v_), (v0 + 1, v_ - v0)):
            for xx, wx in ((u0, u0 + 1 - u_), (u0 + 1, u_ - u0)):
                if 0 <= yy < H and 0 <= xx < W:
                    s_ += p[yy, xx] * wy * wx
        return s_
    for p_ in range(off.shape[2]):
        for q_ in range(off.shape[3]):
            cols_ = np.array([[[at_(x[0, c_], p_ * stride - pad_ + r_ + off[0, 2 * (r_ * kw + s_), p_, q_],
                                    q_ * stride - pad_ + s_ + off[0, 2 * (r_ * kw + s_) + 1, p_, q_]) *
                                (1 if mask is None else mask[0, r_ * kw + s_, p_, q_]) for s_ in range(kw)] for r_ in range(kh)]
                              for c_ in range(ch)])
            for k_ in range(o_):
                y_[0, k_, p_, q_] = (w[k_] * cols_).sum() + (0 if bias is None else bias[k_])
    return as32(y_)


dx, dw, db = f(1, 2, 3, 3), f(2, 2, 2, 2), f(2)
common = dict(dilation_h=1, dilation_w=1, groups=1, offset_groups=1)
off, mk = f(1, 8, 2, 2), pos(1, 4, 2, 2)
row("deform_conv2d", [dx, off, dw, db, mk], deform(dx, off, dw, mk, db, 1, 0), stride_h=1, stride_w=1, pad_h=0, pad_w=0, use_mask=1, **common)
off, mk = f(1, 8, 2, 2), pos(1, 4, 2, 2)
row("deform_conv2d", [dx, off, dw, X, mk], deform(dx, off, dw, mk, None, 2, 1), stride_h=2, stride_w=2, pad_h=1, pad_w=1, use_mask=1, **common)

# --- Norms ---------------------------------------------------------------------------------------

x_ = f(2, 3, 4)
mean, var, gamma, beta = f(3), pos(3), f(3), f(3)
along = lambda v_: v_[None, :, None]
bn = lambda eps: as32((x_ - along(mean)) / np.sqrt(along(var) + eps) * along(gamma) + along(beta))
for op in ("normalization", "normalization_infer"):
    row(op, [x_, mean, var, gamma, beta], bn(1e-5), axis=1, epsilon=1e-5, momentum=0.9) if op == "normalization" else row(
        op, [x_, mean, var, gamma, beta], bn(1e-5), axis=1, epsilon=1e-5)
    row(op, [np.moveaxis(x_, 1, 2), mean, var, gamma, beta], np.moveaxis(bn(0.1), 1, 2), axis=2, epsilon=0.1)
    row(op, [x_, mean, var, gamma, beta, x_], bn(0.1) + x_, axis=1, epsilon=0.1)
ad = f(2, 3, 4)
row("normalization_add_relu", [x_, ad, mean, var, gamma, beta], np.maximum(bn(0.1) + ad, 0), axis=1, epsilon=0.1)
row("normalization_add_relu", [x_, X, mean, var, gamma, beta], np.maximum(bn(1e-5), 0), axis=1, epsilon=1e-5)
g4, b4 = f(4), f(4)
mu, sd = x_.mean(-1), 1 / np.sqrt(x_.var(-1) + 1e-5)
row("layer_norm", [x_, b4, g4], [F.layer_norm(T(x_), (4,), T(g4), T(b4)), mu, sd], begin_norm_axis=2, begin_params_axis=2, epsilon=D(1e-5),
    center=1, scale=1)
row("layer_norm", [x_], F.layer_norm(T(x_), (3, 4), None, None, 0.1), begin_norm_axis=1, epsilon=D(0.1))
row("layer_norm", [x_, X, g4], F.layer_norm(T(x_), (4,), T(g4), None, 0.1), begin_norm_axis=-1, begin_params_axis=-1, epsilon=D(0.1), scale=1)
row("skip_layer_norm", [x_, g4, b4, b4, ad], F.layer_norm(T(x_ + b4 + np.float32(0.5) * ad), (4,), T(g4), T(b4)), epsilon=D(1e-5), alpha=D(0.5))
row("skip_layer_norm", [x_, X, X, X, ad], F.layer_norm(T(x_ + ad), (4,), None, None, 0.1), epsilon=D(0.1), alpha=D(1))
rms = lambda v_, eps, w_=1: as32(v_ / np.sqrt((v_ * v_).mean(-1, keepdims=True) + eps) * w_)
row("rms_norm", [x_, g4], rms(x_, 1e-5, g4), normalized_shape=[4], epsilon=1e-5)
row("rms_norm", [x_], as32(x_ / np.sqrt((x_ * x_).mean((1, 2), keepdims=True) + 0.1)), normalized_shape=[3, 4], epsilon=0.1)
row("skip_rms_norm", [x_, g4, b4, ad], rms(x_ + b4 + 2 * ad, 1e-5, g4), normalized_shape=[4], epsilon=1e-5, alpha=2.0)
row("skip_rms_norm", [x_, X, X, ad], rms(x_ + ad, 0.1), normalized_shape=[4], epsilon=0.1, alpha=1.0)
gx = f(2, 4, 3)
row("group_norm", [gx, b4, g4], F.group_norm(T(gx), 2, T(g4), T(b4)), num_groups=2, epsilon=D(1e-5), affine=1)
row("group_norm", [gx], F.silu(F.group_norm(T(gx), 1, None, None, 0.1)), num_groups=1, epsilon=D(0.1), activation="silu")
row("group_norm", [np.moveaxis(gx, 1, 2), b4, g4], F.group_norm(T(gx), 4, T(g4), T(b4)).transpose(1, 2), num_groups=4, epsilon=D(1e-5), affine=1,
    data_format="channels_last")
for eps, axis in ((1e-10, 1), (50.0, 2)):
    ssum = (x_ * x_).sum(axis, keepdims=True)
    row("l2_normalize", x_, [as32(x_ / np.sqrt(np.maximum(ssum, eps))), ssum], axis=axis, epsilon=eps)

# --- Quantization --------------------------------------------------------------------------------

qx = f32(-2.54, 0, 0.5, 1.27)
row("min_max_observer", qx, [f32(2.54 / 127), f32(0)])
row("min_max_observer", f32(-1, 4.1), [f32(5.1 / 255), f32(50)], quantization_scheme="affine")
row("min_max_observer", f32(1.27, 0, -2.54, 1).reshape(2, 2), [f32(0.01, 0.02), f32(0, 0)], per_layer_quantization=0)
row("min_max_observer", f32(-3, 4), f32(-4), quantization_formula="cambricon")
for scheme, step, zero in (("symmetric", 4.1 / 127, 0), ("affine", 5.1 / 255, 50)):
    row("moving_average_min_max_observer", [qx, i64(0), f32(4.1), f32(-1)], [f32(step), f32(zero)], quantization_scheme=scheme)
rounds = lambda v_: np.rint(v_)
fx = f32(-3, 0.26, 0.75, 200)
row("fake_quantization", [fx, f32(0.5), f32(0)], as32(np.clip(rounds(fx / 0.5), -128, 127) * 0.5))
row("fake_quantization", [fx, f32(0.5), f32(2)], as32((np.clip(rounds(fx / 0.5) + 2, 0, 255) - 2) * 0.5), quantization_scheme="affine")
row("fake_quantization", [f32(0.3, 0.3).reshape(2, 1), f32(0.5, 0.25), f32(0, 0)], f32(0.5, 0.25).reshape(2, 1))
row("quantization", [fx, f32(0.25), f32(0)], as32(np.clip(rounds(fx / 0.25), -128, 127)))
row("quantization", [fx, f32(0.25), f32(3)], as32(np.clip(rounds(fx / 0.25) + 3, 0, 255)), quantization_scheme="affine")

# --- Losses and cells ----------------------------------------------------------------------------

pr, tg, wt, lg = np.clip(pos(2, 3) / 3, 0.05, 0.95), np.abs(unit(2, 3)), pos(2, 3), f(2, 3)
row("binary_cross_entropy", [pr, tg], F.binary_cross_entropy(T(pr), T(tg), reduction="none"))
row("binary_cross_entropy", [pr, tg, wt], F.binary_cross_entropy(T(pr), T(tg), T(wt), reduction="none"))
logits = F.binary_cross_entropy_with_logits
row("binary_cross_entropy_with_logits", [lg, tg], logits(T(lg), T(tg), reduction="none"))
row("binary_cross_entropy_with_logits", [lg, tg, wt, wt[0]], logits(T(lg), T(tg), T(wt), reduction="none", pos_weight=T(wt[0])),
    has_pos_weight=1)
row("binary_cross_entropy_with_logits_reduce_mean", [lg, tg], logits(T(lg), T(tg)))
row("binary_cross_entropy_with_logits_reduce_mean", [f32(100, -100), f32(0, 1)], np.array(100, np.float32))
row("sigmoid_cross_entropy", [lg, tg], logits(T(lg), T(tg), reduction="none"))
row("sigmoid_cross_entropy", [lg, i8(0, 1, 1, 0, 0, 1).reshape(2, 3)], logits(T(lg), T(f32(0, 1, 1, 0, 0, 1).reshape(2, 3)), reduction="none"))
for bt in (1.0, 0.3):
    row("smooth_l1_loss", [lg, tg], F.smooth_l1_loss(T(lg), T(tg), reduction="none", beta=bt), beta=bt)
row("kl_div_loss", [lg, tg], F.kl_div(T(lg), T(tg), reduction="none"))
row("kl_div_loss", [lg, lg[::-1]], F.kl_div(T(lg), T(lg[::-1]), reduction="none", log_target=True), log_target=1)
lb = i64(2, 0)
sp, ls = F.softmax(T(lg), 1), -F.log_softmax(T(lg), 1)
for ms in ("", "_ms"):
    row("sparse_cross_entropy" + ms, [pr, lb], -np.log(pr[[0, 1], lb]), depth=3)
    row("sparse_cross_entropy" + ms, [pr, lb.astype(np.int32)[::-1]], -np.log(pr[[0, 1], lb[::-1]]), depth=3)
    row("sparse_softmax_cross_entropy" + ms, [lg, lb], [sp, ls.numpy()[[0, 1], lb]], depth=3)
    row("sparse_softmax_cross_entropy" + ms, [lg, lb.astype(np.int32)[::-1]], [sp, ls.numpy()[[0, 1], lb[::-1]]], depth=3)
row("softmax_cross_entropy", [lg, tg], [sp, (ls * T(tg)).sum(1)])
row("softmax_cross_entropy", [lg, f32(0, 0, 1, 1, 0, 0).reshape(2, 3)], [sp, ls.numpy()[[0, 1], lb]])
lab = i64(1, -100)
row("nll", [lg, lab], [f32(-lg[0, 1], 0), f32(1, 0)], ignore_index=-100)
row("nll", [lg, lb, f32(1, 2, 3)], [f32(-3 * lg[0, 2], -lg[1, 0]), f32(3, 1)], ignore_index=-100)
torch.manual_seed(5)
hidden, feats = 2, 3
xx, hx, cx = f(2, feats), f(2, hidden), f(2, hidden)
lstm, gru = torch.nn.LSTMCell(feats, hidden), torch.nn.GRUCell(feats, hidden)
for cell, op in ((lstm, "fused_lstm_cell"), (gru, "fused_gru_cell")):
    ig, hg = T(xx) @ cell.weight_ih.T, T(hx) @ cell.weight_hh.T
    if op == "fused_lstm_cell":
        want = list(cell(T(xx), (T(hx), T(cx))))
    else:
        want = [cell(T(xx), T(hx))]
    state = cx if op == "fused_lstm_cell" else hx
    row(op, [ig, hg, state, cell.bias_ih, cell.bias_hh], want)
    row(op, [ig + cell.bias_ih, hg + cell.bias_hh, state], want)

# --- Names and forms of releases 0.2 to 0.9, and those that only OneFlow's converter to ONNX has ---------------
old = np.random.RandomState(17)
g = lambda *s: old.uniform(-2, 2, s).round(2).astype(np.float32)
for x in (g(3), f32(-inf, inf, 0)):
    row("neg", x, -x)
    row("sigmoid_v2", x, torch.sigmoid(T(x)))
for x in (g(2, 3), f32(1000, 0, -1000)):
    row("logsoftmax", x, F.log_softmax(T(x), -1))
    row("argmin", x, torch.argmin(T(x), -1))
    row("reduce_mean", x, as32(x.astype(np.float64).mean(-1, keepdims=True)), axis=[-1], keepdims=1)
x, y = g(2, 3), g(2, 3)
row("reduce_mean", x, as32(x.astype(np.float64).mean(0)), axis=[0], keepdims=0)
for p, q in ((x, y), (i32(3, -2), i32(-4, 5))):
    row("multiply", [p, q], p * q)
    row("squared_difference", [p, q], (p - q) * (p - q))
row("concat", [x, y, y], np.concatenate([x, y, y], 1), axis=1, max_dim_size=9)
row("concat", [i64(1), i64(2, 3)], i64(1, 2, 3), axis=0, max_dim_size=3)
row("logical_slice", x, x[0:2, 1:3], start=[0, 1], stop=[2, 3], step=[1, 1])
row("logical_slice", i32(0, 1, 2, 3, 4), i32(1, 3), start=[1], stop=[5], step=[2])
row("range", [], i64(2, 5, 8), start=2, delta=3, limit=10, dtype="int64")
row("range", [], i32(-1, -3), start=-1, delta=-2, range_shape=2, dtype="int32")
for op, v, pads in (("constant_pad1d", g(1, 2, 3), [1, 2]), ("constant_pad2d", g(1, 2, 2, 2), [1, 0, 2, 1]),
                    ("constant_pad3d", g(1, 1, 1, 2, 2), [1, 0, 0, 1, 1, 0])):
    row(op, v, F.pad(T(v), pads, value=1.5), padding=pads, floating_value=D(1.5), integral_value=0)
    w = np.round(v).astype(np.int32)
    row(op, w, F.pad(T(w), pads, value=7), padding=pads, floating_value=D(0), integral_value=7)
z = i32(0, 1, 5)
for x in (g(3), f32(nan, 1, -1)):
    row("where_scalar_x", [z, x], np.where(z != 0, f32(2.5), x), has_float_operand=1, has_int_operand=0,
        float_operand=D(2.5), int_operand=0)
    row("where_scalar_y", [z != 0, x], np.where(z != 0, x, f32(-3)), has_float_operand=0, has_int_operand=1,
        float_operand=D(0), int_operand=-3)
row("where_scalar_xy", z, np.where(z != 0, 4, -1), has_x_int_operand=1, has_y_int_operand=1, has_x_float_operand=0,
    has_y_float_operand=0, x_int_operand=4, y_int_operand=-1, x_float_operand=D(0), y_float_operand=D(0))
row("where_scalar_xy", z, np.where(z != 0, 0.5, 1e300), has_x_int_operand=0, has_y_int_operand=0,
    has_x_float_operand=1, has_y_float_operand=1, x_int_operand=0, y_int_operand=0, x_float_operand=D(0.5),
    y_float_operand=D(1e300))
row("scalar_pow", f32(2, -3, 0.5), f32(8, -27, 0.125), exponent=D(3))
row("expand", f32(2, 3), f32(2, 3, 2, 3).reshape(2, 2), logical_in_shape=[2], logical_expand_shape=[2, 2])

rows.write(sys.argv[1])
