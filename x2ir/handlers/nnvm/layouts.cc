#include "x2ir/handlers/nnvm/layouts.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// An axis, or the inner part of one (of `size` elements).
struct LayoutAxis {
  char letter;  // a capital
  int64_t size = 0;
  bool operator==(const LayoutAxis&) const = default;
};
using LayoutAxes = std::vector<LayoutAxis>;

// Each letter once as a capital, and once at most as a small one.
LayoutAxes ParseLayout(SymbolArgs& a, const std::string& text) {
  constexpr int64_t kLimit = int64_t{1} << 20;
  LayoutAxes axes;
  int64_t number = 0;
  bool good = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isdigit(byte)) {
      number = 10 * number + (c - '0');
      good = good && number <= kLimit;
      if (!good) break;
      continue;
    }
    good = good && (std::isupper(byte) ? number == 0 : std::islower(byte) && number > 0);
    axes.push_back({static_cast<char>(std::toupper(byte)), number});
    number = 0;
  }
  for (const LayoutAxis& axis : axes) {
    const auto of = [&](bool inner) {
      return std::count_if(axes.begin(), axes.end(), [&](const LayoutAxis& other) {
        return other.letter == axis.letter && (other.size != 0) == inner;
      });
    };
    good = good && of(false) == 1 && of(true) <= 1;
  }
  a.Require(good && number == 0 && !axes.empty(), StrCat("layout ", text));
  return axes;
}

const LayoutAxis* InnerPart(const LayoutAxes& axes, char letter) {
  const auto it = std::find_if(axes.begin(), axes.end(), [&](const LayoutAxis& axis) {
    return axis.letter == letter && axis.size != 0;
  });
  return it == axes.end() ? nullptr : &*it;
}

// The axes without inner parts; the inner part of an axis, if `parts` has one, follows the axis.
LayoutAxes Grouped(const LayoutAxes& order, const LayoutAxes& parts) {
  LayoutAxes grouped;
  for (const LayoutAxis& axis : order) {
    if (axis.size != 0) continue;
    grouped.push_back(axis);
    if (const LayoutAxis* inner = InnerPart(parts, axis.letter)) grouped.push_back(*inner);
  }
  return grouped;
}

Expr Reordered(const Expr& x, const LayoutAxes& from, const LayoutAxes& to) {
  if (from == to) return x;
  std::vector<int64_t> perm;
  for (const LayoutAxis& axis : to) {
    perm.push_back(std::find(from.begin(), from.end(), axis) - from.begin());
  }
  return x.Op("transpose", {}, {{"perm", perm}});
}

std::string LettersOf(const LayoutAxes& axes) {
  std::string letters;
  for (const LayoutAxis& axis : axes) letters += axis.letter;
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  return letters;
}

}  // namespace

bool IsBlockedLayout(std::string_view layout) {
  return std::any_of(layout.begin(), layout.end(),
                     [](char c) { return std::islower(static_cast<unsigned char>(c)); }) &&
         !layout.starts_with('_');  // "__undef__"
}

Expr InLayout(SymbolArgs& a, const Expr& x, const std::string& from, const std::string& to) {
  if (from == to) return x;
  const LayoutAxes source = ParseLayout(a, from), target = ParseLayout(a, to);
  a.Require(LettersOf(source) == LettersOf(target), StrCat("a layout ", from, " as ", to));
  a.Require(x->shape() && x->shape()->rank() == static_cast<int64_t>(source.size()),
            StrCat("a tensor of another rank than its layout ", from));
  // Every inner part moves after its axis and is joined with it. Then the axes are split anew.
  const LayoutAxes joined = Grouped(source, source), whole = Grouped(source, {});
  const Expr grouped = Reordered(x, source, joined);
  std::vector<Size> sizes;
  for (size_t i = 0; i < joined.size(); ++i) {
    const Size size = SizeAt(grouped, static_cast<int64_t>(i));
    if (joined[i].size == 0) {
      sizes.push_back(size);
    } else {
      sizes.back() = Times(a, sizes.back(), size);
    }
  }
  const LayoutAxes split = Grouped(source, target);
  std::vector<Size> parts;
  for (size_t i = 0; i < whole.size(); ++i) {
    const LayoutAxis* inner = InnerPart(target, whole[i].letter);
    parts.push_back(inner ? DividedBy(a, sizes[i], inner->size) : sizes[i]);
    if (inner) parts.emplace_back(inner->size);
  }
  const bool same = joined == split;
  return Reordered(same ? grouped : ReshapeTo(grouped, parts), split, target);
}

}  // namespace x2ir
