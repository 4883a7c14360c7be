"""Makes small ML Programs, mostly an operation each, with what they compute by the public documentation of coremltools and
what its tests expect of Core ML, in NumPy and PyTorch.

    python3 tests/conformance/coreml_programs.py FOLDER

Needs PyTorch 1.13. Each case is FOLDER/mil_NAME.mlmodel and FOLDER/mil_NAME.mlmodel.io.safetensors.
"""
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

import coreml_files

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
rng = np.random.RandomState(11)
T = torch.from_numpy
f32 = lambda v: np.array(v, np.float32)  # noqa: E731
i32 = lambda v: np.array(v, np.int32)  # noqa: E731


def rand(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape).astype(np.float32)


# --- Programs -------------------------------------------------------------------------------------------------------

TYPES = {"float32": "FLOAT32", "float16": "FLOAT16", "int32": "INT32", "int16": "INT16", "uint16": "UINT16", "int8": "INT8",
         "uint8": "UINT8", "uint32": "UINT32", "bool": "BOOL"}


class Ref(str):
    """A value by its name."""


class Packed:
    """A constant of a type that NumPy has not: its bytes, numbers packed from the lowest bits on."""

    def __init__(self, kind, numbers, bits):
        self.kind, self.shape = kind, np.shape(numbers)
        whole = 0
        for i, n in enumerate(np.ravel(numbers)):
            whole |= (int(n) & (1 << bits) - 1) << i * bits
        self.bytes = whole.to_bytes((np.size(numbers) * bits + 7) // 8, "little")


def tensor_type(kind, shape):
    dims = [{"unknown": {"variadic": False}} if n is None else {"constant": {"size": n}} for n in shape]
    return {"tensorType": {"dataType": kind, "rank": len(shape), "dimensions": dims}}


def type_of(a):
    return tensor_type(TYPES[a.dtype.name], a.shape)


def list_type(kind, shape, length=None):
    size = {"unknown": {"variadic": False}} if length is None else {"constant": {"size": length}}
    return {"listType": {"type": tensor_type(kind, shape), "length": size}}


def value(v):
    if isinstance(v, Packed):
        return {"type": tensor_type(v.kind, v.shape), "immediateValue": {"tensor": {"bytes": {"values": v.bytes}}}}
    if isinstance(v, str):
        return {"type": tensor_type("STRING", ()), "immediateValue": {"tensor": {"strings": {"values": [v]}}}}
    if isinstance(v, bool):
        v = np.array(v)
    elif isinstance(v, int):
        v = i32(v)
    elif isinstance(v, float):
        v = f32(v)
    v = np.asarray(v)
    if v.dtype == np.int64:
        v = v.astype(np.int32)
    if v.dtype == np.float64:
        v = v.astype(np.float32)
    field = {"float32": "floats", "int32": "ints", "bool": "bools"}.get(v.dtype.name, "bytes")
    numbers = v.tobytes() if field == "bytes" else v.ravel().tolist()
    return {"type": type_of(v), "immediateValue": {"tensor": {field: {"values": numbers}}}}


class Block:
    count = 0

    def __init__(self, inputs=()):
        self.inputs, self.ops, self.outputs = list(inputs), [], []

    def name(self):
        Block.count += 1
        return Ref("v%d" % Block.count)

    def const(self, v):
        name = self.name()
        v = value(v)
        self.ops.append({"type": "const", "outputs": [{"name": name, "type": v["type"]}], "attributes": [{"key": "val", "value": v}]})
        return name

    def op(self, kind, types, blocks=(), **arguments):
        """types: of the results, as ValueType or as arrays like them. What is no Ref, or list of such, is a constant."""
        inputs = []
        for key, v in arguments.items():
            if v is None:
                continue
            refs = v if isinstance(v, list) and v and isinstance(v[0], Ref) else [v if isinstance(v, Ref) else self.const(v)]
            inputs.append({"key": key, "value": {"arguments": [{"name": r} for r in refs]}})
        names = [self.name() for _ in types]
        self.ops.append({"type": kind, "inputs": inputs, "blocks": [b.message() for b in blocks],
                         "outputs": [{"name": n, "type": t if isinstance(t, dict) else type_of(t)} for n, t in zip(names, types)]})
        return names

    def message(self):
        return {"inputs": self.inputs, "operations": self.ops, "outputs": self.outputs}


def program(name, xs, ys, build, opset=5, open_sizes=False):
    """build(block, *inputs) gives the results."""
    ys = [np.asarray(y) for y in ys]
    block = Block()
    names = [Ref("x%d" % i) for i in range(len(xs))]
    types = [tensor_type(TYPES[x.dtype.name], [None] * x.ndim if open_sizes else x.shape) for x in xs]
    results = build(block, *names)
    outs = []
    for i, r in enumerate(results):
        made = block.op("identity", [ys[i]], x=r)[0]
        outs.append(made)
    block.outputs = outs
    opset = "CoreML%d" % opset
    function = {"inputs": [{"name": n, "type": t} for n, t in zip(names, types)], "opset": opset,
                "block_specializations": [{"key": opset, "value": block.message()}]}

    def port(n, a=None):
        described = {"dataType": {"float16": "FLOAT16", "int32": "INT32"}.get(a.dtype.name, "FLOAT32")}
        if a is not None and not open_sizes:
            described["shape"] = a.shape
        return {"name": n, "type": {"multiArrayType": described}}

    coreml_files.write(out, "mil_" + name, {
        "specificationVersion": int(opset[6:]) + 1,
        "description": {"input": [port(n, x) for n, x in zip(names, xs)], "output": [port(n, y) for n, y in zip(outs, ys)]},
        "mlProgram": {"version": 1, "functions": [{"key": "main", "value": function}]}}, xs, ys)


X0, X1, X2, X3 = (Ref("x%d" % i) for i in range(4))


def case(name, kind, xs, ys, opset=5, casts=None, open_sizes=False, **arguments):
    """An operation on inputs, which its arguments name. casts: bools and others of the results come out as int32."""
    xs = xs if isinstance(xs, list) else [xs]
    ys = [np.asarray(y) for y in (ys if isinstance(ys, list) else [ys])]

    def build(b, *names):
        results = b.op(kind, ys, **arguments)
        return [b.op("cast", [y.astype(np.int32)], x=r, dtype="int32")[0] if y.dtype.name not in ("float32", "float16", "int32") else r
                for r, y in zip(results, ys)]

    plain = [y if y.dtype.name in ("float32", "float16", "int32") else y.astype(np.int32) for y in ys]
    def wrapped(b, *names):
        return build(b, *names)
    program(name, xs, plain, wrapped, opset, open_sizes)


# --- Functions of elements ------------------------------------------------------------------------------------------

x = rand(2, 3, 4)
pos = rand(2, 3, 4, low=0.2, high=3)
unit = rand(2, 3, 4, low=-0.9, high=0.9)
half = f32([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0, 1.2, -1.2, 7.7])
whole = rng.randint(-5, 6, (2, 3)).astype(np.int32)
sig = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
for kind, v, fn in (("abs", x, np.abs), ("acos", unit, np.arccos), ("asin", unit, np.arcsin), ("atan", x, np.arctan), ("atanh", unit, np.arctanh),
                    ("ceil", half, np.ceil), ("cos", x, np.cos), ("cosh", x, np.cosh), ("exp", x, np.exp), ("exp2", x, np.exp2), ("floor", half, np.floor),
                    ("round", half, np.round), ("sign", half, np.sign), ("sin", x, np.sin), ("sinh", x, np.sinh), ("sqrt", pos, np.sqrt),
                    ("square", x, np.square), ("tan", x, np.tan), ("tanh", x, np.tanh), ("relu", x, lambda v: np.maximum(v, 0)),
                    ("relu6", 4 * x, lambda v: np.clip(v, 0, 6)), ("sigmoid", x, sig), ("silu", x, lambda v: v * sig(v)),
                    ("softplus", x, lambda v: np.log1p(np.exp(v))), ("softsign", x, lambda v: v / (1 + np.abs(v))),
                    ("erf", x, lambda v: torch.erf(T(v)).numpy()), ("identity", x, lambda v: v)):
    case(kind, kind, v, fn(v), x=X0)
case("abs_ints", "abs", whole, np.abs(whole), x=X0)
case("sign_ints", "sign", whole, np.sign(whole), x=X0)
case("square_ints", "square", whole, whole * whole, x=X0)
case("inverse", "inverse", pos, 1 / (pos + 1e-4), x=X0)
case("inverse_epsilon", "inverse", pos, 1 / (pos + 0.5), x=X0, epsilon=0.5)
case("log", "log", pos, np.log(pos), x=X0)
case("log_epsilon", "log", pos, np.log(pos + 0.25), x=X0, epsilon=0.25)
case("rsqrt", "rsqrt", pos, 1 / np.sqrt(pos), x=X0)
case("rsqrt_epsilon", "rsqrt", pos, 1 / np.sqrt(pos + 0.25), x=X0, epsilon=0.25)
case("clip", "clip", x, np.clip(x, -0.5, 0.75), x=X0, alpha=-0.5, beta=0.75)
case("clamped_relu", "clamped_relu", x, np.minimum(np.where(x >= 0, x, 0.3 * x), 0.4).astype(np.float32), x=X0, alpha=0.3, beta=0.4)
case("elu", "elu", x, np.where(x > 0, x, 0.7 * np.expm1(x)).astype(np.float32), x=X0, alpha=0.7)
case("leaky_relu", "leaky_relu", x, np.where(x >= 0, x, 0.2 * x).astype(np.float32), x=X0, alpha=0.2)
case("linear_activation", "linear_activation", x, (1.5 * x - 0.5).astype(np.float32), x=X0, alpha=1.5, beta=-0.5)
case("scaled_tanh", "scaled_tanh", x, (1.7 * np.tanh(0.6 * x)).astype(np.float32), x=X0, alpha=1.7, beta=0.6)
case("sigmoid_hard", "sigmoid_hard", x, np.clip(0.3 * x + 0.4, 0, 1).astype(np.float32), x=X0, alpha=0.3, beta=0.4)
case("thresholded_relu", "thresholded_relu", half, np.where(half >= 0.5, half, 0), x=X0, alpha=0.5)
case("threshold", "threshold", x, np.maximum(x, 0.5).astype(np.float32), x=X0, alpha=0.5)
a3, b3 = rand(3), rand(3, low=0.5, high=2)
case("prelu", "prelu", x, np.where(x >= 0, x, a3[:, None] * x), x=X0, alpha=a3)
case("softplus_parametric", "softplus_parametric", x, a3[:, None] * np.log1p(np.exp(b3[:, None] * x)), x=X0, alpha=a3, beta=b3)
case("softmax", "softmax", x, F.softmax(T(x), 1).numpy(), x=X0, axis=1)
case("softmax_default", "softmax", x, F.softmax(T(x), -1).numpy(), x=X0)
case("gelu", "gelu", x, F.gelu(T(x)).numpy(), x=X0)
case("gelu_tanh", "gelu", x, F.gelu(T(x), approximate="tanh").numpy(), x=X0, mode="TANH_APPROXIMATION")
case("gelu_sigmoid", "gelu", x, x * sig(np.float32(1.702) * x), x=X0, mode="SIGMOID_APPROXIMATION")
case("cast_down", "cast", half, half.astype(np.int32), x=X0, dtype="int32")
case("cast_up", "cast", whole, whole.astype(np.float32), x=X0, dtype="fp32")
case("cast_bool", "cast", half, half != 0, x=X0, dtype="bool")
case("cast_bytes", "cast", whole, whole.astype(np.int8), opset=7, x=X0, dtype="int8")
case("cast_words", "cast", whole, whole.astype(np.int16), opset=7, x=X0, dtype="int16")

# --- Arithmetic of two operands -------------------------------------------------------------------------------------

u, v = rand(2, 3, 4), rand(3, 1, low=0.5, high=2)
for kind, fn in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("real_div", np.divide), ("maximum", np.maximum), ("minimum", np.minimum),
                 ("floor_div", np.floor_divide), ("mod", np.mod)):
    case(kind, kind, [u, v], fn(u, v), x=X0, y=X1)
    if kind != "real_div":
        n, d = rng.randint(-9, 10, (2, 3)).astype(np.int32), i32([2, -3, 4])
        case(kind + "_ints", kind, [n, d], fn(n, d), x=X0, y=X1)
case("floor_div_negative", "floor_div", [u, -v], np.floor_divide(u, -v), x=X0, y=X1)
case("mod_negative", "mod", [u, -v], np.mod(u, -v), x=X0, y=X1)
case("pow", "pow", [pos, v], pos ** v, x=X0, y=X1)
case("pow_constant", "pow", u, u ** 2, x=X0, y=2.0)
case("pow_ints", "pow", [whole, i32([0, 1, 3])], whole ** i32([0, 1, 3]), x=X0, y=X1)
few, other = rng.randint(-1, 2, (2, 3)).astype(np.int32), rng.randint(-1, 2, (3,)).astype(np.int32)
for kind, fn in (("equal", np.equal), ("not_equal", np.not_equal), ("less", np.less), ("less_equal", np.less_equal), ("greater", np.greater),
                 ("greater_equal", np.greater_equal)):
    case(kind, kind, [few, other], fn(few, other), x=X0, y=X1)
    case(kind + "_floats", kind, [few.astype(np.float32), other.astype(np.float32)], fn(few, other), x=X0, y=X1)


def logical(kind, fn):
    def build(b, *names):
        bools = [b.op("cast", [few == 0], x=n, dtype="bool")[0] for n in names]
        made = b.op(kind, [few == 0], **dict(zip("xy", bools)))[0]
        return b.op("cast", [few], x=made, dtype="int32")
    xs = [few, other][:1 if kind == "logical_not" else 2]
    program(kind, xs, [fn(*[a != 0 for a in xs]).astype(np.int32)], build)


for kind in ("and", "or", "xor", "not"):
    logical("logical_" + kind, getattr(np, "logical_" + kind))
program("select", [few, u[0, :2, :3].copy()], [np.where(few != 0, u[0, :2, :3], f32(5))],
        lambda b, c, a: b.op("select", [u[0, :2, :3]], cond=b.op("cast", [few == 0], x=c, dtype="bool")[0], a=a, b=f32(5)))

# --- Convolutions, pools, products ----------------------------------------------------------------------------------

img = rand(2, 4, 7, 8)
w, bias = rand(6, 4, 3, 3), rand(6)
case("conv", "conv", img, F.conv2d(T(img), T(w), T(bias)).numpy(), x=X0, weight=w, bias=bias)
case("conv_custom", "conv", img, F.conv2d(F.pad(T(img), (0, 3, 1, 2)), T(w), stride=(2, 1), dilation=(1, 2)).numpy(), x=X0, weight=w, strides=i32([2, 1]),
     pad_type="custom", pad=i32([1, 2, 0, 3]), dilations=i32([1, 2]))
case("conv_pad_ignored", "conv", img, F.conv2d(T(img), T(w)).numpy(), x=X0, weight=w, pad_type="valid", pad=i32([1, 2, 0, 3]))
wg = rand(6, 2, 3, 3)
case("conv_groups", "conv", img, F.conv2d(T(img), T(wg), groups=2).numpy(), x=X0, weight=wg, groups=2)
case("conv_same", "conv", img, F.conv2d(F.pad(T(img), (0, 1, 1, 1)), T(w), stride=2).numpy(), x=X0, weight=w, strides=i32([2, 2]), pad_type="same")
case("conv_same_lower", "conv", img, F.conv2d(F.pad(T(img), (1, 0, 1, 1)), T(w), stride=2).numpy(), x=X0, weight=w, strides=i32([2, 2]), pad_type="same_lower")
case("conv_computed", "conv", [img, w], F.conv2d(T(img), T(w)).numpy(), x=X0, weight=X1)
seq, w1 = rand(2, 3, 9), rand(5, 3, 2)
case("conv_one_axis", "conv", seq, F.conv1d(T(seq), T(w1), stride=2).numpy(), x=X0, weight=w1, strides=i32([2]))
vol, w3 = rand(1, 2, 4, 5, 5), rand(3, 2, 2, 3, 3)
case("conv_three_axes", "conv", vol, F.conv3d(T(vol), T(w3)).numpy(), x=X0, weight=w3)
small = rand(1, 4, 3, 4)
wt = rand(4, 3, 3, 2)
case("conv_transpose", "conv_transpose", small, F.conv_transpose2d(T(small), T(wt), T(bias[:3]), stride=2).numpy(), x=X0, weight=wt, bias=bias[:3], strides=i32([2, 2]))
case("conv_transpose_custom", "conv_transpose", small, F.conv_transpose2d(T(small), T(wt), stride=2)[:, :, 1:-1, 0:-1].numpy(), x=X0, weight=wt, strides=i32([2, 2]),
     pad_type="custom", pad=i32([1, 1, 0, 1]))
case("conv_transpose_shape", "conv_transpose", small, F.conv_transpose2d(T(small), T(wt), stride=2, padding=(1, 0), output_padding=(1, 1)).numpy(), x=X0, weight=wt,
     strides=i32([2, 2]), pad_type="custom", pad=i32([1, 1, 0, 0]), output_shape=i32([1, 3, 6, 9]))
wtg = rand(4, 2, 3, 3)
case("conv_transpose_groups", "conv_transpose", small, F.conv_transpose2d(T(small), T(wtg), groups=2).numpy(), x=X0, weight=wtg, groups=2)


def pooled(x, kind, kernel, stride, pads, exclude=False):
    """By windows; pads: begin and end of each axis."""
    n, c, h, w = x.shape
    size = [(h + pads[0] + pads[1] - kernel[0]) // stride[0] + 1, (w + pads[2] + pads[3] - kernel[1]) // stride[1] + 1]
    y = np.zeros((n, c, *size), np.float32)
    for i in range(size[0]):
        for j in range(size[1]):
            top, left = i * stride[0] - pads[0], j * stride[1] - pads[2]
            part = x[:, :, max(top, 0):top + kernel[0], max(left, 0):left + kernel[1]]
            if kind == "max":
                y[:, :, i, j] = part.max((2, 3))
            elif kind == "l2":
                y[:, :, i, j] = np.sqrt((part ** 2).sum((2, 3)))
            else:
                y[:, :, i, j] = part.sum((2, 3)) / (part.shape[2] * part.shape[3] if exclude else kernel[0] * kernel[1])
    return y


for kind in ("max", "avg", "l2"):
    case(kind + "_pool", kind + "_pool", img, pooled(img, kind, (2, 3), (2, 2), (0, 0, 0, 0)), x=X0, kernel_sizes=i32([2, 3]), strides=i32([2, 2]))
    case(kind + "_pool_custom", kind + "_pool", img, pooled(img, kind, (3, 3), (2, 1), (1, 1, 1, 0)), x=X0, kernel_sizes=i32([3, 3]), strides=i32([2, 1]),
         pad_type="custom", pad=i32([1, 1, 1, 0]))
    case(kind + "_pool_same", kind + "_pool", img, pooled(img, kind, (3, 2), (2, 1), (1, 1, 0, 1)), x=X0, kernel_sizes=i32([3, 2]), strides=i32([2, 1]), pad_type="same")
    case(kind + "_pool_same_lower", kind + "_pool", img, pooled(img, kind, (3, 2), (2, 1), (1, 1, 1, 0)), x=X0, kernel_sizes=i32([3, 2]), strides=i32([2, 1]),
         pad_type="same_lower")
case("avg_pool_exclude", "avg_pool", img, pooled(img, "avg", (3, 3), (2, 2), (1, 1, 1, 1), True), x=X0, kernel_sizes=i32([3, 3]), strides=i32([2, 2]), pad_type="custom",
     pad=i32([1, 1, 1, 1]), exclude_padding_from_average=True)
case("max_pool_ceil", "max_pool", img, F.max_pool2d(T(img), 3, 2, 1, ceil_mode=True).numpy(), x=X0, kernel_sizes=i32([3, 3]), strides=i32([2, 2]), pad_type="custom",
     pad=i32([1, 1, 1, 1]), ceil_mode=True)
for count in (False, True):
    case("avg_pool_ceil_%d" % count, "avg_pool", img, F.avg_pool2d(T(img), 3, 2, 1, ceil_mode=True, count_include_pad=count).numpy(), x=X0, kernel_sizes=i32([3, 3]),
         strides=i32([2, 2]), pad_type="custom", pad=i32([1, 1, 1, 1]), ceil_mode=True, exclude_padding_from_average=not count)
case("max_pool_one_axis", "max_pool", seq, F.max_pool1d(T(seq), 3, 2).numpy(), x=X0, kernel_sizes=i32([3]), strides=i32([2]))
case("avg_pool_three_axes", "avg_pool", vol, F.avg_pool3d(T(vol), 2, 1).numpy(), x=X0, kernel_sizes=i32([2, 2, 2]))
m, wl, bl = rand(2, 3, 6), rand(5, 6), rand(5)
case("linear", "linear", m, m @ wl.T + bl, x=X0, weight=wl, bias=bl)
case("linear_no_bias", "linear", m[0, 0], m[0, 0] @ wl.T, x=X0, weight=wl)
m2 = rand(2, 6, 4)
case("matmul", "matmul", [m, m2], m @ m2, x=X0, y=X1)
case("matmul_transposed", "matmul", [m.swapaxes(1, 2).copy(), m2.swapaxes(1, 2).copy()], m @ m2, x=X0, y=X1, transpose_x=True, transpose_y=True)
case("matmul_vector", "matmul", [m, m2[0, :, 0].copy()], m @ m2[0, :, 0], x=X0, y=X1)
e1, e2 = rand(2, 3, 4, 5), rand(2, 5, 4, 6)
program("einsum", [e1, e2], [np.einsum("nchw,nwhr->nchr", e1, e2)], lambda b, p, q: b.op("einsum", [np.einsum("nchw,nwhr->nchr", e1, e2)], values=[p, q],
                                                                                        equation="nchw,nwhr->nchr"))
program("einsum_three", [m, m2.swapaxes(0, 1).copy()], [np.einsum("chw,whr->chr", m.transpose(1, 0, 2), m2.swapaxes(0, 1))],
        lambda b, p, q: b.op("einsum", [rand(3, 2, 4)], values=[b.op("transpose", [rand(3, 2, 6)], x=p, perm=i32([1, 0, 2]))[0], q], equation="chw,whr->chr"))
q, k, val = rand(2, 3, 4, 8), rand(2, 3, 5, 8), rand(2, 3, 5, 6)
mask, keep = rand(4, 5), rng.rand(1, 1, 4, 5) > 0.3
keep[..., 0] = True


def attention(extra):
    return F.softmax(T(q @ k.swapaxes(-1, -2) / np.sqrt(8).astype(np.float32) + extra), -1).numpy() @ val


case("attention", "scaled_dot_product_attention", [q, k, val], attention(0), opset=8, query=X0, key=X1, value=X2)
case("attention_mask", "scaled_dot_product_attention", [q, k, val, mask], attention(mask), opset=8, query=X0, key=X1, value=X2, attn_mask=X3)
case("attention_bool", "scaled_dot_product_attention", [q, k, val], attention(np.where(keep, 0, -np.inf).astype(np.float32)), opset=8, query=X0, key=X1, value=X2,
     attn_mask=keep)

# --- Norms ----------------------------------------------------------------------------------------------------------

ga, be, me, va = rand(4), rand(4), rand(4), rand(4, low=0.1, high=2)
ch = (4, 1, 1)
normed = lambda v, mean, var, eps: (v - mean) / np.sqrt(var + np.float32(eps))  # noqa: E731
case("batch_norm", "batch_norm", img, normed(img, me.reshape(ch), va.reshape(ch), 1e-5), x=X0, mean=me, variance=va)
case("batch_norm_all", "batch_norm", img, normed(img, me.reshape(ch), va.reshape(ch), 0.1) * ga.reshape(ch) + be.reshape(ch), x=X0, mean=me, variance=va, gamma=ga,
     beta=be, epsilon=0.1)
case("instance_norm", "instance_norm", img, normed(img, img.mean((2, 3), keepdims=True), img.var((2, 3), keepdims=True), 1e-5), x=X0)
case("instance_norm_all", "instance_norm", img, normed(img, img.mean((2, 3), keepdims=True), img.var((2, 3), keepdims=True), 0.1) * ga.reshape(ch) + be.reshape(ch),
     x=X0, gamma=ga, beta=be, epsilon=0.1)
s4 = rand(2, 4, 9)
case("instance_norm_three", "instance_norm", s4, normed(s4, s4.mean(2, keepdims=True), s4.var(2, keepdims=True), 1e-5) * ga[:, None] + be[:, None], x=X0, gamma=ga,
     beta=be)
case("l2_norm", "l2_norm", img, img / np.sqrt((img ** 2).sum((1, 2, 3), keepdims=True) + np.float32(1e-6)), x=X0)
g2, b2 = rand(7, 8), rand(7, 8)
case("layer_norm", "layer_norm", img, F.layer_norm(T(img), (7, 8), T(g2), T(b2), 1e-3).numpy(), x=X0, axes=i32([-2, -1]), gamma=g2, beta=b2, epsilon=1e-3)
case("layer_norm_last", "layer_norm", img, F.layer_norm(T(img), (8,)).numpy(), x=X0, axes=i32([3]))
case("layer_norm_all", "layer_norm", img, F.layer_norm(T(img), img.shape).numpy(), x=X0)
inner = normed(img, img.mean(1, keepdims=True), img.var(1, keepdims=True), 1e-5) * ga.reshape(ch) + be.reshape(ch)
case("layer_norm_channels", "layer_norm", img, inner, x=X0, axes=i32([1]), gamma=ga, beta=be)
x7 = rand(2, 7, 3, 4)
for size in (3, 5):
    y = np.stack([x7[:, i] / (2 + np.float32(0.3 / size) * (x7[:, max(i - size // 2, 0):i + size // 2 + 1] ** 2).sum(1)) ** np.float32(0.75) for i in range(7)], 1)
    case("local_response_norm_%d" % size, "local_response_norm", x7, y, x=X0, size=size, alpha=0.3, beta=0.75, k=2.0)

# --- Reductions, orders ---------------------------------------------------------------------------------------------

p3 = rand(2, 3, 4, low=0.3, high=1.5)
RED = {"l1_norm": lambda t, **k: np.abs(t).sum(**k), "l2_norm": lambda t, **k: np.sqrt((t ** 2).sum(**k)), "max": lambda t, **k: t.max(**k),
       "min": lambda t, **k: t.min(**k), "sum": lambda t, **k: t.sum(**k), "prod": lambda t, **k: t.prod(**k), "mean": lambda t, **k: t.mean(**k),
       "log_sum": lambda t, **k: np.log(t.sum(**k)), "sum_square": lambda t, **k: (t ** 2).sum(**k), "log_sum_exp": lambda t, **k: np.log(np.exp(t).sum(**k))}
for mode, fn in RED.items():
    case("reduce_" + mode, "reduce_" + mode, p3, fn(p3, axis=(0, 2), keepdims=True), x=X0, axes=i32([0, -1]), keep_dims=True)
    case("reduce_%s_gone" % mode, "reduce_" + mode, p3, fn(p3, axis=1), x=X0, axes=i32([-2]))
case("reduce_sum_all", "reduce_sum", p3, p3.sum().reshape(1, 1, 1), x=X0, keep_dims=True)
case("reduce_sum_ints", "reduce_sum", whole, whole.sum(1).astype(np.int32), x=X0, axes=i32([1]))
case("reduce_argmax", "reduce_argmax", x, x.argmax(-1).astype(np.int32), x=X0)
case("reduce_argmax_kept", "reduce_argmax", x, x.argmax(1)[:, None].astype(np.int32), x=X0, axis=1, keep_dims=True)
case("reduce_argmin", "reduce_argmin", x, x.argmin(0).astype(np.int32), x=X0, axis=0)
case("reduce_argmin_type", "reduce_argmin", x, x.argmin(0).astype(np.uint16), opset=7, x=X0, axis=0, output_dtype="uint16")
order = np.argsort(-x, 1)
case("argsort", "argsort", x, order.astype(np.int32), x=X0, axis=1)
case("argsort_up", "argsort", x, order[:, ::-1].astype(np.int32), x=X0, axis=1, ascending=True)
case("topk", "topk", x, [np.take_along_axis(x, order, 1)[:, :2], order[:, :2].astype(np.int32)], x=X0, k=2, axis=1)
case("topk_up", "topk", x, [np.take_along_axis(x, order, 1)[:, :-3:-1], order[:, :-3:-1].astype(np.int32)], x=X0, k=2, axis=1, ascending=True)
case("topk_all", "topk", x, [np.take_along_axis(x, order, 1), order.astype(np.uint16)], opset=7, x=X0, k=-1, axis=1, sort=True, return_indices=True,
     output_indices_dtype="uint16")
case("topk_values", "topk", x, [np.take_along_axis(x, order, 1)[:, :2]], opset=6, x=X0, k=2, axis=1, return_indices=False)
for name, more, y in (("", {}, x.cumsum(1)), ("_exclusive", {"exclusive": True}, x.cumsum(1) - x), ("_reverse", {"reverse": True}, x[:, ::-1].cumsum(1)[:, ::-1]),
                      ("_both", {"reverse": True, "exclusive": True}, x[:, ::-1].cumsum(1)[:, ::-1] - x)):
    case("cumsum" + name, "cumsum", x, y, x=X0, axis=1, **more)

# --- Images of other sizes ------------------------------------------------------------------------------------------


def sampled(t, rows, cols):
    """Linear interpolation at these places."""
    for axis, at in ((-2, rows), (-1, cols)):
        size = t.shape[axis]
        at = np.clip(np.asarray(at, np.float64), 0, size - 1)
        low = np.floor(at).astype(int)
        part = (at - low).reshape((-1, 1) if axis == -2 else (-1,))
        t = np.take(t, low, axis) * (1 - part) + np.take(t, np.minimum(low + 1, size - 1), axis) * part
    return t.astype(np.float32)


y4 = rand(2, 3, 5, 6)
GRIDS = {"STRICT_ALIGN_CORNERS": lambda n, m: np.linspace(0, n - 1, m), "ALIGN_CORNERS": lambda n, m: np.linspace(0, n - 1, m) if m > 1 else [(n - 1) / 2],
         "DEFAULT": lambda n, m: np.linspace(0, n - n / m, m), "OFFSET_CORNERS": lambda n, m: (np.arange(m) + 0.5) * max(1, n - 1) / m,
         "UNALIGN_CORNERS": lambda n, m: (np.arange(m) + 0.5) * n / m - 0.5}
for mode, grid in GRIDS.items():
    for name, size in (("up", (9, 7)), ("down", (3, 4)), ("one", (1, 4))):
        y = sampled(y4, grid(5, size[0]), grid(6, size[1]))
        case("resize_bilinear_%s_%s" % (mode.lower(), name), "resize_bilinear", y4, y, x=X0, target_size_height=size[0], target_size_width=size[1], sampling_mode=mode)
        case("resize_%s_%s" % (mode.lower(), name), "resize", y4, y, opset=7, x=X0, shape=i32([1, *size]), resized_dims=np.uint32(2), sampling_mode=mode)
near = lambda t, h, w: t[..., ((2 * np.arange(h) + 1) * t.shape[-2] // (2 * h))[:, None], (2 * np.arange(w) + 1) * t.shape[-1] // (2 * w)]  # noqa: E731
for h, w in ((10, 12), (7, 8), (3, 4), (4, 9)):
    case("resize_nearest_neighbor_%d_%d" % (h, w), "resize_nearest_neighbor", y4, near(y4, h, w), x=X0, target_size_height=h, target_size_width=w)
two = f32([-6.174, 9.371]).reshape(1, 1, 2, 1)
case("resize_nearest_apple", "resize", two, f32([-6.174, -6.174, 9.371, 9.371, 9.371, 9.371]).reshape(1, 1, 3, 2), opset=7, x=X0, shape=i32([1, 1, 3, 2]),
     resized_dims=np.uint32(2), interpolation_mode="NEAREST_NEIGHBOR")
case("resize_nearest_own", "resize", y4, near(y4, 5, 9), opset=7, x=X0, shape=i32([0, 9]), resized_dims=np.uint32(2), interpolation_mode="NEAREST_NEIGHBOR")
case("resize_one_axis", "resize", y4, near(y4, 5, 9), opset=7, x=X0, shape=i32([9]), resized_dims=np.uint32(1), interpolation_mode="NEAREST_NEIGHBOR")
case("resize_computed", "resize", [y4, i32([0, 12])], near(y4, 5, 12), opset=7, x=X0, shape=X1, resized_dims=np.uint32(2), interpolation_mode="NEAREST_NEIGHBOR")
case("upsample_nearest", "upsample_nearest_neighbor", y4, y4.repeat(2, 2).repeat(3, 3), x=X0, scale_factor_height=2, scale_factor_width=3)
case("upsample_nearest_part", "upsample_nearest_neighbor", y4, F.interpolate(T(y4), scale_factor=(2, 1.5), mode="nearest").numpy(), x=X0, scale_factor_height=2.0,
     scale_factor_width=1.5)
for corners in (True, False):
    case("upsample_bilinear_%d" % corners, "upsample_bilinear", y4, F.interpolate(T(y4), scale_factor=(2, 3), mode="bilinear", align_corners=corners).numpy(), x=X0,
         scale_factor_height=2, scale_factor_width=3, align_corners=corners)
case("upsample_bilinear_neither", "upsample_bilinear", y4, sampled(y4, GRIDS["DEFAULT"](5, 10), GRIDS["DEFAULT"](6, 18)), opset=6, x=X0, scale_factor_height=2.0,
     scale_factor_width=3.0, align_corners=False, half_pixel_centers=False)
case("upsample_bilinear_part", "upsample_bilinear", f32([0, 1]).reshape(1, 1, 2), f32([0, 0.1, 0.5, 0.9, 1]).reshape(1, 1, 5), x=X0, scale_factor_height=1.0,
     scale_factor_width=2.6, align_corners=False)
case("crop", "crop", y4, y4[:, :, 1:, 2:-1], x=X0, crop_height=i32([1, 0]), crop_width=i32([2, 1]))
table = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)


def cut(image, box, size, mode, pad=0.0):
    """box: rows and columns of the first and last place."""
    y = np.full((image.shape[0], *size), pad, np.float32)
    places = []
    for k in (0, 1):
        s, e = box[k], box[k + 2]
        n = e - s + 1
        at = {"STRICT_ALIGN_CORNERS": np.linspace(s, e, size[k]), "ALIGN_CORNERS": np.linspace(s, e, size[k]) if size[k] > 1 else [(s + e) / 2],
              "DEFAULT": s + np.arange(size[k]) * n / size[k], "OFFSET_CORNERS": s + (np.arange(size[k]) + 0.5) * max(1, e - s) / size[k],
              "UNALIGN_CORNERS": s + (np.arange(size[k]) + 0.5) * n / size[k] - 0.5}[mode]
        places.append(np.clip(at, s, e))
    for i, r in enumerate(places[0]):
        for j, c in enumerate(places[1]):
            if 0 <= r <= image.shape[1] - 1 and 0 <= c <= image.shape[2] - 1:
                y[:, i, j] = sampled(image, [r], [c])[:, 0, 0]
    return y


for name, roi, size, want in (("two", [1, 1, 2, 2], 2, [6, 7, 10, 11]), ("one", [1, 1, 2, 2], 1, [8.5]), ("inverted", [2, 2, 1, 1], 2, [11, 10, 7, 6])):
    case("crop_resize_apple_" + name, "crop_resize", table, f32(want).reshape(1, 1, 1, size, size), x=X0, roi=f32(roi).reshape(1, 1, 4, 1, 1), target_height=size,
         target_width=size, normalized_coordinates=False, box_coordinate_mode="CORNERS_HEIGHT_FIRST", sampling_mode="ALIGN_CORNERS")
apple = [[0.1, 0.3, 1.3, 1.0], [0.5, 1.8, 1.0, 0.3], [0.0, 0.4, 0.6, 0.7]]
want = f32([3.1, 5.2, 9, 9, 9, 7.9, 9, 13.9, 2.2, 3.1, 9.4, 10.3])
how = dict(target_height=2, target_width=2, normalized_coordinates=True, box_coordinate_mode="CORNERS_HEIGHT_FIRST", sampling_mode="ALIGN_CORNERS", pad_value=9.0)
case("crop_resize_apple_pad", "crop_resize", table, want.reshape(3, 1, 1, 2, 2), opset=6, x=X0, roi=f32([[0] + r for r in apple]).reshape(3, 1, 5, 1, 1), **how)
case("crop_resize_apple_boxes", "crop_resize", table, want.reshape(3, 1, 2, 2), opset=7, x=X0, boxes=f32(apple), box_indices=i32([0, 0, 0]), **how)
boxes = f32([[0.5, 1, 3.5, 4.25], [1, 0, 2, 5]])
for mode in GRIDS:
    case("crop_resize_" + mode.lower(), "crop_resize", y4, np.stack([[cut(i, b, (3, 4), mode) for i in y4] for b in boxes]), x=X0, roi=boxes.reshape(2, 1, 4, 1, 1),
         target_height=3, target_width=4, sampling_mode=mode, box_coordinate_mode="CORNERS_HEIGHT_FIRST")
    case("crop_resize_indexed_" + mode.lower(), "crop_resize", [y4, i32([1, 0])], np.stack([cut(y4[1 - n], b, (3, 4), mode) for n, b in enumerate(boxes)]), opset=7,
         x=X0, boxes=boxes, box_indices=X1, target_height=3, target_width=4, sampling_mode=mode, box_coordinate_mode="CORNERS_HEIGHT_FIRST")
middle = np.concatenate([(boxes[:, 2:] + boxes[:, :2]) / 2, boxes[:, 2:] - boxes[:, :2]], 1)
turned = np.array([1, 0, 3, 2])
for mode, rows in (("CORNERS_WIDTH_FIRST", boxes[:, turned]), ("CENTER_SIZE_HEIGHT_FIRST", middle), ("CENTER_SIZE_WIDTH_FIRST", middle[:, turned])):
    case("crop_resize_" + mode.lower(), "crop_resize", [y4, rows.reshape(2, 1, 4, 1, 1).copy()], np.stack([[cut(i, b, (3, 4), "DEFAULT") for i in y4] for b in boxes]),
         x=X0, roi=X1, target_height=3, target_width=4, box_coordinate_mode=mode, spatial_scale=1.0)
case("crop_resize_scaled", "crop_resize", y4, np.stack([[cut(i, b, (3, 4), "DEFAULT") for i in y4] for b in boxes]), x=X0, roi=(boxes * 2).reshape(2, 1, 4, 1, 1),
     target_height=3, target_width=4, spatial_scale=0.5, box_coordinate_mode="CORNERS_HEIGHT_FIRST", sampling_mode="DEFAULT")
grid = rand(2, 4, 3, 2, low=-1.4, high=1.4)
wh = f32([6, 5])
for padding in ("constant", "border", "reflection", "symmetric"):
    corners = padding != "symmetric"
    mode = {"constant": "zeros", "symmetric": "reflection"}.get(padding, padding)
    for sampling in ("bilinear", "nearest"):
        y = F.grid_sample(T(y4), T(grid), sampling, mode, align_corners=corners).numpy()
        case("resample_%s_%s" % (padding, sampling), "resample", [y4, grid], y, x=X0, coordinates=X1, sampling_mode=sampling, padding_mode=padding, padding_value=0.0,
             coordinates_mode="normalized_minus_one_to_one", align_corners=corners)
case("resample_zero_to_one", "resample", [y4, (grid + 1) / 2], F.grid_sample(T(y4), T(grid), align_corners=False).numpy(), x=X0, coordinates=X1,
     sampling_mode="bilinear", padding_mode="constant", padding_value=0.0, coordinates_mode="normalized_zero_to_one", align_corners=False)
case("resample_pixels", "resample", [y4, (grid + 1) * (wh - 1) / 2], F.grid_sample(T(y4), T(grid), align_corners=True).numpy(), x=X0, coordinates=X1,
     sampling_mode="bilinear", padding_mode="constant", padding_value=0.0, coordinates_mode="unnormalized", align_corners=True)
theta = f32([[0.8, 0.1, 0.2, -0.1, 0.9, -0.3]])
affine = F.grid_sample(T(y4), F.affine_grid(T(theta.reshape(1, 2, 3)).repeat(2, 1, 1), (2, 3, 4, 7), align_corners=True), align_corners=True).numpy()
case("affine", "affine", y4, affine, x=X0, transform_matrix=theta, output_height=4, output_width=7, sampling_mode="bilinear", padding_mode="constant", padding_value=0.0,
     coordinates_mode="normalized_minus_one_to_one", align_corners=True)

# --- Picked and put -------------------------------------------------------------------------------------------------

t3 = rand(2, 3, 3)
case("gather", "gather", x, np.take(x, [2, 0, -1], 1), x=X0, indices=i32([2, 0, -1]), axis=1)
case("gather_one", "gather", x, np.take(x, 1, 2), x=X0, indices=1, axis=-1)
case("gather_table", "gather", [x, i32([[1, 0], [1, 1]])], np.take(x, [[1, 0], [1, 1]], 0), x=X0, indices=X1)
rows = i32([[2, 0], [1, -1]])
case("gather_batch", "gather", [x, rows], np.stack([x[i][rows[i]] for i in range(2)]), opset=6, x=X0, indices=X1, axis=1, batch_dims=1)
case("gather_checked", "gather", x, np.take(x, [2, 0], 1), opset=7, x=X0, indices=np.array([2, 0], np.uint16), axis=1, validate_indices=False)
g = rng.randint(-3, 3, (2, 2, 3)).astype(np.int32)
case("gather_along_axis", "gather_along_axis", [t3, g], np.take_along_axis(t3, g % 3, 1), x=X0, indices=X1, axis=1)
case("gather_nd", "gather_nd", [t3, i32([[0, 2], [1, 0]])], t3[[0, 1], [2, 0]], x=X0, indices=X1)
case("gather_nd_batch", "gather_nd", [t3, i32([[2], [0]])], t3[[0, 1], [2, 0]], opset=6, x=X0, indices=X1, batch_dims=1)
COMBINE = {"update": lambda o, n: n, "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "min": np.minimum}
up = rand(2, 2, 3, low=0.5, high=2)
for mode, fn in COMBINE.items():
    y = t3.copy()
    y[:, [2, 0]] = fn(t3[:, [2, 0]], up)
    case("scatter_" + mode, "scatter", [t3, i32([-1, 0]), up], y, data=X0, indices=X1, updates=X2, axis=1, mode=mode)
    y = t3.copy()
    at = np.array([[[0, 1, 2], [1, 2, 0]]] * 2).astype(np.int32)
    np.put_along_axis(y, at, fn(np.take_along_axis(t3, at, 1), up), 1)
    case("scatter_along_axis_" + mode, "scatter_along_axis", [t3, at, up], y, data=X0, indices=X1, updates=X2, axis=1, mode=mode)
    y = t3.copy()
    y[[0, 1], [2, 0]] = fn(t3[[0, 1], [2, 0]], up[0])
    case("scatter_nd_" + mode, "scatter_nd", [t3, i32([[0, 2], [1, 0]]), up[0].copy()], y, data=X0, indices=X1, updates=X2, mode=mode)
y = t3.copy()
y[:, [0, 1]] += up
case("scatter_default", "scatter", [t3, i32([0, 1]), up], y, data=X0, indices=X1, updates=X2, axis=1)
y = t3.copy()
np.add.at(y, (slice(None), [0, 0]), up)
case("scatter_twice", "scatter", [t3, i32([0, 0]), up], y, data=X0, indices=X1, updates=X2, axis=1, mode="add")

# --- Shapes ---------------------------------------------------------------------------------------------------------

sq = rand(2, 4, 5)
i, j = np.mgrid[:4, :5]
case("band_part", "band_part", sq, sq * ((i - j <= 1) & (j - i <= 2)), x=X0, lower=1, upper=2)
case("band_part_up", "band_part", sq, sq * (i <= j), x=X0, lower=0)
b4 = rand(4, 2, 3, 2)
y = b4.reshape(2, 2, 1, 2, 3, 2).transpose(2, 3, 4, 0, 5, 1).reshape(1, 2, 6, 4)
case("batch_to_space", "batch_to_space", b4, y[:, :, 1:, :-1], x=X0, block_shape=i32([2, 2]), crops=i32([[1, 0], [0, 1]]))
padded = np.pad(y4, ((0, 0), (0, 0), (1, 0), (0, 2)))
y = padded.reshape(2, 3, 3, 2, 4, 2).transpose(3, 5, 0, 1, 2, 4).reshape(8, 3, 3, 4)
case("space_to_batch", "space_to_batch", y4, y, x=X0, block_shape=i32([2, 2]), paddings=i32([[1, 0], [0, 2]]))


def joined(name, kind, parts, y, **more):
    program(name, parts, [y], lambda b, *names: b.op(kind, [y], values=list(names), **more))


joined("concat", "concat", [x, x[:, :2].copy()], np.concatenate([x, x[:, :2]], 1), axis=-2)
joined("concat_interleave", "concat", [x, -x], np.stack([x, -x], 2).reshape(2, 6, 4), axis=1, interleave=True)
joined("stack", "stack", [x, -x], np.stack([x, -x], 1), axis=1)
joined("stack_last", "stack", [x, -x], np.stack([x, -x], -1), axis=-1)
d = rand(2, 8, 4, 6)
n, c, h, w = d.shape
case("depth_to_space", "depth_to_space", d, d.reshape(n, 2, 2, 2, 4, 6).transpose(0, 3, 4, 1, 5, 2).reshape(n, 2, 8, 12), x=X0, block_size=2)
case("space_to_depth", "space_to_depth", d, d.reshape(n, c, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(n, 32, 2, 3), x=X0, block_size=2)
case("pixel_shuffle", "pixel_shuffle", d, F.pixel_shuffle(T(d), 2).numpy(), x=X0, upscale_factor=2)
case("pixel_unshuffle", "pixel_unshuffle", d, F.pixel_unshuffle(T(d), 2).numpy(), opset=6, x=X0, downscale_factor=np.uint32(2))
case("expand_dims", "expand_dims", x, x.reshape(1, 2, 3, 4, 1), x=X0, axes=i32([0, -1]))
case("squeeze", "squeeze", x.reshape(1, 2, 1, 12), x.reshape(2, 12), x=X0, axes=i32([0, -2]))
case("squeeze_all", "squeeze", x.reshape(1, 2, 1, 12), x.reshape(2, 12), x=X0)
case("fill", "fill", i32([2, 3]), np.full((2, 3), 2.5, np.float32), shape=X0, value=2.5)
case("fill_default", "fill", i32([2, 3]), np.zeros((2, 3), np.float32), shape=X0)
case("fill_ints", "fill", i32([2, 3]), np.full((2, 3), 7, np.int32), shape=X0, value=7)
case("fill_like", "fill_like", x, np.full_like(x, 2.5), opset=6, ref_tensor=X0, value=2.5)
case("flatten2d", "flatten2d", x, x.reshape(2, 12), x=X0)
case("flatten2d_last", "flatten2d", x, x.reshape(6, 4), x=X0, axis=-1)
nz = f32([[0, 1, 0], [2, 0, -3]])
case("non_zero", "non_zero", nz, np.argwhere(nz).astype(np.int32), x=X0)
case("one_hot", "one_hot", i32([0, 3, 1]), np.where(np.eye(4)[[0, 3, 1]] > 0, 2, -1).astype(np.float32), indices=X0, one_hot_vector_size=4, on_value=2.0, off_value=-1.0)
case("one_hot_first", "one_hot", i32([0, 3, 1]), np.eye(4)[[0, 3, 1]].T.astype(np.int32), indices=X0, one_hot_vector_size=4, axis=0)
case("pad", "pad", x, np.pad(x, ((0, 0), (1, 0), (2, 3)), constant_values=2), x=X0, pad=i32([1, 0, 2, 3]), constant_val=2.0)
case("pad_reflect", "pad", x, np.pad(x, ((0, 0), (1, 2), (2, 3)), "reflect"), x=X0, pad=i32([1, 2, 2, 3]), mode="reflect", constant_val=0.0)
case("pad_replicate", "pad", x, np.pad(x, ((0, 0), (0, 0), (2, 3)), "edge"), x=X0, pad=i32([2, 3]), mode="replicate")
case("pad_computed", "pad", [x, i32([0, 0, 1, 0, 2, 3])], np.pad(x, ((0, 0), (1, 0), (2, 3))), x=X0, pad=X1)
case("range_1d", "range_1d", [i32(7).reshape(1)], np.arange(1, 7, 2, dtype=np.int32), end=7, start=1, step=2)
case("range_1d_down", "range_1d", [f32([0])], np.arange(5, 0.5, -1.5, dtype=np.float32), end=0.5, start=5.0, step=-1.5)
case("reshape", "reshape", x, x.reshape(4, 6), x=X0, shape=i32([4, -1]))
case("reshape_own", "reshape", x, x.reshape(2, 4, 3), x=X0, shape=i32([0, 4, -1]))
case("reshape_computed", "reshape", [x, i32([4, 6])], x.reshape(4, 6), x=X0, shape=X1)
r1, r2 = rand(4, 9), rand(6, 8, 6)
program("reshape_like", [x, r1, r2], [x.reshape(4, 6)], lambda b, a, p, q: b.op("reshape_like", [x.reshape(4, 6)], x=a, ref_tensors=[p, q], begins=i32([0, 2]),
                                                                               ends=i32([1, 0]), end_masks=np.array([False, True])), opset=6)
case("reverse", "reverse", x, x[:, ::-1, ::-1], x=X0, axes=i32([1, -1]))
case("reverse_all", "reverse", x, x[::-1, ::-1, ::-1], x=X0)
rs = rand(2, 4, 3)
case("reverse_sequence", "reverse_sequence", [rs, i32([2, 4])], np.stack([np.concatenate([rs[0, 1::-1], rs[0, 2:]]), rs[1, ::-1]]), x=X0, lengths=X1, seq_axis=1,
     batch_axis=0)
case("shape", "shape", x, i32([2, 3, 4]), x=X0)
big = rand(4, 5, 6)
F_, T_ = False, True
case("slice_by_index", "slice_by_index", big, big[1:-1, -4:4:2, 5::-2], x=X0, begin=i32([1, -4, 5]), end=i32([-1, 4, 0]), stride=i32([1, 2, -2]),
     end_mask=np.array([F_, F_, T_]))
case("slice_by_index_masks", "slice_by_index", big, big[:3, 2:, ::-1], x=X0, begin=i32([9, 2, 9]), end=i32([3, 9, 9]), stride=i32([1, 1, -1]),
     begin_mask=np.array([T_, F_, T_]), end_mask=np.array([F_, T_, T_]))
case("slice_by_index_squeeze", "slice_by_index", big, big[-1, 1:3, 2], x=X0, begin=i32([-1, 1, 2]), end=i32([0, 3, 0]), squeeze_mask=np.array([T_, F_, T_]))
case("slice_by_index_computed", "slice_by_index", [big, i32([1, 0, -3]), i32([3, -1, -1])], big[1:3, 0:-1, -3:-1], x=X0, begin=X1, end=X2)
case("slice_by_size", "slice_by_size", big, big[1:3, 0:, 2:5], x=X0, begin=i32([1, 0, 2]), size=i32([2, -1, 3]))
new = rand(2, 3, 3)
y = big.copy()
y[1:3, -4:4:1, 5::-2] = new[:, :3]
case("slice_update", "slice_update", [big, new], y, opset=8, x=X0, update=X1, begin=i32([1, -4, 5]), end=i32([3, 4, 0]), stride=i32([1, 1, -2]),
     end_mask=np.array([F_, F_, T_]))
y = big.copy()
y[2, 1:3] = new[0, :2, :1]
case("slice_update_squeeze", "slice_update", [big, np.broadcast_to(new[0, :2, :1], (2, 6)).copy()], y, opset=8, x=X0, update=X1, begin=i32([2, 1, 0]), end=i32([0, 3, 0]),
     end_mask=np.array([F_, F_, T_]), squeeze_mask=np.array([T_, F_, F_]))
case("sliding_windows", "sliding_windows", d, np.stack([d[:, k:k + 3] for k in (0, 2, 4)], 1), x=X0, axis=1, size=3, stride=2)
case("split", "split", x, np.split(x, 2, 2), x=X0, num_splits=2, axis=-1)
case("split_sizes", "split", x, [x[:, :1], x[:, 1:]], x=X0, num_splits=2, split_sizes=i32([1, 2]), axis=1)
case("tile", "tile", x, np.tile(x, (1, 2, 3)), x=X0, reps=i32([1, 2, 3]))
case("transpose", "transpose", x, x.transpose(2, 0, 1), x=X0, perm=i32([-1, 0, 1]))

# --- Recurrent layers -----------------------------------------------------------------------------------------------

ACTS = {"sigmoid": sig, "tanh": np.tanh, "relu": lambda t: np.maximum(t, 0), "linear": lambda t: t, "hard_sigmoid": lambda t: np.clip(0.2 * t + 0.5, 0, 1),
        "scaled_tanh": np.tanh}
xr, h0, c0 = rand(5, 2, 3), rand(2, 4, low=-1), rand(2, 4, low=-1)


def lstm(xs, wi, wh, b, h, c, peep=None, acts=("sigmoid", "tanh", "tanh"), clip=None):
    """Gates: input, forget, output, cell. Results in the order in which they are made."""
    f, z_, o_ = (ACTS[a] for a in acts)
    p = np.split(peep, 3) if peep is not None else [0, 0, 0]
    ys = []
    for t in xs:
        gi, gf, go, gz = np.split(t @ wi.T + h @ wh.T + b, 4, 1)
        c = f(gf + p[1] * c) * c + f(gi + p[0] * c) * z_(gz)
        if clip:
            c = np.clip(c, -clip, clip)
        h = f(go + p[2] * c) * o_(c)
        ys.append(h)
    return np.stack(ys).astype(np.float32), h.astype(np.float32), c.astype(np.float32)


wi, wh, bl4, pe = rand(16, 3), rand(16, 4, low=-1, high=1), rand(16), rand(12)
base = dict(x=X0, initial_h=X1, initial_c=X2, weight_ih=wi, weight_hh=wh, bias=bl4)
for name, direction, peep, acts, clip in (
        ("", "forward", None, ("sigmoid", "tanh", "tanh"), None), ("_reverse", "reverse", None, ("sigmoid", "tanh", "tanh"), None),
        ("_peephole", "forward", pe, ("sigmoid", "tanh", "tanh"), None), ("_relu", "forward", None, ("sigmoid", "tanh", "relu"), None),
        ("_linear", "forward", None, ("hard_sigmoid", "scaled_tanh", "linear"), None), ("_clip", "forward", pe, ("sigmoid", "tanh", "tanh"), 0.2),
        ("_clip_reverse", "reverse", None, ("sigmoid", "tanh", "hard_sigmoid"), 0.3)):
    y, h, c = lstm(xr[::-1] if direction == "reverse" else xr, wi, wh, bl4, h0, c0, peep, acts, clip)
    case("lstm" + name, "lstm", [xr, h0, c0], [y, h, c], peephole=peep, direction=direction, output_sequence=True, recurrent_activation=acts[0],
         cell_activation=acts[1], activation=acts[2], clip=clip, **base)
    case("lstm%s_last" % name, "lstm", [xr, h0, c0], [h[None], h, c], peephole=peep, direction=direction, recurrent_activation=acts[0], cell_activation=acts[1],
         activation=acts[2], clip=clip, **base)
wi2, wh2, b2_ = rand(16, 3), rand(16, 4, low=-1, high=1), rand(16)
hh, cc = rand(2, 8, low=-1), rand(2, 8, low=-1)
for clip in (None, 0.25):
    fw, bw = lstm(xr, wi, wh, bl4, hh[:, :4], cc[:, :4], clip=clip), lstm(xr[::-1], wi2, wh2, b2_, hh[:, 4:], cc[:, 4:], clip=clip)
    both = [np.concatenate([fw[0], bw[0][::-1]], 2)] + [np.concatenate([fw[n], bw[n]], 1) for n in (1, 2)]
    case("lstm_both%s" % ("_clip" if clip else ""), "lstm", [xr, hh, cc], both, direction="bidirectional", output_sequence=True, weight_ih_back=wi2, weight_hh_back=wh2,
         bias_back=b2_, clip=clip, **base)
wg_, wgh, bg, bgi = rand(12, 3), rand(12, 4, low=-1, high=1), rand(12), rand(12)


def gru(xs, h, after, bias, input_bias, acts=("sigmoid", "tanh")):
    """Gates: reset, output, update."""
    f, o_ = (ACTS[a] for a in acts)
    ys = []
    for t in xs:
        xr_, xo, xz = np.split(t @ wg_.T + input_bias, 3, 1)
        wr, wo, wz = np.split(wgh, 3)
        br, bo, bz = np.split(bias, 3)
        r, z = f(xr_ + h @ wr.T + br), f(xz + h @ wz.T + bz)
        o = o_(xo + r * (h @ wo.T + bo)) if after else o_(xo + (r * h) @ wo.T + bo)
        h = (1 - z) * o + z * h
        ys.append(h)
    return np.stack(ys).astype(np.float32), h.astype(np.float32)


zero = np.zeros(12, np.float32)
base = dict(x=X0, initial_h=X1, weight_ih=wg_, weight_hh=wgh)
for name, more, args in (("", dict(bias=bg), (False, bg, zero)), ("_no_bias", {}, (False, zero, zero)), ("_input_bias", dict(bias=bg, input_bias=bgi), (False, bg, bgi)),
                         ("_after", dict(bias=bg, input_bias=bgi, reset_after=True), (True, bg, bgi)),
                         ("_relu", dict(bias=bg, recurrent_activation="hard_sigmoid", activation="relu"), (False, bg, zero, ("hard_sigmoid", "relu")))):
    for direction in ("forward", "reverse"):
        y, h = gru(xr[::-1] if direction == "reverse" else xr, h0, *args)
        case("gru%s_%s" % (name, direction), "gru", [xr, h0], [y, h], opset=8, direction=direction, output_sequence=True, **base, **more)
y, h = gru(xr, h0, False, bg, zero)
case("gru_last", "gru", [xr, h0], [h[None], h], bias=bg, **base)
after = torch.nn.GRU(3, 4)
swap = lambda t: T(np.concatenate([np.split(t, 3)[n] for n in (0, 2, 1)]))  # noqa: E731
with torch.no_grad():
    for p, t in (("weight_ih_l0", wg_), ("weight_hh_l0", wgh), ("bias_ih_l0", bgi), ("bias_hh_l0", bg)):
        getattr(after, p).copy_(swap(t))
    yt, ht = after(T(xr), T(h0[None]))
case("gru_as_torch", "gru", [xr, h0], [yt.numpy(), ht[0].numpy()], opset=8, bias=bg, input_bias=bgi, reset_after=True, output_sequence=True, **base)
wr_, wrh, br_ = rand(4, 3), rand(4, 4, low=-0.5, high=0.5), rand(4)
for act in ("tanh", "relu", "sigmoid"):
    for direction in ("forward", "reverse"):
        h, ys = h0, []
        for t in xr[::-1] if direction == "reverse" else xr:
            h = ACTS[act](t @ wr_.T + h @ wrh.T + br_).astype(np.float32)
            ys.append(h)
        case("rnn_%s_%s" % (act, direction), "rnn", [xr, h0], [np.stack(ys), h], x=X0, initial_h=X1, weight_ih=wr_, weight_hh=wrh, bias=br_, direction=direction,
             output_sequence=True, activation=act)

# --- Boxes ----------------------------------------------------------------------------------------------------------


def left(scores, boxes, overlap, least, most, per_class):
    best, label, kept = scores.max(1), scores.argmax(1), []
    area = boxes[:, 2] * boxes[:, 3]
    for i in np.argsort(-best, kind="stable"):
        if least is not None and best[i] < least:
            continue
        for j in kept:
            if per_class and label[i] != label[j]:
                continue
            size = [min(boxes[i, n] + boxes[i, n + 2] / 2, boxes[j, n] + boxes[j, n + 2] / 2)
                    - max(boxes[i, n] - boxes[i, n + 2] / 2, boxes[j, n] - boxes[j, n + 2] / 2) for n in (0, 1)]
            common = max(size[0], 0) * max(size[1], 0)
            if common / (area[i] + area[j] - common) > overlap:
                break
        else:
            kept.append(i)
    return (kept or [int(best.argmax())])[:most]


def boxes_left(scores, boxes, *rules):
    most = rules[2]
    ys = [np.zeros((len(boxes), most, 4), np.float32), np.zeros((len(boxes), most, scores.shape[2]), np.float32), np.full((len(boxes), most), -1, np.int32)]
    counts = []
    for n in range(len(boxes)):
        keep = left(scores[n], boxes[n], *rules)
        ys[0][n, :len(keep)], ys[1][n, :len(keep)], ys[2][n, :len(keep)] = boxes[n][keep], scores[n][keep], keep
        counts.append(len(keep))
    return ys + [i32(counts)]


scores, spots = rand(2, 20, 3, low=-1, high=1), np.concatenate([rand(2, 20, 2, low=0, high=1), rand(2, 20, 2, low=0.3, high=0.6)], 2)
for name, overlap, least, most, per_class in (("all", 0.2, 0.1, 6, False), ("classes", 0.2, 0.1, 8, True), ("negative", 0.3, -0.9, 20, False), ("none", 0.2, 5.0, 4, False),
                                              ("few", 0.5, -1.0, 3, True)):
    case("nms_" + name, "non_maximum_suppression", [spots, scores], boxes_left(scores, spots, overlap, least, most, per_class), boxes=X0, scores=X1, iou_threshold=overlap,
         score_threshold=least, max_boxes=most, per_class_suppression=per_class)
    ys = boxes_left(scores, spots, overlap, None, most, per_class)
    case("nms_columns_" + name, "non_maximum_suppression", [spots.swapaxes(1, 2).copy(), scores.swapaxes(1, 2).copy()],
         [ys[0].swapaxes(1, 2), ys[1].swapaxes(1, 2), ys[2]], opset=7, boxes=X0, scores=X1, iou_threshold=overlap, max_boxes=most, per_class_suppression=per_class)
apple_boxes = np.repeat(np.arange(4, dtype=np.float32), 4).reshape(1, 4, 4)
case("nms_apple", "non_maximum_suppression", [apple_boxes, f32([-3.5, 9.4, 2.3, 0.7]).reshape(1, 4, 1)],
     [f32([1] * 4 + [2] * 4).reshape(1, 2, 4), f32([9.4, 2.3]).reshape(1, 2, 1), i32([[1, 2]]), i32([2])], boxes=X0, scores=X1, iou_threshold=0.2, score_threshold=0.4,
     max_boxes=2, per_class_suppression=True)

# --- Random numbers that are sure -----------------------------------------------------------------------------------

sure = np.eye(4, dtype=np.float32)[[2, 0, 3]]
case("random_categorical", "random_categorical", sure, np.repeat(f32([[2], [0], [3]]), 5, 1), x=X0, mode="probs", size=5)
case("random_categorical_logits", "random_categorical", sure.reshape(1, 3, 4) * 1000, f32([[[2], [0], [3]]]), x=X0)
case("random_normal", "random_normal", i32([2, 3]), np.full((2, 3), 2.5, np.float32), shape=X0, mean=2.5, stddev=1e-30)
case("random_uniform", "random_uniform", i32([2, 3]), np.full((2, 3), 1.5, np.float32), shape=X0, low=1.5, high=1.5)

# --- Linear steps, weights that are compressed ----------------------------------------------------------------------

steps = rng.randint(-100, 100, (3, 4)).astype(np.int8)
sc, ze = f32([0.1, 0.2, 0.05]), np.array([3, -2, 0], np.int8)
real = ((steps.astype(np.float32) - ze[:, None]) * sc[:, None]).astype(np.float32)


def dequantized(name, y, opset=7, **arguments):
    program(name, [np.zeros_like(y)], [y], lambda b, z: b.op("add", [y], x=z, y=b.op("dequantize", [y], **arguments)[0]), opset)


dequantized("dequantize", real, input=steps, zero_point=ze, scale=sc, axis=0)
dequantized("dequantize_one", (steps * np.float32(0.1)).astype(np.float32), input=steps, scale=f32(0.1))
q8 = np.clip(np.round(x / np.float32(0.05)) + 4, -128, 127).astype(np.int8)
case("quantize", "quantize", x, q8, opset=7, input=X0, scale=f32(0.05), zero_point=np.int8(4), output_dtype="int8")
qu = np.clip(np.round(x / f32([0.05, 0.1, 0.02])[:, None]) + np.array([100, 0, 255])[:, None], 0, 255).astype(np.uint8)
case("quantize_axis", "quantize", x, qu, opset=7, input=X0, scale=f32([0.05, 0.1, 0.02]), zero_point=np.array([100, 0, 255], np.uint8), axis=1, output_dtype="uint8")


def weights(name, y, opset, build):
    y = np.asarray(y, np.float32)
    program("constexpr_" + name, [np.zeros_like(y)], [y], lambda b, z: b.op("add", [y], x=z, y=build(b, y)), opset)


weights("affine", real, 6, lambda b, y: b.op("constexpr_affine_dequantize", [y], quantized_data=steps, zero_point=ze, scale=sc, axis=0)[0])
weights("affine_one", (steps.astype(np.float32) - 7) * np.float32(0.5), 6,
        lambda b, y: b.op("constexpr_affine_dequantize", [y], quantized_data=steps, zero_point=np.int8(7), scale=f32(0.5), axis=0)[0])
halves = rand(2, 3).astype(np.float16)
weights("cast", halves.astype(np.float32), 6, lambda b, y: b.op("constexpr_cast", [y], source_val=halves, output_dtype="fp32")[0])
for bits in (1, 2, 4, 8):
    codes, lut = rng.randint(0, 1 << bits, (3, 5)), rand(1 << bits)
    packed = np.frombuffer(Packed("UINT8", codes, bits).bytes, np.uint8)
    weights("lut_%d" % bits, lut[codes], 6, lambda b, y: b.op("constexpr_lut_to_dense", [y], indices=packed, lut=lut, shape=np.array([3, 5], np.uint32))[0])
there = rng.rand(3, 5) > 0.4
kept = rand(int(there.sum()))
dense = np.zeros((3, 5), np.float32)
dense[there] = kept
bits = np.frombuffer(Packed("UINT8", there, 1).bytes, np.uint8)
weights("sparse", dense, 6, lambda b, y: b.op("constexpr_sparse_to_dense", [y], nonzero_data=kept, mask=bits, shape=np.array([3, 5], np.uint32))[0])
mask1 = Packed("UINT1", there, 1)
weights("sparse_mask", dense, 8, lambda b, y: b.op("constexpr_sparse_to_dense", [y], nonzero_data=kept, mask=mask1)[0])
s8, off = rand(2, 2, low=0.1, high=0.5), np.array([[3, -1], [0, 5]], np.int8)
spread = lambda t: np.repeat(np.repeat(t, 2, 0), 3, 1)  # noqa: E731
codes = rng.randint(-100, 100, (4, 6)).astype(np.int8)
weights("blockwise", spread(s8) * (codes - spread(off).astype(np.float32)), 8,
        lambda b, y: b.op("constexpr_blockwise_shift_scale", [y], data=codes, scale=s8, offset=off)[0])
nibbles = rng.randint(-8, 8, (4, 6))
weights("blockwise_int4", spread(s8) * nibbles, 8, lambda b, y: b.op("constexpr_blockwise_shift_scale", [y], data=Packed("INT4", nibbles, 4), scale=s8)[0])
unsigned = rng.randint(0, 16, (4, 6))
weights("blockwise_uint4", spread(s8) * (unsigned - 8.0), 8, lambda b, y: b.op("constexpr_blockwise_shift_scale", [y], data=Packed("UINT4", unsigned, 4), scale=s8,
                                                                            offset=Packed("UINT4", np.full((2, 2), 8), 4))[0])
picks, tables = rng.randint(0, 4, (4, 6)), rand(2, 1, 4, 1)
weights("lut_blocks", np.stack([[tables[r // 2, 0, picks[r, n], 0] for n in range(6)] for r in range(4)]), 8,
        lambda b, y: b.op("constexpr_lut_to_dense", [y], indices=Packed("UINT2", picks, 2), lut=tables)[0])
pairs = rand(1, 1, 8, 2)
three = rng.randint(0, 8, (2, 6))
for axis in (0, 1):
    y = np.stack([pairs[0, 0, three, n] for n in range(2)], 2 if axis else 1).reshape((2, 12) if axis else (4, 6))
    weights("lut_vectors_%d" % axis, y, 8, lambda b, y: b.op("constexpr_lut_to_dense", [y], indices=Packed("UINT3", three, 3), lut=pairs, vector_axis=axis)[0])
few_codes = rng.randint(0, 4, int(there.sum()))
lut5 = rand(1, 1, 4, 1)
dense2 = np.zeros((3, 5), np.float32)
dense2[there] = lut5[0, 0, few_codes, 0]
weights("lut_to_sparse", dense2, 8, lambda b, y: (lambda pair: b.op("constexpr_sparse_to_dense", [y], nonzero_data=pair[1], mask=pair[0])[0])(
    b.op("constexpr_lut_to_sparse", [tensor_type("UINT1", (3, 5)), f32(dense2[there])], indices_mask=mask1, indices_nonzero_data=Packed("UINT2", few_codes, 2), lut=lut5)))
some = rng.randint(-100, 100, int(there.sum())).astype(np.int8)
s35 = rand(3, 1, low=0.1, high=0.5)
dense3 = np.zeros((3, 5), np.float32)
dense3[there] = some
dense3 = np.where(there, s35 * (dense3 - 4), 0).astype(np.float32)
weights("sparse_blockwise", dense3, 8, lambda b, y: (lambda pair: b.op("constexpr_sparse_to_dense", [y], nonzero_data=pair[1], mask=pair[0])[0])(
    b.op("constexpr_sparse_blockwise_shift_scale", [tensor_type("UINT1", (3, 5)), f32(dense3[there])], data_mask=mask1, nonzero_data=some, scale=s35,
         offset=np.full((3, 1), 4, np.int8))))

# --- Branches, loops, lists -----------------------------------------------------------------------------------------


def choice(b, t, v):
    yes, no = Block(), Block()
    yes.outputs = yes.op("mul", [c2], x=v, y=2.0)
    no.outputs = no.op("add", [c2], x=v, y=5.0)
    return b.op("cond", [c2], [yes, no], pred=b.op("cast", [np.array(True)], x=b.op("squeeze", [i32(0)], x=t, axes=i32([0]))[0], dtype="bool")[0])


c2 = rand(2, 3)
for t in (0, 1):
    program("cond_%d" % t, [i32([t]), c2], [c2 * 2 if t else c2 + 5], choice)


def named(name, like):
    return {"name": name, "type": like if isinstance(like, dict) else type_of(like)}


def loop(b, first, likes, ask, step):
    """ask and step: of a block and the names of what is carried."""
    blocks = []
    for fn in (ask, step):
        Block.count += 1
        names = [Ref("c%d_%d" % (Block.count, n)) for n in range(len(likes))]
        block = Block([named(n, t) for n, t in zip(names, likes)])
        made = fn(block, *names)
        block.outputs = made if isinstance(made, list) else [made]
        blocks.append(block)
    return b.op("while_loop", likes, blocks, loop_vars=first)


program("while_loop", [c2], [c2 * 8], lambda b, v: loop(
    b, [b.const(0), v], [i32(0), c2], lambda k, i, t: k.op("less", [np.array(True)], x=i, y=3),
    lambda k, i, t: [k.op("add", [i32(0)], x=i, y=1)[0], k.op("mul", [c2], x=t, y=2.0)[0]])[1:])
program("while_loop_never", [c2], [c2], lambda b, v: loop(
    b, [b.const(7), v], [i32(0), c2], lambda k, i, t: k.op("less", [np.array(True)], x=i, y=3),
    lambda k, i, t: [k.op("add", [i32(0)], x=i, y=1)[0], k.op("mul", [c2], x=t, y=2.0)[0]])[1:])


def running(b, v, length, shape, dynamic):
    """Rows added up, each sum put in a list."""
    kind = list_type("FLOAT32", shape, None if dynamic else length)
    ls = b.op("make_list", [kind], init_length=length, dynamic_length=dynamic, elem_shape=[b.const(n if n is not None else "is0") for n in shape], dtype="fp32")[0]

    def step(k, i, total, ls_):
        row = k.op("gather", [c2[0]], x=v, indices=i, axis=0)[0]
        total = k.op("add", [c2[0]], x=total, y=row)[0]
        return [k.op("add", [i32(0)], x=i, y=1)[0], total, k.op("list_write", [kind], ls=ls_, index=i, value=total)[0]]

    made = loop(b, [b.const(0), b.const(np.zeros(3, np.float32)), ls], [i32(0), c2[0], kind], lambda k, i, t, ls_: k.op("less", [np.array(True)], x=i, y=2), step)
    size = b.op("list_length", [i32(0)], ls=made[2])[0]
    places = b.op("range_1d", [i32([0, 0])], end=size, start=0, step=1)[0]
    return b.op("list_gather", [c2], ls=made[2], indices=places) + b.op("list_read", [c2[0]], ls=made[2], index=1) + [b.op("expand_dims", [i32([0])], x=size, axes=i32([0]))[0]]


sums = c2.cumsum(0)
for name, length, shape, dynamic in (("fixed", 2, (3,), False), ("dynamic", 1, (3,), True), ("open", 1, (None,), True)):
    program("list_" + name, [c2], [sums, sums[1], i32([2])], lambda b, v: running(b, v, length, shape, dynamic))
kind3 = list_type("FLOAT32", (4,), 3)
program("list_scatter", [x[0]], [x[0][[1, 2, 0]]], lambda b, v: b.op("list_gather", [x[0]], ls=b.op("list_scatter", [kind3], ls=b.op(
    "make_list", [kind3], init_length=3, dynamic_length=False, elem_shape=[b.const(4)], dtype="fp32")[0], indices=i32([2, 0, 1]), value=v)[0], indices=i32([0, 1, 2])))
print(len([n for n in os.listdir(out) if n.startswith("mil_") and n.endswith(".mlmodel")]), "programs")
