"""Makes the wheel of the package that a build made; the same bytes for the same content.

    python3 python/make_wheel.py build/python OUT_FOLDER

The tags are those of the interpreter that the module was built for, cp311-cp311: pybind11 before 2.12
has no stable ABI. The platform is manylinux_2_N where the module needs no more than the C library
(at N) and zlib, else linux: then it is for machines like this one.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile

# What every system has that the tag promises (PEP 600).
ALLOWED = {"libc.so.6", "libm.so.6", "libz.so.1", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}


def needs(library):
    """(names of shared libraries, the newest version of the C library) that a file needs."""
    text = subprocess.run(["readelf", "-dVW", library], check=True, capture_output=True, text=True,
                          env=dict(os.environ, LC_ALL="C")).stdout  # fmt: skip
    libraries = set(re.findall(r"\(NEEDED\).*\[(.+)\]", text))
    versions = [tuple(map(int, v.split("."))) for v in re.findall(r"Name: GLIBC_([0-9.]+)", text)]
    return libraries, max(versions)[:2]


def tag_of(library):
    suffix = re.search(r"cpython-3(\d+)-(\w+)-linux-gnu\.so$", library)
    python = f"cp3{suffix[1]}"
    libraries, (major, minor) = needs(library)
    alone = libraries <= ALLOWED
    platform = f"manylinux_{major}_{minor}_{suffix[2]}" if alone else f"linux_{suffix[2]}"
    return f"{python}-{python}-{platform}", libraries - ALLOWED


def main(package, out):
    version = re.search(r"project\(x2ir VERSION ([0-9.]+)", read(root("CMakeLists.txt")).decode())[1]
    folder = os.path.join(package, "x2ir")
    names = sorted(n for n in os.listdir(folder) if not n.startswith("__pycache__"))
    module = next(n for n in names if n.endswith(".so"))
    tag, others = tag_of(os.path.join(folder, module))
    if others:
        print(f"*** the wheel is for this machine only; it needs: {' '.join(sorted(others))}", file=sys.stderr)
    info = f"x2ir-{version}.dist-info"
    files = {f"x2ir/{name}": read(os.path.join(folder, name)) for name in names}
    files[f"{info}/METADATA"] = f"""Metadata-Version: 2.1
Name: x2ir
Version: {version}
Summary: Converts neural networks between frameworks and ONNX
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Description-Content-Type: text/markdown

""".encode() + read(root("docs/python.md"))
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: x2ir {version}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nx2ir = x2ir.__main__:main\n"
    for name in ("LICENSE", "THIRD_PARTY_NOTICES"):
        files[f"{info}/{name}"] = read(root(name))
    record = [f"{name},sha256={digest(data)},{len(data)}" for name, data in sorted(files.items())]
    record.append(f"{info}/RECORD,,")
    files[f"{info}/RECORD"] = ("\n".join(record) + "\n").encode()

    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, f"x2ir-{version}-{tag}.whl")
    # The time in an archive: SOURCE_DATE_EPOCH, or that of the last commit.
    when = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name in sorted(files, key=lambda n: (n.startswith(info), n)):
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            wheel.writestr(entry, files[name])
    print(path)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def root(name):
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), name)


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main(*sys.argv[1:])
