"""Makes small models in Core ML's files, a layer each, with what they compute by the comments of Core ML's schema, in
NumPy and PyTorch.

    python3 tests/conformance/coreml_models.py FOLDER

Needs PyTorch 1.13. Each case is FOLDER/NAME.mlmodel and FOLDER/NAME.mlmodel.io.safetensors.
"""
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

import coreml_files

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
rng = np.random.RandomState(7)
T = torch.from_numpy


def rand(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape).astype(np.float32)


def write(name, model, xs, ys):
    coreml_files.write(out, name, model, xs, ys)


def W(a):
    return {"floatValue": [float(v) for v in np.asarray(a).ravel()]}


def array(name, shape=None, kind="FLOAT32"):
    described = {"dataType": kind}
    if shape is not None:
        described["shape"] = shape
    return {"name": name, "type": {"multiArrayType": described}}


def case(name, kind, params, xs, ys):
    """A layer on inputs."""
    ys = ys if isinstance(ys, (list, tuple)) else [ys]
    ys = [np.asarray(y).astype(np.float32) for y in ys]
    ins, outs = ["x%d" % i for i in range(len(xs))], ["y%d" % i for i in range(len(ys))]
    layer = {"name": "it", "input": ins, "output": outs, kind: params}
    write(name, {"specificationVersion": 4,
                 "description": {"input": [array(n, x.shape) for n, x in zip(ins, xs)], "output": [array(n) for n in outs]},
                 "neuralNetwork": {"layers": [layer], "arrayInputShapeMapping": "EXACT_ARRAY_MAPPING"}}, xs, ys)


# --- Convolutions ---------------------------------------------------------------------------------------------------

def borders(top, bottom, left, right):
    return {"borderAmounts": [{"startEdgeSize": top, "endEdgeSize": bottom}, {"startEdgeSize": left, "endEdgeSize": right}]}


def same_pads(size, kernel, stride, top_left):
    pads = []
    for n, k, s in zip(size, kernel, stride):
        total = max(0, (-(-n // s) - 1) * s + k - n)
        less = total // 2
        pads += [total - less, less] if top_left else [less, total - less]
    return pads  # top, bottom, left, right


def padded(x, pads, value=0.0):
    return F.pad(T(x), (pads[2], pads[3], pads[0], pads[1]), value=value)


img = rand(2, 4, 7, 8)
for name, cfg in {
    "plain": {}, "valid_pads": {"pads": (1, 2, 0, 3)}, "groups": {"groups": 2}, "depthwise": {"groups": 4, "out": 4},
    "dilated": {"dilation": (2, 1), "pads": (2, 2, 1, 1)}, "strided": {"stride": (2, 3), "pads": (1, 1, 1, 1)},
    "same": {"same": False, "stride": (2, 2)}, "same_top_left": {"same": True, "stride": (2, 2)},
    "same_even": {"same": False, "kernel": (2, 4)}, "same_even_top_left": {"same": True, "kernel": (2, 4)},
    "same_dilated": {"same": False, "dilation": (2, 2)}, "one_by_one": {"kernel": (1, 1)},
}.items():
    g, o = cfg.get("groups", 1), cfg.get("out", 6)
    k, s, d = cfg.get("kernel", (3, 3)), cfg.get("stride", (1, 1)), cfg.get("dilation", (1, 1))
    w, b = rand(o, 4 // g, *k), rand(o)
    p = {"outputChannels": o, "kernelChannels": 4 // g, "nGroups": g, "kernelSize": k, "stride": s, "dilationFactor": d,
         "hasBias": 1, "weights": W(w), "bias": W(b)}
    if "same" in cfg:
        p["same"] = {"asymmetryMode": "TOP_LEFT_HEAVY" if cfg["same"] else "BOTTOM_RIGHT_HEAVY"}
        pads = same_pads((7, 8), [(n - 1) * e + 1 for n, e in zip(k, d)], s, cfg["same"])
    else:
        pads = cfg.get("pads", (0, 0, 0, 0))
        p["valid"] = {"paddingAmounts": borders(*pads)}
    case("conv_" + name, "convolution", p, [img], F.conv2d(padded(img, pads), T(w), T(b), stride=s, dilation=d, groups=g))
w = rand(5, 4, 3, 3)
base = {"outputChannels": 5, "kernelChannels": 4, "valid": {}}
case("conv_defaults", "convolution", dict(base, weights=W(w)), [img], F.conv2d(T(img), T(w)))
case("conv_halves", "convolution", dict(base, weights={"float16Value": w.astype(np.float16).tobytes()}), [img],
     F.conv2d(T(img), T(w.astype(np.float16).astype(np.float32))))
codes, scale, bias = rng.randint(0, 256, w.shape).astype(np.uint8), rand(5, low=0.001, high=0.01), rand(5, low=-1, high=0)
spread = (5, 1, 1, 1)
case("conv_linear_steps", "convolution", dict(base, weights={"rawValue": codes.tobytes(), "quantization": {
    "numberOfBits": 8, "linearQuantization": {"scale": scale, "bias": bias}}}), [img],
     F.conv2d(T(img), T(codes * scale.reshape(spread) + bias.reshape(spread)).float()))
nibbles, table = rng.randint(0, 16, w.shape).astype(np.uint8), rand(16)
flat = nibbles.ravel()
case("conv_palette4", "convolution", dict(base, weights={"rawValue": bytes(flat[0::2] << 4 | flat[1::2]), "quantization": {
    "numberOfBits": 4, "lookupTableQuantization": {"floatValue": table}}}), [img], F.conv2d(T(img), T(table[nibbles])))
x5 = rand(2, 2, 4, 5, 6)
case("conv_rank5", "convolution", dict(base, weights=W(w)), [x5],
     F.conv2d(T(x5.reshape(4, 4, 5, 6)), T(w)).reshape(2, 2, 5, 3, 4))
small = rand(1, 4, 3, 4)
for name, cfg in {"plain": {}, "groups": {"groups": 2}, "strided": {"stride": (2, 3)}, "pads": {"stride": (2, 2), "pads": (1, 0, 1, 2)},
                  "same": {"same": False, "stride": (2, 2)}, "same_top_left": {"same": True, "stride": (2, 2)},
                  "same_big": {"same": False, "stride": (2, 2), "kernel": (4, 5)},
                  "dilation_ignored": {"dilation": (2, 2), "stride": (2, 2)}}.items():
    g, k, s = cfg.get("groups", 1), cfg.get("kernel", (3, 3)), cfg.get("stride", (1, 1))
    w, b = rand(4, 6 // g, *k), rand(6)
    p = {"outputChannels": 6, "kernelChannels": 4, "nGroups": g, "kernelSize": k, "stride": s, "hasBias": 1,
         "isDeconvolution": 1, "weights": W(w), "bias": W(b), "dilationFactor": cfg.get("dilation", (1, 1))}
    y = F.conv_transpose2d(T(small), T(w), T(b), stride=s, groups=g)
    if "same" in cfg:
        p["same"] = {"asymmetryMode": "TOP_LEFT_HEAVY" if cfg["same"] else "BOTTOM_RIGHT_HEAVY"}
        cut = [y.shape[2] - 3 * s[0], y.shape[3] - 4 * s[1]]
        pads = [v for c in cut for v in ((c - c // 2, c // 2) if cfg["same"] else (c // 2, c - c // 2))]
    else:
        pads = cfg.get("pads", (0, 0, 0, 0))
        p["valid"] = {"paddingAmounts": borders(*pads)}
    y = y[:, :, pads[0]:y.shape[2] - pads[1], pads[2]:y.shape[3] - pads[3]]
    case("deconv_" + name, "convolution", p, [small], y)
x, w = rand(1, 2, 4, 5, 5), rand(3, 2, 2, 3, 3)
p = {"outputChannels": 3, "inputChannels": 2, "kernelDepth": 2, "kernelHeight": 3, "kernelWidth": 3, "weights": W(w)}
case("conv3d_valid", "convolution3d", dict(p, paddingType="VALID"), [x], F.conv3d(T(x), T(w)))
case("conv3d_custom", "convolution3d", dict(p, paddingType="CUSTOM", customPaddingFront=1, customPaddingTop=2, customPaddingRight=1,
                                            strideHeight=2), [x], F.conv3d(F.pad(T(x), (0, 1, 2, 0, 1, 0)), T(w), stride=(1, 2, 1)))
case("conv3d_same", "convolution3d", dict(p, paddingType="SAME"), [x], F.conv3d(F.pad(T(x), (1, 1, 1, 1, 0, 1)), T(w)))

# --- Pools ----------------------------------------------------------------------------------------------------------


def pooled(x, kind, kernel, stride, pads, exclude=False, last=None):
    """By windows, one at a time; pads: top, bottom, left, right. last: sizes of the result, windows cut off."""
    n, c, h, w = x.shape
    size = last or [(h + pads[0] + pads[1] - kernel[0]) // stride[0] + 1, (w + pads[2] + pads[3] - kernel[1]) // stride[1] + 1]
    y = np.zeros((n, c, *size), np.float32)
    for i in range(size[0]):
        for j in range(size[1]):
            top, left = i * stride[0] - pads[0], j * stride[1] - pads[2]
            part = x[:, :, max(top, 0):top + kernel[0], max(left, 0):left + kernel[1]]
            if kind == "MAX":
                y[:, :, i, j] = part.max((2, 3))
            elif kind == "L2":
                y[:, :, i, j] = np.sqrt((part ** 2).sum((2, 3)))
            else:
                high = min(top + kernel[0], h + pads[1]) - top
                wide = min(left + kernel[1], w + pads[3]) - left
                count = part.shape[2] * part.shape[3] if exclude else high * wide
                y[:, :, i, j] = part.sum((2, 3)) / count
    return y


for kind in ("MAX", "AVERAGE", "L2"):
    low = kind.lower()
    for name, kernel, stride, pads in (("valid", (2, 3), (2, 2), (0, 0, 0, 0)), ("pads", (3, 3), (2, 1), (1, 1, 1, 0))):
        case("pool_%s_%s" % (low, name), "pooling", {"type": kind, "kernelSize": kernel, "stride": stride, "valid": {
            "paddingAmounts": borders(*pads)}}, [img], pooled(img, kind, kernel, stride, pads))
    for top_left in (False, True):
        pads = same_pads((7, 8), (3, 2), (2, 1), top_left)
        case("pool_%s_same%s" % (low, "_top_left" if top_left else ""), "pooling", {"type": kind, "kernelSize": (3, 2), "stride": (2, 1), "same": {
            "asymmetryMode": "TOP_LEFT_HEAVY" if top_left else "BOTTOM_RIGHT_HEAVY"}}, [img], pooled(img, kind, (3, 2), (2, 1), pads))
    case("pool_%s_global" % low, "pooling", {"type": kind, "globalPooling": 1, "valid": {}}, [img],
         pooled(img, kind, (7, 8), (1, 1), (0, 0, 0, 0)))
pads = (1, 1, 1, 1)
case("pool_average_exclude", "pooling", {"type": "AVERAGE", "kernelSize": (3, 3), "stride": (2, 2), "avgPoolExcludePadding": 1, "valid": {
    "paddingAmounts": borders(*pads)}}, [img], pooled(img, "AVERAGE", (3, 3), (2, 2), pads, True))
pads = same_pads((7, 8), (3, 3), (2, 2), False)
case("pool_average_same_exclude", "pooling", {"type": "AVERAGE", "kernelSize": (3, 3), "stride": (2, 2), "avgPoolExcludePadding": 1, "same": {}},
     [img], pooled(img, "AVERAGE", (3, 3), (2, 2), pads, True))
for kind, exclude in (("MAX", 0), ("AVERAGE", 1)):
    for name, kernel, stride, pad in (("none", 3, 2, 0), ("one", 3, 2, 1), ("two", 2, 2, 1), ("three", 3, 3, 1)):
        sizes = []
        for n in (7, 8):
            size = -(-(n + 2 * pad - kernel) // stride) + 1
            if pad and (size - 1) * stride >= n + pad:
                size -= 1
            sizes.append(size)
        case("pool_%s_last_pixel_%s" % (kind.lower(), name), "pooling", {
            "type": kind, "kernelSize": (kernel, kernel), "stride": (stride, stride), "avgPoolExcludePadding": exclude,
            "includeLastPixel": {"paddingAmounts": (pad, pad)}}, [img],
             pooled(img, kind, (kernel, kernel), (stride, stride), (pad,) * 4, True, sizes))
case("pool_max_defaults", "pooling", {"valid": {}}, [img], pooled(img, "MAX", (3, 3), (1, 1), (0,) * 4))
x = rand(1, 2, 4, 5, 6)
p = {"kernelDepth": 2, "kernelHeight": 3, "kernelWidth": 2, "strideDepth": 2, "strideHeight": 1, "strideWidth": 2, "paddingType": "VALID"}
case("pool3d_max", "pooling3d", dict(p, type="MAX"), [x], F.max_pool3d(T(x), (2, 3, 2), (2, 1, 2)))
case("pool3d_average", "pooling3d", dict(p, type="AVERAGE"), [x], F.avg_pool3d(T(x), (2, 3, 2), (2, 1, 2)))
for exclude in (0, 1):
    case("pool3d_average_pads_%d" % exclude, "pooling3d", dict(
        p, type="AVERAGE", paddingType="CUSTOM", countExcludePadding=exclude, customPaddingTop=1, customPaddingBottom=1), [x],
        F.avg_pool3d(T(x), (2, 3, 2), (2, 1, 2), (0, 1, 0), count_include_pad=not exclude))
case("pool3d_global_max", "globalPooling3d", {"type": "MAX"}, [x], x.max((2, 3, 4), keepdims=True))
case("pool3d_global_average", "globalPooling3d", {"type": "AVERAGE"}, [x], x.mean((2, 3, 4), keepdims=True))

# --- Norms ----------------------------------------------------------------------------------------------------------

ga, be, me, va = rand(4), rand(4), rand(4), rand(4, low=0.1, high=2)
ch = (4, 1, 1)
p = {"channels": 4, "gamma": W(ga), "beta": W(be), "mean": W(me), "variance": W(va)}


def normed(x, mean, var, eps):
    return (x - mean) / np.sqrt(var + eps) * ga.reshape(ch) + be.reshape(ch)


for name, eps in (("default", 0), ("epsilon", 0.1)):
    more = {"epsilon": eps} if eps else {}
    case("batchnorm_" + name, "batchnorm", dict(p, **more), [img], normed(img, me.reshape(ch), va.reshape(ch), eps or 1e-5))
    tiny = img * np.float32(0.01)
    case("instancenorm_" + name, "batchnorm", dict(p, computeMeanVar=1, instanceNormalization=1, **more), [tiny],
         normed(tiny, tiny.mean((2, 3), keepdims=True), tiny.var((2, 3), keepdims=True), eps or 1e-5))
case("batchnorm_rank3", "batchnorm", p, [img[0]], normed(img[0], me.reshape(ch), va.reshape(ch), 1e-5))
case("batchnorm_rank5", "batchnorm", p, [x5], normed(x5, me.reshape(ch), va.reshape(ch), 1e-5))
for name, factor, params, axes in (("plain", 1, {}, (2, 3)), ("variance", 0.01, {"normalizeVariance": 1}, (2, 3)),
                                   ("across", 0.01, {"normalizeVariance": 1, "acrossChannels": 1}, (1, 2, 3)),
                                   ("across_mean", 1, {"acrossChannels": 1}, (1, 2, 3)),
                                   ("epsilon", 1, {"normalizeVariance": 1, "epsilon": 0.5}, (2, 3))):
    x = img * np.float32(factor)
    y = x - x.mean(axes, keepdims=True)
    if "normalizeVariance" in params:
        y = y / np.sqrt(x.var(axes, keepdims=True) + params.get("epsilon", 1e-6))
    case("mvn_" + name, "mvn", params, [x], y)
x = img * np.float32(1e-3)
case("l2normalize", "l2normalize", {}, [img], img / np.sqrt((img ** 2).sum((1, 2, 3), keepdims=True) + 1e-6))
case("l2normalize_small", "l2normalize", {}, [x], x / np.sqrt((x ** 2).sum((1, 2, 3), keepdims=True) + 1e-6))
case("l2normalize_epsilon", "l2normalize", {"epsilon": 2.0}, [img], img / np.sqrt((img ** 2).sum((1, 2, 3), keepdims=True) + 2))
x = rand(2, 7, 3, 4)
for size, k in ((3, 0), (5, 2.0)):
    y = np.zeros_like(x)
    for i in range(7):
        part = x[:, max(i - size // 2, 0):i + size // 2 + 1]
        y[:, i] = x[:, i] / ((k or 1) + 0.3 / size * (part ** 2).sum(1)) ** 0.75
    case("lrn_%d" % size, "lrn", {"alpha": 0.3, "beta": 0.75, "localSize": size, "k": k}, [x], y)
x, g2, b2 = rand(2, 3, 4), rand(3, 4), rand(3, 4)
case("layernorm_2", "layerNormalization", {"normalizedShape": [3, 4], "eps": 1e-3, "gamma": W(g2), "beta": W(b2)}, [x],
     F.layer_norm(T(x), (3, 4), T(g2), T(b2), 1e-3))
case("layernorm_1", "layerNormalization", {"normalizedShape": [4], "eps": 1e-5, "gamma": W(g2[0]), "beta": W(b2[0])}, [x],
     F.layer_norm(T(x), (4,), T(g2[0]), T(b2[0]), 1e-5))
case("softmax", "softmax", {}, [img], F.softmax(T(img), 1))
case("softmax_rank3", "softmax", {}, [img[0]], F.softmax(T(img[0]), 0))
case("softmax_nd", "softmaxND", {"axis": -1}, [img], F.softmax(T(img), -1))
case("softmax_nd_0", "softmaxND", {}, [img], F.softmax(T(img), 0))

# --- Functions of elements ------------------------------------------------------------------------------------------

sig = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
a4, b4 = rand(4), rand(4, low=0.5, high=2)
for name, params, y in (
        ("linear", {"alpha": 2.0, "beta": -1.0}, 2 * img - 1), ("ReLU", {}, np.maximum(img, 0)),
        ("leakyReLU", {"alpha": 0.2}, np.where(img >= 0, img, 0.2 * img)),
        ("thresholdedReLU", {"alpha": 0.5}, np.where(img >= 0.5, img, 0)),
        ("PReLU", {"alpha": W(a4)}, np.where(img >= 0, img, a4.reshape(ch) * img)),
        ("tanh", {}, np.tanh(img)), ("scaledTanh", {"alpha": 1.7, "beta": 0.6}, 1.7 * np.tanh(0.6 * img)),
        ("sigmoid", {}, sig(img)), ("sigmoidHard", {"alpha": 0.3, "beta": 0.4}, np.clip(0.3 * img + 0.4, 0, 1)),
        ("ELU", {"alpha": 0.7}, np.where(img >= 0, img, 0.7 * (np.exp(img) - 1))),
        ("softsign", {}, img / (1 + np.abs(img))), ("softplus", {}, np.log1p(np.exp(img))),
        ("parametricSoftplus", {"alpha": W(a4), "beta": W(b4)}, a4.reshape(ch) * np.log1p(np.exp(b4.reshape(ch) * img)))):
    case("activation_" + name, "activation", {name: params}, [img], y)
case("activation_PReLU_one", "activation", {"PReLU": {"alpha": W([0.3])}}, [img], np.where(img >= 0, img, 0.3 * img))
case("activation_PReLU_rank3", "activation", {"PReLU": {"alpha": W(a4)}}, [img[0]], np.where(img[0] >= 0, img[0], a4.reshape(ch) * img[0]))
case("activation_parametricSoftplus_one", "activation", {"parametricSoftplus": {"alpha": W([0.5]), "beta": W([2])}}, [img],
     0.5 * np.log1p(np.exp(2 * img)))
pos = rand(2, 3, 4, low=0.2, high=3)
s2 = 2 * pos + 0.5
for kind, y in (("SQRT", np.sqrt(s2)), ("RSQRT", 1 / np.sqrt(s2 + 0.1)), ("INVERSE", 1 / (s2 + 0.1)), ("POWER", s2 ** 1.5), ("EXP", np.exp(s2)),
                ("LOG", np.log(s2)), ("ABS", np.abs(s2)), ("THRESHOLD", np.maximum(1.5, s2))):
    case("unary_" + kind.lower(), "unary", {"type": kind, "alpha": 1.5, "epsilon": 0.1, "shift": 0.5, "scale": 2.0}, [pos], y)
case("unary_inverse_defaults", "unary", {"type": "INVERSE"}, [pos * np.float32(1e-5)], 1 / (pos * np.float32(1e-5) + 1e-6))
case("unary_rsqrt_defaults", "unary", {"type": "RSQRT"}, [pos * np.float32(1e-5)], 1 / np.sqrt(pos * np.float32(1e-5) + 1e-6))
half = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0, 1.2, -1.2, 7.7], np.float32)
unit = rand(3, 4, low=-0.9, high=0.9)
for kind, x, y in (("ceil", half, np.ceil(half)), ("floor", half, np.floor(half)), ("sign", half, np.sign(half)), ("exp2", unit, 2.0 ** unit),
                   ("sin", unit, np.sin(unit)), ("cos", unit, np.cos(unit)), ("tan", unit, np.tan(unit)), ("asin", unit, np.arcsin(unit)),
                   ("acos", unit, np.arccos(unit)), ("atan", unit, np.arctan(unit)), ("sinh", unit, np.sinh(unit)), ("cosh", unit, np.cosh(unit)),
                   ("tanh", unit, np.tanh(unit)), ("asinh", unit, np.arcsinh(unit)), ("acosh", pos + 1, np.arccosh(pos + 1)),
                   ("atanh", unit, np.arctanh(unit)), ("erf", unit, torch.erf(T(unit))), ("copy", unit, unit),
                   ("logicalNot", (half > 0).astype(np.float32), half <= 0)):
    case("element_" + kind, kind, {}, [x], y)
case("clip", "clip", {"minVal": -0.5, "maxVal": 0.25}, [unit], np.clip(unit, -0.5, 0.25))
case("clampedReLU", "clampedReLU", {"alpha": 0.3, "beta": 0.4}, [unit], np.minimum(np.where(unit >= 0, unit, 0.3 * unit), 0.4))
case("clampedReLU_down", "clampedReLU", {"alpha": -2.0, "beta": 0.4}, [unit], np.minimum(np.where(unit >= 0, unit, -2 * unit), 0.4))
case("gelu_exact", "gelu", {"mode": "EXACT"}, [img], F.gelu(T(img)))
case("gelu_tanh", "gelu", {"mode": "TANH_APPROXIMATION"}, [img], F.gelu(T(img), approximate="tanh"))
case("gelu_sigmoid", "gelu", {"mode": "SIGMOID_APPROXIMATION"}, [img], img * sig(1.702 * img))
u, v = rand(2, 3, 4), rand(3, 1, low=0.5, high=2)
for kind, x, y, want in (("add", u, v, u + v), ("subtract", u, v, u - v), ("multiply", u, v, u * v), ("divide", u, v, u / v),
                         ("floorDiv", u, v, np.floor(u / v)), ("mod", u, v, u - v * np.floor(u / v)), ("pow", pos, v, pos ** v),
                         ("max", u, v, np.maximum(u, v)), ("min", u, v, np.minimum(u, v))):
    case("broadcast_" + kind, kind + "Broadcastable", {}, [x, y], want)
case("broadcast_mod_negative", "modBroadcastable", {}, [u, -v], u - -v * np.floor(u / -v))
whole = rng.randint(-1, 2, (2, 3)).astype(np.float32)
other = rng.randint(-1, 2, (3,)).astype(np.float32)
for kind, op in (("equal", np.equal), ("notEqual", np.not_equal), ("lessThan", np.less), ("lessEqual", np.less_equal),
                 ("greaterThan", np.greater), ("greaterEqual", np.greater_equal)):
    case("compare_" + kind, kind, {}, [whole, other], op(whole, other))
    case("compare_%s_alpha" % kind, kind, {"alpha": 1.0}, [whole], op(whole, 1))
l1, l2 = (whole > 0).astype(np.float32), (other > 0).astype(np.float32)
for kind, op in (("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)):
    case("logical" + kind, "logical" + kind, {}, [l1, l2], op(l1, l2))
case("where", "whereBroadcastable", {}, [l1, whole, np.array([5], np.float32)], np.where(l1 > 0, whole, 5))
one = rand(2, 4, 1, 1)
case("add_two", "add", {}, [img, one], img + one)
case("add_alpha", "add", {"alpha": 1.5}, [img], img + 1.5)
case("multiply_three", "multiply", {}, [img, one, img], img * one * img)
case("multiply_alpha", "multiply", {"alpha": 1.5}, [img], img * 1.5)
case("average", "average", {}, [img, -img * 3, one * np.ones_like(img)], (img - 3 * img + one) / 3)
case("max_layer", "max", {}, [img, -img], np.maximum(img, -img))
case("min_layer", "min", {}, [img, -img, one * np.ones_like(img)], np.minimum(np.minimum(img, -img), one))
for name, shape in (("one", (1,)), ("channels", (4,)), ("image", (1, 7, 8)), ("whole", (4, 7, 8))):
    s, b = rand(*shape), rand(*shape)
    wide = (lambda v: v.reshape(ch) if v.shape == (4,) else v)  # noqa: E731
    case("scale_" + name, "scale", {"shapeScale": shape, "scale": W(s), "hasBias": 1, "shapeBias": shape, "bias": W(b)}, [img],
         img * wide(s) + wide(b))
    case("bias_" + name, "bias", {"shape": shape, "bias": W(b)}, [img], img + wide(b))

# --- Products, tables, reductions -----------------------------------------------------------------------------------

for shape in ((6,), (3, 6), (2, 3, 6), (3, 1, 2, 3), (2, 3, 6, 1, 1)):
    x, w, b = rand(*shape), rand(5, 6), rand(5)
    rank = len(shape)
    rows = x.reshape(shape[:rank - 3] + (6,)) if rank > 3 else x
    y = rows @ w.T + b
    case("inner_rank%d" % rank, "innerProduct", {"inputChannels": 6, "outputChannels": 5, "hasBias": 1, "weights": W(w), "bias": W(b)}, [x],
         y.reshape(y.shape + (1, 1)) if rank > 3 else y)
w, b = rand(3, 5), rand(3)
ids = np.array([4, 0, 2], np.float32)
p = {"hasBias": 1, "weights": W(w), "bias": W(b)}
rows = w[:, ids.astype(int)].T + b
case("embedding", "embedding", dict(p, inputDim=5, outputChannels=3), [ids.reshape(3, 1, 1, 1)], rows.reshape(3, 3, 1, 1))
case("embedding_rank5", "embedding", dict(p, inputDim=5, outputChannels=3), [ids.reshape(3, 1, 1, 1, 1)], rows.reshape(3, 1, 3, 1, 1))
case("embedding_nd", "embeddingND", dict(p, vocabSize=5, embeddingSize=3), [ids.reshape(1, 3, 1)], rows.reshape(1, 3, 3))
m1, m2 = rand(2, 3, 4), rand(4, 5)
case("matmul", "batchedMatmul", {}, [m1, m2], m1 @ m2)
case("matmul_transposed", "batchedMatmul", {"transposeA": 1, "transposeB": 1}, [m1.swapaxes(1, 2), m2.T], m1 @ m2)
p = {"weightMatrixFirstDimension": 4, "weightMatrixSecondDimension": 5, "hasBias": 1, "weights": W(m2.T), "bias": W(rand(5) * 0 + 0.5)}
case("matmul_weights", "batchedMatmul", p, [m1], m1 @ m2 + 0.5)
case("matmul_weights_flags_ignored", "batchedMatmul", dict(p, transposeA=1, transposeB=1), [m1], m1 @ m2 + 0.5)
case("matmul_weights_rank1", "batchedMatmul", p, [m1[0, 0]], m1[0, 0] @ m2 + 0.5)
case("matmul_vector_first", "batchedMatmul", {}, [m1[0, 0], m2], (m1[0, 0] @ m2).reshape(1, 5))
case("matmul_vector_second", "batchedMatmul", {}, [m1, m2[:, 0]], (m1 @ m2[:, :1]))
d1, d2 = rand(2, 4, 1, 1), rand(2, 4, 1, 1)
dot = (d1 * d2).sum(1, keepdims=True)
case("dot", "dot", {}, [d1, d2], dot)
case("dot_cosine", "dot", {"cosineSimilarity": 1}, [d1, d2],
     dot / np.sqrt((d1 ** 2).sum(1, keepdims=True)) / np.sqrt((d2 ** 2).sum(1, keepdims=True)))
AXES = {"CHW": (1, 2, 3), "HW": (2, 3), "C": (1,), "H": (2,), "W": (3,)}
pimg = rand(2, 3, 2, 4, low=0.3, high=1.5)
REDUCE = {"SUM": lambda v, a: v.sum(a, keepdims=True), "AVG": lambda v, a: v.mean(a, keepdims=True), "PROD": lambda v, a: v.prod(a, keepdims=True),
          "LOGSUM": lambda v, a: np.log(v + 1e-6).sum(a, keepdims=True), "SUMSQUARE": lambda v, a: (v ** 2).sum(a, keepdims=True),
          "L1": lambda v, a: np.abs(v).sum(a, keepdims=True), "L2": lambda v, a: np.sqrt((v ** 2).sum(a, keepdims=True)),
          "MAX": lambda v, a: v.max(a, keepdims=True), "MIN": lambda v, a: v.min(a, keepdims=True)}
for mode, fn in REDUCE.items():
    for axis in (AXES if mode in ("SUM", "MAX") else ("HW",)):
        x = pimg if mode == "LOGSUM" else img
        case("reduce_%s_%s" % (mode.lower(), axis), "reduce", {"mode": mode, "axis": axis}, [x], fn(x, AXES[axis]))
case("reduce_logsum_epsilon", "reduce", {"mode": "LOGSUM", "axis": "W", "epsilon": 0.5}, [pimg], np.log(pimg + 0.5).sum(3, keepdims=True))
for axis in "CHW":
    case("reduce_argmax_" + axis, "reduce", {"mode": "ARGMAX", "axis": axis}, [img], img.argmax(AXES[axis][0])[(slice(None),) * AXES[axis][0] + (None,)])
RED = {"L1": lambda v, **k: np.abs(v).sum(**k), "L2": lambda v, **k: np.sqrt((v ** 2).sum(**k)), "Max": lambda v, **k: v.max(**k),
       "Min": lambda v, **k: v.min(**k), "Sum": lambda v, **k: v.sum(**k), "Prod": lambda v, **k: v.prod(**k), "Mean": lambda v, **k: v.mean(**k),
       "LogSum": lambda v, **k: np.log(v.sum(**k)), "SumSquare": lambda v, **k: (v ** 2).sum(**k),
       "LogSumExp": lambda v, **k: np.log(np.exp(v).sum(**k))}
for mode, fn in RED.items():
    case("reduce_nd_%s" % mode, "reduce" + mode, {"axes": [0, -1], "keepDims": 1}, [pimg], fn(pimg, axis=(0, 3), keepdims=True))
    case("reduce_nd_%s_gone" % mode, "reduce" + mode, {"axes": [-2]}, [pimg], fn(pimg, axis=2))
case("reduce_nd_all", "reduceSum", {"reduceAll": 1}, [pimg], pimg.sum().reshape(1))
case("reduce_nd_all_kept", "reduceSum", {"reduceAll": 1, "keepDims": 1}, [pimg], pimg.sum().reshape(1, 1, 1, 1))
case("argmax", "argMax", {"axis": 1}, [img], img.argmax(1)[:, None])
case("argmax_gone", "argMax", {"axis": -1, "removeDim": 1}, [img], img.argmax(-1))
case("argmin", "argMin", {"axis": 1}, [img], img.argmin(1)[:, None])
case("argmin_vector", "argMin", {"axis": 0, "removeDim": 1}, [half], np.array([half.argmin()]))
order = np.argsort(-m1, 1)
case("topk", "topK", {"axis": 1, "K": 2}, [m1], [np.take_along_axis(m1, order, 1)[:, :2], order[:, :2]])
case("topk_least", "topK", {"axis": 1, "K": 2, "useBottomK": 1}, [m1], [np.take_along_axis(m1, order, 1)[:, :-3:-1], order[:, :-3:-1]])
case("argsort", "argSort", {"axis": 1}, [m1], order[:, ::-1])
case("argsort_down", "argSort", {"axis": 1, "descending": 1}, [m1], order)
case("cumsum", "cumSum", {"axis": -1}, [m1], m1.cumsum(-1))
case("cumsum_exclusive", "cumSum", {"axis": 1, "excludeFinalSum": 1}, [m1], m1.cumsum(1) - m1)
case("cumsum_reverse", "cumSum", {"axis": 1, "reverse": 1}, [m1], m1[:, ::-1].cumsum(1)[:, ::-1])
case("cumsum_both", "cumSum", {"axis": 2, "reverse": 1, "excludeFinalSum": 1}, [m1], m1[..., ::-1].cumsum(2)[..., ::-1] - m1)

# --- Shapes and orders ----------------------------------------------------------------------------------------------

x = rand(2, 4, 5, 6)
case("concat", "concat", {}, [x, x[:, :2]], np.concatenate([x, x[:, :2]], 1))
x5 = rand(3, 2, 4, 2, 2)
case("concat_sequence", "concat", {"sequenceConcat": 1}, [x5, x5[:1]], np.concatenate([x5, x5[:1]], 0))
case("concat_nd", "concatND", {"axis": -2}, [x, x[:, :, :1]], np.concatenate([x, x[:, :, :1]], 2))
case("concat_nd_interleave", "concatND", {"axis": 1, "interleave": 1}, [x, -x], np.stack([x, -x], 2).reshape(2, 8, 5, 6))
case("split", "split", {"nOutputs": 2}, [x], [x[:, :2], x[:, 2:]])
case("split_nd", "splitND", {"axis": -1, "numSplits": 3}, [x], np.split(x, 3, -1))
case("split_nd_sizes", "splitND", {"axis": 3, "numSplits": 2, "splitSizes": [1, 5]}, [x], [x[..., :1], x[..., 1:]])
case("stack", "stack", {"axis": 1}, [x, -x], np.stack([x, -x], 1))
case("stack_last", "stack", {"axis": -1}, [x, -x], np.stack([x, -x], -1))
for name, axis in (("channel", "CHANNEL_AXIS"), ("height", "HEIGHT_AXIS"), ("width", "WIDTH_AXIS")):
    at = {"channel": 1, "height": 2, "width": 3}[name]
    case("slice_" + name, "slice", {"axis": axis, "startIndex": 1, "endIndex": 4, "stride": 2}, [x], np.take(x, [1, 3], at))
case("slice_start_from_end", "slice", {"axis": "WIDTH_AXIS", "startIndex": -4, "endIndex": 5}, [x], x[..., 2:5])
case("permute", "permute", {"axis": [0, 3, 1, 2]}, [x5], x5.transpose(0, 1, 4, 2, 3))
case("permute_sequence", "permute", {"axis": [3, 1, 2, 0]}, [x5], x5.transpose(4, 1, 2, 3, 0))
case("transpose", "transpose", {"axes": [3, 1, 0, 2]}, [x], x.transpose(3, 1, 0, 2))
case("flatten", "flatten", {}, [x], x.reshape(2, 120, 1, 1))
case("flatten_last", "flatten", {"mode": "CHANNEL_LAST"}, [x], x.transpose(0, 2, 3, 1).reshape(2, 120, 1, 1))
case("flatten_to_2d", "flattenTo2D", {"axis": 2}, [x], x.reshape(8, 30))
case("flatten_to_2d_negative", "flattenTo2D", {"axis": -1}, [x], x.reshape(40, 6))
y5 = rand(2, 1, 4, 6, 2)
case("reshape_3", "reshape", {"targetShape": [8, 3, 2]}, [y5], y5.reshape(2, 1, 8, 3, 2))
case("reshape_4", "reshape", {"targetShape": [4, 4, 3, 2]}, [y5], y5.reshape(4, 1, 4, 3, 2))
case("reshape_last", "reshape", {"targetShape": [8, 3, 2], "mode": "CHANNEL_LAST"}, [y5],
     y5.transpose(0, 1, 3, 4, 2).reshape(2, 1, 3, 2, 8).transpose(0, 1, 4, 2, 3))
case("reshape_static", "reshapeStatic", {"targetShape": [8, -1]}, [x], x.reshape(8, 30))
case("reshape_like", "reshapeLike", {}, [x, rand(8, 30)], x.reshape(8, 30))
case("reshape_rank", "rankPreservingReshape", {"targetShape": [0, 2, -1, 6]}, [x], x.reshape(2, 2, 10, 6))
case("repeat", "sequenceRepeat", {"nRepetitions": 2}, [x5], np.tile(x5, (2, 1, 1, 1, 1)))
case("tile", "tile", {"reps": [1, 2, 1, 3]}, [x], np.tile(x, (1, 2, 1, 3)))
s1 = rand(1, 3, 1, 4, 1)
case("squeeze", "squeeze", {"axes": [0, -1]}, [s1], s1.reshape(3, 1, 4))
case("squeeze_all", "squeeze", {"squeezeAll": 1}, [s1], s1.reshape(3, 4))
case("expand_dims", "expandDims", {"axes": [0, -1]}, [x[0]], x[0].reshape(1, 4, 5, 6, 1))
case("expand_dims_last", "expandDims", {"axes": [-2, -1]}, [x[0, 0]], x[0, 0].reshape(5, 6, 1, 1))
case("get_shape", "getShape", {}, [x], np.array(x.shape))
case("reverse", "reverse", {"reverseDim": [0, 1, 0, 1]}, [x], x[:, ::-1, :, ::-1])
sq = rand(2, 4, 3)
case("reverse_sequence", "reverseSeq", {"batchAxis": 0, "sequenceAxis": 1}, [sq, np.array([2, 4], np.float32)],
     np.stack([np.concatenate([sq[0, 1::-1], sq[0, 2:]]), sq[1, ::-1]]))
d = rand(2, 8, 4, 6)
n, c, h, w = d.shape
case("space_to_depth", "reorganizeData", {"mode": "SPACE_TO_DEPTH", "blockSize": 2}, [d],
     d.reshape(n, c, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(n, 32, 2, 3))
case("depth_to_space", "reorganizeData", {"mode": "DEPTH_TO_SPACE", "blockSize": 2}, [d],
     d.reshape(n, 2, 2, 2, 4, 6).transpose(0, 3, 4, 1, 5, 2).reshape(n, 2, 8, 12))
case("pixel_shuffle", "reorganizeData", {"mode": "PIXEL_SHUFFLE", "blockSize": 2}, [d], F.pixel_shuffle(T(d), 2))
case("crop", "crop", {"cropAmounts": borders(1, 0, 2, 1)}, [x], x[:, :, 1:, 2:-1])
case("crop_like", "crop", {"offset": [1, 2]}, [x, x[:, :, :3, :3]], x[:, :, 1:4, 2:5])
for kind, mode in (("reflection", "reflect"), ("replication", "edge")):
    case("padding_" + kind, "padding", {kind: {}, "paddingAmounts": borders(2, 1, 0, 3)}, [x], np.pad(x, ((0, 0), (0, 0), (2, 1), (0, 3)), mode))
case("padding_constant", "padding", {"constant": {"value": 1.5}, "paddingAmounts": borders(2, 1, 0, 3)}, [x],
     np.pad(x, ((0, 0), (0, 0), (2, 1), (0, 3)), constant_values=1.5))
case("padding_rank3", "padding", {"reflection": {}, "paddingAmounts": borders(1, 0, 1, 2)}, [x[0]], np.pad(x[0], ((0, 0), (1, 0), (1, 2)), "reflect"))
case("constant_pad", "constantPad", {"value": 2.0, "padAmounts": [1, 0, 2, 3]}, [x[0, 0]], np.pad(x[0, 0], ((1, 0), (2, 3)), constant_values=2))


def sampled(v, rows, cols):
    """Linear interpolation at these places."""
    for axis, at in ((-2, rows), (-1, cols)):
        size = v.shape[axis]
        at = np.clip(np.asarray(at, np.float64), 0, size - 1)
        low = np.floor(at).astype(int)
        part = (at - low).reshape((-1, 1) if axis == -2 else (-1,))
        v = np.take(v, low, axis) * (1 - part) + np.take(v, np.minimum(low + 1, size - 1), axis) * part
    return v


case("upsample_nearest", "upsample", {"scalingFactor": [2, 3]}, [x], x.repeat(2, 2).repeat(3, 3))
case("upsample_bilinear", "upsample", {"scalingFactor": [2, 3], "mode": "BILINEAR"}, [x],
     sampled(x, np.linspace(0, 5 - 5 / 10, 10), np.linspace(0, 6 - 6 / 18, 18)))
for corners in (True, False):
    case("upsample_bilinear_%s" % ("corners" if corners else "no_corners"), "upsample", {
        "scalingFactor": [2, 3], "mode": "BILINEAR", "linearUpsampleMode": "ALIGN_CORNERS_" + str(corners).upper()}, [x],
        F.interpolate(T(x), scale_factor=(2, 3), mode="bilinear", align_corners=corners))
GRIDS = {"STRICT_ALIGN_ENDPOINTS_MODE": lambda n, m: np.linspace(0, n - 1, m), "ALIGN_ENDPOINTS_MODE": lambda n, m: np.linspace(0, n - 1, m),
         "UPSAMPLE_MODE": lambda n, m: np.linspace(0, n - n / m, m),
         "ROI_ALIGN_MODE": lambda n, m: (np.arange(m) + 0.5) * max(1, n - 1) / m}
for mode, grid in GRIDS.items():
    for name, size in (("up", (9, 7)), ("down", (3, 4))):
        case("resize_%s_%s" % (mode.lower(), name), "resizeBilinear", {"targetSize": size, "mode": {"samplingMethod": mode}}, [x],
             sampled(x, grid(5, size[0]), grid(6, size[1])))

# --- Places ---------------------------------------------------------------------------------------------------------

f32 = lambda v: np.array(v, np.float32)  # noqa: E731
case("gather", "gather", {"axis": 1}, [x, f32([3, -1, 0])], np.take(x, [3, 3, 0], 1))
case("gather_rank2", "gather", {"axis": -1}, [x, f32([[3, -1], [0, 2]])], np.take(x, [[3, 5], [0, 2]], -1))
g = rng.randint(-3, 3, (2, 2, 3))
t3 = rand(2, 3, 3)
case("gather_along", "gatherAlongAxis", {"axis": 1}, [t3, f32(g)], np.take_along_axis(t3, g % 3, 1))
case("gather_nd", "gatherND", {}, [t3, f32([[0, 2], [1, 0]])], t3[[0, 1], [2, 0]])
case("gather_nd_negative", "gatherND", {}, [t3, f32([[0, -1], [-1, 0]])], t3[[0, 1], [2, 0]])
COMBINE = {"UPDATE": lambda o, v: v, "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": np.divide, "MAX": np.maximum, "MIN": np.minimum}
up = rand(2, 2, 3, low=0.5, high=2)
for mode, fn in COMBINE.items():
    y = t3.copy()
    y[:, [2, 0]] = fn(t3[:, [2, 0]], up)
    case("scatter_" + mode.lower(), "scatter", {"axis": 1, "mode": "SCATTER_" + mode}, [t3, f32([-1, 0]), up], y)
    y = t3.copy()
    at = np.array([[[0, 1, 2], [1, 2, 0]]] * 2)
    np.put_along_axis(y, at, fn(np.take_along_axis(t3, at, 1), up), 1)
    case("scatter_along_" + mode.lower(), "scatterAlongAxis", {"axis": 1, "mode": "SCATTER_" + mode}, [t3, f32(at), up], y)
    y = t3.copy()
    y[[0, 1], [2, 0]] = fn(t3[[0, 1], [2, 0]], up[0])
    case("scatter_nd_" + mode.lower(), "scatterND", {"mode": "SCATTER_" + mode}, [t3, f32([[0, 2], [1, 0]]), up[0]], y)
case("slice_static", "sliceStatic", {"beginIds": [0, 1, -4, 5], "beginMasks": [1, 0, 0, 0], "endIds": [0, -1, 4, 0], "endMasks": [1, 0, 0, 1],
                                     "strides": [1, 1, 2, -2]}, [x], x[:, 1:-1, -4:4:2, 5::-2])
case("slice_static_squeeze", "sliceStatic", {"beginIds": [0, 1, 0, -2], "beginMasks": [0, 0, 1, 0], "endIds": [1, 3, 0, 6], "endMasks": [0, 0, 1, 0],
                                             "strides": [1, 1, 1, 1], "squeezeMasks": [1, 0, 0, 0]}, [x], x[0, 1:3, :, -2:6])
case("slice_dynamic", "sliceDynamic", {"beginMasks": [0] * 3, "endMasks": [0, 0, 1], "strides": [1, 2, 1]},
     [t3, f32([0, 0, 1]), f32([1, 3, 0])], t3[0:1, 0:3:2, 1:])
case("slice_by_size", "sliceBySize", {"axis": 2, "size": 2}, [x, f32([1])], x[:, :, 1:3])
case("sliding_windows", "slidingWindows", {"axis": 1, "windowSize": 3, "step": 2}, [d[:, :7]], np.stack([d[:, i:i + 3] for i in (0, 2, 4)], 1))
nz = f32([[0, 1, 0], [2, 0, -3]])
case("where_non_zero", "whereNonZero", {}, [nz], np.argwhere(nz))
case("one_hot", "oneHot", {"oneHotVectorSize": 4, "axis": -1, "onValue": 2.0, "offValue": -1.0}, [f32([0, 3, 1])], np.where(np.eye(4)[[0, 3, 1]] > 0, 2, -1))
case("one_hot_first", "oneHot", {"oneHotVectorSize": 4, "axis": 0, "onValue": 1.0}, [f32([0, 3, 1])], np.eye(4)[[0, 3, 1]].T)
sqr = rand(2, 4, 5)
i, j = np.mgrid[:4, :5]
case("band_part", "matrixBandPart", {"numLower": 1, "numUpper": 2}, [sqr], sqr * ((i - j <= 1) & (j - i <= 2)))
case("band_part_all_up", "matrixBandPart", {"numLower": 0, "numUpper": -1}, [sqr], sqr * (i <= j))
for k in (-1, 0, 2):
    case("lower_%d" % (k + 1), "lowerTriangular", {"k": k}, [sqr], np.tril(sqr, k))
    case("upper_%d" % (k + 1), "upperTriangular", {"k": k}, [sqr], np.triu(sqr, k))
case("fill_like", "fillLike", {"value": 2.5}, [sqr], np.full_like(sqr, 2.5))
case("fill_dynamic", "fillDynamic", {"value": 2.5}, [f32([2, 3])], np.full((2, 3), 2.5))
case("broadcast_like", "broadcastToLike", {}, [sqr[0], sqr], np.broadcast_to(sqr[0], sqr.shape))
case("broadcast_static", "broadcastToStatic", {"targetShape": [3, 4, 5]}, [sqr[0]], np.broadcast_to(sqr[0], (3, 4, 5)))
case("range_end", "rangeDynamic", {"startValue": 1.0, "stepSizeValue": 2.0}, [f32([8])], np.arange(1, 8, 2))
case("range_all", "rangeDynamic", {}, [f32([0]), f32([5]), f32([-1])], np.arange(5, 0, -1))

# --- Recurrent layers: [length, batch, features, 1, 1] --------------------------------------------------------------

ACTS = {"sigmoid": sig, "tanh": np.tanh, "ReLU": lambda v: np.maximum(v, 0)}


def as5(a):
    return np.asarray(a, np.float32).reshape(a.shape + (1, 1))


def lstm(x, p, acts, h, c, peep=False, coupled=False, forget=0.0, clip=50.0):
    f, g, hh = (ACTS[a] for a in acts)
    ys = []
    for v in x:
        pre = {k: v @ p[k][0].T + h @ p[k][1].T + p[k][2] for k in p}
        i = f(pre["inputGate"] + (p["inputGate"][3] * c if peep else 0))
        fg = f(pre["forgetGate"] + forget + (p["forgetGate"][3] * c if peep else 0))
        c = np.clip(c * (1 - i if coupled else fg) + i * g(pre["blockInput"]), -clip, clip)
        o = f(pre["outputGate"] + (p["outputGate"][3] * c if peep else 0))
        h = hh(c) * o
        ys.append(h)
    return np.stack(ys), h, c


def lstm_weights():
    return {k: (rand(4, 3), rand(4, 4, low=-1, high=1), rand(4), rand(4)) for k in ("inputGate", "forgetGate", "blockInput", "outputGate")}


def lstm_message(p, peep):
    m = {}
    for k, (wi, wr, b, pe) in p.items():
        m.update({k + "WeightMatrix": W(wi), k + "RecursionMatrix": W(wr), k + "BiasVector": W(b)})
        if peep and k != "blockInput":
            m[k + "PeepholeVector"] = W(pe)
    return m


xr = rand(5, 2, 3)
z, h0, c0 = np.zeros((2, 4), np.float32), rand(2, 4, low=-1), rand(2, 4, low=-1)
sizes = {"inputVectorSize": 3, "outputVectorSize": 4}
for name, acts, flags, states in (("plain", ("sigmoid", "tanh", "tanh"), {}, False), ("forget_bias", ("sigmoid", "tanh", "tanh"), {"forgetBias": 1}, False),
                                  ("peepholes", ("sigmoid", "tanh", "tanh"), {"hasPeepholeVectors": 1}, True),
                                  ("coupled", ("sigmoid", "tanh", "tanh"), {"coupledInputAndForgetGate": 1}, True),
                                  ("activations", ("sigmoid", "tanh", "ReLU"), {}, True), ("activations_other", ("sigmoid", "sigmoid", "tanh"), {}, True)):
    p = lstm_weights()
    peep = "hasPeepholeVectors" in flags
    y, h, c = lstm(xr, p, acts, h0 if states else z, c0 if states else z, peep, "coupledInputAndForgetGate" in flags, flags.get("forgetBias", 0))
    message = dict(sizes, activations=[{a: {}} for a in acts], params=dict(flags, hasBiasVectors=1, sequenceOutput=1), weightParams=lstm_message(p, peep))
    case("lstm_" + name, "uniDirectionalLSTM", message, [as5(xr)] + ([as5(h0[None]), as5(c0[None])] if states else []),
         [as5(y), as5(h[None]), as5(c[None])] if states else as5(y))
    message["params"] = dict(message["params"], sequenceOutput=0)
    if name == "plain":
        case("lstm_last", "uniDirectionalLSTM", message, [as5(xr)], as5(h[None]))
        y, h, c = lstm(xr[::-1], p, acts, z, z)
        case("lstm_reverse_last", "uniDirectionalLSTM", dict(message, reverseInput=1), [as5(xr)], as5(h[None]))
acts = ("sigmoid", "tanh", "tanh")
p, q = lstm_weights(), lstm_weights()
h1, c1 = rand(2, 4, low=-1), rand(2, 4, low=-1)
message = dict(sizes, activationsForwardLSTM=[{a: {}} for a in acts], activationsBackwardLSTM=[{a: {}} for a in acts],
               params={"hasBiasVectors": 1, "sequenceOutput": 1}, weightParams=[lstm_message(p, False), lstm_message(q, False)])
y, h, c = lstm(xr, p, acts, h0, c0)
yb, hb, cb = lstm(xr[::-1], q, acts, h1, c1)
case("bilstm_states", "biDirectionalLSTM", message, [as5(xr)] + [as5(v[None]) for v in (h0, c0, h1, c1)],
     [as5(np.concatenate([y, yb[::-1]], -1))] + [as5(v[None]) for v in (h, c, hb, cb)])
message["params"] = {"hasBiasVectors": 1}
y, h, c = lstm(xr, p, acts, z, z)
yb, hb, cb = lstm(xr[::-1], q, acts, z, z)
case("bilstm_last", "biDirectionalLSTM", message, [as5(xr)], as5(np.concatenate([h, hb], -1)[None]))
gates = {k: (rand(4, 3), rand(4, 4, low=-1, high=1), rand(4)) for k in ("updateGate", "resetGate", "outputGate")}
message = dict(sizes, activations=[{"sigmoid": {}}, {"tanh": {}}], hasBiasVectors=1, sequenceOutput=1)
for k, (wi, wr, b) in gates.items():
    message.update({k + "WeightMatrix": W(wi), k + "RecursionMatrix": W(wr), k + "BiasVector": W(b)})


def gru(x, h):
    ys = []
    for v in x:
        zt, rt = (sig(v @ gates[k][0].T + h @ gates[k][1].T + gates[k][2]) for k in ("updateGate", "resetGate"))
        wo, ro, bo = gates["outputGate"]
        o = np.tanh(v @ wo.T + (h * rt) @ ro.T + bo)
        h = (1 - zt) * o + zt * h
        ys.append(h)
    return np.stack(ys), h


y, h = gru(xr, z)
case("gru", "gru", message, [as5(xr)], as5(y))
y, h = gru(xr, h0)
case("gru_state", "gru", message, [as5(xr), as5(h0[None])], [as5(y), as5(h[None])])
y, h = gru(xr[::-1], z)
case("gru_reverse_last", "gru", dict(message, sequenceOutput=0, reverseInput=1), [as5(xr)], as5(h[None]))
wi, wr, b = rand(4, 3), rand(4, 4, low=-0.5, high=0.5), rand(4)
for act in ACTS:
    h, ys = h0, []
    for v in xr:
        h = ACTS[act](v @ wi.T + h @ wr.T + b)
        ys.append(h)
    case("rnn_" + act.lower(), "simpleRecurrent", dict(sizes, activation={act: {}}, sequenceOutput=1, hasBiasVector=1, weightMatrix=W(wi), recursionMatrix=W(wr),
                                                      biasVector=W(b)), [as5(xr), as5(h0[None])], [as5(np.stack(ys)), as5(h[None])])

# --- Classic models -------------------------------------------------------------------------------------------------


DOUBLE, DICT = {"doubleType": {}}, {"dictionaryType": {"int64KeyType": {}}}


def classic(name, kind, params, x, y, scores=None, size=None):
    """Of a vector; a classifier has labels that are numbers, and scores."""
    d = {"input": [array("x", x.shape, "DOUBLE")]}
    if scores is None:
        d["output"] = [{"name": "y", "type": DOUBLE} if size is None else array("y", [size], "DOUBLE")]
        if size is None:
            d["predictedFeatureName"] = "y"
        ys = [np.asarray(y, np.float32)]
    else:
        d.update(output=[{"name": "label", "type": {"int64Type": {}}}, {"name": "p", "type": DICT}], predictedFeatureName="label",
                 predictedProbabilitiesName="p")
        ys = [np.array([y], np.int64), np.asarray(scores, np.float32)]
    write("model_" + name, {"specificationVersion": 1, "description": d, kind: params}, [x], ys)


v = f32([1.5, -2.0, 0.5])
labels = {"int64ClassLabels": {"vector": [7, 5, 9]}}
two = {"int64ClassLabels": {"vector": [7, 5]}}
wm, off = rand(3, 3).astype(np.float64), [0.5, -0.25, 0.125]
score = wm @ v + off
rows = [{"value": list(r)} for r in wm]
from math import erf  # noqa: E402
probit = lambda t: 0.5 * (1 + erf(t / 2 ** 0.5))  # noqa: E731
for name, fn in (("NoTransform", lambda t: t), ("Logit", sig), ("Probit", probit)):
    classic("glm_regressor_" + name, "glmRegressor", {"weights": rows[:1], "offset": off[:1], "postEvaluationTransform": name}, v, [fn(score[0])])
for name, fn in (("Logit", sig), ("Probit", probit)):
    p1 = fn(score[0])
    classic("glm_classifier_" + name, "glmClassifier", dict(two, weights=rows[:1], offset=off[:1], postEvaluationTransform=name), v,
            5 if p1 > 0.5 else 7, [1 - p1, p1])
e = np.exp(np.concatenate([[0], score[:2]]))
classic("glm_classifier_reference", "glmClassifier", dict(labels, weights=rows[:2], offset=off[:2]), v, [7, 5, 9][int(e.argmax())], e / e.sum())
s = sig(score)
classic("glm_classifier_rest", "glmClassifier", dict(labels, weights=rows, offset=off, classEncoding="OneVsRest"), v, [7, 5, 9][int(s.argmax())], s / s.sum())
BRANCH = {"LessThanEqual": np.less_equal, "LessThan": np.less, "GreaterThanEqual": np.greater_equal, "GreaterThan": np.greater,
          "Equal": np.equal, "NotEqual": np.not_equal}


def leaf(tree, node, *votes):
    return {"treeId": tree, "nodeId": node, "nodeBehavior": "LeafNode",
            "evaluationInfo": [{"evaluationIndex": k, "evaluationValue": t} for k, t in votes]}


def branch(tree, node, kind, feature, value, yes, no):
    return {"treeId": tree, "nodeId": node, "nodeBehavior": "BranchOnValue" + kind, "branchFeatureIndex": feature, "branchFeatureValue": value,
            "trueChildNodeId": yes, "falseChildNodeId": no}


for kind, op in BRANCH.items():
    nodes = [branch(0, 0, kind, 1, -2.0, 1, 2), leaf(0, 1, (0, 0.75)), branch(0, 2, kind, 0, 1.0, 3, 4), leaf(0, 3, (0, 2.0)), leaf(0, 4, (0, 3.0)),
             branch(1, 0, kind, 2, 0.25, 1, 2), leaf(1, 1, (0, 10.0)), leaf(1, 2, (0, 20.0))]
    want = 0.5 + (0.75 if op(v[1], -2) else 2 if op(v[0], 1) else 3) + (10 if op(v[2], 0.25) else 20)
    ensemble = {"nodes": nodes, "numPredictionDimensions": 1, "basePredictionValue": [0.5]}
    classic("tree_regressor_" + kind, "treeEnsembleRegressor", {"treeEnsemble": ensemble}, v, [want])
nodes = [branch(0, 0, "LessThan", 0, 1.0, 1, 2), leaf(0, 1, (0, 1.0)), leaf(0, 2, (0, -0.5), (1, 0.25), (2, 0.75)),
         branch(1, 0, "GreaterThan", 1, -3.0, 1, 2), leaf(1, 1, (1, 0.5)), leaf(1, 2, (2, 5.0))]
votes = np.array([-0.5 + 0.1, 0.25 + 0.5 + 0.2, 0.75 + 0.3])
ensemble = {"nodes": nodes, "numPredictionDimensions": 3, "basePredictionValue": [0.1, 0.2, 0.3]}
soft = np.exp(votes) / np.exp(votes).sum()
classic("tree_classifier_none", "treeEnsembleClassifier", dict(labels, treeEnsemble=ensemble), v, 9, votes)
classic("tree_classifier_softmax", "treeEnsembleClassifier", dict(labels, treeEnsemble=ensemble, postEvaluationTransform="Classification_SoftMax"), v, 9, soft)
nodes = [branch(0, 0, "LessThan", 0, 1.0, 1, 2), leaf(0, 1, (0, 1.0)), leaf(0, 2, (0, -0.5))]
ensemble = {"nodes": nodes, "numPredictionDimensions": 1, "basePredictionValue": [0.25]}
p1 = sig(-0.25)
for how in ("Regression_Logistic", "Classification_SoftMaxWithZeroClassReference"):
    classic("tree_classifier_" + how, "treeEnsembleClassifier", dict(two, treeEnsemble=ensemble, postEvaluationTransform=how), v, 7, [1 - p1, p1])
nodes = [branch(0, 0, "LessThan", 0, 1.0, 1, 2), leaf(0, 1, (0, 1.0)), leaf(0, 2, (0, -0.5), (1, 0.75))]
votes = np.exp([0, -0.25, 1.0])
classic("tree_classifier_zero_of_three", "treeEnsembleClassifier", dict(
    labels, treeEnsemble={"nodes": nodes, "numPredictionDimensions": 2, "basePredictionValue": [0.25, 0.25]},
    postEvaluationTransform="Classification_SoftMaxWithZeroClassReference"), v, 9, votes / votes.sum())
sv, alpha, rho = rand(4, 3).astype(np.float64), [0.5, -0.75, 1.0, -0.25], 0.3
KERNELS = {"linear": ({"linearKernel": {}}, lambda a, b: a @ b), "rbf": ({"rbfKernel": {"gamma": 0.5}}, lambda a, b: np.exp(-0.5 * ((a - b) ** 2).sum())),
           "poly": ({"polyKernel": {"gamma": 0.5, "c": 1.0, "degree": 3}}, lambda a, b: (0.5 * (a @ b) + 1) ** 3),
           "sigmoid": ({"sigmoidKernel": {"gamma": 0.5, "c": -0.25}}, lambda a, b: np.tanh(0.5 * (a @ b) - 0.25))}
for name, (kernel, fn) in KERNELS.items():
    dense = {"vectors": [{"values": list(r)} for r in sv]}
    want = sum(t * fn(r, v.astype(np.float64)) for t, r in zip(alpha, sv)) - rho
    classic("svr_" + name, "supportVectorRegressor", {"kernel": kernel, "denseSupportVectors": dense, "coefficients": {"alpha": alpha}, "rho": rho}, v, [want])
sparse = {"vectors": [{"nodes": [{"index": 1, "value": 2.0}, {"index": 3, "value": 1.0}]}, {"nodes": [{"index": 2, "value": -1.0}]}]}
classic("svr_sparse", "supportVectorRegressor", {"kernel": {"linearKernel": {}}, "sparseSupportVectors": sparse, "coefficients": {"alpha": [0.5, 2.0]}, "rho": rho}, v,
        [0.5 * (2 * v[0] + v[2]) + 2 * -v[1] - rho])
shift, scale = [1.0, 2.0, 3.0], [2.0, 0.5, -1.0]
classic("scaler", "scaler", {"shiftValue": shift, "scaleValue": scale}, v, (v + shift) * scale, size=3)
classic("scaler_one", "scaler", {"shiftValue": [1.0], "scaleValue": [2.0]}, v, (v + 1) * 2, size=3)
classic("normalizer_l1", "normalizer", {"normType": "L1"}, v, v / np.abs(v).sum(), size=3)
classic("normalizer_l2", "normalizer", {"normType": "L2"}, v, v / np.sqrt((v ** 2).sum()), size=3)
classic("imputer", "imputer", {"imputedDoubleArray": {"vector": [10.0, 20.0, 30.0]}, "replaceDoubleValue": -2.0}, v, [1.5, 20, 0.5], size=3)
classic("imputer_nan", "imputer", {"imputedDoubleArray": {"vector": [10.0, 20.0, 30.0]}, "replaceDoubleValue": float("nan")}, f32([1, np.nan, 2]), [1, 20, 2], size=3)
classic("extractor", "arrayFeatureExtractor", {"extractIndex": [2, 0]}, v, v[[2, 0]], size=2)
one = {"input": [{"name": "x", "type": {"int64Type": {}}}], "output": [array("y", [3], "DOUBLE")]}
for value, y in ((5, [0, 1, 0]), (9, [0, 0, 1])):
    write("model_one_hot_%d" % value, {"specificationVersion": 1, "description": one, "oneHotEncoder": {"int64Categories": {"vector": [7, 5, 9]}}},
          [np.array([value], np.int64)], [f32(y)])


def svm_classes(x, kernel, counts, vectors, coefs, rhos, pa, pb):
    """LIBSVM's probabilities: each pair's, then those of all classes that agree best with them; how many pairs each class wins."""
    starts, n = np.cumsum([0] + counts), len(counts)
    k = np.array([kernel(r, x) for r in vectors])
    pair, at = np.zeros((n, n)), 0
    for a in range(n):
        for b in range(a + 1, n):
            mine, theirs = slice(starts[a], starts[a + 1]), slice(starts[b], starts[b + 1])
            value = coefs[b - 1][mine] @ k[mine] + coefs[a][theirs] @ k[theirs] - rhos[at]
            pair[a, b] = np.clip(1 / (1 + np.exp(value * pa[at] + pb[at])), 1e-7, 1 - 1e-7)
            pair[b, a] = 1 - pair[a, b]
            at += 1
    q = -pair.T * pair
    for a in range(n):
        q[a, a] = sum(pair[b, a] ** 2 for b in range(n) if b != a)
    p = np.full(n, 1 / n)
    for _ in range(max(100, n)):  # until it is near enough: LIBSVM's measure of that is a coarse one
        if np.abs(q @ p - p @ q @ p).max() < 0.005 / n:
            break
        for t in range(n):
            p[t] += (p @ q @ p - q[t] @ p) / q[t, t]
            p /= p.sum()
    votes = np.array([(pair[a] > 0.5).sum() for a in range(n)])
    return p, votes


for name, counts, names in (("two", [2, 2], two), ("three", [1, 2, 2], labels)):
    n, total = len(counts), sum(counts)
    pairs = n * (n - 1) // 2
    for kind in ("linear", "rbf"):
        kernel, fn = KERNELS[kind]
        best = ()
        while len(best) != 1:  # whether the label is the class with the most votes or the likeliest is not said
            vectors, coefs, rhos = rand(total, 3).astype(np.float64), rand(n - 1, total).astype(np.float64), rand(pairs).astype(np.float64)
            pa, pb = rand(pairs, low=-2, high=-0.5).astype(np.float64), np.zeros(pairs)
            probs, won = svm_classes(v.astype(np.float64), fn, counts, vectors, coefs, rhos, pa, pb)
            best = {int(probs.argmax())} | set(np.flatnonzero(won == won.max()))
        classic("svc_%s_%s" % (name, kind), "supportVectorClassifier", dict(
            names, kernel=kernel, numberOfSupportVectorsPerClass=counts, denseSupportVectors={"vectors": [{"values": list(r)} for r in vectors]},
            coefficients=[{"alpha": list(r)} for r in coefs], rho=list(rhos), probA=list(pa), probB=list(pb)), v,
            [7, 5, 9][int(probs.argmax())], probs)
nodes = [dict(branch(0, 0, "LessThan", 0, 1.0, 1, 2), missingValueTracksTrueChild=1), leaf(0, 1, (0, 1.0)), leaf(0, 2, (0, -0.5))]
classic("tree_regressor_missing", "treeEnsembleRegressor", {"treeEnsemble": {"nodes": nodes, "numPredictionDimensions": 1, "basePredictionValue": [0.0]}},
        f32([np.nan, 0, 0]), [1.0])
nodes[0] = dict(nodes[0], missingValueTracksTrueChild=0)
classic("tree_regressor_missing_false", "treeEnsembleRegressor", {"treeEnsemble": {"nodes": nodes, "numPredictionDimensions": 1, "basePredictionValue": [0.0]}},
        f32([np.nan, 0, 0]), [-0.5])
write("model_feature_vector", {"specificationVersion": 1, "description": {
    "input": [array("a", [2], "DOUBLE"), {"name": "b", "type": DOUBLE}], "output": [array("y", [3], "DOUBLE")]},
    "featureVectorizer": {"inputList": [{"inputColumn": "b", "inputDimensions": 1}, {"inputColumn": "a", "inputDimensions": 2}]}},
    [v[:2], f32([9])], [f32([9, v[0], v[1]])])

# --- Several layers, older networks ---------------------------------------------------------------------------------


def network(name, layers, inputs, xs, ys, version=4, outs=("y",), kind="neuralNetwork", more=None, describe=None):
    net = {"layers": [dict({"name": "l%d" % k, "input": list(i), "output": list(o)}, **p) for k, (i, o, p) in enumerate(layers)]}
    if version >= 4:
        net["arrayInputShapeMapping"] = "EXACT_ARRAY_MAPPING"
    net.update(more or {})
    d = {"input": inputs, "output": [array(o) for o in outs]}
    write("net_" + name, {"specificationVersion": version, "description": describe or d, kind: net}, xs,
          [np.asarray(y).astype(np.float32) for y in ys])


c3, c2 = rand(2, 3, 4), rand(2, 3)
network("load_constant_nd", [((), ("c",), {"loadConstantND": {"shape": [3, 4], "data": W(c3[0])}}), (("x", "c"), ("y",), {"addBroadcastable": {}})],
        [array("x", [2, 3, 4])], [c3], [c3 + c3[0]])
network("load_constant", [((), ("c",), {"loadConstant": {"shape": [2, 3, 4], "data": W(c3)}}), (("x", "c"), ("y",), {"multiply": {}})],
        [array("x", [1, 1, 2, 3, 4])], [c3[None, None]], [(c3 * c3)[None, None]])
network("range_static", [((), ("r",), {"rangeStatic": {"startValue": 1.0, "endValue": 7.0, "stepSizeValue": 2.0}}), (("x", "r"), ("y",), {"addBroadcastable": {}})],
        [array("x", [2, 3])], [c2], [c2 + f32([1, 3, 5])])
network("fill_static", [((), ("r",), {"fillStatic": {"value": 3.0, "targetShape": [2, 3]}}), (("x", "r"), ("y",), {"addBroadcastable": {}})],
        [array("x", [2, 3])], [c2], [c2 + 3])
network("reshape_dynamic", [(("x",), ("s",), {"getShape": {}}), (("x",), ("f",), {"flattenTo2D": {"axis": 1}}),
                            (("f", "s"), ("y",), {"reshapeDynamic": {}})], [array("x", [2, 3, 4])], [c3], [c3])
network("broadcast_dynamic", [(("x",), ("s",), {"getShape": {}}), (("b", "s"), ("y",), {"broadcastToDynamic": {}})],
        [array("x", [2, 3]), array("b", [3])], [c2, c2[0]], [np.broadcast_to(c2[0], (2, 3))])
i3 = rand(4, 6, 6)
w, b, wl = rand(2, 4, 3, 3), rand(2), rand(3, 32)
deep = F.conv2d(T(i3)[None], T(w), T(b)).numpy().reshape(32) @ wl.T
network("rank5_mapping", [(("x",), ("a",), {"convolution": {"outputChannels": 2, "kernelChannels": 4, "valid": {}, "hasBias": 1, "weights": W(w), "bias": W(b)}}),
                          (("a",), ("b",), {"flatten": {}}), (("b",), ("c",), {"innerProduct": {"inputChannels": 32, "outputChannels": 3, "weights": W(wl)}}),
                          (("c",), ("y",), {"softmax": {}})], [array("x", [4, 6, 6])], [i3],
        [(np.exp(deep) / np.exp(deep).sum()).reshape(1, 1, 3, 1, 1)], version=1)
vec = rand(6)
network("rank5_mapping_vector", [(("x",), ("y",), {"innerProduct": {"inputChannels": 6, "outputChannels": 3, "weights": W(wl[:, :6])}})], [array("x", [6])],
        [vec], [(wl[:, :6] @ vec).reshape(1, 1, 3, 1, 1)], version=1)
bgr = rng.randint(0, 256, (1, 3, 4, 5)).astype(np.float32)
for order in ("RGB", "BGR"):
    described = {"name": "x", "type": {"imageType": {"width": 5, "height": 4, "colorSpace": order}}}
    add = f32([-1, -2, -3]).reshape(3, 1, 1)  # red, green, blue
    want = bgr * f32(1 / 127) + (add if order == "RGB" else add[::-1])
    network("image_" + order.lower(), [(("x",), ("y",), {"activation": {"ReLU": {}}})], [described], [bgr], [np.maximum(want, 0)], more={
        "imageInputShapeMapping": "RANK4_IMAGE_MAPPING", "preprocessing": [{"featureName": "x", "scaler": {
            "channelScale": 1 / 127, "redBias": -1.0, "greenBias": -2.0, "blueBias": -3.0}}]})
mean = rng.randint(0, 100, (3, 4, 5)).astype(np.float32)
network("image_mean", [(("x",), ("y",), {"activation": {"linear": {"alpha": 2.0}}})], [described], [bgr], [2 * (bgr - mean)], more={
    "imageInputShapeMapping": "RANK4_IMAGE_MAPPING", "preprocessing": [{"featureName": "x", "meanImage": {"meanImage": list(mean.ravel())}}]})
for t in (0.0, 1.0):
    network("branch_%d" % t, [(("c",), ("unused",), {"branch": {
        "ifBranch": {"layers": [{"name": "p", "input": ["x"], "output": ["z"], "multiply": {"alpha": 2.0}}]},
        "elseBranch": {"layers": [{"name": "q", "input": ["x"], "output": ["z"], "add": {"alpha": 5.0}}]}}}),
        (("z",), ("y",), {"activation": {"linear": {"alpha": -1.0}}})], [array("c", [1]), array("x", [2, 3])], [f32([t]), c2], [-(c2 * 2 if t else c2 + 5)])
network("lstm_halves", [(("x",), ("y",), {"uniDirectionalLSTM": dict(
    sizes, activations=[{a: {}} for a in acts], params={"sequenceOutput": 1}, weightParams={
        k: {"float16Value": a["floatValue"] and np.array(a["floatValue"], np.float16).tobytes()} for k, a in lstm_message(p, False).items() if "Bias" not in k})})],
        [array("x", [5, 2, 3, 1, 1])], [as5(xr)],
        [as5(lstm(xr, {k: tuple(t.astype(np.float16).astype(np.float32) for t in a[:2]) + (0, 0) for k, a in p.items()}, acts, z, z)[0])])
w = rng.randint(0, 256, (4, 3, 2, 2)).astype(np.uint8)
scale, bias = rand(3, low=0.001, high=0.01), rand(3, low=-1, high=0)
case("deconv_linear_steps", "convolution", {"outputChannels": 6, "kernelChannels": 4, "nGroups": 2, "kernelSize": (2, 2), "valid": {}, "isDeconvolution": 1, "weights": {
    "rawValue": w.tobytes(), "quantization": {"numberOfBits": 8, "linearQuantization": {"scale": scale, "bias": bias}}}}, [small],
     F.conv_transpose2d(T(small), T((w * scale.reshape(1, 3, 1, 1) + bias.reshape(1, 3, 1, 1)).astype(np.float32)), groups=2))
w, scale, bias = rng.randint(0, 256, (5, 4)).astype(np.uint8), rand(5, low=0.001, high=0.01), rand(5, low=-1, high=0)
full = (w * scale[:, None] + bias[:, None]).astype(np.float32)
p = {"weights": {"rawValue": w.tobytes(), "quantization": {"numberOfBits": 8, "linearQuantization": {"scale": scale, "bias": bias}}}}
case("matmul_linear_steps", "batchedMatmul", dict(p, weightMatrixFirstDimension=4, weightMatrixSecondDimension=5), [m1], m1 @ full.T)
case("inner_linear_steps", "innerProduct", dict(p, inputChannels=4, outputChannels=5), [m1], m1 @ full.T)
case("embedding_nd_linear_steps", "embeddingND", dict(p, vocabSize=4, embeddingSize=5), [f32([[3], [0]])], full.T[[3, 0]])

# --- Cells within bounds, boxes, dictionaries ---------------------------------------------------------------------

for name, flags, back in (("clipped", {}, False), ("clipped_peepholes", {"hasPeepholeVectors": 1}, False),
                          ("clipped_coupled", {"coupledInputAndForgetGate": 1}, False), ("clipped_both", {}, True)):
    p, q = lstm_weights(), lstm_weights()
    peep, how = "hasPeepholeVectors" in flags, ("sigmoid", "tanh", "tanh")
    run = lambda x, p, h, c: lstm(x, p, how, h, c, peep, "coupledInputAndForgetGate" in flags, clip=0.5)  # noqa: E731
    params = dict(flags, hasBiasVectors=1, sequenceOutput=1, cellClipThreshold=0.5)
    y, h, c = run(xr, p, h0, c0)
    assert (np.abs(c) == 0.5).any()
    if not back:
        message = dict(sizes, activations=[{a: {}} for a in how], params=params, weightParams=lstm_message(p, peep))
        case("lstm_" + name, "uniDirectionalLSTM", message, [as5(xr), as5(h0[None]), as5(c0[None])], [as5(y), as5(h[None]), as5(c[None])])
        continue
    y2, h2, c2_ = run(xr[::-1], q, h1, c1)
    message = dict(sizes, activationsForwardLSTM=[{a: {}} for a in how], activationsBackwardLSTM=[{a: {}} for a in how], params=params,
                   weightParams=[lstm_message(p, False), lstm_message(q, False)])
    case("lstm_" + name, "biDirectionalLSTM", message, [as5(xr)] + [as5(v_[None]) for v_ in (h0, c0, h1, c1)],
         [as5(np.concatenate([y, y2[::-1]], 2))] + [as5(v_[None]) for v_ in (h, c, h2, c2_)])


def left(confidence, boxes, overlap, least, per_class):
    """NonMaximumSuppression.proto: the best first, each without what overlaps it."""
    score, label, kept = confidence.max(1), confidence.argmax(1), []
    area = boxes[:, 2] * boxes[:, 3]
    for i in np.argsort(-score, kind="stable"):
        if score[i] < least:
            continue
        for j in kept:
            if per_class and label[i] != label[j]:
                continue
            size = [min(boxes[i, k] + boxes[i, k + 2] / 2, boxes[j, k] + boxes[j, k + 2] / 2)
                    - max(boxes[i, k] - boxes[i, k + 2] / 2, boxes[j, k] - boxes[j, k + 2] / 2) for k in (0, 1)]
            inner = max(size[0], 0) * max(size[1], 0)
            if inner / (area[i] + area[j] - inner) > overlap:
                break
        else:
            kept.append(i)
    return kept


confidence, boxes = rand(30, 4, low=0, high=1), np.concatenate([rand(30, 2, low=0, high=1), rand(30, 2, low=0.3, high=0.6)], 1)
for name, per_class, rows_, given in (("all", False, None, False), ("classes", True, None, False), ("fixed", False, 12, False),
                                      ("given", True, None, True)):
    keep = left(confidence, boxes, 0.2, 0.7, per_class)
    assert 3 < len(keep) < 12 or per_class
    ys = [confidence[keep], boxes[keep]]
    if rows_:
        ys = [np.concatenate([y, np.zeros((rows_ - len(keep), y.shape[1]), np.float32)]) for y in ys]
    scalar = lambda n_: {"name": n_, "type": {"doubleType": {}}}  # noqa: E731
    params = {"pickTop": {"perClass": per_class}, "stringClassLabels": {"vector": ["a", "b", "c", "d"]}, "iouThreshold": 0.9 if given else 0.2,
              "confidenceThreshold": 0.1 if given else 0.7, "confidenceInputFeatureName": "raw_c", "coordinatesInputFeatureName": "raw_b",
              "confidenceOutputFeatureName": "c", "coordinatesOutputFeatureName": "b"}
    ins = [array("raw_b", [30, 4], "DOUBLE"), array("raw_c", [30, 4], "DOUBLE")]
    if given:
        params.update(iouThresholdInputFeatureName="iou", confidenceThresholdInputFeatureName="least")
        ins += [scalar("iou"), scalar("least")]
    write("model_boxes_" + name, {"specificationVersion": 3, "description": {
        "input": ins, "output": [array("c", [rows_, 4] if rows_ else None, "DOUBLE"), array("b", None, "DOUBLE")]},
        "nonMaximumSuppression": params}, [boxes, confidence] + ([f32([0.2]), f32([0.7])] if given else []), ys)

# --- What Core ML's own tests say ---------------------------------------------------------------------------------

# Reversed layers give their results in the order in which they make them.
p, how = lstm_weights(), ("sigmoid", "tanh", "tanh")
message = dict(sizes, activations=[{t: {}} for t in how], params={"hasBiasVectors": 1, "sequenceOutput": 1}, weightParams=lstm_message(p, False), reverseInput=1)
y, h, c = lstm(xr[::-1], p, how, h0, c0)
case("lstm_reverse", "uniDirectionalLSTM", message, [as5(xr), as5(h0[None]), as5(c0[None])], [as5(y), as5(h[None]), as5(c[None])])
message["params"]["cellClipThreshold"] = 0.5
y, h, c = lstm(xr[::-1], p, how, h0, c0, clip=0.5)
case("lstm_reverse_clipped", "uniDirectionalLSTM", message, [as5(xr), as5(h0[None]), as5(c0[None])], [as5(y), as5(h[None]), as5(c[None])])
message = dict(sizes, activations=[{"sigmoid": {}}, {"tanh": {}}], hasBiasVectors=1, sequenceOutput=1, reverseInput=1)
for k, (wi, wr, b) in gates.items():
    message.update({k + "WeightMatrix": W(wi), k + "RecursionMatrix": W(wr), k + "BiasVector": W(b)})
y, h = gru(xr[::-1], h0)
case("gru_reverse", "gru", message, [as5(xr), as5(h0[None])], [as5(y), as5(h[None])])
wi, wr, b = rand(4, 3), rand(4, 4, low=-0.5, high=0.5), rand(4)
for name, act, fn in (("linear", {"linear": {"alpha": 0.5, "beta": 0.25}}, lambda t: 0.5 * t + 0.25),
                      ("scaled_tanh", {"scaledTanh": {"alpha": 1.5, "beta": 0.5}}, lambda t: 1.5 * np.tanh(0.5 * t)),
                      ("hard", {"sigmoidHard": {"alpha": 0.3, "beta": 0.4}}, lambda t: np.clip(0.3 * t + 0.4, 0, 1)),
                      ("leaky", {"leakyReLU": {"alpha": 0.2}}, lambda t: np.where(t >= 0, t, 0.2 * t)), ("elu", {"ELU": {"alpha": 0.7}}, lambda t: np.where(t > 0, t, 0.7 * np.expm1(t)))):
    h, ys = h0, []
    for t in xr[::-1]:
        h = fn(t @ wi.T + h @ wr.T + b)
        ys.append(h)
    case("rnn_reverse_" + name, "simpleRecurrent", dict(sizes, activation=act, sequenceOutput=1, hasBiasVector=1, weightMatrix=W(wi), recursionMatrix=W(wr), biasVector=W(b),
                                                        reverseInput=1), [as5(xr), as5(h0[None])], [as5(np.stack(ys)), as5(h[None])])
ACTS["hard"] = lambda t: np.clip(0.2 * t + 0.5, 0, 1)
p = lstm_weights()
message = dict(sizes, activations=[{"sigmoidHard": {"alpha": 0.2, "beta": 0.5}}, {"tanh": {}}, {"ReLU": {}}], params={"hasBiasVectors": 1, "sequenceOutput": 1},
               weightParams=lstm_message(p, False))
y, h, c = lstm(xr, p, ("hard", "tanh", "ReLU"), h0, c0)
case("lstm_hard", "uniDirectionalLSTM", message, [as5(xr), as5(h0[None]), as5(c0[None])], [as5(y), as5(h[None]), as5(c[None])])
# Cells that get beyond 50, where they are held: with a state, and in a long sequence.
p = {k: (wi, wr, b + f32(20 if k != "outputGate" else 0), pe) for k, (wi, wr, b, pe) in lstm_weights().items()}
long = rand(70, 2, 3)
message = dict(sizes, activations=[{t: {}} for t in how], params={"hasBiasVectors": 1, "sequenceOutput": 1}, weightParams=lstm_message(p, False))
y, h, c = lstm(long, p, how, z, z)
assert (c == 50).any()
case("lstm_long", "uniDirectionalLSTM", message, [as5(long)], as5(y))
far = c0 + f32(49)
y, h, c = lstm(xr, p, how, h0, far)
assert (c == 50).any()
case("lstm_far", "uniDirectionalLSTM", message, [as5(xr), as5(h0[None]), as5(far[None])], [as5(y), as5(h[None]), as5(c[None])])
x = rand(2, 4, 5, 6)
case("slice_end_from_end", "slice", {"axis": "WIDTH_AXIS", "startIndex": 1, "endIndex": -2}, [x], x[..., 1:-2])
case("tile_last", "tile", {"reps": [3]}, [x], np.tile(x, 3))
case("resize_middle", "resizeBilinear", {"targetSize": [1, 4], "mode": {"samplingMethod": "ALIGN_ENDPOINTS_MODE"}}, [x], sampled(x, [2], np.linspace(0, 5, 4)))


def cut_out(image, box, size, mode):
    at = [GRIDS[mode](box[k + 2] - box[k] + 1, size[k]) + box[k] for k in (0, 1)]
    return sampled(image, *[np.minimum(t, box[k + 2]) for k, t in enumerate(at)])


boxes = f32([[0.5, 1, 3.5, 4.25], [1, 0, 2, 5]])
for mode in GRIDS:
    case("crop_resize_" + mode.lower(), "cropResize", {"targetSize": [3, 4], "mode": {"samplingMethod": mode}}, [x[None], boxes.reshape(2, 1, 4, 1, 1)],
         np.stack([cut_out(x, b, (3, 4), mode) for b in boxes]))
    numbered = np.concatenate([f32([[1], [0]]), boxes[:, [1, 0, 3, 2]] / f32([5, 4, 5, 4])], 1)
    case("crop_resize_numbered_" + mode.lower(), "cropResize", {
        "targetSize": [3, 4], "mode": {"samplingMethod": mode}, "normalizedCoordinates": 1, "boxIndicesMode": {"boxMode": "CORNERS_WIDTH_FIRST"}, "spatialScale": 1.0},
        [x[None], numbered.reshape(2, 1, 5, 1, 1)], np.stack([cut_out(x[1 - n:2 - n], b, (3, 4), mode) for n, b in enumerate(boxes)]))
scores, spots = rand(2, 20, 3, low=-1, high=1), np.concatenate([rand(2, 20, 2, low=0, high=1), rand(2, 20, 2, low=0.3, high=0.6)], 2)
for name, least, per_class, most in (("all", 0.1, False, 6), ("classes", 0.1, True, 8), ("none", 5.0, False, 3)):
    ys = [np.zeros((2, most, 4)), np.zeros((2, most, 3)), np.full((2, most), -1), np.zeros(2)]
    for n in range(2):
        keep = (left(scores[n], spots[n], 0.2, least, per_class) or [scores[n].max(1).argmax()])[:most]
        ys[0][n, :len(keep)], ys[1][n, :len(keep)], ys[2][n, :len(keep)], ys[3][n] = spots[n][keep], scores[n][keep], keep, len(keep)
    params = {"iouThreshold": 0.2, "scoreThreshold": least, "maxBoxes": most, "perClassSuppression": per_class}
    case("nms_" + name, "NonMaximumSuppression", params, [spots, scores], ys)
    case("nms_given_" + name, "NonMaximumSuppression", dict(params, iouThreshold=0.9, scoreThreshold=0.0), [spots, scores, f32([0.2]), f32([least])], ys)
sure = np.eye(4, dtype=np.float32)[[2, 0, 3]]
case("categorical", "categoricalDistribution", {"numSamples": 5}, [sure], np.repeat([[2], [0], [3]], 5, 1))
case("categorical_logits", "categoricalDistribution", {"isLogits": 1, "temperature": 2.0}, [1000 * sure], f32([[2], [0], [3]]))
points, names = rand(9, 3), [7, 5, 7, 9, 5, 5, 9, 7, 7]
distance = ((points - v) ** 2).sum(1)
near = np.argsort(distance)[:4]
for name, weights, weight, at in (("uniform", "uniformWeighting", np.ones(9), v), ("inverse", "inverseDistanceWeighting", 1 / distance, v),
                                  ("same", "inverseDistanceWeighting", (np.arange(9) == 3).astype(float), points[3])):
    who = np.argsort(((points - at) ** 2).sum(1))[:4]
    votes = np.array([sum(weight[n] for n in who if names[n] == k) for k in (7, 5, 9)])
    assert (votes == votes.max()).sum() == 1
    classic("neighbours_" + name, "kNearestNeighborsClassifier", {
        "nearestNeighborsIndex": {"numberOfDimensions": 3, "floatSamples": [{"vector": t.tolist()} for t in points], "linearIndex": {}, "squaredEuclideanDistance": {}},
        "numberOfNeighbors": {"defaultValue": 4, "range": {"minValue": 1, "maxValue": 9}}, "int64ClassLabels": {"vector": names}, weights: {}}, at,
        [7, 5, 9][int(votes.argmax())], votes / votes.sum())

# --- Loops, and what leaves them ----------------------------------------------------------------------------------

def step(kind, x, y, **params):
    return {"name": "s", "input": [x] if isinstance(x, str) else list(x), "output": [y], kind: params}


def when(t, yes, no=None):
    arms = {"ifBranch": {"layers": yes}}
    if no is not None:
        arms["elseBranch"] = {"layers": no}
    return {"name": "b", "input": [t], "output": [], "branch": arms}


def rounds(body, most=None, ask=None, count=()):
    loop = {"bodyNetwork": {"layers": body}}
    if most is not None:
        loop["maxLoopIterations"] = most
    if ask is not None:
        loop.update(conditionVar="go", conditionNetwork={"layers": ask})
    return {"name": "l", "input": list(count), "output": [], "loop": loop}


def jump(kind):
    return {"name": "j", "input": [], "output": [], kind: {}}


class Left(Exception):
    pass


class Next(Exception):
    pass


def play(layers, blobs):
    """What the layers above do, by hand."""
    for layer in layers:
        kind = next(k for k in layer if k not in ("name", "input", "output"))
        p, x = layer[kind], [blobs[i] for i in layer["input"]]
        if kind == "loopBreak":
            raise Left
        if kind == "loopContinue":
            raise Next
        if kind == "branch":
            play(p["ifBranch"]["layers"] if abs(x[0]) > 1e-6 else p.get("elseBranch", {"layers": []})["layers"], blobs)
        elif kind == "loop":
            most, k = p.get("maxLoopIterations", 10 ** 9), 0
            if x:
                most = min(most, int(x[0]))
            while k < most:
                if "conditionNetwork" in p:
                    play(p["conditionNetwork"]["layers"], blobs)
                    if abs(blobs["go"]) <= 1e-6:
                        break
                try:
                    play(p["bodyNetwork"]["layers"], blobs)
                except Left:
                    break
                except Next:
                    pass
                k += 1
        else:
            a = p.get("alpha", 0.0)
            blobs[layer["output"][0]] = {"multiply": lambda: x[0] * a, "add": lambda: x[0] + a, "copy": lambda: x[0],
                                         "greaterThan": lambda: float(x[0] > a), "lessThan": lambda: float(x[0] < a)}[kind]()


def loop_case(name, layers, *starts):
    for i, start in enumerate(starts):
        blobs = {"c": start}
        layers_all = [step("copy", "c", "v"), step("copy", "c", "n")] + layers
        play(layers_all, blobs)
        given = [(tuple(k["input"]), tuple(k["output"]), {n: p for n, p in k.items() if n not in ("name", "input", "output")}) for k in layers_all]
        given += [(("v",), ("y",), {"activation": {"linear": {"alpha": 1.0}}}), (("n",), ("z",), {"activation": {"linear": {"alpha": 1.0}}})]
        network("loop_%s_%d" % (name, i), given, [array("c", [1])], [f32([start])], [f32([blobs["v"]]), f32([blobs["n"]])], outs=("y", "z"))


double, more, tell = step("multiply", "v", "v", alpha=2.0), step("add", "v", "v", alpha=1.0), step("add", "n", "n", alpha=1.0)
large = step("greaterThan", "v", "t", alpha=20.0)
ask = [tell, step("lessThan", "v", "go", alpha=100.0)]
loop_case("count", [rounds([double, tell], most=4)], 3.0)
loop_case("given", [rounds([double, tell], most=4, count=("c",))], 0.0, 3.0, 7.0)
loop_case("asked", [rounds([double], ask=ask)], 3.0, 200.0)
loop_case("asked_most", [rounds([double], most=3, ask=ask[1:])], 3.0, 40.0)
loop_case("break", [rounds([double, large, when("t", [jump("loopBreak")]), more, tell], most=10)], 3.0, 50.0, 0.0)
loop_case("continue", [rounds([more, large, when("t", [tell, jump("loopContinue")]), double], most=6)], 3.0, 0.0)
loop_case("break_asked", [rounds([double, large, when("t", [more, jump("loopBreak")], [more]), double], ask=ask)], 3.0, 0.5, 150.0)
loop_case("break_inner", [rounds([double, large, when("t", [step("greaterThan", "v", "u", alpha=60.0), when("u", [jump("loopBreak")], [more]), tell]), more],
                                 most=9, ask=[step("lessThan", "v", "go", alpha=500.0)])], 1.0, 13.0, 40.0)
loop_case("both", [rounds([double, large, when("t", [jump("loopContinue")]), step("greaterThan", "v", "u", alpha=7.0), when("u", [tell, jump("loopBreak")]), more], most=9)],
          1.0, 11.0, 2.0)
loop_case("nested", [rounds([rounds([double, large, when("t", [jump("loopBreak")]), tell], most=3), step("greaterThan", "n", "u", alpha=6.0),
                             when("u", [jump("loopBreak")]), step("multiply", "v", "v", alpha=0.25)], most=5)], 1.0, 3.0, 5.0)
print(len([n for n in os.listdir(out) if n.endswith(".mlmodel")]), "models")
