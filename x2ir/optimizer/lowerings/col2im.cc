// col2im as a gather of what falls on each pixel: for known shapes of images and blocks.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/window.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

constexpr size_t kMaxLayers = 256;  // numbers that fall on one pixel

// For each pixel the numbers of the blocks that fall on it, in the order that they are added:
// places in [cells of a block, positions].
std::vector<std::vector<int64_t>> PlacesOfPixels(const PlacedWindow& p) {
  const Window& w = p.window;
  const std::vector<int64_t> strides = Strides(p.in);
  std::vector<std::vector<int64_t>> places(Product(p.in));
  int64_t at = 0;
  std::vector<int64_t> cell(w.rank(), 0);
  do {
    std::vector<int64_t> position(w.rank(), 0);
    do {
      int64_t to = 0;
      bool inside = true;
      for (size_t i = 0; i < w.rank(); ++i) {
        const int64_t k = position[i] * w.strides[i] + cell[i] * w.dilations[i] - w.pad_begin(i);
        inside = inside && k >= 0 && k < p.in[i];
        to += k * strides[i];
      }
      if (inside) places[to].push_back(at);
      ++at;
    } while (NextIndex(p.out, position));
  } while (NextIndex(w.kernel, cell));
  return places;
}

absl::StatusOr<Values> Col2ImAsGather(Rewrite& r) {
  Builder& b = r.b;
  const Shape* x = r.in(0)->shape();
  const auto image = r.ConstInts(1), block = r.ConstInts(2);
  DType t = r.dtype(0);
  if (!IsInteger(t)) {
    X2IR_ASSIGN_OR_RETURN(t, FloatComputeType(t));
  }
  if (!x || x->rank() != 3 || !(*x)[1].is_static() || !image || !block || image->empty() ||
      image->size() != block->size()) {
    return CannotExpress("the shapes of images and blocks are not known");
  }
  for (size_t i = 0; i < image->size(); ++i) {
    if ((*image)[i] < 1 || (*block)[i] < 1) return CannotExpress("empty images or blocks");
  }
  const auto cells = CheckedProduct(*block), pixels = CheckedProduct(*image);
  if (!cells || !pixels || *pixels > kMaxLoweringElements || (*x)[1].value() < 1 ||
      (*x)[1].value() % *cells != 0) {
    return CannotExpress("blocks that do not divide the rows, or an image that is too large");
  }
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(r.attrs(), *block));
  X2IR_ASSIGN_OR_RETURN(const PlacedWindow p, PlaceWindow(std::move(window), *image));
  const auto positions = CheckedProduct(p.out);
  if (!positions || *positions < 1 || *positions > kMaxLoweringElements / *cells) {
    return CannotExpress("no positions, or too many");
  }
  const std::vector<std::vector<int64_t>> places = PlacesOfPixels(p);
  size_t layers = 1;
  for (const auto& at : places) layers = std::max(layers, at.size());
  if (layers > kMaxLayers) return CannotExpress(layers, " numbers fall on one pixel");
  const int64_t channels = (*x)[1].value() / *cells;
  Value* columns = b.Op(
      "reshape", {Expr(b, r.in(0)).To(t), b.Ints({0, channels, *cells * *positions}, "shape")});
  Value* sum = nullptr;
  for (size_t k = 0; k < layers; ++k) {
    std::vector<int64_t> picks;
    std::vector<double> there;
    for (const auto& at : places) {
      picks.push_back(k < at.size() ? at[k] : 0);
      there.push_back(k < at.size() ? 1 : 0);
    }
    Value* layer = b.Op("gather", {columns, b.Ints(picks, "places")}, {{"axis", 2}});
    if (std::find(there.begin(), there.end(), 0) != there.end()) {
      Value* mask = NumbersAs(b, DType::kBool, {*pixels}, there, "there");
      layer = b.Op("where", {mask, layer, b.Scalar(t, 0, "zero")});
    }
    sum = sum ? b.Op("add", {sum, layer}) : layer;
  }
  std::vector<int64_t> dims = {0, channels};
  dims.insert(dims.end(), image->begin(), image->end());
  return Values{Expr(b, b.Op("reshape", {sum, b.Ints(dims, "shape")})).To(r.dtype(0))};
}
X2IR_LOWERING(col2im, Col2ImAsGather);

}  // namespace
}  // namespace x2ir
