"""What models are read from."""

import io
import os


def source(src, name=None):
    """(a path, or an object with bytes; what it is called).

    Models of onnx, programs of torch.export and graphs of OneFlow are known by what they can do: no
    package of these is imported.
    """
    if isinstance(src, (str, os.PathLike)):
        path = os.fspath(src)
        return (path.decode() if isinstance(path, bytes) else path), ""
    if isinstance(src, (bytes, bytearray, memoryview)):
        return src, name or "model"
    if hasattr(src, "_full_job_proto"):  # oneflow.nn.Graph
        job = src._full_job_proto
        if job is None:
            raise ValueError("the oneflow.nn.Graph has no job yet: call it once with its inputs")
        return job.SerializeToString(), name or "graph.job"
    if hasattr(src, "SerializeToString"):  # onnx.ModelProto, OneFlow's job
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
            "a model is read from a path, bytes, a file, an onnx.ModelProto, a "
            f"torch.export.ExportedProgram or a oneflow.nn.Graph, not from {type(src).__name__}"
        ) from None


def resolver(src, resolve):
    """What gives the files that a model names: `resolve`, or what the object itself knows.

    A graph of OneFlow has its variables, which in files are folders with `out`, the bytes.
    """
    if resolve is not None or not hasattr(src, "_full_job_proto"):
        return resolve
    variables = {}

    def collect(path, state):
        for name, value in state.items():
            if hasattr(value, "items"):
                collect(f"{path}{name}.", value)
            else:
                variables[path + name] = value

    collect("", src.state_dict())

    def variable(file):
        name, _, part = file.rpartition("/")
        if part != "out" or name not in variables:
            return None
        return variables[name].numpy().tobytes()

    return variable
