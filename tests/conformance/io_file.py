"""Inputs and outputs of a case as a file of safetensors: in_0, in_1, ..., out_0, out_1, ..."""
import json
import struct

import numpy as np

NAMES = {np.dtype("float32"): "F32", np.dtype("float16"): "F16", np.dtype("int64"): "I64", np.dtype("int32"): "I32",
         np.dtype("bool"): "BOOL"}


def save_io(path, inputs, outputs):
    """None is a tensor that is left out."""
    header, data = {}, b""
    for prefix, arrays in (("in", inputs), ("out", outputs)):
        for i, a in enumerate(arrays):
            if a is None:
                continue
            a = np.asarray(a, order="C")
            header["%s_%d" % (prefix, i)] = {"dtype": NAMES[a.dtype], "shape": list(a.shape),
                                             "data_offsets": [len(data), len(data) + a.nbytes]}
            data += a.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
