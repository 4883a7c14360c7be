"""A stand-in for OneFlow, which runs what x2ir writes for it: PyTorch computes.

It has the names that facts/oneflow-names.txt has, and no others, each with the arguments that
stand there. Where OneFlow computes something else under PyTorch's name, so does this.
"""

import functools
import os
import sys
import types
from pathlib import Path

import torch

FACTS = Path(__file__).parents[4] / "facts" / "oneflow-names.txt"

# Arguments that PyTorch calls otherwise.
RENAMED = {
    "flow.sum": {"x": "input"},
    "flow.prod": {"x": "input"},
    "flow.mean": {"x": "input"},
    "flow.unique": {},
}
# What PyTorch has elsewhere, or not at all.
ELSEWHERE = {
    "flow.det": torch.det,
    "flow._C.lstm": torch.lstm,
    "flow._C.gru": torch.gru,
    "flow._C.rnn_tanh": torch.rnn_tanh,
    "flow._C.rnn_relu": torch.rnn_relu,
    "flow._C.pixel_shuffle": lambda input, h, w: torch.nn.functional.pixel_shuffle(input, h),
}


def read_names():
    names = {}
    for line in FACTS.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, bracket, arguments = line.partition("(")
        names[name] = arguments[:-1].split(", ") if bracket else None
    return names


NAMES = read_names()
METHODS = {name[12:]: args for name, args in NAMES.items() if name.startswith("flow.Tensor.")}


def check(name, arguments, args, kwargs, method=False):
    """A call has no more arguments than OneFlow's function, and none of another name."""
    if arguments is None:
        return
    by_place, by_name, any_number = 0, set(), False
    keyword_only = False
    for argument in arguments:
        if argument == "*":
            keyword_only = True
        elif argument.startswith("*"):
            any_number = True
            keyword_only = True
        elif argument:
            by_name.add(argument)
            by_place += not keyword_only
    if not any_number and len(args) > by_place:
        raise TypeError(f"OneFlow's {name} takes {by_place} arguments by place")
    for given in kwargs:
        if given not in by_name:
            raise TypeError(f"OneFlow's {name} has no argument '{given}'")


def from_program(depth):
    """Whether a program that x2ir wrote asks, and not PyTorch itself."""
    return "Model" in sys._getframe(depth + 1).f_globals


class Tensor(torch.Tensor):
    """What OneFlow's tensors can do."""

    def __getattribute__(self, name):
        if name.startswith("_") or not from_program(1):
            return super().__getattribute__(name)
        if name not in METHODS:
            raise AttributeError(f"OneFlow's tensors have no '{name}'")
        value = super().__getattribute__(name)
        if not callable(value):
            return value
        return checked(f"flow.Tensor.{name}", value, METHODS[name])

    def __mod__(self, other):
        return torch.fmod(self, other)

    def __rmod__(self, other):
        return torch.fmod(torch.full_like(self, other), self)

    def __floordiv__(self, other):
        mode = "floor" if self.is_floating_point() else "trunc"
        return torch.div(self, other, rounding_mode=mode)

    def __and__(self, other):
        return torch.logical_and(self, other)

    def __or__(self, other):
        return torch.logical_or(self, other)

    def __xor__(self, other):
        return torch.logical_xor(self, other)

    def __lshift__(self, other):
        raise TypeError("OneFlow's tensors are not shifted")

    __rshift__ = __rlshift__ = __rrshift__ = __pos__ = __lshift__


def ours(value):
    """Results as tensors of this module."""
    if isinstance(value, torch.nn.Parameter):
        return value
    if isinstance(value, torch.Tensor):
        return value if isinstance(value, Tensor) else value.as_subclass(Tensor)
    if type(value) in (tuple, list):
        return type(value)(ours(item) for item in value)
    return value


def checked(name, function, arguments, renamed={}):
    @functools.wraps(function)
    def call(*args, **kwargs):
        check(name, arguments, args, kwargs)
        return ours(function(*args, **{renamed.get(key, key): kwargs[key] for key in kwargs}))

    return call


def sort(input, dim=-1, descending=False):
    values, places = torch.sort(input, dim=dim, descending=descending, stable=True)
    return values, places.to(torch.int32)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dtype=torch.int32):
    first, *rest = torch.unique(input, True, return_inverse, return_counts)
    return first, *(places.to(dtype) for places in rest)


def nonzero(input, as_tuple=False):
    return torch.nonzero(input).to(torch.int32)


def prod(input, dim=None, keepdim=False, dtype=None):
    return torch.prod(input, dim, keepdim, dtype=dtype)


def from_numpy(array):
    return torch.from_numpy(array)


def max_pool(size):
    function = getattr(torch.nn.functional, f"max_pool{size}d")

    def pool(x, *args, **kwargs):
        if len(args) > 4:
            raise TypeError("which place 'return_indices' has will change")
        return function(x, *args, **kwargs)

    return pool


ELSEWHERE |= {
    "flow.sort": sort,
    "flow.unique": unique,
    "flow.nonzero": nonzero,
    "flow.prod": prod,
    "flow.nn.functional.max_pool1d": max_pool(1),
    "flow.nn.functional.max_pool2d": max_pool(2),
    "flow.nn.functional.max_pool3d": max_pool(3),
}


def find(name):
    """What PyTorch has under a name; None where it has nothing."""
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    found = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def fill(module, prefix):
    for name, arguments in NAMES.items():
        head, _, leaf = name.rpartition(".")
        if head != prefix or leaf in ("Tensor", "nn", "linalg", "special", "functional", "_C"):
            continue
        found = find(name)
        if isinstance(found, (types.FunctionType, types.BuiltinFunctionType)):
            found = checked(name, found, arguments, RENAMED.get(name, {}))
        if found is not None and not isinstance(found, types.ModuleType):
            setattr(module, leaf, found)


def load_state_dict(self, state_dict, strict=True):
    """OneFlow copies the weights; a name that the model does not have is an error if `strict`."""
    return torch.nn.Module.load_state_dict(self, state_dict, strict=strict)


this = sys.modules[__name__]
fill(this, "flow")
this.Tensor = Tensor
for path in ("nn", "nn.functional", "linalg", "special", "_C"):
    module = types.ModuleType(f"oneflow.{path}")
    fill(module, f"flow.{path}")
    sys.modules[module.__name__] = module
    around, _, leaf = module.__name__.rpartition(".")
    setattr(sys.modules[around], leaf, module)
