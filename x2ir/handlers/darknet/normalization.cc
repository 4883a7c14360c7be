// Darknet: norms.
#include <cstdlib>

#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/handlers/darknet/darknet.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> BatchNormSection(DarknetArgs& a) {
  const size_t first = a.num_weights() == 4 ? 1 : 0;
  const Expr bias = first == 1 ? a.weights(0) : nullptr;
  return Normed(a, a.image(), bias, a.weights(first), a.weights(first + 1), a.weights(first + 2))
      .value();
}

// x / (kappa + alpha * sum of squares around it)^beta. The kernel carries the sum from channel to
// channel: it begins with the channels before size / 2, adds the one that enters the window and
// subtracts the one that left it, so that channel size / 2 is never added, but subtracted later.
absl::StatusOr<Value*> Normalization(DarknetArgs& a) {
  const int64_t size = a.Integer("size", 5);
  const double alpha = a.Number("alpha", .0001), beta = a.Number("beta", .75),
               kappa = a.Number("kappa", 1);
  const Expr x = a.image();
  const Dim channels = DimAt(x, 1);
  a.Require(channels.is_static() && channels.value() <= 4096, "so many channels");
  const int64_t count = channels.value();
  if (size < 1 || size / 2 > count)
    return Invalid("a norm over ", size, " of ", count, " channels");
  std::vector<double> sum(static_cast<size_t>(count), 0), rows;
  for (int64_t k = 0; k < size / 2; ++k) sum[static_cast<size_t>(k)] = alpha;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t left = k - (size - 1) / 2 - 1, next = k + size / 2;
    if (k > 0 && left >= 0) sum[static_cast<size_t>(left)] -= alpha;
    if (k > 0 && next < count) sum[static_cast<size_t>(next)] += alpha;
    rows.insert(rows.end(), sum.begin(), sum.end());
  }
  const Expr sums = Convolve(a, Square(x), NumbersAs(a, x.dtype(), {count, count, 1, 1}, rows),
                             nullptr, SquareWindow(1, {1, 1}, 1, 0), 1);
  return (x * Pow(sums + kappa, -beta)).value();
}

absl::StatusOr<Value*> L2Norm(DarknetArgs& a) { return L2Normalized(a.image(), {1}, 0).value(); }

}  // namespace

X2IR_DARKNET(batch_normalization).From("batchnorm", BatchNormSection);
X2IR_DARKNET(lrn).From("normalization", Normalization);
X2IR_DARKNET(lp_normalization).From("l2norm", L2Norm);

}  // namespace x2ir
