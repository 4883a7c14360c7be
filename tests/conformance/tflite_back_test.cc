// ONNX's node tests as TFLite files, in LiteRT: the results of the tests. Those that are not
// written stand in tests/golden/tflite_refused.txt with the reason. LiteRT takes no inputs of rank
// 0 and no strings here, so what is written of such cases is not run.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes tflite_refused.txt
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/conformance/value_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/golden/golden_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Types that tensors have there, but kernels hardly: what is of them is counted apart.
bool IsOfTypesWithKernels(const Graph& graph) {
  const auto fits = [](const Value* v) {
    const DType t = v->dtype();
    return v->type().is_tensor() &&
           (t == DType::kFloat32 || t == DType::kInt32 || t == DType::kInt64 || t == DType::kBool ||
            t == DType::kInt8 || t == DType::kUInt8 || t == DType::kInt16);
  };
  return std::all_of(graph.inputs().begin(), graph.inputs().end(), fits) &&
         std::all_of(graph.outputs().begin(), graph.outputs().end(), fits);
}

struct Sets {
  IoCase io;
  bool complete = true, can_be_fed = true;
};

Sets ReadSets(const fs::path& folder, const Graph& graph) {
  Sets sets;
  const auto take = [&](const char* stem, absl::Span<const Value* const> values,
                        std::vector<std::optional<Tensor>>* into) {
    const auto data = ReadDatums((folder / "test_data_set_0").string(), stem, values);
    sets.complete = sets.complete && data.ok() && data->size() == values.size();
    for (const Datum& datum : data.ok() ? *data : std::vector<Datum>()) {
      const Tensor* tensor = datum.tensor();
      into->push_back(tensor ? std::optional(*tensor) : std::nullopt);
      sets.complete = sets.complete && tensor;
      if (tensor && (tensor->is_string() || tensor->num_elements() == 0 ||
                     tensor->dtype() == DType::kBFloat16 ||
                     (into == &sets.io.inputs && tensor->rank() == 0))) {
        sets.can_be_fed = false;
      }
    }
  };
  take("input", graph.inputs(), &sets.io.inputs);
  take("output", graph.outputs(), &sets.io.outputs);
  return sets;
}

bool HasStaticOutputs(const Graph& graph) {
  return std::all_of(graph.outputs().begin(), graph.outputs().end(),
                     [](const Value* v) { return v->shape() && v->shape()->Static(); });
}

// Integers of rank 0 and 1 (axes, sizes) become constants, since LiteRT's binding for pages has no
// results whose sizes are found in the run.
void FreezeSizes(Graph& graph, IoCase* io) {
  for (size_t i = graph.inputs().size(); i-- > 0;) {
    Value* input = graph.inputs()[i];
    if (!IsInteger(input->dtype()) || io->inputs[i]->rank() > 1) continue;
    Value* constant = graph.AddConstant(graph.UniqueName(input->name() + "_known"), *io->inputs[i]);
    graph.ReplaceAllUses(input, constant);
    graph.RemoveInput(input);
    io->inputs.erase(io->inputs.begin() + static_cast<ptrdiff_t>(i));
  }
}

TEST(TfliteNodeTests, RunInLiteRt) {
  const std::vector<fs::path> cases = OnnxNodeTests();
  if (cases.size() < 1500) GTEST_SKIP() << "libonnx-testdata or the newer node tests are missing";
  const auto judge = OrtJudge::Start("litert.mjs");
  if (!judge) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
  const TempDir dir;
  const std::string filter = Env("X2IR_CASES");
  const std::regex wanted(filter.empty() ? ".*" : filter);
  std::map<std::string, std::string> refused;
  std::vector<std::string> asked;
  int read = 0, of_types = 0, written_of_types = 0, not_fed = 0, right = 0, not_run = 0;
  for (const fs::path& folder : cases) {
    const std::string name = folder.filename().string();
    if (!std::regex_search(name, wanted)) continue;
    absl::StatusOr<Model> ir = Import((folder / "model.onnx").string());
    if (!ir.ok()) continue;  // told by conformance_test.cc
    Graph& graph = *ir->graph;
    Sets sets = ReadSets(folder, graph);
    if (!sets.complete) continue;
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      Type type = graph.inputs()[i]->type();
      if (!type.is_tensor()) continue;
      type.set_shape(Shape::FromInts(sets.io.inputs[i]->dims()));
      graph.inputs()[i]->set_type(std::move(type));
    }
    // What the file declares of results is not what is known of them.
    for (Value* output : graph.outputs()) {
      if (output->producer() && output->type().is_tensor()) {
        output->set_type(Type::Tensor(output->dtype()));
      }
    }
    if (!InferGraph(graph).ok()) continue;
    if (!HasStaticOutputs(graph)) FreezeSizes(graph, &sets.io);
    const bool known = InferGraph(graph).ok() && HasStaticOutputs(graph);
    ++read;
    const bool counts = IsOfTypesWithKernels(graph);
    of_types += counts;
    const std::string base = dir.Path(StrCat("case_", int64_t{read}));
    const bool can_be_fed =
        known && sets.can_be_fed && WriteIoFile(base + ".safetensors", {sets.io}, graph).ok();
    if (const absl::Status s = Export(*std::move(ir), base + ".tflite"); !s.ok()) {
      refused[name] = RefusalOf(s);
      if (!filter.empty()) std::printf("%s: %s\n", name.c_str(), refused[name].c_str());
      continue;
    }
    written_of_types += counts;
    if (!can_be_fed) {
      ++not_fed;
      continue;
    }
    judge->Ask({base + ".tflite", base + ".safetensors", 1e-3, 1e-5});
    asked.push_back(name);
  }
  const auto& answers = judge->Answers();
  for (size_t i = 0; i < answers.size(); ++i) {
    right += answers[i].agrees;
    if (answers[i].agrees) continue;
    if (answers[i].cannot_run()) {
      ++not_run;
      continue;
    }
    ADD_FAILURE() << asked[i] << " (" << answers[i].stage << "): " << answers[i].error;
  }
  std::printf(
      "tflite: %d of %d node tests are written (of types that have kernels: %d of %d); LiteRT runs "
      "%zu, %d right, %d cannot be handed over\n",
      read - static_cast<int>(refused.size()), read, written_of_types, of_types, answers.size(),
      right, not_fed + not_run);
  if (filter.empty()) {
    ExpectReasons("tests/golden/tflite_refused.txt", "Node tests that are not written.", refused);
  }
}

}  // namespace
}  // namespace x2ir
