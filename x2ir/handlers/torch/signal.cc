// Fourier transforms and shifts. Complex numbers are pairs along a last axis here, as the IR op dft
// has them; a real tensor that is transformed has one number there.
#include <cmath>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// How often 1 / sqrt(n) a transform of n numbers is multiplied by: 0, 1 or 2.
int RootsOf(const std::string& norm, bool forward) {
  if (norm == "ortho") return 1;
  return (norm == "forward") == forward ? 2 : 0;
}

// What transforms multiply by, all axes together.
class Factor {
 public:
  // 1 / sqrt(n), `roots` times; of an inverse dft, which divides by n itself, n as well.
  void Take(Builder& b, const Size& n, int roots, bool inverse) {
    const int power = (inverse ? 2 : 0) - roots;
    if (power == 0) return;
    if (n.number) {
      number_ *= portable::pow(static_cast<double>(*n.number), power / 2.0);
      return;
    }
    Expr size = Scalar(b, n).To(DType::kFloat64);
    if (power % 2 != 0) size = Sqrt(size);
    if (power < 0) size = Reciprocal(size);
    computed_ = computed_ ? *computed_ * size : size;
  }
  Expr Of(const Expr& x) const {
    if (!computed_) return Scaled(x, number_);
    return x * Scaled(*computed_, number_).To(x.dtype());
  }

 private:
  double number_ = 1;
  std::optional<Expr> computed_;
};

// Which axes, and the sizes they are cut or continued to; none: the tensor's own. The last axis of
// a real result has a size of its own, and no default but twice the others.
struct Plan {
  std::vector<int64_t> axes;
  std::vector<std::optional<Size>> sizes;
};

// The axis cut to `size` elements, or continued with 0.
Expr Sized(const Expr& x, int64_t axis, const Size& size) {
  Builder& b = x.builder();
  const Size had = SizeAt(x, axis);
  if (had.number && size.number) {
    if (*had.number == *size.number) return x;
    if (*had.number > *size.number) return Slice(x, axis, 0, *size.number);
    return x.Op("pad", {Ints(b, {0, *size.number - *had.number}), x.Number(0), Ints(b, {axis})},
                {{"mode", "constant"}});
  }
  if (DimAt(x, axis) == DimAt(Vector(b, size), 0) && had.value == size.value) return x;
  // Continued by as many as are wanted, of which as many stay.
  const Expr longer = x.Op("pad", {Vector(b, {Size(0), size}), x.Number(0), Ints(b, {axis})},
                           {{"mode", "constant"}});
  return Slice(longer, axis, 0, size);
}

// [..., n, ..., 1 or 2] along an axis; an inverse transform divides by n.
Expr Dft(const Expr& pairs, int64_t axis, bool inverse, bool onesided = false) {
  Builder& b = pairs.builder();
  return pairs.Op("dft", {nullptr, Int(b, axis)}, {{"inverse", inverse}, {"onesided", onesided}});
}

Expr ConjPairs(const Expr& pairs) {
  if (DimAt(pairs, -1) == Dim(1)) return pairs;
  return pairs * NumbersAs(pairs.builder(), pairs.dtype(), {2}, {1, -1});
}

// All axes of the plan but the last `but`, complex to complex.
Expr Transformed(Expr pairs, const Plan& plan, size_t but, bool forward, int roots,
                 Factor& factor) {
  for (size_t k = 0; k + but < plan.axes.size(); ++k) {
    const int64_t axis = plan.axes[k];
    if (plan.sizes[k]) pairs = Sized(pairs, axis, *plan.sizes[k]);
    factor.Take(pairs.builder(), SizeAt(pairs, axis), roots, !forward);
    pairs = Dft(pairs, axis, !forward);
  }
  return pairs;
}

// The spectrum of a real signal, half of it or all.
Expr RealIn(const Expr& x, const Plan& plan, bool forward, bool onesided, int roots) {
  Factor factor;
  const int64_t last = plan.axes.back();
  Expr pairs = PairsOf(x);
  if (plan.sizes.back()) pairs = Sized(pairs, last, *plan.sizes.back());
  factor.Take(pairs.builder(), SizeAt(pairs, last), roots, false);
  pairs = Dft(pairs, last, false, onesided);
  if (!forward) pairs = ConjPairs(pairs);
  return ComplexOfPairs(factor.Of(Transformed(pairs, plan, 1, forward, roots, factor)));
}

// The real signal of half a spectrum, whose other half is its mirror image. forward: of the
// conjugate.
Expr RealOut(const Expr& x, const Plan& plan, bool forward, int roots) {
  Builder& b = x.builder();
  Factor factor;
  const int64_t last = plan.axes.back();
  Expr pairs = Transformed(PairsOf(x), plan, 1, forward, roots, factor);
  const Size n =
      plan.sizes.back() ? *plan.sizes.back() : Times(b, Minus(b, SizeAt(pairs, last), 1), 2);
  const Size half = Plus(b, Divided(b, n, 2), 1);
  pairs = Sized(pairs, last, half);
  const Size mirrored = Minus(b, n, half);
  const Expr inner = Slice(pairs, last, 1, Plus(b, mirrored, 1));
  const Expr mirror = ConjPairs(Slice(inner, last, -1, INT64_MIN, Size(-1)));
  const Expr whole = Concat(b, {pairs, mirror}, last);
  factor.Take(b, n, roots, true);
  const Expr signal = Dft(forward ? ConjPairs(whole) : whole, last, true);
  return factor.Of(Gather(signal, Int(b, 0), -1));
}

Expr ComplexInAndOut(const Expr& x, const Plan& plan, bool forward, int roots) {
  Factor factor;
  const Expr pairs = Transformed(PairsOf(x), plan, 0, forward, roots, factor);
  return ComplexOfPairs(factor.Of(pairs));
}

// --- torch.fft ----------------------------------------------------------------------------------

enum TransformAxes { kOne, kTwo, kMany };
enum TransformKind { kComplexBoth, kRealIn, kRealOut };

Plan PlanOf(TorchCall& c, const Expr& x, TransformAxes which) {
  Plan plan;
  const auto size = [](const Size& s) { return s.number == -1 ? std::nullopt : std::optional(s); };
  if (which == kOne) {
    plan.axes = {c.Axis("dim", x.value(), -1)};
    plan.sizes.resize(1);
    if (c.Has("n")) {
      const std::vector<Size> sizes = c.Sizes("n");
      plan.sizes[0] = size(sizes[0]);
    }
    c.Ignore({"n"});
  } else {
    const int64_t rank = x.rank();
    std::vector<Size> sizes;
    const bool sized = c.Has("s");
    if (sized) sizes = c.Sizes("s");
    c.Ignore({"s"});
    if (const auto axes = c.OptInts("dim")) {
      for (const int64_t axis : *axes) plan.axes.push_back(c.NormalAxis(axis, rank));
    } else {
      const int64_t count = which == kTwo ? 2 : sized ? static_cast<int64_t>(sizes.size()) : rank;
      if (count > rank) c.Fail(Invalid(count, " axes of a tensor of rank ", rank));
      plan.axes = CountedFrom(rank - count, count);
    }
    plan.sizes.resize(plan.axes.size());
    if (sized && sizes.size() != plan.axes.size()) {
      c.Fail(Invalid("axes and sizes do not go together"));
    }
    for (size_t k = 0; k < sizes.size(); ++k) plan.sizes[k] = size(sizes[k]);
  }
  for (const auto& n : plan.sizes) {
    if (n && n->number && *n->number < 1) {
      c.Fail(Invalid("a transform of ", *n->number, " elements"));
    }
  }
  if (x.rank() == 0) c.Fail(Invalid("a transform of a number"));
  return plan;
}

TorchHandler Transform(TransformKind kind, TransformAxes which, bool forward) {
  return [=](TorchCall& c) -> Values {
    const Expr x = c.Tensor("self");
    const Plan plan = PlanOf(c, x, which);
    const int roots = RootsOf(c.String("norm", "backward"), forward);
    const DType t = c.out_dtype();
    if (plan.axes.empty()) {
      if (kind != kComplexBoth) return c.Fail(Invalid("a transform of no axes"));
      return {x.To(t).Op("identity")};
    }
    if (kind == kRealIn) return {RealIn(x, plan, forward, true, roots)};
    // A transform of real numbers is that of complex ones without imaginary parts.
    if (kind == kRealOut) return {RealOut(x, plan, forward, roots).To(t)};
    return {ComplexInAndOut(x, plan, forward, roots)};
  };
}

// --- What they are decomposed to ------------------------------------------------------------

// normalization: 0 none, 1 by the root of the size, 2 by the size.
Plan PlainPlan(TorchCall& c, const Expr& x) {
  Plan plan;
  for (const int64_t axis : c.Ints("dim")) plan.axes.push_back(c.NormalAxis(axis, x.rank()));
  plan.sizes.resize(plan.axes.size());
  return plan;
}

Values FftC2c(TorchCall& c) {
  const Expr x = c.Tensor("self");
  const Plan plan = PlainPlan(c, x);
  const int roots = static_cast<int>(c.Int("normalization"));
  const bool forward = c.Bool("forward");
  if (plan.axes.empty()) return {x.Op("identity")};
  return {ComplexInAndOut(x, plan, forward, roots)};
}

Values FftR2c(TorchCall& c) {
  const Expr x = c.Tensor("self");
  const Plan plan = PlainPlan(c, x);
  const int roots = static_cast<int>(c.Int("normalization"));
  const bool onesided = c.Bool("onesided");
  if (plan.axes.empty()) return c.Fail(Invalid("a transform of no axes"));
  return {RealIn(x, plan, true, onesided, roots)};
}

Values FftC2r(TorchCall& c) {
  const Expr x = c.Tensor("self");
  Plan plan = PlainPlan(c, x);
  const int roots = static_cast<int>(c.Int("normalization"));
  const std::vector<Size> size = c.Sizes("last_dim_size");
  if (plan.axes.empty() || size.size() != 1) return c.Fail(Invalid("a transform of no axes"));
  plan.sizes.back() = size[0];
  return {RealOut(x, plan, false, roots).To(c.out_dtype())};
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

// --- Short-time transforms ------------------------------------------------------------------

// What both directions say of their frames. A window is centered in a frame.
struct Frames {
  int64_t size, step;
  std::optional<Expr> window;  // [size]; none: of ones
  bool normalized;
};

Frames FramesOf(TorchCall& c, DType t) {
  Frames f;
  f.size = c.Int("n_fft");
  f.step = c.OptInt("hop_length").value_or(f.size / 4);
  const int64_t length = c.OptInt("win_length").value_or(f.size);
  f.normalized = c.Bool("normalized", false);
  Value* window = c.OptTensor("window");
  if (f.size < 1 || f.step < 1 || length < 1 || length > f.size) {
    c.Fail(Invalid("frames of ", f.size, ", of which ", length, ", every ", f.step));
  }
  if (window && IsComplex(window->dtype())) c.Fail(Unimplemented("complex windows"));
  if (window) {
    f.window = c.Cast(window, t);
  } else if (length < f.size) {
    f.window = NumbersAs(c, t, {length}, std::vector<double>(static_cast<size_t>(length), 1));
  }
  if (length < f.size) {
    const int64_t left = (f.size - length) / 2;
    f.window = f.window->Op("pad", {Ints(c, {left, f.size - length - left}), f.window->Number(0)},
                            {{"mode", "constant"}});
  }
  return f;
}

// [batch, frames, bins, 2] of signals [batch, length, 1 or 2].
Expr Spectra(const Expr& signals, const Frames& f, bool onesided) {
  Builder& b = signals.builder();
  if (DimAt(signals, 2) == Dim(1)) {
    Value* window = f.window ? f.window->value() : nullptr;
    return signals.Op("stft", {Int(b, f.step), window, Int(b, f.size)}, {{"onesided", onesided}});
  }
  // ONNX Runtime's STFT goes wrong with complex signals.
  const Expr step = Int(b, f.step);
  const Expr count = (SizeOf(signals, 1) - Int(b, f.size) + step) / step;
  const Expr places = Unsqueeze(Iota(count) * step, {1}) + Ints(b, CountedFrom(0, f.size));
  Expr frames = Gather(signals, places, 1);
  if (f.window) frames = frames * Unsqueeze(*f.window, {1});
  return Dft(frames, 2, false, onesided);
}

Values Stft(TorchCall& c) {
  Expr x = c.Tensor("self");
  const bool complex_in = IsComplex(x.dtype());
  const bool complex_out = IsComplex(c.out_dtype());
  const DType t = complex_out ? PartType(c.out_dtype()) : c.out_dtype();
  c.Ignore({"return_complex"});  // the result's type says it
  if (c.Bool("align_to_window", false)) return c.Fail(Unimplemented("align_to_window"));
  const Frames f = FramesOf(c, t);
  const bool onesided = c.Bool("onesided", !complex_in);
  const int64_t rank = x.rank();
  if (rank != 1 && rank != 2) return c.Fail(Invalid("a signal of rank ", rank));
  if (rank == 1) x = Unsqueeze(x, {0});
  Expr pairs = PairsOf(x);
  if (c.op() == "aten::stft.center" && c.Bool("center", true)) {
    const std::string mode = c.String("pad_mode", "reflect");
    const std::string ours = mode == "replicate" ? "edge" : mode == "circular" ? "wrap" : mode;
    pairs = pairs.Op("pad", {Ints(c, {f.size / 2, f.size / 2}), pairs.Number(0), Ints(c, {1})},
                     {{"mode", ours}});
  }
  c.Ignore({"center", "pad_mode"});
  Expr y = Spectra(pairs, f, onesided);
  if (f.normalized) y = y * (1 / std::sqrt(static_cast<double>(f.size)));
  // Frames are columns.
  y = Transpose(y, {0, 2, 1, 3});
  if (rank == 1) y = Squeeze(y, {0});
  return {complex_out ? ComplexOfPairs(y) : y};
}

// The sum of frames [batch, frames, size], each `step` after the one before.
Expr OverlapAdd(const Expr& frames, const Frames& f, const Size& length) {
  Builder& b = frames.builder();
  const Expr y = Transpose(frames, {0, 2, 1})
                     .Op("col2im", {Vector(b, {Size(1), length}), Ints(b, {1, f.size})},
                         {{"strides", {1, f.step}}});
  return Squeeze(y, {1, 2});
}

Values Istft(TorchCall& c) {
  Expr x = c.Tensor("self");
  const bool complex_out = c.Bool("return_complex", false);
  const DType t = PartType(x.dtype());
  if (!IsComplex(x.dtype())) return c.Fail(Unimplemented("spectra of pairs"));
  if (complex_out) return c.Fail(Unimplemented("signals that are complex"));
  const Frames f = FramesOf(c, t);
  const bool center = c.Bool("center", true);
  c.Bool("onesided", true);  // of both kinds half is looked at
  const int64_t rank = x.rank();
  if (rank != 2 && rank != 3) return c.Fail(Invalid("a spectrum of rank ", rank));
  if (rank == 2) x = Unsqueeze(x, {0});
  Plan plan;
  plan.axes = {2};
  plan.sizes = {Size(f.size)};
  Expr frames = RealOut(Transpose(x, {0, 2, 1}), plan, false, f.normalized ? 1 : 2);
  if (f.window) frames = frames * *f.window;
  const Size count = SizeAt(frames, 1);
  const Size length = Plus(c, Times(c, Minus(c, count, 1), f.step), f.size);
  Expr y = OverlapAdd(frames, f, length);
  const Expr window =
      f.window ? *f.window * *f.window
               : NumbersAs(c, t, {f.size}, std::vector<double>(static_cast<size_t>(f.size), 1));
  const Expr weight =
      OverlapAdd(Expand(window, Vector(c, {Size(1), count, Size(f.size)})), f, length);
  y = y / weight;
  const int64_t start = center ? f.size / 2 : 0;
  if (Value* wanted = c.OptSymInt("length")) {
    const auto known = x2ir::KnownInts(wanted);
    const Size size = known && known->size() == 1 ? Size((*known)[0]) : Size(wanted);
    y = Sized(Slice(y, 1, start, kToEnd), 1, size);
  } else if (center) {
    y = Slice(y, 1, start, Minus(c, length, f.size / 2));
  }
  if (rank == 2) y = Squeeze(y, {0});
  return {y.To(c.out_dtype()).Op("identity")};
}

X2IR_TORCH(dft)
    .From("aten::fft_fft.default", Transform(kComplexBoth, kOne, true))
    .From("aten::fft_fft2.default", Transform(kComplexBoth, kTwo, true))
    .From("aten::fft_fftn.default", Transform(kComplexBoth, kMany, true))
    .From("aten::fft_ifft.default", Transform(kComplexBoth, kOne, false))
    .From("aten::fft_ifft2.default", Transform(kComplexBoth, kTwo, false))
    .From("aten::fft_ifftn.default", Transform(kComplexBoth, kMany, false))
    .From("aten::fft_rfft.default", Transform(kRealIn, kOne, true))
    .From("aten::fft_rfft2.default", Transform(kRealIn, kTwo, true))
    .From("aten::fft_rfftn.default", Transform(kRealIn, kMany, true))
    .From("aten::fft_ihfft.default", Transform(kRealIn, kOne, false))
    .From("aten::fft_ihfft2.default", Transform(kRealIn, kTwo, false))
    .From("aten::fft_ihfftn.default", Transform(kRealIn, kMany, false))
    .From("aten::fft_irfft.default", Transform(kRealOut, kOne, false))
    .From("aten::fft_irfft2.default", Transform(kRealOut, kTwo, false))
    .From("aten::fft_irfftn.default", Transform(kRealOut, kMany, false))
    .From("aten::fft_hfft.default", Transform(kRealOut, kOne, true))
    .From("aten::fft_hfft2.default", Transform(kRealOut, kTwo, true))
    .From("aten::fft_hfftn.default", Transform(kRealOut, kMany, true))
    .From("aten::_fft_c2c.default", FftC2c)
    .From("aten::_fft_r2c.default", FftR2c)
    .From("aten::_fft_c2r.default", FftC2r);
X2IR_TORCH(stft).From({"aten::stft.default", "aten::stft.center"}, Stft);
X2IR_TORCH(col2im).From("aten::istft.default", Istft);
X2IR_TORCH(gather)
    .From("aten::fft_fftshift.default", [](TorchCall& c) { return FftShift(c, false); })
    .From("aten::fft_ifftshift.default", [](TorchCall& c) { return FftShift(c, true); });

// Numbers are pairs along the last axis in the IR; complex numbers are between the calls alone.
absl::StatusOr<Value*> WriteDft(TorchWriter& w) {
  const Expr x{w, w.in(0)};
  const DType t = x.dtype();
  if (t != DType::kFloat32 && t != DType::kFloat64) return CannotExpress("numbers of ", Name(t));
  const DType complex = t == DType::kFloat32 ? DType::kComplex64 : DType::kComplex128;
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(2, "axis"));
  int64_t axis = given && !given->empty() ? (*given)[0] : -2;
  if (axis < 0) axis += rank;
  const Dim& parts = (*x->shape())[rank - 1];
  if (!parts.is_static())
    return CannotExpress("numbers of which it is not known if they are pairs");
  const bool inverse = w.Int("inverse") != 0, half = w.Int("onesided") != 0;
  const auto pairs_of = [&](const Shape* shape) {
    if (!shape) return Type::Tensor(complex);
    std::vector<Dim> dims = shape->dims();
    dims.pop_back();
    return Type::Tensor(complex, Shape(std::move(dims)));
  };
  const auto part = [&](int64_t i) {
    return w.Op("gather", {x, w.b().Int(i)}, {{"axis", rank - 1}});
  };
  Value* numbers = part(0);
  if (parts.value() == 2) {
    numbers = w.Call("aten::complex.default", {{"real", numbers}, {"imag", part(1)}},
                     pairs_of(x->shape()));
  }
  TorchArguments arguments = {{"self", numbers}};
  if (w.has(1)) {
    arguments.emplace_back("n", w.Scalar(OneElement(w, w.in(1))));
  } else {
    arguments.emplace_back("n", nullptr);
  }
  arguments.emplace_back("dim", axis);
  const Type result = pairs_of(w.out_type().shape());
  if (half && inverse) {
    const Type real = result.shape() ? Type::Tensor(t, *result.shape()) : Type::Tensor(t);
    return w.Op("unsqueeze",
                {w.Call("aten::fft_irfft.default", std::move(arguments), real), w.b().Ints({-1})});
  }
  const std::string_view op = half      ? "aten::fft_rfft.default"
                              : inverse ? "aten::fft_ifft.default"
                                        : "aten::fft_fft.default";
  Value* spectrum = w.Call(op, std::move(arguments), result);
  // Of real numbers it may be marked as the conjugate of what is in memory.
  if (inverse && parts.value() == 1) {
    spectrum = w.Call("aten::resolve_conj.default", {{"self", spectrum}}, result);
  }
  return w.Call("aten::view_as_real.default", {{"self", spectrum}});
}

}  // namespace

X2IR_TORCH(dft).To("aten::fft_fft.default", WriteDft);

}  // namespace x2ir
