"""Models: what x2ir.Model does beyond the extension module, and conversions without one."""

import os

from . import _x2ir
from ._arrays import to_result, to_tensor
from ._options import named
from ._source import resolver, source
from ._x2ir import Model


def convert(src, dst=None, *, resolve=None, progress=None, **options):
    """Converts a model from any format to any other.

    src: a path, bytes, a file, an onnx.ModelProto, a torch.export.ExportedProgram or a
      oneflow.nn.Graph that was called once.
    dst: a path, whose name says the format (or ``to=``), or a file that bytes are written to. None:
      the bytes are returned, ONNX unless ``to=`` says another format.
    resolve: for models in memory: gives the bytes of a file that the model names.
    options: those of ``x2ir convert``: ``opset=17``, ``shape={"x": (1, 3, "seq")}``, ...

    Returns the :class:`Report` of what was done, or the bytes. Raises ConversionError where ops
    cannot be converted (nothing is written), ModelError, OptionError or FileError.

    >>> x2ir.convert("model.onnx", "model17.onnx", opset=17)
    <x2ir.Report: 2 nodes read, 2 written, 0 ops failed>
    """
    data, name = source(src)
    resolve = resolver(src, resolve)
    if dst is None or hasattr(dst, "write"):
        written = _x2ir.convert(data, name, resolve, "", named(options), progress)
        if dst is None:
            return written
        dst.write(written)
        return None
    return _x2ir.convert(data, name, resolve, os.fspath(dst), named(options), progress)


def load(src, *, raw=False, resolve=None, progress=None, **options):
    """Reads a model of any format, as IR.

    src: a path, bytes, a file, an onnx.ModelProto, a torch.export.ExportedProgram or a
      oneflow.nn.Graph that was called once. Weights of files stay there, and bytes are not copied.
    raw: the model in its own dialect, as the file has it; ``to_ir()`` converts it later.
    resolve: for models in memory: gives the bytes of a file that the model names (external weights).
    options: those of reading: ``from_="onnx"``, ``shape={"x": (1, 4)}``, ``allow_foreign=...``, ...

    Raises ConversionError where ops have no mapping, ModelError where the model is malformed,
    OptionError, FileError.

    >>> x2ir.load("model.onnx").graph.outputs
    (<x2ir.Value y: float32[1,2]>,)
    """
    data, name = source(src)
    return _x2ir.load(data, name, resolver(src, resolve), raw, named(options), progress)


def _save(self, path, *, progress=None, **options):
    """Writes the model in the format that the name says, or ``to=``.

    path: a path, or a file that bytes are written to.
    options: those of writing: ``opset=17``, ``optimize=False``, ``external_data="always"``, ...
    """
    if hasattr(path, "write"):
        path.write(self._write("", named(options), progress))
    else:
        self._write(os.fspath(path), named(options), progress)


def _to_onnx(self, opset=None, *, progress=None, **options):
    """The model as bytes of an ONNX file.

    opset: by default the usual one, or the least that has what the model needs.

    >>> type(x2ir.load("model.onnx").to_onnx(opset=17))
    <class 'bytes'>
    """
    options = dict(options, to="onnx", opset=opset)
    if not self.is_ir and self.dialect != "onnx":
        return self.to_ir().to_onnx(**options)
    return self._write("", named(options), progress)


def _to_ir(self, *, progress=None, **options):
    """The model as IR: another model, which shares the weights."""
    return self.clone() if self.is_ir else self._rewritten("", named(options), progress)


def _to_dialect(self, dialect, *, progress=None, **options):
    """The IR model in a dialect ("onnx", "torch", one of your own): another model."""
    return self._rewritten(dialect, named(options), progress)


def _run(self, inputs=None, *, progress=None):
    """Runs the model by the reference evaluation, correct before fast.

    inputs: {name: array}; arrays of NumPy or DLPack in the memory of the CPU are not copied. For a
      model with one input, the array itself will do.

    Returns {name: array}: arrays of NumPy, or :class:`Tensor` where it is not installed; lists for
    sequences, dicts for maps, None for an empty optional.

    >>> x2ir.load("model.onnx").run({"x": [[1, 2, 3, 4]]})["y"].shape
    (1, 2)
    """
    wanted = {value.name: value.dtype for value in self.graph.inputs}
    if inputs is None:
        inputs = {}
    elif not isinstance(inputs, dict):
        if len(wanted) != 1:
            raise TypeError(f"the model has {len(wanted)} inputs: give a dict of arrays by name")
        inputs = {next(iter(wanted)): inputs}
    tensors = {name: to_tensor(value, wanted.get(name)) for name, value in inputs.items()}
    return {name: to_result(value) for name, value in self._run_tensors(tensors, progress).items()}


def _verify(self, io=None, other=None, *, rtol=1e-3, atol=1e-4, progress=None):
    """Compares outputs with expected ones, or with those of another model.

    io: an io file (``x2ir run -o``), or {name: array} of inputs and expected outputs.
    other: a model that should compute the same, on the inputs of io, or on random ones.

    Returns a Verification: true where all outputs agree.

    >>> model = x2ir.load("model.onnx")
    >>> bool(model.verify(other=x2ir.load(model.to_onnx(opset=13))))
    True
    """
    if isinstance(io, Model):
        io, other = other, io
    if io is None and other is None:
        raise TypeError("there is nothing to compare with: give io or other")
    if isinstance(io, dict):
        graph = self.graph
        wanted = {value.name: value.dtype for value in graph.inputs + graph.outputs}
        io = {name: to_tensor(value, wanted.get(name)) for name, value in io.items()}
    elif io is not None:
        io = os.fspath(io)
    return self._verify_tensors(io, other, rtol, atol, progress)


def _info(self):
    """What ``x2ir info --json`` says, as a dict."""
    import json

    return json.loads(self._info_json())


def _repr(self):
    return f"<x2ir.Model\n{self._info_text().rstrip()}>"


def _repr_html(self):
    """The graph as a picture, for notebooks."""
    return self.graph.to_svg()


for _name, _function in {
    "save": _save,
    "to_onnx": _to_onnx,
    "to_ir": _to_ir,
    "to_dialect": _to_dialect,
    "run": _run,
    "verify": _verify,
    "info": _info,
    "__repr__": _repr,
    "_repr_html_": _repr_html,
}.items():
    _function.__name__ = _name
    _function.__qualname__ = f"Model.{_name}"
    setattr(Model, _name, _function)
