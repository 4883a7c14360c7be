// The parts of a text of Relay below expressions: types, attributes and metadata.
#ifndef X2IR_FORMATS_RELAY_TEXT_PARTS_INTERNAL_H_
#define X2IR_FORMATS_RELAY_TEXT_PARTS_INTERNAL_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/relay/ast.h"
#include "x2ir/formats/relay/node_json.h"
#include "x2ir/formats/relay/text_cursor_internal.h"

namespace x2ir {
namespace relay {

class TypeParser : public RelayCursor {
 protected:
  using RelayCursor::RelayCursor;

  // One level deeper for as long as it lives.
  class Deeper {
   public:
    explicit Deeper(int* depth) : depth_(depth) { ++*depth_; }
    ~Deeper() { --*depth_; }
    bool ok() const { return *depth_ <= kMaxDepth; }

   private:
    int* depth_;
  };

  // "[A, B]", which nothing depends on.
  absl::Status SkipTypeArgs();
  absl::StatusOr<RelayType> ParseType();

  int depth_ = 0;

 private:
  absl::StatusOr<DType> ParseDTypeName(std::string_view name);
  absl::StatusOr<Dim> ParseDim();
  void SkipMeta();
};

class MetaParser : public TypeParser {
 protected:
  using TypeParser::TypeParser;

  // Takes the metadata from the end of the text.
  absl::Status ReadMetadata();
  // "name="
  bool LooksAttr();
  // The value of an attribute.
  absl::StatusOr<std::string> ParseAttr();
  // meta[relay.Constant][3]: the node's place.
  absl::StatusOr<int64_t> ParseMeta();

  std::unique_ptr<Program> program_ = std::make_unique<Program>();
  std::unique_ptr<NodeJson> metadata_;
  std::vector<const RelayExpr*> meta_exprs_;  // of its nodes; null: none

 private:
  std::map<std::string_view, int64_t> meta_;  // lists by their keys
};

}  // namespace relay
}  // namespace x2ir

#endif  // X2IR_FORMATS_RELAY_TEXT_PARTS_INTERNAL_H_
