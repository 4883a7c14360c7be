"""Rows of values as text, a line each: operator; operands; attributes; results.

Tensors are in the notation of x2ir/graph_wrapper/text.h. Generators of rows (paddle/rows.py,
mxnet/rows.py, nnvm/rows.py, oneflow/rows.py) compute them with NumPy and PyTorch; rows_file_util.h
reads them.
"""
import math

import numpy as np
import torch

NAMES = ("bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")


class Raw(str):
    """Text that stands in a row as it is."""


def number(v):
    if isinstance(v, (bool, np.bool_)):
        return "1" if v else "0"
    if isinstance(v, (int, np.integer)):
        return str(int(v))
    if isinstance(v, np.float64):
        return repr(float(v)) if math.isfinite(v) else str(float(v))
    v = float(v)
    if math.isnan(v):
        return "nan"
    if math.isinf(v):
        return "inf" if v > 0 else "-inf"
    return str(np.float32(v))


def array(a):
    if isinstance(a, torch.Tensor):
        a = a.detach().numpy()
    return np.asarray(a)


def tensor(a):
    a = array(a)
    assert str(a.dtype) in NAMES, a.dtype
    dims = ",".join(str(d) for d in a.shape)
    return "%s[%s]{%s}" % (a.dtype, dims, ", ".join(number(v) for v in a.flatten()))


def attribute(v):
    if isinstance(v, Raw):
        return str(v)
    if isinstance(v, bool):
        return "1" if v else "0"
    if isinstance(v, str):
        return '"%s"' % v
    if isinstance(v, float):
        return repr(v)
    if isinstance(v, (list, tuple)) and not v:
        return "[]:ints"
    if isinstance(v, (list, tuple)):
        return "[%s]" % ", ".join(attribute(e) for e in v)
    return str(v)


def attributes(attrs):
    return ", ".join("%s = %s" % (k, attribute(v)) for k, v in attrs.items())


def listed(tensors):
    """Tensors without names; None is an operand that is left out."""
    if not isinstance(tensors, (list, tuple)):
        tensors = [tensors]
    return "; ".join("_" if t is None else tensor(t) for t in tensors)


class Rows:
    """What a generator writes; a row that is there already is left out."""

    def __init__(self):
        self.lines = {}

    def add(self, op, operands, attrs, results):
        assert not any("\n" in part or " | " in part for part in (op, operands, attrs, results)), op
        self.lines[" | ".join([op, operands, attrs, results])] = None

    def write(self, path):
        with open(path, "w") as file:
            file.write("".join(line + "\n" for line in self.lines))
