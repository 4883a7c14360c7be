// Keras, written: images that become larger by whole factors.
#include <cmath>
#include <string>

#include "x2ir/builder/layers/resize.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

// The whole factor of each axis.
absl::StatusOr<std::vector<int64_t>> WholeFactors(KerasWriter& w, int64_t rank) {
  std::vector<double> factors;
  if (w.has(2)) {
    X2IR_ASSIGN_OR_RETURN(factors, AxisFactors(w.node(), rank));
  } else {
    const Shape *in = w.shape(), *out = w.out_type().shape();
    for (int64_t i = 0; out && i < rank; ++i) {
      const bool known = (*in)[i].is_static() && (*out)[i].is_static() && (*in)[i].value() > 0;
      if (!known && !((*in)[i] == (*out)[i])) return CannotExpress("sizes that are not known");
      factors.push_back(known ? static_cast<double>((*out)[i].value()) /
                                    static_cast<double>((*in)[i].value())
                              : 1.0);
    }
  }
  std::vector<int64_t> whole;
  for (const double factor : factors) {
    if (factor < 1 || factor > 1 << 20 || factor != std::floor(factor)) {
      return CannotExpress("a factor of ", factor);
    }
    whole.push_back(static_cast<int64_t>(factor));
  }
  if (static_cast<int64_t>(whole.size()) != rank) return CannotExpress("factors of unknown axes");
  return whole;
}

absl::StatusOr<Value*> ToUpSampling(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  if (rank < 3 || rank > 5 || !IsPlainResize(w.node())) {
    return CannotExpress("a resize that is none of images by factors");
  }
  const Sampling linear = Interpolated("linear", false);
  const Sampling sampling = SamplingOf(w.node());
  const Sampling said[] = {kNearestFloor, kNearestMiddle, linear};
  X2IR_RETURN_IF_ERROR(CheckSampling(sampling, said));
  const bool is_linear = sampling == linear;
  if (is_linear && rank != 4) return CannotExpress("linear images of ", rank - 2, " axes");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> factors, WholeFactors(w, rank));
  const bool last = factors.back() == 1, first = factors[1] == 1;
  if (factors[0] != 1 || (!last && !first) || (!last && rank == 3)) {
    return CannotExpress("factors of other axes than those of images");
  }
  const auto begin = factors.begin() + (last ? 1 : 2);
  const std::vector<int64_t> size(begin, begin + rank - 2);
  AttributeMap config;
  if (rank == 3) {
    config.Set("size", size[0]);
  } else {
    config = {{"size", size}, {"data_format", last ? "channels_last" : "channels_first"}};
  }
  if (rank == 4) config.Set("interpolation", is_linear ? "bilinear" : "nearest");
  return w.Layer(StrCat("UpSampling", rank - 2, "D"), {w.in(0)}, std::move(config), {},
                 w.out_type());
}

}  // namespace

X2IR_KERAS(resize).To("UpSampling2D", ToUpSampling);

}  // namespace x2ir
