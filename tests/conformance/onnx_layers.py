"""The layers of jax_layers.py, each as the one or two nodes of ONNX that it is, in ONNX's own syntax."""
import math

import numpy as np

from jax_layers import same_padding

NAMES = {'float32': 'float', 'int32': 'int32', 'int64': 'int64', 'bool': 'bool'}


def typed(a, name):
    return '%s%s %s' % (NAMES[a.dtype.name], '[%s]' % ', '.join(str(d) for d in a.shape) if a.ndim else '', name)


class Onnx:
    def __init__(self, weights):
        self.w, self.nodes, self.constants, self.last = weights, [], [], 0

    def node(self, op, inputs, **attrs):
        self.last += 1
        said = ['%s = %s' % (k, '"%s"' % v if isinstance(v, str) else str(list(v)) if isinstance(v, (list, tuple)) else v)
                for k, v in attrs.items()]
        self.nodes.append('  v%d = %s <%s> (%s)\n' % (self.last, op, ', '.join(said), ', '.join(inputs)) if said else
                          '  v%d = %s (%s)\n' % (self.last, op, ', '.join(inputs)))
        return 'v%d' % self.last

    def constant(self, value, dtype=np.float32):
        a = np.asarray(value, dtype)
        name = 'c%d' % len(self.constants)
        self.constants.append('%s = {%s}' % (typed(a, name), ', '.join(
            str(int(x)) if a.dtype.kind != 'f' else repr(float(x)) for x in a.flat)))
        return name

    def ints(self, *numbers):
        return self.constant(numbers, np.int64)

    def text(self, inputs, outputs, results):
        return '<ir_version: 10, opset_import: ["" : 23]>\nnetwork (%s) => (%s)\n<%s>\n{\n%s}\n' % (
            ', '.join(typed(a, n) for n, a in inputs),
            ', '.join(typed(a, n) for n, a in zip(outputs, results)), ',\n '.join(self.constants),
            ''.join(self.nodes))

    def add(self, x, y): return self.node('Add', [x, y])
    def mul(self, x, y): return self.node('Mul', [x, y])
    def relu(self, x): return self.node('Relu', [x])
    def relu6(self, x): return self.node('Clip', [x, self.constant(0), self.constant(6)])
    def silu(self, x): return self.mul(x, self.node('Sigmoid', [x]))
    def gelu(self, x): return self.node('Gelu', [x])
    def gelu_tanh(self, x): return self.node('Gelu', [x], approximate='tanh')
    def softmax(self, x): return self.node('Softmax', [x])
    def log_softmax(self, x): return self.node('LogSoftmax', [x])
    def one_hot(self, x, n):
        return self.node('OneHot', [x, self.ints(n), self.constant([0, 1])])
    def argmax(self, x, axis):
        return self.node('Cast', [self.node('ArgMax', [x], axis=axis, keepdims=0)], to=6)

    def dense(self, x, n, m, bias=True):
        y = self.node('MatMul', [x, self.constant(self.w.make(n, m))])
        return self.add(y, self.constant(self.w.make(m, scale=0.1))) if bias else y

    # --- Images: channels last outside, as JAX has them ---

    def image(self, x): return self.node('Transpose', [x], perm=[0, 3, 1, 2])
    def back(self, x): return self.node('Transpose', [x], perm=[0, 2, 3, 1])

    def pads(self, sizes, kernel, strides, padding):
        if padding == 'VALID':
            return [0, 0, 0, 0]
        pads = same_padding(sizes, kernel, strides)
        return [p[0] for p in pads] + [p[1] for p in pads]

    def conv(self, x, kernel, n, m, strides=(1, 1), padding='SAME', groups=1, bias=True, sizes=None):
        w = [self.constant(self.w.make(*kernel, n // groups, m).transpose(3, 2, 0, 1))]
        if bias:
            w.append(self.constant(self.w.make(m, scale=0.1)))
        return self.back(self.node('Conv', [self.image(x)] + w, strides=strides, group=groups,
                                   pads=self.pads(sizes, kernel, strides, padding)))

    def batch_norm(self, x, n):
        mean, var, scale, bias = (self.constant(self.w.near(c, n)) for c in (0, 1, 1, 0))
        return self.back(self.node('BatchNormalization', [self.image(x), scale, bias, mean, var], epsilon=1e-5))

    def max_pool(self, x, size, strides, padding='VALID', sizes=None):
        return self.back(self.node('MaxPool', [self.image(x)], kernel_shape=size, strides=strides,
                                   pads=self.pads(sizes, size, strides, padding)))

    def avg_pool(self, x, size, strides, padding='VALID', sizes=None, counted=1):
        return self.back(self.node('AveragePool', [self.image(x)], kernel_shape=size, strides=strides,
                                   count_include_pad=counted, pads=self.pads(sizes, size, strides, padding)))

    def avg_pool_counted(self, x, size, strides, sizes=None):
        return self.avg_pool(x, size, strides, 'SAME', sizes, 0)

    def global_mean(self, x):
        return self.node('ReduceMean', [x, self.ints(1, 2)], keepdims=0)

    def flatten(self, x):
        return self.node('Reshape', [x, self.ints(0, -1)])

    def tokens(self, x, width):
        return self.node('Reshape', [x, self.ints(0, -1, width)])

    # --- Tokens ---

    def layer_norm(self, x, d):
        scale, bias = (self.constant(self.w.near(c, d)) for c in (1, 0))
        return self.node('LayerNormalization', [x, scale, bias], epsilon=1e-6)

    layer_norm_two_pass = layer_norm

    def rms_norm(self, x, d):
        return self.node('RMSNormalization', [x, self.constant(self.w.near(1, d))], epsilon=1e-6)

    def gemma_norm(self, x, d):
        return self.node('RMSNormalization', [x, self.constant(self.w.near(0, d) + np.float32(1))], epsilon=1e-6)

    def embed(self, ids, n, d):
        return self.node('Gather', [self.constant(self.w.make(n, d, scale=1)), ids])

    def positions(self, x, n, d, length):
        return self.add(x, self.constant(self.w.make(1, n, d, scale=0.1)[:, :length]))

    def pooled_token(self, x):
        return self.node('Gather', [x, self.constant(0, np.int64)], axis=1)

    def class_token(self, x, d, batch):
        token = np.broadcast_to(self.w.make(1, 1, d), (batch, 1, d))
        return self.node('Concat', [self.constant(token), x], axis=1)

    def heads_of(self, x, d, heads, bias=True):
        """[batch, heads, length, size]"""
        w = self.constant(self.w.make(d, heads, d // heads, scale=1 / math.sqrt(d)).reshape(d, -1))
        y = self.node('MatMul', [x, w])
        if bias:
            y = self.add(y, self.constant(self.w.make(heads, d // heads, scale=0.1).reshape(-1)))
        y = self.node('Reshape', [y, self.ints(0, 0, heads, d // heads)])
        return self.node('Transpose', [y], perm=[0, 2, 1, 3])

    def from_heads(self, x, d, bias=True, heads=None):
        x = self.node('Reshape', [self.node('Transpose', [x], perm=[0, 2, 1, 3]), self.ints(0, 0, d)])
        w = self.w.make(heads, d // heads, d, scale=1 / math.sqrt(d)).reshape(-1, d)
        y = self.node('MatMul', [x, self.constant(w)])
        return self.add(y, self.constant(self.w.make(d, scale=0.1))) if bias else y

    def attend(self, q, k, v, mask=None):
        if mask == 'causal':
            return self.node('Attention', [q, k, v], is_causal=1)
        return self.node('Attention', [q, k, v] + ([mask] if mask else []))

    def self_attention(self, x, d, heads, mask=None, kind=None):
        q, k, v = (self.heads_of(x, d, heads) for _ in range(3))
        return self.from_heads(self.attend(q, k, v, mask), d, heads=heads)

    def padding_mask(self, keep):
        return self.node('Unsqueeze', [keep, self.ints(1, 2)])

    def rope(self, x, length, size, base=10000.0):
        angles = np.arange(length)[:, None] / base ** (np.arange(0, size, 2) / size)
        return self.node('RotaryEmbedding', [x, self.constant(np.cos(angles)), self.constant(np.sin(angles)),
                                             self.constant([range(length)], np.int64)])

    def lstm(self, x, n, m):
        def order(w):  # i f g o as ONNX's i o f g
            i, f, g, o = np.split(w, 4, -1)
            return np.concatenate([i, o, f, g], -1)
        w = order(self.w.make(n, 4 * m)).T[None]
        u, b = order(self.w.make(m, 4 * m)).T[None], order(self.w.make(4 * m, scale=0.1))
        steps = self.node('Transpose', [x], perm=[1, 0, 2])
        b = np.concatenate([b, np.zeros_like(b)])[None]
        y = self.node('LSTM', [steps, self.constant(w), self.constant(u), self.constant(b)], hidden_size=m)
        y = self.node('Squeeze', [y, self.ints(1)])
        return self.node('Transpose', [y], perm=[1, 0, 2])
