// Pools: windows that slide over each channel (max, average, Lp), their global forms, and
// max_unpool, which puts maxima back to where they came from.
#include <algorithm>
#include <cmath>
#include <limits>
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

absl::StatusOr<Window> ReadPoolWindow(const AttributeMap& attrs) {
  if (attrs.Ints("kernel_shape").empty()) return Invalid("kernel_shape: expected sizes, got none");
  return ReadWindow(attrs, attrs.Ints("kernel_shape"));
}

absl::Status InferPool(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const Window window, ReadPoolWindow(ctx.attrs()));
  const int64_t n = static_cast<int64_t>(window.rank());
  std::optional<Shape> shape;
  if (const Shape* x = ctx.shape(0)) {
    if (x->rank() != n + 2) {
      return Invalid("x: expected rank ", n + 2, " (kernel_shape has ", n, " numbers), got ",
                     x->rank());
    }
    std::vector<Dim> out(n);
    for (int64_t i = 0; i < n; ++i) {
      X2IR_ASSIGN_OR_RETURN(out[i], OutputDim(window, i, (*x)[SpatialAxis(last, i)]));
    }
    shape = LayoutShape(last, (*x)[0], (*x)[ChannelAxis(last, n + 2)], std::move(out));
  }
  ctx.Set(0, ctx.dtype(0), shape);
  if (ctx.num_outputs() > 1) ctx.Set(1, DType::kInt64, shape);
  return absl::OkStatus();
}

absl::Status CheckNorm(const AttributeMap& attrs) {
  const int64_t p = attrs.Int("p");
  if (p < 1) return Invalid("p: expected a number from 1, got ", p);
  return absl::OkStatus();
}

absl::Status InferLpPool(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckNorm(ctx.attrs()));
  return InferPool(ctx);
}

absl::Status InferGlobalPool(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  std::optional<Shape> shape;
  if (const Shape* x = ctx.shape(0)) {
    if (x->rank() < 2) return Invalid("x: expected rank 2 or more, got ", x->rank());
    shape = LayoutShape(last, (*x)[0], (*x)[ChannelAxis(last, x->rank())],
                        std::vector<Dim>(x->rank() - 2, Dim(1)));
  }
  return ctx.Return(ctx.dtype(0), std::move(shape));
}

absl::Status InferGlobalLpPool(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckNorm(ctx.attrs()));
  return InferGlobalPool(ctx);
}

// --- Evaluation -----------------------------------------------------------------------------

// For each position along one axis: the kernel elements that meet the input, and how many
// meet the input or its padding.
struct AxisSpans {
  std::vector<IndexRange> inside;
  std::vector<int64_t> padded;
};

std::vector<AxisSpans> MakeSpans(const PlacedWindow& p) {
  std::vector<AxisSpans> axes(p.window.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    const Window& w = p.window;
    for (int64_t o = 0; o < p.out[i]; ++o) {
      const int64_t from_pad = o * w.strides[i];  // counted from where the padding begins
      const int64_t padded_size = p.in[i] + w.pad_begin(i) + w.pad_end(i);
      axes[i].inside.push_back(
          InsideRange(w.kernel[i], w.dilations[i], from_pad - w.pad_begin(i), p.in[i]));
      axes[i].padded.push_back(InsideRange(w.kernel[i], w.dilations[i], from_pad, padded_size).hi);
    }
  }
  return axes;
}

// Calls f(image, output offset, padded count, inputs) for each window of each image, where
// `inputs(g)` calls g(offset in the image) for each element that the window meets, in order.
template <typename F>
void ForEachWindow(const PlacedWindow& p, int64_t images, F&& f) {
  if (images == 0) return;
  const size_t n = p.window.rank();
  const std::vector<AxisSpans> axes = MakeSpans(p);
  const std::vector<int64_t> in_strides = Strides(p.in);
  const int64_t out_size = Product(p.out);
  std::vector<int64_t> o(n), size(n), k(n);
  for (int64_t image = 0; image < images; ++image) {
    o.assign(n, 0);
    for (int64_t at = 0; at < out_size; ++at) {
      int64_t start = 0, padded = 1;
      bool empty = false;
      for (size_t i = 0; i < n; ++i) {
        const IndexRange r = axes[i].inside[o[i]];
        size[i] = r.hi - r.lo;
        empty |= r.empty();
        start +=
            (o[i] * p.window.strides[i] - p.window.pad_begin(i) + r.lo * p.window.dilations[i]) *
            in_strides[i];
        padded *= axes[i].padded[o[i]];
      }
      f(image, at, padded, [&](auto&& g) {
        if (empty) return;
        k.assign(n, 0);
        const int64_t step = p.window.dilations[n - 1];
        do {
          int64_t from = start;
          for (size_t i = 0; i + 1 < n; ++i) from += k[i] * p.window.dilations[i] * in_strides[i];
          for (int64_t j = 0; j < size[n - 1]; ++j) g(from + j * step);
        } while (NextIndex(absl::MakeSpan(size).subspan(0, n - 1), k));
      });
      NextIndex(p.out, o);
    }
  }
}

// The operand in channels-first form and its window; the dims of the result.
struct PoolCall {
  bool last;
  Tensor x;
  PlacedWindow p;
  std::vector<int64_t> dims;
  int64_t images, in, out;

  Tensor Result(Tensor t) const { return last ? ToChannelsLast(t) : t; }
};

absl::StatusOr<PoolCall> MakeCall(EvalContext& ctx) {
  PoolCall c;
  X2IR_ASSIGN_OR_RETURN(c.last, ChannelsLast(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(Window window, ReadPoolWindow(ctx.attrs()));
  const Tensor& x = ctx.input(0);
  if (x.rank() != static_cast<int64_t>(window.rank()) + 2) {
    return Invalid("x: expected rank ", window.rank() + 2, ", got ", x.rank());
  }
  c.x = c.last ? ToChannelsFirst(x) : x;
  X2IR_ASSIGN_OR_RETURN(c.p, PlaceWindow(std::move(window), absl::MakeSpan(c.x.dims()).subspan(2)));
  c.dims = {c.x.dim(0), c.x.dim(1)};
  c.dims.insert(c.dims.end(), c.p.out.begin(), c.p.out.end());
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kInt64, c.dims));
  c.in = Product(c.p.in);
  c.out = Product(c.p.out);
  c.images = Product(c.dims) == 0 ? 0 : c.dims[0] * c.dims[1];
  return c;
}

// What a maximum over nothing is.
template <typename T>
T LowestOf(DType dtype) {
  if (IsFloating(dtype)) return static_cast<T>(-std::numeric_limits<double>::infinity());
  if (IsUnsignedInt(dtype) || dtype == DType::kBool) return T(0);
  return static_cast<T>(std::numeric_limits<int64_t>::min() >> (64 - BitWidth(dtype)));
}

absl::Status EvalMaxPool(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const PoolCall c, MakeCall(ctx));
  const DType dtype = c.x.dtype();
  const bool column_major = ctx.attrs().Int("storage_order") != 0;
  const bool wants_indices = ctx.wants(1);
  return DispatchReal(dtype, [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(c.x);
    std::vector<T> y(Product(c.dims));
    std::vector<int64_t> indices(wants_indices ? y.size() : 0);
    ForEachWindow(c.p, c.images, [&](int64_t image, int64_t at, int64_t, auto&& inputs) {
      const T* from = xs.data() + image * c.in;
      T best = LowestOf<T>(dtype);
      int64_t where = -1;
      inputs([&](int64_t i) {  // the first of equals wins; NaN wins over all
        if (where < 0 || from[i] > best || (from[i] != from[i] && best == best)) {
          best = from[i];
          where = i;
        }
      });
      y[image * c.out + at] = best;
      if (!wants_indices) return;
      if (column_major && where >= 0) {
        int64_t rest = where, turned = 0;
        int64_t size = c.in;
        for (size_t i = c.p.in.size(); i-- > 0;) {
          size /= c.p.in[i];
          turned += (rest % c.p.in[i]) * size;
          rest /= c.p.in[i];
        }
        where = turned;
      }
      indices[image * c.out + at] = where < 0 ? where : image * c.in + where;
    });
    ctx.Set(0, c.Result(FromNumbers<T>(dtype, c.dims, y)));
    if (wants_indices) ctx.Set(1, c.Result(FromNumbers<int64_t>(DType::kInt64, c.dims, indices)));
    return absl::OkStatus();
  });
}

absl::Status EvalAveragePool(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const PoolCall c, MakeCall(ctx));
  const bool include_pad = ctx.attrs().Int("count_include_pad") != 0;
  return DispatchFloat(c.x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(c.x);
    std::vector<T> y(Product(c.dims));
    ForEachWindow(c.p, c.images, [&](int64_t image, int64_t at, int64_t padded, auto&& inputs) {
      const T* from = xs.data() + image * c.in;
      double sum = -0.0;  // the mean of one element is that element, -0 too
      int64_t count = 0;
      inputs([&](int64_t i) {
        sum += from[i];
        ++count;
      });
      if (include_pad && padded != count) {
        sum += 0.0;
        count = padded;
      }
      // A window that lies wholly in padding averages to 0.
      y[image * c.out + at] = count == 0 ? T(0) : static_cast<T>(sum / static_cast<double>(count));
    });
    return ctx.Return(c.Result(FromNumbers<T>(c.x.dtype(), c.dims, y)));
  });
}

// The Lp norm, one element at a time.
struct Norm {
  int64_t p;
  double sum = 0;
  void Add(double v) {
    v = std::abs(v);
    sum += p == 1 ? v : p == 2 ? v * v : portable::pow(v, static_cast<double>(p));
  }
  double Result() const {
    return p == 1   ? sum
           : p == 2 ? std::sqrt(sum)
                    : portable::pow(sum, 1.0 / static_cast<double>(p));
  }
};

absl::Status EvalLpPool(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckNorm(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const PoolCall c, MakeCall(ctx));
  return DispatchFloat(c.x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(c.x);
    std::vector<T> y(Product(c.dims));
    ForEachWindow(c.p, c.images, [&](int64_t image, int64_t at, int64_t, auto&& inputs) {
      const T* from = xs.data() + image * c.in;
      Norm norm{ctx.attrs().Int("p")};
      inputs([&](int64_t i) { norm.Add(from[i]); });
      y[image * c.out + at] = static_cast<T>(norm.Result());
    });
    return ctx.Return(c.Result(FromNumbers<T>(c.x.dtype(), c.dims, y)));
  });
}

// Reduces every channel of every image to one number: reduce(begin, end).
template <typename Reduce>
absl::Status EvalGlobal(EvalContext& ctx, Reduce&& reduce) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  if (ctx.input(0).rank() < 2) return Invalid("x: expected rank 2 or more");
  const Tensor x = last ? ToChannelsFirst(ctx.input(0)) : ctx.input(0);
  std::vector<int64_t> dims(x.rank(), 1);
  dims[0] = x.dim(0);
  dims[1] = x.dim(1);
  X2IR_RETURN_IF_ERROR(CheckAllocation(x.dtype(), dims));
  return DispatchFloat(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(x);
    std::vector<T> y(dims[0] * dims[1]);
    const int64_t inner = y.empty() ? 0 : xs.size() / static_cast<int64_t>(y.size());
    for (size_t i = 0; i < y.size(); ++i) {
      const T* from = xs.data() + static_cast<int64_t>(i) * inner;
      y[i] = static_cast<T>(reduce(from, from + inner));
    }
    Tensor out = FromNumbers<T>(x.dtype(), dims, y);
    return ctx.Return(last ? ToChannelsLast(out) : out);
  });
}

absl::Status EvalGlobalAveragePool(EvalContext& ctx) {
  return EvalGlobal(ctx, [](auto begin, auto end) {
    double sum = begin == end ? 0 : -0.0;
    for (auto i = begin; i != end; ++i) sum += *i;
    return sum / static_cast<double>(end - begin);
  });
}

absl::Status EvalGlobalMaxPool(EvalContext& ctx) {
  return EvalGlobal(ctx, [](auto begin, auto end) {
    double best = -std::numeric_limits<double>::infinity();
    for (auto i = begin; i != end; ++i) {
      if (*i > best || *i != *i) best = *i;
      if (best != best) break;
    }
    return best;
  });
}

absl::Status EvalGlobalLpPool(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckNorm(ctx.attrs()));
  return EvalGlobal(ctx, [&](auto begin, auto end) {
    Norm norm{ctx.attrs().Int("p")};
    for (auto i = begin; i != end; ++i) norm.Add(*i);
    return norm.Result();
  });
}

// --- max_unpool -----------------------------------------------------------------------------

// Size of the pooled tensor's origin along spatial axis i: the inverse of max_pool's formula.
Dim UnpooledDim(const Window& w, size_t i, const Dim& in) {
  return (in - 1) * Dim(w.strides[i]) + Dim(w.kernel[i] - w.pad_begin(i) - w.pad_end(i));
}

absl::Status InferMaxUnpool(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Window w, ReadPoolWindow(ctx.attrs()));
  const int64_t n = static_cast<int64_t>(w.rank());
  const Shape* x = ctx.shape(0);
  if (x != nullptr && x->rank() != n + 2) {
    return Invalid("x: expected rank ", n + 2, ", got ", x->rank());
  }
  Shape shape = Shape::UnknownDims(n + 2);
  if (ctx.has(2)) {
    if (auto sizes = ctx.Elements(2)) {
      if (static_cast<int64_t>(sizes->size()) != n + 2) {
        return Invalid("output_shape: expected ", n + 2, " numbers, got ", sizes->size());
      }
      shape = Shape(*std::move(sizes));
    }
  } else if (x != nullptr) {
    shape[0] = (*x)[0];
    shape[1] = (*x)[1];
    for (int64_t i = 0; i < n; ++i) shape[2 + i] = UnpooledDim(w, i, (*x)[2 + i]);
  }
  for (const Dim& d : shape) {
    if (d.is_static() && d.value() < 0) return Invalid("the output would have a negative size");
  }
  return ctx.Return(ctx.dtype(0), std::move(shape));
}

absl::Status EvalMaxUnpool(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Window w, ReadPoolWindow(ctx.attrs()));
  const Tensor& x = ctx.input(0);
  const Tensor& at = ctx.input(1);
  if (x.rank() != static_cast<int64_t>(w.rank()) + 2 || at.dims() != x.dims()) {
    return Invalid("x and indices: expected one shape of rank ", w.rank() + 2);
  }
  if (at.dtype() != DType::kInt64) return Invalid("indices: expected int64");
  // Indices count in the tensor that was pooled, as kernel, strides and pads tell its size.
  std::vector<int64_t> origin = {x.dim(0), x.dim(1)};
  for (size_t i = 0; i < w.rank(); ++i) {
    const Dim d = UnpooledDim(w, i, Dim(x.dim(2 + i)));
    if (!d.is_static() || d.value() < 0) return Invalid("the output has no sensible size");
    origin.push_back(d.value());
  }
  std::vector<int64_t> dims = origin;
  if (ctx.has(2)) {
    X2IR_ASSIGN_OR_RETURN(dims, ctx.input(2).ToInts());
    if (dims.size() != origin.size())
      return Invalid("output_shape: expected ", origin.size(), " numbers");
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] < origin[i]) {
        return Invalid("output_shape: expected at least ", origin[i], " along axis ", i, ", got ",
                       dims[i]);
      }
    }
  }
  X2IR_RETURN_IF_ERROR(CheckAllocation(x.dtype(), dims));
  const std::optional<int64_t> origin_size = CheckedProduct(origin);
  if (!origin_size) return Invalid("the output is too large");
  const std::vector<int64_t> strides = Strides(dims);
  const absl::Span<const int64_t> indices = at.span<int64_t>();
  const Cells from(x);
  CellsOut out(x.dtype(), dims);
  absl::Status status;
  DispatchCell(from.size(), [&](auto cell) {
    using C = decltype(cell);
    for (size_t i = 0; i < indices.size(); ++i) {
      int64_t rest = indices[i], to = 0;
      if (rest < 0 || rest >= *origin_size) {
        status = Invalid("indices: ", rest, " is outside of [0, ", *origin_size, ")");
        return;
      }
      for (size_t axis = origin.size(); axis-- > 0;) {
        to += (rest % origin[axis]) * strides[axis];
        rest /= origin[axis];
      }
      out.template as<C>()[to] = from.template as<C>()[i];
    }
  });
  X2IR_RETURN_IF_ERROR(status);
  return ctx.Return(out.Finish());
}

// --- Traits ---------------------------------------------------------------------------------

// Whether a maximum over nothing may come about: that is the type's least value, which no other
// integer type has. (Floats have -inf.)
bool MayPoolNothing(const Node& node) {  // does every window meet the input?
  if (!node.input(0) || IsFloating(node.input(0)->dtype())) return false;
  const std::vector<int64_t>& kernel = node.attrs().Ints("kernel_shape");
  const std::vector<int64_t> pads = node.attrs().Ints("pads", {});
  const std::vector<int64_t> dilations = node.attrs().Ints("dilations", {});
  for (size_t i = 0; i < pads.size(); ++i) {
    if (kernel.empty() || pads[i] >= kernel[i % kernel.size()]) return true;
  }
  return std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; });
}

// --- Definitions ----------------------------------------------------------------------------

void WindowAttrs(OpDef& op) {
  op.Attrs(
      "layout = 'channels_first', kernel_shape: ints, auto_pad = 'NOTSET', ceil_mode = 0, "
      "strides: ints?, dilations: ints?, pads: ints?");
}

X2IR_OP(max_pool)
    .Signature("x -> y, indices?")
    .With(WindowAttrs)
    .Attrs("storage_order = 0")
    .Functions(InferPool, EvalMaxPool)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kCompares, kFirstOfType, kFirstOfType, MayPoolNothing)
    .Heavy()
    .Doc(
        "Largest element under a sliding window; padding never wins. indices count through "
        "the channels-first form of x, its spatial axes column-major if storage_order is 1.")
    .Origins(OriginsOfBatch);
X2IR_OP(average_pool)
    .Signature("x -> y")
    .With(WindowAttrs)
    .Attrs("count_include_pad = 0")
    .Functions(InferPool, EvalAveragePool)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kFloatOnly)
    .Heavy()
    .Doc("Mean of the elements under a sliding window, of padding too if count_include_pad.")
    .AllowsFloat16()
    .Origins(OriginsOfBatch)
    .Gives(ResultUse::kMeans);
X2IR_OP(lp_pool)
    .Signature("x -> y")
    .With(WindowAttrs)
    .Attrs("p = 2")
    .Functions(InferLpPool, EvalLpPool)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kFloatOnly)
    .Heavy()
    .Doc("Lp norm of the elements under a sliding window.")
    .NeedsFloat32(float32_for::kSquares)
    .Origins(OriginsOfBatch);

// A global pool leaves nothing of the places.
std::optional<Flip> FlipGlobalPool(const Node& node, Slot slot, const Perm& p) {
  if (slot.output || !Fixes(p, 0, 1) || !FixesChannels(node, p) ||
      RankOf(node.output(0)) != RankOf(node.input(0))) {
    return std::nullopt;
  }
  Flip flip(node);
  flip.in[0] = p;
  return flip;
}

X2IR_OP(global_average_pool)
    .Signature("x -> y")
    .Attrs("layout = 'channels_first'")
    .Functions(InferGlobalPool, EvalGlobalAveragePool)
    .Axes({FlipGlobalPool})
    .Numbers(NumberUse::kFloatOnly)
    .Doc("Mean of each channel; spatial axes stay with size 1.")
    .AllowsFloat16()
    .Origins(OriginsOfBatch)
    .Gives(ResultUse::kMeans);
X2IR_OP(global_max_pool)
    .Signature("x -> y")
    .Attrs("layout = 'channels_first'")
    .Functions(InferGlobalPool, EvalGlobalMaxPool)
    .Axes({FlipGlobalPool})
    .Numbers(NumberUse::kCompares, kFirstOfType, kAllOfType, MayReduceNothing)
    .Doc("Largest element of each channel; spatial axes stay with size 1.")
    .Origins(OriginsOfBatch);
X2IR_OP(global_lp_pool)
    .Signature("x -> y")
    .Attrs("layout = 'channels_first', p = 2")
    .Functions(InferGlobalLpPool, EvalGlobalLpPool)
    .Axes({FlipGlobalPool})
    .Numbers(NumberUse::kFloatOnly)
    .Doc("Lp norm of each channel; spatial axes stay with size 1.")
    .NeedsFloat32(float32_for::kSquares);

X2IR_OP(max_unpool)
    .Signature("x, indices, output_shape? -> y")
    .Attrs("kernel_shape: ints, strides: ints?, pads: ints?")
    .Functions(InferMaxUnpool, EvalMaxUnpool)
    .Opaque()
    .Doc(
        "Partial inverse of max_pool: elements are placed at the indices in a tensor of zeros of "
        "the size that was pooled; a larger output_shape adds zeros at the end.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
