// Rewrite: the context of a handler or a lowering: the node to rewrite, a Builder that appends
// nodes, and the target. The handler returns the values that replace the node's outputs, in order,
// null where the node leaves an output out. It cannot delete or rewire other nodes.
#ifndef X2IR_OPS_REWRITE_H_
#define X2IR_OPS_REWRITE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/target.h"

namespace X2IR_API x2ir {

struct Rewrite {
  const Node& node;
  Builder& b;
  // For handlers, which are written for one dialect: the foreign dialect (the source on import, the
  // target on export), and the opset of the node's domain there. Lowerings ask `target`.
  Symbol dialect;
  int opset;
  const Target& target = Target::Nothing();  // on export

  // Shorthands over the node.
  const AttributeMap& attrs() const { return node.attrs(); }
  Value* in(size_t i) const { return node.input(i); }
  bool has(size_t i) const { return node.input(i) != nullptr; }
  size_t num_outputs() const { return node.num_outputs(); }
  int64_t rank(size_t i) const { return in(i) && in(i)->shape() ? in(i)->shape()->rank() : -1; }
  DType dtype(size_t i) const { return in(i) ? in(i)->dtype() : DType::kUndefined; }
  // Integers of an operand that is known in every run (KnownInts); nullopt when it is not.
  std::optional<std::vector<int64_t>> ConstInts(size_t i) const;
};

using Values = std::vector<Value*>;
using Handler = std::function<absl::StatusOr<Values>(Rewrite&)>;

}  // namespace x2ir

#endif  // X2IR_OPS_REWRITE_H_
