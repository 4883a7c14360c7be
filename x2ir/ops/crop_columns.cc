// Images cut or put together: center_crop_pad, col2im.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/window.h"

namespace x2ir {
namespace {

// --- center_crop_pad ------------------------------------------------------------------------

// The axes that `sizes` speaks of: all of them where the attribute is absent.
absl::StatusOr<std::vector<int64_t>> CropAxes(const AttributeMap& attrs, int64_t rank) {
  const Attribute* attr = attrs.Find("axes");
  if (const auto* axes = attr ? attr->get<Attribute::Ints>() : nullptr) {
    return NormalizeAxes(*axes, rank);
  }
  std::vector<int64_t> all(rank);
  for (int64_t i = 0; i < rank; ++i) all[i] = i;
  return all;
}

absl::Status InferCenterCropPad(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "shape"));
  X2IR_ASSIGN_OR_RETURN(const int64_t length, LengthOf(ctx, 1));
  X2IR_ASSIGN_OR_RETURN(const auto sizes, SizesOperand(ctx, 1));
  ctx.Set(0, ctx.dtype(0));
  const Shape* data = ctx.shape(0);
  if (!data) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, CropAxes(ctx.attrs(), data->rank()));
  if (length >= 0 && length != static_cast<int64_t>(axes.size())) {
    return Invalid("shape: expected ", axes.size(), " sizes, got ", length);
  }
  Shape out = *data;
  for (size_t i = 0; i < axes.size(); ++i) out[axes[i]] = sizes ? (*sizes)[i] : Dim::Unknown();
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalCenterCropPad(EvalContext& ctx) {
  const Tensor& data = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, IntsOperand(ctx, 1, "shape"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, CropAxes(ctx.attrs(), data.rank()));
  if (sizes.size() != axes.size()) {
    return Invalid("shape: expected ", axes.size(), " sizes, got ", sizes.size());
  }
  std::vector<int64_t> dims = data.dims();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 0) return Invalid("size ", sizes[i], " is negative");
    dims[axes[i]] = sizes[i];
  }
  X2IR_RETURN_IF_ERROR(CheckAllocation(data.dtype(), dims));
  CellsOut out(data.dtype(), dims);
  const Cells in(data);
  // What both have in common, and where it starts in each. An odd element is cut off, or padded,
  // at the end.
  const std::vector<int64_t> in_strides = Strides(data.dims()), out_strides = Strides(dims);
  std::vector<int64_t> common(dims.size());
  int64_t from = 0, to = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    common[i] = std::min(dims[i], data.dim(i));
    from += (data.dim(i) - common[i]) / 2 * in_strides[i];
    to += (dims[i] - common[i]) / 2 * out_strides[i];
  }
  if (Count(common) > 0) {
    const int64_t run = (common.empty() ? 1 : common.back()) * out.size();
    if (!common.empty()) common.back() = 1;
    std::vector<int64_t> index(common.size(), 0);
    do {
      int64_t a = from, b = to;
      for (size_t k = 0; k < index.size(); ++k) {
        a += index[k] * in_strides[k];
        b += index[k] * out_strides[k];
      }
      std::memcpy(out.data() + b * out.size(), in.data() + a * out.size(), run);
    } while (NextIndex(common, index));
  }
  return ctx.Return(out.Finish());
}

X2IR_OP(center_crop_pad)
    .Signature("input_data, shape -> output_data")
    .Attrs("axes: ints?")
    .Functions(InferCenterCropPad, EvalCenterCropPad)
    .Moves(kAxesStay)
    .Doc(
        "input_data cut, or padded with zeros, evenly on both sides until the axes (all unless "
        "said) have the sizes of shape.");

// --- col2im ---------------------------------------------------------------------------------

absl::Status InferCol2Im(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "image_shape"));
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 2, "block_shape"));
  X2IR_ASSIGN_OR_RETURN(int64_t axes, LengthOf(ctx, 1));
  X2IR_ASSIGN_OR_RETURN(const int64_t block_axes, LengthOf(ctx, 2));
  if (axes >= 0 && block_axes >= 0 && axes != block_axes) {
    return Invalid("image_shape has ", axes, " sizes, block_shape ", block_axes);
  }
  axes = std::max(axes, block_axes);
  X2IR_ASSIGN_OR_RETURN(const auto image, SizesOperand(ctx, 1));
  X2IR_ASSIGN_OR_RETURN(const auto block, SizesOperand(ctx, 2));
  ctx.Set(0, ctx.dtype(0));
  const Shape* x = ctx.shape(0);
  if (x && x->rank() != 3) return Invalid("input: expected rank 3, got ", x->rank());
  if (axes < 0) return absl::OkStatus();
  Shape out = Shape::UnknownDims(2 + axes);
  if (x) out[0] = (*x)[0];
  if (x && block) {
    const Dim cells = Shape(*block).NumElements();
    if (cells.is_static() && cells.value() < 1) return Invalid("block_shape: expected from 1");
    if (cells.is_static() && (*x)[1].is_static() && (*x)[1].value() % cells.value() != 0) {
      return Invalid("blocks of ", cells.value(), " do not divide ", (*x)[1].value(), " rows");
    }
    out[1] = FloorDiv((*x)[1], cells);
  }
  for (int64_t i = 0; image && i < axes; ++i) out[2 + i] = (*image)[i];
  return ctx.Return(ctx.dtype(0), std::move(out));
}

// Adds as two's complement does, without undefined behaviour.
template <typename T>
T Plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <typename T>
Tensor AddBlocks(const Tensor& x, const PlacedWindow& placed, std::vector<int64_t> dims) {
  const Window& window = placed.window;
  const Numbers<T> in(x);
  std::vector<T> out(Count(dims));
  const int64_t planes = dims[0] * dims[1], plane = Count(placed.in);
  const std::vector<int64_t> strides = Strides(placed.in);
  int64_t at = 0;
  for (int64_t p = 0; p < (in.size() > 0 ? planes : 0); ++p) {
    std::vector<int64_t> cell(window.rank(), 0);
    do {
      std::vector<int64_t> position(window.rank(), 0);
      do {
        int64_t to = p * plane;
        bool inside = true;
        for (size_t i = 0; i < window.rank(); ++i) {
          const int64_t k =
              position[i] * window.strides[i] + cell[i] * window.dilations[i] - window.pad_begin(i);
          inside = inside && k >= 0 && k < placed.in[i];
          to += k * strides[i];
        }
        if (inside) out[to] = Plus(out[to], in[at]);
        ++at;
      } while (NextIndex(placed.out, position));
    } while (NextIndex(window.kernel, cell));
  }
  if (x.dtype() == DType::kBool) {
    for (T& v : out) v = v != T{} ? T{1} : T{};
  }
  return FromNumbers<T>(x.dtype(), std::move(dims), out);
}

absl::Status EvalCol2Im(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> image, IntsOperand(ctx, 1, "image_shape"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> block, IntsOperand(ctx, 2, "block_shape"));
  if (x.rank() != 3) return Invalid("input: expected rank 3, got ", x.rank());
  if (image.size() != block.size() || image.empty()) {
    return Invalid("image_shape has ", image.size(), " sizes, block_shape ", block.size());
  }
  for (size_t i = 0; i < image.size(); ++i) {
    if (image[i] < 0 || block[i] < 1) return Invalid("sizes of images and blocks: from 0 and 1");
  }
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(ctx.attrs(), block));
  X2IR_ASSIGN_OR_RETURN(const PlacedWindow placed, PlaceWindow(std::move(window), image));
  const auto cells = CheckedProduct(block), positions = CheckedProduct(placed.out);
  if (!cells || x.dim(1) % *cells != 0) {
    return Invalid("blocks ", DimsText(block), " do not divide ", x.dim(1), " rows");
  }
  if (positions != x.dim(2)) {
    return Invalid("input: expected ", DimsText(placed.out), " columns, got ", x.dim(2));
  }
  std::vector<int64_t> dims = {x.dim(0), x.dim(1) / *cells};
  dims.insert(dims.end(), image.begin(), image.end());
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kComplex128, dims));
  switch (ComputeTypeOf(x.dtype())) {
    case ComputeType::kFloat: ctx.Set(0, AddBlocks<float>(x, placed, dims)); break;
    case ComputeType::kDouble: ctx.Set(0, AddBlocks<double>(x, placed, dims)); break;
    case ComputeType::kInt: ctx.Set(0, AddBlocks<int64_t>(x, placed, dims)); break;
    case ComputeType::kUInt: ctx.Set(0, AddBlocks<uint64_t>(x, placed, dims)); break;
    case ComputeType::kComplexFloat:
      ctx.Set(0, AddBlocks<std::complex<float>>(x, placed, dims));
      break;
    case ComputeType::kComplexDouble:
      ctx.Set(0, AddBlocks<std::complex<double>>(x, placed, dims));
      break;
    default: return Invalid(Name(x.dtype()), " cannot be added up");
  }
  return absl::OkStatus();
}

X2IR_OP(col2im)
    .Signature("input, image_shape, block_shape -> output")
    .Attrs("dilations: ints?, pads: ints?, strides: ints?")
    .Functions(InferCol2Im, EvalCol2Im)
    .Opaque()
    .Doc(
        "Puts images together from the columns of their blocks, channels first; what falls on the "
        "same pixel is added up. Strides and dilations are 1, pads 0 where they are left out.")
    .AllowsFloat16()
    .Complex(ComplexUse::kParts);

}  // namespace
}  // namespace x2ir
