// What the fusions of contrib_fusions.h share: how ops of ONNX Runtime's own are made in a graph of
// IR.
#ifndef X2IR_HANDLERS_ONNX_CONTRIB_FUSION_UTIL_H_
#define X2IR_HANDLERS_ONNX_CONTRIB_FUSION_UTIL_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/target.h"

namespace X2IR_API x2ir {

inline constexpr std::string_view kContribDomain = "com.microsoft";

// The IR node of this graph that makes the value, if it is that op; else null.
Node* MadeByIr(const Value* value, std::string_view op, const Graph& graph);
inline bool IsUsedOnce(const Value& value) {
  return value.uses().size() == 1 && !value.is_graph_output();
}
bool HaveOneShape(const Value* a, const Value* b);
// Whether the kernels have its element type.
inline bool HasKernels(const Value& x) {
  return x.dtype() == DType::kFloat32 || x.dtype() == DType::kFloat16;
}

class FusionSite {
 public:
  FusionSite(Graph& graph, const Target& target) : graph_(graph), target_(target) {}
  Graph& graph() const { return graph_; }
  const Target& target() const { return target_; }  // without these ops

  // A node of ONNX's dialect in the place of `before`, whose first output is what `result` was.
  Node* Make(Node* before, std::string_view op, std::vector<Value*> operands, Value* result);
  Node* MakeContrib(Node* before, std::string_view op, std::vector<Value*> operands, Value* result);
  // The next output of the node is that value from now on.
  void Take(Node* node, Value* value);
  // Names what the builder made.
  void Name(Builder& b, std::string_view hint);
  // Erases a node whose results have no uses, with the nodes that were made for it alone.
  void Drop(Node* node);

 private:
  Graph& graph_;
  const Target& target_;
};

// Masks of a graph as attention's kernels take them, each made once.
struct MaskForms {
  absl::flat_hash_map<const Value*, Value*> biases, open;
  absl::flat_hash_map<const Value*, std::pair<Value*, Value*>> lengths;
};
// Attention becomes MultiHeadAttention or GroupQueryAttention, where that says the same.
bool FuseContribAttention(FusionSite& site, Node& node, MaskForms& masks);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_CONTRIB_FUSION_UTIL_H_
