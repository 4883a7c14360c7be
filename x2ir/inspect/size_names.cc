#include "x2ir/inspect/size_names.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace x2ir {
namespace {

const Shape* ShapeOf(const Type& type) {
  return type.is_tensor() && type.shape() ? &*type.shape() : nullptr;
}

bool IsSizeName(const Dim& dim) {
  const std::vector<std::string> names = dim.SymbolNames();
  return names.size() == 1 && dim == Dim::Symbol(names[0]);
}

Dim InWordsOf(const Dim& dim, const StringMap<Dim>& names) {
  return dim.Substitute([&](std::string_view name) -> std::optional<Dim> {
    const auto it = names.find(name);
    if (it == names.end()) return std::nullopt;
    return it->second;
  });
}

template <typename SameDims>
bool SameIf(const Type& here, const Type& there, const SameDims& same) {
  if (here == there) return true;
  const Shape *x = ShapeOf(here), *y = ShapeOf(there);
  if (!x || !y || here.dtype() != there.dtype() || x->rank() != y->rank()) return false;
  for (int64_t i = 0; i < x->rank(); ++i) {
    if ((*x)[i] != (*y)[i] && !same((*x)[i], (*y)[i])) return false;
  }
  return true;
}

}  // namespace

void SizeNames::Learn(const Type& here, const Type& there) {
  const Shape *x = ShapeOf(here), *y = ShapeOf(there);
  if (!x || !y || x->rank() != y->rank()) return;
  for (int64_t i = 0; i < x->rank(); ++i) {
    const Dim &p = (*x)[i], &q = (*y)[i];
    if (IsSizeName(p)) {
      here_.try_emplace(p.ToString(), q);
    } else if (IsSizeName(q)) {
      there_.try_emplace(q.ToString(), p);
    }
    if (IsSizeName(p) && IsSizeName(q)) back_.try_emplace(q.ToString(), p.ToString());
  }
}

bool SizeNames::Same(const Type& here, const Type& there) const {
  return SameIf(here, there, [&](const Dim& p, const Dim& q) {
    return InWordsOf(p, here_) == InWordsOf(q, there_);
  });
}

bool SizeNames::SameButForNames(const Type& here, const Type& there) const {
  return SameIf(here, there, [&](const Dim& p, const Dim& q) {
    const auto to = here_.find(p.ToString());
    const auto from = back_.find(q.ToString());
    return to != here_.end() && from != back_.end() && to->second == q &&
           from->second == p.ToString();
  });
}

}  // namespace x2ir
