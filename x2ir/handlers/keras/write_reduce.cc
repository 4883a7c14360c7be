// Keras, written: reductions.
#include <utility>

#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/keras/scan.h"
#include "x2ir/handlers/keras/write_internal.h"

namespace x2ir {
namespace {

// TensorFlow's sums of narrow integers are wider ones.
auto ToReduction(std::string_view name, bool floats) {
  return [name, floats](KerasWriter& w) -> absl::StatusOr<Value*> {
    const DType type = w.dtype();
    const bool wide = IsInteger(type) && BitWidth(type) >= 32;
    const bool order = name == "Max" || name == "Min";
    if (!IsFloating(type) && (floats || (!wide && !(order && IsInteger(type))))) {
      return CannotExpress("elements of ", Name(type));
    }
    X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
    if ((!axes || axes->empty()) && w.Int("noop_with_empty_axes") != 0) {
      return w.Layer("Identity", {w.in(0)});
    }
    Json arguments = KerasArguments({{"keepdims", Json::Bool(w.Int("keepdims") != 0)}});
    if (axes && !axes->empty()) arguments.Set("axis", KerasIntegers(*axes));
    return w.Function(name, {w.in(0)}, std::move(arguments));
  };
}

auto ToPlace(std::string_view name) {
  return [name](KerasWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("select_last_index") != 0) return CannotExpress("the last of equal elements");
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    if (!w.out_type().shape()) return CannotExpress("a result of unknown rank");
    Value* y = w.Function(
        name, {w.in(0)},
        KerasArguments({{"axis", Json(axis)}, {"keepdims", Json::Bool(w.Int("keepdims") != 0)}}),
        Type::Tensor(DType::kInt32, *w.out_type().shape()));
    return w.Cast(y, DType::kInt64);
  };
}

absl::StatusOr<Value*> ToCumsum(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto axis, w.KnownInts(1, "axis"));
  if (!axis || axis->size() != 1) return CannotExpress("an axis that is not known");
  const DType type = w.dtype();
  if (!IsFloating(type) && BitWidth(type) < 32) return CannotExpress("elements of ", Name(type));
  const int64_t along = (*axis)[0] + ((*axis)[0] < 0 ? rank : 0);
  Expr x = {w.b(), w.in(0)};
  const bool from_end = w.Int("reverse") != 0;
  if (from_end) x = Reversed(x, along);
  // Sums of the elements before: a zero is put in front, and the last element is left out.
  if (w.Int("exclusive") != 0) {
    std::vector<int64_t> pads(static_cast<size_t>(2 * rank), 0);
    pads[static_cast<size_t>(along)] = 1;
    x = Slice(x.Op("pad", {w.Ints(pads)}), along, Size(0), Size(-1));
  }
  const Expr sums = {
      w.b(), w.Function("Cumsum", {x}, KerasArguments({{"axis", Json(along)}}), w.out_type())};
  return (from_end ? Reversed(sums, along) : sums).value();
}

}  // namespace

X2IR_KERAS(reduce_mean).To("ops.Mean", ToReduction("Mean", true));
X2IR_KERAS(reduce_sum).To("ops.Sum", ToReduction("Sum", false));
X2IR_KERAS(reduce_max).To("ops.Max", ToReduction("Max", false));
X2IR_KERAS(reduce_min).To("ops.Min", ToReduction("Min", false));
X2IR_KERAS(reduce_prod).To("ops.Prod", ToReduction("Prod", false));
X2IR_KERAS(reduce_l1).To("ops.Sum", L1BySum);
X2IR_KERAS(reduce_l2).To("ops.Sum", L2BySum);
X2IR_KERAS(reduce_sum_square).To("ops.Sum", SumSquareBySum);
X2IR_KERAS(reduce_log_sum).To("ops.Sum", LogSumBySum);
X2IR_KERAS(reduce_log_sum_exp).To("ops.Sum", LogSumExpBySum);
X2IR_KERAS(arg_max).To("ops.Argmax", ToPlace("Argmax"));
X2IR_KERAS(arg_min).To("ops.Argmin", ToPlace("Argmin"));
X2IR_KERAS(cum_sum).To("ops.Cumsum", ToCumsum);

}  // namespace x2ir
