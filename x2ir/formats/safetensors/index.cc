#include "x2ir/formats/safetensors/index.h"

#include <utility>

#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {

absl::StatusOr<std::vector<SafetensorsShard>> ReadSafetensorsIndex(const Blob& file) {
  std::vector<SafetensorsShard> shards;
  StringMap<size_t> places;
  absl::flat_hash_set<std::string_view> names;
  bool found = false;
  JsonReader json(file.view());
  json.Object([&](std::string_view key) {
    if (key != "weight_map") return json.Skip();
    if (std::exchange(found, true)) return json.Fail("\"weight_map\" occurs twice");
    json.Object([&](std::string_view name) {
      const std::string_view shard = json.String();
      if (!json.ok()) return;
      if (!names.insert(name).second) return json.Fail("this tensor occurs twice");
      const auto [it, is_new] = places.try_emplace(std::string(shard), shards.size());
      if (is_new) shards.push_back({std::string(shard), {}});
      shards[it->second].tensors.emplace_back(name);
    });
  });
  json.Finish();
  if (json.ok() && !found) json.Fail("\"weight_map\" is missing");
  if (!json.ok())
    return DataLoss(file.path(), ": not an index of safetensors: ", json.status().message());
  return shards;
}

}  // namespace x2ir
