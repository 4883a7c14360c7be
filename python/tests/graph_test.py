"""Graphs: looking, editing, and what happens to what was held."""

import gc
import tempfile
import unittest

import models
import x2ir


def three():
    """y = relu(neg(x)) + x"""
    model = x2ir.new()
    g = model.graph
    x = g.add_input("x", "float32[2,n]")
    a = g.append("neg", [x], outputs=["a"], name="first").outputs[0]
    b = g.append("relu", [a], outputs=["b"]).outputs[0]
    y = g.append("add", [b, x], outputs=["y"]).outputs[0]
    g.set_output(0, y)
    return model


class Looking(unittest.TestCase):
    def test_what_there_is(self):
        g = three().graph
        self.assertEqual([n.op for n in g.nodes], ["neg", "relu", "add"])
        self.assertEqual([n.op for n in g], ["neg", "relu", "add"])
        self.assertEqual(len(g), 3)
        x = g.inputs[0]
        self.assertEqual((x.name, x.dtype, x.shape, x.type), ("x", "float32", (2, "n"), "float32[2,n]"))
        self.assertEqual([(n.op, i) for n, i in x.uses()], [("neg", 0), ("add", 1)])
        self.assertTrue(x.is_input and g.outputs[0].is_output)
        node = g.first
        self.assertIs(node, g.nodes[0])
        self.assertIs(node.outputs[0].producer, node)
        self.assertIs(node.next.prev, node)
        self.assertIsNone(node.prev)
        self.assertIs(node.graph, g)
        self.assertIsNone(g.find("nothing"))
        self.assertIs(g.find("x"), x)
        self.assertIn("relu(a)", str(g))
        self.assertEqual(repr(node), "<x2ir.Node a: float32[2,n] = neg(x)>")

    def test_initializers(self):
        g = x2ir.load(models.small()).graph
        w = g.initializers["w"]
        self.assertEqual((w.constant.shape, w.constant.dtype, w.producer), ((4, 2), "float32", None))
        self.assertFalse(w.constant.writable)
        self.assertIsNone(g.inputs[0].constant)

    def test_names_that_are_no_utf8(self):
        data = models.small().replace(b"rectify", b"rect\xff\xfey")
        node = x2ir.load(data, raw=True).graph.last
        name = node.name
        self.assertEqual(name.encode("utf-8", "surrogateescape"), b"rect\xff\xfey")
        node.name = name
        self.assertEqual(node.name, name)


class Editing(unittest.TestCase):
    def test_replace_and_erase(self):
        model = three()
        g = model.graph
        neg, relu, add = g.nodes
        tanh = g.insert(relu, "tanh", [neg.output], outputs=["t"])
        relu.output.replace_all_uses(tanh.output)
        self.assertEqual(relu.output.uses(), [])
        relu.erase()
        self.assertTrue(relu.is_erased)
        self.assertEqual([n.op for n in g], ["neg", "tanh", "add"])
        self.assertEqual([v.name for v in add.inputs], ["t", "x"])
        add.replace_input(1, tanh.output)
        self.assertEqual([n.op for n, _ in tanh.output.uses()], ["add", "add"])
        self.assertEqual([n.op for n in x2ir.load(model.to_onnx(optimize=False)).graph],
                         ["neg", "tanh", "add"])

    def test_an_output_keeps_its_name(self):
        model = three()
        g = model.graph
        new = g.append("sigmoid", [g.first.output])
        g.last.prev.output.replace_all_uses(new.output)
        self.assertEqual([v.name for v in g.outputs], ["y"])
        self.assertIs(g.outputs[0].producer, new)

    def test_attributes(self):
        g = x2ir.new().graph
        x = g.add_input("x", "float32[2,3]")
        node = g.append("softmax", [x], {"axis": 0})
        self.assertEqual(node.attributes["axis"], 0)
        node.attributes["axis"] = 1
        self.assertEqual(dict(node.attributes), {"axis": 1})
        own = g.append("Foo", [x, None], {
            "i": 3, "f": 0.5, "s": "same", "l": [1, 2], "fl": [1.0, 2], "t": x2ir.tensor(b"ab", "int8", [2]),
            "st": ["a", "b"], "b": True,
        }, dialect="acme")  # fmt: skip
        self.assertEqual({k: v for k, v in own.attributes.items() if k != "t"},
                         {"i": 3, "f": 0.5, "s": "same", "l": [1, 2], "fl": [1.0, 2.0],
                          "st": ["a", "b"], "b": 1})
        self.assertEqual(bytes(own.attributes["t"]), b"ab")
        own.attributes["fl"] = []
        own.attributes["f"] = 2
        self.assertEqual((own.attributes["fl"], own.attributes["f"]), ([], 2.0))
        del own.attributes["s"]
        self.assertNotIn("s", own.attributes)
        with self.assertRaises(KeyError):
            own.attributes["s"]
        with self.assertRaises(TypeError):
            own.attributes["s"] = [1, "b"]
        self.assertEqual([v and v.name for v in own.inputs], ["x", None])

    def test_sorts_before_use(self):
        model = three()
        g = model.graph
        late = g.append("abs", [g.first.output])
        g.nodes[1].replace_input(0, late.output)  # relu is before abs now
        self.assertEqual(list(memoryview(model.run({"x": x2ir.tensor(
            memoryview(bytes(8)).cast("f", [2, 1]))})["y"]).cast("B").cast("f")), [0, 0])
        self.assertEqual([n.op for n in g], ["neg", "abs", "relu", "add"])

    def test_types_follow_edits(self):
        model = three()
        g = model.graph
        cast = g.insert(g.nodes[1], "cast", [g.first.output], {"to": "float64"})
        self.assertEqual(cast.output.dtype, "float64")
        g.nodes[2].replace_input(0, cast.output)
        with self.assertRaises(x2ir.Error):  # add of two element types
            model.to_onnx()

    def test_refuses_what_is_wrong(self):
        model, other = three(), three()
        g = model.graph
        neg, relu, add = g.nodes
        for wrong in (
            lambda: neg.erase(),
            lambda: g.append("nothing_of_the_kind", [g.inputs[0]]),
            lambda: g.append("add", [g.inputs[0]]),
            lambda: g.append("relu", [other.graph.inputs[0]]),
            lambda: relu.replace_input(0, other.graph.inputs[0]),
            lambda: neg.output.replace_all_uses(other.graph.inputs[0]),
            lambda: g.insert(other.graph.first, "relu", [g.inputs[0]]),
            lambda: g.add_input("x", "float32[2]"),
            lambda: g.add_input("z", "float33[2]"),
            lambda: g.remove(g.inputs[0]),
            lambda: g.remove(neg.output),
            lambda: setattr(neg.output, "name", "x"),
        ):
            self.assertRaises(ValueError, wrong)
        self.assertRaises(IndexError, lambda: neg.replace_input(7, g.inputs[0]))
        self.assertRaises(IndexError, lambda: g.set_output(3, neg.output))
        self.assertEqual([n.op for n in g], ["neg", "relu", "add"])
        self.assertEqual(g.validate(), [])

    def test_validate_finds_unknown_attributes(self):
        g = x2ir.new().graph
        node = g.append("leaky_relu", [g.add_input("x", "float32[2]")], {"alpha": 0.1}, outputs=["y"])
        g.add_output(node.output)
        self.assertEqual(g.validate(), [])
        node.attributes["alhpa"] = 0.2
        (problem,) = g.validate()
        self.assertIn("leaky_relu", problem)
        self.assertIn("unknown attribute 'alhpa'", problem)
        del node.attributes["alhpa"]
        node.attributes["alpha"] = "much"
        self.assertIn("attribute 'alpha': expected", g.validate()[0])
        del node.attributes["alpha"]
        self.assertIn("attribute 'alpha' is missing", g.validate()[0])

    def test_validate_finds_unknown_attributes_of_onnx(self):
        for model in (x2ir.load(models.small(), raw=True), x2ir.new("onnx")):
            g = model.graph
            if not g.outputs:
                g.add_output(g.append("Relu", [g.add_input("x", "float32[2]")], dialect="onnx").output)
            self.assertEqual(g.validate(), [])
            g.last.attributes["alpha"] = 0.1
            self.assertIn("alpha", g.validate()[0])

    def test_validate_looks_into_nested_graphs(self):
        g = x2ir.new().graph
        x = g.add_input("x", "float32[2]")
        cond = g.add_input("c", "bool[]")
        branches = []
        for op in ("relu", "neg"):
            branch = x2ir.new().graph
            branch.add_output(branch.append(op, [branch.add_initializer("k", [1.0, 2.0], "float32")]).output)
            branches.append(branch)
        node = g.append("if", [cond], {"then_branch": branches[0], "else_branch": branches[1]})
        g.add_output(node.output)
        self.assertEqual(g.validate(), [])
        node.subgraphs[0].first.attributes["slope"] = 1
        self.assertIn("unknown attribute 'slope'", g.validate()[0])

    def test_add_output(self):
        model = three()
        g = model.graph
        g.add_output(g.first.output)
        self.assertEqual([v.name for v in g.outputs], ["y", "a"])
        self.assertEqual(list(model.run({"x": x2ir.tensor(bytes(8), "float32", [2, 1])})), ["y", "a"])
        with self.assertRaises(ValueError):
            g.add_output(three().graph.first.output)

    def test_a_new_model_of_onnx_is_a_valid_file(self):
        model = x2ir.new("onnx")
        g = model.graph
        x = g.add_input("x", "float32[2,3]")
        h = g.append("Relu", [x], dialect="onnx").output
        h = g.append("ai.onnx.ml::Normalizer", [h], {"norm": "L2"}, dialect="onnx").output
        h = g.append("com.microsoft::Gelu", [h], dialect="onnx").output
        g.add_output(h)
        data = model.to_onnx()
        read = x2ir.load(data, raw=True)
        self.assertEqual(read.opsets, {"": 17, "ai.onnx.ml": 3, "com.microsoft": 1})
        self.assertEqual(read.info()["ir_version"], 8)  # of opset 17
        self.assertEqual([n.op for n in x2ir.load(data).graph][0], "relu")
        self.assertEqual(g.validate(), [])
        with tempfile.TemporaryDirectory() as folder:
            model.save(folder + "/new.onnx")
            with open(folder + "/new.onnx", "rb") as file:
                self.assertEqual(file.read(), data)
        self.assertEqual(x2ir.load(x2ir.new("onnx", opset=21).to_onnx(), raw=True).opsets, {"": 21})

    def test_a_cycle_is_an_error(self):
        model = three()
        neg, relu, add = model.graph.nodes
        neg.replace_input(0, relu.output)
        with self.assertRaises(x2ir.Error):
            model.run({"x": x2ir.tensor(bytes(8), "float32", [2, 1])})

    def test_inputs_come_and_go(self):
        model = three()
        g = model.graph
        z = g.add_input("z", "float32[2,n]")
        g.remove(z)
        self.assertRaises(ReferenceError, lambda: z.name)
        c = g.add_initializer("c", x2ir.tensor(bytes(8), "float32", [2, 1]))
        g.nodes[2].replace_input(1, c)
        g.replace_initializer(c, x2ir.tensor(b"\0\0\x80\x3f" * 2, "float32", [2, 1]))
        self.assertEqual(bytes(c.constant), b"\0\0\x80\x3f" * 2)


class Lifetimes(unittest.TestCase):
    def test_handles_keep_the_model(self):
        value = three().graph.nodes[1].outputs[0]
        gc.collect()
        self.assertEqual(value.uses()[0][0].op, "add")
        w = x2ir.load(models.small()).graph.initializers["w"].constant
        gc.collect()
        self.assertEqual(memoryview(w).tolist()[0], [1.0, 2.0])

    def test_what_is_erased_says_so(self):
        model = three()
        g = model.graph
        y = g.append("relu", [g.inputs[0]])
        value = y.output
        y.erase()
        for use in (lambda: y.op, lambda: y.erase(), lambda: y.attributes["a"], lambda: value.name,
                    lambda: value.uses(), lambda: value.replace_all_uses(g.inputs[0]),
                    lambda: g.append("relu", [value])):
            self.assertRaises(ReferenceError, use)
        self.assertEqual(repr(y), "<x2ir.Node, gone>")
        self.assertEqual(repr(value), "<x2ir.Value, gone>")

    def test_nested_graphs_go_with_their_node(self):
        body = x2ir.new().graph
        body.set_output(0, body.append("relu", [body.add_input("i", "float32[2]")]).output)
        model = three()
        g = model.graph
        node = g.append("Scan", [g.inputs[0]], {"body": body}, dialect="acme")
        inner = node.subgraphs[0]
        relu = inner.first
        self.assertEqual((relu.op, inner.parent_node), ("relu", node))
        self.assertIsNot(inner, body)
        node.erase()
        self.assertRaises(ReferenceError, lambda: relu.op)
        self.assertRaises(ReferenceError, lambda: inner.name)
        self.assertEqual(body.first.op, "relu")

    def test_many_edits(self):
        """Handles of thousands of nodes that come and go are right, or gone."""
        model = three()
        g = model.graph
        held = []
        for i in range(3000):
            node = g.append("relu", [g.inputs[0]])
            if i % 3:
                node.erase()
            held.append((node, node if i % 3 == 0 else None))
        del node
        for node, alive in held:
            self.assertEqual(node.is_erased, alive is None)
        self.assertEqual(len(g), 1003)


if __name__ == "__main__":
    unittest.main()
