#include "x2ir/ops/name_made.h"

#include <string>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/splice.h"

namespace x2ir {

absl::Status NameMade(Builder& b, std::string_view base) {
  X2IR_RETURN_IF_ERROR(b.status());
  for (Node* node : b.made()) {
    b.graph().NameValues(node, base.empty() ? node->op().view() : base);
  }
  return absl::OkStatus();
}

absl::Status NameMade(Builder& b, std::string_view base, Builder::Operands results) {
  X2IR_RETURN_IF_ERROR(b.status());
  b.PutInOrderOfUse(results);
  return NameMade(b, base);
}

void NameMadeFor(const Node& node, Builder& b) {
  const std::string hint = HintOf(node);
  for (Node* made : b.made()) {
    b.graph().NameValues(made, MadeName(hint, made->op().view()));
  }
}

}  // namespace x2ir
