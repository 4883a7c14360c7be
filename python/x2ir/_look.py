"""What verbs of the program say of models: compare, diff, cost, weights, view."""

import os

from . import _x2ir
from ._model import _fitting, load
from ._options import takes_options
from ._x2ir import Model


def _parsed(text):
    import json  # which takes longer to load than all of this package

    return json.loads(text)


class Findings(dict):
    """What a verb of the program prints with --json, as a dict; str() is what it prints without."""

    def __init__(self, said):
        super().__init__(_parsed(said[0]))
        self._text = said[1]

    def __str__(self):
        return self._text

    def _repr_pretty_(self, printer, cycle):
        printer.text(self._text)


def _read(model, raw=False, keep=True, **options):
    """A Model, as IR unless `raw`; of anything else what :func:`load` reads.

    keep: ops that cannot be converted stay as they are.
    """
    if raw:
        return model if isinstance(model, Model) else load(model, raw=True)
    if keep and not options.get("allow_foreign"):
        options["continue_on_error"] = True
    if not isinstance(model, Model):
        return load(model, **options)
    return model if model.is_ir else model.to_ir(**options)


def _cases(io, model):
    if isinstance(io, dict):
        return _fitting(io, model.graph.inputs + model.graph.outputs)
    return io if io is None else os.fspath(io)


def compare(model, other, io=None, *, random=1, seed=0, rtol=1e-3, atol=1e-4, progress=None):
    """Says at which node two models part, as ``x2ir compare``.

    model, other: models, or what :func:`load` reads.
    io: an io file (``x2ir run -o``), or {name: array}. None: random inputs, `random` times, made from
      the number `seed`.

    Returns :class:`Findings`, a dict: ``first`` says where the first difference is, ``values`` how far
    off each value is, ``verification`` whether the outputs agree within the tolerances.

    >>> found = x2ir.compare("model.onnx", x2ir.convert("model.onnx", opset=9))
    >>> found["first"], found["verification"]["agrees"]
    (None, True)
    """
    model, other = _read(model, keep=False), _read(other, keep=False)
    return Findings(_x2ir.compare(model, other, _cases(io, model), random, seed, rtol, atol, progress))


def diff(model, other, *, raw=False, optimize=False, progress=None):
    """What two graphs do not have in common, as ``x2ir diff``.

    raw: the graphs as the files have them, not as IR.
    optimize: both are optimized first: what passes make the same is no difference.

    Returns :class:`Findings`, a dict: ``differs``, ``nodes``, ...

    >>> x2ir.diff("model.onnx", x2ir.convert("model.onnx", opset=9))["differs"]
    False
    """
    if raw and optimize:
        raise TypeError("raw graphs are not optimized")
    return Findings(_x2ir.diff(_read(model, raw), _read(other, raw), optimize, progress))


@takes_options(reads=True)
def cost(model, **options):
    """Multiply-adds, parameters and memory of activations by op, as ``x2ir info --cost``.

    model: a model, or what :func:`load` reads; then options are those of reading.

    Returns :class:`Findings`, a dict: ``total``, ``ops``, ``nodes``, ...

    >>> x2ir.cost("model.onnx")["total"]["multiply_adds"]
    8
    """
    return Findings(_x2ir.cost(_read(model, **options)))


def weights(model, *, bins=16):
    """Element type, range, mean, zeros and NaNs of each weight, as ``x2ir info --weights``.

    bins: parts of the histograms; 0: none.

    >>> [(w["name"], w["min"], w["max"]) for w in x2ir.weights("model.onnx")]
    [('w', -3, 4)]
    """
    return _parsed(_x2ir.weights(_read(model, raw=True), bins)[0])


def view(model, other=None, path=None, *, weights=False, raw=False, io=None, random=0, seed=0, progress=None):
    """A page to look at a model, or at two side by side, as ``x2ir view``.

    path: the HTML file to write. None: the page is returned, a str.
    weights: the elements of weights too, of 64 MiB at most.
    raw: graphs as the files have them, not as IR.
    io, random, seed: as of :func:`compare`; the values of two models take the colors of their errors.

    >>> x2ir.view("model.onnx").startswith("<!doctype html>")
    True
    """
    viewed = [(_read(each, raw), _title(each)) for each in (model, other) if each is not None]
    compared = None
    if io is not None or random:
        if other is None or raw:
            raise TypeError("io and random are for two models of IR, whose values are compared")
        compared = (_cases(io, viewed[0][0]), random, seed)
    page = _x2ir.view(viewed, weights, compared, progress)
    if path is None:
        return page
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
    return None


def _title(model):
    if isinstance(model, Model):
        return model.graph.name
    return os.path.basename(os.fspath(model)) if isinstance(model, (str, os.PathLike)) else "model"
