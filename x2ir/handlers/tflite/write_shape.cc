// TFLite: shapes, order of axes, parts and wholes, written. Sizes, axes and bounds are int32 there.
#include <algorithm>
#include <limits>
#include <numeric>

#include "x2ir/builder/write_forms.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/handlers/tflite/prepare.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Sizes for RESHAPE where all but one are known: that one is what is left.
Value* SizesOf(TfliteWriter& w, const Type& result) {
  const Shape* shape = result.shape();
  if (!shape) return nullptr;
  std::vector<int64_t> sizes;
  int unknown = 0;
  bool zero = false;
  for (int64_t i = 0; i < shape->rank(); ++i) {
    const Dim& dim = (*shape)[i];
    sizes.push_back(dim.is_static() ? dim.value() : -1);
    unknown += !dim.is_static();
    zero |= dim.is_static() && dim.value() == 0;
  }
  return unknown == 0 || (unknown == 1 && !zero) ? w.Int32s(sizes) : nullptr;
}

// The node as a RESHAPE, by the shape of its result or by one that is computed.
Value* Reshaped(TfliteWriter& w, Value* shape) {
  return w.Tflite("RESHAPE", {w.in(0), w.Cast(shape, DType::kInt32)});
}

// A size of 0 stands for the operand's, unless it is allowed.
absl::StatusOr<Value*> ToLiteReshape(TfliteWriter& w) {
  if (Value* sizes = SizesOf(w, w.out_type())) return w.Tflite("RESHAPE", {w.in(0), sizes});
  Value* shape = w.in(1);
  if (w.Int("allowzero") != 0) return Reshaped(w, shape);
  const auto known = KnownInts(shape);
  const std::vector<Dim>* parts = shape->elements();
  bool zero = !known && !parts;
  if (known) zero = std::count(known->begin(), known->end(), 0) != 0;
  for (size_t i = 0; parts && i < parts->size(); ++i) {
    zero |= !(*parts)[i].is_static() || (*parts)[i].value() == 0;
  }
  if (!zero) return Reshaped(w, shape);
  if (!known && !parts) return CannotExpress("sizes that may be 0");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const auto count = static_cast<int64_t>(known ? known->size() : parts->size());
  Value* own = w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", std::min(rank, count)}});
  if (count > rank) {
    const std::vector<int64_t> rest(static_cast<size_t>(count - rank), 0);
    own = w.Op("concat", {own, w.Ints(rest)}, {{"axis", 0}});
  }
  Value* wide = w.Cast(shape, DType::kInt64);
  return Reshaped(w, w.Op("where", {w.Op("equal", {wide, w.b().Int(0)}), own, wide}));
}

absl::StatusOr<Value*> ToLiteIdentity(TfliteWriter& w) {
  if (!w.out_type().is_tensor()) return CannotExpress("what is no tensor");
  if (Value* sizes = SizesOf(w, w.out_type())) return w.Tflite("RESHAPE", {w.in(0), sizes});
  return Reshaped(w, w.Op("shape", {w.in(0)}));
}

absl::StatusOr<Value*> ToLiteFlatten(TfliteWriter& w) {
  if (Value* sizes = SizesOf(w, w.out_type())) return w.Tflite("RESHAPE", {w.in(0), sizes});
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t axis = w.Int("axis") < 0 ? w.Int("axis") + rank : w.Int("axis");
  const auto side = [&](int64_t from, int64_t to) {
    Value* sizes = w.Op("shape", {w.in(0)}, {{"start", from}, {"end", to}});
    return w.Op("reduce_prod", {sizes, w.Ints({0})}, {{"keepdims", 1}});
  };
  return Reshaped(w, w.Op("concat", {side(0, axis), side(axis, rank)}, {{"axis", 0}}));
}

absl::StatusOr<Value*> ToLiteTranspose(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  std::vector<int64_t> backwards(static_cast<size_t>(rank));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const std::vector<int64_t> perm = w.attrs().Ints("perm", backwards);
  if (std::is_sorted(perm.begin(), perm.end())) return w.Op("identity", {w.in(0)});
  return w.Tflite("TRANSPOSE", {w.in(0), w.Int32s(perm)});
}

absl::StatusOr<Value*> ToLiteSqueeze(TfliteWriter& w) {
  if (Value* sizes = SizesOf(w, w.out_type())) return w.Tflite("RESHAPE", {w.in(0), sizes});
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  // No axes are all of size 1.
  if (axes && axes->empty()) return w.Op("identity", {w.in(0)});
  return w.Tflite("SQUEEZE", {w.in(0)}, {{"squeeze_dims", axes.value_or(std::vector<int64_t>())}});
}

// One axis at a time.
absl::StatusOr<Value*> ToLiteUnsqueeze(TfliteWriter& w) {
  if (Value* sizes = SizesOf(w, w.out_type())) return w.Tflite("RESHAPE", {w.in(0), sizes});
  X2IR_ASSIGN_OR_RETURN(const auto rest, w.UnsqueezedButLast());
  if (!rest.axis) return w.Op("identity", {rest.x});
  return w.Tflite("EXPAND_DIMS", {rest.x, w.Int32(*rest.axis)});
}

// --- Repeating ----------------------------------------------------------------------------------

Value* Known32(TfliteWriter& w, Value* ints) {
  const auto known = KnownInts(ints);
  return known ? w.Int32s(*known) : w.Cast(ints, DType::kInt32);
}

absl::StatusOr<Value*> ToLiteExpand(TfliteWriter& w) {
  const Shape* out = w.out_type().shape();
  if (const auto dims = out ? out->Static() : std::nullopt) {
    if (w.shape() && w.shape()->Static() == dims) return w.Op("identity", {w.in(0)});
    return w.Tflite("BROADCAST_TO", {w.in(0), w.Int32s(*dims)});
  }
  const Shape* of_sizes = w.shape(1);
  if (!out || !w.shape() || !of_sizes || of_sizes->rank() != 1 || !(*of_sizes)[0].is_static()) {
    return CannotExpress("a result of unknown rank");
  }
  Value* own = w.Cast(w.Op("shape", {w.in(0)}), DType::kInt32);
  const int64_t rank = out->rank();
  Value* both = w.Tflite("BROADCAST_ARGS", {own, Known32(w, w.in(1))}, {},
                         Type::Tensor(DType::kInt32, Shape({Dim(rank)})));
  return w.Tflite("BROADCAST_TO", {w.in(0), both});
}

Value* ToLiteTile(TfliteWriter& w) { return w.Tflite("TILE", {w.in(0), Known32(w, w.in(1))}); }

// --- Parts and wholes ---------------------------------------------------------------------------

absl::StatusOr<Value*> ToLiteConcat(TfliteWriter& w) {
  if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  return w.Tflite("CONCATENATION", w.node().inputs(), {{"axis", axis}});
}

absl::StatusOr<Values> ToLiteSplit(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (axis >= rank) return Invalid("there is no axis ", axis);
  const Shape* in = w.shape();
  const auto count = static_cast<int64_t>(w.node().num_outputs());
  std::vector<int64_t> parts;
  if (w.has(1)) {
    X2IR_ASSIGN_OR_RETURN(const auto known, w.KnownInts(1, "sizes"));
    parts = *known;
  } else {
    if (!(*in)[axis].is_static()) return CannotExpress("parts of unknown sizes");
    const int64_t size = (*in)[axis].value(), each = (size + count - 1) / count;
    for (int64_t i = 0; i < count; ++i) parts.push_back(std::min(each, size - i * each));
  }
  if (static_cast<int64_t>(parts.size()) != count || count == 0) return Invalid("its parts");
  if (std::any_of(parts.begin(), parts.end(), [](int64_t n) { return n < 1; })) {
    return CannotExpress("parts of nothing");
  }
  // The kernels make every part.
  std::vector<Type> types;
  for (int64_t i = 0; i < count; ++i) {
    Shape shape = *in;
    shape[axis] = Dim(parts[static_cast<size_t>(i)]);
    types.push_back(Type::Tensor(w.dtype(), std::move(shape)));
  }
  const std::vector<bool> all(static_cast<size_t>(count), true);
  const bool equal = std::count(parts.begin(), parts.end(), parts[0]) == count;
  Values made =
      equal ? w.TfliteAll("SPLIT", {w.Int32(axis), w.in(0)}, {{"num_splits", count}}, all, types)
            : w.TfliteAll("SPLIT_V", {w.in(0), w.Int32s(parts), w.Int32(axis)},
                          {{"num_splits", count}}, all, types);
  for (int64_t i = 0; i < count; ++i) {
    if (!w.wants(static_cast<size_t>(i))) made[static_cast<size_t>(i)] = nullptr;
  }
  return made;
}

// Whether a slice is all of one axis, the last element first.
std::optional<int64_t> ReversedAxis(const TfliteWriter& w, int64_t rank) {
  const auto only = [&](size_t i) {
    const auto known = w.has(i) ? KnownInts(w.in(i)) : std::nullopt;
    return known && known->size() == 1 ? std::optional((*known)[0]) : std::nullopt;
  };
  const auto start = only(1), end = only(2), axis = only(3), step = only(4);
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max();
  if (step != -1 || !axis || !start || !end || *end > -kFar) return std::nullopt;
  if (*start != -1 && *start < kFar) return std::nullopt;
  return *axis < 0 ? *axis + rank : *axis;
}

absl::StatusOr<Value*> ToLiteSlice(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank == 0) return w.Op("identity", {w.in(0)});
  if (const auto axis = ReversedAxis(w, rank); axis && BitWidth(w.dtype()) >= 8) {
    return w.Tflite("REVERSE_V2", {w.in(0), w.Int32s({*axis})});
  }
  X2IR_ASSIGN_OR_RETURN(const StridedBounds bounds, StridedBoundsOf(w));
  return w.Tflite("STRIDED_SLICE", {w.in(0), bounds.begin, bounds.end, bounds.strides},
                  {{"begin_mask", bounds.begin_mask}, {"end_mask", bounds.end_mask}});
}

// A row an axis: what is before it, and behind it.
absl::StatusOr<Value*> ToLitePad(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto pads, w.KnownInts(1, "pads"));
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(3, "axes"));
  const std::string& mode = w.String("mode");
  if (mode != "constant" && mode != "reflect") return CannotExpress("mode ", mode);
  if (AnyNegative(*pads)) return CannotExpress("negative pads");
  const std::vector<int64_t> rows = PadPairs(*pads, given, rank);
  for (size_t i = 0; mode == "reflect" && i < rows.size(); ++i) {
    const Dim& size = (*w.shape())[static_cast<int64_t>(i / 2)];
    if (size.is_static() && rows[i] >= std::max<int64_t>(1, size.value())) {
      return CannotExpress("a reflection of more elements than there are");
    }
  }
  const std::vector<int32_t> numbers(rows.begin(), rows.end());
  Value* table = w.b().Constant(Tensor::Of<int32_t>({rank, 2}, numbers));
  if (mode == "reflect") return w.Tflite("MIRROR_PAD", {w.in(0), table}, {{"mode", "REFLECT"}});
  const auto known = w.has(2) ? KnownTensor(*w.in(2)) : std::nullopt;
  if (!w.has(2) || (known && IsFloating(known->dtype()) && known->AsDouble(0) == 0)) {
    return w.Tflite("PAD", {w.in(0), table});
  }
  Value* value = w.in(2);
  if (!value->shape() || value->shape()->rank() != 0) value = w.Reshape(value, {});
  return w.Tflite("PADV2", {w.in(0), table, value});
}

// --- Sizes --------------------------------------------------------------------------------------

absl::StatusOr<Value*> ToLiteShape(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const auto bound = [&](int64_t i) { return std::clamp(i < 0 ? i + rank : i, int64_t{0}, rank); };
  const int64_t from = bound(w.Int("start")), to = bound(w.attrs().Int("end", rank));
  std::vector<int64_t> known;
  for (int64_t i = from; i < to && (*w.shape())[i].is_static(); ++i) {
    known.push_back((*w.shape())[i].value());
  }
  if (static_cast<int64_t>(known.size()) == std::max<int64_t>(0, to - from) &&
      !w.node().output(0)->is_graph_output()) {
    return w.Ints(known);
  }
  const Type whole = Type::Tensor(DType::kInt64, Shape({Dim(rank)}));
  Value* all = w.Tflite("SHAPE", {w.in(0)}, {{"out_type", "INT64"}}, whole);
  if (from == 0 && to == rank) return all;
  return w.Op("slice", {all, w.Ints({from}), w.Ints({std::max(from, to)}), w.Ints({0})});
}

Value* ToLiteSize(TfliteWriter& w) {
  return w.Op("reduce_prod", {w.Op("shape", {w.in(0)}), w.Ints({0})}, {{"keepdims", 0}});
}

absl::StatusOr<Value*> ToLiteFill(TfliteWriter& w) {
  const Attribute* value = w.attrs().Find("value");
  const Tensor* tensor = value ? value->get<Tensor>() : nullptr;
  if (!tensor) return CannotExpress("no value");
  return w.Tflite("FILL", {Known32(w, w.in(0)), w.b().Constant(tensor->Reshaped({}))});
}

Value* ToLiteRange(TfliteWriter& w) { return w.Tflite("RANGE", {w.in(0), w.in(1), w.in(2)}); }

// --- Indices ------------------------------------------------------------------------------------

// TFLite takes no negative indices.
absl::StatusOr<Value*> ToLiteGather(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  Value* index = w.in(1);
  if (!TfliteWriter::CountsFromTheFront(*index) && !IsMarkedFromTheFront(w.node())) {
    Value* size = w.Op("shape", {w.in(0)}, {{"start", axis}, {"end", axis + 1}});
    index = w.FromTheFront(index, w.Op("squeeze", {size, w.Ints({0})}));
  }
  return w.Tflite("GATHER", {w.in(0), index}, {{"axis", axis}});
}

absl::StatusOr<Value*> ToLiteGatherNd(TfliteWriter& w) {
  if (w.Int("batch_dims") != 0) return CannotExpress("batch axes");
  X2IR_RETURN_IF_ERROR(w.Rank().status());
  if (IsMarkedFromTheFront(w.node())) return w.Tflite("GATHER_ND", {w.in(0), w.in(1)});
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(1));
  const Dim& count = (*w.shape(1))[rank - 1];
  constexpr int64_t kMaxCompared = 4;  // axes
  if (rank > kMaxCompared && count.is_static() && !TfliteWriter::CountsFromTheFront(*w.in(1))) {
    // The same tuples in a row.
    Value* row = w.Op("reshape", {w.in(1), w.Ints({-1, count.value()})});
    Value* found = w.Op("gather_nd", {w.in(0), row}, w.attrs());
    Value* dims = w.Op("shape", {w.in(1)}, {{"start", 0}, {"end", rank - 1}});
    const Shape* of_data = w.shape();
    if (count.value() < of_data->rank()) {
      Value* rest = w.Op("shape", {w.in(0)}, {{"start", count.value()}, {"end", of_data->rank()}});
      dims = w.Op("concat", {dims, rest}, {{"axis", 0}});
    }
    return w.Op("reshape", {found, dims}, {{"allowzero", 1}});
  }
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  return w.Tflite("GATHER_ND", {w.in(0), tuples});
}

// TFLite has a row for each element, the IR a column.
absl::StatusOr<Value*> ToLiteNonZero(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  Value* rows =
      w.Tflite("WHERE", {w.in(0)}, {}, Type::Tensor(DType::kInt64, Shape({Dim(), Dim(rank)})));
  return w.Op("transpose", {rows}, {{"perm", {1, 0}}});
}

absl::StatusOr<Value*> ToLiteCompress(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const PlacesThatHold found, CompressByGather(w));
  return w.Tflite("GATHER", {found.x, found.places}, {{"axis", found.axis}});
}

absl::StatusOr<Value*> ToLiteOneHot(TfliteWriter& w) {
  if (!IsInteger(w.dtype())) {
    std::vector<Value*> operands = w.node().inputs();
    operands[0] = w.Cast(operands[0], DType::kInt64);
    return w.Op("one_hot", std::move(operands), w.attrs());
  }
  X2IR_ASSIGN_OR_RETURN(const OneHotParts parts, OneHotPartsOf(w));
  return w.Tflite("ONE_HOT", {parts.index, parts.depth, parts.on, parts.off},
                  {{"axis", parts.axis}});
}

// The lengths are a vector of int32 or int64.
absl::StatusOr<Value*> ToLiteReverseSequence(TfliteWriter& w) {
  Value* lengths = w.in(1);
  if (!w.shape(1)) return CannotExpress("lengths of unknown rank");
  if (w.shape(1)->rank() != 1) {
    const Shape* x = w.shape();
    if (!x || (*x)[w.Int("batch_axis")] != Dim(1))
      return CannotExpress("lengths that are no vector");
    lengths = w.Reshape(lengths, std::vector<int64_t>{1});
  }
  if (lengths->dtype() != DType::kInt32) lengths = w.Cast(lengths, DType::kInt64);
  return w.Tflite("REVERSE_SEQUENCE", {w.in(0), lengths},
                  {{"seq_dim", w.Int("time_axis")}, {"batch_dim", w.Int("batch_axis")}});
}

// --- Reductions ---------------------------------------------------------------------------------

auto ToLiteReduce(std::string_view op, std::string_view of_bools = "") {
  return [=](TfliteWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    X2IR_ASSIGN_OR_RETURN(Value * axes, ReducedAxes(w));
    if (!axes || rank == 0) return w.Op("identity", {w.in(0)});
    const bool bools = w.dtype() == DType::kBool;
    if (bools && of_bools.empty()) return CannotExpress("bools");
    return w.Tflite(bools ? of_bools : op, {w.in(0), axes}, {{"keep_dims", w.Int("keepdims")}});
  };
}

auto ToLiteArg(std::string_view op) {
  return [=](TfliteWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("select_last_index") != 0) return CannotExpress("the last of equal elements");
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    if (rank == 0) return CannotExpress("rank 0");
    if (w.Int("keepdims") == 0) {
      return w.Tflite(op, {w.in(0), w.Int32(axis)}, {{"output_type", "INT64"}});
    }
    std::vector<Dim> dims;
    for (int64_t i = 0; i < rank; ++i) {
      if (i != axis) dims.push_back((*w.shape())[i]);
    }
    Value* found = w.Tflite(op, {w.in(0), w.Int32(axis)}, {{"output_type", "INT64"}},
                            Type::Tensor(DType::kInt64, Shape(std::move(dims))));
    return w.Op("unsqueeze", {found, w.Ints({axis})});
  };
}

// Along the last axis; places are int32.
absl::StatusOr<Values> ToLiteTopK(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (w.Int("largest") == 0) return CannotExpress("the least elements");
  if (tflite::IsQuantized(*w.in(0))) return CannotExpress("integers that stand for floats");
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(rank - 1)]);
  const bool last = axis == rank - 1;
  const auto turned = [&](Value* x) { return last ? x : w.Op("transpose", {x}, {{"perm", perm}}); };
  Value* x = turned(w.in(0));
  const auto known = KnownInts(w.in(1));
  Value* k = known && known->size() == 1 ? w.Int32((*known)[0])
                                         : w.Cast(w.Reshape(w.in(1), {}), DType::kInt32);
  Shape shape = x->shape() ? *x->shape() : Shape::UnknownDims(rank);
  shape[rank - 1] = known && known->size() == 1 ? Dim((*known)[0]) : Dim();
  const Values found =
      w.TfliteAll("TOPK_V2", {x, k}, {}, {true, true},
                  {Type::Tensor(w.dtype(), shape), Type::Tensor(DType::kInt32, shape)});
  Values values(w.node().num_outputs(), nullptr);
  if (w.wants(0)) values[0] = turned(found[0]);
  if (w.wants(1)) values[1] = turned(w.Cast(found[1], DType::kInt64));
  return values;
}

absl::StatusOr<Value*> ToLiteCumSum(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axis, w.KnownInts(1, "axis"));
  if (axis->size() != 1) return CannotExpress("several axes");
  return w.Tflite("CUMSUM", {w.in(0), w.Int32((*axis)[0])},
                  {{"exclusive", w.Int("exclusive")}, {"reverse", w.Int("reverse")}});
}

}  // namespace

X2IR_TFLITE(identity).To("RESHAPE", ToLiteIdentity);
X2IR_TFLITE(reshape).To("RESHAPE", ToLiteReshape);
X2IR_TFLITE(flatten).To("RESHAPE", ToLiteFlatten);
X2IR_TFLITE(transpose).To("TRANSPOSE", ToLiteTranspose);
X2IR_TFLITE(squeeze).To("SQUEEZE", ToLiteSqueeze);
X2IR_TFLITE(unsqueeze).To("EXPAND_DIMS", ToLiteUnsqueeze);
X2IR_TFLITE(expand).To("BROADCAST_TO", ToLiteExpand);
X2IR_TFLITE(tile).To("TILE", ToLiteTile);
X2IR_TFLITE(concat).To("CONCATENATION", ToLiteConcat);
X2IR_TFLITE(split).To("SPLIT_V", ToLiteSplit);
X2IR_TFLITE(slice).To("STRIDED_SLICE", ToLiteSlice);
X2IR_TFLITE(pad).To("PADV2", ToLitePad);
X2IR_TFLITE(shape).To("SHAPE", ToLiteShape);
X2IR_TFLITE(size).To("REDUCE_PROD", ToLiteSize);
X2IR_TFLITE(constant_of_shape).To("FILL", ToLiteFill);
X2IR_TFLITE(range).To("RANGE", ToLiteRange);
X2IR_TFLITE(gather).To("GATHER", ToLiteGather);
X2IR_TFLITE(gather_nd).To("GATHER_ND", ToLiteGatherNd);
X2IR_TFLITE(non_zero).To("WHERE", ToLiteNonZero);
X2IR_TFLITE(compress).To("GATHER", ToLiteCompress);
X2IR_TFLITE(one_hot).To("ONE_HOT", ToLiteOneHot);
X2IR_TFLITE(reverse_sequence).To("REVERSE_SEQUENCE", ToLiteReverseSequence);
X2IR_TFLITE(reduce_sum).To("SUM", ToLiteReduce("SUM"));
X2IR_TFLITE(reduce_mean).To("MEAN", ToLiteReduce("MEAN"));
X2IR_TFLITE(reduce_max).To("REDUCE_MAX", ToLiteReduce("REDUCE_MAX", "REDUCE_ANY"));
X2IR_TFLITE(reduce_min).To("REDUCE_MIN", ToLiteReduce("REDUCE_MIN", "REDUCE_ALL"));
X2IR_TFLITE(reduce_prod).To("REDUCE_PROD", ToLiteReduce("REDUCE_PROD"));
X2IR_TFLITE(reduce_l1).To("SUM", L1BySum);
X2IR_TFLITE(reduce_l2).To("SUM", L2BySum);
X2IR_TFLITE(reduce_log_sum).To("SUM", LogSumBySum);
X2IR_TFLITE(reduce_sum_square).To("SUM", SumSquareBySum);
X2IR_TFLITE(reduce_log_sum_exp).To("SUM", LogSumExpBySum);
X2IR_TFLITE(arg_max).To("ARG_MAX", ToLiteArg("ARG_MAX"));
X2IR_TFLITE(arg_min).To("ARG_MIN", ToLiteArg("ARG_MIN"));
X2IR_TFLITE(top_k).To("TOPK_V2", ToLiteTopK);
X2IR_TFLITE(cum_sum).To("CUMSUM", ToLiteCumSum);

}  // namespace x2ir
