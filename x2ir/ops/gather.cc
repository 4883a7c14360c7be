// Ops that pick elements by index: gather, gather_elements, gather_nd.
#include <cstring>
#include <utility>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- gather ---------------------------------------------------------------------------------

absl::Status InferGather(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "indices"));
  ctx.Set(0, ctx.dtype(0));
  const Shape* data = ctx.shape(0);
  if (!data) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), data->rank()));
  const Shape* indices = ctx.shape(1);
  if (!indices) return absl::OkStatus();
  std::vector<Dim> dims(data->begin(), data->begin() + axis);
  dims.insert(dims.end(), indices->begin(), indices->end());
  dims.insert(dims.end(), data->begin() + axis + 1, data->end());
  const auto elements = data->rank() == 1 && indices->rank() <= 1 ? ctx.Elements(0) : std::nullopt;
  if (auto picks = elements ? ctx.ConstInts(1) : std::nullopt) {
    std::vector<Dim> picked;
    for (int64_t i : *picks) {
      X2IR_ASSIGN_OR_RETURN(i, WrapIndex(i, static_cast<int64_t>(elements->size())));
      picked.push_back((*elements)[i]);
    }
    ctx.SetElements(0, std::move(picked));
  }
  return ctx.Return(ctx.dtype(0), Shape(std::move(dims)));
}

absl::Status EvalGather(EvalContext& ctx) {
  const Tensor& data = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), data.rank()));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> picks,
                        WrapIndices(ctx.input(1), data.dim(axis)));
  std::vector<int64_t> dims(data.dims().begin(), data.dims().begin() + axis);
  dims.insert(dims.end(), ctx.dims(1).begin(), ctx.dims(1).end());
  dims.insert(dims.end(), data.dims().begin() + axis + 1, data.dims().end());
  X2IR_RETURN_IF_ERROR(CheckAllocation(data.dtype(), dims));
  CellsOut out(data.dtype(), std::move(dims));
  if (out.num_elements() > 0) {
    const Cells in(data);
    const AxisView view = ViewAt(data.dims(), axis);
    const int64_t run = view.inner * out.size();
    std::byte* to = out.data();
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t i : picks) {
        std::memcpy(to, in.data() + (o * view.size + i) * run, run);
        to += run;
      }
    }
  }
  return ctx.Return(out.Finish());
}

// The axis becomes the axes of the indices, none of them perhaps.
std::optional<Flip> FlipGather(const Node& node, Slot slot, const Perm& p) {
  const int64_t rank = RankOf(node.input(0)), more = RankOf(node.input(1));
  if (rank < 0 || more < 0 || RankOf(node.output(0)) != rank - 1 + more) return std::nullopt;
  if (!slot.output && slot.index != 0) return std::nullopt;
  int64_t axis = node.attrs().Int("axis");
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  std::vector<bool> gathered(rank, false);
  gathered[axis] = true;
  if (more == 0) return FlipDropping(node, slot, p, gathered);
  Flip flip(node);
  if (!slot.output) {
    flip.in[0] = p;
    for (int64_t old : p) {
      for (int64_t i = 0; i < (old == axis ? more : 1); ++i) {
        flip.out[0].push_back(old <= axis ? old + i : old - 1 + more);
      }
    }
    flip.out[0] = Normalized(std::move(flip.out[0]));
    return flip;
  }
  flip.out[0] = p;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] < axis || p[i] >= axis + more) {
      flip.in[0].push_back(p[i] < axis ? p[i] : p[i] + 1 - more);
    } else if (p[i] == axis) {
      flip.in[0].push_back(axis);
    } else if (i == 0 || p[i - 1] != p[i] - 1) {
      return std::nullopt;  // the indices would have to change too
    }
  }
  flip.in[0] = Normalized(std::move(flip.in[0]));
  return flip;
}
void MoveGathered(Node& node, const Flip& flip, Builder& b) {
  if (!flip.in[0].empty()) MoveAxisAttr(node, flip, b);
}

X2IR_OP(gather)
    .Signature("data, indices -> output")
    .Attrs("axis = 0")
    .Functions(InferGather, EvalGather)
    .Moves({FlipGather, MoveGathered}, MoveUse::kSome)
    .Doc(
        "Picks slices of an axis by index; the axes of indices take its place. Negative indices "
        "count from the end.")
    .Origins(OriginsOfGather)
    .Complex(ComplexUse::kParts);

// --- gather_elements ------------------------------------------------------------------------

absl::Status InferGatherElements(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "indices"));
  const Shape* data = ctx.shape(0);
  const Shape* indices = ctx.shape(1);
  if (data && indices && data->rank() != indices->rank()) {
    return Invalid("indices: expected rank ", data->rank(), ", got ", indices->rank());
  }
  if (const Shape* known = data ? data : indices) {
    X2IR_RETURN_IF_ERROR(NormalizeAxis(ctx.attrs().Int("axis"), known->rank()).status());
  }
  if (indices) {
    ctx.Set(0, ctx.dtype(0), *indices);
  } else {
    ctx.Set(0, ctx.dtype(0), data ? std::optional(Shape::UnknownDims(data->rank())) : std::nullopt);
  }
  return absl::OkStatus();
}

absl::Status EvalGatherElements(EvalContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Tensor& indices = ctx.input(1);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), data.rank()));
  if (indices.rank() != data.rank()) {
    return Invalid("indices: expected rank ", data.rank(), ", got ", indices.rank());
  }
  for (int64_t k = 0; k < data.rank(); ++k) {
    if (k != axis && indices.dim(k) > data.dim(k)) {
      return Invalid("indices ", DimsText(indices.dims()), " reach beyond data ",
                     DimsText(data.dims()), " along axis ", k);
    }
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> picks, WrapIndices(indices, data.dim(axis)));
  X2IR_RETURN_IF_ERROR(CheckAllocation(data.dtype(), indices.dims()));
  CellsOut out(data.dtype(), indices.dims());
  const Cells in(data);
  std::vector<int64_t> strides = Strides(data.dims());
  const int64_t axis_stride = std::exchange(strides[axis], 0);
  std::vector<int64_t> index(data.rank(), 0);
  DispatchCell(out.size(), [&](auto cell) {
    using C = decltype(cell);
    for (int64_t o = 0; o < out.num_elements(); ++o) {
      int64_t at = picks[o] * axis_stride;
      for (size_t k = 0; k < index.size(); ++k) at += index[k] * strides[k];
      out.as<C>()[o] = in.as<C>()[at];
      for (size_t k = index.size(); k-- > 0;) {
        if (++index[k] < indices.dim(k)) break;
        index[k] = 0;
      }
    }
  });
  return ctx.Return(out.Finish());
}

X2IR_OP(gather_elements)
    .Signature("data, indices -> output")
    .Attrs("axis = 0")
    .Functions(InferGatherElements, EvalGatherElements)
    .Moves(kAllAlongAxis)
    .Doc(
        "Picks one element for each index: the position is the index's own, except along the "
        "axis, where it is the index.")
    .Origins(OriginsOfGatherElements)
    .Complex(ComplexUse::kParts);

// --- gather_nd ------------------------------------------------------------------------------

absl::Status CheckGatherNd(int64_t data_rank, int64_t indices_rank, int64_t batch_dims) {
  if (data_rank < 1 || indices_rank < 1)
    return Invalid("data and indices: expected rank 1 or more");
  if (batch_dims < 0 || batch_dims >= std::min(data_rank, indices_rank)) {
    return Invalid("batch_dims ", batch_dims, " is out of range for ranks ", data_rank, " and ",
                   indices_rank);
  }
  return absl::OkStatus();
}

absl::Status InferGatherNd(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "indices"));
  ctx.Set(0, ctx.dtype(0));
  const Shape* data = ctx.shape(0);
  const Shape* indices = ctx.shape(1);
  if (!data || !indices) return absl::OkStatus();
  const int64_t batch = ctx.attrs().Int("batch_dims");
  X2IR_RETURN_IF_ERROR(CheckGatherNd(data->rank(), indices->rank(), batch));
  Shape out;
  for (int64_t i = 0; i < indices->rank() - 1; ++i) {
    Dim dim = (*indices)[i];
    if (i < batch) {
      X2IR_ASSIGN_OR_RETURN(dim, SameDim((*data)[i], dim));
    }
    out.Append(std::move(dim));
  }
  const Dim& depth = (*indices)[indices->rank() - 1];
  if (!depth.is_static()) return absl::OkStatus();
  if (depth.value() > data->rank() - batch) {
    return Invalid("indices of ", depth.value(), " numbers into ", data->rank() - batch, " axes");
  }
  for (int64_t i = batch + depth.value(); i < data->rank(); ++i) out.Append((*data)[i]);
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalGatherNd(EvalContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Tensor& indices = ctx.input(1);
  const int64_t batch = ctx.attrs().Int("batch_dims");
  X2IR_RETURN_IF_ERROR(CheckGatherNd(data.rank(), indices.rank(), batch));
  const int64_t depth = indices.dims().back();
  if (depth > data.rank() - batch) {
    return Invalid("indices of ", depth, " numbers into ", data.rank() - batch, " axes");
  }
  for (int64_t i = 0; i < batch; ++i) {
    if (data.dim(i) != indices.dim(i)) return Invalid("axis ", i, ": batch sizes differ");
  }
  std::vector<int64_t> dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), data.dims().begin() + batch + depth, data.dims().end());
  X2IR_RETURN_IF_ERROR(CheckAllocation(data.dtype(), dims));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, indices.ToInts());
  CellsOut out(data.dtype(), std::move(dims));
  const Cells in(data);
  const std::vector<int64_t> strides = Strides(data.dims());
  const auto inner_dims = absl::MakeConstSpan(data.dims()).subspan(batch + depth);
  const int64_t inner = Count(inner_dims);
  const int64_t batches = Count(absl::MakeConstSpan(data.dims()).subspan(0, batch));
  const int64_t batch_size = Count(absl::MakeConstSpan(data.dims()).subspan(batch));
  const int64_t run = inner * out.size();
  // Empty tuples of empty slices are as many as their shape says, and nothing to do.
  const int64_t tuples =
      depth + run == 0 ? 0
                       : Count(absl::MakeConstSpan(indices.dims()).subspan(0, indices.rank() - 1));
  const int64_t per_batch = batches > 0 ? tuples / batches : 0;
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t at = t / per_batch * batch_size;
    for (int64_t k = 0; k < depth; ++k) {
      X2IR_ASSIGN_OR_RETURN(const int64_t i,
                            WrapIndex(numbers[t * depth + k], data.dim(batch + k)));
      at += i * strides[batch + k];
    }
    if (run > 0) std::memcpy(out.data() + t * run, in.data() + at * out.size(), run);
  }
  return ctx.Return(out.Finish());
}

X2IR_OP(gather_nd)
    .Signature("data, indices -> output")
    .Attrs("batch_dims = 0")
    .Functions(InferGatherNd, EvalGatherNd)
    .Moves(kAxesStay)
    .Doc(
        "Picks slices by index tuples, which are along the last axis of indices; the first "
        "batch_dims axes of both go together.")
    .Complex(ComplexUse::kParts);

}  // namespace
}  // namespace x2ir
