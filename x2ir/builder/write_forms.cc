#include "x2ir/builder/write_forms.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// The sum over the axes of the computed elements.
Value* SumOf(NodeWriter& w, Value* elements) {
  return w.Op("reduce_sum", {elements, w.in(1)}, w.attrs());
}

// Roots and logarithms are those of floats.
void ExpectFloats(NodeWriter& w) {
  if (!IsFloating(w.dtype())) w.b().Fail(CannotExpress("a root or logarithm of integers"));
}

}  // namespace

Value* L1BySum(NodeWriter& w) { return SumOf(w, w.Op("abs", {w.in(0)})); }
Value* L2BySum(NodeWriter& w) {
  ExpectFloats(w);
  return w.Op("sqrt", {SumSquareBySum(w)});
}
Value* SumSquareBySum(NodeWriter& w) { return SumOf(w, w.Op("mul", {w.in(0), w.in(0)})); }
Value* LogSumBySum(NodeWriter& w) {
  ExpectFloats(w);
  return w.Op("log", {SumOf(w, w.in(0))});
}

Value* ClipByBounds(NodeWriter& w) {
  const auto bound = [&](size_t i) {
    const Shape *of_x = w.shape(), *own = w.shape(i);
    const bool fits = own && (own->rank() == 0 || (of_x && of_x->rank() >= own->rank()));
    return fits ? w.in(i) : w.Reshape(w.in(i), {});
  };
  Value* x = w.in(0);
  if (w.has(1)) x = w.Op("max", {x, bound(1)});
  if (w.has(2)) x = w.Op("min", {x, bound(2)});
  return x == w.in(0) ? w.Op("identity", {x}) : x;
}

Value* LogSumExpBySum(NodeWriter& w) {
  ExpectFloats(w);
  AttributeMap kept = w.attrs();
  kept.Set("keepdims", 1);
  const DType t = w.dtype();
  Value* infinity = w.Number(t, std::numeric_limits<double>::infinity());
  const auto most = [&](const AttributeMap& attrs) {
    Value* max = w.Op("reduce_max", {w.in(0), w.in(1)}, attrs);
    Value* finite = w.Op("less", {w.Op("abs", {max}), infinity});
    return w.Op("where", {finite, max, w.Number(t, 0)});
  };
  Value* apart = w.Op("exp", {w.Op("sub", {w.in(0), most(kept)})});
  return w.Op("add", {w.Op("log", {SumOf(w, apart)}), most(w.attrs())});
}

absl::StatusOr<Value*> ReducedAxes(NodeWriter& w) {
  auto known = w.has(1) ? KnownInts(w.in(1)) : std::vector<int64_t>();
  const bool none_is_all = w.Int("noop_with_empty_axes") == 0;
  if (!known) {
    const Dim count = w.shape(1) && w.shape(1)->rank() == 1 ? (*w.shape(1))[0] : Dim();
    if (!none_is_all || (count.is_static() && count.value() > 0)) {
      return w.Cast(w.in(1), DType::kInt32);
    }
    if (!count.is_static()) {
      return CannotExpress("an unknown number of axes, of which none would mean all");
    }
    known.emplace();
  }
  if (!known->empty()) return w.Int32s(*known);
  if (!none_is_all) return nullptr;
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  std::vector<int64_t> all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return w.Int32s(all);
}

absl::StatusOr<OneHotParts> OneHotPartsOf(NodeWriter& w) {
  if (!IsInteger(w.dtype())) return CannotExpress("indices that are no integers");
  OneHotParts parts{};
  const auto known_depth = KnownInts(w.in(1));
  const bool is_known = known_depth && known_depth->size() == 1;
  Value* depth =
      is_known ? w.b().Int((*known_depth)[0]) : w.Cast(w.Reshape(w.in(1), {}), DType::kInt64);
  parts.index = w.CountsFromTheFront(*w.in(0)) ? w.in(0) : w.FromTheFront(w.in(0), depth);
  parts.depth = is_known ? w.b().Constant(Tensor::Scalar(static_cast<int32_t>((*known_depth)[0])))
                         : w.Cast(depth, DType::kInt32);
  // What is known is written as a constant: not every runtime computes with constants alone.
  const auto known = KnownTensor(*w.in(2));
  const auto value = [&](int64_t i) {
    if (known && (IsFloating(known->dtype()) || known->dtype() == DType::kInt32)) {
      return w.b().Constant(Tensor::ScalarOf(known->dtype(), known->AsDouble(i)));
    }
    return w.Op("squeeze",
                {w.Op("slice", {w.in(2), w.Ints({i}), w.Ints({i + 1}), w.Ints({0})}), w.Ints({0})});
  };
  parts.off = value(0);
  parts.on = value(1);
  parts.axis = w.Int("axis");
  if (parts.axis < -1) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    parts.axis += rank + 1;
  } else if (w.shape() && parts.axis == w.shape()->rank()) {
    parts.axis = -1;
  }
  return parts;
}

absl::StatusOr<PlacesThatHold> CompressByGather(NodeWriter& w) {
  PlacesThatHold found{w.in(0), nullptr, 0};
  if (w.attrs().Has("axis")) {
    X2IR_ASSIGN_OR_RETURN(found.axis, w.Axis());
  } else {
    found.x = w.Reshape(found.x, {-1});
  }
  found.places = w.Op("squeeze", {w.Op("non_zero", {w.in(1)}), w.Ints({0})});
  return found;
}

absl::StatusOr<Value*> TuplesFromTheFront(NodeWriter& w) {
  Value* index = w.in(1);
  if (w.CountsFromTheFront(*index)) return index;
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(1));
  const Dim& count = (*w.shape(1))[rank - 1];
  if (!count.is_static()) return CannotExpress("tuples of unknown length");
  return w.FromTheFront(index, w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", count.value()}}));
}

// The places of all elements as tuples, which differ from their own in one axis.
absl::StatusOr<Value*> ScatterElementsByTuples(NodeWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_RETURN_IF_ERROR(w.Rank(1).status());
  constexpr int64_t kLimit = 1 << 24;
  const auto dims = w.shape(1)->Static();
  const auto count = dims ? CheckedProduct(*dims) : std::nullopt;
  const bool known = count && *count <= kLimit;
  const Expr index = {w.b(), w.in(1)};
  std::vector<Value*> columns;
  for (int64_t i = 0; i < rank; ++i) {
    if (i == axis) {
      Value* size = w.Op("shape", {w.in(0)}, {{"start", axis}, {"end", axis + 1}});
      Value* own = w.CountsFromTheFront(*w.in(1)) ? w.Cast(w.in(1), DType::kInt64)
                                                  : w.FromTheFront(w.in(1), size);
      columns.push_back(w.Op("unsqueeze", {own, w.Ints({rank})}));
      continue;
    }
    if (!known) {
      const Expr places = AlongAxis(Iota(SizeOf(index, i)), i, rank);
      columns.push_back(Unsqueeze(Expand(places, ShapeOf(index)), {rank}));
      continue;
    }
    int64_t inner = 1;
    for (int64_t k = i + 1; k < rank; ++k) inner *= (*dims)[static_cast<size_t>(k)];
    const int64_t size = (*dims)[static_cast<size_t>(i)];
    std::vector<int64_t> one = *dims, places;
    one.push_back(1);
    for (int64_t e = 0; e < *count; ++e) places.push_back(e / inner % size);
    columns.push_back(w.b().Constant(Tensor::Of<int64_t>(one, places)));
  }
  Value* tuples = columns.size() == 1 ? columns[0] : w.Op("concat", columns, {{"axis", rank}});
  return w.Op("scatter_nd", {w.in(0), tuples, w.in(2)}, {{"reduction", w.String("reduction")}});
}

namespace {

// The kernel with a first spatial axis of size 1; a constant is one at once.
Value* KernelOfTwoAxes(NodeWriter& w, Value* kernel) {
  const Tensor* constant = kernel->fixed_constant();
  if (!constant || constant->is_sparse() || constant->rank() < 2) {
    return w.Op("unsqueeze", {kernel, w.Ints({2})});
  }
  std::vector<int64_t> dims = constant->dims();
  dims.insert(dims.begin() + 2, 1);
  return w.b().Constant(constant->Reshaped(std::move(dims)), kernel->name());
}

}  // namespace

Value* WithTwoSpatialAxes(NodeWriter& w, bool has_kernel) {
  AttributeMap attrs = w.attrs();
  for (auto& [name, attr] : attrs) {
    Attribute::Ints* ints = std::get_if<Attribute::Ints>(&attr.variant());
    if (!ints) continue;
    const bool zero = name == "pads" || name == "output_padding";
    if (name == "pads" && ints->size() == 2) ints->insert(ints->begin() + 1, 0);
    ints->insert(ints->begin(), zero ? 0 : 1);
  }
  std::vector<Value*> operands = w.node().inputs();
  operands[0] = w.Op("unsqueeze", {operands[0], w.Ints({1})});
  if (has_kernel) operands[1] = KernelOfTwoAxes(w, operands[1]);
  return w.Op("squeeze", {w.Op(w.node().op(), std::move(operands), std::move(attrs)), w.Ints({1})});
}

bool AnyNegative(const std::vector<int64_t>& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [](int64_t number) { return number < 0; });
}
std::vector<int64_t> PadPairs(const std::vector<int64_t>& pads,
                              const std::optional<std::vector<int64_t>>& axes, int64_t rank) {
  std::vector<int64_t> pairs(static_cast<size_t>(2 * rank), 0);
  const size_t n = pads.size() / 2;
  for (size_t i = 0; i < n; ++i) {
    int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    if (axis < 0) axis += rank;
    pairs[static_cast<size_t>(2 * axis)] = pads[i];
    pairs[static_cast<size_t>(2 * axis + 1)] = pads[n + i];
  }
  return pairs;
}

absl::StatusOr<std::vector<int64_t>> PadPairsOf(NodeWriter& w,
                                                std::initializer_list<std::string_view> modes) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto pads, w.KnownInts(1, "pads"));
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(3, "axes"));
  const std::string& mode = w.String("mode");
  if (std::find(modes.begin(), modes.end(), mode) == modes.end()) {
    return CannotExpress("mode ", mode);
  }
  if (AnyNegative(*pads)) return CannotExpress("negative pads");
  return PadPairs(*pads, axes, rank);
}

absl::StatusOr<std::vector<int64_t>> PermOf(NodeWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  std::vector<int64_t> backwards(static_cast<size_t>(rank));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  return w.attrs().Ints("perm", std::move(backwards));
}

absl::StatusOr<Tensor> FillOf(NodeWriter& w) {
  const Attribute* value = w.attrs().Find("value");
  const Tensor* tensor = value ? value->get<Tensor>() : nullptr;
  if (!tensor) return CannotExpress("no value");
  return tensor->Reshaped({});
}

absl::StatusOr<StridedBounds> StridedBoundsOf(NodeWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(3, "axes"));
  X2IR_ASSIGN_OR_RETURN(const auto by, w.KnownInts(4, "steps"));
  const auto starts = KnownInts(w.in(1)), ends = KnownInts(w.in(2));
  const Shape* of_starts = w.shape(1);
  if (!of_starts || of_starts->rank() != 1 || !(*of_starts)[0].is_static() || rank > 31) {
    return CannotExpress("an unknown number of axes");
  }
  const auto n = static_cast<size_t>((*of_starts)[0].value());
  std::vector<int64_t> axes = given.value_or(std::vector<int64_t>());
  for (size_t i = 0; i < n && !given; ++i) axes.push_back(static_cast<int64_t>(i));
  const std::vector<int64_t> steps = by.value_or(std::vector<int64_t>(n, 1));
  std::vector<int> place(static_cast<size_t>(rank), -1);  // of each axis among those given
  for (size_t i = 0; i < n; ++i) {
    place[static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i])] = static_cast<int>(i);
  }
  // Beyond either end there is no bound.
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max();
  StridedBounds bounds{};
  std::vector<int64_t> strides(static_cast<size_t>(rank), 1);
  for (int64_t i = 0; i < rank; ++i) {
    const int at = place[static_cast<size_t>(i)];
    const int64_t bit = int64_t{1} << i;
    if (at < 0) {
      bounds.begin_mask |= bit;
      bounds.end_mask |= bit;
      continue;
    }
    const int64_t step = steps[static_cast<size_t>(at)];
    strides[static_cast<size_t>(i)] = std::clamp(step, -kFar, kFar);
    if (ends) {
      const int64_t end = (*ends)[static_cast<size_t>(at)];
      if (step > 0 ? end >= kFar : end <= -kFar) bounds.end_mask |= bit;
    }
    if (starts) {
      const int64_t start = (*starts)[static_cast<size_t>(at)];
      if (step > 0 ? start <= -kFar : start >= kFar) bounds.begin_mask |= bit;
    }
  }
  // Backwards from before the first element there is nothing in these targets; the IR begins at the
  // first.
  std::vector<bool> clamped(n, false);
  for (int64_t i = 0; i < rank; ++i) {
    const int at = place[static_cast<size_t>(i)];
    if (at < 0 || steps[static_cast<size_t>(at)] > 0 || (bounds.begin_mask >> i & 1) != 0) continue;
    clamped[static_cast<size_t>(at)] = !starts || (*starts)[static_cast<size_t>(at)] < -1;
  }
  const auto first_at_least = [&](int64_t axis, Value* start) {
    const Dim& dim = (*w.shape())[axis];
    Value* size = dim.is_static() ? w.Ints({dim.value()})
                                  : w.Op("shape", {w.in(0)}, {{"start", axis}, {"end", axis + 1}});
    return w.Op("where", {w.Op("less", {start, w.b().Int(0)}),
                          w.Op("max", {w.Op("add", {start, size}), w.b().Int(0)}), start});
  };
  std::optional<std::vector<int64_t>> firsts = starts;
  for (int64_t i = 0; i < rank && firsts; ++i) {
    const int at = place[static_cast<size_t>(i)];
    if (at < 0 || !clamped[static_cast<size_t>(at)]) continue;
    int64_t& start = (*firsts)[static_cast<size_t>(at)];
    const Dim& dim = (*w.shape())[i];
    if (dim.is_static()) {
      start = std::max(start, -dim.value());
    } else {
      firsts.reset();
    }
  }
  const auto of_every_axis = [&](size_t operand, const std::optional<std::vector<int64_t>>& known,
                                 int64_t mask) -> Value* {
    if (known) {
      std::vector<int64_t> all(static_cast<size_t>(rank), 0);
      for (int64_t i = 0; i < rank; ++i) {
        const int at = place[static_cast<size_t>(i)];
        if (at >= 0 && (mask >> i & 1) == 0) {
          all[static_cast<size_t>(i)] = std::clamp((*known)[static_cast<size_t>(at)], -kFar, kFar);
        }
      }
      return w.Int32s(all);
    }
    std::vector<Value*> all;
    Value* wide = w.Cast(w.in(operand), DType::kInt64);
    if (!wide->shape() || wide->shape()->rank() != 1) wide = w.Reshape(wide, {-1});
    Value* near = w.Op("min", {w.Op("max", {wide, w.b().Int(-kFar)}), w.b().Int(kFar)});
    for (int64_t i = 0; i < rank; ++i) {
      const int at = place[static_cast<size_t>(i)];
      Value* one = at < 0 ? w.Ints({0}) : w.Op("gather", {near, w.Ints({at})}, {{"axis", 0}});
      const bool first = operand == 1 && at >= 0 && clamped[static_cast<size_t>(at)];
      all.push_back(first ? first_at_least(i, one) : one);
    }
    return w.Cast(all.size() == 1 ? all[0] : w.Op("concat", all, {{"axis", 0}}), DType::kInt32);
  };
  bounds.begin = of_every_axis(1, firsts, bounds.begin_mask);
  bounds.end = of_every_axis(2, ends, bounds.end_mask);
  bounds.strides = w.Int32s(strides);
  return bounds;
}

Value* AlongLastAxis(NodeWriter& w, int64_t axis, int64_t rank) {
  std::vector<int64_t> perm = CountedFrom(0, rank);
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(rank - 1)]);
  Value* x = w.Op("transpose", {w.in(0)}, {{"perm", perm}});
  x = w.Op(w.node().op(), {x}, {{"axis", rank - 1}});
  return w.Op("transpose", {x}, {{"perm", perm}});
}

Value* MatMulOfVectors(NodeWriter& w, int64_t rank_a, int64_t rank_b) {
  if (rank_a > 1 && rank_b > 1) return nullptr;
  Value *a = w.in(0), *b = w.in(1);
  std::vector<int64_t> gone;
  if (rank_b == 1) {
    b = w.Op("unsqueeze", {b, w.Ints({1})});
    gone.push_back(-1);
  }
  if (rank_a == 1) {
    a = w.Op("unsqueeze", {a, w.Ints({0})});
    gone.push_back(-2);
  }
  return w.Op("squeeze", {w.Op("matmul", {a, b}), w.Ints(gone)});
}

absl::StatusOr<Value*> InstanceNormByMeans(NodeWriter& w, DType computed) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3) return CannotExpress("rank ", rank);
  const bool last = w.String("layout") == "channels_last";
  const std::vector<int64_t> places = CountedFrom(1, rank - 2);
  Value* axes = w.Ints(last ? places : CountedFrom(2, rank - 2));
  Value* x = w.Cast(w.in(0), computed);
  Value* centered = w.Op("sub", {x, w.Op("reduce_mean", {x, axes}, {{"keepdims", 1}})});
  Value* squares = w.Op("mul", {centered, centered});
  Value* variance = w.Op("reduce_mean", {squares, axes}, {{"keepdims", 1}});
  Value* epsilon = w.Number(computed, w.attrs().Float("epsilon"));
  Value* y = w.Op("div", {centered, w.Op("sqrt", {w.Op("add", {variance, epsilon})})});
  const auto of_channels = [&](size_t i) {
    Value* v = w.Cast(w.in(i), computed);
    return last ? v : w.Op("unsqueeze", {v, w.Ints(places)});
  };
  y = w.Op("mul", {y, of_channels(1)});
  return w.Cast(w.Op("add", {y, of_channels(2)}), w.dtype());
}

absl::StatusOr<Value*> HardmaxByOneHot(NodeWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const Dim& size = (*w.shape())[axis];
  if (!size.is_static()) return CannotExpress("an axis of unknown size");
  Value* first =
      w.Op("arg_max", {w.in(0)}, {{"axis", axis}, {"keepdims", 0}, {"select_last_index", 0}});
  return w.Op("one_hot", {first, w.b().Int(size.value()), NumbersAs(w.b(), w.dtype(), {2}, {0, 1})},
              {{"axis", axis}});
}

absl::StatusOr<Value*> LpNormalizationByReduce(NodeWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const Expr x(w, w.in(0));
  const Expr norm = Reduce(x, w.Int("p") == 1 ? "reduce_l1" : "reduce_l2", {axis}, true);
  const Expr none = norm == 0.0;
  return Where(none, 0.0, x / Where(none, 1.0, norm)).value();
}

}  // namespace x2ir
