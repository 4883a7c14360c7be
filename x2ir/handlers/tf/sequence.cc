// TensorFlow: sequences, which are written as TensorLists (written_lists.h).
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "x2ir/builder/nested.h"
#include "x2ir/builder/node_marks.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tf/written_lists.h"
#include "x2ir/optimizer/lowerings/sequences.h"

namespace x2ir {

static bool IsInt32(int64_t number) {
  using Limits = std::numeric_limits<int32_t>;
  return number >= Limits::min() && number <= Limits::max();
}

Value* TfElementSizes(Builder& b, const Type& element) {
  const Shape* shape = element.shape();
  if (!shape) return b.Scalar(DType::kInt32, -1);
  std::vector<int32_t> sizes;
  for (const Dim& dim : shape->dims()) {
    const bool fits = dim.is_static() && IsInt32(dim.value());
    sizes.push_back(fits ? static_cast<int32_t>(dim.value()) : -1);
  }
  return b.Constant(Tensor::Of<int32_t>({static_cast<int64_t>(sizes.size())}, sizes));
}

AttributeMap TfElementType(const Type& element) {
  return {{"element_dtype", Type::Tensor(element.dtype())}};
}

Value* TfListElement(Builder& b, Value* list, Value* place) {
  const Type& element = list->type().element();
  const auto known = KnownInts(place);
  const bool is_number = known && known->size() == 1 && IsInt32((*known)[0]);
  Value* at = is_number ? b.Scalar(DType::kInt32, static_cast<double>((*known)[0]))
                        : b.Op("cast", {place}, {{"to", Name(DType::kInt32)}});
  Value* item = b.Node("tf", "TensorListGetItem", {list, at, TfElementSizes(b, element)},
                       TfElementType(element), {true})[0];
  item->set_type(element);
  return item;
}

absl::Status CheckTfLists(TfWriter& w) {
  for (size_t i = 0; i < w.num_inputs(); ++i) {
    const Value* list = w.in(i);
    if (!list || list->type().kind() != Type::kSequence) continue;
    if (list->producer() && list->producer()->is_ir()) {
      return CannotExpress("a sequence that is not written");
    }
    if (!list->type().element().is_tensor() ||
        list->type().element().dtype() == DType::kUndefined) {
      return CannotExpress("a sequence of unknown element type");
    }
  }
  const Value* result = w.node().output(0);
  const bool is_list = result && !result->type().is_tensor();
  return is_list && IsSpelledOut(*result) ? CannotExpress("its elements are used one by one")
                                          : absl::OkStatus();
}

namespace {

// Operand 0, which is a list, and what is known of its elements.
absl::StatusOr<Type> ElementOf(TfWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckTfLists(w));
  if (w.in(0)->type().kind() != Type::kSequence) return CannotExpress("what is no sequence");
  return w.in(0)->type().element();
}

Value* EmptyTfList(TfWriter& w, const Type& sequence) {
  return w.Tf("EmptyTensorList", {w.Int32(-1), w.Int32(-1)}, TfElementType(sequence.element()),
              sequence);
}

Value* Pushed(TfWriter& w, Value* list, Value* element) {
  return w.Tf("TensorListPushBack", {list, element}, {}, Type::Sequence(element->type()));
}

Value* TfLength32(TfWriter& w, Value* list) {
  return w.Tf("TensorListLength", {list}, {}, Type::Tensor(DType::kInt32, Shape()));
}
Value* TfLength(TfWriter& w, Value* list) { return w.Cast(TfLength32(w, list), DType::kInt64); }

// Whether it is the number of the round in the body of a loop that was written (LoopAsWhile): from
// 0, and one more each time.
bool IsTfRound(const Value& v) {
  const Graph* graph = v.is_input() ? v.graph() : nullptr;
  const Node* loop = graph ? graph->parent_node() : nullptr;
  if (!loop || !loop->op().view().ends_with("While") || graph->inputs()[0] != &v) return false;
  const Node* next = graph->outputs()[0]->producer();
  const bool adds = next && (next->Is("add") || next->op().view() == "AddV2");
  return adds && next->input(0) == &v && KnownInts(next->input(1)) == std::vector<int64_t>{1} &&
         KnownInts(loop->input(0)) == std::vector<int64_t>{0};
}

// A position that may count from the end, counted from the front: int64, rank 0.
Value* FromTheFrontOf(TfWriter& w, Value* list, Value* position) {
  const auto known = KnownInts(position);
  if (known && known->size() == 1) {
    const int64_t at = (*known)[0];
    return at >= 0 ? w.b().Int(at) : w.Op("add", {TfLength(w, list), w.b().Int(at)});
  }
  if (IsTfRound(*position)) return position;
  if (IsMarked(w.node(), NodeMark::kFromTheFront) && position->shape() &&
      position->shape()->rank() == 0) {
    return w.Cast(position, DType::kInt64);
  }
  const bool scalar = position->shape() && position->shape()->rank() == 0;
  return w.FromTheFront(scalar ? position : w.Reshape(position, {}), TfLength(w, list));
}

// The list `into` and, at its end, elements [from, to) of another one; from null: 0.
absl::StatusOr<Value*> WithPart(TfWriter& w, Value* into, Value* list, Value* from, Value* to) {
  LoopBody body;
  Builder& b = body.b();
  Value* copied = body.Carry(into, "list", list->type());
  Value* at = from ? b.Op("add", {body.iteration(), from}) : body.iteration();
  Value* next = b.Op("sequence_insert", {copied, TfListElement(b, list, at)});
  Value* rounds = from ? w.Op("sub", {to, from}) : to;
  X2IR_ASSIGN_OR_RETURN(const Values all,
                        body.Loop(w.b(), rounds, nullptr, body.condition(), {next}));
  return all[0];
}

// A list of the same elements, each with one axis in another place.
absl::StatusOr<Value*> WithMovedAxis(TfWriter& w, Value* list, const Type& moved, int64_t from,
                                     int64_t to) {
  const Type sequence = Type::Sequence(moved);
  LoopBody body;
  Builder& b = body.b();
  Value* made = body.Carry(EmptyTfList(w, sequence), "list", sequence);
  const Expr element(b, TfListElement(b, list, body.iteration()));
  Value* next = b.Op("sequence_insert", {made, MoveAxis(element, from, to)});
  X2IR_ASSIGN_OR_RETURN(const Values all,
                        body.Loop(w.b(), TfLength(w, list), nullptr, body.condition(), {next}));
  return all[0];
}

absl::StatusOr<Value*> ToTfEmpty(TfWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckTfLists(w));
  return EmptyTfList(w, w.out_type());
}

absl::StatusOr<Value*> ToTfConstruct(TfWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckTfLists(w));
  const Type& element = w.out_type().element();
  if (element.dtype() == DType::kUndefined) return CannotExpress("elements of unknown type");
  // Tensors of one shape are one tensor, which Pack makes (fuse.h).
  if (w.num_inputs() > 1 && element.shape() && element.shape()->Static()) {
    std::vector<Value*> rows;
    for (size_t i = 0; i < w.num_inputs(); ++i) rows.push_back(Unsqueeze({w, w.in(i)}, {0}));
    return w.Tf("TensorListFromTensor", {Concat(w, std::move(rows), 0), w.Int32(-1)}, {});
  }
  Value* list = EmptyTfList(w, w.out_type());
  for (size_t i = 0; i < w.num_inputs(); ++i) list = Pushed(w, list, w.in(i));
  return list;
}

absl::StatusOr<Value*> ToTfInsert(TfWriter& w) {
  X2IR_RETURN_IF_ERROR(ElementOf(w).status());
  if (!w.has(2)) return Pushed(w, w.in(0), w.in(1));
  Value* at = FromTheFrontOf(w, w.in(0), w.in(2));
  X2IR_ASSIGN_OR_RETURN(Value * list,
                        WithPart(w, EmptyTfList(w, w.out_type()), w.in(0), nullptr, at));
  return WithPart(w, Pushed(w, list, w.in(1)), w.in(0), at, TfLength(w, w.in(0)));
}

absl::StatusOr<Value*> ToTfErase(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const Type element, ElementOf(w));
  const auto known = w.has(1) ? KnownInts(w.in(1)) : std::vector<int64_t>{-1};
  if (known == std::vector<int64_t>{-1}) {
    return w.TfAll("TensorListPopBack", {w.in(0), TfElementSizes(w, element)},
                   TfElementType(element), {true, false})[0];
  }
  Value* at = FromTheFrontOf(w, w.in(0), w.in(1));
  X2IR_ASSIGN_OR_RETURN(Value * list,
                        WithPart(w, EmptyTfList(w, w.out_type()), w.in(0), nullptr, at));
  return WithPart(w, list, w.in(0), w.Op("add", {at, w.b().Int(1)}), TfLength(w, w.in(0)));
}

absl::StatusOr<Value*> ToTfElement(TfWriter& w) {
  X2IR_RETURN_IF_ERROR(ElementOf(w).status());
  return TfListElement(w, w.in(0), FromTheFrontOf(w, w.in(0), w.in(1)));
}

absl::StatusOr<Value*> ToTfListLength(TfWriter& w) {
  X2IR_RETURN_IF_ERROR(ElementOf(w).status());
  return TfLength(w, w.in(0));
}

// Elements of any sizes along the first axis.
Value* JoinedRows(TfWriter& w, Value* list, const Type& element) {
  Type rows = element;
  if (const Shape* shape = element.shape(); shape && shape->rank() > 0) {
    std::vector<Dim> dims = shape->dims();
    dims[0] = Dim();
    rows.set_shape(Shape(std::move(dims)));
  }
  return w.TfAll("TensorListConcatV2", {list, TfElementSizes(w, rows), w.Ints({})},
                 TfElementType(element), {true, false}, {rows})[0];
}

absl::StatusOr<Value*> ToTfConcatList(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const Type element, ElementOf(w));
  const bool new_axis = w.Int("new_axis") != 0;
  int64_t axis = w.Int("axis");
  if (axis != 0) {
    if (!element.shape()) {
      return CannotExpress("an axis that is not the first one, of elements of unknown rank");
    }
    X2IR_ASSIGN_OR_RETURN(axis, NormalizeAxis(axis, element.shape()->rank() + new_axis));
  }
  if (new_axis) {
    AttributeMap attrs = TfElementType(element);
    attrs.Set("num_elements", int64_t{-1});
    std::optional<Shape> shape;
    if (element.shape()) {
      std::vector<Dim> dims = element.shape()->dims();
      dims.insert(dims.begin(), Dim());
      shape = Shape(std::move(dims));
    }
    Value* stacked = w.Tf("TensorListStack", {w.in(0), TfElementSizes(w, element)},
                          std::move(attrs), Type::Tensor(element.dtype(), std::move(shape)));
    return axis == 0 ? stacked : MoveAxis({w, stacked}, 0, axis).value();
  }
  if (axis == 0) return JoinedRows(w, w.in(0), element);
  std::vector<Dim> dims = element.shape()->dims();
  std::rotate(dims.begin(), dims.begin() + axis, dims.begin() + axis + 1);
  const Type moved = Type::Tensor(element.dtype(), Shape(std::move(dims)));
  X2IR_ASSIGN_OR_RETURN(Value * list, WithMovedAxis(w, w.in(0), moved, axis, 0));
  return MoveAxis({w, JoinedRows(w, list, moved)}, 0, axis).value();
}

// How many rows each part has, int64: all `size` of them, the last one perhaps fewer.
Value* LengthsOf(TfWriter& w, Value* count, Value* size) {
  const auto counts = KnownInts(count), sizes = KnownInts(size);
  constexpr int64_t kFewParts = 1024;
  if (counts && sizes && (*sizes)[0] > 0 && (*counts)[0] / (*sizes)[0] <= kFewParts) {
    std::vector<int64_t> lengths;
    for (int64_t at = 0; at < (*counts)[0]; at += (*sizes)[0]) {
      lengths.push_back(std::min((*sizes)[0], (*counts)[0] - at));
    }
    return w.Ints(lengths);
  }
  Value* starts = w.Op("range", {w.b().Int(0), count, size});
  return w.Op("min", {size, w.Op("sub", {count, starts})});
}

absl::StatusOr<Value*> ToTfSplitToList(TfWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckTfLists(w));
  const Type& element = w.out_type().element();
  int64_t axis = w.Int("axis");
  if (axis != 0) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    X2IR_ASSIGN_OR_RETURN(axis, NormalizeAxis(axis, rank));
  }
  const Expr x(w, w.in(0));
  Expr rows = axis == 0 ? x : MoveAxis(x, axis, 0);
  if (!w.has(1)) {
    if (w.Int("keepdims") != 0) rows = Unsqueeze(rows, {axis + 1});
    return w.Tf("TensorListFromTensor", {rows, w.Int32(-1)}, {});
  }
  const Shape* given = w.shape(1);
  if (!given) return CannotExpress("sizes of unknown rank");
  Value* lengths = w.Cast(w.in(1), DType::kInt64);
  if (given->rank() == 0) lengths = LengthsOf(w, SizeOf(x, axis), lengths);
  if (axis == 0) return w.Tf("TensorListSplit", {rows, w.Int32(-1), lengths}, {});
  std::vector<Dim> dims = x->shape()->dims();
  dims[static_cast<size_t>(axis)] = Dim();
  std::rotate(dims.begin(), dims.begin() + axis, dims.begin() + axis + 1);
  Value* list = w.Tf("TensorListSplit", {rows, w.Int32(-1), lengths}, {},
                     Type::Sequence(Type::Tensor(x.dtype(), Shape(std::move(dims)))));
  return WithMovedAxis(w, list, element, 0, axis);
}

}  // namespace

X2IR_TF(concat_from_sequence).To("TensorListConcatV2", ToTfConcatList);
X2IR_TF(sequence_at).To("TensorListGetItem", ToTfElement);
X2IR_TF(sequence_construct).To("EmptyTensorList", ToTfConstruct);
X2IR_TF(sequence_empty).To("EmptyTensorList", ToTfEmpty);
X2IR_TF(sequence_erase).To("TensorListPopBack", ToTfErase);
X2IR_TF(sequence_insert).To("TensorListPushBack", ToTfInsert);
X2IR_TF(sequence_length).To("TensorListLength", ToTfListLength);
X2IR_TF(split_to_sequence).To("TensorListSplit", ToTfSplitToList);

}  // namespace x2ir
