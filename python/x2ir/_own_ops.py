"""Ops and dialects of one's own."""

import sys

from . import _x2ir
from ._arrays import to_tensor
from ._graph import values_of
from ._x2ir import Rewrite

_LAST = 2**31 - 1


def _place():
    frame = sys._getframe(2)
    return frame.f_code.co_filename, frame.f_lineno


def _op(self, op, *operands, outputs=1, dialect="", **attributes):
    """A new node of the IR, or of ``dialect``; its value, or a tuple of them.

    operands: values, or None; arrays and numbers become constants.
    """
    operands = [self.constant(o) if _is_array(o) else o for o in operands]
    return self._make(dialect, op, operands, outputs, values_of(attributes))


def _is_array(operand):
    return operand is not None and not isinstance(operand, _x2ir.Value)


def _constant(self, value, dtype=None, name=""):
    """A constant; a number gets the element type of the node's first operand."""
    if dtype is None and isinstance(value, (int, float)):
        first = self.inputs[0] if self.inputs else None
        dtype = (first.dtype if first is not None else None) or "float32"
    return self._constant(to_tensor(value, dtype), name)


Rewrite.op = _op
Rewrite.constant = _constant
Rewrite.inputs = property(lambda self: self.node.inputs, doc="The node's operands.")
Rewrite.attributes = property(lambda self: self.node.attributes, doc="The node's attributes.")


def handler(op, dialect="onnx", since=1, until=None):
    """Says what an op is when it is read: a decorator of a function that makes nodes of the IR.

    op: with its domain, "com.acme::Foo". since, until: opsets of that domain.

    The function gets a :class:`Rewrite` ``r``: ``r.inputs`` and ``r.attributes`` of the node that is
    read, ``r.op(...)`` and ``r.constant(...)`` to make others. It returns the value that takes the
    output's place, or one for each output. It raises :class:`Unsupported` for what it does not do.

    >>> @x2ir.handler("com.acme::Double")
    ... def double(r):
    ...     return r.op("add", r.inputs[0], r.inputs[0])
    """

    def register(function):
        last = _LAST if until is None else until
        _x2ir.register_form(dialect, "identity", op, since, last, [], function, None, *_place())
        return function

    return register


class Dialect:
    """A framework's own operator set: what its ops are in the IR, a row each.

    >>> acme = x2ir.Dialect("acme")
    >>> acme.op("relu", "Rectify")
    >>> acme.op("leaky_relu", "Leaky", acme.renamed("alpha", "slope"))
    >>> acme.validate()
    []
    """

    same = staticmethod(_x2ir.same)
    renamed = staticmethod(_x2ir.renamed)
    dropped = staticmethod(_x2ir.dropped)
    fixed = staticmethod(_x2ir.fixed)
    foreign_fixed = staticmethod(_x2ir.foreign_fixed)
    default = staticmethod(_x2ir.default)

    def __init__(self, name):
        self.name = name
        _x2ir.register_dialect(name)

    @staticmethod
    def operand_as_attr(ir, foreign=""):
        """The operand ``ir`` of the IR's op is an attribute here."""
        return _x2ir.operand_as_attr(ir, foreign)

    def op(self, ir_op, name, *lenses, since=1, until=None):
        """The IR's op and this dialect's are one and the same, both ways, but for the lenses."""
        last = _LAST if until is None else until
        file, line = _place()
        _x2ir.register_form(self.name, ir_op, name, since, last, list(lenses), None, None, file, line)

    def reads(self, name, since=1, until=None):
        """A decorator: what the op is when it is read. As :func:`handler`."""
        return handler(name, self.name, since, until)

    def writes(self, ir_op, name, since=1, until=None):
        """A decorator: how an op of the IR is written with ``name`` and others.

        The function makes nodes by ``r.op("Name", ..., dialect="acme")``.
        """

        def register(function):
            last = _LAST if until is None else until
            _x2ir.register_form(self.name, ir_op, name, since, last, [], None, function, *_place())
            return function

        return register

    def format(self, extensions, read=None, write=None, doc="", mark=None):
        """Files of this dialect, read and written like all others.

        read: of bytes, gives a model (:func:`x2ir.new` of this dialect). write: of a model, gives
        bytes. mark: the bytes that such a file begins with.
        """
        _x2ir.register_format(self.name, self.name, list(extensions), doc, mark, read, write)

    def validate(self):
        """All that is wrong with the rows; empty when nothing is."""
        return _x2ir.validate_dialect(self.name)
