// See lists.h.
#include "x2ir/handlers/tf/lists.h"

#include <memory>

#include "x2ir/builder/shapes.h"
#include "x2ir/ops/identities.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

constexpr int64_t kFew = 64;  // elements that are written out

// How many elements a sequence has, where the nodes that make it say so.
std::optional<int64_t> KnownLength(const Value* list) {
  constexpr int kMaxHops = 256;
  int64_t added = 0;
  for (int hops = 0; hops < kMaxHops; ++hops) {
    const Node* made = list->producer();
    if (!made) return std::nullopt;
    if (made->Is("sequence_empty")) return added;
    if (made->Is("sequence_construct")) return added + static_cast<int64_t>(made->num_inputs());
    if (made->Is("sequence_insert")) {
      ++added;
    } else if (made->Is("sequence_erase")) {
      --added;
    } else if (!made->Is("identity")) {
      return std::nullopt;
    }
    list = made->input(0);
  }
  return std::nullopt;
}

bool IsNeverEmpty(const Value* list) {
  const Node* made = WithoutIdentities(list)->producer();
  if (!made) return false;
  return made->Is("sequence_insert") || made->Is("sequence_construct") ||
         KnownLength(list).value_or(0) > 0;
}

// The sizes of all elements of a sequence, where they are known: of its type, or told.
std::optional<std::vector<int64_t>> SizesOf(const Value* list, const std::optional<Shape>& told) {
  const Shape* own = list->type().element().shape();
  if (const auto sizes = own ? own->Static() : std::nullopt) return sizes;
  return told ? told->Static() : std::nullopt;
}

// Those of an element that has no rows.
std::optional<std::vector<int64_t>> SizesWithoutRows(const Value* list,
                                                     const std::optional<Shape>& told) {
  const Shape* shape = told ? &*told : list->type().element().shape();
  if (!shape || shape->rank() == 0) return std::nullopt;
  std::vector<Dim> dims = shape->dims();
  dims[0] = Dim(0);
  return Shape(std::move(dims)).Static();
}

const Value* BeforeCasts(const Value* v) {
  while (v->producer() && (v->producer()->Is("cast") || v->producer()->Is("reshape"))) {
    v = v->producer()->input(0);
  }
  return v;
}

bool IsKnownAs(const Value* v, int64_t number) {
  const auto known = KnownInts(v);
  return known && known->size() == 1 && (*known)[0] == number;
}

// Whether indices are those of all elements in their order: 0, 1, ..., to what the length is.
bool AreOfAll(const Value* list, const Value* indices) {
  const bool stacked = list->type().is_tensor();
  if (const auto known = KnownInts(indices)) {
    for (size_t i = 0; i < known->size(); ++i) {
      if ((*known)[i] != static_cast<int64_t>(i)) return false;
    }
    const auto count = static_cast<int64_t>(known->size());
    return stacked ? DimAt(list, 0) == Dim(count) : KnownLength(list) == count;
  }
  const Node* range = BeforeCasts(indices)->producer();
  if (!range || !range->Is("range")) return false;
  if (!IsKnownAs(range->input(0), 0) || !IsKnownAs(range->input(2), 1)) return false;
  const Node* length = BeforeCasts(range->input(1))->producer();
  if (!length || length->num_inputs() == 0 || length->input(0) != list) return false;
  if (!stacked) return length->Is("sequence_length");
  return length->Is("shape") && length->attrs().Int("start") == 0 &&
         length->attrs().Int("end", 0) == 1;
}

}  // namespace

bool TfLists::IsStacked(Value* list) {
  if (list->type().kind() == Type::kSequence) return false;
  if (!list->type().is_tensor()) {
    a_.b().Fail(Unimplemented("how its list is made is not known"));
  } else if (list->shape() && list->shape()->rank() == 0) {
    a_.b().Fail(Invalid("it is given a scalar instead of a list"));
  }
  return true;
}

Value* TfLists::Zero(DType dtype) {
  if (dtype == DType::kUndefined) {
    a_.b().Fail(Unimplemented("elements of unknown type"));
    return a_.b().Int(0);
  }
  return a_.b().Constant(dtype == DType::kString ? Tensor::Strings({}, {""})
                                                 : Tensor::Zeros(dtype, {}));
}

Value* TfLists::OneSize(Value* v, int64_t axis) {
  return a_.Op("shape", {v}, {{"start", axis}, {"end", axis + 1}});
}

Value* TfLists::Count(Value* v) { return ReshapeTo(a_.AsInt64(v), Ints(a_, {1})); }

Value* TfLists::Empty(DType dtype) { return a_.Op("sequence_empty", {}, {{"dtype", Name(dtype)}}); }

Value* TfLists::New(Value* size, DType dtype, const std::optional<Shape>& element, bool grows) {
  if (dtype == DType::kUndefined) return size;  // an error already
  std::vector<int64_t> dims;
  bool known = element.has_value();
  if (element) {
    for (const Dim& dim : element->dims()) {
      known &= dim.is_static();
      dims.push_back(dim.is_static() ? dim.value() : 0);
    }
  } else {
    dims = {0};
  }
  Value* zero = Zero(dtype);
  Value* shape = a_.Op("concat", {Count(size), a_.b().Ints(dims)}, {{"axis", 0}});
  if (known && !grows) return a_.Op("expand", {zero, shape});
  const Tensor* count = size->fixed_constant();
  if (count && IsInteger(count->dtype()) && count->num_elements() == 1 && count->AsInt(0) <= kFew) {
    if (count->AsInt(0) <= 0) return Empty(dtype);
    Value* one = a_.Op("expand", {zero, a_.b().Ints(dims)});
    return a_.Op("sequence_construct",
                 std::vector<Value*>(static_cast<size_t>(count->AsInt(0)), one));
  }
  return a_.Op("split_to_sequence", {a_.Op("expand", {zero, shape})},
               {{"axis", 0}, {"keepdims", 0}});
}

Value* TfLists::Length(Value* list) {
  if (!IsStacked(list)) {
    const auto known = KnownLength(list);
    return known ? a_.b().Int(*known) : a_.Op("sequence_length", {list});
  }
  return ReshapeTo({a_, OneSize(list, 0)}, Ints(a_, {}));
}

Value* TfLists::Get(Value* list, Value* index) {
  if (!IsStacked(list)) return a_.Op("sequence_at", {list, Index(index)});
  return a_.Op("gather", {list, Index(index)}, {{"axis", 0}});
}

Value* TfLists::Set(Value* list, Value* index, Value* item, bool grows) {
  Value* at = Index(index);
  Value* first = a_.b().Ints({0});
  if (IsStacked(list)) {
    return a_.Op("scatter_nd",
                 {list, ReshapeTo({a_, at}, Ints(a_, {1, 1})), a_.Op("unsqueeze", {item, first})});
  }
  // The old element is then the one after the new one.
  const auto replaced = [&](Builder& b) {
    Value* behind = b.Op("add", {at, b.Int(1)});
    return b.Op("sequence_erase", {b.Op("sequence_insert", {list, item, at}), behind});
  };
  if (!grows) return replaced(a_.b());
  const auto known = KnownInts(at);
  if (const auto length = KnownLength(list); length && known && known->size() == 1) {
    if ((*known)[0] >= 0 && (*known)[0] < *length) return replaced(a_.b());
    if ((*known)[0] == *length) return Append(list, item);
  }
  std::shared_ptr<Graph> graphs[2];
  for (const bool inside : {false, true}) {
    graphs[inside] = std::make_shared<Graph>(inside ? "write" : "append");
    Builder b(*graphs[inside], nullptr);
    graphs[inside]->AddOutput(inside ? replaced(b) : b.Op("sequence_insert", {list, item, at}));
    if (!b.status().ok()) a_.b().Fail(b.status());
  }
  Value* cond = a_.Op("less", {at, Length(list)});
  return a_.Op("if", {cond}, {{"then_branch", graphs[1]}, {"else_branch", graphs[0]}});
}

Value* TfLists::Append(Value* list, Value* item) {
  if (!IsStacked(list)) return a_.Op("sequence_insert", {list, item});
  Value* row = a_.Op("unsqueeze", {item, a_.b().Ints({0})});
  return a_.Op("concat", {list, row}, {{"axis", 0}});
}

Values TfLists::Pop(Value* list) {
  Value* last = a_.b().Int(-1);
  if (!IsStacked(list)) {
    return {a_.Op("sequence_erase", {list, last}), a_.Op("sequence_at", {list, last})};
  }
  Value* rest = a_.Op("slice", {list, a_.b().Ints({0}), a_.b().Ints({-1}), a_.b().Ints({0})});
  return {rest, a_.Op("gather", {list, last}, {{"axis", 0}})};
}

Value* TfLists::Stack(Value* list, const std::optional<Shape>& element) {
  if (IsStacked(list)) return a_.Op("identity", {list});
  const AttributeMap stacked = {{"axis", 0}, {"new_axis", 1}};
  const auto sizes = SizesOf(list, element);
  if (!sizes || IsNeverEmpty(list)) return a_.Op("concat_from_sequence", {list}, stacked);
  // IR has no stack of nothing: one row more, which is then left out.
  Value* row = a_.Op("expand", {Zero(list->type().element().dtype()), a_.b().Ints(*sizes)});
  Value* more = a_.Op("concat_from_sequence", {a_.Op("sequence_insert", {list, row})}, stacked);
  return a_.Op("slice", {more, a_.b().Ints({0}), a_.b().Ints({-1}), a_.b().Ints({0})});
}

Value* TfLists::Gather(Value* list, Value* indices, const std::optional<Shape>& element) {
  if (AreOfAll(list, indices)) return Stack(list, element);
  return a_.Op("gather", {Stack(list, element), Index(indices)}, {{"axis", 0}});
}

Value* TfLists::ScatterNew(Value* size, Value* indices, Value* value) {
  Value* at = Index(indices);
  if (!size) {
    Value* most = a_.Op("concat", {a_.b().Ints({-1}), at}, {{"axis", 0}});
    most = a_.Op("reduce_max", {most}, {{"keepdims", 0}});
    size = a_.Op("add", {most, a_.b().Int(1)});
  }
  Value* rest = a_.Op("shape", {value}, {{"start", 1}});
  Value* shape = a_.Op("concat", {Count(size), rest}, {{"axis", 0}});
  Value* zeros = a_.Op("expand", {Zero(value->dtype()), shape});
  return a_.Op("scatter_nd", {zeros, a_.Op("unsqueeze", {at, a_.b().Ints({1})}), value});
}

Value* TfLists::Scatter(Value* list, Value* indices, Value* value, bool grows) {
  if (value->dtype() == DType::kUndefined) {
    a_.b().Fail(Unimplemented("the element type is not known"));
    return list;
  }
  if (IsStacked(list)) {
    Value* at = a_.Op("unsqueeze", {Index(indices), a_.b().Ints({1})});
    return a_.Op("scatter_nd", {list, at, value});
  }
  // All of a new list (see New) is written, or is zeros.
  const Node* made = list->producer();
  Value* size = nullptr;
  if (made && made->Is("sequence_construct")) {
    size = a_.b().Int(static_cast<int64_t>(made->num_inputs()));
  } else if (made && made->Is("split_to_sequence") && !made->input(1)) {
    size = ReshapeTo({a_, OneSize(made->input(0), 0)}, Ints(a_, {}));
  } else if (made && made->Is("sequence_empty")) {
    size = a_.b().Int(0);
  } else {
    a_.b().Fail(Unimplemented("slices for a list of unknown shape that is not new"));
    return list;
  }
  if (!grows) return ScatterNew(size, indices, value);
  Value* least = a_.Op("sub", {size, a_.b().Int(1)});
  Value* most = a_.Op("concat", {Count(least), Index(indices)}, {{"axis", 0}});
  most = a_.Op("reduce_max", {most}, {{"keepdims", 0}});
  return ScatterNew(a_.Op("add", {most, a_.b().Int(1)}), indices, value);
}

Values TfLists::Concat(Value* list, bool lengths, const std::optional<Shape>& element) {
  if (!IsStacked(list)) {
    const auto none = SizesWithoutRows(list, element);
    if (none && !lengths && !IsNeverEmpty(list)) {
      // IR has no concatenation of nothing: an element without rows more.
      Value* row = a_.Op("expand", {Zero(list->type().element().dtype()), a_.b().Ints(*none)});
      list = a_.Op("sequence_insert", {list, row});
    }
    const AttributeMap joined = {{"axis", 0}, {"new_axis", 0}};
    Value* rows = nullptr;
    if (lengths) {
      auto body = std::make_shared<Graph>("rows");
      Builder b(*body, nullptr);
      Value* element = body->AddInput("element", list->type().element());
      body->AddOutput(b.Op("shape", {element}, {{"start", 0}, {"end", 1}}));
      if (!b.status().ok()) a_.b().Fail(b.status());
      rows =
          a_.Op("concat_from_sequence", {a_.Op("sequence_map", {list}, {{"body", body}})}, joined);
    }
    return {a_.Op("concat_from_sequence", {list}, joined), rows};
  }
  Value* count = OneSize(list, 0);
  Value* rows = OneSize(list, 1);
  Value* rest = a_.Op("shape", {list}, {{"start", 2}});
  Value* shape = a_.Op("concat", {a_.Op("mul", {count, rows}), rest}, {{"axis", 0}});
  Value* joined = a_.Op("reshape", {list, shape}, {{"allowzero", 1}});
  return {joined, lengths ? a_.Op("expand", {rows, count}) : nullptr};
}

Value* TfLists::Split(Value* value, Value* lengths) {
  return a_.Op("split_to_sequence", {value, Index(lengths)}, {{"axis", 0}});
}

Value* TfLists::Joined(Value* first, Value* second) {
  if (IsStacked(first) && IsStacked(second)) {
    return a_.Op("concat", {first, second}, {{"axis", 0}});
  }
  if (IsStacked(first)) {
    a_.b().Fail(Unimplemented("lists of known and of unknown shape together"));
    return first;
  }
  if (IsStacked(second)) {
    second = a_.Op("split_to_sequence", {second}, {{"axis", 0}, {"keepdims", 0}});
  }
  return Repeated(first, Length(second), [second](Builder& b, Value* v) {
    return b.Op("sequence_insert", {v, b.Op("sequence_at", {second, b.graph().inputs()[0]})});
  });
}

Value* TfLists::Repeated(Value* list, Value* times,
                         const std::function<Value*(Builder&, Value*)>& step) {
  auto body = std::make_shared<Graph>("step");
  Builder b(*body, nullptr);
  body->AddInput("step", Type::Tensor(DType::kInt64, Shape()));
  Value* cond = body->AddInput("condition", Type::Tensor(DType::kBool, Shape()));
  Value* before = body->AddInput("list", list->type());
  body->AddOutput(b.Op("identity", {cond}));
  body->AddOutput(step(b, before));
  if (!b.status().ok()) a_.b().Fail(b.status());
  return a_.Op("loop", {times, nullptr, list}, {{"body", body}});
}

Value* TfLists::Resize(Value* list, Value* size) {
  if (!IsStacked(list)) {
    Value* less = a_.Op("sub", {Length(list), Index(size)});
    list = Repeated(list, less, [](Builder& b, Value* v) {
      return b.Op("sequence_erase", {v, b.Int(-1)});
    });
    const Type& element = list->type().element();
    std::vector<int64_t> dims = {0};  // as a new list has them
    if (element.shape()) {
      dims.clear();
      for (const Dim& dim : element.shape()->dims()) {
        dims.push_back(dim.is_static() ? dim.value() : 0);
      }
    }
    Value* none = a_.Op("expand", {Zero(element.dtype()), a_.b().Ints(dims)});
    return Repeated(list, a_.Op("neg", {less}), [none](Builder& b, Value* v) {
      return b.Op("sequence_insert", {v, none});
    });
  }
  Value* count = Count(size);
  Value* kept = a_.Op("slice", {list, a_.b().Ints({0}), count, a_.b().Ints({0})});
  Value* more = a_.Op("max", {a_.Op("sub", {count, OneSize(list, 0)}), a_.b().Ints({0})});
  Value* rest = a_.Op("shape", {list}, {{"start", 1}});
  Value* shape = a_.Op("concat", {more, rest}, {{"axis", 0}});
  return a_.Op("concat", {kept, a_.Op("expand", {Zero(list->dtype()), shape})}, {{"axis", 0}});
}

void ForgetTypesOfLists(Graph& graph) {
  const auto forget = [](Value* value) {
    if (value && value->type() == Type::Opaque("tf", "DT_VARIANT")) value->set_type(Type());
  };
  for (Value* input : graph.inputs()) forget(input);
  for (Node* node : graph.nodes()) {
    for (Value* output : node->outputs()) forget(output);
    for (Graph* inner : node->subgraphs()) ForgetTypesOfLists(*inner);
  }
}

}  // namespace x2ir
