// View: models as a page to look at: one HTML file that needs nothing else. It shows the graph with
// its modules closed, what each node is, statistics of weights, costs by op, and of two models how
// they differ. docs/view.md says what the page does.
//
// The page runs one script, its own: a Content-Security-Policy in it forbids all else, and any
// request. The data of models is embedded as JSON and is shown as text, whatever bytes it contains.
#ifndef X2IR_VIEW_VIEW_H_
#define X2IR_VIEW_VIEW_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/inspect/compare.h"

namespace X2IR_API x2ir {

struct ViewedModel {
  std::string title;   // a file's name
  std::string format;  // by its name; may be empty
  const Model* model;  // sorted; of IR, or as a file has it
};

struct ViewOptions {
  bool weights = false;  // their elements too, of kMaxWeightBytes at most
  // Of two models, in their order: their values take the colors of their errors. Null: no colors.
  const ModelComparison* comparison = nullptr;
};
inline constexpr int64_t kMaxWeightBytes = int64_t{64} << 20;

// Whether the build has the page (it needs npm once).
bool HasViewPage();

// A page of one model, or of two side by side. FailedPrecondition: the build has no page.
// InvalidArgument: the weights are larger than may be.
absl::StatusOr<std::string> ViewPage(absl::Span<const ViewedModel> models,
                                     const ViewOptions& options = {});

// What the page shows, as JSON (page/model.js reads it).
absl::StatusOr<std::string> ViewData(absl::Span<const ViewedModel> models,
                                     const ViewOptions& options = {});

}  // namespace x2ir

#endif  // X2IR_VIEW_VIEW_H_
