// Shared helpers of the shape, indexing and reduction ops.
#include "x2ir/ops/shape_util.h"

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

absl::StatusOr<Dim> SameDim(const Dim& a, const Dim& b) {
  if (ProvablyDifferent(a, b)) {
    return Invalid("sizes ", a.ToString(), " and ", b.ToString(), " must be equal");
  }
  if (a.is_static() || b.is_unknown()) return a;
  return b.is_static() || a.is_unknown() ? b : a;
}

absl::StatusOr<std::optional<std::vector<Dim>>> SizesOperand(const InferContext& ctx, size_t i) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, i, "shape"));
  std::optional<std::vector<Dim>> sizes = ctx.Elements(i);
  if (!sizes) {
    X2IR_ASSIGN_OR_RETURN(const int64_t length, LengthOf(ctx, i));
    if (length >= 0 && length <= int64_t{InferContext::kMaxElements}) sizes.emplace(length);
  }
  if (sizes) {
    for (const Dim& d : *sizes) {
      if (d.is_static() && d.value() < 0) return Invalid("size ", d.value(), " is negative");
    }
  }
  return sizes;
}

std::string OperandName(const InferContext& ctx, size_t i) {
  const OpDef* def = FindOp(ctx.node().op());
  const OperandDef* operand = def ? def->InputDef(i) : nullptr;
  return operand && operand->arity != Arity::kVariadic ? StrCat("operand '", operand->name, "'")
                                                       : StrCat("operand ", i);
}

absl::Status ExpectOneNumber(const InferContext& ctx, size_t i) {
  const Shape* shape = ctx.shape(i);
  if (!shape || !ProvablyDifferent(shape->NumElements(), 1)) return absl::OkStatus();
  return Invalid(OperandName(ctx, i), ": expected one number, got shape [", shape->ToString(), "]");
}

absl::StatusOr<int64_t> LengthOf(const InferContext& ctx, size_t i) {
  const Shape* shape = ctx.shape(i);
  if (!shape) return -1;
  if (shape->rank() > 1)
    return Invalid(OperandName(ctx, i), ": expected rank 1, got ", shape->rank());
  if (shape->rank() == 0) return 1;
  return (*shape)[0].is_static() ? (*shape)[0].value() : -1;
}

Dim ElementOf(const InferContext& ctx, size_t i) {
  if (const Tensor* tensor = ctx.constant(i)) {
    auto ints = tensor->num_elements() == 1 ? tensor->ToInts() : Invalid("");
    return ints.ok() ? Dim((*ints)[0]) : Dim();
  }
  const auto elements = ctx.Elements(i);
  return elements && elements->size() == 1 ? (*elements)[0] : Dim();
}

void KeepElements(InferContext& ctx, const Shape& result) {
  if (result.rank() > 1) return;
  if (auto elements = ctx.Elements(0)) ctx.SetElements(0, *std::move(elements));
}

bool MayReduceNothing(const Node& node) {
  if (!node.input(0) || IsFloating(node.input(0)->dtype())) return false;
  const Shape* shape = node.input(0)->shape();
  const auto dims = shape ? shape->Static() : std::nullopt;
  return !dims || std::find(dims->begin(), dims->end(), 0) != dims->end();
}

absl::Status ExpectInteger(const InferContext& ctx, size_t i, std::string_view name) {
  const DType dtype = ctx.dtype(i);
  if (dtype == DType::kUndefined || IsInteger(dtype)) return absl::OkStatus();
  return Invalid("operand '", name, "': expected integers, got ", Name(dtype));
}

absl::StatusOr<std::vector<int64_t>> IntsOperand(const EvalContext& ctx, size_t i,
                                                 std::string_view name) {
  const Tensor& tensor = ctx.input(i);
  if (tensor.rank() > 1) {
    return Invalid("operand '", name, "': expected rank 1, got ", tensor.rank());
  }
  auto ints = tensor.ToInts();
  if (!ints.ok()) return Annotate(ints.status(), StrCat("operand '", name, "'"));
  return ints;
}

absl::StatusOr<int64_t> IntOperand(const EvalContext& ctx, size_t i, std::string_view name) {
  const Tensor& tensor = ctx.input(i);
  if (tensor.num_elements() != 1 || !IsInteger(tensor.dtype())) {
    return Invalid("operand '", name, "': expected one integer, got ", tensor.type().ToString());
  }
  return tensor.AsInt(0);
}

absl::StatusOr<int64_t> WrapIndex(int64_t index, int64_t size) {
  if (index < -size || index >= size) {
    return Invalid("index ", index, " is out of range; expected -", size, " to ", size - 1);
  }
  return index < 0 ? index + size : index;
}

absl::StatusOr<std::vector<int64_t>> WrapIndices(const Tensor& indices, int64_t size) {
  if (!IsInteger(indices.dtype())) {
    return Invalid("indices: expected integers, got ", Name(indices.dtype()));
  }
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> ints, indices.ToInts());
  for (int64_t& i : ints) {
    X2IR_ASSIGN_OR_RETURN(i, WrapIndex(i, size));
  }
  return ints;
}

AxisView ViewAt(absl::Span<const int64_t> dims, int64_t axis) {
  return {Count(dims.subspan(0, axis)), dims[axis], Count(dims.subspan(axis + 1))};
}

// A product that overflows belongs to a tensor that has no elements for another axis of size 0.
int64_t Count(absl::Span<const int64_t> dims) { return CheckedProduct(dims).value_or(0); }

std::string DimsText(absl::Span<const int64_t> dims) {
  return StrCat("[", Shape::FromInts(dims).ToString(), "]");
}

}  // namespace x2ir
