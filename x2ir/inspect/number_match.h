// Matches values of two models by their numbers in one run, for values that the match by structure
// leaves, for example between two exporters.
#ifndef X2IR_INSPECT_NUMBER_MATCH_H_
#define X2IR_INSPECT_NUMBER_MATCH_H_

#include <map>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// How far off the floats of one tensor are from those of another of as many elements, as a part of
// the largest of these: numbers that masks are made of, beyond 9999 and all others, count for
// themselves alone. Infinite and NaN are left out. Infinite where all is expected to be 0, and is
// not.
double ErrorOf(const Tensor& got, const Tensor& expected);

// Only tensors of floats with more than one number are used: others may be equal by accident.
class NumberMatch {
 public:
  // A value of the first model. The tensor is read later, and must stay until the value is taken.
  void Add(const Value* value, Tensor tensor);
  // The value of the first model that is nearest to this one of the other: of the same
  // element type and as many elements, none of them off by more than one in 10,000 of the largest.
  // Of several that are as near as rounding goes, the one of the same name, else of the same op,
  // else the earliest. Null where there is none. A value is taken once.
  const Value* Take(const Value* value, const Tensor& tensor);

 private:
  struct Entry {
    const Value* value;
    Tensor tensor;
    double norm, projection;
    bool taken = false;
  };
  std::map<std::string, std::vector<Entry>> entries_;  // by element type and count
};

}  // namespace x2ir

#endif  // X2IR_INSPECT_NUMBER_MATCH_H_
