// Fuzz targets of the readers: bytes become files of a format, which are converted to IR.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <tuple>
#include <utility>

#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/formats/caffe_files_util.h"
#include "tests/formats/checkpoint_files_util.h"
#include "tests/formats/gguf_util.h"
#include "tests/formats/hdf5_listing_util.h"
#include "tests/formats/paddle_proto_util.h"
#include "tests/formats/symbol_files_util.h"
#include "tests/formats/tf_proto_util.h"
#include "tests/formats/torch_zip_util.h"
#include "tests/fuzz/targets_util.h"
#include "tests/torch/script_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/io/tar.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/formats/stablehlo/vhlo.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr char kGraph[] =
    "graph g(x: float32[n,4]) -> (y) {\n  w = float32[4,2]{1, 2, 3, 4, 5, 6, 7, 8}\n"
    "  a = matmul(x, w)\n  s = int64[2]{-1, 2}\n  b = reshape(a, s) { allowzero = 0 }\n"
    "  y = relu(b)\n}\n";

// A folder of this process for files whose readers want a name; gone when the process ends.
const std::string& Folder() {
  static const struct Owner {
    std::string path = StrCat(std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp",
                              "/x2ir_fuzz_", static_cast<int64_t>(::getpid()));
    Owner() { std::filesystem::create_directories(path + "/variables"); }
    ~Owner() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } owner;
  return owner.path;
}

// The bytes as files of those names, as far as they go round.
void WriteFiles(std::string_view bytes, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const size_t end = bytes.find(kFileBoundary);
    WriteFile(StrCat(Folder(), "/", name), bytes.substr(0, end));
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + kFileBoundary.size());
  }
}

void ImportMustBeValid(const std::string& path, const std::string& format) {
  const absl::StatusOr<Model> model = Import(path, {.format = format});
  if (!model.ok()) return;
  if (const auto problems = model->graph->Validate(); !problems.empty()) {
    FuzzFailure(StrCat("not valid: ", problems[0]));
  }
}

// What is made of the bytes, and what of it is the model.
void ImportFiles(std::string_view bytes, const std::vector<std::string>& names,
                 const std::string& model, const std::string& format) {
  WriteFiles(bytes, names);
  ImportMustBeValid(StrCat(Folder(), model), format);
}

std::vector<std::string> OnnxTexts(const std::string& name) {
  return {ReadFile(StrCat(X2IR_SOURCE_DIR, "/tests/data/onnx_text/", name))};
}

// An IR file with weights of its own, and those weights.
std::vector<std::string> IrFiles() {
  const absl::StatusOr<Model> model = ModelFromText(kGraph, "", 0);
  if (!model.ok() || !Write(*model, StrCat(Folder(), "/m.json")).ok()) return {"", ""};
  return {ReadFile(StrCat(Folder(), "/m.json")), ReadFile(StrCat(Folder(), "/m.safetensors"))};
}

// Integers with a scale a channel, subgraphs, a recurrent operator with states.
std::vector<std::string> TfliteFiles() {
  std::vector<std::string> files;
  for (const char* name : {"conv_i8pc_same_s1d1", "while_5", "unidir_lstm_cifg_1"}) {
    files.push_back(ReadFile(StrCat(X2IR_SOURCE_DIR, "/tests/data/tflite/", name, ".tflite")));
  }
  return files;
}

// Files of ONNX Runtime: quantized weights, a loop over sequences, strings
// (tests/data/ort/README.md).
std::vector<std::string> OrtFiles() {
  std::vector<std::string> files;
  for (const char* name : {"convs", "loop", "strings"}) {
    files.push_back(ReadFile(StrCat(X2IR_SOURCE_DIR, "/tests/data/ort/", name, ".ort")));
  }
  return files;
}

// Artifacts of the oldest and of the newest version of MLIR bytecode.
std::vector<std::string> MlirBytecodeFiles() {
  constexpr std::string_view kProgram = R"(
func.func public @main(%a: tensor<2x3xf32>, %n: tensor<i32>) -> (tensor<2xf32>, tensor<?xi32>) {
  %0 = stablehlo.constant dense<[[true, false, true], [false, true, true]]> : tensor<2x3xi1>
  %1 = stablehlo.constant dense<0.5> : tensor<2x3xf32>
  %2 = stablehlo.select %0, %a, %1 : tensor<2x3xi1>, tensor<2x3xf32>
  %3 = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%2 init: %3) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = "stablehlo.case"(%n) ({
    %6 = stablehlo.exponential %4 : tensor<2xf32>
    "stablehlo.return"(%6) : (tensor<2xf32>) -> ()
  }, {
    "stablehlo.return"(%4) : (tensor<2xf32>) -> ()
  }) : (tensor<i32>) -> tensor<2xf32>
  %7 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %8 = stablehlo.dynamic_iota %7, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return %5, %8 : tensor<2xf32>, tensor<?xi32>
})";
  std::vector<std::string> files;
  const absl::StatusOr<mlir::Module> module = mlir::ParseText(kProgram);
  for (const stablehlo::Version& version : {stablehlo::kOldestVersion, stablehlo::kNewestVersion}) {
    std::string& bytes = files.emplace_back();
    if (!module.ok() || !stablehlo::WriteArtifact(*module, version, Sink::To(&bytes)).ok()) {
      FuzzFailure("the program cannot be written");
    }
  }
  return files;
}

// Both byte orders, and matrices in blocks.
std::vector<std::string> GgufFiles() {
  return {SmallLlama().Make(), SmallLlama(true).Make(), BlockLlama().Make()};
}

// Configurations of all families, or these with their weights.
std::vector<std::string> CheckpointConfigs() {
  std::vector<std::string> configs;
  for (const std::string& name : SmallCheckpointNames()) {
    configs.push_back(SmallCheckpointOf(name).Config());
  }
  return configs;
}

std::vector<std::string> CheckpointFiles() {
  std::vector<std::string> files;
  for (const std::string& name : SmallCheckpointNames()) {
    const SmallCheckpoint checkpoint = SmallCheckpointOf(name);
    files.push_back(StrCat(checkpoint.Config(), kFileBoundary, checkpoint.Safetensors()));
  }
  return files;
}

// A folder of its own: weights of any other target's files are none of its.
void ImportCheckpoint(std::string_view bytes) {
  std::filesystem::create_directories(Folder() + "/checkpoint");
  ImportFiles(bytes, {"checkpoint/config.json", "checkpoint/model.safetensors"}, "/checkpoint",
              "checkpoint");
}

// With the weights of the family that the configuration names, or of Llama.
void ImportCheckpointConfig(std::string_view config) {
  struct Family {
    std::string type, weights;
  };
  static const auto& families = *[] {
    auto* all = new std::vector<Family>;
    for (const std::string& name : SmallCheckpointNames()) {
      const SmallCheckpoint checkpoint = SmallCheckpointOf(name);
      all->push_back({checkpoint.config["model_type"].text(), checkpoint.Safetensors()});
    }
    return all;
  }();
  const Family* of = nullptr;
  for (const Family& family : families) {
    const bool named = config.find(StrCat("\"", family.type, "\"")) != config.npos;
    if (named || (!of && family.type == "llama")) of = &family;
    if (named) break;
  }
  if (of) ImportCheckpoint(StrCat(config, kFileBoundary, of->weights));
}

std::string TorchArchiveOf(std::string_view program) {
  using torch_zip::Floats, torch_zip::Zip;
  return Zip().Make(
      {{"m/archive_format", "pt2"},
       {"m/byteorder", "little"},
       {"m/models/model.json", std::string(program)},
       {"m/data/weights/weight_0", Floats({1, 2, 3, 4})},
       {"m/data/weights/model_weights_config.json", torch_zip::Weights(R"({"as_int": 1})", 1)}});
}

// Bytes as code, as the pickle of the module, and as the bytecode of an archive of TorchScript.
std::string ScriptArchiveOfCode(std::string_view code) {
  ScriptPickle pickle;
  const std::string weight = pickle.Tensor("[2,3] 1 2 3 4 5 6"), bias = pickle.Tensor("[2] 1 2");
  return ScriptArchive({{"__torch__.py", std::string(code)}},
                       {{"weight", weight},
                        {"n", ScriptPickle::Int(2)},
                        {"sizes", ScriptPickle::Ints({1, 2})},
                        {"sub", ScriptPickle::Object("Sub", {{"bias", bias}})}},
                       pickle, {ScriptPickle::Float(0.5)});
}
std::vector<std::string> ScriptCodes() {
  constexpr std::string_view kClasses = R"(class Sub(Module):
  bias : Tensor
  def forward(self: __torch__.Sub, x: Tensor) -> Tensor:
    return torch.add(x, self.bias)
def f(x: Tensor, n: int=1) -> Tensor:
  return torch.mul_(x, n)
class Pair(NamedTuple):
  a : Tensor
  b : int
class Color(Enum):
  RED = 1
)";
  constexpr std::string_view kFields =
      "  weight : Tensor\n  n : int\n  sizes : List[int]\n  sub : __torch__.Sub\n";
  constexpr std::string_view kBodies[] = {
      R"(y = torch.linear(x, self.weight)
z = (self.sub).forward(y, )
a = torch.clone(z)
v = torch.select(a, 0, 0)
if bool(torch.gt(torch.sum(a), CONSTANTS.c0)):
  _0 = torch.add_(v, 1)
  l = [a, z]
else:
  _1 = torch.copy_(v, torch.select(z, 0, 1))
  l = [z]
for i in range(int(torch.sum(y))):
  _2 = torch.append(l, torch.mul(z, i))
return (torch.stack(l), a))",
      R"(out = annotate(List[Tensor], [])
d = annotate(Dict[str, int], {"a": 1, "b": 2})
s = 0
for i in range(self.n):
  for k, v in torch.items(d):
    s = torch.add(s, torch.mul(v, i))
  _0 = torch.append(out, __torch__.f(torch.add(x, s)))
while torch.lt(s, 20):
  s = torch.add(torch.mul(s, 2), 1)
p = __torch__.Pair(x, s)
o = annotate(Optional[Tensor], None)
if bool(torch.any(torch.lt(x, 0))):
  o = torch.neg(p.a)
if torch.__isnot__(o, None):
  q = unchecked_cast(Tensor, o)
else:
  q, w = x, uninitialized(int)
c = __torch__.Color.RED
assert torch.eq(c, __torch__.Color.RED), torch.format("{} of {}", 1, [2.5])
return (torch.cat(out), q, [j * 2 for j in self.sizes if j > 1]))"};
  std::vector<std::string> codes;
  for (const std::string_view body : kBodies) {
    codes.push_back(ScriptModule(body, "x: Tensor", kClasses, kFields));
  }
  return codes;
}
std::string ScriptPickleSeed() {
  ScriptPickle pickle;
  return ScriptPickle::Whole(ScriptPickle::Object(
      "M", {{"weight", pickle.Tensor("[2,3] 1 2 3 4 5 6")},
            {"n", ScriptPickle::Int(2)},
            {"sizes", ScriptPickle::Ints({1, 2})},
            {"sub", ScriptPickle::Object("Sub", {{"bias", pickle.Tensor("[2] 1 2")}})}}));
}
std::string ScriptArchiveOfPickle(std::string_view bytes) {
  ScriptPickle pickle;
  (void)pickle.Tensor("[2,3] 1 2 3 4 5 6");
  (void)pickle.Tensor("[2] 1 2");
  return ScriptArchiveOf({{"__torch__.py", ScriptCodes()[0]}}, std::string(bytes),
                         ScriptPickle::Whole(ScriptPickle::Tuple({ScriptPickle::Float(0.5)})),
                         pickle.storages());
}
// relu of x, to which a loop of two rounds adds 1.
std::string BytecodeSeed() {
  using P = ScriptPickle;
  const auto pair = [](std::string_view name, const std::string& value) {
    return P::Tuple({P::Text(name), value});
  };
  const auto argument = [&](std::string_view name, std::string_view type) {
    return P::Tuple({pair("name", P::Text(name)), pair("type", P::Text(type)),
                     pair("default_value", P::None())});
  };
  std::vector<std::string> code, operators;
  for (const auto& [op, x, n] :
       std::initializer_list<std::tuple<const char*, int, int>>{{"STOREN", 1, 2},
                                                                {"LOADC", 0, 0},
                                                                {"LOADC", 1, 0},
                                                                {"LOADC", 2, 0},
                                                                {"MOVE", 2, 0},
                                                                {"LOOP", 9, 3},
                                                                {"STOREN", 3, 2},
                                                                {"DROPR", 3, 0},
                                                                {"LOADC", 2, 0},
                                                                {"MOVE", 4, 0},
                                                                {"LOADC", 3, 0},
                                                                {"LOADC", 3, 0},
                                                                {"OP", 0, 0},
                                                                {"JMP", -8, 0},
                                                                {"OP", 1, 0},
                                                                {"DROPR", 1, 0},
                                                                {"RET", 0, 0}}) {
    code.push_back(P::Tuple({P::Text(op), P::Int(x), P::Int(n)}));
  }
  for (const auto& [name, overload, count] :
       std::initializer_list<std::tuple<const char*, const char*, int>>{{"aten::add", "Scalar", 3},
                                                                        {"aten::relu", "", 1}}) {
    operators.push_back(P::Tuple({P::Text(name), P::Text(overload), P::Int(count)}));
  }
  const std::string function = P::Tuple(
      {P::Text("__torch__.M.forward"),
       P::Tuple({pair("instructions", P::Tuple(code)), pair("operators", P::Tuple(operators)),
                 pair("constants", P::Tuple({P::Int(0), P::Int(2), P::Bool(true), P::Int(1)})),
                 pair("types", P::Tuple({})), pair("register_size", P::Int(4))}),
       P::Tuple(
           {pair("arguments", P::Tuple({argument("self", "__torch__.M"), argument("x", "Tensor")})),
            pair("returns", P::Tuple({argument("", "Tensor")}))})});
  return P::Whole(P::Tuple({P::Int(8), function}));
}
std::string ScriptArchiveOfBytecode(std::string_view bytes) {
  return LiteArchiveOf(
      ScriptPickle::Whole(ScriptPickle::Object("M", {{"n", ScriptPickle::Int(2)}})),
      std::string(bytes));
}
void ImportScriptBytes(const std::string& archive) {
  const auto model = ImportScript(archive, TensorsOfText("[2,3] 1 2 3 4 5 6"));
  if (!model.ok()) return;
  if (const auto problems = model->graph->Validate(); !problems.empty()) {
    FuzzFailure(StrCat("not valid: ", problems[0]));
  }
}

std::string FrozenGraph() {
  using namespace tf_proto;
  const std::string weights("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16);
  return GraphDef({PlaceholderOf("x", {-1, 2}),
                   NodeDef("w", "Const", {},
                           {{"dtype", TypeAttr(kFloat)},
                            {"value", TensorAttr(TensorProto(kFloat, {2, 2}, weights))}}),
                   NodeDef("m", "MatMul", {"x", "w"}, {{"T", TypeAttr(kFloat)}}),
                   NodeDef("y", "Softmax", {"m"}, {{"T", TypeAttr(kFloat)}})});
}

// A function that is called and is a branch; a loop of TensorFlow 1.
std::string GraphWithFunctions() {
  using namespace tf_proto;
  const std::vector<std::pair<std::string, std::string>> kX = {{"dtype", TypeAttr(kFloat)}};
  const Attrs branches = {{"then_branch", FuncAttr("f")}, {"else_branch", FuncAttr("f")}};
  return GraphDef({NodeDef("x", "Placeholder", {}, kX), NodeDef("l", "Less", {"x", "x"}),
                   NodeDef("i", "StatelessIf", {"l", "x"}, branches),
                   NodeDef("c", "PartitionedCall", {"i", "^i"}, {{"f", FuncAttr("f")}}),
                   NodeDef("e", "Enter", {"c"}, {{"frame_name", StringAttr("w")}}),
                   NodeDef("m", "Merge", {"e", "n"}), NodeDef("t", "Less", {"m", "m"}),
                   NodeDef("p", "LoopCond", {"t"}), NodeDef("s", "Switch", {"m", "p"}),
                   NodeDef("d", "Neg", {"s:1"}), NodeDef("n", "NextIteration", {"d"}),
                   NodeDef("y", "Exit", {"s"})},
                  {FunctionDef("f", {{"a", kFloat}}, {{"r", kFloat}},
                               {NodeDef("k", "Abs", {"a"}), NodeDef("q", "Sqrt", {"k:y:0"})},
                               {{"r", "q:y:0"}})});
}

// A SavedModel, and the text of one.
std::string SavedModelFile() {
  using namespace tf_proto;
  return SavedModel(FrozenGraph(), "serving_default", {{"in", "x:0", kFloat, {-1, 2}}},
                    {{"out", "y:0", kFloat, {-1, 2}}});
}
constexpr char kSavedModelText[] = R"(saved_model_schema_version: 1
meta_graphs { meta_info_def { tags: "serve" }
  graph_def { node { name: "x" op: 'Placeholder' attr { key: "dtype" value { type: DT_FLOAT } } }
    node < name: "w" op: "Const" attr { key: "value" value { tensor { dtype: 1
      tensor_shape { dim { size: 0x2 } } float_val: [1.5e0, -inf] } } } >
    node { name: "y" op: "Add\x56\062" input: ["x", "w"] } versions { producer: 1000 } }
  signature_def { key: "s" value { outputs { key: "o" value { name: "y:0" dtype: DT_FLOAT } } } } }
)";

// A SavedModel and its checkpoint.
std::string SavedModelFiles() {
  using namespace tf_proto;
  const auto [index, data] = Checkpoint({{"dense/kernel", kFloat, {2}, Float(5) + Float(6)}});
  return StrCat(SavedSum(), kFileBoundary, index, kFileBoundary, data.at(0));
}

// What x2ir writes: a loop with a stack and a branch, and a weight.
absl::StatusOr<Model> ModelForTensorFlow() {
  X2IR_ASSIGN_OR_RETURN(
      Model model,
      ModelFromText("graph g(n: int64[], x: float32[2]) -> (v, s) { w = float32[2]{1, 2}\n"
                    "y = mul(x, w)\nv, s = loop(n, _, y) { body = graph b(i: int64[], c: bool[], "
                    "p: float32[2]) "
                    "-> (d, q, r) { d = identity(c)\nq = add(p, w)\nr = if(d) {\n"
                    "then_branch = graph t() -> (a) { a = mul(q, w) },\n"
                    "else_branch = graph e() -> (z) { z = relu(p) } } } } }",
                    "", 0));
  X2IR_RETURN_IF_ERROR(FromIr(model, "tf"));
  return model;
}
std::string WrittenFrozenGraph() {
  std::string bytes;
  const absl::StatusOr<Model> model = ModelForTensorFlow();
  if (!model.ok() || !WriteTensorFlow(*model, Sink::To(&bytes, "g.pb")).ok()) return "";
  return bytes;
}
std::string WrittenSavedModel() {
  std::map<std::string, std::string> files;
  const absl::StatusOr<Model> model = ModelForTensorFlow();
  const Sink sink = Sink::Files("", [&](std::string_view name, std::string_view bytes) {
    files[std::string(name)].append(bytes);
    return absl::OkStatus();
  });
  if (!model.ok() || !WriteTensorFlow(*model, sink).ok()) return "";
  return StrCat(files["saved_model.pb"], kFileBoundary, files["variables/variables.index"],
                kFileBoundary, files["variables/variables.data-00000-of-00001"]);
}

// Operators whose attributes are sizes.
std::string SymbolOfManySizes() {
  using namespace symbol_files;
  return SymbolJson(
      {{"null", "x", {}, R"j({"__shape__": "(1, 4, 6, 6)"})j"},
       {"Pooling",
        "p",
        {{0, 0, 0}},
        R"j({"kernel": "(3, 3)", "stride": "(2, 2)", "pad": "(1, 1)", "pooling_convention": "full", "pool_type": "avg"})j"},
       {"Reshape", "r", {{1, 0, 0}}, R"j({"shape": "(-4, 1, -1, -3, -2)"})j"},
       {"SliceChannel", "s", {{0, 0, 0}}, R"j({"num_outputs": "2", "axis": "1"})j"},
       {"UpSampling", "u", {{3, 1, 0}}, R"j({"scale": "2", "sample_type": "nearest"})j"},
       {"_contrib_MultiBoxPrior",
        "m",
        {{4, 0, 0}},
        R"j({"sizes": "(0.5, 1)", "ratios": "(1, 2)"})j"},
       {"Pad", "q", {{3, 0, 0}}, R"j({"mode": "edge", "pad_width": "(0, 0, 0, 0, 1, 1, 2, 2)"})j"},
       {"_arange", "a", {}, R"j({"start": "0", "stop": "36", "step": "1", "repeat": "2"})j"},
       {"one_hot", "o", {{7, 0, 0}}, R"j({"depth": "3"})j"},
       {"null", "w"},
       {"RNN",
        "n",
        {{8, 0, 0}, {9, 0, 0}, {8, 0, 0}},
        R"j({"mode": "gru", "state_size": "2", "num_layers": "1"})j"},
       {"_contrib_AdaptiveAvgPooling2D", "d", {{6, 0, 0}}, R"j({"output_size": "(2, 3)"})j"},
       {"slice",
        "c",
        {{11, 0, 0}},
        R"j({"begin": "(0, None, 1)", "end": "(1, 2, None)", "step": "(1, 1, -1)"})j"},
       {"tile", "t", {{12, 0, 0}}, R"j({"reps": "(1, 2)"})j"},
       {"_foreach",
        "f",
        {{13, 0, 0}, {12, 0, 0}},
        R"j({"num_args": "3", "num_outputs": "2", "num_out_data": "1", "in_state_locs": "(1,)", "in_data_locs": "(0,)"})j",
        "attrs",
        R"(, "subgraphs": [{"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "null", "name": "s", "inputs": []}, {"op": "broadcast_add", "name": "o", "inputs": [[0, 0, 0], [1, 0, 0]]}], "arg_nodes": [0, 1], "heads": [[2, 0, 0], [1, 0, 0]]}])"}},
      "[[2, 0, 0], [5, 0, 0], [6, 0, 0], [8, 0, 0], [13, 0, 0], [14, 1, 0]]");
}

// Networks of Caffe and its kin: what says them, and their weights.
std::string Joined(const caffe_files::Pair& pair) {
  return StrCat(pair.network, kFileBoundary, pair.weights);
}
std::vector<std::string> CaffeFiles() {
  using namespace caffe_files;
  return {Joined(CaffeNetwork(0)), Joined(CaffeNetwork(1)), Joined(CaffeNetwork(2)),
          StrCat(CaffeLayers(), kFileBoundary)};
}
std::vector<std::string> Caffe2Files() {
  return {Joined(caffe_files::Caffe2Network(true)), Joined(caffe_files::Caffe2Network(false))};
}
std::vector<std::string> DarknetFiles() { return {Joined(caffe_files::DarknetNetwork())}; }
std::vector<std::string> NcnnFiles() {
  using namespace caffe_files;
  return {Joined(NcnnNetwork()), Joined({NcnnBinaryParam(), NcnnNetwork().weights})};
}

// Symbols of MXNet with their parameters, and a graph of NNVM.
std::vector<std::string> MxnetFiles() {
  using namespace symbol_files;
  return {StrCat(SymbolOfManySizes(), kFileBoundary, MxnetList({})),
          StrCat(NetworkJson(10700), kFileBoundary, NetworkParams(Version::k2)),
          StrCat(NetworkJson(800), kFileBoundary, NetworkParams(Version::kLegacy)),
          StrCat(NetworkJson(905), kFileBoundary,
                 MxnetList({{"arg:conv_weight", RowSparse({2, 9}, {1}, std::vector<float>(9, 1))},
                            {"arg:bn_beta", Csr({2, 3}, {0, 1, 3}, {2, 0, 1}, {5, 6, 7})}}))};
}
std::string KerasFile(const std::string& name) {
  return ReadFile(StrCat(X2IR_SOURCE_DIR, "/tests/data/keras/", name));
}
// Files that the HDF5 library wrote (tests/formats/hdf5_libhdf5_test.cc).
std::vector<std::string> Hdf5Files() {
  std::vector<std::string> files;
  for (const char* name : {"latest_indexes", "latest_links", "latest_narrow_ordered",
                           "earliest_block_texts", "earliest_keras", "latest_keras"}) {
    files.push_back(ReadFile(StrCat(X2IR_SOURCE_DIR, "/tests/data/hdf5/", name, ".h5")));
  }
  return files;
}
// HDF5 files and archives.
std::vector<std::string> KerasFiles() {
  return {KerasFile("masked_lstm.h5"),  KerasFile("keras1_conv.h5"), KerasFile("chunked.keras"),
          KerasFile("attention.keras"), KerasFile("written.keras"),  Hdf5Files().back()};
}
// Configurations alone, whose weights are those of a file that fits the first.
std::vector<std::string> KerasConfigs() {
  return {StrCat(R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "Masking", "config": {"name": "l0", "mask_value": 0.0,
       "batch_input_shape": [null, 5, 3], "dtype": "float32"}},
      {"class_name": "LSTM", "config": {"name": "l1", "units": 4, "activation": "tanh",
       "recurrent_activation": "sigmoid", "use_bias": true}}]}})",
                 kFileBoundary, KerasFile("masked_lstm.h5")),
          R"({"class_name": "Functional", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "name": "x", "config": {"batch_input_shape": [null, 6, 4]},
       "inbound_nodes": []},
      {"class_name": "Conv1D", "name": "c", "config": {"filters": 2, "kernel_size": [3],
       "padding": "causal", "use_bias": false}, "inbound_nodes": [[["x", 0, 0, {}]]]},
      {"class_name": "Bidirectional", "name": "b", "config": {"merge_mode": "sum", "layer":
       {"class_name": "GRU", "config": {"units": 2}}}, "inbound_nodes": [[["x", 0, 0, {}]]]},
      {"class_name": "Dot", "name": "d", "config": {"axes": [1, 1]},
       "inbound_nodes": [[["x", 0, 0, {}], ["p", 0, 0, {}]]]},
      {"class_name": "Sequential", "name": "p", "config": {"name": "p", "layers": [
       {"class_name": "Permute", "config": {"name": "q", "dims": [1, 2]}},
       {"class_name": "TimeDistributed", "config": {"name": "t", "layer":
        {"class_name": "ReLU", "config": {"name": "r", "max_value": 6.0}}}}]},
       "inbound_nodes": [[["x", 0, 0, {}]]]}],
      "input_layers": [["x", 0, 0]], "output_layers": [["d", 0, 0]]}})"};
}

std::vector<std::string> TfjsFiles() {
  return {StrCat(R"({"format": "layers-model", "modelTopology": {"class_name": "Sequential",
      "config": {"name": "s", "layers": [{"class_name": "Dense", "config": {"name": "d",
      "units": 2, "activation": "relu", "use_bias": true, "batch_input_shape": [null, 2]}}]}},
      "weightsManifest": [{"paths": ["weights.bin"], "weights": [
      {"name": "d/kernel", "shape": [2, 2], "dtype": "float32"},
      {"name": "d/bias", "shape": [2], "dtype": "float32",
       "quantization": {"dtype": "uint8", "scale": 0.1, "min": -1}}]}]})",
                 kFileBoundary, std::string(18, '\x3d')),
          StrCat(R"({"format": "graph-model", "modelTopology": {"node": [
      {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape":
       {"dim": [{"size": "-1"}, {"size": "2"}]}}}},
      {"name": "w", "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}, "value": {"tensor":
       {"dtype": "DT_FLOAT", "tensorShape": {"dim": [{"size": "2"}, {"size": "2"}]}}}}},
      {"name": "y", "op": "MatMul", "input": ["x", "w"], "attr": {"transpose_a": {"b": false},
       "transpose_b": {"b": true}, "T": {"type": "DT_FLOAT"}}}], "versions": {"producer": 175}},
      "weightsManifest": [{"paths": ["weights.bin"], "weights": [
      {"name": "w", "shape": [2, 2], "dtype": "float32"}]}]})",
                 kFileBoundary, std::string(16, '\x3d')),
          // As it is written: a signature, functions, weights of bytes.
          StrCat(R"({"format":"graph-model","generatedBy":"x2ir","convertedBy":null,"signature":{
      "inputs":{"c":{"name":"c:0","dtype":"DT_BOOL","tensorShape":{"dim":[]}}},"outputs":{"y":{
      "name":"y:0","dtype":"DT_INT8","tensorShape":{"dim":[{"size":"2"}]}}}},"modelTopology":{
      "node":[{"name":"c","op":"Placeholder","attr":{"dtype":{"type":"DT_BOOL"},"shape":{"shape":
      {}}}},{"name":"y","op":"StatelessIf","input":["c"],"attr":{"Tcond":{"type":"DT_BOOL"},"Tin":{
      "list":{}},"Tout":{"list":{"type":["DT_INT8"]}},"then_branch":{"func":{"name":"t"}},
      "else_branch":{"func":{"name":"t"}}}}],"library":{"function":[{"signature":{"name":"t",
      "outputArg":[{"name":"result_0","type":"DT_INT8"}]},"nodeDef":[{"name":"w","op":"Const",
      "attr":{"dtype":{"type":"DT_INT8"},"value":{"tensor":{"dtype":"DT_INT8","tensorShape":{
      "dim":[{"size":"2"}]}}}}}],"ret":{"result_0":"w:output:0"}}]},"versions":{"producer":561}},
      "weightsManifest":[{"paths":["weights.bin"],"weights":[{"name":"w","shape":[2],"dtype":
      "int32","quantization":{"dtype":"uint8","min":-128,"scale":1}}]}]})",
                 kFileBoundary, std::string(2, '\x3d'))};
}

std::vector<std::string> NnvmFiles() {
  using namespace symbol_files;
  const std::string graph =
      SymbolJson({{"null", "x"},
                  {"null", "w"},
                  {"dense", "y", {{0, 0, 0}, {1, 0, 0}}, R"({"units": "2", "use_bias": "False"})"},
                  {"relu", "z", {{2, 0, 0}}}},
                 "[[3, 0, 0]]",
                 R"({"shape": ["list_shape", [[1, 2], [2, 2], [1, 2], [1, 2]]],)"
                 R"( "dltype": ["list_str", ["float32", "float32", "float32", "float32"]]})");
  return {StrCat(graph, kFileBoundary, TvmList({{"w", Floats({2, 2}, {1, 2, 3, 4})}}))};
}

// A program with functions, a loop, a branch, a list and a constant; the same kinds of nodes as
// JSON.
constexpr char kRelayText[] = R"(#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil, }
def @main(%x: Tensor[(?, 2), float32], %w: Tensor[(2, 2), float32], %n: int32) -> (Tensor[(?, 2), float32], float32) {
  let %while_loop = fn (%i: int32, %s: Tensor[(?, 2), float32]) -> (int32, Tensor[(?, 2), float32]) {
    %0 = less(%i, %n);
    if (%0) { %1 = add(%i, 1); %2 = nn.dense(%s, %w, units=2); %while_loop(%1, %2) } else { (%i, %s) }
  };
  let %r = %while_loop(0, %x);
  %3 = fn (%p: Tensor[(?, 2), float32], Primitive=1) { add(%p, meta[relay.Constant][0]) };
  %4 = split(%r.1, indices_or_sections=[1], axis=1) /* span=parts:0:0 */;
  %5 = if (greater(%r.0, 3)) { %4.0 } else { strided_slice(%4.1, begin=[0, 0], end=[1, 1], strides=[1], axes=None) };
  %6 = match (Cons(%5, Nil)) { Cons(%h: Tensor[(?, 1), float32], _) => { %h }, Nil => { %5 }, };
  (%3(%r.1), sum(%6, axis=[0, 1]))
}

#[metadata]
{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
{"type_key": "Array", "data": [3]}, {"type_key": "relay.Constant", "attrs": {"data": "0"}}],
"b64ndarrays": ["P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQACAAAAAAAAAAgAAAAAAAAAAAAgQQAAoEE="],
"attrs": {"tvm_version": "0.8.0"}})";
constexpr char kRelayJson[] = R"({"root": 1, "nodes": [{"type_key": ""},
{"type_key": "IRModule", "attrs": {"functions": "2"}}, {"type_key": "Map", "data": [3, 5]},
{"type_key": "GlobalVar", "attrs": {"name_hint": "4"}}, {"type_key": "runtime.String", "repr_str": "main"},
{"type_key": "relay.Function", "attrs": {"body": "13", "params": "6"}}, {"type_key": "Array", "data": [7]},
{"type_key": "relay.Var", "attrs": {"type_annotation": "10", "vid": "8"}},
{"type_key": "relay.Id", "attrs": {"name_hint": "9"}}, {"type_key": "runtime.String", "repr_str": "x"},
{"type_key": "relay.TensorType", "attrs": {"dtype": "float32", "shape": "11"}},
{"type_key": "Array", "data": [12, 12]}, {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "2"}},
{"type_key": "relay.Call", "attrs": {"op": "14", "args": "15", "attrs": "16"}},
{"type_key": "Op", "repr_str": "sum"}, {"type_key": "Array", "data": [17]},
{"type_key": "relay.attrs.ReduceAttrs", "attrs": {"axis": "18", "exclude": "0", "keepdims": "1"}},
{"type_key": "relay.If", "attrs": {"cond": "19", "true_branch": "7", "false_branch": "22"}},
{"type_key": "Array", "data": [12]}, {"type_key": "relay.Constant", "attrs": {"data": "0"}},
{"type_key": "relay.Let", "attrs": {"var": "7", "value": "7", "body": "7"}},
{"type_key": "Op", "repr_str": "nn.relu"}, {"type_key": "relay.Call", "attrs": {"op": "21", "args": "6"}}],
"b64ndarrays": ["P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAEBAQABAAAAAAAAAAE="], "attrs": {"tvm_version": "0.8.0"}})";

std::vector<std::string> RelayFiles(const char* program) {
  using namespace symbol_files;
  return {StrCat(program, kFileBoundary, TvmList({{"w", Floats({2, 2}, {1, 2, 3, 4})}}))};
}

// A model of NNEF with a fragment, lists, a loop over an axis, a tensor and its quantization; and
// the same in an archive.
constexpr char kNnefText[] = R"(version 1.0;
extension tract_registry tract_core;
extension tract_symbol S;
fragment step(e: tensor<scalar>, h: tensor<scalar>) -> (o: tensor<scalar>) { o = tanh(e + h * 0.5); }
fragment part(a: tensor<scalar>, f: integer[] = [2]) -> (b: tensor<scalar>) {
  s = [for i in range_of(f) yield f[i] if i >= 0 else 1];
  b = max_pool(a, size = [1,1] + s, stride = [1,1] + s, padding = [(0,0)] * (2 + length_of(f)));
}
graph g(x, z) -> (y, t) {
  x = external<scalar>(shape = [1, 2, 4]);
  z = external<scalar>(shape = [S, 2]);
  w = variable<scalar>(shape = [2, 2, 3], label = 'w');
  c = conv(x, w, [[0.5, 1.0]], groups = 1, border = 'replicate', dilation = [1]);
  p = part(c, f = [2]) ^ 2.0;
  [a, b] = split(p, axis = 1, ratios = [1, 1]);
  y = select(a < b, reshape(a, shape = [0, -1, 1]), 3.0);
  n = tract_core_shape_of(z)[0];
  h = constant(shape = [1, 2], value = [0.0]);
  t = tract_core_scan(body = "step", scan = [("e", slice(z, axes = [0], begin = [0], end = [n]), 0, 1)],
                      full = [], state = [("h", h, "o")], output = [("o", "full", 0, 1)]);
}
)";
std::string NnefTensor() {
  constexpr uint32_t kWords[] = {0x0001ef4e, 12, 3, 2, 2, 3, 0, 0, 0, 0, 0, 8, 2};
  std::string file(128 + 12, '\1');
  std::fill_n(file.begin(), 128, '\0');
  std::memcpy(file.data(), kWords, sizeof(kWords));
  return file;
}
constexpr char kNnefQuant[] =
    "\"w\": zero_point_linear_quantize(zero_point = 1, scale = 0.5, bits = 8, signed = false, "
    "symmetric = false);\n";
// A variable that runs change, places of maxima, a recurrent layer.
constexpr char kNnefStates[] = R"(version 1.0;
extension tract_registry tract_core;
graph g(x) -> (y, z) {
  x = external<scalar>(shape = [1, 2, 3]);
  w = variable<scalar>(shape = [2, 2, 3], label = 'w');
  n = update(w, w * 0.5 + x);
  m, i = max_pool_with_index(x, size = [1,1,2], stride = [1,1,2], border = 'ignore');
  y = desample(m, i, size = [1,1,2], stride = [1,1,2], border = 'ignore', output_shape = [1,2,3]);
  g = constant(shape = [3,3], value = [0.5]);
  h = constant(shape = [1,1,1], value = [0.0]);
  z, t = tract_core_gru_seq(x = x, w = g, r = constant(shape = [3,1], value = [0.5]), initial_h = h,
                            hidden = 1, chunk = -1);
}
)";
// Types of tract's, Fourier transforms, boxes, and integers with steps for each row.
constexpr char kNnefTract[] = R"(version 1.0;
extension tract_registry tract_core;
extension tract_registry tract_onnx;
graph g(x, b) -> (y, z, k) {
  x = tract_core_external(shape = [1, 4, 2], datum_type = 'f64');
  b = external<scalar>(shape = [1, 2, 4]);
  w = variable<scalar>(shape = [2, 2, 3], label = 'w');
  f = tract_core_fft(x, axis = 1, inverse = true);
  y = tract_core_stft(f, axis = 1, frame = 2, stride = 1, window = [1.0, 0.5]);
  s = constant(shape = [1,1,2], value = [0.5]);
  k = tract_onnx_non_max_suppression(b, s, 2, 0.5, 0.1, center_point_box = 1);
  v, i = tract_core_topk(w, 2, axis = 2, largest = false);
  z = tract_core_scatter_elements(w, i, v, axis = 2) / tract_core_cast(i, to = 'f32');
}
)";
constexpr char kNnefRowQuant[] =
    "\"w\": zero_point_linear_quantize(zero_point = [1, 2], scale = [0.5, 0.25], bits = 8, signed "
    "= "
    "false, symmetric = false);\n\"z\": min_max_linear_quantize(min = -1.0, max = 1.0, bits = 4, "
    "signed = true, symmetric = true);\n";
std::vector<std::string> NnefFiles() {
  return {StrCat(kNnefTract, kFileBoundary, NnefTensor(), kFileBoundary, kNnefRowQuant),
          StrCat(kNnefText, kFileBoundary, NnefTensor(), kFileBoundary, kNnefQuant),
          StrCat(kNnefStates, kFileBoundary, NnefTensor(), kFileBoundary)};
}
std::vector<std::string> NnefArchives() {
  std::string tar;
  const auto add = [&](std::string_view name, const std::string& bytes) {
    StrAppend(&tar, TarHeader(name, bytes.size()), bytes);
    tar.resize((tar.size() + kTarBlock - 1) / kTarBlock * kTarBlock);
  };
  add("graph.nnef", kNnefText);
  add("w.dat", NnefTensor());
  add("graph.quant", kNnefQuant);
  tar.resize(tar.size() + 2 * kTarBlock);
  std::string packed;
  GzipWriter gzip([&](std::string_view bytes) {
    packed.append(bytes);
    return absl::OkStatus();
  });
  (void)gzip.Append(tar);
  (void)gzip.Finish();
  return {tar, packed};
}

// Graphs of OneFlow with operands that are left out, several results and a variable in the folder
// "variables"; the same as a job.
constexpr char kOneflowGraph[] = R"(module {
  oneflow.job @g(%arg0: tensor<1x2x2x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x1x1xsi64>) {
    %output = "oneflow.input"(%arg0) {data_type = 2 : i32, op_name = "x", output_lbns = ["x/out"], shape = [1 : si64, 2 : si64, 2 : si64, 2 : si64]} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
    %output_0 = "oneflow.variable"() {data_type = 2 : i32, op_name = "variables", parallel = #sbp.parallel<[] -> [#sbp.B]>, shape = [2 : si64]} : () -> tensor<2xf32>
    %0, %1 = "oneflow.group_norm"(%output, %output_0) {affine = true, epsilon = 1.000000e-05 : f64, num_groups = 1 : si32, op_name = "n", operand_segment_sizes = array<i32: 1, 1, 0>, result_segment_sizes = dense<[1, 1, 0]> : vector<3xi32>} : (tensor<1x2x2x2xf32>, tensor<2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x1xf32>)
    %2:2 = "oneflow.max_pool_2d"(%0) {kernel_size = [2 : si32, 2 : si32], stride = [1 : si32, 1 : si32], padding = [0 : si32, 0 : si32], dilation = [1 : si32, 1 : si32], data_format = "channels_first", op_name = "p"} : (tensor<1x2x2x2xf32>) -> (tensor<1x2x1x1xf32>, tensor<1x2x1x1xsi64>)
    oneflow.return %0, %2#1 : tensor<1x2x2x2xf32>, tensor<1x2x1x1xsi64>
  }
})";
constexpr char kOneflowJob[] = R"(net {
  op { name: "x" input_conf { out: "out" blob_conf { shape { dim: 2 } data_type: kFloat } } }
  op { name: "variables" variable_conf { out: "out" shape { dim: 2 } data_type: kFloat } }
  op { name: "a" user_conf { op_type_name: "add_n" input { key: "in" value { s: ["x/out", "variables/out"] } }
    output { key: "out" value { s: "a/out_0" } } } }
  op { name: "c" user_conf { op_type_name: "cast" input { key: "in" value { s: "a/out_0" } }
    output { key: "out" value { s: "c/out_0" } } attr { key: "dtype" value { at_data_type: kInt32 } } } }
  op { name: "y" output_conf { in: "c/out_0" out: "out" } }
}
job_conf { job_name: "g" }
)";
constexpr char kOneflowMeta[] = "shape { dim: 2 } data_type: kFloat";

std::vector<std::string> OneflowFiles(std::string_view model) {
  const std::string two("\0\0\x80\x3f\0\0\0\x40", 8);
  return {StrCat(model, kFileBoundary, two, kFileBoundary, kOneflowMeta)};
}
std::vector<std::string> OneflowJobs() {
  std::vector<std::string> jobs = OneflowFiles(kOneflowJob);
  const std::string path = StrCat(Folder(), "/m.job");
  WriteFile(path, kOneflowJob);
  const std::string two("\0\0\x80\x3f\0\0\0\x40", 8);
  WriteFile(StrCat(Folder(), "/variables/out"), two);
  WriteFile(StrCat(Folder(), "/variables/meta"), kOneflowMeta);
  std::string wire;
  const auto put = [&](std::string_view file, std::string_view bytes) {
    if (file.ends_with(".job")) wire.append(bytes);
    return absl::OkStatus();
  };
  if (absl::StatusOr<Model> model = Import(path, {.format = "oneflow_job"}); model.ok()) {
    (void)Export(*std::move(model), Sink::Files("x.job", put), {.format = "oneflow_job"});
  }
  jobs.push_back(OneflowFiles(wire)[0]);
  return jobs;
}

}  // namespace

std::vector<FuzzTarget> ReadTargets() {
  return {
      {"onnx",
       [] { return std::vector{ReadFile(StrCat(X2IR_SOURCE_DIR, "/tests/data/gru/model.onnx"))}; },
       [](std::string_view bytes) { ImportFiles(bytes, {"m.onnx"}, "/m.onnx", "onnx"); }},
      {"textproto", [] { return OnnxTexts("saved.textproto"); },
       [](std::string_view bytes) {
         ImportFiles(bytes, {"m.textproto"}, "/m.textproto", "textproto");
       }},
      {"onnxjson", [] { return OnnxTexts("saved.onnxjson"); },
       [](std::string_view bytes) {
         ImportFiles(bytes, {"m.onnxjson"}, "/m.onnxjson", "onnxjson");
       }},
      {"onnxtxt", [] { return OnnxTexts("syntax.onnxtxt"); },
       [](std::string_view bytes) { ImportFiles(bytes, {"m.onnxtxt"}, "/m.onnxtxt", "onnxtxt"); }},
      {"ir",
       [] {
         const std::vector<std::string> files = IrFiles();
         return std::vector{StrCat(files[0], kFileBoundary, files[1])};
       },
       [](std::string_view bytes) {
         ImportFiles(bytes, {"m.json", "m.safetensors"}, "/m.json", "ir");
       }},
      {"safetensors", [] { return std::vector{IrFiles()[1]}; },
       [](std::string_view bytes) {
         WriteFiles(bytes, {"w.safetensors"});
         (void)ReadSafetensors(StrCat(Folder(), "/w.safetensors"));
       }},
      {"tensorflow",
       [] {
         return std::vector{FrozenGraph(), GraphWithFunctions(), SavedModelFile(),
                            std::string(kSavedModelText), WrittenFrozenGraph()};
       },
       [](std::string_view bytes) { ImportFiles(bytes, {"g.pb"}, "/g.pb", "tensorflow"); }},
      {"saved_model",
       [] {
         return std::vector{SavedModelFiles(), WrittenSavedModel()};
       },
       [](std::string_view bytes) {
         ImportFiles(bytes,
                     {"saved_model.pb", "variables/variables.index",
                      "variables/variables.data-00000-of-00001"},
                     "", "tensorflow");
       }},
      {"tflite", TfliteFiles,
       [](std::string_view bytes) { ImportFiles(bytes, {"m.tflite"}, "/m.tflite", "tflite"); }},
      {"ort", OrtFiles,
       [](std::string_view bytes) { ImportFiles(bytes, {"m.ort"}, "/m.ort", "ort"); }},
      {"paddle",
       [] {
         using namespace paddle_proto;
         return std::vector{StrCat(SmallProgram(), kFileBoundary, SmallParameters()),
                            StrCat(ProgramWithBlocks(), kFileBoundary)};
       },
       [](std::string_view bytes) {
         ImportFiles(bytes, {"m.pdmodel", "m.pdiparams"}, "/m.pdmodel", "paddle");
       }},
      {"paddle_pir",
       [] {
         using namespace paddle_proto;
         return std::vector{StrCat(SmallPir(), kFileBoundary, SmallParameters())};
       },
       [](std::string_view bytes) {
         ImportFiles(bytes, {"p.json", "p.pdiparams"}, "/p.json", "paddle");
       }},
      {"mxnet", MxnetFiles,
       [](std::string_view bytes) {
         ImportFiles(bytes, {"m-symbol.json", "m-0000.params"}, "/m-symbol.json", "mxnet");
       }},
      // Without checksums, which few changed files would have right.
      {"hdf5", Hdf5Files,
       [](std::string_view bytes) {
         const BlobPtr blob = Blob::InMemory(
             {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, nullptr, "f.h5");
         const auto file = hdf5::File::Open(blob, 0, bytes.size(), {.verify = false});
         if (file.ok()) (void)ListHdf5(**file, 2000);
       }},
      {"keras", KerasFiles,
       [](std::string_view bytes) { ImportFiles(bytes, {"m.h5"}, "/m.h5", "keras"); }},
      {"keras_config", KerasConfigs,
       [](std::string_view bytes) {
         ImportFiles(bytes, {"k.json", "k.weights.h5"}, "/k.json", "keras");
       }},
      {"tfjs", TfjsFiles,
       [](std::string_view bytes) {
         ImportFiles(bytes, {"model.json", "weights.bin"}, "/model.json", "tfjs");
       }},
      {"nnvm", NnvmFiles,
       [](std::string_view bytes) {
         ImportFiles(bytes, {"n.json", "n.params"}, "/n.json", "nnvm");
       }},
      {"relay", [] { return RelayFiles(kRelayText); },
       [](std::string_view bytes) {
         ImportFiles(bytes, {"r.relay", "r.params"}, "/r.relay", "relay");
       }},
      {"relay_json", [] { return RelayFiles(kRelayJson); },
       [](std::string_view bytes) {
         ImportFiles(bytes, {"r.relay.json", "r.params"}, "/r.relay.json", "relay");
       }},
      {"nnef", NnefFiles,
       [](std::string_view bytes) {
         ImportFiles(bytes, {"graph.nnef", "w.dat", "graph.quant"}, "/graph.nnef", "nnef");
       }},
      {"nnef_tar", NnefArchives,
       [](std::string_view bytes) { ImportFiles(bytes, {"n.nnef.tar"}, "/n.nnef.tar", "nnef"); }},
      {"caffe", CaffeFiles,
       [](std::string_view bytes) {
         ImportFiles(bytes, {"c.prototxt", "c.caffemodel"}, "/c.prototxt", "caffe");
       }},
      {"caffe2", Caffe2Files,
       [](std::string_view bytes) {
         ImportFiles(bytes, {"c_predict_net.pb", "c_init_net.pb"}, "/c_predict_net.pb", "caffe2");
       }},
      {"darknet", DarknetFiles,
       [](std::string_view bytes) {
         ImportFiles(bytes, {"d.cfg", "d.weights"}, "/d.cfg", "darknet");
       }},
      {"ncnn", NcnnFiles,
       [](std::string_view bytes) {
         ImportFiles(bytes, {"n.param", "n.bin"}, "/n.param", "ncnn");
       }},
      {"oneflow_graph", [] { return OneflowFiles(kOneflowGraph); },
       [](std::string_view bytes) {
         ImportFiles(bytes, {"m.mlir", "variables/out", "variables/meta"}, "/m.mlir",
                     "oneflow_graph");
       }},
      {"oneflow_job", OneflowJobs,
       [](std::string_view bytes) {
         ImportFiles(bytes, {"m.job", "variables/out", "variables/meta"}, "/m.job", "oneflow_job");
       }},
      {"coreml",
       [] {
         std::vector<std::string> files;
         for (const char* name : {"gen_fn_split", "gen_fn_slice", "gen_gru", "gen_deconv"}) {
           files.push_back(
               ReadFile(StrCat(X2IR_SOURCE_DIR, "/tests/data/coreml/", name, ".mlmodel")));
         }
         return files;
       },
       [](std::string_view bytes) { ImportFiles(bytes, {"m.mlmodel"}, "/m.mlmodel", "coreml"); }},
      {"mlpackage",
       [] {
         std::vector<std::string> files;
         for (const char* name : {"gen_mil_cnn", "gen_mil_lstm"}) {
           const std::string at = StrCat(X2IR_SOURCE_DIR, "/tests/data/coreml/", name,
                                         ".mlpackage/Data/com.apple.CoreML/");
           files.push_back(StrCat(ReadFile(at + "model.mlmodel"), kFileBoundary,
                                  ReadFile(at + "weights/weight.bin")));
         }
         return files;
       },
       [](std::string_view bytes) {
         ImportFiles(bytes, {"m.mlmodel", "weights/weight.bin"}, "/m.mlmodel", "coreml");
       }},
      {"torch", [] { return std::vector{TorchArchiveOf(torch_zip::Program())}; },
       [](std::string_view bytes) { ImportFiles(bytes, {"m.pt2"}, "/m.pt2", "torch"); }},
      {"torch_program", [] { return std::vector{torch_zip::Program()}; },
       [](std::string_view bytes) {
         ImportFiles(TorchArchiveOf(bytes), {"m.pt2"}, "/m.pt2", "torch");
       }},
      {"stablehlo",
       [] {
         return std::vector{ReadFile(X2IR_SOURCE_DIR "/tests/data/stablehlo/forms.mlir"),
                            ReadFile(X2IR_SOURCE_DIR "/tests/data/stablehlo/windows.mlir")};
       },
       [](std::string_view bytes) { ImportFiles(bytes, {"m.mlir"}, "/m.mlir", "stablehlo"); }},
      {"mlir_bytecode", MlirBytecodeFiles,
       [](std::string_view bytes) {
         ImportFiles(bytes, {"m.mlirbc"}, "/m.mlirbc", "stablehlo_bytecode");
       }},
      {"gguf", GgufFiles,
       [](std::string_view bytes) { ImportFiles(bytes, {"m.gguf"}, "/m.gguf", "gguf"); }},
      {"checkpoint", CheckpointFiles, ImportCheckpoint},
      {"checkpoint_config", CheckpointConfigs, ImportCheckpointConfig},
      {"torchscript",
       [] {
         std::vector<std::string> archives = {ScriptArchiveOfBytecode(BytecodeSeed())};
         for (const std::string& code : ScriptCodes()) {
           archives.push_back(ScriptArchiveOfCode(code));
         }
         return archives;
       },
       [](std::string_view bytes) { ImportFiles(bytes, {"m.pt"}, "/m.pt", "torchscript"); }},
      {"torchscript_code", ScriptCodes,
       [](std::string_view bytes) { ImportScriptBytes(ScriptArchiveOfCode(bytes)); }},
      {"torchscript_pickle", [] { return std::vector{ScriptPickleSeed()}; },
       [](std::string_view bytes) { ImportScriptBytes(ScriptArchiveOfPickle(bytes)); }},
      {"torchscript_bytecode", [] { return std::vector{BytecodeSeed()}; },
       [](std::string_view bytes) { ImportScriptBytes(ScriptArchiveOfBytecode(bytes)); }},
  };
}

}  // namespace x2ir
