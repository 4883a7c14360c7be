"""Short names for the tensors of rows."""
import numpy as np
import torch

f32 = lambda *v: np.array(v, np.float32)
i32 = lambda *v: np.array(v, np.int32)
i64 = lambda *v: np.array(v, np.int64)
i8 = lambda *v: np.array(v, np.int8)
boolean = lambda *v: np.array(v, bool)
T = lambda a: torch.from_numpy(np.ascontiguousarray(a))
inf, nan = np.inf, np.nan
as32 = lambda a: np.asarray(a).astype(np.float32)


def drawn(rng):
    """Functions of a shape: random numbers of either sign, positive ones, and those between -1 and 1."""
    uniform = lambda low, high: lambda *s: rng.uniform(low, high, s).round(2).astype(np.float32)
    return uniform(-2, 2), uniform(0.1, 3), uniform(-0.9, 0.9)
