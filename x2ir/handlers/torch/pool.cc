// Pools with windows that slide, and what undoes them.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/layers/adaptive_pool.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/handlers/torch/windows_internal.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Window ReadPool(TorchCall& c, size_t n) {
  Window window;
  window.kernel = c.IntsOf("kernel_size", n, {});
  window.strides = c.IntsOf("stride", n, window.kernel);
  window.pads = BothEnds(c.IntsOf("padding", n, std::vector<int64_t>(n, 0)));
  window.dilations = c.IntsOf("dilation", n, std::vector<int64_t>(n, 1));
  window.ceil_mode = c.Bool("ceil_mode", false);
  for (size_t i = 0; i < n; ++i) {
    if (window.kernel[i] < 1 || window.strides[i] < 1 || window.pads[i] < 0 ||
        window.dilations[i] < 1 ||
        window.pads[i] > window.kernel[i] / 2 + window.kernel[i] * (window.dilations[i] - 1)) {
      c.Fail(Invalid("an invalid window"));
    }
  }
  return window;
}

// Padding at both ends so that windows in ceil_mode are those without: the last window starts in
// the input or the padding before it. Fail()s where sizes are not known.
std::vector<int64_t> CeilPads(TorchCall& c, const Value* x, const Window& w) {
  std::vector<int64_t> pads = w.pads;
  if (!w.ceil_mode) return pads;
  const auto in = KnownSizes(x, 2, 2 + static_cast<int64_t>(w.rank()));
  if (!in) c.Fail(Unimplemented("ceil_mode of an input of unknown size"));
  for (size_t i = 0; in && i < w.rank(); ++i) {
    pads[w.rank() + i] = LastOf(w, i, (*in)[i], /*within=*/true).beyond;
  }
  return pads;
}

// In ceil_mode the first window may reach beyond the end; then it is the only one. IR's pools, as
// ONNX's, know no such window: one that is as long as there is room sees the same elements.
Window InRoom(const Value* x, Window w) {
  const auto in = KnownSizes(x, 2, 2 + static_cast<int64_t>(w.rank()));
  for (size_t i = 0; w.ceil_mode && in && i < w.rank(); ++i) {
    const int64_t room = (*in)[i] + w.pad_begin(i) + w.pad_end(i);
    if (w.extent(i) <= room || room < 1) continue;
    w.kernel[i] = (room - 1) / w.dilations[i] + 1;
    w.strides[i] = room;
  }
  return w;
}

// Whether each axis has one window, which sees all of it though its size is not known.
bool IsGlobal(TorchCall& c, const Value* x, const Window& w) {
  const int64_t n = static_cast<int64_t>(w.rank());
  const Shape* out = c.out_shape();
  if (!w.ceil_mode || !out || KnownSizes(x, 2, 2 + n)) return false;
  for (size_t i = 0; i < w.rank(); ++i) {
    const Dim& size = (*out)[out->rank() - n + static_cast<int64_t>(i)];
    if (size != Dim(1) || w.strides[i] > w.kernel[i]) return false;
  }
  return !w.padded() && !w.dilated();
}

// --- Averages -------------------------------------------------------------------------------

// How many elements each window has along one axis; of padding too where that counts, but not
// beyond it.
std::vector<int64_t> CountsAlong(int64_t in, const Window& w, size_t i, int64_t pad_end,
                                 bool include_pad) {
  std::vector<int64_t> counts;
  const int64_t p = w.pad_begin(i), low = include_pad ? -p : 0, high = include_pad ? in + p : in;
  for (int64_t o = 0; o * w.strides[i] + w.kernel[i] <= in + p + pad_end; ++o) {
    const int64_t start = o * w.strides[i] - p;
    counts.push_back(
        std::max(std::min(start + w.kernel[i], high) - std::max(start, low), int64_t{1}));
  }
  return counts;
}

// Sums over windows divided by numbers: integers (rounded towards zero), and where the divisor is
// given.
Value* DividedSums(TorchCall& c, Value* x, const Window& w, bool include_pad,
                   std::optional<int64_t> divisor) {
  const DType t = x->dtype();
  const size_t n = w.rank();
  const std::vector<int64_t> pads = CeilPads(c, x, w);
  Value* padded = PadEnds({c, x}, pads, c.Constant(t, 0));
  Value* sum = c.Op("reduce_sum", {Patches({c, padded}, w), Ints(c, {2})}, {{"keepdims", 0}});
  if (divisor) return c.Op("div", {sum, c.Constant(t, static_cast<double>(*divisor))});
  const auto in = KnownSizes(x, 2, 2 + static_cast<int64_t>(n));
  if (!in) {
    c.Fail(Unimplemented("of an input of unknown size"));
    return x;
  }
  for (size_t i = 0; i < n; ++i) {
    std::vector<int64_t> dims(n, 1);
    const auto counts = CountsAlong((*in)[i], w, i, pads[n + i], include_pad);
    dims[i] = static_cast<int64_t>(counts.size());
    // floor(floor(s / a) / b) = floor(s / (a b)), towards zero likewise.
    Value* divisors = c.b().Constant(x2ir::Tensor::Of<int64_t>(dims, counts));
    sum = c.Op("div", {sum, c.Cast(divisors, t)});
  }
  return sum;
}

Values AveragePool(TorchCall& c, int64_t n) {
  const Batched batched = AddBatch(c.Tensor("self"), n);
  Window window = ReadPool(c, static_cast<size_t>(n));
  const bool include_pad = c.Bool("count_include_pad", true);
  const std::optional<int64_t> divisor = c.OptInt("divisor_override");
  if (divisor && *divisor == 0) return c.Fail(Invalid("divisor_override must not be 0"));
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  window = InRoom(batched.x, std::move(window));
  if (IsInteger(batched.x->dtype())) {
    return {DropBatch({c, DividedSums(c, batched.x, window, include_pad, divisor)}, batched)};
  }
  RequireFloat(c, batched.x);
  if (divisor) {
    const Expr wide = batched.x.To(AtLeastFloat32(batched.x.dtype()));
    Value* y = DividedSums(c, wide, window, include_pad, divisor);
    return {DropBatch(c.Cast(y, batched.x->dtype()), batched)};
  }
  if (IsGlobal(c, batched.x, window)) {
    return {DropBatch(Reduce(batched.x, "reduce_mean", CountedFrom(2, n), true), batched)};
  }
  return {DropBatch(MakePool(batched.x, {window, PoolKind::kAverage, include_pad}), batched)};
}

X2IR_TORCH(average_pool)
    .From("aten::avg_pool1d.default", [](TorchCall& c) { return AveragePool(c, 1); })
    .From("aten::avg_pool2d.default", [](TorchCall& c) { return AveragePool(c, 2); })
    .From("aten::avg_pool3d.default", [](TorchCall& c) { return AveragePool(c, 3); });

// --- Maxima ---------------------------------------------------------------------------------

Values MaxPool(TorchCall& c, int64_t n) {
  const Batched batched = AddBatch(c.Tensor("self"), n);
  const Window window = InRoom(batched.x, ReadPool(c, static_cast<size_t>(n)));
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  Values values(c.num_outputs(), nullptr);
  const bool indices = c.wants(1);
  const Expr x = batched.x;
  if (!indices && IsGlobal(c, x, window)) {
    values[0] = DropBatch(Reduce(x, "reduce_max", CountedFrom(2, n), true), batched);
    return values;
  }
  if (IsInteger(batched.x->dtype()) && BitWidth(batched.x->dtype()) > 8) {
    if (indices) return c.Fail(Unimplemented("indices of integer maxima"));
    // Every window has an element, so the least number as padding never shows.
    const DType t = batched.x->dtype();
    const std::vector<int64_t> pads = CeilPads(c, batched.x, window);
    TorchNumber least;
    least.i = -(int64_t{1} << (BitWidth(t) - 1));
    least.c = static_cast<double>(least.i);
    Value* padded = PadEnds({c, batched.x}, pads, c.Constant(t, least));
    Value* y = c.Op("reduce_max", {Patches({c, padded}, window), Ints(c, {2})}, {{"keepdims", 0}});
    values[0] = DropBatch({c, y}, batched);
    return values;
  }
  // Runtimes rewrite a pool with an output of no name wrongly.
  const std::vector<Value*> pooled =
      c.b().Ops("max_pool", {x}, PoolAttrs(window), std::vector<bool>(indices ? 2 : 1, true));
  if (c.wants(0)) values[0] = DropBatch({c, pooled[0]}, batched);
  if (indices) {
    // Ours count through the whole tensor, PyTorch's through one channel of one image.
    const Size plane = Product(c, SizesAt({c, batched.x}, 2, 2 + n));
    values[1] = DropBatch(c.Op("mod", {pooled[1], Scalar(c, plane)}), batched);
  }
  return values;
}

X2IR_TORCH(max_pool)
    .From({"aten::max_pool1d.default", "aten::max_pool1d_with_indices.default"},
          [](TorchCall& c) { return MaxPool(c, 1); })
    .From({"aten::max_pool2d.default", "aten::max_pool2d_with_indices.default",
           "aten::mkldnn_max_pool2d.default"},
          [](TorchCall& c) { return MaxPool(c, 2); })
    .From({"aten::max_pool3d.default", "aten::max_pool3d_with_indices.default",
           "aten::mkldnn_max_pool3d.default"},
          [](TorchCall& c) { return MaxPool(c, 3); });

// Each gradient goes to the element that its index names, counted through one channel.
Values MaxPoolBackward(TorchCall& c) {
  const Expr gradient = c.Tensor("grad_output"), x = c.Tensor("self");
  const Expr indices = c.Tensor("indices");
  const DType t = gradient.dtype();
  RequireFloat(c, gradient);
  const std::vector<int64_t> kernel = c.IntsOf("kernel_size", 2, {});
  const std::vector<int64_t> strides = c.IntsOf("stride", 2, kernel);
  const std::vector<int64_t> dilations = c.IntsOf("dilation", 2, {1, 1});
  c.Ignore({"padding", "ceil_mode"});
  if (kernel.size() != 2 || strides.size() != 2 || dilations.size() != 2) {
    return c.Fail(Invalid("expected sizes of two axes"));
  }
  for (size_t i = 0; i < 2 && BitWidth(t) < 32; ++i) {
    if (dilations[i] == 1 && strides[i] >= kernel[i]) continue;
    return c.Fail(Unimplemented("windows of ", Name(t),
                                " that overlap: sums depend on the order of additions"));
  }
  const int64_t rank = x.rank();
  if (rank != 3 && rank != 4) return c.Fail(Invalid("expected an operand of rank 3 or 4"));
  const auto planes = [&](const Expr& of) {
    std::vector<Size> dims = SizesAt(of, 0, rank - 2);
    dims.push_back(Product(c, SizesAt(of, rank - 2, rank)));
    return ReshapeTo(of, dims);
  };
  const Expr start = Expand(gradient.Number(0), ShapeOf(planes(x)));
  const Expr sums = ScatterElements(start, rank - 2, planes(indices), planes(gradient), "add");
  return {ReshapeTo(sums, AllSizes(x))};
}

X2IR_TORCH(max_pool).From("aten::max_pool2d_with_indices_backward.default", MaxPoolBackward);

// --- fractional_max_pool --------------------------------------------------------------------

// Where the windows of an axis begin in each plane, [N, C, out]: the samples shift them all. As
// PyTorch computes it, in floats and with whole numbers cut off.
Expr FractionalStarts(TorchCall& c, const Expr& samples, int64_t which, int64_t in, int64_t out,
                      int64_t kernel) {
  const Expr sample = Slice(samples, 2, which, which + 1);
  const Expr last = Expand(Expr(c, Ints(c, {in - kernel})),
                           Vector(c, {SizeAt(samples, 0), SizeAt(samples, 1), Size(1)}));
  if (out == 1) return last;
  const double alpha = static_cast<float>(in - kernel) / static_cast<float>(out - 1);
  const Expr steps = Iota(Int(c, out - 1)).To(samples.dtype());
  const Expr begins =
      ((sample + steps) * alpha).To(DType::kInt64) - (sample * alpha).To(DType::kInt64);
  return Concat(c, {begins, last}, 2);
}

Values FractionalMaxPool(TorchCall& c, int64_t n) {
  const Batched batched = AddBatch(c.Tensor("self"), n);
  const Expr x = batched.x;
  Expr samples = c.Tensor("random_samples");
  if (c.Rank(c.Tensor("self")) == n + 1) samples = Slice(samples, 0, 0, 1);
  const std::vector<int64_t> kernel = c.IntsOf("kernel_size", static_cast<size_t>(n), {});
  const std::vector<int64_t> out = c.IntsOf("output_size", static_cast<size_t>(n), {});
  const auto in = KnownSizes(x, 2, 2 + n);
  if (!in) return c.Fail(Unimplemented("of an input of unknown size"));
  RequireFloat(c, x);
  // The place in its plane of each element of each window: [N, C, out..., kernel...].
  Expr places = Int(c, 0);
  int64_t elements = 1;
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    if (kernel[at] < 1 || out[at] < 1 || kernel[at] + out[at] - 1 > (*in)[at]) {
      return c.Fail(Invalid("invalid windows"));
    }
    elements *= kernel[at];
    // Images have the samples of columns first, volumes those of depth.
    const Expr starts =
        FractionalStarts(c, samples, n == 2 ? n - 1 - i : i, (*in)[at], out[at], kernel[at]);
    std::vector<int64_t> of_starts, of_steps;
    for (int64_t axis = 2; axis < 2 + 2 * n; ++axis) {
      if (axis != 2 + i) of_starts.push_back(axis);
    }
    for (int64_t axis = 0; axis < 2 + 2 * n; ++axis) {
      if (axis != 2 + n + i) of_steps.push_back(axis);
    }
    const Expr steps = Iota(Int(c, kernel[at]));
    places =
        places * Int(c, (*in)[at]) + (Unsqueeze(starts, of_starts) + Unsqueeze(steps, of_steps));
  }
  if (elements > 4096) return c.Fail(Unimplemented("windows of ", elements, " elements"));
  const Size planes = Product(c, SizesAt(x, 0, 2));
  int64_t plane = 1, windows = 1;
  for (const int64_t size : *in) plane *= size;
  for (const int64_t size : out) windows *= size;
  const Expr picked = GatherElements(ReshapeTo(x, {planes, plane}),
                                     ReshapeTo(places, {planes, windows * elements}), 1);
  const Expr each = ReshapeTo(picked, {planes, windows, elements});
  std::vector<Size> dims = SizesAt(x, 0, 2);
  dims.insert(dims.end(), out.begin(), out.end());
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) values[0] = DropBatch(ReshapeTo(Reduce(each, "reduce_max", {2}), dims), batched);
  if (c.wants(1)) {
    const Expr which = each.Op("arg_max", {}, {{"axis", 2}, {"keepdims", 1}});
    const Expr found = GatherElements(ReshapeTo(places, {planes, windows, elements}), which, 2);
    values[1] = DropBatch(ReshapeTo(found, dims), batched);
  }
  return values;
}

X2IR_TORCH(max_pool)
    .From("aten::fractional_max_pool2d.default",
          [](TorchCall& c) { return FractionalMaxPool(c, 2); })
    .From("aten::fractional_max_pool3d.default",
          [](TorchCall& c) { return FractionalMaxPool(c, 3); });

// --- max_unpool -----------------------------------------------------------------------------

// Elements go to where indices say in each plane, which is zeros elsewhere.
Values MaxUnpool(TorchCall& c, int64_t n) {
  Value* self = c.Tensor("self");
  Value* indices = c.Tensor("indices");
  std::vector<Size> plane = c.Sizes("output_size");
  c.Ignore({"stride", "padding"});  // what they say is in output_size
  if (static_cast<int64_t>(plane.size()) != n) return c.Fail(Invalid("output_size: expected ", n));
  const int64_t planes = c.Rank(self) - n;
  if (planes < 1) return c.Fail(Invalid("an input of rank ", c.Rank(self)));
  std::vector<Size> dims = SizesAt({c, self}, 0, planes);
  const Size count = Product(c, dims), from = Product(c, SizesAt({c, self}, planes, planes + n));
  Value* zeros = Filled(c, self->dtype(), {count, Product(c, plane)}, 0);
  Value* y =
      c.Op("scatter_elements",
           {zeros, ReshapeTo({c, indices}, {count, from}), ReshapeTo({c, self}, {count, from})},
           {{"axis", 1}});
  dims.insert(dims.end(), plane.begin(), plane.end());
  return {ReshapeTo({c, y}, dims)};
}

X2IR_TORCH(max_unpool)
    .From("aten::max_unpool2d.default", [](TorchCall& c) { return MaxUnpool(c, 2); })
    .From("aten::max_unpool3d.default", [](TorchCall& c) { return MaxUnpool(c, 3); });

// --- Windows of a part of the input each ----------------------------------------------------

Values AdaptiveAveragePool(TorchCall& c, int64_t n) {
  const Batched batched = AddBatch(c.Tensor("self"), n);
  const std::vector<Size> sizes = c.Sizes("output_size");
  RequireFloat(c, batched.x);
  return {DropBatch(AdaptiveAverage(c, batched.x, sizes), batched)};
}

Values AdaptiveMaxPool(TorchCall& c, int64_t n) {
  const Batched batched = AddBatch(c.Tensor("self"), n);
  const auto [most, places] =
      AdaptiveMax(c, batched.x, c.Sizes("output_size"), c.wants(0), c.wants(1));
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) values[0] = DropBatch(most, batched);
  if (c.wants(1)) values[1] = DropBatch(places, batched);
  return values;
}

// PyTorch pads a window by less than half of it.
bool TooMuchPadding(const Window& window) {
  for (size_t i = 0; i < window.rank(); ++i) {
    if (window.pad_begin(i) > window.kernel[i] / 2) return true;
  }
  return !window.even();
}

// Places are in the image, which may be padded apart (by `apart`); in the IR they are in the image
// alone, and count through batch and channels too.
absl::StatusOr<Values> WriteMaxPoolPlaces(TorchWriter& w, const Window& apart,
                                          TorchArguments arguments) {
  const Shape* out = w.out_type(1).shape();
  if (!w.in(0)->shape() || !out) return CannotExpress("places in an image of unknown rank");
  const size_t rank = apart.rank();
  const Values found = w.Calls(OfRank(rank, {"aten::max_pool1d_with_indices.default",
                                             "aten::max_pool2d_with_indices.default",
                                             "aten::max_pool3d_with_indices.default"}),
                               std::move(arguments), {w.wants(0), true},
                               {w.out_type(0), Type::Tensor(DType::kInt64, *out)});
  const Expr x(w.b(), w.in(0));
  const auto n = static_cast<int64_t>(rank);
  std::vector<Expr> sizes;
  for (int64_t i = 0; i < n; ++i) sizes.push_back(SizeOf(x, i + 2));
  Expr pixels = sizes[0];
  for (int64_t i = 1; i < n; ++i) pixels = pixels * sizes[static_cast<size_t>(i)];

  Expr place(w.b(), found[1]);
  const bool last_first = w.Int("storage_order") != 0;
  if (apart.padded() || last_first) {
    std::vector<Expr> at(rank, place);  // along each axis
    for (size_t i = rank; i-- > 0;) {
      const int64_t begin = apart.pad_begin(i);
      const Expr size = Shifted(sizes[i], static_cast<double>(begin + apart.pad_end(i)));
      at[i] = Shifted(i == 0 ? place : Mod(place, size), -static_cast<double>(begin));
      if (i > 0) place = place / size;
    }
    if (last_first) {
      std::reverse(at.begin(), at.end());
      std::reverse(sizes.begin(), sizes.end());
    }
    place = at[0];
    for (size_t i = 1; i < rank; ++i) place = place * sizes[i] + at[i];
  }
  // Where each plane begins.
  std::vector<int64_t> behind(rank);
  std::iota(behind.begin(), behind.end(), 2);
  const Expr channels = SizeOf(x, 1);
  const auto counting = [&](const Expr& size) {
    return w.Op("range", {w.b().Int(0), size, w.b().Int(1)});
  };
  const Expr images = Expr(w.b(), w.Op("unsqueeze", {counting(SizeOf(x, 0)), w.Ints({1})}));
  const Expr planes = images * channels + Expr(w.b(), counting(channels));
  const Expr starts = (planes * pixels).Op("unsqueeze", {w.Ints(behind)});
  return Values{found[0], place + starts};
}

absl::StatusOr<Values> WriteMaxPool(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(Window window, WrittenWindow(w, w.attrs().Ints("kernel_shape")));
  Value* x = w.in(0);
  Window apart = window;
  if (TooMuchPadding(window)) {
    if (window.ceil_mode || !IsFloating(w.dtype())) return CannotExpress("padding of that kind");
    x = PadApart(w, window, -std::numeric_limits<double>::infinity());
  } else {
    apart.pads.assign(apart.pads.size(), 0);
  }
  TorchArguments arguments = {{"self", x},
                              {"kernel_size", window.kernel},
                              {"stride", window.strides},
                              {"padding", window.begins()},
                              {"dilation", window.dilations},
                              {"ceil_mode", window.ceil_mode}};
  if (w.wants(1)) return WriteMaxPoolPlaces(w, apart, std::move(arguments));
  return Values{w.Call(
      OfRank(window.rank(),
             {"aten::max_pool1d.default", "aten::max_pool2d.default", "aten::max_pool3d.default"}),
      std::move(arguments))};
}

absl::StatusOr<Value*> WriteAveragePool(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(Window window, WrittenWindow(w, w.attrs().Ints("kernel_shape")));
  const bool include_pad = w.Int("count_include_pad") != 0;
  if (window.dilated()) return CannotExpress("dilated means");
  Value* x = w.in(0);
  if (TooMuchPadding(window)) {
    if (window.ceil_mode || !include_pad) return CannotExpress("padding of that kind");
    x = PadApart(w, window, 0);
  }
  return w.Call(OfRank(window.rank(), {"aten::avg_pool1d.default", "aten::avg_pool2d.default",
                                       "aten::avg_pool3d.default"}),
                {{"self", x},
                 {"kernel_size", window.kernel},
                 {"stride", window.strides},
                 {"padding", window.begins()},
                 {"ceil_mode", window.ceil_mode},
                 {"count_include_pad", include_pad}});
}

auto WriteGlobalPool(std::string_view reduction) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    if (w.String("layout") != "channels_first") return CannotExpress("channels last");
    return ReduceSpatial(w, reduction);
  };
}

// Elements go to where they were in the tensor that was pooled, all its axes flattened.
absl::StatusOr<Value*> WriteMaxUnpool(TorchWriter& w) {
  const Expr x{w, w.in(0)};
  const auto sizes = KnownSizes(x);
  if (!sizes || sizes->size() < 3) return CannotExpress("an image of unknown size");
  const size_t n = sizes->size() - 2;
  const std::vector<int64_t> kernel = w.attrs().Ints("kernel_shape");
  const std::vector<int64_t> strides = w.attrs().Ints("strides", std::vector<int64_t>(n, 1));
  const std::vector<int64_t> pads = w.attrs().Ints("pads", std::vector<int64_t>(2 * n, 0));
  std::vector<int64_t> pooled = *sizes;
  for (size_t i = 0; i < n; ++i) {
    pooled[2 + i] = ((*sizes)[2 + i] - 1) * strides[i] - pads[i] - pads[n + i] + kernel[i];
  }
  const auto count = CheckedProduct(pooled);
  if (!count) return CannotExpress("an image that is too large");
  const Expr zeros = Filled(w, x.dtype(), {Size(*count)}, 0);
  const Expr put = ScatterElements(zeros, 0, Flat({w, w.in(1)}), Flat(x), "none");
  Value* image = w.Reshape(put, pooled);
  if (!w.has(2)) return image;
  const Expr zeros_behind = Concat(w,
                                   {w.b().Ints(std::vector<int64_t>(pooled.size(), 0)),
                                    Expr{w, w.in(2)} - Expr{w, w.b().Ints(pooled)}},
                                   0);
  return w.Op("pad", {image, zeros_behind});
}

}  // namespace

X2IR_TORCH(average_pool)
    .To("aten::avg_pool2d.default", WriteAveragePool)
    .From("aten::adaptive_avg_pool1d.default",
          [](TorchCall& c) { return AdaptiveAveragePool(c, 1); })
    .From({"aten::adaptive_avg_pool2d.default", "aten::_adaptive_avg_pool2d.default",
           "aten::mkldnn_adaptive_avg_pool2d.default"},
          [](TorchCall& c) { return AdaptiveAveragePool(c, 2); })
    .From({"aten::adaptive_avg_pool3d.default", "aten::_adaptive_avg_pool3d.default"},
          [](TorchCall& c) { return AdaptiveAveragePool(c, 3); });
X2IR_TORCH(max_pool)
    .To("aten::max_pool2d.default", WriteMaxPool)
    .From("aten::adaptive_max_pool1d.default", [](TorchCall& c) { return AdaptiveMaxPool(c, 1); })
    .From("aten::adaptive_max_pool2d.default", [](TorchCall& c) { return AdaptiveMaxPool(c, 2); })
    .From("aten::adaptive_max_pool3d.default", [](TorchCall& c) { return AdaptiveMaxPool(c, 3); });
X2IR_TORCH(global_average_pool).To("aten::mean.dim", WriteGlobalPool("reduce_mean"));
X2IR_TORCH(global_max_pool).To("aten::amax.default", WriteGlobalPool("reduce_max"));
X2IR_TORCH(max_unpool).To("aten::scatter.src", WriteMaxUnpool);

}  // namespace x2ir
