"""Makes the cases of jax-cases.tar.xz: networks in the operations that JAX lowers them to, with
NumPy's outputs, and the same networks as the ONNX nodes that their layers are.

    python3 jax_networks.py FOLDER

Each case is a folder with network.mlir, network.onnxtxt and io.safetensors. Needs NumPy.
"""
import os
import sys

import numpy as np

from io_file import save_io
from jax_attention import JaxModels
from jax_layers import Weights
from onnx_layers import Onnx
from stablehlo_tracer import lowered


def mlp(j, x):
    x = j.relu(j.dense(x, 8, 16))
    x = j.gelu_tanh(j.dense(x, 16, 16))
    return j.softmax(j.dense(x, 16, 4))


def lenet(j, x, o):
    s = (lambda h, w: {'sizes': (h, w)}) if o else lambda h, w: {}
    x = j.avg_pool(j.relu(j.conv(x, (3, 3), 1, 4, **s(12, 12))), (2, 2), (2, 2), **s(12, 12))
    x = j.max_pool(j.relu(j.conv(x, (3, 3), 4, 6, **s(6, 6))), (2, 2), (2, 2), **s(6, 6))
    x = j.flatten(x)
    x = j.relu(j.dense(x, 54, 12))
    return j.log_softmax(j.dense(x, 12, 4))


def resnet(j, x, o):
    s = (lambda h, w: {'sizes': (h, w)}) if o else lambda h, w: {}
    x = j.conv(x, (3, 3), 3, 4, (2, 2), bias=False, **s(12, 12))
    x = j.relu(j.batch_norm(x, 4))
    x = j.max_pool(x, (3, 3), (2, 2), 'SAME', **s(6, 6))
    for n, m, stride, size in ((4, 4, 1, 3), (4, 8, 2, 3)):
        y = j.relu(j.batch_norm(j.conv(x, (3, 3), n, m, (stride, stride), bias=False, **s(size, size)), m))
        out = -(-size // stride)
        y = j.batch_norm(j.conv(y, (3, 3), m, m, bias=False, **s(out, out)), m)
        if n != m:
            x = j.batch_norm(j.conv(x, (1, 1), n, m, (stride, stride), bias=False, **s(size, size)), m)
        x = j.relu(j.add(x, y))
    return j.dense(j.global_mean(x), 8, 5)


def mobilenet(j, x, o):
    s = (lambda h, w: {'sizes': (h, w)}) if o else lambda h, w: {}
    for n, m, stride, size in ((4, 4, 1, 8), (4, 8, 2, 8)):
        y = j.relu6(j.batch_norm(j.conv(x, (1, 1), n, 2 * n, bias=False, **s(size, size)), 2 * n))
        y = j.conv(y, (3, 3), 2 * n, 2 * n, (stride, stride), groups=2 * n, bias=False, **s(size, size))
        y = j.relu6(j.batch_norm(y, 2 * n))
        out = -(-size // stride)
        y = j.batch_norm(j.conv(y, (1, 1), 2 * n, m, bias=False, **s(out, out)), m)
        x = j.add(x, y) if n == m and stride == 1 else y
    return j.avg_pool_counted(x, (3, 3), (2, 2), **s(4, 4))


def encoder(j, ids, keep, o):
    """BERT's order of norms, with a mask for padding."""
    x = j.embed(ids, 20, 16)
    x = j.positions(x, 12, 16, **({'length': 6} if o else {}))
    x = j.layer_norm(x, 16)
    mask = j.padding_mask(keep)
    for _ in range(3):
        x = j.layer_norm(j.add(x, j.self_attention(x, 16, 4, mask)), 16)
        x = j.layer_norm(j.add(x, j.dense(j.gelu(j.dense(x, 16, 32)), 32, 16)), 16)
    return j.dense(j.pooled_token(x), 16, 3)


def decoder(j, ids, o, kind):
    """GPT-2's: norms before, a causal mask, jax.nn's or flax's attention."""
    x = j.embed(ids, 20, 16)
    x = j.positions(x, 12, 16, **({'length': 6} if o else {}))
    mask = 'causal' if o else j.causal_of_tril(6) if kind == 'jax' else j.causal_of_flax(2, 6)
    norm = j.layer_norm if kind == 'flax' else j.layer_norm_two_pass
    for _ in range(2):
        x = j.add(x, j.self_attention(norm(x, 16), 16, 4, mask, kind))
        x = j.add(x, j.dense(j.gelu_tanh(j.dense(norm(x, 16), 16, 32)), 32, 16))
    return j.dense(norm(x, 16), 16, 20, bias=False)


def gemma(j, ids, o):
    x = j.embed(ids, 20, 16)
    mask = 'causal' if o else j.causal_of_tril(6)
    for _ in range(2):
        y = j.gemma_norm(x, 16)
        q = j.heads_of(y, 16, 4, bias=False)
        k, v = (shared_heads(j, y, o) for _ in range(2))
        turn = {'length': 6, 'size': 4} if o else {}
        q, k = j.rope(q, **turn), j.rope(k, **turn)
        y = j.attend(q, k, v, mask) if o else j.grouped_attention(q, k, v, mask)
        x = j.add(x, j.from_heads(y, 16, bias=False, **({'heads': 4} if o else {})))
        y = j.gemma_norm(x, 16)
        y = j.mul(j.gelu_tanh(j.dense(y, 16, 32, bias=False)), j.dense(y, 16, 32, bias=False))
        x = j.add(x, j.dense(y, 32, 16, bias=False))
    return j.dense(j.gemma_norm(x, 16), 16, 20, bias=False)


def shared_heads(j, x, o):
    """Two heads for four of the queries."""
    w = j.w.make(16, 2, 4, scale=0.25)
    if not o:
        return j.f.dot(x, j.f.constant(w), ([2], [0]))
    y = j.node('Reshape', [j.node('MatMul', [x, j.constant(w.reshape(16, 8))]), j.ints(0, 0, 2, 4)])
    return j.node('Transpose', [y], perm=[0, 2, 1, 3])


def llama(j, ids, o):
    x = j.embed(ids, 20, 16)
    mask = 'causal' if o else j.causal_of_tril(6)
    for _ in range(2):
        y = j.rms_norm(x, 16)
        q, k, v = (j.heads_of(y, 16, 4, bias=False) for _ in range(3))
        q, k = (j.rope(t, 6, 4) if o else j.llama_rope(t) for t in (q, k))
        y = j.attend(q, k, v, mask) if o else j.jax_attention(q, k, v, mask)
        x = j.add(x, j.from_heads(y, 16, bias=False, **({'heads': 4} if o else {})))
        y = j.rms_norm(x, 16)
        y = j.mul(j.silu(j.dense(y, 16, 32, bias=False)), j.dense(y, 16, 32, bias=False))
        x = j.add(x, j.dense(y, 32, 16, bias=False))
    return j.dense(j.rms_norm(x, 16), 16, 20, bias=False)


def vit(j, x, o):
    x = j.conv(x, (4, 4), 3, 16, (4, 4), 'VALID')
    x = j.tokens(x, 16) if o else j.tokens(x)
    x = j.class_token(x, 16, 1) if o else j.class_token(x, 16)
    x = j.positions(x, 10, 16, **({'length': 10} if o else {}))
    for _ in range(2):
        x = j.add(x, j.self_attention(j.layer_norm(x, 16), 16, 4))
        x = j.add(x, j.dense(j.gelu(j.dense(j.layer_norm(x, 16), 16, 32)), 32, 16))
    return j.dense(j.pooled_token(j.layer_norm(x, 16)), 16, 3)


def lstm(j, x):
    x = j.lstm(x, 6, 8)
    return j.argmax(j.dense(x, 8, 5), 2)


def labels(j, ids):
    return j.dense(j.one_hot(ids, 7), 7, 4)


RNG = np.random.RandomState(1)
IMAGE = lambda *shape: np.float32(RNG.standard_normal(shape))
IDS = lambda *shape: np.int32(RNG.randint(0, 20, shape))
KEEP = np.arange(6)[None] < np.array([[4], [6]])
NETWORKS = {
    'mlp': (lambda j, o, x: mlp(j, x), IMAGE(3, 8)),
    'lenet': (lambda j, o, x: lenet(j, x, o), IMAGE(2, 12, 12, 1)),
    'resnet': (lambda j, o, x: resnet(j, x, o), IMAGE(1, 12, 12, 3)),
    'mobilenet': (lambda j, o, x: mobilenet(j, x, o), IMAGE(1, 8, 8, 4)),
    'encoder': (lambda j, o, *x: encoder(j, *x, o), IDS(2, 6), KEEP),
    'decoder_flax': (lambda j, o, x: decoder(j, x, o, 'flax'), IDS(2, 6)),
    'decoder_jax': (lambda j, o, x: decoder(j, x, o, 'jax'), IDS(2, 6)),
    'gemma': (lambda j, o, x: gemma(j, x, o), IDS(1, 6)),
    'llama': (lambda j, o, x: llama(j, x, o), IDS(1, 6)),
    'vit': (lambda j, o, x: vit(j, x, o), IMAGE(1, 12, 12, 3)),
    'lstm': (lambda j, o, x: lstm(j, x), IMAGE(2, 5, 6)),
    'labels': (lambda j, o, x: labels(j, x), np.int32(RNG.randint(0, 8, (3, 4)))),
}


def main(folder):
    for name, (network, *inputs) in NETWORKS.items():
        to = os.path.join(folder, name)
        os.makedirs(to, exist_ok=True)

        def body(f, *args):
            # A region's or a function's second evaluation draws no weights.
            return network(JaxModels(f, Weights()), False, *args)

        text, results = lowered(body, *inputs)
        with open(os.path.join(to, 'network.mlir'), 'w') as f:
            f.write(text)
        save_io(os.path.join(to, 'io.safetensors'), inputs, results)
        o = Onnx(Weights())
        names = ['x%d' % i for i in range(len(inputs))]
        y = network(o, True, *names)
        with open(os.path.join(to, 'network.onnxtxt'), 'w') as f:
            f.write(o.text(list(zip(names, inputs)), [y], results))


if __name__ == '__main__':
    main(sys.argv[1])
