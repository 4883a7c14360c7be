// Nodes whose operands and attributes must fit together, with all of these drawn: convolutions,
// pools, norms, products, quantized groups, recurrent layers and the like, as text.
#ifndef X2IR_TESTS_RANDOM_RANDOM_RECIPES_UTIL_H_
#define X2IR_TESTS_RANDOM_RANDOM_RECIPES_UTIL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace x2ir {

// Draws a number in [0, n).
using RandomBelow = std::function<int64_t(int64_t n)>;

// As a RandomUnit has them (random_units_util.h). What inference or evaluation refuses is no graph.
struct RandomText {
  std::string inputs, nodes;
};
RandomText MakeRecipe(const RandomBelow& below);

// What an attribute of that name may be, over all ops; inference takes its choice. A law
// (random_graphs_test.cc) says that every int and every string of every op is here.
struct AttributeRange {
  std::string_view name;
  int64_t low = 0, high = 0;         // of an int
  bool axis = false;                 // an int from -rank to rank - 1
  std::vector<const char*> texts{};  // of a string
};
const AttributeRange* RangeOfAttribute(std::string_view name);  // null: unknown

// A name such as files of other frameworks have: Python's keywords, slashes, dots, spaces, letters
// of other alphabets. It need not be free.
std::string OddName(const RandomBelow& below);

}  // namespace x2ir

#endif  // X2IR_TESTS_RANDOM_RANDOM_RECIPES_UTIL_H_
