#include "x2ir/core/tracing/reshape_sizes.h"

#include <algorithm>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

class Solver {
 public:
  Solver(std::vector<SizeFactor> factors, absl::Span<const int64_t> to)
      : factors_(std::move(factors)), to_(to) {}

  absl::StatusOr<std::vector<SolvedSize>> Run() {
    for (size_t i = 0; i < to_.size(); ++i) X2IR_RETURN_IF_ERROR(Solve(i));
    if (next_ != factors_.size()) return CannotExpress("the numbers of elements differ");
    return std::move(sizes_);
  }

 private:
  // Takes factors for size i of the result.
  absl::Status Solve(size_t i) {
    int64_t need = to_[i];
    Dim dim = 1;
    std::vector<bool> parts;  // what was taken, numbers of 1 apart: whether each is a name
    bool split = false;       // the last number was not taken whole
    while (next_ < factors_.size()) {
      SizeFactor& f = factors_[next_];
      if (f.number == 1) {
        if (!f.dim.is_static()) {
          if (need == 1 && BelongsBehind(i, parts, split)) break;
          dim = dim * f.dim;
          parts.push_back(true);
        }
        ++next_;
      } else if (need == 1) {
        break;
      } else if (need % f.number == 0) {
        dim = dim * f.dim;
        need /= f.number;
        parts.push_back(!f.dim.is_static());
        ++next_;
      } else if (f.dim.is_static() && f.number % need == 0) {
        dim = dim * Dim(need);
        f = {Dim(f.number / need), f.number / need};
        need = 1;
        parts.push_back(false);
        split = true;
      } else {
        return CannotExpress("its sizes are not products of whole sizes of the operand");
      }
    }
    if (need != 1) return CannotExpress("the numbers of elements differ");
    std::optional<SizeOrder> order;
    if (parts.size() > 1 && std::count(parts.begin(), parts.end(), true) == 1) {
      if (parts.front()) order = SizeOrder::kNameFirst;
      if (parts.back()) order = SizeOrder::kNameLast;
    }
    sizes_.push_back({dim, order});
    return absl::OkStatus();
  }

  // Whether a name that was 1 in the trace, and follows the factors of size i, does not belong to
  // size i.
  bool BelongsBehind(size_t i, const std::vector<bool>& parts, bool split) const {
    if (i + 1 == to_.size()) return false;
    // A size of 1 is still to come. Each takes one name.
    if (to_[i + 1] == 1) return !parts.empty();
    const bool whole_before = parts.size() == 1 && !parts[0] && !split;
    return whole_before && next_ + 1 < factors_.size() && to_[i + 1] < factors_[next_ + 1].number;
  }

  std::vector<SizeFactor> factors_;
  const absl::Span<const int64_t> to_;
  size_t next_ = 0;
  std::vector<SolvedSize> sizes_;
};

}  // namespace

absl::StatusOr<std::vector<SolvedSize>> SolveReshape(std::vector<SizeFactor> factors,
                                                     absl::Span<const int64_t> to) {
  const auto none = [](int64_t size) { return size < 1; };
  if (std::any_of(to.begin(), to.end(), none) ||
      std::any_of(factors.begin(), factors.end(),
                  [&](const SizeFactor& f) { return none(f.number); })) {
    return CannotExpress("there are no elements");
  }
  return Solver(std::move(factors), to).Run();
}

}  // namespace x2ir
