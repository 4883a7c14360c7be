"""Makes tests/data/stablehlo/random.mlir.txt: random programs of StableHLO with their results.

Results are computed element by element, to the letter of the specification.

    python3 tests/handlers/stablehlo/programs.py > tests/data/stablehlo/random.mlir.txt
"""
import operator
import random
import sys

import numpy as np

rng = random.Random(1)


# --- Text -------------------------------------------------------------------------------------

def numbers(shape, low=-9, high=9):
    count = int(np.prod(shape))
    return np.array([rng.randint(low, high) for _ in range(count)], dtype=object).reshape(shape)


def type_of(x, t):
    return 'tensor<' + ''.join(f'{d}x' for d in np.shape(x)) + t + '>'


def literal(x, t):
    def text(y):
        y = np.asarray(y)
        if y.ndim:
            return '[' + ', '.join(text(z) for z in y) + ']'
        return repr(float(y)) if t[0] == 'f' else str(int(y))
    return f'dense<{text(x) if np.size(x) else ""}> : {type_of(x, t)}'


def constant(name, x, t):
    return f'  %{name} = stablehlo.constant {literal(x, t)}\n'


def check(name, x, t):
    return f'  check.expect_eq_const %{name}, {literal(x, t)}\n'


def array(ints):
    return 'array<i64: ' + ', '.join(map(str, ints)) + '>' if len(ints) else 'array<i64>'


def listed(values):
    return '[' + ', '.join(str(v).lower() for v in values) + ']'


def pairs(padding):
    return f'dense<{[list(p) for p in padding]}> : tensor<{len(padding)}x2xi64>'


def attributes(**attrs):
    return '{' + ', '.join(f'{k} = {v}' for k, v in attrs.items()) + '}'


# What a region computes, by its name; "mixed" has no name: 2 p + q.
BODIES = {'add': operator.add, 'multiply': operator.mul, 'maximum': max, 'minimum': min,
          'and': operator.and_, 'or': operator.or_, 'xor': operator.xor,
          'first': lambda p, q: p, 'second': lambda p, q: q, 'mixed': lambda p, q: 2 * p + q}


def region(kind, t):
    of, result = f'tensor<{t}>', '%w'
    lines = [f'^bb0(%p: {of}, %q: {of}):']
    if kind in ('first', 'second'):
        result = '%p' if kind == 'first' else '%q'
    elif kind == 'mixed':
        lines += [f'%v = stablehlo.add %p, %p : {of}', f'%w = stablehlo.add %v, %q : {of}']
    else:
        lines.append(f'%w = stablehlo.{kind} %p, %q : {of}')
    lines.append(f'stablehlo.return {result} : {of}')
    return '{\n' + ''.join(f'    {x}\n' for x in lines) + '  }'


def comparator(direction, t):
    of = f'tensor<{t}>'
    return (f'{{\n    ^bb0(%p: {of}, %q: {of}):\n'
            f'    %w = stablehlo.compare {direction}, %p, %q : ({of}, {of}) -> tensor<i1>\n'
            '    stablehlo.return %w : tensor<i1>\n  }')


def wrapped(x, bits):
    return (x + 2**(bits - 1)) % 2**bits - 2**(bits - 1)


# --- Programs: None where a random one has no result that is defined -----------------------------

class Slices:
    """Random dimension numbers of gather and scatter, and where each element comes from."""

    def __init__(self):
        rank = rng.randint(1, 4)
        self.shape = [rng.randint(1, 4) for _ in range(rank)]
        kinds = [rng.choice('bcww') for _ in range(rank)]
        self.batch, self.dropped, self.window = (
            [i for i in range(rank) if kinds[i] == kind] for kind in 'bcw')
        self.sizes = [rng.choice([n, rng.randint(1, n)]) if kind == 'w' else 1
                      for n, kind in zip(self.shape, kinds)]
        self.mapped = [i for i in self.dropped + self.window
                       if kinds[i] == 'c' or rng.random() < 0.6]
        rng.shuffle(self.mapped)
        self.index_axes = [('batch', i) for i in self.batch]
        self.index_axes += [('own', rng.randint(1, 3)) for _ in range(rng.randint(0, 2))]
        rng.shuffle(self.index_axes)
        self.index_sizes = [self.shape[v] if k == 'batch' else v for k, v in self.index_axes]
        self.implicit = len(self.mapped) == 1 and rng.random() < 0.4
        n = len(self.index_sizes)
        self.vector_dim = n if self.implicit else rng.randint(0, n)
        shape = list(self.index_sizes)
        if not self.implicit:
            shape.insert(self.vector_dim, len(self.mapped))
        self.indices = numbers(shape, -2, 5)
        result_rank = len(self.window) + n
        self.offset = sorted(rng.sample(range(result_rank), len(self.window)))
        self.rest = [i for i in range(result_rank) if i not in self.offset]
        self.result = [0] * result_rank
        for axis, i in zip(self.offset, self.window):
            self.result[axis] = self.sizes[i]
        for axis, size in zip(self.rest, self.index_sizes):
            self.result[axis] = size

    def place(self, at, clamps):
        index = [at[axis] for axis in self.rest]
        start = [0] * len(self.shape)
        for k, axis in enumerate(self.mapped):
            whole = list(index)
            if not self.implicit:
                whole.insert(self.vector_dim, k)
            start[axis] = int(self.indices[tuple(whole)])
        if clamps:
            start = [min(max(s, 0), n - z) for s, n, z in zip(start, self.shape, self.sizes)]
        for axis in self.batch:
            start[axis] += index[self.index_axes.index(('batch', axis))]
        for axis, i in zip(self.offset, self.window):
            start[i] += at[axis]
        return tuple(start)

    def text(self, names):
        batching = [self.index_axes.index(('batch', i)) for i in self.batch]
        batching = [i if self.implicit or i < self.vector_dim else i + 1 for i in batching]
        values = [self.offset, self.dropped, self.batch, batching, self.mapped]
        return ', '.join(f'{n} = {v}' for n, v in zip(names, values)) + (
            f', index_vector_dim = {self.vector_dim}')


def gather():
    s, t = Slices(), 'i64'
    x, y = numbers(s.shape), np.zeros(s.result, object)
    for at in np.ndindex(*s.result):
        y[at] = x[s.place(at, True)]
    names = ['offset_dims', 'collapsed_slice_dims', 'operand_batching_dims',
             'start_indices_batching_dims', 'start_index_map']
    attrs = attributes(dimension_numbers=f'#stablehlo.gather<{s.text(names)}>',
                       slice_sizes=array(s.sizes), indices_are_sorted='false')
    return (constant('x', x, t) + constant('i', s.indices, 'i32') +
            f'  %r = "stablehlo.gather"(%x, %i) {attrs} : '
            f'({type_of(x, t)}, {type_of(s.indices, "i32")}) -> {type_of(y, t)}\n' +
            check('r', y, t))


def scatter():
    s, t = Slices(), 'i64'
    kind = rng.choice(['add', 'multiply', 'maximum', 'minimum', 'second', 'first', 'mixed', 'xor'])
    x, u = numbers(s.shape), numbers(s.result, -3, 3)
    y, seen = x.copy(), set()
    for at in np.ndindex(*s.result):
        place = s.place(at, False)
        if not all(0 <= p < n for p, n in zip(place, s.shape)):
            continue
        if kind in ('second', 'mixed') and place in seen:
            return None  # the order is not defined
        seen.add(place)
        y[place] = BODIES[kind](y[place], u[at])
    names = ['update_window_dims', 'inserted_window_dims', 'input_batching_dims',
             'scatter_indices_batching_dims', 'scatter_dims_to_operand_dims']
    attrs = attributes(scatter_dimension_numbers=f'#stablehlo.scatter<{s.text(names)}>',
                       indices_are_sorted='false', unique_indices='false')
    return (constant('x', x, t) + constant('i', s.indices, 'i32') + constant('u', u, t) +
            f'  %r = "stablehlo.scatter"(%x, %i, %u) ({region(kind, t)}) {attrs} : '
            f'({type_of(x, t)}, {type_of(s.indices, "i32")}, {type_of(u, t)}) -> '
            f'{type_of(x, t)}\n' + check('r', y, t))


def convolution():
    t = rng.choice(['i32', 'f32', 'f32', 'f64', 'i8'])
    n = rng.randint(0, 2)
    groups = rng.choice([1, 1, 2, 3])
    batches = 1 if groups > 1 else rng.choice([1, 1, 2])
    features, out = rng.randint(1, 2), groups * batches * rng.randint(1, 2)
    batch = rng.randint(1, 2)
    size, kernel, stride, base, dilation = (
        [rng.choice(choice) for _ in range(n)]
        for choice in ([1, 2, 3, 4, 5], [1, 2, 3], [1, 1, 2, 3], [1, 1, 2, 3], [1, 1, 2]))
    padding = [(rng.randint(-2, 3), rng.randint(-2, 3)) for _ in range(n)]
    reverse = [rng.random() < 0.3 for _ in range(n)]
    counts = []
    for i in range(n):
        whole = (size[i] - 1) * base[i] + 1 + sum(padding[i])
        if whole < 0:
            return None
        extent = (kernel[i] - 1) * dilation[i] + 1
        counts.append(0 if whole < extent else (whole - extent) // stride[i] + 1)
    x = numbers([batch * batches, features * groups] + size, -4, 4)
    w = numbers([out, features] + kernel, -3, 3)
    y = np.zeros([batch, out] + counts, object)
    for at in np.ndindex(*y.shape):
        group, part = at[1] // (out // groups), at[1] // (out // batches)
        for k in np.ndindex(*kernel):
            place = [at[2 + i] * stride[i] + k[i] * dilation[i] - padding[i][0] for i in range(n)]
            if not all(0 <= p <= (size[i] - 1) * base[i] and p % base[i] == 0
                       for i, p in enumerate(place)):
                continue
            place = tuple(p // base[i] for i, p in enumerate(place))
            tap = tuple(kernel[i] - 1 - k[i] if reverse[i] else k[i] for i in range(n))
            image = at[0] + (part * batch if batches > 1 else 0)
            for c in range(features):
                y[at] += x[(image, group * features + c) + place] * w[(at[1], c) + tap]
    if t == 'i8':
        y = np.array([wrapped(v, 8) for v in y.reshape(-1)], dtype=object).reshape(y.shape)

    def relaid(z, names):
        perm = list(range(z.ndim))
        kind = rng.random()
        if kind < 0.3:
            perm = [0] + perm[2:] + [1]
        elif kind < 0.7:
            rng.shuffle(perm)
        return np.transpose(z, perm), '[' + ', '.join(names[i] for i in perm) + ']'
    spatial = [str(i) for i in range(n)]
    x, of_x = relaid(x, ['b', 'f'] + spatial)
    w, of_w = relaid(w, ['o', 'i'] + spatial)
    y, of_y = relaid(y, ['b', 'f'] + spatial)
    window = attributes(stride=listed(stride), pad=listed([list(p) for p in padding]),
                        lhs_dilate=listed(base), rhs_dilate=listed(dilation),
                        reverse=listed(reverse)) if n else '{}'
    attrs = attributes(batch_group_count=f'{batches} : i64', feature_group_count=f'{groups} : i64')
    return (constant('x', x, t) + constant('w', w, t) +
            f'  %r = stablehlo.convolution(%x, %w) dim_numbers = {of_x}x{of_w}->{of_y}, '
            f'window = {window} {attrs} : ({type_of(x, t)}, {type_of(w, t)}) -> '
            f'{type_of(y, t)}\n' + check('r', y, t))


def dot_general():
    t = rng.choice(['i32', 'f32', 'i64', 'f64'])
    batch, sums, of_x, of_y = ([rng.randint(1, 3) for _ in range(rng.randint(0, 2))]
                               for _ in range(4))
    x, y = numbers(batch + sums + of_x), numbers(batch + sums + of_y)
    b, s, m, n = 'ab'[:len(batch)], 'cd'[:len(sums)], 'mn'[:len(of_x)], 'pq'[:len(of_y)]
    r = np.einsum(f'{b}{s}{m},{b}{s}{n}->{b}{m}{n}', x.astype(np.int64), y.astype(np.int64))

    def relaid(z):
        fixed = len(batch) + len(sums)
        perm = list(range(z.ndim))
        rng.shuffle(perm)
        free = iter(range(fixed, z.ndim))
        perm = [next(free) if i >= fixed else i for i in perm]
        axes = [perm.index(i) for i in range(fixed)]
        return np.transpose(z, perm), axes[:len(batch)], axes[len(batch):]
    x, x_batch, x_sums = relaid(x)
    y, y_batch, y_sums = relaid(y)
    dims = (f'lhs_batching_dimensions = {x_batch}, rhs_batching_dimensions = {y_batch}, '
            f'lhs_contracting_dimensions = {x_sums}, rhs_contracting_dimensions = {y_sums}')
    attrs = attributes(dot_dimension_numbers=f'#stablehlo.dot<{dims}>')
    return (constant('x', x, t) + constant('y', y, t) +
            f'  %r = "stablehlo.dot_general"(%x, %y) {attrs} : '
            f'({type_of(x, t)}, {type_of(y, t)}) -> {type_of(r, t)}\n' + check('r', r, t))


class Windows:
    """Random windows over a random tensor, and the element at each of their places."""

    def __init__(self, plain):
        rank = rng.randint(1, 3)
        self.shape = [rng.randint(1, 6) for _ in range(rank)]
        self.size = [rng.choice([1, 1, 2, 3, rng.randint(1, 6)]) for _ in range(rank)]
        self.stride = [rng.randint(1, 3) for _ in range(rank)]
        self.base = [1 if plain else rng.choice([1, 1, 1, 2]) for _ in range(rank)]
        self.dilation = [1 if plain else rng.choice([1, 1, 2]) for _ in range(rank)]
        self.padding = [(rng.randint(-1, 3), rng.randint(-1, 3)) for _ in range(rank)]
        if plain:
            self.padding = [(min(abs(a), n - 1), min(abs(b), n - 1))
                            for (a, b), n in zip(self.padding, self.size)]
        self.counts = []
        for i in range(rank):
            whole = max((self.shape[i] - 1) * self.base[i] + 1 + sum(self.padding[i]), 0)
            extent = (self.size[i] - 1) * self.dilation[i] + 1
            self.counts.append(0 if whole < extent else (whole - extent) // self.stride[i] + 1)

    def places(self, at):
        for k in np.ndindex(*self.size):
            place = [at[i] * self.stride[i] + k[i] * self.dilation[i] - self.padding[i][0]
                     for i in range(len(at))]
            inside = all(0 <= p <= (self.shape[i] - 1) * self.base[i] and p % self.base[i] == 0
                         for i, p in enumerate(place))
            yield tuple(p // self.base[i] for i, p in enumerate(place)) if inside else None


def reduce_window():
    s, t = Windows(False), rng.choice(['i32', 'f32', 'i64'])
    kind = rng.choice(['add', 'maximum', 'minimum', 'second', 'first'])
    init = rng.choice([0, rng.randint(-3, 3)])
    if rng.random() < 0.4 and t == 'i32':
        init = {'maximum': -2**31, 'minimum': 2**31 - 1}.get(kind, 0)
    x, y = numbers(s.shape), np.zeros(s.counts, object)
    for at in np.ndindex(*s.counts):
        y[at] = init
        for place in s.places(at):
            y[at] = BODIES[kind](y[at], init if place is None else x[place])
            if abs(y[at]) > 2**31:
                return None
    attrs = attributes(window_dimensions=array(s.size), window_strides=array(s.stride),
                       base_dilations=array(s.base), window_dilations=array(s.dilation),
                       padding=pairs(s.padding))
    return (constant('x', x, t) + constant('z', np.array(init), t) +
            f'  %r = "stablehlo.reduce_window"(%x, %z) ({region(kind, t)}) {attrs} : '
            f'({type_of(x, t)}, tensor<{t}>) -> {type_of(y, t)}\n' + check('r', y, t))


def select_and_scatter():
    s, t = Windows(True), rng.choice(['i32', 'f32'])
    if 0 in s.counts:
        return None
    direction = rng.choice(['GE', 'GT', 'LE', 'LT'])
    test = {'GE': operator.ge, 'GT': operator.gt, 'LE': operator.le, 'LT': operator.lt}[direction]
    kind, init = rng.choice(['add', 'add', 'maximum', 'mixed']), rng.choice([0, 2])
    x, source = numbers(s.shape), numbers(s.counts, -3, 3)
    y, seen = np.full(s.shape, init, object), set()
    for at in np.ndindex(*s.counts):
        best = None
        for place in s.places(at):
            if place is not None and (best is None or not test(x[best], x[place])):
                best = place
        if best is None:
            continue
        if kind == 'mixed' and best in seen:
            return None
        seen.add(best)
        y[best] = BODIES[kind](y[best], source[at])
    attrs = attributes(window_dimensions=array(s.size), window_strides=array(s.stride),
                       padding=pairs(s.padding))
    return (constant('x', x, t) + constant('s', source, t) + constant('z', np.array(init), t) +
            f'  %r = "stablehlo.select_and_scatter"(%x, %s, %z) ({comparator(direction, t)}, '
            f'{region(kind, t)}) {attrs} : ({type_of(x, t)}, {type_of(source, t)}, tensor<{t}>) '
            f'-> {type_of(x, t)}\n' + check('r', y, t))


def reduce():
    t = rng.choice(['i32', 'i64'])
    shape = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
    axes = sorted(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
    kept = [i for i in range(len(shape)) if i not in axes]
    kind, init, x = rng.choice(list(BODIES)), rng.randint(-3, 3), numbers(shape)
    y = np.full([shape[i] for i in kept], init, object)
    for at in np.ndindex(*shape):
        to = tuple(at[i] for i in kept)
        y[to] = wrapped(BODIES[kind](y[to], x[at]), int(t[1:]))
    attrs = attributes(dimensions=array(axes))
    return (constant('x', x, t) + constant('z', np.array(init), t) +
            f'  %r = "stablehlo.reduce"(%x, %z) ({region(kind, t)}) {attrs} : '
            f'({type_of(x, t)}, tensor<{t}>) -> {type_of(y, t)}\n' + check('r', y, t))


def main():
    programs = []
    for make in [gather, scatter, convolution, dot_general, reduce_window, select_and_scatter,
                 reduce]:
        made = 0
        while made < 12:
            body = make()
            if body is not None:
                programs.append('func.func @main() {\n' + body + '  func.return\n}\n')
                made += 1
    sys.stdout.write('// -----\n'.join(programs))


if __name__ == '__main__':
    main()
