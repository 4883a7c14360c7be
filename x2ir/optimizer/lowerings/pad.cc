// Lowerings of pad, and of center_crop_pad, which is a slice and a pad.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/axis_masks.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {
namespace {

// --- pad ------------------------------------------------------------------------------------

// Pads of all axes, zeros where `axes` does not name one. Axes and pads may be computed.
absl::StatusOr<Values> PadAllAxes(Rewrite& r) {
  if (!r.has(3)) return NothingToDo();
  auto axes = r.ConstInts(3);
  const int64_t rank = r.rank(0);
  if (rank < 0) return CannotExpress("the rank must be known for axes to be written out");
  Value* pads;
  if (!axes) {
    Value* rows =
        r.b.Op("reshape", {Expr(r.b, r.in(1)).To(DType::kInt64), r.b.Ints({2, -1}, "rows")});
    Value* matrix = AxisMatrix(r, r.in(3), rank);
    Value* zero = r.b.Int(0, "zero");
    const auto row = [&](int64_t i) {
      return ByAxis(r, matrix, r.b.Op("gather", {rows, r.b.Int(i, "row")}, {{"axis", 0}}), zero);
    };
    pads = r.b.Op("concat", {row(0), row(1)}, {{"axis", 0}});
    return Values{r.b.Op("pad", {r.in(0), pads, r.in(2)}, {{"mode", r.attrs().String("mode")}})};
  }
  X2IR_ASSIGN_OR_RETURN(*axes, NormalizeAxes(*std::move(axes), rank));
  const int64_t n = static_cast<int64_t>(axes->size());
  std::vector<int64_t> from(2 * rank, 2 * n);  // 2n: the zero after the pads
  for (int64_t i = 0; i < n; ++i) {
    from[(*axes)[i]] = i;
    from[rank + (*axes)[i]] = n + i;
  }
  if (auto known = r.ConstInts(1)) {
    if (static_cast<int64_t>(known->size()) != 2 * n) return Invalid("pads: expected ", 2 * n);
    known->push_back(0);
    std::vector<int64_t> all;
    for (int64_t i : from) all.push_back((*known)[i]);
    pads = r.b.Ints(all, "pads");
  } else {
    Value* padded = r.b.Op("concat", {r.in(1), r.b.Ints({0}, "zero")}, {{"axis", 0}});
    pads = r.b.Op("gather", {padded, r.b.Ints(from, "order")});
  }
  return Values{r.b.Op("pad", {r.in(0), pads, r.in(2)}, {{"mode", r.attrs().String("mode")}})};
}
X2IR_LOWERING(pad, PadAllAxes);

// Axis by axis: each element of the result says where in the axis it comes from. What comes from
// nowhere comes from one more element at the end, the constant.
absl::StatusOr<Values> PadAsGather(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const int64_t rank = r.rank(0);
  const DType t = r.dtype(0);
  const std::string& mode = r.attrs().String("mode");
  if (r.has(3) || rank < 0) return CannotExpress("as Gather, it needs all axes of a known rank");
  const Integers pads = math.Read(r.in(1));
  if (pads.known && static_cast<int64_t>(pads.known->size()) != 2 * rank) {
    return Invalid("pads: expected ", 2 * rank);
  }
  Value* constant = r.in(2);
  if (mode == "constant" && !constant) {
    if (!IsFloating(t) && !IsInteger(t) && t != DType::kBool) {
      return CannotExpress("a zero of ", Name(t), " is not known");
    }
    constant = b.Constant(Tensor::Zeros(t, {}), "zero");
  }
  Value* zero = b.Int(0, "zero");
  Value* x = r.in(0);
  for (int64_t axis = 0; axis < rank; ++axis) {
    const Integers before = math.At(pads, {axis}), after = math.At(pads, {rank + axis});
    if (before.known && after.known && (*before.known)[0] == 0 && (*after.known)[0] == 0) continue;
    const Integers none = math.Of({0}), one = math.Of({1}), size = math.Size(r.in(0), axis);
    // Negative padding cuts off first; what is left is [low, low + n).
    const Integers low = math.Max(math.Sub(none, before), none);
    const Integers n = math.Sub(math.Sub(size, low), math.Max(math.Sub(none, after), none));
    const Integers places = math.Positions(math.Add(math.Add(before, size), after));
    Value* k = math.Get(math.Sub(places, before), "positions");
    if (mode == "constant") {
      Value* inside = b.Op("and", {b.Op("not", {b.Op("less", {k, zero})}),
                                   b.Op("less", {k, math.Get(size, "size")})});
      k = b.Op("where", {inside, k, math.Get(size, "size")});
      Integers slab = axis > 0 ? math.Sizes(x, 0, axis) : math.Of(std::vector<int64_t>());
      slab = math.Concat(math.Concat(slab, one), math.Sizes(x, axis + 1, rank));
      Value* last = b.Op(
          "expand", {b.Op("reshape", {constant, b.Ints({1}, "scalar")}), math.Get(slab, "slab")});
      x = b.Op("concat", {x, last}, {{"axis", axis}});
    } else {
      k = b.Op("sub", {k, math.Get(low, "low")});
      const Integers end = math.Sub(n, one);
      if (mode == "edge") {
        k = math.Maximum(math.Minimum(k, math.Get(end, "end")), zero);
      } else if (mode == "wrap") {
        // Of an axis that is cut to nothing no element is taken, and nothing is divided by 0.
        const Integers period = n.known ? math.Max(n, one) : n;
        k = b.Op("mod", {k, math.Get(period, "size")}, {{"fmod", 0}});
      } else {
        // To and fro over the elements; the outermost ones are not repeated.
        Value* period = math.Get(math.Max(math.Mul(end, math.Of({2})), one), "period");
        k = b.Op("mod", {k, period}, {{"fmod", 0}});
        k = b.Op("where", {b.Op("less", {k, math.Get(n, "size")}), k, b.Op("sub", {period, k})});
      }
      k = b.Op("add", {k, math.Get(low, "low")});
      // Where nothing is left the result has no elements, if it is defined at all; an index is one
      // of the axis all the same.
      if (n.known && (*n.known)[0] <= 0) k = math.Minimum(k, math.Get(math.Sub(size, one), "last"));
    }
    x = b.Op("gather", {x, k}, {{"axis", axis}});
  }
  return Values{x == r.in(0) ? b.Op("identity", {x}) : x};
}
X2IR_LOWERING(pad, PadAsGather);

// --- center_crop_pad ------------------------------------------------------------------------

// What both sizes have in common is sliced out of the middle, then padded.
absl::StatusOr<Values> CropAsSliceAndPad(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const int64_t rank = r.rank(0);
  if (rank < 0) return CannotExpress("the rank is not known");
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  const Attribute* attr = r.attrs().Find("axes");
  if (const auto* some = attr ? attr->get<Attribute::Ints>() : nullptr) {
    X2IR_ASSIGN_OR_RETURN(axes, NormalizeAxes(*some, rank));
  }
  const Integers want = math.Read(r.in(1)), size = math.Sizes(r.in(0), axes);
  if (want.known && want.known->size() != axes.size()) return Invalid("expected one size an axis");
  if (axes.empty()) return Values{b.Op("identity", {r.in(0)})};
  const Integers common = math.Min(want, size), two = math.Of({2});
  const Integers start = math.Div(math.Sub(size, common), two);
  Value* over = b.Ints(axes, "axes");
  Value* x = b.Op(
      "slice", {r.in(0), math.Get(start, "start"), math.Get(math.Add(start, common), "end"), over});
  const Integers missing = math.Sub(want, common), before = math.Div(missing, two);
  const Integers pads = math.Concat(before, math.Sub(missing, before));
  return Values{b.Op("pad", {x, math.Get(pads, "pads"), nullptr, over}, {{"mode", "constant"}})};
}
X2IR_LOWERING(center_crop_pad, CropAsSliceAndPad);

}  // namespace
}  // namespace x2ir
