"""Keyword arguments as the options of the command line: texts by name."""

import os

from ._arrays import dtype_name


def _size(dim):
    return "?" if dim is None else str(dim)


def _shape(shape):
    return "[" + ",".join(_size(d) for d in shape) + "]"


# Options whose value may be a dict, an item each.
_DICTS = {
    "shape": lambda name, v: f"{name}:{v if isinstance(v, str) else _shape(v)}",
    "dtype": lambda name, v: f"{name}:{dtype_name(v)}",
    "dynamic": lambda name, v: f"{name}:"
    + (v if isinstance(v, str) else ",".join(f"{axis}={size}" for axis, size in v.items())),
    "extra_opset": lambda name, v: f"{name}:{v}",
}
# Options that are given once for each item, and not as one list "A,B".
_REPEATED = set(_DICTS) | {"weights_from"}


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(os.fspath(value) if isinstance(value, os.PathLike) else value)


def named(options):
    """[("shape", "x:1,3"), ...] of {"shape": {"x": (1, 3)}, ...}. None is not given."""
    pairs = []
    for name, value in options.items():
        if value is None:
            continue
        name = name.rstrip("_")  # `from` is a word of Python's own
        key = name.replace("_", "-")
        if isinstance(value, dict) and name in _DICTS:
            pairs += [(key, _DICTS[name](of, item)) for of, item in value.items()]
        elif isinstance(value, (list, tuple)):
            items = [_text(item) for item in value]
            pairs += [(key, item) for item in items] if name in _REPEATED else [(key, ",".join(items))]
        else:
            pairs.append((key, _text(value)))
    return pairs
