// deform_conv as a gather of the pixels around each place that the kernel sees, and a product
// with the weights: for known shapes.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/window.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

constexpr size_t kXOperand = 0, kW = 1, kOffset = 2, kBias = 3, kMask = 4;
constexpr int64_t kMaxAxes = 3;

// The pixels on either side along one axis, whether they count, and their weights.
struct Side {
  Value *index, *there, *weight;
};

std::vector<Side> SidesOf(Builder& b, Value* at, int64_t size, DType t) {
  const auto number = [&](double v) { return b.Scalar(t, v); };
  Value *zero = number(0), *one = number(1), *last = number(static_cast<double>(size - 1));
  Value* near = b.Op("and", {b.Op("less", {number(-1), at}),
                             b.Op("less", {at, number(static_cast<double>(size))})});
  Value* place = b.Op("where", {near, at, zero});  // no number: nowhere
  Value* low = b.Op("floor", {place});
  Value* high_weight = b.Op("sub", {place, low});
  const auto side = [&](Value* i, Value* weight) {
    Value* outside = b.Op("or", {b.Op("less", {i, zero}), b.Op("less", {last, i})});
    return Side{Clip({b, i}, {b, zero}, {b, last}).To(DType::kInt64),
                b.Op("and", {near, b.Op("not", {outside})}), weight};
  };
  return {side(low, b.Op("sub", {one, high_weight})), side(b.Op("add", {low, one}), high_weight)};
}

// Places along axis i where nothing is moved: [kernel cells, positions].
std::vector<double> RestingPlaces(const PlacedWindow& p, size_t axis) {
  std::vector<double> places;
  std::vector<int64_t> cell(p.in.size(), 0);
  do {
    std::vector<int64_t> position(p.in.size(), 0);
    do {
      places.push_back(static_cast<double>(position[axis] * p.window.strides[axis] +
                                           cell[axis] * p.window.dilations[axis] -
                                           p.window.pad_begin(axis)));
    } while (NextIndex(p.out, position));
  } while (NextIndex(p.window.kernel, cell));
  return places;
}

absl::StatusOr<Values> DeformConvAsGather(Rewrite& r) {
  Builder& b = r.b;
  const auto x = StaticDims(r, kXOperand), w = StaticDims(r, kW);
  if (!x || !w || x->size() < 3 || x->size() != w->size() ||
      static_cast<int64_t>(x->size()) > kMaxAxes + 2 || CheckedProduct(*x).value_or(0) == 0 ||
      CheckedProduct(*w).value_or(0) == 0) {
    return CannotExpress("the shapes are not known, empty or of too many axes");
  }
  if (!IsFloating(r.dtype(kXOperand)))
    return CannotExpress("the element type is not a known float");
  constexpr DType t = DType::kFloat64;  // as evaluation computes
  const size_t axes = x->size() - 2;
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(r.attrs(), {w->begin() + 2, w->end()}));
  const std::vector<int64_t> in(x->begin() + 2, x->end());
  X2IR_ASSIGN_OR_RETURN(const PlacedWindow p, PlaceWindow(std::move(window), in));
  const int64_t batch = (*x)[0], channels = (*x)[1], out_channels = (*w)[0];
  const int64_t groups = r.attrs().Int("group"), parts = r.attrs().Int("offset_group");
  const int64_t cells = Product(p.window.kernel), plane = Product(in);
  const int64_t positions = CheckedProduct(p.out).value_or(0);  // 0 where there are far too many
  if (groups < 1 || parts < 1 || channels % groups != 0 || channels % parts != 0 ||
      out_channels % groups != 0 || (*w)[1] != channels / groups) {
    return Invalid("groups do not divide the channels");
  }
  if (positions == 0 || positions > kMaxLoweringElements / cells ||
      batch > kMaxLoweringElements / parts) {
    return CannotExpress(positions, " positions of ", cells, " kernel elements");
  }
  const auto reshaped = [&](Value* v, std::vector<int64_t> sizes) {
    return b.Op("reshape", {v, b.Ints(sizes, "shape")});
  };
  // Pixels as rows, all channels of an offset group of one in each.
  const int64_t per_part = channels / parts;
  Value* rows = reshaped(Expr(b, r.in(kXOperand)).To(t), {batch, parts, per_part, plane});
  rows = b.Op("transpose", {rows}, {{"perm", {0, 1, 3, 2}}});
  rows = reshaped(rows, {batch * parts * plane, per_part});
  std::vector<int64_t> firsts;
  for (int64_t i = 0; i < batch * parts; ++i) firsts.push_back(i * plane);
  Value* first =
      b.Constant(Tensor::Of<int64_t>({batch, parts, 1, 1}, absl::MakeConstSpan(firsts)), "images");

  Value* offsets = reshaped(Expr(b, r.in(kOffset)).To(t),
                            {batch, parts, cells, static_cast<int64_t>(axes), positions});
  const std::vector<int64_t> strides = Strides(in);
  std::vector<Side> corners = {{first, nullptr, nullptr}};
  for (size_t axis = 0; axis < axes; ++axis) {
    Value* offset =
        b.Op("gather", {offsets, b.Int(static_cast<int64_t>(axis), "axis")}, {{"axis", 3}});
    Value* resting = NumbersAs(b, t, {cells, positions}, RestingPlaces(p, axis), "places");
    std::vector<Side> sides = SidesOf(b, b.Op("add", {resting, offset}), in[axis], t);
    for (Side& side : sides) {
      if (strides[axis] != 1) {
        side.index = b.Op("mul", {side.index, b.Int(strides[axis], "stride")});
      }
    }
    std::vector<Side> next;
    for (const Side& c : corners) {
      for (const Side& s : sides) {
        next.push_back({b.Op("add", {c.index, s.index}),
                        c.there ? b.Op("and", {c.there, s.there}) : s.there,
                        c.weight ? b.Op("mul", {c.weight, s.weight}) : s.weight});
      }
    }
    corners = std::move(next);
  }
  const auto per_channel = [&](Value* v) { return b.Op("unsqueeze", {v, b.Ints({4}, "axes")}); };
  Value* seen = nullptr;  // [batch, offset groups, cells, positions, channels of the group]
  for (const Side& corner : corners) {
    Value* pixel = b.Op("gather", {rows, corner.index}, {{"axis", 0}});
    pixel = b.Op("where", {per_channel(corner.there), pixel, b.Scalar(t, 0, "zero")});
    pixel = b.Op("mul", {pixel, per_channel(corner.weight)});
    seen = seen ? b.Op("add", {seen, pixel}) : pixel;
  }
  if (Given(r, kMask)) {
    Value* mask = reshaped(Expr(b, r.in(kMask)).To(t), {batch, parts, cells, positions});
    seen = b.Op("mul", {seen, per_channel(mask)});
  }
  const int64_t column = channels / groups * cells;
  seen = b.Op("transpose", {seen}, {{"perm", {0, 1, 4, 2, 3}}});
  seen = reshaped(seen, {batch, groups, column, positions});
  Value* weights = reshaped(Expr(b, r.in(kW)).To(t), {groups, out_channels / groups, column});
  std::vector<int64_t> dims = {batch, out_channels};
  dims.insert(dims.end(), p.out.begin(), p.out.end());
  Value* y = reshaped(b.Op("matmul", {weights, seen}), dims);
  if (Given(r, kBias)) {
    std::vector<int64_t> bias(axes + 1, 1);
    bias[0] = out_channels;
    y = b.Op("add", {y, reshaped(Expr(b, r.in(kBias)).To(t), bias)});
  }
  return Values{Expr(b, y).To(r.dtype(kXOperand))};
}
X2IR_LOWERING(deform_conv, DeformConvAsGather);

}  // namespace
}  // namespace x2ir
