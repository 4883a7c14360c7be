#include "x2ir/core/suggest.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr size_t kLongestWord = 100;  // a longer one is not a typing mistake
constexpr size_t kShortestPrefix = 3;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Edits that make one word the other; capitals count as small letters. Of the whole table only the
// last three rows are kept.
size_t Edits(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) &&
          Lower(a[i - 2]) == Lower(b[j - 1])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::exchange(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string Closest(std::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > kLongestWord) return "";
  const size_t most = std::max<size_t>(1, word.size() / 3);
  std::string closest;
  size_t fewest = most + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongestWord) continue;
    size_t edits = Edits(word, candidate);
    if (word.size() >= kShortestPrefix && candidate.starts_with(word)) {
      edits = std::min<size_t>(edits, 1);
    }
    if (edits >= fewest) continue;
    fewest = edits;
    closest = candidate;
  }
  return closest;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  const std::string closest = Closest(word, known);
  return closest.empty() ? "" : StrCat("; did you mean '", closest, "'?");
}

}  // namespace x2ir
