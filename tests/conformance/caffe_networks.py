#!/usr/bin/env python3
"""Networks and layers of Caffe and Darknet, with outputs of others.

    caffe_networks.py SHARED OUT

writes OUT/WORLD/CASE/ with a network's files and io.safetensors, and copies the small cases of
SHARED/formats. Definitions are the public ones of the papers' networks, narrower; weights are
seeded and coarse, so that they compress. Outputs are those of OpenCV's dnn (4.6), which reads both
worlds; of single layers PyTorch's (1.13) and NumPy's by the definition of BVLC's kernels.
tests/data/cases/caffe-cases.tar.xz is OUT.
"""
import json
import os
import shutil
import struct
import sys

import cv2
import numpy as np
import torch
import torch.nn.functional as F

import io_file

rng = np.random.default_rng(22)


def coarse(shape, scale=1.0):
    return (rng.integers(-4, 5, shape) / 4 * scale).astype(np.float32)


def positive(shape):
    return (rng.integers(2, 7, shape) / 4).astype(np.float32)


# --- Files -------------------------------------------------------------------------------------------

def save_io(path, inputs, outputs):
    io_file.save_io(path, *([np.array(a, np.float32) for a in arrays] for arrays in (inputs, outputs)))


def load_io(path):
    with open(path, "rb") as f:
        bytes_ = f.read()
    size = struct.unpack("<Q", bytes_[:8])[0]
    header = json.loads(bytes_[8:8 + size])
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__":
            a, b = entry["data_offsets"]
            arrays[name] = np.frombuffer(bytes_[8 + size + a:8 + size + b], np.float32).reshape(entry["shape"])
    return arrays, header.get("__metadata__", {})


def varint(n):
    out = b""
    while True:
        out += bytes([n & 127 | (128 if n > 127 else 0)])
        n >>= 7
        if not n:
            return out


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def caffemodel(name, layers):
    """NetParameter with the names, types and blobs of layers."""
    out = field(1, name.encode())
    for layer, kind, blobs in layers:
        body = field(1, layer.encode()) + field(2, kind.encode())
        for blob in blobs:
            blob = np.ascontiguousarray(blob, np.float32)
            shape = field(1, b"".join(varint(d) for d in blob.shape))
            body += field(7, field(5, blob.tobytes()) + field(7, shape))
        out += field(100, body)
    return out


class Caffe:
    """A definition that is written layer by layer, with weights for it."""

    def __init__(self, name, *shapes):
        self.name, self.text, self.layers = name, f'name: "{name}"\n', []
        self.channels, self.inputs = {}, []
        for i, shape in enumerate(shapes):
            blob = "data" if len(shapes) == 1 else "abc"[i]
            dims = " ".join(f"dim: {d}" for d in shape)
            self.text += f'layer {{ name: "{blob}" type: "Input" top: "{blob}" input_param {{ shape {{ {dims} }} }} }}\n'
            self.channels[blob] = shape[1] if len(shape) > 1 else 0
            self.inputs.append(coarse(shape))

    def layer(self, name, kind, bottoms, params="", blobs=(), tops=None):
        bottoms = [bottoms] if isinstance(bottoms, str) else bottoms
        tops = tops or [name]
        self.text += f'layer {{ name: "{name}" type: "{kind}"'
        self.text += "".join(f' bottom: "{b}"' for b in bottoms)
        self.text += "".join(f' top: "{t}"' for t in tops) + f" {params} }}\n"
        if len(blobs):
            self.layers.append((name, kind, blobs))
        for t in tops:
            self.channels[t] = self.channels.get(bottoms[0], 0) if bottoms else 0
        return tops[0]

    def conv(self, name, x, n, k, pad=0, stride=1, group=1, bias=True, kind="Convolution", extra="", gain=2.0):
        c = self.channels[x]
        scale = gain / np.sqrt(c / group * k * k)
        blobs = [coarse((n, c // group, k, k), scale)] + ([coarse((n,), 0.25)] if bias else [])
        params = f"num_output: {n} kernel_size: {k} pad: {pad} stride: {stride} group: {group} {extra}"
        if not bias:
            params += " bias_term: false"
        self.layer(name, kind, x, f"convolution_param {{ {params} }}", blobs)
        self.channels[name] = n
        return name

    def relu(self, x):
        self.text += f'layer {{ name: "{x}_relu" type: "ReLU" bottom: "{x}" top: "{x}" }}\n'
        return x

    def norm(self, x):
        """BatchNorm and Scale in place."""
        c = self.channels[x]
        self.layer(x + "_bn", "BatchNorm", x, "", [coarse((c,), 0.5), positive((c,)), np.array([2.0])], [x])
        self.layer(x + "_scale", "Scale", x, "scale_param { bias_term: true }", [positive((c,)), coarse((c,), 0.5)], [x])
        return x

    def pool(self, name, x, kind, k, stride=1, pad=0):
        return self.layer(name, "Pooling", x, f"pooling_param {{ pool: {kind} kernel_size: {k} stride: {stride} pad: {pad} }}")

    def dense(self, name, x, n, count):
        self.layer(name, "InnerProduct", x, f"inner_product_param {{ num_output: {n} }}",
                   [coarse((n, count), 2.0 / np.sqrt(count)), coarse((n,), 0.25)])
        self.channels[name] = n
        return name

    def write(self, folder, outputs):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "net.prototxt"), "w") as f:
            f.write(self.text)
        with open(os.path.join(folder, "net.caffemodel"), "wb") as f:
            f.write(caffemodel(self.name, self.layers))
        save_io(os.path.join(folder, "io.safetensors"), self.inputs, outputs)

    def run(self, tops):
        """OpenCV's outputs of these layers."""
        net = cv2.dnn.readNetFromCaffe(self.text.encode(), caffemodel(self.name, self.layers))
        net.enableFusion(False)
        for name, x in zip(["data"] if len(self.inputs) == 1 else "abc", self.inputs):
            net.setInput(x, name)
        return [np.array(y) for y in net.forward(tops)]


# --- Caffe's networks ----------------------------------------------------------------------------------

def lenet():
    n = Caffe("LeNet", (2, 1, 28, 28))
    x = n.conv("conv1", "data", 20, 5)
    x = n.pool("pool1", x, "MAX", 2, 2)
    x = n.conv("conv2", x, 50, 5)
    x = n.pool("pool2", x, "MAX", 2, 2)
    x = n.relu(n.dense("ip1", x, 50, 50 * 16))
    x = n.dense("ip2", x, 10, 50)
    return n, [n.layer("prob", "Softmax", x)]


def alexnet():
    n = Caffe("AlexNet", (1, 3, 99, 99))
    lrn = "lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 }"
    x = n.relu(n.conv("conv1", "data", 12, 11, stride=4))
    x = n.layer("norm1", "LRN", x, lrn)
    x = n.pool("pool1", x, "MAX", 3, 2)
    x = n.relu(n.conv("conv2", x, 32, 5, pad=2, group=2))
    x = n.layer("norm2", "LRN", x, lrn)
    x = n.pool("pool2", x, "MAX", 3, 2)
    x = n.relu(n.conv("conv3", x, 48, 3, pad=1))
    x = n.relu(n.conv("conv4", x, 48, 3, pad=1, group=2))
    x = n.relu(n.conv("conv5", x, 32, 3, pad=1, group=2))
    x = n.pool("pool5", x, "MAX", 3, 2)
    x = n.relu(n.dense("fc6", x, 64, 32 * 2 * 2))
    x = n.layer("drop6", "Dropout", x, "dropout_param { dropout_ratio: 0.5 }", tops=[x])
    x = n.relu(n.dense("fc7", "fc6", 64, 64))
    x = n.dense("fc8", x, 20, 64)
    return n, [n.layer("prob", "Softmax", x)]


def squeezenet():
    n = Caffe("SqueezeNet", (1, 3, 67, 67))

    def fire(name, x, squeeze, expand):
        s = n.relu(n.conv(f"{name}/squeeze1x1", x, squeeze, 1))
        a = n.relu(n.conv(f"{name}/expand1x1", s, expand, 1))
        b = n.relu(n.conv(f"{name}/expand3x3", s, expand, 3, pad=1))
        n.layer(f"{name}/concat", "Concat", [a, b])
        n.channels[f"{name}/concat"] = 2 * expand
        return f"{name}/concat"

    x = n.relu(n.conv("conv1", "data", 16, 3, stride=2))
    x = n.pool("pool1", x, "MAX", 3, 2)
    x = fire("fire3", fire("fire2", x, 4, 16), 4, 16)
    x = n.pool("pool3", x, "MAX", 3, 2)
    x = fire("fire5", fire("fire4", x, 8, 32), 8, 32)
    x = n.pool("pool5", x, "MAX", 3, 2)
    for i, (s, e) in enumerate([(12, 48), (12, 48), (16, 64), (16, 64)]):
        x = fire(f"fire{6 + i}", x, s, e)
    n.text += f'layer {{ name: "drop9" type: "Dropout" bottom: "{x}" top: "{x}" }}\n'
    x = n.relu(n.conv("conv10", x, 20, 1))
    x = n.layer("pool10", "Pooling", x, "pooling_param { pool: AVE global_pooling: true }")
    return n, [n.layer("prob", "Softmax", x)]


def googlenet():
    n = Caffe("GoogLeNet", (1, 3, 96, 96))
    lrn = "lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 }"

    def inception(name, x, c1, r3, c3, r5, c5, p):
        a = n.relu(n.conv(f"{name}/1x1", x, c1, 1))
        b = n.relu(n.conv(f"{name}/3x3", n.relu(n.conv(f"{name}/3x3_reduce", x, r3, 1)), c3, 3, pad=1))
        c = n.relu(n.conv(f"{name}/5x5", n.relu(n.conv(f"{name}/5x5_reduce", x, r5, 1)), c5, 5, pad=2))
        d = n.relu(n.conv(f"{name}/pool_proj", n.pool(f"{name}/pool", x, "MAX", 3, 1, 1), p, 1))
        n.layer(f"{name}/output", "Concat", [a, b, c, d])
        n.channels[f"{name}/output"] = c1 + c3 + c5 + p
        return f"{name}/output"

    x = n.relu(n.conv("conv1/7x7_s2", "data", 8, 7, pad=3, stride=2))
    x = n.layer("pool1/norm1", "LRN", n.pool("pool1/3x3_s2", x, "MAX", 3, 2), lrn)
    x = n.relu(n.conv("conv2/3x3_reduce", x, 8, 1))
    x = n.relu(n.conv("conv2/3x3", x, 24, 3, pad=1))
    x = n.pool("pool2/3x3_s2", n.layer("conv2/norm2", "LRN", x, lrn), "MAX", 3, 2)
    x = inception("inception_3a", x, 8, 12, 16, 2, 4, 4)
    x = inception("inception_3b", x, 16, 16, 24, 4, 12, 8)
    x = n.pool("pool3/3x3_s2", x, "MAX", 3, 2)
    for i, row in enumerate([(24, 12, 26, 2, 6, 8), (20, 14, 28, 3, 8, 8), (16, 16, 32, 3, 8, 8),
                             (14, 18, 36, 4, 8, 8), (32, 20, 40, 4, 16, 16)]):
        x = inception("inception_4" + "abcde"[i], x, *row)
    x = n.pool("pool4/3x3_s2", x, "MAX", 3, 2)
    x = inception("inception_5a", x, 32, 20, 40, 4, 16, 16)
    x = inception("inception_5b", x, 48, 24, 48, 6, 16, 16)
    x = n.pool("pool5", x, "AVE", 3, 1)
    x = n.dense("classifier", x, 20, 128)
    return n, [n.layer("prob", "Softmax", x)]


def mtcnn(part):
    def prelu(x):
        c = n.channels[x]
        n.layer(f"PReLU_{x}", "PReLU", x, "", [positive((c,)) / 4], [x])
        return x

    if part == "p":
        n = Caffe("PNet", (1, 3, 33, 41))
        x = prelu(n.conv("conv1", "data", 10, 3))
        x = n.pool("pool1", x, "MAX", 2, 2)
        x = prelu(n.conv("conv3", prelu(n.conv("conv2", x, 16, 3)), 32, 3))
        score, box = n.conv("conv4-1", x, 2, 1), n.conv("conv4-2", x, 4, 1)
        return n, [box, n.layer("prob1", "Softmax", score)]
    size, deep = (24, False) if part == "r" else (48, True)
    n = Caffe("RNet" if part == "r" else "ONet", (2, 3, size, size))
    x = prelu(n.conv("conv1", "data", 14, 3))
    x = n.pool("pool1", x, "MAX", 3, 2)
    x = prelu(n.conv("conv2", x, 24, 3))
    x = n.pool("pool2", x, "MAX", 3, 2)
    if deep:
        x = prelu(n.conv("conv3", x, 32, 3))
        x = n.pool("pool3", x, "MAX", 2, 2)
        x = prelu(n.conv("conv4", x, 32, 2))
        x = prelu(n.dense("conv5", x, 64, 32 * 9))
        score, box, marks = n.dense("conv6-1", x, 2, 64), n.dense("conv6-2", x, 4, 64), n.dense("conv6-3", x, 10, 64)
        return n, [box, marks, n.layer("prob1", "Softmax", score)]
    x = prelu(n.conv("conv3", x, 32, 2))
    x = prelu(n.dense("conv4", x, 64, 32 * 9))
    score, box = n.dense("conv5-1", x, 2, 64), n.dense("conv5-2", x, 4, 64)
    return n, [box, n.layer("prob1", "Softmax", score)]


def mobilenet_ssd():
    n = Caffe("MobileNet-SSD", (1, 3, 96, 96))

    def block(name, x, c, stride):
        x = n.relu(n.norm(n.conv(f"{name}/dw", x, n.channels[x], 3, pad=1, stride=stride,
                                 group=n.channels[x], bias=False)))
        return n.relu(n.norm(n.conv(name, x, c, 1, bias=False)))

    x = n.relu(n.norm(n.conv("conv0", "data", 8, 3, pad=1, stride=2, bias=False)))
    for i, (c, s) in enumerate([(16, 1), (16, 2), (16, 1), (32, 2), (32, 1), (32, 2), (32, 1), (32, 1)]):
        x = block(f"conv{i + 1}", x, c, s)
    maps = [x]
    x = block("conv13", block("conv12", x, 48, 2), 48, 1)
    maps.append(x)
    x = n.relu(n.norm(n.conv("conv14_2", n.relu(n.norm(n.conv("conv14_1", x, 16, 1, bias=False))), 32, 3, pad=1,
                             stride=2, bias=False)))
    maps.append(x)
    locs, confs, priors = [], [], []
    classes = 5
    for i, m in enumerate(maps):
        count = 3 if i == 0 else 6
        ratios = "aspect_ratio: 2.0" if i == 0 else "aspect_ratio: 2.0 aspect_ratio: 3.0"
        small, large = [(20, None), (35, 50), (60, 80)][i]
        most = f"max_size: {large}" if large else ""
        for kind, width, into in (("loc", 4, locs), ("conf", classes, confs)):
            y = n.conv(f"{m}_mbox_{kind}", m, count * width, 1, gain=0.004 if kind == "loc" else 0.02)
            y = n.layer(f"{y}_perm", "Permute", y, "permute_param { order: 0 order: 2 order: 3 order: 1 }")
            into.append(n.layer(f"{y}_flat", "Flatten", y, "flatten_param { axis: 1 }"))
        priors.append(n.layer(f"{m}_mbox_priorbox", "PriorBox", [m, "data"],
                              f"prior_box_param {{ min_size: {small} {most} {ratios} flip: true clip: false "
                              "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 offset: 0.5 }"))
    loc = n.layer("mbox_loc", "Concat", locs, "concat_param { axis: 1 }")
    conf = n.layer("mbox_conf", "Concat", confs, "concat_param { axis: 1 }")
    prior = n.layer("mbox_priorbox", "Concat", priors, "concat_param { axis: 2 }")
    conf = n.layer("mbox_conf_reshape", "Reshape", conf, f"reshape_param {{ shape {{ dim: 0 dim: -1 dim: {classes} }} }}")
    conf = n.layer("mbox_conf_softmax", "Softmax", conf, "softmax_param { axis: 2 }")
    conf = n.layer("mbox_conf_flatten", "Flatten", conf, "flatten_param { axis: 1 }")
    return n, [n.layer("detection_out", "DetectionOutput", [loc, conf, prior],
                       f"detection_output_param {{ num_classes: {classes} share_location: true background_label_id: 0 "
                       "nms_param { nms_threshold: 0.45 top_k: 100 } code_type: CENTER_SIZE keep_top_k: 40 "
                       "confidence_threshold: 0.25 }")]


# --- Caffe's layers, one by one --------------------------------------------------------------------------

t = torch.from_numpy
IMG = (2, 4, 7, 8)


def pool_of(x, k, s, p, kind):
    """A pool as pooling_layer.cpp has it, window by window."""
    n, c, h, w = x.shape

    def count(size):
        out = -(-(size + 2 * p - k) // s) + 1
        return out - 1 if p and (out - 1) * s >= size + p else out
    y = np.zeros((n, c, count(h), count(w)), np.float32)
    for i in range(y.shape[2]):
        for j in range(y.shape[3]):
            top, left = i * s - p, j * s - p
            bottom, right = min(top + k, h + p), min(left + k, w + p)
            area = (bottom - top) * (right - left)
            part = x[:, :, max(top, 0):min(bottom, h), max(left, 0):min(right, w)]
            y[:, :, i, j] = part.max((2, 3)) if kind == "MAX" else part.sum((2, 3)) / area
    return y


def lstm_of(x, cont, w, b, r):
    h = c = np.zeros((x.shape[1], r.shape[1]), np.float32)
    out = []

    def sigmoid(v):
        return 1 / (1 + np.exp(-v))
    for step, on in zip(x, cont):
        on = on[:, None]
        gates = step @ w.T + b + (h * on) @ r.T
        i, f, o, g = np.split(gates, 4, 1)
        c = on * sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.stack(out)


def rnn_of(x, cont, w, b, r, o, bo):
    h, out = np.zeros((x.shape[1], r.shape[1]), np.float32), []
    for step, on in zip(x, cont):
        h = np.tanh(step @ w.T + b + (h * on[:, None]) @ r.T)
        out.append(np.tanh(h @ o.T + bo))
    return np.stack(out)


def psroi_of(x, rois, scale, out, cells):
    """psroi_pooling_layer.cu."""
    y = np.zeros((len(rois), out, cells, cells), np.float32)
    h, w = x.shape[2:]

    def half_up(v):
        return np.sign(v) * np.floor(np.abs(v) + 0.5)
    for n, roi in enumerate(rois):
        left, top = half_up(roi[1]) * scale, half_up(roi[2]) * scale
        right, bottom = (half_up(roi[3]) + 1) * scale, (half_up(roi[4]) + 1) * scale
        bw, bh = max(right - left, 0.1) / cells, max(bottom - top, 0.1) / cells
        for c in range(out):
            for i in range(cells):
                for j in range(cells):
                    y0, y1 = [int(min(max(v, 0), h)) for v in (np.floor(i * bh + top), np.ceil((i + 1) * bh + top))]
                    x0, x1 = [int(min(max(v, 0), w)) for v in (np.floor(j * bw + left), np.ceil((j + 1) * bw + left))]
                    part = x[0, (c * cells + i) * cells + j, y0:y1, x0:x1]
                    y[n, c, i, j] = part.mean() if part.size else 0
    return y


def reorg_of(x, s, reverse):
    """reorg_cpu of darknet, element by element."""
    n, c, h, w = x.shape
    few, flat = c // (s * s), x.reshape(n, -1)
    y = np.zeros_like(flat)
    for k in range(c):
        for j in range(h):
            for i in range(w):
                a = i + w * (j + h * k)
                b = i * s + k // few % s + w * s * (j * s + k // few // s + h * s * (k % few))
                if reverse:
                    y[:, b] = flat[:, a]
                else:
                    y[:, a] = flat[:, b]
    return y.reshape((n, few, h * s, w * s) if reverse else (n, c * s * s, h // s, w // s))


def proposals_of(chance, by, info, stride, ratios, scales, least, before, after, overlap):
    """proposal_layer.py of py-faster-rcnn."""
    anchors = []
    for ratio in ratios:
        width = np.round(np.sqrt(256 / ratio))
        height = np.round(width * ratio)
        for scale in scales:
            a, b = (width * scale - 1) / 2, (height * scale - 1) / 2
            anchors.append([7.5 - a, 7.5 - b, 7.5 + a, 7.5 + b])
    count, (h, w) = len(anchors), chance.shape[2:]
    shifts = np.array([[x * stride, y * stride] * 2 for y in range(h) for x in range(w)])
    boxes = (np.array(anchors)[None] + shifts[:, None]).reshape(-1, 4)
    scores = chance[:, count:].transpose(0, 2, 3, 1).reshape(-1)
    d = by.transpose(0, 2, 3, 1).reshape(-1, 4)
    bw, bh = boxes[:, 2] - boxes[:, 0] + 1, boxes[:, 3] - boxes[:, 1] + 1
    cx, cy = d[:, 0] * bw + boxes[:, 0] + 0.5 * bw, d[:, 1] * bh + boxes[:, 1] + 0.5 * bh
    pw, ph = np.exp(d[:, 2]) * bw, np.exp(d[:, 3]) * bh
    p = np.stack([cx - pw / 2, cy - ph / 2, cx + pw / 2, cy + ph / 2], 1)
    p[:, 0::2] = np.clip(p[:, 0::2], 0, info[1] - 1)
    p[:, 1::2] = np.clip(p[:, 1::2], 0, info[0] - 1)
    keep = np.where((p[:, 2] - p[:, 0] + 1 >= least * info[2]) & (p[:, 3] - p[:, 1] + 1 >= least * info[2]))[0]
    order = keep[np.argsort(-scores[keep], kind="stable")][:before]
    chosen = []
    for i in order:
        for j in chosen:
            iw = min(p[i, 2], p[j, 2]) - max(p[i, 0], p[j, 0]) + 1
            ih = min(p[i, 3], p[j, 3]) - max(p[i, 1], p[j, 1]) + 1
            common = max(iw, 0) * max(ih, 0)
            areas = [(p[k, 2] - p[k, 0] + 1) * (p[k, 3] - p[k, 1] + 1) for k in (i, j)]
            if common / (sum(areas) - common) > overlap:
                break
        else:
            chosen.append(i)
        if len(chosen) == after:
            break
    return np.concatenate([np.zeros((len(chosen), 1)), p[chosen]], 1).astype(np.float32)


def layer_cases():
    cases = {}

    def one(name, kind, params, fn, shapes=(IMG,), blobs=(), tops=1, inputs=None):
        n = Caffe(name, *shapes)
        if inputs:
            n.inputs = [np.asarray(x, np.float32) for x in inputs]
        bottoms = ["data"] if len(shapes) == 1 else list("abc"[:len(shapes)])
        n.layer("l", kind, bottoms, params, blobs, [f"o{i}" for i in range(tops)])
        y = fn(*[t(x) for x in n.inputs])
        y = list(y) if isinstance(y, (list, tuple)) else [y]
        cases[name] = n, [v.numpy() if isinstance(v, torch.Tensor) else np.asarray(v, np.float32) for v in y]

    for name, kind, params, fn in [
            ("bnll", "BNLL", "", F.softplus), ("power", "Power", "power_param { power: 2 scale: 0.5 shift: 3 }", lambda x: (3 + 0.5 * x) ** 2),
            ("power_0", "Power", "power_param { power: 0 }", torch.ones_like),
            ("exp", "Exp", "exp_param { base: 2 scale: 0.5 shift: 1 }", lambda x: 2 ** (1 + 0.5 * x)),
            ("log", "Log", "log_param { base: 10 scale: 0.5 shift: 2 }", lambda x: torch.log10(2 + 0.5 * x)),
            ("threshold", "Threshold", "threshold_param { threshold: 0.25 }", lambda x: (x > 0.25).float()),
            ("clip", "Clip", "clip_param { min: -0.5 max: 0.25 }", lambda x: x.clamp(-0.5, 0.25)),
            ("swish", "Swish", "swish_param { beta: 0.5 }", lambda x: x * torch.sigmoid(0.5 * x)),
            ("sigmoid", "Sigmoid", "", torch.sigmoid), ("dropout", "Dropout", "dropout_param { dropout_ratio: 0.4 }", lambda x: x),
            ("dropout_scaled", "Dropout", "dropout_param { dropout_ratio: 0.4 scale_train: false }", lambda x: 0.6 * x),
            ("mish", "Mish", "", F.mish),
            ("mvn_across", "MVN", "mvn_param { across_channels: true eps: 0.01 }",
             lambda x: (x - x.mean((1, 2, 3), True)) / (x.var((1, 2, 3), False, True).sqrt() + 0.01)),
            ("batchnorm_batch", "BatchNorm", "batch_norm_param { use_global_stats: false eps: 0.01 }",
             lambda x: F.batch_norm(x, None, None, training=True, eps=0.01)),
            ("tile", "Tile", "tile_param { axis: 2 tiles: 3 }", lambda x: x.repeat(1, 1, 3, 1)),
            ("reduction_sum", "Reduction", "reduction_param { axis: 1 coeff: 0.5 }", lambda x: 0.5 * x.sum((1, 2, 3))),
            ("reduction_asum", "Reduction", "reduction_param { operation: ASUM axis: 2 }", lambda x: x.abs().sum((2, 3))),
            ("reduction_sumsq", "Reduction", "reduction_param { operation: SUMSQ axis: -1 }", lambda x: x.square().sum(3)),
            ("reduction_mean", "Reduction", "reduction_param { operation: MEAN }", lambda x: x.mean()),
            ("argmax_axis", "ArgMax", "argmax_param { axis: 1 }", lambda x: x.argmax(1, True).float()),
            ("flatten", "Flatten", "flatten_param { axis: 1 end_axis: 2 }", lambda x: x.flatten(1, 2)),
            ("reshape_axes", "Reshape", "reshape_param { axis: 1 num_axes: 2 shape { dim: 2 dim: -1 } }", lambda x: x.reshape(2, 2, 14, 8)),
            ("reshape_new", "Reshape", "reshape_param { axis: 1 num_axes: 0 shape { dim: 1 } }", lambda x: x.unsqueeze(1)),
            ("permute", "Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }", lambda x: x.permute(0, 2, 3, 1).contiguous()),
            ("interp", "Interp", "interp_param { zoom_factor: 3 }",
             lambda x: F.interpolate(x, (19, 22), mode="bilinear", align_corners=True)),
            ("interp_size", "Interp", "interp_param { height: 5 width: 11 pad_beg: -1 }",
             lambda x: F.interpolate(x[:, :, 1:, 1:], (5, 11), mode="bilinear", align_corners=True)),
            ("interp_shrink", "Interp", "interp_param { shrink_factor: 2 }",
             lambda x: F.interpolate(x, (4, 4), mode="bilinear", align_corners=True)),
            ("upsample", "Upsample", "upsample_param { scale: 3 }", lambda x: F.interpolate(x, scale_factor=3)),
            ("shuffle", "ShuffleChannel", "shuffle_channel_param { group: 2 }",
             lambda x: x.view(2, 2, 2, 7, 8).transpose(1, 2).reshape(IMG)),
            ("pool_mean_pad", "Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }",
             lambda x: pool_of(x.numpy(), 3, 2, 1, "AVE")),
            ("pool_mean_beyond", "Pooling", "pooling_param { pool: AVE kernel_size: 4 stride: 3 pad: 1 }",
             lambda x: pool_of(x.numpy(), 4, 3, 1, "AVE")),
            ("pool_max_dropped", "Pooling", "pooling_param { kernel_size: 2 stride: 3 pad: 1 }", lambda x: pool_of(x.numpy(), 2, 3, 1, "MAX")),
            ("pool_mean_3", "Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 3 }", lambda x: pool_of(x.numpy(), 3, 3, 0, "AVE")),
            ("pool_floor", "Pooling", "pooling_param { kernel_size: 3 stride: 2 round_mode: FLOOR }", lambda x: F.max_pool2d(x, 3, 2)),
            ("pool_hw", "Pooling", "pooling_param { kernel_h: 2 kernel_w: 3 stride_h: 1 stride_w: 2 }",
             lambda x: F.max_pool2d(x, (2, 3), (1, 2), ceil_mode=True)),
            ("pool_global_mean", "Pooling", "pooling_param { pool: AVE global_pooling: true }", lambda x: x.mean((2, 3), True)),
            ("im2col", "Im2col", "convolution_param { kernel_size: 3 stride: 2 pad: 1 }",
             lambda x: F.unfold(x, 3, 1, 1, 2).reshape(2, 36, 4, 4))]:
        one("layer_" + name, kind, params, fn)

    def prior_boxes(x, y):
        """Sizes are integers in SSD's kernel: 5 and 9."""
        out = []
        for i in range(7):
            for j in range(8):
                cx, cy = (j + 0.5) * 4, (i + 0.5) * 4
                for w, h in [(5, 5), (np.sqrt(45),) * 2, (5 * np.sqrt(2), 5 / np.sqrt(2)), (5 / np.sqrt(2), 5 * np.sqrt(2))]:
                    out.append([(cx - w / 2) / 32, (cy - h / 2) / 28, (cx + w / 2) / 32, (cy + h / 2) / 28])
        return np.stack([np.array(out).ravel(), np.full(len(out) * 4, 0.1)])[None].astype(np.float32)
    one("layer_prior_sizes", "PriorBox", "prior_box_param { min_size: 5.9 max_size: 9.7 aspect_ratio: 2 }", prior_boxes, shapes=(IMG, (1, 3, 28, 32)))
    norms = [positive((1, 4, 1, 1)), coarse((1, 4, 1, 1)), coarse((1, 4, 1, 1)), positive((1, 4, 1, 1))]
    one("layer_bn_pspnet", "BN", "bn_param { frozen: true eps: 0.01 }",
        lambda x: (x - t(norms[2])) / (t(norms[3]) + 0.01).sqrt() * t(norms[0]) + t(norms[1]), blobs=norms)
    one("layer_bn_segnet", "BN", "bn_param { bn_mode: INFERENCE scale_filler { value: 1 } }", lambda x: x * t(norms[0]) + t(norms[1]), blobs=norms[:2])
    w_axis, b_axis = coarse((5, 7, 3), 0.3), coarse((5,))
    one("layer_conv_axis", "Convolution", "convolution_param { num_output: 5 kernel_size: 3 axis: 2 pad: 1 }",
        lambda x: F.conv1d(x.flatten(0, 1), t(w_axis), t(b_axis), padding=1).view(2, 4, 5, 8), blobs=(w_axis, b_axis))
    w_front = coarse((3, 2, 1, 3, 3), 0.3)
    one("layer_conv_axis_front", "Convolution", "convolution_param { num_output: 3 kernel_h: 1 axis: -4 kernel_size: 1 bias_term: false }".replace("kernel_h: 1 ", ""),
        lambda x: F.conv3d(x[None], t(w_front[:, :, :, 1:2, 1:2].copy()))[0], blobs=(w_front[:, :, :, 1:2, 1:2].copy(),))

    def lstm_unit(c, x, cont):
        i, f, o, g = x.chunk(4, 2)
        c = cont[:, :, None] * torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return c, torch.sigmoid(o) * torch.tanh(c)
    one("layer_lstm_unit", "LSTMUnit", "", lstm_unit, shapes=((1, 3, 4), (1, 3, 16), (1, 3)), tops=2, inputs=[coarse((1, 3, 4)), coarse((1, 3, 16)), [[1, 0, 1]]])

    def argmax_pairs(x):
        v, i = x.flatten(1).topk(3)
        return torch.stack([i.float(), v], 1)
    distinct = np.random.default_rng(3).permutation(2 * 4 * 7 * 8).reshape(IMG) / 64
    one("layer_argmax_pairs", "ArgMax", "argmax_param { top_k: 3 out_max_val: true }", argmax_pairs, inputs=[distinct])
    one("layer_spp", "SPP", "spp_param { pyramid_height: 3 }",
        lambda x: torch.cat([F.max_pool2d(x, 8 // n, 8 // n).flatten(1) for n in (1, 2, 4)], 1), [(2, 4, 8, 8)])
    c4, p4 = coarse((4,)), positive((4,))
    w = coarse((6, 2, 3, 3), 0.5)
    one("layer_conv_group", "Convolution", "convolution_param { num_output: 6 kernel_size: 3 stride: 2 group: 2 bias_term: false }",
        lambda x: F.conv2d(x, t(w), None, 2, groups=2), blobs=[w])
    w3, b3 = coarse((3, 2, 2, 3, 2), 0.5), coarse((3,))
    one("layer_conv_3d", "Convolution", "convolution_param { num_output: 3 kernel_size: 2 kernel_size: 3 kernel_size: 2 pad: 1 }",
        lambda x: F.conv3d(x, t(w3), t(b3), padding=1), [(1, 2, 4, 5, 6)], [w3, b3])
    wd = coarse((4, 1, 3, 3))
    one("layer_depthwise", "DepthwiseConvolution", "convolution_param { num_output: 4 kernel_size: 3 pad: 1 bias_term: false }",
        lambda x: F.conv2d(x, t(wd), padding=1, groups=4), blobs=[wd])
    wt, bt = coarse((4, 3, 3, 3), 0.5), coarse((6,))
    one("layer_deconv_group", "Deconvolution", "convolution_param { num_output: 6 kernel_size: 3 stride: 2 group: 2 }",
        lambda x: F.conv_transpose2d(x, t(wt), t(bt), 2, groups=2), blobs=[wt, bt])
    wi, bi = coarse((5, 8)), coarse((5,))
    one("layer_ip_axis", "InnerProduct", "inner_product_param { num_output: 5 axis: 3 }", lambda x: F.linear(x, t(wi), t(bi)),
        blobs=[wi, bi])
    wx = coarse((224, 5), 0.2)
    one("layer_ip_transpose", "InnerProduct", "inner_product_param { num_output: 5 transpose: true bias_term: false }",
        lambda x: x.flatten(1) @ t(wx), blobs=[wx])
    one("layer_ip_legacy", "InnerProduct", "inner_product_param { num_output: 5 }", lambda x: x.flatten(1) @ t(wx) + t(bi),
        blobs=[np.ascontiguousarray(wx.T)[None, None], bi[None, None, None]])
    table, be = coarse((9, 4)), coarse((4,))
    one("layer_embed", "Embed", "embed_param { num_output: 4 input_dim: 9 }", lambda x: t(table)[x.long()] + t(be), [(2, 3)],
        [table, be], inputs=[[[0, 8, 3], [3, 1, 7]]])
    one("layer_prelu", "PReLU", "", lambda x: F.prelu(x, t(p4)), blobs=[p4])
    one("layer_bias", "Bias", "", lambda x: x + t(c4).view(4, 1, 1), blobs=[c4])
    one("layer_bias_of", "Bias", "bias_param { axis: 2 }", lambda x, y: x + y, [IMG, (7, 8)])
    c28 = coarse((4, 7))
    one("layer_scale_axes", "Scale", "scale_param { axis: 1 num_axes: 2 }", lambda x: x * t(c28).view(4, 7, 1), blobs=[c28])
    one("layer_scale_one", "Scale", "scale_param { num_axes: 0 }", lambda x: x * 1.5, blobs=[np.array(1.5)])
    one("layer_axpy", "Axpy", "", lambda f, x, y: f.view(2, 4, 1, 1) * x + y, [(2, 4), IMG, IMG])
    one("layer_eltwise", "Eltwise", "eltwise_param { coeff: 0.5 coeff: -2 }", lambda x, y: 0.5 * x - 2 * y, [IMG, IMG])
    one("layer_concat", "Concat", "concat_param { concat_dim: 0 }", lambda x, y: torch.cat([x, y]), [IMG, (1, 4, 7, 8)])
    one("layer_slice_equal", "Slice", "slice_param { axis: 3 }", lambda x: [v.contiguous() for v in x.chunk(4, 3)], tops=4)
    one("layer_crop_axis", "Crop", "crop_param { axis: 1 offset: 1 }", lambda x, y: x[:, 1:3, 1:4, 1:6].contiguous(), [IMG, (2, 2, 3, 5)])
    one("layer_batch_reindex", "BatchReindex", "", lambda x, i: x[i.long()], [IMG, (3,)], inputs=[coarse(IMG), [1, 0, 1]])
    one("layer_filter", "Filter", "", lambda x, i: x[i.flatten() != 0], [(4, 3), (4, 1)], inputs=[coarse((4, 3)), [[1], [0], [0], [2]]])
    one("layer_normalize", "Normalize", "norm_param { across_spatial: false channel_shared: false }",
        lambda x: x / (x.square().sum(1, True) + 1e-10).sqrt() * t(p4).view(4, 1, 1), blobs=[p4])
    one("layer_normalize_all", "Normalize", "norm_param { }", lambda x: x / (x.square().sum((1, 2, 3), True) + 1e-10).sqrt() * 3,
        blobs=[np.array([3.0])])
    one("layer_reorg", "Reorg", "reorg_param { stride: 2 }", lambda x: reorg_of(x.numpy(), 2, False), [(1, 8, 4, 6)])
    one("layer_reorg_back", "Reorg", "reorg_param { stride: 2 reverse: true }", lambda x: reorg_of(x.numpy(), 2, True), [(1, 8, 4, 6)])
    # A pool that says where, and the way back.
    n = Caffe("unpool", (2, 3, 6, 8))
    n.inputs = [(np.random.default_rng(4).permutation(288).reshape(2, 3, 6, 8) / 32).astype(np.float32)]
    n.layer("pool", "Pooling", "data", "pooling_param { kernel_size: 2 stride: 2 }", tops=["pool", "mask"])
    n.layer("back", "Upsample", ["pool", "mask"], "upsample_param { scale: 2 }")
    v, i = F.max_pool2d(t(n.inputs[0]), 2, 2, return_indices=True)
    cases["layer_unpool"] = n, [F.max_unpool2d(v, i, 2, 2).numpy()]
    rois = np.array([[0, 0, 0, 15, 11], [0, 3, 2, 9, 10], [0, 8, 8, 8, 8], [0, 5, 1, 40, 9]], np.float32)
    one("layer_psroi", "PSROIPooling", "psroi_pooling_param { spatial_scale: 0.5 output_dim: 3 group_size: 2 }",
        lambda x, r: psroi_of(x.numpy(), r.numpy(), 0.5, 3, 2), [(1, 12, 7, 8), (4, 5)], inputs=[coarse((1, 12, 7, 8)), rois])
    chance = np.random.default_rng(6).permutation(2 * 9 * 20).reshape(1, 18, 4, 5) / 360
    by, info = coarse((1, 36, 4, 5), 0.2), [[60, 78, 1.0]]
    one("layer_proposal", "Proposal", "proposal_param { min_size: 8 pre_nms_topn: 100 post_nms_topn: 20 nms_thresh: 0.6 "
        "scale: 2 scale: 4 scale: 8 }",
        lambda c, d, i: proposals_of(c.numpy().astype(np.float64), d.numpy(), i[0].numpy(), 16, (0.5, 1, 2), (2, 4, 8), 8, 100, 20, 0.6),
        [(1, 18, 4, 5), (1, 36, 4, 5), (1, 3)], inputs=[chance, by, info])
    # Fewer boxes overlap than may be left, so that the settings of config.py show.
    by = coarse((1, 36, 4, 5), 0.2)
    for name, settings, scales in [("", "'feat_stride': 16", (8, 16, 32)),
                                   ("_scales", "{feat_stride: 16, 'scales': [1, 2, 3.5]}", (1, 2, 3.5))]:
        one("layer_proposal_python" + name, "Python",
            f'python_param {{ module: "rpn.proposal_layer" layer: "ProposalLayer" param_str: "{settings}" }}',
            lambda c, d, i, s=scales: proposals_of(c.numpy().astype(np.float64), d.numpy(), i[0].numpy(), 16, (0.5, 1, 2), s, 16,
                                                   6000, 300, 0.7),
            [(1, 18, 4, 5), (1, 36, 4, 5), (1, 3)], inputs=[chance, by, info])
    wl, bl, rl = coarse((12, 5), 0.5), coarse((12,), 0.5), coarse((12, 3), 0.5)
    cont = [[0, 0], [1, 1], [1, 0], [1, 1]]
    one("layer_lstm", "LSTM", "recurrent_param { num_output: 3 }", lambda x, c: lstm_of(x.numpy(), c.numpy(), wl, bl, rl),
        [(4, 2, 5), (4, 2)], [wl, bl, rl], inputs=[coarse((4, 2, 5)), cont])
    wr, br, rr, wo, bo = coarse((3, 5), 0.5), coarse((3,), 0.5), coarse((3, 3), 0.5), coarse((3, 3), 0.5), coarse((3,), 0.5)
    one("layer_rnn", "RNN", "recurrent_param { num_output: 3 }", lambda x, c: rnn_of(x.numpy(), c.numpy(), wr, br, rr, wo, bo),
        [(4, 2, 5), (4, 2)], [wr, br, rr, wo, bo], inputs=[coarse((4, 2, 5)), cont])
    label = np.random.default_rng(7).integers(0, 4, (2, 7, 8)).astype(np.float32)
    one("layer_softmax_loss", "SoftmaxWithLoss", "loss_param { ignore_label: 2 }",
        lambda x, y: F.cross_entropy(x, y.long(), ignore_index=2), [IMG, (2, 7, 8)], inputs=[coarse(IMG), label])
    one("layer_softmax_loss_batch", "SoftmaxWithLoss", "loss_param { normalization: BATCH_SIZE }",
        lambda x, y: F.cross_entropy(x, y.long(), reduction="sum") / 2, [IMG, (2, 7, 8)], inputs=[coarse(IMG), label])
    gain = positive((4, 4))

    def infogain(x, y, h):
        each = -(h.view(4, 4)[y.long()].permute(0, 3, 1, 2) * F.log_softmax(x, 1)).sum(1) * (y != 2)
        return each.sum() / (y != 2).sum(), F.softmax(x, 1)
    one("layer_infogain", "InfogainLoss", "loss_param { ignore_label: 2 }", infogain, [IMG, (2, 7, 8), (1, 1, 4, 4)], tops=2,
        inputs=[coarse(IMG), label, gain.reshape(1, 1, 4, 4)])
    one("layer_euclidean", "EuclideanLoss", "", lambda x, y: (x - y).square().sum() / 4, [IMG, IMG])
    target = np.random.default_rng(8).integers(0, 2, (3, 5)).astype(np.float32)
    one("layer_sigmoid_loss", "SigmoidCrossEntropyLoss", "",
        lambda x, y: F.binary_cross_entropy_with_logits(x, y, reduction="sum") / 3, [(3, 5), (3, 5)], inputs=[coarse((3, 5)), target])
    one("layer_hinge", "HingeLoss", "hinge_loss_param { norm: L2 }",
        lambda x, y: (1 + torch.where(F.one_hot(y.long(), 5) > 0, -x, x)).clamp(min=0).square().sum() / 3, [(3, 5), (3,)],
        inputs=[coarse((3, 5)), [1, 4, 0]])
    one("layer_multinomial", "MultinomialLogisticLoss", "", lambda x, y: F.nll_loss(x.log(), y.long()), [(3, 5), (3,)],
        inputs=[positive((3, 5)) / 2, [1, 4, 0]])
    one("layer_contrastive", "ContrastiveLoss", "contrastive_loss_param { margin: 2 }",
        lambda x, y, s: torch.where(s > 0, (x - y).square().sum(1), (2 - (x - y).norm(dim=1)).clamp(min=0) ** 2).sum() / 6,
        [(3, 5), (3, 5), (3,)], inputs=[coarse((3, 5), 0.5), coarse((3, 5), 0.5), [1, 0, 0]])
    scores = np.random.default_rng(9).permutation(30).reshape(6, 5)
    one("layer_accuracy", "Accuracy", "accuracy_param { top_k: 2 }",
        lambda x, y: (x.topk(2)[1] == y.long()[:, None]).any(1).float().mean(), [(6, 5), (6,)], inputs=[scores, [0, 1, 2, 3, 4, 0]])
    return cases


# --- Darknet -------------------------------------------------------------------------------------------

class Darknet:
    """A configuration section by section, with weights for it."""

    def __init__(self, width, height, channels):
        self.text = f"[net]\nbatch=1\nsubdivisions=1\nwidth={width}\nheight={height}\nchannels={channels}\n"
        self.weights, self.shapes, self.c, self.input = [], [], channels, coarse((1, channels, height, width))
        self.revision = 5

    def section(self, name, channels=None, **options):
        self.text += f"\n[{name}]\n" + "".join(f"{k}={v}\n" for k, v in options.items())
        self.c = self.c if channels is None else channels
        self.shapes.append(self.c)

    def conv(self, n, k, stride=1, norm=True, activation="leaky"):
        options = {"batch_normalize": 1} if norm else {}
        self.weights.append(coarse((n,), 0.25))
        if norm:
            self.weights += [positive((n,)), coarse((n,), 0.25), positive((n,))]
        self.weights.append(coarse((n, self.c, k, k), 2.0 / np.sqrt(self.c * k * k)))
        self.section("convolutional", n, **options, filters=n, size=k, stride=stride, pad=1, activation=activation)

    def route(self, *layers, groups=1, group_id=0):
        own = len(self.shapes)
        c = sum(self.shapes[i if i >= 0 else own + i] // groups for i in layers)
        more = {"groups": groups, "group_id": group_id} if groups > 1 else {}
        self.section("route", c, layers=",".join(map(str, layers)), **more)

    def bytes(self):
        return struct.pack("<iiiQ", 0, 2, self.revision, 0) + b"".join(w.astype(np.float32).tobytes() for w in self.weights)

    def write(self, folder, outputs):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "net.cfg"), "w") as f:
            f.write(self.text)
        with open(os.path.join(folder, "net.weights"), "wb") as f:
            f.write(self.bytes())
        save_io(os.path.join(folder, "io.safetensors"), [self.input], outputs)

    def run(self):
        net = cv2.dnn.readNetFromDarknet(np.frombuffer(self.text.encode(), np.uint8),
                                         np.frombuffer(self.bytes(), np.uint8))
        net.enableFusion(False)
        net.setInput(self.input)
        return [np.array(y) for y in net.forward(net.getUnconnectedOutLayersNames())]


ANCHORS3 = "10,14, 23,27, 37,58, 81,82, 135,169, 344,319"


def yolov2():
    """YOLOv2 as VOC's, a fourth as deep in channels."""
    d = Darknet(96, 64, 3)
    for n in (8, 16):
        d.conv(n, 3)
        d.section("maxpool", size=2, stride=2)
    for n in (24, 32):
        d.conv(n, 3)
        d.conv(n // 2, 1)
        d.conv(n, 3)
        d.section("maxpool", size=2, stride=2)
    d.conv(32, 3)
    fine = len(d.shapes) - 1
    d.section("maxpool", size=2, stride=2)
    d.conv(48, 3)
    d.conv(48, 3)
    d.route(fine)
    d.conv(8, 1)
    d.section("reorg", 32, stride=2)
    d.route(-1, -4)
    d.conv(48, 3)
    d.conv(3 * 8, 1, norm=False, activation="linear")
    d.section("region", anchors="1.3221,1.73145, 3.19275,4.00944, 5.05587,8.09892", bias_match=1, classes=3, coords=4,
              num=3, softmax=1, jitter=".3", rescore=1, object_scale=5, noobject_scale=1, class_scale=1, coord_scale=1,
              absolute=1, thresh=".001", random=1)
    return d


def yolov3():
    """YOLOv3: residual blocks, three scales."""
    d = Darknet(64, 96, 3)
    d.conv(8, 3)
    ends = []
    for n, blocks in ((12, 1), (16, 1), (24, 2), (32, 2), (48, 1)):
        d.conv(n, 3, stride=2)
        for _ in range(blocks):
            d.conv(n // 2, 1)
            d.conv(n, 3)
            d.section("shortcut", **{"from": -3, "activation": "linear"})
        ends.append(len(d.shapes) - 1)
    for scale in range(3):
        n = (24, 16, 12)[scale]
        d.conv(n, 1)
        d.conv(2 * n, 3)
        d.conv(n, 1)
        d.conv(2 * n, 3)
        d.conv(3 * 7, 1, norm=False, activation="linear")
        d.section("yolo", mask=["6,7,8", "3,4,5", "0,1,2"][scale],
                  anchors="10,13, 16,30, 33,23, 30,61, 62,45, 59,119, 116,90, 156,198, 373,326", classes=2, num=9,
                  jitter=".3", ignore_thresh=".7", truth_thresh=1, random=1)
        if scale < 2:
            d.route(-4)
            d.conv(n // 2, 1)
            d.section("upsample", stride=2)
            d.route(-1, ends[3 - scale])
    return d


def yolov4_tiny():
    """YOLOv4-tiny: routes of halves, two scales."""
    d = Darknet(96, 96, 3)
    d.conv(8, 3, stride=2)
    d.conv(16, 3, stride=2)
    for n in (16, 32, 48):
        d.conv(n, 3)
        d.route(-1, groups=2, group_id=1)
        d.conv(n // 2, 3)
        d.conv(n // 2, 3)
        d.route(-1, -2)
        d.conv(n, 1)
        fine = len(d.shapes) - 1
        d.route(-6, -1)
        d.section("maxpool", size=2, stride=2)
    d.conv(48, 3)
    d.conv(24, 1)
    branch = len(d.shapes) - 1
    d.conv(48, 3)
    d.conv(3 * 7, 1, norm=False, activation="linear")
    d.section("yolo", mask="3,4,5", anchors=ANCHORS3, classes=2, num=6, jitter=".3", scale_x_y="1.05", cls_normalizer="1.0",
              iou_normalizer="0.07", iou_loss="ciou", ignore_thresh=".7", truth_thresh=1, random=0, resize="1.5",
              nms_kind="greedynms", beta_nms="0.6")
    d.route(branch)
    d.conv(12, 1)
    d.section("upsample", stride=2)
    d.route(-1, fine)
    d.conv(24, 3)
    d.conv(3 * 7, 1, norm=False, activation="linear")
    d.section("yolo", mask="0,1,2", anchors=ANCHORS3, classes=2, num=6, jitter=".3", scale_x_y="1.05", cls_normalizer="1.0",
              iou_normalizer="0.07", iou_loss="ciou", ignore_thresh=".7", truth_thresh=1, random=0, resize="1.5",
              nms_kind="greedynms", beta_nms="0.6")
    return d


# --- Darknet's layers, one by one ----------------------------------------------------------------------

def darknet_cases():
    cases = {}

    def one(name, sections, fn, weights=(), size=(6, 8, 4)):
        d = Darknet(size[1], size[0], size[2])
        for section, options in sections:
            d.section(section, **{k.rstrip("_"): v for k, v in options.items()})
        d.weights = list(weights)
        y = fn(t(d.input))
        cases["layer_" + name] = d, [y.numpy() if isinstance(y, torch.Tensor) else np.asarray(y, np.float32)]

    def local_of(x, w, b, k, s, p):
        """forward_local_layer: weights [place, filter, channels * window]."""
        columns = F.unfold(x, k, 1, p, s)[0].numpy()
        y = np.stack([w[j] @ columns[:, j] for j in range(columns.shape[1])], 1)
        return (y.reshape(b.shape) + b)[None]
    sign = lambda x: torch.where(x > 0, 1.0, -1.0)
    w, b = coarse((12, 3, 36), 0.3), coarse((3, 3, 4))
    one("local", [("local", dict(filters=3, size=3, stride=2, pad=1, activation="linear"))],
        lambda x: local_of(x, w, b, 3, 2, 1), [b, w])
    def lrn_of(x, size, alpha, beta, kappa):
        """forward_normalization_layer, which carries the sum from channel to channel."""
        square, norm, norms = x[0] ** 2, 0 * x[0, 0] + kappa, []
        for k in range(x.shape[1]):
            if k == 0:
                norm = norm + alpha * square[:size // 2].sum(0)
            else:
                if k - (size - 1) // 2 - 1 >= 0:
                    norm = norm - alpha * square[k - (size - 1) // 2 - 1]
                if k + size // 2 < x.shape[1]:
                    norm = norm + alpha * square[k + size // 2]
            norms.append(norm)
        return x * torch.stack(norms)[None] ** -beta
    for size in (2, 3, 5):
        one(f"normalization_{size}", [("normalization", dict(size=size, alpha=".05", beta=".75", kappa="5.5"))],
            lambda x: lrn_of(x, size, 0.05, 0.75, 5.5))
    one("l2norm", [("l2norm", {})], lambda x: x / x.square().sum(1, True).sqrt())
    one("crop", [("crop", dict(crop_height=3, crop_width=4))], lambda x: x[:, :, 1:4, 2:6] * 2 - 1)
    one("crop_noadjust", [("crop", dict(crop_height=3, crop_width=4, noadjust=1))], lambda x: x[:, :, 1:4, 2:6].contiguous())
    wd, bd = coarse((4, 3, 4, 4), 0.3), coarse((3,))
    one("deconvolutional", [("deconvolutional", dict(filters=3, size=4, stride=2, padding=1, activation="linear"))],
        lambda x: F.conv_transpose2d(x, t(wd), t(bd), 2, 1), [bd, wd])
    scale, mean, variance = positive((4,)), coarse((4,)), positive((4,))
    column = lambda a: t(a).view(4, 1, 1)
    one("batchnorm", [("batchnorm", {})],
        lambda x: (x - column(mean)) / (column(variance).sqrt() + 1e-6) * column(scale), [scale, mean, variance])
    one("scale_channels", [("avgpool", {}), ("scale_channels", {"from_": -1}), ("dropout", {})],
        lambda x: x.mean((2, 3), True) ** 2)
    one("scale_channels_of", [("logistic", {}), ("avgpool", {}), ("scale_channels", {"from_": -2, "activation": "relu"})],
        lambda x: torch.sigmoid(x).mean((2, 3), True) * torch.sigmoid(x))
    one("sam", [("logistic", {}), ("activation", dict(activation="tanh")), ("sam", {"from_": -2})],
        lambda x: torch.tanh(torch.sigmoid(x)) * torch.sigmoid(x))
    one("reorg3d", [("reorg3d", dict(stride=2))],
        lambda x: x.view(1, 4, 3, 2, 4, 2).permute(0, 3, 5, 1, 2, 4).reshape(1, 16, 3, 4))
    one("reorg3d_back", [("reorg3d", dict(stride=2, reverse=1))],
        lambda x: x.view(1, 2, 2, 1, 6, 8).permute(0, 3, 4, 1, 5, 2).reshape(1, 1, 12, 16))
    one("reorg", [("reorg", dict(stride=2))], lambda x: reorg_of(x.numpy(), 2, False))
    one("reorg_back", [("reorg", dict(stride=2, reverse=1))], lambda x: reorg_of(x.numpy(), 2, True))
    one("upsample", [("upsample", dict(stride=3, scale="0.5"))], lambda x: F.interpolate(x, scale_factor=3) * 0.5)
    one("softmax_groups", [("softmax", dict(groups=2, temperature=2))], lambda x: (x.view(1, 2, -1) / 2).softmax(2).view(x.shape))
    one("softmax_spatial", [("softmax", dict(spatial=1))], lambda x: x.softmax(1))
    one("local_avgpool", [("local_avgpool", dict(size=3, stride=1))],
        lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False))
    wc, bc = coarse((6, 4, 1, 1)), coarse((6,))
    conv = ("convolutional", dict(filters=6, size=1, stride=1, activation="linear"))
    wide = lambda x: F.conv2d(x, t(wc), t(bc))
    one("shortcut_more", [("empty", {}), conv, ("shortcut", {"from_": -2, "activation": "leaky", "alpha": "0.5", "beta": 2})],
        lambda x: F.leaky_relu(torch.cat([wide(x)[:, :4] * 0.5 + 2 * x, wide(x)[:, 4:]], 1), 0.1), [bc, wc])
    one("shortcut_fewer", [conv, ("route", dict(layers=-1, groups=2, group_id=1)), ("shortcut", {"from_": -2, "activation": "linear"})],
        lambda x: wide(x)[:, 3:] + wide(x)[:, :3], [bc, wc])

    def stair(x):
        n = torch.floor(x)
        return torch.where(n % 2 == 0, torch.floor(x / 2), x - n + torch.floor(x / 2))
    for name, fn in [("relu", F.relu), ("elu", F.elu), ("selu", F.selu), ("relie", lambda x: F.leaky_relu(x, 0.01)),
                     ("ramp", lambda x: F.relu(x) + 0.1 * x), ("loggy", lambda x: 2 * torch.sigmoid(x) - 1), ("relu6", F.relu6),
                     ("hardtan", F.hardtanh), ("stair", stair),
                     ("lhtan", lambda x: torch.where(x < 0, 0.001 * x, torch.where(x > 1, 0.001 * (x - 1) + 1, x))),
                     ("plse", lambda x: torch.where(x < -4, 0.01 * (x + 4), torch.where(x > 4, 0.01 * (x - 4) + 1, 0.125 * x + 0.5))),
                     ("hard_mish", lambda x: torch.where(x > 0, x, torch.where(x > -2, x * x / 2 + x, torch.zeros_like(x))))]:
        one(name, [("activation", dict(activation=name))], fn)

    def boxes_of(x):
        """get_detection_detections of detection_layer.c: 2 x 2 cells, 3 boxes each, 2 classes."""
        p, rows = x.numpy().reshape(-1), []
        for i in range(4):
            for n in range(3):
                chance, at = p[4 * 2 + i * 3 + n], p[4 * 5 + (i * 3 + n) * 4:][:4]
                probs = chance * p[i * 2:i * 2 + 2]
                rows.append([(at[0] + i % 2) / 2, (at[1] + i // 2) / 2, at[2] ** 2, at[3] ** 2, chance]
                            + list(np.where(probs > 0.1, probs, 0)))
        return np.array(rows, np.float32)
    shift = coarse((4,))
    one("batchnorm_biases", [("batchnorm", {})],
        lambda x: (x - column(mean)) / (column(variance).sqrt() + 1e-6) * column(scale) + column(shift),
        [shift, scale, mean, variance])

    def layer(out, inner, norm, images=False):
        """Weights of a part of a recurrent layer in the order of the file, and what it computes."""
        w, b = coarse((out, inner, 3, 3) if images else (out, inner), 0.5), coarse((out,))
        norms = [positive((out,)), coarse((out,)), positive((out,))] if norm else []
        at = lambda a: t(a).view(1, -1, 1, 1) if images else t(a)

        def fn(x):
            y = F.conv2d(x, t(w), None, 1, 1) if images else F.linear(x, t(w))
            return (y - at(norms[1])) / (at(norms[2]).sqrt() + 1e-6) * at(norms[0]) + at(b) if norm else y + at(b)
        return ([b] + norms + [w] if images else [b, w] + norms), fn
    acts = {"tanh": torch.tanh, "leaky": lambda x: F.leaky_relu(x, 0.1), "relu": F.relu}
    for name, norm, activation, more, of_state in [("rnn", 0, "tanh", {}, torch.tanh), ("rnn_norm", 1, "leaky", {}, acts["leaky"]),
                                                   ("rnn_logistic", 0, "relu", {"logistic": 1}, torch.sigmoid)]:
        parts = [layer(5, 192, norm), layer(5, 5, norm), layer(3, 5, norm)]
        act = acts[activation]
        one(name, [("rnn", dict(hidden=5, output=3, activation=activation, batch_normalize=norm, **more))],
            lambda x: act(parts[2][1](act(parts[0][1](x.flatten(1))) + of_state(parts[1][1](torch.zeros(1, 5))))),
            [w for part in parts for w in part[0]])
    for name, norm, more in [("crnn", 0, {}), ("crnn_norm", 1, {"pad": 1, "size": 3})]:
        parts = [layer(5, 4, norm, True), layer(5, 5, norm, True), layer(3, 5, norm, True)]
        one(name, [("crnn", dict(hidden=5, output=3, activation="leaky", batch_normalize=norm, **more))],
            lambda x: acts["leaky"](parts[2][1](acts["leaky"](parts[0][1](x)) + acts["leaky"](parts[1][1](torch.zeros(1, 5, 6, 8))))),
            [w for part in parts for w in part[0]])
    zeros = torch.zeros(1, 5)
    for fork, order in [("alexeyab", ["uz", "ur", "uh", "wz", "wr", "wh"]), ("pjreddie", ["wz", "wr", "wh", "uz", "ur", "uh"])]:
        for norm, tanh in [(0, 0), (1, 1)]:
            parts = {name: layer(5, 192 if name[0] == "u" else 5, norm) for name in order}
            gate = lambda g, x: parts["u" + g][1](x.flatten(1)) + parts["w" + g][1](zeros)
            act = torch.tanh if tanh and fork == "pjreddie" else torch.sigmoid
            one(f"gru_{fork}_{norm}", [("gru", dict(output=5, batch_normalize=norm, tanh=tanh))],
                lambda x: (1 - torch.sigmoid(gate("z", x))) * act(gate("h", x)), [w for part in parts.values() for w in part[0]])
            cases[f"layer_gru_{fork}_{norm}"][0].revision = 5 if fork == "alexeyab" else 0

    def lstm_of(parts, x, state, cells=False):
        gate = lambda g: parts["u" + g][1](x) + parts["w" + g][1](state)
        i = gate("i") + (parts["vi"][1](state) if cells else 0)
        cell = torch.sigmoid(i) * torch.tanh(gate("g"))
        o = gate("o") + (parts["vo"][1](cell) if cells else 0)
        return torch.sigmoid(o) * torch.tanh(cell)
    for fork, order in [("alexeyab", "figo"), ("pjreddie", "ifog")]:
        parts = {k + g: layer(5, 192 if k == "u" else 5, 1) for k in "wu" for g in order}
        one(f"lstm_{fork}", [("lstm", dict(output=5, batch_normalize=1))], lambda x: lstm_of(parts, x.flatten(1), zeros),
            [w for part in parts.values() for w in part[0]])
        cases[f"layer_lstm_{fork}"][0].revision = 5 if fork == "alexeyab" else 0
    for cells, norm in [(0, 0), (0, 1), (1, 1)]:
        names = (["vf", "vi", "vo"] if cells else []) + [k + g for k in "wu" for g in "figo"]
        parts = {name: layer(5, 4 if name[0] == "u" else 5, norm, True) for name in names}
        more = {"peephole": 1, "state_constrain": 16} if cells else {}
        one(f"conv_lstm_{cells}{norm}", [("conv_lstm", dict(output=5, size=3, pad=1, batch_normalize=norm, **more))],
            lambda x: lstm_of(parts, x, torch.zeros(1, 5, 6, 8), cells), [w for part in parts.values() for w in part[0]])

    one("history", [("history", dict(history_size=3))], lambda x: F.pad(x, (0, 0, 0, 0, 0, 8)))
    hidden = coarse((4,))
    one("implicit", [("implicit", dict(filters=4)), ("route", dict(layers=-1)), ("shortcut", {"from_": -2, "activation": "linear"})],
        lambda x: 2 * t(hidden).view(1, 4, 1, 1), [hidden])
    blur = {1: torch.tensor([[1.0, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16, 2: torch.ones(2, 2) / 4}
    smooth = lambda x, kind, stride: F.conv2d(x, blur[kind].repeat(x.shape[1], 1, 1, 1), None, stride, kind % 2, 1, x.shape[1])
    for kind in (1, 2):
        one(f"maxpool_blur_{kind}", [("maxpool", dict(size=2, stride=2, antialiasing=kind))],
            lambda x: smooth(F.max_pool2d(F.pad(x, (0, 1, 0, 1), value=-1e30), 2, 1), kind, 2))
    w3, b3 = coarse((6, 4, 3, 3), 0.5), coarse((6,))
    square = lambda x, **k: F.conv2d(x, t(w3), t(b3), padding=1, **k)
    conv3 = dict(filters=6, size=3, pad=1)
    one("conv_blur", [("convolutional", dict(conv3, stride_x=2, stride_y=1, antialiasing=1, activation="leaky"))],
        lambda x: smooth(F.leaky_relu(square(x), 0.1), 1, (1, 2)), [b3, w3])
    one("conv_xnor", [("convolutional", dict(conv3, xnor=1, activation="linear"))],
        lambda x: F.conv2d(sign(x), sign(t(w3)) * t(w3).abs().mean((1, 2, 3), True), t(b3), padding=1), [b3, w3])
    one("conv_flipped", [("convolutional", dict(conv3, flipped=1, activation="linear"))], square,
        [b3, np.ascontiguousarray(w3.reshape(6, 36).T)])
    w4, b4 = coarse((4, 4, 3, 3), 0.3), coarse((4,))
    one("conv_shared", [("convolutional", dict(conv3, filters=4, activation="leaky")),
                        ("convolutional", dict(conv3, filters=4, activation="linear", share_index=0))],
        lambda x: F.conv2d(F.leaky_relu(F.conv2d(x, t(w4), t(b4), padding=1), 0.1), t(w4), t(b4), padding=1), [b4, w4])
    for name, fn in [("", lambda y: F.relu(y) / (F.relu(y).sum(1, True) + 1e-4)),
                     ("_softmax", lambda y: y.exp() / (y.exp().sum(1, True) + 1e-4)),
                     ("_softmax_maxval", lambda y: (y - y.amax(1, True)).exp() / ((y - y.amax(1, True)).exp().sum(1, True) + 1e-4))]:
        one("normalize_channels" + name, [("convolutional", dict(conv3, activation="normalize_channels" + name))],
            lambda x: fn(square(x)), [b3, w3])
    one("maxpool_depth", [("maxpool", dict(maxpool_depth=1, out_channels=2))], lambda x: x.view(1, 2, 2, 6, 8).amax(1))
    one("downsample", [("upsample", dict(stride=-2, scale="0.5"))], lambda x: F.avg_pool2d(x, 2) * 2)
    for kind, norm in [("per_feature", "relu"), ("per_channel", "softmax"), ("per_channel", "relu")]:
        ws = coarse((3, 1 if kind == "per_feature" else 4))

        def shares(w):
            part = F.relu(w) if norm == "relu" else (w - w.amax(0, True)).exp()
            return (part / (part.sum(0, True) + 1e-4)).view(3, 1, -1, 1, 1)
        one(f"shortcut_{kind}_{norm}", [("logistic", {}), ("activation", dict(activation="tanh")),
                                        ("shortcut", {"from_": "-2,0", "weights_type": kind, "weights_normalization": norm, "activation": "relu"})],
            lambda x: F.relu(torch.tanh(torch.sigmoid(x)) * shares(t(ws))[0] + torch.sigmoid(x) * (shares(t(ws))[1] + shares(t(ws))[2])), [ws])

    def gaussian(x, point):
        """get_gaussian_yolo_detections: 2 anchors, 3 classes."""
        v, rows = x.view(2, 12, 3, 2).numpy().astype(np.float64), []
        sig = lambda a: 1 / (1 + np.exp(-a))
        for j in range(3):
            for i in range(2):
                for n, (w, h) in enumerate([(10, 14), (23, 27)]):
                    c = v[n, :, j, i]
                    size = np.exp(c[[4, 6]]) * [w, h] / [2, 3]
                    at = (np.array([i, j]) + sig(c[[0, 2]]) * 1.2 - 0.1) / [2, 3] + point * size
                    probs = sig(c[8]) * sig(c[9:]) * (1 - sig(c[[1, 3, 5, 7]]).mean())
                    rows.append(np.concatenate([at, size, [sig(c[8])], np.where(probs > 0.1, probs, 0)]))
        return np.array(rows, np.float32)
    for point, shift in [("center", 0), ("left_top", 0.5), ("right_bottom", -0.5)]:
        one("gaussian_" + point, [("Gaussian_yolo", dict(mask="1,2", anchors="1,1, 10,14, 23,27", classes=3, num=3, scale_x_y="1.2",
                                                         thresh="0.1", yolo_point=point, uc_normalizer=1, iou_thresh="0.2"))],
            lambda x: gaussian(x, shift), size=(3, 2, 24))
    one("iseg", [("iseg", dict(classes=3, ids=1))], lambda x: torch.cat([torch.sigmoid(x[:, :3]), x[:, 3:]], 1))
    one("cost", [("activation", dict(activation="gelu")), ("cost", dict(type="sse"))],
        lambda x: 0.5 * x * (1 + torch.tanh(0.797885 * x + 0.035677 * x ** 3)))
    d = Darknet(1, 1, 1)
    d.text, d.input = "[net]\nbatch=1\ninputs=7\n", coarse((1, 7))
    d.section("connected", output=4, activation="leaky")
    d.weights = [coarse((4,)), coarse((4, 7))]
    cases["layer_list"] = d, [acts["leaky"](F.linear(t(d.input), t(d.weights[1]), t(d.weights[0]))).numpy()]
    one("detection", [("detection", dict(classes=2, coords=4, side=2, num=3, sqrt=1, softmax=0, thresh=".1", jitter=".2",
                                         rescore=1, object_scale=1, noobject_scale=".5", class_scale=1, coord_scale=5))],
        boxes_of, size=(1, 17, 4))
    return cases


# --- What is written -----------------------------------------------------------------------------------

def copy_cases(shared, out):
    """The small cases of others; what they leave out or read in a way of their own is said here."""
    for world in ("caffe", "darknet"):
        for name in sorted(os.listdir(os.path.join(shared, "formats", world))):
            to = os.path.join(out, world, name)
            shutil.copytree(os.path.join(shared, "formats", world, name), to)
            path = os.path.join(to, "io.safetensors")
            arrays, _ = load_io(path)
            inputs = [arrays[f"in_{i}"] for i in range(sum(k.startswith("in_") for k in arrays))]
            outputs = [arrays[f"out_{i}"] for i in range(sum(k.startswith("out_") for k in arrays))]
            x = inputs[0]
            if name == "gen_slice_pts":  # OpenCV gave the first part alone
                outputs = [x[:, :1], x[:, 1:3], x[:, 3:]]
            if name == "gen_lrn_27":  # OpenCV takes k for 1
                squares = np.pad(x.astype(np.float64) ** 2, ((0, 0), (1, 1), (0, 0), (0, 0)))
                sums = squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]
                outputs = [x / (1.5 + 0.5 / 3 * sums) ** 0.75]
            save_io(path, inputs, outputs)


def main():
    shared, out = sys.argv[1], sys.argv[2]
    shutil.rmtree(out, ignore_errors=True)
    copy_cases(shared, out)
    for name, (net, tops) in {"lenet": lenet(), "alexnet": alexnet(), "squeezenet": squeezenet(),
                              "googlenet": googlenet(), "mobilenet_ssd": mobilenet_ssd(), "mtcnn_p": mtcnn("p"),
                              "mtcnn_r": mtcnn("r"), "mtcnn_o": mtcnn("o")}.items():
        outputs = net.run(tops)
        if name == "mobilenet_ssd":  # Caffe gives class after class; OpenCV the best first
            rows = outputs[0][0, 0]
            outputs = [rows[np.lexsort((-rows[:, 2], rows[:, 1]))][None, None]]
        net.write(os.path.join(out, "caffe", name), outputs)
    for name, (net, outputs) in layer_cases().items():
        net.write(os.path.join(out, "caffe", name), outputs)
    for name, (net, outputs) in darknet_cases().items():
        net.write(os.path.join(out, "darknet", name), outputs)
    for name, net in {"yolov2": yolov2(), "yolov3": yolov3(), "yolov4_tiny": yolov4_tiny()}.items():
        net.write(os.path.join(out, "darknet", name), net.run())


if __name__ == "__main__":
    main()
