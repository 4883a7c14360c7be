"""Toy, a framework of three layers, gets ONNX in and out through x2ir: main.cc's, in Python."""

from array import array

import x2ir

toy = x2ir.Dialect("toy")
toy.op("relu", "ReluLayer")
toy.op("gemm", "Dense", toy.fixed("alpha", 1.0), toy.fixed("beta", 1.0), toy.fixed("transA", 0),
       toy.fixed("transB", 0))  # fmt: skip


@toy.reads("Scale")
def from_scale(r):
    return r.op("mul", r.inputs[0], r.constant(r.attributes["factor"]))


@toy.writes("mul", "Scale")
def to_scale(r):
    for x, factor in (r.inputs, r.inputs[::-1]):
        if factor.constant is not None and factor.constant.nbytes == 4:
            value = memoryview(factor.constant).cast("B").cast("f")[0]
            return r.op("Scale", x, dialect="toy", factor=value)
    raise x2ir.Unsupported("Toy multiplies by a single constant only")


def read(data):
    lines = data.decode().splitlines()  # "toy 1", "inputs 3", a line a layer
    model = x2ir.new("toy", name="toy_network")
    g = model.graph
    value = g.add_input("x", f"float32[1,{int(lines[1].split()[1])}]")
    for op, *words in map(str.split, lines[2:]):
        inputs, attributes = [value], {}
        if op == "Dense":
            n, m, *numbers = int(words[0]), int(words[1]), *map(float, words[2:])
            weights = memoryview(array("f", numbers[: n * m])).cast("B").cast("f", [n, m])
            inputs += [g.add_initializer("w", weights), g.add_initializer("b", array("f", numbers[n * m :]))]
        elif op == "Scale":
            attributes = {"factor": float(words[0])}
        value = g.append(op, inputs, attributes, dialect="toy").output
    g.set_output(0, value)
    return model


def write(model):
    lines = ["toy 1", f"inputs {model.graph.inputs[0].shape[1]}"]
    for node in model.graph:
        words = [node.op]
        if node.op == "Dense":
            w, b = (memoryview(v.constant) for v in node.inputs[1:3])
            words += [*w.shape, *(f"{n:.9g}" for n in (*w.cast("B").cast("f"), *b))]
        words += [f"{n:.9g}" for n in node.attributes.values()]
        lines.append(" ".join(map(str, words)))
    return ("\n".join(lines) + "\n").encode()


toy.format([".toy"], read, write, doc="Networks of Toy", mark=b"toy 1\n")
