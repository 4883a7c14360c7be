// A node as an import or an export form sees it, whatever its dialect.
#ifndef X2IR_BUILDER_NODE_VIEW_H_
#define X2IR_BUILDER_NODE_VIEW_H_

#include <cstddef>
#include <type_traits>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

class NodeView {
 public:
  explicit NodeView(Rewrite& r) : r_(r) {}

  const Node& node() const { return r_.node; }
  Builder& b() { return r_.b; }
  operator Builder&() { return r_.b; }  // NOLINT: what makes nodes takes either

  size_t num_inputs() const { return r_.node.num_inputs(); }
  bool has(size_t i) const { return r_.has(i); }
  DType dtype(size_t i = 0) const { return r_.dtype(i); }
  const Shape* shape(size_t i = 0) const { return has(i) ? r_.in(i)->shape() : nullptr; }

  size_t num_outputs() const { return r_.num_outputs(); }
  // Whether that output has uses.
  bool wants(size_t i) const { return i < num_outputs() && r_.node.output(i); }

  const AttributeMap& attrs() const { return r_.attrs(); }

 protected:
  Rewrite& r_;
};

// What a form gives for a node, be it Values, a Value* or a StatusOr of them.
template <typename View, typename Form>
absl::StatusOr<Values> ValuesOf(const Form& form, View& view) {
  using Result = std::invoke_result_t<const Form&, View&>;
  if constexpr (std::is_convertible_v<Result, Value*>) {
    return Values{form(view)};
  } else if constexpr (std::is_same_v<Result, absl::StatusOr<Value*>>) {
    X2IR_ASSIGN_OR_RETURN(Value * value, form(view));
    return Values{value};
  } else {
    return form(view);
  }
}

}  // namespace x2ir

#endif  // X2IR_BUILDER_NODE_VIEW_H_
