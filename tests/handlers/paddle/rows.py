"""Writes tests/data/paddle/rows.txt: operators of PaddlePaddle on small constants, and what they
give by Paddle's documentation, computed with NumPy and PyTorch.

    PYTHONPATH=tests/handlers python3 tests/handlers/paddle/rows.py tests/data/paddle/rows.txt

A line: operator; operands; attributes; results. Operands and results are NAME=tensor, several of one
name following each other, in the notation of x2ir/graph_wrapper/text.h.
"""
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F

import sequence_rows
from rows_text import Rows, attributes, tensor

rows = Rows()
rng = np.random.RandomState(7)


def slots(d):
    out = []
    for name, values in d.items():
        for v in values if isinstance(values, (list, tuple)) else [values]:
            out.append("%s=%s" % (name, tensor(v)))
    return "; ".join(out)


def row(op, ins, outs, **attrs):
    if not isinstance(outs, dict):
        outs = {"Out": outs}
    rows.add(op, slots(ins), attributes(attrs), slots(outs))


f = lambda *s: rng.uniform(-2, 2, s).astype(np.float32)
pos = lambda *s: rng.uniform(0.1, 3, s).astype(np.float32)
unit = lambda *s: rng.uniform(-0.9, 0.9, s).astype(np.float32)
ints = lambda lo, hi, *s: rng.randint(lo, hi, s)
T = lambda a: torch.from_numpy(np.ascontiguousarray(a))
VAR = {"bool": 0, "int32": 2, "int64": 3, "float32": 5, "float64": 6}

# --- By element ----------------------------------------------------------------------------------
for op, fn, gen in [
        ("abs", torch.abs, f), ("acos", torch.acos, unit), ("acosh", torch.acosh, lambda *s: pos(*s) + 1),
        ("asin", torch.asin, unit), ("asinh", torch.asinh, f), ("atan", torch.atan, f),
        ("atanh", torch.atanh, unit), ("cosh", torch.cosh, f), ("sinh", torch.sinh, f),
        ("tan", torch.tan, unit), ("tanh", torch.tanh, f), ("erf", torch.erf, f),
        ("erfinv", torch.erfinv, unit), ("exp", torch.exp, f), ("expm1", torch.expm1, f),
        ("log", torch.log, pos), ("log2", torch.log2, pos), ("log10", torch.log10, pos),
        ("log1p", torch.log1p, pos), ("rsqrt", torch.rsqrt, pos), ("sqrt", torch.sqrt, pos),
        ("trunc", torch.trunc, f), ("digamma", torch.digamma, pos), ("lgamma", torch.lgamma, pos),
        ("gammaln", torch.lgamma, pos), ("i0", torch.special.i0, f), ("i0e", torch.special.i0e, f),
        ("i1", torch.special.i1, f), ("i1e", torch.special.i1e, f), ("selu", F.selu, f),
        ("isnan_v2", torch.isnan, f), ("isinf_v2", torch.isinf, f), ("isfinite_v2", torch.isfinite, f),
        ("assign", lambda x: x, f), ("share_data", lambda x: x, f), ("memcpy", lambda x: x, f),
        ("memcpy_d2h", lambda x: x, f), ("memcpy_h2d", lambda x: x, f), ("c_identity", lambda x: x, f),
        ("depend", lambda x: x, f), ("real", lambda x: x, f), ("conj", lambda x: x, f),
        ("fill_zeros_like", torch.zeros_like, f),
        ("sin", torch.sin, f), ("cos", torch.cos, f), ("ceil", torch.ceil, f), ("floor", torch.floor, f),
        ("relu", torch.relu, f), ("sigmoid", torch.sigmoid, f), ("logsigmoid", F.logsigmoid, f),
        ("reciprocal", torch.reciprocal, pos), ("sign", torch.sign, f), ("softsign", F.softsign, f),
        ("silu", F.silu, f), ("square", torch.square, f), ("tanh_shrink", F.tanhshrink, f),
        ("mean", torch.mean, f), ("l1_norm", lambda x: x.abs().sum(), f),
        ("squared_l2_norm", lambda x: (x * x).sum().reshape(1), f)]:
    for shape in ((3,), (2, 2)):
        x = gen(*shape)
        if op.startswith("is"):
            x.flat[0] = np.nan
            x.flat[1] = np.inf
        row(op, {"X": x}, fn(T(x)))
for op in ("isnan_v2", "isinf_v2", "isfinite_v2"):
    row(op, {"X": np.array([1, 2], np.int64)}, np.full(2, op == "isfinite_v2"))
for d in (0, 2, -1):
    x = np.array([1.2345, -2.5, 15.0], np.float32)
    m = 10.0 ** d
    y = np.sign(x) * np.floor(np.abs(x * m) + 0.5) / m
    row("round", {"X": x}, y.astype(np.float32), decimals=d)
row("celu", {"X": np.array([-1, 2], np.float32)}, F.celu(T(np.array([-1, 2], np.float32)), 0.5), alpha=0.5)
row("celu", {"X": np.array([-2, 0], np.float32)}, F.celu(T(np.array([-2, 0], np.float32))))
x = f(4)
row("elu", {"X": x}, F.elu(T(x), 0.7), alpha=0.7)
row("elu", {"X": x}, F.elu(T(x)))
row("leaky_relu", {"X": x}, F.leaky_relu(T(x), 0.02))
row("leaky_relu", {"X": x}, F.leaky_relu(T(x), 0.3), alpha=0.3)
row("relu6", {"X": 4 * x}, F.relu6(T(4 * x)))
row("relu6", {"X": 4 * x}, T(4 * x).clip(0, 3), threshold=3.0)
row("brelu", {"X": 20 * x}, T(20 * x).clip(0, 24))
row("brelu", {"X": x}, T(x).clip(-0.5, 0.5), t_min=-0.5, t_max=0.5)
row("soft_relu", {"X": x}, np.log(1 + np.exp(np.clip(x, -40, 40))))
row("soft_relu", {"X": x}, np.log(1 + np.exp(np.clip(x, -1, 1))), threshold=1.0)
row("stanh", {"X": x}, 1.7159 * np.tanh(0.67 * x))
row("stanh", {"X": x}, (2 * np.tanh(0.5 * x)).astype(np.float32), scale_a=0.5, scale_b=2.0)
row("hard_shrink", {"X": x}, F.hardshrink(T(x)))
row("hard_shrink", {"X": x}, F.hardshrink(T(x), 1.0), threshold=1.0)
row("softshrink", {"X": x}, F.softshrink(T(x)))
row("softshrink", {"X": x}, F.softshrink(T(x), 1.0), **{"lambda": 1.0})
row("thresholded_relu", {"X": x}, np.where(x > 1, x, 0).astype(np.float32))
row("thresholded_relu", {"X": x}, np.where(x > 0.5, x, -3).astype(np.float32), threshold=0.5, value=-3.0)
row("swish", {"X": x}, x / (1 + np.exp(-x)))
row("swish", {"X": x}, x / (1 + np.exp(-2 * x)), beta=2.0)
row("softplus", {"X": 10 * x}, F.softplus(T(10 * x)))
row("softplus", {"X": x}, F.softplus(T(x), 2.0, 1.0), beta=2.0, threshold=1.0)
row("mish", {"X": x}, F.mish(T(x)))
row("mish", {"X": 3 * x}, F.mish(T(3 * x)), threshold=20.0)
row("gelu", {"X": x}, F.gelu(T(x)))
row("gelu", {"X": x}, F.gelu(T(x), approximate="tanh"), approximate=True)
row("hard_sigmoid", {"X": x}, np.clip(0.2 * x + 0.5, 0, 1))
row("hard_sigmoid", {"X": x}, np.clip(x / 6 + 0.5, 0, 1).astype(np.float32), slope=1 / 6, offset=0.5)
row("hard_swish", {"X": 2 * x}, F.hardswish(T(2 * x)))
row("hard_swish", {"X": x}, (x * np.clip(x + 1, 0, 4) / 5).astype(np.float32), threshold=4.0, scale=5.0, offset=1.0)
p = np.array([0.1, 0.5, 0.999999], np.float32)
row("logit", {"X": p}, np.log(np.clip(p, 1e-3, 1 - 1e-3) / (1 - np.clip(p, 1e-3, 1 - 1e-3))), eps=1e-3)
row("logit", {"X": p[:2]}, np.log(p[:2] / (1 - p[:2])), eps=0.0)
for n in (1, 2):
    y = pos(2) + 1
    row("polygamma", {"X": y}, torch.polygamma(n, T(y)), n=n)
x2 = np.array([2, 4], np.int32)
row("scale", {"X": x2}, x2 * 3 + 1, scale=3.0, bias=1.0)
row("scale", {"X": x}, ((x + 2) * 0.5).astype(np.float32), scale=0.5, bias=2.0, bias_after_scale=False)
row("scale", {"X": x, "ScaleTensor": np.array([4], np.float32)}, 4 * x)
row("clip", {"X": x}, np.clip(x, -1, 1), min=-1.0, max=1.0)
row("clip", {"X": x, "Min": np.array([0], np.float32), "Max": np.array([1], np.float32)}, np.clip(x, 0, 1),
    min=5.0, max=6.0)
row("clip", {"X": x2}, np.clip(x2, 0, 3), min=0.0, max=3.0)
row("cast", {"X": np.array([1.7, -1.7], np.float32)}, np.array([1, -1], np.int64), in_dtype=5, out_dtype=3)
row("cast", {"X": np.array([0, 2], np.int32)}, np.array([False, True]), in_dtype=2, out_dtype=0)
row("increment", {"X": np.array([3], np.int64)}, np.array([5], np.int64), step=2.0)
row("increment", {"X": np.array([3], np.float32)}, np.array([3.5], np.float32), step=0.5)
row("pow", {"X": x}, x * x, factor=2.0)
row("pow", {"X": pos(2), "FactorTensor": np.array([0.0], np.float32)}, np.ones(2, np.float32))
row("dropout", {"X": x}, 0.7 * x, dropout_prob=0.3, is_test=True)
row("dropout", {"X": x}, x, dropout_prob=0.3, is_test=True, dropout_implementation="upscale_in_train")

a, b = f(2, 3), f(2, 3)
for op, fn in [("elementwise_add", np.add), ("elementwise_sub", np.subtract), ("elementwise_mul", np.multiply),
               ("elementwise_div", np.divide), ("elementwise_max", np.maximum), ("elementwise_min", np.minimum),
               ("elementwise_fmax", np.fmax), ("elementwise_fmin", np.fmin), ("grad_add", np.add),
               ("elementwise_mod", np.mod), ("elementwise_floordiv", np.floor_divide),
               ("copysign", np.copysign), ("hypot", np.hypot), ("fused_elementwise_add", np.add),
               ("fused_elementwise_sub", np.subtract), ("fused_elementwise_mul", np.multiply),
               ("fused_elementwise_div", np.divide),
               ("elementwise_heaviside", np.heaviside), ("nextafter", np.nextafter),
               ("equal", np.equal), ("not_equal", np.not_equal), ("less_than", np.less),
               ("less_equal", np.less_equal), ("greater_than", np.greater), ("greater_equal", np.greater_equal)]:
    row(op, {"X": a, "Y": b}, fn(a, b))
    c = f(2)
    if op not in ("copysign", "hypot", "nextafter"):
        row(op, {"X": a, "Y": c}, fn(a, c[:, None]), axis=0)
    else:
        row(op, {"X": a, "Y": c[:1]}, fn(a, c[:1]))
n1 = np.array([np.nan, 1, 2], np.float32)
n2 = np.array([3, np.nan, 1], np.float32)
row("elementwise_fmax", {"X": n1, "Y": n2}, np.fmax(n1, n2))
row("elementwise_fmin", {"X": n1, "Y": n2}, np.fmin(n1, n2))
i1, i2 = np.array([7, -7, 7, -7], np.int64), np.array([2, 2, -2, -2], np.int64)
row("elementwise_mod", {"X": i1, "Y": i2}, np.mod(i1, i2))
row("elementwise_floordiv", {"X": i1, "Y": i2}, np.floor_divide(i1, i2))
row("elementwise_div", {"X": i1, "Y": np.array([2, 3, 2, 3], np.int64)}, np.trunc(i1 / np.array([2, 3, 2, 3])).astype(np.int64))
bp = pos(3)
row("elementwise_pow", {"X": bp, "Y": np.array([0, 1, 2], np.float32)}, bp ** np.array([0, 1, 2], np.float32))
row("elementwise_pow", {"X": np.array([2, 3], np.int64), "Y": np.array([3, 2], np.int64)}, np.array([8, 9], np.int64))
row("atan2", {"X1": a, "X2": b}, np.arctan2(a, b))
row("atan2", {"X1": np.array([0, -1], np.float32), "X2": np.array([-1, 0], np.float32)},
    np.arctan2(np.array([0, -1], np.float32), np.array([-1, 0], np.float32)))
t1, t2 = np.array([True, True, False, False]), np.array([True, False, True, False])
for op, fn in [("logical_and", np.logical_and), ("logical_or", np.logical_or), ("logical_xor", np.logical_xor)]:
    row(op, {"X": t1, "Y": t2}, fn(t1, t2))
    row(op, {"X": np.array([2, 0], np.int32), "Y": np.array([1, 1], np.int32)},
        fn(np.array([2, 0]), np.array([1, 1])))
row("logical_not", {"X": t1}, ~t1)
row("logical_not", {"X": np.array([0, 3], np.float32)}, np.array([True, False]))
for op, fn in [("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor)]:
    row(op, {"X": t1, "Y": t2}, fn(t1, t2))
    row(op, {"X": np.array([12, 7], np.int32), "Y": np.array([10, 3], np.int32)},
        fn(np.array([12, 7], np.int32), np.array([10, 3], np.int32)))
row("bitwise_not", {"X": t1}, ~t1)
row("bitwise_not", {"X": np.array([5, -1], np.int32)}, np.array([-6, 0], np.int32))
for op, fn in [("bitwise_left_shift", np.left_shift), ("bitwise_right_shift", np.right_shift)]:
    for l, r in [(np.array([5, 16], np.int32), np.array([1, 2], np.int32)),
                 (np.array([200, 3], np.uint8), np.array([1, 2], np.uint8))]:
        row(op, {"X": l, "Y": r}, fn(l, r))
for op, fn in [("gcd", np.gcd), ("lcm", np.lcm)]:
    row(op, {"X": np.array([12, 18], np.int64), "Y": np.array([8, 27], np.int64)},
        fn(np.array([12, 18], np.int64), np.array([8, 27], np.int64)))
    row(op, {"X": np.array([5, 0], np.int32), "Y": np.array([7, 4], np.int32)},
        fn(np.array([5, 0], np.int32), np.array([7, 4], np.int32)))
lx = f(2)
row("ldexp", {"X": lx, "Y": np.array([3, -1], np.int32)}, np.ldexp(lx, np.array([3, -1])).astype(np.float32))
row("ldexp", {"X": lx, "Y": np.array([1], np.int32)}, 2 * lx)
row("lerp", {"X": a, "Y": b, "Weight": np.array([0.25], np.float32)}, a + 0.25 * (b - a))
row("lerp", {"X": a, "Y": b, "Weight": np.float32(1)}, b)
cl = np.array([1, np.nan, np.inf, 2], np.float32)
cr = np.array([1.00001, np.nan, np.inf, 3], np.float32)
row("isclose", {"Input": cl, "Other": cr}, np.isclose(cl, cr, 1e-5, 1e-4), rtol="1e-5", atol="1e-4")
row("isclose", {"Input": cl, "Other": cr}, np.isclose(cl, cr, 1e-3, 1e-8, True), rtol="1e-3", atol="1e-8", equal_nan=True)
row("allclose", {"Input": cl, "Other": cr}, np.array(False), rtol="1e-3", atol="1e-4")
row("allclose", {"Input": cl[:1], "Other": cr[:1]}, np.array(True), rtol="1e-3", atol="1e-4")
row("equal_all", {"X": a, "Y": a}, np.array(True))
row("equal_all", {"X": a, "Y": b}, np.array(False))
row("sum", {"X": [a, b, a]}, a + b + a)
row("sum", {"X": [a]}, a)

# --- Shapes --------------------------------------------------------------------------------------
x = f(2, 3, 4)
row("shape", {"Input": x}, np.array([2, 3, 4], np.int32))
row("shape", {"Input": f(5)}, np.array([5], np.int32))
row("shape64", {"Input": x}, np.array([2, 3, 4], np.int64))
row("shape64", {"Input": f(1, 2)}, np.array([1, 2], np.int64))
row("size", {"Input": x}, np.array(24, np.int64))
row("size", {"Input": f(1)}, np.array(1, np.int64))
row("is_empty", {"X": x}, np.array(False))
row("is_empty", {"X": f(2)}, np.array(False))
for op in ("reshape2", "reshape"):
    row(op, {"X": x}, x.reshape(2, 12), shape=[0, -1])
    row(op, {"X": x, "Shape": np.array([4, 6], np.int32)}, x.reshape(4, 6), shape=[9, 9])
    row(op, {"X": x, "ShapeTensor": [np.array([3], np.int32), np.array([8], np.int32)]}, x.reshape(3, 8), shape=[-1, -1])
s = f(1, 3, 1)
for op in ("squeeze2", "squeeze"):
    row(op, {"X": s}, s[0], axes=[0])
    row(op, {"X": s}, s[:, :, 0], axes=[1, -1])
    row(op, {"X": s}, s.reshape(3), axes=[])
for op in ("unsqueeze2", "unsqueeze"):
    row(op, {"X": s}, s[None], axes=[0])
    u = f(2)
    row(op, {"X": u}, u.reshape(1, 2, 1), axes=[0, 2])
    row(op, {"X": u, "AxesTensor": np.array([-1], np.int32)}, u.reshape(2, 1))
row("flatten_contiguous_range", {"X": x}, x.reshape(2, 12), start_axis=1, stop_axis=2)
row("flatten_contiguous_range", {"X": x}, x.reshape(6, 4), start_axis=0, stop_axis=-2)
for op in ("flatten2", "flatten"):
    row(op, {"X": x}, x.reshape(6, 4), axis=2)
    row(op, {"X": x}, x.reshape(1, 24), axis=0)
for op in ("transpose2", "transpose"):
    row(op, {"X": x}, x.transpose(2, 0, 1), axis=[2, 0, 1])
    row(op, {"X": x}, x.transpose(0, 2, 1), axis=[0, -1, 1])
row("concat", {"X": [a, b]}, np.concatenate([a, b], 1), axis=1)
row("concat", {"X": [a, b], "AxisTensor": np.array([-2], np.int32)}, np.concatenate([a, b], 0))
row("stack", {"X": [a, b]}, {"Y": np.stack([a, b], 1)}, axis=1)
row("stack", {"X": [a, b]}, {"Y": np.stack([a, b], -1)}, axis=-1)
row("split", {"X": x}, {"Out": np.split(x, 2, 2)}, num=2, axis=2)
row("split", {"X": x}, {"Out": [x[:, :1], x[:, 1:]]}, sections=[1, -1], axis=1)
row("split", {"X": x, "AxisTensor": np.array([0], np.int32)}, {"Out": [x[:1], x[1:]]}, num=2)
row("unstack", {"X": a}, {"Y": [a[0], a[1]]}, axis=0, num=2)
row("unstack", {"X": a}, {"Y": [a[:, i] for i in range(3)]}, axis=-1, num=3)
row("unbind", {"X": a}, {"Out": [a[0], a[1]]}, axis=0)
row("unbind", {"X": a}, {"Out": [a[:, i] for i in range(3)]}, axis=1)
row("slice", {"Input": x}, x[:, 1:2, :], axes=[1], starts=[1], ends=[2])
row("slice", {"Input": x}, x[-1], axes=[0], starts=[-1], ends=[1000], decrease_axis=[0])
row("slice", {"Input": x, "StartsTensor": np.array([0, 1], np.int64), "EndsTensor": np.array([1, 3], np.int64)},
    x[0:1, 1:3], axes=[0, 1], starts=[-1, -1], ends=[-1, -1])
row("slice", {"Input": x, "StartsTensorList": [np.array([1], np.int32)], "EndsTensorList": [np.array([2], np.int32)]},
    x[1], axes=[0], starts=[-1], ends=[-1], decrease_axis=[0])
row("strided_slice", {"Input": x}, x[:, ::2, 1:4:2], axes=[1, 2], starts=[0, 1], ends=[3, 4], strides=[2, 2])
row("strided_slice", {"Input": x}, x[:, :, ::-1], axes=[2], starts=[3], ends=[-5], strides=[-1])
for op in ("crop_tensor", "crop"):
    row(op, {"X": x}, x[0:1, 1:3, 2:4], shape=[1, 2, 2], offsets=[0, 1, 2])
    row(op, {"X": x}, x[1:, 0:2, 1:], shape=[-1, 2, -1], offsets=[1, 0, 1])
row("flip", {"X": x}, x[:, ::-1], axis=[1])
row("flip", {"X": x}, x[::-1, :, ::-1], axis=[0, -1])
row("reverse", {"X": x}, x[:, ::-1], axis=[1])
row("reverse", {"X": a}, a[::-1, ::-1], axis=[0, 1])
row("roll", {"X": x}, np.roll(x, 1, 2), shifts=[1], axis=[2])
row("roll", {"X": a}, np.roll(a, (1, -1), (0, 1)), shifts=[1, -1], axis=[0, 1])
e = f(1, 3)
row("expand_v2", {"X": e}, np.broadcast_to(e, (2, 3)), shape=[2, -1])
row("expand_v2", {"X": e, "Shape": np.array([4, 2, 3], np.int32)}, np.broadcast_to(e, (4, 2, 3)))
row("expand_v2", {"X": e, "expand_shapes_tensor": [np.array([5], np.int32), np.array([3], np.int32)]},
    np.broadcast_to(e, (5, 3)), shape=[-1, -1])
row("expand_as_v2", {"X": e, "Y": a}, np.broadcast_to(e, (2, 3)))
row("expand_as_v2", {"X": e}, np.broadcast_to(e, (4, 3)), target_shape=[4, 3])
row("expand", {"X": e}, np.tile(e, (2, 1)), expand_times=[2, 1])
row("expand", {"X": a}, np.tile(a, (1, 2)), expand_times=[1, 2])
row("expand_as", {"X": e, "target_tensor": a}, np.tile(e, (2, 1)))
row("expand_as", {"X": e, "target_tensor": f(2, 6)}, np.tile(e, (2, 2)))
row("tile", {"X": a}, np.tile(a, (2, 1)), repeat_times=[2, 1])
row("tile", {"X": a, "RepeatTimes": np.array([2, 1, 2], np.int32)}, np.tile(a, (2, 1, 2)))
e2 = f(2, 1)
row("broadcast_tensors", {"X": [e, e2]}, {"Out": list(np.broadcast_arrays(e, e2))})
e3 = f(3)
row("broadcast_tensors", {"X": [a, e3]}, {"Out": list(np.broadcast_arrays(a, e3))})
row("meshgrid", {"X": [e3, u]}, {"Out": list(np.meshgrid(e3, u, indexing="ij"))})
row("meshgrid", {"X": [u, e3]}, {"Out": list(np.meshgrid(u, e3, indexing="ij"))})
im = f(1, 8, 2, 3)
row("pixel_shuffle", {"X": im}, F.pixel_shuffle(T(im), 2), upscale_factor=2)
row("pixel_shuffle", {"X": im.transpose(0, 2, 3, 1)}, F.pixel_shuffle(T(im), 2).permute(0, 2, 3, 1), upscale_factor=2,
    data_format="NHWC")
im2 = f(1, 2, 4, 4)
row("pixel_unshuffle", {"X": im2}, F.pixel_unshuffle(T(im2), 2), downscale_factor=2)
row("pixel_unshuffle", {"X": im2.transpose(0, 2, 3, 1)}, F.pixel_unshuffle(T(im2), 2).permute(0, 2, 3, 1),
    downscale_factor=2, data_format="NHWC")
for op, name in (("shuffle_channel", "group"), ("channel_shuffle", "groups")):
    row(op, {"X": im}, F.channel_shuffle(T(im), 2), **{name: 2})
    row(op, {"X": im}, F.channel_shuffle(T(im), 4), **{name: 4})
ts = f(4, 4, 1, 2)


def temporal(v, seg, ratio):
    v5 = v.reshape(-1, seg, *v.shape[1:])
    c = v.shape[1]
    c1, c2 = int(c * ratio), int(c * 2 * ratio)
    out = np.zeros_like(v5)
    out[:, 1:, :c1] = v5[:, :-1, :c1]
    out[:, :-1, c1:c2] = v5[:, 1:, c1:c2]
    out[:, :, c2:] = v5[:, :, c2:]
    return out.reshape(v.shape)


row("temporal_shift", {"X": ts}, temporal(ts, 2, 0.25), seg_num=2, shift_ratio=0.25)
row("temporal_shift", {"X": ts}, temporal(ts, 4, 0.5), seg_num=4, shift_ratio=0.5)
row("lod_reset", {"X": a}, a)
row("lod_reset", {"X": a, "Y": np.array([0, 2], np.int32)}, a)

# --- Reductions and order ------------------------------------------------------------------------
for op, fn in [("reduce_sum", np.sum), ("reduce_mean", np.mean), ("reduce_max", np.max), ("reduce_min", np.min),
               ("reduce_prod", np.prod), ("reduce_amax", np.max), ("reduce_amin", np.min)]:
    row(op, {"X": x}, fn(x, axis=1), dim=[1])
    row(op, {"X": x}, fn(x, axis=(0, 2), keepdims=True), dim=[0, -1], keep_dim=True)
    row(op, {"X": x}, np.float32(fn(x)), dim=[0], reduce_all=True)
row("reduce_sum", {"X": np.array([1, 2], np.int32)}, np.array(3, np.int64), dim=[0])
bb = np.array([[True, False], [True, True]])
row("reduce_any", {"X": bb}, bb.any(0), dim=[0])
row("reduce_any", {"X": bb}, np.array(True), dim=[0], reduce_all=True)
row("reduce_all", {"X": bb}, bb.all(1), dim=[1])
row("reduce_all", {"X": bb}, bb.all(1, keepdims=True), dim=[1], keep_dim=True)
row("logsumexp", {"X": x}, torch.logsumexp(T(x), 1), axis=[1])
row("logsumexp", {"X": x}, torch.logsumexp(T(x), (0, 1, 2)), axis=[0], reduce_all=True)
row("p_norm", {"X": x}, np.linalg.norm(x, 3, axis=1), porder=3.0, axis=1)
row("p_norm", {"X": x}, np.float32(np.sqrt((x * x).sum())), porder=2.0, axis=-1, asvector=True)
row("frobenius_norm", {"X": x}, np.sqrt((x * x).sum((1, 2))), dim=[1, 2])
row("frobenius_norm", {"X": x}, np.float32(np.sqrt((x * x).sum())), dim=[0], reduce_all=True)
row("norm", {"X": a}, {"Out": a / np.sqrt((a * a).sum(1, keepdims=True) + 1e-10)}, axis=1)
row("norm", {"X": a}, {"Out": a / np.sqrt((a * a).sum(0, keepdims=True) + 1e-3),
                       "Norm": np.sqrt((a * a).sum(0, keepdims=True) + 1e-3)}, axis=0, epsilon=1e-3)
nn = np.sqrt((a * a).sum())
row("clip_by_norm", {"X": a}, a / nn, max_norm=1.0)
row("clip_by_norm", {"X": a}, a, max_norm=100.0)
row("dist", {"X": a, "Y": b}, np.float32(np.sqrt(((a - b) ** 2).sum())), p=2.0)
row("dist", {"X": a, "Y": b}, np.float32(np.abs(a - b).sum()), p=1.0)
row("arg_max", {"X": x}, x.argmax(1), axis=1, dtype=3)
row("arg_max", {"X": x}, np.int32(x.argmax()), axis=0, flatten=True, dtype=2)
row("arg_min", {"X": x}, x.argmin(2), axis=-1, dtype=3)
row("arg_min", {"X": x}, x.argmin(1)[:, None].astype(np.int64), axis=1, keepdims=True, dtype=3)
o = np.argsort(-x, 2)
row("top_k_v2", {"X": x}, {"Out": -np.sort(-x, 2)[:, :, :2], "Indices": o[:, :, :2]}, k=2, axis=-1)
row("top_k_v2", {"X": x, "K": np.array([1], np.int32)}, {"Out": x.min(1, keepdims=True), "Indices": x.argmin(1)[:, None]},
    axis=1, largest=False)
row("top_k", {"X": x}, {"Out": -np.sort(-x, 2)[:, :, :2], "Indices": o[:, :, :2]}, k=2)
row("top_k", {"X": a}, {"Out": a.max(1, keepdims=True), "Indices": a.argmax(1)[:, None]}, k=1)
row("argsort", {"X": x}, {"Out": np.sort(x, 1), "Indices": np.argsort(x, 1)}, axis=1)
row("argsort", {"X": x}, {"Out": -np.sort(-x, -1), "Indices": np.argsort(-x, -1)}, axis=-1, descending=True)
row("kthvalue", {"X": a}, {"Out": np.sort(a, 1)[:, 1], "Indices": np.argsort(a, 1)[:, 1]}, k=2)
row("kthvalue", {"X": a}, {"Out": a.min(0, keepdims=True), "Indices": a.argmin(0)[None]}, k=1, axis=0, keepdim=True)
md = np.array([[1, 2, 2], [3, 3, 1]], np.float32)
row("mode", {"X": md}, {"Out": np.array([2, 3], np.float32)}, axis=-1)
row("mode", {"X": md[:, 1:]}, {"Out": np.array([[2], [1]], np.float32)}, axis=1, keepdim=True)
row("cumsum", {"X": x}, x.cumsum(1), axis=1)
row("cumsum", {"X": a}, (a[:, ::-1].cumsum(1)[:, ::-1] - a), axis=1, reverse=True, exclusive=True)
row("cumsum", {"X": a}, a.cumsum(), flatten=True, axis=-1)
row("cumprod", {"X": x}, x.cumprod(2), dim=2)
row("cumprod", {"X": a}, a.cumprod(0), dim=0)
row("logcumsumexp", {"X": a}, torch.logcumsumexp(T(a), 1), axis=1)
row("logcumsumexp", {"X": a}, torch.logcumsumexp(T(a).flatten(), 0), axis=-1, flatten=True)
for op, fn in (("cummax", torch.cummax), ("cummin", torch.cummin)):
    v, i = fn(T(a), 1)
    row(op, {"X": a}, {"Out": v, "Indices": i}, axis=1, dtype=3)
    v, i = fn(T(a), 0)
    row(op, {"X": a}, {"Out": v, "Indices": i.int()}, axis=0, dtype=2)

# --- Matrices ------------------------------------------------------------------------------------
m1, m2 = f(2, 3), f(3, 4)
row("matmul_v2", {"X": m1, "Y": m2}, m1 @ m2)
row("matmul_v2", {"X": m1.T, "Y": m2.T}, m1 @ m2, trans_x=True, trans_y=True)
row("matmul", {"X": m1, "Y": m2}, 0.5 * (m1 @ m2), alpha=0.5)
row("matmul", {"X": m1, "Y": m2.T}, m1 @ m2, transpose_Y=True)
w12 = f(12, 2)
row("mul", {"X": x, "Y": w12}, x.reshape(2, 12) @ w12, x_num_col_dims=1, y_num_col_dims=1)
w4 = f(4, 2)
row("mul", {"X": x, "Y": w4}, x @ w4, x_num_col_dims=2, y_num_col_dims=1)
bm = f(2, 4, 3)
row("bmm", {"X": x, "Y": bm}, x @ bm)
row("bmm", {"X": bm, "Y": x}, bm @ x)
row("mv", {"X": m1, "Vec": e3}, m1 @ e3)
row("mv", {"X": m2.T.copy(), "Vec": e3}, m2.T @ e3)
c24 = f(2, 4)
row("addmm", {"Input": c24, "X": m1, "Y": m2}, 0.5 * c24 + 2 * (m1 @ m2), Alpha=2.0, Beta=0.5)
row("addmm", {"Input": c24, "X": m1, "Y": m2}, c24 + m1 @ m2)
b33 = f(2, 3, 3)
row("baddbmm", {"Input": b33, "X": x, "Y": bm}, b33 + x @ bm)
row("baddbmm", {"Input": b33, "X": x, "Y": bm}, 2 * b33 - x @ bm, Alpha=-1.0, Beta=2.0)
m3 = f(4, 2)
row("multi_dot", {"X": [m1, m2, m3]}, m1 @ m2 @ m3)
row("multi_dot", {"X": [m1, m2]}, m1 @ m2)
sq = f(3, 3) + 3 * np.eye(3, dtype=np.float32)
row("matrix_power", {"X": sq}, sq @ sq @ sq, n=3)
row("matrix_power", {"X": sq}, np.linalg.inv(sq), n=-1)
row("dot", {"X": a, "Y": b}, (a * b).sum(1))
row("dot", {"X": a[0], "Y": b[0]}, np.float32((a * b)[0].sum()))
row("kron", {"X": a, "Y": b}, np.kron(a, b))
row("kron", {"X": u, "Y": e3}, np.kron(u, e3))
row("cross", {"X": a, "Y": b}, np.cross(a, b), dim=1)
row("cross", {"X": a, "Y": b}, np.cross(a, b), dim=9)
row("einsum", {"Operands": [m1, m2]}, m1 @ m2, equation="ij,jk->ik")
row("einsum", {"Operands": [x]}, x.sum(1), equation="ijk->ik")
wt = f(2, 3, 4)
xb, yb, bi = f(2, 3), f(2, 4), f(1, 2)
row("bilinear_tensor_product", {"X": xb, "Y": yb, "Weight": wt}, np.einsum("bi,kij,bj->bk", xb, wt, yb))
row("bilinear_tensor_product", {"X": xb, "Y": yb, "Weight": wt, "Bias": bi}, np.einsum("bi,kij,bj->bk", xb, wt, yb) + bi)
row("determinant", {"Input": sq}, np.float32(np.linalg.det(sq)))
sqs = np.stack([sq, sq.T + 1]).astype(np.float32)
row("determinant", {"Input": sqs}, np.linalg.det(sqs))
for v in (sq, sqs):
    sg, ld = np.linalg.slogdet(v)
    row("slogdeterminant", {"Input": v}, np.stack([sg, ld]).astype(np.float32))
    row("inverse", {"Input": v}, {"Output": np.linalg.inv(v)})
spd = (sq @ sq.T).astype(np.float32)
row("cholesky", {"X": spd}, np.linalg.cholesky(spd))
row("cholesky", {"X": spd}, np.linalg.cholesky(spd).T, upper=True)
rhs = f(3, 2)
row("solve", {"X": sq, "Y": rhs}, np.linalg.solve(sq, rhs))
row("solve", {"X": spd, "Y": rhs}, np.linalg.solve(spd, rhs))
row("triangular_solve", {"X": sq, "Y": rhs}, np.linalg.solve(np.triu(sq), rhs))
row("triangular_solve", {"X": sq, "Y": rhs}, np.linalg.solve(np.tril(sq).T, rhs), upper=False, transpose=True)
ev, _ = np.linalg.eigh(spd)
row("eigh", {"X": spd}, {"Eigenvalues": ev}, UPLO="L")
row("eigh", {"X": spd}, {"Eigenvalues": ev}, UPLO="U")
row("eigvalsh", {"X": spd}, {"Eigenvalues": ev}, uplo="L")
row("eigvalsh", {"X": spd}, {"Eigenvalues": ev}, uplo="U")
row("svd", {"X": m1}, {"S": np.linalg.svd(m1)[1]})
row("svd", {"X": sq}, {"S": np.linalg.svd(sq)[1]})

# --- Indexing ------------------------------------------------------------------------------------
idx = np.array([1, 0, 1], np.int64)
row("gather", {"X": a, "Index": idx}, a[idx])
row("gather", {"X": x, "Index": np.array([2, 0], np.int32), "Axis": np.array([1], np.int32)}, x[:, [2, 0]])
row("index_select", {"X": x, "Index": np.array([2, 2], np.int32)}, x[:, [2, 2]], dim=1)
row("index_select", {"X": a, "Index": idx}, a[idx], dim=0)
row("gather_nd", {"X": x, "Index": np.array([[1, 2], [0, 0]], np.int64)}, np.stack([x[1, 2], x[0, 0]]))
row("gather_nd", {"X": a, "Index": np.array([[1, 2]], np.int32)}, a[1:2, 2])
ix = np.array([[2, 0], [1, 1]], np.int64)
row("index_sample", {"X": a, "Index": ix}, np.take_along_axis(a, ix, 1))
row("index_sample", {"X": b, "Index": ix.astype(np.int32)}, np.take_along_axis(b, ix, 1))
row("take_along_axis", {"Input": a, "Index": ix}, {"Result": np.take_along_axis(a, ix, 1)}, Axis=1)
row("take_along_axis", {"Input": a, "Index": np.array([[1, 0, 1]], np.int64)},
    {"Result": np.take_along_axis(a, np.array([[1, 0, 1]]), 0)}, Axis=0)
vals = f(2, 2)
for red, name in (("assign", None), ("add", "sum"), ("multiply", "prod"), ("amax", "amax"), ("mean", "mean")):
    dst = T(a.copy())
    ix3 = np.array([[2, 0], [1, 0]], np.int64)
    y = dst.scatter(1, T(ix3), T(vals)) if name is None else dst.scatter_reduce(1, T(ix3), T(vals), name)
    row("put_along_axis", {"Input": a, "Index": ix3, "Value": vals}, {"Result": y}, Axis=1, Reduce=red)
up = f(2, 3)
sc = f(4, 3)
ids = np.array([3, 1], np.int64)
y = sc.copy(); y[ids] = up
row("scatter", {"X": sc, "Ids": ids, "Updates": up}, y, overwrite=True)
ids2 = np.array([1, 1], np.int64)
y = sc.copy(); y[1] = up.sum(0)
row("scatter", {"X": sc, "Ids": ids2, "Updates": up}, y, overwrite=False)
y = sc.copy(); y[3, 1] += up[0, 0]; y[0, 0] += up[0, 1]
row("scatter_nd_add", {"X": sc, "Index": np.array([[3, 1], [0, 0]], np.int64), "Updates": up[0, :2]}, y)
y = sc.copy(); y[2] += up[0] + up[1]
row("scatter_nd_add", {"X": sc, "Index": np.array([[2], [2]], np.int64), "Updates": up}, y)
y = sc.copy(); y[1] += up[0] + up[1]
row("index_add", {"X": sc, "Index": ids2, "AddValue": up}, y, axis=0)
ua = f(4, 2)
y = sc.copy(); y[:, [2, 0]] += ua
row("index_add", {"X": sc, "Index": np.array([2, 0], np.int32), "AddValue": ua}, y, axis=1)
y = sc.copy(); y[[3, 0], [1, 2]] = up[0, :2]
row("index_put", {"x": sc, "indices": [np.array([3, 0], np.int64), np.array([1, 2], np.int64)], "value": up[0, :2]}, {"out": y})
y = sc.copy(); y[2] += up[0] + up[1]
row("index_put", {"x": sc, "indices": [np.array([2, 2], np.int64)], "value": up}, {"out": y}, accumulate=True)
mask = a > 0
row("masked_select", {"X": a, "Mask": mask}, {"Y": a[mask]})
row("masked_select", {"X": e3, "Mask": np.array([True, False, True])}, {"Y": e3[[0, 2]]})
row("masked_fill", {"X": a, "Mask": mask, "Value": np.float32(9)}, np.where(mask, 9, a).astype(np.float32))
row("masked_fill", {"X": a, "Mask": ~mask, "Value": np.array([0], np.float32)}, np.where(mask, a, 0).astype(np.float32))
row("where", {"Condition": mask, "X": a, "Y": b}, np.where(mask, a, b))
row("where", {"Condition": t1, "X": i1, "Y": i2}, np.where(t1, i1, i2))
row("where_index", {"Condition": mask}, np.argwhere(mask))
row("where_index", {"Condition": np.array([0, 3, 1], np.int64)}, np.array([[1], [2]], np.int64))
row("multiplex", {"X": [a, b], "Ids": np.array([[1], [0]], np.int32)}, np.stack([b[0], a[1]]))
row("multiplex", {"X": [a, b], "Ids": np.array([[0], [1]], np.int32)}, np.stack([a[0], b[1]]))
si = np.array([[1], [6], [12], [19]], np.int64)
row("shard_index", {"X": si}, np.array([[1], [6], [-1], [-1]], np.int64), index_num=20, nshards=2, shard_id=0, ignore_value=-1)
row("shard_index", {"X": si}, np.array([[-7], [-7], [2], [9]], np.int64), index_num=20, nshards=2, shard_id=1, ignore_value=-7)
W = f(4, 2)
row("lookup_table_v2", {"Ids": np.array([[1, 3]], np.int64), "W": W}, W[[[1, 3]]], padding_idx=-1)
y = W[[1, 3]].copy(); y[1] = 0
row("lookup_table_v2", {"Ids": np.array([1, 3], np.int64), "W": W}, y, padding_idx=3)
row("lookup_table", {"Ids": np.array([[1], [3]], np.int64), "W": W}, W[[1, 3]], padding_idx=-1)
row("lookup_table", {"Ids": np.array([[1], [3]], np.int64), "W": W}, y, padding_idx=3)
row("c_embedding", {"Ids": np.array([0, 2], np.int64), "W": W}, W[[0, 2]])
row("c_embedding", {"Ids": np.array([[3]], np.int32), "W": W}, W[[[3]]])
row("one_hot_v2", {"X": np.array([2, 0], np.int64)}, np.eye(3, dtype=np.float32)[[2, 0]], depth=3, dtype=5)
row("one_hot_v2", {"X": np.array([1], np.int64), "depth_tensor": np.array([2], np.int32)}, np.eye(2, dtype=np.float32)[[1]], dtype=5)
row("one_hot", {"X": np.array([[2], [0]], np.int64)}, np.eye(3, dtype=np.float32)[[2, 0]], depth=3, dtype=5)
row("one_hot", {"X": np.array([[1]], np.int64)}, np.eye(4, dtype=np.int64)[[1]], depth=4, dtype=3)
ss, sv = np.array([1, 3, 5, 7], np.float32), np.array([[3, 6], [0, 8]], np.float32)
row("searchsorted", {"SortedSequence": ss, "Values": sv}, np.searchsorted(ss, sv))
row("searchsorted", {"SortedSequence": ss, "Values": sv}, np.searchsorted(ss, sv, "right").astype(np.int32), right=True, out_int32=True)
bc = np.array([1, 0, 3, 1], np.int64)
row("bincount", {"X": bc}, np.bincount(bc), minlength=0)
row("bincount", {"X": bc, "Weights": np.array([1, 2, 3, 4], np.float32)},
    np.bincount(bc, np.array([1, 2, 3, 4]), 6).astype(np.float32), minlength=6)
hx = np.array([1, 2, 1, 5], np.float32)
row("histogram", {"X": hx}, np.histogram(hx, 4, (0, 4))[0], bins=4, min=0, max=4)
row("histogram", {"X": hx}, np.histogram(hx, 2, (1, 5))[0], bins=2, min=0, max=0)
uq = np.array([3, 1, 3, 2], np.int64)
v, i, inv, cn = np.unique(uq, True, True, True)
row("unique", {"X": uq}, {"Out": v, "Indices": i, "Index": inv, "Counts": cn}, is_sorted=True, dtype=3,
    return_index=True, return_inverse=True, return_counts=True)
row("unique", {"X": uq}, {"Out": np.array([3, 1, 2], np.int64), "Index": np.array([0, 1, 0, 2], np.int32)}, dtype=2)
uc = np.array([1, 1, 2, 2, 2, 1], np.int64)
row("unique_consecutive", {"X": uc}, {"Out": np.array([1, 2, 1], np.int64), "Index": np.array([0, 0, 1, 1, 1, 2], np.int64),
                                      "Counts": np.array([2, 3, 1], np.int64)}, return_inverse=True, return_counts=True, dtype=3)
row("unique_consecutive", {"X": uc}, {"Out": np.array([1, 2, 1], np.int64)}, dtype=3)
y = x.copy(); y[:, 1:3] = 7
row("set_value", {"Input": x}, y, axes=[1], starts=[1], ends=[3], steps=[1], shape=[1], fp32_values=[7.0], dtype=5)
v4 = f(4)
y = x.copy(); y[1, 0] = v4
row("set_value", {"Input": x, "ValueTensor": v4}, y, axes=[0, 1], starts=[1, 0], ends=[2, 1], steps=[1, 1],
    decrease_axes=[0, 1], dtype=5)
# New axes, which none_axes counts by those of the tensor: of size 1 in what is set.
y = x.copy(); y[:, None, 1:3] = 7
row("set_value", {"Input": x}, y, axes=[1], starts=[1], ends=[3], steps=[1], none_axes=[1], shape=[1], fp32_values=[7.0], dtype=5)
own = np.random.RandomState(11)  # so that the rows that follow keep their numbers
own_f = lambda *s: own.uniform(-2, 2, s).astype(np.float32)
v214 = own_f(2, 1, 1, 4)
y = x.copy(); y[:, None, 1] = v214[:, 0]
row("set_value", {"Input": x, "ValueTensor": v214[:, 0]}, y, axes=[1], starts=[1], ends=[2], steps=[1], decrease_axes=[1],
    none_axes=[1], dtype=5)
y = x.copy(); y[:, 1, None, :, None] = v214.transpose(0, 1, 3, 2)
row("set_value", {"Input": x, "ValueTensor": v214.transpose(0, 1, 3, 2)}, y, axes=[1], starts=[1], ends=[2], steps=[1],
    decrease_axes=[1], none_axes=[2, 3], dtype=5)
v212 = v214[None, None, :, 0, :, :2]
y = x.copy(); y[None, None, ..., ::2] = v212
row("set_value", {"Input": x, "ValueTensor": v212}, y, axes=[2], starts=[0], ends=[4], steps=[2], none_axes=[0, 0], dtype=5)
# Values with more axes than the part.
v1134 = own_f(1, 1, 3, 4)
y = x.copy(); y[0] = v1134[0, 0]
row("set_value", {"Input": x, "ValueTensor": v1134}, y, axes=[0], starts=[0], ends=[1], steps=[1], decrease_axes=[0], dtype=5)

# --- Creation ------------------------------------------------------------------------------------
row("fill_constant", {}, np.full((2, 2), 1.5, np.float32), shape=[2, 2], value=1.5, dtype=5)
row("fill_constant", {"ShapeTensorList": [np.array([2], np.int32), np.array([1], np.int32)]}, np.full((2, 1), 3, np.int64),
    shape=[-1, -1], value=0.0, str_value="3", dtype=3)
row("fill_constant", {"ValueTensor": np.array([4], np.float32), "ShapeTensor": np.array([3], np.int64)}, np.full(3, 4, np.float32), dtype=5)
row("fill_any_like", {"X": a}, np.full((2, 3), 2, np.float32), value=2.0, dtype=-1)
row("fill_any_like", {"X": a}, np.full((2, 3), 1, np.int64), value=1.0, dtype=3)
row("fill_any", {"X": a}, np.full((2, 3), 2.5, np.float32), value_float=2.5)
row("fill_any", {"X": a}, np.full((2, 3), 1, np.float32), value_float=1.0, value_int=1)
row("fill_zeros_like2", {"X": a}, np.zeros((2, 3), np.float32), dtype=5)
row("fill_zeros_like2", {"X": a}, np.zeros((2, 3), np.int64), dtype=3)
row("fill_constant_batch_size_like", {"Input": x}, np.full((2, 5), 3, np.float32), shape=[-1, 5], value=3.0, dtype=5)
row("fill_constant_batch_size_like", {"Input": x}, np.full((7, 4), 0, np.int64), shape=[7, -1], value=0.0, dtype=3,
    input_dim_idx=2, output_dim_idx=1)
row("assign_value", {}, np.array([[1, 2]], np.int32), shape=[1, 2], dtype=2, int32_values=[1, 2])
row("assign_value", {}, np.array([0.5, 2], np.float32), shape=[2], dtype=5, fp32_values=[0.5, 2.0])
row("assign_value", {}, np.array([True, False]), shape=[2], dtype=0, bool_values=[1, 0])
row("full_int_array", {}, np.array([3, 4], np.int64), value=[3, 4], dtype=3)
row("full_int_array", {}, np.array([5], np.int32), value=[5], dtype=2)
row("range", {"Start": np.array([1], np.int64), "End": np.array([7], np.int64), "Step": np.array([2], np.int64)}, np.array([1, 3, 5], np.int64))
row("range", {"Start": np.float32(0), "End": np.float32(1), "Step": np.float32(0.25)}, np.arange(0, 1, 0.25, dtype=np.float32))
row("linspace", {"Start": np.array([0], np.float32), "Stop": np.array([1], np.float32), "Num": np.array([5], np.int32)},
    np.linspace(0, 1, 5, dtype=np.float32), dtype=5)
row("linspace", {"Start": np.array([3], np.float32), "Stop": np.array([9], np.float32), "Num": np.array([1], np.int32)},
    np.array([3], np.float32), dtype=5)
row("logspace", {"Start": np.array([0], np.float32), "Stop": np.array([2], np.float32), "Num": np.array([3], np.int32),
                 "Base": np.array([10], np.float32)}, np.array([1, 10, 100], np.float32), dtype=5)
row("logspace", {"Start": np.array([1], np.float32), "Stop": np.array([3], np.float32), "Num": np.array([2], np.int32),
                 "Base": np.array([2], np.float32)}, np.array([2, 8], np.float32), dtype=5)
row("eye", {}, np.eye(2, 3, dtype=np.float32), num_rows=2, num_columns=3, dtype=5)
row("eye", {}, np.eye(2, dtype=np.int64), num_rows=2, num_columns=-1, dtype=3)
row("tril_triu", {"X": sq}, np.tril(sq), diagonal=0, lower=True)
row("tril_triu", {"X": sq}, np.triu(sq, 1), diagonal=1, lower=False)
row("tril", {"X": sq}, np.tril(sq, -1), diagonal=-1)
row("tril", {"X": sq}, np.tril(sq))
row("triu", {"X": sq}, np.triu(sq, -1), diagonal=-1)
row("triu", {"X": sq}, np.triu(sq))
row("diag_v2", {"X": e3}, np.diag(e3, 1), offset=1)
y = np.full((3, 3), 9, np.float32); np.fill_diagonal(y, e3)
row("diag_v2", {"X": e3}, y, padding_value=9.0)
row("diag_v2", {"X": sq}, np.diag(sq, -1), offset=-1)
row("diag_embed", {"Input": a}, torch.diag_embed(T(a)))
row("diag_embed", {"Input": a}, torch.diag_embed(T(a), 1, 0, 2), offset=1, dim1=0, dim2=2)
row("diagonal", {"Input": x}, np.diagonal(x, 0, 0, 1), axis1=0, axis2=1)
row("diagonal", {"Input": x}, np.diagonal(x, 1, 1, 2), offset=1, axis1=1, axis2=2)
row("trace", {"Input": sq}, np.float32(np.trace(sq)))
row("trace", {"Input": x}, np.trace(x, 1, 1, 2), offset=1, axis1=1, axis2=2)
y = sq.copy(); np.fill_diagonal(y, 5)
row("fill_diagonal", {"X": sq}, y, value=5.0)
y = sq.copy(); y[0, 1] = y[1, 2] = -1
row("fill_diagonal", {"X": sq}, y, value=-1.0, offset=1)
ln = np.array([1, 3], np.int64)
row("sequence_mask", {"X": ln}, {"Y": (np.arange(4) < ln[:, None]).astype(np.int64)}, maxlen=4, out_dtype=3)
row("sequence_mask", {"X": ln}, {"Y": (np.arange(3) < ln[:, None]).astype(np.float32)}, maxlen=-1, out_dtype=5)
row("label_smooth", {"X": np.eye(2, dtype=np.float32)}, 0.8 * np.eye(2) .astype(np.float32) + np.float32(0.1), epsilon=0.2)
row("label_smooth", {"X": np.eye(2, dtype=np.float32), "PriorDist": np.array([[0.25, 0.75]], np.float32)},
    (0.8 * np.eye(2) + 0.2 * np.array([[0.25, 0.75]])).astype(np.float32), epsilon=0.2)
pe = f(1, 3, 4)
tab = np.array([[math.sin(j / 10000 ** k) if h == 0 else math.cos(j / 10000 ** k) for h in (0, 1) for k in (0, 1)] for j in range(3)])
row("add_position_encoding", {"X": pe}, (pe + tab).astype(np.float32))
row("add_position_encoding", {"X": pe}, (0.5 * pe + 2 * tab).astype(np.float32), alpha=0.5, beta=2.0)

# --- Layers --------------------------------------------------------------------------------------
img, ker = f(1, 2, 5, 5), f(4, 2, 3, 3)
for op in ("conv2d", "fused_conv2d"):
    row(op, {"Input": img, "Filter": ker}, {"Output": F.conv2d(T(img), T(ker), None, 2, 1)}, strides=[2, 2], paddings=[1, 1])
    bs = f(4)
    row(op, {"Input": img, "Filter": ker, "Bias": bs}, {"Output": F.conv2d(T(img), T(ker), T(bs)).relu()}, fuse_activation="relu")
row("conv2d", {"Input": img.transpose(0, 2, 3, 1), "Filter": ker},
    {"Output": F.conv2d(F.pad(T(img), (0, 1, 2, 3)), T(ker)).permute(0, 2, 3, 1)}, paddings=[2, 3, 0, 1], data_format="NHWC")
row("conv2d", {"Input": img, "Filter": ker}, {"Output": F.conv2d(T(img), T(ker), None, 1, 1)}, padding_algorithm="SAME", dilations=[2, 2])
dk = f(2, 1, 3, 3)
row("depthwise_conv2d", {"Input": img, "Filter": dk}, {"Output": F.conv2d(T(img), T(dk), None, 1, 1, 1, 2)}, groups=2, paddings=[1, 1])
row("depthwise_conv2d", {"Input": img, "Filter": dk}, {"Output": F.conv2d(T(img), T(dk), None, 1, 0, 2, 2)}, groups=2, dilations=[2, 2])
vol, vk = f(1, 2, 3, 3, 3), f(2, 2, 2, 2, 2)
for op in ("conv3d", "fused_conv3d"):
    row(op, {"Input": vol, "Filter": vk}, {"Output": F.conv3d(T(vol), T(vk))})
    row(op, {"Input": vol, "Filter": vk}, {"Output": F.conv3d(T(vol), T(vk), None, 2, 1)}, strides=[2, 2, 2], paddings=[1, 1, 1])
for op in ("conv2d_fusion", "fused_conv2d_add_act"):
    rs = f(1, 4, 3, 3)
    row(op, {"Input": img, "Filter": ker, "Bias": bs, "ResidualData": rs},
        {"Output": (F.conv2d(T(img), T(ker), T(bs)) + T(rs)).sigmoid()}, activation="sigmoid")
    row(op, {"Input": img, "Filter": ker, "Bias": bs}, {"Output": F.conv2d(T(img), T(ker), T(bs))}, activation="identity")
rc, rf = f(1, 4, 2), f(3, 2)
y = sum(np.concatenate([rc[:, t:], np.zeros((1, t, 2), np.float32)], 1) * rf[t] for t in range(3))
row("row_conv", {"X": rc, "Filter": rf}, y)
row("row_conv", {"X": rc, "Filter": rf[:1]}, rc * rf[0])
tk = f(2, 3, 3, 3)
row("conv2d_transpose", {"Input": img, "Filter": tk}, {"Output": F.conv_transpose2d(T(img), T(tk), None, 2, 1)}, strides=[2, 2], paddings=[1, 1])
row("conv2d_transpose", {"Input": img, "Filter": tk}, {"Output": F.conv_transpose2d(T(img), T(tk), None, 2, 1, 1)}, strides=[2, 2],
    paddings=[1, 1], output_size=[10, 10])
b3 = f(3)
row("conv2d_transpose_bias", {"Input": img, "Filter": tk, "Bias": b3}, {"Output": F.conv_transpose2d(T(img), T(tk), T(b3))})
row("conv2d_transpose_bias", {"Input": img, "Filter": tk, "Bias": b3}, {"Output": F.conv_transpose2d(T(img), T(tk), T(b3), 2)}, strides=[2, 2])
row("depthwise_conv2d_transpose", {"Input": img, "Filter": dk}, {"Output": F.conv_transpose2d(T(img), T(dk), None, 2, 0, 0, 2)}, strides=[2, 2], groups=2)
row("depthwise_conv2d_transpose", {"Input": img, "Filter": dk}, {"Output": F.conv_transpose2d(T(img), T(dk), None, 1, 1, 0, 2)}, paddings=[1, 1], groups=2)
row("conv3d_transpose", {"Input": vol, "Filter": vk}, {"Output": F.conv_transpose3d(T(vol), T(vk))})
row("conv3d_transpose", {"Input": vol, "Filter": vk}, {"Output": F.conv_transpose3d(T(vol), T(vk), None, 2)}, strides=[2, 2, 2])
for op in ("deformable_conv", "deformable_conv_v1"):
    off = np.zeros((1, 18, 3, 3), np.float32)
    ins = {"Input": img, "Offset": off, "Filter": ker}
    row(op, ins, {"Output": F.conv2d(T(img), T(ker))})
    off1 = off.copy(); off1[:, 0::2] = 1
    row(op, {"Input": img, "Offset": off1[:, :, :2], "Filter": ker} if False else {"Input": img, "Offset": off1, "Filter": ker},
        {"Output": F.conv2d(F.pad(T(img), (0, 0, 0, 1))[:, :, 1:], T(ker))})
pl = f(1, 2, 5, 6)
row("pool2d", {"X": pl}, F.max_pool2d(T(pl), 2, 2), ksize=[2, 2], strides=[2, 2], pooling_type="max")
row("pool2d", {"X": pl}, F.avg_pool2d(T(pl), 3, 2, 1, count_include_pad=False), ksize=[3, 3], strides=[2, 2], paddings=[1, 1], pooling_type="avg", exclusive=True)
row("pool2d", {"X": pl}, F.adaptive_avg_pool2d(T(pl), (2, 3)), ksize=[2, 3], pooling_type="avg", adaptive=True)
row("pool2d", {"X": pl}, F.max_pool2d(T(pl), 3, 2, 0, ceil_mode=True), ksize=[3, 3], strides=[2, 2], pooling_type="max", ceil_mode=True)
row("pool2d", {"X": pl}, T(pl).amax((2, 3), keepdim=True), ksize=[1, 1], pooling_type="max", global_pooling=True)
row("pool3d", {"X": vol}, F.max_pool3d(T(vol), 2, 1), ksize=[2, 2, 2], pooling_type="max", strides=[1, 1, 1])
row("pool3d", {"X": vol}, F.adaptive_avg_pool3d(T(vol), 1), ksize=[1, 1, 1], pooling_type="avg", adaptive=True)
v, i = F.max_pool2d(T(pl), 2, 2, return_indices=True)
row("max_pool2d_with_index", {"X": pl}, {"Out": v, "Mask": i.int()}, ksize=[2, 2], strides=[2, 2])
v2, i2_ = F.adaptive_max_pool2d(T(pl), (2, 2), return_indices=True)
row("max_pool2d_with_index", {"X": pl}, {"Out": v2, "Mask": i2_.int()}, ksize=[2, 2], adaptive=True)
v3, i3 = F.max_pool3d(T(vol), 2, 1, return_indices=True)
row("max_pool3d_with_index", {"X": vol}, {"Out": v3, "Mask": i3.int()}, ksize=[2, 2, 2], strides=[1, 1, 1])
row("max_pool3d_with_index", {"X": vol}, {"Out": T(vol).amax((2, 3, 4), keepdim=True)}, ksize=[1, 1, 1], global_pooling=True)
row("unpool", {"X": v, "Indices": i.int()}, F.max_unpool2d(v, i, 2, 2), ksize=[2, 2], strides=[2, 2], paddings=[0, 0])
row("unpool", {"X": v, "Indices": i.int()}, F.max_unpool2d(v, i, 2, 2, output_size=(5, 6)) if False else F.max_unpool2d(v, i, 2, 2),
    ksize=[2, 2], strides=[2, 2], paddings=[0, 0], output_size=[4, 6])
lx1 = pos(1, 1, 4, 4)
row("lp_pool2d", {"X": lx1}, F.lp_pool2d(T(lx1), 2, 2), ksize=[2, 2], strides=[2, 2], norm_type=2.0)
row("lp_pool2d", {"X": lx1}, F.lp_pool2d(T(lx1), 1, 2, 1), ksize=[2, 2], strides=[1, 1], norm_type=1.0)
mean, var, sca, bia = f(2), pos(2), f(2), f(2)
for op in ("batch_norm", "sync_batch_norm"):
    row(op, {"X": img, "Mean": mean, "Variance": var, "Scale": sca, "Bias": bia},
        {"Y": F.batch_norm(T(img), T(mean), T(var), T(sca), T(bia))}, is_test=True, epsilon=1e-5)
    row(op, {"X": img.transpose(0, 2, 3, 1), "Mean": mean, "Variance": var, "Scale": sca, "Bias": bia},
        {"Y": F.batch_norm(T(img), T(mean), T(var), T(sca), T(bia), eps=1e-3).permute(0, 2, 3, 1), "MeanOut": mean}, is_test=True,
        epsilon=1e-3, data_layout="NHWC")
row("fused_batch_norm_act", {"X": img, "Mean": mean, "Variance": var, "Scale": sca, "Bias": bia},
    {"Y": F.batch_norm(T(img), T(mean), T(var), T(sca), T(bia)).relu()}, act_type="relu")
row("fused_batch_norm_act", {"X": img, "Mean": mean, "Variance": var, "Scale": sca, "Bias": bia},
    {"Y": F.batch_norm(T(img), T(mean), T(var), T(sca), T(bia), eps=1e-3).sigmoid()}, act_type="sigmoid", epsilon=1e-3)
ls, lb = f(12), f(12)
row("layer_norm", {"X": x, "Scale": ls, "Bias": lb}, {"Y": F.layer_norm(T(x), (3, 4), T(ls.reshape(3, 4)), T(lb.reshape(3, 4)))}, begin_norm_axis=1)
xm = x.reshape(6, 4)
row("layer_norm", {"X": x}, {"Y": F.layer_norm(T(x), (4,)), "Mean": xm.mean(1), "Variance": xm.var(1)}, begin_norm_axis=2)
row("instance_norm", {"X": img, "Scale": sca, "Bias": bia}, {"Y": F.instance_norm(T(img), None, None, T(sca), T(bia))})
row("instance_norm", {"X": img}, {"Y": F.instance_norm(T(img), eps=1e-2)}, epsilon=1e-2)
gx = f(1, 4, 2, 2)
gs, gb = f(4), f(4)
row("group_norm", {"X": gx, "Scale": gs, "Bias": gb}, {"Y": F.group_norm(T(gx), 2, T(gs), T(gb))}, groups=2)
row("group_norm", {"X": gx}, {"Y": F.group_norm(T(gx), 4)}, groups=4)
row("lrn", {"X": gx}, F.local_response_norm(T(gx), 3, 0.3, 0.5, 1.0), n=3, alpha=0.1, beta=0.5, k=1.0)
row("lrn", {"X": gx}, F.local_response_norm(T(gx), 5, 5e-4, 0.75, 2.0))
row("affine_channel", {"X": img, "Scale": sca, "Bias": bia}, img * sca[:, None, None] + bia[:, None, None], data_layout="NCHW")
row("affine_channel", {"X": img.transpose(0, 2, 3, 1), "Scale": sca, "Bias": bia}, img.transpose(0, 2, 3, 1) * sca + bia, data_layout="NHWC")
uu, vv = f(3), f(3)
wn = sq
for it in (1, 2):
    u_, v_ = uu.copy(), vv.copy()
    for _ in range(it):
        v_ = wn.T @ u_; v_ /= np.linalg.norm(v_) + 1e-12
        u_ = wn @ v_; u_ /= np.linalg.norm(u_) + 1e-12
    row("spectral_norm", {"Weight": wn, "U": uu, "V": vv}, wn / (u_ @ wn @ v_), dim=0, power_iters=it, eps=1e-12)
row("renorm", {"X": a}, torch.renorm(T(a), 2, 0, 1.0), p=2.0, axis=0, max_norm=1.0)
row("renorm", {"X": x}, torch.renorm(T(x), 1, 2, 2.0), p=1.0, axis=2, max_norm=2.0)
pr = f(2, 3, 2, 2)
al = f(3)
row("prelu", {"X": pr, "Alpha": al}, F.prelu(T(pr), T(al)), mode="channel")
row("prelu", {"X": pr, "Alpha": al[:1]}, F.prelu(T(pr), T(al[:1])), mode="all")
ae = f(1, 3, 2, 2)
row("prelu", {"X": pr, "Alpha": ae}, np.where(pr > 0, pr, ae * pr), mode="element")
row("softmax", {"X": x}, torch.softmax(T(x), -1))
row("softmax", {"X": x}, torch.softmax(T(x), 1), axis=1)
row("log_softmax", {"X": x}, torch.log_softmax(T(x), 0), axis=0)
row("log_softmax", {"X": x}, torch.log_softmax(T(x), -1))
mo = f(1, 4, 2)
row("maxout", {"X": mo}, mo.reshape(1, 2, 2, 2).max(2), groups=2, axis=1)
row("maxout", {"X": mo}, mo.reshape(1, 1, 4, 2).max(2), groups=4, axis=1)

rs = f(1, 2, 3, 4)
for op, mode in (("bilinear_interp_v2", "bilinear"), ("nearest_interp_v2", "nearest"), ("bicubic_interp_v2", "bicubic")):
    kw = {} if mode == "nearest" else {"align_corners": False}
    row(op, {"X": rs}, F.interpolate(T(rs), (6, 8), mode=mode, **kw), out_h=6, out_w=8, align_corners=False, align_mode=0, interp_method=mode)
    row(op, {"X": rs, "OutSize": np.array([2, 6], np.int32)}, F.interpolate(T(rs), (2, 6), mode=mode, **kw), align_corners=False,
        align_mode=0, interp_method=mode)
row("bilinear_interp_v2", {"X": rs}, F.interpolate(T(rs), (6, 7), mode="bilinear", align_corners=True), out_h=6, out_w=7, align_corners=True, interp_method="bilinear")
l1, l3 = f(1, 2, 4), f(1, 1, 2, 3, 2)
row("linear_interp_v2", {"X": l1}, F.interpolate(T(l1), 8, mode="linear", align_corners=False), out_w=8, align_corners=False, align_mode=0, interp_method="linear")
row("linear_interp_v2", {"X": l1}, F.interpolate(T(l1), 7, mode="linear", align_corners=True), out_w=7, align_corners=True, interp_method="linear")
row("trilinear_interp_v2", {"X": l3}, F.interpolate(T(l3), (4, 3, 4), mode="trilinear", align_corners=False), out_d=4, out_h=3, out_w=4, align_corners=False, align_mode=0, interp_method="trilinear")
row("trilinear_interp_v2", {"X": l3}, F.interpolate(T(l3), (3, 5, 3), mode="trilinear", align_corners=True), out_d=3, out_h=5, out_w=3, align_corners=True, interp_method="trilinear")
for op, mode in (("bilinear_interp", "bilinear"), ("bicubic_interp", "bicubic")):
    row(op, {"X": rs}, F.interpolate(T(rs), (6, 8), mode=mode, align_corners=True), scale=2.0, align_corners=True, interp_method=mode)
    row(op, {"X": rs}, F.interpolate(T(rs), (5, 5), mode=mode, align_corners=False), out_h=5, out_w=5, align_corners=False, align_mode=0, interp_method=mode)
row("nearest_interp", {"X": rs}, F.interpolate(T(rs), (6, 8), mode="nearest"), scale=2.0, align_corners=False, interp_method="nearest")
row("nearest_interp", {"X": rs}, F.interpolate(T(rs), (2, 3), mode="nearest"), out_h=2, out_w=3, align_corners=False, interp_method="nearest")
row("linear_interp", {"X": l1}, F.interpolate(T(l1), 8, mode="linear", align_corners=True), scale=2.0, align_corners=True, interp_method="linear")
row("linear_interp", {"X": l1}, F.interpolate(T(l1), 5, mode="linear", align_corners=False), out_w=5, align_corners=False, align_mode=0, interp_method="linear")
row("trilinear_interp", {"X": l3}, F.interpolate(T(l3), (4, 6, 4), mode="trilinear", align_corners=True), scale=2.0, align_corners=True, interp_method="trilinear")
row("trilinear_interp", {"X": l3}, F.interpolate(T(l3), (3, 3, 3), mode="trilinear", align_corners=False), out_d=3, out_h=3, out_w=3, align_corners=False, align_mode=0, interp_method="trilinear")
pd = f(1, 1, 3, 4)
row("pad2d", {"X": pd}, F.pad(T(pd), (3, 0, 1, 2), value=5.0), paddings=[1, 2, 3, 0], pad_value=5.0)
row("pad2d", {"X": pd}, F.pad(T(pd), (1, 1, 0, 2), mode="replicate"), paddings=[0, 2, 1, 1], mode="edge")
p5 = f(1, 1, 2, 3, 2)
row("pad3d", {"X": p5}, F.pad(T(p5), (1, 0, 2, 1, 0, 1), value=-1.0), paddings=[1, 0, 2, 1, 0, 1], value=-1.0)
row("pad3d", {"X": p5}, F.pad(T(p5), (1, 1, 1, 1, 0, 0), mode="circular"), paddings=[1, 1, 1, 1, 0, 0], mode="circular")
row("pad3d", {"X": p5, "Paddings": np.array([1, 0, 0, 0, 1, 1], np.int32)}, F.pad(T(p5), (1, 0, 0, 0, 1, 1), mode="reflect"), mode="reflect")
row("pad", {"X": a}, np.pad(a, ((1, 0), (0, 2)), constant_values=3).astype(np.float32), paddings=[1, 0, 0, 2], pad_value=3.0)
row("pad", {"X": e3}, np.pad(e3, ((1, 1),)), paddings=[1, 1])
row("pad_constant_like", {"X": f(3, 3), "Y": a}, np.pad(a, ((0, 1), (0, 0)), constant_values=2).astype(np.float32), pad_value=2.0)
row("pad_constant_like", {"X": f(2, 5), "Y": a}, np.pad(a, ((0, 0), (0, 2))))
gr = unit(1, 2, 3, 2) * 1.2
for mode, pad, ac in (("bilinear", "zeros", True), ("nearest", "border", False), ("bilinear", "reflection", False)):
    row("grid_sampler", {"X": pl, "Grid": gr}, {"Output": F.grid_sample(T(pl), T(gr), mode, pad, ac)}, mode=mode, padding_mode=pad, align_corners=ac)
th = f(1, 2, 3)
row("affine_grid", {"Theta": th}, {"Output": F.affine_grid(T(th), (1, 1, 2, 3), True)}, output_shape=[1, 1, 2, 3], align_corners=True)
row("affine_grid", {"Theta": th, "OutputShape": np.array([1, 1, 3, 2], np.int32)}, {"Output": F.affine_grid(T(th), (1, 1, 3, 2), False)}, align_corners=False)
row("unfold", {"X": pl}, {"Y": F.unfold(T(pl), (2, 3), 1, 0, 2)}, kernel_sizes=[2, 3], strides=[2, 2], paddings=[0, 0, 0, 0], dilations=[1, 1])
row("unfold", {"X": pl}, {"Y": F.unfold(F.pad(T(pl), (2, 0, 1, 1)), 2)}, kernel_sizes=[2, 2], strides=[1, 1], paddings=[1, 2, 1, 0], dilations=[1, 1])
fo = f(1, 8, 6)
row("fold", {"X": fo}, {"Y": F.fold(T(fo), (3, 4), 2)}, output_sizes=[3, 4], kernel_sizes=[2, 2], strides=[1, 1], paddings=[0, 0, 0, 0], dilations=[1, 1])
fo2 = f(1, 4, 4)
row("fold", {"X": fo2}, {"Y": F.fold(T(fo2), (4, 4), 2, 1, 0, 2)}, output_sizes=[4, 4], kernel_sizes=[2, 2], strides=[2, 2], paddings=[0, 0, 0, 0], dilations=[1, 1])

# --- Recurrent -----------------------------------------------------------------------------------
seq = f(3, 2, 2)
for mode, cls in (("LSTM", torch.nn.LSTM), ("GRU", torch.nn.GRU), ("RNN_TANH", torch.nn.RNN)):
    for bi in (False, True):
        torch.manual_seed(3)
        net = cls(2, 2, bidirectional=bi)
        d = 2 if bi else 1
        w = [p.detach() for p in net._flat_weights]
        weights = [w[4 * i + k] for i in range(d) for k in (0, 1)] + [w[4 * i + k] for i in range(d) for k in (2, 3)]
        h, c = f(d, 2, 2), f(d, 2, 2)
        out, st = net(T(seq), (T(h), T(c)) if mode == "LSTM" else T(h))
        row("rnn", {"Input": seq, "PreState": [h, c] if mode == "LSTM" else [h], "WeightList": weights},
            {"Out": out, "State": list(st) if mode == "LSTM" else [st]}, mode=mode, is_bidirec=bi, num_layers=1, hidden_size=2,
            input_size=2, is_test=True)
torch.manual_seed(4)
net = torch.nn.GRU(2, 2)
w = [p.detach() for p in net._flat_weights]
h = f(1, 2, 2)
o1, s1 = net(T(seq[:, :1]), T(h[:, :1]))
o2, s2 = net(T(seq[:2, 1:]), T(h[:, 1:]))
row("rnn", {"Input": seq, "PreState": [h], "WeightList": w, "SequenceLength": np.array([3, 2], np.int32)},
    {"Out": torch.cat([o1, F.pad(o2, (0, 0, 0, 0, 0, 1))], 1), "State": [torch.cat([s1, s2], 1)]}, mode="GRU", num_layers=1,
    hidden_size=2, input_size=2, is_test=True)

# --- Losses --------------------------------------------------------------------------------------
lg = f(3, 4)
lab = np.array([[1], [3], [0]], np.int64)
row("softmax_with_cross_entropy", {"Logits": lg, "Label": lab}, {"Softmax": torch.softmax(T(lg), 1), "Loss": F.cross_entropy(T(lg), T(lab[:, 0]), reduction="none")[:, None]})
soft = torch.softmax(T(f(3, 4)), 1)
row("softmax_with_cross_entropy", {"Logits": lg, "Label": soft}, {"Loss": -(soft * torch.log_softmax(T(lg), 1)).sum(1, keepdim=True)}, soft_label=True)
lab2 = lab.copy(); lab2[1] = -100
row("softmax_with_cross_entropy", {"Logits": lg, "Label": lab2}, {"Loss": F.cross_entropy(T(lg), T(lab2[:, 0]), reduction="none")[:, None]}, ignore_index=-100)
prb = torch.softmax(T(lg), 1)
row("cross_entropy", {"X": prb, "Label": lab}, {"Y": -torch.log(prb.gather(1, T(lab)))})
row("cross_entropy", {"X": prb, "Label": soft}, {"Y": -(soft * prb.log()).sum(1, keepdim=True)}, soft_label=True)
bx, by = torch.sigmoid(T(f(4))), T(np.array([0, 1, 1, 0], np.float32))
row("bce_loss", {"X": bx, "Label": by}, F.binary_cross_entropy(bx, by, reduction="none"))
row("bce_loss", {"X": np.array([0, 1], np.float32), "Label": np.array([1, 1], np.float32)}, np.array([100, 0], np.float32))
sx = f(4)
row("sigmoid_cross_entropy_with_logits", {"X": sx, "Label": by}, F.binary_cross_entropy_with_logits(T(sx), by, reduction="none"))
y = F.binary_cross_entropy_with_logits(T(sx), by, reduction="none"); y = torch.where(by == 0, torch.zeros(4), y) / 2
row("sigmoid_cross_entropy_with_logits", {"X": sx, "Label": by}, y, ignore_index=0, normalize=True)
tg = np.array([[0.2, 0.8], [0.0, 1.0]], np.float32)
kx = f(2, 2)
kl = np.where(tg > 0, tg * (np.log(np.maximum(tg, 1e-30)) - kx), 0).astype(np.float32)
for red, val in (("none", kl), ("mean", np.float32(kl.mean())), ("sum", np.float32(kl.sum())), ("batchmean", np.float32(kl.sum() / 2))):
    row("kldiv_loss", {"X": kx, "Target": tg}, {"Loss": val}, reduction=red)
row("huber_loss", {"X": a, "Y": b}, {"Out": F.huber_loss(T(a), T(b), reduction="none", delta=0.5), "Residual": b - a}, delta=0.5)
row("huber_loss", {"X": a, "Y": b}, {"Out": F.huber_loss(T(a), T(b), reduction="none", delta=2.0)}, delta=2.0)
row("smooth_l1_loss", {"X": a, "Y": b}, {"Diff": a - b, "Out": F.smooth_l1_loss(T(a), T(b), reduction="none").sum(1, keepdim=True)}, sigma=1.0)
row("smooth_l1_loss", {"X": a, "Y": b}, {"Out": F.smooth_l1_loss(T(a), T(b), reduction="none", beta=0.25).sum(1, keepdim=True)}, sigma=2.0)
lp, ll = bx.numpy()[:, None], by.numpy()[:, None]
for eps in (1e-4, 1e-2):
    row("log_loss", {"Predicted": lp, "Labels": ll}, {"Loss": -ll * np.log(lp + eps) - (1 - ll) * np.log(1 - lp + eps)}, epsilon=eps)
row("hinge_loss", {"Logits": sx[:, None], "Labels": ll}, {"Loss": np.maximum(1 - sx[:, None] * (2 * ll - 1), 0)})
row("hinge_loss", {"Logits": 3 * sx[:, None], "Labels": ll}, {"Loss": np.maximum(1 - 3 * sx[:, None] * (2 * ll - 1), 0)})
lsm = torch.log_softmax(T(lg), 1)
for red in ("none", "mean", "sum"):
    row("nll_loss", {"X": lsm, "Label": lab[:, 0]}, {"Out": F.nll_loss(lsm, T(lab[:, 0]), reduction=red)}, reduction=red, ignore_index=-100)
row("identity_loss", {"X": a}, np.float32(a.mean()), reduction=1)
row("identity_loss", {"X": a}, np.float32(a.sum()), reduction=0)
acc_i = np.array([[1, 2], [0, 3], [2, 1]], np.int64)
row("accuracy", {"Out": f(3, 2), "Indices": acc_i, "Label": np.array([[2], [1], [2]], np.int64)},
    {"Accuracy": np.float32(2 / 3), "Correct": np.int32(2), "Total": np.int32(3)})
row("accuracy", {"Out": f(3, 2), "Indices": acc_i, "Label": np.array([[7], [1], [5]], np.int64)}, {"Accuracy": np.float32(0)})
na, nb = np.linalg.norm(a, axis=1, keepdims=True), np.linalg.norm(b, axis=1, keepdims=True)
row("cos_sim", {"X": a, "Y": b}, {"Out": (a * b).sum(1, keepdims=True) / na / nb, "XNorm": na, "YNorm": nb})
row("cos_sim", {"X": a, "Y": b[:1]}, {"Out": (a * b[:1]).sum(1, keepdims=True) / na / nb[:1]})

# --- Fused ---------------------------------------------------------------------------------------
fw, fb = f(3, 4), f(4)
row("fc", {"Input": a, "W": fw, "Bias": fb}, np.maximum(a @ fw + fb, 0), in_num_col_dims=1, activation_type="relu")
w43 = f(4, 3)
row("fc", {"Input": x, "W": w43}, x @ w43, in_num_col_dims=2)
row("fc", {"Input": x, "W": w12}, x.reshape(2, 12) @ w12, in_num_col_dims=1)
ge = a @ fw + fb
row("fused_gemm_epilogue", {"X": a, "Y": fw, "Bias": fb}, ge, activation="none")
row("fused_gemm_epilogue", {"X": a.T.copy(), "Y": fw, "Bias": fb}, np.maximum(ge, 0), trans_x=True, activation="relu")
s4, b4 = f(4), f(4)
row("skip_layernorm", {"X": x, "Y": bm.transpose(0, 2, 1), "Scale": s4, "Bias": b4},
    F.layer_norm(T(x + bm.transpose(0, 2, 1)), (4,), T(s4), T(b4), 1e-6), epsilon=1e-6, begin_norm_axis=2)
row("skip_layernorm", {"X": x, "Y": x, "Scale": s4, "Bias": b4}, F.layer_norm(T(2 * x), (4,), T(s4), T(b4)), begin_norm_axis=2, epsilon=1e-5)
row("fused_fc_elementwise_layernorm", {"X": a, "W": fw, "Bias0": fb, "Y": c24, "Scale": s4, "Bias1": b4},
    F.layer_norm(T(a @ fw + fb + c24), (4,), T(s4), T(b4)), begin_norm_axis=1)
row("fused_fc_elementwise_layernorm", {"X": a, "W": fw, "Y": c24, "Scale": s4, "Bias1": b4},
    F.layer_norm(T(np.maximum(a @ fw, 0) + c24), (4,), T(s4), T(b4)), begin_norm_axis=1, activation_type="relu")
row("fused_bias_dropout_residual_layer_norm", {"X": c24, "Residual": f(2, 4) * 0, "LnScale": s4, "LnBias": b4},
    {"Y": F.layer_norm(T(c24), (4,), T(s4), T(b4))}, dropout_rate=0.0, is_test=True)
r24 = f(2, 4)
row("fused_bias_dropout_residual_layer_norm", {"X": c24, "Residual": r24, "Bias": fb, "LnScale": s4, "LnBias": b4},
    {"Y": F.layer_norm(T(0.5 * (c24 + fb) + r24), (4,), T(s4), T(b4)), "BiasDropoutResidualOut": 0.5 * (c24 + fb) + r24}, dropout_rate=0.5, is_test=True)
em1, em2 = f(5, 4), f(3, 4)
id1, id2 = np.array([[1, 4, 0]], np.int64), np.array([[0, 2, 2]], np.int64)
row("fused_embedding_eltwise_layernorm", {"Ids": [id1, id2], "Embs": [em1, em2], "Scale": s4, "Bias": b4},
    F.layer_norm(T(em1[id1] + em2[id2]), (4,), T(s4), T(b4)), epsilon=1e-5)
row("fused_embedding_eltwise_layernorm", {"Ids": [id1[..., None], id2[..., None]], "Embs": [em1, em2], "Scale": s4, "Bias": b4},
    F.layer_norm(T(em1[id1] + em2[id2]), (4,), T(s4), T(b4), 1e-2), epsilon=1e-2)
ax, aw, ab = f(1, 3, 4), f(4, 3, 2, 2), f(3, 2, 2)
qkv = np.einsum("blw,wthd->tbhld", ax, aw)
for bias, mask in ((None, None), (ab, f(1, 2, 3, 3))):
    t = qkv if bias is None else qkv + bias[:, None, :, None, :]
    sc_ = T(t[0]) @ T(t[1]).transpose(-1, -2) * 0.7
    if mask is not None:
        sc_ = sc_ + T(mask)
    y = (torch.softmax(sc_, -1) @ T(t[2])).transpose(1, 2).reshape(1, 3, 4)
    ins = {"Input": ax, "W": aw}
    if bias is not None:
        ins["Bias"] = bias; ins["BiasQK"] = mask
    row("multihead_matmul", ins, y, alpha=0.7, head_number=2)
q, k, v = f(1, 3, 2, 4), f(1, 3, 2, 4), f(1, 3, 2, 4)
tr = lambda t: T(t).transpose(1, 2)


def attention(q_, k_, v_, is_causal=False, scale=None):
    scores = q_ @ k_.transpose(-1, -2) * (scale or 1 / math.sqrt(q_.shape[-1]))
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -math.inf)
    return torch.softmax(scores, -1) @ v_


for causal in (False, True):
    y = attention(tr(q), tr(k), tr(v), is_causal=causal).transpose(1, 2)
    row("flash_attn", {"q": q, "k": k, "v": v}, {"out": y}, causal=causal)
for sc1 in (-1.0, 0.3):
    y = attention(tr(q), tr(k), tr(v), scale=None if sc1 < 0 else sc1).transpose(1, 2)
    row("memory_efficient_attention", {"query": q, "key": k, "value": v}, {"output": y}, scale=sc1)
    row("self_dp_attention", {"X": np.stack([q, k, v], 2)}, attention(tr(q), tr(k), tr(v), scale=abs(sc1)).transpose(1, 2).reshape(1, 3, 8), alpha=abs(sc1), head_number=2)
sm = f(1, 2, 3, 3)
mk = f(1, 1, 3, 3)
row("fused_softmax_mask", {"X": sm, "Mask": mk}, torch.softmax(T(sm + mk), -1))
row("fused_softmax_mask", {"X": sm, "Mask": 0 * mk}, torch.softmax(T(sm), -1))
tri = np.triu(np.full((3, 3), -np.inf, np.float32), 1)
row("fused_softmax_mask_upper_triangle", {"X": sm}, torch.softmax(T(sm + tri), -1))
row("fused_softmax_mask_upper_triangle", {"X": 2 * sm}, torch.softmax(T(2 * sm + tri), -1))
for op in ("fused_elemwise_activation", "fused_elemwise_add_activation"):
    row(op, {"X": a, "Y": b}, {"Out": a + np.maximum(b, 0)}, functor_list=["elementwise_add", "relu"], axis=-1)
    row(op, {"X": a, "Y": b}, {"Out": np.maximum(a + b, 0)}, functor_list=["relu", "elementwise_add"], axis=-1)
row("fusion_squared_mat_sub", {"X": m1, "Y": m2}, {"Out": 0.5 * ((m1 @ m2) ** 2 - (m1 ** 2) @ (m2 ** 2))}, scalar=0.5)
row("fusion_squared_mat_sub", {"X": m1, "Y": m2}, {"SquaredX": m1 ** 2, "Out": (m1 @ m2) ** 2 - (m1 ** 2) @ (m2 ** 2)}, scalar=1.0)
h1 = np.maximum(m1 @ m2 + fb, 0)
b2_ = f(2)
row("fusion_repeated_fc_relu", {"X": m1, "W": [m2, m3], "Bias": [fb, b2_]}, {"Out": np.maximum(h1 @ m3 + b2_, 0)})
row("fusion_repeated_fc_relu", {"X": m1, "W": [m2], "Bias": [fb]}, {"Out": h1})
c1, c2 = f(1, 2, 3, 1), f(1, 1, 3, 2)
row("fusion_transpose_flatten_concat", {"X": [c1, c2]}, np.concatenate([c.transpose(0, 2, 3, 1).reshape(1, -1) for c in (c1, c2)], 1),
    trans_axis=[0, 2, 3, 1], flatten_axis=1, concat_axis=1)
row("fusion_transpose_flatten_concat", {"X": [c1]}, c1.transpose(0, 2, 3, 1).reshape(1, -1), trans_axis=[0, 2, 3, 1], flatten_axis=1, concat_axis=1)
row("fused_dropout_add", {"x": a, "y": b}, {"out": a + b}, p=0.5, is_test=True, mode="upscale_in_train")
row("fused_dropout_add", {"x": a, "y": b}, {"out": 0.75 * a + b}, p=0.25, is_test=True, mode="downscale_in_infer")
row("swiglu", {"x": a, "y": b}, {"out": F.silu(T(a)) * T(b)})
row("swiglu", {"x": c24}, {"out": F.silu(T(c24[:, :2])) * T(c24[:, 2:])})
rn = lambda t, w, e: t / np.sqrt((t * t).mean(-1, keepdims=True) + e) * w
row("rms_norm", {"x": c24, "norm_weight": s4}, {"out": rn(c24, s4, 1e-5)}, epsilon=1e-5, begin_norm_axis=1)
row("rms_norm", {"x": c24, "residual": r24, "norm_weight": s4}, {"out": rn(c24 + r24, s4, 1e-3), "residual_out": c24 + r24}, epsilon=1e-3, begin_norm_axis=1)


def rotary(t, sines, cosines, adjacent):
    """Each number by its own sine and cosine, element by element."""
    out, d = np.empty_like(t), t.shape[-1]
    for i in range(d):
        if adjacent:
            other, sign = (i + 1, -1) if i % 2 == 0 else (i - 1, 1)
        else:
            other, sign = (i + d // 2, -1) if i < d // 2 else (i - d // 2, 1)
        out[..., i] = t[..., i] * cosines[..., i] + sign * t[..., other] * sines[..., i]
    return out


rq, rk, rv = own_f(2, 3, 2, 4), own_f(2, 3, 1, 4), own_f(2, 3, 2, 4)
made = np.array([[p_ / 10 ** (4 * (i // 2 * 2) / 4) for i in range(4)] for p_ in range(3)])
swapped = lambda t: t.transpose(1, 0, 2, 3)
table_s, table_c = own_f(5, 4), own_f(5, 4)
place = np.array([[4, 0, 2], [1, 1, 3]], np.int64)
for near in (True, False):
    turn = lambda t, s_, c_: rotary(t, np.asarray(s_, np.float32), np.asarray(c_, np.float32), near)
    by_made = lambda t: turn(t, np.sin(made)[:, None], np.cos(made)[:, None])
    by_table = lambda t: turn(t, table_s[:3, None], table_c[:3, None])
    by_place = lambda t: turn(t, table_s[place][:, :, None], table_c[place][:, :, None])
    op = "fused_rotary_position_embedding"
    row(op, {"q": rq, "k": rk, "v": rv}, {"out_q": by_made(rq), "out_k": by_made(rk), "out_v": by_made(rv)},
        use_neox_rotary_style=near)
    row(op, {"q": swapped(rq)}, {"out_q": swapped(by_made(rq))}, use_neox_rotary_style=near, time_major=True)
    slow = made * np.array([1, 1, 10, 10])
    row(op, {"q": rq}, {"out_q": turn(rq, np.sin(slow)[:, None], np.cos(slow)[:, None])}, use_neox_rotary_style=near,
        rotary_emb_base=100.0)
    row(op, {"q": rq, "k": rk, "sin": table_s[:3], "cos": table_c[:3]}, {"out_q": by_table(rq), "out_k": by_table(rk)},
        use_neox_rotary_style=near)
    row(op, {"q": swapped(rq), "sin": table_s[None, :3, None], "cos": table_c[None, :3, None]},
        {"out_q": swapped(by_table(rq))}, use_neox_rotary_style=near, time_major=True)
    row(op, {"q": rq, "k": rk, "v": rv, "sin": table_s, "cos": table_c, "position_ids": place},
        {"out_q": by_place(rq), "out_k": by_place(rk), "out_v": by_place(rv)}, use_neox_rotary_style=near)
    row(op, {"q": swapped(rq), "sin": table_s, "cos": table_c, "position_ids": place}, {"out_q": swapped(by_place(rq))},
        use_neox_rotary_style=near, time_major=True)

# --- Quantized -----------------------------------------------------------------------------------
away = lambda t: np.sign(t) * np.floor(np.abs(t) + 0.5)
qx = np.array([[-1.5, 0.3, 0.77], [1.9, -0.2, 0.01]], np.float32)
row("quantize_linear", {"X": qx, "Scale": np.array([1.5], np.float32), "ZeroPoint": np.zeros(1, np.float32)},
    {"Y": np.clip(np.round(qx / 1.5 * 127), -128, 127).astype(np.float32)}, quant_axis=-1, bit_length=8)
cs = np.array([1.5, 2.0], np.float32)
row("quantize_linear", {"X": qx, "Scale": cs, "ZeroPoint": np.zeros(2, np.float32)},
    {"Y": np.clip(np.round(qx / cs[:, None] * 127), -128, 127).astype(np.float32)}, quant_axis=0, bit_length=8)
q8 = np.array([[-128, 5, 127], [0, 64, -1]], np.int8)
row("dequantize_linear", {"X": q8, "Scale": np.array([1.5], np.float32), "ZeroPoint": np.zeros(1, np.float32)}, {"Y": (q8 * (1.5 / 127)).astype(np.float32)}, quant_axis=-1, bit_length=8)
row("dequantize_linear", {"X": q8, "Scale": cs, "ZeroPoint": np.zeros(2, np.float32)}, {"Y": (q8 * (cs[:, None] / 127)).astype(np.float32)}, quant_axis=0, bit_length=8)
am = np.abs(qx).max()
ac = np.abs(qx).max(1)
n0 = away(np.clip(qx, -am, am) / am * 127)
row("fake_quantize_abs_max", {"X": qx}, {"Out": n0.astype(np.float32), "OutScale": np.array([am])}, bit_length=8)
row("fake_quantize_dequantize_abs_max", {"X": qx}, {"Out": (n0 * am / 127).astype(np.float32)}, bit_length=8)
row("fake_quantize_dequantize_abs_max", {"X": qx}, {"Out": (np.round(qx / am * 7) * am / 7).astype(np.float32)}, bit_length=4, round_type=0)
row("fake_quantize_abs_max", {"X": qx}, {"Out": np.round(qx / am * 127).astype(np.float32)}, bit_length=8, round_type=0)
nc = away(qx / ac[:, None] * 127)
row("fake_channel_wise_quantize_abs_max", {"X": qx}, {"Out": nc.astype(np.float32), "OutScale": ac}, quant_axis=0, bit_length=8)
row("fake_channel_wise_quantize_dequantize_abs_max", {"X": qx}, {"Out": (nc * ac[:, None] / 127).astype(np.float32)}, quant_axis=0, bit_length=8)
ac1 = np.abs(qx).max(0)
nc1 = away(qx / ac1 * 127)
row("fake_channel_wise_quantize_abs_max", {"X": qx}, {"Out": nc1.astype(np.float32)}, quant_axis=1, bit_length=8)
row("fake_channel_wise_quantize_dequantize_abs_max", {"X": qx}, {"Out": (nc1 * ac1 / 127).astype(np.float32)}, quant_axis=1, bit_length=8)
for sc2 in (1.0, 3.0):
    ni = away(np.clip(qx, -sc2, sc2) / sc2 * 127)
    ins = {"X": qx, "InScale": np.array([sc2], np.float32)}
    row("fake_quantize_moving_average_abs_max", ins, {"Out": ni.astype(np.float32)}, bit_length=8, is_test=True)
    row("fake_quantize_range_abs_max", ins, {"Out": ni.astype(np.float32)}, bit_length=8, is_test=True)
    row("fake_quantize_dequantize_moving_average_abs_max", ins, {"Out": (ni * sc2 / 127).astype(np.float32)}, bit_length=8, is_test=True)
    row("fake_dequantize_max_abs", {"X": q8.astype(np.float32), "Scale": np.array([sc2], np.float32)}, (q8 * sc2 / 127).astype(np.float32), max_range=127.0)
    row("dequantize_abs_max", {"X": q8, "Scale": np.array([sc2], np.float32)}, (q8 * sc2 / 127).astype(np.float32), max_range=127.0)
    row("moving_average_abs_max_scale", {"X": sc2 * qx}, np.float32(sc2) * qx, is_test=True)
row("fake_channel_wise_dequantize_max_abs", {"X": q8.astype(np.float32), "Scales": [cs]}, (q8 * cs[:, None] / 127).astype(np.float32), quant_bits=[8], quant_axis=0)
row("fake_channel_wise_dequantize_max_abs", {"X": q8.astype(np.float32), "Scales": [ac1, np.array([2], np.float32)]},
    (q8 * ac1 / 127 * 2 / 127).astype(np.float32), quant_bits=[8, 8], x_num_col_dims=1)
row("quantize", {"Input": qx}, {"Output": np.clip(np.round(qx * 60), -128, 127).astype(np.int8)}, Scale=60.0, is_negative_input=True)
row("quantize", {"Input": np.abs(qx)}, {"Output": np.clip(np.round(np.abs(qx) * 60), 0, 255).astype(np.uint8)}, Scale=60.0, is_negative_input=False)
row("dequantize", {"Input": q8}, {"Output": (q8 / 60).astype(np.float32)}, Scale=60.0)
row("dequantize", {"Input": np.array([128, 255], np.uint8)}, {"Output": np.array([0, 127 / 2], np.float32)}, Scale=2.0, Shift=128.0)

# --- Detection -----------------------------------------------------------------------------------
pbx = np.array([[0, 0, 4, 4], [2, 2, 6, 8]], np.float32)
tgt = np.array([[1, 1, 3, 5], [0, 2, 4, 4], [2, 0, 8, 6]], np.float32)
pvar = np.array([[0.1, 0.1, 0.2, 0.2], [0.2, 0.2, 0.1, 0.1]], np.float32)


def sides(b, more):
    w, h = b[..., 2] - b[..., 0] + more, b[..., 3] - b[..., 1] + more
    return w, h, b[..., 0] + w / 2, b[..., 1] + h / 2


def encode(t, p, var, more):
    pw, ph, px, py = [v[None] for v in sides(p, more)]
    tw, th_, _, _ = [v[:, None] for v in sides(t, more)]
    tx, ty = ((t[:, 2] + t[:, 0]) / 2)[:, None], ((t[:, 3] + t[:, 1]) / 2)[:, None]
    return np.stack([(tx - px) / pw, (ty - py) / ph, np.log(np.abs(tw / pw)), np.log(np.abs(th_ / ph))], -1) / var


row("box_coder", {"PriorBox": pbx, "PriorBoxVar": pvar, "TargetBox": tgt}, {"OutputBox": encode(tgt, pbx, pvar[None], 0)}, code_type="encode_center_size", box_normalized=True)
row("box_coder", {"PriorBox": pbx, "TargetBox": tgt}, {"OutputBox": encode(tgt, pbx, np.array([0.1, 0.1, 0.2, 0.2], np.float32), 1)},
    code_type="encode_center_size", box_normalized=False, variance=[0.1, 0.1, 0.2, 0.2])
dl = f(3, 2, 4) * 0.3


def decode(d, p, var, more, axis):
    p = p[None] if axis == 0 else p[:, None]
    pw, ph, px, py = sides(p, more)
    d = d * var
    x_, y_ = d[..., 0] * pw + px, d[..., 1] * ph + py
    w_, h_ = np.exp(d[..., 2]) * pw, np.exp(d[..., 3]) * ph
    return np.stack([x_ - w_ / 2, y_ - h_ / 2, x_ + w_ / 2 - more, y_ + h_ / 2 - more], -1)


row("box_coder", {"PriorBox": pbx, "PriorBoxVar": pvar, "TargetBox": dl}, {"OutputBox": decode(dl, pbx, pvar[None], 0, 0)}, code_type="decode_center_size", box_normalized=True, axis=0)
row("box_coder", {"PriorBox": tgt, "TargetBox": dl}, {"OutputBox": decode(dl, tgt, 1, 1, 1)}, code_type="decode_center_size", box_normalized=False, axis=1)
yx = f(1, 2 * 7, 2, 3)
isz = np.array([[100, 120]], np.int32)
sgm = lambda t: 1 / (1 + np.exp(-t))


def yolo(xv, anchors, classes, thresh, down, clip_, scale):
    n, _, h_, w_ = xv.shape
    na_ = len(anchors) // 2
    bias = -0.5 * (scale - 1)
    xr = xv.reshape(n, na_, classes + 5, h_, w_)
    bxs, scs = np.zeros((n, na_ * h_ * w_, 4), np.float32), np.zeros((n, na_ * h_ * w_, classes), np.float32)
    for i_ in range(n):
        ih, iw = isz[i_]
        for j in range(na_):
            for r in range(h_):
                for l in range(w_):
                    e_ = xr[i_, j, :, r, l]
                    conf = sgm(e_[4])
                    if conf < thresh:
                        continue
                    cx, cy = (l + sgm(e_[0]) * scale + bias) * iw / w_, (r + sgm(e_[1]) * scale + bias) * ih / h_
                    bw, bh = np.exp(e_[2]) * anchors[2 * j] * iw / (down * w_), np.exp(e_[3]) * anchors[2 * j + 1] * ih / (down * h_)
                    bo = [cx - bw / 2, cy - bh / 2, cx + bw / 2, cy + bh / 2]
                    if clip_:
                        bo = [max(bo[0], 0), max(bo[1], 0), min(bo[2], iw - 1), min(bo[3], ih - 1)]
                    k_ = j * h_ * w_ + r * w_ + l
                    bxs[i_, k_] = bo
                    scs[i_, k_] = conf * sgm(e_[5:])
    return {"Boxes": bxs, "Scores": scs}


row("yolo_box", {"X": yx, "ImgSize": isz}, yolo(yx, [10, 13, 16, 30], 2, 0.4, 32, True, 1.0), anchors=[10, 13, 16, 30], class_num=2, conf_thresh=0.4, downsample_ratio=32, clip_bbox=True, scale_x_y=1.0)
row("yolo_box", {"X": yx, "ImgSize": isz}, yolo(yx, [10, 13, 16, 30], 2, 0.01, 16, False, 1.2), anchors=[10, 13, 16, 30], class_num=2, conf_thresh=0.01, downsample_ratio=16, clip_bbox=False, scale_x_y=1.2)


def prior(fh, fw_, ih, iw, mins, maxs, ars, clip_, order, off=0.5):
    out = []
    sw, sh = iw / fw_, ih / fh
    for r in range(fh):
        for l in range(fw_):
            cx, cy = (l + off) * sw, (r + off) * sh
            hs = []
            for s_ in range(len(mins)):
                m = mins[s_]
                one = [(m / 2, m / 2)]
                mx = [(math.sqrt(m * maxs[s_]) / 2,) * 2] if maxs else []
                rest = [(m * math.sqrt(r_) / 2, m / math.sqrt(r_) / 2) for r_ in ars]
                hs += one + mx + [h_ for r_, h_ in zip(ars, rest) if abs(r_ - 1) > 1e-6] if order else rest + mx
            for w_, h_ in hs:
                out.append([(cx - w_) / iw, (cy - h_) / ih, (cx + w_) / iw, (cy + h_) / ih])
    o_ = np.array(out, np.float32).reshape(fh, fw_, -1, 4)
    return np.clip(o_, 0, 1) if clip_ else o_


fm, imn = f(1, 1, 2, 2), f(1, 3, 20, 30)
pb = prior(2, 2, 20, 30, [4.0], [9.0], [1, 2, 0.5], True, False)
row("prior_box", {"Input": fm, "Image": imn}, {"Boxes": pb, "Variances": np.broadcast_to(np.array([0.1, 0.1, 0.2, 0.2], np.float32), pb.shape)},
    min_sizes=[4.0], max_sizes=[9.0], aspect_ratios=[2.0], flip=True, clip=True, variances=[0.1, 0.1, 0.2, 0.2])
row("prior_box", {"Input": fm, "Image": imn}, {"Boxes": prior(2, 2, 20, 30, [4.0, 8.0], [9.0, 12.0], [1, 3], False, True)},
    min_sizes=[4.0, 8.0], max_sizes=[9.0, 12.0], aspect_ratios=[3.0], flip=False, clip=False, min_max_aspect_ratios_order=True, variances=[0.1, 0.1, 0.2, 0.2])


def anchor_gen(fh, fw_, szs, ars, st, off):
    out = []
    for r in range(fh):
        for l in range(fw_):
            cx, cy = l * st[0] + off * (st[0] - 1), r * st[1] + off * (st[1] - 1)
            for ar in ars:
                for s_ in szs:
                    bw = round(math.sqrt(st[0] * st[1] / ar)); bh = round(bw * ar)
                    w_, h_ = s_ / st[0] * bw, s_ / st[1] * bh
                    out.append([cx - 0.5 * (w_ - 1), cy - 0.5 * (h_ - 1), cx + 0.5 * (w_ - 1), cy + 0.5 * (h_ - 1)])
    return np.array(out, np.float32).reshape(fh, fw_, -1, 4)


row("anchor_generator", {"Input": fm}, {"Anchors": anchor_gen(2, 2, [32, 64], [0.5, 1], [16, 16], 0.5)}, anchor_sizes=[32.0, 64.0], aspect_ratios=[0.5, 1.0], stride=[16.0, 16.0], offset=0.5)
row("anchor_generator", {"Input": fm}, {"Anchors": anchor_gen(2, 2, [32], [2], [8, 8], 0.0)}, anchor_sizes=[32.0], aspect_ratios=[2.0], stride=[8.0, 8.0], offset=0.0)
bc_ = np.array([[[-5, 2, 30, 40], [3, -1, 8, 9]]], np.float32)
row("box_clip", {"Input": bc_, "ImInfo": np.array([[20, 25, 1]], np.float32)}, {"Output": np.stack([np.clip(bc_[..., 0], 0, 24), np.clip(bc_[..., 1], 0, 19), np.clip(bc_[..., 2], 0, 24), np.clip(bc_[..., 3], 0, 19)], -1)})
row("box_clip", {"Input": bc_, "ImInfo": np.array([[20, 24, 2]], np.float32)}, {"Output": np.stack([np.clip(bc_[..., 0], 0, 11), np.clip(bc_[..., 1], 0, 9), np.clip(bc_[..., 2], 0, 11), np.clip(bc_[..., 3], 0, 9)], -1)})


def iou(p_, q_, more):
    w_ = min(p_[2], q_[2]) - max(p_[0], q_[0]) + more
    h_ = min(p_[3], q_[3]) - max(p_[1], q_[1]) + more
    if w_ <= 0 or h_ <= 0:
        return 0.0
    area = lambda t: (t[2] - t[0] + more) * (t[3] - t[1] + more)
    return w_ * h_ / (area(p_) + area(q_) - w_ * h_)


for more in (0, 1):
    row("iou_similarity", {"X": tgt, "Y": pbx}, np.array([[iou(p_, q_, more) for q_ in pbx] for p_ in tgt], np.float32), box_normalized=more == 0)
nb = np.array([[[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [0, 0, 9, 9]]], np.float32)
ns = np.array([[[0.9, 0.8, 0.7, 0.1], [0.2, 0.6, 0.05, 0.5]]], np.float32)


def multi(bx_, sc_, thr, top, keep, nthr, bg, more):
    outs, idxs = [], []
    kept = []
    for c_ in range(sc_.shape[0]):
        if c_ == bg:
            continue
        order = [i_ for i_ in np.argsort(-sc_[c_], kind="stable") if sc_[c_, i_] > thr]
        if top > -1:
            order = order[:top]
        sel = []
        for i_ in order:
            if all(iou(bx_[i_], bx_[j], more) <= nthr for j in sel):
                sel.append(i_)
        kept += [(c_, i_) for i_ in sel]
    if keep > -1 and len(kept) > keep:
        kept = sorted(kept, key=lambda t: -sc_[t])[:keep]
        kept.sort(key=lambda t: t[0])
    for c_, i_ in kept:
        outs.append([c_, sc_[c_, i_], *bx_[i_]]); idxs.append([i_])
    return {"Out": np.array(outs, np.float32), "Index": np.array(idxs, np.int32), "NmsRoisNum": np.array([len(outs)], np.int32)}


for kw in (dict(thr=0.01, top=10, keep=10, nthr=0.5, bg=-1, more=0), dict(thr=0.06, top=3, keep=2, nthr=0.3, bg=-1, more=1), dict(thr=0.3, top=-1, keep=-1, nthr=0.5, bg=0, more=0)):
    want = multi(nb[0], ns[0], **kw)
    at = dict(score_threshold=kw["thr"], nms_top_k=kw["top"], keep_top_k=kw["keep"], nms_threshold=kw["nthr"], background_label=kw["bg"], normalized=kw["more"] == 0)
    row("multiclass_nms3", {"BBoxes": nb, "Scores": ns}, want, **at)
    row("multiclass_nms2", {"BBoxes": nb, "Scores": ns}, {"Out": want["Out"], "Index": want["Index"]}, **at)
    row("multiclass_nms", {"BBoxes": nb, "Scores": ns}, {"Out": want["Out"]}, **at)


def matrix(bx_, sc_, thr, post, top, keep, gauss, sigma, bg):
    res = []
    for c_ in range(sc_.shape[0]):
        if c_ == bg:
            continue
        order = [i_ for i_ in np.argsort(-sc_[c_], kind="stable") if sc_[c_, i_] > thr]
        if top > -1:
            order = order[:top]
        mat = [[iou(bx_[order[i_]], bx_[order[j]], 0) for j in range(i_)] for i_ in range(len(order))]
        mx = [max(r_, default=0.0) for r_ in mat]
        for i_, o_ in enumerate(order):
            d_ = 1.0
            for j in range(i_):
                v_ = math.exp((mx[j] ** 2 - mat[i_][j] ** 2) * sigma) if gauss else (1 - mat[i_][j]) / (1 - mx[j])
                d_ = min(d_, v_)
            s_ = sc_[c_, o_] * d_
            if s_ > post:
                res.append((s_, c_, o_))
    res.sort(key=lambda t: -t[0])
    if keep > -1:
        res = res[:keep]
    return {"Out": np.array([[c_, s_, *bx_[o_]] for s_, c_, o_ in res], np.float32), "Index": np.array([[o_] for _, _, o_ in res], np.int32), "RoisNum": np.array([len(res)], np.int32)}


for g in (False, True):
    row("matrix_nms", {"BBoxes": nb, "Scores": ns}, matrix(nb[0], ns[0], 0.06, 0.05, 4, 5, g, 2.0, -1), score_threshold=0.06, post_threshold=0.05, nms_top_k=4,
        keep_top_k=5, use_gaussian=g, gaussian_sigma=2.0, background_label=-1, normalized=True)
# Two images.
nb2, ns2 = np.concatenate([nb, nb + 3]), np.concatenate([ns, ns[:, ::-1] * 0.9])
two = [multi(nb2[i_], ns2[i_], 0.06, 4, 3, 0.5, -1, 0) for i_ in (0, 1)]
row("multiclass_nms3", {"BBoxes": nb2, "Scores": ns2},
    {"Out": np.concatenate([t["Out"] for t in two]), "Index": np.concatenate([two[0]["Index"], two[1]["Index"] + 4]),
     "NmsRoisNum": np.concatenate([t["NmsRoisNum"] for t in two])}, score_threshold=0.06, nms_top_k=4, keep_top_k=3, nms_threshold=0.5,
    background_label=-1, normalized=True)
two = [matrix(nb2[i_], ns2[i_], 0.06, 0.05, 4, 3, False, 2.0, 0) for i_ in (0, 1)]
row("matrix_nms", {"BBoxes": nb2, "Scores": ns2},
    {"Out": np.concatenate([t["Out"] for t in two]), "Index": np.concatenate([two[0]["Index"], two[1]["Index"] + 4]),
     "RoisNum": np.concatenate([t["RoisNum"] for t in two])}, score_threshold=0.06, post_threshold=0.05, nms_top_k=4, keep_top_k=3,
    background_label=0, normalized=True)
# Boxes of each class in one list for two images: 3 and 1.
lb_, ls_ = np.stack([nb[0], nb[0] + 2], 1), ns[0].T.copy()
outs, idxs, nums = [], [], []
for lo, hi in ((0, 3), (3, 4)):
    kept = []
    for c_ in range(2):
        sel = []
        for i_ in sorted([i_ for i_ in range(lo, hi) if ls_[i_, c_] > 0.06], key=lambda t: -ls_[t, c_]):
            if all(iou(lb_[i_, c_], lb_[j, c_], 0) <= 0.5 for j in sel):
                sel.append(i_)
        kept += [(c_, i_) for i_ in sorted(sel)]
    outs += [[c_, ls_[i_, c_], *lb_[i_, c_]] for c_, i_ in kept]
    idxs += [[i_ * 2 + c_] for c_, i_ in kept]
    nums.append(len(kept))
row("multiclass_nms3", {"BBoxes": lb_, "Scores": ls_, "RoisNum": np.array([3, 1], np.int32)},
    {"Out": np.array(outs, np.float32), "Index": np.array(idxs, np.int32), "NmsRoisNum": np.array(nums, np.int32)},
    score_threshold=0.06, nms_top_k=-1, keep_top_k=100, nms_threshold=0.5, background_label=-1, normalized=True)
row("nms", {"Boxes": nb[0]}, {"KeepBoxesIdxs": np.array([0, 2], np.int64)}, iou_threshold=0.5)
row("nms", {"Boxes": nb[0]}, {"KeepBoxesIdxs": np.array([0, 1, 2], np.int64)}, iou_threshold=0.75)
ri = np.arange(32, dtype=np.float32).reshape(2, 1, 4, 4)
rois = np.array([[0, 0, 2, 2], [1, 1, 3, 3], [0, 0, 4, 4]], np.float32)
rnum = np.array([2, 1], np.int32)


def bilinear(im_, y_, x_):
    h_, w_ = im_.shape
    if y_ < -1 or y_ > h_ or x_ < -1 or x_ > w_:
        return 0.0
    y_, x_ = max(y_, 0), max(x_, 0)
    y0, x0 = min(int(y_), h_ - 1), min(int(x_), w_ - 1)
    y1, x1 = min(y0 + 1, h_ - 1), min(x0 + 1, w_ - 1)
    if y0 >= h_ - 1:
        y_ = y0
    if x0 >= w_ - 1:
        x_ = x0
    ly, lx_ = y_ - y0, x_ - x0
    return (im_[y0, x0] * (1 - ly) * (1 - lx_) + im_[y0, x1] * (1 - ly) * lx_ + im_[y1, x0] * ly * (1 - lx_) + im_[y1, x1] * ly * lx_)


def align(im_, rs_, images, ph, pw, scale, ratio, aligned):
    out = []
    off = 0.5 if aligned else 0
    for r_, b_ in zip(rs_, images):
        x0, y0, x1, y1 = [v_ * scale - off for v_ in r_]
        w_, h_ = x1 - x0, y1 - y0
        if not aligned:
            w_, h_ = max(w_, 1), max(h_, 1)
        gh = ratio if ratio > 0 else math.ceil(h_ / ph)
        gw = ratio if ratio > 0 else math.ceil(w_ / pw)
        out.append([[np.mean([bilinear(im_[b_, 0], y0 + h_ / ph * (p_ + (i_ + .5) / gh), x0 + w_ / pw * (q_ + (j + .5) / gw)) for i_ in range(gh) for j in range(gw)]) for q_ in range(pw)] for p_ in range(ph)])
    return np.array(out, np.float32)[:, None]


row("roi_align", {"X": ri, "ROIs": rois, "RoisNum": rnum}, align(ri, rois, [0, 0, 1], 2, 2, 1.0, 2, True), pooled_height=2, pooled_width=2, spatial_scale=1.0, sampling_ratio=2, aligned=True)
row("roi_align", {"X": ri, "ROIs": rois, "RoisNum": rnum}, align(ri, rois, [0, 0, 1], 2, 1, 0.5, -1, False), pooled_height=2, pooled_width=1, spatial_scale=0.5, sampling_ratio=-1, aligned=False)
row("roi_pool", {"X": ri, "ROIs": rois, "RoisNum": rnum}, np.array([10, 15, 31], np.float32).reshape(3, 1, 1, 1), pooled_height=1, pooled_width=1, spatial_scale=1.0)
row("roi_pool", {"X": ri, "ROIs": np.array([[0, 0, 3, 3]], np.float32), "RoisNum": np.array([0, 1], np.int32)}, np.array([21, 23, 29, 31], np.float32).reshape(1, 1, 2, 2), pooled_height=2, pooled_width=2, spatial_scale=1.0)
fr = np.array([[0, 0, 10, 10], [0, 0, 223, 223], [0, 0, 500, 500], [5, 5, 60, 60]], np.float32)


def levels(r_, lo, hi, rl, rsc, more):
    out = []
    for b_ in r_:
        ar = (b_[2] - b_[0] + more) * (b_[3] - b_[1] + more)
        out.append(int(min(hi, max(lo, math.floor(math.log2(math.sqrt(ar) / rsc + 1e-6) + rl)))))
    return np.array(out)


for more in (1, 0):
    lv = levels(fr, 2, 4, 4, 224, more)
    order = np.concatenate([np.where(lv == l_)[0] for l_ in (2, 3, 4)])
    restore = np.argsort(order)[:, None].astype(np.int32)
    im_of = np.array([0, 0, 1, 1])
    row("distribute_fpn_proposals", {"FpnRois": fr, "RoisNum": np.array([2, 2], np.int32)},
        {"MultiFpnRois": [fr[lv == l_] for l_ in (2, 3, 4)], "MultiLevelRoIsNum": [np.array([((lv == l_) & (im_of == i_)).sum() for i_ in (0, 1)], np.int32) for l_ in (2, 3, 4)], "RestoreIndex": restore},
        min_level=2, max_level=4, refer_level=4, refer_scale=224, pixel_offset=more == 1)
s_a, s_b = np.array([0.5, 0.9], np.float32), np.array([0.7, 0.1], np.float32)
row("collect_fpn_proposals", {"MultiLevelRois": [fr[:2], fr[2:]], "MultiLevelScores": [s_a, s_b], "MultiLevelRoIsNum": [np.array([1, 1], np.int32), np.array([1, 1], np.int32)]},
    {"FpnRois": fr[[2, 0, 1]], "RoisNum": np.array([2, 1], np.int32)}, post_nms_topN=3)
row("collect_fpn_proposals", {"MultiLevelRois": [fr[:2], fr[2:]], "MultiLevelScores": [s_a, s_b], "MultiLevelRoIsNum": [np.array([2], np.int32), np.array([2], np.int32)]},
    {"FpnRois": fr[[1, 2]], "RoisNum": np.array([2], np.int32)}, post_nms_topN=2)
gsc = np.array([0.9, 0.8, 0.7, 0.2], np.float32).reshape(1, 1, 2, 2)
ganc = np.array([[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [5, 5, 5.2, 5.2]], np.float32).reshape(2, 2, 1, 4)
gvar = np.ones((2, 2, 1, 4), np.float32)
gdl = np.zeros((1, 4, 2, 2), np.float32)
gin = {"Scores": gsc, "BboxDeltas": gdl, "ImShape": np.array([[40, 40]], np.float32), "Anchors": ganc, "Variances": gvar}
row("generate_proposals_v2", gin, {"RpnRois": np.array([[0, 0, 10, 10], [20, 20, 30, 30]], np.float32), "RpnRoiProbs": np.array([[0.9], [0.7]], np.float32), "RpnRoisNum": np.array([2], np.int32)},
    pre_nms_topN=10, post_nms_topN=10, nms_thresh=0.5, min_size=1.0, eta=1.0, pixel_offset=False)
gin2 = dict(gin); gin2["ImShape"] = np.array([[25, 26]], np.float32)
row("generate_proposals_v2", gin2, {"RpnRois": np.array([[0, 0, 10, 10]], np.float32), "RpnRoiProbs": np.array([[0.9]], np.float32), "RpnRoisNum": np.array([1], np.int32)},
    pre_nms_topN=10, post_nms_topN=1, nms_thresh=0.7, min_size=1.0, eta=1.0, pixel_offset=False)
gin3 = {"Scores": np.concatenate([gsc, gsc * 0.5]), "BboxDeltas": np.concatenate([gdl, gdl]),
        "ImShape": np.array([[40, 40], [0.5, 0.5]], np.float32), "Anchors": ganc, "Variances": gvar}
row("generate_proposals_v2", gin3, {"RpnRois": np.array([[0, 0, 10, 10], [20, 20, 30, 30], [0, 0, 0, 0]], np.float32),
                                    "RpnRoiProbs": np.array([[0.9], [0.7], [0]], np.float32), "RpnRoisNum": np.array([2, 1], np.int32)},
    pre_nms_topN=10, post_nms_topN=10, nms_thresh=0.5, min_size=1.0, eta=1.0, pixel_offset=False)

# --- The rest ------------------------------------------------------------------------------------
row("partial_concat", {"X": [x[0], x[1]]}, np.concatenate([x[0, :, 1:3], x[1, :, 1:3]], 1), start_index=1, length=2)
row("partial_concat", {"X": [a, b]}, np.concatenate([a[:, 2:], b[:, 2:]], 1), start_index=2, length=-1)
row("partial_sum", {"X": [a, b]}, a[:, 1:3] + b[:, 1:3], start_index=1, length=2)
row("partial_sum", {"X": [a, b]}, a + b, start_index=0, length=-1)
row("repeat_interleave", {"X": a}, np.repeat(a, 2, 1), dim=1, Repeats=2)
row("repeat_interleave", {"X": a}, np.repeat(a, 3, 0), dim=0, Repeats=3)
row("repeat_interleave_with_tensor_index", {"X": a, "RepeatTensor": np.array([2, 0, 1], np.int32)}, np.repeat(a, [2, 0, 1], 1), dim=1)
row("repeat_interleave_with_tensor_index", {"X": a, "RepeatTensor": np.array([1, 2], np.int64)}, np.repeat(a, [1, 2], 0), dim=0)
row("print", {"In": a}, a)
row("print", {"In": e3}, e3, message="x")


# --- Regions of R-FCN ----------------------------------------------------------------------------


def psroi(x_, rs_, images, cells, scale):
    away = lambda v: math.copysign(math.floor(abs(v) + 0.5), v)
    out = np.zeros((len(rs_), x_.shape[1] // cells ** 2, cells, cells), np.float32)
    for r, box in enumerate(rs_):
        x1, y1 = [away(v) * scale for v in box[:2]]
        x2, y2 = [(away(v) + 1) * scale for v in box[2:]]
        high, wide = max(y2 - y1, 0.1) / cells, max(x2 - x1, 0.1) / cells
        for h_ in range(cells):
            for w_ in range(cells):
                cut = lambda v, most: min(max(int(v), 0), most)
                top, bottom = cut(math.floor(h_ * high + y1), x_.shape[2]), cut(math.ceil((h_ + 1) * high + y1), x_.shape[2])
                left, right = cut(math.floor(w_ * wide + x1), x_.shape[3]), cut(math.ceil((w_ + 1) * wide + x1), x_.shape[3])
                if bottom > top and right > left:
                    own = x_[images[r]].reshape(-1, cells, cells, *x_.shape[2:])[:, h_, w_]
                    out[r, :, h_, w_] = own[:, top:bottom, left:right].mean((1, 2))
    return out


maps = f(2, 8, 6, 7)
regions = np.array([[0, 0, 5, 4], [1, 2, 6, 5], [3, 3, 3, 3], [4.4, 4.6, 9, 9]], np.float32)
numbers = np.array([3, 1], np.int32)
for scale in (1.0, 0.5):
    row("psroi_pool", {"X": maps, "ROIs": regions / np.float32(scale), "RoisNum": numbers},
        psroi(maps, regions / np.float32(scale), [0, 0, 0, 1], 2, scale), pooled_height=2, pooled_width=2, output_channels=2,
        spatial_scale=scale)

# --- Other names of operators above --------------------------------------------------------------

row("shadow_feed", {"X": a}, a)
row("shadow_feed", {"X": e3}, e3)
row("assign_value_", {"X": np.zeros((1, 2), np.int32)}, np.array([[1, 2]], np.int32), shape=[1, 2], dtype=2, int32_values=[1, 2])
row("assign_value_", {"X": np.zeros(2, np.float32)}, np.array([0.5, 2], np.float32), shape=[2], dtype=5, fp32_values=[0.5, 2.0])
sx, sy, ss, sb = f(2, 3, 4), f(2, 3, 4), f(4), f(4)
for eps in (1e-6, 0.1):
    row("fused_skip_layernorm", {"X": sx, "Y": sy, "Scale": ss, "Bias": sb},
        F.layer_norm(T(sx + sy), (4,), T(ss), T(sb), eps), epsilon=eps, begin_norm_axis=2)
for shape in ((1, 2, 4, 4, 2), (2, 1, 2, 4, 6)):
    top, places = F.max_pool3d(T(f(*shape)), 2, 2, return_indices=True)
    row("unpool3d", {"X": top, "Indices": places.int()}, F.max_unpool3d(top, places, 2, 2), ksize=[2, 2, 2],
        strides=[2, 2, 2], paddings=[0, 0, 0])

sequence_rows.add(row)
rows.write(sys.argv[1])
