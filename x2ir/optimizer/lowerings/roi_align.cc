// roi_align as gathers of the four pixels around each sample: where the number of samples a bin
// does not depend on the regions. The steps are those of its evaluation (x2ir/ops/roi_align.cc).
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxSamples = 8;  // along an axis of a bin, where each is a few nodes

constexpr DType kWide = DType::kFloat64;  // that pixels and weights are computed in, as there

// Samples along one axis, [regions, bins * samples]: the pixels on either side and their weights.
struct Sides {
  Value *low, *high, *low_weight, *high_weight;
};

struct RoiAxis {
  size_t from, to;  // columns of the regions
  int64_t bins, axis;
};

Sides SidesAlong(Rewrite& r, Value* rois, const RoiAxis& a, int64_t samples, DType t) {
  Builder& b = r.b;
  const bool half_pixel = r.attrs().String("coordinate_transformation_mode") == "half_pixel";
  const auto number = [&](double v) { return b.Scalar(t, v); };
  const auto column = [&](size_t i) {
    Value* v = b.Op("gather", {rois, b.Ints({static_cast<int64_t>(i)}, "column")}, {{"axis", 1}});
    v = b.Op("mul", {v, number(r.attrs().Float("spatial_scale"))});
    return half_pixel ? b.Op("sub", {v, number(0.5)}) : v;
  };
  Value* start = column(a.from);
  Value* length = b.Op("sub", {column(a.to), start});
  if (!half_pixel) length = b.Op("max", {length, number(1)});
  Value* bin = b.Op("div", {length, number(static_cast<double>(a.bins))});
  std::vector<double> bins, within;
  for (int64_t i = 0; i < a.bins * samples; ++i) {
    bins.push_back(static_cast<double>(i / samples));
    within.push_back(static_cast<double>(i % samples) + 0.5);
  }
  const int64_t count = a.bins * samples;
  Value* at = b.Op("add", {start, b.Op("mul", {NumbersAs(b, t, {count}, bins, "bins"), bin})});
  Value* inner = b.Op("mul", {NumbersAs(b, t, {count}, within, "samples"), bin});
  at = b.Op("add", {at, b.Op("div", {inner, number(static_cast<double>(samples))})});

  Value* size = SizeOfAxis(b, r.in(0), a.axis, t);
  Value* last = b.Op("sub", {size, number(1)});
  Value* inside =
      b.Op("and", {b.Op("greater_or_equal", {at, number(-1)}), b.Op("less_or_equal", {at, size})});
  at = b.Op("where", {inside, b.Op("min", {b.Op("max", {at, number(0)}), last}), number(0)});
  Value* low = b.Op("floor", {at});
  Value* high = b.Op("min", {b.Op("add", {low, number(1)}), last});
  Value* high_weight = Expr(b, b.Op("sub", {at, low})).To(kWide);
  Value* low_weight = b.Op("sub", {b.Scalar(kWide, 1), high_weight});
  Value* none = b.Scalar(kWide, 0);
  return {Expr(b, low).To(DType::kInt64), Expr(b, high).To(DType::kInt64),
          b.Op("where", {inside, low_weight, none}), b.Op("where", {inside, high_weight, none})};
}

absl::StatusOr<Values> RoiAlignAsGather(Rewrite& r) {
  Builder& b = r.b;
  const AttributeMap& attrs = r.attrs();
  const Shape* x = r.in(0)->shape();
  const int64_t samples = attrs.Int("sampling_ratio"), height = attrs.Int("output_height"),
                width = attrs.Int("output_width");
  const bool max = attrs.String("mode") == "max";
  if (samples < 1 || samples > (max ? kMaxSamples : kMaxLoweringElements) ||
      std::max(height, width) > kMaxLoweringElements / samples) {
    return CannotExpress("the number of samples depends on the regions, or is large");
  }
  X2IR_ASSIGN_OR_RETURN(const DType t, FloatComputeType(r.dtype(0)));
  if (!x || x->rank() != 4 || !(*x)[1].is_static() || (*x)[1].value() < 1 || (*x)[2] == Dim(0) ||
      (*x)[3] == Dim(0)) {
    return CannotExpress("the image is empty, or its shape is not known");
  }
  const int64_t channels = (*x)[1].value();
  // Pixels as rows, all channels of one in each.
  Value* rows = b.Op("transpose", {Expr(b, r.in(0)).To(kWide)}, {{"perm", {0, 2, 3, 1}}});
  rows = b.Op("reshape", {rows, b.Ints({-1, channels}, "rows")});
  Value* rois = Expr(b, r.in(1)).To(t);
  const Sides y = SidesAlong(r, rois, {1, 3, height, 2}, samples, t);
  const Sides z = SidesAlong(r, rois, {0, 2, width, 3}, samples, t);
  Value* row_size = SizeOfAxis(b, r.in(0), 3, DType::kInt64);
  Value* plane = b.Op("mul", {SizeOfAxis(b, r.in(0), 2, DType::kInt64), row_size});
  Value* first = b.Op("mul", {Expr(b, r.in(2)).To(DType::kInt64), plane});
  first = b.Op("unsqueeze", {first, b.Ints({1, 2}, "axes")});
  const auto down = [&](Value* v) { return b.Op("unsqueeze", {v, b.Ints({2}, "axes")}); };
  const auto across = [&](Value* v) { return b.Op("unsqueeze", {v, b.Ints({1}, "axes")}); };
  const auto part = [&](Value* row, Value* row_weight, Value* column, Value* column_weight) {
    Value* index = b.Op("add", {b.Op("mul", {down(row), row_size}), across(column)});
    Value* pixel = b.Op("gather", {rows, b.Op("add", {first, index})}, {{"axis", 0}});
    Value* weight = b.Op("mul", {down(row_weight), across(column_weight)});
    return b.Op("mul", {pixel, b.Op("unsqueeze", {weight, b.Ints({3}, "axes")})});
  };
  Value* parts[4] = {part(y.low, y.low_weight, z.low, z.low_weight),
                     part(y.low, y.low_weight, z.high, z.high_weight),
                     part(y.high, y.high_weight, z.low, z.low_weight),
                     part(y.high, y.high_weight, z.high, z.high_weight)};
  // A comparison that NaN loses, as in evaluation.
  const auto larger = [&](Value* best, Value* v) {
    return b.Op("where", {b.Op("less", {best, v}), v, best});
  };
  Value* all = parts[0];
  for (int i = 1; i < 4; ++i) all = max ? larger(all, parts[i]) : b.Op("add", {all, parts[i]});
  // [regions, bins, samples, bins, samples, channels]
  all = b.Op("reshape", {all, b.Ints({-1, height, samples, width, samples, channels}, "samples")});
  Value* result = nullptr;
  if (!max) {
    Value* sum = b.Op("reduce_sum", {all, b.Ints({2, 4}, "axes")}, {{"keepdims", 0}});
    result = b.Op("div", {sum, b.Scalar(kWide, static_cast<double>(samples * samples), "count")});
  }
  for (int64_t i = 0; max && i < samples; ++i) {
    Value* row = b.Op("gather", {all, b.Int(i, "sample")}, {{"axis", 2}});
    for (int64_t j = 0; j < samples; ++j) {
      Value* sample = b.Op("gather", {row, b.Int(j, "sample")}, {{"axis", 3}});
      result = result ? larger(result, sample) : sample;
    }
  }
  result = b.Op("transpose", {result}, {{"perm", {0, 3, 1, 2}}});
  return Values{Expr(b, result).To(r.dtype(0))};
}
X2IR_LOWERING(roi_align, RoiAlignAsGather);

}  // namespace
}  // namespace x2ir
