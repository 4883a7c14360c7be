"""Runs programs that x2ir wrote, and compares what they give with stored outputs.

    python3 run_programs.py LIST

Each line of LIST is PROGRAM.py or PROGRAM.pt2, a tab, and IO.safetensors, which has in_0, in_1, ...
and out_0, ..., or several sets of these behind a prefix ("case0.in_0"); of a sequence, the elements
("in_0[0]") and what it is in the metadata. Programs for OneFlow run
with the stand-in that PYTHONPATH says (standin/oneflow). For each program a line is printed: its path, a tab, and
nothing where all is well, "skip: ..." where this PyTorch cannot tell, or what is wrong.
"""

import importlib.util
import json
import re
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
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
}
# Types that the file does not have: what its metadata say.
OTHER_TYPES = {
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2fnuz": "float8_e5m2fnuz",
}


class Skip(Exception):
    pass


def read_tensors(path):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    notes = header.pop("__metadata__", {})
    # Sequences and empty optionals.
    kinds = {"list": list, "none": lambda: None}
    tensors = {name: kinds[kind]() for name, kind in notes.items() if kind in kinds}
    by_place = lambda item: [int(n) for n in re.findall(r"\[(\d+)\]", item[0])]
    for name, entry in sorted(header.items(), key=by_place):
        stored = notes.get("x2ir.dtype." + name)
        shape = entry["shape"]
        code = TYPES.get(entry["dtype"])
        if stored:  # "float8e4m3fnuz[3,5]"
            code, _, dims = stored.partition("[")
            code, shape = OTHER_TYPES.get(code), json.loads(f"[{dims}")
        dtype = getattr(torch, code or "", None)
        if dtype is None:
            raise Skip(f"no type {stored or entry['dtype']}")
        begin, end = entry["data_offsets"]
        if begin == end:
            tensor = torch.empty(shape, dtype=dtype)
        else:
            flat = torch.frombuffer(data, dtype=torch.uint8, offset=start + begin)
            # Aligned, as some types must be.
            tensor = flat[: end - begin].clone().view(dtype).reshape(shape)
        # Complex numbers are pairs of real ones in the programs.
        tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
        if name.endswith("]"):
            tensors[name[: name.index("[")]].append(tensor)
        else:
            tensors[name] = tensor
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
    if isinstance(want, list):
        if not isinstance(got, (list, tuple)) or len(got) != len(want):
            return f"{type(got).__name__} instead of a list of {len(want)}"
        return next(filter(None, map(difference, got, want)), "")
    if want is None:
        return "" if got is None else f"{type(got).__name__} instead of None"
    if not torch.is_tensor(got):
        return f"{type(got).__name__} instead of a tensor"
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    if want.is_floating_point():
        coarse = want.dtype in (torch.float16, torch.bfloat16)
        if want.element_size() == 1:
            got, want = got.to(torch.float32), want.to(torch.float32)
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


def model_of(path):
    """A model, and its program where it is Python source."""
    if path.endswith(".pt2"):
        return torch.export.load(path).module(), None
    program = load(path)
    return program.Model.load(), program


def ours(flow, x):
    if isinstance(x, list):
        return [flow.ours(element) for element in x]
    return flow.ours(x) if torch.is_tensor(x) else x


def run(path, io):
    model, program = model_of(path)
    for inputs, wanted in read_cases(io):
        if hasattr(program, "flow"):
            inputs = [ours(program.flow, x) for x in inputs]
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
    lacking = ("not implemented for", "has no attribute 'uint", "not supported for")
    if any(words in text for words in lacking):
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
        for line in file:  # as they come: it may be a pipe
            path, io = line.rstrip("\n").split("\t")
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
