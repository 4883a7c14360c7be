#include "x2ir/view/view.h"

#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/view/page_internal.h"

namespace x2ir {

bool HasViewPage() { return !kPageBeforeData.empty(); }

absl::StatusOr<std::string> ViewPage(absl::Span<const ViewedModel> models,
                                     const ViewOptions& options) {
  if (!HasViewPage()) {
    return absl::FailedPreconditionError(
        "this build of x2ir has no page, because npm was missing when it was built");
  }
  X2IR_ASSIGN_OR_RETURN(const std::string data, ViewData(models, options));
  std::string page(kPageBeforeData);
  page.reserve(page.size() + data.size() + kPageBehindData.size());
  // In JSON '<' occurs only in strings; without it no data ends the element that holds them. DEL
  // would not go through a terminal.
  for (const char c : data) {
    if (c == '<') {
      page += "\\u003c";
    } else if (c == '\x7f') {
      page += "\\u007f";
    } else {
      page += c;
    }
  }
  page += kPageBehindData;
  return page;
}

}  // namespace x2ir
