#!/usr/bin/env python3
"""Networks and layers of Caffe and Darknet, with outputs of others.

    caffe_networks.py SHARED OUT

writes OUT/WORLD/CASE/ with a network's files and io.safetensors, and copies the small cases of
SHARED/formats. Definitions are the public ones of the papers' networks, narrower; weights are
seeded and coarse, so that they compress. Outputs are those of OpenCV's dnn (4.6), which reads both
worlds; of layers that it lacks or reads in a way of its own, NumPy's by the layer's definition.
tests/data/cases/caffe-cases.tar.xz is OUT.
"""
import json
import os
import shutil
import struct
import sys

import cv2
import numpy as np

rng = np.random.default_rng(22)


def coarse(shape, scale=1.0):
    return (rng.integers(-4, 5, shape) / 4 * scale).astype(np.float32)


def positive(shape):
    return (rng.integers(2, 7, shape) / 4).astype(np.float32)


# --- Files -------------------------------------------------------------------------------------------

def save_io(path, inputs, outputs):
    header, blob = {}, b""
    for prefix, arrays in (("in_", inputs), ("out_", outputs)):
        for i, a in enumerate(arrays):
            a = np.ascontiguousarray(a, np.float32)
            header[f"{prefix}{i}"] = {"dtype": "F32", "shape": list(a.shape),
                                      "data_offsets": [len(blob), len(blob) + a.nbytes]}
            blob += a.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + blob)


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


# --- Darknet -------------------------------------------------------------------------------------------

class Darknet:
    """A configuration section by section, with weights for it."""

    def __init__(self, width, height, channels):
        self.text = f"[net]\nbatch=1\nsubdivisions=1\nwidth={width}\nheight={height}\nchannels={channels}\n"
        self.weights, self.shapes, self.c, self.input = [], [], channels, coarse((1, channels, height, width))

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
        return struct.pack("<iiiQ", 0, 2, 5, 0) + b"".join(w.astype(np.float32).tobytes() for w in self.weights)

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
    for name, net in {"yolov2": yolov2(), "yolov3": yolov3(), "yolov4_tiny": yolov4_tiny()}.items():
        net.write(os.path.join(out, "darknet", name), net.run())


if __name__ == "__main__":
    main()
