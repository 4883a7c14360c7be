// Maps names of sizes of one model to those of another, by the inputs that both have: batch here is
// s0 there. If a size has a name on one side only, it is the size of the other side.
#ifndef X2IR_INSPECT_SIZE_NAMES_H_
#define X2IR_INSPECT_SIZE_NAMES_H_

#include <string>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {

class SizeNames {
 public:
  // The types of an input that both have. The first input with a name defines its counterpart.
  void Learn(const Type& here, const Type& there);
  // With the names that were learned.
  bool Same(const Type& here, const Type& there) const;
  // The same, with a one-to-one mapping of names.
  bool SameButForNames(const Type& here, const Type& there) const;

 private:
  StringMap<Dim> here_, there_;
  StringMap<std::string> back_;  // names there that are names here
};

}  // namespace x2ir

#endif  // X2IR_INSPECT_SIZE_NAMES_H_
