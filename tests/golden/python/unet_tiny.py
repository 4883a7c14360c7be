"""A PyTorch module written by x2ir.

    model = Model.load()
    output = model(in_0)
"""

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

try:
    from safetensors.torch import load_file
except ImportError:
    import json
    import mmap

    def load_file(path):
        """The tensors of a safetensors file, mapped."""
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        start = 8 + int.from_bytes(data[:8], "little")
        kinds = {"BOOL": "bool", "BF": "bfloat", "F": "float", "I": "int", "U": "uint"}
        tensors = {}
        for name, entry in json.loads(data[8:start]).items():
            if name == "__metadata__":
                continue
            kind = entry["dtype"].rstrip("0123456789")
            dtype = getattr(torch, kinds[kind] + entry["dtype"][len(kind) :])
            begin, end = (start + offset for offset in entry["data_offsets"])
            at = begin if begin < end else 0
            flat = torch.frombuffer(data, dtype=torch.uint8, offset=at)[: end - begin]
            tensors[name] = flat.view(dtype).reshape(entry["shape"])
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
        o = self.o(torch.cat([self.up(F.gelu(c)), a], dim=1))
        return F.interpolate(o, scale_factor=2.0, mode="bilinear")

    @classmethod
    def load(cls, path=Path(__file__).with_name("net.safetensors")):
        """The model with its weights, by default those beside this file."""
        model = cls()
        weights = load_file(path)
        missing = model.state_dict().keys() ^ weights.keys()
        if missing:
            raise ValueError(f"{path}: other weights: {sorted(missing)[:5]}")
        for name, weight in weights.items():
            module, _, leaf = name.rpartition(".")
            getattr(model.get_submodule(module), leaf).data = weight
        return model.eval()


INPUTS = ("in_0",)
OUTPUTS = ("out_0",)


def example_inputs():
    """Random inputs, in order."""
    return (torch.rand(1, 3, 32, 32),)


if __name__ == "__main__":
    model = Model.load()
    inputs = example_inputs()
    with torch.no_grad():
        outputs = model(*inputs)
    for name, x in zip(INPUTS, inputs):
        print(f"input {name}: {x.dtype} {tuple(x.shape)}")
    for name, x in zip(OUTPUTS, (outputs,)):
        print(f"output {name}: {x.dtype} {tuple(x.shape)}")
