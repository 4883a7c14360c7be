// The order of registrations in the source, which does not depend on how objects are linked.
#ifndef X2IR_OPTIMIZER_SOURCE_ORDER_H_
#define X2IR_OPTIMIZER_SOURCE_ORDER_H_

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/registry.h"

namespace X2IR_API x2ir {

// Inserts an entry, which has a SourcePlace `place`, after those that precede it by file and line.
template <typename T>
void InsertInSourceOrder(std::vector<T>& entries, T entry) {
  const auto later =
      std::upper_bound(entries.begin(), entries.end(), entry, [](const T& a, const T& b) {
        const int order = std::string_view(a.place.file).compare(b.place.file);
        return order != 0 ? order < 0 : a.place.line < b.place.line;
      });
  entries.insert(later, std::move(entry));
}

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_SOURCE_ORDER_H_
