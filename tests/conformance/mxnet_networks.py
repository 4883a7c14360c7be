# Makes the cases of mxnet-cases.tar.xz: networks as MXNet's files (a symbol's JSON, a list of arrays),
# written byte by byte from the description of the format, with the outputs of PyTorch's modules of
# the same weights.
#
#   python3 mxnet_networks.py FOLDER [SQUEEZENET.onnx SQUEEZENET.safetensors]
#
# Needs torch, torchvision, safetensors; onnx for the one that is an ONNX model's.
import json
import os
import struct
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.numpy import load_file, save_file

FLAGS = {'float32': 0, 'float64': 1, 'float16': 2, 'uint8': 3, 'int32': 4, 'int8': 5, 'int64': 6}


def array(a, version):
    a = np.ascontiguousarray(a)
    dims = a.shape
    if version == 0:
        head = struct.pack('<I', len(dims)) + b''.join(struct.pack('<I', d) for d in dims)
    else:
        head = struct.pack('<I', 0xF993FAC7 + version)
        if version > 1:
            head += struct.pack('<i', 0)
        head += struct.pack('<I', len(dims)) + b''.join(struct.pack('<q', d) for d in dims)
    return head + struct.pack('<iii', 1, 0, FLAGS[str(a.dtype)]) + a.tobytes()


class Symbol:
    """A graph of MXNet, and the arrays of its variables."""

    def __init__(self, version=10700):
        self.version, self.nodes, self.params, self.inputs = version, [], {}, []

    def _add(self, op, name, inputs, attrs, more=None):
        key = 'param' if self.version < 900 else 'attr' if self.version < 10000 else 'attrs'
        node = {'op': op, 'name': name,
                'inputs': [list(e) if self.version >= 900 else list(e)[:2] for e in inputs]}
        if attrs:
            node[key if op != 'null' or self.version >= 900 else 'attr'] = {
                k: str(v) for k, v in attrs.items()}
        if self.version < 900:
            node['backward_source_id'] = -1
        node.update(more or {})
        self.nodes.append(node)
        return (len(self.nodes) - 1, 0, 0)

    def data(self, name, value):
        value = value.detach().numpy()
        self.inputs.append(value)
        attrs = {'__shape__': tuple(value.shape)}
        if value.dtype != np.float32:
            attrs['__dtype__'] = FLAGS[str(value.dtype)]
        return self._add('null', name, [], attrs)

    def param(self, name, value, aux=False):
        value = value.detach().numpy() if isinstance(value, torch.Tensor) else value
        self.params[('aux:' if aux else 'arg:') + name] = value
        return self._add('null', name, [], {})

    def variable(self, name):
        return self._add('null', name, [], {})

    def op(self, op, name, inputs, more=None, **attrs):
        return self._add(op, name, inputs, attrs, more)

    def json(self, heads):
        count = len(self.nodes)
        graph = {'nodes': self.nodes,
                 'arg_nodes': [i for i, n in enumerate(self.nodes) if n['op'] == 'null'],
                 'node_row_ptr': list(range(count + 1)),
                 'heads': [list(h) if self.version >= 900 else list(h)[:2] for h in heads]}
        if self.version >= 900:
            graph['attrs'] = {'mxnet_version': ['int', self.version]}
        return graph

    # --- layers, with a module's weights ---
    def conv(self, name, x, m, **more):
        attrs = dict(kernel=tuple(m.kernel_size), num_filter=m.out_channels, stride=tuple(m.stride),
                     pad=tuple(m.padding), dilate=tuple(m.dilation), num_group=m.groups,
                     no_bias=m.bias is None, **more)
        inputs = [x, self.param(name + '_weight', m.weight)]
        if m.bias is not None:
            inputs.append(self.param(name + '_bias', m.bias))
        return self.op('Convolution', name, inputs, **attrs)

    def deconv(self, name, x, m):
        attrs = dict(kernel=tuple(m.kernel_size), num_filter=m.out_channels, stride=tuple(m.stride),
                     pad=tuple(m.padding), adj=tuple(m.output_padding), num_group=m.groups,
                     no_bias=m.bias is None)
        inputs = [x, self.param(name + '_weight', m.weight)]
        if m.bias is not None:
            inputs.append(self.param(name + '_bias', m.bias))
        return self.op('Deconvolution', name, inputs, **attrs)

    def bn(self, name, x, m, fixed=False):
        inputs = [x, self.param(name + '_gamma', torch.full_like(m.weight, 7) if fixed else m.weight),
                  self.param(name + '_beta', m.bias)]
        if self.version < 900:  # states are no inputs
            self.params['aux:' + name + '_moving_mean'] = m.running_mean.numpy()
            self.params['aux:' + name + '_moving_var'] = m.running_var.numpy()
        else:
            inputs.append(self.param(name + '_moving_mean', m.running_mean, True))
            inputs.append(self.param(name + '_moving_var', m.running_var, True))
        return self.op('BatchNorm', name, inputs, eps=m.eps, momentum=0.9, fix_gamma=fixed)

    def fc(self, name, x, m, **more):
        inputs = [x, self.param(name + '_weight', m.weight)]
        if m.bias is not None:
            inputs.append(self.param(name + '_bias', m.bias))
        return self.op('FullyConnected', name, inputs, num_hidden=m.out_features,
                       no_bias=m.bias is None, **more)

    def act(self, name, x, kind='relu'):
        return self.op('Activation', name, [x], act_type=kind)


def bn(n):
    m = nn.BatchNorm2d(n).eval()
    with torch.no_grad():
        m.weight.uniform_(0.5, 1.5)
        m.bias.uniform_(-0.5, 0.5)
        m.running_mean.uniform_(-0.5, 0.5)
        m.running_var.uniform_(0.5, 1.5)
    return m


CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def resnet(version):
    s = Symbol(version)
    x = torch.randn(2, 3, 16, 16)
    c0, b0 = nn.Conv2d(3, 8, 3, 2, 1, bias=False), bn(8)
    c1, b1, c2, b2 = nn.Conv2d(8, 8, 3, 1, 1, bias=False), bn(8), nn.Conv2d(8, 8, 3, 1, 1, bias=False), bn(8)
    fc = nn.Linear(8, 5)
    b0.weight.data.fill_(1)
    y = F.max_pool2d(F.relu(b0(c0(x))), 3, 2, 1)
    y = F.relu(y + b2(c2(F.relu(b1(c1(y))))))
    want = F.softmax(fc(y.mean((2, 3))), -1)
    n = s.data('data', x)
    n = s.act('relu0', s.bn('bn0', s.conv('conv0', n, c0), b0, fixed=True))
    n = s.op('Pooling', 'pool0', [n], kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type='max')
    r = s.act('relu1', s.bn('bn1', s.conv('conv1', n, c1), b1))
    r = s.bn('bn2', s.conv('conv2', r, c2), b2)
    plus = s.op('_Plus' if version < 900 else 'elemwise_add', 'plus0', [n, r])
    n = s.act('relu2', plus)
    n = s.op('Pooling', 'pool1', [n], global_pool=True, kernel=(7, 7), pool_type='avg')
    n = s.fc('fc1', s.op('Flatten', 'flatten0', [n]), fc)
    label = s.variable('softmax_label')
    return s, [s.op('SoftmaxOutput', 'softmax', [n, label])], [want]


@case
def resnet_0_8():
    return resnet(800)


@case
def resnet_0_9_5():
    return resnet(905)


@case
def resnet_1_7():
    return resnet(10700)


@case
def mobilenet_blocks():
    s, x = Symbol(), torch.randn(1, 4, 9, 9)
    e, be = nn.Conv2d(4, 12, 1, bias=False), bn(12)
    d, bd = nn.Conv2d(12, 12, 3, 2, 1, groups=12, bias=False), bn(12)
    p, bp = nn.Conv2d(12, 6, 1, bias=False), bn(6)
    want = bp(p(F.relu6(bd(d(F.relu6(be(e(x))))))))
    n = s.bn('be', s.conv('e', s.data('data', x), e), be)
    n = s.op('clip', 'r0', [n], a_min=0.0, a_max=6.0)
    n = s.op('clip', 'r1', [s.bn('bd', s.conv('d', n, d), bd)], a_min=0.0, a_max=6.0)
    return s, [s.bn('bp', s.conv('p', n, p), bp)], [want]


@case
def mtcnn():
    s, x = Symbol(10100), torch.randn(1, 3, 15, 15)
    c, p = nn.Conv2d(3, 6, 3), nn.PReLU(6)
    h = nn.Conv2d(6, 2, 1)
    with torch.no_grad():
        p.weight.uniform_(-0.5, 0.5)
    want = F.softmax(h(F.max_pool2d(p(c(x)), 2, 2, ceil_mode=True)), 1)
    n = s.conv('conv1', s.data('data', x), c)
    n = s.op('LeakyReLU', 'prelu1', [n, s.param('prelu1_gamma', p.weight)], act_type='prelu')
    n = s.op('Pooling', 'pool1', [n], kernel=(2, 2), stride=(2, 2), pool_type='max',
             pooling_convention='full')
    n = s.conv('conv4', n, h)
    return s, [s.op('SoftmaxActivation', 'prob', [n], mode='channel')], [want]


@case
def unet():
    s, x = Symbol(), torch.randn(1, 3, 12, 12)
    c, u, c2 = nn.Conv2d(3, 4, 3, 2, 1), nn.ConvTranspose2d(4, 4, 4, 2, 1), nn.Conv2d(7, 2, 1)
    g = nn.ConvTranspose2d(2, 2, 3, 2, 1, output_padding=1, groups=2, bias=False)
    y = torch.cat([u(F.relu(c(x))), x], 1)
    want = g(F.interpolate(c2(y), scale_factor=2, mode='nearest'))
    d = s.data('data', x)
    n = s.deconv('up', s.act('relu', s.conv('down', d, c)), u)
    n = s.op('Concat', 'cat', [n, d], num_args=2, dim=1)
    n = s.op('UpSampling', 'near', [s.conv('c2', n, c2)], scale=2, sample_type='nearest', num_args=1)
    return s, [s.deconv('g', n, g)], [want]


@case
def pools():
    s, x = Symbol(), torch.randn(1, 2, 8, 11)
    d = s.data('data', x)
    heads, want = [], []
    for i, (kind, ceil, include) in enumerate(
            [('max', True, True), ('avg', True, True), ('avg', True, False), ('avg', False, False)]):
        heads.append(s.op('Pooling', 'p%d' % i, [d], kernel=(3, 3), stride=(2, 2), pad=(1, 1),
                          pool_type=kind, pooling_convention='full' if ceil else 'valid',
                          count_include_pad=include))
        f = (lambda v: F.max_pool2d(v, 3, 2, 1, ceil_mode=ceil)) if kind == 'max' else (
            lambda v: F.avg_pool2d(v, 3, 2, 1, ceil_mode=ceil, count_include_pad=include))
        want.append(f(x))
    heads.append(s.op('_contrib_AdaptiveAvgPooling2D', 'a', [d], output_size=(3, 5)))
    want.append(F.adaptive_avg_pool2d(x, (3, 5)))
    heads.append(s.op('Pooling', 'lp', [d], kernel=(2, 2), pool_type='lp', p_value=2))
    want.append(F.lp_pool2d(x, 2, 2, 1))
    return s, heads, want


@case
def norms():
    s, x = Symbol(), torch.randn(2, 6, 5, 5)
    d = s.data('data', x)
    g, b = torch.rand(6) + 0.5, torch.randn(6)
    gamma, beta = s.param('gamma', g), s.param('beta', b)
    heads = [s.op('InstanceNorm', 'in', [d, gamma, beta], eps=0.001),
             s.op('GroupNorm', 'gn', [d, gamma, beta], num_groups=3, eps=1e-5),
             s.op('LayerNorm', 'ln', [d, gamma, beta], axis=1, eps=1e-5),
             s.op('LRN', 'lrn', [d], nsize=3, alpha=0.01, beta=0.75, knorm=2),
             s.op('L2Normalization', 'l2', [d], mode='channel'),
             s.op('norm', 'norm', [d], axis=(2, 3), keepdims=True)]
    want = [F.instance_norm(x, weight=g, bias=b, eps=1e-3), F.group_norm(x, 3, g, b),
            F.layer_norm(x.movedim(1, -1), (6,), g, b).movedim(-1, 1),
            F.local_response_norm(x, 3, 0.01, 0.75, 2), F.normalize(x, dim=1, eps=0),
            x.norm(dim=(2, 3), keepdim=True)]
    return s, heads, want


def flat_rnn(m):
    """All matrices, layer by layer and direction by direction, then all biases."""
    dirs = [''] + (['_reverse'] if m.bidirectional else [])
    parts = []
    for kind in ('weight', 'bias'):
        for layer in range(m.num_layers):
            for d in dirs:
                for of in ('ih', 'hh'):
                    parts.append(getattr(m, '%s_%s_l%d%s' % (kind, of, layer, d)).flatten())
    return torch.cat(parts)


def recurrent(m, mode):
    s, x = Symbol(), torch.randn(5, 2, 3)
    count = m.num_layers * (2 if m.bidirectional else 1)
    h, c = torch.randn(count, 2, 4), torch.randn(count, 2, 4)
    inputs = [s.data('data', x), s.param('rnn_parameters', flat_rnn(m)), s.data('h', h)]
    if mode == 'lstm':
        inputs.append(s.data('c', c))
        y, (hn, cn) = m(x, (h, c))
        want = [y, hn, cn]
    else:
        y, hn = m(x, h)
        want = [y, hn]
    n = s.op('RNN', 'rnn', inputs, state_size=4, num_layers=m.num_layers, mode=mode,
             bidirectional=m.bidirectional, state_outputs=True, p=0.5)
    return s, [(n[0], i, 0) for i in range(len(want))], want


@case
def lstm_bidirectional():
    return recurrent(nn.LSTM(3, 4, 2, bidirectional=True), 'lstm')


@case
def gru():
    return recurrent(nn.GRU(3, 4, 2), 'gru')


@case
def rnn_tanh():
    return recurrent(nn.RNN(3, 4, 1, bidirectional=True), 'rnn_tanh')


@case
def rnn_zero_state():
    m = nn.LSTM(3, 4)
    s, x = Symbol(), torch.randn(5, 2, 3)
    zeros = s.op('_zeros', 'h0', [], shape=(1, 0, 4))
    n = s.op('RNN', 'rnn', [s.data('data', x), s.param('p', flat_rnn(m)), zeros, zeros],
             state_size=4, num_layers=1, mode='lstm')
    return s, [n], [m(x)[0]]


@case
def transformer_block():
    s, x = Symbol(10900), torch.randint(0, 11, (2, 7)).float()
    emb, qkv, out, ln = nn.Embedding(11, 8), nn.Linear(8, 24), nn.Linear(8, 8), nn.LayerNorm(8)
    e = emb(x.long()).transpose(0, 1)  # time first
    y = qkv(e)
    heads = 2
    q, k, v = y.reshape(7, 2, heads, 3, 4).permute(3, 1, 2, 0, 4).reshape(3, 2 * heads, 7, 4)
    p = F.softmax(q @ k.transpose(1, 2) / 2, -1)
    z = (p @ v).reshape(2, heads, 7, 4).permute(2, 0, 1, 3).reshape(7, 2, 8)
    want = F.gelu(ln(out(z) + e))
    n = s.op('Embedding', 'emb', [s.data('data', x), s.param('emb_weight', emb.weight)],
             input_dim=11, output_dim=8)
    n = s.op('SwapAxis', 'time', [n], dim1=0, dim2=1)
    a = s.fc('qkv', n, qkv, flatten=False)
    p = s.op('_contrib_interleaved_matmul_selfatt_qk', 'qk', [a], heads=heads)
    p = s.op('softmax', 'att', [p], axis=-1)
    a = s.op('_contrib_interleaved_matmul_selfatt_valatt', 'va', [a, p], heads=heads)
    a = s.op('elemwise_add', 'res', [s.fc('out', a, out, flatten=False), n])
    a = s.op('LayerNorm', 'ln', [a, s.param('ln_gamma', ln.weight), s.param('ln_beta', ln.bias)], axis=-1)
    return s, [s.op('LeakyReLU', 'gelu', [a], act_type='gelu')], [want]


@case
def sampled():
    s, x = Symbol(), torch.randn(2, 3, 6, 5)
    theta = torch.tensor([[0.8, 0.1, 0.2, -0.1, 0.9, -0.3], [1.1, 0, 0, 0.2, 1.2, 0.1]])
    d, loc = s.data('data', x), s.data('loc', theta)
    grid = F.affine_grid(theta.reshape(2, 2, 3), (2, 3, 4, 7), align_corners=True)
    sampled = F.grid_sample(x, grid, align_corners=True)
    heads = [s.op('SpatialTransformer', 'st', [d, loc], transform_type='affine',
                  sampler_type='bilinear', target_shape=(4, 7)),
             s.op('_contrib_BilinearResize2D', 'r', [d], height=9, width=8),
             s.op('_contrib_BilinearResize2D', 'q', [d], height=9, width=8, align_corners=False)]
    return s, heads, [sampled, F.interpolate(x, (9, 8), mode='bilinear', align_corners=True),
                      F.interpolate(x, (9, 8), mode='bilinear', align_corners=False)]


@case
def regions():
    import torchvision.ops as tv
    s, x = Symbol(), torch.randn(2, 4, 9, 9)
    rois = torch.tensor([[0, 1.2, 2.1, 9.7, 12.3], [1, 3, 0, 15, 8.5]])
    d, r = s.data('data', x), s.data('rois', rois)
    w, off, mask = torch.randn(5, 4, 3, 3), torch.randn(2, 18, 9, 9), torch.rand(2, 9, 9, 9)
    b = torch.randn(5)
    wn, on, mn, bb = s.param('w', w), s.data('off', off), s.data('mask', mask), s.param('b', b)
    heads = [s.op('_contrib_ROIAlign', 'a', [d, r], pooled_size=(3, 2), spatial_scale=0.5, sample_ratio=2),
             s.op('_contrib_ROIAlign', 'c', [d, r], pooled_size=(3, 2), spatial_scale=0.5,
                  sample_ratio=-1, aligned=True),
             s.op('_contrib_DeformableConvolution', 'd', [d, on, wn, bb], kernel=(3, 3), pad=(1, 1),
                  num_filter=5, num_deformable_group=1),
             s.op('_contrib_ModulatedDeformableConvolution', 'm', [d, on, mn, wn, bb], kernel=(3, 3),
                  pad=(1, 1), num_filter=5, num_deformable_group=1)]
    want = [tv.roi_align(x, rois, (3, 2), 0.5, 2), tv.roi_align(x, rois, (3, 2), 0.5, -1, aligned=True),
            tv.deform_conv2d(x, off, w, b, padding=1), tv.deform_conv2d(x, off, w, b, padding=1, mask=mask)]
    return s, heads, want


@case
def box_nms():
    import torchvision.ops as tv
    s = Symbol()
    n = 40
    corner = torch.rand(2, n, 2) * 4
    boxes = torch.cat([corner, corner + 0.5 + torch.rand(2, n, 2) * 2], -1)
    scores, ids = torch.rand(2, n), torch.randint(0, 3, (2, n)).float()
    data = torch.cat([ids[..., None], scores[..., None], boxes], -1)
    want = torch.full_like(data, -1)
    for i in range(2):
        good = (scores[i] > 0.2).nonzero()[:, 0]
        kept = good[tv.batched_nms(boxes[i][good], scores[i][good], ids[i][good].long(), 0.4)]
        want[i, :len(kept)] = data[i][kept]
    head = s.op('_contrib_box_nms', 'nms', [s.data('data', data)], overlap_thresh=0.4,
                valid_thresh=0.2, coord_start=2, score_index=1, id_index=0)
    return s, [head], [want]


def overlap(p, q, more=0):
    w = max(0, min(p[2], q[2]) - max(p[0], q[0]) + more)
    h = max(0, min(p[3], q[3]) - max(p[1], q[1]) + more)
    area = lambda b: (b[2] - b[0] + more) * (b[3] - b[1] + more)
    return w * h / (area(p) + area(q) - w * h)


@case
def multibox():
    s, x = Symbol(), torch.randn(2, 3, 4, 4)
    cls, loc = torch.softmax(torch.randn(2, 4, 48) * 2, 1), torch.randn(2, 48 * 4)
    sizes, ratios = (0.4, 0.6), (1, 2)
    anchors = []
    for i in range(4):
        for j in range(4):
            for size, ratio in ((0.4, 1), (0.6, 1), (0.4, 2)):
                w, h = size * ratio ** 0.5 / 2, size / ratio ** 0.5 / 2
                cx, cy = (j + 0.5) / 4, (i + 0.5) / 4
                anchors.append([cx - w, cy - h, cx + w, cy + h])
    anchors = np.array(anchors, np.float32)
    want = np.full((2, 48, 6), -1, np.float32)
    for b in range(2):
        rows = []
        for i, (l, t, r, u) in enumerate(anchors):
            score = cls[b, 1:, i].max().item()
            if score < 0.3:
                continue
            d = loc[b].reshape(48, 4)[i].numpy()
            cx, cy = d[0] * 0.1 * (r - l) + (l + r) / 2, d[1] * 0.1 * (u - t) + (t + u) / 2
            w, h = np.exp(d[2] * 0.2) * (r - l) / 2, np.exp(d[3] * 0.2) * (u - t) / 2
            box = np.clip([cx - w, cy - h, cx + w, cy + h], 0, 1)
            rows.append([cls[b, 1:, i].argmax().item(), score, *box])
        rows.sort(key=lambda r: -r[1])
        for i, p in enumerate(rows):
            for q in rows[i + 1:]:
                if p[0] >= 0 and p[0] == q[0] and overlap(p[2:], q[2:]) >= 0.45:
                    q[0] = -1
        want[b, :len(rows)] = rows
    prior = s.op('_contrib_MultiBoxPrior', 'prior', [s.data('data', x)], sizes=sizes, ratios=ratios)
    head = s.op('_contrib_MultiBoxDetection', 'detection', [s.data('cls', cls), s.data('loc', loc), prior],
                nms_threshold=0.45, threshold=0.3)
    return s, [prior, head], [torch.from_numpy(anchors)[None], torch.from_numpy(want)]


@case
def proposal():
    s = Symbol()
    A, H, W, stride, after = 6, 3, 4, 16, 8
    scores, deltas = torch.rand(2, 2 * A, H, W), torch.randn(2, 4 * A, H, W) * 0.3
    info = torch.tensor([[48, 64, 1.0], [40, 50, 1.5]])
    base = []
    for ratio in (0.5, 1, 2):
        for scale in (1, 2):
            w = np.floor(np.sqrt(np.floor(stride * stride / ratio)) + 0.5)
            h = np.floor(w * ratio + 0.5)
            w, h = w * scale, h * scale
            base.append([7.5 - 0.5 * (w - 1), 7.5 - 0.5 * (h - 1), 7.5 + 0.5 * (w - 1), 7.5 + 0.5 * (h - 1)])
    out, out_scores = [], []
    for b in range(2):
        rows = []
        for y in range(H):
            for x in range(W):
                for k in range(A):
                    l, t, r, u = np.array(base[k]) + [x * stride, y * stride] * 2
                    d = deltas[b, 4 * k:4 * k + 4, y, x].numpy().astype(np.float64)
                    w, h = r - l + 1, u - t + 1
                    cx, cy = d[0] * w + l + 0.5 * (w - 1), d[1] * h + t + 0.5 * (h - 1)
                    w, h = np.exp(d[2]) * w, np.exp(d[3]) * h
                    hi = [info[b, 1].item() - 1, info[b, 0].item() - 1] * 2
                    box = np.clip([cx - 0.5 * (w - 1), cy - 0.5 * (h - 1), cx + 0.5 * (w - 1),
                                   cy + 0.5 * (h - 1)], 0, hi)
                    score = scores[b, A + k, y, x].item()
                    if y >= int(info[b, 0] / stride) or x >= int(info[b, 1] / stride):
                        score = -1
                    least = 8 * info[b, 2].item()
                    if box[2] - box[0] + 1 < least or box[3] - box[1] + 1 < least:
                        box, score = box + np.array([-1, -1, 1, 1]) * least / 2, -1
                    rows.append([*box, score])
        rows.sort(key=lambda r: -r[4])
        rows, kept = rows[:40], []
        for r in rows:
            if all(overlap(k, r, 1) <= 0.6 for k in kept):
                kept.append(r)
        kept = kept[:after]
        for i in range(after):
            out.append([b, *kept[i % len(kept)][:4]])
            out_scores.append([kept[i % len(kept)][4]])
    n = s.op('_contrib_MultiProposal', 'rois',
             [s.data('cls', scores), s.data('box', deltas), s.data('im_info', info)], scales=(1, 2),
             ratios=(0.5, 1, 2), feature_stride=stride, rpn_pre_nms_top_n=40, rpn_post_nms_top_n=after,
             threshold=0.6, rpn_min_size=8, output_score=True)
    return s, [n, (n[0], 1, 0)], [torch.tensor(out, dtype=torch.float32), torch.tensor(out_scores)]


@case
def quantized():
    """Integers as MXNet's kernels compute them, in numpy and PyTorch's float64."""
    s, x = Symbol(10600), torch.randn(1, 3, 6, 6)
    w = torch.randint(-127, 128, (4, 3, 3, 3), dtype=torch.int8)
    b = torch.randint(-127, 128, (4,), dtype=torch.int8)
    rx, rw, rb = 2.0, 0.7, 0.3
    sx = 127 / rx
    q = torch.sign(x) * torch.floor(torch.clamp(x.abs() * sx + 0.5, max=127))
    step = (rx / 127) * (rw / 127)
    bias = torch.round(b.double() * (rb / 127) / step)
    acc = F.conv2d(q.double(), w.double(), padding=1) + bias[None, :, None, None]
    real = torch.clamp(acc, min=0) * step
    pooled = F.max_pool2d(real, 2)
    r = 3.0
    y = torch.sign(real) * torch.floor(torch.clamp(real.abs() * (127 / r) + 0.5, max=127))
    want = F.max_pool2d(y, 2) * (r / 127)
    rng = lambda name, v: s.param(name, np.array([v], np.float32))
    d = s.op('_contrib_quantize_v2', 'q', [s.data('data', x)], min_calib_range=-rx, max_calib_range=rx,
             out_type='int8')
    c = s.op('_contrib_quantized_conv', 'conv',
             [d, s.param('conv_weight_quantize', w.numpy()), s.param('conv_bias_quantize', b.numpy()),
              (d[0], 1, 0), (d[0], 2, 0), rng('w_min', -rw), rng('w_max', rw), rng('b_min', -rb),
              rng('b_max', rb)], kernel=(3, 3), pad=(1, 1), num_filter=4, no_bias=False)
    n = s.op('_contrib_requantize', 'req', [c, (c[0], 1, 0), (c[0], 2, 0)], min_calib_range=-r,
             max_calib_range=r)
    n = s.op('_contrib_quantized_act', 'relu', [n, (n[0], 1, 0), (n[0], 2, 0)], act_type='relu')
    n = s.op('_contrib_quantized_pooling', 'pool', [n, (n[0], 1, 0), (n[0], 2, 0)], kernel=(2, 2),
             stride=(2, 2), pool_type='max')
    n = s.op('_contrib_dequantize', 'deq', [n, (n[0], 1, 0), (n[0], 2, 0)], out_type='float32')
    return s, [n], [want.float()]


@case
def foreach():
    s, x = Symbol(), torch.randn(4, 2, 3)
    m = nn.Linear(3, 3)
    h, outs = torch.zeros(2, 3), []
    for t in range(4):
        h = torch.tanh(m(x[t] + h))
        outs.append(h * 2)
    inner = Symbol()
    xi, hi = inner.variable('x'), inner.variable('h')
    w, b = inner.variable('w'), inner.variable('b')
    n = inner.op('elemwise_add', 'sum', [xi, hi])
    n = inner.act('tanh', inner.op('FullyConnected', 'fc', [n, w, b], num_hidden=3), 'tanh')
    out = inner.op('_mul_scalar', 'out', [n], scalar=2)
    graph = inner.json([out, n])
    args = [s.data('data', x), s.data('h0', torch.zeros(2, 3)), s.param('m_weight', m.weight),
            s.param('m_bias', m.bias)]
    f = s.op('_foreach', 'loop', args, more={'subgraphs': [graph]}, num_args=5, num_outputs=2,
             num_out_data=1, in_data_locs=(0,), in_state_locs=(1,), remain_locs=(2, 3))
    return s, [f, (f[0], 1, 0)], [torch.stack(outs), h]


@case
def numpy_functions():
    s, x = Symbol(20000), torch.randn(3, 4)
    y = torch.rand(4) + 1
    d, e = s.data('x', x), s.data('y', y)
    heads = [s.op('_npi_add', 'add', [d, e]), s.op('_npi_true_divide', 'div', [d, e]),
             s.op('_npi_power_scalar', 'pow', [e], scalar=1.5, is_int=False),
             s.op('_npi_mean', 'mean', [d], axis=(1,), keepdims=True), s.op('_npi_std', 'std', [d], axis=(0,)),
             s.op('_npi_matmul', 'mm', [d, e]), s.op('_npi_einsum', 'es', [d, e], subscripts='ij,j->ij', num_args=2),
             s.op('_npi_arctan2_scalar', 'at', [d], scalar=0.5), s.op('_npx_relu', 'relu', [d]),
             s.op('_npi_floor_divide', 'fd', [d, e]), s.op('_npi_log1p', 'lp', [e])]
    want = [x + y, x / y, y ** 1.5, x.mean(1, keepdim=True), x.std(0, unbiased=False), x @ y, x * y,
            torch.atan2(x, torch.tensor(0.5)), F.relu(x), torch.floor(x / y), torch.log1p(y)]
    return s, heads, want


@case
def linear_algebra():
    s = Symbol()
    a = torch.randn(2, 3, 3)
    spd = a @ a.mT + 3 * torch.eye(3)
    b = torch.randn(2, 3, 2)
    A, S, B = s.data('a', a), s.data('spd', spd), s.data('b', b)
    L = torch.linalg.cholesky(spd)
    chol = s.op('_linalg_potrf', 'chol', [S])
    heads = [chol, s.op('_linalg_trsm', 'trsm', [chol, B], alpha=2.0),
             s.op('_linalg_potri', 'potri', [chol]), s.op('_linalg_det', 'det', [A]),
             s.op('_linalg_inverse', 'inv', [S]), s.op('_linalg_syrk', 'syrk', [A], transpose=True),
             s.op('_linalg_trmm', 'trmm', [chol, B], transpose=True)]
    want = [L, torch.linalg.solve_triangular(L, 2 * b, upper=False), torch.linalg.inv(spd),
            torch.linalg.det(a), torch.linalg.inv(spd), a.mT @ a, L.mT @ b]
    return s, heads, want


def squeezenet(model, io):
    import onnx
    from onnx import numpy_helper
    g = onnx.load(model).graph
    weights = {t.name: numpy_helper.to_array(t) for t in g.initializer}
    tensors = load_file(io)
    s, at = Symbol(10500), {g.input[0].name: None}
    at[g.input[0].name] = s.data('data', torch.from_numpy(tensors['in_0']))
    for i, node in enumerate(g.node):
        attrs = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        name, x = '%s%d' % (node.op_type.lower(), i), at.get(node.input[0])
        pads = attrs.get('pads', [0, 0, 0, 0])
        if node.op_type == 'Conv':
            w = weights[node.input[1]]
            ins = [x, s.param(name + '_weight', w), s.param(name + '_bias', weights[node.input[2]])]
            n = s.op('Convolution', name, ins, kernel=tuple(attrs['kernel_shape']), num_filter=w.shape[0],
                     stride=tuple(attrs['strides']), pad=tuple(pads[:2]), num_group=attrs['group'])
        elif node.op_type == 'Relu':
            n = s.act(name, x)
        elif node.op_type == 'MaxPool':
            n = s.op('Pooling', name, [x], kernel=tuple(attrs['kernel_shape']), pool_type='max',
                     stride=tuple(attrs['strides']), pad=tuple(pads[:2]),
                     pooling_convention='full' if attrs.get('ceil_mode') else 'valid')
        elif node.op_type == 'GlobalAveragePool':
            n = s.op('Pooling', name, [x], kernel=(1, 1), global_pool=True, pool_type='avg')
        elif node.op_type == 'Concat':
            n = s.op('Concat', name, [at[k] for k in node.input], num_args=len(node.input), dim=1)
        else:
            assert node.op_type == 'Flatten', node.op_type
            n = s.op('Flatten', name, [x])
        at[node.output[0]] = n
    s.params = {k: np.array(v) for k, v in s.params.items()}
    return s, [at[g.output[0].name]], [torch.from_numpy(tensors['out_0'])]


def main():
    root = sys.argv[1]
    if len(sys.argv) > 3:
        CASES['squeezenet1_1'] = lambda: squeezenet(sys.argv[2], sys.argv[3])
    for i, (name, make) in enumerate(CASES.items()):
        torch.manual_seed(i)
        with torch.no_grad():
            s, heads, want = make()
        folder = os.path.join(root, name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + '-symbol.json'), 'w') as f:
            json.dump(s.json(heads), f, indent=1)
        version = 3 if s.version >= 20000 else [0, 1, 2][i % 3]
        with open(os.path.join(folder, name + '-0001.params'), 'wb') as f:
            f.write(struct.pack('<QQQ', 0x112, 0, len(s.params)))
            for a in s.params.values():
                f.write(array(a, version))
            f.write(struct.pack('<Q', len(s.params)))
            for k in s.params:
                f.write(struct.pack('<Q', len(k)) + k.encode())
        io = {'in_%d' % k: np.ascontiguousarray(v) for k, v in enumerate(s.inputs)}
        io.update({'out_%d' % k: np.ascontiguousarray(v.numpy()) for k, v in enumerate(want)})
        save_file(io, os.path.join(folder, 'io.safetensors'))
        print(name)


main()
