// MXNet: elements picked and put by their numbers, which may be floats, and tensors of numbers in
// order.
#include <cmath>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/elementwise.h"

namespace x2ir {
namespace {

// Indices as int64 in 0 .. size - 1, by that mode.
Expr Indices(SymbolArgs& a, size_t i, const Expr& size, const std::string& mode) {
  const Expr index = a.AsInt64(a.in(i));
  if (mode == "wrap") return Mod(index, size);
  if (mode == "raise") return index;
  a.Require(mode == "clip", StrCat("mode ", mode));
  return Clip(index, Int(a, 0), size - 1);
}

Value* Take(SymbolArgs& a) {
  const int64_t axis = a.Integer("axis", 0);
  const std::string mode = a.Text("mode", "clip");
  return Gather(a.in(0), Indices(a, 1, SizeOf(a.in(0), axis), mode), axis);
}

// Operands: indices, depth as attribute; 1 and 0 by default. An index out of range has no 1.
Value* OneHot(SymbolArgs& a) {
  const int64_t depth = a.Integer("depth", 0);
  a.Require(depth > 0, "a depth of 0");
  const double on = a.Number("on_value", 1), off = a.Number("off_value", 0);
  const DType t = a.ElementType("dtype", DType::kFloat32);
  const Expr index = Unsqueeze(a.AsInt64(a.in(0)), {-1});
  const Expr hit = index == Iota(Int(a, depth));
  return Where(hit, Expr(a, a.b().Scalar(t, on)), Expr(a, a.b().Scalar(t, off)));
}

// The first axis of the indices has the places of each axis.
Expr IndexRows(SymbolArgs& a, size_t i) { return MoveAxis(a.AsInt64(a.in(i)), 0, a.rank(i) - 1); }
absl::StatusOr<Value*> GatherNd(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(1));
  if (rank < 1) return Invalid("indices without an axis");
  return a.Op("gather_nd", {a.in(0), IndexRows(a, 1)}).value();
}
// Operands: data, indices; zeros elsewhere. Of one place twice, nobody says which stays.
absl::StatusOr<Value*> PutNd(SymbolArgs& a, const Expr& into, size_t data, size_t index,
                             std::string_view reduction) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(index));
  if (rank < 1) return Invalid("indices without an axis");
  return ScatterNd(into, IndexRows(a, index), a.in(data), reduction).value();
}
Expr ZerosOfShape(SymbolArgs& a) {
  std::vector<Size> sizes;
  for (const int64_t size : a.Tuple("shape")) {
    a.Require(size >= 0, StrCat("a size of ", size));
    sizes.emplace_back(size);
  }
  return Filled(a, a.dtype(), sizes, 0);
}
absl::StatusOr<Value*> ScatterInZeros(SymbolArgs& a) {
  return PutNd(a, ZerosOfShape(a), 0, 1, "none");
}
absl::StatusOr<Value*> GatherNdBack(SymbolArgs& a) {
  return PutNd(a, ZerosOfShape(a), 0, 1, "add");
}
// Operands: x, data, indices.
absl::StatusOr<Value*> ScatterSetNd(SymbolArgs& a) {
  a.Tuple("shape");
  return PutNd(a, a.in(0), 1, 2, "none");
}
// Operands: x, indices of the first axis, rows.
Value* IndexCopy(SymbolArgs& a) {
  return ScatterSlices(a.in(0), 0, a.AsInt64(a.in(1)), a.in(2), "none");
}
// x with data[i] at x[i, index[i]].
Value* FillElement(SymbolArgs& a) {
  const Expr index = Unsqueeze(a.AsInt64(a.in(2)), {1});
  return ScatterElements(a.in(0), 1, index, Unsqueeze(a.in(1), {1}), "none");
}
// Rows (of an axis) whose mask is not 0.
Value* BooleanMask(SymbolArgs& a) {
  return a.Op("compress", {a.in(0), IsTrue(a.in(1))}, {{"axis", a.Integer("axis", 0)}});
}
// The places of what is not 0, a row each.
Value* NonZero(SymbolArgs& a) { return SwapLast({a, a.Op("non_zero", {a.in(0)})}); }

// [shape..., axes]: the indices of each element.
absl::StatusOr<Value*> IndexArray(SymbolArgs& a) {
  std::vector<int64_t> axes = a.Tuple("axes");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (axes.empty()) axes = CountedFrom(0, rank);
  X2IR_ASSIGN_OR_RETURN(axes, a.Axes(axes));
  Values parts;
  for (const int64_t axis : axes) {
    const Expr along = AlongAxis(Iota(SizeOf(a.in(0), axis)), axis, rank);
    parts.push_back(Expand(along, ShapeOf(a.in(0))));
  }
  return Stack(a, parts, -1).value();
}
Value* RavelIndex(SymbolArgs& a) {
  const std::vector<int64_t> sizes = a.Tuple("shape");
  const Expr index = a.AsInt64(a.in(0));
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i > 1; --i) {
    if (__builtin_mul_overflow(strides[i - 1], sizes[i - 1], &strides[i - 2])) {
      a.Fail(Invalid("a shape that cannot be"));
    }
  }
  Expr sum = Int(a, 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    sum = sum + Gather(index, Int(a, static_cast<int64_t>(i)), 0) * static_cast<double>(strides[i]);
  }
  return sum.To(a.dtype());
}
Value* UnravelIndex(SymbolArgs& a) {
  Values sizes;
  for (const int64_t size : a.Tuple("shape")) sizes.push_back(Int(a, size));
  Values parts = Unraveled(a.AsInt64(a.in(0)), sizes);
  for (Value*& part : parts) part = Expr(a, part).To(a.dtype());
  return Stack(a, parts, 0);
}

// --- Sequences: axis 0 is time (or 1), the other one the batch -----------------------------------

// Steps before each sequence's length, with the axes of x.
Expr InsideOf(SymbolArgs& a, int64_t time) {
  const int64_t rank = a.rank(0);
  const Expr places = AlongAxis(Iota(SizeOf(a.in(0), time)), time, rank);
  return places < AlongAxis(a.AsInt64(a.in(1)), 1 - time, rank);
}
bool HasLengths(SymbolArgs& a) { return a.Flag("use_sequence_length", false); }

absl::StatusOr<Value*> SequenceMask(SymbolArgs& a) {
  const int64_t time = a.Integer("axis", 0);
  const double value = a.Number("value", 0);
  const bool lengths = HasLengths(a);
  X2IR_RETURN_IF_ERROR(a.Rank(0).status());
  if (!lengths) return SameValue(a);
  return Where(InsideOf(a, time), a.in(0), a.in(0).Number(value)).value();
}
absl::StatusOr<Value*> SequenceLast(SymbolArgs& a) {
  const int64_t time = a.Integer("axis", 0);
  const bool lengths = HasLengths(a);
  a.Require(time == 0 || time == 1, StrCat("steps along axis ", time));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  a.Require(rank >= 2, "sequences without a batch");
  const Expr x = a.in(0);
  if (!lengths) return Gather(x, Int(a, -1), time).value();
  Expr last = AlongAxis(a.AsInt64(a.in(1)) - 1, 1 - time, rank);
  std::vector<Size> sizes = AllSizes(x);
  sizes[static_cast<size_t>(time)] = Size(1);
  last = Expand(last, Vector(a, sizes));
  return Squeeze(GatherElements(x, last, time), {time}).value();
}
Value* SequenceReverse(SymbolArgs& a) {
  const int64_t time = a.Integer("axis", 0);
  a.Require(time == 0, "another axis than 0");
  const Expr x = a.in(0);
  const bool lengths = HasLengths(a);
  const Expr count =
      lengths ? a.AsInt64(a.in(1)) : Expand(SizeOf(x, 0), ReshapeTo(SizeOf(x, 1), a.b().Ints({1})));
  return x.Op("reverse_sequence", {count}, {{"time_axis", 0}, {"batch_axis", 1}});
}

// --- Made of nothing -----------------------------------------------------------------------------

// Sizes of 0 are not known yet, unless shapes are NumPy's: 1 broadcasts.
std::vector<int64_t> TakeShape(SymbolArgs& a) {
  std::vector<int64_t> shape = a.Tuple("shape");
  if (!HasNumpyShapes(a)) {
    for (int64_t& size : shape) size = size == 0 ? 1 : size;
  }
  return shape;
}
Expr FilledWith(SymbolArgs& a, double value) {
  const DType t = a.ElementType("dtype", DType::kFloat32);
  std::vector<Size> sizes;
  for (const int64_t size : TakeShape(a)) sizes.emplace_back(size);
  return Filled(a, t, sizes, value);
}
Value* MakeZeros(SymbolArgs& a) { return FilledWith(a, 0); }
Value* MakeOnes(SymbolArgs& a) { return FilledWith(a, 1); }
Value* MakeFull(SymbolArgs& a) {
  return FilledWith(a, a.Number("value", a.Number("fill_value", 0)));
}
Value* FullLike(SymbolArgs& a) {
  const Expr x = a.in(0);
  const DType t = a.ElementType("dtype", x.dtype());
  const double value = a.Number("fill_value", 0);
  return Expand({a, a.b().Scalar(t, value)}, ShapeOf(x));
}

// start, start + step, ... before stop; each `repeat` times.
Value* Arange(SymbolArgs& a) {
  double start = a.Number("start", 0), step = a.Number("step", 1);
  const bool has_stop = a.Given("stop");
  double stop = a.Number("stop", 0);
  if (!has_stop && !a.attrs().Has("infer_range")) stop = start, start = 0;
  a.Require(!a.Flag("infer_range", false), "a range whose end follows from others");
  const int64_t repeat = a.Integer("repeat", 1);
  const DType t = a.ElementType("dtype", DType::kFloat32);
  if (step == 0 || repeat < 1) a.Fail(Invalid("a range without a step"));
  const double count = std::ceil((stop - start) / step);
  a.Require(count < 1e7 && count * static_cast<double>(repeat) < 1e8, "a range of this length");
  std::vector<double> numbers;
  for (double i = 0; i < count; ++i) {
    numbers.insert(numbers.end(), static_cast<size_t>(repeat), start + i * step);
  }
  const auto size = static_cast<int64_t>(numbers.size());
  return NumbersAs(a, t, {size}, numbers);
}
// As many numbers as the axis has, or all axes in their shape.
Value* ArangeLike(SymbolArgs& a) {
  const double start = a.Number("start", 0), step = a.Number("step", 1);
  const int64_t repeat = a.Integer("repeat", 1);
  const auto axis = a.MaybeInteger("axis");
  if (repeat < 1) a.Fail(Invalid("a range without repeats"));
  const Expr x = a.in(0);
  const Expr count = axis ? SizeOf(x, *axis) : Expr(a, a.Op("size", {x}));
  const Expr places = repeat == 1 ? Iota(count) : Iota(count) / Int(a, repeat);
  const Expr numbers = Shifted(Scaled(places.To(x.dtype()), step), start);
  return axis ? numbers : ReshapeTo(numbers, ShapeOf(x));
}
Value* Linspace(SymbolArgs& a) {
  return SpacedNumbers(a, [](double number) { return number; });
}
// Ones where the column is the row and k.
Expr EyeOf(SymbolArgs& a, int64_t rows, int64_t columns, int64_t k, DType t) {
  const Expr row = Unsqueeze(Iota(Int(a, rows)), {1}), column = Iota(Int(a, columns));
  return (column - row == static_cast<double>(k)).To(t);
}
Value* Eye(SymbolArgs& a) {
  const int64_t rows = a.Integer("N", 0), columns = a.Integer("M", 0), k = a.Integer("k", 0);
  const DType t = a.ElementType("dtype", DType::kFloat32);
  return EyeOf(a, rows, columns == 0 ? rows : columns, k, t);
}
Value* Identity(SymbolArgs& a) {
  const std::vector<int64_t> shape = a.Tuple("shape");
  a.Require(shape.size() == 2, "a matrix");
  return EyeOf(a, shape[0], shape[1], 0, a.ElementType("dtype", DType::kFloat32));
}
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
    numbers.push_back(kWindow == 0   ? 0.5 - 0.5 * std::cos(p)
                      : kWindow == 1 ? 0.54 - 0.46 * std::cos(p)
                                     : 0.42 - 0.5 * std::cos(p) + 0.08 * std::cos(2 * p));
    if (count == 1) numbers.back() = 1;
  }
  return NumbersAs(a, t, {count}, numbers);
}

// --- Diagonals -----------------------------------------------------------------------------------

// Of a vector a matrix, of a matrix its diagonal (axis1, axis2).
absl::StatusOr<Value*> Diag(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const int64_t k = a.Integer("k", a.Integer("offset", 0));
  X2IR_RETURN_IF_ERROR(CheckDiagonal(k));
  const Expr x = a.in(0);
  if (rank == 1) {
    const Expr n = SizeOf(x, 0), all = n + static_cast<double>(std::abs(k));
    const Expr row = Unsqueeze(Iota(all), {1}), column = Iota(all);
    const Expr place = k >= 0 ? row : row + static_cast<double>(k);
    const Expr inside = (column - row == static_cast<double>(k));
    const Expr index =
        Clip(Expand(place, Concat(a, {AtLeast1d(all), AtLeast1d(all)}, 0)), Int(a, 0), n - 1);
    return Where(inside, Gather(x, index, 0), x.Number(0)).value();
  }
  X2IR_ASSIGN_OR_RETURN(const Expr y,
                        DiagonalAt(a, x, {a.Integer("axis1", 0), a.Integer("axis2", 1)}, k));
  return y.value();
}
template <bool kUpper>
Value* Triangle(SymbolArgs& a) {
  return a.Op("trilu", {a.in(0), Int(a, a.Integer("k", 0))}, {{"upper", kUpper ? 1 : 0}});
}
// Elements moved along axes, those at the end to the begin.
absl::StatusOr<Value*> Roll(SymbolArgs& a) {
  const std::vector<int64_t> shifts = a.Tuple("shift");
  const auto given = a.AxesAttr();
  Expr x = a.in(0);
  const Expr whole = x;
  if (!given) x = Reshape(x, {-1});
  std::vector<int64_t> axes = given.value_or(std::vector<int64_t>{0});
  if (shifts.empty() || axes.empty() ||
      (shifts.size() != axes.size() && shifts.size() != 1 && axes.size() != 1)) {
    return Invalid(shifts.size(), " shifts of ", axes.size(), " axes");
  }
  for (size_t i = 0; i < std::max(axes.size(), shifts.size()); ++i) {
    const int64_t axis = axes[axes.size() == 1 ? 0 : i], shift = shifts[shifts.size() == 1 ? 0 : i];
    const Expr size = SizeOf(x, axis);
    x = Gather(x, Mod(Iota(size) - static_cast<double>(shift), size), axis);
  }
  return given ? x.value() : ReshapeTo(x, ShapeOf(whole)).value();
}

}  // namespace

Expr SpacedNumbers(SymbolArgs& a, absl::FunctionRef<double(double)> of) {
  const double start = a.Number("start", 0), stop = a.Number("stop", 0);
  const int64_t count = a.Integer("num", 50);
  const bool endpoint = a.Flag("endpoint", true);
  const DType t = a.ElementType("dtype", DType::kFloat32);
  a.Require(count >= 0 && count < 10'000'000, "this many numbers");
  const double parts = static_cast<double>(endpoint ? count - 1 : count);
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(
        of(parts > 0 ? start + (stop - start) * static_cast<double>(i) / parts : start));
  }
  return NumbersAs(a, t, {count}, numbers);
}

absl::Status CheckDiagonal(int64_t k) {
  if (k < -(int64_t{1} << 32) || k > (int64_t{1} << 32)) return Invalid("a diagonal at ", k);
  return absl::OkStatus();
}

absl::StatusOr<Expr> DiagonalAt(SymbolArgs& a, const Expr& x, const std::vector<int64_t>& of,
                                int64_t k) {
  X2IR_RETURN_IF_ERROR(CheckDiagonal(k));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes(of));
  if (axes[0] == axes[1]) return Invalid("one axis twice");
  // The two axes last, then the elements whose numbers go along the diagonal.
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axes[0] && i != axes[1]) perm.push_back(i);
  }
  perm.push_back(axes[0]);
  perm.push_back(axes[1]);
  const Expr m = Transpose(x, perm), rows = SizeOf(m, rank - 2), columns = SizeOf(m, rank - 1);
  const Expr length = k >= 0 ? Min(rows, columns - static_cast<double>(k))
                             : Min(rows + static_cast<double>(k), columns);
  const Expr along = Iota(length);
  const Expr first = k >= 0 ? along : along - static_cast<double>(k);
  const Expr second = k >= 0 ? along + static_cast<double>(k) : along;
  std::vector<Size> sizes = SizesAt(m, 0, rank - 2);
  sizes.emplace_back(int64_t{-1});
  const Expr flat = ReshapeTo(m, sizes);
  return Gather(flat, first * columns + second, rank - 2);
}

X2IR_MXNET(compress).From({"_contrib_boolean_mask", "_npi_boolean_mask"}, BooleanMask);
X2IR_MXNET(constant_of_shape)
    .From({"_zeros", "_npi_zeros", "_zeros_without_dtype"}, MakeZeros)
    .From({"_ones", "_npi_ones"}, MakeOnes)
    .From({"_full", "_npi_full"}, MakeFull)
    .From({"_npi_full_like", "full_like"}, FullLike);
X2IR_MXNET(eye_like).From({"_eye", "_npi_eye"}, Eye).From("_npi_identity", Identity);
X2IR_MXNET(gather).From({"take", "_npi_take"}, Take);
X2IR_MXNET(gather_nd).From({"gather_nd", "_npx_gather_nd"}, GatherNd);
X2IR_MXNET(hann_window).From("_npi_hanning", SignalWindow<0>);
X2IR_MXNET(hamming_window).From("_npi_hamming", SignalWindow<1>);
X2IR_MXNET(blackman_window).From("_npi_blackman", SignalWindow<2>);
X2IR_MXNET(non_zero).From({"_npx_nonzero"}, NonZero);
X2IR_MXNET(one_hot).From({"one_hot", "_npx_one_hot"}, OneHot);
X2IR_MXNET(range)
    .From({"_arange", "_npi_arange"}, Arange)
    .From({"_contrib_arange_like", "_npx_arange_like"}, ArangeLike)
    .From({"_linspace", "_npi_linspace"}, Linspace)
    .From({"_contrib_index_array", "_npx_index_array"}, IndexArray)
    .From({"_ravel_multi_index", "ravel_multi_index"}, RavelIndex)
    .From({"_unravel_index", "unravel_index"}, UnravelIndex);
X2IR_MXNET(reverse_sequence).From("SequenceReverse", SequenceReverse);
X2IR_MXNET(gather_elements).From({"SequenceLast"}, SequenceLast);
X2IR_MXNET(where).From({"SequenceMask", "_npx_sequence_mask"}, SequenceMask);
X2IR_MXNET(scatter_nd)
    .From({"scatter_nd", "_npx_scatter_nd"}, ScatterInZeros)
    .From("_backward_gather_nd", GatherNdBack)
    .From({"_scatter_set_nd", "_npi_scatter_set_nd"}, ScatterSetNd)
    .From({"_contrib_index_copy", "_npx_index_copy"}, IndexCopy);
X2IR_MXNET(scatter_elements).From("fill_element_0index", FillElement);
X2IR_MXNET(trilu)
    .From("_npi_tril", Triangle<false>)
    .From("_npi_triu", Triangle<true>)
    .From({"diag", "_np_diag", "_npi_diag", "_np_diagonal", "_npi_diagonal"}, Diag);
X2IR_MXNET(slice).From({"_np_roll", "_npi_roll"}, Roll);

}  // namespace x2ir
