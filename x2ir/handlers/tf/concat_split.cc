// TensorFlow: putting tensors together and taking them apart.
#include <algorithm>
#include <numeric>

#include "x2ir/handlers/tf/tf.h"

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

// Outputs that nobody looks at are made too, so their number must be a sane one.
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

absl::StatusOr<Values> SplitV(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(int64_t axis, a.KnownInt(2, "axis"));
  X2IR_ASSIGN_OR_RETURN(const int64_t count, Count(a, "num_split"));
  if (count == 0) return Invalid("num_split is 0");
  Value* x = a.in(0);
  const std::optional<std::vector<int64_t>> sizes = a.Ints(1);
  if (!sizes) {
    // One of them may be -1: what the others leave.
    Value* given = a.AsInt64(a.in(1));
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
  if (open == sizes->end()) return Parts(a, x, a.b().Ints(*sizes), axis, count);
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

}  // namespace

X2IR_TF(concat)
    .From("ConcatV2", ConcatV2)
    .From("Concat", FromConcat)
    .From("Pack", Pack)
    .From("ParallelConcat", ParallelConcat);
X2IR_TF(split).From("Split", Split).From("SplitV", SplitV).From("Unpack", Unpack);

}  // namespace x2ir
