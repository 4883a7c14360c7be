"""The program as a command of the package, and its verbs as functions."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import models
import x2ir
from api_test import InFolder


ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "x2ir", *arguments], capture_output=True, text=True)


class Command(InFolder):
    def test_has_all_verbs(self):
        text = command("--help").stdout
        for verb in ("convert", "show", "info", "draw", "view", "run", "verify", "compare", "diff", "ops", "formats"):
            self.assertRegex(text, rf"(?m)^  {verb} ")
            self.assertEqual(command(verb, "--help").returncode, 0, verb)
        self.assertEqual(command("--version").stdout, f"x2ir {x2ir.__version__}\n")

    def test_is_the_program(self):
        done = command("convert", "model.onnx", "-o", "out.onnx", "--opset", "17", "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(pathlib.Path("out.onnx").read_bytes(), x2ir.convert("model.onnx", opset=17))
        self.assertIn("matmul(x, w)", command("show", "out.onnx").stdout)

    def test_the_wheel_installs_a_command(self):
        """The package where it is installed by pip, or what it would install."""
        beside = os.path.join(os.path.dirname(sys.executable), "x2ir")
        if "wheel-venv" in sys.executable:
            done = subprocess.run([beside, "--version"], capture_output=True, text=True)
            self.assertEqual(done.stdout, f"x2ir {x2ir.__version__}\n", done.stderr)
            self.assertEqual(subprocess.run([beside, "info", "none.onnx"], capture_output=True).returncode, 3)
        with open(os.path.join(ROOT, "python", "make_wheel.py")) as file:
            self.assertIn("x2ir = x2ir.__main__:main", file.read())

    def test_exit_codes(self):
        for arguments, code in [
            (["convert"], 2), (["nothing"], 2), (["info", "nowhere.onnx"], 3),
            (["convert", "model.onnx", "-o", "nowhere/a.onnx", "--opset", "90"], 2),
            (["diff", "model.onnx", "model.onnx"], 0),
        ]:  # fmt: skip
            self.assertEqual(command(*arguments).returncode, code, arguments)

    def test_ctrl_c_ends_it(self):
        script = """
import os, signal, threading, sys
from x2ir.__main__ import main
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
sys.argv = ["x2ir", "view", "model.onnx", "--serve"]
main()
"""
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, -2, done.stderr)  # SIGINT, as a shell expects


class Verbs(InFolder):
    def setUp(self):
        super().setUp()
        other = models.WEIGHTS[:-1] + [-2.5]
        data = models.small().replace(models.tensor("w", [4, 2], models.WEIGHTS),
                                      models.tensor("w", [4, 2], other))  # fmt: skip
        pathlib.Path("other.onnx").write_bytes(data)

    def test_compare(self):
        same = x2ir.compare("model.onnx", x2ir.load("model.onnx"))
        self.assertTrue(same["verification"]["agrees"])
        x = x2ir.tensor([[1.0, 2, 3, 4]], "float32")
        found = x2ir.compare(x2ir.load("model.onnx"), "other.onnx", {"x": x})
        self.assertFalse(found["verification"]["agrees"])
        self.assertEqual(found["first"]["op"], "matmul")
        self.assertIn("DIFFERS", str(found))
        x2ir.convert("model.onnx", "again.onnx", opset=12)
        self.assertTrue(x2ir.compare("model.onnx", "again.onnx", random=2, seed=3)["verification"]["agrees"])
        seen = []
        x2ir.compare("model.onnx", "other.onnx", progress=lambda done, total: seen.append(done))
        self.assertTrue(seen)

    def test_diff(self):
        self.assertFalse(x2ir.diff("model.onnx", "model.onnx")["differs"])
        found = x2ir.diff("model.onnx", "other.onnx")
        self.assertTrue(found["differs"])
        self.assertEqual([node["op"] for node in found["nodes"]], ["matmul"])
        self.assertIn("1 changed", str(found))
        self.assertFalse(x2ir.diff("model.onnx", "model.onnx", raw=True)["differs"])
        self.assertFalse(x2ir.diff("model.onnx", x2ir.convert("model.onnx", opset=9), optimize=True)["differs"])

    def test_cost(self):
        self.assertEqual(x2ir.cost("model.onnx")["total"]["multiply_adds"], 8)
        self.assertEqual(x2ir.cost("model.onnx", shape={"x": (3, 4)})["total"]["multiply_adds"], 24)
        self.assertEqual(x2ir.cost(x2ir.load("model.onnx"))["total"]["parameters"], 8)
        open_ = x2ir.cost("model.onnx", dynamic={"x": {0: "n"}})
        self.assertIn("option 'shape' NAME:1,3,... gives them", str(open_))

    def test_weights(self):
        (weight,) = x2ir.weights("model.onnx", bins=4)
        self.assertEqual((weight["name"], weight["elements"], weight["zeros"]), ("w", 8, 0))
        self.assertEqual(sum(weight["histogram"]), 8)
        self.assertEqual(len(x2ir.weights(x2ir.load("model.onnx"))), 1)

    def test_view(self):
        page = x2ir.view("model.onnx")
        self.assertIn("matmul", page)
        x2ir.view("model.onnx", "other.onnx", "both.html", random=1)
        self.assertIn("other.onnx", pathlib.Path("both.html").read_text())
        self.assertIn("MatMul", x2ir.view("model.onnx", raw=True))
        with self.assertRaisesRegex(TypeError, "two models"):
            x2ir.view("model.onnx", random=1)

    def test_say_what_the_program_says(self):
        for call, arguments in [
            (lambda: x2ir.compare("model.onnx", "other.onnx"), ["compare", "model.onnx", "other.onnx"]),
            (lambda: x2ir.diff("model.onnx", "other.onnx"), ["diff", "model.onnx", "other.onnx"]),
        ]:
            self.assertEqual(call(), json.loads(command(*arguments, "--json").stdout))
            self.assertEqual(str(call()), command(*arguments).stdout)
        for call, arguments in [
            (lambda: x2ir.cost("model.onnx"), "--cost"), (lambda: x2ir.weights("model.onnx"), "--weights"),
        ]:  # fmt: skip
            said = json.loads(command("info", "model.onnx", arguments, "--json").stdout)
            self.assertEqual(call(), said[arguments[2:]])


if __name__ == "__main__":
    unittest.main()
