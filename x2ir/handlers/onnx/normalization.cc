// ONNX normalizations.
#include <memory>
#include <string>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/conv_lenses.h"

namespace x2ir {
namespace {

// Before opset 14 a BatchNormalization with more than one output was one in training, whose
// further outputs are not those of today.
class OneOutput : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    for (size_t i = 1; i < draft.node().num_outputs(); ++i) {
      if (draft.node().output(i) == nullptr) continue;
      return Unimplemented("the training form (outputs past the first) before opset 14");
    }
    draft.SetAttr("training_mode", 0);
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    if (const auto mode = draft.TakeAttr("training_mode"); mode && *mode != Attribute(0)) {
      return CannotExpress("training_mode cannot be expressed at opset ", draft.opset(),
                           "; opset 14 has it");
    }
    return absl::OkStatus();
  }
  std::vector<std::string> IrAttrs() const override { return {"training_mode"}; }
};
Lens InferenceOnly() { return std::make_shared<OneOutput>(); }

X2IR_ONNX(batch_normalization)
    .Is("BatchNormalization", In(7, 8), ChannelsFirst(), InferenceOnly(),
        ForeignFixed("spatial", 1))
    .Is("BatchNormalization", In(9, 13), ChannelsFirst(), InferenceOnly())
    .Is("BatchNormalization", Since(14), ChannelsFirst());

X2IR_ONNX(instance_normalization).Is("InstanceNormalization", Since(6), ChannelsFirst());

X2IR_ONNX(layer_normalization).Is("LayerNormalization", Since(17), DTypeAttr("stash_type"));

X2IR_ONNX(rms_normalization).Is("RMSNormalization", Since(23), DTypeAttr("stash_type"));

// One number a group -> one a channel, each repeated.
Value* SpreadOverGroups(Builder& b, Value* per_group, int64_t groups, int64_t channels_in_group) {
  Value* column = b.Op("unsqueeze", {per_group, b.Ints({1}, "axes")});
  Value* table = b.Op("expand", {column, b.Ints({groups, channels_in_group}, "shape")});
  return b.Op("reshape", {table, b.Ints({groups * channels_in_group}, "shape")});
}

// Opset 18 took scale and bias by group and computed in the element type (never in less than
// float32 here). It was deprecated at once, so nothing is exported to it.
absl::StatusOr<Values> FromGroupNormalization18(Rewrite& r) {
  for (const auto& [name, attr] : r.attrs()) {
    if (name != "epsilon" && name != "num_groups") {
      return Invalid("unknown attribute '", name.str(), "'");
    }
  }
  const Attribute* attr = r.attrs().Find("num_groups");
  const int64_t* groups = attr ? attr->get<int64_t>() : nullptr;
  if (groups == nullptr || *groups < 1) return Invalid("num_groups: expected a number from 1");
  const Shape* x = r.in(0) ? r.in(0)->shape() : nullptr;
  if (x == nullptr || x->rank() < 2 || !(*x)[1].is_static()) {
    return Unimplemented("a number of channels that is not known, at opset 18");
  }
  const int64_t channels = (*x)[1].value();
  if (channels % *groups != 0) {
    return Invalid("num_groups ", *groups, " does not divide ", channels, " channels");
  }
  AttributeMap attrs = {{"num_groups", *groups},
                        {"stash_type", r.dtype(0) == DType::kFloat64 ? "float64" : "float32"}};
  if (const Attribute* epsilon = r.attrs().Find("epsilon")) attrs.Set("epsilon", *epsilon);
  return Values{r.b.Op("group_normalization",
                       {r.in(0), SpreadOverGroups(r.b, r.in(1), *groups, channels / *groups),
                        SpreadOverGroups(r.b, r.in(2), *groups, channels / *groups)},
                       std::move(attrs))};
}

X2IR_ONNX(group_normalization)
    .Is("GroupNormalization", In(18, 20), Code{FromGroupNormalization18, nullptr})
    .Is("GroupNormalization", Since(21), ChannelsFirst(), DTypeAttr("stash_type"));

X2IR_ONNX(lrn).Is("LRN", Since(1), ChannelsFirst());

X2IR_ONNX(lp_normalization).Is("LpNormalization", Since(1));

X2IR_ONNX(mean_variance_normalization).Is("MeanVarianceNormalization", Since(9));

}  // namespace
}  // namespace x2ir
