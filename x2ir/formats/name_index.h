// Looks up entries of a table by their names.
#ifndef X2IR_FORMATS_NAME_INDEX_H_
#define X2IR_FORMATS_NAME_INDEX_H_

#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// Entry has a member `name`. The table must stay as it is; of entries with one name the first
// counts.
template <typename Entry>
class NameIndex {
 public:
  explicit NameIndex(const std::vector<Entry>& table) {
    for (const Entry& entry : table) by_name_.emplace(entry.name, &entry);
  }
  // Null if there is none.
  const Entry* Find(std::string_view name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : it->second;
  }

 private:
  absl::flat_hash_map<std::string_view, const Entry*> by_name_;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_NAME_INDEX_H_
