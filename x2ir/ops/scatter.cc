// Ops that put updates into a tensor by index: scatter_elements, scatter_nd.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

enum class Reduction { kNone, kAdd, kMul, kMin, kMax };

absl::StatusOr<Reduction> ReadReduction(const AttributeMap& attrs) {
  return ChoiceAttr<Reduction>(attrs, "reduction", {"none", "add", "mul", "min", "max"});
}

template <typename T>
T Reduced(Reduction reduction, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    // NaN wins, whichever side it is on.
    if (reduction == Reduction::kMin) return std::isnan(a) || a < b ? a : b;
    if (reduction == Reduction::kMax) return std::isnan(a) || a > b ? a : b;
    return reduction == Reduction::kAdd ? a + b : a * b;
  } else {
    const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    switch (reduction) {
      case Reduction::kMin: return std::min(a, b);
      case Reduction::kMax: return std::max(a, b);
      case Reduction::kAdd: return static_cast<T>(ua + ub);
      default: return static_cast<T>(ua * ub);
    }
  }
}

// data with updates[u] put at element targets[u], one after the other.
absl::StatusOr<Tensor> Scatter(const Tensor& data, const std::vector<int64_t>& targets,
                               const Tensor& updates, Reduction reduction) {
  Tensor result;
  if (reduction == Reduction::kNone) {
    CellsOut out(data.dtype(), data.dims());
    const Cells in(data), from(updates);
    DispatchCell(out.size(), [&](auto cell) {
      using C = decltype(cell);
      std::copy_n(in.as<C>(), out.num_elements(), out.as<C>());
      for (size_t u = 0; u < targets.size(); ++u) out.as<C>()[targets[u]] = from.as<C>()[u];
    });
    return out.Finish();
  }
  X2IR_RETURN_IF_ERROR(DispatchReal(data.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> in(data), from(updates);
    std::vector<T> out(in.span().begin(), in.span().end());
    for (size_t u = 0; u < targets.size(); ++u) {
      T& to = out[targets[u]];
      to = Reduced(reduction, to, from[u]);
      if (data.dtype() == DType::kBool) to = to != T(0);
    }
    result = FromNumbers<T>(data.dtype(), data.dims(), out);
    return absl::OkStatus();
  }));
  return result;
}

absl::Status CheckUpdates(const Tensor& data, const Tensor& updates,
                          const std::vector<int64_t>& dims) {
  if (updates.dtype() == data.dtype() && updates.dims() == dims) return absl::OkStatus();
  return Invalid("updates: expected ", Name(data.dtype()), DimsText(dims), ", got ",
                 updates.type().ToString());
}

absl::Status InferScatter(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ReadReduction(ctx.attrs()).status());
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "indices"));
  const DType other = ctx.dtype(2), own = ctx.dtype(0);
  if (own != DType::kUndefined && other != DType::kUndefined && own != other) {
    return Invalid("updates: expected ", Name(own), ", got ", Name(other));
  }
  return ctx.Return(own != DType::kUndefined ? own : other,
                    ctx.shape(0) ? std::optional(*ctx.shape(0)) : std::nullopt);
}

// --- scatter_elements -----------------------------------------------------------------------

absl::Status InferScatterElements(InferContext& ctx) {
  if (const Shape* data = ctx.shape(0)) {
    X2IR_RETURN_IF_ERROR(NormalizeAxis(ctx.attrs().Int("axis"), data->rank()).status());
    for (size_t i : {1, 2}) {
      if (ctx.rank(i) >= 0 && ctx.rank(i) != data->rank()) {
        return Invalid(OperandName(ctx, i), ": expected rank ", data->rank(), ", got ",
                       ctx.rank(i));
      }
    }
  }
  return InferScatter(ctx);
}

absl::Status EvalScatterElements(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Reduction reduction, ReadReduction(ctx.attrs()));
  const Tensor& data = ctx.input(0);
  const Tensor& indices = ctx.input(1);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), data.rank()));
  if (indices.rank() != data.rank()) {
    return Invalid("indices: expected rank ", data.rank(), ", got ", indices.rank());
  }
  X2IR_RETURN_IF_ERROR(CheckUpdates(data, ctx.input(2), indices.dims()));
  for (int64_t k = 0; k < data.rank(); ++k) {
    if (k != axis && indices.dim(k) > data.dim(k)) {
      return Invalid("indices ", DimsText(indices.dims()), " reach beyond data ",
                     DimsText(data.dims()), " along axis ", k);
    }
  }
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> targets, WrapIndices(indices, data.dim(axis)));
  const std::vector<int64_t> strides = Strides(data.dims());
  std::vector<int64_t> index(data.rank(), 0);
  for (int64_t& target : targets) {
    target *= strides[axis];
    for (int64_t k = 0; k < data.rank(); ++k) target += k == axis ? 0 : index[k] * strides[k];
    for (size_t k = index.size(); k-- > 0;) {
      if (++index[k] < indices.dim(k)) break;
      index[k] = 0;
    }
  }
  X2IR_ASSIGN_OR_RETURN(Tensor out, Scatter(data, targets, ctx.input(2), reduction));
  return ctx.Return(std::move(out));
}

// Updates that are combined with what is there are computed with.
bool IsArithmetic(const Node& node) { return node.attrs().String("reduction") != "none"; }

X2IR_OP(scatter_elements)
    .Signature("data, indices, updates -> output")
    .Attrs("axis = 0, reduction = 'none'")
    .Functions(InferScatterElements, EvalScatterElements)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kMoves, 0b101, kAllOfType, IsArithmetic)
    .Doc(
        "The operand with single elements replaced by updates (or combined with them: add, mul, "
        "min, max), at the position of the index, except along the axis, where it is the index.")
    .Origins(OriginsOfAllButAxis);

// --- scatter_nd -----------------------------------------------------------------------------

absl::Status InferScatterNd(InferContext& ctx) {
  const Shape* data = ctx.shape(0);
  const Shape* indices = ctx.shape(1);
  if (data && indices) {
    if (indices->rank() < 1 || data->rank() < 1) {
      return Invalid("data and indices: expected rank 1 or more");
    }
    const Dim& depth = (*indices)[indices->rank() - 1];
    if (depth.is_static() && depth.value() > data->rank()) {
      return Invalid("indices of ", depth.value(), " numbers into ", data->rank(), " axes");
    }
  }
  X2IR_RETURN_IF_ERROR(InferScatter(ctx));
  // Shapes with some sizes replaced are made this way.
  const auto elements = data && data->rank() == 1 ? ctx.Elements(0) : std::nullopt;
  const Tensor* at = ctx.constant(1);
  const auto updates = elements ? ctx.Elements(2) : std::nullopt;
  if (!updates || !at || at->num_elements() != static_cast<int64_t>(updates->size()) ||
      ctx.attrs().String("reduction") != "none") {
    return absl::OkStatus();
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> targets,
                        WrapIndices(*at, static_cast<int64_t>(elements->size())));
  std::vector<Dim> out = *elements;
  for (size_t u = 0; u < targets.size(); ++u) out[targets[u]] = (*updates)[u];
  ctx.SetElements(0, std::move(out));
  return absl::OkStatus();
}

absl::Status EvalScatterNd(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Reduction reduction, ReadReduction(ctx.attrs()));
  const Tensor& data = ctx.input(0);
  const Tensor& indices = ctx.input(1);
  if (data.rank() < 1 || indices.rank() < 1) {
    return Invalid("data and indices: expected rank 1 or more");
  }
  const int64_t depth = indices.dims().back();
  if (depth > data.rank()) {
    return Invalid("indices of ", depth, " numbers into ", data.rank(), " axes");
  }
  std::vector<int64_t> dims(indices.dims().begin(), indices.dims().end() - 1);
  int64_t tuples = Count(dims);
  dims.insert(dims.end(), data.dims().begin() + depth, data.dims().end());
  X2IR_RETURN_IF_ERROR(CheckUpdates(data, ctx.input(2), dims));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, indices.ToInts());
  const std::vector<int64_t> strides = Strides(data.dims());
  const int64_t inner = Count(absl::MakeConstSpan(data.dims()).subspan(depth));
  // Empty tuples of empty slices are as many as their shape says, and nothing to do.
  if (depth + inner == 0) tuples = 0;
  std::vector<int64_t> targets;
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t at = 0;
    for (int64_t k = 0; k < depth; ++k) {
      X2IR_ASSIGN_OR_RETURN(const int64_t i, WrapIndex(numbers[t * depth + k], data.dim(k)));
      at += i * strides[k];
    }
    for (int64_t i = 0; i < inner; ++i) targets.push_back(at + i);
  }
  X2IR_ASSIGN_OR_RETURN(Tensor out, Scatter(data, targets, ctx.input(2), reduction));
  return ctx.Return(std::move(out));
}

X2IR_OP(scatter_nd)
    .Signature("data, indices, updates -> output")
    .Attrs("reduction = 'none'")
    .Functions(InferScatterNd, EvalScatterNd)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kMoves, 0b101, kAllOfType, IsArithmetic)
    .Doc(
        "The operand with slices replaced by updates (or combined with them: add, mul, min, max) "
        "at index tuples, which are along the last axis of indices.");

}  // namespace
}  // namespace x2ir
