"""A PyTorch module written by x2ir.

    model = Model.load()
    output = model(in_0)
"""

from pathlib import Path

import torch
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


class R(nn.Module):
    def __init__(self):
        super().__init__()
        self.GRU = nn.GRU(8, 16)

    def forward(self, x):
        x, _ = self.GRU(x.permute(1, 0, 2))
        return x.unsqueeze(1).squeeze(1).permute(1, 0, 2)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.r = R()
        self.fc = nn.Linear(16, 5)

    def forward(self, in_0):
        return self.fc(self.r(in_0))

    @classmethod
    def load(cls, path=Path(__file__).with_name("net.safetensors")):
        """The model with its weights, by default those beside this file."""
        model = cls()
        weights = load_file(path)
        for name in [name for name in weights if name.endswith(".T")]:
            weights[name[:-2]] = weights.pop(name).t()
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
    return (torch.rand(2, 5, 8),)


if __name__ == "__main__":
    model = Model.load()
    inputs = example_inputs()
    with torch.no_grad():
        outputs = model(*inputs)
    for name, x in zip(INPUTS, inputs):
        print(f"input {name}: {x.dtype} {tuple(x.shape)}")
    for name, x in zip(OUTPUTS, (outputs,)):
        print(f"output {name}: {x.dtype} {tuple(x.shape)}")
