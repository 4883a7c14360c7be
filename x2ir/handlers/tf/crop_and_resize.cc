// TensorFlow: pieces of images, each made of one size.
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

constexpr DType kFloat = DType::kFloat32;

// Where the results along one axis lie in the image: [boxes, count], and whether that is inside.
struct CropPlaces {
  Expr at, inside;
};
CropPlaces PlacesAlong(TfArgs& a, const Expr& begin, const Expr& end, const Expr& last,
                       int64_t count) {
  std::vector<float> steps;
  for (int64_t i = 0; i < count; ++i) steps.push_back(static_cast<float>(i));
  const Expr step(a.b(), a.b().Constant(Tensor::Of<float>({1, count}, steps)));
  // The middle where there is but one.
  const Expr at =
      count > 1 ? begin * last + step * ((end - begin) * last / static_cast<double>(count - 1))
                : (begin + end) * 0.5 * last;
  return {at, (at >= 0.0) & (at <= last)};
}

// Operands: images [batch, height, width, depth], boxes [n, 4], whose image each is of [n], and the
// size of the results.
absl::StatusOr<Value*> CropAndResize(TfArgs& a) {
  const std::string method = a.String("method", "bilinear");
  if (method != "bilinear" && method != "nearest") return Invalid("method '", method, "'");
  const double outside = a.Float("extrapolation_value", 0);
  X2IR_ASSIGN_OR_RETURN(const auto size, a.KnownInts(3, "crop_size"));
  if (size.size() != 2) return Invalid("expected two sizes");
  for (const int64_t n : size) {
    if (n < 1 || n > (1 << 20)) return Invalid("crops of size ", n);
  }
  const std::vector<Size> sizes = AllSizes(a.in(0));
  if (sizes.size() != 4) return Invalid("expected images of rank 4");
  const Expr images = Expr(a.b(), a.in(0)).To(kFloat);
  const Expr boxes(a.b(), a.in(1));
  const auto last = [&](size_t axis) {
    return Expr(a.b(), Vector(a, {Minus(a, sizes[axis], 1)})).To(kFloat);
  };
  const auto column = [&](int64_t i) {
    return boxes.Op("gather", {a.b().Ints({i})}, {{"axis", 1}});
  };
  const Expr last_row = last(1), last_column = last(2);
  const CropPlaces rows = PlacesAlong(a, column(0), column(2), last_row, size[0]);
  const CropPlaces columns = PlacesAlong(a, column(1), column(3), last_column, size[1]);
  // As [boxes, rows, columns].
  const auto unsqueezed = [&](const Expr& x, std::vector<int64_t> axes) {
    return x.Op("unsqueeze", {a.b().Ints(axes)});
  };
  const Expr inside = unsqueezed(rows.inside, {2}) & unsqueezed(columns.inside, {1});
  Value* shape = a.Op("shape", {inside.value()});
  const auto index = [&](const Expr& x, std::vector<int64_t> axes) {
    const Expr all = unsqueezed(x.To(DType::kInt64), std::move(axes));
    Value* expanded = a.Op("expand", {all.value(), shape});
    return a.Op("unsqueeze", {expanded, a.b().Ints({-1})});
  };
  Value* image = index(Expr(a.b(), a.in(2)), {1, 2});
  const auto picked = [&](const Expr& row, const Expr& column) {
    Value* at = a.Op("concat", {image, index(row, {2}), index(column, {1})}, {{"axis", -1}});
    return Expr(a.b(), a.Op("gather_nd", {images.value(), at}, {{"batch_dims", 0}}));
  };
  // Places outside are taken inside, and what is found there is not used.
  const Expr row = Where(rows.inside, rows.at, 0.0), col = Where(columns.inside, columns.at, 0.0);
  Expr result = images;
  if (method == "nearest") {
    result = picked(RoundHalfUp(row), RoundHalfUp(col));
  } else {
    const Expr top = Floor(row), left = Floor(col);
    const Expr bottom = row.Op("ceil"), right = col.Op("ceil");
    const Expr down = unsqueezed(row - top, {2, 3}), along = unsqueezed(col - left, {1, 3});
    const auto between = [](const Expr& x, const Expr& y, const Expr& t) {
      return x + (y - x) * t;
    };
    const Expr above = between(picked(top, left), picked(top, right), along);
    const Expr below = between(picked(bottom, left), picked(bottom, right), along);
    result = between(above, below, down);
  }
  return Where(unsqueezed(inside, {3}), result, outside).value();
}

}  // namespace

X2IR_TF(gather_nd).From("CropAndResize", CropAndResize);

}  // namespace x2ir
