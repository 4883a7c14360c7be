#include "x2ir/builder/layers/anchors.h"

#include <algorithm>
#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

std::vector<double> AnchorCorners(const AnchorGrid& grid) {
  std::vector<double> corners;
  for (int64_t row = 0; row < grid.rows; ++row) {
    const double place_y = (static_cast<double>(row) + grid.offset_y) * grid.step_y;
    for (int64_t column = 0; column < grid.columns; ++column) {
      const double place_x = (static_cast<double>(column) + grid.offset_x) * grid.step_x;
      for (const Anchor& anchor : grid.anchors) {
        const double x = place_x + anchor.x, y = place_y + anchor.y;
        for (const double edge :
             {(x - anchor.half_width) / grid.width, (y - anchor.half_height) / grid.height,
              (x + anchor.half_width) / grid.width, (y + anchor.half_height) / grid.height}) {
          corners.push_back(grid.clip ? std::clamp(edge, 0.0, 1.0) : edge);
        }
      }
    }
  }
  return corners;
}

std::vector<double> PriorRatios(const std::vector<double>& given, bool flip) {
  std::vector<double> ratios = {1};
  for (const double ratio : given) {
    const bool known = std::any_of(ratios.begin(), ratios.end(),
                                   [&](double each) { return std::abs(ratio - each) < 1e-6; });
    if (known) continue;
    ratios.push_back(ratio);
    if (flip) ratios.push_back(1 / ratio);
  }
  ratios.erase(ratios.begin());
  return ratios;
}

std::vector<Anchor> PriorAnchors(const std::vector<double>& least, const std::vector<double>& most,
                                 const std::vector<double>& ratios, bool between_last) {
  std::vector<Anchor> anchors;
  for (size_t i = 0; i < least.size(); ++i) {
    const double size = least[i];
    anchors.push_back({size / 2, size / 2});
    for (const double ratio : ratios) {
      anchors.push_back({size * std::sqrt(ratio) / 2, size / std::sqrt(ratio) / 2});
    }
    if (most.empty()) continue;
    const double between = std::sqrt(size * most[i]) / 2;
    const auto ahead = between_last ? 0 : static_cast<std::ptrdiff_t>(ratios.size());
    anchors.insert(anchors.end() - ahead, {between, between});
  }
  return anchors;
}

absl::StatusOr<Value*> PriorBoxes(Builder& b, DType dtype, const AnchorGrid& grid,
                                  const std::vector<double>& variances) {
  const auto count =
      CheckedProduct({grid.rows, grid.columns, static_cast<int64_t>(grid.anchors.size())});
  if (!count || *count > kMaxAnchors) return Unimplemented("as many boxes");
  std::vector<double> numbers = AnchorCorners(grid);
  for (size_t i = 0; i < static_cast<size_t>(*count * 4); ++i) {
    numbers.push_back(variances[i % variances.size()]);
  }
  return NumbersAs(b, dtype, {1, 2, *count * 4}, numbers, "priors").value();
}

std::vector<BoxSize> AnchorSizes(const AnchorSides& sides) {
  const auto whole = [&](double x) {
    return sides.halves_to_even ? std::nearbyint(x) : std::round(x);
  };
  std::vector<BoxSize> sizes;
  for (const double ratio : sides.ratios) {
    const double area = sides.area / ratio;
    const double width = whole(std::sqrt(sides.whole_area ? std::floor(area) : area));
    const double height = whole(width * ratio);
    for (const double scale : sides.scales) sizes.push_back({width * scale, height * scale});
  }
  return sizes;
}

Anchor PixelAnchor(const BoxSize& size, double x, double y) {
  return {(size.width - 1) / 2, (size.height - 1) / 2, x, y};
}

}  // namespace x2ir
