// The registry of passes and the pipeline.
#include "x2ir/optimizer/pass.h"

#include <chrono>
#include <map>

#include "x2ir/graph_wrapper/check.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

std::map<std::string_view, Pass>& Table() {
  static auto* table = new std::map<std::string_view, Pass>;
  return *table;
}

// Rounds until nothing changes; passes that undo each other stop here.
constexpr int kMaxRounds = 20;

}  // namespace

const Pass* FindPass(std::string_view name) {
  auto it = Table().find(name);
  return it == Table().end() ? nullptr : &it->second;
}

std::vector<const Pass*> AllPasses() {
  std::vector<const Pass*> passes;
  for (const auto& entry : Table()) passes.push_back(&entry.second);
  return passes;
}

bool RegisterPass(std::string_view name, std::string_view doc, PassFn run) {
  const bool fresh = Table().emplace(name, Pass{name, doc, std::move(run)}).second;
  X2IR_CHECK(fresh, StrCat("pass '", name, "' is registered twice"));
  return true;
}

const std::vector<std::string>& DefaultPasses() {
  // Export keeps the graph as it came, op for op, until a pass is asked for by name.
  static const auto* names = new std::vector<std::string>;
  return *names;
}

absl::StatusOr<std::vector<PassResult>> RunPasses(Graph& graph,
                                                  const std::vector<std::string>& names,
                                                  const PassContext& context) {
  std::vector<const Pass*> passes;
  std::vector<PassResult> results;
  for (const std::string& name : names) {
    const Pass* pass = FindPass(name);
    if (!pass) {
      std::string known;
      for (const Pass* p : AllPasses()) StrAppend(&known, known.empty() ? "" : ", ", p->name);
      return Invalid("there is no pass '", name, "'; expected one of: ", known);
    }
    passes.push_back(pass);
    results.push_back({name});
  }
  for (int round = 0; round < kMaxRounds; ++round) {
    int64_t changes = 0;
    for (size_t i = 0; i < passes.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      auto made = passes[i]->run(graph, context);
      if (!made.ok()) return Annotate(made.status(), StrCat("pass ", passes[i]->name));
      results[i].changes += *made;
      results[i].seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      changes += *made;
#ifndef NDEBUG
      if (auto problems = graph.Validate(); !problems.empty()) {
        return Internal("pass ", passes[i]->name, " broke the graph: ", problems[0]);
      }
#endif
    }
    if (changes == 0) break;
  }
  return results;
}

}  // namespace x2ir
