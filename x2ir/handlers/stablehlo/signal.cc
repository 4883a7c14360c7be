// StableHLO: Fourier transforms.
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/complex.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"
#include "x2ir/handlers/torch/as_torch.h"

namespace x2ir {
namespace {

absl::StatusOr<Values> FromFft(StablehloArgs& a) {
  const std::string type = a.String("fft_type", "");
  const std::vector<int64_t> length = a.Ints("fft_length");
  const Expr x = a.in(0);
  const auto count = static_cast<int64_t>(length.size());
  if (count < 1 || count > 3 || count > x.rank()) {
    return Invalid("a transform of ", count, " axes of a tensor of rank ", x.rank());
  }
  const std::vector<int64_t> axes = CountedFrom(x.rank() - count, count);
  const bool half = type == "IRFFT";  // of the last axis
  for (size_t i = 0; i < length.size(); ++i) {
    const Dim dim = DimAt(x, axes[i]);
    const bool last = i + 1 == length.size();
    const int64_t wanted = half && last ? length[i] / 2 + 1 : length[i];
    // A transform of nothing gives nothing, whatever it says of its length.
    if (dim.is_static() && dim.value() != wanted) {
      return Invalid("axis ", axes[i], " has ", dim.value(), " elements, not ", wanted);
    }
  }
  const auto transform = [&](std::string_view op, std::vector<AsTorchArgument> more, DType t) {
    more.insert(more.begin(),
                {AsTorchArgument("self", x), AsTorchArgument("dim", Attribute(axes))});
    return AsTorch(a, op, more, {t});
  };
  // Inverse ones divide by the number of elements.
  if (type == "FFT" || type == "IFFT") {
    const bool forward = type == "FFT";
    return transform("aten::_fft_c2c.default",
                     {{"normalization", forward ? 0 : 2}, {"forward", forward}}, x.dtype());
  }
  if (type == "RFFT") {
    return transform("aten::_fft_r2c.default", {{"normalization", 0}, {"onesided", true}},
                     ComplexType(x.dtype()));
  }
  if (!half) return Invalid("fft_type is '", type, "'");
  return transform("aten::_fft_c2r.default",
                   {{"normalization", 2}, {"last_dim_size", length.back()}}, PartType(x.dtype()));
}

}  // namespace

X2IR_STABLEHLO(dft).From("fft", FromFft);

}  // namespace x2ir
