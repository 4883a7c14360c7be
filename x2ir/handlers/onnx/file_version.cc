// Which version of the file format a model needs.
#include "x2ir/handlers/onnx/file_version.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "x2ir/core/dialect.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/schema_table.h"

namespace x2ir {
namespace {

// The file version that constants of a nested graph need: before it they had to be inputs too.
constexpr int64_t kNestedConstants = 4;
bool HasNestedConstants(const Graph& root) {
  std::vector<const Graph*> todo = {&root};
  while (!todo.empty()) {
    const Graph* graph = todo.back();
    todo.pop_back();
    if (graph->parent_node() && graph->num_constants() != 0) return true;
    for (const Graph* inner : graph->NestedGraphs()) todo.push_back(inner);
  }
  return false;
}

// The oldest file version that has what the model uses: functions came with 8, defaults of their
// attributes with 9, their overloads and types, and metadata of nodes and graphs with 10.
int64_t OldestFileVersion(const Model& model, int64_t oldest) {
  for (const auto& function : model.functions) {
    if (!function->body) continue;  // the writer refuses it
    bool types = !function->overload.empty();
    for (const Node* node = function->body->first(); node; node = node->next()) {
      for (const Value* value : node->outputs()) types |= value && value->type().is_known();
    }
    for (const Value* value : function->body->inputs()) types |= value->type().is_known();
    const int64_t needs = types ? 10 : function->attribute_defaults.empty() ? 8 : 9;
    oldest = std::max(oldest, needs);
  }
  const auto has_metadata = [](const AnnotationsPtr& annotations) {
    return annotations.get() && !annotations.get()->metadata.empty();
  };
  std::vector<const Graph*> todo = {model.graph.get()};
  while (!todo.empty() && oldest < 10) {
    const Graph* graph = todo.back();
    todo.pop_back();
    bool metadata = has_metadata(graph->annotations());
    for (const Node* node : graph->nodes()) {
      metadata = metadata || has_metadata(node->annotations());
      for (const Graph* inner : node->subgraphs()) todo.push_back(inner);
    }
    if (metadata) oldest = 10;
  }
  return oldest;
}

// The oldest file version for the other domains that the model imports.
int64_t OldestFileVersionOfDomains(const Model& model) {
  const Dialect* onnx = FindDialect("onnx");
  int64_t oldest = 0;
  for (const OpsetImport& import : model.opset_imports) {
    if (import.domain.empty() || import.domain == "ai.onnx") continue;
    for (int opset = 1; opset <= LatestOnnxOpset(); ++opset) {
      if (DomainVersion(onnx, import.domain, opset) < import.version) continue;
      oldest = std::max<int64_t>(oldest, OldestIrVersionForOpset(opset));
      break;
    }
  }
  return oldest;
}

}  // namespace

absl::Status SetOnnxFileVersion(Model& model, const FormatOptions& options) {
  // onnx's checker finds an import of "ai.onnx" for those nodes alone that spell the domain out.
  if (model.annotations.get() && model.annotations.get()->extra.contains(kOnnxDomainNote)) {
    model.annotations.GetOrMake().extra.erase(kOnnxDomainNote);
  }
  const auto by_content = [&] {
    return OldestFileVersion(model, OldestIrVersionForOpset(static_cast<int>(model.Opset(""))));
  };
  int64_t least = OldestFileVersionOfDomains(model);
  if (const std::optional<int64_t> wanted = options.Int("ir_version")) {
    least = std::max(least, by_content());
    if (least < kNestedConstants && HasNestedConstants(*model.graph)) least = kNestedConstants;
    const int64_t newest = std::max<int64_t>(least, OldestIrVersionForOpset(LatestOnnxOpset()));
    if (*wanted < least || *wanted > newest) {
      return OptionError("ir_version", "the model can have file version ", least, " to ", newest,
                         "; got ", *wanted);
    }
    model.ir_version = *wanted;
    return absl::OkStatus();
  }
  if (model.ir_version == 0) model.ir_version = by_content();
  model.ir_version = std::max(model.ir_version, least);
  if (model.ir_version < kNestedConstants && HasNestedConstants(*model.graph)) {
    model.ir_version = kNestedConstants;
  }
  return absl::OkStatus();
}

}  // namespace x2ir
