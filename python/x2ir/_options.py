"""Keyword arguments as the options of the command line: texts by name.

The extension module has one table of all options (``_x2ir.options()``); the flags of the programs
use the same table. Signatures and docstrings are generated from it.
"""

import contextlib
import keyword
import os
import re

from . import _x2ir
from ._arrays import dtype_name, to_tensor


def _size(dim):
    return "?" if dim is None else str(dim)


def _shape(shape):
    return "[" + ",".join(_size(d) for d in shape) + "]"


def _constant(value, folder):
    """What an input becomes: a number, the name of a .npy file, or an array, in a file."""
    if isinstance(value, (bool, int, float, str, os.PathLike)):
        return _text(value)
    path = os.path.join(folder(), f"{len(os.listdir(folder()))}.npy")
    _x2ir.write_npy(path, to_tensor(value))
    return path


def _escaped(name):
    """A name in NAME=NEW: backslashes say which = are none between the two."""
    return re.sub(r"(\\*)=", r"\1\1\\=", name)


def _pair(name, new):
    # The end of the first name is followed by a =.
    return re.sub(r"(\\+)$", r"\1\1", _escaped(name)) + "=" + _escaped(new)


def _cases(value, folder):
    """Files of inputs: paths as they are; {name: array}, or an array of a model with one input, in files.

    Several are a list, or an iterator.
    """
    if isinstance(value, (list, tuple)) or hasattr(value, "__next__"):
        return [path for case in value for path in _cases(case, folder)]
    if isinstance(value, (str, os.PathLike)):
        return [os.fspath(value)]
    # By number: files of a folder are read in the order of their names, and these one by one.
    path = os.path.join(folder(), f"case{len(os.listdir(folder()))}")
    if isinstance(value, dict):
        path += ".safetensors"
        _x2ir.write_io(path, {name: to_tensor(array) for name, array in value.items()})
    else:
        path += ".npy"
        _x2ir.write_npy(path, to_tensor(value))
    return [path]


def _example(value, folder):
    """A file of one input each: a path as it is; {name: array}, an array, or arrays in their order, in a file."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if not isinstance(value, dict):
        items = value if isinstance(value, (list, tuple)) else [value]
        value = {f"in_{i}": item for i, item in enumerate(items)}
    path = os.path.join(folder(), "example.safetensors")
    _x2ir.write_io(path, {name: to_tensor(array) for name, array in value.items()})
    return path


# Options whose value may be a dict, an item each.
_DICTS = {
    "shape": lambda name, v, _: f"{name}:{v if isinstance(v, str) else _shape(v)}",
    "dtype": lambda name, v, _: f"{name}:{dtype_name(v)}",
    "dynamic": lambda name, v, _: f"{name}:"
    + (v if isinstance(v, str) else ",".join(f"{axis}={size}" for axis, size in v.items())),
    "extra_opset": lambda name, v, _: f"{name}:{v}",
    "rename": lambda name, v, _: _pair(name, v),
    "fold_inputs": lambda name, v, folder: _pair(name, _constant(v, folder)),
}
# Options whose value says inputs.
_CASES = {"calibrate"}
# Options that are given once for each item, and not as one list "A,B".
_REPEATED = set(_DICTS) | {"weights_from"}


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(os.fspath(value) if isinstance(value, os.PathLike) else value)


@contextlib.contextmanager
def named(options):
    """[("shape", "x:1,3"), ...] of {"shape": {"x": (1, 3)}, ...}. None is not given.

    Arrays lie in files for as long as the context lasts.
    """
    with contextlib.ExitStack() as stack:
        folders = []

        def folder():
            if not folders:
                import tempfile  # which takes longer to load than all of this package

                folders.append(stack.enter_context(tempfile.TemporaryDirectory(prefix="x2ir-")))
            return folders[0]

        pairs = []
        for name, value in options.items():
            if value is None:
                continue
            name = name.rstrip("_")  # `from` is a word of Python's own
            key = name.replace("_", "-")
            if name == "example":
                pairs.append((key, _example(value, folder)))
            elif name in _CASES:
                pairs += [(key, path) for path in _cases(value, folder)]
            elif isinstance(value, dict):
                if name not in _DICTS:
                    raise TypeError(f"option '{name}' is no dict; {', '.join(_DICTS)} are")
                pairs += [(key, _DICTS[name](of, item, folder)) for of, item in value.items()]
            elif isinstance(value, (list, tuple)):
                items = [_text(item) for item in value]
                pairs += [(key, item) for item in items] if name in _REPEATED else [(key, ",".join(items))]
            else:
                pairs.append((key, _text(value)))
        yield pairs


def table(reads=True, writes=True):
    """The options of reading, of writing, or of both."""
    return [o for o in _x2ir.options() if (reads and o["reads"]) or (writes and o["writes"])]


def word(name):
    return name + "_" * keyword.iskeyword(name)


def _help(option):
    values = {"flag": "bool", "int": "int", "size": 'bytes, or "2GiB"', "text": "str", "list": "list"}
    kind = " | ".join(map(repr, option["choices"])) or values[option["type"]]
    if option["name"] in _DICTS:
        kind = "dict"
    elif option["name"] == "example":
        kind = "path, {name: array}, array, or a list of arrays"
    elif option["name"] in _CASES:
        kind = "path, {name: array}, array, or a list of such"
    whose = f" ({', '.join(option['formats'])})" if option["formats"] else ""
    return f"    {word(option['name'])}: {kind}{whose}. {option['help']}."


def takes_options(*, reads=False, writes=False):
    """A decorator of a function with ``**options``: one with a keyword argument for each of them.

    Names that are no options go on to it as well, so that an error can say which one was meant.
    """

    def decorate(function):
        code = function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        places, others = names[: code.co_argcount], names[code.co_argcount :]
        defaults = dict(zip(reversed(places), reversed(function.__defaults__ or ())))
        defaults.update(function.__kwdefaults__ or {})
        options = [o for o in table(reads, writes) if word(o["name"]) not in names]
        keywords = [*others, *(word(o["name"]) for o in options)]
        said = [f"{n}={defaults[n]!r}" if n in defaults else n for n in places]
        said += ["*", *(f"{n}={defaults.get(n)!r}" for n in keywords), "**options"]
        passed = [*places, *(f"{n}={n}" for n in keywords), "**options"]
        scope = {"_made_of": function}
        name = function.__name__
        text = f"def {name}({', '.join(said)}):\n    return _made_of({', '.join(passed)})\n"
        exec(compile(text, f"<options of {name}>", "exec"), scope)
        made = scope[name]
        made.__module__, made.__qualname__ = function.__module__, function.__qualname__
        doc = (function.__doc__ or "").rstrip()
        made.__doc__ = "\n".join([doc, "", "    Options, none of which is needed:", "", *map(_help, options), ""])
        return made

    return decorate
