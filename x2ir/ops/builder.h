// Builder: appends nodes to a graph and infers their types at once. It never changes existing
// nodes. Handlers, lowerings and passes make nodes with it.
#ifndef X2IR_OPS_BUILDER_H_
#define X2IR_OPS_BUILDER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// New nodes are inserted before `before` (null: at the end), in the order of their creation. Their
// outputs have no names yet: the driver of the rewrite names them, and puts nodes in the order of
// their use.
//
// The first failure (unknown op, inference error) is kept in status(); everything made
// after it still gives a value of unknown type, so that code can go on without checks. After
// set_stops each failure throws Stopped instead.
class Builder {
 public:
  // A list, {x, nullptr, y}, or a vector: what is left out is null.
  using Operands = absl::Span<Value* const>;

  Builder(Graph& graph, Node* before) : at_{&graph, before} {}

  Graph& graph() { return *at_.graph; }

  // An IR op with one output. Attributes that are not given get their defaults.
  Value* Op(Symbol op, Operands operands, AttributeMap attrs = {});
  // An IR op with `num_outputs` outputs.
  std::vector<Value*> Ops(Symbol op, Operands operands, AttributeMap attrs, size_t num_outputs);
  // The same; `wanted[i]` false: output i is left out.
  std::vector<Value*> Ops(Symbol op, Operands operands, AttributeMap attrs,
                          const std::vector<bool>& wanted);
  // A node of any dialect, attributes as given. `wanted[i]` false: output i is left out.
  std::vector<Value*> Node(Symbol dialect, Symbol op, Operands operands, AttributeMap attrs,
                           const std::vector<bool>& wanted);

  // Constants. `hint` is the start of the name; by default the driver's (the node's output).
  Value* Constant(Tensor tensor, std::string_view hint = "");
  Value* Ints(absl::Span<const int64_t> values, std::string_view hint = "");  // int64, rank 1
  Value* Int(int64_t value, std::string_view hint = "");                      // int64, rank 0
  // A rank-0 constant of that dtype.
  Value* Scalar(DType dtype, double value, std::string_view hint = "");

  // Names of constants are made unique from this: "<hint>_<hint of the constant>".
  void set_name_hint(std::string hint) { at_.name_hint = std::move(hint); }
  // The same, from the name of the node's first output, which must not change while the builder is
  // used.
  void set_name_hint(const x2ir::Node& node) { at_.hint_of = &node; }

  // Keeps the first failure. Throws Stopped after set_stops.
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
    if (stops_ && !status_.ok()) throw Stopped();
  }
  const absl::Status& status() const { return status_; }

  // Thrown by a failure while stops() holds. status() says what it was.
  struct Stopped {};
  void set_stops(bool stops) { stops_ = stops; }

  // While it lives, new nodes and constants are added at the end of a nested graph, with names of
  // their own: the body of a node that is made afterwards.
  class Nested;

  // `made`, a constant of this builder, takes the name of `from`, which gets that of `made`.
  void SwapNames(Value* from, Value* made);
  // Whether this builder made the constant.
  bool MadeConstant(const Value* value) const;
  // Nodes made so far, in order.
  const std::vector<x2ir::Node*>& made() const { return at_.made; }
  // Puts the nodes made so far in the order in which `results` use them: operands from the first to
  // the last, each before the node that reads it; what `results` do not need follows. Numbers in
  // the names of constants are in that order too. Without it both would depend on the compiler,
  // since C++ does not say which argument of a call is evaluated first.
  void PutInOrderOfUse(absl::Span<Value* const> results);
  // Removes all nodes and constants of this builder, and gives back the names that these took.
  // Other nodes must not use them yet.
  void Rollback();

 private:
  // Where nodes are inserted, and the nodes so far.
  struct Place {
    Graph* graph;
    x2ir::Node* before;
    std::string name_hint = {};
    const x2ir::Node* hint_of = nullptr;
    std::vector<x2ir::Node*> made = {};
    std::vector<Value*> constants = {};
    std::vector<std::pair<Value*, Value*>> swapped = {};  // names
  };

  Place at_;
  absl::Status status_;
  bool stops_ = false;
};

class Builder::Nested {
 public:
  Nested(Builder& b, Graph& graph) : b_(b), outer_(std::exchange(b.at_, Place{&graph, nullptr})) {}
  ~Nested() { b_.at_ = std::move(outer_); }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  Builder& b_;
  Place outer_;
};

}  // namespace x2ir

#endif  // X2IR_OPS_BUILDER_H_
