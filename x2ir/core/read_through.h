// An operator of one dialect that means what one of another dialect does: its form runs the
// other's.
#ifndef X2IR_CORE_READ_THROUGH_H_
#define X2IR_CORE_READ_THROUGH_H_

#include <string_view>
#include <vector>

#include "x2ir/builder/node_reader.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// What a node of `dialect` with these operands and attributes becomes in the place of a's node: one
// value for each of `results`, null for those that are not wanted. Fails the form where the dialect
// has no form of that name, or that fails.
struct ReadThroughResult {
  bool wanted = true;
  Type type{};  // what the other dialect's file would say of it
};
Values ReadThrough(NodeReader& a, std::string_view dialect, int opset, std::string_view op,
                   std::vector<Value*> operands, AttributeMap attrs,
                   const std::vector<ReadThroughResult>& results);

}  // namespace x2ir

#endif  // X2IR_CORE_READ_THROUGH_H_
