"""Small models for the tests, written without the onnx package: a few fields of its wire form."""

import struct


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """An int, or bytes (a text, or a message)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, dims, floats):
    data = struct.pack(f"<{len(floats)}f", *floats)
    return b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) + field(9, data)


def value_info(name, dims, dtype=1):
    sizes = b"".join(field(1, field(2 if isinstance(d, str) else 1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, sizes)))


def node(op, inputs, outputs, name="", domain=""):
    message = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    return message + field(3, name) + field(4, op) + (field(7, domain) if domain else b"")


def model(nodes, inputs, outputs, initializers=(), opset=13, domains=()):
    graph = b"".join(field(1, n) for n in nodes) + field(2, "small")
    graph += b"".join(field(5, t) for t in initializers)
    graph += b"".join(field(11, v) for v in inputs) + b"".join(field(12, v) for v in outputs)
    imports = field(8, field(1, "") + field(2, opset))
    imports += b"".join(field(8, field(1, d) + field(2, 1)) for d in domains)
    return field(1, 8) + field(7, graph) + imports


WEIGHTS = [1, 2, 3, 4, -1, 0.5, 2, -3]


def small():
    """y = relu(x @ w), x: float32[1,4], w: float32[4,2]."""
    return model(
        [node("MatMul", ["x", "w"], ["h"], "product"), node("Relu", ["h"], ["y"], "rectify")],
        [value_info("x", [1, 4])],
        [value_info("y", [1, 2])],
        [tensor("w", [4, 2], WEIGHTS)],
    )


def write_small(path):
    with open(path, "wb") as file:
        file.write(small())


def one(op, domain="", dims=(2, 3), dtype=1, inputs=("x",)):
    """y = op(x...)."""
    return model(
        [node(op, inputs, ["y"], "the node", domain)],
        [value_info(i, dims, dtype) for i in inputs],
        [value_info("y", dims, dtype)],
        domains=[domain] if domain else [],
    )
