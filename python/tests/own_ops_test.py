"""Ops, dialects and formats of one's own."""

import os
import runpy
import tempfile
import unittest

import models
import x2ir

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def floats(tensor):
    return memoryview(x2ir.tensor(tensor)).cast("B").cast("f").tolist()


ONES = x2ir.tensor(b"\0\0\x80\x3f" * 6, "float32", [2, 3])


class Handlers(unittest.TestCase):
    def test_import(self):
        @x2ir.handler("com.acme::Triple")
        def triple(r):
            self.held = r
            return r.op("mul", r.inputs[0], 3)

        model = x2ir.load(models.one("Triple", "com.acme"))
        self.assertEqual(floats(model.run(ONES)["y"]), [3.0] * 6)
        self.assertEqual([n.op for n in model.graph], ["mul"])
        self.assertRaises(ReferenceError, lambda: self.held.node)

        @x2ir.handler("com.acme::Triple")  # a cell of a notebook, run again
        def again(r):
            return r.op("mul", r.inputs[0], 4)

        self.assertEqual(floats(x2ir.load(models.one("Triple", "com.acme")).run(ONES)["y"]), [4.0] * 6)

    def test_what_goes_wrong_is_in_the_report(self):
        def unsupported(r):
            raise x2ir.Unsupported("not today")

        def foreign(r):
            return model.graph.inputs[0]

        def edits(r):
            r.node.name = "x"

        model = x2ir.load(models.small())
        for function, reason in [
            (unsupported, "not today"),
            (lambda r: 1 / 0, "ZeroDivisionError"),
            (lambda r: None, "returns nothing"),
            (lambda r: "what", "handler"),
            (lambda r: r.op("nothing_of_the_kind", r.inputs[0]), "nothing_of_the_kind"),
            (lambda r: (r.inputs[0], r.inputs[0]), "output"),
            (foreign, "another model"),
            (edits, "must not change"),
        ]:
            x2ir.handler("com.acme::Wrong")(function)
            with self.assertRaises(x2ir.ConversionError) as caught:
                x2ir.load(models.one("Wrong", "com.acme"))
            self.assertEqual(caught.exception.failures[0].op, "onnx.com.acme::Wrong")
            self.assertIn(reason, caught.exception.failures[0].reason)

    def test_refuses_known_ops(self):
        with self.assertRaisesRegex(ValueError, "already registered"):
            x2ir.handler("Relu")(lambda r: r.inputs[0])
        with self.assertRaises(ValueError):
            x2ir.Dialect("acme2").op("no_such_op", "What")
        self.assertEqual(len(x2ir.load(models.small()).graph), 2)

    def test_rows(self):
        acme = x2ir.Dialect("rows_acme")
        acme.op("leaky_relu", "Leaky", acme.renamed("alpha", "slope"))
        acme.op("relu", "Rectify")
        with self.assertRaisesRegex(ValueError, "already registered"):
            acme.op("relu", "Other")
        model = x2ir.new()
        g = model.graph
        x = g.add_input("x", "float32[2,3]")
        g.set_output(0, g.append("relu", [g.append("leaky_relu", [x], {"alpha": 0.5}).output]).output)
        there = model.to_dialect("rows_acme", optimize=False)
        self.assertEqual([n.op for n in there.graph], ["Leaky", "Rectify"])
        self.assertEqual(there.graph.first.attributes["slope"], 0.5)
        self.assertTrue(model.verify(other=there.to_ir()))
        self.assertEqual(acme.validate(), [])


class Toy(unittest.TestCase):
    """examples/embed/toy.py."""

    TEXT = """toy 1
inputs 3
Dense 3 4 0.5 -1 2 0.25 1 1 -0.5 3 -2 0.75 1 -1 0 1 -1 0.5
ReluLayer
Scale 0.5
Dense 4 2 1 2 3 4 -1 -2 0.5 0.25 0.125 -0.125
"""

    def test_there_and_back(self):
        runpy.run_path(os.path.join(SOURCE, "examples", "embed", "toy.py"))
        with tempfile.TemporaryDirectory() as folder:
            there, onnx, back = (os.path.join(folder, n) for n in ("a.toy", "a.onnx", "b.toy"))
            with open(there, "w") as file:
                file.write(self.TEXT)
            x2ir.convert(there, onnx, opset=17, optimize=False)
            x2ir.convert(onnx, back, optimize=False)
            self.assertTrue(x2ir.load(there).verify(other=x2ir.load(back)))
            x = x2ir.tensor(memoryview(b"\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40").cast("f", [1, 3]))
            # relu((1, 2, 3) W + b) / 2 V + c, by hand
            (y,) = x2ir.load(onnx).run({"x": x}).values()
            self.assertEqual(floats(y), [5.9375, 5.84375])
            with open(there, "w") as file:
                file.write("toy 1\nthis is none\n")
            with self.assertRaises(x2ir.ModelError):
                x2ir.load(there)
            with self.assertRaises(x2ir.ConversionError):
                x2ir.load(models.one("Tanh")).save(os.path.join(folder, "c.toy"))


if __name__ == "__main__":
    unittest.main()
