// The random numbers of reference evaluation: the same in every run and on every machine.
#ifndef X2IR_OPS_RANDOM_H_
#define X2IR_OPS_RANDOM_H_

#include <cstdint>

#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// SplitMix64 (Steele, Lea and Flood, 2014): a counter that advances by the golden ratio, with mixed
// bits. Good enough for statistics, and works with any seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  // From 0 to below 1, a multiple of 2^-bits (at most 53).
  double Uniform(int bits = 53);
  // Of the standard normal distribution, by Box and Muller's transform.
  double Normal();

 private:
  uint64_t state_;
  double second_ = 0;  // of the last pair
  bool has_second_ = false;
};

// The seed of a node's numbers: its attribute `seed`, or else the name of its first output. A node
// gives the same numbers each time it runs, within a loop too.
uint64_t SeedOf(const Node& node);

// Significant bits of a floating type: uniform numbers of so many bits are exact in it, so that
// none rounds to the upper bound 1.
int SignificantBits(DType dtype);

}  // namespace x2ir

#endif  // X2IR_OPS_RANDOM_H_
