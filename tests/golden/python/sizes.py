"""A PyTorch module written by x2ir.

    model = Model.load()
    output = model(in_0)
"""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, in_0):
        batch, seq = in_0.shape[:2]
        return in_0.reshape(batch, 2 * seq, 4).exp()

    @classmethod
    def load(cls):
        """The model, which has no weights."""
        return cls().eval()


INPUTS = ("in_0",)
OUTPUTS = ("out",)


def example_inputs():
    """Random inputs, in order."""
    return (torch.rand(8, 8, 8),)


if __name__ == "__main__":
    model = Model.load()
    inputs = example_inputs()
    with torch.no_grad():
        outputs = model(*inputs)
    for name, x in zip(INPUTS, inputs):
        print(f"input {name}: {x.dtype} {tuple(x.shape)}")
    for name, x in zip(OUTPUTS, (outputs,)):
        print(f"output {name}: {x.dtype} {tuple(x.shape)}")
