"""Arrays in and out: NumPy, DLPack, PyTorch and ml_dtypes where they are installed."""

import importlib.util
import unittest

import models
import x2ir

try:
    import numpy as np
except ImportError:
    np = None


def have(name):
    return importlib.util.find_spec(name) is not None


@unittest.skipIf(np is None, "no NumPy")
class NumPy(unittest.TestCase):
    def test_run(self):
        model = x2ir.load(models.small())
        w = np.array(models.WEIGHTS, np.float32).reshape(4, 2)
        for x in (np.arange(4, dtype=np.float32)[None], np.arange(8, dtype=np.float32)[None, ::2],
                  np.arange(4, dtype=">f4")[None]):
            y = model.run({"x": x})["y"]
            np.testing.assert_allclose(y, np.maximum(x @ w, 0))
            self.assertEqual((y.dtype, y.flags.writeable), (np.float32, True))
        np.testing.assert_allclose(model.run([[1, 2, 3, 4]])["y"], np.maximum([[1, 2, 3, 4]] @ w, 0))
        self.assertTrue(model.verify({"x": x, "y": np.maximum(x @ w, 0)}))

    def test_element_types(self):
        for name in ("float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool "
                     "complex64 complex128").split():
            for shape in ((), (0, 3), (2, 3)):
                array = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(name)
                tensor = x2ir.tensor(array)
                self.assertEqual((tensor.dtype, tensor.shape), (name, shape))
                again = tensor.numpy()
                self.assertEqual(again.dtype, array.dtype)
                np.testing.assert_array_equal(again, array)

    def test_no_copies(self):
        array = np.zeros((3, 4), np.float32)
        tensor = x2ir.tensor(array)
        array[1, 2] = 7
        self.assertEqual(tensor.numpy()[1, 2], 7)
        self.assertEqual(tensor.numpy().ctypes.data, array.ctypes.data)
        self.assertFalse(tensor.numpy().flags.writeable)
        # A result that is not shared is the caller's own memory.
        y = x2ir.load(models.small()).run({"x": np.ones((1, 4), np.float32)})["y"]
        y[:] = 5

    def test_a_result_that_others_have_is_a_copy(self):
        model = x2ir.new()
        g = model.graph
        x = g.add_input("x", "float32[2]")
        g.set_output(0, g.append("identity", [x]).output)
        g.set_output(1, g.append("identity", [g.add_initializer("c", np.ones(2, np.float32))]).output)
        array = np.zeros(2, np.float32)
        for out in model.run({"x": array}).values():
            out[:] = 9
        self.assertEqual(array.tolist(), [0, 0])
        self.assertEqual(g.initializers["c"].constant.numpy().tolist(), [1, 1])

    def test_strings(self):
        texts = np.array([["a", "höher"], ["", "b"]], object)
        tensor = x2ir.tensor(texts)
        self.assertEqual((tensor.dtype, tensor.shape), ("string", (2, 2)))
        np.testing.assert_array_equal(tensor.numpy(), texts)
        with self.assertRaises(TypeError):
            memoryview(tensor)

    def test_bits(self):
        tensor = x2ir.tensor(np.array([0x3F80, 0xC000], np.uint16), "bfloat16")
        self.assertEqual(tensor.dtype, "bfloat16")
        packed = x2ir.tensor(b"\x21\x03", "uint4", [3])
        if have("ml_dtypes"):
            self.assertEqual(tensor.numpy().astype(float).tolist(), [1, -2])
            self.assertEqual(packed.numpy().astype(int).tolist(), [1, 2, 3])
        else:
            self.assertEqual(tensor.numpy().tolist(), [0x3F80, 0xC000])
            self.assertEqual(packed.numpy().tolist(), [0x21, 3])

    def test_dlpack(self):
        model = x2ir.load(models.small())
        want = model.run(np.ones((1, 4), np.float32))["y"]

        class Lent:  # what any library with DLPack looks like
            def __init__(self, array):
                self.array = array

            def __dlpack__(self):
                return self.array.__dlpack__()

        for array in (np.ones((1, 4), np.float32), np.ones((4, 2), np.float32).T[:1]):
            np.testing.assert_array_equal(model.run(Lent(array))["y"], want)
        array = np.arange(6, dtype=np.int64).reshape(2, 3)
        tensor = x2ir.tensor(Lent(array))
        self.assertEqual(tensor.numpy().ctypes.data, array.ctypes.data)
        np.testing.assert_array_equal(x2ir.tensor(Lent(array.T)).numpy(), array.T)
        for shape in ((), (0, 2), (3, 2)):
            array = np.ones(shape, np.float64)
            np.testing.assert_array_equal(np.from_dlpack(x2ir.tensor(array)), array)
            np.testing.assert_array_equal(x2ir.tensor(Lent(array)).numpy(), array)
        with self.assertRaises(BufferError):
            x2ir.tensor(b"\x21", "int4", [2]).__dlpack__()

    def test_a_capsule_is_taken_once(self):
        capsule = np.ones(3, np.float32).__dlpack__()
        x2ir.Tensor.from_dlpack(capsule)
        with self.assertRaises(ValueError):
            x2ir.Tensor.from_dlpack(capsule)


@unittest.skipUnless(have("torch"), "no PyTorch")
class PyTorch(unittest.TestCase):
    def test_tensors(self):
        import torch

        model = x2ir.load(models.small())
        x = torch.ones(1, 4, requires_grad=True)
        y = model.run({"x": x})["y"]
        self.assertEqual(torch.from_numpy(y).shape, (1, 2))
        for dtype in (torch.float16, torch.int64, torch.bool, torch.uint8):
            t = torch.ones(2, 3, dtype=dtype)
            self.assertEqual(x2ir.tensor(t).dtype, str(dtype)[len("torch.") :])
        self.assertEqual(x2ir.tensor(torch.ones(2, dtype=torch.bfloat16)).dtype, "bfloat16")
        self.assertTrue(torch.equal(torch.from_dlpack(x2ir.tensor(torch.ones(3))), torch.ones(3)))

    def test_exported_program(self):
        import torch

        if not hasattr(torch, "export") or not hasattr(torch.export, "save"):
            self.skipTest("an old PyTorch")
        program = torch.export.export(torch.nn.Linear(4, 2), (torch.ones(1, 4),))
        model = x2ir.load(program)
        self.assertEqual(model.graph.outputs[0].shape, (1, 2))


@unittest.skipUnless(have("onnx"), "no onnx")
class Onnx(unittest.TestCase):
    def test_proto(self):
        import onnx

        if not hasattr(onnx, "load_model_from_string"):
            self.skipTest("another package of that name")
        proto = onnx.load_model_from_string(models.small())
        model = x2ir.load(proto)
        onnx.checker.check_model(onnx.load_model_from_string(model.to_onnx()))


if __name__ == "__main__":
    unittest.main()
