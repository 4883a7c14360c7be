"""Options as keyword arguments: signatures, help(), and what they take."""

import inspect
import io
import os
import pathlib
import pydoc
import re
import subprocess
import sys
import unittest
import zipfile

import models
import x2ir
from x2ir import _options
from api_test import InFolder
from option_stubs import stubs

try:
    import numpy as np
except ImportError:
    np = None

HERE = os.path.dirname(os.path.abspath(__file__))

# What people looked for in vain.
READING = {"shape", "dynamic", "dtype", "rename", "fold_inputs", "inputs", "outputs", "extract", "weights_from", "example",
           "allow_foreign", "continue_on_error", "from_opset", "freeze_params", "allow_outside"}  # fmt: skip
WRITING = {"opset", "extra_opset", "optimize", "passes", "float16", "keep_io", "keep", "strip_names",
           "external_data", "check", "ir_version", "continue_on_error"}  # fmt: skip


class Signatures(unittest.TestCase):
    def test_every_option_is_in_the_signature(self):
        for function, of, not_of in [
            (x2ir.load, READING, {"opset", "optimize"}),
            (x2ir.convert, READING | WRITING | {"from_", "to"}, set()),
            (x2ir.Model.save, WRITING | {"to"}, {"rename", "shape"}),
            (x2ir.Model.to_onnx, WRITING, {"rename"}),
            (x2ir.cost, READING, {"opset"}),
        ]:
            names = set(inspect.signature(function).parameters)
            self.assertLessEqual(of, names, function)
            self.assertFalse(not_of & names, function)

    def test_help_says_what_each_is_for(self):
        text = pydoc.render_doc(x2ir.convert, renderer=pydoc.plaintext)
        for option in _options.table():
            self.assertIn(f"    {_options.word(option['name'])}: ", text)
            self.assertIn(option["help"].split()[0], text)
        self.assertIn("rename: dict. Another name for an input", text)
        self.assertIn("Converts a model from any format", text)
        self.assertNotIn("--", text)  # no flag of the command line

    def test_every_flag_of_the_command_line_is_one(self):
        run = subprocess.run([sys.executable, "-m", "x2ir", "convert", "--help"], check=True,
                             capture_output=True, text=True)  # fmt: skip
        flags = {flag.replace("-", "_") for flag in re.findall(r"^ +(?:-\w,)?--([a-z0-9-]+)", run.stdout, re.M)}
        # Where it reads and writes, how loud it is, many files at a time, runtimes (Model.verify), and files
        # for another program beside the output.
        program = {"output", "batch", "threads", "shard", "report", "quiet", "verbose", "help", "from", "to",
                   "isolate", "timeout", "memory", "retry_failed", "summary", "with", "genai",
                   "runtime_library"}  # fmt: skip
        self.assertGreater(len(flags - program), 40)
        self.assertEqual(flags - program - {option["name"] for option in _options.table()}, set())

    def test_stubs_are_of_the_table(self):
        path = os.path.join(HERE, "..", "x2ir", "_options.pyi")
        if os.environ.get("X2IR_UPDATE_STUBS"):
            pathlib.Path(path).write_text(stubs())
        self.assertEqual(pathlib.Path(path).read_text(), stubs(),
                         "python3 python/tests/option_stubs.py > python/x2ir/_options.pyi")


class Dicts(InFolder):
    def test_rename(self):
        graph = x2ir.load("model.onnx", rename={"x": "image", "y": "scores"}).graph
        self.assertEqual([v.name for v in graph.inputs + graph.outputs], ["image", "scores"])
        for pair in [("x", "a=b"), ("h", "\\"), ("h", "=\\=")]:
            x2ir.convert("model.onnx", "odd.json", rename=dict([pair]))
            x2ir.convert("odd.json", "back.json", rename={pair[1]: pair[0]})
            self.assertIsNotNone(x2ir.load("odd.json").graph.find(pair[1]))
            self.assertEqual(str(x2ir.load("back.json").graph), str(x2ir.load("model.onnx").graph))
        x2ir.convert("model.onnx", "out.onnx", rename={"x": "a:b", "h": "x"})
        self.assertEqual(x2ir.load("out.onnx").graph.inputs[0].name, "a:b")

    def test_an_ir_file_takes_what_others_take(self):
        x2ir.convert("model.onnx", "model.json")
        x2ir.convert("model.json", "any.onnx", dynamic={"x": {0: "batch"}})
        self.assertEqual(str(x2ir.load("any.onnx").graph.outputs[0].type), "float32[batch,2]")

    def test_fold_inputs_takes_arrays(self):
        data = models.one("Add", dims=(2, 3), inputs=("x", "z"))
        tensor = x2ir.tensor([[1.0, 2, 3], [4, 5, 6]], "float32")
        kinds = [tensor, memoryview(bytes(tensor)).cast("f", [2, 3])]
        if np is not None:
            kinds.append(np.asarray(tensor))
        for array in kinds:
            model = x2ir.load(data, fold_inputs={"z": array})
            self.assertEqual([v.name for v in model.graph.inputs], ["x"])
            self.assertEqual(bytes(model.graph.initializers["z"].constant), bytes(tensor))
            # The array is the model's own: what it was given in is gone.
            model.save("out.json")
            self.assertEqual(bytes(x2ir.load("out.json").graph.initializers["z"].constant), bytes(tensor))
        self.assertEqual(x2ir.load(x2ir.convert(data, fold_inputs={"z": tensor})).graph.inputs[0].name, "x")

    def test_nothing_refers_to_a_folded_array(self):
        data = models.one("Add", dims=(2000,), inputs=("x", "z"))
        tensor = x2ir.tensor(memoryview(bytes(range(250)) * 32).cast("B").cast("f"))
        for name, option in [("r.onnx", {"external_data": "reference"}), ("r.json", {"weights": "reference"})]:
            x2ir.convert(data, name, fold_inputs={"z": tensor}, **option)
            self.assertEqual(bytes(x2ir.load(name).graph.initializers["z"].constant), bytes(tensor))

    def test_fold_inputs_takes_numbers_and_files(self):
        data = models.one("Add", dims=(1,), inputs=("x", "z"))
        x2ir._x2ir.write_npy("z.npy", x2ir.tensor([2.5], "float32"))
        for value in (2.5, "2.5", "z.npy", pathlib.Path("z.npy")):
            constant = x2ir.load(data, fold_inputs={"z": value}).graph.initializers["z"].constant
            self.assertEqual(memoryview(constant).tolist(), [2.5])

    def test_a_folded_array_that_does_not_suit(self):
        data = models.one("Add", dims=(2,), inputs=("x", "z"))
        with self.assertRaisesRegex(x2ir.Error, "input 'z' is float32"):
            x2ir.load(data, fold_inputs={"z": x2ir.tensor([1, 2, 3], "int64")})
        with self.assertRaisesRegex(x2ir.OptionError, "'w'.*x, z"):
            x2ir.load(data, fold_inputs={"w": 1})

    def test_a_dict_where_none_is_taken(self):
        with self.assertRaisesRegex(TypeError, "option 'opset' is no dict; shape,"):
            x2ir.convert("model.onnx", opset={"": 17})


class Example(InFolder):
    """Types of inputs that a file does not say: those of TorchScript."""

    CODE = """class M(Module):
  def forward(self: __torch__.M, x: Tensor, n: int=2) -> Tensor:
    return torch.mul(torch.reshape(x, [torch.size(x, 1), torch.size(x, 0)]), n)
"""

    def setUp(self):
        super().setUp()
        with zipfile.ZipFile("m.pt", "w") as file:
            file.writestr("m/data.pkl", b"\x80\x02c__torch__\nM\n)\x81}b.")
            file.writestr("m/constants.pkl", b"\x80\x02).")
            file.writestr("m/version", "3\n")
            file.writestr("m/code/__torch__.py", self.CODE)

    def test_arrays_and_files(self):
        array = x2ir.tensor([[1, 2, 3], [4, 5, 6]], "float64")
        x2ir._x2ir.write_io("io.safetensors", {"in_0": array})
        for example in (array, [array], {"x": array}, {"in_0": array}, "io.safetensors", pathlib.Path("io.safetensors")):
            graph = x2ir.load("m.pt", example=example).graph
            self.assertEqual([(i.name, str(i.type)) for i in graph.inputs], [("x", "float64[2,3]")])
            self.assertEqual(str(graph.outputs[0].type), "float64[3,2]")

    def test_shapes_do_as_well(self):
        graph = x2ir.load("m.pt", shape={"x": ("n", 3)}, dtype={"x": "float32"}).graph
        self.assertEqual(str(graph.outputs[0].type), "float32[3,n]")

    def test_a_missing_shape_is_asked_for(self):
        with self.assertRaisesRegex(x2ir.Error, "number of dims of 'x' is not known"):
            x2ir.load("m.pt")


class Int8(InFolder):
    """Calibration by files, and by arrays: cases of {name: array}, or an array where there is one input."""

    CASES = [[[1.0, 2, 3, 4]], [[-1.0, 0.5, 8, 0]]]

    def tensors(self):
        return [x2ir.tensor(case, "float32") for case in self.CASES]

    def test_files_and_arrays_are_the_same(self):
        first, second = self.tensors()
        os.mkdir("inputs")
        x2ir._x2ir.write_npy("inputs/0.npy", first)
        x2ir._x2ir.write_io("inputs/1.safetensors", {"x": second})
        made = set()
        for inputs in ["inputs", pathlib.Path("inputs"), ["inputs/0.npy", pathlib.Path("inputs/1.safetensors")],
                       [first, second], ({"x": first}, second), iter([first, {"x": second}]),
                       [[first], "inputs/1.safetensors"]]:  # fmt: skip
            made.add(x2ir.convert("model.onnx", int8=True, calibrate=inputs, per_channel=True))
        self.assertEqual(len(made), 1)
        ops = [node.op for node in x2ir.load(made.pop()).graph]
        self.assertIn("quantize_linear", ops)
        self.assertNotEqual(x2ir.convert("model.onnx", int8=True, calibrate=first, per_channel=True),
                            x2ir.convert("model.onnx", int8=True, calibrate=second, per_channel=True))

    def test_every_way_to_write(self):
        options = {"int8": True, "calibrate": self.tensors(), "method": "mse", "weight_bits": 8}
        report = x2ir.convert("model.onnx", "a.onnx", **options)
        self.assertRegex(report.notes[0], r"^int8: 2 ops \(matmul, relu\), 1 weight, scales of 2 cases$")
        self.assertRegex(report.notes[-1], "^y beside float32: max abs .*, cosine .*, SNR ")
        model = x2ir.load("model.onnx")
        model.save("b.onnx", **options)
        self.assertEqual(pathlib.Path("a.onnx").read_bytes(), pathlib.Path("b.onnx").read_bytes())
        self.assertEqual(model.to_onnx(**options), pathlib.Path("a.onnx").read_bytes())
        self.assertIn("QuantizeLinear", [n.op for n in model.to_dialect("onnx", **options).graph])
        self.assertEqual([n.op for n in model.graph], ["matmul", "relu"])  # it is as it was
        x2ir.convert("model.onnx", "c.json", **options)
        self.assertIn("quantize_linear", [n.op for n in x2ir.load("c.json").graph])

    def test_errors(self):
        x = self.tensors()[0]
        for options, option, message in [
            ({"int8": True}, "int8", "needs option 'calibrate'"),
            ({"calibrate": x}, "calibrate", "needs option 'int8'"),
            ({"per_channel": True}, "per_channel", "needs option 'int8'"),
            ({"int8": True, "calibrate": x, "float16": True}, "int8",
             "excludes option 'float16', option 'bfloat16' and option 'dynamic_range'"),
            ({"int8": True, "calibrate": x, "method": "entropy"}, "method", "minmax, percentile, mse"),
            ({"int8": True, "calibrate": x, "weight_bits": 6}, "weight_bits", "7 to 8"),
            ({"int8": True, "calibrate": "nowhere"}, "calibrate", "nowhere"),
            ({"int8": True, "calibrate": {"z": x}}, "calibrate", "'z'"),
            ({"int8": True, "calibrate": x2ir.tensor([1.0], "float32")}, "calibrate", "'x'"),
        ]:
            with self.assertRaisesRegex(x2ir.OptionError, message) as caught:
                x2ir.convert("model.onnx", "o.onnx", **options)
            self.assertEqual(caught.exception.option, option)
            self.assertFalse(os.path.exists("o.onnx"))
        with self.assertRaisesRegex(x2ir.OptionError, "^option 'int8': the model is not IR"):
            x2ir.load("model.onnx", raw=True).save("o.onnx", int8=True, calibrate=x)


class Names(InFolder):
    def test_a_wrong_extension_is_the_fault_of_the_name(self):
        for call in (lambda: x2ir.convert("model.onnx", "o.xyz"), lambda: x2ir.load("model.onnx").save("o.xyz")):
            with self.assertRaisesRegex(x2ir.OptionError, r"^the name 'o.xyz' .*onnx \(.onnx.*; to= sets") as caught:
                call()
            self.assertIsNone(caught.exception.option)
        with self.assertRaisesRegex(x2ir.OptionError, "^option 'to': there is no format 'xyz'"):
            x2ir.convert("model.onnx", to="xyz")
        x2ir.convert("model.onnx", "o.xyz", to="onnx")
        self.assertIsInstance(x2ir.load("o.xyz"), x2ir.Model)

    def test_hints_name_keyword_arguments(self):
        with self.assertRaises(x2ir.ConversionError) as caught:
            x2ir.load(models.one("Foo", "com.nowhere"))
        hint = caught.exception.failures[0].hint
        self.assertEqual(hint, "option 'allow_foreign' com.nowhere keeps it unchanged")
        self.assertIn("allow_foreign", inspect.signature(x2ir.load).parameters)
        self.assertEqual(x2ir.load(models.one("Foo", "com.nowhere"), allow_foreign="com.nowhere").graph.first.op,
                         "com.nowhere::Foo")
        self.assertIn(hint, str(caught.exception))
        self.assertIn(hint, str(caught.exception.report))
        with self.assertRaisesRegex(x2ir.OptionError, "excludes option 'optimize=False'"):
            x2ir.convert("model.onnx", optimize=False, passes="dead_code")

    def test_a_file_without_a_name(self):
        with self.assertRaises(x2ir.OptionError):
            x2ir.convert("model.onnx", io.BytesIO(), to="what")


if __name__ == "__main__":
    unittest.main()
