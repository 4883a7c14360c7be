// Lowerings of recurrent networks: batch_first as transposes around the length-first form.
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

// Before opset 14 ONNX has only the length-first layout.
absl::StatusOr<Values> LengthFirst(Rewrite& r) {
  if (r.attrs().Int("batch_first") == 0) return CannotExpress("no lowering of the plain form");
  Builder& b = r.b;
  auto transpose = [&](Value* v, Attribute::Ints perm) {
    return b.Op("transpose", {v}, {{"perm", std::move(perm)}});
  };
  // x and the initial states; weights have no batch axis.
  std::vector<Value*> operands = r.node.inputs();
  for (size_t i : {0, 5, 6}) {
    if (i < operands.size() && operands[i] != nullptr) {
      operands[i] = transpose(operands[i], {1, 0, 2});
    }
  }
  AttributeMap attrs = r.attrs();
  attrs.Set("batch_first", 0);
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  Values results = b.Ops(r.node.op(), operands, std::move(attrs), wanted);
  for (size_t i = 0; i < results.size(); ++i) {
    if (r.node.output(i) == nullptr) {
      results[i] = nullptr;
    } else {
      results[i] = i == 0 ? transpose(results[i], {2, 0, 1, 3}) : transpose(results[i], {1, 0, 2});
    }
  }
  return results;
}
X2IR_LOWERING(rnn, LengthFirst);
X2IR_LOWERING(gru, LengthFirst);
X2IR_LOWERING(lstm, LengthFirst);

}  // namespace
}  // namespace x2ir
