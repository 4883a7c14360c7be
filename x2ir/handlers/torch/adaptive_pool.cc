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

constexpr int64_t kMostElements = 1 << 24;  // of all windows along an axis, or of a plane

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
  std::vector<std::optional<int64_t>> in, out;  // out: none, the input's own size
  std::vector<std::optional<int64_t>> window;   // where all are as large and lie side by side
};

// Sizes that are asked for; all windows of an axis alike: [0], of how much.
Pool ReadPool(TorchCall& c, int64_t n) {
  Pool pool{AddBatch(c.Tensor("self"), n), {}, {}, {}};
  const std::vector<Size> sizes = c.Sizes("output_size");
  if (sizes.size() != 1 && static_cast<int64_t>(sizes.size()) != n) {
    c.Fail(Invalid("output_size: expected ", n, " sizes, got ", sizes.size()));
    return pool;
  }
  for (int64_t i = 0; i < n; ++i) {
    const Size& size = sizes[sizes.size() == 1 ? 0 : static_cast<size_t>(i)];
    const auto in = KnownSizes(pool.batched.x, 2 + i, 3 + i);
    pool.in.push_back(in ? std::optional((*in)[0]) : std::nullopt);
    pool.out.push_back(size.number);
    if (!size.number || *size.number < 1 || *size.number > (1 << 20)) {
      c.Fail(Unimplemented("sizes of results that are not known, or none"));
    } else if (!in && *size.number != 1) {
      c.Fail(Unimplemented("windows of unknown size"));
    } else if (in && (*in)[0] < 1) {
      c.Fail(Unimplemented("of an empty input"));
    }
  }
  return pool;
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
  bool even = true, all = true;
  std::vector<int64_t> kernel, global;
  for (size_t i = 0; i < pool.in.size(); ++i) {
    even &= pool.in[i] && *pool.in[i] % *pool.out[i] == 0;
    all &= *pool.out[i] == 1;
    kernel.push_back(even ? *pool.in[i] / *pool.out[i] : 0);
  }
  Value* y = x;
  if (all) {
    y = c.Op("global_average_pool", {x});
  } else if (even) {
    y = c.Op("average_pool", {x}, {{"kernel_shape", kernel}, {"strides", kernel}});
  } else {
    const DType t = AtLeastFloat32(x->dtype());
    y = c.Cast(x, t);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t axis = 2 + i, out = *pool.out[static_cast<size_t>(i)];
      if (out == 1) {
        y = Reduce({c, y}, "reduce_mean", {axis}, true);
        continue;
      }
      const int64_t in = *pool.in[static_cast<size_t>(i)];
      if (in > kMostElements) return c.Fail(Unimplemented("windows of too many elements"));
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
  std::vector<Spans> spans;
  int64_t cells = 1, elements = 1;
  Value* y = x;
  for (int64_t i = n - 1; i >= 0; --i) {
    const size_t at = static_cast<size_t>(i);
    if (!pool.in[at]) return c.Fail(Unimplemented("of an input of unknown size"));
    if (*pool.in[at] > kMostElements) return c.Fail(Unimplemented("windows of too many elements"));
    spans.insert(spans.begin(), SpansAlong(*pool.in[at], *pool.out[at]));
    y = Windows(c, y, 2 + i, spans.front());
    cells *= *pool.out[at];
    elements *= spans.front().longest;
  }
  if (cells > kMostElements / elements)
    return c.Fail(Unimplemented("windows of too many elements"));
  // N, C, out, k, out, k -> N, C, out, out, k * k
  std::vector<int64_t> perm = {0, 1};
  for (int64_t i = 0; i < n; ++i) perm.push_back(2 + 2 * i);
  for (int64_t i = 0; i < n; ++i) perm.push_back(3 + 2 * i);
  std::vector<Size> dims = SizesAt({c, x}, 0, 2);
  for (const auto& out : pool.out) dims.push_back(*out);
  dims.push_back(elements);
  y = ReshapeTo(Transpose({c, y}, perm), dims);
  Values values(c.num_outputs(), nullptr);
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
  } while (next(o, [&](size_t i) { return *pool.out[i]; }));
  std::vector<int64_t> out_dims;
  for (const auto& out : pool.out) out_dims.push_back(*out);
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
