"""Makes tests/data/stablehlo/regions.mlir.txt: random programs whose regions are random, too, and
operations whose sizes are operands, with results by the letter of the specification.

    python3 tests/handlers/stablehlo/region_programs.py > tests/data/stablehlo/regions.mlir.txt
"""
import functools
import re
import sys

import numpy as np

import programs
from programs import (array, attributes, check, constant, numbers, pairs, rng, type_of, wrapped)


def bits(t):
    return int(t.lstrip('iu'))


def in_type(x, t):
    """The number as it is in an integer type."""
    if t[0] == 'u':
        return x % 2**bits(t)
    return wrapped(x, bits(t)) if t[0] == 'i' else x


# --- Random expressions ---------------------------------------------------------------------------

# What regions are made of: operation, number of operands, and what it computes.
OPERATIONS = [('add', 2, lambda a, b: a + b), ('subtract', 2, lambda a, b: a - b),
              ('multiply', 2, lambda a, b: a * b), ('maximum', 2, max), ('minimum', 2, min),
              ('negate', 1, lambda a: -a), ('abs', 1, abs)]
DIRECTIONS = {'LT': lambda a, b: a < b, 'LE': lambda a, b: a <= b, 'GT': lambda a, b: a > b,
              'GE': lambda a, b: a >= b, 'EQ': lambda a, b: a == b, 'NE': lambda a, b: a != b}


class Body:
    """A region on numbers of the types `types`, one argument each, written line by line."""

    def __init__(self, types):
        self.types, self.lines, self.steps = list(types), [], []

    def add(self, text, t, compute):
        """`compute` is called with all values so far."""
        self.steps.append(compute)
        self.types.append(t)
        self.lines.append(f'%v{len(self.types) - 1} = {text}')
        return len(self.types) - 1

    def constant(self, value, t):
        text = f'{float(value)}' if t[0] == 'f' else f'{value}'
        return self.add(f'stablehlo.constant dense<{text}> : tensor<{t}>', t, lambda v: value)

    def binary(self, op, a, b, compute):
        t = self.types[a]
        return self.add(f'stablehlo.{op} %v{a}, %v{b} : tensor<{t}>', t,
                        lambda v: in_type(compute(v[a], v[b]), t))

    def unary(self, op, a, compute):
        t = self.types[a]
        return self.add(f'stablehlo.{op} %v{a} : tensor<{t}>', t,
                        lambda v: in_type(compute(v[a]), t))

    def compare(self, direction, a, b):
        t = self.types[a]
        return self.add(f'stablehlo.compare {direction}, %v{a}, %v{b} : (tensor<{t}>, tensor<{t}>) '
                        '-> tensor<i1>', 'i1', lambda v: DIRECTIONS[direction](v[a], v[b]))

    def select(self, test, a, b):
        t = self.types[a]
        return self.add(f'stablehlo.select %v{test}, %v{a}, %v{b} : tensor<i1>, tensor<{t}>', t,
                        lambda v: v[a] if v[test] else v[b])

    def logical(self, op, a, b):
        compute = {'and': lambda p, q: p and q, 'or': lambda p, q: p or q}[op]
        return self.add(f'stablehlo.{op} %v{a}, %v{b} : tensor<i1>', 'i1',
                        lambda v: compute(v[a], v[b]))

    def convert(self, a, t):
        return self.add(f'stablehlo.convert %v{a} : (tensor<{self.types[a]}>) -> tensor<{t}>', t,
                        lambda v: in_type(int(v[a]), t))

    def random(self, t, steps):
        """A random expression of type t."""
        last = None
        for _ in range(steps):
            same = [i for i, of in enumerate(self.types) if of == t]
            if not same or rng.random() < 0.15:
                last = self.constant(rng.randint(-3, 3) if t[0] != 'u' else rng.randint(0, 3), t)
            elif rng.random() < 0.3:
                a, b = rng.choice(same), rng.choice(same)
                test = self.compare(rng.choice(list(DIRECTIONS)), a, b)
                last = self.select(test, rng.choice(same), rng.choice(same))
            else:
                op, count, compute = rng.choice(OPERATIONS if t[0] != 'u' else OPERATIONS[:5])
                chosen = [rng.choice(same) for _ in range(count)]
                last = (self.binary(op, *chosen, compute) if count == 2 else
                        self.unary(op, *chosen, compute))
        return last

    def text(self, results, arguments):
        inputs = ', '.join(f'%v{i}: tensor<{t}>' for i, t in enumerate(self.types[:arguments]))
        of = ', '.join(f'tensor<{self.types[r]}>' for r in results)
        lines = [f'^bb0({inputs}):'] + self.lines
        lines.append(f'stablehlo.return {", ".join(f"%v{r}" for r in results)} : {of}')
        return '{\n' + ''.join(f'    {line}\n' for line in lines) + '  }'

    def run(self, results, arguments):
        values = list(arguments)
        for step in self.steps:
            values.append(step(values))
        return [values[r] for r in results]


def joined(body, results, n):
    """What a reduction computes, as a function of two lists of numbers."""
    return lambda p, q: body.run(results, list(p) + list(q)), body.text(results, 2 * n)


# Reductions of several operands whose order does not matter, or that of the operands alone: types,
# what they begin with, and a function that makes the body.

def pair_of_extremes():
    t, u = rng.choice(['i32', 'i64', 'f32']), rng.choice(['i32', 'i8', 'f32'])
    body = Body([t, u, t, u])
    results = [body.binary('minimum', 0, 2, min), body.binary('maximum', 1, 3, max)]
    return [t, u], [9, -9], joined(body, results, 2)


def sum_and_product():
    t, u = rng.choice(['i32', 'i64']), rng.choice(['i32', 'i8', 'ui8', 'ui32'])
    body = Body([t, u, t, u])
    results = [body.binary('add', 2, 0, lambda a, b: a + b),
               body.binary('multiply', 1, 3, lambda a, b: a * b)]
    return [t, u], [rng.randint(-2, 2), 1], joined(body, results, 2)


def affine_maps():
    """x -> a x + b, one after the other: associative, but not commutative."""
    t = rng.choice(['i32', 'i64', 'i8'])
    body = Body([t] * 4)
    a = body.binary('multiply', 0, 2, lambda x, y: x * y)
    scaled = body.binary('multiply', 1, 2, lambda x, y: x * y)
    b = body.binary('add', scaled, 3, lambda x, y: x + y)
    return [t, t], [1, 0], joined(body, [a, b], 2)


def place_of_extreme():
    """The first or last place of the least or largest number, of equal ones by a third operand."""
    t, u = rng.choice(['i32', 'f32']), rng.choice(['i32', 'i64'])
    body = Body([t, u, 'i32', t, u, 'i32'])
    better = body.compare(rng.choice(['LT', 'GT']), 0, 3)
    equal = body.compare('EQ', 0, 3)
    earlier = body.compare(rng.choice(['LT', 'GT']), 1, 4)
    same = body.compare('EQ', 1, 4)
    third = body.compare(rng.choice(['LE', 'GE']), 2, 5)
    tie = body.logical('and', equal, body.logical('or', earlier, body.logical('and', same, third)))
    first = body.logical('or', better, tie)
    results = [body.select(first, i, i + 3) for i in range(3)]
    return [t, u, 'i32'], [rng.randint(-9, 9), rng.randint(-9, 9), rng.randint(-9, 9)], joined(
        body, results, 3)


def first_that_is_not():
    """The first number that is not zero, with a count of those that are not."""
    t = rng.choice(['i32', 'i64', 'f32'])
    body = Body([t, 'i32', t, 'i32'])
    zero = body.constant(0, t)
    test = body.compare('NE', 0, zero)
    results = [body.select(test, 0, 2), body.binary('add', 1, 3, lambda a, b: a + b)]
    return [t, 'i32'], [0, 0], joined(body, results, 2)


MONOIDS = [pair_of_extremes, sum_and_product, affine_maps, place_of_extreme, first_that_is_not]


def operands(names, values, types):
    return ''.join(constant(n, np.array(v, object), t) for n, v, t in zip(names, values, types))


def called(names):
    return ', '.join(f'%{n}' for n in names)


def listed_types(values, types):
    return ', '.join(type_of(v, t) for v, t in zip(values, types))


def results_of(count):
    return '%r' if count == 1 else f'%r:{count}'


def checks(values, types):
    if len(values) == 1:
        return check('r', values[0], types[0])
    return ''.join(check(f'r#{i}', v, t) for i, (v, t) in enumerate(zip(values, types)))


def numbers_of(shape, t):
    return numbers(shape, 0 if t[0] == 'u' else -4, 4)


# --- Programs: None where a random one has no result that is defined ----------------------------

def reduce_of_several():
    types, init, (run, region) = rng.choice(MONOIDS)()
    init = [in_type(i, t) for i, t in zip(init, types)]
    shape = [rng.randint(0 if rng.random() < 0.1 else 1, 4) for _ in range(rng.randint(1, 3))]
    axes = sorted(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
    kept = [i for i in range(len(shape)) if i not in axes]
    n = len(types)
    x = [numbers_of(shape, t) for t in types]
    y = [np.full([shape[i] for i in kept], i0, object) for i0 in init]
    for at in np.ndindex(*shape):
        to = tuple(at[i] for i in kept)
        for r, value in zip(y, run([r[to] for r in y], [v[at] for v in x])):
            r[to] = value
    xs, zs = [f'x{i}' for i in range(n)], [f'z{i}' for i in range(n)]
    return (operands(xs, x, types) + operands(zs, init, types) +
            f'  {results_of(n)} = "stablehlo.reduce"({called(xs + zs)}) ({region}) '
            f'{attributes(dimensions=array(axes))} : ({listed_types(x + init, types * 2)}) -> '
            f'({listed_types(y, types)})\n' + checks(y, types))


def reduce_window_of_several():
    types, init, (run, region) = rng.choice(MONOIDS)()
    init = [in_type(i, t) for i, t in zip(init, types)]
    rank, n = rng.randint(1, 2), len(types)
    shape = [rng.randint(1, 4) for _ in range(rank)]
    size = [rng.randint(1, 3) for _ in range(rank)]
    stride = [rng.randint(1, 2) for _ in range(rank)]
    base = [rng.choice([1, 1, 2]) for _ in range(rank)]
    dilation = [rng.choice([1, 1, 2]) for _ in range(rank)]
    padding = [(rng.randint(-1, 2), rng.randint(-1, 2)) for _ in range(rank)]
    counts = []
    for i in range(rank):
        whole = max((shape[i] - 1) * base[i] + 1 + sum(padding[i]), 0)
        extent = (size[i] - 1) * dilation[i] + 1
        counts.append(0 if whole < extent else (whole - extent) // stride[i] + 1)
    x = [numbers_of(shape, t) for t in types]
    y = [np.full(counts, i0, object) for i0 in init]
    for at in np.ndindex(*counts):
        for k in np.ndindex(*size):
            place = [at[i] * stride[i] + k[i] * dilation[i] - padding[i][0] for i in range(rank)]
            inside = all(0 <= p <= (shape[i] - 1) * base[i] and p % base[i] == 0
                         for i, p in enumerate(place))
            place = tuple(p // base[i] for i, p in enumerate(place))
            elements = [v[place] for v in x] if inside else init
            for r, value in zip(y, run([r[at] for r in y], elements)):
                r[at] = value
    xs, zs = [f'x{i}' for i in range(n)], [f'z{i}' for i in range(n)]
    attrs = attributes(window_dimensions=array(size), window_strides=array(stride),
                       base_dilations=array(base), window_dilations=array(dilation),
                       padding=pairs(padding))
    return (operands(xs, x, types) + operands(zs, init, types) +
            f'  {results_of(n)} = "stablehlo.reduce_window"({called(xs + zs)}) ({region}) {attrs} '
            f': ({listed_types(x + init, types * 2)}) -> ({listed_types(y, types)})\n' +
            checks(y, types))


def map_of_several():
    n, t = rng.randint(1, 3), rng.choice(['i32', 'i64', 'i8', 'ui8'])
    shape = [rng.randint(0 if rng.random() < 0.1 else 1, 3) for _ in range(rng.randint(0, 3))]
    body = Body([t] * n)
    result = body.random(t, rng.randint(1, 6))
    of = body.types[result]
    x = [numbers_of(shape, t) for _ in range(n)]
    y = np.zeros(shape, object)
    for at in np.ndindex(*shape):
        y[at] = body.run([result], [v[at] for v in x])[0]
    xs = [f'x{i}' for i in range(n)]
    return (operands(xs, x, [t] * n) +
            f'  %r = "stablehlo.map"({called(xs)}) ({body.text([result], n)}) '
            f'{attributes(dimensions=array(range(len(shape))))} : ({listed_types(x, [t] * n)}) -> '
            f'{type_of(y, of)}\n' + check('r', y, of))


def sort_by_several():
    """The comparator looks at one operand after the other, at some as their absolute values."""
    n = rng.randint(1, 3)
    types = [rng.choice(['i32', 'f32', 'i8', 'ui8', 'i64']) for _ in range(n)]
    shape = [rng.randint(1, 6) for _ in range(rng.randint(1, 2))]
    axis = rng.randrange(len(shape))
    body = Body([t for t in types for _ in range(2)])
    keys = rng.sample(range(n), rng.randint(1, n))
    before, equal = None, None
    for key in keys:
        t, p, q = types[key], 2 * key, 2 * key + 1
        kind = rng.random()
        if kind < 0.25 and t[0] != 'u':
            p, q = (body.unary('abs', i, abs) for i in (p, q))
        elif kind < 0.5 and t[0] != 'u':
            p, q = (body.unary('negate', i, lambda a: -a) for i in (p, q))
        elif kind < 0.6:
            p, q = q, p
        less = body.compare(rng.choice(['LT', 'GT']), p, q)
        before = less if before is None else body.logical('or', before,
                                                          body.logical('and', equal, less))
        same = body.compare('EQ', p, q)
        equal = same if equal is None else body.logical('and', equal, same)
    x = [numbers_of(shape, t) for t in types]
    y = [np.zeros(shape, object) for _ in types]

    def order(i, j, at):
        def asked(i, j):
            p, q = (at[:axis] + (k,) + at[axis:] for k in (i, j))
            return body.run([before], [v[w] for v in x for w in (p, q)])[0]
        return -1 if asked(i, j) else 1 if asked(j, i) else 0
    rest = shape[:axis] + shape[axis + 1:]
    for at in np.ndindex(*rest):
        places = sorted(range(shape[axis]),
                        key=functools.cmp_to_key(lambda i, j: order(i, j, at)))
        for to, place in enumerate(places):
            for v, r in zip(x, y):
                r[at[:axis] + (to,) + at[axis:]] = v[at[:axis] + (place,) + at[axis:]]
    xs = [f'x{i}' for i in range(n)]
    of = listed_types(x, types)
    return (operands(xs, x, types) +
            f'  {results_of(n)} = "stablehlo.sort"({called(xs)}) ({body.text([before], 2 * n)}) '
            f'{attributes(dimension=f"{axis} : i64", is_stable="true")} : ({of}) -> ({of})\n' +
            checks(y, types))


def scatter_of_several():
    """Rows of two operands, each updated in its own way."""
    t, u = rng.choice(['i32', 'i64']), rng.choice(['i32', 'f32', 'i8'])
    rows, columns, count = rng.randint(1, 4), rng.randint(1, 3), rng.randint(0, 5)
    x = [numbers_of([rows, columns], k) for k in (t, u)]
    i = numbers([count, 1], -1, rows)
    v = [numbers_of([count, columns], k) for k in (t, u)]
    body = Body([t, u, t, u])
    results = [body.binary('add', 0, 2, lambda a, b: a + b), body.binary('maximum', 1, 3, max)]
    if rng.random() < 0.3:
        results[0] = body.binary('subtract', results[0], body.constant(1, t), lambda a, b: a - b)
    y = [z.copy() for z in x]
    for k in range(count):
        row = int(i[k, 0])
        if not 0 <= row < rows:
            continue
        for c in range(columns):
            for r, value in zip(y, body.run(results, [z[row, c] for z in y] +
                                            [z[k, c] for z in v])):
                r[row, c] = value
    numbers_text = ('#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], '
                    'scatter_dims_to_operand_dims = [0], index_vector_dim = 1>')
    attrs = attributes(scatter_dimension_numbers=numbers_text, indices_are_sorted='false',
                       unique_indices='false')
    of = listed_types(x, [t, u])
    return (operands(['x0', 'x1'], x, [t, u]) + constant('i', i, 'i32') +
            operands(['v0', 'v1'], v, [t, u]) +
            f'  %r:2 = "stablehlo.scatter"(%x0, %x1, %i, %v0, %v1) ({body.text(results, 4)}) '
            f'{attrs} : ({of}, {type_of(i, "i32")}, {listed_types(v, [t, u])}) -> ({of})\n' +
            checks(y, [t, u]))


def loop():
    """Several values are carried, of which some are what others were before."""
    t, n = rng.choice(['i32', 'i64', 'i8']), rng.randint(1, 3)
    shape = [rng.randint(1, 3)]
    body = Body([t] * (n + 1))
    step = body.binary('add', 0, body.constant(rng.choice([1, 1, 2, 3]), t), lambda a, b: a + b)
    results = [step] + [rng.choice([body.random(t, rng.randint(1, 3)), rng.randint(0, n)])
                        for _ in range(n)]
    limit = rng.randint(-1, 9)
    start = rng.randint(-3, 3)
    direction = rng.choice(['LT', 'LE', 'NE'])
    if direction == 'NE':
        return None  # it may never end
    state = [start] + [int(numbers_of([], t)) for _ in range(n)]
    first = list(state)
    while DIRECTIONS[direction](state[0], limit):
        state = body.run(results, state)
    names = [f'x{i}' for i in range(n + 1)]
    of = ', '.join([f'tensor<{t}>'] * (n + 1))
    inputs = ', '.join(f'%v{i}: tensor<{t}>' for i in range(n + 1))
    cond = (f'{{\n    ^bb0({inputs}):\n    %l = stablehlo.constant dense<{limit}> : tensor<{t}>\n'
            f'    %c = stablehlo.compare {direction}, %v0, %l : (tensor<{t}>, tensor<{t}>) -> '
            'tensor<i1>\n    stablehlo.return %c : tensor<i1>\n  }')
    del shape
    return (operands(names, first, [t] * (n + 1)) +
            f'  {results_of(n + 1)} = "stablehlo.while"({called(names)}) ({cond}, '
            f'{body.text(results, n + 1)}) : ({of}) -> ({of})\n' + checks(state, [t] * (n + 1)))


def pad():
    t, rank = rng.choice(['i32', 'i8', 'ui64', 'f32']), rng.randint(1, 3)
    dynamic = rng.random() < 0.5
    shape = [rng.randint(0 if rng.random() < 0.1 else 1, 4) for _ in range(rank)]
    low, high = ([rng.randint(-2, 3) for _ in range(rank)] for _ in range(2))
    interior = [rng.choice([0, 0, 1, 2]) for _ in range(rank)]
    sizes = [n + max(n - 1, 0) * k + a + b for n, k, a, b in zip(shape, interior, low, high)]
    if min(sizes) < 0:
        return None
    x, value = numbers_of(shape, t), rng.randint(0, 9)
    y = np.full(sizes, value, object)
    for at in np.ndindex(*shape):
        to = tuple(a + i * (k + 1) for a, i, k in zip(low, at, interior))
        if all(0 <= p < n for p, n in zip(to, sizes)):
            y[to] = x[at]
    before = constant('x', x, t) + constant('z', np.array(value), t)
    of = f'{type_of(x, t)}, tensor<{t}>'
    if not dynamic:
        attrs = attributes(edge_padding_low=array(low), edge_padding_high=array(high),
                           interior_padding=array(interior))
        return (before + f'  %r = "stablehlo.pad"(%x, %z) {attrs} : ({of}) -> {type_of(y, t)}\n' +
                check('r', y, t))
    names, values = ['l', 'h', 'i'], [low, high, interior]
    more = ', '.join([f'tensor<{rank}xi64>'] * 3)
    return (before + operands(names, values, ['i64'] * 3) +
            f'  %r = "stablehlo.dynamic_pad"(%x, %z, {called(names)}) : ({of}, {more}) -> '
            f'{type_of(y, t)}\n' + check('r', y, t))


def dynamic_slices():
    t, rank, of_start = rng.choice(['i32', 'f32', 'ui8']), rng.randint(1, 3), rng.choice(
        ['i32', 'i64', 'ui32', 'ui8', 'i8'])
    shape = [rng.randint(1, 5) for _ in range(rank)]
    sizes = [rng.randint(0 if rng.random() < 0.1 else 1, n) for n in shape]
    start = [rng.randint(0 if of_start[0] == 'u' else -3, 7) for _ in range(rank)]
    at = tuple(slice(min(max(s, 0), n - k), min(max(s, 0), n - k) + k)
               for s, n, k in zip(start, shape, sizes))
    x = numbers_of(shape, t)
    names = [f's{i}' for i in range(rank)]
    more = ', '.join([f'tensor<{of_start}>'] * rank)
    before = constant('x', x, t) + operands(names, start, [of_start] * rank)
    if rng.random() < 0.5:
        y = x[at]
        return (before + f'  %r = "stablehlo.dynamic_slice"(%x, {called(names)}) '
                f'{attributes(slice_sizes=array(sizes))} : ({type_of(x, t)}, {more}) -> '
                f'{type_of(y, t)}\n' + check('r', y, t))
    u, y = numbers_of(sizes, t), x.copy()
    y[at] = u
    return (before + constant('u', u, t) +
            f'  %r = "stablehlo.dynamic_update_slice"(%x, %u, {called(names)}) : '
            f'({type_of(x, t)}, {type_of(u, t)}, {more}) -> {type_of(y, t)}\n' + check('r', y, t))


def real_dynamic_slice():
    t, rank = rng.choice(['i32', 'f32', 'i8']), rng.randint(1, 3)
    shape = [rng.randint(1, 6) for _ in range(rank)]
    start = [rng.randint(0, n) for n in shape]
    limit = [rng.randint(s, n) for s, n in zip(start, shape)]
    stride = [rng.randint(1, 3) for _ in range(rank)]
    x = numbers_of(shape, t)
    y = x[tuple(slice(a, b, c) for a, b, c in zip(start, limit, stride))]
    names, of = ['a', 'b', 'c'], rng.choice(['i32', 'i64'])
    more = ', '.join([f'tensor<{rank}x{of}>'] * 3)
    return (constant('x', x, t) + operands(names, [start, limit, stride], [of] * 3) +
            f'  %r = "stablehlo.real_dynamic_slice"(%x, {called(names)}) : ({type_of(x, t)}, '
            f'{more}) -> {type_of(y, t)}\n' + check('r', y, t))


def dynamic_broadcast():
    t, rank = rng.choice(['i32', 'f32', 'i8']), rng.randint(0, 2)
    shape = [rng.choice([1, rng.randint(1, 3)]) for _ in range(rank)]
    wide = rank + rng.randint(0, 2)
    dims = rng.sample(range(wide), rank)
    sizes = [rng.randint(0 if rng.random() < 0.1 else 1, 3) for _ in range(wide)]
    for axis, n in zip(dims, shape):
        if n != 1:
            sizes[axis] = n
    x = numbers_of(shape, t)
    y = np.zeros(sizes, object)
    for at in np.ndindex(*sizes):
        y[at] = x[tuple(0 if n == 1 else at[axis] for axis, n in zip(dims, shape))]
    of = rng.choice(['i32', 'i64'])
    return (constant('x', x, t) + constant('s', np.array(sizes, object), of) +
            '  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) '
            f'{attributes(broadcast_dimensions=array(dims))} : ({type_of(x, t)}, '
            f'tensor<{wide}x{of}>) -> {type_of(y, t)}\n' + check('r', y, t)) if wide else None


def dynamic_iota():
    t, rank = rng.choice(['i32', 'f32', 'i8', 'ui8', 'i64']), rng.randint(1, 3)
    sizes = [rng.randint(0 if rng.random() < 0.1 else 1, 4) for _ in range(rank)]
    axis, of = rng.randrange(rank), rng.choice(['i32', 'i64'])
    y = np.zeros(sizes, object)
    for at in np.ndindex(*sizes):
        y[at] = at[axis]
    return (constant('s', np.array(sizes, object), of) +
            f'  %r = "stablehlo.dynamic_iota"(%s) {attributes(iota_dimension=f"{axis} : i64")} : '
            f'(tensor<{rank}x{of}>) -> {type_of(y, t)}\n' + check('r', y, t))


def dynamic_gather():
    """Slices from places along all axes."""
    t, rank = rng.choice(['i32', 'f32', 'i64']), rng.randint(1, 3)
    shape = [rng.randint(1, 4) for _ in range(rank)]
    sizes = [rng.randint(1, n) for n in shape]
    count = rng.randint(1, 3)
    i = numbers([count, rank], -2, 5)
    x = numbers_of(shape, t)
    y = np.zeros([count] + sizes, object)
    for k in range(count):
        at = [min(max(int(i[k, a]), 0), n - z) for a, (n, z) in enumerate(zip(shape, sizes))]
        y[k] = x[tuple(slice(s, s + z) for s, z in zip(at, sizes))]
    text = (f'#stablehlo.gather<offset_dims = {list(range(1, rank + 1))}, start_index_map = '
            f'{list(range(rank))}, index_vector_dim = 1>')
    attrs = attributes(dimension_numbers=text, indices_are_sorted='false')
    return (constant('x', x, t) + constant('i', i, 'i64') +
            constant('s', np.array(sizes, object), 'i64') +
            f'  %r = "stablehlo.dynamic_gather"(%x, %i, %s) {attrs} : ({type_of(x, t)}, '
            f'{type_of(i, "i64")}, tensor<{rank}xi64>) -> {type_of(y, t)}\n' + check('r', y, t))


def dynamic_conv():
    """A convolution whose padding is an operand."""
    body = programs.convolution()
    found = body and re.search(
        r'stablehlo.convolution\(%x, %w\) dim_numbers = (\S+, .*?), window = {stride = \[(.*?)\], '
        r'pad = \[(.*?)\], lhs_dilate = \[(.*?)\], rhs_dilate = \[(.*?)\], reverse = \[(.*?)\]} '
        r'{(.*?)} : \((.*?)\) ->', body)
    if not found:
        return None
    dims, stride, pad_text, base, dilation, reverse, groups, types = found.groups()
    of = f'tensor<{len(stride.split(","))}x2xi64>'
    text = (f'"stablehlo.dynamic_conv"(%x, %w, %p) {{dimension_numbers = #stablehlo.conv<{dims}>, '
            f'window_strides = array<i64: {stride}>, lhs_dilation = array<i64: {base}>, '
            f'rhs_dilation = array<i64: {dilation}>, window_reversal = array<i1: {reverse}>, '
            f'{groups}}} : ({types}, {of}) ->')
    return (f'  %p = stablehlo.constant dense<[{pad_text}]> : {of}\n' +
            body.replace(found[0], text))


def dynamic_reshape():
    t, of = rng.choice(['i32', 'f32', 'i8']), rng.choice(['i32', 'i64'])
    sizes = [rng.randint(0 if rng.random() < 0.1 else 1, 4) for _ in range(rng.randint(1, 4))]
    x = numbers_of([sizes[0] * (sizes[1] if len(sizes) > 1 else 1)] + sizes[2:], t)
    y = x.reshape(sizes)
    return (constant('x', x, t) + constant('s', np.array(sizes, object), of) +
            f'  %r = stablehlo.dynamic_reshape %x, %s : ({type_of(x, t)}, '
            f'tensor<{len(sizes)}x{of}>) -> {type_of(y, t)}\n' + check('r', y, t))


# --- Sizes that are not known -------------------------------------------------------------------

def opened(body):
    """The program on slices whose sizes are computed, of floats, so that reading does not know
    them. Kernels of convolutions and operands that are sizes or places stay as they are."""
    lines, fixed = [], set()
    for line in body.splitlines():
        found = re.match(r'  %(\w+) = stablehlo.constant (dense<.*> : (tensor<([\dx]+)x(\w+)>))$',
                         line)
        if not found or re.fullmatch('[^xu].*', found[1]):
            if found:
                fixed.add(found[3])
            lines.append(line)
            continue
        name, literal_text, of, dims, t = found.groups()
        sizes = dims.split('x')
        vector = f'tensor<{len(sizes)}x'
        lines += [
            f'  %{name}_all = stablehlo.constant {literal_text}',
            f'  %{name}_sizes = stablehlo.constant dense<[{", ".join(f"{n}.0" for n in sizes)}]> : '
            f'{vector}f32>',
            f'  %{name}_sum = stablehlo.abs %{name}_sizes : {vector}f32>',
            f'  %{name}_end = stablehlo.convert %{name}_sum : ({vector}f32>) -> {vector}i64>',
            f'  %{name}_start = stablehlo.constant dense<0> : {vector}i64>',
            f'  %{name}_step = stablehlo.constant dense<1> : {vector}i64>',
            f'  %{name} = stablehlo.real_dynamic_slice %{name}_all, %{name}_start, %{name}_end, '
            f'%{name}_step : ({of}, {vector}i64>, {vector}i64>, {vector}i64>) -> '
            f'tensor<{"?x" * len(sizes)}{t}>']

    def open_type(found):
        if found[0] in fixed:
            return found[0]
        return f'tensor<{"?x" * len(found[1].split("x"))}{found[2]}>'
    for k, line in enumerate(lines):
        if not re.match(r'  %\w+(_all|_sizes|_sum|_end|_start|_step)? = stablehlo.(constant|abs|'
                        r'convert|real_dynamic_slice) ', line) and 'check.' not in line:
            lines[k] = re.sub(r'(?<!> : )tensor<(\d+(?:x\d+)*)x([a-z]+\d+)>', open_type, line)
    return ''.join(f'{line}\n' for line in lines)


MAKERS = [reduce_of_several, reduce_window_of_several, map_of_several, sort_by_several,
          scatter_of_several, loop, pad, dynamic_slices, real_dynamic_slice, dynamic_broadcast,
          dynamic_iota, dynamic_gather, dynamic_conv, dynamic_reshape]


def convolution_with_results():
    """Convolutions of runtimes want an operand that the kernel fits into."""
    body = programs.convolution()
    return None if body is None or 'dense<>' in body else body


OPEN = [programs.gather, programs.scatter, convolution_with_results, programs.reduce_window,
        programs.reduce, reduce_of_several, reduce_window_of_several, map_of_several,
        sort_by_several, scatter_of_several, pad, dynamic_slices]


def made(make, count):
    bodies = []
    while len(bodies) < count:
        body = make()
        if body is not None:
            bodies.append(body)
    return bodies


def main():
    bodies = [body for make in MAKERS for body in made(make, 5)]
    bodies += [opened(body) for make in OPEN for body in made(make, 5)]
    sys.stdout.write('// -----\n'.join(f'func.func @main() {{\n{body}  func.return\n}}\n'
                                       for body in bodies))


if __name__ == '__main__':
    main()
