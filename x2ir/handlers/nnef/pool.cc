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

// --- Indices of maxima ---------------------------------------------------------------------------

// Whether a value is only the second operand of nodes that `is_user` names.
template <typename Fn>
bool IsOnlyIndexOf(const Value& indices, const Fn& is_user) {
  return !indices.is_graph_output() && std::ranges::all_of(indices.uses(), [&](const Use& use) {
    return use.index == 1 && is_user(*use.node);
  });
}

// Runtimes number elements differently. `sample` and `desample` over the window of the pool take
// any numbering, so theirs is the IR's.
void RequireSampled(NnefArgs& a, size_t output) {
  if (!a.wants(output)) return;
  const bool sampled = IsOnlyIndexOf(*a.node().output(output), [](const Node& user) {
    return user.op() == "sample" || user.op() == "desample";
  });
  a.Require(sampled, "indices of maxima that other operators than sample and desample use");
}

// Maxima and their indices, over the last axes or over all.
absl::StatusOr<Values> PlacedMaxima(NnefArgs& a) {
  const BorderedInput input = TakePool(a);
  a.Require(!input.counts && input.x.value() == a.Tensor("input").value(),
            "indices of maxima among the elements of a border; border 'ignore' has none");
  const PooledView view = ViewForPool(input.x, input.window);
  const Values both = a.b().Ops("max_pool", {view.x}, PoolAttrs(view.window), 2);
  return Values{BackFromView({a, both[0]}, view), BackFromView({a, both[1]}, view)};
}
absl::StatusOr<Values> MaxPoolWithIndexRow(NnefArgs& a) {
  RequireSampled(a, 1);
  if (!a.wants(1)) return Values{MaxOver(a, TakePool(a)), nullptr};
  return PlacedMaxima(a);
}
absl::StatusOr<Value*> ArgmaxPoolRow(NnefArgs& a) {
  RequireSampled(a, 0);
  X2IR_ASSIGN_OR_RETURN(const Values both, PlacedMaxima(a));
  return both[1];
}

bool IsSameWindow(const Window& x, const Window& y) {
  return x.kernel == y.kernel && x.strides == y.strides && x.dilations == y.dilations &&
         x.pads == y.pads;
}
// The pool that an index is from, with the tensor that it pooled as NNEF has it.
struct PoolOfIndex {
  const Node* pool;
  Expr pooled;
  PooledView view;  // of that tensor
};
absl::StatusOr<PoolOfIndex> TakePoolOfIndex(NnefArgs& a) {
  const Node* node = a.Tensor("index")->producer();
  const bool whole = node && node->Is("squeeze");
  if (whole) node = node->input(0)->producer();
  a.Require(node && node->Is("max_pool"), "an index that is not of a pool of the graph");
  Expr pooled(a, node->input(0));
  if (whole) pooled = Expr(a, pooled->producer()->input(0));
  const std::vector<int64_t> size = a.Integers("size");
  a.Require(static_cast<int64_t>(size.size()) == pooled.rank(), "a window of another rank");
  const BorderedInput input = WithBorder(a, pooled, TakeNnefWindow(a, size), 0);
  const PooledView view = ViewForPool(pooled, input.window);
  X2IR_ASSIGN_OR_RETURN(const Window window,
                        ReadWindow(node->attrs(), node->attrs().Ints("kernel_shape")));
  a.Require(view.is_whole == whole && IsSameWindow(view.window, window),
            "another window than that of the pool that gave the index");
  return PoolOfIndex{node, pooled, view};
}
bool IsSameShape(const Expr& x, const Expr& y) {
  if (x.value() == y.value()) return true;
  const auto of_x = KnownSizes(x), of_y = KnownSizes(y);
  return of_x && of_y && *of_x == *of_y;
}

absl::StatusOr<Value*> SampleRow(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  X2IR_ASSIGN_OR_RETURN(const PoolOfIndex from, TakePoolOfIndex(a));
  if (x.value() == from.pooled.value()) {
    return BackFromView(Expr(a, from.pool->output(0)), from.view);
  }
  a.Require(IsSameShape(x, from.pooled), "another shape than the pool's that gave the index");
  return Gather(Flat(x), a.Tensor("index"), 0);
}
// Windows that overlap may give an element twice, of which the standard says nothing.
absl::StatusOr<Value*> DesampleRow(NnefArgs& a) {
  const Expr x = a.Tensor("input"), index = a.Tensor("index");
  X2IR_ASSIGN_OR_RETURN(const PoolOfIndex from, TakePoolOfIndex(a));
  const Window& window = from.view.window;
  const auto sizes = KnownSizes(from.pooled);
  a.Require(sizes && IsSameShape(x, index), "a pool of unknown size, or of another shape");
  const std::vector<int64_t> shape = a.Integers("output_shape");
  const size_t first = from.view.is_whole ? 0 : 2;
  bool same = shape.empty() || shape == *sizes, exact = true;
  for (size_t i = 0; i < window.rank(); ++i) {
    a.Require(window.strides[i] >= window.extent(i), "desample of windows that overlap");
    const Dim covered = (DimAt(x, static_cast<int64_t>(first + i)) - 1) * Dim(window.strides[i]) +
                        Dim(window.extent(i) - window.pad_begin(i) - window.pad_end(i));
    exact = exact && window.extent(i) == window.kernel[i] && covered == Dim((*sizes)[first + i]);
    same = same && (!shape.empty() || covered == Dim((*sizes)[first + i]));
  }
  a.Require(same, "a result of another shape than what was pooled; output_shape says that of it");
  if (exact && !from.view.is_whole) {
    AttributeMap attrs = {{"kernel_shape", window.kernel}, {"strides", window.strides}};
    attrs.Set("pads", window.pads);
    return x.Op("max_unpool", {index}, std::move(attrs));
  }
  const Expr zeros = Zeros(a, x.dtype(), {Volume(*sizes)});
  return Reshape(ScatterElements(zeros, 0, Flat(index), Flat(x), "none"), *sizes);
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

AttributeMap PoolParameters(const Window& window) {
  return {{"size", WithTwo(window.kernel, 1)},
          {"border", "ignore"},
          {"padding", PairsOfPads(TensorPads(window))},
          {"stride", WithTwo(window.strides, 1)},
          {"dilation", WithTwo(window.dilations, 1)}};
}
// Indices are written for a `desample` of the same window alone: see RequireSampled.
absl::Status CheckUnpooled(NnefWriter& w) {
  const bool unpooled =
      w.Int("storage_order") == 0 &&
      IsOnlyIndexOf(*w.node().output(1), [](const Node& user) { return user.Is("max_unpool"); });
  return unpooled ? absl::OkStatus()
                  : CannotExpress("indices of maxima that other operators than max_unpool use");
}

template <bool kMax>
absl::StatusOr<Values> ToPool(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  if (rank < 3) return CannotExpress("a pool without spatial axes");
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  if (kMax && w.wants(1)) X2IR_RETURN_IF_ERROR(CheckUnpooled(w));
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
  // tract, which files with names for sizes are read as, never counts a border.
  Value* x = counts && window->padded() ? PadApart(w, *window, 0) : w.in(0);
  const bool places = kMax && w.wants(1);
  return w.CallAll(places ? "max_pool_with_index"
                   : kMax ? "max_pool"
                          : "avg_pool",
                   {{"input", x}}, PoolParameters(*window), places ? 2 : 1);
}
// Of a pool with the same window, whose operand is as large as the result.
absl::StatusOr<Value*> ToUnpool(NnefWriter& w) {
  const auto shape = w.out_type().shape() ? w.out_type().shape()->Static() : std::nullopt;
  const Node* pool = w.in(1)->producer();
  if (!pool || pool->op() != Symbol("max_pool_with_index")) {
    return CannotExpress("places that are not of a pool of the graph");
  }
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), w.attrs().Ints("kernel_shape")));
  const AttributeMap parameters = PoolParameters(window);
  for (const auto& [name, value] : parameters) {
    const Attribute* of_pool = pool->attrs().Find(name);
    if (!of_pool || *of_pool != value) return CannotExpress("another window than the pool's");
  }
  const Shape* pooled = pool->input(0)->shape();
  if (!shape || !pooled || pooled->Static() != shape) {
    return CannotExpress("another size than that of what was pooled, or one that is not known");
  }
  for (size_t i = 0; i < window.rank(); ++i) {
    if (window.strides[i] < window.kernel[i]) return CannotExpress("windows that overlap");
  }
  AttributeMap attrs = parameters;
  attrs.Set("output_shape", *shape);
  return w.Call("desample", {{"input", w.in(0)}, {"index", w.in(1)}}, std::move(attrs));
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

// The first and the last element are repeated, too, which no pad of the IR does.
Expr Mirrored(NnefArgs& a, Expr x, const std::vector<int64_t>& pads, int64_t first) {
  const size_t n = pads.size() / 2;
  for (size_t i = 0; i < n; ++i) {
    if (pads[i] == 0 && pads[i + n] == 0) continue;
    const int64_t axis = first + static_cast<int64_t>(i);
    const Dim size = DimAt(x, axis);
    a.Require(size.is_static() && std::min(pads[i], pads[i + n]) >= 0 &&
                  std::max(pads[i], pads[i + n]) <= size.value(),
              "border 'reflect-even' of more elements than there are, or of unknown size");
    std::vector<int64_t> from;
    for (int64_t k = -pads[i]; k < size.value() + pads[i + n]; ++k) {
      from.push_back(k < 0 ? -1 - k : k < size.value() ? k : 2 * size.value() - 1 - k);
    }
    x = Gather(x, Ints(a, from), axis);
  }
  return x;
}

Expr PaddedBy(NnefArgs& a, const Expr& x, const std::vector<int64_t>& pads, int64_t first,
              double value) {
  const std::string border = a.Text("border");
  if (border == "reflect-even") return Mirrored(a, x, pads, first);
  const bool constant = border == "constant", edge = border.starts_with("replicate");
  a.Require(constant || edge || border == "reflect", StrCat("border '", border, "'"));
  const auto n = static_cast<int64_t>(pads.size() / 2);
  const Expr axes = n == x.rank() ? Expr(nullptr) : Ints(a, CountedFrom(first, n));
  return x.Op("pad", {Ints(a, pads), constant ? x.Number(value) : Expr(nullptr), axes},
              {{"mode", constant ? "constant"
                        : edge   ? "edge"
                                 : "reflect"}});
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
  const Expr padded = PaddedBy(a, x, window.pads, first);
  std::fill(window.pads.begin(), window.pads.end(), 0);
  return {padded, window, false};
}

Window WithoutFirstTwo(const Window& window) {
  const auto rest = [](const std::vector<int64_t>& all) {
    return std::vector<int64_t>(all.begin() + 2, all.end());
  };
  Window spatial = window;
  spatial.kernel = rest(window.kernel);
  spatial.strides = rest(window.strides);
  spatial.dilations = rest(window.dilations);
  spatial.pads = JoinPads(rest(window.begins()), rest(window.ends()));
  return spatial;
}

PooledView ViewForPool(const Expr& x, const Window& window) {
  const size_t n = window.rank();
  bool whole = n < 3;
  for (size_t i = 0; i < 2 && i < n; ++i) {
    whole = whole || window.kernel[i] != 1 || window.strides[i] != 1 || window.pads[i] != 0 ||
            window.pads[i + n] != 0;
  }
  if (whole) return {Unsqueeze(x, {0, 1}), window, true};
  return {x, WithoutFirstTwo(window), false};
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
    .From({{"max_pool_with_index", MaxPoolWithIndexRow},
           {"argmax_pool", ArgmaxPoolRow},
           {"sample", SampleRow}})
    .To("max_pool", ToPool<true>);
X2IR_NNEF(max_unpool).From("desample", DesampleRow).To("desample", ToUnpool);
X2IR_NNEF(average_pool)
    .From({{"avg_pool", AvgPoolRow},
           {"rms_pool", RmsPoolRow},
           {"box", BoxRow},
           {"area_downsample", AreaDownsampleRow}})
    .To("avg_pool", ToPool<false>);
X2IR_NNEF(global_max_pool).To("max_reduce", ToGlobalPool<true>);
X2IR_NNEF(global_average_pool).To("mean_reduce", ToGlobalPool<false>);

}  // namespace x2ir
