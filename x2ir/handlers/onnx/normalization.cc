// ONNX normalizations.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/expr.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/conv_lenses.h"
#include "x2ir/handlers/onnx/legacy_lenses.h"

namespace x2ir {
namespace {

// Before opset 14 training is not an attribute; from 7 on it is the number of outputs, and what
// the variance among them is (of the population or a sample) was not said. So it is only read.
class NoTraining : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    if (const auto mode = draft.TakeAttr("training_mode"); mode && *mode != Attribute(0)) {
      return CannotExpress("training_mode cannot be expressed at opset ", draft.opset(),
                           FirstVersion{14});
    }
    return absl::OkStatus();
  }
  std::vector<std::string> IrAttrs() const override { return {"training_mode"}; }
};

// In training the node has all its outputs, with or without uses: runtimes and the checker require
// them.
class StatisticsInTraining : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    if (draft.node().attrs().Int("training_mode") != 0) draft.NeedOutputs(3);
    return absl::OkStatus();
  }
};

// The mean and variance of x over these axes, as the results named saved_mean and saved_var.
std::pair<Value*, Value*> BatchStatistics(Builder& b, Value* x, const std::vector<int64_t>& axes) {
  Value* over = b.Ints(axes, "axes");
  Value* mean = b.Op("reduce_mean", {x, over}, {{"keepdims", 0}});
  Value* centre = b.Op("sub", {x, b.Op("reduce_mean", {x, over}, {{"keepdims", 1}})});
  Value* variance = b.Op("reduce_mean", {b.Op("mul", {centre, centre}), over}, {{"keepdims", 0}});
  return {mean, variance};
}

// Before opset 14: training is is_test = 0 (before 7) or having more than one output. With
// spatial = 0 (before 9) every element of an image has statistics of its own.
absl::StatusOr<Values> FromOldBatchNormalization(Rewrite& r) {
  enum Output : size_t { kY, kMean, kVar, kSavedMean, kSavedVar };
  auto wants = [&](size_t i) { return i < r.num_outputs() && r.node.output(i) != nullptr; };
  bool more = false;
  for (size_t i = kMean; i < r.num_outputs(); ++i) more = more || wants(i);
  const bool training = r.opset < 7 ? r.attrs().Int("is_test", 0) == 0 : more;
  const bool spatial = r.opset >= 9 || r.attrs().Int("spatial", 1) != 0;

  AttributeMap attrs = {{"training_mode", training ? 1 : 0}};
  for (const char* name : {"epsilon", "momentum"}) {
    if (const Attribute* attr = r.attrs().Find(name)) attrs.Set(name, *attr);
  }
  std::vector<Value*> operands = r.node.inputs();
  if (operands.size() != 5) return Invalid("expected five operands, got ", operands.size());
  Builder& b = r.b;
  if (!spatial) {
    operands[0] = b.Op("flatten", {operands[0]}, {{"axis", 1}});
    for (size_t i = 1; i < 5; ++i) {
      operands[i] = b.Op("reshape", {operands[i], b.Ints({-1}, "shape")});
    }
  }
  auto like = [&](Value* value, size_t operand) {
    return spatial ? value : b.Op("reshape", {value, b.Op("shape", {r.in(operand)})});
  };
  Values results(r.num_outputs(), nullptr);
  std::vector<bool> wanted = {true};
  if (training && (wants(kMean) || wants(kVar))) wanted = {true, wants(kMean), wants(kVar)};
  const auto made = b.Ops("batch_normalization", operands, std::move(attrs), wanted);
  results[kY] = like(made[kY], 0);
  if (!training) {
    for (size_t i = kMean; i < r.num_outputs(); ++i) {
      if (!wants(i)) continue;
      if (!r.node.output(i)->is_unused()) {
        return Unimplemented("output ", i, " has no meaning where is_test is 1");
      }
      results[i] = r.in(i % 2 == 1 ? 3 : 4);  // the output has no uses
    }
    return results;
  }
  for (size_t i : {kMean, kVar}) {
    if (wants(i)) results[i] = like(made[i], 2 + i);
  }
  if (wants(kSavedMean) || wants(kSavedVar)) {
    const int64_t rank = spatial ? r.rank(0) : 2;
    if (rank < 2) return Unimplemented("saved statistics of an operand of unknown or low rank");
    std::vector<int64_t> axes = {0};
    for (int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
    const auto [mean, variance] = BatchStatistics(b, operands[0], axes);
    if (wants(kSavedMean)) results[kSavedMean] = like(mean, 3);
    if (wants(kSavedVar)) results[kSavedVar] = like(variance, 4);
  }
  return results;
}

Lens InferenceOnly() { return std::make_shared<NoTraining>(); }

X2IR_ONNX(batch_normalization)
    .Is("BatchNormalization", In(1, 13), Code{FromOldBatchNormalization, nullptr})
    .Is("BatchNormalization", In(7, 8), ChannelsFirst(), InferenceOnly(),
        ForeignFixed("spatial", 1), ExportOnly())
    .Is("BatchNormalization", In(9, 13), ChannelsFirst(), InferenceOnly(), ExportOnly())
    .Is("BatchNormalization", Since(14), ChannelsFirst(),
        Lens(std::make_shared<StatisticsInTraining>()));

X2IR_ONNX(instance_normalization)
    .Is("InstanceNormalization", Since(1), ChannelsFirst(), InPlaceHint());

// The element type of the statistics. Files say 0 for it, too, which is no type; runtimes take
// float32 then.
class StashLens : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    const Attribute* said = draft.node().attrs().Find("stash_type");
    if (!said || *said != Attribute(0)) return type_->Import(draft);
    draft.TakeAttr("stash_type");
    draft.SetAttr("stash_type", "float32");
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override { return type_->Export(draft); }
  std::vector<std::string> IrAttrs() const override { return type_->IrAttrs(); }
  std::vector<std::string> ForeignAttrs() const override { return type_->ForeignAttrs(); }

 private:
  const Lens type_ = DTypeAttr("stash_type");
};
Lens StashType() { return std::make_shared<StashLens>(); }

// ONNX Runtime has it at every opset, with a scale and a bias that may be of another element type,
// which is that of the result then.
absl::StatusOr<Values> FromEarlyLayerNormalization(Rewrite& r) {
  static const Form* const plain = new Form{"onnx",   "LayerNormalization", "layer_normalization",
                                            Since(1), {StashType()},        std::nullopt};
  const DType in = r.dtype(0), out = r.dtype(1);
  if (in == out || !IsFloating(in) || !IsFloating(out)) return RunImport(*plain, r);
  Builder& b = r.b;
  const DType wide =
      in == DType::kFloat64 || out == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const auto as = [&](Value* x, DType t) { return x ? Expr(b, x).To(t).value() : nullptr; };
  AttributeMap attrs = {{"axis", r.attrs().Int("axis", -1)},
                        {"epsilon", static_cast<float>(r.attrs().Float("epsilon", 1e-5))},
                        {"stash_type", std::string(Name(wide))}};
  std::vector<bool> wanted = {true};
  for (size_t i = 1; i < r.num_outputs(); ++i) wanted.push_back(r.node.output(i) != nullptr);
  Values y = b.Ops("layer_normalization", {as(r.in(0), wide), as(r.in(1), wide), as(r.in(2), wide)},
                   std::move(attrs), wanted);
  y[0] = as(y[0], out);
  return y;
}

X2IR_ONNX(layer_normalization)
    .Is("LayerNormalization", In(1, 16), Code{FromEarlyLayerNormalization, nullptr})
    .Is("LayerNormalization", Since(17), StashType());

X2IR_ONNX(rms_normalization).Is("RMSNormalization", Since(23), StashType());

// One number a group -> one a channel, each repeated. `table`: groups, and channels in each. Files
// give one a channel, too, as opset 21 wants it.
Value* SpreadOverGroups(Builder& b, Value* per_group, Value* table, const Dim& channels,
                        int64_t groups) {
  const Shape* shape = per_group->shape();
  if (shape && shape->rank() == 1 && (*shape)[0] == channels && channels != Dim(groups)) {
    return per_group;
  }
  Value* column = b.Op("unsqueeze", {per_group, b.Ints({1}, "axes")});
  return b.Op("reshape", {b.Op("expand", {column, table}), b.Ints({-1}, "shape")});
}

// That table where x says only at run time how many channels it has.
Value* ComputedTable(Builder& b, Value* x, int64_t groups) {
  Value* count = b.Ints({groups}, "groups");
  Value* channels = b.Op("gather", {b.Op("shape", {x}), b.Ints({1}, "axis")});
  return b.Op("concat", {count, b.Op("div", {channels, count})}, {{"axis", 0}});
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
  if (r.node.num_inputs() != 3 || !r.in(0) || !r.in(1) || !r.in(2)) {
    return Invalid("expected three operands");
  }
  const Shape* x = r.in(0)->shape();
  if (x != nullptr && x->rank() < 2) return Invalid("expected rank 2 or more, got ", x->rank());
  const Dim channels = x ? (*x)[1] : Dim();
  for (const size_t i : {1, 2}) {
    const Shape* given = r.in(i)->shape();
    if (!given || (given->rank() == 1 && (!ProvablyDifferent((*given)[0], Dim(*groups)) ||
                                          !ProvablyDifferent((*given)[0], channels)))) {
      continue;
    }
    return Invalid(i == 1 ? "scale" : "bias", ": expected one number a group (", *groups,
                   ") or one a channel (", channels.ToString(), "), got ",
                   r.in(i)->type().ToString());
  }
  if (channels.is_static() && channels.value() % *groups != 0) {
    return Invalid("num_groups ", *groups, " does not divide ", channels.value(), " channels");
  }
  Value* table = channels.is_static() ? r.b.Ints({*groups, channels.value() / *groups}, "table")
                                      : ComputedTable(r.b, r.in(0), *groups);
  AttributeMap attrs = {{"num_groups", *groups},
                        {"stash_type", r.dtype(0) == DType::kFloat64 ? "float64" : "float32"}};
  if (const Attribute* epsilon = r.attrs().Find("epsilon")) attrs.Set("epsilon", *epsilon);
  return Values{r.b.Op("group_normalization",
                       {r.in(0), SpreadOverGroups(r.b, r.in(1), table, channels, *groups),
                        SpreadOverGroups(r.b, r.in(2), table, channels, *groups)},
                       std::move(attrs))};
}

X2IR_ONNX(group_normalization)
    .Is("GroupNormalization", In(18, 20), Code{FromGroupNormalization18, nullptr})
    .Is("GroupNormalization", Since(21), ChannelsFirst(), StashType());

X2IR_ONNX(lrn).Is("LRN", Since(1), ChannelsFirst());

X2IR_ONNX(lp_normalization).Is("LpNormalization", Since(1));

// Runtimes have it of float32; where they take ONNX's function body for other types, a constant in
// that is of float32 all the same. The axes are always written, since onnx's checker does not know
// its own default.
absl::StatusOr<Values> ToMeanVariance(Rewrite& r) {
  const DType type = r.dtype(0);
  if (type != DType::kFloat32 && type != DType::kUndefined) {
    return CannotExpress("MeanVarianceNormalization of ", Name(type), ", which no runtime has");
  }
  return r.b.Node("onnx", "MeanVarianceNormalization", {r.in(0)},
                  {{"axes", r.attrs().Ints("axes")}}, {true});
}

// Of opset 1, for images: over the image, and with across_channels over all channels of it.
absl::StatusOr<Values> FromMeanVariance1(Rewrite& r) {
  if (r.rank(0) < 0) return Unimplemented("input: an image of unknown rank");
  if (r.rank(0) != 4) return Invalid("input: expected rank 4, got ", r.rank(0));
  Attribute::Ints axes = {0, 2, 3};
  if (r.attrs().Int("across_channels", 0) != 0) axes = {0, 1, 2, 3};
  if (r.attrs().Int("normalize_variance", 1) != 0) {
    return Values{r.b.Op("mean_variance_normalization", {r.in(0)}, {{"axes", axes}})};
  }
  Value* mean = r.b.Op("reduce_mean", {r.in(0), r.b.Ints(axes, "axes")}, {{"keepdims", 1}});
  return Values{r.b.Op("sub", {r.in(0), mean})};
}

X2IR_ONNX(mean_variance_normalization)
    .Is("MeanVarianceNormalization", In(1, 8), Code{FromMeanVariance1, nullptr})
    .Is("MeanVarianceNormalization", Since(9), ImportOnly())
    .Is("MeanVarianceNormalization", Since(9), Code{nullptr, ToMeanVariance});

}  // namespace
}  // namespace x2ir
