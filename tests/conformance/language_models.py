"""Makes tests/data/cases/language-models.tar.xz: small language models of ONNX Runtime's own ops, in the layout that
onnxruntime-genai's model builder writes, with what ONNX Runtime gives for calls of each.

    python3 language_models.py OUT.tar.xz

Needs numpy, onnx, onnxruntime (1.23 made the archive) and safetensors. Each model is called with prompts, single words,
further words of one sequence, sequences of other lengths, and buffers that are longer than what they hold. Windows are
left out: to 1.23 they are one key wider than the newer versions and this project have it.
"""
import lzma
import os
import sys
import tarfile
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

WIDTH, HEADS, SHARED, SIZE, WORDS, INNER = 32, 2, 1, 16, 24, 32
CACHE = 32  # positions that the rotary caches have
BLOCK = 16


class Model:
    def __init__(self, seed, layers=1, bits=4, zeros=False, packed=False, bias=False, head_norm=False, turned=SIZE, softcap=0.0,
                 sink=False, rotary_op=False, gathered=False, experts=False):
        self.__dict__.update(locals())
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def floats(self, *dims, scale=1.0):
        return (self.random.standard_normal(dims) * scale).astype(np.float32)

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(self, op, inputs, outputs=None, domain="", **attrs):
        while inputs[-1] == "":
            inputs = inputs[:-1]
        outputs = outputs or [f"v{len(self.nodes)}"]
        self.nodes.append(helper.make_node(op, inputs, outputs, f"n{len(self.nodes)}", domain=domain, **attrs))
        return outputs[0]

    def ms(self, op, inputs, outputs=None, **attrs):
        return self.op(op, inputs, outputs, "com.microsoft", **attrs)

    def numbers(self, *dims, low=0, high=None):
        """Integers of few bits, packed along the last axis."""
        in_byte = 8 // self.bits
        values = self.random.integers(low, high or 2**self.bits, dims).astype(np.uint32)
        values = np.concatenate([values, np.zeros(dims[:-1] + (-dims[-1] % in_byte,), np.uint32)], -1)
        parts = values.reshape(dims[:-1] + (-1, in_byte))
        return sum(parts[..., i] << (self.bits * i) for i in range(in_byte)).astype(np.uint8)

    def scales(self, *dims):
        return (np.abs(self.floats(*dims)) + 0.1) * 0.5 / 2**self.bits

    def linear(self, x, k, n, bias=False, name=None):
        blocks = k // BLOCK
        if self.bits:
            operands = [x, self.constant(self.numbers(n, blocks, BLOCK)), self.constant(self.scales(n, blocks))]
            if self.zeros:
                operands.append(self.constant(self.numbers(n, blocks, low=6, high=10)))
            y = self.ms("MatMulNBits", operands, [name] if name else None, K=k, N=n, bits=self.bits, block_size=BLOCK)
        else:
            y = self.op("MatMul", [x, self.constant(self.floats(k, n, scale=k**-0.5))], [name] if name else None)
        return self.op("Add", [y, self.constant(self.floats(n, scale=0.1))]) if bias else y

    def norm(self):
        return self.constant(1 + self.floats(WIDTH, scale=0.1))

    def normed_heads(self, x, heads):
        split = self.op("Reshape", [x, self.constant(np.array([0, -1, heads, SIZE]))])
        weight = self.constant(1 + self.floats(SIZE, scale=0.1))
        y = self.op("SimplifiedLayerNormalization", [split, weight], axis=-1, epsilon=1e-6, stash_type=1)
        return self.op("Reshape", [y, self.constant(np.array([0, -1, heads * SIZE]))])

    def attention(self, x, layer):
        if self.packed:
            q, k, v = self.linear(x, WIDTH, (HEADS + 2 * SHARED) * SIZE), "", ""
        else:
            q, k, v = [self.linear(x, WIDTH, heads * SIZE, self.bias) for heads in (HEADS, SHARED, SHARED)]
        if self.head_norm:
            q, k = self.normed_heads(q, HEADS), self.normed_heads(k, SHARED)
        caches = [self.cos, self.sin]
        if self.rotary_op:
            dim = self.turned if self.turned != SIZE else 0
            q, k = [self.ms("RotaryEmbedding", [y, "position_ids", *caches], num_heads=heads, rotary_embedding_dim=dim)
                    for y, heads in ((q, HEADS), (k, SHARED))]
            caches = ["", ""]
        sink = self.constant(self.floats(HEADS)) if self.sink else ""
        past = [f"past_key_values.{layer}.{kind}" for kind in ("key", "value")]
        present = [f"present.{layer}.{kind}" for kind in ("key", "value")]
        y = self.ms("GroupQueryAttention", [q, k, v, *past, self.lengths, self.total, *caches, "", "", sink],
                    [f"attention{layer}", *present], num_heads=HEADS, kv_num_heads=SHARED, scale=SIZE**-0.5,
                    local_window_size=-1, softcap=self.softcap, do_rotary=int(not self.rotary_op),
                    rotary_interleaved=0)
        return self.linear(y, HEADS * SIZE, WIDTH)

    def feed_forward(self, x):
        if not self.experts:
            gate, up = self.linear(x, WIDTH, INNER), self.linear(x, WIDTH, INNER)
            product = self.op("Mul", [self.op("Mul", [gate, self.op("Sigmoid", [gate])]), up])
            return self.linear(product, INNER, WIDTH)
        count = 4
        logits = self.op("Reshape", [self.linear(x, WIDTH, count), self.constant(np.array([-1, count]))])
        first, second = (2 * INNER, WIDTH), (WIDTH, INNER)
        operands = [x, logits]
        for out, inner in (first, second):
            operands += [self.constant(self.numbers(count, out, inner)),
                         self.constant(self.scales(count, out, inner // BLOCK)),
                         self.constant(self.floats(count, out, scale=0.1))]
        return self.ms("QMoE", operands, k=2, activation_type="swiglu", swiglu_fusion=1, activation_alpha=1.702,
                       activation_beta=1.0, swiglu_limit=7.0, normalize_routing_weights=1,
                       expert_weight_bits=self.bits, block_size=BLOCK)

    def build(self):
        ids = ["batch_size", "sequence_length"]
        inputs = [("input_ids", TensorProto.INT64, ids),
                  ("attention_mask", TensorProto.INT64, ["batch_size", "total_sequence_length"])]
        if self.rotary_op:
            inputs.append(("position_ids", TensorProto.INT64, ids))
        outputs = [("logits", TensorProto.FLOAT, [*ids, WORDS])]
        for layer in range(self.layers):
            for kind in ("key", "value"):
                cache = ["batch_size", SHARED, "past_sequence_length", SIZE]
                inputs.append((f"past_key_values.{layer}.{kind}", TensorProto.FLOAT, cache))
                outputs.append((f"present.{layer}.{kind}", TensorProto.FLOAT,
                                [*cache[:2], "total_sequence_length", SIZE]))
        one = self.constant(np.array([1]))
        words = self.op("ReduceSum", ["attention_mask", one])
        self.lengths = self.op("Cast", [self.op("Sub", [words, one])], to=TensorProto.INT32)
        size = self.op("Gather", [self.op("Shape", ["attention_mask"]), self.constant(np.array(1))], axis=0)
        self.total = self.op("Cast", [size], to=TensorProto.INT32)
        angles = np.arange(CACHE)[:, None] / 10000 ** (np.arange(self.turned // 2) / (self.turned // 2))
        self.cos, self.sin = [self.constant(f(angles).astype(np.float32)) for f in (np.cos, np.sin)]
        if self.gathered:
            x = self.ms("GatherBlockQuantized",
                        [self.constant(self.numbers(WORDS, WIDTH)), "input_ids",
                         self.constant(self.scales(WORDS, WIDTH // BLOCK) * 4)],
                        bits=self.bits, block_size=BLOCK, gather_axis=0, quantize_axis=1)
        else:
            x = self.op("Gather", [self.constant(self.floats(WORDS, WIDTH)), "input_ids"])
        root = x
        hidden = self.op("SimplifiedLayerNormalization", [x, self.norm()], axis=-1, epsilon=1e-5, stash_type=1)
        for layer in range(self.layers):
            for part in ("attention", "feed_forward"):
                y = self.attention(hidden, layer) if part == "attention" else self.feed_forward(hidden)
                last = layer == self.layers - 1 and part == "feed_forward"
                hidden, total = f"hidden{layer}{part}", f"sum{layer}{part}"
                self.ms("SkipSimplifiedLayerNormalization", [root, y, self.norm()],
                        [hidden] if last else [hidden, "", "", total], epsilon=1e-5)
                root = total
        self.linear(hidden, WIDTH, WORDS, name="logits")
        values = [[helper.make_tensor_value_info(*v) for v in side] for side in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, "main_graph", *values, self.constants)
        imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=imports, producer_name="onnxruntime-genai", ir_version=10)


class Calls:
    def __init__(self, model, seed):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        self.names = [i.name for i in self.session.get_inputs()]
        self.caches = sum(name.startswith("past") for name in self.names)
        self.random = np.random.default_rng(seed)
        self.tensors, self.count = {}, 0

    def call(self, batch, length, mask, caches):
        feeds = {"input_ids": self.random.integers(0, WORDS, (batch, length)), "attention_mask": mask}
        if "position_ids" in self.names:
            feeds["position_ids"] = mask.sum(1, keepdims=True) - length + np.arange(length)
        feeds.update(zip([n for n in self.names if n.startswith("past")], caches))
        results = self.session.run(None, feeds)
        for i, name in enumerate(self.names):
            self.tensors[f"case{self.count}.in_{i}"] = np.ascontiguousarray(feeds[name])
        for i, result in enumerate(results):
            self.tensors[f"case{self.count}.out_{i}"] = np.ascontiguousarray(result)
        self.count += 1
        return results[1:]

    def all(self):
        for batch in (1, 2):
            none = [np.zeros((batch, SHARED, 0, SIZE), np.float32)] * self.caches
            ones = lambda total: np.ones((batch, total), np.int64)
            self.call(batch, 1, ones(1), none)
            caches = self.call(batch, 3, ones(3), none)
            caches = self.call(batch, 1, ones(4), caches)
            if batch == 1:
                self.call(batch, 2, ones(6), caches)
            else:
                shorter = ones(5)
                shorter[1, 3:] = 0
                self.call(batch, 1, shorter, caches)
            self.call(batch, 1, ones(5), [np.pad(c, [(0, 0), (0, 0), (0, 3), (0, 0)]) for c in caches])
        return self.tensors


MODELS = {
    "llama": dict(layers=2),
    "llama_8_bits": dict(bits=8),
    "phi": dict(packed=True, zeros=True),
    "qwen3": dict(head_norm=True, gathered=True, bias=True),
    "gemma": dict(bits=0, softcap=5.0),
    "gpt_oss": dict(sink=True, experts=True, bias=True),
    "rotary_op": dict(rotary_op=True),
}


def main():
    with tempfile.TemporaryDirectory() as folder:
        for seed, (name, options) in enumerate(MODELS.items()):
            path = os.path.join(folder, name)
            os.mkdir(path)
            model = Model(seed, **options).build()
            onnx.save(model, os.path.join(path, "model.onnx"))
            save_file(Calls(model, seed).all(), os.path.join(path, "io.safetensors"))
        with lzma.open(sys.argv[1], "w", preset=9) as out, tarfile.open(fileobj=out, mode="w") as archive:
            for name in MODELS:
                for file in ("model.onnx", "io.safetensors"):
                    info = tarfile.TarInfo(f"language-models/{name}/{file}")
                    path = os.path.join(folder, name, file)
                    info.size = os.path.getsize(path)
                    with open(path, "rb") as content:
                        archive.addfile(info, content)


if __name__ == "__main__":
    main()
