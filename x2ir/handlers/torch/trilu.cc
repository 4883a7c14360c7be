// Matrices by their diagonals: triangles, diagonals made and taken, traces, Vandermonde's.
#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/views.h"

namespace x2ir {
namespace {

// In a type that every runtime has a kernel for; zeros are zeros in all of them.
Values Triangle(TorchCall& c, bool upper) {
  Value* x = c.Tensor("self");
  if (c.Rank(x) < 2) return c.Fail(Invalid("of a tensor of rank ", c.Rank(x)));
  const DType t = x->dtype();
  const bool counts = IsInteger(t) || t == DType::kBool;
  const DType wide = counts ? DType::kInt64 : IsFloating(t) ? AtLeastFloat32(t) : t;
  Value* y = c.Op("trilu", {c.Cast(x, wide), c.SymInt("diagonal", 0)}, {{"upper", upper}});
  return {c.Cast(y, t)};
}

Values TriangleIndices(TorchCall& c, bool upper) {
  const int64_t rows = c.Int("row"), columns = c.Int("col"), offset = c.Int("offset", 0);
  c.Ignore({"dtype", "layout", "device", "pin_memory"});
  int64_t room = 0;
  if (rows < 0 || columns < 0) return c.Fail(Invalid("a negative size"));
  if (__builtin_mul_overflow(rows, columns, &room) || room > kMaxPositions) {
    return c.Fail(Unimplemented("of too many elements"));
  }
  std::vector<int64_t> row, column;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const bool kept = upper ? j - i >= offset : j - i <= offset;
      if (!kept) continue;
      row.push_back(i);
      column.push_back(j);
    }
  }
  const int64_t count = static_cast<int64_t>(row.size());
  row.insert(row.end(), column.begin(), column.end());
  return {c.Cast(Reshape(Ints(c, row), {2, count}), OutType(c))};
}

// The last axis of x as a diagonal of matrices whose axes are axis1 and axis2 of the result.
Value* DiagEmbed(TorchCall& c, Value* x, int64_t offset, int64_t axis1, int64_t axis2) {
  const int64_t rank = c.Rank(x);
  constexpr int64_t kFar = int64_t{1} << 31;
  if (offset < -kFar || offset > kFar) {
    c.Fail(Invalid("offset ", offset, " is out of range"));
    return x;
  }
  const DType t = x->dtype(), wide = IsComplex(t) ? t : WideType(t);
  x = c.Cast(x, wide);
  const int64_t away = std::abs(offset);
  if (away > 0) {
    std::vector<Size> sizes = SizesAt({c, x}, 0, rank - 1);
    sizes.push_back(away);
    x = Concat(c, {x, Filled(c, wide, sizes, 0)}, rank - 1);
  }
  Value* position = Iota(SizeOf({c, x}, rank - 1));
  // Element (i, j) of the diagonal is number i above the main one, number j below it.
  Value* shifted = c.Op("add", {Unsqueeze({c, position}, {1}), Int(c, offset)});
  Value* mask = c.Op("equal", {shifted, Unsqueeze({c, position}, {0})});
  Value* spread = Unsqueeze({c, x}, {offset >= 0 ? rank : rank - 1});
  Value* y = Select({c, mask}, {c, spread}, c.Constant(wide, 0));
  y = c.Cast(y, t);
  std::vector<int64_t> perm(static_cast<size_t>(rank) + 1, -1);
  perm[static_cast<size_t>(axis1)] = rank - 1;
  perm[static_cast<size_t>(axis2)] = rank;
  int64_t next = 0;
  for (int64_t& place : perm) {
    if (place < 0) place = next++;
  }
  return Transpose({c, y}, perm);
}

Values DiagEmbedOf(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t rank = c.Rank(x) + 1;
  const int64_t axis1 = c.NormalAxis(c.Int("dim1", -2), rank);
  const int64_t axis2 = c.NormalAxis(c.Int("dim2", -1), rank);
  if (axis1 == axis2 || rank < 2) return c.Fail(Invalid("expected two different axes"));
  // Swapped axes mirror the matrix.
  return {DiagEmbed(c, x, c.Int("offset", 0), axis1, axis2)};
}

Values Diag(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t offset = c.Int("diagonal", 0);
  if (c.Rank(x) == 1) return {DiagEmbed(c, x, offset, 0, 1)};
  if (c.Rank(x) == 2) return {Diagonal({c, x}, offset, 0, 1)};
  return c.Fail(Invalid("of a tensor of rank ", c.Rank(x)));
}

Values Diagflat(TorchCall& c) {
  return {DiagEmbed(c, Reshape(c.Tensor("self"), {-1}), c.Int("offset", 0), 0, 1)};
}

Values Trace(TorchCall& c) {
  Value* x = c.Tensor("self");
  if (c.Rank(x) != 2) return c.Fail(Invalid("of a tensor of rank ", c.Rank(x)));
  const DType t = OutType(c), wide = IsFloating(t) ? AtLeastFloat32(t) : t;
  Value* diagonal = c.Cast(Diagonal({c, x}, 0, 0, 1), wide);
  return {c.Cast(Reduce({c, diagonal}, "reduce_sum", {0}, false), t)};
}

// A number where all indices are the same; `wrap`: again below each square of a tall matrix.
Values FillDiagonal(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t rank = c.Rank(x);
  const DType t = x->dtype(), wide = WideType(t);
  Value* value = c.Cast(c.Operand("fill_value", t), wide);
  const bool wrap = c.Bool("wrap", false);
  RequireReal({c, x});
  if (rank < 2) return c.Fail(Invalid("of a tensor of rank ", rank));
  Value* row = Iota(SizeOf({c, x}, 0));
  if (wrap && rank == 2) {
    Value* period = c.Op("add", {SizeOf({c, x}, 1), Int(c, 1)});
    row = c.Op("mod", {row, period}, {{"fmod", 0}});
  }
  Value* first = AlongAxis({c, row}, 0, rank);
  Value* mask = nullptr;
  for (int64_t axis = 1; axis < rank; ++axis) {
    Value* same = c.Op("equal", {first, AlongAxis(Iota(SizeOf({c, x}, axis)), axis, rank)});
    mask = mask ? c.Op("and", {mask, same}) : same;
  }
  return {c.Cast(Select({c, mask}, {c, value}, c.Cast(x, wide)), t)};
}

// 1, x, x * x, ...: products one after the other, as PyTorch has it.
Values Vander(TorchCall& c) {
  constexpr int64_t kMaxColumns = 1024;
  Value* x = AtLeast1d(c.Cast(c.Tensor("x"), OutType(c)));
  const int64_t rank = c.Rank(x);
  RequireReal({c, x});
  const auto size = KnownSizes(x, rank - 1, rank);
  if (!c.Has("N") && !size) return c.Fail(Unimplemented("needs a size that is known"));
  const int64_t columns = c.Int("N", size ? (*size)[0] : 0);
  if (columns < 1 || columns > kMaxColumns) {
    return c.Fail(Unimplemented("of ", columns, " columns"));
  }
  const DType t = x->dtype(), wide = WideType(t);
  x = Unsqueeze({c, x}, {rank});
  Value* wide_x = c.Cast(x, wide);
  Value* power = Filled(c, t, AllSizes({c, x}), 1);
  std::vector<Value*> parts;
  for (int64_t i = 0; i < columns; ++i) {
    // Rounded after each product.
    if (i > 0) power = c.Cast(c.Op("mul", {c.Cast(power, wide), wide_x}), t);
    parts.push_back(power);
  }
  return {Concat(c, parts, rank)};
}

X2IR_TORCH(trilu)
    .From("aten::tril.default", [](TorchCall& c) { return Triangle(c, false); })
    .From("aten::triu.default", [](TorchCall& c) { return Triangle(c, true); });
X2IR_TORCH(reshape)
    .From("aten::tril_indices.default", [](TorchCall& c) { return TriangleIndices(c, false); })
    .From("aten::triu_indices.default", [](TorchCall& c) { return TriangleIndices(c, true); });
X2IR_TORCH(where)
    .From({"aten::diag_embed.default", "aten::diag_embed_copy.default"}, DiagEmbedOf)
    .From("aten::diag.default", Diag)
    .From("aten::diagflat.default", Diagflat)
    .From("aten::fill_diagonal.default", FillDiagonal);
X2IR_TORCH(reduce_sum).From("aten::trace.default", Trace);
X2IR_TORCH(mul).From({"aten::linalg_vander.default"}, Vander);

}  // namespace
}  // namespace x2ir
