// TensorFlow: ragged tensors, rows of different lengths one after the other, as plain ones.
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// Where the rows of one axis begin in the next inner axis, and their lengths.
struct Rows {
  Value *starts, *lengths;  // int64, rank 1
};

Rows RowsOfSplits(TfArgs& a, Value* splits) {
  splits = a.AsInt64(splits);
  Value* last = a.Op("sub", {SizeAt(a, splits, 0), a.b().Int(1)});
  Value* starts = Slice({a, splits}, 0, a.b().Int(0), last);
  Value* ends = Slice({a, splits}, 0, a.b().Int(1), SizeAt(a, splits, 0));
  return {starts, a.Op("sub", {ends, starts})};
}

Rows RowsOfIds(TfArgs& a, Value* ids, Value* count) {
  Value* ones = a.Op("expand", {a.b().Int(1), ShapeOf({a, ids}, 0)});
  Value* lengths = CombineRows({a, ones}, {a, ids}, {a, count}, "add", {a, a.b().Int(0)});
  return {a.Op("cum_sum", {lengths, a.b().Int(0)}, {{"exclusive", 1}}), lengths};
}

// The first `count` of them, and empty ones where there are fewer.
Rows Resized(TfArgs& a, Rows rows, int64_t count) {
  for (Value** v : {&rows.starts, &rows.lengths}) {
    Value* missing = a.Op("sub", {a.b().Int(count), SizeAt(a, *v, 0)});
    missing = Unsqueeze(a.Op("max", {missing, a.b().Int(0)}), {0});
    Value* zeros = a.Op("expand", {a.b().Int(0), missing});
    *v = Slice(a.Op("concat", {*v, zeros}, {{"axis", 0}}), 0, a.b().Int(0), a.b().Int(count));
  }
  return rows;
}

// [rows, width, ...]: rows of `values`, filled up with `otherwise`.
Value* Padded(TfArgs& a, Value* values, const Rows& rows, int64_t width, Value* otherwise) {
  Value* most = a.b().Int(width);
  if (width < 0) {
    Value* lengths = a.Op("concat", {a.b().Ints({0}), rows.lengths}, {{"axis", 0}});
    most = Reduce({a, lengths}, "reduce_max", {0});
  }
  // The row that fills up is appended to the values.
  Value* one =
      a.Op("expand", {otherwise, Concat(a, {a.b().Ints({1}), ShapeOf({a, values}, 1)}, 0)});
  Value* all = a.Op("concat", {values, one}, {{"axis", 0}});
  Value* column = Iota({a, most});
  Value* inside = a.Op("less", {column, Unsqueeze({a, rows.lengths}, {1})});
  Value* place = a.Op("add", {column, Unsqueeze({a, rows.starts}, {1})});
  return Gather({a, all}, Where({a, inside}, {a, place}, {a, SizeAt(a, values, 0)}), 0);
}

// From the innermost ragged axis outwards.
absl::StatusOr<Value*> ToTensor(TfArgs& a) {
  std::vector<std::string> kinds = a.StringList("row_partition_types");
  a.Ignore("num_row_partition_tensors");
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, a.KnownInts(0, "shape"));
  X2IR_RETURN_IF_ERROR(a.b().status());
  if (kinds.empty() || a.num_inputs() != kinds.size() + 3) {
    return Invalid(kinds.size(), " row_partition_types for ", a.num_inputs(), " operands");
  }
  Value* first_size = nullptr;
  size_t first = 3;  // operand of the outermost ragged axis
  if (kinds[0] == "FIRST_DIM_SIZE") {
    first_size = a.AsInt64(ReshapeTo(a.in(first++), Ints(a, {})));
    kinds.erase(kinds.begin());
  }
  for (const std::string& kind : kinds) {
    if (kind != "VALUE_ROWIDS" && kind != "ROW_SPLITS") {
      return Unimplemented("row_partition_types '", kind, "'");
    }
  }
  if (kinds.empty() || (kinds[0] == "VALUE_ROWIDS" && !first_size)) {
    return Invalid("row_partition_types do not say how many rows there are");
  }
  if (a.rank(0) == 0) {
    if (sizes != std::vector<int64_t>{-1}) return Invalid("the shape is ", sizes[0]);
    sizes.assign(kinds.size() + 1, -1);
  }
  if (sizes.size() <= kinds.size()) return Invalid("the shape has ", sizes.size(), " sizes");
  Value *values = a.in(1), *otherwise = a.in(2);
  for (size_t i = kinds.size(); i-- > 0;) {
    Value* partition = a.in(first + i);
    Rows rows;
    if (kinds[i] == "ROW_SPLITS") {
      rows = RowsOfSplits(a, partition);
    } else if (i == 0) {
      rows = RowsOfIds(a, partition, first_size);
    } else {
      // As many rows as the axis around has elements.
      Value* outer = a.in(first + i - 1);
      Value* count = SizeAt(a, outer, 0);
      if (kinds[i - 1] == "ROW_SPLITS") count = Gather(a.AsInt64(outer), a.b().Int(-1), 0);
      rows = RowsOfIds(a, partition, count);
    }
    if (i == 0 && sizes[0] >= 0) rows = Resized(a, rows, sizes[0]);
    values = Padded(a, values, rows, sizes[i + 1], otherwise);
  }
  return values;
}

// The indices, the values, and the shape.
absl::StatusOr<Values> ToSparse(TfArgs& a) {
  a.Ignore("RAGGED_RANK");
  if (a.num_inputs() != 2) return Unimplemented("more than one ragged axis");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(1));
  if (rank != 1) return Unimplemented("ragged rows of what has axes of its own");
  const Rows rows = RowsOfSplits(a, a.in(0));
  Value* lengths = a.Op("concat", {a.b().Ints({0}), rows.lengths}, {{"axis", 0}});
  Value* most = Reduce({a, lengths}, "reduce_max", {0}, /*keep=*/true);
  Value* column = Iota(Squeeze({a, most}, {0}));
  Value* inside = a.Op("less", {column, Unsqueeze({a, rows.lengths}, {1})});
  Value* indices = Transpose(a.Op("non_zero", {inside}), {1, 0});
  return Values{indices, a.Op("identity", {a.in(1)}),
                Concat(a, {ShapeOf({a, rows.lengths}, 0), most}, 0)};
}

// Rows from a start to before a limit, in steps of a delta. One of rank 0 is that of all rows.
absl::StatusOr<Values> RaggedRange(TfArgs& a) {
  const DType t = a.in(0)->dtype(), splits_type = a.Type("Tsplits", DType::kInt64);
  if (t != DType::kInt32 && t != DType::kInt64) {
    return Unimplemented("ranges of ", Name(t), ", which TensorFlow adds up step by step");
  }
  std::vector<Expr> given;
  for (size_t i = 0; i < 3; ++i) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(i));
    if (rank > 1) return Invalid("operand ", i, ": expected rank 0 or 1");
    given.push_back(AtLeast1d({a, a.AsInt64(a.in(i))}));
  }
  const Expr &start = given[0], &limit = given[1], &delta = given[2];
  // A step of 0 is an error in TensorFlow; here its rows are empty.
  const Expr none = delta == 0;
  const Expr step = Where(none, 1, Abs(delta));
  const Expr distance = Where(delta > 0, limit - start, Where(none, 0, start - limit));
  const Expr lengths = (Max(distance, 0) + (step - 1)) / step;
  const Expr splits = {a, a.Op("concat", {a.b().Ints({0}), CumSum(lengths, 0)}, {{"axis", 0}})};
  Value* counted = a.Op("concat", {a.b().Ints({0}), lengths}, {{"axis", 0}});
  const Expr column = Iota(Reduce({a, counted}, "reduce_max", {0}));
  const Expr inside = column < Unsqueeze(lengths, {1});
  const Expr places = {a, a.Op("non_zero", {inside})};  // rows, and columns
  const Expr row = Gather(places, a.b().Int(0), 0), at = Gather(places, a.b().Int(1), 0);
  // One number for all rows is one for each of them.
  const auto of_row = [&](const Expr& v) { return Gather(Expand(v, ShapeOf(lengths)), row, 0); };
  return Values{splits.To(splits_type), (of_row(start) + at * of_row(delta)).To(t)};
}

}  // namespace

X2IR_TF(range).From("RaggedRange", RaggedRange);
X2IR_TF(gather).From("RaggedTensorToTensor", ToTensor);
X2IR_TF(non_zero).From("RaggedTensorToSparse", ToSparse);

}  // namespace x2ir
