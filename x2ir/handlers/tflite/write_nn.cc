// TFLite: convolutions, products of matrices, pools and norms, written. Channels are last.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/layout.h"

namespace x2ir {
namespace {

using Pads = std::vector<int64_t>;

bool IsChannelsLast(TfliteWriter& w) { return w.String("layout") == "channels_last"; }

using NnForm = absl::StatusOr<Values> (*)(TfliteWriter&);

// The op with its channels last, between transposes. What `form` refuses then is refused here, so
// that it is tried in other ways with its channels first.
absl::StatusOr<Values> WithChannelsLast(TfliteWriter& w, NnForm form) {
  X2IR_ASSIGN_OR_RETURN(Values values, InLayout(w.b(), w.node(), "channels_last"));
  for (Node* made : w.b().made()) {
    if (made->op() != w.node().op()) continue;
    // A form may give a weight's name to the one that it makes of it.
    std::vector<std::pair<Value*, std::string>> names;
    for (Value* v : made->inputs()) {
      if (v) names.emplace_back(v, v->name());
    }
    const absl::Status status = w.TryOn(*made, form);
    for (const auto& [v, name] : names) {
      if (v->name() != name) v->graph()->Rename(v, name);
    }
    X2IR_RETURN_IF_ERROR(status);
  }
  return values;
}

// A vector of channels so that it broadcasts.
Value* OfChannels(TfliteWriter& w, Value* v, int64_t rank) {
  if (IsChannelsLast(w) || rank <= 2) return v;
  std::vector<int64_t> axes(static_cast<size_t>(rank) - 2);
  std::iota(axes.begin(), axes.end(), 1);
  return w.Op("unsqueeze", {v, w.Ints(axes)});
}

// --- Windows ------------------------------------------------------------------------------------

struct LiteWindow : Window {
  // What SAME would add; nullopt where sizes are not known and it depends on them.
  std::optional<Pads> same;
  bool is_same() const { return same && pads == *same; }
  bool is_valid() const { return !padded(); }
};

// x has its channels last. Rounded up, or automatic pads become such as give these results.
absl::StatusOr<LiteWindow> ReadLiteWindow(TfliteWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(const Window given, ReadWindow(w.attrs(), std::move(kernel)));
  const std::optional<Window> padded = WithPads(given, w.shape());
  if (!padded) return CannotExpress("automatic pads of unknown sizes");
  LiteWindow window{*padded, std::nullopt};
  Window automatic = given;
  automatic.auto_pad = AutoPad::kSameUpper;
  if (const auto same = WithPads(std::move(automatic), w.shape())) window.same = same->pads;
  return window;
}

const char* PaddingName(const LiteWindow& window) { return window.is_valid() ? "VALID" : "SAME"; }

// x with `value` around it where no padding of TFLite adds the same.
Value* PadLiteApart(TfliteWriter& w, LiteWindow& window, double value) {
  return window.is_valid() || window.is_same() ? w.in(0) : PadApart(w, window, value);
}

void SetHw(AttributeMap* attrs, const std::vector<int64_t>& all, std::string_view before,
           std::string_view behind = "") {
  static constexpr const char* kAxes[] = {"d", "h", "w"};
  for (size_t i = 0; i < all.size(); ++i) {
    attrs->Set(StrCat(before, kAxes[3 - all.size() + i], behind), all[i]);
  }
}

// --- Convolutions -------------------------------------------------------------------------------

bool IsDense(const Value* v) {
  const Tensor* constant = v ? v->fixed_constant() : nullptr;
  return constant && !constant->is_sparse();
}

// The constant that the value is dequantized from; null: it is something else.
Value* IntegersOf(const Value* v) {
  const Node* scaled = v->producer();
  const bool is_one = scaled && scaled->dialect() == Symbol(tflite::kDialect) &&
                      scaled->op() == "DEQUANTIZE" && IsDense(scaled->input(0));
  return is_one ? scaled->input(0) : nullptr;
}

Value* Relaid(TfliteWriter& w, Value* x, const std::vector<int64_t>& perm) {
  const Tensor* constant = x->fixed_constant();
  Value* made = w.b().Constant(TransposeWeight(*constant, perm), x->name());
  if (x->graph() == &w.b().graph()) w.b().graph().SwapNames(x, made);
  return made;
}

// A constant at once, one of integers that are dequantized, too, else a transpose.
Value* WithOrder(TfliteWriter& w, Value* x, const std::vector<int64_t>& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  if (IsDense(x)) return Relaid(w, x, perm);
  if (Value* integers = IntegersOf(x)) {
    const auto q = tflite::QuantizationOf(*integers);
    if (q.ok() && *q && (*q)->block_size == 0) {
      Value* relaid = Relaid(w, integers, perm);
      tflite::Quantization moved = **q;
      if (moved.scales.size() > 1) {
        moved.axis = std::find(perm.begin(), perm.end(), moved.axis) - perm.begin();
      }
      tflite::SetQuantization(*relaid, moved);
      return w.Tflite(
          "DEQUANTIZE", {relaid}, {},
          Type::Tensor(DType::kFloat32, Shape::FromInts(relaid->fixed_constant()->dims())));
    }
  }
  return w.Op("transpose", {x}, {{"perm", perm}});
}

absl::StatusOr<std::vector<int64_t>> KernelShape(TfliteWriter& w) {
  const auto known = w.shape(1) ? w.shape(1)->Static() : std::nullopt;
  if (!known) return CannotExpress("weights of unknown shape");
  return *known;
}

// A dense constant, or nothing.
const Tensor* DenseKernel(const Value* v) { return IsDense(v) ? v->fixed_constant() : nullptr; }

// Dilated kernels are larger ones with zeros between: of convolutions, and of transposed ones.
absl::StatusOr<Values> WithZerosBetween(TfliteWriter& w, const std::vector<int64_t>& dilations) {
  const Tensor* kernel = DenseKernel(w.in(1));
  if (!kernel || BitWidth(kernel->dtype()) < 8) return CannotExpress("dilations");
  std::vector<int64_t> dims = kernel->dims();
  for (size_t i = 0; i < dilations.size(); ++i) {
    dims[i + 2] = (dims[i + 2] - 1) * dilations[i] + 1;
  }
  constexpr int64_t kMaxElements = int64_t{1} << 24;
  const auto count = CheckedProduct(dims);
  if (!count || *count > kMaxElements) return CannotExpress("dilations");
  Tensor wide = Tensor::Zeros(kernel->dtype(), dims);
  const size_t width = static_cast<size_t>(BitWidth(kernel->dtype())) / 8;
  const auto from = kernel->bytes();
  const auto to = wide.mutable_bytes();
  std::vector<int64_t> index(dims.size());
  for (int64_t k = 0; k < kernel->num_elements(); ++k) {
    int64_t rest = k, at = 0, step = 1;
    for (size_t axis = dims.size(); axis-- > 0;) {
      const int64_t place = rest % kernel->dim(static_cast<int64_t>(axis));
      rest /= kernel->dim(static_cast<int64_t>(axis));
      at += step * place * (axis < 2 ? 1 : dilations[axis - 2]);
      step *= dims[axis];
    }
    std::copy_n(from.data() + static_cast<size_t>(k) * width, width,
                to.data() + static_cast<size_t>(at) * width);
  }
  std::vector<Value*> operands = w.node().inputs();
  operands[1] = w.b().Constant(std::move(wide), w.in(1)->name());
  AttributeMap attrs = w.attrs();
  attrs.Set("dilations", std::vector<int64_t>(dilations.size(), 1));
  return Values{w.Op(w.node().op(), std::move(operands), std::move(attrs))};
}

// One plane of a kernel of three axes: [out, in, height, width].
Value* PlaneOfKernel(TfliteWriter& w, int64_t plane) {
  const Tensor* whole = DenseKernel(w.in(1));
  if (!whole || BitWidth(whole->dtype()) < 8) {
    return w.Op("gather", {w.in(1), w.b().Int(plane)}, {{"axis", 2}});
  }
  const std::vector<int64_t>& dims = whole->dims();
  Tensor part = Tensor::Zeros(whole->dtype(), {dims[0], dims[1], dims[3], dims[4]});
  const size_t size = static_cast<size_t>(dims[3] * dims[4] * BitWidth(whole->dtype()) / 8);
  const auto from = whole->bytes();
  const auto to = part.mutable_bytes();
  for (int64_t i = 0; i < dims[0] * dims[1]; ++i) {
    std::copy_n(from.data() + static_cast<size_t>(i * dims[2] + plane) * size, size,
                to.data() + static_cast<size_t>(i) * size);
  }
  return w.b().Constant(std::move(part));
}

// CONV_3D reads outside of its operand where it is dilated, and has no groups: the sum of what each
// plane of the kernel gives of the planes that it meets, which are images of two axes.
absl::StatusOr<Values> ConvOfPlanes(TfliteWriter& w, const LiteWindow& window) {
  const Shape &in = *w.shape(), *known = w.out_type().shape();
  if (!known) return CannotExpress("a result of unknown rank");
  const Shape& out = *known;
  for (int64_t axis = 1; axis < 5; ++axis) {
    if (!in[axis].is_static() || !out[axis].is_static()) {
      return CannotExpress("groups or dilations of three axes of unknown sizes");
    }
  }
  const int64_t planes = out[1].value(), step = window.strides[0];
  if (planes < 1) return CannotExpress("a result without planes");
  Value* x = w.in(0);
  const Pads& pads = window.pads;
  if (pads[0] != 0 || pads[3] != 0) {
    x = w.Op("pad", {x, w.Ints({pads[0], pads[3]}), w.Number(w.dtype(), 0), w.Ints({1})});
  }
  const auto images = [&](const Dim& first, const Dim& count) {
    return first.is_static() ? first.value() * count.value() : -1;
  };
  const AttributeMap attrs = {{"layout", "channels_last"},
                              {"group", w.Int("group")},
                              {"strides", {window.strides[1], window.strides[2]}},
                              {"dilations", {window.dilations[1], window.dilations[2]}},
                              {"pads", {pads[1], pads[2], pads[4], pads[5]}}};
  Value* sum = nullptr;
  for (int64_t plane = 0; plane < window.kernel[0]; ++plane) {
    const int64_t begin = plane * window.dilations[0], end = begin + (planes - 1) * step + 1;
    Value* met = w.Op("slice", {x, w.Ints({begin}), w.Ints({end}), w.Ints({1}), w.Ints({step})});
    met = w.Reshape(met, {images(in[0], out[1]), in[2].value(), in[3].value(), in[4].value()});
    std::vector<Value*> operands = {met, PlaneOfKernel(w, plane)};
    if (!sum && w.has(2)) operands.push_back(w.in(2));
    Value* part = w.Op("conv", std::move(operands), attrs);
    sum = sum ? w.Op("add", {sum, part}) : part;
  }
  const int64_t batch = out[0].is_static() ? out[0].value() : -1;
  return Values{w.Reshape(sum, {batch, planes, out[2].value(), out[3].value(), out[4].value()})};
}

absl::StatusOr<Values> ToConv(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> weights, KernelShape(w));
  const int64_t group = w.Int("group");
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToConv);
  if (rank == 3) return Values{WithTwoSpatialAxes(w, true)};
  X2IR_ASSIGN_OR_RETURN(LiteWindow window, ReadLiteWindow(w, {weights.begin() + 2, weights.end()}));
  if (rank == 5 && (window.dilated() || group != 1)) {
    absl::StatusOr<Values> planes = ConvOfPlanes(w, window);
    return planes.ok() || group != 1 ? planes : WithZerosBetween(w, window.dilations);
  }
  Value* x = PadLiteApart(w, window, 0);
  AttributeMap attrs = {{"padding", PaddingName(window)}};
  SetHw(&attrs, window.strides, "stride_");
  SetHw(&attrs, window.dilations, "dilation_", "_factor");
  Value* bias = w.in(2);
  if (!bias) bias = w.b().Constant(Tensor::Zeros(w.dtype(), {weights[0]}));
  if (rank == 5) {
    Value* kernel = WithOrder(w, w.in(1), {2, 3, 4, 1, 0});
    return Values{w.Tflite("CONV_3D", {x, kernel, bias}, std::move(attrs))};
  }
  // Depthwise kernels have one row of channels, even where there is but one.
  if (group > 1 && weights[1] == 1) {
    attrs.Set("depth_multiplier", weights[0] / group);
    Value* kernel = WithOrder(w, w.in(1), {1, 2, 3, 0});
    return Values{w.Tflite("DEPTHWISE_CONV_2D", {x, kernel, bias}, std::move(attrs))};
  }
  Value* kernel = WithOrder(w, w.in(1), {0, 2, 3, 1});
  return Values{w.Tflite("CONV_2D", {x, kernel, bias}, std::move(attrs))};
}

// How a transposed convolution cuts its whole result, of (n - 1) * stride + kernel places; of one
// axis. Nothing of it depends on n.
struct LiteCut {
  int64_t stride, kernel;
  int64_t begin;  // places that go at the begin
  int64_t more;   // of the result than of the whole; negative: fewer
  // Of a SAME or VALID convolution from the result back to the operand.
  bool is_same() const {
    const int64_t last = kernel + more;
    return last > 0 && last <= stride && begin == std::max<int64_t>(0, -more) / 2;
  }
  bool is_valid() const { return begin == 0 && more >= 0 && more < stride; }
  // A VALID one of which the pads are cut off has the whole and what is behind it.
  int64_t behind() const { return std::max<int64_t>(0, begin + more); }
  bool is_cut_of_valid() const { return begin >= 0 && behind() < stride; }
  // Places of the result for n of the operand are n * stride and these.
  int64_t rest(bool whole) const { return kernel - stride + (whole ? behind() : more); }
};

absl::StatusOr<std::vector<LiteCut>> ReadLiteCuts(TfliteWriter& w, const Shape& in,
                                                  const Shape& out,
                                                  const std::vector<int64_t>& weights) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), {weights.begin() + 2, weights.end()}));
  const size_t n = window.rank();
  const std::vector<int64_t> added = w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0));
  const bool sized = w.attrs().Has("output_shape"),
             stated = window.auto_pad == AutoPad::kNotSet && !sized;
  const bool odd_at_end =
      sized ? window.auto_pad == AutoPad::kSameUpper : window.auto_pad != AutoPad::kSameLower;
  std::vector<LiteCut> cuts;
  for (size_t i = 0; i < n; ++i) {
    const Dim &places = in[static_cast<int64_t>(i) + 1], &size = out[static_cast<int64_t>(i) + 1];
    int64_t more = added[i] - window.pad_begin(i) - window.pad_end(i);
    if (!stated && !(places.is_static() && size.is_static())) {
      return CannotExpress("results of unknown sizes");
    }
    if (!stated) {
      more = size.value() - (places.value() - 1) * window.strides[i] - window.kernel[i];
      window.SplitPads(i, std::max<int64_t>(0, -more), odd_at_end);
    }
    cuts.push_back({window.strides[i], window.kernel[i], window.pad_begin(i), more});
  }
  return cuts;
}

// Kernels of every group apart, the results side by side.
absl::StatusOr<Values> OfGroups(TfliteWriter& w) {
  constexpr int64_t kMaxGroups = 256;
  const int64_t groups = w.Int("group");
  if (groups > kMaxGroups) return CannotExpress(groups, " groups");
  const int64_t axis = IsChannelsLast(w) ? w.shape()->rank() - 1 : 1;
  // Parts of a constant are constants, which lie where it does.
  const auto parts = [&](size_t operand, int64_t along) -> absl::StatusOr<Values> {
    const Tensor* whole = DenseKernel(w.in(operand));
    if (!whole || along != 0 || whole->dim(0) % groups != 0) {
      return w.b().Ops("split", {w.in(operand)}, {{"axis", along}}, static_cast<size_t>(groups));
    }
    std::vector<int64_t> dims = whole->dims();
    dims[0] /= groups;
    const size_t size = whole->nbytes() / static_cast<size_t>(groups);
    Values all;
    for (size_t i = 0; i < static_cast<size_t>(groups); ++i) {
      X2IR_ASSIGN_OR_RETURN(
          Tensor part, Tensor::View(whole->dtype(), dims, whole->bytes().subspan(size * i, size),
                                    std::make_shared<const Tensor>(*whole)));
      all.push_back(w.b().Constant(std::move(part)));
    }
    return all;
  };
  AttributeMap attrs = w.attrs();
  attrs.Set("group", 1);
  X2IR_ASSIGN_OR_RETURN(const Values xs, parts(0, axis));
  X2IR_ASSIGN_OR_RETURN(const Values kernels, parts(1, 0));
  Values biases;
  if (w.has(2)) {
    X2IR_ASSIGN_OR_RETURN(biases, parts(2, 0));
  }
  std::vector<Value*> results;
  for (size_t i = 0; i < static_cast<size_t>(groups); ++i) {
    std::vector<Value*> operands = {xs[i], kernels[i]};
    if (w.has(2)) operands.push_back(biases[i]);
    results.push_back(w.Op("conv_transpose", std::move(operands), attrs));
  }
  return Values{w.Op("concat", std::move(results), {{"axis", axis}})};
}

// Pads that are neither SAME nor VALID are cut off a VALID one.
absl::StatusOr<Values> ToConvTranspose(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> weights, KernelShape(w));
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  if (w.Int("group") != 1) return OfGroups(w);
  const std::vector<int64_t> dilations = w.attrs().Ints("dilations", {});
  for (const int64_t d : dilations) {
    if (d != 1) return WithZerosBetween(w, dilations);
  }
  if (w.attrs().Has("output_shape") && rank == 3) return CannotExpress("an output_shape");
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToConvTranspose);
  if (rank == 3) return Values{WithTwoSpatialAxes(w, true)};
  const Shape *in = w.shape(), *out = w.out_type().shape();
  if (!in || !out) return CannotExpress("results of unknown sizes");
  X2IR_ASSIGN_OR_RETURN(const std::vector<LiteCut> cuts, ReadLiteCuts(w, *in, *out, weights));
  const auto all = [&](bool (LiteCut::*is)() const) {
    return std::all_of(cuts.begin(), cuts.end(), [&](const LiteCut& c) { return (c.*is)(); });
  };
  // Of three axes LiteRT puts what SAME cuts off to the wrong side.
  const bool same = rank != 5 && all(&LiteCut::is_same), cut = !same && !all(&LiteCut::is_valid);
  if (cut && !all(&LiteCut::is_cut_of_valid)) return CannotExpress("that padding");
  const int64_t channels = weights[1];
  Shape whole = Shape::UnknownDims(rank);
  whole[0] = (*in)[0];
  whole[rank - 1] = Dim(channels);
  std::vector<int64_t> factors = {1}, rests = {0}, strides, axes;
  for (int64_t i = 0; i + 2 < rank; ++i) {
    const LiteCut& each = cuts[static_cast<size_t>(i)];
    strides.push_back(each.stride);
    axes.push_back(i + 1);
    factors.push_back(each.stride);
    rests.push_back(each.rest(cut));
    whole[i + 1] = (*in)[i + 1] * Dim(each.stride) + Dim(rests.back());
  }
  factors.push_back(0);
  rests.push_back(channels);
  Value* shape = nullptr;
  if (const auto known = whole.Static()) {
    shape = w.Int32s(*known);
  } else {
    shape = w.Tflite("SHAPE", {w.in(0)}, {{"out_type", "INT32"}},
                     Type::Tensor(DType::kInt32, Shape({Dim(rank)})));
    shape = w.Op("add", {w.Op("mul", {shape, w.Int32s(factors)}), w.Int32s(rests)});
  }
  AttributeMap attrs = {{"padding", same ? "SAME" : "VALID"}};
  SetHw(&attrs, strides, "stride_");
  const std::vector<int64_t> order =
      rank == 5 ? std::vector<int64_t>{2, 3, 4, 1, 0} : std::vector<int64_t>{1, 2, 3, 0};
  std::vector<Value*> operands = {shape, WithOrder(w, w.in(1), order), w.in(0)};
  if (w.has(2)) operands.push_back(w.in(2));
  Value* y = w.Tflite(rank == 5 ? "CONV_3D_TRANSPOSE" : "TRANSPOSE_CONV", std::move(operands),
                      std::move(attrs), Type::Tensor(w.dtype(), std::move(whole)));
  if (!cut) return Values{y};
  std::vector<int64_t> begins, ends;
  for (const LiteCut& each : cuts) {
    const int64_t goes = std::max<int64_t>(0, -(each.begin + each.more));
    begins.push_back(each.begin);
    ends.push_back(goes == 0 ? std::numeric_limits<int64_t>::max() : -goes);
  }
  return Values{w.Op("slice", {y, w.Ints(begins), w.Ints(ends), w.Ints(axes)})};
}

// --- Pools --------------------------------------------------------------------------------------

absl::StatusOr<std::pair<Pads, Pads>> PlacesOf(TfliteWriter& w) {
  const Shape *in = w.shape(), *out = w.out_type().shape();
  std::pair<Pads, Pads> sizes;
  for (int64_t i = 1; in && out && i + 1 < in->rank(); ++i) {
    if (!(*in)[i].is_static() || !(*out)[i].is_static()) break;
    sizes.first.push_back((*in)[i].value());
    sizes.second.push_back((*out)[i].value());
  }
  if (!in || sizes.first.size() + 2 != static_cast<size_t>(in->rank())) {
    return CannotExpress("sizes that are not known");
  }
  return sizes;
}

// The last window of a result that is rounded up may begin before the end and reach beyond it.
absl::Status ReachLastWindow(TfliteWriter& w, LiteWindow& window) {
  X2IR_ASSIGN_OR_RETURN(const auto sizes, PlacesOf(w));
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t reach = (sizes.second[i] - 1) * window.strides[i] + window.kernel[i];
    window.pads[i + window.rank()] =
        std::max<int64_t>(0, reach - sizes.first[i] - window.pad_begin(i));
  }
  return absl::OkStatus();
}

// In each window, how many elements a mean counts; of one axis.
std::vector<double> CountsOf(const LiteWindow& window, size_t axis, int64_t in, int64_t out,
                             int64_t pad_begin, int64_t pad_end) {
  std::vector<double> counts;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t from = i * window.strides[axis] - window.pad_begin(axis);
    const int64_t to = std::min(from + window.kernel[axis], in + pad_end);
    counts.push_back(static_cast<double>(to - std::max(from, -pad_begin)));
  }
  return counts;
}

// What no maximum is less than.
double LeastOf(DType t) {
  if (!IsInteger(t)) return -std::numeric_limits<double>::infinity();
  return IsSignedInt(t) ? -std::ldexp(1.0, BitWidth(t) - 1) : 0;
}

// Windows of three axes, of the last two first: maxima are maxima of maxima, and as many elements
// are in a window as the product of those along each axis.
absl::StatusOr<Values> AxesApart(TfliteWriter& w) {
  const Shape* out_shape = w.out_type().shape();
  const auto in = w.shape()->Static(), out = out_shape ? out_shape->Static() : std::nullopt;
  if (!in || !out) return CannotExpress("windows of three axes of unknown sizes");
  const auto part = [&](size_t from, size_t to) {
    AttributeMap attrs = w.attrs();
    for (auto& [name, attr] : attrs) {
      auto* ints = std::get_if<Attribute::Ints>(&attr.variant());
      if (!ints || ints->size() % 3 != 0) continue;
      const int64_t none = name == "pads" ? 0 : 1;
      Attribute::Ints some;
      for (size_t group = 0; group < ints->size(); group += 3) {
        for (size_t i = from; i < to; ++i) some.push_back((*ints)[group + i]);
        if (to - from == 1) some.push_back(none);
      }
      *ints = std::move(some);
    }
    return attrs;
  };
  const auto& op = w.node().op();
  Value* x =
      w.Op("reshape", {w.in(0), w.Ints({(*in)[0] * (*in)[1], (*in)[2], (*in)[3], (*in)[4]})});
  Value* y = w.Op(op, {x}, part(1, 3));
  y = w.Op("reshape", {y, w.Ints({(*in)[0], (*in)[1], (*out)[2] * (*out)[3], (*in)[4]})});
  return Values{w.Op("reshape", {w.Op(op, {y}, part(0, 1)), w.Ints(*out)})};
}

template <bool max>
absl::StatusOr<Values> ToPool(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  if (max && w.wants(1)) return CannotExpress("places");
  if (w.dtype() != DType::kFloat32 && !(max && IsInteger(w.dtype()) && BitWidth(w.dtype()) <= 16)) {
    return CannotExpress("elements of ", Name(w.dtype()));
  }
  if (rank == 5) return IsChannelsLast(w) ? AxesApart(w) : WithChannelsLast(w, ToPool<max>);
  for (const int64_t dilation : w.attrs().Ints("dilations", {})) {
    if (dilation != 1) return CannotExpress("dilated windows");
  }
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToPool<max>);
  if (rank == 3) return Values{WithTwoSpatialAxes(w, false)};
  X2IR_ASSIGN_OR_RETURN(LiteWindow window, ReadLiteWindow(w, w.attrs().Ints("kernel_shape")));
  const bool include = !max && w.Int("count_include_pad") != 0;
  // Means count what was padded by the attribute, and nothing of what rounding up adds.
  const Pads begins = include ? window.begins() : Pads{0, 0},
             ends = include ? window.ends() : Pads{0, 0};
  if (w.Int("ceil_mode") != 0) X2IR_RETURN_IF_ERROR(ReachLastWindow(w, window));
  Value* counts = nullptr;
  const bool plain = window.is_valid() || (window.is_same() && !include);
  if (!max && !plain) {
    X2IR_ASSIGN_OR_RETURN(const auto sizes, PlacesOf(w));
    const std::vector<double> rows = CountsOf(window, 0, sizes.first[0], sizes.second[0], begins[0],
                                              ends[0]),
                              columns = CountsOf(window, 1, sizes.first[1], sizes.second[1],
                                                 begins[1], ends[1]);
    const auto all = static_cast<double>(window.kernel[0] * window.kernel[1]);
    std::vector<float> factors;
    bool ones = true;
    for (const double r : rows) {
      for (const double c : columns) {
        if (r <= 0 || c <= 0) return CannotExpress("windows of nothing");
        factors.push_back(static_cast<float>(all / (r * c)));
        ones &= factors.back() == 1;
      }
    }
    if (!ones) {
      counts = w.b().Constant(Tensor::Of<float>({1, sizes.second[0], sizes.second[1], 1}, factors));
    }
  }
  if (!max && !plain && window.is_same()) window.same.reset();  // padding counts: zeros
  Value* x = PadLiteApart(w, window, max ? LeastOf(w.dtype()) : 0);
  AttributeMap attrs = {{"padding", PaddingName(window)}};
  SetHw(&attrs, window.strides, "stride_");
  attrs.Set("filter_height", window.kernel[0]);
  attrs.Set("filter_width", window.kernel[1]);
  Value* y = w.Tflite(max ? "MAX_POOL_2D" : "AVERAGE_POOL_2D", {x}, std::move(attrs),
                      counts ? w.out_type() : Type());
  return Values{counts ? w.Op("mul", {y, counts}) : y};
}
X2IR_TFLITE(max_pool).To("MAX_POOL_2D", ToPool<true>);
X2IR_TFLITE(average_pool).To("AVERAGE_POOL_2D", ToPool<false>);

auto ToGlobalPool(std::string_view reduction) {
  return [=](TfliteWriter& w) { return ReduceSpatial(w, reduction); };
}

// --- Products -----------------------------------------------------------------------------------

// A constant bias of one number a column, as TFLite wants it; null: it is none.
Value* AsBias(TfliteWriter& w, Value* c, int64_t columns) {
  // Integers of a quantized product.
  if (const Value* integers = IntegersOf(c)) {
    const Tensor& all = *integers->fixed_constant();
    if (all.rank() == 1 && all.num_elements() == columns) return c;
  }
  const Tensor* constant = c->fixed_constant();
  if (!constant || constant->num_elements() != columns || constant->dtype() != DType::kFloat32) {
    return nullptr;
  }
  if (constant->rank() == 1) return c;
  if (constant->rank() > 0 && constant->dim(constant->rank() - 1) != columns) return nullptr;
  return w.b().Constant(constant->Reshaped({columns}), c->name());
}

absl::StatusOr<Value*> ToGemm(TfliteWriter& w) {
  const DType t = w.dtype();
  if (t != DType::kFloat32) return CannotExpress("elements of ", Name(t));
  const double alpha = w.attrs().Float("alpha"), beta = w.attrs().Float("beta");
  Value* a = w.in(0);
  if (w.Int("transA") != 0) a = w.Op("transpose", {a}, {{"perm", {1, 0}}});
  Value* b = w.Int("transB") != 0 ? w.in(1) : WithOrder(w, w.in(1), {1, 0});
  const Shape* out = w.out_type().shape();
  Value* bias = nullptr;
  if (w.has(2) && alpha == 1 && beta == 1 && out && (*out)[1].is_static()) {
    bias = AsBias(w, w.in(2), (*out)[1].value());
  }
  const bool plain = alpha == 1 && (!w.has(2) || bias);
  Value* y = w.Tflite("FULLY_CONNECTED", {a, b, bias}, {}, plain ? Type() : w.out_type());
  if (alpha != 1) y = w.Op("mul", {y, w.Number(t, alpha)});
  if (!w.has(2) || bias) return y;
  Value* c = beta == 1 ? w.in(2) : w.Op("mul", {w.in(2), w.Number(t, beta)});
  return w.Op("add", {y, c});
}

absl::StatusOr<Value*> ToMatMul(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_a, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_b, w.Rank(1));
  if (w.dtype() != DType::kFloat32) return CannotExpress("elements of ", Name(w.dtype()));
  if (rank_a > 5 || rank_b > 5) return CannotExpress("rank ", std::max(rank_a, rank_b));
  Value *a = w.in(0), *b = w.in(1);
  if (Value* y = MatMulOfVectors(w, rank_a, rank_b)) return y;
  if (rank_b == 2 && (b->fixed_constant() || IntegersOf(b))) {
    return w.Tflite("FULLY_CONNECTED", {a, WithOrder(w, b, {1, 0}), nullptr},
                    {{"keep_num_dims", rank_a != 2}});
  }
  return w.Tflite("BATCH_MATMUL", {a, b});
}

// --- Norms --------------------------------------------------------------------------------------

// x * scale + shift with constants that are worked out where they are known.
absl::StatusOr<Value*> ToBatchNorm(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const DType t = w.dtype();
  if (w.Int("training_mode") != 0) return CannotExpress("training");
  if (w.wants(1) || w.wants(2)) return CannotExpress("statistics");
  for (size_t i = 1; i < 5; ++i) {
    if (w.dtype(i) != t) return CannotExpress("parameters of another type");
  }
  const double epsilon = w.attrs().Float("epsilon");
  const Tensor* parts[4];
  bool known = t == DType::kFloat32;
  for (size_t i = 0; i < 4; ++i) {
    parts[i] = w.in(i + 1)->fixed_constant();
    known = known && parts[i] && !parts[i]->is_sparse();
  }
  Value *scale = nullptr, *shift = nullptr;
  if (known) {
    std::vector<float> by, plus;
    for (int64_t i = 0; i < parts[0]->num_elements(); ++i) {
      const double factor = parts[0]->AsDouble(i) / std::sqrt(parts[3]->AsDouble(i) + epsilon);
      by.push_back(static_cast<float>(factor));
      plus.push_back(static_cast<float>(parts[1]->AsDouble(i) - parts[2]->AsDouble(i) * factor));
    }
    std::vector<int64_t> dims = {parts[0]->num_elements()};
    if (!IsChannelsLast(w)) dims.resize(std::max<size_t>(1, static_cast<size_t>(rank) - 1), 1);
    scale = w.b().Constant(Tensor::Of<float>(dims, by));
    shift = w.b().Constant(Tensor::Of<float>(dims, plus));
  } else {
    Value* spread = w.Op("sqrt", {w.Op("add", {w.in(4), w.Number(t, epsilon)})});
    Value* factor = w.Op("div", {w.in(1), spread});
    shift = OfChannels(w, w.Op("sub", {w.in(2), w.Op("mul", {w.in(3), factor})}), rank);
    scale = OfChannels(w, factor, rank);
  }
  return w.Op("add", {w.Op("mul", {w.in(0), scale}), shift});
}

// Each channel of each image by its own mean and variance.
absl::StatusOr<Value*> ToInstanceNorm(TfliteWriter& w) { return InstanceNormByMeans(w, w.dtype()); }

// Channels last: groups of channels are an axis of their own between places and channels.
absl::StatusOr<Values> ToGroupNorm(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const DType t = w.dtype();
  const int64_t groups = w.Int("num_groups");
  if (rank < 3 || t != DType::kFloat32 || w.String("stash_type") != "float32") {
    return CannotExpress("rank ", rank, " of ", Name(t));
  }
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToGroupNorm);
  const Dim& channels = (*w.shape())[rank - 1];
  if (!channels.is_static() || groups < 1 || channels.value() % groups != 0) {
    return CannotExpress("groups that do not fit");
  }
  for (int64_t i = 1; i + 1 < rank; ++i) {
    if ((*w.shape())[i] == Dim(0)) return CannotExpress("images without places");
  }
  const Dim& batch = (*w.shape())[0];
  Value* grouped = w.Ints({-1, groups, channels.value() / groups});
  Value* images = batch.is_static() ? w.Ints({batch.value()})
                                    : w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", 1}});
  Value* x = w.Op("reshape", {w.in(0), w.Op("concat", {images, grouped}, {{"axis", 0}})},
                  {{"allowzero", 1}});
  Value* axes = w.Ints({1, 3});
  Value* centered = w.Op("sub", {x, w.Op("reduce_mean", {x, axes}, {{"keepdims", 1}})});
  Value* squares = w.Op("mul", {centered, centered});
  Value* variance = w.Op("reduce_mean", {squares, axes}, {{"keepdims", 1}});
  Value* spread = w.Op("sqrt", {w.Op("add", {variance, w.Number(t, w.attrs().Float("epsilon"))})});
  Value* y = w.Op("reshape", {w.Op("div", {centered, spread}), w.Op("shape", {w.in(0)})},
                  {{"allowzero", 1}});
  return Values{w.Op("add", {w.Op("mul", {y, w.in(1)}), w.in(2)})};
}

absl::StatusOr<Values> ToLrn(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t size = w.Int("size");
  if (rank != 4 || size % 2 == 0) return CannotExpress("rank ", rank, ", size ", size);
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToLrn);
  return Values{
      w.Tflite("LOCAL_RESPONSE_NORMALIZATION", {w.in(0)},
               {{"radius", (size - 1) / 2},
                {"bias", static_cast<float>(w.attrs().Float("bias"))},
                {"alpha", static_cast<float>(w.attrs().Float("alpha") / static_cast<double>(size))},
                {"beta", static_cast<float>(w.attrs().Float("beta"))}})};
}

// --- Images -------------------------------------------------------------------------------------

template <const char* kOp>
absl::StatusOr<Values> ToBlocks(TfliteWriter& w) {
  const Attribute* mode = w.attrs().Find("mode");
  if (mode && *mode != Attribute("DCR")) return CannotExpress("mode CRD");
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToBlocks<kOp>);
  return Values{w.Tflite(kOp, {w.in(0)}, {{"block_size", w.Int("blocksize")}})};
}
constexpr char kDepthToSpace[] = "DEPTH_TO_SPACE", kSpaceToDepth[] = "SPACE_TO_DEPTH";

// Rows and columns behind the batch.
absl::StatusOr<Value*> ToResize(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Sampling sampling = SamplingOf(w.node());
  if (rank != 4 || !IsPlainResize(w.node())) return CannotExpress("images of that kind");
  const std::vector<int64_t> axes = w.attrs().Ints("axes", {0, 1, 2, 3});
  const bool first = axes == Pads{2, 3}, last = axes == Pads{1, 2};
  if (!first && !last) return CannotExpress("other axes than rows and columns");
  const auto out = w.out_type().shape() ? w.out_type().shape() : nullptr;
  const Shape* in = w.shape();
  Pads from, to;
  for (const int64_t axis : axes) {
    if (!out || !in || !(*in)[axis].is_static() || !(*out)[axis].is_static()) break;
    from.push_back((*in)[axis].value());
    to.push_back((*out)[axis].value());
  }
  const bool known = to.size() == 2;
  // TFLite goes by the sizes: the factors must be theirs, which whole ones are in any case.
  std::vector<int64_t> factors;
  if (!w.in(3)) {
    const auto scales = w.has(2) ? KnownTensor(*w.in(2)) : std::nullopt;
    if (!scales || scales->num_elements() != 2) return CannotExpress("factors that are not known");
    for (size_t i = 0; i < 2; ++i) {
      const double factor = scales->AsDouble(static_cast<int64_t>(i));
      if (known && static_cast<double>(from[i]) * factor != static_cast<double>(to[i])) {
        return CannotExpress("a factor that is not the sizes'");
      }
      if (!known && (factor < 1 || factor > 1 << 20 || factor != std::floor(factor))) {
        return CannotExpress("factors of unknown sizes that are not whole");
      }
      factors.push_back(static_cast<int64_t>(factor));
    }
  }
  const bool enlarged = !known && !factors.empty();
  const bool whole = enlarged || (known && to[0] % from[0] == 0 && to[1] % from[1] == 0);
  const bool several = enlarged || (known && to[0] > 1 && to[1] > 1);
  std::vector<Sampling> said = {kNearestFloor, kNearestMiddle, Interpolated("linear", true),
                                Interpolated("linear", false),
                                Interpolated("linear", false, false)};
  if (several) said.push_back(kNearestCorners);
  // Whole factors leave no halves to round.
  if (whole) said.push_back({"nearest", "half_pixel", "round_prefer_floor"});
  X2IR_RETURN_IF_ERROR(CheckSampling(sampling, said));
  const bool is_nearest = sampling.mode == "nearest";
  if (is_nearest && !known && !enlarged) {
    return CannotExpress("nearest elements of sizes that are not known");
  }
  if (first) return ResizedChannelsLast(w, w.node(), w.in(2), w.in(3));
  Value* sizes = nullptr;
  if (enlarged) {
    Value* own = w.Op("shape", {w.in(0)}, {{"start", 1}, {"end", 3}});
    sizes = w.Op("mul", {w.Cast(own, DType::kInt32), w.Int32s(factors)});
  } else {
    sizes = known ? w.Int32s(to) : w.Cast(w.in(3), DType::kInt32);
  }
  return w.Tflite(is_nearest ? "RESIZE_NEAREST_NEIGHBOR" : "RESIZE_BILINEAR", {w.in(0), sizes},
                  {{"align_corners", sampling.coordinates == "align_corners"},
                   {"half_pixel_centers", sampling.coordinates == "half_pixel"}});
}

}  // namespace

X2IR_TFLITE(conv).To("CONV_2D", ToConv);
X2IR_TFLITE(conv_transpose).To("TRANSPOSE_CONV", ToConvTranspose);
X2IR_TFLITE(global_average_pool).To("MEAN", ToGlobalPool("reduce_mean"));
X2IR_TFLITE(global_max_pool).To("REDUCE_MAX", ToGlobalPool("reduce_max"));
X2IR_TFLITE(gemm).To("FULLY_CONNECTED", ToGemm);
X2IR_TFLITE(matmul).To("BATCH_MATMUL", ToMatMul);
X2IR_TFLITE(batch_normalization).To("MUL", ToBatchNorm);
X2IR_TFLITE(instance_normalization).To("MEAN", ToInstanceNorm);
X2IR_TFLITE(group_normalization).To("MEAN", ToGroupNorm);
X2IR_TFLITE(lrn).To("LOCAL_RESPONSE_NORMALIZATION", ToLrn);
X2IR_TFLITE(depth_to_space).To("DEPTH_TO_SPACE", ToBlocks<kDepthToSpace>);
X2IR_TFLITE(space_to_depth).To("SPACE_TO_DEPTH", ToBlocks<kSpaceToDepth>);
X2IR_TFLITE(resize).To("RESIZE_BILINEAR", ToResize);

}  // namespace x2ir
