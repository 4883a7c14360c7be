// Symbol: an interned, immutable string (op types, dialects, attribute names).
// Copying is a pointer copy, equality a pointer comparison. Interned text lives until
// the program ends; value and node names, which are many, are not interned.
// Thread-safe.
#ifndef X2IR_GRAPH_WRAPPER_SYMBOL_H_
#define X2IR_GRAPH_WRAPPER_SYMBOL_H_

#include <string>
#include <string_view>
#include <utility>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

class Symbol {
 public:
  Symbol() : text_(&Empty()) {}
  Symbol(std::string_view text) : text_(Intern(text)) {}               // NOLINT: implicit by design
  Symbol(const char* text) : Symbol(std::string_view(text)) {}         // NOLINT
  Symbol(const std::string& text) : Symbol(std::string_view(text)) {}  // NOLINT

  const std::string& str() const { return *text_; }
  std::string_view view() const { return *text_; }
  operator std::string_view() const { return *text_; }  // NOLINT
  bool empty() const { return text_->empty(); }

  friend bool operator==(Symbol a, Symbol b) { return a.text_ == b.text_; }
  friend bool operator!=(Symbol a, Symbol b) { return a.text_ != b.text_; }
  // Comparing with text does not intern it.
  friend bool operator==(Symbol a, std::string_view b) { return a.view() == b; }
  friend bool operator!=(Symbol a, std::string_view b) { return a.view() != b; }
  friend bool operator==(Symbol a, const char* b) { return a.view() == b; }
  friend bool operator!=(Symbol a, const char* b) { return a.view() != b; }
  friend bool operator==(Symbol a, const std::string& b) { return a.view() == b; }
  // Alphabetic, so that what is ordered by Symbol is deterministic.
  friend bool operator<(Symbol a, Symbol b) { return a.text_ != b.text_ && *a.text_ < *b.text_; }

  template <typename H>
  friend H AbslHashValue(H h, Symbol s) {
    return H::combine(std::move(h), s.text_);
  }

 private:
  static const std::string* Intern(std::string_view text);
  static const std::string& Empty();
  const std::string* text_;
};

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_SYMBOL_H_
