// Caffe: norms.
#include <algorithm>

#include "x2ir/builder/layers/norm.h"
#include "x2ir/handlers/caffe/caffe.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> BatchNorm(CaffeArgs& a) {
  const Expr x = a.in(0);
  const bool global = a.Bool("use_global_stats", true);
  const float epsilon = a.Float("eps", 1e-5f);
  a.Drop({"moving_average_fraction"});
  const int64_t rank = a.RankOf();
  if (!global) {
    // By the batch itself, as the definition asks.
    std::vector<int64_t> axes = CountedFrom(2, std::max<int64_t>(rank - 2, 0));
    axes.insert(axes.begin(), 0);
    return Standardized(x, axes, epsilon).value();
  }
  a.Require(a.num_blobs() == 2 || a.num_blobs() == 3,
            "a norm that scales and shifts as well (a layer of another branch)");
  Expr mean = a.blob(0, 1), variance = a.blob(1, 1);
  if (a.num_blobs() == 3) {
    // The sums are divided by how much they weigh; 0: there are none.
    const Tensor* factor = a.blob(2)->fixed_constant();
    a.Require(factor != nullptr, "a factor that is no constant");
    if (factor->num_elements() != 1) return Invalid("a factor of ", factor->num_elements());
    const double sum = factor->AsDouble(0);
    mean = Scaled(mean, sum == 0 ? 0 : 1 / sum);
    variance = Scaled(variance, sum == 0 ? 0 : 1 / sum);
  }
  if (rank < 2) return Invalid("a norm of an operand without channels");
  return BatchNormalize(a, x, nullptr, nullptr, mean, variance, 1, epsilon).value();
}

// Of other branches: PSPNet's has slope, bias, mean and variance, SegNet's a scale and a shift that
// have the statistics in them.
absl::StatusOr<Value*> BranchNorm(CaffeArgs& a) {
  const double epsilon = a.Float("eps", 1e-5f);
  const std::string mode = a.Text("bn_mode", "LEARN");
  a.Drop({"momentum", "frozen"});
  const auto list = [&](size_t i) { return Reshape(a.blob(i), {-1}); };
  if (a.num_blobs() == 4) {
    return BatchNormalize(a, a.in(0), list(0), list(1), list(2), list(3), 1, epsilon).value();
  }
  a.Require(a.num_blobs() == 2 && mode == "INFERENCE",
            "a norm by the batch (bn_mode: LEARN), or of other weights than PSPNet's and SegNet's");
  const int64_t rank = a.RankOf();
  return (a.in(0) * AlongChannels(a.blob(0), rank) + AlongChannels(a.blob(1), rank)).value();
}

absl::StatusOr<Value*> Lrn(CaffeArgs& a) {
  const Expr x = a.in(0);
  const int64_t size = a.Int("local_size", 5);
  const float alpha = a.Float("alpha", 1), beta = a.Float("beta", 0.75f), k = a.Float("k", 1);
  if (size < 1 || size % 2 == 0) return Invalid("a norm over ", size, " neighbours");
  if (a.Text("norm_region", "ACROSS_CHANNELS") == "ACROSS_CHANNELS") {
    return LocalResponseNorm(x, size, alpha, beta, k).value();
  }
  // k has no meaning there.
  return LocalResponseNormWithin(x, size, alpha, beta, 1).value();
}

Value* Mvn(CaffeArgs& a) {
  const Expr x = a.in(0);
  const bool across = a.Bool("across_channels", false);
  const double epsilon = a.Float("eps", 1e-9f);
  const int64_t first = across ? 1 : 2, rank = a.RankOf();
  const std::vector<int64_t> axes = CountedFrom(first, std::max<int64_t>(rank - first, 0));
  if (axes.empty()) a.Fail(Invalid("a norm of an operand of ", rank, " axes"));
  return MeanVarianceNorm(x, axes, a.Bool("normalize_variance", true), epsilon);
}

// SSD's: over all of an image, or over the channels of each pixel.
Value* Normalize(CaffeArgs& a) {
  const Expr x = a.in(0);
  const bool across = a.Bool("across_spatial", true), shared = a.Bool("channel_shared", true);
  const double epsilon = a.Float("eps", 1e-10f);
  a.Require(a.RankOf() == 4, "a norm of what is no image");
  const Expr y = L2Normalized(x, across ? CountedFrom(1, 3) : CountedFrom(1, 1), epsilon);
  const Expr scale = Reshape(a.blob(0), {-1});
  return y * (shared ? scale : Reshape(scale, {1, -1, 1, 1}));
}

}  // namespace

X2IR_CAFFE(batch_normalization)
    .From("BatchNorm", "batch_norm_param", BatchNorm)
    .From("BN", "bn_param", BranchNorm);
X2IR_CAFFE(lrn).From("LRN", "lrn_param", Lrn);
X2IR_CAFFE(instance_normalization).From("MVN", "mvn_param", Mvn);
X2IR_CAFFE(lp_normalization).From("Normalize", "norm_param", Normalize);

}  // namespace x2ir
