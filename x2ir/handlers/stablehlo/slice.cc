// StableHLO: the IR's ops that take parts of tensors, and those that add to their ends, written.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

// --- Parts ---------------------------------------------------------------------------------------

std::optional<std::vector<int64_t>> SizesOfOperand(StablehloWriter& w) {
  return w.shape() ? w.shape()->Static() : std::nullopt;
}

struct SliceBounds {
  std::vector<int64_t> start, end, step;  // of all axes
};

// Bounds of axes whose sizes are known; nullopt where something is not.
absl::StatusOr<std::optional<SliceBounds>> KnownBounds(StablehloWriter& w) {
  const auto sizes = SizesOfOperand(w);
  const auto starts = w.KnownInts(1, "starts"), ends = w.KnownInts(2, "ends");
  X2IR_ASSIGN_OR_RETURN(auto axes, w.KnownInts(3, "axes"));
  X2IR_ASSIGN_OR_RETURN(const auto steps, w.KnownInts(4, "steps"));
  if (!sizes || !starts.ok() || !ends.ok() || !*starts || !*ends) return std::nullopt;
  SliceBounds bounds{std::vector<int64_t>(sizes->size(), 0), *sizes,
                     std::vector<int64_t>(sizes->size(), 1)};
  if (!axes) axes = CountedFrom(0, static_cast<int64_t>((*starts)->size()));
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t rank = static_cast<int64_t>(sizes->size());
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    if (axis < 0 || axis >= rank) return Invalid("axis ", (*axes)[i], " of a slice");
    const auto at = static_cast<size_t>(axis);
    const int64_t size = (*sizes)[at], step = steps ? (*steps)[i] : 1;
    const auto from_front = [&](int64_t bound) { return bound < 0 ? bound + size : bound; };
    const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    const int64_t end = (**ends)[i];
    bounds.start[at] = std::clamp(from_front((**starts)[i]), step < 0 ? int64_t{0} : low,
                                  std::max<int64_t>(high, 0));
    bounds.end[at] = end < -size ? low : std::clamp(from_front(end), low, high);
    bounds.step[at] = step;
  }
  return bounds;
}

// Bounds that are computed: from the front, and within the axis.
absl::StatusOr<Value*> DynamicSlice(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(auto axes, w.KnownInts(3, "axes"));
  X2IR_ASSIGN_OR_RETURN(const auto steps, w.KnownInts(4, "steps"));
  const Dim count = DimAt(w.in(1), 0);
  if (!count.is_static()) return CannotExpress("a slice of axes that are not known");
  if (!axes) axes = CountedFrom(0, count.value());
  const Expr x = X(w), starts = X(w, 1).To(DType::kInt64), ends = X(w, 2).To(DType::kInt64);
  std::vector<Size> from(static_cast<size_t>(rank), Size(0)), to = AllSizes(x);
  std::vector<int64_t> by(static_cast<size_t>(rank), 1);
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    if (axis < 0 || axis >= rank) return Invalid("axis ", (*axes)[i], " of a slice");
    const auto at = static_cast<size_t>(axis);
    by[at] = steps ? (*steps)[i] : 1;
    if (by[at] < 1) return CannotExpress("a slice backwards of a size that is not known");
    const Expr size = Scalar(w, to[at]);
    const auto bound = [&](const Expr& all) {
      const Expr own = ElementAt(all, 0, static_cast<int64_t>(i));
      return Clip(Where(own < 0, own + size, own), Int(w, 0), size);
    };
    const Expr start = bound(starts);
    from[at] = start;
    to[at] = Max(bound(ends), start);
  }
  return w.Hlo("real_dynamic_slice", {w.in(0), Vector(w, from), Vector(w, to), w.Ints(by)});
}

absl::StatusOr<Value*> WriteSlice(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::optional<SliceBounds> known, KnownBounds(w));
  if (!known) return DynamicSlice(w);
  SliceBounds bounds = *known;
  std::vector<int64_t> backwards, sizes;
  for (size_t i = 0; i < bounds.start.size(); ++i) {
    int64_t& start = bounds.start[i];
    int64_t &end = bounds.end[i], &step = bounds.step[i];
    const int64_t span = step < 0 ? start - end : end - start;
    const int64_t size = span <= 0 ? 0 : (span - 1) / std::abs(step) + 1;
    if (step < 0) {
      // The same elements from the front.
      const int64_t last = start;
      start = size == 0 ? 0 : last + (size - 1) * step;
      end = size == 0 ? 0 : last + 1;
      step = -step;
      if (size > 1) backwards.push_back(static_cast<int64_t>(i));
    }
    end = std::max(end, start);
    sizes.push_back(size);
  }
  const AttributeMap attrs{
      {"start_indices", bounds.start}, {"limit_indices", bounds.end}, {"strides", bounds.step}};
  const auto whole = SizesOfOperand(w);
  const bool all = sizes == *whole;
  if (all && backwards.empty()) return w.Op("identity", {w.in(0)});
  Value* part =
      all ? w.in(0)
          : w.Hlo("slice", {w.in(0)}, attrs, Type::Tensor(w.dtype(), Shape::FromInts(sizes)));
  return backwards.empty() ? part : w.Hlo("reverse", {part}, {{"dimensions", backwards}});
}

absl::StatusOr<Value*> WritePad(StablehloWriter& w) {
  if (w.String("mode") != "constant") return CannotExpress("padding of mode ", w.String("mode"));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(auto axes, w.KnownInts(3, "axes"));
  if (!axes) axes = CountedFrom(0, rank);
  const Expr number =
      w.in(2) ? Reshape(X(w, 2), {}) : Expr(w, w.b().Constant(Tensor::Zeros(w.dtype(), {})));
  const auto count = static_cast<int64_t>(axes->size());
  const auto known = w.KnownInts(1, "pads");
  std::vector<Size> low(static_cast<size_t>(rank), Size(0)), high = low;
  bool is_known = true;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t named = (*axes)[static_cast<size_t>(i)];
    const int64_t axis = named < 0 ? named + rank : named;
    if (axis < 0 || axis >= rank) return Invalid("axis ", named, " of a pad");
    const auto pad = [&](int64_t at) -> Size {
      if (known.ok() && *known) return (**known)[static_cast<size_t>(at)];
      is_known = false;
      return ElementAt(X(w, 1), 0, at);
    };
    low[static_cast<size_t>(axis)] = pad(i);
    high[static_cast<size_t>(axis)] = pad(i + count);
  }
  const std::vector<int64_t> none(static_cast<size_t>(rank), 0);
  if (!is_known) {
    return w.Hlo("dynamic_pad", {w.in(0), number, Vector(w, low), Vector(w, high), w.Ints(none)});
  }
  const auto numbers = [](const std::vector<Size>& sizes) {
    std::vector<int64_t> all;
    for (const Size& size : sizes) all.push_back(*size.number);
    return all;
  };
  return w.Hlo("pad", {w.in(0), number},
               {{"edge_padding_low", numbers(low)},
                {"edge_padding_high", numbers(high)},
                {"interior_padding", none}});
}

}  // namespace

X2IR_STABLEHLO(pad).To("pad", WritePad);
X2IR_STABLEHLO(slice).To("slice", WriteSlice);

}  // namespace x2ir
