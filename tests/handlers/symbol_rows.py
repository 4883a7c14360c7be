"""What generators of rows of symbols (MXNet's, NNVM's) share: attributes are texts."""
import numpy as np
import torch
import torch.nn.functional as F
from rows_text import Raw, Rows, attributes, listed

rows = Rows()
rng = np.random.RandomState(11)


def text(v):
    return v if isinstance(v, Raw) else str(v)


def row(ops, ins, outs, **attrs):
    """The same row for an operator, or for all names of it."""
    for op in ops.split():
        rows.add(op, listed(ins), attributes({k: text(v) for k, v in attrs.items()}), listed(outs))


f32 = lambda *v: np.array(v, np.float32)
i32 = lambda *v: np.array(v, np.int32)
i64 = lambda *v: np.array(v, np.int64)
boolean = lambda *v: np.array(v, bool)
f = lambda *s: rng.uniform(-2, 2, s).round(2).astype(np.float32)
pos = lambda *s: rng.uniform(0.1, 3, s).round(2).astype(np.float32)
unit = lambda *s: rng.uniform(-0.9, 0.9, s).round(2).astype(np.float32)
T = lambda a: torch.from_numpy(np.ascontiguousarray(a))
inf, nan = np.inf, np.nan
as32 = lambda a: np.asarray(a).astype(np.float32)
