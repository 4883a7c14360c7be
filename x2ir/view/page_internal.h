// The page without a model, as the build made it (page/build.mjs): HTML up to the JSON, and the
// rest. Both are empty in a build without npm.
#ifndef X2IR_VIEW_PAGE_INTERNAL_H_
#define X2IR_VIEW_PAGE_INTERNAL_H_

#include <string_view>

namespace x2ir {

extern const std::string_view kPageBeforeData, kPageBehindData;

}  // namespace x2ir

#endif  // X2IR_VIEW_PAGE_INTERNAL_H_
