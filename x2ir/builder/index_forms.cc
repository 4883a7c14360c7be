#include "x2ir/builder/index_forms.h"

#include <algorithm>
#include <vector>

#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

const Node* MadeBy(const Value* value, std::string_view op) {
  const Node* made = value ? value->producer() : nullptr;
  return made && made->Is(op) ? made : nullptr;
}

bool IsZero(const Value* value) { return KnownInts(value) == std::vector<int64_t>{0}; }

bool AreSizes(const Value* value, absl::Span<const Dim> sizes) {
  if (const auto known = KnownInts(value)) {
    return std::equal(known->begin(), known->end(), sizes.begin(), sizes.end(),
                      [](int64_t a, const Dim& b) { return b == Dim(a); });
  }
  const std::vector<Dim>* elements = value->elements() ? &*value->elements() : nullptr;
  return elements &&
         std::equal(elements->begin(), elements->end(), sizes.begin(), sizes.end(),
                    [](const Dim& a, const Dim& b) { return !a.is_unknown() && a == b; });
}

}  // namespace

Value* BeforeFromTheFront(Value* index, absl::Span<const Dim> sizes) {
  const Node* where = MadeBy(index, "where");
  if (!where || sizes.empty()) return index;
  Value* before = where->input(2);
  const Node *negative = MadeBy(where->input(0), "less"), *sum = MadeBy(where->input(1), "add");
  const bool counts = negative && sum && negative->input(0) == before &&
                      IsZero(negative->input(1)) && sum->input(0) == before &&
                      AreSizes(sum->input(1), sizes);
  return counts ? before : index;
}

}  // namespace x2ir
