// Passes over IR, and the pipeline that runs them.
//
//   X2IR_PASS(dead_code, "Removes unused nodes and constants.", DeadCode);
//   // absl::StatusOr<int64_t> DeadCode(Graph&, const PassContext&): how many changes it made
//
// A pass runs until it finds nothing more to do, so that it is run again only if another one
// changed something. Most passes are sets of rules, each about a node and its neighbours: see
// rules.h.
#ifndef X2IR_OPTIMIZER_PASS_H_
#define X2IR_OPTIMIZER_PASS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/registry.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/target.h"

namespace X2IR_API x2ir {

class NodeIndex;

// Information about the target for passes. Unknown when IR is optimized for itself.
struct PassContext {
  const Target* target = nullptr;  // what it can express; null: not known
  // The size of a file of the graph before the first pass (FileBytes); 0: not known.
  int64_t file_bytes = 0;
  // Whether large weights of files stay there: the model will refer to them (StaysInFile of
  // weights.h).
  bool refers_to_weights = false;
  // Whether weights of float16 and bfloat16 stay so, with a cast: it is not folded.
  bool keeps_weight_types = false;
  // The layout for ops that have one, "channels_first" or "channels_last"; empty: ops keep theirs.
  std::string layout{};
  // Whether modules of the source are kept for readers who know them: computations that several
  // modules share stay in each, and no pass uses the numbers of weights that have a name of a
  // module (NamesModule).
  bool keeps_modules = false;
  // Whether to continue: called before each pass; null: yes.
  std::function<bool()> go_on{};
  // The graph's nodes as they were before the pass (node_index.h); null: not known.
  NodeIndex* index = nullptr;

  // Whether the target is known to have an op of its own for the IR op, on operands of that type.
  bool Has(Symbol ir_op, DType type) const { return target && target->Takes(ir_op, 0, type); }
};

using PassFn = std::function<absl::StatusOr<int64_t>(Graph&, const PassContext&)>;

// A pass that is a class for one graph, of (Graph&, const PassContext&), whose Run() says how many
// changes it made: on a graph and then on those in it.
template <typename OneGraph>
absl::StatusOr<int64_t> OnEachGraph(Graph& graph, const PassContext& context) {
  int64_t changes = OneGraph(graph, context).Run();
  for (Graph* inner : graph.NestedGraphs()) {
    X2IR_ASSIGN_OR_RETURN(const int64_t made, OnEachGraph<OneGraph>(*inner, context));
    changes += made;
  }
  return changes;
}

struct Pass {
  std::string_view name;
  std::string_view doc;
  PassFn run;
};

const Pass* FindPass(std::string_view name);
std::vector<const Pass*> AllPasses();  // by name
bool RegisterPass(std::string_view name, std::string_view doc, PassFn run,
                  SourcePlace place = SourcePlace::Here());

// What one pass did in a pipeline run, over all rounds.
struct PassResult {
  std::string name;
  int64_t changes = 0;
  double seconds = 0;
};

// Whether the name is one that a module gives its weights: "layers.0.norm.weight".
bool NamesModule(std::string_view name);

// The approximate size of a file of the graph, mainly its weights.
int64_t FileBytes(const Graph& graph);

// The passes that export runs by default, in order.
const std::vector<std::string>& DefaultPasses();

// Runs the named passes in order, again until none changes anything (bounded). In debug
// builds the graph is validated after each pass and the pass that broke it is named.
// InvalidArgument for an unknown name; Cancelled if the context says to stop.
absl::StatusOr<std::vector<PassResult>> RunPasses(Graph& graph,
                                                  const std::vector<std::string>& names,
                                                  const PassContext& context = {});

#define X2IR_PASS(name, doc, function)                                       \
  [[maybe_unused]] static const bool X2IR_CONCAT_(x2ir_pass_, __COUNTER__) = \
      ::x2ir::RegisterPass(#name, doc, function)

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_PASS_H_
