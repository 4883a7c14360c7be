// Attributes that are one of a few words.
#ifndef X2IR_OPS_CHOICE_ATTR_H_
#define X2IR_OPS_CHOICE_ATTR_H_

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {

// Which of `words` it is: the value of E at that place, so words are in the order of the enum;
// false for the first of two, or the place itself. InvalidArgument says which ones attribute `name`
// may be.
template <typename E>
absl::StatusOr<E> ChoiceOf(std::string_view name, std::string_view word,
                           std::initializer_list<std::string_view> words) {
  size_t place = 0;
  for (const std::string_view each : words) {
    if (word == each) return static_cast<E>(place);
    ++place;
  }
  std::string known;
  for (const std::string_view each : words) {
    StrAppend(&known, known.empty() ? "" : --place == 1 ? " or " : ", ", each);
  }
  return Invalid(name, ": expected ", known, ", got '", word, "'");
}

// The same for the word that a node has.
template <typename E>
absl::StatusOr<E> ChoiceAttr(const AttributeMap& attrs, Symbol name,
                             std::initializer_list<std::string_view> words) {
  return ChoiceOf<E>(name.view(), attrs.String(name), words);
}

// InvalidArgument if the attribute is none of the words.
inline absl::Status CheckChoice(const AttributeMap& attrs, Symbol name,
                                std::initializer_list<std::string_view> words) {
  return ChoiceAttr<size_t>(attrs, name, words).status();
}

}  // namespace x2ir

#endif  // X2IR_OPS_CHOICE_ATTR_H_
