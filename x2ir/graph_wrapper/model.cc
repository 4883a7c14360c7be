// Opset look-ups of a Model.
#include "x2ir/graph_wrapper/model.h"

namespace x2ir {

int64_t Model::Opset(std::string_view domain) const {
  for (const OpsetImport& import : opset_imports) {
    if (import.domain == domain) return import.version;
  }
  return 0;
}

void Model::SetOpset(std::string_view domain, int64_t version) {
  for (OpsetImport& import : opset_imports) {
    if (import.domain == domain) {
      import.version = version;
      return;
    }
  }
  opset_imports.push_back({std::string(domain), version});
}

}  // namespace x2ir
