// Rules of simplify for elements in order (see simplify.cc).
// 37. gather_elements of the numbers of their places along the axis is the places.
// 38. `top_k` of which only the first elements are used, by slices, is of so many.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "x2ir/builder/expr.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/integer_range.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

constexpr int64_t kMostRead = int64_t{1} << 20;  // elements of a constant

// Whether each element is its place along the axis.
bool AreOwnPlaces(const Pattern& pattern, const Value* value, int64_t axis) {
  const int64_t rank = RankOf(value);
  if (axis < 0 || axis >= rank || !IsInteger(value->dtype())) return false;
  if (const Tensor* tensor = DenseConstant(value)) {
    if (tensor->num_elements() > kMostRead || BitWidth(tensor->dtype()) < 8) return false;
    int64_t inner = 1;
    for (int64_t i = axis + 1; i < rank; ++i) inner *= tensor->dim(i);
    for (int64_t i = 0; i < tensor->num_elements(); ++i) {
      if (tensor->AsInt(i) != i / inner % tensor->dim(axis)) return false;
    }
    return true;
  }
  if (const Node* range = pattern.By(value, "range")) {
    const auto start = KnownInts(range->input(0)), step = KnownInts(range->input(2));
    return start && step && *start == std::vector<int64_t>{0} && *step == std::vector<int64_t>{1};
  }
  const Dim& size = (*value->shape())[axis];
  if (const Node* expand = pattern.By(value, "expand")) {
    const Value* of = expand->input(0);
    const int64_t own = axis - rank + RankOf(of);
    return own >= 0 && ProvablyEqual((*of->shape())[own], size) && AreOwnPlaces(pattern, of, own);
  }
  // A vector along the axis.
  for (const char* op : {"reshape", "unsqueeze"}) {
    const Node* node = pattern.By(value, op);
    if (!node || RankOf(node->input(0)) != 1) continue;
    return ProvablyEqual((*node->input(0)->shape())[0], size) &&
           AreOwnPlaces(pattern, node->input(0), 0);
  }
  return false;
}

absl::StatusOr<bool> PlacesOfPlaces(Rewriter& r) {
  const Shape* data = r.in(0)->shape();
  if (!data || !r.in(1)->shape()) return false;
  const int64_t rank = data->rank(), given = r.attrs().Int("axis");
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank || !(*data)[axis].is_static()) return false;
  const auto range = RangeOf(r.in(1));
  if (!range || range->low < 0 || range->high >= (*data)[axis].value() ||
      !AreOwnPlaces(Pattern(r), r.in(0), axis)) {
    return false;
  }
  if (r.in(1)->dtype() == r.in(0)->dtype()) return r.Replace(r.in(1));
  return r.Replace(Expr(r.b(), r.in(1)).To(r.in(0)->dtype()));
}
X2IR_RULE(simplify, gather_elements, PlacesOfPlaces);

// How many of the first elements along the axis a slice takes; nullopt where it takes others.
std::optional<int64_t> FirstOnes(const Node& slice, int64_t axis, int64_t rank) {
  const auto starts = KnownInts(slice.input(1)), ends = KnownInts(slice.input(2));
  const auto axes = KnownInts(slice.input(3));
  const auto steps = slice.input(4) ? KnownInts(slice.input(4)) : std::vector<int64_t>{1};
  if (!starts || !ends || !axes || !steps || starts->size() != 1 || ends->size() != 1 ||
      axes->size() != 1 || *steps != std::vector<int64_t>{1} || (*starts)[0] != 0 ||
      (*ends)[0] < 0 || ((*axes)[0] + rank) % rank != axis) {
    return std::nullopt;
  }
  return (*ends)[0];
}

absl::StatusOr<bool> TakeFewer(Rewriter& r) {
  const int64_t rank = RankOf(r.in(0)), given = r.attrs().Int("axis");
  const auto k = KnownInts(r.in(1));
  if (rank < 1 || !k || k->size() != 1 || r.attrs().Int("sorted") == 0) return false;
  const int64_t axis = given < 0 ? given + rank : given;
  int64_t most = -1;
  for (const Value* output : r.node().outputs()) {
    if (!output) continue;
    if (output->is_graph_output()) return false;
    for (const Use& use : output->uses()) {
      if (!use.node->Is("slice") || use.index != 0) return false;
      const auto count = FirstOnes(*use.node, axis, rank);
      if (!count) return false;
      most = std::max(most, *count);
    }
  }
  if (most < 0 || most >= (*k)[0]) return false;
  Node& node = r.node();
  r.SetInput(node, 1, r.b().Ints({most}, "k"));
  r.Touch(node);
  return true;
}
X2IR_RULE(simplify, top_k, TakeFewer);

}  // namespace
}  // namespace x2ir
