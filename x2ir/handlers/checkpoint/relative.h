// Scores of attention that depend on how far a key is from its query. Distances are the places of
// keys less those of queries.
#ifndef X2IR_HANDLERS_CHECKPOINT_RELATIVE_H_
#define X2IR_HANDLERS_CHECKPOINT_RELATIVE_H_

#include <cstdint>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/handlers/checkpoint/net.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// A number for each distance: `numbers` are those of -n, .. 0, .. n; farther ones are as -n and n.
Expr ByDistance(Net& net, const std::vector<int64_t>& numbers, const Expr& distances);
// Distances of `length` queries to as many keys: int64 [length, length].
Expr Distances(Net& net, const Size& length);
// Distances in one row, as Skewed takes them: -(length - 1), .. length; int64 [2 * length].
Expr DistanceRow(Net& net, const Size& length);
// x [batch, heads, length, 2 * length], each query's scores of DistanceRow, as scores of keys:
// [batch, heads, length, length].
Expr Skewed(Net& net, const Expr& x, const Size& batch, int64_t heads, const Size& length);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_RELATIVE_H_
