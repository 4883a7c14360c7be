"""Core ML's files, written by the table of their fields (facts/coreml-proto-fields.json), with inputs and outputs."""
import json
import os
import struct

import numpy as np

import io_file

SCHEMA = json.load(open(os.path.join(os.path.dirname(__file__), "../../facts/coreml-proto-fields.json")))
PACKAGE = "CoreML.Specification."


def varint(n):
    n &= (1 << 64) - 1
    data = b""
    while n > 127:
        data += bytes([n & 127 | 128])
        n >>= 7
    return data + bytes([n])


def field(number, kind, value):
    if kind == "double":
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if kind == "float":
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if kind in ("string", "bytes") or kind not in SCALARS:
        data = value.encode() if isinstance(value, str) else value
        return varint(number << 3 | 2) + varint(len(data)) + data
    return varint(number << 3) + varint(int(value))


SCALARS = {"double", "float", "string", "bytes", "int32", "int64", "uint32", "uint64", "bool"}


def encode(message, fields):
    data = b""
    known = {f["name"]: f for f in SCHEMA["messages"][PACKAGE + message]}
    for name, value in fields.items():
        f = known[name]
        for each in value if f["label"] == "repeated" else [value]:
            kind = f["type"]
            if kind in SCHEMA["enums"]:
                data += field(f["number"], "int32", SCHEMA["enums"][kind][each])
            elif kind in SCHEMA["messages"]:
                data += field(f["number"], "message", encode(kind[len(PACKAGE):], each))
            else:
                data += field(f["number"], kind, each)
    return data


def write(folder, name, model, xs, ys):
    path = os.path.join(folder, name + ".mlmodel")
    assert not os.path.exists(path), name
    with open(path, "wb") as f:
        f.write(encode("Model", model))
    # A tensor has an axis at the least there.
    io_file.save_io(path + ".io.safetensors",
                    *([None if a is None else np.ascontiguousarray(a) for a in arrays] for arrays in (xs, ys)))
