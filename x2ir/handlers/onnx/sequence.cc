// Sequences and optionals.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"

namespace x2ir {
namespace {

X2IR_ONNX(concat_from_sequence).Is("ConcatFromSequence", Since(11));
X2IR_ONNX(sequence_at).Is("SequenceAt", Since(11));
X2IR_ONNX(sequence_construct).Is("SequenceConstruct", Since(11));
X2IR_ONNX(sequence_empty).Is("SequenceEmpty", Since(11), DTypeAttr("dtype"));
X2IR_ONNX(sequence_erase).Is("SequenceErase", Since(11));
X2IR_ONNX(sequence_insert).Is("SequenceInsert", Since(11));
X2IR_ONNX(sequence_length).Is("SequenceLength", Since(11));

// keepdims has no meaning if split is given, yet runtimes read it.
class KeepDimsLens : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override { return Move(draft); }
  absl::Status Export(Draft& draft) const override { return Move(draft); }
  std::vector<std::string> IrAttrs() const override { return {"keepdims"}; }
  std::vector<std::string> ForeignAttrs() const override { return {"keepdims"}; }

 private:
  static absl::Status Move(Draft& draft) {
    std::optional<Attribute> attr = draft.TakeAttr("keepdims");
    if (attr && !draft.node().input(1)) draft.SetAttr("keepdims", *std::move(attr));
    return absl::OkStatus();
  }
};
X2IR_ONNX(split_to_sequence)
    .Is("SplitToSequence", Since(11), std::make_shared<const KeepDimsLens>());

X2IR_ONNX(optional).Is("Optional", Since(15));
X2IR_ONNX(optional_get_element).Is("OptionalGetElement", Since(15));
X2IR_ONNX(optional_has_element).Is("OptionalHasElement", Since(15));

}  // namespace
}  // namespace x2ir
