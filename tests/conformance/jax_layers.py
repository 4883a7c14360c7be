"""Layers of jax.nn and flax.linen in the operations that JAX lowers them to, after jaxpr's rules:
operands are broadcast one rank at a time, jitted functions are calls, a mean is a sum and a division."""
import math

import numpy as np

F32_MIN = float(np.finfo(np.float32).min)


class Weights:
    """The same numbers for whoever asks in the same order."""

    def __init__(self, seed=0):
        self.rng = np.random.RandomState(seed)

    def make(self, *shape, scale=None):
        scale = scale or 1 / math.sqrt(np.prod(shape[:-1]) or 1)
        return np.float32(self.rng.standard_normal(shape) * scale)

    def near(self, center, *shape):
        return np.float32(center + 0.1 * self.rng.standard_normal(shape))


def same_padding(sizes, kernel, strides):
    pads = []
    for d, k, s in zip(sizes, kernel, strides):
        total = max((-(-d // s) - 1) * s + k - d, 0)
        pads.append((total // 2, total - total // 2))
    return pads


class Jax:
    def __init__(self, f, weights):
        self.f, self.w = f, weights

    # --- jax.numpy ---

    def number(self, x, value):
        """A Python number, as an array of x's shape."""
        c = self.f.constant(value, x.a.dtype)
        return self.f.broadcast(c, x.shape, []) if x.shape else c

    def wide(self, x, shape):
        f = self.f
        if len(x.shape) < len(shape):
            rank = [1] * (len(shape) - len(x.shape)) + list(x.shape)
            x = f.broadcast(x, rank, range(len(shape) - len(x.shape), len(shape)))
        return f.broadcast(x, shape, range(len(shape))) if tuple(x.shape) != tuple(shape) else x

    def binary(self, op, x, y):
        if not hasattr(x, 'a'):
            return self.f.binary(op, self.number(y, x), y)
        if not hasattr(y, 'a'):
            return self.f.binary(op, x, self.number(x, y))
        shape = np.broadcast_shapes(x.shape, y.shape)
        return self.f.binary(op, self.wide(x, shape), self.wide(y, shape))

    def add(self, x, y): return self.binary('add', x, y)
    def sub(self, x, y): return self.binary('subtract', x, y)
    def mul(self, x, y): return self.binary('multiply', x, y)
    def div(self, x, y): return self.binary('divide', x, y)

    def compare(self, direction, x, y):
        shape = np.broadcast_shapes(x.shape, y.shape)
        return self.f.compare(direction, self.wide(x, shape), self.wide(y, shape))

    def kept(self, x, dims, shape):
        """With the reduced axes as axes of size 1 again."""
        shape = [1 if i in dims else d for i, d in enumerate(shape)]
        return self.f.broadcast(x, shape, [i for i in range(len(shape)) if i not in dims])

    def reduce(self, op, x, dims, keep=False):
        init = self.f.constant({'add': 0, 'maximum': -np.inf}[op])
        y = self.f.reduce(op, x, init, dims)
        return self.kept(y, dims, x.shape) if keep else y

    def mean(self, x, dims, keep=False):
        y = self.reduce('add', x, dims, keep)
        return self.div(y, float(np.prod([x.shape[i] for i in dims])))

    def where(self, test, x, y):
        """jnp.where, a jitted function; x or y may be a number."""
        arrays = [v for v in (test, x, y) if hasattr(v, 'a')]
        shape = np.broadcast_shapes(*(v.shape for v in arrays))
        constants = [None if hasattr(v, 'a') else self.f.constant(v) for v in (x, y)]

        def body(f, *args):
            b, values = Jax(f, self.w), iter(args)
            t = b.wide(next(values), shape)
            rest = [next(values) for _ in range(2)]
            wide = [f.broadcast(v, shape, []) if not v.shape else b.wide(v, shape) for v in rest]
            return f.select(t, *wide)

        return self.f.call('_where', body, test, constants[0] or x, constants[1] or y)

    # --- jax.nn ---

    def relu(self, x):
        return self.f.call('relu', lambda f, v: Jax(f, self.w).binary('maximum', v, 0), x)

    def relu6(self, x):
        def body(f, v):
            b = Jax(f, self.w)
            return b.binary('minimum', b.binary('maximum', v, 0), 6)
        return self.f.call('relu6', body, x)

    def sigmoid(self, x):
        """lax.logistic, where it is lowered to what it is made of."""
        e = self.f.unary('exponential', self.f.unary('negate', x))
        return self.div(1, self.add(1, e))

    def silu(self, x):
        return self.f.call('silu', lambda f, v: f.binary('multiply', v, Jax(f, self.w).sigmoid(v)), x)

    def gelu(self, x):
        y = self.mul(self.f.unary('negate', x), math.sqrt(0.5))
        return self.mul(self.mul(0.5, x), self.f.erf('erfc', y))

    def gelu_tanh(self, x):
        cube = self.f.binary('multiply', self.f.binary('multiply', x, x), x)
        inner = self.mul(math.sqrt(2 / math.pi), self.add(x, self.mul(0.044715, cube)))
        cdf = self.mul(0.5, self.add(1, self.f.unary('tanh', inner)))
        return self.f.binary('multiply', x, cdf)

    def softmax(self, x):
        last = [len(x.shape) - 1]
        top = self.reduce('maximum', x, last)
        top = self.binary('maximum', -np.inf, top)
        e = self.f.unary('exponential', self.sub(x, self.kept(top, last, x.shape)))
        return self.div(e, self.reduce('add', e, last, keep=True))

    def log_softmax(self, x):
        last = [len(x.shape) - 1]
        top = self.reduce('maximum', x, last)
        top = self.binary('maximum', -np.inf, top)
        shifted = self.sub(x, self.kept(top, last, x.shape))
        total = self.reduce('add', self.f.unary('exponential', shifted), last, keep=True)
        return self.sub(shifted, self.f.unary('log', total))

    def one_hot(self, x, n):
        wide = self.f.broadcast(x, list(x.shape) + [1], range(len(x.shape)))
        places = self.f.iota([1] * len(x.shape) + [n], len(x.shape))
        return self.f.convert(self.compare('EQ', wide, places), np.float32)

    def argmax(self, x, axis):
        return self.f.call('argmax', lambda f, v: f.argmax(v, axis), x)

    # --- flax.linen ---

    def bias(self, x, value):
        b = self.f.constant(value)
        rank = [1] * (len(x.shape) - value.ndim) + list(value.shape)
        return self.add(x, self.f.reshape(b, rank))

    def dense(self, x, n, m, bias=True):
        w = self.f.constant(self.w.make(n, m))
        y = self.f.dot(x, w, ([len(x.shape) - 1], [0]))
        return self.bias(y, self.w.make(m, scale=0.1)) if bias else y

    def conv(self, x, kernel, n, m, strides=(1, 1), padding='SAME', groups=1, bias=True):
        w = self.w.make(*kernel, n // groups, m)
        pads = same_padding(x.shape[1:3], kernel, strides) if padding == 'SAME' else [(0, 0), (0, 0)]
        y = self.f.convolution(x, self.f.constant(w), strides, pads, groups)
        return self.bias(y, self.w.make(m, scale=0.1)) if bias else y

    def batch_norm(self, x, n):
        f = self.f
        shape = [1] * (len(x.shape) - 1) + [n]
        mean, var, scale, bias = (f.constant(self.w.near(c, n)) for c in (0, 1, 1, 0))
        last = [len(x.shape) - 1]
        y = self.sub(x, f.broadcast(mean, shape, last))
        factor = f.unary('rsqrt', self.add(f.broadcast(var, shape, last), 1e-5))
        factor = f.binary('multiply', factor, f.reshape(scale, shape))
        return self.add(self.mul(y, factor), f.reshape(bias, shape))

    def pool_of(self, op, x, init, size, strides, padding):
        pads = same_padding(x.shape[1:3], size, strides) if padding == 'SAME' else [(0, 0), (0, 0)]
        return self.f.reduce_window(op, x, self.f.constant(init), (1,) + size + (1,), (1,) + strides + (1,),
                                    [(0, 0)] + pads + [(0, 0)])

    def max_pool(self, x, size, strides, padding='VALID'):
        return self.pool_of('maximum', x, -np.inf, size, strides, padding)

    def avg_pool(self, x, size, strides, padding='VALID'):
        """count_include_pad=True, as flax has it by default."""
        return self.div(self.pool_of('add', x, 0, size, strides, padding), float(np.prod(size)))

    def avg_pool_counted(self, x, size, strides):
        total = self.pool_of('add', x, 0, size, strides, 'SAME')
        ones = self.number(self.f.constant(np.ones(x.shape[:-1] + (1,))), 1)
        return self.div(total, self.pool_of('add', ones, 0, size, strides, 'SAME'))

    def global_mean(self, x):
        return self.mean(x, [1, 2])

    def flatten(self, x):
        return self.f.reshape(x, (x.shape[0], int(np.prod(x.shape[1:]))))

    def tokens(self, x):
        """[batch, h, w, c] as [batch, h * w, c]."""
        return self.f.reshape(x, (x.shape[0], x.shape[1] * x.shape[2], x.shape[3]))

    def scaled(self, y, var, d, epsilon, scale, bias=None):
        factor = self.f.unary('rsqrt', self.add(var, epsilon))
        shape = [1] * (len(y.shape) - 1) + [d]
        factor = self.mul(factor, self.f.reshape(self.f.constant(scale), shape))
        y = self.mul(y, factor)
        return y if bias is None else self.add(y, self.f.reshape(self.f.constant(bias), shape))

    def layer_norm(self, x, d):
        """flax's, with use_fast_variance."""
        last = [len(x.shape) - 1]
        mean = self.mean(x, last)
        square = self.mean(self.f.binary('multiply', x, x), last)
        var = self.sub(square, self.f.binary('multiply', mean, mean))
        var = self.kept(self.binary('maximum', 0, var), last, x.shape)
        y = self.sub(x, self.kept(mean, last, x.shape))
        return self.scaled(y, var, d, 1e-6, self.w.near(1, d), self.w.near(0, d))

    def layer_norm_two_pass(self, x, d):
        """x - mean, with jnp.var, as Haiku and many programs have it."""
        last = [len(x.shape) - 1]
        mean = self.mean(x, last, keep=True)

        def var(f, v):
            b = Jax(f, self.w)
            c = b.sub(v, b.mean(v, last, keep=True))
            return b.mean(f.binary('multiply', c, c), last, keep=True)

        y = self.sub(x, mean)
        return self.scaled(y, self.f.call('_var', var, x), d, 1e-6, self.w.near(1, d), self.w.near(0, d))

    def rms_norm(self, x, d):
        """flax's, whose mean is 0."""
        last = [len(x.shape) - 1]
        var = self.mean(self.f.binary('multiply', x, x), last)
        zero = self.number(var, 0)
        y = self.sub(x, self.kept(zero, last, x.shape))
        return self.scaled(y, self.kept(var, last, x.shape), d, 1e-6, self.w.near(1, d))

    def gemma_norm(self, x, d):
        last = [len(x.shape) - 1]
        var = self.mean(self.f.binary('multiply', x, x), last, keep=True)
        y = self.mul(x, self.f.unary('rsqrt', self.add(var, 1e-6)))
        scale = self.f.constant(self.w.near(0, d))
        return self.mul(y, self.add(scale, 1))

    def take(self, table, ids):
        """jnp.take: indices from the end are counted so, others outside give NaN."""
        n, d = table.shape

        def body(f, t, i):
            b = Jax(f, self.w)
            from_end = f.binary('add', i, b.number(i, n))
            i = f.call('_where', lambda g, *v: g.select(*v), f.compare('LT', i, b.number(i, 0)), from_end, i)
            rows = f.broadcast(i, i.shape + (1,), range(len(i.shape)))
            last = f.constant(np.full([1], n - 1, np.int32), np.int32)
            above = f.compare('GE', rows, b.number(rows, 0))
            ones = [1] * len(rows.shape)
            top = f.broadcast(f.broadcast(last, ones, [len(ones) - 1]), rows.shape, range(len(ones)))
            inside = f.binary('and', above, f.compare('LE', rows, top))
            inside = f.reduce('and', inside, f.constant(True, bool), [len(ones) - 1])
            got = f.gather_rows(t, rows)
            return f.select(f.broadcast(inside, got.shape, range(len(i.shape))), got, b.number(got, np.nan))

        return self.f.call('_take', body, table, ids)

    def embed(self, ids, n, d):
        return self.take(self.f.constant(self.w.make(n, d, scale=1)), ids)

    def positions(self, x, n, d):
        """A table of positions, of which the first ones are added."""
        table = self.f.constant(self.w.make(1, n, d, scale=0.1))
        return self.add(x, self.f.slice(table, [0, 0, 0], [1, x.shape[1], d]))

    def pooled_token(self, x):
        y = self.f.slice(x, [0, 0, 0], [x.shape[0], 1, x.shape[2]])
        return self.f.reshape(y, (x.shape[0], x.shape[2]))

    def class_token(self, x, d):
        token = self.f.constant(self.w.make(1, 1, d))
        return self.f.concatenate([self.wide(token, (x.shape[0], 1, d)), x], 1)
