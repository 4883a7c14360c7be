// The configuration of a checkpoint, read key by key. Each key that is asked for counts as taken;
// one that was not taken, and that is not known to say nothing about results, is an error in the
// end: a setting is never ignored because it is new.
//
// Names are given with their synonyms, "hidden_size|n_embd": the first that is there counts. A key
// whose value is null is not there.
#ifndef X2IR_HANDLERS_CHECKPOINT_SETTINGS_H_
#define X2IR_HANDLERS_CHECKPOINT_SETTINGS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// Thrown where a checkpoint cannot be converted; caught where the graph is made.
struct Refusal {
  absl::Status status;
};
template <typename... Args>
[[noreturn]] void Refuse(const Args&... args) {
  throw Refusal{Unimplemented(args...)};
}
template <typename... Args>
[[noreturn]] void Broken(const Args&... args) {
  throw Refusal{DataLoss(args...)};
}

class Settings {
 public:
  // `json` must outlive it. `path`: of a nested object ("text_config."), for messages.
  explicit Settings(const Json& json, std::string path = "")
      : json_(json), path_(std::move(path)) {}

  // Whether the key is there, be its value null.
  bool Stands(std::string_view name) const;
  bool Has(std::string_view names) { return !Find(names).is_null(); }
  // Refused where the value is of another kind; without a fallback also where there is none.
  int64_t Int(std::string_view names);
  int64_t Int(std::string_view names, int64_t fallback);
  double Number(std::string_view names);
  double Number(std::string_view names, double fallback);
  bool Flag(std::string_view names, bool fallback);
  std::string Text(std::string_view names);
  std::string Text(std::string_view names, std::string_view fallback);
  std::vector<int64_t> Ints(std::string_view names);  // a number is a list of one; none: empty
  std::vector<double> Numbers(std::string_view names);
  std::vector<std::string> Texts(std::string_view names);
  const Json& Raw(std::string_view names) { return Find(names); }

  // A size: from 1 to 2^24.
  int64_t Size(std::string_view names);
  int64_t Size(std::string_view names, int64_t fallback);
  // A number of layers, experts or other parts, each of which has weights: from 1 to 65,536.
  int64_t Count(std::string_view names);
  int64_t Count(std::string_view names, int64_t fallback);

  // A nested object, whose keys are taken one by one, too; of an absent one all are absent.
  Settings& Nested(std::string_view names);
  // Refused unless the setting is this, or absent: for what only one value is known of.
  void Only(std::string_view names, bool value);
  void Only(std::string_view names, std::string_view value);
  void Only(std::string_view names, const char* value) { Only(names, std::string_view(value)); }
  // Say nothing about results, or not when a trained network is used.
  void Ignore(std::initializer_list<std::string_view> names);

  // The keys that were not taken, with their paths and values: "'rope_scaling.alpha' (2)".
  std::vector<std::string> Unknown() const;

 private:
  const Json& Find(std::string_view names);
  [[noreturn]] void Wrong(std::string_view names, std::string_view expected);
  [[noreturn]] void Missing(std::string_view names);

  const Json& json_;
  std::string path_;
  StringSet taken_;
  std::map<std::string, std::unique_ptr<Settings>, std::less<>> nested_;
};

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_SETTINGS_H_
