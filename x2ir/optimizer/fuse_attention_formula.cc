// Rules of fuse_attention for attention that was spelled out (see fuse_attention.cc).
//  6. softmax(q k^T) v, each of [batch, heads, length, size], is attention, with numbers that q, k
//  or
//     the products are multiplied by as its scale. where(mask, products, least), with a number so
//     small that nothing is left of it, is its mask: as it is where it is constant and each query
//     sees a key; else as 0 and that number, which are added.
//  7. So it is where the products are of [batch, heads of keys, rows, size], with queries of
//  several
//     heads as rows, and softmax is of the same with its axes taken apart and moved.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/axis_parts.h"
#include "x2ir/optimizer/fuse_attention_internal.h"
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
  if (!least || !s || !all || s->rank() < 2 || s->rank() > all->rank() ||
      !SameShape(products, scores) || !ProvablyEqual(s->dims().back(), all->dims().back())) {
    return std::nullopt;
  }
  if (*least <= kLeastOfKnown && LetsAllSee(mask)) return Scores{products, mask};
  const DType t = products->dtype();
  if (*least > kLeastOfAny || t != DType::kFloat32) return std::nullopt;
  return Scores{products, r.b().Op("where", {mask, r.b().Scalar(t, 0, "zero"), other})};
}

// --- Rows of several heads -----------------------------------------------------------------------

// Queries of which `heads` of keys are shared, as rows of products.
struct GroupedRows {
  Value* q;           // [batch, heads, length, size]
  int64_t of_keys;    // heads
  int64_t times;      // how many heads of queries share one of keys
  bool length_first;  // rows are [length, times], else [times, length]
};

using Axis = AxisParts::Axis;
Axis Joined(const Axis& a, const Axis& b) {
  Axis both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

// `rows`: [batch, heads of keys, rows, size].
std::optional<GroupedRows> MatchRows(Rewriter& r, const Moved& rows, int64_t of_keys) {
  const auto parts = AxisParts::Of(rows);
  if (!parts || parts->before().size() != 4 || parts->after().size() != 4) return std::nullopt;
  const std::vector<Axis>&from = parts->before(), &to = parts->after();
  // [batch, length, heads, size] is the usual order.
  std::vector<int64_t> perm = {0, 2, 1, 3};
  constexpr int kOrders = 24;
  for (int i = 0; i < kOrders; ++i, std::next_permutation(perm.begin(), perm.end())) {
    const Axis &heads = from[perm[1]], &length = from[perm[2]];
    const size_t shared = to[1].size();
    if (from[perm[0]] != to[0] || from[perm[3]] != to[3] || heads.size() < shared ||
        !std::equal(to[1].begin(), to[1].end(), heads.begin())) {
      continue;
    }
    const Axis group(heads.begin() + static_cast<int64_t>(shared), heads.end());
    const bool length_first = to[2] == Joined(length, group);
    if (!length_first && to[2] != Joined(group, length)) continue;
    const Dim& count = (*rows.from->shape())[perm[1]];
    if (!count.is_static() || count.value() % of_keys != 0) return std::nullopt;
    return GroupedRows{Transpose({r.b(), rows.from}, perm), of_keys, count.value() / of_keys,
                       length_first};
  }
  return std::nullopt;
}

// The axes of which `axes` has the parts `wanted`, one after the other; those of size 1 are left
// out. nullopt where an axis has others beside them.
std::optional<std::vector<int64_t>> AxesWith(const std::vector<Axis>& axes, const Axis& wanted) {
  std::vector<int64_t> found;
  Axis parts;
  while (parts.size() < wanted.size()) {
    const auto at = std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) {
      return !axis.empty() && axis[0] == wanted[parts.size()];
    });
    if (at == axes.end()) return std::nullopt;
    found.push_back(at - axes.begin());
    parts = Joined(parts, *at);
  }
  return parts == wanted ? std::optional(found) : std::nullopt;
}

// A mask of scores with other axes as one of [batch, heads, length, keys].
Value* MaskOfRows(Rewriter& r, Value* mask, const std::vector<Axis>& scores,
                  const std::vector<Axis>& wanted) {
  const auto rank = static_cast<int64_t>(scores.size());
  Expr all = {r.b(), mask};
  if (all.rank() < rank) all = Unsqueeze(all, CountedFrom(0, rank - all.rank()));
  const Shape& shape = *all->shape();
  std::vector<int64_t> perm, dims;
  std::vector<bool> taken(rank);
  for (const Axis& axis : wanted) {
    const auto of_axis = AxesWith(scores, axis);
    if (!of_axis) return nullptr;
    int64_t size = 1;
    size_t ones = 0;
    for (const int64_t i : *of_axis) {
      if (!shape[i].is_static()) return nullptr;
      size *= shape[i].value();
      ones += shape[i] == Dim(1);
      perm.push_back(i);
      taken[i] = true;
    }
    // Of each head of keys the same, but not of each that shares it, or the reverse.
    if (ones != 0 && ones != of_axis->size()) return nullptr;
    dims.push_back(size);
  }
  for (int64_t i = 0; i < rank; ++i) {
    if (!taken[i]) perm.push_back(i);
  }
  return Reshape(Transpose(all, perm), dims);
}

// How queries are grouped, and their mask, where softmax(..) between the two products is of moved
// axes. `scores`: from the first product to softmax; `weights`: from there to the second product.
struct Grouped {
  GroupedRows rows;
  Value* mask;
};
std::optional<Grouped> MatchGroups(Rewriter& r, const Moved& queries, const Moved& scores,
                                   const Moved& weights, Value* mask, const Value* k) {
  const int64_t of_keys = SizeOf4(k, 1);
  const auto rows = of_keys < 1 ? std::nullopt : MatchRows(r, queries, of_keys);
  auto parts = AxisParts::Of(scores);
  if (!rows || !parts || parts->before().size() != 4) return std::nullopt;
  const std::vector<Axis> at_softmax = parts->after();
  if (at_softmax.empty() || at_softmax.back() != parts->before()[3]) return std::nullopt;
  const size_t count = parts->count();
  for (const Node* move : weights.moves) {
    if (!parts->Follow(*move)) return std::nullopt;
  }
  if (parts->after() != parts->before() || parts->count() != count) return std::nullopt;
  if (!mask) return Grouped{*rows, nullptr};
  // Rows as [length, times] or the reverse.
  const Dim length = (*rows->q->shape())[2], times(rows->times);
  Axis of_rows = parts->before()[2], of_length, of_times;
  const auto take = [&](const Dim& size, Axis& axis) {
    if (size == Dim(1)) return true;
    if (of_rows.empty() || !ProvablyEqual(parts->SizeOf(of_rows[0]), size)) return false;
    axis.push_back(of_rows[0]);
    of_rows.erase(of_rows.begin());
    return true;
  };
  const bool taken = rows->length_first ? take(length, of_length) && take(times, of_times)
                                        : take(times, of_times) && take(length, of_length);
  if (!taken || !of_rows.empty()) return std::nullopt;
  Value* own = MaskOfRows(
      r, mask, at_softmax,
      {parts->before()[0], Joined(parts->before()[1], of_times), of_length, parts->before()[3]});
  return own ? std::optional(Grouped{*rows, own}) : std::nullopt;
}

// [batch, heads of keys, rows, size] of [batch, heads, length, size].
Value* AsRows(const Expr& y, const GroupedRows& rows) {
  Builder& b = y.builder();
  const std::vector<Size> sizes = AllSizes(y);
  Expr result = y;
  if (rows.length_first) {
    result = Transpose(ReshapeTo(y, {sizes[0], rows.of_keys, rows.times, sizes[2], sizes[3]}),
                       {0, 1, 3, 2, 4});
  }
  return ReshapeTo(result, {sizes[0], rows.of_keys, Times(b, sizes[2], rows.times), sizes[3]});
}

// --- The formula ---------------------------------------------------------------------------------

absl::StatusOr<bool> FuseFormula(Rewriter& r) {
  const DType t = r.out()->dtype();
  if (!IsFloating(t) || !r.context().target || !r.context().Has("attention", t)) return false;
  const Pattern pattern(r);
  const Moved weights = BeforeMoves(pattern, r.in(0));
  const Node* softmax = pattern.OnlyBy(weights.from, "softmax");
  Value* v = r.in(1);
  if (!softmax || !softmax->output(0)->shape() || !IsOfRank4(r.in(0)) || !IsOfRank4(v)) {
    return false;
  }
  const int64_t axis = softmax->attrs().Int("axis");
  if (axis != -1 && axis != softmax->output(0)->shape()->rank() - 1) return false;
  const auto found = MatchScores(r, softmax->input(0));
  if (!found) return false;
  double scale = 1;
  Moved scores = BeforeMoves(pattern, WithoutScale(r, found->products, scale));
  scores.from = WithoutScale(r, scores.from, scale);
  const Node* product = pattern.OnlyBy(scores.from, "matmul");
  if (!product || !IsOfRank4(product->input(0)) || !IsOfRank4(product->input(1))) return false;
  Value *q = WithoutScale(r, product->input(0), scale), *mask = found->mask;
  Value* k = SwappedBack(r, WithoutScale(r, product->input(1), scale));
  if (!k) return false;
  std::optional<GroupedRows> rows;
  if (!scores.moves.empty() || !weights.moves.empty()) {
    Moved queries = BeforeMoves(pattern, q);
    queries.from = WithoutScale(r, queries.from, scale);
    const auto grouped = MatchGroups(r, queries, scores, weights, mask, k);
    if (!grouped) return false;
    rows = grouped->rows;
    q = rows->q;
    mask = grouped->mask;
  }
  if (!std::isnormal(static_cast<float>(scale))) return false;
  for (const int64_t i : {0, 1}) {
    const Dim &own = (*q->shape())[i], &of_k = (*k->shape())[i];
    if (!ProvablyEqual(of_k, (*v->shape())[i])) return false;
    if (!(rows && i == 1) && !ProvablyEqual(own, of_k)) return false;
  }
  const Dim size = q->shape()->dims().back();
  AttributeMap attrs;
  const bool usual = size.is_static() && size.value() > 0 &&
                     IsRounded(scale, 1 / std::sqrt(static_cast<double>(size.value())), t);
  if (!usual) attrs.Set("scale", static_cast<float>(scale));
  Values operands = {q, k, v};
  if (mask) operands.push_back(mask);
  Value* y = r.b().Op("attention", operands, std::move(attrs));
  if (!r.b().status().ok()) return false;
  if (rows) y = AsRows({r.b(), y}, *rows);
  return r.b().status().ok() && SameShape(y, r.out()) && r.Replace(y);
}
X2IR_RULE(fuse_attention, matmul, FuseFormula, {"softmax", "reshape", "transpose"});

}  // namespace
}  // namespace x2ir
