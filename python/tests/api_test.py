"""The package as a user has it: load, convert, save, run, verify, errors."""

import copy
import gc
import io
import json
import os
import pathlib
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import models
import x2ir

try:
    import numpy as np
except ImportError:
    np = None


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        models.write_small("model.onnx")


class Reading(InFolder):
    def test_all_sources_are_the_same_model(self):
        data = models.small()

        class Proto:
            def SerializeToString(self):
                return data

        with open("model.onnx", "rb") as file:
            sources = [
                "model.onnx", pathlib.Path("model.onnx"), data, bytearray(data), memoryview(data),
                file, io.BytesIO(data), Proto(),
            ]  # fmt: skip
            texts = {str(x2ir.load(source).graph) for source in sources}
        self.assertEqual(len(texts), 1)
        self.assertIn("matmul(x, w)", texts.pop())

    def test_bytes_outlive_their_name(self):
        model = x2ir.load(bytearray(models.small()))
        gc.collect()
        self.assertEqual(list(memoryview(model.graph.initializers["w"].constant).cast("B").cast("f")),
                         models.WEIGHTS)

    def test_raw(self):
        model = x2ir.load("model.onnx", raw=True)
        self.assertEqual([n.op for n in model.graph], ["MatMul", "Relu"])
        self.assertEqual((model.dialect, model.opsets), ("onnx", {"": 13}))
        self.assertEqual([n.op for n in model.to_ir().graph], ["matmul", "relu"])
        self.assertEqual(model.to_ir().to_dialect("onnx", opset=15).graph.first.op, "MatMul")

    def test_resolver(self):
        data = models.model(
            [models.node("Add", ["x", "w"], ["y"])], [models.value_info("x", [1024])],
            [models.value_info("y", [1024])], [models.tensor("w", [1024], [0.5] * 1024)],
        )  # fmt: skip
        x2ir.load(data).save("apart.onnx", external_data="always")
        files = {p.name: p.read_bytes() for p in pathlib.Path().iterdir()}
        asked = []

        def resolve(name):
            asked.append(name)
            return files[name]

        model = x2ir.load(files["apart.onnx"], resolve=resolve)
        self.assertEqual(asked, ["apart.onnx.data"])
        self.assertEqual(x2ir.load("apart.onnx").verify(other=model).agrees, True)
        with self.assertRaises(x2ir.Error):
            x2ir.load(files["apart.onnx"])

    def test_live_graph_of_oneflow(self):
        """What has the attributes of a oneflow.nn.Graph: its job, and its state in modules."""
        data = models.model(
            [models.node("MatMul", ["x", "m.fc.weight"], ["h"]), models.node("Add", ["h", "b"], ["y"])],
            [models.value_info("x", [2, 3])], [models.value_info("y", [2, 2])],
            [models.tensor("m.fc.weight", [3, 2], [1, 2, 3, 4, 5, 6]), models.tensor("b", [2], [0.5, -1])],
        )  # fmt: skip
        x2ir.load(data).save("net.job", optimize=False)

        class Variable:
            def __init__(self, name):
                self.bytes = (pathlib.Path(name) / "out").read_bytes()

            def numpy(self):
                return self

            def tobytes(self):
                return self.bytes

        class Job:
            def SerializeToString(self):
                return pathlib.Path("net.job").read_bytes()

        class Graph:
            _full_job_proto = None

            def state_dict(self):
                return {"m": {"fc.weight": Variable("m.fc.weight")}, "b": Variable("b")}

        graph = Graph()
        with self.assertRaisesRegex(ValueError, "call it once"):
            x2ir.load(graph)
        graph._full_job_proto = Job()
        self.assertTrue(x2ir.load(graph).verify(other=x2ir.load(data)).agrees)
        x2ir.convert(graph, "live.onnx", opset=13)
        self.assertTrue(x2ir.load("live.onnx").verify(other=x2ir.load(data)).agrees)
        with self.assertRaisesRegex(x2ir.Error, "2 variables have no file"):
            x2ir.load(graph, resolve=lambda name: None)

    def test_options(self):
        model = x2ir.load("model.onnx", shape={"x": ("n", 4)})
        self.assertEqual(model.graph.inputs[0].shape, ("n", 4))
        model = x2ir.load("model.onnx", dynamic={"x": {0: "batch"}}, from_="onnx")
        self.assertEqual(model.graph.outputs[0].shape, ("batch", 2))
        model = x2ir.load("model.onnx", outputs=["h"])
        self.assertEqual([v.name for v in model.graph.outputs], ["h"])
        model = x2ir.load("model.onnx", dtype={"x": "float32"}, shape="x:2,4")
        self.assertEqual(model.graph.outputs[0].type, "float32[2,2]")


class Writing(InFolder):
    def test_convert(self):
        report = x2ir.convert("model.onnx", "out.onnx", opset=17)
        self.assertEqual(report.nodes_written, 2)
        self.assertEqual(report.ops_read, {"onnx.MatMul": 1, "onnx.Relu": 1})
        self.assertEqual(report.ops_written, json.loads(report.to_json())["ops_written"])
        self.assertEqual(report.ops_written, report.ops_read)
        self.assertEqual(x2ir.load("out.onnx", raw=True).opsets[""], 17)
        self.assertEqual(x2ir.convert("model.onnx", opset=17), pathlib.Path("out.onnx").read_bytes())
        buffer = io.BytesIO()
        x2ir.convert("model.onnx", buffer, opset=17)
        self.assertEqual(buffer.getvalue(), pathlib.Path("out.onnx").read_bytes())

    def test_is_what_the_command_line_writes(self):
        program = os.path.join(os.environ.get("X2IR_BIN_DIR", ""), "x2ir")
        if not os.path.exists(program):
            self.skipTest("no program x2ir")
        for options, flags in [
            ({"opset": 12}, ["--opset", "12"]),
            ({"optimize": False}, ["--no-optimize"]),
            ({"shape": {"x": (None, 4)}}, ["--shape", "x:?,4"]),
            ({"passes": ["dead_code", "simplify"]}, ["--passes", "dead_code,simplify"]),
            ({"extra_opset": {"com.acme": 3}}, ["--extra-opset", "com.acme:3"]),
        ]:
            subprocess.run([program, "convert", "model.onnx", "-o", "cli.onnx", "-q", *flags], check=True)
            self.assertEqual(x2ir.convert("model.onnx", **options),
                             pathlib.Path("cli.onnx").read_bytes(), flags)

    def test_save(self):
        model = x2ir.load("model.onnx")
        for name in ("m.json", "m.onnx", pathlib.Path("m.pt2"), "m.tflite"):
            model.save(name)
            self.assertTrue(model.verify(other=x2ir.load(name)), name)
        buffer = io.BytesIO()
        model.save(buffer, opset=14)
        self.assertEqual(buffer.getvalue(), model.to_onnx(opset=14))
        self.assertEqual(model.report.nodes_written, 2)

    def test_the_least_opset(self):
        data = models.model([models.node("Gelu", ["x"], ["y"])], [models.value_info("x", [2])],
                            [models.value_info("y", [2])], opset=20)
        self.assertIsInstance(x2ir.load(data).to_onnx(), bytes)

    def test_repr(self):
        model = x2ir.load("model.onnx")
        for part in ("x: float32[1,4]", "8 in 1 tensor", "matmul"):
            self.assertIn(part, repr(model))
        self.assertEqual(model.info()["nodes"], 2)
        self.assertTrue(model._repr_html_().lstrip().startswith("<"))
        self.assertIn("</svg>", model._repr_html_())

    def test_tables(self):
        self.assertTrue(next(f for f in x2ir.formats() if f["name"] == "onnx")["writes"])
        self.assertEqual(x2ir.ops("onnx", 17)[0].keys() >= {"op"}, True)
        with self.assertRaises(x2ir.OptionError):
            x2ir.ops("onxn")


class Running(InFolder):
    def test_verify(self):
        model = x2ir.load("model.onnx")
        y = model.run({"x": x2ir.tensor(memoryview(b"\0" * 16).cast("f", [1, 4]))})
        io_ = {"x": x2ir.tensor(bytes(16), "float32", [1, 4]), "y": y["y"]}
        self.assertTrue(model.verify(io_))
        io_["y"] = x2ir.tensor(b"\0\0\x80\x3f" * 2, "float32", [1, 2])
        verdict = model.verify(io_)
        self.assertFalse(verdict)
        self.assertEqual((verdict.outputs[0].output, verdict.outputs[0].max_abs), ("y", 1.0))

    def test_verify_with_a_runtime(self):
        model = x2ir.load("model.onnx")
        build = os.path.dirname(os.environ["X2IR_BIN_DIR"])
        double = os.path.join(build, "tests", "x2ir_lite_double.so")
        if os.path.exists(double):
            verdict = model.verify(runtime="litert", runtime_library=double)
            self.assertTrue(verdict)
            self.assertIn("run by litert double", verdict.note)
        with self.assertRaisesRegex(ValueError, "there is no runtime 'nope'"):
            model.verify(runtime="nope")
        with self.assertRaisesRegex(ValueError, "there is no file 'nowhere.so'"):
            model.verify(runtime="onnxruntime", runtime_library="nowhere.so")
        with self.assertRaises(TypeError):
            model.verify(runtime_library="nowhere.so")
        with self.assertRaises(TypeError):
            model.verify(model, runtime="onnxruntime")

    def test_metric(self):
        model = x2ir.load("model.onnx")
        x = {"x": x2ir.tensor(memoryview(b"\0\0\x80\x3f" * 4).cast("f", [1, 4]))}
        io_ = x | {"y": model.run(x)["y"]}
        self.assertTrue(model.verify(io_, metric="cosine", at_least=0.999))
        self.assertEqual(model.verify(io_).outputs[0].step, None)
        self.assertTrue(model.verify(io_, metric="max-abs", at_most=0))
        io_["y"] = x2ir.tensor(b"\0\0\xc0\xc0" * 2, "float32", [1, 2])
        verdict = model.verify(io_, metric="cosine", at_least=0.999)
        self.assertFalse(verdict)
        self.assertLess(verdict.outputs[0].cosine, 0.999)
        for wrong, error in [({"metric": "cosin", "at_least": 1}, ValueError),
                             ({"metric": "cosine"}, TypeError),
                             ({"metric": "cosine", "at_most": 1}, TypeError),
                             ({"at_least": 1}, TypeError)]:
            with self.assertRaises(error):
                model.verify(io_, **wrong)

    def test_wrong_inputs(self):
        model = x2ir.load("model.onnx")
        good = x2ir.tensor(bytes(16), "float32", [1, 4])
        for inputs, error in [({}, ValueError), ({"x": good, "z": good}, KeyError),
                              ({"x": x2ir.tensor(bytes(8), "float32", [1, 2])}, ValueError),
                              ({"x": x2ir.tensor(bytes(16), "int32", [1, 4])}, ValueError)]:
            with self.assertRaises(error):
                model.run(inputs)
        with self.assertRaises(ValueError):
            x2ir.tensor(bytes(15), "float32", [1, 4])
        with self.assertRaises(TypeError):
            x2ir.tensor(bytes(15), "float33", [1, 4])


    def test_an_unknown_input_lists_those_that_exist(self):
        model = x2ir.load("model.onnx")
        good = x2ir.tensor(bytes(16), "float32", [1, 4])
        for call in (lambda: model.run({"X": good}), lambda: model.run({"x": good, "X": good}),
                     lambda: model.verify({"X": good})):
            with self.assertRaises(x2ir.Error) as caught:
                call()
            self.assertIsInstance(caught.exception, x2ir.InputError)
            self.assertRegex(str(caught.exception), r"^.*'X'.*inputs( are)?: x\b")
        self.assertIn("the model has no input 'xs'; did you mean 'x'?; its inputs are: x",
                      self.message(lambda: model.run({"xs": good})))

    def message(self, call):
        with self.assertRaises(x2ir.Error) as caught:
            call()
        return str(caught.exception)

    def test_a_missing_input_and_a_wrong_type_are_of_the_package(self):
        model = x2ir.load("model.onnx")
        self.assertIn("input 'x' (float32[1,4]) is missing", self.message(lambda: model.run({})))
        wrong = x2ir.tensor(bytes(8), "float32", [1, 2])
        self.assertIn("expected float32[1,4], got float32[1,2]", self.message(lambda: model.run({"x": wrong})))

    def test_float64_is_cast_with_a_warning(self):
        model = x2ir.load("model.onnx")
        wide = [x2ir.tensor(struct.pack("<4d", 1, 2, 3, 4), "float64", [1, 4])]
        if np is not None:
            wide.append(np.array([[1.0, 2, 3, 4]]))
        want = bytes(x2ir.tensor(model.run({"x": [[1, 2, 3, 4]]})["y"]))
        for array in wide:
            with self.assertWarnsRegex(UserWarning, "'x' is float32 and was given as float64") as caught:
                y = model.run({"x": array})["y"]
            self.assertEqual(os.path.basename(caught.filename), "api_test.py")
            self.assertEqual(bytes(x2ir.tensor(y)), want)
            with self.assertWarns(UserWarning):
                self.assertTrue(model.verify({"x": array, "y": y}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.run({"x": [[1.0, 2, 3, 4]]})  # a list has no element type that could be another


class Copies(InFolder):
    def models(self):
        yield x2ir.load("model.onnx")
        yield x2ir.load("model.onnx", raw=True)
        made = x2ir.new("onnx")
        x = made.graph.add_input("x", "float32[1,4]")
        made.graph.add_output(made.graph.append("Relu", [x], dialect="onnx").output)
        yield made

    def test_models_are_pickled_and_copied(self):
        for model in self.models():
            for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
                self.assertEqual(str(copied.graph), str(model.graph))
                self.assertEqual((copied.is_ir, copied.dialect, copied.opsets),
                                 (model.is_ir, model.dialect, model.opsets))
                self.assertEqual(copied.to_onnx(), model.to_onnx())
                copied.graph.inputs[0].name = "other"
                self.assertEqual(model.graph.inputs[0].name, "x")

    def test_a_pickle_outlives_the_file(self):
        data = pickle.dumps(x2ir.load("model.onnx"))
        os.remove("model.onnx")
        script = "import pickle, sys; print(pickle.load(sys.stdin.buffer).run([[1, 2, 3, 4]])['y'].shape)"
        done = subprocess.run([sys.executable, "-c", script], input=data, capture_output=True)
        self.assertEqual(done.stdout, b"(1, 2)\n", done.stderr)

    def test_what_was_edited_is_pickled(self):
        model = x2ir.load("model.onnx")
        model.graph.last.attributes  # of relu
        model.graph.add_output(model.graph.find("h"))
        self.assertEqual([v.name for v in pickle.loads(pickle.dumps(model)).graph.outputs], ["y", "h"])


class Notebooks(unittest.TestCase):
    def chain(self, length):
        model = x2ir.new(name="<chain>")
        x = model.graph.add_input("x", "float32[2]")
        for _ in range(length):
            x = model.graph.append("relu", [x]).output
        model.graph.add_output(x)
        return model

    def test_a_large_model_is_the_page_with_its_modules_closed(self):
        self.assertIn("</svg>", self.chain(20)._repr_html_())
        page = self.chain(2000)._repr_html_()
        self.assertTrue(page.startswith("<iframe"), page[:80])
        self.assertIn("&lt;!doctype html&gt;", page)
        self.assertNotIn("</svg>", page[:200])

    def test_what_a_notebook_is_given_is_bounded(self):
        for length in (20, 299, 301, 5000, 100000):
            text = self.chain(length)._repr_html_()
            self.assertLessEqual(len(text), 2 << 20, length)
        self.assertTrue(text.startswith("<pre>format"))
        self.assertIn("&lt;chain&gt;", text)


class Errors(InFolder):
    def test_report(self):
        with self.assertRaises(x2ir.ConversionError) as caught:
            x2ir.load(models.one("Foo", "com.nowhere"))
        failure = caught.exception.failures[0]
        self.assertEqual((failure.op, failure.node, failure.count), ("onnx.com.nowhere::Foo", "the node", 1))
        self.assertIn("no mapping", failure.reason)
        self.assertEqual(json.loads(caught.exception.report.to_json())["failures"][0]["op"], failure.op)

    def test_kinds(self):
        for call, kinds in [
            (lambda: x2ir.load("nowhere.onnx"), (x2ir.FileError, OSError)),
            (lambda: x2ir.load(b"nothing"), (x2ir.ModelError, ValueError)),
            (lambda: x2ir.load(models.small()[:-9]), (x2ir.ModelError, ValueError)),
            (lambda: x2ir.load("model.onnx", opsett=3), (x2ir.OptionError, ValueError)),
            (lambda: x2ir.load("model.onnx", opset=17), (x2ir.OptionError,)),
            (lambda: x2ir.load("model.onnx", shape={"z": (1,)}), (x2ir.OptionError,)),
            (lambda: x2ir.load("model.onnx", shape="x:q:w:"), (x2ir.OptionError,)),
            (lambda: x2ir.convert("model.onnx", "a.onnx", opset="many"), (x2ir.OptionError,)),
            (lambda: x2ir.convert("model.onnx", "a.what"), (x2ir.OptionError,)),
            (lambda: x2ir.convert("model.onnx", to="what"), (x2ir.OptionError,)),
            (lambda: x2ir.convert("model.onnx", "nowhere/a.onnx"), (x2ir.FileError,)),
            (lambda: x2ir.load(3), (TypeError,)),
        ]:
            for kind in kinds:
                self.assertRaises(kind, call)
        with self.assertRaisesRegex(x2ir.OptionError, "option 'opsett'.*did you mean 'opset'"):
            x2ir.convert("model.onnx", opsett=3)

    def test_a_report_prints_what_there_is_to_say(self):
        self.assertEqual(str(x2ir.convert("model.onnx", "out.onnx")),
                         "<x2ir.Report: 2 nodes read, 2 written, 0 ops failed>")
        with self.assertRaises(x2ir.ConversionError) as caught:
            x2ir.convert(models.one("Foo", "com.nowhere"), "out.onnx")
        self.assertIn("com.nowhere::Foo", str(caught.exception.report))

    def test_a_failed_conversion_writes_nothing(self):
        with self.assertRaises(x2ir.ConversionError):
            x2ir.convert(models.one("Foo", "com.nowhere"), "out.onnx")
        self.assertFalse(os.path.exists("out.onnx"))


class LongWork(InFolder):

    def test_progress_cancels(self):
        model = x2ir.new()
        x = model.graph.add_input("x", "float32[300,300]")
        for _ in range(2000):
            x = model.graph.append("matmul", [x, x]).outputs[0]
        model.graph.set_output(0, x)
        seen = []

        def progress(done, total):
            seen.append((done, total))
            return len(seen) < 3

        zeros = x2ir.tensor(bytes(4 * 300 * 300), "float32", [300, 300])
        with self.assertRaises(x2ir.Cancelled):
            model.run({"x": zeros}, progress=progress)
        self.assertEqual(len(seen), 3)

        def broken(done, total):
            raise LookupError("mine")

        with self.assertRaisesRegex(LookupError, "mine"):
            model.run({"x": zeros}, progress=broken)

    def test_progress_is_called_as_work_goes_on(self):
        model = x2ir.new()
        x = model.graph.add_input("x", "float32[2]")
        for _ in range(300000):
            x = model.graph.append("sigmoid", [x]).output
        model.graph.add_output(x)
        data = model.to_onnx(optimize=False)
        for call in (lambda p: x2ir.load(data, progress=p), lambda p: x2ir.convert(data, "o.onnx", progress=p),
                     lambda p: model.to_onnx(progress=p)):
            seen = []
            call(lambda done, total: seen.append((done, total)))
            before = [pair for pair in seen if pair[0] < pair[1]]
            self.assertGreater(len(before), 1, seen)
            self.assertGreater(len({done for done, _ in before}), 1, seen)
            begun = time.monotonic()
            call(lambda done, total: None)
            whole = time.monotonic() - begun
            with self.assertRaises(x2ir.Cancelled):
                call(lambda done, total: False)
            self.assertLess(len(seen), 3 + whole / 0.01)  # not at every node
        if os.path.exists("o.onnx"):
            os.remove("o.onnx")
        with self.assertRaises(x2ir.Cancelled):
            x2ir.convert(data, "o.onnx", progress=lambda done, total: False)
        self.assertFalse(os.path.exists("o.onnx"))

    def test_control_c(self):
        script = """
import x2ir, sys, threading, os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
model = x2ir.new()
x = model.graph.add_input("x", "float32[300,300]")
for _ in range(20000):
    x = model.graph.append("matmul", [x, x]).outputs[0]
model.graph.set_output(0, x)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.run({"x": x2ir.tensor(bytes(4 * 300 * 300), "float32", [300, 300])})
except KeyboardInterrupt:
    print("interrupted")
"""
        begun = time.monotonic()
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "interrupted\n", done.stderr)
        self.assertLess(time.monotonic() - begun, 20)

    def test_threads(self):
        want = x2ir.convert("model.onnx", opset=16)
        model = x2ir.load("model.onnx")
        zeros = x2ir.tensor(bytes(16), "float32", [1, 4])
        wrong = []

        def work():
            for _ in range(30):
                if x2ir.convert("model.onnx", opset=16) != want or model.to_onnx(opset=16) != want:
                    wrong.append("bytes")
                if model.run({"x": zeros})["y"].shape != (1, 2):
                    wrong.append("run")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_no_edit_while_others_work(self):
        model = x2ir.new()
        x = model.graph.add_input("x", "float32[300,300]")
        for _ in range(500):
            x = model.graph.append("matmul", [x, x]).outputs[0]
        model.graph.set_output(0, x)
        caught = []

        def progress(done, total):
            try:
                model.graph.first.name = "other"
            except RuntimeError as error:
                caught.append(str(error))
            return False

        with self.assertRaises(x2ir.Cancelled):
            model.run({"x": x2ir.tensor(bytes(4 * 300 * 300), "float32", [300, 300])}, progress=progress)
        self.assertEqual(caught, ["another thread works on the model"])
        model.graph.first.name = "other"


if __name__ == "__main__":
    unittest.main()
