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


class Feature(nn.Module):
    def __init__(self, in_channels, out_channels, stride):
        super().__init__()
        self.conv = nn.Conv2d(
            in_channels,
            out_channels,
            kernel_size=3,
            stride=stride,
            padding=1,
            bias=False,
        )
        self.bn = nn.BatchNorm2d(out_channels)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(Feature(3, 8, 1), Feature(8, 16, 2))
        self.classifier = nn.Linear(16, 10)

    def forward(self, in_0):
        g = self.features(in_0).mean((2, 3), keepdim=True).reshape(1, 16)
        return self.classifier(g)

    @classmethod
    def load(cls, path=Path(__file__).with_name("net.safetensors")):
        """The model with its weights, by default those beside this file."""
        model = cls()
        weights = load_file(path)
        missing = {
            name
            for name in model.state_dict().keys() ^ weights.keys()
            if not name.endswith("num_batches_tracked")
        }
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
    return (torch.rand(1, 3, 8, 8),)


if __name__ == "__main__":
    model = Model.load()
    inputs = example_inputs()
    with torch.no_grad():
        outputs = model(*inputs)
    for name, x in zip(INPUTS, inputs):
        print(f"input {name}: {x.dtype} {tuple(x.shape)}")
    for name, x in zip(OUTPUTS, (outputs,)):
        print(f"output {name}: {x.dtype} {tuple(x.shape)}")
