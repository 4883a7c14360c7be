// Normalizations: batch, instance, layer, group, RMS, local response, Lp and mean-variance.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/window.h"

namespace x2ir {
namespace {

// --- Inference ------------------------------------------------------------------------------

// The channel dim of x; 1 for rank 1 (batch_normalization allows it), unknown if x is.
Dim ChannelDim(const Shape* x, bool last) {
  if (x == nullptr) return Dim::Unknown();
  if (x->rank() < 2) return Dim(1);
  return (*x)[ChannelAxis(last, x->rank())];
}

// Operands [from, to) have shape [channels]. Gives the channels, refined by those operands.
absl::StatusOr<Dim> CheckPerChannel(InferContext& ctx, size_t from, size_t to, Dim channels) {
  for (size_t i = from; i < to; ++i) {
    const Shape* s = ctx.shape(i);
    if (s == nullptr) continue;
    if (s->rank() != 1 || ProvablyDifferent((*s)[0], channels)) {
      return Invalid(OperandName(ctx, i), ": expected shape [", channels.ToString(),
                     "] (channels), got [", s->ToString(), "]");
    }
    if (!channels.is_static() && (*s)[0].is_static()) channels = (*s)[0];
  }
  return channels;
}

std::optional<Shape> ShapeOf(InferContext& ctx, size_t i) {
  return ctx.shape(i) ? std::optional<Shape>(*ctx.shape(i)) : std::nullopt;
}

absl::Status InferBatchNorm(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  const Shape* x = ctx.shape(0);
  if (x != nullptr && x->rank() < 1) return Invalid("x: expected rank 1 or more, got 0");
  X2IR_ASSIGN_OR_RETURN(const Dim channels, CheckPerChannel(ctx, 1, 5, ChannelDim(x, last)));
  X2IR_RETURN_IF_ERROR(CommonDType(ctx, 1, 3).status());
  X2IR_RETURN_IF_ERROR(CommonDType(ctx, 3, 5).status());
  const bool training = ctx.attrs().Int("training_mode") != 0;
  if (!training && (ctx.has_output(1) || ctx.has_output(2))) {
    return Invalid("running statistics are results only where training_mode is 1");
  }
  ctx.Set(0, ctx.dtype(0), ShapeOf(ctx, 0));
  for (size_t i = 1; i < ctx.num_outputs() && i < 3; ++i) {
    ctx.Set(i, ctx.dtype(2 + i), Shape({channels}));
  }
  return absl::OkStatus();
}

absl::Status InferInstanceNorm(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  const Shape* x = ctx.shape(0);
  if (x != nullptr && x->rank() < 2) return Invalid("x: expected rank 2 or more, got ", x->rank());
  X2IR_RETURN_IF_ERROR(CheckPerChannel(ctx, 1, 3, ChannelDim(x, last)).status());
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, 3));
  return ctx.Return(dtype, ShapeOf(ctx, 0));
}

// The element type that statistics are computed in.
absl::StatusOr<DType> StashType(const AttributeMap& attrs) {
  const std::string& name = attrs.String("stash_type");
  const std::optional<DType> t = ParseDType(name);
  if (!t || !IsFloating(*t)) {
    return Invalid("stash_type: expected a floating-point type, got '", name, "'");
  }
  return *t;
}

absl::Status InferGroupNorm(InferContext& ctx) {
  const int64_t groups = ctx.attrs().Int("num_groups");
  if (groups < 1) return Invalid("num_groups: expected a number from 1, got ", groups);
  X2IR_RETURN_IF_ERROR(StashType(ctx.attrs()).status());
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  const Dim channels = ChannelDim(ctx.shape(0), last);
  if (channels.is_static() && channels.value() % groups != 0) {
    return Invalid("num_groups ", groups, " does not divide ", channels.value(), " channels");
  }
  return InferInstanceNorm(ctx);
}

// Mean and the like of layer_normalization: x with size 1 from `axis` on.
absl::StatusOr<std::optional<Shape>> StatisticsShape(InferContext& ctx) {
  const Shape* x = ctx.shape(0);
  if (x == nullptr) return std::nullopt;
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), x->rank()));
  Shape s = *x;
  for (int64_t i = axis; i < s.rank(); ++i) s[i] = Dim(1);
  return s;
}

// Operand i must broadcast to x without changing its shape.
absl::Status CheckBroadcastsTo(InferContext& ctx, size_t i) {
  const Shape* x = ctx.shape(0);
  const Shape* s = ctx.shape(i);
  if (x == nullptr || s == nullptr) return absl::OkStatus();
  bool fits = s->rank() <= x->rank();
  for (int64_t k = 1; fits && k <= s->rank(); ++k) {
    const Dim& d = (*s)[s->rank() - k];
    fits = d == Dim(1) || !ProvablyDifferent(d, (*x)[x->rank() - k]);
  }
  if (fits) return absl::OkStatus();
  return Invalid(OperandName(ctx, i), ": expected a shape that broadcasts to [", x->ToString(),
                 "], got [", s->ToString(), "]");
}

absl::Status InferLayerNorm(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType stash, StashType(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(std::optional<Shape> statistics, StatisticsShape(ctx));
  X2IR_RETURN_IF_ERROR(CheckBroadcastsTo(ctx, 1));
  X2IR_RETURN_IF_ERROR(CheckBroadcastsTo(ctx, 2));
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, 3));
  ctx.Set(0, dtype, ShapeOf(ctx, 0));
  for (size_t i = 1; i < ctx.num_outputs() && i < 3; ++i) ctx.Set(i, stash, statistics);
  return absl::OkStatus();
}

absl::Status InferRmsNorm(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(StashType(ctx.attrs()).status());
  X2IR_RETURN_IF_ERROR(StatisticsShape(ctx).status());  // checks axis
  X2IR_RETURN_IF_ERROR(CheckBroadcastsTo(ctx, 1));
  return ctx.Return(ctx.dtype(1), ShapeOf(ctx, 0));
}

absl::Status InferLrn(InferContext& ctx) {
  if (ctx.attrs().Int("size") < 1) return Invalid("size: expected a number from 1");
  X2IR_RETURN_IF_ERROR(ChannelsLast(ctx.attrs()).status());
  if (ctx.rank(0) >= 0 && ctx.rank(0) < 2) return Invalid("x: expected rank 2 or more");
  return SameAsFirst(ctx);
}

absl::Status InferLpNorm(InferContext& ctx) {
  const int64_t p = ctx.attrs().Int("p");
  if (p != 1 && p != 2) return Invalid("p: expected 1 or 2, got ", p);
  if (const int64_t rank = ctx.rank(0); rank >= 0) {
    X2IR_RETURN_IF_ERROR(NormalizeAxis(ctx.attrs().Int("axis"), rank).status());
  }
  return SameAsFirst(ctx);
}

absl::Status InferMeanVariance(InferContext& ctx) {
  if (const int64_t rank = ctx.rank(0); rank >= 0) {
    X2IR_RETURN_IF_ERROR(NormalizeAxes(ctx.attrs().Ints("axes"), rank).status());
  }
  return SameAsFirst(ctx);
}

// --- Evaluation -----------------------------------------------------------------------------

// Rounds to a type and back: what storing an intermediate result in it does.
double RoundToFloat(DType t, double v) {
  switch (t) {
    case DType::kFloat64: return v;
    case DType::kFloat16: return HalfToFloat(FloatToHalf(static_cast<float>(v)));
    case DType::kBFloat16: return BFloat16ToFloat(FloatToBFloat16(static_cast<float>(v)));
    default: return static_cast<float>(v);
  }
}

struct Moments {
  double mean = 0, variance = 0;
};

// Mean and (population) variance of n values get(i), in two passes for accuracy.
template <typename Get>
Moments MomentsOf(int64_t n, Get&& get) {
  Moments m;
  for (int64_t i = 0; i < n; ++i) m.mean += get(i);
  m.mean /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    const double d = get(i) - m.mean;
    m.variance += d * d;
  }
  m.variance /= static_cast<double>(n);
  return m;
}

// A tensor seen as [outer, channels, inner], whatever its layout.
struct ChannelView {
  int64_t outer, channels, inner;
  int64_t size() const { return outer * channels * inner; }
};

ChannelView ViewChannels(absl::Span<const int64_t> dims, bool last) {
  if (dims.size() == 1) return {dims[0], 1, 1};
  if (last) return {Product(dims.subspan(0, dims.size() - 1)), dims.back(), 1};
  return {dims[0], dims[1], Product(dims.subspan(2))};
}

absl::Status CheckChannelOperand(EvalContext& ctx, size_t i, int64_t channels) {
  if (ctx.input(i).rank() != 1 || ctx.input(i).dim(0) != channels) {
    return Invalid("operand ", i, ": expected ", channels, " numbers, one a channel");
  }
  if (!IsFloating(ctx.dtype(i))) return Invalid("operand ", i, ": expected floating-point numbers");
  return absl::OkStatus();
}

absl::Status EvalBatchNorm(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  const Tensor& x = ctx.input(0);
  if (x.rank() < 1) return Invalid("x: expected rank 1 or more");
  const ChannelView v = ViewChannels(x.dims(), last);
  for (size_t i = 1; i < 5; ++i) X2IR_RETURN_IF_ERROR(CheckChannelOperand(ctx, i, v.channels));
  const double epsilon = ctx.attrs().Float("epsilon");
  const double momentum = ctx.attrs().Float("momentum");
  const bool training = ctx.attrs().Int("training_mode") != 0;
  return DispatchFloat(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(x);
    const Numbers<double> scale(ctx.input(1)), b(ctx.input(2)), mean(ctx.input(3)),
        var(ctx.input(4));
    std::vector<T> y(xs.size());
    std::vector<double> new_mean(v.channels), new_var(v.channels);
    const int64_t n = v.outer * v.inner;
    for (int64_t c = 0; c < v.channels; ++c) {
      auto at = [&](int64_t i) { return ((i / v.inner) * v.channels + c) * v.inner + i % v.inner; };
      Moments m{mean[c], var[c]};
      if (training) {
        m = MomentsOf(n, [&](int64_t i) { return xs[at(i)]; });
        new_mean[c] = mean[c] * momentum + m.mean * (1 - momentum);
        new_var[c] = var[c] * momentum + m.variance * (1 - momentum);
      }
      const double factor = scale[c] / std::sqrt(m.variance + epsilon);
      for (int64_t o = 0; !y.empty() && o < v.outer; ++o) {
        const int64_t base = (o * v.channels + c) * v.inner;
        for (int64_t i = base; i < base + v.inner; ++i) {
          y[i] = static_cast<T>((xs[i] - m.mean) * factor + b[c]);
        }
      }
    }
    ctx.Set(0, FromNumbers<T>(x.dtype(), x.dims(), y));
    if (ctx.wants(1)) ctx.Set(1, FromNumbers<double>(ctx.dtype(3), {v.channels}, new_mean));
    if (ctx.wants(2)) ctx.Set(2, FromNumbers<double>(ctx.dtype(4), {v.channels}, new_var));
    return absl::OkStatus();
  });
}

// instance_normalization is group_normalization with one channel a group.
absl::Status EvalGroups(EvalContext& ctx, int64_t groups, DType stash) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  if (ctx.input(0).rank() < 2) return Invalid("x: expected rank 2 or more");
  const Tensor x = last ? ToChannelsFirst(ctx.input(0)) : ctx.input(0);
  const int64_t channels = x.dim(1);
  for (size_t i = 1; i < 3; ++i) X2IR_RETURN_IF_ERROR(CheckChannelOperand(ctx, i, channels));
  if (groups == 0) groups = channels;
  if (groups < 0 || (groups == 0 ? channels != 0 : channels % groups != 0)) {
    return Invalid("num_groups ", groups, " does not divide ", channels, " channels");
  }
  const double epsilon = ctx.attrs().Float("epsilon");
  return DispatchFloat(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(x);
    const Numbers<double> scale(ctx.input(1)), b(ctx.input(2));
    std::vector<T> y(xs.size());
    const int64_t inner = y.empty() ? 0 : Product(absl::MakeSpan(x.dims()).subspan(2));
    const int64_t count = y.empty() ? 0 : channels / groups * inner;
    for (int64_t ng = 0; !y.empty() && ng < x.dim(0) * groups; ++ng) {
      const int64_t base = ng * count;
      auto get = [&](int64_t i) { return RoundToFloat(stash, xs[base + i]); };
      const Moments m = MomentsOf(count, get);
      const double factor = 1 / std::sqrt(m.variance + epsilon);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t c = (ng % groups) * (channels / groups) + i / inner;
        y[base + i] = static_cast<T>((get(i) - m.mean) * factor * scale[c] + b[c]);
      }
    }
    Tensor out = FromNumbers<T>(x.dtype(), x.dims(), y);
    return ctx.Return(last ? ToChannelsLast(out) : out);
  });
}

absl::Status EvalInstanceNorm(EvalContext& ctx) { return EvalGroups(ctx, 0, DType::kFloat64); }

absl::Status EvalGroupNorm(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType stash, StashType(ctx.attrs()));
  if (ctx.attrs().Int("num_groups") < 1) return Invalid("num_groups: expected a number from 1");
  return EvalGroups(ctx, ctx.attrs().Int("num_groups"), stash);
}

// layer_normalization and rms_normalization: rows of `inner` elements from `axis` on.
absl::Status EvalRows(EvalContext& ctx, bool rms) {
  X2IR_ASSIGN_OR_RETURN(const DType stash, StashType(ctx.attrs()));
  const Tensor& x = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), x.rank()));
  const double epsilon = ctx.attrs().Float("epsilon");
  // The normalized value is stored in this type before scale and bias come to it.
  const DType result = rms ? ctx.dtype(1) : x.dtype();
  std::vector<Tensor> affine;
  for (size_t i = 1; i < 3 && i < ctx.num_inputs(); ++i) {
    if (!ctx.has(i)) continue;
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> both, BroadcastDims(ctx.dims(i), x.dims()));
    if (both != x.dims() || !IsFloating(ctx.dtype(i))) {
      return Invalid("operand ", i, ": expected floating-point numbers that broadcast to x");
    }
    affine.push_back(ctx.input(i));
  }
  std::vector<int64_t> statistics = x.dims();
  std::fill(statistics.begin() + axis, statistics.end(), 1);
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, statistics));
  return DispatchFloat(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(x);
    std::vector<T> y(xs.size());
    const absl::Span<const int64_t> dims(x.dims());
    // A row without elements has a mean as well, which is not a number.
    const int64_t rows = Product(dims.subspan(0, axis)), inner = Product(dims.subspan(axis));
    std::vector<double> means(Product(statistics)), inverses(means.size());
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t base = r * inner;
      auto get = [&](int64_t i) { return RoundToFloat(stash, xs[base + i]); };
      Moments m;
      if (rms) {
        for (int64_t i = 0; i < inner; ++i) m.variance += get(i) * get(i);
        m.variance /= static_cast<double>(inner);
      } else {
        m = MomentsOf(inner, get);
      }
      const double inverse = 1 / std::sqrt(m.variance + epsilon);
      means[r] = m.mean;
      inverses[r] = inverse;
      for (int64_t i = 0; i < inner; ++i) {
        y[base + i] = static_cast<T>(RoundToFloat(result, (get(i) - m.mean) * inverse));
      }
    }
    for (size_t k = 0; k < affine.size(); ++k) {
      const Numbers<double> values(affine[k]);
      const std::vector<int64_t> strides = BroadcastStrides(affine[k].dims(), x.dims());
      std::vector<int64_t> index(x.rank(), 0);
      const int64_t last = x.rank() - 1;
      const int64_t n = x.dim(last), step = strides[last];
      for (size_t i = 0; i < y.size(); i += n) {
        int64_t at = 0;
        for (int64_t d = 0; d < last; ++d) at += index[d] * strides[d];
        for (int64_t j = 0; j < n; ++j) {
          const double v = values[at + j * step];
          y[i + j] = static_cast<T>(k == 0 ? y[i + j] * v : y[i + j] + v);
        }
        NextIndex(dims.subspan(0, last), index);
      }
    }
    ctx.Set(0, FromNumbers<T>(result, x.dims(), y));
    if (ctx.wants(1)) ctx.Set(1, FromNumbers<double>(stash, statistics, means));
    if (ctx.wants(2)) ctx.Set(2, FromNumbers<double>(stash, statistics, inverses));
    return absl::OkStatus();
  });
}

absl::Status EvalLayerNorm(EvalContext& ctx) { return EvalRows(ctx, /*rms=*/false); }
absl::Status EvalRmsNorm(EvalContext& ctx) { return EvalRows(ctx, /*rms=*/true); }

absl::Status EvalLrn(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  const Tensor& x = ctx.input(0);
  const int64_t size = ctx.attrs().Int("size");
  if (x.rank() < 2) return Invalid("x: expected rank 2 or more");
  if (size < 1) return Invalid("size: expected a number from 1");
  const double alpha = ctx.attrs().Float("alpha"), beta = ctx.attrs().Float("beta");
  const double bias = ctx.attrs().Float("bias");
  return DispatchFloat(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(x);
    std::vector<T> y(xs.size());
    const ChannelView v = ViewChannels(x.dims(), last);
    const int64_t before = (size - 1) / 2, after = size - 1 - before;
    for (int64_t o = 0; !y.empty() && o < v.outer; ++o) {
      for (int64_t c = 0; c < v.channels; ++c) {
        const int64_t lo = std::max<int64_t>(0, c - before);
        const int64_t hi = c + std::min(after, v.channels - 1 - c);
        for (int64_t i = 0; i < v.inner; ++i) {
          double sum = 0;
          for (int64_t k = lo; k <= hi; ++k) {
            const double e = xs[(o * v.channels + k) * v.inner + i];
            sum += e * e;
          }
          const int64_t at = (o * v.channels + c) * v.inner + i;
          const double base = bias + alpha / static_cast<double>(size) * sum;
          y[at] = static_cast<T>(xs[at] / portable::pow(base, beta));
        }
      }
    }
    return ctx.Return(FromNumbers<T>(x.dtype(), x.dims(), y));
  });
}

absl::Status EvalLpNorm(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), x.rank()));
  const bool absolute = ctx.attrs().Int("p") == 1;
  return DispatchFloat(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(x);
    std::vector<T> y(xs.size());
    const absl::Span<const int64_t> dims(x.dims());
    const int64_t n = dims[axis];
    const int64_t inner = y.empty() ? 0 : Product(dims.subspan(axis + 1));
    const int64_t outer = y.empty() ? 0 : Product(dims.subspan(0, axis));
    for (int64_t oi = 0; oi < outer * inner; ++oi) {
      const int64_t base = (oi / inner) * n * inner + oi % inner;
      double sum = 0;
      for (int64_t k = 0; k < n; ++k) {
        const double v = xs[base + k * inner];
        sum += absolute ? std::abs(v) : v * v;
      }
      const double norm = absolute ? sum : std::sqrt(sum);
      for (int64_t k = 0; k < n; ++k) {
        const int64_t at = base + k * inner;
        y[at] = norm == 0 ? T(0) : static_cast<T>(xs[at] / norm);
      }
    }
    return ctx.Return(FromNumbers<T>(x.dtype(), x.dims(), y));
  });
}

absl::Status EvalMeanVariance(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                        NormalizeAxes(ctx.attrs().Ints("axes"), x.rank()));
  // Strides of the statistics: 0 along the axes that they are taken over.
  std::vector<int64_t> kept = x.dims();
  for (int64_t a : axes) kept[a] = 1;
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, kept));
  const std::vector<int64_t> strides = BroadcastStrides(kept, x.dims());
  return DispatchFloat(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(x);
    std::vector<T> y(xs.size());
    std::vector<double> mean(y.empty() ? 0 : Product(kept)), variance(mean.size());
    const double count =
        static_cast<double>(y.size()) / static_cast<double>(std::max<size_t>(1, mean.size()));
    auto for_each = [&](auto&& f) {
      std::vector<int64_t> index(x.rank(), 0);
      for (int64_t i = 0; i < xs.size(); ++i) {
        int64_t at = 0;
        for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
        f(i, at);
        NextIndex(x.dims(), index);
      }
    };
    for_each([&](int64_t i, int64_t at) { mean[at] += xs[i] / count; });
    for_each([&](int64_t i, int64_t at) {
      variance[at] += (xs[i] - mean[at]) * (xs[i] - mean[at]) / count;
    });
    for_each([&](int64_t i, int64_t at) {
      y[i] = static_cast<T>((xs[i] - mean[at]) / (std::sqrt(variance[at]) + 1e-9));
    });
    return ctx.Return(FromNumbers<T>(x.dtype(), x.dims(), y));
  });
}

// --- Definitions ----------------------------------------------------------------------------

// Batches and places: what a channel is, each axis of a place is to the kernel.
std::optional<Flip> FlipByChannel(const Node& node, Slot slot, const Perm& p) {
  if (node.output(1) || node.output(2)) return std::nullopt;  // training
  return FixesChannels(node, p) ? FlipSame(node, slot, p, 1) : std::nullopt;
}

X2IR_OP(batch_normalization)
    .Signature("x, scale, b, mean, var -> y, running_mean?, running_var?")
    .Attrs("layout = 'channels_first', epsilon = 1e-5, momentum = 0.9, training_mode = 0")
    .Functions(InferBatchNorm, EvalBatchNorm)
    .Axes({FlipByChannel})
    .Numbers(NumberUse::kFloatOnly)
    .Doc(
        "(x - mean) / sqrt(var + epsilon) * scale + b for each channel; in training_mode mean "
        "and (population) var are those of x, and momentum mixes them into the running ones.")
    .AllowsFloat16()
    .Origins(OriginsOfBatchNorm);

std::optional<Flip> FlipOverPlaces(const Node& node, Slot slot, const Perm& p) {
  return FixesChannels(node, p) ? FlipAllBut(node, slot, p, 0, 1) : std::nullopt;
}

X2IR_OP(instance_normalization)
    .Signature("x, scale, b -> y")
    .Attrs("layout = 'channels_first', epsilon = 1e-5")
    .Functions(InferInstanceNorm, EvalInstanceNorm)
    .Axes({FlipOverPlaces})
    .Numbers(NumberUse::kFloatOnly)
    .Doc("Normalizes each channel of each image by its own mean and variance.")
    .AllowsFloat16()
    .Origins(OriginsOfBatch);

X2IR_OP(group_normalization)
    .Signature("x, scale, b -> y")
    .Attrs("layout = 'channels_first', num_groups: int, epsilon = 1e-5, stash_type = 'float32'")
    .Functions(InferGroupNorm, EvalGroupNorm)
    .Axes({FlipOverPlaces})
    .Numbers(NumberUse::kFloatOnly)
    .Doc(
        "Normalizes each group of channels of each image by its mean and variance, computed in "
        "stash_type; scale and b have one number a channel.")
    .AllowsFloat16()
    .Origins(OriginsOfBatch);

// Normalized over the axes from `axis` on, which the scale has too.
std::optional<Flip> FlipOverLastAxes(const Node& node, Slot slot, const Perm& p) {
  const int64_t rank = static_cast<int64_t>(p.size());
  const int64_t axis = node.attrs().Int("axis");
  return FlipAllBut(node, slot, p, axis < 0 ? axis + rank : axis, rank);
}

X2IR_OP(layer_normalization)
    .Signature("x, scale, b? -> y, mean?, inv_std_dev?")
    .Attrs("axis = -1, epsilon = 1e-5, stash_type = 'float32'")
    .Functions(InferLayerNorm, EvalLayerNorm)
    .Axes({FlipOverLastAxes})
    .Numbers(NumberUse::kFloatOnly)
    .Rows(RowUse::kLastAxis)
    .Doc(
        "Normalizes over all axes from `axis` on, computing in stash_type, then scales and adds "
        "b, which broadcast to x.")
    .AllowsFloat16()
    .Origins(OriginsBeforeAxis);

X2IR_OP(rms_normalization)
    .Signature("x, scale -> y")
    .Attrs("axis = -1, epsilon = 1e-5, stash_type = 'float32'")
    .Functions(InferRmsNorm, EvalRmsNorm)
    .Axes({FlipOverLastAxes})
    .Numbers(NumberUse::kFloatOnly)
    .Rows(RowUse::kLastAxis)
    .Doc(
        "x / sqrt(mean(x^2) + epsilon) over all axes from `axis` on, computed in stash_type, then "
        "scaled in the element type of scale.")
    .AllowsFloat16()
    .Origins(OriginsBeforeAxis);

X2IR_OP(lrn)
    .Signature("x -> y")
    .Attrs("layout = 'channels_first', size: int, alpha = 1e-4, beta = 0.75, bias = 1.0")
    .Functions(InferLrn, EvalLrn)
    .Axes({FlipByChannel})
    .Numbers(NumberUse::kFloatOnly)
    .Heavy()
    .Doc(
        "Local response normalization: x / (bias + alpha/size * sum of squares)^beta over `size` "
        "neighbouring channels.")
    .AllowsFloat16();

X2IR_OP(lp_normalization)
    .Signature("x -> y")
    .Attrs("axis = -1, p = 2")
    .Functions(InferLpNorm, EvalLpNorm)
    .Axes(kAlongAxis)
    .Numbers(NumberUse::kFloatOnly)
    .Doc("x divided by its L1 or L2 norm along the axis; 0 where the norm is 0.")
    .NeedsFloat32(float32_for::kSquares);

std::optional<Flip> FlipMeanVariance(const Node& node, Slot slot, const Perm& p) {
  if (!AxisMask(node.attrs().Ints("axes"), static_cast<int64_t>(p.size()))) return std::nullopt;
  return FlipSame(node, slot, p, 1);
}
void MoveNormalizedAxes(Node& node, const Flip& flip, Builder&) {
  std::vector<int64_t> axes = NewAxes(node.attrs().Ints("axes"), flip.in[0]);
  std::sort(axes.begin(), axes.end());
  node.SetAttr("axes", std::move(axes));
}

X2IR_OP(mean_variance_normalization)
    .Signature("x -> y")
    .Attr("axes", {0, 2, 3})
    .Functions(InferMeanVariance, EvalMeanVariance)
    .Axes({FlipMeanVariance, MoveNormalizedAxes})
    .Numbers(NumberUse::kFloatOnly)
    .Doc("(x - mean) / (standard deviation + 1e-9) over the axes.")
    .NeedsFloat32(float32_for::kSquares);

}  // namespace
}  // namespace x2ir
