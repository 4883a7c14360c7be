#include "x2ir/handlers/mxnet/mxnet.h"

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/mxnet/mxnet.h"

namespace x2ir {

bool HasNumpyShapes(const SymbolArgs& a) {
  if (a.op().starts_with("_np")) return true;
  const Graph* graph = a.node().graph();
  while (graph && graph->parent_node()) graph = graph->parent_node()->graph();
  const Annotations* notes = graph ? graph->annotations().get() : nullptr;
  return notes && notes->extra.contains(mxnet::kNumpyShapes);
}

Expr AtLeastOneAxis(const SymbolArgs& a, const Expr& x) {
  if (!x->shape() || x->shape()->rank() > 0 || HasNumpyShapes(a)) return x;
  return Reshape(x, {1});
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
