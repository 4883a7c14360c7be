// Keras, written: blocks of space and single hot elements.
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/space.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/keras/write_internal.h"

namespace x2ir {
namespace {

// Of [batch, channels, rows, columns]; with the channels last, between transposes.
struct Blocks {
  int64_t size;
  Expr x;
  bool last;
  Expr Back(const Expr& y) const { return last ? Transpose(y, {0, 2, 3, 1}) : y; }
};
absl::StatusOr<Blocks> BlocksOf(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank != 4) return Invalid("expected rank 4, got ", rank);
  const bool last = HasChannelsLast(w);
  const Expr x = {w.b(), w.in(0)};
  return Blocks{w.Int("blocksize"), last ? Transpose(x, {0, 3, 1, 2}) : x, last};
}

absl::StatusOr<Value*> ToSpace(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const Blocks blocks, BlocksOf(w));
  return blocks.Back(DepthToSpace(blocks.x, blocks.size, w.String("mode") == "DCR")).value();
}

absl::StatusOr<Value*> ToDepth(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const Blocks blocks, BlocksOf(w));
  return blocks.Back(SpaceToDepth(blocks.x, blocks.size)).value();
}

// x of where(x < 0, out of range, x), as which Keras's indices are read; null: it is something
// else.
Value* AsKerasIndex(const Value* index, int64_t depth) {
  const Node* choice = index->producer();
  if (!choice || choice->op() != "ops.Where" || choice->num_inputs() != 3) return nullptr;
  const Node* test = choice->input(0)->producer();
  const Tensor* other = choice->input(1)->fixed_constant();
  if (!test || test->op() != "ops.Less" || test->num_inputs() != 2 || !other) return nullptr;
  const Tensor* zero = test->input(1)->fixed_constant();
  const auto is_one = [](const Tensor* t) {
    return t && !t->is_sparse() && t->num_elements() == 1;
  };
  const bool negative = is_one(zero) && zero->AsDouble(0) == 0 && is_one(other) &&
                        other->AsDouble(0) >= static_cast<double>(depth);
  return negative && test->input(0) == choice->input(2) ? choice->input(2) : nullptr;
}

// Indices that are still negative are out of range.
absl::StatusOr<Value*> ToOneHot(KerasWriter& w) {
  const auto depth = KnownInts(w.in(1));
  const Tensor* values = w.Weight(2);
  if (!depth || depth->size() != 1 || (*depth)[0] < 1) {
    return CannotExpress("a number of classes that is not known");
  }
  X2IR_ASSIGN_OR_RETURN(OneHotParts parts, OneHotPartsOf(w));
  if (Value* index = AsKerasIndex(w.in(0), (*depth)[0])) parts.index = index;
  const bool zero_one = values && values->num_elements() == 2 && values->AsDouble(0) == 0 &&
                        values->AsDouble(1) == 1 && values->dtype() != DType::kBool;
  const DType type = zero_one ? values->dtype() : DType::kInt32;
  Type result = w.out_type();
  result.set_dtype(type);
  Value* hot = w.Function("OneHot", {parts.index},
                          KerasArguments({{"num_classes", Json((*depth)[0])},
                                          {"axis", Json(parts.axis)},
                                          {"dtype", Json(std::string(Name(type)))}}),
                          result);
  if (zero_one) return hot;
  return w.Op("where", {w.Cast(hot, DType::kBool), parts.on, parts.off});
}

}  // namespace

X2IR_KERAS(depth_to_space).To("Permute", ToSpace);
X2IR_KERAS(space_to_depth).To("Permute", ToDepth);
X2IR_KERAS(one_hot).To("ops.OneHot", ToOneHot);

}  // namespace x2ir
