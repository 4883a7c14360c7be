// What verbs of the program say of models, as JSON and as the text that they print; and the
// program.
#include "look.h"

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "models.h"
#include "tensors.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/inspect/compare.h"
#include "x2ir/inspect/cost.h"
#include "x2ir/inspect/diff.h"
#include "x2ir/inspect/weight_stats.h"
#include "x2ir/view/view.h"

namespace x2ir::python {
namespace {

using ModelPtr = std::shared_ptr<ModelScope>;

// (JSON, text).
py::tuple Said(const std::string& json, const std::string& text) {
  return py::make_tuple(TextOf(json), TextOf(WithWords(text)));
}

// Two models that are compared, and on what.
struct Pair {
  ModelPtr model, other;
  py::object io;  // as of CasesOf; None: random inputs
  int64_t random = 1, seed = 0;
  Tolerance tolerance;
};

ModelComparison Compared(const Pair& pair, const py::object& progress) {
  for (const ModelPtr& each : {pair.model, pair.other}) {
    NeedIr(*each);
    Settle(*each);
  }
  const Graph& graph = *pair.model->model.graph;
  std::vector<IoCase> cases = CasesOf(pair.io, graph);
  std::string note;
  if (pair.io.is_none()) {
    for (int64_t i = 0; i < pair.random; ++i) {
      cases.push_back(Get(RandomCase(graph, static_cast<uint64_t>(pair.seed + i), &note)));
    }
  }
  Watch watch(progress);
  const VerifyOptions options{pair.tolerance, watch.fn()};
  const Reading reading(*pair.model), reading_other(*pair.other);
  ModelComparison comparison = Get(watch.Run(
      [&] { return CompareModels(pair.model->model, pair.other->model, cases, options); }));
  comparison.note = note;
  return comparison;
}

py::tuple Compare(const ModelPtr& model, const ModelPtr& other, const py::object& io,
                  int64_t random, int64_t seed, double rtol, double atol,
                  const py::object& progress) {
  const ModelComparison said = Compared({model, other, io, random, seed, {rtol, atol}}, progress);
  return Said(said.ToJson(), said.ToText());
}

py::tuple Diff(const ModelPtr& model, const ModelPtr& other, bool optimize,
               const py::object& progress) {
  Settle(*model);
  Settle(*other);
  Watch watch(progress);
  const Reading reading(*model), reading_other(*other);
  const ModelDiff diff = Get(watch.Run([&]() -> absl::StatusOr<ModelDiff> {
    if (!optimize) return DiffModels(model->model, other->model);
    Model first = model->model.Clone(), second = other->model.Clone();
    return DiffOptimized(first, second, "onnx", watch.fn());
  }));
  return Said(diff.ToJson(), diff.ToText());
}

py::tuple Cost(const ModelPtr& model) {
  NeedIr(*model);
  Settle(*model);
  const ModelCost cost = CostOf(*model->model.graph);
  return Said(cost.ToJson(), cost.ToText());
}

py::tuple Weights(const ModelPtr& model, int bins) {
  Settle(*model);
  std::vector<WeightStats> stats;
  {
    const Reading reading(*model);
    const py::gil_scoped_release release;
    stats = StatsOfWeights(*model->model.graph, bins);
  }
  return Said(WeightsJson(stats), WeightsText(stats));
}

// `compare`: (io, random, seed), or None.
py::str View(const std::vector<std::pair<ModelPtr, std::string>>& models, bool weights,
             const std::optional<std::tuple<py::object, int64_t, int64_t>>& compare,
             const py::object& progress) {
  std::vector<ViewedModel> viewed;
  for (const auto& [model, title] : models) {
    Settle(*model);
    if (!model->is_ir) Check(model->model.graph->Sort());
    viewed.push_back({title, model->format, &model->model});
  }
  ViewOptions options;
  options.weights = weights;
  std::optional<ModelComparison> comparison;
  if (compare) {
    const auto& [io, random, seed] = *compare;
    comparison = Compared({models.at(0).first, models.at(1).first, io, random, seed, {}}, progress);
    options.comparison = &*comparison;
  }
  std::vector<std::unique_ptr<Reading>> reading;
  for (const auto& [model, title] : models) reading.push_back(std::make_unique<Reading>(*model));
  Watch watch(progress);
  return TextOf(Get(watch.Run([&] { return ViewPage(viewed, options); })));
}

int Main(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const py::gil_scoped_release release;
  return cli::RunX2ir(static_cast<int>(arguments.size()), argv.data());
}

}  // namespace

void BindLook(py::module_& m) {
  m.def("compare", &Compare);
  m.def("diff", &Diff);
  m.def("cost", &Cost);
  m.def("weights", &Weights);
  m.def("view", &View);
  m.def("main", &Main);
}

}  // namespace x2ir::python
