"""Arrays: NumPy's where it is installed, else :class:`Tensor`. NumPy is imported when it is needed."""

import struct
import sys

from ._x2ir import Tensor

_numpy = None
_ml_dtypes = None

# Element types that NumPy has not, and what holds their bits there.
_BITS = {
    "bfloat16": "uint16",
    "float8e4m3fn": "uint8",
    "float8e4m3fnuz": "uint8",
    "float8e5m2": "uint8",
    "float8e5m2fnuz": "uint8",
    "float8e8m0": "uint8",
}
# How ml_dtypes calls them.
_ML_NAMES = {
    "bfloat16": "bfloat16",
    "float8_e4m3fn": "float8e4m3fn",
    "float8_e4m3fnuz": "float8e4m3fnuz",
    "float8_e5m2": "float8e5m2",
    "float8_e5m2fnuz": "float8e5m2fnuz",
    "float8_e8m0fnu": "float8e8m0",
    "int4": "int4",
    "uint4": "uint4",
    "int2": "int2",
    "uint2": "uint2",
    "float4_e2m1fn": "float4e2m1",
}
_PACKED = {"int4": 4, "uint4": 4, "float4e2m1": 4, "int2": 2, "uint2": 2}


def numpy():
    """The module, or None where it is not installed."""
    global _numpy
    if _numpy is None:
        try:
            import numpy as module

            _numpy = module
        except ImportError:
            _numpy = False
    return _numpy or None


def ml_dtypes():
    global _ml_dtypes
    if _ml_dtypes is None:
        try:
            import ml_dtypes as module

            _ml_dtypes = module
        except ImportError:
            _ml_dtypes = False
    return _ml_dtypes or None


def dtype_name(dtype):
    """How x2ir calls an element type: a name, or a dtype of NumPy, ml_dtypes or PyTorch."""
    if isinstance(dtype, str):
        return _ML_NAMES.get(dtype, dtype)
    text = str(dtype)
    if text.startswith("torch."):
        text = text[len("torch.") :]
    elif isinstance(dtype, type):
        np = numpy()
        text = np.dtype(dtype).name if np else dtype.__name__
    return _ML_NAMES.get(text, text)


def _pack(array, bits):
    """One element a byte to several: the low bits first."""
    np = numpy()
    flat = array.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    per_byte = 8 // bits
    flat = np.concatenate([flat, np.zeros(-len(flat) % per_byte, np.uint8)])
    packed = np.zeros(len(flat) // per_byte, np.uint8)
    for i in range(per_byte):
        packed |= flat[i::per_byte] << (i * bits)
    return packed


def _from_numpy(array, wanted):
    np = numpy()
    name = dtype_name(array.dtype.name)
    if array.dtype.kind in "OUS":
        texts = [t.decode() if isinstance(t, bytes) else str(t) for t in array.reshape(-1).tolist()]
        return Tensor.from_strings(texts, list(array.shape))
    shape = array.shape
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    if name in _PACKED:
        return Tensor(_pack(array, _PACKED[name]), name, shape)
    if name in _BITS:
        return Tensor(array.view(_BITS[name]), name, shape)
    # Bits of a type that NumPy has not.
    if wanted in _BITS and name == _BITS[wanted]:
        name = wanted
    return Tensor(array, name, shape)


_FORMATS = {
    "b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32",
    "l": "int64", "L": "uint64", "q": "int64", "Q": "uint64", "e": "float16", "f": "float32",
    "d": "float64", "?": "bool",
}  # fmt: skip


_LETTERS = {name: letter for letter, name in _FORMATS.items() if letter not in "lL"}


def _from_list(value, wanted):
    """A number, a string, or nested lists of them, without NumPy."""
    shape, flat = [], [value]
    while flat and isinstance(flat[0], (list, tuple)):
        shape.append(len(flat[0]))
        if any(not isinstance(item, (list, tuple)) or len(item) != shape[-1] for item in flat):
            raise ValueError("the lists are not of one length")
        flat = [item for items in flat for item in items]
    if flat and all(isinstance(item, str) for item in flat):
        return Tensor.from_strings(flat, shape)
    if not all(isinstance(item, (bool, int, float)) for item in flat):
        raise TypeError(f"without NumPy, {type(value).__name__} is no array")
    kinds = {type(item) for item in flat}
    usual = "bool" if kinds == {bool} else "float64" if float in kinds or not flat else "int64"
    name = wanted or usual
    if name not in _LETTERS:
        raise TypeError(f"without NumPy, numbers cannot be of type {name}")
    whole = "int" in name
    items = [int(item) if whole else item for item in flat]
    return Tensor(struct.pack(f"<{len(items)}{_LETTERS[name]}", *items), name, shape)


def to_tensor(value, wanted=None):
    """A :class:`Tensor` of an array, a scalar or a list, over the same memory where that can be.

    value: a Tensor, a NumPy array, anything with ``__dlpack__`` (in the memory of the CPU) or the
      buffer protocol; also a number, a string, or nested lists of them.
    wanted: the element type that numbers and lists get.
    """
    if isinstance(value, Tensor):
        return value
    np = sys.modules.get("numpy")
    if np is not None and isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(np.asarray(value), wanted)
    if hasattr(value, "__dlpack__"):
        if hasattr(value, "detach"):  # a tensor of PyTorch that may have a gradient
            value = value.detach()
        if str(getattr(value, "dtype", "")) == "torch.bool":  # which some versions do not hand over
            return _from_numpy(value.numpy(), wanted)
        return Tensor.from_dlpack(value)
    try:
        view = memoryview(value)
    except TypeError:
        view = None
    if view is not None and view.format in _FORMATS:
        return Tensor(view, _FORMATS[view.format], view.shape)
    np = numpy()
    if np is None:
        return _from_list(value, wanted)
    if wanted is None or wanted == "string":
        return _from_numpy(np.asarray(value), None)
    if wanted in _BITS or wanted in _PACKED:
        ml = ml_dtypes()
        if ml is None:
            raise TypeError(f"numbers of type {wanted} need ml_dtypes; an array of its bits does not")
        name = next(theirs for theirs, ours in _ML_NAMES.items() if ours == wanted)
        return _from_numpy(np.asarray(value).astype(getattr(ml, name)), None)
    return _from_numpy(np.asarray(value, dtype=wanted), None)


def as_float32(tensor):
    """A tensor of float64 in float32; what is too large is infinite."""
    np = numpy()
    if np is not None:
        with np.errstate(over="ignore"):
            return _from_numpy(np.asarray(tensor).astype(np.float32), None)
    import array

    floats = array.array("f", memoryview(tensor).cast("B").cast("d"))
    return Tensor(floats, "float32", tensor.shape)


def to_array(tensor):
    """An array of NumPy over the tensor's memory; the tensor itself where there is no NumPy.

    Element types that NumPy has not are those of ml_dtypes where that is installed, else unsigned
    integers of the same width; of those under 8 bits, the packed bytes. Strings are an array of
    objects.
    """
    np = numpy()
    if np is None:
        return tensor
    name = tensor.dtype
    if name == "string":
        array = np.empty(len(tensor.strings()), object)
        array[:] = tensor.strings()
        return array.reshape(tensor.shape)
    array = np.asarray(tensor)
    if name not in _BITS and name not in _PACKED:
        return array
    ml = ml_dtypes()
    theirs = next((t for t, ours in _ML_NAMES.items() if ours == name), None)
    kind = getattr(ml, theirs, None) if ml and theirs else None
    if kind is None:
        return array
    if name in _BITS:
        return array.view(kind)
    bits = _PACKED[name]
    count = int(np.prod(tensor.shape, dtype=np.int64))
    flat = np.stack([(array >> (i * bits)) & ((1 << bits) - 1) for i in range(8 // bits)], 1)
    flat = flat.reshape(-1)[:count].astype(np.uint8)
    if name in ("int4", "int2"):
        return flat.astype(np.int8).__lshift__(8 - bits).__rshift__(8 - bits).astype(kind).reshape(tensor.shape)
    if name in ("uint4", "uint2"):
        return flat.astype(kind).reshape(tensor.shape)
    return flat.view(kind).reshape(tensor.shape)


def to_result(value):
    """A result of a model: an array, a list, a dict, or None."""
    if isinstance(value, Tensor):
        return to_array(value)
    if isinstance(value, list):
        return [to_result(item) for item in value]
    if isinstance(value, dict):
        return {key: to_result(item) for key, item in value.items()}
    return value


def as_dict(pairs):
    """A map of a model: keys are scalars."""

    def key(tensor):
        return tensor.strings()[0] if tensor.dtype == "string" else memoryview(tensor).tolist()

    return {key(k): v for k, v in pairs}


Tensor.numpy = to_array
Tensor.__array__ = None  # the buffer protocol serves NumPy
del Tensor.__array__
