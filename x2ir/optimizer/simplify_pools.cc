// Rules of simplify for pools (see simplify.cc).
// 32. average_pool that counts padding, by the size of its window, by how many elements are in each
//     window, is average_pool that does not count padding.
#include <cstdint>
#include <optional>
#include <vector>

#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

// How many elements that are no padding each window along an axis has.
std::vector<int64_t> WindowFilling(int64_t size, int64_t windows, int64_t kernel, int64_t stride,
                                   int64_t dilation, int64_t before) {
  std::vector<int64_t> counts;
  for (int64_t o = 0; o < windows; ++o) {
    int64_t count = 0;
    for (int64_t i = 0; i < kernel; ++i) {
      const int64_t at = o * stride - before + i * dilation;
      count += at >= 0 && at < size;
    }
    counts.push_back(count);
  }
  return counts;
}

// Whether the constant is, at each place of the result, the number of elements in the window there.
bool CountsElements(const Node& pool, const Tensor& constant) {
  constexpr int64_t kMost = int64_t{1} << 20;
  const AttributeMap& attrs = pool.attrs();
  const auto in = pool.input(0)->shape()->Static(), out = pool.output(0)->shape()->Static();
  const std::vector<int64_t> kernel = attrs.Ints("kernel_shape");
  const size_t n = kernel.size(), rank = n + 2;
  const std::vector<int64_t> pads = attrs.Ints("pads", std::vector<int64_t>(2 * n, 0));
  const std::vector<int64_t> strides = attrs.Ints("strides", std::vector<int64_t>(n, 1));
  const std::vector<int64_t> dilations = attrs.Ints("dilations", std::vector<int64_t>(n, 1));
  if (!in || !out || in->size() != rank || constant.num_elements() > kMost ||
      constant.rank() != static_cast<int64_t>(rank) || pads.size() != 2 * n) {
    return false;
  }
  const size_t first = attrs.String("layout") == "channels_last" ? 1 : 2;
  std::vector<std::vector<int64_t>> counts(rank, {1});
  for (size_t i = 0; i < n; ++i) {
    const size_t axis = first + i;
    if (constant.dim(static_cast<int64_t>(axis)) != (*out)[axis]) return false;
    counts[axis] =
        WindowFilling((*in)[axis], (*out)[axis], kernel[i], strides[i], dilations[i], pads[i]);
  }
  for (int64_t i = 0; i < constant.num_elements(); ++i) {
    int64_t rest = i, count = 1;
    for (size_t axis = rank; axis-- > 0;) {
      const int64_t size = constant.dim(static_cast<int64_t>(axis));
      if (counts[axis].size() > 1) count *= counts[axis][static_cast<size_t>(rest % size)];
      if (counts[axis].size() == 1) count *= counts[axis][0];
      rest /= size;
    }
    if (constant.AsDouble(i) != static_cast<double>(count)) return false;
  }
  return true;
}

absl::StatusOr<bool> AverageOfElements(Rewriter& r) {
  const Pattern pattern(r);
  const Node* mul = pattern.OnlyBy(r.in(0), "mul");
  const auto sum = mul ? Pattern::NumberOperand(*mul) : std::nullopt;
  const Node* pool = sum ? pattern.OnlyBy(sum->other, "average_pool") : nullptr;
  const Tensor* counts = pool ? DenseConstant(r.in(1)) : nullptr;
  if (!counts || !pool->input(0)->shape() || !pool->output(0)->shape()) return false;
  const AttributeMap& attrs = pool->attrs();
  double window = 1;
  for (const int64_t size : attrs.Ints("kernel_shape")) window *= static_cast<double>(size);
  if (sum->number != window || attrs.Int("count_include_pad") == 0 || attrs.Int("ceil_mode") != 0 ||
      attrs.String("auto_pad") != "NOTSET" || !CountsElements(*pool, *counts) ||
      !SameShape(r.in(0), r.out())) {
    return false;
  }
  AttributeMap without = attrs;
  without.Set("count_include_pad", int64_t{0});
  return r.Replace(r.b().Op("average_pool", {pool->input(0)}, std::move(without)));
}
X2IR_RULE(simplify, div, AverageOfElements, {"mul"});

}  // namespace
}  // namespace x2ir
