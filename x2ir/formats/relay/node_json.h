// The JSON in which TVM saves objects: a list of nodes that name each other by their places, and
// arrays as base64. The metadata of a text is such a JSON, too.
#ifndef X2IR_FORMATS_RELAY_NODE_JSON_H_
#define X2IR_FORMATS_RELAY_NODE_JSON_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/relay/ast.h"

namespace X2IR_API x2ir {
namespace relay {

struct JsonNode {
  std::string_view type_key{};
  std::string_view text{};  // "repr_str", or "global_key" of older files
  bool has_text = false;
  std::vector<std::pair<std::string_view, std::string_view>> attrs{};
  std::vector<std::string_view> keys{};  // of a map by texts
  std::vector<int64_t> data{};           // of an array, or a map

  const std::string_view* Find(std::string_view name) const;
};

class NodeJson {
 public:
  // The text must outlive it. DataLoss or InvalidArgument for a text that is none.
  static absl::StatusOr<std::unique_ptr<NodeJson>> Parse(std::string_view text);

  int64_t root() const { return root_; }
  size_t size() const { return nodes_.size(); }
  const JsonNode& node(int64_t i) const { return nodes_[static_cast<size_t>(i)]; }
  const std::string& version() const { return version_; }

  // The node that an attribute names; 0 (nothing) where it is left out. Invalid for a text that is
  // no place in the list.
  absl::StatusOr<int64_t> Ref(const JsonNode& node, std::string_view name) const;
  // The elements of the array that it names.
  absl::StatusOr<std::vector<int64_t>> List(const JsonNode& node, std::string_view name) const;
  // A text: written there, or a node of its own.
  absl::StatusOr<std::string> Text(const JsonNode& node, std::string_view name) const;
  // Of lists that many nodes name, the text that may be made of them: false once it is too much.
  bool Spend(size_t bytes) const { return (spent_ += bytes) <= kMaxText; }
  // An array of the file; each is decoded once.
  absl::StatusOr<Tensor> Array(std::string_view number);

 private:
  explicit NodeJson(std::string_view text) : reader_(text) {}
  absl::Status Read();

  static constexpr size_t kMaxText = size_t{1} << 28;

  JsonReader reader_;
  mutable size_t spent_ = 0;
  int64_t root_ = 0;
  std::string version_;
  std::vector<JsonNode> nodes_;
  std::vector<std::string_view> arrays_;
  std::vector<std::optional<Tensor>> decoded_;
};

// Puts the expressions of the nodes into the program. Gives for each node its expression (null:
// it is none).
absl::StatusOr<std::vector<const RelayExpr*>> ExprsOf(NodeJson& json, Program* program);
// The program of a JSON: that of a module, or of an expression.
absl::StatusOr<std::unique_ptr<Program>> ProgramOf(NodeJson& json);
// An attribute of a call, written as a node: "[1, 1]".
absl::StatusOr<std::string> AttrTextOf(const NodeJson& json, int64_t node, int depth = 0);
// The fields of a record of attributes.
absl::StatusOr<RelayAttrs> AttrsOf(const NodeJson& json, int64_t node);

}  // namespace relay
}  // namespace x2ir

#endif  // X2IR_FORMATS_RELAY_NODE_JSON_H_
