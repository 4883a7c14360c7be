// ncnn: windows and samples of images at computed places, images as columns, and integers.
#include <algorithm>

#include "x2ir/builder/matrices.h"
#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/torch/as_torch.h"

namespace x2ir {
namespace {

// Height before width, as IR's axes are.
struct PlaneWindow {
  std::vector<int64_t> kernel, dilations, strides, pads;  // pads: begins, then ends
};
PlaneWindow PlaneWindowOf(NcnnArgs& a) {
  const auto pair = [&](int64_t id, int64_t fallback) {
    const int64_t width = a.Int(id, fallback);
    return std::vector<int64_t>{a.Int(10 + id, width), width};
  };
  PlaneWindow w;
  w.kernel = pair(1, 0);
  w.dilations = pair(2, 1);
  w.strides = pair(3, 1);
  const int64_t left = a.Int(4, 0), top = a.Int(14, left), right = a.Int(15, left),
                bottom = a.Int(16, top);
  w.pads = {top, left, bottom, right};
  for (const int64_t pad : w.pads) a.Require(pad >= 0, "padding to a size");
  return w;
}

// Operands: x, offsets (row and column of each place of the window), and their weights.
absl::StatusOr<Value*> DeformableConvolution(NcnnArgs& a) {
  const int64_t out = a.Int(0, 0);
  const bool bias = a.Flag(5, false);
  const PlaneWindow w = PlaneWindowOf(a);
  a.Drop({6});
  if (out < 1 || w.kernel[0] < 1 || w.kernel[1] < 1) return Invalid(out, " filters");
  const Expr kernel = Reshape(a.weights(0), {out, -1, w.kernel[0], w.kernel[1]});
  std::vector<Value*> operands = {a.in(0), kernel, a.in(1), bias ? a.weights(1).value() : nullptr};
  if (a.num_bottoms() > 2) operands.push_back(a.in(2));
  const Expr y = a.Op("deform_conv", std::move(operands),
                      {{"strides", w.strides}, {"dilations", w.dilations}, {"pads", w.pads}});
  X2IR_ASSIGN_OR_RETURN(const Expr activated, NcnnActivated(a, y));
  return activated.value();
}

// Places are (column, row, ...) from -1 to 1, behind the axes of the result or before them.
absl::StatusOr<Value*> GridSample(NcnnArgs& a) {
  static constexpr const char* kModes[] = {"linear", "nearest", "cubic"};
  static constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
  const int64_t mode = a.Int(0, 1), padding = a.Int(1, 1), rank = a.RankOf();
  const bool corners = a.Flag(2, false), first = a.Flag(3, false);
  if (mode < 1 || mode > 3 || padding < 1 || padding > 3) {
    return Invalid("sample_type ", mode, ", padding_mode ", padding);
  }
  if (rank < 4 || a.RankOf(1) != rank) return Invalid("places of another rank");
  const Expr places = first ? MoveAxis(a.in(1), 1, rank - 1) : a.in(1);
  return a
      .Op("grid_sample", {a.in(0), places},
          {{"mode", kModes[mode - 1]},
           {"padding_mode", kPaddings[padding - 1]},
           {"align_corners", corners ? 1 : 0}})
      .value();
}

// --- Columns -------------------------------------------------------------------------------------

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

// --- Parts ---------------------------------------------------------------------------------------

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
  // Around the part stands what was there: axis by axis, from the last one on.
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
  constexpr int64_t kMost = 1 << 20;
  if (down > kMost || right > kMost) return Invalid("diagonal ", offset);
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
// The equation is a list of letters' numbers; IR's has the batch of 1 in front.
absl::StatusOr<Value*> Einsum(NcnnArgs& a) {
  std::string equation;
  for (const int64_t letter : a.Ints(0)) {
    const bool known =
        (letter >= 'i' && letter <= 'l') || letter == ',' || letter == '-' || letter == '>';
    if (!known) return Invalid("letter ", letter, " of an equation");
    equation.push_back(static_cast<char>(letter));
  }
  std::string with_batch = "b";
  for (const char c : equation) {
    with_batch.push_back(c);
    if (c == ',' || c == '>') with_batch.push_back('b');
  }
  return a.Op("einsum", a.inputs(), {{"equation", with_batch}}).value();
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

// --- Integers ------------------------------------------------------------------------------------

// A number for each index of the first axis, or one for all.
Expr OfChannels(NcnnArgs& a, const Expr& numbers) {
  if (DimAt(numbers, 0) == Dim(1)) return numbers;
  return AlongChannels(numbers, a.RankOf());
}
Value* QuantizeLayer(NcnnArgs& a) {
  a.Drop({0});
  return NcnnQuantized(a.in(0), OfChannels(a, a.weights(0))).To(DType::kInt8);
}
Value* DequantizeLayer(NcnnArgs& a) {
  a.Drop({0});
  const bool bias = a.Int(1, 0) != 0;
  const Expr y = a.in(0).To(DType::kFloat32) * OfChannels(a, a.weights(0));
  return bias ? y + OfChannels(a, a.weights(1)) : y;
}
absl::StatusOr<Value*> RequantizeLayer(NcnnArgs& a) {
  a.Drop({0, 1});
  const bool bias = a.Int(2, 0) != 0;
  Expr y = a.in(0).To(DType::kFloat32) * OfChannels(a, a.weights(0));
  if (bias) y = y + OfChannels(a, a.weights(2));
  X2IR_ASSIGN_OR_RETURN(y, NcnnActivated(a, y, 3));
  return NcnnQuantized(y, OfChannels(a, a.weights(1))).To(DType::kInt8).value();
}

}  // namespace

X2IR_NCNN(deform_conv).From("DeformableConv2D", DeformableConvolution);
X2IR_NCNN(grid_sample).From("GridSample", GridSample);
X2IR_NCNN(gather).From("Unfold", Unfold);
X2IR_NCNN(col2im).From("Fold", Fold);
X2IR_NCNN(concat).From("CopyTo", CopyTo);
X2IR_NCNN(pad).From("Diag", Diag);
X2IR_NCNN(einsum).From("Einsum", Einsum);
X2IR_NCNN(slice).From("Flip", FlipLayer);
X2IR_NCNN(cast).From("Quantize", QuantizeLayer).From("Requantize", RequantizeLayer);
X2IR_NCNN(mul).From("Dequantize", DequantizeLayer);

}  // namespace x2ir
