"""Runs programs that x2ir wrote, and compares what they give with stored outputs.

    python3 run_programs.py LIST

Each line of LIST is PROGRAM.py, a tab, and IO.safetensors, which has in_0, in_1, ... and out_0,
..., or several sets of these behind a prefix ("case0.in_0"). Programs for OneFlow run with the
stand-in that PYTHONPATH says (standin/oneflow). For each program a line is printed:
its path, a tab, and nothing where all is well, "skip: ..." where this PyTorch cannot tell, or what
is wrong.
"""

import importlib.util
import json
import sys
import traceback

import torch

TYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
    "C64": "complex64",
}


class Skip(Exception):
    pass


def read_tensors(path):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__":
            if any(key.startswith("x2ir.dtype.") for key in entry):
                raise Skip("types that the file does not have")
            continue
        dtype = getattr(torch, TYPES.get(entry["dtype"], ""), None)
        if dtype is None:
            raise Skip(f"no type {entry['dtype']}")
        begin, end = entry["data_offsets"]
        if begin == end:
            tensors[name] = torch.empty(entry["shape"], dtype=dtype)
            continue
        count = (end - begin) // torch.empty((), dtype=dtype).element_size()
        flat = torch.frombuffer(data, dtype=dtype, count=count, offset=start + begin)
        tensor = flat.reshape(entry["shape"])
        # Complex numbers are pairs of real ones in the programs.
        tensors[name] = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return tensors


def read_cases(path):
    cases = {}
    for name, tensor in read_tensors(path).items():
        case, _, role = name.rpartition(".")
        cases.setdefault(case, {})[role] = tensor
    for tensors in cases.values():
        yield [
            [tensors[f"{stem}{i}"] for i in range(len(tensors)) if f"{stem}{i}" in tensors]
            for stem in ("in_", "out_")
        ]


def difference(got, want):
    if not torch.is_tensor(got):
        return f"{type(got).__name__} instead of a tensor"
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    if want.is_floating_point():
        coarse = want.dtype in (torch.float16, torch.bfloat16)
        got, want = got.double(), want.double()
        largest = want.nan_to_num(0, 1, 1).abs().max().item() if want.numel() else 0
        rtol, atol = 1e-3, 1e-4 + 1e-6 * largest
        if coarse:
            rtol, atol = 2e-2, 1e-2 * largest + 1e-3
        if torch.allclose(got, want, rtol, atol, equal_nan=True):
            return ""
        return f"differs by {(got - want).abs().nan_to_num(0).max().item():g}"
    return "" if torch.equal(got, want) else "other elements"


def load(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    sys.modules["program"] = program
    spec.loader.exec_module(program)
    return program


def run(path, io):
    program = load(path)
    model = program.Model.load() if hasattr(program.Model, "load") else program.Model().eval()
    if len(model.state_dict()) > 10**6:
        return "too many weights"
    for inputs, wanted in read_cases(io):
        if hasattr(program, "flow"):
            inputs = [program.flow.ours(x) for x in inputs]
        with torch.no_grad():
            outputs = model(*inputs)
        outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
        if len(outputs) != len(wanted):
            return f"{len(outputs)} outputs instead of {len(wanted)}"
        for i, (got, want) in enumerate(zip(outputs, wanted)):
            problem = difference(got, want)
            if problem:
                return f"output {i}: {problem}"
    return ""


def told(path, error):
    """The error in one line, with the line of the program that it comes from."""
    text = f"{type(error).__name__}: {error}".split("\n")[0][:200]
    # What this PyTorch lacks for a type on a CPU is no fault of the program.
    if "not implemented for" in text or "has no attribute 'uint" in text:
        return f"skip: {text}"
    if "has no attribute 'float8" in text:
        return f"skip: {text}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == path:
            return f"{text}, at line {frame.lineno}: {frame.line}"
    return text


def main():
    torch.manual_seed(0)
    with open(sys.argv[1]) as file:
        pairs = [line.rstrip("\n").split("\t") for line in file]
    for path, io in pairs:
        try:
            problem = run(path, io)
        except Skip as skip:
            problem = f"skip: {skip}"
        except Exception as error:
            problem = told(path, error)
        print(f"{path}\t{problem}", flush=True)
    print(f"PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
