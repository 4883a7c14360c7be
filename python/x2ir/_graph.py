"""Graphs: what nodes, values and graphs do beyond the extension module."""

from collections.abc import MutableMapping

from ._arrays import to_tensor
from ._x2ir import Graph, Node, Tensor, Value


class Attributes(MutableMapping):
    """A node's attributes by name: int, float, str, Tensor, Graph, or a list of one kind."""

    __slots__ = ("_node",)

    def __init__(self, node):
        self._node = node

    def __getitem__(self, name):
        return self._node._attribute(name)

    def __setitem__(self, name, value):
        self._node._set_attribute(name, _value(value))

    def __delitem__(self, name):
        self._node._erase_attribute(name)

    def __iter__(self):
        return iter(self._node._attribute_names())

    def __len__(self):
        return len(self._node._attribute_names())

    def __repr__(self):
        return repr(dict(self))


def _value(value):
    """An attribute's value: arrays become tensors."""
    if isinstance(value, (int, float, str, bytes, list, tuple, Tensor, Graph)):
        return value
    return to_tensor(value)


def values_of(attributes):
    return {name: _value(value) for name, value in (attributes or {}).items()}


def _names(outputs):
    return [""] * outputs if isinstance(outputs, int) else list(outputs)


def _insert(self, before, op, inputs=(), attributes=None, outputs=1, *, dialect="", name=""):
    """A new node before another one (None: at the end).

    op: of the IR, or of ``dialect``. Types of an IR op's outputs are inferred at once.
    inputs: values, or None for one that is left out.
    outputs: how many, or their names (made unique).

    Raises ValueError where the op does not exist or does not take these operands.
    """
    return self._insert(op, inputs, values_of(attributes), _names(outputs), before, dialect, name)


def _append(self, op, inputs=(), attributes=None, outputs=1, *, dialect="", name=""):
    """A new node at the end; as :meth:`insert`."""
    return self.insert(None, op, inputs, attributes, outputs, dialect=dialect, name=name)


def _add_initializer(self, name, value, dtype=None):
    """A constant, over the array's own memory; the name is made unique."""
    return self._add_initializer(name, to_tensor(value, dtype))


def _replace_initializer(self, value, array):
    """Gives a constant another tensor."""
    self._replace_initializer(value, to_tensor(array, value.dtype))


Node.attributes = property(Attributes, doc=Attributes.__doc__)
Node.output = property(lambda self: self.outputs[0], doc="The first output.")
Graph.__iter__ = lambda self: iter(self.nodes)
for _name, _function in {
    "insert": _insert,
    "append": _append,
    "add_initializer": _add_initializer,
    "replace_initializer": _replace_initializer,
}.items():
    _function.__name__ = _name
    _function.__qualname__ = f"Graph.{_name}"
    setattr(Graph, _name, _function)
