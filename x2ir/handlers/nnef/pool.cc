// NNEF: pools and boxes.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnef/windows.h"

namespace x2ir {
namespace {

int64_t Volume(const std::vector<int64_t>& sizes) {
  return CheckedProduct(sizes).value_or(int64_t{1} << 40);
}

BorderedInput TakePool(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  const std::vector<int64_t> size = a.Integers("size");
  a.Require(static_cast<int64_t>(size.size()) == x.rank(), "a window of another rank");
  return WithBorder(a, x, TakeNnefWindow(a, size), 0);
}

Expr MaxOver(NnefArgs& a, const BorderedInput& input) {
  BorderedInput in = input;
  if (in.counts) {
    // Zeros in the border take part.
    std::vector<int64_t> pads = in.window.pads;
    in.x = in.x.Op("pad", {Ints(a, pads), in.x.Number(0)}, {{"mode", "constant"}});
    std::fill(in.window.pads.begin(), in.window.pads.end(), 0);
  }
  const PooledView view = ViewForPool(in.x, in.window);
  return BackFromView(MakePool(view.x, {view.window, PoolKind::kMax}), view);
}

Value* MaxPoolRow(NnefArgs& a) { return MaxOver(a, TakePool(a)); }
absl::StatusOr<Values> MaxPoolWithIndexRow(NnefArgs& a) {
  a.Require(!a.wants(1), "the places of the largest");
  return Values{MaxOver(a, TakePool(a)), nullptr};
}
Value* AvgPoolRow(NnefArgs& a) {
  const BorderedInput input = TakePool(a);
  return BoxOver(a, input.x, input, true);
}
Value* RmsPoolRow(NnefArgs& a) {
  const BorderedInput input = TakePool(a);
  return Sqrt(BoxOver(a, Square(input.x), input, true));
}
Value* BoxRow(NnefArgs& a) {
  const bool mean = a.Flag("normalize");
  const BorderedInput input = TakePool(a);
  return BoxOver(a, input.x, input, mean);
}
Value* AreaDownsampleRow(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  Window window;
  window.kernel = a.Integers("factor");
  a.Require(static_cast<int64_t>(window.kernel.size()) + 2 == x.rank(), "factors of other axes");
  window.strides = window.kernel;
  window.dilations.assign(window.kernel.size(), 1);
  window.pads.assign(2 * window.kernel.size(), 0);
  CheckWindow(a, window);
  return MakePool(x, {window, PoolKind::kAverage});
}

// --- Written -------------------------------------------------------------------------------------

std::vector<int64_t> WithTwo(const std::vector<int64_t>& spatial, int64_t number) {
  std::vector<int64_t> all = {number, number};
  all.insert(all.end(), spatial.begin(), spatial.end());
  return all;
}

template <bool kMax>
absl::StatusOr<Value*> ToPool(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  if (rank < 3) return CannotExpress("a pool without spatial axes");
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  if (w.wants(1)) return CannotExpress("places of the largest");
  X2IR_ASSIGN_OR_RETURN(const Window read, ReadWindow(w.attrs(), w.attrs().Ints("kernel_shape")));
  auto window = WithPads(read, w.shape(0));
  if (!window) return CannotExpress("pads that depend on the size");
  const bool counts = !kMax && w.Int("count_include_pad") != 0;
  for (size_t i = 0; window->ceil_mode && i < window->rank(); ++i) {
    const Dim size = (*w.shape(0))[static_cast<int64_t>(i) + 2];
    if (!size.is_static()) return CannotExpress("a size that is not known, rounded up");
    const LastWindow last = LastOf(*window, i, size.value(), true);
    // What the last window covers beyond the border becomes border, or the border ends with it.
    if (last.beyond > window->pad_end(i) && counts) {
      return CannotExpress("a mean that counts padding, of a window that reaches beyond it");
    }
    window->pads[i + window->rank()] = std::max<int64_t>(last.beyond, 0);
    X2IR_ASSIGN_OR_RETURN(const Dim out, OutputDim(read, i, size));
    Window exact = *window;
    exact.ceil_mode = false;
    X2IR_ASSIGN_OR_RETURN(const Dim written, OutputDim(exact, i, size));
    if (out != written) return CannotExpress("a last window that begins in the padding");
  }
  return w.Call(kMax ? "max_pool" : "avg_pool", {{"input", w.in(0)}},
                {{"size", WithTwo(window->kernel, 1)},
                 {"border", counts ? "constant" : "ignore"},
                 {"padding", PairsOfPads(TensorPads(*window))},
                 {"stride", WithTwo(window->strides, 1)},
                 {"dilation", WithTwo(window->dilations, 1)}});
}
template <bool kMax>
absl::StatusOr<Value*> ToGlobalPool(NnefWriter& w) {
  return ReduceSpatial(w, kMax ? "reduce_max" : "reduce_mean");
}

}  // namespace

Window TakeNnefWindow(NnefArgs& a, std::vector<int64_t> kernel) {
  Window window;
  const size_t n = kernel.size();
  window.kernel = std::move(kernel);
  window.strides = a.Integers("stride");
  window.dilations = a.Integers("dilation");
  if (window.strides.empty()) window.strides.assign(n, 1);
  if (window.dilations.empty()) window.dilations.assign(n, 1);
  const std::vector<int64_t> pairs = a.Integers("padding");
  if (pairs.empty()) {
    window.auto_pad = AutoPad::kSameUpper;
    window.pads.assign(2 * n, 0);
  } else {
    a.Require(pairs.size() == 2 * n, "padding of another number of axes");
    window.pads = PadsOfPairs(pairs);
  }
  a.Require(window.strides.size() == n && window.dilations.size() == n,
            "strides or dilations of another number of axes");
  CheckWindow(a, window);
  return window;
}

std::string PadMode(NnefArgs& a, std::string_view border) {
  if (border == "constant") return "constant";
  if (border == "replicate" || border == "replicated") return "edge";
  if (border == "reflect") return "reflect";
  a.Fail(Unimplemented("border '", border, "'"));
  return "";
}

BorderedInput WithBorder(NnefArgs& a, const Expr& x, Window window, int64_t first) {
  const std::string border = a.Text("border");
  // With numbers in place of what "" means.
  for (size_t i = 0; IsSame(window.auto_pad) && i < window.rank(); ++i) {
    const Dim size = DimAt(x, first + static_cast<int64_t>(i));
    a.Require(size.is_static() || window.strides[i] == 1,
              "automatic padding of an axis whose size is not known");
    window.SplitPads(
        i, SamePadding(size.is_static() ? size.value() : 1, window.extent(i), window.strides[i]),
        true);
  }
  window.auto_pad = AutoPad::kNotSet;
  if (border == "ignore" || border == "constant" || !window.padded()) {
    return {x, window, border == "constant" && window.padded()};
  }
  std::vector<int64_t> axes = CountedFrom(first, static_cast<int64_t>(window.rank()));
  const Expr padded =
      x.Op("pad", {Ints(a, window.pads), nullptr, Ints(a, axes)}, {{"mode", PadMode(a, border)}});
  std::fill(window.pads.begin(), window.pads.end(), 0);
  return {padded, window, false};
}

PooledView ViewForPool(const Expr& x, const Window& window) {
  const size_t n = window.rank();
  bool whole = n < 3;
  for (size_t i = 0; i < 2 && i < n; ++i) {
    whole = whole || window.kernel[i] != 1 || window.strides[i] != 1 || window.pads[i] != 0 ||
            window.pads[i + n] != 0;
  }
  if (whole) return {Unsqueeze(x, {0, 1}), window, true};
  const auto rest = [](const std::vector<int64_t>& all) {
    return std::vector<int64_t>(all.begin() + 2, all.end());
  };
  Window spatial = window;
  spatial.kernel = rest(window.kernel);
  spatial.strides = rest(window.strides);
  spatial.dilations = rest(window.dilations);
  spatial.pads = JoinPads(rest(window.begins()), rest(window.ends()));
  return {x, spatial, false};
}
Expr BackFromView(const Expr& y, const PooledView& view) {
  return view.is_whole ? Squeeze(y, {0, 1}) : y;
}

Expr BoxOver(NnefArgs& a, const Expr& x, const BorderedInput& input, bool mean) {
  const int64_t volume = Volume(input.window.kernel);
  a.Require(volume < (int64_t{1} << 31), "a window so large");
  const PooledView view = ViewForPool(x, input.window);
  // A sum has zeros in the border in any case.
  WindowPool pool{view.window, PoolKind::kAverage};
  pool.count_include_pad = input.counts || !mean;
  const Expr y = BackFromView(MakePool(view.x, pool), view);
  return mean ? y : Scaled(y, static_cast<double>(volume));
}

Expr SameBox(NnefArgs& a, const Expr& x, std::vector<int64_t> size) {
  Window window;
  a.Require(static_cast<int64_t>(size.size()) == x.rank(), "a window of another rank");
  window.kernel = std::move(size);
  window.strides.assign(window.rank(), 1);
  window.dilations.assign(window.rank(), 1);
  window.pads.assign(2 * window.rank(), 0);
  CheckWindow(a, window);
  for (size_t i = 0; i < window.rank(); ++i) window.SplitPads(i, window.extent(i) - 1, true);
  return BoxOver(a, x, {x, window, true}, true);
}

X2IR_NNEF(max_pool)
    .From("max_pool", MaxPoolRow)
    .From("max_pool_with_index", MaxPoolWithIndexRow)
    .To("max_pool", ToPool<true>);
X2IR_NNEF(average_pool)
    .From({{"avg_pool", AvgPoolRow},
           {"rms_pool", RmsPoolRow},
           {"box", BoxRow},
           {"area_downsample", AreaDownsampleRow}})
    .To("avg_pool", ToPool<false>);
X2IR_NNEF(global_max_pool).To("max_reduce", ToGlobalPool<true>);
X2IR_NNEF(global_average_pool).To("mean_reduce", ToGlobalPool<false>);

}  // namespace x2ir
