// ONNX signal processing.
#include <memory>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/axis_lenses.h"

namespace x2ir {
namespace {

// Before opset 20 an inverse transform was never one-sided. From 20 on ONNX Runtime and onnx's
// inference refuse it.
class NoInverseOneSided : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    if (draft.opset() >= 20 || !Both(draft)) return absl::OkStatus();
    return Invalid("an inverse one-sided transform does not exist at opset ", draft.opset());
  }
  absl::Status Export(Draft& draft) const override {
    if (!Both(draft)) return absl::OkStatus();
    return CannotExpress("runtimes refuse an inverse one-sided transform");
  }

 private:
  static bool Both(Draft& draft) { return Set(draft, "inverse") && Set(draft, "onesided"); }
  static bool Set(Draft& draft, Symbol name) {
    const Attribute* attr = draft.node().attrs().Find(name);
    const int64_t* value = attr ? attr->get<int64_t>() : nullptr;
    return value && *value != 0;
  }
};

// ONNX says that the first axis is that of a batch; runtimes go by it.
class InBatch : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* x = draft.node().num_inputs() > 0 ? draft.node().input(0) : nullptr;
    if (!x || !x->shape() || x->shape()->rank() != 2) return absl::OkStatus();
    return CannotExpress("a transform without a batch axis cannot be expressed");
  }
};

// ONNX's own inference takes a missing onesided for 0, though its default is 1: so it is written.
absl::StatusOr<Values> ToStft(Rewrite& r) {
  std::vector<Value*> operands = r.node.inputs();
  return r.b.Node("onnx", "STFT", std::move(operands), {{"onesided", r.attrs().Int("onesided", 1)}},
                  {true});
}

}  // namespace

X2IR_ONNX(dft)
    .Is("DFT", In(17, 19), Lens(std::make_shared<NoInverseOneSided>()),
        Lens(std::make_shared<InBatch>()), OperandAsAttr("axis", "axis", -2))
    .Is("DFT", Since(20), Lens(std::make_shared<NoInverseOneSided>()),
        Lens(std::make_shared<InBatch>()));
X2IR_ONNX(stft).Is("STFT", Since(17), ImportOnly()).Is("STFT", Since(17), Code{nullptr, ToStft});
X2IR_ONNX(hann_window)
    .Is("HannWindow", Since(17), OfRank(0, {0}), DTypeAttr("dtype", "output_datatype"));
X2IR_ONNX(hamming_window)
    .Is("HammingWindow", Since(17), OfRank(0, {0}), DTypeAttr("dtype", "output_datatype"));
X2IR_ONNX(blackman_window)
    .Is("BlackmanWindow", Since(17), OfRank(0, {0}), DTypeAttr("dtype", "output_datatype"));
X2IR_ONNX(mel_weight_matrix)
    .Is("MelWeightMatrix", Since(17), DTypeAttr("dtype", "output_datatype"));

}  // namespace x2ir
