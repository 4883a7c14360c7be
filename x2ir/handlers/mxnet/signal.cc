// MXNet: signals.
#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/nnvm/symbol.h"

namespace x2ir {
namespace {

// Windows of signal processing, from -pi to pi.
template <int kWindow>
Value* SignalWindow(SymbolArgs& a) {
  const int64_t count = a.Integer("M", 0);
  const DType t = a.ElementType("dtype", DType::kFloat32);
  a.Require(count >= 0 && count < 10'000'000, "this many numbers");
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    const double p =
        count > 1 ? 2 * M_PI * static_cast<double>(i) / static_cast<double>(count - 1) : M_PI;
    numbers.push_back(kWindow == 0   ? 0.5 - 0.5 * portable::cos(p)
                      : kWindow == 1 ? 0.54 - 0.46 * portable::cos(p)
                                     : 0.42 - 0.5 * portable::cos(p) + 0.08 * portable::cos(2 * p));
    if (count == 1) numbers.back() = 1;
  }
  return NumbersAs(a, t, {count}, numbers);
}

}  // namespace

X2IR_MXNET(hann_window).From("_npi_hanning", SignalWindow<0>);
X2IR_MXNET(hamming_window).From("_npi_hamming", SignalWindow<1>);
X2IR_MXNET(blackman_window).From("_npi_blackman", SignalWindow<2>);

}  // namespace x2ir
