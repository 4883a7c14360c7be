// Convolutions: conv and conv_transpose, any number of spatial axes, groups, both layouts.
#include <algorithm>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/window.h"
#include "x2ir/ops/work.h"

namespace x2ir {
namespace {

template <typename T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The unfolded matrix of a convolution is made in blocks of about this many elements.
constexpr int64_t kBlockElements = int64_t{1} << 21;

absl::StatusOr<int64_t> ReadGroup(const AttributeMap& attrs) {
  const int64_t group = attrs.Int("group");
  if (group < 1 || group >= (int64_t{1} << 31)) {
    return Invalid("group: expected a number from 1, got ", group);
  }
  return group;
}

// --- Inference ------------------------------------------------------------------------------

// What x, w and the attributes say together. Null shapes and unknown dims are allowed.
struct ConvShapes {
  bool last = false;
  int64_t group = 1;
  int64_t spatial = -1;  // number of spatial axes, -1: not known
  Dim batch, in_channels;
  std::vector<Dim> in;                         // spatial dims of x
  std::optional<std::vector<int64_t>> kernel;  // when static
};

absl::StatusOr<ConvShapes> ReadConvShapes(InferContext& ctx) {
  ConvShapes s;
  X2IR_ASSIGN_OR_RETURN(s.last, ChannelsLast(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(ReadAutoPad(ctx.attrs()).status());
  X2IR_ASSIGN_OR_RETURN(s.group, ReadGroup(ctx.attrs()));
  const Shape* x = ctx.shape(0);
  const Shape* w = ctx.shape(1);
  if (x != nullptr && x->rank() < 2) return Invalid("x: expected rank 2 or more, got ", x->rank());
  if (w != nullptr && w->rank() < 2) return Invalid("w: expected rank 2 or more, got ", w->rank());
  if (x != nullptr && w != nullptr && x->rank() != w->rank()) {
    return Invalid("x and w: expected equal ranks, got ", x->rank(), " and ", w->rank());
  }
  if (x == nullptr && w == nullptr) return s;
  s.spatial = (x != nullptr ? x : w)->rank() - 2;
  s.in.resize(s.spatial);
  if (x != nullptr) {
    s.batch = (*x)[0];
    s.in_channels = (*x)[ChannelAxis(s.last, x->rank())];
    for (int64_t i = 0; i < s.spatial; ++i) s.in[i] = (*x)[SpatialAxis(s.last, i)];
  }
  if (w != nullptr) {
    std::vector<int64_t> kernel;
    for (int64_t i = 0; i < s.spatial; ++i) {
      if ((*w)[2 + i].is_static()) kernel.push_back((*w)[2 + i].value());
    }
    if (static_cast<int64_t>(kernel.size()) == s.spatial) s.kernel = std::move(kernel);
  }
  return s;
}

// Bias: one number for each output channel.
absl::Status CheckBias(InferContext& ctx, const Dim& channels) {
  const Shape* b = ctx.shape(2);
  if (b == nullptr) return absl::OkStatus();
  if (b->rank() != 1 || ProvablyDifferent((*b)[0], channels)) {
    return Invalid("b: expected shape [", channels.ToString(), "], got [", b->ToString(), "]");
  }
  return absl::OkStatus();
}

absl::Status InferConv(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(DType dtype, CommonDType(ctx, 0, 3));
  X2IR_ASSIGN_OR_RETURN(ConvShapes s, ReadConvShapes(ctx));
  ctx.Set(0, dtype);
  if (s.spatial < 0) return absl::OkStatus();
  Dim channels;
  if (const Shape* w = ctx.shape(1)) {
    channels = (*w)[0];
    if (channels.is_static() && channels.value() % s.group != 0) {
      return Invalid("w has ", channels.value(), " output channels, which ", s.group,
                     " groups do not divide");
    }
    if (ProvablyDifferent((*w)[1] * Dim(s.group), s.in_channels)) {
      return Invalid("x: expected ", ((*w)[1] * Dim(s.group)).ToString(), " channels (w times ",
                     s.group, " groups), got ", s.in_channels.ToString());
    }
  }
  X2IR_RETURN_IF_ERROR(CheckBias(ctx, channels));
  std::vector<Dim> out(s.spatial);
  if (s.kernel) {
    X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(ctx.attrs(), *s.kernel));
    for (int64_t i = 0; i < s.spatial; ++i) {
      X2IR_ASSIGN_OR_RETURN(out[i], OutputDim(window, i, s.in[i]));
    }
  }
  return ctx.Return(dtype, LayoutShape(s.last, s.batch, channels, std::move(out)));
}

// --- Unfolding ------------------------------------------------------------------------------

// Walks the pairs of (row of the unfolded matrix, run of positions) of a placed window for
// output rows [first, last), a row being all positions along the last axis. For each kernel
// element and output row it calls f(k, row, input_base, x): positions [x.lo, x.hi) of the row
// meet inputs input_base + o * stride; input_base < 0 with x empty says that none does.
template <typename F>
void ForEachRun(const PlacedWindow& p, int64_t first, int64_t last, F&& f) {
  const Window& w = p.window;
  const size_t n = w.rank();
  const absl::Span<const int64_t> outer_out(p.out.data(), n - 1);
  const std::vector<int64_t> in_strides = Strides(p.in);
  std::vector<int64_t> k(n, 0), o(n - 1);
  const int64_t kernel_size = Product(w.kernel);
  for (int64_t ki = 0; ki < kernel_size; ++ki) {
    const int64_t offset = k[n - 1] * w.dilations[n - 1] - w.pad_begin(n - 1);
    const IndexRange x = InsideRange(p.out[n - 1], w.strides[n - 1], offset, p.in[n - 1]);
    int64_t rest = first;
    for (size_t i = n - 1; i-- > 0;) {
      o[i] = rest % p.out[i];
      rest /= p.out[i];
    }
    for (int64_t row = first; row < last; ++row) {
      int64_t base = offset;
      bool inside = true;
      for (size_t i = 0; i + 1 < n && inside; ++i) {
        const int64_t at = o[i] * w.strides[i] + k[i] * w.dilations[i] - w.pad_begin(i);
        inside = at >= 0 && at < p.in[i];
        base += at * in_strides[i];
      }
      f(ki, row, base, inside ? x : IndexRange{0, 0});
      NextIndex(outer_out, o);
    }
    NextIndex(w.kernel, k);
  }
}

// --- Evaluation of conv ---------------------------------------------------------------------

struct ConvSizes {
  int64_t batch, group, in_per_group, out_per_group, kernel, in, out, out_rows, out_inner;
};

// One channel of kernel a group: no matrix to speak of, so add up shifted rows.
template <typename T>
void ConvDepthwise(const PlacedWindow& p, const ConvSizes& s, const T* x, const T* w, T* y) {
  const int64_t stride = p.window.strides.back();
  for (int64_t m = 0; m < s.out_per_group; ++m) {
    T* ym = y + m * s.out;
    const T* wm = w + m * s.kernel;
    ForEachRun(p, 0, s.out_rows, [&](int64_t k, int64_t row, int64_t base, IndexRange r) {
      T* to = ym + row * s.out_inner;
      const T weight = wm[k];
      if (stride == 1) {
        const T* from = x + base;
        for (int64_t o = r.lo; o < r.hi; ++o) to[o] += weight * from[o];
      } else {
        for (int64_t o = r.lo; o < r.hi; ++o) to[o] += weight * x[base + o * stride];
      }
    });
  }
}

// One group of one image as matrix products over blocks of output rows.
template <typename T>
void ConvGemm(const PlacedWindow& p, const ConvSizes& s, const T* x, const T* w, T* y,
              std::vector<T>& unfolded) {
  using Matrix = Eigen::Map<const RowMajor<T>, 0, Eigen::OuterStride<>>;
  using Out = Eigen::Map<RowMajor<T>, 0, Eigen::OuterStride<>>;
  const int64_t depth = s.in_per_group * s.kernel;
  const Matrix weights(w, s.out_per_group, depth, Eigen::OuterStride<>(depth));
  const int64_t stride = p.window.strides.back();
  const auto all_are = [](const std::vector<int64_t>& list, int64_t number) {
    return std::all_of(list.begin(), list.end(), [&](int64_t i) { return i == number; });
  };
  // Then x is its own unfolding. As many elements as before are not enough: steps and pads may
  // agree.
  const bool plain = s.kernel == 1 && all_are(p.window.strides, 1) && all_are(p.window.pads, 0);
  if (plain) {
    Out(y, s.out_per_group, s.out, Eigen::OuterStride<>(s.out)).noalias() +=
        weights * Matrix(x, depth, s.out, Eigen::OuterStride<>(s.out));
    return;
  }
  const int64_t block =
      std::max<int64_t>(1, kBlockElements / std::max<int64_t>(1, depth * s.out_inner));
  for (int64_t first = 0; first < s.out_rows; first += block) {
    const int64_t last = std::min(s.out_rows, first + block);
    const int64_t columns = (last - first) * s.out_inner;
    unfolded.resize(depth * columns);
    for (int64_t c = 0; c < s.in_per_group; ++c) {
      const T* xc = x + c * s.in;
      T* block_rows = unfolded.data() + c * s.kernel * columns;
      ForEachRun(p, first, last, [&](int64_t k, int64_t row, int64_t base, IndexRange r) {
        T* to = block_rows + k * columns + (row - first) * s.out_inner;
        if (r.empty()) r = {s.out_inner, s.out_inner};
        std::fill(to, to + r.lo, T(0));
        if (stride == 1) {
          std::copy(xc + base + r.lo, xc + base + r.hi, to + r.lo);
        } else {
          for (int64_t o = r.lo; o < r.hi; ++o) to[o] = xc[base + o * stride];
        }
        std::fill(to + r.hi, to + s.out_inner, T(0));
      });
    }
    Out(y + first * s.out_inner, s.out_per_group, columns, Eigen::OuterStride<>(s.out)).noalias() +=
        weights * Matrix(unfolded.data(), depth, columns, Eigen::OuterStride<>(columns));
  }
}

// Every output channel of [batch, channels, inner] starts as its bias.
template <typename T>
void FillBias(std::vector<T>& y, int64_t batch, int64_t channels, int64_t inner,
              const Tensor* bias) {
  if (bias == nullptr) return;
  const Numbers<T> b(*bias);
  for (int64_t i = 0; i < batch * channels; ++i) {
    std::fill_n(y.begin() + i * inner, inner, b[i % channels]);
  }
}

// Checks what both convolutions rely on. `w_out` is w's axis of output channels per group.
absl::Status CheckOperands(const Tensor& x, const Tensor& w, const Tensor* b, int64_t group,
                           bool transposed) {
  if (x.rank() < 3 || w.rank() != x.rank()) {
    return Invalid("expected x and w of one rank, at least 3, got ", x.rank(), " and ", w.rank());
  }
  if (x.dtype() != w.dtype() || (b != nullptr && b->dtype() != x.dtype())) {
    return Invalid("x, w and b: expected one element type");
  }
  const int64_t in_channels = transposed ? w.dim(0) : w.dim(1) * group;
  const int64_t out_channels = transposed ? w.dim(1) * group : w.dim(0);
  if (x.dim(1) != in_channels) {
    return Invalid("x: expected ", in_channels, " channels, got ", x.dim(1));
  }
  if (w.dim(0) % group != 0) {
    return Invalid("group ", group, " does not divide the ", w.dim(0), " channels of w");
  }
  if (b != nullptr && (b->rank() != 1 || b->dim(0) != out_channels)) {
    return Invalid("b: expected ", out_channels, " numbers");
  }
  return absl::OkStatus();
}

struct ConvOperands {
  bool channels_last;
  int64_t group;
  Tensor x;  // with channels first
  const Tensor& w;
  const Tensor* b;  // null: there is none
};
absl::StatusOr<ConvOperands> OperandsOf(const EvalContext& ctx, bool transposed) {
  X2IR_ASSIGN_OR_RETURN(const bool channels_last, ChannelsLast(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const int64_t group, ReadGroup(ctx.attrs()));
  if (ctx.input(0).rank() < 3) return Invalid("x: expected rank 3 or more");
  ConvOperands operands = {channels_last, group,
                           channels_last ? ToChannelsFirst(ctx.input(0)) : ctx.input(0),
                           ctx.input(1), ctx.has(2) ? &ctx.input(2) : nullptr};
  X2IR_RETURN_IF_ERROR(CheckOperands(operands.x, operands.w, operands.b, group, transposed));
  return operands;
}

absl::Status EvalConv(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const ConvOperands operands, OperandsOf(ctx, /*transposed=*/false));
  const Tensor &x = operands.x, &w = operands.w, *b = operands.b;
  const int64_t group = operands.group;
  X2IR_ASSIGN_OR_RETURN(Window window,
                        ReadWindow(ctx.attrs(), {w.dims().begin() + 2, w.dims().end()}));
  X2IR_ASSIGN_OR_RETURN(const PlacedWindow p,
                        PlaceWindow(std::move(window), absl::MakeSpan(x.dims()).subspan(2)));
  std::vector<int64_t> dims = {x.dim(0), w.dim(0)};
  dims.insert(dims.end(), p.out.begin(), p.out.end());
  X2IR_RETURN_IF_ERROR(CheckAllocation(x.dtype(), dims));
  ConvSizes s;
  s.batch = x.dim(0);
  s.group = group;
  s.in_per_group = w.dim(1);
  s.out_per_group = w.dim(0) / group;
  s.kernel = Product(p.window.kernel);
  s.in = Product(p.in);
  s.out = Product(p.out);
  s.out_inner = p.out.back();
  s.out_rows = Product(absl::MakeSpan(p.out).subspan(0, p.out.size() - 1));
  return DispatchFloat(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(x), ws(w);
    std::vector<T> y(Product(dims)), unfolded;
    FillBias(y, s.batch, w.dim(0), s.out, b);
    if (!y.empty() && s.in_per_group > 0) {
      for (int64_t ng = 0; ng < s.batch * group; ++ng) {
        const int64_t g = ng % group;
        const T* xg = xs.data() + ng * s.in_per_group * s.in;
        const T* wg = ws.data() + g * s.out_per_group * s.in_per_group * s.kernel;
        T* yg = y.data() + ng * s.out_per_group * s.out;
        if (s.in_per_group == 1) {
          ConvDepthwise(p, s, xg, wg, yg);
        } else {
          ConvGemm(p, s, xg, wg, yg, unfolded);
        }
      }
    }
    Tensor out = FromNumbers<T>(x.dtype(), dims, y);
    return ctx.Return(operands.channels_last ? ToChannelsLast(out) : out);
  });
}

// --- conv_transpose -------------------------------------------------------------------------

// A transposed convolution is a window that slides over its *output*: `window.pads` cut the
// output, positions are the input's.
struct Transposed {
  Window window;  // pads as resolved
  std::vector<Dim> out;
};

absl::StatusOr<Transposed> ReadTransposed(const AttributeMap& attrs, std::vector<int64_t> kernel,
                                          const std::vector<Dim>& in) {
  Transposed t;
  X2IR_ASSIGN_OR_RETURN(t.window, ReadWindow(attrs, std::move(kernel)));
  const size_t n = t.window.rank();
  std::vector<int64_t> extra = attrs.Ints("output_padding", {});
  if (extra.empty()) extra.assign(n, 0);
  const std::vector<int64_t> sizes = attrs.Ints("output_shape", {});
  if (extra.size() != n || (!sizes.empty() && sizes.size() != n)) {
    return Invalid("output_padding and output_shape: expected ", n, " numbers, got ", extra.size(),
                   " and ", sizes.size());
  }
  const AutoPad pad = t.window.auto_pad;
  const bool same = IsSame(pad);
  for (size_t i = 0; i < n; ++i) {
    const int64_t stride = t.window.strides[i];
    if (extra[i] < 0 || extra[i] >= (int64_t{1} << 31)) {
      return Invalid("output_padding: expected numbers from 0, got ", extra[i]);
    }
    // All that the window covers, before padding is cut off.
    const Dim full = Dim(stride) * (in[i] - 1) + Dim(extra[i] + t.window.extent(i));
    if (sizes.empty() && !same) {
      t.out.push_back(full - Dim(t.window.pad_begin(i) + t.window.pad_end(i)));
    } else {
      if (!sizes.empty() && sizes[i] < 0) {
        return Invalid("output_shape: expected sizes from 0, got ", sizes[i]);
      }
      t.out.push_back(sizes.empty() ? in[i] * Dim(stride) : Dim(sizes[i]));
      const Dim total = Max(full - t.out.back(), 0);
      if (total.is_static()) {
        t.window.SplitPads(i, total.value(), pad == AutoPad::kSameUpper);
      }
    }
    const Dim& out = t.out.back();
    if (out.is_static() && out.value() < 0) {
      return Invalid("padding of spatial axis ", i, " is larger than what it cuts from");
    }
  }
  return t;
}

absl::Status InferConvTranspose(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(DType dtype, CommonDType(ctx, 0, 3));
  X2IR_ASSIGN_OR_RETURN(ConvShapes s, ReadConvShapes(ctx));
  ctx.Set(0, dtype);
  if (s.spatial < 0) return absl::OkStatus();
  Dim channels;
  if (const Shape* w = ctx.shape(1)) {
    channels = (*w)[1] * Dim(s.group);
    if ((*w)[0].is_static() && (*w)[0].value() % s.group != 0) {
      return Invalid("w has ", (*w)[0].value(), " input channels, which ", s.group,
                     " groups do not divide");
    }
    if (ProvablyDifferent((*w)[0], s.in_channels)) {
      return Invalid("x: expected ", (*w)[0].ToString(), " channels, got ",
                     s.in_channels.ToString());
    }
  }
  X2IR_RETURN_IF_ERROR(CheckBias(ctx, channels));
  std::vector<Dim> out(s.spatial);
  if (s.kernel) {
    X2IR_ASSIGN_OR_RETURN(Transposed t, ReadTransposed(ctx.attrs(), *s.kernel, s.in));
    out = std::move(t.out);
  }
  return ctx.Return(dtype, LayoutShape(s.last, s.batch, channels, std::move(out)));
}

absl::Status EvalConvTranspose(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const ConvOperands operands, OperandsOf(ctx, /*transposed=*/true));
  const Tensor &x = operands.x, &w = operands.w, *b = operands.b;
  const int64_t group = operands.group;
  std::vector<Dim> in;
  for (int64_t i = 2; i < x.rank(); ++i) in.push_back(x.dim(i));
  X2IR_ASSIGN_OR_RETURN(Transposed t,
                        ReadTransposed(ctx.attrs(), {w.dims().begin() + 2, w.dims().end()}, in));
  // The forward window whose input is our output.
  PlacedWindow p;
  p.window = std::move(t.window);
  for (size_t i = 0; i < in.size(); ++i) {
    if (!t.out[i].is_static()) return Invalid("output size overflows");
    p.in.push_back(t.out[i].value());
    p.out.push_back(in[i].value());
  }
  const int64_t out_per_group = w.dim(1), in_per_group = w.dim(0) / group;
  const int64_t channels = out_per_group * group;
  std::vector<int64_t> dims = {x.dim(0), channels};
  dims.insert(dims.end(), p.in.begin(), p.in.end());
  X2IR_RETURN_IF_ERROR(CheckAllocation(x.dtype(), dims));
  const int64_t kernel = Product(p.window.kernel), depth = out_per_group * kernel;
  const int64_t out = Product(p.in), inner = p.out.back(), positions = Product(p.out);
  const int64_t rows = Product(absl::MakeSpan(p.out).subspan(0, p.out.size() - 1));
  const int64_t block = std::max<int64_t>(1, kBlockElements / std::max<int64_t>(1, depth * inner));
  const int64_t stride = p.window.strides.back();
  return DispatchFloat(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using Matrix = Eigen::Map<const RowMajor<T>, 0, Eigen::OuterStride<>>;
    const Numbers<T> xs(x), ws(w);
    std::vector<T> y(Product(dims));
    FillBias(y, x.dim(0), channels, out, b);
    RowMajor<T> spread;
    const bool empty = y.empty() || xs.size() == 0;
    for (int64_t ng = 0; !empty && ng < x.dim(0) * group; ++ng) {
      const Matrix weights(ws.data() + (ng % group) * in_per_group * depth, in_per_group, depth,
                           Eigen::OuterStride<>(depth));
      const T* xg = xs.data() + ng * in_per_group * positions;
      T* yg = y.data() + ng * out_per_group * out;
      for (int64_t first = 0; first < rows; first += block) {
        const int64_t last = std::min(rows, first + block), columns = (last - first) * inner;
        spread.noalias() = weights.transpose() * Matrix(xg + first * inner, in_per_group, columns,
                                                        Eigen::OuterStride<>(positions));
        for (int64_t m = 0; m < out_per_group; ++m) {
          ForEachRun(p, first, last, [&](int64_t k, int64_t row, int64_t base, IndexRange r) {
            const T* from = spread.data() + (m * kernel + k) * columns + (row - first) * inner;
            T* to = yg + m * out;
            for (int64_t o = r.lo; o < r.hi; ++o) to[base + o * stride] += from[o];
          });
        }
      }
    }
    Tensor result = FromNumbers<T>(x.dtype(), dims, y);
    return ctx.Return(operands.channels_last ? ToChannelsLast(result) : result);
  });
}

X2IR_OP(conv)
    .Signature("x, w, b? -> y")
    .With(ConvAttrs)
    .Functions(InferConv, EvalConv)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kFloatOnly)
    .Heavy()
    .Doc(
        "Convolution over any number of spatial axes. w is [out, in/group, kernel...] in both "
        "layouts; pads are all begins, then all ends, and count only where auto_pad is NOTSET.")
    .AllowsFloat16()
    .MultiplyAdds(WorkOfConv<1>)
    .Origins(OriginsOfBatch);

X2IR_OP(conv_transpose)
    .Signature("x, w, b? -> y")
    .With(ConvAttrs)
    .Attrs("output_padding: ints?, output_shape: ints?")
    .Functions(InferConvTranspose, EvalConvTranspose)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kFloatOnly)
    .Heavy()
    .Doc(
        "Transposed convolution (the gradient of conv for its input). w is [in, out/group, "
        "kernel...] in both layouts; output_shape, the spatial sizes wanted, overrides pads.")
    .AllowsFloat16()
    .MultiplyAdds(WorkOfConvTranspose)
    .Origins(OriginsOfBatch);

}  // namespace
}  // namespace x2ir
