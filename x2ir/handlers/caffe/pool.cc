#include "x2ir/handlers/caffe/pool.h"

#include <algorithm>
#include <numeric>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/caffe/caffe.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

bool IsStatic(const Expr& x, const CaffePool& pool) {
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    if (!DimAt(x, static_cast<int64_t>(i) + 2).is_static()) return false;
  }
  return true;
}
AttributeMap PoolAttrs(const CaffePool& pool, const std::vector<int64_t>& begins,
                       const std::vector<int64_t>& ends) {
  AttributeMap attrs;
  attrs.Set("kernel_shape", pool.kernel);
  attrs.Set("strides", pool.strides);
  std::vector<int64_t> pads = begins;
  pads.insert(pads.end(), ends.begin(), ends.end());
  attrs.Set("pads", std::move(pads));
  return attrs;
}
// Where sizes are not known: whether the runtime's rule, which rounds up, is Caffe's.
void RequireSameRule(NodeReader& a, const CaffePool& pool) {
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    const bool padded = pool.begins[i] + pool.ends[i] > 0;
    a.Require(padded ? pool.ends[i] + pool.strides[i] <= pool.kernel[i]
                     : pool.strides[i] <= pool.kernel[i],
              "a pool of an image of unknown size whose last window may stand behind it");
  }
}

}  // namespace

void CheckPool(NodeReader& a, const Expr& x, const CaffePool& pool) {
  SymbolWindow w;
  w.kernel = pool.kernel;
  w.strides = pool.strides;
  w.dilations.assign(pool.kernel.size(), 1);
  w.pads = pool.begins;
  w.pads.insert(w.pads.end(), pool.ends.begin(), pool.ends.end());
  CheckWindow(a, w);
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    if (std::max(pool.begins[i], pool.ends[i]) >= pool.kernel[i]) {
      a.Fail(Invalid("a pool of windows of ", pool.kernel[i], " with padding of ",
                     std::max(pool.begins[i], pool.ends[i])));
    }
  }
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    const Dim dim = DimAt(x, static_cast<int64_t>(i) + 2);
    a.Require(!dim.is_static() || dim.value() < int64_t{1} << 40, "an image of this size");
  }
}

std::vector<int64_t> CaffeEnds(NodeReader& a, const Expr& x, const CaffePool& pool) {
  std::vector<int64_t> ends;
  const auto any = [](const std::vector<int64_t>& pads) {
    return std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad > 0; });
  };
  const bool padded = any(pool.begins) || any(pool.ends);
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    const int64_t size = DimAt(x, static_cast<int64_t>(i) + 2).value(), stride = pool.strides[i];
    const int64_t room = size + pool.begins[i] + pool.ends[i] - pool.kernel[i];
    if (room < 0) {
      a.Fail(Invalid("a window of ", pool.kernel[i], " on an axis of ", size));
      return pool.ends;
    }
    int64_t last = (pool.round_up ? (room + stride - 1) / stride : room / stride) * stride;
    if (pool.round_up && padded && last >= size + pool.begins[i]) last -= stride;
    a.Require(last < size + pool.begins[i], "a pool whose last window stands behind the image");
    ends.push_back(std::max<int64_t>(last + pool.kernel[i] - size - pool.begins[i], 0));
  }
  return ends;
}

Expr CaffeMaxPool(NodeReader& a, const Expr& x, const CaffePool& pool) {
  CheckPool(a, x, pool);
  if (!IsStatic(x, pool)) {
    AttributeMap attrs = PoolAttrs(pool, pool.begins, pool.ends);
    if (pool.round_up) {
      RequireSameRule(a, pool);
      attrs.Set("ceil_mode", 1);
    }
    return a.Op("max_pool", {x}, std::move(attrs));
  }
  return a.Op("max_pool", {x}, PoolAttrs(pool, pool.begins, CaffeEnds(a, x, pool)));
}

Expr CaffeMeanPool(NodeReader& a, const Expr& x, const CaffePool& pool) {
  CheckPool(a, x, pool);
  const size_t spatial = pool.kernel.size();
  const std::vector<int64_t> none(spatial, 0);
  const bool is_static = IsStatic(x, pool);
  const std::vector<int64_t> ends = is_static ? CaffeEnds(a, x, pool) : pool.ends;
  if (!is_static && pool.round_up) RequireSameRule(a, pool);
  bool beyond = !is_static && pool.round_up;  // whether windows reach behind the padding
  for (size_t i = 0; i < spatial; ++i) beyond = beyond || ends[i] > pool.ends[i];
  if (!beyond || !pool.count_padding) {
    AttributeMap attrs = PoolAttrs(pool, pool.begins, ends);
    if (!is_static && pool.round_up) attrs.Set("ceil_mode", 1);
    attrs.Set("count_include_pad", pool.count_padding ? 1 : 0);
    return a.Op("average_pool", {x}, std::move(attrs));
  }
  // The padding that counts becomes a part of the image.
  Expr image = x;
  std::vector<int64_t> pads(2 * (spatial + 2), 0), rest;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t end = is_static ? std::min(ends[i], pool.ends[i]) : pool.ends[i];
    pads[i + 2] = pool.begins[i];
    pads[spatial + i + 4] = end;
    rest.push_back(ends[i] - end);
  }
  if (std::accumulate(pads.begin(), pads.end(), int64_t{0}) > 0) {
    image = a.Op("pad", {x, a.b().Ints(pads), x.Number(0)});
  }
  AttributeMap attrs = PoolAttrs(pool, none, rest);
  if (!is_static) attrs.Set("ceil_mode", 1);
  attrs.Set("count_include_pad", 0);
  return a.Op("average_pool", {image}, std::move(attrs));
}

// --- The layers ----------------------------------------------------------------------------------

namespace {

int64_t OneOf(CaffeArgs& a, std::string_view whole, std::string_view part, int64_t fallback) {
  const int64_t own = a.Int(part, fallback);
  return a.Has(part) ? own : a.Int(whole, fallback);
}

Expr Pooled(CaffeArgs& a, const Expr& x, const CaffePool& pool, const std::string& method) {
  if (method == "MAX") return CaffeMaxPool(a, x, pool);
  if (method == "AVE") return CaffeMeanPool(a, x, pool);
  // At inference a stochastic pool weighs each number by its own share.
  CaffePool plain = pool;
  plain.count_padding = true;
  return CaffeMeanPool(a, Square(x), plain) / (CaffeMeanPool(a, x, plain) + 1.17549435e-38);
}

// The places of the largest numbers in their planes, as floats.
Expr PlacesOf(CaffeArgs& a, const Expr& x, const CaffePool& pool) {
  const auto sizes = KnownSizes(x, 2, 4);
  a.Require(sizes.has_value(), "places in a plane of unknown size");
  const Values both =
      a.b().Ops("max_pool", {x}, PoolAttrs(pool, pool.begins, CaffeEnds(a, x, pool)), 2);
  const Expr all(a, both[1]);
  return Mod(all, Int(a, (*sizes)[0] * (*sizes)[1])).To(x.dtype());
}

absl::StatusOr<Values> Pooling(CaffeArgs& a) {
  const Expr x = a.in(0);
  const std::string method = a.Text("pool", "MAX");
  const bool global = a.Bool("global_pooling", false);
  CaffePool pool;
  pool.round_up = a.Text("round_mode", "CEIL") == "CEIL";
  pool.kernel = {OneOf(a, "kernel_size", "kernel_h", 0), OneOf(a, "kernel_size", "kernel_w", 0)};
  pool.strides = {OneOf(a, "stride", "stride_h", 1), OneOf(a, "stride", "stride_w", 1)};
  pool.begins = {OneOf(a, "pad", "pad_h", 0), OneOf(a, "pad", "pad_w", 0)};
  pool.ends = pool.begins;
  if (!global) CheckPool(a, a.in(0), pool);
  if (a.RankOf() != 4) return Invalid("a pool of an operand of ", a.RankOf(), " axes");
  if (global) {
    if (!a.wants(1) && method != "STOCHASTIC") {
      return Values{a.Op(method == "MAX" ? "global_max_pool" : "global_average_pool", {x})};
    }
    const auto sizes = KnownSizes(x, 2, 4);
    a.Require(sizes.has_value(), "this pool of an image of unknown size");
    pool.kernel = *sizes;
    pool.strides = {1, 1};
    pool.begins = pool.ends = {0, 0};
  }
  Values all = {Pooled(a, x, pool, method)};
  if (a.wants(1)) {
    a.Require(method == "MAX", "places of what is no maximum");
    all.push_back(PlacesOf(a, x, pool));
  }
  return all;
}

// Planes of 1, 2 x 2, 4 x 4, ... cells, each flattened, one after the other.
absl::StatusOr<Value*> Spp(CaffeArgs& a) {
  const Expr x = a.in(0);
  const int64_t height = a.Int("pyramid_height", 0);
  const std::string method = a.Text("pool", "MAX");
  const auto sizes = KnownSizes(x, 2, 4);
  a.Require(sizes.has_value(), "a pyramid of an image of unknown size");
  if (height < 1 || height > 16) return Invalid("a pyramid of height ", height);
  Values parts;
  for (int64_t level = 0; level < height; ++level) {
    const int64_t cells = int64_t{1} << level;
    CaffePool pool;
    for (size_t i = 0; i < 2; ++i) {
      const int64_t size = (*sizes)[i], kernel = (size + cells - 1) / cells;
      pool.kernel.push_back(kernel);
      pool.strides.push_back(kernel);
      pool.begins.push_back((kernel * cells - size + 1) / 2);
    }
    pool.ends = pool.begins;
    parts.push_back(FlattenedRows(Pooled(a, x, pool, method)));
  }
  return Concat(a, parts, 1).value();
}

}  // namespace

X2IR_CAFFE(max_pool).From("Pooling", "pooling_param", Pooling).From("SPP", "spp_param", Spp);

}  // namespace x2ir
