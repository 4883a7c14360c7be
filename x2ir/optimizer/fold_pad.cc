// fold_pad: a constant pad becomes part of the padding of the window that slides over it.
//  1. A pad with zeros into conv.
//  2. A pad with zeros into average_pool that counts padding, or that has none of its own and then
//     counts it.
//  3. A pad with -inf into max_pool, whose own padding is that; a pad with zeros where what is
//     padded is never negative and every window meets an element of it.
// The pad is of spatial axes only and cuts nothing off, auto_pad is NOTSET or VALID. For pools the
// padding must stay smaller than the kernel, as runtimes require, and ceil_mode must be 0: the
// positions that it adds see other padding.
#include <algorithm>
#include <cmath>
#include <limits>

#include "x2ir/ops/infer.h"
#include "x2ir/ops/window.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(fold_pad, "Pads go into the padding of convolutions and pools.");

// A pad of constants that only adds.
struct Padding {
  Value* of;
  double with;
  std::vector<int64_t> begins, ends;  // one an axis
};
std::optional<Padding> MatchPad(Rewriter& r) {
  const Node* node = Pattern(r).By(r.in(0), "pad");
  if (!node || node->attrs().String("mode") != "constant" || !node->input(0)->shape()) {
    return std::nullopt;
  }
  Padding p{node->input(0), 0, {}, {}};
  if (const Value* value = node->input(2)) {
    const Tensor* tensor = DenseConstant(value);
    if (!tensor || tensor->num_elements() != 1 || !IsFloating(tensor->dtype())) return std::nullopt;
    p.with = tensor->AsDouble(0);
  }
  const int64_t rank = p.of->shape()->rank();
  const auto pads = KnownInts(node->input(1));
  std::optional<std::vector<int64_t>> axes;
  if (node->input(3)) {
    axes = KnownInts(node->input(3));
    if (!axes) return std::nullopt;
    auto normal = NormalizeAxes(*std::move(axes), rank);
    if (!normal.ok()) return std::nullopt;
    axes = *std::move(normal);
  } else {
    axes.emplace(rank);
    for (int64_t i = 0; i < rank; ++i) (*axes)[i] = i;
  }
  if (!pads || pads->size() != 2 * axes->size()) return std::nullopt;
  p.begins.assign(rank, 0);
  p.ends.assign(rank, 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    p.begins[(*axes)[i]] = (*pads)[i];
    p.ends[(*axes)[i]] = (*pads)[i + axes->size()];
    if ((*pads)[i] < 0 || (*pads)[i + axes->size()] < 0) return std::nullopt;
  }
  return p;
}

// The window with the padding added to its own; nullopt where it cannot be.
std::optional<Window> PaddedWindow(const Rewriter& r, const Padding& p,
                                   std::vector<int64_t> kernel) {
  const auto rank = static_cast<int64_t>(p.begins.size());
  const auto last = ChannelsLast(r.attrs());
  auto window = ReadWindow(r.attrs(), std::move(kernel));
  if (!last.ok() || !window.ok() || rank < 3 || window->rank() + 2 != p.begins.size() ||
      window->auto_pad == AutoPad::kSameUpper || window->auto_pad == AutoPad::kSameLower) {
    return std::nullopt;
  }
  const int64_t channel = ChannelAxis(*last, rank);
  if (p.begins[0] || p.ends[0] || p.begins[channel] || p.ends[channel]) return std::nullopt;
  const size_t n = window->rank();
  for (size_t i = 0; i < n; ++i) {
    const int64_t axis = SpatialAxis(*last, static_cast<int64_t>(i));
    constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
    if (p.begins[axis] > kLimit || p.ends[axis] > kLimit) return std::nullopt;
    window->pads[i] += p.begins[axis];
    window->pads[i + n] += p.ends[axis];
    if (window->pads[i] > kLimit || window->pads[i + n] > kLimit) return std::nullopt;
  }
  return *std::move(window);
}

AttributeMap WithPads(const Rewriter& r, const Window& window) {
  AttributeMap attrs = r.attrs();
  attrs.Set("auto_pad", "NOTSET");
  attrs.Set("pads", window.pads);
  return attrs;
}

bool ReplacePadded(Rewriter& r, const Padding& p, AttributeMap attrs) {
  std::vector<Value*> operands = r.node().inputs();
  operands[0] = p.of;
  Value* y = r.b().Op(r.node().op(), operands, std::move(attrs));
  return r.b().status().ok() && r.Replace(y);
}

absl::StatusOr<bool> FoldIntoConv(Rewriter& r) {
  const auto pad = MatchPad(r);
  const Shape* w = r.in(1)->shape();
  const auto dims = w ? w->Static() : std::nullopt;
  if (!pad || !dims || dims->size() < 3 || pad->with != 0) return false;
  const auto window = PaddedWindow(r, *pad, {dims->begin() + 2, dims->end()});
  return window && ReplacePadded(r, *pad, WithPads(r, *window));
}
X2IR_RULE(fold_pad, conv, FoldIntoConv, {"pad"});

// A pool's window; padding is smaller than the kernel.
std::optional<Window> PoolWindow(const Rewriter& r, const Padding& p) {
  auto window = PaddedWindow(r, p, r.attrs().Ints("kernel_shape"));
  if (!window || window->ceil_mode) return std::nullopt;
  for (size_t i = 0; i < window->rank(); ++i) {
    if (std::max(window->pad_begin(i), window->pad_end(i)) >= window->kernel[i]) {
      return std::nullopt;
    }
  }
  return *std::move(window);
}

absl::StatusOr<bool> FoldIntoAveragePool(Rewriter& r) {
  const auto pad = MatchPad(r);
  const auto window = pad && pad->with == 0 ? PoolWindow(r, *pad) : std::nullopt;
  if (!window) return false;
  if (r.attrs().Int("count_include_pad") == 0) {
    const auto own = ReadWindow(r.attrs(), r.attrs().Ints("kernel_shape"));
    for (int64_t n : own->pads) {
      if (n != 0) return false;
    }
  }
  AttributeMap attrs = WithPads(r, *window);
  attrs.Set("count_include_pad", 1);
  return ReplacePadded(r, *pad, std::move(attrs));
}
X2IR_RULE(fold_pad, average_pool, FoldIntoAveragePool, {"pad"});

bool GivesNotNegative(const OpDef& op) { return op.gives() == ResultUse::kNotNegative; }

// Whether no element is below 0, as far as the ops just before tell. (NaN does not matter.)
bool IsNeverNegative(Rewriter& r, const Value* value) {
  constexpr int kDepth = 8;
  const Pattern pattern(r);
  for (int i = 0; i < kDepth; ++i) {
    if (pattern.By(value, GivesNotNegative)) return true;
    if (const Node* clip = pattern.By(value, "clip")) {
      const auto low = Pattern::Number(clip->input(1), clip->input(0));
      return low && *low >= 0;
    }
    // What models have between an activation and a pool.
    const Node* moved = nullptr;
    for (const char* op : {"transpose", "reshape", "max_pool", "identity"}) {
      if (!moved) moved = pattern.By(value, op);
    }
    if (!moved || value->output_index() != 0) return false;
    value = moved->input(0);
  }
  return false;
}

absl::StatusOr<bool> FoldIntoMaxPool(Rewriter& r) {
  const auto pad = MatchPad(r);
  const auto window = pad ? PoolWindow(r, *pad) : std::nullopt;
  if (!window || r.out(1) || !IsFloating(r.out()->dtype())) return false;
  const bool lowest = pad->with == -std::numeric_limits<double>::infinity();
  if (!lowest) {
    if (pad->with != 0 || !IsNeverNegative(r, pad->of)) return false;
    const auto own = ReadWindow(r.attrs(), r.attrs().Ints("kernel_shape"));
    for (int64_t n : own->pads) {
      if (n != 0) return false;  // a corner where only the pads meet
    }
    const bool dense = std::all_of(window->dilations.begin(), window->dilations.end(),
                                   [](int64_t d) { return d == 1; });
    if (!dense) return false;
    const bool last = *ChannelsLast(r.attrs());
    for (size_t i = 0; i < window->rank(); ++i) {
      const Dim& dim = (*pad->of->shape())[SpatialAxis(last, static_cast<int64_t>(i))];
      if (!dim.is_static() || dim.value() < 1) return false;  // an empty axis would be all padding
    }
  }
  return ReplacePadded(r, *pad, WithPads(r, *window));
}
X2IR_RULE(fold_pad, max_pool, FoldIntoMaxPool, {"pad"});

}  // namespace
}  // namespace x2ir
