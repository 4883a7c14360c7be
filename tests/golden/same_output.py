#!/usr/bin/env python3
"""Says whether two builds of x2ir write the same bytes.

    same_output.py OLD NEW [--models FOLDER]... [--to FORMAT]... [--part I/N] [--keep FOLDER]

OLD and NEW are two x2ir programs. Every model under the folders (by default tests/data, the models
that the tests' setup made, and ../shared where it is there) is converted by both to every format
that is written (or to those named); files and error messages are compared byte by byte. Archives
(.tar.xz) under the folders are unpacked into a temporary folder first.

Prints a line for each difference and a summary. Exit code: 0 no difference, 1 some, 2 wrong usage.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

ENDINGS = (
    ".onnx", ".onnxtxt", ".onnxjson", ".pt2", ".tflite", ".pb", ".pbtxt", ".caffemodel", ".keras",
    ".h5", ".hdf5", ".pdmodel", ".weights", ".param", ".params", ".mlmodel", ".mlir", ".job",
    ".nnvm.json", ".pt", ".pth", ".ptl",
)
FOLDERS = (".mlpackage",)
WHOLE_FOLDERS = ("saved_model.pb", "model.mlir", "model.ir.mlir")  # a folder with one is a model
NAMES = ("model.json", "__model__")


def models_under(folder):
    for path, folders, files in os.walk(folder, followlinks=True):
        folders.sort()
        for name in [f for f in folders if f.endswith(FOLDERS)]:
            folders.remove(name)
            yield os.path.join(path, name)
        if any(name in files for name in WHOLE_FOLDERS):
            folders.clear()
            yield path
            continue
        for name in sorted(files):
            if name.endswith(ENDINGS) or name in NAMES:
                yield os.path.join(path, name)


def unpack(folder, into):
    for path, _, files in os.walk(folder):
        for name in sorted(files):
            if name.endswith(".tar.xz"):
                target = os.path.join(into, hashlib.sha256(path.encode()).hexdigest()[:8],
                                      name[: -len(".tar.xz")])
                os.makedirs(target)
                subprocess.run(["tar", "-xf", os.path.join(path, name), "-C", target], check=True)
                yield target


def formats_written(program):
    listing = subprocess.run([program, "formats", "--json"], check=True, capture_output=True,
                             text=True).stdout
    return {e["name"]: e["extensions"][0] for e in json.loads(listing) if e["writes"]}


SAID = ("exit_code", "error", "failures", "warnings", "notes")


def convert(program, models, target, extension, folder):
    """Converts all; gives what is said of each."""
    os.makedirs(folder)
    listing = os.path.join(folder, "list")
    out = os.path.join(folder, "out")
    with open(listing, "w") as lines:
        for i, model in enumerate(models):
            lines.write(f"{model}\t{i}/model{extension}\n")
    subprocess.run([program, "convert", "--batch", listing, "--to", target, "--isolate",
                    "--timeout", "120", "-o", out],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    said = {}
    with open(os.path.join(out, "batch.jsonl")) as lines:
        for line in lines:
            entry = json.loads(line.replace(folder, ""))
            said[entry["input"]] = {key: entry.get(key) for key in SAID}
    return said


def digest(folder):
    all_files = {}
    for path, _, files in os.walk(folder):
        for name in files:
            full = os.path.join(path, name)
            with open(full, "rb") as content:
                all_files[os.path.relpath(full, folder)] = hashlib.file_digest(
                    content, "sha256").hexdigest()
    return all_files


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--models", action="append")
    parser.add_argument("--to", action="append")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--keep")
    args = parser.parse_args()
    part, parts = (int(n) for n in args.part.split("/"))
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folders = args.models or [f for f in (
        os.path.join(here, "tests/data"), os.path.join(here, "build/archives"),
        os.path.join(here, "build/networks"), os.path.join(here, "../shared")) if os.path.isdir(f)]
    with tempfile.TemporaryDirectory() as work:
        for folder in list(folders):
            folders += unpack(folder, os.path.join(work, "unpacked"))
        models = sorted({m for f in folders for m in models_under(f)})[part::parts]
        different = compared = written = 0
        extensions = formats_written(args.new)
        for target in args.to or extensions:
            sides = []
            for side, program in (("old", args.old), ("new", args.new)):
                folder = os.path.join(work, side)
                said = convert(program, models, target, extensions[target], folder)
                sides.append((folder, said))
            (old, old_said), (new, new_said) = sides
            for i, model in enumerate(models):
                compared += 1
                before = digest(os.path.join(old, "out", str(i)))
                after = digest(os.path.join(new, "out", str(i)))
                written += bool(after)
                if before == after and old_said.get(model) == new_said.get(model):
                    continue
                different += 1
                print(f"{target}\t{model}", flush=True)
                if before == after:
                    print(f"    {old_said.get(model)}\n    {new_said.get(model)}")
                elif args.keep:
                    for side, folder in (("old", old), ("new", new)):
                        shutil.copytree(os.path.join(folder, "out", str(i)),
                                        os.path.join(args.keep, target, str(i), side),
                                        dirs_exist_ok=True)
            shutil.rmtree(old)
            shutil.rmtree(new)
            print(f"{target}: {len(models)} models", flush=True)
    print(f"{compared} conversions, {written} that write files, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
