"""Makes models of Keras whose nodes are functions: those of TensorFlow as tf.keras 2 saves them (TFOpLambda,
SlicingOpLambda, TensorFlowOpLayer), and operations of Keras 3, with what they compute by their documentation, in NumPy
and PyTorch.

    python3 tests/conformance/keras_functions.py FOLDER

Needs h5py and PyTorch 1.13. Each case is FOLDER/made__NAME.h5 (or .keras) and FOLDER/made__NAME.h5.io.safetensors. A
model has an output for each function.
"""
import json
import math
import sys
import os
import types

import numpy as np
import torch
import torch.nn.functional as F

# The writers of files are those of the layers' models.
here = os.path.dirname(os.path.abspath(__file__))
source = open(os.path.join(here, "keras_models.py")).read()
writers = types.ModuleType("writers")
exec(source[:source.index("# --- Attention ---")], writers.__dict__)
out, save_io, write_h5, write_keras = writers.out, writers.save_io, writers.write_h5, writers.write_keras
rng = np.random.RandomState(5)
T, npy, first, last, softmax, sigmoid = (writers.T, writers.npy, writers.first, writers.last, writers.softmax, writers.sigmoid)
f32, i32, i64 = np.float32, np.int32, np.int64


def rand(*shape, low=-1.0, high=1.0):
    return rng.uniform(low, high, shape).astype(np.float32)


class Ref:
    """A tensor of the model: an input, or what a node gives."""
    def __init__(self, name, index=0): self.name, self.index = name, index
    def __getitem__(self, index): return Ref(self.name, index)


def inputs(xs):
    return [Ref("x%d" % i) for i in range(len(xs))]


# --- Functions of TensorFlow -------------------------------------------------------------------------------------

def plain(value):
    """An argument that is no first one."""
    if isinstance(value, Ref):
        return [value.name, 0, value.index]
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, slice):
        return {"start": plain(value.start), "stop": plain(value.stop), "step": plain(value.step)}
    if value is Ellipsis:
        return {"class_name": "__ellipsis__"}
    return value.tolist() if isinstance(value, np.ndarray) else value


def head(value, kwargs):
    if isinstance(value, Ref):
        return [value.name, 0, value.index, kwargs]
    if isinstance(value, (list, tuple)):
        return [head(v, kwargs) for v in value]
    return ["_CONSTANT_VALUE", -1, plain(value), kwargs]


def tf_case(name, xs, rows, version="2.11.0"):
    """Each row: a function, its first argument, the others, the expected results."""
    layers, outputs, ys = [], [], []
    for i, x in enumerate(xs):
        layers.append({"class_name": "InputLayer", "name": "x%d" % i, "inbound_nodes": [], "config": {
            "batch_input_shape": [None] + list(x.shape[1:]), "dtype": str(x.dtype), "sparse": False, "ragged": False, "name": "x%d" % i}})
    for i, (function, arg, kwargs, *expected) in enumerate(rows):
        node = "f%d" % i
        kwargs = {k: plain(v) for k, v in kwargs.items()}
        slicing = function.endswith("getitem") or function.endswith("boolean_mask")
        layers.append({"class_name": "SlicingOpLambda" if slicing else "TFOpLambda", "name": node, "config": {
            "name": node, "trainable": True, "dtype": "float32", "function": function}, "inbound_nodes": [head(arg, kwargs)]})
        for k, y in enumerate(expected):
            if y is not None:
                outputs.append([node, 0, k])
                ys.append(y)
    model = {"class_name": "Functional", "config": {"name": "model", "trainable": True, "layers": layers,
             "input_layers": [["x%d" % i, 0, 0] for i in range(len(xs))], "output_layers": outputs}}
    path = os.path.join(out, "made__tf_%s.h5" % name)
    write_h5(path, model, {}, version)
    save_io(path + ".io.safetensors", xs, ys)


x = rand(2, 3, 4)
y = rand(2, 3, 4)
p = rand(2, 3, 4, low=0.1, high=2.0)
n = rng.randint(-5, 6, (2, 3, 4)).astype(i32)
X, Y, P, N = inputs([x, y, p, n])
w = rand(4)
tf_case("arithmetic", [x, y, p, n], [
    ("math.add", X, {"y": Y}, x + y),
    ("__operators__.add", X, {"y": 1.5, "name": None}, x + f32(1.5)),
    ("__operators__.add", 2, {"y": X}, 2 + x),
    ("math.multiply", X, {"y": w}, x * w),
    ("math.multiply", N, {"y": 3}, n * i32(3)),
    ("math.subtract", 1.0, {"y": X}, 1 - x),
    ("math.truediv", X, {"y": P}, x / p),
    ("math.truediv", X, {"y": 255.0}, x / f32(255)),
    ("math.divide", X, {"y": [1.0, 2.0, 4.0, 8.0]}, x / f32([1, 2, 4, 8])),
    ("math.floordiv", N, {"y": 3}, n // 3),
    ("math.floormod", N, {"y": 3}, n % 3),
    ("math.pow", P, {"y": 2.5}, p ** f32(2.5)),
    ("math.maximum", X, {"y": 0.0}, np.maximum(x, 0)),
    ("math.minimum", X, {"y": Y}, np.minimum(x, y)),
    ("math.squared_difference", X, {"y": Y}, (x - y) ** 2),
    ("math.divide_no_nan", X, {"y": 0.0}, x * 0),
    ("math.negative", X, {}, -x),
    ("math.abs", N, {}, np.abs(n)),
    ("math.sign", N, {}, np.sign(n)),
    ("math.square", X, {}, x * x),
    ("math.sqrt", P, {}, np.sqrt(p)),
    ("math.rsqrt", P, {}, 1 / np.sqrt(p)),
    ("math.reciprocal", P, {}, 1 / p),
    ("math.exp", X, {}, np.exp(x)),
    ("math.log", P, {}, np.log(p)),
    ("math.log1p", P, {}, np.log1p(p)),
    ("math.sin", X, {}, np.sin(x)),
    ("math.atan2", X, {"x": Y}, np.arctan2(x, y)),
    ("math.erf", X, {}, npy(torch.erf(T(x)))),
    ("math.floor", X, {}, np.floor(x)),
    ("math.ceil", X, {}, np.ceil(x)),
    ("math.round", X, {}, np.round(x)),
    ("clip_by_value", X, {"clip_value_min": -0.5, "clip_value_max": 0.25}, np.clip(x, -0.5, 0.25)),
    ("math.add_n", [X, Y, P], {}, x + y + p),
    ("nn.bias_add", X, {"bias": w.tolist(), "data_format": None, "name": None}, x + w),
    ("cast", N, {"dtype": "float32"}, n.astype(f32)),
    ("cast", X, {"dtype": "int32"}, x.astype(i32)),
    ("clip_by_norm", X, {"clip_norm": 1.0}, x / max(1.0, np.sqrt((x ** 2).sum()))),
    ("stop_gradient", X, {}, x),
    ("zeros_like", X, {}, x * 0),
    ("ones_like", N, {"dtype": "float32"}, np.ones(n.shape, f32)),
])
tests = (x > 0, y > 0.2)
tf_case("logic", [x, y, n], [
    ("cast", Ref("f1"), {"dtype": "float32"}, (x > 0).astype(f32)),
    ("math.greater", X, {"y": 0.0}),
    ("math.less_equal", Y, {"y": X}),
    ("cast", Ref("f2"), {"dtype": "int32"}, (y <= x).astype(i32)),
    ("math.logical_and", Ref("f1"), {"y": Ref("f2")}),
    ("where", Ref("f4"), {"x": X, "y": 0.0}, np.where((x > 0) & (y <= x), x, f32(0))),
    ("math.not_equal", Ref("x2"), {"y": 0}),
    ("math.logical_not", Ref("f6"), {}),
    ("math.logical_xor", Ref("f7"), {"y": Ref("f1")}),
    ("where", Ref("f8"), {"x": 1.0, "y": Y}, np.where((n == 0) ^ (x > 0), f32(1), y)),
    ("__operators__.eq", Ref("x2"), {"other": 2}),
    ("cast", Ref("f10"), {"dtype": "float32"}, (n == 2).astype(f32)),
    ("math.reduce_any", Ref("f1"), {"axis": -1}),
    ("cast", Ref("f12"), {"dtype": "float32"}, (x > 0).any(-1).astype(f32)),
    ("math.reduce_all", Ref("f6"), {"axis": [1, 2], "keepdims": True}),
    ("cast", Ref("f14"), {"dtype": "float32"}, (n != 0).all((1, 2), keepdims=True).astype(f32)),
])
tf_case("reductions", [x, n], [
    ("math.reduce_mean", X, {"axis": [1], "keepdims": True}, x.mean(1, keepdims=True)),
    ("math.reduce_mean", X, {"axis": None, "keepdims": False}, x.mean()),
    ("math.reduce_sum", X, {"axis": -1}, x.sum(-1)),
    ("compat.v1.reduce_sum", X, {"reduction_indices": [0], "keep_dims": True}, x.sum(0, keepdims=True)),
    ("math.reduce_max", X, {"axis": 2}, x.max(2)),
    ("math.reduce_min", Ref("x1"), {"axis": 2}, n.min(2)),
    ("math.reduce_prod", X, {"axis": 1}, x.prod(1)),
    ("math.reduce_variance", X, {"axis": [1, 2]}, x.var((1, 2))),
    ("math.reduce_std", X, {"axis": 1}, x.std(1)),
    ("math.reduce_logsumexp", X, {"axis": 1}, np.log(np.exp(x).sum(1))),
    ("math.reduce_euclidean_norm", X, {"axis": 2}, np.sqrt((x ** 2).sum(2))),
    ("math.argmax", X, {"axis": 1}, x.argmax(1)),
    ("math.argmin", X, {"axis": -1, "output_type": "int32"}, x.argmin(-1).astype(i32)),
    ("math.cumsum", X, {"axis": 1, "exclusive": True}, np.cumsum(x, 1) - x),
    ("math.cumsum", X, {"axis": -1, "reverse": True}, np.cumsum(x[..., ::-1], -1)[..., ::-1]),
    ("math.top_k", X, {"k": 2, "sorted": True}, -np.sort(-x, -1)[..., :2], np.argsort(-x, -1)[..., :2].astype(i32)),
    ("nn.moments", X, {"axes": [1], "keepdims": True}, x.mean(1, keepdims=True), x.var(1, keepdims=True)),
    ("norm", X, {"axis": 1, "ord": 1}, np.abs(x).sum(1)),
    ("norm", X, {}, np.sqrt((x ** 2).sum())),
    ("math.l2_normalize", X, {"axis": [1, 2]}, x / np.sqrt((x ** 2).sum((1, 2), keepdims=True))),
    ("nn.softmax", X, {"axis": 1}, softmax(x.transpose(0, 2, 1)).transpose(0, 2, 1)),
    ("nn.log_softmax", X, {}, np.log(softmax(x))),
    ("sort", X, {"axis": 1, "direction": "DESCENDING"}, -np.sort(-x, 1)),
    ("argsort", X, {"axis": 1, "direction": "DESCENDING"}, np.argsort(-x, 1, kind="stable").astype(i32)),
    ("math.count_nonzero", Ref("x1"), {"axis": [2]}, (n != 0).sum(2)),
    ("math.reduce_mean", [X, X], {"axis": 0}, x),
])
ids = np.array([[1, 2], [0, 1]], i32)
table = rand(5, 3)
steps = np.array([1, 3], i32)
tf_case("shapes", [x, ids, steps], [
    ("compat.v1.shape", X, {"out_type": "int32"}, np.array(x.shape, i32)),
    ("__operators__.getitem", Ref("f0"), {"slice_spec": 0}),
    ("reshape", X, {"shape": [Ref("f1"), 12]}, x.reshape(2, 12)),
    ("reshape", X, {"shape": [-1, 2, 6]}, x.reshape(-1, 2, 6)),
    ("expand_dims", X, {"axis": 1}, x[:, None]),
    ("squeeze", Ref("f4"), {"axis": [1]}, x),
    ("transpose", X, {"perm": [0, 2, 1]}, x.transpose(0, 2, 1)),
    ("compat.v1.transpose", X, {"perm": [2, 0, 1], "conjugate": False}, x.transpose(2, 0, 1)),
    ("concat", [X, Ref("f10")], {"axis": 1}, np.concatenate([x, -x], 1)),
    ("stack", [X, Ref("f10"), X], {"axis": -1}, np.stack([x, -x, x], -1)),
    ("math.negative", X, {}),
    ("split", X, {"num_or_size_splits": 2, "axis": 2}, x[..., :2], x[..., 2:]),
    ("split", X, {"num_or_size_splits": [1, -1, 1], "axis": -1, "num": 3}, x[..., :1], x[..., 1:3], x[..., 3:]),
    ("unstack", X, {"axis": 1}, x[:, 0], x[:, 1], x[:, 2]),
    ("tile", X, {"multiples": [1, 2, 3]}, np.tile(x, (1, 2, 3))),
    ("pad", X, {"paddings": [[0, 0], [1, 0], [0, 2]], "mode": "CONSTANT", "constant_values": 0.5},
     np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=0.5)),
    ("pad", X, {"paddings": [[0, 0], [1, 1], [2, 2]], "mode": "REFLECT"}, np.pad(x, ((0, 0), (1, 1), (2, 2)), "reflect")),
    ("gather", X, {"indices": [2, 0], "axis": 1}, x[:, [2, 0]]),
    ("gather", table, {"indices": Ref("x1")}, table[ids]),
    ("gather", X, {"indices": Ref("x1"), "axis": 1, "batch_dims": 1}, np.stack([x[i, ids[i]] for i in range(2)])),
    ("gather_nd", X, {"indices": Ref("x1")}, x[ids[:, 0], ids[:, 1]]),
    ("nn.embedding_lookup", table, {"ids": Ref("x1")}, table[ids]),
    ("one_hot", Ref("x1"), {"depth": 4}, np.eye(4, dtype=f32)[ids]),
    ("one_hot", Ref("x1"), {"depth": 3, "on_value": 5, "off_value": 1, "axis": 1, "dtype": "float32"},
     np.where(np.eye(3)[ids] > 0, 5, 1).astype(f32).transpose(0, 2, 1)),
    ("reverse", X, {"axis": [1, 2]}, x[:, ::-1, ::-1]),
    ("roll", X, {"shift": 1, "axis": 2}, np.roll(x, 1, 2)),
    ("repeat", X, {"repeats": 2, "axis": 1}, x.repeat(2, 1)),
    ("broadcast_to", [[[1.0], [2.0], [3.0]]], {"shape": [Ref("f1"), 3, 4]}, np.broadcast_to(f32([[[1], [2], [3]]]), (2, 3, 4))),
    ("range", Ref("f1"), {}, np.arange(2).astype(i32)),
    ("fill", [Ref("f1"), 3], {"value": 0.25}, np.full((2, 3), 0.25, f32)),
    ("zeros", [Ref("f1"), 2], {}, np.zeros((2, 2), f32)),
    ("sequence_mask", Ref("x2"), {"maxlen": 4, "dtype": "float32"}, (np.arange(4) < steps[:, None]).astype(f32)),
    ("slice", X, {"begin": [0, 1, 0], "size": [-1, 2, 3]}, x[:, 1:3, :3]),
    ("strided_slice", X, {"begin": [0, 0, 3], "end": [0, 3, 0], "strides": [1, 2, -1], "begin_mask": 1, "end_mask": 1},
     x[:, ::2, 3:0:-1]),
    ("rank", X, {}, np.int32(3)),
    ("size", X, {}, np.int32(24)),
])
tf_case("slices", [x, n], [
    ("__operators__.getitem", X, {"slice_spec": [slice(None), 0]}, x[:, 0]),
    ("__operators__.getitem", X, {"slice_spec": [slice(None), slice(1, None), slice(None, -1)]}, x[:, 1:, :-1]),
    ("__operators__.getitem", X, {"slice_spec": [Ellipsis, slice(None, None, -1)]}, x[..., ::-1]),
    ("__operators__.getitem", X, {"slice_spec": [slice(None), None, Ellipsis, 2]}, x[:, None, ..., 2]),
    ("__operators__.getitem", X, {"slice_spec": slice(None, 1)}, x[:1]),
    ("__operators__.getitem", X, {"slice_spec": None}, x[None]),
    ("__operators__.getitem", X, {"slice_spec": [1, -1]}, x[1, -1]),
    ("shape", X, {}),
    ("__operators__.getitem", Ref("f7"), {"slice_spec": 1}),
    ("math.subtract", Ref("f8"), {"y": 1}),
    ("__operators__.getitem", X, {"slice_spec": [slice(None), slice(Ref("f9"), Ref("f8"), None)]}, x[:, 2:3]),
    ("boolean_mask", X, {"mask": Ref("f12")}, x[n > 1]),
    ("math.greater", Ref("x1"), {"y": 1}),
])
a2, b2 = rand(2, 3, 4), rand(2, 4, 5)
k2 = rand(4, 6)
A, B = inputs([a2, b2])
tf_case("matrices", [a2, b2], [
    ("linalg.matmul", A, {"b": B}, a2 @ b2),
    ("linalg.matmul", A, {"b": A, "transpose_b": True}, a2 @ a2.transpose(0, 2, 1)),
    ("linalg.matmul", A, {"b": k2}, a2 @ k2),
    ("tensordot", A, {"b": k2, "axes": [[2], [0]]}, np.tensordot(a2, k2, ([2], [0]))),
    ("tensordot", A, {"b": k2, "axes": 1}, np.tensordot(a2, k2, 1)),
    ("linalg.matvec", A, {"b": k2[:, 0].copy()}, a2 @ k2[:, 0]),
    ("linalg.matrix_transpose", A, {}, a2.transpose(0, 2, 1)),
])
img = rand(2, 6, 5, 4)
ker, dw, pw = rand(3, 2, 4, 3), rand(3, 3, 4, 2), rand(1, 1, 8, 5)
sc, off, me, va = rand(4), rand(4), rand(4), rand(4, low=0.5)
I = Ref("x0")
kern = writers.kernel
same = lambda t: F.pad(t, (1, 1, 1, 1))
up = npy(F.interpolate(T(first(img)), (12, 10), mode="bilinear", align_corners=False))
near = img[:, np.floor((np.arange(9) + 0.5) * 6 / 9).astype(int)][:, :, np.floor((np.arange(3) + 0.5) * 5 / 3).astype(int)]
dwt = T(np.ascontiguousarray(dw.transpose(2, 3, 0, 1).reshape(8, 1, 3, 3)))
tf_case("nn", [img], [
    ("nn.relu", I, {}, np.maximum(img, 0)),
    ("nn.relu6", I, {}, np.clip(img, 0, 6)),
    ("nn.leaky_relu", I, {"alpha": 0.1}, np.where(img > 0, img, f32(0.1) * img)),
    ("nn.leaky_relu", I, {}, np.where(img > 0, img, f32(0.2) * img)),
    ("nn.elu", I, {}, npy(F.elu(T(img)))),
    ("nn.selu", I, {}, npy(F.selu(T(img)))),
    ("nn.silu", I, {}, img * sigmoid(img)),
    ("nn.swish", I, {"beta": 1.5}, img * sigmoid(f32(1.5) * img)),
    ("nn.gelu", I, {}, npy(F.gelu(T(img)))),
    ("nn.gelu", I, {"approximate": True}, 0.5 * img * (1 + np.tanh(math.sqrt(2 / math.pi) * (img + 0.044715 * img ** 3)))),
    ("math.sigmoid", I, {}, sigmoid(img)),
    ("math.tanh", I, {}, np.tanh(img)),
    ("math.softplus", I, {}, np.log1p(np.exp(img))),
    ("nn.softsign", I, {}, img / (1 + np.abs(img))),
    ("math.log_sigmoid", I, {}, np.log(sigmoid(img))),
    ("nn.conv2d", I, {"filters": ker, "strides": 1, "padding": "VALID"}, last(npy(F.conv2d(T(first(img)), kern(ker))))),
    ("nn.conv2d", I, {"filters": ker, "strides": [1, 2, 2, 1], "padding": [[0, 0], [1, 1], [0, 1], [0, 0]]},
     last(npy(F.conv2d(F.pad(T(first(img)), (0, 1, 1, 1)), kern(ker), stride=2)))),
    ("nn.depthwise_conv2d", I, {"filter": dw, "strides": [1, 1, 1, 1], "padding": "SAME"},
     last(npy(F.conv2d(same(T(first(img))), dwt, groups=4)))),
    ("nn.separable_conv2d", I, {"depthwise_filter": dw, "pointwise_filter": pw, "strides": [1, 1, 1, 1], "padding": "SAME"},
     last(npy(F.conv2d(same(T(first(img))), dwt, groups=4))) @ pw[0, 0]),
    ("nn.max_pool2d", I, {"ksize": 2, "strides": 2, "padding": "VALID"}, last(npy(F.max_pool2d(T(first(img)), 2)))),
    ("nn.avg_pool2d", I, {"ksize": [2, 2], "strides": [1, 1], "padding": "VALID"}, last(npy(F.avg_pool2d(T(first(img)), 2, 1)))),
    ("nn.batch_normalization", I, {"mean": me, "variance": va, "offset": off, "scale": sc, "variance_epsilon": 0.01},
     (img - me) / np.sqrt(va + f32(0.01)) * sc + off),
    ("image.resize", I, {"size": [12, 10]}, last(up)),
    ("image.resize", I, {"size": [9, 3], "method": "nearest"}, near),
    ("image.resize", I, {"size": [6, 5]}, img),
    ("compat.v1.image.resize_nearest_neighbor", I, {"size": [12, 10]}, img.repeat(2, 1).repeat(2, 2)),
    ("image.flip_left_right", I, {}, img[:, :, ::-1]),
    ("nn.space_to_depth", Ref("f23"), {"block_size": 3},
     near.reshape(2, 3, 3, 1, 3, 4).transpose(0, 1, 3, 2, 4, 5).reshape(2, 3, 1, 36)),
    ("compat.v1.nn.convolution", I, {"filter": ker, "dilation_rate": [1, 2], "strides": [1, 1], "padding": "VALID", "data_format": "NHWC"},
     last(npy(F.conv2d(T(first(img)), kern(ker), dilation=(1, 2))))),
    ("image.per_image_standardization", I, {}, (img - img.mean((1, 2, 3), keepdims=True)) / img.std((1, 2, 3), keepdims=True)),
    ("image.crop_to_bounding_box", I, {"offset_height": 1, "offset_width": 2, "target_height": 3, "target_width": 2}, img[:, 1:4, 2:4]),
    ("image.extract_patches", I, {"sizes": [1, 3, 2, 1], "strides": [1, 3, 2, 1], "rates": [1, 1, 1, 1], "padding": "VALID"},
     img[:, :, :4].reshape(2, 2, 3, 2, 2, 4).transpose(0, 1, 3, 2, 4, 5).reshape(2, 2, 2, 24)),
    ("reshape", I, {"shape": [-1, 30, 4]}),
    ("nn.conv1d", Ref("f32"), {"filters": ker[0].copy(), "stride": 2, "padding": "VALID"},
     last(npy(F.conv1d(T(first(img.reshape(2, 30, 4))), T(np.ascontiguousarray(ker[0].transpose(2, 1, 0))), stride=2)))),
    ("nn.crelu", I, {}, np.maximum(np.concatenate([img, -img], -1), 0)),
])


# Operators as tf.keras 2.0 to 2.3 saves them.
def op_layer(name, op, attrs, node_inputs, constants, inbound):
    return {"class_name": "TensorFlowOpLayer", "name": "tf_op_layer_" + name, "inbound_nodes": [[[i, 0, 0, {}] for i in inbound]],
            "config": {"name": name, "trainable": True, "dtype": "float32", "constants": constants,
                       "node_def": {"name": name, "op": op, "input": node_inputs, "attr": attrs}}}


FLOAT, INT = {"type": "DT_FLOAT"}, {"type": "DT_INT32"}
layers = [
    {"class_name": "InputLayer", "name": "x0", "inbound_nodes": [], "config": {"batch_input_shape": [None, 3, 4], "dtype": "float32", "name": "x0"}},
    op_layer("sub", "Sub", {"T": FLOAT}, ["sub/x", "x0"], {"0": 1}, ["x0"]),
    op_layer("mul", "Mul", {"T": FLOAT}, ["sub", "x0"], {}, ["tf_op_layer_sub", "x0"]),
    op_layer("slice", "StridedSlice", {"begin_mask": {"i": "3"}, "end_mask": {"i": "3"}, "ellipsis_mask": {"i": "0"},
             "new_axis_mask": {"i": "0"}, "shrink_axis_mask": {"i": "4"}, "T": FLOAT, "Index": INT},
             ["x0", "b", "e", "s"], {"1": [0, 0, 1], "2": [0, 0, 2], "3": [1, 1, 1]}, ["x0"]),
    op_layer("mean", "Mean", {"T": FLOAT, "Tidx": INT, "keep_dims": {"b": True}}, ["mul", "axes"], {"1": [1, 2]}, ["tf_op_layer_mul"]),
    op_layer("leaky", "LeakyRelu", {"T": FLOAT, "alpha": {"f": 0.3}}, ["x0"], {}, ["x0"]),
    op_layer("concat", "ConcatV2", {"T": FLOAT, "Tidx": INT, "N": {"i": "2"}}, ["x0", "mul", "axis"], {"2": -1}, ["x0", "tf_op_layer_mul"]),
    op_layer("split", "Split", {"T": FLOAT, "num_split": {"i": "2"}}, ["d", "x0"], {"0": 2}, ["x0"]),
]
m = (1 - x) * x
model = {"class_name": "Model", "config": {"name": "model", "layers": layers, "input_layers": [["x0", 0, 0]], "output_layers": [
    ["tf_op_layer_slice", 0, 0], ["tf_op_layer_mean", 0, 0], ["tf_op_layer_leaky", 0, 0], ["tf_op_layer_concat", 0, 0],
    ["tf_op_layer_split", 0, 0], ["tf_op_layer_split", 0, 1]]}}
path = os.path.join(out, "made__tf_op_layers.h5")
write_h5(path, model, {}, "2.3.0-tf")
save_io(path + ".io.safetensors", [x], [x[:, :, 1], m.mean((1, 2), keepdims=True), np.where(x > 0, x, f32(0.3) * x),
                                        np.concatenate([x, m], -1), x[..., :2], x[..., 2:]])


# --- Operations of Keras 3 ---------------------------------------------------------------------------------------

def packed(value):
    if isinstance(value, Ref):
        return {"class_name": "__keras_tensor__", "config": {"shape": [None], "dtype": "float32", "keras_history": [value.name, 0, value.index]}}
    if isinstance(value, (list, tuple)):
        return [packed(v) for v in value]
    if isinstance(value, slice):
        return {"class_name": "__slice__", "config": {"start": value.start, "stop": value.stop, "step": value.step}}
    if value is Ellipsis:
        return {"class_name": "__ellipsis__", "config": {}}
    if isinstance(value, np.ndarray):
        return {"class_name": "__numpy__", "config": {"value": value.tolist(), "dtype": str(value.dtype)}}
    return value


def ops_case(name, xs, rows, h5=False):
    """Each row: an operation, its configuration, arguments by position and by name, the expected results."""
    layers, outputs, ys = [], [], []
    for i, a in enumerate(xs):
        layers.append({"module": "keras.layers", "class_name": "InputLayer", "registered_name": None, "name": "x%d" % i, "inbound_nodes": [],
                       "config": {"batch_shape": [None] + list(a.shape[1:]), "dtype": str(a.dtype), "sparse": False, "name": "x%d" % i}})
    for i, (op, config, args, kwargs, *expected) in enumerate(rows):
        node = "f%d" % i
        layers.append({"module": "keras.src.ops.numpy", "class_name": op, "registered_name": op, "name": node, "config": dict(config, name=node),
                       "inbound_nodes": [{"args": packed(args), "kwargs": {k: packed(v) for k, v in kwargs.items()}}]})
        for k, y in enumerate(expected):
            if y is not None:
                outputs.append([node, 0, k])
                ys.append(y)
    if h5:
        for l in layers:
            del l["module"], l["registered_name"]
    model = {"module": "keras.src.models.functional", "class_name": "Functional", "registered_name": "Functional", "config": {
        "name": "model", "trainable": True, "layers": layers, "input_layers": [["x%d" % i, 0, 0] for i in range(len(xs))],
        "output_layers": outputs}}
    path = os.path.join(out, "made__ops_%s.%s" % (name, "h5" if h5 else "keras"))
    if h5:
        write_h5(path, model, {}, "3.8.0")
    else:
        write_keras(path, model, {})
    save_io(path + ".io.safetensors", xs, ys)


u8 = rng.randint(0, 256, (2, 3, 4)).astype(i32)
rows = [
    ("Add", {}, [X, Y], {}, x + y),
    ("Add", {}, [X, 1.5], {}, x + f32(1.5)),
    ("Add", {}, [N, 0.5], {}, n.astype(f32) + f32(0.5)),
    ("Subtract", {}, [1, X], {}, 1 - x),
    ("Multiply", {}, [X, w], {}, x * w),
    ("Multiply", {}, [X, N], {}, x * n.astype(f32)),
    ("Divide", {}, [N, 4], {}, (n / 4).astype(f32)),
    ("TrueDivide", {}, [X, P], {}, x / p),
    ("FloorDivide", {}, [N, 3], {}, n // 3),
    ("Mod", {}, [N, 3], {}, n % 3),
    ("Power", {}, [P, 2], {}, p ** 2),
    ("Maximum", {}, [X, Y], {}, np.maximum(x, y)),
    ("Negative", {}, [X], {}, -x),
    ("Absolute", {}, [N], {}, np.abs(n)),
    ("Square", {}, [X], {}, x * x),
    ("Sqrt", {}, [P], {}, np.sqrt(p)),
    ("Exp", {}, [N], {}, np.exp(n.astype(f32))),
    ("Log", {}, [P], {}, np.log(p)),
    ("Log2", {}, [P], {}, np.log2(p)),
    ("Arctan2", {}, [X, Y], {}, np.arctan2(x, y)),
    ("Clip", {"x_min": -0.5, "x_max": 0.25}, [X], {}, np.clip(x, -0.5, 0.25)),
    ("Round", {"decimals": 1}, [X], {}, np.round(x, 1)),
    ("Logaddexp", {}, [X, Y], {}, np.logaddexp(x, y)),
    ("Greater", {}, [X, 0], {}),
    ("Where", {}, [Ref("f23"), X, 0], {}, np.where(x > 0, x, f32(0))),
    ("LogicalNot", {}, [N], {}),
    ("Cast", {"dtype": "float32"}, [Ref("f25")], {}, (n == 0).astype(f32)),
    ("NanToNum", {"nan": 0.0, "posinf": None, "neginf": None}, [X], {}, x),
    ("Cast", {"dtype": "int32"}, [X], {}, x.astype(i32)),
    ("ZerosLike", {}, [X], {}, x * 0),
    ("FullLike", {}, [X, 2.5], {}, np.full_like(x, 2.5)),
    ("Diff", {"n": 1, "axis": -1}, [X], {}, np.diff(x)),
    ("Outer", {}, [w, w], {}, np.outer(w, w)),
]
ops_case("arithmetic", [x, y, p, n], rows)
ops_case("arithmetic_h5", [x, y, p, n], rows[:6], h5=True)
ops_case("reductions", [x, n], [
    ("Mean", {"axis": 1, "keepdims": True}, [X], {}, x.mean(1, keepdims=True)),
    ("Mean", {"axis": None, "keepdims": False}, [Ref("x1")], {}, n.mean().astype(f32)),
    ("Sum", {"axis": [1, 2], "keepdims": False}, [X], {}, x.sum((1, 2))),
    ("Max", {"axis": -1, "keepdims": False, "initial": None}, [X], {}, x.max(-1)),
    ("Prod", {"axis": -1, "keepdims": False, "dtype": None}, [X], {}, x.prod(-1)),
    ("Var", {"axis": 1, "keepdims": False}, [X], {}, x.var(1)),
    ("Std", {"axis": -1, "keepdims": True}, [X], {}, x.std(-1, keepdims=True)),
    ("Any", {"axis": [2], "keepdims": False}, [Ref("x1")], {}),
    ("Cast", {"dtype": "int32"}, [Ref("f7")], {}, (n != 0).any(2).astype(i32)),
    ("Argmax", {"axis": -1, "keepdims": False}, [X], {}, x.argmax(-1).astype(i32)),
    ("Argmin", {"axis": None, "keepdims": False}, [X], {}, np.int32(x.argmin())),
    ("Argsort", {"axis": 1}, [X], {}, x.argsort(1).astype(i32)),
    ("Sort", {"axis": 1}, [X], {}, np.sort(x, 1)),
    ("Cumsum", {"axis": 1, "dtype": None}, [X], {}, np.cumsum(x, 1)),
    ("Cumsum", {"axis": None, "dtype": None}, [X], {}, np.cumsum(x)),
    ("TopK", {"k": 2, "sorted": True}, [X], {}, -np.sort(-x, -1)[..., :2], np.argsort(-x, -1)[..., :2].astype(i32)),
    ("Logsumexp", {"axis": 1, "keepdims": False}, [X], {}, np.log(np.exp(x).sum(1))),
    ("Norm", {"ord": None, "axis": 1, "keepdims": False}, [X], {}, np.sqrt((x ** 2).sum(1))),
    ("Normalize", {"axis": -1, "order": 2, "epsilon": None}, [X], {}, x / np.sqrt((x ** 2).sum(-1, keepdims=True))),
    ("Normalize", {"axis": 1, "order": 1, "epsilon": 1e-12}, [X], {}, x / np.abs(x).sum(1, keepdims=True)),
    ("Moments", {"axes": [1], "keepdims": False, "synchronized": False}, [X], {}, x.mean(1), x.var(1)),
    ("Softmax", {"axis": 1}, [X], {}, softmax(x.transpose(0, 2, 1)).transpose(0, 2, 1)),
    ("LogSoftmax", {"axis": -1}, [X], {}, np.log(softmax(x))),
    ("Average", {"axis": 2}, [X], {"weights": None}, x.mean(2)),
    ("CountNonzero", {"axis": [1]}, [Ref("x1")], {}, (n != 0).sum(1).astype(i32)),
])
ops_case("shapes", [x, ids], [
    ("GetItem", {}, [X, [slice(None), 0]], {}, x[:, 0]),
    ("GetItem", {}, [X, [slice(None), slice(1, None, None), slice(None, -1, None)]], {}, x[:, 1:, :-1]),
    ("GetItem", {}, [X, [Ellipsis, slice(None, None, -1)]], {}, x[..., ::-1]),
    ("GetItem", {}, [X, [slice(None), None, Ellipsis]], {}, x[:, None]),
    ("GetItem", {}, [X, 1], {}, x[1]),
    ("Reshape", {"newshape": [-1, 6, 2]}, [X], {}, x.reshape(-1, 6, 2)),
    ("ExpandDims", {"axis": -1}, [X], {}, x[..., None]),
    ("Squeeze", {"axis": -1}, [Ref("f6")], {}, x),
    ("Transpose", {"axes": [0, 2, 1]}, [X], {}, x.transpose(0, 2, 1)),
    ("Moveaxis", {"source": [1], "destination": [-1]}, [X], {}, np.moveaxis(x, 1, -1)),
    ("Swapaxes", {"axis1": 1, "axis2": 2}, [X], {}, x.swapaxes(1, 2)),
    ("Concatenate", {"axis": -1}, [[X, X]], {}, np.concatenate([x, x], -1)),
    ("Stack", {"axis": 1}, [[X, X]], {}, np.stack([x, x], 1)),
    ("Hstack", {}, [[X, X]], {}, np.hstack([x, x])),
    ("Vstack", {}, [[X, X]], {}, np.vstack([x, x])),
    ("Split", {"indices_or_sections": 2, "axis": 2}, [X], {}, x[..., :2], x[..., 2:]),
    ("Split", {"indices_or_sections": [1, 3], "axis": -1}, [X], {}, x[..., :1], x[..., 1:3], x[..., 3:]),
    ("Unstack", {"num": None, "axis": 1}, [X], {}, x[:, 0], x[:, 1], x[:, 2]),
    ("Tile", {"repeats": [2, 3]}, [X], {}, np.tile(x, (2, 3))),
    ("Repeat", {"repeats": 3, "axis": -1}, [X], {}, x.repeat(3, -1)),
    ("Repeat", {"repeats": [1, 0, 2], "axis": 1}, [X], {}, x.repeat([1, 0, 2], 1)),
    ("Pad", {"pad_width": [[0, 0], [1, 0], [0, 2]], "mode": "constant"}, [X], {"constant_values": None}, np.pad(x, ((0, 0), (1, 0), (0, 2)))),
    ("Pad", {"pad_width": [[0, 0], [1, 1], [1, 1]], "mode": "symmetric"}, [X], {}, np.pad(x, ((0, 0), (1, 1), (1, 1)), "symmetric")),
    ("Flip", {"axis": 1}, [X], {}, x[:, ::-1]),
    ("Roll", {"shift": 2, "axis": None}, [X], {}, np.roll(x, 2)),
    ("Take", {"axis": 1}, [X, [2, -3]], {}, x[:, [2, -3]]),
    ("Take", {"axis": 0}, [table, Ref("x1")], {}, table[ids]),
    ("Ravel", {}, [X], {}, x.ravel()),
    ("BroadcastTo", {"shape": [3, 2, 3, 4]}, [X], {}, np.broadcast_to(x, (3, 2, 3, 4))),
    ("Tril", {"k": -1}, [X], {}, np.tril(x, -1)),
    ("Triu", {"k": 1}, [X], {}, np.triu(x, 1)),
    ("OneHot", {"num_classes": 4, "axis": -1, "dtype": "float32", "sparse": False}, [Ref("x1")], {}, np.eye(4, dtype=f32)[ids]),
    ("Slice", {"shape": [2, 2, 2]}, [X, [0, 1, 1]], {}, x[:2, 1:3, 1:3]),
    ("StopGradient", {}, [X], {}, x),
])
ops_case("matrices", [a2, b2], [
    ("Matmul", {}, [A, B], {}, a2 @ b2),
    ("Dot", {}, [A, k2], {}, np.dot(a2, k2)),
    ("Tensordot", {"axes": 1}, [A, k2], {}, np.tensordot(a2, k2, 1)),
    ("Einsum", {"subscripts": "bij,bjk->bik"}, [A, B], {}, a2 @ b2),
])
q, k, v = rand(2, 4, 2, 3), rand(2, 5, 2, 3), rand(2, 5, 2, 3)


def attention(q, k, v, mask=None):
    s = np.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(3)
    if mask is not None:
        s = np.where(mask, s, f32(-1e30))
    return np.einsum("bhqk,bkhd->bqhd", softmax(s), v).astype(f32)


W = {"strides": 1, "padding": "valid", "data_format": "channels_last", "dilation_rate": 1}
seq = rand(2, 7, 3)
k1 = rand(2, 3, 5)
ops_case("nn", [img, seq, q, k, v], [
    ("Relu", {}, [I], {}, np.maximum(img, 0)),
    ("Silu", {}, [I], {}, img * sigmoid(img)),
    ("Gelu", {"approximate": True}, [I], {}, 0.5 * img * (1 + np.tanh(math.sqrt(2 / math.pi) * (img + 0.044715 * img ** 3)))),
    ("Gelu", {"approximate": False}, [I], {}, npy(F.gelu(T(img)))),
    ("LeakyRelu", {"negative_slope": 0.3}, [I], {}, np.where(img > 0, img, f32(0.3) * img)),
    ("Elu", {"alpha": 0.5}, [I], {}, npy(F.elu(T(img), 0.5))),
    ("HardSigmoid", {}, [I], {}, npy(F.hardsigmoid(T(img * 1)))),
    ("HardSilu", {}, [I], {}, npy(F.hardswish(T(img)))),
    ("SoftShrink", {"threshold": 0.3}, [I], {}, npy(F.softshrink(T(img), 0.3))),
    ("HardShrink", {"threshold": 0.3}, [I], {}, npy(F.hardshrink(T(img), 0.3))),
    ("Glu", {"axis": -1}, [I], {}, npy(F.glu(T(img), -1))),
    ("LogSigmoid", {}, [I], {}, npy(F.logsigmoid(T(img)))),
    ("Conv", dict(W, strides=2, padding="same"), [I, ker], {}, last(npy(F.conv2d(F.pad(T(first(img)), (0, 1, 0, 1)), kern(ker), stride=2)))),
    ("Conv", W, [Ref("x1"), k1], {}, last(npy(F.conv1d(T(first(seq)), T(np.ascontiguousarray(k1.transpose(2, 1, 0))))))),
    ("DepthwiseConv", W, [I, dw], {}, last(npy(F.conv2d(T(first(img)), dwt, groups=4)))),
    ("SeparableConv", W, [I, dw, pw], {}, last(npy(F.conv2d(T(first(img)), dwt, groups=4))) @ pw[0, 0]),
    ("MaxPool", {"pool_size": 2, "strides": None, "padding": "valid", "data_format": "channels_last"}, [I], {}, last(npy(F.max_pool2d(T(first(img)), 2)))),
    ("AveragePool", {"pool_size": [3], "strides": [2], "padding": "valid", "data_format": "channels_last"}, [Ref("x1")], {},
     last(npy(F.avg_pool1d(T(first(seq)), 3, 2)))),
    ("Resize", {"size": [12, 10], "interpolation": "bilinear", "antialias": False, "crop_to_aspect_ratio": False, "pad_to_aspect_ratio": False,
                "fill_mode": "constant", "fill_value": 0.0, "data_format": "channels_last"}, [I], {}, last(up)),
    ("BatchNorm", {"axis": -1, "epsilon": 0.01}, [I, me, va], {"offset": off, "scale": sc}, (img - me) / np.sqrt(va + f32(0.01)) * sc + off),
    ("DotProductAttention", {"is_causal": False, "flash_attention": None}, [Ref("x2"), Ref("x3"), Ref("x4")],
     {"bias": None, "mask": None, "scale": None}, attention(q, k, v)),
    ("DotProductAttention", {"is_causal": True}, [Ref("x2"), Ref("x3"), Ref("x4")], {}, attention(q, k, v, np.tril(np.ones((4, 5))) > 0)),
    ("RGBToGrayscale", {"data_format": "channels_last"}, [Ref("f23")], {}, img[..., :3] @ f32([[0.2989], [0.5870], [0.1140]])),
    ("GetItem", {}, [I, [Ellipsis, slice(0, 3)]], {}),
])
print(len([f_ for f_ in os.listdir(out) if f_.startswith(("made__tf_", "made__ops_")) and f_.endswith(".safetensors")]), "models")
