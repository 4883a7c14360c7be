// MIL: norms, both ways.
#include <algorithm>
#include <numeric>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// A vector of as many equal numbers as another one has, or as an axis of a tensor.
Expr Constants(const Expr& like, double number) {
  const Dim size = DimAt(like, 0);
  Builder& b = like.builder();
  if (!size.is_static()) {
    b.Fail(Unimplemented("a vector of unknown size"));
    return like;
  }
  return NumbersAs(b, like.dtype(), {size.value()},
                   std::vector<double>(static_cast<size_t>(size.value()), number));
}

Expr MilBatchNorm(MilArgs& a) {
  const Expr mean = a.X("mean"), variance = a.X("variance");
  const float epsilon = static_cast<float>(a.Number("epsilon"));
  const Expr scale = a.Has("gamma") ? a.X("gamma") : Constants(mean, 1);
  const Expr shift = a.Has("beta") ? a.X("beta") : Constants(mean, 0);
  return a.X().Op("batch_normalization", {scale, shift, mean, variance}, {{"epsilon", epsilon}});
}

absl::StatusOr<Value*> MilInstanceNorm(MilArgs& a) {
  const float epsilon = static_cast<float>(a.Number("epsilon"));
  const Expr x = a.X();
  const Dim channels = DimAt(x, 1);
  if (!channels.is_static() && !(a.Has("gamma") && a.Has("beta"))) {
    return Unimplemented("an unknown number of channels");
  }
  const auto all = [&](std::string_view name, double number) {
    if (a.Has(name)) return a.X(name);
    return NumbersAs(a.b(), x.dtype(), {channels.value()},
                     std::vector<double>(static_cast<size_t>(channels.value()), number));
  };
  return x.Op("instance_normalization", {all("gamma", 1), all("beta", 0)}, {{"epsilon", epsilon}})
      .value();
}

// Over any axes; gamma and beta have the sizes of these alone.
Expr MilLayerNorm(MilArgs& a) {
  const Expr x = a.X();
  const int64_t rank = x.rank();
  std::vector<int64_t> axes = a.List("axes", CountedFrom(0, rank));
  for (int64_t& axis : axes) axis = a.AxisOf(axis, rank);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  const auto epsilon = static_cast<float>(a.Number("epsilon"));
  // With an axis of size 1 for each that is not normalized.
  const auto placed = [&](std::string_view name) {
    std::vector<int64_t> others;
    for (int64_t i = 0; i < rank; ++i) {
      if (!std::binary_search(axes.begin(), axes.end(), i)) others.push_back(i);
    }
    return Unsqueeze(a.X(name), others);
  };
  const int64_t first = rank - static_cast<int64_t>(axes.size());
  if (!axes.empty() && axes.front() == first && a.Has("gamma")) {
    std::vector<Value*> operands = {x, a.X("gamma")};
    if (a.Has("beta")) operands.push_back(a.X("beta"));
    return a.Op("layer_normalization", operands, {{"axis", first}, {"epsilon", epsilon}});
  }
  Expr y = Standardized(x, axes, epsilon);
  if (a.Has("gamma")) y = y * placed("gamma");
  return a.Has("beta") ? y + placed("beta") : y;
}

Expr MilL2Norm(MilArgs& a) {
  const Expr x = a.X();
  return x /
         Sqrt(Shifted(Reduce(Square(x), "reduce_sum", {-3, -2, -1}, true), a.Number("epsilon")));
}

// --- Written ------------------------------------------------------------------------------------

bool IsFixed(const Value* v) {
  return v && v->fixed_constant() && !v->fixed_constant()->is_sparse();
}

absl::StatusOr<Value*> ToBatchNorm(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (w.Int("training_mode") != 0 || w.wants(1) || w.wants(2)) return CannotExpress("training");
  bool fixed = rank >= 3 && rank <= 5;
  for (size_t i = 1; i < 5; ++i) fixed &= IsFixed(w.in(i)) && w.dtype(i) == w.dtype();
  if (!fixed) {
    if (rank < 2) return CannotExpress("rank ", rank);
    const auto placed = [&](size_t i) {
      return AlongAxis({w.b(), w.Cast(w.in(i), w.dtype())}, 1, rank);
    };
    const Expr deviation = Sqrt(Shifted(placed(4), w.Float("epsilon")));
    return ((w.X() - placed(3)) / deviation * placed(1) + placed(2)).value();
  }
  return w.Mil("batch_norm", {w.in(0), w.in(3), w.in(4), w.in(1), w.in(2)},
               {{"epsilon", w.Float("epsilon")}});
}

absl::StatusOr<Value*> ToInstanceNorm(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3 || rank > 4 || !IsFixed(w.in(1)) || !IsFixed(w.in(2))) {
    if (rank < 3) return CannotExpress("rank ", rank);
    std::vector<int64_t> axes;
    for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
    const Expr apart = w.X() - Reduce(w.X(), "reduce_mean", axes, true);
    const Expr variance = Reduce(Square(apart), "reduce_mean", axes, true);
    return (apart / Sqrt(Shifted(variance, w.Float("epsilon"))) * AlongAxis(w.X(1), 1, rank) +
            AlongAxis(w.X(2), 1, rank))
        .value();
  }
  return w.Mil("instance_norm", {w.in(0), w.in(1), w.in(2)}, {{"epsilon", w.Float("epsilon")}});
}

// The constant with the sizes of the axes that are normalized; null where it has others.
Value* OfNormalized(MilWriter& w, Value* v, int64_t axis) {
  const Shape* x = w.shape();
  std::vector<int64_t> dims;
  for (int64_t i = axis; i < x->rank(); ++i) {
    if (!(*x)[i].is_static()) return nullptr;
    dims.push_back((*x)[i].value());
  }
  if (!IsFixed(v) || v->dtype() != w.dtype()) return nullptr;
  const Tensor& t = *v->fixed_constant();
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  // Of as many elements: the sizes before are 1.
  if (t.num_elements() != count) return nullptr;
  for (int64_t i = 0; i < t.rank(); ++i) {
    const int64_t at = static_cast<int64_t>(dims.size()) - t.rank() + i;
    if (t.dim(i) != (at < 0 ? 1 : dims[static_cast<size_t>(at)])) return nullptr;
  }
  return t.dims() == dims ? v : w.b().Constant(t.Reshaped(dims), v->name());
}

absl::StatusOr<Value*> ToLayerNorm(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (w.wants(1) || w.wants(2)) return CannotExpress("the statistics of a norm");
  if (!IsFloating(w.dtype())) return CannotExpress("norms of ", Name(w.dtype()));
  Value* scale = OfNormalized(w, w.in(1), axis);
  Value* shift = w.has(2) ? OfNormalized(w, w.in(2), axis) : nullptr;
  if (!scale || (w.has(2) && !shift)) return CannotExpress("scales that are computed or broadcast");
  std::vector<int64_t> axes(static_cast<size_t>(rank - axis));
  std::iota(axes.begin(), axes.end(), axis);
  return w.Mil("layer_norm", {w.in(0), scale, shift},
               {{"axes", axes}, {"epsilon", w.Float("epsilon")}});
}

absl::StatusOr<Value*> ToLpNormalization(MilWriter& w) { return LpNormalizationByReduce(w); }

}  // namespace

X2IR_MIL(batch_normalization).To("batch_norm", ToBatchNorm).From("batch_norm", MilBatchNorm);
X2IR_MIL(instance_normalization)
    .To("instance_norm", ToInstanceNorm)
    .From("instance_norm", MilInstanceNorm);
X2IR_MIL(layer_normalization).To("layer_norm", ToLayerNorm).From("layer_norm", MilLayerNorm);
X2IR_MIL(lrn).Is("local_response_norm", Renamed("bias", "k"), Fixed("layout", "channels_first"));
X2IR_MIL(lp_normalization).To("real_div", ToLpNormalization).From("l2_norm", MilL2Norm);

}  // namespace x2ir
