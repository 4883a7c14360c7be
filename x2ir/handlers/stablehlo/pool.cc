// StableHLO: reductions of windows: pools, sums up to each element, any body.
#include "x2ir/builder/layers/pool.h"

#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/stablehlo/regions.h"
#include "x2ir/handlers/stablehlo/windows.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

constexpr int64_t kFew = 16;  // elements of windows that are taken one by one

// The only axis whose windows are all of it up to each element, or all from there on; nullopt where
// there is none. `reverse`: from there on.
struct Running {
  int64_t axis;
  bool reverse;
};
std::optional<Running> RunsAlong(const Value* x, const Sliding& s) {
  std::optional<Running> found;
  for (size_t i = 0; i < s.rank(); ++i) {
    if (s.IsIdle(i)) continue;
    const auto axis = static_cast<int64_t>(i);
    const Dim size = DimAt(x, axis);
    const bool whole = !found && size.is_static() && s.size[i] == size.value() &&
                       s.strides[i] == 1 && s.base_dilations[i] == 1 && s.dilations[i] == 1;
    if (!whole) return std::nullopt;
    const int64_t before = s.size[i] - 1;
    if (s.low[i] == before && s.high[i] == 0) {
      found = {axis, false};
    } else if (s.low[i] == 0 && s.high[i] == before) {
      found = {axis, true};
    } else {
      return std::nullopt;
    }
  }
  return found;
}

std::optional<Expr> AsRunning(const Expr& x, std::string_view op, const Sliding& s) {
  if (op != "add" && op != "multiply") return std::nullopt;
  if (!(IsFloating(x.dtype()) || IsInteger(x.dtype()))) return std::nullopt;
  // Halves round after each step, which a sum of the IR does at its end.
  if (IsFloating(x.dtype()) && BitWidth(x.dtype()) < 32 && Product(s.size) <= kFew) {
    return std::nullopt;
  }
  const std::optional<Running> along = RunsAlong(x, s);
  if (!along) return std::nullopt;
  const DType t = x.dtype(), wide = IsInteger(t) ? WideType(t) : t;
  return x.To(wide)
      .Op(op == "add" ? "cum_sum" : "cum_prod", {Int(x.builder(), along->axis)},
          {{"exclusive", 0}, {"reverse", along->reverse}})
      .To(t);
}

// Windows over a batch and channels, or over all axes, which get the two in front.
struct Pooled {
  bool added, channels_last;
  std::vector<size_t> spatial;
};
std::optional<Pooled> SpatialOf(const Sliding& s) {
  const size_t rank = s.rank();
  Pooled p = {false, false, {}};
  if (rank >= 3 && s.IsIdle(0) && s.IsIdle(1)) {
    for (size_t i = 2; i < rank; ++i) p.spatial.push_back(i);
  } else if (rank >= 3 && s.IsIdle(0) && s.IsIdle(rank - 1)) {
    p.channels_last = true;
    for (size_t i = 1; i + 1 < rank; ++i) p.spatial.push_back(i);
  } else if (rank >= 1 && rank <= 3) {
    p.added = true;
    for (size_t i = 0; i < rank; ++i) p.spatial.push_back(i);
  }
  if (p.spatial.empty() || p.spatial.size() > 3) return std::nullopt;
  return p;
}

// Pools of floats, whose padding is no element: it is neutral.
std::optional<Expr> AsPool(StablehloArgs& a, const Expr& x, std::string_view op, const Sliding& s) {
  if (!IsFloating(x.dtype()) || s.IsDilated() || s.HasNegativePadding()) return std::nullopt;
  if (op != "maximum" && op != "minimum" && op != "add") return std::nullopt;
  const std::optional<Pooled> p = SpatialOf(s);
  // A sum is a mean of the IR, which rounds otherwise; that is for images alone.
  if (!p || (op == "add" && p->added)) return std::nullopt;
  Window window;
  std::vector<int64_t> begins, ends;
  for (const size_t i : p->spatial) {
    window.kernel.push_back(s.size[i]);
    window.strides.push_back(s.strides[i]);
    window.dilations.push_back(s.dilations[i]);
    begins.push_back(s.low[i]);
    ends.push_back(s.high[i]);
    // A window in which only padding is has no maximum that all runtimes agree on.
    if (op != "add" && std::max(s.low[i], s.high[i]) >= s.size[i]) return std::nullopt;
    const Dim size = DimAt(x, static_cast<int64_t>(i));
    const bool fits = size.is_static() && size.value() + s.low[i] + s.high[i] >= s.extent(i);
    if (!fits) return std::nullopt;
    // Windows of elements and of padding in turn would be dilated into the padding alone.
    if (op != "add" && s.dilations[i] > 1 && (s.low[i] > 0 || s.high[i] > 0)) return std::nullopt;
  }
  window.pads = JoinPads(std::move(begins), ends);
  window.channels_last = p->channels_last;
  CheckWindow(a, window);
  Expr y = p->added ? Unsqueeze(x, {0, 1}) : x;
  if (op == "minimum") y = -y;
  const bool sum = op == "add";
  y = MakePool(y, {.window = window, .kind = sum ? PoolKind::kSum : PoolKind::kMax});
  if (op == "minimum") y = -y;
  return p->added ? Squeeze(y, {0, 1}) : y;
}

// Of a sum of windows over a tensor of one number: how many elements each window has, times that. A
// mean that does not count padding is divided by it.
std::optional<Expr> CountsOf(const Expr& x, const Sliding& s) {
  constexpr int64_t kMost = int64_t{1} << 20;
  const auto sizes = KnownSizes(x);
  const Value* number = x.value();
  if (const Node* node = number->producer(); node && node->Is("expand")) number = node->input(0);
  const Tensor* one = number->fixed_constant();
  if (!sizes || !one || one->is_sparse() || one->num_elements() != 1 || !IsFloating(x.dtype()) ||
      s.IsDilated() || s.HasNegativePadding()) {
    return std::nullopt;
  }
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> counts;
  int64_t total = 1;
  for (size_t i = 0; i < s.rank(); ++i) {
    const int64_t room = (*sizes)[i] + s.low[i] + s.high[i] - s.extent(i);
    dims.push_back(room < 0 ? 0 : room / s.strides[i] + 1);
    if (dims.back() == 0 || dims.back() > kMost / total || s.size[i] > kMost / dims.back()) {
      return std::nullopt;
    }
    total *= dims.back();
    counts.emplace_back();
    for (int64_t o = 0; o < dims.back(); ++o) {
      int64_t count = 0;
      for (int64_t j = 0; j < s.size[i]; ++j) {
        const int64_t at = o * s.strides[i] - s.low[i] + j * s.dilations[i];
        count += at >= 0 && at < (*sizes)[i];
      }
      counts.back().push_back(count);
    }
  }
  std::vector<double> numbers;
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i;
    double number_of = one->AsDouble(0);
    for (size_t axis = s.rank(); axis-- > 0;) {
      number_of *= static_cast<double>(counts[axis][static_cast<size_t>(rest % dims[axis])]);
      rest /= dims[axis];
    }
    numbers.push_back(number_of);
  }
  Builder& b = x.builder();
  return Expr{b, b.Constant(FromNumbers<double>(x.dtype(), dims, numbers), "counts")};
}

// Elements at places `from`, from + step, ... along an axis, so many of them.
Expr Strided(const Expr& x, int64_t axis, int64_t from, int64_t step, const Size& count) {
  Builder& b = x.builder();
  // Of none it ends where it begins; a negative end would be counted from the other side.
  const Size end = Larger(b, Plus(b, Times(b, Minus(b, count, 1), step), from + 1), from);
  return step == 1 ? Slice(x, axis, from, end) : Slice(x, axis, from, end, Size(step));
}

// Elements at `from` along each axis, and where windows go from there.
Expr AtOffset(const Expr& x, const std::vector<int64_t>& offset, const Sliding& s,
              const std::vector<Size>& counts) {
  Expr y = x;
  for (size_t i = 0; i < s.rank(); ++i) {
    if (s.IsIdle(i)) continue;
    y = Strided(y, static_cast<int64_t>(i), offset[i] * s.dilations[i], s.strides[i], counts[i]);
  }
  return y;
}

std::vector<Expr> ExpandedTo(const std::vector<Expr>& numbers, const std::vector<Expr>& like) {
  std::vector<Expr> wide;
  for (size_t i = 0; i < like.size(); ++i) wide.push_back(Expand(numbers[i], ShapeOf(like[i])));
  return wide;
}

// Small windows: their elements one after another, from `inits` on, where there are any.
std::vector<Expr> WindowsInOrder(const Combine& combine, const std::vector<Expr>& x,
                                 const std::vector<Expr>& inits, const Sliding& s) {
  Builder& b = x[0].builder();
  std::vector<Size> counts;
  for (size_t i = 0; i < s.rank(); ++i) {
    counts.push_back(
        WindowCount(b, SizeAt(x[0], static_cast<int64_t>(i)), s.extent(i), s.strides[i]));
  }
  std::vector<Expr> sum;
  std::vector<int64_t> offset(s.rank(), 0);
  do {
    std::vector<Expr> next;
    for (const Expr& each : x) next.push_back(AtOffset(each, offset, s, counts));
    if (sum.empty() && !inits.empty()) sum = ExpandedTo(inits, next);
    sum = sum.empty() ? next : combine(sum, next);
  } while (NextIndex(s.size, offset));
  return sum;
}

// Along one axis, windows of one element become those of `size` by doubling: a window is one that
// begins before another one that is next to it. The order of elements stays.
std::vector<Expr> WindowsAlong(const Combine& combine, std::vector<Expr> x, int64_t axis,
                               const Sliding& s) {
  const auto k = static_cast<size_t>(axis);
  Builder& b = x[0].builder();
  const int64_t size = s.size[k], step = s.dilations[k], stride = s.strides[k];
  const Size count = WindowCount(b, SizeAt(x[0], axis), s.extent(k), stride);
  const auto at = [&](const std::vector<Expr>& all, int64_t from, int64_t by, const Size& n) {
    std::vector<Expr> part;
    for (const Expr& each : all) part.push_back(Strided(each, axis, from, by, n));
    return part;
  };
  // `power`: windows of 2^j elements. What is put together from the digits of `size` so far begins
  // at each place; the next power follows it.
  const Size places = Plus(b, Times(b, Minus(b, count, 1), stride), 1);
  std::vector<Expr> power = std::move(x);
  std::vector<Expr> sum;
  int64_t covered = 0;
  for (int64_t width = 1; width <= size; width *= 2) {
    if ((size & width) != 0) {
      const std::vector<Expr> next = at(power, covered * step, 1, places);
      sum = covered == 0 ? next : combine(sum, next);
      covered += width;
    }
    if (covered == size) break;
    const Size left = Minus(b, SizeAt(power[0], axis), width * step);
    power = combine(at(power, 0, 1, left), at(power, width * step, 1, left));
  }
  return stride > 1 ? at(sum, 0, stride, count) : sum;
}

absl::StatusOr<Values> FromReduceWindow(StablehloArgs& a) {
  const std::shared_ptr<Graph> body = a.SubGraph("body");
  const size_t n = a.num_inputs() / 2;
  if (n == 0 || a.num_inputs() % 2 != 0) return Invalid("it has ", a.num_inputs(), " operands");
  CheckRegion(a, *body, 2 * n, n);
  const auto rank = static_cast<size_t>(a.RankOf(0));
  const Sliding given =
      TakeSliding(a, IntsOr(a, "window_dimensions", rank, 1), "base_dilations", "window_dilations");
  std::vector<Expr> x, inits;
  for (size_t i = 0; i < n; ++i) {
    const DType t =
        body->inputs()[i]->dtype() == DType::kUndefined ? a.dtype(i) : body->inputs()[i]->dtype();
    x.push_back(a.in(i).To(t));
    inits.push_back(a.in(n + i).To(t));
  }
  const std::string_view op = n == 1 ? KnownBody(*body) : "";
  const bool neutral = n == 1 && !op.empty() && IsNeutral(op, inits[0]);
  if (neutral) {
    if (const auto counts = op == "add" ? CountsOf(x[0], given) : std::nullopt) {
      return Values{counts->Op("identity")};
    }
    if (const auto running = AsRunning(x[0], op, given)) return Values{*running};
    if (const auto pool = AsPool(a, x[0], op, given)) return Values{*pool};
  }
  if (EmptyResult(a)) {
    Values empty;
    for (size_t i = 0; i < n; ++i) empty.push_back(*EmptyResult(a, i));
    return empty;
  }
  Sliding s = given;
  std::vector<Expr> y;
  for (size_t i = 0; i < n; ++i) {
    s = given;
    y.push_back(PadBase(a, x[i], inits[i], s));
  }
  const Combine combine =
      n == 1 && !op.empty() ? Combine([op](const std::vector<Expr>& u, const std::vector<Expr>& v) {
        return std::vector<Expr>{Combined(op, u[0], v[0])};
      })
                            : CombineBy(a, *body);
  if (Product(s.size) <= kFew) {
    y = WindowsInOrder(combine, y, neutral ? std::vector<Expr>() : inits, s);
  } else {
    // The last axis varies first.
    for (size_t i = rank; i-- > 0;) {
      if (!s.IsIdle(i)) y = WindowsAlong(combine, std::move(y), static_cast<int64_t>(i), s);
    }
    if (!neutral) y = combine(ExpandedTo(inits, y), y);
  }
  return Values(y.begin(), y.end());
}

}  // namespace

X2IR_STABLEHLO(max_pool).From("reduce_window", FromReduceWindow);

}  // namespace x2ir
