"""What models are read from."""

import io
import os


def source(src, name=None):
    """(a path, or an object with bytes; what it is called).

    Models of onnx and programs of torch.export are known by what they can do: neither package is
    imported.
    """
    if isinstance(src, (str, os.PathLike)):
        path = os.fspath(src)
        return (path.decode() if isinstance(path, bytes) else path), ""
    if isinstance(src, (bytes, bytearray, memoryview)):
        return src, name or "model"
    if hasattr(src, "SerializeToString"):  # onnx.ModelProto
        return src.SerializeToString(), name or "model.onnx"
    if hasattr(src, "graph_signature") and hasattr(src, "graph_module"):  # ExportedProgram
        import torch

        buffer = io.BytesIO()
        torch.export.save(src, buffer)
        return buffer.getbuffer(), name or "model.pt2"
    if hasattr(src, "read"):
        data = src.read()
        if isinstance(data, str):
            data = data.encode()
        return data, name or os.path.basename(str(getattr(src, "name", "model")))
    try:
        return memoryview(src), name or "model"
    except TypeError:
        raise TypeError(
            "a model is read from a path, bytes, a file, an onnx.ModelProto or a "
            f"torch.export.ExportedProgram, not from {type(src).__name__}"
        ) from None
