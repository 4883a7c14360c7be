// Lowerings of attention and of the ops around it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/constants.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

// --- attention ------------------------------------------------------------------------------

// An axis of a value from the end (-1: the last).
Dim DimOf(const Value* value, int64_t axis) {
  const Shape* s = value->shape();
  return s && s->rank() >= -axis ? (*s)[s->rank() + axis] : Dim();
}
int64_t SizeOr(const Dim& dim, int64_t unknown) { return dim.is_static() ? dim.value() : unknown; }

// [batch, length, heads * size] as [batch, length, heads, size]. The size is left open only where
// it is not known: in an empty tensor it would not follow from the others.
Value* InHeads(Rewrite& r, Value* x, int64_t heads) {
  const int64_t size = heads > 0 ? SizeOr(FloorDiv(DimOf(x, -1), heads), -1) : -1;
  return r.b.Op("reshape", {x, r.b.Ints({0, 0, heads, size == 0 ? -1 : size}, "heads")});
}

// The same as [batch, heads, length, size].
Value* SplitHeads(Rewrite& r, Value* x, const char* heads) {
  Value* split = InHeads(r, x, r.attrs().Int(heads));
  return r.b.Op("transpose", {split}, {{"perm", {0, 2, 1, 3}}});
}

// Each head as often as there are queries' heads that share it.
Value* RepeatHeads(Rewrite& r, Value* x, int64_t heads, int64_t group) {
  if (group == 1) return x;
  const int64_t size = DimOf(x, -1).value();
  Value* one = r.b.Op("unsqueeze", {x, r.b.Ints({2}, "axes")});
  Value* all = r.b.Op("expand", {one, r.b.Ints({1, 1, group, 1, 1}, "repeats")});
  const int64_t length = SizeOr(DimOf(x, -2), -1);  // a 0 would mean another size
  return r.b.Op("reshape",
                {all, r.b.Ints({0, heads, length == 0 ? -1 : length, size}, "shared_heads")});
}

// What is added to the scores; null when nothing is. `rows_open`: no row is certain to be, or can
// turn out to be, all "no".
struct Bias {
  Value* value = nullptr;
  bool rows_open = true;
};

// The most that an element can be, without its sign; infinity where nothing is known of it.
double MostOf(const Value* x, int depth = 0) {
  if (const Tensor* tensor = x->fixed_constant()) {
    if (tensor->is_sparse() || tensor->num_elements() > 4096 || !IsFloating(tensor->dtype())) {
      return kInf;
    }
    double most = 0;
    for (int64_t i = 0; i < tensor->num_elements(); ++i) {
      const double size = std::abs(tensor->AsDouble(i));
      if (!(size <= most)) most = size;
      if (std::isnan(most)) return kInf;
    }
    return most;
  }
  const Node* node = x->producer();
  if (!node || !node->is_ir() || depth > 16) return kInf;
  const auto of = [&](size_t i) { return MostOf(node->input(i), depth + 1); };
  if (node->Is("where")) return std::max(of(1), of(2));
  if (node->Is("add") || node->Is("sub")) return of(0) + of(1);
  if (node->Is("mul")) return of(0) * of(1);
  if (node->Is("unsqueeze") || node->Is("reshape") || node->Is("transpose") || node->Is("expand") ||
      node->Is("neg")) {
    return of(0);
  }
  if (node->Is("cast") && IsInteger(node->input(0)->dtype())) return 0x1p64;
  return kInf;
}

// Whether no element can be infinite: sums that are rounded to the largest number included.
bool IsFinite(const Value* x) {
  const double largest = x->dtype() == DType::kFloat64 ? std::numeric_limits<double>::max()
                                                       : std::numeric_limits<float>::max();
  constexpr double kRounding = 0x1p100;
  return (x->dtype() == DType::kFloat32 && MostOf(x) <= largest + kRounding) ||
         (x->dtype() == DType::kFloat64 && MostOf(x) <= largest / 2);
}

void Add(Rewrite& r, Bias& bias, Value* more) {
  bias.value = bias.value ? r.b.Op("add", {bias.value, more}) : more;
}

// A mask that is shorter than the keys, with "no" for the others. How many that are may be known at
// run time alone.
Value* FilledUp(Rewrite& r, Value* mask, Value* keys, DType t) {
  const Dim have = DimOf(mask, -1), want = DimOf(keys, -2);
  const int64_t rank = mask->shape()->rank();
  Value* no = r.b.Scalar(t, -kInf, "no");
  if (have.is_static() && want.is_static()) {
    std::vector<int64_t> pads(2 * rank, 0);
    pads.back() = want.value() - have.value();
    if (pads.back() < 0) r.b.Fail(Invalid("attn_mask: longer than the keys"));
    return r.b.Op("pad", {mask, r.b.Ints(pads, "pads"), no}, {{"mode", "constant"}});
  }
  const int64_t axis = keys->shape()->rank() - 2;
  Value* all = r.b.Op("shape", {keys}, {{"start", axis}, {"end", axis + 1}});
  Value* there = r.b.Op("shape", {mask}, {{"start", rank - 1}, {"end", rank}});
  Value* none = r.b.Ints(std::vector<int64_t>(2 * rank - 1, 0), "pads");
  Value* pads = r.b.Op("concat", {none, r.b.Op("sub", {all, there})}, {{"axis", 0}});
  return r.b.Op("pad", {mask, pads, no}, {{"mode", "constant"}});
}

absl::StatusOr<Bias> BiasOf(Rewrite& r, DType t, const Dim& queries, const Dim& past, Value* all) {
  const Dim keys = DimOf(all, -2);
  Bias bias;
  auto yes_no = [&](Value* yes) {
    return r.b.Op("where", {yes, r.b.Scalar(t, 0, "yes"), r.b.Scalar(t, -kInf, "no")});
  };
  if (Given(r, 3)) {
    Value* mask = r.in(3);
    const Dim last = DimOf(mask, -1);
    if (mask->dtype() == DType::kUndefined || r.rank(3) < 1) {
      return CannotExpress("the type of the mask is not known");
    }
    const bool filled_up = !ProvablyEqual(last, keys);
    mask = mask->dtype() == DType::kBool ? yes_no(mask)
           : mask->dtype() == t          ? mask
                                         : r.b.Op("cast", {mask}, {{"to", Attribute(Name(t))}});
    if (filled_up) mask = FilledUp(r, mask, all, t);
    bias.rows_open = !filled_up && IsFinite(mask);
    Add(r, bias, mask);
  }
  const bool causal = r.attrs().Int("is_causal") != 0, counted = Given(r, 6);
  constexpr int64_t kWide = int64_t{1} << 40;  // wider than any sequence, far from overflow
  const int64_t left = std::min(r.attrs().Int("left_window_size"), kWide);
  const int64_t right = std::min(r.attrs().Int("right_window_size"), kWide);
  if (!causal && left < 0 && right < 0 && !counted) return bias;
  if (!queries.is_static() || !keys.is_static() || !past.is_static()) {
    return CannotExpress("how many queries and keys there are is not known");
  }
  const int64_t m = queries.value(), n = keys.value();
  if (!CheckedProduct({m, n}) || m * n > int64_t{1} << 24) {
    return CannotExpress("a mask of ", m, " x ", n, " is too large");
  }
  // The position of a query is past + i; in a cache that is an input, count - m + i.
  const bool outside = counted && !Given(r, 4);
  Value* count = nullptr;
  if (counted) {
    count = r.b.Op("unsqueeze", {r.in(6), r.b.Ints({1, 2, 3}, "axes")});
    std::vector<int64_t> positions(n);
    for (int64_t j = 0; j < n; ++j) positions[j] = j;
    Add(r, bias, yes_no(r.b.Op("less", {r.b.Ints(positions, "positions"), count})));
    bias.rows_open = false;
  }
  if (outside) {
    // limit(i, j) < count, or count < limit(i, j).
    auto compare = [&](auto limit, bool below) {
      std::vector<int64_t> limits(m * n);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) limits[i * n + j] = limit(i, j);
      }
      Value* table = r.b.Constant(Tensor::Of<int64_t>({m, n}, limits), "limits");
      Add(r, bias, yes_no(below ? r.b.Op("less", {table, count}) : r.b.Op("less", {count, table})));
    };
    if (causal) compare([&](int64_t i, int64_t j) { return j - i + m - 1; }, true);
    if (right >= 0) compare([&](int64_t i, int64_t j) { return j - i + m - 1 - right; }, true);
    if (left >= 0) compare([&](int64_t i, int64_t j) { return left + m - i + j + 1; }, false);
  } else if (causal || left >= 0 || right >= 0) {
    Tensor allowed = Tensor::Zeros(DType::kBool, {m, n});
    auto bytes = allowed.mutable_bytes();
    for (int64_t i = 0; i < m; ++i) {
      bool open = false;
      for (int64_t j = 0; j < n; ++j) {
        const int64_t p = past.value() + i;
        const bool yes =
            !(causal && j > p) && !(left >= 0 && p - j > left) && !(right >= 0 && j - p > right);
        bytes[i * n + j] = std::byte{yes};
        open = open || yes;
      }
      bias.rows_open = bias.rows_open && open;
    }
    Add(r, bias, yes_no(r.b.Constant(std::move(allowed), "allowed")));
  }
  return bias;
}

// Whether queries alone may take the scale, instead of its root for both queries and keys: they get
// no larger, so that nothing overflows that did not, and not so small that they lose digits.
bool IsMildScale(double scale) { return scale >= 1.0 / 256 && scale <= 1; }

// Without past keys and values the present ones are those that are given, by head.
absl::StatusOr<Values> AttentionWithoutPresent(Rewrite& r) {
  if (Given(r, 4) || Given(r, 5) || !r.target.Has("attention")) {
    return NothingToDo();
  }
  const auto wants = [&](size_t i) { return i < r.num_outputs() && r.node.output(i) != nullptr; };
  if (!wants(1) && !wants(2)) return CannotExpress("no present keys and values are wanted");
  const int64_t rank = r.rank(0);
  if (rank < 3) return CannotExpress("it needs operands of known rank");
  Values results = r.b.Ops("attention", r.node.inputs(), r.attrs(),
                           std::vector<bool>{true, false, false, wants(3)});
  for (const size_t i : {1, 2}) {
    if (!wants(i)) continue;
    results[i] = rank == 3 ? SplitHeads(r, r.in(i), "kv_num_heads") : r.b.Op("identity", {r.in(i)});
  }
  return results;
}
X2IR_LOWERING(attention, AttentionWithoutPresent);

// Heads on an axis of their own, where a target has them so alone.
absl::StatusOr<Values> AttentionByHead(Rewrite& r) {
  if (r.rank(0) != 3 || r.rank(1) != 3 || r.rank(2) != 3 || !r.target.Has("attention")) {
    return CannotExpress("heads have an axis of their own");
  }
  const int64_t heads = r.attrs().Int("q_num_heads", 0);
  const Dim size = FloorDiv(DimOf(r.in(2), -1), r.attrs().Int("kv_num_heads", 1));
  if (heads < 1 || !size.is_static()) return CannotExpress("it needs heads of known size");
  Values operands;
  for (size_t i = 0; i < r.node.num_inputs(); ++i) operands.push_back(r.node.input(i));
  operands[0] = SplitHeads(r, operands[0], "q_num_heads");
  for (const size_t i : {1, 2}) operands[i] = SplitHeads(r, operands[i], "kv_num_heads");
  AttributeMap attrs;
  for (const auto& [name, attr] : r.attrs()) {
    if (name != Symbol("q_num_heads") && name != Symbol("kv_num_heads")) attrs.Set(name, attr);
  }
  std::vector<bool> wanted;
  for (size_t i = 0; i < r.num_outputs(); ++i) wanted.push_back(r.node.output(i) != nullptr);
  Values results = r.b.Ops("attention", operands, attrs, wanted);
  Value* rows = r.b.Op("transpose", {results[0]}, {{"perm", {0, 2, 1, 3}}});
  results[0] = r.b.Op("reshape", {rows, r.b.Ints({0, 0, heads * size.value()}, "width")});
  return results;
}
X2IR_LOWERING(attention, AttentionByHead);

absl::StatusOr<Values> AttentionAsFormula(Rewrite& r) {
  const AttributeMap& attrs = r.attrs();
  const DType t = r.dtype(0);
  const int64_t rank = r.rank(0);
  if (!IsFloating(t) || r.dtype(1) != t || r.dtype(2) != t) {
    return CannotExpress("it needs queries, keys and values of one known type");
  }
  if (rank < 3 || r.rank(1) != rank || r.rank(2) != rank) {
    return CannotExpress("it needs operands of known rank");
  }
  const bool flat = rank == 3;
  Value* q = flat ? SplitHeads(r, r.in(0), "q_num_heads") : r.in(0);
  Value* k = flat ? SplitHeads(r, r.in(1), "kv_num_heads") : r.in(1);
  Value* v = flat ? SplitHeads(r, r.in(2), "kv_num_heads") : r.in(2);
  if (Given(r, 4)) k = r.b.Op("concat", {r.in(4), k}, {{"axis", 2}});
  if (Given(r, 5)) v = r.b.Op("concat", {r.in(5), v}, {{"axis", 2}});
  const Dim heads = DimOf(q, -3), shared = DimOf(k, -3), size = DimOf(q, -1);
  if (!heads.is_static() || !shared.is_static() || shared.value() < 1) {
    return CannotExpress("it needs known numbers of heads");
  }
  const int64_t group = heads.value() / shared.value();
  if (group != 1 && (!DimOf(k, -1).is_static() || !DimOf(v, -1).is_static())) {
    return CannotExpress("heads that are shared need a known size");
  }
  const Dim past = Given(r, 4) ? DimOf(r.in(4), -2) : Dim(0);
  X2IR_ASSIGN_OR_RETURN(const Bias bias, BiasOf(r, t, DimOf(q, -2), past, k));
  Value* present_key = k;
  Value* present_value = v;
  k = RepeatHeads(r, k, heads.value(), group);
  v = RepeatHeads(r, v, heads.value(), group);
  const double scale =
      attrs.Float("scale", size.is_static() ? 1 / std::sqrt(static_cast<double>(size.value())) : 0);
  if (!attrs.Has("scale") && !size.is_static()) {
    q = Expr(r.b, q) / Sqrt(SizeOf({r.b, q}, 3).To(t));
  } else if (IsMildScale(scale)) {
    q = r.b.Op("mul", {q, r.b.Scalar(t, scale, "scale")});
  } else {
    Value* root = r.b.Scalar(t, std::sqrt(scale), "scale");
    q = r.b.Op("mul", {q, root});
    k = r.b.Op("mul", {k, root});
  }
  Value* turned = r.b.Op("transpose", {k}, {{"perm", {0, 1, 3, 2}}});
  Value* scores = r.b.Op("matmul", {q, turned});
  Value* stages[4] = {scores};
  if (const double cap = attrs.Float("softcap"); cap > 0) {
    Value* limit = r.b.Scalar(t, cap, "softcap");
    scores = r.b.Op("mul", {r.b.Op("tanh", {r.b.Op("div", {scores, limit})}), limit});
  }
  stages[1] = scores;
  if (bias.value) scores = r.b.Op("add", {scores, bias.value});
  stages[2] = scores;
  const std::string precision = attrs.String("softmax_precision", Name(t));
  const bool cast = precision != Name(t);
  if (cast) scores = r.b.Op("cast", {scores}, {{"to", precision}});
  scores = r.b.Op("softmax", {scores}, {{"axis", -1}});
  if (cast) scores = r.b.Op("cast", {scores}, {{"to", Attribute(Name(t))}});
  if (!bias.rows_open) {
    Value* most = r.b.Op("reduce_max", {bias.value, r.b.Ints({-1}, "last")}, {{"keepdims", 1}});
    Value* none = r.b.Op("equal", {most, r.b.Scalar(t, -kInf, "no")});
    scores = r.b.Op("where", {none, r.b.Scalar(t, 0, "zero"), scores});
  }
  stages[3] = scores;
  Value* y = r.b.Op("matmul", {scores, v});
  if (flat) {
    y = r.b.Op("transpose", {y}, {{"perm", {0, 2, 1, 3}}});
    const Dim width = Dim(heads.value()) * DimOf(v, -1);
    y = r.b.Op("reshape", {y, r.b.Ints({0, 0, SizeOr(width, -1)}, "width")});
  }
  const Values all = {y, present_key, present_value, stages[attrs.Int("qk_matmul_output_mode")]};
  Values results;
  for (size_t i = 0; i < r.num_outputs(); ++i) {
    results.push_back(r.node.output(i) ? all[i] : nullptr);
    // An output of its own, not an operand of the node.
    if (results.back() && i > 0) results.back() = r.b.Op("identity", {results.back()});
  }
  return results;
}
X2IR_LOWERING(attention, AttentionAsFormula);

// --- rotary_embedding -----------------------------------------------------------------------

// Elements [from, to) of the last of four axes, every `step`th.
Value* LastAxis(Rewrite& r, Value* x, int64_t from, int64_t to, int64_t step = 1) {
  std::vector<Value*> operands = {x, r.b.Ints({from}, "from"), r.b.Ints({to}, "to"),
                                  r.b.Ints({3}, "axes")};
  if (step != 1) operands.push_back(r.b.Ints({step}, "steps"));
  return r.b.Op("slice", operands);
}

absl::StatusOr<Values> RotaryEmbeddingAsFormula(Rewrite& r) {
  const int64_t rank = r.rank(0);
  if (rank != 3 && rank != 4) return CannotExpress("it needs an operand of known rank");
  const bool flat = rank == 3;
  Value* x = r.in(0);
  const int64_t heads = r.attrs().Int("num_heads", 0);
  if (flat) x = InHeads(r, x, heads);
  if (!DimOf(x, -1).is_static()) return CannotExpress("the size of a head is not known");
  const int64_t size = DimOf(x, -1).value();
  int64_t turned = r.attrs().Int("rotary_embedding_dim");
  if (turned == 0) turned = size;
  if (turned > size || turned % 2 != 0) return Invalid("cannot turn ", turned, " of ", size);
  const int64_t half = turned / 2;
  // The caches for [batch, heads, length, half], or [batch, length, heads, half].
  auto cache = [&](Value* value) {
    if (Given(r, 3)) value = r.b.Op("gather", {value, r.in(3)}, {{"axis", 0}});
    return r.b.Op("unsqueeze", {value, r.b.Ints({flat ? 2 : 1}, "axes")});
  };
  Value *cos = cache(r.in(1)), *sin = cache(r.in(2));
  const bool interleaved = r.attrs().Int("interleaved") != 0;
  Value* a = interleaved ? LastAxis(r, x, 0, turned, 2) : LastAxis(r, x, 0, half);
  Value* b = interleaved ? LastAxis(r, x, 1, turned, 2) : LastAxis(r, x, half, turned);
  auto mul = [&](Value* p, Value* q) { return r.b.Op("mul", {p, q}); };
  Value* first = r.b.Op("sub", {mul(cos, a), mul(sin, b)});
  Value* second = r.b.Op("add", {mul(sin, a), mul(cos, b)});
  Value* y;
  if (interleaved) {
    Value* axes = r.b.Ints({4}, "pair");
    first = r.b.Op("unsqueeze", {first, axes});
    second = r.b.Op("unsqueeze", {second, axes});
    y = r.b.Op("concat", {first, second}, {{"axis", 4}});
    y = r.b.Op("reshape", {y, r.b.Ints({0, 0, 0, turned}, "turned")});
  } else {
    y = r.b.Op("concat", {first, second}, {{"axis", 3}});
  }
  if (turned < size) y = r.b.Op("concat", {y, LastAxis(r, x, turned, size)}, {{"axis", 3}});
  if (flat) y = r.b.Op("reshape", {y, r.b.Ints({0, 0, heads * size}, "width")});
  return Values{y};
}
X2IR_LOWERING(rotary_embedding, RotaryEmbeddingAsFormula);

// --- causal_conv_with_state -----------------------------------------------------------------

absl::StatusOr<Values> CausalConvAsConv(Rewrite& r) {
  Value* x = r.in(0);
  const Dim kernel = DimOf(r.in(1), -1), channels = DimOf(r.in(1), -3);
  if (!kernel.is_static() || !channels.is_static() || !IsFloating(x->dtype())) {
    return CannotExpress("it needs a weight of known sizes");
  }
  const int64_t reach = kernel.value() - 1;
  if (Given(r, 3)) {
    x = r.b.Op("concat", {r.in(3), x}, {{"axis", 2}});
  } else if (reach > 0) {
    Value* zero = r.b.Scalar(x->dtype(), 0, "zero");
    x = r.b.Op("pad", {x, r.b.Ints({0, 0, reach, 0, 0, 0}, "pads"), zero}, {{"mode", "constant"}});
  }
  Value* bias = Given(r, 2) ? r.in(2) : nullptr;
  std::vector<Value*> operands = {x, r.in(1)};
  if (bias) operands.push_back(bias);
  Value* y = r.b.Op("conv", operands, {{"group", channels.value()}});
  if (r.attrs().String("activation") != "none") y = r.b.Op("swish", {y});
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  Value* state = nullptr;
  if (r.node.output(1)) {
    state = r.b.Op("slice", {x, r.b.Ints({reach > 0 ? -reach : kEnd}, "from"),
                             r.b.Ints({kEnd}, "to"), r.b.Ints({2}, "axes")});
  }
  Values results = {y};
  if (r.num_outputs() > 1) results.push_back(state);
  return results;
}
X2IR_LOWERING(causal_conv_with_state, CausalConvAsConv);

// --- swiglu ---------------------------------------------------------------------------------

absl::StatusOr<Values> SwigluAsSwish(Rewrite& r) {
  const Attribute alpha(static_cast<float>(r.attrs().Float("alpha")));
  return Values{r.b.Op("mul", {r.b.Op("swish", {r.in(0)}, {{"alpha", alpha}}), r.in(1)})};
}
X2IR_LOWERING(swiglu, SwigluAsSwish);

}  // namespace
}  // namespace x2ir
