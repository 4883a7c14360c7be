"""Writes a model of 100 MB of weights in another framework's format for whole_program.sh: 25 layers of 1024 x 1024.

usage: weights_model.py contiguous|chunks|caffe|caffe2|darknet|mlmodel FILE

Keras's (contiguous, chunks) want h5py. Files beside are written where the format has them.
"""

import json
import random
import struct
import sys

SIZE = 1024
LAYERS = [f"dense_{i}" for i in range(25)]
numbers = random.Random(0)


def weight():
    data = bytearray(numbers.randbytes(4 * SIZE * SIZE))
    data[3::4] = b"\x3c" * (SIZE * SIZE)  # floats between 0.007 and 0.03
    return bytes(data)


# --- Protobuf --------------------------------------------------------------------------------------


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


# --- Formats ---------------------------------------------------------------------------------------


def keras(path, chunks):
    import h5py
    import numpy

    layers = [{"class_name": "InputLayer",
               "config": {"name": "x", "batch_input_shape": [None, SIZE], "dtype": "float32"}}]
    layers += [{"class_name": "Dense",
                "config": {"name": name, "units": SIZE, "use_bias": False, "activation": "linear"}}
               for name in LAYERS]
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"] = "2.11.0"
        file.attrs["backend"] = "tensorflow"
        file.attrs["model_config"] = json.dumps(
            {"class_name": "Sequential", "config": {"name": "net", "layers": layers}})
        weights = file.create_group("model_weights")
        weights.attrs["layer_names"] = [name.encode() for name in LAYERS]
        for name in LAYERS:
            group = weights.create_group(name)
            group.attrs["weight_names"] = [f"{name}/kernel:0".encode()]
            group.create_dataset(f"{name}/kernel:0", chunks=chunks,
                                 data=numpy.frombuffer(weight(), "<f4").reshape(SIZE, SIZE))


def caffe(path):  # NAME.caffemodel, and NAME.prototxt beside it
    text = f'input: "x" input_shape {{ dim: 1 dim: {SIZE} }}\n'
    bottom = "x"
    with open(path, "wb") as file:
        for name in LAYERS:
            text += (f'layer {{ name: "{name}" type: "InnerProduct" bottom: "{bottom}" top: "{name}"\n'
                     f"  inner_product_param {{ num_output: {SIZE} bias_term: false }} }}\n")
            bottom = name
            blob = field(5, weight()) + field(7, field(1, varint(SIZE) + varint(SIZE)))
            file.write(field(100, field(1, name) + field(2, "InnerProduct") + field(7, blob)))
    with open(path.replace(".caffemodel", ".prototxt"), "w") as file:
        file.write(text)


def caffe2(path):  # init_net.pb, and predict_net.pb beside it
    def operator(kind, inputs, outputs, *args):
        return field(2, b"".join([field(1, name) for name in inputs] + [field(2, name) for name in outputs] +
                                 [field(4, kind)] + [field(5, arg) for arg in args]))

    net = field(1, "net")
    with open(path, "wb") as file:
        bottom = "x"
        zeros = field(1, "shape") + field(6, SIZE)
        file.write(operator("ConstantFill", [], ["b"], zeros))
        for name in LAYERS:
            data = weight()
            tagged = bytearray(5 * SIZE * SIZE)  # each number after the tag of its field
            tagged[0::5] = varint(5 << 3 | 5) * (SIZE * SIZE)
            for i in range(4):
                tagged[i + 1::5] = data[i::4]
            values = field(1, "values") + bytes(tagged)
            shape = field(1, "shape") + field(6, SIZE) + field(6, SIZE)
            file.write(operator("GivenTensorFill", [], [name + "_w"], shape, values))
            net += operator("FC", [bottom, name + "_w", "b"], [name])
            bottom = name
    with open(path.replace("init_net", "predict_net"), "wb") as file:
        file.write(net + field(7, "x") + field(8, bottom))


def darknet(path):  # NAME.weights, and NAME.cfg beside it
    with open(path, "wb") as file:
        file.write(struct.pack("<iiiQ", 0, 2, 0, 0))
        for _ in LAYERS:
            file.write(bytes(4 * SIZE) + weight())
    with open(path.replace(".weights", ".cfg"), "w") as file:
        file.write(f"[net]\nbatch=1\ninputs={SIZE}\n" +
                   f"[connected]\noutput={SIZE}\nactivation=linear\n" * len(LAYERS))


def mlmodel(path):  # a NeuralNetwork with its weights in the file
    def port(name):
        array = field(1, varint(SIZE)) + field(2, 65568)  # FLOAT32
        return field(1, name) + field(3, field(5, array))

    description = field(1, port("x")) + field(10, port(LAYERS[-1]))
    network, bottom = b"", "x"
    for name in LAYERS:
        product = field(1, SIZE) + field(2, SIZE) + field(20, field(1, weight()))
        network += field(1, field(1, name) + field(2, bottom) + field(3, name) + field(140, product))
        bottom = name
    with open(path, "wb") as file:
        file.write(field(1, 1) + field(2, description) + field(500, network))


def main():
    kind, path = sys.argv[1:]
    {
        "contiguous": lambda: keras(path, None),
        "chunks": lambda: keras(path, True),
        "caffe": lambda: caffe(path),
        "caffe2": lambda: caffe2(path),
        "darknet": lambda: darknet(path),
        "mlmodel": lambda: mlmodel(path),
    }[kind]()


main()
