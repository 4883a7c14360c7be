"""An OneFlow module written by x2ir.

    model = Model.load()
    output = model(in_0)
"""

import json
from pathlib import Path

import numpy as np
import oneflow as flow
import oneflow.nn.functional as F
from oneflow import nn


def load_file(path):
    """The tensors of a safetensors file."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    dtypes = {
        "F64": "<f8",
        "F32": "<f4",
        "F16": "<f2",
        "BF16": "<u2",
        "I64": "<i8",
        "I32": "<i4",
        "I8": "i1",
        "U8": "u1",
        "BOOL": "?",
    }
    tensors = {}
    for name, entry in json.loads(data[8:start].tobytes()).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        array = np.array(data[start + begin : start + end]).view(dtypes[entry["dtype"]])
        if entry["dtype"] == "BF16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        tensor = flow.from_numpy(array.reshape(entry["shape"]))
        tensors[name] = tensor.to(flow.bfloat16) if entry["dtype"] == "BF16" else tensor
    return tensors


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, kernel_size=3, padding=1)
        self.b = nn.Conv2d(8, 16, kernel_size=3, stride=2, padding=1)
        self.gn = nn.GroupNorm(4, 16)
        self.c = nn.Conv2d(16, 16, kernel_size=3, padding=2, dilation=2)
        self.up = nn.ConvTranspose2d(16, 8, kernel_size=2, stride=2)
        self.o = nn.Conv2d(16, 4, kernel_size=1)

    def forward(self, in_0):
        a = F.relu(self.a(in_0))
        c = self.c(F.silu(self.gn(self.b(a))))
        o = self.o(flow.cat([self.up(F.gelu(c)), a], dim=1))
        return F.interpolate(o, scale_factor=2.0, mode="bilinear")

    @classmethod
    def load(cls, path=Path(__file__).with_name("net.safetensors")):
        """The model with its weights, by default those beside this file."""
        model = cls()
        weights = load_file(path)
        missing = model.state_dict().keys() ^ weights.keys()
        if missing:
            raise ValueError(f"{path}: other weights: {sorted(missing)[:5]}")
        model.load_state_dict(weights, strict=False)
        return model.eval()


INPUTS = ("in_0",)
OUTPUTS = ("out_0",)


def example_inputs():
    """Random inputs, in order."""
    return (flow.rand(1, 3, 32, 32),)


if __name__ == "__main__":
    model = Model.load()
    inputs = example_inputs()
    with flow.no_grad():
        outputs = model(*inputs)
    for name, x in zip(INPUTS, inputs):
        print(f"input {name}: {x.dtype} {tuple(x.shape)}")
    for name, x in zip(OUTPUTS, (outputs,)):
        print(f"output {name}: {x.dtype} {tuple(x.shape)}")
