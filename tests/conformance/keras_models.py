"""Makes small models in Keras's files whose layers TensorFlow.js does not have, with what they compute by Keras's
documentation, in NumPy and PyTorch.

    python3 tests/conformance/keras_models.py FOLDER

Needs h5py and PyTorch 1.13. Each case is FOLDER/made__NAME.h5 (or .keras) and FOLDER/made__NAME.h5.io.safetensors.
"""
import io
import json
import math
import os
import sys
import zipfile

import h5py
import numpy as np
import torch
import torch.nn.functional as F

from io_file import save_io

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
rng = np.random.RandomState(11)


def rand(*shape, low=-1.0, high=1.0):
    return rng.uniform(low, high, shape).astype(np.float32)


def write_h5(path, model, weights, version, backend="tensorflow"):
    with h5py.File(path, "w") as f:
        f.attrs["model_config"] = json.dumps(model)
        if version:
            f.attrs["keras_version"] = version
        if backend and version:
            f.attrs["backend"] = backend
        root = f.create_group("model_weights")
        root.attrs["layer_names"] = [n.encode() for n in weights]
        for layer, arrays in weights.items():
            g = root.create_group(layer)
            g.attrs["weight_names"] = [n.encode() for n, _ in arrays]
            for n, a in arrays:
                g.create_dataset(n, data=a)


def write_keras(path, model, variables, version="3.8.0", assets=(), compress=zipfile.ZIP_STORED, **how):
    data = io.BytesIO()
    with h5py.File(data, "w") as f:
        for place, a in variables.items():
            f.create_dataset(place, data=a, **(how if np.ndim(a) else {}))
        f.require_group("layers")
    with zipfile.ZipFile(path, "w", compress) as z:
        z.writestr("metadata.json", json.dumps({"keras_version": version, "date_saved": "2025-01-01@00:00:00"}))
        z.writestr("config.json", json.dumps(model))
        z.writestr("model.weights.h5", data.getvalue())
        for name, text in assets:
            z.writestr(name, text)


def layer(class_name, name, config, inbound):
    return {"class_name": class_name, "name": name, "config": dict(config, name=name), "inbound_nodes": inbound}


def input_layer(name, shape, dtype="float32"):
    return layer("InputLayer", name, {"batch_input_shape": [None] + list(shape), "dtype": dtype}, [])


def functional(inputs, layers, outputs):
    return {"class_name": "Functional", "config": {
        "name": "model", "layers": inputs + layers,
        "input_layers": [[i["name"], 0, 0] for i in inputs], "output_layers": outputs}}


def case(name, class_name, config, arrays, xs, ys, version="2.11.0", backend="tensorflow", dtypes=None, kwargs=None):
    """A layer on inputs."""
    dtypes = dtypes or [str(x.dtype) for x in xs]
    ins = [input_layer("x%d" % i, x.shape[1:], d) for i, (x, d) in enumerate(zip(xs, dtypes))]
    node = [["x%d" % i, 0, 0, kwargs or {}] for i in range(len(xs))]
    model = functional(ins, [layer(class_name, "it", config, [node])], [["it", 0, i] for i in range(len(ys))])
    path = os.path.join(out, "made__%s.h5" % name)
    write_h5(path, model, {"it": [("it/%s:0" % n, a) for n, a in arrays]}, version, backend)
    save_io(path + ".io.safetensors", xs, ys)


def chain(name, xs, shape, layers, weights, ys, version="2.11.0", backend="tensorflow", dtype="float32"):
    """A Sequential model: (class, config), weights by names."""
    described = []
    for i, (class_name, config) in enumerate(layers):
        config = dict(config, name="l%d" % i)
        if i == 0:
            config.update(batch_input_shape=[None] + list(shape), dtype=dtype)
        described.append({"class_name": class_name, "config": config})
    config = described if version.startswith("1") else {"name": "s", "layers": described}
    path = os.path.join(out, "made__%s.h5" % name)
    write_h5(path, {"class_name": "Sequential", "config": config},
             {"l%d" % i: [("l%d/%s" % (i, n), a) for n, a in weights.get(i, [])] for i in range(len(layers))}, version, backend)
    save_io(path + ".io.safetensors", [xs], ys)


T = torch.tensor
def npy(t): return t.detach().numpy()
def sigmoid(x): return 1 / (1 + np.exp(-x))
def softmax(x): e = np.exp(x - x.max(-1, keepdims=True)); return e / e.sum(-1, keepdims=True)
def last(x): return np.moveaxis(x, 1, -1)      # channels
def first(x): return np.moveaxis(x, -1, 1)
def kernel(w, transposed=False):               # [space..., in, out] as PyTorch has it
    n = w.ndim
    return T(np.ascontiguousarray(w.transpose([n - 1, n - 2] + list(range(n - 2)))))


# --- Attention ---------------------------------------------------------------------------------------------------

q, v, k = rand(2, 4, 3), rand(2, 5, 3), rand(2, 5, 3)
w = softmax(q @ k.transpose(0, 2, 1) * 0.7)
case("attention_scaled", "Attention", {"use_scale": True, "score_mode": "dot", "dropout": 0.0},
     [("scale", np.float32(0.7))], [q, v, k], [w @ v])
w = softmax(q @ v.transpose(0, 2, 1))
case("attention", "Attention", {"use_scale": False}, [], [q, v], [w @ v])
qs = rand(2, 5, 3)
scores = qs @ qs.transpose(0, 2, 1)
scores = np.where(np.tril(np.ones((5, 5))) > 0, scores, scores - 1e9).astype(np.float32)
case("attention_causal", "Attention", {"use_scale": False, "causal": True}, [], [qs, qs], [softmax(scores) @ qs])
w = softmax(np.tanh(q[:, :, None] + k[:, None]).sum(-1) * np.float32(0.5))
case("attention_concat", "Attention", {"use_scale": False, "score_mode": "concat"},
     [("concat_score_weight", np.float32(0.5))], [q, v, k], [w @ v])
s = rand(3)
w = softmax((s * np.tanh(q[:, :, None] + k[:, None])).sum(-1))
case("additive_attention", "AdditiveAttention", {"use_scale": True}, [("scale", s)], [q, v, k], [w @ v])


def mha(query, value, key, ws, heads, size, mask=None):
    wq, bq, wk, bk, wv, bv, wo, bo = ws
    Q = np.einsum("btd,dhk->bhtk", query, wq) + bq[:, None]
    K = np.einsum("btd,dhk->bhtk", key, wk) + bk[:, None]
    V = np.einsum("btd,dhk->bhtk", value, wv) + bv[:, None]
    s = Q @ K.transpose(0, 1, 3, 2) / math.sqrt(size)
    if mask is not None:
        s = s + (1 - mask) * -1e9
    a = softmax(s)
    return (np.einsum("bhtk,hko->bto", a @ V, wo) + bo).astype(np.float32), a.astype(np.float32)


def mha_weights(d, heads, size, vsize, o):
    return [rand(d, heads, size), rand(heads, size), rand(d, heads, size), rand(heads, size),
            rand(d, heads, vsize), rand(heads, vsize), rand(heads, vsize, o), rand(o)]


MHA = ["query/kernel", "query/bias", "key/kernel", "key/bias", "value/kernel", "value/bias",
       "attention_output/kernel", "attention_output/bias"]
ws = mha_weights(3, 2, 4, 5, 3)
cfg = {"num_heads": 2, "key_dim": 4, "value_dim": 5, "use_bias": True, "dropout": 0.1, "output_shape": None,
       "attention_axes": None, "query_shape": [None, 4, 3]}
y, a = mha(q, v, v, ws, 2, 4)
ins = [input_layer("x0", (4, 3)), input_layer("x1", (5, 3)), input_layer("x2", (5, 3))]


def mha_case(name, node, outputs, xs, ys, count=3):
    path = os.path.join(out, "made__%s.h5" % name)
    model = functional(ins[:count], [layer("MultiHeadAttention", "it", cfg, [[node]])], outputs)
    write_h5(path, model, {"it": [("it/%s:0" % n, b) for n, b in zip(MHA, ws)]}, "2.11.0")
    save_io(path + ".io.safetensors", xs, ys)


mha_case("multi_head", ["x0", 0, 0, {"value": ["x1", 0, 0], "return_attention_scores": True}],
         [["it", 0, 0], ["it", 0, 1]], [q, v], [y, a], 2)
y, _ = mha(q, v, k, ws, 2, 4)
mha_case("multi_head_key", ["x0", 0, 0, {"key": ["x2", 0, 0], "value": ["x1", 0, 0]}], [["it", 0, 0]], [q, v, k], [y])
y, _ = mha(q, v, v, ws, 2, 4, np.tril(np.ones((4, 5))))
mha_case("multi_head_causal", ["x0", 0, 0, {"value": ["x1", 0, 0], "use_causal_mask": True}], [["it", 0, 0]], [q, v], [y], 2)

# --- Convolutions ------------------------------------------------------------------------------------------------

x = rand(2, 7, 3)
for pad in ("valid", "same"):
    for stride in (1, 2, 3):
        for op in (None, 0, 1):
            if op is not None and op >= stride:
                continue
            w, b = rand(2, 4, 3), rand(4)
            n, kk = 7, 2
            if op is None:
                size = n * stride + (max(kk - stride, 0) if pad == "valid" else 0)
            else:
                size = (n - 1) * stride + kk - 2 * (kk // 2 if pad == "same" else 0) + op
            full = F.conv_transpose1d(T(first(x)), T(np.ascontiguousarray(w.transpose(2, 1, 0))), stride=stride)
            full = F.pad(full, (0, max(0, size - full.shape[-1])))
            excess = full.shape[-1] - size
            begin = excess // 2 if pad == "same" else 0
            y = last(npy(full[..., begin:begin + size])) + b
            case("conv1d_transpose_%s_%d_%s" % (pad, stride, op), "Conv1DTranspose",
                 {"filters": 4, "kernel_size": [2], "strides": [stride], "padding": pad, "output_padding": None if op is None else [op],
                  "use_bias": True, "activation": "linear", "data_format": "channels_last", "dilation_rate": [1]},
                 [("kernel", w), ("bias", b)], [x], [y])
w, b = rand(3, 3, 2), rand(6)
y = npy(F.conv1d(F.pad(T(first(x)), (2, 0)), T(np.ascontiguousarray(w.reshape(3, 6).T[:, None])), groups=3))
case("depthwise1d_causal", "DepthwiseConv1D", {"kernel_size": [3], "strides": [1], "padding": "causal", "depth_multiplier": 2,
     "use_bias": True, "activation": "relu"}, [("depthwise_kernel", w), ("bias", b)], [x], [np.maximum(last(y) + b, 0)])
p = rand(1, 6, 4)
case("separable1d", "SeparableConv1D", {"filters": 4, "kernel_size": [3], "strides": [1], "padding": "causal", "depth_multiplier": 2,
     "use_bias": False}, [("depthwise_kernel", w), ("pointwise_kernel", p)], [x], [last(y) @ p[0]])
x2 = rand(2, 3, 6, 5)
w, b = rand(3, 2, 3, 4), rand(4)
y = npy(F.conv2d(T(x2), kernel(w), T(b), stride=2))
case("conv2d_first", "Conv2D", {"filters": 4, "kernel_size": [3, 2], "strides": [2, 2], "padding": "valid",
     "data_format": "channels_first", "use_bias": True, "activation": "relu"}, [("kernel", w), ("bias", b)], [x2], [np.maximum(y, 0)])
g = rand(3, 3, 2, 4)
x4 = rand(2, 6, 5, 4)
y = npy(F.conv2d(T(first(x4)), kernel(g), groups=2))
case("conv2d_groups", "Conv2D", {"filters": 4, "kernel_size": [3, 3], "groups": 2, "use_bias": False}, [("kernel", g)], [x4], [last(y)])
flipped = np.ascontiguousarray(w[::-1, ::-1])
y = npy(F.conv2d(T(x2), kernel(w)))
case("conv2d_theano", "Conv2D", {"filters": 4, "kernel_size": [3, 2], "data_format": "channels_first", "use_bias": False},
     [("kernel", flipped)], [x2], [y], "2.1.3", "theano")
xl = rand(2, 6, 3)
w, b = rand(5, 6, 4), rand(5, 4)
y = np.stack([xl[:, i:i + 2].reshape(2, 6) @ w[i] for i in range(5)], 1) + b
case("locally1d", "LocallyConnected1D", {"filters": 4, "kernel_size": [2], "strides": [1], "padding": "valid", "use_bias": True,
     "implementation": 1}, [("kernel", w), ("bias", b)], [xl], [y])
xl = rand(2, 5, 4, 3)
w, b = rand(2 * 3, 3 * 2 * 3, 4), rand(2, 3, 4)
y = np.stack([np.stack([xl[:, 2 * i:2 * i + 3, j:j + 2].reshape(2, -1) @ w[i * 3 + j] for j in range(3)], 1) for i in range(2)], 1) + b
case("locally2d", "LocallyConnected2D", {"filters": 4, "kernel_size": [3, 2], "strides": [2, 1], "padding": "valid", "use_bias": True},
     [("kernel", w), ("bias", b)], [xl], [y])
y = np.stack([np.stack([first(xl)[:, :, 2 * i:2 * i + 3, j:j + 2].reshape(2, -1) @ w[i * 3 + j] for j in range(3)], 1) for i in range(2)], 1) + b
case("locally2d_first", "LocallyConnected2D", {"filters": 4, "kernel_size": [3, 2], "strides": [2, 1], "padding": "valid",
     "data_format": "channels_first", "use_bias": True}, [("kernel", w), ("bias", b)], [np.ascontiguousarray(first(xl))], [first(y)])

# --- Pools, sizes ------------------------------------------------------------------------------------------------

case("max_pool_first", "MaxPooling2D", {"pool_size": [2, 2], "strides": None, "padding": "valid", "data_format": "channels_first"},
     [], [x2], [npy(F.max_pool2d(T(x2), 2))])
case("global_first", "GlobalAveragePooling2D", {"data_format": "channels_first", "keepdims": True}, [], [x2], [x2.mean((2, 3), keepdims=True)])
case("flatten_first", "Flatten", {"data_format": "channels_first"}, [], [x2], [last(x2).reshape(2, -1)])
up = npy(F.interpolate(T(first(x4)), scale_factor=(2, 3), mode="bilinear", align_corners=False))
case("up_bilinear", "UpSampling2D", {"size": [2, 3], "interpolation": "bilinear"}, [], [x4], [last(up)])
case("up_1d", "UpSampling1D", {"size": 3}, [], [x], [x.repeat(3, 1)])
x5 = rand(2, 2, 3, 2, 3)
case("up_3d", "UpSampling3D", {"size": [2, 1, 3]}, [], [x5], [x5.repeat(2, 1).repeat(3, 3)])
case("crop_1d", "Cropping1D", {"cropping": [1, 2]}, [], [x], [x[:, 1:-2]])
case("crop_3d_first", "Cropping3D", {"cropping": [[0, 1], [1, 0], [1, 1]], "data_format": "channels_first"}, [], [x5], [x5[:, :, :-1, 1:, 1:-1]])
case("pad_1d", "ZeroPadding1D", {"padding": [2, 1]}, [], [x], [np.pad(x, ((0, 0), (2, 1), (0, 0)))])
case("pad_3d", "ZeroPadding3D", {"padding": [[1, 0], [0, 1], [2, 2]]}, [], [x5], [np.pad(x5, ((0, 0), (1, 0), (0, 1), (2, 2), (0, 0)))])
case("pad_2d_one", "ZeroPadding2D", {"padding": [1, 2]}, [], [x4], [np.pad(x4, ((0, 0), (1, 1), (2, 2), (0, 0)))])

# --- Normalizations ----------------------------------------------------------------------------------------------

ga, be, me, va = rand(5), rand(5), rand(5), rand(5, low=0.5)
xb = rand(2, 5, 4, 3)
at = lambda v: v[None, :, None, None]
case("batch_norm_axis1", "BatchNormalization", {"axis": [1], "epsilon": 0.01, "momentum": 0.9},
     [("gamma", ga), ("beta", be), ("moving_mean", me), ("moving_variance", va)], [xb],
     [(xb - at(me)) / np.sqrt(at(va) + np.float32(0.01)) * at(ga) + at(be)])
ga, be = rand(4), rand(4)
gn = npy(F.group_norm(T(first(x4)), 2, T(ga), T(be), 1e-3))
case("group_norm", "GroupNormalization", {"groups": 2, "axis": -1, "epsilon": 0.001}, [("gamma", ga), ("beta", be)], [x4], [last(gn)])
gn = npy(F.group_norm(T(first(x4)), 4, None, T(be), 1e-3))
case("instance_norm", "GroupNormalization", {"groups": -1, "axis": -1, "epsilon": 0.001, "scale": False}, [("beta", be)], [x4], [last(gn)])
ga = rand(5)
d = xb - xb.mean(1, keepdims=True)
y = d / np.sqrt(d.var(1, keepdims=True) + np.float32(1e-3)) * at(ga)
case("layer_norm_axis1", "LayerNormalization", {"axis": [1], "epsilon": 0.001, "center": False}, [("gamma", ga)], [xb], [y])
case("unit_norm", "UnitNormalization", {"axis": [-1]}, [], [x], [x / np.sqrt((x ** 2).sum(-1, keepdims=True))])
sc = rand(3)
case("rms_norm", "RMSNormalization", {"axis": -1, "epsilon": 1e-6}, [("scale", sc)], [x],
     [x / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-6) * sc], "3.9.0")

# --- Dense, activations ------------------------------------------------------------------------------------------

w, b = rand(3, 2, 4), rand(2, 4)
case("einsum_dense", "EinsumDense", {"equation": "abc,cde->abde", "output_shape": [None, 2, 4], "activation": "tanh", "bias_axes": "de"},
     [("kernel", w), ("bias", b)], [x], [np.tanh(np.einsum("abc,cde->abde", x, w) + b)])
case("softmax_axis", "Softmax", {"axis": 1}, [], [x], [softmax(x.transpose(0, 2, 1)).transpose(0, 2, 1)])
case("relu_all", "ReLU", {"max_value": 0.8, "negative_slope": 0.3, "threshold": 0.2}, [], [x],
     [np.where(x >= 0.2, np.minimum(x, np.float32(0.8)), np.float32(0.3) * (x - np.float32(0.2)))])
case("hard_sigmoid_2", "Activation", {"activation": "hard_sigmoid"}, [], [x * 4], [np.clip(0.2 * x * 4 + 0.5, 0, 1).astype(np.float32)])
case("hard_sigmoid_3", "Activation", {"activation": "hard_sigmoid"}, [], [x * 4], [np.clip(x * 4 / 6 + 0.5, 0, 1).astype(np.float32)], "3.1.0")
case("gelu", "Activation", {"activation": "gelu"}, [], [x], [npy(F.gelu(T(x)))])
w, b = rand(3, 4), rand(4)
h = (x.astype(np.float16) @ w.astype(np.float16) + b.astype(np.float16)).astype(np.float16)
case("mixed_float16", "Dense", {"units": 4, "use_bias": True, "dtype": {"class_name": "Policy", "config": {"name": "mixed_float16"}}},
     [("kernel", w), ("bias", b)], [x], [h])

ga, be, me, va = rand(3), rand(3), rand(3), rand(3, low=0.5)
y = (x.astype(np.float16).astype(np.float32) - me) / np.sqrt(va + np.float32(0.001)) * ga + be
case("mixed_float16_norm", "BatchNormalization", {"axis": [-1], "epsilon": 0.001,
     "dtype": {"class_name": "Policy", "config": {"name": "mixed_float16"}}},
     [("gamma", ga), ("beta", be), ("moving_mean", me), ("moving_variance", va)], [x], [y.astype(np.float16)])

# --- Recurrent layers --------------------------------------------------------------------------------------------


def lstm(x, w, u, b, act=np.tanh, gate=sigmoid, mask=None, zero=False, back=False):
    n = u.shape[0]
    h = np.zeros((len(x), n)); c = h * 0; held = h * 0; ys = []
    for t in (reversed(range(x.shape[1])) if back else range(x.shape[1])):
        z = x[:, t] @ w + h @ u + b
        i, f, g, o = (z[:, j * n:(j + 1) * n] for j in range(4))
        c2 = gate(f) * c + gate(i) * act(g)
        h2 = gate(o) * act(c2)
        m = np.ones((len(x), 1), bool) if mask is None else mask[:, t:t + 1]
        held = np.where(m, h2, 0 if zero else held)
        h, c = np.where(m, h2, h), np.where(m, c2, c)
        ys.append(held)
    return np.stack(ys, 1).astype(np.float32), h.astype(np.float32), c.astype(np.float32)


def gru(x, w, u, b, after, act=np.tanh, gate=sigmoid):
    n = u.shape[0]; h = np.zeros((len(x), n)); ys = []
    bi, br = (b[0], b[1]) if after else (b, b * 0)
    for t in range(x.shape[1]):
        z = x[:, t] @ w + bi
        r = h @ u + br
        zz, rr = gate(z[:, :n] + r[:, :n]), gate(z[:, n:2 * n] + r[:, n:2 * n])
        hh = act(z[:, 2 * n:] + (rr * r[:, 2 * n:] if after else (rr * h) @ u[:, 2 * n:]))
        h = zz * h + (1 - zz) * hh
        ys.append(h)
    return np.stack(ys, 1).astype(np.float32), h.astype(np.float32)


xr = rand(2, 5, 3)
w, u, b = rand(3, 12), rand(4, 12), rand(2, 12)
R = {"units": 4, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True}
case("gru_reset_after", "GRU", dict(R, reset_after=True, return_sequences=True), [("kernel", w), ("recurrent_kernel", u), ("bias", b)],
     [xr], [gru(xr, w, u, b, True)[0]])
case("gru_reset_after_step", "GRU", dict(R, reset_after=True, activation="gelu"), [("kernel", w), ("recurrent_kernel", u), ("bias", b)],
     [xr], [gru(xr, w, u, b, True, act=lambda v: npy(F.gelu(T(v))))[1]])
case("gru_reset_before", "GRU", dict(R, reset_after=False, recurrent_activation="hard_sigmoid"),
     [("kernel", w), ("recurrent_kernel", u), ("bias", b[0])], [xr],
     [gru(xr, w, u, b[0], False, gate=lambda v: np.clip(0.2 * v + 0.5, 0, 1))[1]])
w, u, b = rand(3, 16), rand(4, 16), rand(16)
W = [("kernel", w), ("recurrent_kernel", u), ("bias", b)]
ys, h, c = lstm(xr, w, u, b)
case("lstm_states", "LSTM", dict(R, return_sequences=True, return_state=True), W, [xr], [ys, h, c])
case("lstm_time_major", "LSTM", dict(R, return_sequences=True, time_major=True), W, [np.ascontiguousarray(xr.transpose(1, 0, 2))],
     [ys.transpose(1, 0, 2)])
case("lstm_back", "LSTM", dict(R, return_sequences=True, go_backwards=True), W, [xr], [lstm(xr, w, u, b, back=True)[0]])
# In hard_sigmoid of Keras 3.
case("lstm_keras3", "LSTM", dict(R, recurrent_activation="hard_sigmoid"), W, [xr],
     [lstm(xr, w, u, b, gate=lambda v: np.clip(v / 6 + 0.5, 0, 1))[1]], "3.1.0")
w2, u2, b2 = rand(3, 16), rand(4, 16), rand(16)
back = lstm(xr, w2, u2, b2, back=True)
BW = [("forward_lstm/" + n, a) for n, a in W] + [("backward_lstm/" + n, a) for n, a in (("kernel", w2), ("recurrent_kernel", u2), ("bias", b2))]
B = {"layer": {"class_name": "LSTM", "config": dict(R, name="lstm", return_sequences=True, return_state=True)}}
case("bidirectional_states", "Bidirectional", dict(B, merge_mode="concat"), BW, [xr],
     [np.concatenate([ys, back[0][:, ::-1]], -1), h, c, back[1], back[2]])
case("bidirectional_apart", "Bidirectional", {"layer": {"class_name": "LSTM", "config": dict(R, name="lstm")}, "merge_mode": None}, BW, [xr], [h, back[1]])
# CuDNN's order: columns of each gate's kernel one after the other.
cu = lambda m, gates: np.concatenate([g.T.ravel().reshape(g.shape) for g in np.split(m, gates, 1)], 1)
ct = lambda m, gates: np.concatenate([g.T for g in np.split(m, gates, 1)], 1)
bb = rand(16)
case("cudnn_lstm", "CuDNNLSTM", {"units": 4}, [("kernel", cu(w, 4)), ("recurrent_kernel", ct(u, 4)), ("bias", np.concatenate([b, bb]))], [xr],
     [lstm(xr, w, u, b + bb)[1]], "2.2.4")
wg, ug, bg = rand(3, 12), rand(4, 12), rand(2, 12)
case("cudnn_gru", "CuDNNGRU", {"units": 4}, [("kernel", cu(wg, 3)), ("recurrent_kernel", ct(ug, 3)), ("bias", bg.ravel())], [xr],
     [gru(xr, wg, ug, bg, True)[1]], "2.2.4")

# Masks: which steps count.
xm = xr.copy()
xm[0, 1] = xm[0, 4] = xm[1, 0] = xm[1, 3] = 0
mask = (xm != 0).any(-1)
masked = lstm(xm, w, u, b, mask=mask)
LW = {1: [(n + ":0", a) for n, a in W]}
for name, config, y in (("last", {}, masked[1]), ("all", {"return_sequences": True}, masked[0])):
    chain("masking_lstm_" + name, xm, (5, 3), [("Masking", {"mask_value": 0.0}), ("LSTM", dict(R, **config))], LW, [y])
mb = lstm(xm, w, u, b, mask=mask, zero=True)[0], lstm(xm, w2, u2, b2, mask=mask, zero=True, back=True)[0][:, ::-1]
chain("masking_bidirectional", xm, (5, 3),
      [("Masking", {"mask_value": 0.0}), ("Bidirectional", {"layer": {"class_name": "LSTM", "config": dict(R, return_sequences=True)}, "merge_mode": "concat"})],
      {1: [(n + ":0", a) for n, a in BW]}, [np.concatenate(mb, -1)])
m = mask[..., None].astype(np.float32)
chain("masking_average", xm, (5, 3), [("Masking", {"mask_value": 0.0}), ("GlobalAveragePooling1D", {})], {}, [(xm * m).sum(1) / m.sum(1)])
table = rand(6, 3)
ids = np.array([[1, 2, 0, 3, 0], [4, 0, 0, 5, 1]], np.int32)
e = table[ids]
scores = e @ e.transpose(0, 2, 1) - 1e9 * (ids == 0)[:, None]
y = softmax(scores) @ e * (ids != 0)[..., None]
model = functional([input_layer("x0", (5,), "int32")],
                   [layer("Embedding", "e", {"input_dim": 6, "output_dim": 3, "mask_zero": True, "dtype": "float32"}, [[["x0", 0, 0, {}]]]),
                    layer("Dropout", "d", {"rate": 0.3}, [[["e", 0, 0, {}]]]),
                    layer("Attention", "it", {"use_scale": False}, [[["d", 0, 0, {}], ["d", 0, 0, {}]]])], [["it", 0, 0]])
path = os.path.join(out, "made__masked_attention.h5")
write_h5(path, model, {"e": [("e/embeddings:0", table)], "it": []}, "2.11.0")
save_io(path + ".io.safetensors", [ids], [y.astype(np.float32)])

# Initial states by name; a nested model that is called twice (calls of models are counted from 1).
y0, h0, c0 = lstm(xr, w, u, b)
xs = rand(2, 4, 3)


def lstm_from(x, w, u, b, h, c):
    n = u.shape[0]
    for t in range(x.shape[1]):
        z = x[:, t] @ w + h @ u + b
        i, f, g, o = (z[:, j * n:(j + 1) * n] for j in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return h.astype(np.float32)


model = functional([input_layer("x0", (5, 3)), input_layer("x1", (4, 3))],
                   [layer("LSTM", "a", dict(R, return_state=True), [[["x0", 0, 0, {}]]]),
                    layer("LSTM", "b", R, [[["x1", 0, 0, {"initial_state": [["a", 0, 1], ["a", 0, 2]]}]]])], [["b", 0, 0]])
path = os.path.join(out, "made__initial_state.h5")
write_h5(path, model, {"a": [("a/%s:0" % n, v_) for n, v_ in W],
                       "b": [("b/kernel:0", w2), ("b/recurrent_kernel:0", u2), ("b/bias:0", b2)]}, "2.11.0")
save_io(path + ".io.safetensors", [xr, xs], [lstm_from(xs, w2, u2, b2, h0, c0)])
wd, bd, we = rand(3, 4), rand(4), rand(4, 2)
inner = {"class_name": "Sequential", "config": {"name": "inner", "layers": [
    {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 3], "name": "in"}},
    {"class_name": "Dense", "config": {"name": "d1", "units": 4, "activation": "relu", "use_bias": True}},
    {"class_name": "Dense", "config": {"name": "d2", "units": 2, "activation": "linear", "use_bias": False}}]}}
f = lambda v_: np.maximum(v_ @ wd + bd, 0) @ we
xa, xc = rand(2, 3), rand(2, 3)
model = functional([input_layer("x0", (3,)), input_layer("x1", (3,))],
                   [dict(inner, name="inner", inbound_nodes=[[["x0", 0, 0, {}]], [["x1", 0, 0, {}]]]),
                    layer("Subtract", "s", {}, [[["inner", 1, 0, {}], ["inner", 2, 0, {}]]])], [["s", 0, 0]])
NW = [("d1/kernel:0", wd), ("d1/bias:0", bd), ("d2/kernel:0", we)]
path = os.path.join(out, "made__nested.h5")
write_h5(path, model, {"inner": NW, "s": []}, "2.11.0")
save_io(path + ".io.safetensors", [xa, xc], [f(xa) - f(xc)])
case("time_distributed_model", "TimeDistributed", {"layer": inner}, [(n[:-2], a) for n, a in NW], [xr], [f(xr)])
case("spectral", "SpectralNormalization", {"power_iterations": 1, "layer": {"class_name": "Dense", "config": {"name": "d1", "units": 4}}},
     [("vector_u", rand(1, 4)), ("d1/kernel", wd), ("d1/bias", bd)], [xa], [xa @ wd + bd])

# ConvLSTM along one axis.
xv = rand(2, 3, 5, 2)
w, u, b = rand(3, 2, 12), rand(3, 3, 12), rand(12)
h = np.zeros((2, 5, 3), np.float32); c = h * 0
for t in range(3):
    z = last(npy(F.conv1d(T(first(xv[:, t])), kernel(w), T(b), padding=1) + F.conv1d(T(first(h)), kernel(u), padding=1)))
    i, ff, g, o = np.split(z, 4, -1)
    c = sigmoid(ff) * c + sigmoid(i) * np.tanh(g)
    h = (sigmoid(o) * np.tanh(c)).astype(np.float32)
case("conv_lstm1d", "ConvLSTM1D", {"filters": 3, "kernel_size": [3], "padding": "same", "activation": "tanh", "recurrent_activation": "sigmoid",
     "use_bias": True}, [("kernel", w), ("recurrent_kernel", u), ("bias", b)], [xv], [h])

# --- Preprocessing -----------------------------------------------------------------------------------------------

case("normalization", "Normalization", {"axis": [-1], "mean": None, "variance": None, "dtype": "float32"},
     [("mean", sc), ("variance", np.abs(sc)), ("count", np.int64(0))], [x], [(x - sc) / np.maximum(np.sqrt(np.abs(sc)), 1e-7)])
case("normalization_config", "Normalization", {"axis": [-1], "mean": [[[0.1, 0.2, 0.3]]], "variance": [[[1.0, 2.0, 4.0]]]}, [], [x],
     [((x - np.float32([0.1, 0.2, 0.3])) / np.sqrt(np.float32([1, 2, 4])))])
case("rescaling_channels", "Rescaling", {"scale": [0.5, 1.0, 2.0], "offset": 0.25}, [], [x], [x * np.float32([0.5, 1, 2]) + np.float32(0.25)])
case("discretization", "Discretization", {"bin_boundaries": [-0.5, 0.0, 0.5], "output_mode": "int"}, [], [x],
     [np.searchsorted([-0.5, 0.0, 0.5], x, side="right").astype(np.int64)])
n = np.array([[3, 7, 9], [7, 0, 12]], np.int64)
case("integer_lookup", "IntegerLookup", {"vocabulary": [3, 7, 12], "num_oov_indices": 1, "mask_token": None, "oov_token": -1, "invert": False,
     "output_mode": "int", "max_tokens": None}, [], [n], [np.array([[1, 2, 0], [2, 0, 3]], np.int64)])
case("integer_lookup_mask", "IntegerLookup", {"vocabulary": [3, 7, 12], "num_oov_indices": 1, "mask_token": 0, "oov_token": -1, "invert": False,
     "output_mode": "int"}, [], [n], [np.array([[2, 3, 1], [3, 0, 4]], np.int64)])
case("integer_lookup_invert", "IntegerLookup", {"vocabulary": [3, 7, 12], "num_oov_indices": 1, "mask_token": None, "oov_token": -1,
     "invert": True, "output_mode": "int"}, [], [np.array([[1, 2, 0]], np.int64)], [np.array([[3, 7, -1]], np.int64)])
case("integer_lookup_hot", "IntegerLookup", {"vocabulary": [3, 7, 12], "num_oov_indices": 1, "mask_token": None, "oov_token": -1,
     "output_mode": "multi_hot"}, [], [n], [np.float32([[1, 1, 1, 0], [1, 0, 1, 1]])])
case("category_one_hot", "CategoryEncoding", {"num_tokens": 4, "output_mode": "one_hot"}, [], [np.array([[1], [3]], np.int64)],
     [np.eye(4, dtype=np.float32)[[1, 3]]])
case("category_count", "CategoryEncoding", {"num_tokens": 4, "output_mode": "count"}, [], [np.array([[1, 1, 0], [3, 2, 3]], np.int64)],
     [np.float32([[1, 2, 0, 0], [0, 0, 1, 2]])])
rs = last(npy(F.interpolate(T(first(x4)), (9, 3), mode="bilinear", align_corners=False)))
case("resizing", "Resizing", {"height": 9, "width": 3, "interpolation": "bilinear", "crop_to_aspect_ratio": False}, [], [x4], [rs])
near = x4[:, np.floor((np.arange(9) + 0.5) * 6 / 9).astype(int)][:, :, np.floor((np.arange(3) + 0.5) * 5 / 3).astype(int)]
case("resizing_nearest", "Resizing", {"height": 9, "width": 3, "interpolation": "nearest"}, [], [x4], [near])
case("center_crop", "CenterCrop", {"height": 3, "width": 2}, [], [x4], [x4[:, 1:4, 1:3]])

# --- Keras 1 -----------------------------------------------------------------------------------------------------

w, b = rand(4, 3, 3, 2), rand(4)
y = npy(F.relu(F.conv2d(T(x2), T(w), T(b), stride=2)))
chain("keras1_conv_th", x2, (3, 6, 5), [("Convolution2D", {"nb_filter": 4, "nb_row": 3, "nb_col": 2, "border_mode": "valid", "subsample": [2, 2],
      "dim_ordering": "th", "bias": True, "activation": "relu"})], {0: [("W", w), ("b", b)]}, [y], "1.2.2", None)
w, b = rand(2, 1, 3, 4), rand(4)
y = last(npy(F.conv1d(T(first(x)), kernel(w[:, 0]), T(b))))
chain("keras1_conv1d", x, (7, 3), [("Convolution1D", {"nb_filter": 4, "filter_length": 2, "border_mode": "valid", "subsample_length": 1,
      "bias": True, "activation": "linear"}), ("MaxPooling1D", {"pool_length": 2, "stride": 2, "border_mode": "valid"})],
      {0: [("W", w), ("b", b)]}, [np.maximum(y[:, 0::2], y[:, 1::2])], "1.2.2", None)
ws = {g: (rand(3, 4), rand(4, 4), rand(4)) for g in "ifco"}
cat = lambda i, gates: np.concatenate([ws[g][i] for g in gates], -1)
hs = lambda v_: np.clip(0.2 * v_ + 0.5, 0, 1)
y = lstm(xr, cat(0, "ifco"), cat(1, "ifco"), cat(2, "ifco"), gate=hs)[1]
chain("keras1_lstm", xr, (5, 3), [("LSTM", {"output_dim": 4, "activation": "tanh", "inner_activation": "hard_sigmoid", "return_sequences": False})],
      {0: [("%s_%s" % (p_, g), ws[g][i]) for g in "icfo" for i, p_ in enumerate("WUb")]}, [y], "1.2.2", None)
ws = {g: (rand(3, 4), rand(4, 4), rand(4)) for g in "zrh"}
y = gru(xr, cat(0, "zrh"), cat(1, "zrh"), cat(2, "zrh"), False, gate=hs)[1]
chain("keras1_gru", xr, (5, 3), [("GRU", {"output_dim": 4, "activation": "tanh", "inner_activation": "hard_sigmoid"})],
      {0: [("%s_%s" % (p_, g), ws[g][i]) for g in "zrh" for i, p_ in enumerate("WUb")]}, [y], "1.2.2", None)
for mode, y in (("sum", xa + xc), ("mul", xa * xc), ("concat", np.concatenate([xa, xc], -1)), ("max", np.maximum(xa, xc))):
    case("keras1_merge_" + mode, "Merge", {"mode": mode, "concat_axis": -1, "dot_axes": -1, "mode_type": "raw"}, [], [xa, xc], [y], "1.2.2", None)

# --- Forms of HDF5 files -----------------------------------------------------------------------------------------

wa, ba, wb_ = rand(3, 37), rand(37), rand(37, 4)
y = np.tanh(np.maximum(xr @ wa + ba, 0) @ wb_)
FORMS = {
    "latest": ({"libver": "latest"}, {}, np.float32),
    "v108": ({"libver": ("v108", "v108")}, {}, np.float32),
    "ordered": ({"track_order": True}, {}, np.float32),
    "chunks": ({}, {"chunks": True}, np.float32),
    "packed": ({}, {"chunks": (2,), "compression": "gzip", "shuffle": True, "fletcher32": True}, np.float32),
    "big_endian": ({}, {}, ">f4"),
    "big_endian_chunks": ({}, {"chunks": (5,), "shuffle": True}, ">f4"),
}
for name, (file_how, how, dtype) in FORMS.items():
    path = os.path.join(out, "made__hdf5_%s.h5" % name)
    with h5py.File(path, "w", **file_how) as f_:
        layers = [{"class_name": "Dense", "config": {"name": "a", "units": 37, "activation": "relu", "use_bias": True,
                                                     "batch_input_shape": [None, 5, 3], "dtype": "float32"}},
                  {"class_name": "Dense", "config": {"name": "b", "units": 4, "activation": "tanh", "use_bias": False}}]
        f_.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": layers}}) \
            if name != "packed" else np.bytes_(json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": layers}}))
        f_.attrs["keras_version"] = "2.4.0"
        root = f_.create_group("model_weights")
        root.attrs["layer_names"] = [b"a", b"b"]
        for layer_name, arrays in (("a", [("a/kernel:0", wa), ("a/bias:0", ba)]), ("b", [("b/kernel:0", wb_)])):
            g_ = root.create_group(layer_name)
            g_.attrs["weight_names"] = [n_.encode() for n_, _ in arrays]
            for n_, a_ in arrays:
                more = dict(how)
                if isinstance(more.get("chunks"), tuple):
                    more["chunks"] = tuple(min(more["chunks"][0], d_) for d_ in a_.shape)
                g_.create_dataset(n_, data=a_.astype(dtype), **more)
    save_io(path + ".io.safetensors", [xr], [y.astype(np.float32)])

# --- Keras 3's archives ------------------------------------------------------------------------------------------


def tensor3(name, index, shape):
    return {"class_name": "__keras_tensor__", "config": {"shape": [None] + list(shape), "dtype": "float32", "keras_history": [name, 0, index]}}


def layer3(class_name, name, config, args=None, kwargs=None):
    config = dict(config, name=name, dtype={"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}, "registered_name": None})
    nodes = [] if args is None else [{"args": args, "kwargs": kwargs or {}}]
    return {"module": "keras.layers", "class_name": class_name, "config": config, "registered_name": None, "name": name, "inbound_nodes": nodes}


def functional3(name, layers, ins, outs):
    return {"module": "keras.src.models.functional", "class_name": "Functional", "registered_name": "Functional",
            "config": {"name": name, "trainable": True, "layers": layers, "input_layers": ins, "output_layers": outs}}


w, u, b, w2, u2, b2 = rand(3, 16), rand(4, 16), rand(16), rand(3, 16), rand(4, 16), rand(16)
wd, bd = rand(8, 3), rand(3)
model = functional3("m", [
    layer3("InputLayer", "x0", {"batch_shape": [None, 5, 3]}),
    layer3("Bidirectional", "bi", {"merge_mode": "concat", "layer": {"module": "keras.layers", "class_name": "LSTM", "registered_name": None,
           "config": dict(R, name="lstm", return_sequences=True)}}, [tensor3("x0", 0, (5, 3))]),
    layer3("Dense", "out", {"units": 3, "activation": "softmax", "use_bias": True}, [tensor3("bi", 0, (5, 8))])],
    [["x0", 0, 0]], [["out", 0, 0]])
y = softmax(np.concatenate([lstm(xr, w, u, b)[0], lstm(xr, w2, u2, b2, back=True)[0][:, ::-1]], -1) @ wd + bd)
variables = {"layers/bidirectional/forward_layer/cell/vars/0": w, "layers/bidirectional/forward_layer/cell/vars/1": u,
             "layers/bidirectional/forward_layer/cell/vars/2": b, "layers/bidirectional/backward_layer/cell/vars/0": w2,
             "layers/bidirectional/backward_layer/cell/vars/1": u2, "layers/bidirectional/backward_layer/cell/vars/2": b2,
             "layers/dense/vars/0": wd, "layers/dense/vars/1": bd, "optimizer/vars/0": np.int64(3)}
for name, how in (("bidirectional", {}), ("chunked", {"chunks": True, "compression": "gzip"})):
    path = os.path.join(out, "made__keras3_%s.keras" % name)
    write_keras(path, model, variables, compress=zipfile.ZIP_DEFLATED if how else zipfile.ZIP_STORED, **how)
    save_io(path + ".io.safetensors", [xr], [y.astype(np.float32)])
ws = mha_weights(3, 2, 4, 4, 3)
model = functional3("m", [
    layer3("InputLayer", "x0", {"batch_shape": [None, 4, 3]}), layer3("InputLayer", "x1", {"batch_shape": [None, 5, 3]}),
    layer3("MultiHeadAttention", "a", {"num_heads": 2, "key_dim": 4, "value_dim": 4, "use_bias": True, "seed": None},
           [tensor3("x0", 0, (4, 3)), tensor3("x1", 0, (5, 3))], {"key": None, "query_mask": None}),
    layer3("Add", "add", {}, [[tensor3("a", 0, (4, 3)), tensor3("x0", 0, (4, 3))]]),
    layer3("LayerNormalization", "ln", {"axis": -1, "epsilon": 0.001}, [tensor3("add", 0, (4, 3))])],
    [["x0", 0, 0], ["x1", 0, 0]], ["ln", 0, 0])
z = mha(q, v, v, ws, 2, 4)[0] + q
ga, be = rand(3), rand(3)
z = z - z.mean(-1, keepdims=True)
y = z / np.sqrt(z.var(-1, keepdims=True) + 1e-3) * ga + be
parts = ["query_dense", "key_dense", "value_dense", "output_dense"]
variables = {"layers/multi_head_attention/%s/vars/%d" % (p_, j): ws[2 * i + j] for i, p_ in enumerate(parts) for j in range(2)}
variables.update({"layers/layer_normalization/vars/0": ga, "layers/layer_normalization/vars/1": be,
                  "layers/multi_head_attention/seed_generator/vars/0": np.zeros(2, np.uint32)})
path = os.path.join(out, "made__keras3_attention.keras")
write_keras(path, model, variables)
save_io(path + ".io.safetensors", [q, v], [y.astype(np.float32)])
we, wf = rand(3, 4), rand(4, 2)
nested = {"module": "keras", "class_name": "Sequential", "registered_name": None, "config": {"name": "inner", "layers": [
    layer3("InputLayer", "i", {"batch_shape": [None, 3]}), layer3("Dense", "da", {"units": 4, "use_bias": False, "activation": "relu"}),
    layer3("Dense", "db", {"units": 2, "use_bias": False, "activation": "linear"})]}}
model = {"module": "keras", "class_name": "Sequential", "registered_name": None, "config": {"name": "outer", "layers": [
    layer3("InputLayer", "i0", {"batch_shape": [None, 5, 3]}),
    layer3("TimeDistributed", "td", {"layer": nested}), layer3("Flatten", "f", {"data_format": "channels_last"})]}}
path = os.path.join(out, "made__keras3_nested.keras")
write_keras(path, model, {"layers/time_distributed/layer/layers/dense/vars/0": we, "layers/time_distributed/layer/layers/dense_1/vars/0": wf})
save_io(path + ".io.safetensors", [xr], [(np.maximum(xr @ we, 0) @ wf).reshape(2, -1)])
model = {"module": "keras", "class_name": "Sequential", "registered_name": None, "config": {"name": "words", "layers": [
    layer3("InputLayer", "i0", {"batch_shape": [None, 3]}),
    layer3("IntegerLookup", "lookup", {"vocabulary": None, "num_oov_indices": 1, "mask_token": None, "oov_token": -1, "output_mode": "int"})]}}
model["config"]["layers"][0]["config"]["dtype"] = "int64"
path = os.path.join(out, "made__keras3_vocabulary.keras")
write_keras(path, model, {}, assets=[("assets/layers/integer_lookup/vocabulary.txt", "3\n7\n12")])
save_io(path + ".io.safetensors", [n], [np.array([[1, 2, 0], [2, 0, 3]], np.int64)])
# Encodings by weights, and as wide as they may be; a word that masks has no place in an encoding.
idf = [0.5, 1.0, 2.0]
for name, more, y in [
        ("tf_idf", {"output_mode": "tf_idf", "idf_weights": idf}, [[7 / 6, 0.5, 1, 0], [7 / 6, 0, 1, 2]]),
        ("padded", {"output_mode": "count", "max_tokens": 6, "pad_to_max_tokens": True}, [[1, 1, 1, 0, 0, 0], [1, 0, 1, 1, 0, 0]]),
        ("tf_idf_padded", {"output_mode": "tf_idf", "idf_weights": idf, "max_tokens": 5, "pad_to_max_tokens": True},
         [[7 / 6, 0.5, 1, 0, 0], [7 / 6, 0, 1, 2, 0]]),
        ("hot_mask", {"output_mode": "multi_hot", "mask_token": 0}, [[1, 1, 1, 0], [1, 0, 1, 1]])]:
    case("integer_lookup_" + name, "IntegerLookup", dict({"vocabulary": [3, 7, 12], "num_oov_indices": 1, "mask_token": None,
                                                          "oov_token": -1}, **more), [], [n], [np.float32(y)])
ga, be, mm, mv = rand(3), rand(3), rand(3), rand(3, low=0.5)
y = (x - x.mean((0, 1))) / np.sqrt(x.var((0, 1)) + 1e-3) * ga + be
case("batch_norm_training", "BatchNormalization", {"axis": [2], "epsilon": 0.001, "center": True, "scale": True},
     [("gamma", ga), ("beta", be), ("moving_mean", mm), ("moving_variance", mv)], [x], [y], kwargs={"training": True})
case("dense_training", "Dense", {"units": 3, "activation": "linear", "use_bias": False}, [("kernel", wd[:3])], [x], [x @ wd[:3]],
     kwargs={"training": True})


def repeated(ws, heads):
    """Weights of keys and values for as many heads as queries have."""
    return [w if i not in (2, 3, 4, 5) else np.repeat(w, heads, -2) for i, w in enumerate(ws)]


ws = [rand(3, 4, 5), rand(4, 5), rand(3, 2, 5), rand(2, 5), rand(3, 2, 5), rand(2, 5), rand(4, 5, 3), rand(3)]
gqa = {"head_dim": 5, "num_query_heads": 4, "num_key_value_heads": 2, "dropout": 0.1, "use_bias": True}
for name, kwargs, mask in [("", {}, None), ("_causal", {"use_causal_mask": True}, np.tril(np.ones((4, 5))))]:
    model = functional3("m", [
        layer3("InputLayer", "x0", {"batch_shape": [None, 4, 3]}), layer3("InputLayer", "x1", {"batch_shape": [None, 5, 3]}),
        layer3("GroupedQueryAttention", "a", gqa, [tensor3("x0", 0, (4, 3)), tensor3("x1", 0, (5, 3))], dict({"key": None}, **kwargs))],
        [["x0", 0, 0], ["x1", 0, 0]], ["a", 0, 0])
    path = os.path.join(out, "made__keras3_grouped_attention%s.keras" % name)
    write_keras(path, model, {"layers/grouped_query_attention/%s/vars/%d" % (p_, j): ws[2 * i + j] for i, p_ in enumerate(parts)
                              for j in range(2)})
    save_io(path + ".io.safetensors", [q, v], [mha(q, v, v, repeated(ws, 2), 4, 5, mask)[0]])

# --- Sizes, sound, normalizations by the deviation alone ---------------------------------------------------------

wide = rand(2, 4, 9, 3)
grow = lambda t, size: last(npy(F.interpolate(T(first(t)), size, mode="bilinear", align_corners=False)))
S = {"height": 6, "width": 6, "interpolation": "bilinear"}
case("resizing_crop", "Resizing", dict(S, crop_to_aspect_ratio=True), [], [wide], [grow(wide[:, :, 2:6], (6, 6))])
case("resizing_pad", "Resizing", dict(S, pad_to_aspect_ratio=True, fill_mode="constant", fill_value=0.5, data_format="channels_last"), [], [wide],
     [grow(np.pad(wide, ((0, 0), (2, 2), (0, 0), (0, 0)), constant_values=0.5), (6, 6))], "3.8.0")
case("resizing_antialias", "Resizing", {"height": 2, "width": 3, "interpolation": "bilinear", "antialias": True}, [], [wide],
     [last(npy(F.interpolate(T(first(wide)), (2, 3), mode="bilinear", align_corners=False, antialias=True)))], "3.8.0")
area = wide[:, :, :8].reshape(2, 2, 2, 4, 2, 3).mean((2, 4))
case("resizing_area", "Resizing", {"height": 2, "width": 4, "interpolation": "area"}, [], [wide[:, :, :8].copy()], [area])
case("random_crop_2", "RandomCrop", {"height": 3, "width": 3, "seed": None}, [], [wide], [grow(wide[:, :, 2:6], (3, 3))])
case("center_crop_small", "CenterCrop", {"height": 6, "width": 3}, [], [wide], [grow(wide[:, :, 3:5], (6, 3))])
pixels = rand(2, 4, 5, 3, low=10, high=200)
lo, hi = pixels.min((1, 2), keepdims=True), pixels.max((1, 2), keepdims=True)
case("auto_contrast", "AutoContrast", {"value_range": [0, 255], "data_format": "channels_last"}, [], [pixels],
     [(255 * (pixels - lo) / (hi - lo)).astype(np.float32)], "3.8.0")
image = rand(2, 7, 5, 3)
line = rand(2, 9, 3)
case("adaptive_average", "AdaptiveAveragePooling2D", {"output_size": [3, 2], "data_format": "channels_last"}, [], [image],
     [last(npy(F.adaptive_avg_pool2d(T(first(image)), (3, 2))))], "3.13.0")
case("adaptive_max", "AdaptiveMaxPooling2D", {"output_size": [4, 5], "data_format": "channels_first"}, [], [np.ascontiguousarray(first(image))],
     [npy(F.adaptive_max_pool2d(T(first(image)), (4, 5)))], "3.13.0")
case("adaptive_average_1d", "AdaptiveAveragePooling1D", {"output_size": [4], "data_format": "channels_last"}, [], [line],
     [last(npy(F.adaptive_avg_pool1d(T(first(line)), 4)))], "3.13.0")
ga = rand(3)
case("layer_norm_rms_scaling", "LayerNormalization", {"axis": [-1], "epsilon": 0.001, "center": True, "scale": True, "rms_scaling": True},
     [("gamma", ga)], [line], [line / np.sqrt(line.var(-1, keepdims=True) + np.float32(1e-3)) * ga], "3.8.0")
sound = rand(2, 40, 2)
re, im = rand(8, 1, 5), rand(8, 1, 5)


def framed(k):
    """[batch, channels, frequencies, frames]"""
    y = npy(F.conv1d(T(np.ascontiguousarray(sound.transpose(0, 2, 1).reshape(4, 1, 40))), T(np.ascontiguousarray(k.transpose(2, 1, 0))), stride=4))
    return y.reshape(2, 2, 5, -1)


a_, b_ = framed(re), framed(im)
P = a_ ** 2 + b_ ** 2
flat = lambda z: z.reshape(2, -1, z.shape[-1]).transpose(0, 2, 1)
twice = P.copy()
twice[:, :, 1:-1] *= 2
STFT = {"frame_length": 8, "frame_step": 4, "fft_length": 8, "window": "hann", "periodic": False, "scaling": "density", "padding": "valid",
        "expand_dims": False, "data_format": "channels_last"}
for mode, y in [("log", np.log(np.maximum(np.sqrt(np.maximum(flat(P), 1e-7)), 1e-7))), ("psd", flat(twice)), ("real", flat(a_)),
                ("angle", flat(np.arctan2(b_, a_))), ("stft", flat(np.concatenate([a_, b_], 2)))]:
    case("stft_" + mode, "STFTSpectrogram", dict(STFT, mode=mode), [("real_kernel", re), ("imag_kernel", im)][:1 if mode == "real" else 2],
         [sound], [y.astype(np.float32)], "3.8.0")
case("stft_image", "STFTSpectrogram", dict(STFT, mode="magnitude", expand_dims=True), [("real_kernel", re), ("imag_kernel", im)], [sound],
     [np.sqrt(np.maximum(P, 1e-7)).transpose(0, 3, 2, 1)], "3.8.0")
wave = rand(2, 200)


def mel_spectrogram(x, n_fft, hop, length, rate, bins, low, high, db=True):
    win = torch.zeros(n_fft)
    left = (n_fft - length) // 2
    win[left:left + length] = torch.hann_window(length, periodic=True)
    z = torch.stft(T(x), n_fft, hop, n_fft, win, center=True, pad_mode="reflect", return_complex=True)
    power = npy(z.abs() ** 2).transpose(0, 2, 1)
    mel = lambda f: 1127.0 * np.log(1 + f / 700.0)
    at = mel(np.linspace(0, rate / 2, n_fft // 2 + 1))[:, None]
    edges = np.linspace(mel(low), mel(high), bins + 2)
    w = np.maximum(0, np.minimum((at - edges[:-2]) / (edges[1:-1] - edges[:-2]), (edges[2:] - at) / (edges[2:] - edges[1:-1])))
    w[0] = 0
    y = power @ w
    if db:
        y = 10 * np.log10(np.maximum(y, 1e-10))
        y = np.maximum(y, y.max() - 80)
    return y.transpose(0, 2, 1).astype(np.float32)


MEL = {"fft_length": 64, "sequence_stride": 16, "sequence_length": 32, "window": "hann", "sampling_rate": 8000, "num_mel_bins": 6,
       "min_freq": 20.0, "max_freq": 4000, "top_db": 80.0, "mag_exp": 2.0, "min_power": 1e-10, "ref_power": 1.0}
case("mel", "MelSpectrogram", dict(MEL, power_to_db=True), [], [wave], [mel_spectrogram(wave, 64, 16, 32, 8000, 6, 20.0, 4000)], "3.8.0")
case("mel_power", "MelSpectrogram", dict(MEL, power_to_db=False), [], [wave],
     [mel_spectrogram(wave, 64, 16, 32, 8000, 6, 20.0, 4000, False)], "3.8.0")

# --- Attention over several axes ---------------------------------------------------------------------------------

grid = rand(2, 3, 4, 5)
ws = mha_weights(5, 2, 4, 4, 5)
G = dict(cfg, key_dim=4, value_dim=4, query_shape=[None, 3, 4, 5])
for name, axes in (("all", None), ("one", [2]), ("first", [1])):
    if axes is None:
        y = mha(grid.reshape(2, 12, 5), grid.reshape(2, 12, 5), grid.reshape(2, 12, 5), ws, 2, 4)[0].reshape(2, 3, 4, 5)
    else:
        seen = grid if axes == [2] else grid.transpose(0, 2, 1, 3)
        rows = seen.reshape(-1, seen.shape[2], 5)
        y = mha(rows, rows, rows, ws, 2, 4)[0].reshape(seen.shape)
        y = y if axes == [2] else y.transpose(0, 2, 1, 3)
    case("multi_head_axes_" + name, "MultiHeadAttention", dict(G, attention_axes=axes), list(zip(MHA, ws)), [grid, grid], [y])
# The mask of the values alone.
counts = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]], np.float32)
scores = q @ v.transpose(0, 2, 1) - 1e9 * (counts == 0)[:, None]
model = functional([input_layer("x0", (4, 3)), input_layer("x1", (5, 3)), input_layer("x2", (5,))], [
    layer("TFOpLambda", "m", {"function": "math.greater", "trainable": True, "dtype": "float32"}, [["x2", 0, 0, {"y": 0.5}]]),
    layer("Attention", "it", {"use_scale": False}, [[["x0", 0, 0, {"mask": [None, ["m", 0, 0]]}], ["x1", 0, 0, {}]]])], [["it", 0, 0]])
path = os.path.join(out, "made__attention_value_mask.h5")
write_h5(path, model, {"it": []}, "2.11.0")
save_io(path + ".io.safetensors", [q, v, counts], [(softmax(scores) @ v).astype(np.float32)])

# --- Locally connected layers as one matrix ----------------------------------------------------------------------

field = rand(2, 5, 4, 2)
L = {"filters": 3, "kernel_size": [3, 2], "strides": [2, 1], "use_bias": True, "activation": "linear"}
for name, pad, first_ in (("valid", "valid", False), ("same", "same", False), ("channels_first", "valid", True)):
    outs = (2, 3) if pad == "valid" else (3, 4)
    mask = np.zeros((5, 4, 2) + outs + (3,), np.float32)
    for r in range(outs[0]):
        for c in range(outs[1]):
            top, left_ = 2 * r - (pad == "same"), c - (pad == "same")
            mask[max(top, 0):top + 3, max(left_, 0):left_ + 2, :, r, c] = 1
    k = rand(*mask.shape)
    b = rand(*(outs + (3,)))
    y = np.einsum("bhwc,hwcrsf->brsf", field, k * mask) + b
    if not first_:
        case("locally2d_2_" + name, "LocallyConnected2D", dict(L, padding=pad, implementation=2), [("kernel", k), ("bias", b)], [field], [y])
        flat_mask = mask.reshape(40, -1).T > 0      # by [output, input]
        sparse = (k * mask).reshape(40, -1).T[flat_mask]
        case("locally2d_3_" + name, "LocallyConnected2D", dict(L, padding=pad, implementation=3), [("kernel", sparse), ("bias", b)], [field], [y])
    else:
        case("locally2d_2_" + name, "LocallyConnected2D", dict(L, padding=pad, implementation=2, data_format="channels_first"),
             [("kernel", k.transpose(2, 0, 1, 5, 3, 4).copy()), ("bias", b.transpose(2, 0, 1).copy())], [first(field).copy()], [first(y)])
small = rand(2, 3, 4, 2)
case("up_area", "UpSampling2D", {"size": [2, 2], "interpolation": "area"}, [], [small], [small.repeat(2, 1).repeat(2, 2)])

# --- Masks as Keras 3 writes them: nodes that make them, and arguments of the layers -----------------------------

words = np.array([[1, 2, 0, 3, 0], [4, 0, 0, 5, 1]], np.int32)
seen = words != 0
table = rand(6, 3)
e = table[words]
w, u, b = rand(3, 16), rand(4, 16), rand(16)
w2, u2, b2 = rand(3, 16), rand(4, 16), rand(16)
R3 = {"units": 4, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True}
ws = mha_weights(3, 2, 4, 4, 3)


def op3(class_name, name, config, args):
    return dict(layer3(class_name, name, config, args), module="keras.src.ops.numpy", registered_name=class_name)


m = lambda: tensor3("ne", 0, (5,))
at_e = tensor3("e", 0, (5, 3))
model = functional3("m", [
    dict(layer3("InputLayer", "x0", {"batch_shape": [None, 5], "dtype": "int32"})),
    op3("NotEqual", "ne", {}, [tensor3("x0", 0, (5,)), 0]),
    layer3("Embedding", "e", {"input_dim": 6, "output_dim": 3, "mask_zero": True}, [tensor3("x0", 0, (5,))]),
    layer3("LSTM", "l", R3, [at_e], {"mask": m(), "initial_state": None}),
    layer3("Bidirectional", "bi", {"merge_mode": "concat", "layer": layer3("LSTM", "inner", R3)}, [at_e], {"mask": m()}),
    layer3("GlobalAveragePooling1D", "g", {"data_format": "channels_last", "keepdims": False}, [at_e], {"mask": m()}),
    layer3("MultiHeadAttention", "a", {"num_heads": 2, "key_dim": 4, "value_dim": 4, "use_bias": True}, [at_e, at_e],
           {"query_mask": m(), "value_mask": m(), "key_mask": None})],
    [["x0", 0, 0]], [["l", 0, 0], ["bi", 0, 0], ["g", 0, 0], ["a", 0, 0]])
model["config"]["layers"][0]["config"]["dtype"] = "int32"
variables = {"layers/embedding/vars/0": table, "layers/lstm/cell/vars/0": w, "layers/lstm/cell/vars/1": u, "layers/lstm/cell/vars/2": b,
             "layers/bidirectional/forward_layer/cell/vars/0": w, "layers/bidirectional/forward_layer/cell/vars/1": u,
             "layers/bidirectional/forward_layer/cell/vars/2": b, "layers/bidirectional/backward_layer/cell/vars/0": w2,
             "layers/bidirectional/backward_layer/cell/vars/1": u2, "layers/bidirectional/backward_layer/cell/vars/2": b2}
variables.update({"layers/multi_head_attention/%s/vars/%d" % (p_, j): ws[2 * i + j] for i, p_ in enumerate(parts) for j in range(2)})
path = os.path.join(out, "made__keras3_masks.keras")
write_keras(path, model, variables)
both = (seen[:, :, None] & seen[:, None]).astype(np.float32)
counts = seen[..., None].astype(np.float32)
save_io(path + ".io.safetensors", [words], [
    lstm(e, w, u, b, mask=seen)[1],
    np.concatenate([lstm(e, w, u, b, mask=seen)[1], lstm(e, w2, u2, b2, mask=seen, back=True)[1]], -1),
    (e * counts).sum(1) / counts.sum(1), mha(e, e, e, ws, 2, 4, both[:, None])[0]])

# A nested model that is called with a dictionary, whose keys stand in another order than the inputs.
for name, of in (("list", lambda: [["p", 0, 0], ["b", 0, 0]]), ("dict", lambda: {"p": ["p", 0, 0], "b": ["b", 0, 0]})):
    inner = functional3("inner", [
        layer3("InputLayer", "p", {"batch_shape": [None, 3]}), layer3("InputLayer", "b", {"batch_shape": [None, 3]}),
        layer3("Subtract", "s", {}, [[tensor3("p", 0, (3,)), tensor3("b", 0, (3,))]]),
        layer3("Add", "t", {}, [[tensor3("p", 0, (3,)), tensor3("b", 0, (3,))]])], of(), {"z": ["s", 0, 0], "a": ["t", 0, 0]})
    model = functional3("m", [
        layer3("InputLayer", "x0", {"batch_shape": [None, 3]}), layer3("InputLayer", "x1", {"batch_shape": [None, 3]}),
        dict(inner, name="inner", inbound_nodes=[{"args": [{"p": tensor3("x0", 0, (3,)), "b": tensor3("x1", 0, (3,))}], "kwargs": {}}])],
        [["x0", 0, 0], ["x1", 0, 0]], [["inner", 1, 0], ["inner", 1, 1]])
    path = os.path.join(out, "made__keras3_nested_%s.keras" % name)
    write_keras(path, model, {})
    save_io(path + ".io.safetensors", [xa, xc], [xa + xc, xa - xc])
ga = rand(4)
chain("layer_scale", img_ := rand(2, 3, 4), (3, 4), [("LayerScale", {"init_values": 1e-6, "projection_dim": 4}), ("StochasticDepth", {"drop_path_rate": 0.1})],
      {0: [("gamma:0", ga)]}, [img_ * ga])
for name, tied in (("tied", True), ("apart", False)):
    table, other = rand(6, 4), rand(4, 6)
    model = functional3("m", [
        layer3("InputLayer", "x0", {"batch_shape": [None, 5]}),
        layer3("ReversibleEmbedding", "e", {"input_dim": 6, "output_dim": 4, "tie_weights": tied, "mask_zero": True, "reverse_dtype": "float32",
                                            "logit_soft_cap": 3.0}, [tensor3("x0", 0, (5,))])], [["x0", 0, 0]], ["e", 1, 0])
    model["config"]["layers"][0]["config"]["dtype"] = "int32"
    model["config"]["layers"][1]["inbound_nodes"].append({"args": [tensor3("e", 0, (5, 4))], "kwargs": {"reverse": True}})
    variables = {"layers/reversible_embedding/vars/0": table}
    if not tied:
        variables["layers/reversible_embedding/vars/1"] = other
    path = os.path.join(out, "made__reversible_embedding_%s.keras" % name)
    write_keras(path, model, variables, "3.12.0")
    save_io(path + ".io.safetensors", [words], [3 * np.tanh(table[words] @ (table.T if tied else other) / 3)])

# --- Layers with channels first do what those with channels last do ----------------------------------------------

K = {"strides": 2, "padding": "same", "use_bias": True, "activation": "relu"}
rows = [
    ("Conv1D", dict(K, filters=4, kernel_size=[3]), [(3, 2, 4), (4,)], (7, 2)),
    ("Conv2D", dict(K, filters=4, kernel_size=[3, 2], strides=[2, 1]), [(3, 2, 4, 4), (4,)], (6, 5, 4)),
    ("Conv2D", dict(K, filters=4, kernel_size=[3, 3], groups=2, padding="valid", strides=1, dilation_rate=2), [(3, 3, 2, 4), (4,)], (6, 7, 4)),
    ("Conv3D", dict(K, filters=3, kernel_size=[2, 2, 2]), [(2, 2, 2, 2, 3), (3,)], (4, 5, 3, 2)),
    ("DepthwiseConv2D", dict(K, kernel_size=[3, 3], depth_multiplier=2), [(3, 3, 3, 2), (6,)], (6, 5, 3)),
    ("SeparableConv2D", dict(K, filters=4, kernel_size=[3, 3], depth_multiplier=1), [(3, 3, 3, 1), (1, 1, 3, 4), (4,)], (6, 5, 3)),
    ("Conv1DTranspose", dict(K, filters=4, kernel_size=[3]), [(3, 4, 2), (4,)], (5, 2)),
    ("Conv2DTranspose", dict(K, filters=4, kernel_size=[3, 2], padding="valid"), [(3, 2, 4, 3), (4,)], (4, 5, 3)),
    ("Conv3DTranspose", dict(K, filters=3, kernel_size=[2, 3, 2]), [(2, 3, 2, 3, 2), (3,)], (3, 2, 3, 2)),
    ("MaxPooling1D", {"pool_size": 2, "strides": None, "padding": "same"}, [], (5, 3)),
    ("MaxPooling3D", {"pool_size": [2, 1, 2], "strides": [1, 1, 2], "padding": "valid"}, [], (4, 3, 5, 2)),
    ("AveragePooling1D", {"pool_size": 3, "strides": 2, "padding": "same"}, [], (6, 3)),
    ("AveragePooling2D", {"pool_size": [3, 2], "strides": None, "padding": "same"}, [], (7, 5, 3)),
    ("AveragePooling3D", {"pool_size": 2, "strides": 1, "padding": "same"}, [], (3, 4, 2, 2)),
    ("GlobalAveragePooling1D", {"keepdims": True}, [], (5, 3)),
    ("GlobalMaxPooling2D", {"keepdims": True}, [], (4, 5, 3)),
    ("GlobalAveragePooling3D", {"keepdims": True}, [], (2, 4, 3, 3)),
    ("UpSampling2D", {"size": [2, 3], "interpolation": "nearest"}, [], (3, 2, 3)),
    ("UpSampling2D", {"size": [2, 3], "interpolation": "bilinear"}, [], (3, 2, 3)),
    ("UpSampling2D", {"size": [2, 2], "interpolation": "lanczos3"}, [], (3, 4, 3)),
    ("UpSampling3D", {"size": 2}, [], (2, 3, 2, 3)),
    ("ZeroPadding2D", {"padding": [[1, 0], [2, 1]]}, [], (3, 2, 3)),
    ("ZeroPadding3D", {"padding": [[1, 0], [2, 1], [0, 3]]}, [], (3, 2, 2, 3)),
    ("Cropping2D", {"cropping": [[1, 0], [0, 2]]}, [], (4, 5, 3)),
    ("AdaptiveAveragePooling2D", {"output_size": [3, 2]}, [], (7, 5, 3)),
    ("AdaptiveMaxPooling1D", {"output_size": 3}, [], (7, 3)),
    ("Resizing", {"height": 5, "width": 3, "interpolation": "bilinear"}, [], (4, 7, 3)),
    ("CenterCrop", {"height": 3, "width": 3}, [], (4, 7, 3)),
    ("LocallyConnected1D", {"filters": 4, "kernel_size": [2], "strides": [1], "padding": "valid", "use_bias": False}, [(5, 4, 4)], (6, 2)),
    ("STFTSpectrogram", {"mode": "log", "frame_length": 8, "frame_step": 4, "padding": "same"}, [(8, 1, 5), (8, 1, 5)], (30, 2)),
]
ins_, layers_, outs_, stored, xs, ys = [], [], [], {}, [], []
for i, (class_name, config, shapes, shape) in enumerate(rows):
    n = len(shape)
    arrays = [rand(*s_) for s_ in shapes]
    ins_.append(input_layer("x%d" % i, shape))
    layers_.append(layer("Permute", "p%d" % i, {"dims": [n] + list(range(1, n))}, [[["x%d" % i, 0, 0, {}]]]))
    for side, of, source in (("first", "channels_first", "p"), ("last", "channels_last", "x")):
        it = "%s%d" % (side, i)
        layers_.append(layer(class_name, it, dict(config, data_format=of), [[["%s%d" % (source, i), 0, 0, {}]]]))
        turned = arrays
        if class_name == "LocallyConnected1D" and side == "first":      # a window has its channels first
            turned = [arrays[0].reshape(5, 2, 2, 4).transpose(0, 2, 1, 3).reshape(5, 4, 4).copy()]
        stored[it] = [("%s/w%d:0" % (it, k_), v_) for k_, v_ in enumerate(turned)]
    layers_.append(layer("Permute", "b%d" % i, {"dims": list(range(2, n + 1)) + [1]}, [[["first%d" % i, 0, 0, {}]]]))
    layers_.append(layer("Subtract", "d%d" % i, {}, [[["b%d" % i, 0, 0, {}], ["last%d" % i, 0, 0, {}]]]))
    layers_.append(layer("TFOpLambda", "m%d" % i, {"function": "math.reduce_max", "trainable": True, "dtype": "float32"},
                         [["a%d" % i, 0, 0, {"axis": list(range(1, n + 1))}]]))
    layers_.append(layer("TFOpLambda", "a%d" % i, {"function": "math.abs", "trainable": True, "dtype": "float32"}, [["d%d" % i, 0, 0, {}]]))
    outs_.append(["m%d" % i, 0, 0])
    xs.append(rand(2, *shape))
    ys.append(np.zeros(2, np.float32))
path = os.path.join(out, "made__channels_first.h5")
write_h5(path, functional(ins_, layers_, outs_), stored, "2.11.0")
save_io(path + ".io.safetensors", xs, ys)
many = np.array([[3, 8, 12], [-4, 7, 100]], np.int64)
case("integer_lookup_buckets", "IntegerLookup", {"vocabulary": [3, 7, 12], "num_oov_indices": 3, "mask_token": None, "oov_token": -1,
     "output_mode": "int"}, [], [many], [np.array([[3, 8 % 3, 5], [-4 % 3, 4, 100 % 3]], np.int64)])
print(len([f_ for f_ in os.listdir(out) if f_.endswith(".safetensors")]), "models")
