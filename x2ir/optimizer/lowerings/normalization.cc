// Lowerings of normalizations to reductions and arithmetic, as ONNX's function bodies say, for
// targets that lack them.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

Value* CastTo(Builder& b, Value* x, DType from, DType to) {
  return from == to ? x : b.Op("cast", {x}, {{"to", Name(to)}});
}

// Element types that casts around the statistics go between.
struct Stash {
  DType in, stash;
};

absl::StatusOr<Stash> ReadStash(const Rewrite& r) {
  const std::optional<DType> stash = ParseDType(r.attrs().String("stash_type"));
  if (!stash) return Invalid("stash_type: '", r.attrs().String("stash_type"), "'");
  if (r.dtype(0) == DType::kUndefined) return CannotExpress("an input of unknown element type");
  return Stash{r.dtype(0), *stash};
}

// All axes from `axis` on. Without a rank only a negative axis says which they are.
absl::StatusOr<std::vector<int64_t>> AxesFrom(const Rewrite& r) {
  const int64_t axis = r.attrs().Int("axis");
  const int64_t end = axis < 0 ? 0 : r.rank(0);
  if (axis >= 0 && r.rank(0) < 0)
    return CannotExpress("axis ", axis, " of an input of unknown rank");
  std::vector<int64_t> axes;
  for (int64_t a = axis; a < end; ++a) axes.push_back(a);
  return axes;
}

Value* Mean(Builder& b, Value* x, const std::vector<int64_t>& axes) {
  return b.Op("reduce_mean", {x, b.Ints(axes, "axes")}, {{"keepdims", 1}});
}

absl::StatusOr<Values> LayerNormAsReductions(Rewrite& r) {
  Builder& b = r.b;
  X2IR_ASSIGN_OR_RETURN(const Stash t, ReadStash(r));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, AxesFrom(r));
  Value* x = CastTo(b, r.in(0), t.in, t.stash);
  Value* mean = Mean(b, x, axes);
  Value* deviation = b.Op("sub", {x, mean});
  Value* variance = Mean(b, b.Op("mul", {deviation, deviation}), axes);
  Value* epsilon = b.Scalar(t.stash, r.attrs().Float("epsilon"), "epsilon");
  Value* spread = b.Op("sqrt", {b.Op("add", {variance, epsilon})});
  Value* y = CastTo(b, b.Op("div", {deviation, spread}), t.stash, t.in);
  y = b.Op("mul", {y, r.in(1)});
  if (r.has(2)) y = b.Op("add", {y, r.in(2)});
  Values results = {y};
  if (r.num_outputs() > 1) results.push_back(mean);
  if (r.num_outputs() > 2) {
    results.push_back(r.node.output(2) ? b.Op("reciprocal", {spread}) : nullptr);
  }
  return results;
}
X2IR_LOWERING(layer_normalization, LayerNormAsReductions);

absl::StatusOr<Values> RmsNormAsReductions(Rewrite& r) {
  Builder& b = r.b;
  X2IR_ASSIGN_OR_RETURN(const Stash t, ReadStash(r));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, AxesFrom(r));
  const DType out = r.dtype(1);
  if (out == DType::kUndefined) return CannotExpress("a scale of unknown element type");
  Value* x = CastTo(b, r.in(0), t.in, t.stash);
  Value* square = Mean(b, b.Op("mul", {x, x}), axes);
  Value* epsilon = b.Scalar(t.stash, r.attrs().Float("epsilon"), "epsilon");
  Value* rms = b.Op("sqrt", {b.Op("add", {square, epsilon})});
  Value* y = CastTo(b, b.Op("div", {x, rms}), t.stash, out);
  return Values{b.Op("mul", {y, r.in(1)})};
}
X2IR_LOWERING(rms_normalization, RmsNormAsReductions);

// One element is its own mean. Values that are not finite become NaN.
absl::StatusOr<Values> InstanceNormOfOneElement(Rewrite& r) {
  Builder& b = r.b;
  const Shape* shape = r.in(0)->shape();
  if (!shape || shape->rank() < 2 || r.attrs().String("layout") != "channels_first" ||
      !std::all_of(shape->begin() + 2, shape->end(), [](const Dim& d) { return d == Dim(1); })) {
    return CannotExpress("there may be several elements a channel");
  }
  std::vector<int64_t> column(static_cast<size_t>(shape->rank()) - 1, 1);
  column[0] = -1;
  Value* sizes = b.Ints(column, "column");
  Value* y = b.Op("mul", {b.Op("sub", {r.in(0), r.in(0)}), b.Op("reshape", {r.in(1), sizes})});
  return Values{b.Op("add", {y, b.Op("reshape", {r.in(2), sizes})})};
}
X2IR_LOWERING(instance_normalization, InstanceNormOfOneElement);

// Each channel of each image by its own mean and variance; halves in float32.
absl::StatusOr<Values> InstanceNormAsMeans(Rewrite& r) {
  NodeWriter w(r);
  const DType t = AtLeastFloat32(w.dtype());
  X2IR_ASSIGN_OR_RETURN(Value * y, InstanceNormByMeans(w, t));
  return Values{y};
}
X2IR_LOWERING(instance_normalization, InstanceNormAsMeans);

// Groups become the channels of an instance_normalization without scale and bias of its own.
absl::StatusOr<Values> GroupNormAsInstanceNorm(Rewrite& r) {
  Builder& b = r.b;
  if (r.attrs().String("layout") != "channels_first") {
    return CannotExpress("group_normalization with channels last");
  }
  X2IR_ASSIGN_OR_RETURN(const Stash t, ReadStash(r));
  if (r.rank(0) < 2) return CannotExpress("an input of unknown rank");
  const int64_t groups = r.attrs().Int("num_groups");
  // Guards the constants made below; no network has so many groups.
  if (groups > (int64_t{1} << 24)) return CannotExpress("num_groups ", groups);
  // What is left for the last axis does not follow from the others where the batch is empty.
  Dim rest = groups > 0 ? FloorDiv((*r.in(0)->shape())[1], groups) : Dim();
  for (int64_t i = 2; i < r.rank(0); ++i) rest = rest * (*r.in(0)->shape())[i];
  const bool known = rest.is_static() && rest.value() > 0;
  Value* grouped_shape = b.Ints({0, groups, known ? rest.value() : -1}, "grouped_shape");
  Value* grouped = b.Op("reshape", {r.in(0), grouped_shape});
  Tensor ones = Tensor::Zeros(t.stash, {groups});
  const Tensor one = Tensor::ScalarOf(t.stash, 1);
  for (size_t i = 0; i < ones.nbytes(); i += one.nbytes()) {
    std::memcpy(ones.mutable_bytes().data() + i, one.bytes().data(), one.nbytes());
  }
  Value* y = b.Op("instance_normalization",
                  {CastTo(b, grouped, t.in, t.stash), b.Constant(std::move(ones), "ones"),
                   b.Constant(Tensor::Zeros(t.stash, {groups}), "zeros")},
                  {{"epsilon", *r.attrs().Find("epsilon")}});
  y = b.Op("reshape", {CastTo(b, y, t.stash, t.in), b.Op("shape", {r.in(0)})});
  // [channels] -> [channels, 1, ...], to broadcast with x.
  std::vector<int64_t> column(static_cast<size_t>(r.rank(0)) - 1, 1);
  column[0] = -1;
  Value* shape = b.Ints(column, "column_shape");
  y = b.Op("mul", {y, b.Op("reshape", {r.in(1), shape})});
  return Values{b.Op("add", {y, b.Op("reshape", {r.in(2), shape})})};
}
X2IR_LOWERING(group_normalization, GroupNormAsInstanceNorm);

absl::StatusOr<Values> MeanVarianceAsReductions(Rewrite& r) {
  Builder& b = r.b;
  if (r.dtype(0) == DType::kUndefined) return CannotExpress("an input of unknown element type");
  const std::vector<int64_t>& axes = r.attrs().Ints("axes");
  if (axes.empty()) return CannotExpress("mean_variance_normalization over no axes");
  // In 16 bits epsilon would be 0.
  X2IR_ASSIGN_OR_RETURN(const DType wide, FloatComputeType(r.dtype(0)));
  Value* x = CastTo(b, r.in(0), r.dtype(0), wide);
  Value* deviation = b.Op("sub", {x, Mean(b, x, axes)});
  Value* variance = Mean(b, b.Op("mul", {deviation, deviation}), axes);
  Value* epsilon = b.Scalar(wide, 1e-9, "epsilon");
  Value* spread = b.Op("add", {b.Op("sqrt", {variance}), epsilon});
  return Values{CastTo(b, b.Op("div", {deviation, spread}), wide, r.dtype(0))};
}
X2IR_LOWERING(mean_variance_normalization, MeanVarianceAsReductions);

// Training: the statistics of x itself, and their share in the running ones.
absl::StatusOr<Values> BatchNormTrainingAsReductions(Rewrite& r) {
  Builder& b = r.b;
  if (r.attrs().Int("training_mode") == 0) return NothingToDo();
  if (r.attrs().String("layout") != "channels_first") {
    return CannotExpress("batch_normalization with channels last");
  }
  const DType in = r.dtype(0), stats = r.dtype(3), affine = r.dtype(1);
  if (r.rank(0) < 2 || in == DType::kUndefined || stats == DType::kUndefined ||
      affine == DType::kUndefined) {
    return CannotExpress("training_mode of an input of unknown type");
  }
  std::vector<int64_t> axes, column = {-1};  // all but the channels
  for (int64_t i = 0; i < r.rank(0); ++i) {
    if (i != 1) axes.push_back(i);
    if (i > 1) column.push_back(1);
  }
  Value* column_shape = b.Ints(column, "column_shape");
  Value* flat_shape = b.Ints({-1}, "flat_shape");
  auto per_channel = [&](size_t i) {  // an operand of one number a channel, to broadcast with x
    return b.Op("reshape", {CastTo(b, r.in(i), affine, in), column_shape});
  };
  Value* mean = Mean(b, r.in(0), axes);
  Value* deviation = b.Op("sub", {r.in(0), mean});
  Value* variance = Mean(b, b.Op("mul", {deviation, deviation}), axes);
  Value* epsilon = b.Scalar(in, r.attrs().Float("epsilon"), "epsilon");
  Value* spread = b.Op("sqrt", {b.Op("add", {variance, epsilon})});
  Value* y = b.Op("mul", {b.Op("div", {deviation, spread}), per_channel(1)});
  Values results = {b.Op("add", {y, per_channel(2)})};
  const double momentum = r.attrs().Float("momentum");
  Value* current[] = {mean, variance};
  for (size_t i = 1; i < r.num_outputs(); ++i) {
    if (r.node.output(i) == nullptr) {
      results.push_back(nullptr);
      continue;
    }
    Value* now = CastTo(b, b.Op("reshape", {current[i - 1], flat_shape}), in, stats);
    Value* old = b.Op("mul", {r.in(2 + i), b.Scalar(stats, momentum, "momentum")});
    Value* share = b.Op("mul", {now, b.Scalar(stats, 1 - momentum, "share")});
    results.push_back(b.Op("add", {old, share}));
  }
  return results;
}
X2IR_LOWERING(batch_normalization, BatchNormTrainingAsReductions);

}  // namespace
}  // namespace x2ir
