// MXNet: elements picked and put by their numbers, which may be floats, and tensors of numbers in
// order.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/tf/tf.h"

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

// The first axis of the indices has the places of each axis.
Expr IndexRows(SymbolArgs& a, size_t i) { return MoveAxis(a.AsInt64(a.in(i)), 0, a.rank(i) - 1); }

absl::StatusOr<Value*> GatherNd(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(1));
  if (rank < 1) return Invalid("indices without an axis");
  return a.Op("gather_nd", {a.in(0), IndexRows(a, 1)}).value();
}

// Operands: data, indices; zeros elsewhere. Which of two equal indices wins is not specified.
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

// Rows of the weights. Numbers that are out of range are those of the nearest row.
Value* Embedding(SymbolArgs& a) {
  a.Ignore("output_dim");
  a.ElementType("dtype", DType::kFloat32);
  const int64_t count = a.Integer("input_dim", 0);
  Expr index = a.AsInt64(a.in(0));
  if (count > 0) index = Clip(index, Int(a, 0), Int(a, count - 1));
  return Gather(a.in(1), index, 0);
}

// An axis, of one axis that holds all elements where there is none.
struct AxisOf {
  Expr x;
  int64_t axis;
};

AxisOf OrderedAxis(SymbolArgs& a) {
  const bool all = a.attrs().Has("axis") && !a.Given("axis");
  const int64_t axis = a.Integer("axis", -1);
  if (all) return {Reshape(a.in(0), {-1}), 0};
  return {a.in(0), axis};
}

Values TopK(SymbolArgs& a) {
  const auto [x, axis] = OrderedAxis(a);
  const int64_t k = a.Integer("k", 1);
  const std::string kind = a.Text("ret_typ", "indices");
  const bool ascending = a.Flag("is_ascend", false);
  const DType t = a.ElementType("dtype", DType::kFloat32);
  const Expr count = k > 0 ? Ints(a, {k}) : ReshapeTo(SizeOf(x, axis), a.b().Ints({1}));
  const auto [values, places] = TopOf(x, count, axis, !ascending);
  if (kind == "value") return {values};
  if (kind == "both") return {values, places.To(t)};
  if (kind == "mask") {
    const Expr zeros = Expand(x.Number(0), ShapeOf(x));
    const Expr ones = Expand(x.Number(1), ShapeOf(places));
    return {ReshapeTo(ScatterElements(zeros, axis, places, ones, "none"), ShapeOf(a.in(0)))};
  }
  a.Require(kind == "indices", StrCat("ret_typ ", kind));
  return {places.To(t)};
}

Value* SortAxis(SymbolArgs& a) {
  const auto [x, axis] = OrderedAxis(a);
  return Sort(x, axis, !a.Flag("is_ascend", true)).values;
}

Value* ArgSort(SymbolArgs& a) {
  const bool numpy = a.op().starts_with("_np");
  const auto [x, axis] = OrderedAxis(a);
  const DType t = a.ElementType("dtype", numpy ? DType::kInt64 : DType::kFloat32);
  return Sort(x, axis, !a.Flag("is_ascend", true)).indices.To(t);
}

// The element that the index says, of an axis; an index out of range is that of the nearest.
absl::StatusOr<Value*> Pick(SymbolArgs& a) {
  const auto axis = a.MaybeInteger("axis");
  const bool keep = a.Flag("keepdims", false), none = a.attrs().Has("axis") && !axis;
  const std::string mode = a.Text("mode", "clip");
  a.Require(!none, "picks among all elements");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes({axis.value_or(-1)}));
  Expr index = a.AsInt64(a.in(1));
  const Expr size = SizeOf(a.in(0), axes[0]);
  a.Require(mode == "clip" || mode == "wrap", StrCat("mode ", mode));
  index = mode == "clip" ? Clip(index, Int(a, 0), size - 1) : Mod(index, size);
  if (a.rank(1) != a.rank(0)) index = Unsqueeze(index, {axes[0]});
  const Expr picked = GatherElements(a.in(0), index, axes[0]);
  return (keep ? picked : AtLeastOneAxis(a, Squeeze(picked, {axes[0]}))).value();
}

// An index out of range is that of the nearest.
Value* BatchTake(SymbolArgs& a) {
  const Expr index = Clip(a.AsInt64(a.in(1)), Int(a, 0), SizeOf(a.in(0), 1) - 1);
  return Squeeze(GatherElements(a.in(0), Unsqueeze(index, {1}), 1), {1});
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
X2IR_MXNET(gather)
    .From({"take", "_npi_take"}, Take)
    .From({"Embedding", "_contrib_SparseEmbedding", "_npx_embedding"}, Embedding);
X2IR_MXNET(gather_nd).From({"gather_nd", "_npx_gather_nd"}, GatherNd);
X2IR_MXNET(non_zero).From({"_npx_nonzero"}, NonZero);
X2IR_MXNET(reverse_sequence).From("SequenceReverse", SequenceReverse);
X2IR_MXNET(gather_elements)
    .From({"SequenceLast"}, SequenceLast)
    .From({"pick", "_npx_pick", "choose_element_0index"}, Pick)
    .From("batch_take", BatchTake);
X2IR_MXNET(where).From({"SequenceMask", "_npx_sequence_mask"}, SequenceMask);
X2IR_MXNET(scatter_nd)
    .From({"scatter_nd", "_npx_scatter_nd"}, ScatterInZeros)
    .From("_backward_gather_nd", GatherNdBack)
    .From({"_scatter_set_nd", "_npi_scatter_set_nd"}, ScatterSetNd)
    .From({"_contrib_index_copy", "_npx_index_copy"}, IndexCopy);
X2IR_MXNET(scatter_elements).From("fill_element_0index", FillElement);
X2IR_MXNET(top_k)
    .From({"topk", "_npx_topk"}, TopK)
    .From({"sort", "_npi_sort"}, SortAxis)
    .From({"argsort", "_npi_argsort"}, ArgSort);

}  // namespace x2ir
