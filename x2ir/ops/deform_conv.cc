// deform_conv: a convolution whose kernel elements are moved by computed offsets.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/window.h"
#include "x2ir/ops/work.h"

namespace x2ir {
namespace {

constexpr size_t kXOperand = 0, kW = 1, kOffset = 2, kBias = 3, kMaskOperand = 4;

struct Groups {
  int64_t channels, offsets;
};

absl::StatusOr<Groups> ReadGroups(const AttributeMap& attrs) {
  const Groups g{attrs.Int("group"), attrs.Int("offset_group")};
  for (int64_t n : {g.channels, g.offsets}) {
    if (n < 1 || n >= (int64_t{1} << 31)) return Invalid("groups: expected from 1, got ", n);
  }
  return g;
}

// InvalidArgument where operand i is known to have another shape.
absl::Status ExpectShape(const InferContext& ctx, size_t i, std::string_view name,
                         const std::vector<Dim>& want) {
  const Shape* shape = ctx.num_inputs() > i && ctx.has(i) ? ctx.shape(i) : nullptr;
  if (!shape) return absl::OkStatus();
  bool fits = shape->rank() == static_cast<int64_t>(want.size());
  for (size_t k = 0; fits && k < want.size(); ++k) fits = !ProvablyDifferent((*shape)[k], want[k]);
  if (fits) return absl::OkStatus();
  return Invalid(name, ": expected shape [", Shape(want).ToString(), "], got [", shape->ToString(),
                 "]");
}

absl::Status InferDeformConv(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Groups groups, ReadGroups(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, ctx.num_inputs()));
  ctx.Set(0, dtype);
  const Shape* x = ctx.shape(kXOperand);
  const Shape* w = ctx.shape(kW);
  if ((x && x->rank() < 3) || (w && w->rank() < 3)) {
    return Invalid("x and w: expected rank 3 or more");
  }
  if (x && w && x->rank() != w->rank()) {
    return Invalid("x and w: expected equal ranks, got ", x->rank(), " and ", w->rank());
  }
  if (!x && !w) return absl::OkStatus();
  const int64_t axes = (x ? x : w)->rank() - 2;
  Shape out = Shape::UnknownDims(axes + 2);
  if (x) out[0] = (*x)[0];
  Dim cells;
  if (w) {
    out[1] = (*w)[0];
    cells = w->NumElements(2, axes + 2);
    if (x && ProvablyDifferent((*w)[1] * Dim(groups.channels), (*x)[1])) {
      return Invalid("x: expected ", ((*w)[1] * Dim(groups.channels)).ToString(), " channels, got ",
                     (*x)[1].ToString());
    }
    std::vector<int64_t> kernel;
    for (int64_t i = 0; i < axes && (*w)[2 + i].is_static(); ++i) {
      kernel.push_back((*w)[2 + i].value());
    }
    if (x && static_cast<int64_t>(kernel.size()) == axes) {
      X2IR_ASSIGN_OR_RETURN(const Window window, ReadWindow(ctx.attrs(), std::move(kernel)));
      for (int64_t i = 0; i < axes; ++i) {
        X2IR_ASSIGN_OR_RETURN(out[2 + i], OutputDim(window, i, (*x)[2 + i]));
      }
    }
  }
  std::vector<Dim> want = out.dims();
  want[1] = cells * Dim(groups.offsets) * Dim(axes);
  X2IR_RETURN_IF_ERROR(ExpectShape(ctx, kOffset, "offset", want));
  want[1] = cells * Dim(groups.offsets);
  X2IR_RETURN_IF_ERROR(ExpectShape(ctx, kMaskOperand, "mask", want));
  X2IR_RETURN_IF_ERROR(ExpectShape(ctx, kBias, "b", {out[1]}));
  return ctx.Return(dtype, std::move(out));
}

// The number at a place between pixels, each axis interpolated linearly; pixels outside are 0.
double Sample(const double* plane, absl::Span<const int64_t> dims,
              absl::Span<const int64_t> strides, absl::Span<const double> at) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!(at[i] > -1 && at[i] < static_cast<double>(dims[i]))) return 0;  // NaN too
  }
  double sum = 0;
  for (uint64_t corner = 0; corner < (uint64_t{1} << dims.size()); ++corner) {
    double weight = 1;
    int64_t offset = 0;
    bool inside = true;
    for (size_t i = 0; i < dims.size(); ++i) {
      const double floor = std::floor(at[i]);
      const bool upper = (corner >> i) & 1;
      const int64_t k = static_cast<int64_t>(floor) + (upper ? 1 : 0);
      weight *= upper ? at[i] - floor : 1 - (at[i] - floor);
      inside = inside && k >= 0 && k < dims[i];
      offset += k * strides[i];
    }
    if (inside) sum += weight * plane[offset];
  }
  return sum;
}

// More axes would make more corners than anyone waits for.
constexpr int64_t kMaxAxes = 8;

absl::Status CheckDims(const EvalContext& ctx, size_t i, std::string_view name,
                       const std::vector<int64_t>& want) {
  if (ctx.num_inputs() <= i || !ctx.has(i)) return absl::OkStatus();
  if (!IsFloating(ctx.dtype(i))) return Unimplemented("evaluation of ", Name(ctx.dtype(i)));
  if (ctx.dims(i) == want) return absl::OkStatus();
  return Invalid(name, ": expected shape ", DimsText(want), ", got ", DimsText(ctx.dims(i)));
}

absl::Status EvalDeformConv(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Groups groups, ReadGroups(ctx.attrs()));
  const Tensor& x = ctx.input(kXOperand);
  const Tensor& w = ctx.input(kW);
  const int64_t axes = x.rank() - 2;
  if (axes < 1 || w.rank() != x.rank()) {
    return Invalid("x and w: expected equal ranks from 3, got ", x.rank(), " and ", w.rank());
  }
  if (axes > kMaxAxes) return Unimplemented("deformation over ", axes, " axes");
  const int64_t channels = x.dim(1), out_channels = w.dim(0), per_group = w.dim(1);
  if (channels % groups.channels != 0 || per_group != channels / groups.channels ||
      out_channels % groups.channels != 0 || channels % groups.offsets != 0) {
    return Invalid("w ", DimsText(w.dims()), " does not fit an input ", DimsText(x.dims()), " in ",
                   groups.channels, " groups and ", groups.offsets, " offset groups");
  }
  X2IR_ASSIGN_OR_RETURN(Window window,
                        ReadWindow(ctx.attrs(), {w.dims().begin() + 2, w.dims().end()}));
  const std::vector<int64_t> in_dims(x.dims().begin() + 2, x.dims().end());
  X2IR_ASSIGN_OR_RETURN(const PlacedWindow placed, PlaceWindow(std::move(window), in_dims));
  const Window& p = placed.window;
  std::vector<int64_t> dims = {x.dim(0), out_channels};
  dims.insert(dims.end(), placed.out.begin(), placed.out.end());
  const int64_t cells = Count(p.kernel), positions = Count(placed.out), plane = Count(in_dims);
  std::vector<int64_t> want = dims;
  want[1] = cells * groups.offsets * axes;
  X2IR_RETURN_IF_ERROR(CheckDims(ctx, kXOperand, "x", x.dims()));
  X2IR_RETURN_IF_ERROR(CheckDims(ctx, kW, "w", w.dims()));
  X2IR_RETURN_IF_ERROR(CheckDims(ctx, kOffset, "offset", want));
  want[1] = cells * groups.offsets;
  X2IR_RETURN_IF_ERROR(CheckDims(ctx, kMaskOperand, "mask", want));
  X2IR_RETURN_IF_ERROR(CheckDims(ctx, kBias, "b", {out_channels}));
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, dims));
  const Numbers<double> in(x), weights(w), offsets(ctx.input(kOffset));
  std::optional<Numbers<double>> bias, mask;
  if (ctx.num_inputs() > kBias && ctx.has(kBias)) bias.emplace(ctx.input(kBias));
  if (ctx.num_inputs() > kMaskOperand && ctx.has(kMaskOperand))
    mask.emplace(ctx.input(kMaskOperand));
  const std::vector<int64_t> strides = Strides(in_dims);
  std::vector<double> out(Count(dims)), at(axes), column(channels * cells);
  for (int64_t n = 0; n < (out.empty() ? 0 : x.dim(0)); ++n) {
    std::vector<int64_t> position(axes, 0);
    for (int64_t o = 0; o < positions; ++o, NextIndex(placed.out, position)) {
      // What each kernel element sees of each channel at this position.
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t g = c / (channels / groups.offsets);
        std::vector<int64_t> cell(axes, 0);
        for (int64_t k = 0; k < cells; ++k, NextIndex(p.kernel, cell)) {
          const int64_t row = (n * groups.offsets + g) * cells + k;
          for (int64_t i = 0; i < axes; ++i) {
            at[i] = static_cast<double>(position[i] * p.strides[i] + cell[i] * p.dilations[i] -
                                        p.pad_begin(i)) +
                    offsets[(row * axes + i) * positions + o];
          }
          const double* pixels = in.data() + (n * channels + c) * plane;
          column[c * cells + k] =
              Sample(pixels, in_dims, strides, at) * (mask ? (*mask)[row * positions + o] : 1.0);
        }
      }
      for (int64_t m = 0; m < out_channels; ++m) {
        const int64_t group = m / (out_channels / groups.channels);
        const double* seen = column.data() + group * per_group * cells;
        const double* kernel = weights.data() + m * per_group * cells;
        double sum = bias ? (*bias)[m] : 0;
        for (int64_t k = 0; k < per_group * cells; ++k) sum += seen[k] * kernel[k];
        out[(n * out_channels + m) * positions + o] = sum;
      }
    }
  }
  return ctx.Return(FromNumbers<double>(x.dtype(), std::move(dims), out));
}

X2IR_OP(deform_conv)
    .Signature("x, w, offset, b?, mask? -> y")
    .Attrs("dilations: ints?, group = 1, offset_group = 1, pads: ints?, strides: ints?")
    .Functions(InferDeformConv, EvalDeformConv)
    .Opaque()
    .Heavy()
    .Doc(
        "A convolution, channels first, whose kernel elements see x at places moved by offset "
        "(interpolated linearly) and scaled by mask, each offset group of channels by its own.")
    .NeedsFloat32(float32_for::kPlaces, 1u << 2)
    .MultiplyAdds(WorkOfConv<1>)
    .Origins(OriginsOfDeformConv);

}  // namespace
}  // namespace x2ir
