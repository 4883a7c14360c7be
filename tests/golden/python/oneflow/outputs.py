"""An OneFlow module written by x2ir.

    model = Model.load()
    output = model(in_0)
"""

from typing import NamedTuple

import oneflow as flow
import oneflow.nn.functional as F
from oneflow import nn


class Outputs(NamedTuple):
    sum: flow.Tensor
    class_: flow.Tensor
    sum_1: flow.Tensor


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
    return (flow.rand(2, 3),)


if __name__ == "__main__":
    model = Model.load()
    inputs = example_inputs()
    with flow.no_grad():
        outputs = model(*inputs)
    for name, x in zip(INPUTS, inputs):
        print(f"input {name}: {x.dtype} {tuple(x.shape)}")
    for name, x in zip(OUTPUTS, outputs):
        print(f"output {name}: {x.dtype} {tuple(x.shape)}")
