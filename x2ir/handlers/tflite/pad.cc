// TFLite: what is put between elements and at the ends of axes.
#include <algorithm>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// `count` times `value` between every two elements of an axis.
Expr Spread(TfliteArgs& a, const Expr& x, int64_t axis, int64_t count, const Expr& value) {
  if (count == 0) return x;
  a.Require(count > 0 && count < (1 << 20), "a distance of elements that is none");
  const int64_t rank = x.rank();
  std::vector<int64_t> pads(static_cast<size_t>(2 * (rank + 1)));
  pads[static_cast<size_t>(rank + 1 + axis + 1)] = count;
  const Expr wide = a.Op("pad", {Unsqueeze(x, {axis + 1}), Ints(a, pads), value});
  std::vector<Size> sizes = AllSizes(x);
  sizes[static_cast<size_t>(axis)] = Times(a, sizes[static_cast<size_t>(axis)], count + 1);
  return Slice(ReshapeTo(wide, sizes), axis, 0, -count);
}

// Operands: x, the distances of elements in the result, the value of the elements between.
absl::StatusOr<Value*> Dilate(TfliteArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, a.KnownInts(1, "dilations"));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (static_cast<int64_t>(steps.size()) != rank)
    return Invalid("as many dilations as axes expected");
  Expr x = a.in(0);
  for (int64_t i = 0; i < rank; ++i)
    x = Spread(a, x, i, steps[static_cast<size_t>(i)] - 1, a.in(2));
  return x;
}

// Operands: x, the value. What is less than nothing is taken away.
absl::StatusOr<Value*> PadAnywhere(TfliteArgs& a) {
  const std::vector<int64_t> low = a.IntList("edge_padding_low", {}),
                             high = a.IntList("edge_padding_high", {}),
                             between = a.IntList("interior_padding", {});
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  for (const auto* each : {&low, &high, &between}) {
    if (static_cast<int64_t>(each->size()) != rank)
      return Invalid("a padding for each axis expected");
  }
  Expr x = a.in(0);
  std::vector<int64_t> pads;
  for (const auto* edge : {&low, &high}) {
    for (const int64_t n : *edge) pads.push_back(std::max<int64_t>(n, 0));
  }
  for (int64_t i = 0; i < rank; ++i) {
    x = Spread(a, x, i, between[static_cast<size_t>(i)], a.in(1));
  }
  x = a.Op("pad", {x, Ints(a, pads), a.in(1)});
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t from = std::max<int64_t>(-low[static_cast<size_t>(i)], 0);
    const int64_t cut = std::min<int64_t>(high[static_cast<size_t>(i)], 0);
    if (from != 0 || cut != 0) x = Slice(x, i, from, cut == 0 ? Size(kToEnd) : Size(cut));
  }
  return x;
}

// A row for each axis: the padding before it and after it.
absl::StatusOr<Value*> ToLitePad(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, PadPairsOf(w, {"constant", "reflect"}));
  const bool reflect = w.String("mode") == "reflect";
  for (size_t i = 0; reflect && i < rows.size(); ++i) {
    const Dim& size = (*w.shape())[static_cast<int64_t>(i / 2)];
    if (size.is_static() && rows[i] >= std::max<int64_t>(1, size.value())) {
      return CannotExpress("a reflection of more elements than there are");
    }
  }
  const std::vector<int32_t> numbers(rows.begin(), rows.end());
  Value* table =
      w.b().Constant(Tensor::Of<int32_t>({static_cast<int64_t>(rows.size() / 2), 2}, numbers));
  if (reflect) return w.Tflite("MIRROR_PAD", {w.in(0), table}, {{"mode", "REFLECT"}});
  const auto known = w.has(2) ? KnownTensor(*w.in(2)) : std::nullopt;
  if (!w.has(2) || (known && IsFloating(known->dtype()) && known->AsDouble(0) == 0)) {
    return w.Tflite("PAD", {w.in(0), table});
  }
  Value* value = w.in(2);
  if (!value->shape() || value->shape()->rank() != 0) value = w.Reshape(value, {});
  return w.Tflite("PADV2", {w.in(0), table, value});
}

}  // namespace

X2IR_TFLITE(pad).To("PADV2", ToLitePad).From({{"DILATE", Dilate}, {"STABLEHLO_PAD", PadAnywhere}});

}  // namespace x2ir
