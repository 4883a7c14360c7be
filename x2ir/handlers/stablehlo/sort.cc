// StableHLO: sorting by any comparator, and the largest elements.
//
// A comparator that says "a key of x is less than the same key of y" sorts by that key, which is
// computed of all elements at once; "or, where keys are equal, ..." by several keys, the last one
// first, since sorting keeps the order of equal elements. For any other comparator each element is
// compared with each.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/stablehlo/elementwise.h"
#include "x2ir/handlers/stablehlo/regions.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// --- Comparators
// ----------------------------------------------------------------------------------

// A value of the comparator's first arguments, in ascending or descending order.
struct SortKey {
  const Value* of_first;
  bool descending;
  bool total;  // by the order of bits of floats
};

class Comparator {
 public:
  explicit Comparator(const Graph& region) : g_(region) {}

  // The keys, the most important one first; empty for a comparator that has no such form.
  std::vector<SortKey> Keys() {
    std::vector<SortKey> keys;
    if (!Collect(g_.outputs()[0], 0, keys)) keys.clear();
    return keys;
  }
  // What JAX makes a key of, so that zeros of both signs and all NaNs are alike; else the key
  // itself. select(x != x, NaN, select(x == 0, 0, x)), in either order.
  const Value* PlainKey(const Value* key, bool* is_canonical) const {
    *is_canonical = false;
    const Value* x = key;
    int found = 0;
    for (int i = 0; i < 2; ++i) {
      if (OpOf(g_, x) != "select") return key;
      found |= KindOfChoice(*x->producer());
      x = x->producer()->input(2);
    }
    for (const Value* at = key; at != x; at = at->producer()->input(2)) {
      if (found != 3 || at->producer()->input(0)->producer()->input(0) != x) return key;
    }
    *is_canonical = true;
    return x;
  }
  // Which operand a value is, of the first elements.
  std::optional<size_t> FirstArgument(const Value* value) const {
    for (size_t i = 0; i < g_.inputs().size(); i += 2) {
      if (g_.inputs()[i] == value) return i / 2;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kMaxDepth = 100;

  // What the region's constant, or an outer one, is: one number.
  std::optional<double> NumberOf(const Value* value) const {
    std::optional<Tensor> known;
    if (OpOf(g_, value) == "constant") {
      if (const Attribute* attr = value->producer()->attrs().Find("value")) {
        if (const Tensor* tensor = attr->get<Tensor>()) known = *tensor;
      }
    } else {
      known = KnownTensor(*value);
    }
    if (!known || known->num_elements() != 1 || !IsFloating(known->dtype())) return std::nullopt;
    return known->AsDouble(0);
  }

  // 1: a NaN for what is none; 2: 0 for zeros; 0: neither.
  int KindOfChoice(const Node& node) const {
    if (OpOf(g_, node.input(0)) != "compare") return 0;
    const Node& test = *node.input(0)->producer();
    const std::string direction = test.attrs().String("comparison_direction", "");
    const std::optional<double> given = NumberOf(node.input(1));
    if (!given) return 0;
    if (direction == "NE" && test.input(0) == test.input(1) && *given != *given) return 1;
    return direction == "EQ" && *given == 0 && NumberOf(test.input(1)) == 0.0 ? 2 : 0;
  }

  // Whether y is of the second arguments what x is of the first ones.
  bool Mirrors(const Value* x, const Value* y, int depth) {
    if (depth > kMaxDepth) return false;
    const auto [it, fresh] = mirrored_.try_emplace(std::pair(x, y), false);
    if (!fresh) return it->second;
    const bool result = IsMirror(x, y, depth);
    mirrored_[std::pair(x, y)] = result;
    return result;
  }
  bool IsMirror(const Value* x, const Value* y, int depth) {
    for (size_t i = 0; i < g_.inputs().size(); ++i) {
      if (g_.inputs()[i] == x) return i % 2 == 0 && g_.inputs()[i + 1] == y;
      if (g_.inputs()[i] == y) return false;
    }
    const Node *p = x->producer(), *q = y->producer();
    const bool inside = p && q && p->graph() == &g_ && q->graph() == &g_;
    if (!inside) {
      const Tensor *one = x->fixed_constant(), *other = y->fixed_constant();
      return x == y || (one && other && Attribute(*one) == Attribute(*other));
    }
    if (p->op() != q->op() || p->num_inputs() != q->num_inputs() || p->has_subgraphs() ||
        q->has_subgraphs() || x->output_index() != y->output_index() ||
        p->attrs().size() != q->attrs().size()) {
      return false;
    }
    for (const auto& [name, attr] : p->attrs()) {
      const Attribute* other = q->attrs().Find(name);
      if (!other || *other != attr) return false;
    }
    for (size_t i = 0; i < p->num_inputs(); ++i) {
      if (!Mirrors(p->input(i), q->input(i), depth + 1)) return false;
    }
    return true;
  }

  // A comparison of one key: LT or GT.
  std::optional<SortKey> KeyOf(const Value* value, std::string_view* direction) {
    if (OpOf(g_, value) != "compare") return std::nullopt;
    const Node& node = *value->producer();
    const std::string given = node.attrs().String("comparison_direction", "");
    const bool total = node.attrs().String("compare_type", "") == "TOTALORDER";
    const Value *x = node.input(0), *y = node.input(1);
    if (given == "EQ") {
      *direction = "EQ";
      if (Mirrors(x, y, 0)) return SortKey{x, false, total};
      if (Mirrors(y, x, 0)) return SortKey{y, false, total};
      return std::nullopt;
    }
    if (given != "LT" && given != "GT") return std::nullopt;
    *direction = given == "LT" ? "LT" : "GT";
    if (Mirrors(x, y, 0)) return SortKey{x, given == "GT", total};
    if (Mirrors(y, x, 0)) return SortKey{y, given == "LT", total};
    return std::nullopt;
  }

  // less, or "less or (equal and further)".
  bool Collect(const Value* value, int depth, std::vector<SortKey>& keys) {
    if (depth > kMaxDepth) return false;
    std::string_view direction;
    if (const auto key = KeyOf(value, &direction)) {
      if (direction == "EQ") return false;
      keys.push_back(*key);
      return true;
    }
    if (OpOf(g_, value) == "select") {
      // select(equal, further, less).
      const Node& node = *value->producer();
      return CollectPair(node.input(2), node.input(0), node.input(1), depth, keys);
    }
    if (OpOf(g_, value) != "or") return false;
    const Node& either = *value->producer();
    for (const size_t i : {0, 1}) {
      const Value *less = either.input(i), *both = either.input(1 - i);
      if (OpOf(g_, both) != "and") continue;
      const Node& node = *both->producer();
      for (const size_t k : {0, 1}) {
        const size_t before = keys.size();
        if (CollectPair(less, node.input(k), node.input(1 - k), depth, keys)) return true;
        keys.resize(before);
      }
    }
    return false;
  }
  bool CollectPair(const Value* less, const Value* equal, const Value* further, int depth,
                   std::vector<SortKey>& keys) {
    std::string_view direction, other;
    const auto key = KeyOf(less, &direction), same = KeyOf(equal, &other);
    if (!key || !same || direction == "EQ" || other != "EQ") return false;
    if (key->of_first != same->of_first) return false;
    keys.push_back(*key);
    return Collect(further, depth + 1, keys);
  }

  const Graph& g_;
  absl::flat_hash_map<std::pair<const Value*, const Value*>, bool> mirrored_;
};

// --- Keys
// -----------------------------------------------------------------------------------------

// --- Comparators of any kind
// ----------------------------------------------------------------------

std::vector<Expr> EachAt(const std::vector<Expr>& x, Value* index, int64_t axis) {
  std::vector<Expr> picked;
  for (const Expr& each : x) picked.push_back(Gather(each, index, axis));
  return picked;
}

Expr Less(StablehloArgs& a, const Graph& comparator, const std::vector<Expr>& x,
          const std::vector<Expr>& y) {
  std::vector<Expr> arguments;
  for (size_t i = 0; i < x.size(); ++i) {
    arguments.push_back(x[i]);
    arguments.push_back(y[i]);
  }
  return RunRegion(a, comparator, arguments)[0];
}

// Every element is compared with every other: its place is the number of those before it, which
// are less, or neither less nor greater and earlier.
std::vector<Expr> SortedByCounting(StablehloArgs& a, const Graph& comparator,
                                   const std::vector<Expr>& x, int64_t axis, int64_t size) {
  Builder& b = a.b();
  std::vector<int64_t> first, second, order;
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      first.push_back(i);
      second.push_back(j);
      order.push_back(j < i ? 1 : 0);
    }
  }
  const std::vector<int64_t> square = {size, size};
  const int64_t rank = x[0].rank() + 1;
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  dims[static_cast<size_t>(axis)] = dims[static_cast<size_t>(axis) + 1] = size;
  const std::vector<Expr> own = EachAt(x, Reshape(Ints(b, first), square), axis);
  const std::vector<Expr> other = EachAt(x, Reshape(Ints(b, second), square), axis);
  const Expr other_less = Less(a, comparator, other, own),
             own_less = Less(a, comparator, own, other);
  const Expr earlier = Reshape(Ints(b, order), dims).To(DType::kBool);
  const Expr goes_before = other_less | (Not(own_less) & earlier);
  const Expr place = Sum(goes_before.To(DType::kInt64), axis + 1);
  const Expr indices = Sort(place, axis, false).indices;
  std::vector<Expr> sorted;
  for (const Expr& each : x) sorted.push_back(GatherElements(each, indices, axis));
  return sorted;
}

// Neighbours change places, in turn those at even and at odd places, as often as there are
// elements: equal ones stay in their order.
std::vector<Expr> SortedBySwaps(StablehloArgs& a, const Graph& comparator,
                                const std::vector<Expr>& x, int64_t axis) {
  const Expr count = SizeOf(x[0], axis), numbers = Iota(count);
  return Repeat(count, x, [&](const Expr& round, const std::vector<Expr>& now) {
    // Who is compared with whom: 0 with 1, 2 with 3; or 1 with 2, 3 with 4. Those at the ends stay.
    const Expr odd = Mod(round, 2.0), is_first = Mod(numbers + odd, 2.0) == 0.0;
    const Expr wanted = Where(is_first, numbers + 1.0, numbers - 1.0);
    const Expr from_front = wanted >= 0.0, before_end = wanted < count;
    const Expr mate = Where(from_front & before_end, wanted, numbers);
    const std::vector<Expr> other = EachAt(now, mate, axis);
    const Expr first = AlongAxis(is_first, axis, now[0].rank());
    const Expr swap_first = first & Less(a, comparator, other, now);
    const Expr swaps = swap_first | (Not(first) & Less(a, comparator, now, other));
    std::vector<Expr> next;
    for (size_t i = 0; i < now.size(); ++i) next.push_back(Select(swaps, other[i], now[i]));
    return next;
  });
}

// --- sort
// -----------------------------------------------------------------------------------------

std::optional<std::vector<Expr>> SortedByKeys(StablehloArgs& a, const Graph& comparator,
                                              const std::vector<Expr>& x, int64_t axis) {
  Comparator reader(comparator);
  const std::vector<SortKey> keys = reader.Keys();
  if (keys.empty()) return std::nullopt;
  std::vector<Expr> arguments;
  for (const Expr& each : x) {
    arguments.push_back(each);
    arguments.push_back(each);
  }
  std::optional<Expr> indices;
  for (size_t k = keys.size(); k-- > 0;) {
    const SortKey& key = keys[k];
    bool canonical = false;
    const Value* of_first = reader.PlainKey(key.of_first, &canonical);
    const std::optional<size_t> plain = reader.FirstArgument(of_first);
    Expr numbers = plain ? x[*plain] : RunRegionTo(a, comparator, arguments, {&of_first, 1})[0];
    if (IsComplex(numbers.dtype())) return std::nullopt;
    const bool by_bits = key.total && IsFloating(numbers.dtype()) && !canonical;
    if (by_bits) numbers = TotalOrderOf(numbers);
    if (indices) numbers = GatherElements(numbers, *indices, axis);
    const Sorted sorted = Sort(numbers, axis, key.descending);
    if (keys.size() == 1 && plain && !by_bits) {
      std::vector<Expr> results;
      for (size_t i = 0; i < x.size(); ++i) {
        results.push_back(i == *plain ? sorted.values : GatherElements(x[i], sorted.indices, axis));
      }
      return results;
    }
    indices = indices ? GatherElements(*indices, sorted.indices, axis) : sorted.indices;
  }
  std::vector<Expr> results;
  for (const Expr& each : x) results.push_back(GatherElements(each, *indices, axis));
  return results;
}

absl::StatusOr<Values> FromSort(StablehloArgs& a) {
  const std::shared_ptr<Graph> comparator = a.SubGraph("comparator");
  a.Ignore("is_stable");  // it always is
  if (a.num_inputs() == 0) return Invalid("it has no operands");
  CheckRegion(a, *comparator, 2 * a.num_inputs(), 1);
  const int64_t axis = a.AxisOf(a.Int("dimension", -1));
  std::vector<Expr> x;
  for (size_t i = 0; i < a.num_inputs(); ++i) x.push_back(a.in(i));
  std::optional<std::vector<Expr>> sorted = SortedByKeys(a, *comparator, x, axis);
  if (!sorted) {
    constexpr int64_t kMostPairs = 512;
    const Dim size = DimAt(x[0], axis);
    sorted = size.is_static() && size.value() <= kMostPairs
                 ? SortedByCounting(a, *comparator, x, axis, size.value())
                 : SortedBySwaps(a, *comparator, x, axis);
  }
  return Values(sorted->begin(), sorted->end());
}

// --- top_k
// ----------------------------------------------------------------------------------------

// The largest ones along the last axis.
absl::StatusOr<Values> FromTopK(StablehloArgs& a) {
  const int64_t k = a.Int("k", -1);
  const bool largest = a.Bool("largest", true);
  a.Ignore("is_stable");
  const Expr x = a.in(0);
  if (x.rank() < 1 || k < 0) return Invalid(k, " elements of a tensor of rank ", x.rank());
  const DType t = x.dtype(), wide = WideType(t);
  RequireReal(x);
  const Sorted top = TopOf(x.To(wide), Ints(a, {k}), x.rank() - 1, largest);
  const DType index =
      a.node().output(1) && a.out_dtype(1) != DType::kUndefined ? a.out_dtype(1) : DType::kInt32;
  return Values{top.values.To(t), top.indices.To(index)};
}

// The first elements by a comparator. It may leave out some of them, but has to leave out none.
absl::StatusOr<Values> FromApproxTopK(StablehloArgs& a) {
  for (const char* name : {"recall_target", "reduction_input_size_override", "is_fallback"}) {
    a.Ignore(name);
  }
  const int64_t k = a.Int("top_k", -1);
  if (!a.Bool("aggregate_to_topk", false)) {
    return Unimplemented("parts of the largest elements, which are not put together");
  }
  const size_t count = a.num_inputs() / 2;  // then a first value for each
  if (count == 0 || a.num_inputs() % 2 != 0) {
    return Invalid("it has ", a.num_inputs(), " operands; expected a first value for each tensor");
  }
  const int64_t axis = a.AxisOf(a.Int("reduction_dim", -1));
  const Dim size = DimAt(a.in(0), axis);
  if (k < 0 || (size.is_static() && size.value() < k)) {
    return Invalid(k, " elements of ", size.ToString());
  }
  if (!a.attrs().Has("comparator"))
    return Unimplemented("elements in an order that no function says");
  const std::shared_ptr<Graph> comparator = a.SubGraph("comparator");
  CheckRegion(a, *comparator, 2 * count, 1);
  std::vector<Expr> x;
  for (size_t i = 0; i < count; ++i) x.push_back(a.in(i));
  const auto sorted = SortedByKeys(a, *comparator, x, axis);
  if (!sorted) return Unimplemented("elements in another order than that of numbers");
  Values results;
  for (const Expr& each : *sorted) results.push_back(Slice(each, axis, 0, k));
  return results;
}

}  // namespace

X2IR_STABLEHLO(top_k)
    .From("sort", FromSort)
    .From("@ApproxTopK", FromApproxTopK)
    .From({"chlo.top_k", "@mhlo.topk", "@TopK"}, FromTopK);

}  // namespace x2ir
