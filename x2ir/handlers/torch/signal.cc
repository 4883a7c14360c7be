// Fourier transforms of real tensors that have real results: the inverse ones of half a spectrum
// (irfft) and of Hermitian signals (hfft), and shifts. A real tensor stands for complex numbers
// without imaginary parts. As products with matrices of cosines and sines, in float64.
#include <cmath>
#include <numbers>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/special.h"

namespace x2ir {
namespace {

constexpr DType kDouble = DType::kFloat64;
constexpr int64_t kMost = 1024;  // of a matrix's sizes

struct Complex {
  Expr re;
  std::optional<Expr> im;  // none: 0
};

// [rows, columns]: f(2 pi row column / n).
Expr Waves(Builder& b, int64_t rows, int64_t columns, int64_t n, double (*f)(double)) {
  Tensor table = Tensor::Zeros(kDouble, {rows, columns});
  auto cells = table.mutable_span<double>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      // Turns are counted exactly, and so are the values at their quarters.
      const int64_t part = i * j % n;
      const double turn = static_cast<double>(part) / static_cast<double>(n);
      const double value = f(2 * std::numbers::pi * turn);
      cells[static_cast<size_t>(i * columns + j)] = 4 * part % n == 0 ? std::round(value) : value;
    }
  }
  return {b, b.Constant(std::move(table))};
}

// x along an axis times a matrix.
Expr Along(const Expr& x, int64_t axis, const Expr& matrix) {
  const int64_t last = x.rank() - 1;
  std::vector<int64_t> perm;
  for (int64_t i = 0; i <= last; ++i) perm.push_back(i);
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(last)]);
  const Expr turned = axis == last ? x : x.Op("transpose", {}, {{"perm", perm}});
  const Expr y = MatMul(turned, matrix);
  return axis == last ? y : y.Op("transpose", {}, {{"perm", perm}});
}

std::optional<int64_t> KnownSize(const Expr& x, int64_t axis) {
  const Dim dim = DimAt(x, axis);
  if (!dim.is_static()) return std::nullopt;
  return dim.value();
}
// The axis cut to `size` elements, or continued with 0.
Expr Sized(const Expr& x, int64_t axis, int64_t had, int64_t size) {
  Builder& b = x.builder();
  if (had > size) {
    return x.Op("slice", {Ints(b, {0}), Ints(b, {size}), Ints(b, {axis})});
  }
  if (had == size) return x;
  std::vector<int64_t> pads(static_cast<size_t>(2 * x.rank()), 0);
  pads[static_cast<size_t>(x.rank() + axis)] = size - had;
  return x.Op("pad", {Ints(b, pads), x.Number(0)}, {{"mode", "constant"}});
}

double Scale(const std::string& norm, bool forward, int64_t n) {
  const double size = static_cast<double>(n);
  if (norm == "ortho") return 1 / std::sqrt(size);
  return (norm == "forward") == forward ? 1 / size : 1;
}

// Which axes, and the sizes they are cut or continued to; -1: the tensor's own.
struct Plan {
  std::vector<int64_t> axes, sizes;
};
Plan OneAxis(TorchCall& c, const Expr& x) {
  Plan plan;
  plan.sizes = {c.OptInt("n").value_or(-1)};
  plan.axes = {c.Axis("dim", x.value(), -1)};
  return plan;
}
Plan ManyAxes(TorchCall& c, const Expr& x, bool two) {
  Plan plan;
  const int64_t rank = x.rank();
  const auto sizes = c.OptInts("s");
  const auto axes = c.OptInts("dim");
  if (axes) {
    plan.axes = *axes;
  } else {
    const int64_t count = two ? 2 : sizes ? static_cast<int64_t>(sizes->size()) : rank;
    for (int64_t i = rank - count; i < rank; ++i) plan.axes.push_back(i);
  }
  for (int64_t& axis : plan.axes) axis = c.NormalAxis(axis, rank);
  plan.sizes = sizes ? *sizes : std::vector<int64_t>(plan.axes.size(), -1);
  if (plan.sizes.size() != plan.axes.size() || plan.axes.empty()) {
    c.Fail(Invalid("axes and sizes do not go together"));
    plan.axes.clear();
  }
  return plan;
}

// Complex transforms of all axes but the last, of which half a spectrum becomes a real signal.
// forward: of hfft, whose result is that of irfft without its scale.
Values RealResult(TorchCall& c, const Expr& real, const Plan& plan, bool forward) {
  const std::string norm = c.String("norm", "backward");
  if (real.rank() == 0 || plan.axes.empty()) return c.Fail(Invalid("a transform of a number"));
  Complex x{real, std::nullopt};
  for (size_t k = 0; k < plan.axes.size(); ++k) {
    const int64_t axis = plan.axes[k];
    const bool last = k + 1 == plan.axes.size();
    const std::optional<int64_t> known = KnownSize(x.re, axis);
    if (!known) return c.Fail(Unimplemented("a transform of an axis of unknown size"));
    const int64_t had = *known;
    int64_t n = plan.sizes[k];
    if (n == -1) n = last ? 2 * (had - 1) : had;
    if (n < 1) return c.Fail(Invalid("a transform of ", n, " elements"));
    if (n > kMost) return c.Fail(Unimplemented("a transform of ", n, " elements"));
    const int64_t rows = last ? n / 2 + 1 : n;
    const auto sized = [&](const Expr& y) { return Sized(y, axis, had, rows); };
    const double scale = Scale(norm, forward, n);
    const double sign = forward && !last ? -1 : 1;
    Expr cosines = Waves(c, rows, n, n, std::cos) * scale;
    Expr sines = Waves(c, rows, n, n, std::sin) * (scale * sign);
    const Expr re = sized(x.re);
    if (last) {
      // All but the first, and the middle one, stand for two.
      std::vector<double> twice(static_cast<size_t>(rows), 2);
      twice[0] = 1;
      if (n % 2 == 0) twice[static_cast<size_t>(rows) - 1] = 1;
      const Expr weights = Unsqueeze(Doubles(c, twice), {-1});
      Expr y = Along(re, axis, weights * cosines);
      if (x.im) {
        // The forward one takes the conjugate of the spectrum.
        const Expr part = Along(sized(*x.im), axis, weights * sines);
        y = forward ? y + part : y - part;
      }
      return {y.To(c.out_dtype())};
    }
    Expr new_re = Along(re, axis, cosines), new_im = Along(re, axis, sines);
    if (x.im) {
      const Expr im = sized(*x.im);
      new_re = new_re - Along(im, axis, sines);
      new_im = new_im + Along(im, axis, cosines);
    }
    x = Complex{new_re, new_im};
  }
  return {};
}

enum Axes { kOne, kTwo, kMany };
TorchHandler Real(Axes axes, bool forward) {
  return [=](TorchCall& c) -> Values {
    if (IsComplex(c.Tensor("self")->dtype())) {
      return c.Fail(Unimplemented("complex tensors are not supported"));
    }
    const Expr x = c.Operand("self", kDouble);
    const Plan plan = axes == kOne ? OneAxis(c, x) : ManyAxes(c, x, axes == kTwo);
    return RealResult(c, x, plan, forward);
  };
}

// Halves change places: the greater first where sizes are odd, or the smaller (inverse).
Values FftShift(TorchCall& c, bool inverse) {
  Expr x = c.Tensor("self");
  const int64_t rank = x.rank();
  std::vector<int64_t> axes;
  if (const auto given = c.OptInts("dim")) {
    for (const int64_t axis : *given) axes.push_back(c.NormalAxis(axis, rank));
  } else {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  if (rank == 0) return {x.Op("identity").value()};
  for (const int64_t axis : axes) {
    const Expr n = SizeOf(x, axis);
    const Expr from = inverse ? n / 2 : n - n / 2;
    x = Gather(x, Mod(Iota(n) + from, Max(n, 1)), axis);
  }
  return {x.Op("identity").value()};
}

X2IR_TORCH(matmul)
    .From("aten::fft_irfft.default", Real(kOne, false))
    .From("aten::fft_irfft2.default", Real(kTwo, false))
    .From("aten::fft_irfftn.default", Real(kMany, false))
    .From("aten::fft_hfft.default", Real(kOne, true))
    .From("aten::fft_hfft2.default", Real(kTwo, true))
    .From("aten::fft_hfftn.default", Real(kMany, true));
X2IR_TORCH(gather)
    .From("aten::fft_fftshift.default", [](TorchCall& c) { return FftShift(c, false); })
    .From("aten::fft_ifftshift.default", [](TorchCall& c) { return FftShift(c, true); });

}  // namespace
}  // namespace x2ir
