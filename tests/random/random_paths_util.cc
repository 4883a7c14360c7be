// See random_paths_util.h.
#include "tests/random/random_paths_util.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "tests/conformance/ort_util.h"
#include "tests/core/host_util.h"
#include "tests/random/random_known_util.h"
#include "tests/random/random_torch_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/random.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// --- What hangs on rounding ---------------------------------------------------------------------

double StepOf(DType t) {
  switch (t) {
    case DType::kFloat32:
    case DType::kFloat64: return 2e-6;
    case DType::kFloat16: return 1e-3;
    case DType::kBFloat16: return 8e-3;
    default: return 0;
  }
}

// Sums of a few halves are exact everywhere.
bool IsRound(double v) {
  const double scaled = v * 64;
  return std::abs(v) < 4096 && scaled == std::floor(scaled);
}

bool MayRound(const Node& node) {
  const OpDef* op = FindOp(node.op());
  static constexpr std::string_view kExact[] = {
      "neg",           "abs",    "relu", "ceil",         "floor",      "round", "sign",
      "conv",          "matmul", "gemm", "average_pool", "leaky_relu", "clip",  "dequantize_linear",
      "conv_transpose"};
  if (std::find(std::begin(kExact), std::end(kExact), node.op().view()) != std::end(kExact)) {
    return false;
  }
  if (node.Is("resize") && node.attrs().String("mode") == "nearest") return false;
  return op->numbers().use == NumberUse::kFloatOnly || node.Is("resize") || node.Is("div") ||
         node.Is("pow");
}

// Half a step of what TFLite's integer kernels of the op give, which is rounded once more behind
// them; 0: they round to the steps that the model has.
double HalfStepOfKernel(const Node* node) {
  if (!node) return 0;
  if (node->Is("softmax") || node->Is("sigmoid")) return 1.0 / 512;
  if (node->Is("tanh")) return 1.0 / 256;
  return node->Is("log_softmax") ? 1.0 / 32 : 0;
}

// Whether rounding errors are as large beside small results as beside large ones: sums of cosines
// that cancel.
bool Cancels(const Node& node) {
  static constexpr std::string_view kSums[] = {"dft", "stft", "blackman_window", "hann_window",
                                               "hamming_window"};
  return std::find(std::begin(kSums), std::end(kSums), node.op().view()) != std::end(kSums);
}

// Adds to what nodes give numbers next to 0, or multiplies it by numbers next to 1. Of values whose
// elements are known, those that no runtime rounds stay.
void AddNoise(Graph& graph, Random& random, int round, const std::map<std::string, Datum>* values) {
  std::vector<Node*> nodes;
  std::map<const Node*, double> half_steps;
  for (Node* node : graph.nodes()) {
    nodes.push_back(node);
    if (node->Is("quantize_linear")) {
      half_steps[node] = HalfStepOfKernel(node->input(0)->producer());
    }
  }
  for (Node* node : nodes) {
    for (Graph* inner : node->subgraphs()) AddNoise(*inner, random, round, nullptr);
    // What rounds to integers looks at quotients that every runtime rounds in its own way.
    if (node->Is("quantize_linear") && StepOf(node->input(0)->dtype()) != 0) {
      const DType t = node->input(0)->dtype();
      const double half = half_steps[node];
      const double sign = round % 2 == 0 ? 1 : -1;
      Value* by =
          graph.AddConstant(graph.UniqueName("noise"),
                            Tensor::ScalarOf(t, half != 0 ? sign * half : 1 + sign * StepOf(t)));
      Node* change = graph.InsertNode(node, kIrDialect, half != 0 ? "add" : "mul", {});
      Value* noisy = graph.AddNodeOutput(change, graph.UniqueName("noisy"), node->input(0)->type());
      change->AddInput(node->input(0));
      change->AddInput(by);
      node->SetInput(0, noisy);
    }
    for (Value* output : node->outputs()) {
      if (!output || StepOf(output->dtype()) == 0 || !output->type().is_tensor()) continue;
      const double step = StepOf(output->dtype());
      const bool rounds = MayRound(*node);
      Tensor noise;
      const bool cancels = Cancels(*node);
      const auto it =
          values ? values->find(output->name()) : std::map<std::string, Datum>::const_iterator();
      if (cancels) {
        const double sign = round % 2 == 0 ? 1 : -1;
        noise = Tensor::ScalarOf(output->dtype(), step * sign * (random.Uniform() + 1) / 2);
      } else if (values && it != values->end() && it->second.tensor()) {
        const Tensor& is = *it->second.tensor();
        std::vector<double> factors(static_cast<size_t>(is.num_elements()), 1.0);
        for (size_t i = 0; i < factors.size(); ++i) {
          const bool exact = !rounds && IsRound(is.AsDouble(static_cast<int64_t>(i)));
          const double draw = random.Uniform() * 2 - 1;
          if (!exact) factors[i] += step * draw;
        }
        noise = CastTensor(Tensor::Of<double>(is.dims(), factors), output->dtype()).value();
      } else if (rounds) {
        noise = Tensor::ScalarOf(output->dtype(), 1 + step * (random.Uniform() * 2 - 1));
      } else {
        continue;
      }
      Value* constant = graph.AddConstant(graph.UniqueName("noise"), std::move(noise));
      Node* mul = graph.InsertNode(node->next(), kIrDialect, cancels ? "add" : "mul", {});
      Value* product = graph.AddNodeOutput(mul, graph.UniqueName("noisy"), output->type());
      graph.ReplaceAllUses(output, product);
      mul->AddInput(output);
      mul->AddInput(constant);
    }
  }
}

bool SameUpTo(const Tensor& got, const Tensor& want, double rtol) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) return false;
  if (!IsFloating(want.dtype())) return got == want;
  double largest = 0;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    largest = std::max(largest, std::abs(want.AsDouble(i)));
  }
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double a = got.AsDouble(i), b = want.AsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= rtol * std::abs(b) + 0.1 * rtol * std::max(largest, 1.0)))
      return false;
  }
  return true;
}

bool SameUpTo(const Datum& got, const Datum& want, double rtol) {
  if (want.tensor()) return got.tensor() && SameUpTo(*got.tensor(), *want.tensor(), rtol);
  return !got.tensor();
}

double RtolOf(const Graph& graph) {
  double rtol = 1e-3;
  const auto look = [&](const Value* v) {
    if (v && v->dtype() == DType::kFloat16) rtol = std::max(rtol, 2e-2);
    if (v && v->dtype() == DType::kBFloat16) rtol = std::max(rtol, 1e-1);
  };
  for (const Value* v : graph.inputs()) look(v);
  for (const Node* node : graph.nodes()) {
    for (const Value* v : node->outputs()) look(v);
    for (const Graph* inner : node->subgraphs()) rtol = std::max(rtol, RtolOf(*inner));
  }
  return rtol;
}

// --- Judges -------------------------------------------------------------------------------------

bool CanBeFed(const RandomCaseOfGraph& made, bool scalars, bool empty) {
  const auto fits = [&](const Datum& datum, bool input) {
    const Tensor* t = datum.tensor();
    if (!t || t->is_string() || t->dtype() == DType::kBFloat16 || IsComplex(t->dtype()))
      return false;
    if (BitWidth(t->dtype()) < 8 && t->dtype() != DType::kBool) return false;
    if (!empty && t->num_elements() == 0) return false;
    return scalars || !input || t->rank() != 0;
  };
  for (const Datum& datum : made.random.Inputs()) {
    if (!fits(datum, true)) return false;
  }
  return std::all_of(made.want.begin(), made.want.end(),
                     [&](const Datum& datum) { return fits(datum, false); });
}

// TensorFlow.js has integers of 32 bits, and takes inputs by names, in an object of JavaScript:
// names that are numbers come before all others there.
bool CanBeFedToTfjs(const RandomCaseOfGraph& made) {
  if (!CanBeFed(made, true, true)) return false;
  for (const Datum& datum : made.random.Inputs()) {
    const Tensor& t = *datum.tensor();
    for (int64_t i = 0; IsInteger(t.dtype()) && i < t.num_elements(); ++i) {
      const double v = t.AsDouble(i);
      if (v != static_cast<double>(static_cast<int32_t>(t.AsInt(i)))) return false;
    }
  }
  const auto is_number = [](const Value* v) {
    const std::string& name = v->name();
    return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  const Graph& graph = *made.random.graph;
  const auto inputs = graph.inputs(), outputs = graph.outputs();
  return std::none_of(inputs.begin(), inputs.end(), is_number) &&
         std::none_of(outputs.begin(), outputs.end(), is_number);
}

// TensorFlow.js gives each float as a float32.
absl::Status WriteIo(const RandomCaseOfGraph& made, const fs::path& path, bool for_tfjs = false) {
  IoCase io;
  for (const Datum& datum : made.random.Inputs()) io.inputs.emplace_back(*datum.tensor());
  for (const Datum& datum : made.want) {
    const Tensor& want = *datum.tensor();
    const bool as_float = for_tfjs && IsFloating(want.dtype());
    io.outputs.emplace_back(as_float ? *CastTensor(want, DType::kFloat32) : want);
  }
  return WriteIoFile(path.string(), {io}, *made.random.graph);
}

RandomVerdict Failed(std::string stage, std::string_view text) {
  return {RandomResult::kFailed, std::move(stage), std::string(text)};
}

RandomVerdict Known(const Graph& graph, std::string_view runtime, const RandomPath& path,
                    RandomVerdict verdict) {
  if (const KnownDifference* known = FindKnown(graph, runtime, path.opset, verdict.text)) {
    verdict.result = RandomResult::kKnown;
    verdict.stage = StrCat(runtime, ": ", known->reason);
  }
  return verdict;
}

bool IsRefusal(const absl::Status& status) {
  // NotFound: no mapping.
  return absl::IsNotFound(status) || absl::IsFailedPrecondition(status) ||
         absl::IsUnimplemented(status);
}

std::string DescribeDifference(const Datum& got, const Datum& want) {
  if (!got.tensor() || !want.tensor()) return "no tensor";
  const Comparison c = Compare(*got.tensor(), *want.tensor());
  return StrCat(c.problem, " (got ", got.tensor()->type().ToString(), ", want ",
                want.tensor()->type().ToString(), ")");
}

}  // namespace

namespace {

// LiteRT's binding for pages has no results whose sizes are found in the run, or hang on such: the
// same graph at the sizes that its inputs have. False where there are open sizes still.
bool StateSizes(const RandomCaseOfGraph& made, Graph& graph) {
  const std::vector<Datum> inputs = made.random.Inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].tensor()) graph.inputs()[i]->set_type(inputs[i].tensor()->type());
  }
  for (Value* output : graph.outputs()) {
    if (output->producer()) output->set_type(Type::Tensor(output->dtype()));
  }
  if (!InferGraph(graph).ok()) return false;
  const auto is_static = [](const Value* v) {
    return !v || !v->type().is_tensor() || (v->shape() && v->shape()->Static());
  };
  for (const Node* node : graph.nodes()) {
    const std::vector<Value*> inputs = node->inputs();
    if (!std::all_of(inputs.begin(), inputs.end(), is_static)) return false;
  }
  return std::all_of(graph.outputs().begin(), graph.outputs().end(), is_static);
}

}  // namespace

class RandomJudges {
 public:
  std::unique_ptr<OrtJudge> ort = OrtJudge::Start("ort.mjs");
  std::unique_ptr<OrtJudge> litert = OrtJudge::Start("litert.mjs");
  std::unique_ptr<OrtJudge> tfjs = OrtJudge::Start("tfjs.mjs");
  TorchJudge* torch() {
    if (!started_) torch_ = TorchJudge::Start();
    started_ = true;
    return torch_.get();
  }

 private:
  std::unique_ptr<TorchJudge> torch_;
  bool started_ = false;
};
std::shared_ptr<RandomJudges> StartJudges() {
  fs::create_directories(X2IR_BUILD_DIR "/conformance");  // for what they log
  return std::make_shared<RandomJudges>();
}

bool Settle(RandomGraph random, uint64_t seed, RandomCaseOfGraph* made) {
  Graph& graph = *random.graph;
  const auto want = RunGraph(graph, random.Inputs());
  if (!want.ok()) return false;
  const double rtol = RtolOf(graph);
  std::vector<bool> steady(want->size(), true);
  Random draws(seed * 7919 + 1);
  for (int round = 0; round < 2; ++round) {
    const std::shared_ptr<Graph> noisy = graph.Clone();
    AddNoise(*noisy, draws, round, &random.values);
    const auto got = RunGraph(*noisy, random.Inputs());
    if (!got.ok()) return false;
    for (size_t i = 0; i < steady.size(); ++i) {
      steady[i] = steady[i] && SameUpTo((*got)[i], (*want)[i], rtol / 20);
    }
  }
  const std::vector<Value*> outputs = graph.outputs();
  graph.ClearOutputs();
  made->want.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!steady[i] || !(*want)[i].tensor()) continue;
    graph.AddOutput(outputs[i]);
    made->want.push_back((*want)[i]);
  }
  made->rtol = rtol;
  const bool any = !graph.outputs().empty();
  made->random = std::move(random);
  return any;
}

std::string RandomPath::Name() const {
  return StrCat(target, opset ? StrCat("@", int64_t{opset}) : "",
                optimize ? "" : " without passes");
}

std::vector<RandomPath> PathsOf(uint64_t seed) {
  static constexpr int kOpsets[] = {7,  8,  9,  10, 11, 12, 13, 14, 15,
                                    16, 17, 18, 19, 20, 21, 22, 23};
  std::vector<RandomPath> paths;
  paths.push_back({"onnx", ".onnx", kOpsets[seed % std::size(kOpsets)], seed % 2 == 0});
  paths.push_back({"onnx", ".onnx", 18 + static_cast<int>(seed / 2 % 6), seed % 2 != 0});
  paths.push_back({"ir", ".json", 0, seed % 2 == 0});
  paths.push_back({"tflite", ".tflite", 0, seed % 4 != 0});
  paths.push_back({"python", ".py", 0, seed % 3 != 0});
  paths.push_back({"torch", ".pt2", 0, seed % 3 != 1});
  paths.push_back({"coreml", ".mlpackage", 0, seed % 5 != 0});
  paths.push_back({"oneflow_graph", ".mlir", 0, seed % 5 != 1});
  if (seed % 3 == 0) paths.push_back({"oneflow", ".py", 0, seed % 2 == 0});
  if (seed % 3 == 1) paths.push_back({"oneflow_job", ".job", 0, seed % 2 == 0});
  paths.push_back({"nnvm", ".nnvm.json", 0, seed % 5 != 2});
  paths.push_back({"relay", seed % 2 == 0 ? ".relay" : ".relay.json", 0, seed % 5 != 3});
  paths.push_back({"keras", ".keras", 0, seed % 5 != 4});
  paths.push_back({"ort", ".ort", 0, seed % 3 != 2});
  paths.push_back({"nnef", seed % 2 == 0 ? ".nnef" : ".nnef.tgz", 0, seed % 5 != 0});
  paths.push_back({"tensorflow", seed % 2 == 0 ? ".pb" : "", 0, seed % 3 != 0});  // "": a folder
  paths.push_back({"tfjs", ".tfjs.json", 0, seed % 3 != 1});
  paths.push_back({"stablehlo", ".mlir", 0, seed % 5 != 1});
  paths.push_back({"stablehlo_bytecode", ".mlirbc", 0, seed % 5 != 2});
  if (seed % 4 == 0) paths.push_back({"onnxtxt", ".onnxtxt", 0, true});
  return paths;
}

std::string RandomVerdict::Kind() const {
  std::string kind = stage + ": ";
  // Names in quotes, numbers and lists of them say where it is, not what.
  bool quoted = false;
  for (const char c : text.substr(0, 400)) {
    if (c == '\'' || c == '"') quoted = !quoted;
    if (quoted || std::isdigit(static_cast<unsigned char>(c)) || c == '\n') continue;
    kind += c;
  }
  return kind.substr(0, 160);
}

RandomVerdict TryPath(const RandomCaseOfGraph& made, const RandomPath& path, const fs::path& folder,
                      RandomJudges* judges) {
  const Graph& graph = *made.random.graph;
  const fs::path file_folder = folder / "written";
  std::error_code error;
  fs::remove_all(file_folder, error);
  fs::create_directories(file_folder, error);
  const std::string file = (file_folder / ("m" + path.extension)).string();
  Model ir;
  ir.graph = graph.Clone();
  ExportOptions to;
  to.format = path.target;
  if (path.opset) to.opset = path.opset;
  to.optimize = path.optimize;
  if (const absl::Status s = Export(std::move(ir), file, to); !s.ok()) {
    if (IsRefusal(s)) return {RandomResult::kRefused, "write", std::string(s.message())};
    return Failed("write", s.ToString());
  }
  ImportOptions from;
  // Python is not read back.
  const bool readable = path.extension != ".py";
  if (readable) {
    from.format = path.target;
    absl::StatusOr<Model> back = Import(file, from);
    if (!back.ok()) return Failed("read", back.status().ToString());
    std::vector<Datum> inputs = made.random.Inputs();
    if (back->graph->inputs().size() != inputs.size()) return Failed("read", "other inputs");
    for (size_t i = 0; i < inputs.size(); ++i) {
      const DType t = back->graph->inputs()[i]->dtype();
      const Tensor* tensor = inputs[i].tensor();
      if (!tensor || t == tensor->dtype() || t == DType::kUndefined) continue;
      if (path.target != "coreml" || tensor->is_string()) {
        return Failed("read", StrCat("an input is ", Name(t), ", was ", Name(tensor->dtype())));
      }
      inputs[i] = CastTensor(*tensor, t).value();
    }
    const auto got = RunGraph(*back->graph, inputs);
    if (!got.ok()) return Failed("evaluate", got.status().ToString());
    if (got->size() != made.want.size()) return Failed("read", "other outputs");
    for (size_t i = 0; i < got->size(); ++i) {
      Datum result = (*got)[i];
      const Tensor& want = *made.want[i].tensor();
      if (result.tensor() && path.target == "coreml" && !want.is_string() &&
          result.tensor()->dtype() != want.dtype()) {
        result = CastTensor(*result.tensor(), want.dtype()).value();
      }
      if (!SameUpTo(result, made.want[i], made.rtol)) {
        return Failed("compare", DescribeDifference(result, made.want[i]));
      }
    }
  }
  RandomVerdict verdict;
  if (!judges) return verdict;
  OrtJudge* judge = nullptr;
  const bool for_ort = path.target == "onnx" || path.target == "ort";
  if (for_ort && CanBeFed(made, true, true)) judge = judges->ort.get();
  if (path.target == "tflite" && CanBeFed(made, false, false)) judge = judges->litert.get();
  const bool for_tfjs = path.target == "tfjs";
  if (for_tfjs && CanBeFedToTfjs(made)) judge = judges->tfjs.get();
  TorchJudge* torch = nullptr;
  if (path.target == "python" && CanBeFed(made, true, true)) torch = judges->torch();
  if (!judge && !torch) return verdict;
  if (path.target == "tflite") {
    Model stated;
    stated.graph = graph.Clone();
    if (!StateSizes(made, *stated.graph)) return verdict;
    if (const absl::Status s = Export(std::move(stated), file, to); !s.ok()) {
      if (IsRefusal(s)) return {RandomResult::kRefused, "write", std::string(s.message())};
      return Failed("write", s.ToString());
    }
  }
  const fs::path io = folder / "io.safetensors";
  if (const absl::Status s = WriteIo(made, io, for_tfjs); !s.ok())
    return Failed("io", s.ToString());
  if (torch) {
    const std::string problem = torch->Ask(file, io.string());
    verdict.run = problem.empty();
    if (problem.empty() || problem.starts_with("skip: ")) return verdict;
    verdict = Failed("PyTorch", problem);
    return Known(graph, "PyTorch", path, std::move(verdict));
  }
  double largest = 1;
  for (const Datum& datum : made.want) {
    for (int64_t i = 0; IsFloating(datum.tensor()->dtype()) && i < datum.tensor()->num_elements();
         ++i) {
      largest = std::max(largest, std::abs(datum.tensor()->AsDouble(i)));
    }
  }
  judge->Ask({file, io.string(), made.rtol, 0.1 * made.rtol * largest});
  const OrtJudge::Answer answer = judge->Answers().back();
  if (answer.agrees) {
    verdict.run = true;
    return verdict;
  }
  const char* runtime = for_ort ? "ONNX Runtime" : for_tfjs ? "TensorFlow.js" : "LiteRT";
  verdict = Failed(StrCat(runtime, " ", answer.stage), answer.error);
  return Known(graph, runtime, path, std::move(verdict));
}

void WriteFailure(const RandomCaseOfGraph& made, const RandomPath& path,
                  const RandomVerdict& verdict, const fs::path& base) {
  std::error_code error;
  fs::create_directories(base.parent_path(), error);
  TextOptions options;
  options.max_constant_elements = 200;
  WriteFile(base.string() + ".txt", StrCat(path.Name(), "\n", verdict.stage, ": ", verdict.text,
                                           "\n\n", ToText(*made.random.graph, options), "\n"));
  Model ir, source;
  ir.graph = made.random.graph->Clone();
  source.graph = made.random.graph->Clone();
  (void)Export(std::move(ir), base.string() + ".json");
  ExportOptions to;
  to.opset = 18;
  to.optimize = false;
  (void)Export(std::move(source), base.string() + ".onnx", to);
  (void)WriteIo(made, base.string() + ".io.safetensors");
}

}  // namespace x2ir
