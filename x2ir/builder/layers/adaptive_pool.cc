#include "x2ir/builder/layers/adaptive_pool.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxWindowElements = 1 << 24;  // of all windows along an axis, or of a plane
constexpr int64_t kMaxResults = 1 << 20;         // along an axis

// The windows along one axis.
struct Spans {
  std::vector<int64_t> begin, length;
  int64_t longest = 0;
};

Spans SpansAlong(int64_t in, int64_t out) {
  Spans s;
  for (int64_t o = 0; o < out; ++o) {
    s.begin.push_back(o * in / out);
    s.length.push_back(((o + 1) * in + out - 1) / out - s.begin.back());
    s.longest = std::max(s.longest, s.length.back());
  }
  return s;
}

struct AdaptiveSizes {
  std::vector<std::optional<int64_t>> in;  // of each spatial axis, where it is known
  std::vector<Size> out;
  bool known = true;  // all these sizes, but the input's where the result's is 1
  size_t spatial() const { return in.size(); }
};

AdaptiveSizes SizesOf(NodeReader& a, const Expr& x, const std::vector<Size>& sizes) {
  AdaptiveSizes pool;
  const int64_t n = x.rank() - 2;
  if (sizes.size() != 1 && static_cast<int64_t>(sizes.size()) != n) {
    a.Fail(Invalid("output_size: expected ", n, " sizes, got ", sizes.size()));
  }
  for (int64_t i = 0; i < n; ++i) {
    const Size& size = sizes[sizes.size() == 1 ? 0 : static_cast<size_t>(i)];
    const auto known = KnownSizes(x, 2 + i, 3 + i);
    const std::optional<int64_t> in = known ? std::optional((*known)[0]) : std::nullopt;
    pool.in.push_back(in);
    pool.out.push_back(size);
    pool.known &= size.number && (in || *size.number == 1);
    if (size.number && (*size.number < 1 || *size.number > kMaxResults)) {
      a.Fail(Unimplemented("results of size ", *size.number));
    } else if (in && *in < 1) {
      a.Fail(Unimplemented("of an empty input"));
    }
  }
  return pool;
}

// Windows whose sizes are computed: which elements of the axis each has, bool [out, in], and how
// many they are and the first of them, int64 [out].
struct ComputedWindows {
  Expr members, lengths, begin;
};

ComputedWindows WindowsOf(Builder& b, const Size& in, const Size& out) {
  const Expr input = Scalar(b, in), output = Scalar(b, out), o = Iota(output);
  const Expr begin = o * input / output, end = ((o + 1) * input + (output - 1)) / output;
  const Expr place = Unsqueeze(Iota(input), {0});
  return {(place >= Unsqueeze(begin, {1})) & (place < Unsqueeze(end, {1})), end - begin, begin};
}

// [..., in, ...] as [..., out, in, ...], with `rest` where an element is not in a window. `after`
// axes follow.
Expr InWindows(const Expr& y, const ComputedWindows& windows, int64_t axis, int64_t after,
               const Expr& rest) {
  const Expr members = Unsqueeze(windows.members, CountedFrom(2, after));
  return Where(members, Unsqueeze(y, {axis}), rest);
}

// One axis after the other, each reduced by `op`. Where `mean`, sums are divided by the windows'
// lengths.
Expr ReduceWindows(NodeReader& a, Expr y, const AdaptiveSizes& pool, Symbol op, const Expr& rest,
                   bool mean) {
  for (size_t i = 0; i < pool.spatial(); ++i) {
    const int64_t axis = 2 + static_cast<int64_t>(i);
    const auto after = static_cast<int64_t>(pool.spatial() - i) - 1;
    const ComputedWindows windows = WindowsOf(a, SizeAt(y, axis), pool.out[i]);
    y = Reduce(InWindows(y, windows, axis, after, rest), op, {axis + 1});
    if (mean) y = y / Unsqueeze(windows.lengths.To(y.dtype()), CountedFrom(1, after));
  }
  return y;
}

// The elements of each window along an axis, as a new axis after it; short windows repeat their
// last element.
Expr Windows(NodeReader& a, const Expr& x, int64_t axis, const Spans& s) {
  std::vector<int64_t> picks;
  for (size_t o = 0; o < s.begin.size(); ++o) {
    for (int64_t k = 0; k < s.longest; ++k) {
      picks.push_back(s.begin[o] + std::min(k, s.length[o] - 1));
    }
  }
  const auto count = static_cast<int64_t>(s.begin.size());
  return a.Op("gather", {x, a.b().Constant(Tensor::Of<int64_t>({count, s.longest}, picks))},
              {{"axis", axis}});
}

// The mean of each window along an axis, all of known sizes.
Expr MeansAlong(NodeReader& a, const Expr& y, int64_t axis, int64_t in, int64_t out) {
  if (in > kMaxWindowElements) a.Fail(Unimplemented("windows of too many elements"));
  const Spans s = SpansAlong(in, out);
  std::vector<double> counted;
  for (size_t o = 0; o < s.length.size(); ++o) {
    for (int64_t k = 0; k < s.longest; ++k) counted.push_back(k < s.length[o] ? 1 : 0);
  }
  const Expr windows = Windows(a, y, axis, s);
  std::vector<int64_t> dims(static_cast<size_t>(y.rank() - axis + 1), 1),
      lengths(dims.size() - 1, 1);
  dims[0] = lengths[0] = out;
  dims[1] = s.longest;
  const Expr counts = a.Cast(NumbersAs(a, DType::kFloat32, dims, counted), DType::kBool);
  const std::vector<double> divisors(s.length.begin(), s.length.end());
  return Reduce(Where(counts, windows, 0), "reduce_sum", {axis + 1}) /
         NumbersAs(a, y.dtype(), lengths, divisors);
}

// Where sizes are computed. The last axis comes first, so that of equal elements the first in the
// plane's order is found.
AdaptiveMaxima ComputedMaxima(NodeReader& a, const Expr& x, const AdaptiveSizes& pool) {
  const auto n = static_cast<int64_t>(pool.spatial());
  const Expr lowest = Extreme(a, x.dtype(), false);
  const std::vector<Size> plane = SizesAt(x, 2, 2 + n);
  Expr values = x,
       places = Expand(ReshapeTo(Iota(Scalar(a, Product(a, plane))), plane), ShapeOf(x));
  for (int64_t i = n - 1; i >= 0; --i) {
    const int64_t axis = 2 + i;
    const ComputedWindows windows =
        WindowsOf(a, SizeAt(values, axis), pool.out[static_cast<size_t>(i)]);
    const Expr each = InWindows(values, windows, axis, n - i - 1, lowest);
    // Where all elements of a window are the lowest number, those before it are as great.
    const Expr first = Max(each.Op("arg_max", {}, {{"axis", axis + 1}, {"keepdims", 0}}),
                           Unsqueeze(windows.begin, CountedFrom(1, n - i - 1)));
    values = Reduce(each, "reduce_max", {axis + 1});
    places = GatherElements(places, first, axis);
  }
  return {values, places};
}

}  // namespace

// Means along one axis after the other: a window's mean is the mean of its rows' means.
Expr AdaptiveAverage(NodeReader& a, const Expr& x, const std::vector<Size>& sizes) {
  const AdaptiveSizes pool = SizesOf(a, x, sizes);
  bool even = pool.known, all = pool.known;
  std::vector<int64_t> kernel;
  for (size_t i = 0; i < pool.spatial() && pool.known; ++i) {
    const std::optional<int64_t> in = pool.in[i];
    const int64_t out = *pool.out[i].number;
    even &= in && *in % out == 0;
    all &= out == 1;
    kernel.push_back(even ? *in / out : 0);
  }
  if (all) return x.Op("global_average_pool");
  if (even) return x.Op("average_pool", {}, {{"kernel_shape", kernel}, {"strides", kernel}});
  const DType t = AtLeastFloat32(x.dtype());
  Expr y = x.To(t);
  if (!pool.known) {
    return ReduceWindows(a, y, pool, "reduce_sum", y.Number(0), true).To(x.dtype());
  }
  for (size_t i = 0; i < pool.spatial(); ++i) {
    const int64_t axis = 2 + static_cast<int64_t>(i), out = *pool.out[i].number;
    y = out == 1 ? Reduce(y, "reduce_mean", {axis}, true)
                 : MeansAlong(a, y, axis, *pool.in[i], out);
  }
  return y.To(x.dtype());
}

// The windows of all axes in order, and the first greatest element of each.
AdaptiveMaxima AdaptiveMax(NodeReader& a, const Expr& x, const std::vector<Size>& sizes,
                           bool wants_values, bool wants_places) {
  const AdaptiveSizes pool = SizesOf(a, x, sizes);
  const auto n = static_cast<int64_t>(pool.spatial());
  if (!pool.known ||
      std::any_of(pool.in.begin(), pool.in.end(), [](const auto& in) { return !in.has_value(); })) {
    if (wants_places) return ComputedMaxima(a, x, pool);
    const Expr lowest = Extreme(a, x.dtype(), false);
    return {ReduceWindows(a, x, pool, "reduce_max", lowest, false)};
  }
  std::vector<Spans> spans;
  int64_t cells = 1, elements = 1;
  Expr y = x;
  for (int64_t i = n - 1; i >= 0; --i) {
    const auto at = static_cast<size_t>(i);
    const int64_t in = *pool.in[at], out = *pool.out[at].number;
    if (in > kMaxWindowElements) a.Fail(Unimplemented("windows of too many elements"));
    spans.insert(spans.begin(), SpansAlong(in, out));
    y = Windows(a, y, 2 + i, spans.front());
    cells *= out;
    elements *= spans.front().longest;
  }
  if (cells > kMaxWindowElements / elements) {
    a.Fail(Unimplemented("windows of too many elements"));
  }
  // N, C, out, k, out, k -> N, C, out, out, k * k
  std::vector<int64_t> perm = {0, 1};
  for (int64_t i = 0; i < n; ++i) perm.push_back(2 + 2 * i);
  for (int64_t i = 0; i < n; ++i) perm.push_back(3 + 2 * i);
  std::vector<Size> dims = SizesAt(x, 0, 2);
  dims.insert(dims.end(), pool.out.begin(), pool.out.end());
  dims.push_back(elements);
  y = ReshapeTo(Transpose(y, perm), dims);
  AdaptiveMaxima maxima;
  if (wants_values) maxima.values = Reduce(y, "reduce_max", {n + 2});
  if (!wants_places) return maxima;
  // Where in the plane the elements of each window are, and where each window begins in that list.
  std::vector<int64_t> places, starts;
  std::vector<int64_t> o(static_cast<size_t>(n)), k(o);
  const auto next = [&](std::vector<int64_t>& index, const auto& limit) {
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < limit(i)) return true;
      index[i] = 0;
    }
    return false;
  };
  do {
    starts.push_back(static_cast<int64_t>(places.size()));
    do {
      int64_t place = 0;
      for (size_t i = 0; i < o.size(); ++i) {
        const auto at = static_cast<size_t>(o[i]);
        place = place * *pool.in[i] + spans[i].begin[at] + std::min(k[i], spans[i].length[at] - 1);
      }
      places.push_back(place);
    } while (next(k, [&](size_t i) { return spans[i].longest; }));
  } while (next(o, [&](size_t i) { return *pool.out[i].number; }));
  std::vector<int64_t> out_dims;
  for (const Size& out : pool.out) out_dims.push_back(*out.number);
  const Expr first = y.Op("arg_max", {}, {{"axis", n + 2}, {"keepdims", 0}});
  const Expr at = a.Op("add", {first, a.b().Constant(Tensor::Of<int64_t>(out_dims, starts))});
  maxima.places = a.Op("gather", {Ints(a, places), at});
  return maxima;
}

}  // namespace x2ir
