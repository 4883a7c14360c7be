"""The package itself: stubs, symbols, what it loads."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
import unittest

import x2ir
from x2ir import _x2ir

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Stubs(unittest.TestCase):
    def test_stubs_say_what_there_is(self):
        with open(os.path.join(ROOT, "python", "x2ir", "__init__.pyi")) as file:
            stubs = ast.parse(file.read())
        classes = {c.name: c for c in stubs.body if isinstance(c, ast.ClassDef)}
        functions = {f.name for f in stubs.body if isinstance(f, ast.FunctionDef)}
        # Those that users only get from others.
        unnamed = {"Lens", "OutputVerdict", "Verification"}
        self.assertEqual((set(classes) | functions) - unnamed, set(x2ir.__all__))
        for name, stub in classes.items():
            members = {m.name for m in stub.body if isinstance(m, ast.FunctionDef)}
            members |= {m.target.id for m in stub.body if isinstance(m, ast.AnnAssign)}
            there = getattr(x2ir, name, None) or getattr(_x2ir, name)
            if name != "Error" and issubclass(there, Exception):
                continue
            public = {m for m in dir(there) if not m.startswith("_")} - set(dir(Exception)) - set(dir(dict))
            said = {m for m in members if not m.startswith("_")}
            self.assertEqual(said - {"name"} if name == "Dialect" else said, public, name)

    def test_everything_is_documented(self):
        for name in x2ir.__all__:
            thing = getattr(x2ir, name)
            self.assertTrue(inspect.getdoc(thing), name)


class Module(unittest.TestCase):
    @unittest.skipIf(shutil.which("nm") is None, "no nm")
    def test_shows_one_symbol(self):
        text = subprocess.run(["nm", "-D", "--defined-only", _x2ir.__file__], check=True,
                              capture_output=True, text=True).stdout  # fmt: skip
        self.assertEqual(re.findall(r" [A-Za-z] (\S+)", text), ["PyInit__x2ir"])

    def test_import_is_quick_and_takes_nothing_along(self):
        script = """
import sys, time
before = time.perf_counter()
import x2ir
print(time.perf_counter() - before, sorted({"numpy", "torch", "onnx", "ml_dtypes"} & set(sys.modules)))
"""
        runs = [subprocess.run([sys.executable, "-c", script], check=True, capture_output=True,
                               text=True).stdout.split(None, 1) for _ in range(5)]  # fmt: skip
        self.assertEqual(runs[0][1].strip(), "[]")
        # 50 ms on a machine that does nothing else.
        self.assertLess(min(float(r[0]) for r in runs), 0.5)


if __name__ == "__main__":
    unittest.main()
