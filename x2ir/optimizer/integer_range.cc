#include "x2ir/optimizer/integer_range.h"

#include <algorithm>
#include <string_view>

#include "x2ir/ops/op.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rounds.h"

namespace x2ir {
namespace {

constexpr int kMostDepth = 6, kMostNodes = 64;
constexpr int64_t kMostElements = 4096;  // of a constant that is read

using Range = NumbersBetween;

// The numbers of a type; those of bools are 0 and 1.
std::optional<Range> OfType(DType type) {
  if (type == DType::kBool) return Range{0, 1};
  if (!IsInteger(type)) return std::nullopt;
  const int bits = BitWidth(type);
  if (IsSignedInt(type)) {
    const int64_t most = bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
    return Range{-most - 1, most};
  }
  if (bits == 64) return std::nullopt;
  return Range{0, (int64_t{1} << bits) - 1};
}

class Ranges {
 public:
  std::optional<Range> Of(const Value* value, int depth) {
    const auto of_type = value ? OfType(value->dtype()) : std::nullopt;
    if (!of_type || depth > kMostDepth || --nodes_left_ < 0) return of_type;
    auto range = value->producer() ? OfResult(*value, depth) : OfConstant(*value);
    if (!range) range = OfRound(*value);
    // What leaves the type wraps.
    const bool inside = range && range->low >= of_type->low && range->high <= of_type->high;
    return inside ? range : of_type;
  }

 private:
  static std::optional<Range> OfConstant(const Value& value) {
    const Tensor* tensor = DenseConstant(&value);
    if (!tensor || tensor->num_elements() < 1 || tensor->num_elements() > kMostElements ||
        BitWidth(tensor->dtype()) < 8) {
      return std::nullopt;
    }
    Range range{tensor->AsInt(0), tensor->AsInt(0)};
    for (int64_t i = 1; i < tensor->num_elements(); ++i) {
      range.low = std::min(range.low, tensor->AsInt(i));
      range.high = std::max(range.high, tensor->AsInt(i));
    }
    return range;
  }
  static std::optional<Range> OfRound(const Value& value) {
    const auto round = value.graph() ? RoundNumberOf(*value.graph(), &value) : std::nullopt;
    return round ? std::optional(Range{round->low, round->high}) : std::nullopt;
  }
  // Places along an axis of the operand.
  static std::optional<Range> OfPlaces(const Node& node) {
    const Shape* shape = node.input(0)->shape();
    if (!shape) return std::nullopt;
    int64_t axis = node.attrs().Int("axis");
    if (axis < 0) axis += shape->rank();
    if (axis < 0 || axis >= shape->rank() || !(*shape)[axis].is_static() ||
        (*shape)[axis].value() < 1) {
      return std::nullopt;
    }
    return Range{0, (*shape)[axis].value() - 1};
  }

  std::optional<Range> OfResult(const Value& value, int depth) {
    const Node& node = *value.producer();
    if (!node.is_ir()) return std::nullopt;
    const auto of = [&](size_t i) { return Of(node.input(i), depth + 1); };
    const auto is = [&](std::string_view op) { return node.op() == op; };
    if (is("arg_max") || is("arg_min") || (is("top_k") && value.output_index() == 1)) {
      return OfPlaces(node);
    }
    if (is("cast") || is("identity") || is("reshape") || is("squeeze") || is("unsqueeze") ||
        is("flatten") || is("transpose") || is("expand") || is("slice") || is("gather") ||
        is("tile")) {
      return of(0);
    }
    if (is("where")) return Both(of(1), of(2));
    if (is("concat") || is("max") || is("min")) return OfSeveral(node, depth);
    if (is("clip")) {
      auto range = of(0);
      const auto low = node.input(1) ? of(1) : range, high = node.input(2) ? of(2) : range;
      if (!range || !low || !high) return std::nullopt;
      // min(max(x, low), high)
      return Range{std::min(std::max(range->low, low->low), high->low),
                   std::min(std::max(range->high, low->high), high->high)};
    }
    if (is("add") || is("sub")) {
      const auto a = of(0), b = of(1);
      Range sum{};
      const bool plus = is("add");
      if (!a || !b) return std::nullopt;
      const bool overflows = plus ? __builtin_add_overflow(a->low, b->low, &sum.low) ||
                                        __builtin_add_overflow(a->high, b->high, &sum.high)
                                  : __builtin_sub_overflow(a->low, b->high, &sum.low) ||
                                        __builtin_sub_overflow(a->high, b->low, &sum.high);
      return overflows ? std::nullopt : std::optional(sum);
    }
    return std::nullopt;
  }

  static std::optional<Range> Both(const std::optional<Range>& a, const std::optional<Range>& b) {
    if (!a || !b) return std::nullopt;
    return Range{std::min(a->low, b->low), std::max(a->high, b->high)};
  }
  std::optional<Range> OfSeveral(const Node& node, int depth) {
    std::optional<Range> all;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const auto own = Of(node.input(i), depth + 1);
      if (!own) return std::nullopt;
      if (!all) {
        all = own;
      } else if (node.Is("max")) {
        all = Range{std::max(all->low, own->low), std::max(all->high, own->high)};
      } else if (node.Is("min")) {
        all = Range{std::min(all->low, own->low), std::min(all->high, own->high)};
      } else {
        all = Both(all, own);
      }
    }
    return all;
  }

  int nodes_left_ = kMostNodes;
};

}  // namespace

std::optional<NumbersBetween> RangeOf(const Value* value) { return Ranges().Of(value, 0); }

}  // namespace x2ir
