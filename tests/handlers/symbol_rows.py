"""What generators of rows of symbols (MXNet's, NNVM's) share: attributes are texts."""
import numpy as np
import torch
import torch.nn.functional as F
from rows_numbers import *
from rows_text import Raw, Rows, attributes, listed

rows = Rows()
rng = np.random.RandomState(11)
f, pos, unit = drawn(rng)


def text(v):
    return v if isinstance(v, Raw) else str(v)


def row(ops, ins, outs, **attrs):
    """The same row for an operator, or for all names of it."""
    for op in ops.split():
        rows.add(op, listed(ins), attributes({k: text(v) for k, v in attrs.items()}), listed(outs))
