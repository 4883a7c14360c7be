#include "x2ir/handlers/checkpoint/relative.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"

namespace x2ir::checkpoint {

Expr ByDistance(Net& net, const std::vector<int64_t>& numbers, const Expr& distances) {
  const auto most = static_cast<int64_t>(numbers.size() / 2);
  const Expr at = Clip(distances, Int(net.b(), -most), Int(net.b(), most)) + Int(net.b(), most);
  return Gather(Ints(net.b(), numbers), at, 0);
}

Expr Distances(Net& net, const Size& length) {
  const Expr places = Iota(Scalar(net.b(), length));
  return Unsqueeze(places, {0}) - Unsqueeze(places, {1});
}

Expr DistanceRow(Net& net, const Size& length) {
  Builder& b = net.b();
  const Expr n = Scalar(b, length);
  return {b, b.Op("range", {Int(b, 1) - n, n + Int(b, 1), Int(b, 1)})};
}

// A row of 2n becomes one of 2n - 1, so that each row begins one element earlier than that above.
Expr Skewed(Net& net, const Expr& x, const Size& batch, int64_t heads, const Size& length) {
  Builder& b = net.b();
  const Size row = Minus(b, Times(b, length, Size(2)), Size(1)), first = Minus(b, length, Size(1));
  const Expr flat = ReshapeTo(x, {batch, Size(heads), Size(-1)});
  const Expr part = Slice(flat, 2, first, Plus(b, first, Times(b, length, row)));
  return Slice(ReshapeTo(part, {batch, Size(heads), length, row}), 3, Size(0), length);
}

}  // namespace x2ir::checkpoint
