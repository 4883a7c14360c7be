#include "x2ir/handlers/torch/strides.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/views.h"

namespace x2ir {
namespace {

Dim AtLeastOne(const Dim& size) { return Max(size, Dim(1)); }

// One stretch of memory: axes whose elements follow each other at equal distances.
struct Stretch {
  int64_t count = 1, distance = 1;
};

// From the last axis on. Strides of axes of size 1 are ignored.
std::vector<Stretch> Stretches(const std::vector<int64_t>& sizes,
                               const std::vector<int64_t>& strides) {
  std::vector<Stretch> all;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    int64_t next = 0;
    if (!all.empty() && !__builtin_mul_overflow(all.back().count, all.back().distance, &next) &&
        strides[i] == next) {
      all.back().count *= sizes[i];
    } else {
      all.push_back({sizes[i], strides[i]});
    }
  }
  return all;
}

}  // namespace

const Shape* SelfStrides(const Node& node) {
  const Attribute* attr = node.attrs().Find(kSelfStrides);
  const Type* type = attr ? attr->get<Type>() : nullptr;
  return type ? type->shape() : nullptr;
}

Proof IsContiguous(const Shape& sizes, const Shape& strides) {
  if (sizes.rank() != strides.rank()) return std::nullopt;
  bool all = true;
  // PyTorch counts sizes of 0 as 1; of a tensor without elements nothing is shared either way.
  Dim expected = 1, at_least = 1;
  for (int64_t i = sizes.rank() - 1; i >= 0; --i) {
    if (sizes[i] != Dim(1)) {
      const bool same = ProvablyEqual(strides[i], expected) || ProvablyEqual(strides[i], at_least);
      if (!same && sizes[i].is_static() && ProvablyDifferent(strides[i], expected)) return false;
      all = all && same;
    }
    expected = expected * sizes[i];
    at_least = at_least * AtLeastOne(sizes[i]);
  }
  return all ? Proof(true) : std::nullopt;
}

Proof CanBeViewed(const Shape& sizes, const Shape& strides, const Shape& as) {
  if (IsContiguous(sizes, strides).value_or(false)) return true;
  if (!sizes.is_static() || !strides.is_static() || !as.is_static() ||
      sizes.rank() != strides.rank()) {
    return std::nullopt;
  }
  const std::vector<int64_t> from = *sizes.Static(), to = *as.Static();
  if (std::find(from.begin(), from.end(), 0) != from.end()) return true;
  const auto count_of = CheckedProduct(from);
  if (!count_of || count_of != CheckedProduct(to)) return std::nullopt;
  // Every stretch must be the product of some of the new axes.
  size_t axis = to.size();
  for (const Stretch& stretch : Stretches(from, *strides.Static())) {
    int64_t count = 1;
    while (axis > 0 && count < stretch.count) count *= to[--axis];
    if (count != stretch.count) return false;
  }
  return true;
}

std::vector<int64_t> ContiguousStrides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) {
    if (__builtin_mul_overflow(strides[i], std::max<int64_t>(sizes[i], 1), &strides[i - 1])) {
      strides[i - 1] = 0;  // of more elements than there can be
    }
  }
  return strides;
}

Shape ContiguousStrides(const Shape& sizes) {
  std::vector<Dim> strides(static_cast<size_t>(sizes.rank()), Dim(1));
  for (size_t i = strides.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * sizes[static_cast<int64_t>(i)];
  }
  return Shape(std::move(strides));
}

std::vector<int64_t> PlacesOf(TorchCall& c, const std::vector<int64_t>& sizes,
                              const std::vector<int64_t>& strides, int64_t offset) {
  int64_t count = 1, last = offset;
  for (const int64_t size : sizes) {
    if (size < 0 || (size > 0 && count > kMaxPositions / size)) {
      c.Fail(Unimplemented("of too many elements"));
    }
    count *= size;
  }
  for (size_t i = 0; i < sizes.size() && count > 0; ++i) {
    int64_t reach = 0;
    if (strides[i] < 0) c.Fail(Invalid("stride ", strides[i], " is out of range"));
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      c.Fail(Unimplemented("reaches beyond any memory"));
    }
  }
  std::vector<int64_t> places, index(sizes.size(), 0);
  places.reserve(static_cast<size_t>(count));
  while (static_cast<int64_t>(places.size()) < count) {
    int64_t at = offset;
    for (size_t i = 0; i < sizes.size(); ++i) at += index[i] * strides[i];
    places.push_back(at);
    for (size_t i = sizes.size(); i-- > 0;) {
      if (++index[i] < sizes[i]) break;
      index[i] = 0;
    }
  }
  return places;
}

std::vector<int64_t> ElementsAt(TorchCall& c, const Value* self, const std::vector<int64_t>& sizes,
                                const std::vector<int64_t>& strides) {
  if (sizes.size() != strides.size()) c.Fail(Invalid("size and stride differ in length"));
  const auto dims = KnownSizes(self, 0, c.Rank(self));
  const Shape* stated = SelfStrides(c.node());
  int64_t offset = 0;
  if (const Attribute* attr = c.node().attrs().Find(kSelfOffset)) {
    offset = attr->get<int64_t>() ? *attr->get<int64_t>() : 0;
  }
  c.Ignore({kSelfStrides, kSelfOffset});
  std::vector<int64_t> own;
  if (dims && stated && stated->is_static() &&
      stated->rank() == static_cast<int64_t>(dims->size())) {
    own = *stated->Static();
  } else if (dims && !stated && (self->is_input() || self->constant())) {
    own = ContiguousStrides(*dims);
  } else {
    c.Fail(Unimplemented("strides of a tensor whose place in memory is not known"));
  }
  const std::vector<int64_t> places = PlacesOf(c, *dims, own, offset);
  const std::vector<int64_t> wanted = PlacesOf(c, sizes, strides, c.Int("storage_offset", offset));
  absl::flat_hash_map<int64_t, int64_t> element_at;
  for (size_t i = 0; i < places.size(); ++i) {
    element_at.try_emplace(places[i], static_cast<int64_t>(i));
  }
  std::vector<int64_t> elements;
  elements.reserve(wanted.size());
  for (const int64_t place : wanted) {
    auto it = element_at.find(place);
    if (it == element_at.end()) {
      c.Fail(Unimplemented("reaches beyond the ", places.size(), " elements of the tensor"));
    }
    elements.push_back(it->second);
  }
  return elements;
}

}  // namespace x2ir
