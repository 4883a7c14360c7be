// StableHLO: tensors with slices put into them.
#include <algorithm>
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/stablehlo/regions.h"
#include "x2ir/handlers/stablehlo/slices.h"
#include "x2ir/handlers/stablehlo/windows.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/window.h"

namespace x2ir {
namespace {

// The IR's reduction for a body of the update (first the old, then the new number); "" for others.
std::string_view ReductionFor(std::string_view body, DType t) {
  if (body == "second") return "none";
  if (t == DType::kBool) {
    if (body == "or" || body == "add" || body == "maximum") return "max";
    return body == "and" || body == "multiply" || body == "minimum" ? "min" : "";
  }
  if (body == "add" || body == "subtract") return "add";
  if (IsComplex(t)) return "";
  if (body == "multiply") return "mul";
  if (body == "maximum") return "max";
  return body == "minimum" ? "min" : "";
}

// Rows with updates put in at these numbers ([count, 1]).
Expr PutInRows(const Expr& rows, const Expr& numbers, const Expr& updates, std::string_view body) {
  const std::string_view reduction = ReductionFor(body, rows.dtype());
  if (rows.dtype() == DType::kBool && reduction != "none") {
    const DType t = DType::kInt32;
    return IsTrue(ScatterNd(rows.To(t), numbers, updates.To(t), reduction));
  }
  const Expr changes = body == "subtract" ? -updates : updates;
  return ScatterNd(rows, numbers, changes, reduction);
}

// Updates one after another, in rows of these numbers ([count]).
std::vector<Expr> PutOneByOne(StablehloArgs& a, const Graph& body, const std::vector<Expr>& rows,
                              const Expr& numbers, const std::vector<Expr>& updates) {
  const std::vector<Expr> parts = PartsOf(updates);
  std::vector<DType> types;
  for (const Expr& update : updates) types.push_back(update.dtype());
  const Combine combine = CombineBy(a, body);
  return Repeat(SizeOf(numbers, 0), rows, [&](const Expr& i, const std::vector<Expr>& carried) {
    const Expr number = Unsqueeze(Gather(numbers, i, 0), {0});
    std::vector<Expr> old, given;
    for (const Expr& each : carried) old.push_back(Gather(each, number, 0));
    for (const Expr& part : parts) given.push_back(Unsqueeze(Gather(part, i, 0), {0}));
    const std::vector<Expr> now = combine(old, FromParts(given, types));
    std::vector<Expr> next;
    for (size_t k = 0; k < carried.size(); ++k) {
      next.push_back(ScatterNd(carried[k], Unsqueeze(number, {0}), now[k], "none"));
    }
    return next;
  });
}

// Operands as [rows, ...] with updates [count, ...] put in; those that are outside are left out.
std::vector<Expr> PutInside(StablehloArgs& a, const Graph& body, std::vector<Expr> rows,
                            Expr numbers, const std::optional<Expr>& inside,
                            const std::vector<Expr>& updates, bool unique) {
  Builder& b = a.b();
  const Size count = SizeAt(rows[0], 0);
  if (inside) {
    // What is outside goes to one more row, which is cut off.
    numbers = Where(*inside, numbers, Scalar(b, count));
    for (Expr& each : rows) {
      std::vector<Size> sizes = AllSizes(each);
      sizes[0] = 1;
      each = Concat(b, {each, Expand(ZeroOf(b, each.dtype()), Vector(b, sizes))}, 0);
    }
  }
  std::vector<Expr> results;
  const Expr places = Unsqueeze(numbers, {1});
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string_view op = KnownBody(body, i);
    if (op == "first") {
      results.push_back(rows[i]);
    } else if (!ReductionFor(op, rows[i].dtype()).empty()) {
      results.push_back(PutInRows(rows[i], places, updates[i], op));
    } else {
      break;
    }
  }
  if (results.size() < rows.size()) {
    results.clear();
    if (unique && !inside) {
      std::vector<Expr> old;
      for (const Expr& each : rows) old.push_back(Gather(each, numbers, 0));
      const std::vector<Expr> now = CombineBy(a, body)(old, updates);
      for (size_t i = 0; i < rows.size(); ++i) {
        results.push_back(ScatterNd(rows[i], places, now[i], "none"));
      }
    } else {
      results = PutOneByOne(a, body, rows, numbers, updates);
    }
  }
  if (inside) {
    for (Expr& each : results) each = Slice(each, 0, 0, count);
  }
  return results;
}

absl::StatusOr<Values> FromScatter(StablehloArgs& a) {
  a.Ignore("indices_are_sorted");
  const bool unique = a.Bool("unique_indices", false);
  const std::shared_ptr<Graph> body = a.SubGraph("update_computation");
  if (a.num_inputs() < 3 || a.num_inputs() % 2 == 0) {
    return Invalid("it has ", a.num_inputs(), " operands");
  }
  const size_t n = a.num_inputs() / 2;
  CheckRegion(a, *body, 2 * n, n);
  const SliceNumbers numbers = {
      a.Ints("update_window_dims"),           a.Ints("inserted_window_dims"),
      a.Ints("input_batching_dims"),          a.Ints("scatter_indices_batching_dims"),
      a.Ints("scatter_dims_to_operand_dims"), a.Int("index_vector_dim", 0)};
  std::vector<Expr> x, updates;
  for (size_t i = 0; i < n; ++i) {
    const DType t =
        body->inputs()[i]->dtype() == DType::kUndefined ? a.dtype(i) : body->inputs()[i]->dtype();
    x.push_back(a.in(i).To(t));
    updates.push_back(a.in(n + 1 + i).To(t));
  }
  const Expr indices = a.in(n);
  // The sizes of slices are those of the updates.
  std::vector<Size> sizes;
  size_t at = 0;
  for (int64_t i = 0; i < x[0].rank(); ++i) {
    const auto is_in = [&](const std::vector<int64_t>& axes) {
      return std::find(axes.begin(), axes.end(), i) != axes.end();
    };
    if (is_in(numbers.collapsed) || is_in(numbers.batching)) {
      sizes.emplace_back(1);
    } else if (at < numbers.offset_dims.size()) {
      const int64_t axis = numbers.offset_dims[at++];
      if (axis < 0 || axis >= updates[0].rank()) return Invalid("updates have no axis ", axis);
      sizes.push_back(SizeAt(updates[0], axis));
    } else {
      return Invalid("update_window_dims names ", numbers.offset_dims.size(), " axes, too few");
    }
  }
  const Slices s = SlicesOf(a, x[0], indices, numbers, sizes, false);
  // Updates as [indices..., windows..., whole axes...], then with one number for each row.
  std::vector<int64_t> source;
  for (int64_t i = 0; i < s.indices_rank; ++i) source.push_back(-1 - i);
  const std::vector<int64_t> windows = s.Windows(), whole = s.Axes(true);
  source.insert(source.end(), windows.begin(), windows.end());
  source.insert(source.end(), whole.begin(), whole.end());
  const std::vector<int64_t> order = ResultOrder(a, s, source);
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  std::vector<Size> counted = s.indices_sizes;
  for (const int64_t axis : windows) counted.push_back(s.axes[static_cast<size_t>(axis)].size);
  const Size count = Product(a, counted);
  if (count.number == 0) {
    Values same;
    for (const Expr& each : x) same.push_back(each.Op("identity"));
    return same;
  }
  std::vector<Size> flat = {count};
  for (const int64_t axis : whole) flat.push_back(SizeAt(x[0], axis));
  for (Expr& each : updates) {
    if (each.rank() != static_cast<int64_t>(order.size())) {
      return Invalid("updates of rank ", each.rank(), ", which must be ", order.size());
    }
    if (!std::is_sorted(back.begin(), back.end())) each = Transpose(each, back);
    if (counted.size() != 1) each = ReshapeTo(each, flat);
  }
  const auto row_of = [&](const Expr& all) { return ReshapeTo(all, std::vector<Size>{count}); };
  std::optional<Expr> inside = AreInside(x[0], s);
  const Expr rows = RowNumbersOf(x[0], s);
  if (inside) inside = row_of(Expand(*inside, Vector(a, counted)));
  std::vector<Expr> operands;
  for (const Expr& each : x) operands.push_back(AsRows(each, s));
  const std::vector<Expr> put =
      PutInside(a, *body, operands, row_of(rows), inside, updates, unique);
  Values results;
  for (const Expr& each : put) results.push_back(FromRows(each, x[0], s));
  return results;
}

// --- dynamic_update_slice
// -------------------------------------------------------------------------

absl::StatusOr<Value*> FromDynamicUpdateSlice(StablehloArgs& a) {
  const Expr x = a.in(0), update = a.in(1);
  const int64_t rank = x.rank();
  if (update.rank() != rank || static_cast<int64_t>(a.num_inputs()) != rank + 2) {
    return Invalid("an update of rank ", update.rank(), " and ", a.num_inputs() - 2,
                   " starts for a tensor of rank ", rank);
  }
  Slices s;
  bool known_starts = true;
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < rank; ++i) {
    SlicedAxis axis;
    const Size whole = SizeAt(x, i);
    axis.size = SizeAt(update, i);
    const Expr given = a.in(static_cast<size_t>(i) + 2);
    if (axis.size.number && whole.number && *axis.size.number > *whole.number) {
      return Invalid("an update of ", *axis.size.number, " elements of axis ", i);
    }
    axis.whole = axis.size.number && axis.size.number == whole.number;
    if (axis.size.number == 0) return x.Op("identity");
    int64_t at = 0;
    if (!axis.whole) {
      const Size last = Minus(a, whole, axis.size);
      axis.start = ClampedStart(given, last);
      const auto known = KnownInts(axis.start->value());
      known_starts = known_starts && known && known->size() == 1 && last.number;
      if (known_starts) at = std::clamp<int64_t>((*known)[0], 0, *last.number);
    }
    starts.push_back(at);
    s.axes.push_back(std::move(axis));
  }
  const std::vector<int64_t> indexed = s.Axes(false), whole = s.Axes(true);
  if (indexed.empty()) return update.Op("identity");
  if (known_starts && indexed.size() == 1) {
    const int64_t axis = indexed[0], at = starts[static_cast<size_t>(axis)];
    const int64_t end = at + *s.axes[static_cast<size_t>(axis)].size.number;
    std::vector<Value*> parts;
    if (at > 0) parts.push_back(Slice(x, axis, 0, at));
    parts.push_back(update);
    if (end < *SizeAt(x, axis).number) parts.push_back(Slice(x, axis, end, SizeAt(x, axis)));
    return Concat(a, std::move(parts), axis);
  }
  std::vector<int64_t> perm = indexed;
  perm.insert(perm.end(), whole.begin(), whole.end());
  std::vector<Size> counted, flat = {1};
  for (const int64_t axis : indexed) counted.push_back(s.axes[static_cast<size_t>(axis)].size);
  for (const int64_t axis : whole) flat.push_back(SizeAt(x, axis));
  const Size count = Product(a, counted);
  flat[0] = count;
  Expr changes = std::is_sorted(perm.begin(), perm.end()) ? update : Transpose(update, perm);
  if (indexed.size() != 1) changes = ReshapeTo(changes, flat);
  const Expr numbers = ReshapeTo(RowNumbersOf(x, s), {count, Size(1)});
  return FromRows(ScatterNd(AsRows(x, s), numbers, changes, "none"), x, s);
}

// --- select_and_scatter
// ---------------------------------------------------------------------------

// The windows' elements one after another; `best` of a window and its number in the tensor are
// those that the selection kept so far.
absl::StatusOr<Value*> FromSelectAndScatter(StablehloArgs& a) {
  const std::shared_ptr<Graph> select = a.SubGraph("select"), scatter = a.SubGraph("scatter");
  CheckRegion(a, *select, 2, 1);
  CheckRegion(a, *scatter, 2, 1);
  const Expr x = a.in(0), source = a.in(1), init = a.in(2);
  const auto rank = static_cast<size_t>(x.rank());
  Sliding s =
      TakeSliding(a, IntsOr(a, "window_dimensions", rank, 1), "base_dilations", "window_dilations");
  const auto sizes = KnownSizes(x.value()), counts = KnownSizes(source.value());
  if (!sizes || !counts || counts->size() != rank) {
    return Unimplemented("a tensor or a source of unknown size");
  }
  Builder& b = a.b();
  const int64_t elements = Product(*sizes), windows = Product(*counts), each = Product(s.size);
  constexpr int64_t kMost = 1024;
  if (each > kMost) return Unimplemented("windows of ", each, " elements");
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kInt64, *sizes));
  std::vector<int64_t> low = s.low, high = s.high;
  const std::vector<int64_t> no_gaps(rank, 0);
  // Padding has the number -1. What it holds does not matter.
  std::vector<int64_t> numbers(static_cast<size_t>(elements));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  const Expr number = PadHlo(a, Reshape(Ints(b, numbers), *sizes), Int(b, -1), low, high, no_gaps);
  const Expr padded = PadHlo(a, x, ZeroOf(b, x.dtype()), low, high, no_gaps);
  std::optional<Expr> best, chosen;
  std::vector<int64_t> at(rank, 0);
  const std::vector<int64_t> axes = CountedFrom(0, static_cast<int64_t>(rank));
  do {
    std::vector<int64_t> ends;
    for (size_t i = 0; i < rank; ++i) ends.push_back(at[i] + ((*counts)[i] - 1) * s.strides[i] + 1);
    const auto slice = [&](const Expr& from) {
      return from.Op("slice", {b.Ints(at), b.Ints(ends), b.Ints(axes), b.Ints(s.strides)});
    };
    const Expr next = rank == 0 ? padded : slice(padded);
    const Expr place = rank == 0 ? number : slice(number);
    if (!best) {
      best = next;
      chosen = place;
      continue;
    }
    // The old one stays where it is selected, or where the new one is no element.
    const Expr kept = RunRegion(a, *select, {*best, next})[0];
    const Expr outside = place < 0.0, is_element = *chosen >= 0.0;
    const Expr stays = outside | (is_element & kept);
    best = Select(stays, *best, next);
    chosen = Where(stays, *chosen, place);
  } while (NextIndex(s.size, at));
  // Windows without an element change nothing.
  const Expr flat = Reshape(*chosen, {windows});
  const Expr start = Expand(init.To(x.dtype()), b.Ints({elements}));
  const std::vector<Expr> put =
      PutInside(a, *scatter, {start}, flat, flat >= 0.0, {Reshape(source, {windows})}, false);
  return Reshape(put[0], *sizes);
}

}  // namespace

X2IR_STABLEHLO(scatter_nd)
    .From({{"scatter", FromScatter},
           {"dynamic_update_slice", FromDynamicUpdateSlice},
           {"select_and_scatter", FromSelectAndScatter}});

}  // namespace x2ir
