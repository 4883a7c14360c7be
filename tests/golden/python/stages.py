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


class Stage(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.channels = channels
        self.conv = nn.Conv2d(channels, channels, kernel_size=3, padding=1)

    def forward(self, x):
        cat = torch.cat(
            [x[:, : self.channels], self.conv(x[:, self.channels : 2 * self.channels])],
            dim=1,
        )
        view = cat.reshape(1, 2, self.channels, 6, 6).permute(0, 2, 1, 3, 4)
        return view.reshape(1, 2 * self.channels, 6, 6)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stage = nn.ModuleList([Stage(4), Stage(8)])
        self.down = nn.Conv2d(8, 16, kernel_size=1)

    def forward(self, in_0):
        return self.stage[1](self.down(self.stage[0](in_0)))

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
OUTPUTS = ("out",)


def example_inputs():
    """Random inputs, in order."""
    return (torch.rand(1, 8, 6, 6),)


if __name__ == "__main__":
    model = Model.load()
    inputs = example_inputs()
    with torch.no_grad():
        outputs = model(*inputs)
    for name, x in zip(INPUTS, inputs):
        print(f"input {name}: {x.dtype} {tuple(x.shape)}")
    for name, x in zip(OUTPUTS, (outputs,)):
        print(f"output {name}: {x.dtype} {tuple(x.shape)}")
