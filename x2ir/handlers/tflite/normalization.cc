// TFLite: norms.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tflite/layers_internal.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// x over its length along the last axis, which is at least 1e-6.
Value* L2Normalization(TfliteArgs& a) {
  const Expr x = a.in(0);
  return x / Max(Sqrt(Sum(Square(x), -1, /*keepdims=*/true)), 1e-6);
}

Value* Lrn(TfliteArgs& a) {
  return AsTf(a, "LRN", {a.in(0)},
              {{"depth_radius", a.Int("radius", 0)},
               {"bias", a.Float("bias", 0)},
               {"alpha", a.Float("alpha", 0)},
               {"beta", a.Float("beta", 0)}})[0];
}

// x over its norm; what has none stays 0.
absl::StatusOr<Value*> ToLpNormalization(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const int64_t p = w.Int("p");
  if (p != 1 && p != 2) return CannotExpress("norm ", p);
  const Expr norm =
      X(w).Op(p == 1 ? "reduce_l1" : "reduce_l2", {w.Ints({axis})}, {{"keepdims", 1}});
  return Where(norm == 0, 0, X(w) / norm);
}

// A vector of channels so that it broadcasts.
Value* OfChannels(TfliteWriter& w, Value* v, int64_t rank) {
  if (IsChannelsLast(w) || rank <= 2) return v;
  std::vector<int64_t> axes(static_cast<size_t>(rank) - 2);
  std::iota(axes.begin(), axes.end(), 1);
  return w.Op("unsqueeze", {v, w.Ints(axes)});
}

// x * scale + shift with constants that are worked out where they are known.
absl::StatusOr<Value*> ToBatchNorm(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const DType t = w.dtype();
  if (w.Int("training_mode") != 0) return CannotExpress("training");
  if (w.wants(1) || w.wants(2)) return CannotExpress("statistics");
  for (size_t i = 1; i < 5; ++i) {
    if (w.dtype(i) != t) return CannotExpress("parameters of another type");
  }
  const double epsilon = w.attrs().Float("epsilon");
  const Tensor* parts[4];
  bool known = t == DType::kFloat32;
  for (size_t i = 0; i < 4; ++i) {
    parts[i] = w.in(i + 1)->fixed_constant();
    known = known && parts[i] && !parts[i]->is_sparse();
  }
  Value *scale = nullptr, *shift = nullptr;
  if (known) {
    std::vector<float> by, plus;
    for (int64_t i = 0; i < parts[0]->num_elements(); ++i) {
      const double factor = parts[0]->AsDouble(i) / std::sqrt(parts[3]->AsDouble(i) + epsilon);
      by.push_back(static_cast<float>(factor));
      plus.push_back(static_cast<float>(parts[1]->AsDouble(i) - parts[2]->AsDouble(i) * factor));
    }
    std::vector<int64_t> dims = {parts[0]->num_elements()};
    if (!IsChannelsLast(w)) dims.resize(std::max<size_t>(1, static_cast<size_t>(rank) - 1), 1);
    scale = w.b().Constant(Tensor::Of<float>(dims, by));
    shift = w.b().Constant(Tensor::Of<float>(dims, plus));
  } else {
    Value* spread = w.Op("sqrt", {w.Op("add", {w.in(4), w.Number(t, epsilon)})});
    Value* factor = w.Op("div", {w.in(1), spread});
    shift = OfChannels(w, w.Op("sub", {w.in(2), w.Op("mul", {w.in(3), factor})}), rank);
    scale = OfChannels(w, factor, rank);
  }
  return w.Op("add", {w.Op("mul", {w.in(0), scale}), shift});
}

// Each channel of each image by its own mean and variance.
absl::StatusOr<Value*> ToInstanceNorm(TfliteWriter& w) { return InstanceNormByMeans(w, w.dtype()); }

// Channels last: groups of channels are an axis of their own between places and channels.
absl::StatusOr<Values> ToGroupNorm(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const DType t = w.dtype();
  const int64_t groups = w.Int("num_groups");
  if (rank < 3 || t != DType::kFloat32 || w.String("stash_type") != "float32") {
    return CannotExpress("rank ", rank, " of ", Name(t));
  }
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToGroupNorm);
  const Dim& channels = (*w.shape())[rank - 1];
  if (!channels.is_static() || groups < 1 || channels.value() % groups != 0) {
    return CannotExpress("groups that do not fit");
  }
  for (int64_t i = 1; i + 1 < rank; ++i) {
    if ((*w.shape())[i] == Dim(0)) return CannotExpress("images without places");
  }
  const Dim& batch = (*w.shape())[0];
  Value* grouped = w.Ints({-1, groups, channels.value() / groups});
  Value* images = batch.is_static() ? w.Ints({batch.value()})
                                    : w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", 1}});
  Value* x = w.Op("reshape", {w.in(0), w.Op("concat", {images, grouped}, {{"axis", 0}})},
                  {{"allowzero", 1}});
  Value* axes = w.Ints({1, 3});
  Value* centered = w.Op("sub", {x, w.Op("reduce_mean", {x, axes}, {{"keepdims", 1}})});
  Value* squares = w.Op("mul", {centered, centered});
  Value* variance = w.Op("reduce_mean", {squares, axes}, {{"keepdims", 1}});
  Value* spread = w.Op("sqrt", {w.Op("add", {variance, w.Number(t, w.attrs().Float("epsilon"))})});
  Value* y = w.Op("reshape", {w.Op("div", {centered, spread}), w.Op("shape", {w.in(0)})},
                  {{"allowzero", 1}});
  return Values{w.Op("add", {w.Op("mul", {y, w.in(1)}), w.in(2)})};
}

absl::StatusOr<Values> ToLrn(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t size = w.Int("size");
  if (rank != 4 || size % 2 == 0) return CannotExpress("rank ", rank, ", size ", size);
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToLrn);
  return Values{
      w.Tflite("LOCAL_RESPONSE_NORMALIZATION", {w.in(0)},
               {{"radius", (size - 1) / 2},
                {"bias", static_cast<float>(w.attrs().Float("bias"))},
                {"alpha", static_cast<float>(w.attrs().Float("alpha") / static_cast<double>(size))},
                {"beta", static_cast<float>(w.attrs().Float("beta"))}})};
}

}  // namespace

X2IR_TFLITE(lp_normalization)
    .To("DIV", ToLpNormalization)
    .From("L2_NORMALIZATION", L2Normalization);
X2IR_TFLITE(lrn)
    .To("LOCAL_RESPONSE_NORMALIZATION", ToLrn)
    .From("LOCAL_RESPONSE_NORMALIZATION", Lrn);
X2IR_TFLITE(batch_normalization).To("MUL", ToBatchNorm);
X2IR_TFLITE(instance_normalization).To("MEAN", ToInstanceNorm);
X2IR_TFLITE(group_normalization).To("MEAN", ToGroupNorm);

}  // namespace x2ir
