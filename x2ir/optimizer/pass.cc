// The registry of passes and the pipeline.
#include "x2ir/optimizer/pass.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/knowledge.h"
#include "x2ir/optimizer/node_index.h"
#include "x2ir/optimizer/room.h"

namespace x2ir {
namespace {

NamedRegistry<Pass>& Passes() {
  static auto* passes = new NamedRegistry<Pass>("pass");
  return *passes;
}

// Rounds until nothing changes; passes that undo each other stop here.
constexpr int kMaxPipelineRounds = 20;

// Of Annotations::extra.
constexpr char kFileBytes[] = "optimizer.file_bytes";

}  // namespace

const Pass* FindPass(std::string_view name) { return Passes().Find(name); }

std::vector<const Pass*> AllPasses() { return Passes().All(); }

bool RegisterPass(std::string_view name, std::string_view doc, PassFn run, SourcePlace place) {
  Passes().Add({name, doc, std::move(run)}, place);
  return true;
}

int64_t RememberedFileBytes(const Graph& graph) {
  const Annotations* notes = graph.annotations().get();
  if (!notes) return 0;
  const auto it = notes->extra.find(kFileBytes);
  int64_t bytes = 0;
  if (it == notes->extra.end() || !absl::SimpleAtoi(it->second, &bytes)) return 0;
  return std::max<int64_t>(bytes, 0);
}

void RememberFileBytes(Graph& graph, int64_t bytes) {
  graph.annotations().GetOrMake().extra[kFileBytes] = StrCat(bytes);
}

int64_t FileBytes(const Graph& graph) {
  constexpr int64_t kOfThing = 64;  // a name, a type, ...
  int64_t bytes = 0;
  for (const Value* constant : graph.constants()) {
    bytes += kOfThing + static_cast<int64_t>(constant->constant()->nbytes());
  }
  bytes += kOfThing * static_cast<int64_t>(graph.num_nodes());
  for (const Graph* inner : graph.NestedGraphs()) bytes += FileBytes(*inner);
  return bytes;
}

const std::vector<std::string>& DefaultPasses() {
  // Simple passes run first, so that the others see smaller and more uniform graphs. What was
  // spelled out is recognized before Transposes move through it, and folded into weights when they
  // have.
  static const auto* names = new std::vector<std::string>{"dead_code",
                                                          "inline_control_flow",
                                                          "simplify",
                                                          "fold_constants",
                                                          "common_subexpressions",
                                                          "fuse_activations",
                                                          "fuse_normalizations",
                                                          "fuse_recurrent",
                                                          "fuse_attention",
                                                          "layout",
                                                          "transposes",
                                                          "quantized_units",
                                                          "fold_pad",
                                                          "fold_affine",
                                                          "fold_flatten",
                                                          "merge_constants",
                                                          "hoist_scale",
                                                          "merge_linear",
                                                          "flatten_rows",
                                                          "gemm",
                                                          "spell_out",
                                                          "dead_code"};
  return *names;
}

bool NamesModule(std::string_view name) {
  return name.find('.') != name.npos && name.front() != '.' && name.back() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
         });
}

namespace {

// While it lives, weights of modules are inputs of the graph: no pass can look at their numbers.
class WeightsAsInputs {
 public:
  explicit WeightsAsInputs(Graph& graph) : graph_(graph), first_(graph.inputs().size()) {
    for (Value* value : graph.constants()) {
      if (IsFloating(value->dtype()) && NamesModule(value->name())) graph.ThawConstant(value);
    }
  }
  ~WeightsAsInputs() { graph_.FreezeInputs(first_); }
  WeightsAsInputs(const WeightsAsInputs&) = delete;

 private:
  Graph& graph_;
  const size_t first_;
};

}  // namespace

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
  PassContext known = context;
  NodeIndex index;
  known.index = &index;
  if (known.file_bytes == 0) known.file_bytes = RememberedFileBytes(graph);
  if (known.file_bytes == 0) known.file_bytes = FileBytes(graph);
  std::optional<WeightsAsInputs> weights;
  if (context.keeps_modules) {
    weights.emplace(graph);
    // Nor at what inference read from them.
    if (absl::Status s = InferGraph(graph); !s.ok()) return s;
  }
  // A pass has work again only if something was done since it found none.
  int64_t total = 0;
  absl::flat_hash_map<const Pass*, int64_t> seen;  // what `total` was when the pass had run
  for (int round = 0; round < kMaxPipelineRounds; ++round) {
    const int64_t before = total;
    for (size_t i = 0; i < passes.size(); ++i) {
      if (const auto it = seen.find(passes[i]); it != seen.end() && it->second == total) continue;
      if (context.go_on && !context.go_on()) return absl::CancelledError("cancelled");
      const auto start = std::chrono::steady_clock::now();
      const uint64_t changes = graph.node_changes();
      auto made = passes[i]->run(graph, known);
      if (!made.ok()) return Annotate(made.status(), StrCat("pass ", passes[i]->name));
      results[i].changes += *made;
      results[i].seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (*made != 0 || graph.node_changes() != changes) index.Forget();
      total += *made;
      // What one change makes possible may be further away than a pass looks for it.
      if (*made == 0) seen[passes[i]] = total;
#ifndef NDEBUG
      if (auto problems = graph.Validate(); !problems.empty()) {
        return Internal("pass ", passes[i]->name, " broke the graph: ", problems[0]);
      }
#endif
    }
    if (total != before) continue;
    // Passes that put one value in the place of another do not follow what that tells further down.
    if (total == 0 || !InferWhatIsUnknown(graph)) break;
    index.Forget();
    ++total;
  }
  return results;
}

}  // namespace x2ir
