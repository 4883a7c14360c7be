// Makes the models that the benchmarks of whole programs need, since none of these sizes come with
// the sources.
//
//   x2ir_make_model weights MEGABYTES OUT.onnx    in one file: dense layers of 4 MB each
//   x2ir_make_model folding MEGABYTES OUT.onnx    the same; every sixteenth has a batch
//                                                 normalization after it that folds into it
//   x2ir_make_model windows MEGABYTES OUT.onnx    in one file: convolutions of 9 MB each
//   x2ir_make_model shards MEGABYTES OUT.onnx     of 16 MB each, in external files of 4 GB that
//                                                 have holes and take no room on the disk
//   x2ir_make_model nodes COUNT OUT.onnx          a chain of small nodes, with names
//   x2ir_make_model blocks COUNT OUT.onnx         blocks of MatMul, Add, Relu, Transpose, Sigmoid,
//                                                 Transpose, Shape, Reshape, Mul, Add
//   x2ir_make_model frozen MEGABYTES OUT.pb       TensorFlow: dense layers of 4 MB each
//   x2ir_make_model kernels MEGABYTES OUT.pb      TensorFlow: convolutions of 9 MB each, whose
//                                                 kernels must be relaid
//   x2ir_make_model script LINES OUT.pt           TorchScript: small convolutions, relus and sums
//                                                 in modules of 30 lines of code
//   x2ir_make_model scripted MEGABYTES OUT.pt     TorchScript: convolutions of 9 MB each
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_chain.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/io/zip_writer.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// Field numbers of onnx.proto, of the messages that are written by hand.
constexpr uint32_t kModelGraph = 7, kGraphInitializer = 5;

// Random enough for no file system to make it small, and quick to make.
Tensor Noise(std::vector<int64_t> dims, std::mt19937_64& random) {
  Tensor tensor = Tensor::Zeros(DType::kFloat32, std::move(dims));
  for (float& x : tensor.mutable_span<float>()) {
    x = static_cast<float>(static_cast<int64_t>(random() >> 40) - (1 << 23)) * 0x1p-28f;
  }
  return tensor;
}

// Convolutions, whose windows have that many rows and columns.
Model Weights(int64_t megabytes, bool folding, int64_t window = 1) {
  const int64_t width = window == 1 ? 1024 : 512, size = window == 1 ? 1 : 1024;
  const int64_t each = std::max<int64_t>(1, width * width * window * window * 4 >> 20);
  Model model = EmptyModel();
  Graph& graph = *model.graph;
  std::mt19937_64 random(1);
  Value* last = graph.AddInput(
      "x", Type::Tensor(DType::kFloat32, Shape{Dim::Symbol("batch"), width, size, size}));
  for (int64_t i = 0; i < std::max<int64_t>(1, megabytes / each); ++i) {
    Value* weight = graph.AddConstant(StrCat("layers.", i, ".weight"),
                                      Noise({width, width, window, window}, random));
    last = Append(graph, "Conv", {last, weight}, i);
    if (folding && i % 16 == 0) {
      std::vector<Value*> inputs = {last};
      for (const char* name : {"scale", "bias", "mean", "var"}) {
        Tensor values = Tensor::Zeros(DType::kFloat32, {width});
        for (float& x : values.mutable_span<float>()) x = 0.5f;
        inputs.push_back(graph.AddConstant(StrCat("layers.", i, ".", name), std::move(values)));
      }
      last = Append(graph, "BatchNormalization", inputs, i);
    }
    last = Append(graph, "Relu", {last}, i);
  }
  graph.AddOutput(last);
  return model;
}

// Blocks of ten nodes, as the optimizer meets them.
Model Blocks(int64_t count) {
  Model model = EmptyModel();
  Graph& graph = *model.graph;
  std::mt19937_64 random(1);
  Value* last = graph.AddInput("x", Type::Tensor(DType::kFloat32, Shape{8, 8}));
  Value* bias = graph.AddConstant("bias", Noise({8}, random));
  Value* scale = graph.AddConstant("scale", Noise({8}, random));
  for (int64_t i = 0; i < count / 10; ++i) {
    const auto transpose = [&](Value* x, const char* name) {
      Node* node = graph.AppendNode("onnx", "Transpose", {x});
      node->set_name(StrCat("/layers/", i, "/", name));
      node->SetAttr("perm", std::vector<int64_t>{1, 0});
      return graph.AddNodeOutput(node, StrCat("/layers/", i, "/", name, "_output_0"));
    };
    Value* weight = graph.AddConstant(StrCat("weight", i), Noise({8, 8}, random));
    last = Append(graph, "Add", {Append(graph, "MatMul", {last, weight}, i), bias}, i);
    Value* relu = last = Append(graph, "Relu", {last}, i);
    last = Append(graph, "Sigmoid", {transpose(last, "Transpose")}, i);
    last = transpose(last, "Transpose_1");
    last = Append(graph, "Reshape", {last, Append(graph, "Shape", {relu}, i)}, i);
    last = Append(graph, "Mul", {last, scale}, i);
    Node* add = graph.AppendNode("onnx", "Add", {last, relu});
    add->set_name(StrCat("/layers/", i, "/Add_1"));
    last = graph.AddNodeOutput(add, StrCat("/layers/", i, "/Add_1_output_0"));
  }
  graph.AddOutput(last);
  return model;
}

// The message of the model without weights, then initializers that lie in files with holes.
absl::Status WriteShards(int64_t megabytes, const std::string& path) {
  constexpr int64_t width = 2048, kBytes = width * width * 4, kPerFile = 256;
  Model model = EmptyModel();
  Graph& graph = *model.graph;
  Value* last =
      graph.AddInput("x", Type::Tensor(DType::kFloat32, Shape{Dim::Symbol("batch"), width}));
  // Values that the graph has as inputs here are initializers in the message below.
  WireWriter initializers;
  const int64_t count = std::max<int64_t>(1, megabytes / 16);
  const std::string name = path.substr(path.rfind('/') + 1);
  for (int64_t i = 0; i < count; ++i) {
    const std::string weight = StrCat("layers.", i, ".weight");
    Node* node = graph.AppendNode("onnx", "MatMul", {last, graph.AddInput(weight, Type())});
    last = graph.AddNodeOutput(node, StrCat("y", i));
    const auto entry = [&](std::string_view key, const std::string& value) {
      initializers.Begin(13);
      initializers.Bytes(1, key);
      initializers.Bytes(2, value);
      initializers.End();
    };
    initializers.Begin(kGraphInitializer);
    initializers.Int(1, width);
    initializers.Int(1, width);
    initializers.Int(2, static_cast<int64_t>(DType::kFloat32));
    initializers.Bytes(8, weight);
    entry("location", StrCat(name, ".", i / kPerFile, ".bin"));
    entry("offset", StrCat(i % kPerFile * kBytes));
    entry("length", StrCat(kBytes));
    initializers.Int(14, 1);
    initializers.End();
  }
  for (int64_t file = 0; file * kPerFile < count; ++file) {
    const std::string shard = StrCat(path, ".", file, ".bin");
    std::ofstream(shard, std::ios::binary).flush();
    const int64_t size = std::min(kPerFile, count - file * kPerFile) * kBytes;
    if (::truncate(shard.c_str(), size) != 0) return SystemError("cannot make '", shard, "'");
    // No two weights are the same.
    std::fstream out(shard, std::ios::binary | std::ios::in | std::ios::out);
    for (int64_t at = 0; at < size; at += kBytes) {
      const int64_t number = file * kPerFile + at / kBytes;
      out.seekp(at).write(reinterpret_cast<const char*>(&number), sizeof(number));
    }
  }
  graph.AddOutput(last);
  // Inputs without a type would be written; they are only names.
  while (graph.inputs().size() > 1) {
    Value* weight = graph.inputs().back();
    graph.SetDefault(weight, Tensor::Scalar(0.0f));
    graph.FreezeInput(weight);
  }
  X2IR_ASSIGN_OR_RETURN(const std::string message, SerializeOnnx(model));
  // Every field as it is, but the graph's own initializers.
  WireWriter out;
  WireReader in(message, message.data());
  while (in.Next()) {
    if (in.field() != kModelGraph) {
      out.Raw(in.raw());
      continue;
    }
    out.Begin(kModelGraph);
    WireReader fields(in.Bytes(), message.data());
    while (fields.Next()) {
      if (fields.field() != kGraphInitializer) out.Raw(fields.raw());
    }
    out.Raw(initializers.ToString());
    out.End();
  }
  std::ofstream(path, std::ios::binary) << out.ToString();
  return absl::OkStatus();
}

// A frozen graph of TensorFlow (graph.proto, node_def.proto, attr_value.proto).
void PutShape(WireWriter& out, uint32_t field, const std::vector<int64_t>& dims) {
  out.Begin(field);
  for (const int64_t dim : dims) {
    out.Begin(2);
    out.Int(1, dim);
    out.End();
  }
  out.End();
}

class TfNode {
 public:
  TfNode(WireWriter& out, const std::string& name, std::string_view op,
         const std::vector<std::string>& inputs)
      : out_(out) {
    out_.Begin(1);
    out_.Bytes(1, name);
    out_.Bytes(2, op);
    for (const std::string& input : inputs) out_.Bytes(3, input);
  }
  ~TfNode() { out_.End(); }
  template <typename Fn>
  void Attr(std::string_view key, Fn value) {
    out_.Begin(5);
    out_.Bytes(1, key);
    out_.Begin(2);
    value(out_);
    out_.End();
    out_.End();
  }

 private:
  WireWriter& out_;
};

absl::Status WriteFrozen(int64_t megabytes, bool kernels, const std::string& path) {
  constexpr int64_t kFloat = 1;  // DT_FLOAT
  const std::vector<int64_t> dims =
      kernels ? std::vector<int64_t>{3, 3, 512, 512} : std::vector<int64_t>{1024, 1024};
  std::mt19937_64 random(1);
  WireWriter out;
  {
    TfNode x(out, "x", "Placeholder", {});
    x.Attr("dtype", [](WireWriter& v) { v.Int(6, kFloat); });
    x.Attr("shape", [&](WireWriter& v) {
      PutShape(v, 7, kernels ? std::vector<int64_t>{1, 8, 8, 512} : std::vector<int64_t>{1, 1024});
    });
  }
  std::string last = "x";
  for (int64_t i = 0; i < std::max<int64_t>(1, megabytes / (kernels ? 9 : 4)); ++i) {
    const std::string weight = StrCat("layer", i, "/weight"), name = StrCat("layer", i);
    TfNode(out, weight, "Const", {}).Attr("value", [&](WireWriter& v) {
      v.Begin(8);
      v.Int(1, kFloat);
      PutShape(v, 2, dims);
      v.TensorBytes(4, Noise(dims, random));
      v.End();
    });
    {
      TfNode node(out, name, kernels ? "Conv2D" : "MatMul", {last, weight});
      if (kernels) {
        node.Attr("padding", [](WireWriter& v) { v.Bytes(2, "SAME"); });
        node.Attr("strides", [](WireWriter& v) {
          v.Begin(1);
          for (int axis = 0; axis < 4; ++axis) v.Int(3, 1);
          v.End();
        });
      }
    }
    TfNode(out, name + "/relu", "Relu", {name});
    last = name + "/relu";
  }
  out.Begin(4);
  out.Int(1, 1000);  // the version of TensorFlow's graphs
  out.End();
  std::ofstream file(path, std::ios::binary);
  const auto put = [&](std::string_view bytes) {
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return absl::OkStatus();
  };
  return out.Emit(put, [&](const Tensor& tensor) {
    const auto bytes = tensor.bytes();
    return put({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  });
}

// An archive of torch.jit.save of a traced network: a chain of modules, with as many layers each.
absl::Status WriteScript(int64_t modules, int64_t layers, int64_t width, const std::string& path) {
  const std::vector<int64_t> dims = {width, width, 3, 3};
  std::mt19937_64 random(1);
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  ZipWriter zip(file);
  const auto text = [](std::string_view s) {
    std::string bytes = "X";
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(s.size() >> (8 * i));
    return bytes += s;
  };
  const auto number = [](int64_t n) {
    std::string bytes = "J";
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(n >> (8 * i));
    return bytes;
  };
  int64_t storages = 0;
  const auto tensor = [&](const std::vector<int64_t>& sizes) -> absl::StatusOr<std::string> {
    const std::string key = StrCat(storages++);
    X2IR_RETURN_IF_ERROR(zip.Add(StrCat("net/data/", key), Noise(sizes, random)));
    std::string size, stride;
    int64_t count = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      size = number(sizes[i]) + size;
      stride = number(count) + stride;
      count *= sizes[i];
    }
    return StrCat("ctorch._utils\n_rebuild_tensor_v2\n((", text("storage"),
                  "ctorch\nFloatStorage\n", text(key), text("cpu"), number(count), "tQ", number(0),
                  "(", size, "t(", stride, "t\x89", "ccollections\nOrderedDict\n)RtR");
  };
  std::string data =
                  "\x80\x02"
                  "c__torch__\nNet\n)\x81}(",
              classes, body, types;
  std::string last = "x";
  for (int64_t i = 0; i < modules; ++i) {
    const std::string name = StrCat("Block", i);
    std::string fields, code;
    StrAppend(&data, text(StrCat("block", i)), "c__torch__.net\n", name, "\n)\x81}(");
    for (int64_t k = 0; k < layers; ++k) {
      for (const char* weight : {"weight", "bias"}) {
        const bool bias = weight[0] == 'b';
        X2IR_ASSIGN_OR_RETURN(const std::string made,
                              tensor(bias ? std::vector<int64_t>{dims[0]} : dims));
        StrAppend(&data, text(StrCat(weight, k)), made);
        StrAppend(&fields, "  ", weight, k, " : Tensor\n");
        StrAppend(&code, "    ", weight, " = self.", weight, k, "\n");
      }
      StrAppend(&code,
                "    input = torch._convolution(x, weight, bias, [1, 1], [1, 1], [1, 1], "
                "False, [0, 0], 1, False, False, True, True)\n");
      StrAppend(&code, "    input0 = torch.relu_(input)\n    x = torch.add(input0, x)\n");
    }
    StrAppend(&data, text("training"), "\x89ub");
    StrAppend(&classes, "class ", name, "(Module):\n  training : bool\n", fields,
              "  def forward(self: __torch__.net.", name, ",\n    x: Tensor) -> Tensor:\n", code,
              "    return x\n");
    StrAppend(&types, "  block", i, " : __torch__.net.", name, "\n");
    StrAppend(&body, "    x", i, " = (self.block", i, ").forward(", last, ", )\n");
    last = StrCat("x", i);
  }
  X2IR_RETURN_IF_ERROR(zip.Add("net/data.pkl", data + "ub."));
  X2IR_RETURN_IF_ERROR(zip.Add("net/code/__torch__/net.py", classes));
  X2IR_RETURN_IF_ERROR(zip.Add("net/code/__torch__.py",
                               StrCat("class Net(Module):\n", types,
                                      "  def forward(self: __torch__.Net,\n    x: Tensor) -> "
                                      "Tensor:\n",
                                      body, "    return ", last, "\n")));
  X2IR_RETURN_IF_ERROR(zip.Add("net/constants.pkl", "\x80\x02)."));
  X2IR_RETURN_IF_ERROR(zip.Add("net/version", "3\n"));
  X2IR_RETURN_IF_ERROR(zip.Finish());
  return file.Commit();
}

int Main(int argc, char** argv) {
  const std::string_view kind = argc == 4 ? argv[1] : "";
  const int64_t size = argc == 4 ? std::atoll(argv[2]) : 0;
  absl::Status status = Invalid(
      "usage: ", argv[0],
      " weights|folding|windows|shards|nodes|blocks SIZE OUT.onnx, frozen|kernels SIZE OUT.pb, or "
      "script|scripted SIZE OUT.pt");
  if (kind == "weights" || kind == "folding") {
    status = WriteOnnx(Weights(size, kind == "folding"), argv[3]);
  } else if (kind == "windows") {
    status = WriteOnnx(Weights(size, false, 3), argv[3]);
  } else if (kind == "nodes") {
    status = WriteOnnx(Chain(size), argv[3]);
  } else if (kind == "blocks") {
    status = WriteOnnx(Blocks(size), argv[3]);
  } else if (kind == "shards") {
    status = WriteShards(size, argv[3]);
  } else if (kind == "frozen" || kind == "kernels") {
    status = WriteFrozen(size, kind == "kernels", argv[3]);
  }
  if (kind == "script") {
    status = WriteScript(std::max<int64_t>(1, size / 30), 3, 8, argv[3]);
  } else if (kind == "scripted") {
    status = WriteScript(std::max<int64_t>(1, size / 36), 4, 512, argv[3]);
  }
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace x2ir

int main(int argc, char** argv) { return x2ir::Main(argc, argv); }
