// Sequences: lists of tensors of one element type, each of its own shape.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/subgraph_util.h"

namespace x2ir {
namespace {

// The type of a sequence's elements, unknown where the operand's is.
absl::StatusOr<Type> ElementType(const InferContext& ctx, size_t i) {
  const Type& type = ctx.type(i);
  if (!type.is_known()) return Type();
  if (type.kind() == Type::kSequence) return type.element();
  return Invalid("operand ", i, " is ", type.ToString(), "; expected a sequence");
}

absl::Status ExpectTensor(const InferContext& ctx, size_t i) {
  if (!ctx.has(i)) return Invalid("operand ", i, " is left out");
  if (!ctx.type(i).is_known() || ctx.type(i).is_tensor()) return absl::OkStatus();
  return Invalid("operand ", i, " is ", ctx.type(i).ToString(), "; expected a tensor");
}

absl::StatusOr<const DatumSequence*> Sequence(const EvalContext& ctx, size_t i) {
  if (const DatumSequence* sequence = ctx.datum(i).sequence()) return sequence;
  return Invalid("operand ", i, " is no sequence");
}

absl::StatusOr<const Tensor*> TensorOf(const EvalContext& ctx, size_t i) {
  if (const Tensor* tensor = ctx.datum(i).tensor()) return tensor;
  return Invalid("operand ", i, " is no tensor");
}

// All tensors of a sequence; InvalidArgument where it holds anything else.
absl::StatusOr<std::vector<Tensor>> Tensors(const DatumSequence& sequence) {
  std::vector<Tensor> tensors;
  for (const Datum& datum : sequence) {
    if (!datum.tensor()) return Invalid("the sequence holds something else than tensors");
    X2IR_ASSIGN_OR_RETURN(Tensor dense, datum.tensor()->ToDense());
    tensors.push_back(std::move(dense));
  }
  return tensors;
}

// --- sequence_empty, sequence_construct -----------------------------------------------------

absl::Status InferEmpty(InferContext& ctx) {
  const std::optional<DType> dtype = ParseDType(ctx.attrs().String("dtype"));
  if (!dtype) return Invalid("there is no element type '", ctx.attrs().String("dtype"), "'");
  return ctx.Return(Type::Sequence(Type::Tensor(*dtype)));
}

absl::Status EvalEmpty(EvalContext& ctx) { return ctx.Return(DatumSequence()); }

X2IR_OP(sequence_empty)
    .Signature(" -> output")
    .Attrs("dtype = 'float32'")
    .Functions(InferEmpty, EvalEmpty)
    .Opaque()
    .Doc("A sequence without elements, whose tensors would be of dtype.")
    .AllowsFloat16();

absl::Status InferConstruct(InferContext& ctx) {
  Type element;
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    X2IR_RETURN_IF_ERROR(ExpectTensor(ctx, i));
    if (i == 0) element = ctx.type(i);
    X2IR_ASSIGN_OR_RETURN(element, JoinTypes(element, ctx.type(i)));
  }
  return ctx.Return(Type::Sequence(std::move(element)));
}

absl::Status EvalConstruct(EvalContext& ctx) {
  DatumSequence sequence;
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    X2IR_ASSIGN_OR_RETURN(const Tensor* tensor, TensorOf(ctx, i));
    if (tensor->dtype() != ctx.dtype(0)) {
      return Invalid("operand ", i, " is of ", Name(tensor->dtype()), "; expected ",
                     Name(ctx.dtype(0)));
    }
    sequence.push_back(ctx.datum(i));
  }
  return ctx.Return(std::move(sequence));
}

X2IR_OP(sequence_construct)
    .Signature("inputs+ -> output_sequence")
    .Functions(InferConstruct, EvalConstruct)
    .Opaque()
    .Doc("The sequence of the operands, which are of one element type.")
    .AllowsFloat16();

// --- sequence_at, sequence_insert, sequence_erase, sequence_length --------------------------

absl::Status InferAt(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(Type element, ElementType(ctx, 0));
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "position"));
  return ctx.Return(std::move(element));
}

// A position in [-size, size) or, `inclusive`, [-size, size], made non-negative.
absl::StatusOr<int64_t> Position(const EvalContext& ctx, size_t i, size_t size, bool inclusive) {
  X2IR_ASSIGN_OR_RETURN(const int64_t position, IntOperand(ctx, i, "position"));
  const int64_t n = static_cast<int64_t>(size);
  if (position < -n || position > (inclusive ? n : n - 1)) {
    return Invalid("position ", position, " is out of range for a sequence of ", n);
  }
  return position < 0 ? position + n : position;
}

absl::Status EvalAt(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DatumSequence* sequence, Sequence(ctx, 0));
  X2IR_ASSIGN_OR_RETURN(const int64_t at, Position(ctx, 1, sequence->size(), false));
  return ctx.Return((*sequence)[at]);
}

X2IR_OP(sequence_at)
    .Signature("input_sequence, position -> tensor")
    .AnyKind()
    .Functions(InferAt, EvalAt)
    .Opaque()
    .Doc("The element at a position, which may count from the end.")
    .AllowsFloat16();

absl::Status InferInsert(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(Type element, ElementType(ctx, 0));
  X2IR_RETURN_IF_ERROR(ExpectTensor(ctx, 1));
  if (ctx.has(2)) X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 2, "position"));
  X2IR_ASSIGN_OR_RETURN(element, JoinTypes(element, ctx.type(1)));
  return ctx.Return(Type::Sequence(std::move(element)));
}

absl::Status EvalInsert(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DatumSequence* sequence, Sequence(ctx, 0));
  X2IR_ASSIGN_OR_RETURN(const Tensor* tensor, TensorOf(ctx, 1));
  if (!sequence->empty() && (*sequence)[0].tensor() &&
      (*sequence)[0].tensor()->dtype() != tensor->dtype()) {
    return Invalid("the sequence is of ", Name((*sequence)[0].tensor()->dtype()),
                   "; the new element of ", Name(tensor->dtype()));
  }
  int64_t at = static_cast<int64_t>(sequence->size());
  if (ctx.has(2)) {
    X2IR_ASSIGN_OR_RETURN(at, Position(ctx, 2, sequence->size(), true));
  }
  DatumSequence result = *sequence;
  result.insert(result.begin() + at, ctx.datum(1));
  return ctx.Return(std::move(result));
}

X2IR_OP(sequence_insert)
    .Signature("input_sequence, tensor, position? -> output_sequence")
    .AnyKind()
    .Functions(InferInsert, EvalInsert)
    .Opaque()
    .Doc("The sequence with a tensor before a position; at the end without one.")
    .AllowsFloat16();

absl::Status InferErase(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ElementType(ctx, 0).status());
  if (ctx.has(1)) X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "position"));
  return ctx.Return(ctx.type(0));
}

absl::Status EvalErase(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DatumSequence* sequence, Sequence(ctx, 0));
  if (sequence->empty()) return Invalid("an empty sequence has no element to erase");
  int64_t at = static_cast<int64_t>(sequence->size()) - 1;
  if (ctx.has(1)) {
    X2IR_ASSIGN_OR_RETURN(at, Position(ctx, 1, sequence->size(), false));
  }
  DatumSequence result = *sequence;
  result.erase(result.begin() + at);
  return ctx.Return(std::move(result));
}

X2IR_OP(sequence_erase)
    .Signature("input_sequence, position? -> output_sequence")
    .AnyKind()
    .Functions(InferErase, EvalErase)
    .Opaque()
    .Doc("The sequence without the element at a position; without its last one by default.")
    .AllowsFloat16();

absl::Status InferLength(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ElementType(ctx, 0).status());
  return ctx.Return(DType::kInt64, Shape());
}

absl::Status EvalLength(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DatumSequence* sequence, Sequence(ctx, 0));
  return ctx.Return(Tensor::Scalar<int64_t>(static_cast<int64_t>(sequence->size())));
}

X2IR_OP(sequence_length)
    .Signature("input_sequence -> length")
    .AnyKind()
    .Functions(InferLength, EvalLength)
    .Opaque()
    .Doc("How many elements a sequence has, int64.")
    .AllowsFloat16();

// --- concat_from_sequence -------------------------------------------------------------------

absl::Status InferConcatFrom(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Type element, ElementType(ctx, 0));
  const int64_t new_axis = ctx.attrs().Int("new_axis");
  if (new_axis != 0 && new_axis != 1) return Invalid("new_axis: expected 0 or 1, got ", new_axis);
  ctx.Set(0, element.is_tensor() ? element.dtype() : DType::kUndefined);
  if (!element.shape()) return absl::OkStatus();
  std::vector<Dim> dims = element.shape()->dims();
  const int64_t rank = element.shape()->rank() + new_axis;
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), rank));
  if (new_axis == 1) dims.insert(dims.begin() + axis, Dim());
  dims[axis] = Dim();
  return ctx.Return(element.dtype(), Shape(std::move(dims)));
}

absl::Status EvalConcatFrom(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DatumSequence* sequence, Sequence(ctx, 0));
  if (sequence->empty()) return Invalid("an empty sequence cannot be concatenated");
  X2IR_ASSIGN_OR_RETURN(std::vector<Tensor> parts, Tensors(*sequence));
  if (ctx.attrs().Int("new_axis") != 0) {
    X2IR_ASSIGN_OR_RETURN(Tensor stacked, Stack(parts, ctx.attrs().Int("axis"), false, Type()));
    return ctx.Return(std::move(stacked));
  }
  // As concat does.
  Graph graph;
  Node* concat = graph.AppendNode(kIrDialect, "concat", {});
  DatumSequence operands = *sequence;
  for (size_t i = 0; i < operands.size(); ++i) {
    concat->AddInput(graph.AddInput(StrCat("x", i), Type()));
  }
  concat->SetAttr("axis", ctx.attrs().Int("axis"));
  graph.AddNodeOutput(concat, "y");
  X2IR_ASSIGN_OR_RETURN(std::vector<Datum> result, EvalNode(*concat, std::move(operands), nullptr));
  return ctx.Return(std::move(result[0]));
}

X2IR_OP(concat_from_sequence)
    .Signature("input_sequence -> concat_result")
    .Attrs("axis: int, new_axis = 0")
    .AnyKind()
    .Functions(InferConcatFrom, EvalConcatFrom)
    .Opaque()
    .Doc("The elements one after the other along an axis, with new_axis along a new one.")
    .AllowsFloat16();

// --- split_to_sequence ----------------------------------------------------------------------

absl::Status InferSplitTo(InferContext& ctx) {
  if (ctx.has(1)) X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "split"));
  const Shape* in = ctx.shape(0);
  if (!in) {
    return ctx.Return(Type::Sequence(Type::Tensor(ctx.dtype(0))));
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), in->rank()));
  std::vector<Dim> dims = in->dims();
  const auto sizes = ctx.has(1) ? ctx.ConstInts(1) : std::nullopt;
  if (!ctx.has(1)) {
    dims[axis] = 1;
    if (ctx.attrs().Int("keepdims") == 0) dims.erase(dims.begin() + axis);
  } else if (sizes && !sizes->empty() && ctx.rank(1) == 1 &&
             std::all_of(sizes->begin(), sizes->end(),
                         [&](int64_t size) { return size == (*sizes)[0] && size >= 0; })) {
    dims[axis] = (*sizes)[0];
  } else if (sizes && ctx.rank(1) == 0 && dims[axis].is_static() && (*sizes)[0] > 0 &&
             dims[axis].value() % (*sizes)[0] == 0) {
    dims[axis] = (*sizes)[0];
  } else {
    dims[axis] = Dim();
  }
  return ctx.Return(Type::Sequence(Type::Tensor(ctx.dtype(0), Shape(std::move(dims)))));
}

absl::Status EvalSplitTo(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), in.rank()));
  const int64_t size = in.dim(axis);
  std::vector<int64_t> parts;
  if (ctx.has(1) && ctx.input(1).rank() == 1) {
    X2IR_ASSIGN_OR_RETURN(parts, IntsOperand(ctx, 1, "split"));
    int64_t left = size;
    for (const int64_t part : parts) {
      if (part < 0 || part > left) return Invalid("split: the sizes do not add up to ", size);
      left -= part;
    }
    if (left != 0) return Invalid("split: the sizes do not add up to ", size);
  } else {
    int64_t part = 1;
    if (ctx.has(1)) {
      X2IR_ASSIGN_OR_RETURN(part, IntOperand(ctx, 1, "split"));
      if (part < 1) return Invalid("split: expected a positive size, got ", part);
    }
    // A tensor without elements may have any size: [2^60, 0].
    constexpr int64_t kMaxParts = int64_t{1} << 24;
    if (size / part > kMaxParts) return Invalid("split: too many parts of a size of ", size);
    for (int64_t at = 0; at < size; at += part) parts.push_back(std::min(part, size - at));
  }
  const bool squeeze = !ctx.has(1) && ctx.attrs().Int("keepdims") == 0;
  const std::vector<int64_t> strides = Strides(in.dims());
  DatumSequence sequence;
  int64_t offset = 0;
  for (const int64_t part : parts) {
    std::vector<int64_t> dims = in.dims();
    dims[axis] = part;
    Tensor tensor = StridedCopy(in, dims, strides, offset);
    dims.erase(dims.begin() + axis);
    sequence.emplace_back(squeeze ? tensor.Reshaped(std::move(dims)) : std::move(tensor));
    offset += part * strides[axis];
  }
  return ctx.Return(std::move(sequence));
}

X2IR_OP(split_to_sequence)
    .Signature("input, split? -> output_sequence")
    .Attrs("axis = 0, keepdims = 1")
    .Functions(InferSplitTo, EvalSplitTo)
    .Opaque()
    .Doc(
        "Parts of a tensor along an axis: of the sizes in split, or all of its one size but for "
        "the last; without split of size 1, and without that axis unless keepdims.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
