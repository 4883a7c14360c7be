"""Toy, a framework of three layers, gets ONNX in and out through x2ir: main.cc's, in Python."""

from array import array

import x2ir

toy = x2ir.Dialect("toy")
toy.op("relu", "ReluLayer")
toy.op("gemm", "Dense", *(toy.fixed(k, v) for k, v in [("alpha", 1.0), ("beta", 1.0), ("transA", 0), ("transB", 0)]))


@toy.reads("Scale")
def from_scale(r):
    return r.op("mul", r.inputs[0], r.constant(r.attributes["factor"]))


@toy.writes("mul", "Scale")
def to_scale(r):
    for x, factor in (r.inputs, r.inputs[::-1]):
        if factor.constant is not None and factor.constant.nbytes == 4:
            return r.op("Scale", x, dialect="toy", factor=floats(factor.constant)[0])
    raise x2ir.Unsupported("Toy multiplies by a single constant only")


def floats(tensor, *shape):
    return memoryview(tensor).cast("B").cast("f", *shape)


def read(data):
    _, (_, width), *layers = map(str.split, data.decode().splitlines())  # "toy 1", "inputs 3", a line a layer
    model = x2ir.new("toy", name="toy_network")
    value = model.graph.add_input("x", f"float32[1,{int(width)}]")
    for op, *words in layers:
        inputs, attributes = [value], {"factor": float(words[0])} if op == "Scale" else {}
        if op == "Dense":
            n, m, numbers = int(words[0]), int(words[1]), array("f", map(float, words[2:]))
            weights = {"w": floats(numbers[: n * m], [n, m]), "b": numbers[n * m :]}
            inputs += [model.graph.add_initializer(name, data) for name, data in weights.items()]
        value = model.graph.append(op, inputs, attributes, dialect="toy").output
    model.graph.set_output(0, value)
    return model


def write(model):
    lines = ["toy 1", f"inputs {model.graph.inputs[0].shape[1]}"]
    for node in model.graph:
        weights = [value.constant for value in node.inputs[1:]]
        numbers = [n for tensor in weights for n in floats(tensor)] + [*node.attributes.values()]
        shape = weights[0].shape if weights else ()
        lines.append(" ".join([node.op, *map(str, shape), *(f"{n:.9g}" for n in numbers)]))
    return ("\n".join(lines) + "\n").encode()


toy.format([".toy"], read, write, doc="Networks of Toy", mark=b"toy 1\n")
