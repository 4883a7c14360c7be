// What the rows of TensorFlow's ops are written with in the other direction: a node of the IR
// becomes nodes of TensorFlow, and ops of the IR, which the driver converts in turn.
//
//   absl::StatusOr<Value*> ToReshape(TfWriter& w) {
//     return w.Tf("Reshape", {w.in(0), w.in(1)});
//   }
//   X2IR_TF(reshape).To("Reshape", ToReshape);
//
// Attributes that follow from the operands (signatures.h) are added; the driver checks the nodes.
#ifndef X2IR_HANDLERS_TF_WRITER_H_
#define X2IR_HANDLERS_TF_WRITER_H_

#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

class TfWriter : public NodeWriter {
 public:
  using NodeWriter::NodeWriter;

  float Float(Symbol attr) const { return static_cast<float>(attrs().Float(attr)); }

  // A node of TensorFlow with one result. `result` may be unknown for what becomes a result of the
  // node.
  Value* Tf(std::string_view op, std::vector<Value*> operands, AttributeMap attrs = {},
            Type result = {});
  Values TfAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
               const std::vector<bool>& wanted, const std::vector<Type>& results = {});
  // A constant at once, else a transpose.
  Value* Transpose(Value* x, const std::vector<int64_t>& perm);
  // Sizes as a constant where they are known, else `x` itself.
  Value* Known(Value* x);
};

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_WRITER_H_
