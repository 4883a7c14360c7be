// Graphs as readable text, and the parser of this text. `x2ir show` prints it; tests write graphs
// in it.
//
//   graph mlp(x: float32[batch,4]) -> (y) {
//     w: float32[4,2]                            # a weight: named, not dumped
//     b = float32[2]{0.5, -1}                    # a small constant, with its elements
//     h: float32[batch,2] = matmul(x, w)
//     s, m: float32[2], int64[2] = topk(h, k) { axis = -1, largest = 1 }
//     y = onnx.com.acme::Foo(h, _) { alpha = 0.5 } "node name"
//   }
//
// `_` is an operand (or an output) left out. A name that is not a plain identifier is quoted with
// double quotes, escapes as in JSON; plain ones are letters, digits and _ . / - with `::` between,
// no digit first. A value without a name is %0, %1, ... in order. `()` means no outputs. A float
// attribute always has a point or an exponent, a double ends in d (1.5d), an empty list says of
// what ([]:ints). An input may have a default value: `x: float32[2] = float32[2]{1, 2}`. A nested
// graph is an attribute written `body = graph name(i: int64[]) -> (o) { ... }`. Comments run from #
// to the end of line.
#ifndef X2IR_GRAPH_WRAPPER_TEXT_H_
#define X2IR_GRAPH_WRAPPER_TEXT_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

struct TextOptions {
  int64_t max_constant_elements = 8;  // larger constants are named with their type only
  bool types = true;                  // types of node outputs
  bool node_names = false;            // node names after the attributes
};

std::string ToText(const Graph& graph, const TextOptions& options = {});
// One line for one node, without indentation.
std::string ToText(const Node& node, const TextOptions& options = {});
// An attribute's value: 3, 0.5, "same", [1, 2], []:ints, tensor(float32[2]{1, 2}), type(...),
// ref(name: int), graph name(...) -> (...) { ... }.
std::string AttributeText(const Attribute& attr, const TextOptions& options = {});

// The inverse. A weight without elements becomes zeros, of at most so many bytes in all. A value is
// in scope from its line on, except that operands may name values defined later (as in an unsorted
// file). Errors carry line and column.
absl::StatusOr<std::shared_ptr<Graph>> ParseGraph(std::string_view text,
                                                  int64_t max_zeros = int64_t{1} << 32);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_TEXT_H_
