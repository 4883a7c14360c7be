// Suggestions for mistyped words: the known word that is nearest.
#ifndef X2IR_CORE_SUGGEST_H_
#define X2IR_CORE_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// The first of the nearest words by edits (a letter added, left out, replaced, or two that changed
// places), or one that `word` begins. Empty when more than a third of the letters would change.
std::string Closest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean 'conv'?" for the end of a message; "" when no word is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

}  // namespace x2ir

#endif  // X2IR_CORE_SUGGEST_H_
