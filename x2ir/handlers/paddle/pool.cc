// Pools.
#include <algorithm>

#include "x2ir/builder/layers/adaptive_pool.h"
#include "x2ir/handlers/paddle/nn.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// Windows of rounded up results as pads at the ends, where sizes are known: the kernels have other
// rules than runtimes for elements past the padding.
void RoundUp(PaddleArgs& a, const Expr& x, Window* window) {
  const Window given = *window;
  const int64_t from = given.axis(0);
  const auto in = KnownSizes(x, from, from + static_cast<int64_t>(given.rank()));
  window->ceil_mode = !in;
  for (size_t i = 0; i < given.rank(); ++i) {
    if (!in) {
      a.Require(LastBeginsInside(given, i, Dim()),
                "ceil_mode with windows that may lie beyond an input of unknown size");
      continue;
    }
    const LastWindow last = LastOf(given, i, (*in)[i], /*within=*/false);
    window->pads[given.rank() + i] = std::max<int64_t>(last.beyond, 0);
    a.Require(last.begin < (*in)[i], "a window beyond the input");
  }
}

// SAME has a window for each step, so that nothing is left to be rounded up. Windows that are
// smaller than their steps are the exception: there may be one more, beyond the input.
void RequireNoWindowBeyond(PaddleArgs& a, const Expr& x, const Window& window) {
  for (size_t i = 0; i < window.rank(); ++i) {
    if (window.kernel[i] >= window.strides[i]) continue;
    const Dim in = DimAt(x, window.axis(i));
    a.Require(in.is_static() && (in.value() - 1) % window.strides[i] < window.kernel[i],
              "ceil_mode of SAME with a window that may lie beyond the input");
  }
}

Expr Adaptive(PaddleArgs& a, const Expr& given, bool last, const std::string& type,
              const std::vector<Size>& sizes) {
  const int64_t rank = a.Rank(given);
  const Expr x = last ? MoveAxis(given, rank - 1, 1) : given;
  Expr y = x;
  if (std::all_of(sizes.begin(), sizes.end(), [](const Size& size) { return size.number == 1; })) {
    y = x.Op(type == "avg" ? "global_average_pool" : "global_max_pool");
  } else {
    y = type == "avg" ? AdaptiveAverage(a, x, sizes) : AdaptiveMax(a, x, sizes).values;
  }
  return last ? MoveAxis(y, 1, rank - 1) : y;
}

Expr SlidingPool(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t rank = a.Rank(x);
  a.Require(rank >= 3, "an input with axes of space");
  const auto spatial = static_cast<size_t>(rank - 2);
  const bool last = ChannelsLast(a);
  const std::string type = a.String("pooling_type", "max");
  a.Require(type == "max" || type == "avg", StrCat("a pool ", type));
  std::vector<Size> sizes = a.Sizes("ksize", {});
  if (sizes.size() == 1) sizes.resize(spatial, sizes[0]);
  if (sizes.size() != spatial) a.Fail(Invalid("a window of other axes"));
  const bool global = a.Bool("global_pooling", false), adaptive = a.Bool("adaptive", false);
  const bool exclusive = a.Bool("exclusive", true), ceil = a.Bool("ceil_mode", false);
  WindowPool pool;
  pool.kind = type == "max" ? PoolKind::kMax : PoolKind::kAverage;
  pool.count_include_pad = !exclusive;
  Window& window = pool.window;
  window.channels_last = last;
  window.strides = a.Ints("strides", std::vector<int64_t>(spatial, 1));
  if (window.strides.size() == 1) window.strides.resize(spatial, window.strides[0]);
  RequireSteps(a, window.strides, spatial);
  TakePaddings(a, spatial, &window);
  if (global) {
    return GlobalPool(a, x, pool.kind, last);
  }
  if (adaptive) return Adaptive(a, x, last, type, sizes);
  for (const Size& size : sizes) {
    a.Require(size.number.has_value(), "a computed window");
    window.kernel.push_back(*size.number);
  }
  RequireSteps(a, window.kernel, spatial);
  const bool same = IsSame(window.auto_pad);
  if (ceil && same) RequireNoWindowBeyond(a, x, window);
  window.ceil_mode = ceil && !same;
  if (window.ceil_mode) RoundUp(a, x, &window);
  a.Require(type == "max" || exclusive || !window.ceil_mode,
            "ceil_mode of an input of unknown size");
  return MakePool(x, pool);
}

// Maxima with their places in a channel of an image.
PaddleResults PoolWithIndex(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t rank = a.Rank(x);
  a.Require(rank >= 3, "an input with axes of space");
  const auto spatial = static_cast<size_t>(rank - 2);
  const std::vector<int64_t> kernel = a.Ints("ksize");
  const std::vector<int64_t> strides = a.Ints("strides", std::vector<int64_t>(spatial, 1));
  const std::vector<int64_t> paddings = a.Ints("paddings", std::vector<int64_t>(spatial, 0));
  RequireSteps(a, kernel, spatial);
  RequireSteps(a, strides, spatial);
  const bool adaptive = a.Bool("adaptive", false), ceil = a.Bool("ceil_mode", false);
  a.Require(
      a.Ints("dilations", {1, 1}) == std::vector<int64_t>(a.Ints("dilations", {1, 1}).size(), 1),
      "dilated windows");
  const DType index = DType::kInt64;
  const std::string flat = rank == 4 ? "2d" : "3d";
  Values both;
  if (a.Bool("global_pooling", false)) {
    const Expr rows = ReshapeTo(x, {SizeAt(x, 0), SizeAt(x, 1), Size(-1)});
    const Values found = {Reduce(rows, "reduce_max", {2}),
                          rows.Op("arg_max", {}, {{"axis", 2}, {"keepdims", 0}})};
    for (Value* each : found)
      both.push_back(Unsqueeze(Expr(a.b(), each), CountedFrom(2, rank - 2)));
  } else if (adaptive) {
    both = AsTorch(a, StrCat("aten::adaptive_max_pool", flat, ".default"),
                   {{"self", x}, {"output_size", Attribute(kernel)}},
                   std::vector<DType>{x.dtype(), a.Wants("Mask") ? index : DType::kUndefined});
  } else {
    both = AsTorch(a, StrCat("aten::max_pool", flat, "_with_indices.default"),
                   {{"self", x},
                    {"kernel_size", Attribute(kernel)},
                    {"stride", Attribute(strides)},
                    {"padding", Attribute(paddings)},
                    {"ceil_mode", ceil}},
                   std::vector<DType>{x.dtype(), a.Wants("Mask") ? index : DType::kUndefined});
  }
  PaddleResults results = {{"Out", {both[0]}}};
  if (a.Wants("Mask")) results.push_back({"Mask", {a.Cast(both[1], DType::kInt32)}});
  return results;
}

// Elements at the places that a pool found, zeros elsewhere.
Expr Unpool(PaddleArgs& a) {
  const Expr x = a.X(), places = a.X("Indices");
  const int64_t rank = a.Rank(x);
  a.String("unpooling_type", "max");
  a.Require(!ChannelsLast(a), "channels last");
  a.Require(rank >= 3, "an input with axes of space");
  std::vector<Size> out = a.Sizes("output_size", {});
  const std::vector<int64_t> kernel = a.Ints("ksize"), strides = a.Ints("strides"),
                             paddings = a.Ints("paddings");
  const auto spatial = static_cast<size_t>(rank - 2);
  RequireSteps(a, kernel, spatial);
  RequireSteps(a, strides, spatial);
  a.Require(paddings.size() == spatial, "paddings of other axes");
  if (out.empty()) {
    for (size_t i = 0; i < kernel.size(); ++i) {
      const Size size = SizeAt(x, 2 + static_cast<int64_t>(i));
      out.push_back(
          Plus(a, Times(a, Minus(a, size, 1), strides[i]), Size(kernel[i] - 2 * paddings[i])));
    }
  }
  if (out.size() > static_cast<size_t>(rank - 2)) out.erase(out.begin(), out.end() - (rank - 2));
  std::vector<Size> plane = {SizeAt(x, 0), SizeAt(x, 1)}, all = plane;
  all.insert(all.end(), out.begin(), out.end());
  const Size count = Product(a, out);
  const Expr zeros = Filled(a, x.dtype(), {plane[0], plane[1], count}, 0);
  const auto rows = [&](const Expr& v) {
    return ReshapeTo(v, {plane[0], plane[1], Product(a, SizesAt(x, 2, rank))});
  };
  return ReshapeTo(ScatterElements(zeros, 2, rows(places).To(DType::kInt64), rows(x), "none"), all);
}

Expr LpPool(PaddleArgs& a) {
  const Expr x = a.X();
  const std::vector<int64_t> kernel = a.KnownList("ksize", {});
  const std::vector<int64_t> strides = a.Ints("strides", kernel);
  const double p = a.Number("norm_type", 2);
  a.Require(p == 1 || p == 2, "a norm of another power");
  a.Require(!a.Bool("ceil_mode", false) && !a.Bool("global_pooling", false) &&
                !a.Bool("adaptive", false) && a.String("data_format", "NCHW") == "NCHW",
            "other windows");
  for (const char* name : {"exclusive", "pooling_type", "padding_algorithm"}) a.Ignore(name);
  std::vector<int64_t> pads = a.Ints("paddings", {0, 0});
  a.Require(std::count(pads.begin(), pads.end(), 0) == static_cast<std::ptrdiff_t>(pads.size()),
            "padding");
  // Of signed numbers: powers are summed up as they are.
  const Expr powers = p == 1 ? x : Square(x);
  const Expr mean = powers.Op("average_pool", {}, {{"kernel_shape", kernel}, {"strides", strides}});
  const Expr sum = mean * static_cast<double>(*CheckedProduct(kernel));
  return p == 1 ? sum : Sqrt(sum);
}

}  // namespace

X2IR_PADDLE(average_pool).From({"pool2d", "pool3d"}, SlidingPool);
X2IR_PADDLE(max_pool).From({"max_pool2d_with_index", "max_pool3d_with_index"}, PoolWithIndex);
X2IR_PADDLE(max_unpool).From({"unpool", "unpool3d"}, Unpool);
X2IR_PADDLE(lp_pool).From("lp_pool2d", LpPool);

}  // namespace x2ir
