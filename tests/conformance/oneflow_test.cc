// OneFlow's graphs with the outputs that they have (tests/data/cases/README.md): each is read,
// converted and evaluated, exported to ONNX at opsets 13 and 18, where ONNX Runtime runs it to the
// same numbers, and written as a graph and as a job of OneFlow, which are read again to the same.
// And ONNX's node tests to OneFlow's ops, through both files, and back: what is not written stands
// in tests/golden/oneflow_one_way.txt with the reason.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes oneflow_one_way.txt
#include "x2ir/formats/oneflow/oneflow.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/conformance/ort_util.h"
#include "tests/conformance/value_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

std::vector<FrameworkCase> OneflowCases() {
  const fs::path root = Unpacked("oneflow-cases.tar.xz", "oneflow-cases");
  return root.empty() ? std::vector<FrameworkCase>() : CasesOfFolders(root / "oneflow-cases");
}

// All files of a folder with their bytes.
std::map<std::string, std::string> FilesOf(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files[fs::relative(entry.path(), folder).string()] = ReadFile(entry.path().string());
    }
  }
  return files;
}

TEST(Oneflow, CasesAgree) {
  const std::vector<FrameworkCase> cases = OneflowCases();
  EXPECT_EQ(cases.size(), Env("X2IR_CASES").empty() ? 27u : cases.size());
  CheckFramework({.name = "oneflow"}, cases);
}

TEST(Oneflow, CasesThereAndBack) {
  const TempDir temp;
  for (const auto& [name, folder, ios] : OneflowCases()) {
    SCOPED_TRACE(name);
    const fs::path& io = ios[0];
    const absl::StatusOr<Model> ir = Import(folder.string());
    ASSERT_TRUE(ir.ok()) << ir.status();
    // Written, read, and written again: the same files, and the variables' own bytes.
    for (const auto& [file, format] :
         {std::pair{"model.mlir", "oneflow_graph"}, std::pair{"x.job", "oneflow_job"}}) {
      const fs::path once = temp.path() / name / file / "1", twice = once.parent_path() / "2";
      fs::create_directories(once);
      fs::create_directories(twice);
      const absl::Status s = Export(ir->Clone(), (once / file).string(), {.format = format});
      ASSERT_TRUE(s.ok()) << s;
      absl::StatusOr<Model> again = Import((once / file).string());
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_TRUE(AgreesWithIo(*again, io).ok()) << AgreesWithIo(*again, io);
      EXPECT_TRUE(Export(*std::move(again), (twice / file).string(), {.format = format}).ok());
      EXPECT_TRUE(FilesOf(once) == FilesOf(twice)) << file;
      const auto written = FilesOf(once);
      for (const auto& [path, bytes] : FilesOf(folder)) {
        if (!path.ends_with("/out")) continue;
        ASSERT_TRUE(written.contains(path)) << path;
        EXPECT_EQ(written.at(path), bytes) << path;
      }
    }
  }
}

TEST(Oneflow, SamplesOfItsText) {
  const fs::path root = Unpacked("oneflow-cases.tar.xz", "oneflow-cases");
  ASSERT_FALSE(root.empty());
  const fs::path folder = root / "oneflow-cases/reader_only";
  const struct {
    const char *file, *job, *error;  // "": it becomes IR
  } rows[] = {
      {"oneflow_to_tosa.mlir", "", "there is more than one job"},
      {"oneflow_to_tosa.mlir", "test_func", ""},
      {"oneflow_to_tosa.mlir", "test_input", ""},
      {"oneflow_to_tosa.mlir", "test_output", ""},
      {"oneflow_to_tosa.mlir", "test_variable", "fw.model.conv1.weight"},
      {"oneflow_to_tosa.mlir", "test_add_n2", ""},
      {"oneflow_to_tosa.mlir", "test_broadcast_add", ""},
      {"oneflow_to_tosa.mlir", "test_max_pool_2d", ""},
      {"oneflow_to_tosa.mlir", "test_avg_pool_2d", ""},
      {"oneflow_to_tosa.mlir", "test_conv2d", ""},
      {"oneflow_to_tosa.mlir", "test_matmul", ""},
      {"oneflow_to_tosa.mlir", "test_relu", ""},
      {"oneflow_to_tosa.mlir", "test_bn", "statistics"},
      {"oneflow_to_tosa.mlir", "nobody", "there is no job 'nobody'"},
      {"sbp_parse.mlir", "test_single", "2 variables have no file"},
      {"cse.mlir", "", "more than one job"},
  };
  for (const auto& row : rows) {
    ImportOptions options;
    if (*row.job) options.format_options = {{"job", std::string(row.job)}};
    const absl::StatusOr<Model> ir = Import((folder / row.file).string(), options);
    if (*row.error) {
      EXPECT_NE(ir.status().ToString().find(row.error), std::string::npos)
          << row.job << ": " << ir.status();
    } else {
      EXPECT_TRUE(ir.ok()) << row.job << ": " << ir.status();
    }
  }
}

// Integers of rank 0 and 1 (axes, sizes) become constants: a job's sizes are known.
void SettleSizes(Graph& graph, std::vector<Tensor>* inputs) {
  for (size_t i = graph.inputs().size(); i-- > 0;) {
    Value* input = graph.inputs()[i];
    if (!IsInteger(input->dtype()) || (*inputs)[i].rank() > 1) continue;
    Value* constant = graph.AddConstant(graph.UniqueName(input->name() + "_known"), (*inputs)[i]);
    graph.ReplaceAllUses(input, constant);
    graph.RemoveInput(input);
    inputs->erase(inputs->begin() + static_cast<ptrdiff_t>(i));
  }
}

bool HasUnknownSizes(const Graph& graph) {
  for (const Value* v : graph.outputs()) {
    if (!v->shape() || !v->shape()->Static()) return true;
  }
  return false;
}

// Written to memory, and read from there.
using WriteFn = absl::Status (*)(const Model&, const Sink&, bool);
using ReadFn = absl::StatusOr<Model> (*)(const Source&, const OneflowReadOptions&);
absl::StatusOr<Model> ThroughMemory(const std::string& name, const Model& written, WriteFn write,
                                    ReadFn read) {
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  X2IR_RETURN_IF_ERROR(write(written, IntoMemory(name, files), false));
  return read(FromMemory("", name, files), {});
}

TEST(OneflowBack, NodeTestsComeBack) {
  const std::vector<fs::path> cases = OnnxNodeTests();
  if (cases.size() < 1500) GTEST_SKIP() << "libonnx-testdata or the newer node tests are missing";
  BackTally tally;
  for (const fs::path& folder : cases) {
    const std::string name = folder.filename().string();
    if (!tally.Wants(name)) continue;
    std::optional<NodeCase> test = ReadNodeCase(folder);
    if (!test || !test->has_all_inputs) continue;  // sequences
    Graph& graph = *test->ir.graph;
    std::vector<Tensor>& inputs = test->inputs;
    const auto empty = [](const Tensor& input) { return input.num_elements() == 0; };
    if (std::any_of(inputs.begin(), inputs.end(), empty)) continue;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Type type = graph.inputs()[i]->type();
      if (!type.is_tensor()) continue;
      type.set_shape(inputs[i].shape());
      graph.inputs()[i]->set_type(std::move(type));
    }
    for (Value* output : graph.outputs()) {
      if (output->producer() && output->type().is_tensor()) {
        output->set_type(Type::Tensor(output->dtype()));
      }
    }
    if (!InferGraph(graph).ok()) continue;
    if (HasUnknownSizes(graph)) SettleSizes(graph, &inputs);
    if (!InferGraph(graph).ok() || graph.inputs().empty()) continue;
    // Through both files: they must say the same.
    const auto through = [](const Model& written) -> absl::StatusOr<Model> {
      X2IR_ASSIGN_OR_RETURN(const Model of_job,
                            ThroughMemory("x.job", written, WriteOneflowJob, ReadOneflowJob));
      X2IR_ASSIGN_OR_RETURN(Model of_graph,
                            ThroughMemory("x.mlir", written, WriteOneflowMlir, ReadOneflowMlir));
      if (of_job.graph->num_nodes() != of_graph.graph->num_nodes()) {
        return Internal("the job is not the graph");
      }
      const Node* other = of_job.graph->first();
      for (const Node* node : std::as_const(*of_graph.graph).nodes()) {
        bool same = node->op() == other->op() && node->name() == other->name() &&
                    node->num_inputs() == other->num_inputs() &&
                    node->attrs().size() == other->attrs().size();
        for (const auto& [attr, value] : node->attrs()) {
          same = same && other->attrs().Has(attr) && *other->attrs().Find(attr) == value;
        }
        if (!same) return Internal("the job is not the graph: ", node->op().str());
        other = other->next();
      }
      return of_graph;
    };
    tally.Add(name, ThereAndBack(test->ir, "oneflow", {inputs}, DrawsNumbers(graph), through));
  }
  tally.Finish("oneflow", "node tests are written and come back",
               "tests/golden/oneflow_one_way.txt", "Node tests that are not written as OneFlow's.");
}

}  // namespace
}  // namespace x2ir
