// TensorFlow: bands and diagonals of matrices. If the sizes are known, so is the operand's element
// for every element of a result: a table of indices, and one gather.
#include <algorithm>
#include <functional>
#include <string>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// Tables of places are no longer than this.
constexpr int64_t kMaxPlaces = int64_t{1} << 24;

// Diagonals low .. high of matrices [rows, columns] as rows [diagonals, length], of which the first
// is diagonal `high`. Shorter ones are at either end of their row.
struct Band {
  int64_t low = 0, high = 0, rows = 0, columns = 0;
  bool upper_left = true, lower_left = true;

  int64_t count() const { return high - low + 1; }
  int64_t LengthOf(int64_t d) const {
    return std::min(rows + std::min<int64_t>(d, 0), columns - std::max<int64_t>(d, 0));
  }
  int64_t length() const {
    return std::min(rows + std::min<int64_t>(high, 0), columns - std::max<int64_t>(low, 0));
  }
  int64_t OffsetOf(int64_t d) const {
    const bool left = (d >= 0 && upper_left) || (d <= 0 && lower_left);
    return left ? 0 : length() - LengthOf(d);
  }
  // The index of element (row, column) of the matrix among those of the diagonals; -1: none.
  int64_t PlaceOf(int64_t row, int64_t column) const {
    const int64_t d = column - row;
    if (d < low || d > high) return -1;
    return (high - d) * length() + OffsetOf(d) + std::min(row, column);
  }
  absl::Status Check() const {
    const bool fits = low <= high && (low == 0 || (-rows < low && low < columns)) &&
                      (high == 0 || (-rows < high && high < columns));
    if (!fits) {
      return Invalid("diagonals ", low, " to ", high, " of matrices of [", rows, ",", columns, "]");
    }
    if (rows > kMaxPlaces || columns > kMaxPlaces || rows * columns > kMaxPlaces) {
      return Unimplemented("matrices of [", rows, ",", columns, "]");
    }
    return absl::OkStatus();
  }
};

absl::Status TakeAlign(TfArgs& a, std::string_view fallback, Band* band) {
  const std::string align = a.String("align", fallback);
  if (align != "LEFT_LEFT" && align != "LEFT_RIGHT" && align != "RIGHT_LEFT" &&
      align != "RIGHT_RIGHT") {
    return Invalid("align '", align, "'");
  }
  band->upper_left = align.starts_with("LEFT");
  band->lower_left = align.ends_with("LEFT");
  return absl::OkStatus();
}

absl::Status TakeDiagonals(TfArgs& a, size_t i, Band* band) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> k, a.KnownInts(i, "k"));
  if (k.empty() || k.size() > 2) return Invalid("k: expected one number or two");
  band->low = k.front();
  band->high = k.back();
  for (const int64_t d : k) {
    if (d < -kMaxPlaces || d > kMaxPlaces) return Invalid("k = ", d);
  }
  return absl::OkStatus();
}

// The size of an axis, counted from the last one.
absl::StatusOr<int64_t> KnownSize(TfArgs& a, size_t i, int64_t from_last) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(i));
  if (rank < from_last) return Invalid("operand ", i, " is of rank ", rank);
  const Dim& size = (*a.shape(i))[rank - from_last];
  if (!size.is_static()) return Unimplemented("the sizes of operand ", i, " are not known");
  return size.value();
}

// The last `count` axes as one.
Value* FlattenLast(TfArgs& a, Value* v, int64_t count) {
  if (count == 1) return v;
  const int64_t rank = Expr(a, v).rank();
  if (count == rank) return ReshapeTo({a, v}, Ints(a, {-1}));
  int64_t size = 1;
  for (int64_t i = rank - count; i < rank; ++i) size *= (*v->shape())[i].value();
  return ReshapeTo({a, v}, Concat(a, {ShapeOf({a, v}, 0, rank - count), a.b().Ints({size})}, 0));
}

// An element more at the end of the last axis.
Value* WithPadding(TfArgs& a, Value* v, Value* padding) {
  const int64_t rank = Expr(a, v).rank();
  Value* one = a.b().Ints({1});
  Value* sizes = rank > 1 ? Concat(a, {ShapeOf({a, v}, 0, rank - 1), one}, 0) : one;
  Value* last = a.Op("expand", {padding, sizes});
  return a.Op("concat", {v, last}, {{"axis", rank - 1}});
}

// place(row, column) for each.
Value* Table(TfArgs& a, int64_t rows, int64_t columns,
             const std::function<int64_t(int64_t, int64_t)>& place) {
  std::vector<int64_t> places;
  places.reserve(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) places.push_back(place(i, j));
  }
  return a.b().Constant(Tensor::Of<int64_t>({rows, columns}, places));
}

Value* ZeroOf(TfArgs& a, const Value* like) {
  const DType t = like->dtype();
  if (t == DType::kUndefined || t == DType::kString) {
    a.b().Fail(Unimplemented("elements of ", Name(t)));
    return a.b().Int(0);
  }
  return a.b().Constant(Tensor::Zeros(t, {}));
}

// --- Diagonals to matrices ------------------------------------------------------------------

Value* ToMatrix(TfArgs& a, const Band& band, Value* diagonals, bool in_rows, Value* padding) {
  Value* flat = FlattenLast(a, diagonals, in_rows ? 2 : 1);
  const int64_t nowhere = band.count() * band.length();
  Value* table = Table(a, band.rows, band.columns, [&](int64_t i, int64_t j) {
    const int64_t place = band.PlaceOf(i, j);
    return place < 0 ? nowhere : place;
  });
  return Gather({a, WithPadding(a, flat, padding)}, table, Expr(a, flat).rank() - 1);
}

// Of any size: the diagonal where row and column are one.
Value* MainDiagonal(TfArgs& a, Value* rows, Value* columns, Value* diagonal, Value* others) {
  Value* on = a.Op("equal", {Unsqueeze(Iota({a, rows}), {1}), Iota({a, columns})});
  return Where({a, on}, {a, diagonal}, {a, others});
}

absl::StatusOr<Value*> MatrixDiag(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 1) return Invalid("expected rank 1 or more");
  Value* x = a.in(0);
  Value* size = SizeAt(a, x, rank - 1);
  return MainDiagonal(a, size, size, Unsqueeze({a, x}, {-1}), ZeroOf(a, x));
}

absl::StatusOr<Value*> MatrixDiagOf(TfArgs& a, std::string_view align) {
  Band band;
  X2IR_RETURN_IF_ERROR(TakeAlign(a, align, &band));
  X2IR_RETURN_IF_ERROR(TakeDiagonals(a, 1, &band));
  X2IR_ASSIGN_OR_RETURN(band.rows, a.KnownInt(2, "num_rows"));
  X2IR_ASSIGN_OR_RETURN(band.columns, a.KnownInt(3, "num_cols"));
  X2IR_ASSIGN_OR_RETURN(const int64_t length, KnownSize(a, 0, 1));
  const bool in_rows = band.low != band.high;
  if (in_rows) {
    X2IR_ASSIGN_OR_RETURN(const int64_t count, KnownSize(a, 0, 2));
    if (count != band.count()) return Invalid(count, " diagonals, expected ", band.count());
  }
  // Sizes that are not said are the least ones.
  const int64_t least_rows = length - std::min<int64_t>(band.high, 0);
  const int64_t least_columns = length + std::max<int64_t>(band.low, 0);
  if (band.rows == -1 && band.columns == -1) {
    band.rows = band.columns = std::max(least_rows, least_columns);
  }
  if (band.rows == -1) band.rows = least_rows;
  if (band.columns == -1) band.columns = least_columns;
  if (band.rows < 0 || band.columns < 0) return Invalid("a negative size");
  X2IR_RETURN_IF_ERROR(band.Check());
  if (band.length() != length) {
    return Invalid("diagonals of ", length, " elements in matrices of [", band.rows, ",",
                   band.columns, "]");
  }
  return ToMatrix(a, band, a.in(0), in_rows, a.in(4));
}
absl::StatusOr<Value*> MatrixDiagV2(TfArgs& a) { return MatrixDiagOf(a, "LEFT_LEFT"); }
absl::StatusOr<Value*> MatrixDiagV3(TfArgs& a) { return MatrixDiagOf(a, "RIGHT_LEFT"); }

// --- Matrices to diagonals ------------------------------------------------------------------

Value* ToDiagonals(TfArgs& a, const Band& band, Value* matrix, bool in_rows, Value* padding) {
  Value* flat = FlattenLast(a, matrix, 2);
  const int64_t nowhere = band.rows * band.columns;
  Value* table = Table(a, band.count(), band.length(), [&](int64_t i, int64_t j) {
    const int64_t d = band.high - i, at = j - band.OffsetOf(d);
    if (at < 0 || at >= band.LengthOf(d)) return nowhere;
    return (at + std::max<int64_t>(-d, 0)) * band.columns + at + std::max<int64_t>(d, 0);
  });
  if (!in_rows) table = Squeeze({a, table}, {0});
  const int64_t last = Expr(a, flat).rank() - 1;
  return Gather({a, padding ? WithPadding(a, flat, padding) : flat}, table, last);
}

absl::Status TakeMatrix(TfArgs& a, Band* band) {
  X2IR_ASSIGN_OR_RETURN(band->rows, KnownSize(a, 0, 2));
  X2IR_ASSIGN_OR_RETURN(band->columns, KnownSize(a, 0, 1));
  return band->Check();
}

// The main diagonal of matrices of any size.
absl::StatusOr<Value*> MatrixDiagPart(TfArgs& a) {
  Band band;
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 2) return Invalid("expected rank 2 or more, got ", rank);
  if (!KnownSize(a, 0, 1).ok() || !KnownSize(a, 0, 2).ok()) {
    Value* x = a.in(0);
    Value* rows = SizeAt(a, x, rank - 2);
    Value* columns = SizeAt(a, x, rank - 1);
    Value* step = a.Op("add", {columns, a.b().Int(1)});
    Value* places = a.Op("mul", {Iota(a.Op("min", {rows, columns})), step});
    Value* size = Unsqueeze(a.Op("mul", {rows, columns}), {0});
    Value* flat = rank == 2 ? ReshapeTo({a, x}, Ints(a, {-1}))
                            : ReshapeTo({a, x}, Concat(a, {ShapeOf({a, x}, 0, rank - 2), size}, 0));
    return Gather({a, flat}, places, rank - 2);
  }
  X2IR_RETURN_IF_ERROR(TakeMatrix(a, &band));
  return ToDiagonals(a, band, a.in(0), false, nullptr);
}

absl::StatusOr<Value*> MatrixDiagPartOf(TfArgs& a, std::string_view align) {
  Band band;
  X2IR_RETURN_IF_ERROR(TakeAlign(a, align, &band));
  X2IR_RETURN_IF_ERROR(TakeDiagonals(a, 1, &band));
  X2IR_RETURN_IF_ERROR(TakeMatrix(a, &band));
  if (band.length() <= 0) return Unimplemented("diagonals without elements");
  return ToDiagonals(a, band, a.in(0), band.low != band.high, a.in(2));
}
absl::StatusOr<Value*> MatrixDiagPartV2(TfArgs& a) { return MatrixDiagPartOf(a, "LEFT_LEFT"); }
absl::StatusOr<Value*> MatrixDiagPartV3(TfArgs& a) { return MatrixDiagPartOf(a, "RIGHT_LEFT"); }

// --- Diagonals put into matrices ------------------------------------------------------------

absl::StatusOr<Value*> MatrixSetDiagonals(TfArgs& a, Band band) {
  X2IR_RETURN_IF_ERROR(TakeMatrix(a, &band));
  Value* matrix = a.in(0);
  const bool in_rows = band.low != band.high;
  X2IR_ASSIGN_OR_RETURN(const int64_t length, KnownSize(a, 1, 1));
  if (length != band.length()) return Invalid("diagonals of ", length, " elements");
  if (in_rows) {
    X2IR_ASSIGN_OR_RETURN(const int64_t count, KnownSize(a, 1, 2));
    if (count != band.count()) return Invalid(count, " diagonals, expected ", band.count());
  }
  Value* flat = FlattenLast(a, matrix, 2);
  const int64_t last = Expr(a, flat).rank() - 1, old = band.rows * band.columns;
  Value* both = a.Op("concat", {flat, FlattenLast(a, a.in(1), in_rows ? 2 : 1)}, {{"axis", last}});
  Value* table = Table(a, band.rows, band.columns, [&](int64_t i, int64_t j) {
    const int64_t place = band.PlaceOf(i, j);
    return place < 0 ? i * band.columns + j : old + place;
  });
  return Gather({a, both}, table, last);
}

absl::StatusOr<Value*> MatrixSetDiag(TfArgs& a) { return MatrixSetDiagonals(a, Band{}); }
absl::StatusOr<Value*> MatrixSetDiagOf(TfArgs& a, std::string_view align) {
  Band band;
  X2IR_RETURN_IF_ERROR(TakeAlign(a, align, &band));
  X2IR_RETURN_IF_ERROR(TakeDiagonals(a, 2, &band));
  return MatrixSetDiagonals(a, band);
}
absl::StatusOr<Value*> MatrixSetDiagV2(TfArgs& a) { return MatrixSetDiagOf(a, "LEFT_LEFT"); }
absl::StatusOr<Value*> MatrixSetDiagV3(TfArgs& a) { return MatrixSetDiagOf(a, "RIGHT_LEFT"); }

// --- Of any rank ----------------------------------------------------------------------------

// Every axis twice.
absl::StatusOr<Value*> Diag(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 1) return Invalid("expected rank 1 or more");
  Value* flat = ReshapeTo(a.in(0), Ints(a, {-1}));
  Value* size = SizeAt(a, flat, 0);
  Value* matrix = MainDiagonal(a, size, size, flat, ZeroOf(a, flat));
  Value* sizes = ShapeOf(a.in(0), 0);
  return ReshapeTo({a, matrix}, Concat(a, {sizes, sizes}, 0));
}

absl::StatusOr<Value*> DiagPart(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 2 || rank % 2 != 0) return Invalid("expected an even rank, got ", rank);
  int64_t size = 1;
  for (int64_t i = 1; i <= rank / 2; ++i) {
    X2IR_ASSIGN_OR_RETURN(const int64_t one, KnownSize(a, 0, i));
    X2IR_ASSIGN_OR_RETURN(const int64_t other, KnownSize(a, 0, i + rank / 2));
    if (one != other) return Invalid("sizes ", one, " and ", other, ", expected the same");
    if (one > kMaxPlaces / std::max<int64_t>(size, 1)) return Unimplemented("so many elements");
    size *= one;
  }
  std::vector<int64_t> places;
  for (int64_t i = 0; i < size; ++i) places.push_back(i * (size + 1));
  Value* found = Gather(ReshapeTo(a.in(0), Ints(a, {-1})), a.b().Ints(places), 0);
  return ReshapeTo({a, found}, ShapeOf(a.in(0), 0, rank / 2));
}

// --- Bands ----------------------------------------------------------------------------------

// What is at most `lower` below and `upper` above the diagonal; negative: all of it.
absl::StatusOr<Value*> MatrixBandPart(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 2) return Invalid("expected rank 2 or more, got ", rank);
  Value* x = a.in(0);
  Value* row = Unsqueeze(Iota({a, SizeAt(a, x, rank - 2)}), {1});
  Value* column = Iota({a, SizeAt(a, x, rank - 1)});
  const auto within = [&](Value* distance, size_t i) {
    Value* most = a.AsInt64(a.in(i));
    Value* all = a.Op("less", {most, a.b().Int(0)});
    return a.Op("or", {all, a.Op("less_or_equal", {distance, most})});
  };
  Value* kept =
      a.Op("and", {within(a.Op("sub", {row, column}), 1), within(a.Op("sub", {column, row}), 2)});
  return Where({a, kept}, {a, x}, {a, ZeroOf(a, x)});
}

}  // namespace

X2IR_TF(gather).From({{"MatrixDiagV2", MatrixDiagV2},
                      {"MatrixDiagV3", MatrixDiagV3},
                      {"MatrixDiagPart", MatrixDiagPart},
                      {"MatrixDiagPartV2", MatrixDiagPartV2},
                      {"MatrixDiagPartV3", MatrixDiagPartV3},
                      {"MatrixSetDiag", MatrixSetDiag},
                      {"MatrixSetDiagV2", MatrixSetDiagV2},
                      {"MatrixSetDiagV3", MatrixSetDiagV3},
                      {"DiagPart", DiagPart}});
X2IR_TF(where).From({{"MatrixDiag", MatrixDiag},
                     {"Diag", Diag},
                     {"MatrixBandPart", MatrixBandPart}});

}  // namespace x2ir
