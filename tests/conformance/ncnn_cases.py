#!/usr/bin/env python3
"""Layers of ncnn and operators of Caffe2, with PyTorch's outputs.

    ncnn_cases.py OUT

writes OUT/ncnn/CASE/{net.param,net.bin,io.safetensors} and OUT/caffe2/CASE/{predict_net.pb,
init_net.pb,io.safetensors}. Files are written byte by byte after the description of the formats;
outputs are PyTorch's (1.13) and NumPy's after the layers' documentation and kernels. tests/data/cases/caffe-cases.tar.xz has
them beside those of caffe_networks.py.
"""
import os
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F

from caffe_networks import coarse, field, positive, save_io, varint

t = torch.from_numpy


# --- ncnn ------------------------------------------------------------------------------------------------

class Ncnn:
    def __init__(self, *shapes):
        """Shapes without a batch: [c, d, h, w], [c, h, w], [h, w] or [w]."""
        self.rows, self.blobs, self.bin, self.inputs = [], set(), b"", []
        for i, shape in enumerate(shapes):
            names = {1: (0,), 2: (1, 0), 3: (2, 1, 0), 4: (2, 11, 1, 0)}[len(shape)]
            params = " ".join(f"{k}={v}" for k, v in zip(names, shape))
            self.row("Input", f"x{i}", [], [f"x{i}"], params)
            self.inputs.append(coarse((1,) + tuple(shape)))

    def row(self, kind, name, bottoms, tops, params=""):
        self.rows.append(f"{kind} {name} {len(bottoms)} {len(tops)} {' '.join(bottoms + tops)} {params}".strip())
        self.blobs.update(tops)

    def weights(self, *arrays, tags=()):
        """tags: of each array "raw", "f32", "f16" or "i8"."""
        for a, tag in zip(arrays, tags):
            if tag == "f16":
                data = a.astype(np.float16).tobytes()
                self.bin += b"\x47\x6b\x30\x01" + data + b"\0" * (-len(data) % 4)
            elif tag == "i8":
                data = a.astype(np.int8).tobytes()
                self.bin += b"\x38\x4b\x0d\x00" + data + b"\0" * (-len(data) % 4)
            else:
                self.bin += (b"\0\0\0\0" if tag == "f32" else b"") + a.astype(np.float32).tobytes()

    def write(self, folder, outputs):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "net.param"), "w") as f:
            f.write(f"7767517\n{len(self.rows)} {len(self.blobs)}\n" + "\n".join(self.rows) + "\n")
        with open(os.path.join(folder, "net.bin"), "wb") as f:
            f.write(self.bin or b"\0")
        outputs = [o.numpy() if isinstance(o, torch.Tensor) else o for o in outputs]
        save_io(os.path.join(folder, "io.safetensors"), self.inputs, outputs)


def one(shape, kind, params, fn, arrays=(), tags=None, more=()):
    """A network of one layer, whose outputs are fn's of its operands."""
    n = Ncnn(shape, *more)
    xs = [t(x) for x in n.inputs]
    outputs = fn(*xs)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    n.row(kind, "y", [f"x{i}" for i in range(len(xs))], [f"y{i}" for i in range(len(outputs))], params)
    n.weights(*arrays, tags=tags or ["raw"] * len(arrays))
    return n, outputs


def away(x):
    """Rounded, halves away from zero."""
    return torch.sign(x) * torch.floor(torch.abs(x) + 0.5)


def ncnn_cases():
    img, rng = (4, 7, 8), np.random.default_rng(5)
    w, b = coarse((6, 4, 3, 3), 0.3), coarse((6,))
    cases = {}

    def conv(x, **k):
        return F.conv2d(x, t(w), t(b), **k)

    base = f"0=6 1=3 5=1 6={w.size}"
    for name, params, fn in [
            ("plain", "", lambda x: conv(x)),
            ("pads", "3=2 4=1 14=2 15=0 16=1", lambda x: conv(F.pad(x, (1, 0, 2, 1)), stride=2)),
            ("dilated", "2=2 4=2 9=1", lambda x: F.relu(conv(x, dilation=2, padding=2))),
            ("leaky", "4=1 9=2 -23310=1,0.25", lambda x: F.leaky_relu(conv(x, padding=1), 0.25)),
            ("clip", "4=1 9=3 -23310=2,-0.5,1.5", lambda x: conv(x, padding=1).clamp(-0.5, 1.5)),
            ("sigmoid", "4=1 9=4", lambda x: torch.sigmoid(conv(x, padding=1))),
            ("mish", "4=1 9=5", lambda x: F.mish(conv(x, padding=1))),
            ("hardswish", "4=1 9=6 -23310=2,0.2,0.5",
             lambda x: (lambda y: y * (y * 0.2 + 0.5).clamp(0, 1))(conv(x, padding=1))),
            ("same_upper", "3=2 4=-233", lambda x: conv(F.pad(x, (0, 1, 1, 1)), stride=2)),
            ("pad_value", "4=1 18=0.5", lambda x: conv(F.pad(x, (1, 1, 1, 1), value=0.5)))]:
        cases["conv_" + name] = one(img, "Convolution", f"{base} {params}", fn, (w, b), ("f32", "raw"))
    cases["conv_fp16"] = one(img, "Convolution", base, lambda x: F.conv2d(x, t(w.astype(np.float16).astype(np.float32)), t(b)),
                            (w, b), ("f16", "raw"))
    q, ws, bs = rng.integers(-127, 128, (6, 4, 3, 3)), positive((6,)) * 20, np.array([25.0], np.float32)

    def conv_int8(x):
        steps = away(x * float(bs[0])).clamp(-127, 127)
        return F.conv2d(steps, t(q.astype(np.float32))) / t(ws * bs[0]).view(6, 1, 1) + t(b).view(6, 1, 1)
    cases["conv_int8"] = one(img, "Convolution", f"{base} 8=1", conv_int8, (q, b, ws, bs), ("i8", "raw", "raw", "raw"))
    wd, bd = coarse((8, 1, 3, 3)), coarse((8,))
    cases["convdw"] = one(img, "ConvolutionDepthWise", f"0=8 1=3 4=1 5=1 6={wd.size} 7=4",
                          lambda x: F.conv2d(x, t(wd), t(bd), padding=1, groups=4), (wd, bd), ("f32", "raw"))
    w1 = coarse((5, 4, 3))
    cases["conv1d"] = one((4, 9), "Convolution1D", f"0=5 1=3 3=2 4=1 6={w1.size}",
                          lambda x: F.conv1d(x, t(w1), stride=2, padding=1), (w1,), ("f32",))
    wt, bt = coarse((3, 4, 4, 4), 0.5), coarse((3,))  # [out, in, h, w]
    cases["deconv"] = one(img, "Deconvolution", f"0=3 1=4 3=2 4=1 5=1 6={wt.size}",
                          lambda x: F.conv_transpose2d(x, t(wt).transpose(0, 1), t(bt), stride=2, padding=1), (wt, bt),
                          ("f32", "raw"))
    wg = coarse((2, 3, 2, 3, 3), 0.5)  # [group, out, in, h, w]
    cases["deconvdw"] = one(img, "DeconvolutionDepthWise", f"0=6 1=3 3=2 6={wg.size} 7=2 18=1",
                            lambda x: F.conv_transpose2d(x, t(np.ascontiguousarray(wg.transpose(0, 2, 1, 3, 4).reshape(4, 3, 3, 3))),
                                                         stride=2, groups=2, output_padding=1), (wg,), ("f32",))
    wi, bi = coarse((5, 224), 0.2), coarse((5,))
    cases["innerproduct"] = one(img, "InnerProduct", f"0=5 1=1 2={wi.size} 9=1",
                                lambda x: F.relu(F.linear(x.flatten(1), t(wi), t(bi))), (wi, bi), ("f32", "raw"))
    wr = coarse((5, 6))
    cases["innerproduct_rows"] = one((3, 6), "InnerProduct", f"0=5 2={wr.size}", lambda x: F.linear(x, t(wr)), (wr,),
                                     ("f32",))

    def valid_mean(x, k, s, pads):
        ones = F.pad(torch.ones_like(x), pads)
        return F.avg_pool2d(F.pad(x, pads), k, s) / F.avg_pool2d(ones, k, s)
    for name, params, fn in [
            ("max_full", "0=0 1=3 2=2", lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True)),
            ("max_full_pad", "0=0 1=3 2=2 3=1", lambda x: F.max_pool2d(F.pad(x, (1, 2, 1, 1), value=-1e30), 3, 2)),
            ("max_valid", "0=0 1=3 2=2 5=1", lambda x: F.max_pool2d(x, 3, 2)),
            ("max_same", "0=0 1=3 2=2 5=2", lambda x: F.max_pool2d(F.pad(x, (0, 1, 1, 1), value=-1e30), 3, 2)),
            ("mean_full", "0=1 1=3 2=2 3=1", lambda x: valid_mean(x, 3, 2, (1, 2, 1, 1))),
            ("mean_valid", "0=1 1=3 2=2 3=1 5=1", lambda x: valid_mean(x, 3, 2, (1, 1, 1, 1))),
            ("mean_counted", "0=1 1=3 2=1 3=1 5=1 6=1", lambda x: F.avg_pool2d(x, 3, 1, 1)),
            ("hw", "0=0 1=2 11=3 2=1 12=2 5=1", lambda x: F.max_pool2d(x, (3, 2), (2, 1))),
            ("global_mean", "0=1 4=1", lambda x: x.mean((2, 3))), ("global_max", "0=0 4=1", lambda x: x.amax((2, 3)))]:
        cases["pool_" + name] = one(img, "Pooling", params, fn)
    c4 = [positive((4,)), coarse((4,)), positive((4,)), coarse((4,))]
    ch = lambda a: t(a).view(4, 1, 1)
    cases["batchnorm"] = one(img, "BatchNorm", "0=4 1=0.001",
                             lambda x: (x - ch(c4[1])) / torch.sqrt(ch(c4[2]) + 0.001) * ch(c4[0]) + ch(c4[3]), c4)
    cases["scale"] = one(img, "Scale", "0=4 1=1", lambda x: x * ch(c4[0]) + ch(c4[1]), c4[:2])
    cases["bias"] = one(img, "Bias", "0=4", lambda x: x + ch(c4[1]), [c4[1]])
    cases["prelu"] = one(img, "PReLU", "0=4", lambda x: F.prelu(x, t(c4[0])), [c4[0]])
    cases["prelu_shared"] = one(img, "PReLU", "0=1", lambda x: F.leaky_relu(x, 0.5), [np.array([0.5])])
    cases["lrn"] = one(img, "LRN", "1=3 2=0.5 3=0.75 4=1.5", lambda x: F.local_response_norm(x, 3, 0.5, 0.75, 1.5))
    cases["lrn_within"] = one(img, "LRN", "0=1 1=3 2=0.5 3=0.75",
                              lambda x: x * (1 + 0.5 * F.avg_pool2d(x * x, 3, 1, 1)) ** -0.75)
    cases["instancenorm"] = one(img, "InstanceNorm", "0=4 1=0.01",
                                lambda x: F.instance_norm(x, weight=t(c4[0]), bias=t(c4[1]), eps=0.01), c4[:2])
    cases["groupnorm"] = one(img, "GroupNorm", "0=2 1=4 2=0.01", lambda x: F.group_norm(x, 2, t(c4[0]), t(c4[1]), 0.01),
                             c4[:2])
    g8, b8 = positive((8,)), coarse((8,))
    cases["layernorm"] = one(img, "LayerNorm", "0=8 1=0.01", lambda x: F.layer_norm(x, (8,), t(g8), t(b8), 0.01), [g8, b8])
    g56, b56 = positive((56,)), coarse((56,))
    cases["layernorm_plane"] = one(img, "LayerNorm", "0=56 1=0.01",
                                   lambda x: F.layer_norm(x, (7, 8), t(g56).view(7, 8), t(b56).view(7, 8), 0.01), [g56, b56])
    cases["mvn"] = one(img, "MVN", "0=1 1=1",
                       lambda x: (x - x.mean((1, 2, 3), True)) / (x.var((1, 2, 3), False, True).sqrt() + 0.0001))
    cases["normalize"] = one(img, "Normalize", "0=0 1=0 2=0.001 3=4 4=1",
                             lambda x: x / (x.square().sum(1, True) + 0.001).sqrt() * ch(c4[0]), [c4[0]])
    cases["softmax"] = one(img, "Softmax", "0=1 1=1", lambda x: x.softmax(2))
    cases["softmax_last"] = one(img, "Softmax", "0=-1 1=1", lambda x: x.softmax(3))
    for kind, params, fn in [
            ("ReLU", "", F.relu), ("ReLU", "0=0.1", lambda x: F.leaky_relu(x, 0.1)), ("Clip", "0=-0.3 1=0.4", lambda x: x.clamp(-0.3, 0.4)),
            ("Power", "0=2.0 1=0.5 2=3.0", lambda x: (3 + 0.5 * x) ** 2), ("Exp", "0=2.0 1=0.5 2=1.0", lambda x: 2 ** (1 + 0.5 * x)),
            ("Log", "0=-1.0 1=0.5 2=2.0", lambda x: torch.log(2 + 0.5 * x)), ("Threshold", "0=0.2", lambda x: (x > 0.2).float()),
            ("HardSigmoid", "", lambda x: (x * 0.2 + 0.5).clamp(0, 1)), ("HardSwish", "0=0.1666667 1=0.5", F.hardswish),
            ("GELU", "", F.gelu), ("GELU", "0=1", lambda x: 0.5 * x * (1 + torch.tanh(0.79788452 * (x + 0.044715 * x ** 3)))),
            ("CELU", "0=0.7", lambda x: F.celu(x, 0.7)), ("ELU", "", lambda x: F.elu(x, 0.1)), ("SELU", "", F.selu), ("Swish", "", F.silu),
            ("Mish", "", F.mish), ("Softplus", "", F.softplus), ("BNLL", "", F.softplus), ("Sigmoid", "", torch.sigmoid),
            ("TanH", "", torch.tanh), ("AbsVal", "", torch.abs), ("Erf", "", torch.erf), ("Shrink", "0=0.25 1=0.5", None),
            ("Dropout", "0=0.5", lambda x: x * 0.5), ("Flatten", "", lambda x: x.flatten(1))]:
        if fn is None:
            fn = lambda x: torch.where(x < -0.5, x + 0.25, torch.where(x > 0.5, x - 0.25, torch.zeros_like(x)))
        cases[f"{kind.lower()}{len(params)}"] = one(img, kind, params, fn)
    for i, fn in enumerate([torch.abs, torch.neg, torch.floor, torch.ceil, torch.square, None, None, torch.exp, None, torch.sin,
                            torch.cos, torch.tan, None, None, torch.atan, None, torch.tanh, None, torch.round, torch.trunc]):
        if fn:
            cases[f"unaryop_{i}"] = one((2, 3), "UnaryOp", f"0={i}", fn)
    two = [torch.add, torch.sub, torch.mul, None, torch.maximum, torch.minimum, None, lambda x, y: y - x]
    for i, fn in enumerate(two):
        if fn:
            cases[f"binaryop_{i}"] = one(img, "BinaryOp", f"0={i}", fn, more=(img,))
    cases["binaryop_scalar"] = one(img, "BinaryOp", "0=3 1=1 2=4.0", lambda x: x / 4)
    cases["binaryop_channels"] = one(img, "BinaryOp", "0=2", lambda x, y: x * y.view(1, 4, 1, 1), more=((4,),))
    cases["binaryop_rows"] = one((7, 8), "BinaryOp", "0=0", lambda x, y: x + y.view(1, 7, 1), more=((7,),))
    cases["binaryop_one"] = one((1,), "BinaryOp", "0=1", lambda x, y: x.view(1, 1, 1, 1) - y, more=(img,))
    cases["eltwise_sum"] = one(img, "Eltwise", "0=1 -23301=2,0.5,-2.0", lambda x, y: 0.5 * x - 2 * y, more=(img,))
    cases["eltwise_max"] = one(img, "Eltwise", "0=2", torch.maximum, more=(img,))
    cases["concat"] = one(img, "Concat", "0=-1", lambda x, y: torch.cat([x, y], 3), more=((4, 7, 3),))
    cases["slice"] = one(img, "Slice", "-23300=3,1,-233,-233 1=2", lambda x: list(x.split([1, 3, 4], 3)))
    cases["reshape"] = one(img, "Reshape", "0=0 1=-1 2=2", lambda x: x.reshape(1, 2, 14, 8))
    cases["reshape_list"] = one(img, "Reshape", "0=-1", lambda x: x.flatten(1))
    for kind, perm in enumerate([(0, 1, 2, 3), (0, 1, 3, 2), (0, 2, 1, 3), (0, 2, 3, 1), (0, 3, 1, 2), (0, 3, 2, 1)]):
        cases[f"permute_{kind}"] = one(img, "Permute", f"0={kind}", lambda x, perm=perm: x.permute(perm).contiguous())
    cases["crop"] = one(img, "Crop", "0=1 1=2 2=1 3=5 4=3 5=2", lambda x: x[:, 1:3, 2:5, 1:6].contiguous())
    cases["crop_starts"] = one(img, "Crop", "-23309=2,1,2 -23310=2,3,-1 -23311=2,0,2", lambda x: x[:, 1:3, :, 2:-1].contiguous())
    for kind, mode in enumerate(["constant", "replicate", "reflect"]):
        more = "5=0.5" if kind == 0 else ""
        value = {"value": 0.5} if kind == 0 else {}
        cases[f"padding_{mode}"] = one(img, "Padding", f"0=1 1=2 2=3 3=0 4={kind} {more}",
                                       lambda x, m=mode, v=value: F.pad(x, (3, 0, 1, 2), m, **v))
    cases["interp_nearest"] = one(img, "Interp", "0=1 1=2.0 2=2.0", lambda x: F.interpolate(x, scale_factor=2))
    cases["interp_bilinear"] = one(img, "Interp", "0=2 3=11 4=12", lambda x: F.interpolate(x, (11, 12), mode="bilinear"))
    cases["interp_corners"] = one(img, "Interp", "0=2 3=11 4=12 6=1",
                                  lambda x: F.interpolate(x, (11, 12), mode="bilinear", align_corners=True))
    cases["interp_cubic"] = one(img, "Interp", "0=3 3=11 4=12", lambda x: F.interpolate(x, (11, 12), mode="bicubic"))
    cases["shuffle"] = one(img, "ShuffleChannel", "0=2", lambda x: x.view(1, 2, 2, 7, 8).transpose(1, 2).reshape(1, 4, 7, 8))
    cases["pixelshuffle"] = one((8, 3, 5), "PixelShuffle", "0=2", lambda x: F.pixel_shuffle(x, 2))
    cases["pixelshuffle_1"] = one((8, 3, 5), "PixelShuffle", "0=2 1=1",
                                  lambda x: x.view(1, 2, 2, 2, 3, 5).permute(0, 3, 4, 1, 5, 2).reshape(1, 2, 6, 10))
    cases["reorg"] = one((3, 4, 6), "Reorg", "0=2", lambda x: F.pixel_unshuffle(x, 2))
    cases["reorg_1"] = one((3, 4, 6), "Reorg", "0=2 1=1",
                           lambda x: x.view(1, 3, 2, 2, 3, 2).permute(0, 3, 5, 1, 2, 4).reshape(1, 12, 2, 3))
    for kind, fn in [(0, lambda x: x.sum((2, 3))), (1, lambda x: x.abs().sum((2, 3))), (2, lambda x: x.square().sum((2, 3))),
                     (3, lambda x: x.mean((2, 3))), (4, lambda x: x.amax((2, 3))), (5, lambda x: x.amin((2, 3))),
                     (8, lambda x: x.square().sum((2, 3)).sqrt()), (10, lambda x: x.logsumexp((2, 3)))]:
        cases[f"reduction_{kind}"] = one(img, "Reduction", f"0={kind} 1=0 -23303=2,1,2 5=1", fn)
    cases["reduction_all"] = one(img, "Reduction", "0=3", lambda x: x.mean().view(1, 1))
    cases["squeeze"] = one((1, 7, 1), "Squeeze", "-23303=2,0,2", lambda x: x.reshape(1, 7))
    cases["expanddims"] = one((7,), "ExpandDims", "-23303=2,0,-1", lambda x: x.reshape(1, 1, 7, 1))
    cases["tile"] = one(img, "Tile", "0=1 1=3", lambda x: x.repeat(1, 1, 3, 1))
    cases["glu"] = one(img, "GLU", "0=0", lambda x: F.glu(x, 1))
    cases["cumsum"] = one((3, 5), "CumulativeSum", "0=1", lambda x: x.cumsum(2))
    cases["matmul"] = one((2, 3, 4), "MatMul", "", torch.matmul, more=((2, 4, 5),))
    cases["matmul_t"] = one((3, 4), "MatMul", "0=1", lambda x, y: x @ y.transpose(1, 2), more=((5, 4),))
    wb, wc = coarse((5, 4)), coarse((5,))
    cases["gemm"] = one((3, 4), "Gemm", "0=0.5 1=2.0 3=1 5=1 6=1 7=3 8=5 9=4 10=4",
                        lambda x: 0.5 * (x @ t(wb).T + 2 * t(wc)), [wb, wc], ["f32", "f32"])
    for name, gates, order, way in [("LSTM", 4, (0, 1, 3, 2), 0), ("LSTM", 4, (0, 1, 3, 2), 2), ("GRU", 3, (0, 1, 2), 1),
                                    ("GRU", 3, (0, 1, 2), 2), ("RNN", 1, (0,), 0)]:
        ways, net = 2 if way == 2 else 1, {"LSTM": torch.nn.LSTM, "GRU": torch.nn.GRU, "RNN": torch.nn.RNN}[name]
        net = net(5, 3, bidirectional=way == 2, batch_first=True)
        xs, bs, hs = [], [], []
        for ends in ["", "_reverse"][:ways]:
            own = [getattr(net, part + "_l0" + ends) for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            for v in own:
                v.data = t(coarse(tuple(v.shape), 0.5))
            blocks = [v.data.numpy().reshape(gates, 3, -1) for v in own]
            xs.append(blocks[0][list(order)])
            hs.append(blocks[1][list(order)])
            both = blocks[2] + blocks[3]
            # GRU: the new gate's two biases stand apart.
            bs.append(np.concatenate([both[:2], blocks[2][2:], blocks[3][2:]]) if name == "GRU" else both[list(order)])
        xs, bs, hs = (np.stack(v) for v in (xs, bs, hs))
        turned = (lambda x: x.flip(1)) if way == 1 else (lambda x: x)
        cases[f"{name.lower()}_{way}"] = one((6, 5), name, f"0=3 1={xs.size} 2={way}",
                                             lambda x, net=net, turned=turned: turned(net(turned(x))[0]).detach().contiguous(),
                                             [xs, bs, hs], ["f32"] * 3)
    mha = torch.nn.MultiheadAttention(8, 2, batch_first=True, kdim=6, vdim=4)
    parts = [mha.q_proj_weight, mha.k_proj_weight, mha.v_proj_weight, mha.out_proj.weight]
    for v in parts + [mha.in_proj_bias, mha.out_proj.bias]:
        v.data = t(coarse(tuple(v.shape), 0.5))
    qb, kb, vb = mha.in_proj_bias.data.numpy().reshape(3, 8)
    q, k, v, o = (v.data.numpy() for v in parts)
    cases["attention"] = one((5, 8), "MultiHeadAttention", "0=8 1=2 2=64 3=6 4=4",
                             lambda x, y, z: mha(x, y, z, need_weights=False)[0].detach(),
                             [q, qb, k, kb, v, vb, o, mha.out_proj.bias.data.numpy()], ["f32", "raw"] * 4, more=((7, 6), (7, 4)))
    table = coarse((9, 4))
    n = Ncnn((6,))
    n.inputs = [np.array([[0, 3, 8, 2, 2, 7]], np.float32)]
    n.row("Embed", "y", ["x0"], ["y0"], f"0=4 1=9 3={table.size}")
    n.weights(table, tags=["f32"])
    cases["embed"] = n, [table[n.inputs[0].astype(int)]]
    data = coarse((4, 7, 8))
    n = Ncnn(img)
    n.row("MemoryData", "m", [], ["m"], "0=8 1=7 2=4")
    n.row("BinaryOp", "y", ["x0", "m"], ["y0"], "0=2")
    n.weights(data, tags=["raw"])
    cases["memorydata"] = n, [n.inputs[0] * data]
    cases.update(ncnn_windows())
    cases.update(ncnn_states())
    cases.update(ncnn_detectors())
    return cases


def ncnn_windows():
    """Layers of computed places and weights, columns, parts and integers."""
    img, cases = (4, 7, 8), {}
    w, b = coarse((6, 4, 3, 3), 0.3), coarse((6,))

    def deform(x, offset, mask):
        """deformableconv2d.cpp: bilinear, 0 outside; padding 1, step 1."""
        x, offset, mask = (v.numpy()[0] for v in (x, offset, mask))
        y = np.zeros((6, 7, 8))
        padded = np.pad(x, ((0, 0), (2, 2), (2, 2)))
        for row in range(7):
            for column in range(8):
                for i in range(9):
                    h = np.clip(row - 1 + i // 3 + offset[2 * i, row, column], -1, 7)
                    v = np.clip(column - 1 + i % 3 + offset[2 * i + 1, row, column], -1, 8)
                    h0, v0 = int(np.floor(h)), int(np.floor(v))
                    part = sum(padded[:, h0 + a + 2, v0 + c + 2] * (1 - abs(h - h0 - a)) * (1 - abs(v - v0 - c))
                               for a in (0, 1) for c in (0, 1) if h0 + a + 2 < 11 and v0 + c + 2 < 12)
                    y[:, row, column] += w[:, :, i // 3, i % 3] @ part * mask[i, row, column]
        return (y + b[:, None, None])[None].astype(np.float32)
    cases["deformable"] = one(img, "DeformableConv2D", f"0=6 1=3 4=1 5=1 6={w.size}", deform, (w, b), ("f32", "raw"),
                              more=((18, 7, 8), (9, 7, 8)))
    places = (5, 6, 2)
    for name, params, options in [("linear", "0=1 1=1 2=0", dict(mode="bilinear", align_corners=False)),
                                  ("border", "0=1 1=2 2=1", dict(mode="bilinear", padding_mode="border", align_corners=True)),
                                  ("reflection", "0=1 1=3 2=0", dict(mode="bilinear", padding_mode="reflection", align_corners=False)),
                                  ("cubic", "0=3 1=2 2=0", dict(mode="bicubic", padding_mode="border", align_corners=False))]:
        cases["gridsample_" + name] = one(img, "GridSample", params, lambda x, p, o=options: F.grid_sample(x, p, **o), more=(places,))
    cases["gridsample_first"] = one(img, "GridSample", "0=1 1=1 2=1 3=1",
                                    lambda x, p: F.grid_sample(x, p.permute(0, 2, 3, 1), align_corners=True), more=((2, 5, 6),))
    cases["unfold"] = one(img, "Unfold", "1=3 11=2 2=1 12=2 3=2 13=1 4=1 14=0 15=0 16=1 18=0.5",
                          lambda x: F.unfold(F.pad(x, (1, 0, 0, 1), value=0.5), (2, 3), (2, 1), 0, (1, 2)))
    cases["fold"] = one((36, 20), "Fold", "1=3 3=2 13=1 4=1 20=7 21=5",
                        lambda x: F.fold(x, (5, 7), 3, 1, 1, (1, 2)))
    cases["copyto"] = one(img, "CopyTo", "0=2 1=1 2=1", copied((1, 1, 2)), more=((2, 3, 4),))
    cases["copyto_starts"] = one(img, "CopyTo", "-23309=2,-3,0 -23311=2,2,0", copied((0, 0, 5)), more=((4, 7, 2),))
    cases["diag_list"] = one((4,), "Diag", "0=-1", lambda x: torch.diag(x[0], -1)[None])
    cases["diag_matrix"] = one((4, 6), "Diag", "0=2", lambda x: torch.diagonal(x[0], 2)[None].contiguous())
    equation = "ijk,ikl->ijl"
    cases["einsum"] = one((2, 3, 4), "Einsum", "-23300=" + ",".join(map(str, [len(equation)] + [ord(c) for c in equation])),
                          torch.matmul, more=((2, 4, 5),))
    cases["flip"] = one(img, "Flip", "-23300=2,0,-1", lambda x: x.flip(1, 3))
    cases["conv_dynamic"] = one(img, "Convolution", "0=6 1=3 4=1 5=1 19=1 9=1",
                                lambda x, k, s: F.relu(F.conv2d(x, k[0], s[0], padding=1)), more=((6, 4, 3, 3), (6,)))
    cube = (3, 6, 7, 8)
    cases["pool3d_max"] = one(cube, "Pooling3D", "0=0 1=2 2=2 21=3 22=1", lambda x: F.max_pool3d(x, (3, 2, 2), (1, 2, 2), ceil_mode=True))
    cases["pool3d_mean"] = one(cube, "Pooling3D", "0=1 1=2 11=3 21=2 2=2 5=1", lambda x: F.avg_pool3d(x, (2, 3, 2), 2))
    cases["pool3d_global"] = one(cube, "Pooling3D", "0=1 4=1", lambda x: x.mean((2, 3, 4)))
    # Integers between layers: 8 bits, and the sums of a convolution of them.
    rng = np.random.default_rng(8)
    q, of_x, of_w, of_y = rng.integers(-127, 128, (6, 4, 3, 3)), np.array([20.0]), positive((6,)) * 20, np.array([8.7])
    scales = t((of_w * of_x).astype(np.float32)).view(6, 1, 1)

    def summed(x):
        return F.conv2d(away(x * 20).clamp(-127, 127), t(q.astype(np.float32))) / scales + t(b).view(6, 1, 1)
    n = Ncnn(img)
    n.row("Quantize", "q", ["x0"], ["q"], "0=1")
    n.row("Convolution", "c", ["q"], ["c"], f"0=6 1=3 5=1 6={q.size} 8=101 9=1")
    n.row("Dequantize", "d", ["c"], ["y0"], "0=6 1=6")
    back, shift = positive((6,)), coarse((6,))
    n.weights(of_x, q, b, of_w, of_x, of_y, back, shift, tags=["raw", "i8"] + ["raw"] * 6)
    cases["int8_chain"] = n, [away(F.relu(summed(t(n.inputs[0]))) * 8.7).clamp(-127, 127) * t(back).view(6, 1, 1) + t(shift).view(6, 1, 1)]
    n = Ncnn(img)
    n.row("Quantize", "q", ["x0"], ["q"], "0=4")
    n.row("Requantize", "r", ["q"], ["r"], "0=1 1=1 2=4 3=1")
    n.row("Dequantize", "d", ["r"], ["y0"], "0=1")
    each, down, up, more = positive((4,)) * 16, np.array([0.05]), np.array([50.0]), coarse((4,))
    n.weights(each, down, up, more, np.array([0.02]), tags=["raw"] * 5)
    steps = away(t(n.inputs[0]) * t(each).view(4, 1, 1)).clamp(-127, 127)
    cases["requantize"] = n, [away(F.relu(steps * 0.05 + t(more).view(4, 1, 1)) * 50).clamp(-127, 127) * 0.02]
    return cases


def copied(starts):
    def fn(x, y):
        x = x.clone()
        x[(0,) + tuple(slice(s, s + n) for s, n in zip(starts, y.shape[1:]))] = y[0]
        return x
    return fn


def ncnn_states():
    """Recurrent layers whose states are operands and results, and attention with a mask."""
    cases = {}
    lstm, gru = torch.nn.LSTM(5, 3, batch_first=True), torch.nn.GRU(5, 3, batch_first=True)
    for net in (lstm, gru):
        for v in net.parameters():
            v.data = t(coarse(tuple(v.shape), 0.5))
    parts = {}
    for name, net, gates, order in (("lstm", lstm, 4, (0, 1, 3, 2)), ("gru", gru, 3, (0, 1, 2))):
        x, h, bx, bh = (v.data.numpy().reshape(gates, 3, -1) for v in net.parameters())
        both = (bx + bh)[list(order)] if name == "lstm" else np.concatenate([(bx + bh)[:2], bx[2:], bh[2:]])
        parts[name] = [x[list(order)], both, h[list(order)]]

    def run(net, x, *states):
        y, last = net(x, tuple(states) if len(states) > 1 else states[0])
        return [v.detach() for v in ((y,) + tuple(last) if isinstance(last, tuple) else (y, last))]
    cases["lstm_states"] = one((6, 5), "LSTM", f"0=3 1={parts['lstm'][0].size}", lambda x, h, c: run(lstm, x, h, c), parts["lstm"],
                               ["f32"] * 3, more=((1, 3), (1, 3)))
    cases["gru_state"] = one((6, 5), "GRU", f"0=3 1={parts['gru'][0].size}", lambda x, h: run(gru, x, h), parts["gru"],
                             ["f32"] * 3, more=((1, 3),))
    mha = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    for v in mha.parameters():
        v.data = t(coarse(tuple(v.shape), 0.5))
    (q, k, v), (qb, kb, vb) = mha.in_proj_weight.data.numpy().reshape(3, 8, 8), mha.in_proj_bias.data.numpy().reshape(3, 8)
    arrays = [q, qb, k, kb, v, vb, mha.out_proj.weight.data.numpy(), mha.out_proj.bias.data.numpy()]
    for name, shape in (("mask", (5, 5)), ("mask_each", (2, 5, 5))):
        cases["attention_" + name] = one((5, 8), "MultiHeadAttention", "0=8 1=2 2=64 5=1",
                                         lambda x, m: mha(x, x, x, attn_mask=m[0], need_weights=False)[0].detach(),
                                         arrays, ["f32", "raw"] * 4, more=(shape,))
    return cases


def ncnn_steps():
    """Projected and quantized recurrent layers step by step, attention with caches, and spectra."""
    rng, cases = np.random.default_rng(77), {}
    rand = lambda *s: rng.normal(size=s).astype(np.float32)
    sigmoid = lambda v: 1 / (1 + np.exp(-v))

    def steps_of(x, axis=None):
        most = np.abs(x).max(axis=axis, keepdims=True)
        scale = np.where(most == 0, 1, 127 / np.where(most == 0, 1, most))
        y = x * scale
        return np.clip(np.sign(y) * np.floor(np.abs(y) + 0.5), -127, 127), scale

    def product(x, w, scales):
        if scales is None:
            return x @ w.T
        q, s = steps_of(x, 1)
        return q @ w.astype(np.float64).T / (s * scales)

    def step(kind, w, x, h, c):
        n, bias = w["hidden"], w["bias"]
        gx = product(x, w["x"], w.get("xs")) + bias[:len(w["x"])]
        gh = product(h, w["h"], w.get("hs"))
        part = lambda g, i: g[:, i * n:(i + 1) * n]
        if kind == "RNN":
            return np.tanh(gx + gh), None
        if kind == "GRU":
            r, u = sigmoid(part(gx, 0) + part(gh, 0)), sigmoid(part(gx, 1) + part(gh, 1))
            fresh = np.tanh(part(gx, 2) + r * (part(gh, 2) + bias[3 * n:]))
            return (1 - u) * fresh + u * h, None
        g = gx + gh
        c = sigmoid(part(g, 1)) * c + sigmoid(part(g, 0)) * np.tanh(part(g, 3))
        h = sigmoid(part(g, 2)) * np.tanh(c)
        return (h @ w["p"].T if "p" in w else h), c

    def layer(kind, x, ways, way, h, c):
        ys = []
        for i, w in enumerate(ways):
            y, hs, cs = [], h[i:i + 1], c[i:i + 1]
            turned = way == 1 or i == 1
            for row in (x[::-1] if turned else x):
                hs, cs = step(kind, w, row[None], hs, cs)
                y.append(hs[0])
            ys.append(np.array(y[::-1] if turned else y))
            h[i] = hs[0]
            if cs is not None:
                c[i] = cs[0]
        return np.concatenate(ys, 1), h, c

    for name, kind, way, hidden, bits, states in [("proj", "LSTM", 0, 4, 0, False), ("proj_both", "LSTM", 2, 4, 0, True),
                                                  ("int8", "LSTM", 1, 3, 2, False), ("int8_proj", "LSTM", 2, 5, 2, False),
                                                  ("int8", "GRU", 0, 3, 2, True), ("int8", "RNN", 2, 3, 2, False)]:
        gates, biases, out = {"LSTM": (4, 4), "GRU": (3, 4), "RNN": (1, 1)}[kind] + (3,)
        ways = []
        for _ in range(2 if way == 2 else 1):
            draw = (lambda *s: rng.integers(-127, 128, s)) if bits else rand
            w = {"hidden": hidden, "x": draw(gates * hidden, 5), "bias": rand(biases * hidden), "h": draw(gates * hidden, out)}
            if hidden != out:
                w["p"] = rand(out, hidden)
            if bits:
                w["xs"], w["hs"] = (np.abs(rand(gates * hidden)) * 40 + 60).astype(np.float32), (np.abs(rand(gates * hidden)) * 40 + 60).astype(np.float32)
            ways.append(w)
        count = len(ways)
        more = ((count, out), (count, hidden))[:2 if kind == "LSTM" else 1] if states else ()
        n = Ncnn((6, 5), *more)
        x, given = n.inputs[0][0], [v[0].astype(np.float64) for v in n.inputs[1:]]
        h = given[0].copy() if given else np.zeros((count, out))
        c = given[1].copy() if len(given) > 1 else np.zeros((count, hidden))
        y, h, c = layer(kind, x.astype(np.float64), ways, way, h, c)
        outputs = [y[None]] + ([h[None], c[None]][:len(more)] if states else [])
        size = sum(w["x"].size for w in ways)
        n.row(kind, "y", [f"x{i}" for i in range(1 + len(more))], [f"y{i}" for i in range(len(outputs))],
              f"0={out} 1={size} 2={way}" + (f" 3={hidden}" if hidden != out else "") + (f" 8={bits}" if bits else ""))
        keys = [("x", "i8" if bits else "f32"), ("bias", "f32"), ("h", "i8" if bits else "f32"), ("p", "f32"), ("xs", "raw"), ("hs", "raw")]
        for key, tag in keys:
            if key in ways[0]:
                n.weights(np.stack([w[key] for w in ways]), tags=[tag])
        cases[f"{kind.lower()}_{name}"] = n, outputs

    def softmax(s):
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def attended(q, k, v, mask, bits):
        """q, k, v: [heads, rows, each]."""
        out = []
        for i in range(len(q)):
            if bits:
                (a, sa), (b, sb) = steps_of(q[i], 1), steps_of(k[i])
                scores = a @ b.T / (sa * sb)
            else:
                scores = q[i] @ k[i].T
            chance = softmax(scores + (0 if mask is None else mask[i] if mask.ndim == 3 else mask))
            if bits:
                (a, sa), (b, sb) = steps_of(chance, 1), steps_of(v[i])
                out.append(a @ b / (sa * sb))
            else:
                out.append(chance @ v[i])
        return np.stack(out)

    # --- Scaled products: heads in groups, masks, caches.
    for name, groups, mask, past, bits, scale in [("", 4, None, 0, 0, 0), ("groups", 2, (3, 5), 0, 0, 0.5), ("cache", 2, (4, 3, 7), 2, 0, 0),
                                                  ("int8", 4, None, 0, 2, 0)]:
        shapes = [(4, 3, 6), (groups, 5, 6), (groups, 5, 2)] + ([mask] if mask else []) + ([(groups, past, 6), (groups, past, 2)] if past else [])
        n = Ncnn(*shapes)
        n.inputs = [rand(*v.shape) for v in n.inputs]
        q, k, v = (x[0].astype(np.float64) for x in n.inputs[:3])
        m = n.inputs[3][0] if mask else None
        if past:
            k, v = (np.concatenate([n.inputs[-2 + i][0], x], 1) for i, x in enumerate((k, v)))
        each = 4 // groups
        y = attended(q * (scale or 1 / np.sqrt(6)), k.repeat(each, 0), v.repeat(each, 0), m, bits)
        outputs = [y[None]] + ([k[None], v[None]] if past else [])
        n.row("SDPA", "y", [f"x{i}" for i in range(len(shapes))], [f"y{i}" for i in range(len(outputs))],
              f"5={int(bool(mask))} 6={scale} 7={int(bool(past))} 18={bits}")
        cases["sdpa" + ("_" + name if name else "")] = n, outputs

    # --- Attention with its products, caches [numbers, steps].
    for name, past, cross, mask, bits in [("cache", 3, False, True, 0), ("cache_cross", 4, True, False, 0), ("int8", 0, False, False, 2),
                                          ("int8_cache", 2, False, False, 2)]:
        shapes = [(5, 8)] + ([(6, 8)] if cross else []) + ([(5, 5 + past)] if mask else []) + ([(8, past), (8, past)] if past else [])
        n = Ncnn(*shapes)
        n.inputs = [rand(*v.shape) for v in n.inputs]
        draw = (lambda *s: rng.integers(-127, 128, s)) if bits else rand
        ws, bs = [draw(8, 8) for _ in range(4)], [rand(8) for _ in range(4)]
        scales = [(np.abs(rand(8)) * 40 + 60).astype(np.float32) for _ in range(3)] + [np.array([77.0], np.float32)]

        def affine(x, i):
            if not bits:
                return x @ ws[i].T + bs[i]
            a, s = steps_of(x)
            return a @ ws[i].T.astype(np.float64) / (s * scales[i]) + bs[i]
        x = n.inputs[0][0].astype(np.float64)
        q, k, v = affine(x, 0) / 2, affine(x, 1), affine(x, 2)
        if past:
            old = [c[0].T for c in n.inputs[-2:]]
            k, v = (old if cross else [np.concatenate([o, new]) for o, new in zip(old, (k, v))])
        heads = lambda y: y.reshape(len(y), 2, 4).transpose(1, 0, 2)
        m = n.inputs[1][0] if mask else None
        joined = attended(heads(q), heads(k), heads(v), m, bits).transpose(1, 0, 2).reshape(5, 8)
        if bits:
            a, s = steps_of(joined, 1)
            y = a @ ws[3].T.astype(np.float64) / (s * scales[3]) + bs[3]
        else:
            y = joined @ ws[3].T + bs[3]
        outputs = [y[None]] + ([k.T[None], v.T[None]] if past else [])
        n.row("MultiHeadAttention", "y", [f"x{i}" for i in range(len(shapes))], [f"y{i}" for i in range(len(outputs))],
              f"0=8 1=2 2=64 5={int(mask)} 7={int(bool(past))} 18={bits}")
        for w, b in zip(ws, bs):
            n.weights(w, b, tags=["i8" if bits else "f32", "raw"])
        if bits:
            n.weights(*scales, tags=["raw"] * 4)
        cases["attention_" + name] = n, outputs

    # --- Turned pairs.
    for name, side, width in [("", 0, 3), ("full", 0, 6), ("pairs", 1, 3)]:
        n = Ncnn((2, 4, 6), (4, width), (4, width))
        x, c, s = (v.astype(np.float64) for v in n.inputs)
        if side:
            a, b = x[..., 0::2], x[..., 1::2]
            y = np.stack([a * c - b * s, a * s + b * c], -1).reshape(x.shape)
        else:
            a, b = x[..., :3], x[..., 3:]
            y = np.concatenate([a * c[..., :3] - b * s[..., :3], a * s[..., -3:] + b * c[..., -3:]], -1)
        n.row("RotaryEmbed", "y", ["x0", "x1", "x2"], ["y0"], f"0={side}")
        cases["rotary" + ("_" + name if name else "")] = n, [y]

    # --- Spectra, by PyTorch's.
    def window_of(kind, length):
        if kind == 0:
            return torch.ones(length)
        return torch.hann_window(length) if kind == 1 else torch.hamming_window(length)
    modes = ["constant", "replicate", "reflect"]
    for name, size, power, hop, length, kind, center, pad, normal, one_side in [
            ("", 16, 0, 4, 16, 0, 1, 2, 0, 1), ("hann", 16, 1, 6, 12, 1, 1, 0, 1, 1), ("hamming", 15, 2, 4, 15, 2, 0, 2, 2, 0), ("all", 8, 0, 2, 8, 1, 1, 1, 0, 0)]:
        def spectrum(x):
            w = window_of(kind, length)
            if center:
                x = F.pad(x[:, None], (size // 2, size // 2), mode=modes[pad])[:, 0]
            y = torch.stft(x, size, hop, length, w, False, normalized=normal == 1, onesided=bool(one_side), return_complex=True)
            y = y / w.square().sum().sqrt() if normal == 2 else y
            return torch.view_as_real(y) if power == 0 else y.abs() ** power
        cases["spectrogram" + ("_" + name if name else "")] = one(
            (50,), "Spectrogram", f"0={size} 1={power} 2={hop} 3={length} 4={kind} 5={center} 6={pad} 7={normal} 8={one_side}", spectrum)
    for name, size, returns, hop, length, kind, center, normal, one_side in [("", 16, 1, 4, 16, 1, 1, 0, 1), ("all", 8, 0, 2, 8, 2, 1, 1, 0),
                                                                             ("plain", 9, 1, 3, 9, 0, 0, 2, 1), ("imaginary", 8, 2, 4, 8, 0, 0, 0, 0)]:
        def back(x):
            y = torch.view_as_complex(x[0].contiguous()).to(torch.complex128)  # [frequencies, windows]
            w = torch.zeros(size, dtype=torch.float64)
            w[(size - length) // 2:(size - length) // 2 + length] = window_of(kind, length).double()
            y = y * (size ** 0.5 if normal == 1 else w.square().sum().sqrt() if normal == 2 else 1)
            if one_side:
                y = torch.cat([y, y[1:size - size // 2].flip(0).conj()])
            parts, frames = torch.fft.ifft(y, dim=0) * w[:, None], y.shape[1]
            total, weight = torch.zeros((frames - 1) * hop + size, dtype=torch.complex128), torch.zeros((frames - 1) * hop + size, dtype=torch.float64)
            for j in range(frames):
                total[j * hop:j * hop + size] += parts[:, j]
                weight[j * hop:j * hop + size] += w ** 2
            if center:
                total, weight = (v[size // 2:size // 2 + (frames - 1) * hop + size % 2] for v in (total, weight))
            y = total / weight
            return (torch.view_as_real(y) if returns == 0 else y.real if returns == 1 else y.imag)[None].float()
        freqs = size // 2 + 1 if one_side else size
        cases["inversespectrogram" + ("_" + name if name else "")] = one(
            (freqs, 7, 2), "InverseSpectrogram", f"0={size} 1={returns} 2={hop} 3={length} 4={kind} 5={center} 7={normal}", back)

    # --- And what else.
    cases["statistics"] = one((4, 3, 5), "StatisticsPooling", "0=1", lambda x: torch.cat([x.mean((2, 3)), x.std((2, 3), unbiased=False)], 1))
    cases["statistics_rows"] = one((3, 5), "StatisticsPooling", "", lambda x: x.mean((1, 2)).view(1, 1))
    em, scale, bias = rng.integers(-127, 128, (9, 4)), np.array([31.0], np.float32), coarse((4,))
    n = Ncnn((5,))
    n.inputs = [np.array([[0, 3, 8, 20, -2]], np.float32)]
    n.row("Embed", "y", ["x0"], ["y0"], "0=4 1=9 2=1 3=36 18=2")
    n.weights(em, bias, scale, tags=["i8", "raw", "raw"])
    cases["embed_int8"] = n, [(em[[0, 3, 8, 8, 0]] / scale + bias)[None]]
    wt, bt = coarse((3, 4, 4, 4), 0.5), coarse((3,))
    whole = lambda x: F.conv_transpose2d(x, t(wt).transpose(0, 1), t(bt), stride=2)
    for name, pad, shift in [("upper", -233, 0), ("lower", -234, 1)]:  # 16 x 18 cut to 13 x 15
        cases["deconv_same_" + name] = one((4, 7, 8), "Deconvolution", f"0=3 1=4 3=2 4={pad} 5=1 6={wt.size} 20=15 21=13 9=1",
                                           lambda x: F.relu(whole(x)[:, :, 1 + shift:14 + shift, 1 + shift:16 + shift]), (wt, bt), ("f32", "raw"))
    values = coarse((4,))
    cases["padding_each"] = one((4, 3, 5), "Padding", "0=1 1=2 2=1 3=0 4=0 6=4",
                                lambda x: F.pad(x - t(values).view(4, 1, 1), (1, 0, 1, 2)) + t(values).view(4, 1, 1), [values])
    cases["slice_places"] = one((7, 3), "Slice", "1=0 -23302=2,2,-3", lambda x: (x[:, :2], x[:, 2:4], x[:, 4:]))
    for name, shape, at in [("columns", (5,), lambda c: c), ("rows", (3,), lambda c: c[:, :, None]), ("one", (1,), lambda c: c)]:
        cases["gemm_" + name] = one((3, 4), "Gemm", "0=0.5 1=2.0 11=1" if name == "columns" else "0=0.5 1=2.0",
                                    lambda x, y, c: (lambda z: z.unsqueeze(2) if name == "columns" else z)(0.5 * (x @ y + 2 * at(c))),
                                    more=((4, 5), shape))
    for name, ca, cb, ta, tb in [("b", 0, 1, 0, 1), ("a", 1, 0, 1, 0), ("none", 0, 0, 0, 1)]:
        n = Ncnn(*([] if ca else [(4, 3) if ta else (3, 4)]), *([] if cb else [(5, 4) if tb else (4, 5)]))
        n.inputs = [rand(*v.shape) for v in n.inputs]
        wa, wb = rng.integers(-127, 128, (4, 3) if ta else (3, 4)), rng.integers(-127, 128, (5, 4) if tb else (4, 5))
        sa, sb, c = (np.abs(rand(3)) * 40 + 60).astype(np.float32), np.array([55.0], np.float32), rand(5)
        given = [x[0].astype(np.float64) for x in n.inputs]
        a = wa if ca else given[0]
        b = wb if cb else given[-1]
        a, b = (a.T if ta else a), (b.T if tb else b)
        (qa, ra), (qb, rb) = ((a, sa[:, None]) if ca else steps_of(a, 1)), ((b, sb) if cb else steps_of(b))
        y = 0.5 * (qa @ qb / (ra * rb) + 2 * c)
        n.row("Gemm", "y", [f"x{i}" for i in range(len(given))], ["y0"],
              f"0=0.5 1=2.0 2={ta} 3={tb} 4={ca} 5={cb} 6=1 7=3 8=5 9=4 10=4 18=2")
        for on, w in ((ca, wa), (cb, wb)):
            if on:
                n.weights(w, tags=["i8"])
        n.weights(c, tags=["f32"])
        for on, w in ((ca, sa), (cb, sb)):
            if on:
                n.weights(w, tags=["raw"])
        cases["gemm_int8_" + name] = n, [y[None]]
    return cases


def best(boxes, scores, overlap):
    """The numbers of boxes that are left, the best first: nms_sorted_bboxes."""
    left, area = [], (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for i in np.argsort(-scores, kind="stable"):
        size = [np.minimum(boxes[i, k + 2], boxes[left, k + 2]) - np.maximum(boxes[i, k], boxes[left, k]) for k in (0, 1)]
        inner = np.where((size[0] < 0) | (size[1] < 0), 0, size[0] * size[1])
        if not (inner / (area[i] + area[left] - inner) > overlap).any():
            left.append(i)
    return left


def ncnn_detectors():
    """Boxes of SSD, YOLO and Faster R-CNN, and regions, by the formulas of ncnn's layers."""
    rng, cases = np.random.default_rng(41), {}
    sigmoid = lambda v: 1 / (1 + np.exp(-v))

    def rows(labels, scores, boxes):
        return np.concatenate([np.stack([labels, scores], 1), boxes], 1)[None].astype(np.float32)

    # --- Boxes to begin with, in ncnn's order.
    def priors(least, most, ratios, flip, clip, step, offset, map_size, image):
        out = []
        for i in range(map_size[0]):
            for j in range(map_size[1]):
                x, y, sides = (j + offset) * step[0], (i + offset) * step[1], []
                for k, a in enumerate(least):
                    sides.append((a, a))
                    if most:
                        sides.append((np.sqrt(a * most[k]),) * 2)
                    for r in ratios:
                        w, h = a * np.sqrt(r), a / np.sqrt(r)
                        sides += [(w, h)] + ([(h, w)] if flip else [])
                out += [[(x - w / 2) / image[1], (y - h / 2) / image[0], (x + w / 2) / image[1], (y + h / 2) / image[0]]
                        for w, h in sides]
        corners = np.array(out).ravel()
        corners = corners.clip(0, 1) if clip else corners
        return np.stack([corners, np.tile([0.1, 0.1, 0.2, 0.25], len(out))])[None].astype(np.float32)
    n = Ncnn((4, 3, 5), (3, 24, 40))
    n.row("PriorBox", "p", ["x0", "x1"], ["y0"], "-23300=2,4.0,8.0 -23301=2,8.0,12.0 -23302=2,2.0,3.0 6=0.25 8=1 9=-233 10=-233 13=0.5")
    cases["priorbox"] = n, [priors((4, 8), (8, 12), (2, 3), True, True, (8, 8), 0.5, (3, 5), (24, 40))]
    n = Ncnn((4, 3, 5), (3, 24, 40))
    n.row("PriorBox", "p", ["x0", "x1"], ["y0"], "-23300=1,4.0 -23302=1,2.0 6=0.25 7=0 9=50 10=30 11=10.0 12=9.0 13=0.25")
    cases["priorbox_given"] = n, [priors((4,), (), (2,), False, False, (10, 9), 0.25, (3, 5), (30, 50))]

    # --- Boxes that are left.
    def ssd(offsets, chances, prior, classes, overlap, before, after, above):
        offsets, chances, (p, v) = offsets.reshape(-1, 4), chances.reshape(-1, classes), prior.reshape(2, -1, 4)
        wh = p[:, 2:] - p[:, :2]
        middle, half = v[:, :2] * offsets[:, :2] * wh + (p[:, :2] + p[:, 2:]) / 2, np.exp(v[:, 2:] * offsets[:, 2:]) * wh / 2
        boxes, found = np.concatenate([middle - half, middle + half], 1), []
        for c in range(1, classes):
            mine = np.flatnonzero(chances[:, c] > above)
            mine = mine[np.argsort(-chances[mine, c], kind="stable")][:before]
            found += [(chances[mine[i], c], c, mine[i]) for i in best(boxes[mine], chances[mine, c], overlap)]
        found = sorted(found, key=lambda f: -f[0])[:after]
        return rows([f[1] for f in found], [f[0] for f in found], boxes[[f[2] for f in found]])
    prior = priors((5, 9), (), (2,), True, False, (6, 6), 0.5, (4, 4), (24, 24))
    count = prior.shape[2] // 4
    for name, before, after in (("ssd", 300, 100), ("ssd_few", 9, 12)):
        n = Ncnn((4 * count,), (4 * count,), (2, 4 * count))
        raw = np.exp(rng.normal(size=(1, count, 4)) * 1.5)
        n.inputs = [(rng.normal(size=(1, 4 * count)) * 0.5).astype(np.float32),
                    (raw / raw.sum(2, keepdims=True)).reshape(1, -1).astype(np.float32), prior]
        n.row("DetectionOutput", "d", ["x0", "x1", "x2"], ["y0"], f"0=4 1=0.45 2={before} 3={after} 4=0.2")
        cases["detectionoutput_" + name] = n, [ssd(*n.inputs, 4, 0.45, before, after, 0.2)]

    def yolo(heads, classes, anchors, masks, scales, overlap, least):
        boxes, scores, labels = [], [], []
        for b, head in enumerate(heads):
            h, w = head.shape[2:]
            for i, p in enumerate(head[0].reshape(-1, 5 + classes, h, w)):
                k = masks[b][i] if masks else i
                size = (int(scales[b] * w), int(scales[b] * h)) if masks else (w, h)
                x, y = (np.arange(w) + sigmoid(p[0])) / w, (np.arange(h)[:, None] + sigmoid(p[1])) / h
                half_w, half_h = np.exp(p[2]) * anchors[2 * k] / size[0] / 2, np.exp(p[3]) * anchors[2 * k + 1] / size[1] / 2
                own = sigmoid(p[5:]) if masks else np.exp(p[5:]) / np.exp(p[5:]).sum(0)
                boxes.append(np.stack([x - half_w, y - half_h, x + half_w, y + half_h], -1).reshape(-1, 4))
                scores.append((sigmoid(p[4]) * own.max(0)).ravel())
                labels.append(own.argmax(0).ravel() + 1)
        boxes, scores, labels = (np.concatenate(v) for v in (boxes, scores, labels))
        keep = np.flatnonzero(scores >= least)
        keep = keep[best(boxes[keep], scores[keep], overlap)]
        return rows(labels[keep], scores[keep], boxes[keep])
    anchors = [1.5, 2.0, 3.0, 1.25, 4.0, 5.0]
    n = Ncnn((24, 4, 5))
    n.inputs = [rng.normal(size=(1, 24, 4, 5)).astype(np.float32)]
    n.row("YoloDetectionOutput", "d", ["x0"], ["y0"], "0=3 1=3 2=0.3 3=0.4 -23304=6," + ",".join(map(str, anchors)))
    cases["yolodetectionoutput"] = n, [yolo(n.inputs, 3, anchors, None, None, 0.4, 0.3)]
    anchors = [10.0, 14.0, 23.0, 27.0, 37.0, 58.0, 81.0, 82.0]
    n = Ncnn((16, 3, 4), (16, 6, 8))
    n.inputs = [rng.normal(size=(1,) + s).astype(np.float32) for s in ((16, 3, 4), (16, 6, 8))]
    n.row("Yolov3DetectionOutput", "d", ["x0", "x1"], ["y0"], "0=3 1=2 2=0.35 3=0.45 -23304=8," + ",".join(map(str, anchors))
          + " -23305=4,2.0,3.0,0.0,1.0 -23306=2,32.0,16.0")
    cases["yolov3detectionoutput"] = n, [yolo(n.inputs, 3, anchors, [[2, 3], [0, 1]], [32, 16], 0.45, 0.35)]

    # --- Regions.
    def proposals(scores, offsets, info, before, after, overlap, least):
        h, w, found = scores.shape[2], scores.shape[3], []
        for a in range(9):
            ratio, scale = (0.5, 1, 2)[a // 3], (8, 16, 32)[a % 3]
            rw = np.floor(16 / np.sqrt(ratio) + 0.5)
            size = np.array([rw, np.floor(rw * ratio + 0.5)]) * scale
            for i in range(h):
                for j in range(w):
                    d = offsets[0, 4 * a:4 * a + 4, i, j]
                    middle, half = np.array([8 + 16 * j, 8 + 16 * i]) + size * d[:2], size * np.exp(d[2:]) / 2
                    limit = np.array([info[1], info[0]]) - 1
                    box = np.concatenate([np.clip(middle - half, 0, limit), np.clip(middle + half, 0, limit)])
                    if (box[2:] - box[:2] + 1 >= least * info[2]).all():
                        found.append((scores[0, 9 + a, i, j], box))
        found = sorted(found, key=lambda f: -f[0])[:before]
        boxes, chances = np.array([f[1] for f in found]), np.array([f[0] for f in found])
        keep = best(boxes, chances, overlap)[:after]
        return [boxes[keep][None, :, None].astype(np.float32), chances[keep][None, :, None, None].astype(np.float32)]
    n = Ncnn((18, 4, 5), (36, 4, 5), (3,))
    n.inputs = [rng.permutation(360).reshape(1, 18, 4, 5).astype(np.float32) / 360,
                (rng.normal(size=(1, 36, 4, 5)) * 0.3).astype(np.float32), np.array([[96, 128, 1.5]], np.float32)]
    n.row("Proposal", "p", ["x0", "x1", "x2"], ["y0", "y1"], "0=16 1=16 2=90 3=12 4=0.7 5=24")
    cases["proposal"] = n, proposals(n.inputs[0], n.inputs[1], n.inputs[2][0], 90, 12, 0.7, 24)
    up = lambda v: np.floor(v + 0.5)

    def region(numbers, shape, kind, params, fn):
        n = Ncnn(shape, (4,))
        n.inputs[1] = np.array([numbers], np.float32)
        n.row(kind, "r", ["x0", "x1"], ["y0"], params)
        return n, [fn(n.inputs[0][0], np.array(numbers, np.float32))[None].astype(np.float32)]

    def pooled(x, r):
        x1, y1, x2, y2 = (int(up(v * 0.5)) for v in r)
        cut = lambda start, size, n, i, most: slice(min(max(start + int(np.floor(i * size / n)), 0), most),
                                                    min(max(start + int(np.ceil((i + 1) * size / n)), 0), most))
        return np.array([[[x[c][cut(y1, y2 - y1 + 1, 3, i, 9), cut(x1, x2 - x1 + 1, 2, j, 11)].max(initial=-9e9)
                           for j in range(2)] for i in range(3)] for c in range(4)])
    cases["roipooling"] = region([1, 2, 17, 13], (4, 9, 11), "ROIPooling", "0=2 1=3 2=0.5", pooled)

    def averaged(x, r):
        x1, y1, x2, y2 = up(r[0]) * 0.5, up(r[1]) * 0.5, up(r[2] + 1) * 0.5, up(r[3] + 1) * 0.5
        w, h, y = max(x2 - x1, 0.1) / 2, max(y2 - y1, 0.1) / 3, np.zeros((2, 3, 2))
        for q in range(2):
            for i in range(3):
                for j in range(2):
                    part = x[(q * 3 + i) * 2 + j][min(max(int(np.floor(y1 + i * h)), 0), 9):min(max(int(np.ceil(y1 + (i + 1) * h)), 0), 9),
                                                  min(max(int(np.floor(x1 + j * w)), 0), 11):min(max(int(np.ceil(x1 + (j + 1) * w)), 0), 11)]
                    y[q, i, j] = part.mean() if part.size else 0
        return y
    cases["psroipooling"] = region([2.4, 1.6, 17.2, 14.0], (12, 9, 11), "PSROIPooling", "0=2 1=3 2=0.5 3=2", averaged)

    def aligned(x, r):
        """roialign.cpp, version 1: two samples a side of each cell."""
        x1, y1, x2, y2 = r * 0.5 - 0.5
        w, h, y = (x2 - x1) / 2, (y2 - y1) / 3, np.zeros((4, 3, 2))
        grid = np.pad(x, ((0, 0), (0, 1), (0, 1)), "edge")
        for i in range(3):
            for j in range(2):
                for a in (0.25, 0.75):
                    for b in (0.25, 0.75):
                        v, u = max(y1 + (i + a) * h, 0), max(x1 + (j + b) * w, 0)
                        r0, c0 = int(v), int(u)
                        for dr in (0, 1):
                            for dc in (0, 1):
                                y[:, i, j] += grid[:, r0 + dr, c0 + dc] * (1 - abs(v - r0 - dr)) * (1 - abs(u - c0 - dc)) / 4
        return y
    cases["roialign"] = region([2.5, 1.5, 17.0, 13.5], (4, 9, 11), "ROIAlign", "0=2 1=3 2=0.5 3=2 4=1 5=1", aligned)
    return cases


# --- Caffe2 ----------------------------------------------------------------------------------------------

def argument(name, value):
    body = field(1, name.encode())
    if isinstance(value, str):
        body += field(4, value.encode())
    elif isinstance(value, bytes) and name.endswith("_net"):
        body += field(8, value)
    elif isinstance(value, bytes):
        body += field(4, value)
    elif isinstance(value, float):
        body += b"\x15" + struct.pack("<f", value)
    elif isinstance(value, int):
        body += b"\x18" + varint(value & (1 << 64) - 1)
    elif value and isinstance(value[0], str):
        body += b"".join(field(7, v.encode()) for v in value)
    elif value and isinstance(value[0], float):
        body += b"".join(b"\x2d" + struct.pack("<f", v) for v in value)
    else:
        body += b"".join(b"\x30" + varint(v & (1 << 64) - 1) for v in value)
    return field(5, body)


def operator(kind, inputs, outputs, **args):
    body = b"".join(field(1, i.encode()) for i in inputs) + b"".join(field(2, o.encode()) for o in outputs)
    return field(2, body + field(4, kind.encode()) + b"".join(argument(k, v) for k, v in args.items()))


class Caffe2:
    sample = True

    def __init__(self, *shapes):
        self.ops, self.fills, self.weights, self.inputs = b"", b"", [], [coarse(s) for s in shapes]

    def integers(self, name, a, scale, zero_point=0):
        self.weights.append(name)
        kind, values = (("Int8GivenTensorFill", a.astype(np.uint8).tobytes()) if a.min() >= 0 and zero_point else
                        ("Int8GivenIntTensorFill", [int(v) for v in a.ravel()]))
        self.fills += operator(kind, [], [name], shape=list(a.shape), values=values, Y_scale=scale, Y_zero_point=zero_point)
        return name

    def weight(self, name, a):
        self.weights.append(name)
        self.fills += operator("GivenTensorFill", [], [name], shape=list(a.shape), values=[float(v) for v in a.ravel()])
        return name

    def write(self, folder, outputs):
        os.makedirs(folder, exist_ok=True)
        names = [f"x{i}" for i in range(len(self.inputs))]
        for i, x in enumerate(self.inputs):  # PyTorch's exporter fills inputs with a sample
            if i == 0 and self.sample:
                self.fills += operator("GivenTensorFill", [], ["x0"], shape=list(x.shape), values=[float(v) for v in x.ravel()])
        with open(os.path.join(folder, "predict_net.pb"), "wb") as f:
            f.write(field(1, b"net") + self.ops + b"".join(field(7, n.encode()) for n in names + self.weights)
                    + b"".join(field(8, f"y{i}".encode()) for i in range(len(outputs))))
        if self.fills:
            with open(os.path.join(folder, "init_net.pb"), "wb") as f:
                f.write(field(1, b"init") + self.fills)
        save_io(os.path.join(folder, "io.safetensors"), self.inputs,
                [o.numpy() if isinstance(o, torch.Tensor) else o for o in outputs])


def c2(sizes, kind, fn, weights=(), results=1, **args):
    n = Caffe2(sizes)
    names = [n.weight(f"w{i}", w) for i, w in enumerate(weights)]
    n.ops = operator(kind, ["x0"] + names, [f"y{i}" for i in range(results)], **args)
    outputs = fn(t(n.inputs[0]))
    return n, list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def caffe2_cases():
    img, cases = (2, 4, 7, 8), {}
    w, b = coarse((6, 4, 3, 3), 0.3), coarse((6,))
    cases["conv"] = c2(img, "Conv", lambda x: F.conv2d(x, t(w), t(b), 2, 1), (w, b), kernel=3, stride=2, pad=1, order="NCHW")
    cases["conv_pads"] = c2(img, "Conv", lambda x: F.conv2d(F.pad(x, (2, 1, 0, 1)), t(w), t(b)), (w, b), kernels=[3, 3],
                            pads=[0, 2, 1, 1], strides=[1, 1])
    cases["conv_trbl"] = c2(img, "Conv", lambda x: F.conv2d(F.pad(x, (2, 1, 0, 1)), t(w), t(b)), (w, b), kernel_h=3,
                            kernel_w=3, pad_t=0, pad_l=2, pad_b=1, pad_r=1)
    wn = coarse((6, 3, 3, 4), 0.3)  # of channels last
    cases["conv_nhwc"] = c2((2, 7, 8, 4), "Conv",
                            lambda x: F.conv2d(x.permute(0, 3, 1, 2), t(wn).permute(0, 3, 1, 2), t(b)).permute(0, 2, 3, 1).contiguous(),
                            (wn, b), kernel=3, order="NHWC")
    wt = coarse((4, 3, 4, 4), 0.5)
    cases["conv_transpose"] = c2(img, "ConvTranspose", lambda x: F.conv_transpose2d(x, t(wt), None, 2, 1, 1), (wt,), kernel=4,
                                 stride=2, pad=1, adj=1)
    wf, bf = coarse((5, 224), 0.2), coarse((5,))
    cases["fc"] = c2(img, "FC", lambda x: F.linear(x.flatten(1), t(wf), t(bf)), (wf, bf))
    wa = coarse((5, 8))
    cases["fc_axis"] = c2(img, "FC", lambda x: F.linear(x, t(wa), t(bf)), (wa, bf), axis=3)
    cases["max_pool"] = c2(img, "MaxPool", lambda x: F.max_pool2d(x, 3, 2, 1), kernel=3, stride=2, pad=1)
    cases["max_pool_legacy"] = c2(img, "MaxPool", lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True), kernel=3, stride=2, legacy_pad=3)
    cases["average_pool"] = c2(img, "AveragePool", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), kernel=3, stride=2,
                               pad=1)
    cases["average_pool_counted"] = c2(img, "AveragePool", lambda x: F.avg_pool2d(x, 3, 2, 1), kernel=3, stride=2, pad=1,
                                       count_include_pad=1)
    cases["global_pool"] = c2(img, "AveragePool", lambda x: x.mean((2, 3), True), global_pooling=1)
    g = [positive((4,)), coarse((4,)), coarse((4,)), positive((4,))]
    cases["spatial_bn"] = c2(img, "SpatialBN", lambda x: F.batch_norm(x, t(g[2]), t(g[3]), t(g[0]), t(g[1]), eps=0.001), g,
                             epsilon=0.001, is_test=1, order="NCHW")
    cases["instance_norm"] = c2(img, "InstanceNorm", lambda x: F.instance_norm(x, weight=t(g[0]), bias=t(g[1]), eps=0.01), g[:2],
                                epsilon=0.01)
    cases["lrn"] = c2(img, "LRN", lambda x: F.local_response_norm(x, 3, 0.5, 0.75, 1.5), size=3, alpha=0.5, beta=0.75, bias=1.5)
    cases["prelu"] = c2(img, "PRelu", lambda x: F.prelu(x, t(g[0])), g[:1])
    cases["affine_channel"] = c2(img, "AffineChannel", lambda x: x * t(g[0]).view(4, 1, 1) + t(g[1]).view(4, 1, 1), g[:2])
    cases["softmax"] = c2(img, "Softmax", lambda x: x.flatten(1).softmax(1).view(x.shape))
    cases["softmax_last"] = c2(img, "Softmax", lambda x: x.softmax(3), axis=3)
    for kind, fn in [("Relu", F.relu), ("Sigmoid", torch.sigmoid), ("Tanh", torch.tanh), ("Softplus", F.softplus), ("Exp", torch.exp),
                     ("Abs", torch.abs), ("Negative", torch.neg), ("Sqr", torch.square), ("Sin", torch.sin), ("Cos", torch.cos),
                     ("Floor", torch.floor), ("Ceil", torch.ceil), ("Softsign", F.softsign), ("Sign", torch.sign), ("Swish", F.silu),
                     ("Copy", lambda x: x), ("StopGradient", lambda x: x), ("Selu", F.selu)]:
        cases[kind.lower()] = c2(img, kind, fn)
    cases["leaky_relu"] = c2(img, "LeakyRelu", lambda x: F.leaky_relu(x, 0.2), alpha=0.2)
    cases["elu"] = c2(img, "Elu", lambda x: F.elu(x, 0.7), alpha=0.7)
    cases["clip"] = c2(img, "Clip", lambda x: x.clamp(-0.5, 0.25), min=-0.5, max=0.25)
    cases["pow"] = c2(img, "Pow", lambda x: x ** 2, exponent=2.0)
    c = coarse((4,))
    cases["add_axis"] = c2(img, "Add", lambda x: x + t(c).view(4, 1, 1), (c,), broadcast=1, axis=1)
    last = coarse((8,))
    cases["mul_last"] = c2(img, "Mul", lambda x: x * t(last), (last,), broadcast=1)
    same = coarse(img)
    cases["sub"] = c2(img, "Sub", lambda x: x - t(same), (same,))
    cases["sum"] = c2(img, "Sum", lambda x: x + 2 * t(same), (same, same))
    cases["max"] = c2(img, "Max", lambda x: torch.maximum(x, t(same)), (same,))
    cases["mean"] = c2(img, "Mean", lambda x: (x + t(same)) / 2, (same,))
    cases["concat"] = c2(img, "Concat", lambda x: torch.cat([x, t(same)], 1), (same,), axis=1)
    cases["concat_added"] = c2(img, "Concat", lambda x: torch.stack([x, t(same)], 2), (same,), axis=2, add_axis=1)
    cases["split"] = c2(img, "Split", lambda x: list(x.split([1, 3], 1)), results=2, axis=1, split=[1, 3])
    cases["reshape"] = c2(img, "Reshape", lambda x: x.reshape(2, 14, -1), shape=[0, 14, -1])
    cases["transpose"] = c2(img, "Transpose", lambda x: x.permute(0, 2, 3, 1).contiguous(), axes=[0, 2, 3, 1])
    cases["transpose_all"] = c2(img, "Transpose", lambda x: x.permute(3, 2, 1, 0).contiguous())
    cases["nchw2nhwc"] = c2(img, "NCHW2NHWC", lambda x: x.permute(0, 2, 3, 1).contiguous())
    cases["flatten"] = c2(img, "Flatten", lambda x: x.flatten(2).reshape(8, 56), axis=2)
    cases["flatten_to_vec"] = c2(img, "FlattenToVec", lambda x: x.flatten())
    cases["squeeze"] = c2((2, 1, 3), "Squeeze", lambda x: x.squeeze(1), dims=[1])
    cases["expand_dims"] = c2((2, 3), "ExpandDims", lambda x: x.view(1, 2, 3, 1), dims=[0, 3])
    cases["slice"] = c2(img, "Slice", lambda x: x[:, 1:3, :, 2:-1].contiguous(), starts=[0, 1, 0, 2], ends=[-1, 3, -1, -2])
    cases["tile"] = c2(img, "Tile", lambda x: x.repeat(1, 3, 1, 1), tiles=3, axis=1)
    cases["pad_image"] = c2(img, "PadImage", lambda x: F.pad(x, (2, 3, 1, 0), "reflect"), pad_t=1, pad_l=2, pad_b=0, pad_r=3,
                            mode="reflect")
    cases["resize_nearest"] = c2(img, "ResizeNearest", lambda x: F.interpolate(x, scale_factor=2), width_scale=2.0, height_scale=2.0)
    cases["upsample_bilinear"] = c2(img, "UpsampleBilinear",
                                    lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
                                    width_scale=2.0, height_scale=2.0)
    cases["channel_shuffle"] = c2(img, "ChannelShuffle", lambda x: x.view(2, 2, 2, 7, 8).transpose(1, 2).reshape(img), group=2, kernel=1)
    cases["reduce_mean"] = c2(img, "ReduceMean", lambda x: x.mean((1, 3)), axes=[1, 3], keepdims=0)
    cases["reduce_max"] = c2(img, "ReduceMax", lambda x: x.amax((2, 3), True), axes=[2, 3])
    cases["reduce_l2"] = c2(img, "ReduceL2", lambda x: x.square().sum(1, True).sqrt(), axes=[1])
    wm = coarse((8, 5))
    cases["matmul"] = c2((7, 8), "MatMul", lambda x: x @ t(wm), (wm,))
    wb = coarse((2, 5, 8))
    cases["batch_matmul"] = c2((2, 7, 8), "BatchMatMul", lambda x: x @ t(wb).transpose(1, 2), (wb,), trans_b=1)
    cases["normalize"] = c2((3, 5), "Normalize", lambda x: F.normalize(x, dim=1))
    cases["dropout"] = c2(img, "Dropout", lambda x: x, is_test=1, ratio=0.5)
    # Fire modules of SqueezeNet as the model zoo has them, and a product behind them.
    n = Caffe2((1, 3, 35, 35))
    y = t(n.inputs[0])

    def conv(name, source, out, x, c_out, k, pad=0, stride=1):
        weights, bias = coarse((c_out, x.shape[1], k, k), 1.5 / np.sqrt(x.shape[1] * k * k)), coarse((c_out,), 0.25)
        n.ops += operator("Conv", [source, n.weight(name + "_w", weights), n.weight(name + "_b", bias)], [out], kernel=k, pad=pad,
                          stride=stride, order="NCHW", legacy_pad=0)
        n.ops += operator("Relu", [out], [out])
        return F.relu(F.conv2d(x, t(weights), t(bias), stride, pad))
    y = conv("conv1", "x0", "conv1", y, 16, 3, stride=2)
    n.ops += operator("MaxPool", ["conv1"], ["pool1"], kernel=3, stride=2, legacy_pad=3, order="NCHW")
    y, source = F.max_pool2d(y, 3, 2, ceil_mode=True), "pool1"
    for i in range(2):
        s = conv(f"fire{i}/squeeze", source, f"s{i}", y, 6, 1)
        a = conv(f"fire{i}/expand1x1", f"s{i}", f"a{i}", s, 12, 1)
        c = conv(f"fire{i}/expand3x3", f"s{i}", f"c{i}", s, 12, 3, pad=1)
        n.ops += operator("Concat", [f"a{i}", f"c{i}"], [f"fire{i}", f"fire{i}_dims"], order="NCHW")
        y, source = torch.cat([a, c], 1), f"fire{i}"
    n.ops += operator("Dropout", [source], [source, "mask"], ratio=0.5, is_test=1)
    y = conv("conv10", source, "conv10", y, 10, 1)
    n.ops += operator("AveragePool", ["conv10"], ["pool10"], global_pooling=1, order="NCHW")
    n.ops += operator("Softmax", ["pool10"], ["y0"])
    cases["squeezenet"] = n, [y.mean((2, 3), True).softmax(1)]
    cases.update(caffe2_more())
    cases.update(caffe2_integers())
    cases.update(caffe2_nets())
    return cases


def caffe2_more():
    img, cases = (2, 4, 7, 8), {}
    g, b = positive((4,)), coarse((4,))
    cases["group_norm"] = c2(img, "GroupNorm", lambda x: F.group_norm(x, 2, t(g), t(b), 0.01), (g, b), group=2, epsilon=0.01)
    cases["group_norm_nhwc"] = c2((2, 7, 8, 4), "GroupNorm",
                                  lambda x: F.group_norm(x.permute(0, 3, 1, 2), 2, t(g), t(b), 0.01).permute(0, 2, 3, 1).contiguous(),
                                  (g, b), group=2, epsilon=0.01, order="NHWC")
    cases["layer_norm"] = c2(img, "LayerNorm",
                             lambda x: [F.layer_norm(x, (7, 8), eps=0.01), x.mean((2, 3)).unsqueeze(2),
                                        (x.var((2, 3), False) + 0.01).sqrt().unsqueeze(2)], results=3, axis=2, epsilon=0.01)
    wt, bt = coarse((4, 3, 3, 5), 0.5), coarse((5,))
    cases["conv_transpose_nhwc"] = c2((2, 7, 8, 4), "ConvTranspose",
                                      lambda x: F.conv_transpose2d(x.permute(0, 3, 1, 2), t(wt).permute(0, 3, 1, 2), t(bt), 2, 1)
                                      .permute(0, 2, 3, 1).contiguous(), (wt, bt), kernel=3, stride=2, pad=1, order="NHWC")
    cases["lp_pool"] = c2(img, "LpPool", lambda x: F.lp_pool2d(x, 2, 3, 2), kernel=3, stride=2, p=2.0)
    cases["channel_shuffle_nhwc"] = c2((2, 7, 8, 4), "ChannelShuffle",
                                       lambda x: x.view(2, 7, 8, 2, 2).transpose(3, 4).reshape(2, 7, 8, 4), group=2, kernel=1, order="NHWC")
    cases["resize_nearest_nhwc"] = c2((2, 7, 8, 4), "ResizeNearest",
                                      lambda x: x.repeat_interleave(2, 1).repeat_interleave(3, 2), width_scale=3.0, height_scale=2.0,
                                      order="NHWC")
    cases["upsample_nearest"] = c2(img, "UpsampleNearest", lambda x: F.interpolate(x, scale_factor=3), scale=3)
    for kind, fn in [("Tan", torch.tan), ("Atan", torch.atan), ("Sinh", torch.sinh), ("Cosh", torch.cosh), ("Erf", torch.erf),
                     ("Gelu", F.gelu), ("Cube", lambda x: x ** 3), ("Cbrt", lambda x: x.sign() * x.abs() ** (1 / 3)),
                     ("HardSigmoid", lambda x: (x * 0.2 + 0.5).clamp(0, 1)), ("ReduceBackMean", lambda x: x.mean(3)),
                     ("ReduceFrontSum", lambda x: x.sum(0)), ("SumElements", lambda x: x.sum()), ("MergeDim", lambda x: x.flatten(0, 1))]:
        cases[kind.lower()] = c2(img, kind, fn)
    cases["reduce_back_max"] = c2(img, "ReduceBackMax", lambda x: x.amax((2, 3)), num_reduce_dim=2)
    cases["thresholded_relu"] = c2(img, "ThresholdedRelu", lambda x: torch.where(x > 0.5, x, torch.zeros_like(x)), alpha=0.5)
    cases["rsqrt"] = c2(img, "Abs", lambda x: 1 / (x.abs() + 1).sqrt())
    n = cases["rsqrt"][0]
    one_ = n.weight("one", np.ones(img))
    n.ops = operator("Abs", ["x0"], ["a"]) + operator("Add", ["a", one_], ["b"]) + operator("Rsqrt", ["b"], ["y0"])
    same, row = coarse((3, 5)), coarse((3,))
    for kind, fn in [("DotProduct", lambda x: (x * t(same)).sum(1)), ("CosineSimilarity", lambda x: F.cosine_similarity(x, t(same))),
                     ("L1Distance", lambda x: (x - t(same)).abs().sum(1)),
                     ("SquaredL2Distance", lambda x: (x - t(same)).square().sum(1) / 2)]:
        cases[kind.lower()] = c2((3, 5), kind, fn, (same,))
    cases["row_mul"] = c2((3, 5), "RowMul", lambda x: x * t(row)[:, None], (row,))
    cases["expand"] = c2((3, 1), "Expand", lambda x: x.expand(2, 3, 4).contiguous(), shape=[2, 3, 4])
    return cases


def steps(x, scale, zero_point):
    """What integers from 0 to 255 leave of numbers: int8_utils.h."""
    q = torch.clamp(torch.round(x / scale) + zero_point, 0, 255)
    return (q - zero_point) * scale


def caffe2_integers():
    cases, rng = {}, np.random.default_rng(18)

    def net(shape, ops, fn):
        n = Caffe2(shape)
        y = steps(t(n.inputs[0]), 0.02, 120)
        n.ops = operator("Int8Quantize", ["x0"], ["q"], Y_scale=0.02, Y_zero_point=120)
        ops(n)
        n.ops += operator("Int8Dequantize", ["z"], ["y0"])
        return n, [fn(y)]
    first = lambda x: x.permute(0, 3, 1, 2)
    last = lambda x: x.permute(0, 2, 3, 1).contiguous()
    img = (2, 7, 8, 4)
    w, b = rng.integers(0, 256, (6, 3, 3, 4)), rng.integers(-3000, 3000, (6,))
    real_w, real_b = first(t((w - 130.0).astype(np.float32) * 0.01)), t(b.astype(np.float32) * 0.0002)

    def conv(kind, **args):
        def ops(n):
            names = ["q", n.integers("w", w, 0.01, 130), n.integers("b", b, 0.0002)]
            n.ops += operator(kind, names, ["z"], kernel=3, order="NHWC", **args)
        return ops
    cases["int8_conv"] = net(img, conv("Int8Conv", stride=2, pad=1, Y_scale=0.05, Y_zero_point=100),
                             lambda x: steps(last(F.conv2d(first(x), real_w, real_b, 2, 1)), 0.05, 100))
    cases["int8_conv_relu"] = net(img, conv("Int8ConvRelu", Y_scale=0.0317, Y_zero_point=0),
                                  lambda x: steps(F.relu(last(F.conv2d(first(x), real_w, real_b))), 0.0317, 0))
    wt = rng.integers(0, 256, (4, 3, 3, 5))
    bt = rng.integers(-3000, 3000, (5,))

    def deconv(n):
        names = ["q", n.integers("w", wt, 0.01, 130), n.integers("b", bt, 0.0002)]
        n.ops += operator("Int8ConvTranspose", names, ["z"], kernel=3, stride=2, order="NHWC", Y_scale=0.05, Y_zero_point=90)
    cases["int8_conv_transpose"] = net(
        img, deconv, lambda x: steps(last(F.conv_transpose2d(first(x), first(t((wt - 130.0).astype(np.float32) * 0.01)),
                                                             t(bt.astype(np.float32) * 0.0002), 2)), 0.05, 90))
    wf, bf = rng.integers(0, 256, (5, 24)), rng.integers(-3000, 3000, (5,))

    def fc(n):
        names = ["q", n.integers("w", wf, 0.01, 128), n.integers("b", bf, 0.0002)]
        n.ops += operator("Int8FC", names, ["z"], Y_scale=0.1, Y_zero_point=128)
    cases["int8_fc"] = net((3, 2, 3, 4), fc, lambda x: steps(F.linear(x.flatten(1), t((wf - 128.0).astype(np.float32) * 0.01),
                                                                     t(bf.astype(np.float32) * 0.0002)), 0.1, 128))
    keeps = dict(Y_scale=0.02, Y_zero_point=120)
    for name, kind, args, fn in [
            ("relu", "Int8Relu", keeps, F.relu),
            ("leaky_relu", "Int8LeakyRelu", dict(alpha=0.25, **keeps), lambda x: steps(F.leaky_relu(x, 0.25), 0.02, 120)),
            ("sigmoid", "Int8Sigmoid", dict(Y_scale=1 / 256, Y_zero_point=0), lambda x: steps(torch.sigmoid(x), 1 / 256, 0)),
            ("softmax", "Int8Softmax", dict(Y_scale=1 / 256, Y_zero_point=0),
             lambda x: steps(x.flatten(1).softmax(1).view(x.shape), 1 / 256, 0)),
            ("max_pool", "Int8MaxPool", dict(kernel=3, stride=2, pad=1, order="NHWC", **keeps),
             lambda x: last(F.max_pool2d(first(x), 3, 2, 1))),
            ("average_pool", "Int8AveragePool", dict(kernel=3, stride=2, order="NHWC", **keeps),
             lambda x: steps(last(F.avg_pool2d(first(x), 3, 2)), 0.02, 120)),
            ("channel_shuffle", "Int8ChannelShuffle", dict(group=2, order="NHWC", **keeps),
             lambda x: x.view(2, 7, 8, 2, 2).transpose(3, 4).reshape(img)),
            ("flatten", "Int8Flatten", dict(axis=1, **keeps), lambda x: x.flatten(1)),
            ("reshape", "Int8Reshape", dict(shape=[2, 14, -1], **keeps), lambda x: x.reshape(2, 14, -1)),
            ("transpose", "Int8Transpose", dict(axes=[0, 3, 1, 2], **keeps), lambda x: first(x).contiguous()),
            ("slice", "Int8Slice", dict(starts=[0, 1, 0, 0], ends=[-1, 5, -1, 2], **keeps), lambda x: x[:, 1:5, :, :2].contiguous()),
            ("resize_nearest", "Int8ResizeNearest", dict(height_scale=2.0, width_scale=3.0, **keeps),
             lambda x: x.repeat_interleave(2, 1).repeat_interleave(3, 2))]:
        def ops(n, kind=kind, args=args):
            n.ops += operator(kind, ["q"], ["z"], **args)
        cases["int8_" + name] = net(img, ops, fn)
    for name, kind, fn in [("add", "Int8Add", lambda x, y: x + y), ("sum_relu", "Int8SumRelu", lambda x, y: F.relu(x + y))]:
        def ops(n, kind=kind):
            n.ops += operator("Int8Relu", ["q"], ["r"], **keeps) + operator(kind, ["q", "r"], ["z"], Y_scale=0.04, Y_zero_point=50)
        cases["int8_" + name] = net(img, ops, lambda x, fn=fn: steps(fn(x, F.relu(x)), 0.04, 50))

    def concat(n):
        n.ops += operator("Int8Relu", ["q"], ["r"], **keeps) + operator("Int8Concat", ["q", "r"], ["z"], order="NHWC", **keeps)
    cases["int8_concat"] = net(img, concat, lambda x: torch.cat([x, F.relu(x)], 3))
    return cases


def caffe2_nets():
    """Branches and loops, whose nets share the blobs around them."""
    cases = {}
    for name, above in (("if_then", True), ("if_else", False)):
        n = Caffe2((3, 5))
        x = t(n.inputs[0])
        n.weight("w", coarse((3, 5)))
        n.ops = (operator("SumElements", ["x0"], ["sum"]) + operator("ConstantFill", [], ["limit"], value=-1000.0 if above else 1000.0)
                 + operator("GT", ["sum", "limit"], ["large"]) + operator("Relu", ["x0"], ["kept"])
                 + operator("If", ["large", "x0", "w"], ["y0", "kept"],
                            then_net=operator("Mul", ["x0", "x0"], ["y0"]),
                            else_net=operator("Tanh", ["x0"], ["a"]) + operator("Add", ["a", "kept"], ["y0"])
                            + operator("Negative", ["kept"], ["kept"])) + operator("Copy", ["kept"], ["y1"]))
        n.weights.remove("w")
        cases[name] = n, [x * x, F.relu(x)] if above else [torch.tanh(x) + F.relu(x), -F.relu(x)]
    for name, start in (("while", 1.0), ("while_never", 200.0)):
        n = Caffe2((2, 3))
        x = t(n.inputs[0]) / 8
        n.inputs = [x.numpy()]
        ask = operator("LT", ["count", "limit"], ["more"])
        n.ops = (operator("ConstantFill", [], ["first"], value=start) + operator("ConstantFill", [], ["limit"], value=40.0)
                 + operator("Copy", ["first"], ["count"]) + operator("Copy", ["x0"], ["y0"]) + operator("LT", ["limit", "limit"], ["more"])
                 + operator("While", ["more", "count", "limit"], ["count", "y0"], cond_net=ask,
                            loop_net=operator("Add", ["count", "count"], ["count"])
                            + operator("Add", ["y0", "count"], ["y0"], broadcast=1)) + operator("Copy", ["count"], ["y1"]))
        y, count = x, start
        while count < 40:
            count += count
            y = y + count
        cases[name] = n, [y, torch.tensor(count)]
    return cases


def caffe2_recurrent():
    """Recurrent networks as Caffe2's rnn_cell.py writes them, by the formulas of its kernels."""
    rng, cases = np.random.default_rng(6), {}
    rand = lambda *s: rng.normal(size=s).astype(np.float32) / 2
    T, N, I, D = 5, 3, 4, 2
    sigmoid = lambda v: 1 / (1 + np.exp(-v))

    def net(step, states, firsts, gates, outputs, lengths=None, seq_input=True, **args):
        """states: what a step makes of `NAME_prev`; firsts: a weight each, or an input's rank."""
        n = Caffe2((T, N, I))
        n.inputs = [rand(T, N, I)]
        wx, bx, wh, bh = rand(gates * D, I), rand(gates * D), rand(gates * D, D), rand(gates * D)
        n.weight("i2h_w", wx), n.weight("i2h_b", bx), n.weight("gates_w", wh), n.weight("gates_b", bh)
        for state, first in zip(states, firsts):
            n.weight(state + "_first", first)
        if lengths:
            n.fills += operator("GivenTensorIntFill", [], ["lengths"], shape=[N], values=lengths)
            n.weights.append("lengths")
        n.ops = operator("FC", ["x0", "i2h_w", "i2h_b"], ["seq"], axis=2)
        inputs = ["seq", "gates_w", "gates_b"] + (["lengths"] if lengths else []) + [s + "_first" for s in states]
        internal = [s + "_prev" for s in states] + list(states) + ["input_t"]
        external = [s + "_states" for s in states] * 2 + ["seq"]
        count = len(states)
        n.ops += operator("RecurrentNetwork", inputs, [f"{s}_{k}" for s in states for k in ("all", "last")] + ["workspaces"],
                          recurrent_states=[s + "_states" for s in states],
                          initial_recurrent_state_ids=[len(inputs) - count + i for i in range(count)], link_internal=internal,
                          link_external=external, link_offset=[0] * count + [1] * count + [0],
                          alias_src=[s + "_states" for s in states for _ in "ab"],
                          alias_dst=[f"{s}_{k}" for s in states for k in ("all", "last")], alias_offset=[1, -1] * count,
                          step_net=step, timestep="t", **args)
        for i, out in enumerate(outputs):
            n.ops += operator("Copy", [out], [f"y{i}"])
        x = n.inputs[0] @ wx.T + bx
        hs = [np.broadcast_to(f.reshape(-1, D), (N, D)).astype(np.float32) for f in firsts]
        return n, x, wh, bh, hs

    def run(x, hs, step, lengths=None, drops=False):
        every = [[h] for h in hs]
        for i in range(T):
            after = step(x[i], [e[-1] for e in every])
            for e, v in zip(every, after):
                if lengths:
                    goes_on = (i < np.array(lengths))[:, None]
                    v = np.where(goes_on, v, 0 if drops else e[-1])
                e.append(v)
        return [np.stack(e).astype(np.float32) for e in every]

    fc = operator("FC", ["h_prev", "gates_w", "gates_b"], ["gates_t"], axis=2) + operator("Sum", ["gates_t", "input_t"], ["gates_t"])

    def lstm(name, lengths=None, drops=False, forget=0.0, firsts=None, unit_outputs=None):
        unit = operator("LSTMUnit", ["h_prev", "c_prev", "gates_t"] + (["lengths"] if lengths else []) + ["t"], ["h", "c"],
                        forget_bias=forget, drop_states=int(drops), sequence_lengths=int(bool(lengths)))
        outs = unit_outputs or ["h_all", "h_last", "c_all", "c_last"]
        n, x, w, b, hs = net(fc + unit, ["h", "c"], firsts or [rand(D), rand(D)], 4, outs, lengths)

        def step(xt, s):
            i, f, o, g = np.split(xt + s[0] @ w.T + b, 4, 1)
            c = sigmoid(f + forget) * s[1] + sigmoid(i) * np.tanh(g)
            return sigmoid(o) * np.tanh(c), c
        h, c = run(x, hs, step, lengths, drops)
        values = {"h_all": h[1:], "h_last": h[-1:], "c_all": c[1:], "c_last": c[-1:], "h_states": h, "c_states": c}
        cases[name] = n, [values[o] for o in outs]

    lstm("recurrent_lstm")
    lstm("recurrent_lstm_lengths", [5, 2, 0], forget=1.0)
    lstm("recurrent_lstm_drops", [1, 5, 3], drops=True, firsts=[rand(N, D), rand(1, N, D)])
    lstm("recurrent_lstm_states", [1, 5, 3], unit_outputs=["c_states", "h_last"])

    # A GRU as gru_cell.py has it: the reset gate is applied to the product of the state.
    for name, lengths in (("recurrent_gru", None), ("recurrent_gru_lengths", [2, 5, 4])):
        parts = (operator("FC", ["h_prev", "gates_w", "gates_b"], ["hidden_t"], axis=2)
                 + operator("Split", ["input_t"], ["in_reset", "in_update", "in_output"], axis=2)
                 + operator("Split", ["hidden_t"], ["of_reset", "of_update", "of_output"], axis=2)
                 + operator("Add", ["in_reset", "of_reset"], ["reset"]) + operator("Sigmoid", ["reset"], ["reset"])
                 + operator("Add", ["in_update", "of_update"], ["update"])
                 + operator("Mul", ["reset", "of_output"], ["output"]) + operator("Add", ["output", "in_output"], ["output"])
                 + operator("Concat", ["reset", "update", "output"], ["gates_t", "gates_dims"], axis=2)
                 + operator("GRUUnit", ["h_prev", "gates_t"] + (["lengths"] if lengths else []) + ["t"], ["h"],
                            sequence_lengths=int(bool(lengths))))
        n, x, w, b, hs = net(parts, ["h"], [rand(D)], 3, ["h_all", "h_last"], lengths)

        def gru(xt, s):
            (r, u, o), (hr, hu, ho) = np.split(xt, 3, 1), np.split(s[0] @ w.T + b, 3, 1)
            u = sigmoid(u + hu)
            return (s[0] * u + np.tanh(sigmoid(r + hr) * ho + o) * (1 - u),)
        h, = run(x, hs, gru, lengths)
        cases[name] = n, [h[1:], h[-1:]]

    # A plain one with its lengths by comparisons, as BasicRNNCell has it.
    lengths = [4, 1, 5]
    parts = (fc + operator("Tanh", ["gates_t"], ["new"]) + operator("GT", ["lengths", "t"], ["valid_b"], broadcast=1)
             + operator("LE", ["lengths", "t"], ["invalid_b"], broadcast=1) + operator("Cast", ["valid_b"], ["valid"], to=1)
             + operator("Cast", ["invalid_b"], ["invalid"], to=1) + operator("Mul", ["new", "valid"], ["kept"], broadcast=1, axis=1)
             + operator("Mul", ["h_prev", "invalid"], ["held"], broadcast=1, axis=1) + operator("Add", ["kept", "held"], ["h"]))
    n, x, w, b, hs = net(parts, ["h"], [rand(D)], 1, ["h_all", "h_last"], lengths)
    h, = run(x, hs, lambda xt, s: (np.tanh(xt + s[0] @ w.T + b),), lengths)
    cases["recurrent_plain"] = n, [h[1:], h[-1:]]
    return cases


def caffe2_segments():
    """Segments of rows, and keypoints, by the formulas of Caffe2's kernels."""
    rng, cases = np.random.default_rng(7), {}
    rand = lambda *s: rng.normal(size=s).astype(np.float32)

    def case(name, kind, inputs, result, **args):
        n = Caffe2(inputs[0].shape)
        n.inputs = [inputs[0]]
        names = ["x0"]
        for i, v in enumerate(inputs[1:]):
            if v.dtype == np.float32:
                n.weight(f"w{i}", v)
            else:
                kind_of = "GivenTensorInt64Fill" if v.dtype == np.int64 else "GivenTensorIntFill"
                n.fills += operator(kind_of, [], [f"w{i}"], shape=list(v.shape), values=[int(x) for x in v])
                n.weights.append(f"w{i}")
            names.append(f"w{i}")
        n.ops = operator(kind, names, ["y0"], **args)
        cases[name] = n, [np.asarray(result, np.float32)]

    lengths = np.array([2, 0, 3, 1], np.int32)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    def segments(rows, mean=False):
        parts = [rows[b:e] for b, e in zip(starts, starts[1:])]
        return np.stack([(p.mean(0) if mean and len(p) else p.sum(0)) for p in parts])
    table, rows, weights = rand(7, 5), rand(6, 2, 3), rand(6)
    for name, at in (("", np.array([6, 1, 0, 1, 3, 5], np.int32)), ("_int64", np.array([2, 2, 4, 1, 0, 6], np.int64))):
        case("sparse_lengths_sum" + name, "SparseLengthsSum", [table, at, lengths], segments(table[at]))
        case("sparse_lengths_mean" + name, "SparseLengthsMean", [table, at, lengths], segments(table[at], True))
        case("sparse_lengths_weighted_sum" + name, "SparseLengthsWeightedSum", [table, weights, at, lengths],
             segments(table[at] * weights[:, None]))
    case("lengths_sum", "LengthsSum", [rows, lengths], segments(rows))
    case("lengths_mean", "LengthsMean", [rows, lengths], segments(rows, True))
    case("lengths_weighted_sum", "LengthsWeightedSum", [rows, weights, lengths], segments(rows * weights[:, None, None]))
    x, lengths = rand(5, 4, 3), np.array([5, 2, 0, 3], np.int32)
    y = x.copy()
    for i, n in enumerate(lengths):
        y[:n, i] = x[:n, i][::-1]
    case("reverse_packed_segs", "ReversePackedSegs", [x, lengths], y)

    x, other = rand(2, 6, 4), rand(2, 6, 4)
    case("weighted_sum", "WeightedSum", [x, np.float32([0.5]), other, np.float32([-2])], 0.5 * x - 2 * other)
    case("glu", "Glu", [x], x[..., :2] / (1 + np.exp(-x[..., 2:])))
    case("glu_dim", "Glu", [x], x[:, :3] / (1 + np.exp(-x[:, 3:])), dim=1)
    inside = np.clip(x.astype(np.float64), 0.125, 0.875)
    case("logit", "Logit", [x], np.log(inside / (1 - inside)), eps=0.125)
    n = Caffe2(x.shape)
    n.inputs, n.ops = [x], operator("Size", ["x0"], ["size"]) + operator("Cast", ["size"], ["y0"], to=1)
    cases["size"] = n, [np.float32(48)]

    size = 6
    maps, boxes = rand(3, 5, size, size), np.array([[1, 2, 30, 40], [5, 5, 5.5, 60], [0, 10, 20, 12]], np.float32)
    maps[0, 0, 0, 0] = maps[0, 1, 5, 5] = maps[0, 2, 0, 3] = maps[1, 0, 2, 5] = maps[1, 1, 3, 3] = 5
    maps[2, 2] = 0.25  # flat
    maps[2, 3, 2:4, 2:4] = [[6, 5.9], [3, 5.99]]
    y = np.zeros((3, 4, 5))
    for k in range(3):
        for j in range(5):
            m = maps[k, j].astype(np.float64)
            r, c = np.unravel_index(m.argmax(), m.shape)
            at = lambda v, d: v + d - 2 * (v + d >= size) + 2 * (v + d < 0)
            f = np.array([[m[at(r, dy), at(c, dx)] for dx in (-1, 0, 1)] for dy in (-1, 0, 1)])
            b = -np.array([f[1, 2] - f[1, 0], f[2, 1] - f[0, 1]]) / 2
            cross = (f[2, 2] - f[2, 0] - f[0, 2] + f[0, 0]) / 4
            A = np.array([[f[1, 0] - 2 * f[1, 1] + f[1, 2], cross], [cross, f[0, 1] - 2 * f[1, 1] + f[2, 1]]])
            delta, score = np.zeros(2), f[1, 1]
            if abs(np.linalg.det(A)) >= 1e-4:
                delta = np.linalg.solve(A, b)
                if abs(delta).max() > 1.5:
                    delta *= 1.5 / abs(delta).max()
                score = f[1, 1] - b @ delta + delta @ A @ delta / 2
            x0, y0, x1, y1 = boxes[k]
            y[k, :, j] = (x0 + (0.5 + c + delta[0]) * max(x1 - x0, 1) / size, y0 + (0.5 + r + delta[1]) * max(y1 - y0, 1) / size,
                          score, np.exp(m.max()) / np.exp(m).sum())
    case("heatmap_max_keypoint", "HeatmapMaxKeypoint", [maps, boxes], y, should_output_softmax=1)
    y[:, 3] = 0
    case("heatmap_max_keypoint_alone", "HeatmapMaxKeypoint", [maps, boxes], y)
    return cases


def caffe2_detectors():
    """Operators of Detectron, by the formulas of Caffe2's kernels."""
    rng, cases = np.random.default_rng(5), {}
    rand = lambda *s: rng.normal(size=s).astype(np.float32)

    def net(kind, inputs, outputs, **args):
        n = Caffe2(*[v.shape for v in inputs])
        n.inputs, n.sample = list(inputs), False
        # Sizes are what a net says of them; integers are given as floats.
        n.ops = b"".join(operator("Reshape", [f"x{i}"], [f"r{i}", f"old{i}"], shape=list(v.shape)) for i, v in enumerate(inputs))
        n.ops += operator(kind, [f"r{i}" for i in range(len(inputs))], [f"z{i}" for i in range(len(outputs))], **args)
        n.ops += b"".join(operator("Cast", [f"z{i}"], [f"y{i}"], to=1) for i in range(len(outputs)))
        return n, [np.asarray(o, np.float32) for o in outputs]

    def transform(b, d, w, plus):
        size, growth = b[:, 2:] - b[:, :2] + plus, np.exp(np.minimum(d[:, 2:] / w[2:], np.log(1000 / 16)))
        middle, half = d[:, :2] / w[:2] * size + b[:, :2] + 0.5 * size, growth * size / 2
        return np.concatenate([middle - half, middle + half - plus], 1)

    def clip(b, h, w, plus):
        return np.maximum(np.minimum(b, np.array([w, h, w, h]) - plus), 0)

    def left(b, s, overlap, plus, most=None):
        keep = []
        for i in np.argsort(-s, kind="stable"):
            ok = True
            for k in keep:
                lo, hi = np.maximum(b[i, :2], b[k, :2]), np.minimum(b[i, 2:], b[k, 2:])
                inner = np.prod(np.maximum(hi - lo + plus, 0))
                area = [np.prod(b[j, 2:] - b[j, :2] + plus) for j in (i, k)]
                ok = ok and inner / (sum(area) - inner) <= overlap
            if ok:
                keep.append(i)
        return keep[:most]

    for name, plus, before, after in [("", 1, 40, 12), ("edges", 0, 0, 0)]:
        a, h, w, images = 3, 4, 5, 2
        scores, deltas = rng.random((images, a, h, w)).astype(np.float32), rand(images, 4 * a, h, w) * 0.4
        info = np.array([[60, 75, 1.5], [55.5, 70, 1]], np.float32)
        anchors = np.array([[-10, -8, 20, 18], [-4, -15, 12, 25], [0, 0, 15, 15]], np.float32)
        at = np.stack(np.meshgrid(np.arange(w), np.arange(h)), -1) * 16.0  # [h, w, (x, y)]
        every = (anchors[None, None] + np.concatenate([at, at], -1)[:, :, None]).reshape(-1, 4)
        rois, probs = [], []
        for i in range(images):
            s = scores[i].transpose(1, 2, 0).ravel()
            d = deltas[i].reshape(a, 4, h, w).transpose(2, 3, 0, 1).reshape(-1, 4)
            order = np.argsort(-s, kind="stable")[:before or None]
            b = clip(transform(every[order], d[order], np.ones(4), plus), int(info[i, 0]), int(info[i, 1]), plus)
            size = b[:, 2:] - b[:, :2] + plus
            ok = (size >= 6 * info[i, 2]).all(1) & (b[:, 0] + size[:, 0] / 2 < info[i, 1]) & (b[:, 1] + size[:, 1] / 2 < info[i, 0])
            b, s = b[ok], s[order][ok]
            keep = left(b, s, 0.6, plus, after or None)
            rois.append(np.concatenate([np.full((len(keep), 1), i), b[keep]], 1))
            probs.append(s[keep])
        cases["proposals" + ("_" + name if name else "")] = net(
            "GenerateProposals" if plus else "GenerateProposalsCPP", [scores, deltas, info, anchors], [np.concatenate(rois), np.concatenate(probs)],
            spatial_scale=0.0625, pre_nms_topN=before, post_nms_topN=after, nms_thresh=0.6, min_size=6.0,
            **({"correct_transform_coords": 1} if plus else {"legacy_plus_one": 0}))

    corners = rng.random((7, 4)).astype(np.float32) * 30
    corners[:, 2:] += corners[:, :2] + 5
    weights = np.array([10.0, 10.0, 5.0, 5.0])
    for name, plus, scaled, images in [("", 1, 1, 1), ("images", 0, 0, 2)]:
        number = np.sort(rng.integers(0, images, 7))
        info = np.array([[50, 62, 1.7], [44, 52, 0.9]], np.float32)[:images]
        deltas = rand(7, 8) * 3
        out = np.zeros((7, 8))
        for i in range(images):
            rows, scale = number == i, info[i, 2]
            for k in (0, 4):
                moved = transform(corners[rows] / scale, deltas[rows, k:k + 4], weights, plus)
                out[rows, k:k + 4] = clip(moved, int(info[i, 0] / scale + 0.5), int(info[i, 1] / scale + 0.5), plus) * (scale if scaled else 1)
        given = np.concatenate([number[:, None], corners], 1).astype(np.float32) if images > 1 else corners
        counts = [[(number == i).sum() for i in range(images)]] if images > 1 else []
        cases["bbox_transform" + ("_" + name if name else "")] = net(
            "BBoxTransform", [given, deltas, info], [out] + counts, weights=[float(v) for v in weights], apply_scale=scaled, legacy_plus_one=plus)

    for name, plus, alike, background, most in [("", 1, 0, 1, 6), ("alike", 0, 1, 1, 100), ("without", 0, 0, 0, 4)]:
        n, classes = 9, 3
        scores = rng.random((n, classes + background)).astype(np.float32)
        groups = (1 if alike else classes) + background
        boxes = rng.random((n, groups, 4)).astype(np.float32) * 30
        boxes[:, :, 2:] += boxes[:, :, :2] + 8
        found = []
        for c in range(classes):
            own, b = scores[:, c + background], boxes[:, background + (0 if alike else c)]
            rows = np.flatnonzero(own > 0.3)
            found += [(own[rows[i]], c, rows[i], b[rows[i]]) for i in left(b[rows], own[rows], 0.4, plus)]
        best = sorted(range(len(found)), key=lambda i: -found[i][0])[:most]
        found = [found[i] for i in sorted(best)]
        outputs = [np.array([f[0] for f in found]), np.array([f[3] for f in found]), np.array([f[1] + background for f in found]), [len(found)],
                   [f[2] for f in found], [[0] + [sum(f[1] == c for f in found) for c in range(classes)]]]
        cases["box_with_nms_limit" + ("_" + name if name else "")] = net(
            "BoxWithNMSLimit", [scores, boxes.reshape(n, -1)], outputs, score_thresh=0.3, nms=0.4, detections_per_im=most, cls_agnostic_bbox_reg=alike,
            input_boxes_include_bg_cls=background, output_classes_include_bg_cls=background, input_scores_include_bg_cls=background,
            legacy_plus_one=plus)

    def levels(b):
        size = b[:, 3:] - b[:, 1:3] + 1
        return np.clip(np.floor(4 + np.log2(np.sqrt(size.prod(1)) / 224 + 1e-6)), 2, 5)
    def random_rois(n):
        b = rng.random((n, 5)).astype(np.float32) * 100
        b[:, 0] = 0
        b[:, 3:] = b[:, 1:3] + np.exp(rng.random((n, 2)) * 4 + 2)
        return b.astype(np.float32)
    rois, probs = [random_rois(n) for n in (6, 5, 4)], [rng.random(n).astype(np.float32) for n in (6, 5, 4)]
    joined = np.concatenate(rois)[np.argsort(-np.concatenate(probs), kind="stable")[:12]]
    parts = [np.flatnonzero(levels(joined) == i) for i in range(2, 6)]
    spread = [joined[p] for p in parts] + [np.argsort(np.concatenate(parts))]
    args = dict(rpn_max_level=4, rpn_min_level=2, rpn_post_nms_topN=12)
    cases["collect_and_distribute"] = net("CollectAndDistributeFpnRpnProposals", rois + probs, [joined] + spread, roi_max_level=5, roi_min_level=2,
                                          roi_canonical_level=4, roi_canonical_scale=224, **args)
    cases["collect"] = net("CollectRpnProposals", rois + probs, [joined], **args)
    cases["distribute"] = net("DistributeFpnProposals", [joined], spread)
    x, boxes = rand(2, 3, 8, 9), np.array([[0, 0, 0, 9, 7], [1, 3, 2, 15, 12]], np.float32)

    def roi_pool(x, b):
        out = np.zeros((len(b), 3, 2, 3), np.float32)
        for r, (i, *c) in enumerate(b):
            x1, y1, x2, y2 = [int(np.floor(v * 0.5 + 0.5)) for v in c]
            h, w = max(y2 - y1 + 1, 1) / 2, max(x2 - x1 + 1, 1) / 3
            for j in range(2):
                for k in range(3):
                    part = x[int(i), :, max(int(np.floor(j * h)) + y1, 0):int(np.ceil((j + 1) * h)) + y1, int(np.floor(k * w)) + x1:int(np.ceil((k + 1) * w)) + x1]
                    out[r, :, j, k] = part.max((1, 2))
        return out
    cases["roi_pool"] = net("RoIPool", [x, boxes], [roi_pool(x, boxes)], pooled_h=2, pooled_w=3, spatial_scale=0.5, is_test=1)
    return cases


def main():
    torch.manual_seed(0)
    # In this order: each draws its numbers behind the one before.
    for world, cases in (("ncnn", ncnn_cases()), ("caffe2", caffe2_cases()), ("ncnn", ncnn_steps()), ("caffe2", caffe2_detectors()), ("caffe2", caffe2_recurrent()), ("caffe2", caffe2_segments())):
        for name, (net, outputs) in cases.items():
            net.write(os.path.join(sys.argv[1], world, name), outputs)


if __name__ == "__main__":
    main()
