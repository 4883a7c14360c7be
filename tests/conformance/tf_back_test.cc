// TensorFlow's frozen graphs to the IR, back to TensorFlow's ops, and to the IR again: the same
// results. What is written goes through a frozen graph and through a SavedModel.
// Cases that do not come back stand in tests/golden/tf_one_way.txt with the reason. ONNX's node
// tests go through frozen graphs; those that are not written stand in tests/golden/tf_refused.txt.
//
//   X2IR_TF_CASES=REGEX    only the graphs whose names match, each with its reason
//   X2IR_CASES=REGEX       the same of node tests
// Graphs that come back with more nodes stand in tests/golden/tf_more_nodes.txt with what they are
// made of.
//
//   X2IR_UPDATE_GOLDEN=1   writes these files
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/node_back_util.h"
#include "tests/conformance/tf_cases_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/tf/signatures.h"

namespace x2ir {
namespace {

using Files = std::map<std::string, std::string>;

// As a frozen graph ("model.pb"), or as a SavedModel.
absl::StatusOr<Files> FilesOf(const Model& model, const std::string& name) {
  const auto files = std::make_shared<Files>();
  if (absl::Status s = WriteTensorFlow(model, IntoMemory(name, files)); !s.ok()) return s;
  return *files;
}
absl::StatusOr<Model> ReadFiles(const std::string& name, Files files) {
  const auto all = std::make_shared<Files>(std::move(files));
  return ReadTensorFlow(name.ends_with(".pb") ? FromMemory("", name, all)
                                              : FromMemory(name + "/", "saved_model.pb", all));
}

// The graph as such files, which are read and written again with the same bytes.
absl::StatusOr<Model> Through(const Model& model, const std::string& name) {
  X2IR_ASSIGN_OR_RETURN(Files files, FilesOf(model, name));
  X2IR_ASSIGN_OR_RETURN(Model read, ReadFiles(name, files));
  const absl::StatusOr<Files> again = FilesOf(read, name);
  if (!again.ok()) return Internal("written again: ", std::string(again.status().message()));
  if (*again != files) return Internal("written again it has other bytes");
  return read;
}

// The graph of a case as Convert reads it where TensorFlow's files are written.
absl::StatusOr<Model> ImportForTf(const TfCase& test) {
  ImportOptions options = TfImportOptions(test);
  options.foreign.target = "tf";
  return Import(test.model, options);
}

TEST(TensorFlowBackTest, CasesComeBack) {
  const std::vector<TfCase> cases = TfCases();
  if (cases.empty()) GTEST_SKIP() << "../shared/tf-frozen-graphs.tar.xz is not there";
  BackTally tally("X2IR_TF_CASES");
  for (const TfCase& test : cases) {
    if (!tally.Wants(test.name)) continue;
    const absl::StatusOr<Model> ir = Import(test.model, TfImportOptions(test));
    if (!ir.ok()) continue;  // told by tf_test.cc
    const absl::StatusOr<IoCase> io = ReadTfIo(test, *ir->graph);
    std::vector<Tensor> inputs;
    if (io.ok()) {
      for (const auto& tensor : io->inputs) inputs.push_back(*tensor);
    }
    const bool random = DrawsNumbers(*ir->graph);
    Back back;
    for (const char* name : {"model.pb", "saved"}) {
      if (!back.problem.empty()) break;
      back = ThereAndBack(*ir, "tf", {inputs}, random,
                          [&](const Model& model) { return Through(model, name); });
    }
    // And with the operators that stay as they are, optimized.
    if (back.problem.empty()) {
      back = ThereAndBack(*ir, "tf", {inputs}, random, [&](const Model&) -> absl::StatusOr<Model> {
        X2IR_ASSIGN_OR_RETURN(Model kept, ImportForTf(test));
        X2IR_RETURN_IF_ERROR(FromIr(kept, "tf"));
        return Through(kept, "model.pb");
      });
    }
    tally.Add(test.name, back);
  }
  tally.Finish("tf", "graphs come back", "tests/golden/tf_one_way.txt",
               "Graphs that are read, but not written again.");
}

// Nodes that compute something: constants, inputs, and names for values are not counted, nor
// variables, in whose place a frozen graph has constants.
size_t CountWork(const Graph& graph) {
  static const auto& kOthers = *new std::set<std::string_view>{
      "Const", "Identity", "NoOp", "Placeholder", "StopGradient", "TemporaryVariable"};
  size_t count = 0;
  for (const Node* node : graph.nodes()) {
    count += !kOthers.contains(node->op().view());
    for (const Graph* inner : node->subgraphs()) count += CountWork(*inner);
  }
  return count;
}

// The ops of a graph that are written as several, or in another form.
std::string OpsOfOthers(const Graph& graph) {
  static const auto& kSame =
      *new std::set<std::string_view>{"Add", "Assign", "BatchMatMul", "Pad", "Select", "Split"};
  std::set<std::string> ops;
  for (const Node* node : graph.nodes()) {
    const std::string op = node->op().str();
    if (!FindTfSignature(op) && !kSame.contains(op)) ops.insert(op);
  }
  std::string list;
  for (const std::string& op : ops) StrAppend(&list, list.empty() ? "" : ", ", op);
  return list;
}

// What the cases have as constants, sizes and axes too, as inputs: whether there are any.
bool FeedAllConstants(Graph& graph) {
  std::vector<Value*> fed;
  for (Value* constant : graph.constants()) {
    if (constant->name().starts_with("in_") && !constant->constant()->is_string()) {
      fed.push_back(constant);
    }
  }
  for (Value* constant : fed) {
    const Type type = constant->constant()->type();
    graph.ReplaceAllUses(constant, graph.AddInput(StrCat(constant->name(), "_fed"), type));
  }
  return !fed.empty();
}

TEST(TensorFlowBackTest, NodesAreNotMore) {
  constexpr const char* kFile = "tests/golden/tf_more_nodes.txt";
  const std::vector<TfCase> cases = TfCases();
  if (cases.empty()) GTEST_SKIP() << "../shared/tf-frozen-graphs.tar.xz is not there";
  const BackTally filter("X2IR_TF_CASES");
  const Reasons listed = ReadReasons(kFile);
  Reasons more;
  size_t all_before = 0, all_after = 0, tried = 0, all_fed = 0;
  const auto compare = [&](const std::string& name, size_t before, size_t after,
                           const std::string& ops) {
    if (after <= before) return;
    const auto known = listed.find(name);
    more[name] = known != listed.end() ? known->second : StrCat(before, " to ", after, ": ", ops);
  };
  for (const TfCase& test : cases) {
    if (!filter.Wants(test.name)) continue;
    const ImportOptions options = TfImportOptions(test);
    absl::StatusOr<Model> read = Load(test.model, options.format, options.Loading());
    absl::StatusOr<Model> model = ImportForTf(test);
    IoCase io;
    if (!read.ok() || !model.ok() || !FeedTfConstants(*model->graph, &io).ok()) continue;
    if (!FromIr(*model, "tf").ok()) continue;  // told by CasesComeBack
    const size_t before = CountWork(*read->graph), after = CountWork(*model->graph);
    ++tried;
    all_before += before;
    all_after += after;
    const std::string ops = OpsOfOthers(*read->graph);
    compare(test.name, before, after, ops);
    // Some need their sizes and axes to be known.
    ImportOptions for_tf = options;
    for_tf.foreign.target = "tf";
    if (!FeedAllConstants(*read->graph) || !ToIr(*read, for_tf).ok() || !FromIr(*read, "tf").ok()) {
      continue;
    }
    ++all_fed;
    compare(StrCat(test.name, ", fed"), before, CountWork(*read->graph), ops);
  }
  std::printf(
      "tf: %zu graphs, %zu nodes, %zu when written again; %zu graphs fed with all constants; more "
      "in "
      "%zu\n",
      tried, all_before, all_after, all_fed, more.size());
  if (!Env("X2IR_TF_CASES").empty()) return;
  ExpectReasons(kFile, "Graphs that have more nodes when they are written again.", more);
}

size_t CountOps(const Graph& graph, std::string_view op) {
  size_t count = 0;
  for (const Node* node : graph.nodes()) {
    count += node->op().view() == op;
    for (const Graph* inner : node->subgraphs()) count += CountOps(*inner, op);
  }
  return count;
}

// Whether all convolutions and pools, of which there are some, have channels last.
bool HasImagesWithChannelsLast(const Graph& graph) {
  bool some = false;
  for (const Node* node : graph.nodes()) {
    if (!node->Is("conv") && !node->Is("conv_transpose") && !node->Is("max_pool") &&
        !node->Is("average_pool")) {
      continue;
    }
    some = true;
    if (node->attrs().String("layout", "") != "channels_last") return false;
  }
  return some;
}

// What TensorFlow's own graph has for recurrent layers of images: while the rounds run, they are
// the first axis. What a layer takes is transposed, and what it gives, where these are all rounds.
size_t TransposesOfRounds(const Graph& graph) {
  size_t count = 0;
  for (const Node* node : graph.nodes()) {
    if (!node->Is("scan")) continue;
    ++count;
    const size_t scanned = static_cast<size_t>(node->attrs().Int("num_scan_inputs"));
    for (size_t i = node->num_inputs() - scanned; i < node->num_outputs(); ++i) {
      count += node->output(i) && !node->output(i)->is_unused();
    }
  }
  return count;
}

// Networks of Keras and TFLite with channels last get no transposes that TensorFlow would not have.
TEST(TensorFlowBackTest, ChannelsLastStay) {
  constexpr const char* kFile = "tests/golden/tf_transposes.txt";
  const Reasons listed = ReadReasons(kFile);
  Reasons more;
  size_t networks = 0, transposed = 0;
  for (const char* cases : {"keras-cases", "tflite-cases"}) {
    const std::filesystem::path root = Unpacked(StrCat(cases, ".tar.xz"), cases);
    if (root.empty()) return;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::filesystem::path& path = entry.path();
      const std::string end = path.extension().string();
      if (end != ".keras" && end != ".h5" && end != ".tflite" && path.filename() != "model.json") {
        continue;
      }
      absl::StatusOr<Model> model = Import(path.string());
      if (!model.ok() || !HasImagesWithChannelsLast(*model->graph)) continue;
      const size_t before = CountOps(*model->graph, "transpose"),
                   floor = before + TransposesOfRounds(*model->graph);
      if (!FromIr(*model, "tf").ok()) continue;
      ++networks;
      const size_t after = CountOps(*model->graph, "Transpose");
      const std::string name = std::filesystem::relative(path, root).string();
      if (after > before) ++transposed;
      if (after <= floor) continue;
      const auto known = listed.find(name);
      more[name] = known != listed.end() ? known->second : StrCat(floor, " to ", after);
    }
  }
  std::printf(
      "tf: %zu networks with channels last, %zu with more transposes, %zu with more than "
      "TensorFlow's "
      "own graph\n",
      networks, transposed, more.size());
  EXPECT_GT(networks, 150);
  ExpectReasons(kFile, "Networks that are written with more transposes.", more);
}

TEST(TensorFlowBackTest, NodeTestsComeBack) {
  ExpectNodeTestsComeBack(
      "tf", [](size_t) { return [](const Model& m) { return Through(m, "model.pb"); }; },
      "tests/golden/tf_refused.txt", "Node tests that are not written as graphs of TensorFlow.");
}

}  // namespace
}  // namespace x2ir
