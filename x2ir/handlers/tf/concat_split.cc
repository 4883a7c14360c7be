// TensorFlow: putting tensors together and taking them apart.
#include "x2ir/handlers/tf/concat_split.h"

#include <algorithm>
#include <optional>
#include <string>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tf/writer.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* Joined(TfArgs& a, std::vector<Value*> parts, int64_t axis) {
  if (parts.size() == 1) return a.Op("identity", {parts[0]});
  return a.Op("concat", std::move(parts), {{"axis", axis}});
}

absl::StatusOr<Value*> ConcatV2(TfArgs& a) {
  if (a.num_inputs() < 2) return Invalid("expected two operands or more");
  const size_t last = a.num_inputs() - 1;
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, a.KnownInt(last, "axis"));
  std::vector<Value*> parts = a.inputs();
  parts.pop_back();
  return Joined(a, std::move(parts), axis);
}

absl::StatusOr<Value*> FromConcat(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, a.KnownInt(0, "axis"));
  if (a.num_inputs() < 2) return Invalid("expected two operands or more");
  return Joined(a, a.inputs(1), axis);
}

// Operands on a new axis.
Value* Pack(TfArgs& a) {
  Value* axis = a.b().Ints({a.Int("axis", 0)});
  std::vector<Value*> parts;
  for (Value* v : a.inputs()) parts.push_back(a.Op("unsqueeze", {v, axis}));
  if (parts.empty()) a.b().Fail(Invalid("it has no operands"));
  return parts.empty() ? nullptr : Joined(a, std::move(parts), a.Int("axis", 0));
}

// The same of operands that have the axis already, the first one.
Value* ParallelConcat(TfArgs& a) {
  a.ShapeAttr("shape");
  if (a.num_inputs() == 0) a.b().Fail(Invalid("it has no operands"));
  return a.num_inputs() == 0 ? nullptr : Joined(a, a.inputs(), 0);
}

Values Parts(TfArgs& a, Value* x, Value* sizes, int64_t axis, int64_t count) {
  if (count == 1) return {a.Op("identity", {x})};
  std::vector<Value*> operands = {x};
  if (sizes) operands.push_back(sizes);
  return a.b().Ops("split", std::move(operands), {{"axis", axis}}, static_cast<size_t>(count));
}

// Outputs without uses are made too, so their number is limited.
constexpr int64_t kMaxParts = 1 << 16;

absl::StatusOr<int64_t> Count(TfArgs& a, Symbol attr) {
  const int64_t count = a.Int(attr, 0);
  if (count < 0 || count > kMaxParts) return Invalid(attr.view(), " = ", count);
  return count;
}

absl::StatusOr<Values> Split(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, a.KnownInt(0, "axis"));
  X2IR_ASSIGN_OR_RETURN(const int64_t count, Count(a, "num_split"));
  if (count == 0) return Invalid("num_split is 0");
  return Parts(a, a.in(1), nullptr, axis, count);
}

// Whether sizes are where(sizes < 0, rest, sizes), as SplitV below makes them.
bool IsWithRest(const Value& sizes) {
  const Node* where = sizes.producer();
  if (!where || !where->Is("where")) return false;
  const Node* open = where->input(0)->producer();
  return open && open->Is("less") && open->input(0) == where->input(2) &&
         KnownInts(open->input(1)) == std::vector<int64_t>{0};
}

absl::StatusOr<Values> SplitV(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(int64_t axis, a.KnownInt(2, "axis"));
  X2IR_ASSIGN_OR_RETURN(const int64_t count, Count(a, "num_split"));
  if (count == 0) return Invalid("num_split is 0");
  Value* x = a.in(0);
  const std::optional<std::vector<int64_t>> sizes = a.Ints(1);
  if (!sizes) {
    // One of them may be -1: what the others leave.
    Value* given = a.AsInt64(a.in(1));
    if (IsWithRest(*given)) return Parts(a, x, given, axis, count);
    Value* zero = a.b().Int(0);
    Value* open = a.Op("less", {given, zero});
    Value* positive = a.Op("max", {given, zero});
    Value* sum = a.Op("reduce_sum", {positive}, {{"keepdims", 0}});
    Value* shape = a.Op("shape", {x});
    Value* all = a.Op("gather", {shape, a.b().Int(axis)}, {{"axis", 0}});
    Value* rest = a.Op("sub", {all, sum});
    return Parts(a, x, a.Op("where", {open, rest, given}), axis, count);
  }
  if (static_cast<int64_t>(sizes->size()) != count) {
    return Invalid("num_split is ", count, ", but there are ", sizes->size(), " sizes");
  }
  const auto open = std::find(sizes->begin(), sizes->end(), -1);
  if (open == sizes->end()) {
    Value* given = a.in(1);
    const bool as_it_is = given->fixed_constant() && given->dtype() == DType::kInt64;
    return Parts(a, x, as_it_is ? given : a.b().Ints(*sizes), axis, count);
  }
  // The sizes' own sum, without the -1, may not be more than any tensor has.
  int64_t sum = 0;
  for (const int64_t size : *sizes) {
    if (size < -1 || __builtin_add_overflow(sum, std::max<int64_t>(size, 0), &sum)) {
      return Invalid("the sizes make no sense");
    }
  }
  Value* shape = a.Op("shape", {x});
  Value* all = a.Op("gather", {shape, a.b().Ints({axis})}, {{"axis", 0}});
  Value* rest = a.Op("sub", {all, a.b().Ints({sum})});
  std::vector<Value*> pieces;
  const auto add = [&](auto from, auto to) {
    if (from != to) pieces.push_back(a.b().Ints(std::vector<int64_t>(from, to)));
  };
  add(sizes->begin(), open);
  pieces.push_back(rest);
  add(open + 1, sizes->end());
  return Parts(a, x, Joined(a, std::move(pieces), 0), axis, count);
}

absl::StatusOr<Values> Unpack(TfArgs& a) {
  const int64_t axis = a.Int("axis", 0);
  X2IR_ASSIGN_OR_RETURN(const int64_t count, Count(a, "num"));
  Value* axes = a.b().Ints({axis});
  if (count == 0) return Values{};
  Values parts = count == 1 ? Values{a.in(0)} : Parts(a, a.in(0), nullptr, axis, count);
  for (Value*& part : parts) part = a.Op("squeeze", {part, axes});
  return parts;
}

// Both ends come out exactly.
Value* LinSpace(TfArgs& a) {
  Value* start = a.in(0);
  Value* stop = a.in(1);
  const DType t = start->dtype();
  Value* count = a.AsInt64(a.in(2));
  Value* last = a.Op("sub", {count, a.b().Int(1)});
  Value* steps = a.Cast(a.Op("max", {last, a.b().Int(1)}), t);
  Value* step = a.Op("div", {a.Op("sub", {stop, start}), steps});
  Value* places = Iota({a, count});
  Value* between = a.Op("add", {start, a.Op("mul", {step, a.Cast(places, t)})});
  Value* at_end =
      a.Op("and", {a.Op("equal", {places, last}), a.Op("greater", {last, a.b().Int(0)})});
  return Where({a, at_end}, {a, stop}, {a, between});
}

// Nothing says what the elements are; TensorFlow's, too, are zeros if it is asked to.
Value* Empty(TfArgs& a) {
  a.Bool("init", false);
  const DType t = a.Type("dtype", DType::kFloat32);
  Tensor zero = t == DType::kString ? Tensor::Strings({}, {""}) : Tensor::Zeros(t, {});
  return a.Op("expand", {a.b().Constant(std::move(zero)), a.AsInt64(a.in(0))});
}

// `on` at the index, `off` elsewhere, which is everywhere if the index is out of range.
Value* OneHot(TfArgs& a) {
  a.Ignore("TI");
  const int64_t axis = a.Int("axis", -1);
  Value* indices = a.AsInt64(a.in(0));
  Value* depth = a.AsInt64(a.in(1));
  const bool scalar = Expr(a, indices).rank() == 0;
  if (scalar) indices = Unsqueeze({a, indices}, {0});
  indices = Where(a.Op("less", {indices, a.b().Int(0)}), {a, depth}, {a, indices});
  Value* values = a.Op("concat", {Unsqueeze(a.in(3), {0}), Unsqueeze(a.in(2), {0})}, {{"axis", 0}});
  Value* hot = a.Op("one_hot", {indices, depth, values}, {{"axis", scalar ? -1 : axis}});
  return scalar ? Squeeze({a, hot}, {0}) : hot;
}

// Every element 0 or 1, of x's type and shape.
Value* Like(TfArgs& a, double value) {
  Value* x = a.in(0);
  const DType dtype = x->dtype();
  if (dtype == DType::kUndefined) {
    a.b().Fail(Unimplemented("the operand's type is not known"));
    return x;
  }
  Tensor element = Tensor::Zeros(dtype == DType::kString ? DType::kBool : dtype, {});
  if (dtype == DType::kString) {
    element = Tensor::Strings({}, {""});
  } else if (dtype == DType::kBool) {
    element = Tensor::Scalar<bool>(value != 0);
  } else if (IsComplex(dtype)) {
    a.Require(value == 0, "ones of complex type");
  } else {
    element = Tensor::ScalarOf(dtype, value);
  }
  return a.Op("expand", {a.b().Constant(std::move(element)), a.Op("shape", {x})});
}

Value* ZerosLike(TfArgs& a) { return Like(a, 0); }
Value* OnesLike(TfArgs& a) { return Like(a, 1); }

absl::StatusOr<Value*> ToTfOneHot(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const OneHotParts parts, OneHotPartsOf(w));
  return w.Tf("OneHot", {parts.index, parts.depth, parts.on, parts.off}, {{"axis", parts.axis}});
}

// 1 where the column is the row and k more.
absl::StatusOr<Value*> ToTfEyeLike(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank != 2) return CannotExpress("rank ", rank);
  const auto numbers = [&](int64_t axis) {
    return Iota(
        {w.b(), w.Op("squeeze", {w.Op("shape", {w.in(0)}, {{"start", axis}, {"end", axis + 1}}),
                                 w.Ints({0})})});
  };
  const Expr rows = Unsqueeze(Shifted(numbers(0), static_cast<double>(w.Int("k"))), {1}),
             columns = Unsqueeze(numbers(1), {0});
  return w.Cast(rows.Op("equal", {columns}), w.out_type().dtype());
}

absl::StatusOr<Value*> ToTfTranspose(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, PermOf(w));
  return w.Tf("Transpose", {w.in(0), w.Int32s(perm)});
}

}  // namespace

Value* ToTfExpand(TfWriter& w) {
  Value* known = TfShapeOf(w, w.out_type());
  const Shape* shape = w.in(0)->shape();
  if (shape && shape->rank() == 0) return w.Tf("Fill", {known ? known : w.in(1), w.in(0)});
  if (known) return w.Tf("BroadcastTo", {w.in(0), known});
  Value* own = w.Op("shape", {w.in(0)});
  Value* both = w.Tf("BroadcastArgs", {own, w.Cast(w.in(1), DType::kInt64)}, {},
                     Type::Tensor(DType::kInt64, Shape({Dim()})));
  return w.Tf("BroadcastTo", {w.in(0), both});
}

namespace {

Value* ToTfTile(TfWriter& w) { return w.Tf("Tile", {w.in(0), w.Known(w.in(1))}); }

absl::StatusOr<Value*> ToTfConcat(TfWriter& w) {
  if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  std::vector<Value*> operands = w.node().inputs();
  operands.push_back(w.Int32(axis));
  return w.Tf("ConcatV2", std::move(operands));
}

absl::StatusOr<Values> ToTfSplit(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  Value* sizes = w.has(1) ? w.Known(w.in(1)) : nullptr;
  std::vector<bool> wanted;
  std::vector<int64_t> parts;
  for (const Value* part : w.node().outputs()) {
    wanted.push_back(part != nullptr);
    const Shape* shape = part ? part->shape() : nullptr;
    if (sizes) continue;
    if (!shape || !(*shape)[axis].is_static()) return CannotExpress("parts of unknown sizes");
    parts.push_back((*shape)[axis].value());
  }
  if (!sizes) sizes = w.Ints(parts);
  return w.TfAll("SplitV", {w.in(0), sizes, w.Int32(axis)},
                 {{"num_split", static_cast<int64_t>(wanted.size())}}, wanted);
}

// A row for each axis: the padding before it and after it.
absl::StatusOr<Value*> ToTfPad(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, PadPairsOf(w, {"constant", "reflect"}));
  if (rows.empty()) return w.Op("identity", {w.in(0)});
  const bool reflect = w.String("mode") == "reflect";
  Value* table =
      w.b().Constant(Tensor::Of<int64_t>({static_cast<int64_t>(rows.size() / 2), 2}, rows));
  if (reflect) return w.Tf("MirrorPad", {w.in(0), table}, {{"mode", "REFLECT"}});
  if (w.dtype() == DType::kString || (w.dtype() == DType::kBool && !w.has(2))) {
    return CannotExpress("elements of ", Name(w.dtype()));
  }
  Value* value = w.has(2) ? w.in(2) : w.Number(w.dtype(), 0);
  if (value->shape() && value->shape()->rank() != 0) value = w.Reshape(value, {});
  return w.Tf("PadV2", {w.in(0), table, value});
}

absl::StatusOr<Value*> ToTfFill(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(Tensor fill, FillOf(w));
  Value* one = w.b().Constant(std::move(fill));
  return w.Tf("Fill", {w.Known(w.in(0)), one});
}

Value* ToTfRange(TfWriter& w) { return w.Tf("Range", {w.in(0), w.in(1), w.in(2)}); }

}  // namespace

X2IR_TF(concat)
    .To("ConcatV2", ToTfConcat)
    .From({{"ConcatV2", ConcatV2},
           {"Concat", FromConcat},
           {"Pack", Pack},
           {"ParallelConcat", ParallelConcat}});
X2IR_TF(split)
    .To("SplitV", ToTfSplit)
    .From({{"Split", Split}, {"SplitV", SplitV}, {"Unpack", Unpack}});
X2IR_TF(range).To("Range", ToTfRange).From("LinSpace", LinSpace);
X2IR_TF(expand)
    .To("BroadcastTo", ToTfExpand)
    .From({{"Empty", Empty}, {"ZerosLike", ZerosLike}, {"OnesLike", OnesLike}});
X2IR_TF(one_hot).To("OneHot", ToTfOneHot).From("OneHot", OneHot);
X2IR_TF(eye_like).To("Equal", ToTfEyeLike);
X2IR_TF(transpose).To("Transpose", ToTfTranspose);
X2IR_TF(tile).To("Tile", ToTfTile);
X2IR_TF(pad).To("PadV2", ToTfPad);
X2IR_TF(constant_of_shape).To("Fill", ToTfFill);

}  // namespace x2ir
