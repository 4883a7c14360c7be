// Pools to a size that is asked for: windows that differ from place to place.
#include <algorithm>
#include <optional>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxWindowElements = 1 << 24;  // of all windows along an axis, or of a plane

// The windows along one axis: output o is of [o in / out, ceil((o + 1) in / out)).
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

struct Pool {
  Batched batched;
  std::vector<std::optional<int64_t>> in;  // of each spatial axis, where it is known
  std::vector<Size> out;
  bool known = true;  // all these sizes, but the input's where the result's is 1
};

Pool ReadPool(TorchCall& c, int64_t n) {
  Pool pool{AddBatch(c.Tensor("self"), n), {}, {}};
  const std::vector<Size> sizes = c.Sizes("output_size");
  if (sizes.size() != 1 && static_cast<int64_t>(sizes.size()) != n) {
    c.Fail(Invalid("output_size: expected ", n, " sizes, got ", sizes.size()));
    return pool;
  }
  for (int64_t i = 0; i < n; ++i) {
    const Size& size = sizes[sizes.size() == 1 ? 0 : static_cast<size_t>(i)];
    const auto known = KnownSizes(pool.batched.x, 2 + i, 3 + i);
    const std::optional<int64_t> in = known ? std::optional((*known)[0]) : std::nullopt;
    pool.in.push_back(in);
    pool.out.push_back(size);
    pool.known &= size.number && (in || *size.number == 1);
    if (size.number && (*size.number < 1 || *size.number > (1 << 20))) {
      c.Fail(Unimplemented("results of size ", *size.number));
    } else if (in && *in < 1) {
      c.Fail(Unimplemented("of an empty input"));
    }
  }
  return pool;
}

// Windows whose sizes are computed: which elements of the axis each has, bool [out, in], and how
// many they are, int64 [out].
struct ComputedWindows {
  Expr members, lengths;
};
ComputedWindows WindowsOf(TorchCall& c, const Size& in, const Size& out) {
  const Expr input = Scalar(c, in), output = Scalar(c, out), o = Iota(output);
  const Expr begin = o * input / output, end = ((o + 1) * input + (output - 1)) / output;
  const Expr place = Unsqueeze(Iota(input), {0});
  return {(place >= Unsqueeze(begin, {1})) & (place < Unsqueeze(end, {1})), end - begin};
}

// One axis after the other, each reduced by `op`; `rest` is put in the place of what a window has
// not. Where `mean`, sums are divided by the windows' lengths.
Expr ReduceWindows(TorchCall& c, Expr y, const Pool& pool, Symbol op, const Expr& rest, bool mean) {
  for (size_t i = 0; i < pool.in.size(); ++i) {
    const int64_t axis = 2 + static_cast<int64_t>(i);
    const int64_t behind = static_cast<int64_t>(pool.in.size() - i) - 1;
    const ComputedWindows windows = WindowsOf(c, SizeAt(y, axis), pool.out[i]);
    // [..., in, ...] -> [..., 1, in, ...] -> [..., out, ...]
    const Expr members = Unsqueeze(windows.members, CountedFrom(2, behind));
    y = Reduce(Where(members, Unsqueeze(y, {axis}), rest), op, {axis + 1});
    if (mean) y = y / Unsqueeze(windows.lengths.To(y.dtype()), CountedFrom(1, behind));
  }
  return y;
}

// The elements of each window along an axis as a new axis behind it; short windows have their last
// element again.
Value* Windows(TorchCall& c, Value* x, int64_t axis, const Spans& s) {
  std::vector<int64_t> picks;
  for (size_t o = 0; o < s.begin.size(); ++o) {
    for (int64_t k = 0; k < s.longest; ++k) {
      picks.push_back(s.begin[o] + std::min(k, s.length[o] - 1));
    }
  }
  const int64_t count = static_cast<int64_t>(s.begin.size());
  return c.Op("gather", {x, c.b().Constant(x2ir::Tensor::Of<int64_t>({count, s.longest}, picks))},
              {{"axis", axis}});
}

// Means along one axis after the other: a window's mean is the mean of its rows' means.
Values AdaptiveAveragePool(TorchCall& c, int64_t n) {
  const Pool pool = ReadPool(c, n);
  Value* x = pool.batched.x;
  RequireFloat(c, x);
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  bool even = pool.known, all = pool.known;
  std::vector<int64_t> kernel;
  for (size_t i = 0; i < pool.in.size() && pool.known; ++i) {
    const std::optional<int64_t> in = pool.in[i];
    const int64_t out = *pool.out[i].number;
    even &= in && *in % out == 0;
    all &= out == 1;
    kernel.push_back(even ? *in / out : 0);
  }
  Value* y = x;
  if (all) {
    y = c.Op("global_average_pool", {x});
  } else if (even) {
    y = c.Op("average_pool", {x}, {{"kernel_shape", kernel}, {"strides", kernel}});
  } else if (!pool.known) {
    const Expr wide = c.Cast(x, AtLeastFloat32(x->dtype()));
    y = c.Cast(ReduceWindows(c, wide, pool, "reduce_sum", wide.Number(0), true), x->dtype());
  } else {
    const DType t = AtLeastFloat32(x->dtype());
    y = c.Cast(x, t);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t axis = 2 + i, out = *pool.out[static_cast<size_t>(i)].number;
      if (out == 1) {
        y = Reduce({c, y}, "reduce_mean", {axis}, true);
        continue;
      }
      const int64_t in = *pool.in[static_cast<size_t>(i)];
      if (in > kMaxWindowElements) return c.Fail(Unimplemented("windows of too many elements"));
      const Spans s = SpansAlong(in, out);
      std::vector<double> weights;
      for (int64_t o = 0; o < out; ++o) {
        for (int64_t k = 0; k < s.longest; ++k) {
          weights.push_back(k < s.length[static_cast<size_t>(o)] ? 1 : 0);
        }
      }
      Expr windows(c, Windows(c, y, axis, s));
      std::vector<int64_t> dims(static_cast<size_t>(n - i + 1), 1), lengths(dims.size() - 1, 1);
      dims[0] = lengths[0] = out;
      dims[1] = s.longest;
      const Expr counts = c.Cast(NumbersAs(c, DType::kFloat32, dims, weights), DType::kBool);
      windows = Where(counts, windows, 0);
      const std::vector<double> divisors(s.length.begin(), s.length.end());
      y = Reduce(windows, "reduce_sum", {axis + 1}) / NumbersAs(c, t, lengths, divisors);
    }
    y = c.Cast(y, x->dtype());
  }
  return {DropBatch({c, y}, pool.batched)};
}

// The windows of all axes one behind the other, the first greatest element of each.
Values AdaptiveMaxPool(TorchCall& c, int64_t n) {
  const Pool pool = ReadPool(c, n);
  Value* x = pool.batched.x;
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  Values values(c.num_outputs(), nullptr);
  if (!pool.known ||
      std::any_of(pool.in.begin(), pool.in.end(), [](const auto& in) { return !in.has_value(); })) {
    if (c.wants(1)) {
      return c.Fail(Unimplemented("the places of the greatest elements, where sizes are computed"));
    }
    const Expr lowest = Extreme(c, x->dtype(), false);
    const Expr most = ReduceWindows(c, {c, x}, pool, "reduce_max", lowest, false);
    values[0] = DropBatch(most, pool.batched);
    return values;
  }
  std::vector<Spans> spans;
  int64_t cells = 1, elements = 1;
  Value* y = x;
  for (int64_t i = n - 1; i >= 0; --i) {
    const size_t at = static_cast<size_t>(i);
    const int64_t in = *pool.in[at], out = *pool.out[at].number;
    if (in > kMaxWindowElements) return c.Fail(Unimplemented("windows of too many elements"));
    spans.insert(spans.begin(), SpansAlong(in, out));
    y = Windows(c, y, 2 + i, spans.front());
    cells *= out;
    elements *= spans.front().longest;
  }
  if (cells > kMaxWindowElements / elements)
    return c.Fail(Unimplemented("windows of too many elements"));
  // N, C, out, k, out, k -> N, C, out, out, k * k
  std::vector<int64_t> perm = {0, 1};
  for (int64_t i = 0; i < n; ++i) perm.push_back(2 + 2 * i);
  for (int64_t i = 0; i < n; ++i) perm.push_back(3 + 2 * i);
  std::vector<Size> dims = SizesAt({c, x}, 0, 2);
  dims.insert(dims.end(), pool.out.begin(), pool.out.end());
  dims.push_back(elements);
  y = ReshapeTo(Transpose({c, y}, perm), dims);
  if (c.wants(0)) {
    Value* max = c.Op("reduce_max", {y, Ints(c, {n + 2})}, {{"keepdims", 0}});
    values[0] = DropBatch({c, max}, pool.batched);
  }
  if (!c.wants(1)) return values;
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
        const size_t at = static_cast<size_t>(o[i]);
        place = place * *pool.in[i] + spans[i].begin[at] + std::min(k[i], spans[i].length[at] - 1);
      }
      places.push_back(place);
    } while (next(k, [&](size_t i) { return spans[i].longest; }));
  } while (next(o, [&](size_t i) { return *pool.out[i].number; }));
  std::vector<int64_t> out_dims;
  for (const Size& out : pool.out) out_dims.push_back(*out.number);
  Value* first = c.Op("arg_max", {y}, {{"axis", n + 2}, {"keepdims", 0}});
  first = c.Op("add", {first, c.b().Constant(x2ir::Tensor::Of<int64_t>(out_dims, starts))});
  values[1] = DropBatch(c.Op("gather", {Ints(c, places), first}), pool.batched);
  return values;
}

X2IR_TORCH(average_pool)
    .From("aten::adaptive_avg_pool1d.default",
          [](TorchCall& c) { return AdaptiveAveragePool(c, 1); })
    .From({"aten::adaptive_avg_pool2d.default", "aten::_adaptive_avg_pool2d.default",
           "aten::mkldnn_adaptive_avg_pool2d.default"},
          [](TorchCall& c) { return AdaptiveAveragePool(c, 2); })
    .From({"aten::adaptive_avg_pool3d.default", "aten::_adaptive_avg_pool3d.default"},
          [](TorchCall& c) { return AdaptiveAveragePool(c, 3); });
X2IR_TORCH(max_pool)
    .From("aten::adaptive_max_pool1d.default", [](TorchCall& c) { return AdaptiveMaxPool(c, 1); })
    .From("aten::adaptive_max_pool2d.default", [](TorchCall& c) { return AdaptiveMaxPool(c, 2); })
    .From("aten::adaptive_max_pool3d.default", [](TorchCall& c) { return AdaptiveMaxPool(c, 3); });

}  // namespace
}  // namespace x2ir
