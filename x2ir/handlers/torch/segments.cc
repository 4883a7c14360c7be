// one_hot, reductions of segments, and hashes.
#include <limits>
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/torch/torch.h"

namespace x2ir {
namespace {

Values OneHot(TorchCall& c) {
  Value* indices = c.Cast(c.Tensor("self"), DType::kInt64);
  const int64_t classes = c.Int("num_classes", -1);
  if (classes < -1 || classes == 0) return c.Fail(Invalid("num_classes: ", classes));
  Value* depth = Int(c, classes);
  if (classes == -1) {
    Value* most = Reduce({c, indices}, "reduce_max", AllAxes({c, indices}), false);
    depth = c.Op("add", {most, Int(c, 1)});
  }
  Value* rows = AtLeast1d({c, indices});
  return {LikeRank(c.Op("one_hot", {rows, depth, Ints(c, {0, 1})}, {{"axis", -1}}), indices)};
}

// --- Segments -------------------------------------------------------------------------------

// Along an axis every segment becomes one: sum, mean, max, min or prod, beginning with `initial`.
Values SegmentReduce(TorchCall& c) {
  Value* data = c.Tensor("data");
  const DType t = data->dtype();
  const DType computed = AtLeastFloat32(t);
  if (!IsFloating(t)) return c.Fail(Unimplemented("of floats only"));
  const int64_t axis = c.Axis("axis", data, 0), rank = c.Rank(data);
  const std::string reduce = c.String("reduce");
  const std::optional<double> initial = c.OptFloat("initial");
  c.Ignore({"unsafe", "indices"});
  // Where segments begin and end: [.., segments + 1].
  Value* offsets = c.OptTensor("offsets");
  if (!offsets) {
    Value* lengths = c.Cast(c.Tensor("lengths"), DType::kInt64);
    Value* zero = Expand(Int(c, 0), ShapeWith({c, lengths}, axis, Int(c, 1)));
    offsets = Concat(c, {zero, CumSum({c, lengths}, axis)}, axis);
  } else {
    c.Ignore({"lengths"});
    offsets = c.Cast(offsets, DType::kInt64);
  }
  if (c.Rank(offsets) != axis + 1) return c.Fail(Invalid("expected segments of the axis"));
  Value* starts = Slice({c, offsets}, axis, 0, -1);
  Value* ends = Slice({c, offsets}, axis, 1, kToEnd);
  Value* at = Iota(SizeOf({c, data}, axis));
  Value* inside = c.Op("and", {c.Op("greater_or_equal", {at, Unsqueeze({c, starts}, {axis + 1})}),
                               c.Op("less", {at, Unsqueeze({c, ends}, {axis + 1})})});
  std::vector<int64_t> behind;
  for (int64_t i = axis + 1; i < rank; ++i) behind.push_back(i + 1);
  inside = Unsqueeze({c, inside}, behind);

  struct Kind {
    std::string_view name;
    const char *reduction, *op;
    double identity;
  };
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr Kind kKinds[] = {{"sum", "reduce_sum", "add", 0},
                             {"mean", "reduce_sum", "add", 0},
                             {"prod", "reduce_prod", "mul", 1},
                             {"max", "reduce_max", "max", -kInf},
                             {"min", "reduce_min", "min", kInf}};
  for (const Kind& kind : kKinds) {
    if (kind.name != reduce) continue;
    Value* x = Unsqueeze(c.Cast(data, computed), {axis});
    x = Select({c, inside}, {c, x}, c.Constant(computed, kind.identity));
    Value* result = Reduce({c, x}, kind.reduction, {axis + 1}, false);
    Value* first = initial ? c.Constant(computed, *initial) : nullptr;
    if (first) result = c.Op(kind.op, {result, first});
    if (reduce == "mean") {
      // Of nothing: NaN, unless there is something to begin with.
      for (int64_t& i : behind) --i;
      Value* count = Unsqueeze(c.Op("sub", {ends, starts}), behind);
      Value* mean = c.Op("div", {result, c.Cast(count, computed)});
      result = first ? Select(c.Op("equal", {count, Int(c, 0)}), {c, first}, {c, mean}) : mean;
    }
    return {c.Cast(result, t)};
  }
  return c.Fail(Invalid("reduce: '", reduce, "'"));
}

// --- hash_tensor ----------------------------------------------------------------------------

// Exclusive or of the elements' 64 bits, floats as float64: each bit is the parity of a sum.
Values HashTensor(TorchCall& c) {
  Value* x = c.Tensor("self");
  RequireReal({c, x});
  const std::vector<int64_t> axes = c.Axes("dim", x);
  const bool keepdim = c.Bool("keepdim", false);
  if (c.Int("mode", 0) != 0) return c.Fail(Unimplemented("mode: expected 0"));
  constexpr DType kBits = DType::kUInt64;
  const int64_t rank = c.Rank(x);
  if (IsFloating(x->dtype())) {
    x = c.Op("bit_cast", {c.Cast(x, DType::kFloat64)}, {{"to", Name(kBits)}});
  } else {
    x = c.Cast(IsSignedInt(x->dtype()) ? c.Cast(x, DType::kInt64) : x, kBits);
  }
  Value* places = c.Cast(Iota(Int(c, 64)), kBits);
  Value* two = c.Constant(kBits, 2);
  Value* bits = c.Op("bit_shift", {Unsqueeze({c, x}, {rank}), places}, {{"direction", "RIGHT"}});
  bits = c.Op("mod", {bits, two});
  if (rank > 0) bits = Reduce({c, bits}, "reduce_sum", axes, keepdim);
  bits = c.Op("bit_shift", {c.Op("mod", {bits, two}), places}, {{"direction", "LEFT"}});
  return {Reduce({c, bits}, "reduce_sum", {c.Rank(bits) - 1}, false)};
}

X2IR_TORCH(one_hot).From("aten::one_hot.default", OneHot);
X2IR_TORCH(reduce_sum).From("aten::segment_reduce.default", SegmentReduce);
X2IR_TORCH(bit_shift).From("aten::hash_tensor.default", HashTensor);

}  // namespace
}  // namespace x2ir
