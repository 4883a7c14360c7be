"""x2ir converts neural networks between frameworks and ONNX.

>>> import x2ir
>>> model = x2ir.load("model.onnx")               # of any format; see x2ir.formats()
>>> list(model.run({"x": [[1, 2, 3, 4]]}))
['y']
>>> model.save("model.json")                      # the IR; or .onnx, .pt2, .tflite, .py
>>> onnx = x2ir.convert("model.json", opset=17)   # without a second path: bytes
>>> len(onnx) > 0
True

Options are keyword arguments with the names of the command line's flags, with ``_`` between words
(``help(x2ir.convert)`` lists them); ``from_`` is ``--from``. What can be said several times may be a
list, and what is said of a name a dict: ``shape={"x": (1, 3, "seq")}``, ``dynamic={"x": {0: "batch"}}``,
``rename={"x": "image"}``, ``fold_inputs={"mask": array}``.

Errors are subclasses of :class:`Error`. Long calls let other threads go on, can be interrupted by
Ctrl-C, and take ``progress=f``: ``f(done, total)`` is called now and then, and ends the call when it
returns False.
"""

from . import _arrays, _graph, _own_ops, _x2ir
from ._errors import (
    Cancelled,
    ConversionError,
    Error,
    FileError,
    InputError,
    ModelError,
    OptionError,
    Unsupported,
)
from ._look import Findings, compare, cost, diff, view, weights
from ._model import convert, load
from ._own_ops import Dialect, handler
from ._x2ir import Failure, Graph, Model, Node, Report, Rewrite, Tensor, Value, __version__

__all__ = [
    "Cancelled", "ConversionError", "Dialect", "Error", "Failure", "FileError", "Findings", "Graph",
    "InputError", "Model", "ModelError", "Node", "OptionError", "Report", "Rewrite", "Tensor",
    "Unsupported", "Value", "compare", "convert", "cost", "diff", "formats", "handler", "load", "new",
    "ops", "tensor", "view", "weights",
]  # fmt: skip


def formats():
    """The formats that are read and written, a dict each.

    >>> [f["name"] for f in x2ir.formats() if f["name"] == "onnx"]
    ['onnx']
    """
    return _x2ir.formats()


def ops(dialect="", opset=None):
    """The ops of the IR, or of a dialect ("onnx", "torch", "tf"), a dict each.

    >>> any(op["op"] == "relu" for op in x2ir.ops())
    True
    """
    import json  # which takes longer to load than all of this package

    return json.loads(_x2ir.ops_json(dialect, opset))


def tensor(value, dtype=None, shape=None):
    """A :class:`Tensor` of an array, a number or a list; of bytes, with dtype and shape.

    No copy is made of contiguous memory.

    >>> x2ir.tensor(b"\\x21", "int4", [2])
    <x2ir.Tensor int4[2]>
    """
    if shape is not None:
        return Tensor(value, _arrays.dtype_name(dtype), list(shape))
    return _arrays.to_tensor(value, dtype and _arrays.dtype_name(dtype))


def new(dialect="", opset=None, name="graph"):
    """An empty model: of the IR, or of a dialect, to be filled through ``model.graph``.

    opset: of the dialect's own ops; None: the default of the dialect. Opset imports of the other
      domains of nodes are added automatically.

    >>> g = x2ir.new().graph
    >>> x = g.add_input("x", "float32[2,n]")
    >>> y = g.append("relu", [x], outputs=["y"]).outputs[0]
    >>> g.add_output(y)
    >>> y
    <x2ir.Value y: float32[2,n]>
    """
    return _x2ir.new_model(dialect, opset, name)
