// ncnn: layers that move numbers.
#include <algorithm>
#include <limits>

#include "x2ir/builder/layers/images.h"
#include "x2ir/builder/layers/resize.h"
#include "x2ir/handlers/ncnn/ncnn.h"

namespace x2ir {
namespace {

constexpr int64_t kLeftOut = -233;

Value* ConcatLayer(NcnnArgs& a) { return Concat(a, a.inputs(), a.AxisOf(a.Int(0, 0))); }
// A place below 0 counts from the end.
absl::StatusOr<Values> CutAt(NcnnArgs& a, const std::vector<int64_t>& places, int64_t axis) {
  const Dim whole = DimAt(a.in(0), axis);
  a.Require(whole.is_static(), "places in an axis of unknown size");
  if (places.size() + 1 != a.num_outputs()) {
    return Invalid(places.size(), " places for ", a.num_outputs(), " parts");
  }
  Values parts;
  int64_t from = 0;
  for (size_t i = 0; i <= places.size(); ++i) {
    int64_t to = i == places.size() ? whole.value() : places[i];
    if (to < 0) to += whole.value();
    if (to <= from || to > whole.value()) return Invalid("a part from ", from, " to ", to);
    parts.push_back(Slice(a.in(0), axis, Size(from), Size(to)));
    from = to;
  }
  return parts;
}
// Sizes of -233 share what is left in equal parts.
absl::StatusOr<Values> SliceLayer(NcnnArgs& a) {
  const std::vector<int64_t> sizes = a.Ints(0), places = a.Ints(2);
  const int64_t axis = a.AxisOf(a.Int(1, 0));
  const size_t count = a.num_outputs();
  if (!places.empty()) return CutAt(a, places, axis);
  if (sizes.size() != count) return Invalid(sizes.size(), " sizes of ", count, " parts");
  const Expr x = a.in(0);
  const Dim whole = DimAt(x, axis);
  Values parts;
  int64_t from = 0;
  for (size_t i = 0; i < count; ++i) {
    int64_t size = sizes[i];
    if (size == kLeftOut) {
      if (i + 1 == count) {
        parts.push_back(Slice(x, axis, Size(from), Size(kToEnd)));
        break;
      }
      a.Require(whole.is_static(), "equal parts of an unknown size");
      size = (whole.value() - from) / static_cast<int64_t>(count - i);
    }
    if (size < 1 || size > std::numeric_limits<int32_t>::max()) {
      return Invalid("a part of ", size);
    }
    parts.push_back(Slice(x, axis, Size(from), Size(from + size)));
    from += size;
  }
  return parts;
}

absl::StatusOr<Value*> ReshapeLayer(NcnnArgs& a) {
  const int64_t w = a.Int(0, kLeftOut), h = a.Int(1, kLeftOut), d = a.Int(11, kLeftOut),
                c = a.Int(2, kLeftOut);
  a.Require(!a.Flag(3, false), "a reshape with the channels last");
  a.Require(!a.Has(6), "sizes that are computed");
  // Outermost first; a size that is left out takes those outside of it away.
  std::vector<int64_t> dims = {w};
  if (h != kLeftOut) dims.insert(dims.begin(), h);
  if (h != kLeftOut && d != kLeftOut) dims.insert(dims.begin(), d);
  if (h != kLeftOut && c != kLeftOut) dims.insert(dims.begin(), c);
  const int64_t rank = a.RankOf() - 1, wanted = static_cast<int64_t>(dims.size());
  std::vector<Size> sizes = {SizeAt(a.in(0), 0)};
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < -1) return Invalid("a size of ", dims[i]);
    if (dims[i] != 0) {
      sizes.emplace_back(dims[i]);
      continue;
    }
    // A copy is of the axis of that name: width is the last, then height, then depth; channels are
    // the first of three or four.
    const bool channels = i == 0 && wanted >= 3;
    const int64_t from_last = wanted - static_cast<int64_t>(i);
    a.Require(channels ? rank >= 3 : from_last <= rank && (rank < 3 || from_last < rank),
              "a copy of a size that is not there");
    sizes.push_back(SizeAt(a.in(0), channels ? 1 : rank + 1 - from_last));
  }
  return ReshapeTo(a.in(0), sizes).value();
}
Value* FlattenLayer(NcnnArgs& a) { return ReshapeTo(a.in(0), {SizeAt(a.in(0), 0), Size(-1)}); }
absl::StatusOr<Value*> Squeezed(NcnnArgs& a) {
  const bool w = a.Flag(0, false), h = a.Flag(1, false), c = a.Flag(2, false),
             d = a.Flag(11, false);
  const std::vector<int64_t> given = a.Ints(3);
  const int64_t rank = a.RankOf();
  std::vector<int64_t> axes;
  for (const int64_t axis : given) axes.push_back(a.AxisOf(axis));
  if (given.empty()) {
    const auto add = [&](bool wanted, int64_t axis) {
      if (wanted && axis >= 1 && DimAt(a.in(0), axis) == Dim(1)) axes.push_back(axis);
    };
    add(c, rank >= 4 ? 1 : -1);
    add(d, rank >= 5 ? 2 : -1);
    add(h, rank >= 3 ? rank - 2 : -1);
    add(w, rank - 1);
  }
  return axes.empty() ? a.Op("identity", {a.in(0)}).value() : Squeeze(a.in(0), axes).value();
}
absl::StatusOr<Value*> ExpandDims(NcnnArgs& a) {
  std::vector<int64_t> axes = a.Ints(3);
  a.Require(!axes.empty() && !a.Flag(0, false) && !a.Flag(1, false) && !a.Flag(2, false) &&
                !a.Flag(11, false),
            "axes by their names");
  const int64_t rank = a.RankOf() - 1 + static_cast<int64_t>(axes.size());
  for (int64_t& axis : axes) axis = a.NodeReader::AxisOf(axis, rank) + 1;
  return Unsqueeze(a.in(0), axes).value();
}

// The axes of the result from the last on, by their names.
absl::StatusOr<Value*> PermuteLayer(NcnnArgs& a) {
  static constexpr std::string_view kOfTwo[] = {"WH", "HW"};
  static constexpr std::string_view kOfThree[] = {"WHC", "HWC", "WCH", "CWH", "HCW", "CHW"};
  static constexpr std::string_view kOfFour[] = {"WHDC", "HWDC", "WDHC", "DWHC", "HDWC", "DHWC",
                                                 "WHCD", "HWCD", "WCHD", "CWHD", "HCWD", "CHWD",
                                                 "WDCH", "DWCH", "WCDH", "CWDH", "DCWH", "CDWH",
                                                 "HDCW", "DHCW", "HCDW", "CHDW", "DCHW", "CDHW"};
  const int64_t kind = a.Int(0, 0), rank = a.RankOf() - 1;
  if (rank == 1) return a.Op("identity", {a.in(0)}).value();
  const absl::Span<const std::string_view> all = rank == 2   ? absl::MakeConstSpan(kOfTwo)
                                                 : rank == 3 ? absl::MakeConstSpan(kOfThree)
                                                             : absl::MakeConstSpan(kOfFour);
  if (rank > 4 || kind < 0 || kind >= static_cast<int64_t>(all.size())) {
    return Invalid("order ", kind, " of ", rank, " axes");
  }
  const std::string_view names = rank == 2 ? "HW" : rank == 3 ? "CHW" : "CDHW";
  const std::string_view order = all[static_cast<size_t>(kind)];
  std::vector<int64_t> perm = {0};
  for (auto name = order.rbegin(); name != order.rend(); ++name) {
    perm.push_back(static_cast<int64_t>(names.find(*name)) + 1);
  }
  return Transpose(a.in(0), perm).value();
}

absl::StatusOr<Value*> Cropped(NcnnArgs& a) {
  const std::vector<int64_t> starts = a.Ints(9), ends = a.Ints(10), given = a.Ints(11);
  const int64_t rank = a.RankOf() - 1;
  Expr x = a.in(0);
  if (!starts.empty()) {
    std::vector<int64_t> axes = given;
    if (axes.empty()) axes = CountedFrom(0, static_cast<int64_t>(starts.size()));
    if (ends.size() != starts.size() || axes.size() != starts.size()) {
      return Invalid("a part of ", starts.size(), " starts and ", ends.size(), " ends");
    }
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool open = ends[i] == kLeftOut || ends[i] >= std::numeric_limits<int32_t>::max();
      const int64_t start = starts[i] == kLeftOut ? 0 : starts[i];
      x = Slice(x, a.AxisOf(axes[i]), Size(start), open ? Size(kToEnd) : Size(ends[i]));
    }
    return x.value();
  }
  const int64_t offsets[] = {a.Int(0, 0), a.Int(1, 0), a.Int(2, 0)},
                sizes[] = {a.Int(3, 0), a.Int(4, 0), a.Int(5, 0)},
                behind[] = {a.Int(6, 0), a.Int(7, 0), a.Int(8, 0)};
  a.Require(a.Int(13, 0) == 0 && a.Int(14, 0) == 0 && a.Int(15, 0) == 0 && rank <= 3 &&
                a.num_bottoms() <= 2,
            "parts of four axes, or computed ones");
  for (size_t i = 0; i < 3; ++i) {
    const int64_t axis = rank - static_cast<int64_t>(i);  // width is the last
    if (axis < 1) continue;
    const Size from(offsets[i]);
    if (a.num_bottoms() == 2) {
      if (axis < 1 || a.RankOf(1) != rank + 1)
        return Unimplemented(
            "a part as large as a blob of "
            "another rank");
      x = Slice(x, axis, from, Plus(a, from, SizeAt(a.in(1), axis)));
      continue;
    }
    const bool rest = sizes[i] == kLeftOut || sizes[i] == 0;
    if (rest && offsets[i] == 0 && behind[i] == 0) continue;
    x = Slice(x, axis, from,
              !rest            ? Plus(a, Size(offsets[i]), Size(sizes[i]))
              : behind[i] == 0 ? Size(kToEnd)
                               : Size(-behind[i]));
  }
  return x.value() == a.in(0).value() ? a.Op("identity", {x}).value() : x.value();
}

absl::StatusOr<Value*> Padded(NcnnArgs& a) {
  const int64_t top = a.Int(0, 0), bottom = a.Int(1, 0), left = a.Int(2, 0), right = a.Int(3, 0),
                kind = a.Int(4, 0), front = a.Int(7, 0), behind = a.Int(8, 0);
  const double number = a.Float(5, 0);
  const int64_t each = a.Int(6, 0);
  a.Require(a.num_bottoms() == 1, "computed padding");
  const int64_t rank = a.RankOf();
  if (kind < 0 || kind > 2) return Unimplemented("padding of kind ", kind);
  std::vector<int64_t> pads(static_cast<size_t>(2 * rank), 0);
  const auto set = [&](int64_t axis, int64_t begin, int64_t end) {
    if (axis < 1) {
      a.Require(begin == 0 && end == 0, "padding of an axis that is not there");
      return;
    }
    pads[static_cast<size_t>(axis)] = begin;
    pads[static_cast<size_t>(rank + axis)] = end;
  };
  set(rank - 1, left, right);
  set(rank - 2, top, bottom);
  set(rank - 3, front, behind);
  if (each != 0 && kind == 0) {
    const Dim channels = DimAt(a.in(0), 1);
    a.Require(rank == 4 && channels == Dim(each) && front == 0 && behind == 0,
              "a number for each channel of what is no image, or new channels");
    const auto padded = [&](const Expr& x) {
      return a.Op("pad", {x, a.b().Ints(pads), x.Number(0)});
    };
    const Expr inside = padded(
        Filled(a, a.in(0).dtype(), {Size(1), Size(1), SizeAt(a.in(0), 2), SizeAt(a.in(0), 3)}, 1));
    return (padded(a.in(0)) + Reshape(a.weights(0), {1, -1, 1, 1}) * (1.0 - inside)).value();
  }
  const char* const modes[] = {"constant", "edge", "reflect"};
  std::vector<Value*> operands = {a.in(0), a.b().Ints(pads)};
  if (kind == 0) operands.push_back(a.in(0).Number(number));
  return a.Op("pad", std::move(operands), {{"mode", modes[kind]}}).value();
}

absl::StatusOr<Value*> Reduction(NcnnArgs& a) {
  const int64_t kind = a.Int(0, 0);
  const bool all = a.Flag(1, true), keep = a.Flag(4, false);
  const double factor = a.Float(2, 1);
  std::vector<int64_t> axes = a.Ints(3);
  a.Drop({5});
  static constexpr std::string_view kOps[] = {
      "reduce_sum",  "reduce_sum", "reduce_sum", "reduce_mean", "reduce_max",        "reduce_min",
      "reduce_prod", "reduce_l1",  "reduce_l2",  "reduce_sum",  "reduce_log_sum_exp"};
  if (kind < 0 || kind > 10) return Unimplemented("operation ", kind);
  for (int64_t& axis : axes) axis = a.AxisOf(axis);
  if (all || axes.empty()) axes = CountedFrom(1, a.RankOf() - 1);
  Expr x = a.in(0);
  if (kind == 1) x = Abs(x);
  if (kind == 2) x = Square(x);
  Expr y = x.Op(kOps[kind], {a.b().Ints(axes)}, {{"keepdims", keep ? 1 : 0}});
  if (kind == 9) y = Log(y);
  // A number is a list of one.
  const bool one = !keep && static_cast<int64_t>(axes.size()) == a.RankOf() - 1;
  if (one) y = Unsqueeze(y, {1});
  return Scaled(y, factor).value();
}
absl::StatusOr<Value*> ArgMax(NcnnArgs& a) {
  const bool values = a.Flag(0, false);
  const int64_t count = a.Int(1, 1);
  const Expr flat = ReshapeTo(a.in(0), {SizeAt(a.in(0), 0), Size(-1)});
  const Sorted top = TopOf(flat, a.b().Ints({count}), 1);
  const Expr places = top.indices.To(flat.dtype());
  if (!values) return places.value();
  return Stack(a, {places, top.values}, 1).value();
}
absl::StatusOr<Value*> TileLayer(NcnnArgs& a) {
  const int64_t axis = a.Int(0, 0), times = a.Int(1, 1);
  std::vector<int64_t> repeats = a.Ints(2);
  const int64_t rank = a.RankOf() - 1;
  if (repeats.empty()) {
    repeats.assign(static_cast<size_t>(rank), 1);
    repeats[static_cast<size_t>(a.AxisOf(axis) - 1)] = times;
  }
  if (static_cast<int64_t>(repeats.size()) != rank) {
    return Unimplemented(repeats.size(), " repeats of ", rank, " axes");
  }
  repeats.insert(repeats.begin(), 1);
  if (std::any_of(repeats.begin(), repeats.end(), [](int64_t n) { return n < 1; })) {
    return Invalid("repeated less than once");
  }
  return a.Op("tile", {a.in(0), a.b().Ints(repeats)}).value();
}
absl::StatusOr<Value*> MemoryData(NcnnArgs& a) {
  std::vector<int64_t> dims;
  for (const int64_t id : {2, 11, 1, 0}) {
    const int64_t size = a.Int(id, 0);
    if (size != 0) dims.push_back(size);
  }
  a.Drop({21});
  dims.insert(dims.begin(), 1);
  return Reshape(a.weights(0), dims).value();
}

// --- Images --------------------------------------------------------------------------------------

absl::StatusOr<Value*> Interp(NcnnArgs& a) {
  const int64_t kind = a.Int(0, 0), height = a.Int(3, 0), width = a.Int(4, 0);
  const double by_height = a.Float(1, 1), by_width = a.Float(2, 1);
  const bool corners = a.Flag(6, false);
  a.Require(!a.Has(9), "sizes that are computed");
  const bool as_other = a.Flag(5, false) || a.num_bottoms() > 1;
  if (kind < 1 || kind > 3) return Unimplemented("a resize of kind ", kind);
  Expr x = a.in(0);
  if (a.RankOf() == 2) x = Unsqueeze(x, {2, 3});
  const auto shape = x->shape();
  a.Require(shape && shape->rank() == 4, "a resize of what is no image");
  std::vector<Size> sizes = SizesAt(x, 0, 2);
  const bool given = height > 0 && width > 0;
  for (int64_t axis = 2; axis < 4; ++axis) {
    if (as_other) {
      const int64_t other = a.RankOf(1) - 4 + axis;
      sizes.push_back(SizeAt(a.in(1), other));
    } else if (given) {
      sizes.emplace_back(axis == 2 ? height : width);
    }
  }
  const Sampling sampling =
      kind == 1 ? kNearestFloor : Interpolated(kind == 2 ? "linear" : "cubic", corners);
  if (sizes.size() == 4) return ResizedTo(x, sizes, sampling).value();
  if (!(by_height > 0 && by_width > 0 && by_height < 4096 && by_width < 4096)) {
    return Invalid("a scale of ", by_height, " x ", by_width);
  }
  return ResizedBy(x, {1, 1, static_cast<float>(by_height), static_cast<float>(by_width)}, sampling)
      .value();
}
absl::StatusOr<Value*> Shuffle(NcnnArgs& a) {
  const int64_t groups = a.Int(0, 1);
  const bool reverse = a.Flag(1, false);
  const Dim channels = DimAt(a.in(0), 1);
  a.Require(!reverse || channels.is_static(), "an unknown number of channels");
  if (groups < 1) return Invalid(groups, " groups");
  return ShuffledChannels(a, a.in(0), reverse ? channels.value() / groups : groups);
}
absl::StatusOr<Value*> PixelShuffle(NcnnArgs& a) {
  const int64_t factor = a.Int(0, 1), mode = a.Int(1, 0);
  if (factor < 1) return Invalid("a factor of ", factor);
  return a
      .Op("depth_to_space", {a.in(0)}, {{"blocksize", factor}, {"mode", mode == 0 ? "CRD" : "DCR"}})
      .value();
}
// mode 0: channels of a block stand together (the block's place is the inner part of the number).
absl::StatusOr<Value*> ReorgLayer(NcnnArgs& a) {
  const int64_t stride = a.Int(0, 1), mode = a.Int(1, 0);
  if (stride < 1) return Invalid("a stride of ", stride);
  const Expr y = a.Op("space_to_depth", {a.in(0)}, {{"blocksize", stride}});
  if (mode != 0) return y.value();
  return ShuffledChannels(a, y, stride * stride);
}
absl::StatusOr<Value*> Glu(NcnnArgs& a) {
  const int64_t axis = a.AxisOf(a.Int(0, 0));
  const Dim whole = DimAt(a.in(0), axis);
  a.Require(whole.is_static(), "halves of an unknown size");
  const int64_t half = whole.value() / 2;
  return (Slice(a.in(0), axis, Size(0), Size(half)) *
          Slice(a.in(0), axis, Size(half), Size(2 * half)).Op("sigmoid"))
      .value();
}

// --- Products ------------------------------------------------------------------------------------

absl::StatusOr<Value*> MatMulLayer(NcnnArgs& a) {
  const bool transposed = a.Flag(0, false);
  const Expr x = a.in(0), y = a.in(1);
  const int64_t of_x = a.RankOf(0), of_y = a.RankOf(1);
  if (of_x < 3 || of_y < 3) return Unimplemented("a product of lists");
  Expr left = x, right = transposed ? SwapLast(y) : y;
  while (left->shape()->rank() < right->shape()->rank()) left = Unsqueeze(left, {1});
  while (right->shape()->rank() < left->shape()->rank()) right = Unsqueeze(right, {1});
  return MatMul(left, right).value();
}
absl::StatusOr<Value*> GemmLayer(NcnnArgs& a) {
  const double alpha = a.Float(0, 1), beta = a.Float(1, 1);
  const bool turn_a = a.Flag(2, false), turn_b = a.Flag(3, false);
  const bool has_a = a.Flag(4, false), has_b = a.Flag(5, false), has_c = a.Flag(6, false);
  const int64_t m = a.Int(7, 0), n = a.Int(8, 0), k = a.Int(9, 0), kind = a.Int(10, 0);
  a.Drop({12, 13, 20, 21, 22});
  const bool whole = a.Flag(11, false), turned = a.Flag(14, false);
  const int64_t bits = a.Int(18, 0);
  const bool quantized = bits != 0;
  a.Require(bits < 400, "weights in blocks of few bits");
  size_t bottom = 0, weight = 0;
  // A matrix [1, rows, columns]; of three axes the middle one is 1.
  const auto next = [&](bool constant, std::vector<int64_t> dims) {
    if (constant) return Reshape(a.weights(weight++), dims);
    const Expr x = a.in(bottom++);
    if (x.rank() == 2) return Unsqueeze(x, {1});
    return x.rank() == 4 ? ReshapeTo(x, {SizeAt(x, 0), SizeAt(x, 1), SizeAt(x, 3)}) : x;
  };
  Expr x = next(has_a, turn_a ? std::vector<int64_t>{1, k, m} : std::vector<int64_t>{1, m, k});
  Expr y = next(has_b, turn_b ? std::vector<int64_t>{1, n, k} : std::vector<int64_t>{1, k, n});
  if (turn_a) x = SwapLast(x);
  if (turn_b) y = SwapLast(y);
  const bool has_list = has_c && kind != -1;
  Expr scale = nullptr;
  if (quantized) {
    // Weights are integers with their scales: of each row of the first, of all of the second.
    size_t at = weight + (has_list ? 1 : 0);
    const NcnnSteps rows =
        has_a ? NcnnSteps{x, Reshape(a.weights(at++), {1, -1, 1})} : NcnnQuantizedOver(x, {2});
    const NcnnSteps other = has_b ? NcnnSteps{y, a.weights(at++)} : NcnnQuantizedOver(y, {1, 2});
    scale = rows.scale * other.scale;
    x = rows.steps;
    y = other.steps;
  }
  Expr z = MatMul(x, y);
  if (quantized) z = z / scale;
  if (has_list) {
    static constexpr int64_t kRows[] = {1, 0, 0, 0, 1};
    const Expr c = a.weights(weight++);
    if (kind < 0 || kind > 4) return Unimplemented("a sum of kind ", kind);
    const int64_t rows = kRows[kind] == 1 ? 1 : m, columns = kind >= 3 ? n : 1;
    z = z + Scaled(Reshape(c, {1, rows, columns}), beta);
  } else if (!has_c && bottom < a.num_bottoms()) {
    Expr c = a.in(bottom++);
    if (c.rank() == 2) {
      // A list is of the columns, where it has as many numbers, else of the rows.
      const Dim count = DimAt(c, 1), columns = DimAt(z, 2);
      a.Require(count.is_static() && columns.is_static(), "a sum with a list of unknown size");
      c = Unsqueeze(c, {count == columns || count == Dim(1) ? 1 : 2});
    }
    a.Require(c.rank() == 3, "a sum with what is no matrix");
    z = z + Scaled(c, beta);
  }
  z = Scaled(z, alpha);
  if (turned) z = SwapLast(z);
  return (whole ? Unsqueeze(z, {2}) : z).value();
}

}  // namespace

X2IR_NCNN(concat).From("Concat", ConcatLayer);
X2IR_NCNN(split).From("Slice", SliceLayer);
X2IR_NCNN(reshape)
    .From("Reshape", ReshapeLayer)
    .From("Flatten", FlattenLayer)
    .From("MemoryData", MemoryData);
X2IR_NCNN(squeeze).From("Squeeze", Squeezed);
X2IR_NCNN(unsqueeze).From("ExpandDims", ExpandDims);
X2IR_NCNN(transpose).From("Permute", PermuteLayer).From("ShuffleChannel", Shuffle);
X2IR_NCNN(slice).From("Crop", Cropped);
X2IR_NCNN(pad).From("Padding", Padded);
X2IR_NCNN(reduce_sum).From("Reduction", Reduction);
X2IR_NCNN(top_k).From("ArgMax", ArgMax);
X2IR_NCNN(tile).From("Tile", TileLayer);
X2IR_NCNN(resize).From("Interp", Interp);
X2IR_NCNN(depth_to_space).From("PixelShuffle", PixelShuffle);
X2IR_NCNN(space_to_depth).From("Reorg", ReorgLayer);
X2IR_NCNN(mul).From("GLU", Glu);
X2IR_NCNN(cum_sum).From("CumulativeSum",
                        [](NcnnArgs& a) { return CumSum(a.in(0), a.AxisOf(a.Int(0, 0))); });
X2IR_NCNN(matmul).From("MatMul", MatMulLayer).From("Gemm", GemmLayer);

}  // namespace x2ir
