// A row of a table of names: what is called `from` on one side is called `to` on the other.
#ifndef X2IR_GRAPH_WRAPPER_NAME_PAIR_H_
#define X2IR_GRAPH_WRAPPER_NAME_PAIR_H_

#include <string_view>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

struct NamePair {
  std::string_view from, to;
};

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_NAME_PAIR_H_
