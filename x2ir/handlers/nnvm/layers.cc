#include "x2ir/handlers/nnvm/layers.h"

#include <algorithm>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
bool IsChannelsLast(SymbolArgs& a, const std::string& layout) {
  if (layout.empty() || layout == "NCHW" || layout == "NCW" || layout == "NCDHW") return false;
  a.Require(layout == "NHWC" || layout == "NWC" || layout == "NDHWC", StrCat("layout ", layout));
  return true;
}

Expr Convolve(NodeReader& a, const Expr& x, const Expr& weights, Value* bias, const Window& window,
              int64_t groups) {
  CheckWindow(a, window);
  Value* w = weights;
  if (window.channels_last) {
    const auto last = static_cast<int64_t>(window.rank()) + 1;
    std::vector<int64_t> perm = {0, last};
    for (int64_t i = 1; i < last; ++i) perm.push_back(i);
    w = Relaid(a, w, perm);
  }
  return MakeConv(x, w, bias, window, groups);
}

Expr PreluAlong(const Expr& x, const Expr& slope, int64_t axis) {
  const Shape* shape = x->shape();
  Expr placed = slope;
  if (shape && axis < shape->rank() && slope->shape() && slope->shape()->rank() == 1 &&
      DimAt(slope, 0) != Dim(1)) {
    placed = AlongAxis(slope, axis, shape->rank());
    // The axes after the channels are broadcast.
    if (axis == 1 && shape->rank() > 1) {
      placed = AlongChannels(slope, shape->rank());
    }
  }
  return x.Op("prelu", {placed});
}

Expr Flipped(const Expr& x, const std::vector<int64_t>& axes) {
  Builder& b = x.builder();
  const std::vector<int64_t> starts(axes.size(), -1), steps(axes.size(), -1),
      ends(axes.size(), std::numeric_limits<int64_t>::min());
  return x.Op("slice", {b.Ints(starts), b.Ints(ends), b.Ints(axes), b.Ints(steps)});
}

std::function<absl::StatusOr<Value*>(SymbolArgs&)> SliceLike(std::string_view axes) {
  return [name = std::string(axes)](SymbolArgs& a) -> absl::StatusOr<Value*> {
    std::vector<int64_t> along = a.Tuple(name);
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(1));
    if (along.empty()) along = CountedFrom(0, rank);
    X2IR_ASSIGN_OR_RETURN(along, a.Axes(along));
    Expr x = a.in(0);
    for (const int64_t axis : along) x = Slice(x, axis, Size(0), SizeAt(a.in(1), axis));
    return x.value();
  };
}

absl::StatusOr<Expr> ReshapeByCodes(SymbolArgs& a, const Expr& x, std::vector<int64_t> codes,
                                    bool reverse) {
  // Numbers, 0 and -1 mean the same here and there.
  const bool plain = std::all_of(codes.begin(), codes.end(), [](int64_t c) { return c >= -1; });
  if (plain && !reverse) {
    return x.Op("reshape", {a.b().Ints(codes)}, {{"allowzero", 0}});
  }
  if (!x->shape()) return Unimplemented("this reshape of an operand of unknown rank");
  std::vector<Size> from = AllSizes(x), to;
  if (reverse) {
    // From the end, the two parts of a split in their order.
    std::reverse(from.begin(), from.end());
    std::reverse(codes.begin(), codes.end());
    for (size_t i = 0; i + 2 < codes.size(); ++i) {
      if (codes[i + 2] == -4) {
        std::swap(codes[i], codes[i + 2]);
        std::swap(codes[i + 1], codes[i + 2]);
        i += 2;
      }
    }
  }
  size_t next = 0;
  for (size_t i = 0; i < codes.size(); ++i) {
    const int64_t code = codes[i];
    const size_t needed = code == -3 ? 2 : code == 0 || code == -4 ? 1 : 0;
    if (next + needed > from.size()) return Invalid("a reshape to more axes than there are");
    if (code > 0 || code == -1) {
      to.emplace_back(code);
      ++next;
    } else if (code == 0) {
      to.push_back(from[next++]);
    } else if (code == -2) {
      for (; next < from.size(); ++next) to.push_back(from[next]);
    } else if (code == -3) {
      to.push_back(Times(a, from[next], from[next + 1]));
      next += 2;
    } else if (code == -4) {
      if (i + 2 >= codes.size()) return Invalid("a split without two sizes");
      const Size whole = from[next++];
      int64_t first = codes[i + 1], second = codes[i + 2];
      i += 2;
      if ((first < 0 && second < 0) || first == 0 || second == 0) {
        return Invalid("a split into ", first, " and ", second);
      }
      if (reverse) std::swap(first, second);
      const Size left = first < 0 ? Divided(a, whole, Size(second)) : Size(first);
      const Size right = second < 0 ? Divided(a, whole, Size(first)) : Size(second);
      to.push_back(reverse ? right : left);
      to.push_back(reverse ? left : right);
    } else {
      return Invalid("a size of ", code);
    }
  }
  if (reverse) std::reverse(to.begin(), to.end());
  return ReshapeTo(x, to);
}

}  // namespace x2ir
