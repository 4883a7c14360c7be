#include "tests/core/back_util.h"

#include <cmath>
#include <cstdio>
#include <optional>
#include <sstream>
#include <utility>

#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "tests/golden/golden_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// "" when they agree but for rounding; else where they first do not.
std::string DifferenceOf(const Tensor& got, const Tensor& want) {
  if (got.type() != want.type()) {
    return StrCat("expected ", want.type().ToString(), ", got ", got.type().ToString());
  }
  if (got == want || !IsFloating(want.dtype())) return got == want ? "" : "other elements";
  const double rounding = want.dtype() == DType::kFloat64   ? 1e-9
                          : want.dtype() == DType::kFloat32 ? 1e-4
                                                            : 2e-2;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double g = got.AsDouble(i), w = want.AsDouble(i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    if (std::isfinite(w) && std::abs(g - w) <= rounding * (std::abs(w) + 0.1)) continue;
    return StrCat("element ", i, ": expected ", w, ", got ", g);
  }
  return "";
}

std::string OneLine(std::string text) {
  for (char& c : text) c = c == '\n' ? ' ' : c;
  std::string line;
  for (const char c : text) {
    if (c != ' ' || line.empty() || line.back() != ' ') line += c;
  }
  return line;
}

// A copy whose inputs of rank 0 and 1 (or of these only integers) are constants; nothing where
// there are none, or no others.
std::optional<Model> Settled(const Model& ir, bool integers, std::vector<Tensor>* inputs) {
  auto graph = ir.graph->Clone();
  bool some = false;
  for (size_t i = graph->inputs().size(); i-- > 0;) {
    Value* input = graph->inputs()[i];
    if ((integers && !IsInteger(input->dtype())) || (*inputs)[i].rank() > 1) continue;
    Value* constant = graph->AddConstant(graph->UniqueName(input->name() + "_known"), (*inputs)[i]);
    graph->ReplaceAllUses(input, constant);
    graph->RemoveInput(input);
    inputs->erase(inputs->begin() + static_cast<ptrdiff_t>(i));
    some = true;
  }
  if (!some || graph->inputs().empty() || !InferGraph(*graph).ok()) return std::nullopt;
  Model model;
  model.graph = std::move(graph);
  return model;
}

}  // namespace

Back ThereAndBackOrSettled(const Model& ir, const std::string& dialect,
                           const std::vector<std::vector<Tensor>>& inputs, bool random,
                           const ThroughFile& file) {
  Back back = ThereAndBack(ir, dialect, inputs, random, file);
  for (const bool integers : {true, false}) {
    if (back.problem.empty() || back.wrong || inputs.size() != 1) break;
    std::vector<std::vector<Tensor>> others = inputs;
    const std::optional<Model> settled = Settled(ir, integers, others.data());
    if (settled) back = ThereAndBack(*settled, dialect, others, random, file);
  }
  return back;
}

Back ThereAndBack(const Model& ir, const std::string& dialect,
                  const std::vector<std::vector<Tensor>>& inputs, bool random,
                  const ThroughFile& file) {
  Model model;
  model.graph = ir.graph->Clone();
  ExportOptions options;
  options.optimize = false;
  options.check = true;
  Report report;
  if (const absl::Status s = FromIr(model, dialect, options, &report); !s.ok()) {
    std::string ops;
    for (const Failure& failure : report.failures) {
      StrAppend(&ops, ops.empty() ? "" : "; ", failure.op, ": ", failure.reason);
    }
    const bool refused = s.code() == absl::StatusCode::kFailedPrecondition;
    return {OneLine(ops.empty() ? std::string(s.message()) : ops),
            report.failures.empty() && !refused};
  }
  if (file) {
    absl::StatusOr<Model> read = file(model);
    if (!read.ok()) {
      const bool refused = read.status().code() == absl::StatusCode::kFailedPrecondition;
      return {OneLine(StrCat("as a file: ", std::string(read.status().message()))), !refused};
    }
    model = *std::move(read);
  }
  if (const absl::Status s = ToIr(model); !s.ok()) {
    return {OneLine(StrCat("read again: ", std::string(s.message()))), true};
  }
  for (const std::vector<Tensor>& set : inputs) {
    const auto run = [&](const Graph& graph) {
      std::vector<Datum> values(set.begin(), set.end());
      values.resize(graph.inputs().size());
      return RunGraph(graph, std::move(values));
    };
    const auto want = run(*ir.graph), got = run(*model.graph);
    if (!want.ok()) continue;  // told by others
    if (!got.ok()) return {OneLine(std::string(got.status().message())), true};
    for (size_t i = 0; i < want->size(); ++i) {
      const Tensor *w = (*want)[i].tensor(), *g = (*got)[i].tensor();
      if (!w || !g) return {StrCat("output ", i, " is no tensor"), true};
      if (random && w->type() == g->type()) continue;
      const std::string difference = DifferenceOf(*g, *w);
      if (!difference.empty()) return {StrCat("output ", i, ": ", difference), true};
    }
  }
  return {};
}

std::string RefusalOf(const absl::Status& status) {
  std::string line;
  std::istringstream lines{std::string(status.message())};
  for (std::string each; std::getline(lines, each);) {
    const size_t begin = each.find_first_not_of(' ');
    if (begin == each.npos || each.compare(begin, 3, "at ") == 0) continue;
    if (each.starts_with("cannot express the model")) continue;
    StrAppend(&line, line.empty() ? "" : "; ", each.substr(begin));
  }
  return line;
}

bool DrawsNumbers(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    const std::string_view op = node->op().view();
    if (op.starts_with("random_") || op == "multinomial" || op == "bernoulli") return true;
    for (const Graph* inner : node->subgraphs()) {
      if (DrawsNumbers(*inner)) return true;
    }
  }
  return false;
}

Sink IntoMemory(const std::string& name, const MemoryFiles& files) {
  return Sink::Files(name, [files](std::string_view file, std::string_view bytes) {
    (*files)[std::string(file)].append(bytes);
    return absl::OkStatus();
  });
}

Source FromMemory(const std::string& folder, const std::string& name, const MemoryFiles& files) {
  const auto get = [folder, files](const std::string& file) -> absl::StatusOr<HeldBytes> {
    const auto it = files->find(folder + file);
    if (it == files->end()) return NotFound(file);
    return HeldBytes{{reinterpret_cast<const std::byte*>(it->second.data()), it->second.size()},
                     files};
  };
  return Source::Bytes((*files)[folder + name], get, name);
}

BackTally::BackTally(const char* variable)
    : filter_(Env(variable)), wanted_(filter_.empty() ? ".*" : filter_) {}

bool BackTally::Wants(const std::string& name) const { return std::regex_search(name, wanted_); }

void BackTally::Add(const std::string& name, const Back& back, std::string_view reason) {
  ++tried_;
  if (back.problem.empty()) return;
  if (back.wrong) ADD_FAILURE() << name << ": " << back.problem;
  if (!filter_.empty()) std::printf("%s: %s\n", name.c_str(), back.problem.c_str());
  one_way_[name] = reason.empty() ? back.problem : std::string(reason);
}

void BackTally::Finish(const std::string& dialect, const std::string& come_back,
                       const std::string& file, const std::string& about) const {
  std::printf("%s: %zu of %zu %s\n", dialect.c_str(), tried_ - one_way_.size(), tried_,
              come_back.c_str());
  if (filter_.empty()) ExpectReasons(file, about, one_way_);
}

}  // namespace x2ir
