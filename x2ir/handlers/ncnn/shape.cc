// ncnn: layers that move numbers.
#include <algorithm>
#include <limits>

#include "x2ir/builder/layers/images.h"
#include "x2ir/builder/matrices.h"
#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/ncnn/windows_internal.h"
#include "x2ir/handlers/torch/as_torch.h"

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

// mode 0: channels of a block are adjacent (the block's place is the inner part of the number).
absl::StatusOr<Value*> ReorgLayer(NcnnArgs& a) {
  const int64_t stride = a.Int(0, 1), mode = a.Int(1, 0);
  if (stride < 1) return Invalid("a stride of ", stride);
  const Expr y = a.Op("space_to_depth", {a.in(0)}, {{"blocksize", stride}});
  if (mode != 0) return y.value();
  return ShuffledChannels(a, y, stride * stride);
}

Value* Unfold(NcnnArgs& a) {
  const PlaneWindow w = PlaneWindowOf(a);
  const double number = a.Float(18, 0);
  Expr x = a.in(0);
  const bool padded = std::any_of(w.pads.begin(), w.pads.end(), [](int64_t n) { return n > 0; });
  if (padded) {
    x = x.Op("pad", {a.b().Ints(w.pads), x.Number(number), a.b().Ints({2, 3})});
  }
  return AsTorch(a, "aten::im2col.default",
                 {{"self", x},
                  {"kernel_size", Attribute(w.kernel)},
                  {"dilation", Attribute(w.dilations)},
                  {"padding", Attribute(std::vector<int64_t>{0, 0})},
                  {"stride", Attribute(w.strides)}})[0];
}

absl::StatusOr<Value*> Fold(NcnnArgs& a) {
  const PlaneWindow w = PlaneWindowOf(a);
  const int64_t width = a.Int(20, 0), height = a.Int(21, width);
  if (width < 1 || height < 1) return Invalid("an image of ", height, " x ", width);
  return a
      .Op("col2im", {a.in(0), a.b().Ints({height, width}), a.b().Ints(w.kernel)},
          {{"strides", w.strides}, {"dilations", w.dilations}, {"pads", w.pads}})
      .value();
}

// Operand 1 takes the place of a part of operand 0.
absl::StatusOr<Value*> CopyTo(NcnnArgs& a) {
  const std::vector<int64_t> starts = a.Ints(9), given = a.Ints(11);
  const int64_t rank = a.RankOf() - 1;
  std::vector<int64_t> from(static_cast<size_t>(std::max<int64_t>(rank, 0)), 0);
  if (starts.empty()) {
    const int64_t w = a.Int(0, 0), h = a.Int(1, 0), d = a.Int(13, 0), c = a.Int(2, 0);
    // Width is the last axis, channels are the first of three or four.
    const std::vector<int64_t> all = rank == 4   ? std::vector<int64_t>{c, d, h, w}
                                     : rank == 3 ? std::vector<int64_t>{c, h, w}
                                     : rank == 2 ? std::vector<int64_t>{h, w}
                                                 : std::vector<int64_t>{w};
    from.assign(all.begin(), all.end());
  } else {
    a.Drop({0, 1, 2, 13});
    const size_t count = given.empty() ? from.size() : given.size();
    if (starts.size() < count) return Invalid(starts.size(), " places for ", count, " axes");
    for (size_t i = 0; i < count; ++i) {
      const int64_t axis = given.empty() ? static_cast<int64_t>(i) + 1 : a.AxisOf(given[i]);
      from[static_cast<size_t>(axis) - 1] = starts[i] == -233 ? 0 : starts[i];
    }
  }
  const auto whole = KnownSizes(a.in(0)), part = KnownSizes(a.in(1));
  a.Require(whole && part && whole->size() == part->size(), "parts of unknown size");
  if (*whole == *part) return a.Op("identity", {a.in(1)}).value();
  // The elements around the part are operand 0's: axis by axis, from the last one on.
  Expr y = a.in(1);
  for (int64_t axis = rank; axis >= 1; --axis) {
    const auto i = static_cast<size_t>(axis);
    int64_t start = from[i - 1];
    if (start < 0) start += (*whole)[i];
    const int64_t end = start + (*part)[i];
    if (start < 0 || end > (*whole)[i]) return Invalid("a part that does not fit in axis ", axis);
    if (start == 0 && end == (*whole)[i]) continue;
    Expr around = a.in(0);
    for (int64_t outer = 1; outer < axis; ++outer) {
      const auto k = static_cast<size_t>(outer);
      int64_t at = from[k - 1];
      if (at < 0) at += (*whole)[k];
      around = Slice(around, outer, Size(at), Size(at + (*part)[k]));
    }
    std::vector<Value*> parts;
    if (start > 0) parts.push_back(Slice(around, axis, Size(0), Size(start)));
    parts.push_back(y);
    if (end < (*whole)[i]) parts.push_back(Slice(around, axis, Size(end), Size(kToEnd)));
    y = Concat(a, parts, axis);
  }
  return y.value();
}

// The diagonal of a matrix, or a matrix with that diagonal.
absl::StatusOr<Value*> Diag(NcnnArgs& a) {
  const int64_t offset = a.Int(0, 0), rank = a.RankOf() - 1;
  const auto sizes = KnownSizes(a.in(0), 1, rank + 1);
  a.Require(sizes && (rank == 1 || rank == 2), "a diagonal of what is no matrix or list");
  const int64_t down = std::max<int64_t>(-offset, 0), right = std::max<int64_t>(offset, 0);
  constexpr int64_t kLimit = 1 << 20;
  if (down > kLimit || right > kLimit) return Invalid("diagonal ", offset);
  if (rank == 1) {
    const int64_t n = (*sizes)[0];
    std::vector<int64_t> places;
    for (int64_t i = 0; i < n; ++i) places.push_back(i);
    const Expr place = Ints(a, places);
    const Expr own = Where(Unsqueeze(place, {0}) == Unsqueeze(place, {1}), a.in(0), 0.0);
    const Expr square = Unsqueeze(own, {0});
    const Expr image = own->shape()->rank() == 2 ? square : own;
    return a.Op("pad", {image, a.b().Ints({0, down, right, 0, right, down}), image.Number(0)})
        .value();
  }
  if (down >= (*sizes)[0] || right >= (*sizes)[1]) return Invalid("diagonal ", offset);
  return DiagonalOf(
             Slice(Slice(a.in(0), 1, Size(down), Size(kToEnd)), 2, Size(right), Size(kToEnd)))
      .value();
}

absl::StatusOr<Value*> FlipLayer(NcnnArgs& a) {
  const std::vector<int64_t> axes = a.Ints(0);
  if (axes.empty()) return Invalid("no axis to turn");
  Expr x = a.in(0);
  for (const int64_t axis : axes) {
    x = Slice(x, a.AxisOf(axis), Size(-1), Size(INT64_MIN), Size(-1));
  }
  return x.value();
}

}  // namespace

X2IR_NCNN(concat).From({{"Concat", ConcatLayer}, {"CopyTo", CopyTo}});
X2IR_NCNN(split).From("Slice", SliceLayer);
X2IR_NCNN(reshape).From({{"Reshape", ReshapeLayer},
                         {"Flatten", FlattenLayer},
                         {"MemoryData", MemoryData}});
X2IR_NCNN(squeeze).From("Squeeze", Squeezed);
X2IR_NCNN(unsqueeze).From("ExpandDims", ExpandDims);
X2IR_NCNN(transpose).From({{"Permute", PermuteLayer}, {"ShuffleChannel", Shuffle}});
X2IR_NCNN(slice).From({{"Crop", Cropped}, {"Flip", FlipLayer}});
X2IR_NCNN(pad).From({{"Padding", Padded}, {"Diag", Diag}});
X2IR_NCNN(tile).From("Tile", TileLayer);
X2IR_NCNN(depth_to_space).From("PixelShuffle", PixelShuffle);
X2IR_NCNN(space_to_depth).From("Reorg", ReorgLayer);
X2IR_NCNN(col2im).From({{"Unfold", Unfold}, {"Fold", Fold}});

}  // namespace x2ir
