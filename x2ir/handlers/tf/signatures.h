// What TensorFlow's ops look like: operands, results, attributes. Of the ops that are written, as
// TensorFlow's own registry has them (tensorflow/core/ops). Nodes need more attributes than mean
// something: the element types of their operands, and how many there are of a list. They follow
// from the operands, so no row of an op says them.
#ifndef X2IR_HANDLERS_TF_SIGNATURES_H_
#define X2IR_HANDLERS_TF_SIGNATURES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

struct TfSignature {
  std::string_view op;
  // A word an operand: an element type ("int32"), the attribute that says it ("T"), or a list
  // ("N*T": N of type T; "*": of any types). "variant": a list of tensors; "T?": a tensor or a
  // list.
  std::string_view operands;
  std::string_view attrs;  // the names of all others
  int results = 1;

  bool HasAttr(std::string_view name) const;
};

absl::Span<const TfSignature> AllTfSignatures();
// Null for an op that is not written.
const TfSignature* FindTfSignature(std::string_view op);

// The attributes that follow from the operands: {"T", float32}, {"N", 2}.
AttributeMap TfTypeAttrs(const TfSignature& signature, const std::vector<Value*>& operands);
// These, and the attributes that are given.
AttributeMap WithTfTypeAttrs(std::string_view op, const std::vector<Value*>& operands,
                             AttributeMap attrs);

// What a written node does that its op does not allow.
std::vector<std::string> CheckTfNode(const Node& node);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_SIGNATURES_H_
