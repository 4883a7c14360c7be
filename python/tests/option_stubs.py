"""Prints python/x2ir/_options.pyi: the options of conversions as types, of the table in the extension module.

    PYTHONPATH=build/python python3 python/tests/option_stubs.py > python/x2ir/_options.pyi
"""

from x2ir import _options

TYPES = {
    "flag": "bool",
    "int": "int",
    "size": "int | str",
    "text": "str",
    "list": "str | Sequence[str]",
}
# What is said of a name, as a dict.
DICTS = {
    "shape": "Mapping[str, str | Sequence[int | str | None]]",
    "dtype": "Mapping[str, Any]",
    "dynamic": "Mapping[str, str | Mapping[int, str]]",
    "extra_opset": "Mapping[str, int]",
    "rename": "Mapping[str, str]",
    "fold_inputs": "Mapping[str, Any]",
}


def type_of(option):
    if option["type"] == "choice":
        return f"Literal[{', '.join(map(repr, option['choices']))}]".replace("'", '"')
    if option["name"] == "calibrate":
        return "str | PathLike[str] | Mapping[str, Any] | Iterable[Any]"
    if option["name"] == "example":
        return "str | PathLike[str] | Mapping[str, Any] | Sequence[Any] | Any"
    text = TYPES[option["type"]]
    return f"{text} | {DICTS[option['name']]}" if option["name"] in DICTS else text


def members(options):
    for option in options:
        yield f"    {_options.word(option['name'])}: {type_of(option)} | None"


def stubs():
    lines = [
        "# Made by python/tests/option_stubs.py; a test compares.",
        "from collections.abc import Iterable, Mapping, Sequence",
        "from os import PathLike",
        "from typing import Any, Literal, TypedDict",
    ]
    for name, options in [
        ("ReadOptions", _options.table(writes=False)),
        ("WriteOptions", _options.table(reads=False)),
        ("ConvertOptions", _options.table()),
    ]:
        lines += ["", f"class {name}(TypedDict, total=False):", *members(options)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(stubs(), end="")
