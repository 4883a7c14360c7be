"""Models: what x2ir.Model does beyond the extension module, and conversions without one."""

import os
import warnings

from . import _x2ir
from ._arrays import as_float32, to_result, to_tensor
from ._errors import ConversionError
from ._options import named, takes_options
from ._source import resolver, source
from ._x2ir import Model


@takes_options(reads=True, writes=True)
def convert(src, dst=None, *, from_=None, to=None, resolve=None, progress=None, **options):
    """Converts a model from any format to any other.

    src: a path, bytes, a file, an onnx.ModelProto, a torch.export.ExportedProgram or a
      oneflow.nn.Graph that was called once.
    dst: a path, whose name says the format (or ``to=``), or a file that bytes are written to. None:
      the bytes are returned, ONNX unless ``to=`` says another format.
    from_, to: formats by their names (:func:`formats`), where content and name do not say them.
    resolve: for models in memory: gives the bytes of a file that the model names.
    progress: is called now and then with (done, total), and ends the call when it returns False.

    Returns the :class:`Report` of what was done, or the bytes. Raises ConversionError where ops
    cannot be converted (nothing is written), ModelError, OptionError or FileError.

    >>> x2ir.convert("model.onnx", "model17.onnx", opset=17)
    <x2ir.Report: 2 nodes read, 2 written, 0 ops failed>
    """
    data, name = source(src)
    resolve = resolver(src, resolve)
    is_path = dst is not None and not hasattr(dst, "write")
    with named(dict(options, from_=from_, to=to)) as texts:
        made = _x2ir.convert(data, name, resolve, os.fspath(dst) if is_path else "", texts, progress)
    if dst is None or is_path:
        return made
    dst.write(made)
    return None


@takes_options(reads=True)
def load(src, *, raw=False, from_=None, resolve=None, progress=None, **options):
    """Reads a model of any format, as IR.

    src: a path, bytes, a file, an onnx.ModelProto, a torch.export.ExportedProgram or a
      oneflow.nn.Graph that was called once. Weights of files stay there, and bytes are not copied.
    raw: the model in its own dialect, as the file has it; ``to_ir()`` converts it later.
    from_: the format by its name, where the content does not say it.
    resolve: for models in memory: gives the bytes of a file that the model names (external weights).
    progress: is called now and then with (done, total), and ends the call when it returns False.

    Raises ConversionError where ops have no mapping, ModelError where the model is malformed,
    OptionError, FileError.

    >>> x2ir.load("model.onnx").graph.outputs
    (<x2ir.Value y: float32[1,2]>,)
    >>> x2ir.load("model.onnx", rename={"x": "image"}).graph.inputs
    (<x2ir.Value image: float32[1,4]>,)
    """
    data, name = source(src)
    with named(dict(options, from_=from_)) as texts:
        return _x2ir.load(data, name, resolver(src, resolve), raw, texts, progress)


def _save(self, path, *, to=None, progress=None, **options):
    """Writes the model in the format that the name says, or ``to=``.

    path: a path, or a file that bytes are written to.
    progress: is called now and then with (done, total), and ends the call when it returns False.
    """
    with named(dict(options, to=to)) as texts:
        if hasattr(path, "write"):
            path.write(self._write("", texts, progress))
        else:
            self._write(os.fspath(path), texts, progress)


def _to_onnx(self, opset=None, *, progress=None, **options):
    """The model as bytes of an ONNX file.

    opset: by default the usual one, or the oldest that has what the model needs.

    >>> type(x2ir.load("model.onnx").to_onnx(opset=17))
    <class 'bytes'>
    """
    if not self.is_ir and self.dialect != "onnx":
        return self.to_ir().to_onnx(opset, progress=progress, **options)
    with named(dict(options, to="onnx", opset=opset)) as texts:
        return self._write("", texts, progress)


def _to_ir(self, *, progress=None, **options):
    """The model as IR: another model, which shares the weights."""
    if self.is_ir:
        return self.clone()
    with named(options) as texts:
        return self._rewritten("", texts, progress)


def _to_dialect(self, dialect, *, progress=None, **options):
    """The IR model in a dialect ("onnx", "torch", one of your own): another model."""
    with named(options) as texts:
        return self._rewritten(dialect, texts, progress)


def _fitting(arrays, values):
    """{name: Tensor} for inputs or outputs: lists take their element types, float64 is narrowed."""
    wanted = {value.name: value.dtype for value in values}
    tensors = {}
    for name, array in arrays.items():
        tensor = to_tensor(array, wanted.get(name))
        if tensor.dtype == "float64" and wanted.get(name) == "float32":
            warnings.warn(f"'{name}' is float32 and was given as float64: it is cast", stacklevel=3)
            tensor = as_float32(tensor)
        tensors[name] = tensor
    return tensors


def _run(self, inputs=None, *, progress=None):
    """Runs the model by the reference evaluation, correct before fast.

    inputs: {name: array}; arrays of NumPy or DLPack in the memory of the CPU are not copied. For a
      model with one input, the array itself will do. float64 for a float32 input is cast, with a
      warning. InputError for a name that no input has, and for another type or shape.

    Returns {name: array}: arrays of NumPy, or :class:`Tensor` where it is not installed; lists for
    sequences, dicts for maps, None for an empty optional.

    >>> x2ir.load("model.onnx").run({"x": [[1, 2, 3, 4]]})["y"].shape
    (1, 2)
    """
    values = self.graph.inputs
    if inputs is None:
        inputs = {}
    elif not isinstance(inputs, dict):
        if len(values) != 1:
            raise TypeError(f"the model has {len(values)} inputs: give a dict of arrays by name")
        inputs = {values[0].name: inputs}
    tensors = _fitting(inputs, values)
    return {name: to_result(value) for name, value in self._run_tensors(tensors, progress).items()}


def _verify(
    self, io=None, other=None, *, runtime=None, runtime_library=None, rtol=1e-3, atol=1e-4, metric=None,
    at_least=None, at_most=None, progress=None,
):
    """Compares outputs with expected ones, or with those of another model or a runtime.

    io: an io file (``x2ir run -o``), or {name: array} of inputs and expected outputs.
    other: a model that should compute the same, on the inputs of io, or on random ones.
    runtime: "onnxruntime" or "litert", whose library, runtime_library or one that the system finds,
        computes what is compared: with the outputs of io, or else with what x2ir computes.

    metric: what decides in place of rtol and atol: "cosine" or "snr" with at_least, "max-abs" or
        "steps" (of the outputs' quantization) with at_most; for lossy conversions.

    Returns a Verification: true where all outputs agree.

    >>> model = x2ir.load("model.onnx")
    >>> bool(model.verify(other=x2ir.load(model.to_onnx(opset=13))))
    True
    """
    if isinstance(io, Model):
        io, other = other, io
    if io is None and other is None and runtime is None:
        raise TypeError("there is nothing to compare with: give io, other or runtime")
    if other is not None and runtime is not None:
        raise TypeError("other and runtime exclude each other")
    if runtime is None and runtime_library is not None:
        raise TypeError("runtime_library needs runtime")
    if isinstance(io, dict):
        io = _fitting(io, self.graph.inputs + self.graph.outputs)
    elif io is not None:
        io = os.fspath(io)
    bound = _bound_of(metric, at_least, at_most)
    library = os.fspath(runtime_library) if runtime_library is not None else ""
    return self._verify_tensors(io, other, runtime or "", library, rtol, atol, metric or "", bound, progress)


def _bound_of(metric, at_least, at_most):
    if metric is None:
        if at_least is not None or at_most is not None:
            raise TypeError("at_least and at_most need metric")
        return 0.0
    more_is_better = dict(_x2ir._metrics())
    if metric not in more_is_better:
        raise ValueError(f"there is no metric {metric!r}; expected {', '.join(more_is_better)}")
    names = ("at_least", "at_most") if more_is_better[metric] else ("at_most", "at_least")
    given = {"at_least": at_least, "at_most": at_most}
    if given[names[0]] is None or given[names[1]] is not None:
        raise TypeError(f"metric {metric!r}: expected {names[0]}, and not {names[1]}")
    return float(given[names[0]])


def _info(self):
    """What ``x2ir info --json`` says, as a dict."""
    import json

    return json.loads(self._info_json())


def _repr(self):
    return f"<x2ir.Model\n{self._info_text().rstrip()}>"


# What a notebook is given of one model at most, in characters, and of how large a model it may be a
# picture, or a page.
_MOST_HTML = 2 << 20
_MOST_DRAWN, _MOST_SHOWN, _MOST_WEIGHTS = 300, 20000, 256 << 20


def _repr_html(self):
    """For notebooks: the graph as a picture; of a large one the page of ``x2ir view``, with its
    modules closed; of a huge one what ``x2ir info`` says. 2 MiB at most."""
    import html

    info = self.info()
    nodes = info["nodes"]
    if nodes <= _MOST_DRAWN and len(picture := self.graph.to_svg()) <= _MOST_HTML:
        return picture
    if nodes <= _MOST_SHOWN and sum(w["bytes"] for w in info["weights"].values()) <= _MOST_WEIGHTS:
        try:
            page = html.escape(_x2ir.view([(self, self.graph.name)], False, None, None))
        except ConversionError:  # a build without the page
            page = ""
        if 0 < len(page) <= _MOST_HTML:
            return f'<iframe style="width:100%;height:600px;border:0" srcdoc="{page}"></iframe>'
    text = self._info_text()
    most = _MOST_HTML // 8  # an escaped character takes up to six
    return f"<pre>{html.escape(text if len(text) <= most else text[:most] + '...')}</pre>"


def _unpickled(files, is_ir, made, format_):
    return _x2ir.model_of_files(files, is_ir, made, format_)


def _reduce(self):
    return _unpickled, (self._files(), self.is_ir, self._made, self._format)


for _name, _function in {
    "save": takes_options(writes=True)(_save),
    "to_onnx": takes_options(writes=True)(_to_onnx),
    "to_ir": takes_options(reads=True)(_to_ir),
    "to_dialect": takes_options(writes=True)(_to_dialect),
    "run": _run,
    "verify": _verify,
    "info": _info,
    "__repr__": _repr,
    "_repr_html_": _repr_html,
    "__reduce__": _reduce,
    "__copy__": lambda self: self.clone(),
    "__deepcopy__": lambda self, memo: self.clone(),
}.items():
    _function.__name__ = _name
    _function.__qualname__ = f"Model.{_name}"
    setattr(Model, _name, _function)
