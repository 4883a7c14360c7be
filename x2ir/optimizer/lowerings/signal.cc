// Fourier transforms of known length as products with a matrix, window functions as formulas.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/constants.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxLength = int64_t{1} << 40;  // of an operand, of which less may count
constexpr int64_t kMaxMatrix = int64_t{1} << 22;  // numbers of a transform's matrix

// --- dft ------------------------------------------------------------------------------------

struct Transform {
  bool inverse, onesided;
  int64_t length;  // of the whole spectrum
  int64_t taken;   // numbers of the operand that count
  int64_t parts_in, bins, parts_out;
};

// The matrix [taken * parts_in, bins * parts_out] of a transform.
std::vector<double> MatrixOf(const Transform& f) {
  const int64_t columns = f.bins * f.parts_out;
  std::vector<double> matrix(f.taken * f.parts_in * columns);
  const int64_t n = f.length;
  for (int64_t k = 0; k < f.taken; ++k) {
    // Half a spectrum also gives the other half, which is its mirror image.
    const bool mirrored = f.inverse && f.onesided && k > 0 && 2 * k != n;
    const double scale = (f.inverse ? 1.0 / static_cast<double>(n) : 1.0) * (mirrored ? 2 : 1);
    for (int64_t m = 0; m < f.bins; ++m) {
      // The angle within one turn: k * m is exact where cosines of large numbers are not.
      const double angle = 2 * kPi * static_cast<double>(k * m % n) / static_cast<double>(n);
      const double c = portable::cos(angle) * scale;
      const double s = (f.inverse ? portable::sin(angle) : -portable::sin(angle)) * scale;
      double* real = &matrix[k * f.parts_in * columns + m * f.parts_out];
      real[0] = c;
      if (f.parts_out == 2) real[1] = s;
      if (f.parts_in == 1) continue;
      double* imaginary = real + columns;
      imaginary[0] = -s;
      if (f.parts_out == 2) imaginary[1] = c;
    }
  }
  return matrix;
}

// One number of a constant operand.
std::optional<int64_t> ConstInt(const Rewrite& r, size_t i) {
  const auto ints = Given(r, i) ? r.ConstInts(i) : std::nullopt;
  return ints && ints->size() == 1 ? std::optional((*ints)[0]) : std::nullopt;
}

// A vector as a batch of one, which runtimes require.
absl::StatusOr<Values> DftInBatch(Rewrite& r) {
  if (r.rank(0) != 2 || !r.target.Has("dft")) return NothingToDo();
  const std::optional<int64_t> axis = Given(r, 2) ? ConstInt(r, 2) : -2;
  if (!axis) return CannotExpress("the axis is computed");
  Builder& b = r.b;
  const Expr x = Unsqueeze({b, r.in(0)}, {0});
  Value* length = Given(r, 1) ? r.in(1) : nullptr;
  return Values{Squeeze(x.Op("dft", {length, b.Int(1, "axis")}, r.attrs()), {0})};
}
X2IR_LOWERING(dft, DftInBatch);

// Half a spectrum, put together with its mirror image.
absl::StatusOr<Values> DftOfWholeSpectrum(Rewrite& r) {
  const Shape* x = r.in(0)->shape();
  if (r.attrs().Int("inverse") == 0 || r.attrs().Int("onesided") == 0 || !x || x->rank() < 2 ||
      !r.target.Has("dft")) {
    return CannotExpress("no half of a spectrum, or of unknown rank");
  }
  const int64_t rank = x->rank();
  const std::optional<int64_t> given = Given(r, 2) ? ConstInt(r, 2) : -2;
  if (!given) return CannotExpress("the axis is computed");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(*given, rank));
  int64_t last = -2;  // that has a mirror image; the first has none
  std::optional<int64_t> half;
  if (Given(r, 1)) {
    const std::optional<int64_t> length = ConstInt(r, 1);
    const Dim& size = (*x)[axis];
    if (!length || *length < 1) return CannotExpress("the length is computed, or none");
    half = *length / 2 + 1;
    if (!size.is_static() || size.value() < *half)
      return CannotExpress("less than half a spectrum");
    last = (*length - 1) / 2;
  }
  Builder& b = r.b;
  const auto slice = [&](Value* v, int64_t begin, int64_t end, int64_t step, int64_t along) {
    return b.Op("slice", {v, b.Ints({begin}, "start"), b.Ints({end}, "end"),
                          b.Ints({along}, "axes"), b.Ints({step}, "step")});
  };
  Value* first = half ? slice(r.in(0), 0, *half, 1, axis) : r.in(0);
  Value* image = slice(r.in(0), last, 0, -1, axis);
  Value* real = slice(image, 0, 1, 1, rank - 1);
  Value* imaginary = b.Op("neg", {slice(image, 1, 2, 1, rank - 1)});
  image = b.Op("concat", {real, imaginary}, {{"axis", rank - 1}});
  Value* whole = b.Op("concat", {first, image}, {{"axis", axis}});
  AttributeMap attrs = r.attrs();
  attrs.Set("onesided", 0);
  Value* y = b.Op("dft", {whole, nullptr, b.Int(axis, "axis")}, std::move(attrs));
  return Values{slice(y, 0, 1, 1, rank - 1)};
}
X2IR_LOWERING(dft, DftOfWholeSpectrum);

// In float64, as evaluation does it.
absl::StatusOr<Values> DftAsMatMul(Rewrite& r) {
  Builder& b = r.b;
  const Shape* x = r.in(0)->shape();
  if (!x || x->rank() < 2 || !IsFloating(r.dtype(0))) {
    return CannotExpress("the type or rank of the operand is not known");
  }
  const int64_t rank = x->rank();
  const std::optional<int64_t> given = Given(r, 2) ? ConstInt(r, 2) : -2;
  if (!given) return CannotExpress("the axis is computed");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(*given, rank));
  const Dim &size = (*x)[axis], &parts = (*x)[rank - 1];
  if (axis == rank - 1 || !size.is_static() || !parts.is_static() || size.value() > kMaxLength) {
    return CannotExpress("the size of the axis is not known, or too large");
  }
  Transform f{};
  f.inverse = r.attrs().Int("inverse") != 0;
  f.onesided = r.attrs().Int("onesided") != 0;
  const bool half_in = f.inverse && f.onesided;
  const std::optional<int64_t> length = Given(r, 1) ? ConstInt(r, 1)
                                        : half_in   ? 2 * (size.value() - 1)
                                                    : size.value();
  if (!length || *length < 1) return CannotExpress("the length is not known, or none");
  f.length = *length;
  f.taken = std::min(size.value(), half_in ? f.length / 2 + 1 : f.length);
  f.parts_in = parts.value();
  f.parts_out = half_in ? 1 : 2;
  f.bins = f.onesided && !f.inverse ? f.length / 2 + 1 : f.length;
  if (f.taken < 1 || f.length > kMaxMatrix ||
      f.taken * f.parts_in > kMaxMatrix / (f.bins * f.parts_out)) {
    return CannotExpress("a transform of length ", f.length, " makes too large a matrix");
  }
  Value* v = Expr(b, r.in(0)).To(DType::kFloat64);
  if (f.taken < size.value()) {
    v = b.Op("slice", {v, b.Ints({0}, "start"), b.Ints({f.taken}, "end"), b.Ints({axis}, "axes")});
  }
  // The axis next to the parts, and both as one.
  std::vector<int64_t> perm(rank), back(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + axis, perm.begin() + axis + 1, perm.end() - 1);
  for (int64_t i = 0; i < rank; ++i) back[perm[i]] = i;
  const bool moves = axis != rank - 2;
  if (moves) v = b.Op("transpose", {v}, {{"perm", perm}});
  std::vector<int64_t> sizes(rank - 2, 0);  // 0: as it is
  sizes.push_back(f.taken * f.parts_in);
  v = b.Op("reshape", {v, b.Ints(sizes, "shape")});
  Value* matrix = NumbersAs(b, DType::kFloat64, {f.taken * f.parts_in, f.bins * f.parts_out},
                            MatrixOf(f), "matrix");
  v = b.Op("matmul", {v, matrix});
  sizes.back() = f.bins;
  sizes.push_back(f.parts_out);
  v = b.Op("reshape", {v, b.Ints(sizes, "shape")});
  if (moves) v = b.Op("transpose", {v}, {{"perm", back}});
  return Values{Expr(b, v).To(r.dtype(0))};
}
X2IR_LOWERING(dft, DftAsMatMul);

// Whether a transform along that axis gives the shape that the result is known to have.
bool Fits(const Rewrite& r, int64_t axis) {
  const Shape &x = *r.in(0)->shape(), *y = r.node.output(0)->shape();
  const bool inverse = r.attrs().Int("inverse") != 0;
  if (!y || y->rank() != x.rank()) return false;
  for (int64_t i = 0; i + 1 < x.rank(); ++i) {
    Dim want = x[i];
    if (i == axis && inverse) want = (x[i] - Dim(1)) * Dim(2);
    if (i == axis && !inverse) want = FloorDiv(x[i], Dim(2)) + Dim(1);
    if (!want.is_static() || (*y)[i] != want) return false;
  }
  return true;
}

// An axis that is computed: each that it may be, and the choice between them. A one-sided
// transform changes the size of its axis, which tells the axis, or leaves few.
absl::StatusOr<Values> DftOfAnyAxis(Rewrite& r) {
  const Shape* x = r.in(0)->shape();
  if (!Given(r, 2) || r.in(2)->fixed_constant() || !x || Given(r, 1)) {
    return CannotExpress("the axis is constant, or the length is not that of the axis");
  }
  Builder& b = r.b;
  const int64_t rank = x->rank();
  Value* axis = Expr(b, b.Op("reshape", {r.in(2), b.Ints({1}, "shape")})).To(DType::kInt64);
  axis = b.Op("squeeze", {axis, b.Ints({0}, "axes")});
  Value* y = nullptr;
  for (int64_t i = 0; i + 1 < rank; ++i) {
    if (r.attrs().Int("onesided") != 0 && !Fits(r, i)) continue;
    Value* along = b.Op("dft", {r.in(0), nullptr, b.Int(i, "axis")}, r.attrs());
    Value* is = b.Op("or", {b.Op("equal", {axis, b.Int(i, "axis")}),
                            b.Op("equal", {axis, b.Int(i - rank, "axis")})});
    y = y ? b.Op("where", {is, along, y}) : along;
  }
  if (!y) return CannotExpress("which axis is transformed is not known");
  return Values{y};
}
X2IR_LOWERING(dft, DftOfAnyAxis);

// --- stft -----------------------------------------------------------------------------------

absl::StatusOr<Values> StftAsDft(Rewrite& r) {
  Builder& b = r.b;
  const Shape* x = r.in(0)->shape();
  const Shape* window = Given(r, 2) ? r.in(2)->shape() : nullptr;
  if (!x || x->rank() != 3 || !IsFloating(r.dtype(0)) || !IsInteger(r.dtype(1))) {
    return CannotExpress("the signal's rank or the element types are not known");
  }
  const std::optional<int64_t> length =
      (*x)[1].is_static() ? std::optional((*x)[1].value()) : std::nullopt;
  std::optional<int64_t> frame;
  if (window && window->rank() == 1 && (*window)[0].is_static()) frame = (*window)[0].value();
  if (!frame && Given(r, 3)) frame = ConstInt(r, 3);
  if (!frame && !Given(r, 2) && !Given(r, 3)) frame = length;
  // As long as the window, or as operand 3 says.
  if (frame && *frame < 1) return CannotExpress("a frame of ", *frame);
  if (length && frame && *length < *frame) return CannotExpress("a signal shorter than a frame");
  Value* index;  // [frames, length of a frame]
  const std::optional<int64_t> step = ConstInt(r, 1);
  const auto scalar = [&](Value* x) {
    x = Expr(b, b.Op("reshape", {x, b.Ints({1}, "shape")})).To(DType::kInt64);
    return Expr(b, b.Op("squeeze", {x, b.Ints({0}, "axes")}));
  };
  if (length && step && frame) {
    if (*step < 1) return CannotExpress("a step of ", *step);
    const int64_t frames = (*length - *frame) / *step + 1;
    if (frames > kMaxLoweringElements / *frame) return CannotExpress(frames, " frames");
    std::vector<int64_t> picks;
    for (int64_t f = 0; f < frames; ++f) {
      for (int64_t k = 0; k < *frame; ++k) picks.push_back(f * *step + k);
    }
    index = b.Constant(Tensor::Of<int64_t>({frames, *frame}, absl::MakeConstSpan(picks)), "frames");
  } else {
    const Expr by = scalar(r.in(1));
    const Expr size = frame         ? Int(b, *frame)
                      : Given(r, 2) ? SizeOf({b, r.in(2)}, 0)
                      : Given(r, 3) ? scalar(r.in(3))
                                    : SizeOf({b, r.in(0)}, 1);
    // A signal shorter than a frame has no frames.
    const Expr count = (SizeOf({b, r.in(0)}, 1) - size + by) / by;
    const auto counting = [&](const Expr& end) {
      return Expr(b, b.Op("range", {b.Int(0, "start"), end, b.Int(1, "step")}));
    };
    const Expr starts = (counting(count) * by).Op("unsqueeze", {b.Ints({1}, "axes")});
    index = starts + (frame ? Expr(b, Counting(b, *frame, DType::kInt64)) : counting(size));
  }
  Value* v = b.Op("gather", {Expr(b, r.in(0)).To(DType::kFloat64), index}, {{"axis", 1}});
  if (Given(r, 2)) {
    Value* w = b.Op("unsqueeze", {Expr(b, r.in(2)).To(DType::kFloat64), b.Ints({1}, "axes")});
    v = b.Op("mul", {v, w});
  }
  v = b.Op("dft", {v, nullptr, b.Int(2, "axis")},
           {{"inverse", 0}, {"onesided", r.attrs().Int("onesided")}});
  return Values{Expr(b, v).To(r.dtype(0))};
}
X2IR_LOWERING(stft, StftAsDft);

// --- mel_weight_matrix ----------------------------------------------------------------------

// Triangles over the bins of a spectrum, between edges that are even on the mel scale, in float64.
absl::StatusOr<Values> MelAsArithmetic(Rewrite& r) {
  const std::optional<DType> dtype = ParseDType(r.attrs().String("dtype"));
  if (!dtype) return CannotExpress("the element type is not known");
  Builder& b = r.b;
  const auto scalar = [&](size_t i, DType type) {
    Value* x = Expr(b, b.Op("reshape", {r.in(i), b.Ints({1}, "shape")})).To(type);
    return Expr(b, b.Op("squeeze", {x, b.Ints({0}, "axes")}));
  };
  const auto counting = [&](const Expr& end) {
    return Expr(b, b.Op("range", {b.Int(0, "start"), end, b.Int(1, "step")})).To(DType::kFloat64);
  };
  const auto mel = [](const Expr& hertz) {
    return Log(Shifted(hertz / 700.0, 1)) * (2595 / portable::log(10.0));
  };
  const Expr mels = scalar(0, DType::kInt64), length = scalar(1, DType::kInt64);
  const Expr low = mel(scalar(3, DType::kFloat64)), high = mel(scalar(4, DType::kFloat64));
  const Expr places = mels + 2.0;
  const Expr marks = counting(places) * ((high - low) / places.To(DType::kFloat64)) + low;
  const Expr hertz = Shifted(Exp(marks * (portable::log(10.0) / 2595)), -1) * 700.0;
  const Expr edges =
      Floor(Shifted(length.To(DType::kFloat64), 1) * hertz / scalar(2, DType::kFloat64));
  const auto part = [&](int64_t from, int64_t to) {
    return Expr(b, b.Op("slice", {edges, b.Ints({from}, "starts"), b.Ints({to}, "ends"),
                                  b.Ints({0}, "axes")}));
  };
  const Expr left = part(0, -2), center = part(1, -1), right = part(2, INT64_MAX);
  const Expr bin = counting(length / 2.0 + 1.0).Op("unsqueeze", {b.Ints({1}, "axes")});
  // Where two edges are one, so is the triangle's side.
  const Expr up = Where(left < center, Max((bin - left) / Max(center - left, 1), 0),
                        (bin == center).To(DType::kFloat64));
  const Expr down = Max((right - bin) / Max(right - center, 1), 0);
  return Values{Where(bin <= center, up, down).To(*dtype)};
}
// --- Windows --------------------------------------------------------------------------------

// a0 - a1 cos(t) + a2 cos(2t) over one turn, in float64.
absl::StatusOr<Values> CosineWindow(Rewrite& r, double a0, double a1, double a2) {
  const std::optional<DType> dtype = ParseDType(r.attrs().String("dtype"));
  if (!dtype || !IsInteger(r.dtype(0))) return CannotExpress("the element types are not known");
  Builder& b = r.b;
  const auto number = [&](double v) { return b.Scalar(DType::kFloat64, v); };
  Value* size = Expr(b, b.Op("reshape", {r.in(0), b.Ints({1}, "shape")})).To(DType::kInt64);
  size = b.Op("squeeze", {size, b.Ints({0}, "axes")});
  Value* places = b.Op("range", {b.Int(0, "start"), size, b.Int(1, "step")});
  Value* turn = Expr(b, size).To(DType::kFloat64);
  if (r.attrs().Int("periodic") == 0) turn = b.Op("sub", {turn, number(1)});
  Value* t =
      b.Op("div", {b.Op("mul", {Expr(b, places).To(DType::kFloat64), number(2 * kPi)}), turn});
  Value* y = b.Op("sub", {number(a0), b.Op("mul", {number(a1), b.Op("cos", {t})})});
  if (a2 != 0) {
    Value* twice = b.Op("cos", {b.Op("mul", {number(2), t})});
    y = b.Op("add", {y, b.Op("mul", {number(a2), twice})});
  }
  return Values{Expr(b, y).To(*dtype)};
}

absl::StatusOr<Values> Hann(Rewrite& r) { return CosineWindow(r, 0.5, 0.5, 0); }
absl::StatusOr<Values> Hamming(Rewrite& r) { return CosineWindow(r, 25.0 / 46, 21.0 / 46, 0); }
absl::StatusOr<Values> Blackman(Rewrite& r) { return CosineWindow(r, 0.42, 0.5, 0.08); }
X2IR_LOWERING(hann_window, AsConstant);
X2IR_LOWERING(hann_window, Hann);
X2IR_LOWERING(hamming_window, AsConstant);
X2IR_LOWERING(hamming_window, Hamming);
X2IR_LOWERING(blackman_window, AsConstant);
X2IR_LOWERING(blackman_window, Blackman);
X2IR_LOWERING(mel_weight_matrix, AsConstant);
X2IR_LOWERING(mel_weight_matrix, MelAsArithmetic);

}  // namespace
}  // namespace x2ir
