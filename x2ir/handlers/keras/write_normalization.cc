// Keras, written: normalizations.
#include <utility>

#include "x2ir/handlers/keras/write_internal.h"

namespace x2ir {
namespace {

bool AreVectors(KerasWriter& w, size_t from, size_t to) {
  for (size_t i = from; i <= to; ++i) {
    if (!w.Weight(i) || w.Weight(i)->rank() != 1) return false;
  }
  return true;
}

absl::StatusOr<Value*> ToBatchNorm(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  if (w.Int("training_mode") != 0) return CannotExpress("the mode of training");
  if (!AreVectors(w, 1, 4) || rank < 2) return CannotExpress("weights that are computed");
  const double epsilon = w.attrs().Float("epsilon");
  return w.Layer("BatchNormalization", {w.in(0)},
                 {{"axis", HasChannelsLast(w) && rank > 2 ? int64_t{-1} : int64_t{1}},
                  {"epsilon", epsilon},
                  {"center", int64_t{1}},
                  {"scale", int64_t{1}}},
                 {w.in(1), w.in(2), w.in(3), w.in(4)}, w.out_type());
}

absl::StatusOr<Value*> ToLayerNorm(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t from, w.Axis());
  if (w.wants(1) || w.wants(2)) return CannotExpress("the mean and the deviation");
  std::vector<int64_t> axes;
  for (int64_t axis = from; axis < rank; ++axis) axes.push_back(axis);
  const bool shifted = w.has(2);
  for (size_t i = 1; i <= (shifted ? 2u : 1u); ++i) {
    const Tensor* weight = w.Weight(i);
    if (!weight) return CannotExpress("weights that are computed");
    bool fits = weight->rank() == static_cast<int64_t>(axes.size());
    for (int64_t k = 0; fits && k < weight->rank(); ++k) {
      fits = (*w.shape())[from + k] == Dim(weight->dim(k));
    }
    if (!fits) return CannotExpress("weights of another shape than the axes");
  }
  const double epsilon = w.attrs().Float("epsilon");
  AttributeMap config = {{"epsilon", epsilon}, {"center", int64_t{shifted}}, {"scale", int64_t{1}}};
  if (axes.size() == 1) {
    config.Set("axis", int64_t{-1});
  } else {
    config.Set("axis", axes);
  }
  std::vector<Value*> weights = {w.in(1)};
  if (shifted) weights.push_back(w.in(2));
  return w.Layer("LayerNormalization", {w.in(0)}, std::move(config), weights, w.out_type());
}

// Keras makes a layer's weights when it knows their number.
absl::Status WantChannels(KerasWriter& w) {
  const Shape* shape = w.shape();
  const bool known = shape && (*shape)[HasChannelsLast(w) ? shape->rank() - 1 : 1].is_static();
  return known ? absl::OkStatus() : CannotExpress("a number of channels that is not known");
}

// An instance norm has a group for each channel.
template <bool kInstance>
absl::StatusOr<Value*> ToGroupNorm(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (!AreVectors(w, 1, 2) || rank < 3) return CannotExpress("weights that are computed");
  X2IR_RETURN_IF_ERROR(WantChannels(w));
  const double epsilon = w.attrs().Float("epsilon");
  return w.Layer("GroupNormalization", {w.in(0)},
                 {{"groups", kInstance ? w.Weight(1)->dim(0) : w.Int("num_groups")},
                  {"axis", HasChannelsLast(w) ? int64_t{-1} : int64_t{1}},
                  {"epsilon", epsilon},
                  {"center", int64_t{1}},
                  {"scale", int64_t{1}}},
                 {w.in(1), w.in(2)}, w.out_type());
}

}  // namespace

X2IR_KERAS(batch_normalization).To("BatchNormalization", ToBatchNorm);
X2IR_KERAS(layer_normalization).To("LayerNormalization", ToLayerNorm);
X2IR_KERAS(group_normalization).To("GroupNormalization", ToGroupNorm<false>);
X2IR_KERAS(instance_normalization).To("GroupNormalization", ToGroupNorm<true>);

}  // namespace x2ir
