// Ops that give a tensor another shape without moving its elements, and those that read its
// shape: shape, size, reshape, flatten, squeeze, unsqueeze.
#include <algorithm>
#include <limits>
#include <utility>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- shape, size ----------------------------------------------------------------------------

// Which dims [start, end) `shape` gives of a tensor of that rank.
std::pair<int64_t, int64_t> ShapeRange(const AttributeMap& attrs, int64_t rank) {
  const auto clamp = [rank](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? std::max(i, -rank) + rank : i, 0, rank);
  };
  const int64_t start = clamp(attrs.Int("start"));
  const int64_t end = clamp(attrs.Int("end", std::numeric_limits<int64_t>::max()));
  return {start, std::max(start, end)};
}

absl::Status InferShapeOp(InferContext& ctx) {
  const Shape* in = ctx.shape(0);
  if (!in) {
    return ctx.Return(DType::kInt64, Shape::UnknownDims(1));
  }
  const auto [start, end] = ShapeRange(ctx.attrs(), in->rank());
  ctx.Set(0, DType::kInt64, Shape{Dim(end - start)});
  ctx.SetElements(0, {in->begin() + start, in->begin() + end});
  return absl::OkStatus();
}

absl::Status EvalShapeOp(EvalContext& ctx) {
  const auto& dims = ctx.dims(0);
  const auto [start, end] = ShapeRange(ctx.attrs(), static_cast<int64_t>(dims.size()));
  return ctx.Return(Tensor::Vector(absl::MakeConstSpan(dims).subspan(start, end - start)));
}

std::optional<Flip> FlipOperand(const Node& node, Slot slot, const Perm& p) {
  if (slot.output || RankOf(node.input(0)) != static_cast<int64_t>(p.size())) return std::nullopt;
  Flip flip(node);
  flip.in[0] = p;
  return flip;
}

// The current positions of the requested sizes.
std::vector<int64_t> AskedSizes(const Node& node, const Perm& p) {
  const int64_t rank = static_cast<int64_t>(p.size());
  const auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  std::vector<int64_t> places;
  for (int64_t i = clamp(node.attrs().Int("start")); i < clamp(node.attrs().Int("end", rank));
       ++i) {
    places.push_back(NewAxis(p, i));
  }
  return places;
}
bool InARow(const std::vector<int64_t>& places) {
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i] != places[i - 1] + 1) return false;
  }
  return !places.empty();
}
std::optional<Flip> FlipShape(const Node& node, Slot slot, const Perm& p) {
  auto flip = FlipOperand(node, slot, p);
  if (flip && !InARow(AskedSizes(node, p))) flip->cost = 1;
  return flip;
}
void MoveAsked(Node& node, const Flip& flip, Builder&) {
  const std::vector<int64_t> places = AskedSizes(node, flip.in[0]);
  if (InARow(places)) {
    node.SetAttr("start", places.front());
    node.SetAttr("end", places.back() + 1);
    return;
  }
  Graph& graph = *node.graph();
  Value* sizes = node.output(0);
  Builder after(graph, node.next());
  Value* indices = after.Ints(places, StrCat(sizes->name(), "_order"));
  Node* gather =
      graph.InsertNode(node.next(), kIrDialect, "gather", std::vector<Value*>{nullptr, indices});
  gather->SetAttr("axis", 0);
  Value* asked = graph.AddNodeOutput(gather, "", sizes->type());
  if (sizes->elements()) asked->set_elements(*sizes->elements());
  graph.ReplaceAllUsesKeepingOutputNames(sizes, asked);
  graph.NameValues(gather, StrCat(sizes->name(), "_order"));
  graph.NameValues(&node, StrCat(asked->name(), "_shape"));
  gather->SetInput(0, sizes);
  node.SetAttr("start", 0);
  node.EraseAttr("end");
  sizes->clear_elements();
  sizes->set_type(Type::Tensor(DType::kInt64, Shape{Dim(static_cast<int64_t>(flip.in[0].size()))}));
}

X2IR_OP(shape)
    .Signature("data -> shape")
    .Attrs("start = 0, end: int?")
    .Functions(InferShapeOp, EvalShapeOp)
    .Axes({FlipShape, MoveAsked})
    .Numbers(NumberUse::kMoves, kFirstOfType, kNoneOfType)
    .Doc(
        "The sizes of the axes start to end (excluded; absent: all), clamped to the rank. "
        "Negative numbers count from the end.");

absl::Status InferSize(InferContext& ctx) {
  ctx.Set(0, DType::kInt64, Shape());
  if (const Shape* in = ctx.shape(0)) ctx.SetElements(0, {in->NumElements()});
  return absl::OkStatus();
}

X2IR_OP(size)
    .Signature("data -> size")
    .Infer(InferSize)
    .Eval([](EvalContext& ctx) {
      return ctx.Return(Tensor::Scalar<int64_t>(ctx.input(0).num_elements()));
    })
    .Axes({FlipOperand})
    .Numbers(NumberUse::kMoves, kFirstOfType, kNoneOfType)
    .Doc("The number of elements.");

// --- reshape --------------------------------------------------------------------------------

// What is known of reshape's result. `in` may be null.
absl::StatusOr<Shape> ReshapedShape(const Shape* in, const std::vector<Dim>& wanted,
                                    bool allowzero) {
  const int64_t rank = static_cast<int64_t>(wanted.size());
  Shape out = Shape::UnknownDims(rank);
  std::vector<bool> used(in ? in->rank() : 0, false);  // dims that are on both sides
  Dim rest = 1;       // product of what is known of the result and not on both sides
  int64_t hole = -1;  // the one dim to find out; -2 when there are several
  bool zero = false, minus_one = false;
  for (int64_t i = 0; i < rank; ++i) {
    const Dim& want = wanted[i];
    if (want.is_static() && want.value() < -1) return Invalid("size ", want.value());
    zero |= want.is_static() && want.value() == 0;
    if (want.is_static() && want.value() == 0 && !allowzero) {
      if (!in) {
        hole = -2;
        continue;
      }
      if (i >= in->rank()) {
        return Invalid("size 0 at axis ", i, " copies from an operand of rank ", in->rank());
      }
      out[i] = (*in)[i];
      used[i] = true;
    } else if (want.is_unknown() || (want.is_static() && want.value() == -1)) {
      if (want.is_static()) {
        if (minus_one) return Invalid("more than one size is -1");
        minus_one = true;
      }
      hole = hole == -1 ? i : -2;
    } else {
      out[i] = want;
    }
  }
  if (allowzero && zero && minus_one) return Invalid("sizes 0 and -1 exclude each other");
  if (!in) return out;
  // A symbolic size of the operand that is also in the result cancels out, so that unknown dims
  // elsewhere do not matter as much.
  for (int64_t i = 0; i < rank; ++i) {
    const bool copied =
        i < in->rank() && used[i] && wanted[i].is_static() && wanted[i].value() == 0 && !allowzero;
    if (copied || out[i].is_unknown()) continue;
    bool cancelled = false;
    for (int64_t k = 0; k < in->rank() && !cancelled; ++k) {
      if (used[k] || !out[i].is_symbolic() || !ProvablyEqual((*in)[k], out[i])) continue;
      used[k] = cancelled = true;
    }
    if (!cancelled) rest = rest * out[i];
  }
  Dim left = 1;       // product of the operand's dims that are not on both sides
  bool none = false;  // a copied 0: there are no elements, whatever else is said
  for (int64_t k = 0; k < in->rank(); ++k) {
    if (!used[k]) left = left * (*in)[k];
    none = none || (used[k] && (*in)[k] == Dim(0));
  }
  if (hole >= 0) {
    if (rest.is_static() && rest.value() == 0) return out;  // nothing tells
    if (rest.is_static() && left.is_static() && left.value() % rest.value() != 0) {
      return Invalid("[", in->ToString(), "] cannot be reshaped: ", rest.value(),
                     " does not divide ", left.value());
    }
    out[hole] = FloorDiv(left, rest);
  } else if (hole == -1 && !none && left.is_static() && rest.is_static() &&
             left.value() != rest.value()) {
    return Invalid("[", in->ToString(), "] cannot be reshaped to [", out.ToString(), "]");
  }
  return out;
}

absl::Status InferReshape(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "shape"));
  ctx.Set(0, ctx.dtype(0));
  std::optional<std::vector<Dim>> wanted = ctx.Elements(1);
  if (!wanted) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, LengthOf(ctx, 1));
    if (rank < 0 || rank > int64_t{InferContext::kMaxElements}) return absl::OkStatus();
    wanted.emplace(rank);
  }
  X2IR_ASSIGN_OR_RETURN(Shape out,
                        ReshapedShape(ctx.shape(0), *wanted, ctx.attrs().Int("allowzero") != 0));
  KeepElements(ctx, out);
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalReshape(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, IntsOperand(ctx, 1, "shape"));
  const bool allowzero = ctx.attrs().Int("allowzero") != 0;
  int64_t hole = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !allowzero) {
      if (i >= in.dims().size()) {
        return Invalid("size 0 at axis ", i, " copies from an operand of rank ", in.rank());
      }
      dims[i] = in.dim(i);
    } else if (dims[i] == -1) {
      if (hole >= 0) return Invalid("more than one size is -1");
      hole = static_cast<int64_t>(i);
    } else if (dims[i] < 0) {
      return Invalid("size ", dims[i]);
    }
  }
  if (hole >= 0) {
    dims[hole] = 1;
    const std::optional<int64_t> rest = CheckedProduct(dims);
    if (!rest || *rest == 0 || in.num_elements() % *rest != 0) {
      return Invalid(DimsText(in.dims()), " cannot be reshaped: ", rest.value_or(-1),
                     " does not divide ", in.num_elements());
    }
    dims[hole] = in.num_elements() / *rest;
  }
  if (CheckedProduct(dims) != in.num_elements()) {
    return Invalid(DimsText(in.dims()), " cannot be reshaped to ", DimsText(dims));
  }
  return ctx.Return(in.Reshaped(std::move(dims)));
}

X2IR_OP(reshape)
    .Signature("data, shape -> reshaped")
    .Attrs("allowzero = 0")
    .Functions(InferReshape, EvalReshape)
    .Moves(kReshapeAxes, MoveUse::kInOrder)
    .Doc(
        "The same elements in another shape. One size may be -1: what the others leave. Size 0 "
        "copies the operand's size at that axis, unless allowzero.")
    .Origins(OriginsOfReshape)
    .Complex(ComplexUse::kParts);

// --- flatten --------------------------------------------------------------------------------

// Flatten's axis lies in [-rank, rank]; negative ones count from the rank itself.
absl::StatusOr<int64_t> FlattenAxis(const AttributeMap& attrs, int64_t rank) {
  const int64_t axis = attrs.Int("axis");
  if (axis < -rank || axis > rank) {
    return Invalid("axis ", axis, " is out of range for rank ", rank);
  }
  return axis < 0 ? axis + rank : axis;
}

absl::Status InferFlatten(InferContext& ctx) {
  Shape out = Shape::UnknownDims(2);
  if (const Shape* in = ctx.shape(0)) {
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, FlattenAxis(ctx.attrs(), in->rank()));
    out = Shape{in->NumElements(0, axis), in->NumElements(axis, in->rank())};
  }
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalFlatten(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, FlattenAxis(ctx.attrs(), in.rank()));
  const auto dims = absl::MakeConstSpan(in.dims());
  const auto rows = CheckedProduct(dims.subspan(0, axis));
  const auto columns = CheckedProduct(dims.subspan(axis));
  if (!rows || !columns) return Invalid(DimsText(dims), " cannot be flattened: sizes overflow");
  return ctx.Return(in.Reshaped({*rows, *columns}));
}

X2IR_OP(flatten)
    .Signature("input -> output")
    .Attrs("axis = 1")
    .Functions(InferFlatten, EvalFlatten)
    .Moves(kReshapeAxes, MoveUse::kInOrder)
    .Doc("A matrix: the axes before `axis` are its rows, the rest its columns.")
    .Complex(ComplexUse::kParts);

// --- squeeze, unsqueeze ---------------------------------------------------------------------

absl::Status InferSqueeze(InferContext& ctx) {
  ctx.Set(0, ctx.dtype(0));
  const Shape* in = ctx.shape(0);
  std::vector<bool> drop(in ? in->rank() : 0, false);
  if (!ctx.has(1)) {
    if (!in) return absl::OkStatus();
    for (int64_t i = 0; i < in->rank(); ++i) {
      if (!(*in)[i].is_static()) return absl::OkStatus();  // may be 1: the rank is not known
      drop[i] = (*in)[i].value() == 1;
    }
  } else {
    X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "axes"));
    auto axes = ctx.ConstInts(1);
    if (!axes) {
      X2IR_ASSIGN_OR_RETURN(const int64_t n, LengthOf(ctx, 1));
      if (!in || n < 0) return absl::OkStatus();
      if (n > in->rank()) return Invalid(n, " axes of a tensor of rank ", in->rank());
      return ctx.Return(ctx.dtype(0), Shape::UnknownDims(in->rank() - n));
    }
    if (!in) return absl::OkStatus();
    X2IR_ASSIGN_OR_RETURN(*axes, NormalizeAxes(*std::move(axes), in->rank()));
    for (int64_t axis : *axes) {
      if (ProvablyDifferent((*in)[axis], 1)) {
        return Invalid("axis ", axis, ": expected size 1, got ", (*in)[axis].ToString());
      }
      drop[axis] = true;
    }
  }
  Shape out;
  for (int64_t i = 0; i < in->rank(); ++i) {
    if (!drop[i]) out.Append((*in)[i]);
  }
  KeepElements(ctx, out);
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalSqueeze(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  std::vector<bool> drop(in.rank(), false);
  if (ctx.has(1)) {
    X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> axes, IntsOperand(ctx, 1, "axes"));
    X2IR_ASSIGN_OR_RETURN(axes, NormalizeAxes(std::move(axes), in.rank()));
    for (int64_t axis : axes) {
      if (in.dim(axis) != 1) return Invalid("axis ", axis, ": expected size 1, got ", in.dim(axis));
      drop[axis] = true;
    }
  } else {
    for (int64_t i = 0; i < in.rank(); ++i) drop[i] = in.dim(i) == 1;
  }
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < in.rank(); ++i) {
    if (!drop[i]) dims.push_back(in.dim(i));
  }
  return ctx.Return(in.Reshaped(std::move(dims)));
}

std::optional<std::vector<bool>> SqueezedAxes(const Node& node) {
  const int64_t rank = RankOf(node.input(0));
  if (rank < 0) return std::nullopt;
  if (!node.input(1)) {
    std::vector<bool> ones;
    for (const Dim& d : *node.input(0)->shape()) {
      if (!d.is_static()) return std::nullopt;
      ones.push_back(d == Dim(1));
    }
    return ones;
  }
  const auto axes = KnownInts(node.input(1));
  return axes ? AxisMask(*axes, rank) : std::nullopt;
}
std::optional<Flip> FlipSqueeze(const Node& node, Slot slot, const Perm& p) {
  if (!slot.output && slot.index != 0) return std::nullopt;
  const auto squeezed = SqueezedAxes(node);
  return squeezed ? FlipDropping(node, slot, p, *squeezed) : std::nullopt;
}
void MoveSqueezed(Node& node, const Flip& flip, Builder& b) {
  const std::vector<bool> squeezed = *SqueezedAxes(node);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < squeezed.size(); ++i) {
    const int64_t old = flip.in[0].empty() ? static_cast<int64_t>(i) : flip.in[0][i];
    if (squeezed[old]) axes.push_back(static_cast<int64_t>(i));
  }
  SetOperand(node, 1, b.Ints(axes, "axes"));
}

X2IR_OP(squeeze)
    .Signature("data, axes? -> squeezed")
    .Functions(InferSqueeze, EvalSqueeze)
    .Moves({FlipSqueeze, MoveSqueezed}, MoveUse::kInOrder)
    .Doc("Drops the given axes, which must have size 1; without axes, every axis of size 1.")
    .Origins(OriginsOfSqueeze)
    .Complex(ComplexUse::kParts);

absl::Status InferUnsqueeze(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "axes"));
  ctx.Set(0, ctx.dtype(0));
  const Shape* in = ctx.shape(0);
  if (!in) return absl::OkStatus();
  auto axes = ctx.ConstInts(1);
  if (!axes) {
    X2IR_ASSIGN_OR_RETURN(const int64_t n, LengthOf(ctx, 1));
    if (n < 0 || n > int64_t{InferContext::kMaxElements}) return absl::OkStatus();
    return ctx.Return(ctx.dtype(0), Shape::UnknownDims(in->rank() + n));
  }
  const int64_t rank = in->rank() + static_cast<int64_t>(axes->size());
  X2IR_ASSIGN_OR_RETURN(*axes, NormalizeAxes(*std::move(axes), rank));
  Shape out = Shape(std::vector<Dim>(rank, Dim(0)));
  for (int64_t axis : *axes) out[axis] = 1;
  int64_t from = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (out[i] == Dim(0)) out[i] = (*in)[from++];
  }
  KeepElements(ctx, out);
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalUnsqueeze(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> axes, IntsOperand(ctx, 1, "axes"));
  const int64_t rank = in.rank() + static_cast<int64_t>(axes.size());
  X2IR_ASSIGN_OR_RETURN(axes, NormalizeAxes(std::move(axes), rank));
  std::vector<int64_t> dims(rank, -1);
  for (int64_t axis : axes) dims[axis] = 1;
  int64_t from = 0;
  for (int64_t& d : dims) {
    if (d < 0) d = in.dim(from++);
  }
  return ctx.Return(in.Reshaped(std::move(dims)));
}

// squeeze with operand and result exchanged.
std::optional<Flip> FlipUnsqueeze(const Node& node, Slot slot, const Perm& p) {
  if (!slot.output && slot.index != 0) return std::nullopt;
  const int64_t rank = RankOf(node.output(0));
  const auto axes = KnownInts(node.input(1));
  if (!axes || rank < 0 || RankOf(node.input(0)) < 0) return std::nullopt;
  const auto added = AxisMask(*axes, rank);
  if (!added) return std::nullopt;
  Flip flip(node);
  flip.in[0] = slot.output ? WithoutAxes(p, *added) : p;
  flip.out[0] = slot.output ? p : WithAxes(p, *added);
  return flip;
}
void MoveAdded(Node& node, const Flip& flip, Builder& b) {
  if (flip.out[0].empty()) return;
  std::vector<int64_t> axes = NewAxes(*KnownInts(node.input(1)), flip.out[0]);
  std::sort(axes.begin(), axes.end());
  SetOperand(node, 1, b.Ints(axes, "axes"));
}

X2IR_OP(unsqueeze)
    .Signature("data, axes -> expanded")
    .Functions(InferUnsqueeze, EvalUnsqueeze)
    .Moves({FlipUnsqueeze, MoveAdded}, MoveUse::kInOrder)
    .Doc("Inserts axes of size 1; `axes` gives their positions in the result.")
    .Origins(OriginsOfUnsqueeze)
    .Complex(ComplexUse::kParts);

}  // namespace
}  // namespace x2ir
