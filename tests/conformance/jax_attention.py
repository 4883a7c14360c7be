"""Attention, rotary embeddings and recurrent layers in the operations that JAX lowers them to."""
import math

import numpy as np

from jax_layers import F32_MIN, Jax


class JaxModels(Jax):
    def heads_of(self, x, d, heads, bias=True):
        """flax's DenseGeneral to [batch, length, heads, size]."""
        w = self.f.constant(self.w.make(d, heads, d // heads, scale=1 / math.sqrt(d)))
        y = self.f.dot(x, w, ([2], [0]))
        return self.bias(y, self.w.make(heads, d // heads, scale=0.1)) if bias else y

    def from_heads(self, x, d, bias=True):
        heads, size = x.shape[2:]
        w = self.f.constant(self.w.make(heads, size, d, scale=1 / math.sqrt(d)))
        y = self.f.dot(x, w, ([2, 3], [0, 1]))
        return self.bias(y, self.w.make(d, scale=0.1)) if bias else y

    def causal_of_tril(self, length):
        """jnp.tril(jnp.ones((length, length), bool))[None, None]"""
        f = self.f
        ones = f.broadcast(f.constant(True, bool), (length, length), [])

        def tril(g, x):
            b = Jax(g, self.w)
            rows = g.iota(x.shape, 0)
            rows = g.binary('add', rows, b.number(rows, 0))
            keep = g.compare('GE', rows, g.iota(x.shape, 1))
            return g.select(keep, x, g.broadcast(g.constant(False, bool), x.shape, []))

        return f.broadcast(f.call('tril', tril, ones), (1, 1, length, length), [2, 3])

    def causal_of_flax(self, batch, length):
        """nn.make_causal_mask: of positions that are compared, as numbers."""
        f = self.f
        at = f.broadcast(f.iota((length,), 0), (batch, length), [1])
        queries = f.broadcast(at, (batch, length, 1), [0, 1])
        keys = f.broadcast(at, (batch, 1, length), [0, 2])
        mask = self.compare('GE', queries, keys)
        mask = f.convert(f.broadcast(mask, (batch, 1, length, length), [0, 2, 3]), np.float32)
        return f.compare('NE', mask, self.number(mask, 0))

    def padding_mask(self, keep):
        """[batch, 1, 1, length] of [batch, length] of bool."""
        return self.f.broadcast(keep, (keep.shape[0], 1, 1, keep.shape[1]), [0, 3])

    def flax_attention(self, q, k, v, mask=None):
        """flax.linen.dot_product_attention; the second einsum's operands are swapped."""
        f, size = self.f, q.shape[3]
        q = self.div(q, math.sqrt(size))
        scores = f.dot(q, k, ([3], [3]), ([0, 2], [0, 2]))
        if mask is not None:
            scores = self.where(mask, scores, F32_MIN)
        y = f.dot(v, self.softmax(scores), ([1], [3]), ([0, 2], [0, 1]))  # [b, h, size, q]
        return f.transpose(y, [0, 3, 1, 2])

    def jax_attention(self, q, k, v, mask=None):
        """jax.nn.dot_product_attention by XLA."""
        f, size = self.f, q.shape[3]
        scores = self.mul(f.dot(q, k, ([3], [3]), ([0, 2], [0, 2])), 1 / math.sqrt(size))
        if mask is not None:
            scores = self.where(mask, scores, 0.7 * F32_MIN)
        y = f.dot(self.softmax(scores), v, ([3], [1]), ([0, 1], [0, 2]))  # [b, h, q, size]
        return f.transpose(y, [0, 2, 1, 3])

    def grouped_attention(self, q, k, v, mask):
        """Gemma's: queries as [b, t, keys' heads, group, size]."""
        f = self.f
        b, t, heads, size = q.shape
        shared = k.shape[2]
        q = self.mul(q, 1 / math.sqrt(size))
        q = f.reshape(q, (b, t, shared, heads // shared, size))
        scores = f.dot(q, k, ([4], [3]), ([0, 2], [0, 2]))  # [b, k, t, g, s]
        scores = f.transpose(scores, [0, 2, 1, 3, 4])
        scores = f.reshape(scores, (b, t, heads, k.shape[1]))
        scores = self.where(f.broadcast(f.reshape(mask, mask.shape[2:]), (b, t, 1, t), [1, 3]), scores, -2.3819763e38)
        p = f.reshape(self.softmax(scores), (b, t, shared, heads // shared, k.shape[1]))
        y = f.dot(p, v, ([4], [1]), ([0, 2], [0, 2]))  # [b, k, t, g, size]
        return f.reshape(f.transpose(y, [0, 2, 1, 3, 4]), (b, t, heads, size))

    def self_attention(self, x, d, heads, mask=None, kind='flax'):
        q, k, v = (self.heads_of(x, d, heads) for _ in range(3))
        attend = self.flax_attention if kind == 'flax' else self.jax_attention
        return self.from_heads(attend(q, k, v, mask), d)

    def rope(self, x, base=10000.0):
        """Gemma's: halves that are turned against each other, by angles of positions."""
        f = self.f
        b, t, heads, size = x.shape
        half = size // 2
        at = f.convert(f.broadcast(f.iota((t,), 0), (b, t), [1]), np.float32)
        # base ** (2 * arange(half) / size)
        scale = f.convert(f.iota((half,), 0), np.float32)
        scale = self.div(self.mul(2.0, scale), float(size))
        scale = f.binary('power', self.number(scale, base), scale)
        wide = f.broadcast(at, (b, t, 1), [0, 1])
        angles = self.div(wide, f.broadcast(scale, (1, 1, half), [2]))
        angles = f.broadcast(angles, (b, t, 1, half), [0, 1, 3])
        sin, cos = f.unary('sine', angles), f.unary('cosine', angles)
        first = f.slice(x, [0] * 4, [b, t, heads, half])
        second = f.slice(x, [0, 0, 0, half], [b, t, heads, size])
        one = self.sub(self.mul(first, cos), self.mul(second, sin))
        other = self.add(self.mul(second, cos), self.mul(first, sin))
        return f.concatenate([one, other], 3)

    def llama_rope(self, x, base=10000.0):
        """x * cos + rotate_half(x) * sin, of tables that are constants."""
        f = self.f
        b, t, heads, size = x.shape
        angles = np.arange(t)[:, None] / base ** (np.arange(0, size, 2) / size)
        angles = np.concatenate([angles, angles], -1).reshape(1, t, 1, size)
        cos, sin = f.constant(np.cos(angles)), f.constant(np.sin(angles))
        first = f.slice(x, [0] * 4, [b, t, heads, size // 2])
        second = f.slice(x, [0, 0, 0, size // 2], [b, t, heads, size])
        turned = f.concatenate([f.unary('negate', second), first], 3)
        return self.add(self.mul(x, cos), self.mul(turned, sin))

    def lstm(self, x, n, m):
        """nn.RNN(nn.OptimizedLSTMCell(m)) over axis 1: a scan over the time, which is put first."""
        f = self.f
        b, t = x.shape[:2]
        w = f.constant(self.w.make(n, 4 * m))
        u, bias = f.constant(self.w.make(m, 4 * m)), f.constant(self.w.make(4 * m, scale=0.1))
        zero = f.broadcast(f.constant(0), (b, m), [])
        steps = f.transpose(x, [1, 0, 2])
        out = f.broadcast(f.constant(0), (t, b, m), [])

        def body(g, i, xs, h, c, ys):
            j = JaxModels(g, self.w)
            at = g.select(g.compare('LT', i, g.constant(0, np.int32)), g.binary('add', i, g.constant(t, np.int32)), i)
            zero_i = g.constant(0, np.int32)
            step = g.reshape(g.dynamic_slice(xs, [at, zero_i, zero_i], (1, b, n)), (b, n))
            gates = j.add(g.dot(step, w, ([1], [0])),
                          j.add(g.dot(h, u, ([1], [0])), g.broadcast(bias, (1, 4 * m), [1])))
            parts = [g.slice(gates, [0, k * m], [b, (k + 1) * m]) for k in range(4)]
            i_gate, f_gate, o_gate = j.sigmoid(parts[0]), j.sigmoid(parts[1]), j.sigmoid(parts[3])
            c = g.binary('add', g.binary('multiply', f_gate, c),
                         g.binary('multiply', i_gate, g.unary('tanh', parts[2])))
            h = g.binary('multiply', o_gate, g.unary('tanh', c))
            ys = g.dynamic_update_slice(ys, g.broadcast(h, (1, b, m), [1, 2]), [at, zero_i, zero_i])
            return xs, h, c, ys

        _, _, _, out = f.counted_loop(t, body, [steps, zero, zero, out])
        return f.transpose(out, [1, 0, 2])
