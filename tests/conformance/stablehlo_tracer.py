"""Functions of StableHLO that compute while they are written: each call adds an operation, as JAX
prints it, and evaluates it in NumPy."""
import itertools

import numpy as np

TYPES = {'float32': 'f32', 'float16': 'f16', 'int32': 'i32', 'int64': 'i64', 'bool': 'i1', 'uint8': 'ui8'}
REDUCERS = {'add': np.add, 'maximum': np.maximum, 'minimum': np.minimum, 'and': np.logical_and,
            'or': np.logical_or, 'multiply': np.multiply}
UNARY = {'exponential': np.exp, 'negate': np.negative, 'tanh': np.tanh, 'sqrt': np.sqrt, 'log': np.log,
         'rsqrt': lambda x: 1 / np.sqrt(x), 'logistic': lambda x: 1 / (1 + np.exp(-x)), 'not': np.logical_not,
         'cosine': np.cos, 'sine': np.sin, 'abs': np.abs, 'exponential_minus_one': np.expm1,
         'log_plus_one': np.log1p}
BINARY = dict(REDUCERS, subtract=np.subtract, power=np.power,
              divide=lambda x, y: x / y if x.dtype.kind == 'f' else x // y)
COMPARE = {'LT': np.less, 'LE': np.less_equal, 'GT': np.greater, 'GE': np.greater_equal,
           'EQ': np.equal, 'NE': np.not_equal}


def ints(numbers):
    return ', '.join(str(int(n)) for n in numbers)


def type_of(a):
    return 'tensor<%s>' % 'x'.join([str(d) for d in a.shape] + [TYPES[a.dtype.name]])


def number(x):
    if isinstance(x, (bool, np.bool_)):
        return 'true' if x else 'false'
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    if np.isnan(x) or np.isinf(x):
        word, bits = (np.uint16, 4) if x.dtype == np.float16 else (np.uint32, 8)
        return '0x%0*X' % (bits, np.asarray(x).view(word))
    return '%e' % x if np.asarray('%e' % x).astype(x.dtype) == x else repr(float(x))


def dense(a):
    if a.ndim == 0 or (a.size and (a == a.flat[0]).all()):
        return number(a.flat[0])
    if a.dtype == bool:
        return str(a.tolist()).replace('T', 't').replace('F', 'f')
    if a.dtype.kind == 'f':
        return '"0x%s"' % a.tobytes().hex().upper()
    return str(a.tolist())


def windows(x, size, strides, dilations, empty):
    """[..., out..., window...] of an array that is padded already: one axis of windows for each."""
    counts = [(d - (s - 1) * n - 1) // t + 1 for d, s, t, n in zip(x.shape, size, strides, dilations)]
    out = np.full(counts + list(size), empty, x.dtype)
    for at in itertools.product(*(range(s) for s in size)):
        part = tuple(slice(i * n, i * n + (c - 1) * t + 1, t)
                     for i, n, c, t in zip(at, dilations, counts, strides))
        out[(Ellipsis,) + at] = x[part]
    return out


class Value:
    def __init__(self, name, array):
        self.name, self.a = name, np.asarray(array)

    @property
    def shape(self):
        return self.a.shape

    @property
    def type(self):
        return type_of(self.a)


class Module:
    def __init__(self):
        self.functions, self.known = [], {}

    def text(self, main):
        parts = [main] + self.functions
        return ('module @jit_network attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n'
                + ''.join(parts) + '}\n')


class Function:
    """Numbers of values go on in regions, as in MLIR."""

    def __init__(self, module, indent='    ', counter=None):
        self.module, self.indent, self.lines = module, indent, []
        self.counter = counter or itertools.count()

    # --- Lines ---

    def _add(self, text, *arrays):
        name = '%%%d' % next(self.counter)
        many = '%s:%d' % (name, len(arrays)) if len(arrays) > 1 else name
        self.lines.append('%s%s = %s\n' % (self.indent, many, text))
        if len(arrays) == 1:
            return Value(name, arrays[0])
        return [Value('%s#%d' % (name, i), a) for i, a in enumerate(arrays)]

    def constant(self, value, dtype=np.float32):
        a = np.asarray(value, dtype)
        return self._add('stablehlo.constant dense<%s> : %s' % (dense(a), type_of(a)), a)

    def unary(self, op, x):
        with np.errstate(all='ignore'):
            return self._add('stablehlo.%s %s : %s' % (op, x.name, x.type),
                             UNARY[op](x.a).astype(x.a.dtype))

    def erf(self, op, x):
        import math
        f = {'erf': math.erf, 'erfc': math.erfc}[op]
        y = np.vectorize(f, otypes=[x.a.dtype])(x.a.astype(np.float64))
        return self._add('chlo.%s %s : %s -> %s' % (op, x.name, x.type, x.type), y)

    def binary(self, op, x, y):
        assert x.shape == y.shape and x.a.dtype == y.a.dtype, (op, x.type, y.type)
        with np.errstate(all='ignore'):
            return self._add('stablehlo.%s %s, %s : %s' % (op, x.name, y.name, x.type),
                             BINARY[op](x.a, y.a).astype(x.a.dtype))

    def compare(self, direction, x, y):
        kind = 'FLOAT' if x.a.dtype.kind == 'f' else 'SIGNED'
        a = COMPARE[direction](x.a, y.a)
        return self._add('stablehlo.compare  %s, %s, %s,  %s : (%s, %s) -> %s' % (
            direction, x.name, y.name, kind, x.type, y.type, type_of(a)), a)

    def select(self, test, x, y):
        return self._add('stablehlo.select %s, %s, %s : %s, %s' % (
            test.name, x.name, y.name, test.type, x.type), np.where(test.a, x.a, y.a))

    def convert(self, x, dtype):
        a = x.a.astype(dtype)
        return self._add('stablehlo.convert %s : (%s) -> %s' % (x.name, x.type, type_of(a)), a)

    def broadcast(self, x, shape, dims):
        wide = np.ones(len(shape), int)
        for axis, d in zip(dims, x.shape):
            wide[axis] = d
        a = np.broadcast_to(x.a.reshape(wide), shape)
        return self._add('stablehlo.broadcast_in_dim %s, dims = [%s] : (%s) -> %s' % (
            x.name, ints(dims), x.type, type_of(a)), a)

    def reshape(self, x, shape):
        a = x.a.reshape(shape)
        return self._add('stablehlo.reshape %s : (%s) -> %s' % (x.name, x.type, type_of(a)), a)

    def transpose(self, x, perm):
        a = x.a.transpose(perm)
        return self._add('stablehlo.transpose %s, dims = [%s] : (%s) -> %s' % (
            x.name, ints(perm), x.type, type_of(a)), a)

    def slice(self, x, starts, ends, steps=None):
        steps = steps or [1] * len(starts)
        a = x.a[tuple(slice(s, e, t) for s, e, t in zip(starts, ends, steps))]
        ranges = ', '.join('%d:%d' % (s, e) + (':%d' % t if t > 1 else '')
                           for s, e, t in zip(starts, ends, steps))
        return self._add('stablehlo.slice %s [%s] : (%s) -> %s' % (x.name, ranges, x.type, type_of(a)), a)

    def concatenate(self, parts, axis):
        a = np.concatenate([p.a for p in parts], axis)
        return self._add('stablehlo.concatenate %s, dim = %d : (%s) -> %s' % (
            ', '.join(p.name for p in parts), axis, ', '.join(p.type for p in parts), type_of(a)), a)

    def iota(self, shape, axis, dtype=np.int32):
        a = np.indices(shape, dtype)[axis]
        return self._add('stablehlo.iota dim = %d : %s' % (axis, type_of(a)), a)

    def reduce(self, op, x, init, dims):
        a = REDUCERS[op].reduce(x.a, axis=tuple(dims), dtype=x.a.dtype)
        return self._add('stablehlo.reduce(%s init: %s) applies stablehlo.%s across dimensions = [%s] : '
                         '(%s, %s) -> %s' % (x.name, init.name, op, ints(dims), x.type, init.type, type_of(a)), a)

    def dot(self, x, y, contracting, batching=((), ())):
        (cx, cy), (bx, by) = contracting, batching
        letters = iter('abcdefghijklmnopqrstuvwxyz')
        lx = [next(letters) for _ in x.shape]
        ly = [next(letters) for _ in y.shape]
        for i, j in list(zip(bx, by)) + list(zip(cx, cy)):
            ly[j] = lx[i]
        out = [lx[i] for i in bx] + [l for i, l in enumerate(lx) if i not in bx and i not in cx]
        out += [l for i, l in enumerate(ly) if i not in by and i not in cy]
        a = np.einsum('%s,%s->%s' % (''.join(lx), ''.join(ly), ''.join(out)), x.a, y.a)
        batch = 'batching_dims = [%s] x [%s], ' % (ints(bx), ints(by)) if bx else ''
        return self._add('stablehlo.dot_general %s, %s, %scontracting_dims = [%s] x [%s], precision = '
                         '[DEFAULT, DEFAULT] : (%s, %s) -> %s' % (
                             x.name, y.name, batch, ints(cx), ints(cy), x.type, y.type, type_of(a)), a)

    def convolution(self, x, k, strides, padding, groups=1):
        """NHWC, HWIO."""
        padded = np.pad(x.a, [(0, 0)] + list(padding) + [(0, 0)])
        kh, kw, cin, cout = k.shape
        w = windows(padded, (1, kh, kw, 1), (1,) + tuple(strides) + (1,), (1, 1, 1, 1), 0)[:, :, :, :, 0, :, :, 0]
        n, oh, ow = w.shape[:3]
        w = w.reshape(n, oh, ow, groups, cin, kh, kw)
        a = np.einsum('nhwgcij,ijcgo->nhwgo', w, k.a.reshape(kh, kw, cin, groups, cout // groups))
        a = a.reshape(n, oh, ow, cout)
        pads = '[%s]' % ', '.join('[%d, %d]' % tuple(p) for p in padding)
        return self._add(
            'stablehlo.convolution(%s, %s) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = '
            '{stride = [%s], pad = %s, lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} '
            '{batch_group_count = 1 : i64, feature_group_count = %d : i64, precision_config = '
            '[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (%s, %s) -> %s' % (
                x.name, k.name, ints(strides), pads, groups, x.type, k.type, type_of(a)), a)

    def reduce_window(self, op, x, init, size, strides, padding):
        padded = np.pad(x.a, padding, constant_values=init.a)
        w = windows(padded, size, strides, [1] * len(size), 0)
        a = REDUCERS[op].reduce(w, axis=tuple(range(x.a.ndim, 2 * x.a.ndim)), dtype=x.a.dtype)
        scalar = type_of(init.a)
        return self._add(
            '"stablehlo.reduce_window"(%s, %s) <{base_dilations = array<i64: %s>, padding = dense<%s> : '
            'tensor<%dx2xi64>, window_dilations = array<i64: %s>, window_dimensions = array<i64: %s>, '
            'window_strides = array<i64: %s>}> ({\n%s^bb0(%%u: %s, %%v: %s):\n%s  %%w = stablehlo.%s %%u, %%v '
            ': %s\n%s  stablehlo.return %%w : %s\n%s}) : (%s, %s) -> %s' % (
                x.name, init.name, ints([1] * len(size)), [list(p) for p in padding], len(size),
                ints([1] * len(size)), ints(size), ints(strides), self.indent, scalar, scalar, self.indent, op,
                scalar, self.indent, scalar, self.indent, x.type, scalar, type_of(a)), a)

    def argmax(self, x, axis):
        """As lax.argmax: a reduction of numbers and of their places."""
        places = self.iota(x.shape, axis)
        low, zero = self.constant(-np.inf), self.constant(0, np.int32)
        a, i = x.a.max(axis), x.a.argmax(axis).astype(np.int32)
        t = self.indent
        body = (
            '%s reducer(%%u: tensor<f32>, %%v: tensor<f32>) (%%i: tensor<i32>, %%j: tensor<i32>)  {\n'
            '%s  %%gt = stablehlo.compare  GT, %%u, %%v,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n'
            '%s  %%nan = stablehlo.compare  NE, %%u, %%u,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n'
            '%s  %%first = stablehlo.or %%gt, %%nan : tensor<i1>\n'
            '%s  %%eq = stablehlo.compare  EQ, %%u, %%v,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n'
            '%s  %%lt = stablehlo.compare  LT, %%i, %%j,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n'
            '%s  %%both = stablehlo.and %%eq, %%lt : tensor<i1>\n'
            '%s  %%pick = stablehlo.or %%first, %%both : tensor<i1>\n'
            '%s  %%x = stablehlo.select %%first, %%u, %%v : tensor<i1>, tensor<f32>\n'
            '%s  %%k = stablehlo.select %%pick, %%i, %%j : tensor<i1>, tensor<i32>\n'
            '%s  stablehlo.return %%x, %%k : tensor<f32>, tensor<i32>\n%s}' % ((t,) * 12))
        return self._add('stablehlo.reduce(%s init: %s), (%s init: %s) across dimensions = [%d] : (%s, %s, '
                         'tensor<f32>, tensor<i32>) -> (%s, %s)\n%s' % (
                             x.name, low.name, places.name, zero.name, axis, x.type, places.type,
                             type_of(a), type_of(i), body), a, i)[1]

    def gather_rows(self, table, rows):
        """table[rows], rows with an axis of 1 at their end."""
        a = table.a[np.clip(rows.a[..., 0], 0, table.shape[0] - 1)]
        return self._add(
            '"stablehlo.gather"(%s, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [%d], '
            'collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = %d>, indices_are_sorted = '
            'false, slice_sizes = array<i64: 1, %d>}> : (%s, %s) -> %s' % (
                table.name, rows.name, rows.a.ndim - 1, rows.a.ndim - 1, table.shape[1], table.type, rows.type,
                type_of(a)), a)

    def dynamic_slice(self, x, starts, sizes):
        at = [min(max(int(s.a), 0), d - n) for s, d, n in zip(starts, x.shape, sizes)]
        a = x.a[tuple(slice(s, s + n) for s, n in zip(at, sizes))]
        return self._add('stablehlo.dynamic_slice %s, %s, sizes = [%s] : (%s, %s) -> %s' % (
            x.name, ', '.join(s.name for s in starts), ints(sizes), x.type,
            ', '.join(s.type for s in starts), type_of(a)), a)

    def dynamic_update_slice(self, x, part, starts):
        at = [min(max(int(s.a), 0), d - n) for s, d, n in zip(starts, x.shape, part.shape)]
        a = x.a.copy()
        a[tuple(slice(s, s + n) for s, n in zip(at, part.shape))] = part.a
        return self._add('stablehlo.dynamic_update_slice %s, %s, %s : (%s, %s, %s) -> %s' % (
            x.name, part.name, ', '.join(s.name for s in starts), x.type, part.type,
            ', '.join(s.type for s in starts), type_of(a)), a)

    # --- Functions and regions ---

    def call(self, name, body, *args):
        """A function of the module for each type of arguments, as jit makes them."""
        key = (name,) + tuple(x.type for x in args)
        known = self.module.known
        if key not in known:
            used = sum(1 for k in known if k[0] == name)
            known[key] = '%s_%d' % (name, used - 1) if used else name
            self.module.functions.append(written(self.module, known[key], body, args, 'private'))
        with np.errstate(all='ignore'):
            result = body(Function(Module()), *args)
        return self._add('call @%s(%s) : (%s) -> %s' % (
            known[key], ', '.join(x.name for x in args), ', '.join(x.type for x in args), result.type), result.a)

    def counted_loop(self, count, body, carried):
        """while i < count: carried = body(i, *carried), as lax.scan is lowered."""
        names = ['%iterArg'] + ['%%iterArg_%d' % i for i in range(len(carried))]
        first = [self.constant(0, np.int32)] + list(carried)
        state = [Value(n, v.a) for n, v in zip(names, first)]
        types = ', '.join(v.type for v in first)
        t = self.indent
        cond = Function(self.module, t + '  ', self.counter)
        test = cond.compare('LT', state[0], cond.constant(count, np.int32))
        lines = [t + 'cond {\n'] + cond.lines + [
            '%s  stablehlo.return %s : tensor<i1>\n%s} do {\n' % (t, test.name, t)]
        inner = Function(self.module, t + '  ', self.counter)

        def step(f, s):
            results = body(f, *s)
            return [f.binary('add', s[0], f.constant(1, np.int32))] + list(results)

        returned = step(inner, state)
        lines += inner.lines + ['%s  stablehlo.return %s : %s\n%s}\n' % (
            t, ', '.join(v.name for v in returned), types, t)]
        values = first
        for _ in range(count):
            values = step(Function(Module()), values)
        results = self._add('stablehlo.while(%s) : %s' % (
            ', '.join('%s = %s' % (n, v.name) for n, v in zip(names, first)), types), *(v.a for v in values))
        self.lines += lines
        return results[1:]


def written(module, name, body, args, visibility='public'):
    f = Function(module)
    inside = [Value('%%arg%d' % i, x.a) for i, x in enumerate(args)]
    with np.errstate(all='ignore'):
        result = body(f, *inside)
    results = result if isinstance(result, (list, tuple)) else [result]
    types = ', '.join(r.type for r in results)
    if visibility == 'public':
        declared = ', '.join('%s {jax.result_info = "result%s"}' % (
            r.type, '[%d]' % i if len(results) > 1 else '') for i, r in enumerate(results))
    else:
        declared = types
    text = '  func.func %s @%s(%s) -> (%s) {\n%s    return %s : %s\n  }\n' % (
        visibility, name, ', '.join('%s: %s' % (x.name, x.type) for x in inside), declared, ''.join(f.lines),
        ', '.join(r.name for r in results), types)
    return (text, results) if visibility == 'public' else text


def lowered(body, *arrays):
    """The module of body(f, *arguments), and its results."""
    module = Module()
    text, results = written(module, 'main', body, [Value('', a) for a in arrays])
    return module.text(text), [r.a for r in results]
