// Rules of fuse_attention for attention that was spelled out (see fuse_attention.cc).
//  6. softmax(q k^T) v, each of [batch, heads, length, size], is attention, with numbers that q, k
//  or
//     the products are multiplied by as its scale. where(mask, products, least), with a number so
//     small that nothing is left of it, is its mask: as it is where it is constant and each query
//     sees a key; else as 0 and that number, which are added.
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

// Beside scores that are less than this no number of the other kind counts, or it is 0 as a weight.
constexpr double kLeastOfKnown = -1e9, kLeastOfAny = -1e30;

bool IsOfRank4(const Value* x) { return x && x->shape() && x->shape()->rank() == 4; }

// Numbers that the value is multiplied by or divided by go to `scale`, also those before a
// transpose, which is then made again.
Value* WithoutScale(Rewriter& r, Value* x, double& scale) {
  const Pattern pattern(r);
  const auto step = [&](Value* from) -> Value* {
    const Node* node = pattern.OnlyBy(from, "mul");
    const bool divides = !node;
    if (divides) node = pattern.OnlyBy(from, "div");
    const auto with = node ? Pattern::NumberOperand(*node) : std::nullopt;
    if (!with || (divides && with->first) || !(with->number > 0)) return nullptr;
    scale = divides ? scale / with->number : scale * with->number;
    return with->other;
  };
  while (Value* before = step(x)) x = before;
  const Node* transpose = pattern.OnlyBy(x, "transpose");
  Value* inner = transpose ? step(transpose->input(0)) : nullptr;
  if (!inner) return x;
  return r.b().Op("transpose", {inner}, transpose->attrs());
}

// k of k^T, which a transpose made.
Value* SwappedBack(Rewriter& r, const Value* x) {
  const Node* transpose = Pattern(r).By(x, "transpose");
  if (!transpose || !transpose->attrs().Has("perm")) return nullptr;
  std::vector<int64_t> perm = transpose->attrs().Ints("perm");
  if (perm.size() != 4) return nullptr;
  std::swap(perm[2], perm[3]);
  return Transpose({r.b(), transpose->input(0)}, perm);
}

constexpr int64_t kMostOfMask = int64_t{1} << 24;

// What is false where the mask is true: a constant of a constant.
Value* Inverted(Rewriter& r, Value* mask) {
  const Tensor* tensor = DenseConstant(mask);
  if (!tensor || tensor->dtype() != DType::kBool || tensor->num_elements() > kMostOfMask) {
    return r.b().Op("not", {mask});
  }
  Tensor inverted = Tensor::Zeros(DType::kBool, tensor->dims());
  const std::byte* yes = tensor->bytes().data();
  for (std::byte& element : inverted.mutable_bytes()) {
    element = std::byte{*yes++ == std::byte{0}};
  }
  return r.b().Constant(std::move(inverted), "sees");
}

// Whether the mask is constant and lets each query see a key.
bool LetsAllSee(const Value* mask) {
  const Tensor* tensor = DenseConstant(mask);
  if (!tensor || tensor->dtype() != DType::kBool || tensor->rank() < 1 ||
      tensor->num_elements() > kMostOfMask) {
    return false;
  }
  const int64_t keys = tensor->dim(tensor->rank() - 1);
  const std::byte* yes = tensor->bytes().data();
  bool sees = true;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    if (i % keys == 0 && !std::exchange(sees, false)) return false;
    sees = sees || yes[i] != std::byte{0};
  }
  return sees;
}

struct Scores {
  Value* products;
  Value* mask = nullptr;
};
std::optional<Scores> MatchScores(Rewriter& r, Value* scores) {
  const Pattern pattern(r);
  const Node* where = pattern.OnlyBy(scores, "where");
  if (!where) return Scores{scores};
  Value *mask = where->input(0), *products = where->input(1), *other = where->input(2);
  if (Pattern::Number(products, other)) {
    std::swap(products, other);
    mask = Inverted(r, mask);
  }
  const auto least = Pattern::Number(other, products);
  const Shape *s = mask->shape(), *all = scores->shape();
  if (!least || !s || s->rank() < 2 || s->rank() > 4 || !SameShape(products, scores) ||
      !ProvablyEqual(s->dims().back(), all->dims().back())) {
    return std::nullopt;
  }
  if (*least <= kLeastOfKnown && LetsAllSee(mask)) return Scores{products, mask};
  const DType t = products->dtype();
  if (*least > kLeastOfAny || t != DType::kFloat32) return std::nullopt;
  return Scores{products, r.b().Op("where", {mask, r.b().Scalar(t, 0, "zero"), other})};
}

absl::StatusOr<bool> FuseFormula(Rewriter& r) {
  const DType t = r.out()->dtype();
  if (!IsFloating(t) || !r.context().target || !r.context().Has("attention", t)) return false;
  const Pattern pattern(r);
  const Node* softmax = pattern.OnlyBy(r.in(0), "softmax");
  Value* v = r.in(1);
  if (!softmax || !IsOfRank4(r.in(0)) || !IsOfRank4(v)) return false;
  const int64_t axis = softmax->attrs().Int("axis");
  if (axis != -1 && axis != 3) return false;
  const auto scores = MatchScores(r, softmax->input(0));
  if (!scores) return false;
  double scale = 1;
  Value* products = WithoutScale(r, scores->products, scale);
  const Node* product = pattern.OnlyBy(products, "matmul");
  if (!product || !IsOfRank4(product->input(0)) || !IsOfRank4(product->input(1))) return false;
  Value* q = WithoutScale(r, product->input(0), scale);
  Value* k = SwappedBack(r, WithoutScale(r, product->input(1), scale));
  if (!k || !std::isnormal(static_cast<float>(scale))) return false;
  for (const int64_t i : {0, 1}) {
    const Dim& own = (*q->shape())[i];
    if (!ProvablyEqual(own, (*k->shape())[i]) || !ProvablyEqual(own, (*v->shape())[i]))
      return false;
  }
  const Dim size = q->shape()->dims().back();
  AttributeMap attrs;
  const bool usual = size.is_static() && size.value() > 0 &&
                     IsRounded(scale, 1 / std::sqrt(static_cast<double>(size.value())), t);
  if (!usual) attrs.Set("scale", static_cast<float>(scale));
  Values operands = {q, k, v};
  if (scores->mask) operands.push_back(scores->mask);
  Value* y = r.b().Op("attention", operands, std::move(attrs));
  return r.b().status().ok() && SameShape(y, r.out()) && r.Replace(y);
}
X2IR_RULE(fuse_attention, matmul, FuseFormula, {"softmax"});

}  // namespace
}  // namespace x2ir
