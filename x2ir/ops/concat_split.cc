// concat puts tensors together along an axis, split takes one apart.
#include <algorithm>
#include <cstring>
#include <utility>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- concat ---------------------------------------------------------------------------------

absl::Status InferConcat(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, ctx.num_inputs()));
  ctx.Set(0, dtype);
  std::optional<Shape> out;
  int64_t axis = 0;
  Dim sum = 0;
  std::optional<std::vector<Dim>> elements = std::vector<Dim>();
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    const Shape* shape = ctx.shape(i);
    if (!shape) {
      sum = Dim();
      elements.reset();
      continue;
    }
    if (!out) {
      out = *shape;
      X2IR_ASSIGN_OR_RETURN(axis, NormalizeAxis(ctx.attrs().Int("axis"), shape->rank()));
    }
    if (shape->rank() != out->rank()) {
      return Invalid("operand ", i, ": expected rank ", out->rank(), ", got ", shape->rank());
    }
    for (int64_t k = 0; k < shape->rank(); ++k) {
      if (k == axis) continue;
      auto dim = SameDim((*out)[k], (*shape)[k]);
      if (!dim.ok()) return Annotate(dim.status(), StrCat("operand ", i, ", axis ", k));
      (*out)[k] = *std::move(dim);
    }
    sum = sum + (*shape)[axis];
    auto part = elements && shape->rank() == 1 ? ctx.Elements(i) : std::nullopt;
    // A part whose elements are not known, but whose length is, still has a place.
    if (!part && elements && shape->rank() == 1 && (*shape)[0].is_static() &&
        (*shape)[0].value() <= int64_t{InferContext::kMaxElements} && IsInteger(dtype)) {
      part.emplace((*shape)[0].value());
    }
    if (part && elements->size() + part->size() <= InferContext::kMaxElements) {
      elements->insert(elements->end(), part->begin(), part->end());
    } else {
      elements.reset();
    }
  }
  if (!out) return absl::OkStatus();
  (*out)[axis] = sum;
  if (elements && out->rank() == 1 &&
      std::any_of(elements->begin(), elements->end(),
                  [](const Dim& d) { return !d.is_unknown(); })) {
    ctx.SetElements(0, *std::move(elements));
  }
  return ctx.Return(dtype, *std::move(out));
}

absl::Status EvalConcat(EvalContext& ctx) {
  const Tensor& first = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), first.rank()));
  std::vector<int64_t> dims = first.dims();
  for (size_t i = 1; i < ctx.num_inputs(); ++i) {
    const Tensor& part = ctx.input(i);
    bool same = part.rank() == first.rank() && part.dtype() == first.dtype();
    for (int64_t k = 0; same && k < part.rank(); ++k) same = k == axis || part.dim(k) == dims[k];
    if (!same) {
      return Invalid("operand ", i, ": ", part.type().ToString(), " does not continue ",
                     first.type().ToString(), " along axis ", axis);
    }
    if (__builtin_add_overflow(dims[axis], part.dim(axis), &dims[axis])) {
      return Invalid("sizes overflow");
    }
  }
  X2IR_RETURN_IF_ERROR(CheckAllocation(first.dtype(), dims));
  if (ctx.num_inputs() == 1) {
    return ctx.Return(first);
  }
  CellsOut out(first.dtype(), dims);
  const AxisView whole = ViewAt(dims, axis);
  int64_t done = 0;  // along the axis
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    const Cells part(ctx.input(i));
    const int64_t size = ctx.input(i).dim(axis);
    const int64_t run = size * whole.inner * out.size();  // bytes
    if (run != 0) {
      for (int64_t o = 0; o < whole.outer; ++o) {
        std::memcpy(out.data() + (o * whole.size + done) * whole.inner * out.size(),
                    part.data() + o * run, run);
      }
    }
    done += size;
  }
  return ctx.Return(out.Finish());
}

X2IR_OP(concat)
    .Signature("inputs+ -> concat_result")
    .Attrs("axis: int")
    .Functions(InferConcat, EvalConcat)
    .Axes(kAllAlongAxis)
    .Numbers(NumberUse::kMoves)
    .Doc("The operands one after the other along an axis; their other sizes are equal.")
    .Origins(OriginsOfAllButAxis)
    .Complex(ComplexUse::kParts)
    .Obeys(kOfOneIsIt);

// --- split ----------------------------------------------------------------------------------

// The sizes of n parts of a dim if no sizes are given.
absl::StatusOr<std::vector<Dim>> EqualParts(const Dim& size, int64_t n, bool uneven) {
  std::vector<Dim> parts;
  if (!uneven) {
    if (size.is_static() && size.value() % n != 0) {
      return Invalid("size ", size.value(), " cannot be split into ", n, " equal parts");
    }
    parts.assign(n, FloorDiv(size, n));
    return parts;
  }
  const Dim part = CeilDiv(size, n);
  Dim left = size;
  for (int64_t i = 0; i < n; ++i) {
    parts.push_back(size.is_static() ? Min(part, left) : part);
    left = left - parts.back();
  }
  // Only the last part, or with few elements the last parts, are smaller.
  if (!size.is_static() && !(Mod(size, n) == Dim(0))) {
    parts.assign(n, Dim());
    parts[0] = part;
  }
  return parts;
}

absl::Status CheckNumOutputs(const Node& node) {
  const int64_t n = static_cast<int64_t>(node.num_outputs());
  if (const int64_t want = node.attrs().Int("num_outputs", n); want != n) {
    return Invalid("num_outputs is ", want, ", but there are ", n, " outputs");
  }
  return absl::OkStatus();
}

absl::Status InferSplit(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckNumOutputs(ctx.node()));
  const int64_t n = static_cast<int64_t>(ctx.num_outputs());
  const Shape* in = ctx.shape(0);
  std::vector<Dim> parts(n);
  int64_t axis = 0;
  if (in) {
    X2IR_ASSIGN_OR_RETURN(axis, NormalizeAxis(ctx.attrs().Int("axis"), in->rank()));
  }
  if (ctx.has(1)) {
    X2IR_ASSIGN_OR_RETURN(auto sizes, SizesOperand(ctx, 1));
    if (sizes) {
      if (static_cast<int64_t>(sizes->size()) != n) {
        return Invalid("split: expected ", n, " sizes, got ", sizes->size());
      }
      parts = *std::move(sizes);
      Dim sum = 0;
      for (const Dim& part : parts) sum = sum + part;
      if (in && ProvablyDifferent(sum, (*in)[axis])) {
        return Invalid("split: the sizes add up to ", sum.ToString(), "; expected ",
                       (*in)[axis].ToString());
      }
    }
  } else if (in) {
    X2IR_ASSIGN_OR_RETURN(parts, EqualParts((*in)[axis], n, ctx.attrs().Has("num_outputs")));
  }
  const auto elements = in && in->rank() == 1 ? ctx.Elements(0) : std::nullopt;
  size_t at = 0;
  bool placed = elements.has_value();
  for (int64_t i = 0; i < n; ++i) {
    if (!in) {
      ctx.Set(i, ctx.dtype(0));
      continue;
    }
    Shape out = *in;
    out[axis] = parts[i];
    ctx.Set(i, ctx.dtype(0), std::move(out));
    placed = placed && parts[i].is_static() && parts[i].value() >= 0 &&
             parts[i].value() <= static_cast<int64_t>(elements->size() - at);
    if (placed) {
      ctx.SetElements(i, {elements->begin() + at, elements->begin() + at + parts[i].value()});
      at += parts[i].value();
    }
  }
  return absl::OkStatus();
}

absl::Status EvalSplit(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckNumOutputs(ctx.node()));
  const Tensor& in = ctx.input(0);
  const int64_t n = static_cast<int64_t>(ctx.num_outputs());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), in.rank()));
  std::vector<int64_t> parts;
  if (ctx.has(1)) {
    X2IR_ASSIGN_OR_RETURN(parts, IntsOperand(ctx, 1, "split"));
    if (static_cast<int64_t>(parts.size()) != n) {
      return Invalid("split: expected ", n, " sizes, got ", parts.size());
    }
    int64_t left = in.dim(axis);
    for (int64_t part : parts) {
      if (part < 0 || part > left) left = -1;
      if (left < 0) break;
      left -= part;
    }
    if (left != 0) return Invalid("split: the sizes do not add up to ", in.dim(axis));
  } else {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Dim> dims,
                          EqualParts(in.dim(axis), n, ctx.attrs().Has("num_outputs")));
    for (const Dim& d : dims) parts.push_back(d.value());
  }
  const std::vector<int64_t> strides = Strides(in.dims());
  int64_t offset = 0;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t> dims = in.dims();
    dims[axis] = parts[i];
    if (ctx.wants(i)) ctx.Set(i, StridedCopy(in, std::move(dims), strides, offset));
    offset += parts[i] * strides[axis];
  }
  return absl::OkStatus();
}

X2IR_OP(split)
    .Signature("input, split? -> outputs+")
    .Attrs("axis = 0, num_outputs: int?")
    .Functions(InferSplit, EvalSplit)
    .Moves(kAlongAxis)
    .Rows(RowUse::kLastAxis)
    .Doc(
        "Parts of the operand along an axis, of the sizes that `split` gives. Without it parts "
        "are equal; with num_outputs (the number of outputs) sizes are rounded up and the last "
        "parts are smaller.")
    .Origins(OriginsButAxis)
    .Complex(ComplexUse::kParts);

}  // namespace
}  // namespace x2ir
