// The steps of MakeSymbolic (traced_sizes.h): the trace, the preparation of nodes whose operands
// have sizes that vary, and the change of values to sizes that vary.
#ifndef X2IR_CORE_TRACING_TRACED_INTERNAL_H_
#define X2IR_CORE_TRACING_TRACED_INTERNAL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/tracing/reshape_sizes.h"
#include "x2ir/core/tracing/traced_sizes.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/axis_origins.h"

namespace x2ir {

bool IsSymbolic(const Value* value);
// A list of sizes, as far as these are known.
std::optional<std::vector<Dim>> SizesIn(const Value* value);

// A graph, and what it was in the trace.
class Trace {
 public:
  // Gives the inputs their names.
  static absl::StatusOr<Trace> Read(Graph& graph, const std::vector<TracedSize>& sizes);

  Graph& graph() { return *graph_; }
  // What a name was in the trace; null for other names.
  const int64_t* Number(const std::string& name) const;
  // What a size was in the trace.
  Dim Traced(const Dim& d) const;
  // That of a value that was there; null where it is not known.
  const Shape* TraceOf(const Value* value) const;
  // Whether a size has one of the names.
  bool Varies(const Dim& d) const;
  bool Varies(const Value* value) const;
  // A size that has a name is not 0: min(n, 1) is 1.
  void Simplify(Node& node) const;

  // What an axis of a value counts that is a name times a number.
  std::map<std::pair<const Value*, int64_t>, SizeOrder>& orders() { return orders_; }

  // --- Sizes as values: FailedPrecondition where a size is not a number, or a product of names
  // times a number plus another one.
  absl::StatusOr<Size> SizeOf(Builder& b, const Dim& d);
  absl::StatusOr<Value*> VectorOf(Builder& b, const std::vector<Dim>& dims);

  // --- Changes
  // Puts something in place of an operand.
  void Set(Node& node, size_t i, Value* value);
  // The same for an operand that is a list of sizes.
  absl::Status SetSizes(Node& node, size_t i, const std::vector<Dim>& dims);
  void Change() { changed_ = true; }
  bool TakeChanged() { return std::exchange(changed_, false); }

 private:
  Graph* graph_ = nullptr;
  absl::flat_hash_map<const Value*, Shape> traced_;  // as the trace had them
  std::map<std::string, int64_t> numbers_;           // of the names, in the trace
  std::map<std::string, std::pair<Value*, int64_t>> places_;
  std::map<std::pair<const Value*, int64_t>, SizeOrder> orders_;
  bool changed_ = false;
};

// --- Nodes (traced_nodes.cc)
// ----------------------------------------------------------------------

// Changes the numbers of the trace in a node that has an operand whose size varies, and in its
// operands.
absl::Status PrepareNode(Trace& trace, Node& node);
absl::Status PrepareReshape(Trace& trace, Node& node);
absl::Status PrepareExpand(Trace& trace, Node& node);

// --- Values (traced_values.cc)
// --------------------------------------------------------------------

// Operands that are broadcast, but for their last `but` axes, must have the same sizes.
absl::Status Agree(Trace& trace, Node& node, const std::vector<Value*>& operands, int64_t but);
// So must these axes of operands, where one varies.
absl::Status AgreeAlong(Trace& trace, Node& node, const std::vector<AxisPlace>& places,
                        bool may_broadcast = false);
// The value with `want` for the size of the trace along an axis: changed where it was made, or
// another one (of a constant) for this node.
absl::StatusOr<Value*> Varying(Trace& trace, Node& user, Value* value, int64_t axis,
                               const Dim& want);
// Whether an axis of a value counts the rows of something: that of a range.
bool IsRangeAlong(const Value* value, int64_t axis);
// Whether it depends on the elements of an input. It may depend on its sizes.
bool ComesFromInput(const Value* value);

}  // namespace x2ir

#endif  // X2IR_CORE_TRACING_TRACED_INTERNAL_H_
