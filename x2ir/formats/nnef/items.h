// What expressions of NNEF are when a graph is made: numbers, texts and lists, which are known, and
// tensors, which are values of the graph.
#ifndef X2IR_FORMATS_NNEF_ITEMS_H_
#define X2IR_FORMATS_NNEF_ITEMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {
namespace nnef {

struct Item {
  enum Kind { kInt, kReal, kBool, kText, kList, kTensor, kSize };
  Kind kind = kInt;
  int64_t integer = 0;  // of kInt and kBool
  double real = 0;
  std::string text{};
  std::vector<Item> items{};  // of arrays and tuples
  Value* value = nullptr;
  Dim size{};  // with symbols: a size that is not known yet

  static Item Int(int64_t n) { return {.kind = kInt, .integer = n}; }
  static Item Real(double x) { return {.kind = kReal, .real = x}; }
  static Item Bool(bool flag) { return {.kind = kBool, .integer = flag}; }
  static Item Text(std::string text) { return {.kind = kText, .text = std::move(text)}; }
  static Item List(std::vector<Item> items) { return {.kind = kList, .items = std::move(items)}; }
  static Item Of(Value* value) { return {.kind = kTensor, .value = value}; }
  static Item Of(Dim size) {
    return size.is_static() ? Int(size.value()) : Item{.kind = kSize, .size = std::move(size)};
  }
  bool is_number() const { return kind == kInt || kind == kReal; }
  double number() const { return kind == kReal ? real : static_cast<double>(integer); }
  // Whether a tensor, or a size that is not known, is in it.
  bool is_computed() const;
};

absl::StatusOr<Item> NumberItem(std::string_view text);
// Arithmetic of what is known: "+", "&&", ...; of lists "+" and "*". nullopt where a tensor is
// among the operands: that is an operator of the graph.
absl::StatusOr<std::optional<Item>> Computed(std::string_view op, const Item& x, const Item& y);
absl::StatusOr<std::optional<Item>> Computed(std::string_view op, const Item& x);
// The operator of the graph that an operation is: "add" of "+".
std::string_view OperatorOf(std::string_view op, bool unary);
// scalar(x), integer(x), logical(x), string(x) of what is known.
absl::StatusOr<Item> Converted(std::string_view type, const Item& item);

// Numbers in lists of lists as a tensor, of floats (one number is real), integers or flags. Invalid
// where lists of one depth differ in length.
absl::StatusOr<Tensor> TensorOfItem(const Item& item);
// The same as an attribute: one number, a text, or a list of them. Tuples in lists become flat.
absl::StatusOr<Attribute> AttributeOf(const Item& item);

}  // namespace nnef
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNEF_ITEMS_H_
