"""A PyTorch module written by x2ir.

    model = Model.load()
    output = model(in_0)
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


class Outputs(NamedTuple):
    sum: torch.Tensor
    class_: torch.Tensor
    sum_1: torch.Tensor


class Model(nn.Module):
    def forward(self, in_0):
        return Outputs(sum=in_0 + in_0, class_=F.relu(in_0), sum_1=in_0.exp())

    @classmethod
    def load(cls):
        """The model, which has no weights."""
        return cls().eval()


INPUTS = ("in_0",)
OUTPUTS = ("sum", "class_", "sum_1")


def example_inputs():
    """Random inputs, in order."""
    return (torch.rand(2, 3),)


if __name__ == "__main__":
    model = Model.load()
    inputs = example_inputs()
    with torch.no_grad():
        outputs = model(*inputs)
    for name, x in zip(INPUTS, inputs):
        print(f"input {name}: {x.dtype} {tuple(x.shape)}")
    for name, x in zip(OUTPUTS, outputs):
        print(f"output {name}: {x.dtype} {tuple(x.shape)}")
