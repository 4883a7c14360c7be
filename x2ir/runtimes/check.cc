#include "x2ir/runtimes/check.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <system_error>
#include <utility>

#include "x2ir/core/conversion_options.h"
#include "x2ir/core/usual_inputs.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// A temporary folder, which is removed with the object.
class RuntimeFolder {
 public:
  static absl::StatusOr<std::shared_ptr<const RuntimeFolder>> Make() {
    std::error_code error;
    const fs::path base = fs::temp_directory_path(error);
    if (error) return SystemError("no folder for temporary files: ", error.message());
    std::string name = (base / "x2ir_runtime_XXXXXX").string();
    if (!::mkdtemp(name.data())) {
      return SystemError("cannot make a folder in '", base.string(), "': ", std::strerror(errno));
    }
    return std::shared_ptr<const RuntimeFolder>(new RuntimeFolder(std::move(name)));
  }
  ~RuntimeFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  RuntimeFolder(const RuntimeFolder&) = delete;
  RuntimeFolder& operator=(const RuntimeFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  explicit RuntimeFolder(std::string path) : path_(std::move(path)) {}
  const fs::path path_;
};

// For each of the runtime's ports which of `values` it is, of which those that are `required` are
// there.
absl::StatusOr<std::vector<size_t>> PositionsOf(const std::vector<RuntimePort>& ports,
                                                absl::Span<const Value* const> values,
                                                std::vector<size_t> required,
                                                std::string_view what) {
  std::map<std::string_view, size_t> named;
  for (size_t i = 0; i < values.size(); ++i) named[values[i]->name()] = i;
  std::vector<size_t> by_name;
  for (const RuntimePort& port : ports) {
    const auto it = named.find(port.name);
    if (it == named.end()) break;
    by_name.push_back(it->second);
    named.erase(it);
  }
  if (by_name.size() == ports.size() && ports.size() >= required.size()) return by_name;
  if (ports.size() == required.size()) return required;
  return Invalid("the model has ", required.size(), " ", what, required.size() == 1 ? "" : "s",
                 ", and the file that the runtime has read ", ports.size());
}

}  // namespace

absl::Status ModelInRuntime::MatchInterfaces() {
  std::vector<size_t> required, all(graph_->outputs().size());
  // An input that has a default value may be left out.
  for (size_t i = 0; i < graph_->inputs().size(); ++i) {
    if (!graph_->inputs()[i]->constant()) required.push_back(i);
  }
  std::iota(all.begin(), all.end(), size_t{0});
  X2IR_ASSIGN_OR_RETURN(inputs_,
                        PositionsOf(model_->inputs(), graph_->inputs(), required, "input"));
  X2IR_ASSIGN_OR_RETURN(outputs_, PositionsOf(model_->outputs(), graph_->outputs(), all, "output"));
  return absl::OkStatus();
}

absl::StatusOr<ModelInRuntime> ModelInRuntime::Convert(const Model& ir,
                                                       std::shared_ptr<const Runtime> runtime,
                                                       ExportOptions options) {
  const Format* format = FindFormat(runtime->format());
  if (!format || format->extensions.empty()) {
    return Unimplemented("format '", runtime->format(), "' cannot be written by this program");
  }
  X2IR_ASSIGN_OR_RETURN(const std::shared_ptr<const RuntimeFolder> folder, RuntimeFolder::Make());
  const std::string path = (folder->path() / StrCat("model", format->extensions[0])).string();
  options.format = format->name;
  Report report;
  X2IR_RETURN_IF_ERROR(AtLeastOpset(
      *format, options, report,
      [&](const ExportOptions& to, Report& said) { return Export(ir.Clone(), path, to, &said); }));
  ModelInRuntime model;
  model.folder_ = folder;
  model.graph_ = ir.graph.get();
  model.runtime_ = std::move(runtime);
  X2IR_ASSIGN_OR_RETURN(model.model_, model.runtime_->Open(path));
  X2IR_RETURN_IF_ERROR(model.MatchInterfaces());
  return model;
}

absl::StatusOr<ModelInRuntime> ModelInRuntime::Open(const std::string& path, const Graph& graph,
                                                    std::shared_ptr<const Runtime> runtime) {
  ModelInRuntime model;
  model.graph_ = &graph;
  model.runtime_ = std::move(runtime);
  X2IR_ASSIGN_OR_RETURN(model.model_, model.runtime_->Open(path));
  X2IR_RETURN_IF_ERROR(model.MatchInterfaces());
  return model;
}

std::string ModelInRuntime::Title() const {
  return StrCat(runtime_->name(), " ", runtime_->version());
}

absl::StatusOr<std::vector<Datum>> ModelInRuntime::Run(const IoCase& io) const {
  const auto at = [&](const absl::Status& s) { return io.name.empty() ? s : Annotate(s, io.name); };
  const std::vector<std::optional<Tensor>> given = WithUsualInputs(*graph_, io.inputs);
  if (absl::Status s = CheckInputs(*graph_, given); !s.ok()) return at(s);
  std::vector<Tensor> inputs;
  for (const size_t i : inputs_) {
    const Tensor* fallback = graph_->inputs()[i]->constant();
    if (!given[i] && !fallback) {
      return at(Unimplemented("input '", graph_->inputs()[i]->name(),
                              "' is left out, which is not possible with a runtime"));
    }
    inputs.push_back(given[i] ? *given[i] : *fallback);
  }
  auto results = model_->Run(inputs);
  if (!results.ok()) return at(results.status());
  std::vector<Datum> outputs(graph_->outputs().size());
  for (size_t k = 0; k < outputs_.size(); ++k) outputs[outputs_[k]] = std::move((*results)[k]);
  return outputs;
}

absl::StatusOr<Verification> VerifyInRuntime(const Model& ir, const ModelInRuntime& model,
                                             absl::Span<const IoCase> cases,
                                             const VerifyOptions& options) {
  Verification result;
  result.tolerance = options.tolerance;
  result.criterion = options.criterion;
  result.note = StrCat("run by ", model.Title());
  const Graph& graph = *ir.graph;
  for (const IoCase& io : cases) {
    std::vector<Datum> expected(graph.outputs().size());
    bool given = false;
    for (size_t i = 0; i < io.outputs.size(); ++i) {
      if (!io.outputs[i]) continue;
      expected[i] = *io.outputs[i];
      given = true;
    }
    if (!given) {
      X2IR_ASSIGN_OR_RETURN(expected, RunCase(graph, io, options.progress));
    }
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, model.Run(io));
    for (size_t i = 0; i < got.size(); ++i) {
      if (given && !expected[i].has_value() && IsModelState(graph.outputs()[i]->name())) continue;
      OutputVerdict verdict = Judge(*graph.outputs()[i], io.name, got[i], expected[i], options);
      if (given && !expected[i].has_value()) {
        verdict.comparison.agrees = false;
        verdict.comparison.problem = "there is no expected value for it";
      }
      result.outputs.push_back(std::move(verdict));
    }
  }
  return result;
}

absl::StatusOr<ModelComparison> CompareInRuntime(const Model& ir,
                                                 std::shared_ptr<const Runtime> runtime,
                                                 absl::Span<const IoCase> cases,
                                                 const VerifyOptions& options) {
  Model all = ir.Clone();
  std::vector<const Value*> values;  // of `ir`, for each output of `all`
  for (const Value* output : ir.graph->outputs()) values.push_back(output);
  for (const Node* node : ir.graph->nodes()) {
    for (const Value* value : node->outputs()) {
      const bool wanted = value && !value->is_unused() && !value->is_graph_output() &&
                          value->type().is_tensor() && value->dtype() != DType::kUndefined;
      Value* there = wanted ? all.graph->Find(value->name()) : nullptr;
      if (!there || !there->producer()) continue;
      all.graph->AddOutput(there);
      values.push_back(value);
    }
  }
  ExportOptions exporting;
  exporting.optimize = false;
  X2IR_ASSIGN_OR_RETURN(const ModelInRuntime model,
                        ModelInRuntime::Convert(all, std::move(runtime), exporting));
  X2IR_ASSIGN_OR_RETURN(
      ModelComparison result,
      CompareValues(
          ir,
          [&](const IoCase& io) -> absl::StatusOr<absl::flat_hash_map<const Value*, Datum>> {
            X2IR_ASSIGN_OR_RETURN(std::vector<Datum> got, model.Run(io));
            absl::flat_hash_map<const Value*, Datum> theirs;
            for (size_t i = 0; i < got.size(); ++i) theirs[values[i]] = std::move(got[i]);
            return theirs;
          },
          cases, options));
  result.note = StrCat("run by ", model.Title());
  return result;
}

}  // namespace x2ir
