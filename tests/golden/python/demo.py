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


try:
    from torch.nn.functional import scaled_dot_product_attention
except ImportError:  # before PyTorch 2.0

    def scaled_dot_product_attention(query, key, value):
        scale = query.shape[-1] ** -0.5
        scores = query * scale @ key.transpose(-2, -1)
        return scores.softmax(-1) @ value


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = nn.Embedding(97, 32)
        self.token_type_embeddings = nn.Embedding(2, 32)
        self.position_embeddings = nn.Embedding(40, 32)
        self.LayerNorm = nn.LayerNorm(32, eps=1e-12)
        self.register_buffer(
            "gatherelements", torch.zeros(1, 12, dtype=torch.int64), persistent=False
        )
        self.register_buffer(
            "constant", torch.arange(12).reshape(1, 12), persistent=False
        )

    def forward(self, x):
        token_type_embeddings = self.token_type_embeddings(self.gatherelements)
        add = self.word_embeddings(x) + token_type_embeddings
        return self.LayerNorm(add + self.position_embeddings(self.constant))


class Self(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(32, 32)
        self.key = nn.Linear(32, 32)
        self.value = nn.Linear(32, 32)

    def forward(self, x):
        query = self.query(x).reshape(1, 12, 4, 8).permute(0, 2, 1, 3)
        value = self.value(x).reshape(1, 12, 4, 8).permute(0, 2, 1, 3)
        key = self.key(x).reshape(1, 12, 4, 8).permute(0, 2, 1, 3)
        attention = scaled_dot_product_attention(query, key, value).permute(0, 2, 1, 3)
        return attention.reshape(1, 12, 32)


class Output(nn.Module):
    def __init__(self, in_features):
        super().__init__()
        self.dense = nn.Linear(in_features, 32)
        self.LayerNorm = nn.LayerNorm(32, eps=1e-12)

    def forward(self, x, layernormalization):
        return self.LayerNorm(self.dense(x) + layernormalization)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.self = Self()
        self.output = Output(32)

    def forward(self, x):
        return self.output(self.self(x), x)


class Intermediate(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(32, 64)

    def forward(self, x):
        return F.gelu(self.dense(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.intermediate = Intermediate()
        self.output = Output(64)

    def forward(self, x):
        x = self.attention(x)
        return self.output(self.intermediate(x), x)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Sequential(Layer(), Layer())

    def forward(self, x):
        return self.layer(x)


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = Embeddings()
        self.encoder = Encoder()

    def forward(self, x):
        return self.encoder(self.embeddings(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.m = M()

    def forward(self, in_0):
        return self.m(in_0)

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
    return (torch.randint(0, 2, (1, 12)),)


if __name__ == "__main__":
    model = Model.load()
    inputs = example_inputs()
    with torch.no_grad():
        outputs = model(*inputs)
    for name, x in zip(INPUTS, inputs):
        print(f"input {name}: {x.dtype} {tuple(x.shape)}")
    for name, x in zip(OUTPUTS, (outputs,)):
        print(f"output {name}: {x.dtype} {tuple(x.shape)}")
