// ONNX: ops that pick, place and order elements.
#include <algorithm>
#include <memory>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/axis_lenses.h"

namespace x2ir {
namespace {

// Before opset 10, k was an attribute; afterwards an operand of rank 1.
class KAsAttr : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr("k");
    const int64_t* k = attr ? attr->get<int64_t>() : nullptr;
    if (!k) return Invalid("attribute 'k': expected an int");
    return draft.SetOperand("k", draft.builder().Ints({*k}, "k"));
  }
  absl::Status Export(Draft& draft) const override {
    const auto k = KnownInts(draft.TakeOperand("k"));
    if (!k || k->size() != 1) {
      return CannotExpress("operand 'k' must be a constant at opset ", draft.opset(),
                           "; it may be computed from opset 10 on");
    }
    if ((*k)[0] < 1) {
      return CannotExpress("operand 'k' must be positive at opset ", draft.opset(),
                           "; it may be 0 from opset 10 on");
    }
    draft.SetAttr("k", (*k)[0]);
    return absl::OkStatus();
  }
  std::vector<std::string> ForeignAttrs() const override { return {"k"}; }
  bool TakesOperand(std::string_view operand) const override { return operand != "k"; }
};

// Opset 11 is the first whose indices may count from the end. Of computed ones nothing is known,
// and runtimes that read older opsets take them; a constant one that counts from the end is
// lowered.
class IndicesFromFront : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const auto indices = KnownInts(draft.node().input(1));
    if (indices && std::any_of(indices->begin(), indices->end(), [](int64_t i) { return i < 0; })) {
      return CannotExpress("indices from the end at opset ", draft.opset(), "; opset 11 has them");
    }
    return absl::OkStatus();
  }
};

// ONNX Runtime moves float16 here, but has no sums, products or comparisons of it.
class NoHalfReductions : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* data = draft.node().input(0);
    const bool combines = draft.node().attrs().String("reduction", "none") != "none";
    if (combines && data && data->dtype() == DType::kFloat16) {
      return CannotExpress("a reduction of float16, which runtimes have no kernel of");
    }
    return absl::OkStatus();
  }
};

Lens NoHalfReduction() { return std::make_shared<NoHalfReductions>(); }

}  // namespace

X2IR_ONNX(gather)
    .Is("Gather", In(1, 10), Lens(std::make_shared<IndicesFromFront>()))
    .Is("Gather", Since(11));
X2IR_ONNX(gather_elements).Is("GatherElements", Since(11));
X2IR_ONNX(gather_nd).Is("GatherND", Since(11));
X2IR_ONNX(scatter_elements)
    .Is("Scatter", In(9, 10))
    .Is("ScatterElements", In(11, 15))
    .Is("ScatterElements", In(16, 17), OneOf("reduction", {"none", "add", "mul"}, 18),
        NoHalfReduction())
    .Is("ScatterElements", Since(18), NoHalfReduction());
X2IR_ONNX(scatter_nd)
    .Is("ScatterND", In(11, 15))
    .Is("ScatterND", In(16, 17), OneOf("reduction", {"none", "add", "mul"}, 18), NoHalfReduction())
    .Is("ScatterND", Since(18), NoHalfReduction());
X2IR_ONNX(non_zero).Is("NonZero", Since(9), NoScalar());
X2IR_ONNX(compress).Is("Compress", Since(9), AxisFromFront("axis"));
X2IR_ONNX(unique).Is("Unique", Since(11));
X2IR_ONNX(top_k)
    .Is("TopK", In(1, 9), Lens(std::make_shared<KAsAttr>()))
    .Is("TopK", Since(10), OfRank(1, {1}));

}  // namespace x2ir
