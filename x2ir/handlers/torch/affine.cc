// Products with packed weights, and torchao's affine quantization: integers for floats with a scale
// and a zero point for each block of a tensor, where a block has a size along every axis.
// Blocks that are the whole tensor, one index of an axis, or a run along one axis are IR's own ops;
// any other is arithmetic, on the tensor with every divided axis as two.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/quantize.h"

namespace x2ir {
namespace {

// How blocks lie along an axis: all of it, single indices, or runs of `size`.
struct AxisBlocks {
  enum Kind : uint8_t { kWhole, kSingle, kRuns } kind;
  int64_t size = 1, count = 1;  // of runs
};

std::vector<AxisBlocks> TakeBlocks(TorchCall& c, const Expr& x) {
  const std::vector<Size> sizes = c.Sizes("block_size");
  std::vector<AxisBlocks> blocks;
  if (static_cast<int64_t>(sizes.size()) != c.Rank(x)) {
    c.Fail(Invalid("block_size of ", sizes.size(), " numbers for a rank of ", c.Rank(x)));
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Dim dim = DimAt(x, static_cast<int64_t>(i));
    const Size& size = sizes[i];
    const std::vector<Dim>* known = size.number ? nullptr : size.value->elements();
    const bool same = known && known->size() == 1 && (*known)[0] == dim;
    if (size.number == 1) {
      blocks.push_back({AxisBlocks::kSingle});
    } else if (size.number == -1 || same || (size.number && dim == Dim(*size.number))) {
      blocks.push_back({AxisBlocks::kWhole});
    } else if (size.number && *size.number > 0 && dim.is_static()) {
      if (dim.value() % *size.number != 0) {
        c.Fail(Invalid("block_size: ", *size.number, " does not divide ", dim.value()));
      }
      blocks.push_back({AxisBlocks::kRuns, *size.number, dim.value() / *size.number});
    } else {
      c.Fail(Unimplemented("block_size along axis ", i, ", whose size is not known"));
    }
  }
  return blocks;
}

bool IsDivided(const std::vector<AxisBlocks>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [](const AxisBlocks& b) { return b.kind == AxisBlocks::kRuns; });
}

// x with every divided axis as two: blocks, and what is in one.
Expr Divided(const Expr& x, const std::vector<AxisBlocks>& blocks) {
  if (!IsDivided(blocks)) return x;
  std::vector<Size> sizes;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].kind == AxisBlocks::kRuns) {
      sizes.emplace_back(blocks[i].count);
      sizes.emplace_back(blocks[i].size);
    } else {
      sizes.push_back(SizeAt(x, static_cast<int64_t>(i)));
    }
  }
  return ReshapeTo(x, sizes);
}

// Of Divided(x), as x was.
Expr LikeShape(const Expr& y, const Expr& x, bool divided) {
  return divided ? ReshapeTo(y, AllSizes(x)) : y;
}

// A number for each block, with the axes of Divided(x): 1 along what is in a block.
Expr NumberOfBlocks(const Expr& numbers, const Expr& x, const std::vector<AxisBlocks>& blocks) {
  std::vector<Size> sizes;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].kind == AxisBlocks::kRuns) sizes.emplace_back(blocks[i].count);
    sizes.push_back(blocks[i].kind == AxisBlocks::kSingle ? SizeAt(x, static_cast<int64_t>(i))
                                                          : Size(1));
  }
  return ReshapeTo(numbers, sizes);
}

// How IR's ops say the same; nullopt where they do not.
std::optional<QuantizationParams> StepsOfOps(const Expr& x, const std::vector<AxisBlocks>& blocks,
                                             const Expr& scale, const Expr& zero_point) {
  std::vector<int64_t> each, runs;  // axes longer than 1 with a number for each index; divided ones
  bool whole = false;               // whether another axis is longer than a block
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    if (DimAt(x, axis) == Dim(1)) continue;
    if (blocks[i].kind == AxisBlocks::kRuns) {
      runs.push_back(axis);
    } else if (blocks[i].kind == AxisBlocks::kSingle) {
      each.push_back(axis);
    } else {
      whole = true;
    }
  }
  const auto as = [&](const Expr& numbers, const std::vector<Size>& sizes) {
    return numbers.value() ? ReshapeTo(numbers, sizes) : numbers;
  };
  if (runs.empty() && each.size() <= 1) {
    std::vector<Size> sizes;
    if (!each.empty()) sizes.push_back(SizeAt(x, each[0]));
    QuantizationParams steps{as(scale, sizes), as(zero_point, sizes)};
    if (!each.empty()) steps.axis = each[0];
    return steps;
  }
  if (runs.size() != 1 || whole) return std::nullopt;
  std::vector<Size> sizes = AllSizes(x);
  const AxisBlocks& run = blocks[static_cast<size_t>(runs[0])];
  sizes[static_cast<size_t>(runs[0])] = run.count;
  return QuantizationParams{as(scale, sizes), as(zero_point, sizes), runs[0], run.size};
}

// Integers of fewer than 8 bits are kept in 8.
DType StoredAs(DType t) {
  if (!IsInteger(t) || BitWidth(t) >= 8) return t;
  return IsSignedInt(t) ? DType::kInt8 : DType::kUInt8;
}

// The bounds by quant_min and quant_max, which may be left out.
IntegerRange TakeRangeOf(TorchCall& c, DType t) {
  if (!IsInteger(t)) c.Fail(Unimplemented("quantization to ", Name(t)));
  const ValueBounds all = RangeOfInteger(t);
  return {StoredAs(t), c.Int("quant_min", static_cast<int64_t>(all.low)),
          c.Int("quant_max", static_cast<int64_t>(all.high))};
}

// A zero point of no elements is none.
Expr TakeZeroPoint(TorchCall& c) {
  Value* value = c.OptTensor("zero_point");
  const Shape* shape = value ? value->shape() : nullptr;
  return shape && shape->NumElements() == Dim(0) ? Expr(nullptr) : Expr(c, value);
}

enum class ZeroPoints : uint8_t { kIntegers, kFloats, kNone };
ZeroPoints TakeDomain(TorchCall& c) {
  const std::string domain = c.String("zero_point_domain", "INT");
  if (domain == "INT") return ZeroPoints::kIntegers;
  if (domain == "FLOAT") return ZeroPoints::kFloats;
  if (domain != "NONE") c.Fail(Unimplemented("zero_point_domain = ", domain));
  return ZeroPoints::kNone;
}

// Floats that zero points are count from the middle of the integers.
double MiddleOf(const IntegerRange& range) {
  return static_cast<double>(range.low + range.high + 1) / 2;
}

Values QuantizeAffine(TorchCall& c) {
  const Expr x = c.Tensor("input"), scale = c.Tensor("scale");
  RequireFloat(c, x);
  Expr zero_point = TakeZeroPoint(c);
  const ZeroPoints domain = TakeDomain(c);
  const IntegerRange range = TakeRangeOf(c, c.Dtype("output_dtype", c.out_dtype()));
  const std::vector<AxisBlocks> blocks = TakeBlocks(c, x);
  if (domain == ZeroPoints::kNone) zero_point = nullptr;
  if (domain != ZeroPoints::kNone && !zero_point.value()) {
    return c.Fail(Invalid("zero_point is None"));
  }
  const bool by_op = domain != ZeroPoints::kFloats && x.dtype() == DType::kFloat32 &&
                     scale.dtype() == DType::kFloat32;
  if (const auto steps = by_op ? StepsOfOps(x, blocks, scale, zero_point) : std::nullopt) {
    return {Quantized(x, *steps, range)};
  }
  const Expr divided = Divided(x, blocks), by = NumberOfBlocks(scale, x, blocks);
  const Expr zero = zero_point.value() ? NumberOfBlocks(zero_point, x, blocks) : zero_point;
  std::vector<Value*> all = {divided, by};
  if (zero.value() && IsFloating(zero.dtype())) all.push_back(zero);
  const DType t = c.ResultTypeOf(all);
  Expr y = divided.To(t);
  if (domain == ZeroPoints::kFloats) {
    y = Round((y - (zero.To(t) - by.To(t) * MiddleOf(range))) / by.To(t));
  } else {
    // What is rounded is of the type of x and scale, whatever the zero points are.
    const DType product = c.ResultTypeOf(std::vector<Value*>{divided, by});
    y = Round(divided.To(product) * Reciprocal(by).To(product)).To(t);
    if (zero.value()) y = y + zero.To(t);
  }
  y = y.Op("clip",
           {y.Number(static_cast<double>(range.low)), y.Number(static_cast<double>(range.high))});
  return {LikeShape(y.To(range.type), x, IsDivided(blocks))};
}

Values DequantizeAffine(TorchCall& c) {
  const Expr q = c.Tensor("input"), scale = c.Tensor("scale");
  Expr zero_point = TakeZeroPoint(c);
  const ZeroPoints domain = TakeDomain(c);
  const IntegerRange range = TakeRangeOf(c, c.Dtype("input_dtype", q.dtype()));
  const DType to = c.Dtype("output_dtype", c.out_dtype());
  if (!IsInteger(q.dtype())) return c.Fail(Unimplemented("dequantization of ", Name(q.dtype())));
  const std::vector<AxisBlocks> blocks = TakeBlocks(c, q);
  if (domain == ZeroPoints::kNone) zero_point = nullptr;
  // The difference is exact, the product of the type of the scale.
  const bool by_op = domain != ZeroPoints::kFloats && BitWidth(q.dtype()) == 8;
  if (const auto steps = by_op ? StepsOfOps(q, blocks, scale, zero_point) : std::nullopt) {
    const bool narrow = BitWidth(scale.dtype()) < BitWidth(to);
    return {Dequantized(q, *steps, narrow ? scale.dtype() : to).To(to)};
  }
  const Expr divided = Divided(q, blocks), by = NumberOfBlocks(scale, q, blocks);
  Expr y = divided.To(to);
  Expr zero = zero_point.value() ? NumberOfBlocks(zero_point, q, blocks) : zero_point;
  if (domain == ZeroPoints::kFloats) {
    y = (divided.To(DType::kFloat32) - MiddleOf(range)).To(to) * by.To(to);
    if (zero.value()) y = y + zero.To(to);
  } else {
    if (zero.value()) y = y - zero.To(to);
    const DType t = c.ResultTypeOf(std::vector<Value*>{y, by});
    y = y.To(t) * by.To(t);
  }
  return {LikeShape(y.To(to), q, IsDivided(blocks))};
}

Values ChooseAffine(TorchCall& c) {
  const Expr x = c.Tensor("input");
  RequireFloat(c, x);
  const std::string mapping = c.String("mapping_type");
  const IntegerRange range = TakeRangeOf(c, c.Dtype("target_dtype", DType::kInt8));
  const DType scale_type = c.Dtype("scale_dtype", x.dtype());
  const DType zero_type =
      c.Dtype("zero_point_dtype", c.out_dtype(1) == DType::kUndefined ? x.dtype() : c.out_dtype(1));
  double usual = static_cast<double>(std::numeric_limits<float>::epsilon());
  if (x.dtype() == DType::kFloat16) usual = 0x1p-10;
  if (x.dtype() == DType::kBFloat16) usual = 0x1p-7;
  if (x.dtype() == DType::kFloat64) usual = std::numeric_limits<double>::epsilon();
  const double eps = c.Float("eps", usual);
  const bool keepdim = c.Bool("keepdim", false);
  const bool keeps_zero = c.Bool("preserve_zero", true);
  const ZeroPoints domain = TakeDomain(c);
  const std::vector<AxisBlocks> blocks = TakeBlocks(c, x);
  if (keepdim && IsDivided(blocks)) return c.Fail(Unimplemented("keepdim of divided axes"));
  if (!keeps_zero || domain == ZeroPoints::kFloats) {
    return c.Fail(Unimplemented("zero points that are floats"));
  }
  std::vector<int64_t> axes;
  int64_t axis = 0;
  for (const AxisBlocks& b : blocks) {
    if (b.kind == AxisBlocks::kRuns) ++axis;
    if (b.kind != AxisBlocks::kSingle) axes.push_back(axis);
    ++axis;
  }
  const Expr divided = Divided(x, blocks);
  const auto end = [&](Symbol op) {
    return axes.empty() ? divided : Reduce(divided, op, axes, keepdim);
  };
  const Expr least = Min(end("reduce_min"), 0.0), most = Max(end("reduce_max"), 0.0);
  const auto low = static_cast<double>(range.low), high = static_cast<double>(range.high);
  Expr scale = (most - least) / (high - low), zero_point = scale;
  if (mapping == "ASYMMETRIC") {
    scale = Max(scale, eps);
    const Expr from_least = low - Round(least / scale);
    zero_point = from_least.Op("clip", {from_least.Number(low), from_least.Number(high)});
  } else if (mapping == "SYMMETRIC" || mapping == "SYMMETRIC_NO_CLIPPING_ERR") {
    if (mapping == "SYMMETRIC") {
      scale = Max(-least, most) / ((high - low) / 2);
    } else {
      const Expr below = least / low, above = most / high;
      scale = Where(below > above, below, above);
    }
    scale = Max(scale, eps);
    const auto middle = static_cast<double>(static_cast<int64_t>(MiddleOf(range)));
    zero_point = Expand({c, c.b().Scalar(zero_type, middle)}, ShapeOf(scale));
  } else {
    return c.Fail(Unimplemented("mapping_type = ", mapping));
  }
  return {scale.To(scale_type).Op("identity"), zero_point.To(zero_type).Op("identity")};
}

// x times the transpose of int8 weights, [columns, depth], of which each row has a scale.
Values ProductOfBytes(TorchCall& c) {
  const Expr x = c.Tensor("self"), weights = c.Tensor("mat2"), scales = c.Tensor("scales");
  if (weights.dtype() != DType::kInt8 || c.Rank(weights) != 2 || c.Rank(x) != 2) {
    return c.Fail(Invalid("weights of ", Name(weights.dtype())));
  }
  RequireFloat(c, x);
  const DType t = AtLeastFloat32(x.dtype());
  const Expr floats = Dequantized(weights, {scales.To(t), nullptr, 0}, t);
  return {MatMul(x.To(t), SwapLast(floats)).To(x.dtype())};
}

}  // namespace

X2IR_TORCH(matmul).From("aten::_weight_int8pack_mm.default", ProductOfBytes);
X2IR_TORCH(quantize_linear).From("torchao::quantize_affine.default", QuantizeAffine);
X2IR_TORCH(dequantize_linear).From("torchao::dequantize_affine.default", DequantizeAffine);
X2IR_TORCH(reduce_max).From("torchao::choose_qparams_affine.default", ChooseAffine);

}  // namespace x2ir
